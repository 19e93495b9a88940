/* Jobs that other objects make and stop. */
#include "core/job/owner.h"
#include "core/validate.h"

static void request_json(const struct job_new *r, struct buf *out)
{
    struct json_out o;
    json_begin(&o, out);
    json_object(&o);
    json_kstr(&o, "name", r->name);
    if (r->image.n)
        json_kstr(&o, "image", r->image);
    json_kstr(&o, "command", r->command);
    if (r->env.n) {
        json_key(&o, "env");
        json_raw(&o, r->env);
    }
    json_kint(&o, "spec", r->spec);
    json_kint(&o, "nodes", r->nodes ? r->nodes : 1);
    json_kint(&o, "priority", r->priority);
    json_kint(&o, "retries", r->retries);
    json_key(&o, "hours");
    json_real(&o, r->hours);
    json_object_end(&o);
}

bool job_create(struct op *op, const struct job_new *r, int64_t *ret_id, struct err *err)
{
    auto_buf struct buf text = {0};
    size_t n = kind_field_count(&kind_job);
    struct object o = engine_object(op->arena, &kind_job);
    bool *given = arena_array(op->arena, bool, n + 1);
    request_json(r, &text);
    yyjson_val *body = json_parse(op->arena, arena_str(op->arena, buf_view(&text)), err);
    if (!body ||
        !validate_body(op->arena, kind_job.fields, body, VALIDATE_CREATE, NULL, o.values, given, err))
        return false;
    if (r->cpus > 0) {
        *object_value(&o, "demand_cpus") = db_real(r->cpus);
        *object_value(&o, "demand_memory") = db_int(r->memory);
    }
    o.project = r->project;
    o.created_by = op->caller->user;
    *object_value(&o, "owner_kind") = db_textz(r->owner_kind);
    *object_value(&o, "owner") = db_int(r->owner);
    if (!engine_insert_row(op, &o, err))
        return false;
    *ret_id = o.id;
    return true;
}

bool job_stop(struct op *op, int64_t id, const char *reason, struct err *err)
{
    struct object o;
    bool found;
    if (!engine_load_row(op, &kind_job, id, &o, &found, err))
        return false;
    enum job_state s = found ? job_state_of(&o) : JOB_STOPPED;
    if (job_is_over(s) || s == JOB_STOPPING)
        return true;
    struct job_change c = {.from = s, .to = s == JOB_QUEUED ? JOB_STOPPED : JOB_STOPPING, .reason = reason};
    return job_set_state(op, &o, &c, err);
}
