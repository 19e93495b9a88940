/* What an ONNX file lets one see of its manifest. Whatever is a guess is also asked. */
#include "model/manifest_fields.h"

#include <stdio.h>

struct guess {
    struct arena *a;
    const struct onnx_summary *s;
    struct model_manifest m;
    struct model_input in;
    struct model_output out;
    struct str *asked;
    size_t n_asked;
};

static void ask(struct guess *g, const char *field)
{
    g->asked[g->n_asked++] = str_of(field);
}

static int64_t last_dim(const struct onnx_value *v)
{
    return v->has_shape && v->n_dims ? v->dims[v->n_dims - 1].value : -1;
}

static int64_t dim(const struct onnx_value *v, size_t i)
{
    return v->has_shape && i < v->n_dims ? v->dims[i].value : -1;
}

/* Four dimensions with 1 or 3 channels in the place where a layout has them. */
static bool see_picture(struct guess *g, const struct onnx_value *v)
{
    if (!v->has_shape || v->n_dims != 4)
        return false;
    int64_t first = dim(v, 1), last = dim(v, 3);
    bool nchw = first == 1 || first == 3, nhwc = !nchw && (last == 1 || last == 3);
    if (!nchw && !nhwc)
        return false;
    g->in.kind = MODEL_PICTURE;
    g->in.layout = nchw ? MODEL_NCHW : MODEL_NHWC;
    g->in.color = (nchw ? first : last) == 1 ? MODEL_GRAY : MODEL_RGB;
    int64_t h = dim(v, nchw ? 2 : 1), w = dim(v, nchw ? 3 : 2);
    g->in.size[0] = w > 0 && w <= MODEL_MAX_SIDE ? (uint32_t)w : 224;
    g->in.size[1] = h > 0 && h <= MODEL_MAX_SIDE ? (uint32_t)h : 224;
    if (w <= 0 || h <= 0)
        ask(g, "inputs[0].size");
    g->in.type = v->type == ONNX_UINT8 ? MODEL_UINT8 : v->type == ONNX_FLOAT16 ? MODEL_FP16 : MODEL_FP32;
    if (g->in.type != MODEL_UINT8) {
        g->in.scale = 1.0 / 255;
        ask(g, "inputs[0].mean"); /* and deviation: nothing in the file tells */
    }
    return true;
}

static bool see_text(struct guess *g, const struct onnx_value *v)
{
    if (v->type != ONNX_INT64 && v->type != ONNX_INT32)
        return false;
    g->in.kind = MODEL_TEXT;
    g->in.type = v->type == ONNX_INT32 ? MODEL_INT32 : MODEL_INT64;
    for (size_t i = 0; i < g->s->n_inputs; i++) {
        const struct onnx_value *other = &g->s->inputs[i];
        if (str_find(other->name, STR("mask")) >= 0)
            g->in.mask = other->name;
        else if (str_find(other->name, STR("type")) >= 0)
            g->in.types = other->name;
        else if (other->type == ONNX_FLOAT)
            g->in.counts = other->name;
    }
    g->in.tokenizer = g->in.counts.n ? MODEL_NGRAMS : MODEL_WORDPIECE;
    if (!g->in.counts.n) {
        g->m.assets[0].path = STR("vocab.txt");
        g->in.vocab = &g->m.assets[0];
        ask(g, "inputs[0].vocab");
    }
    return true;
}

static bool see_sound(struct guess *g, const struct onnx_value *v)
{
    if (v->type != ONNX_FLOAT || !v->has_shape || v->n_dims < 1 || v->n_dims > 3)
        return false;
    if (last_dim(v) >= 0 && last_dim(v) < 1000)
        return false;
    g->in.kind = MODEL_SOUND;
    g->in.rank = (uint32_t)v->n_dims;
    g->in.rate = 16000;
    g->in.samples = last_dim(v) > 0 && last_dim(v) < 1 << 26 ? (uint32_t)last_dim(v) : 0;
    ask(g, "inputs[0].rate");
    return true;
}

