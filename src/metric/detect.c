#include "metric/detect_own.h"

#include "codec/geometry.h"
#include "metric/overlap.h"

#include <math.h>

static const double size_ranges[DETECT_SIZES][2] = {
    [DETECT_ALL] = {0, 1e10},
    [DETECT_SMALL] = {0, 32 * 32},
    [DETECT_MEDIUM] = {32 * 32, 96 * 96},
    [DETECT_LARGE] = {96 * 96, 1e10},
};

struct detect *detect_new(enum detect_by by)
{
    struct detect *d = base_zalloc(sizeof *d);
    d->by = by;
    arena_init(&d->arena);
    d->numbers = map_new();
    return d;
}

void detect_free(struct detect *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->class_count; i++) {
        free(d->classes[i].found);
        free(d->classes[i].truth);
    }
    free(d->classes);
    free(d->curve);
    map_free(d->numbers);
    arena_release(&d->arena);
    free(d);
}

/* Room for one more of an array. */
static void *one_more(void *p, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return p;
    *cap = *cap ? *cap * 2 : 16;
    return base_realloc(p, *cap * size);
}

static size_t class_of(struct detect *d, struct str label)
{
    uintptr_t known = (uintptr_t)map_get(d->numbers, label);
    if (known)
        return known - 1;
    d->classes = one_more(d->classes, d->class_count, &d->class_cap, sizeof *d->classes);
    d->classes[d->class_count] = (struct detect_class){.label = arena_str(&d->arena, label)};
    map_set(d->numbers, label, (void *)(uintptr_t)(d->class_count + 1));
    return d->class_count++;
}

/* A shape of the sample that is looked at, with what comparing it needs. */
struct item {
    const struct shape *shape;
    size_t class, place; /* in the annotation */
    double score, area, box[4];
    struct overlap_mask mask;
    bool ignored; /* a truth that need not be found: a crowd, a skeleton without points */
};

static int by_class_score(const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static bool no_points(const struct shape *s)
{
    for (uint32_t i = 0; i < s->point_count; i++)
        if (s->points[i][2] > 0)
            return false;
    return true;
}

/* pycocotools gives a found skeleton the area of the box round all its points. */
static double points_area(const struct shape *s)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t i = 0; i < s->point_count; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], s->points[i][k]);
            high[k] = fmax(high[k], s->points[i][k]);
        }
    return s->point_count ? (high[0] - low[0]) * (high[1] - low[1]) : 0;
}

struct side {
    struct item *items;
    size_t count;
};

static bool measure(struct arena *a, enum detect_by by, struct item *it, bool truth, uint32_t w, uint32_t h,
                    struct err *err)
{
    const struct shape *s = it->shape;
    it->area = truth || by == DETECT_BOXES ? geometry_area_of(s) : points_area(s);
    if (by != DETECT_MASKS) {
        geometry_box_of(s, it->box);
        if (!truth && by == DETECT_BOXES)
            it->area = it->box[2] * it->box[3];
        return true;
    }
    if (!overlap_mask_of(a, s, w, h, &it->mask, err))
        return false;
    if (!truth || !s->has_area)
        it->area = (double)it->mask.area;
    return true;
}

static bool collect(struct arena *a, struct detect *d, const struct annotation *n, bool truth, uint32_t w,
                    uint32_t h, struct side *ret, struct err *err)
{
    struct item *items = arena_array(a, struct item, (size_t)n->shape_count + 1);
    for (uint32_t i = 0; i < n->shape_count; i++) {
        struct item *it = &items[i];
        it->shape = &n->shapes[i];
        it->class = class_of(d, it->shape->label);
        it->place = i;
        it->score = truth ? 0 : it->shape->has_score ? it->shape->score : 1;
        it->ignored = truth && (it->shape->crowd || (d->by == DETECT_KEYPOINTS && no_points(it->shape)));
        if (!measure(a, d->by, it, truth, w, h, err))
            return false;
    }
    qsort(items, n->shape_count, sizeof *items, by_class_score);
    *ret = (struct side){items, n->shape_count};
    return true;
}

/* The items of one class, cut from the front of what is left. */
static struct side take_class(struct side *left, size_t class)
{
    struct side taken = {left->items, 0};
    while (taken.count < left->count && left->items[taken.count].class == class)
        taken.count++;
    left->items += taken.count;
    left->count -= taken.count;
    return taken;
}

