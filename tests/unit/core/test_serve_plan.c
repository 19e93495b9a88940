/* The steps of roll-outs, from any state they may have been left in. */
#include "core/serve/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MOST 40

/* "o" old, "c" current; then R ready, S starting, X sick, D draining. */
static size_t read_replicas(const char *text, struct plan_replica *ret)
{
    static const char letters[] = "SRXD";
    size_t n = 0;
    for (; text[0]; text += 2 + (text[2] == ' '))
        ret[n++] =
            (struct plan_replica){text[0] == 'c', (enum replica_state)(strchr(letters, text[1]) - letters)};
    return n;
}

static void expect(int64_t wanted, const char *replicas, int what, size_t which)
{
    struct plan_replica r[MOST];
    size_t n = read_replicas(replicas, r);
    struct plan_step s = plan_next(&(struct plan_want){wanted, true}, r, n);
    assert_int_equal((int)s.what, what);
    if (what == PLAN_DRAIN)
        assert_int_equal(s.replica, which);
}

static void test_steps(void **state)
{
    (void)state;
    expect(2, "", PLAN_START, 0);
    expect(2, "cS", PLAN_START, 0);
    expect(2, "cS cR", PLAN_NOTHING, 0);
    expect(1, "cR cR", PLAN_DRAIN, 1);    /* the newest goes first, */
    expect(1, "cR cR cS", PLAN_DRAIN, 2); /* but before it one that does not answer */
    expect(1, "cS cR", PLAN_DRAIN, 0);
    expect(0, "cR", PLAN_DRAIN, 0);
    expect(2, "oR oR", PLAN_START, 0);
    expect(2, "oR oR cS", PLAN_NOTHING, 0);
    expect(2, "oR oR cR", PLAN_DRAIN, 0);
    expect(2, "oD oR cR", PLAN_START, 0);
    expect(2, "oS cS", PLAN_DRAIN, 0); /* it would only take the place of another */
    expect(2, "oX oR", PLAN_DRAIN, 0);
    expect(1, "cX", PLAN_NOTHING, 0); /* it may get well: who looks at checks decides */
    expect(0, "oR", PLAN_DRAIN, 0);
    struct plan_replica old = {false, REPLICA_READY};
    assert_int_equal((int)plan_next(&(struct plan_want){1, false}, &old, 1).what, PLAN_NOTHING);
}

/* Follows the plan, each replica that was started answering in its turn. */
static void roll(int64_t wanted, size_t old)
{
    struct plan_replica r[MOST * 4];
    size_t n = 0, steps = 0;
    int64_t low = INT64_MAX, high = 0;
    for (; n < old; n++)
        r[n] = (struct plan_replica){false, REPLICA_READY};
    for (bool going = true; going; steps++) {
        struct plan_step s = plan_next(&(struct plan_want){wanted, true}, r, n);
        int64_t ready = 0, alive = 0;
        going = s.what != PLAN_NOTHING;
        if (s.what == PLAN_START)
            r[n++] = (struct plan_replica){true, REPLICA_STARTING};
        if (s.what == PLAN_DRAIN)
            r[s.replica].state = REPLICA_DRAINING;
        for (size_t i = 0; !going && i < n; i++)
            if (r[i].state == REPLICA_STARTING) {
                r[i].state = REPLICA_READY;
                going = true;
                break;
            }
        for (size_t i = 0; i < n; i++) {
            ready += r[i].state == REPLICA_READY;
            alive += r[i].state < REPLICA_DRAINING;
        }
        low = ready < low ? ready : low;
        high = alive > high ? alive : high;
        assert_true(steps < 10 * MOST);
    }
    int64_t current = 0;
    for (size_t i = 0; i < n; i++)
        current += r[i].current && r[i].state == REPLICA_READY;
    assert_int_equal(current, wanted);
    if ((int64_t)old >= wanted)
        assert_true(low >= wanted);
    int64_t most = (int64_t)old > wanted ? (int64_t)old : wanted;
    assert_true(high <= most + (wanted + 3) / 4);
}

static void test_rollouts_keep_what_is_wanted(void **state)
{
    (void)state;
    for (int64_t wanted = 0; wanted <= 9; wanted++)
        for (size_t old = 0; old <= 9; old++)
            roll(wanted, old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_rollouts_keep_what_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
