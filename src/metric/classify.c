#include "metric/classify.h"

#include "base/map.h"

#include <math.h>

#define BINS 15 /* of scores, for the calibration */

const char *const classify_figure_names[CLASSIFY_FIGURES] = {
    [CLASSIFY_ACCURACY] = "accuracy", [CLASSIFY_PRECISION] = "precision",
    [CLASSIFY_RECALL] = "recall",     [CLASSIFY_F1] = "f1",
    [CLASSIFY_F1_MICRO] = "f1_micro", [CLASSIFY_CALIBRATION] = "calibration_error",
};

struct given {
    uint32_t label;
    double score;
};

struct sample {
    uint32_t *truth;
    struct given *found; /* those that count first */
    uint32_t truth_count, found_count, counted;
    bool right;
};

struct classify {
    bool single;
    double least; /* score of those that count */
    struct arena arena;
    struct map *numbers;
    struct str *labels;
    size_t label_count, label_cap;
    struct sample *samples;
    size_t sample_count, sample_cap;
};

struct classify *classify_new(bool single)
{
    struct classify *c = base_zalloc(sizeof *c);
    c->single = single;
    arena_init(&c->arena);
    c->numbers = map_new();
    return c;
}

void classify_free(struct classify *c)
{
    if (!c)
        return;
    map_free(c->numbers);
    free(c->labels);
    free(c->samples);
    arena_release(&c->arena);
    free(c);
}

void classify_set_least(struct classify *c, double score)
{
    c->least = score;
}

static uint32_t number_of(struct classify *c, struct str label)
{
    uintptr_t known = (uintptr_t)map_get(c->numbers, label);
    if (known)
        return (uint32_t)(known - 1);
    if (c->label_count == c->label_cap) {
        c->label_cap = c->label_cap ? c->label_cap * 2 : 16;
        c->labels = base_realloc(c->labels, c->label_cap * sizeof *c->labels);
    }
    c->labels[c->label_count] = arena_str(&c->arena, label);
    map_set(c->numbers, label, (void *)(uintptr_t)(c->label_count + 1));
    return (uint32_t)c->label_count++;
}

static bool has(const uint32_t *labels, uint32_t count, uint32_t label)
{
    for (uint32_t i = 0; i < count; i++)
        if (labels[i] == label)
            return true;
    return false;
}

static uint32_t hits_of(const struct sample *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->counted; i++)
        n += has(s->truth, s->truth_count, s->found[i].label);
    return n;
}

static void best_first(struct sample *s)
{
    for (uint32_t i = 1; i < s->found_count; i++)
        if (s->found[i].score > s->found[0].score) {
            struct given t = s->found[0];
            s->found[0] = s->found[i];
            s->found[i] = t;
        }
}

/* Moves those of at least the score to the front. */
static uint32_t count_least(struct sample *s, double least)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->found_count; i++)
        if (s->found[i].score >= least) {
            struct given t = s->found[n];
            s->found[n++] = s->found[i];
            s->found[i] = t;
        }
    return n;
}

void classify_add(struct classify *c, const struct annotation *truth, const struct annotation *found)
{
    struct sample s = {.truth_count = truth->label_count, .found_count = found->label_count};
    s.truth = arena_array(&c->arena, uint32_t, s.truth_count + 1);
    s.found = arena_array(&c->arena, struct given, s.found_count + 1);
    for (uint32_t i = 0; i < s.truth_count; i++)
        s.truth[i] = number_of(c, truth->labels[i]);
    for (uint32_t i = 0; i < s.found_count; i++) {
        double score = found->scores ? found->scores[i] : NAN;
        s.found[i] = (struct given){number_of(c, found->labels[i]), isnan(score) ? 1 : score};
    }
    if (c->single)
        best_first(&s);
    s.counted = count_least(&s, c->least);
    if (c->single && s.counted)
        s.counted = 1;
    s.right = s.counted == s.truth_count && hits_of(&s) == s.truth_count;
    if (c->sample_count == c->sample_cap) {
        c->sample_cap = c->sample_cap ? c->sample_cap * 2 : 256;
        c->samples = base_realloc(c->samples, c->sample_cap * sizeof *c->samples);
    }
    c->samples[c->sample_count++] = s;
}

size_t classify_samples(const struct classify *c)
{
    return c->sample_count;
}

size_t classify_labels(const struct classify *c)
{
    return c->label_count;
}

struct str classify_label(const struct classify *c, size_t label)
{
    return c->labels[label];
}

static void tally(const struct sample *s, uint64_t times, struct classify_counts *by_label)
{
    for (uint32_t i = 0; i < s->counted; i++) {
        struct classify_counts *n = &by_label[s->found[i].label];
        *(has(s->truth, s->truth_count, s->found[i].label) ? &n->hits : &n->mistakes) += times;
    }
    for (uint32_t i = 0; i < s->truth_count; i++) {
        bool met = false;
        for (uint32_t k = 0; k < s->counted; k++)
            met |= s->found[k].label == s->truth[i];
        by_label[s->truth[i]].missed += met ? 0 : times;
    }
}

