/* Writing YOLO: data.yaml, images/PART/NAME.jpg and labels/PART/NAME.txt; samples of no part are in train. */
#include "codec/formats.h"
#include "codec/geometry.h"

#include <stdio.h>

static void put_share(struct buf *b, double v, double whole)
{
    buf_char(b, ' ');
    model_write_number(b, v / whole);
}

static void put_box(struct buf *b, const double box[4], double w, double h)
{
    put_share(b, box[0] + box[2] / 2, w);
    put_share(b, box[1] + box[3] / 2, h);
    put_share(b, box[2], w);
    put_share(b, box[3], h);
}

static void put_ring(struct buf *b, const double *xy, size_t n, double w, double h)
{
    for (size_t i = 0; i < 2 * n; i++)
        put_share(b, xy[i], i % 2 ? h : w);
}

/* One shape; NULL, or what was changed. */
static const char *put_shape(struct codec_writer *w, const struct writer_sample *it, const struct shape *s)
{
    struct buf *b = &w->buf;
    double width = it->s.width, height = it->s.height, box[4], corners[8];
    size_t class = writer_label(w, s->label);
    geometry_box_of(s, box);
    buf_printf(b, "%zu", class);
    if (w->type == ANNOTATION_SEGMENTATION) {
        put_ring(b, s->rings[0].xy, s->rings[0].count, width, height);
        for (uint32_t i = 1; i < s->ring_count; i++) {
            buf_printf(b, "\n%zu", class);
            put_ring(b, s->rings[i].xy, s->rings[i].count, width, height);
        }
        buf_char(b, '\n');
        return s->ring_count > 1 ? "its rings became objects of their own" : NULL;
    }
    if (w->type == ANNOTATION_ROTATED) {
        geometry_corners(s, corners);
        put_ring(b, corners, 4, width, height);
    } else {
        put_box(b, box, width, height);
    }
    for (uint32_t i = 0; w->type == ANNOTATION_KEYPOINTS && i < s->point_count; i++) {
        put_share(b, s->points[i][0], width);
        put_share(b, s->points[i][1], height);
        buf_printf(b, " %d", (int)s->points[i][2]);
    }
    buf_char(b, '\n');
    return NULL;
}

static bool write_sample(struct codec_writer *w, struct writer_sample *it, struct err *err)
{
    enum codec_split part = writer_part(w, it);
    const char *folder = codec_split_names[part ? part : CODEC_TRAIN];
    struct str own = it->s.path;
    if (str_starts(own, "images/"))
        own = (struct str){own.p + 7, own.n - 7};
    size_t known = strlen(folder);
    if (str_starts(own, folder) && own.n > known && own.p[known] == '/')
        own = (struct str){own.p + known + 1, own.n - known - 1};
    char *name = writer_unique(w, it, str_of(arena_printf(&it->arena, "%s/" STR_FMT, folder, STR_ARG(own))));
    struct str stem = str_of(name), base = path_base(stem);
    stem.n -= base.n - path_stem(base).n;
    buf_clear(&w->buf);
    if (it->n.shape_count && (!it->s.width || !it->s.height))
        return err_set(err, ERR_INVALID, "format",
                       "the size of the picture %.*s is not known, which YOLO needs",
                       it->s.path.n > 200 ? 200 : (int)it->s.path.n, it->s.path.p);
    for (uint32_t i = 0; i < it->n.shape_count; i++) {
        writer_holes(w, it, i, false);
        if (!writer_outline(w, it, i))
            continue;
        const char *why = put_shape(w, it, &it->n.shapes[i]);
        char at[32];
        snprintf(at, sizeof at, "shapes[%u]", i);
        if (why)
            writer_problem(w, CODEC_REPAIRED, it->s.path, str_of(at), "%s", why);
    }
    /* A picture without a file of labels is one without annotation. */
    if (it->s.annotation.n &&
        !writer_file(w, arena_printf(&it->arena, "labels/" STR_FMT ".txt", STR_ARG(stem)), err))
        return false;
    return writer_media(w, it, arena_printf(&it->arena, "images/%s", name), err);
}

static bool write_yaml(struct codec_writer *w, const bool parts[CODEC_SPLIT_COUNT], size_t points,
                       struct err *err)
{
    struct buf *b = &w->buf;
    bool val = parts[CODEC_VAL], test = parts[CODEC_TEST];
    buf_clear(b);
    buf_printf(b, "path: .\ntrain: images/train\nval: images/%s\n", val ? "val" : test ? "test" : "train");
    if (test)
        buf_z(b, "test: images/test\n");
    if (points)
        buf_printf(b, "kpt_shape: [%zu, 3]\n", points);
    buf_printf(b, "nc: %zu\nnames:\n", w->label_count);
    for (size_t i = 0; i < w->label_count; i++) {
        buf_printf(b, "  %zu: ", i);
        model_write_string(b, w->labels[i].name); /* a JSON string is a YAML one */
        buf_char(b, '\n');
    }
    return writer_file(w, "data.yaml", err);
}

bool yolo_write(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    bool parts[CODEC_SPLIT_COUNT] = {0}, end = false, ok = writer_rewind(w, &it, err);
    size_t points = 0;
    writer_names_reset(w);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        parts[writer_part(w, &it)] = true;
        for (uint32_t i = 0; i < it.n.shape_count; i++)
            points = it.n.shapes[i].point_count > points ? it.n.shapes[i].point_count : points;
        ok = write_sample(w, &it, err);
    }
    writer_sample_release(&it);
    return ok && write_yaml(w, parts, points, err);
}
