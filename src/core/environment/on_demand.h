/* Jobs that are started when somebody first asks for them and end when nobody has for a while: a TensorBoard
 * of a training run, a model version that is tried. Each sort is one row of on_demand_sorts
 * (core/job_owners.c); its jobs belong to an object (the training run, the model version) and to the project
 * that pays for them, are not in the lists of jobs, and are deleted some time after their end. When one was
 * used last is what tools_touch (tools.h) was told. */
#ifndef INGOT_CORE_ENVIRONMENT_ON_DEMAND_H
#define INGOT_CORE_ENVIRONMENT_ON_DEMAND_H

#include "core/job/owner.h"

struct on_demand {
    const struct job_owner *owner;
    const struct kind *of; /* what its jobs belong to: one whose object is gone ends */
    int64_t idle_us;       /* unless the job's variable ON_DEMAND_IDLE says otherwise */
    int64_t keep_us;       /* how long one that is over is kept, for whoever wants to know why */
    const char *idle_reason, *gone_reason;
    /* Inside a write: its object has this job, or (gone) no longer has it. NULL: it does not name its job. */
    bool (*link)(struct op *op, int64_t owner, int64_t job, bool gone, struct err *err);
};
extern const struct on_demand *const on_demand_sorts[]; /* ended by NULL */

/* Variables of a job: what it was made from, where its owner may change; seconds without use. */
#define ON_DEMAND_FROM "MADE_FROM"
#define ON_DEMAND_IDLE "IDLE_S"

struct on_demand_want {
    int64_t project, owner;
    struct str name, command;
    struct str from; /* one that was made from something else is replaced; STR_NULL: does not matter */
    int64_t idle_s;  /* 0: the sort's */
    int64_t memory;  /* bytes that it needs: the smallest spec of so many is taken, */
    int64_t spec;    /* unless one is named here, of which it takes only memory and cpus */
    double cpus;
};

/* The newest job, also one that is over. *found false: there is none. Outside writes. */
bool on_demand_last(struct core *core, const struct on_demand *d, int64_t project, int64_t owner,
                    struct arena *a, struct object *ret, bool *found, struct err *err);
/* Finds the one that runs or waits, or starts it; op is an action's. *made: it was started now. */
bool on_demand_start(struct op *op, const struct on_demand *d, const struct on_demand_want *want,
                     struct object *ret, bool *made, struct err *err);
/* Inside a write: all of this object end. jobs_wake afterwards. */
bool on_demand_drop(struct op *op, const struct on_demand *d, int64_t owner, struct err *err);
/* Whether the job was made from this. */
bool on_demand_is_from(const struct object *job, struct arena *a, struct str from);

#endif
