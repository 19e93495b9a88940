/* Uploads of blobs: in one request, in one stream, or in pieces; resumable, as uploads of the store. */
#include "api/oci/own.h"
#include "api/pump.h"
#include "core/quota.h"
#include "store/upload.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_LENGTH (INT64_C(1) << 40)
#define METADATA   "oci " /* and the repository's path: what other uploads do not begin with */

/* --- answers --- */

/* offset 0 is "0-0" too, as the specification has it. */
static void answer_state(struct oci_call *call, int status, const char *id, int64_t offset)
{
    const struct header headers[] = {
        {STR("Location"),
         str_of(arena_printf(call->arena, "/v2/" STR_FMT "/blobs/uploads/%s", STR_ARG(call->name), id))},
        {STR("Range"), str_of(arena_printf(call->arena, "0-%" PRId64, offset > 0 ? offset - 1 : 0))},
        {STR("Docker-Upload-UUID"), str_of(id)},
        {STR("OCI-Chunk-Min-Length"), STR("1")},
    };
    oci_answer(call, status, headers, countof(headers), STR_NULL);
}

static void answer_blob(struct oci_call *call, const struct digest *d)
{
    char text[REFERENCE_DIGEST];
    reference_text(d, text);
    const struct header headers[] = {
        {STR("Location"),
         str_of(arena_printf(call->arena, "/v2/" STR_FMT "/blobs/%s", STR_ARG(call->name), text))},
        {STR("Docker-Content-Digest"), str_of(text)},
    };
    oci_answer(call, 201, headers, countof(headers), STR_NULL);
}

/* --- one body on its way --- */

struct incoming {
    struct oci_call call; /* what done needs of it; the caller and the scopes are not kept */
    struct repository repository;
    struct upload_appender *appender;
    struct upload upload;
    bool finish, has_digest;
    struct digest digest;
    int64_t offset, most; /* of the upload; what the project has room for */
};

static bool finish_upload(struct incoming *in, struct err *err)
{
    struct core *core = in->call.core;
    struct upload *u = &in->upload;
    if (!u->finished && !upload_finish(core->store, u, &in->digest, err))
        return false;
    if (!repository_add_blob(core, &in->repository, &u->blob, u->length, err))
        return false;
    return upload_delete(core->store, u, err);
}

static bool take_piece(void *ctx, struct str data, struct err *err)
{
    struct incoming *in = ctx;
    in->offset += (int64_t)data.n;
    if (in->offset > in->most)
        return err_set(err, ERR_QUOTA, "storage",
                       "the project has room for %" PRId64 " bytes more, and this blob has more", in->most);
    return upload_append(in->appender, data, err);
}

/* What came is kept also when the connection broke: the client asks how far it is and goes on. */
static void taken(struct request *r, void *ctx, bool complete, struct err *err)
{
    struct incoming *in = ctx;
    struct err end = {0};
    struct upload u;
    in->call.request = r;
    in->call.arena = r->arena;
    bool kept = upload_append_end(in->appender, &u, &end);
    if (kept)
        in->upload = u;
    if (!complete)
        oci_problem(&in->call, err, NULL, 0);
    else if (!kept)
        oci_problem(&in->call, &end, NULL, 0);
    else if (!in->finish)
        answer_state(&in->call, 202, u.id, u.offset);
    else if (finish_upload(in, &end))
        answer_blob(&in->call, &in->digest);
    else
        oci_problem(&in->call, &end, NULL, 0);
    free(in);
}

/* Bytes of unknown number are stopped where the quota ends. */
static bool find_room(struct oci_call *call, struct incoming *in, struct err *err)
{
    int64_t limit, used;
    in->offset = in->upload.offset;
    in->most = INT64_MAX;
    if (!quota_storage(call->core, in->repository.project, &limit, err))
        return false;
    if (limit < 0)
        return true;
    if (!store_project_bytes(call->core->store, in->repository.project, &used, err))
        return false;
    in->most = limit > used ? limit - used : 0;
    return true;
}

