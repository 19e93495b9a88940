/* Many blobs made durable together. What costs time with small files is not their bytes but waiting for the
 * disk, and giving each its name. So files are written by one thread (file_writer.h) and settled by another,
 * in groups, while the next ones come: their rows, one wait for the bytes of all, their names. New files are
 * not made in the folder that others are moved out of: the two would wait for each other. The names become
 * durable with the flush. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/thread.h"
#include "store/file_writer.h"
#include "store/store_own.h"

#include <errno.h>
#include <stdio.h>

#define SMALL (256 << 10) /* bytes of a blob that is kept in memory until its end */

/* A group is settled when it has so many files or bytes and the one before is done; the adding thread waits
 * for that when it has as many as it may. */
#define GROUP_FILES     2048
#define GROUP_BYTES     (INT64_C(32) << 20)
#define MAX_GROUP_FILES 32768
#define MAX_GROUP_BYTES (INT64_C(1) << 30)

struct item {
    struct digest digest;
    int64_t size;
    char name[BLOB_NAME_MAX]; /* in the folder of unfinished blobs */
    bool known;               /* it has its row */
};

struct group {
    struct item *item;
    size_t n, cap;
    int64_t bytes;
};

struct blob_batch {
    struct store *store;
    /* Of the thread that adds. */
    struct buf small; /* the pieces so far, while they are few */
    struct blob_writer *writer;
    bool begun; /* the threads are there */
    struct file_writer *files;
    char prefix[17]; /* of its files' names, and a number */
    uint64_t made;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct group coming;   /* held: its items stay where they are, others may be added behind them */
    struct group settling; /* the thread's own while it is busy */
    bool held, busy, flushing, ending, failed;
    unsigned side; /* the folder for new files: the other one has those that get their names */
    bool placed;   /* names were given that are not durable yet */
    struct err err;
};

struct blob_batch *blob_batch_new(struct store *s)
{
    struct blob_batch *b = base_zalloc(sizeof *b);
    b->store = s;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    return b;
}

/* --- rows --- */

struct rows {
    const struct group *group;
    int64_t now;
    size_t done, next; /* so many are committed; will be with the write that runs */
};

static bool write_rows(struct db_conn *c, void *ctx, struct err *err)
{
    struct rows *r = ctx;
    bool on = true;
    r->next = r->done;
    for (; on && r->next < r->group->n; r->next++, on = conn_goes_on(c)) {
        const struct item *x = &r->group->item[r->next];
        if (!x->known &&
            !conn_exec(c,
                       "INSERT INTO blobs (digest, size, touched_at) VALUES (?, ?, ?)"
                       " ON CONFLICT (digest) DO UPDATE SET touched_at = excluded.touched_at",
                       db_args(digest_arg(&x->digest), db_int(x->size), db_int(r->now)), NULL, err))
            return false;
    }
    return true;
}

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

/* In the order of digests, which is that of the rows on the disk, and of the folders. */
static bool make_known(struct blob_batch *b, struct group *g, struct err *err)
{
    _Static_assert(offsetof(struct item, digest) == 0, "by_digest compares items by their first member");
    bool all = true;
    for (size_t i = 0; all && i < g->n; i++)
        all = g->item[i].known;
    if (all)
        return true;
    qsort(g->item, g->n, sizeof *g->item, by_digest);
    for (struct rows r = {g, clock_now(), 0, 0}; r.done < g->n; r.done = r.next) {
        if (!db_write(b->store->db, write_rows, &r, err))
            return false;
        for (size_t i = r.done; i < r.next; i++)
            g->item[i].known = true;
    }
    return true;
}

/* --- settling a group --- */

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

/* The rows are there, as in blob_adopt. */
static bool place(struct blob_batch *b, struct group *g, struct err *err)
{
    struct store *s = b->store;
    if (any_new(s, g)) {
        b->placed = true;
        if (!sync_all(s, err))
            return false;
    }
    for (; g->n; g->n--) {
        struct item *x = &g->item[g->n - 1];
        pthread_mutex_t *lock = &s->lock[x->digest.b[0]];
        pthread_mutex_lock(lock);
        bool ok = blob_move(s, s->tmp_fd, x->name, &x->digest, err);
        pthread_mutex_unlock(lock);
        if (!ok)
            return false;
    }
    g->bytes = 0;
    return true;
}

static bool large(const struct group *g, size_t files, int64_t bytes)
{
    return g->n >= files || g->bytes >= bytes;
}

static void note_failure(struct blob_batch *b, bool ok, const struct err *err)
{
    if (ok)
        return;
    b->failed = true;
    b->err = *err;
}

/* With the lock held, which it lets go meanwhile. */
static void settle_next(struct blob_batch *b)
{
    struct err err = {0};
    struct group empty = b->settling;
    b->settling = b->coming;
    b->coming = empty;
    b->busy = b->held = true;
    b->side = (b->side + 1) % BLOB_SIDES;
    pthread_mutex_unlock(&b->lock);
    bool ok = file_writer_wait(b->files, &err) && make_known(b, &b->settling, &err);
    pthread_mutex_lock(&b->lock);
    b->held = false;
    note_failure(b, ok,
                 &err); /* with it: a thread that waits for the rows must learn that they are not there */
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    ok = ok && place(b, &b->settling, &err);
    pthread_mutex_lock(&b->lock);
    b->busy = false;
    note_failure(b, ok, &err);
    pthread_cond_broadcast(&b->changed);
}

