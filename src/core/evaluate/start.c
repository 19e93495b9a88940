/* From an evaluation to its job, or to the task that compares. */
#include "base/messages.h"
#include "base/messages_evaluate.h"
#include "core/compute/spec.h"
#include "core/data/sample.h"
#include "core/evaluate/evaluate.h"
#include "core/folder/folder.h"
#include "core/folder/model_file.h"

#define HOURS 24

bool evaluation_model(struct op *op, const struct object *o, int64_t *ret, struct err *err)
{
    int64_t service = object_int(o, "service_version");
    struct object version;
    *ret = object_int(o, "model_version");
    if (!service)
        return true;
    if (!engine_get(op->core, &caller_system, kind_by_name(STR("service_version")), 0, service, op->arena,
                    &version, err))
        return false;
    *ret = object_int(&version, "model_version");
    return *ret || err_message(err, ERR_INVALID, "service_version", MESSAGE_EVALUATION_NO_MODEL);
}

bool evaluation_drop_job(struct op *op, int64_t id, struct err *err)
{
    struct object job;
    bool found;
    if (!id)
        return true;
    if (!engine_load_row(op, &kind_job, id, &job, &found, err))
        return false;
    if (!found)
        return true;
    const struct kind *before = op->kind;
    op->kind = &kind_job;
    bool ok = engine_delete_row(op, &job, err) && kind_job.after_delete(op, &job, err);
    op->kind = before;
    return ok;
}

bool evaluation_compare(struct op *op, struct object *o, struct err *err)
{
    int64_t task;
    if (!task_create(op,
                     &(struct task_new){
                         .type = task_evaluate.name,
                         .project = o->project,
                         .subject_kind = kind_evaluation.name,
                         .subject = o->id,
                         .name = task_name(op->arena, MESSAGE_NAME_EVALUATE, STR_ARG(object_text(o, "name"))),
                         .params = STR("{}")},
                     &task, err))
        return false;
    *object_value(o, "task") = db_int(task);
    return true;
}

static bool submit(struct op *op, struct object *o, int64_t model, struct err *err)
{
    struct object version;
    bool found;
    int64_t job, spec;
    if (!engine_load_row(op, &kind_model_version, model, &version, &found, err))
        return false;
    if (!found)
        return err_message(err, ERR_CONFLICT, "model_version", MESSAGE_EVALUATION_MODEL_GONE);
    int64_t memory = model_memory(object_int(&version, "bytes"));
    if (!spec_smallest(op, memory, &spec, err))
        return false;
    if (!spec)
        return err_message(err, ERR_CONFLICT, "spec", MESSAGE_DEPLOY_SPEC, (long long)(memory >> 20));
    struct job_new r = {.project = o->project,
                        .owner_kind = kind_evaluation.name,
                        .owner = o->id,
                        .name = object_text(o, "name"),
                        .image = STR("host"),
                        .command = STR("ingot-infer predict"),
                        .spec = spec,
                        .nodes = 1,
                        .hours = HOURS};
    if (!job_create(op, &r, &job, err))
        return false;
    *object_value(o, "job") = db_int(job);
    return true;
}

bool evaluation_begin(struct op *op, struct object *o, struct err *err)
{
    int64_t model = object_int(o, "model_version"), service = object_int(o, "service_version");
    struct object version;
    bool found;
    static const char *const cleared[] = {"note", "note_zh", "job", "task", "started_at", "ended_at"};
    for (size_t i = 0; i < countof(cleared); i++)
        *object_value(o, cleared[i]) = db_null();
    *object_value(o, "done") = *object_value(o, "total") = db_null();
    *object_value(o, "state") = db_textz("pending");
    if (service) {
        if (!engine_load_row(op, kind_by_name(STR("service_version")), service, &version, &found, err))
            return false;
        model = found ? object_int(&version, "model_version") : 0;
        if (!model)
            return err_message(err, ERR_CONFLICT, "service_version", MESSAGE_EVALUATION_NO_MODEL);
    }
    bool ok = model ? submit(op, o, model, err) : evaluation_compare(op, o, err);
    return ok && engine_update_row(op, o, err);
}

struct object evaluation_object(struct arena *a, const struct evaluation_new *n)
{
    struct object o = engine_object(a, &kind_evaluation);
    o.project = n->project;
    o.created_by = n->created_by;
    *object_value(&o, "model_version") = db_int(n->model_version);
    *object_value(&o, "dataset_version") = db_int(n->dataset_version);
    *object_value(&o, "part") = db_textz(n->part);
    *object_value(&o, "splits") = db_textz("[]");
    *object_value(&o, "draws") = db_int(200);
    *object_value(&o, "state") = db_textz("pending");
    *object_value(&o, "automatic") = db_int(1);
    return o;
}

bool evaluation_create(struct op *op, const struct evaluation_new *n, int64_t *ret, struct err *err)
{
    struct object o = evaluation_object(op->arena, n);
    if (!evaluation_name(op, &o, err) || !engine_insert_row(op, &o, err) || !evaluation_begin(op, &o, err))
        return false;
    *ret = o.id;
    return true;
}
