#include "api/oci/oci.h"

#include "api/oci/own.h"
#include "base/log.h"
#include "net/url.h"

enum shape { BASE, TOKEN, CATALOG, TAGS, MANIFEST, REFERRERS, BLOB, UPLOADS, UPLOAD };

static const struct oci_route routes[] = {
    {"GET", BASE, NULL, oci_run_base, false, false},
    {"GET", TOKEN, NULL, oci_run_token, false, false},
    {"GET", CATALOG, NULL, oci_run_catalog, false, false},
    {"GET", TAGS, "pull", oci_run_tags, false, false},
    {"GET", MANIFEST, "pull", oci_run_manifest, false, false},
    {"PUT", MANIFEST, "push", oci_run_push, false, true},
    {"DELETE", MANIFEST, "delete", oci_run_manifest_delete, false, false},
    {"GET", REFERRERS, "pull", oci_run_referrers, false, false},
    {"GET", BLOB, "pull", oci_run_blob, false, false},
    {"DELETE", BLOB, "delete", oci_run_blob_delete, false, false},
    {"POST", UPLOADS, "push", oci_run_upload_begin, true, false},
    {"GET", UPLOAD, "push", oci_run_upload_get, false, false},
    {"PATCH", UPLOAD, "push", oci_run_upload_patch, true, false},
    {"PUT", UPLOAD, "push", oci_run_upload_put, true, false},
    {"DELETE", UPLOAD, "push", oci_run_upload_delete, false, false},
};

/* --- errors --- */

static const char *code_of(const struct err *err)
{
    static const struct {
        enum err_code code;
        const char *field, *name;
    } codes[] = {
        {ERR_UNAUTHORIZED, NULL, "UNAUTHORIZED"},
        {ERR_FORBIDDEN, NULL, "DENIED"},
        {ERR_QUOTA, NULL, "DENIED"},
        {ERR_TOO_MANY, NULL, "TOOMANYREQUESTS"},
        {ERR_METHOD, NULL, "UNSUPPORTED"},
        {ERR_NOT_FOUND, "manifest", "MANIFEST_UNKNOWN"},
        {ERR_NOT_FOUND, "blob", "BLOB_UNKNOWN"},
        {ERR_NOT_FOUND, "upload", "BLOB_UPLOAD_UNKNOWN"},
        {ERR_NOT_FOUND, NULL, "NAME_UNKNOWN"},
        {ERR_INVALID, "digest", "DIGEST_INVALID"},
        {ERR_INVALID, "name", "NAME_INVALID"},
        {ERR_INVALID, "blob", "MANIFEST_BLOB_UNKNOWN"},
        {ERR_INVALID, "size", "SIZE_INVALID"},
        {ERR_INVALID, "version", "MANIFEST_INVALID"},
        {ERR_INVALID, "upload", "BLOB_UPLOAD_INVALID"},
        {ERR_INVALID, "n", "UNSUPPORTED"},
        {ERR_TOO_LARGE, "manifest", "MANIFEST_INVALID"},
        {ERR_TOO_LARGE, NULL, "SIZE_INVALID"},
        {ERR_CONFLICT, "upload", "BLOB_UPLOAD_INVALID"},
        {ERR_CONFLICT, "offset", "BLOB_UPLOAD_INVALID"},
        {ERR_CONFLICT, NULL, "DENIED"},
        {ERR_MALFORMED, NULL, "BLOB_UPLOAD_INVALID"},
        {ERR_INVALID, NULL, "MANIFEST_INVALID"},
    };
    for (size_t i = 0; i < countof(codes); i++)
        if (codes[i].code == err->code && (!codes[i].field || strcmp(codes[i].field, err->field) == 0))
            return codes[i].name;
    return "UNKNOWN";
}

static int status_of(const struct err *err)
{
    if (err->code == ERR_INVALID)
        return 400;
    if (err->code == ERR_QUOTA)
        return 403;
    if (err->code == ERR_CONFLICT && strcmp(err->field, "offset") == 0)
        return 416;
    return err_info(err->code)->status;
}

