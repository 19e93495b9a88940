#include "metric/agreement.h"

#include "codec/model.h"
#include "metric/evaluate.h"

#include <math.h>

#define Z 1.96

struct agreement {
    enum annotation_type type;
    struct evaluate *evaluate; /* what one says is the truth of the other */
    double score, other_score;
    uint64_t samples, agree;
};

struct agreement *agreement_new(enum annotation_type type, double score, double other_score, struct err *err)
{
    struct evaluate *e = evaluate_new(type, err);
    if (!e)
        return NULL;
    struct agreement *g = base_zalloc(sizeof *g);
    *g = (struct agreement){.type = type, .evaluate = e, .score = score, .other_score = other_score};
    evaluate_set_score(e, score);
    return g;
}

void agreement_free(struct agreement *g)
{
    if (!g)
        return;
    evaluate_free(g->evaluate);
    free(g);
}

/* What lies below the score goes; of types with one label the best one counts, whatever its score. */
static void drop_below(enum annotation_type type, struct annotation *n, double score)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->shape_count; i++)
        if (!n->shapes[i].has_score || n->shapes[i].score >= score)
            n->shapes[kept++] = n->shapes[i];
    n->shape_count = kept;
    if (model_takes_one_label(type) || !n->scores)
        return;
    kept = 0;
    for (uint32_t i = 0; i < n->label_count; i++)
        if (isnan(n->scores[i]) || n->scores[i] >= score) {
            n->labels[kept] = n->labels[i];
            n->scores[kept++] = n->scores[i];
        }
    n->label_count = kept;
}

static bool counted(struct arena *a, enum annotation_type type, struct str found, double score,
                    struct str *ret, struct err *err)
{
    struct annotation n;
    if (!model_parse(a, type, found, &n, err))
        return false;
    drop_below(type, &n, score);
    *ret = model_text(a, &n);
    return true;
}

static bool last_agrees(const struct matches *m)
{
    size_t last = m->sample_count - 1;
    struct matches_outcome o = matches_outcome(m, last, 0);
    return !o.mistakes && !o.missed && m->samples[last].errors <= 0;
}

bool agreement_add(struct agreement *g, struct str found, struct str other, uint32_t w, uint32_t h,
                   struct err *err)
{
    auto_arena struct arena a;
    struct evaluate_sample s = {.w = w, .h = h};
    bool kept = false, same = false;
    arena_init(&a);
    if (!counted(&a, g->type, found, g->score, &s.found, err) ||
        !counted(&a, g->type, other, g->other_score, &s.truth, err))
        return false;
    bool none = annotation_empty(s.found), other_none = annotation_empty(s.truth);
    if (none || other_none)
        same = none && other_none;
    else {
        if (!evaluate_add_sample(g->evaluate, &s, &kept, err))
            return false;
        same = kept && last_agrees(evaluate_matches(g->evaluate));
    }
    g->samples++;
    g->agree += same;
    return true;
}

struct agreement_counts agreement_counts(const struct agreement *g)
{
    struct agreement_counts c = {.samples = g->samples, .agree = g->agree, .high = 1};
    if (!g->samples)
        return c;
    double n = (double)g->samples, p = (double)g->agree / n, zz = Z * Z;
    double middle = (p + zz / (2 * n)) / (1 + zz / n);
    double half = Z / (1 + zz / n) * sqrt(p * (1 - p) / n + zz / (4 * n * n));
    c.low = fmax(0, middle - half);
    c.high = fmin(1, middle + half);
    return c;
}
