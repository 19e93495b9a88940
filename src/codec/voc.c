/* Pascal VOC: one XML file per picture. Boxes count pixels from 1 and include the last one: xmin..xmax is
 * x = xmin - 1, w = xmax - xmin + 1 (an xmin below 1 comes from a tool that counts from 0). <robndbox> (cx,
 * cy, w, h, angle in radians) is a rotated box. */
#include "base/charset.h"
#include "base/json.h"
#include "base/map.h"
#include "codec/formats.h"
#include "codec/geometry.h"
#include "codec/xml.h"

#include <math.h>
#include <stdio.h>

enum { XML_MAX = 16 << 20, UNKNOWN_MAX = 16 };

struct voc {
    struct codec_reader *r;
    struct map *sets; /* stem -> enum codec_split */
    struct {
        struct str name, file; /* file: the first that has it */
        uint64_t count;
    } unknown[UNKNOWN_MAX]; /* members of objects that are not read */
    size_t unknown_count;
};

static bool is_voc(struct codec_reader *r, size_t file)
{
    auto_buf struct buf head = {0};
    if (!reader_has(r, file, ".xml") || !reader_peek(r, file, 4096, &head))
        return false;
    struct str text = buf_view(&head);
    ptrdiff_t at = str_find(text, STR("<annotation"));
    size_t after = (size_t)at + 11;
    return at >= 0 && after < text.n && strchr("> \t\r\n", text.p[after]); /* CVAT's is <annotations> */
}

int voc_detect(struct codec_reader *r, size_t *ret_file)
{
    return reader_detect(r, ".xml", is_voc, ret_file) ? 85 : 0;
}

static bool real_at(const struct xml_node *n, const char *name, double *ret)
{
    return reader_real(str_trim(xml_text(xml_child(n, name))), ret);
}

/* Text members of the object that are no geometry become attributes, flags as numbers. */
static struct str attributes_of(struct arena *a, const struct xml_node *object)
{
    static const char *const members[] = {"difficult", "occluded", "pose", "truncated"};
    auto_buf struct buf b = {0};
    for (size_t i = 0; i < countof(members); i++) {
        struct str v = str_trim(xml_text(xml_child(object, members[i])));
        double n;
        bool number = str_to_real(v, &n);
        if (!v.n || str_is(v, "Unspecified") || (number && n == 0))
            continue;
        buf_printf(&b, "%s\"%s\":", b.n ? "," : "{", members[i]);
        if (number)
            model_write_number(&b, n);
        else
            model_write_string(&b, v);
    }
    if (!b.n)
        return STR_NULL;
    buf_char(&b, '}');
    return arena_str(a, buf_view(&b));
}

static bool read_box(const struct xml_node *object, struct shape *ret)
{
    const struct xml_node *box = xml_child(object, "bndbox"), *turned = xml_child(object, "robndbox");
    double x0, y0, x1, y1, cx, cy, angle;
    struct shape s = {.kind = SHAPE_BOX};
    if (box && real_at(box, "xmin", &x0) && real_at(box, "ymin", &y0) && real_at(box, "xmax", &x1) &&
        real_at(box, "ymax", &y1)) {
        s.x = geometry_tidy(x0 >= 1 ? x0 - 1 : x0);
        s.y = geometry_tidy(y0 >= 1 ? y0 - 1 : y0);
        s.w = geometry_tidy(x1 - s.x);
        s.h = geometry_tidy(y1 - s.y);
    } else if (turned && real_at(turned, "cx", &cx) && real_at(turned, "cy", &cy) &&
               real_at(turned, "w", &s.w) && real_at(turned, "h", &s.h) && real_at(turned, "angle", &angle)) {
        s.x = geometry_tidy(cx - s.w / 2);
        s.y = geometry_tidy(cy - s.h / 2);
        s.angle = geometry_tidy(remainder(angle * 180 / M_PI, 360));
        if (s.angle <= -180)
            s.angle += 360;
    } else {
        return false;
    }
    *ret = s;
    return true;
}

