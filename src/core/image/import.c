/* Importing a saved archive: what `docker save`, `podman save` or `skopeo copy ... oci-archive:` wrote. Every
 * file of it becomes a blob; then the archive's own list says which of them are an image. */
#include "base/map.h"
#include "core/image/assemble.h"

#include <archive.h>
#include <archive_entry.h>

#define MAX_FILES 10000
#define MAX_JSON  (4 << 20)
#define BLOCK     (256 << 10)

struct file {
    struct digest digest;
    int64_t size;
    const char *link; /* another file of the archive; NULL */
};

struct import {
    struct task *task;
    struct map *files; /* path -> struct file */
    struct repository target;
    struct str version;
    int64_t done;
};

/* --- from the archive to blobs --- */

static bool take_file(struct import *x, struct archive *ar, struct file *f, struct err *err)
{
    const void *p;
    size_t n;
    la_int64_t offset, at = 0;
    int rc;
    struct blob_writer *w = blob_writer_new(x->task->core->store, err);
    if (!w)
        return false;
    while ((rc = archive_read_data_block(ar, &p, &n, &offset)) == ARCHIVE_OK) {
        if (offset != at || !blob_writer_add(w, (struct str){p, n}, err) ||
            !task_progress(x->task, x->done += (int64_t)n, 0, err)) {
            blob_writer_abort(w);
            return err->code ? false
                             : err_set(err, ERR_INVALID, "upload", "the archive has a file with holes");
        }
        at += (la_int64_t)n;
    }
    if (rc != ARCHIVE_EOF) {
        blob_writer_abort(w);
        return err_set(err, ERR_INVALID, "upload", "the archive is broken: %s", archive_error_string(ar));
    }
    return blob_writer_finish(w, &f->digest, &f->size, err);
}

/* "../abc/layer.tar" from where the link is. */
static const char *link_target(struct arena *a, const char *path, const char *to)
{
    const char *slash = strrchr(path, '/');
    if (strncmp(to, "../", 3) == 0)
        return arena_strdup(a, to + 3); /* links of docker's archives go up one folder */
    return slash ? arena_printf(a, "%.*s/%s", (int)(slash - path), path, to) : arena_strdup(a, to);
}

static bool take_entry(struct import *x, struct archive *ar, struct archive_entry *e, struct err *err)
{
    const char *path = archive_entry_pathname(e);
    if (!path)
        return true;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (map_count(x->files) == MAX_FILES)
        return err_set(err, ERR_TOO_LARGE, "upload", "the archive has more than %d files", MAX_FILES);
    struct file *f = arena_new(x->task->arena, struct file);
    if (archive_entry_filetype(e) == AE_IFLNK && archive_entry_symlink(e))
        f->link = link_target(x->task->arena, path, archive_entry_symlink(e));
    else if (archive_entry_hardlink(e))
        f->link = arena_strdup(x->task->arena, archive_entry_hardlink(e));
    else if (archive_entry_filetype(e) != AE_IFREG)
        return true;
    else if (!take_file(x, ar, f, err))
        return false;
    map_set(x->files, str_of(path), f);
    return true;
}

static bool take_all(struct import *x, const struct digest *blob, struct err *err)
{
    int64_t size;
    auto_fd int fd = blob_open(x->task->core->store, blob, &size, err);
    if (fd < 0)
        return false;
    struct archive *ar = archive_read_new();
    struct archive_entry *e;
    archive_read_support_filter_gzip(ar);
    archive_read_support_filter_zstd(ar);
    archive_read_support_format_tar(ar);
    int rc = archive_read_open_fd(ar, fd, BLOCK);
    bool ok = rc == ARCHIVE_OK;
    while (ok && ((rc = archive_read_next_header(ar, &e)) == ARCHIVE_OK || rc == ARCHIVE_WARN))
        ok = take_entry(x, ar, e, err);
    if (!err->code && rc != ARCHIVE_EOF)
        ok = err_set(err, ERR_INVALID, "upload", "this is no saved image: %s", archive_error_string(ar));
    archive_read_free(ar);
    return ok;
}

/* --- what is in it --- */

static struct file *find(struct import *x, struct str path)
{
    struct file *f = map_get(x->files, path);
    for (int i = 0; f && f->link && i < 8; i++)
        f = map_get(x->files, str_of(f->link));
    return f && !f->link ? f : NULL;
}

static bool missing(struct str path, struct err *err)
{
    return err_set(err, ERR_INVALID, "upload", "the archive has no file \"%.*s\"",
                   (int)(path.n > 100 ? 100 : path.n), path.p ? path.p : "");
}

static yyjson_val *read_json(struct import *x, struct str path, struct err *err)
{
    struct str text;
    struct file *f = find(x, path);
    if (!f)
        return missing(path, err), NULL;
    return blob_read(x->task->core->store, x->task->arena, &f->digest, MAX_JSON, &text, err)
               ? json_parse(x->task->arena, text, err)
               : NULL;
}

static bool add_blob(struct import *x, const struct file *f, struct err *err)
{
    return repository_add_blob(x->task->core, &x->target, &f->digest, f->size, err);
}

/* Plain or compressed, by its first bytes. */
static bool layer_of(struct import *x, struct str path, struct oci_descriptor *ret, struct err *err)
{
    unsigned char head[4] = {0};
    struct file *f = find(x, path);
    if (!f)
        return missing(path, err);
    int64_t size;
    auto_fd int fd = blob_open(x->task->core->store, &f->digest, &size, err);
    if (fd < 0)
        return false;
    bool some = read(fd, head, sizeof head) == sizeof head;
    bool gzip = some && head[0] == 0x1f && head[1] == 0x8b;
    bool zstd = some && head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd;
    *ret = (struct oci_descriptor){.digest = f->digest,
                                   .size = f->size,
                                   .media_type = gzip   ? STR(OCI_LAYER_GZIP)
                                                 : zstd ? STR("application/vnd.oci.image.layer.v1.tar+zstd")
                                                        : STR("application/vnd.oci.image.layer.v1.tar")};
    return add_blob(x, f, err);
}

