/* A version as record files (D19): the action `records` writes them, `GET .../records/NAME` serves them with
 * ranges, so that training reads them from anywhere. The version's field `records` lists them:
 * [{"name","digest","size"}]. */
#ifndef INGOT_CORE_DATA_RECORDS_H
#define INGOT_CORE_DATA_RECORDS_H

#include "core/data/version.h"

extern const struct task_type task_records;
extern const struct field records_fields[];
bool records_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);
/* The blob of one file; ERR_NOT_FOUND. */
bool records_find(struct arena *a, const struct object *version, struct str name, struct digest *ret,
                  struct err *err);
/* Inside a write: gives back the blobs of the list. */
bool records_drop(struct op *op, const struct object *version, struct err *err);

#endif
