/* What the gateway counts on routes: the chooser's share, limits of keys, replicas, names, trials. Times are
 * given, so nothing here waits. */
#include "base/hash.h"
#include "core/serve/gate.h"
#include "core/serve/judge_keep.h"
#include "core/serve/traffic.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND 1000000000ULL

static const struct serve_upstream three[] = {
    {{1, 1, 0}, 80, 1, 101}, {{2, 1, 0}, 80, 1, 102}, {{3, 1, 0}, 80, 1, 103}};
static const struct serve_upstream one[] = {{{4, 1, 0}, 80, 2, 104}};

static struct serve_route usual(void)
{
    return (struct serve_route){.service = 5,
                                .project = 7,
                                .project_name = "vision",
                                .name = "fruit",
                                .share = 100,
                                .production = {.version = 1, .generation = 1, .upstreams = three, .n = 3},
                                .canary = {.version = 2, .generation = 1, .upstreams = one, .n = 1},
                                .has_canary = true};
}

static struct core core;

static int begin(void **state)
{
    (void)state;
    core = (struct core){.gate = serve_gate_new()};
    return 0;
}

static int end(void **state)
{
    (void)state;
    serve_gate_free(core.gate);
    return 0;
}

static void publish(const struct serve_route *r, size_t n)
{
    serve_routes_publish(&core, serve_routes_new(r, n));
}

static void names(void **state)
{
    (void)state;
    const char *aliases[] = {"apple", "old/apple", "pear"};
    struct serve_route r[2] = {usual(), usual()};
    r[0].aliases = aliases;
    r[0].n_aliases = 3;
    r[0].host = "Fruit.example";
    r[1].service = 6;
    r[1].name = "pear";
    publish(r, 2);
    struct serve_routes *s = serve_routes_acquire(&core);
    static const struct {
        const char *project, *name;
        int64_t service;
    } cases[] = {{"vision", "fruit", 5}, {"id.7", "fruit", 5}, {"vision", "id.5", 5},  {"id.7", "id.6", 6},
                 {"vision", "apple", 5}, {"old", "apple", 5},  {"vision", "pear", 6},  {"old", "fruit", 0},
                 {"vision", "", 0},      {"", "fruit", 0},     {"vision", "fruits", 0}};
    for (size_t i = 0; i < countof(cases); i++) {
        const struct serve_route *found =
            serve_routes_find(s, str_of(cases[i].project), str_of(cases[i].name));
        assert_int_equal(found ? found->service : 0, cases[i].service);
    }
    assert_non_null(serve_routes_host(s, STR("FRUIT.example:8443")));
    assert_null(serve_routes_host(s, STR("example")));
    assert_null(serve_routes_host(s, STR_NULL));
    assert_int_equal(serve_routes_service(s, 6)->service, 6);
    serve_routes_release(s);
}

/* Exact over each thousand, also while routes are published anew. */
static void shares(void **state)
{
    (void)state;
    for (int64_t share = 0; share <= 1000; share += 37) {
        struct serve_route r = usual();
        r.share = share;
        int canaries = 0;
        for (int i = 0; i < 10000; i++) {
            if (i % 700 == 0)
                publish(&r, 1);
            struct serve_routes *s = serve_routes_acquire(&core);
            const struct serve_route *in = serve_routes_at(s, 0);
            canaries += serve_choose(in, SERVE_ANY) == &in->canary;
            serve_routes_release(s);
        }
        assert_int_equal(canaries, share * 10);
    }
}

static void sides_without_replicas(void **state)
{
    (void)state;
    struct serve_route r = usual();
    r.production.n = 0;
    publish(&r, 1);
    struct serve_routes *s = serve_routes_acquire(&core);
    const struct serve_route *in = serve_routes_at(s, 0);
    assert_ptr_equal(serve_choose(in, SERVE_ANY), &in->canary);
    assert_null(serve_choose(in, SERVE_PRODUCTION));
    serve_routes_release(s);
    r.canary.n = 0;
    publish(&r, 1);
    s = serve_routes_acquire(&core);
    assert_null(serve_choose(serve_routes_at(s, 0), SERVE_ANY));
    serve_routes_release(s);
}

