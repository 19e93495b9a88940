#include "api/rest/events.h"

#include "api/auth.h"
#include "base/ticker.h"
#include "core/account/accounts.h"
#include "core/changes.h"
#include "core/engine.h"
#include "core/kinds.h"

#include <inttypes.h>

#define BEAT_S      15
#define QUEUE_MAX   (256 << 10) /* bytes that wait for one slow client; then it is cut off and comes again */
#define CLIENTS_MAX 2000

struct client {
    struct client *next;
    struct stream *stream; /* NULL: closed, only kept for the refresh that holds it */
    struct arena arena;
    struct request credentials; /* what auth_caller reads of the request, copied */
    struct caller caller;
    int64_t project; /* 0: all */
    unsigned holds;
};

static struct {
    pthread_mutex_t lock;
    struct ticker ticker;
    struct core *core;
    void *listener;
    struct client *clients;
    size_t count;
    bool running;
} hub = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void client_free(struct client *c)
{
    accounts_caller_release(hub.core->accounts, &c->caller);
    arena_release(&c->arena);
    free(c);
}

static void unlink_client(struct client *c)
{
    for (struct client **at = &hub.clients; *at; at = &(*at)->next) {
        if (*at != c)
            continue;
        *at = c->next;
        hub.count--;
        return;
    }
}

static void closed(struct stream *s, void *ctx)
{
    (void)s;
    struct client *c = ctx;
    pthread_mutex_lock(&hub.lock);
    c->stream = NULL;
    unlink_client(c);
    bool held = c->holds > 0;
    pthread_mutex_unlock(&hub.lock);
    if (!held)
        client_free(c);
}

static void drained(struct stream *s, void *ctx)
{
    (void)s;
    (void)ctx;
}

/* --- delivery --- */
static bool wants(const struct client *c, const struct change *ch, const char *permission)
{
    if (c->project && ch->project && c->project != ch->project)
        return false;
    return caller_may(&c->caller, permission, ch->project);
}

/* Changes after which someone may see more or less than before. */
static bool changes_rights(const struct kind *k)
{
    static const char *const names[] = {"user",   "group",   "group_member", "role",
                                        "member", "project", "token",        "session"};
    for (size_t i = 0; i < countof(names); i++)
        if (strcmp(k->name, names[i]) == 0)
            return true;
    return false;
}

static void tell(void *ctx, const struct change *ch)
{
    (void)ctx;
    const struct kind *k = kind_by_name(str_of(ch->kind));
    pthread_mutex_lock(&hub.lock);
    if (k && hub.clients) {
        auto_arena struct arena a;
        arena_init(&a);
        const char *permission = kind_permission(&a, k, "read");
        struct str text =
            str_of(arena_printf(&a,
                                "event: change\ndata: {\"kind\":\"%s\",\"verb\":\"%s\",\"id\":%" PRId64
                                ",\"project\":%" PRId64 ",\"parent\":%" PRId64 "}\n\n",
                                ch->kind, ch->verb, ch->id, ch->project, ch->parent));
        /* One's own tokens and sessions are nobody else's business, and a change does not say whose it is. */
        for (struct client *c = hub.clients; c && k->scope != SCOPE_OWN; c = c->next)
            if (wants(c, ch, permission) && stream_write(c->stream, text) > QUEUE_MAX)
                stream_end(c->stream);
        if (changes_rights(k) && strcmp(ch->verb, CHANGES_STATUS) != 0)
            ticker_wake(&hub.ticker);
    }
    pthread_mutex_unlock(&hub.lock);
}

/* --- who they are by now --- */
/* Outside the lock, since it may ask the database. */
static void refresh_one(struct client *c)
{
    struct caller now = {0};
    struct err err = {0};
    bool known = auth_caller(hub.core, &c->credentials, &now, &err);
    pthread_mutex_lock(&hub.lock);
    if (known && now.user == c->caller.user) {
        accounts_caller_release(hub.core->accounts, &c->caller);
        c->caller = now;
    } else {
        accounts_caller_release(hub.core->accounts, &now);
        if (c->stream && (known || err.code == ERR_UNAUTHORIZED))
            stream_end(c->stream);
    }
    bool last = --c->holds == 0 && !c->stream;
    pthread_mutex_unlock(&hub.lock);
    if (last)
        client_free(c);
}

