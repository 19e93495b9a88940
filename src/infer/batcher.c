#include "infer/batcher.h"

#include "base/clock.h"
#include "base/thread.h"
#include "infer/join.h"

#define SHORT_NS 500000 /* runs up to this long may hold up a loop thread */

struct batcher {
    struct batcher_options o;
    batcher_run_fn *run;
    void *ctx;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t more, idle;
    struct batcher_job *head, **tail;
    unsigned waiting, running;
    uint64_t usual_ns; /* how long runs take, a moving mean; 0: none yet */
    struct gain gain;
    bool waited; /* the first request, for company */
    bool ending;
    pthread_t *threads;
    struct batcher_figures figures;
    /* Of requests that may wait only so long; the thread is there from the first of them on. */
    pthread_t clock;
    bool has_clock;
    pthread_cond_t sooner; /* than `due`, until when it waits */
    uint64_t due;
};

static uint64_t deadline(const struct batcher *b, const struct batcher_job *job)
{
    uint64_t us = (uint64_t)b->o.timeout_ms * 1000;
    if (job->timeout_us && (!us || job->timeout_us < us))
        us = job->timeout_us;
    return us ? job->arrived + us * 1000 : UINT64_MAX;
}

/* --- running; without the lock --- */

static void finish(struct batcher_job *job, uint64_t began, uint64_t ended, size_t rows)
{
    job->queue_ns = began - job->arrived;
    job->run_ns = ended - began;
    job->run_rows = rows;
    job->done(job);
}

/* What a run took. rows 0: it says nothing of others, as it failed. */
struct took {
    uint64_t ns;
    size_t rows, row_bytes;
};

static struct took run_alone(struct batcher *b, struct batcher_job *job)
{
    uint64_t began = clock_mono();
    job->err = (struct err){0};
    job->ok = b->run(b->ctx, job->inputs, job->n_inputs, job->names, job->outputs, job->n_names, job->arena,
                     &job->err);
    uint64_t ended = clock_mono();
    size_t rows = join_rows(job);
    metric_add(&b->figures.runs, 1);
    metric_add(&b->figures.rows, rows);
    struct took took = {ended - began, job->ok ? rows : 0, join_row_bytes(job)};
    finish(job, began, ended, rows);
    return took;
}

static void run_each(struct batcher *b, struct batcher_job *first)
{
    for (struct batcher_job *job = first, *next; job; job = next) {
        next = job->next;
        run_alone(b, job);
    }
}

/* When the graph refuses the joined rows, or its answer has another number of them, each request is run by
 * itself: what it gets then is its own doing. */
static struct took run_joined(struct batcher *b, struct batcher_job *first)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    uint64_t began = clock_mono();
    size_t rows = 0, row_bytes = join_row_bytes(first);
    struct tensor *in = join_inputs(&a, first, &rows), *out = arena_array(&a, struct tensor, first->n_names);
    bool ok = b->run(b->ctx, in, first->n_inputs, first->names, out, first->n_names, &a, &err);
    uint64_t ended = clock_mono();
    if (!ok || !join_outputs(first, out, rows)) {
        metric_add(&b->figures.split, 1);
        run_each(b, first);
        return (struct took){clock_mono() - began, rows, row_bytes};
    }
    struct took took = {clock_mono() - began, rows, row_bytes};
    metric_add(&b->figures.runs, 1);
    metric_add(&b->figures.rows, rows);
    for (struct batcher_job *job = first, *next; job; job = next) {
        next = job->next;
        job->ok = true;
        finish(job, began, ended, rows);
    }
    return took;
}

/* With the lock. */
static void ran(struct batcher *b, struct took took)
{
    b->usual_ns = b->usual_ns ? (b->usual_ns * 7 + took.ns) / 8 : took.ns;
    if (took.rows && b->o.max_rows > 1)
        gain_add(&b->gain, took.row_bytes, took.rows, took.ns, clock_mono());
    b->running--;
    if (b->head)
        pthread_cond_signal(&b->more);
    if (!b->running && b->ending)
        pthread_cond_signal(&b->idle);
}

/* --- the queue; with the lock --- */

static struct batcher_job *take_after(struct batcher *b, struct batcher_job **link)
{
    struct batcher_job *job = *link;
    *link = job->next;
    if (b->tail == &job->next)
        b->tail = link;
    b->waiting--;
    job->next = NULL;
    return job;
}

/* Moves what waited too long out of the queue; the list of it. */
static struct batcher_job *take_expired(struct batcher *b, uint64_t now)
{
    struct batcher_job *list = NULL, **end = &list;
    for (struct batcher_job **link = &b->head; *link;) {
        if (deadline(b, *link) > now) {
            link = &(*link)->next;
            continue;
        }
        *end = take_after(b, link);
        end = &(*end)->next;
    }
    return list;
}

