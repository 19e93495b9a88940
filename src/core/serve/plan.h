/* What is to be done next with the replicas of one slot: a pure function over what is there, so that every
 * step of a roll-out follows from a look at it, whoever took the steps before.
 *
 * Replicas of the wanted version and generation are current. Missing ones are started, a few more than wanted
 * while others are to be replaced; one that is not current goes when the others are as many as are wanted, or
 * at once when it does not answer anyway. */
#ifndef INGOT_CORE_SERVE_PLAN_H
#define INGOT_CORE_SERVE_PLAN_H

#include "core/serve/replica.h"

struct plan_replica {
    bool current;
    enum replica_state state;
};

struct plan_want {
    int64_t wanted;
    bool may_start; /* no back-off is waited for */
};

struct plan_step {
    enum { PLAN_NOTHING, PLAN_START, PLAN_DRAIN } what;
    size_t replica; /* which one drains */
};

/* One step; when it was taken (in r, too) there may be another. r: in the order of their start. */
struct plan_step plan_next(const struct plan_want *w, const struct plan_replica *r, size_t n);

#endif
