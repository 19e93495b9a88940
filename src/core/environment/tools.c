#include "core/environment/tools.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/map.h"
#include "core/changes.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define KEY_SIZE    32
#define TICKET_US   (INT64_C(60) * 1000000)
#define TICKETS_MAX 10000
#define WAKE_US     (INT64_C(10) * 1000000)
#define TOOL_COUNT  8
#define SEEN        64
#define MAC_SIZE    SHA256_SIZE

struct ticket {
    struct tool_pass pass;
    int64_t until;
};

/* What is known of a job. Never freed while a lock is not held. */
struct place {
    struct tool_way way;
    bool known;
    atomic_int_least64_t touched;
    int64_t woken[TOOL_COUNT];
};

struct tools {
    struct core *core;
    char *dir, *url;
    bool tls;
    uint16_t port;
    int64_t began;
    uint8_t key[KEY_SIZE];
    pthread_mutex_t ticket_lock;
    struct map *tickets; /* text -> struct ticket */
    pthread_rwlock_t lock;
    struct map *places; /* id of the job, 8 bytes -> struct place */
    uint64_t changes;   /* counts what was forgotten, so that an older look is not kept */
    void *listener;
};

static struct str key_of(const int64_t *job)
{
    return (struct str){(const char *)job, sizeof *job};
}

/* --- tickets --- */

static void drop_old_tickets(struct tools *t, int64_t now)
{
    struct map *left = map_new();
    struct str key;
    void *value;
    for (size_t i = 0; map_next(t->tickets, &i, &key, &value);) {
        struct ticket *k = value;
        if (k->until > now && map_count(left) < TICKETS_MAX / 2)
            map_set(left, key, k);
        else
            free(k);
    }
    map_free(t->tickets);
    t->tickets = left;
}

void tools_ticket(struct tools *t, const struct tool_pass *p, char ret[TOOLS_TICKET_MAX])
{
    int64_t now = clock_now();
    struct ticket *k = base_zalloc(sizeof *k);
    *k = (struct ticket){.pass = *p, .until = now + TICKET_US};
    random_text(24, ret);
    pthread_mutex_lock(&t->ticket_lock);
    if (map_count(t->tickets) >= TICKETS_MAX)
        drop_old_tickets(t, now);
    map_set(t->tickets, str_of(ret), k);
    pthread_mutex_unlock(&t->ticket_lock);
}

bool tools_take_ticket(struct tools *t, struct str ticket, struct tool_pass *ret)
{
    pthread_mutex_lock(&t->ticket_lock);
    struct ticket *k = map_remove(t->tickets, ticket);
    pthread_mutex_unlock(&t->ticket_lock);
    bool good = k && k->until > clock_now();
    if (good)
        *ret = k->pass;
    free(k);
    return good;
}

/* --- cookies: credential, job, number of the tool, MAC --- */

struct wire {
    uint8_t credential[CALLER_CREDENTIAL], tool, job[8], mac[MAC_SIZE];
};

static void sign(const struct tools *t, const struct wire *w, uint8_t ret[MAC_SIZE])
{
    hmac_sha256((struct str){(const char *)t->key, KEY_SIZE},
                (struct str){(const char *)w, offsetof(struct wire, mac)}, ret);
}

void tools_cookie(struct tools *t, const struct tool_pass *p, char ret[TOOLS_COOKIE_MAX])
{
    struct wire w = {.tool = (uint8_t)(p->tool - tools)};
    memcpy(w.credential, p->credential, sizeof w.credential);
    memcpy(w.job, &p->job, sizeof w.job);
    sign(t, &w, w.mac);
    base64url_encode(&w, sizeof w, ret);
}

static bool verify_cookie(struct tools *t, struct str cookie, struct tool_pass *ret)
{
    struct wire w;
    uint8_t mac[MAC_SIZE];
    size_t n;
    if (!base64_decode(cookie, &w, sizeof w, &n) || n != sizeof w)
        return false;
    sign(t, &w, mac);
    if (!equal_constant_time(mac, w.mac, sizeof mac) || w.tool >= TOOL_COUNT)
        return false;
    *ret = (struct tool_pass){.tool = &tools[w.tool]};
    memcpy(ret->credential, w.credential, sizeof ret->credential);
    memcpy(&ret->job, w.job, sizeof ret->job);
    return true;
}

