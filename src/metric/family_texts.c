#include "codec/geometry.h"
#include "metric/family.h"
#include "metric/overlap.h"
#include "metric/texts.h"

#include <math.h>

#define LABEL "text" /* of things that have none */
#define MEETS 0.5    /* overlap of a read place with a true one */

/* What is summed over samples; figures are ratios of these. */
enum sum { CHAR_ERRORS, CHARS, WORD_ERRORS, WORDS, MET, EXACT, FOUND, TRUE, SUMS };

static const struct ratio {
    const char *name;
    enum sum part, of;
    bool places; /* of texts that have places only */
} ratios[] = {
    {"CER", CHAR_ERRORS, CHARS, false}, {"WER", WORD_ERRORS, WORDS, false}, {"precision", MET, FOUND, true},
    {"recall", MET, TRUE, true},        {"exact", EXACT, TRUE, true},
};

struct texts {
    bool places;
    double (*sums)[SUMS];
    size_t count, cap;
};

static void *begin(enum annotation_type type)
{
    struct texts *s = base_zalloc(sizeof *s);
    s->places = type == ANNOTATION_OCR;
    return s;
}

static void end(void *state)
{
    struct texts *s = state;
    free(s->sums);
    free(s);
}

static void compare(struct str truth, struct str found, double *sums)
{
    auto_arena struct arena a;
    arena_init(&a);
    struct texts_distance c = texts_characters(&a, truth, found), w = texts_words(&a, truth, found);
    sums[CHAR_ERRORS] += (double)c.errors;
    sums[CHARS] += (double)c.length;
    sums[WORD_ERRORS] += (double)w.errors;
    sums[WORDS] += (double)w.length;
}

/* The place that most overlaps a true one and that nobody has; -1: none. */
static ptrdiff_t meet(const struct shape *truth, const struct annotation *found, bool *taken)
{
    double least = MEETS, t[4], f[4];
    ptrdiff_t best = -1;
    geometry_box_of(truth, t);
    for (uint32_t i = 0; i < found->shape_count; i++) {
        geometry_box_of(&found->shapes[i], f);
        double v = taken[i] ? 0 : overlap_boxes(f, t, false);
        if (v >= least) {
            least = v;
            best = i;
        }
    }
    if (best >= 0)
        taken[best] = true;
    return best;
}

static double score_of(const struct shape *s)
{
    return s->has_score ? s->score : 1;
}

static void compare_places(const struct annotation *truth, const struct annotation *found, double *sums,
                           struct matches *keep)
{
    auto_arena struct arena a;
    arena_init(&a);
    bool *taken = arena_array(&a, bool, (size_t)found->shape_count + 1);
    sums[FOUND] += found->shape_count;
    sums[TRUE] += truth->shape_count;
    for (uint32_t i = 0; i < truth->shape_count; i++) {
        ptrdiff_t f = meet(&truth->shapes[i], found, taken);
        struct str read = f >= 0 ? found->shapes[f].text : STR_NULL;
        bool exact = f >= 0 && str_eq(read, truth->shapes[i].text);
        sums[MET] += f >= 0;
        sums[EXACT] += exact;
        if (keep)
            matches_truth(keep, STR(LABEL), 0);
        if (keep && f >= 0)
            matches_found(keep, STR(LABEL), score_of(&found->shapes[f]), i, (uint32_t)f,
                          exact ? MATCHES_HIT : 0);
        compare(truth->shapes[i].text, read, sums);
    }
    for (uint32_t i = 0; i < found->shape_count; i++)
        if (!taken[i]) {
            compare(STR_NULL, found->shapes[i].text, sums);
            if (keep)
                matches_found(keep, STR(LABEL), score_of(&found->shapes[i]), MATCHES_NONE, i, 0);
        }
}

/* A whole text is one thing that is right or wrong. */
static void tell_text(const struct annotation *truth, const struct annotation *found, struct matches *keep)
{
    matches_truth(keep, STR(LABEL), 0);
    if (found->text.n)
        matches_found(keep, STR(LABEL), 1, 0, 0, str_eq(truth->text, found->text) ? MATCHES_HIT : 0);
}

static bool add(void *state, const struct annotation *truth, const struct annotation *found,
                unused_ok uint32_t w, unused_ok uint32_t h, struct matches *keep, unused_ok struct err *err)
{
    struct texts *s = state;
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 256;
        s->sums = base_realloc(s->sums, s->cap * sizeof *s->sums);
    }
    double *sums = s->sums[s->count++];
    memset(sums, 0, sizeof *s->sums);
    if (s->places)
        compare_places(truth, found, sums, keep);
    else
        compare(truth->text, found->text, sums);
    if (keep && !s->places)
        tell_text(truth, found, keep);
    if (keep)
        matches_errors(keep, sums[CHAR_ERRORS], sums[CHARS]);
    return true;
}

static const char *name(const void *state, size_t i)
{
    const struct texts *s = state;
    return i < countof(ratios) && (s->places || !ratios[i].places) ? ratios[i].name : NULL;
}

static void figures(void *state, const uint32_t *weight, double *ret)
{
    struct texts *s = state;
    double sums[SUMS] = {0};
    for (size_t i = 0; i < s->count; i++)
        for (int k = 0; k < SUMS; k++)
            sums[k] += s->sums[i][k] * (weight ? weight[i] : 1);
    for (size_t i = 0; name(s, i); i++)
        ret[i] = sums[ratios[i].of] > 0 ? sums[ratios[i].part] / sums[ratios[i].of] : NAN;
}

const struct family family_texts = {
    .begin = begin, .end = end, .add = add, .wants_truth = true, .name = name, .figures = figures};
