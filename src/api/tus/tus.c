/* Resumable uploads, tus 1.0: creation, termination, expiration. */
#include "api/pump.h"
#include "api/rest/uploads.h"
#include "base/clock.h"
#include "core/account/accounts.h"
#include "core/engine.h"
#include "core/quota.h"
#include "store/upload.h"

#include <stdio.h>

#define MAX_LENGTH   (INT64_C(1) << 40)
#define MAX_METADATA 4096
#define RESUMABLE                                                                                            \
    {                                                                                                        \
        STR("Tus-Resumable"), STR("1.0.0")                                                                   \
    }

/* A user that may put files or samples somewhere in the project may upload. */
static const char *const permissions[] = {"dataset_version.update", "algorithm_version.update",
                                          "model_version.update", "image.update"};

static bool may_upload(const struct caller *c, int64_t project, struct err *err)
{
    for (size_t i = 0; i < countof(permissions); i++)
        if (caller_may(c, permissions[i], project))
            return true;
    return caller_need(c, permissions[countof(permissions) - 1], project, err);
}

static void problem(struct api_call *call, const struct err *err)
{
    const struct header headers[] = {RESUMABLE};
    api_problem(call, err, headers, 1);
}

static bool check_version(struct api_call *call, struct err *err)
{
    struct str v = request_header(call->request, "tus-resumable");
    return str_is(v, "1.0.0") || err_set(err, ERR_STALE, "Tus-Resumable", "the version must be 1.0.0");
}

static bool number_header(struct api_call *call, const char *name, int64_t max, int64_t *ret, struct err *err)
{
    uint64_t v;
    struct str text = request_header(call->request, name);
    if (!text.p || !str_to_u64(text, &v))
        return err_set(err, ERR_MALFORMED, name, "%s must be a whole number", name);
    if (v > (uint64_t)max)
        return err_set(err, ERR_TOO_LARGE, name, "%s is at most %lld", name, (long long)max);
    *ret = (int64_t)v;
    return true;
}

static void run_options(struct api_call *call)
{
    const struct header headers[] = {RESUMABLE,
                                     {STR("Tus-Version"), STR("1.0.0")},
                                     {STR("Tus-Extension"), STR("creation,termination,expiration")},
                                     {STR("Tus-Max-Size"), STR("1099511627776")}};
    respond(call->request, 204, headers, countof(headers), STR_NULL);
}

static bool create(struct api_call *call, struct upload *ret, struct err *err)
{
    struct str text, metadata = request_header(call->request, "upload-metadata");
    int64_t project, length;
    if (!check_version(call, err) || !number_header(call, "upload-length", MAX_LENGTH, &length, err))
        return false;
    if (!request_param(call->request, "project", &text, err) || !str_to_i64(text, &project))
        return err->code ? false : err_set(err, ERR_INVALID, "project", "say which project: ?project=<id>");
    if (metadata.n > MAX_METADATA)
        return err_set(err, ERR_TOO_LARGE, "Upload-Metadata", "metadata has at most %d bytes", MAX_METADATA);
    if (!utf8_valid(metadata))
        return err_set(err, ERR_MALFORMED, "Upload-Metadata", "metadata must be text");
    struct object place;
    if (!may_upload(&call->caller, project, err) ||
        !engine_get(call->core, &caller_system, &kind_project, 0, project, call->arena, &place, err) ||
        !quota_admit_storage(call->core, project, length, err) ||
        !upload_create(call->core->store, call->caller.user, project, length, length,
                       metadata.p ? metadata : STR(""), call->arena, ret, err))
        return false;
    if (length > 0)
        return true;
    struct upload_appender *p = upload_append_begin(call->core->store, ret, 0, err);
    return p && upload_append_end(p, ret, err);
}

static void run_create(struct api_call *call)
{
    struct upload u;
    struct err err = {0};
    char expires[CLOCK_TEXT_MAX];
    if (!create(call, &u, &err)) {
        problem(call, &err);
        return;
    }
    const char *location = arena_printf(call->arena, "/api/v1/uploads/%s", u.id);
    const struct header headers[] = {RESUMABLE,
                                     {STR("Location"), str_of(location)},
                                     {STR("Upload-Expires"), str_of(clock_http(u.expires_at, expires))}};
    respond(call->request, 201, headers, countof(headers), STR_NULL);
}

