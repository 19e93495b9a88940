#include "codec/coco_captions.h"

#include "base/json.h"
#include "base/map.h"
#include "codec/scan.h"

#include <stdio.h>

struct kept {
    struct kept *next;
    struct str source, path, captions;
    size_t file;
    uint32_t width, height;
    enum codec_split split;
    char position[64];
    uint64_t records;
    bool taken;
};

struct coco_captions {
    struct arena arena;
    struct map *images; /* struct kept by what the image is */
    struct kept *first, **last;
};

struct coco_captions *coco_captions_new(void)
{
    struct coco_captions *c = base_zalloc(sizeof *c);
    c->images = map_new();
    c->last = &c->first;
    return c;
}

void coco_captions_free(struct coco_captions *c)
{
    map_free(c->images);
    arena_release(&c->arena);
    free(c);
}

bool coco_captions_in(struct str text)
{
    struct scan s;
    struct scan_value v;
    struct err ignored;
    struct str key;
    bool end = false;
    scan_init(&s, text);
    if (!scan_enter(&s, '{'))
        return false;
    while (scan_key(&s, &key, &end, &ignored) && !end) {
        if (!str_is(key, "annotations") || !scan_enter(&s, '[')) {
            if (!scan_skip(&s, NULL, &v, &ignored))
                return false;
            continue;
        }
        struct scan again = s;
        return scan_element(&s, true, &end, &ignored) && !end && scan_skip(&s, "caption", &v, &ignored) &&
               v.wanted.p && scan_element(&again, true, &end, &ignored) &&
               scan_skip(&again, "category_id", &v, &ignored) && !v.wanted.p;
    }
    return false;
}

/* A file of the listing by its number, others by their name. */
static struct str key_of(struct reader_sample *s)
{
    if (s->file != READER_NONE)
        return str_of(arena_printf(&s->arena, "%zu", s->file));
    return str_of(arena_printf(&s->arena, "/" STR_FMT, STR_ARG(s->path)));
}

static struct kept *new_kept(struct coco_captions *c, struct reader_sample *s, struct str key)
{
    struct kept *k = arena_new(&c->arena, struct kept);
    *k = (struct kept){
        .source = s->source,
        .path = arena_str(&c->arena, s->path),
        .file = s->file,
        .width = s->width,
        .height = s->height,
        .split = s->split,
    };
    memcpy(k->position, s->position, sizeof k->position);
    map_set(c->images, key, k);
    *c->last = k;
    c->last = &k->next;
    return k;
}

void coco_captions_keep(struct coco_captions *c, struct reader_sample *s, struct str captions)
{
    struct str key = key_of(s);
    struct kept *k = map_get(c->images, key);
    if (!k)
        k = new_kept(c, s, key);
    if (!s->records)
        return;
    if (k->captions.n + captions.n + 1 > COCO_CAPTIONS_MAX) {
        s->r->counts.records += s->records;
        s->r->counts.skipped += s->records;
        reader_problem(s->r, CODEC_SKIPPED, s->source, str_of(s->position),
                       "its captions are more than %d bytes together with those of another file",
                       COCO_CAPTIONS_MAX);
        return;
    }
    if (k->captions.n)
        k->captions =
            str_of(arena_printf(&c->arena, STR_FMT "," STR_FMT, STR_ARG(k->captions), STR_ARG(captions)));
    else
        k->captions = arena_str(&c->arena, captions);
    k->records += s->records;
}

void coco_captions_take(struct coco_captions *c, struct reader_sample *s, struct buf *captions)
{
    struct kept *k = map_count(c->images) ? map_get(c->images, key_of(s)) : NULL;
    if (!k || k->taken)
        return;
    k->taken = true;
    if (captions->n + k->captions.n + 1 > COCO_CAPTIONS_MAX) {
        s->r->counts.records += k->records;
        s->r->counts.skipped += k->records;
        reader_problem(s->r, CODEC_SKIPPED, k->source, str_of(k->position),
                       "its captions are more than %d bytes together with those of another file",
                       COCO_CAPTIONS_MAX);
        return;
    }
    if (captions->n && k->captions.n)
        buf_char(captions, ',');
    buf_str(captions, k->captions);
    s->records += k->records;
}

bool coco_captions_rest(struct coco_captions *c, struct codec_reader *r, struct err *err)
{
    auto_buf struct buf text = {0};
    bool ok = true;
    for (struct kept *k = c->first; ok && k; k = k->next) {
        struct reader_sample s;
        if (k->taken)
            continue;
        reader_sample_init(&s, r, k->source);
        s.file = k->file;
        s.path = k->path;
        s.width = k->width;
        s.height = k->height;
        s.split = k->split;
        s.records = k->records;
        memcpy(s.position, k->position, sizeof s.position);
        coco_annotation_text(&text, k->captions, STR_NULL);
        ok = reader_emit(&s, buf_view(&text), err);
        reader_sample_release(&s);
    }
    return ok;
}

void coco_annotation_text(struct buf *ret, struct str captions, struct str shapes)
{
    buf_clear(ret);
    buf_char(ret, '{');
    if (captions.n)
        buf_printf(ret, "\"attributes\":{\"captions\":[" STR_FMT "]}%s", STR_ARG(captions),
                   shapes.n ? "," : "");
    if (shapes.n) {
        buf_z(ret, "\"shapes\":[");
        buf_str(ret, shapes);
        buf_char(ret, ']');
    }
    buf_char(ret, '}');
}

bool coco_captions_each(struct str attributes, bool (*fn)(void *ctx, struct str caption), void *ctx)
{
    auto_arena struct arena a = {0};
    struct err ignored;
    if (!attributes.n || str_find(attributes, STR("\"captions\"")) < 0)
        return true;
    yyjson_val *list = yyjson_obj_get(json_parse(&a, attributes, &ignored), "captions"), *item;
    size_t i, max;
    if (!yyjson_is_arr(list))
        return true;
    yyjson_arr_foreach(list, i, max, item)
    {
        if (yyjson_is_str(item) && yyjson_get_len(item) && !fn(ctx, json_str(item)))
            return false;
    }
    return true;
}
