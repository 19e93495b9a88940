#include "core/move_blobs.h"

#include "base/json.h"
#include "base/log.h"
#include "core/controllers.h"
#include "store/store.h"

static void tell(const struct store_moving *before, const struct store_moving *now)
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
}

static bool move(struct core *core, struct err *err)
{
    struct store_moving before, now;
    store_moving(core->store, &before);
    bool ok = store_move(core->store, err);
    store_moving(core->store, &now);
    if (!controller_ending(core))
        tell(&before, &now);
    return ok;
}

static bool has_bucket(const struct core *core)
{
    return store_is_remote(core->store);
}

static void end_moving(struct core *core)
{
    store_move_end(core->store);
}

const struct controller controller_move_blobs = {
    .name = "move-blobs",
    .title = {"Moves blobs of the data folder to the bucket", "将数据目录中的数据块移至存储桶"},
    .thread = "move-blobs",
    .gives_way = true,
    .every_s = 600,
    .retry_s = 10,
    .after_requests = true,
    .needed = has_bucket,
    .tick = move,
    .end = end_moving,
};

void storage_write(struct core *core, struct buf *out)
{
    struct json_out o;
    struct store_moving now;
    struct controller_state last;
    int64_t bytes, max;
    store_moving(core->store, &now);
    store_cache_size(core->store, &bytes, &max);
    controller_state(core, &controller_move_blobs, &last);
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
    json_kz(&o, "problem", last.runs && !last.ok ? last.err.message : NULL);
    json_object_end(&o);
}
