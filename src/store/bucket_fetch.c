/* Blobs from the bucket to the cache. Small ones are fetched by the thread that asks. A large one is fetched
 * by a thread of its own, once for all readers that want it: they read the growing file as far as it is, and
 * its last byte only when the hash of all was right. It gets its name in the cache at that moment and not
 * before. When no reader wants it any more, the fetching ends.
 *
 * A range of a large blob is asked from the bucket by itself; when as much was read in ranges as the blob
 * has, the blob is fetched after all. */
#include "base/fs.h"
#include "base/thread.h"
#include "store/bucket_own.h"
#include "store/store_own.h"

#include <errno.h>

#define LARGE     (INT64_C(8) << 20)
#define PIECE     (1 << 18)
#define NAME_SIZE 33

struct fetch {
    struct fetch *next;
    struct store *store;
    struct digest digest;
    int64_t size;
    char name[NAME_SIZE];
    int fd;
    struct sha256 *hash; /* the thread's */
    /* under the bucket's lock: */
    int64_t got;
    unsigned users; /* readers, and the thread */
    bool keep;      /* goes on without readers */
    bool ended;
    struct err err; /* when it failed; code 0: it is whole */
};

/* --- one fetching --- */

struct fetching {
    struct sha256 *hash;
    int fd;
    int64_t size;
};

static int new_file(struct store *s, char name[NAME_SIZE], struct err *err)
{
    uint8_t id[16];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, name);
    int fd = openat(s->tmp_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0440);
    if (fd < 0)
        err_errno(err, errno, "cannot make a file for a blob");
    return fd;
}

static bool damaged(const struct digest *d, struct err *err)
{
    char hex[SHA256_HEX + 1];
    digest_hex(d, hex);
    return err_set(err, ERR_INTERNAL, NULL,
                   "the object of blob %s does not have the content of its name: it was damaged", hex);
}

static bool fetch_piece(void *ctx, struct str piece, struct err *err)
{
    struct fetching *f = ctx;
    sha256_add(f->hash, piece.p, piece.n);
    f->size += (int64_t)piece.n;
    return fs_write_all(f->fd, piece.p, piece.n, err);
}

static bool fetch_bytes(struct bucket *b, const struct digest *d, int fd, int64_t *ret_size, struct err *err)
{
    struct fetching f = {sha256_new(), fd, 0};
    char key[BUCKET_KEY_MAX];
    uint8_t hash[SHA256_SIZE];
    bool ok = s3_get(b->s3, bucket_key(b, d, key), 0, -1, &(struct s3_sink){fetch_piece, &f, NULL}, err);
    sha256_finish(f.hash, hash);
    if (ok && memcmp(hash, d->b, sizeof hash) != 0)
        ok = damaged(d, err);
    if (ok && fsync(fd) != 0)
        ok = err_errno(err, errno, "cannot make a blob durable");
    *ret_size = f.size;
    return ok;
}

/* By the caller itself. */
static int fetch_small(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err)
{
    char name[NAME_SIZE];
    int64_t size = 0;
    auto_fd int to = new_file(s, name, err);
    if (to < 0)
        return -1;
    int fd = fetch_bytes(s->bucket, d, to, &size, err) ? openat(s->tmp_fd, name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || !bucket_cache_add(s->bucket->cache, s->tmp_fd, name, d, size, err)) {
        unlinkat(s->tmp_fd, name, 0);
        base_close_fd(&fd);
        return -1;
    }
    *ret_size = size;
    return fd;
}

/* --- the thread of a large one --- */

static void unlist(struct fetch *f)
{
    struct fetch **at = &f->store->bucket->fetches;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
}

/* Once the answer was no, no reader can join it. */
static bool wanted(struct fetch *f)
{
    bool yes = !f->store->bucket->ending && (f->keep || f->users > 1);
    if (!yes)
        unlist(f);
    return yes;
}

static bool large_alive(void *ctx)
{
    struct fetch *f = ctx;
    struct bucket *b = f->store->bucket;
    pthread_mutex_lock(&b->lock);
    bool yes = wanted(f);
    pthread_mutex_unlock(&b->lock);
    return yes;
}

