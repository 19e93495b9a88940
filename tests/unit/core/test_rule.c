#include "core/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct one {
    const char *rule, *text;
    bool right;
};

static const struct one cases[] = {
    {"name", "a", true},
    {"name", "标签 组", true},
    {"name", "", true}, /* lengths are the field's */
    {"name", " ", false},
    {"name", " a", false},
    {"name", "a ", false},
    {"name", ".", false},
    {"name", "..", false},
    {"name", ".hidden", true},
    {"name", "a\u202eb", false}, /* turns round what follows */
    {"name", "\u200b", false},
    {"name", "👩\u200d🔬", true},
    {"name", "a/b", false},
    {"name", "a:b", false},
    {"name", "a|b", false},
    {"name", "it's", false},
    {"login", "ada.l@example", true},
    {"login", ".ada", false},
    {"login", "a b", false},
    {"login", "añ", false},
    {"email", "", true},
    {"email", "a@b", true},
    {"email", "a@b.example", true},
    {"email", "a@b@c", false},
    {"email", "@b", false},
    {"email", "a@", false},
    {"email", "a b@c", false},
    {"email", "a@.b", false},
    {"email", "a@b..c", false},
    {"email", "a@b>", false},
    {"color", "#1a2B3c", true},
    {"color", "#1a2b3", false},
    {"color", "#1a2b3g", false},
    {"color", "1a2b3c0", false},
    {"color", "#1234\xc3\xa9", false},
    {"key", "a", true},
    {"key", "0", true},
    {"key", "", true},
    {"key", "A", false},
    {"key", "ab", false},
    {"slug", "a-b", true},
    {"slug", "-a", false},
    {"slug", "a-", false},
    {"slug", "a_b", false},
    {"image-name", "library/py-torch_2.1", true},
    {"image-name", "/a", false},
    {"image-name", "a/", false},
    {"image-name", "a//b", false},
    {"image-name", "a/../b", false},
    {"image-name", "A", false},
    {"image-tag", "v1.2-RC_3", true},
    {"image-tag", ".a", false},
    {"image-tag", "a:b", false},
    {"language", "zh", true},
    {"language", "fr", false},
    {"permission", "*", true},
    {"permission", "dataset.*", true},
    {"permission", "*.read", true},
    {"permission", "dataset", false},
    {"permission", "a.b.c", false},
    {"permission", ".read", false},
    {"permission", "A.read", false},
};

static void rules_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < countof(cases); i++) {
        const struct rule *r = rule_find(cases[i].rule);
        assert_non_null(r);
        struct err err = {0};
        if (rule_check(r, "field", str_of(cases[i].text), &err) != cases[i].right)
            fail_msg("%s: \"%s\" should be %s", cases[i].rule, cases[i].text,
                     cases[i].right ? "right" : "wrong");
        if (cases[i].right)
            continue;
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.field, "field");
        assert_non_null(strstr(err.message, r->says));
    }
}

static void unknown_rules_are_null(void **state)
{
    (void)state;
    assert_null(rule_find("nothing"));
    assert_null(rule_find(NULL));
}

static void long_values_are_shortened(void **state)
{
    (void)state;
    char shown[RULE_SHORT];
    auto_free char *text = base_alloc(400);
    for (size_t i = 0; i < 400; i += 4)
        memcpy(text + i, "\xf0\x9f\x98\x80", 4);
    rule_short((struct str){text, 400}, shown);
    assert_int_equal(utf8_count(str_of(shown)), 43); /* 40, the dots and two quotes */
    assert_true(utf8_valid(str_of(shown)));
    assert_string_equal(rule_short(STR_NULL, shown), "\"\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold),
        cmocka_unit_test(unknown_rules_are_null),
        cmocka_unit_test(long_values_are_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
