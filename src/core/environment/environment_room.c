/* What is written to /workspace has no limit of its own: folder_use.c measures it, and here is what follows.
 */
#include "base/fs.h"
#include "core/environment/environment.h"
#include "core/folder_use.h"
#include "core/job/owner.h"
#include "core/quota.h"

#define RESERVE (UINT64_C(1) << 30) /* bytes of the disk that environments leave free */
#define GRACE_S 2                   /* what still writes has no longer time to end */

static bool admit(struct core *core, int64_t project, struct err *err)
{
    if (fs_free_bytes(core->data) < RESERVE)
        return err_set(err, ERR_QUOTA, "storage", "the platform's disk is full");
    return quota_admit_storage(core, project, 0, err);
}

struct ending {
    int64_t job;
    const char *reason;
};

static bool end_write(struct op *op, void *ctx, struct err *err)
{
    const struct ending *e = ctx;
    return job_stop(op, e->job, e->reason, err);
}

/* Without the grace of a usual stop: it could fill the disk meanwhile. */
static void hasten(struct core *core, const struct object *job)
{
    struct exec *x = jobs_exec(core->jobs);
    struct err ignored = {0}; /* the controller stops it too */
    for (int32_t rank = 0; x && rank < (int32_t)object_int(job, "nodes"); rank++) {
        struct exec_id id = {job->id, (int32_t)object_int(job, "attempt"), rank};
        x->ops->stop(x, id, GRACE_S, &ignored);
    }
}

bool environment_grown(struct core *core, int64_t id, struct arena *a, bool *ret_within, struct err *err)
{
    struct object o, job;
    struct err why = {0};
    int64_t bytes;
    if (!engine_get(core, &caller_system, &kind_environment, 0, id, a, &o, err))
        return err->code == ERR_NOT_FOUND; /* deleted meanwhile */
    *ret_within = !object_int(&o, "job") || admit(core, o.project, &why);
    if (*ret_within)
        return true;
    if (why.code != ERR_QUOTA) {
        *err = why;
        return false;
    }
    if (!folder_use_of(core, environment_folder(core, id, o.created_at, a), &bytes, err))
        return false;
    struct ending e = {object_int(&o, "job"),
                       arena_printf(a, "/workspace holds %lld bytes: %s", (long long)bytes, why.message)};
    if (!engine_write(core, &caller_system, a, end_write, &e, err))
        return false;
    jobs_wake(core->jobs);
    if (engine_get(core, &caller_system, &kind_job, 0, e.job, a, &job, err))
        hasten(core, &job);
    return true;
}
