/* The JSON Schema of ingot-model.json from the tables of fields, and the check of a manifest against graphs.
 */
#include "base/messages.h"
#include "model/manifest_fields.h"

#include <stdio.h>

static void names_property(const char *key, size_t most, struct json_out *out)
{
    json_key(out, key);
    json_object(out);
    json_kz(out, "type", "array");
    json_kint(out, "maxItems", (int64_t)most);
    json_kbool(out, "uniqueItems", true);
    json_key(out, "items");
    json_raw(out, STR("{\"type\":\"string\",\"minLength\":1,\"maxLength\":200}"));
    json_object_end(out);
}

static void choice_property(const char *key, const char *const *choices, struct json_out *out)
{
    json_key(out, key);
    json_object(out);
    json_kz(out, "type", "string");
    json_key(out, "enum");
    json_array(out);
    for (; *choices; choices++)
        json_z(out, *choices);
    json_array_end(out);
    json_object_end(out);
}

/* A list of objects of one table. */
static void list_property(const char *key, size_t most, const struct model_fields *f, const char *which,
                          const char *const *choices, struct json_out *out)
{
    const char *const also[] = {which, NULL};
    json_key(out, key);
    json_object(out);
    json_kz(out, "type", "array");
    json_kint(out, "minItems", 1);
    json_kint(out, "maxItems", (int64_t)most);
    json_key(out, "items");
    json_object(out);
    json_kz(out, "type", "object");
    json_kbool(out, "additionalProperties", false);
    json_key(out, "properties");
    json_object(out);
    if (which)
        choice_property(which, choices, out);
    model_fields_schema(f, out, also);
    json_object_end(out);
    json_object_end(out);
}

static void thresholds_property(struct json_out *out)
{
    json_key(out, "thresholds");
    json_object(out);
    json_kz(out, "type", "object");
    json_kbool(out, "additionalProperties", false);
    json_key(out, "properties");
    json_object(out);
    for (size_t i = 0; i < MODEL_THRESHOLD_COUNT; i++) {
        json_key(out, model_threshold_names[i]);
        json_raw(out, STR("{\"type\":\"number\",\"minimum\":0,\"maximum\":1}"));
    }
    json_object_end(out);
    json_object_end(out);
}

void model_manifest_schema(struct json_out *out)
{
    static const char *const required[] = {"ingot", "task", "parts", "inputs", "outputs", NULL};
    const char *tasks[MODEL_TASK_COUNT + 1] = {0};
    for (int i = 0; i < MODEL_TASK_COUNT; i++)
        tasks[i] = model_task_name(i);
    json_object(out);
    json_kz(out, "title", "ingot-model.json");
    json_kz(out, "type", "object");
    json_kbool(out, "additionalProperties", false);
    json_key(out, "properties");
    json_object(out);
    json_key(out, "$schema");
    json_raw(out, STR("{\"type\":\"string\"}"));
    json_key(out, "ingot");
    json_raw(out, STR("{\"const\":1}"));
    choice_property("task", tasks, out);
    names_property("labels", MODEL_MAX_LABELS, out);
    names_property("points", 1000, out);
    json_key(out, "edges");
    json_raw(out, STR("{\"type\":\"array\",\"maxItems\":1000,\"items\":{\"type\":\"array\",\"minItems\":2,"
                      "\"maxItems\":2,\"items\":{\"type\":\"integer\",\"minimum\":0}}}"));
    list_property("parts", MODEL_MAX_PARTS, &model_part_fields, NULL, NULL, out);
    list_property("inputs", MODEL_MAX_INPUTS, &model_input_fields, "kind", model_kind_names, out);
    list_property("outputs", MODEL_MAX_OUTPUTS, &model_output_fields, "reading", model_reading_names, out);
    thresholds_property(out);
    model_fields_schema(&model_top_fields, out, required);
    json_object_end(out);
}

/* --- against graphs --- */
static const struct onnx_value *value_of(const struct onnx_value *v, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(v[i].name, name))
            return &v[i];
    return NULL;
}

static bool missing(const char *list, size_t i, const char *field, struct str name, struct err *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s[%zu].%s", list, i, field);
    return err_message(err, ERR_INVALID, path, MESSAGE_MODEL_NOT_IN_GRAPH, path, name.p);
}

static const int onnx_types[] = {[MODEL_FP32] = ONNX_FLOAT,
                                 [MODEL_FP16] = ONNX_FLOAT16,
                                 [MODEL_UINT8] = ONNX_UINT8,
                                 [MODEL_INT32] = ONNX_INT32,
                                 [MODEL_INT64] = ONNX_INT64};

static bool size_fits(const struct model_input *in, const struct onnx_value *v)
{
    if (in->kind != MODEL_PICTURE || !v->has_shape)
        return true;
    if (v->n_dims != 4)
        return false;
    bool first = in->layout == MODEL_NCHW;
    const int64_t want[3] = {in->color == MODEL_GRAY ? 1 : 3, in->size[1], in->size[0]};
    const int64_t have[3] = {v->dims[first ? 1 : 3].value, v->dims[first ? 2 : 1].value,
                             v->dims[first ? 3 : 2].value};
    for (int i = 0; i < 3; i++)
        if (have[i] >= 0 && want[i] && have[i] != want[i])
            return false;
    return true;
}

static bool input_fits(const struct model_input *in, size_t i, const struct onnx_summary *s, struct err *err)
{
    const struct onnx_value *v = value_of(s->inputs, s->n_inputs, in->name);
    char path[64];
    if (!v)
        return missing("inputs", i, "name", in->name, err);
    if (v->type && v->type != onnx_types[in->type]) {
        snprintf(path, sizeof path, "inputs[%zu].type", i);
        return err_message(err, ERR_INVALID, path, MESSAGE_MODEL_OTHER_TYPE, path, onnx_type_name(v->type));
    }
    if (!size_fits(in, v)) {
        snprintf(path, sizeof path, "inputs[%zu].size", i);
        return err_message(err, ERR_INVALID, path, MESSAGE_MODEL_OTHER_SHAPE, path);
    }
    const struct {
        const char *field;
        struct str name;
    } further[] = {{"mask", in->mask}, {"types", in->types}, {"counts", in->counts}};
    for (size_t k = 0; k < countof(further); k++)
        if (further[k].name.n && !value_of(s->inputs, s->n_inputs, further[k].name))
            return missing("inputs", i, further[k].field, further[k].name, err);
    return true;
}

bool model_manifest_fits(const struct model_manifest *m, const struct onnx_summary *const *summaries,
                         struct err *err)
{
    for (size_t i = 0; i < m->n_inputs; i++)
        if (summaries[m->inputs[i].part] && !input_fits(&m->inputs[i], i, summaries[m->inputs[i].part], err))
            return false;
    for (size_t i = 0; i < m->n_outputs; i++) {
        const struct onnx_summary *s = summaries[m->outputs[i].part];
        if (s && !value_of(s->outputs, s->n_outputs, m->outputs[i].name))
            return missing("outputs", i, "name", m->outputs[i].name, err);
    }
    return true;
}