static bool begin(struct oci_call *call, struct incoming *in, struct err *err)
{
    if (!find_room(call, in, err))
        return false;
    in->appender = upload_append_begin(call->core->store, &in->upload, in->upload.offset, err);
    return in->appender != NULL;
}

/* What lives in the request's arena stays good until it is answered. */
static void start(struct oci_call *call, struct incoming *stack)
{
    static const struct pump_ops ops = {take_piece, taken};
    struct incoming *in = base_alloc(sizeof *in);
    *in = *stack;
    in->call = *call;
    in->call.caller = (struct caller){0};
    in->call.scopes = STR_NULL;
    pump_start(call->request, call->core->pool, &ops, in);
}

/* --- beginning --- */

static bool digest_param(struct oci_call *call, const char *name, struct digest *ret, bool *ret_has)
{
    struct err err = {0};
    struct str text;
    *ret_has = request_param(call->request, name, &text, &err);
    if (err.code) {
        oci_problem(call, &err, NULL, 0);
        return false;
    }
    return !*ret_has || oci_digest(call, text, ret);
}

/* 1: mounted and answered, 0: not there, go on with an upload, -1: refused and answered. */
static int mount(struct oci_call *call, const struct repository *r, const struct digest *d)
{
    struct repository from;
    struct err err = {0};
    struct str path;
    int64_t size;
    if (!request_param(call->request, "from", &path, &err))
        return 0;
    if (!repository_find(call->core, &call->caller, path, REPOSITORY_PULL, call->arena, &from, &err)) {
        /* Whether it exists is not told to a caller that may not read it. */
        if (err.code == ERR_NOT_FOUND || err.code == ERR_FORBIDDEN)
            err_set(&err, ERR_FORBIDDEN, NULL, "you may not pull from \"%.*s\", or there is no such image",
                    (int)(path.n > 100 ? 100 : path.n), path.p);
        oci_problem(call, &err, NULL, 0);
        return -1;
    }
    if (!oci_scoped(call, path, "pull"))
        return 0;
    if (!repository_blob(call->core, &from, d, call->arena, &size, &err) ||
        (size >= 0 && !repository_add_blob(call->core, r, d, size, &err))) {
        oci_problem(call, &err, NULL, 0);
        return -1;
    }
    if (size < 0)
        return 0;
    answer_blob(call, d);
    return 1;
}

void oci_run_upload_begin(struct oci_call *call)
{
    struct incoming in = {0};
    struct digest mounted;
    bool wants_mount;
    struct err err = {0};
    struct request *r = call->request;
    if (!oci_repository(call, &in.repository) || !digest_param(call, "mount", &mounted, &wants_mount) ||
        !digest_param(call, "digest", &in.digest, &in.has_digest))
        return;
    if (wants_mount && mount(call, &in.repository, &mounted) != 0)
        return;
    int64_t size = r->content_length > 0 ? r->content_length : 0;
    const char *metadata = arena_printf(call->arena, METADATA STR_FMT, STR_ARG(call->name));
    if (!quota_admit_storage(call->core, in.repository.project, size, &err) ||
        !upload_create(call->core->store, call->caller.user, in.repository.project, MAX_LENGTH, 0,
                       str_of(metadata), call->arena, &in.upload, &err)) {
        oci_problem(call, &err, NULL, 0);
        return;
    }
    in.finish = in.has_digest;
    if (r->content_length == 0 && !in.finish) {
        answer_state(call, 202, in.upload.id, 0);
        return;
    }
    if (begin(call, &in, &err))
        start(call, &in);
    else
        oci_problem(call, &err, NULL, 0);
}

/* --- going on --- */

static bool find_upload(struct oci_call *call, struct incoming *in)
{
    struct err err = {0};
    if (!oci_repository(call, &in->repository))
        return false;
    const char *wanted = arena_printf(call->arena, METADATA STR_FMT, STR_ARG(call->name));
    bool ok = upload_get(call->core->store, call->last, call->caller.user, call->arena, &in->upload, &err);
    if (ok && str_is(in->upload.metadata, wanted) && in->upload.project == in->repository.project)
        return true;
    if (ok || err.code == ERR_NOT_FOUND)
        err_set(&err, ERR_NOT_FOUND, "upload", "there is no upload \"%.*s\" of yours to this image",
                (int)(call->last.n > 64 ? 64 : call->last.n), call->last.p);
    oci_problem(call, &err, NULL, 0);
    return false;
}

