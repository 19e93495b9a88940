/* Reading COCO in two goes over the mapped file. The first notes images and categories and, of each
 * annotation, only where it lies and the image it belongs to; they may come in any order. The second takes a
 * group of images at a time, whose annotations together are some tens of megabytes, runs once through the
 * file parsing only theirs, and emits the images. So the file is parsed once, read in order, and never held
 * as a whole. */
#include "base/hash.h"
#include "base/json.h"
#include "codec/coco.h"
#include "codec/coco_captions.h"
#include "codec/coco_ids.h"
#include "codec/scan.h"

#include <math.h>
#include <stdio.h>

enum {
    GROUP_BYTES = 48 << 20,
    DROP_BYTES = 8 << 20,
    DEPTH_MAX = 64,
    POOL_BYTES = 512 << 10,
    UNKNOWN_MAX = 16
};

struct image {
    uint64_t key; /* id */
    struct str name;
    uint32_t width, height, index; /* index: images[index] */
    uint64_t bytes;                /* of its annotations */
};

struct place {
    uint64_t offset, image; /* image: key of the id, later the number of the image */
    uint32_t size, index;   /* index: annotations[index] */
};

struct coco {
    struct codec_reader *r;
    size_t file;
    struct str path, text;
    struct arena arena;
    struct image *images;
    struct str *categories; /* names */
    struct place *places;
    size_t image_count, image_cap, category_count, category_cap, place_count, place_cap;
    struct coco_ids image_ids, category_ids;
    struct coco_captions *captions; /* of all files */
    bool keeping;                   /* a file of captions: kept for the images of other files */
    const char *dropped;            /* pages before this were given back */
    void *pool;                     /* of yyjson */
    struct {
        char name[40];
        uint64_t count;
    } unknown[UNKNOWN_MAX]; /* members of annotations that are not read */
    size_t unknown_count;
};

/* ---- small helpers ---- */

static void *grown(void *p, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return p;
    *cap = *cap ? *cap * 2 : 256;
    return base_realloc(p, *cap * size);
}

static void drop_pages(struct coco *c, const char *upto)
{
    const struct codec_input *in = c->r->in;
    if (in->drop && upto - c->dropped >= DROP_BYTES) {
        in->drop(in->ctx, (struct str){c->dropped, (size_t)(upto - c->dropped)});
        c->dropped = upto;
    }
}

/* A document in the pool, or on the heap when it is large; freed with yyjson_doc_free. */
static yyjson_doc *parse(struct coco *c, struct str text, char *why, size_t why_size)
{
    yyjson_alc alc;
    yyjson_read_err e;
    size_t need = yyjson_read_max_memory_usage(text.n, 0);
    bool pooled = need <= POOL_BYTES && yyjson_alc_pool_init(&alc, c->pool, POOL_BYTES);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.p, text.n, 0, pooled ? &alc : NULL, &e);
    if (!doc)
        snprintf(why, why_size, "not valid JSON at byte %zu: %s", (size_t)(text.p - c->text.p) + e.pos,
                 e.msg);
    return doc;
}

/* ---- first go ---- */

static uint32_t side_of(yyjson_val *v)
{
    double x = yyjson_get_num(v);
    return x >= 1 && x <= ANNOTATION_MAX_SIDE ? (uint32_t)x : 0;
}

static bool add_image(struct coco *c, yyjson_val *v, uint32_t index, const char *at, struct err *err)
{
    (void)err;
    uint64_t key;
    struct str name = json_str(yyjson_obj_get(v, "file_name"));
    if (!yyjson_is_obj(v) || !coco_id_key(yyjson_obj_get(v, "id"), &key) || !name.n || name.n > 1000) {
        reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(at), "an image needs an id and a file_name");
        return true;
    }
    if (c->image_count >= UINT32_MAX - 1)
        return true;
    uint32_t before = coco_ids_get(&c->image_ids, key);
    if (before != UINT32_MAX) {
        reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(at), "its id is that of images[%u]; left out",
                       c->images[before].index);
        return true;
    }
    coco_ids_add(&c->image_ids, key, (uint32_t)c->image_count);
    c->images = grown(c->images, c->image_count, &c->image_cap, sizeof *c->images);
    c->images[c->image_count++] = (struct image){
        .key = key,
        .name = arena_str(&c->arena, name),
        .width = side_of(yyjson_obj_get(v, "width")),
        .height = side_of(yyjson_obj_get(v, "height")),
        .index = index,
    };
    return true;
}

