#include "base/clock.h"
#include "base/hash.h"
#include "core/account/password.h"
#include "core/account/provider.h"
#include "core/account/state.h"
#include "core/account/user.h"
#include "core/engine.h"

#define SESSIONS_MAX  100 /* per user; the ones used longest ago end first */
#define NAME_BYTES    200 /* more than any name */
#define PASSWORD_READ (4 * PASSWORD_MAX)
#define AGENT_BYTES   300

/* --- opening a session --- */
struct opening {
    struct core *core;
    const struct sign_in *s;
    const char *how, *hash;
    int64_t user;
    struct arena *arena;
};

static bool end_oldest(struct db_conn *c, int64_t user, struct err *err)
{
    return conn_exec(c,
                     "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE created_by = ? "
                     "ORDER BY last_used_at DESC, id DESC LIMIT 1000 OFFSET ?)",
                     db_args(db_int(user), db_int(SESSIONS_MAX)), NULL, err);
}

static struct str clean_agent(struct arena *a, struct str agent)
{
    if (agent.n > AGENT_BYTES)
        agent.n = AGENT_BYTES;
    char *text = arena_strz(a, agent);
    for (char *p = text; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    return str_of(text);
}

static bool write_session(struct db_conn *c, void *ctx, struct err *err)
{
    const struct opening *o = ctx;
    struct db_row row;
    bool found;
    if (!conn_query_one(c, o->arena, "SELECT name, disabled FROM users WHERE id = ?",
                        db_args(db_int(o->user)), &row, &found, err))
        return false;
    if (!found || row.v[1].i)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "the user does not exist or is disabled");
    int64_t id, now = clock_now();
    if (!conn_insert(
            c,
            "INSERT INTO sessions(address, agent, last_used_at, expires_at, hash, revision, created_at, "
            "updated_at, created_by) VALUES(?, ?, ?, ?, ?, 1, ?, ?, ?)",
            db_args(db_textz(o->s->peer), db_text(clean_agent(o->arena, o->s->agent)), db_int(now),
                    db_int(now + ACCOUNTS_SESSION_MAX * SECOND), db_textz(o->hash), db_int(now), db_int(now),
                    db_int(o->user)),
            &id, err) ||
        !end_oldest(c, o->user, err))
        return false;
    struct caller who = {.user = o->user, .name = arena_strz(o->arena, row.v[0].s), .peer = o->s->peer};
    struct op op = {.core = o->core, .caller = &who, .conn = c, .arena = o->arena, .kind = &kind_session};
    const char *detail = arena_printf(o->arena, "{\"how\":\"%s\"}", o->how);
    return engine_audit(&op, "sign-in", "user", o->user, row.v[0].s, 0, str_of(detail), err);
}

bool accounts_open_session(struct core *core, int64_t user, const struct sign_in *s, const char *how,
                           char ret_secret[ACCOUNTS_SECRET_MAX], struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    char secret[ACCOUNTS_SECRET_MAX], hash[SHA256_HEX + 1];
    uint8_t digest[SHA256_SIZE];
    random_text(32, secret);
    sha256_of(str_of(secret), digest);
    hex_encode(digest, sizeof digest, hash);
    struct opening o = {core, s, how, hash, user, &a};
    if (!db_write(core->db, write_session, &o, err))
        return false;
    memcpy(ret_secret, secret, sizeof secret);
    return true;
}

/* --- passwords --- */
struct attempt {
    struct core *core;
    const struct sign_in *s;
    unsigned wait;
    int64_t user; /* 0: unknown */
    struct arena *arena;
};

static bool write_failure(struct db_conn *c, void *ctx, struct err *err)
{
    const struct attempt *t = ctx;
    struct caller who = {.name = "", .peer = t->s->peer};
    struct op op = {.core = t->core, .caller = &who, .conn = c, .arena = t->arena, .kind = &kind_session};
    return engine_audit(&op, "sign-in-failed", "user", t->user, t->s->name, 0, STR_NULL, err);
}

/* Asked again when the hashing's turn has come: many attempts sent at once must not slip through. */
static bool not_delayed(void *ctx, struct err *err)
{
    struct attempt *t = ctx;
    t->wait = failures_wait(t->core->accounts->failures, t->s->name, str_of(t->s->peer), clock_now());
    if (t->wait == 0)
        return true;
    return err_set(err, ERR_TOO_MANY, NULL, "too many failed attempts; try again in %u s", t->wait);
}

