#include "api/oci/own.h"

static bool reference_of(struct oci_call *call, struct reference *ret)
{
    struct err err = {0};
    if (reference_parse(call->last, ret, &err))
        return true;
    oci_problem(call, &err, NULL, 0);
    return false;
}

void oci_answer_manifest(struct request *r, const struct oci_kept *k)
{
    const struct header headers[] = {
        {STR("Docker-Distribution-Api-Version"), STR("registry/2.0")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Content-Type"), k->media_type},
        {STR("Docker-Content-Digest"), k->digest},
        {STR("ETag"), str_of(arena_printf(r->arena, "\"" STR_FMT "\"", STR_ARG(k->digest)))},
    };
    respond(r, 200, headers, countof(headers), k->body);
}

void oci_run_manifest(struct oci_call *call)
{
    struct repository r;
    struct reference at;
    struct repository_manifest m;
    struct oci_kept k;
    struct err err = {0};
    char digest[REFERENCE_DIGEST];
    if (!oci_repository(call, &r) || !reference_of(call, &at))
        return;
    if (!repository_manifest(call->core, &r, &at, call->arena, &m, &err) ||
        !blob_read(call->core->store, call->arena, &m.digest, OCI_MANIFEST_MAX, &k.body, &err)) {
        oci_problem(call, &err, NULL, 0);
        return;
    }
    k.media_type = m.media_type;
    k.digest = str_of(reference_text(&m.digest, digest));
    k.version = m.version;
    if (m.version && str_is(call->request->method, "GET"))
        images_pulled(call->core->images, m.version);
    oci_keep(call, &k);
    oci_answer_manifest(call->request, &k);
}

static struct str media_type(struct oci_call *call)
{
    struct str rest, type = str_cut(request_header(call->request, "content-type"), ';', &rest);
    type = str_trim(type);
    return type.n ? type : STR_NULL;
}

void oci_run_push(struct oci_call *call)
{
    struct repository r;
    struct repository_push p = {.media_type = media_type(call), .text = call->body};
    struct repository_pushed done;
    struct err err = {0};
    char digest[REFERENCE_DIGEST], subject[REFERENCE_DIGEST];
    if (!oci_repository(call, &r) || !reference_of(call, &p.at))
        return;
    if (!repository_push(call->core, &call->caller, &r, &p, call->arena, &done, &err)) {
        oci_problem(call, &err, NULL, 0);
        return;
    }
    reference_text(&done.digest, digest);
    const struct header headers[] = {
        {STR("Location"),
         str_of(arena_printf(call->arena, "/v2/" STR_FMT "/manifests/%s", STR_ARG(call->name), digest))},
        {STR("Docker-Content-Digest"), str_of(digest)},
        {STR("OCI-Subject"), str_of(reference_text(&done.subject, subject))},
    };
    oci_answer(call, 201, headers, done.has_subject ? 3 : 2, STR_NULL);
}

void oci_run_manifest_delete(struct oci_call *call)
{
    struct repository r;
    struct reference at;
    struct err err = {0};
    if (!oci_repository(call, &r) || !reference_of(call, &at))
        return;
    if (repository_delete(call->core, &call->caller, &r, &at, call->arena, &err))
        oci_answer(call, 202, NULL, 0, STR_NULL);
    else
        oci_problem(call, &err, NULL, 0);
}
