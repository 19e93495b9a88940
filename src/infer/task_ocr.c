/* Text in a picture: a detector finds lines, a classifier (where there is one) says which are upside down, a
 * recogniser reads them. */
#include "infer/text_map.h"

#include "codec/geometry.h"

#include <math.h>

struct line {
    struct picture picture; /* cut out and upright; its memory is in the arena */
    double xy[8];           /* in the picture */
    double found;           /* the detector's score */
};

#define MAX_LINE_PIXELS (4u << 20)

/* The pixel at a real place, between four; outside the nearest edge counts. */
static void sample(const struct picture *p, double x, double y, uint8_t *ret)
{
    double fx = fmin(fmax(x - 0.5, 0), p->width - 1.0), fy = fmin(fmax(y - 0.5, 0), p->height - 1.0);
    uint32_t x0 = (uint32_t)fx, y0 = (uint32_t)fy;
    uint32_t x1 = x0 + 1 < p->width ? x0 + 1 : x0, y1 = y0 + 1 < p->height ? y0 + 1 : y0;
    double sx = fx - x0, sy = fy - y0;
    for (int c = 0; c < 3; c++) {
        double a = p->rgb[3 * ((size_t)y0 * p->width + x0) + c] * (1 - sx) +
                   p->rgb[3 * ((size_t)y0 * p->width + x1) + c] * sx;
        double b = p->rgb[3 * ((size_t)y1 * p->width + x0) + c] * (1 - sx) +
                   p->rgb[3 * ((size_t)y1 * p->width + x1) + c] * sx;
        ret[c] = (uint8_t)floor(a * (1 - sy) + b * sy + 0.5);
    }
}

/* Cuts the parallelogram out, as wide and high as its sides are long; lines much taller than wide are turned
 * by a quarter, as text in columns is read. */
static bool cut_line(struct task *t, struct line *l)
{
    double o[2] = {l->xy[0], l->xy[1]}, u[2] = {l->xy[2] - o[0], l->xy[3] - o[1]},
           v[2] = {l->xy[6] - o[0], l->xy[7] - o[1]};
    if (hypot(v[0], v[1]) >= 1.5 * hypot(u[0], u[1])) { /* counter-clockwise: its top goes left */
        double was[2] = {u[0], u[1]};
        o[0] += u[0];
        o[1] += u[1];
        memcpy(u, v, sizeof u);
        v[0] = -was[0];
        v[1] = -was[1];
    }
    double w = fmax(floor(hypot(u[0], u[1]) + 0.5), 1), h = fmax(floor(hypot(v[0], v[1]) + 0.5), 1);
    if (w * h > MAX_LINE_PIXELS)
        return false;
    l->picture = (struct picture){arena_alloc(t->a, (size_t)(w * h) * 3), (uint32_t)w, (uint32_t)h,
                                  (uint32_t)w, (uint32_t)h};
    uint8_t *to = l->picture.rgb;
    for (uint32_t y = 0; y < l->picture.height; y++) {
        for (uint32_t x = 0; x < l->picture.width; x++, to += 3) {
            double a = (x + 0.5) / w, b = (y + 0.5) / h;
            sample(&t->picture, o[0] + a * u[0] + b * v[0], o[1] + a * u[1] + b * v[1], to);
        }
    }
    return true;
}

static bool find_lines(struct task *t, size_t part, struct line **ret, size_t *ret_n)
{
    struct task_run *r = arena_new(t->a, struct task_run);
    struct task_map map;
    struct text_box *boxes;
    int64_t channels;
    size_t step;
    if (!task_run_part(t, part, &t->picture, r))
        return false;
    const struct task_values *v = task_reading(r, MODEL_TEXT_MAP);
    if (!task_map_of(t, v, &channels, &step, &map))
        return false;
    size_t n = text_map_boxes(t->a, &map, v->out, task_threshold(t, MODEL_THRESHOLD_TEXT),
                              task_threshold(t, MODEL_THRESHOLD_SCORE), t->m->most, &boxes);
    const struct prepare_map *m = &r->prepared.map;
    *ret = arena_array(t->a, struct line, n + 1);
    *ret_n = n;
    for (size_t i = 0; i < n; i++) {
        (*ret)[i].found = boxes[i].score;
        for (int k = 0; k < 8; k++) {
            double cells = k % 2 ? map.height : map.width;
            double at = prepare_back(m, k % 2, boxes[i].xy[k] * m->input[k % 2] / cells);
            (*ret)[i].xy[k] = fmin(fmax(at, 0), m->picture[k % 2]);
        }
    }
    return true;
}

