/* Manifests of algorithms: what is refused, with which field; values with their defaults. */
#include "model/algorithm.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define WITH(parameters)                                                                                     \
    "{\"ingot\":1,\"functions\":{\"train\":{\"command\":\"run\",\"parameters\":[" parameters "]}}}"

static void reads_every_type(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct algorithm m;
    struct str text;
    const char *manifest = WITH(
        "{\"name\":\"epochs\",\"type\":\"int\",\"default\":5,\"min\":1,\"max\":100},"
        "{\"name\":\"lr\",\"type\":\"real\",\"default\":0.01,\"min\":1e-6,\"log\":true,\"advanced\":true},"
        "{\"name\":\"flip\",\"type\":\"bool\",\"default\":true},"
        "{\"name\":\"size\",\"type\":\"choice\",\"choices\":[224,\"auto\"],\"default\":\"auto\"},"
        "{\"name\":\"note\",\"type\":\"text\",\"default\":\"\"},"
        "{\"name\":\"leave_out\",\"type\":\"labels\",\"default\":[]},"
        "{\"name\":\"merge\",\"type\":\"json\",\"default\":{}}");
    assert_true(algorithm_parse(&a, str_of(manifest), &m, &err));
    const struct algorithm_function *f = &m.functions[ALGORITHM_TRAIN];
    assert_true(f->there);
    assert_false(m.functions[ALGORITHM_TEST].there);
    assert_int_equal(f->n_parameters, 7);
    assert_true(f->parameters[1].log && f->parameters[1].advanced);
    assert_true(algorithm_values(&a, f, NULL, true, &text, &err));
    assert_true(str_is(text, "{\"epochs\":5,\"lr\":0.01,\"flip\":true,\"size\":\"auto\",\"note\":\"\","
                             "\"leave_out\":[],\"merge\":{}}"));
    yyjson_val *given = json_parse(&a, STR("{\"size\":224,\"merge\":{\"a\":\"b\",\"b\":\"c\"}}"), &err);
    assert_true(algorithm_values(&a, f, given, false, &text, &err));
    assert_true(str_is(text, "{\"size\":224,\"merge\":{\"a\":\"c\",\"b\":\"c\"}}"));
}

static void refuses_manifests(void **state)
{
    (void)state;
    static const struct {
        const char *text, *field;
    } bad[] = {
        {"", "ingot-algorithm.json"},
        {"[]", "ingot-algorithm.json"},
        {"{\"ingot\":2,\"functions\":{\"train\":{\"command\":\"x\"}}}", "ingot"},
        {"{\"functions\":{\"train\":{\"command\":\"x\"}}}", "ingot"},
        {"{\"ingot\":1}", "functions"},
        {"{\"ingot\":1,\"functions\":{}}", "functions"},
        {"{\"ingot\":1,\"functions\":{\"fly\":{\"command\":\"x\"}}}", "functions"},
        {"{\"ingot\":1,\"other\":1,\"functions\":{\"train\":{\"command\":\"x\"}}}", "other"},
        {"{\"ingot\":1,\"functions\":{\"train\":{}}}", "functions.train.command"},
        {"{\"ingot\":1,\"functions\":{\"train\":{\"command\":\"x\",\"types\":[\"cats\"]}}}",
         "functions.train.types[0]"},
        {"{\"ingot\":1,\"functions\":{\"train\":{\"command\":\"x\",\"inputs\":[\"cats\"]}}}",
         "functions.train.inputs[0]"},
        {"{\"ingot\":1,\"functions\":{\"train\":{\"command\":\"x\",\"outputs\":\"model\"}}}",
         "functions.train.outputs"},
        {"{\"ingot\":1,\"functions\":{\"train\":{\"command\":\"x\",\"image\":\"a:1\",\"runtime\":\"b\"}}}",
         "functions.train.image"},
        {WITH("{\"name\":\"x\"}"), "functions.train.parameters[0].type"},
        {WITH("{\"name\":\"x\",\"type\":\"float\"}"), "functions.train.parameters[0].type"},
        {WITH("{\"name\":\"X\",\"type\":\"int\"}"), "functions.train.parameters[0].name"},
        {WITH("{\"name\":\"x\",\"type\":\"int\"},{\"name\":\"x\",\"type\":\"int\"}"),
         "functions.train.parameters[1].name"},
        {WITH("{\"name\":\"x\",\"type\":\"int\",\"default\":1.5}"), "functions.train.parameters[0].default"},
        {WITH("{\"name\":\"x\",\"type\":\"int\",\"default\":0,\"min\":1}"),
         "functions.train.parameters[0].default"},
        {WITH("{\"name\":\"x\",\"type\":\"real\",\"min\":2,\"max\":1}"), "functions.train.parameters[0].max"},
        {WITH("{\"name\":\"x\",\"type\":\"real\",\"log\":true}"), "functions.train.parameters[0].min"},
        {WITH("{\"name\":\"x\",\"type\":\"text\",\"min\":1}"), "functions.train.parameters[0].min"},
        {WITH("{\"name\":\"x\",\"type\":\"choice\"}"), "functions.train.parameters[0].choices"},
        {WITH("{\"name\":\"x\",\"type\":\"choice\",\"choices\":[\"a\",\"a\"]}"),
         "functions.train.parameters[0].choices[1]"},
        {WITH("{\"name\":\"x\",\"type\":\"choice\",\"choices\":[\"a\"],\"default\":\"b\"}"),
         "functions.train.parameters[0].default"},
        {WITH("{\"name\":\"minutes\",\"type\":\"int\"}"), "functions.train.parameters[0].name"},
        {WITH("{\"name\":\"merge\",\"type\":\"json\",\"default\":{\"a\":\"b\",\"b\":\"a\"}}"),
         "functions.train.parameters[0].default"},
    };
    for (size_t i = 0; i < countof(bad); i++) {
        auto_arena struct arena a = {0};
        struct err err = {0};
        struct algorithm m;
        assert_false(algorithm_parse(&a, str_of(bad[i].text), &m, &err));
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.field, bad[i].field);
    }
}

