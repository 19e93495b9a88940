#include "metric/curves.h"

#include <math.h>

struct scored {
    double score;
    bool yes;
};

static int high_first(const void *x, const void *y)
{
    double a = ((const struct scored *)x)->score, b = ((const struct scored *)y)->score;
    return (a < b) - (a > b);
}

static uint64_t truths_of(const struct matches *m, size_t label)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->truth_count; i++)
        n += (label == SIZE_MAX || m->truth[i].label == label) && m->truth[i].size != MATCHES_NONE;
    return n;
}

struct curve curve_precision(const struct matches *m, size_t label, struct arena *a)
{
    size_t n = 0;
    double all = (double)truths_of(m, label), hits = 0;
    struct scored *list = arena_array(a, struct scored, m->found_count + 1);
    for (size_t i = 0; i < m->found_count; i++) {
        const struct matches_found *f = &m->found[i];
        if ((label == SIZE_MAX || f->label == label) && !(f->place & MATCHES_IGNORED))
            list[n++] = (struct scored){(double)f->score, (f->place & MATCHES_HIT) != 0};
    }
    qsort(list, n, sizeof *list, high_first);
    struct curve c = {arena_array(a, struct curve_point, n + 1), 0};
    for (size_t i = 0; i < n; i++) {
        hits += list[i].yes;
        if (i + 1 < n && list[i + 1].score == list[i].score)
            continue;
        c.points[c.count++] =
            (struct curve_point){all > 0 ? hits / all : 0, hits / (double)(i + 1), list[i].score};
    }
    return c;
}

/* The score that a sample has for a label, and whether it is one of it. */
static struct scored score_of(const struct matches *m, const struct matches_sample *s, size_t label)
{
    struct scored ret = {0};
    for (uint32_t i = 0; i < s->found_count; i++)
        if (m->found[s->first_found + i].label == label)
            ret.score = fmax(ret.score, (double)m->found[s->first_found + i].score);
    for (uint32_t i = 0; i < s->truth_count; i++)
        ret.yes |= m->truth[s->first_truth + i].label == label;
    return ret;
}

struct curve curve_roc(const struct matches *m, size_t label, struct arena *a)
{
    size_t n = m->sample_count;
    double yes = 0, no = 0, all_yes = 0;
    struct scored *list = arena_array(a, struct scored, n + 1);
    for (size_t i = 0; i < n; i++) {
        list[i] = score_of(m, &m->samples[i], label);
        all_yes += list[i].yes;
    }
    double all_no = (double)n - all_yes;
    qsort(list, n, sizeof *list, high_first);
    struct curve c = {arena_array(a, struct curve_point, n + 2), 0};
    if (all_yes <= 0 || all_no <= 0)
        return c;
    c.points[c.count++] = (struct curve_point){0, 0, 1};
    for (size_t i = 0; i < n; i++) {
        yes += list[i].yes;
        no += !list[i].yes;
        if (i + 1 == n || list[i + 1].score != list[i].score)
            c.points[c.count++] = (struct curve_point){no / all_no, yes / all_yes, list[i].score};
    }
    return c;
}

/* --- thinning: each step takes the point that is farthest from the straight line of its neighbours --- */

struct stretch {
    size_t from, to, far;
    double off;
};

static struct stretch stretch_of(const struct curve *c, size_t from, size_t to)
{
    struct stretch s = {from, to, from, -1};
    const struct curve_point *p = &c->points[from], *q = &c->points[to];
    double dx = q->x - p->x, dy = q->y - p->y, length = hypot(dx, dy);
    for (size_t i = from + 1; i < to; i++) {
        const struct curve_point *r = &c->points[i];
        double off = length > 0 ? fabs(dy * (r->x - p->x) - dx * (r->y - p->y)) / length
                                : hypot(r->x - p->x, r->y - p->y);
        if (off > s.off) {
            s.off = off;
            s.far = i;
        }
    }
    return s;
}

struct curve curve_thin(const struct curve *c, size_t most, struct arena *a)
{
    if (c->count <= most || most < 2)
        return *c;
    bool *kept = arena_array(a, bool, c->count);
    struct stretch *list = arena_array(a, struct stretch, most);
    size_t n = 1, points = 2;
    list[0] = stretch_of(c, 0, c->count - 1);
    kept[0] = kept[c->count - 1] = true;
    for (; points < most; points++) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++)
            if (list[i].off > list[best].off)
                best = i;
        struct stretch s = list[best];
        if (s.off < 0)
            break;
        kept[s.far] = true;
        list[best] = stretch_of(c, s.from, s.far);
        list[n++] = stretch_of(c, s.far, s.to);
    }
    struct curve ret = {arena_array(a, struct curve_point, most), 0};
    for (size_t i = 0; i < c->count; i++)
        if (kept[i])
            ret.points[ret.count++] = c->points[i];
    return ret;
}

void curve_bins(const struct matches *m, struct curve_bin ret[CURVES_BINS])
{
    memset(ret, 0, CURVES_BINS * sizeof *ret);
    for (size_t i = 0; i < m->found_count; i++) {
        const struct matches_found *f = &m->found[i];
        int at = (int)((double)f->score * CURVES_BINS);
        if (f->place & MATCHES_IGNORED)
            continue;
        struct curve_bin *b = &ret[at < 0 ? 0 : at >= CURVES_BINS ? CURVES_BINS - 1 : at];
        b->count++;
        b->right += (f->place & MATCHES_HIT) != 0;
        b->promised += (double)f->score;
    }
}
