#include "core/folder/model_file.h"

/* The ends of names by format, in the order in which they are preferred. */
static const char *const ends[] = {
    ".onnx",   ".pt",       ".pth", ".torchscript", ".pb",          ".h5",         ".keras",
    ".tflite", ".mindir",   ".ms",  ".gguf",        ".safetensors", ".caffemodel", ".params",
    ".bin",    ".prototxt", ".xml", ".pkl",         ".joblib",      ".json",
};

static const struct manifest_entry *largest(const struct manifest *m, const char *end)
{
    const struct manifest_entry *found = NULL;
    for (size_t i = 0; i < m->n; i++)
        if (str_ends(m->entry[i].path, end) && (!found || m->entry[i].size > found->size))
            found = &m->entry[i];
    return found;
}

bool model_file_choose(const struct manifest *m, struct str path, bool only_onnx,
                       const struct manifest_entry **ret, struct err *err)
{
    const struct manifest_entry *found = path.n ? manifest_find(m, path) : NULL;
    if (path.n && !found)
        return err_set(err, ERR_NOT_FOUND, "path", "the version has no file \"" STR_FMT "\"", STR_ARG(path));
    for (size_t i = 0; !found && i < (only_onnx ? 1 : countof(ends)); i++)
        found = largest(m, ends[i]);
    if (!found)
        return err_set(err, ERR_CONFLICT, "files",
                       only_onnx ? "the version has no .onnx file" : "the version has no file of a model");
    *ret = found;
    return true;
}

#define MEMORY_LEAST (INT64_C(512) << 20) /* for ingot-infer and a small model */
#define MEMORY_MORE  (INT64_C(256) << 20) /* beside three times the model's files */

int64_t model_memory(int64_t bytes)
{
    int64_t needs = bytes < INT64_C(1) << 50 ? 3 * bytes + MEMORY_MORE : 0;
    return needs > MEMORY_LEAST ? needs : MEMORY_LEAST;
}
