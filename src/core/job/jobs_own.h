/* What the files of job/ share. */
#ifndef INGOT_CORE_JOB_JOBS_OWN_H
#define INGOT_CORE_JOB_JOBS_OWN_H

#include "core/controllers.h"
#include "core/job/job.h"
#include "sched/sched.h"

#include <pthread.h>

/* Room that evictions make for a waiting job, kept until it starts (sched.h). */
struct promise {
    struct promise *next;
    int64_t job, at;
    int32_t n;
    int64_t *node; /* ids, by rank */
    struct sched_rank *ranks;
    struct sched_share *shares;
};

struct jobs {
    struct core *core;
    struct exec *_Atomic exec; /* set once by the thread */
    char *reason;              /* why there is no executor */
    pthread_mutex_t lock;
    pthread_cond_t opening;
    bool opened; /* it was tried, with or without success; under lock */
    struct curves *curves;
    struct pool *launchers;
    struct launching *launching; /* under lock */
    pthread_mutex_t checkout_lock;
    /* The controller's own: */
    struct promise *promises;
    int64_t said_at;     /* when the reasons of waiting jobs were written last */
    uint64_t nodes_seen; /* hash of what the nodes' rows say */
};

/* One look at everything: the jobs that are not over, and their containers. In the arena of the look. */
struct tick {
    struct jobs *jobs;
    struct arena *arena;
    int64_t now;
    struct object *job;
    size_t n;
    struct exec_status *status;
    size_t n_status;
    struct move *moves; /* changes of state that are written together at the end of the look */
    size_t n_moves;
    int64_t *launching; /* jobs that threads were launching before `status` was read: left alone */
    size_t n_launching;
};

/* The containers of a job's current attempt: how many are in which state. */
struct ranks {
    int32_t wanted, starting, running, exited, missing;
    const struct exec_status *failed; /* the first that ended badly, or NULL */
    int64_t started_us;               /* when the last one's command began; 0 */
};
struct ranks tick_ranks(const struct tick *l, const struct object *job);

/* job_place.c: asks the scheduler, moves what may start to `starting`, stops what makes room, and keeps the
 * reasons of the others. */
bool jobs_place(struct tick *l, struct err *err);
/* promise.c */
struct plan_input;
void promises_update(struct jobs *j, const struct plan_input *s, const struct sched_plan *plan);
void promises_free(struct jobs *j);
/* job_curves.c: the action `curves` of a job. */
bool job_show_curves(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err);
/* launch_work.c */
#define CHECKOUT_KEEP_S 3600
void launchers_start(struct jobs *j);
void launchers_stop(struct jobs *j); /* waits for what is being launched */
/* Starts all ranks on a thread (harmless for those that run already). */
void jobs_launch(struct jobs *j, int64_t job, int32_t attempt);
void tick_launching(struct tick *l);
bool tick_is_launching(const struct tick *l, int64_t job);

#endif
