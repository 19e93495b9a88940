#include "cli/args.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct flag flags[] = {
    {"limit", 'l', FLAG_VALUE, "N", "", NULL},
    {"all", 'a', FLAG_SWITCH, NULL, "", NULL},
    {"public", 0, FLAG_OPTIONAL, NULL, "", NULL},
};

struct fixture {
    struct arena arena;
    struct args args;
    struct err err;
};

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    arena_init(&f.arena);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    arena_release(&((struct fixture *)*state)->arena);
    return 0;
}

#define parse(f, ...)                                                                                        \
    args_parse(&(f)->arena, flags, countof(flags), (int)countof(((char *[]){__VA_ARGS__})),                  \
               (char *[]){__VA_ARGS__}, &(f)->args, &(f)->err)

static void all_forms_of_flags(void **state)
{
    struct fixture *f = *state;
    assert_true(parse(f, "one", "--limit", "5", "-a", "--public=false", "two", "--", "--all"));
    assert_int_equal(f->args.word_count, 3);
    assert_string_equal(f->args.words[0], "one");
    assert_string_equal(f->args.words[2], "--all");
    assert_string_equal(args_value(&f->args, "limit"), "5");
    assert_string_equal(args_value(&f->args, "public"), "false");
    assert_true(args_has(&f->args, "all"));
    assert_true(parse(f, "--limit=7", "-l8", "-l=9", "--public", "-"));
    assert_string_equal(args_value(&f->args, "limit"), "9");
    assert_true(args_has(&f->args, "public"));
    assert_null(args_value(&f->args, "public"));
    assert_string_equal(f->args.words[0], "-");
    assert_true(parse(f, "-aal3", "-aa"));
    assert_string_equal(args_value(&f->args, "limit"), "3");
    assert_int_equal(f->args.given_count, 5);
    assert_false(parse(f, "-ax"));
    assert_string_equal(f->err.message, "unknown flag -x");
}

static void mistakes_are_named(void **state)
{
    struct fixture *f = *state;
    assert_false(parse(f, "--limt", "5"));
    assert_string_equal(f->err.message, "unknown flag --limt; did you mean --limit?");
    assert_int_equal(f->err.code, ERR_MALFORMED);
    assert_false(parse(f, "--limit"));
    assert_string_equal(f->err.message, "--limit needs a value: --limit N");
    assert_false(parse(f, "--all=yes"));
    assert_string_equal(f->err.message, "--all takes no value");
    assert_false(parse(f, "-x"));
    assert_string_equal(f->err.message, "unknown flag -x");
}

static void numbers_have_a_range(void **state)
{
    struct fixture *f = *state;
    int64_t n = 20;
    assert_true(parse(f, "x"));
    assert_true(args_int(&f->args, "limit", 1, 200, &n, &f->err));
    assert_int_equal(n, 20);
    assert_true(parse(f, "--limit", "200"));
    assert_true(args_int(&f->args, "limit", 1, 200, &n, &f->err));
    assert_int_equal(n, 200);
    static const char *const bad[] = {"0", "201", "-1", "x", "", "1e3", "99999999999999999999"};
    for (size_t i = 0; i < countof(bad); i++) {
        assert_true(parse(f, "--limit", (char *)bad[i]));
        assert_false(args_int(&f->args, "limit", 1, 200, &n, &f->err));
        assert_int_equal(n, 200);
    }
}

static void words_are_counted(void **state)
{
    struct fixture *f = *state;
    assert_true(parse(f, "a", "b"));
    assert_true(args_count(&f->args, 1, 2, "x", &f->err));
    assert_false(args_count(&f->args, 3, 3, "ingot x A B C", &f->err));
    assert_false(args_count(&f->args, 0, 1, "ingot x A", &f->err));
    assert_string_equal(f->err.message, "\"b\" is one word too many; usage: ingot x A");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_forms_of_flags, setup, teardown),
        cmocka_unit_test_setup_teardown(mistakes_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_have_a_range, setup, teardown),
        cmocka_unit_test_setup_teardown(words_are_counted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
