/* Which requests share a run, what each gets, and what happens when too many come. The graph is a function of
 * the test: it doubles numbers, and waits at a gate when it is told to. */
#include "base/thread.h"
#include "infer/batcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define MAX_RUNS 64

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed; /* runs wait */
    unsigned at_gate, runs, done;
    int64_t rows[MAX_RUNS]; /* of each run, in order */
    int64_t first[MAX_RUNS];
    bool one_row; /* answers one row whatever came */
    bool fails;
} graph = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool run(unused_ok void *ctx, const struct tensor *in, unused_ok size_t n_in, const char *const *names,
                struct tensor *ret, size_t n_names, struct arena *a, struct err *err)
{
    size_t n = in[0].data.n / sizeof(int64_t);
    int64_t *numbers = arena_copy(a, in[0].data.p, in[0].data.n);
    pthread_mutex_lock(&graph.lock);
    graph.rows[graph.runs % MAX_RUNS] = in[0].dims[0];
    graph.first[graph.runs % MAX_RUNS] = numbers[0];
    graph.runs++;
    graph.at_gate++;
    pthread_cond_broadcast(&graph.changed);
    while (graph.closed)
        pthread_cond_wait(&graph.changed, &graph.lock);
    graph.at_gate--;
    pthread_mutex_unlock(&graph.lock);
    if (graph.fails && in[0].dims[0] > 1)
        return err_set(err, ERR_INVALID, NULL, "refused");
    for (size_t i = 0; i < n; i++)
        numbers[i] *= 2;
    for (size_t i = 0; i < n_names; i++) {
        ret[i] = in[0];
        ret[i].name = names[i];
        ret[i].data = (struct str){(char *)numbers, in[0].data.n};
        if (graph.one_row && in[0].dims[0] > 1) {
            ret[i].dims[0] = 1;
            ret[i].data.n /= (size_t)in[0].dims[0];
        }
    }
    return true;
}

static void gate(bool closed)
{
    pthread_mutex_lock(&graph.lock);
    graph.closed = closed;
    pthread_cond_broadcast(&graph.changed);
    pthread_mutex_unlock(&graph.lock);
}

/* Until so many runs are at the gate, and so many requests are done. */
static void wait_for(const unsigned *count, unsigned n)
{
    pthread_mutex_lock(&graph.lock);
    while (*count < n)
        pthread_cond_wait(&graph.changed, &graph.lock);
    pthread_mutex_unlock(&graph.lock);
}

struct asked {
    struct batcher_job job;
    struct tensor in, out;
    struct arena arena;
    int64_t numbers[16];
};

static void done(unused_ok struct batcher_job *job)
{
    pthread_mutex_lock(&graph.lock);
    graph.done++;
    pthread_cond_broadcast(&graph.changed);
    pthread_mutex_unlock(&graph.lock);
}

static const char *const names[] = {"y"};

static struct asked *make(int64_t number, int64_t rows, int64_t side)
{
    struct asked *q = base_zalloc(sizeof *q);
    arena_init(&q->arena);
    for (int64_t i = 0; i < rows * side; i++)
        q->numbers[i] = number;
    q->in = (struct tensor){.name = "x", .type = TENSOR_INT64, .n_dims = 2, .dims = {rows, side}};
    q->in.data = (struct str){(char *)q->numbers, (size_t)(rows * side) * sizeof(int64_t)};
    q->job = (struct batcher_job){.inputs = &q->in,
                                  .n_inputs = 1,
                                  .names = names,
                                  .n_names = 1,
                                  .outputs = &q->out,
                                  .arena = &q->arena,
                                  .done = done};
    return q;
}

static void check(struct asked *q)
{
    int64_t n;
    assert_true(q->job.ok);
    assert_int_equal(q->out.data.n, q->in.data.n);
    assert_int_equal(q->out.dims[0], q->in.dims[0]);
    for (size_t i = 0; i < q->in.data.n / sizeof n; i++) {
        memcpy(&n, q->out.data.p + i * sizeof n, sizeof n);
        assert_int_equal(n, 2 * q->numbers[i]);
    }
}

static void drop(struct asked *q)
{
    arena_release(&q->arena);
    free(q);
}

static struct batcher *start(unsigned instances, unsigned rows, unsigned delay_us, unsigned queue,
                             unsigned ms)
{
    struct batcher_options o = {instances, rows, delay_us, queue, ms};
    graph.runs = graph.done = 0;
    graph.one_row = graph.fails = false;
    return batcher_new("test", &o, run, NULL);
}

static void submit(struct batcher *b, struct asked *q)
{
    struct err err = {0};
    assert_true(batcher_submit(b, &q->job, BATCHER_LOOP, &err));
}

static void test_waiting_requests_share_a_run(unused_ok void **state)
{
    struct batcher *b = start(1, 8, 0, 100, 0);
    struct asked *list[9];
    gate(true);
    for (int i = 0; i < 9; i++) {
        list[i] = make(i, i == 4 ? 2 : 1, i == 2 ? 3 : 1);
        submit(b, list[i]);
        if (i == 0)
            wait_for(&graph.at_gate, 1);
    }
    gate(false);
    wait_for(&graph.done, 9);
    batcher_free(b);
    /* The first alone; then 1 with all that are like it, up to 8 rows; then 2, of another shape. */
    assert_int_equal(graph.runs, 3);
    assert_int_equal(graph.rows[1], 8);
    assert_int_equal(graph.first[1], 1);
    assert_int_equal(graph.first[2], 2);
    for (int i = 0; i < 9; i++) {
        check(list[i]);
        drop(list[i]);
    }
}

