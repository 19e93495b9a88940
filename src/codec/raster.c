#include "codec/raster.h"

#include "codec/geometry.h"
#include "codec/rle.h"

#include <math.h>

/* A part of the picture, one bit per pixel, down the columns. */
struct grid {
    uint32_t x, y, w, h;
    uint8_t *bits;
};

static uint32_t pixel(double v, uint32_t max)
{
    return v <= 0 ? 0 : v >= max ? max : (uint32_t)v;
}

/* The pixels round n points, within the picture. */
static struct grid grid_round(const double box[4], uint32_t w, uint32_t h)
{
    struct grid g = {.x = pixel(floor(box[0]), w), .y = pixel(floor(box[1]), h)};
    g.w = pixel(ceil(box[0] + box[2]), w) - g.x;
    g.h = pixel(ceil(box[1] + box[3]), h) - g.y;
    g.bits = base_zalloc(((uint64_t)g.w * g.h + 7) / 8 + 1);
    return g;
}

static void flip(struct grid *g, uint64_t i)
{
    g->bits[i >> 3] ^= (uint8_t)(1 << (i & 7));
}

/* In each column that the edge crosses: flips the first pixel whose middle is below it. */
static void add_edge(struct grid *g, const double *p, const double *q)
{
    const double *l = p[0] < q[0] ? p : q, *r = p[0] < q[0] ? q : p;
    double first = ceil(l[0] - 0.5 - g->x);
    for (uint32_t c = pixel(first, g->w); c < g->w; c++) {
        double x = (double)g->x + c + 0.5;
        if (x >= r[0])
            return;
        double y = l[1] + (r[1] - l[1]) * (x - l[0]) / (r[0] - l[0]);
        uint32_t row = pixel(ceil(y - 0.5 - g->y), g->h);
        if (row < g->h)
            flip(g, (uint64_t)c * g->h + row);
    }
}

/* Sets or clears what is inside of the ring. */
static void paint_ring(struct grid *to, const struct ring *r, uint32_t w, uint32_t h, bool set)
{
    double box[4];
    geometry_bounds(r->xy, r->count, box);
    struct grid g = grid_round(box, w, h);
    for (uint32_t i = 0; i < r->count; i++)
        add_edge(&g, &r->xy[2 * (size_t)i], &r->xy[2 * (size_t)((i + 1) % r->count)]);
    for (uint32_t c = 0; c < g.w; c++) {
        bool in = false;
        for (uint32_t k = 0; k < g.h; k++) {
            in ^= rle_bit(g.bits, (uint64_t)c * g.h + k);
            uint32_t x = g.x + c, y = g.y + k;
            /* Holes may reach beyond the rings. */
            if (!in || x < to->x || y < to->y || x >= to->x + to->w || y >= to->y + to->h)
                continue;
            uint64_t at = (uint64_t)(x - to->x) * to->h + (y - to->y);
            if (rle_bit(to->bits, at) != set)
                flip(to, at);
        }
    }
    free(g.bits);
}

static struct str encode(struct arena *a, const struct grid *g, uint32_t w, uint32_t h)
{
    auto_arena struct arena scratch = {0};
    struct rle_builder b;
    rle_builder_init(&b, &scratch);
    rle_builder_add(&b, false, (uint64_t)g->x * h);
    for (uint32_t c = 0; c < g->w; c++) {
        rle_builder_add(&b, false, g->y);
        for (uint32_t k = 0; k < g->h; k++)
            rle_builder_add(&b, rle_bit(g->bits, (uint64_t)c * g->h + k), 1);
        rle_builder_add(&b, false, h - g->y - g->h);
    }
    rle_builder_add(&b, false, (uint64_t)(w - g->x - g->w) * h);
    return rle_area(b.runs, b.count) ? rle_encode(a, b.runs, b.count) : STR_NULL;
}

bool raster_polygon(struct arena *a, struct shape *s, uint32_t w, uint32_t h)
{
    if (!w || !h || (uint64_t)w * h > ANNOTATION_MAX_PIXELS || !s->ring_count)
        return false;
    struct shape bare = *s;
    double box[4];
    bare.has_box = false;
    geometry_box_of(&bare, box);
    struct grid g = grid_round(box, w, h);
    for (uint32_t i = 0; i < s->ring_count; i++)
        paint_ring(&g, &s->rings[i], w, h, true);
    for (uint32_t i = 0; i < s->hole_count; i++)
        paint_ring(&g, &s->holes[i], w, h, false);
    struct str counts = encode(a, &g, w, h);
    free(g.bits);
    if (!counts.n)
        return false;
    s->kind = SHAPE_MASK;
    s->counts = counts;
    s->size[0] = h;
    s->size[1] = w;
    s->rings = s->holes = NULL;
    s->ring_count = s->hole_count = 0;
    return true;
}
