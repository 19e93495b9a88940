#include "core/account/identity.h"

#include "base/clock.h"
#include "core/account/accounts.h"
#include "core/engine.h"

#define NAME_MAX_CHARACTERS 50
#define NAME_TRIES          100

struct str identity_clean_name(struct arena *a, struct str name)
{
    struct buf auto_buf out = {0};
    if (!utf8_valid(name))
        name = STR("user");
    size_t characters = 0;
    for (size_t i = 0; i < name.n && characters < NAME_MAX_CHARACTERS - 4;) {
        size_t from = i;
        uint32_t c = utf8_next(name, &i);
        if (c < ' ' || c == 0x7f || (c < 0x80 && strchr("/:*?\"<'>|", (int)c)))
            continue;
        buf_add(&out, name.p + from, i - from);
        characters++;
    }
    struct str clean = str_trim(buf_view(&out));
    return arena_str(a, clean.n > 0 ? clean : STR("user"));
}

static bool domain_allowed(const struct provider *p, const struct identity *who, struct err *err)
{
    if (!p->allowed_domains)
        return true;
    struct str domain;
    str_cut(who->email, '@', &domain);
    for (const char **d = p->allowed_domains; *d; d++)
        if (domain.p && str_ieq(domain, str_of(*d)))
            return who->email_verified ||
                   err_set(err, ERR_FORBIDDEN, NULL,
                           "%s does not say that your e-mail address is verified: confirm it there first",
                           p->title);
    return err_set(err, ERR_FORBIDDEN, NULL, "addresses of that domain may not sign in through %s", p->title);
}

struct search {
    struct core *core;
    const struct provider *p;
    const struct identity *who;
    const char *peer;
    struct arena *arena;
    int64_t user;
    bool made;
};

/* One number of one row, 0 when there is none. */
static bool find_id(struct db_conn *c, struct arena *a, const char *sql, struct db_args args, int64_t *ret,
                    struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(c, a, sql, args, &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return true;
}

static bool free_name(struct db_conn *c, struct search *s, struct str *ret, struct err *err)
{
    struct str base = s->who->name;
    if (base.n == 0)
        base = str_cut(s->who->email, '@', &(struct str){0});
    base = identity_clean_name(s->arena, base.n > 0 ? base : s->who->subject);
    for (int i = 1; i <= NAME_TRIES; i++) {
        struct str name = i == 1 ? base : str_of(arena_printf(s->arena, STR_FMT "-%d", STR_ARG(base), i));
        int64_t taken;
        if (!find_id(c, s->arena, "SELECT id FROM users WHERE name = ?", db_args(db_text(name)), &taken, err))
            return false;
        if (!taken) {
            *ret = name;
            return true;
        }
    }
    return err_set(err, ERR_CONFLICT, NULL, "there are too many users called " STR_FMT, STR_ARG(base));
}

static bool join_project(struct db_conn *c, struct search *s, struct err *err)
{
    if (!s->p->default_project)
        return true;
    int64_t project, role, now = clock_now();
    if (!find_id(c, s->arena, "SELECT id FROM projects WHERE name = ?",
                 db_args(db_textz(s->p->default_project)), &project, err) ||
        !find_id(c, s->arena, "SELECT id FROM roles WHERE name = ?", db_args(db_textz(s->p->default_role)),
                 &role, err))
        return false;
    if (!project || !role)
        return err_set(
            err, ERR_FORBIDDEN, NULL,
            "the provider's default_project or default_role does not exist: tell an administrator");
    return conn_exec(c,
                     "INSERT INTO members(project, \"user\", role, revision, created_at, updated_at) "
                     "VALUES(?, ?, ?, 1, ?, ?)",
                     db_args(db_int(project), db_int(s->user), db_int(role), db_int(now), db_int(now)), NULL,
                     err);
}

static bool make_user(struct db_conn *c, struct search *s, struct err *err)
{
    struct str name;
    int64_t now = clock_now();
    if (!free_name(c, s, &name, err))
        return false;
    /* One that the provider did not verify would stand in the way of its true owner (find_by_email). */
    struct db_value email =
        s->who->email_verified && s->who->email.n <= 254 ? db_text(s->who->email) : db_null();
    if (!conn_insert(
            c,
            "INSERT INTO users(name, display_name, email, category, administrator, disabled, revision, "
            "created_at, updated_at) VALUES(?, '', ?, 'platform', 0, 0, 1, ?, ?)",
            db_args(db_text(name), email, db_int(now), db_int(now)), &s->user, err))
        return false;
    s->made = true;
    struct caller who = {.user = s->user, .name = arena_strz(s->arena, name), .peer = s->peer};
    struct op op = {.core = s->core, .caller = &who, .conn = c, .arena = s->arena, .kind = &kind_user};
    const char *detail = arena_printf(s->arena, "{\"provider\":\"%s\"}", s->p->id);
    return engine_audit(&op, "create", "user", s->user, name, 0, str_of(detail), err) &&
           join_project(c, s, err);
}

/* An address that several users have names none of them, nor does one that a user gave themself. */
static bool find_by_email(struct db_conn *c, struct search *s, struct err *err)
{
    struct db_rows rows;
    if (!s->p->link_by_email || !s->who->email_verified || s->who->email.n == 0)
        return true;
    if (!conn_query(c, s->arena,
                    "SELECT id FROM users WHERE email = ? AND COALESCE(email_own, 0) = 0 LIMIT 2",
                    db_args(db_text(s->who->email)), &rows, err))
        return false;
    s->user = rows.n == 1 ? rows.row[0].v[0].i : 0;
    return true;
}

static bool search(struct db_conn *c, void *ctx, struct err *err)
{
    struct search *s = ctx;
    s->user = 0;
    s->made = false;
    struct db_value provider = db_textz(s->p->id), subject = db_text(s->who->subject);
    if (!find_id(c, s->arena, "SELECT \"user\" FROM identities WHERE provider = ? AND subject = ?",
                 db_args(provider, subject), &s->user, err))
        return false;
    if (s->user)
        return true;
    if (!find_by_email(c, s, err))
        return false;
    if (!s->user && !s->p->create_users)
        return err_set(err, ERR_FORBIDDEN, NULL, "no user of this platform belongs to this account at %s",
                       s->p->title);
    if (!s->user && !make_user(c, s, err))
        return false;
    return conn_exec(c, "INSERT INTO identities(provider, subject, \"user\") VALUES(?, ?, ?)",
                     db_args(provider, subject, db_int(s->user)), NULL, err);
}

bool identity_user(struct core *core, const struct provider *p, const struct identity *who, const char *peer,
                   struct arena *a, int64_t *ret, struct err *err)
{
    if (!domain_allowed(p, who, err))
        return false;
    struct search s = {.core = core, .p = p, .who = who, .peer = peer, .arena = a};
    if (!db_write(core->db, search, &s, err))
        return false;
    if (s.made)
        accounts_grants_changed(core);
    *ret = s.user;
    return true;
}