static bool large_piece(void *ctx, struct str piece, struct err *err)
{
    struct fetch *f = ctx;
    struct bucket *b = f->store->bucket;
    if ((int64_t)piece.n > f->size - f->got)
        return damaged(&f->digest, err);
    sha256_add(f->hash, piece.p, piece.n);
    if (!fs_write_all(f->fd, piece.p, piece.n, err))
        return false;
    pthread_mutex_lock(&b->lock);
    f->got += (int64_t)piece.n;
    bool go = wanted(f);
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return go || err_set(err, ERR_UNAVAILABLE, NULL, "no request waits for the blob any more");
}

static bool large_run(struct fetch *f, struct err *err)
{
    struct bucket *b = f->store->bucket;
    char key[BUCKET_KEY_MAX];
    uint8_t hash[SHA256_SIZE];
    struct s3_sink sink = {large_piece, f, large_alive};
    f->hash = sha256_new();
    bool ok = s3_get(b->s3, bucket_key(b, &f->digest, key), 0, -1, &sink, err);
    sha256_finish(f->hash, hash);
    if (ok && memcmp(hash, f->digest.b, sizeof hash) != 0)
        ok = damaged(&f->digest, err);
    if (ok && fsync(f->fd) != 0)
        ok = err_errno(err, errno, "cannot make a blob durable");
    return ok && bucket_cache_add(b->cache, f->store->tmp_fd, f->name, &f->digest, f->size, err);
}

/* Under the lock. */
static void fetch_leave(struct fetch *f)
{
    if (--f->users)
        return;
    close(f->fd);
    free(f);
}

