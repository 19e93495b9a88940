#include "base/charset.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void converts(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct str s = STR("untouched");
    assert_true(charset_to_utf8(&a, "GB18030", STR("\xc3\xa8\xb9\xb7.png"), &s));
    assert_true(str_is(s, "猫狗.png"));
    assert_true(charset_to_utf8(&a, "UTF-16", STR("\xff\xfe\x2b\x73"), &s));
    assert_true(str_is(s, "猫"));
    assert_true(charset_to_utf8(&a, "GB18030", STR(""), &s) && s.n == 0);
}

static void refuses(void **state)
{
    (void)state;
    auto_arena struct arena a;
    arena_init(&a);
    struct str s = STR("untouched");
    assert_false(charset_to_utf8(&a, "no such charset", STR("a"), &s));
    assert_false(charset_to_utf8(&a, "GB18030", STR("\xff\xff"), &s));
    assert_false(charset_to_utf8(&a, "GB18030", STR("a\xc3"), &s)); /* cut off */
    assert_true(str_is(s, "untouched"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
