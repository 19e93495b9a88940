/* What differs between two versions of a dataset: both are read in the order of names, a page at a time, on
 * one snapshot, so that memory does not grow with their size. A request looks at COMPARE_AT_ONCE samples of
 * the two at most: of more, a page may hold fewer changes than there are, and a task counts and lists all. */
#ifndef INGOT_CORE_DATA_COMPARE_H
#define INGOT_CORE_DATA_COMPARE_H

#include "core/task/task.h"

#define COMPARE_AT_ONCE 10000

extern const struct field compare_fields[], changes_fields[];
extern const struct task_type task_changes;

/* The action: changes after a name, and the counts of all when it is the first page and all were looked at.
 */
bool compare_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);
/* Starts the task: its result has the counts, its product every change, a JSON object a line. */
bool changes_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);

#endif
