#include "metric/evaluate.h"

#include "metric/family.h"
#include "metric/resample.h"
#include "metric/titles.h"

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
    struct matches *matches; /* NULL until a sample of evaluate_add_sample */
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
    matches_free(e->matches);
    free(e);
}

static bool add(struct evaluate *e, const struct evaluate_sample *s, bool keep, bool *ret_kept,
                struct err *err)
{
    auto_arena struct arena a;
    struct annotation t, f;
    arena_init(&a);
    *ret_kept = false;
    if (!model_parse(&a, e->type, s->truth, &t, err) || !model_parse(&a, e->type, s->found, &f, err))
        return false;
    if (e->family->wants_truth && annotation_empty(s->truth)) {
        e->left_out++;
        return true;
    }
    if (keep && !matches_begin(e->matches, s->id, s->split, err))
        return false;
    *ret_kept = e->family->add(e->state, &t, &f, s->w, s->h, keep ? e->matches : NULL, err);
    if (keep)
        matches_end(e->matches, *ret_kept);
    e->samples += *ret_kept;
    return *ret_kept;
}

bool evaluate_add(struct evaluate *e, struct str truth, struct str found, uint32_t w, uint32_t h,
                  struct err *err)
{
    bool kept;
    return add(e, &(struct evaluate_sample){.truth = truth, .found = found, .w = w, .h = h}, false, &kept,
               err);
}

bool evaluate_add_sample(struct evaluate *e, const struct evaluate_sample *s, bool *ret_kept, struct err *err)
{
    evaluate_matches(e);
    return add(e, s, true, ret_kept, err);
}

struct matches *evaluate_matches(struct evaluate *e)
{
    if (!e->matches)
        e->matches = matches_new(e->type);
    return e->matches;
}

void evaluate_set_score(struct evaluate *e, double score)
{
    if (e->family->set_score)
        e->family->set_score(e->state, score);
}

double evaluate_score(struct evaluate *e)
{
    return e->family->score ? e->family->score(e->state) : 0;
}

const char *evaluate_figure(const struct evaluate *e, size_t i)
{
    return e->family->name(e->state, i);
}

void evaluate_figures(struct evaluate *e, const uint32_t *weight, double *ret)
{
    e->family->figures(e->state, weight, ret);
}

bool evaluate_is_main(struct str figure)
{
    const struct figure_title *f = figure_title(figure);
    return f && (f->flags & FIGURE_MAIN);
}

bool evaluate_less_is_better(struct str figure)
{
    const struct figure_title *f = figure_title(figure);
    return f && (f->flags & FIGURE_LESS);
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

/* Room for what the draws give, beside the matches. */
static double *keep_draws(struct evaluate *e, size_t count, uint32_t draws)
{
    struct matches *m = e->matches;
    if (!m)
        return NULL;
    m->figures = arena_array(&m->arena, struct str, count + 1);
    for (size_t i = 0; i < count; i++)
        m->figures[i] = str_of(e->family->name(e->state, i));
    m->figure_count = count;
    m->draw_count = e->samples ? draws : 0;
    m->draws = arena_array(&m->arena, double, count *draws + 1);
    return m->draws;
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
    resample(&a, e->samples, draws, values, count, e->family->figures, e->state, sure,
             keep_draws(e, count, draws));
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

void evaluate_members(struct evaluate *e, uint32_t draws, struct json_out *o)
{
    json_kz(o, "type", annotation_types[e->type].name);
    json_kint(o, "samples", (int64_t)e->samples);
    json_kint(o, "left_out", (int64_t)e->left_out);
    put_figures(e, draws, o);
    if (e->family->more)
        e->family->more(e->state, o);
}

void evaluate_report(struct evaluate *e, uint32_t draws, struct json_out *o)
{
    json_object(o);
    evaluate_members(e, draws, o);
    json_object_end(o);
}