/* Can be a user's name at all, and a text of the database. */
static bool readable(struct str name)
{
    return name.n <= NAME_BYTES && (name.n == 0 || !memchr(name.p, 0, name.n)) && utf8_valid(name);
}

static bool check_password(struct attempt *t, bool *ret_right, struct err *err)
{
    struct db_row row;
    bool found = false, right;
    if (readable(t->s->name) &&
        !db_query_one(t->core->db, t->arena, "SELECT id, password, disabled FROM users WHERE name = ?",
                      db_args(db_text(t->s->name)), &row, &found, err))
        return false;
    struct str hash = found && row.v[1].type == DB_TEXT ? row.v[1].s : STR_NULL;
    struct str password = t->s->password.n <= PASSWORD_READ ? t->s->password : STR("");
    if (!password_verify(hash, password, not_delayed, t, &right, err))
        return false;
    t->user = found ? row.v[0].i : 0;
    *ret_right = right && found && !row.v[2].i;
    return true;
}

bool accounts_check_password(struct core *core, const struct sign_in *s, int64_t *ret_user,
                             unsigned *ret_retry, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    struct attempt t = {.core = core, .s = s, .arena = &a};
    struct failures *failures = core->accounts->failures;
    struct str address = str_of(s->peer);
    bool right;
    if (!core->accounts->providers->password)
        return err_set(err, ERR_FORBIDDEN, NULL, "signing in with a password is switched off here");
    if (!not_delayed(&t, err) || !check_password(&t, &right, err)) {
        *ret_retry = t.wait ? t.wait : 1;
        return false;
    }
    if (right) {
        failures_clear(failures, s->name, address);
        *ret_user = t.user;
        return true;
    }
    failures_add(failures, s->name, address, clock_now());
    struct sign_in shortened = *s;
    if (!readable(s->name))
        shortened.name = STR("(no name)");
    t.s = &shortened;
    if (!db_write(core->db, write_failure, &t, err))
        return false;
    return err_set(err, ERR_UNAUTHORIZED, NULL, "the name or the password is wrong");
}

bool accounts_sign_in(struct core *core, const struct sign_in *s, char ret_secret[ACCOUNTS_SECRET_MAX],
                      unsigned *ret_retry, struct err *err)
{
    int64_t user;
    return accounts_check_password(core, s, &user, ret_retry, err) &&
           accounts_open_session(core, user, s, "password", ret_secret, err);
}

static bool write_password(struct op *op, void *ctx, struct err *err)
{
    const struct str *hash = ctx;
    const struct caller *c = op->caller;
    return user_set_password(op, c->user, *hash, err) &&
           engine_audit(op, "change-password", "user", c->user, str_of(c->name), 0, STR_NULL, err);
}

static bool old_password_right(struct core *core, const struct caller *c, struct str old, struct arena *a,
                               struct err *err)
{
    struct db_row row;
    bool found, right;
    struct sign_in s = {.name = str_of(c->name), .password = old, .peer = c->peer};
    struct attempt t = {.core = core, .s = &s, .arena = a};
    if (!not_delayed(&t, err) || !db_query_one(core->db, a, "SELECT password FROM users WHERE id = ?",
                                               db_args(db_int(c->user)), &row, &found, err))
        return false;
    struct str hash = found && row.v[0].type == DB_TEXT ? row.v[0].s : STR_NULL;
    if (!password_verify(hash, old, not_delayed, &t, &right, err))
        return false;
    if (right)
        return true;
    failures_add(core->accounts->failures, s.name, str_of(c->peer), clock_now());
    return err_set(err, ERR_INVALID, "old", "old: is not the password you have now");
}

bool accounts_change_password(struct core *core, const struct caller *c, struct str old, struct str new_,
                              struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    if (!c->session)
        return err_set(err, ERR_FORBIDDEN, NULL, "a password is changed in a session, not with a token");
    struct str hash;
    if (!password_rule(new_, "new", err) || old.n > PASSWORD_READ)
        return old.n > PASSWORD_READ
                   ? err_set(err, ERR_INVALID, "old", "old: is not the password you have now")
                   : false;
    return old_password_right(core, c, old, &a, err) && password_hash(&a, new_, &hash, err) &&
           engine_write(core, c, &a, write_password, &hash, err);
}
