/* Schemas, JSON, UTF-8 and the checksum. */
#include "record_testing.h"

uint32_t record_crc32c_soft(uint32_t crc, const void *data, size_t size);
bool record_json_valid(const char *text, size_t size);
bool record_utf8_valid(const void *data, size_t size);

static void test_crc(void **state)
{
    (void)state;
    static uint8_t data[10000];
    assert_int_equal(record_crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(record_crc32c(0, "", 0), 0);
    assert_int_equal(record_crc32c(0, data, 32), 0x8A9136AA); /* RFC 3720, B.4 */
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i >> 3);
    for (size_t n = 0; n < sizeof data - 8; n += n < 64 ? 1 : 97)
        assert_int_equal(record_crc32c(0, data + n % 8, n), record_crc32c_soft(0, data + n % 8, n));
    uint32_t whole = record_crc32c(0, data, sizeof data);
    for (size_t cut = 0; cut < sizeof data; cut += 333)
        assert_int_equal(record_crc32c(record_crc32c(0, data, cut), data + cut, sizeof data - cut), whole);
}

static void test_schema(void **state)
{
    (void)state;
    struct record_err err;
    struct record_schema *s;
    assert_ok((s = record_schema_parse(SCHEMA, strlen(SCHEMA), &err)));
    assert_int_equal(record_schema_count(s), 6);
    assert_int_equal(record_schema_key(s), 0);
    assert_int_equal(record_schema_find(s, "label"), 2);
    assert_int_equal(record_schema_find(s, "labe"), -1);
    const struct record_field *f = record_schema_field(s, 5);
    assert_int_equal(f->type, RECORD_ARRAY);
    assert_int_equal(f->dtype, RECORD_F32);
    assert_int_equal(f->ndim, 2);
    assert_int_equal(f->shape[0], 2);
    assert_int_equal(f->shape[1], -1);
    size_t n;
    assert_string_equal(record_schema_json(s, &n), SCHEMA);
    assert_int_equal(n, strlen(SCHEMA));
    record_schema_free(s);
}

static void test_schema_names(void **state)
{
    (void)state;
    struct record_err err;
    struct record_schema *s;
    const char *json = "{ \"x\" : {\"deep\":[1,2.5e-3,[],{},true]} ,\n"
                       "\"fields\":[ {\"type\":\"bytes\",\"name\":\"\\u4e2d\\ud83d\\ude00\\n\"} ] }";
    assert_ok((s = record_schema_parse(json, strlen(json), &err)));
    assert_string_equal(record_schema_field(s, 0)->name, "\xE4\xB8\xAD\xF0\x9F\x98\x80\n");
    assert_int_equal(record_schema_key(s), -1);
    record_schema_free(s);
}

static void test_bad_schemas(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        {"", "must be a JSON object"},
        {"[]", "must be a JSON object"},
        {"{}", "at least one field"},
        {"{\"fields\":[]}", "at least one field"},
        {"{\"fields\":{}}", "must be a list"},
        {"{\"fields\":[1]}", "must be an object"},
        {"{\"fields\":[{\"type\":\"utf8\"}]}", "no \"name\""},
        {"{\"fields\":[{\"name\":\"\",\"type\":\"utf8\"}]}", "no \"name\""},
        {"{\"fields\":[{\"name\":\"a\"}]}", "\"a\" has no \"type\""},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"text\"}]}", "type \"text\" is none of"},
        {"{\"fields\":[{\"name\":\"a\",\"name\":\"b\",\"type\":\"utf8\"}]}", "\"name\" twice"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"utf8\"},{\"name\":\"a\",\"type\":\"utf8\"}]}",
         "two fields"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"utf8\"}],\"fields\":[]}", "twice"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"utf8\"}],\"key\":\"b\"}", "\"b\", which is no field"},
        {"{\"key\":\"a\",\"fields\":[{\"name\":\"a\",\"type\":\"int64\"}]}", "must be of type utf8 or bytes"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"array\"}]}", "needs \"dtype\" and \"shape\""},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"utf8\",\"shape\":[1]}]}", "is no array"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"array\",\"dtype\":\"f4\",\"shape\":[1]}]}", "dtype \"f4\""},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"array\",\"dtype\":\"int8\",\"shape\":[-1,-1]}]}", "one -1"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"array\",\"dtype\":\"int8\",\"shape\":[0]}]}", "positive"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"array\",\"dtype\":\"int8\",\"shape\":[1.5]}]}",
         "whole number"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"array\",\"dtype\":\"int8\",\"shape\":[99999999,99999999]}]"
         "}",
         "larger than a record"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"array\",\"dtype\":\"int8\",\"shape\":[1,1,1,1,1,1,1,1,1]}]"
         "}",
         "more than 8"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"utf8\"}]} x", "something follows"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"utf8\"},]}", "must be an object"},
        {"{\"fields\":[{\"name\":\"a\",\"type\":\"utf8\"}", "no comma or closing bracket"},
        {"{\"a\":\"\\x\"}", "unknown escape"},
        {"{\"a\":\"\\ud800\"}", "surrogate"},
        {"{\"\\u0000\":1}", "NUL"},
        {"{\"a\":\"\xFF\"}", "UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record_err err;
        assert_err(record_schema_parse(cases[i].json, strlen(cases[i].json), &err), RECORD_E_ARG,
                   cases[i].message);
    }
}

static void test_json(void **state)
{
    (void)state;
    static const char *good[] = {"1",        " [1, 2] ",           "{\"a\":{}}", "null",
                                 "-0.5e+10", "\"\\ud83d\\ude00\"", "[]"};
    static const char *bad[] = {"",       "01",          "1.",  "+1",  "[1,]",      "{\"a\"}", "{\"a\":1,}",
                                "\"\n\"", "\"\\ude00\"", "nul", "1 2", "NaN",       "[1",      "\"abc",
                                "'a'",    "{1:2}",       "-",   "1e",  "\"\\u12\"", "]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(record_json_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (record_json_valid(bad[i], strlen(bad[i])))
            fail_msg("%s was taken for JSON", bad[i]);
    assert_false(record_json_valid("1\0", 2));
    char deep[400];
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    assert_false(record_json_valid(deep, 400));
    assert_true(record_json_valid(deep + 100, 200));
}

static void test_utf8(void **state)
{
    (void)state;
    static const char *bad[] = {"\x80",
                                "\xC0\x80",
                                "\xC3",
                                "\xE0\x80\x80",
                                "\xED\xA0\x80",
                                "\xF4\x90\x80\x80",
                                "\xF5\x80\x80\x80",
                                "\xE4\xB8",
                                "a\xFF",
                                "\xF0\x8F\xBF\xBF"};
    static const char good[] =
        "a\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF";
    assert_true(record_utf8_valid(good, sizeof good));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(record_utf8_valid(bad[i], strlen(bad[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),          cmocka_unit_test(test_schema),
        cmocka_unit_test(test_schema_names), cmocka_unit_test(test_bad_schemas),
        cmocka_unit_test(test_json),         cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
