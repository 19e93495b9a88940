/* The kind `service`: what people give and see. */
#include "base/messages.h"
#include "core/image/repository.h"
#include "core/job/fields.h"
#include "core/serve/address.h"
#include "core/serve/event.h"
#include "core/serve/golden.h"
#include "core/serve/replica.h"
#include "core/serve/rules.h"
#include "core/serve/serve.h"

#define FORMER_MAX 50 /* names that still lead to a service */

static const struct choice states[] = {
    {"stopped", {"Stopped", "已停止"}}, {"starting", {"Starting", "启动中"}},
    {"serving", {"Serving", "服务中"}}, {"degraded", {"Degraded", "部分可用"}},
    {"failed", {"Failed", "失败"}},     {NULL, {NULL, NULL}},
};

static const struct choice resends[] = {
    {"auto", {"For models", "仅模型服务"}},
    {"on", {"Always", "总是"}},
    {"off", {"Never", "从不"}},
    {NULL, {NULL, NULL}},
};

/* "https://app.example", with or without a port; or "*". */
static bool origins_check(struct arena *a, const struct field *f, const struct db_value *value,
                          struct err *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789.-:[]";
    yyjson_val *list = value->type == DB_TEXT ? json_parse(a, value->s, err) : NULL, *v;
    size_t i, max;
    if (value->type != DB_TEXT)
        return true;
    if (!list)
        return false;
    yyjson_arr_foreach(list, i, max, v)
    {
        struct str one = json_str(v);
        size_t scheme = str_starts(one, "https://") ? 8 : str_starts(one, "http://") ? 7 : 0;
        bool good = scheme && one.n > scheme && strspn(one.p + scheme, plain) == one.n - scheme;
        if (!good && !str_is(one, "*"))
            return err_message(err, ERR_INVALID, f->name, MESSAGE_SERVICE_ORIGIN, f->name,
                               (int)(one.n < 80 ? one.n : 80), one.p);
    }
    return true;
}

static bool host_check(struct arena *a, const struct field *f, const struct db_value *value, struct err *err)
{
    (void)a;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    struct str s = value->type == DB_TEXT ? value->s : STR_NULL;
    bool good = !s.n || (strspn(s.p, plain) == s.n && s.p[0] != '.' && s.p[0] != '-' && s.p[s.n - 1] != '.' &&
                         s.p[s.n - 1] != '-' && str_find(s, STR("..")) < 0);
    return good || err_message(err, ERR_INVALID, f->name, MESSAGE_SERVICE_HOST, f->name,
                               (int)(s.n < 80 ? s.n : 80), s.p);
}

