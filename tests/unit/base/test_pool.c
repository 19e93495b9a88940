#include "base/pool.h"
#include "base/thread.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

static atomic_int count;

static void add_one(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void runs_all_before_it_ends(void **state)
{
    (void)state;
    atomic_store(&count, 0);
    struct pool *p = pool_new("work", 4, 1000);
    for (int i = 0; i < 1000; i++)
        assert_true(pool_submit(p, add_one, &count));
    pool_free(p);
    assert_int_equal(atomic_load(&count), 1000);
    pool_free(NULL);
    pool_free(pool_new("none", 4, 10));
}

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool open;
    int inside;
};

static void wait_at(void *arg)
{
    struct gate *g = arg;
    pthread_mutex_lock(&g->lock);
    g->inside++;
    pthread_cond_broadcast(&g->cond);
    while (!g->open)
        pthread_cond_wait(&g->cond, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void uses_all_threads_and_bounds_its_queue(void **state)
{
    (void)state;
    struct gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
    struct pool *p = pool_new("gate", 3, 2);
    for (int i = 0; i < 3; i++) {
        assert_true(pool_submit(p, wait_at, &g));
        pthread_mutex_lock(&g.lock);
        while (g.inside <= i)
            pthread_cond_wait(&g.cond, &g.lock);
        pthread_mutex_unlock(&g.lock);
    }
    assert_true(pool_submit(p, wait_at, &g));
    assert_true(pool_submit(p, wait_at, &g));
    assert_int_equal(pool_queued(p), 2);
    assert_false(pool_submit(p, wait_at, &g));
    pthread_mutex_lock(&g.lock);
    g.open = true;
    pthread_cond_broadcast(&g.cond);
    pthread_mutex_unlock(&g.lock);
    pool_free(p);
    assert_int_equal(g.inside, 5);
}

static void wait_inside(struct gate *g, int n)
{
    pthread_mutex_lock(&g->lock);
    while (g->inside < n)
        pthread_cond_wait(&g->cond, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static char order[8];

static void note(void *arg)
{
    strcat(order, arg);
}

static void what_goes_on_comes_first_and_is_not_refused(void **state)
{
    (void)state;
    struct gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
    struct pool *p = pool_new("resume", 1, 2);
    struct pool_task a = {.fn = note, .arg = "a"}, b = {.fn = note, .arg = "b"};
    order[0] = 0;
    assert_true(pool_submit(p, wait_at, &g));
    wait_inside(&g, 1);
    assert_true(pool_submit(p, note, "1"));
    assert_true(pool_submit(p, note, "2"));
    assert_false(pool_submit(p, note, "3"));
    pool_resume(p, &a);
    pool_resume(p, &b);
    pthread_mutex_lock(&g.lock);
    g.open = true;
    pthread_cond_broadcast(&g.cond);
    pthread_mutex_unlock(&g.lock);
    pool_free(p);
    assert_string_equal(order, "ab12");
}

/* Tasks that were queued in one go and all block need a thread each, which call each other; the first time
 * they are started, later they are woken. */
static void a_burst_gets_all_threads(void **state)
{
    (void)state;
    struct gate gates[50];
    struct pool *p = pool_new("burst", 8, 20);
    for (size_t k = 0; k < countof(gates); k++) {
        struct gate *g = &gates[k];
        *g = (struct gate){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
        for (int i = 0; i < 8; i++)
            assert_true(pool_submit(p, wait_at, g));
        wait_inside(g, 8);
        pthread_mutex_lock(&g->lock);
        g->open = true;
        pthread_cond_broadcast(&g->cond);
        pthread_mutex_unlock(&g->lock);
    }
    pool_free(p);
}

static void *look(void *arg)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    *(bool *)arg = sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGINT);
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return NULL;
}

static void threads_block_signals(void **state)
{
    (void)state;
    bool blocked = false;
    pthread_join(thread_start("a name that is too long", look, &blocked), NULL);
    assert_true(blocked);
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, NULL, &mine);
    assert_false(sigismember(&mine, SIGTERM));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_all_before_it_ends),
        cmocka_unit_test(uses_all_threads_and_bounds_its_queue),
        cmocka_unit_test(what_goes_on_comes_first_and_is_not_refused),
        cmocka_unit_test(a_burst_gets_all_threads),
        cmocka_unit_test(threads_block_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
