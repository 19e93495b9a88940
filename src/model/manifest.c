#include "model/manifest.h"

#include "base/map.h"
#include "base/messages.h"
#include "codec/model.h"
#include "model/manifest_fields.h"

static const double default_thresholds[] = {
    [MODEL_THRESHOLD_SCORE] = 0.5, [MODEL_THRESHOLD_IOU] = 0.6,   [MODEL_THRESHOLD_MASK] = 0.5,
    [MODEL_THRESHOLD_TEXT] = 0.3,  [MODEL_THRESHOLD_POINT] = 0.3,
};

const char *model_task_name(int task)
{
    return task == MODEL_TASK_EMBEDDING ? "embedding" : annotation_types[task].name;
}

bool model_task_of(struct str name, int *ret)
{
    for (int i = 0; i < MODEL_TASK_COUNT; i++) {
        if (str_is(name, model_task_name(i))) {
            *ret = i;
            return true;
        }
    }
    return false;
}

int model_part_of(const struct model_manifest *m, const char *name)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (str_is(m->parts[i].name, name))
            return (int)i;
    return -1;
}

const struct model_output *model_output_of(const struct model_manifest *m, int part,
                                           enum model_reading reading)
{
    for (size_t i = 0; i < m->n_outputs; i++)
        if (m->outputs[i].reading == reading && (part < 0 || m->outputs[i].part == (size_t)part))
            return &m->outputs[i];
    return NULL;
}

/* --- reading --- */
static bool list_of(struct model_parse *p, yyjson_val *v, const char *path, size_t min, size_t max,
                    size_t *ret)
{
    *ret = yyjson_is_arr(v) ? yyjson_arr_size(v) : 0;
    if (!v && min)
        return err_message(p->err, ERR_INVALID, path, MESSAGE_REQUIRED, path);
    if ((v && !yyjson_is_arr(v)) || *ret < min || *ret > max)
        return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_ELEMENTS, path, (int)min, (int)max);
    return true;
}

static bool object_at(struct model_parse *p, yyjson_val *v, const char *path)
{
    if (!yyjson_is_obj(v))
        return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_OBJECT, path);
    return true;
}

static bool read_parts(struct model_parse *p, yyjson_val *list)
{
    struct model_manifest *m = p->m;
    size_t n;
    if (!list_of(p, list, "parts", 1, MODEL_MAX_PARTS, &n))
        return false;
    m->parts = arena_array(p->a, struct model_part, n);
    for (size_t i = 0; i < n; i++) {
        const char *path = arena_printf(p->a, "parts[%zu]", i);
        yyjson_val *v = yyjson_arr_get(list, i);
        if (!object_at(p, v, path) ||
            !model_fields_read(p, &model_part_fields, v, path, 0, NULL, &m->parts[i]))
            return false;
        path = arena_printf(p->a, "%s.name", path);
        if (model_part_of(m, m->parts[i].name.p) >= 0)
            return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_SAME, path);
        for (size_t k = 0; k < m->parts[i].name.n; k++)
            if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", m->parts[i].name.p[k]))
                return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_PART_NAME, path);
        m->n_parts++;
    }
    return true;
}

static bool read_inputs(struct model_parse *p, yyjson_val *list)
{
    static const char *const other[] = {"kind", NULL};
    struct model_manifest *m = p->m;
    size_t n;
    if (!list_of(p, list, "inputs", 1, MODEL_MAX_INPUTS, &n))
        return false;
    m->inputs = arena_array(p->a, struct model_input, n);
    for (size_t i = 0; i < n; i++) {
        struct model_input *in = &m->inputs[i];
        const char *path = arena_printf(p->a, "inputs[%zu]", i);
        const char *kind_path = arena_printf(p->a, "%s.kind", path);
        yyjson_val *v = yyjson_arr_get(list, i);
        uint32_t kind;
        if (!object_at(p, v, path))
            return false;
        if (!yyjson_obj_get(v, "kind"))
            return err_message(p->err, ERR_INVALID, kind_path, MESSAGE_REQUIRED, kind_path);
        if (!model_choice_read(p, yyjson_obj_get(v, "kind"), kind_path, model_kind_names, &kind))
            return false;
        model_fields_default(&model_input_fields, in);
        in->kind = (enum model_input_kind)kind;
        if (kind == MODEL_TEXT)
            in->type = MODEL_INT64;
        if (!model_fields_read(p, &model_input_fields, v, path, 1u << kind, other, in))
            return false;
        m->n_inputs++;
    }
    return true;
}