static void respond_state(struct request *r, int status, const struct upload *u)
{
    char expires[CLOCK_TEXT_MAX], offset[24], length[24];
    snprintf(offset, sizeof offset, "%lld", (long long)u->offset);
    snprintf(length, sizeof length, "%lld", (long long)u->length);
    const struct header headers[] = {RESUMABLE,
                                     {STR("Upload-Offset"), str_of(offset)},
                                     {STR("Upload-Length"), str_of(length)},
                                     {STR("Upload-Expires"), str_of(clock_http(u->expires_at, expires))},
                                     {STR("Cache-Control"), STR("no-store")}};
    respond(r, status, headers, countof(headers), STR_NULL);
}

static void run_head(struct api_call *call)
{
    struct upload u;
    struct err err = {0};
    if (upload_get(call->core->store, call->params[0], call->caller.user, call->arena, &u, &err))
        respond_state(call->request, 200, &u);
    else
        problem(call, &err);
}

static bool append_piece(void *ctx, struct str data, struct err *err)
{
    return upload_append(ctx, data, err);
}

/* Also after a broken connection: what came is kept, the client goes on from there. */
static void append_done(struct request *r, void *ctx, bool complete, struct err *err)
{
    struct upload u;
    struct err end = {0};
    bool kept = upload_append_end(ctx, &u, &end);
    struct api_call call = {.request = r, .arena = r->arena};
    if (!complete)
        problem(&call, err);
    else if (!kept)
        problem(&call, &end);
    else
        respond_state(r, 204, &u);
}

static struct upload_appender *begin_append(struct api_call *call, struct err *err)
{
    struct upload u;
    int64_t offset;
    if (!check_version(call, err))
        return NULL;
    if (!str_is(request_header(call->request, "content-type"), "application/offset+octet-stream")) {
        err_set(err, ERR_MEDIA_TYPE, "Content-Type", "the body must be application/offset+octet-stream");
        return NULL;
    }
    if (!number_header(call, "upload-offset", MAX_LENGTH, &offset, err) ||
        !upload_get(call->core->store, call->params[0], call->caller.user, call->arena, &u, err) ||
        !may_upload(&call->caller, u.project, err))
        return NULL;
    return upload_append_begin(call->core->store, &u, offset, err);
}

static void run_patch(struct api_call *call)
{
    static const struct pump_ops ops = {append_piece, append_done};
    struct err err = {0};
    struct upload_appender *p = begin_append(call, &err);
    if (p)
        pump_start(call->request, call->core->pool, &ops, p);
    else
        problem(call, &err);
}

static void run_delete(struct api_call *call)
{
    struct upload u;
    struct err err = {0};
    const struct header headers[] = {RESUMABLE};
    if (upload_get(call->core->store, call->params[0], call->caller.user, call->arena, &u, &err) &&
        upload_delete(call->core->store, &u, &err))
        respond(call->request, 204, headers, 1, STR_NULL);
    else
        problem(call, &err);
}

#define STATE_HEADERS "Tus-Resumable Upload-Offset Upload-Length Upload-Expires"

const struct route tus_routes[] = {
    {"OPTIONS", "/api/v1/uploads", "public", run_options, .summary = "What of tus is offered"},
    {"POST", "/api/v1/uploads", NULL, run_create, .streams = true,
     .summary = "Begin a resumable upload (tus 1.0)", .query = "project:id!",
     .headers = "Tus-Resumable! Upload-Length:int! Upload-Metadata",
     .gives = "Tus-Resumable Location Upload-Expires", .status = 201},
    {"HEAD", "/api/v1/uploads/{upload}", NULL, run_head, .summary = "How far an upload is",
     .gives = STATE_HEADERS, .status = 200},
    {"PATCH", "/api/v1/uploads/{upload}", NULL, run_patch, .streams = true, .summary = "Append to an upload",
     .headers = "Tus-Resumable! Upload-Offset:int!", .takes = "application/offset+octet-stream",
     .gives = STATE_HEADERS},
    {"DELETE", "/api/v1/uploads/{upload}", NULL, run_delete, .summary = "Drop an upload"},
    {0},
};
