#include "base/json.h"
#include "base/messages.h"
#include "codec/model.h"
#include "codec/rle.h"

#include <math.h>
#include <stdio.h>

#define COORDINATE_MAX (10.0 * ANNOTATION_MAX_SIDE)

const char *const shape_kind_names[] = {"box", "polygon", "mask", "keypoints"};

enum {
    TAKES_LABEL = 1,  /* one entry of `labels` */
    TAKES_LABELS = 2, /* any number */
    TAKES_SPANS = 4,
    TAKES_SEGMENTS = 8,
    TAKES_TEXT = 16,       /* the sample's text */
    TAKES_SHAPE_TEXT = 32, /* text of shapes; their label may be absent */
    TAKES_ANGLE = 64,
};

/* What each type may hold. */
static const struct rule {
    unsigned takes, kinds;
} rules[] = {
    [ANNOTATION_IMAGE_CLASS] = {TAKES_LABEL, 0},
    [ANNOTATION_IMAGE_CLASSES] = {TAKES_LABELS, 0},
    [ANNOTATION_DETECTION] = {0, 1 << SHAPE_BOX},
    [ANNOTATION_ROTATED] = {TAKES_ANGLE, 1 << SHAPE_BOX},
    [ANNOTATION_SEGMENTATION] = {0, 1 << SHAPE_POLYGON | 1 << SHAPE_MASK},
    [ANNOTATION_KEYPOINTS] = {0, 1 << SHAPE_KEYPOINTS},
    [ANNOTATION_OCR] = {TAKES_SHAPE_TEXT | TAKES_ANGLE, 1 << SHAPE_BOX | 1 << SHAPE_POLYGON},
    [ANNOTATION_TEXT_CLASS] = {TAKES_LABELS, 0},
    [ANNOTATION_TEXT_SPANS] = {TAKES_LABELS | TAKES_SPANS, 0},
    [ANNOTATION_AUDIO_CLASS] = {TAKES_LABELS, 0},
    [ANNOTATION_TRANSCRIPTION] = {TAKES_LABELS | TAKES_SEGMENTS | TAKES_TEXT, 0},
    [MODEL_ANY] = {~(unsigned)TAKES_LABEL, ~0U},
};

struct reading {
    struct arena *a;
    const struct rule *rule;
    enum annotation_type type;
    char where[64]; /* "shapes[3]." */
    uint32_t points;
    struct err *err;
};

bool model_takes_shape(enum annotation_type type, enum shape_kind kind)
{
    return rules[type].kinds >> kind & 1;
}

bool model_takes_labels(enum annotation_type type)
{
    return rules[type].takes & (TAKES_LABEL | TAKES_LABELS);
}

bool model_takes_one_label(enum annotation_type type)
{
    return rules[type].takes & TAKES_LABEL;
}

bool model_takes_text(enum annotation_type type)
{
    return rules[type].takes & TAKES_TEXT;
}

enum model_list model_list_of(enum annotation_type type)
{
    const struct rule *r = &rules[type];
    return r->kinds                    ? MODEL_SHAPES
           : r->takes & TAKES_SPANS    ? MODEL_SPANS
           : r->takes & TAKES_SEGMENTS ? MODEL_SEGMENTS
                                       : MODEL_NO_LIST;
}

struct path {
    char name[64];
};

static struct path path_of(const struct reading *r, const char *member)
{
    struct path ret;
    snprintf(ret.name, sizeof ret.name, "%s%s", r->where, member);
    size_t n = strlen(ret.name);
    if (!*member && n && ret.name[n - 1] == '.')
        ret.name[n - 1] = 0;
    return ret;
}

static bool refuse(struct reading *r, const char *member, const char *rule)
{
    struct path at = path_of(r, member);
    const char *path = at.name;
    return err_set(r->err, ERR_INVALID, path, "%s %s", *path ? path : "the annotation", rule);
}

static bool read_real(struct reading *r, const char *member, yyjson_val *v, double min, double max,
                      double *ret)
{
    if (!yyjson_is_num(v))
        return refuse(r, member, v ? "must be a number" : "is missing");
    double x = yyjson_get_num(v);
    struct path at = path_of(r, member);
    if (!(x >= min && x <= max))
        return err_message(r->err, ERR_INVALID, at.name, MESSAGE_NUMBER_RANGE, at.name, x, min, max);
    *ret = x;
    return true;
}

