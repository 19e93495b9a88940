/* Callers and their permissions over a real database: the caches and what ends them. */
#include "base/fs.h"
#include "core/account/state.h"
#include "core/engine.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <cmocka.h>

struct place {
    char dir[64];
    struct core *core;
    struct arena arena;
};

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    arena_init(&p->arena);
    strcpy(p->dir, "/tmp/ingot-test-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    setenv("INGOT_ADMIN_PASSWORD", "the first password", 1);
    struct core_options o = {.data = p->dir};
    const char *password = "";
    struct err err = {0};
    p->core = core_open(&o, &p->arena, &password, &err);
    if (!p->core)
        fail_msg("%s", err.message);
    assert_null(password);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    core_close(p->core);
    assert_true(fs_remove_tree(AT_FDCWD, p->dir, &err));
    arena_release(&p->arena);
    free(p);
    return 0;
}

/* --- helpers that must succeed --- */
static struct object make(struct place *p, const struct caller *c, const struct kind *k, int64_t parent,
                          const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *json = arena_vprintf(&p->arena, fmt, args);
    va_end(args);
    struct err err = {0};
    struct object o;
    yyjson_val *body = json_parse(&p->arena, str_of(json), &err);
    if (!body || !engine_create(p->core, c, k, parent, body, &p->arena, &o, &err))
        fail_msg("%s: %s", json, err.message);
    return o;
}

static enum err_code change(struct place *p, const struct caller *c, const struct object *o, const char *json)
{
    struct err err = {0};
    struct object ret;
    yyjson_val *body = json_parse(&p->arena, str_of(json), &err);
    assert_non_null(body);
    return engine_update(p->core, c, o->kind, o->parent, o->id, 0, body, &p->arena, &ret, &err) ? ERR_NONE
                                                                                                : err.code;
}

static enum err_code drop(struct place *p, const struct caller *c, const struct object *o)
{
    struct err err = {0};
    struct str refs;
    return engine_delete(p->core, c, o->kind, o->parent, o->id, 0, &p->arena, &refs, &err) ? ERR_NONE
                                                                                           : err.code;
}

static struct caller as(struct place *p, int64_t user)
{
    struct caller c;
    struct err err = {0};
    if (!accounts_caller_of(p->core->accounts, user, &c, &err))
        fail_msg("%s", err.message);
    return c;
}

static enum err_code sign_in(struct place *p, const char *name, const char *password,
                             char secret[ACCOUNTS_SECRET_MAX])
{
    struct sign_in s = {str_of(name), str_of(password), "10.0.0.1", STR("a browser")};
    struct err err = {0};
    unsigned wait;
    return accounts_sign_in(p->core, &s, secret, &wait, &err) ? ERR_NONE : err.code;
}

static bool resolves(struct place *p, const char *secret, bool cookie)
{
    struct caller c;
    struct err err = {0};
    bool ok = accounts_resolve(p->core->accounts, str_of(secret), cookie, &c, &err);
    if (ok)
        accounts_caller_release(p->core->accounts, &c);
    else
        assert_int_equal(err.code, ERR_UNAUTHORIZED);
    return ok;
}

static enum auth peek(struct place *p, const char *secret, bool cookie)
{
    struct caller c = {0};
    enum auth result = accounts_peek(p->core->accounts, str_of(secret), cookie, &c);
    accounts_caller_release(p->core->accounts, &c);
    return result;
}

