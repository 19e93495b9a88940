/* LabelMe: one JSON file beside each picture, with shapes of corner points. Whole-picture labels are its
 * flags. The rings of one object share a group_id. Masks are in labelme_mask.h. */
#include "base/hash.h"
#include "base/json.h"
#include "codec/formats.h"
#include "codec/geometry.h"
#include "codec/labelme_mask.h"

#include <math.h>
#include <stdio.h>

enum { FILE_MAX = 256 << 20, CIRCLE_POINTS = 64 };

static bool looks_like_labelme(struct str head)
{
    return str_find(head, STR("\"shapes\"")) >= 0 || str_find(head, STR("\"imagePath\"")) >= 0 ||
           str_find(head, STR("\"imageData\"")) >= 0;
}

static bool is_labelme(struct codec_reader *r, size_t file)
{
    auto_buf struct buf head = {0};
    return reader_has(r, file, ".json") && reader_peek(r, file, 65536, &head) &&
           looks_like_labelme(buf_view(&head));
}

int labelme_detect(struct codec_reader *r, size_t *ret_file)
{
    return reader_detect(r, ".json", is_labelme, ret_file) ? 80 : 0;
}

/* The points as one ring; false when one is no pair of numbers. */
static bool read_ring(struct arena *a, yyjson_val *points, struct ring *ret)
{
    size_t n = yyjson_arr_size(points), i, max;
    if (!yyjson_is_arr(points) || n > ANNOTATION_MAX_POINTS)
        return false;
    double *xy = arena_alloc(a, (n + 1) * 2 * sizeof *xy);
    yyjson_val *p;
    yyjson_arr_foreach(points, i, max, p)
    {
        yyjson_val *x = yyjson_arr_get(p, 0), *y = yyjson_arr_get(p, 1);
        if (!yyjson_is_num(x) || !yyjson_is_num(y))
            return false;
        xy[2 * i] = yyjson_get_num(x);
        xy[2 * i + 1] = yyjson_get_num(y);
    }
    *ret = (struct ring){xy, (uint32_t)n};
    return true;
}

static void circle(struct arena *a, struct ring *r)
{
    double cx = r->xy[0], cy = r->xy[1], radius = hypot(r->xy[2] - cx, r->xy[3] - cy);
    double *xy = arena_alloc(a, 2 * CIRCLE_POINTS * sizeof *xy);
    for (int i = 0; i < CIRCLE_POINTS; i++) {
        xy[2 * i] = geometry_tidy(cx + radius * cos(2 * M_PI * i / CIRCLE_POINTS));
        xy[2 * i + 1] = geometry_tidy(cy + radius * sin(2 * M_PI * i / CIRCLE_POINTS));
    }
    *r = (struct ring){xy, CIRCLE_POINTS};
}

/* The geometry of one shape; NULL, or why it is not taken. */
static const char *read_geometry(struct arena *a, yyjson_val *v, struct shape *s)
{
    struct str kind = json_str(yyjson_obj_get(v, "shape_type"));
    struct ring ring;
    double box[4];
    if (!read_ring(a, yyjson_obj_get(v, "points"), &ring))
        return "its points are not pairs of numbers";
    bool rectangle = str_is(kind, "rectangle") && ring.count >= 2;
    if (rectangle && ring.count == 2) {
        geometry_bounds(ring.xy, 2, box);
        *s = (struct shape){.kind = SHAPE_BOX,
                            .x = box[0],
                            .y = box[1],
                            .w = geometry_tidy(box[2]),
                            .h = geometry_tidy(box[3])};
        return NULL;
    }
    if (str_is(kind, "circle") && ring.count == 2)
        circle(a, &ring);
    else if (kind.n && !rectangle && !str_is(kind, "polygon") && !str_is(kind, "rotation"))
        return arena_printf(a, "shapes of the type %.*s are not read", kind.n > 30 ? 30 : (int)kind.n,
                            kind.p);
    if (ring.count < 3)
        return "a polygon needs at least three points";
    *s = (struct shape){.kind = SHAPE_POLYGON, .rings = arena_new(a, struct ring), .ring_count = 1};
    *s->rings = ring;
    return NULL;
}

static bool only_scalars(yyjson_val *flags)
{
    size_t i, max;
    yyjson_val *key, *v;
    bool ok = true;
    if (!yyjson_is_obj(flags)) /* yyjson's loop is for objects only */
        return true;
    yyjson_obj_foreach(flags, i, max, key, v) ok = ok && !yyjson_is_ctn(v);
    return ok;
}