static void fewest_in_hand(void **state)
{
    (void)state;
    struct serve_route r = usual();
    publish(&r, 1);
    struct serve_routes *s = serve_routes_acquire(&core);
    const struct serve_route *in = serve_routes_at(s, 0);
    int taken[3] = {0};
    for (int i = 0; i < 30; i++)
        taken[serve_take(in, &in->production, NULL, 0, 1)->key - 101]++;
    assert_int_equal(taken[0], 10);
    assert_int_equal(taken[1], 10);
    const uint64_t tried[] = {101, 103};
    assert_int_equal(serve_take(in, &in->production, tried, 2, 1)->key, 102);
    const uint64_t all[] = {101, 102, 103};
    assert_null(serve_take(in, &in->production, all, 3, 1));
    struct serve_replica known;
    assert_true(serve_replica(&core, 102, &known));
    assert_int_equal(known.in_hand, 11);
    /* A drained one is known as long as a request holds the routes that name it. */
    r.production.n = 1;
    publish(&r, 1);
    assert_true(serve_replica(&core, 102, &known));
    serve_routes_release(s);
    assert_false(serve_replica(&core, 102, &known));
}

static void sick_ones_rest(void **state)
{
    (void)state;
    struct serve_route r = usual();
    publish(&r, 1);
    struct serve_routes *s = serve_routes_acquire(&core);
    const struct serve_route *in = serve_routes_at(s, 0);
    const struct serve_side *p = &in->production;
    uint64_t now = 100 * SECOND, rest = SECOND;
    for (int failure = 0; failure < 8; failure++) {
        const uint64_t others[] = {102, 103};
        const struct serve_upstream *sick = serve_take(in, p, others, 2, now);
        serve_done(in, p, sick, false, now);
        for (int i = 0; i < 9; i++) {
            const struct serve_upstream *up = serve_take(in, p, NULL, 0, now + rest - 1);
            assert_int_not_equal(up->key, 101);
            serve_give_back(in, p, up);
        }
        now += rest;
        rest = rest * 2 > 30 * SECOND ? 30 * SECOND : rest * 2;
    }
    const uint64_t others[] = {102, 103};
    serve_done(in, p, serve_take(in, p, others, 2, now), true, now);
    struct serve_replica known;
    assert_true(serve_replica(&core, 101, &known));
    assert_int_equal(known.failures, 0);
    /* When all rest, the one whose rest ends first is asked. */
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t but[2][3] = {{102, 103, 0}, {101, 103, 0}};
        const struct serve_upstream *up =
            i < 2 ? serve_take(in, p, but[i], 2, now) : serve_take(in, p, (uint64_t[]){101, 102}, 2, now);
        serve_done(in, p, up, false, now + i);
    }
    assert_int_equal(serve_take(in, p, NULL, 0, now + 10)->key, 101);
    serve_routes_release(s);
}

static void limits_of_keys(void **state)
{
    (void)state;
    struct serve_key keys[] = {{.id = 1, .rate = 10, .burst = 5}, {.id = 2, .concurrency = 2}, {.id = 3}};
    struct serve_route r = usual();
    sha256_of(STR("first"), keys[0].hash);
    sha256_of(STR("second"), keys[1].hash);
    r.keys = keys;
    r.n_keys = 3;
    publish(&r, 1);
    struct serve_routes *s = serve_routes_acquire(&core);
    const struct serve_route *in = serve_routes_at(s, 0);
    const struct serve_key *k = serve_key_find(in, STR("first"));
    assert_int_equal(k->id, 1);
    assert_null(serve_key_find(in, STR("third")));
    uint64_t now = 1000 * SECOND, wait;
    for (int i = 0; i < 5; i++)
        assert_true(serve_key_enter(in, k, now, &wait));
    assert_false(serve_key_enter(in, k, now, &wait));
    assert_in_range(wait, 99, 101);
    /* The limit lives on through new routes. */
    publish(&r, 1);
    struct serve_routes *next = serve_routes_acquire(&core);
    const struct serve_route *again = serve_routes_at(next, 0);
    assert_false(serve_key_enter(again, &again->keys[0], now, &wait));
    assert_true(serve_key_enter(again, &again->keys[0], now + SECOND / 10, &wait));
    int let_in = 0;
    for (uint64_t at = now + SECOND; at < now + 11 * SECOND; at += SECOND / 100)
        let_in += serve_key_enter(again, &again->keys[0], at, &wait);
    assert_in_range(let_in, 100, 105);
    k = serve_key_find(again, STR("second"));
    assert_true(serve_key_enter(again, k, now, &wait) && serve_key_enter(again, k, now, &wait));
    assert_false(serve_key_enter(again, k, now, &wait));
    serve_key_leave(again, k);
    assert_true(serve_key_enter(again, k, now, &wait));
    serve_routes_release(s);
    serve_routes_release(next);
}

