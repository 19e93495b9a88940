/* The kind `service_version`: what people give and see. */
#include "base/messages.h"
#include "core/audit.h"
#include "core/growth.h"
#include "core/image/image.h"
#include "core/job/fields.h"
#include "core/serve/event.h"
#include "core/serve/replica.h"
#include "core/serve/values.h"
#include "core/serve/version.h"

static const struct choice states[] = {
    {"pending", {"Pending", "等待中"}},   {"starting", {"Starting", "启动中"}},
    {"serving", {"Serving", "服务中"}},   {"degraded", {"Degraded", "部分可用"}},
    {"stopping", {"Stopping", "停止中"}}, {"stopped", {"Stopped", "已停止"}},
    {"failed", {"Failed", "失败"}},       {NULL, {NULL, NULL}},
};

static const struct choice roles[] = {
    {"production", {"Production", "生产"}},
    {"canary", {"Canary", "灰度"}},
    {"retired", {"Retired", "已下线"}},
    {NULL, {NULL, NULL}},
};

const char *const slot_names[] = {"production", "canary", NULL};

enum slot slot_of(struct str role)
{
    for (int i = 0; i < SLOTS; i++)
        if (str_is(role, slot_names[i]))
            return (enum slot)i;
    return SLOTS;
}

/* A path as it stands in a request. */
static bool path_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    (void)a;
    struct str s = value->type == DB_TEXT ? value->s : STR("/");
    bool good = s.n && s.p[0] == '/';
    for (size_t i = 0; i < s.n; i++)
        good = good && s.p[i] > ' ' && s.p[i] < 127;
    return good || err_message(err, ERR_INVALID, f->name, MESSAGE_HEALTH_PATH, f->name);
}

#define BATCHING(field, low, high, usual, en, zh)                                                            \
    {                                                                                                        \
        .name = (field), .type = FIELD_INT, .flags = FIELD_EDIT | FIELD_ADVANCED, .section = SECTION_HOW,    \
        .min = (low), .max = (high), .fallback = (usual), .title = {en, zh},                                 \
    }

static const struct field fields[] = {
    {.name = "name",
     .type = FIELD_TEXT,
     .flags = FIELD_SEARCH | FIELD_FILTER | FIELD_UNIQUE | FIELD_LIST,
     .max = 50,
     .title = {"Version", "版本"}},
    {.name = "number", .type = FIELD_INT, .flags = FIELD_SORT | FIELD_FILTER, .title = {"Number", "版本号"}},
    {.name = "role",
     .type = FIELD_CHOICE,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .choices = roles,
     .title = {"Role", "角色"},
     .help = {"By default production when there is none, else canary. Who had the role before is retired.",
              "默认在没有生产版本时为生产，否则为灰度。原有同角色版本下线。"}},
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_FILTER | FIELD_LIST | FIELD_STATUS,
     .choices = states,
     .fallback = "\"pending\"",
     .title = {"State", "状态"}},
    JOB_FIELD_REASON(FIELD_STATUS),
    {.name = "model_version",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER | FIELD_LIST,
     .ref = "model_version",
     .title = {"Model", "模型"},
     .help = {"Served by ingot-infer. Without one give a command.",
              "由 ingot-infer 提供服务。不选模型时须填写命令。"}},
    {.name = "image_version",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER,
     .ref = "image_version",
     .title = {"Image", "镜像"},
     .help = {"Where the command runs; none: the image host.", "命令所在的镜像；留空为 host 镜像。"}},
    {.name = "command",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT | FIELD_LONG,
     .max = 3000,
     .title = {"Command", "命令"},
     .help = {"Run by /bin/sh; it listens on the port ($PORT).", "由 /bin/sh 执行，监听端口（$PORT）。"}},
    {.name = "port",
     .type = FIELD_INT,
     .flags = FIELD_EDIT,
     .min = 1,
     .max = 65535,
     .fallback = "8000",
     .title = {"Port", "端口"}},
    {.name = "health_path",
     .type = FIELD_TEXT,
     .flags = FIELD_EDIT,
     .max = 500,
     .fallback = "\"/\"",
     .check = path_check,
     .title = {"Health path", "健康检查路径"},
     .help = {"A replica gets requests when GET answers below 400 here.",
              "对该路径的 GET 请求返回小于 400 的状态时，副本开始接收请求。"}},
    JOB_FIELD_SPEC(FIELD_EDIT | FIELD_FILTER | FIELD_LIST),
    {.name = "replicas",
     .type = FIELD_INT,
     .flags = FIELD_EDIT | FIELD_LIST,
     .min = 0,
     .max = 64,
     .fallback = "1",
     .section = SECTION_WHERE,
     .title = {"Replicas", "副本数"}},
    {.name = "ready",
     .type = FIELD_INT,
     .flags = FIELD_STATUS | FIELD_LIST,
     .fallback = "0",
     .title = {"Ready", "就绪"}},
    {.name = "env",
     .type = FIELD_JSON,
     .flags = FIELD_EDIT | FIELD_SECRET,
     .max = 1 << 20,
     .fallback = "{}",
     .check = values_check,
     .schema = JOB_ENV_SCHEMA,
     .title = {"Environment variables", "环境变量"},
     .help = {"Values are encrypted and never shown again.", "值加密保存，不再显示。"}},
    {.name = "env_names",
     .type = FIELD_TEXTS,
     .flags = FIELD_VIRTUAL,
     .title = {"Names of the variables", "环境变量名"}},
    BATCHING("instances", 0, 64, "0", "Instances of the model (0: by itself)", "模型实例数（0 为自动）"),
    BATCHING("batch", 0, 1024, "0", "Largest batch (0: by itself)", "最大批量（0 为自动）"),
    BATCHING("delay_us", 0, 10000000, "0", "Wait for a batch (us)", "攒批等待（微秒）"),
    BATCHING("queue", 0, 100000, "0", "Longest queue (0: by itself)", "最长队列（0 为自动）"),
    {.name = "generation", .type = FIELD_INT, .fallback = "1", .title = {"Generation", "代"}},
    {.name = "stopped",
     .type = FIELD_BOOL,
     .flags = FIELD_FILTER,
     .fallback = "false",
     .title = {"Stopped by somebody", "已手动停止"}},
    /* The controller's own. */
    {.name = "failures",
     .type = FIELD_INT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .fallback = "0",
     .title = {"Failures", "失败次数"}},
    {.name = "failed_generation",
     .type = FIELD_INT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .fallback = "0",
     .title = {"Generation that failed", "失败的代"}},
    {.name = "not_before",
     .type = FIELD_INT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .fallback = "0",
     .title = {"Not before", "不早于"}},
    {.name = "failed_reason",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .max = 500,
     .title = {"Why it failed", "失败原因"}},
    {.name = "failed_reason_zh",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .max = 500,
     .title = {"Why it failed, in Chinese", "失败原因（中文）"}},
    {0},
};

