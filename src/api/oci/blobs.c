#include "api/lasting.h"
#include "api/oci/own.h"
#include "api/range.h"

static void no_blob(struct oci_call *call, const struct repository *r)
{
    struct err err = {0};
    if (r->image)
        err_set(&err, ERR_NOT_FOUND, "blob", "the image has no blob " STR_FMT, STR_ARG(call->last));
    else
        err_set(&err, ERR_NOT_FOUND, "repository", "there is no image \"%.*s\" yet",
                (int)(call->name.n > 120 ? 120 : call->name.n), call->name.p);
    oci_problem(call, &err, NULL, 0);
}

void oci_run_blob(struct oci_call *call)
{
    struct repository r;
    struct digest d;
    struct err err = {0};
    int64_t size;
    if (!oci_repository(call, &r) || !oci_digest(call, call->last, &d))
        return;
    if (!repository_blob(call->core, &r, &d, call->arena, &size, &err)) {
        oci_problem(call, &err, NULL, 0);
        return;
    }
    if (size < 0) {
        no_blob(call, &r);
        return;
    }
    const struct header headers[] = {
        {STR("Docker-Distribution-Api-Version"), STR("registry/2.0")},
        {STR("Content-Type"), STR("application/octet-stream")},
        {STR("Docker-Content-Digest"), call->last},
        {STR("Cache-Control"), STR("private, max-age=31536000, immutable")},
    };
    const char *etag = arena_printf(call->arena, "\"" STR_FMT "\"", STR_ARG(call->last));
    lasting_add(call->request, &call->caller,
                &(struct lasting_terms){.permission = "image.read", .project = r.project});
    if (range_respond_blob(call->request, call->core->store, &d, etag, headers, countof(headers), &err))
        return;
    if (err.code == ERR_NOT_FOUND)
        no_blob(call, &r);
    else
        oci_problem(call, &err, NULL, 0);
}

void oci_run_blob_delete(struct oci_call *call)
{
    struct repository r;
    struct digest d;
    struct err err = {0};
    if (!oci_repository(call, &r) || !oci_digest(call, call->last, &d))
        return;
    if (repository_drop_blob(call->core, &r, &d, &err))
        oci_answer(call, 202, NULL, 0, STR_NULL);
    else
        oci_problem(call, &err, NULL, 0);
}
