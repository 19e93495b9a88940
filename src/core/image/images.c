/* The service behind images: a thread that unpacks layers below <data>/layers/<digest>, each once, and writes
 * down how often versions were pulled; and the collecting of layers that nobody needs. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/map.h"
#include "base/thread.h"
#include "core/image/images_own.h"
#include "core/image/layer.h"
#include "core/job/job.h"

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
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct map *work;           /* hex -> struct work: everything that is not unpacked (yet) */
    struct work *first;         /* waiting */
    struct map *secrets;        /* key -> text */
    pthread_mutex_t pulls_lock; /* of its own: loop threads take it, so it is never held for long */
    struct map *pulls;          /* id of the version as text -> count */
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
    jobs_wake(im->core->jobs);
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
        pthread_cond_signal(&im->changed);
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

/* With the lock held; leaves it meanwhile. */
static void flush(struct images *im)
{
    struct err err = {0};
    auto_arena struct arena a;
    arena_init(&a);
    pthread_mutex_unlock(&im->lock);
    pthread_mutex_lock(&im->pulls_lock);
    struct flush f = {im->pulls};
    im->pulls = map_new();
    pthread_mutex_unlock(&im->pulls_lock);
    if (map_count(f.pulls) > 0 && !engine_write(im->core, &caller_system, &a, flush_write, &f, &err))
        log_warn("counts of pulls were not written: %s", err.message);
    map_free(f.pulls);
    pthread_mutex_lock(&im->lock);
}

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

static bool forget_jobs(struct db_conn *c, void *ctx, struct err *err)
{
    (void)ctx;
    return conn_exec(c,
                     "DELETE FROM layer_uses WHERE job NOT IN (SELECT id FROM jobs WHERE state IN " LIVE ")",
                     DB_NO_ARGS, NULL, err);
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

/* Renamed under the lock: whoever asks for it from now on gets it unpacked anew. */
static bool collect_one(struct images *im, const char *hex, struct err *err)
{
    struct digest d;
    struct stat st;
    bool needed = true;
    char gone[NAME_MAX + 8];
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

bool images_collect(struct images *im, struct err *err)
{
    if (!repository_sweep(im->core, err) || !db_write(im->core->db, forget_jobs, NULL, err))
        return false;
    int fd = openat(im->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d)
        return err_errno(err, errno, "cannot read the folder of layers");
    bool ok = true;
    for (struct dirent *e; ok && !atomic_load(&im->stop) && (e = readdir(d));)
        ok = collect_one(im, e->d_name, err);
    closedir(d);
    return ok;
}

/* --- the thread --- */

static void *images_thread(void *arg)
{
    struct images *im = arg;
    tidy(im);
    pthread_mutex_lock(&im->lock);
    while (!atomic_load(&im->stop)) {
        if (im->first)
            unpack_first(im);
        else if (!thread_wait(&im->changed, &im->lock, thread_in(FLUSH_S)))
            flush(im);
    }
    flush(im);
    pthread_mutex_unlock(&im->lock);
    return NULL;
}

struct images *images_start(struct core *core, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    const char *path = arena_printf(&a, "%s/layers", core->data);
    if (!fs_mkdirs(path, 0700, err))
        return NULL;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_errno(err, errno, "cannot open %s", path), NULL;
    struct images *im = base_zalloc(sizeof *im);
    pthread_mutex_init(&im->lock, NULL);
    pthread_mutex_init(&im->pulls_lock, NULL);
    thread_cond_init(&im->changed);
    im->core = core;
    im->dir = dir;
    im->work = map_new();
    im->pulls = map_new();
    im->secrets = map_new();
    im->thread = thread_start("images", images_thread, im);
    return im;
}

void images_stop(struct images *im)
{
    if (!im)
        return;
    pthread_mutex_lock(&im->lock);
    atomic_store(&im->stop, true);
    pthread_cond_signal(&im->changed);
    pthread_mutex_unlock(&im->lock);
    pthread_join(im->thread, NULL);
}

void images_free(struct images *im)
{
    struct str key;
    void *value;
    if (!im)
        return;
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
    pthread_cond_destroy(&im->changed);
    free(im);
}
