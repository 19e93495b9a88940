/* What projects use against what they may. Resources are numbered: 0 cpu, 1 memory, 2 + kind. Inside of the
 * layer only. */
#ifndef INGOT_SCHED_QUOTA_H
#define INGOT_SCHED_QUOTA_H

#include "sched/sched.h"

enum { RESOURCE_CPU, RESOURCE_MEMORY, RESOURCE_DEVICE };

/* What a whole gang takes. */
struct demand {
    int32_t n;
    int32_t resource[2 + SCHED_WANTS];
    int64_t amount[2 + SCHED_WANTS];
};

/* A job of the project keeps its place: one that is not over by `until` (0: when that is, is unknown) must
 * fit into `spare`. */
struct hold {
    bool set;
    int64_t until;
    int64_t *spare;
};

struct quotas {
    const struct sched_snapshot *s;
    struct arena *arena;
    int32_t width;  /* resources */
    int64_t *used;  /* by project and resource: by jobs that run, and that were started or promised room */
    int64_t *later; /* the same, when those that are being stopped have gone */
    struct hold *holds;
};

struct demand demand_of(const struct sched_demand *r, int32_t ranks);

void quotas_init(struct quotas *q, const struct sched_snapshot *s, struct arena *a);
int64_t quota_limit(const struct sched_snapshot *s, int32_t project, int32_t resource);
void quota_add(struct quotas *q, int64_t *figures, int32_t project, const struct demand *d, int sign);

/* The place in d of the first resource of which `figures` leave too little, or -1. */
int32_t quota_short(const struct quotas *q, const int64_t *figures, int32_t project, const struct demand *d);
/* The same against the limits alone: what can never be. */
int32_t quota_over(const struct quotas *q, int32_t project, const struct demand *d);
/* Whether a job that ends at `end` (INT64_MAX: unknown) leaves the project's hold alone. */
bool quota_passes_hold(const struct quotas *q, int32_t project, const struct demand *d, int64_t end);
/* A job of the project starts and ends at `end`: what it leaves to others. */
void quota_pass_hold(struct quotas *q, int32_t project, const struct demand *d, int64_t end);

/* Keeps the place of a job that will start at `until` (0: unknown) if the project keeps none yet. `remaining`
 * is what the project will be using then. */
void quota_hold(struct quotas *q, int32_t project, const struct demand *d, int64_t until,
                const int64_t *remaining);

#endif