/* flags and group_id. Flags that are no attributes are reported. */
static struct str attributes_of(struct reader_sample *s, yyjson_val *v, const char *at)
{
    yyjson_val *group = yyjson_obj_get(v, "group_id");
    struct str flags;
    const char *why = "hold more than single values";
    auto_buf struct buf b = {0};
    if (!only_scalars(yyjson_obj_get(v, "flags")) ||
        !model_attributes(&s->arena, yyjson_obj_get(v, "flags"), &flags, &why) || flags.n > 65000) {
        reader_problem(s->r, CODEC_REPAIRED, s->source, str_of(at), "its flags %s; left out", why);
        flags = STR_NULL;
    }
    if (flags.n)
        buf_printf(&b, "{\"flags\":" STR_FMT, STR_ARG(flags));
    if (yyjson_is_int(group))
        buf_printf(&b, "%s\"group_id\":%lld", flags.n ? "," : "{", (long long)yyjson_get_sint(group));
    if (!b.n)
        return STR_NULL;
    buf_char(&b, '}');
    return arena_str(&s->arena, buf_view(&b));
}

/* Rings of one segmented object: a polygon joins the former one of its label and group. */
static bool join_group(struct reader_sample *s, const struct shape *shape)
{
    if (s->r->type != ANNOTATION_SEGMENTATION || !shape->attributes.n || shape->kind != SHAPE_POLYGON ||
        str_find(shape->attributes, STR("\"group_id\"")) < 0)
        return false;
    for (uint32_t i = 0; i < s->n.shape_count; i++) {
        struct shape *other = &s->n.shapes[i];
        if (other->kind != SHAPE_POLYGON || !str_eq(other->label, shape->label) ||
            !str_eq(other->attributes, shape->attributes))
            continue;
        other->rings = arena_grow(&s->arena, other->rings, other->ring_count * sizeof *other->rings,
                                  (other->ring_count + shape->ring_count) * sizeof *other->rings);
        memcpy(other->rings + other->ring_count, shape->rings, shape->ring_count * sizeof *shape->rings);
        other->ring_count += shape->ring_count;
        s->records++;
        return true;
    }
    return false;
}

/* A mask; NULL, or why it is not taken. */
static const char *read_mask(struct reader_sample *s, yyjson_val *v, const char *at, uint64_t *budget,
                             struct shape *ret)
{
    struct ring ring;
    const char *repaired, *why;
    if (!read_ring(&s->arena, yyjson_obj_get(v, "points"), &ring) || ring.count != 2)
        return "a mask needs two points, its corners";
    if (!labelme_mask_read(&s->arena, json_str(yyjson_obj_get(v, "mask")), ring.xy,
                           (uint32_t[]){s->width, s->height}, budget, ret, &repaired, &why))
        return why;
    if (repaired)
        reader_problem(s->r, CODEC_REPAIRED, s->source, str_of(at), "%s", repaired);
    return NULL;
}

static bool read_shape(struct reader_sample *s, yyjson_val *v, size_t index, uint64_t *budget,
                       struct err *err)
{
    char at[40];
    struct shape shape = {0};
    snprintf(at, sizeof at, "shapes[%zu]", index);
    bool mask = str_is(json_str(yyjson_obj_get(v, "shape_type")), "mask");
    const char *why = !yyjson_is_obj(v) ? "it is not an object"
                      : mask            ? read_mask(s, v, at, budget, &shape)
                                        : read_geometry(&s->arena, v, &shape);
    if (why) {
        reader_skip(s->r, s->source, str_of(at), "%s", why);
        return true;
    }
    shape.label = str_trim(json_str(yyjson_obj_get(v, "label")));
    shape.attributes = attributes_of(s, v, at);
    struct str text = json_str(yyjson_obj_get(v, "description"));
    shape.text = text.n ? text : STR_NULL;
    yyjson_val *score = yyjson_obj_get(v, "score");
    shape.has_score = yyjson_is_num(score);
    shape.score = yyjson_get_num(score);
    struct str label = shape.label;
    if (!reader_check_shape(s, &shape, at))
        return true;
    if (!join_group(s, &shape) && !reader_push_shape(s, &shape, at))
        return true;
    return reader_label_name(s->r, label, err);
}

static uint32_t side_of(yyjson_val *v)
{
    double n = yyjson_get_num(v);
    return n >= 1 && n <= ANNOTATION_MAX_SIDE ? (uint32_t)n : 0;
}

