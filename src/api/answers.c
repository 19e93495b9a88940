#include "api/answers.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>

#define PLACES   4096
#define LOCKS    64
#define MAX_BODY (16 * 1024)
#define MAX_KEY  512

struct kept {
    atomic_uint refs;
    const struct core *core;
    int64_t user, token, session;
    uint64_t commits;
    struct str path, query, etag, body; /* in the same allocation */
};

static struct kept *places[PLACES];
static pthread_mutex_t locks[LOCKS] = {[0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

static void unref(struct kept *k)
{
    if (k && atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) == 1)
        free(k);
}

static size_t place_of(const struct request *r, const struct caller *c)
{
    uint64_t h = hash64(r->path) ^ (hash64(r->query) * 31);
    return (h ^ (uint64_t)c->user * 0x9e3779b97f4a7c15 ^ (uint64_t)(c->token * 2 + c->session)) % PLACES;
}

bool answers_suit(const struct core *core, const struct request *r, const struct target *t)
{
    if (!t->kind || t->action || t->kind->show || !str_is(r->method, "GET") || db_is_postgres(core->db))
        return false;
    return r->path.n + r->query.n <= MAX_KEY && !request_header(r, "if-none-match").p;
}

static struct kept *find(const struct core *core, const struct request *r, const struct caller *c)
{
    size_t place = place_of(r, c);
    pthread_mutex_t *lock = &locks[place % LOCKS];
    pthread_mutex_lock(lock);
    struct kept *k = places[place];
    bool same = k && k->core == core && k->commits == db_commits(core->db) && k->user == c->user &&
                k->token == c->token && k->session == c->session && str_eq(k->path, r->path) &&
                str_eq(k->query, r->query);
    if (same)
        atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
    pthread_mutex_unlock(lock);
    return same ? k : NULL;
}

bool answers_give(struct core *core, struct request *r, const struct caller *caller)
{
    struct kept *k = caller->user ? find(core, r, caller) : NULL;
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
    if (s.n)
        memcpy(*to, s.p, s.n);
    *to += s.n;
    return copy;
}

void answers_keep(const struct api_call *call, struct str etag, struct str body)
{
    const struct request *r = call->request;
    const struct caller *c = &call->caller;
    if (body.n > MAX_BODY || !c->user || call->commits != db_commits(call->core->db))
        return;
    struct kept *k = base_alloc(sizeof *k + r->path.n + r->query.n + etag.n + body.n);
    char *at = (char *)(k + 1);
    *k = (struct kept){.core = call->core,
                       .user = c->user,
                       .token = c->token,
                       .session = c->session,
                       .commits = call->commits,
                       .path = put(&at, r->path),
                       .query = put(&at, r->query),
                       .etag = put(&at, etag),
                       .body = put(&at, body)};
    atomic_init(&k->refs, 1);
    size_t place = place_of(r, c);
    pthread_mutex_t *lock = &locks[place % LOCKS];
    pthread_mutex_lock(lock);
    struct kept *old = places[place];
    places[place] = k;
    pthread_mutex_unlock(lock);
    unref(old);
}
