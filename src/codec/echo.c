/* What of an annotation comes back from a format: it is written into memory and read again. */
#include "codec/echo.h"

#include "base/buf.h"

#include <stdlib.h>

struct echo_file {
    struct str path, bytes;
    bool media;
};

struct echo {
    struct arena *arena;
    const struct codec_sample *was;
    struct str text; /* the sample's bytes, of a text */
    bool given;      /* the sample was pulled in this walk */
    struct echo_file *files;
    size_t count, cap;
    struct buf buf; /* of the file being written */
    struct codec_sample now;
    bool found;
};

/* --- writing --- */

static bool next(void *ctx, struct codec_sample *ret, bool *ret_end, struct err *err)
{
    (void)err;
    struct echo *e = ctx;
    *ret_end = e->given;
    e->given = true;
    *ret = *e->was;
    return true;
}

static bool again(void *ctx, struct err *err)
{
    (void)err;
    ((struct echo *)ctx)->given = false;
    return true;
}

static bool bytes_of(void *ctx, const struct codec_sample *s, struct str *ret, struct err *err)
{
    (void)s;
    (void)err;
    *ret = ((struct echo *)ctx)->text;
    return true;
}

static void add(struct echo *e, struct str path, bool media)
{
    if (e->count == e->cap) {
        size_t cap = e->cap ? e->cap * 2 : 8;
        e->files = arena_grow(e->arena, e->files, e->cap * sizeof *e->files, cap * sizeof *e->files);
        e->cap = cap;
    }
    e->files[e->count++] =
        (struct echo_file){.path = arena_str(e->arena, path), .bytes = STR(""), .media = media};
}

static bool begin(void *ctx, const char *path, struct err *err)
{
    (void)err;
    struct echo *e = ctx;
    add(e, str_of(path), false);
    buf_clear(&e->buf);
    return true;
}

static bool put(void *ctx, const void *p, size_t n, struct err *err)
{
    (void)err;
    buf_add(&((struct echo *)ctx)->buf, p, n);
    return true;
}

static bool end(void *ctx, struct err *err)
{
    (void)err;
    struct echo *e = ctx;
    e->files[e->count - 1].bytes = arena_str(e->arena, buf_view(&e->buf));
    return true;
}

static bool media(void *ctx, const struct codec_sample *s, const char *path, struct err *err)
{
    (void)s;
    (void)err;
    add(ctx, str_of(path), true);
    return true;
}

/* --- reading --- */

static bool open_file(void *ctx, struct str path, struct str *ret, struct err *err)
{
    struct echo *e = ctx;
    for (size_t i = 0; i < e->count; i++)
        if (str_eq(e->files[i].path, path)) {
            *ret = e->files[i].bytes;
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, NULL, "there is no such file");
}

static bool size_of(void *ctx, struct str path, uint32_t *w, uint32_t *h, struct err *err)
{
    (void)path;
    (void)err;
    struct echo *e = ctx;
    *w = e->was->width;
    *h = e->was->height;
    return true;
}

static bool take(void *ctx, const struct codec_sample *s, struct err *err)
{
    (void)err;
    struct echo *e = ctx;
    if (e->found)
        return true;
    e->found = true;
    e->now.annotation = s->annotation.p ? arena_str(e->arena, s->annotation) : STR_NULL;
    e->now.split = s->split;
    return true;
}

static void ignore(void *ctx, const struct codec_problem *p)
{
    (void)ctx;
    (void)p;
}

static int by_path(const void *x, const void *y)
{
    struct str a = ((const struct codec_file *)x)->path, b = ((const struct codec_file *)y)->path;
    int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static bool write_it(struct echo *e, const struct codec *c, enum annotation_type type, struct err *err)
{
    struct codec_source src = {.ctx = e, .next = next, .rewind = again, .bytes = bytes_of};
    struct codec_output out = {.ctx = e, .file_begin = begin, .write = put, .file_end = end, .media = media};
    return codec_write(c, &src, type, &out, NULL, NULL, err);
}

static bool read_it(struct echo *e, const struct codec *c, enum annotation_type type, struct err *err)
{
    struct codec_counts counts;
    struct codec_file *list = arena_array(e->arena, struct codec_file, e->count + 1);
    for (size_t i = 0; i < e->count; i++)
        list[i] = (struct codec_file){.path = e->files[i].path, .size = e->files[i].bytes.n};
    if (e->count)
        qsort(list, e->count, sizeof *list, by_path);
    struct codec_input in = {.files = list,
                             .file_count = e->count,
                             .ctx = e,
                             .open = open_file,
                             .size = size_of,
                             .sample = take,
                             .problem = ignore};
    return codec_read(c, &in, type, &counts, err);
}

bool codec_echo(const struct codec *c, enum annotation_type type, const struct codec_sample *was,
                struct str text, struct arena *a, struct str *ret_annotation, enum codec_split *ret_split,
                struct err *err)
{
    struct echo e = {.arena = a, .was = was, .text = text};
    bool ok = c->writes >> type & 1 && write_it(&e, c, type, err) && read_it(&e, c, type, err) && e.found;
    buf_release(&e.buf);
    if (ok) {
        *ret_annotation = e.now.annotation;
        *ret_split = e.now.split;
    }
    return ok;
}
