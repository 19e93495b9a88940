/* The geometry of one COCO annotation. */
#include "codec/coco.h"
#include "codec/geometry.h"
#include "codec/rle.h"

#include "base/json.h"

#include <math.h>

static bool numbers(yyjson_val *list, double *ret)
{
    size_t i, max;
    yyjson_val *v;
    yyjson_arr_foreach(list, i, max, v)
    {
        if (!yyjson_is_num(v))
            return false;
        ret[i] = yyjson_get_num(v);
    }
    return true;
}

static bool read_bbox(yyjson_val *v, double ret[4], const char **ret_why)
{
    if (!yyjson_is_arr(v) || yyjson_arr_size(v) != 4 || !numbers(v, ret)) {
        *ret_why = "bbox is not a list of four numbers";
        return false;
    }
    return true;
}

static bool read_rings(struct arena *a, yyjson_val *v, struct shape *s, const char **ret_why)
{
    size_t i, max, n = yyjson_arr_size(v), points = 0;
    yyjson_val *item;
    s->rings = arena_array(a, struct ring, n + 1);
    yyjson_arr_foreach(v, i, max, item)
    {
        size_t count = yyjson_arr_size(item);
        if (!yyjson_is_arr(item) || count % 2 || count < 6) {
            *ret_why = "segmentation has a ring that is not an even list of at least 6 numbers";
            return false;
        }
        points += count / 2;
        double *xy = arena_alloc(a, count * sizeof *xy);
        if (points > ANNOTATION_MAX_POINTS || !numbers(item, xy)) {
            *ret_why = "segmentation has something that is not a number, or too many points";
            return false;
        }
        s->rings[s->ring_count++] = (struct ring){xy, (uint32_t)(count / 2)};
    }
    return true;
}

/* Uncompressed counts: a list of run lengths. */
static bool plain_runs(struct arena *a, yyjson_val *v, struct shape *s, const char **ret_why)
{
    size_t i, max, n = yyjson_arr_size(v);
    uint32_t *runs = arena_array(a, uint32_t, n + 1);
    yyjson_val *item;
    *ret_why = "segmentation.counts is not a list of run lengths";
    yyjson_arr_foreach(v, i, max, item)
    {
        double x = yyjson_get_num(item);
        if (!yyjson_is_num(item) || !(x >= 0 && x <= ANNOTATION_MAX_PIXELS) || x != floor(x))
            return false;
        runs[i] = (uint32_t)x;
    }
    if (!rle_normalise(runs, &n, s->size[0], s->size[1], ret_why))
        return false;
    s->counts = rle_encode(a, runs, n);
    return true;
}

static bool read_mask(struct arena *a, yyjson_val *v, struct shape *s, const char **ret_why)
{
    double size[2];
    yyjson_val *list = yyjson_obj_get(v, "size"), *counts = yyjson_obj_get(v, "counts");
    *ret_why = "segmentation.size is not [height, width]";
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) != 2 || !numbers(list, size))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!(size[i] >= 1 && size[i] <= ANNOTATION_MAX_SIDE) || size[i] != floor(size[i]))
            return false;
        s->size[i] = (uint32_t)size[i];
    }
    if (size[0] * size[1] > ANNOTATION_MAX_PIXELS)
        return false;
    if (yyjson_is_arr(counts))
        return plain_runs(a, counts, s, ret_why);
    struct str text = json_str(counts);
    uint32_t *runs;
    size_t count;
    *ret_why = "segmentation.counts is missing";
    if (!text.p || !rle_decode(a, text, s->size[0], s->size[1], &runs, &count, ret_why))
        return false;
    s->counts = rle_encode(a, runs, count);
    return true;
}

static bool read_segmentation(struct arena *a, yyjson_val *v, struct shape *s, const char **ret_why)
{
    if (yyjson_is_obj(v))
        return read_mask(a, v, s, ret_why);
    if (yyjson_is_arr(v))
        return read_rings(a, v, s, ret_why);
    *ret_why = "segmentation is neither a list of rings nor run lengths";
    return false;
}

