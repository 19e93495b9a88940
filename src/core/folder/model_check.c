#include "core/folder/model_check.h"

#include "model/manifest.h"

struct files {
    struct core *core;
    const struct manifest *m;
};

static bool read_file(void *ctx, struct str path, size_t max, struct arena *a, struct str *ret,
                      struct err *err)
{
    const struct files *f = ctx;
    const struct manifest_entry *e = manifest_find(f->m, path);
    if (!e)
        return err_set(err, ERR_INVALID, "file", "the version has no file \"" STR_FMT "\"", STR_ARG(path));
    return blob_read(f->core->store, a, &e->blob, max, ret, err);
}

/* The graph of each part. */
static bool summarize(const struct files *f, const struct model_manifest *given, struct arena *a,
                      const struct onnx_summary ***ret, struct err *err)
{
    struct onnx_summary *list = arena_array(a, struct onnx_summary, given->n_parts);
    *ret = arena_array(a, const struct onnx_summary *, given->n_parts);
    for (size_t i = 0; i < given->n_parts; i++) {
        const char *field = arena_printf(a, "parts[%zu].file", i);
        struct str bytes, file = given->parts[i].file;
        struct err why = {0};
        if (!manifest_find(f->m, file))
            return err_set(err, ERR_INVALID, field, "%s: the version has no file \"" STR_FMT "\"", field,
                           STR_ARG(file));
        if (!folder_map(f->core, f->m, file, &bytes, err))
            return false;
        bool ok = onnx_summarize(a, bytes, &list[i], &why);
        folder_unmap(bytes);
        if (!ok)
            return err_set(err, ERR_INVALID, field, "%s: %s", field, why.message);
        (*ret)[i] = &list[i];
    }
    return true;
}

bool model_check_write(struct core *core, const struct object *version, struct str text, struct arena *a,
                       struct json_out *out, struct err *err)
{
    struct manifest m;
    struct model_manifest given;
    const struct onnx_summary **summaries;
    struct err wrong = {0};
    if (!folder_manifest(core, version, a, &m, err))
        return false;
    struct files f = {core, &m};
    bool ok = model_manifest_parse(a, text, &given, &wrong) && summarize(&f, &given, a, &summaries, &wrong) &&
              model_manifest_assets(&given, a, read_file, &f, &wrong) &&
              model_manifest_fits(&given, summaries, &wrong);
    json_object(out);
    json_kbool(out, "ok", ok);
    json_kz(out, "field", ok ? NULL : wrong.field);
    json_kz(out, "reason", ok ? NULL : wrong.message);
    json_kz(out, "reason_zh", ok ? NULL : err_zh(&wrong));
    json_object_end(out);
    return true;
}