/* With another value of these a container is another one. */
static const char *const made_of[] = {"model_version", "image_version", "command",  "port",
                                      "health_path",   "spec",          "env",      "batch",
                                      "delay_us",      "queue",         "instances"};

bool version_is_model(const struct object *version)
{
    return object_int(version, "model_version") != 0;
}

int64_t version_failures(const struct object *version)
{
    return object_int(version, "failed_generation") == object_int(version, "generation")
               ? object_int(version, "failures")
               : 0;
}

void version_unsettle(struct object *version)
{
    bool wanted = !object_int(version, "stopped") && object_int(version, "replicas") > 0 &&
                  slot_of(object_text(version, "role")) != SLOTS;
    *object_value(version, "state") = db_textz(wanted ? "starting" : "stopping");
    *object_value(version, "reason") = *object_value(version, "reason_zh") = db_null();
}

int64_t service_wanted(const struct object *service, const struct object *version)
{
    bool stopped = object_int(service, "stopped") || object_int(version, "stopped");
    return stopped ? 0 : object_int(version, "replicas");
}

/* A model, or a command and where it runs. */
static bool check_program(struct op *op, const struct object *o, struct err *err)
{
    struct db_row row;
    bool found, command = object_text(o, "command").n > 0;
    if (!version_is_model(o))
        return command || err_message(err, ERR_INVALID, "model_version", MESSAGE_VERSION_NEEDS);
    if (command || object_int(o, "image_version"))
        return err_message(err, ERR_INVALID, command ? "command" : "image_version", MESSAGE_VERSION_BOTH);
    if (!conn_query_one(op->conn, op->arena, "SELECT files FROM model_versions WHERE id = ?",
                        db_args(db_int(object_int(o, "model_version"))), &row, &found, err))
        return false;
    return !found || row.v[0].i > 0 ||
           err_message(err, ERR_INVALID, "model_version", MESSAGE_MODEL_EMPTY, "model_version");
}

static bool choose_role(struct op *op, struct object *o, struct err *err)
{
    struct db_row row;
    bool found;
    if (object_text(o, "role").n)
        return true;
    if (!conn_query_one(op->conn, op->arena,
                        "SELECT id FROM service_versions WHERE service = ? AND role = 'production'",
                        db_args(db_int(o->parent)), &row, &found, err))
        return false;
    *object_value(o, "role") = db_textz(found ? "canary" : "production");
    return true;
}

static bool before_create(struct op *op, struct object *o, struct err *err)
{
    struct db_row row;
    bool found;
    if (!check_program(op, o, err) || !choose_role(op, o, err) ||
        !values_seal(op, NULL, object_value(o, "env"), err) ||
        !conn_query_one(op->conn, op->arena,
                        "SELECT COALESCE(MAX(number), 0) + 1 FROM service_versions WHERE service = ?",
                        db_args(db_int(o->parent)), &row, &found, err))
        return false;
    *object_value(o, "number") = db_int(row.v[0].i);
    *object_value(o, "name") = db_textz(arena_printf(op->arena, "v%lld", (long long)row.v[0].i));
    return true;
}

