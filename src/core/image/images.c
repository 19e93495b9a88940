/* The service behind images: controllers that unpack layers below <data>/layers/<digest>, each once, write
 * down how often versions were pulled, and collect layers that nothing needs. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/map.h"
#include "core/controllers.h"
#include "core/image/images_own.h"
#include "core/image/layer.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_BYTES   (INT64_C(64) << 30)
#define MAX_ENTRIES 1000000
#define FREE_BYTES  (INT64_C(1) << 30)
#define UNUSED_S    3600 /* a layer stays so long after it was last asked for */
#define RETRY_US    INT64_C(60000000)
#define FLUSH_S     30

struct work {
    struct digest digest;
    int64_t failed_at; /* 0: waits or is being unpacked */
    struct err err;
    struct work *next; /* of the queue */
};

struct images {
    struct core *core;
    int dir;
    pthread_mutex_t lock;
    struct map *work;           /* hex -> struct work: everything that is not unpacked (yet) */
    struct work *first;         /* waiting */
    struct map *secrets;        /* key -> text */
    pthread_mutex_t pulls_lock; /* of its own: loop threads take it, so it is never held for long */
    struct map *pulls;          /* id of the version as text -> count */
    bool tidied;                /* the thread's own */
    atomic_bool stop;
};

/* --- unpacking --- */

static bool unpack_into(struct images *im, const struct digest *d, const char *name, struct err *err)
{
    const struct layer_limits limits = {MAX_BYTES, MAX_ENTRIES, FREE_BYTES, &im->stop};
    int64_t size;
    auto_fd int in = blob_open(im->core->store, d, &size, err);
    if (in < 0)
        return false;
    if (mkdirat(im->dir, name, 0755) != 0)
        return err_errno(err, errno, "cannot make a folder for a layer");
    auto_fd int dir = openat(im->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || fchmod(dir, 0755) != 0)
        return err_errno(err, errno, "cannot open a layer's folder");
    if (!layer_unpack(in, dir, &limits, err))
        return false;
    return syncfs(dir) == 0 || err_errno(err, errno, "cannot make a layer durable");
}

/* Under another name until it is whole. */
static bool unpack(struct images *im, const struct digest *d, struct err *err)
{
    char hex[SHA256_HEX + 1], half[SHA256_HEX + 8];
    digest_hex(d, hex);
    snprintf(half, sizeof half, ".new-%s", hex);
    if (!fs_remove_tree(im->dir, half, err))
        return false;
    bool ok = unpack_into(im, d, half, err);
    if (ok && renameat(im->dir, half, im->dir, hex) != 0 && errno != EEXIST && errno != ENOTEMPTY)
        ok = err_errno(err, errno, "cannot keep a layer");
    struct err ignored;
    if (!ok)
        fs_remove_tree(im->dir, half, &ignored);
    return ok;
}

/* With the lock held; leaves it meanwhile. */
static void unpack_first(struct images *im)
{
    struct work *w = im->first;
    struct err err = {0};
    char hex[SHA256_HEX + 1];
    im->first = w->next;
    pthread_mutex_unlock(&im->lock);
    digest_hex(&w->digest, hex);
    bool ok = unpack(im, &w->digest, &err);
    pthread_mutex_lock(&im->lock);
    if (ok) {
        map_remove(im->work, str_of(hex));
        free(w);
    } else {
        log_warn("layer %s: %s", hex, err.message);
        w->err = err;
        w->failed_at = clock_now();
    }
    pthread_mutex_unlock(&im->lock);
    controller_wake(im->core, &controller_jobs);
    pthread_mutex_lock(&im->lock);
}

/* What a killed server left. */
static void tidy(struct images *im)
{
    struct err ignored;
    int fd = openat(im->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, ".new-", 5) == 0 || strncmp(e->d_name, ".gone-", 6) == 0)
            fs_remove_tree(im->dir, e->d_name, &ignored);
    if (d)
        closedir(d);
}

