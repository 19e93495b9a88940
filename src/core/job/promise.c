/* What the scheduler promised to jobs for which others are being stopped. Lost when the server restarts,
 * which costs an eviction in vain at most. */
#include "core/job/plan_input.h"

static void promise_free(struct promise *p)
{
    free(p->node);
    free(p->ranks);
    free(p->shares);
    free(p);
}

void promises_free(struct jobs *j)
{
    for (struct promise *p = j->promises, *next; p; p = next) {
        next = p->next;
        promise_free(p);
    }
    j->promises = NULL;
}

static bool is_kept(const struct plan_input *s, const struct sched_plan *plan, int64_t job)
{
    for (int32_t i = 0; i < plan->n_waits; i++)
        if (s->snapshot.waiting[i].id == job)
            return plan->waits[i].reason != SCHED_STARTS;
    return false;
}

static struct promise *promise_new(const struct plan_input *s, const struct sched_promise *from)
{
    struct promise *p = base_zalloc(sizeof *p);
    size_t shares = 0, at = 0;
    for (int32_t i = 0; i < from->n_ranks; i++)
        shares += (size_t)from->ranks[i].n_shares;
    p->job = s->snapshot.waiting[from->job].id;
    p->at = s->snapshot.now;
    p->n = from->n_ranks;
    p->node = base_zalloc(((size_t)p->n + 1) * sizeof *p->node);
    p->ranks = base_zalloc(((size_t)p->n + 1) * sizeof *p->ranks);
    p->shares = base_zalloc((shares + 1) * sizeof *p->shares);
    for (int32_t i = 0; i < p->n; i++) {
        const struct sched_rank *r = &from->ranks[i];
        p->node[i] = s->snapshot.nodes[r->node].id;
        p->ranks[i] = (struct sched_rank){r->node, r->n_shares ? p->shares + at : NULL, r->n_shares};
        for (int32_t k = 0; k < r->n_shares; k++)
            p->shares[at++] = r->shares[k];
    }
    return p;
}

void promises_update(struct jobs *j, const struct plan_input *s, const struct sched_plan *plan)
{
    for (struct promise **at = &j->promises; *at;) {
        struct promise *p = *at;
        bool again = false;
        for (int32_t i = 0; i < plan->n_promises; i++)
            again = again || s->snapshot.waiting[plan->promises[i].job].id == p->job;
        if (!again && is_kept(s, plan, p->job)) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        promise_free(p);
    }
    for (int32_t i = 0; i < plan->n_promises; i++) {
        struct promise *p = promise_new(s, &plan->promises[i]);
        p->next = j->promises;
        j->promises = p;
    }
}
