/* Permissions, delays after failures, password hashes, providers' settings: what needs no database. */
#include "base/fs.h"
#include "core/account/external.h"
#include "core/account/failures.h"
#include "core/account/identity.h"
#include "core/account/password.h"
#include "core/account/permission.h"
#include "core/account/provider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)

/* --- permissions --- */
static bool holds(const struct permission_set *set, const char *name)
{
    return permission_has(set, permission_find(name));
}

static void test_permission_table(void **state)
{
    (void)state;
    assert_true(permission_count() > 20);
    for (size_t i = 1; i < permission_count(); i++)
        assert_true(strcmp(permission_at(i - 1)->name, permission_at(i)->name) < 0);
    assert_true(permission_find("user.reset-password") >= 0);
    assert_true(permission_find("label_set.create") >= 0);
    assert_true(permission_find("token.update") < 0);
    assert_true(permission_find("") < 0);
    const struct permission *p = permission_at((size_t)permission_find("label_set.create"));
    assert_true(p->in_project);
    assert_string_equal(p->title.en, "Label set: Create");
    assert_false(permission_at((size_t)permission_find("project.create"))->in_project);
    assert_true(permission_at((size_t)permission_find("project.update"))->in_project);
    assert_true(permission_at((size_t)permission_find("member.create"))->in_project);
    assert_false(permission_at((size_t)permission_find("group_member.create"))->in_project);
}

static void test_permission_patterns(void **state)
{
    (void)state;
    struct permission_set set = {{0}};
    assert_true(permission_match(STR("label_set.*"), &set));
    assert_true(holds(&set, "label_set.read") && holds(&set, "label_set.delete"));
    assert_false(holds(&set, "user.read"));
    assert_true(permission_match(STR("*.read"), &set));
    assert_true(holds(&set, "user.read"));
    assert_false(holds(&set, "user.update"));
    struct permission_set all = {{0}};
    assert_true(permission_match(STR("*"), &all));
    assert_true(permission_contains(&all, &set));
    assert_false(permission_contains(&set, &all));
    static const char *const wrong[] = {"",      ".",        "*.", ".*",          "user",
                                        "user.", "user.fly", "**", "user.read.x", "us*.read"};
    for (size_t i = 0; i < countof(wrong); i++)
        assert_false(permission_match(str_of(wrong[i]), &set));
}