enum layer_state images_layer(struct images *im, const struct digest *d, struct err *err)
{
    char hex[SHA256_HEX + 1];
    struct stat st;
    digest_hex(d, hex);
    pthread_mutex_lock(&im->lock);
    struct work *w = map_get(im->work, str_of(hex));
    enum layer_state state = LAYER_WAITING;
    if (!w && fstatat(im->dir, hex, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        /* From here on the collector leaves it alone for a while. */
        utimensat(im->dir, hex, NULL, AT_SYMLINK_NOFOLLOW);
        state = LAYER_READY;
    } else if (w && w->failed_at && clock_now() - w->failed_at < RETRY_US) {
        *err = w->err;
        state = LAYER_FAILED;
    } else if (!w || w->failed_at) {
        if (!w)
            map_set(im->work, str_of(hex), w = base_zalloc(sizeof *w));
        *w = (struct work){.digest = *d};
        struct work **at = &im->first;
        while (*at)
            at = &(*at)->next;
        *at = w;
        controller_wake(im->core, &controller_unpack_layers);
    }
    pthread_mutex_unlock(&im->lock);
    return state;
}

const char *images_layer_path(struct images *im, const struct digest *d, struct arena *a)
{
    char hex[SHA256_HEX + 1];
    digest_hex(d, hex);
    return arena_printf(a, "%s/layers/%s", im->core->data, hex);
}

/* --- pulls --- */

void images_pulled(struct images *im, int64_t version)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)version);
    pthread_mutex_lock(&im->pulls_lock);
    size_t n = (size_t)map_get(im->pulls, str_of(key));
    map_set(im->pulls, str_of(key), (void *)(n + 1)); // NOLINT(performance-no-int-to-ptr)
    pthread_mutex_unlock(&im->pulls_lock);
}

struct flush {
    struct map *pulls;
};

static bool flush_write(struct op *op, void *ctx, struct err *err)
{
    const struct flush *f = ctx;
    struct str key;
    void *value;
    for (size_t i = 0; map_next(f->pulls, &i, &key, &value);) {
        int64_t id = 0;
        str_to_i64(key, &id);
        if (!engine_set_status(op, &kind_image_version, id,
                               ENGINE_STATUSES(status_add("pulls", (int64_t)(size_t)value),
                                               status_set("pulled_at", db_int(clock_now()))),
                               err))
            return false;
    }
    return true;
}

/* What cannot be written is counted again. */
static void count_again(struct images *im, const struct map *pulls)
{
    struct str key;
    void *value;
    pthread_mutex_lock(&im->pulls_lock);
    for (size_t i = 0; map_next(pulls, &i, &key, &value);) {
        size_t n = (size_t)map_get(im->pulls, key) + (size_t)value;
        map_set(im->pulls, key, (void *)n); // NOLINT(performance-no-int-to-ptr)
    }
    pthread_mutex_unlock(&im->pulls_lock);
}

static bool write_pulls(struct core *core, struct err *err)
{
    struct images *im = core->images;
    auto_arena struct arena a;
    arena_init(&a);
    pthread_mutex_lock(&im->pulls_lock);
    struct flush f = {im->pulls};
    im->pulls = map_new();
    pthread_mutex_unlock(&im->pulls_lock);
    bool ok = map_count(f.pulls) == 0 || engine_write(core, &caller_system, &a, flush_write, &f, err);
    if (!ok)
        count_again(im, f.pulls);
    map_free(f.pulls);
    return ok;
}

static void write_last_pulls(struct core *core)
{
    struct err err = {0};
    if (!write_pulls(core, &err))
        log_warn("counts of pulls were not written: %s", err.message);
}

const struct controller controller_count_pulls = {
    .name = "count-pulls",
    .title = {"Writes how often images were pulled", "记录镜像的拉取次数"},
    .thread = "images",
    .first_s = FLUSH_S,
    .every_s = FLUSH_S,
    .tick = write_pulls,
    .stop = write_last_pulls,
};

/* --- passwords of pulls --- */

#define MAX_SECRETS 1000

const char *images_keep_secret(struct images *im, const char *text, struct arena *a)
{
    char *key = arena_alloc(a, 48);
    random_text(24, key);
    pthread_mutex_lock(&im->lock);
    if (map_count(im->secrets) < MAX_SECRETS)
        map_set(im->secrets, str_of(key), base_strdup(text));
    pthread_mutex_unlock(&im->lock);
    return key;
}

const char *images_secret(struct images *im, struct str key, struct arena *a)
{
    if (!key.n)
        return NULL;
    pthread_mutex_lock(&im->lock);
    const char *text = arena_strdup(a, map_get(im->secrets, key));
    pthread_mutex_unlock(&im->lock);
    return text;
}

/* --- collecting --- */

#define LIVE "('queued', 'starting', 'running', 'stopping')"

static bool collect_manifests(struct images *im, struct err *err)
{
    return repository_sweep(im->core, err);
}

static bool forget_write(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    return conn_exec(c,
                     "DELETE FROM layer_uses WHERE job NOT IN (SELECT id FROM jobs WHERE state IN " LIVE ")",
                     DB_NO_ARGS, NULL, err);
}

static bool forget_jobs(struct images *im, struct err *err)
{
    return db_write(im->core->db, forget_write, NULL, err);
}

