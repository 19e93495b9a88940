#include "base/clock.h"
#include "base/json.h"
#include "core/access.h"
#include "core/account/accounts.h"
#include "core/account/grants.h"
#include "core/account/password.h"
#include "core/account/role.h"
#include "core/account/user.h"
#include "core/engine.h"

/* --- rules --- */
/* Only administrators make administrators, give platform roles, or touch an administrator at all: otherwise
 * the permission to change users would be all permissions. */
static bool may_touch(struct op *op, const struct object *old, const struct object *new_, struct err *err)
{
    if (op->caller->administrator)
        return true;
    bool privileged = object_int(new_, "administrator") || (old && object_int(old, "administrator"));
    int64_t role = object_int(new_, "platform_role");
    if (privileged || (role && (!old || object_int(old, "platform_role") != role)))
        return err_set(err, ERR_FORBIDDEN, NULL,
                       "only an administrator may change administrators and give platform roles");
    return true;
}

/* One user must be able to administer the platform. */
static bool not_the_last(struct op *op, const struct object *o, struct err *err)
{
    if (!object_int(o, "administrator") || object_int(o, "disabled"))
        return true;
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT COUNT(*) FROM users WHERE administrator = 1 AND disabled = 0 AND id <> ?",
                        db_args(db_int(o->id)), &row, &found, err))
        return false;
    if (row.v[0].i == 0)
        return err_set(err, ERR_CONFLICT, NULL,
                       "this is the last administrator: it cannot be disabled, demoted or deleted");
    return true;
}

static bool same_text(const struct object *a, const struct object *b, const char *field)
{
    return str_eq(object_text(a, field), object_text(b, field));
}

/* --- hooks --- */
static bool prepare(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    struct db_value *password = object_value(new_, "password");
    if (password->type != DB_TEXT || (old && same_text(old, new_, "password")))
        return true;
    struct str hash;
    if (!password_rule(password->s, "password", err) || !password_hash(op->arena, password->s, &hash, err))
        return false;
    *password = db_text(hash);
    return true;
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    int64_t role = object_int(o, "platform_role");
    return may_touch(op, NULL, o, err) && (!role || role_may_give(op, role, 0, "platform_role", err));
}

/* A user may write any address into their own profile: it names no account until an administrator sets it
 * (find_by_email). */
static void note_email(const struct op *op, const struct object *old, struct object *new_)
{
    bool own = op->caller->user == old->id && !object_int(old, "administrator");
    if (!same_text(old, new_, "email"))
        *object_value(new_, "email_own") = db_int(own);
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    bool keeps = object_int(new_, "administrator") && !object_int(new_, "disabled");
    note_email(op, old, new_);
    int64_t role = object_int(new_, "platform_role");
    if (!may_touch(op, old, new_, err) || !grants_cover(op, old->id, err) ||
        (!keeps && !not_the_last(op, old, err)))
        return false;
    if (op->caller->token && op->caller->user == old->id &&
        !(same_text(old, new_, "password") && same_text(old, new_, "email")))
        return err_set(err, ERR_FORBIDDEN, NULL,
                       "a token cannot change the password or the e-mail address of its owner");
    return !role || role == object_int(old, "platform_role") ||
           role_may_give(op, role, 0, "platform_role", err);
}

bool user_end_sessions(struct db_conn *c, int64_t user, struct err *err)
{
    return conn_exec(c, "DELETE FROM sessions WHERE created_by = ?", db_args(db_int(user)), NULL, err);
}

static bool end_tokens(struct db_conn *c, int64_t user, struct err *err)
{
    return conn_exec(c, "DELETE FROM tokens WHERE created_by = ?", db_args(db_int(user)), NULL, err);
}

