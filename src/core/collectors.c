/* Collecting: giving back what nothing refers to any more — samples of deleted versions, content that no
 * version holds, blobs that nothing uses, uploads that were never finished. Everything is done in small
 * writes. */
#include "base/log.h"
#include "core/controller.h"
#include "core/data/sample.h"
#include "store/manifest.h"
#include "store/store.h"
#include "store/upload.h"

/* --- versions of datasets --- */

struct version {
    int64_t id, project;
    bool left;
};

static bool drop_samples(struct op *op, void *ctx, struct err *err)
{
    struct version *v = ctx;
    return sample_purge_step(op, v->id, v->project, &v->left, err);
}

static bool remove_version(struct core *core, const struct db_value *v, struct arena *a, struct err *err)
{
    (void)a;
    struct version version = {v[0].i, v[1].i, true};
    while (version.left) {
        auto_arena struct arena step;
        arena_init(&step);
        if (controller_ending(core))
            return err_set(err, ERR_UNAVAILABLE, NULL, "the server stops");
        if (!engine_write(core, &caller_system, &step, drop_samples, &version, err))
            return false;
    }
    return true;
}

static bool collect_versions(struct core *core, struct err *err)
{
    return purge_rows(core, &(struct purge){"version_purges", "version", ", project", remove_version}, err);
}

const struct controller controller_collect_versions = {
    .name = "collect-versions",
    .title = {"Removes the samples of deleted versions", "清除已删除版本的样本"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"dataset_version", "delete"}},
    .tick = collect_versions,
};

/* --- the store --- */

static bool collect_uploads(struct core *core, struct err *err)
{
    return upload_sweep(core->store, err);
}

const struct controller controller_collect_uploads = {
    .name = "collect-uploads",
    .title = {"Removes uploads that were never finished", "清除未完成的上传"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .tick = collect_uploads,
};

static bool collect_manifests(struct core *core, struct err *err)
{
    return manifest_release(core->store, err);
}

const struct controller controller_collect_manifests = {
    .name = "collect-manifests",
    .title = {"Lets go of the content of versions that no project holds", "释放已无项目持有的版本内容"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .tick = collect_manifests,
};

static bool collect_blobs(struct core *core, struct err *err)
{
    struct store_collected collected = {0};
    bool ok = store_collect(core->store, &collected, err);
    if (collected.blobs)
        log_info("gave back %lld blobs, %lld bytes", (long long)collected.blobs, (long long)collected.bytes);
    return ok;
}

static void end_collecting(struct core *core)
{
    store_collect_end(core->store);
}

const struct controller controller_collect_blobs = {
    .name = "collect-blobs",
    .title = {"Removes blobs that nobody uses", "清除无人使用的数据块"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .tick = collect_blobs,
    .end = end_collecting,
};
