/* annotation_clip and annotation_transform: shapes that follow their picture. */
#include "codec/geometry.h"
#include "codec/rle.h"

#include <math.h>

struct moving {
    struct arena *a;
    double w, h; /* of the picture they end up in */
    struct annotation_changes changes;
};

static double within(double v, double max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

/* Cuts x, y, w, h at the edge. */
static enum model_fate clip_box(const struct moving *m, double box[4])
{
    double x0 = box[0], y0 = box[1], x1 = x0 + box[2], y1 = y0 + box[3];
    if (!(box[2] > 0 && box[3] > 0) || x1 <= 0 || y1 <= 0 || x0 >= m->w || y0 >= m->h)
        return MODEL_GONE;
    if (x0 >= -GEOMETRY_SLACK && y0 >= -GEOMETRY_SLACK && x1 <= m->w + GEOMETRY_SLACK &&
        y1 <= m->h + GEOMETRY_SLACK)
        return MODEL_KEPT;
    box[0] = within(x0, m->w);
    box[1] = within(y0, m->h);
    box[2] = geometry_tidy(within(x1, m->w) - box[0]);
    box[3] = geometry_tidy(within(y1, m->h) - box[1]);
    return box[2] > 0 && box[3] > 0 ? MODEL_CHANGED : MODEL_GONE;
}

static enum model_fate clip_rotated(const struct moving *m, const struct shape *s)
{
    double corners[8];
    geometry_corners(s, corners);
    struct ring inside = geometry_clip_ring(m->a, &(struct ring){corners, 4}, m->w, m->h);
    return inside.count ? MODEL_KEPT : MODEL_GONE;
}

static enum model_fate clip_rings(struct moving *m, struct ring **rings, uint32_t *count)
{
    enum model_fate fate = MODEL_KEPT;
    uint32_t kept = 0;
    struct ring *out = arena_array(m->a, struct ring, *count);
    for (uint32_t i = 0; i < *count; i++) {
        struct ring r = (*rings)[i];
        if (!geometry_ring_inside(&r, m->w, m->h)) {
            r = geometry_clip_ring(m->a, &r, m->w, m->h);
            fate = MODEL_CHANGED;
        }
        if (r.count)
            out[kept++] = r;
    }
    *rings = out;
    *count = kept;
    return kept ? fate : MODEL_GONE;
}

/* A hole that lies outside says nothing any more. */
static enum model_fate clip_polygon(struct moving *m, struct shape *s)
{
    enum model_fate fate = clip_rings(m, &s->rings, &s->ring_count);
    if (fate != MODEL_GONE && s->hole_count && clip_rings(m, &s->holes, &s->hole_count) != MODEL_KEPT)
        fate = MODEL_CHANGED;
    return fate;
}

static enum model_fate clip_points(const struct moving *m, struct shape *s)
{
    enum model_fate fate = MODEL_KEPT;
    bool any = false;
    for (uint32_t i = 0; i < s->point_count; i++) {
        double *p = s->points[i];
        if (p[2] == 0)
            continue;
        if (p[0] < -GEOMETRY_SLACK || p[1] < -GEOMETRY_SLACK || p[0] > m->w + GEOMETRY_SLACK ||
            p[1] > m->h + GEOMETRY_SLACK) {
            memset(p, 0, 3 * sizeof *p);
            fate = MODEL_CHANGED;
        } else {
            any = true;
        }
    }
    /* A person without any labelled point is still there by its box; one whose points all left is gone. */
    return any || fate == MODEL_KEPT ? fate : MODEL_GONE;
}

static enum model_fate clip_geometry(struct moving *m, struct shape *s)
{
    if (s->kind == SHAPE_BOX && s->angle != 0)
        return clip_rotated(m, s);
    if (s->kind == SHAPE_BOX) {
        double box[4] = {s->x, s->y, s->w, s->h};
        enum model_fate fate = clip_box(m, box);
        s->x = box[0];
        s->y = box[1];
        s->w = box[2];
        s->h = box[3];
        return fate;
    }
    if (s->kind == SHAPE_MASK)
        return MODEL_KEPT;
    if (s->kind == SHAPE_POLYGON)
        return clip_polygon(m, s);
    enum model_fate fate = clip_points(m, s);
    if (s->ring_count && clip_rings(m, &s->rings, &s->ring_count) != MODEL_KEPT && fate == MODEL_KEPT)
        fate = MODEL_CHANGED;
    return fate;
}

static enum model_fate clip_shape(struct moving *m, struct shape *s)
{
    enum model_fate fate = clip_geometry(m, s);
    if (fate == MODEL_CHANGED)
        s->has_area = false;
    if (fate == MODEL_CHANGED && s->kind == SHAPE_POLYGON)
        s->has_box = false;
    if (!s->has_box || fate == MODEL_GONE)
        return fate;
    enum model_fate hint = clip_box(m, s->box);
    if (hint == MODEL_GONE)
        s->has_box = false;
    return hint == MODEL_KEPT ? fate : MODEL_CHANGED;
}

enum model_fate model_clip_shape(struct arena *a, struct shape *s, double w, double h)
{
    return clip_shape(&(struct moving){.a = a, .w = w, .h = h}, s);
}

static void clip_shapes(struct moving *m, struct annotation *n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->shape_count; i++) {
        enum model_fate fate = clip_shape(m, &n->shapes[i]);
        m->changes.changed += fate == MODEL_CHANGED;
        m->changes.dropped += fate == MODEL_GONE;
        if (fate != MODEL_GONE)
            n->shapes[kept++] = n->shapes[i];
    }
    n->shape_count = kept;
}