static void find_picture(struct reader_sample *s, yyjson_val *v)
{
    struct str name = json_str(yyjson_obj_get(v, "imagePath")),
               data = json_str(yyjson_obj_get(v, "imageData"));
    s->width = side_of(yyjson_obj_get(v, "imageWidth"));
    s->height = side_of(yyjson_obj_get(v, "imageHeight"));
    s->file = name.n ? reader_find(s->r, s->source, name) : READER_NONE;
    if (s->file == READER_NONE)
        s->file = reader_find_stem(s->r, path_dir(s->source), path_stem(s->source));
    if (name.n > 1000)
        name = STR_NULL;
    for (size_t i = name.n; i > 0; i--)
        if (name.p[i - 1] == '\\' || name.p[i - 1] == '/') {
            name = (struct str){name.p + i, name.n - i};
            break;
        }
    s->path = name.n ? name : str_of(arena_printf(&s->arena, STR_FMT ".jpg", STR_ARG(path_stem(s->source))));
    if (s->file == READER_NONE && data.n) {
        char *bytes = arena_alloc(&s->arena, data.n + 1);
        size_t n;
        if (base64_decode(data, bytes, data.n, &n) && n)
            s->content = (struct str){bytes, n};
    }
    if (!s->width || !s->height)
        reader_sample_size(s);
}

static bool read_flags(struct reader_sample *s, yyjson_val *flags, struct err *err)
{
    size_t i, max;
    yyjson_val *key, *on;
    if (!yyjson_is_obj(flags))
        return true;
    yyjson_obj_foreach(flags, i, max, key, on)
    {
        struct str name = json_str(key);
        if (!yyjson_is_true(on)) {
            if (!reader_label_name(s->r, name, err))
                return false;
        } else if (reader_add_label(s, name, "flags") && !reader_label_name(s->r, name, err)) {
            return false;
        }
    }
    return true;
}

static bool read_document(struct codec_reader *r, struct str source, struct str text, struct err *err)
{
    struct reader_sample s;
    struct err bad;
    bool ok = true;
    reader_sample_init(&s, r, source);
    yyjson_val *v = text.n <= FILE_MAX ? json_parse(&s.arena, text, &bad) : NULL, *item;
    if (text.n > FILE_MAX) {
        reader_skip(r, source, STR_NULL, "it is larger than %d bytes", FILE_MAX);
    } else if (!v) {
        reader_skip(r, source, STR_NULL, "%s", bad.message);
    } else if (!yyjson_is_obj(v) || !yyjson_is_arr(yyjson_obj_get(v, "shapes"))) {
        reader_skip(r, source, STR_NULL, "it is no LabelMe file: it has no list of shapes");
    } else {
        size_t i, max;
        uint64_t budget = LABELME_MASK_PIXELS;
        find_picture(&s, v);
        s.split = path_split(s.file != READER_NONE ? reader_path(r, s.file) : source);
        if (model_takes_labels(r->type))
            ok = read_flags(&s, yyjson_obj_get(v, "flags"), err);
        yyjson_val *shapes = yyjson_obj_get(v, "shapes");
        yyjson_arr_foreach(shapes, i, max, item) ok = ok && read_shape(&s, item, i, &budget, err);
        ok = ok && reader_emit(&s, STR_NULL, err);
    }
    reader_sample_release(&s);
    return ok;
}

bool labelme_read(struct codec_reader *r, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->in->file_count; i++) {
        struct str text, path = reader_path(r, i);
        if (!reader_has(r, i, ".json"))
            continue;
        if (!reader_open(r, i, &text, err))
            return false;
        ok = read_document(r, path, reader_text(r, i, text), err) && reader_progress(r, text.n, err);
        reader_close(r, i, text);
    }
    return ok;
}

/* ---- writing ---- */

static void put_points(struct json_out *o, const double *xy, size_t n)
{
    json_key(o, "points");
    json_array(o);
    for (size_t i = 0; i < n; i++) {
        json_array(o);
        json_real(o, xy[2 * i]);
        json_real(o, xy[2 * i + 1]);
        json_array_end(o);
    }
    json_array_end(o);
}

struct group {
    int64_t next;
    struct arena *a;
};