static void note_unknown(struct voc *v, struct str file, struct str name)
{
    size_t i = 0;
    while (i < v->unknown_count && !str_eq(v->unknown[i].name, name))
        i++;
    if (i == UNKNOWN_MAX)
        return;
    if (i == v->unknown_count) {
        v->unknown[i].name = arena_str(&v->r->arena, name);
        v->unknown[i].file = file;
        v->unknown_count++;
    }
    v->unknown[i].count++;
}

static void look_for_unknown(struct voc *v, struct str file, const struct xml_node *object)
{
    static const char *const known[] = {"name",      "bndbox", "robndbox", "type",
                                        "difficult", "pose",   "occluded", "truncated"};
    for (const struct xml_node *n = object->children; n; n = n->next) {
        size_t i = 0;
        while (i < countof(known) && !str_is(n->name, known[i]))
            i++;
        if (i == countof(known))
            note_unknown(v, file, n->name);
    }
}

static bool read_object(struct voc *v, struct reader_sample *s, const struct xml_node *object, unsigned index,
                        struct err *err)
{
    char at[40];
    struct shape shape;
    snprintf(at, sizeof at, "object[%u]", index);
    if (!read_box(object, &shape)) {
        reader_skip(s->r, s->source, str_of(at), "it has no bndbox of four numbers");
        return true;
    }
    look_for_unknown(v, s->source, object);
    shape.label = xml_text(xml_child(object, "name"));
    shape.attributes = attributes_of(&s->arena, object);
    if (!reader_add_shape(s, &shape, at))
        return true;
    return reader_label_name(s->r, shape.label, err);
}

static void find_picture(struct reader_sample *s, const struct xml_node *root)
{
    struct str name = str_trim(xml_text(xml_child(root, "filename")));
    struct str stem = path_stem(s->source);
    double width = 0, height = 0;
    const struct xml_node *size = xml_child(root, "size");
    s->file = name.n ? reader_find(s->r, s->source, name) : READER_NONE;
    if (s->file == READER_NONE)
        s->file = reader_find_stem(s->r, path_dir(s->source), stem);
    s->path =
        name.n && name.n <= 1000 ? name : str_of(arena_printf(&s->arena, STR_FMT ".jpg", STR_ARG(stem)));
    if (real_at(size, "width", &width) && real_at(size, "height", &height) && width >= 1 && height >= 1 &&
        width <= ANNOTATION_MAX_SIDE && height <= ANNOTATION_MAX_SIDE) {
        s->width = (uint32_t)width;
        s->height = (uint32_t)height;
    } else {
        reader_sample_size(s);
    }
}

/* ImageSets/Main/train.txt and the like: stems of a part, one per line. Lists of single classes
 * (cat_train.txt) say nothing more. */
static bool read_sets(struct voc *v, struct err *err)
{
    struct codec_reader *r = v->r;
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct str path = reader_path(r, i), text;
        if (!reader_has(r, i, ".txt") || !str_ends(path_dir(path), "ImageSets/Main"))
            continue;
        if (!reader_open(r, i, &text, err))
            return false;
        enum codec_split part = path_file_split(path);
        bool plain = !memchr(path_base(path).p, '_', path_base(path).n);
        for (struct str rest = text; plain && part && rest.p;) {
            struct str line = str_trim(str_cut(rest, '\n', &rest));
            if (line.n && !map_get(v->sets, line))
                map_set(v->sets, line, (void *)(uintptr_t)part);
        }
        reader_close(r, i, text);
    }
    return true;
}

static enum codec_split split_of(const struct reader_sample *s, const struct map *sets)
{
    struct str path = s->file != READER_NONE ? reader_path(s->r, s->file) : s->source;
    enum codec_split split = path_split(path);
    return split ? split : (enum codec_split)(uintptr_t)map_get(sets, path_stem(s->source));
}

