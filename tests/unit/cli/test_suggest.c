#include "cli/suggest.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char *const words[] = {"project", "label-set", "user", "group", "list", "create", "delete"};

static const char *best(const char *word)
{
    struct suggest s = suggest_for(str_of(word));
    for (size_t i = 0; i < countof(words); i++)
        suggest_try(&s, words[i]);
    return suggest_best(&s);
}

static void finds_the_word_that_was_meant(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"projet", "project"}, {"porject", "project"}, {"lable-set", "label-set"}, {"usr", "user"},
                 {"craete", "create"},  {"proj", "project"},    {"delet", "delete"},        {"lis", "list"}};
    for (size_t i = 0; i < countof(cases); i++)
        assert_string_equal(best(cases[i].typed), cases[i].meant);
}

static void keeps_silent_when_nothing_is_near(void **state)
{
    (void)state;
    static const char *const none[] = {"", "x", "us", "zzzzzz", "kubernetes"};
    for (size_t i = 0; i < countof(none); i++)
        assert_null(best(none[i]));
    char long_word[4096];
    memset(long_word, 'p', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = 0;
    assert_null(best(long_word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_word_that_was_meant),
        cmocka_unit_test(keeps_silent_when_nothing_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
