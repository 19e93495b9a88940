/* What the fuzz targets of the codecs share: an upload of a few files, one of them the fuzzer's, is read for
 * a type; every sample must be in canonical form and every record accounted for. Then all samples are written
 * out again. */
#ifndef INGOT_TESTS_CODEC_FUZZ_H
#define INGOT_TESTS_CODEC_FUZZ_H

#include "codec/codec.h"

struct fuzz_file {
    const char *path;
    struct str bytes;
};

struct fuzz_upload {
    struct arena arena;
    const struct fuzz_file *files;
    size_t file_count, sample_count, next;
    enum annotation_type type;
    struct codec_sample samples[64]; /* the first */
};

static bool fuzz_open(void *ctx, struct str path, struct str *ret, struct err *err)
{
    struct fuzz_upload *u = ctx;
    for (size_t i = 0; i < u->file_count; i++) {
        if (!str_is(path, u->files[i].path))
            continue;
        /* A block of its own: the sanitizer then sees a read past its end. */
        char *copy = base_alloc(u->files[i].bytes.n + 1);
        if (u->files[i].bytes.n)
            memcpy(copy, u->files[i].bytes.p, u->files[i].bytes.n);
        copy = base_realloc(copy, u->files[i].bytes.n ? u->files[i].bytes.n : 1);
        *ret = (struct str){copy, u->files[i].bytes.n};
        return true;
    }
    return err_set(err, ERR_NOT_FOUND, NULL, "no such file");
}

static void fuzz_close(void *ctx, struct str path, struct str bytes)
{
    (void)ctx;
    (void)path;
    free((void *)(uintptr_t)bytes.p);
}

static bool fuzz_size(void *ctx, struct str path, uint32_t *ret_width, uint32_t *ret_height, struct err *err)
{
    (void)ctx;
    (void)path;
    (void)err;
    *ret_width = 100;
    *ret_height = 50;
    return true;
}

static bool fuzz_sample(void *ctx, const struct codec_sample *s, struct err *err)
{
    struct fuzz_upload *u = ctx;
    if (s->annotation.p) {
        auto_arena struct arena a = {0};
        struct str text;
        if (!annotation_check(&a, u->type, s->annotation, &text, err) || !str_eq(text, s->annotation))
            abort();
    }
    if (u->sample_count < countof(u->samples)) {
        struct codec_sample *copy = &u->samples[u->sample_count++];
        *copy = *s;
        copy->path = arena_str(&u->arena, s->path);
        copy->content = arena_str(&u->arena, s->content);
        copy->annotation = arena_str(&u->arena, s->annotation);
        copy->width = s->width ? s->width : 100;
        copy->height = s->height ? s->height : 50;
    }
    return true;
}

static void fuzz_problem(void *ctx, const struct codec_problem *p)
{
    (void)ctx;
    if (!p->reason || !*p->reason)
        abort();
}

static bool fuzz_next(void *ctx, struct codec_sample *ret, bool *ret_end, struct err *err)
{
    (void)err;
    struct fuzz_upload *u = ctx;
    *ret_end = u->next == u->sample_count;
    if (!*ret_end)
        *ret = u->samples[u->next++];
    return true;
}

static bool fuzz_rewind(void *ctx, struct err *err)
{
    (void)err;
    ((struct fuzz_upload *)ctx)->next = 0;
    return true;
}

static bool fuzz_bytes(void *ctx, const struct codec_sample *s, struct str *ret, struct err *err)
{
    (void)ctx;
    (void)err;
    *ret = s->content.p ? s->content : STR("bytes");
    return true;
}

static bool fuzz_begin(void *ctx, const char *path, struct err *err)
{
    (void)ctx;
    (void)path;
    (void)err;
    return true;
}

static bool fuzz_write(void *ctx, const void *p, size_t n, struct err *err)
{
    (void)ctx;
    (void)p;
    (void)n;
    (void)err;
    return true;
}

static bool fuzz_end(void *ctx, struct err *err)
{
    (void)ctx;
    (void)err;
    return true;
}

static bool fuzz_media(void *ctx, const struct codec_sample *s, const char *path, struct err *err)
{
    (void)s;
    return fuzz_begin(ctx, path, err);
}

/* Writes the samples in the format, and as training data. */
static void fuzz_write_all(struct fuzz_upload *u, const struct codec *c)
{
    struct codec_source src = {.ctx = u, .next = fuzz_next, .rewind = fuzz_rewind, .bytes = fuzz_bytes};
    struct codec_output out = {
        .ctx = u, .file_begin = fuzz_begin, .write = fuzz_write, .file_end = fuzz_end, .media = fuzz_media};
    struct codec_training training = {.seed = 1, .test_share = 0.3};
    struct codec_training_counts told;
    struct err err = {0};
    if (!codec_write(c, &src, u->type, &out, fuzz_problem, u, &err) ||
        !codec_training_write(&src, u->type, &training, &out, fuzz_problem, u, &told, &err))
        abort();
}

/* Reads the files in the format for the type. */
static void fuzz_codec(const char *format, enum annotation_type type, const struct fuzz_file *files,
                       size_t count)
{
    struct fuzz_upload *u = base_zalloc(sizeof *u);
    const struct codec *c = codec_named(str_of(format));
    struct codec_file list[8];
    struct codec_counts counts = {0};
    struct err err = {0}, doubt = {0};
    *u = (struct fuzz_upload){.files = files, .file_count = count, .type = type};
    for (size_t i = 0; i < count; i++)
        list[i] = (struct codec_file){.path = str_of(files[i].path), .size = files[i].bytes.n};
    struct codec_input in = {
        .files = list,
        .file_count = count,
        .ctx = u,
        .open = fuzz_open,
        .close = fuzz_close,
        .size = fuzz_size,
        .sample = fuzz_sample,
        .problem = fuzz_problem,
    };
    codec_detect(&in, type, &doubt);
    if (!codec_read(c, &in, type, &counts, &err) || counts.records != counts.taken + counts.skipped)
        abort();
    fuzz_write_all(u, c);
    arena_release(&u->arena);
    free(u);
}

#endif
