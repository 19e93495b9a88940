/* What ONNX files let one see of their manifest. Whatever is a guess is also asked. */
#include "model/manifest_guess.h"

#include <stdio.h>

void guess_ask(struct guess *g, const char *field)
{
    if (g->n_asked < GUESS_ASKED)
        g->asked[g->n_asked++] = str_of(field);
}

static int64_t last_dim(const struct onnx_value *v)
{
    return v->n_dims ? guess_dim(v, v->n_dims - 1) : -1;
}

/* Whether an operator of that name is in the graph, as its last word: scores are scores already. */
bool guess_has_operator(const struct onnx_summary *s, const char *name)
{
    for (size_t i = 0; i < s->n_operators; i++)
        if (str_is(s->operators[i].name, name))
            return true;
    return false;
}

struct str guess_text_file(const struct guess *g, const char *const *words)
{
    for (; *words; words++)
        for (size_t i = 0; i < g->n_files; i++)
            if (str_ends(g->files[i], ".txt") && str_find(g->files[i], str_of(*words)) >= 0)
                return g->files[i];
    return STR_NULL;
}

struct model_asset *guess_asset(struct guess *g, struct str path)
{
    g->asset.path = path;
    return &g->asset;
}

/* Four dimensions with 1 or 3 channels in the place where a layout has them. */
static bool see_picture(struct guess *g, const struct onnx_value *v)
{
    if (!v->has_shape || v->n_dims != 4)
        return false;
    int64_t first = guess_dim(v, 1), last = guess_dim(v, 3);
    bool nchw = first == 1 || first == 3, nhwc = !nchw && (last == 1 || last == 3);
    if (!nchw && !nhwc)
        return false;
    g->in[0].kind = MODEL_PICTURE;
    g->in[0].layout = nchw ? MODEL_NCHW : MODEL_NHWC;
    g->in[0].color = (nchw ? first : last) == 1 ? MODEL_GRAY : MODEL_RGB;
    int64_t h = guess_dim(v, nchw ? 2 : 1), w = guess_dim(v, nchw ? 3 : 2);
    g->in[0].size[0] = w > 0 && w <= MODEL_MAX_SIDE ? (uint32_t)w : 224;
    g->in[0].size[1] = h > 0 && h <= MODEL_MAX_SIDE ? (uint32_t)h : 224;
    if (w <= 0 || h <= 0)
        guess_ask(g, "inputs[0].size");
    g->in[0].type = v->type == ONNX_UINT8 ? MODEL_UINT8 : v->type == ONNX_FLOAT16 ? MODEL_FP16 : MODEL_FP32;
    if (g->in[0].type != MODEL_UINT8) {
        g->in[0].scale = 1.0 / 255;
        guess_ask(g, "inputs[0].mean"); /* and deviation: nothing in the file tells */
    }
    return true;
}

static bool is_whole(const struct onnx_value *v)
{
    return v->type == ONNX_INT64 || v->type == ONNX_INT32;
}

static bool has_word(const struct onnx_value *v, const char *word)
{
    return str_find(v->name, str_of(word)) >= 0;
}

/* The files of a tokenizer: a vocabulary, or single characters. */
static void see_vocabulary(struct guess *g)
{
    static const char *const words[] = {"vocab", NULL}, *const characters[] = {"char", NULL};
    struct str vocab = guess_text_file(g, words), single = guess_text_file(g, characters);
    bool by_character = !vocab.p && single.p;
    g->in[0].tokenizer = by_character ? MODEL_CHARACTERS : MODEL_WORDPIECE;
    g->in[0].vocab = guess_asset(g, by_character ? single : vocab.p ? vocab : STR("vocab.txt"));
    guess_ask(g, "inputs[0].vocab");
}

/* Numbers of tokens; masks and types may come before them. */
static bool see_text(struct guess *g)
{
    const struct onnx_value *v = NULL;
    for (size_t i = 0; i < g->s->n_inputs; i++) {
        const struct onnx_value *one = &g->s->inputs[i];
        if (has_word(one, "mask"))
            g->in[0].mask = one->name;
        else if (has_word(one, "type") || has_word(one, "segment"))
            g->in[0].types = one->name;
        else if (one->type == ONNX_FLOAT)
            g->in[0].counts = one->name;
        else if (!v && is_whole(one))
            v = one;
    }
    if (!v || !is_whole(&g->s->inputs[0]))
        return false;
    g->in[0].name = v->name;
    g->in[0].kind = MODEL_TEXT;
    g->in[0].type = v->type == ONNX_INT32 ? MODEL_INT32 : MODEL_INT64;
    if (last_dim(v) > 1 && last_dim(v) <= MODEL_MAX_LENGTH) {
        g->in[0].length = (uint32_t)last_dim(v);
        g->in[0].pad_to_length = true;
    }
    if (g->in[0].counts.n)
        g->in[0].tokenizer = MODEL_NGRAMS;
    else
        see_vocabulary(g);
    return true;
}

static bool see_sound(struct guess *g, const struct onnx_value *v)
{
    if (v->type != ONNX_FLOAT || !v->has_shape || v->n_dims < 1 || v->n_dims > 3)
        return false;
    if (last_dim(v) >= 0 && last_dim(v) < 1000)
        return false;
    g->in[0].kind = MODEL_SOUND;
    g->in[0].rank = (uint32_t)v->n_dims;
    g->in[0].rate = 16000;
    g->in[0].samples = last_dim(v) > 0 && last_dim(v) < 1 << 26 ? (uint32_t)last_dim(v) : 0;
    guess_ask(g, "inputs[0].rate");
    return true;
}