/* Turns the line by half a circle where the classifier says so, and is sure. */
static bool turn_line(struct task *t, int part, struct line *l)
{
    if (part < 0)
        return true;
    struct task_run *r = arena_new(t->a, struct task_run);
    if (!task_run_part(t, (size_t)part, &l->picture, r))
        return false;
    const struct task_values *v = task_scores(r);
    if (v->n != 2)
        return task_wrong_shape(t, v);
    float scores[2] = {v->v[0], v->v[1]};
    if (v->out->reading == MODEL_SOFTMAX)
        task_softmax(scores, scores, 2, 1);
    size_t n = (size_t)l->picture.width * l->picture.height;
    for (size_t i = 0; scores[1] > 0.9F && i < n / 2; i++) {
        uint8_t swap[3], *a = l->picture.rgb + 3 * i, *b = l->picture.rgb + 3 * (n - 1 - i);
        memcpy(swap, a, 3);
        memcpy(a, b, 3);
        memcpy(b, swap, 3);
    }
    return true;
}

/* The character of a number: the blank's place is left out of the file's lines. */
static struct str character(const struct model_output *o, size_t number)
{
    size_t line = number > (size_t)o->blank ? number - 1 : number;
    if (line < o->characters->n_lines)
        return o->characters->lines[line];
    return line == o->characters->n_lines && o->space ? STR(" ") : STR_NULL;
}

/* The best character of each step; repeats and blanks go. The score is the mean of those that stay. */
static bool read_line(struct task *t, size_t part, struct line *l, struct str *ret, double *ret_score)
{
    struct task_run *r = arena_new(t->a, struct task_run);
    if (!task_run_part(t, part, &l->picture, r))
        return false;
    const struct task_values *v = task_reading(r, MODEL_CTC);
    if (v->n_dims != 3 || v->dims[0] != 1 || v->dims[2] < 2)
        return task_wrong_shape(t, v);
    size_t steps = (size_t)v->dims[1], n = (size_t)v->dims[2], last = SIZE_MAX, kept = 0;
    auto_buf struct buf text = {0};
    float *scores = arena_array(t->a, float, n);
    double sum = 0;
    for (size_t s = 0; s < steps; s++) {
        size_t best = 0;
        memcpy(scores, v->v + s * n, n * sizeof *scores);
        if (v->out->activation == MODEL_ACT_SOFTMAX)
            task_softmax(scores, scores, n, 1);
        for (size_t i = 1; i < n; i++)
            best = scores[i] > scores[best] ? i : best;
        struct str c = character(v->out, best);
        if (best != (size_t)v->out->blank && best != last && c.p) {
            buf_str(&text, c);
            sum += (double)scores[best];
            kept++;
        }
        last = best;
    }
    *ret = arena_str(t->a, text.n ? buf_view(&text) : STR(""));
    *ret_score = kept ? sum / (double)kept : 0;
    return true;
}

static void add(struct task *t, const struct line *l, struct str text, double score)
{
    struct shape *s = &t->result.shapes[t->result.shape_count];
    struct ring *ring = arena_new(t->a, struct ring);
    ring->count = 4;
    ring->xy = arena_array(t->a, double, 8);
    for (int i = 0; i < 8; i++)
        ring->xy[i] = geometry_tidy(l->xy[i]);
    *s = (struct shape){.kind = SHAPE_POLYGON,
                        .text = text,
                        .has_score = true,
                        .score = task_tidy(score),
                        .rings = ring,
                        .ring_count = 1};
    t->result.shape_count++;
}

bool task_ocr(struct task *t)
{
    const struct model_output *map = model_output_of(t->m, -1, MODEL_TEXT_MAP);
    const struct model_output *ctc = model_output_of(t->m, -1, MODEL_CTC);
    const struct model_output *turned = model_output_of(t->m, -1, MODEL_SOFTMAX);
    turned = turned ? turned : model_output_of(t->m, -1, MODEL_SCORES);
    struct line *lines;
    size_t n;
    if (!find_lines(t, map->part, &lines, &n))
        return false;
    t->result.shapes = arena_array(t->a, struct shape, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct str text = STR_NULL;
        double score = 0;
        if (!cut_line(t, &lines[i]))
            continue;
        if (!turn_line(t, turned ? (int)turned->part : -1, &lines[i]) ||
            !read_line(t, ctc->part, &lines[i], &text, &score))
            return false;
        if (text.n)
            add(t, &lines[i], text, score);
    }
    return true;
}
