/* A folder of /workspace as a new version of an algorithm set or model set: the action, and the task that it
 * begins. */
#ifndef INGOT_CORE_ENVIRONMENT_KEEP_H
#define INGOT_CORE_ENVIRONMENT_KEEP_H

#include "core/task/task.h"

/* The actions `keep` and `folders` of environments; both are for its maker and administrators. */
extern const struct field keep_fields[], keep_folders_fields[];
bool keep_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
              int *status, struct err *err);
bool keep_folders_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err);

extern const struct task_type task_environment_keep;

#endif
