#include "api/answers.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>

#define SETS      1024
#define WAYS      8
#define MAX_BODY  (16 * 1024)
#define MAX_KEY   512
#define MAX_TOTAL (16 * 1024 * 1024)

struct kept {
    atomic_uint refs;
    const struct core *core;
    int64_t user, token, session;
    uint64_t commits, epoch;
    struct db_tables reads;
    struct str path, query, etag, body; /* in the same allocation */
};

/* Requests of one hash share a set; the oldest of its answers makes room. */
struct set {
    pthread_mutex_t lock;
    struct kept *way[WAYS];
    unsigned next;
};

static struct set sets[SETS] = {[0 ... SETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static atomic_size_t total; /* bytes of all that are kept */

static size_t size_of(const struct kept *k)
{
    return sizeof *k + k->path.n + k->query.n + k->etag.n + k->body.n;
}

static void unref(struct kept *k)
{
    if (!k || atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) != 1)
        return;
    atomic_fetch_sub(&total, size_of(k));
    free(k);
}

static struct set *set_of(const struct request *r, const struct caller *c)
{
    uint64_t h = hash64(r->path) ^ (r->query.n ? hash64(r->query) * 31 : 0);
    return &sets[(h ^ (uint64_t)c->user * 0x9e3779b97f4a7c15 ^ (uint64_t)(c->token * 2 + c->session)) % SETS];
}

bool answers_suit(const struct core *core, const struct request *r, const struct target *t)
{
    if (!t->kind || t->action || t->kind->show || !str_is(r->method, "GET") || db_is_postgres(core->db))
        return false;
    return r->path.n + r->query.n <= MAX_KEY && !request_header(r, "if-none-match").p;
}

static bool is_for(const struct kept *k, const struct core *core, const struct request *r,
                   const struct caller *c)
{
    return k && k->core == core && k->user == c->user && k->token == c->token && k->session == c->session &&
           str_eq(k->path, r->path) && str_eq(k->query, r->query);
}

static struct kept *find(const struct core *core, const struct request *r, const struct caller *c)
{
    struct set *s = set_of(r, c);
    struct kept *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < WAYS && !found; i++)
        if (is_for(s->way[i], core, r, c))
            found = s->way[i];
    if (found && (found->epoch != c->epoch || !db_unchanged(core->db, found->commits, &found->reads)))
        found = NULL;
    if (found)
        atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(&s->lock);
    return found;
}

bool answers_give(struct core *core, struct request *r, const struct caller *caller)
{
    if (!caller->user || caller->job)
        return false;
    struct kept *k = find(core, r, caller);
    metric_add(k ? &core->answers.given : &core->answers.made, 1);
    if (!k)
        return false;
    r->log_user = arena_strdup(r->arena, caller->name);
    struct api_call call = {.core = core, .request = r, .arena = r->arena};
    const struct header headers[] = {{STR("ETag"), k->etag}};
    api_answer(&call, 200, headers, k->etag.p ? 1 : 0, k->body);
    unref(k);
    return true;
}

static struct str put(char **to, struct str s)
{
    struct str copy = {s.p ? *to : NULL, s.n};
    if (s.p && s.n)
        memcpy(*to, s.p, s.n);
    *to += s.n;
    return copy;
}

/* Makes room; false when there was nothing to give up. */
static bool empty(struct set *s)
{
    struct kept *gone[WAYS];
    bool any = false;
    pthread_mutex_lock(&s->lock);
    memcpy(gone, s->way, sizeof gone);
    memset(s->way, 0, sizeof s->way);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < WAYS; i++) {
        any = any || gone[i];
        unref(gone[i]);
    }
    return any;
}

void answers_keep(const struct api_call *call, struct str etag, struct str body)
{
    const struct request *r = call->request;
    const struct caller *c = &call->caller;
    if (body.n > MAX_BODY || !c->user || c->job || !db_unchanged(call->core->db, call->commits, &call->reads))
        return;
    if (atomic_load(&total) > MAX_TOTAL && !empty(set_of(r, c)))
        return;
    struct kept *k = base_alloc(sizeof *k + r->path.n + r->query.n + etag.n + body.n);
    char *at = (char *)(k + 1);
    *k = (struct kept){.core = call->core,
                       .user = c->user,
                       .token = c->token,
                       .session = c->session,
                       .commits = call->commits,
                       .epoch = c->epoch,
                       .reads = call->reads,
                       .path = put(&at, r->path),
                       .query = put(&at, r->query),
                       .etag = put(&at, etag),
                       .body = put(&at, body)};
    atomic_init(&k->refs, 1);
    atomic_fetch_add(&total, size_of(k));
    struct set *s = set_of(r, c);
    pthread_mutex_lock(&s->lock);
    struct kept **way = &s->way[s->next++ % WAYS];
    for (size_t i = 0; i < WAYS; i++)
        if (is_for(s->way[i], call->core, r, c))
            way = &s->way[i];
    struct kept *old = *way;
    *way = k;
    pthread_mutex_unlock(&s->lock);
    unref(old);
}