static bool bad_range(struct oci_call *call, const struct upload *u, const char *why)
{
    struct err err = {0};
    const struct header headers[] = {
        {STR("Range"), str_of(arena_printf(call->arena, "0-%" PRId64, u->offset > 0 ? u->offset - 1 : 0))},
        {STR("Location"), call->request->path},
    };
    err_set(&err, ERR_CONFLICT, "offset", "%s: the upload is at %" PRId64, why, u->offset);
    oci_problem(call, &err, headers, 2);
    return false;
}

/* Content-Range: <first>-<last>, both inclusive; must go on where the upload is. */
static bool check_range(struct oci_call *call, const struct upload *u)
{
    struct str last, text = request_header(call->request, "content-range");
    uint64_t from, to;
    if (!text.p)
        return true;
    struct str first = str_cut(text, '-', &last);
    if (str_starts(first, "bytes "))
        first = (struct str){first.p + 6, first.n - 6};
    if (!str_to_u64(first, &from) || !str_to_u64(last, &to) || to < from || to >= (uint64_t)MAX_LENGTH)
        return bad_range(call, u, "Content-Range must be <first>-<last>");
    if ((int64_t)from != u->offset)
        return bad_range(call, u, "Content-Range does not begin where the upload ends");
    int64_t length = call->request->content_length;
    if (length >= 0 && (uint64_t)length != to - from + 1) {
        struct err err = {0};
        err_set(&err, ERR_INVALID, "size",
                "Content-Length is %" PRId64 ", but Content-Range names %" PRIu64 " bytes", length,
                to - from + 1);
        oci_problem(call, &err, NULL, 0);
        return false;
    }
    return true;
}

static bool has_room(struct oci_call *call, const struct incoming *in)
{
    struct err err = {0};
    int64_t more = call->request->content_length > 0 ? call->request->content_length : 0;
    if (quota_admit_storage(call->core, in->repository.project, in->upload.offset + more, &err))
        return true;
    oci_problem(call, &err, NULL, 0);
    return false;
}

static void append(struct oci_call *call, struct incoming *in)
{
    struct err err = {0};
    if (begin(call, in, &err))
        start(call, in);
    else
        oci_problem(call, &err, NULL, 0);
}

void oci_run_upload_patch(struct oci_call *call)
{
    struct incoming in = {0};
    if (find_upload(call, &in) && check_range(call, &in.upload) && has_room(call, &in))
        append(call, &in);
}

void oci_run_upload_put(struct oci_call *call)
{
    struct incoming in = {.finish = true};
    struct err err = {0};
    if (!find_upload(call, &in) || !digest_param(call, "digest", &in.digest, &in.has_digest))
        return;
    if (!in.has_digest) {
        err_set(&err, ERR_INVALID, "digest", "digest: say what the blob's digest is: ?digest=sha256:...");
        oci_problem(call, &err, NULL, 0);
        return;
    }
    if (!check_range(call, &in.upload) || !has_room(call, &in))
        return;
    if (call->request->content_length != 0) {
        append(call, &in);
        return;
    }
    in.call = *call;
    if (finish_upload(&in, &err))
        answer_blob(call, &in.digest);
    else
        oci_problem(call, &err, NULL, 0);
}

void oci_run_upload_get(struct oci_call *call)
{
    struct incoming in = {0};
    if (find_upload(call, &in))
        answer_state(call, 204, in.upload.id, in.upload.offset);
}

void oci_run_upload_delete(struct oci_call *call)
{
    struct incoming in = {0};
    struct err err = {0};
    if (!find_upload(call, &in))
        return;
    if (upload_delete(call->core->store, &in.upload, &err))
        oci_answer(call, 204, NULL, 0, STR_NULL);
    else
        oci_problem(call, &err, NULL, 0);
}
