/* Pictures for whoever labels: examples of labels, by the label set or by the task; those in the instructions
 * of a task. */
#include "api/range.h"
#include "api/rest/uploads.h"
#include "core/data/label_example.h"
#include "core/label/instructions.h"
#include "core/label/label.h"

/* A JPEG that a media worker wrote, whatever it was made of. It never changes under its address. */
static void answer(struct api_call *call, const struct digest *d)
{
    struct err err = {0};
    char etag[SHA256_HEX + 3] = "\"";
    static const struct header headers[] = {
        {STR("Content-Type"), STR("image/jpeg")},
        {STR("Content-Security-Policy"), STR("sandbox; default-src 'none'")},
        {STR("Cache-Control"), STR("private, max-age=86400")}};
    digest_hex(d, etag + 1);
    strcat(etag, "\"");
    if (!range_respond_blob(call->request, call->core->store, d, etag, headers, countof(headers), &err))
        api_problem(call, &err, NULL, 0);
}

static bool read_ids(struct api_call *call, int64_t *first, int64_t *example, struct err *err)
{
    return (str_to_i64(call->params[0], first) && str_to_i64(call->params[1], example)) ||
           err_set(err, ERR_NOT_FOUND, NULL, "there is no such example");
}

static void run_of_set(struct api_call *call)
{
    struct err err = {0};
    struct object example;
    struct digest d;
    int64_t set, id;
    if (read_ids(call, &set, &id, &err) &&
        engine_get(call->core, &call->caller, &kind_label_example, set, id, call->arena, &example, &err) &&
        label_example_picture(&example, &d, &err))
        answer(call, &d);
    else
        api_problem(call, &err, NULL, 0);
}

/* The set of the dataset that the task is about. */
static bool set_of_task(struct api_call *call, const struct object *task, int64_t *ret, struct err *err)
{
    struct db_row row;
    bool found;
    if (!db_query_one(call->core->db, call->arena,
                      "SELECT COALESCE(d.label_set, 0) FROM dataset_versions v JOIN datasets d"
                      " ON d.id = v.dataset WHERE v.id = ?",
                      db_args(db_int(object_int(task, "version"))), &row, &found, err))
        return false;
    *ret = found ? row.v[0].i : 0;
    return *ret || err_set(err, ERR_NOT_FOUND, NULL, "there is no such example");
}

static void run_of_task(struct api_call *call)
{
    struct err err = {0};
    struct object task, example;
    struct digest d;
    int64_t id, task_id, set;
    if (read_ids(call, &task_id, &id, &err) &&
        engine_get(call->core, &call->caller, &kind_label_task, 0, task_id, call->arena, &task, &err) &&
        set_of_task(call, &task, &set, &err) &&
        engine_get(call->core, &caller_system, &kind_label_example, set, id, call->arena, &example, &err) &&
        label_example_picture(&example, &d, &err))
        answer(call, &d);
    else
        api_problem(call, &err, NULL, 0);
}

static void run_of_instructions(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct digest d;
    int64_t id;
    if (!str_to_i64(call->params[0], &id))
        err_set(&err, ERR_NOT_FOUND, NULL, "there is no such task");
    else if (engine_get(call->core, &call->caller, &kind_label_task, 0, id, call->arena, &task, &err) &&
             instructions_picture(call->arena, &task, call->params[1], &d, &err))
        return answer(call, &d);
    api_problem(call, &err, NULL, 0);
}

const struct route example_routes[] = {
    {"GET", "/api/v1/label-sets/{label_set_id}/examples/{example_id}/picture", NULL, run_of_set,
     .summary = "The picture of an example of a label", .answer = ROUTE_BINARY, .type = "image/jpeg",
     .parts = true},
    {"GET", "/api/v1/label-tasks/{id}/examples/{example_id}", NULL, run_of_task,
     .summary = "The picture of an example of a label, for whoever labels", .answer = ROUTE_BINARY,
     .type = "image/jpeg", .parts = true},
    {"GET", "/api/v1/label-tasks/{id}/pictures/{picture_id}", NULL, run_of_instructions,
     .summary = "A picture in the instructions of a task", .answer = ROUTE_BINARY, .type = "image/jpeg",
     .parts = true},
    {0},
};