/* A string of at most max characters; absent leaves *ret. */
static bool read_string(struct reading *r, const char *member, yyjson_val *v, size_t max, struct str *ret)
{
    if (!v || yyjson_is_null(v))
        return true;
    struct str s = json_str(v);
    struct path at = path_of(r, member);
    if (!s.p)
        return refuse(r, member, "must be a string");
    if (utf8_count(s) > max)
        return err_message(r->err, ERR_INVALID, at.name, MESSAGE_TEXT_LONG, at.name, max);
    *ret = s;
    return true;
}

bool model_is_label(struct str s)
{
    return utf8_valid(s) && utf8_count(s) <= ANNOTATION_MAX_LABEL && !(s.n && memchr(s.p, 0, s.n));
}

static bool read_label(struct reading *r, const char *member, yyjson_val *v, bool needed, struct str *ret)
{
    struct str s = STR_NULL;
    if (!read_string(r, member, v, ANNOTATION_MAX_LABEL, &s))
        return false;
    if (!model_is_label(s))
        return refuse(r, member, "must not have a NUL character");
    if (needed && str_trim(s).n == 0)
        return refuse(r, member, s.p ? "must not be empty" : "is missing");
    *ret = s.n ? s : STR_NULL;
    return true;
}

static int depth_of(yyjson_val *v, int limit)
{
    if (!yyjson_is_ctn(v) || limit == 0)
        return 0;
    int deepest = 0;
    size_t i, max;
    yyjson_val *key, *child;
    if (yyjson_is_obj(v)) {
        yyjson_obj_foreach(v, i, max, key, child)
        {
            int d = depth_of(child, limit - 1);
            deepest = d > deepest ? d : deepest;
        }
    } else {
        yyjson_arr_foreach(v, i, max, child)
        {
            int d = depth_of(child, limit - 1);
            deepest = d > deepest ? d : deepest;
        }
    }
    return deepest + 1;
}

enum { ATTRIBUTES_DEPTH = 8 };

static bool canonical_value(struct arena *a, yyjson_val *v, struct str *ret, const char **ret_why)
{
    auto_buf struct buf b = {0};
    *ret_why = !model_write_value(&b, v)    ? "has a key twice"
               : b.n > MODEL_MAX_ATTRIBUTES ? "is larger than 64 KiB"
                                            : NULL;
    if (*ret_why)
        return false;
    *ret = arena_str(a, buf_view(&b));
    return true;
}

bool model_attributes(struct arena *a, yyjson_val *v, struct str *ret, const char **ret_why)
{
    *ret = STR_NULL;
    if (!v || yyjson_is_null(v) || (yyjson_is_obj(v) && yyjson_obj_size(v) == 0))
        return true;
    *ret_why = !yyjson_is_obj(v)                                      ? "must be an object"
               : depth_of(v, ATTRIBUTES_DEPTH + 1) > ATTRIBUTES_DEPTH ? "is nested deeper than 8 levels"
                                                                      : NULL;
    return !*ret_why && canonical_value(a, v, ret, ret_why);
}

bool model_attribute(struct arena *a, yyjson_val *v, struct str *ret, const char **ret_why)
{
    *ret_why = depth_of(v, ATTRIBUTES_DEPTH) > ATTRIBUTES_DEPTH - 1 ? "is nested deeper than 7 levels" : NULL;
    return !*ret_why && canonical_value(a, v, ret, ret_why);
}

static bool read_attributes(struct reading *r, yyjson_val *v, struct str *ret)
{
    const char *why;
    return model_attributes(r->a, v, ret, &why) || refuse(r, "attributes", why);
}

static bool read_score(struct reading *r, yyjson_val *v, bool *ret_has, double *ret)
{
    if (!v || yyjson_is_null(v))
        return true;
    *ret_has = true;
    return read_real(r, "score", v, 0, 1, ret);
}

