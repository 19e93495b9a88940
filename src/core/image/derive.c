/* A version out of another: other variables, command or folder, and the files of an algorithm as a layer. */
#include "core/folder/folder.h"
#include "core/image/assemble.h"
#include "core/image/layer_write.h"
#include "exec/tar.h"

#define PIECE (256 << 10)

struct derive {
    struct task *task;
    struct tar tar;
    char *space;
    int64_t done, total;
};

static bool write_file(struct derive *x, const char *folder, const struct manifest_entry *f, struct err *err)
{
    int64_t size;
    ssize_t n;
    auto_fd int fd = blob_open(x->task->core->store, &f->blob, &size, err);
    if (fd < 0)
        return false;
    struct tar_entry e = {.path = arena_printf(x->task->arena, "%s/" STR_FMT, folder, STR_ARG(f->path)),
                          .type = '0',
                          .mode = f->executable ? 0755 : 0644,
                          .size = size};
    if (!tar_header(&x->tar, &e, err))
        return false;
    while ((n = read(fd, x->space, PIECE)) > 0)
        if (!tar_data(&x->tar, x->space, (size_t)n, err) ||
            !task_progress(x->task, x->done += n, x->total, err))
            return false;
    if (n < 0)
        return err_set(err, ERR_INTERNAL, NULL, "a file of the algorithm cannot be read");
    return tar_pad(&x->tar, size, err);
}

static bool write_files(struct derive *x, const char *folder, const struct manifest *m, struct err *err)
{
    for (size_t i = 0; i < m->n; i++)
        if (!write_file(x, folder, &m->entry[i], err))
            return false;
    return tar_end(&x->tar, err);
}

/* The algorithm's files below the folder, as a layer. */
static bool make_layer(struct task *t, int64_t algorithm, const char *folder, struct oci_descriptor *ret,
                       struct digest *ret_diff, struct err *err)
{
    struct object version;
    struct manifest m;
    if (!engine_get(t->core, &t->caller, &kind_algorithm_version, 0, algorithm, t->arena, &version, err) ||
        !folder_manifest(t->core, &version, t->arena, &m, err))
        return false;
    struct layer_writer *w = layer_writer_new(t->core->store, err);
    if (!w)
        return false;
    struct derive x = {.task = t, .tar = {layer_writer_add, w}, .space = base_alloc(PIECE), .total = m.bytes};
    bool ok = write_files(&x, folder, &m, err);
    free(x.space);
    if (ok)
        return layer_writer_finish(w, ret, ret_diff, err);
    layer_writer_abort(w);
    return false;
}

static const char *text_of(struct task *t, const char *key)
{
    struct str s = json_str(yyjson_obj_get(t->params, key));
    return s.n ? arena_strz(t->arena, s) : NULL;
}

static bool run_derive(struct task *t, struct err *err)
{
    struct image_parts base;
    struct oci_descriptor layer;
    struct digest diff;
    struct repository from;
    struct repository_pushed pushed;
    struct reference at = {0};
    int64_t algorithm = yyjson_get_sint(yyjson_obj_get(t->params, "algorithm"));
    const char *folder = text_of(t, "folder");
    struct assembly x = {.core = t->core,
                         .caller = &t->caller,
                         .base = &base,
                         .version = json_str(yyjson_obj_get(t->params, "version")),
                         .change = {.env = yyjson_obj_get(t->params, "env"),
                                    .cmd = yyjson_obj_get(t->params, "command"),
                                    .entrypoint = yyjson_obj_get(t->params, "entrypoint"),
                                    .cwd = text_of(t, "cwd"),
                                    .comment = "derived"}};
    struct object version, image;
    if (!engine_get(t->core, &t->caller, &kind_image_version, 0,
                    yyjson_get_sint(yyjson_obj_get(t->params, "from")), t->arena, &version, err) ||
        !engine_get(t->core, &caller_system, &kind_image, 0, version.parent, t->arena, &image, err))
        return false;
    from =
        (struct repository){.project = image.project, .image = image.id, .name = object_text(&image, "name")};
    if (!reference_digest(object_text(&version, "digest"), &at.digest, err) ||
        !image_load(t->core, &from, &at, NULL, t->arena, &base, err) ||
        !assemble_target(t->core, t->project, json_str(yyjson_obj_get(t->params, "name")), t->arena,
                         &x.target, err))
        return false;
    if (algorithm) {
        if (!make_layer(t, algorithm, folder, &layer, &diff, err))
            return false;
        x.layer = &layer;
        x.diff = &diff;
    }
    if (!assemble_push(&x, t->arena, &pushed, err))
        return false;
    assemble_result(t, &x.target, x.version, &pushed);
    return true;
}

const struct task_type task_image_derive = {
    .name = "image_derive", .title = {"Derive an image", "派生镜像"}, .run = run_derive};
