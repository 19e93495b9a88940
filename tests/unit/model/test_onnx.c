/* The walk over ONNX files on bytes made by hand; tests/infer/test_onnx.py holds it against onnx itself. */
#include "model/onnx.h"
#include "model/wire.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ModelProto { ir_version: 8, graph: { node: { op_type: "Relu" } } } */
#define NODE  "\x0a\x06\x22\x04Relu"
#define MODEL "\x08\x08\x3a\x08" NODE

static void accepts_a_model(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    struct err err = {0};
    struct onnx_summary s;
    assert_true(onnx_summarize(&a, STR(MODEL), &s, &err));
    assert_int_equal(s.ir_version, 8);
    assert_int_equal(s.nodes, 1);
    assert_true(str_is(s.operators[0].name, "Relu"));
    assert_int_equal(s.parameters, 0);
}

static void refuses_damage(void **state)
{
    (void)state;
    static const struct str bad[] = {
        STR(""),                                             /* no graph */
        STR("\x3a\x7f" NODE),                                /* longer than the file */
        STR("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), /* 2^64 - 1 bytes */
        STR("\x3b"),                                         /* a group */
        STR("\x38\x01"),                                     /* the graph as a number */
        STR("\x00"),                                         /* field 0 */
        STR("\x3a\x04\x2a\x02\x70\x01"),                     /* a tensor whose data are elsewhere */
        STR("\x3a\x04\x2a\x02\x6a\x00"),                     /* a tensor with external_data */
    };
    for (size_t i = 0; i < countof(bad); i++) {
        struct err err = {0};
        assert_false(onnx_check(bad[i], &err));
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.field, "file");
    }
}

static void bounds_varints(void **state)
{
    (void)state;
    uint64_t v = 7;
    struct wire w = wire_of(STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
    assert_true(wire_varint(&w, &v));
    assert_true(v == UINT64_MAX);
    w = wire_of(STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    assert_false(wire_varint(&w, &v));
    w = wire_of(STR("\x80"));
    assert_false(wire_varint(&w, &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_a_model),
        cmocka_unit_test(refuses_damage),
        cmocka_unit_test(bounds_varints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
