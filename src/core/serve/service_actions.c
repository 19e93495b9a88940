/* What can be done with a service and its versions: switch, stop, start, scale; events and replicas. */
#include "base/clock.h"
#include "base/messages.h"
#include "core/serve/event.h"
#include "core/serve/interface.h"
#include "core/serve/replica.h"
#include "core/serve/version.h"

static bool load(struct op *op, const struct kind *k, int64_t id, struct object *ret, struct err *err)
{
    bool found;
    return engine_load_row(op, k, id, ret, &found, err) &&
           (found || err_set(err, ERR_NOT_FOUND, NULL, "it was deleted meanwhile"));
}

/* --- switch --- */

static bool load_role(struct op *op, int64_t service, enum slot slot, struct object *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!conn_query_one(op->conn, op->arena, "SELECT id FROM service_versions WHERE service = ? AND role = ?",
                        db_args(db_int(service), db_textz(slot_names[slot])), &row, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_CONFLICT, "role", MESSAGE_SWITCH_NONE);
    return load(op, &kind_service_version, row.v[0].i, ret, err);
}

static bool place_replicas(struct op *op, const struct object *version, struct err *err)
{
    return conn_exec(op->conn, "UPDATE replicas SET slot = ? WHERE version = ? AND state <> 'over'",
                     db_args(db_text(object_text(version, "role")), db_int(version->id)), NULL, err);
}

/* Roles and replicas change sides in one commit. What was the canary has at least as many replicas from now
 * on as what it takes over from. */
static bool switch_write(struct op *op, void *ctx, struct err *err)
{
    struct object *o = ctx, production, canary;
    if (!load(op, &kind_service, o->id, o, err) || !load_role(op, o->id, SLOT_PRODUCTION, &production, err) ||
        !load_role(op, o->id, SLOT_CANARY, &canary, err))
        return false;
    struct str was = object_text(&production, "name"), is = object_text(&canary, "name");
    if (object_int(&canary, "ready") == 0 && object_int(&production, "ready") > 0)
        return err_message(err, ERR_CONFLICT, "role", MESSAGE_SWITCH_UNREADY, STR_ARG(is));
    *object_value(&production, "role") = db_textz(slot_names[SLOT_CANARY]);
    *object_value(&canary, "role") = db_textz(slot_names[SLOT_PRODUCTION]);
    if (object_int(&canary, "replicas") < object_int(&production, "replicas"))
        *object_value(&canary, "replicas") = *object_value(&production, "replicas");
    return engine_update_row(op, &production, err) && engine_update_row(op, &canary, err) &&
           place_replicas(op, &production, err) && place_replicas(op, &canary, err) &&
           event_add(op, (struct event_of){o->id, canary.id, 0}, err, MESSAGE_EVENT_SWITCH, STR_ARG(was),
                     STR_ARG(is), op->caller->name);
}

static bool run_switch(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)input;
    (void)status;
    if (!engine_write(op->core, op->caller, op->arena, switch_write, o, err))
        return false;
    services_settle(op->core);
    return engine_answer_id(op, &kind_service, o->id, out, err);
}

/* --- stop and start, of a service or of one version --- */

struct halting {
    struct object *o;
    bool stopped;
};

static bool halt_write(struct op *op, void *ctx, struct err *err)
{
    struct halting *h = ctx;
    struct object *o = h->o;
    if (!load(op, o->kind, o->id, o, err))
        return false;
    if ((object_int(o, "stopped") != 0) == h->stopped)
        return h->stopped ? err_message(err, ERR_CONFLICT, "state", MESSAGE_SERVICE_STOPPED_ALREADY)
                          : err_message(err, ERR_CONFLICT, "state", MESSAGE_SERVICE_NOT_STOPPED);
    bool version = o->kind == &kind_service_version;
    struct event_of of = {version ? o->parent : o->id, version ? o->id : 0, 0};
    *object_value(o, "stopped") = db_int(h->stopped);
    if (version)
        version_unsettle(o);
    if (version && !h->stopped)
        *object_value(o, "failures") = *object_value(o, "not_before") = db_int(0);
    bool told = h->stopped ? event_add(op, of, err, MESSAGE_EVENT_STOPPED, op->caller->name)
                           : event_add(op, of, err, MESSAGE_EVENT_STARTED, op->caller->name);
    return told && engine_update_row(op, o, err);
}

static bool halt(struct op *op, struct object *o, bool stopped, struct json_out *out, struct err *err)
{
    struct halting h = {o, stopped};
    return engine_write(op->core, op->caller, op->arena, halt_write, &h, err) &&
           engine_answer_id(op, o->kind, o->id, out, err);
}

static bool run_stop(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                     int *status, struct err *err)
{
    (void)input;
    (void)status;
    return halt(op, o, true, out, err);
}

static bool run_start(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    return halt(op, o, false, out, err);
}

/* --- scale --- */

struct scaling {
    struct object *o;
    int64_t replicas;
};

static bool scale_write(struct op *op, void *ctx, struct err *err)
{
    struct scaling *s = ctx;
    if (!load(op, &kind_service_version, s->o->id, s->o, err))
        return false;
    int64_t before = object_int(s->o, "replicas");
    if (before == s->replicas)
        return true;
    *object_value(s->o, "replicas") = db_int(s->replicas);
    version_unsettle(s->o);
    return engine_update_row(op, s->o, err) &&
           event_add(op, (struct event_of){s->o->parent, s->o->id, 0}, err, MESSAGE_EVENT_SCALED,
                     STR_ARG(object_text(s->o, "name")), (long long)before, (long long)s->replicas);
}

