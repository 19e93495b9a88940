#include "metric/overlap.h"

#include "codec/geometry.h"
#include "codec/raster.h"
#include "codec/rle.h"

#include <float.h>
#include <math.h>

static bool box_rings(struct arena *a, struct shape *s)
{
    double corners[8];
    geometry_corners(s, corners);
    s->rings = arena_new(a, struct ring);
    s->rings[0] = (struct ring){arena_copy(a, corners, sizeof corners), 4};
    s->ring_count = 1;
    return true;
}

/* Rings to run lengths; a shape that covers no pixel's middle keeps none. */
static bool fill(struct arena *a, struct shape *s, uint32_t w, uint32_t h, struct err *err)
{
    if (!w || !h)
        return err_set(err, ERR_INVALID, "width", "the size of the picture is not known");
    if (s->kind == SHAPE_BOX && !box_rings(a, s))
        return false;
    s->kind = SHAPE_POLYGON;
    if (!raster_polygon(a, s, w, h))
        s->counts = STR_NULL;
    return true;
}

bool overlap_mask_of(struct arena *a, const struct shape *s, uint32_t w, uint32_t h, struct overlap_mask *ret,
                     struct err *err)
{
    struct shape copy = *s;
    const char *why;
    *ret = (struct overlap_mask){0};
    if (!copy.counts.n && !fill(a, &copy, w, h, err))
        return false;
    if (!copy.counts.n)
        return true;
    if ((w && copy.size[1] != w) || (h && copy.size[0] != h))
        return err_set(err, ERR_INVALID, "size", "the mask has %u x %u pixels, the picture %u x %u",
                       copy.size[1], copy.size[0], w, h);
    if (!rle_decode(a, copy.counts, copy.size[0], copy.size[1], &ret->runs, &ret->count, &why))
        return err_set(err, ERR_INVALID, "counts", "%s", why);
    ret->area = rle_area(ret->runs, ret->count);
    rle_box(ret->runs, ret->count, copy.size[0], ret->box);
    return true;
}

/* Both lists run by run; fn gets each stretch in which neither changes. */
struct walk {
    const struct overlap_mask *mask;
    size_t at;
    uint64_t left; /* of the run at `at` */
};

static bool walk_on(struct walk *w)
{
    while (!w->left && w->at + 1 < w->mask->count)
        w->left = w->mask->runs[++w->at];
    return w->left != 0;
}

static struct walk walk_begin(const struct overlap_mask *m)
{
    return (struct walk){.mask = m, .at = 0, .left = m->count ? m->runs[0] : 0};
}

/* The next stretch: its length, 0 at the end, and whether each has it. */
static uint64_t walk_both(struct walk *x, struct walk *y, bool *ret_x, bool *ret_y)
{
    if (!walk_on(x) || !walk_on(y))
        return 0;
    uint64_t n = x->left < y->left ? x->left : y->left;
    x->left -= n;
    y->left -= n;
    *ret_x = x->at & 1;
    *ret_y = y->at & 1;
    return n;
}

uint64_t overlap_shared(const struct overlap_mask *x, const struct overlap_mask *y)
{
    struct walk wx = walk_begin(x), wy = walk_begin(y);
    uint64_t shared = 0, n;
    bool in_x, in_y;
    while ((n = walk_both(&wx, &wy, &in_x, &in_y)))
        if (in_x && in_y)
            shared += n;
    return shared;
}

static struct overlap_mask join(struct arena *a, const struct overlap_mask *x, const struct overlap_mask *y)
{
    struct walk wx = walk_begin(x), wy = walk_begin(y);
    struct rle_builder b;
    uint64_t n;
    bool in_x, in_y;
    rle_builder_init(&b, a);
    while ((n = walk_both(&wx, &wy, &in_x, &in_y)))
        rle_builder_add(&b, in_x || in_y, n);
    return (struct overlap_mask){.runs = b.runs, .count = b.count, .area = rle_area(b.runs, b.count)};
}

struct overlap_mask overlap_joined(struct arena *a, const struct overlap_mask *masks, size_t count,
                                   uint32_t h)
{
    struct overlap_mask all = {0};
    for (size_t i = 0; i < count; i++)
        if (masks[i].count)
            all = all.count ? join(a, &all, &masks[i]) : masks[i];
    if (all.count)
        rle_box(all.runs, all.count, h, all.box);
    return all;
}

double overlap_boxes(const double found[4], const double truth[4], bool crowd)
{
    double w = fmin(found[0] + found[2], truth[0] + truth[2]) - fmax(found[0], truth[0]);
    double h = fmin(found[1] + found[3], truth[1] + truth[3]) - fmax(found[1], truth[1]);
    if (w <= 0 || h <= 0)
        return 0;
    double both = w * h, own = found[2] * found[3];
    double all = crowd ? own : own + truth[2] * truth[3] - both;
    return both / all;
}

double overlap_masks(const struct overlap_mask *found, const struct overlap_mask *truth, bool crowd)
{
    if (overlap_boxes(found->box, truth->box, false) <= 0)
        return 0;
    uint64_t both = overlap_shared(found, truth);
    uint64_t all = crowd ? found->area : found->area + truth->area - both;
    return all ? (double)both / (double)all : 0;
}

/* How far a coordinate lies outside of the truth's box made three times as large. */
static double outside(double v, double low, double side)
{
    return fmax(0, low - side - v) + fmax(0, v - (low + 2 * side));
}

double overlap_keypoints(const struct shape *found, const struct shape *truth, const double *spread)
{
    double box[4], sum = 0, area = geometry_area_of(truth) + DBL_EPSILON;
    uint32_t marked = 0,
             points = found->point_count < truth->point_count ? found->point_count : truth->point_count;
    geometry_box_of(truth, box);
    for (uint32_t i = 0; i < truth->point_count; i++)
        marked += truth->points[i][2] > 0;
    for (uint32_t i = 0; i < points; i++) {
        const double *f = found->points[i], *t = truth->points[i];
        if (marked && t[2] <= 0)
            continue;
        double dx = marked ? f[0] - t[0] : outside(f[0], box[0], box[2]);
        double dy = marked ? f[1] - t[1] : outside(f[1], box[1], box[3]);
        double variance = 4 * spread[i] * spread[i];
        sum += exp(-((dx * dx + dy * dy) / variance / area / 2));
    }
    uint32_t of = marked ? marked : truth->point_count;
    return of ? sum / of : 0;
}

/* Measured by COCO from people who marked the same picture twice. */
static const double person[17] = {.026, .025, .025, .035, .035, .079, .079, .072, .072,
                                  .062, .062, .107, .107, .087, .087, .089, .089};
#define OTHER_SPREAD 0.05

const double *overlap_spread(struct arena *a, uint32_t points)
{
    if (points == sizeof person / sizeof *person)
        return person;
    double *all = arena_array(a, double, points + 1);
    for (uint32_t i = 0; i < points; i++)
        all[i] = OTHER_SPREAD;
    return all;
}
