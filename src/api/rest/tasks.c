/* What tasks leave: the report (one JSON object per line for everything that was skipped or repaired) and the
 * product. */
#include "api/lasting.h"
#include "api/range.h"
#include "api/rest/uploads.h"
#include "core/task/task.h"
#include "net/url.h"
#include "store/store.h"

/* The blob that a field of the task names; *ret_is is false when there is none. */
static bool find_blob(struct api_call *call, const char *field, struct object *ret_task, struct digest *ret,
                      bool *ret_is, struct err *err)
{
    int64_t id;
    if (!str_to_i64(call->params[0], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such task");
    if (!engine_get(call->core, &call->caller, &kind_task, 0, id, call->arena, ret_task, err))
        return false;
    *ret_is = digest_parse(object_text(ret_task, field), ret);
    return true;
}

static void run_report(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct digest d;
    bool is;
    char etag[SHA256_HEX + 3] = "\"";
    const struct header headers[] = {
        {STR("Content-Type"), STR("application/x-ndjson")},
        {STR("Content-Disposition"), STR("attachment; filename=\"report.jsonl\"")}};
    if (!find_blob(call, "report", &task, &d, &is, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    if (!is) { /* nothing to report */
        respond(call->request, 200, headers, countof(headers), STR(""));
        return;
    }
    digest_hex(&d, etag + 1);
    strcat(etag, "\"");
    lasting_show(call, &task);
    if (!range_respond_blob(call->request, call->core->store, &d, etag, headers, countof(headers), &err))
        api_problem(call, &err, NULL, 0);
}

static void run_download(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct digest d;
    bool is = false;
    char etag[SHA256_HEX + 3] = "\"";
    if (!find_blob(call, "output", &task, &d, &is, &err) ||
        (!is && !err_set(&err, ERR_NOT_FOUND, NULL, "the task has no product (yet)"))) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    digest_hex(&d, etag + 1);
    strcat(etag, "\"");
    const char *disposition = arena_printf(call->arena, "attachment; filename*=UTF-8''%s",
                                           url_encode(call->arena, object_text(&task, "output_name")));
    const struct header headers[] = {{STR("Content-Type"), STR("application/zip")},
                                     {STR("Content-Disposition"), str_of(disposition)}};
    lasting_show(call, &task);
    if (!range_respond_blob(call->request, call->core->store, &d, etag, headers, countof(headers), &err))
        api_problem(call, &err, NULL, 0);
}

const struct route task_routes[] = {
    {"GET", "/api/v1/tasks/{task_id}/download", NULL, run_download, .summary = "A task's product",
     .answer = ROUTE_BINARY, .type = "application/zip", .parts = true},
    {"GET", "/api/v1/tasks/{task_id}/report", NULL, run_report,
     .summary = "Everything that a task skipped or repaired, one JSON object per line",
     .answer = "{\"type\":\"string\"}", .type = "application/x-ndjson", .parts = true},
    {0},
};
