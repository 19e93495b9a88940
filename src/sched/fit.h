/* Where a demand fits: targets (the nodes that a job may choose), shapes (targets with a demand; identical
 * jobs share one, and what was learnt of it), and the search. Inside of the layer only. */
#ifndef INGOT_SCHED_FIT_H
#define INGOT_SCHED_FIT_H

#include "sched/cluster.h"

struct target {
    int32_t pool;   /* SCHED_NONE: any */
    int32_t access; /* the project if pools are reserved to it, else SCHED_NONE */
    enum sched_arch arch;
    uint64_t kinds;   /* of cards that it needs */
    int32_t *classes; /* in order of preference */
    int32_t n_classes;
    uint64_t mask;        /* bit per class, those from 63 on share the last */
    int64_t *free, *most; /* by resource (cpu, memory, kinds), made when a reason needs them; NULL before */
    struct target *next;
};

struct shape {
    struct target *target;
    struct sched_demand request;
    bool spread;
    /* The smallest gang that was refused by a view in this pass. Views only shrink, so larger ones are too.
     */
    int32_t refused_now, refused_held, refused_after;
    int32_t after_epoch;                        /* of refused_after: evictions make that view grow */
    int32_t unevictable_ranks, unevictable_for; /* a gang for which eviction failed, and its priority */
    int32_t capacity; /* ranks that the empty cluster holds at least, or exactly if `exact` */
    bool exact;
    const struct sched_wait *never; /* why it can never run, if a gang of it was found so */
    int32_t ranks_now;              /* ranks that have room at the end of the pass; -1: not counted yet */
    struct shape *next;
};

struct shapes {
    const struct cluster *cluster;
    struct arena *arena;
    const bool *has_pool; /* by project: some pool is reserved to it */
    struct target *targets;
    struct shape **table;
    uint32_t mask;
};

void shapes_init(struct shapes *t, const struct cluster *c, struct arena *a);
struct shape *shapes_get(struct shapes *t, const struct sched_waiting *job);
bool fit_pool_open(const struct sched_snapshot *s, int32_t pool, int32_t project);

/* How many ranks the slot holds, at most `most`. */
int32_t fit_count(const struct view *v, const struct cluster *c, int32_t slot, const struct sched_demand *r,
                  int32_t most);
/* Ranks that fit into the view, at most `most`. */
int32_t fit_total(const struct view *v, const struct cluster *c, const struct shape *shape, int32_t most);

/* Memory for one gang that is being tried; reused. */
struct fit_scratch {
    struct sched_rank *ranks;
    struct sched_share *shares;
    size_t cap_ranks, cap_shares;
};

/* Takes room for n ranks in the view and describes them in the scratch; false leaves the view as it was. */
bool fit_gang(struct view *v, const struct cluster *c, const struct shape *shape, int32_t n,
              struct fit_scratch *scratch, struct arena *a);
/* The same for exactly these ranks. */
bool fit_exact(struct view *v, const struct cluster *c, const struct sched_demand *r,
               const struct sched_rank *ranks, int32_t n);
/* Takes room for one rank in this slot if there is some; shares are written to `shares` (at most
 * fit_shares(request)). */
bool fit_slot(struct view *v, const struct cluster *c, int32_t slot, const struct sched_demand *r,
              struct sched_share *shares, struct sched_rank *ret);
/* The number of shares that one rank gets. */
int32_t fit_shares(const struct sched_demand *r);
void fit_scratch_reserve(struct fit_scratch *scratch, int32_t ranks, const struct sched_demand *r,
                         struct arena *a);
/* Whether nothing that the rank's node has is taken twice. */
bool fit_sound(const struct view *v, const struct cluster *c, const struct sched_rank *rank);
/* A copy that stays. */
const struct sched_rank *fit_keep(const struct sched_rank *ranks, int32_t n, struct arena *a);

#endif
