/* Masks: the best class of each pixel, one mask per class, or one per instance. Each pixel of the picture
 * asks the map at the place where its middle lies; pixels that the model did not see (cut off by a crop)
 * belong to nothing. Masks are COCO's runs, column by column. */
#include "infer/task_own.h"

#include "codec/rle.h"

#include <math.h>

#define NOTHING 0xffff

/* Where in the map a column or row of the picture lies: cell, and its next with its share; first < 0:
 * nowhere. */
struct place {
    int32_t first, second;
    float share;
};

struct seg {
    struct task *t;
    const struct task_run *r;
    const struct model_output *out;
    struct task_map map;
    int64_t channels;
    size_t channel_step;
    size_t numbers; /* classes, the background too */
    struct place *columns, *rows;
};

/* from, span: the part of the input, in its pixels, that the map covers. */
static struct place *places(struct seg *s, int axis, uint32_t cells, double from, double span)
{
    const struct prepare_map *m = &s->r->prepared.map;
    struct place *ret = arena_alloc(s->t->a, sizeof *ret * m->picture[axis]);
    for (uint32_t i = 0; i < m->picture[axis]; i++) {
        double at = (prepare_forth(m, axis, i + 0.5) - from) / span;
        ret[i] = (struct place){-1, -1, 0};
        if (!(at >= 0 && at < 1))
            continue;
        double cell = at * cells;
        if (s->out->resample == MODEL_NEAREST) {
            ret[i].first = ret[i].second = (int32_t)fmin(floor(cell), cells - 1.0);
            continue;
        }
        cell = fmax(cell - 0.5, 0);
        ret[i].first = (int32_t)fmin(floor(cell), cells - 1.0);
        ret[i].second = ret[i].first + 1 < (int32_t)cells ? ret[i].first + 1 : ret[i].first;
        ret[i].share = (float)(cell - ret[i].first);
    }
    return ret;
}

static float look(const struct seg *s, size_t channel, const struct place *x, const struct place *y)
{
    const float *v = s->map.v + channel * s->channel_step;
    const float *top = v + (size_t)y->first * s->map.step_y;
    size_t left = (size_t)x->first * s->map.step_x;
    if (x->share == 0 && y->share == 0)
        return top[left];
    size_t right = (size_t)x->second * s->map.step_x;
    const float *low = v + (size_t)y->second * s->map.step_y;
    float a = top[left] + (top[right] - top[left]) * x->share;
    float b = low[left] + (low[right] - low[left]) * x->share;
    return a + (b - a) * y->share;
}

static void end_mask(struct task *t, const struct prepare_map *m, struct rle_builder *b, struct str label,
                     double score)
{
    struct shape *s = &t->result.shapes[t->result.shape_count];
    if (!label.p || !rle_area(b->runs, b->count))
        return;
    *s = (struct shape){.kind = SHAPE_MASK,
                        .label = label,
                        .size = {m->picture[1], m->picture[0]},
                        .counts = rle_encode(t->a, b->runs, b->count)};
    if (score >= 0) {
        s->has_score = true;
        s->score = task_tidy(score);
    }
    t->result.shape_count++;
}

/* --- the best class of each pixel --- */
static uint16_t best_at(const struct seg *s, const struct place *x, const struct place *y)
{
    if (x->first < 0 || y->first < 0)
        return NOTHING;
    if (s->channels == 1) { /* the graph chose already */
        float v = look(s, 0, x, y);
        return v >= 0 && v < (float)s->numbers ? (uint16_t)v : NOTHING;
    }
    size_t best = 0;
    float most = look(s, 0, x, y);
    for (size_t c = 1; c < (size_t)s->channels; c++) {
        float v = look(s, c, x, y);
        if (v > most) {
            most = v;
            best = c;
        }
    }
    return (uint16_t)best;
}

/* Runs of each class out of one pass over the picture. */
struct tally {
    struct rle_builder runs;
    uint64_t end; /* pixels that its runs cover */
    double sum;   /* of scores in the cells of the map that it has */
    uint64_t cells;
};