static bool run_scale(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)status;
    struct scaling s = {o, input[0].i};
    return engine_write(op->core, op->caller, op->arena, scale_write, &s, err) &&
           engine_answer_id(op, &kind_service_version, o->id, out, err);
}

/* --- what is there --- */

static bool run_events(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                       int *status, struct err *err)
{
    (void)input;
    (void)status;
    return event_write(op->core, o->id, op->arena, out, err);
}

static void write_replica(const struct db_value *v, struct json_out *out)
{
    char at[CLOCK_TEXT_MAX];
    bool there = v[7].type == DB_TEXT;
    json_object(out);
    json_kint(out, "job", v[0].i);
    json_kint(out, "version", v[1].i);
    json_kstr(out, "version_name", v[2].type == DB_TEXT ? v[2].s : STR_NULL);
    json_kint(out, "generation", v[3].i);
    json_kstr(out, "role", v[4].s);
    json_kstr(out, "state", v[5].s);
    json_kz(out, "since", clock_format(v[6].i, at));
    json_kstr(out, "job_state", there ? v[7].s : STR_NULL);
    json_kint(out, "attempt", there ? v[8].i : 0);
    json_kstr(out, "reason", v[9].type == DB_TEXT ? v[9].s : STR_NULL);
    json_kstr(out, "reason_zh", v[10].type == DB_TEXT ? v[10].s : STR_NULL);
    json_object_end(out);
}

/* Newest first. */
static bool run_replicas(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                         int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct db_rows rows;
    if (!db_query(op->core->db, op->arena,
                  "SELECT r.job, r.version, v.name, r.generation, r.slot, r.state, r.since, j.state,"
                  " j.attempt, j.reason, j.reason_zh FROM replicas r LEFT JOIN jobs j ON j.id = r.job LEFT"
                  " JOIN service_versions v ON v.id = r.version WHERE r.service = ? ORDER BY r.job DESC LIMIT"
                  " 500",
                  db_args(db_int(o->id)), &rows, err))
        return false;
    json_object(out);
    json_key(out, "items");
    json_array(out);
    for (size_t i = 0; i < rows.n; i++)
        write_replica(rows.row[i].v, out);
    json_array_end(out);
    json_object_end(out);
    return true;
}

/* What callers may send: as the model in production says, or the canary's where production has none. */
static bool run_model(struct op *op, struct object *o, const struct db_value *input, struct json_out *out,
                      int *status, struct err *err)
{
    (void)input;
    (void)status;
    struct db_row row;
    struct serve_interface in;
    bool found;
    if (!db_query_one(op->core->db, op->arena,
                      "SELECT id FROM service_versions WHERE service = ? AND model_version IS NOT NULL AND"
                      " role IN ('production', 'canary') ORDER BY role DESC",
                      db_args(db_int(o->id)), &row, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_CONFLICT, "role", MESSAGE_SERVICE_NO_MODEL);
    if (!serve_interface_read(op->core, row.v[0].i, service_address_name(op->arena, o), op->arena, &in, err))
        return false;
    serve_interface_write(&in, out);
    return true;
}

/* --- the tables --- */

static const struct field scale_fields[] = {
    {.name = "replicas",
     .type = FIELD_INT,
     .flags = FIELD_REQUIRED | FIELD_CREATE,
     .min = 0,
     .max = 64,
     .title = {"Replicas", "副本数"}},
    {0},
};

const struct action service_actions[] = {
    {.name = "deploy",
     .permission = "service.create",
     .on_kind = true,
     .fields = service_deploy_fields,
     .answer = "Deployment",
     .status = 201,
     .title = {"Deploy", "部署"},
     .run = service_deploy},
    {.name = "fitting",
     .permission = "service.read",
     .on_kind = true,
     .read_only = true,
     .fields = service_fitting_fields,
     .answer = "FittingServices",
     .title = {"Services that do the same", "同类任务的服务"},
     .run = service_fitting},
    {.name = "switch",
     .permission = "service.switch",
     .title = {"Switch canary and production", "切换灰度与生产"},
     .danger = true,
     .run = run_switch},
    {.name = "stop",
     .permission = "service.stop",
     .title = {"Stop", "停止"},
     .danger = true,
     .run = run_stop},
    {.name = "start", .permission = "service.start", .title = {"Start", "启动"}, .run = run_start},
    {.name = "events",
     .permission = "service.read",
     .read_only = true,
     .answer = "ServiceEvents",
     .title = {"Events", "事件"},
     .run = run_events},
    {.name = "replicas",
     .permission = "service.read",
     .read_only = true,
     .answer = "ServiceReplicas",
     .title = {"Replicas", "副本"},
     .run = run_replicas},
    {.name = "model",
     .permission = "service.read",
     .read_only = true,
     .answer = "ServiceModel",
     .title = {"What its model takes and answers", "模型的输入与输出"},
     .run = run_model},
    {.name = "log",
     .permission = "service.read",
     .read_only = true,
     .fields = service_log_fields,
     .answer = "ServiceLog",
     .title = {"Logs of all replicas", "全部副本日志"},
     .run = service_log},
    {0},
};

const struct action service_version_actions[] = {
    {.name = "scale",
     .permission = "service_version.scale",
     .fields = scale_fields,
     .title = {"Scale", "调整副本数"},
     .run = run_scale},
    {.name = "stop",
     .permission = "service_version.scale",
     .title = {"Stop", "停止"},
     .danger = true,
     .run = run_stop},
    {.name = "start", .permission = "service_version.scale", .title = {"Start", "启动"}, .run = run_start},
    {0},
};
