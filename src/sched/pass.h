/* The state of one pass. Inside of the layer only. */
#ifndef INGOT_SCHED_PASS_H
#define INGOT_SCHED_PASS_H

#include "sched/fit.h"
#include "sched/quota.h"
#include "sched/share.h"

#define SCHED_NEVER INT64_MAX /* an end that is not known */

/* A job that this pass started or promised room: it takes room until its end. */
struct live {
    const struct sched_rank *ranks;
    const struct sched_demand *request;
    int32_t n_ranks, project;
    int64_t end;
};

/* The head among the jobs that compete for the classes in mask. */
struct reservation {
    uint64_t mask;
    int64_t start; /* 0: not known */
};

/* One rank of a preemptible running job. */
struct victim {
    int32_t running, rank;
};

struct pass {
    const struct sched_snapshot *s;
    struct arena *arena;
    int64_t aging, grace;
    int32_t max_evicting;

    struct cluster cluster;
    struct shapes shapes;
    struct quotas quotas;
    struct share share;
    struct fit_scratch scratch;

    struct view now; /* free at this moment, less what was started or claimed */
    struct view
        held; /* now, less what reservations need at their start: for jobs that won't have ended by then */
    struct view after; /* when those that are being stopped have gone */
    bool has_held, has_after;
    int32_t after_epoch;

    struct reservation *reservations;
    int32_t n_reservations;
    bool *reserved; /* by slot */

    struct live *live;
    int32_t n_live;
    int32_t
        *by_end; /* running jobs with a known end that are not being stopped, soonest first; made on demand */
    int32_t n_by_end;
    int32_t *project_ends, *project_first; /* by_end by project: project_ends[project_first[p]...] */

    bool *evicted;          /* by running job, in this pass */
    struct victim *victims; /* by slot, cheapest first; made on demand */
    int32_t *first_victim;  /* by slot, and one more */
    struct view trial;
    int32_t n_evicting, n_attempts;
    int32_t least_priority; /* of a job that could be evicted; INT32_MAX: none can */
    int64_t victims_seen;   /* work done; bounded */

    int32_t n_blocked; /* jobs so far that stay in the queue and could run */
    int32_t n_counted; /* gangs whose room was counted for a reason */
    struct sched_start *starts;
    int32_t n_starts;
    struct sched_eviction *evictions;
    int32_t n_evictions;
    struct sched_promise *promises;
    int32_t n_promises;
    struct sched_wait *waits;
    bool *settled;  /* by waiting job: decided before the others, by a promise */
    int32_t *order; /* waiting jobs as they were considered */
    int32_t n_order;
    struct shape **shape_of; /* by waiting job; NULL: not looked at */
};

/* The job under consideration. */
struct candidate {
    int32_t index;
    const struct sched_waiting *job;
    struct shape *shape;
    struct demand demand;
    int64_t end; /* if it starts now */
};

void pass_init(struct pass *p, const struct sched_snapshot *s, struct arena *a);
void pass_run(struct pass *p);
/* Makes the ranks of the scratch the job's: in all views but `done`, which has them already. */
const struct sched_rank *pass_take(struct pass *p, const struct candidate *k, struct view *done);

/* backfill.c: ends, holds and reservations */
int64_t backfill_end(const struct pass *p, const struct sched_running *r);
/* Whether the job would be in the way of a reservation on nodes that it may use. */
bool backfill_delays(const struct pass *p, const struct candidate *k);
/* Makes the job the head if no other is for these nodes. Returns whether it is; *ret_start as in reservation.
 */
bool backfill_reserve(struct pass *p, const struct candidate *k, int64_t *ret_start);
/* Keeps the job's place for quota; returns when there will be enough (0: not known). */
int64_t backfill_hold_quota(struct pass *p, const struct candidate *k);

/* preempt.c */
/* Views and usage without the jobs that are being stopped. */
void preempt_init(struct pass *p);
/* Evicts for the job if that makes room; returns the number of jobs evicted, 0 if none. */
int32_t preempt_for(struct pass *p, const struct candidate *k);
/* Claims room that jobs which are being stopped will leave. */
bool preempt_claim(struct pass *p, const struct candidate *k);

/* why.c */
/* If the job can never run, says why in *ret. */
bool why_never(struct pass *p, const struct candidate *k, struct sched_wait *ret);
/* Completes reasons SCHED_RESOURCE with what is free at the end of the pass. */
void why_finish(struct pass *p);

#endif
