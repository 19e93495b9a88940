#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void expect_bad(const char *text, const char *part)
{
    auto_arena struct arena a = {0};
    struct err err = {0};
    assert_null(json_parse(&a, str_of(text), &err));
    assert_int_equal(err.code, ERR_MALFORMED);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" does not say \"%s\"", err.message, part);
}

static void parses(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    yyjson_val *v = json_parse(&a, STR(" {\"a\": [1, -2.5, true, null, \"\\u00e9\"]} "), &err);
    assert_non_null(v);
    yyjson_val *list = yyjson_obj_get(v, "a");
    assert_int_equal(yyjson_arr_size(list), 5);
    assert_true(str_is(json_str(yyjson_arr_get(list, 4)), "\xc3\xa9"));
    assert_null(json_str(list).p);
    assert_null(json_str(NULL).p);
    assert_non_null(json_parse(&a, STR("7"), &err));
}

static void refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",           " ",  "{",           "[1,]",     "{\"a\":1,}",    "nan", "NaN",
        "[Infinity]", "01", "'a'",         "\"\x01\"", "\"\xff\"",      "1 2", "{} x",
        "[1e999]",    "\"", "\"\\ud800\"", "// c\n1",  "\xef\xbb\xbf[]"};
    for (size_t i = 0; i < countof(bad); i++)
        expect_bad(bad[i], "JSON");
    expect_bad("{\n \"a\": x}", "line 2, column 7");
    expect_bad("[\"\xc3\xa9\", x]", "line 1, column 7");
}

static struct str nested(struct buf *b, int depth)
{
    buf_clear(b);
    for (int i = 0; i < depth; i++)
        buf_z(b, i % 2 ? "{\"[[[\\\"\":" : "[");
    buf_z(b, "1");
    for (int i = depth; i-- > 0;)
        buf_char(b, i % 2 ? '}' : ']');
    return buf_view(b);
}

static void limits_depth(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    auto_buf struct buf b = {0};
    struct err err = {0};
    assert_non_null(json_parse(&a, nested(&b, 64), &err));
    assert_null(json_parse(&a, nested(&b, 65), &err));
    assert_non_null(strstr(err.message, "64"));
    assert_null(json_parse(&a, nested(&b, 1000000), &err));
}

static void refuses_duplicates(void **state)
{
    (void)state;
    expect_bad("{\"a\":1,\"b\":2,\"a\":3}", "\"a\"");
    expect_bad("[{\"x\":{\"\":1,\"\\u0000\":1,\"\":2}}]", "twice");
    expect_bad("{\"a\":1,\"\\u0061\":2}", "\"a\"");
    auto_buf struct buf b = {0};
    auto_arena struct arena a = {0};
    struct err err = {0};
    for (int extra = 0; extra < 2; extra++) {
        buf_clear(&b);
        buf_char(&b, '{');
        for (int i = 0; i < 100000; i++)
            buf_printf(&b, "\"k%d\":{\"a\":%d},", i, i);
        buf_z(&b, extra ? "\"k77\":0}" : "\"z\":0}");
        assert_int_equal(json_parse(&a, buf_view(&b), &err) == NULL, extra);
    }
    assert_non_null(strstr(err.message, "k77"));
}

static void writes(void **state)
{
    (void)state;
    auto_buf struct buf b = {0};
    struct json_out o;
    json_begin(&o, &b);
    json_object(&o);
    json_kz(&o, "a\"", "x\n\t\\\"\x01\x7f");
    json_kz(&o, "none", NULL);
    json_key(&o, "list");
    json_array(&o);
    json_int(&o, INT64_MIN);
    json_real(&o, 0.1);
    json_real(&o, 1e300);
    json_real(&o, NAN);
    json_bool(&o, true);
    json_object(&o);
    json_object_end(&o);
    json_array(&o);
    json_array_end(&o);
    json_raw(&o, STR("[1]"));
    json_string(&o, STR("\xff\xe4\xbd\xa0\xe4"));
    json_array_end(&o);
    json_kint(&o, "i", 7);
    json_kbool(&o, "b", false);
    json_kstr(&o, "s", STR(""));
    json_object_end(&o);
    assert_string_equal(b.p, "{\"a\\\"\":\"x\\n\\t\\\\\\\"\\u0001\\u007f\",\"none\":null,"
                             "\"list\":[-9223372036854775808,0.1,1e+300,null,true,{},[],[1],"
                             "\"\xef\xbf\xbd\xe4\xbd\xa0\xef\xbf\xbd\"],\"i\":7,\"b\":false,\"s\":\"\"}");
    auto_arena struct arena a = {0};
    struct err err;
    yyjson_val *v = json_parse(&a, buf_view(&b), &err);
    assert_non_null(v);
    auto_buf struct buf copy = {0};
    json_begin(&o, &copy);
    json_array(&o);
    json_value(&o, yyjson_obj_get(v, "i"));
    json_value(&o, yyjson_obj_get(v, "list"));
    json_value(&o, NULL);
    json_array_end(&o);
    assert_non_null(json_parse(&a, buf_view(&copy), &err));
    assert_memory_equal(copy.p, "[7,[-9223372036854775808,", 25);
}

static void writes_reals_that_read_back(void **state)
{
    (void)state;
    static const double values[] = {
        0.0, -0.0, 1.0, 0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.125};
    for (size_t i = 0; i < countof(values); i++) {
        auto_buf struct buf b = {0};
        struct json_out o;
        json_begin(&o, &b);
        json_real(&o, values[i]);
        double back;
        assert_true(str_to_real(buf_view(&b), &back));
        assert_memory_equal(&back, &values[i], sizeof back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses),       cmocka_unit_test(refuses),
        cmocka_unit_test(limits_depth), cmocka_unit_test(refuses_duplicates),
        cmocka_unit_test(writes),       cmocka_unit_test(writes_reals_that_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
