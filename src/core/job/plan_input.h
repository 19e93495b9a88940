/* The tables as the scheduler wants them: nodes, pools, projects with their quotas, and the jobs that are not
 * over. The controller plans with it, forecasts and overviews count with it. Made and used by one thread, in
 * one arena. */
#ifndef INGOT_CORE_JOB_PLAN_INPUT_H
#define INGOT_CORE_JOB_PLAN_INPUT_H

#include "core/job/curves.h"
#include "core/job/jobs_own.h"

struct plan_input {
    struct core *core;
    struct arena *arena;
    const struct object *job; /* not over */
    size_t n;
    struct sched_snapshot snapshot;
    size_t *waiting_job, *running_job; /* their indices in `job`, by those of the snapshot */
    const struct exec_node **machine;  /* by the snapshot's node; NULL for lost ones */
    struct sched_kind *kinds;
    struct plan_input_spec *specs;
    size_t n_specs;
    struct curves_use *used; /* what containers use; only usage_input fills it */
    size_t n_used;
};

#define PLAN_INPUT_WAITING_MAX 10000
/* All jobs that are not over, by id; of those that wait the first PLAN_INPUT_WAITING_MAX by priority. */
bool plan_input_jobs(struct core *core, struct arena *a, struct object **ret, size_t *ret_n, struct err *err);
/* Fills the snapshot from s->job; promises (may be NULL) are those of former plans. */
bool plan_input_build(struct plan_input *s, const struct promise *promises, struct err *err);

/* What each node of a job with this spec takes; false when the spec is gone or asks for a kind of device that
 * there is no room to count. */
bool plan_input_demand(struct plan_input *s, int64_t spec, struct sched_demand *ret);

/* The same of a job; those of the platform's own may take less than their spec says. */
bool plan_input_demand_of(struct plan_input *s, const struct object *job, struct sched_demand *ret);

/* Where the ranks of a job are and what each takes there, as the field `placement` keeps it:
 * [{"node":"name","cpus":1,"memory":1048576,"devices":[{"path":"/dev/x","share":1}]}]. A job that runs has
 * what it was given, whatever becomes of its spec. */
struct str plan_input_placement(struct plan_input *s, const struct sched_start *start);

#endif
