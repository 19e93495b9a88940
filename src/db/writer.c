#include "db/writer.h"

#include "base/clock.h"
#include "base/metric.h"
#include "base/thread.h"
#include "db/hold.h"
#include "db/tables.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

/* MARKED_BATCHES: how many batches are run with marks after one in which a request failed. BACKGROUND_MAX:
 * requests of background threads in a batch, so that it is short; one when people wait too. */
enum { BATCH_MAX = 256, RETRIES = 10, IDLE_SECONDS = 10, MARKED_BATCHES = 16, BACKGROUND_MAX = 4 };

/* In the order in which they are taken. */
enum priority { PEOPLE, BACKGROUND, PRIORITIES };

static _Thread_local bool in_background;

struct request {
    db_write_fn fn;
    db_then_fn then; /* NULL: its caller sleeps; else it is on the heap */
    void *ctx;
    struct request *next;
    struct err err;
    bool ok, background;
    atomic_uint done; /* 1 when the caller may go on; also the word it sleeps on */
};

struct writer {
    const struct driver *driver;
    char *url;
    struct hold *hold;    /* may be NULL */
    struct db_conn *conn; /* NULL: lost, to be opened again */
    void (*idle)(void *ctx);
    void *idle_ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    struct queue {
        struct request *head, **tail;
    } queue[PRIORITIES];
    size_t queued;                      /* in all of them */
    atomic_size_t people;               /* of these, people's */
    atomic_uint_least64_t people_since; /* the first of them waits, monotonic */
    unsigned marked;                    /* so many batches are still run with marks */
    bool sleeping, ending;
    atomic_uint_least64_t commits;
    atomic_uint_least64_t written[DB_TABLES_MAX]; /* by which commit last */
    struct db_writing did;
};

/* What became of a try to run a batch. */
enum outcome {
    OUTCOME_DONE,  /* every request has its answer */
    OUTCOME_AGAIN, /* nothing was changed; one failed without a mark before it to go back to */
    OUTCOME_ALONE, /* nothing was changed; run them one at a time, to find the one that fails */
    OUTCOME_LOST,  /* nothing was changed, the connection is gone */
};

static void fail_all(struct request **batch, size_t n, const struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!batch[i]->ok && batch[i]->err.code != ERR_NONE)
            continue; /* its own error says more */
        batch[i]->ok = false;
        batch[i]->err = *err;
    }
}

static void note_held(struct writer *w, uint64_t begun)
{
    if (!atomic_load(&w->people))
        return;
    uint64_t since = atomic_load(&w->people_since);
    metric_took(&w->did.held, (clock_mono() - (since > begun ? since : begun)) / 1000);
}

/* i: its place in a batch of n, in which people's come first. Background ones share one allowance of time. */
static void run_one(struct writer *w, struct request **batch, size_t i, size_t n)
{
    struct db_conn *c = w->conn;
    struct request *r = batch[i];
    uint64_t begun = clock_mono();
    if (!r->background || i == 0 || !batch[i - 1]->background)
        c->begun = begun;
    c->shared = n > 1 && !batch[r->background ? 0 : 1]->background;
    r->err = (struct err){0};
    c->spoiled = c->retry = false;
    c->writes = true;
    r->ok = r->fn(c, r->ctx, &r->err);
    c->writes = false;
    note_held(w, begun);
    if (c->spoiled && (r->ok || r->err.code == ERR_NONE)) {
        r->ok = false;
        r->err = c->spoiled_by;
    }
    c->spoiled = false;
    if (!r->ok && r->err.code == ERR_NONE)
        err_set(&r->err, ERR_INTERNAL, NULL, "a write failed without saying why");
}

/* How a request can be undone without the others of its batch. */
enum undo {
    UNDO_ALL,  /* it is alone: with the transaction */
    UNDO_MARK, /* a mark is set before each */
    UNDO_NONE, /* not at all: the batch is run again with marks. Most batches need none, and marks cost */
};