static size_t rows_together(struct batcher *b)
{
    size_t rows = join_rows(b->head);
    for (struct batcher_job *job = b->head->next; job && rows < b->o.max_rows; job = job->next)
        if (join_fits(b->head, job) && rows + join_rows(job) <= b->o.max_rows)
            rows += join_rows(job);
    return rows;
}

/* The first request and those that go with it, in their order, as many as sharing is good for. */
static struct batcher_job *take_batch(struct batcher *b)
{
    size_t there = rows_together(b), rows = join_rows(b->head), row_bytes = join_row_bytes(b->head);
    uint64_t now = clock_mono();
    size_t most = b->o.max_rows > 1 ? gain_rows(&b->gain, row_bytes, rows, there, now) : rows;
    if (b->waited)
        gain_waited(&b->gain, row_bytes, there, now);
    b->waited = false;
    struct batcher_job *first = take_after(b, &b->head), *last = first;
    for (struct batcher_job **link = &b->head; *link && rows < most;) {
        if (!join_fits(first, *link) || rows + join_rows(*link) > most) {
            link = &(*link)->next;
            continue;
        }
        rows += join_rows(*link);
        last->next = take_after(b, link);
        last = last->next;
    }
    if (rows < most)
        gain_missed(&b->gain, row_bytes, rows, most, now);
    return first;
}

static void tell_expired(struct batcher *b, struct batcher_job *list)
{
    for (struct batcher_job *job = list, *next; job; job = next) {
        next = job->next;
        uint64_t now = clock_mono();
        metric_add(&b->figures.expired, 1);
        job->ok = err_set(&job->err, ERR_UNAVAILABLE, NULL,
                          "the request waited %llu ms for the model, longer than it may",
                          (unsigned long long)((now - job->arrived) / 1000000));
        finish(job, now, now, 0);
    }
}

/* --- what waits too long --- */

static uint64_t next_deadline(const struct batcher *b)
{
    uint64_t next = UINT64_MAX;
    for (const struct batcher_job *job = b->head; job; job = job->next)
        next = deadline(b, job) < next ? deadline(b, job) : next;
    return next;
}