static bool push_text(struct import *x, struct str type, struct str text, struct repository_pushed *ret,
                      struct err *err)
{
    const struct repository_push p = {.at = {.tag = x->version}, .media_type = type, .text = text};
    return repository_push(x->task->core, &x->task->caller, &x->target, &p, x->task->arena, ret, err);
}

/* manifest.json: [{"Config": path, "Layers": [paths], "RepoTags": [...]}]; the first is taken. */
static bool import_docker(struct import *x, struct repository_pushed *ret, struct err *err)
{
    yyjson_val *doc = read_json(x, STR("manifest.json"), err), *one = doc ? yyjson_arr_get_first(doc) : NULL,
               *v;
    yyjson_val *layers = yyjson_obj_get(one, "Layers");
    size_t i, max, n = yyjson_arr_size(layers);
    auto_buf struct buf text = {0};
    if (!doc)
        return false;
    if (!yyjson_is_obj(one) || !yyjson_is_arr(layers) || n > OCI_ITEMS_MAX)
        return err_set(err, ERR_INVALID, "upload", "manifest.json of the archive names no image");
    struct str path = json_str(yyjson_obj_get(one, "Config"));
    struct file *config = find(x, path);
    if (!config)
        return missing(path, err);
    struct oci_descriptor *list = arena_array(x->task->arena, struct oci_descriptor, n + 1);
    struct oci_write w = {
        .config = {.digest = config->digest, .size = config->size, .media_type = STR(OCI_CONFIG)},
        .layers = list,
        .n = n};
    yyjson_arr_foreach(layers, i, max, v) if (!layer_of(x, json_str(v), &list[i], err)) return false;
    if (!add_blob(x, config, err))
        return false;
    oci_write(&w, &text);
    return push_text(x, STR_NULL, buf_view(&text), ret, err);
}

static struct str blob_path_of(struct import *x, const struct digest *d)
{
    char hex[SHA256_HEX + 1];
    digest_hex(d, hex);
    return str_of(arena_printf(x->task->arena, "blobs/sha256/%s", hex));
}

/* Of an index the one for this machine that is in the archive; else the first that is. */
static const struct oci_descriptor *choose(struct import *x, const struct oci_manifest *m)
{
    const struct oci_descriptor *any = NULL;
    for (size_t i = 0; i < m->n; i++) {
        if (!find(x, blob_path_of(x, &m->items[i].digest)))
            continue;
        if (str_is(m->items[i].arch, image_arch()))
            return &m->items[i];
        any = any ? any : &m->items[i];
    }
    return any;
}

static bool import_manifest(struct import *x, const struct oci_manifest *m, struct str text,
                            struct repository_pushed *ret, struct err *err)
{
    for (size_t i = 0; i <= m->n; i++) {
        const struct digest *d = i < m->n ? &m->items[i].digest : &m->config.digest;
        struct file *f = find(x, blob_path_of(x, d));
        if (!f)
            return missing(blob_path_of(x, d), err);
        if (memcmp(f->digest.b, d->b, sizeof d->b) != 0)
            return err_set(err, ERR_INVALID, "upload",
                           "a file of the archive has not the digest of its name");
        if (!add_blob(x, f, err))
            return false;
    }
    return push_text(x, m->media_type, text, ret, err);
}

static bool import_layout(struct import *x, struct repository_pushed *ret, struct err *err)
{
    struct str path = STR("index.json");
    struct oci_manifest m;
    struct str type = STR(OCI_INDEX), text;
    for (int depth = 0; depth < 4; depth++) {
        struct file *f = find(x, path);
        if (!f)
            return missing(path, err);
        if (!blob_read(x->task->core->store, x->task->arena, &f->digest, OCI_MANIFEST_MAX, &text, err) ||
            !oci_parse(x->task->arena, type, text, &m, err))
            return false;
        if (!m.index)
            return import_manifest(x, &m, text, ret, err);
        const struct oci_descriptor *d = choose(x, &m);
        if (!d)
            return err_set(err, ERR_INVALID, "upload", "the archive's index names no image that is in it");
        path = blob_path_of(x, &d->digest);
        type = d->media_type;
    }
    return err_set(err, ERR_INVALID, "upload", "the archive's indexes lie too deep in each other");
}

static bool run_import(struct task *t, struct err *err)
{
    struct import x = {
        .task = t, .files = map_new(), .version = json_str(yyjson_obj_get(t->params, "version"))};
    struct digest blob;
    struct repository_pushed pushed;
    bool ok = digest_parse(json_str(yyjson_obj_get(t->params, "blob")), &blob) &&
              assemble_target(t->core, t->project, json_str(yyjson_obj_get(t->params, "name")), t->arena,
                              &x.target, err) &&
              take_all(&x, &blob, err);
    if (ok)
        ok = find(&x, STR("index.json")) ? import_layout(&x, &pushed, err) : import_docker(&x, &pushed, err);
    if (ok)
        assemble_result(t, &x.target, x.version, &pushed);
    map_free(x.files);
    return ok;
}

const struct task_type task_image_import = {
    .name = "image_import", .title = {"Import an image", "导入镜像"}, .run = run_import};
