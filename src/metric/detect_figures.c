#include "metric/detect_own.h"

#include <float.h>
#include <math.h>

#define RECALLS 101 /* 0, .01 ... 1 */

static const struct detect_row box_rows[] = {
    {"mAP", false, -1, DETECT_ALL, 100},
    {"mAP50", false, 0, DETECT_ALL, 100},
    {"mAP75", false, 5, DETECT_ALL, 100},
    {"mAP_small", false, -1, DETECT_SMALL, 100},
    {"mAP_medium", false, -1, DETECT_MEDIUM, 100},
    {"mAP_large", false, -1, DETECT_LARGE, 100},
    {"mAR1", true, -1, DETECT_ALL, 1},
    {"mAR10", true, -1, DETECT_ALL, 10},
    {"mAR100", true, -1, DETECT_ALL, 100},
    {"mAR_small", true, -1, DETECT_SMALL, 100},
    {"mAR_medium", true, -1, DETECT_MEDIUM, 100},
    {"mAR_large", true, -1, DETECT_LARGE, 100},
};
static const struct detect_row keypoint_rows[] = {
    {"mAP", false, -1, DETECT_ALL, 20},          {"mAP50", false, 0, DETECT_ALL, 20},
    {"mAP75", false, 5, DETECT_ALL, 20},         {"mAP_medium", false, -1, DETECT_MEDIUM, 20},
    {"mAP_large", false, -1, DETECT_LARGE, 20},  {"mAR", true, -1, DETECT_ALL, 20},
    {"mAR50", true, 0, DETECT_ALL, 20},          {"mAR75", true, 5, DETECT_ALL, 20},
    {"mAR_medium", true, -1, DETECT_MEDIUM, 20}, {"mAR_large", true, -1, DETECT_LARGE, 20},
};

const struct detect_row *detect_rows(enum detect_by by, size_t *ret_count)
{
    bool keypoints = by == DETECT_KEYPOINTS;
    *ret_count =
        keypoints ? sizeof keypoint_rows / sizeof *keypoint_rows : sizeof box_rows / sizeof *box_rows;
    return keypoints ? keypoint_rows : box_rows;
}

size_t detect_samples(const struct detect *d)
{
    return d->samples;
}

size_t detect_labels(const struct detect *d)
{
    return d->class_count;
}

struct str detect_label(const struct detect *d, size_t label)
{
    return d->classes[label].label;
}

static uint64_t truths(const struct detect_class *c, enum detect_size size, const uint32_t *weight)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->truth_count; i++)
        n += (uint64_t)c->truth[i].count[size] * (weight ? weight[c->truth[i].sample] : 1);
    return n;
}

uint64_t detect_truths(const struct detect *d, size_t label)
{
    return truths(&d->classes[label], DETECT_ALL, NULL);
}

