/* What differs between two versions of a dataset: both are read in the order of names, a page at a time, on
 * one snapshot, so that memory does not grow with their size. */
#ifndef INGOT_CORE_DATA_COMPARE_H
#define INGOT_CORE_DATA_COMPARE_H

#include "core/engine.h"

extern const struct field compare_fields[];

/* The action: changes after a name, and the counts of all when it is the first page. */
bool compare_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);

#endif
