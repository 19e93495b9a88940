#include "base/str.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void compares(void **state)
{
    (void)state;
    assert_true(str_eq(STR_NULL, STR("")));
    assert_true(str_is(STR("ab"), "ab"));
    assert_false(str_is(STR("ab"), "abc"));
    assert_true(str_ieq(STR("Content-LENGTH"), STR("content-length")));
    assert_false(str_ieq(STR("a"), STR("b")));
    assert_true(str_starts(STR("prefix"), "pre"));
    assert_false(str_starts(STR("pr"), "pre"));
    assert_true(str_ends(STR("a.json"), ".json"));
    assert_true(str_ends(STR_NULL, ""));
    assert_null(str_of(NULL).p);
}

static void trims_and_cuts(void **state)
{
    (void)state;
    struct str rest;
    assert_true(str_is(str_trim(STR(" \t\r\na b\n ")), "a b"));
    assert_true(str_is(str_trim(STR("  ")), ""));
    assert_true(str_is(str_cut(STR("a=b=c"), '=', &rest), "a"));
    assert_true(str_is(rest, "b=c"));
    assert_true(str_is(str_cut(STR("a="), '=', &rest), "a"));
    assert_non_null(rest.p);
    assert_int_equal(rest.n, 0);
    assert_true(str_is(str_cut(STR("abc"), '=', &rest), "abc"));
    assert_null(rest.p);
    assert_int_equal(str_find(STR("hello"), STR("ll")), 2);
    assert_int_equal(str_find(STR("hello"), STR("lx")), -1);
    assert_int_equal(str_find(STR_NULL, STR("x")), -1);
    assert_int_equal(str_find(STR("x"), STR("")), 0);
}

static void reads_integers(void **state)
{
    (void)state;
    int64_t i = 7;
    uint64_t u = 7;
    assert_true(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(str_to_i64(STR("9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    i = u = 7;
    static const char *const bad[] = {
        "", "-", "+1", " 1", "1 ", "1x", "0x1", "1.0", "--1", "9223372036854775808", "-9223372036854775809"};
    for (size_t k = 0; k < countof(bad); k++)
        assert_false(str_to_i64(str_of(bad[k]), &i));
    assert_false(str_to_u64(STR("-1"), &u));
    assert_false(str_to_u64(STR("18446744073709551616"), &u));
    assert_int_equal(i, 7);
    assert_int_equal(u, 7);
}

static void reads_reals(void **state)
{
    (void)state;
    double r = 7;
    assert_true(str_to_real(STR("-1.5e3"), &r) && r == -1500);
    assert_true(str_to_real(STR("0"), &r) && r == 0);
    r = 7;
    static const char *const bad[] = {"",      ".",  "1.",    ".5", "nan", "inf",
                                      "0x1p3", "1e", "1e999", "1 ", "+1",  "1e+"};
    for (size_t k = 0; k < countof(bad); k++)
        assert_false(str_to_real(str_of(bad[k]), &r));
    assert_true(r == 7);
}

static void checks_utf8(void **state)
{
    (void)state;
    assert_true(utf8_valid(STR("a\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80\0b")));
    assert_int_equal(utf8_count(STR("a\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80")), 4);
    static const char *const bad[] = {
        "\x80",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xc3",         "\xe4\xbd",         "\xf0\x9f\x98",     "\xc3(",
        "\xff"};
    for (size_t k = 0; k < countof(bad); k++)
        assert_false(utf8_valid(str_of(bad[k])));
}

static void walks_utf8(void **state)
{
    (void)state;
    struct str s = STR("a\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x98\x80\xff");
    static const uint32_t want[] = {'a', 0xe9, 0x4f60, 0x1f600, 0xfffd};
    size_t i = 0;
    for (size_t k = 0; k < countof(want); k++)
        assert_int_equal(utf8_next(s, &i), want[k]);
    assert_int_equal(i, s.n);
    assert_int_equal(utf8_sequence(STR_NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),    cmocka_unit_test(trims_and_cuts), cmocka_unit_test(reads_integers),
        cmocka_unit_test(reads_reals), cmocka_unit_test(checks_utf8),    cmocka_unit_test(walks_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
