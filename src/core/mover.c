#include "core/mover.h"

#include "base/json.h"
#include "base/log.h"
#include "store/store.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#define EVERY_S 600
#define AGAIN_S 10

struct mover {
    struct core *core;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
    struct err err; /* of the last pass */
};

/* false when it is over. */
static bool wait_for(struct mover *m, const struct err *err)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += err->code ? AGAIN_S : EVERY_S;
    pthread_mutex_lock(&m->lock);
    m->err = *err;
    int rc = 0;
    while (!m->stop && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&m->changed, &m->lock, &until);
    bool go = !m->stop;
    pthread_mutex_unlock(&m->lock);
    return go;
}

static void tell(const struct store_moving *before, const struct store_moving *now, const struct err *err)
{
    char hex[SHA256_HEX + 1];
    if (now->moved > before->moved)
        log_info("moved %lld blobs (%lld bytes) of the data folder to the bucket, %lld are left",
                 (long long)(now->moved - before->moved), (long long)(now->moved_bytes - before->moved_bytes),
                 (long long)now->left);
    digest_hex(&now->bad, hex);
    if (now->damaged && now->damaged != before->damaged)
        log_error("%lld blobs of the data folder are damaged and stay there, as %s", (long long)now->damaged,
                  hex);
    if (err->code)
        log_warn("blobs were not moved to the bucket, which is tried again: %s", err->message);
}

static void *mover_thread(void *arg)
{
    struct mover *m = arg;
    struct store_moving before = {0}, now;
    struct err err;
    setpriority(PRIO_PROCESS, (id_t)gettid(), 19);
    do {
        err = (struct err){0};
        store_move(m->core->store, &err);
        store_moving(m->core->store, &now);
        pthread_mutex_lock(&m->lock);
        bool stop = m->stop;
        pthread_mutex_unlock(&m->lock);
        if (!stop)
            tell(&before, &now, &err);
        before = now;
    } while (wait_for(m, &err));
    return NULL;
}

struct mover *mover_start(struct core *core)
{
    if (!store_is_remote(core->store))
        return NULL;
    struct mover *m = base_zalloc(sizeof *m);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, &attr);
    pthread_condattr_destroy(&attr);
    m->core = core;
    m->thread = thread_start("mover", mover_thread, m);
    return m;
}

void mover_stop(struct mover *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_signal(&m->changed);
    pthread_mutex_unlock(&m->lock);
    store_move_end(m->core->store);
    pthread_join(m->thread, NULL);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->changed);
    free(m);
}

void mover_write(struct core *core, struct buf *out)
{
    struct json_out o;
    struct store_moving now;
    struct err err = {0};
    int64_t bytes, max;
    store_moving(core->store, &now);
    store_cache_size(core->store, &bytes, &max);
    if (core->mover) {
        pthread_mutex_lock(&core->mover->lock);
        err = core->mover->err;
        pthread_mutex_unlock(&core->mover->lock);
    }
    json_begin(&o, out);
    json_object(&o);
    json_kz(&o, "bucket", store_place(core->store));
    json_kint(&o, "cache_bytes", bytes);
    json_kint(&o, "cache_limit", max);
    json_kint(&o, "moved", now.moved);
    json_kint(&o, "moved_bytes", now.moved_bytes);
    json_kint(&o, "left", now.left);
    json_kint(&o, "left_bytes", now.left_bytes);
    json_kint(&o, "damaged", now.damaged);
    json_kz(&o, "problem", err.code ? err.message : NULL);
    json_object_end(&o);
}
