/* Runtimes for machines without a network: an image as an OCI archive, with the row beside it. docker, podman
 * and skopeo read the archive too. */
#include "base/json.h"
#include "base/messages_runtime.h"
#include "core/image/assemble.h"
#include "core/runtime/runtime_own.h"
#include "exec/tar.h"
#include "store/upload.h"

#include <archive.h>
#include <archive_entry.h>

#define ROW_FILE "ingot-runtime.json"
#define ROW_MAX  (256 << 10)
#define PIECE    (256 << 10)
#define LAYOUT   "{\"imageLayoutVersion\":\"1.0.0\"}"

/* What another platform is told of the row. */
static const char *const texts[] = {"name", "title", "title_zh", "description", "description_zh"};
static const char *const lists[] = {"packages", "python"};

/* --- out --- */

struct out {
    struct task *task;
    struct tar tar;
    char *space;
    int64_t done, total;
};

static bool take_piece(void *ctx, struct str piece, struct err *err)
{
    return blob_writer_add(ctx, piece, err);
}

static bool put_text(struct out *x, const char *path, struct str text, struct err *err)
{
    const struct tar_entry e = {.path = path, .type = '0', .mode = 0644, .size = (int64_t)text.n};
    return tar_header(&x->tar, &e, err) && tar_data(&x->tar, text.p, text.n, err) &&
           tar_pad(&x->tar, e.size, err);
}

static bool put_blob(struct out *x, const struct digest *d, struct err *err)
{
    int64_t size;
    ssize_t n;
    char hex[SHA256_HEX + 1];
    auto_fd int fd = blob_open(x->task->core->store, d, &size, err);
    if (fd < 0)
        return false;
    digest_hex(d, hex);
    const struct tar_entry e = {.path = arena_printf(x->task->arena, "blobs/sha256/%s", hex),
                                .type = '0',
                                .mode = 0644,
                                .size = size};
    if (!tar_header(&x->tar, &e, err))
        return false;
    while ((n = read(fd, x->space, PIECE)) > 0)
        if (!tar_data(&x->tar, x->space, (size_t)n, err) ||
            !task_progress(x->task, x->done += n, x->total, err))
            return false;
    return n == 0 ? tar_pad(&x->tar, size, err)
                  : err_set(err, ERR_INTERNAL, NULL, "a layer of the image cannot be read");
}

static void write_row(const struct object *o, struct buf *out)
{
    struct json_out j;
    json_begin(&j, out);
    json_object(&j);
    json_kint(&j, "ingot_runtime", 1);
    for (size_t i = 0; i < countof(texts); i++)
        if (object_text(o, texts[i]).n)
            json_kstr(&j, texts[i], object_text(o, texts[i]));
    for (size_t i = 0; i < countof(lists); i++) {
        json_key(&j, lists[i]);
        json_raw(&j, object_text(o, lists[i]));
    }
    json_object_end(&j);
}

static void write_index(const struct image_parts *p, struct str name, struct buf *out)
{
    char digest[REFERENCE_DIGEST];
    struct json_out j;
    json_begin(&j, out);
    json_object(&j);
    json_kint(&j, "schemaVersion", 2);
    json_key(&j, "manifests");
    json_array(&j);
    json_object(&j);
    json_kstr(&j, "mediaType", p->manifest.media_type.n ? p->manifest.media_type : STR(OCI_MANIFEST));
    json_kz(&j, "digest", reference_text(&p->digest, digest));
    json_kint(&j, "size", (int64_t)p->text.n);
    json_key(&j, "annotations");
    json_object(&j);
    json_kstr(&j, "org.opencontainers.image.ref.name", name);
    json_object_end(&j);
    json_object_end(&j);
    json_array_end(&j);
    json_object_end(&j);
}

static bool write_archive(struct out *x, const struct object *o, const struct image_parts *p, struct err *err)
{
    auto_buf struct buf row = {0}, index = {0};
    write_row(o, &row);
    write_index(p, object_text(o, "image"), &index);
    if (!put_text(x, ROW_FILE, buf_view(&row), err) || !put_text(x, "oci-layout", STR(LAYOUT), err) ||
        !put_text(x, "index.json", buf_view(&index), err) || !put_blob(x, &p->digest, err) ||
        !put_blob(x, &p->manifest.config.digest, err))
        return false;
    for (size_t i = 0; i < p->manifest.n; i++)
        if (!put_blob(x, &p->manifest.items[i].digest, err))
            return false;
    return tar_end(&x->tar, err);
}

static bool run_export(struct task *t, struct err *err)
{
    struct object o;
    struct image_parts p;
    struct digest d;
    int64_t size;
    if (!runtime_load(t, &o, err) ||
        !image_find(t->core, t->project, object_text(&o, "image"), NULL, t->arena, &p, err))
        return false;
    struct blob_writer *w = blob_writer_new(t->core->store, err);
    if (!w)
        return false;
    struct out x = {
        .task = t, .tar = {take_piece, w}, .space = base_alloc(PIECE), .total = oci_bytes(&p.manifest)};
    bool ok = write_archive(&x, &o, &p, err);
    free(x.space);
    if (!ok) {
        blob_writer_abort(w);
        return false;
    }
    if (!blob_writer_finish(w, &d, &size, err))
        return false;
    task_output(t, &d,
                str_of(arena_printf(t->arena, STR_FMT "-runtime.tar", STR_ARG(object_text(&o, "name")))));
    return true;
}

