/* Paths and queries: what decodes, and what is refused. */
#include "net/url.h"

#include <setjmp.h>
#include <stdarg.h>
/* after the three above */
#include <cmocka.h>

struct row {
    const char *raw, *want; /* NULL: refused */
};

static void check_rows(const struct row *rows, size_t n,
                       bool (*decode)(struct arena *, struct str, struct str *, struct err *))
{
    for (size_t i = 0; i < n; i++) {
        auto_arena struct arena a;
        arena_init(&a);
        struct str got;
        struct err err = {0};
        bool ok = decode(&a, str_of(rows[i].raw), &got, &err);
        if (ok != (rows[i].want != NULL) || (ok && !str_is(got, rows[i].want)))
            fail_msg("%s gave '" STR_FMT "' %s", rows[i].raw, ok ? (int)got.n : 0, ok ? got.p : "",
                     err.message);
        if (!ok)
            assert_int_equal(err.code, ERR_MALFORMED);
    }
}

static void test_segment(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", ""},
        {"abc", "abc"},
        {"a%20b", "a b"},
        {"a+b", "a+b"},
        {"%E4%b8%AD", "\xe4\xb8\xad"},
        {"a.b", "a.b"},
        {"...", "..."},
        {"%252e", "%2e"},
        {"a;b", "a;b"},
        {".", NULL},
        {"..", NULL},
        {"%2e%2E", NULL},
        {".%2e", NULL},
        {"a%2Fb", NULL},
        {"a%5cb", NULL},
        {"a%00b", NULL},
        {"%", NULL},
        {"%4", NULL},
        {"a%4", NULL},
        {"%zz", NULL},
        {"%ff", NULL},
        {"%c0%af", NULL},
        {"%ed%a0%80", NULL},
    };
    check_rows(rows, countof(rows), url_segment);
}

static void test_value(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"", ""},         {"a+b", "a b"}, {"a%2Bb", "a+b"}, {"a%2fb", "a/b"}, {"..", ".."},
        {"%41%42", "AB"}, {"100%", NULL}, {"%0g", NULL},    {"%00", NULL},    {"%80", NULL},
    };
    check_rows(rows, countof(rows), url_value);
}

static void test_encode(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    assert_string_equal(url_encode(&a, STR("az-AZ_09.~")), "az-AZ_09.~");
    assert_string_equal(url_encode(&a, STR("a b/\xe4\xb8\xad?&=+%")), "a%20b%2F%E4%B8%AD%3F%26%3D%2B%25");
    assert_string_equal(url_encode(&a, STR("\0x")), "%00x");
    assert_string_equal(url_encode(&a, STR_NULL), "");
}

static void test_query(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct url_param *list;
    size_t n;
    struct err err;
    assert_true(url_query(&a, STR("a=1&b=x%20y&&c&=v&a=2&d==e"), &list, &n, &err));
    static const char *const want[][2] = {{"a", "1"}, {"b", "x y"}, {"c", ""},
                                          {"", "v"},  {"a", "2"},   {"d", "=e"}};
    assert_int_equal(n, countof(want));
    for (size_t i = 0; i < n; i++) {
        assert_true(str_is(list[i].name, want[i][0]));
        assert_true(str_is(list[i].value, want[i][1]));
    }
    assert_true(url_query(&a, STR(""), &list, &n, &err));
    assert_int_equal(n, 0);
    assert_false(url_query(&a, STR("a=%"), &list, &n, &err));
    assert_false(url_query(&a, STR("%zz=a"), &list, &n, &err));
    char many[65 * 2 + 1];
    for (int i = 0; i < 65; i++)
        memcpy(many + 2 * i, "a&", 3);
    assert_false(url_query(&a, str_of(many), &list, &n, &err));
    assert_true(url_query(&a, (struct str){many, 64 * 2}, &list, &n, &err));
    assert_int_equal(n, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segment),
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
