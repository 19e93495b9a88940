/* What an operation may do by an assignment of a labelling task, and where it goes: to the sample itself, to
 * the layer of the person's seat, or, when the time was over before the work arrived, to a layer that
 * reviewers see. */
#ifndef INGOT_CORE_LABEL_LEASE_H
#define INGOT_CORE_LABEL_LEASE_H

#include "core/engine.h"

/* Outside of writes: whether it is the caller's, on that sample, of a task that goes on: lease_use decides.
 */
bool lease_find(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                int64_t assignment, struct arena *a, bool *ret, struct err *err);
/* Inside a write: extends the lease. *ret_layer is 0, or where the operation goes instead. ERR_CONFLICT when
 * the sample was submitted meanwhile. */
bool lease_use(struct op *op, const struct object *version, int64_t sample, int64_t assignment,
               int64_t *ret_layer, struct err *err);
/* Inside a write: the layer of a seat of a task, made when it is not there. */
bool lease_layer(struct op *op, const struct object *version, int64_t task, int64_t seat, int64_t *ret,
                 struct err *err);
/* May the caller see what a layer says of a sample? Whoever reads the version, and reviewers of the sample,
 * see all; others only their own seat's. */
bool lease_sees(struct core *core, const struct caller *c, const struct object *version, int64_t sample,
                int64_t layer, struct arena *a, struct err *err);

#endif
