/* Bringing data into a version: the action `import` and its task. */
#ifndef INGOT_CORE_DATA_IMPORT_H
#define INGOT_CORE_DATA_IMPORT_H

#include "core/data/version.h"

extern const struct task_type task_import;
/* The action's fields (uploads, format) and function. */
extern const struct field import_fields[];
bool import_run(struct op *op, struct object *version, const struct db_value *input, struct json_out *out,
                int *status, struct err *err);

#endif