static void *settle_all(void *arg)
{
    struct blob_batch *b = arg;
    db_background();
    pthread_mutex_lock(&b->lock);
    while (!b->ending) {
        bool enough = b->flushing ? b->coming.n > 0 : large(&b->coming, GROUP_FILES, GROUP_BYTES);
        if (enough && !b->held && !b->failed)
            settle_next(b);
        else
            pthread_cond_wait(&b->changed, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* --- adding --- */

static bool told(const struct blob_batch *b, struct err *err)
{
    if (b->failed)
        *err = b->err;
    return !b->failed;
}

static void begin(struct blob_batch *b)
{
    if (b->begun)
        return;
    uint8_t id[8];
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, b->prefix);
    b->begun = true;
    b->files = file_writer_new(b->store->tmp_fd);
    b->thread = thread_start("settle", settle_all, b);
}

static bool add_item(struct blob_batch *b, const struct item *x, struct err *err)
{
    struct group *g = &b->coming;
    pthread_mutex_lock(&b->lock);
    while (!b->failed && large(g, MAX_GROUP_FILES, MAX_GROUP_BYTES))
        pthread_cond_wait(&b->changed, &b->lock);
    if (g->n == g->cap) {
        g->cap = g->cap ? g->cap * 2 : 64;
        g->item = base_realloc(g->item, g->cap * sizeof *g->item);
    }
    g->item[g->n++] = *x;
    g->bytes += x->size;
    if (!b->busy && large(g, GROUP_FILES, GROUP_BYTES))
        pthread_cond_broadcast(&b->changed);
    bool ok = told(b, err);
    pthread_mutex_unlock(&b->lock);
    return ok;
}

bool blob_batch_piece(struct blob_batch *b, struct str piece, struct err *err)
{
    if (!b->writer) {
        size_t room = SMALL - b->small.n, n = piece.n < room ? piece.n : room;
        buf_add(&b->small, piece.p, n);
        if (n == piece.n)
            return true;
        b->writer = blob_writer_new(b->store, err);
        if (!b->writer || !blob_writer_add(b->writer, buf_view(&b->small), err))
            return false;
        piece = (struct str){piece.p + n, piece.n - n};
    }
    return blob_writer_add(b->writer, piece, err);
}

static void name_next(struct blob_batch *b, char ret[BLOB_NAME_MAX])
{
    pthread_mutex_lock(&b->lock);
    unsigned side = b->side;
    pthread_mutex_unlock(&b->lock);
    snprintf(ret, BLOB_NAME_MAX, "%u/%s%014llx", side, b->prefix, (unsigned long long)b->made++);
}

bool blob_batch_data(struct blob_batch *b, struct str data, struct digest *ret, struct err *err)
{
    if (b->store->bucket) /* it makes each durable by itself */
        return blob_put(b->store, data, ret, err);
    begin(b);
    struct item x = {.size = (int64_t)data.n};
    name_next(b, x.name);
    sha256_of(data, x.digest.b);
    *ret = x.digest;
    return file_writer_write(b->files, x.name, data, err) && add_item(b, &x, err);
}

bool blob_batch_end(struct blob_batch *b, struct digest *ret, int64_t *ret_size, struct err *err)
{
    struct blob_writer *w = b->writer;
    struct item x = {0};
    b->writer = NULL;
    bool ok;
    if (!w) {
        *ret_size = (int64_t)b->small.n;
        ok = blob_batch_data(b, buf_view(&b->small), ret, err);
    } else if (b->store->bucket) {
        ok = blob_writer_finish(w, ret, ret_size, err);
    } else {
        begin(b);
        blob_writer_end(w, &x.digest, &x.size, x.name);
        *ret = x.digest;
        *ret_size = x.size;
        ok = add_item(b, &x, err);
    }
    buf_clear(&b->small);
    return ok;
}

struct str blob_batch_head(const struct blob_batch *b)
{
    return buf_view(&b->small);
}

void blob_batch_drop(struct blob_batch *b)
{
    blob_writer_abort(b->writer);
    b->writer = NULL;
    buf_clear(&b->small);
}

bool blob_batch_known(struct blob_batch *b, struct err *err)
{
    pthread_mutex_lock(&b->lock);
    while (b->held)
        pthread_cond_wait(&b->changed, &b->lock);
    bool ok = told(b, err);
    b->held = true;
    pthread_mutex_unlock(&b->lock);
    ok = ok && make_known(b, &b->coming, err);
    pthread_mutex_lock(&b->lock);
    b->held = false;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return ok;
}

bool blob_batch_flush(struct blob_batch *b, struct err *err)
{
    pthread_mutex_lock(&b->lock);
    b->flushing = true;
    pthread_cond_broadcast(&b->changed);
    while (!b->failed && (b->coming.n || b->busy))
        pthread_cond_wait(&b->changed, &b->lock);
    b->flushing = false;
    bool ok = told(b, err);
    pthread_mutex_unlock(&b->lock);
    if (!ok || (b->placed && !sync_all(b->store, err)))
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
    pthread_mutex_lock(&b->lock);
    b->ending = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    if (b->begun)
        pthread_join(b->thread, NULL);
    file_writer_free(b->files);
    blob_batch_drop(b);
    buf_release(&b->small);
    drop(b->store, &b->coming);
    drop(b->store, &b->settling);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
