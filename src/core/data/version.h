/* What can be done with a whole dataset version: the actions of the kind and the tasks behind them. */
#ifndef INGOT_CORE_DATA_VERSION_H
#define INGOT_CORE_DATA_VERSION_H

#include "core/data/sample.h"
#include "core/task/task.h"

/* The table is core/dataset_actions.c; two of its rows are version_actions.c's own. */
extern const struct action version_actions[];
bool version_run_statistics(struct op *op, struct object *o, const struct db_value *input,
                            struct json_out *out, int *status, struct err *err);
bool version_run_clean(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err);
extern const struct field version_clean_fields[];
extern const struct task_type task_copy_version;

/* ERR_CONFLICT while a task works on the version; op inside a write or outside. */
bool version_is_idle(struct op *op, int64_t version, struct err *err);
/* Undoes a task whose version was made for it: it is deleted. Not one that something refers to by now, or
 * that was published: that is said in the task's report. */
void version_undo(struct task *t);
/* Starts a task on the version and writes its object as the answer (202). */
bool version_start_task(struct op *op, const struct object *version, const char *type, struct words name,
                        struct str params, struct json_out *out, struct err *err);

#endif