static void test_the_most_rows_are_kept(unused_ok void **state)
{
    struct batcher *b = start(1, 3, 0, 100, 0);
    struct asked *list[7];
    gate(true);
    for (int i = 0; i < 7; i++) {
        list[i] = make(i, i == 6 ? 2 : 1, 1);
        submit(b, list[i]);
        if (i == 0)
            wait_for(&graph.at_gate, 1);
    }
    gate(false);
    wait_for(&graph.done, 7);
    batcher_free(b);
    for (unsigned i = 0; i < graph.runs; i++)
        assert_in_range(graph.rows[i], 1, 3);
    for (int i = 0; i < 7; i++) {
        check(list[i]);
        drop(list[i]);
    }
}

static void test_a_delay_brings_company(unused_ok void **state)
{
    struct batcher *b = start(1, 4, 60000000, 100, 0);
    struct asked *list[4];
    for (int i = 0; i < 4; i++)
        submit(b, list[i] = make(i, 1, 1));
    wait_for(&graph.done, 4); /* the fourth fills the run: nobody waits for the minute */
    assert_int_equal(graph.runs, 1);
    batcher_free(b);
    for (int i = 0; i < 4; i++) {
        check(list[i]);
        drop(list[i]);
    }
}

static void test_a_run_that_cannot_be_cut_is_done_again(unused_ok void **state)
{
    for (int way = 0; way < 2; way++) {
        struct batcher *b = start(1, 2, 60000000, 100, 0);
        struct asked *x = make(1, 1, 2), *y = make(5, 1, 2);
        graph.one_row = way == 0;
        graph.fails = way == 1;
        submit(b, x);
        submit(b, y);
        wait_for(&graph.done, 2);
        assert_int_equal(graph.runs, 3);
        assert_int_equal(metric_read(&batcher_figures(b)->split), 1);
        batcher_free(b);
        check(x);
        check(y);
        drop(x);
        drop(y);
    }
}

static void test_a_full_queue_refuses(unused_ok void **state)
{
    struct batcher *b = start(1, 1, 0, 2, 0);
    struct asked *list[4];
    struct err err = {0};
    gate(true);
    for (int i = 0; i < 4; i++)
        list[i] = make(i, 1, 1);
    submit(b, list[0]);
    wait_for(&graph.at_gate, 1);
    submit(b, list[1]);
    submit(b, list[2]);
    assert_int_equal(batcher_waiting(b), 2);
    assert_false(batcher_submit(b, &list[3]->job, BATCHER_LOOP, &err));
    assert_int_equal(err.code, ERR_TOO_MANY);
    gate(false);
    wait_for(&graph.done, 3);
    batcher_free(b);
    for (int i = 0; i < 4; i++)
        drop(list[i]);
}

static void test_waiting_too_long(unused_ok void **state)
{
    struct batcher *b = start(1, 1, 0, 10, 0);
    struct asked *x = make(1, 1, 1), *late = make(2, 1, 1), *patient = make(3, 1, 1);
    late->job.timeout_us = 1;
    gate(true);
    submit(b, x);
    wait_for(&graph.at_gate, 1);
    submit(b, patient);
    submit(b, late);
    wait_for(&graph.done, 1); /* while the only instance is busy */
    assert_int_equal(batcher_waiting(b), 1);
    assert_false(late->job.ok);
    gate(false);
    wait_for(&graph.done, 3);
    batcher_free(b);
    assert_int_equal(late->job.err.code, ERR_UNAVAILABLE);
    check(patient);
    drop(x);
    drop(late);
    drop(patient);
}

/* On the thread that brings it: no other thread ever has it. */
static void test_runs_at_once_where_nothing_waits(unused_ok void **state)
{
    struct batcher *b = start(2, 1, 0, 10, 0);
    struct err err = {0};
    struct asked *x = make(1, 1, 1), *y = make(2, 1, 1);
    submit(b, x); /* how long runs take is not known yet: by the instance's thread */
    wait_for(&graph.done, 1);
    assert_true(batcher_wait(b, &y->job, &err));
    check(y);
    batcher_free(b);
    drop(x);
    drop(y);
}

static void test_the_end_runs_what_waits(unused_ok void **state)
{
    struct batcher *b = start(2, 8, 60000000, 100, 0);
    struct asked *list[3];
    for (int i = 0; i < 3; i++)
        submit(b, list[i] = make(i, 1, 1));
    batcher_free(b);
    assert_int_equal(graph.done, 3);
    for (int i = 0; i < 3; i++) {
        check(list[i]);
        drop(list[i]);
    }
}

static void *hammer(void *arg)
{
    struct err err = {0};
    for (int i = 0; i < 200; i++) {
        struct asked *q = make(i, 1 + i % 3, 1 + i % 2);
        assert_true(batcher_wait(arg, &q->job, &err));
        check(q);
        drop(q);
    }
    return NULL;
}

static void test_many_threads(unused_ok void **state)
{
    pthread_t threads[6];
    struct batcher *b = start(2, 4, 50, 100, 0);
    for (size_t i = 0; i < countof(threads); i++)
        threads[i] = thread_start("hammer", hammer, b);
    for (size_t i = 0; i < countof(threads); i++)
        pthread_join(threads[i], NULL);
    batcher_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_requests_share_a_run),
        cmocka_unit_test(test_the_most_rows_are_kept),
        cmocka_unit_test(test_a_delay_brings_company),
        cmocka_unit_test(test_a_run_that_cannot_be_cut_is_done_again),
        cmocka_unit_test(test_a_full_queue_refuses),
        cmocka_unit_test(test_waiting_too_long),
        cmocka_unit_test(test_runs_at_once_where_nothing_waits),
        cmocka_unit_test(test_the_end_runs_what_waits),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