static struct words role_words(struct arena *a, struct str role, struct str name)
{
    switch (slot_of(role)) {
    case SLOT_PRODUCTION:
        return event_words(a, MESSAGE_EVENT_PRODUCTION, STR_ARG(name));
    case SLOT_CANARY:
        return event_words(a, MESSAGE_EVENT_CANARY, STR_ARG(name));
    default:
        return event_words(a, MESSAGE_EVENT_RETIRED, STR_ARG(name));
    }
}

bool service_take_role(struct op *op, const struct object *version, struct err *err)
{
    struct db_rows rows;
    struct str role = object_text(version, "role");
    if (!conn_query(op->conn, op->arena,
                    "SELECT id FROM service_versions WHERE service = ? AND role = ? AND id <> ?",
                    db_args(db_int(version->parent), db_text(role), db_int(version->id)), &rows, err))
        return false;
    for (size_t i = 0; slot_of(role) != SLOTS && i < rows.n; i++) {
        struct object other;
        bool found;
        if (!engine_load_row(op, &kind_service_version, rows.row[i].v[0].i, &other, &found, err))
            return false;
        *object_value(&other, "role") = db_textz("retired");
        version_unsettle(&other);
        if (!engine_update_row(op, &other, err))
            return false;
    }
    bool placed = slot_of(role) == SLOTS ||
                  conn_exec(op->conn, "UPDATE replicas SET slot = ? WHERE version = ? AND state <> 'over'",
                            db_args(db_text(role), db_int(version->id)), NULL, err);
    return placed && event_say(op, (struct event_of){version->parent, version->id, 0}, "role-changed",
                               role_words(op->arena, role, object_text(version, "name")), err);
}

static bool after_create(struct op *op, struct object *o, struct err *err)
{
    return service_take_role(op, o, err) && growth_add(op->conn, GROWTH_SERVICES, o->project, 1, err);
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    if (!object_text(new_, "role").n)
        *object_value(new_, "role") = *object_value(old, "role");
    if (!check_program(op, new_, err) ||
        !values_seal(op, object_value(old, "env"), object_value(new_, "env"), err))
        return false;
    bool other = false;
    for (size_t i = 0; i < countof(made_of); i++)
        other = other || !audit_same(object_value(old, made_of[i]), object_value(new_, made_of[i]));
    struct event_of of = {old->parent, old->id, 0};
    struct str name = object_text(old, "name");
    int64_t before = object_int(old, "replicas"), now = object_int(new_, "replicas");
    if (other) {
        int64_t generation = object_int(old, "generation") + 1;
        *object_value(new_, "generation") = db_int(generation);
        if (!event_add(op, of, err, MESSAGE_EVENT_GENERATION, STR_ARG(name), (long long)generation))
            return false;
    }
    if (other || before != now || !str_eq(object_text(old, "role"), object_text(new_, "role")))
        version_unsettle(new_);
    return before == now ||
           event_add(op, of, err, MESSAGE_EVENT_SCALED, STR_ARG(name), (long long)before, (long long)now);
}

static bool after_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    return str_eq(object_text(old, "role"), object_text(new_, "role")) || service_take_role(op, new_, err);
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    struct object service;
    bool found;
    if (!engine_load_row(op, &kind_service, o->parent, &service, &found, err))
        return false;
    if (found && str_is(object_text(o, "role"), "production") && service_wanted(&service, o) > 0)
        return err_message(err, ERR_CONFLICT, "role", MESSAGE_VERSION_IN_PRODUCTION,
                           STR_ARG(object_text(o, "name")));
    return replica_stop_all(op, o->parent, o->id, err) &&
           event_add(op, (struct event_of){o->parent, 0, 0}, err, MESSAGE_EVENT_VERSION_DELETED,
                     STR_ARG(object_text(o, "name")));
}

static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    (void)err;
    json_key(out, "env_names");
    values_write_names(op->arena, object_text(o, "env"), out);
    return true;
}

static void changed(struct core *core, const struct object *o, const char *verb)
{
    (void)o;
    (void)verb;
    services_wake(core);
}

const struct kind kind_service_version = {
    .name = "service_version",
    .plural = "versions",
    .table = "service_versions",
    .title = {"Version", "版本"},
    .titles = {"Versions", "版本"},
    .help = {"What answers a service's requests: a model version, or a command in an image.",
             "应答服务请求的内容：模型版本，或镜像中的命令。"},
    .scope = SCOPE_CHILD,
    .parent = "service",
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = service_version_actions,
    .before_create = before_create,
    .after_create = after_create,
    .before_update = before_update,
    .after_update = after_update,
    .before_delete = before_delete,
    .show = show,
    .changed = changed,
    .extra_sql = replica_sql,
};