static void bounds_what_it_reads(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    auto_buf struct buf many = {0}, name = {0}, large = {0};
    struct err err = {0};
    struct algorithm m;
    for (int i = 0; i < 1000; i++)
        buf_printf(&many, "%s{\"name\":\"p%d\",\"type\":\"int\"}", i ? "," : "", i);
    assert_false(algorithm_parse(&a, str_of(arena_printf(&a, WITH("%s"), many.p)), &m, &err));
    assert_string_equal(err.field, "functions.train.parameters");
    for (int i = 0; i < 5000; i++)
        buf_char(&name, 'a');
    const char *text = arena_printf(&a, WITH("{\"name\":\"%s\",\"type\":\"int\"}"), name.p);
    assert_false(algorithm_parse(&a, str_of(text), &m, &err));
    assert_string_equal(err.field, "functions.train.parameters[0].name");
    for (size_t i = 0; i <= ALGORITHM_MAX_BYTES; i++)
        buf_char(&large, ' ');
    assert_false(algorithm_parse(&a, buf_view(&large), &m, &err));
    assert_string_equal(err.id, "algorithm-large");
}

static void refuses_values(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct algorithm m;
    struct str text;
    static const struct {
        const char *given, *field;
    } bad[] = {
        {"[]", "parameters"},
        {"{\"nope\":1}", "parameters.nope"},
        {"{\"epochs\":\"5\",\"must\":1}", "parameters.epochs"},
        {"{\"epochs\":101,\"must\":1}", "parameters.epochs"},
        {"{\"epochs\":5}", "parameters.must"},
        {"{\"must\":1,\"leave_out\":[\"\"]}", "parameters.leave_out[0]"},
        {"{\"must\":1,\"leave_out\":[\"a\"],\"merge\":{\"a\":\"b\"}}", "parameters.merge"},
        {"{\"must\":1,\"leave_out\":[\"b\"],\"merge\":{\"a\":\"b\"}}", "parameters.merge"},
        {"{\"must\":1,\"merge\":{\"a\":\"b\",\"b\":\"c\",\"c\":\"a\"}}", "parameters.merge"},
        {"{\"must\":1,\"merge\":{\"a\":1}}", "parameters.merge"},
        {"{\"must\":1,\"merge\":[]}", "parameters.merge"},
    };
    const char *manifest = WITH("{\"name\":\"epochs\",\"type\":\"int\",\"default\":5,\"min\":1,\"max\":100},"
                                "{\"name\":\"must\",\"type\":\"int\"},"
                                "{\"name\":\"leave_out\",\"type\":\"labels\",\"default\":[]},"
                                "{\"name\":\"merge\",\"type\":\"json\",\"default\":{}}");
    assert_true(algorithm_parse(&a, str_of(manifest), &m, &err));
    for (size_t i = 0; i < countof(bad); i++) {
        yyjson_val *given = json_parse(&a, str_of(bad[i].given), &err);
        assert_non_null(given);
        assert_false(algorithm_values(&a, &m.functions[ALGORITHM_TRAIN], given, true, &text, &err));
        assert_string_equal(err.field, bad[i].field);
        assert_true(err.zh[0] != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(refuses_manifests),
        cmocka_unit_test(bounds_what_it_reads),
        cmocka_unit_test(refuses_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