static bool read_box(struct reading *r, yyjson_val *v, struct shape *s)
{
    if (!read_real(r, "x", yyjson_obj_get(v, "x"), -COORDINATE_MAX, COORDINATE_MAX, &s->x) ||
        !read_real(r, "y", yyjson_obj_get(v, "y"), -COORDINATE_MAX, COORDINATE_MAX, &s->y) ||
        !read_real(r, "w", yyjson_obj_get(v, "w"), 0, COORDINATE_MAX, &s->w) ||
        !read_real(r, "h", yyjson_obj_get(v, "h"), 0, COORDINATE_MAX, &s->h))
        return false;
    if (s->w == 0 || s->h == 0) {
        struct path at = path_of(r, s->w == 0 ? "w" : "h");
        return err_message(r->err, ERR_INVALID, at.name, MESSAGE_NUMBER_ZERO, at.name);
    }
    yyjson_val *angle = yyjson_obj_get(v, "angle");
    if (!angle || yyjson_is_null(angle))
        return true;
    if (!read_real(r, "angle", angle, -360, 360, &s->angle))
        return false;
    if (s->angle > 180)
        s->angle -= 360;
    else if (s->angle <= -180)
        s->angle += 360;
    if (s->angle != 0 && !(r->rule->takes & TAKES_ANGLE))
        return refuse(r, "angle", "must be 0: this type has upright boxes");
    return true;
}

static bool count_points(struct reading *r, const char *member, size_t more)
{
    if (more > ANNOTATION_MAX_POINTS - r->points)
        return refuse(r, member, "has too many points: at most 1000000 in one annotation");
    r->points += (uint32_t)more;
    return true;
}

static bool read_ring(struct reading *r, const char *list, size_t index, yyjson_val *v, struct ring *ret)
{
    char member[60];
    snprintf(member, sizeof member, "%s[%zu]", list, index);
    size_t n = yyjson_arr_size(v), i, max;
    if (!yyjson_is_arr(v) || n < 6 || n % 2)
        return refuse(r, member, "must be an even list of at least 6 numbers: x, y, x, y, x, y");
    if (!count_points(r, member, n / 2))
        return false;
    ret->xy = arena_alloc(r->a, n * sizeof(double));
    ret->count = (uint32_t)(n / 2);
    yyjson_val *item;
    yyjson_arr_foreach(v, i, max, item)
    {
        if (yyjson_is_num(item) && fabs(yyjson_get_num(item)) <= COORDINATE_MAX) {
            ret->xy[i] = yyjson_get_num(item);
            continue;
        }
        snprintf(member, sizeof member, "%s[%zu][%zu]", list, index, i);
        return read_real(r, member, item, -COORDINATE_MAX, COORDINATE_MAX, &ret->xy[i]);
    }
    return true;
}

static bool read_rings(struct reading *r, const char *member, yyjson_val *v, struct ring **ret,
                       uint32_t *ret_count)
{
    size_t n = yyjson_arr_size(v), i, max;
    if (!yyjson_is_arr(v) || n == 0)
        return refuse(r, member, "must be a list of at least one ring");
    if (n > ANNOTATION_MAX_SHAPES)
        return refuse(r, member, "has more than 20000 rings");
    struct ring *rings = arena_array(r->a, struct ring, n);
    yyjson_val *item;
    yyjson_arr_foreach(v, i, max, item)
    {
        if (!read_ring(r, member, i, item, &rings[i]))
            return false;
    }
    *ret = rings;
    *ret_count = (uint32_t)n;
    return true;
}

/* Holes may be absent, null or an empty list. */
static bool read_polygon(struct reading *r, yyjson_val *v, struct shape *s)
{
    yyjson_val *holes = yyjson_obj_get(v, "holes");
    bool none = !holes || yyjson_is_null(holes) || (yyjson_is_arr(holes) && yyjson_arr_size(holes) == 0);
    return read_rings(r, "rings", yyjson_obj_get(v, "rings"), &s->rings, &s->ring_count) &&
           (none || read_rings(r, "holes", holes, &s->holes, &s->hole_count));
}

