/* Labels that a set renamed or merged, in what is labelled: a background task goes through the drafts of the
 * datasets that use the set, and the annotation layers over them, sample by sample as operations do (history,
 * counters, rooms). It looks at what bears a former name now, so running again, or after a kill, does the
 * rest. Published versions stay as they are. */
#ifndef INGOT_CORE_DATA_RELABEL_H
#define INGOT_CORE_DATA_RELABEL_H

#include "core/task/task.h"

extern const struct task_type task_relabel;

/* From a task that made a draft of older annotations: gives them the names of today. */
bool relabel_version(struct task *t, int64_t version, struct err *err);

/* Inside a write: starts the task for the set. projects: JSON list of those whose datasets are changed. */
bool relabel_start(struct op *op, const struct object *set, struct str projects, int64_t *ret_task,
                   struct err *err);
/* Inside a write: whether such a task is under way. */
bool relabel_runs(struct op *op, int64_t set, bool *ret, struct err *err);

#endif
