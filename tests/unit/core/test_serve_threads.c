/* What loop threads do at the gateway while routes are published and figures are read: for ThreadSanitizer,
 * and the sums are exact whatever it finds. */
#include "base/hash.h"
#include "core/serve/gate.h"
#include "core/serve/traffic.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

#define THREADS  4
#define REQUESTS 5000 /* of each thread */
#define SHARE    100  /* of a thousand */
#define SERVICE  5

static const struct serve_upstream three[] = {
    {{1, 1, 0}, 80, 1, 101}, {{2, 1, 0}, 80, 1, 102}, {{3, 1, 0}, 80, 1, 103}};
static const struct serve_upstream one[] = {{{4, 1, 0}, 80, 2, 104}};

struct fixture {
    struct core core;
    struct serve_key key;
    atomic_int refused, missing; /* by threads: assertions belong to the test's own */
    atomic_uint canary, keyed;
    atomic_bool over;
};

static struct serve_route route_of(struct fixture *f, size_t replicas)
{
    return (struct serve_route){
        .service = SERVICE,
        .project = 7,
        .project_name = "vision",
        .name = "fruit",
        .share = SHARE,
        .keys = &f->key,
        .n_keys = 1,
        .production = {.version = 1, .generation = 1, .upstreams = three, .n = replicas},
        .canary = {.version = 2, .generation = 1, .upstreams = one, .n = 1},
        .has_canary = true};
}

static int begin(void **state)
{
    struct fixture *f = base_zalloc(sizeof *f);
    f->core.gate = serve_gate_new();
    f->key = (struct serve_key){.id = 9};
    sha256_of(STR("secret"), f->key.hash);
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;
    serve_gate_free(f->core.gate);
    free(f);
    return 0;
}

/* --- requests, as the gateway handles them --- */

static void pass(struct fixture *f, const struct serve_route *r, int i)
{
    uint64_t now = (uint64_t)i * 1000, wait;
    const struct serve_side *side = serve_choose(r, SERVE_ANY);
    const struct serve_upstream *up = side ? serve_take(r, side, NULL, 0, now) : NULL;
    const struct serve_key *k = serve_key_find(r, STR("secret"));
    if (!up || !k) {
        f->missing++;
        return;
    }
    if (serve_key_enter(r, k, now, &wait))
        serve_key_leave(r, k);
    else
        f->refused++;
    f->canary += side->version == 2;
    serve_traffic_add(r, side, side->version == 2 ? SERVE_ERROR : SERVE_OK, 1000);
    if (i % 3)
        serve_done(r, side, up, true, now);
    else
        serve_give_back(r, side, up);
}

static void *requests(void *ctx)
{
    struct fixture *f = ctx;
    for (int i = 0; i < REQUESTS; i++) {
        struct serve_routes *s = serve_routes_acquire(&f->core);
        const struct serve_route *r = serve_routes_service(s, SERVICE);
        if (r && serve_enter(r)) {
            pass(f, r, i);
            serve_leave(r);
        } else {
            f->missing++;
        }
        serve_routes_release(s);
    }
    return NULL;
}

/* --- beside them --- */

static void *publish(void *ctx)
{
    struct fixture *f = ctx;
    for (size_t i = 0; !f->over; i++) {
        struct serve_route r = route_of(f, 1 + i % 3); /* replicas come and go */
        serve_routes_publish(&f->core, serve_routes_new(&r, 1));
    }
    return NULL;
}

static void used(void *ctx, int64_t key, int64_t at)
{
    struct fixture *f = ctx;
    f->keyed += key == 9 && at > 0;
}

/* Figures, the judge, keys and replicas, as the controllers ask for them. */
static void *look(void *ctx)
{
    struct fixture *f = ctx;
    static const struct judge_rules rules = {.error_rate = 0.02, .p95_ratio = 2};
    struct serve_trial t;
    struct judge_side side;
    struct serve_replica replica;
    uint64_t last = 0;
    while (!f->over) {
        struct err reason = {0};
        if (serve_traffic_trial(&f->core, SERVICE, &t))
            judge_canary(&rules, &t.side[0], &t.side[1], &reason);
        if (serve_traffic_version(&f->core, 1, &side)) {
            f->missing += side.requests < last; /* counts only grow */
            last = side.requests;
        }
        serve_keys_used(&f->core, used, f);
        serve_replica(&f->core, 101, &replica);
    }
    return NULL;
}

static void test_requests_while_routes_change(void **state)
{
    struct fixture *f = *state;
    struct serve_route r = route_of(f, 3);
    pthread_t thread[THREADS], publisher, looker;
    struct serve_trial t;
    struct judge_rules rules = {.error_rate = 0.02};
    struct err reason = {0};
    serve_routes_publish(&f->core, serve_routes_new(&r, 1));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, requests, f), 0);
    assert_int_equal(pthread_create(&publisher, NULL, publish, f), 0);
    assert_int_equal(pthread_create(&looker, NULL, look, f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    f->over = true;
    pthread_join(publisher, NULL);
    pthread_join(looker, NULL);

    assert_int_equal(f->missing, 0);
    assert_int_equal(f->refused, 0); /* the key has no limits */
    assert_int_equal(f->canary, THREADS * REQUESTS * SHARE / 1000);
    serve_keys_used(&f->core, used, f);
    assert_true(f->keyed > 0);
    serve_routes_publish(&f->core, serve_routes_new(&r, 1));
    assert_true(serve_traffic_trial(&f->core, SERVICE, &t));
    assert_int_equal(t.side[0].requests + t.side[1].requests, THREADS * REQUESTS);
    assert_int_equal(t.side[1].errors, f->canary);
    assert_int_equal(judge_canary(&rules, &t.side[0], &t.side[1], &reason), JUDGE_BAD);
    for (uint64_t key = 101; key <= 104; key++) {
        struct serve_replica replica;
        assert_true(!serve_replica(&f->core, key, &replica) || replica.in_hand == 0);
    }
}

/* A key's concurrency holds over all threads: of four that enter at once at most two are in. */
struct crowd {
    struct fixture *f;
    atomic_int in, most, let;
};

static void *crowd_enter(void *ctx)
{
    struct crowd *c = ctx;
    struct serve_routes *s = serve_routes_acquire(&c->f->core);
    const struct serve_route *r = serve_routes_service(s, SERVICE);
    const struct serve_key *k = serve_key_find(r, STR("secret"));
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t wait;
        if (!serve_key_enter(r, k, (uint64_t)i, &wait))
            continue;
        int in = ++c->in, most = c->most;
        while (in > most && !atomic_compare_exchange_weak(&c->most, &most, in))
            ;
        c->let++;
        c->in--;
        serve_key_leave(r, k);
    }
    serve_routes_release(s);
    return NULL;
}

static void test_limits_hold_over_threads(void **state)
{
    struct fixture *f = *state;
    pthread_t thread[THREADS];
    struct crowd c = {.f = f};
    f->key.concurrency = 2;
    struct serve_route r = route_of(f, 3);
    serve_routes_publish(&f->core, serve_routes_new(&r, 1));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, crowd_enter, &c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_true(c.most >= 1 && c.most <= 2);
    assert_true(c.let >= REQUESTS); /* one that is alone is never refused, and none is left in */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_requests_while_routes_change, begin, end),
        cmocka_unit_test_setup_teardown(test_limits_hold_over_threads, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