/* Whether an operator of that name is the graph's last word: scores are scores already. */
static bool has_operator(const struct onnx_summary *s, const char *name)
{
    for (size_t i = 0; i < s->n_operators; i++)
        if (str_is(s->operators[i].name, name))
            return true;
    return false;
}

static int64_t see_outputs(struct guess *g)
{
    static const int class_tasks[] = {[MODEL_PICTURE] = ANNOTATION_IMAGE_CLASS,
                                      [MODEL_TEXT] = ANNOTATION_TEXT_CLASS,
                                      [MODEL_SOUND] = ANNOTATION_AUDIO_CLASS};
    const struct onnx_value *v = &g->s->outputs[0];
    g->out.name = v->name;
    g->m.task = class_tasks[g->in.kind];
    g->out.reading = has_operator(g->s, "Softmax") ? MODEL_SCORES : MODEL_SOFTMAX;
    if (g->s->n_outputs == 1 && v->has_shape && v->n_dims == 2)
        return last_dim(v);
    ask(g, "task");
    if (g->in.kind != MODEL_PICTURE || !v->has_shape)
        return -1;
    if (v->n_dims == 4 && g->s->n_outputs == 1) {
        g->m.task = ANNOTATION_SEGMENTATION;
        g->out.reading = MODEL_ARGMAX;
        return dim(v, 1);
    }
    if (v->n_dims == 3 && g->s->n_outputs == 1 && dim(v, 1) > 4) {
        g->m.task = ANNOTATION_DETECTION;
        g->out.reading = MODEL_ROWS;
        g->out.format = MODEL_CXCYWH;
        g->out.transposed = dim(v, 2) > dim(v, 1);
        return (g->out.transposed ? dim(v, 1) : dim(v, 2)) - 4;
    }
    ask(g, "outputs");
    return -1;
}

static void name_labels(struct guess *g, int64_t n)
{
    if (n <= 0 || n > MODEL_MAX_LABELS)
        n = 2;
    g->m.labels = arena_array(g->a, struct str, (size_t)n);
    g->m.n_labels = (size_t)n;
    for (size_t i = 0; i < (size_t)n; i++)
        g->m.labels[i] = str_of(arena_printf(g->a, "class %zu", i));
    ask(g, "labels");
}

static void write_guess(struct guess *g, struct model_guess *ret)
{
    auto_buf struct buf b = {0};
    struct json_out out;
    json_begin(&out, &b);
    model_manifest_write(&g->m, &out);
    ret->json = arena_str(g->a, buf_view(&b));
    ret->asked = g->asked;
    ret->n_asked = g->n_asked;
}

void model_manifest_guess(struct arena *a, const struct onnx_summary *s, struct str file,
                          struct model_guess *ret)
{
    struct model_part part = {STR("model"), arena_str(a, file)};
    struct model_asset asset = {0};
    struct guess g = {.a = a, .s = s, .asked = arena_array(a, struct str, 16)};
    g.m.parts = &part;
    g.m.assets = &asset;
    g.m.inputs = &g.in;
    g.m.outputs = &g.out;
    g.m.n_parts = g.m.n_inputs = g.m.n_outputs = 1;
    static const double thresholds[] = {0.5, 0.6, 0.5, 0.3, 0.3};
    memcpy(g.m.thresholds, thresholds, sizeof thresholds);
    model_fields_default(&model_input_fields, &g.in);
    model_fields_default(&model_output_fields, &g.out);
    model_fields_default(&model_top_fields, &g.m);
    if (!s->n_inputs || !s->n_outputs) {
        ask(&g, "inputs");
        *ret = (struct model_guess){STR("{}"), g.asked, g.n_asked};
        return;
    }
    g.in.name = s->inputs[0].name;
    if (!see_picture(&g, &s->inputs[0]) && !see_text(&g, &s->inputs[0]) && !see_sound(&g, &s->inputs[0])) {
        ask(&g, "inputs");
        *ret = (struct model_guess){STR("{}"), g.asked, g.n_asked};
        return;
    }
    name_labels(&g, see_outputs(&g));
    write_guess(&g, ret);
}
