/* Reading text takes two or three graphs, which tell by the shapes of their outputs what they are. What the
 * shapes do not tell is as in PP-OCR, whose models most are. */
#include "model/manifest_guess.h"

enum role { DETECTOR, CLASSIFIER, RECOGNISER, ROLES };
static const char *const role_names[ROLES] = {"detector", "classifier", "recogniser"};

/* ROLES: none of them. */
static enum role role_of(const struct onnx_summary *s)
{
    if (s->n_inputs != 1 || s->n_outputs != 1 || s->inputs[0].n_dims != 4 || guess_dim(&s->inputs[0], 1) != 3)
        return ROLES;
    const struct onnx_value *v = &s->outputs[0];
    switch (v->n_dims) {
    case 2:
        return guess_dim(v, 1) == 2 ? CLASSIFIER : ROLES;
    case 3:
        return RECOGNISER;
    case 4:
        return guess_dim(v, 1) == 1 ? DETECTOR : ROLES;
    default:
        return ROLES;
    }
}

static void set_all(double v[3], double first, double second, double third)
{
    v[0] = first;
    v[1] = second;
    v[2] = third;
}

static uint32_t side(int64_t of_graph, uint32_t otherwise)
{
    return of_graph > 0 && of_graph <= MODEL_MAX_SIDE ? (uint32_t)of_graph : otherwise;
}

static void add_input(struct guess *g, enum role role, const struct onnx_value *v)
{
    struct model_input *in = &g->in[g->m.n_inputs++];
    model_fields_default(&model_input_fields, in);
    in->name = v->name;
    in->part = g->m.n_parts;
    in->color = MODEL_BGR;
    in->scale = 1.0 / 255;
    if (role == DETECTOR) {
        in->size[0] = side(guess_dim(v, 3), 0);
        in->size[1] = side(guess_dim(v, 2), 0);
        in->longest = in->size[0] || in->size[1] ? 0 : 960;
        in->multiple = in->size[0] && in->size[1] ? 1 : 32;
        set_all(in->mean, 0.485, 0.456, 0.406);
        set_all(in->deviation, 0.229, 0.224, 0.225);
        return;
    }
    in->size[0] = side(guess_dim(v, 3), role == CLASSIFIER ? 192 : 0);
    in->size[1] = side(guess_dim(v, 2), 48);
    if (!in->size[0]) {
        in->range[0] = 320;
        in->range[1] = 3200;
    }
    in->fit = MODEL_LETTERBOX;
    in->align = MODEL_TOP_LEFT;
    set_all(in->mean, 0.5, 0.5, 0.5);
    set_all(in->deviation, 0.5, 0.5, 0.5);
    set_all(in->pad, 127.5, 127.5, 127.5);
}

static void add_output(struct guess *g, enum role role, const struct onnx_summary *s)
{
    static const char *const words[] = {"key", "char", "dict", "", NULL};
    struct model_output *out = &g->out[g->m.n_outputs++];
    struct str characters = guess_text_file(g, words);
    model_fields_default(&model_output_fields, out);
    out->name = s->outputs[0].name;
    out->part = g->m.n_parts;
    switch (role) {
    case DETECTOR:
        out->reading = MODEL_TEXT_MAP;
        out->activation = guess_has_operator(s, "Sigmoid") ? MODEL_NONE : MODEL_ACT_SIGMOID;
        return;
    case CLASSIFIER:
        out->reading = guess_has_operator(s, "Softmax") ? MODEL_SCORES : MODEL_SOFTMAX;
        return;
    default:
        out->reading = MODEL_CTC;
        out->activation = guess_has_operator(s, "Softmax") ? MODEL_NONE : MODEL_ACT_SOFTMAX;
        out->characters = guess_asset(g, characters.p ? characters : STR("keys.txt"));
        out->space = true;
    }
}

bool guess_ocr(struct guess *g, const struct model_seen *seen, size_t n)
{
    const struct model_seen *by[ROLES] = {0};
    for (size_t i = 0; i < n; i++) {
        enum role role = role_of(seen[i].summary);
        if (role == ROLES || by[role])
            return false;
        by[role] = &seen[i];
    }
    if (!by[DETECTOR] || !by[RECOGNISER])
        return false;
    g->m.task = ANNOTATION_OCR;
    for (enum role role = 0; role < ROLES; role++) {
        if (!by[role])
            continue;
        add_input(g, role, &by[role]->summary->inputs[0]);
        add_output(g, role, by[role]->summary);
        g->part[g->m.n_parts++] = (struct model_part){str_of(role_names[role]), by[role]->file};
    }
    guess_ask(g, "task");
    guess_ask(g, "inputs[0].mean");
    guess_ask(g, by[CLASSIFIER] ? "outputs[2].characters" : "outputs[1].characters");
    return true;
}