static bool read_outputs(struct model_parse *p, yyjson_val *list)
{
    static const char *const other[] = {"reading", NULL};
    struct model_manifest *m = p->m;
    size_t n;
    if (!list_of(p, list, "outputs", 1, MODEL_MAX_OUTPUTS, &n))
        return false;
    m->outputs = arena_array(p->a, struct model_output, n);
    for (size_t i = 0; i < n; i++) {
        const char *path = arena_printf(p->a, "outputs[%zu]", i);
        const char *reading_path = arena_printf(p->a, "%s.reading", path);
        yyjson_val *v = yyjson_arr_get(list, i);
        uint32_t reading;
        if (!object_at(p, v, path))
            return false;
        if (!yyjson_obj_get(v, "reading"))
            return err_message(p->err, ERR_INVALID, reading_path, MESSAGE_REQUIRED, reading_path);
        if (!model_choice_read(p, yyjson_obj_get(v, "reading"), reading_path, model_reading_names, &reading))
            return false;
        model_fields_default(&model_output_fields, &m->outputs[i]);
        m->outputs[i].reading = (enum model_reading)reading;
        if (!model_fields_read(p, &model_output_fields, v, path, 1u << reading, other, &m->outputs[i]))
            return false;
        m->n_outputs++;
    }
    return true;
}

static bool read_names(struct model_parse *p, yyjson_val *list, const char *path, size_t max,
                       struct str **ret, size_t *ret_n)
{
    size_t i, n;
    yyjson_val *v;
    if (!list_of(p, list, path, 0, max, &n))
        return false;
    if (!n)
        return true;
    struct str *names = arena_array(p->a, struct str, n);
    struct map *seen = map_new();
    bool ok = true;
    yyjson_arr_foreach(list, i, n, v)
    {
        struct str s = json_str(v);
        const char *one = arena_printf(p->a, "%s[%zu]", path, i);
        if (!s.n || !model_is_label(s))
            ok = err_message(p->err, ERR_INVALID, one, MESSAGE_MODEL_LABEL, one);
        else if (map_set(seen, s, p))
            ok = err_message(p->err, ERR_INVALID, one, MESSAGE_MODEL_SAME, one);
        if (!ok)
            break;
        names[i] = arena_str(p->a, s);
    }
    map_free(seen);
    if (!ok)
        return false;
    *ret = names;
    *ret_n = n;
    return true;
}

static bool read_edges(struct model_parse *p, yyjson_val *list)
{
    size_t i, n;
    yyjson_val *v;
    if (!list_of(p, list, "edges", 0, 1000, &n))
        return false;
    if (!n)
        return true;
    p->m->edges = arena_alloc(p->a, sizeof *p->m->edges * (n + 1));
    yyjson_arr_foreach(list, i, n, v)
    {
        const char *path = arena_printf(p->a, "edges[%zu]", i);
        for (size_t k = 0; k < 2; k++) {
            yyjson_val *at = yyjson_arr_get(v, k);
            if (yyjson_arr_size(v) != 2 || !yyjson_is_uint(at) || yyjson_get_uint(at) >= p->m->n_points)
                return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_EDGE, path);
            p->m->edges[i][k] = (uint32_t)yyjson_get_uint(at);
        }
    }
    p->m->n_edges = n;
    return true;
}

static bool read_thresholds(struct model_parse *p, yyjson_val *v)
{
    size_t i, n;
    yyjson_val *key, *value;
    memcpy(p->m->thresholds, default_thresholds, sizeof default_thresholds);
    if (p->m->task == ANNOTATION_IMAGE_CLASS ||
        ((p->m->task == ANNOTATION_TEXT_CLASS || p->m->task == ANNOTATION_AUDIO_CLASS) &&
         p->m->outputs[0].reading != MODEL_SIGMOID))
        p->m->thresholds[MODEL_THRESHOLD_SCORE] = 0; /* the best label is told, however sure it is */
    if (!v)
        return true;
    if (!object_at(p, v, "thresholds"))
        return false;
    yyjson_obj_foreach(v, i, n, key, value)
    {
        uint32_t which;
        if (!model_choice_read(p, key, "thresholds", model_threshold_names, &which))
            return false;
        const char *path = arena_printf(p->a, "thresholds.%s", model_threshold_names[which]);
        double d = yyjson_is_num(value) ? yyjson_get_num(value) : -1;
        if (!(d >= 0 && d <= 1))
            return err_message(p->err, ERR_INVALID, path, MESSAGE_MODEL_RANGE, path, 0.0, 1.0);
        p->m->thresholds[which] = d;
    }
    return true;
}

static bool read_task(struct model_parse *p, yyjson_val *v)
{
    yyjson_val *version = yyjson_obj_get(v, "ingot"), *task = yyjson_obj_get(v, "task");
    const char *names[MODEL_TASK_COUNT + 1] = {0};
    uint32_t which;
    for (int i = 0; i < MODEL_TASK_COUNT; i++)
        names[i] = model_task_name(i);
    if (!version)
        return err_message(p->err, ERR_INVALID, "ingot", MESSAGE_REQUIRED, "ingot");
    if (!yyjson_is_uint(version) || yyjson_get_uint(version) != 1)
        return err_message(p->err, ERR_INVALID, "ingot", MESSAGE_MODEL_WHOLE, "ingot", 1.0, 1.0);
    if (!task)
        return err_message(p->err, ERR_INVALID, "task", MESSAGE_REQUIRED, "task");
    if (!model_choice_read(p, task, "task", names, &which))
        return false;
    p->m->task = (int)which;
    return true;
}

