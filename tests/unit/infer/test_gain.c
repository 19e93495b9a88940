/* Which requests share a run, by given times: no clock, no threads. */
#include "infer/gain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS     1000000U
#define SECOND (1000 * (uint64_t)MS)
#define BYTES  1000 /* of a row */

static const struct gain none;
static struct gain gain;
static uint64_t now;

static int begin(unused_ok void **state)
{
    gain = none;
    now = SECOND;
    return 0;
}

static int end(unused_ok void **state)
{
    gain_release(&gain);
    return 0;
}

/* ns of a run by its rows: a part that is the same for each run, and one per row. */
struct machine {
    uint64_t run, row;
};

/* Does what is decided while `there` rows of one row each wait, for so long; how many runs were shared. */
static unsigned work(struct machine m, size_t there, uint64_t until, unsigned *ret_runs)
{
    unsigned shared = 0, runs = 0;
    for (; now < until; runs++) {
        size_t rows = gain_rows(&gain, BYTES, 1, there, now);
        assert_in_range(rows, 1, there);
        uint64_t ns = m.run + m.row * rows;
        now += ns;
        gain_add(&gain, BYTES, rows, ns, now);
        shared += rows > 1;
    }
    if (ret_runs)
        *ret_runs = runs;
    return shared;
}

static const struct machine gains = {20 * MS, 1 * MS}, gains_nothing = {0, 20 * MS};

static void test_unknown_is_tried_shared(unused_ok void **state)
{
    struct gain_figures f;
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 8);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 1, now), 1);
    assert_int_equal(gain_wait(&gain, BYTES, 1, 1, 8, now), 8);
    gain_figures(&gain, 8, &f);
    assert_int_equal(f.rows, 8);
}

static void test_shared_where_it_gains(unused_ok void **state)
{
    unsigned runs;
    struct gain_figures f;
    work(gains, 8, now + 5 * SECOND, NULL);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 8);
    assert_int_equal(gain_wait(&gain, BYTES, 1, 3, 8, now), 8);
    gain_figures(&gain, 8, &f);
    assert_int_equal(f.rows, 8);
    assert_true(f.ns[3] < f.ns[0]);
    /* Alone only to see what that costs now. */
    unsigned shared = work(gains, 8, now + 60 * SECOND, &runs);
    assert_true(runs - shared <= 12);
}

static void test_alone_where_it_gains_nothing(unused_ok void **state)
{
    unsigned runs;
    struct gain_figures f;
    work(gains_nothing, 8, now + 5 * SECOND, NULL);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 1);
    assert_int_equal(gain_wait(&gain, BYTES, 1, 1, 8, now), 1);
    gain_figures(&gain, 8, &f);
    assert_int_equal(f.rows, 1);
    /* Shared only to see what that costs now: less than one of a hundred. */
    unsigned shared = work(gains_nothing, 8, now + 60 * SECOND, &runs);
    assert_true(shared > 0 && shared * 100 <= runs);
}

/* Eight rows fall out of the processor's cache, two do not. */
static void test_the_best_size_is_taken(unused_ok void **state)
{
    static const uint64_t per_row[] = {20 * MS, 12 * MS, 16 * MS, 25 * MS};
    for (int i = 0; i < 20; i++)
        for (size_t s = 0; s < countof(per_row); s++)
            gain_add(&gain, BYTES, (size_t)1 << s, per_row[s] << s, now += SECOND / 2);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 2);
    assert_int_equal(gain_wait(&gain, BYTES, 1, 1, 8, now), 2);
    /* A request of four rows is alone with them: five to eight cost more. */
    assert_int_equal(gain_rows(&gain, BYTES, 4, 8, now), 4);
}

/* What was decided is decided again when the times change. */
static void test_a_change_is_seen(unused_ok void **state)
{
    work(gains, 8, now + 20 * SECOND, NULL);
    work(gains_nothing, 8, now + 120 * SECOND, NULL);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 1);
    work(gains, 8, now + 240 * SECOND, NULL);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 8);
}

/* A few runs that something else held up change nothing. */
static void test_a_disturbance_is_passed_over(unused_ok void **state)
{
    work(gains_nothing, 8, now + 10 * SECOND, NULL);
    for (int i = 0; i < 20; i++)
        gain_add(&gain, BYTES, 1, 60 * MS, now += 20 * MS);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 1);
}

/* A minute's texts of ten words say nothing of pictures. */
static void test_rows_of_another_width_are_apart(unused_ok void **state)
{
    work(gains_nothing, 8, now + 5 * SECOND, NULL);
    assert_int_equal(gain_rows(&gain, (size_t)BYTES * 100, 1, 8, now), 8);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 8, now), 1);
}

/* A size that never comes is no reason to wait for it again and again, nor to hold up the decision. */
static void test_what_never_comes(unused_ok void **state)
{
    work(gains_nothing, 2, now + 5 * SECOND, NULL);
    assert_int_equal(gain_wait(&gain, BYTES, 1, 2, 1024, now), 1024);
    gain_waited(&gain, BYTES, 2, now);
    assert_int_equal(gain_wait(&gain, BYTES, 1, 2, 1024, now), 2);
    assert_int_equal(gain_wait(&gain, BYTES, 1, 2, 1024, now + 2 * SECOND), 1024);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 1024, now), 1024);
    for (size_t most = 1024; most > 2; most /= 2)
        gain_missed(&gain, BYTES, 1, most, now);
    assert_int_equal(gain_rows(&gain, BYTES, 1, 1024, now), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_unknown_is_tried_shared),
        TEST(test_shared_where_it_gains),
        TEST(test_alone_where_it_gains_nothing),
        TEST(test_the_best_size_is_taken),
        TEST(test_a_change_is_seen),
        TEST(test_a_disturbance_is_passed_over),
        TEST(test_rows_of_another_width_are_apart),
        TEST(test_what_never_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
