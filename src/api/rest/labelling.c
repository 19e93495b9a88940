/* Labelling tasks: notes on their samples, and their progress as CSV. */
#include "api/rest/uploads.h"
#include "base/clock.h"
#include "core/label/label.h"

static bool find_task(struct api_call *call, struct object *ret, struct err *err)
{
    int64_t id;
    if (!str_to_i64(call->params[0], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such labelling task");
    return engine_get(call->core, &call->caller, &kind_label_task, 0, id, call->arena, ret, err);
}

static struct op op_of(struct api_call *call)
{
    return (struct op){
        .core = call->core, .caller = &call->caller, .arena = call->arena, .kind = &kind_label_task};
}

/* --- notes --- */

static void run_notes(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct op op = op_of(call);
    auto_buf struct buf body = {0};
    struct json_out out;
    int64_t sample;
    json_begin(&out, &body);
    if (api_number(call, "sample", 0, INT64_MAX, 0, &sample, &err) && find_task(call, &task, &err) &&
        label_notes_write(&op, &task, sample, &out, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

static bool read_place(yyjson_val *body, struct label_note *n, struct err *err)
{
    yyjson_val *x = yyjson_obj_get(body, "x"), *y = yyjson_obj_get(body, "y");
    if ((!x || yyjson_is_null(x)) && (!y || yyjson_is_null(y)))
        return true;
    if (!yyjson_is_num(x) || !yyjson_is_num(y))
        return err_set(err, ERR_INVALID, "x", "x, y: a place is two numbers");
    n->has_place = true;
    n->x = yyjson_get_num(x);
    n->y = yyjson_get_num(y);
    return true;
}

static bool read_note(struct api_call *call, struct label_note *n, struct err *err)
{
    static const char *const known[] = {"text", "shape", "x", "y"};
    yyjson_val *k, *v;
    size_t i, max;
    if (!yyjson_is_obj(call->json))
        return err_set(err, ERR_MALFORMED, NULL, "a JSON object is expected in the body");
    yyjson_obj_foreach(call->json, i, max, k, v)
    {
        bool found = false;
        for (size_t j = 0; j < countof(known); j++)
            found = found || str_is(json_str(k), known[j]);
        if (!found)
            return err_set(err, ERR_INVALID, yyjson_get_str(k), "%.40s: there is no such field",
                           yyjson_get_str(k));
    }
    n->text = str_trim(json_str(yyjson_obj_get(call->json, "text")));
    n->shape = json_str(yyjson_obj_get(call->json, "shape"));
    if (!n->text.n || utf8_count(n->text) > LABEL_NOTE_MAX)
        return err_set(err, ERR_INVALID, "text", "text: must have 1 to %d characters", LABEL_NOTE_MAX);
    if (n->shape.n > 100)
        return err_set(err, ERR_INVALID, "shape", "shape: is no id of a shape");
    return read_place(call->json, n, err);
}

static void run_add(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct op op = op_of(call);
    struct label_note n = {0};
    auto_buf struct buf body = {0};
    struct json_out out;
    json_begin(&out, &body);
    if (api_number(call, "sample", 1, INT64_MAX, 0, &n.sample, &err) && find_task(call, &task, &err) &&
        label_note_may(&op, &task, n.sample, &err) && read_note(call, &n, &err) &&
        label_note_add(&op, &task, &n, &out, &err))
        api_answer(call, 201, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

static void run_done(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct op op = op_of(call);
    auto_buf struct buf body = {0};
    struct json_out out;
    int64_t note;
    json_begin(&out, &body);
    if (!str_to_i64(call->params[1], &note))
        note = 0;
    if (find_task(call, &task, &err) && label_note_done(&op, &task, note, &out, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

/* --- CSV --- */

static bool time_param(struct api_call *call, const char *name, int64_t *ret, struct err *err)
{
    struct str text;
    *ret = 0;
    if (!request_param(call->request, name, &text, err))
        return !err->code;
    return clock_parse(text, ret) ||
           err_set(err, ERR_INVALID, name, "%s: must be a time as 2026-01-31T08:00:00Z", name);
}

static void run_csv(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct op op = op_of(call);
    auto_buf struct buf body = {0};
    int64_t from, to;
    const struct header headers[] = {
        {STR("Content-Type"), STR("text/csv; charset=utf-8")},
        {STR("Content-Disposition"), STR("attachment; filename=\"progress.csv\"")}};
    if (time_param(call, "from", &from, &err) && time_param(call, "to", &to, &err) &&
        find_task(call, &task, &err) && caller_need(&call->caller, "team.read", task.project, &err) &&
        label_progress_csv(&op, &task, from, to, &body, &err))
        respond(call->request, 200, headers, countof(headers), buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

#define TASK "/api/v1/label-tasks/{id}"
#define NOTE                                                                                                 \
    "{\"type\":\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"},"           \
    "\"shape\":{\"type\":[\"string\",\"null\"]},\"x\":{\"type\":[\"number\",\"null\"]},\"y\":{\"type\":"     \
    "[\"number\",\"null\"]}}}"

const struct route labelling_routes[] = {
    {"GET", TASK "/threads", NULL, run_notes, .summary = "Notes on samples of a task", .query = "sample:id",
     .answer = ROUTE_ANSWER("LabelNotes")},
    {"POST", TASK "/threads", NULL, run_add, .summary = "Write a note on a sample", .query = "sample:id!",
     .input = NOTE, .answer = ROUTE_ANSWER("LabelNote"), .status = 201},
    {"POST", TASK "/threads/{note}/done", NULL, run_done, .summary = "A note is settled",
     .answer = ROUTE_ANSWER("LabelNote")},
    {"GET", TASK "/progress.csv", NULL, run_csv, .summary = "Progress per member and day, as CSV",
     .query = "from to", .answer = "{\"type\":\"string\"}", .type = "text/csv"},
    {0},
};
