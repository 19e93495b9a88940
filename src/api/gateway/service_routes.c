#include "api/gateway/service_routes.h"

#include "api/gateway/visit.h"
#include "api/route.h"
#include "base/clock.h"
#include "base/messages.h"
#include "core/serve/address.h"

#define LOOK_BACK_US  (2 * 3600 * INT64_C(1000000))
#define POINTS_USUAL  240
#define POINTS_MAX    2000
#define LINES_USUAL   20
#define LINES_MAX     200
#define SPAN_MAX_DAYS 400

/* The route of the path's service, when the caller has the permission in its project. */
static const struct serve_route *find(struct api_call *call, const struct serve_routes *routes,
                                      const char *permission, struct err *err)
{
    int64_t id;
    const struct serve_route *r = str_to_i64(call->params[0], &id) ? serve_routes_service(routes, id) : NULL;
    if (!r) {
        err_set(err, ERR_NOT_FOUND, NULL, "there is no service " STR_FMT, STR_ARG(call->params[0]));
        return NULL;
    }
    return caller_need(&call->caller, permission, r->project, err) ? r : NULL;
}

/* Answers with what write makes of the service. */
static void with_service(struct api_call *call, const char *permission,
                         bool (*write)(struct api_call *call, const struct serve_route *r, struct buf *out,
                                       struct err *err))
{
    struct serve_routes *routes = serve_routes_acquire(call->core);
    auto_buf struct buf body = {0};
    struct err err = {0};
    const struct serve_route *r = find(call, routes, permission, &err);
    bool ok = r && write(call, r, &body, &err);
    serve_routes_release(routes);
    if (ok)
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

/* --- trying it --- */

static void run_predict(struct api_call *call)
{
    struct visit *v = visit_begin(call->core, call->request);
    struct err err = {0};
    v->inside = true;
    v->rest = STR("/predict");
    const struct serve_route *r = find(call, v->routes, "service.invoke", &err);
    if (!r) {
        visit_end(v, 0, 0, 0);
        api_problem(call, &err, NULL, 0);
        return;
    }
    v->route = r;
    v->user = call->caller.user;
    struct str want = request_header(call->request, "x-ingot-version");
    v->want = str_is(want, "production") ? SERVE_PRODUCTION
              : str_is(want, "canary")   ? SERVE_CANARY
                                         : SERVE_ANY;
    visit_forward(v, NULL);
}

/* --- figures --- */

static bool time_of(struct api_call *call, const char *name, int64_t fallback, int64_t *ret, struct err *err)
{
    struct str text;
    *ret = fallback;
    if (!request_param(call->request, name, &text, err))
        return !err->code;
    return clock_parse(text, ret) ||
           err_set(err, ERR_INVALID, name, "%s: must be a time as in 2026-11-16T09:51:30Z", name);
}

static bool write_traffic(struct api_call *call, const struct serve_route *r, struct buf *out,
                          struct err *err)
{
    int64_t now = clock_now(), from, to, points;
    if (!time_of(call, "to", now, &to, err) || !time_of(call, "from", to - LOOK_BACK_US, &from, err) ||
        !api_number(call, "points", 1, POINTS_MAX, POINTS_USUAL, &points, err))
        return false;
    if (from >= to || (to - from) / 86400 / 1000000 > SPAN_MAX_DAYS)
        return err_set(err, ERR_INVALID, "from", "from: must be before to, and at most %d days",
                       SPAN_MAX_DAYS);
    return serve_traffic_write(call->core, r->service, from, to, points, call->arena, out, err);
}

static void run_traffic(struct api_call *call)
{
    with_service(call, "service.read", write_traffic);
}

static bool write_requests(struct api_call *call, const struct serve_route *r, struct buf *out,
                           struct err *err)
{
    int64_t limit;
    struct str id = STR_NULL;
    if (!api_number(call, "limit", 1, LINES_MAX, LINES_USUAL, &limit, err))
        return false;
    if (!request_param(call->request, "request", &id, err) && err->code)
        return false;
    return request_log_find(call->core->request_log, r->service, id, limit, out, err);
}

static void run_requests(struct api_call *call)
{
    with_service(call, "service.read", write_requests);
}

/* What the log says, and what the service and the version are called. */
static bool write_request(struct api_call *call, yyjson_val *line, const struct serve_route *r,
                          struct buf *out, struct err *err)
{
    yyjson_val *key, *v;
    size_t i, max;
    struct json_out o;
    struct db_row row;
    bool found;
    if (!db_query_one(call->core->db, call->arena, "SELECT name FROM service_versions WHERE id = ?",
                      db_args(db_int(yyjson_get_sint(yyjson_obj_get(line, "version")))), &row, &found, err))
        return false;
    json_begin(&o, out);
    json_object(&o);
    yyjson_obj_foreach(line, i, max, key, v)
    {
        json_key(&o, yyjson_get_str(key));
        json_value(&o, v);
    }
    json_kint(&o, "project", r->project);
    json_kz(&o, "project_name", r->project_title);
    json_kz(&o, "service_name", r->title);
    json_kstr(&o, "version_name", found ? row.v[0].s : STR_NULL);
    json_object_end(&o);
    return true;
}

/* Of whichever service: who may not look at it does not learn that there was such a request. */
static void run_request(struct api_call *call)
{
    auto_buf struct buf found = {0}, body = {0};
    struct err err = {0}, unknown = {0};
    struct str id = call->params[0];
    bool ok =
        id.n && id.n < REQUEST_ID_MAX && request_log_find(call->core->request_log, 0, id, 1, &found, &err);
    yyjson_val *doc = ok ? json_parse(call->arena, buf_view(&found), &err) : NULL;
    yyjson_val *line = yyjson_arr_get(yyjson_obj_get(doc, "items"), 0);
    struct serve_routes *routes = serve_routes_acquire(call->core);
    const struct serve_route *r =
        line ? serve_routes_service(routes, yyjson_get_sint(yyjson_obj_get(line, "service"))) : NULL;
    if (r && caller_need(&call->caller, "service.read", r->project, &unknown))
        ok = write_request(call, line, r, &body, &err);
    else if (!err.code)
        ok = err_message(&err, ERR_NOT_FOUND, NULL, MESSAGE_GATEWAY_REQUEST);
    serve_routes_release(routes);
    if (ok && body.n)
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

/* --- descriptions --- */

static const char *address_of(struct api_call *call, const struct serve_route *r)
{
    return serve_address(call->core, call->request->host, r->project_name, r->name, r->host, call->arena);
}

static bool write_document(struct api_call *call, const struct serve_route *r, struct buf *out,
                           struct err *err)
{
    const struct serve_side *side = r->production.model ? &r->production : &r->canary;
    struct serve_interface model;
    if (side->model && !serve_interface_read(call->core, side->version, r->name, call->arena, &model, err))
        return false;
    service_document_write(r, side->model ? &model : NULL, address_of(call, r), out);
    return true;
}

static void run_document(struct api_call *call)
{
    with_service(call, "service.read", write_document);
}

static void write_entry(struct api_call *call, const struct serve_route *r, struct json_out *o)
{
    json_object(o);
    json_kint(o, "service", r->service);
    json_kint(o, "project", r->project);
    json_kz(o, "project_name", r->project_name);
    json_kz(o, "name", r->name);
    json_kz(o, "project_title", r->project_title);
    json_kz(o, "title", r->title);
    json_kz(o, "state", r->state);
    json_kbool(o, "model", r->production.model || r->canary.model);
    json_kz(o, "address", address_of(call, r));
    json_kz(o, "openapi",
            arena_printf(call->arena, "/api/v1/services/%lld/openapi.json", (long long)r->service));
    json_object_end(o);
}

/* Of all interfaces that the caller may use. */
static void run_catalogue(struct api_call *call)
{
    auto_buf struct buf body = {0};
    struct err err = {0};
    struct json_out o;
    int64_t project;
    if (!api_number(call, "project", 1, INT64_MAX, 0, &project, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    struct serve_routes *routes = serve_routes_acquire(call->core);
    json_begin(&o, &body);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (size_t i = 0; i < serve_routes_count(routes); i++) {
        const struct serve_route *r = serve_routes_at(routes, i);
        if ((!project || r->project == project) && caller_may(&call->caller, "service.invoke", r->project))
            write_entry(call, r, &o);
    }
    json_array_end(&o);
    json_object_end(&o);
    serve_routes_release(routes);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

#define TEXT   "{\"type\":\"string\"}"
#define NUMBER "{\"type\":\"integer\"}"
#define LIST(properties)                                                                                     \
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" properties "}}}"
#define LINE                                                                                                 \
    "\"at\":" TEXT ",\"request\":" TEXT ",\"service\":" NUMBER ",\"version\":" NUMBER                        \
    ",\"generation\":" NUMBER ",\"replica\":{\"type\":[\"string\",\"null\"]},\"key\":" NUMBER                \
    ",\"user\":" NUMBER ",\"status\":" NUMBER ",\"bytes\":" NUMBER ",\"took_us\":" NUMBER                    \
    ",\"attempts\":" NUMBER ",\"method\":" TEXT ",\"path\":" TEXT
#define ITEMS(name, properties) "{\"type\":\"object\",\"properties\":{\"" name "\":" LIST(properties) "}}"

const struct route service_routes[] = {
    {.method = "POST",
     .pattern = "/api/v1/services/{service_id}/predict",
     .run = run_predict,
     .streams = true,
     .query = "*",
     .summary = "Sends a picture, text or sound to a service of a model and answers with what it makes of it",
     .takes = "application/octet-stream",
     .answer = "{\"type\":\"object\"}"},
    {.method = "GET",
     .pattern = "/api/v1/services/{service_id}/traffic",
     .run = run_traffic,
     .query = "from to points:int",
     .summary = "Requests, errors and times of each version of a service, over time",
     .answer = "{\"$ref\":\"#/components/schemas/ServiceTraffic\"}"},
    {.method = "GET",
     .pattern = "/api/v1/services/{service_id}/requests",
     .run = run_requests,
     .query = "request limit:int",
     .summary = "The newest requests of a service, or the one with this id (X-Request-Id of its answer)",
     .answer = ITEMS("items", LINE)},
    {.method = "GET",
     .pattern = "/api/v1/requests/{request}",
     .run = run_request,
     .summary = "What became of the request with this id (X-Request-Id of its answer), of whichever service",
     .answer = "{\"type\":\"object\",\"properties\":{" LINE ",\"project\":" NUMBER ",\"project_name\":" TEXT
               ",\"service_name\":" TEXT ",\"version_name\":{\"type\":[\"string\",\"null\"]}}}"},
    {.method = "GET",
     .pattern = "/api/v1/services/{service_id}/openapi.json",
     .run = run_document,
     .summary = "The interface of a service as an OpenAPI document",
     .answer = "{\"type\":\"object\"}"},
    {.method = "GET",
     .pattern = "/api/v1/catalogue",
     .run = run_catalogue,
     .query = "project:id",
     .summary = "The interfaces of all services that the caller may invoke",
     .answer =
         ITEMS("items", "\"service\":" NUMBER ",\"project\":" NUMBER ",\"project_name\":" TEXT
                        ",\"name\":" TEXT ",\"project_title\":" TEXT ",\"title\":" TEXT ",\"state\":" TEXT
                        ",\"model\":{\"type\":\"boolean\"},\"address\":" TEXT ",\"openapi\":" TEXT)},
    {0},
};