/* The document as UTF-8: what its first line says it is written in is believed. */
static struct str decoded(struct arena *a, struct str text)
{
    struct str line = {text.p, text.n < 200 ? text.n : 200};
    ptrdiff_t at = str_starts(line, "<?xml") ? str_find(line, STR("encoding=")) : -1;
    char charset[32];
    size_t n = 0;
    if (at < 0)
        return text;
    for (size_t i = (size_t)at + 10; i < line.n && n < sizeof charset - 1; i++) {
        if (line.p[i] == '"' || line.p[i] == '\'')
            break;
        charset[n++] = line.p[i];
    }
    charset[n] = 0;
    struct str name = str_of(charset), ret;
    bool chinese = str_ieq(name, STR("gb2312")) || str_ieq(name, STR("gbk"));
    if (str_ieq(name, STR("utf-8")))
        return text;
    return charset_to_utf8(a, chinese ? "GB18030" : charset, text, &ret) ? ret : text;
}

static bool read_document(struct voc *v, struct str source, struct str text, struct err *err)
{
    struct codec_reader *r = v->r;
    struct reader_sample s;
    struct err bad;
    reader_sample_init(&s, r, source);
    const struct xml_node *root =
        text.n <= XML_MAX ? xml_parse(&s.arena, decoded(&s.arena, text), &bad) : NULL;
    bool ok = true;
    if (text.n > XML_MAX) {
        reader_skip(r, source, STR_NULL, "it is larger than %d bytes", XML_MAX);
    } else if (!root) {
        reader_skip(r, source, STR_NULL, "%s", bad.message);
    } else if (!str_is(root->name, "annotation")) {
        reader_skip(r, source, STR_NULL, "its element is not <annotation>");
    } else {
        unsigned index = 0;
        find_picture(&s, root);
        s.split = split_of(&s, v->sets);
        for (const struct xml_node *n = root->children; ok && n; n = n->next)
            if (str_is(n->name, "object"))
                ok = read_object(v, &s, n, index++, err);
        ok = ok && reader_emit(&s, STR_NULL, err);
    }
    reader_sample_release(&s);
    return ok;
}

/* The pictures of SegmentationClass and SegmentationObject are masks, no samples. */
static void leave_masks(struct codec_reader *r)
{
    for (size_t i = 0; i < r->in->file_count; i++) {
        struct str folder = path_base(path_dir(reader_path(r, i)));
        if (r->in->files[i].known ||
            (!str_is(folder, "SegmentationClass") && !str_is(folder, "SegmentationObject")))
            continue;
        r->use[i] = READER_CONSUMED;
        reader_problem(r, CODEC_IGNORED, reader_path(r, i), STR_NULL, "masks of VOC are not read");
    }
}

static bool read_all(struct voc *v, struct err *err)
{
    struct codec_reader *r = v->r;
    bool ok = read_sets(v, err);
    for (size_t i = 0; ok && i < r->in->file_count; i++) {
        struct str text, path = reader_path(r, i);
        if (!reader_has(r, i, ".xml"))
            continue;
        if (!reader_open(r, i, &text, err))
            return false;
        ok = read_document(v, path, text, err) && reader_progress(r, text.n, err);
        reader_close(r, i, text);
    }
    return ok;
}

bool voc_read(struct codec_reader *r, struct err *err)
{
    struct voc v = {.r = r, .sets = map_new()};
    leave_masks(r);
    bool ok = read_all(&v, err);
    for (size_t i = 0; ok && i < v.unknown_count; i++)
        reader_problem(r, CODEC_IGNORED, v.unknown[i].file, v.unknown[i].name,
                       "this member of %llu objects is not read", (unsigned long long)v.unknown[i].count);
    map_free(v.sets);
    return ok;
}

/* ---- writing ---- */

static void put_element(struct buf *b, const char *name, struct str text)
{
    buf_printf(b, "<%s>", name);
    xml_escape(b, text);
    buf_printf(b, "</%s>", name);
}

static void put_real(struct buf *b, const char *name, double v)
{
    buf_printf(b, "<%s>", name);
    model_write_number(b, geometry_tidy(v));
    buf_printf(b, "</%s>", name);
}

static void put_flag(struct buf *b, yyjson_val *attributes, const char *name, const char *otherwise)
{
    yyjson_val *v = yyjson_obj_get(attributes, name);
    if (yyjson_is_num(v))
        put_real(b, name, yyjson_get_num(v));
    else
        put_element(b, name, yyjson_is_str(v) ? json_str(v) : str_of(otherwise));
}

