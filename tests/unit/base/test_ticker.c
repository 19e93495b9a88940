#include "base/ticker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

/* Runs are let through one by one. */
struct counter {
    struct ticker ticker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int begun, allowed;
    unsigned again_s;
    atomic_bool saw_the_end;
};

static unsigned count(void *owner)
{
    struct counter *c = owner;
    pthread_mutex_lock(&c->lock);
    c->begun++;
    pthread_cond_broadcast(&c->changed);
    while (c->begun > c->allowed)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return c->again_s;
}

static void counter_init(struct counter *c, int allowed, unsigned again_s)
{
    *c = (struct counter){.allowed = allowed, .again_s = again_s};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
}

static void await(struct counter *c, int begun)
{
    pthread_mutex_lock(&c->lock);
    while (c->begun < begun)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void allow(struct counter *c, int n)
{
    pthread_mutex_lock(&c->lock);
    c->allowed = n;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void runs_when_it_is_time(void **state)
{
    (void)state;
    static const struct ticker_work work = {.name = "count", .run = count, .gives_way = true};
    struct counter c;
    counter_init(&c, 1000000, 0);
    ticker_start(&c.ticker, &work, &c);
    await(&c, 3);
    ticker_stop(&c.ticker);
}

static void does_not_run_before(void **state)
{
    (void)state;
    static const struct ticker_work work = {.name = "count", .run = count, .first_s = 100000};
    struct counter c;
    counter_init(&c, 1000000, 0);
    ticker_start(&c.ticker, &work, &c);
    ticker_stop(&c.ticker);
    assert_int_equal(c.begun, 0);
}

static void a_wake_during_a_run_is_one_more(void **state)
{
    (void)state;
    static const struct ticker_work work = {.name = "count", .run = count, .first_s = 100000};
    struct counter c;
    counter_init(&c, 0, 100000);
    ticker_start(&c.ticker, &work, &c);
    ticker_wake(&c.ticker);
    await(&c, 1);
    ticker_wake(&c.ticker);
    ticker_wake(&c.ticker);
    allow(&c, 1);
    await(&c, 2);
    /* In the second run now: it is told of the end, and no third begins though it is woken. */
    ticker_end(&c.ticker);
    ticker_wake(&c.ticker);
    assert_true(ticker_ending(&c.ticker));
    allow(&c, 1000000);
    ticker_stop(&c.ticker);
    assert_int_equal(c.begun, 2);
    ticker_wake(&c.ticker);
}

static unsigned rest_for_long(void *owner)
{
    struct counter *c = owner;
    count(c);
    ticker_rest(&c->ticker, UINT64_C(100000000000000));
    atomic_store(&c->saw_the_end, ticker_ending(&c->ticker));
    return 0;
}

static void a_rest_is_ended_by_the_end_alone(void **state)
{
    (void)state;
    static const struct ticker_work work = {.name = "rest", .run = rest_for_long};
    struct counter c;
    counter_init(&c, 1000000, 0);
    ticker_start(&c.ticker, &work, &c);
    await(&c, 1);
    for (int i = 0; i < 100; i++)
        ticker_wake(&c.ticker);
    ticker_stop(&c.ticker);
    assert_true(atomic_load(&c.saw_the_end));
    assert_int_equal(c.begun, 1);
}

static unsigned rest_shortly(void *owner)
{
    struct counter *c = owner;
    ticker_rest(&c->ticker, 1000);
    return count(c);
}

static void a_wake_during_a_rest_is_kept(void **state)
{
    (void)state;
    static const struct ticker_work work = {.name = "rest", .run = rest_shortly, .first_s = 100000};
    struct counter c;
    counter_init(&c, 1000000, 100000);
    ticker_start(&c.ticker, &work, &c);
    for (int i = 1; i <= 10; i++) {
        ticker_wake(&c.ticker);
        await(&c, i);
    }
    ticker_stop(&c.ticker);
}

static void waits_no_longer_than_asked(void **state)
{
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c;
    thread_cond_init(&c);
    pthread_mutex_lock(&lock);
    while (thread_wait(&c, &lock, thread_in(0)))
        ;
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_when_it_is_time),
        cmocka_unit_test(does_not_run_before),
        cmocka_unit_test(a_wake_during_a_run_is_one_more),
        cmocka_unit_test(a_rest_is_ended_by_the_end_alone),
        cmocka_unit_test(a_wake_during_a_rest_is_kept),
        cmocka_unit_test(waits_no_longer_than_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