static bool read_keypoints(struct arena *a, yyjson_val *v, struct shape *s, const char **ret_why)
{
    size_t n = yyjson_arr_size(v);
    *ret_why = "keypoints is not a list of x, y, visibility";
    if (!yyjson_is_arr(v) || n == 0 || n % 3 || n > 3 * ANNOTATION_MAX_POINTS)
        return false;
    s->points = arena_alloc(a, n * sizeof(double));
    s->point_count = (uint32_t)(n / 3);
    if (!numbers(v, s->points[0]))
        return false;
    for (uint32_t i = 0; i < s->point_count; i++) {
        double seen = s->points[i][2];
        if (seen != 0 && seen != 1 && seen != 2) {
            *ret_why = "keypoints has a visibility that is not 0, 1 or 2";
            return false;
        }
    }
    return true;
}

static bool about(double a, double b)
{
    return fabs(a - b) <= 1e-6;
}

/* Keeps the file's box and area only where the geometry does not say the same. */
static void keep_hints(struct shape *s, const double bbox[4], bool has_bbox, yyjson_val *area)
{
    double own[4];
    if (has_bbox && s->kind != SHAPE_BOX) {
        if (s->kind == SHAPE_POLYGON)
            geometry_box_of(s, own);
        bool same = s->kind == SHAPE_POLYGON;
        for (int i = 0; same && i < 4; i++)
            same = about(own[i], bbox[i]);
        if (!same)
            memcpy(s->box, bbox, sizeof s->box);
        s->has_box = !same;
    }
    if (!yyjson_is_num(area))
        return;
    double v = yyjson_get_num(area);
    if (s->kind == SHAPE_BOX && about(v, s->w * s->h))
        return;
    s->area = v;
    s->has_area = true;
}

/* A rectangle drawn as a polygon is still the box. */
static bool is_rectangle(const struct shape *s, const double bbox[4])
{
    if (s->ring_count != 1 || s->rings[0].count != 4)
        return false;
    const double *p = s->rings[0].xy;
    for (int i = 0; i < 4; i++) {
        bool x = about(p[2 * i], bbox[0]) || about(p[2 * i], bbox[0] + bbox[2]);
        bool y = about(p[2 * i + 1], bbox[1]) || about(p[2 * i + 1], bbox[1] + bbox[3]);
        if (!x || !y)
            return false;
    }
    return true;
}

static bool non_empty(yyjson_val *v)
{
    return yyjson_is_ctn(v) && (yyjson_is_obj(v) ? yyjson_obj_size(v) : yyjson_arr_size(v));
}

bool coco_shape(struct arena *a, enum annotation_type type, const struct coco_fields *f, struct shape *ret,
                const char **ret_why)
{
    struct shape s = {.kind = SHAPE_BOX};
    double bbox[4];
    bool has_bbox = non_empty(f->bbox), outline = non_empty(f->segmentation);
    if (has_bbox && !read_bbox(f->bbox, bbox, ret_why))
        return false;
    if (type == ANNOTATION_KEYPOINTS) {
        if (!f->keypoints) {
            *ret_why = "it has no keypoints";
            return false;
        }
        s.kind = SHAPE_KEYPOINTS;
        if (!read_keypoints(a, f->keypoints, &s, ret_why))
            return false;
    }
    /* Detection needs the outline only when there is no box. */
    if (outline && (type != ANNOTATION_DETECTION || !has_bbox)) {
        if (!read_segmentation(a, f->segmentation, &s, ret_why))
            return false;
        if (s.kind != SHAPE_KEYPOINTS)
            s.kind = s.ring_count ? SHAPE_POLYGON : SHAPE_MASK;
        if (type == ANNOTATION_OCR && has_bbox && is_rectangle(&s, bbox)) {
            s.kind = SHAPE_BOX;
            s.ring_count = 0;
        }
    }
    if (s.kind == SHAPE_BOX && !has_bbox) {
        *ret_why = "it has neither bbox nor segmentation";
        return false;
    }
    if (s.kind == SHAPE_BOX) {
        s.x = bbox[0];
        s.y = bbox[1];
        s.w = bbox[2];
        s.h = bbox[3];
    }
    keep_hints(&s, bbox, has_bbox, f->area);
    *ret = s;
    return true;
}
