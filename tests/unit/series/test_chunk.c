/* Chunks of points: nothing is lost, few bits are taken, broken bytes are told. */
#include "series/chunk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)

static bool same_real(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

/* The bytes that the points take. */
static size_t round_trip(const struct series_point *p, size_t n)
{
    auto_arena struct arena a;
    auto_buf struct buf out = {0};
    struct series_point *again;
    struct series_head h;
    struct err err = {0};
    size_t got;
    arena_init(&a);
    series_encode(p, n, &out);
    assert_true(series_head(buf_view(&out), &h, &err));
    assert_int_equal(h.n, n);
    assert_int_equal(h.size, out.n);
    assert_true(series_decode_all(&a, buf_view(&out), &again, &got, &err));
    assert_int_equal(got, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(again[i].at, p[i].at);
        assert_memory_equal(&again[i].value, &p[i].value, sizeof p[i].value);
        assert_true(same_real(again[i].step, p[i].step));
    }
    return out.n;
}

static void test_steady_points_take_two_bits(unused_ok void **state)
{
    struct series_point p[1000];
    for (int i = 0; i < 1000; i++)
        p[i] = (struct series_point){i * SECOND, NAN, 7.5};
    assert_true(round_trip(p, 1000) < 330);
    for (int i = 0; i < 1000; i++)
        p[i].step = i * 10; /* and a third one for a step that goes on */
    assert_true(round_trip(p, 1000) < 460);
    for (int i = 0; i < 1000; i++)
        p[i] = (struct series_point){i * SECOND + (i * 7919) % 3000, NAN, (i * 31) % 100};
    assert_true(round_trip(p, 1000) < 5000);
}

static void test_anything_comes_back(unused_ok void **state)
{
    static const struct series_point odd[] = {
        {0, NAN, 0.0},
        {INT64_MAX, 1, -0.0},
        {INT64_MIN, -0.0, INFINITY},
        {-1, 0.53, -INFINITY},
        {-1, 1e300, NAN},
        {5, 9007199254740993.0, 5e-324},
        {5, -9007199254740991.0, 1.7976931348623157e308},
        {4, INFINITY, -1e-300},
    };
    round_trip(odd, countof(odd));
    for (size_t i = 0; i < countof(odd); i++)
        round_trip(&odd[i], 1);
    static const struct series_point whole[] = {
        {3, -9007199254740991.0, 1}, {2, 9007199254740991.0, 2}, {9, 0, 3}};
    round_trip(whole, countof(whole));
    /* A walk that uses every width. */
    struct series_point p[4096];
    uint64_t seed = 1, at = 0;
    for (size_t i = 0; i < countof(p); i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        at += seed >> (i % 64);
        double value;
        uint64_t bits = seed ^ (seed << (i % 50));
        memcpy(&value, &bits, sizeof value);
        p[i] = (struct series_point){(int64_t)at, i % 3 ? (double)(seed >> 40) : NAN, value};
    }
    round_trip(p, countof(p));
}

static void test_the_head_sums_up(unused_ok void **state)
{
    static const struct series_point p[] = {{20, 1, 3}, {10, 2, NAN}, {30, 3, -1.5}}, none = {4, NAN, NAN};
    auto_buf struct buf out = {0}, other = {0};
    struct series_head h;
    struct err err = {0};
    series_encode(p, 3, &out);
    assert_true(series_head(buf_view(&out), &h, &err));
    assert_int_equal(h.first, 10);
    assert_int_equal(h.last, 30);
    assert_true(h.low == -1.5 && h.high == 3 && h.sum == 1.5);
    series_encode(&none, 1, &other);
    assert_true(series_head(buf_view(&other), &h, &err));
    assert_true(isnan(h.low) && isnan(h.high) && isnan(h.sum));
}

static void test_chunks_are_merged(unused_ok void **state)
{
    auto_arena struct arena a;
    auto_buf struct buf parts = {0}, whole = {0}, at_once = {0}, many = {0};
    struct series_point p[300];
    struct err err = {0};
    arena_init(&a);
    for (int i = 0; i < 300; i++)
        p[i] = (struct series_point){i * SECOND, i, i % 7};
    for (int i = 0; i < 300; i += 100)
        series_encode(p + i, 100, &parts);
    series_encode(p, 300, &at_once);
    assert_true(series_merge(&a, buf_view(&parts), &whole, &err));
    assert_int_equal(whole.n, at_once.n);
    assert_memory_equal(whole.p, at_once.p, whole.n);
    for (int i = 0; i < SERIES_CHUNK_POINTS / 300 + 1; i++)
        buf_str(&many, buf_view(&at_once));
    assert_false(series_merge(&a, buf_view(&many), &whole, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
}

static void test_broken_bytes(unused_ok void **state)
{
    auto_arena struct arena a;
    auto_buf struct buf out = {0};
    struct series_point p[50], *again;
    size_t n;
    arena_init(&a);
    for (int i = 0; i < 50; i++)
        p[i] = (struct series_point){i * SECOND, NAN, i * 0.1};
    series_encode(p, 50, &out);
    for (size_t cut = 1; cut < out.n; cut++) {
        struct err err = {0};
        assert_false(series_decode_all(&a, (struct str){out.p, cut}, &again, &n, &err));
        assert_int_equal(err.code, ERR_MALFORMED);
    }
    static const unsigned char lies[][48] = {
        {0x10, 0, 0}, {0x20, 1, 1}, {0x13, 1, 1}, {0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0x10, 5, 1}};
    for (size_t i = 0; i < countof(lies); i++) {
        struct err err = {0};
        struct series_head h;
        assert_false(series_head((struct str){(const char *)lies[i], sizeof lies[i]}, &h, &err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_points_take_two_bits),
        cmocka_unit_test(test_anything_comes_back),
        cmocka_unit_test(test_the_head_sums_up),
        cmocka_unit_test(test_chunks_are_merged),
        cmocka_unit_test(test_broken_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