bool annotation_clip(struct arena *a, struct str json, uint32_t w, uint32_t h, struct str *ret_json,
                     struct annotation_changes *ret_changes, struct err *err)
{
    struct annotation n;
    if (!model_parse(a, MODEL_ANY, json, &n, err))
        return false;
    for (uint32_t i = 0; i < n.shape_count; i++) {
        const struct shape *s = &n.shapes[i];
        if (s->counts.n && (s->size[0] != h || s->size[1] != w))
            return err_set(err, ERR_INVALID, "size",
                           "shapes[%u] is a mask of %u x %u pixels; the picture has %u x %u", i, s->size[1],
                           s->size[0], w, h);
    }
    struct moving m = {.a = a, .w = w, .h = h};
    clip_shapes(&m, &n);
    *ret_json = model_text(a, &n);
    if (ret_changes)
        *ret_changes = m.changes;
    return true;
}

/* ---- transform ---- */

static void map_pair(const double m[6], double *xy)
{
    double x, y;
    geometry_map(m, xy[0], xy[1], &x, &y);
    xy[0] = geometry_tidy(x);
    xy[1] = geometry_tidy(y);
}

/* The upright box round the mapped corners of x, y, w, h. */
static void map_bounds(const double m[6], double box[4])
{
    double c[8] = {box[0],          box[1],          box[0] + box[2], box[1],
                   box[0] + box[2], box[1] + box[3], box[0],          box[1] + box[3]};
    for (int i = 0; i < 4; i++)
        map_pair(m, &c[2 * i]);
    geometry_bounds(c, 4, box);
}

/* A turned box stays one: its middle is mapped, its sides' vectors give size and angle. */
static void map_rotated(const double m[6], struct shape *s)
{
    double cx, cy, c = cos(s->angle * M_PI / 180), n = sin(s->angle * M_PI / 180);
    geometry_map(m, s->x + s->w / 2, s->y + s->h / 2, &cx, &cy);
    double ux = m[0] * c + m[1] * n, uy = m[3] * c + m[4] * n;
    double vx = -m[0] * n + m[1] * c, vy = -m[3] * n + m[4] * c;
    s->w *= hypot(ux, uy);
    s->h *= hypot(vx, vy);
    s->angle = atan2(uy, ux) * 180 / M_PI;
    s->angle = geometry_tidy(s->angle);
    if (s->angle <= -180)
        s->angle += 360;
    s->x = geometry_tidy(cx - s->w / 2);
    s->y = geometry_tidy(cy - s->h / 2);
    s->w = geometry_tidy(s->w);
    s->h = geometry_tidy(s->h);
}

static void map_upright(const double m[6], struct shape *s)
{
    double corners[8], box[4];
    geometry_corners(s, corners);
    for (int i = 0; i < 4; i++)
        map_pair(m, &corners[2 * i]);
    geometry_bounds(corners, 4, box);
    s->x = box[0];
    s->y = box[1];
    s->w = geometry_tidy(box[2]);
    s->h = geometry_tidy(box[3]);
    s->angle = 0;
}

/* Each pixel of the new picture takes the value of the old one's pixel under its middle. Only columns and
 * rows that the old mask's box can reach are looked at. Empty counts when nothing is left. */
