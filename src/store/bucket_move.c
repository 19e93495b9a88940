/* Blobs of the data folder go to the bucket; see store.h. A file is hashed, put into the bucket, and only
 * then renamed into the cache: at any moment it is in one of them. */
#include "base/thread.h"
#include "store/bucket_own.h"
#include "store/store_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define THREADS 4 /* small files wait for the network most of the time */

struct pass {
    struct store *store;
    atomic_uint next;   /* folder */
    atomic_bool failed; /* some thread did */
    pthread_mutex_t lock;
    struct err err; /* the first's */
};

static void count(struct store *s, int64_t blobs, int64_t bytes, bool moved)
{
    pthread_mutex_lock(&s->moving_lock);
    s->moving.left += moved ? -blobs : blobs;
    s->moving.left_bytes += moved ? -bytes : bytes;
    s->moving.moved += moved ? blobs : 0;
    s->moving.moved_bytes += moved ? bytes : 0;
    pthread_mutex_unlock(&s->moving_lock);
}

static DIR *open_folder(struct store *s, unsigned first, struct err *err)
{
    char folder[3];
    uint8_t byte = (uint8_t)first;
    hex_encode(&byte, 1, folder);
    int fd = openat(s->blobs_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && errno != ENOENT)
        err_errno(err, errno, "cannot read a folder of blobs");
    if (!dir)
        base_close_fd(&fd);
    return dir;
}

/* What is there to do, before it is begun. */
static bool look(struct store *s, struct err *err)
{
    pthread_mutex_lock(&s->moving_lock);
    s->moving.left = s->moving.left_bytes = s->moving.damaged = 0;
    pthread_mutex_unlock(&s->moving_lock);
    for (unsigned i = 0; i < 256; i++) {
        DIR *dir = open_folder(s, i, err);
        struct dirent *e;
        struct stat st;
        struct digest d;
        if (!dir && err->code)
            return false;
        while (dir && (e = readdir(dir)))
            if (digest_parse(str_of(e->d_name), &d) &&
                fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                count(s, 1, st.st_size, false);
        if (dir)
            closedir(dir);
    }
    return true;
}

static bool has_row(struct store *s, const struct digest *d, bool *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    return db_query_one(s->db, &a, "SELECT 1 FROM blobs WHERE digest = ?", db_args(digest_arg(d)), &row, ret,
                        err);
}

/* The object is there. Only if this very file is still the blob's: one that was removed and written again
 * meanwhile may not be in the bucket any more, and waits for the next pass. */
static bool to_cache(struct store *s, const struct digest *d, const struct stat *st, struct err *err)
{
    char path[BLOB_PATH_MAX];
    struct stat now;
    bool ok = true, same;
    blob_path(d, path);
    pthread_mutex_lock(&s->lock[d->b[0]]);
    same = fstatat(s->blobs_fd, path, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st->st_ino &&
           now.st_dev == st->st_dev;
    if (same)
        ok = bucket_cache_add(s->bucket->cache, s->blobs_fd, path, d, st->st_size, err);
    pthread_mutex_unlock(&s->lock[d->b[0]]);
    if (ok && same)
        count(s, 1, st->st_size, true);
    return ok;
}

static void is_damaged(struct store *s, const struct digest *d)
{
    pthread_mutex_lock(&s->moving_lock);
    s->moving.damaged++;
    s->moving.bad = *d;
    pthread_mutex_unlock(&s->moving_lock);
}

static bool move_one(struct store *s, const struct digest *d, struct err *err)
{
    char path[BLOB_PATH_MAX];
    struct digest real;
    struct stat st;
    int64_t size;
    bool known;
    blob_path(d, path);
    auto_fd int fd = openat(s->blobs_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || err_errno(err, errno, "cannot open blob %s", path + 3);
    if (!has_row(s, d, &known, err))
        return false;
    if (!known) /* the sweep's, or a restore that is not done yet */
        return true;
    if (fstat(fd, &st) != 0)
        return err_errno(err, errno, "cannot look at blob %s", path + 3);
    if (!blob_hash_file(fd, &real, &size, err))
        return false;
    if (memcmp(real.b, d->b, sizeof real.b) != 0) {
        is_damaged(s, d);
        return true;
    }
    return bucket_put(s, d, fd, size, err) && to_cache(s, d, &st, err);
}

static bool move_folder(struct pass *p, unsigned first, struct err *err)
{
    DIR *dir = open_folder(p->store, first, err);
    struct dirent *e;
    struct digest d;
    bool ok = dir || !err->code;
    while (ok && dir && (e = readdir(dir)) && !atomic_load(&p->store->ending))
        if (digest_parse(str_of(e->d_name), &d))
            ok = move_one(p->store, &d, err);
    if (dir)
        closedir(dir);
    return ok;
}

static void *move_thread(void *arg)
{
    struct pass *p = arg;
    struct err err = {0};
    for (unsigned i; !atomic_load(&p->failed) && (i = atomic_fetch_add(&p->next, 1)) < 256;)
        if (!move_folder(p, i, &err)) {
            pthread_mutex_lock(&p->lock);
            if (!p->err.code)
                p->err = err;
            pthread_mutex_unlock(&p->lock);
            atomic_store(&p->failed, true);
        }
    return NULL;
}

bool store_move(struct store *s, struct err *err)
{
    struct pass p = {.store = s};
    pthread_t thread[THREADS];
    if (!s->bucket || atomic_load(&s->ending))
        return true;
    if (!look(s, err))
        return false;
    struct store_moving found;
    store_moving(s, &found);
    if (!found.left)
        return true;
    pthread_mutex_init(&p.lock, NULL);
    for (size_t i = 0; i < THREADS; i++)
        thread[i] = thread_start("move", move_thread, &p);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&p.lock);
    if (p.err.code)
        *err = p.err;
    return !p.err.code;
}

void store_move_end(struct store *s)
{
    atomic_store(&s->ending, true);
    if (s->bucket)
        s3_end(s->bucket->s3);
}

void store_moving(struct store *s, struct store_moving *ret)
{
    pthread_mutex_lock(&s->moving_lock);
    *ret = s->moving;
    pthread_mutex_unlock(&s->moving_lock);
}

const char *store_place(const struct store *s)
{
    return s->bucket ? s->bucket->where : NULL;
}

void store_cache_size(struct store *s, int64_t *ret_bytes, int64_t *ret_max)
{
    *ret_bytes = s->bucket ? bucket_cache_bytes(s->bucket->cache) : 0;
    *ret_max = s->bucket ? bucket_cache_max(s->bucket->cache) : 0;
}
