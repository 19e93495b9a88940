#include "api/rest/rest.h"

#include "api/answers.h"
#include "api/problem.h"
#include "api/range.h"
#include "base/hash.h"
#include "core/account/accounts.h"
#include "core/engine.h"
#include "net/url.h"

#include <inttypes.h>
#include <stdio.h>

#define TAG_BYTES 8 /* of the hash in an ETag */

static void fail(struct api_call *call, const struct err *err)
{
    api_problem(call, err, NULL, 0);
}

/* --- parameters --- */
static bool param_int(const struct url_param *p, int64_t max, int64_t *ret, struct err *err)
{
    int64_t n;
    if (!str_to_i64(p->value, &n) || n < 1 || n > max)
        return err_set(err, ERR_INVALID, p->name.p, "%s: must be a whole number of 1 to %" PRId64, p->name.p,
                       max);
    *ret = n;
    return true;
}

static bool param_bool(const struct url_param *p, bool *ret, struct err *err)
{
    if (!str_is(p->value, "true") && !str_is(p->value, "false"))
        return err_set(err, ERR_INVALID, p->name.p, "%s: must be true or false", p->name.p);
    *ret = str_is(p->value, "true");
    return true;
}

static bool list_param(const struct url_param *p, struct list_query *q, struct err *err)
{
    if (str_is(p->name, "q"))
        q->q = p->value;
    else if (str_is(p->name, "filter"))
        q->filter = p->value;
    else if (str_is(p->name, "sort"))
        q->sort = p->value;
    else if (str_is(p->name, "cursor"))
        q->cursor = p->value;
    else if (str_is(p->name, "limit"))
        return param_int(p, 200, &q->limit, err);
    else if (str_is(p->name, "project"))
        return param_int(p, INT64_MAX, &q->project, err);
    else if (str_is(p->name, "mine"))
        return param_bool(p, &q->mine, err);
    else if (str_is(p->name, "count"))
        return param_bool(p, &q->count, err);
    else
        return err_set(err, ERR_INVALID, p->name.p, "%.40s: there is no such parameter", p->name.p);
    return true;
}