static void put_object(struct buf *b, struct arena *a, const struct shape *s)
{
    double box[4];
    struct err ignored;
    yyjson_val *attributes = s->attributes.n ? json_parse(a, s->attributes, &ignored) : NULL;
    buf_z(b, "  <object>");
    put_element(b, "name", s->label);
    put_flag(b, attributes, "pose", "Unspecified");
    put_flag(b, attributes, "truncated", s->truncated ? "1" : "0");
    put_flag(b, attributes, "difficult", "0");
    if (s->occluded || yyjson_obj_get(attributes, "occluded"))
        put_flag(b, attributes, "occluded", s->occluded ? "1" : "0");
    if (s->kind == SHAPE_BOX && s->angle != 0) {
        buf_z(b, "<type>robndbox</type><robndbox>");
        put_real(b, "cx", s->x + s->w / 2);
        put_real(b, "cy", s->y + s->h / 2);
        put_real(b, "w", s->w);
        put_real(b, "h", s->h);
        buf_z(b, "<angle>");
        model_write_number(b, s->angle * M_PI / 180);
        buf_z(b, "</angle></robndbox></object>\n");
        return;
    }
    geometry_box_of(s, box);
    buf_z(b, "<bndbox>");
    put_real(b, "xmin", box[0] + 1);
    put_real(b, "ymin", box[1] + 1);
    put_real(b, "xmax", box[0] + box[2]);
    put_real(b, "ymax", box[1] + box[3]);
    buf_z(b, "</bndbox></object>\n");
}

static bool write_sample(struct codec_writer *w, struct writer_sample *it, struct err *err)
{
    char *name = writer_unique(w, it, it->s.path);
    struct str stem = str_of(name), base = path_base(stem);
    struct buf *b = &w->buf;
    stem.n -= base.n - path_stem(base).n;
    char *path = arena_printf(&it->arena, "Annotations/" STR_FMT ".xml", STR_ARG(stem));
    buf_clear(b);
    buf_z(b, "<annotation>\n  ");
    put_element(b, "folder", STR("JPEGImages"));
    put_element(b, "filename", writer_reference(w, it, str_of(name)));
    buf_printf(b, "\n  <size><width>%u</width><height>%u</height><depth>3</depth></size>\n", it->s.width,
               it->s.height);
    buf_z(b, "  <segmented>0</segmented>\n");
    for (uint32_t i = 0; i < it->n.shape_count; i++)
        put_object(b, &it->arena, &it->n.shapes[i]);
    buf_z(b, "</annotation>\n");
    if (!it->s.width || !it->s.height)
        writer_problem(w, CODEC_REPAIRED, it->s.path, STR_NULL,
                       "the picture's size is not known; written as 0");
    return writer_file(w, path, err) &&
           writer_media(w, it, arena_printf(&it->arena, "JPEGImages/%s", name), err);
}

/* ImageSets/Main/PART.txt: the stems of one part. */
static bool write_set(struct codec_writer *w, enum codec_split part, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, any = false, ok = writer_rewind(w, &it, err);
    char path[64];
    snprintf(path, sizeof path, "ImageSets/Main/%s.txt", codec_split_names[part]);
    writer_names_reset(w);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end) {
        struct str name = str_of(writer_unique(w, &it, it.s.path)), base = path_base(name);
        if (writer_part(w, &it) != part)
            continue;
        ok = any || writer_begin(w, path, err);
        any = true;
        buf_add(&w->buf, name.p, name.n - (base.n - path_stem(base).n));
        buf_char(&w->buf, '\n');
        ok = ok && writer_flush(w, err);
    }
    writer_sample_release(&it);
    return ok && (!any || writer_end(w, err));
}

bool voc_write(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(w, &it, err);
    writer_names_reset(w);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end)
        ok = write_sample(w, &it, err);
    writer_sample_release(&it);
    for (int i = CODEC_TRAIN; ok && i < CODEC_SPLIT_COUNT; i++)
        ok = write_set(w, (enum codec_split)i, err);
    return ok;
}