static bool read_mask(struct reading *r, yyjson_val *v, struct shape *s)
{
    yyjson_val *size = yyjson_obj_get(v, "size");
    struct str counts = json_str(yyjson_obj_get(v, "counts"));
    double side[2];
    if (!yyjson_is_arr(size) || yyjson_arr_size(size) != 2)
        return refuse(r, "size", "must be [height, width]");
    for (size_t i = 0; i < 2; i++) {
        if (!read_real(r, "size", yyjson_arr_get(size, i), 1, ANNOTATION_MAX_SIDE, &side[i]))
            return false;
        if (side[i] != floor(side[i]))
            return refuse(r, "size", "must be whole numbers");
        s->size[i] = (uint32_t)side[i];
    }
    if (side[0] * side[1] > ANNOTATION_MAX_PIXELS)
        return refuse(r, "size", "has too many pixels");
    if (!counts.p)
        return refuse(r, "counts", "must be a string of compressed run lengths");
    uint32_t *runs;
    size_t count;
    const char *why;
    if (!rle_decode(r->a, counts, s->size[0], s->size[1], &runs, &count, &why))
        return refuse(r, "counts", why);
    s->counts = rle_encode(r->a, runs, count);
    return true;
}

static bool read_points(struct reading *r, yyjson_val *v, struct shape *s)
{
    size_t n = yyjson_arr_size(v), i, max;
    if (!yyjson_is_arr(v) || n == 0)
        return refuse(r, "points", "must be a list of [x, y, visibility]");
    if (!count_points(r, "points", n))
        return false;
    s->points = arena_alloc(r->a, n * sizeof *s->points);
    s->point_count = (uint32_t)n;
    yyjson_val *item;
    yyjson_arr_foreach(v, i, max, item)
    {
        char member[40];
        snprintf(member, sizeof member, "points[%zu]", i);
        double *p = s->points[i];
        if (!yyjson_is_arr(item) || yyjson_arr_size(item) != 3)
            return refuse(r, member, "must be [x, y, visibility]");
        if (!read_real(r, member, yyjson_arr_get(item, 0), -COORDINATE_MAX, COORDINATE_MAX, &p[0]) ||
            !read_real(r, member, yyjson_arr_get(item, 1), -COORDINATE_MAX, COORDINATE_MAX, &p[1]) ||
            !read_real(r, member, yyjson_arr_get(item, 2), 0, 2, &p[2]))
            return false;
        if (p[2] != 0 && p[2] != 1 && p[2] != 2)
            return refuse(r, member, "has a visibility that is not 0, 1 or 2");
    }
    return true;
}

static bool read_geometry(struct reading *r, yyjson_val *v, struct shape *s)
{
    switch (s->kind) {
    case SHAPE_BOX:
        return read_box(r, v, s);
    case SHAPE_POLYGON:
        return read_polygon(r, v, s);
    case SHAPE_MASK:
        return read_mask(r, v, s);
    default:
        break;
    }
    yyjson_val *rings = yyjson_obj_get(v, "rings"), *counts = yyjson_obj_get(v, "counts");
    return read_points(r, yyjson_obj_get(v, "points"), s) &&
           (!rings || read_rings(r, "rings", rings, &s->rings, &s->ring_count)) &&
           (!counts || read_mask(r, v, s));
}

/* The box and the area that a file gave beside the geometry. */
static bool read_hints(struct reading *r, yyjson_val *v, struct shape *s)
{
    yyjson_val *area = yyjson_obj_get(v, "area"), *box = yyjson_obj_get(v, "box");
    if (area && !yyjson_is_null(area)) {
        s->has_area = true;
        if (!read_real(r, "area", area, 0, COORDINATE_MAX * COORDINATE_MAX, &s->area))
            return false;
    }
    if (!box || yyjson_is_null(box))
        return true;
    if (!yyjson_is_arr(box) || yyjson_arr_size(box) != 4 || s->kind == SHAPE_BOX)
        return refuse(r, "box",
                      s->kind == SHAPE_BOX ? "does not belong to a box" : "must be [x, y, width, height]");
    for (size_t i = 0; i < 4; i++)
        if (!read_real(r, "box", yyjson_arr_get(box, i), i < 2 ? -COORDINATE_MAX : 0, COORDINATE_MAX,
                       &s->box[i]))
            return false;
    s->has_box = true;
    return true;
}

