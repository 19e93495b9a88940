#include "series/fold.h"

#include <math.h>

int64_t series_bucket_at(int64_t at, int64_t width)
{
    int64_t rest = at % width;
    return at - rest - (rest < 0 ? width : 0);
}

const char *const series_side_names[] = {"mean", "low", "high"};

double series_value(const struct series_bucket *b, enum series_side side)
{
    return side == SERIES_LOW ? b->low : side == SERIES_HIGH ? b->high : series_mean(b);
}

/* --- buckets --- */

/* The bucket that begins at `at`: nearly always the last one or a new one behind it. */
static struct series_bucket *bucket_of(struct arena *a, int64_t at, struct series_bucket **b, size_t *n)
{
    size_t i = *n;
    while (i > 0 && (*b)[i - 1].at > at)
        i--;
    if (i > 0 && (*b)[i - 1].at == at)
        return &(*b)[i - 1];
    if ((*n & (*n - 1)) == 0) { /* full at every power of two */
        size_t room = *n ? *n * 2 : 1;
        *b = arena_grow(a, *b, *n * sizeof **b, room * sizeof **b);
    }
    memmove(*b + i + 1, *b + i, (*n - i) * sizeof **b);
    (*n)++;
    (*b)[i] = (struct series_bucket){.at = at};
    return &(*b)[i];
}

static void add(struct series_bucket *to, int64_t n, double low, double high, double sum)
{
    to->low = to->n && to->low <= low ? to->low : low;
    to->high = to->n && to->high >= high ? to->high : high;
    to->sum += sum;
    to->n += n;
}

void series_fold(struct arena *a, const struct series_point *p, size_t n, int64_t width,
                 struct series_bucket **b, size_t *ret_n)
{
    struct series_bucket *last = *ret_n ? &(*b)[*ret_n - 1] : NULL;
    for (size_t i = 0; i < n; i++) {
        if (isnan(p[i].value))
            continue;
        if (!last || p[i].at < last->at || p[i].at - last->at >= width)
            last = bucket_of(a, series_bucket_at(p[i].at, width), b, ret_n);
        add(last, 1, p[i].value, p[i].value, p[i].value);
    }
}

void series_fold_buckets(struct arena *a, const struct series_bucket *p, size_t n, int64_t width,
                         struct series_bucket **b, size_t *ret_n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].n)
            add(bucket_of(a, series_bucket_at(p[i].at, width), b, ret_n), p[i].n, p[i].low, p[i].high,
                p[i].sum);
}

/* --- thinning --- */

void series_thin_begin(struct series_thin *t, size_t total, size_t most, struct series_point *room)
{
    *t = (struct series_thin){.total = total, .most = most, .point = room};
}

/* Two of each stretch; the first and the last point of all are besides. */
static size_t stretch_of(const struct series_thin *t, size_t i)
{
    size_t stretches = (t->most - 2) / 2, inner = t->total - 2;
    return (size_t)((double)(i - 1) * (double)stretches / (double)inner);
}

static void take(struct series_thin *t, const struct series_point *p)
{
    if (t->n < t->most)
        t->point[t->n++] = *p;
}

static void close_stretch(struct series_thin *t)
{
    if (!t->open)
        return;
    bool low_first = t->low_at < t->high_at;
    take(t, low_first ? &t->low : &t->high);
    if (t->low_at != t->high_at)
        take(t, low_first ? &t->high : &t->low);
    t->open = false;
}

/* The first and the last of all belong to the stretches beside them. NaN is no part of a mean. */
static void take_mean(struct series_thin *t, const struct series_point *p, size_t stretch)
{
    if (!t->mean || t->total <= t->most || isnan(p->value))
        return;
    if (t->n_mean == 0 || (stretch != t->mean_of && t->n_mean < t->most / 2)) {
        t->mean[t->n_mean++] = (struct series_stretch){p->step, {.at = p->at}};
        t->mean_of = stretch;
    }
    add(&t->mean[t->n_mean - 1].of, 1, p->value, p->value, p->value);
}

void series_thin_add(struct series_thin *t, const struct series_point *p)
{
    size_t i = t->seen++;
    if (i >= t->total)
        return;
    if (t->total <= t->most || i == 0 || i == t->total - 1) {
        close_stretch(t);
        take(t, p);
        take_mean(t, p, t->stretch);
        return;
    }
    size_t stretch = stretch_of(t, i);
    take_mean(t, p, stretch);
    if (t->open && stretch != t->stretch)
        close_stretch(t);
    if (!t->open || p->value < t->low.value) {
        t->low = *p;
        t->low_at = i;
    }
    if (!t->open || p->value > t->high.value) {
        t->high = *p;
        t->high_at = i;
    }
    t->open = true;
    t->stretch = stretch;
}

void series_thin_end(struct series_thin *t)
{
    close_stretch(t);
}
