#include "core/serve/gate.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/thread.h"
#include "core/serve/gate_own.h"

#include <inttypes.h>
#include <stdio.h>

#define SECOND    1000000000ULL /* ns */
#define REST_MOST (30 * SECOND)

/* --- marks --- */

static struct str mark_name(char sort, uint64_t id, char ret[24])
{
    int n = snprintf(ret, 24, "%c%" PRIu64, sort, id);
    return (struct str){ret, (size_t)n};
}

void *gate_mark_find(struct serve_gate *g, char sort, uint64_t id)
{
    char text[24];
    return map_get(g->marks, mark_name(sort, id, text));
}

void *gate_mark(struct serve_gate *g, char sort, uint64_t id, size_t size)
{
    struct mark *m = gate_mark_find(g, sort, id);
    if (!m) {
        m = base_zalloc(size);
        map_set(g->marks, mark_name(sort, id, m->name), m);
    }
    m->refs++;
    return m;
}

void gate_mark_drop(struct serve_gate *g, struct mark *m)
{
    if (--m->refs)
        return;
    map_remove(g->marks, str_of(m->name));
    if (m->name[0] == 'v')
        traffic_unbind((struct version_mark *)m);
    if (m->name[0] == 's')
        free(((struct service_mark *)m)->trial);
    free(m);
}

static void bind_side(struct serve_gate *g, struct routed *r, size_t which, struct arena *a)
{
    const struct serve_side *s = which ? &r->r.canary : &r->r.production;
    struct bound_side *b = &r->side[which];
    if (s->version) {
        b->version = gate_mark(g, 'v', (uint64_t)s->version, sizeof *b->version);
        traffic_bind(b->version, &r->r, s->version);
    }
    b->replicas = arena_array(a, struct replica_mark *, s->n + 1);
    for (size_t i = 0; i < s->n; i++)
        b->replicas[i] = gate_mark(g, 'u', s->upstreams[i].key, sizeof **b->replicas);
}

void gate_bind(struct serve_gate *g, struct routed *routes, size_t n, struct arena *a)
{
    for (size_t i = 0; i < n; i++) {
        struct routed *r = &routes[i];
        r->service = gate_mark(g, 's', (uint64_t)r->r.service, sizeof *r->service);
        r->keys = arena_array(a, struct key_mark *, r->r.n_keys + 1);
        for (size_t j = 0; j < r->r.n_keys; j++) {
            r->keys[j] = gate_mark(g, 'k', (uint64_t)r->r.keys[j].id, sizeof **r->keys);
            r->keys[j]->key = r->r.keys[j].id;
        }
        bind_side(g, r, 0, a);
        bind_side(g, r, 1, a);
        traffic_trial(g, r);
    }
}

void gate_unbind(struct serve_gate *g, struct routed *routes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct routed *r = &routes[i];
        for (size_t j = 0; j < r->r.n_keys; j++)
            gate_mark_drop(g, &r->keys[j]->mark);
        for (size_t side = 0; side < 2; side++) {
            size_t replicas = side ? r->r.canary.n : r->r.production.n;
            for (size_t j = 0; j < replicas; j++)
                gate_mark_drop(g, &r->side[side].replicas[j]->mark);
            if (r->side[side].version)
                gate_mark_drop(g, &r->side[side].version->mark);
        }
        gate_mark_drop(g, &r->service->mark);
    }
}

struct serve_gate *serve_gate_new(void)
{
    struct serve_gate *g = base_zalloc(sizeof *g);
    pthread_mutex_init(&g->lock, NULL);
    thread_cond_init(&g->first);
    g->marks = map_new();
    g->routes = serve_routes_new(NULL, 0);
    return g;
}

