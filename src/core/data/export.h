/* Taking data out of a version (D14, D15): the actions `export` and `training-data` and their task. The
 * result is a zip that can be downloaded while the task is kept. */
#ifndef INGOT_CORE_DATA_EXPORT_H
#define INGOT_CORE_DATA_EXPORT_H

#include "core/data/version.h"

extern const struct task_type task_export;
extern const struct field export_fields[], training_fields[];
bool export_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                int *status, struct err *err);
bool training_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                  int *status, struct err *err);

#endif
