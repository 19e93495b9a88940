/* Bodies of v2, types, compression, multipart, traces and the processors' limit: what needs no graph. */
#include "base/fs.h"
#include "infer/cpus.h"
#include "infer/multipart.h"
#include "infer/squeeze.h"
#include "infer/trace.h"
#include "infer/types.h"
#include "infer/v2_answer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void test_halves(unused_ok void **state)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        double half = types_from_half((uint16_t)bits), bfloat = types_from_bfloat((uint16_t)bits);
        if (!isnan(half))
            assert_int_equal(types_to_half(half), bits);
        if (!isnan(bfloat))
            assert_int_equal(types_to_bfloat(bfloat), bits);
    }
    assert_int_equal(types_to_half(1.0 + 0x1p-11), 0x3c00); /* half way: to the even one */
    assert_int_equal(types_to_half(1.0 + 0x3p-11), 0x3c02);
    assert_int_equal(types_to_half(65519.99), 0x7bff);
    assert_int_equal(types_to_half(65520), 0x7c00);
    assert_true(isnan(types_from_half(types_to_half(NAN))));
}

static void test_elements(unused_ok void **state)
{
    uint64_t n;
    int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40, INT64_C(1) << 40},
            none[] = {INT64_C(1) << 40, 0, 3};
    assert_false(types_elements(huge, 3, UINT64_MAX, &n));
    assert_true(types_elements(none, 3, 10, &n) && n == 0);
    assert_true(types_elements(NULL, 0, 10, &n) && n == 1);
    assert_false(types_elements((int64_t[]){-1}, 1, 10, &n));
    assert_false(types_elements((int64_t[]){INT64_MAX}, 1, UINT64_MAX, &n));
    assert_false(types_elements((int64_t[]){3, 4}, 2, 11, &n));
}

static bool parse(struct arena *a, const char *text, struct v2_request *q, struct err *err)
{
    *err = (struct err){0};
    return v2_request_parse(a, str_of(text), -1, q, err);
}

static void test_requests(unused_ok void **state)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct v2_request q;
    struct err err;
    assert_true(
        parse(&a,
              "{\"id\":\"7\",\"parameters\":{\"timeout\":50},\"inputs\":[{\"name\":\"x\",\"shape\":[2,2],"
              "\"datatype\":\"INT16\",\"data\":[[1,-2],[3,4]]}],\"outputs\":[{\"name\":\"y\"}]}",
              &q, &err));
    assert_int_equal(q.n_inputs, 1);
    assert_int_equal(q.timeout_us, 50);
    assert_memory_equal(q.inputs[0].data.p, ((int16_t[]){1, -2, 3, 4}), 8);
    assert_false(
        parse(&a, "{\"inputs\":[{\"name\":\"x\",\"shape\":[4611686018427387904,4],\"datatype\":\"INT8\"}]}",
              &q, &err));
    assert_string_equal(err.field, "shape");
    assert_false(parse(&a, "{\"inputs\":[],\"parameters\":{\"timeout\":-1}}", &q, &err));
    assert_string_equal(err.field, "timeout");
}

static void test_classes(unused_ok void **state)
{
    auto_arena struct arena a;
    arena_init(&a);
    float scores[] = {.1f, NAN, .7f, .2f};
    struct str labels[] = {STR("zero"), STR("one"), STR("two")}, one;
    struct v2_model m = {"m", "1", labels, 3};
    struct tensor ret, t = {"y", TENSOR_FP32, 1, {4}, {(char *)scores, sizeof scores}};
    size_t at = 0;
    assert_true(v2_classify(&a, &m, &t, 3, &ret, &(struct err){0}));
    assert_true(ret.n_dims == 1 && ret.dims[0] == 3 && ret.type == TENSOR_BYTES);
    assert_true(types_next_bytes(ret.data, &at, &one) && str_is(one, "0.700000:2:two"));
    assert_true(types_next_bytes(ret.data, &at, &one) && str_is(one, "0.200000:3"));
    assert_true(types_next_bytes(ret.data, &at, &one) && str_is(one, "0.100000:0:zero"));
    assert_false(types_next_bytes(ret.data, &at, &one));
}

