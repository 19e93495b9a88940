/* A shape as a file has it becomes one that the dataset's type takes. */
#include "codec/geometry.h"
#include "codec/reader.h"

#include <math.h>
#include <stdio.h>

#define COORDINATE_MAX (10.0 * ANNOTATION_MAX_SIDE)

static bool skip(struct reader_sample *s, const char *position, const char *why)
{
    reader_skip(s->r, s->source, str_of(position), "%s", why);
    return false;
}

static void repaired(struct reader_sample *s, const char *position, const char *what)
{
    reader_problem(s->r, CODEC_REPAIRED, s->source, str_of(position), "%s", what);
}

static bool sane(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(v[i]) <= COORDINATE_MAX))
            return false;
    return true;
}

static bool sane_geometry(const struct shape *s)
{
    bool ok = s->kind != SHAPE_BOX || sane((double[]){s->x, s->y, s->w, s->h}, 4);
    ok = ok && (!s->has_box || sane(s->box, 4));
    for (uint32_t i = 0; ok && i < s->ring_count; i++)
        ok = sane(s->rings[i].xy, 2 * (size_t)s->rings[i].count);
    for (uint32_t i = 0; ok && i < s->hole_count; i++)
        ok = sane(s->holes[i].xy, 2 * (size_t)s->holes[i].count);
    for (uint32_t i = 0; ok && i < s->point_count; i++)
        ok = sane(s->points[i], 2);
    return ok;
}

static bool check_label(struct reader_sample *s, struct shape *shape, const char *position)
{
    shape->label = str_trim(shape->label);
    if (!shape->label.n && s->r->type != ANNOTATION_OCR)
        return skip(s, position, "it has no label");
    if (!model_is_label(shape->label))
        return skip(s, position, "its label is not UTF-8 or longer than 200 characters");
    if (shape->has_score && !(shape->score >= 0 && shape->score <= 1)) {
        shape->has_score = false;
        repaired(s, position, "its score is not between 0 and 1 and was left out");
    }
    if (s->r->type != ANNOTATION_OCR)
        shape->text = STR_NULL;
    else if (!utf8_valid(shape->text) || utf8_count(shape->text) > ANNOTATION_MAX_TEXT)
        return skip(s, position, "its text is not UTF-8 or too long");
    return true;
}

static void become_box(struct shape *s)
{
    double box[4];
    geometry_box_of(s, box);
    *s = (struct shape){
        .kind = SHAPE_BOX,
        .crowd = s->crowd,
        .occluded = s->occluded,
        .truncated = s->truncated,
        .has_score = s->has_score,
        .score = s->score,
        .id = s->id,
        .label = s->label,
        .text = s->text,
        .attributes = s->attributes,
        .x = box[0],
        .y = box[1],
        .w = box[2],
        .h = box[3],
        .has_area = s->has_area,
        .area = s->area,
    };
}

/* Four points in the order of corners are a turned box: the first side gives its angle. */
static void become_rotated(struct shape *s)
{
    if (s->ring_count != 1 || s->rings[0].count != 4) {
        become_box(s);
        return;
    }
    const double *p = s->rings[0].xy;
    double w = hypot(p[2] - p[0], p[3] - p[1]), h = hypot(p[4] - p[2], p[5] - p[3]);
    double angle = atan2(p[3] - p[1], p[2] - p[0]) * 180 / M_PI;
    double cx = (p[0] + p[2] + p[4] + p[6]) / 4, cy = (p[1] + p[3] + p[5] + p[7]) / 4;
    become_box(s);
    s->has_area = false;
    s->w = geometry_tidy(w);
    s->h = geometry_tidy(h);
    s->x = geometry_tidy(cx - w / 2);
    s->y = geometry_tidy(cy - h / 2);
    s->angle = geometry_tidy(angle);
    if (s->angle <= -180)
        s->angle += 360;
}

static void become_polygon(struct arena *a, struct shape *s)
{
    double *xy = arena_alloc(a, 8 * sizeof *xy);
    geometry_corners(s, xy);
    s->rings = arena_new(a, struct ring);
    *s->rings = (struct ring){xy, 4};
    s->ring_count = 1;
    s->kind = SHAPE_POLYGON;
    s->has_box = s->has_area = false;
}

static bool to_segmentation(struct reader_sample *s, struct shape *shape, const char *position)
{
    if (shape->kind == SHAPE_KEYPOINTS && !shape->ring_count && !shape->counts.n && !shape->has_box)
        return skip(s, position, "it has points only, and segmentation takes polygons and masks");
    shape->points = NULL;
    shape->point_count = 0;
    if (shape->ring_count || shape->counts.n) {
        shape->kind = shape->ring_count ? SHAPE_POLYGON : SHAPE_MASK;
        return true;
    }
    if (shape->kind == SHAPE_KEYPOINTS)
        become_box(shape);
    if (!(shape->w > 0 && shape->h > 0))
        return skip(s, position, "its box has no width or no height");
    become_polygon(&s->arena, shape);
    repaired(s, position, "it has no outline; its box was taken as a polygon");
    return true;
}

