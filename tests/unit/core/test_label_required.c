/* Attributes that labels require. */
#include "core/label/required.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char set[] =
    "[{\"name\":\"car\",\"attributes\":[{\"name\":\"colour\",\"type\":\"text\",\"required\":true},"
    "{\"name\":\"note\",\"type\":\"text\"}],\"children\":[{\"name\":\"van\",\"attributes\":[{\"name\":"
    "\"doors\",\"type\":\"number\",\"required\":true}]}]},{\"name\":\"tree\"},{\"name\":"
    "\"bus\",\"attributes\":[{\"name\":\"full\",\"type\":\"flag\",\"required\":true,\"default\":false}]}]";

static bool there(const char *annotation)
{
    auto_arena struct arena a;
    struct err err = {0};
    arena_init(&a);
    bool ok = required_there(&a, str_of(set), str_of(annotation), &err);
    assert_true(ok || err.code == ERR_INVALID);
    return ok;
}

static void shapes(void **state)
{
    (void)state;
    assert_true(there("{}"));
    assert_true(there("{\"shapes\":[{\"label\":\"tree\"},{\"label\":\"unknown\"}]}"));
    assert_false(there("{\"shapes\":[{\"label\":\"car\"}]}"));
    assert_false(there("{\"shapes\":[{\"label\":\"car\",\"attributes\":{\"note\":\"x\"}}]}"));
    assert_false(there("{\"shapes\":[{\"label\":\"car\",\"attributes\":{\"colour\":\"\"}}]}"));
    assert_true(there("{\"shapes\":[{\"label\":\"car\",\"attributes\":{\"colour\":\"red\"}}]}"));
}

static void defaults(void **state)
{
    (void)state;
    assert_true(there("{\"shapes\":[{\"label\":\"bus\"}]}"));
    assert_true(there("{\"labels\":[\"bus\"]}"));
}

static void children(void **state)
{
    (void)state;
    assert_false(there("{\"shapes\":[{\"label\":\"van\"}]}"));
    assert_false(there("{\"spans\":[{\"label\":\"car/van\"}]}"));
    assert_true(there("{\"shapes\":[{\"label\":\"van\",\"attributes\":{\"doors\":0}}]}"));
}

static void whole_samples(void **state)
{
    (void)state;
    assert_false(there("{\"labels\":[\"car\"]}"));
    assert_true(there("{\"attributes\":{\"colour\":\"red\"},\"labels\":[\"car\"]}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(defaults),
                                       cmocka_unit_test(children), cmocka_unit_test(whole_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
