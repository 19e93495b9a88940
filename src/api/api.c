#include "api/api.h"

#include "api/answers.h"
#include "api/auth.h"
#include "api/oci/oci.h"
#include "api/problem.h"
#include "api/rest/rest.h"
#include "api/web/web.h"
#include "base/messages.h"
#include "net/url.h"

/* A request on its way from the loop thread to a pool thread; in the request's arena. */
struct job {
    struct core *core;
    struct request *request;
    struct match match;
    struct str body;
};

bool api_number(struct api_call *call, const char *name, int64_t low, int64_t high, int64_t fallback,
                int64_t *ret, struct err *err)
{
    struct str text;
    *ret = fallback;
    if (!request_param(call->request, name, &text, err))
        return !err->code;
    if (str_to_i64(text, ret) && *ret >= low && *ret <= high)
        return true;
    return err_set(err, ERR_INVALID, name, "%s: must be a whole number from %lld to %lld", name,
                   (long long)low, (long long)high);
}

void api_answer(struct api_call *call, int status, const struct header *headers, size_t n, struct str body)
{
    struct header all[12] = {
        {STR("Cache-Control"), STR("private, no-cache")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    size_t count = 2;
    if (status != 204 && status != 304)
        all[count++] = (struct header){STR("Content-Type"), STR("application/json")};
    for (size_t i = 0; i < n && count < countof(all); i++)
        all[count++] = headers[i];
    respond(call->request, status, all, count, status == 204 ? STR_NULL : body);
}

void api_problem(struct api_call *call, const struct err *err, const struct header *headers, size_t n)
{
    problem_respond(call->request, err, STR_NULL, headers, n);
}

static bool is_json(struct str type)
{
    struct str rest;
    struct str name = str_trim(str_cut(type, ';', &rest));
    return str_ieq(name, STR("application/json")) || str_ieq(name, STR("application/merge-patch+json"));
}

static bool parse_body(struct api_call *call, struct err *err)
{
    if (!call->body.n)
        return true;
    if (!is_json(request_header(call->request, "content-type")))
        return err_set(err, ERR_MEDIA_TYPE, NULL, "the body must be application/json");
    call->json = json_parse(call->arena, call->body, err);
    return call->json != NULL;
}

static bool permitted(const struct api_call *call, const struct route *r, struct err *err)
{
    if (call->request->tag && auth_is_sign_in(r))
        return err_message(err, ERR_FORBIDDEN, NULL, MESSAGE_JOB_NO_SIGN_IN);
    if (!r || (r->permission && strcmp(r->permission, "public") == 0))
        return true; /* kinds: the engine asks */
    if (!r->permission)
        return call->caller.user ? true : err_set(err, ERR_UNAUTHORIZED, NULL, "sign in first");
    return caller_need(&call->caller, r->permission, 0, err);
}

static bool has_parameter(const char *query, struct str name)
{
    struct route_word word;
    for (struct str rest = str_of(query); route_next(&rest, &word);)
        if (str_eq(word.name, name) || str_is(word.name, "*"))
            return true;
    return false;
}

/* A parameter that the route does not read is a mistake of the client, which would not hear of it otherwise.
 */
static bool known_parameters(struct api_call *call, const struct route *r, struct err *err)
{
    struct url_param *p;
    size_t n;
    if (!r || call->request->query.n == 0)
        return true;
    if (!url_query(call->arena, call->request->query, &p, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!has_parameter(r->query, p[i].name))
            return err_set(err, ERR_INVALID, p[i].name.p, "%.40s: there is no such parameter", p[i].name.p);
    return true;
}

static bool is_public(const struct match *m)
{
    return m->route && m->route->permission && strcmp(m->route->permission, "public") == 0;
}

static bool prepare(struct api_call *call, const struct match *m, struct err *err)
{
    struct err unknown = {0};
    if (!auth_caller(call->core, call->request, &call->caller, &unknown)) {
        /* A stale cookie must not keep its user from signing in again. */
        if (!is_public(m) || unknown.code != ERR_UNAUTHORIZED) {
            *err = unknown;
            return false;
        }
        call->caller = (struct caller){.peer = call->request->peer};
    }
    if (call->caller.name)
        call->request->log_user =
            call->caller.job
                ? arena_printf(call->arena, "%s/job-%lld", call->caller.name, (long long)call->caller.job)
                : arena_strdup(call->arena, call->caller.name);
    return auth_origin_ok(call->core, call->request, &call->caller, err) && permitted(call, m->route, err) &&
           known_parameters(call, m->route, err) && parse_body(call, err);
}

static void run(void *arg)
{
    /* A copy: the request's memory is gone once it is answered. */
    const struct job job = *(struct job *)arg;
    struct api_call call = {.core = job.core,
                            .request = job.request,
                            .arena = job.request->arena,
                            .body = job.body,
                            .commits = db_commits(job.core->db)};
    memcpy(call.params, job.match.params, sizeof call.params);
    struct err err = {0};
    struct header *forget = NULL;
    size_t n = is_public(&job.match) ? 0 : auth_cookie_twice(job.core, job.request, &forget);
    if (n > 0)
        err_message(&err, ERR_MALFORMED, NULL, MESSAGE_COOKIE_TWICE);
    if (n > 0 || !prepare(&call, &job.match, &err))
        api_problem(&call, &err, forget, n);
    else if (job.match.route)
        job.match.route->run(&call);
    else {
        db_note_reads(&call.reads);
        rest_run(&call, &job.match.target);
        db_note_reads(NULL);
    }
    accounts_caller_release(job.core->accounts, &call.caller);
}

static void submit(struct job *job)
{
    struct err err = {0};
    if (pool_submit(job->core->pool, run, job))
        return;
    err_set(&err, ERR_UNAVAILABLE, NULL, "too many requests are waiting");
    problem_respond(job->request, &err, STR_NULL, NULL, 0);
}

static void collected(struct request *r, struct str body, bool complete)
{
    struct job *job = r->user;
    if (complete) {
        job->body = body;
        submit(job);
        return;
    }
    struct err err = {0};
    err_set(&err, ERR_MALFORMED, NULL, "the body ended early");
    problem_respond(r, &err, STR_NULL, NULL, 0);
}

/* Without leaving the loop thread, where the answer is known. */
static bool answer_again(struct core *core, struct request *r, const struct target *t)
{
    struct caller caller = {0};
    if (!answers_suit(core, r, t) || auth_peek(core, r, &caller) != AUTH_HIT)
        return false;
    bool done = answers_give(core, r, &caller);
    accounts_caller_release(core->accounts, &caller);
    return done;
}

static void handle_api(struct request *r, struct core *core)
{
    struct job *job = arena_new(r->arena, struct job);
    struct err err = {0};
    const char *allow = NULL;
    job->core = core;
    job->request = r;
    if (!router_match(r->arena, r->method, r->path, &job->match, &allow, &err)) {
        const struct header headers[] = {{STR("Allow"), str_of(allow)}};
        problem_respond(r, &err, STR_NULL, headers, err.code == ERR_METHOD ? 1 : 0);
        return;
    }
    if (r->content_length == 0 && answer_again(core, r, &job->match.target))
        return;
    r->user = job;
    bool streams = job->match.route && job->match.route->streams;
    int64_t most = job->match.route && job->match.route->body_max ? job->match.route->body_max : API_BODY_MAX;
    if (r->content_length == 0 || streams) {
        submit(job);
    } else if (r->content_length > most) {
        err_set(&err, ERR_TOO_LARGE, NULL, "the body has %lld bytes; it may have %lld",
                (long long)r->content_length, (long long)most);
        problem_respond(r, &err, STR_NULL, NULL, 0);
    } else {
        request_collect(r, (size_t)most, collected);
    }
}

/* Pages and the registry are not for jobs. */
static void only_api(struct request *r)
{
    struct err err = {0};
    err_message(&err, ERR_NOT_FOUND, NULL, MESSAGE_JOB_API_ONLY);
    problem_respond(r, &err, STR_NULL, NULL, 0);
}

static bool is_below(struct str path, const char *prefix)
{
    size_t n = strlen(prefix);
    return str_starts(path, prefix) && (path.n == n || path.p[n] == '/');
}

static void handle_web(struct request *r, struct core *core)
{
    (void)core;
    web_respond(r);
}

void api_handle(struct request *r, void *core)
{
    static const struct {
        const char *prefix; /* of the path; the first that fits */
        enum traffic traffic;
        void (*handle)(struct request *r, struct core *core);
        bool for_jobs; /* also from inside of a job's container */
    } ways[] = {
        {"/api/v1/uploads", TRAFFIC_UPLOAD, handle_api, true},
        {"/api", TRAFFIC_API, handle_api, true},
        {"/v2", TRAFFIC_REGISTRY, oci_handle, false},
        {"/metrics", TRAFFIC_OTHER, handle_api, false},
        {"", TRAFFIC_WEB, handle_web, false},
    };
    size_t i = 0;
    while (i < countof(ways) - 1 && !is_below(r->path, ways[i].prefix))
        i++;
    r->traffic = ways[i].traffic;
    if (r->tag && !ways[i].for_jobs)
        only_api(r);
    else
        ways[i].handle(r, core);
}
