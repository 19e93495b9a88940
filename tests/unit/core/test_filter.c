#include "core/filter.h"
#include "core/kinds.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct one {
    const char *filter;
    const char *sql; /* NULL: refused */
    size_t args;
};

static const struct one cases[] = {
    {"name = \"a\"", "\"name\"=?", 1},
    {"name != \"a\"", "(\"name\"<>? OR \"name\" IS NULL)", 1},
    {"name = null", "\"name\" IS NULL", 0},
    {"name != null", "\"name\" IS NOT NULL", 0},
    {"name ~ \"ab\"", "\"name\">=? AND \"name\"<?", 2},
    {"public=true and id in (1,2, 3)", "\"public\"=? AND \"id\" IN (?,?,?)", 4},
    {"id >= -1", "\"id\">=?", 1},
    {"created_at < \"2026-01-01T00:00:00Z\"", "\"created_at\"<?", 1},
    {"", NULL, 0},
    {"   ", NULL, 0},
    {"name", NULL, 0},
    {"name=\"a\"and", NULL, 0},
    {"name = \"a\" AND id = 1", NULL, 0},
    {"labels = null", NULL, 0},
    {"nothing = 1", NULL, 0},
    {"name = \"\\", NULL, 0},
    {"name = \"\xff\"", NULL, 0},
    {"id = 1e400", NULL, 0},
    {"id in (1,)", NULL, 0},
};

static void filters_become_sql(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(cases); i++) {
        auto_arena struct arena a;
        auto_sql struct sql s;
        struct err err = {0};
        arena_init(&a);
        sql_init(&s);
        sql_add(&s, "WHERE ");
        bool ok = filter_parse(&a, &kind_label_set, str_of(cases[i].filter), &s, &err);
        if (ok != (cases[i].sql != NULL))
            fail_msg("%s: %s", cases[i].filter, ok ? "was taken" : err.message);
        if (!ok) {
            assert_int_equal(err.code, ERR_INVALID);
            assert_string_equal(err.field, "filter");
            continue;
        }
        assert_string_equal(s.text.p + strlen("WHERE "), cases[i].sql);
        assert_int_equal(s.n, cases[i].args);
    }
}

struct range {
    const char *prefix, *end; /* end NULL: none */
};

static const struct range ranges[] = {
    {"a", "b"},
    {"az", "a{"},
    {"a\x7f", "a\xc2\x80"},
    {"a\xdf\xbf", "a\xe0\xa0\x80"},
    {"a\xed\x9f\xbf", "a\xee\x80\x80"}, /* no surrogates */
    {"a\xf4\x8f\xbf\xbf", "b"},         /* after the last character: the one before grows */
    {"\xf4\x8f\xbf\xbf", NULL},
    {"", NULL},
};

static void prefixes_are_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(ranges); i++) {
        auto_arena struct arena a;
        auto_sql struct sql s;
        arena_init(&a);
        sql_init(&s);
        sql_add(&s, "WHERE ");
        filter_prefix(&a, "name", str_of(ranges[i].prefix), FILTER_BOTH, &s);
        assert_int_equal(s.n, ranges[i].end ? 2 : 1);
        assert_true(str_is(s.args[0].s, ranges[i].prefix));
        if (ranges[i].end)
            assert_true(str_is(s.args[1].s, ranges[i].end));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_become_sql),
        cmocka_unit_test(prefixes_are_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
