#include "api/tools/tools.h"

#include "api/auth.h"
#include "api/lasting.h"
#include "api/problem.h"
#include "api/tools/pages.h"
#include "core/environment/tools.h"
#include "core/job/job.h"
#include "net/ws_frame.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#define COOKIES "ingot_" /* the platform's and ours: nothing for a container */

/* One request; in its arena. */
struct visit {
    struct core *core;
    struct request *r;
    const struct tool *tool;
    int64_t job;             /* of a tool with pages, the version that they show */
    struct str prefix, rest; /* "/t/7/jupyter" and what follows its slash */
    struct tool_pass pass;
    struct tool_way way;
    struct ws_watch watch[2]; /* what the client sends, and what it is sent */
    bool polls;               /* all that goes over the tunnel is the page's own */
};

/* --- refusals, as pages for people --- */

static bool wants_page(const struct request *r)
{
    return str_find(request_header(r, "accept"), STR("text/html")) >= 0;
}

static void refuse(struct request *r, const struct err *err)
{
    static const struct header headers[] = {
        {STR("Content-Type"), STR("text/html; charset=utf-8")},
        {STR("Cache-Control"), STR("no-store")},
        {STR("Content-Security-Policy"), STR("default-src 'none'; style-src 'unsafe-inline'")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    if (!wants_page(r)) {
        problem_respond(r, err, STR_NULL, NULL, 0);
        return;
    }
    auto_buf struct buf page = {0};
    buf_printf(&page,
               "<!doctype html><meta charset=utf-8><title>Ingot</title><body style=\"font:16px/1.5 "
               "system-ui;margin:20vh auto;max-width:36em;padding:0 1em\"><h1>%d</h1><p>",
               err_info(err->code)->status);
    for (const char *c = err->message; *c; c++)
        buf_printf(&page, *c == '<' || *c == '>' || *c == '&' ? "&#%d;" : "%c", *c);
    buf_z(&page, "<p>Open it again from the platform's page.<p>请从平台页面重新打开。");
    respond(r, err_info(err->code)->status, headers, countof(headers), buf_view(&page));
}

static void refuse_as(struct request *r, enum err_code code, const char *text)
{
    struct err err = {0};
    err_set(&err, code, NULL, "%s", text);
    refuse(r, &err);
}

/* --- other sites --- */

static bool origin_is_ours(const struct request *r, struct str origin)
{
    struct str rest = origin;
    if (str_starts(origin, "http://"))
        rest = (struct str){origin.p + 7, origin.n - 7};
    else if (str_starts(origin, "https://"))
        rest = (struct str){origin.p + 8, origin.n - 8};
    else
        return false;
    return str_ieq(rest, r->host);
}

/* Only pages of this origin may fetch, post and open sockets here; others may only link to it. Programs that
 * are no browsers send neither header. */
static bool site_ok(const struct request *r)
{
    struct str origin = request_header(r, "origin"), site = request_header(r, "sec-fetch-site");
    bool reads = str_is(r->method, "GET") || str_is(r->method, "HEAD");
    if (origin.p && !origin_is_ours(r, origin))
        return false;
    if (!site.p || str_is(site, "same-origin") || str_is(site, "none"))
        return true;
    return reads && str_is(request_header(r, "sec-fetch-mode"), "navigate") &&
           str_is(request_header(r, "sec-fetch-dest"), "document");
}

/* --- to the container --- */

static int visit_connect(void *ctx)
{
    struct visit *v = ctx;
    struct err err = {0};
    int one = 1;
    struct exec *x = jobs_exec(v->core->jobs);
    int fd = x ? x->ops->connect(x, v->way.container, v->tool->port, &err) : -1;
    if (fd < 0) {
        errno = ECONNREFUSED;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static bool still_may(void *ctx, const struct caller *now)
{
    const struct visit *v = ctx;
    struct err err = {0};
    return tools_may(now, v->tool, &v->way, &err);
}

/* A piece of a WebSocket. Pings, pongs and keep-alives are not a person's use. */
static void visit_passing(void *ctx, bool from_client, struct str piece)
{
    struct visit *v = ctx;
    if (ws_watch_feed(&v->watch[!from_client], piece, v->tool->beat) && !v->polls)
        tools_touch(v->core->tools, v->job);
}

/* --- a tool that does not answer yet --- */

/* The container's first process starts it, and keeps it. */
static void wake_tool(void *arg)
{
    struct visit *v = arg;
    struct exec *x = jobs_exec(v->core->jobs);
    struct err err = {0};
    char line[256];
    int code;
    snprintf(line, sizeof line, "[ -p %s ] && echo %s >%s", TOOL_WAKE, v->tool->name, TOOL_WAKE);
    const char *const argv[] = {"/bin/sh", "-c", line};
    struct exec_attach at;
    if (x && x->ops->attach(x, v->way.container, &(struct exec_attach_spec){.argv = argv, .n_argv = 3}, &at,
                            &err)) {
        x->ops->attach_wait(&at, &code, &err);
        x->ops->attach_close(&at);
    }
    free(v);
}

static void visit_unreachable(struct request *r, void *ctx)
{
    struct visit *v = ctx;
    static const struct header page[] = {
        {STR("Content-Type"), STR("text/html; charset=utf-8")},
        {STR("Cache-Control"), STR("no-store")},
        {STR("Refresh"), STR("1")},
    };
    if (v->tool->on_demand && tools_wake(v->core->tools, v->job, v->tool)) {
        struct visit *copy = base_alloc(sizeof *copy);
        *copy = *v;
        if (!pool_submit(v->core->pool, wake_tool, copy))
            free(copy);
    }
    if (!wants_page(r)) {
        refuse_as(r, ERR_UNAVAILABLE, "the tool does not answer yet");
        return;
    }
    const char *text = arena_printf(
        r->arena,
        "<!doctype html><meta charset=utf-8><title>%s</title><body style=\"font:16px/1.5 "
        "system-ui;margin:20vh auto;max-width:36em;padding:0 1em\"><p>%s is starting.<p>%s 正在启动。",
        v->tool->title.en, v->tool->title.en, v->tool->title.zh);
    respond(r, 503, page, countof(page), str_of(text));
}

static bool is_use(const struct visit *v)
{
    return !tool_polls(v->tool, v->r->method, v->rest);
}

/* "17-1-0/jupyter" */
static const char *pool_key(struct arena *a, const struct tool_way *w, const struct tool *t)
{
    size_t n = strlen(w->name), m = strlen(t->name);
    char *key = arena_alloc(a, n + m + 2);
    memcpy(key, w->name, n);
    key[n] = '/';
    memcpy(key + n + 1, t->name, m + 1);
    return key;
}

static void go(struct visit *v, const struct caller *c)
{
    struct request *r = v->r;
    struct err err = {0};
    if (!tools_may(c, v->tool, &v->way, &err)) {
        refuse(r, &err);
        return;
    }
    if (c->name)
        r->log_user = arena_strdup(r->arena, c->name);
    v->polls = tool_polls(v->tool, STR("WS"), v->rest);
    struct proxy_target t = {
        .connect = visit_connect,
        .ctx = v,
        .key = pool_key(r->arena, &v->way, v->tool),
        .path = v->tool->strips_prefix ? r->path.p + v->prefix.n : NULL,
        .strip_auth = true,
        .strip_cookie = COOKIES,
        .plain_frames = v->tool->beat > 0,
        .guarded = true,
        .passing = visit_passing,
        .unreachable = visit_unreachable,
    };
    if (t.path)
        t.path = arena_strz(r->arena, (struct str){t.path, r->path.n - v->prefix.n});
    lasting_add(r, c, &(struct lasting_terms){.may = still_may, .ctx = v});
    respond_proxy(r, &t);
}

/* On a pool thread: what the caches did not know. */
static void look_up(void *arg)
{
    struct visit *v = arg;
    struct core *core = v->core;
    struct caller c = {0};
    struct err err = {0};
    if (!accounts_resolve_again(core->accounts, v->pass.credential, false, &c, &err)) {
        refuse(v->r, &err);
        return;
    }
    c.peer = v->r->peer;
    if (v->tool->pages) {
        const struct pages_visit p = {core, v->r, &c, v->tool, v->job, v->rest};
        if (c.name)
            v->r->log_user = arena_strdup(v->r->arena, c.name);
        if (!pages_respond(&p, &err))
            refuse(v->r, &err);
    } else if (tools_find(core->tools, v->job, &v->way, &err)) {
        if (is_use(v))
            tools_touch(core->tools, v->job);
        go(v, &c);
    } else {
        refuse(v->r, &err);
    }
    accounts_caller_release(core->accounts, &c);
}

static void proceed(struct visit *v)
{
    struct core *core = v->core;
    struct caller c = {0};
    enum auth found = accounts_peek_again(core->accounts, v->pass.credential, false, &c);
    if (found == AUTH_HIT && !v->tool->pages && tools_peek(core->tools, v->job, is_use(v), &v->way)) {
        go(v, &c);
        accounts_caller_release(core->accounts, &c);
        return;
    }
    if (found == AUTH_HIT)
        accounts_caller_release(core->accounts, &c);
    if (found == AUTH_NONE)
        refuse_as(v->r, ERR_UNAUTHORIZED, "the session that opened this has ended");
    else if (!pool_submit(core->pool, look_up, v))
        refuse_as(v->r, ERR_UNAVAILABLE, "too many requests are waiting");
}

/* --- tickets and cookies --- */

static void exchange_ticket(struct visit *v, struct str ticket)
{
    struct request *r = v->r;
    char cookie[TOOLS_COOKIE_MAX];
    if (!tools_take_ticket(v->core->tools, ticket, &v->pass) || v->pass.job != v->job ||
        v->pass.tool != v->tool) {
        refuse_as(r, ERR_UNAUTHORIZED, "this ticket was used before or is too old");
        return;
    }
    tools_cookie(v->core->tools, &v->pass, cookie);
    /* What pages are to show stays in their address. */
    ptrdiff_t file = v->tool->pages ? str_find(r->query, STR("file=")) : -1;
    struct str shown = file < 0 ? STR("") : (struct str){r->query.p + file, r->query.n - (size_t)file};
    const char *where = arena_printf(r->arena, STR_FMT "/%s%s" STR_FMT, STR_ARG(v->prefix), v->tool->page,
                                     shown.n ? "?" : "", STR_ARG(shown));
    const char *set =
        arena_printf(r->arena, "%s=%s; Path=" STR_FMT "/; HttpOnly; SameSite=Lax%s", TOOLS_COOKIE, cookie,
                     STR_ARG(v->prefix), auth_is_secure(v->core, r) ? "; Secure" : "");
    const struct header headers[] = {
        {STR("Location"), str_of(where)},
        {STR("Set-Cookie"), str_of(set)},
        {STR("Cache-Control"), STR("no-store")},
        {STR("Referrer-Policy"), STR("no-referrer")},
    };
    respond(r, 303, headers, countof(headers), STR_NULL);
}

static void enter(struct visit *v)
{
    struct str ticket;
    struct err err = {0};
    if (v->rest.n == 0 && v->r->query.n && request_param(v->r, "ticket", &ticket, &err)) {
        exchange_ticket(v, ticket);
        return;
    }
    struct str cookie = request_cookie(v->r, TOOLS_COOKIE);
    if (!cookie.p)
        refuse_as(v->r, ERR_UNAUTHORIZED, "this is opened from the platform's page");
    else if (!tools_read_cookie(v->core->tools, cookie, &v->pass) || v->pass.job != v->job ||
             v->pass.tool != v->tool)
        refuse_as(v->r, ERR_UNAUTHORIZED, "the cookie is not for this");
    else
        proceed(v);
}

/* "/t/7/jupyter/rest" */
static bool parse_path(struct visit *v)
{
    struct str path = v->r->path, rest = {path.p + 3, path.n - 3};
    if (!str_starts(path, "/t/"))
        return false;
    struct str job = str_cut(rest, '/', &rest), name = str_cut(rest, '/', &rest);
    v->tool = tool_find(name);
    if (!v->tool || !str_to_i64(job, &v->job) || v->job < 1 || job.p[0] == '0' || !name.p)
        return false;
    v->prefix = (struct str){path.p, (size_t)(name.p + name.n - path.p)};
    v->rest = rest;
    return true;
}

void tools_handle(struct request *r, void *core)
{
    struct visit *v = arena_new(r->arena, struct visit);
    v->core = core;
    v->r = r;
    r->traffic = TRAFFIC_TOOLS;
    if (!parse_path(v) || !tools_host_ok(v->core->tools, r->host, v->tool, v->job)) {
        refuse_as(r, ERR_NOT_FOUND, "there is nothing at this path");
    } else if (!v->rest.p) {
        const char *where = arena_printf(r->arena, STR_FMT "/", STR_ARG(v->prefix));
        const struct header headers[] = {{STR("Location"), str_of(where)}};
        respond(r, 308, headers, 1, STR_NULL);
    } else if (!site_ok(r)) {
        refuse_as(r, ERR_FORBIDDEN, "another site may not use this: Origin or Sec-Fetch-Site says so");
    } else {
        enter(v);
    }
}
