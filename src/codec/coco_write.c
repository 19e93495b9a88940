/* Writing COCO: categories, then one walk over the samples for the images and one for the annotations. */
#include "codec/coco.h"
#include "codec/coco_captions.h"
#include "codec/geometry.h"

#include <stdio.h>

static void put_numbers(struct buf *b, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_char(b, i ? ',' : '[');
        model_write_number(b, v[i]);
    }
    buf_z(b, n ? "]" : "[]");
}

static void put_category(struct buf *b, size_t number, const struct codec_label *l)
{
    buf_printf(b, "{\"id\":%zu,\"name\":", number + 1);
    model_write_string(b, l->name);
    if (l->parent.n) {
        buf_z(b, ",\"supercategory\":");
        model_write_string(b, l->parent);
    }
    for (size_t i = 0; i < l->keypoint_count; i++) {
        buf_z(b, i ? "," : ",\"keypoints\":[");
        model_write_string(b, l->keypoints[i]);
    }
    if (l->keypoint_count)
        buf_z(b, "],\"skeleton\":[");
    for (size_t i = 0; l->keypoint_count && i < l->edge_count; i++)
        buf_printf(b, "%s[%u,%u]", i ? "," : "", l->edges[i][0] + 1U, l->edges[i][1] + 1U);
    buf_z(b, l->keypoint_count ? "]}" : "}");
}

static void put_rings(struct buf *b, const struct shape *s)
{
    for (uint32_t i = 0; i < s->ring_count; i++) {
        buf_char(b, i ? ',' : '[');
        put_numbers(b, s->rings[i].xy, 2 * (size_t)s->rings[i].count);
    }
    buf_char(b, ']');
}

static void put_segmentation(struct buf *b, const struct shape *s)
{
    double corners[8];
    buf_z(b, ",\"segmentation\":");
    if (s->ring_count) {
        put_rings(b, s);
    } else if (s->counts.n) {
        buf_printf(b, "{\"size\":[%u,%u],\"counts\":", s->size[0], s->size[1]);
        model_write_string(b, s->counts);
        buf_char(b, '}');
    } else if (s->kind == SHAPE_BOX && s->angle != 0) {
        geometry_corners(s, corners);
        for (int i = 0; i < 8; i++)
            corners[i] = geometry_tidy(corners[i]);
        buf_char(b, '[');
        put_numbers(b, corners, 8);
        buf_char(b, ']');
    } else {
        buf_z(b, "[]");
    }
}

/* Flags of a shape are attributes of COCO's; one that is among them already says it itself. */
static void put_attributes(struct buf *b, const struct shape *s)
{
    const struct {
        const char *member;
        bool on;
    } flags[] = {{"\"occluded\":", s->occluded}, {"\"truncated\":", s->truncated}};
    auto_buf struct buf all = {0};
    for (size_t i = 0; i < countof(flags); i++)
        if (flags[i].on && (!s->attributes.n || str_find(s->attributes, str_of(flags[i].member)) < 0))
            buf_printf(&all, "%s%strue", all.n ? "," : "", flags[i].member);
    if (s->attributes.n > 2) {
        if (all.n)
            buf_char(&all, ',');
        buf_add(&all, s->attributes.p + 1, s->attributes.n - 2);
    }
    if (all.n) {
        buf_z(b, ",\"attributes\":{");
        buf_str(b, buf_view(&all));
        buf_char(b, '}');
    }
}

static void put_annotation(struct buf *b, uint64_t id, size_t image, size_t category, const struct shape *s)
{
    double box[4];
    geometry_box_of(s, box);
    for (int i = 0; i < 4; i++)
        box[i] = geometry_tidy(box[i]);
    buf_printf(b, "{\"id\":%llu,\"image_id\":%zu", (unsigned long long)id, image + 1);
    if (category != SIZE_MAX)
        buf_printf(b, ",\"category_id\":%zu", category + 1);
    buf_z(b, ",\"bbox\":");
    put_numbers(b, box, 4);
    buf_z(b, ",\"area\":");
    model_write_number(b, geometry_tidy(geometry_area_of(s)));
    put_segmentation(b, s);
    buf_z(b, s->crowd ? ",\"iscrowd\":1" : ",\"iscrowd\":0");
    if (s->kind == SHAPE_KEYPOINTS) {
        unsigned labelled = 0;
        for (uint32_t i = 0; i < s->point_count; i++)
            labelled += s->points[i][2] != 0;
        buf_printf(b, ",\"num_keypoints\":%u,\"keypoints\":", labelled);
        put_numbers(b, s->points[0], 3 * (size_t)s->point_count);
    }
    if (s->has_score) {
        buf_z(b, ",\"score\":");
        model_write_number(b, s->score);
    }
    if (s->text.n) {
        buf_z(b, ",\"text\":");
        model_write_string(b, s->text);
    }
    put_attributes(b, s);
    buf_char(b, '}');
}

static void put_image(struct codec_writer *w, const struct writer_sample *it, struct str name)
{
    const struct codec_sample *s = &it->s;
    buf_printf(&w->buf, "{\"id\":%zu,\"file_name\":", it->number + 1);
    model_write_string(&w->buf, name);
    buf_printf(&w->buf, ",\"width\":%u,\"height\":%u}", s->width, s->height);
    if (!s->width || !s->height)
        writer_problem(w, CODEC_REPAIRED, s->path, STR_NULL,
                       "the picture's size is not known; written as 0 x 0");
}

static bool wanted(const struct codec_writer *w, const struct writer_sample *it, enum codec_split part)
{
    return part == WRITER_ALL || writer_part(w, it) == part;
}