void serve_gate_free(struct serve_gate *g)
{
    if (!g)
        return;
    serve_routes_release(g->routes);
    map_free(g->marks);
    pthread_cond_destroy(&g->first);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* --- keys --- */

const struct serve_key *serve_key_find(const struct serve_route *r, struct str secret)
{
    uint8_t hash[SHA256_SIZE];
    const struct serve_key *found = NULL;
    if (r->n_keys == 0)
        return NULL;
    sha256_of(secret, hash);
    for (size_t i = 0; i < r->n_keys; i++)
        if (equal_constant_time(hash, r->keys[i].hash, sizeof hash))
            found = &r->keys[i];
    return found;
}

static struct key_mark *key_mark(const struct serve_route *r, const struct serve_key *k)
{
    return routed_of(r)->keys[k - r->keys];
}

/* Each request moves the time at which the key is whole again by 1 / rate; it may lie `burst` requests ahead.
 * One number, so that threads agree without a lock. */
static bool within_rate(struct key_mark *m, const struct serve_key *k, uint64_t now, uint64_t *ret_wait_ms)
{
    if (k->rate <= 0)
        return true;
    double step_ns = (double)SECOND / k->rate;
    uint64_t step = step_ns < 1 ? 1 : step_ns > 86400e9 ? 86400 * SECOND : (uint64_t)step_ns;
    uint64_t ahead = step * (uint64_t)(k->burst > 1 ? k->burst - 1 : 0);
    uint64_t full = atomic_load_explicit(&m->full_at, memory_order_relaxed), from;
    do {
        from = full > now ? full : now;
        if (from - now > ahead) {
            *ret_wait_ms = (from - now - ahead) / 1000000 + 1;
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&m->full_at, &full, from + step, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

bool serve_key_enter(const struct serve_route *r, const struct serve_key *k, uint64_t now,
                     uint64_t *ret_wait_ms)
{
    struct key_mark *m = key_mark(r, k);
    unsigned before = atomic_fetch_add(&m->in_hand, 1);
    *ret_wait_ms = 1000;
    if ((k->concurrency > 0 && before >= (uint64_t)k->concurrency) || !within_rate(m, k, now, ret_wait_ms)) {
        atomic_fetch_sub(&m->in_hand, 1);
        return false;
    }
    atomic_store_explicit(&m->used_at, clock_now(), memory_order_relaxed);
    return true;
}

void serve_key_leave(const struct serve_route *r, const struct serve_key *k)
{
    atomic_fetch_sub(&key_mark(r, k)->in_hand, 1);
}

void serve_keys_used(struct core *core, void (*fn)(void *ctx, int64_t key, int64_t at), void *ctx)
{
    struct serve_gate *g = core->gate;
    struct str name;
    void *value;
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; map_next(g->marks, &i, &name, &value);) {
        struct key_mark *m = value;
        if (name.p[0] != 'k' || atomic_load(&m->used_at) == m->told_at)
            continue;
        m->told_at = atomic_load(&m->used_at);
        fn(ctx, m->key, m->told_at);
    }
    pthread_mutex_unlock(&g->lock);
}

/* --- the chooser --- */

/* Of the thousand in a row that `turn` counts, those at which the sum of shares passes a whole number. */
static bool canary_turn(unsigned turn, int64_t share)
{
    int64_t at = turn % 1000;
    return (at + 1) * share / 1000 != at * share / 1000;
}

const struct serve_side *serve_choose(const struct serve_route *r, enum serve_want want)
{
    const struct serve_side *production = r->production.n ? &r->production : NULL;
    const struct serve_side *canary = r->has_canary && r->canary.n ? &r->canary : NULL;
    if (want != SERVE_ANY)
        return want == SERVE_CANARY ? canary : production;
    if (!canary || !production)
        return production ? production : canary;
    unsigned turn = atomic_fetch_add_explicit(&routed_of(r)->service->turn, 1, memory_order_relaxed);
    return canary_turn(turn, r->share) ? canary : production;
}

/* --- replicas --- */

bool serve_enter(const struct serve_route *r)
{
    if (atomic_fetch_add(&routed_of(r)->service->in_hand, 1) < SERVE_IN_HAND)
        return true;
    serve_leave(r);
    return false;
}

void serve_leave(const struct serve_route *r)
{
    atomic_fetch_sub(&routed_of(r)->service->in_hand, 1);
}

static bool was_tried(const uint64_t *tried, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (tried[i] == key)
            return true;
    return false;
}

/* Fewer is better. Who rests comes after all who do not, the one that may be tried first before others. */
struct rank {
    uint64_t rests_until;
    unsigned in_hand;
};

static struct rank rank_of(struct replica_mark *m, uint64_t now)
{
    uint64_t until = atomic_load_explicit(&m->rests_until, memory_order_relaxed);
    return (struct rank){until > now ? until : 0, atomic_load_explicit(&m->in_hand, memory_order_relaxed)};
}

static bool better(struct rank a, struct rank b)
{
    return a.rests_until != b.rests_until ? a.rests_until < b.rests_until : a.in_hand < b.in_hand;
}

const struct serve_upstream *serve_take(const struct serve_route *r, const struct serve_side *side,
                                        const uint64_t *tried, size_t n_tried, uint64_t now)
{
    const struct bound_side *b = bound_of(r, side);
    size_t best = side->n;
    struct rank rank = {0};
    /* Among equals, by turns. */
    unsigned first =
        side->n > 1 ? atomic_fetch_add_explicit(&routed_of(r)->service->next, 1, memory_order_relaxed) : 0;
    for (size_t i = 0; i < side->n; i++) {
        size_t at = (first + i) % side->n;
        struct rank this = rank_of(b->replicas[at], now);
        if (was_tried(tried, n_tried, side->upstreams[at].key) || (best < side->n && !better(this, rank)))
            continue;
        best = at;
        rank = this;
    }
    if (best == side->n)
        return NULL;
    atomic_fetch_add_explicit(&b->replicas[best]->in_hand, 1, memory_order_relaxed);
    return &side->upstreams[best];
}

static struct replica_mark *replica_mark(const struct serve_route *r, const struct serve_side *side,
                                         const struct serve_upstream *up)
{
    return bound_of(r, side)->replicas[up - side->upstreams];
}

void serve_give_back(const struct serve_route *r, const struct serve_side *side,
                     const struct serve_upstream *up)
{
    atomic_fetch_sub_explicit(&replica_mark(r, side, up)->in_hand, 1, memory_order_relaxed);
}

void serve_done(const struct serve_route *r, const struct serve_side *side, const struct serve_upstream *up,
                bool well, uint64_t now)
{
    struct replica_mark *m = replica_mark(r, side, up);
    serve_give_back(r, side, up);
    if (well) {
        if (atomic_load_explicit(&m->failures, memory_order_relaxed)) {
            atomic_store(&m->failures, 0);
            atomic_store(&m->rests_until, 0);
        }
        return;
    }
    /* Requests that fail together count once: those were sent before anybody knew. */
    if (atomic_load(&m->rests_until) > now)
        return;
    unsigned failures = atomic_fetch_add(&m->failures, 1);
    uint64_t rest = failures < 5 ? SECOND << failures : REST_MOST;
    atomic_store(&m->rests_until, now + (rest < REST_MOST ? rest : REST_MOST));
}

bool serve_replica(struct core *core, uint64_t key, struct serve_replica *ret)
{
    struct serve_gate *g = core->gate;
    pthread_mutex_lock(&g->lock);
    struct replica_mark *m = gate_mark_find(g, 'u', key);
    if (m)
        *ret = (struct serve_replica){.in_hand = atomic_load(&m->in_hand),
                                      .failures = atomic_load(&m->failures),
                                      .resting = atomic_load(&m->rests_until) > clock_mono()};
    pthread_mutex_unlock(&g->lock);
    return m != NULL;
}
