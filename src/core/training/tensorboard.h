/* TensorBoard of an instance (T6): a small job of its own, started when a person opens it, over what the
 * instance writes to /workspace/persistent-model and /workspace/logs (read-only), reached like every tool
 * (core/environment/tool.h). It ends when its page was not used for an hour; then its job is deleted. */
#ifndef INGOT_CORE_TRAINING_TENSORBOARD_H
#define INGOT_CORE_TRAINING_TENSORBOARD_H

#include "core/environment/on_demand.h"

extern const struct job_owner tensorboard_owner;
extern const struct on_demand tensorboard_on_demand;

/* The action of training_instance: starts it when it does not run, and answers {"state": "starting" | "ready"
 * | "missing", "url", "reason", "reason_zh"}; url works once. */
bool tensorboard_open(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err);
/* Inside a write: the instance is deleted. */
bool tensorboard_drop(struct op *op, const struct object *instance, struct err *err);

#endif