static bool after_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    bool disabled = object_int(new_, "disabled") && !object_int(old, "disabled");
    bool own_email = op->caller->user == old->id && !same_text(old, new_, "email");
    if ((disabled || own_email || !same_text(old, new_, "password")) &&
        !user_end_sessions(op->conn, old->id, err))
        return false;
    return !disabled || end_tokens(op->conn, old->id, err);
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    if (op->caller->user == o->id)
        return err_set(err, ERR_CONFLICT, NULL, "nobody deletes themself; ask another administrator");
    if (!may_touch(op, o, o, err) || !grants_cover(op, o->id, err) || !not_the_last(op, o, err))
        return false;
    struct db_args id = db_args(db_int(o->id));
    return user_end_sessions(op->conn, o->id, err) && end_tokens(op->conn, o->id, err) &&
           conn_exec(op->conn, "DELETE FROM group_members WHERE \"user\" = ?", id, NULL, err) &&
           conn_exec(op->conn, "DELETE FROM members WHERE \"user\" = ?", id, NULL, err) &&
           conn_exec(op->conn, "DELETE FROM identities WHERE \"user\" = ?", id, NULL, err);
}

static void changed(struct core *core, const struct object *o, const char *verb)
{
    if (strcmp(verb, "create") == 0)
        return;
    accounts_forget_user(core, o->id);
    accounts_grants_changed(core);
}

/* --- reset-password --- */
struct reset {
    struct object *user;
    struct str hash;
};

static bool write_reset(struct op *op, void *ctx, struct err *err)
{
    const struct reset *r = ctx;
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_user, r->user->id, &now, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, NULL, "the user was deleted meanwhile");
    return may_touch(op, &now, &now, err) && grants_cover(op, now.id, err) &&
           user_set_password(op, now.id, r->hash, err);
}

bool user_set_password(struct op *op, int64_t user, struct str hash, struct err *err)
{
    struct object now;
    bool found;
    if (!engine_load_row(op, &kind_user, user, &now, &found, err))
        return false;
    if (!found)
        return access_missing(&kind_user, user, err);
    *object_value(&now, "password") = db_text(hash);
    return engine_update_row(op, &now, err) && user_end_sessions(op->conn, user, err);
}

static bool reset_password(struct op *op, struct object *o, const struct db_value *input,
                           unused_ok struct json_out *out, unused_ok int *status, struct err *err)
{
    struct reset r = {o, STR_NULL};
    if (op->caller->token && op->caller->user == o->id)
        return err_set(err, ERR_FORBIDDEN, NULL, "a token cannot change the password of its owner");
    return password_rule(input[0].s, "password", err) && password_hash(op->arena, input[0].s, &r.hash, err) &&
           engine_write(op->core, op->caller, op->arena, write_reset, &r, err);
}

/* --- the first one --- */
static bool make_admin(struct db_conn *c, void *ctx, struct err *err)
{
    struct str *hash = ctx;
    int64_t now = clock_now();
    struct arena auto_arena a;
    arena_init(&a);
    return conn_exec(c,
                     "INSERT INTO users(name, display_name, password, category, administrator, disabled, "
                     "revision, created_at, updated_at) VALUES('admin', '', ?, 'platform', 1, 0, 1, ?, ?)",
                     db_args(db_text(*hash), db_int(now), db_int(now)), NULL, err);
}

bool accounts_first_admin(struct core *core, struct arena *a, const char **ret_password, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(core->db, a, "SELECT id FROM users LIMIT 1", DB_NO_ARGS, &row, &found, err))
        return false;
    *ret_password = NULL;
    if (found)
        return true;
    const char *given = getenv("INGOT_ADMIN_PASSWORD");
    char generated[PASSWORD_TEXT];
    password_generate(generated);
    struct str hash, password = str_of(given && *given ? given : generated);
    if (!password_rule(password, "INGOT_ADMIN_PASSWORD", err) || !password_hash(a, password, &hash, err) ||
        !db_write(core->db, make_admin, &hash, err))
        return false;
    if (!given || !*given)
        *ret_password = arena_strdup(a, generated);
    return true;
}

