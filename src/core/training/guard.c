/* What trainings write to folders of this machine has no limit of its own: a controller looks at it. */
#include "base/fs.h"
#include "core/controllers.h"
#include "core/folder/gather.h"
#include "core/folder/walk.h"
#include "core/folder_use.h"
#include "core/quota.h"
#include "core/training/training.h"
#include "store/store.h"

/* --- how much --- */

static bool count_file(void *ctx, const struct walk_file *f, struct err *err)
{
    (void)err;
    int64_t *bytes = ctx;
    *bytes = f->size > INT64_MAX - *bytes ? INT64_MAX : *bytes + f->size;
    return true;
}

bool training_size(const struct core *core, struct arena *a, const struct object *instance, int64_t *ret,
                   struct err *err)
{
    static const char *const parts[] = {"model", "logs"};
    *ret = 0;
    struct walk w = {.file = count_file, .ctx = ret};
    for (size_t i = 0; i < countof(parts); i++)
        if (!walk_path(&w, training_path(core, a, instance, parts[i]), err))
            return false;
    return true;
}

bool training_admit(struct core *core, int64_t project, int64_t bytes, struct err *err)
{
    uint64_t free_bytes = fs_free_bytes(core->data);
    if (free_bytes < GATHER_RESERVE)
        return err_set(err, ERR_QUOTA, NULL, "the platform's disk is full");
    return quota_admit_storage(core, project, bytes, err);
}

bool training_admit_own(struct core *core, const struct object *instance, int64_t bytes, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    int64_t counted;
    if (!folder_use_of(core, training_path(core, &a, instance, ""), &counted, err))
        return false;
    return training_admit(core, instance->project, bytes > counted ? bytes - counted : 0, err);
}

/* --- what follows --- */

struct ending {
    int64_t job;
    const char *reason;
};

static bool end_write(struct op *op, void *ctx, struct err *err)
{
    struct ending *e = ctx;
    return job_stop(op, e->job, e->reason, err);
}

static bool look_at(struct core *core, const struct object *o, struct arena *a, struct err *err)
{
    int64_t bytes;
    struct err why = {0};
    if ((training_size(core, a, o, &bytes, &why) && training_admit_own(core, o, bytes, &why)) ||
        (why.code != ERR_QUOTA && why.code != ERR_TOO_LARGE)) {
        if (why.code)
            *err = why;
        return !why.code;
    }
    struct ending e = {object_int(o, "job"), arena_printf(a, "what it saves is too much: %s", why.message)};
    if (!engine_write(core, &caller_system, a, end_write, &e, err))
        return false;
    jobs_wake(core->jobs);
    return true;
}

static bool look(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    bool ok = true;
    if (!db_query(core->db, &a, "SELECT id FROM training_instances WHERE state = 'running' ORDER BY id",
                  DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o;
        struct err one = {0};
        if (!engine_get(core, &caller_system, &kind_training_instance, 0, rows.row[i].v[0].i, &a, &o, &one) ||
            !look_at(core, &o, &a, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}

const struct controller controller_training_sizes = {
    .name = "training-sizes",
    .title = {"Stops trainings that write more than their project may store",
              "停止写入超出项目存储配额的训练"},
    .thread = "training-sizes",
    .first_s = 5,
    .every_s = 5,
    .tick = look,
};
