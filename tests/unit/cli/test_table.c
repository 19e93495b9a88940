#include "cli/table.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(table_width(STR("")), 0);
    assert_int_equal(table_width(STR("abc")), 3);
    assert_int_equal(table_width(STR("标签组")), 6);
    assert_int_equal(table_width(STR("e\u0301")), 1);
    assert_int_equal(table_width(STR("한글")), 4);
    assert_int_equal(table_width(STR("ｆ")), 2);
    assert_int_equal(table_width(STR("é")), 1);
    assert_int_equal(table_width(STR("\U0001f600")), 2);
}

static char *printed(struct table *t, bool header)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    table_print(t, out, header, false);
    fclose(out);
    return text;
}

static void columns_are_aligned(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    const char *titles[] = {"id", "name", "x"};
    struct table t;
    table_begin(&t, &a, titles, 3, 0);
    const char *cells[] = {"1", "标签组", "a", "22", "roads", "b"};
    for (size_t i = 0; i < countof(cells); i++)
        table_cell(&t, str_of(cells[i]));
    auto_free char *text = printed(&t, true);
    assert_string_equal(text, "id  name    x\n"
                              "1   标签组  a\n"
                              "22  roads   b\n");
}

static void cells_are_harmless_and_cut(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    const char *titles[] = {"n"};
    struct table t;
    table_begin(&t, &a, titles, 1, 6);
    table_cell(&t, STR("a\033[31mb"));
    table_cell(&t, STR("x\ny"));
    table_cell(&t, STR("标签组标签组"));
    table_cell(&t, STR("\xff"));
    table_cell(&t, STR("a\u202eb"));
    auto_free char *text = printed(&t, false);
    assert_string_equal(text, "a?[31…\nx y\n标签…\n(no U…\na?b\n");
}

static void values_are_readable(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct err err;
    static const struct field bytes = {.name = "memory", .type = FIELD_INT, .unit = "bytes"};
    static const struct field when = {.name = "at", .type = FIELD_TIME};
    static const struct {
        const char *json;
        const struct field *field;
        const char *text;
    } cases[] = {
        {"null", NULL, "-"},
        {"true", NULL, "yes"},
        {"{\"id\":7,\"name\":\"bob\"}", NULL, "bob"},
        {"[\"a\",\"b\"]", NULL, "a, b"},
        {"[]", NULL, "-"},
        {"{\"cpu\":8}", NULL, "{\"cpu\":8}"},
        {"17179869184", &bytes, "16 GiB"},
        {"1536", &bytes, "1.5 KiB"},
        {"1536", NULL, "1536"},
        {"\"2026-11-16T09:51:30.123456Z\"", &when, "2026-11-16 09:51:30"},
        {"\"2026-11-16T09:51:30.123456Z\"", NULL, "2026-11-16T09:51:30.123456Z"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        yyjson_val *v = json_parse(&a, str_of(cases[i].json), &err);
        assert_non_null(v);
        assert_string_equal(arena_strz(&a, table_value(&a, v, cases[i].field)), cases[i].text);
    }
}

static void lists_have_a_column_for_each_member(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct err err = {0};
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"[]", ""},
        {"[{\"at\":\"2026-11-16T09:51:30.123456Z\",\"reason\":\"it "
         "ended\",\"reason_zh\":\"已结束\",\"job\":7},"
         "{\"at\":\"2026-11-16T09:51:29.000000Z\",\"reason\":null,\"reason_zh\":null,\"job\":12}]",
         "at                   reason    job\n"
         "2026-11-16 09:51:30  it ended  7\n"
         "2026-11-16 09:51:29  -         12\n"},
        {"[{\"name_zh\":\"甲\"}]", "name_zh\n甲\n"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        char *text = NULL;
        size_t n;
        FILE *out = open_memstream(&text, &n);
        yyjson_val *items = json_parse(&a, str_of(cases[i].json), &err);
        assert_non_null(items);
        table_items(&a, out, items, false);
        fclose(out);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_counts_columns),
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(cells_are_harmless_and_cut),
        cmocka_unit_test(values_are_readable),
        cmocka_unit_test(lists_have_a_column_for_each_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