static unsigned refresh_all(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&hub.lock);
    size_t n = 0;
    struct client **held = base_alloc((hub.count + 1) * sizeof *held);
    for (struct client *c = hub.clients; c; c = c->next) {
        stream_write(c->stream, STR(": still here\n\n"));
        c->holds++;
        held[n++] = c;
    }
    pthread_mutex_unlock(&hub.lock);
    for (size_t i = 0; i < n; i++)
        refresh_one(held[i]);
    free(held);
    return BEAT_S;
}

/* --- requests --- */
static struct client *client_new(struct api_call *call, int64_t project)
{
    struct client *c = base_zalloc(sizeof *c);
    struct request *r = call->request;
    arena_init(&c->arena);
    c->project = project;
    c->caller = call->caller;
    call->caller = (struct caller){0}; /* taken over */
    c->credentials = (struct request){.arena = &c->arena, .tls = r->tls};
    memcpy(c->credentials.peer, r->peer, sizeof r->peer);
    c->caller.peer = c->credentials.peer;
    c->caller.name = arena_strdup(&c->arena, c->caller.name);
    struct header *headers = arena_array(&c->arena, struct header, r->header_count);
    for (size_t i = 0; i < r->header_count; i++) {
        headers[i].name = arena_str(&c->arena, r->headers[i].name);
        headers[i].value = arena_str(&c->arena, r->headers[i].value);
    }
    c->credentials.headers = headers;
    c->credentials.header_count = r->header_count;
    return c;
}

static bool project_param(struct api_call *call, int64_t *ret, struct err *err)
{
    struct str text;
    if (!request_param(call->request, "project", &text, err))
        return err->code == ERR_NONE;
    if (!str_to_i64(text, ret) || *ret < 1)
        return err_set(err, ERR_INVALID, "project", "project: must be the id of a project");
    struct object project;
    return caller_in_project(&call->caller, *ret)
               ? engine_get(call->core, &caller_system, &kind_project, 0, *ret, call->arena, &project, err)
               : err_set(err, ERR_NOT_FOUND, NULL, "there is no Project %" PRId64, *ret);
}

void events_run(struct api_call *call)
{
    static const struct stream_events events = {.drained = drained, .closed = closed};
    const struct header headers[] = {
        {STR("Content-Type"), STR("text/event-stream")},
        {STR("Cache-Control"), STR("no-store")},
        {STR("X-Content-Type-Options"), STR("nosniff")},
    };
    struct err err = {0};
    int64_t project = 0;
    bool ok = project_param(call, &project, &err);
    pthread_mutex_lock(&hub.lock);
    if (ok && (!hub.running || hub.count >= CLIENTS_MAX))
        ok = err_set(&err, ERR_UNAVAILABLE, NULL, "too many clients listen to events");
    if (ok) {
        /* Under the lock: `closed` can come at once, on a loop thread, and waits until it is linked. */
        struct client *c = client_new(call, project);
        c->next = hub.clients;
        hub.clients = c;
        hub.count++;
        c->stream = respond_stream(call->request, 200, headers, countof(headers), &events, c);
        stream_write(c->stream, STR("retry: 2000\n\n"));
    }
    pthread_mutex_unlock(&hub.lock);
    if (!ok)
        api_problem(call, &err, NULL, 0);
}

void events_start(struct core *core)
{
    static const struct ticker_work work = {.name = "events", .run = refresh_all, .first_s = BEAT_S};
    hub.core = core;
    hub.running = true;
    ticker_start(&hub.ticker, &work, NULL);
    hub.listener = changes_listen(core->changes, tell, NULL);
}

void events_stop(void)
{
    changes_drop(hub.core->changes, hub.listener);
    pthread_mutex_lock(&hub.lock);
    hub.running = false;
    for (struct client *c = hub.clients; c; c = c->next)
        stream_end(c->stream);
    pthread_mutex_unlock(&hub.lock);
    ticker_stop(&hub.ticker);
}