static bool read_top(struct model_parse *p, yyjson_val *v)
{
    static const char *const other[] = {"ingot",  "task",    "labels",     "points",  "edges", "parts",
                                        "inputs", "outputs", "thresholds", "$schema", NULL};
    model_fields_default(&model_top_fields, p->m);
    return read_task(p, v) && model_fields_read(p, &model_top_fields, v, "", 0, other, p->m) &&
           read_names(p, yyjson_obj_get(v, "labels"), "labels", MODEL_MAX_LABELS, &p->m->labels,
                      &p->m->n_labels) &&
           read_names(p, yyjson_obj_get(v, "points"), "points", 1000, &p->m->points, &p->m->n_points) &&
           read_edges(p, yyjson_obj_get(v, "edges")) && read_parts(p, yyjson_obj_get(v, "parts")) &&
           read_inputs(p, yyjson_obj_get(v, "inputs")) && read_outputs(p, yyjson_obj_get(v, "outputs")) &&
           read_thresholds(p, yyjson_obj_get(v, "thresholds")) && model_manifest_check(p);
}

bool model_manifest_parse(struct arena *a, struct str text, struct model_manifest *ret, struct err *err)
{
    struct model_manifest m = {0};
    struct model_parse p = {a, &m, err};
    if (text.n > MODEL_MANIFEST_MAX_BYTES)
        return err_set(err, ERR_TOO_LARGE, NULL, "a manifest has at most %u bytes", MODEL_MANIFEST_MAX_BYTES);
    yyjson_val *v = json_parse(a, text, err);
    if (!v)
        return false;
    if (!yyjson_is_obj(v))
        return err_set(err, ERR_MALFORMED, NULL, "the manifest is no JSON object");
    m.assets = arena_array(a, struct model_asset, MODEL_MAX_INPUTS + 2 * MODEL_MAX_OUTPUTS);
    if (!read_top(&p, v))
        return false;
    *ret = m;
    return true;
}

/* --- writing --- */
static void write_names(const char *key, const struct str *names, size_t n, struct json_out *out)
{
    if (!n)
        return;
    json_key(out, key);
    json_array(out);
    for (size_t i = 0; i < n; i++)
        json_string(out, names[i]);
    json_array_end(out);
}

static void write_lists(const struct model_manifest *m, struct json_out *out)
{
    json_key(out, "parts");
    json_array(out);
    for (size_t i = 0; i < m->n_parts; i++) {
        json_object(out);
        model_fields_write(m, &model_part_fields, &m->parts[i], 0, out);
        json_object_end(out);
    }
    json_array_end(out);
    json_key(out, "inputs");
    json_array(out);
    for (size_t i = 0; i < m->n_inputs; i++) {
        json_object(out);
        json_kz(out, "kind", model_kind_names[m->inputs[i].kind]);
        model_fields_write(m, &model_input_fields, &m->inputs[i], 1u << m->inputs[i].kind, out);
        json_object_end(out);
    }
    json_array_end(out);
    json_key(out, "outputs");
    json_array(out);
    for (size_t i = 0; i < m->n_outputs; i++) {
        json_object(out);
        json_kz(out, "reading", model_reading_names[m->outputs[i].reading]);
        model_fields_write(m, &model_output_fields, &m->outputs[i], 1u << m->outputs[i].reading, out);
        json_object_end(out);
    }
    json_array_end(out);
}

void model_manifest_write(const struct model_manifest *m, struct json_out *out)
{
    json_object(out);
    json_kint(out, "ingot", 1);
    json_kz(out, "task", model_task_name(m->task));
    model_fields_write(m, &model_top_fields, m, 0, out);
    write_names("labels", m->labels, m->n_labels, out);
    write_names("points", m->points, m->n_points, out);
    if (m->n_edges) {
        json_key(out, "edges");
        json_array(out);
        for (size_t i = 0; i < m->n_edges; i++) {
            json_array(out);
            json_int(out, m->edges[i][0]);
            json_int(out, m->edges[i][1]);
            json_array_end(out);
        }
        json_array_end(out);
    }
    write_lists(m, out);
    json_key(out, "thresholds");
    json_object(out);
    for (size_t i = 0; i < MODEL_THRESHOLD_COUNT; i++) {
        json_key(out, model_threshold_names[i]);
        json_real(out, m->thresholds[i]);
    }
    json_object_end(out);
    json_object_end(out);
}
