#include "codec/writer.h"
#include "codec/path.h"

#include "base/map.h"
#include "codec/raster.h"
#include "codec/trace.h"

#include <stdarg.h>
#include <stdio.h>

enum { FLUSH_BYTES = 64 << 10 };

static void add_label(struct codec_writer *w, const struct codec_label *l, size_t *cap)
{
    if (!l->name.n || map_get(w->label_index, l->name))
        return;
    if (w->label_count == *cap) {
        size_t more = *cap ? *cap * 2 : 64;
        w->labels = arena_grow(&w->arena, w->labels, *cap * sizeof *l, more * sizeof *l);
        *cap = more;
    }
    w->labels[w->label_count++] = *l;
    map_set(w->label_index, l->name, (void *)(uintptr_t)w->label_count);
}

static int by_name(const void *x, const void *y)
{
    struct str a = ((const struct codec_label *)x)->name, b = ((const struct codec_label *)y)->name;
    int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return c ? c : a.n < b.n ? -1 : a.n > b.n;
}

static void see(struct codec_writer *w, struct str name, size_t *cap)
{
    if (name.n && !map_get(w->label_index, name))
        add_label(w, &(struct codec_label){.name = arena_str(&w->arena, name)}, cap);
}

static void collect(struct codec_writer *w, const struct annotation *n, size_t *cap)
{
    for (uint32_t i = 0; i < n->label_count; i++)
        see(w, n->labels[i], cap);
    for (uint32_t i = 0; i < n->shape_count; i++)
        see(w, n->shapes[i].label, cap);
    for (uint32_t i = 0; i < n->span_count; i++)
        see(w, n->spans[i].label, cap);
    for (uint32_t i = 0; i < n->segment_count; i++)
        see(w, n->segments[i].label, cap);
}

/* The caller's labels, then those that only samples use, by name. */
static bool collect_labels(struct codec_writer *w, struct err *err)
{
    size_t cap = 0;
    for (size_t i = 0; i < w->src->label_count; i++)
        add_label(w, &w->src->labels[i], &cap);
    size_t given = w->label_count;
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(w, &it, err);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end)
        collect(w, &it.n, &cap);
    w->sample_count = it.number;
    writer_sample_release(&it);
    if (!ok)
        return false;
    if (w->label_count > given)
        qsort(w->labels + given, w->label_count - given, sizeof *w->labels, by_name);
    for (size_t i = given; i < w->label_count; i++)
        map_set(w->label_index, w->labels[i].name, (void *)(uintptr_t)(i + 1));
    return true;
}

bool writer_init(struct codec_writer *w, const struct codec_source *src, enum annotation_type type,
                 const struct codec_output *out, struct err *err)
{
    struct codec_writer init = {.src = src, .out = out, .type = type, .data = annotation_types[type].data};
    init.problem = w->problem;
    init.problem_ctx = w->problem_ctx;
    *w = init;
    w->label_index = map_new();
    return collect_labels(w, err);
}

void writer_release(struct codec_writer *w)
{
    map_free(w->label_index);
    map_free(w->names);
    free(w->parts);
    buf_release(&w->buf);
    arena_release(&w->arena);
}

bool writer_rewind(struct codec_writer *w, struct writer_sample *it, struct err *err)
{
    writer_sample_release(it);
    *it = (struct writer_sample){0};
    return w->src->rewind(w->src->ctx, err);
}

bool writer_next(struct codec_writer *w, struct writer_sample *it, bool *ret_end, struct err *err)
{
    arena_release(&it->arena);
    if (it->started)
        it->number++;
    it->started = true;
    it->n = (struct annotation){0};
    if (!w->src->next(w->src->ctx, &it->s, ret_end, err))
        return false;
    if (*ret_end || !it->s.annotation.n)
        return true;
    return model_parse(&it->arena, MODEL_ANY, it->s.annotation, &it->n, err);
}

void writer_sample_release(struct writer_sample *it)
{
    arena_release(&it->arena);
}

enum codec_split writer_part(const struct codec_writer *w, const struct writer_sample *it)
{
    return w->parts && it->number < w->sample_count ? w->parts[it->number] : it->s.split;
}

bool writer_begin(struct codec_writer *w, const char *path, struct err *err)
{
    buf_clear(&w->buf);
    return w->out->file_begin(w->out->ctx, path, err);
}

static bool pass_on(struct codec_writer *w, struct err *err)
{
    bool ok = !w->buf.n || w->out->write(w->out->ctx, w->buf.p, w->buf.n, err);
    buf_clear(&w->buf);
    return ok;
}