static double alike(struct arena *a, enum detect_by by, const struct item *found, const struct item *truth)
{
    bool crowd = truth->shape->crowd;
    switch (by) {
    case DETECT_BOXES:
        return overlap_boxes(found->box, truth->box, crowd);
    case DETECT_MASKS:
        return overlap_masks(&found->mask, &truth->mask, crowd);
    case DETECT_KEYPOINTS:
        return overlap_keypoints(found->shape, truth->shape, overlap_spread(a, truth->shape->point_count));
    }
    return 0;
}

/* What matching the shapes of one label on one sample needs. */
struct match {
    const struct side *found, *truth;
    double *overlap; /* found x truth */
    uint32_t *order; /* truths, those that count first */
    bool *ignored;   /* truths that need not be found, at this size */
    bool *taken;
    struct detect_found *out;
    struct detect_pair *pairs; /* by place in the annotation; NULL: nobody asks */
};

static bool in_size(double area, enum detect_size size)
{
    return area >= size_ranges[size][0] && area <= size_ranges[size][1];
}

static uint32_t order_truths(struct match *m, enum detect_size size)
{
    uint32_t at = 0, counted;
    for (size_t t = 0; t < m->truth->count; t++) {
        m->ignored[t] = m->truth->items[t].ignored || !in_size(m->truth->items[t].area, size);
        if (!m->ignored[t])
            m->order[at++] = (uint32_t)t;
    }
    counted = at;
    for (size_t t = 0; t < m->truth->count; t++)
        if (m->ignored[t])
            m->order[at++] = (uint32_t)t;
    return counted;
}

/* The truth that a found shape meets: the most alike that nobody has, one that counts before any that need
 * not be found. -1: none. */
static ptrdiff_t meet(const struct match *m, size_t f, double least)
{
    const double *row = m->overlap + f * m->truth->count;
    ptrdiff_t best = -1;
    for (size_t k = 0; k < m->truth->count; k++) {
        uint32_t t = m->order[k];
        if (m->taken[t] && !m->truth->items[t].shape->crowd)
            continue;
        if (best >= 0 && !m->ignored[best] && m->ignored[t])
            break;
        if (row[t] < least)
            continue;
        least = row[t];
        best = t;
    }
    return best;
}

/* As numpy spaces them: masks often overlap by a simple fraction, where the last bit decides. */
static double least_overlap(int level)
{
    double step = (0.95 - 0.5) / (DETECT_LEVELS - 1);
    return level == DETECT_LEVELS - 1 ? 0.95 : 0.5 + level * step;
}

static void match_level(struct match *m, enum detect_size size, int level)
{
    double least = least_overlap(level);
    uint64_t bit = detect_bit(size, level);
    memset(m->taken, 0, m->truth->count * sizeof *m->taken);
    for (size_t f = 0; f < m->found->count; f++) {
        ptrdiff_t t = meet(m, f, least);
        bool ignored = t >= 0 ? m->ignored[t] : !in_size(m->found->items[f].area, size);
        if (t >= 0)
            m->taken[t] = true;
        if (m->pairs && size == DETECT_ALL && level == 0)
            m->pairs[m->found->items[f].place] =
                (struct detect_pair){.truth = t >= 0 ? (uint32_t)m->truth->items[t].place : DETECT_NO_TRUTH,
                                     .hit = t >= 0 && !ignored,
                                     .ignored = ignored};
        if (ignored)
            m->out[f].ignored |= bit;
        else if (t >= 0)
            m->out[f].hit |= bit;
    }
}

static void keep(struct detect *d, size_t class, const struct match *m, const struct detect_truth *truth)
{
    struct detect_class *c = &d->classes[class];
    for (size_t f = 0; f < m->found->count; f++) {
        c->found = one_more(c->found, c->found_count, &c->found_cap, sizeof *c->found);
        c->found[c->found_count++] = m->out[f];
    }
    if (m->truth->count) {
        c->truth = one_more(c->truth, c->truth_count, &c->truth_cap, sizeof *c->truth);
        c->truth[c->truth_count++] = *truth;
    }
    c->sorted = false;
}

