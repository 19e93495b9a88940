#include "core/serve/interface.h"

#include "core/folder/folder.h"
#include "core/serve/version.h"

#define SIZE_MOST  ((size_t)1 << 30)
#define PLAIN_FILE "model.onnx" /* of a version without a manifest; ingot-infer looks for it, too */

/* Types that ONNX Runtime is given; others are refused when the model is loaded. */
static const struct {
    const char *name;
    size_t size;
} types[ONNX_TYPE_COUNT] = {
    [ONNX_BOOL] = {"BOOL", 1},     [ONNX_UINT8] = {"UINT8", 1},   [ONNX_UINT16] = {"UINT16", 2},
    [ONNX_UINT32] = {"UINT32", 4}, [ONNX_UINT64] = {"UINT64", 8}, [ONNX_INT8] = {"INT8", 1},
    [ONNX_INT16] = {"INT16", 2},   [ONNX_INT32] = {"INT32", 4},   [ONNX_INT64] = {"INT64", 8},
    [ONNX_FLOAT16] = {"FP16", 2},  [ONNX_BFLOAT16] = {"BF16", 2}, [ONNX_FLOAT] = {"FP32", 4},
    [ONNX_DOUBLE] = {"FP64", 8},   [ONNX_STRING] = {"BYTES", 0},
};

/* --- reading --- */

static struct serve_tensor *tensors(const struct onnx_value *v, size_t n, struct arena *a)
{
    struct serve_tensor *ret = arena_array(a, struct serve_tensor, n + 1);
    for (size_t i = 0; i < n; i++) {
        bool known = v[i].type > ONNX_UNDEFINED && v[i].type < ONNX_TYPE_COUNT && types[v[i].type].name;
        ret[i] = (struct serve_tensor){.name = v[i].name,
                                       .type = known ? types[v[i].type].name : onnx_type_name(v[i].type),
                                       .element_size = known ? types[v[i].type].size : 0,
                                       .dims = v[i].dims,
                                       .n_dims = v[i].has_shape ? v[i].n_dims : 0};
    }
    return ret;
}

static bool read_graph(struct core *core, const struct manifest *files, struct str path, const char *name,
                       struct arena *a, struct serve_graph *ret, struct err *err)
{
    struct onnx_summary *s = arena_new(a, struct onnx_summary);
    struct str bytes;
    if (!folder_map(core, files, path, &bytes, err))
        return false;
    bool ok = onnx_summarize(a, bytes, s, err);
    folder_unmap(bytes);
    if (ok)
        *ret = (struct serve_graph){name, tensors(s->inputs, s->n_inputs, a),
                                    tensors(s->outputs, s->n_outputs, a), s->n_inputs, s->n_outputs};
    return ok;
}

static bool read_parts(struct core *core, const struct manifest *files, const char *name, struct arena *a,
                       struct serve_interface *in, struct err *err)
{
    const struct model_manifest *m = &in->manifest;
    in->n_graphs = in->described ? m->n_parts : manifest_find(files, STR(PLAIN_FILE)) ? 1 : 0;
    in->graphs = arena_array(a, struct serve_graph, in->n_graphs + 1);
    for (size_t i = 0; i < in->n_graphs; i++) {
        struct str path = in->described ? m->parts[i].file : STR(PLAIN_FILE);
        const char *as =
            in->n_graphs > 1 ? arena_printf(a, "%s." STR_FMT, name, STR_ARG(m->parts[i].name)) : name;
        if (!read_graph(core, files, path, as, a, &in->graphs[i], err))
            return false;
    }
    return true;
}

bool serve_interface_read(struct core *core, int64_t service_version, const char *name, struct arena *a,
                          struct serve_interface *ret, struct err *err)
{
    struct object version, model;
    struct manifest files;
    struct str text;
    struct serve_interface in = {0};
    if (!engine_get(core, &caller_system, &kind_service_version, 0, service_version, a, &version, err) ||
        !engine_get(core, &caller_system, &kind_model_version, 0, object_int(&version, "model_version"), a,
                    &model, err) ||
        !folder_manifest(core, &model, a, &files, err))
        return false;
    in.model_set = model.parent;
    in.model_version = model.id;
    const struct manifest_entry *e = manifest_find(&files, STR(MODEL_MANIFEST_FILE));
    in.described = e != NULL;
    if (e && (!blob_read(core->store, a, &e->blob, MODEL_MANIFEST_MAX_BYTES, &text, err) ||
              !model_manifest_parse(a, text, &in.manifest, err)))
        return false;
    in.predicts = in.described && model_task_predicts(in.manifest.task);
    if (!read_parts(core, &files, name, a, &in, err))
        return false;
    *ret = in;
    return true;
}

enum model_input_kind serve_interface_takes(const struct serve_interface *in)
{
    for (size_t i = 0; i < in->manifest.n_inputs; i++)
        if (in->manifest.inputs[i].part == 0)
            return in->manifest.inputs[i].kind;
    return MODEL_PICTURE;
}

int64_t serve_tensor_dim(const struct serve_tensor *t, size_t i)
{
    return t->dims[i].value >= 0 ? t->dims[i].value : i == 0 ? 1 : 64;
}

size_t serve_tensor_size(const struct serve_tensor *t)
{
    size_t n = t->element_size;
    for (size_t i = 0; i < t->n_dims; i++)
        if (__builtin_mul_overflow(n, (size_t)serve_tensor_dim(t, i), &n))
            return 0;
    return n <= SIZE_MOST ? n : 0;
}

/* --- writing --- */

static void write_tensors(const char *key, const struct serve_tensor *t, size_t n, struct json_out *out)
{
    json_key(out, key);
    json_array(out);
    for (size_t i = 0; i < n; i++) {
        json_object(out);
        json_kstr(out, "name", t[i].name);
        json_kz(out, "datatype", t[i].type);
        json_key(out, "shape");
        json_array(out);
        for (size_t k = 0; k < t[i].n_dims; k++)
            json_int(out, t[i].dims[k].value);
        json_array_end(out);
        json_object_end(out);
    }
    json_array_end(out);
}

static void write_graphs(const struct serve_interface *in, struct json_out *out)
{
    json_key(out, "graphs");
    json_array(out);
    for (size_t i = 0; i < in->n_graphs; i++) {
        const struct serve_graph *g = &in->graphs[i];
        json_object(out);
        json_kz(out, "name", g->name);
        write_tensors("inputs", g->inputs, g->n_inputs, out);
        write_tensors("outputs", g->outputs, g->n_outputs, out);
        json_object_end(out);
    }
    json_array_end(out);
}

void serve_interface_write(const struct serve_interface *in, struct json_out *out)
{
    const struct model_manifest *m = &in->manifest;
    json_object(out);
    json_kint(out, "model_set", in->model_set);
    json_kint(out, "model_version", in->model_version);
    json_kz(out, "task", in->described ? model_task_name(m->task) : NULL);
    json_kbool(out, "predicts", in->predicts);
    json_kz(out, "takes", in->described ? model_kind_names[serve_interface_takes(in)] : NULL);
    json_kstr(out, "sample", m->sample.n ? m->sample : STR_NULL);
    json_key(out, "thresholds");
    json_object(out);
    for (size_t i = 0; in->described && i < MODEL_THRESHOLD_COUNT; i++) {
        json_key(out, model_threshold_names[i]);
        json_real(out, m->thresholds[i]);
    }
    json_object_end(out);
    write_graphs(in, out);
    json_object_end(out);
}
