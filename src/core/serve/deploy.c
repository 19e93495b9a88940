/* The action `deploy`: from a model version, or a command, to a service that answers, in one commit. */
#include "base/messages.h"
#include "core/compute/spec.h"
#include "core/evaluate/evaluate.h"
#include "core/folder/model_file.h"
#include "core/refs.h"
#include "core/serve/serve.h"
#include "core/validate.h"
#include "model/manifest.h"

enum { PROJECT, NAME, MODEL, IMAGE, COMMAND, PORT, HEALTH, SPEC, REPLICAS, ROLE };

static const struct choice roles[] = {
    {"production", {"Production", "生产"}},
    {"canary", {"Canary", "灰度"}},
    {NULL, {NULL, NULL}},
};

const struct field service_deploy_fields[] = {
    [PROJECT] = {.name = "project",
                 .type = FIELD_REF,
                 .flags = FIELD_REQUIRED | FIELD_CREATE,
                 .ref = "project",
                 .title = {"Project", "项目"}},
    [NAME] = {.name = "name",
              .type = FIELD_TEXT,
              .flags = FIELD_REQUIRED | FIELD_CREATE,
              .min = 1,
              .max = 50,
              .rule = "name",
              .title = {"Service", "服务"},
              .help = {"A new one, or one that gets another version.", "新建服务，或为已有服务增加版本。"}},
    [MODEL] = {.name = "model_version",
               .type = FIELD_REF,
               .flags = FIELD_CREATE,
               .ref = "model_version",
               .title = {"Model", "模型"}},
    [IMAGE] = {.name = "image_version",
               .type = FIELD_REF,
               .flags = FIELD_CREATE,
               .ref = "image_version",
               .title = {"Image", "镜像"}},
    [COMMAND] = {.name = "command",
                 .type = FIELD_TEXT,
                 .flags = FIELD_CREATE | FIELD_LONG,
                 .max = 3000,
                 .title = {"Command", "命令"}},
    [PORT] = {.name = "port",
              .type = FIELD_INT,
              .flags = FIELD_CREATE,
              .min = 1,
              .max = 65535,
              .title = {"Port", "端口"}},
    [HEALTH] = {.name = "health_path",
                .type = FIELD_TEXT,
                .flags = FIELD_CREATE,
                .max = 500,
                .title = {"Health path", "健康检查路径"}},
    [SPEC] = {.name = "spec",
              .type = FIELD_REF,
              .flags = FIELD_CREATE,
              .ref = "spec",
              .title = {"Spec", "规格"},
              .help = {"By default the smallest that fits.", "默认为满足需要的最小规格。"}},
    [REPLICAS] = {.name = "replicas",
                  .type = FIELD_INT,
                  .flags = FIELD_CREATE,
                  .min = 0,
                  .max = 64,
                  .fallback = "1",
                  .title = {"Replicas", "副本数"}},
    [ROLE] = {.name = "role",
              .type = FIELD_CHOICE,
              .flags = FIELD_CREATE,
              .choices = roles,
              .fallback = "\"production\"",
              .title = {"Role", "角色"}},
    {0},
};

/* --- making one object of a kind inside a write --- */

static bool check_refs(struct op *op, const struct object *o, struct err *err)
{
    for (const struct field *f = o->kind->fields; f->name; f++) {
        const struct db_value *v = object_value(o, f->name);
        if (f->type == FIELD_REF && v->type == DB_INT && !refs_check(op, o, f, v->i, err))
            return false;
    }
    return true;
}

bool service_make(struct op *op, const struct kind *k, struct str body, struct object *o, struct err *err)
{
    struct object made = engine_object(op->arena, k);
    const struct kind *before = op->kind;
    bool *given = arena_array(op->arena, bool, kind_field_count(k) + 1);
    yyjson_val *doc = json_parse(op->arena, body, err);
    made.project = o->project;
    made.parent = o->parent;
    made.created_by = op->caller->user;
    if (!doc || !validate_body(op->arena, k->fields, doc, VALIDATE_CREATE, NULL, made.values, given, err))
        return false;
    op->kind = k;
    bool ok = check_refs(op, &made, err) && (!k->before_create || k->before_create(op, &made, err)) &&
              engine_insert_row(op, &made, err) && (!k->after_create || k->after_create(op, &made, err));
    op->kind = before;
    if (ok)
        *o = made;
    return ok;
}

/* --- deploying --- */

struct deploying {
    const struct db_value *input;
    struct object service, version, key;
    bool made; /* the service, and a key for it */
};

static bool find_service(struct op *op, struct deploying *d, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT id FROM services WHERE project = ? AND name = ?",
                        db_args(db_int(d->input[PROJECT].i), db_text(d->input[NAME].s)), &row, &found, err))
        return false;
    d->made = !found;
    return !found || engine_load_row(op, &kind_service, row.v[0].i, &d->service, &found, err);
}

static bool make_service(struct op *op, struct deploying *d, struct err *err)
{
    auto_buf struct buf text = {0};
    struct json_out out;
    json_begin(&out, &text);
    json_object(&out);
    json_kstr(&out, "name", d->input[NAME].s);
    json_object_end(&out);
    d->service = (struct object){.project = d->input[PROJECT].i};
    return service_make(op, &kind_service, arena_str(op->arena, buf_view(&text)), &d->service, err);
}

