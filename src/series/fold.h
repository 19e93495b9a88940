/* Fewer points of many, for drawing: what a pixel shows of its points, and the points that a line cannot do
 * without. Pure functions over arrays. */
#ifndef INGOT_SERIES_FOLD_H
#define INGOT_SERIES_FOLD_H

#include "series/chunk.h"

/* One width of time, [at, at + width). Widths begin at whole multiples of themselves since 1970, so that all
 * series have the same. */
struct series_bucket {
    int64_t at;
    int64_t n; /* points; 0: none came */
    double low, high, sum;
};
static inline double series_mean(const struct series_bucket *b)
{
    return b->sum / (double)b->n;
}

/* What answers say of a bucket: the mean, and what it is the mean of. */
enum series_side { SERIES_MEAN, SERIES_LOW, SERIES_HIGH };
extern const char *const series_side_names[]; /* "mean", "low", "high" */
double series_value(const struct series_bucket *b, enum series_side side);

/* Where the bucket of a time begins. */
int64_t series_bucket_at(int64_t at, int64_t width);
/* Adds points to buckets that are there, in the order of times; grows *b (of *n, in the arena). Points may
 * come in pieces, the later ones with the later times; one that comes late is put where it belongs. NaN is no
 * point. */
void series_fold(struct arena *a, const struct series_point *p, size_t n, int64_t width,
                 struct series_bucket **b, size_t *ret_n);
/* The same for buckets of a smaller width. */
void series_fold_buckets(struct arena *a, const struct series_bucket *p, size_t n, int64_t width,
                         struct series_bucket **b, size_t *ret_n);

/* What a stretch of points is as one: where it begins, and all of it. */
struct series_stretch {
    double step; /* of its first point */
    struct series_bucket of;
};

/* Picks at most `most` points (at least 4) out of `total` that are shown to it one after the other: of each
 * stretch the least and the greatest, so that no peak is lost, and the very first and last. What total says
 * is what comes (fewer may). With total <= most all are taken. */
struct series_thin {
    size_t total, most, seen, stretch;
    struct series_point low, high; /* of the stretch that is not over */
    size_t low_at, high_at;
    bool open;
    struct series_point *point; /* room for most; the caller's */
    size_t n;
    struct series_stretch *mean; /* room for most / 2, set after the beginning; NULL: not wanted */
    size_t n_mean, mean_of;      /* none where all points are taken */
};
/* room: for `most` points, or for total when that is less. */
void series_thin_begin(struct series_thin *t, size_t total, size_t most, struct series_point *room);
void series_thin_add(struct series_thin *t, const struct series_point *p);
void series_thin_end(struct series_thin *t);

#endif
