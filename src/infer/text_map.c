#include "infer/text_map.h"

#include <math.h>

#define LEAST_SIDE 3 /* cells; smaller places are noise */

struct point {
    double x, y;
};

struct finder {
    struct arena *a;
    const struct task_map *map;
    const struct model_output *out;
    double text;
    uint8_t *seen;
    struct cell {
        uint16_t x, y; /* a map has at most 32768 of each: task_map_of */
    } * stack;
    struct point *edge; /* corners of the first and last cell of each row of a place */
    int32_t *left, *right;
};

static double value(const struct finder *f, uint32_t x, uint32_t y)
{
    return (double)task_activate(f->out, f->map->v[y * f->map->step_y + x * f->map->step_x]);
}

/* Fills one place (cells that touch, also by corners): bounds per row, the mean. */
static void fill(struct finder *f, struct cell start, uint32_t *top, uint32_t *bottom, double *ret_mean)
{
    uint32_t w = f->map->width, h = f->map->height;
    size_t n = 1, count = 0;
    double sum = 0;
    f->stack[0] = start;
    f->seen[(size_t)start.y * w + start.x] = 1;
    *top = *bottom = start.y;
    while (n) {
        uint32_t x = f->stack[--n].x, y = f->stack[n].y;
        sum += value(f, x, y);
        count++;
        *top = y < *top ? y : *top;
        *bottom = y > *bottom ? y : *bottom;
        f->left[y] = f->left[y] < 0 || (int32_t)x < f->left[y] ? (int32_t)x : f->left[y];
        f->right[y] = (int32_t)x > f->right[y] ? (int32_t)x : f->right[y];
        for (uint32_t j = y ? y - 1 : 0; j <= y + 1 && j < h; j++) {
            for (uint32_t i = x ? x - 1 : 0; i <= x + 1 && i < w; i++) {
                size_t next = (size_t)j * w + i;
                if (f->seen[next] || value(f, i, j) <= f->text)
                    continue;
                f->seen[next] = 1;
                f->stack[n++] = (struct cell){(uint16_t)i, (uint16_t)j};
            }
        }
    }
    *ret_mean = count ? sum / (double)count : 0;
}

static int by_place(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

static double turn(const struct point *o, const struct point *p, const struct point *q)
{
    return (p->x - o->x) * (q->y - o->y) - (p->y - o->y) * (q->x - o->x);
}

/* The convex hull, in place of `p`'s copy in `ret` (2 n). */
static size_t hull(struct point *p, size_t n, struct point *ret)
{
    size_t k = 0;
    qsort(p, n, sizeof *p, by_place);
    for (size_t i = 0; i < n; i++) {
        while (k >= 2 && turn(&ret[k - 2], &ret[k - 1], &p[i]) <= 0)
            k--;
        ret[k++] = p[i];
    }
    for (size_t i = n - 1, low = k + 1; i-- > 0;) {
        while (k >= low && turn(&ret[k - 2], &ret[k - 1], &p[i]) <= 0)
            k--;
        ret[k++] = p[i];
    }
    return k > 1 ? k - 1 : k;
}

struct rectangle {
    double cx, cy, ux, uy, w, h; /* middle, direction of w, sides */
};

/* The rectangle of the smallest area; one of its sides lies on the hull. Of equal ones the first. */
static struct rectangle smallest(const struct point *p, size_t n)
{
    struct rectangle best = {.w = INFINITY, .h = INFINITY};
    for (size_t i = 0; i < n; i++) {
        const struct point *q = &p[(i + 1) % n];
        double dx = q->x - p[i].x, dy = q->y - p[i].y, d = hypot(dx, dy);
        if (d < 1e-9)
            continue;
        dx /= d;
        dy /= d;
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (size_t k = 0; k < n; k++) {
            double u = p[k].x * dx + p[k].y * dy, v = p[k].y * dx - p[k].x * dy;
            low[0] = fmin(low[0], u);
            high[0] = fmax(high[0], u);
            low[1] = fmin(low[1], v);
            high[1] = fmax(high[1], v);
        }
        double w = high[0] - low[0], h = high[1] - low[1];
        if (!(w * h < best.w * best.h - 1e-9))
            continue;
        double u = (low[0] + high[0]) / 2, v = (low[1] + high[1]) / 2;
        best = (struct rectangle){u * dx - v * dy, u * dy + v * dx, dx, dy, w, h};
    }
    return best;
}

/* Text runs along the side that is nearest to horizontal. */
static void corners(struct rectangle r, double grow, double ret[8])
{
    while (!(r.ux > 0 && fabs(r.ux) >= fabs(r.uy) - 1e-9)) {
        double ux = r.ux;
        r.ux = -r.uy;
        r.uy = ux;
        double w = r.w;
        r.w = r.h;
        r.h = w;
    }
    double a = r.w / 2 + grow, b = r.h / 2 + grow;
    static const int signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int i = 0; i < 4; i++) {
        ret[2 * i] = r.cx + signs[i][0] * a * r.ux - signs[i][1] * b * r.uy;
        ret[2 * i + 1] = r.cy + signs[i][0] * a * r.uy + signs[i][1] * b * r.ux;
    }
}