/* A slow service has no more than its part of all connections. */
static void so_many_in_hand(void **state)
{
    (void)state;
    struct serve_route r = usual();
    publish(&r, 1);
    struct serve_routes *s = serve_routes_acquire(&core);
    const struct serve_route *in = serve_routes_at(s, 0);
    for (int i = 0; i < SERVE_IN_HAND; i++)
        assert_true(serve_enter(in));
    assert_false(serve_enter(in));
    serve_leave(in);
    assert_true(serve_enter(in));
    for (int i = 0; i < SERVE_IN_HAND; i++)
        serve_leave(in);
    serve_routes_release(s);
}

static void trials(void **state)
{
    (void)state;
    struct serve_route r = usual();
    struct serve_trial t;
    const struct judge_side *p = &t.side[0], *c = &t.side[1];
    publish(&r, 1);
    struct serve_routes *s = serve_routes_acquire(&core);
    const struct serve_route *in = serve_routes_at(s, 0);
    for (int i = 0; i < 10; i++)
        serve_traffic_add(in, &in->production, SERVE_OK, 1000);
    serve_traffic_add(in, &in->canary, SERVE_ERROR, 5000);
    serve_traffic_add(in, &in->canary, SERVE_FAILED, 0);
    serve_traffic_add(in, &in->canary, SERVE_LEFT, 0);
    assert_true(serve_traffic_trial(&core, 5, &t));
    assert_int_equal(p->requests, 10);
    assert_int_equal(c->requests, 2);
    assert_int_equal(c->errors, 2);
    assert_int_equal(c->times[judge_bucket(5000)], 1);
    assert_int_equal(t.production + t.canary * 1000, in->production.version + in->canary.version * 1000);
    /* The same again goes on, another generation begins anew. */
    publish(&r, 1);
    assert_true(serve_traffic_trial(&core, 5, &t));
    assert_int_equal(p->requests, 10);
    r.canary.generation = 2;
    publish(&r, 1);
    assert_true(serve_traffic_trial(&core, 5, &t));
    assert_int_equal(p->requests + c->requests, 0);
    r.has_canary = false;
    publish(&r, 1);
    assert_false(serve_traffic_trial(&core, 5, &t));
    serve_routes_release(s);
}

static void trials_as_text(void **state)
{
    (void)state;
    auto_arena struct arena a;
    auto_buf struct buf text = {0};
    struct serve_trial was = {.production = 3, .canary = 4, .generation = 2}, is = {0};
    arena_init(&a);
    was.side[0] = (struct judge_side){.requests = 1000000, .errors = 3};
    was.side[0].times[JUDGE_BUCKETS - 1] = 999997;
    was.side[1].times[0] = 1;
    judge_keep_write(&was, &text);
    assert_true(judge_keep_read(&a, buf_view(&text), &is));
    assert_memory_equal(&was, &is, sizeof was);
    assert_false(judge_keep_read(&a, STR_NULL, &is));
    assert_false(judge_keep_read(&a, STR("{\"sides\":[[1,2]]}"), &is));
    assert_true(judge_keep_read(&a, STR("{\"sides\":[[1,2,[464,9]],[1,2,[70000,1]]]}"), &is));
    assert_int_equal(is.side[0].requests, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names, begin, end),
        cmocka_unit_test_setup_teardown(shares, begin, end),
        cmocka_unit_test_setup_teardown(sides_without_replicas, begin, end),
        cmocka_unit_test_setup_teardown(fewest_in_hand, begin, end),
        cmocka_unit_test_setup_teardown(sick_ones_rest, begin, end),
        cmocka_unit_test_setup_teardown(limits_of_keys, begin, end),
        cmocka_unit_test_setup_teardown(so_many_in_hand, begin, end),
        cmocka_unit_test_setup_teardown(trials, begin, end),
        cmocka_unit_test(trials_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