/* --- tests --- */
static void test_sign_in(void **state)
{
    struct place *p = *state;
    char secret[ACCOUNTS_SECRET_MAX], other[ACCOUNTS_SECRET_MAX];
    struct caller c;
    struct err err = {0};
    assert_int_equal(sign_in(p, "admin", "wrong", secret), ERR_UNAUTHORIZED);
    assert_int_equal(sign_in(p, "nobody", "wrong", secret), ERR_UNAUTHORIZED);
    assert_int_equal(sign_in(p, "admin", "the first password", secret), ERR_NONE);
    assert_int_equal(peek(p, secret, true), AUTH_UNKNOWN);
    assert_true(accounts_resolve(p->core->accounts, str_of(secret), true, &c, &err));
    assert_string_equal(c.name, "admin");
    assert_true(c.administrator && c.session && !c.token);
    assert_true(caller_may(&c, "user.delete", 0) && caller_may(&c, "label_set.create", 77));
    assert_int_equal(peek(p, secret, true), AUTH_HIT);
    assert_int_equal(peek(p, secret, false), AUTH_NONE);
    assert_int_equal(sign_in(p, "admin", "the first password", other), ERR_NONE);
    assert_true(accounts_sign_out(p->core, &c, &err));
    assert_int_equal(peek(p, secret, true), AUTH_UNKNOWN);
    assert_false(resolves(p, secret, true));
    assert_true(resolves(p, other, true));
    accounts_caller_release(p->core->accounts, &c);
    assert_int_equal(c.user, 0);
}

static void test_password_change_ends_sessions(void **state)
{
    struct place *p = *state;
    char one[ACCOUNTS_SECRET_MAX], two[ACCOUNTS_SECRET_MAX];
    struct err err = {0};
    struct caller c;
    make(p, &caller_system, &kind_user, 0, "{\"name\":\"pat\",\"password\":\"secret1\"}");
    assert_int_equal(sign_in(p, "pat", "secret1", one), ERR_NONE);
    assert_int_equal(sign_in(p, "pat", "secret1", two), ERR_NONE);
    assert_true(resolves(p, one, true));
    assert_true(accounts_resolve(p->core->accounts, str_of(two), true, &c, &err));
    assert_false(accounts_change_password(p->core, &c, STR("secret0"), STR("secret2"), &err));
    assert_string_equal(err.field, "old");
    assert_true(accounts_change_password(p->core, &c, STR("secret1"), STR("secret2"), &err));
    accounts_caller_release(p->core->accounts, &c);
    assert_false(resolves(p, one, true));
    assert_false(resolves(p, two, true));
    assert_int_equal(sign_in(p, "pat", "secret1", one), ERR_UNAUTHORIZED);
    assert_int_equal(sign_in(p, "pat", "secret2", one), ERR_NONE);
}

