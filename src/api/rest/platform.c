/* The routes that belong to no kind and not to signing in. */
#include "api/auth.h"
#include "api/describe/document.h"
#include "api/describe/kinds_json.h"
#include "api/describe/openapi.h"
#include "api/gateway/service_routes.h"
#include "api/gateway/trial_routes.h"
#include "api/rest/backup.h"
#include "api/rest/events.h"
#include "api/rest/jobs.h"
#include "api/rest/uploads.h"
#include "api/router.h"
#include "base/logbook.h"
#include "core/controller.h"
#include "core/find.h"
#include "core/home/home.h"
#include "core/job/overview.h"
#include "core/metrics.h"
#include "core/move_blobs.h"

static void run_health(struct api_call *call)
{
    struct err err = {0};
    struct db_row row;
    bool found;
    if (!db_may_write(call->core->db, &err) ||
        !db_query_one(call->core->db, call->arena, "SELECT 1", DB_NO_ARGS, &row, &found, &err)) {
        err.code = ERR_UNAVAILABLE;
        api_problem(call, &err, NULL, 0);
        return;
    }
    api_answer(call, 200, NULL, 0, STR("{\"status\":\"ok\",\"version\":\"" INGOT_VERSION "\"}"));
}

static void run_kinds(struct api_call *call)
{
    static struct document kinds = DOCUMENT(kinds_json_write);
    document_respond(call->request, &kinds);
}

static void run_permissions(struct api_call *call)
{
    static struct document permissions = DOCUMENT(accounts_show_permissions);
    document_respond(call->request, &permissions);
}

static void run_openapi(struct api_call *call)
{
    static struct document openapi = DOCUMENT(openapi_write);
    document_respond(call->request, &openapi);
}

