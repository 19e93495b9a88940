/* What tasks leave: the report (one JSON object per line for everything that was skipped or repaired) and the
 * product. */
#include "api/range.h"
#include "api/uploads.h"
#include "core/task/task.h"
#include "net/url.h"
#include "store/store.h"

/* The blob that a field of the task names; *ret_fd is -1 when there is none. */
static bool open_blob(struct api_call *call, const char *field, struct object *ret_task, int *ret_fd,
                      int64_t *ret_size, struct digest *ret, struct err *err)
{
    int64_t id;
    if (!str_to_i64(call->params[0], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such task");
    if (!engine_get(call->core, &call->caller, &kind_task, 0, id, call->arena, ret_task, err))
        return false;
    *ret_fd = -1;
    if (!digest_parse(object_text(ret_task, field), ret))
        return true;
    *ret_fd = blob_open(call->core->store, ret, ret_size, err);
    return *ret_fd >= 0;
}

static void run_report(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct digest d;
    int64_t size;
    int fd;
    char etag[SHA256_HEX + 3] = "\"";
    const struct header headers[] = {
        {STR("Content-Type"), STR("application/x-ndjson")},
        {STR("Content-Disposition"), STR("attachment; filename=\"report.jsonl\"")}};
    if (!open_blob(call, "report", &task, &fd, &size, &d, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    if (fd < 0) { /* nothing to report */
        respond(call->request, 200, headers, countof(headers), STR(""));
        return;
    }
    digest_hex(&d, etag + 1);
    strcat(etag, "\"");
    range_respond_file(call->request, fd, (uint64_t)size, etag, headers, countof(headers));
}

static void run_download(struct api_call *call)
{
    struct err err = {0};
    struct object task;
    struct digest d;
    int64_t size;
    int fd = -1;
    char etag[SHA256_HEX + 3] = "\"";
    if (!open_blob(call, "output", &task, &fd, &size, &d, &err) ||
        (fd < 0 && !err_set(&err, ERR_NOT_FOUND, NULL, "the task has no product (yet)"))) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    digest_hex(&d, etag + 1);
    strcat(etag, "\"");
    const char *disposition = arena_printf(call->arena, "attachment; filename*=UTF-8''%s",
                                           url_encode(call->arena, object_text(&task, "output_name")));
    const struct header headers[] = {{STR("Content-Type"), STR("application/zip")},
                                     {STR("Content-Disposition"), str_of(disposition)}};
    range_respond_file(call->request, fd, (uint64_t)size, etag, headers, countof(headers));
}

const struct route task_routes[] = {
    {"GET", "/api/v1/tasks/{task}/download", NULL, run_download, .summary = "A task's product",
     .answer = "{\"type\":\"string\",\"format\":\"binary\"}", .type = "application/zip"},
    {"GET", "/api/v1/tasks/{task}/report", NULL, run_report,
     .summary = "Everything that a task skipped or repaired, one JSON object per line",
     .answer = "{\"type\":\"string\"}", .type = "application/x-ndjson"},
    {0},
};