static bool box_of(struct finder *f, struct cell start, double least, struct text_box *ret)
{
    uint32_t top, bottom;
    size_t n = 0;
    fill(f, start, &top, &bottom, &ret->score);
    for (uint32_t y = top; y <= bottom; y++) {
        for (int i = 0; i < 4; i++)
            f->edge[n++] = (struct point){i % 2 ? f->right[y] + 1.0 : f->left[y], y + (i > 1 ? 1.0 : 0)};
        f->left[y] = f->right[y] = -1;
    }
    struct point *round = f->edge + n;
    struct rectangle r = smallest(round, hull(f->edge, n, round));
    if (ret->score < least || fmin(r.w, r.h) < LEAST_SIDE)
        return false;
    double grow = r.w * r.h * f->out->unclip / (2 * (r.w + r.h));
    corners(r, grow, ret->xy);
    return true;
}

static int by_reading(const void *a, const void *b)
{
    const struct text_box *p = a, *q = b;
    double py = (p->xy[1] + p->xy[5]) / 2, qy = (q->xy[1] + q->xy[5]) / 2;
    if (py != qy)
        return py < qy ? -1 : 1;
    return (p->xy[0] > q->xy[0]) - (p->xy[0] < q->xy[0]);
}

/* Boxes whose middles lie within half a line of the first are one row: from the left. */
static void reading_order(struct text_box *boxes, size_t n)
{
    qsort(boxes, n, sizeof *boxes, by_reading);
    for (size_t i = 1; i < n; i++) {
        for (size_t k = i; k > 0; k--) {
            const struct text_box *p = &boxes[k - 1], *q = &boxes[k];
            double line = hypot(p->xy[6] - p->xy[0], p->xy[7] - p->xy[1]) / 2;
            double apart = (q->xy[1] + q->xy[5]) / 2 - (p->xy[1] + p->xy[5]) / 2;
            if (fabs(apart) >= line || q->xy[0] >= p->xy[0])
                break;
            struct text_box swap = boxes[k];
            boxes[k] = boxes[k - 1];
            boxes[k - 1] = swap;
        }
    }
}

size_t text_map_boxes(struct arena *a, const struct task_map *map, const struct model_output *o, double text,
                      double score, size_t most, struct text_box **ret)
{
    size_t cells = (size_t)map->width * map->height, n = 0;
    struct finder f = {
        a,    map,  o,   text, arena_array(a, uint8_t, cells), arena_alloc(a, cells * sizeof(struct cell)),
        NULL, NULL, NULL};
    f.edge = arena_alloc(a, sizeof *f.edge * 12 * (map->height + 1));
    f.left = arena_alloc(a, sizeof *f.left * map->height);
    f.right = arena_alloc(a, sizeof *f.right * map->height);
    memset(f.left, -1, sizeof *f.left * map->height);
    memset(f.right, -1, sizeof *f.right * map->height);
    *ret = arena_array(a, struct text_box, most + 1);
    for (uint32_t y = 0; y < map->height; y++)
        for (uint32_t x = 0; x < map->width && n < most; x++)
            if (!f.seen[(size_t)y * map->width + x] && value(&f, x, y) > text)
                n += box_of(&f, (struct cell){(uint16_t)x, (uint16_t)y}, score, &(*ret)[n]);
    reading_order(*ret, n);
    return n;
}
