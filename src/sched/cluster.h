/* The nodes of a snapshot in the order in which they are filled, and views of their free room. A slot is the
 * place of a ready node in that order; draining and lost nodes have none. Inside of the layer only. */
#ifndef INGOT_SCHED_CLUSTER_H
#define INGOT_SCHED_CLUSTER_H

#include "sched/sched.h"

/* Slots [lo, hi) that are alike in what jobs may choose by. */
struct class
{
    int32_t pool;
    enum sched_arch arch;
    uint64_t kinds; /* bit per kind of card */
    int32_t lo, hi;
};

struct cluster {
    const struct sched_snapshot *s;
    int32_t n_slots;
    int32_t width;       /* leaves of the trees: a power of two */
    int32_t *node_of;    /* by slot */
    int32_t *slot_of;    /* by node; SCHED_NONE */
    int32_t *first_card; /* by slot, and one more: where its cards begin in view.cards */
    uint8_t *card_kind;
    struct class *classes;
    int32_t n_classes;
};

/* The most that one slot below a tree's node has free. Each figure alone is an upper bound, so a search may
 * skip what is too small but must look at the slot itself. */
struct peak {
    int64_t cpu, memory;
    int32_t whole, part;
};

struct capacity {
    int64_t cpu, memory;
};

/* Free room at one moment, real or imagined. */
struct view {
    struct capacity *capacities;
    int16_t *cards;    /* free thousandths; broken ones have none */
    struct peak *tree; /* NULL: not kept, and fit_find must not be used */
};

void cluster_init(struct cluster *c, const struct sched_snapshot *s, struct arena *a);

/* All nodes empty; the tree is not built yet. */
void view_init(struct view *v, const struct cluster *c, struct arena *a);
void view_copy(struct view *dst, const struct view *src, const struct cluster *c, struct arena *a);
void view_build_tree(struct view *v, const struct cluster *c, struct arena *a);
/* After capacities or cards of the slot have changed. */
void view_changed(struct view *v, const struct cluster *c, int32_t slot);
/* Takes (sign -1) or gives back (sign 1) what a rank has; nodes without a slot are passed over. */
void view_apply(struct view *v, const struct cluster *c, const struct sched_rank *rank,
                const struct sched_demand *r, int sign);
/* Lowers the slot to what `limit` has there. */
void view_limit(struct view *v, const struct cluster *c, int32_t slot, const struct view *limit);

#endif
