/* Publishing a version: the list of its samples becomes a blob, whose digest names the content, and nothing
 * changes any more. A few samples are listed while the request waits; of more than PUBLISH_AT_ONCE the answer
 * is 202 with the version in the state `publishing`, in which it does not change either, and a task lists
 * them. A publishing that fails or is cancelled leaves a draft again. */
#ifndef INGOT_CORE_DATA_PUBLISH_H
#define INGOT_CORE_DATA_PUBLISH_H

#include "core/task/task.h"

#define PUBLISH_AT_ONCE 5000

extern const struct task_type task_publish;
/* The same of a version in the state `from`: draft, or reviewing when its review was accepted. */
bool publish_start(struct op *op, struct object *o, const char *from, struct json_out *out, int *status,
                   struct err *err);
bool publish_run(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                 int *status, struct err *err);

#endif
