/* arena, buf and map. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void arena_gives_aligned_memory(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    for (size_t n = 0; n < 3000; n = n * 2 + 1) {
        unsigned char *p = arena_alloc(&a, n);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        memset(p, 0xaa, n);
        unsigned char *z = arena_zalloc(&a, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(z[i], 0);
    }
    memset(arena_alloc(&a, 1 << 20), 1, 1 << 20); /* larger than any chunk */
    memset(arena_alloc(&a, 10), 2, 10);
}

static void arena_grows(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    size_t n = 1;
    unsigned char *p = arena_grow(&a, NULL, 0, n);
    p[0] = 0;
    for (; n < 200000; n = n * 3 / 2 + 1) {
        size_t more = n * 3 / 2 + 1;
        p = arena_grow(&a, p, n, more);
        for (size_t i = n; i < more; i++)
            p[i] = (unsigned char)i;
        if (n % 2)
            arena_alloc(&a, 3); /* no longer the newest */
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(p[i], (unsigned char)i);
}

static void arena_begins_with_spares(void **state)
{
    (void)state;
    struct arena_spares s = {0};
    struct arena many[40];
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < countof(many); i++) {
            arena_init_spare(&many[i], &s);
            memset(arena_alloc(&many[i], 100 + i * 1000), (int)i, 100 + i * 1000);
            memset(arena_alloc(&many[i], 100), (int)i, 100);
        }
        for (size_t i = 0; i < countof(many); i++)
            arena_release_spare(&many[i], &s);
        assert_true(s.count <= countof(many));
        assert_true((s.count == 0) == (s.chunks == NULL));
    }
    arena_spares_release(&s);
    assert_null(s.chunks);
    assert_int_equal(s.count, 0);
}

static void arena_copies_text(void **state)
{
    (void)state;
    auto_arena struct arena a = {0};
    assert_null(arena_strdup(&a, NULL));
    assert_string_equal(arena_strdup(&a, "x"), "x");
    assert_string_equal(arena_strz(&a, (struct str){"xyz", 2}), "xy");
    assert_null(arena_str(&a, STR_NULL).p);
    struct str s = arena_str(&a, STR("a\0b"));
    assert_int_equal(s.n, 3);
    assert_int_equal(s.p[3], 0);
    char *text = arena_printf(&a, "%0500d", 7);
    assert_int_equal(strlen(text), 500);
    assert_int_equal(text[499], '7');
    arena_release(&a);
    assert_string_equal(arena_printf(&a, "%s", "again"), "again");
}

static void buf_appends(void **state)
{
    (void)state;
    auto_buf struct buf b = {0};
    buf_z(&b, "ab");
    buf_char(&b, 'c');
    buf_add(&b, NULL, 0);
    buf_str(&b, STR("\0d"));
    buf_printf(&b, "%0300d", 1);
    assert_int_equal(b.n, 305);
    assert_memory_equal(b.p, "abc\0d000", 8);
    assert_int_equal(b.p[b.n], 0);
    buf_consume(&b, 3);
    assert_memory_equal(b.p, "\0d", 2);
    buf_consume(&b, 10000);
    assert_int_equal(b.n, 0);
    buf_z(&b, "x");
    assert_true(str_is(buf_view(&b), "x"));
    buf_clear(&b);
    assert_int_equal(b.n, 0);
}

static void map_keeps_all_keys(void **state)
{
    (void)state;
    enum { N = 5000 };
    static char value[N];
    char key[32];
    struct map *m = map_new();
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        assert_null(map_set(m, str_of(key), &value[i]));
    }
    for (int i = 0; i < N; i += 2) {
        snprintf(key, sizeof key, "key-%d", i);
        assert_ptr_equal(map_remove(m, str_of(key)), &value[i]);
        assert_null(map_remove(m, str_of(key)));
    }
    assert_int_equal(map_count(m), N / 2);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        assert_ptr_equal(map_get(m, str_of(key)), i % 2 ? &value[i] : NULL);
    }
    size_t seen = 0;
    struct str k;
    void *v;
    for (size_t i = 0; map_next(m, &i, &k, &v);) {
        snprintf(key, sizeof key, "key-%d", (int)((char *)v - value));
        assert_true(str_is(k, key));
        seen++;
    }
    assert_int_equal(seen, N / 2);
    map_free(m);
}

static void map_replaces(void **state)
{
    (void)state;
    int one, two;
    struct map *m = map_new();
    assert_null(map_get(m, STR("")));
    assert_null(map_set(m, STR(""), &one));
    assert_ptr_equal(map_set(m, STR_NULL, &two), &one);
    assert_null(map_set(m, STR("a\0b"), &one));
    assert_null(map_get(m, STR("a")));
    assert_ptr_equal(map_get(m, STR("")), &two);
    map_free(m);
    map_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_aligned_memory),
        cmocka_unit_test(arena_grows),
        cmocka_unit_test(arena_begins_with_spares),
        cmocka_unit_test(arena_copies_text),
        cmocka_unit_test(buf_appends),
        cmocka_unit_test(map_keeps_all_keys),
        cmocka_unit_test(map_replaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