/* Makes the geometry one that the type takes. */
static bool convert(struct reader_sample *s, struct shape *shape, const char *position)
{
    switch (s->r->type) {
    case ANNOTATION_DETECTION:
        if (shape->kind == SHAPE_BOX && shape->angle != 0)
            repaired(s, position, "the rotated box was replaced by the upright box round it");
        if (shape->kind != SHAPE_BOX || shape->angle != 0)
            become_box(shape);
        return true;
    case ANNOTATION_ROTATED:
        if (shape->kind != SHAPE_BOX)
            become_rotated(shape);
        return true;
    case ANNOTATION_SEGMENTATION:
        return to_segmentation(s, shape, position);
    case ANNOTATION_KEYPOINTS:
        if (shape->kind != SHAPE_KEYPOINTS)
            return skip(s, position, "it has no keypoints");
        return true;
    case ANNOTATION_OCR:
        if (shape->kind == SHAPE_MASK || shape->kind == SHAPE_KEYPOINTS)
            become_box(shape);
        return true;
    default:
        break;
    }
    reader_skip(s->r, s->source, str_of(position), "%s takes no shapes", annotation_types[s->r->type].name);
    return false;
}

static bool clip(struct reader_sample *s, struct shape *shape, const char *position)
{
    char why[200];
    if (!s->width || !s->height)
        return true;
    if (shape->counts.n && (shape->size[0] != s->height || shape->size[1] != s->width)) {
        snprintf(why, sizeof why, "its mask is %u x %u pixels, the picture %u x %u", shape->size[1],
                 shape->size[0], s->width, s->height);
        return skip(s, position, why);
    }
    switch (model_clip_shape(&s->arena, shape, s->width, s->height)) {
    case MODEL_GONE:
        snprintf(why, sizeof why, "it lies outside the picture of %u x %u pixels", s->width, s->height);
        return skip(s, position, why);
    case MODEL_CHANGED:
        snprintf(why, sizeof why, "it was clipped at the edge of the picture of %u x %u pixels", s->width,
                 s->height);
        repaired(s, position, why);
        return true;
    default:
        return true;
    }
}

/* Whether an attribute is one of the model's flags, which then has what it says. */
static bool take_flag(struct shape *shape, struct str name, yyjson_val *v)
{
    bool *flag = str_is(name, "occluded")    ? &shape->occluded
                 : str_is(name, "truncated") ? &shape->truncated
                                             : NULL;
    if (!flag || !(yyjson_is_bool(v) || yyjson_is_num(v)))
        return false;
    *flag = yyjson_get_bool(v) || yyjson_get_num(v) != 0;
    return true;
}

/* Files have occluded and truncated among the attributes; shapes have them as flags. */
static void take_flags(struct reader_sample *s, struct shape *shape)
{
    struct str text = shape->attributes;
    struct err ignored;
    if (!text.n || (str_find(text, STR("\"occluded\"")) < 0 && str_find(text, STR("\"truncated\"")) < 0))
        return;
    yyjson_val *attributes = json_parse(&s->arena, text, &ignored), *key, *item;
    auto_buf struct buf rest = {0};
    size_t i, max;
    if (!attributes)
        return;
    yyjson_obj_foreach(attributes, i, max, key, item)
    {
        if (take_flag(shape, json_str(key), item))
            continue;
        buf_char(&rest, rest.n ? ',' : '{');
        model_write_string(&rest, json_str(key));
        buf_char(&rest, ':');
        model_write_value(&rest, item);
    }
    if (rest.n)
        buf_char(&rest, '}');
    shape->attributes = rest.n ? arena_str(&s->arena, buf_view(&rest)) : STR_NULL;
}

bool reader_check_shape(struct reader_sample *s, struct shape *shape, const char *position)
{
    if (!sane_geometry(shape))
        return skip(s, position, "a coordinate is beyond 10000000 or not a number");
    take_flags(s, shape);
    if (!convert(s, shape, position) || !check_label(s, shape, position))
        return false;
    if (shape->kind == SHAPE_BOX && !(shape->w > 0 && shape->h > 0))
        return skip(s, position, "its box has no width or no height");
    if (shape->has_box && !(shape->box[2] >= 0 && shape->box[3] >= 0))
        shape->has_box = false;
    if (shape->has_area && !(shape->area >= 0 && shape->area <= COORDINATE_MAX * COORDINATE_MAX))
        shape->has_area = false;
    return clip(s, shape, position);
}