static bool write_images(struct codec_writer *w, enum codec_split part, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, first = true, ok = writer_rewind(w, &it, err);
    buf_z(&w->buf, "\"images\":[");
    writer_names_reset(w);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        struct str name = w->bare ? str_of(writer_bare(w, &it)) : it.s.path;
        if (!wanted(w, &it, part))
            continue;
        buf_z(&w->buf, first ? "\n" : ",\n");
        first = false;
        put_image(w, &it, name);
        ok = writer_flush(w, err);
    }
    buf_z(&w->buf, "],\n");
    writer_sample_release(&it);
    return ok;
}

static bool write_annotations(struct codec_writer *w, enum codec_split part, struct err *err)
{
    struct writer_sample it = {0};
    uint64_t id = 0;
    bool end = false, ok = writer_rewind(w, &it, err);
    buf_z(&w->buf, "\"annotations\":[");
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        for (uint32_t i = 0; ok && wanted(w, &it, part) && i < it.n.shape_count; i++) {
            writer_holes(w, &it, i, true);
            const struct shape *s = &it.n.shapes[i];
            buf_z(&w->buf, id ? ",\n" : "\n");
            put_annotation(&w->buf, ++id, it.number, writer_label(w, s->label), s);
            ok = writer_flush(w, err);
        }
    }
    buf_z(&w->buf, "]}\n");
    writer_sample_release(&it);
    return ok;
}

bool coco_write_file(struct codec_writer *w, const char *path, enum codec_split part, struct err *err)
{
    if (!writer_begin(w, path, err))
        return false;
    buf_z(&w->buf,
          "{\"info\":{\"description\":\"Exported by Ingot\",\"version\":\"1.0\"},\n\"categories\":[");
    for (size_t i = 0; i < w->label_count; i++) {
        buf_z(&w->buf, i ? ",\n" : "\n");
        put_category(&w->buf, i, &w->labels[i]);
    }
    buf_z(&w->buf, "],\n");
    return write_images(w, part, err) && write_annotations(w, part, err) && writer_end(w, err);
}

struct caption {
    struct codec_writer *w;
    size_t image;
    uint64_t *id;
};

static bool put_caption(void *ctx, struct str caption)
{
    const struct caption *c = ctx;
    struct buf *b = &c->w->buf;
    buf_z(b, *c->id ? ",\n" : "\n");
    buf_printf(b, "{\"id\":%llu,\"image_id\":%zu,\"caption\":", (unsigned long long)++*c->id, c->image + 1);
    model_write_string(b, caption);
    buf_char(b, '}');
    return true;
}

/* The captions of one part (WRITER_ALL: of all), in a file of their own as COCO has it. */
static bool write_captions(struct codec_writer *w, const char *path, enum codec_split part, struct err *err)
{
    struct writer_sample it = {0};
    uint64_t id = 0;
    bool end = false;
    if (!writer_begin(w, path, err))
        return false;
    buf_z(&w->buf, "{\"info\":{\"description\":\"Exported by Ingot\",\"version\":\"1.0\"},\n");
    bool ok = write_images(w, part, err) && writer_rewind(w, &it, err);
    buf_z(&w->buf, "\"annotations\":[");
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        if (wanted(w, &it, part))
            coco_captions_each(it.n.attributes, put_caption, &(struct caption){w, it.number, &id});
        ok = writer_flush(w, err);
    }
    buf_z(&w->buf, "]}\n");
    writer_sample_release(&it);
    return ok && writer_end(w, err);
}

static bool is_caption(void *ctx, struct str caption)
{
    (void)caption;
    *(bool *)ctx = true;
    return false;
}

struct parts {
    bool any[CODEC_SPLIT_COUNT], captions[CODEC_SPLIT_COUNT + 1]; /* captions[WRITER_ALL]: at all */
};

/* Which parts there are, and which have captions. */
static bool find_parts(struct codec_writer *w, struct parts *ret, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(w, &it, err);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        enum codec_split part = writer_part(w, &it);
        ret->any[part] = true;
        coco_captions_each(it.n.attributes, is_caption, &ret->captions[part]);
        ret->captions[WRITER_ALL] = ret->captions[WRITER_ALL] || ret->captions[part];
    }
    writer_sample_release(&it);
    return ok;
}

static bool write_media(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(w, &it, err);
    writer_names_reset(w);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end)
        ok = writer_media(w, &it, arena_printf(&it.arena, "images/%s", writer_bare(w, &it)), err);
    writer_sample_release(&it);
    return ok;
}

/* instances.json and, when there are captions, captions.json; `part` in their names. */
static bool write_part(struct codec_writer *w, enum codec_split part, bool captions, struct err *err)
{
    char path[64];
    const char *name = part == WRITER_ALL ? "" : codec_split_names[part];
    snprintf(path, sizeof path, "annotations/instances%s%s.json", *name ? "_" : "", name);
    if (!coco_write_file(w, path, part, err))
        return false;
    snprintf(path, sizeof path, "annotations/captions%s%s.json", *name ? "_" : "", name);
    return !captions || write_captions(w, path, part, err);
}

bool coco_write(struct codec_writer *w, struct err *err)
{
    struct parts parts = {0};
    w->bare = true;
    if (!find_parts(w, &parts, err))
        return false;
    bool split = parts.any[CODEC_TRAIN] || parts.any[CODEC_VAL] || parts.any[CODEC_TEST];
    if (!split && !write_part(w, WRITER_ALL, parts.captions[WRITER_ALL], err))
        return false;
    for (int i = 0; split && i < CODEC_SPLIT_COUNT; i++)
        if (parts.any[i] && !write_part(w, (enum codec_split)i, parts.captions[i], err))
            return false;
    return !w->out->media || write_media(w, err);
}