/* Members that a shape of each kind may have: a mistyped one is an error, not lost. */
static bool known_shape_member(struct str key, enum shape_kind kind)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } members[] = {
        {"type", ~0U},
        {"id", ~0U},
        {"label", ~0U},
        {"score", ~0U},
        {"attributes", ~0U},
        {"crowd", ~0U},
        {"occluded", ~0U},
        {"truncated", ~0U},
        {"area", ~0U},
        {"box", ~0U},
        {"text", ~0U},
        {"x", 1 << SHAPE_BOX},
        {"y", 1 << SHAPE_BOX},
        {"w", 1 << SHAPE_BOX},
        {"h", 1 << SHAPE_BOX},
        {"angle", 1 << SHAPE_BOX},
        {"rings", 1 << SHAPE_POLYGON | 1 << SHAPE_KEYPOINTS},
        {"holes", 1 << SHAPE_POLYGON},
        {"size", 1 << SHAPE_MASK | 1 << SHAPE_KEYPOINTS},
        {"counts", 1 << SHAPE_MASK | 1 << SHAPE_KEYPOINTS},
        {"points", 1 << SHAPE_KEYPOINTS},
        {"skeleton", 1 << SHAPE_KEYPOINTS},
    };
    for (size_t i = 0; i < countof(members); i++)
        if (str_is(key, members[i].name))
            return members[i].kinds >> kind & 1;
    return false;
}

static bool unknown_member(struct reading *r, struct str key)
{
    char name[40];
    snprintf(name, sizeof name, "%.*s", key.n > 36 ? 36 : (int)key.n, key.p);
    return refuse(r, name, "is not a member that is known here");
}

static bool read_kind(struct reading *r, yyjson_val *v, struct shape *s)
{
    struct str type = json_str(yyjson_obj_get(v, "type"));
    for (int i = 0; i < SHAPE_KIND_COUNT; i++) {
        if (!str_is(type, shape_kind_names[i]))
            continue;
        s->kind = (enum shape_kind)i;
        if (r->rule->kinds >> i & 1)
            return true;
        char rule[120];
        snprintf(rule, sizeof rule, "is \"%s\", which %s does not take", shape_kind_names[i],
                 annotation_types[r->type].name);
        return refuse(r, "type", rule);
    }
    return refuse(r, "type", "must be box, polygon, mask or keypoints");
}

static bool read_flags(struct reading *r, yyjson_val *v, struct shape *s)
{
    const struct {
        const char *name;
        bool *ret;
    } flags[] = {{"crowd", &s->crowd}, {"occluded", &s->occluded}, {"truncated", &s->truncated}};
    for (size_t i = 0; i < countof(flags); i++) {
        yyjson_val *flag = yyjson_obj_get(v, flags[i].name);
        if (flag && !yyjson_is_bool(flag))
            return refuse(r, flags[i].name, "must be true or false");
        *flags[i].ret = yyjson_get_bool(flag);
    }
    return true;
}

static bool read_shape(struct reading *r, yyjson_val *v, void *ret)
{
    struct shape *s = ret;
    if (!yyjson_is_obj(v))
        return refuse(r, "", "must be an object");
    if (!read_kind(r, v, s))
        return false;
    size_t i, max;
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item)
    {
        if (!known_shape_member(json_str(key), s->kind))
            return unknown_member(r, json_str(key));
    }
    if (!read_flags(r, v, s))
        return false;
    bool texts = r->rule->takes & TAKES_SHAPE_TEXT;
    yyjson_val *text = yyjson_obj_get(v, "text");
    if (text && !texts)
        return refuse(r, "text", "belongs to text recognition only");
    return read_label(r, "label", yyjson_obj_get(v, "label"), !texts, &s->label) &&
           read_string(r, "id", yyjson_obj_get(v, "id"), 100, &s->id) &&
           read_string(r, "text", text, ANNOTATION_MAX_TEXT, &s->text) &&
           read_string(r, "skeleton", yyjson_obj_get(v, "skeleton"), ANNOTATION_MAX_LABEL, &s->skeleton) &&
           read_score(r, yyjson_obj_get(v, "score"), &s->has_score, &s->score) &&
           read_attributes(r, yyjson_obj_get(v, "attributes"), &s->attributes) && read_geometry(r, v, s) &&
           read_hints(r, v, s);
}