bool writer_flush(struct codec_writer *w, struct err *err)
{
    return w->buf.n < FLUSH_BYTES || pass_on(w, err);
}

bool writer_end(struct codec_writer *w, struct err *err)
{
    return pass_on(w, err) && w->out->file_end(w->out->ctx, err);
}

bool writer_file(struct codec_writer *w, const char *path, struct err *err)
{
    return w->out->file_begin(w->out->ctx, path, err) && writer_end(w, err);
}

bool writer_media(struct codec_writer *w, const struct writer_sample *it, const char *path, struct err *err)
{
    return !w->out->media || w->out->media(w->out->ctx, &it->s, path, err);
}

struct str writer_reference(const struct codec_writer *w, const struct writer_sample *it, struct str name)
{
    return w->out->media ? name : it->s.path;
}

bool writer_all_media(struct codec_writer *w, struct err *err)
{
    struct writer_sample it = {0};
    bool end = false, ok = writer_rewind(w, &it, err);
    while (ok && (ok = writer_next(w, &it, &end, err)) && !end)
        ok = writer_media(w, &it, arena_strz(&it.arena, it.s.path), err);
    writer_sample_release(&it);
    return ok;
}

void writer_names_reset(struct codec_writer *w)
{
    map_free(w->names);
    w->names = map_new();
}

/* A number before the ending keeps apart what is the same: the stem, or the whole path. */
static char *numbered(struct codec_writer *w, struct writer_sample *it, struct str path, bool whole)
{
    if (str_starts(path, "images/"))
        path = (struct str){path.p + 7, path.n - 7};
    struct str stem = path_bare(path), rest = {path.p + stem.n, path.n - stem.n};
    char *name = arena_printf(&it->arena, STR_FMT STR_FMT, STR_ARG(stem), STR_ARG(rest));
    size_t key = whole ? path.n : stem.n;
    for (unsigned i = 2; map_get(w->names, (struct str){name, key}); i++) {
        name = arena_printf(&it->arena, STR_FMT "-%u" STR_FMT, STR_ARG(stem), i, STR_ARG(rest));
        key = strlen(name) - (whole ? 0 : rest.n);
    }
    map_set(w->names, (struct str){name, key}, w);
    return name;
}

char *writer_unique(struct codec_writer *w, struct writer_sample *it, struct str path)
{
    return numbered(w, it, path, false);
}

char *writer_bare(struct codec_writer *w, struct writer_sample *it)
{
    return numbered(w, it, it->s.path, true);
}

size_t writer_label(const struct codec_writer *w, struct str name)
{
    uintptr_t number = name.n ? (uintptr_t)map_get(w->label_index, name) : 0;
    return number ? number - 1 : SIZE_MAX;
}

void writer_problem(struct codec_writer *w, enum codec_problem_kind kind, struct str path,
                    struct str position, const char *fmt, ...)
{
    if (!w->problem)
        return;
    char reason[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    w->problem(w->problem_ctx, &(struct codec_problem){kind, path, position, reason});
}

bool writer_outline(struct codec_writer *w, struct writer_sample *it, uint32_t i)
{
    struct shape *s = &it->n.shapes[i];
    uint32_t holes;
    char at[32];
    if (s->kind != SHAPE_MASK)
        return true;
    snprintf(at, sizeof at, "shapes[%u]", i);
    if (!trace_mask(&it->arena, s, &s->rings, &s->ring_count, &holes) || !s->ring_count) {
        writer_problem(w, CODEC_SKIPPED, it->s.path, str_of(at),
                       "its mask is empty, or has too long an outline");
        return false;
    }
    s->kind = SHAPE_POLYGON;
    s->counts = STR_NULL;
    writer_problem(w, CODEC_REPAIRED, it->s.path, str_of(at), "its mask became a polygon%s",
                   holes ? " without its holes" : "");
    return true;
}

void writer_holes(struct codec_writer *w, struct writer_sample *it, uint32_t i, bool masks)
{
    struct shape *s = &it->n.shapes[i];
    char at[32];
    if (!s->hole_count)
        return;
    snprintf(at, sizeof at, "shapes[%u]", i);
    if (masks && model_takes_shape(w->type, SHAPE_MASK) &&
        raster_polygon(&it->arena, s, it->s.width, it->s.height)) {
        writer_problem(w, CODEC_REPAIRED, it->s.path, str_of(at), "it has holes and became a mask");
        return;
    }
    s->hole_count = 0;
    writer_problem(w, CODEC_REPAIRED, it->s.path, str_of(at), "its holes were left out");
}