/* Names and pairs of points of a category; pairs count from 1 in the file. */
static void read_skeleton(struct arena *a, yyjson_val *v, struct codec_label *l)
{
    yyjson_val *names = yyjson_obj_get(v, "keypoints"), *pairs = yyjson_obj_get(v, "skeleton"), *item;
    size_t i, max, n = yyjson_arr_size(names);
    if (n == 0 || n > 10000)
        return;
    struct str *list = arena_array(a, struct str, n);
    yyjson_arr_foreach(names, i, max, item) list[i] = arena_str(a, json_str(item));
    l->keypoints = list;
    l->keypoint_count = n;
    uint16_t(*edges)[2] = arena_alloc(a, (yyjson_arr_size(pairs) + 1) * sizeof *edges);
    yyjson_arr_foreach(pairs, i, max, item)
    {
        uint64_t from = yyjson_get_uint(yyjson_arr_get(item, 0)),
                 to = yyjson_get_uint(yyjson_arr_get(item, 1));
        if (from < 1 || from > n || to < 1 || to > n)
            continue;
        edges[l->edge_count][0] = (uint16_t)(from - 1);
        edges[l->edge_count++][1] = (uint16_t)(to - 1);
    }
    l->edges = edges;
}

static bool add_category(struct coco *c, yyjson_val *v, uint32_t index, const char *at, struct err *err)
{
    (void)index;
    uint64_t key;
    struct str name = str_trim(json_str(yyjson_obj_get(v, "name")));
    if (!yyjson_is_obj(v) || !coco_id_key(yyjson_obj_get(v, "id"), &key) || !name.n ||
        !model_is_label(name)) {
        reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(at),
                       "a category needs an id and a name of at most %d characters", ANNOTATION_MAX_LABEL);
        return true;
    }
    uint32_t before = coco_ids_get(&c->category_ids, key);
    if (before != UINT32_MAX) {
        struct str other = c->categories[before];
        if (!str_eq(other, name))
            reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(at),
                           "its id belongs to \"" STR_FMT "\" already", STR_ARG(other));
        return true;
    }
    coco_ids_add(&c->category_ids, key, (uint32_t)c->category_count);
    struct codec_label l = {.name = arena_str(&c->arena, name)};
    struct str parent = json_str(yyjson_obj_get(v, "supercategory"));
    if (parent.n && model_is_label(parent))
        l.parent = arena_str(&c->arena, parent);
    read_skeleton(&c->arena, v, &l);
    c->categories = grown(c->categories, c->category_count, &c->category_cap, sizeof *c->categories);
    c->categories[c->category_count++] = l.name;
    return reader_label(c->r, &l, err);
}

/* The id of the image, from the bytes after "image_id": */
static bool wanted_key(struct coco *c, struct str from, uint64_t *ret)
{
    struct scan s;
    struct scan_value v;
    struct err ignored;
    scan_init(&s, from);
    if (!scan_skip(&s, NULL, &v, &ignored) || v.text.n > 1000)
        return false;
    int64_t n;
    if (str_to_i64(v.text, &n)) { /* nearly always */
        *ret = (uint64_t)n;
        return true;
    }
    char why[100];
    yyjson_doc *doc = parse(c, v.text, why, sizeof why);
    bool ok = doc && coco_id_key(yyjson_doc_get_root(doc), ret);
    yyjson_doc_free(doc);
    return ok;
}