static int by_score(const void *x, const void *y)
{
    const struct detect_found *a = x, *b = y;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    if (a->sample != b->sample)
        return a->sample < b->sample ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static void sort(struct detect_class *c)
{
    if (!c->sorted)
        qsort(c->found, c->found_count, sizeof *c->found, by_score);
    c->sorted = true;
}

/* Mean precision at the recalls, from the points at which something was hit: between them precision only
 * falls. */
static double mean_precision(double *precision, const double *recall, size_t n)
{
    double sum = 0;
    size_t at = 0;
    for (size_t i = n; i-- > 1;)
        precision[i - 1] = fmax(precision[i - 1], precision[i]);
    for (int r = 0; r < RECALLS; r++) {
        double wanted = r * 0.01;
        while (at < n && recall[at] < wanted)
            at++;
        if (at == n)
            break;
        sum += precision[at];
    }
    return sum / RECALLS;
}

/* One label at one overlap. */
struct level {
    double precision, recall;
};

/* all: how many there are to find, not 0. */
static struct level at_level(struct detect *d, const struct detect_class *c, const struct detect_row *row,
                             int level, const uint32_t *weight, uint64_t all)
{
    uint64_t bit = detect_bit(row->size, level), hits = 0, mistakes = 0;
    double *precision = d->curve, *recall = d->curve + c->found_count;
    size_t n = 0;
    for (size_t i = 0; i < c->found_count; i++) {
        const struct detect_found *f = &c->found[i];
        uint32_t times = weight ? weight[f->sample] : 1;
        if (f->rank >= row->most || !times || f->ignored & bit)
            continue;
        if (!(f->hit & bit)) {
            mistakes += times;
            continue;
        }
        hits += times;
        precision[n] = (double)hits / ((double)(hits + mistakes) + DBL_EPSILON);
        recall[n++] = (double)hits / (double)all;
    }
    return (struct level){mean_precision(precision, recall, n), (double)hits / (double)all};
}

static void make_ready(struct detect *d, struct detect_class *c)
{
    sort(c);
    if (d->curve_cap >= c->found_count)
        return;
    d->curve_cap = c->found_count;
    d->curve = base_realloc(d->curve, d->curve_cap * 2 * sizeof *d->curve);
}

static double mean_of(const struct level *levels, const struct detect_row *row)
{
    double sum = 0;
    if (row->level >= 0)
        return row->recall ? levels[row->level].recall : levels[row->level].precision;
    for (int i = 0; i < DETECT_LEVELS; i++)
        sum += row->recall ? levels[i].recall : levels[i].precision;
    return sum / DETECT_LEVELS;
}

/* The rows' figures of one label. Rows of the same size and number of shapes look at the same levels. */
static void of_class(struct detect *d, size_t label, const uint32_t *weight, double *ret)
{
    struct level levels[DETECT_MAX_ROWS][DETECT_LEVELS] = {0};
    struct detect_class *c = &d->classes[label];
    size_t count;
    const struct detect_row *rows = detect_rows(d->by, &count);
    make_ready(d, c);
    for (size_t i = 0, same; i < count; i++) {
        uint64_t all = truths(c, rows[i].size, weight);
        for (same = 0; rows[same].size != rows[i].size || rows[same].most != rows[i].most;)
            same++;
        for (int k = 0; all && same == i && k < DETECT_LEVELS; k++)
            levels[i][k] = at_level(d, c, &rows[i], k, weight, all);
        ret[i] = all ? mean_of(levels[same], &rows[i]) : NAN;
    }
}

void detect_figures(struct detect *d, size_t label, const uint32_t *weight, double *ret)
{
    double sum[DETECT_MAX_ROWS] = {0}, one[DETECT_MAX_ROWS] = {0};
    size_t counted[DETECT_MAX_ROWS] = {0}, count;
    detect_rows(d->by, &count);
    if (label != DETECT_EVERY) {
        of_class(d, label, weight, ret);
        return;
    }
    for (size_t c = 0; c < d->class_count; c++) {
        of_class(d, c, weight, one);
        for (size_t i = 0; i < count; i++)
            if (!isnan(one[i])) {
                sum[i] += one[i];
                counted[i]++;
            }
    }
    for (size_t i = 0; i < count; i++)
        ret[i] = counted[i] ? sum[i] / (double)counted[i] : NAN;
}

struct detect_counts detect_at(struct detect *d, size_t label, double score)
{
    struct detect_class *c = &d->classes[label];
    struct detect_counts n = {0};
    uint64_t bit = detect_bit(DETECT_ALL, 0);
    sort(c);
    for (size_t i = 0; i < c->found_count && c->found[i].score >= score; i++) {
        n.hits += (c->found[i].hit & bit) != 0;
        n.mistakes += !((c->found[i].hit | c->found[i].ignored) & bit);
    }
    n.missed = truths(c, DETECT_ALL, NULL) - n.hits;
    return n;
}

/* A found shape of any label: its score and whether it met. */
struct step {
    double score;
    bool hit;
};

static int by_step(const void *x, const void *y)
{
    double a = ((const struct step *)x)->score, b = ((const struct step *)y)->score;
    return (a < b) - (a > b);
}

double detect_best_score(struct detect *d)
{
    auto_arena struct arena a;
    size_t count = 0, n = 0;
    uint64_t all = 0, hits = 0, bit = detect_bit(DETECT_ALL, 0);
    double best = 0, best_score = 0;
    arena_init(&a);
    for (size_t i = 0; i < d->class_count; i++) {
        count += d->classes[i].found_count;
        all += truths(&d->classes[i], DETECT_ALL, NULL);
    }
    struct step *steps = arena_array(&a, struct step, count + 1);
    for (size_t i = 0; i < d->class_count; i++)
        for (size_t k = 0; k < d->classes[i].found_count; k++) {
            const struct detect_found *f = &d->classes[i].found[k];
            if (!(f->ignored & bit))
                steps[n++] = (struct step){f->score, (f->hit & bit) != 0};
        }
    qsort(steps, n, sizeof *steps, by_step);
    for (size_t i = 0; i < n; i++) {
        hits += steps[i].hit;
        if (i + 1 < n && steps[i + 1].score == steps[i].score)
            continue;
        double f1 = 2 * (double)hits / (double)(i + 1 + all);
        if (f1 > best) {
            best = f1;
            best_score = steps[i].score;
        }
    }
    return best_score;
}
