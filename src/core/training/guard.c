/* What trainings write to folders of this machine has no limit of its own: a thread looks at it. */
#include "base/fs.h"
#include "base/log.h"
#include "base/ticker.h"
#include "core/folder/collect.h"
#include "core/folder/walk.h"
#include "core/folder_use.h"
#include "core/quota.h"
#include "core/training/training.h"
#include "store/store.h"

#define EVERY_S 5

struct trainings {
    struct core *core;
    struct ticker ticker;
};

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
    if (free_bytes < COLLECT_RESERVE)
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

static bool look_at(struct trainings *t, const struct object *o, struct arena *a, struct err *err)
{
    int64_t bytes;
    struct err why = {0};
    if ((training_size(t->core, a, o, &bytes, &why) && training_admit_own(t->core, o, bytes, &why)) ||
        (why.code != ERR_QUOTA && why.code != ERR_TOO_LARGE)) {
        if (why.code)
            *err = why;
        return !why.code;
    }
    struct ending e = {object_int(o, "job"), arena_printf(a, "what it saves is too much: %s", why.message)};
    if (!engine_write(t->core, &caller_system, a, end_write, &e, err))
        return false;
    jobs_wake(t->core->jobs);
    return true;
}

static bool look(struct trainings *t, struct err *err)
{
    auto_arena struct arena a;
    struct db_rows rows;
    arena_init(&a);
    if (!db_query(t->core->db, &a, "SELECT id FROM training_instances WHERE state = 'running' ORDER BY id",
                  DB_NO_ARGS, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o;
        struct err one = {0};
        if (!engine_get(t->core, &caller_system, &kind_training_instance, 0, rows.row[i].v[0].i, &a, &o,
                        &one) ||
            !look_at(t, &o, &a, &one))
            log_warn("training instance %lld: %s", (long long)rows.row[i].v[0].i, one.message);
    }
    return true;
}

/* --- the thread --- */

static unsigned guard(void *arg)
{
    struct trainings *t = arg;
    struct err err = {0};
    core_await(t->core);
    if (!look(t, &err))
        log_warn("trainings: %s", err.message);
    return EVERY_S;
}

struct trainings *trainings_start(struct core *core)
{
    static const struct ticker_work work = {.name = "trainings", .run = guard, .first_s = EVERY_S};
    struct trainings *t = base_zalloc(sizeof *t);
    t->core = core;
    ticker_start(&t->ticker, &work, t);
    return t;
}

void trainings_stop(struct trainings *t)
{
    if (!t)
        return;
    ticker_stop(&t->ticker);
    free(t);
}