static void add_place(struct coco *c, const struct scan_value *v, uint32_t index)
{
    char at[48];
    uint64_t key;
    snprintf(at, sizeof at, "annotations[%u]", index);
    if (v->depth > DEPTH_MAX) {
        reader_skip(c->r, c->path, str_of(at), "it is nested deeper than %d levels", DEPTH_MAX);
    } else if (v->text.n > ANNOTATION_MAX_BYTES) {
        reader_skip(c->r, c->path, str_of(at), "it is larger than %u bytes", ANNOTATION_MAX_BYTES);
    } else if (!v->wanted.p || !wanted_key(c, v->wanted, &key)) {
        reader_skip(c->r, c->path, str_of(at), "it has no image_id");
    } else {
        c->places = grown(c->places, c->place_count, &c->place_cap, sizeof *c->places);
        c->places[c->place_count++] =
            (struct place){(uint64_t)(v->text.p - c->text.p), key, (uint32_t)v->text.n, index};
    }
}

static bool add_element(struct coco *c, const char *section, const struct scan_value *v, uint32_t index,
                        bool (*add)(struct coco *c, yyjson_val *v, uint32_t index, const char *at,
                                    struct err *err),
                        struct err *err)
{
    char at[48], why[256];
    snprintf(at, sizeof at, "%s[%u]", section, index);
    if (v->depth > DEPTH_MAX || v->text.n > ANNOTATION_MAX_BYTES) {
        reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(at), "it is too large or nested too deeply");
        return true;
    }
    yyjson_doc *doc = parse(c, v->text, why, sizeof why);
    if (!doc) {
        reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(at), "%s", why);
        return true;
    }
    bool ok = add(c, yyjson_doc_get_root(doc), index, at, err);
    yyjson_doc_free(doc);
    return ok;
}

/* One of the lists. Sets *ret_broken when the file cannot be followed further. */
static bool read_section(struct coco *c, struct scan *s, const char *section, bool *ret_broken,
                         struct err *err)
{
    struct err bad;
    bool end = false, annotations = !strcmp(section, "annotations");
    const char *told = s->at;
    *ret_broken = true;
    for (uint32_t i = 0; i < UINT32_MAX; i++) {
        struct scan_value v;
        if (!scan_element(s, i == 0, &end, &bad) ||
            (!end && !scan_skip(s, annotations ? "image_id" : NULL, &v, &bad))) {
            char at[48];
            snprintf(at, sizeof at, "%s[%u]", section, i);
            reader_skip(c->r, c->path, str_of(at), "%s; the rest of the file is left out", bad.message);
            return true;
        }
        if (end)
            break;
        if (annotations)
            add_place(c, &v, i);
        else if (!add_element(c, section, &v, i, !strcmp(section, "images") ? add_image : add_category, err))
            return false;
        if ((i & 4095) == 4095) {
            drop_pages(c, s->at);
            if (!reader_progress(c->r, (uint64_t)(s->at - told) / 2, err))
                return false;
            told = s->at;
        }
    }
    *ret_broken = false;
    return true;
}

static bool read_top(struct coco *c, struct err *err)
{
    static const char *const sections[] = {"images", "annotations", "categories"};
    static const char *const quiet[] = {"info", "licenses", "license", "type"};
    struct scan s;
    struct err bad;
    bool end = false, broken = false;
    scan_init(&s, c->text);
    if (!scan_enter(&s, '{')) {
        reader_skip(c->r, c->path, STR_NULL,
                    "a COCO file is an object with images, annotations and categories");
        return true;
    }
    for (;;) {
        struct str key;
        struct scan_value v;
        const char *section = NULL;
        bool known = false;
        if (!scan_key(&s, &key, &end, &bad))
            break;
        if (end)
            return true;
        for (size_t i = 0; i < countof(sections); i++)
            if (str_is(key, sections[i]))
                section = sections[i];
        for (size_t i = 0; i < countof(quiet); i++)
            known = known || str_is(key, quiet[i]);
        if (section && scan_enter(&s, '[')) {
            if (!read_section(c, &s, section, &broken, err))
                return false;
            if (broken)
                return true;
            continue;
        }
        if (!scan_skip(&s, NULL, &v, &bad))
            break;
        if (!known)
            reader_problem(c->r, CODEC_IGNORED, c->path, key,
                           section ? "it is not a list" : "it is not read");
    }
    reader_skip(c->r, c->path, STR_NULL, "%s; the rest of the file is left out", bad.message);
    return true;
}