/* Runs one request of a batch inside the transaction; undoes it when it fails. */
static enum outcome run_undoable(struct writer *w, struct request **batch, size_t i, size_t n, enum undo undo)
{
    struct db_conn *c = w->conn;
    struct request *r = batch[i];
    struct err err = {0};
    if (undo == UNDO_MARK && !w->driver->mark(c, &err))
        return w->driver->state(c) == CONN_LOST ? OUTCOME_LOST : OUTCOME_ALONE;
    run_one(w, batch, i, n);
    enum conn_state state = w->driver->state(c);
    if (state == CONN_LOST)
        return OUTCOME_LOST;
    if (r->ok && state == CONN_IN_TX)
        return OUTCOME_DONE;
    if (undo == UNDO_ALL)
        return r->ok ? OUTCOME_ALONE : OUTCOME_DONE;
    if (undo == UNDO_NONE)
        return OUTCOME_AGAIN;
    /* A full disk ends the whole transaction of SQLite, a serialization failure that of PostgreSQL. */
    if (state != CONN_IN_TX || c->retry || !w->driver->undo(c, &err))
        return OUTCOME_ALONE;
    return OUTCOME_DONE;
}

/* The tables first: a reader that begins in between takes what it reads for older than it is. */
static void count_commit(struct writer *w)
{
    uint64_t number = atomic_load(&w->commits) + 1;
    for (unsigned n = 0; tables_next(&w->conn->wrote, &n); n++)
        atomic_store(&w->written[n], number);
    atomic_store(&w->commits, number);
}

static enum outcome commit(struct writer *w, struct request **batch, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= batch[i]->ok;
    if (!any) {
        w->driver->rollback(w->conn);
        return OUTCOME_DONE;
    }
    struct err err = {0};
    w->conn->retry = false;
    bool done = w->driver->commit(w->conn, &err);
    /* Also after a failure: it is not always known whether it happened. */
    count_commit(w);
    if (done)
        return OUTCOME_DONE;
    bool lost = w->driver->state(w->conn) == CONN_LOST;
    bool retry = w->conn->retry;
    w->driver->rollback(w->conn);
    if (n > 1 && !lost && (retry || err.code != ERR_UNAVAILABLE))
        return OUTCOME_ALONE;
    if (lost)
        err_set(&err, ERR_UNAVAILABLE, NULL,
                "the database was lost during the commit: look whether it is done");
    fail_all(batch, n, &err);
    w->conn->retry = retry;
    return OUTCOME_DONE;
}

#ifdef __SANITIZE_ADDRESS__
/* For tests, with $INGOT_REHEARSE: every batch is run and rolled back once before it counts, as happens now
 * and then when another request of it fails. Shows functions that cannot be run again. */
static bool rehearse(struct writer *w, struct request **batch, size_t n, struct err *err)
{
    bool ok = true;
    if (!getenv("INGOT_REHEARSE"))
        return true;
    for (size_t i = 0; ok && i < n; i++) {
        run_one(w, batch, i, n);
        ok = batch[i]->ok && w->driver->state(w->conn) == CONN_IN_TX;
    }
    w->driver->rollback(w->conn);
    for (size_t i = 0; i < n; i++) {
        batch[i]->ok = false;
        batch[i]->err = (struct err){0};
    }
    w->conn->retry = false;
    return w->driver->state(w->conn) != CONN_LOST && w->driver->begin(w->conn, true, err);
}
#else
static bool rehearse(struct writer *w, struct request **batch, size_t n, struct err *err)
{
    (void)w, (void)batch, (void)n, (void)err;
    return true;
}
#endif

static bool connect(struct writer *w, struct err *err)
{
    if (!w->driver->open(w->url, CONN_WRITER, &w->conn, err)) {
        w->conn = NULL;
        return false;
    }
    w->conn->generation = w->hold ? hold_generation(w->hold) : 0;
    w->conn->people = &w->people;
    return true;
}

