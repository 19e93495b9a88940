/* What the signed-in user sees and does about themself. */
#include "core/account/state.h"
#include "core/engine.h"

static bool end_session(struct db_conn *c, void *ctx, struct err *err)
{
    const struct op *given = ctx;
    struct op op = *given;
    op.conn = c;
    int64_t id = op.caller->session;
    return conn_exec(c, "DELETE FROM sessions WHERE id = ?", db_args(db_int(id)), NULL, err) &&
           engine_audit(&op, "sign-out", "user", op.caller->user, str_of(op.caller->name), 0, STR_NULL, err);
}

bool accounts_sign_out(struct core *core, const struct caller *c, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    if (!c->session)
        return err_set(err, ERR_CONFLICT, NULL, "a token cannot sign out; delete it instead");
    struct op op = {.core = core, .caller = c, .arena = &a, .kind = &kind_session};
    if (!db_write(core->db, end_session, &op, err))
        return false;
    accounts_forget_session(core, c->session);
    return true;
}

static bool only_own_fields(yyjson_val *body, struct err *err)
{
    static const char *const own[] = {"email", "display_name", "language"};
    if (!yyjson_is_obj(body))
        return err_set(err, ERR_MALFORMED, NULL, "the body must be a JSON object");
    size_t i, n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(body, i, n, key, value)
    {
        bool known = false;
        for (size_t k = 0; k < countof(own); k++)
            known = known || str_is(json_str(key), own[k]);
        if (!known)
            return err_set(err, ERR_INVALID, yyjson_get_str(key),
                           "%.60s: is not of the profile; email, display_name and language are",
                           yyjson_get_str(key));
    }
    return true;
}

bool accounts_change_profile(struct core *core, const struct caller *c, yyjson_val *body, struct arena *a,
                             struct err *err)
{
    if (!caller_scoped(c, "user.update", err) || !only_own_fields(body, err))
        return false;
    /* The platform does it for them, in their name: the permission to change users is not needed. */
    struct caller self = caller_system;
    self.user = c->user;
    self.name = c->name;
    self.token = c->token;
    self.peer = c->peer;
    struct object user;
    return engine_update(core, &self, &kind_user, 0, c->user, 0, body, a, &user, err);
}

/* --- preferences --- */
struct keeping {
    int64_t user;
    struct str text;
};

static bool keep(struct db_conn *c, void *ctx, struct err *err)
{
    const struct keeping *k = ctx;
    return conn_exec(c, "UPDATE users SET preferences = ? WHERE id = ?",
                     db_args(db_text(k->text), db_int(k->user)), NULL, err);
}

bool accounts_keep_preferences(struct core *core, const struct caller *c, yyjson_val *body, struct err *err)
{
    if (!caller_scoped(c, "user.update", err))
        return false;
    if (!yyjson_is_obj(body))
        return err_set(err, ERR_MALFORMED, NULL, "the body must be a JSON object");
    auto_buf struct buf text = {0};
    struct json_out json;
    json_begin(&json, &text);
    json_value(&json, body);
    if (buf_view(&text).n > PREFERENCES_MAX)
        return err_set(err, ERR_TOO_LARGE, NULL, "the preferences have %zu bytes; %d are allowed",
                       buf_view(&text).n, PREFERENCES_MAX);
    struct keeping k = {.user = c->user, .text = buf_view(&text)};
    return db_write(core->db, keep, &k, err);
}

bool accounts_show_preferences(struct core *core, const struct caller *c, struct buf *out, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    struct db_row row;
    bool found = false;
    if (!caller_scoped(c, "user.read", err) ||
        !db_query_one(core->db, &a, "SELECT preferences FROM users WHERE id = ?", db_args(db_int(c->user)),
                      &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "nobody is signed in");
    buf_str(out, row.v[0].type == DB_TEXT ? row.v[0].s : STR("{}"));
    return true;
}

/* --- what GET session and GET permissions answer --- */
static void write_set(struct json_out *out, const struct permission_set *set)
{
    json_array(out);
    for (size_t i = 0; i < permission_count(); i++)
        if (permission_has(set, (ptrdiff_t)i))
            json_z(out, permission_at(i)->name);
    json_array_end(out);
}

static void write_user(struct json_out *out, const struct caller *c, const struct grants *g,
                       const struct db_row *row)
{
    json_key(out, "user");
    json_object(out);
    json_kint(out, "id", c->user);
    json_kz(out, "name", g->name);
    json_kstr(out, "display_name", row->v[0].s);
    json_kstr(out, "email", row->v[1].type == DB_TEXT ? row->v[1].s : STR_NULL);
    json_kbool(out, "administrator", g->administrator);
    json_kstr(out, "language", row->v[2].type == DB_TEXT ? row->v[2].s : STR_NULL);
    json_kstr(out, "category", row->v[3].s);
    json_object_end(out);
}

static void write_projects(struct json_out *out, const struct grants *g)
{
    struct permission_set in_projects = permission_of_projects();
    json_key(out, "projects");
    json_array(out);
    for (size_t i = 0; i < g->count; i++) {
        const struct grant *p = &g->projects[i];
        struct permission_set may = grants_in(g, p->project);
        permission_narrow(&may, &in_projects);
        json_object(out);
        json_kint(out, "id", p->project);
        json_kz(out, "name", p->name);
        json_kz(out, "role", p->role);
        json_key(out, "permissions");
        write_set(out, &may);
        json_object_end(out);
    }
    json_array_end(out);
}

bool accounts_show_session(struct core *core, const struct caller *c, struct buf *out, struct err *err)
{
    struct arena auto_arena a;
    arena_init(&a);
    const struct grants *g = grants_of(c);
    struct db_row row;
    bool found = false;
    if (g &&
        !db_query_one(core->db, &a, "SELECT display_name, email, language, category FROM users WHERE id = ?",
                      db_args(db_int(c->user)), &row, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_UNAUTHORIZED, NULL, "nobody is signed in");
    struct permission_set platform = grants_in(g, 0);
    struct json_out json;
    json_begin(&json, out);
    json_object(&json);
    write_user(&json, c, g, &row);
    json_kz(&json, "via", c->job ? "job" : c->token ? "token" : "session");
    if (c->job)
        json_kint(&json, "job", c->job);
    json_key(&json, "permissions");
    write_set(&json, &platform);
    write_projects(&json, g);
    json_object_end(&json);
    return true;
}

void accounts_show_permissions(struct buf *out)
{
    struct json_out json;
    json_begin(&json, out);
    json_object(&json);
    json_key(&json, "items");
    json_array(&json);
    for (size_t i = 0; i < permission_count(); i++) {
        const struct permission *p = permission_at(i);
        json_object(&json);
        json_kz(&json, "name", p->name);
        json_kz(&json, "kind", p->kind ? p->kind->name : "platform");
        json_kz(&json, "verb", p->verb);
        json_kz(&json, "scope", p->in_project ? "project" : "platform");
        json_key(&json, "title");
        json_object(&json);
        json_kz(&json, "en", p->title.en);
        json_kz(&json, "zh", p->title.zh);
        json_object_end(&json);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
}
