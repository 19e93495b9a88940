/* Whose turn it is. */
#include "base/fair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct fair_item items[64];
static size_t used;

static struct fair_item *add(struct fair *f, int64_t project, int64_t user)
{
    struct fair_item *i = &items[used++];
    *i = (struct fair_item){project, user, NULL};
    assert_true(fair_add(f, i));
    return i;
}

/* "1a 2b ": a turn of user a in project 1, and so on. */
static void assert_turns(struct fair *f, size_t n, const char *expected)
{
    char text[256] = "";
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const struct fair_item *one = fair_take(f);
        assert_non_null(one);
        at += (size_t)snprintf(text + at, sizeof text - at, "%d%c ", (int)one->project, (char)one->user);
    }
    assert_string_equal(text, expected);
}

static int begin(void **state)
{
    used = 0;
    *state = fair_new(8, 20);
    return 0;
}

static int finish(void **state)
{
    fair_free(*state);
    return 0;
}

static void test_turns_by_project_then_user(void **state)
{
    struct fair *f = *state;
    for (int i = 0; i < 4; i++)
        add(f, 1, 'a');
    assert_turns(f, 1, "1a ");
    add(f, 1, 'b');
    add(f, 2, 'c');
    add(f, 2, 'c');
    add(f, 2, 'c');
    assert_turns(f, 7, "2c 1b 2c 1a 2c 1a 1a ");
    assert_null(fair_take(f));
}

/* Who asks for one at a time, and comes back at once, gets every second turn and not each. */
static void test_nobody_gains_by_coming_anew(void **state)
{
    struct fair *f = *state;
    for (int i = 0; i < 5; i++)
        add(f, 1, 'a');
    assert_turns(f, 1, "1a ");
    size_t twice = 0;
    int64_t last = 1;
    for (int i = 0; i < 8; i++) {
        if (i % 2 == 0)
            add(f, 2, 'b');
        const struct fair_item *one = fair_take(f);
        twice += one->project == last;
        last = one->project;
    }
    assert_int_equal(twice, 0);
}

static void test_bounds(void **state)
{
    struct fair *f = *state;
    struct fair_item more = {1, 'a', NULL}, other = {3, 'z', NULL};
    for (int i = 0; i < 8; i++)
        add(f, 1, 'a');
    assert_false(fair_add(f, &more)); /* of the user */
    for (int i = 0; i < 12; i++)
        add(f, 2, 'b' + i);
    assert_false(fair_add(f, &other)); /* of all */
    assert_non_null(fair_take(f));
    assert_true(fair_add(f, &other));
}

static void test_leaving(void **state)
{
    struct fair *f = *state;
    struct fair_item *first = add(f, 1, 'a'), *middle = add(f, 1, 'a'), *last = add(f, 1, 'a');
    fair_remove(f, middle);
    fair_remove(f, last);
    struct fair_item *new_ = add(f, 1, 'a');
    assert_ptr_equal(fair_take(f), first);
    assert_ptr_equal(fair_take(f), new_);
    assert_null(fair_take(f));
    fair_remove(f, first); /* is none any more: nothing happens */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_turns_by_project_then_user, begin, finish),
        cmocka_unit_test_setup_teardown(test_nobody_gains_by_coming_anew, begin, finish),
        cmocka_unit_test_setup_teardown(test_bounds, begin, finish),
        cmocka_unit_test_setup_teardown(test_leaving, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