static enum outcome try_batch(struct writer *w, struct request **batch, size_t n, enum undo undo)
{
    struct err err = {0};
    if ((w->hold && !hold_check(w->hold, &err)) || (!w->conn && !connect(w, &err))) {
        fail_all(batch, n, &err);
        return OUTCOME_DONE;
    }
    for (size_t i = 0; i < n; i++) {
        batch[i]->ok = false;
        batch[i]->err = (struct err){0};
    }
    w->conn->retry = false;
    w->conn->wrote = (struct db_tables){0};
    if (!w->driver->begin(w->conn, true, &err) || !rehearse(w, batch, n, &err)) {
        fail_all(batch, n, &err);
        return w->driver->state(w->conn) == CONN_LOST ? OUTCOME_LOST : OUTCOME_DONE;
    }
    for (size_t i = 0; i < n; i++) {
        enum outcome o = run_undoable(w, batch, i, n, undo);
        if (o != OUTCOME_DONE) {
            w->driver->rollback(w->conn);
            return o;
        }
    }
    return commit(w, batch, n);
}

/* try_batch, once more when the connection had been lost (the server was restarted, say). */
static enum outcome try_connected(struct writer *w, struct request **batch, size_t n, enum undo undo)
{
    enum outcome o = OUTCOME_LOST;
    for (int i = 0; i < 2 && o == OUTCOME_LOST; i++) {
        o = try_batch(w, batch, n, undo);
        if (w->conn && w->driver->state(w->conn) == CONN_LOST) {
            w->driver->close(w->conn);
            w->conn = NULL;
        }
    }
    return o;
}

static void answer_unavailable(struct request *r)
{
    r->ok = false;
    err_set(&r->err, ERR_UNAVAILABLE, NULL, "the database could not do it now; try again");
}

static enum outcome try_together(struct writer *w, struct request **batch, size_t n)
{
    enum outcome o = w->marked ? OUTCOME_AGAIN : try_connected(w, batch, n, UNDO_NONE);
    if (o != OUTCOME_AGAIN)
        return o;
    w->marked = w->marked ? w->marked - 1 : MARKED_BATCHES;
    return try_connected(w, batch, n, UNDO_MARK);
}

static void run_batch(struct writer *w, struct request **batch, size_t n)
{
    enum outcome o = n > 1 ? try_together(w, batch, n) : OUTCOME_ALONE;
    if (o == OUTCOME_LOST)
        for (size_t i = 0; i < n; i++)
            answer_unavailable(batch[i]);
    if (o != OUTCOME_ALONE)
        return;
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < RETRIES; k++) {
            o = try_connected(w, &batch[i], 1, UNDO_ALL);
            if (o == OUTCOME_DONE && (batch[i]->ok || !w->conn || !w->conn->retry))
                break;
        }
        if (o != OUTCOME_DONE)
            answer_unavailable(batch[i]);
    }
}

static void run_timed(struct writer *w, struct request **batch, size_t n)
{
    uint64_t begun = clock_mono();
    run_batch(w, batch, n);
    metric_took(&w->did.batches, (clock_mono() - begun) / 1000);
    metric_add(&w->did.writes, n);
}

