#include "codec/geometry.h"

#include "codec/rle.h"

#include <math.h>

void geometry_map(const double m[6], double x, double y, double *ret_x, double *ret_y)
{
    *ret_x = m[0] * x + m[1] * y + m[2];
    *ret_y = m[3] * x + m[4] * y + m[5];
}

double geometry_tidy(double v)
{
    return fabs(v) < 1e9 ? nearbyint(v * 1e6) / 1e6 : v;
}

bool geometry_invert(const double m[6], double ret[6])
{
    for (int i = 0; i < 6; i++)
        if (!(fabs(m[i]) <= 1e9))
            return false;
    double det = m[0] * m[4] - m[1] * m[3];
    if (fabs(det) < 1e-12)
        return false;
    double a = m[4] / det, b = -m[1] / det, d = -m[3] / det, e = m[0] / det;
    double out[6] = {a, b, -(a * m[2] + b * m[5]), d, e, -(d * m[2] + e * m[5])};
    memcpy(ret, out, sizeof out);
    return true;
}

void geometry_corners(const struct shape *box, double ret[8])
{
    double cx = box->x + box->w / 2, cy = box->y + box->h / 2;
    double c = 1, s = 0;
    if (box->angle != 0) {
        c = cos(box->angle * M_PI / 180);
        s = sin(box->angle * M_PI / 180);
    }
    static const double sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int i = 0; i < 4; i++) {
        double dx = sign[i][0] * box->w / 2, dy = sign[i][1] * box->h / 2;
        ret[2 * i] = cx + c * dx - s * dy;
        ret[2 * i + 1] = cy + s * dx + c * dy;
    }
}

void geometry_bounds(const double *xy, size_t n, double ret[4])
{
    double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double x = xy[2 * i], y = xy[2 * i + 1];
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    ret[0] = n ? left : 0;
    ret[1] = n ? top : 0;
    ret[2] = n ? right - left : 0;
    ret[3] = n ? bottom - top : 0;
}

bool geometry_ring_inside(const struct ring *r, double w, double h)
{
    for (uint32_t i = 0; i < r->count; i++) {
        double x = r->xy[2 * i], y = r->xy[2 * i + 1];
        if (x < -GEOMETRY_SLACK || y < -GEOMETRY_SLACK || x > w + GEOMETRY_SLACK || y > h + GEOMETRY_SLACK)
            return false;
    }
    return true;
}

/* Keeps what lies on the inner side of one edge: axis 0 (x) or 1 (y), sign +1 for >= at, -1 for <= at
 * (Sutherland and Hodgman's way). */
static struct ring clip_edge(struct arena *a, struct ring in, int axis, double sign, double at)
{
    struct ring out = {arena_alloc(a, ((size_t)in.count * 2 + 2) * 2 * sizeof(double)), 0};
    for (uint32_t i = 0; i < in.count; i++) {
        const double *p = in.xy + 2 * (size_t)i, *q = in.xy + 2 * (size_t)((i + 1) % in.count);
        double dp = sign * (p[axis] - at), dq = sign * (q[axis] - at);
        if (dp >= 0) {
            memcpy(&out.xy[2 * (size_t)out.count], p, 2 * sizeof *p);
            out.count++;
        }
        if ((dp > 0 && dq < 0) || (dp < 0 && dq > 0)) {
            double t = dp / (dp - dq), *r = out.xy + 2 * (size_t)out.count;
            r[axis] = at;
            r[1 - axis] = geometry_tidy(p[1 - axis] + t * (q[1 - axis] - p[1 - axis]));
            out.count++;
        }
    }
    return out;
}

struct ring geometry_clip_ring(struct arena *a, const struct ring *r, double w, double h)
{
    struct ring out = clip_edge(a, *r, 0, 1, 0);
    out = clip_edge(a, out, 0, -1, w);
    out = clip_edge(a, out, 1, 1, 0);
    out = clip_edge(a, out, 1, -1, h);
    if (out.count < 3 || geometry_ring_area(&out) <= 0)
        out.count = 0;
    return out;
}

double geometry_ring_area(const struct ring *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const double *p = &r->xy[2 * (size_t)i], *q = &r->xy[2 * (size_t)((i + 1) % r->count)];
        sum += p[0] * q[1] - q[0] * p[1];
    }
    return fabs(sum) / 2;
}

static void rings_bounds(const struct shape *s, double ret[4])
{
    double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
    for (uint32_t i = 0; i < s->ring_count; i++) {
        double b[4];
        geometry_bounds(s->rings[i].xy, s->rings[i].count, b);
        left = fmin(left, b[0]);
        top = fmin(top, b[1]);
        right = fmax(right, b[0] + b[2]);
        bottom = fmax(bottom, b[1] + b[3]);
    }
    memcpy(ret, (double[]){left, top, right - left, bottom - top}, 4 * sizeof *ret);
}

/* Runs of a mask; count 0 when damaged, which the model's reader has excluded. */
static uint32_t *runs_of(struct arena *a, const struct shape *s, size_t *ret_count)
{
    uint32_t *runs = NULL;
    const char *why;
    *ret_count = 0;
    rle_decode(a, s->counts, s->size[0], s->size[1], &runs, ret_count, &why);
    return runs;
}

void geometry_box_of(const struct shape *s, double ret[4])
{
    double corners[8];
    if (s->has_box) {
        memcpy(ret, s->box, sizeof s->box);
    } else if (s->kind == SHAPE_BOX && s->angle == 0) {
        memcpy(ret, (double[]){s->x, s->y, s->w, s->h}, 4 * sizeof *ret);
    } else if (s->kind == SHAPE_BOX) {
        geometry_corners(s, corners);
        geometry_bounds(corners, 4, ret);
    } else if (s->ring_count) {
        rings_bounds(s, ret);
    } else if (s->counts.n) {
        auto_arena struct arena a = {0};
        size_t count;
        uint32_t *runs = runs_of(&a, s, &count);
        rle_box(runs, count, s->size[0], ret);
    } else {
        auto_free double *xy = base_alloc(((size_t)s->point_count + 1) * 2 * sizeof *xy);
        size_t n = 0;
        for (uint32_t i = 0; i < s->point_count; i++) {
            if (s->points[i][2] == 0)
                continue;
            memcpy(&xy[2 * n++], s->points[i], 2 * sizeof *xy);
        }
        geometry_bounds(xy, n, ret);
    }
}

double geometry_area_of(const struct shape *s)
{
    if (s->has_area)
        return s->area;
    if (s->kind == SHAPE_BOX)
        return s->w * s->h;
    if (s->ring_count) {
        double sum = 0;
        for (uint32_t i = 0; i < s->ring_count; i++)
            sum += geometry_ring_area(&s->rings[i]);
        for (uint32_t i = 0; i < s->hole_count; i++)
            sum -= geometry_ring_area(&s->holes[i]);
        return sum > 0 ? sum : 0;
    }
    if (s->counts.n) {
        auto_arena struct arena a = {0};
        size_t count;
        uint32_t *runs = runs_of(&a, s, &count);
        return (double)rle_area(runs, count);
    }
    double box[4];
    geometry_box_of(s, box);
    return box[2] * box[3];
}
