#include "metric/classify.h"
#include "metric/family.h"

#include <math.h>

#define MATRIX_LABELS 200 /* more are told by their commonest mistakes only */

struct labels {
    struct classify *classify;
    bool single;
    double least;
};

static void *begin(enum annotation_type type)
{
    struct labels *s = base_zalloc(sizeof *s);
    s->single = type == ANNOTATION_IMAGE_CLASS;
    s->classify = classify_new(s->single);
    return s;
}

static void end(void *state)
{
    struct labels *s = state;
    classify_free(s->classify);
    free(s);
}

static uint32_t place_of(const struct annotation *n, struct str label)
{
    for (uint32_t i = 0; i < n->label_count; i++)
        if (str_eq(n->labels[i], label))
            return i;
    return MATCHES_NONE;
}

static double score_at(const struct annotation *n, uint32_t i)
{
    double score = n->scores ? n->scores[i] : NAN;
    return isnan(score) ? 1 : score;
}

static uint32_t best_of(const struct annotation *n)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < n->label_count; i++)
        if (score_at(n, i) > score_at(n, best))
            best = i;
    return best;
}

/* Of single labels the best one counts alone, and a wrong one was taken for the true one. */
static void tell(const struct labels *s, const struct annotation *truth, const struct annotation *found,
                 struct matches *keep)
{
    for (uint32_t i = 0; i < truth->label_count; i++)
        matches_truth(keep, truth->labels[i], 0);
    for (uint32_t i = 0; i < found->label_count; i++) {
        uint32_t at = place_of(truth, found->labels[i]);
        bool hit = at != MATCHES_NONE;
        if (s->single && i != best_of(found))
            continue;
        if (!hit && s->single && truth->label_count)
            at = 0;
        matches_found(keep, found->labels[i], score_at(found, i), at, i, hit ? MATCHES_HIT : 0);
    }
}

static bool add(void *state, const struct annotation *truth, const struct annotation *found,
                unused_ok uint32_t w, unused_ok uint32_t h, struct matches *keep, unused_ok struct err *err)
{
    struct labels *s = state;
    classify_add(s->classify, truth, found);
    if (keep)
        tell(s, truth, found, keep);
    return true;
}

static void set_score(void *state, double score)
{
    struct labels *s = state;
    s->least = score;
    classify_set_least(s->classify, score);
}

static double score(void *state)
{
    return ((struct labels *)state)->least;
}

static const char *name(unused_ok const void *state, size_t i)
{
    return i < CLASSIFY_FIGURES ? classify_figure_names[i] : NULL;
}

static void figures(void *state, const uint32_t *weight, double *ret)
{
    classify_figures(((struct labels *)state)->classify, weight, ret);
}

/* Rows are the truth, columns what was found; the last column is "none". */
static void matrix(const struct classify *c, struct json_out *o)
{
    size_t n = classify_labels(c);
    json_key(o, "confusion");
    json_array(o);
    for (size_t t = 0; t < n; t++) {
        json_array(o);
        for (size_t f = 0; f <= n; f++)
            json_int(o, (int64_t)classify_taken(c, t, f));
        json_array_end(o);
    }
    json_array_end(o);
}

static void more(void *state, struct json_out *o)
{
    struct labels *s = state;
    json_key(o, "labels");
    json_array(o);
    for (size_t i = 0; i < classify_labels(s->classify); i++) {
        struct classify_counts n = classify_counts_of(s->classify, i);
        json_object(o);
        json_kstr(o, "label", classify_label(s->classify, i));
        family_counts(o, n.hits, n.mistakes, n.missed);
        family_real(o, "AUC", classify_area(s->classify, i));
        json_object_end(o);
    }
    json_array_end(o);
    if (s->single && classify_labels(s->classify) <= MATRIX_LABELS)
        matrix(s->classify, o);
}

const struct family family_labels = {.begin = begin,
                                     .end = end,
                                     .add = add,
                                     .wants_truth = true,
                                     .set_score = set_score,
                                     .score = score,
                                     .name = name,
                                     .figures = figures,
                                     .more = more};
