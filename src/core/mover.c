#include "core/mover.h"

#include "base/json.h"
#include "base/log.h"
#include "base/ticker.h"
#include "store/store.h"

#define EVERY_S 600
#define AGAIN_S 10

struct mover {
    struct core *core;
    struct ticker ticker;
    struct store_moving before; /* the last pass */
    pthread_mutex_t lock;
    struct err err; /* of the last pass; under the lock */
};

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

static unsigned move(void *arg)
{
    struct mover *m = arg;
    struct store_moving now;
    struct err err = {0};
    store_move(m->core->store, &err);
    store_moving(m->core->store, &now);
    if (!ticker_ending(&m->ticker))
        tell(&m->before, &now, &err);
    m->before = now;
    pthread_mutex_lock(&m->lock);
    m->err = err;
    pthread_mutex_unlock(&m->lock);
    return err.code ? AGAIN_S : EVERY_S;
}

struct mover *mover_start(struct core *core)
{
    if (!store_is_remote(core->store))
        return NULL;
    static const struct ticker_work work = {.name = "mover", .run = move, .gives_way = true};
    struct mover *m = base_zalloc(sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    m->core = core;
    ticker_start(&m->ticker, &work, m);
    return m;
}

void mover_stop(struct mover *m)
{
    if (!m)
        return;
    ticker_end(&m->ticker);
    store_move_end(m->core->store);
    ticker_stop(&m->ticker);
    pthread_mutex_destroy(&m->lock);
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