static void *large_thread(void *arg)
{
    struct fetch *f = arg;
    struct bucket *b = f->store->bucket;
    struct err err = {0};
    bool ok = large_run(f, &err);
    pthread_mutex_lock(&b->lock);
    unlist(f);
    if (!ok) /* not before: a reader that joined has opened it */
        unlinkat(f->store->tmp_fd, f->name, 0);
    f->err = err;
    f->ended = true;
    fetch_leave(f);
    b->fetching--;
    b->finished[b->finished_n++] = pthread_self();
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Under the lock. */
static void join_finished(struct bucket *b)
{
    while (b->finished_n)
        pthread_join(b->finished[--b->finished_n], NULL);
}

void bucket_fetch_end(struct bucket *b)
{
    pthread_mutex_lock(&b->lock);
    b->ending = true;
    while (b->fetching)
        pthread_cond_wait(&b->changed, &b->lock);
    join_finished(b);
    pthread_mutex_unlock(&b->lock);
}

/* --- its readers --- */

static struct fetch *fetch_find(struct bucket *b, const struct digest *d)
{
    for (struct fetch *f = b->fetches; f; f = f->next)
        if (memcmp(f->digest.b, d->b, sizeof d->b) == 0)
            return f;
    return NULL;
}

/* Under the lock. NULL with code 0: too many already. */
static struct fetch *fetch_new(struct store *s, const struct digest *d, int64_t size, struct err *err)
{
    struct bucket *b = s->bucket;
    char name[NAME_SIZE];
    join_finished(b);
    if (b->fetching >= BUCKET_FETCHES || b->ending)
        return NULL;
    int fd = new_file(s, name, err);
    if (fd < 0)
        return NULL;
    struct fetch *f = base_zalloc(sizeof *f);
    *f = (struct fetch){.next = b->fetches, .store = s, .digest = *d, .size = size, .fd = fd, .users = 1};
    memcpy(f->name, name, sizeof f->name);
    b->fetches = f;
    b->fetching++;
    return f;
}

/* Joins the fetching of this blob, or begins it. The file is opened before it can get its name in the cache
 * and leave that again. */
static struct fetch *fetch_join(struct store *s, const struct digest *d, int64_t size, int *ret_fd,
                                struct err *err)
{
    struct bucket *b = s->bucket;
    pthread_mutex_lock(&b->lock);
    struct fetch *f = fetch_find(b, d), *mine = f ? NULL : fetch_new(s, d, size, err);
    f = f ? f : mine;
    int fd = f && ret_fd ? openat(s->tmp_fd, f->name, O_RDONLY | O_CLOEXEC) : -1;
    if (f && ret_fd && fd < 0) /* it was whole a moment ago */
        fd = bucket_cache_get(b->cache, d);
    int why = errno;
    if (f && ret_fd && fd >= 0)
        f->users++;
    if (f && !ret_fd)
        f->keep = true;
    if (mine)
        thread_start("fetch", large_thread, mine);
    pthread_mutex_unlock(&b->lock);
    if (!f || (ret_fd && fd < 0)) {
        if (f)
            err_errno(err, why, "cannot open a blob that is fetched");
        return NULL;
    }
    if (ret_fd)
        *ret_fd = fd;
    return f;
}

/* What may be read: all but the last byte until it is whole. Under the lock. */
static int64_t readable(const struct fetch *f)
{
    return f->ended ? f->size : f->got < f->size ? f->got : f->size - 1;
}

/* Waits until there is more than `at` bytes, for about a second; *ret is how many there are. */
static bool fetch_wait(struct fetch *f, int64_t at, int64_t *ret, struct err *err)
{
    struct bucket *b = f->store->bucket;
    uint64_t until = thread_in(1);
    pthread_mutex_lock(&b->lock);
    while (!f->ended && readable(f) <= at && thread_wait(&b->changed, &b->lock, until))
        ;
    bool ok = !f->ended || !f->err.code;
    *ret = readable(f);
    if (!ok)
        *err = f->err;
    pthread_mutex_unlock(&b->lock);
    return ok;
}

static void reader_leave(struct fetch *f)
{
    struct bucket *b = f->store->bucket;
    pthread_mutex_lock(&b->lock);
    fetch_leave(f);
    pthread_mutex_unlock(&b->lock);
}

/* --- reading --- */

static bool size_of(struct store *s, const struct digest *d, int64_t *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct db_row row;
    bool found;
    if (!db_query_one(s->db, &a, "SELECT size FROM blobs WHERE digest = ?", db_args(digest_arg(d)), &row,
                      &found, err))
        return false;
    *ret = found ? row.v[0].i : -1;
    return true;
}

static int fetch_large(struct store *s, const struct digest *d, int64_t size, struct err *err)
{
    int fd;
    int64_t there = 0;
    struct fetch *f = fetch_join(s, d, size, &fd, err);
    if (!f)
        return err->code ? -1 : fetch_small(s, d, &there, err);
    while (fd >= 0 && there < size)
        if (!fetch_wait(f, size - 1, &there, err))
            base_close_fd(&fd);
    reader_leave(f);
    return fd;
}

static int from_cache(struct store *s, const struct digest *d, int64_t *ret_size)
{
    int fd = bucket_cache_get(s->bucket->cache, d);
    if (fd >= 0 && ret_size)
        *ret_size = lseek(fd, 0, SEEK_END);
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

int bucket_read(struct store *s, const struct digest *d, int64_t *ret_size, struct err *err)
{
    int64_t size;
    struct err why = {0};
    int fd = from_cache(s, d, ret_size);
    if (fd >= 0)
        return fd;
    if (!size_of(s, d, &size, err))
        return -1;
    fd = size >= LARGE ? fetch_large(s, d, size, &why) : fetch_small(s, d, &size, &why);
    if (fd < 0)
        *err = why;
    else if (ret_size)
        *ret_size = size;
    return fd;
}

bool bucket_begin(struct store *s, const struct digest *d, int *ret_fd, int64_t *ret_size, struct err *err)
{
    char key[BUCKET_KEY_MAX];
    int64_t size, there;
    *ret_fd = from_cache(s, d, ret_size);
    if (*ret_fd >= 0)
        return true;
    if (!size_of(s, d, &size, err))
        return false;
    if (size < LARGE) {
        *ret_fd = bucket_read(s, d, ret_size, err);
        return *ret_fd >= 0;
    }
    if (!s3_head(s->bucket->s3, bucket_key(s->bucket, d, key), &there, err))
        return false;
    if (there != size)
        return damaged(d, err);
    *ret_size = size;
    return true;
}

/* --- bytes as they come --- */

struct sending {
    const struct blob_sink *sink;
    struct sha256 *hash; /* NULL: a range */
    int64_t left;
    char last; /* kept back when there is a hash */
};

static bool gone(struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, NULL, "the client that asked for the blob has gone");
}

static bool send_piece(void *ctx, struct str piece, struct err *err)
{
    struct sending *x = ctx;
    if ((int64_t)piece.n > x->left)
        return err_set(err, ERR_UPSTREAM, NULL, "the object store sent more than it was asked for");
    x->left -= (int64_t)piece.n;
    if (x->hash)
        sha256_add(x->hash, piece.p, piece.n);
    if (x->hash && !x->left && piece.n)
        x->last = piece.p[--piece.n];
    return !piece.n || x->sink->piece(x->sink->ctx, piece) || gone(err);
}

static bool send_alive(void *ctx)
{
    const struct sending *x = ctx;
    return x->sink->piece(x->sink->ctx, STR(""));
}

/* Not through the cache: a range (n < size), or a blob that is larger than all of the cache. */
static bool send_direct(struct store *s, const struct digest *d, int64_t from, int64_t n, bool all,
                        const struct blob_sink *sink, struct err *err)
{
    struct bucket *b = s->bucket;
    char key[BUCKET_KEY_MAX];
    uint8_t hash[SHA256_SIZE];
    struct sending x = {sink, all ? sha256_new() : NULL, n, 0};
    struct s3_sink to = {send_piece, &x, send_alive};
    bool ok = s3_get(b->s3, bucket_key(b, d, key), from, all ? -1 : n, &to, err);
    if (x.hash)
        sha256_finish(x.hash, hash);
    if (ok && x.left)
        return err_set(err, ERR_UPSTREAM, NULL, "the object store sent less than it was asked for");
    if (!ok || !all)
        return ok;
    if (memcmp(hash, d->b, sizeof hash) != 0)
        return damaged(d, err);
    return sink->piece(sink->ctx, (struct str){&x.last, 1}) || gone(err);
}

static bool send_growing(struct fetch *f, int fd, const struct blob_sink *sink, struct err *err)
{
    auto_free char *space = base_alloc(PIECE);
    int64_t at = 0, there = 0;
    while (at < f->size) {
        if (at == there && !fetch_wait(f, at, &there, err))
            return false;
        if (at == there && !sink->piece(sink->ctx, STR("")))
            return gone(err);
        if (at == there)
            continue;
        int64_t want = there - at < PIECE ? there - at : PIECE;
        ssize_t n = pread(fd, space, (size_t)want, at);
        if (n <= 0)
            return err_errno(err, n < 0 ? errno : EIO, "cannot read a blob that is fetched");
        if (!sink->piece(sink->ctx, (struct str){space, (size_t)n}))
            return gone(err);
        at += n;
    }
    return true;
}

/* Counts what was read of it in ranges; true when it would have been cheaper to have all of it. */
static bool ranged_enough(struct bucket *b, const struct digest *d, int64_t n, int64_t size)
{
    unsigned i = 0;
    pthread_mutex_lock(&b->lock);
    while (i < BUCKET_RANGED && memcmp(b->ranged[i].digest.b, d->b, sizeof d->b) != 0)
        i++;
    if (i == BUCKET_RANGED) {
        i = b->ranged_next++ % BUCKET_RANGED;
        b->ranged[i].digest = *d;
        b->ranged[i].bytes = 0;
    }
    b->ranged[i].bytes += n;
    bool enough = b->ranged[i].bytes >= size;
    if (enough)
        b->ranged[i].bytes = 0;
    pthread_mutex_unlock(&b->lock);
    return enough;
}

static bool send_range(struct store *s, const struct digest *d, int64_t from, int64_t n, int64_t size,
                       bool fits, const struct blob_sink *sink, struct err *err)
{
    if (!send_direct(s, d, from, n, false, sink, err))
        return false;
    struct err ignored = {0}; /* the next range comes from the bucket as this one did */
    if (fits && ranged_enough(s->bucket, d, n, size))
        fetch_join(s, d, size, NULL, &ignored);
    return true;
}

bool bucket_send(struct store *s, const struct digest *d, int64_t from, int64_t n, int64_t size,
                 const struct blob_sink *sink, struct err *err)
{
    int fd;
    struct err why = {0};
    bool fits = size <= bucket_cache_max(s->bucket->cache);
    if (n < size)
        return send_range(s, d, from, n, size, fits, sink, err);
    struct fetch *f = fits ? fetch_join(s, d, size, &fd, &why) : NULL;
    if (!f && why.code) {
        *err = why;
        return false;
    }
    if (!f)
        return send_direct(s, d, 0, size, true, sink, err);
    bool ok = send_growing(f, fd, sink, err);
    close(fd);
    reader_leave(f);
    return ok;
}
