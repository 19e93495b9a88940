/* The room of a sample, over a WebSocket: text messages, JSON objects with a "type". What clients send is
 * taken one message after the other, so that one's operations keep their order; what happens is told by
 * core/data/room.h. */
#include "core/data/room.h"
#include "api/auth.h"
#include "api/lasting.h"
#include "api/rest/operations.h"
#include "api/rest/uploads.h"
#include "base/clock.h"
#include "base/messages.h"
#include "codec/annotation.h"
#include "core/account/accounts.h"
#include "core/data/layer.h"
#include "core/data/operate.h"
#include "core/label/lease.h"

#include <pthread.h>
#include <stdatomic.h>

#define PENDING    (1 << 20)      /* bytes that a client has not taken, beyond which it is slow */
#define QUEUE      (20 << 20)     /* bytes of messages that wait */
#define CURSOR_MAX 2000           /* bytes of a cursor's message */
#define CURSOR_US  (1000000 / 20) /* between two of them */
#define CATCH_UP   1000           /* operations that are told instead of the whole annotation */

struct queued {
    struct queued *next;
    struct str text;
    char bytes[];
};

struct guest {
    atomic_uint
        refs; /* the socket, the table of what lasts, and work that goes on; the last leaves the room */
    struct core *core;
    struct caller caller;
    struct operations_where where;
    char client[32];
    unsigned held; /* permissions that it was let in with: bits of `permissions` */
    int64_t project;
    struct room_member *member;
    int64_t last_cursor;
    pthread_mutex_t lock; /* of what follows; the lock of the rooms comes first */
    struct ws *ws;        /* NULL once it is closed */
    struct queued *first, **last;
    size_t waiting;
    bool busy;
};

/* Whoever loses one of those they came with is asked anew when they come again. */
static const char *const permissions[] = {"dataset_version.read", "dataset_version.update",
                                          "annotation.update", "review.update"};

static void unref(void *ctx)
{
    struct guest *g = ctx;
    if (atomic_fetch_sub(&g->refs, 1) != 1)
        return;
    if (g->member)
        room_left(g->core->rooms, g->member);
    accounts_caller_release(g->core->accounts, &g->caller);
    while (g->first) {
        struct queued *q = g->first;
        g->first = q->next;
        free(q);
    }
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* --- to the client --- */

static bool send_text(void *ctx, struct str text)
{
    struct guest *g = ctx;
    pthread_mutex_lock(&g->lock);
    bool fits = !g->ws || ws_send(g->ws, true, text) <= PENDING;
    pthread_mutex_unlock(&g->lock);
    return fits;
}

static void end_guest(void *ctx, const char *reason)
{
    struct guest *g = ctx;
    pthread_mutex_lock(&g->lock);
    if (g->ws)
        ws_close(g->ws, strcmp(reason, "reload") == 0 ? 1013 : 1000, reason);
    pthread_mutex_unlock(&g->lock);
}

static void end_rights(void *ctx)
{
    struct guest *g = ctx;
    pthread_mutex_lock(&g->lock);
    if (g->ws)
        ws_close(g->ws, 1008, "you may not see this sample any more");
    pthread_mutex_unlock(&g->lock);
}

static unsigned held(const struct caller *c, int64_t project)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < countof(permissions); i++)
        bits |= (unsigned)caller_may(c, permissions[i], project) << i;
    return bits;
}

static bool still_may(void *ctx, const struct caller *now)
{
    const struct guest *g = ctx;
    return (g->held & ~held(now, g->project)) == 0;
}

/* --- from the client --- */

struct work {
    struct guest *guest;
    struct arena arena;
};

static void take_next(struct guest *g);

static void work_done(struct work *w)
{
    struct guest *g = w->guest;
    arena_release(&w->arena);
    free(w);
    pthread_mutex_lock(&g->lock);
    g->busy = false;
    take_next(g);
    pthread_mutex_unlock(&g->lock);
    unref(g);
}

