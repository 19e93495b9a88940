/* Keep-alives of ssh, told from what is typed and printed by their shape. */
#include "core/environment/use.h"

#include <setjmp.h>
#include <stdarg.h>
/* after the ones above */
#include <cmocka.h>

#define MS      UINT64_C(1000000)
#define SECOND  (1000 * MS)
#define INWARD  true
#define OUTWARD false

/* A connection after its greetings. */
static struct use_talk open_talk(void)
{
    struct use_talk t = {0};
    assert_true(use_is_talk(&t, INWARD, 40, SECOND));
    assert_true(use_is_talk(&t, OUTWARD, 40, SECOND));
    assert_true(use_is_talk(&t, INWARD, 1500, SECOND + MS));
    assert_true(use_is_talk(&t, OUTWARD, 1500, SECOND + MS));
    return t;
}

static void keep_alives_are_no_use(void **state)
{
    (void)state;
    struct use_talk t = open_talk();
    for (uint64_t now = 10 * SECOND; now < 1000 * SECOND; now += SECOND) {
        assert_false(use_is_talk(&t, INWARD, 52, now));
        assert_false(use_is_talk(&t, OUTWARD, 28, now + MS));
    }
}

static void typing_is(void **state)
{
    (void)state;
    struct use_talk t = open_talk();
    assert_false(use_is_talk(&t, INWARD, 36, 10 * SECOND)); /* one key alone looks like a keep-alive */
    assert_false(use_is_talk(&t, OUTWARD, 36, 10 * SECOND + MS));
    assert_true(use_is_talk(&t, INWARD, 36, 10 * SECOND + 200 * MS));
    assert_true(use_is_talk(&t, OUTWARD, 36, 10 * SECOND + 201 * MS));
    assert_true(use_is_talk(&t, INWARD, 500, 20 * SECOND)); /* something pasted */
}

static void output_is(void **state)
{
    (void)state;
    struct use_talk t = open_talk();
    assert_true(use_is_talk(&t, OUTWARD, 36, 10 * SECOND)); /* a line now and then, to nobody's question */
    assert_true(use_is_talk(&t, OUTWARD, 36, 70 * SECOND));
    assert_false(use_is_talk(&t, INWARD, 52, 80 * SECOND));
    assert_true(use_is_talk(&t, OUTWARD, 5000, 80 * SECOND + MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keep_alives_are_no_use),
        cmocka_unit_test(typing_is),
        cmocka_unit_test(output_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