const struct task_type task_runtime_export = {
    .name = "runtime_export", .title = {"Export a runtime", "导出运行环境"}, .run = run_export};

/* --- in --- */

/* The first file of the archive. */
static yyjson_val *read_row(struct task *t, const struct digest *blob, struct err *err)
{
    int64_t size;
    auto_fd int fd = blob_open(t->core->store, blob, &size, err);
    if (fd < 0)
        return NULL;
    struct archive *ar = archive_read_new();
    struct archive_entry *e;
    archive_read_support_filter_gzip(ar);
    archive_read_support_filter_zstd(ar);
    archive_read_support_format_tar(ar);
    char *text = arena_alloc(t->arena, ROW_MAX);
    la_ssize_t n = -1;
    if (archive_read_open_fd(ar, fd, PIECE) == ARCHIVE_OK && archive_read_next_header(ar, &e) == ARCHIVE_OK &&
        archive_entry_pathname(e) && strcmp(archive_entry_pathname(e), ROW_FILE) == 0)
        n = archive_read_data(ar, text, ROW_MAX);
    archive_read_free(ar);
    yyjson_val *v = n > 0 && n < ROW_MAX ? json_parse(t->arena, (struct str){text, (size_t)n}, err) : NULL;
    if (v && yyjson_get_sint(yyjson_obj_get(v, "ingot_runtime")) == 1 &&
        yyjson_is_str(yyjson_obj_get(v, "name")))
        return v;
    return err_message(err, ERR_INVALID, "upload", MESSAGE_RUNTIME_NO_ARCHIVE), NULL;
}

/* The row of that name; one that is missing is made, by the rules of the kind. */
static bool find_row(struct task *t, yyjson_val *v, struct object *ret, struct err *err)
{
    struct str name = json_str(yyjson_obj_get(v, "name"));
    struct db_row row;
    bool found;
    if (!db_query_one(t->core->db, t->arena, "SELECT id FROM runtimes WHERE name = ?", db_args(db_text(name)),
                      &row, &found, err))
        return false;
    if (found)
        return engine_get(t->core, &t->caller, &kind_runtime, 0, row.v[0].i, t->arena, ret, err);
    auto_buf struct buf text = {0};
    struct json_out o;
    json_begin(&o, &text);
    json_object(&o);
    for (size_t i = 0; i < countof(texts); i++)
        if (yyjson_obj_get(v, texts[i])) {
            json_key(&o, texts[i]);
            json_value(&o, yyjson_obj_get(v, texts[i]));
        }
    for (size_t i = 0; i < countof(lists); i++) {
        json_key(&o, lists[i]);
        json_value(&o, yyjson_obj_get(v, lists[i]));
    }
    json_object_end(&o);
    yyjson_val *body = json_parse(t->arena, arena_str(t->arena, buf_view(&text)), err);
    return body && engine_create(t->core, &t->caller, &kind_runtime, 0, body, t->arena, ret, err);
}

static bool import_image(struct task *t, const struct object *o, const char *version, struct err *err)
{
    struct task importing = *t;
    auto_buf struct buf text = {0};
    struct json_out p;
    json_begin(&p, &text);
    json_object(&p);
    json_kstr(&p, "blob", json_str(yyjson_obj_get(t->params, "blob")));
    json_kstr(&p, "name", object_text(o, "name"));
    json_kz(&p, "version", version);
    json_object_end(&p);
    importing.params = json_parse(t->arena, arena_str(t->arena, buf_view(&text)), err);
    return importing.params && task_image_import.run(&importing, err);
}

static bool run_import(struct task *t, struct err *err)
{
    struct digest blob;
    struct object o;
    struct runtime_made made = {.project = t->project};
    if (!digest_parse(json_str(yyjson_obj_get(t->params, "blob")), &blob))
        return err_set(err, ERR_INTERNAL, NULL, "the task names no file");
    yyjson_val *v = read_row(t, &blob, err);
    return v && find_row(t, v, &o, err) &&
           runtime_next_version(t->core, t->project, object_text(&o, "name"), t->arena, &made.version, err) &&
           import_image(t, &o, made.version, err) && runtime_finish(t, &o, &made, err);
}

const struct task_type task_runtime_import = {
    .name = "runtime_import", .title = {"Import a runtime", "导入运行环境"}, .run = run_import};

/* --- the archive comes --- */

bool runtime_begin_import(struct op *op, struct task_new t, struct str upload, struct json_out *out,
                          struct err *err)
{
    struct upload u;
    int64_t size, task;
    char hex[SHA256_HEX + 1];
    if (!runtime_project(op->core, op->caller, op->arena, &t.project, err) ||
        !upload_get(op->core->store, upload, op->caller->user, op->arena, &u, err) ||
        !upload_take(op->core->store, upload, op->caller->user, u.project, "upload", op->arena, &u, err) ||
        !blob_touch(op->core->store, &u.blob, &size, err))
        return false;
    digest_hex(&u.blob, hex);
    t.params = str_of(arena_printf(op->arena, "{\"blob\":\"%s\"}", hex));
    return task_start(op->core, op->caller, &t, op->arena, &task, err) &&
           engine_answer_id(op, &kind_task, task, out, err);
}