static void match_class(struct arena *a, struct detect *d, size_t class, struct side *truth,
                        struct side *found, struct detect_pair *pairs)
{
    if (found->count > DETECT_MOST)
        found->count = DETECT_MOST;
    size_t cells = found->count * truth->count;
    struct match m = {.found = found,
                      .truth = truth,
                      .overlap = arena_array(a, double, cells + 1),
                      .order = arena_array(a, uint32_t, truth->count + 1),
                      .ignored = arena_array(a, bool, truth->count + 1),
                      .taken = arena_array(a, bool, truth->count + 1),
                      .pairs = pairs,
                      .out = arena_array(a, struct detect_found, found->count + 1)};
    struct detect_truth counts = {.sample = (uint32_t)d->samples};
    for (size_t f = 0; f < found->count; f++) {
        m.out[f] = (struct detect_found){
            .score = found->items[f].score, .sample = (uint32_t)d->samples, .rank = (uint32_t)f};
        for (size_t t = 0; t < truth->count; t++)
            m.overlap[f * truth->count + t] = alike(a, d->by, &found->items[f], &truth->items[t]);
    }
    for (enum detect_size size = 0; size < DETECT_SIZES; size++) {
        counts.count[size] = order_truths(&m, size);
        for (int level = 0; level < DETECT_LEVELS; level++)
            match_level(&m, size, level);
    }
    keep(d, class, &m, &counts);
}

static bool boxes_apart(const struct item *x, const struct item *y, enum detect_by by)
{
    const double *p = by == DETECT_MASKS ? x->mask.box : x->box,
                 *q = by == DETECT_MASKS ? y->mask.box : y->box;
    return by != DETECT_KEYPOINTS &&
           (p[0] >= q[0] + q[2] || q[0] >= p[0] + p[2] || p[1] >= q[1] + q[3] || q[1] >= p[1] + p[3]);
}

/* The true shape of whichever label that a found one most overlaps, by half at least. */
static uint32_t nearest(struct arena *a, enum detect_by by, const struct item *found,
                        const struct side *truth)
{
    double best = least_overlap(0);
    uint32_t at = DETECT_NO_TRUTH;
    for (size_t t = 0; t < truth->count; t++) {
        const struct item *it = &truth->items[t];
        if (it->ignored || boxes_apart(found, it, by) ||
            (by == DETECT_KEYPOINTS && it->shape->point_count != found->shape->point_count))
            continue;
        double v = alike(a, by, found, it);
        if (v < best)
            continue;
        best = v;
        at = (uint32_t)it->place;
    }
    return at;
}

bool detect_add_pairs(struct detect *d, const struct annotation *truth, const struct annotation *found,
                      uint32_t w, uint32_t h, struct detect_pair *ret, struct err *err)
{
    auto_arena struct arena a;
    struct side all_true, all_found;
    arena_init(&a);
    for (uint32_t i = 0; ret && i < found->shape_count; i++)
        ret[i] = (struct detect_pair){.truth = DETECT_NO_TRUTH, .ignored = true};
    if (!collect(&a, d, truth, true, w, h, &all_true, err) ||
        !collect(&a, d, found, false, w, h, &all_found, err))
        return false;
    struct side true_left = all_true, found_left = all_found;
    while (true_left.count || found_left.count) {
        size_t t = true_left.count ? true_left.items->class : SIZE_MAX;
        size_t f = found_left.count ? found_left.items->class : SIZE_MAX;
        size_t class = t < f ? t : f;
        struct side own_truth = take_class(&true_left, class), own_found = take_class(&found_left, class);
        match_class(&a, d, class, &own_truth, &own_found, ret);
    }
    for (size_t i = 0; ret && i < all_found.count; i++) {
        struct detect_pair *p = &ret[all_found.items[i].place];
        if (!p->hit && !p->ignored)
            p->truth = nearest(&a, d->by, &all_found.items[i], &all_true);
    }
    d->samples++;
    return true;
}

bool detect_add(struct detect *d, const struct annotation *truth, const struct annotation *found, uint32_t w,
                uint32_t h, struct err *err)
{
    return detect_add_pairs(d, truth, found, w, h, NULL, err);
}

enum detect_size detect_size_of(enum detect_by by, const struct shape *s, uint32_t w, uint32_t h)
{
    auto_arena struct arena a;
    struct err ignored = {0};
    struct item it = {.shape = s};
    arena_init(&a);
    if (s->crowd || (by == DETECT_KEYPOINTS && no_points(s)) || !measure(&a, by, &it, true, w, h, &ignored))
        return DETECT_ALL;
    return it.area < size_ranges[DETECT_MEDIUM][0]  ? DETECT_SMALL
           : it.area < size_ranges[DETECT_LARGE][0] ? DETECT_MEDIUM
                                                    : DETECT_LARGE;
}