void oci_answer(struct oci_call *call, int status, const struct header *headers, size_t n, struct str body)
{
    struct header all[12] = {
        {STR("Docker-Distribution-Api-Version"), STR("registry/2.0")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    size_t count = 2;
    if (body.n)
        all[count++] = (struct header){STR("Content-Type"), STR("application/json")};
    for (size_t i = 0; i < n && count < countof(all); i++)
        all[count++] = headers[i];
    respond(call->request, status, all, count, body);
}

void oci_problem(struct oci_call *call, const struct err *err, const struct header *headers, size_t n)
{
    auto_buf struct buf body = {0};
    struct json_out o;
    struct header all[8];
    size_t count = 0;
    if (err->code == ERR_UNAUTHORIZED && n == 0)
        all[count++] = oci_challenge(call, NULL);
    for (size_t i = 0; i < n && count < countof(all); i++)
        all[count++] = headers[i];
    bool inside = err->code == ERR_INTERNAL || err->code == ERR_UNAVAILABLE;
    if (inside)
        log_warn("request %llu: registry: %s", (unsigned long long)call->request->id, err->message);
    json_begin(&o, &body);
    json_object(&o);
    json_key(&o, "errors");
    json_array(&o);
    json_object(&o);
    json_kz(&o, "code", code_of(err));
    json_kz(&o, "message", err->code == ERR_INTERNAL ? "something went wrong inside" : err->message);
    json_object_end(&o);
    json_array_end(&o);
    json_object_end(&o);
    oci_answer(call, status_of(err), all, count, buf_view(&body));
}

bool oci_repository(struct oci_call *call, struct repository *ret)
{
    const char *action = call->route->action;
    bool blob = call->route->run == oci_run_blob;
    enum repository_right right = strcmp(action, "pull") == 0
                                      ? (blob ? REPOSITORY_PULL_BLOB : REPOSITORY_PULL)
                                  : strcmp(action, "push") == 0 ? REPOSITORY_PUSH
                                                                : REPOSITORY_DELETE;
    struct err err = {0};
    if (!repository_find(call->core, &call->caller, call->name, right, call->arena, ret, &err)) {
        oci_problem(call, &err, NULL, 0);
        return false;
    }
    if (oci_scoped(call, call->name, action))
        return true;
    const struct header headers[] = {oci_challenge(call, "insufficient_scope")};
    err_set(&err, ERR_UNAUTHORIZED, NULL,
            "the token is not for this: ask for one of the scope repository:" STR_FMT ":%s",
            STR_ARG(call->name), action);
    oci_problem(call, &err, headers, 1);
    return false;
}

bool oci_digest(struct oci_call *call, struct str text, struct digest *ret)
{
    struct err err = {0};
    if (reference_digest(text, ret, &err))
        return true;
    oci_problem(call, &err, NULL, 0);
    return false;
}

/* --- paths --- */

#define SEGMENTS 32

struct path {
    struct str part[SEGMENTS];
    size_t n;
};

static bool split(struct arena *a, struct str path, struct path *ret, struct err *err)
{
    struct str rest = {path.p + 3, path.n - 3}; /* "/v2" */
    ret->n = 0;
    if (rest.n)
        rest = (struct str){rest.p + 1, rest.n - 1};
    while (rest.p && rest.n) {
        struct str raw = str_cut(rest, '/', &rest);
        if (ret->n == SEGMENTS)
            return err_set(err, ERR_INVALID, "name", "name: the path has more than %d parts", SEGMENTS);
        if (raw.n == 0 || !url_segment(a, raw, &ret->part[ret->n], err))
            return err_set(err, ERR_INVALID, "name",
                           "name: the path has an empty part, \"..\", or a bad escape");
        ret->n++;
    }
    return true;
}

static struct str join(struct arena *a, const struct path *p, size_t n)
{
    auto_buf struct buf b = {0};
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s" STR_FMT, i ? "/" : "", STR_ARG(p->part[i]));
    return arena_str(a, buf_view(&b));
}

/* From the right: a name may have parts called like the protocol's words. */
static bool find_shape(struct oci_call *call, const struct path *p, enum shape *ret)
{
    static const struct {
        const char *word;
        enum shape shape;
    } words[] = {{"manifests", MANIFEST}, {"referrers", REFERRERS}, {"blobs", BLOB}};
    size_t n = p->n;
    bool slash = str_ends(call->request->path, "/");
    *ret = BASE;
    if (n == 0)
        return true;
    if (n == 1 && (str_is(p->part[0], "token") || str_is(p->part[0], "_catalog"))) {
        *ret = str_is(p->part[0], "token") ? TOKEN : CATALOG;
        return true;
    }
    call->last = p->part[n - 1];
    if (n >= 3 && str_is(p->part[n - 2], "blobs") && str_is(call->last, "uploads")) {
        *ret = UPLOADS;
    } else if (n >= 4 && !slash && str_is(p->part[n - 3], "blobs") && str_is(p->part[n - 2], "uploads")) {
        *ret = UPLOAD;
    } else if (n >= 3 && str_is(p->part[n - 2], "tags") && str_is(call->last, "list")) {
        *ret = TAGS;
    } else {
        for (size_t i = 0; n >= 3 && i < countof(words); i++)
            if (str_is(p->part[n - 2], words[i].word))
                *ret = words[i].shape;
        if (*ret == BASE)
            return false;
    }
    call->name = join(call->arena, p, *ret == UPLOAD ? n - 3 : n - 2);
    return true;
}

static bool find_route(struct oci_call *call, struct err *err)
{
    struct path p;
    enum shape shape;
    bool known = false;
    struct str method = str_is(call->request->method, "HEAD") ? STR("GET") : call->request->method;
    if (!split(call->arena, call->request->path, &p, err))
        return false;
    if (!find_shape(call, &p, &shape))
        return err_set(err, ERR_NOT_FOUND, NULL, "the registry has no such path");
    for (size_t i = 0; i < countof(routes) && !call->route; i++) {
        known = known || routes[i].shape == (int)shape;
        if (routes[i].shape == (int)shape && str_is(method, routes[i].method))
            call->route = &routes[i];
    }
    return call->route || err_set(err, ERR_METHOD, NULL, "this path does not answer " STR_FMT,
                                  STR_ARG(call->request->method));
}

/* --- running --- */

static void run(void *arg)
{
    struct oci_call call = *(struct oci_call *)arg; /* a copy: the request's memory goes with the answer */
    struct err err = {0};
    call.commits = db_commits(call.core->db);
    if (!oci_who(&call, &err)) {
        /* A request for a token is to send name and password; any other is sent to ask for one. */
        const struct header basic = {STR("WWW-Authenticate"), STR("Basic realm=\"ingot\"")};
        oci_problem(&call, &err, &basic, call.route->shape == TOKEN && err.code == ERR_UNAUTHORIZED);
    } else {
        if (call.caller.name)
            call.request->log_user = arena_strdup(call.arena, call.caller.name);
        db_note_reads(&call.reads);
        call.route->run(&call);
        db_note_reads(NULL);
    }
    accounts_caller_release(call.core->accounts, &call.caller);
}

static void submit(struct oci_call *call)
{
    struct err err = {0};
    if (pool_submit(call->core->pool, run, call))
        return;
    err_set(&err, ERR_UNAVAILABLE, NULL, "too many requests are waiting");
    oci_problem(call, &err, NULL, 0);
}

static void collected(struct request *r, struct str body, bool complete)
{
    struct oci_call *call = r->user;
    struct err err = {0};
    call->body = body;
    if (complete) {
        submit(call);
        return;
    }
    err_set(&err, ERR_MALFORMED, NULL, "the body ended early");
    oci_problem(call, &err, NULL, 0);
}

void oci_handle(struct request *r, struct core *core)
{
    struct err err = {0};
    if (oci_give(core, r))
        return;
    struct oci_call *call = arena_new(r->arena, struct oci_call);
    *call = (struct oci_call){.core = core, .request = r, .arena = r->arena};
    r->user = call;
    if (!find_route(call, &err)) {
        oci_problem(call, &err, NULL, 0);
    } else if (call->route->collects && r->content_length > OCI_MANIFEST_MAX) {
        err_set(&err, ERR_TOO_LARGE, "manifest", "a manifest has at most %d bytes, this one has %lld",
                OCI_MANIFEST_MAX, (long long)r->content_length);
        oci_problem(call, &err, NULL, 0);
    } else if (call->route->collects && r->content_length != 0) {
        request_collect(r, OCI_MANIFEST_MAX, collected);
    } else {
        submit(call);
    }
}