static bool only_known(struct reading *r, yyjson_val *v, const char *const *members, size_t n)
{
    size_t i, max;
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item)
    {
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known = known || str_is(json_str(key), members[k]);
        if (!known)
            return unknown_member(r, json_str(key));
    }
    return true;
}

static bool read_part(struct reading *r, yyjson_val *v, struct part *p, bool span)
{
    static const char *const members[] = {"start", "end", "id", "label", "text", "score", "attributes"};
    if (!yyjson_is_obj(v))
        return refuse(r, "", "must be an object");
    if (!only_known(r, v, members, countof(members)) ||
        !read_real(r, "start", yyjson_obj_get(v, "start"), 0, 1e9, &p->start) ||
        !read_real(r, "end", yyjson_obj_get(v, "end"), 0, 1e9, &p->end))
        return false;
    if (p->end <= p->start)
        return refuse(r, "end", "must be after start");
    if (span && (p->start != floor(p->start) || p->end != floor(p->end)))
        return refuse(r, "start", "and end must be whole numbers of characters");
    return read_label(r, "label", yyjson_obj_get(v, "label"), span, &p->label) &&
           read_string(r, "id", yyjson_obj_get(v, "id"), 100, &p->id) &&
           read_string(r, "text", yyjson_obj_get(v, "text"), ANNOTATION_MAX_TEXT, &p->text) &&
           read_score(r, yyjson_obj_get(v, "score"), &p->has_score, &p->score) &&
           read_attributes(r, yyjson_obj_get(v, "attributes"), &p->attributes);
}

static bool read_span(struct reading *r, yyjson_val *v, void *ret)
{
    return read_part(r, v, ret, true);
}

static bool read_segment(struct reading *r, yyjson_val *v, void *ret)
{
    return read_part(r, v, ret, false);
}

static struct reading reading_of(struct arena *a, enum annotation_type type, const char *where,
                                 struct err *err)
{
    struct reading r = {.a = a, .rule = &rules[type], .type = type, .err = err};
    snprintf(r.where, sizeof r.where, "%s.", where);
    return r;
}

bool model_read_shape(struct arena *a, enum annotation_type type, yyjson_val *v, const char *where,
                      struct shape *ret, struct err *err)
{
    struct reading r = reading_of(a, type, where, err);
    struct shape s = {0};
    if (!read_shape(&r, v, &s))
        return false;
    *ret = s;
    return true;
}

bool model_read_part(struct arena *a, enum annotation_type type, yyjson_val *v, const char *where,
                     struct part *ret, struct err *err)
{
    struct reading r = reading_of(a, type, where, err);
    struct part p = {0};
    if (!read_part(&r, v, &p, model_list_of(type) == MODEL_SPANS))
        return false;
    *ret = p;
    return true;
}

/* A list of things of `size` bytes each. */
static bool read_list(struct reading *r, const char *member, yyjson_val *v, bool allowed, size_t size,
                      bool (*read)(struct reading *r, yyjson_val *v, void *ret), void **ret,
                      uint32_t *ret_count)
{
    size_t n = yyjson_arr_size(v), i, max;
    if (!v || yyjson_is_null(v) || (yyjson_is_arr(v) && n == 0))
        return true;
    if (!yyjson_is_arr(v))
        return refuse(r, member, "must be a list");
    if (!allowed)
        return refuse(r, member, "does not belong to this type of annotation");
    if (n > ANNOTATION_MAX_SHAPES)
        return refuse(r, member, "has more than 20000 entries");
    char *items = arena_zalloc(r->a, n * size);
    yyjson_val *item;
    yyjson_arr_foreach(v, i, max, item)
    {
        snprintf(r->where, sizeof r->where, "%s[%zu].", member, i);
        if (!read(r, item, items + i * size))
            return false;
    }
    r->where[0] = 0;
    *ret = items;
    *ret_count = (uint32_t)n;
    return true;
}

