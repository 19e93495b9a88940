#include "core/serve/plan.h"

/* So many more than wanted while others are replaced. */
static int64_t surge(int64_t wanted)
{
    return (wanted + 3) / 4;
}

static bool alive(const struct plan_replica *r)
{
    return r->state < REPLICA_DRAINING;
}

struct counts {
    int64_t current, ready, all;
};

static struct counts count(const struct plan_replica *r, size_t n)
{
    struct counts c = {0};
    for (size_t i = 0; i < n; i++) {
        c.all += alive(&r[i]);
        c.current += alive(&r[i]) && r[i].current;
        c.ready += r[i].state == REPLICA_READY;
    }
    return c;
}

/* The first that is not current: one that does not answer, or one that is not needed any more. */
static bool find_old(const struct plan_want *w, const struct counts *c, const struct plan_replica *r,
                     size_t n, size_t *ret)
{
    for (size_t i = 0; i < n; i++)
        if (alive(&r[i]) && !r[i].current &&
            (r[i].state != REPLICA_READY || w->wanted == 0 || c->ready > w->wanted)) {
            *ret = i;
            return true;
        }
    return false;
}

/* Of too many current ones the last that does not answer, else the last. */
static bool find_surplus(const struct plan_want *w, const struct counts *c, const struct plan_replica *r,
                         size_t n, size_t *ret)
{
    bool found = false;
    if (c->current <= w->wanted)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!alive(&r[i]) || !r[i].current)
            continue;
        bool better = !found || r[i].state != REPLICA_READY || r[*ret].state == REPLICA_READY;
        *ret = better ? i : *ret;
        found = true;
    }
    return found;
}

struct plan_step plan_next(const struct plan_want *w, const struct plan_replica *r, size_t n)
{
    struct counts c = count(r, n);
    struct plan_step s = {.what = PLAN_NOTHING};
    if (find_old(w, &c, r, n, &s.replica) || find_surplus(w, &c, r, n, &s.replica))
        s.what = PLAN_DRAIN;
    else if (w->may_start && c.current < w->wanted && c.all < w->wanted + surge(w->wanted))
        s.what = PLAN_START;
    return s;
}
