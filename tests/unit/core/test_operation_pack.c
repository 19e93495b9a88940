/* Packed operations: what goes in comes out, damage is found, and a box costs few bytes. */
#include "core/data/operation_pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define BOX_BYTES 60 /* what one operation with a box may take at rest */

static uint32_t seed;
static uint32_t any(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static const char *shape_id(struct arena *a)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    char *id = arena_zalloc(a, 11);
    for (int i = 0; i < 10; i++)
        id[i] = letters[any(62)];
    return id;
}

/* As the workbench sends them: each box is drawn, and moved once. */
static struct operation_section section(struct arena *a, int64_t sample, size_t n)
{
    static const char *const labels[] = {"car", "person", "bicycle"};
    struct operation_section s = {
        .sample = sample, .entries = arena_array(a, struct operation_entry, n), .n = n};
    int64_t at = INT64_C(1790000000000000) + sample * 60000000;
    const char *id = NULL, *client = arena_printf(a, "client%04u", (unsigned)(sample % 50));
    s.base = (struct sample_past){.revision = 1, .at = at, .by = 7, .annotation = STR("{}")};
    for (size_t i = 0; i < n; i++) {
        at += 700000 + any(900000);
        id = i % 2 ? id : shape_id(a);
        const char *body = arena_printf(
            a,
            "{\"id\":\"\",\"op\":\"put\",\"shape\":{\"h\":%u.%02u,\"id\":\"%s\",\"label\":\"%s\","
            "\"type\":\"box\",\"w\":%u.%02u,\"x\":%u.%02u,\"y\":%u.%02u}}",
            20 + any(200), any(100), id, labels[any(3)], 20 + any(200), any(100), any(1900), any(100),
            any(1000), any(100));
        s.entries[i] = (struct operation_entry){.revision = (int64_t)i + 2,
                                                .at = at,
                                                .by = 7 + sample % 50,
                                                .state = SAMPLE_ANNOTATED,
                                                .client = str_of(client),
                                                .number = (int64_t)i + 1,
                                                .body = str_of(body)};
    }
    return s;
}

static void test_round_trip(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf data = {0};
    struct err err = {0};
    struct operation_section all[3] = {section(&a, 5, 4), section(&a, 6, 1), section(&a, 9, 300)}, got;
    bool found;
    all[1].layer = 12;
    all[1].before = 3;
    all[1].base = (struct sample_past){0};
    assert_true(operation_pack_write(&data, all, 3, &err));
    assert_true(operation_pack_read(&a, buf_view(&data), 6, 12, &got, &found, &err) && found);
    assert_int_equal(got.before, 3);
    assert_int_equal(got.base.revision, 0);
    assert_true(operation_pack_read(&a, buf_view(&data), 6, 0, &got, &found, &err) && !found);
    assert_true(operation_pack_read(&a, buf_view(&data), 9, 0, &got, &found, &err) && found);
    assert_int_equal(got.n, 300);
    assert_int_equal(got.base.by, 7);
    for (size_t i = 0; i < got.n; i++) {
        const struct operation_entry *e = &got.entries[i], *was = &all[2].entries[i];
        assert_true(str_eq(e->body, was->body) && str_eq(e->client, was->client));
        assert_int_equal(e->revision, was->revision);
        assert_int_equal(e->number, was->number);
        assert_int_equal(e->by, was->by);
        assert_int_equal(e->state, was->state);
        assert_int_equal(e->at / 1000, was->at / 1000);
    }
}

static void test_damage(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    auto_buf struct buf data = {0};
    struct err err = {0};
    struct operation_section s = section(&a, 5, 40), got;
    bool found;
    assert_true(operation_pack_write(&data, &s, 1, &err));
    for (size_t n = 0; n < data.n; n += 3)
        assert_false(operation_pack_read(&a, (struct str){data.p, n}, 5, 0, &got, &found, &err));
    for (size_t i = 0; i < data.n; i++) { /* whatever it says, it ends */
        data.p[i] ^= 0x55;
        operation_pack_read(&a, buf_view(&data), 5, 0, &got, &found, &err);
        data.p[i] ^= 0x55;
    }
}

/* Few operations on each of many samples, and many on few. */
static void test_bytes_of_a_box(void **state)
{
    (void)state;
    static const size_t each[] = {3, 20, 400};
    for (size_t k = 0; k < countof(each); k++) {
        auto_arena struct arena a;
        arena_init(&a);
        auto_buf struct buf data = {0};
        struct err err = {0};
        size_t n = 2000 / each[k];
        struct operation_section *s = arena_array(&a, struct operation_section, n);
        for (size_t i = 0; i < n; i++)
            s[i] = section(&a, (int64_t)i + 1, each[k]);
        assert_true(operation_pack_write(&data, s, n, &err));
        print_message("%zu operations a sample: %.1f bytes each\n", each[k],
                      (double)data.n / (double)(n * each[k]));
        assert_true(data.n <= n * each[k] * BOX_BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_bytes_of_a_box)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