/* A signature is right for ever: each thread keeps some that it has seen. */
bool tools_read_cookie(struct tools *t, struct str cookie, struct tool_pass *ret)
{
    static _Thread_local struct {
        const struct tools *tools;
        struct tool_pass pass;
        size_t n;
        char text[TOOLS_COOKIE_MAX];
    } seen[SEEN];
    if (cookie.n == 0 || cookie.n >= TOOLS_COOKIE_MAX)
        return false;
    size_t at = hash64(cookie) % SEEN;
    if (seen[at].tools == t && seen[at].n == cookie.n && memcmp(seen[at].text, cookie.p, cookie.n) == 0) {
        *ret = seen[at].pass;
        return true;
    }
    if (!verify_cookie(t, cookie, ret))
        return false;
    seen[at].tools = t;
    seen[at].pass = *ret;
    seen[at].n = cookie.n;
    memcpy(seen[at].text, cookie.p, cookie.n);
    return true;
}

/* --- places --- */

static void on_change(void *ctx, const struct change *c)
{
    struct tools *t = ctx;
    if (strcmp(c->kind, kind_job.name) != 0)
        return;
    pthread_rwlock_wrlock(&t->lock);
    t->changes++;
    struct place *p = map_get(t->places, key_of(&c->id));
    if (p && strcmp(c->verb, "delete") == 0)
        free(map_remove(t->places, key_of(&c->id)));
    else if (p)
        p->known = false;
    pthread_rwlock_unlock(&t->lock);
}

static struct place *place_of(struct tools *t, int64_t job)
{
    struct place *p = map_get(t->places, key_of(&job));
    if (p)
        return p;
    p = base_zalloc(sizeof *p);
    map_set(t->places, key_of(&job), p);
    return p;
}

/* A second's grain keeps the line from bouncing between threads. */
static void touch(struct place *p, int64_t now)
{
    if (now - atomic_load_explicit(&p->touched, memory_order_relaxed) > 1000000)
        atomic_store_explicit(&p->touched, now, memory_order_relaxed);
}

bool tools_peek(struct tools *t, int64_t job, bool use, struct tool_way *ret)
{
    pthread_rwlock_rdlock(&t->lock);
    struct place *p = map_get(t->places, key_of(&job));
    bool known = p && p->known;
    if (known)
        *ret = p->way;
    if (known && use)
        touch(p, clock_now());
    pthread_rwlock_unlock(&t->lock);
    return known;
}

static bool find_owner(struct core *core, const struct object *job, struct arena *a, int64_t *ret,
                       struct err *err)
{
    const struct kind *k = kind_by_name(object_text(job, "owner_kind"));
    struct object owner;
    *ret = job->created_by;
    if (!k)
        return true;
    if (!engine_get(core, &caller_system, k, 0, object_int(job, "owner"), a, &owner, err))
        return false;
    *ret = owner.created_by;
    return true;
}

bool tools_find(struct tools *t, int64_t job, struct tool_way *ret, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct object o;
    pthread_rwlock_rdlock(&t->lock);
    uint64_t changes = t->changes;
    pthread_rwlock_unlock(&t->lock);
    struct tool_way w = {0};
    if (!engine_get(t->core, &caller_system, &kind_job, 0, job, &a, &o, err) ||
        !find_owner(t->core, &o, &a, &w.user, err))
        return false;
    if (job_state_of(&o) != JOB_RUNNING)
        return err_set(err, ERR_CONFLICT, NULL, "it does not run: its job is " STR_FMT,
                       STR_ARG(object_text(&o, "state")));
    w.container = (struct exec_id){job, (int32_t)object_int(&o, "attempt"), 0};
    w.project = o.project;
    exec_id_format(w.container, w.name);
    snprintf(w.owner_kind, sizeof w.owner_kind, STR_FMT, STR_ARG(object_text(&o, "owner_kind")));
    pthread_rwlock_wrlock(&t->lock);
    if (t->changes == changes) {
        struct place *p = place_of(t, job);
        p->way = w;
        p->known = true;
    }
    pthread_rwlock_unlock(&t->lock);
    *ret = w;
    return true;
}