/* ---- second go ---- */

struct piece {
    uint32_t image, size;
    size_t offset; /* in the group's text */
    bool caption;  /* else a shape */
};

struct group {
    uint32_t from, to; /* images */
    struct buf text;   /* of shapes and captions, one after the other */
    struct piece *pieces;
    size_t count, cap;
};

static void note_unknown(struct coco *c, struct str key)
{
    for (size_t i = 0; i < c->unknown_count; i++) {
        if (str_is(key, c->unknown[i].name)) {
            c->unknown[i].count++;
            return;
        }
    }
    if (c->unknown_count == UNKNOWN_MAX || key.n >= sizeof c->unknown[0].name)
        return;
    memcpy(c->unknown[c->unknown_count].name, key.p, key.n);
    c->unknown[c->unknown_count++].count = 1;
}

struct fields {
    struct coco_fields geometry;
    yyjson_val *category, *caption;
};

/* Sorts the members by name; false with the key that is there twice. */
static bool take_members(struct coco *c, yyjson_val *v, struct fields *f, struct str *ret_twice)
{
    const struct {
        const char *name;
        yyjson_val **field; /* NULL: known, of no use here */
    } members[] = {
        {"image_id", NULL},
        {"id", NULL},
        {"category_id", &f->category},
        {"bbox", &f->geometry.bbox},
        {"segmentation", &f->geometry.segmentation},
        {"area", &f->geometry.area},
        {"iscrowd", &f->geometry.iscrowd},
        {"keypoints", &f->geometry.keypoints},
        {"num_keypoints", NULL},
        {"score", &f->geometry.score},
        {"text", &f->geometry.text},
        {"utf8_string", &f->geometry.text},
        {"attributes", &f->geometry.attributes},
        {"caption", &f->caption},
    };
    size_t i, max;
    yyjson_val *key, *item;
    yyjson_obj_foreach(v, i, max, key, item)
    {
        struct str name = json_str(key);
        size_t k = 0;
        while (k < countof(members) && !str_is(name, members[k].name))
            k++;
        if (k == countof(members)) {
            note_unknown(c, name);
        } else if (members[k].field) {
            *ret_twice = name;
            if (*members[k].field)
                return false;
            *members[k].field = item;
        }
    }
    return true;
}

static bool to_fields(struct coco *c, struct arena *a, yyjson_val *v, struct fields *ret,
                      const char **ret_why)
{
    struct str twice;
    if (!yyjson_is_obj(v)) {
        *ret_why = "it is not an object";
        return false;
    }
    if (!take_members(c, v, ret, &twice)) {
        *ret_why = arena_printf(a, "the key \"" STR_FMT "\" is there twice", STR_ARG(twice));
        return false;
    }
    if (ret->caption && ret->category)
        note_unknown(c, STR("caption"));
    return true;
}