static void add_run(struct tally *all, uint16_t number, uint64_t from, uint64_t to)
{
    if (number == NOTHING)
        return;
    struct tally *c = &all[number];
    rle_builder_add(&c->runs, false, from - c->end);
    rle_builder_add(&c->runs, true, to - from);
    c->end = to;
}

static void run_classes(struct seg *s, struct tally *all)
{
    const uint32_t *size = s->r->prepared.map.picture;
    uint64_t at = 0, from = 0;
    uint16_t last = NOTHING;
    for (uint32_t x = 0; x < size[0]; x++) {
        for (uint32_t y = 0; y < size[1]; y++, at++) {
            uint16_t now = best_at(s, &s->columns[x], &s->rows[y]);
            if (now == last)
                continue;
            add_run(all, last, from, at);
            from = at;
            last = now;
        }
    }
    add_run(all, last, from, at);
}

/* The mean score of each class over the cells of the map where it is the best. */
static void score_classes(struct seg *s, struct tally *all)
{
    if (s->out->activation == MODEL_NONE || s->channels < 2)
        return;
    float *scores = arena_array(s->t->a, float, (size_t)s->channels);
    for (uint32_t y = 0; y < s->map.height; y++) {
        for (uint32_t x = 0; x < s->map.width; x++) {
            const float *v = s->map.v + y * s->map.step_y + x * s->map.step_x;
            size_t best = 0;
            for (size_t c = 0; c < (size_t)s->channels; c++) {
                scores[c] = v[c * s->channel_step];
                best = scores[c] > scores[best] ? c : best;
            }
            if (s->out->activation == MODEL_ACT_SOFTMAX)
                task_softmax(scores, scores, (size_t)s->channels, 1);
            all[best].sum += (double)task_activate(s->out, scores[best]);
            all[best].cells++;
        }
    }
}

static bool from_argmax(struct seg *s)
{
    const uint32_t *size = s->r->prepared.map.picture;
    size_t n = s->channels > 1 ? (size_t)s->channels : s->t->m->n_labels + (s->out->background >= 0);
    if (n >= NOTHING || n != s->t->m->n_labels + (s->out->background >= 0))
        return task_wrong_shape(s->t, task_reading(s->r, MODEL_ARGMAX));
    s->numbers = n;
    struct tally *all = arena_array(s->t->a, struct tally, n);
    for (size_t i = 0; i < n; i++)
        rle_builder_init(&all[i].runs, s->t->a);
    run_classes(s, all);
    score_classes(s, all);
    s->t->result.shapes = arena_array(s->t->a, struct shape, n + 1);
    for (size_t i = 0; i < n; i++) {
        rle_builder_add(&all[i].runs, false, (uint64_t)size[0] * size[1] - all[i].end);
        double score = all[i].cells ? all[i].sum / (double)all[i].cells : -1;
        end_mask(s->t, &s->r->prepared.map, &all[i].runs, task_label(s->t, s->out, (int64_t)i), score);
    }
    return true;
}

/* --- one map of scores to one mask --- */
static void run_mask(struct seg *s, size_t channel, struct rle_builder *ret)
{
    const uint32_t *size = s->r->prepared.map.picture;
    double least = task_threshold(s->t, MODEL_THRESHOLD_MASK);
    rle_builder_init(ret, s->t->a);
    for (uint32_t x = 0; x < size[0]; x++) {
        if (s->columns[x].first < 0) {
            rle_builder_add(ret, false, size[1]);
            continue;
        }
        for (uint32_t y = 0; y < size[1]; y++) {
            bool set = s->rows[y].first >= 0 &&
                       (double)task_activate(s->out, look(s, channel, &s->columns[x], &s->rows[y])) > least;
            rle_builder_add(ret, set, 1);
        }
    }
}