static bool is_needed(struct images *im, const struct digest *d, bool *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    return db_query_one(
        im->core->db, &a,
        "SELECT 1 FROM image_blobs WHERE digest = ? AND refs > 0 UNION ALL SELECT 1 FROM layer_uses"
        " WHERE digest = ? LIMIT 1",
        db_args(digest_arg(d), digest_arg(d)), &row, ret, err);
}

/* Renamed under the lock: a job that asks for it from now on gets it unpacked anew. */
static bool collect_one(struct images *im, const char *hex, struct err *err)
{
    struct digest d;
    struct stat st;
    bool needed = true;
    char gone[NAME_MAX + 8];
    if (strncmp(hex, ".gone-", 6) == 0) /* could not be removed before */
        return fs_remove_tree(im->dir, hex, err);
    if (!digest_parse(str_of(hex), &d))
        return true;
    snprintf(gone, sizeof gone, ".gone-%s", hex);
    pthread_mutex_lock(&im->lock);
    bool old = fstatat(im->dir, hex, &st, AT_SYMLINK_NOFOLLOW) == 0 && time(NULL) - st.st_mtime > UNUSED_S;
    bool ok = !old || is_needed(im, &d, &needed, err);
    if (ok && !needed && renameat(im->dir, hex, im->dir, gone) != 0)
        ok = err_errno(err, errno, "cannot remove layer %s", hex);
    pthread_mutex_unlock(&im->lock);
    return ok && (needed || fs_remove_tree(im->dir, gone, err));
}

static bool collect_layers(struct images *im, struct err *err)
{
    int fd = openat(im->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return err_errno(err, errno, "cannot read the folder of layers");
    bool ok = true;
    for (struct dirent *e; !atomic_load(&im->stop) && (e = readdir(d));) {
        struct err one = {0};
        if (!collect_one(im, e->d_name, &one))
            ok = err_keep(err, &one);
    }
    closedir(d);
    return ok;
}

static bool collect(struct core *core, struct err *err)
{
    static bool (*const steps[])(struct images * im, struct err * err) = {collect_manifests, forget_jobs,
                                                                          collect_layers};
    bool ok = true;
    for (size_t i = 0; i < countof(steps); i++) {
        struct err one = {0};
        if (!steps[i](core->images, &one))
            ok = err_keep(err, &one);
    }
    return ok;
}

const struct controller controller_collect_images = {
    .name = "collect-images",
    .title = {"Removes layers and manifests of images that nobody uses", "清除无人使用的镜像层和清单"},
    .thread = "collect",
    .gives_way = true,
    .first_s = 60,
    .every_s = 60,
    .woken_by = {{"image", "delete"}, {"image_version", "delete"}},
    .tick = collect,
};

/* --- the service --- */

static bool unpack_all(struct core *core, struct err *err)
{
    (void)err; /* a layer that cannot be unpacked is told to the job that asks for it */
    struct images *im = core->images;
    if (!im->tidied)
        tidy(im);
    im->tidied = true;
    pthread_mutex_lock(&im->lock);
    while (im->first && !atomic_load(&im->stop))
        unpack_first(im);
    pthread_mutex_unlock(&im->lock);
    return true;
}

static bool start(struct core *core, const struct core_options *o, struct err *err)
{
    (void)o;
    auto_arena struct arena a;
    arena_init(&a);
    const char *path = arena_printf(&a, "%s/layers", core->data);
    if (!fs_mkdirs(path, 0700, err))
        return false;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_errno(err, errno, "cannot open %s", path);
    struct images *im = base_zalloc(sizeof *im);
    pthread_mutex_init(&im->lock, NULL);
    pthread_mutex_init(&im->pulls_lock, NULL);
    im->core = core;
    im->dir = dir;
    im->work = map_new();
    im->pulls = map_new();
    im->secrets = map_new();
    core->images = im;
    return true;
}

static void end(struct core *core)
{
    atomic_store(&core->images->stop, true);
}

static void free_images(struct core *core)
{
    struct images *im = core->images;
    struct str key;
    void *value;
    for (size_t i = 0; map_next(im->work, &i, &key, &value);)
        free(value);
    for (size_t i = 0; map_next(im->secrets, &i, &key, &value);)
        free(value);
    map_free(im->secrets);
    map_free(im->work);
    map_free(im->pulls);
    close(im->dir);
    pthread_mutex_destroy(&im->lock);
    pthread_mutex_destroy(&im->pulls_lock);
    free(im);
}

const struct controller controller_unpack_layers = {
    .name = "unpack-layers",
    .title = {"Unpacks layers of images that jobs wait for", "解包作业所需的镜像层"},
    .thread = "images",
    .every_s = 60,
    .start = start,
    .tick = unpack_all,
    .end = end,
    .free = free_images,
};
