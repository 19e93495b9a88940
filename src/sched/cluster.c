#include "sched/cluster.h"

struct place {
    const struct sched_node *node;
    int32_t index;
    uint64_t kinds;
};

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Small nodes without cards are filled first: large ones and cards stay free for jobs that need them. */
static int place_compare(const void *va, const void *vb)
{
    const struct place *a = va, *b = vb;
    int d = compare(a->node->pool, b->node->pool);
    if (!d)
        d = compare(a->node->arch, b->node->arch);
    if (!d)
        d = compare((int64_t)a->kinds, (int64_t)b->kinds);
    if (!d)
        d = compare(a->node->n_cards, b->node->n_cards);
    if (!d)
        d = compare(a->node->cpu, b->node->cpu);
    if (!d)
        d = compare(a->node->memory, b->node->memory);
    return d ? d : compare(a->index, b->index);
}

static uint64_t kinds_of(const struct sched_node *n)
{
    uint64_t kinds = 0;
    for (int32_t i = 0; i < n->n_cards; i++)
        kinds |= UINT64_C(1) << n->cards[i].kind;
    return kinds;
}

static void make_classes(struct cluster *c, const struct place *places, struct arena *a)
{
    c->classes = arena_array(a, struct class, (size_t)c->n_slots + 1);
    for (int32_t i = 0; i < c->n_slots; i++) {
        const struct sched_node *n = places[i].node;
        struct class *k = c->n_classes ? &c->classes[c->n_classes - 1] : NULL;
        if (!k || k->pool != n->pool || k->arch != n->arch || k->kinds != places[i].kinds) {
            k = &c->classes[c->n_classes++];
            *k = (struct class){.pool = n->pool, .arch = n->arch, .kinds = places[i].kinds, .lo = i};
        }
        k->hi = i + 1;
    }
}

void cluster_init(struct cluster *c, const struct sched_snapshot *s, struct arena *a)
{
    *c = (struct cluster){.s = s, .width = 1};
    struct place *places = arena_array(a, struct place, (size_t)s->n_nodes + 1);
    size_t n_cards = 0;
    c->slot_of = arena_array(a, int32_t, (size_t)s->n_nodes + 1);
    for (int32_t i = 0; i < s->n_nodes; i++) {
        c->slot_of[i] = SCHED_NONE;
        if (s->nodes[i].state != SCHED_NODE_READY)
            continue;
        places[c->n_slots++] = (struct place){&s->nodes[i], i, kinds_of(&s->nodes[i])};
        n_cards += (size_t)s->nodes[i].n_cards;
    }
    qsort(places, (size_t)c->n_slots, sizeof *places, place_compare);
    while (c->width < c->n_slots)
        c->width *= 2;
    c->node_of = arena_array(a, int32_t, (size_t)c->n_slots + 1);
    c->first_card = arena_array(a, int32_t, (size_t)c->n_slots + 1);
    c->card_kind = arena_array(a, uint8_t, n_cards + 1);
    for (int32_t i = 0, at = 0; i < c->n_slots; i++) {
        const struct sched_node *n = places[i].node;
        c->node_of[i] = places[i].index;
        c->slot_of[places[i].index] = i;
        for (int32_t k = 0; k < n->n_cards; k++)
            c->card_kind[at++] = (uint8_t)n->cards[k].kind;
        c->first_card[i + 1] = at;
    }
    make_classes(c, places, a);
}

void view_init(struct view *v, const struct cluster *c, struct arena *a)
{
    *v = (struct view){0};
    v->capacities = arena_array(a, struct capacity, (size_t)c->n_slots + 1);
    v->cards = arena_array(a, int16_t, (size_t)c->first_card[c->n_slots] + 1);
    for (int32_t i = 0; i < c->n_slots; i++) {
        const struct sched_node *n = &c->s->nodes[c->node_of[i]];
        v->capacities[i] = (struct capacity){n->cpu, n->memory};
        for (int32_t k = 0; k < n->n_cards; k++)
            v->cards[c->first_card[i] + k] = n->cards[k].broken ? 0 : SCHED_WHOLE;
    }
}

