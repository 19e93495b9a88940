/* The kind `service_key`: what callers of a service show. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/messages.h"
#include "core/fields.h"
#include "core/serve/serve.h"

#define KEYS_MAX     200 /* of a service */
#define SECRET       "ik_"
#define SECRET_RAND  32
#define PREFIX_SHOWN 9

static bool not_too_many(struct op *op, const struct object *o, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT COUNT(*) FROM service_keys WHERE service = ?",
                        db_args(db_int(o->parent)), &row, &found, err))
        return false;
    return row.v[0].i < KEYS_MAX || err_message(err, ERR_CONFLICT, NULL, MESSAGE_KEYS_MANY, KEYS_MAX);
}

static bool in_future(const struct object *o, struct err *err)
{
    const struct db_value *v = object_value(o, "expires_at");
    return v->type == DB_NULL || v->i > clock_now() ||
           err_message(err, ERR_INVALID, "expires_at", MESSAGE_KEY_PAST, "expires_at");
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    if (!in_future(o, err) || !not_too_many(op, o, err))
        return false;
    char *secret = arena_alloc(op->arena, sizeof SECRET + 2 * SECRET_RAND + 1),
         *hash = arena_alloc(op->arena, SHA256_HEX + 1);
    uint8_t digest[SHA256_SIZE];
    memcpy(secret, SECRET, sizeof SECRET);
    random_text(SECRET_RAND, secret + sizeof SECRET - 1);
    sha256_of(str_of(secret), digest);
    hex_encode(digest, sizeof digest, hash);
    *object_value(o, "hash") = db_textz(hash);
    *object_value(o, "prefix") = db_text(((struct str){secret, PREFIX_SHOWN}));
    *object_value(o, "secret") = db_textz(secret);
    return true;
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    (void)op;
    return object_int(old, "expires_at") == object_int(new_, "expires_at") || in_future(new_, err);
}

static bool show(unused_ok struct op *op, const struct object *o, struct json_out *out,
                 unused_ok struct err *err)
{
    const struct db_value *secret = object_value(o, "secret");
    if (secret->type == DB_TEXT)
        json_kstr(out, "secret", secret->s);
    return true;
}

static void changed(struct core *core, const struct object *o, const char *verb)
{
    (void)o;
    (void)verb;
    services_settle(core); /* the routes say so before the answer does */
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    {.name = "prefix", .type = FIELD_TEXT, .flags = FIELD_LIST, .title = {"Begins with", "前缀"}},
    {.name = "secret",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL,
     .title = {"Secret", "密文"},
     .help = {"Shown once, in the answer to the create", "仅在创建时显示一次"}},
    {.name = "rate",
     .type = FIELD_REAL,
     .flags = FIELD_EDIT | FIELD_LIST,
     .min = 0,
     .max = 1000000,
     .fallback = "0",
     .section = SECTION_LIMITS,
     .title = {"Requests per second", "每秒请求数"},
     .help = {"0: no limit.", "0 表示不限。"}},
    {.name = "burst",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 0,
     .max = 1000000,
     .fallback = "0",
     .section = SECTION_LIMITS,
     .title = {"Requests at once", "突发请求数"},
     .help = {"So many may come together before the rate counts; 0: one second's.",
              "速率限制生效前可同时到来的请求数；0 为一秒的请求数。"}},
    {.name = "concurrency",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 0,
     .max = 100000,
     .fallback = "0",
     .section = SECTION_LIMITS,
     .title = {"Requests under way", "并发请求数"},
     .help = {"0: no limit.", "0 表示不限。"}},
    {.name = "expires_at",
     .type = FIELD_TIME,
     .flags = FIELD_EDIT | FIELD_SORT | FIELD_FILTER | FIELD_LIST,
     .section = SECTION_LIMITS,
     .title = {"Expires", "过期时间"},
     .help = {"Empty: never", "留空表示永不过期"}},
    {.name = "last_used_at",
     .type = FIELD_TIME,
     .flags = FIELD_LIST | FIELD_STATUS,
     .title = {"Last used", "最近使用"}},
    {.name = "hash", .type = FIELD_TEXT, .flags = FIELD_INTERNAL, .title = {"Hash", "散列"}},
    {0},
};

const struct kind kind_service_key = {
    .name = "service_key",
    .plural = "keys",
    .table = "service_keys",
    .title = {"Key", "密钥"},
    .titles = {"Keys", "密钥"},
    .help = {"What callers of the service send: Authorization: Bearer ik_...",
             "服务的调用者使用：Authorization: Bearer ik_..."},
    .scope = SCOPE_CHILD,
    .parent = "service",
    .verbs = VERB_ALL,
    .fields = fields,
    .before_create = before_create,
    .before_update = before_update,
    .show = show,
    .changed = changed,
    .extra_sql = "CREATE UNIQUE INDEX service_keys_hash ON service_keys(hash);\n",
};
