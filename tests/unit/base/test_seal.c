/* Sealed texts: the key's file, round trips, and every changed byte. */
#include "base/fs.h"
#include "base/seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

static void test_the_key_is_made_once(void **state)
{
    (void)state;
    char dir[] = "/tmp/ingot-seal-XXXXXX";
    uint8_t a[SEAL_KEY], b[SEAL_KEY];
    struct err err = {0};
    struct stat st;
    assert_non_null(mkdtemp(dir));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(seal_key(fd, "key", a, &err));
    assert_true(seal_key(fd, "key", b, &err));
    assert_memory_equal(a, b, SEAL_KEY);
    assert_int_equal(fstatat(fd, "key", &st, 0), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_nlink, 1);
    assert_int_equal(ftruncate(openat(fd, "key", O_WRONLY | O_CLOEXEC), 5), 0);
    assert_false(seal_key(fd, "key", b, &err));
    close(fd);
    assert_true(fs_remove_tree(AT_FDCWD, dir, &err));
}

static void test_round_trips(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "x", "pass' word\"\\ 1",
                                        "密码密码密码密码密码密码密码密码密码密码"};
    uint8_t key[SEAL_KEY] = {1}, other[SEAL_KEY] = {2};
    struct arena a;
    struct str back;
    arena_init(&a);
    for (size_t i = 0; i < countof(texts); i++) {
        char *sealed = seal_text(&a, key, str_of(texts[i]));
        assert_string_not_equal(sealed, seal_text(&a, key, str_of(texts[i])));
        assert_true(seal_open(&a, key, str_of(sealed), &back));
        assert_true(str_eq(back, str_of(texts[i])));
        assert_false(seal_open(&a, other, str_of(sealed), &back));
        for (size_t k = 0; sealed[k]; k++) {
            char was = sealed[k];
            sealed[k] = was == 'A' ? 'Q' : 'A';
            assert_false(seal_open(&a, key, str_of(sealed), &back));
            sealed[k] = was;
        }
    }
    assert_false(seal_open(&a, key, STR("short"), &back));
    assert_false(seal_open(&a, key, STR(""), &back));
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_key_is_made_once),
                                       cmocka_unit_test(test_round_trips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