static bool to_shape(struct coco *c, struct arena *a, const struct fields *f, const char *at,
                     struct shape *ret, const char **ret_why)
{
    uint64_t key;
    uint32_t category =
        f->category && coco_id_key(f->category, &key) ? coco_ids_get(&c->category_ids, key) : UINT32_MAX;
    bool found = category != UINT32_MAX;
    if (!found && !(c->r->type == ANNOTATION_OCR && !f->category)) {
        *ret_why = f->category ? "its category_id is not among the categories" : "it has no category_id";
        return false;
    }
    if (!coco_shape(a, c->r->type, &f->geometry, ret, ret_why))
        return false;
    yyjson_val *crowd = f->geometry.iscrowd;
    ret->label = found ? c->categories[category] : STR_NULL;
    ret->crowd = yyjson_get_bool(crowd) || yyjson_get_num(crowd) != 0;
    ret->has_score = yyjson_is_num(f->geometry.score);
    ret->score = yyjson_get_num(f->geometry.score);
    ret->text = json_str(f->geometry.text);
    const char *rule;
    if (!model_attributes(a, f->geometry.attributes, &ret->attributes, &rule))
        reader_problem(c->r, CODEC_REPAIRED, c->path, str_of(at), "attributes %s; left out", rule);
    return true;
}

static void add_piece(struct group *g, const struct place *p, size_t from, bool caption)
{
    g->pieces = grown(g->pieces, g->count, &g->cap, sizeof *g->pieces);
    g->pieces[g->count++] = (struct piece){(uint32_t)p->image, (uint32_t)(g->text.n - from), from, caption};
}

/* Appends the caption to the group; false with the reason. */
static bool add_caption(struct group *g, const struct place *p, yyjson_val *v, const char **ret_why)
{
    struct str text = json_str(v);
    size_t from = g->text.n;
    if (!yyjson_is_str(v) || !text.n || text.n > COCO_CAPTIONS_MAX / 8) {
        *ret_why = "its caption is not a text of 1 to 8125 bytes";
        return false;
    }
    model_write_string(&g->text, text);
    add_piece(g, p, from, true);
    return true;
}

/* Parses one annotation and appends its shape or caption to the group. */
static void convert(struct coco *c, struct group *g, const struct place *p)
{
    char at[48], why[256];
    const struct image *image = &c->images[p->image];
    struct reader_sample s;
    struct fields f = {0};
    struct shape shape;
    const char *reason = why;
    snprintf(at, sizeof at, "annotations[%u]", p->index);
    reader_sample_init(&s, c->r, c->path);
    s.width = image->width;
    s.height = image->height;
    yyjson_doc *doc = parse(c, (struct str){c->text.p + p->offset, p->size}, why, sizeof why);
    bool ok = doc && to_fields(c, &s.arena, yyjson_doc_get_root(doc), &f, &reason);
    bool caption = ok && f.caption && !f.category;
    if (!ok || (caption ? !add_caption(g, p, f.caption, &reason)
                        : !to_shape(c, &s.arena, &f, at, &shape, &reason))) {
        reader_skip(c->r, c->path, str_of(at), "%s", reason);
    } else if (!caption && reader_check_shape(&s, &shape, at)) {
        size_t from = g->text.n;
        model_write_shape(&g->text, &shape);
        add_piece(g, p, from, false);
    }
    yyjson_doc_free(doc);
    reader_sample_release(&s);
}

static int by_image(const void *x, const void *y)
{
    const struct piece *a = x, *b = y;
    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Shapes and captions of one image, each with commas between. */
struct texts {
    struct buf shapes, captions, whole;
};

/* Adds a piece unless the sample has too much of it. */
static bool join_piece(struct coco *c, struct buf *to, uint64_t *count, struct str piece, bool caption)
{
    size_t limit = caption ? COCO_CAPTIONS_MAX : ANNOTATION_MAX_BYTES - COCO_CAPTIONS_MAX - 64;
    if (*count == ANNOTATION_MAX_SHAPES || to->n + piece.n + 1 > limit) {
        c->r->counts.records++;
        c->r->counts.skipped++;
        return false;
    }
    if ((*count)++)
        buf_char(to, ',');
    buf_str(to, piece);
    return true;
}

static void join_pieces(struct coco *c, const struct group *g, size_t from, size_t to, struct texts *t,
                        struct reader_sample *s)
{
    uint64_t counts[2] = {0}, over[2] = {0};
    buf_clear(&t->shapes);
    buf_clear(&t->captions);
    for (size_t i = from; i < to; i++) {
        const struct piece *p = &g->pieces[i];
        struct str piece = {g->text.p + p->offset, p->size};
        if (!join_piece(c, p->caption ? &t->captions : &t->shapes, &counts[p->caption], piece, p->caption))
            over[p->caption]++;
    }
    s->records = counts[0] + counts[1];
    if (over[0])
        reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(s->position),
                       "%llu annotations beyond %d, or beyond %u bytes, are left out",
                       (unsigned long long)over[0], ANNOTATION_MAX_SHAPES, ANNOTATION_MAX_BYTES);
    if (over[1])
        reader_problem(c->r, CODEC_SKIPPED, c->path, str_of(s->position),
                       "%llu captions beyond %d bytes are left out", (unsigned long long)over[1],
                       COCO_CAPTIONS_MAX);
}