static bool list_params(struct api_call *call, struct list_query *q, struct err *err)
{
    struct url_param *p;
    size_t n;
    if (!url_query(call->arena, call->request->query, &p, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            if (str_eq(p[i].name, p[j].name))
                return err_set(err, ERR_INVALID, p[i].name.p, "%s: is given twice", p[i].name.p);
        if (!list_param(&p[i], q, err))
            return false;
    }
    return true;
}

/* --- headers --- */
/* The revision, which an edit depends on, and a hash of what is shown: that changes without a new revision
 * when a status, something computed or the name of a reference does. */
static const char *tag_of(struct arena *a, const struct object *o, struct str body)
{
    uint8_t hash[SHA256_SIZE];
    char hex[2 * TAG_BYTES + 1];
    sha256_of(body, hash);
    hex_encode(hash, TAG_BYTES, hex);
    return arena_printf(a, "\"%" PRId64 "-%s\"", o->revision, hex);
}

/* "7-3f2a..." and "7" give 7, absent and * give 0. */
static bool if_match(struct api_call *call, bool *ret_given, int64_t *ret, struct err *err)
{
    struct str v = request_header(call->request, "if-match");
    *ret = 0;
    *ret_given = v.p != NULL;
    if (!v.p || str_is(str_trim(v), "*"))
        return true;
    v = str_trim(v);
    if (str_starts(v, "W/"))
        return err_set(err, ERR_STALE, NULL, "If-Match compares strongly; a weak tag never matches");
    struct str shown;
    if (v.n > 2 && v.p[0] == '"' && v.p[v.n - 1] == '"' &&
        str_to_i64(str_cut((struct str){v.p + 1, v.n - 2}, '-', &shown), ret) && *ret > 0)
        return true;
    return err_set(err, ERR_MALFORMED, NULL,
                   "If-Match must be the object's ETag, or its revision as in \"7\"");
}

static bool is_read(const struct api_call *call)
{
    return str_is(call->request->method, "GET") || str_is(call->request->method, "HEAD");
}

static void answer_object(struct api_call *call, const struct object *o, int status)
{
    struct err err = {0};
    auto_buf struct buf body = {0};
    char location[256];
    if (!engine_show(call->core, &call->caller, o, call->arena, &body, &err)) {
        fail(call, &err);
        return;
    }
    const char *etag = tag_of(call->arena, o, buf_view(&body));
    struct header headers[2] = {{STR("ETag"), str_of(etag)}};
    struct str known = request_header(call->request, "if-none-match");
    if (known.p && is_read(call) && range_names_etag(known, etag)) {
        respond(call->request, 304, headers, 1, STR_NULL);
        return;
    }
    if (status == 201) {
        snprintf(location, sizeof location, STR_FMT "/%" PRId64, STR_ARG(call->request->path), o->id);
        headers[1] = (struct header){STR("Location"), str_of(location)};
    }
    if (answers_suit(call->core, call->request, &(struct target){.kind = o->kind}))
        answers_keep(call, str_of(etag), buf_view(&body));
    api_answer(call, status, headers, status == 201 ? 2 : 1, buf_view(&body));
}

/* --- verbs --- */
static void run_list(struct api_call *call, const struct target *t)
{
    struct list_query q = {.parent = t->parent};
    struct err err = {0};
    auto_buf struct buf body = {0};
    if (!list_params(call, &q, &err) ||
        !engine_list(call->core, &call->caller, t->kind, &q, call->arena, &body, &err)) {
        fail(call, &err);
        return;
    }
    if (answers_suit(call->core, call->request, t))
        answers_keep(call, STR_NULL, buf_view(&body));
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

static bool has_body(struct api_call *call, struct err *err)
{
    return call->json || err_set(err, ERR_MALFORMED, NULL, "a JSON object is expected in the body");
}

static void changed(void *ctx, const struct object *o, struct str refs, const struct err *err)
{
    struct api_call *call = ctx;
    struct accounts *accounts = call->core->accounts;
    struct caller caller = call->caller; /* the request's memory is gone once it is answered */
    if (!o)
        problem_respond(call->request, err, refs, NULL, 0);
    else if (str_is(call->request->method, "DELETE"))
        api_answer(call, 204, NULL, 0, STR_NULL);
    else
        answer_object(call, o, str_is(call->request->method, "POST") ? 201 : 200);
    accounts_caller_release(accounts, &caller);
}

/* Answers later, when call is gone: with a copy that lasts as long as the request. */
static void change(struct api_call *call, const struct engine_change *what)
{
    struct api_call *later = arena_copy(call->arena, call, sizeof *call);
    later->caller = accounts_caller_ref(&call->caller);
    engine_change_then(later->core, &later->caller, what, later->arena, changed, later);
}

static void run_create(struct api_call *call, const struct target *t)
{
    struct err err = {0};
    if (has_body(call, &err))
        change(call, &(struct engine_change){
                         .verb = ENGINE_CREATE, .kind = t->kind, .parent = t->parent, .body = call->json});
    else
        fail(call, &err);
}

static void run_read(struct api_call *call, const struct target *t)
{
    struct err err = {0};
    struct object o;
    if (engine_get(call->core, &call->caller, t->kind, t->parent, t->id, call->arena, &o, &err))
        answer_object(call, &o, 200);
    else
        fail(call, &err);
}

static void run_update(struct api_call *call, const struct target *t)
{
    struct err err = {0};
    struct object o;
    bool given;
    int64_t revision;
    if (!has_body(call, &err) || !if_match(call, &given, &revision, &err)) {
        fail(call, &err);
        return;
    }
    if (!given) {
        /* Existence and rights come before the form of the request. */
        if (engine_get(call->core, &call->caller, t->kind, t->parent, t->id, call->arena, &o, &err))
            err_set(&err, ERR_PRECONDITION, NULL,
                    "send If-Match with the ETag of the object you read, as in \"%" PRId64 "\"", o.revision);
        fail(call, &err);
        return;
    }
    change(call, &(struct engine_change){ENGINE_UPDATE, t->kind, t->parent, t->id, revision, call->json});
}

static void run_delete(struct api_call *call, const struct target *t)
{
    struct err err = {0};
    bool given;
    int64_t revision;
    if (if_match(call, &given, &revision, &err))
        change(call, &(struct engine_change){ENGINE_DELETE, t->kind, t->parent, t->id, revision, NULL});
    else
        fail(call, &err);
}

/* The query of a read-only action as a JSON object, by the types of its fields. */
static yyjson_val *query_object(struct api_call *call, const struct field *fields, struct err *err)
{
    struct url_param *p;
    size_t n;
    if (!url_query(call->arena, call->request->query, &p, &n, err))
        return NULL;
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    for (size_t i = 0; i < n; i++) {
        const struct field *f = fields;
        while (f && f->name && !str_is(p[i].name, f->name))
            f++;
        bool bare = f && f->name && f->type != FIELD_TEXT && f->type != FIELD_CHOICE && f->type != FIELD_TIME;
        struct err unused_err = {0};
        json_key(&o, arena_strz(call->arena, p[i].name));
        if (bare && json_parse(call->arena, p[i].value, &unused_err))
            json_raw(&o, p[i].value);
        else
            json_string(&o, p[i].value);
    }
    json_object_end(&o);
    return json_parse(call->arena, arena_str(call->arena, buf_view(&text)), err);
}

static void run_action(struct api_call *call, const struct target *t)
{
    struct err err = {0};
    auto_buf struct buf body = {0};
    int status = 200;
    yyjson_val *input = call->json;
    if (t->action->read_only && !(input = query_object(call, t->action->fields, &err))) {
        fail(call, &err);
        return;
    }
    if (!engine_action(call->core, &call->caller, t->kind, t->action, t->parent, t->id, input, call->arena,
                       &body, &status, &err)) {
        fail(call, &err);
        return;
    }
    if (body.n == 0)
        status = 204;
    api_answer(call, status, NULL, 0, buf_view(&body));
}

void rest_run(struct api_call *call, const struct target *t)
{
    struct str m = call->request->method;
    struct err err = {0};
    struct object parent;
    const struct kind *pk = t->kind->parent ? kind_by_name(str_of(t->kind->parent)) : NULL;
    if (t->grandparent &&
        !engine_get(call->core, &call->caller, pk, t->grandparent, t->parent, call->arena, &parent, &err)) {
        fail(call, &err);
        return;
    }
    if (t->action)
        run_action(call, t);
    else if (str_is(m, "POST"))
        run_create(call, t);
    else if (str_is(m, "PATCH"))
        run_update(call, t);
    else if (str_is(m, "DELETE"))
        run_delete(call, t);
    else if (t->id)
        run_read(call, t);
    else
        run_list(call, t);
}