static void test_permission_check(void **state)
{
    (void)state;
    struct arena auto_arena a;
    arena_init(&a);
    struct err err = {0};
    const struct field f = {.name = "scopes"};
    struct db_value good = db_textz("[\"label_set.*\",\"*.read\"]"),
                    bad = db_textz("[\"user.read\",\"user.fly\"]");
    assert_true(permission_check(&a, &f, &good, &err));
    assert_false(permission_check(&a, &f, &bad, &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_string_equal(err.field, "scopes");
    assert_non_null(strstr(err.message, "user.fly"));
}

/* --- failures --- */
static void test_failures_delay(void **state)
{
    (void)state;
    struct failures *f = failures_new();
    struct str name = STR("ann"), here = STR("10.0.0.1"), there = STR("10.0.0.2");
    int64_t now = 1000 * SECOND;
    for (int i = 0; i < FAILURES_FREE - 1; i++) {
        failures_add(f, name, here, now);
        assert_int_equal(failures_wait(f, name, here, now), 0);
    }
    failures_add(f, name, here, now);
    assert_int_equal(failures_wait(f, name, here, now), 1);
    assert_int_equal(failures_wait(f, STR("ANN"), here, now), 1);
    assert_int_equal(failures_wait(f, name, there, now), 0);
    assert_int_equal(failures_wait(f, STR("bob"), here, now), 0);
    now += SECOND;
    assert_int_equal(failures_wait(f, name, here, now), 0);
    failures_add(f, name, here, now);
    assert_int_equal(failures_wait(f, name, here, now), 2);
    for (int i = 0; i < 40; i++)
        failures_add(f, name, here, now);
    assert_int_equal(failures_wait(f, name, here, now), 900);
    /* From everywhere together: patient, but not blind. */
    assert_int_equal(failures_wait(f, name, there, now), 60);
    failures_clear(f, name, here);
    assert_int_equal(failures_wait(f, name, here, now), 60);
    failures_free(f);
}

static void test_failures_bounded(void **state)
{
    (void)state;
    struct failures *f = failures_new();
    char name[32];
    for (int i = 0; i < 50000; i++) {
        snprintf(name, sizeof name, "user%d", i);
        failures_add(f, str_of(name), STR("::1"), i);
    }
    for (int i = 0; i < FAILURES_FREE; i++)
        failures_add(f, STR("last"), STR("::1"), 60000 + i);
    assert_int_equal(failures_wait(f, STR("last"), STR("::1"), 60010), 1);
    failures_free(f);
}

/* --- passwords --- */
static void test_password(void **state)
{
    (void)state;
    struct arena auto_arena a;
    arena_init(&a);
    struct err err = {0};
    struct str hash, again;
    bool right;
    assert_true(password_hash(&a, STR("correct horse"), &hash, &err));
    assert_true(password_hash(&a, STR("correct horse"), &again, &err));
    assert_true(str_starts(hash, "$argon2id$v=19$m=19456,t=2,p=1$"));
    assert_false(str_eq(hash, again));
    assert_true(password_verify(hash, STR("correct horse"), NULL, NULL, &right, &err) && right);
    assert_true(password_verify(hash, STR("correct horsE"), NULL, NULL, &right, &err) && !right);
    assert_true(password_verify(STR_NULL, STR("anything"), NULL, NULL, &right, &err) && !right);
    assert_true(password_verify(STR("no hash"), STR("anything"), NULL, NULL, &right, &err) && !right);
}

static void test_password_rule(void **state)
{
    (void)state;
    struct err err = {0};
    char text[400];
    memset(text, 'x', sizeof text);
    assert_true(password_rule(STR("六个字符的密"), "password", &err));
    assert_false(password_rule(STR("五个字符的"), "password", &err));
    assert_string_equal(err.field, "password");
    assert_true(password_rule((struct str){text, 128}, "password", &err));
    assert_false(password_rule((struct str){text, 129}, "password", &err));
    assert_false(password_rule(STR("abc\xff"
                                   "def"),
                               "password", &err));
    char one[PASSWORD_TEXT], two[PASSWORD_TEXT];
    password_generate(one);
    password_generate(two);
    assert_true(password_rule(str_of(one), "password", &err));
    assert_string_not_equal(one, two);
}

/* --- providers --- */
static struct providers *load(const char *json, struct err *err)
{
    char path[] = "/tmp/ingot-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(fs_write_all(fd, json, strlen(json), err));
    close(fd);
    *err = (struct err){0};
    struct providers *p = providers_load(path, err);
    unlink(path);
    return p;
}

#define PROVIDER(more) "{\"sign_in\":{\"providers\":[{\"id\":\"corp\",\"client_id\":\"ingot\"" more "}]}}"

static void test_providers(void **state)
{
    (void)state;
    struct err err = {0};
    struct providers *p = providers_load(NULL, &err);
    assert_int_equal(p->count, 0);
    assert_true(p->password);
    providers_free(p);
    setenv("INGOT_TEST_SECRET", "s3cret", 1);
    p = load(PROVIDER(",\"issuer\":\"https://id.example\",\"client_secret\":\"env:INGOT_TEST_SECRET\","
                      "\"allowed_domains\":[\"example.org\"],\"create_users\":false"),
             &err);
    assert_non_null(p);
    struct provider *corp = providers_find(p, STR("corp"));
    assert_true(corp->oidc && !corp->create_users);
    assert_string_equal(corp->title, "corp");
    assert_string_equal(corp->client_secret, "s3cret");
    assert_string_equal(corp->scopes, "openid profile email");
    assert_string_equal(corp->allowed_domains[0], "example.org");
    assert_null(providers_find(p, STR("other")));
    providers_free(p);
}

static void test_providers_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json, *field;
    } cases[] = {
        {PROVIDER(""), "issuer"},
        {PROVIDER(",\"issuer\":\"http://id.example\""), "issuer"},
        {PROVIDER(",\"issuer\":\"http://localhost.evil.example\""), "issuer"},
        {PROVIDER(",\"issuer\":7"), "issuer"},
        {PROVIDER(",\"issuer\":\"https://id.example\",\"client_secret\":\"env:INGOT_TEST_UNSET\""),
         "client_secret"},
        {PROVIDER(",\"issuer\":\"https://id.example\",\"colour\":1"), "colour"},
        {PROVIDER(",\"issuer\":\"https://id.example\",\"type\":\"saml\""), "type"},
        {PROVIDER(",\"issuer\":\"https://id.example\",\"allowed_domains\":\"x\""), "allowed_domains"},
        {PROVIDER(",\"type\":\"oauth2\""), "authorize_url"},
        {"{\"sign_in\":{\"providers\":{}}}", "providers"},
        {"{\"sign_in\":[]}", "sign_in"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        struct err err;
        assert_null(load(cases[i].json, &err));
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.field, cases[i].field);
    }
}

static void test_next(void **state)
{
    (void)state;
    assert_true(external_next_ok(STR("/")));
    assert_true(external_next_ok(STR("/p/x?a=%2F#y")));
    static const char *const wrong[] = {
        "",        "x",    "//evil.example", "/\\evil.example", "https://evil.example",
        "/a\r\nb", "/a b", "javascript:x",   "\\/evil.example", "/x\\y",
        "/\x7f"};
    for (size_t i = 0; i < countof(wrong); i++)
        assert_false(external_next_ok(str_of(wrong[i])));
}

static void test_clean_name(void **state)
{
    (void)state;
    struct arena auto_arena a;
    arena_init(&a);
    assert_true(str_is(identity_clean_name(&a, STR(" a/b:c ")), "abc"));
    assert_true(str_is(identity_clean_name(&a, STR("///")), "user"));
    assert_true(str_is(identity_clean_name(&a, STR("张三")), "张三"));
    assert_true(str_is(identity_clean_name(&a, STR("a\nb\xff")), "user"));
    char text[400];
    memset(text, 'x', sizeof text);
    assert_int_equal(identity_clean_name(&a, (struct str){text, sizeof text}).n, 46);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permission_table),  cmocka_unit_test(test_permission_patterns),
        cmocka_unit_test(test_permission_check),  cmocka_unit_test(test_failures_delay),
        cmocka_unit_test(test_failures_bounded),  cmocka_unit_test(test_password),
        cmocka_unit_test(test_password_rule),     cmocka_unit_test(test_providers),
        cmocka_unit_test(test_providers_refused), cmocka_unit_test(test_next),
        cmocka_unit_test(test_clean_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