static void test_compression(unused_ok void **state)
{
    struct err err = {0};
    auto_buf struct buf plain = {0};
    for (int i = 0; i < 50000; i++)
        buf_printf(&plain, "%d ", i * 7919 % 1000);
    for (int s = SQUEEZE_GZIP; s <= SQUEEZE_DEFLATE; s++) {
        auto_buf struct buf packed = {0};
        auto_buf struct buf back = {0};
        auto_buf struct buf bounded = {0};
        squeeze_pack((enum squeeze)s, buf_view(&plain), &packed);
        assert_true(packed.n < plain.n / 2);
        assert_true(squeeze_expand((enum squeeze)s, buf_view(&packed), plain.n, &back, &err));
        assert_true(str_eq(buf_view(&back), buf_view(&plain)));
        assert_false(squeeze_expand((enum squeeze)s, buf_view(&packed), plain.n - 1, &bounded, &err));
        assert_int_equal(err.code, ERR_TOO_LARGE);
    }
    assert_int_equal(squeeze_accepted(STR("br, gzip;q=0.5, deflate")), SQUEEZE_GZIP);
    assert_int_equal(squeeze_accepted(STR("gzip;q=0, deflate")), SQUEEZE_DEFLATE);
    assert_int_equal(squeeze_accepted(STR("identity")), SQUEEZE_NONE);
}

static void test_multipart(unused_ok void **state)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct multipart_part *parts;
    struct str boundary;
    size_t n;
    struct err err = {0};
    assert_true(multipart_boundary(STR("multipart/form-data; charset=x; boundary=\"b c\""), &boundary));
    assert_true(str_is(boundary, "b c"));
    assert_false(multipart_boundary(STR("multipart/form-data"), &boundary));
    assert_false(multipart_boundary(STR("image/png; boundary=x"), &boundary));
    struct str body =
        STR("preamble\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a;b.png\"\r\n"
            "Content-Type: image/png\r\n\r\n\r\n--b\r\n\r\n--B\r\n\r\nbare\r\n--B--\r\nepilogue");
    assert_true(multipart_parse(&a, body, STR("B"), &parts, &n, &err));
    assert_int_equal(n, 2);
    assert_true(str_is(parts[0].filename, "a;b.png") && str_is(parts[0].media_type, "image/png"));
    assert_true(str_is(parts[0].bytes, "\r\n--b\r\n") && str_is(parts[1].bytes, "bare"));
    assert_false(multipart_parse(&a, (struct str){body.p, body.n - 15}, STR("B"), &parts, &n, &err));
}

static void test_traces(unused_ok void **state)
{
    struct trace t, u;
    trace_begin(&t, STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"));
    assert_string_equal(t.id, "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_int_equal(strlen(t.parent), 55);
    assert_string_equal(t.parent + 52, "-00");
    static const char *const wrong[] = {"",
                                        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                                        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                                        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"};
    for (size_t i = 0; i < countof(wrong); i++) {
        trace_begin(&u, str_of(wrong[i]));
        assert_int_equal(strlen(u.id), TRACE_ID_HEX);
        assert_string_not_equal(u.id, t.id);
    }
}

static void put(struct arena *a, const char *folder, const char *name, const char *text)
{
    struct err err = {0};
    const char *path = arena_printf(a, "%s/%s", folder, name);
    char *parent = arena_strz(a, (struct str){path, (size_t)(strrchr(path, '/') - path)});
    assert_true(fs_mkdirs(parent, 0700, &err));
    assert_true(fs_write_atomic(path, str_of(text), 0600, &err));
}

static void test_processors(unused_ok void **state)
{
    auto_arena struct arena a;
    arena_init(&a);
    char folder[] = "/tmp/ingot-cpus-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *own = arena_printf(&a, "%s/own", folder), *groups = arena_printf(&a, "%s/groups", folder);
    put(&a, folder, "own", "0::/pods/one\n");
    put(&a, folder, "groups/pods/cpu.max", "250000 100000\n");
    put(&a, folder, "groups/pods/one/cpu.max", "max 100000\n");
    assert_int_equal(cpus_limit(own, groups, 8), 3); /* 2.5, of the group above */
    assert_int_equal(cpus_limit(own, groups, 2), 2);
    put(&a, folder, "own", "7:memory:/x\n4:cpu,cpuacct:/docker/two\n");
    put(&a, folder, "groups/cpu,cpuacct/docker/two/cpu.cfs_quota_us", "100000\n");
    put(&a, folder, "groups/cpu,cpuacct/docker/two/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cpus_limit(own, groups, 8), 1);
    put(&a, folder, "groups/cpu,cpuacct/docker/two/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(cpus_limit(own, groups, 8), 8);
    assert_int_equal(cpus_limit("/nowhere", groups, 5), 5);
    fs_remove_tree(AT_FDCWD, folder, &(struct err){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves),  cmocka_unit_test(test_elements),    cmocka_unit_test(test_requests),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_compression), cmocka_unit_test(test_multipart),
        cmocka_unit_test(test_traces),  cmocka_unit_test(test_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
