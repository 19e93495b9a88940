#include "codec/trace.h"

#include "codec/geometry.h"
#include "codec/rle.h"

/* Directions of edges between pixel corners, clockwise; the object is always on the right. */
enum { RIGHT, DOWN, LEFT, UP };
static const int step[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};

/* The corners of the mask's box; per corner a bit for each edge that starts there. */
struct grid {
    uint8_t *edges;
    int w, h; /* of corners */
};

struct path {
    struct arena *a;
    double *xy;
    size_t count, cap;
};

static void put_point(struct path *p, int x, int y)
{
    if (p->count == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 32;
        p->xy = arena_grow(p->a, p->xy, p->cap * 2 * sizeof(double), cap * 2 * sizeof(double));
        p->cap = cap;
    }
    p->xy[2 * p->count] = x;
    p->xy[2 * p->count + 1] = y;
    p->count++;
}

static uint8_t *corner(const struct grid *g, int x, int y)
{
    return &g->edges[(size_t)y * (size_t)g->w + (size_t)x];
}

static void add_edges(struct grid *g, const uint8_t *bits, const struct shape *s, const int box[4])
{
    for (int y = 0; y < box[3]; y++) {
        for (int x = 0; x < box[2]; x++) {
            uint64_t at = (uint64_t)(box[0] + x) * s->size[0] + (uint64_t)(box[1] + y);
            if (!rle_bit(bits, at))
                continue;
            /* The box is round the mask, so what lies beyond it is background. */
            if (y == 0 || !rle_bit(bits, at - 1))
                *corner(g, x, y) |= 1 << RIGHT;
            if (x == box[2] - 1 || !rle_bit(bits, at + s->size[0]))
                *corner(g, x + 1, y) |= 1 << DOWN;
            if (y == box[3] - 1 || !rle_bit(bits, at + 1))
                *corner(g, x + 1, y + 1) |= 1 << LEFT;
            if (x == 0 || !rle_bit(bits, at - s->size[0]))
                *corner(g, x, y + 1) |= 1 << UP;
        }
    }
}

/* Follows the edge from a corner back to it, taking the edges away; where two go on, it turns right, which
 * keeps parts that touch in a corner apart. */
static void follow(struct grid *g, int x, int y, int direction, const int origin[2], struct path *ret)
{
    int from_x = x, from_y = y, first = direction;
    ret->count = 0;
    do {
        *corner(g, x, y) &= (uint8_t) ~(1 << direction);
        x += step[direction][0];
        y += step[direction][1];
        if (x == from_x && y == from_y && !(*corner(g, x, y) >> ((direction + 1) % 4) & 1)) {
            /* Home; its corner is a point unless the way goes straight on. */
            if (direction != first)
                put_point(ret, origin[0] + x, origin[1] + y);
            return;
        }
        static const int turns[] = {1, 0, 3};
        int next = direction;
        for (size_t i = 0; i < countof(turns); i++) {
            next = (direction + turns[i]) % 4;
            if (*corner(g, x, y) >> next & 1)
                break;
        }
        if (next != direction)
            put_point(ret, origin[0] + x, origin[1] + y);
        direction = next;
    } while (*corner(g, x, y) >> direction & 1);
}

static double signed_area(const struct path *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        const double *a = &p->xy[2 * i], *b = &p->xy[2 * ((i + 1) % p->count)];
        sum += a[0] * b[1] - b[0] * a[1];
    }
    return sum;
}

static bool collect(struct arena *a, struct grid *g, const int origin[2], struct ring **ret_rings,
                    uint32_t *ret_count, uint32_t *ret_holes)
{
    auto_arena struct arena scratch = {0};
    struct path p = {.a = &scratch};
    struct ring *rings = NULL;
    size_t count = 0, cap = 0, points = 0;
    *ret_holes = 0;
    for (int y = 0; y < g->h; y++) {
        for (int x = 0; x < g->w; x++) {
            while (*corner(g, x, y) >> RIGHT & 1) {
                follow(g, x, y, RIGHT, origin, &p);
                if (p.count < 3 || signed_area(&p) <= 0) {
                    ++*ret_holes;
                    continue;
                }
                points += p.count;
                if (points > ANNOTATION_MAX_POINTS)
                    return false;
                if (count == cap) {
                    size_t more = cap ? cap * 2 : 8;
                    rings = arena_grow(a, rings, cap * sizeof *rings, more * sizeof *rings);
                    cap = more;
                }
                rings[count++] =
                    (struct ring){arena_copy(a, p.xy, p.count * 2 * sizeof(double)), (uint32_t)p.count};
            }
        }
    }
    *ret_rings = rings;
    *ret_count = (uint32_t)count;
    return true;
}

bool trace_mask(struct arena *a, const struct shape *mask, struct ring **ret_rings, uint32_t *ret_count,
                uint32_t *ret_holes)
{
    auto_arena struct arena scratch = {0};
    uint32_t *runs;
    size_t count;
    const char *why;
    double bounds[4];
    if (!rle_decode(&scratch, mask->counts, mask->size[0], mask->size[1], &runs, &count, &why))
        return false;
    rle_box(runs, count, mask->size[0], bounds);
    const int box[4] = {(int)bounds[0], (int)bounds[1], (int)bounds[2], (int)bounds[3]};
    auto_free uint8_t *bits = rle_bits(runs, count, mask->size[0], mask->size[1]);
    struct grid g = {.w = box[2] + 1, .h = box[3] + 1};
    g.edges = base_zalloc((size_t)g.w * (size_t)g.h);
    add_edges(&g, bits, mask, box);
    bool ok = collect(a, &g, box, ret_rings, ret_count, ret_holes);
    free(g.edges);
    return ok;
}
