/* The order in which waiting jobs are considered. It depends on what has been started so far, so it is given
 * out one job at a time. Inside of the layer only. */
#ifndef INGOT_SCHED_SHARE_H
#define INGOT_SCHED_SHARE_H

#include "sched/quota.h"

struct share_entry {
    int64_t level, submitted_at, user, id;
    int32_t project, turn, job;
};

/* Jobs of one project and level: entries [at, end). */
struct share_run {
    double share;
    int32_t project, at, end;
};

struct share {
    const struct quotas *quotas;
    struct share_entry *entries;
    int32_t n_entries, next; /* next: where the next level begins */
    double *scale;           /* by resource: 1 / what the cluster has; 0 if it has none */
    struct share_run *heap;
    int32_t n_heap;
    bool taken; /* the top of the heap was given out; its share may have changed */
};

void share_init(struct share *q, const struct quotas *quotas, int64_t aging, struct arena *a);
/* Index of the next waiting job, SCHED_NONE at the end. */
int32_t share_next(struct share *q);
/* The dominant share of a project, by weight, at this moment. */
double share_of(const struct share *q, int32_t project);

#endif