static bool emit_image(struct coco *c, struct group *g, uint32_t number, size_t from, size_t to,
                       struct texts *t, struct err *err)
{
    const struct image *image = &c->images[number];
    struct reader_sample s;
    bool ok = true;
    reader_sample_init(&s, c->r, c->path);
    s.file = reader_find(c->r, c->path, image->name);
    s.path = image->name;
    s.width = image->width;
    s.height = image->height;
    s.split = path_file_split(c->path);
    if (s.split == CODEC_SPLIT_NONE && s.file != READER_NONE)
        s.split = path_split(reader_path(c->r, s.file));
    snprintf(s.position, sizeof s.position, "images[%u]", image->index);
    join_pieces(c, g, from, to, t, &s);
    if (c->keeping && !t->shapes.n) {
        coco_captions_keep(c->captions, &s, buf_view(&t->captions));
    } else {
        coco_captions_take(c->captions, &s, &t->captions);
        coco_annotation_text(&t->whole, buf_view(&t->captions), buf_view(&t->shapes));
        ok = reader_emit(&s, buf_view(&t->whole), err);
    }
    reader_sample_release(&s);
    return ok;
}

static bool emit_group(struct coco *c, struct group *g, struct err *err)
{
    struct texts t = {0};
    size_t from = 0, to = 0;
    bool ok = true;
    if (g->count)
        qsort(g->pieces, g->count, sizeof *g->pieces, by_image);
    for (uint32_t i = g->from; ok && i < g->to; i++, from = to) {
        while (to < g->count && g->pieces[to].image == i)
            to++;
        ok = emit_image(c, g, i, from, to, &t, err);
    }
    buf_release(&t.shapes);
    buf_release(&t.captions);
    buf_release(&t.whole);
    return ok;
}

static bool run_group(struct coco *c, struct group *g, uint64_t bytes, struct err *err)
{
    g->count = 0;
    buf_clear(&g->text);
    c->dropped = c->text.p;
    for (size_t i = 0; i < c->place_count; i++) {
        const struct place *p = &c->places[i];
        if (p->image < g->from || p->image >= g->to)
            continue;
        convert(c, g, p);
        if ((i & 255) == 255)
            drop_pages(c, c->text.p + p->offset);
    }
    return reader_progress(c->r, bytes / 2, err) && emit_group(c, g, err);
}

/* Turns ids of images into numbers; annotations of images that are not there are skipped. */
static void resolve(struct coco *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->place_count; i++) {
        struct place p = c->places[i];
        uint32_t number = coco_ids_get(&c->image_ids, p.image);
        if (number == UINT32_MAX) {
            char at[48];
            snprintf(at, sizeof at, "annotations[%u]", p.index);
            reader_skip(c->r, c->path, str_of(at), "its image_id is not among the images");
            continue;
        }
        p.image = number;
        c->images[p.image].bytes += p.size;
        c->places[kept++] = p;
    }
    c->place_count = kept;
}