void view_copy(struct view *dst, const struct view *src, const struct cluster *c, struct arena *a)
{
    size_t cards = (size_t)c->first_card[c->n_slots] + 1;
    dst->capacities = arena_copy(a, src->capacities, sizeof *src->capacities * ((size_t)c->n_slots + 1));
    dst->cards = arena_copy(a, src->cards, sizeof *src->cards * cards);
    dst->tree = src->tree ? arena_copy(a, src->tree, sizeof *src->tree * 2 * (size_t)c->width) : NULL;
}

static struct peak leaf_of(const struct view *v, const struct cluster *c, int32_t slot)
{
    struct peak p = {.cpu = v->capacities[slot].cpu, .memory = v->capacities[slot].memory};
    for (int32_t i = c->first_card[slot]; i < c->first_card[slot + 1]; i++) {
        p.whole += v->cards[i] == SCHED_WHOLE;
        if (v->cards[i] > p.part)
            p.part = v->cards[i];
    }
    return p;
}

static struct peak peak_of(const struct peak *a, const struct peak *b)
{
    return (struct peak){
        .cpu = a->cpu > b->cpu ? a->cpu : b->cpu,
        .memory = a->memory > b->memory ? a->memory : b->memory,
        .whole = a->whole > b->whole ? a->whole : b->whole,
        .part = a->part > b->part ? a->part : b->part,
    };
}

void view_build_tree(struct view *v, const struct cluster *c, struct arena *a)
{
    v->tree = arena_array(a, struct peak, 2 * (size_t)c->width);
    for (int32_t i = 0; i < c->width; i++)
        v->tree[c->width + i] =
            i < c->n_slots ? leaf_of(v, c, i) : (struct peak){.cpu = INT64_MIN, .memory = INT64_MIN};
    for (int32_t i = c->width - 1; i > 0; i--)
        v->tree[i] = peak_of(&v->tree[2 * i], &v->tree[2 * i + 1]);
}

void view_changed(struct view *v, const struct cluster *c, int32_t slot)
{
    if (!v->tree)
        return;
    int32_t i = c->width + slot;
    v->tree[i] = leaf_of(v, c, slot);
    for (i /= 2; i > 0; i /= 2) {
        struct peak p = peak_of(&v->tree[2 * i], &v->tree[2 * i + 1]), *old = &v->tree[i];
        if (p.cpu == old->cpu && p.memory == old->memory && p.whole == old->whole && p.part == old->part)
            return;
        *old = p;
    }
}

void view_apply(struct view *v, const struct cluster *c, const struct sched_rank *rank,
                const struct sched_demand *r, int sign)
{
    int32_t slot = c->slot_of[rank->node];
    if (slot == SCHED_NONE)
        return;
    v->capacities[slot].cpu += sign * r->cpu;
    v->capacities[slot].memory += sign * r->memory;
    int32_t first = c->first_card[slot], n = c->first_card[slot + 1] - first;
    for (int32_t i = 0; i < rank->n_shares; i++)
        if (rank->shares[i].card < n)
            v->cards[first + rank->shares[i].card] += (int16_t)(sign * rank->shares[i].thousandths);
    view_changed(v, c, slot);
}

void view_limit(struct view *v, const struct cluster *c, int32_t slot, const struct view *limit)
{
    struct capacity *room = &v->capacities[slot];
    const struct capacity *most = &limit->capacities[slot];
    if (room->cpu > most->cpu)
        room->cpu = most->cpu;
    if (room->memory > most->memory)
        room->memory = most->memory;
    for (int32_t i = c->first_card[slot]; i < c->first_card[slot + 1]; i++)
        if (v->cards[i] > limit->cards[i])
            v->cards[i] = limit->cards[i];
    view_changed(v, c, slot);
}