static void test_roles(void **state)
{
    struct place *p = *state;
    struct object eve = make(p, &caller_system, &kind_user, 0, "{\"name\":\"eve\",\"password\":\"secret1\"}");
    struct object project = make(p, &caller_system, &kind_project, 0, "{\"name\":\"alpha\"}");
    struct object role =
        make(p, &caller_system, &kind_role, 0, "{\"name\":\"labeller\",\"permissions\":[\"label_set.*\"]}");
    struct object group = make(p, &caller_system, &kind_group, 0, "{\"name\":\"team\"}");
    struct caller c = as(p, eve.id);
    struct err err = {0};
    assert_false(caller_in_project(&c, project.id));
    assert_false(caller_need(&c, "label_set.read", project.id, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_false(caller_need(&c, "project.create", 0, &err));
    assert_int_equal(err.code, ERR_FORBIDDEN);
    assert_string_equal(err.field, "project.create");
    accounts_caller_release(p->core->accounts, &c);

    make(p, &caller_system, &kind_group_member, group.id, "{\"user\":%lld}", (long long)eve.id);
    struct object member = make(p, &caller_system, &kind_member, project.id, "{\"group\":%lld,\"role\":%lld}",
                                (long long)group.id, (long long)role.id);
    c = as(p, eve.id);
    assert_true(caller_may(&c, "label_set.create", project.id));
    assert_false(caller_may(&c, "label_set.create", 0));
    assert_false(caller_need(&c, "member.create", project.id, &err));
    assert_int_equal(err.code, ERR_FORBIDDEN);
    accounts_caller_release(p->core->accounts, &c);

    assert_int_equal(change(p, &caller_system, &role, "{\"permissions\":[\"*.read\"]}"), ERR_NONE);
    c = as(p, eve.id);
    assert_true(caller_may(&c, "label_set.read", project.id));
    assert_false(caller_may(&c, "label_set.create", project.id));
    accounts_caller_release(p->core->accounts, &c);
    assert_int_equal(drop(p, &caller_system, &role), ERR_CONFLICT);
    assert_int_equal(drop(p, &caller_system, &member), ERR_NONE);
    assert_int_equal(drop(p, &caller_system, &role), ERR_NONE);
}

static void test_owner(void **state)
{
    struct place *p = *state;
    struct object role =
        make(p, &caller_system, &kind_role, 0, "{\"name\":\"founder\",\"permissions\":[\"project.create\"]}");
    struct object ann =
        make(p, &caller_system, &kind_user, 0,
             "{\"name\":\"ann\",\"password\":\"secret1\",\"platform_role\":%lld}", (long long)role.id);
    struct caller c = as(p, ann.id);
    struct object project = make(p, &c, &kind_project, 0, "{\"name\":\"beta\"}");
    assert_false(caller_may(&c, "project.update", project.id));
    accounts_caller_release(p->core->accounts, &c);
    c = as(p, ann.id);
    assert_true(caller_may(&c, "project.update", project.id) && caller_may(&c, "member.create", project.id));
    assert_true(caller_may(&c, "user.read", 0));
    assert_false(caller_may(&c, "user.update", 0));
    /* A founder cannot make themself an administrator, nor a role beyond their own. */
    assert_int_equal(change(p, &c, &ann, "{\"administrator\":true}"), ERR_FORBIDDEN);
    assert_int_equal(drop(p, &c, &project), ERR_NONE);
    accounts_caller_release(p->core->accounts, &c);
}

static void test_last_administrator(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct object admin = make(p, &caller_system, &kind_user, 0,
                               "{\"name\":\"root\",\"password\":\"secret1\",\"administrator\":true}");
    struct object first;
    struct caller c = as(p, admin.id);
    assert_true(engine_get(p->core, &c, &kind_user, 0, 1, &p->arena, &first, &err));
    assert_int_equal(drop(p, &c, &admin), ERR_CONFLICT);
    assert_int_equal(change(p, &c, &first, "{\"disabled\":true}"), ERR_NONE);
    assert_int_equal(change(p, &c, &admin, "{\"administrator\":false}"), ERR_CONFLICT);
    assert_int_equal(change(p, &c, &admin, "{\"disabled\":true}"), ERR_CONFLICT);
    assert_int_equal(drop(p, &caller_system, &admin), ERR_CONFLICT);
    assert_int_equal(change(p, &c, &first, "{\"disabled\":false}"), ERR_NONE);
    accounts_caller_release(p->core->accounts, &c);
    assert_int_equal(drop(p, &caller_system, &admin), ERR_NONE);
}

static void test_tokens(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct caller admin = as(p, 1), c;
    struct object token =
        make(p, &admin, &kind_token, 0, "{\"name\":\"ci\",\"scopes\":[\"*.read\",\"token.create\"]}");
    const char *secret = arena_strz(&p->arena, object_text(&token, "secret"));
    assert_int_equal(strlen(secret), 49);
    assert_true(accounts_resolve(p->core->accounts, str_of(secret), false, &c, &err));
    assert_int_equal(peek(p, secret, false), AUTH_HIT);
    assert_true(c.token == token.id && !c.session && !c.administrator);
    assert_true(caller_may(&c, "user.read", 0) && caller_may(&c, "label_set.read", 5));
    assert_false(caller_may(&c, "user.create", 0) || caller_may(&c, "label_set.create", 5));
    make(p, &c, &kind_token, 0, "{\"name\":\"narrower\",\"scopes\":[\"label_set.read\"]}");
    static const char *const wider[] = {"{\"name\":\"x\"}", "{\"name\":\"x\",\"scopes\":[\"user.*\"]}",
                                        "{\"name\":\"x\",\"scopes\":[]}"};
    for (size_t i = 0; i < countof(wider); i++) {
        struct object o;
        yyjson_val *body = json_parse(&p->arena, str_of(wider[i]), &err);
        assert_false(engine_create(p->core, &c, &kind_token, 0, body, &p->arena, &o, &err));
        assert_int_equal(err.code, ERR_FORBIDDEN);
    }
    accounts_caller_release(p->core->accounts, &c);
    assert_int_equal(drop(p, &admin, &token), ERR_NONE);
    assert_int_equal(peek(p, secret, false), AUTH_UNKNOWN);
    assert_false(resolves(p, secret, false));
    accounts_caller_release(p->core->accounts, &admin);
}

static void test_disabled(void **state)
{
    struct place *p = *state;
    char secret[ACCOUNTS_SECRET_MAX];
    struct object kim = make(p, &caller_system, &kind_user, 0, "{\"name\":\"kim\",\"password\":\"secret1\"}");
    struct caller c = as(p, kim.id);
    struct object token = make(p, &c, &kind_token, 0, "{\"name\":\"t\"}");
    const char *bearer = arena_strz(&p->arena, object_text(&token, "secret"));
    accounts_caller_release(p->core->accounts, &c);
    assert_int_equal(sign_in(p, "kim", "secret1", secret), ERR_NONE);
    assert_true(resolves(p, secret, true) && resolves(p, bearer, false));
    assert_int_equal(change(p, &caller_system, &kim, "{\"disabled\":true}"), ERR_NONE);
    assert_int_not_equal(peek(p, secret, true), AUTH_HIT);
    assert_false(resolves(p, secret, true) || resolves(p, bearer, false));
    assert_int_equal(sign_in(p, "kim", "secret1", secret), ERR_UNAUTHORIZED);
    assert_int_equal(change(p, &caller_system, &kim, "{\"disabled\":false}"), ERR_NONE);
    assert_false(resolves(p, bearer, false));
    assert_int_equal(sign_in(p, "kim", "secret1", secret), ERR_NONE);
    assert_int_equal(drop(p, &caller_system, &kim), ERR_NONE);
    assert_false(resolves(p, secret, true));
}

static bool run_sql(struct db_conn *c, void *ctx, struct err *err)
{
    return conn_exec(c, ctx, DB_NO_ARGS, NULL, err);
}

static void sql(struct place *p, const char *text)
{
    struct err err = {0};
    if (!db_write(p->core->db, run_sql, (void *)text, &err))
        fail_msg("%s: %s", text, err.message);
}

static int64_t count(struct place *p, const char *text)
{
    struct db_row row;
    bool found;
    struct err err = {0};
    assert_true(db_query_one(p->core->db, &p->arena, text, DB_NO_ARGS, &row, &found, &err));
    return row.v[0].i;
}

/* Rows as they are after a time without requests; the clock itself is not touched. */
static void test_session_expiry(void **state)
{
    struct place *p = *state;
    char idle[ACCOUNTS_SECRET_MAX], old[ACCOUNTS_SECRET_MAX], fresh[ACCOUNTS_SECRET_MAX];
    make(p, &caller_system, &kind_user, 0, "{\"name\":\"ida\",\"password\":\"secret1\"}");
    assert_int_equal(sign_in(p, "ida", "secret1", idle), ERR_NONE);
    sql(p, "UPDATE sessions SET agent = 'idle' WHERE id = (SELECT MAX(id) FROM sessions)");
    assert_int_equal(sign_in(p, "ida", "secret1", old), ERR_NONE);
    sql(p, "UPDATE sessions SET agent = 'old' WHERE id = (SELECT MAX(id) FROM sessions)");
    assert_int_equal(sign_in(p, "ida", "secret1", fresh), ERR_NONE);
    sql(p, "UPDATE sessions SET agent = 'fresh' WHERE id = (SELECT MAX(id) FROM sessions)");
    sql(p, "UPDATE sessions SET last_used_at = last_used_at - 43201000000 WHERE agent = 'idle'");
    sql(p, "UPDATE sessions SET expires_at = expires_at - 604801000000 WHERE agent = 'old'");
    assert_false(resolves(p, idle, true) || resolves(p, old, true));
    assert_true(resolves(p, fresh, true));
    assert_true(credentials_store(p->core->accounts, false, NULL));
    assert_int_equal(count(p, "SELECT COUNT(*) FROM sessions WHERE agent IN ('idle', 'old')"), 0);
    assert_int_equal(count(p, "SELECT COUNT(*) FROM sessions WHERE agent = 'fresh'"), 1);
}

static void test_last_used(void **state)
{
    struct place *p = *state;
    struct caller admin = as(p, 1);
    struct object token = make(p, &admin, &kind_token, 0, "{\"name\":\"used\"}");
    const char *secret = arena_strz(&p->arena, object_text(&token, "secret"));
    assert_true(resolves(p, secret, false));
    assert_true(credentials_store(p->core->accounts, true, NULL));
    const char *query =
        arena_printf(&p->arena, "SELECT last_used_at FROM tokens WHERE id = %lld", (long long)token.id);
    int64_t first = count(p, query);
    assert_true(first > 0);
    /* Within the minute nothing more is written, however often it is used. */
    for (int i = 0; i < 100; i++)
        assert_int_equal(peek(p, secret, false), AUTH_HIT);
    assert_true(credentials_store(p->core->accounts, false, NULL));
    int64_t later = count(p, query);
    assert_true(later == first || later - first >= 60 * SECOND);
    accounts_caller_release(p->core->accounts, &admin);
}

static void test_malformed(void **state)
{
    struct place *p = *state;
    static const char *const texts[] = {"",
                                        "ingot_",
                                        "x",
                                        "ingot_short",
                                        "ingot_\n",
                                        "Bearer",
                                        "ingot_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                                        "ingot_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
    for (size_t i = 0; i < countof(texts); i++) {
        assert_int_equal(peek(p, texts[i], false), AUTH_NONE);
        assert_false(resolves(p, texts[i], false));
        assert_int_equal(peek(p, texts[i], true), AUTH_NONE);
    }
    assert_int_equal(peek(p, "ingot_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false), AUTH_UNKNOWN);
    assert_false(resolves(p, "ingot_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false));
}

/* Readers on several threads while grants change and the token is revoked: once the deletion has returned, no
 * thread gets in. */
struct race {
    struct place *p;
    const char *secret;
    atomic_bool stop, revoked;
    atomic_int wrong, hits;
};

static void *reader(void *arg)
{
    struct race *r = arg;
    struct accounts *acc = r->p->core->accounts;
    while (!atomic_load(&r->stop)) {
        bool revoked = atomic_load(&r->revoked);
        struct caller c = {0};
        struct err err = {0};
        enum auth result = accounts_peek(acc, str_of(r->secret), false, &c);
        if (result == AUTH_UNKNOWN && accounts_resolve(acc, str_of(r->secret), false, &c, &err))
            result = AUTH_HIT;
        if (result == AUTH_HIT) {
            atomic_fetch_add(&r->hits, 1);
            if (revoked || strcmp(c.name, "admin") != 0 || !caller_may(&c, "user.read", 0))
                atomic_fetch_add(&r->wrong, 1);
        }
        accounts_caller_release(acc, &c);
    }
    return NULL;
}

static void test_race(void **state)
{
    struct place *p = *state;
    struct caller admin = as(p, 1);
    for (int round = 0; round < 5; round++) {
        struct object token = make(p, &admin, &kind_token, 0, "{\"name\":\"t\"}");
        struct race r = {.p = p, .secret = arena_strz(&p->arena, object_text(&token, "secret"))};
        pthread_t threads[3];
        for (size_t i = 0; i < countof(threads); i++)
            assert_int_equal(pthread_create(&threads[i], NULL, reader, &r), 0);
        while (atomic_load(&r.hits) < 50)
            usleep(100);
        for (int i = 0; i < 20; i++)
            accounts_grants_changed(p->core);
        assert_int_equal(drop(p, &admin, &token), ERR_NONE);
        atomic_store(&r.revoked, true);
        for (int i = 0; i < 20; i++)
            assert_int_not_equal(peek(p, r.secret, false), AUTH_HIT);
        atomic_store(&r.stop, true);
        for (size_t i = 0; i < countof(threads); i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(atomic_load(&r.wrong), 0);
    }
    accounts_caller_release(p->core->accounts, &admin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sign_in),
        cmocka_unit_test(test_password_change_ends_sessions),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_last_administrator),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_session_expiry),
        cmocka_unit_test(test_last_used),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_race),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
