#include "api/rest/events.h"

#include "api/lasting.h"
#include "base/map.h"
#include "base/ticker.h"
#include "core/account/accounts.h"
#include "core/changes.h"
#include "core/engine.h"
#include "core/kinds.h"

#include <inttypes.h>
#include <stdio.h>

#define BEAT_S      15
#define SENT_MAX    (16 << 10) /* bytes on their way to one client; what comes then is gathered by object */
#define OBJECTS_MAX 4096       /* so gathered for one client; then it is cut off and comes again */
#define CLIENTS_MAX 2000
#define VERB_MAX    64

/* The newest change of an object, for a client that takes them slowly. */
struct waiting {
    struct waiting *next;
    const struct kind *kind;
    struct change change; /* its kind and verb are not used */
    char verb[VERB_MAX];
};

struct client {
    struct client *next;
    struct stream *stream;
    struct caller caller;
    int64_t project;               /* 0: all */
    bool slow;                     /* much is on its way */
    struct map *objects;           /* (kind, id) -> struct waiting */
    struct waiting *first, **last; /* the same by age */
};

static struct {
    pthread_mutex_t lock;
    struct ticker ticker;
    struct core *core;
    void *listener;
    struct client *clients;
    size_t count; /* those that begin as well */
    bool running;
} hub = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- changes of one client --- */

static bool wants(const struct client *c, const struct change *ch, const char *permission)
{
    if (c->project && ch->project && c->project != ch->project)
        return false;
    return caller_may(&c->caller, permission, ch->project);
}

static void send_change(struct client *c, const struct kind *k, const char *verb, const struct change *ch)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "event: change\ndata: {\"kind\":\"%s\",\"verb\":\"%s\",\"id\":%" PRId64
                     ",\"project\":%" PRId64 ",\"parent\":%" PRId64 "}\n\n",
                     k->name, verb, ch->id, ch->project, ch->parent);
    c->slow = stream_write(c->stream, (struct str){text, (size_t)n}) > SENT_MAX;
}

struct key {
    const struct kind *kind;
    int64_t id;
};

/* What was made while the client did not listen is new to it, whatever happened since; a change of state
 * tells less than any other. */
static void merge(struct waiting *w, const struct change *ch)
{
    bool status = strcmp(ch->verb, CHANGES_STATUS) == 0;
    if (!w->verb[0] || (strcmp(w->verb, "create") != 0 && !status) || strcmp(ch->verb, "delete") == 0)
        snprintf(w->verb, sizeof w->verb, "%s", ch->verb);
    w->change = *ch;
}

/* false: there are too many. */
static bool gather(struct client *c, const struct kind *k, const struct change *ch)
{
    const struct key key = {k, ch->id};
    const struct str name = {(const char *)&key, sizeof key};
    struct waiting *w = map_get(c->objects, name);
    if (!w) {
        if (map_count(c->objects) == OBJECTS_MAX)
            return false;
        w = base_zalloc(sizeof *w);
        w->kind = k;
        map_set(c->objects, name, w);
        *c->last = w;
        c->last = &w->next;
    }
    merge(w, ch);
    return true;
}

static void send_waiting(struct client *c)
{
    auto_arena struct arena a;
    arena_init(&a);
    while (c->first && !c->slow) {
        struct waiting *w = c->first;
        const struct key key = {w->kind, w->change.id};
        map_remove(c->objects, (struct str){(const char *)&key, sizeof key});
        c->first = w->next;
        if (!c->first)
            c->last = &c->first;
        if (wants(c, &w->change, kind_permission(&a, w->kind, "read")))
            send_change(c, w->kind, w->verb, &w->change);
        free(w);
    }
}

/* --- one client's life --- */

static struct client *client_new(const struct caller *caller, int64_t project)
{
    struct client *c = base_zalloc(sizeof *c);
    c->project = project;
    c->caller = accounts_caller_ref(caller);
    c->caller.peer = NULL; /* the request's */
    c->caller.host = STR_NULL;
    c->objects = map_new();
    c->last = &c->first;
    return c;
}

static void client_free(struct client *c)
{
    accounts_caller_release(hub.core->accounts, &c->caller);
    map_free(c->objects);
    while (c->first) {
        struct waiting *w = c->first;
        c->first = w->next;
        free(w);
    }
    free(c);
}

static void closed(struct stream *s, void *ctx)
{
    (void)s;
    struct client *c = ctx;
    pthread_mutex_lock(&hub.lock);
    for (struct client **at = &hub.clients; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    hub.count--;
    pthread_mutex_unlock(&hub.lock);
    client_free(c);
}

static void drained(struct stream *s, void *ctx)
{
    (void)s;
    struct client *c = ctx;
    pthread_mutex_lock(&hub.lock);
    c->slow = false;
    send_waiting(c);
    pthread_mutex_unlock(&hub.lock);
}

/* What they may see is what they may see by now. */
static bool renew(void *ctx, const struct caller *now)
{
    struct client *c = ctx;
    pthread_mutex_lock(&hub.lock);
    struct caller former = c->caller;
    c->caller = accounts_caller_ref(now);
    pthread_mutex_unlock(&hub.lock);
    accounts_caller_release(hub.core->accounts, &former);
    return true;
}

/* --- all of them --- */

static void tell(void *ctx, const struct change *ch)
{
    (void)ctx;
    const struct kind *k = kind_by_name(str_of(ch->kind));
    if (!k || k->scope == SCOPE_OWN)
        return; /* such objects concern only their user, and a change does not say which user that is */
    auto_arena struct arena a;
    arena_init(&a);
    const char *permission = kind_permission(&a, k, "read");
    pthread_mutex_lock(&hub.lock);
    for (struct client *c = hub.clients; c; c = c->next) {
        if (!wants(c, ch, permission))
            continue;
        if (!c->slow && !c->first)
            send_change(c, k, ch->verb, ch);
        else if (!gather(c, k, ch))
            stream_end(c->stream);
    }
    pthread_mutex_unlock(&hub.lock);
}

static unsigned beat(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&hub.lock);
    for (struct client *c = hub.clients; c; c = c->next)
        stream_write(c->stream, STR(": still here\n\n"));
    pthread_mutex_unlock(&hub.lock);
    return BEAT_S;
}

/* --- requests --- */
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

/* Takes one of the places. */
static bool enter(struct err *err)
{
    pthread_mutex_lock(&hub.lock);
    bool ok = hub.running && hub.count < CLIENTS_MAX;
    hub.count += ok;
    pthread_mutex_unlock(&hub.lock);
    return ok || err_set(err, ERR_UNAVAILABLE, NULL, "too many clients listen to events");
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
    if (!project_param(call, &project, &err) || !enter(&err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    struct client *c = client_new(&call->caller, project);
    lasting_add(call->request, &call->caller, &(struct lasting_terms){.may = renew, .ctx = c, .uses = true});
    /* Under the lock: `closed` can come at once, on a loop thread, and waits until it is linked. */
    pthread_mutex_lock(&hub.lock);
    c->next = hub.clients;
    hub.clients = c;
    c->stream = respond_stream(call->request, 200, headers, countof(headers), &events, c);
    stream_write(c->stream, STR("retry: 2000\n\n"));
    if (!hub.running)
        stream_end(c->stream);
    pthread_mutex_unlock(&hub.lock);
}

void events_start(struct core *core)
{
    static const struct ticker_work work = {.name = "events", .run = beat, .first_s = BEAT_S};
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