static double ratio(double part, double all)
{
    return all > 0 ? part / all : 0;
}

/* Means over the labels that occur in the truth. */
static void means(const struct classify_counts *by_label, size_t count, double *ret)
{
    double precision = 0, recall = 0, f1 = 0, hits = 0, decided = 0;
    size_t occur = 0;
    for (size_t i = 0; i < count; i++) {
        double h = (double)by_label[i].hits, m = (double)by_label[i].mistakes, l = (double)by_label[i].missed;
        hits += h;
        decided += 2 * h + m + l;
        if (h + l <= 0)
            continue;
        occur++;
        precision += ratio(h, h + m);
        recall += h / (h + l);
        f1 += ratio(2 * h, 2 * h + m + l);
    }
    ret[CLASSIFY_PRECISION] = occur ? precision / (double)occur : NAN;
    ret[CLASSIFY_RECALL] = occur ? recall / (double)occur : NAN;
    ret[CLASSIFY_F1] = occur ? f1 / (double)occur : NAN;
    ret[CLASSIFY_F1_MICRO] = decided > 0 ? 2 * hits / decided : NAN;
}

/* Scores of the one label that counts, in bins: how often it was right, what was promised. */
struct bins {
    double right[BINS], promised[BINS], all[BINS];
};

static void bin(struct bins *b, const struct sample *s, double times)
{
    if (!s->counted)
        return;
    int at = (int)(s->found[0].score * BINS);
    at = at < 0 ? 0 : at >= BINS ? BINS - 1 : at;
    b->all[at] += times;
    b->right[at] += s->right ? times : 0;
    b->promised[at] += times * s->found[0].score;
}

static double calibration(const struct bins *b)
{
    double off = 0, all = 0;
    for (int i = 0; i < BINS; i++) {
        off += fabs(b->right[i] - b->promised[i]);
        all += b->all[i];
    }
    return all > 0 ? off / all : NAN;
}

void classify_figures(struct classify *c, const uint32_t *weight, double ret[CLASSIFY_FIGURES])
{
    auto_arena struct arena a;
    struct bins bins = {0};
    double right = 0, all = 0;
    arena_init(&a);
    struct classify_counts *by_label = arena_array(&a, struct classify_counts, c->label_count + 1);
    for (size_t i = 0; i < c->sample_count; i++) {
        uint32_t times = weight ? weight[i] : 1;
        all += times;
        right += c->samples[i].right ? times : 0;
        tally(&c->samples[i], times, by_label);
        bin(&bins, &c->samples[i], times);
    }
    means(by_label, c->label_count, ret);
    ret[CLASSIFY_ACCURACY] = all > 0 ? right / all : NAN;
    ret[CLASSIFY_CALIBRATION] = c->single ? calibration(&bins) : NAN;
}

struct classify_counts classify_counts_of(struct classify *c, size_t label)
{
    struct classify_counts n = {0};
    for (size_t i = 0; i < c->sample_count; i++) {
        const struct sample *s = &c->samples[i];
        bool found = false, truth = has(s->truth, s->truth_count, (uint32_t)label);
        for (uint32_t k = 0; k < s->counted; k++)
            found |= s->found[k].label == label;
        n.hits += found && truth;
        n.mistakes += found && !truth;
        n.missed += truth && !found;
    }
    return n;
}

struct scored {
    double score;
    bool truth;
};

static int by_score(const void *x, const void *y)
{
    double a = ((const struct scored *)x)->score, b = ((const struct scored *)y)->score;
    return (a > b) - (a < b);
}

static double score_of(const struct sample *s, size_t label)
{
    for (uint32_t i = 0; i < s->found_count; i++)
        if (s->found[i].label == label)
            return s->found[i].score;
    return 0;
}

/* By ranks: equal scores share the mean of theirs. */
double classify_area(struct classify *c, size_t label)
{
    auto_arena struct arena a;
    double ranks = 0, yes = 0;
    arena_init(&a);
    struct scored *all = arena_array(&a, struct scored, c->sample_count + 1);
    for (size_t i = 0; i < c->sample_count; i++) {
        const struct sample *s = &c->samples[i];
        all[i] = (struct scored){score_of(s, label), has(s->truth, s->truth_count, (uint32_t)label)};
        yes += all[i].truth;
    }
    qsort(all, c->sample_count, sizeof *all, by_score);
    for (size_t i = 0, end; i < c->sample_count; i = end) {
        for (end = i; end < c->sample_count && all[end].score == all[i].score;)
            end++;
        for (size_t k = i; k < end; k++)
            ranks += all[k].truth ? ((double)i + (double)end + 1) / 2 : 0;
    }
    double no = (double)c->sample_count - yes;
    return yes > 0 && no > 0 ? (ranks - yes * (yes + 1) / 2) / (yes * no) : NAN;
}

uint64_t classify_taken(const struct classify *c, size_t truth, size_t found)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->sample_count; i++) {
        const struct sample *s = &c->samples[i];
        size_t given = s->counted ? s->found[0].label : c->label_count;
        n += s->truth_count && s->truth[0] == truth && given == found;
    }
    return n;
}