bool tools_may(const struct caller *c, const struct tool *tool, const struct tool_way *w, struct err *err)
{
    if (strcmp(tool->owner_kind, w->owner_kind) != 0)
        return err_set(err, ERR_NOT_FOUND, NULL, "this job has no %s", tool->name);
    if (!caller_need(c, tool->permission, w->project, err))
        return false;
    if (tool->own_only && !caller_is(c, w->user) && !c->administrator)
        return err_set(err, ERR_FORBIDDEN, NULL, "only who made it may open its %s", tool->title.en);
    return true;
}

bool tools_own(struct core *core, const struct caller *c, const struct object *job, struct arena *a,
               struct err *err)
{
    int64_t user;
    if (!find_owner(core, job, a, &user, err))
        return false;
    return c->administrator || caller_is(c, user) ||
           err_set(err, ERR_FORBIDDEN, NULL, "only who started it may open a terminal there");
}

bool tools_wake(struct tools *t, int64_t job, const struct tool *tool)
{
    int64_t now = clock_now();
    size_t i = (size_t)(tool - tools);
    pthread_rwlock_wrlock(&t->lock);
    struct place *p = place_of(t, job);
    bool due = i < TOOL_COUNT && now - p->woken[i] > WAKE_US;
    if (due)
        p->woken[i] = now;
    pthread_rwlock_unlock(&t->lock);
    return due;
}

void tools_touch(struct tools *t, int64_t job)
{
    int64_t now = clock_now();
    pthread_rwlock_rdlock(&t->lock);
    struct place *p = map_get(t->places, key_of(&job));
    if (p)
        touch(p, now);
    pthread_rwlock_unlock(&t->lock);
    if (p)
        return;
    pthread_rwlock_wrlock(&t->lock);
    atomic_store(&place_of(t, job)->touched, now);
    pthread_rwlock_unlock(&t->lock);
}

int64_t tools_touched(struct tools *t, int64_t job)
{
    pthread_rwlock_rdlock(&t->lock);
    struct place *p = map_get(t->places, key_of(&job));
    int64_t at = p ? atomic_load(&p->touched) : 0;
    pthread_rwlock_unlock(&t->lock);
    return at > t->began ? at : t->began;
}

void tools_forget(struct tools *t, int64_t job)
{
    pthread_rwlock_wrlock(&t->lock);
    free(map_remove(t->places, key_of(&job)));
    pthread_rwlock_unlock(&t->lock);
}

/* --- addresses --- */

/* The host of "127.0.0.1:8080" or "[::1]:8080", without the port. */
static struct str host_only(struct str host)
{
    size_t n = host.n;
    while (n > 0 && host.p[n - 1] >= '0' && host.p[n - 1] <= '9')
        n--;
    if (n > 0 && host.p[n - 1] == ':')
        host.n = n - 1;
    return host;
}

/* A browser keeps cookies by host and not by port, so a tool's page could set the platform's. One's own
 * machine has two names: the one that the platform was not reached by is the tools'. A certificate is seldom
 * for both. */
static struct str other_name(const struct tools *t, struct str host)
{
    static const struct str names[] = {{"127.0.0.1", 9}, {"localhost", 9}};
    for (size_t i = 0; i < countof(names) && !t->tls; i++)
        if (str_ieq(host, names[i]))
            return names[!i];
    return host;
}

/* "job-7": the first part of the host, where each job and each version has one of its own. */
#define HOST_LABEL 40
static void host_label(const struct tool *tool, int64_t id, char ret[HOST_LABEL])
{
    snprintf(ret, HOST_LABEL, "%s-%lld", tool->pages ? tool->name : "job", (long long)id);
}