static void map_mask(struct moving *mv, const double m[6], const double inverse[6], struct shape *s)
{
    auto_arena struct arena scratch = {0};
    uint32_t *runs, w = (uint32_t)mv->w, h = (uint32_t)mv->h;
    size_t count;
    const char *why;
    if (!rle_decode(&scratch, s->counts, s->size[0], s->size[1], &runs, &count, &why))
        return;
    double box[4];
    rle_box(runs, count, s->size[0], box);
    map_bounds(m, box);
    uint32_t x0 = (uint32_t)within(floor(box[0]), w), x1 = (uint32_t)within(ceil(box[0] + box[2]), w);
    uint32_t y0 = (uint32_t)within(floor(box[1]), h), y1 = (uint32_t)within(ceil(box[1] + box[3]), h);
    auto_free uint8_t *bits = rle_bits(runs, count, s->size[0], s->size[1]);
    struct rle_builder b;
    rle_builder_init(&b, &scratch);
    rle_builder_add(&b, false, (uint64_t)x0 * h);
    for (uint32_t x = x0; x < x1; x++) {
        rle_builder_add(&b, false, y0);
        for (uint32_t y = y0; y < y1; y++) {
            double sx, sy;
            geometry_map(inverse, x + 0.5, y + 0.5, &sx, &sy);
            bool in = sx >= 0 && sy >= 0 && sx < s->size[1] && sy < s->size[0];
            rle_builder_add(&b, in && rle_bit(bits, (uint64_t)sx * s->size[0] + (uint64_t)sy), 1);
        }
        rle_builder_add(&b, false, h - y1);
    }
    rle_builder_add(&b, false, (uint64_t)(w - x1) * h);
    bool empty = rle_area(b.runs, b.count) == 0;
    s->counts = empty ? STR_NULL : rle_encode(mv->a, b.runs, b.count);
    s->size[0] = h;
    s->size[1] = w;
}

static void map_rings(const double m[6], struct ring *rings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < rings[i].count; k++)
            map_pair(m, rings[i].xy + 2 * (size_t)k);
}

static void map_shape(struct moving *mv, enum annotation_type type, const double m[6],
                      const double inverse[6], struct shape *s)
{
    s->has_area = false;
    if (s->has_box && s->kind == SHAPE_KEYPOINTS)
        map_bounds(m, s->box);
    else
        s->has_box = false;
    if (s->kind == SHAPE_BOX && (type == ANNOTATION_ROTATED || (type == ANNOTATION_OCR && s->angle != 0)))
        map_rotated(m, s);
    else if (s->kind == SHAPE_BOX)
        map_upright(m, s);
    map_rings(m, s->rings, s->ring_count);
    map_rings(m, s->holes, s->hole_count);
    for (uint32_t i = 0; i < s->point_count; i++)
        if (s->points[i][2] != 0)
            map_pair(m, s->points[i]);
    if (s->counts.n)
        map_mask(mv, m, inverse, s);
}

bool annotation_transform(struct arena *a, enum annotation_type type, struct str json, const double m[6],
                          uint32_t w, uint32_t h, struct str *ret_json,
                          struct annotation_changes *ret_changes, struct err *err)
{
    struct annotation n;
    double inverse[6];
    if (!model_parse(a, type, json, &n, err))
        return false;
    if (!geometry_invert(m, inverse))
        return err_set(err, ERR_INVALID, "matrix", "the matrix has no inverse");
    if ((uint64_t)w * h > ANNOTATION_MAX_PIXELS)
        return err_set(err, ERR_INVALID, "size", "a picture of %u x %u pixels is too large", w, h);
    struct moving mv = {.a = a, .w = w, .h = h};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n.shape_count; i++) {
        struct shape *s = &n.shapes[i];
        map_shape(&mv, type, m, inverse, s);
        if (s->kind == SHAPE_MASK && !s->counts.n)
            mv.changes.dropped++;
        else
            n.shapes[kept++] = *s;
    }
    n.shape_count = kept;
    clip_shapes(&mv, &n);
    struct str moved = model_text(a, &n);
    /* A mad matrix moves coordinates out of all bounds: what is returned is always valid. */
    if (!annotation_check(a, type, moved, &moved, err))
        return false;
    *ret_json = moved;
    if (ret_changes)
        *ret_changes = mv.changes;
    return true;
}
