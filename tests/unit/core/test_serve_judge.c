/* The judge of canaries: gross differences are found within 200 requests, and nothing is found where there is
 * no difference, though it is asked after every request. */
#include "core/serve/judge.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t seed;

static double draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* What a version does: how often it fails, and how long it takes (a long tail). */
struct nature {
    double fails, scale_us;
};

static void ask(struct judge_side *s, const struct nature *n)
{
    s->requests++;
    s->errors += draw() < n->fails;
    s->times[judge_bucket(
        (uint64_t)(n->scale_us * exp(0.6 * sqrt(-2 * log(draw() + 1e-12)) * cos(6.283185307 * draw()))))]++;
}

/* The number of canary requests after which it is bad; 0: never within `most`. */
static unsigned run(const struct judge_rules *rules, const struct nature *production,
                    const struct nature *canary, unsigned most, struct err *err)
{
    struct judge_side p = {0}, c = {0};
    for (unsigned i = 1; i <= most; i++) {
        for (int j = 0; j < 9; j++)
            ask(&p, production);
        ask(&c, canary);
        if (judge_canary(rules, &p, &c, err) == JUDGE_BAD)
            return i;
    }
    return 0;
}

static const struct judge_rules usual = {.error_rate = 0.02, .p95_ratio = 1.5, .min_requests = 20};

static void buckets(void **state)
{
    (void)state;
    for (unsigned b = 0; b < JUDGE_BUCKETS; b++) {
        assert_int_equal(judge_bucket(judge_bucket_us(b)), b);
        if (b + 1 < JUDGE_BUCKETS)
            assert_int_equal(judge_bucket(judge_bucket_us(b) + 1), b + 1);
    }
    assert_int_equal(judge_bucket(UINT64_MAX), JUDGE_BUCKETS - 1);
    struct judge_side s = {0};
    assert_int_equal(judge_quantile(&s, 0.5), 0);
    for (unsigned i = 1; i <= 1000; i++)
        s.times[judge_bucket(i * 1000)]++;
    assert_true(judge_quantile(&s, 0.95) >= 950000 && judge_quantile(&s, 0.95) <= 950000 * 1.07);
    assert_true(judge_quantile(&s, 0.5) >= 500000 && judge_quantile(&s, 0.5) <= 500000 * 1.07);
}

static void few_requests(void **state)
{
    (void)state;
    struct judge_side p = {.requests = 100}, c = {.requests = 19, .errors = 19};
    struct err err = {0};
    assert_int_equal(judge_canary(&usual, &p, &c, &err), JUDGE_WAIT);
    c.requests = c.errors = 20;
    assert_int_equal(judge_canary(&usual, &p, &c, &err), JUDGE_BAD);
    assert_non_null(strstr(err.message, "20 of the canary's 20 requests failed (100.0 %)"));
    assert_non_null(strstr(err.zh, "20"));
    p.requests = 0;
    assert_int_equal(judge_canary(&usual, &p, &c, &err), JUDGE_BAD);
    assert_string_equal(err.id, "canary-errors-alone");
    c.errors = 1;
    assert_int_equal(judge_canary(&usual, &p, &c, &err), JUDGE_KEEP);
}

static void no_rules(void **state)
{
    (void)state;
    const struct judge_rules none = {.error_rate = -1};
    struct judge_side p = {.requests = 100}, c = {.requests = 1000, .errors = 1000};
    struct err err = {0};
    assert_int_equal(judge_canary(&none, &p, &c, &err), JUDGE_KEEP);
}

static void gross_differences(void **state)
{
    (void)state;
    const struct nature good = {0.005, 4000}, failing = {0.2, 4000}, slow = {0.005, 16000};
    struct err err = {0};
    seed = 1;
    for (int i = 0; i < 200; i++) {
        unsigned n = run(&usual, &good, &failing, 200, &err);
        assert_true(n > 0 && n <= 200);
        assert_string_equal(err.id, "canary-errors");
        n = run(&usual, &good, &slow, 200, &err);
        assert_true(n > 0 && n <= 200);
        assert_string_equal(err.id, "canary-slow");
    }
}

/* Equal versions, each canary looked at 600 times. */
static void false_alarms(void **state)
{
    (void)state;
    const struct nature same = {0.03, 4000};
    const struct judge_rules strict = {.error_rate = 0, .p95_ratio = 1, .min_requests = 20};
    struct err err = {0};
    int alarms = 0, usual_alarms = 0;
    seed = 7;
    for (int i = 0; i < 500; i++) {
        alarms += run(&strict, &same, &same, 600, &err) != 0;
        usual_alarms += run(&usual, &same, &same, 600, &err) != 0;
    }
    print_message("false alarms in 500 runs: %d where equal is the limit, %d of usual rules\n", alarms,
                  usual_alarms);
    assert_true(alarms <= 5);
    assert_int_equal(usual_alarms, 0);
}

/* So many that the binomial is taken as normal. */
static void many_requests(void **state)
{
    (void)state;
    struct judge_side p = {0}, c = {0};
    const struct nature fast = {0.01, 4000}, slower = {0.01, 7000};
    struct err err = {0};
    seed = 3;
    for (int i = 0; i < 40000; i++) {
        ask(&p, &fast);
        ask(&c, &fast);
    }
    assert_int_equal(judge_canary(&usual, &p, &c, &err), JUDGE_KEEP);
    c = (struct judge_side){0};
    for (int i = 0; i < 40000; i++)
        ask(&c, &slower);
    assert_int_equal(judge_canary(&usual, &p, &c, &err), JUDGE_BAD);
    assert_string_equal(err.id, "canary-slow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets),           cmocka_unit_test(few_requests), cmocka_unit_test(no_rules),
        cmocka_unit_test(gross_differences), cmocka_unit_test(false_alarms), cmocka_unit_test(many_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
