/* Many blobs made durable together. What costs time with small files is not their bytes but waiting for the
 * disk: a batch waits twice (bytes, names) and commits once, however many files it has. */
#include "base/clock.h"
#include "store/store_own.h"

#include <errno.h>

#define BATCH_FILES 32768
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
};

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
    drop(b);
    free(b->item);
    free(b);
}

bool blob_batch_add(struct blob_batch *b, struct blob_writer *w, struct digest *ret, int64_t *ret_size,
                    struct err *err)
{
    if (b->store->bucket) /* the bucket makes each durable by itself */
        return blob_writer_finish(w, ret, ret_size, err);
    if (b->n == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 64;
        b->item = base_realloc(b->item, b->cap * sizeof *b->item);
    }
    struct item *x = &b->item[b->n++];
    blob_writer_end(w, &x->digest, &x->size, x->name);
    b->bytes += x->size;
    *ret = x->digest;
    *ret_size = x->size;
    return (b->n < BATCH_FILES && b->bytes < BATCH_BYTES) || blob_batch_flush(b, err);
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
    if (!db_write(s->db, write_rows, b, err))
        return false;
    for (size_t i = 0; ok && i < b->n; i++) {
        pthread_mutex_t *lock = &s->lock[b->item[i].digest.b[0]];
        pthread_mutex_lock(lock);
        ok = place(b, &b->item[i], &synced, err);
        pthread_mutex_unlock(lock);
    }
    if (!ok)
        return false;
    b->n = 0;
    b->bytes = 0;
    return !synced || sync_all(s, err);
}
