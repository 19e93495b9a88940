#include "core/keeper.h"

#include "base/log.h"
#include "core/data/sample.h"
#include "core/image/image.h"
#include "core/training/tensorboard.h"
#include "core/training/training.h"
#include "store/manifest.h"
#include "store/upload.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#define EVERY_S 60

struct keeper {
    struct core *core;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop, again;
};

static bool stopping(struct keeper *k)
{
    pthread_mutex_lock(&k->lock);
    bool stop = k->stop;
    pthread_mutex_unlock(&k->lock);
    return stop;
}

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
    while (p.left && !stopping(k)) {
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

static void keep(struct keeper *k)
{
    struct err err = {0};
    struct store_collected collected;
    struct store *s = k->core->store;
    if (!purge_versions(k, &err) || !training_sweep(k->core, &err) || !tensorboard_sweep(k->core, &err) ||
        !upload_sweep(s, &err) || !manifest_release(s, &err) || !images_collect(k->core->images, &err) ||
        !store_collect(s, &collected, &err))
        log_warn("housekeeping was not finished: %s", err.message);
    else if (collected.blobs)
        log_info("gave back %lld blobs, %lld bytes", (long long)collected.blobs, (long long)collected.bytes);
}

/* Waits for a wake or the next round; false when it is over. */
static bool wait_round(struct keeper *k)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += EVERY_S;
    pthread_mutex_lock(&k->lock);
    int rc = 0;
    while (!k->stop && !k->again && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&k->changed, &k->lock, &until);
    k->again = false;
    bool go = !k->stop;
    pthread_mutex_unlock(&k->lock);
    return go;
}

static void *keeper_thread(void *arg)
{
    struct keeper *k = arg;
    setpriority(PRIO_PROCESS, (id_t)gettid(), 19); /* of this thread alone; no matter when it cannot */
    while (wait_round(k))
        keep(k);
    return NULL;
}

struct keeper *keeper_start(struct core *core)
{
    struct keeper *k = base_zalloc(sizeof *k);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->changed, &attr);
    pthread_condattr_destroy(&attr);
    k->core = core;
    k->thread = thread_start("keeper", keeper_thread, k);
    return k;
}

static void signal_keeper(struct keeper *k, bool stop)
{
    pthread_mutex_lock(&k->lock);
    k->again = true;
    k->stop = k->stop || stop;
    pthread_cond_signal(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

void keeper_wake(struct keeper *k)
{
    if (k)
        signal_keeper(k, false);
}

void keeper_stop(struct keeper *k)
{
    if (!k)
        return;
    store_collect_end(k->core->store);
    signal_keeper(k, true);
    pthread_join(k->thread, NULL);
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->changed);
    free(k);
}
