/* Many blobs made durable together. What costs time with small files is not their bytes but waiting for the
 * disk: a batch waits twice (bytes, names) and commits once, however many files it has. */
#include "base/clock.h"
#include "base/thread.h"
#include "store/scribe.h"
#include "store/store_own.h"

#include <errno.h>
#include <stdatomic.h>

#define BATCH_FILES 32768
#define EARLY_FILES 2048                /* so many new ones, */
#define EARLY_BYTES (INT64_C(32) << 20) /* or so much: the disk may begin */
#define BATCH_BYTES (INT64_C(1) << 30)

struct item {
    struct digest digest;
    int64_t size;
    char name[BLOB_NAME_MAX]; /* in the folder of unfinished blobs */
};

struct blob_batch {
    struct store *store;
    struct item *item;
    size_t n, cap;
    int64_t bytes;
    struct scribe *scribe; /* NULL: not needed yet */
    /* A thread that lets the disk work while further files come; what it did not reach is waited for at last.
     */
    pthread_t early;
    bool started;
    atomic_bool ended;
    int early_error; /* the kernel tells it only once */
    size_t early_n;  /* files and bytes at its start */
    int64_t early_bytes;
};

static void *sync_early(void *arg)
{
    struct blob_batch *b = arg;
    if (syncfs(b->store->blobs_fd) != 0)
        b->early_error = errno;
    atomic_store(&b->ended, true);
    return NULL;
}

static void end_early(struct blob_batch *b)
{
    if (b->started)
        pthread_join(b->early, NULL);
    b->started = false;
}

static void begin_early(struct blob_batch *b)
{
    if (b->n - b->early_n < EARLY_FILES && b->bytes - b->early_bytes < EARLY_BYTES)
        return;
    if (b->started && !atomic_load(&b->ended))
        return;
    end_early(b);
    b->early_n = b->n;
    b->early_bytes = b->bytes;
    atomic_store(&b->ended, false);
    b->started = true;
    b->early = thread_start("early-sync", sync_early, b);
}

struct blob_batch *blob_batch_new(struct store *s)
{
    struct blob_batch *b = base_zalloc(sizeof *b);
    b->store = s;
    return b;
}

static void drop(struct blob_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        unlinkat(b->store->tmp_fd, b->item[i].name, 0);
    b->n = 0;
    b->bytes = 0;
}

void blob_batch_free(struct blob_batch *b)
{
    if (!b)
        return;
    end_early(b);
    scribe_free(b->scribe);
    drop(b);
    free(b->item);
    free(b);
}

static struct item *next_item(struct blob_batch *b)
{
    if (b->n == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 64;
        b->item = base_realloc(b->item, b->cap * sizeof *b->item);
    }
    return &b->item[b->n++];
}

static bool added(struct blob_batch *b, int64_t size, struct err *err)
{
    b->bytes += size;
    begin_early(b);
    return (b->n < BATCH_FILES && b->bytes < BATCH_BYTES) || blob_batch_flush(b, err);
}

bool blob_batch_add(struct blob_batch *b, struct blob_writer *w, struct digest *ret, int64_t *ret_size,
                    struct err *err)
{
    if (b->store->bucket) /* the bucket makes each durable by itself */
        return blob_writer_finish(w, ret, ret_size, err);
    struct item *x = next_item(b);
    blob_writer_end(w, &x->digest, &x->size, x->name);
    *ret = x->digest;
    *ret_size = x->size;
    return added(b, x->size, err);
}

bool blob_batch_data(struct blob_batch *b, struct str data, struct digest *ret, struct err *err)
{
    if (b->store->bucket)
        return blob_put(b->store, data, ret, err);
    if (!b->scribe)
        b->scribe = scribe_new(b->store->tmp_fd);
    struct item *x = next_item(b);
    uint8_t id[16];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, x->name);
    sha256_of(data, x->digest.b);
    x->size = (int64_t)data.n;
    *ret = x->digest;
    return scribe_write(b->scribe, x->name, data, err) && added(b, x->size, err);
}

static bool write_rows(struct db_conn *c, void *ctx, struct err *err)
{
    struct blob_batch *b = ctx;
    struct db_value now = db_int(clock_now());
    for (size_t i = 0; i < b->n; i++)
        if (!conn_exec(c,
                       "INSERT INTO blobs (digest, size, touched_at) VALUES (?, ?, ?)"
                       " ON CONFLICT (digest) DO UPDATE SET touched_at = excluded.touched_at",
                       db_args(digest_arg(&b->item[i].digest), db_int(b->item[i].size), now), NULL, err))
            return false;
    return true;
}

static bool sync_all(struct store *s, struct err *err)
{
    return syncfs(s->blobs_fd) == 0 || err_errno(err, errno, "cannot make blobs durable");
}

/* Moves one into place; the bytes of all are waited for before the first name is given, and not at all when
 * every blob is there already. */
static bool place(struct blob_batch *b, const struct item *x, bool *synced, struct err *err)
{
    struct store *s = b->store;
    char path[BLOB_PATH_MAX];
    blob_path(&x->digest, path);
    if (!*synced && faccessat(s->blobs_fd, path, F_OK, 0) != 0) {
        if (!sync_all(s, err))
            return false;
        *synced = true;
    }
    return blob_move(s, s->tmp_fd, x->name, &x->digest, err);
}

/* The rows come first, as in blob_adopt. */
bool blob_batch_flush(struct blob_batch *b, struct err *err)
{
    struct store *s = b->store;
    bool ok = true, synced = false;
    if (b->n == 0)
        return true;
    if (!db_write(s->db, write_rows, b, err) || (b->scribe && !scribe_settle(b->scribe, err)))
        return false;
    end_early(b);
    if (b->early_error)
        return err_errno(err, b->early_error, "cannot make blobs durable");
    for (size_t i = 0; ok && i < b->n; i++) {
        pthread_mutex_t *lock = &s->lock[b->item[i].digest.b[0]];
        pthread_mutex_lock(lock);
        ok = place(b, &b->item[i], &synced, err);
        pthread_mutex_unlock(lock);
    }
    if (!ok)
        return false;
    b->n = b->early_n = 0;
    b->bytes = b->early_bytes = 0;
    return !synced || sync_all(s, err);
}
