#include "core/validate.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct choice colours[] = {{"red", {"Red", "红"}}, {"blue", {"Blue", "蓝"}}, {0}};

static const struct field fields[] = {
    {.name = "name", .type = FIELD_TEXT, .rule = "name", .flags = FIELD_REQUIRED | FIELD_EDIT},
    {.name = "count", .type = FIELD_INT, .min = 1, .max = 10, .flags = FIELD_EDIT},
    {.name = "share", .type = FIELD_REAL, .max = 1, .flags = FIELD_EDIT},
    {.name = "on", .type = FIELD_BOOL, .fallback = "true", .flags = FIELD_EDIT},
    {.name = "at", .type = FIELD_TIME, .flags = FIELD_EDIT},
    {.name = "colour", .type = FIELD_CHOICE, .choices = colours, .fallback = "\"red\"", .flags = FIELD_EDIT},
    {.name = "owner", .type = FIELD_REF, .ref = "user", .flags = FIELD_EDIT},
    {.name = "team", .type = FIELD_REFS, .ref = "user", .max = 2, .flags = FIELD_EDIT},
    {.name = "tags", .type = FIELD_TEXTS, .max = 2, .item_max = 3, .flags = FIELD_EDIT},
    {.name = "extra", .type = FIELD_JSON, .max = 20, .flags = FIELD_EDIT},
    {.name = "fixed", .type = FIELD_TEXT, .flags = FIELD_CREATE},
    {.name = "state", .type = FIELD_TEXT},
    {0},
};
#define COUNT (countof(fields) - 1)

struct one {
    const char *body, *field; /* field NULL: taken */
};

static const struct one creates[] = {
    {"{\"name\":\"x\"}", NULL},
    {"{\"name\":\"x\",\"count\":1,\"share\":0.5,\"on\":false,\"at\":\"2026-11-16T09:51:30+08:00\"}", NULL},
    {"{\"name\":\"x\",\"colour\":\"blue\",\"owner\":{\"id\":7,\"name\":\"x\"},\"tags\":[\"a\",\"标签组\"]}",
     NULL},
    {"{\"name\":\"x\",\"extra\":[1,{\"a\":null}],\"fixed\":\"y\"}", NULL},
    {"{\"name\":\"x\",\"count\":null}", NULL},
    {"{\"name\":\"x\",\"team\":[7,{\"id\":9}]}", NULL},
    {"{\"name\":\"x\",\"team\":[7,7]}", "team"},
    {"{\"name\":\"x\",\"team\":[1,2,3]}", "team"},
    {"{\"name\":\"x\",\"team\":[\"x\"]}", "team"},
    {"{\"name\":\"x\",\"team\":7}", "team"},
    {"{}", "name"},
    {"{\"name\":null}", "name"},
    {"{\"name\":\"\"}", "name"},
    {"{\"name\":\"x\",\"count\":0}", "count"},
    {"{\"name\":\"x\",\"count\":11}", "count"},
    {"{\"name\":\"x\",\"count\":1.0}", "count"},
    {"{\"name\":\"x\",\"count\":\"1\"}", "count"},
    {"{\"name\":\"x\",\"share\":1.01}", "share"},
    {"{\"name\":\"x\",\"share\":-0.1}", "share"},
    {"{\"name\":\"x\",\"on\":0}", "on"},
    {"{\"name\":\"x\",\"at\":\"2026-13-01T00:00:00Z\"}", "at"},
    {"{\"name\":\"x\",\"at\":5}", "at"},
    {"{\"name\":\"x\",\"colour\":\"green\"}", "colour"},
    {"{\"name\":\"x\",\"colour\":7}", "colour"},
    {"{\"name\":\"x\",\"owner\":\"admin\"}", "owner"},
    {"{\"name\":\"x\",\"owner\":0}", "owner"},
    {"{\"name\":\"x\",\"owner\":{}}", "owner"},
    {"{\"name\":\"x\",\"tags\":[\"a\",\"b\",\"c\"]}", "tags"},
    {"{\"name\":\"x\",\"tags\":[\"abcd\"]}", "tags"},
    {"{\"name\":\"x\",\"tags\":[\"\"]}", "tags"},
    {"{\"name\":\"x\",\"tags\":[1]}", "tags"},
    {"{\"name\":\"x\",\"tags\":\"a\"}", "tags"},
    {"{\"name\":\"x\",\"extra\":\"0123456789012345678\"}", "extra"},
    {"{\"name\":\"x\",\"state\":\"y\"}", "state"},
    {"{\"name\":\"x\",\"id\":1}", "id"},
    {"{\"name\":\"x\",\"nothing\":1}", "nothing"},
};

