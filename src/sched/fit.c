#include "sched/fit.h"

int32_t fit_shares(const struct sched_demand *r)
{
    int32_t n = 0;
    for (int i = 0; i < SCHED_WANTS; i++)
        n += (r->wants[i].thousandths + SCHED_WHOLE - 1) / SCHED_WHOLE;
    return n;
}

/* Ranks that the slot's cards of one kind hold. */
static int32_t count_cards(const struct view *v, const struct cluster *c, int32_t slot, struct sched_want w)
{
    bool part = w.thousandths < SCHED_WHOLE;
    int32_t n = 0;
    for (int32_t i = c->first_card[slot]; i < c->first_card[slot + 1]; i++) {
        if (c->card_kind[i] != w.kind || v->cards[i] <= 0)
            continue;
        n += part ? v->cards[i] / w.thousandths : v->cards[i] == SCHED_WHOLE;
    }
    return part ? n : n / (w.thousandths / SCHED_WHOLE);
}

int32_t fit_count(const struct view *v, const struct cluster *c, int32_t slot, const struct sched_demand *r,
                  int32_t most)
{
    const struct capacity *room = &v->capacities[slot];
    int64_t n = most;
    if (room->cpu < r->cpu || room->memory < r->memory)
        return 0;
    if (r->cpu && room->cpu / r->cpu < n)
        n = room->cpu / r->cpu;
    if (r->memory && room->memory / r->memory < n)
        n = room->memory / r->memory;
    for (int i = 0; i < SCHED_WANTS && n; i++) {
        if (!r->wants[i].thousandths)
            continue;
        int32_t k = count_cards(v, c, slot, r->wants[i]);
        n = k < n ? k : n;
    }
    return (int32_t)n;
}

int32_t fit_total(const struct view *v, const struct cluster *c, const struct shape *shape, int32_t most)
{
    int32_t total = 0;
    for (int32_t i = 0; i < shape->target->n_classes; i++) {
        const struct class *k = &c->classes[shape->target->classes[i]];
        for (int32_t slot = k->lo; slot < k->hi && total < most; slot++)
            total += fit_count(v, c, slot, &shape->request, shape->spread ? 1 : most - total);
    }
    return total;
}

/* A share goes to the fullest card that has room for it; whole cards in order. */
static int32_t take_cards(struct view *v, const struct cluster *c, int32_t slot, struct sched_want w,
                          struct sched_share *shares)
{
    int32_t first = c->first_card[slot], last = c->first_card[slot + 1], n = 0;
    if (w.thousandths < SCHED_WHOLE) {
        int32_t best = -1;
        for (int32_t i = first; i < last; i++)
            if (c->card_kind[i] == w.kind && v->cards[i] >= w.thousandths &&
                (best < 0 || v->cards[i] < v->cards[best]))
                best = i;
        v->cards[best] -= (int16_t)w.thousandths;
        shares[0] = (struct sched_share){best - first, w.thousandths};
        return 1;
    }
    for (int32_t i = first; i < last && n < w.thousandths / SCHED_WHOLE; i++) {
        if (c->card_kind[i] != w.kind || v->cards[i] != SCHED_WHOLE)
            continue;
        v->cards[i] = 0;
        shares[n++] = (struct sched_share){i - first, SCHED_WHOLE};
    }
    return n;
}

bool fit_slot(struct view *v, const struct cluster *c, int32_t slot, const struct sched_demand *r,
              struct sched_share *shares, struct sched_rank *ret)
{
    if (!fit_count(v, c, slot, r, 1))
        return false;
    v->capacities[slot].cpu -= r->cpu;
    v->capacities[slot].memory -= r->memory;
    int32_t n = 0;
    for (int i = 0; i < SCHED_WANTS; i++)
        if (r->wants[i].thousandths)
            n += take_cards(v, c, slot, r->wants[i], shares + n);
    *ret = (struct sched_rank){.node = c->node_of[slot], .shares = n ? shares : NULL, .n_shares = n};
    view_changed(v, c, slot);
    return true;
}

struct search {
    const struct view *view;
    const struct cluster *cluster;
    const struct sched_demand *request;
    struct peak need;
    int32_t lo, hi;
};