/* mask: the pixels of a mask in base64, else STR_NULL. */
static void put_shape(struct json_out *o, const struct shape *s, const char *kind, const double *xy, size_t n,
                      yyjson_val *attributes, int64_t group, struct str mask)
{
    yyjson_val *flags = yyjson_obj_get(attributes, "flags"), *own = yyjson_obj_get(attributes, "group_id");
    json_object(o);
    json_kstr(o, "label", s->label.n ? s->label : STR("text"));
    put_points(o, xy, n);
    json_key(o, "group_id");
    if (yyjson_is_int(own))
        json_int(o, yyjson_get_sint(own));
    else if (group >= 0)
        json_int(o, group);
    else
        json_null(o);
    json_kstr(o, "description", s->text.p ? s->text : STR(""));
    json_kz(o, "shape_type", kind);
    json_key(o, "flags");
    if (yyjson_is_obj(flags))
        json_value(o, flags);
    else
        json_raw(o, STR("{}"));
    if (s->has_score) {
        json_key(o, "score");
        json_real(o, s->score);
    }
    if (mask.p)
        json_kstr(o, "mask", mask);
    json_object_end(o);
}

/* False when the mask has no pixels, which LabelMe cannot say. */
static bool put_any(struct json_out *o, struct group *g, const struct shape *s)
{
    struct err ignored;
    yyjson_val *attributes = s->attributes.n ? json_parse(g->a, s->attributes, &ignored) : NULL;
    struct str mask;
    double corners[8];
    if (s->kind == SHAPE_MASK) {
        if (!labelme_mask_write(g->a, s, corners, &mask))
            return false;
        put_shape(o, s, "mask", corners, 2, attributes, -1, mask);
    } else if (s->kind == SHAPE_BOX && s->angle == 0) {
        double two[4] = {s->x, s->y, geometry_tidy(s->x + s->w), geometry_tidy(s->y + s->h)};
        put_shape(o, s, "rectangle", two, 2, attributes, -1, STR_NULL);
    } else if (s->kind == SHAPE_BOX) {
        geometry_corners(s, corners);
        for (int i = 0; i < 8; i++)
            corners[i] = geometry_tidy(corners[i]);
        put_shape(o, s, "polygon", corners, 4, attributes, -1, STR_NULL);
    } else {
        int64_t group = s->ring_count > 1 ? g->next++ : -1;
        for (uint32_t i = 0; i < s->ring_count; i++)
            put_shape(o, s, "polygon", s->rings[i].xy, s->rings[i].count, attributes, group, STR_NULL);
    }
    return true;
}

static bool write_sample(struct codec_writer *w, struct writer_sample *it, struct err *err)
{
    enum codec_split part = writer_part(w, it);
    struct str own = it->s.path;
    if (part && path_split(own) != part) /* LabelMe has folders only */
        own = str_of(arena_printf(&it->arena, "%s/" STR_FMT, codec_split_names[part], STR_ARG(own)));
    const char *name = writer_unique(w, it, own);
    struct str stem = str_of(name), base = path_base(stem);
    struct group g = {1, &it->arena};
    struct json_out o;
    buf_clear(&w->buf);
    json_begin(&o, &w->buf);
    json_object(&o);
    json_kz(&o, "version", "5.4.1");
    json_key(&o, "flags");
    json_object(&o);
    for (uint32_t i = 0; i < it->n.label_count; i++)
        json_kbool(&o, arena_strz(&it->arena, it->n.labels[i]), true);
    json_object_end(&o);
    json_key(&o, "shapes");
    json_array(&o);
    for (uint32_t i = 0; i < it->n.shape_count; i++) {
        writer_holes(w, it, i, true);
        if (!put_any(&o, &g, &it->n.shapes[i]))
            writer_problem(w, CODEC_SKIPPED, it->s.path, str_of(arena_printf(&it->arena, "shapes[%u]", i)),
                           "its mask is empty");
    }
    json_array_end(&o);
    json_kstr(&o, "imagePath", writer_reference(w, it, base));
    json_key(&o, "imageData");
    json_null(&o);
    json_kint(&o, "imageHeight", it->s.height);
    json_kint(&o, "imageWidth", it->s.width);
    json_object_end(&o);
    buf_char(&w->buf, '\n');
    stem.n -= base.n - path_stem(base).n;
    return writer_file(w, arena_printf(&it->arena, STR_FMT ".json", STR_ARG(stem)), err) &&
           writer_media(w, it, name, err);
}

bool labelme_write(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(w, &it, err);
    writer_names_reset(w);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end)
        ok = write_sample(w, &it, err);
    writer_sample_release(&it);
    return ok;
}
