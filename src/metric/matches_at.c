/* Looking at matches: counts, outcomes, samples. */
#include "metric/matches.h"

#define NOT_TAKEN 0
#define TAKEN_FOR 1 /* by a mistake */
#define HIT       2

/* One sample at a threshold: what became of each of its truths. */
struct look {
    const struct matches *m;
    const struct matches_sample *s;
    const struct matches_found *found;
    const struct matches_truth *truth;
    uint8_t *taken;
    double score;
};

static size_t most_truths(const struct matches *m)
{
    size_t most = 0;
    for (size_t i = 0; i < m->sample_count; i++)
        if (m->samples[i].truth_count > most)
            most = m->samples[i].truth_count;
    return most;
}

typedef void (*seen_fn)(void *ctx, size_t truth, size_t found, const struct matches_found *f);

/* Tells of each hit, mistake and missed truth: labels of both sides, label_count for none. */
static void look_at(struct look *k, size_t sample, seen_fn seen, void *ctx)
{
    const struct matches *m = k->m;
    size_t none = m->label_count;
    k->s = &m->samples[sample];
    k->found = m->found + k->s->first_found;
    k->truth = m->truth + k->s->first_truth;
    memset(k->taken, NOT_TAKEN, k->s->truth_count);
    uint32_t n = 0;
    while (n < k->s->found_count && (double)k->found[n].score >= k->score)
        n++;
    for (uint32_t i = 0; i < n; i++)
        if (k->found[i].place & MATCHES_HIT && k->found[i].truth != MATCHES_NONE) {
            k->taken[k->found[i].truth] = HIT;
            seen(ctx, k->truth[k->found[i].truth].label, k->found[i].label, &k->found[i]);
        }
    for (uint32_t i = 0; i < n; i++) {
        const struct matches_found *f = &k->found[i];
        if (f->place & (MATCHES_HIT | MATCHES_IGNORED))
            continue;
        bool of_one = f->truth != MATCHES_NONE && k->taken[f->truth] == NOT_TAKEN;
        if (of_one)
            k->taken[f->truth] = TAKEN_FOR;
        seen(ctx, of_one ? k->truth[f->truth].label : none, f->label, f);
    }
    for (uint32_t i = 0; i < k->s->truth_count; i++)
        if (k->taken[i] == NOT_TAKEN && k->truth[i].size != MATCHES_NONE)
            seen(ctx, k->truth[i].label, none, NULL);
}

static struct look look_begin(const struct matches *m, struct arena *a, double score)
{
    /* Scores are kept short: a threshold that was one of them is to meet it. */
    return (struct look){
        .m = m, .taken = arena_array(a, uint8_t, most_truths(m) + 1), .score = (double)(float)score};
}

/* --- counts --- */

struct counting {
    size_t none;
    struct matches_counts *labels;
    uint32_t *cells;
};

static void count(void *ctx, size_t truth, size_t found, const struct matches_found *f)
{
    struct counting *c = ctx;
    bool hit = f && f->place & MATCHES_HIT;
    if (c->labels && hit)
        c->labels[found].hits++;
    if (c->labels && f && !hit)
        c->labels[found].mistakes++;
    if (c->labels && truth != c->none && !hit)
        c->labels[truth].missed++;
    if (c->cells)
        c->cells[truth * (c->none + 1) + found]++;
}

void matches_at(const struct matches *m, double score, struct matches_counts *labels, uint32_t *cells)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct look k = look_begin(m, &a, score);
    struct counting c = {m->label_count, labels, cells};
    for (size_t i = 0; i < m->sample_count; i++)
        look_at(&k, i, count, &c);
}