static double mask_score(const struct seg *s, size_t channel)
{
    double least = task_threshold(s->t, MODEL_THRESHOLD_MASK), sum = 0;
    uint64_t n = 0;
    for (uint32_t y = 0; y < s->map.height; y++) {
        for (uint32_t x = 0; x < s->map.width; x++) {
            float raw = s->map.v[channel * s->channel_step + y * s->map.step_y + x * s->map.step_x];
            double v = (double)task_activate(s->out, raw);
            if (v <= least)
                continue;
            sum += v;
            n++;
        }
    }
    return n ? sum / (double)n : 0;
}

static bool from_masks(struct seg *s)
{
    if ((size_t)s->channels != s->t->m->n_labels)
        return task_wrong_shape(s->t, task_reading(s->r, MODEL_MASK));
    s->t->result.shapes = arena_array(s->t->a, struct shape, s->t->m->n_labels + 1);
    for (size_t i = 0; i < (size_t)s->channels; i++) {
        struct rle_builder runs;
        double score = mask_score(s, i);
        if (score < task_threshold(s->t, MODEL_THRESHOLD_SCORE))
            continue;
        run_mask(s, i, &runs);
        end_mask(s->t, &s->r->prepared.map, &runs, s->t->m->labels[i], score);
    }
    return true;
}

/* --- instances: [Q,H,W], [1,Q,H,W] or [Q,1,H,W] beside boxes --- */
static bool instance_maps(struct task *t, const struct task_values *v, struct seg *s)
{
    const int64_t *d = v->dims + (v->n_dims > 2 ? v->n_dims - 2 : 0);
    if (v->n_dims < 3 || v->out->layout == MODEL_NHWC || !v->n || d[0] > 32768 || d[1] > 32768)
        return task_wrong_shape(t, v);
    s->map = (struct task_map){v->v, (uint32_t)d[1], (uint32_t)d[0], 1, (size_t)d[1]};
    s->channel_step = (size_t)d[0] * (size_t)d[1];
    s->channels = (int64_t)(v->n / s->channel_step);
    return true;
}

static bool from_instances(struct task *t, const struct task_run *r, const struct task_values *v)
{
    struct seg s = {.t = t, .r = r, .out = v->out};
    struct task_box *boxes;
    size_t n;
    if (!task_boxes(t, r, &boxes, &n))
        return false;
    t->result.shapes = arena_array(t->a, struct shape, n + 1);
    if (!n)
        return true;
    if (!instance_maps(t, v, &s))
        return false;
    const struct task_values *numbers = task_reading(r, MODEL_CLASSES);
    const struct model_output *o = (numbers ? numbers : task_scores(r))->out;
    const uint32_t *input = r->prepared.map.input;
    for (size_t i = 0; i < n; i++) {
        const struct task_box *b = &boxes[i];
        struct rle_builder runs;
        bool own = v->out->frame == MODEL_FRAME_BOX;
        if (b->index >= (size_t)s.channels)
            return task_wrong_shape(t, v);
        s.columns = places(&s, 0, s.map.width, own ? b->at[0] : 0, own ? b->at[2] - b->at[0] : input[0]);
        s.rows = places(&s, 1, s.map.height, own ? b->at[1] : 0, own ? b->at[3] - b->at[1] : input[1]);
        run_mask(&s, b->index, &runs);
        end_mask(t, &r->prepared.map, &runs, task_label(t, o, b->number), b->score);
    }
    return true;
}

bool task_segmentation(struct task *t)
{
    struct task_run *r = arena_new(t->a, struct task_run);
    if (!task_one(t, r))
        return false;
    const struct task_values *masks = task_reading(r, MODEL_MASK), *best = task_reading(r, MODEL_ARGMAX);
    if (task_reading(r, MODEL_BOXES))
        return from_instances(t, r, masks);
    const struct task_values *v = masks ? masks : best;
    struct seg s = {.t = t, .r = r, .out = v->out};
    if (!task_map_of(t, v, &s.channels, &s.channel_step, &s.map))
        return false;
    s.columns = places(&s, 0, s.map.width, 0, r->prepared.map.input[0]);
    s.rows = places(&s, 1, s.map.height, 0, r->prepared.map.input[1]);
    return masks ? from_masks(&s) : from_argmax(&s);
}