static void answered(void *ctx, struct str results, const struct err *err)
{
    struct work *w = ctx;
    auto_buf struct buf text = {0};
    if (results.p) {
        buf_printf(&text, "{\"type\":\"results\"," STR_FMT "}", STR_ARG(results));
    } else {
        struct json_out o;
        json_begin(&o, &text);
        json_object(&o);
        json_kz(&o, "type", "problem");
        json_kz(&o, "code", err_info(err->code)->name);
        json_kz(&o, "message", err->code == ERR_INTERNAL ? err_info(err->code)->title : err->message);
        json_object_end(&o);
    }
    send_text(w->guest, buf_view(&text));
    work_done(w);
}

static void run_message(void *arg)
{
    struct work *w = arg;
    struct guest *g = w->guest;
    struct err err = {0};
    pthread_mutex_lock(&g->lock);
    struct queued *q = g->first;
    g->first = q->next;
    if (!g->first)
        g->last = &g->first;
    g->waiting -= q->text.n;
    struct str text = arena_str(&w->arena, q->text);
    pthread_mutex_unlock(&g->lock);
    free(q);
    yyjson_val *v = json_parse(&w->arena, text, &err);
    if (!v)
        answered(w, STR_NULL, &err);
    else
        operations_run(g->core, &g->caller, &w->arena, &g->where, v, answered, w);
}

/* With the lock held. */
static void take_next(struct guest *g)
{
    if (g->busy || !g->first)
        return;
    struct work *w = base_zalloc(sizeof *w);
    arena_init(&w->arena);
    w->guest = g;
    atomic_fetch_add(&g->refs, 1);
    g->busy = true;
    if (pool_submit(g->core->pool, run_message, w))
        return;
    g->busy = false;
    atomic_fetch_sub(&g->refs, 1); /* never the last: the caller has one */
    free(w);
    if (g->ws)
        ws_close(g->ws, 1013, "too many requests are waiting");
}

static void queue_message(struct guest *g, struct str data)
{
    struct queued *q = base_alloc(sizeof *q + data.n + 1);
    *q = (struct queued){.text = {q->bytes, data.n}};
    memcpy(q->bytes, data.p, data.n);
    pthread_mutex_lock(&g->lock);
    if (g->waiting + data.n > QUEUE) {
        if (g->ws)
            ws_close(g->ws, 1009, "too many operations are waiting");
        free(q);
    } else {
        g->waiting += data.n;
        *g->last = q;
        g->last = &q->next;
        take_next(g);
    }
    pthread_mutex_unlock(&g->lock);
}

/* A number of a message; false when it is none. */
static void copy_member(struct json_out *o, yyjson_val *v, const char *key)
{
    yyjson_val *member = yyjson_obj_get(v, key);
    if (!member)
        return;
    json_key(o, key);
    json_value(o, member);
}

static void pass_cursor(struct guest *g, yyjson_val *v, size_t size)
{
    int64_t now = (int64_t)(clock_mono() / 1000);
    auto_buf struct buf text = {0};
    struct json_out o;
    if (size > CURSOR_MAX || now - g->last_cursor < CURSOR_US)
        return;
    g->last_cursor = now;
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "type", "cursor");
    json_kz(&o, "client", g->client);
    static const char *const members[] = {"x", "y", "tool", "selection"};
    for (size_t i = 0; i < countof(members); i++)
        copy_member(&o, v, members[i]);
    json_object_end(&o);
    room_pass(g->core->rooms, g->member, buf_view(&text));
}