void matches_sizes(const struct matches *m, double score, uint64_t ret_truths[4], uint64_t ret_hits[4])
{
    double least = (double)(float)score;
    for (size_t i = 0; i < m->sample_count; i++) {
        const struct matches_sample *s = &m->samples[i];
        for (uint32_t t = 0; t < s->truth_count; t++)
            if (m->truth[s->first_truth + t].size < 4)
                ret_truths[m->truth[s->first_truth + t].size]++;
        for (uint32_t n = 0; n < s->found_count; n++) {
            const struct matches_found *f = &m->found[s->first_found + n];
            if (f->place & MATCHES_HIT && f->truth != MATCHES_NONE && (double)f->score >= least &&
                m->truth[s->first_truth + f->truth].size < 4)
                ret_hits[m->truth[s->first_truth + f->truth].size]++;
        }
    }
}

/* --- outcomes --- */

struct judging {
    const struct matches_query *q; /* NULL: only the outcome */
    size_t none;
    struct matches_outcome outcome;
    bool in_cell, has_label;
};

static void judge(void *ctx, size_t truth, size_t found, const struct matches_found *f)
{
    struct judging *j = ctx;
    bool hit = f && f->place & MATCHES_HIT;
    j->outcome.hits += hit;
    j->outcome.mistakes += f && !hit;
    j->outcome.missed += truth != j->none && !hit;
    j->outcome.badness += hit ? 1 - (double)f->score : f ? (double)f->score : 0;
    j->outcome.badness += truth != j->none && !hit ? 1 : 0;
    if (!j->q)
        return;
    j->in_cell |= j->q->cell && truth == j->q->cell_truth && found == j->q->cell_found;
    j->has_label |= truth == j->q->label || found == j->q->label;
}

static struct judging judge_sample(struct look *k, size_t sample, const struct matches_query *q)
{
    struct judging j = {.q = q, .none = k->m->label_count};
    look_at(k, sample, judge, &j);
    const struct matches_sample *s = &k->m->samples[sample];
    if (s->length > 0 || s->errors > 0)
        j.outcome.badness = (double)s->errors / (double)(s->length > 1 ? s->length : 1);
    return j;
}

struct matches_outcome matches_outcome(const struct matches *m, size_t sample, double score)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct look k = look_begin(m, &a, score);
    return judge_sample(&k, sample, NULL).outcome;
}

static bool wanted(const struct matches_query *q, const struct judging *j)
{
    bool wrong = j->outcome.mistakes || j->outcome.missed;
    return (!q->mistakes || j->outcome.mistakes) && (!q->missed || j->outcome.missed) &&
           (!q->right || !wrong) && (!q->wrong || wrong) && (!q->cell || j->in_cell) &&
           (q->label == SIZE_MAX || j->has_label);
}

struct ranked {
    double badness;
    int64_t id;
    size_t sample;
};

static int by_id(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return (a->id > b->id) - (a->id < b->id);
}

static int worst_first(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return a->badness != b->badness ? (a->badness < b->badness) - (a->badness > b->badness) : by_id(x, y);
}

static int best_first(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return a->badness != b->badness ? (a->badness > b->badness) - (a->badness < b->badness) : by_id(x, y);
}

size_t *matches_pick(const struct matches *m, const struct matches_query *q, struct arena *a, size_t *ret_n)
{
    static int (*const orders[])(const void *, const void *) = {
        [MATCHES_WORST] = worst_first, [MATCHES_BEST] = best_first, [MATCHES_BY_ID] = by_id};
    struct look k = look_begin(m, a, q->score);
    struct ranked *all = arena_array(a, struct ranked, m->sample_count + 1);
    size_t n = 0;
    for (size_t i = 0; i < m->sample_count; i++) {
        struct judging j = judge_sample(&k, i, q);
        if (wanted(q, &j))
            all[n++] = (struct ranked){j.outcome.badness, m->samples[i].id, i};
    }
    qsort(all, n, sizeof *all, orders[q->order]);
    size_t *ret = arena_array(a, size_t, n + 1);
    for (size_t i = 0; i < n; i++)
        ret[i] = all[i].sample;
    *ret_n = n;
    return ret;
}

size_t matches_label(const struct matches *m, struct str name)
{
    if (str_is(name, "-"))
        return m->label_count;
    for (size_t i = 0; i < m->label_count; i++)
        if (str_eq(m->labels[i], name))
            return i;
    return SIZE_MAX;
}
