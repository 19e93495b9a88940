#include "core/keeper.h"

#include "base/log.h"
#include "base/ticker.h"
#include "core/data/sample.h"
#include "core/image/image.h"
#include "core/training/tensorboard.h"
#include "core/training/training.h"
#include "store/manifest.h"
#include "store/upload.h"

#define EVERY_S 60

struct keeper {
    struct core *core;
    struct ticker ticker;
};

struct purge {
    int64_t version, project;
    bool left;
};

static bool purge_write(struct op *op, void *ctx, struct err *err)
{
    struct purge *p = ctx;
    return sample_purge_step(op, p->version, p->project, 500, &p->left, err);
}

static bool purge_version(struct keeper *k, int64_t version, int64_t project, struct err *err)
{
    struct purge p = {version, project, true};
    while (p.left && !ticker_ending(&k->ticker)) {
        auto_arena struct arena a;
        arena_init(&a);
        if (!engine_write(k->core, &caller_system, &a, purge_write, &p, err))
            return false;
    }
    return true;
}

static bool purge_versions(struct keeper *k, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_rows rows;
    if (!db_query(k->core->db, &a, "SELECT version, project FROM version_purges LIMIT 100", DB_NO_ARGS, &rows,
                  err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        if (!purge_version(k, rows.row[i].v[0].i, rows.row[i].v[1].i, err))
            return false;
    return true;
}

static unsigned keep(void *arg)
{
    struct keeper *k = arg;
    struct err err = {0};
    struct store_collected collected;
    struct store *s = k->core->store;
    core_await(k->core);
    if (!purge_versions(k, &err) || !training_sweep(k->core, &err) || !tensorboard_sweep(k->core, &err) ||
        !upload_sweep(s, &err) || !manifest_release(s, &err) || !images_collect(k->core->images, &err) ||
        !store_collect(s, &collected, &err))
        log_warn("housekeeping was not finished: %s", err.message);
    else if (collected.blobs)
        log_info("gave back %lld blobs, %lld bytes", (long long)collected.blobs, (long long)collected.bytes);
    return EVERY_S;
}

struct keeper *keeper_start(struct core *core)
{
    static const struct ticker_work work = {
        .name = "keeper", .run = keep, .first_s = EVERY_S, .gives_way = true};
    struct keeper *k = base_zalloc(sizeof *k);
    k->core = core;
    ticker_start(&k->ticker, &work, k);
    return k;
}

void keeper_wake(struct keeper *k)
{
    if (k)
        ticker_wake(&k->ticker);
}

void keeper_stop(struct keeper *k)
{
    if (!k)
        return;
    store_collect_end(k->core->store);
    ticker_stop(&k->ticker);
    free(k);
}