static void creates_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(creates); i++) {
        auto_arena struct arena a;
        struct err err = {0};
        struct db_value values[COUNT];
        bool given[COUNT];
        arena_init(&a);
        yyjson_val *body = json_parse(&a, str_of(creates[i].body), &err);
        assert_non_null(body);
        bool ok = validate_body(&a, fields, body, VALIDATE_CREATE, NULL, values, given, &err);
        if (ok != !creates[i].field)
            fail_msg("%s: %s", creates[i].body, ok ? "was taken" : err.message);
        if (!ok) {
            assert_int_equal(err.code, ERR_INVALID);
            assert_string_equal(err.field, creates[i].field);
        }
    }
}

static void fallbacks_fill_what_is_absent(void **state)
{
    (void)state;
    auto_arena struct arena a;
    struct err err = {0};
    struct db_value values[COUNT];
    bool given[COUNT];
    arena_init(&a);
    yyjson_val *body = json_parse(&a, STR("{\"name\":\"x\"}"), &err);
    assert_true(validate_body(&a, fields, body, VALIDATE_CREATE, NULL, values, given, &err));
    assert_true(given[0] && !given[3]);
    assert_true(values[3].type == DB_INT && values[3].i == 1);
    assert_true(values[5].type == DB_TEXT && str_is(values[5].s, "red"));
    assert_int_equal(values[1].type, DB_NULL);
}

static void updates_leave_the_rest_alone(void **state)
{
    (void)state;
    auto_arena struct arena a;
    struct err err = {0};
    struct db_value values[COUNT];
    bool given[COUNT];
    arena_init(&a);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = db_int(77);
    yyjson_val *body = json_parse(&a, STR("{\"colour\":null,\"count\":null}"), &err);
    assert_true(validate_body(&a, fields, body, VALIDATE_UPDATE, NULL, values, given, &err));
    assert_true(values[0].i == 77 && !given[0]);
    assert_true(given[5] && str_is(values[5].s, "red"));
    assert_true(given[1] && values[1].type == DB_NULL);
    body = json_parse(&a, STR("{\"fixed\":\"y\"}"), &err);
    assert_false(validate_body(&a, fields, body, VALIDATE_UPDATE, NULL, values, given, &err));
    assert_string_equal(err.field, "fixed");
    body = json_parse(&a, STR("{\"name\":null}"), &err);
    assert_false(validate_body(&a, fields, body, VALIDATE_UPDATE, NULL, values, given, &err));
    assert_string_equal(err.field, "name");
}

static void bodies_that_are_no_objects(void **state)
{
    (void)state;
    auto_arena struct arena a;
    struct err err = {0};
    struct db_value values[COUNT];
    bool given[COUNT];
    arena_init(&a);
    yyjson_val *body = json_parse(&a, STR("[1]"), &err);
    assert_false(validate_body(&a, fields, body, VALIDATE_INPUT, NULL, values, given, &err));
    assert_int_equal(err.code, ERR_MALFORMED);
    assert_true(validate_body(&a, NULL, NULL, VALIDATE_INPUT, NULL, NULL, NULL, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creates_are_checked),
        cmocka_unit_test(fallbacks_fill_what_is_absent),
        cmocka_unit_test(updates_leave_the_rest_alone),
        cmocka_unit_test(bodies_that_are_no_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
