/* The annotation formats, and a small dataset in each of them to look at. */
#include "api/rest/uploads.h"
#include "codec/codec.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>

static void write_types(struct json_out *o, const char *key, unsigned types)
{
    json_key(o, key);
    json_array(o);
    for (unsigned t = 0; t < ANNOTATION_TYPE_COUNT; t++)
        if (types >> t & 1)
            json_z(o, annotation_types[t].name);
    json_array_end(o);
}

static void write_media(struct json_out *o, unsigned types)
{
    json_key(o, "extensions");
    json_array(o);
    for (unsigned d = 0; d < ANNOTATION_DATA_COUNT; d++) {
        bool used = false;
        for (unsigned t = 0; t < ANNOTATION_TYPE_COUNT; t++)
            used = used || ((types >> t & 1) && annotation_types[t].data == d);
        for (const char *const *e = codec_media_endings[d]; used && *e; e++)
            json_z(o, *e);
    }
    json_array_end(o);
}

static void run_formats(struct api_call *call)
{
    auto_buf struct buf body = {0};
    struct json_out o;
    json_begin(&o, &body);
    json_object(&o);
    json_key(&o, "items");
    json_array(&o);
    for (size_t i = 0; i < codec_count; i++) {
        const struct codec *c = &codec_table[i];
        json_object(&o);
        json_kz(&o, "name", c->name);
        json_key(&o, "title");
        json_object(&o);
        json_kz(&o, "en", c->title_en);
        json_kz(&o, "zh", c->title_zh);
        json_object_end(&o);
        json_kz(&o, "files", c->files);
        write_media(&o, c->reads);
        write_types(&o, "imports", c->reads);
        write_types(&o, "exports", c->writes);
        json_object_end(&o);
    }
    json_array_end(&o);
    json_object_end(&o);
    api_answer(call, 200, NULL, 0, buf_view(&body));
}

/* --- a sample archive, in memory: it holds four small samples --- */

struct zip {
    struct archive *archive;
    struct buf bytes;
};

static la_ssize_t take(struct archive *a, void *ctx, const void *p, size_t n)
{
    (void)a;
    buf_add(&((struct zip *)ctx)->bytes, p, n);
    return (la_ssize_t)n;
}

static bool failed(struct zip *z, struct err *err)
{
    return err_set(err, ERR_INTERNAL, NULL, "the archive cannot be written: %s",
                   archive_error_string(z->archive));
}

/* The same bytes each time: all files are of 1980, where zip begins. */
static bool on_begin(void *ctx, const char *path, struct err *err)
{
    struct zip *z = ctx;
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname_utf8(e, path);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0644);
    archive_entry_set_mtime(e, 315532800, 0);
    bool ok = archive_write_header(z->archive, e) == ARCHIVE_OK;
    archive_entry_free(e);
    return ok || failed(z, err);
}

static bool on_write(void *ctx, const void *p, size_t n, struct err *err)
{
    struct zip *z = ctx;
    return archive_write_data(z->archive, p, n) == (la_ssize_t)n || failed(z, err);
}

static bool on_end(void *ctx, struct err *err)
{
    struct zip *z = ctx;
    return archive_write_finish_entry(z->archive) == ARCHIVE_OK || failed(z, err);
}

static bool write_example(struct zip *z, const struct codec *c, enum annotation_type type, struct err *err)
{
    struct codec_output out = {.ctx = z, .file_begin = on_begin, .write = on_write, .file_end = on_end};
    archive_write_set_format_zip(z->archive);
    archive_write_set_bytes_in_last_block(z->archive, 1);
    if (archive_write_open(z->archive, z, NULL, take, NULL) != ARCHIVE_OK)
        return failed(z, err);
    if (!codec_example(c, type, &out, err))
        return false;
    return archive_write_close(z->archive) == ARCHIVE_OK || failed(z, err);
}

/* The wanted annotation type, else the first that the format carries. */
static bool read_type(struct api_call *call, const struct codec *c, enum annotation_type *ret,
                      struct err *err)
{
    struct str name;
    if (!request_param(call->request, "type", &name, err)) {
        for (*ret = 0; !(c->writes >> *ret & 1);)
            (*ret)++;
        return !err->code;
    }
    return annotation_type_asked("type", name, ret, err);
}

static void run_example(struct api_call *call)
{
    struct err err = {0};
    enum annotation_type type;
    struct zip z = {.archive = archive_write_new()};
    const struct codec *c = codec_named(call->params[0]);
    if (!c)
        err_set(&err, ERR_NOT_FOUND, NULL, "there is no format \"" STR_FMT "\"", STR_ARG(call->params[0]));
    if (c && read_type(call, c, &type, &err) && write_example(&z, c, type, &err)) {
        const char *disposition = arena_printf(call->arena, "attachment; filename=\"%s-%s.zip\"", c->name,
                                               annotation_types[type].name);
        const struct header headers[] = {{STR("Content-Type"), STR("application/zip")},
                                         {STR("Content-Disposition"), str_of(disposition)}};
        respond(call->request, 200, headers, countof(headers), buf_view(&z.bytes));
    } else {
        api_problem(call, &err, NULL, 0);
    }
    archive_write_free(z.archive);
    buf_release(&z.bytes);
}

const struct route format_routes[] = {
    {"GET", "/api/v1/formats", NULL, run_formats,
     .summary = "The formats of annotations, with the annotation types that each imports and exports",
     .answer = ROUTE_ANSWER("FormatList")},
    {"GET", "/api/v1/formats/{format}/example", NULL, run_example,
     .summary = "A small dataset in a format, as a zip archive", .query = "type", .answer = ROUTE_BINARY,
     .type = "application/zip"},
    {0},
};
