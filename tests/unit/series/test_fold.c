/* Fewer points of many: buckets of time, and the points that a line needs. */
#include "series/fold.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_buckets(unused_ok void **state)
{
    static const struct series_point early[] = {{-1, NAN, 9}, {0, NAN, 1}, {59, NAN, 3}, {60, NAN, NAN}},
                                     late[] = {{130, NAN, 5}, {61, NAN, 7}, {131, NAN, -5}};
    auto_arena struct arena a;
    struct series_bucket *b = NULL, *wide = NULL;
    size_t n = 0, n_wide = 0;
    arena_init(&a);
    series_fold(&a, early, countof(early), 60, &b, &n);
    series_fold(&a, late, countof(late), 60, &b, &n);
    assert_int_equal(n, 4);
    static const int64_t at[] = {-60, 0, 60, 120}, count[] = {1, 2, 1, 2};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(b[i].at, at[i]);
        assert_int_equal(b[i].n, count[i]);
    }
    assert_true(b[1].low == 1 && b[1].high == 3 && series_mean(&b[1]) == 2);
    assert_true(b[3].low == -5 && b[3].high == 5 && series_mean(&b[3]) == 0);
    series_fold_buckets(&a, b, n, 120, &wide, &n_wide);
    assert_int_equal(n_wide, 3);
    assert_int_equal(wide[1].at, 0);
    assert_int_equal(wide[1].n, 3);
    assert_true(wide[1].low == 1 && wide[1].high == 7 && wide[1].sum == 11);
}

static void test_many_buckets_grow(unused_ok void **state)
{
    auto_arena struct arena a;
    struct series_bucket *b = NULL;
    size_t n = 0;
    arena_init(&a);
    for (int64_t i = 0; i < 5000; i++)
        series_fold(&a, &(struct series_point){(i * 7) % 5000 * 10, NAN, (double)i}, 1, 10, &b, &n);
    assert_int_equal(n, 5000);
    for (size_t i = 0; i < n; i++)
        assert_true(b[i].at == (int64_t)i * 10 && b[i].n == 1);
}

static size_t thin(size_t total, size_t come, size_t most, struct series_point *room)
{
    struct series_thin t;
    series_thin_begin(&t, total, most, room);
    for (size_t i = 0; i < come; i++)
        series_thin_add(&t, &(struct series_point){(int64_t)i, (double)i, i == 777 ? 100 : (double)(i % 10)});
    series_thin_end(&t);
    return t.n;
}

static void test_peaks_stay(unused_ok void **state)
{
    struct series_point room[1000];
    for (size_t most = 4; most < 300; most += 13) {
        size_t n = thin(1000, 1000, most, room);
        assert_true(n <= most && n >= most / 2);
        assert_int_equal(room[0].at, 0);
        assert_int_equal(room[n - 1].at, 999);
        bool peak = false;
        for (size_t i = 0; i < n; i++) {
            peak = peak || room[i].value == 100;
            assert_true(i == 0 || room[i].at > room[i - 1].at);
        }
        assert_true(peak);
    }
    assert_int_equal(thin(1000, 1000, 1000, room), 1000);
    assert_int_equal(thin(7, 7, 1000, room), 7);
    assert_true(thin(1000, 10, 100, room) <= 10); /* fewer than was said */
    assert_true(thin(10, 1000, 100, room) == 10); /* and more */
    assert_int_equal(thin(0, 0, 4, room), 0);
}

static void test_means_beside_what_is_thinned(unused_ok void **state)
{
    struct series_point room[1000];
    struct series_stretch mean[500];
    for (size_t most = 4; most < 300; most += 13) {
        struct series_thin t;
        int64_t n = 0;
        double sum = 0;
        series_thin_begin(&t, 1000, most, room);
        t.mean = mean;
        for (size_t i = 0; i < 1000; i++)
            series_thin_add(&t, &(struct series_point){(int64_t)i, (double)i, i == 777 ? 100 : 1});
        series_thin_end(&t);
        assert_true(t.n_mean >= 1 && t.n_mean <= most / 2);
        for (size_t i = 0; i < t.n_mean; i++) {
            const struct series_bucket *b = &mean[i].of;
            bool peak = b->at <= 777 && (i + 1 == t.n_mean || mean[i + 1].of.at > 777);
            assert_true(b->at == n && mean[i].step == (double)n);
            assert_true(b->low <= 1 && b->high == (peak ? 100 : 1));
            n += b->n;
            sum += b->sum;
        }
        assert_true(n == 1000 && sum == 999 + 100); /* every point is part of one */
    }
    struct series_thin all;
    series_thin_begin(&all, 5, 5, room);
    all.mean = mean;
    for (int i = 0; i < 5; i++)
        series_thin_add(&all, &(struct series_point){i, i, i});
    series_thin_end(&all);
    assert_true(all.n == 5 && all.n_mean == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_many_buckets_grow),
        cmocka_unit_test(test_peaks_stay),
        cmocka_unit_test(test_means_beside_what_is_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