/* All instances may be busy when a request's time is up: a thread of its own answers it then. */
static void *clock_thread(void *arg)
{
    struct batcher *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->ending) {
        struct batcher_job *expired = take_expired(b, clock_mono());
        if (expired) {
            pthread_mutex_unlock(&b->lock);
            tell_expired(b, expired);
            pthread_mutex_lock(&b->lock);
            continue;
        }
        b->due = next_deadline(b);
        if (b->due == UINT64_MAX)
            pthread_cond_wait(&b->sooner, &b->lock);
        else
            thread_wait(&b->sooner, &b->lock, b->due);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* With the lock: a request was put into the queue. */
static void watch(struct batcher *b, const struct batcher_job *job)
{
    uint64_t until = deadline(b, job);
    if (until == UINT64_MAX)
        return;
    if (!b->has_clock) {
        b->has_clock = true;
        b->due = UINT64_MAX;
        b->clock = thread_start("deadlines", clock_thread, b);
    }
    if (until < b->due) {
        b->due = until;
        pthread_cond_signal(&b->sooner);
    }
}

/* --- instances --- */

/* Whether the job at the head, or one that comes when nothing waits, is to wait for company. */
static bool worth_waiting(struct batcher *b, const struct batcher_job *job, size_t have)
{
    return b->o.max_rows > 1 && b->o.delay_us && have < b->o.max_rows &&
           gain_wait(&b->gain, join_row_bytes(job), join_rows(job), have, b->o.max_rows, clock_mono()) > have;
}

/* Until when the first request waits for company; 0: it does not. */
static uint64_t company_until(struct batcher *b)
{
    if (b->ending || !worth_waiting(b, b->head, rows_together(b)))
        return 0;
    uint64_t until = b->head->arrived + (uint64_t)b->o.delay_us * 1000;
    b->waited = true;
    return clock_mono() < until ? until : 0;
}

/* Waits until there is a batch to run: something waits, an instance is free, and the first has either waited
 * for its delay or has company enough. false: the end. */
static bool ready(struct batcher *b)
{
    for (;;) {
        uint64_t until;
        if (!b->head && b->ending)
            return false;
        if (!b->head || b->running >= b->o.instances)
            pthread_cond_wait(&b->more, &b->lock);
        else if ((until = company_until(b)) != 0)
            thread_wait(&b->more, &b->lock, until);
        else
            return true;
    }
}

static void *instance(void *arg)
{
    struct batcher *b = arg;
    pthread_mutex_lock(&b->lock);
    while (ready(b)) {
        struct batcher_job *expired = take_expired(b, clock_mono());
        struct batcher_job *batch = b->head ? take_batch(b) : NULL;
        b->running += batch != NULL;
        if (b->head)
            pthread_cond_signal(&b->more);
        pthread_mutex_unlock(&b->lock);
        tell_expired(b, expired);
        struct took took = {0};
        if (batch)
            took = batch->next ? run_joined(b, batch) : run_alone(b, batch);
        pthread_mutex_lock(&b->lock);
        if (batch)
            ran(b, took);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

struct batcher *batcher_new(const char *name, const struct batcher_options *o, batcher_run_fn *run, void *ctx)
{
    struct batcher *b = base_zalloc(sizeof *b);
    b->o = *o;
    b->run = run;
    b->ctx = ctx;
    b->tail = &b->head;
    pthread_mutex_init(&b->lock, NULL);
    thread_cond_init(&b->more);
    thread_cond_init(&b->idle);
    thread_cond_init(&b->sooner);
    b->threads = base_alloc(sizeof(pthread_t) * o->instances);
    for (unsigned i = 0; i < o->instances; i++)
        b->threads[i] = thread_start(name, instance, b);
    return b;
}

void batcher_free(struct batcher *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->ending = true;
    pthread_cond_broadcast(&b->more);
    pthread_cond_signal(&b->sooner);
    pthread_mutex_unlock(&b->lock);
    if (b->has_clock)
        pthread_join(b->clock, NULL);
    for (unsigned i = 0; i < b->o.instances; i++)
        pthread_join(b->threads[i], NULL);
    /* A run on the thread that brought its request answers before it comes back here. */
    pthread_mutex_lock(&b->lock);
    while (b->running)
        pthread_cond_wait(&b->idle, &b->lock);
    pthread_mutex_unlock(&b->lock);
    pthread_cond_destroy(&b->idle);
    pthread_cond_destroy(&b->sooner);
    pthread_cond_destroy(&b->more);
    pthread_mutex_destroy(&b->lock);
    gain_release(&b->gain);
    free(b->threads);
    free(b);
}

/* --- from above --- */

/* With the lock: whether the calling thread may run it at once. */
static bool at_once(struct batcher *b, const struct batcher_job *job, enum batcher_where where)
{
    if (b->head || b->running >= b->o.instances || worth_waiting(b, job, join_rows(job)))
        return false;
    return where == BATCHER_WAITS || (b->usual_ns && b->usual_ns <= SHORT_NS);
}

bool batcher_submit(struct batcher *b, struct batcher_job *job, enum batcher_where where, struct err *err)
{
    job->next = NULL;
    job->arrived = clock_mono();
    pthread_mutex_lock(&b->lock);
    if (at_once(b, job, where)) {
        b->running++;
        pthread_mutex_unlock(&b->lock);
        struct took took = run_alone(b, job);
        pthread_mutex_lock(&b->lock);
        ran(b, took);
        pthread_mutex_unlock(&b->lock);
        return true;
    }
    if (b->waiting >= b->o.max_queue) {
        pthread_mutex_unlock(&b->lock);
        metric_add(&b->figures.refused, 1);
        return err_set(err, ERR_TOO_MANY, NULL, "%u requests wait for the model: try again", b->o.max_queue);
    }
    *b->tail = job;
    b->tail = &job->next;
    b->waiting++;
    watch(b, job);
    pthread_cond_signal(&b->more);
    pthread_mutex_unlock(&b->lock);
    return true;
}

struct waiter {
    struct batcher_job job;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool done;
};

static void wake(struct batcher_job *job)
{
    struct waiter *w = container_of(job, struct waiter, job);
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->over);
    pthread_mutex_unlock(&w->lock);
}

bool batcher_wait(struct batcher *b, struct batcher_job *job, struct err *err)
{
    struct waiter w = {.job = *job, .lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};
    w.job.done = wake;
    if (!batcher_submit(b, &w.job, BATCHER_WAITS, err))
        return false;
    pthread_mutex_lock(&w.lock);
    while (!w.done)
        pthread_cond_wait(&w.over, &w.lock);
    pthread_mutex_unlock(&w.lock);
    pthread_cond_destroy(&w.over);
    pthread_mutex_destroy(&w.lock);
    *job = w.job;
    if (!job->ok)
        *err = job->err;
    return job->ok;
}

unsigned batcher_waiting(struct batcher *b)
{
    pthread_mutex_lock(&b->lock);
    unsigned n = b->waiting;
    pthread_mutex_unlock(&b->lock);
    return n;
}

const struct batcher_figures *batcher_figures(const struct batcher *b)
{
    return &b->figures;
}

void batcher_gain(struct batcher *b, struct gain_figures *ret)
{
    pthread_mutex_lock(&b->lock);
    gain_figures(&b->gain, b->o.max_rows, ret);
    pthread_mutex_unlock(&b->lock);
}