static void run_resources(struct api_call *call)
{
    auto_buf struct buf body = {0};
    struct err err = {0};
    if (resources_write(call->core, call->arena, &body, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

static void run_home(struct api_call *call)
{
    auto_buf struct buf body = {0};
    struct err err = {0};
    if (home_platform_write(call->core, &call->caller, call->arena, &body, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

static void run_search(struct api_call *call)
{
    auto_buf struct buf body = {0};
    struct find_query q = {0};
    struct err err = {0};
    request_param(call->request, "q", &q.q, &err);
    if (!err.code && api_number(call, "project", 1, INT64_MAX, 0, &q.project, &err) &&
        api_number(call, "limit", 1, FIND_MAX, FIND_USUAL, &q.limit, &err) &&
        find_write(call->core, &call->caller, &q, call->arena, &body, &err))
        api_answer(call, 200, NULL, 0, buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

static void run_storage(struct api_call *call)
{
    auto_buf struct buf body = {0};
    storage_write(call->core, &body);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

static void run_controllers(struct api_call *call)
{
    auto_buf struct buf body = {0};
    controllers_write(call->core, &body);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

static void run_controller(struct api_call *call)
{
    struct err err = {0};
    if (!controller_wake_named(call->core, call->params[0], &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    log_info("controller " STR_FMT ": asked to run at once by user %lld", STR_ARG(call->params[0]),
             (long long)call->caller.user);
    api_answer(call, 204, NULL, 0, STR_NULL);
}

static void run_metrics(struct api_call *call)
{
    static const struct header headers[] = {{STR("Content-Type"), STR(METRICS_TYPE)},
                                            {STR("Cache-Control"), STR("private, no-store")},
                                            {STR("X-Content-Type-Options"), STR("nosniff")}};
    auto_buf struct buf body = {0};
    struct err err = {0};
    if (metrics_write(call->core, call->arena, &body, &err))
        respond(call->request, 200, headers, countof(headers), buf_view(&body));
    else
        api_problem(call, &err, NULL, 0);
}

/* --- the log --- */

#define LOG_LINES_MAX 1000
#define LOG_QUERY_MAX 200

static bool log_question(struct api_call *call, struct logbook_query *q, struct err *err)
{
    struct str level;
    int64_t limit;
    *q = (struct logbook_query){.level = LOG_DEBUG};
    if (!api_number(call, "after", 0, INT64_MAX, -1, &q->after, err) ||
        !api_number(call, "before", 0, INT64_MAX, -1, &q->before, err) ||
        !api_number(call, "limit", 1, LOG_LINES_MAX, 200, &limit, err))
        return false;
    q->limit = (size_t)limit;
    if (request_param(call->request, "level", &level, err) &&
        !log_level_from(arena_strz(call->arena, level), &q->level))
        return err_set(err, ERR_INVALID, "level", "level: must be debug, info, warn or error");
    if (!err->code && request_param(call->request, "q", &q->q, err) && q->q.n > LOG_QUERY_MAX)
        return err_set(err, ERR_INVALID, "q", "q: at most %d bytes of text to look for", LOG_QUERY_MAX);
    return !err->code;
}

static void log_answer(const struct logbook_page *page, struct buf *body)
{
    struct json_out o;
    json_begin(&o, body);
    json_object(&o);
    json_key(&o, "lines");
    json_array(&o);
    for (size_t i = 0; i < page->n; i++) {
        const struct logbook_line *l = &page->line[i];
        json_object(&o);
        json_kint(&o, "place", l->place);
        json_kstr(&o, "at", l->at);
        json_kstr(&o, "level", l->level);
        json_kstr(&o, "thread", l->thread);
        json_kstr(&o, "text", utf8_valid(l->text) ? l->text : STR("(not text)"));
        json_object_end(&o);
    }
    json_array_end(&o);
    json_kint(&o, "first", page->first);
    json_kint(&o, "next", page->next);
    json_object_end(&o);
}

static void run_log(struct api_call *call)
{
    struct logbook_query q;
    struct logbook_page page;
    struct err err = {0};
    auto_buf struct buf body = {0};
    if (!log_question(call, &q, &err) || !logbook_read(call->arena, &q, &page, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    log_answer(&page, &body);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

#define ITEMS_OF_OBJECTS                                                                                     \
    "{\"type\":\"object\",\"required\":[\"items\"],\"properties\":{\"items\":{\"type\":\"array\","           \
    "\"items\":{\"type\":\"object\"}}}}"

static const struct route platform_routes[] = {
    {"GET", "/api/v1/health", "public", run_health, .summary = "Whether the platform works",
     .answer =
         "{\"type\":\"object\",\"required\":[\"status\",\"version\"],\"properties\":{\"status\":{\"type\":"
         "\"string\"},\"version\":{\"type\":\"string\"}}}"},
    {"GET", "/api/v1/openapi.json", "public", run_openapi, .summary = "This document", .tagged = true,
     .answer = "{\"type\":\"object\"}"},
    {"GET", "/api/v1/kinds", "public", run_kinds,
     .summary = "Every kind of object, with its fields and verbs", .tagged = true,
     .answer = ITEMS_OF_OBJECTS},
    {"GET", "/api/v1/permissions", NULL, run_permissions, .summary = "The table of permissions",
     .tagged = true, .answer = ITEMS_OF_OBJECTS},
    {"GET", "/api/v1/resources", "node.read", run_resources, .summary = "What all nodes have and who uses it",
     .answer = ROUTE_ANSWER("Resources")},
    {"GET", "/api/v1/home", NULL, run_home,
     .summary = "Of all projects that the caller sees: load, what runs, waits and failed, services, growth",
     .answer = ROUTE_ANSWER("PlatformHome")},
    {"GET", "/api/v1/search", NULL, run_search,
     .summary = "Objects of all kinds that the words are found in, of a project and of the platform",
     .query = "q project:id limit:int", .answer = ROUTE_ANSWER("Found")},
    {"GET", "/api/v1/log", "platform.log", run_log,
     .summary = "The platform's own log: the newest lines, or those after or before a place",
     .query = "after before limit level q", .answer = ROUTE_ANSWER("PlatformLog")},
    {"GET", "/api/v1/storage", "platform.backup", run_storage,
     .summary = "Where the bytes of files are, and how many wait to be moved to the bucket",
     .answer = "{\"type\":\"object\"}"},
    {"GET", "/api/v1/controllers", "platform.metrics", run_controllers,
     .summary = "What the platform does by itself: when it ran last, how long, and what failed",
     .answer = ROUTE_ANSWER("Controllers")},
    {"POST", "/api/v1/controllers/{name}/run", "platform.controllers", run_controller,
     .summary = "Has a controller run soon instead of at its next time; harmless whenever it is asked"},
    {"GET", "/metrics", "platform.metrics", run_metrics,
     .summary = "Figures of the platform, as OpenMetrics text", .answer = "{\"type\":\"string\"}",
     .type = METRICS_TYPE},
    {"GET", "/api/v1/events", NULL, events_run, .summary = "Changes as they happen, as Server-Sent Events",
     .query = "project:id", .answer = "{\"type\":\"string\"}", .type = "text/event-stream"},
    {0},
};

const struct route *const router_tables[] = {
    platform_routes, auth_routes,      backup_routes,   tus_routes,       file_routes,
    sample_routes,   operation_routes, room_routes,     task_routes,      format_routes,
    record_routes,   job_log_routes,   terminal_routes, service_routes,   labelling_routes,
    trial_routes,    lineage_routes,   example_routes,  evaluation_routes};
const size_t router_table_count = countof(router_tables);