/* Cursors are short and passed at once; what may be long is read by the pool. */
static void on_message(struct ws *ws, bool text, struct str data, void *ctx)
{
    struct guest *g = ctx;
    struct err ignored = {0};
    if (!text) {
        ws_close(ws, 1003, "text messages only");
        return;
    }
    if (data.n <= CURSOR_MAX) {
        auto_arena struct arena a;
        arena_init(&a);
        yyjson_val *v = json_parse(&a, data, &ignored);
        if (str_is(json_str(yyjson_obj_get(v, "type")), "cursor")) {
            pass_cursor(g, v, data.n);
            return;
        }
    }
    queue_message(g, data);
}

static void on_drained(struct ws *ws, void *ctx)
{
    (void)ws;
    struct guest *g = ctx;
    room_drained(g->core->rooms, g->member);
}

static void on_closed(struct ws *ws, int code, void *ctx)
{
    (void)ws;
    (void)code;
    struct guest *g = ctx;
    pthread_mutex_lock(&g->lock);
    g->ws = NULL;
    pthread_mutex_unlock(&g->lock);
    unref(g);
}

/* --- coming in --- */

static bool is_client(struct str s)
{
    if (s.n < 8 || s.n > 24)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || ((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z')))
            return false;
    return true;
}

struct entering {
    struct object version;
    struct sample sample;
    struct str client;
    int64_t layer, since;
};

static bool read_entering(struct api_call *call, struct entering *e, struct err *err)
{
    int64_t id;
    if (!str_to_i64(call->params[2], &id))
        return err_set(err, ERR_NOT_FOUND, NULL, "there is no such sample");
    if (!auth_socket_ok(call->core, call->request, &call->caller, err) ||
        !api_number(call, "layer", 0, INT64_MAX, 0, &e->layer, err) ||
        !api_number(call, "since", 0, INT64_MAX, 0, &e->since, err))
        return false;
    if (!operations_find(call, id, SAMPLE_SEE, &e->version, err) ||
        !sample_get(call->core->db, NULL, call->arena, e->version.id, id, &e->sample, err))
        return false;
    if (!request_param(call->request, "client", &e->client, err) || !is_client(e->client))
        return err->code ? false : err_message(err, ERR_INVALID, "client", MESSAGE_ROOM_CLIENT);
    return lease_sees(call->core, &call->caller, &e->version, id, e->layer, call->arena, err);
}

/* What happened since the revision that the client has, as items; STR_NULL when the whole is to be told. */
static struct str missed(struct api_call *call, const struct entering *e, const struct sample *s)
{
    struct operation_place p;
    struct operation_entry *list;
    size_t n;
    struct err ignored = {0};
    struct json_out o;
    auto_buf struct buf b = {0};
    if (!e->since || e->since > s->revision || s->revision - e->since > CATCH_UP ||
        !operate_place(call->core->db, call->arena, e->version.id, s->id, e->layer, &p, &ignored) ||
        !operation_log_range(call->core->db, NULL, call->arena, &p, e->since, s->revision + 1, CATCH_UP, true,
                             &list, &n, &ignored) ||
        (int64_t)n != s->revision - e->since)
        return STR_NULL;
    json_begin(&o, &b);
    json_array(&o);
    for (size_t i = 0; i < n; i++) {
        struct str text;
        if (!operation_log_text(call->arena, &list[i], &text, &ignored))
            return STR_NULL;
        operate_write_item(&o, &list[i], NULL, text);
    }
    json_array_end(&o);
    return arena_str(call->arena, buf_view(&b));
}

/* With ids: what nobody has touched since its import has none, and the client could name no shape of it. */
static struct str named(struct api_call *call, const struct sample *s)
{
    struct str ret;
    struct err ignored = {0};
    return annotation_with_ids(call->arena, s->annotation, &ret, &ignored) ? ret : s->annotation;
}

static struct str hello_of(struct api_call *call, const struct entering *e, const struct sample *s)
{
    auto_buf struct buf text = {0};
    struct json_out o;
    struct str items = missed(call, e, s);
    json_begin(&o, &text);
    json_object(&o);
    json_kz(&o, "type", "hello");
    json_kstr(&o, "you", e->client);
    json_kint(&o, "revision", s->revision);
    json_kz(&o, "state", sample_state_names[s->state]);
    json_key(&o, items.p ? "items" : "annotation");
    json_raw(&o, items.p ? items : named(call, s));
    json_object_end(&o);
    return arena_str(call->arena, buf_view(&text));
}

static struct guest *guest_new(struct api_call *call, const struct entering *e)
{
    struct guest *g = base_zalloc(sizeof *g);
    atomic_init(&g->refs, 3); /* this call too */
    g->core = call->core;
    g->caller = accounts_caller_ref(&call->caller);
    g->caller.peer = NULL; /* the request's */
    g->caller.host = STR_NULL;
    g->where = (struct operations_where){e->version.parent, e->version.id, e->sample.id, e->layer};
    g->project = e->version.project;
    g->held = held(&call->caller, g->project);
    snprintf(g->client, sizeof g->client, STR_FMT, STR_ARG(e->client));
    pthread_mutex_init(&g->lock, NULL);
    g->last = &g->first;
    return g;
}

/* After the member is in the room: nothing that is committed from here on is missed. */
static bool read_now(struct api_call *call, const struct entering *e, struct sample *ret, struct err *err)
{
    return sample_get(call->core->db, NULL, call->arena, e->version.id, e->sample.id, ret, err) &&
           (!e->layer || layer_get(call->core->db, call->arena, e->version.id, e->layer, ret, err));
}

static void open_socket(struct api_call *call, struct guest *g, const struct entering *e,
                        const struct sample *s)
{
    static const struct ws_events events = {on_message, on_drained, on_closed};
    struct core *core = call->core;
    struct str hello = hello_of(call, e, s);
    auto_buf struct buf text = {0};
    buf_str(&text, hello); /* the request's memory may go with the answer */
    int64_t revision = s->revision;
    enum sample_state state = s->state;
    lasting_add(
        call->request, &call->caller,
        &(struct lasting_terms){.may = still_may, .end = end_rights, .over = unref, .ctx = g, .uses = true});
    pthread_mutex_lock(&g->lock);
    g->ws = respond_ws(call->request, &(struct ws_options){.max_message = OPERATIONS_BODY}, &events, g);
    bool open = g->ws != NULL;
    pthread_mutex_unlock(&g->lock);
    if (open)
        room_hello(core->rooms, g->member, revision, state, buf_view(&text));
    else
        atomic_fetch_sub(&g->refs, 1); /* the socket's, which is not the last */
    unref(g);
}

static void run_room(struct api_call *call)
{
    struct err err = {0};
    struct entering e = {0};
    struct sample now;
    if (!read_entering(call, &e, &err)) {
        api_problem(call, &err, NULL, 0);
        return;
    }
    struct guest *g = guest_new(call, &e);
    g->member = room_enter(call->core->rooms, &(struct room_join){.sample = e.sample.id,
                                                                  .layer = e.layer,
                                                                  .version = e.version.id,
                                                                  .user = call->caller.user,
                                                                  .name = call->caller.name,
                                                                  .client = e.client,
                                                                  .send = send_text,
                                                                  .end = end_guest,
                                                                  .ctx = g});
    if (g->member && read_now(call, &e, &now, &err)) {
        open_socket(call, g, &e, &now);
        return;
    }
    if (!g->member)
        err_message(&err, ERR_TOO_MANY, NULL, MESSAGE_ROOM_FULL, ROOM_PEOPLE);
    atomic_store(&g->refs, 1);
    unref(g);
    api_problem(call, &err, NULL, 0);
}

const struct route room_routes[] = {
    {"GET", "/api/v1/datasets/{dataset_id}/versions/{version_id}/samples/{sample_id}/room", NULL, run_room,
     .summary = "Work on a sample together with others (WebSocket)", .query = "client! layer:id since:int",
     .status = 101},
    {0},
};