static bool read_labels(struct reading *r, yyjson_val *v, struct annotation *n)
{
    size_t count = yyjson_arr_size(v), i, max;
    if (!v || yyjson_is_null(v) || (yyjson_is_arr(v) && count == 0))
        return true;
    if (!yyjson_is_arr(v))
        return refuse(r, "labels", "must be a list of strings");
    if (!(r->rule->takes & (TAKES_LABEL | TAKES_LABELS)))
        return refuse(r, "labels", "does not belong to this type of annotation");
    if (count > ((r->rule->takes & TAKES_LABELS) ? ANNOTATION_MAX_LABELS : 1))
        return refuse(r, "labels",
                      r->rule->takes & TAKES_LABELS ? "has more than 1000 entries"
                                                    : "may have one entry only");
    n->labels = arena_array(r->a, struct str, count);
    yyjson_val *item;
    yyjson_arr_foreach(v, i, max, item)
    {
        char member[32];
        snprintf(member, sizeof member, "labels[%zu]", i);
        if (!read_label(r, member, item, true, &n->labels[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (str_eq(n->labels[k], n->labels[i]))
                return refuse(r, member, "is there twice");
    }
    n->label_count = (uint32_t)count;
    return true;
}

/* {"cat": 0.9}: only of labels that are there. */
static bool read_scores(struct reading *r, yyjson_val *v, struct annotation *n)
{
    if (!v || yyjson_is_null(v))
        return true;
    if (!yyjson_is_obj(v))
        return refuse(r, "scores", "must be an object of label and number");
    n->scores = arena_array(r->a, double, n->label_count + 1);
    for (uint32_t i = 0; i < n->label_count; i++)
        n->scores[i] = NAN;
    size_t i, max;
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item)
    {
        uint32_t k = 0;
        while (k < n->label_count && !str_eq(n->labels[k], json_str(key)))
            k++;
        if (k == n->label_count)
            return refuse(r, "scores", "names a label that is not in labels");
        if (!read_real(r, "scores", item, 0, 1, &n->scores[k]))
            return false;
    }
    return true;
}

bool model_read(struct arena *a, enum annotation_type type, yyjson_val *v, struct annotation *ret,
                struct err *err)
{
    static const char *const members[] = {"labels", "scores",   "shapes",    "text",
                                          "spans",  "segments", "attributes"};
    const struct rule *rule = &rules[type];
    struct reading r = {.a = a, .rule = rule, .type = type, .err = err};
    struct annotation n = {0};
    void *shapes = NULL, *spans = NULL, *segments = NULL;
    if (!yyjson_is_obj(v))
        return refuse(&r, "", "must be an object");
    yyjson_val *text = yyjson_obj_get(v, "text");
    if (text && !yyjson_is_null(text) && !(rule->takes & TAKES_TEXT))
        return refuse(&r, "text", "does not belong to this type of annotation");
    if (!only_known(&r, v, members, countof(members)) || !read_labels(&r, yyjson_obj_get(v, "labels"), &n) ||
        !read_scores(&r, yyjson_obj_get(v, "scores"), &n) ||
        !read_string(&r, "text", text, ANNOTATION_MAX_TEXT, &n.text) ||
        !read_attributes(&r, yyjson_obj_get(v, "attributes"), &n.attributes) ||
        !read_list(&r, "shapes", yyjson_obj_get(v, "shapes"), rule->kinds, sizeof(struct shape), read_shape,
                   &shapes, &n.shape_count) ||
        !read_list(&r, "spans", yyjson_obj_get(v, "spans"), rule->takes & TAKES_SPANS, sizeof(struct part),
                   read_span, &spans, &n.span_count) ||
        !read_list(&r, "segments", yyjson_obj_get(v, "segments"), rule->takes & TAKES_SEGMENTS,
                   sizeof(struct part), read_segment, &segments, &n.segment_count))
        return false;
    n.shapes = shapes;
    n.spans = spans;
    n.segments = segments;
    *ret = n;
    return true;
}

bool model_parse(struct arena *a, enum annotation_type type, struct str json, struct annotation *ret,
                 struct err *err)
{
    if (json.n > ANNOTATION_MAX_BYTES)
        return err_set(err, ERR_INVALID, NULL, "the annotation is %zu bytes; at most %u", json.n,
                       ANNOTATION_MAX_BYTES);
    yyjson_val *v = json_parse(a, json, err);
    return v && model_read(a, type, v, ret, err);
}