static bool emit_all(struct coco *c, struct err *err)
{
    struct group g = {0};
    bool ok = true;
    while (ok && g.to < c->image_count) {
        uint64_t bytes = 0;
        for (g.from = g.to; g.to < c->image_count; g.to++) {
            if (bytes && bytes + c->images[g.to].bytes > GROUP_BYTES)
                break;
            bytes += c->images[g.to].bytes;
        }
        ok = run_group(c, &g, bytes, err);
    }
    free(g.pieces);
    buf_release(&g.text);
    return ok;
}

static bool read_file(struct coco *c, struct err *err)
{
    c->dropped = c->text.p;
    if (!read_top(c, err))
        return false;
    resolve(c);
    if (!emit_all(c, err))
        return false;
    for (size_t i = 0; i < c->unknown_count; i++)
        reader_problem(c->r, CODEC_IGNORED, c->path, str_of(c->unknown[i].name),
                       "this member of %llu annotations is not read",
                       (unsigned long long)c->unknown[i].count);
    return true;
}

/* A file with one of the lists at its top level. Categories alone are what other formats note too. */
static bool looks_like_coco(struct str head)
{
    struct scan s;
    struct err ignored;
    scan_init(&s, head);
    if (!scan_enter(&s, '{'))
        return false;
    for (bool end = false;;) {
        struct str key;
        struct scan_value v;
        if (!scan_key(&s, &key, &end, &ignored) || end)
            return false;
        bool list = scan_peek(&s) == '[';
        if (list && (str_is(key, "images") || str_is(key, "annotations")))
            return true;
        if (!scan_skip(&s, NULL, &v, &ignored))
            return false;
    }
}

static bool is_coco_file(struct codec_reader *r, size_t file)
{
    auto_buf struct buf head = {0};
    return reader_has(r, file, ".json") && reader_peek(r, file, 1 << 20, &head) &&
           looks_like_coco(buf_view(&head));
}

int coco_detect(struct codec_reader *r, size_t *ret_file)
{
    return reader_detect(r, ".json", is_coco_file, ret_file) ? 90 : 0;
}

static bool read_one(struct codec_reader *r, size_t file, struct coco_captions *captions, bool keeping,
                     struct err *err)
{
    struct coco c = {
        .r = r, .file = file, .path = reader_path(r, file), .captions = captions, .keeping = keeping};
    if (!reader_open(r, file, &c.text, err))
        return false;
    c.pool = base_alloc(POOL_BYTES);
    bool ok = read_file(&c, err);
    reader_close(r, file, c.text);
    free(c.images);
    free(c.categories);
    free(c.places);
    free(c.image_ids.slots);
    free(c.category_ids.slots);
    free(c.pool);
    arena_release(&c.arena);
    return ok;
}

/* Whether the file is one of captions that belong to the images of others. */
static bool has_captions(struct codec_reader *r, size_t file)
{
    struct str text;
    struct err ignored;
    if (!reader_open(r, file, &text, &ignored))
        return false;
    bool found = coco_captions_in(text);
    if (r->in->close)
        r->in->close(r->in->ctx, reader_path(r, file), text);
    return found;
}

enum { NOT_COCO, SHAPES_FILE, CAPTIONS_FILE };

bool coco_read(struct codec_reader *r, struct err *err)
{
    size_t n = r->in->file_count, found = 0;
    auto_free uint8_t *kinds = base_zalloc(n + 1);
    struct coco_captions *captions = coco_captions_new();
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        if (is_coco_file(r, i)) {
            kinds[i] = SHAPES_FILE;
            found++;
        }
    for (size_t i = 0; found > 1 && i < n; i++)
        if (kinds[i] && has_captions(r, i))
            kinds[i] = CAPTIONS_FILE;
    for (int kind = CAPTIONS_FILE; kind > NOT_COCO; kind--)
        for (size_t i = 0; ok && i < n; i++)
            if (kinds[i] == kind)
                ok = read_one(r, i, captions, kind == CAPTIONS_FILE, err);
    ok = ok && coco_captions_rest(captions, r, err);
    coco_captions_free(captions);
    return ok;
}