static void add_output(struct guess *g, const struct onnx_value *v, enum model_reading reading)
{
    struct model_output *out = &g->out[g->m.n_outputs++];
    model_fields_default(&model_output_fields, out);
    out->name = v->name;
    out->reading = reading;
}

/* Boxes and what there is of each: scores of all classes, or the score and the class, and how many count.
 * Returns the number of classes, or -1; leaves no outputs when that is not what it is. */
static int64_t see_boxes(struct guess *g)
{
    const struct onnx_summary *s = g->s;
    bool scores = false, classes = false;
    bool done = guess_has_operator(s, "Softmax") || guess_has_operator(s, "Sigmoid");
    int64_t n = -1;
    for (size_t i = 0; i < s->n_outputs && !g->m.n_outputs; i++)
        if (s->outputs[i].n_dims == 3 && last_dim(&s->outputs[i]) == 4)
            add_output(g, &s->outputs[i], MODEL_BOXES);
    for (size_t i = 0; i < s->n_outputs && g->m.n_outputs && g->m.n_outputs < GUESS_OUTPUTS; i++) {
        const struct onnx_value *v = &s->outputs[i];
        if (!v->has_shape || str_eq(v->name, g->out[0].name))
            continue;
        if (v->n_dims == 3 && !scores) {
            add_output(g, v, done ? MODEL_SCORES : MODEL_SOFTMAX);
            n = last_dim(v);
            scores = true;
        } else if (v->n_dims == 2 && !scores && !is_whole(v)) {
            add_output(g, v, MODEL_SCORES);
            scores = true;
        } else if (v->n_dims == 2 && !classes) {
            add_output(g, v, MODEL_CLASSES);
            classes = true;
        }
    }
    if (!scores)
        g->m.n_outputs = 0;
    return n;
}

static int64_t see_map_or_rows(struct guess *g, const struct onnx_value *v)
{
    struct model_output *out = &g->out[0];
    if (v->n_dims == 4) {
        g->m.task = ANNOTATION_SEGMENTATION;
        out->reading = MODEL_ARGMAX;
        return guess_dim(v, 1);
    }
    if (v->n_dims == 3 && guess_dim(v, 1) > 4) {
        g->m.task = ANNOTATION_DETECTION;
        out->reading = MODEL_ROWS;
        out->format = MODEL_CXCYWH;
        out->transposed = guess_dim(v, 2) > guess_dim(v, 1);
        return (out->transposed ? guess_dim(v, 1) : guess_dim(v, 2)) - 4;
    }
    guess_ask(g, "outputs");
    return -1;
}

/* Returns the number of classes, or -1. */
static int64_t see_outputs(struct guess *g)
{
    static const int class_tasks[] = {[MODEL_PICTURE] = ANNOTATION_IMAGE_CLASS,
                                      [MODEL_TEXT] = ANNOTATION_TEXT_CLASS,
                                      [MODEL_SOUND] = ANNOTATION_AUDIO_CLASS};
    const struct onnx_value *v = &g->s->outputs[0];
    bool picture = g->in[0].kind == MODEL_PICTURE;
    g->m.task = class_tasks[g->in[0].kind];
    if (picture && g->s->n_outputs > 1) {
        int64_t n = see_boxes(g);
        guess_ask(g, "task");
        guess_ask(g, "outputs");
        if (g->m.n_outputs) {
            g->m.task = ANNOTATION_DETECTION;
            return n;
        }
    }
    add_output(g, v, guess_has_operator(g->s, "Softmax") ? MODEL_SCORES : MODEL_SOFTMAX);
    if (g->s->n_outputs > 1)
        return -1;
    if (v->has_shape && v->n_dims == 2)
        return last_dim(v);
    guess_ask(g, "task");
    return picture && v->has_shape ? see_map_or_rows(g, v) : -1;
}

static void name_labels(struct guess *g, int64_t n)
{
    if (n <= 0 || n > MODEL_MAX_LABELS)
        n = 2;
    g->m.labels = arena_array(g->a, struct str, (size_t)n);
    g->m.n_labels = (size_t)n;
    for (size_t i = 0; i < (size_t)n; i++)
        g->m.labels[i] = str_of(arena_printf(g->a, "class %zu", i));
    guess_ask(g, "labels");
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

static void see_one(struct guess *g, const struct model_seen *seen)
{
    g->s = seen->summary;
    g->part[0] = (struct model_part){STR("model"), seen->file};
    g->m.n_parts = g->m.n_inputs = 1;
    model_fields_default(&model_input_fields, &g->in[0]);
    if (!g->s->n_inputs || !g->s->n_outputs) {
        guess_ask(g, "inputs");
        return;
    }
    const struct onnx_value *v = &g->s->inputs[0];
    g->in[0].name = v->name;
    if (see_picture(g, v) || see_text(g) || see_sound(g, v))
        name_labels(g, see_outputs(g));
    else
        guess_ask(g, "inputs");
}

void model_manifest_guess(struct arena *a, const struct model_seen *seen, size_t n, const struct str *files,
                          size_t n_files, struct model_guess *ret)
{
    struct guess g = {
        .a = a, .files = files, .n_files = n_files, .asked = arena_array(a, struct str, GUESS_ASKED)};
    static const double thresholds[] = {0.5, 0.6, 0.5, 0.3, 0.3};
    g.m.parts = g.part;
    g.m.inputs = g.in;
    g.m.outputs = g.out;
    g.m.assets = &g.asset;
    memcpy(g.m.thresholds, thresholds, sizeof thresholds);
    model_fields_default(&model_top_fields, &g.m);
    if (!guess_ocr(&g, seen, n))
        see_one(&g, &seen[0]);
    if (g.m.n_outputs)
        write_guess(&g, ret);
    else
        *ret = (struct model_guess){STR("{}"), g.asked, g.n_asked};
}
