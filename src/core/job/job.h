/* Jobs: everything that runs in containers. A job is an object of the kind `job`; its state only changes by
 * compare-and-set, each time with a reason and an event. One controller thread makes the world match the
 * table: it looks at the table, at the executor and at the clock, does what is missing, and looks again; so a
 * server that was killed at any instant goes on by looking.
 *
 *   queued -> starting -> running -> stopping -> completed | failed | stopped
 *
 * A job of several nodes is a gang: all ranks start together, and when one fails the others are stopped. */
#ifndef INGOT_CORE_JOB_JOB_H
#define INGOT_CORE_JOB_JOB_H

#include "core/engine.h"
#include "exec/exec.h"

extern const struct kind kind_job;

enum job_state {
    JOB_QUEUED,
    JOB_STARTING,
    JOB_RUNNING,
    JOB_STOPPING,
    JOB_COMPLETED,
    JOB_FAILED,
    JOB_STOPPED
};
extern const char *const job_state_names[];
enum job_state job_state_of(const struct object *o);
bool job_is_over(enum job_state s);
bool job_is_preemptible(const struct object *o); /* may be stopped to make room for a higher priority */
/* The rule of `env`, for kinds that hand theirs on to a job. */
bool job_env_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err);

/* The controller. Its thread opens the executor of this machine (which takes longer than the rest of the
 * start); on a machine that cannot run containers jobs wait and say why. */
struct jobs;
void jobs_wake(struct jobs *j);         /* something changed: look again */
struct exec *jobs_exec(struct jobs *j); /* NULL: none (yet) */
/* The same, but waits while the executor is being opened (a moment after the start). Not on a loop thread. */
struct exec *jobs_exec_wait(struct jobs *j);
struct curves;
struct curves *jobs_curves(struct jobs *j); /* core/job/curves.h */

/* Inside a write: changes the state when it is still `from` (ERR_CONFLICT otherwise), with an event. */
/* What becomes of a job that is being stopped when its containers have ended. */
enum job_then {
    JOB_THEN_STOPPED,
    JOB_THEN_FAILED, /* it can never run */
    JOB_THEN_RETRY,  /* a rank failed: again if it has retries left, else failed */
    JOB_THEN_QUEUED, /* it makes room for another: back to the queue, no retry counted */
};
struct job_change {
    enum job_state from, to;
    const char *reason;    /* for people; may be NULL */
    const char *reason_zh; /* NULL: as sentence.h has it */
    enum job_then then;    /* with to == JOB_STOPPING */
    int64_t started_at;    /* when its command began, where that is known; 0: now, if it runs from now on */
};
bool job_set_state(struct op *op, struct object *o, const struct job_change *c, struct err *err);
enum job_then job_then_of(const struct object *o);

/* Events of a job, newest first: {"items":[{"at","attempt","state","reason","reason_zh"}]}. */
bool job_events(struct core *core, int64_t job, struct arena *a, struct buf *out, struct err *err);

#endif
