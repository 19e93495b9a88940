#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "core/account/accounts.h"
#include "core/account/grants.h"
#include "core/account/state.h"
#include "core/engine.h"
#include "core/fields.h"

#define TOKENS_MAX   200 /* per user */
#define PREFIX_SHOWN 12  /* characters that help to recognise one; 32 random bits */

/* A token never makes one that may more than itself. */
static bool not_wider(struct op *op, const struct object *o, struct err *err)
{
    const struct grants *g = grants_of(op->caller);
    if (!g || !g->narrowed)
        return true;
    struct permission_set scopes = {{0}};
    struct str text = object_text(o, "scopes");
    if (text.n == 0 || str_is(text, "[]"))
        scopes = permission_all();
    else
        permission_parse(op->arena, text, &scopes);
    if (!permission_contains(&g->scopes, &scopes))
        return err_set(err, ERR_FORBIDDEN, "scopes",
                       "scopes: a token cannot make another whose scopes are wider than its own");
    return true;
}

/* Nor one that outlives it. */
static bool not_longer(struct op *op, const struct object *o, struct err *err)
{
    struct db_row row;
    bool found;
    if (!op->caller->token)
        return true;
    if (!conn_query_one(op->conn, op->arena, "SELECT expires_at FROM tokens WHERE id = ?",
                        db_args(db_int(op->caller->token)), &row, &found, err))
        return false;
    int64_t own = found ? row.v[0].i : 1, wanted = object_int(o, "expires_at");
    if (own && (!wanted || wanted > own))
        return err_set(err, ERR_FORBIDDEN, "expires_at",
                       "expires_at: a token cannot make another that lives longer than itself");
    return true;
}

static bool not_too_many(struct op *op, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT COUNT(*) FROM tokens WHERE created_by = ?",
                        db_args(db_int(op->caller->user)), &row, &found, err))
        return false;
    if (row.v[0].i >= TOKENS_MAX)
        return err_set(err, ERR_CONFLICT, NULL, "you have %d tokens, the most one may have: delete some",
                       TOKENS_MAX);
    return true;
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    int64_t expires = object_int(o, "expires_at");
    if (object_value(o, "expires_at")->type != DB_NULL && expires <= clock_now())
        return err_set(err, ERR_INVALID, "expires_at", "expires_at: must be in the future");
    if (!not_wider(op, o, err) || !not_longer(op, o, err) || !not_too_many(op, err))
        return false;
    char *secret = arena_alloc(op->arena, ACCOUNTS_SECRET_MAX),
         *hash = arena_alloc(op->arena, SHA256_HEX + 1);
    uint8_t digest[SHA256_SIZE];
    memcpy(secret, ACCOUNTS_TOKEN_PREFIX, sizeof ACCOUNTS_TOKEN_PREFIX);
    random_text(32, secret + sizeof ACCOUNTS_TOKEN_PREFIX - 1);
    sha256_of(str_of(secret), digest);
    hex_encode(digest, sizeof digest, hash);
    *object_value(o, "hash") = db_textz(hash);
    *object_value(o, "prefix") = db_text(((struct str){secret, PREFIX_SHOWN}));
    *object_value(o, "secret") = db_textz(secret);
    return true;
}

static bool show(unused_ok struct op *op, const struct object *o, struct json_out *out,
                 unused_ok struct err *err)
{
    const struct db_value *secret = object_value(o, "secret");
    if (secret->type == DB_TEXT)
        json_kstr(out, "secret", secret->s);
    return true;
}

static void changed(struct core *core, const struct object *o, unused_ok const char *verb)
{
    accounts_forget_token(core, o->id);
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_CREATE),
    {.name = "scopes",
     .type = FIELD_TEXTS,
     .flags = FIELD_CREATE | FIELD_LIST,
     .max = 100,
     .item_max = 100,
     .fallback = "[]",
     .check = permission_check,
     .title = {"Scopes", "权限范围"},
     .help = {"Permissions or patterns (dataset.*, *.read); empty: everything you may",
              "权限或通配（dataset.*、*.read）；留空表示与本人权限相同"}},
    {.name = "expires_at",
     .type = FIELD_TIME,
     .flags = FIELD_CREATE | FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .title = {"Expires", "过期时间"},
     .help = {"Empty: never", "留空表示永不过期"}},
    {.name = "last_used_at",
     .type = FIELD_TIME,
     .flags = FIELD_LIST | FIELD_STATUS,
     .title = {"Last used", "最近使用"}},
    {.name = "prefix", .type = FIELD_TEXT, .flags = FIELD_LIST, .title = {"Begins with", "前缀"}},
    {.name = "secret",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL,
     .title = {"Secret", "密文"},
     .help = {"Shown once, in the answer to the create", "仅在创建时显示一次"}},
    {.name = "hash", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .title = {"Hash", "散列"}},
    {0},
};

const struct kind kind_token = {
    .name = "token",
    .plural = "tokens",
    .table = "tokens",
    .title = {"API token", "API 令牌"},
    .titles = {"API tokens", "API 令牌"},
    .help = {"For scripts and the command line: Authorization: Bearer ingot_...",
             "供脚本与命令行使用：Authorization: Bearer ingot_..."},
    .scope = SCOPE_OWN,
    .verbs = VERB_LIST | VERB_READ | VERB_CREATE | VERB_DELETE,
    .fields = fields,
    .before_create = before_create,
    .show = show,
    .changed = changed,
    .extra_sql = "CREATE UNIQUE INDEX tokens_hash ON tokens(hash);\n",
};