static const struct field fields[] = {
    FIELD_NAME(FIELD_EDIT | FIELD_UNIQUE),
    {.name = "state",
     .type = FIELD_CHOICE,
     .flags = FIELD_FILTER | FIELD_LIST | FIELD_STATUS,
     .choices = states,
     .fallback = "\"stopped\"",
     .title = {"State", "状态"}},
    JOB_FIELD_REASON(FIELD_STATUS),
    {.name = "address",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL,
     .max = 300,
     .title = {"Address", "地址"},
     .help = {"Where its requests go.", "请求发往的地址。"}},
    {.name = "production",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL | FIELD_LIST,
     .max = 20,
     .title = {"Production", "生产版本"},
     .help = {"Replicas: wanted/ready.", "副本数：期望/就绪。"}},
    {.name = "canary",
     .type = FIELD_TEXT,
     .flags = FIELD_VIRTUAL | FIELD_LIST,
     .max = 20,
     .title = {"Canary", "灰度版本"},
     .help = {"Replicas: wanted/ready.", "副本数：期望/就绪。"}},
    FIELD_DESCRIPTION,
    {.name = "share",
     .type = FIELD_INT,
     .flags = FIELD_EDIT | FIELD_LIST,
     .min = 0,
     .max = 1000,
     .fallback = "100",
     .unit = "thousandths",
     .section = SECTION_HOW,
     .title = {"Canary's share", "灰度流量"},
     .help = {"Thousandths of the requests that go to the canary.", "分配给灰度版本的请求，以千分之一计。"}},
    {.name = "rules",
     .type = FIELD_JSON,
     .flags = FIELD_EDIT,
     .max = 2000,
     .fallback = "{}",
     .members = rules_members,
     .section = SECTION_HOW,
     .title = {"Rules for the canary", "灰度规则"},
     .help = {"When the canary breaks one beyond chance it is stopped or rolled back.",
              "灰度版本显著违反规则时将被停止或回滚。"}},
    {.name = "golden",
     .type = FIELD_REF,
     .flags = FIELD_EDIT | FIELD_FILTER,
     .ref = "dataset_version",
     .section = SECTION_HOW,
     .title = {"Golden version", "黄金数据集版本"},
     .help = {"A published, labelled dataset version on which canaries are held against production: by the "
              "rules golden_drop and agreement.",
              "已发布且已标注的数据集版本，用于按规则 golden_drop 和 agreement 对比灰度版本与生产版本。"}},
    {.name = "golden_result",
     .type = FIELD_JSON,
     .flags = FIELD_STATUS,
     .max = 4000,
     .schema = GOLDEN_SCHEMA,
     .title = {"Canary on the golden version", "灰度版本在黄金数据集上的结果"}},
    {.name = "golden_key",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .title = {"What the result was made of", "结果的依据"}},
    {.name = "origins",
     .type = FIELD_TEXTS,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .max = 20,
     .item_max = 200,
     .fallback = "[]",
     .check = origins_check,
     .section = SECTION_LIMITS,
     .title = {"Allowed origins", "允许的来源"},
     .help = {"Pages that may send requests, as https://app.example; none by default.",
              "允许发送请求的页面来源，如 https://app.example；默认没有。"}},
    {.name = "body_limit",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 1,
     .max = INT64_C(1) << 30,
     .fallback = "16777216",
     .unit = "bytes",
     .section = SECTION_LIMITS,
     .title = {"Largest request", "请求体上限"}},
    {.name = "time_limit_s",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 1,
     .max = 3600,
     .fallback = "60",
     .unit = "seconds",
     .section = SECTION_LIMITS,
     .title = {"Longest request", "请求时限"}},
    {.name = "drain_s",
     .type = FIELD_INT,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .min = 0,
     .max = 600,
     .fallback = "60",
     .unit = "seconds",
     .section = SECTION_LIMITS,
     .title = {"Longest drain", "最长排空时间"},
     .help = {"A replica that gets no new requests any more has so long to finish those it has.",
              "副本不再接收新请求后，完成已有请求的最长时间。"}},
    {.name = "resend",
     .type = FIELD_CHOICE,
     .flags = FIELD_ADVANCED | FIELD_EDIT,
     .choices = resends,
     .fallback = "\"auto\"",
     .section = SECTION_LIMITS,
     .title = {"Send again", "重发"},
     .help = {"A small request whose replica dies before it answers goes to another.",
              "副本在应答前中断时，小请求改发给其他副本。"}},
    {.name = "host",
     .type = FIELD_TEXT,
     .flags = FIELD_ADVANCED | FIELD_EDIT | FIELD_FILTER,
     .max = 253,
     .check = host_check,
     .section = SECTION_LIMITS,
     .title = {"Host name of its own", "独立域名"}},
    {.name = "stopped",
     .type = FIELD_BOOL,
     .flags = FIELD_FILTER,
     .fallback = "false",
     .title = {"Stopped by somebody", "已手动停止"}},
    {.name = "model_name",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL,
     .title = {"What ingot-infer calls its model", "ingot-infer 中的模型名"}},
    {.name = "former_names",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL,
     .title = {"Former names", "曾用名"}},
    {.name = "trial",
     .type = FIELD_TEXT,
     .flags = FIELD_INTERNAL | FIELD_STATUS,
     .title = {"What its canary did so far", "灰度版本迄今的统计"}},
    {0},
};

const char *service_address_name(struct arena *a, const struct object *service)
{
    return repository_project_text(a, service->id, object_text(service, "name"));
}

static bool host_is_free(struct op *op, const struct object *o, struct err *err)
{
    struct db_row row;
    bool found = false;
    struct str host = object_text(o, "host");
    if (host.n && !conn_query_one(op->conn, op->arena, "SELECT id FROM services WHERE host = ? AND id <> ?",
                                  db_args(db_text(host), db_int(o->id)), &row, &found, err))
        return false;
    return !found || err_message(err, ERR_EXISTS, "host", MESSAGE_SERVICE_HOST_TAKEN, STR_ARG(host));
}

/* Replicas of model versions know the model by one name, whatever the service is called later. */
static bool before_create(struct op *op, struct object *o, struct err *err)
{
    const char *name = repository_project_text(op->arena, 0, object_text(o, "name"));
    *object_value(o, "model_name") = db_textz(strcmp(name, "id.0") == 0 ? "model" : name);
    return host_is_free(op, o, err) && golden_check(op, o, err);
}

/* Under its former name it is found, too. */
static void keep_name(struct op *op, const struct object *old, struct object *new_)
{
    struct err ignored = {0};
    struct str former = object_text(old, "former_names"), name = object_text(old, "name");
    yyjson_val *list = former.n ? json_parse(op->arena, former, &ignored) : NULL, *v;
    auto_buf struct buf text = {0};
    struct json_out out;
    size_t i, max, n = 1;
    json_begin(&out, &text);
    json_array(&out);
    json_string(&out, name);
    if (list)
        yyjson_arr_foreach(list, i, max, v) if (n < FORMER_MAX && !str_eq(json_str(v), name))
        {
            json_string(&out, json_str(v));
            n++;
        }
    json_array_end(&out);
    *object_value(new_, "former_names") = db_text(arena_str(op->arena, buf_view(&text)));
}