static const char *base_url(const struct tools *t, struct str host, const struct tool *tool, int64_t id,
                            struct arena *a)
{
    char label[HOST_LABEL];
    struct str rest, head;
    if (!t->url) {
        host = other_name(t, host.n ? host_only(host) : STR("127.0.0.1"));
        return arena_printf(a, "%s://" STR_FMT ":%u", t->tls ? "https" : "http", STR_ARG(host), t->port);
    }
    head = str_cut(str_of(t->url), '*', &rest);
    if (!rest.p)
        return t->url;
    host_label(tool, id, label);
    return arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(head), label, STR_ARG(rest));
}

bool tools_host_ok(const struct tools *t, struct str host, const struct tool *tool, int64_t id)
{
    char label[HOST_LABEL];
    if (!t->url || !strchr(t->url, '*'))
        return true;
    host_label(tool, id, label);
    return str_starts(host, label) && host.n > strlen(label) && host.p[strlen(label)] == '.';
}

const char *tool_url(struct core *core, const struct caller *c, int64_t id, const struct tool *tool,
                     struct arena *a)
{
    struct tool_pass p = {.job = id, .tool = tool};
    char ticket[TOOLS_TICKET_MAX];
    memcpy(p.credential, c->credential, sizeof p.credential);
    tools_ticket(core->tools, &p, ticket);
    return arena_printf(a, "%s/t/%lld/%s/?ticket=%s", base_url(core->tools, c->host, tool, id, a),
                        (long long)id, tool->name, ticket);
}

/* --- beginning and end --- */

static bool read_key(struct tools *t, struct err *err)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct str text;
    const char *path = arena_printf(&a, "%s/tools.key", t->core->data);
    if (access(path, F_OK) == 0) {
        if (!fs_read(&a, path, KEY_SIZE, &text, err))
            return false;
        if (text.n == KEY_SIZE) {
            memcpy(t->key, text.p, KEY_SIZE);
            return true;
        }
    }
    random_bytes(t->key, KEY_SIZE);
    return fs_write_atomic(path, (struct str){(const char *)t->key, KEY_SIZE}, 0600, err);
}

static char *without_slash(const char *url)
{
    char *copy = base_strdup(url);
    for (size_t n = strlen(copy); n > 0 && copy[n - 1] == '/'; n--)
        copy[n - 1] = 0;
    return copy;
}

struct tools *tools_new(struct core *core, const struct tools_options *o, struct err *err)
{
    struct tools *t = base_zalloc(sizeof *t);
    t->core = core;
    t->began = clock_now();
    t->tls = o->tls;
    t->url = o->url ? without_slash(o->url) : NULL;
    if (o->dir) {
        t->dir = realpath(o->dir, NULL);
        if (!t->dir)
            t->dir = base_strdup(o->dir);
    } else {
        t->dir = base_alloc(strlen(core->data) + 16);
        sprintf(t->dir, "%s/tools", core->data);
    }
    pthread_mutex_init(&t->ticket_lock, NULL);
    pthread_rwlock_init(&t->lock, NULL);
    t->tickets = map_new();
    t->places = map_new();
    if (!read_key(t, err)) {
        tools_free(t);
        return NULL;
    }
    t->listener = changes_listen(core->changes, on_change, t);
    return t;
}

static void free_all(struct map *m)
{
    struct str key;
    void *value;
    for (size_t i = 0; map_next(m, &i, &key, &value);)
        free(value);
    map_free(m);
}

void tools_free(struct tools *t)
{
    if (!t)
        return;
    if (t->listener)
        changes_drop(t->core->changes, t->listener);
    free_all(t->tickets);
    free_all(t->places);
    pthread_mutex_destroy(&t->ticket_lock);
    pthread_rwlock_destroy(&t->lock);
    free(t->dir);
    free(t->url);
    free(t);
}

void tools_listening(struct tools *t, uint16_t port)
{
    t->port = port;
}

const char *tools_dir(const struct tools *t)
{
    return t->dir;
}
