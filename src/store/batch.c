/* Many blobs made durable together. What costs time with small files is not their bytes but waiting for the
 * disk, and giving each its name: files are settled in groups (rows, one wait for the bytes of all, names) by
 * a thread of its own, while the next ones come. The names become durable with the flush. */
#include "base/clock.h"
#include "base/thread.h"
#include "store/scribe.h"
#include "store/store_own.h"

#include <errno.h>
#include <stdatomic.h>

/* A group is settled when it has so many files or bytes, but not before the one before it; it waits for that
 * when it is as large as it may be. */
#define GROUP_FILES     2048
#define GROUP_BYTES     (INT64_C(32) << 20)
#define MAX_GROUP_FILES 32768
#define MAX_GROUP_BYTES (INT64_C(1) << 30)

struct item {
    struct digest digest;
    int64_t size;
    char name[BLOB_NAME_MAX]; /* in the folder of unfinished blobs */
};

struct group {
    struct item *item;
    size_t n, cap;
    int64_t bytes;
};

struct blob_batch {
    struct store *store;
    struct scribe *scribe; /* NULL: not needed yet */
    struct group coming;
    /* The thread's own while it runs. */
    struct group settling;
    bool placed; /* names were given that are not durable yet */
    bool failed;
    struct err err;

    pthread_t thread;
    bool started;
    atomic_bool ended;
};

struct blob_batch *blob_batch_new(struct store *s)
{
    struct blob_batch *b = base_zalloc(sizeof *b);
    b->store = s;
    return b;
}

/* --- settling a group --- */

struct rows {
    const struct group *group;
    int64_t now;
};

static bool write_rows(struct db_conn *c, void *ctx, struct err *err)
{
    const struct rows *r = ctx;
    for (size_t i = 0; i < r->group->n; i++) {
        const struct item *x = &r->group->item[i];
        if (!conn_exec(c,
                       "INSERT INTO blobs (digest, size, touched_at) VALUES (?, ?, ?)"
                       " ON CONFLICT (digest) DO UPDATE SET touched_at = excluded.touched_at",
                       db_args(digest_arg(&x->digest), db_int(x->size), db_int(r->now)), NULL, err))
            return false;
    }
    return true;
}

static bool sync_all(struct store *s, struct err *err)
{
    return syncfs(s->blobs_fd) == 0 || err_errno(err, errno, "cannot make blobs durable");
}

/* Whether some of them are new: then the bytes of all are waited for before the first name is given. */
static bool any_new(const struct store *s, const struct group *g)
{
    char path[BLOB_PATH_MAX];
    for (size_t i = 0; i < g->n; i++) {
        blob_path(&g->item[i].digest, path);
        if (faccessat(s->blobs_fd, path, F_OK, 0) != 0)
            return true;
    }
    return false;
}

/* The rows come first, as in blob_adopt. */
static bool settle(struct blob_batch *b, struct group *g, struct err *err)
{
    struct store *s = b->store;
    struct rows rows = {g, clock_now()};
    if (g->n == 0)
        return true;
    if (!db_write(s->db, write_rows, &rows, err))
        return false;
    if (any_new(s, g)) {
        b->placed = true;
        if (!sync_all(s, err))
            return false;
    }
    for (size_t i = 0; i < g->n; i++) {
        pthread_mutex_t *lock = &s->lock[g->item[i].digest.b[0]];
        pthread_mutex_lock(lock);
        bool ok = blob_move(s, s->tmp_fd, g->item[i].name, &g->item[i].digest, err);
        pthread_mutex_unlock(lock);
        if (!ok)
            return false;
    }
    g->n = 0;
    g->bytes = 0;
    return true;
}

static void *settle_beside(void *arg)
{
    struct blob_batch *b = arg;
    b->failed = !settle(b, &b->settling, &b->err);
    atomic_store(&b->ended, true);
    return NULL;
}

/* Waits for the group that is being settled. */
static bool settled(struct blob_batch *b, struct err *err)
{
    if (b->started)
        pthread_join(b->thread, NULL);
    b->started = false;
    if (b->failed)
        *err = b->err;
    return !b->failed;
}

static bool begin_settling(struct blob_batch *b, struct err *err)
{
    if (!settled(b, err) || (b->scribe && !scribe_settle(b->scribe, err)))
        return false;
    struct group empty = b->settling;
    b->settling = b->coming;
    b->coming = empty;
    atomic_store(&b->ended, false);
    b->started = true;
    b->thread = thread_start("settle", settle_beside, b);
    return true;
}

/* --- adding --- */

static struct item *next_item(struct group *g)
{
    if (g->n == g->cap) {
        g->cap = g->cap ? g->cap * 2 : 64;
        g->item = base_realloc(g->item, g->cap * sizeof *g->item);
    }
    return &g->item[g->n++];
}

static bool added(struct blob_batch *b, int64_t size, struct err *err)
{
    struct group *g = &b->coming;
    g->bytes += size;
    if (g->n < GROUP_FILES && g->bytes < GROUP_BYTES)
        return true;
    bool busy = b->started && !atomic_load(&b->ended);
    if (busy && g->n < MAX_GROUP_FILES && g->bytes < MAX_GROUP_BYTES)
        return true;
    return begin_settling(b, err);
}

bool blob_batch_add(struct blob_batch *b, struct blob_writer *w, struct digest *ret, int64_t *ret_size,
                    struct err *err)
{
    if (b->store->bucket) /* the bucket makes each durable by itself */
        return blob_writer_finish(w, ret, ret_size, err);
    struct item *x = next_item(&b->coming);
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
    struct item *x = next_item(&b->coming);
    uint8_t id[16];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, x->name);
    sha256_of(data, x->digest.b);
    x->size = (int64_t)data.n;
    *ret = x->digest;
    return scribe_write(b->scribe, x->name, data, err) && added(b, x->size, err);
}

bool blob_batch_flush(struct blob_batch *b, struct err *err)
{
    if (!settled(b, err) || (b->scribe && !scribe_settle(b->scribe, err)) || !settle(b, &b->coming, err))
        return false;
    if (b->placed && !sync_all(b->store, err))
        return false;
    b->placed = false;
    return true;
}

static void drop(struct store *s, struct group *g)
{
    for (size_t i = 0; i < g->n; i++)
        unlinkat(s->tmp_fd, g->item[i].name, 0);
    free(g->item);
}

void blob_batch_free(struct blob_batch *b)
{
    if (!b)
        return;
    struct err ignored = {0};
    settled(b, &ignored);
    scribe_free(b->scribe);
    drop(b->store, &b->coming);
    drop(b->store, &b->settling);
    free(b);
}