static bool before_update(struct op *op, const struct object *old, struct object *new_, struct err *err)
{
    if (!str_eq(object_text(old, "name"), object_text(new_, "name")))
        keep_name(op, old, new_);
    if (object_int(old, "share") != object_int(new_, "share") &&
        !event_add(op, (struct event_of){.service = old->id}, err, MESSAGE_EVENT_SHARE,
                   (double)object_int(new_, "share") / 10))
        return false;
    if (object_int(old, "golden") != object_int(new_, "golden"))
        *object_value(new_, "golden_result") = *object_value(new_, "golden_key") = db_null();
    return host_is_free(op, new_, err) &&
           (object_int(old, "golden") == object_int(new_, "golden") || golden_check(op, new_, err));
}

/* What belongs to it goes with it; its replicas are stopped, and their jobs go when they are over. */
static bool delete_children(struct op *op, const struct kind *k, int64_t service, struct err *err)
{
    struct db_rows rows;
    if (!conn_query(op->conn, op->arena,
                    arena_printf(op->arena, "SELECT id FROM %s WHERE service = ?", k->table),
                    db_args(db_int(service)), &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        struct object o;
        bool found;
        if (!engine_load_row(op, k, rows.row[i].v[0].i, &o, &found, err) ||
            (found && !engine_delete_row(op, &o, err)))
            return false;
    }
    return true;
}

static bool before_delete(struct op *op, struct object *o, struct err *err)
{
    return replica_stop_all(op, o->id, 0, err) && delete_children(op, &kind_service_version, o->id, err) &&
           delete_children(op, &kind_service_key, o->id, err) && event_drop(op, o->id, err);
}

static bool show_slot(struct op *op, const struct object *o, enum slot slot, struct json_out *out,
                      struct err *err)
{
    struct db_row row;
    bool found;
    const char *name = slot_names[slot];
    if (!db_query_one(op->core->db, op->arena,
                      "SELECT CASE WHEN v.stopped = 1 THEN 0 ELSE v.replicas END, (SELECT COUNT(*) FROM"
                      " replicas r WHERE r.service = v.service AND r.slot = ? AND r.state = 'ready') FROM"
                      " service_versions v WHERE v.service = ? AND v.role = ?",
                      db_args(db_textz(name), db_int(o->id), db_textz(name)), &row, &found, err))
        return false;
    int64_t wanted = found && !object_int(o, "stopped") ? row.v[0].i : 0;
    json_kz(out, name,
            found ? arena_printf(op->arena, "%lld/%lld", (long long)wanted, (long long)row.v[1].i) : NULL);
    return true;
}

static bool show(struct op *op, const struct object *o, struct json_out *out, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(op->core->db, op->arena, "SELECT name FROM projects WHERE id = ?",
                      db_args(db_int(o->project)), &row, &found, err))
        return false;
    const char *project = found ? repository_project_text(op->arena, o->project, row.v[0].s) : "";
    struct str host = object_text(o, "host");
    json_kz(out, "address",
            serve_address(op->core, op->caller->host, project, service_address_name(op->arena, o),
                          host.n ? arena_strz(op->arena, host) : NULL, op->arena));
    return show_slot(op, o, SLOT_PRODUCTION, out, err) && show_slot(op, o, SLOT_CANARY, out, err);
}

static void changed(struct core *core, const struct object *o, const char *verb)
{
    (void)o;
    (void)verb;
    services_settle(core); /* the routes say so before the answer does */
}

/* Asked by the gateway and by POST .../predict. */
static const struct kind_permission permissions[] = {
    {"service.invoke", {"Send requests", "调用"}},
    {NULL, {NULL, NULL}},
};

const struct kind kind_service = {
    .name = "service",
    .plural = "services",
    .table = "services",
    .title = {"Service", "服务"},
    .titles = {"Services", "服务"},
    .help = {"Models and programs that answer requests at a stable address. Deleting one stops its replicas.",
             "在固定地址上应答请求的模型和程序。删除时其副本停止。"},
    .menu = "serve",
    .scope = SCOPE_PROJECT,
    .verbs = VERB_ALL,
    .fields = fields,
    .actions = service_actions,
    .permissions = permissions,
    .before_create = before_create,
    .before_update = before_update,
    .before_delete = before_delete,
    .show = show,
    .changed = changed,
    .extra_sql = event_sql,
};
