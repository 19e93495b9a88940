/* Manifests: canonical text, path rules, listing and comparing. */
#include "store/manifest.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct manifest_entry entry(const char *path, uint8_t id, int64_t size)
{
    return (struct manifest_entry){.path = str_of(path), .blob = {{id}}, .size = size};
}

static struct manifest build(struct arena *a, const struct manifest_entry *e, size_t n)
{
    struct manifest m;
    struct err err = {0};
    assert_true(manifest_build(a, e, n, &m, &err));
    return m;
}

static void test_text_is_canonical(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct manifest_entry one[] = {entry("b/c.txt", 1, 3), entry("a", 2, 4), entry("a", 3, 5)};
    struct manifest_entry two[] = {entry("a", 3, 5), entry("b/c.txt", 1, 3)};
    struct manifest x = build(&a, one, 3), y = build(&a, two, 2), back;
    auto_buf struct buf tx = {0}, ty = {0};
    struct err err = {0};
    manifest_write(&x, &tx);
    manifest_write(&y, &ty);
    assert_true(str_eq(buf_view(&tx), buf_view(&ty)));
    assert_int_equal(x.bytes, 8);
    assert_true(manifest_parse(&a, buf_view(&tx), &back, &err));
    assert_int_equal(back.n, 2);
    assert_true(str_is(back.entry[1].path, "b/c.txt"));
    assert_false(manifest_parse(&a, (struct str){tx.p, tx.n - 1}, &back, &err));
    assert_false(manifest_parse(&a, STR("abc\n"), &back, &err));
    assert_int_equal(err.code, ERR_MALFORMED);
}

static void test_bad_paths_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",       "/a",   "a/",   "a//b", ".",  "..",
                                      "a/../b", "a\\b", "a\nb", "\xff", "./a"};
    for (size_t i = 0; i < countof(bad); i++) {
        struct err err = {0};
        assert_false(manifest_check_path(str_of(bad[i]), &err));
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.field, "path");
    }
    struct err err = {0};
    assert_true(manifest_check_path(STR("模型/a b..c/.hidden"), &err));
    auto_arena struct arena a;
    arena_init(&a);
    struct manifest_entry both[] = {entry("a", 1, 1), entry("a-x", 1, 1), entry("a/b", 1, 1)};
    struct manifest m;
    assert_false(manifest_build(&a, both, 3, &m, &err));
}

static void test_listing_a_folder(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct manifest_entry e[] = {entry("z", 1, 1), entry("d/x/1", 2, 10), entry("d/x/2", 3, 20),
                                 entry("d/y", 4, 5), entry("d-", 5, 7)};
    struct manifest m = build(&a, e, countof(e));
    struct manifest_item *items;
    size_t n;
    struct err err = {0};
    assert_true(manifest_list(&a, &m, STR(""), &items, &n, &err));
    assert_int_equal(n, 3);
    assert_true(items[0].folder && str_is(items[0].name, "d"));
    assert_int_equal(items[0].files, 3);
    assert_int_equal(items[0].size, 35);
    assert_true(str_is(items[1].name, "d-") && str_is(items[2].name, "z"));
    assert_true(manifest_list(&a, &m, STR("d"), &items, &n, &err));
    assert_int_equal(n, 2);
    assert_false(manifest_list(&a, &m, STR("nope"), &items, &n, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_false(manifest_list(&a, &m, STR("../x"), &items, &n, &err));
}

static void test_comparing(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct manifest_entry e1[] = {entry("a", 1, 1), entry("b", 2, 1), entry("c", 3, 1)};
    struct manifest_entry e2[] = {entry("b", 9, 1), entry("c", 3, 1), entry("d", 4, 1)};
    struct manifest x = build(&a, e1, 3), y = build(&a, e2, 3);
    struct manifest_diff *diff;
    size_t n;
    manifest_compare(&a, &x, &y, &diff, &n);
    assert_int_equal(n, 3);
    assert_int_equal(diff[0].change, MANIFEST_REMOVED);
    assert_int_equal(diff[1].change, MANIFEST_CHANGED);
    assert_int_equal(diff[2].change, MANIFEST_ADDED);
    assert_true(str_is(diff[2].after->path, "d"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_canonical),
        cmocka_unit_test(test_bad_paths_are_refused),
        cmocka_unit_test(test_listing_a_folder),
        cmocka_unit_test(test_comparing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