static void tell(struct request *r)
{
    if (r->then) {
        r->then(r->ctx, r->ok, &r->err);
        free(r);
        return;
    }
    atomic_store_explicit(&r->done, 1, memory_order_release);
    /* r may be gone now; waking an address where no thread sleeps does nothing. */
    syscall(SYS_futex, &r->done, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

static void sleep_until_done(struct request *r)
{
    while (!atomic_load_explicit(&r->done, memory_order_acquire))
        syscall(SYS_futex, &r->done, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

/* Sleeps until a request comes, the end or IDLE_SECONDS later. With the lock held. */
static void wait_for_request(struct writer *w)
{
    uint64_t until = thread_in(IDLE_SECONDS);
    w->sleeping = true;
    while (!w->queued && !w->ending && thread_wait(&w->arrived, &w->lock, until))
        ;
    w->sleeping = false;
}

static size_t take_from(struct queue *q, struct request **batch, size_t max)
{
    size_t n = 0;
    for (; q->head && n < max; n++) {
        batch[n] = q->head;
        q->head = batch[n]->next;
    }
    if (!q->head)
        q->tail = &q->head;
    return n;
}

/* Moves up to BATCH_MAX requests out of the queues. With the lock held. */
static size_t take(struct writer *w, struct request **batch)
{
    size_t n = take_from(&w->queue[PEOPLE], batch, BATCH_MAX - 1);
    atomic_fetch_sub(&w->people, n);
    n += take_from(&w->queue[BACKGROUND], batch + n, n ? 1 : BACKGROUND_MAX);
    w->queued -= n;
    return n;
}

static void *loop(void *arg)
{
    struct writer *w = arg;
    struct request *batch[BATCH_MAX];
    pthread_mutex_lock(&w->lock);
    for (;;) {
        if (!w->queued)
            wait_for_request(w);
        if (!w->queued && w->ending)
            break;
        size_t n = take(w, batch);
        pthread_mutex_unlock(&w->lock);
        if (n)
            run_timed(w, batch, n);
        else
            w->idle(w->idle_ctx);
        for (size_t i = 0; i < n; i++)
            tell(batch[i]);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct writer *writer_new(const struct driver *driver, const char *url, struct hold *hold,
                          void (*idle)(void *ctx), void *ctx, struct err *err)
{
    struct writer *w = base_alloc(sizeof *w);
    *w = (struct writer){
        .driver = driver, .url = base_strdup(url), .hold = hold, .idle = idle, .idle_ctx = ctx};
    for (size_t i = 0; i < PRIORITIES; i++)
        w->queue[i].tail = &w->queue[i].head;
    if (!connect(w, err)) {
        free(w->url);
        free(w);
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    thread_cond_init(&w->arrived);
    w->thread = thread_start("db-writer", loop, w);
    return w;
}

void writer_free(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_signal(&w->arrived);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    if (w->conn)
        w->driver->close(w->conn);
    pthread_cond_destroy(&w->arrived);
    pthread_mutex_destroy(&w->lock);
    free(w->url);
    free(w);
}

static void push(struct writer *w, struct request *r)
{
    r->background = in_background;
    struct queue *q = &w->queue[in_background ? BACKGROUND : PEOPLE];
    pthread_mutex_lock(&w->lock);
    if (!in_background && atomic_fetch_add(&w->people, 1) == 0)
        atomic_store(&w->people_since, clock_mono());
    *q->tail = r;
    q->tail = &r->next;
    w->queued++;
    bool signal = w->sleeping;
    pthread_mutex_unlock(&w->lock);
    if (signal)
        pthread_cond_signal(&w->arrived);
}

bool writer_run(struct writer *w, db_write_fn fn, void *ctx, struct err *err)
{
    if (pthread_equal(pthread_self(), w->thread))
        return err_set(err, ERR_INTERNAL, NULL, "a write was started inside a write");
    struct request r = {.fn = fn, .ctx = ctx};
    push(w, &r);
    sleep_until_done(&r);
    if (!r.ok && err)
        *err = r.err;
    return r.ok;
}

void writer_then(struct writer *w, db_write_fn fn, db_then_fn then, void *ctx)
{
    struct request *r = base_zalloc(sizeof *r);
    r->fn = fn;
    r->then = then;
    r->ctx = ctx;
    push(w, r);
}

void writer_background(void)
{
    in_background = true;
}

size_t writer_queued(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    size_t n = w->queued;
    pthread_mutex_unlock(&w->lock);
    return n;
}

uint64_t writer_commits(const struct writer *w)
{
    return atomic_load(&w->commits);
}

bool writer_unchanged(const struct writer *w, uint64_t n, const struct db_tables *tables)
{
    if (atomic_load(&w->commits) == n)
        return true;
    if (tables_has(tables, TABLES_ALL) || atomic_load(&w->written[TABLES_ALL]) > n)
        return false;
    for (unsigned i = 0; tables_next(tables, &i); i++)
        if (atomic_load(&w->written[i]) > n)
            return false;
    return true;
}

const struct db_writing *writer_did(const struct writer *w)
{
    return &w->did;
}