static bool choose_spec(struct op *op, const struct db_value *in, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found = false;
    if (in[SPEC].type == DB_INT) {
        *ret = in[SPEC].i;
        return true;
    }
    if (in[MODEL].type == DB_INT &&
        !conn_query_one(op->conn, op->arena, "SELECT bytes FROM model_versions WHERE id = ?",
                        db_args(db_int(in[MODEL].i)), &row, &found, err))
        return false;
    int64_t memory = model_memory(found ? row.v[0].i : 0);
    return spec_smallest(op, memory, ret, err) &&
           (*ret || err_message(err, ERR_INVALID, "spec", MESSAGE_DEPLOY_SPEC, (long long)(memory >> 20)));
}

static bool make_version(struct op *op, struct deploying *d, struct err *err)
{
    static const int numbers[] = {MODEL, IMAGE, PORT, REPLICAS}, texts[] = {COMMAND, HEALTH, ROLE};
    auto_buf struct buf text = {0};
    struct json_out out;
    int64_t spec;
    if (!choose_spec(op, d->input, &spec, err))
        return false;
    json_begin(&out, &text);
    json_object(&out);
    json_kint(&out, "spec", spec);
    for (size_t i = 0; i < countof(numbers); i++)
        if (d->input[numbers[i]].type == DB_INT)
            json_kint(&out, service_deploy_fields[numbers[i]].name, d->input[numbers[i]].i);
    for (size_t i = 0; i < countof(texts); i++)
        if (d->input[texts[i]].type == DB_TEXT && d->input[texts[i]].s.n)
            json_kstr(&out, service_deploy_fields[texts[i]].name, d->input[texts[i]].s);
    json_object_end(&out);
    d->version = (struct object){.project = d->service.project, .parent = d->service.id};
    return service_make(op, &kind_service_version, arena_str(op->arena, buf_view(&text)), &d->version, err);
}

static bool deploy_write(struct op *op, void *ctx, struct err *err)
{
    struct deploying *d = ctx;
    if (!find_service(op, d, err) || (d->made && !make_service(op, d, err)) || !make_version(op, d, err))
        return false;
    if (!d->made)
        return true;
    d->key = (struct object){.project = d->service.project, .parent = d->service.id};
    return service_make(op, &kind_service_key, STR("{\"name\":\"first\"}"), &d->key, err);
}

bool service_deploy(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                    int *status, struct err *err)
{
    static const char *const needs[] = {"service_version.create", "service_key.create"};
    struct deploying d = {.input = input};
    (void)status;
    for (size_t i = 0; i < countof(needs); i++)
        if (!caller_need(op->caller, needs[i], o->project, err))
            return false;
    if (!engine_write(op->core, op->caller, op->arena, deploy_write, &d, err))
        return false;
    json_object(out);
    json_key(out, "service");
    if (!engine_answer(op, &d.service, out, err))
        return false;
    json_key(out, "version");
    if (!engine_answer(op, &d.version, out, err))
        return false;
    json_key(out, "key");
    if (!d.made)
        json_null(out);
    else if (!engine_answer(op, &d.key, out, err))
        return false;
    json_object_end(out);
    *o = d.service;
    return true;
}

/* --- which services a model may become a version of --- */

#define FITTING_MAX 200 /* services that are looked at: those of the same model, then the newest */

const struct field service_fitting_fields[] = {
    {.name = "project",
     .type = FIELD_REF,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .ref = "project",
     .title = {"Project", "项目"}},
    {.name = "model_version",
     .type = FIELD_REF,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .ref = "model_version",
     .title = {"Model", "模型"}},
    {0},
};

/* -1: it does not say. */
static int task_of(struct op *op, int64_t model)
{
    struct model_manifest m;
    struct err ignored = {0};
    return evaluation_manifest(op->core, model, op->arena, &m, &ignored) ? m.task : -1;
}

bool service_fitting(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    struct object model;
    struct db_rows rows;
    (void)status;
    if (!engine_get(op->core, op->caller, &kind_model_version, 0, input[1].i, op->arena, &model, err) ||
        !db_query(
            op->core->db, op->arena,
            "SELECT s.id, s.name, v.model_version FROM services s JOIN service_versions v ON v.service ="
            " s.id AND v.role = 'production' JOIN model_versions m ON m.id = v.model_version WHERE"
            " s.project = ? ORDER BY CASE WHEN m.model_set = ? THEN 0 ELSE 1 END, s.id DESC LIMIT ?",
            db_args(db_int(o->project), db_int(model.parent), db_int(FITTING_MAX)), &rows, err))
        return false;
    int wanted = task_of(op, model.id);
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; wanted >= 0 && i < rows.n; i++) {
        const struct db_value *v = rows.row[i].v;
        if (task_of(op, v[2].i) != wanted)
            continue;
        json_object(out);
        json_kint(out, "id", v[0].i);
        json_kstr(out, "name", v[1].s);
        json_object_end(out);
    }
    json_array_end(out);
    json_object_end(out);
    return true;
}