/* --- the kind --- */
static const struct choice categories[] = {
    {"platform", {"Platform user", "平台用户"}},
    {"annotator", {"Annotator", "标注员"}},
    {"reviewer", {"Reviewer", "审核员"}},
    {0},
};

static const struct choice languages[] = {{"en", {"English", "English"}}, {"zh", {"Chinese", "中文"}}, {0}};

static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags =
         FIELD_REQUIRED | FIELD_EDIT | FIELD_SEARCH | FIELD_SORT | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,
     .min = 1,
     .max = 50,
     .rule = "name",
     .title = {"Name", "用户名"}},
    {.name = "display_name",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_SEARCH | FIELD_LIST,
     .max = 50,
     .fallback = "\"\"",
     .title = {"Display name", "显示名称"}},
    {.name = "email",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_SEARCH | FIELD_FILTER | FIELD_LIST,
     .max = 254,
     .rule = "email",
     .title = {"E-mail", "邮箱"}},
    {.name = "email_own",
     .type = FIELD_BOOL,
     .flags = FIELD_INTERNAL,
     .title = {"Address by the user's own word", "邮箱由用户自行填写"}},
    {.name = "password",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_EDIT | FIELD_SECRET,
     .min = PASSWORD_MIN,
     .max = PASSWORD_MAX,
     .title = {"Password", "密码"},
     .help = {"6 to 128 characters", "6 到 128 个字符"}},
    {.name = "category",
     .type = FIELD_CHOICE,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .choices = categories,
     .fallback = "\"platform\"",
     .section = SECTION_WHO,
     .title = {"Category", "类别"}},
    {.name = "administrator",
     .type = FIELD_BOOL,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .fallback = "false",
     .section = SECTION_WHO,
     .title = {"Administrator", "管理员"}},
    {.name = "disabled",
     .type = FIELD_BOOL,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .fallback = "false",
     .section = SECTION_WHO,
     .title = {"Disabled", "已停用"},
     .help = {"Ends all sessions and tokens of the user", "停用将结束该用户的所有会话与令牌"}},
    {.name = "language",
     .type = FIELD_CHOICE,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .choices = languages,
     .title = {"Language", "语言"}},
    {.name = "platform_role",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER,
     .ref = "role",
     .section = SECTION_WHO,
     .title = {"Platform role", "平台角色"},
     .help = {"A role of your own that holds on the whole platform, such as making projects",
              "在整个平台生效的自定义角色，例如允许创建项目"}},
    {.name = "preferences",
     .type = FIELD_JSON,
     .flags = FIELD_INTERNAL,
     .max = PREFERENCES_MAX,
     .title = {"What the web pages keep for the user", "网页为用户保存的设置"}},
    {0},
};

static const struct field reset_fields[] = {
    {.name = "password",
     .type = FIELD_TEXT,
     .flags = FIELD_REQUIRED | FIELD_EDIT | FIELD_SECRET,
     .min = PASSWORD_MIN,
     .max = PASSWORD_MAX,
     .title = {"New password", "新密码"}},
    {0},
};

static const struct action actions[] = {
    {.name = "reset-password",
     .permission = "user.reset-password",
     .fields = reset_fields,
     .status = 204,
     .title = {"Reset password", "重置密码"},
     .run = reset_password},
    {0},
};

const struct kind kind_user = {
    .name = "user",
    .plural = "users",
    .table = "users",
    .title = {"User", "用户"},
    .titles = {"Users", "用户"},
    .menu = "admin",
    .scope = SCOPE_PLATFORM,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = actions,
    .prepare = prepare,
    .before_create = before_create,
    .before_update = before_update,
    .after_update = after_update,
    .before_delete = before_delete,
    .changed = changed,
    .extra_sql = "CREATE TABLE identities (id {id}, provider {text} NOT NULL, subject {text} NOT NULL, "
                 "\"user\" BIGINT NOT NULL);\n"
                 "CREATE UNIQUE INDEX identities_subject ON identities(provider, subject);\n"
                 "CREATE INDEX identities_user ON identities(\"user\");\n",
};
