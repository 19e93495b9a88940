#include "metric/evaluate.h"

#include "metric/family.h"
#include "metric/resample.h"

#include <math.h>

static const struct family *const families[ANNOTATION_TYPE_COUNT] = {
    [ANNOTATION_IMAGE_CLASS] = &family_labels,  [ANNOTATION_IMAGE_CLASSES] = &family_labels,
    [ANNOTATION_DETECTION] = &family_shapes,    [ANNOTATION_SEGMENTATION] = &family_shapes,
    [ANNOTATION_KEYPOINTS] = &family_shapes,    [ANNOTATION_OCR] = &family_texts,
    [ANNOTATION_TEXT_CLASS] = &family_labels,   [ANNOTATION_AUDIO_CLASS] = &family_labels,
    [ANNOTATION_TRANSCRIPTION] = &family_texts,
};

struct evaluate {
    enum annotation_type type;
    const struct family *family;
    void *state;
    size_t samples, left_out;
};

struct evaluate *evaluate_new(enum annotation_type type, struct err *err)
{
    if (!families[type]) {
        err_set(err, ERR_INVALID, "type", "'%s' cannot be evaluated", annotation_types[type].name);
        return NULL;
    }
    struct evaluate *e = base_zalloc(sizeof *e);
    e->type = type;
    e->family = families[type];
    e->state = e->family->begin(type);
    return e;
}

void evaluate_free(struct evaluate *e)
{
    if (!e)
        return;
    e->family->end(e->state);
    free(e);
}

bool evaluate_add(struct evaluate *e, struct str truth, struct str found, uint32_t w, uint32_t h,
                  struct err *err)
{
    auto_arena struct arena a;
    struct annotation t, f;
    arena_init(&a);
    if (!model_parse(&a, e->type, truth, &t, err) || !model_parse(&a, e->type, found, &f, err))
        return false;
    if (e->family->wants_truth && annotation_empty(truth)) {
        e->left_out++;
        return true;
    }
    if (!e->family->add(e->state, &t, &f, w, h, err))
        return false;
    e->samples++;
    return true;
}

void family_real(struct json_out *o, const char *key, double v)
{
    json_key(o, key);
    json_real(o, v);
}

void family_counts(struct json_out *o, uint64_t hits, uint64_t mistakes, uint64_t missed)
{
    double h = (double)hits;
    json_kint(o, "truths", (int64_t)(hits + missed));
    json_kint(o, "hits", (int64_t)hits);
    json_kint(o, "mistakes", (int64_t)mistakes);
    json_kint(o, "missed", (int64_t)missed);
    family_real(o, "precision", hits || mistakes ? h / (double)(hits + mistakes) : NAN);
    family_real(o, "recall", hits || missed ? h / (double)(hits + missed) : NAN);
    family_real(o, "f1", hits || mistakes || missed ? 2 * h / (double)(2 * hits + mistakes + missed) : NAN);
}

static void put_figures(struct evaluate *e, uint32_t draws, struct json_out *o)
{
    auto_arena struct arena a;
    size_t count = 0;
    arena_init(&a);
    while (e->family->name(e->state, count))
        count++;
    double *values = arena_array(&a, double, count + 1);
    struct resample_interval *sure = arena_array(&a, struct resample_interval, count + 1);
    e->family->figures(e->state, NULL, values);
    resample(&a, e->samples, draws, values, count, e->family->figures, e->state, sure);
    json_key(o, "figures");
    json_array(o);
    for (size_t i = 0; i < count; i++) {
        json_object(o);
        json_kz(o, "name", e->family->name(e->state, i));
        family_real(o, "value", values[i]);
        family_real(o, "low", sure[i].low);
        family_real(o, "high", sure[i].high);
        json_object_end(o);
    }
    json_array_end(o);
}

void evaluate_report(struct evaluate *e, uint32_t draws, struct json_out *o)
{
    json_object(o);
    json_kz(o, "type", annotation_types[e->type].name);
    json_kint(o, "samples", (int64_t)e->samples);
    json_kint(o, "left_out", (int64_t)e->left_out);
    put_figures(e, draws, o);
    if (e->family->more)
        e->family->more(e->state, o);
    json_object_end(o);
}