/* The first slot of [lo, hi) with room, among those below the tree's node that covers [at, at + span). */
static int32_t search(const struct search *q, int32_t node, int32_t at, int32_t span)
{
    const struct peak *p = &q->view->tree[node];
    if (at >= q->hi || at + span <= q->lo || p->cpu < q->need.cpu || p->memory < q->need.memory ||
        p->whole < q->need.whole || p->part < q->need.part)
        return SCHED_NONE;
    if (span == 1)
        return fit_count(q->view, q->cluster, at, q->request, 1) ? at : SCHED_NONE;
    int32_t found = search(q, 2 * node, at, span / 2);
    return found != SCHED_NONE ? found : search(q, 2 * node + 1, at + span / 2, span / 2);
}

static struct peak need_of(const struct sched_demand *r)
{
    struct peak need = {.cpu = r->cpu, .memory = r->memory};
    for (int i = 0; i < SCHED_WANTS; i++) {
        int32_t t = r->wants[i].thousandths;
        need.whole += t / SCHED_WHOLE;
        if (t < SCHED_WHOLE && t > need.part)
            need.part = t;
    }
    return need;
}

void fit_scratch_reserve(struct fit_scratch *scratch, int32_t ranks, const struct sched_demand *r,
                         struct arena *a)
{
    size_t shares = (size_t)ranks * (size_t)fit_shares(r) + 1; /* so that there is an address even for none */
    if (scratch->cap_ranks < (size_t)ranks) {
        scratch->cap_ranks = (size_t)ranks * 2;
        scratch->ranks = arena_array(a, struct sched_rank, scratch->cap_ranks);
    }
    if (scratch->cap_shares < shares) {
        scratch->cap_shares = shares * 2;
        scratch->shares = arena_array(a, struct sched_share, scratch->cap_shares);
    }
}

bool fit_gang(struct view *v, const struct cluster *c, const struct shape *shape, int32_t n,
              struct fit_scratch *scratch, struct arena *a)
{
    const struct sched_demand *r = &shape->request;
    fit_scratch_reserve(scratch, n, r, a);
    size_t per_rank = (size_t)fit_shares(r);
    struct search q = {.view = v, .cluster = c, .request = r, .need = need_of(r)};
    int32_t done = 0;
    for (int32_t i = 0; i < shape->target->n_classes && done < n; i++) {
        const struct class *k = &c->classes[shape->target->classes[i]];
        q.lo = k->lo;
        q.hi = k->hi;
        while (done < n) {
            int32_t slot = search(&q, 1, 0, c->width);
            if (slot == SCHED_NONE)
                break;
            fit_slot(v, c, slot, r, scratch->shares + per_rank * (size_t)done, &scratch->ranks[done]);
            done++;
            q.lo = slot + (shape->spread ? 1 : 0);
        }
    }
    if (done == n)
        return true;
    while (done > 0)
        view_apply(v, c, &scratch->ranks[--done], r, 1);
    return false;
}

bool fit_sound(const struct view *v, const struct cluster *c, const struct sched_rank *rank)
{
    int32_t slot = c->slot_of[rank->node];
    if (slot == SCHED_NONE)
        return true;
    for (int32_t i = c->first_card[slot]; i < c->first_card[slot + 1]; i++)
        if (v->cards[i] < 0)
            return false;
    return v->capacities[slot].cpu >= 0 && v->capacities[slot].memory >= 0;
}

bool fit_exact(struct view *v, const struct cluster *c, const struct sched_demand *r,
               const struct sched_rank *ranks, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t slot = c->slot_of[ranks[i].node];
        if (slot == SCHED_NONE)
            return false;
        for (int32_t k = 0; k < ranks[i].n_shares; k++)
            if (ranks[i].shares[k].card >= c->first_card[slot + 1] - c->first_card[slot])
                return false;
    }
    for (int32_t i = 0; i < n; i++)
        view_apply(v, c, &ranks[i], r, -1);
    bool sound = true;
    for (int32_t i = 0; i < n && sound; i++)
        sound = fit_sound(v, c, &ranks[i]);
    for (int32_t i = 0; i < n && !sound; i++)
        view_apply(v, c, &ranks[i], r, 1);
    return sound;
}

const struct sched_rank *fit_keep(const struct sched_rank *ranks, int32_t n, struct arena *a)
{
    struct sched_rank *kept = arena_copy(a, ranks, sizeof *ranks * (size_t)n);
    for (int32_t i = 0; i < n; i++)
        if (kept[i].n_shares)
            kept[i].shares = arena_copy(a, kept[i].shares, sizeof *kept[i].shares * (size_t)kept[i].n_shares);
    return kept;
}
