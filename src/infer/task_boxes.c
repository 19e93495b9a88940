/* Boxes out of a model's outputs: one function per way that docs/models.md names, then the suppression of
 * boxes that overlap. A box has the class of its best score. */
#include "infer/task_own.h"

#include <math.h>

struct found {
    struct task *t;
    const struct task_run *r;
    struct task_box *boxes;
    size_t n, cap, index;
    double least;
};

static void add(struct found *f, const double at[4], double score, int64_t number)
{
    size_t index = f->index++;
    if (score < f->least || !(at[2] > at[0] && at[3] > at[1]) || !isfinite(at[0] + at[1] + at[2] + at[3]))
        return;
    if (f->n == f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 256;
        f->boxes = arena_grow(f->t->a, f->boxes, f->cap * sizeof *f->boxes, cap * sizeof *f->boxes);
        f->cap = cap;
    }
    f->boxes[f->n++] = (struct task_box){{at[0], at[1], at[2], at[3]}, score, number, index};
}

/* Four numbers in the format to corners in pixels of the input. */
static void corners(const struct found *f, const struct model_output *o, const double v[4], double ret[4])
{
    double w = o->unit == MODEL_NORMALIZED ? f->r->prepared.map.input[0] : 1;
    double h = o->unit == MODEL_NORMALIZED ? f->r->prepared.map.input[1] : 1;
    switch (o->format) {
    case MODEL_XYXY:
        memcpy(ret, v, 4 * sizeof *ret);
        break;
    case MODEL_XYWH:
        memcpy(ret, (double[]){v[0], v[1], v[0] + v[2], v[1] + v[3]}, 4 * sizeof *ret);
        break;
    case MODEL_CXCYWH:
        memcpy(ret, (double[]){v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2},
               4 * sizeof *ret);
        break;
    case MODEL_YXYX:
        memcpy(ret, (double[]){v[1], v[0], v[3], v[2]}, 4 * sizeof *ret);
        break;
    }
    ret[0] *= w;
    ret[1] *= h;
    ret[2] *= w;
    ret[3] *= h;
}

/* Rows of numbers, one per box, whichever dimension comes first: [1,Q,C], [Q,C], [1,C,Q]. */
struct rows {
    const struct task_values *v;
    size_t n, width;
    bool transposed;
};

static bool rows_of(struct found *f, const struct task_values *v, struct rows *ret)
{
    if (v->n_dims < 2 || (v->n_dims == 3 && v->dims[0] != 1) || v->n_dims > 3)
        return task_wrong_shape(f->t, v);
    size_t a = (size_t)v->dims[v->n_dims - 2], b = (size_t)v->dims[v->n_dims - 1];
    bool turned = v->out->transposed;
    *ret = (struct rows){v, turned ? b : a, turned ? a : b, turned};
    return true;
}

static double row_value(const struct rows *r, size_t i, size_t k)
{
    return (double)r->v->v[r->transposed ? k * r->n + i : i * r->width + k];
}

/* The best class of a row from column `from` on, without the background. */
static double best_class(const struct rows *r, size_t i, size_t from, int64_t *ret)
{
    const struct model_output *o = r->v->out;
    double best = -INFINITY, most = -INFINITY, sum = 0;
    bool softmax = o->reading == MODEL_SOFTMAX || o->activation == MODEL_ACT_SOFTMAX;
    *ret = -1;
    for (size_t k = from; k < r->width; k++) {
        double v = row_value(r, i, k);
        most = v > most ? v : most;
        if ((int64_t)(k - from) == o->background || v <= best)
            continue;
        best = v;
        *ret = (int64_t)(k - from);
    }
    if (softmax) {
        for (size_t k = from; k < r->width; k++)
            sum += exp(row_value(r, i, k) - most);
        return exp(best - most) / sum;
    }
    return o->reading == MODEL_SIGMOID || o->activation == MODEL_ACT_SIGMOID ? 1 / (1 + exp(-best)) : best;
}

static bool from_rows(struct found *f, const struct task_values *v)
{
    struct rows r;
    size_t first = v->out->objectness ? 5 : 4;
    if (!rows_of(f, v, &r))
        return false;
    if (r.width != first + f->t->m->n_labels)
        return task_wrong_shape(f->t, v);
    for (size_t i = 0; i < r.n; i++) {
        int64_t number;
        double score = best_class(&r, i, first, &number), at[4];
        if (v->out->objectness) {
            double there = row_value(&r, i, 4);
            score *= v->out->activation == MODEL_ACT_SIGMOID ? 1 / (1 + exp(-there)) : there;
        }
        corners(
            f, v->out,
            (double[]){row_value(&r, i, 0), row_value(&r, i, 1), row_value(&r, i, 2), row_value(&r, i, 3)},
            at);
        add(f, at, score, number);
    }
    return true;
}

/* The score and class of each box: a row of scores, or one score beside `classes`. */
static bool score_of(struct found *f, const struct task_values *v, size_t i, size_t n, double *ret,
                     int64_t *ret_number)
{
    const struct task_values *classes = task_reading(f->r, MODEL_CLASSES);
    if (classes || v->n == n) {
        if (v->n != n || (classes && classes->n != n))
            return task_wrong_shape(f->t, v);
        double s = (double)v->v[i];
        *ret = v->out->reading == MODEL_SIGMOID ? 1 / (1 + exp(-s)) : s;
        *ret_number = !classes ? 0 : classes->v[i] >= 0 && classes->v[i] < 1e9F ? (int64_t)classes->v[i] : -1;
        return true;
    }
    struct rows r;
    if (!rows_of(f, v, &r))
        return false;
    if (r.n != n || !r.width)
        return task_wrong_shape(f->t, v);
    *ret = best_class(&r, i, 0, ret_number);
    return true;
}

static bool from_boxes(struct found *f, const struct task_values *boxes)
{
    const struct task_values *scores = task_scores(f->r), *count = task_reading(f->r, MODEL_COUNT);
    struct rows r;
    if (!rows_of(f, boxes, &r))
        return false;
    if (r.width != 4)
        return task_wrong_shape(f->t, boxes);
    size_t n = r.n;
    if (count && count->n && count->v[0] >= 0 && count->v[0] < (float)n)
        n = (size_t)count->v[0];
    for (size_t i = 0; i < n; i++) {
        double at[4], score;
        int64_t number;
        if (!score_of(f, scores, i, r.n, &score, &number))
            return false;
        corners(
            f, boxes->out,
            (double[]){row_value(&r, i, 0), row_value(&r, i, 1), row_value(&r, i, 2), row_value(&r, i, 3)},
            at);
        add(f, at, score, number);
    }
    return true;
}

/* Offsets from anchors (cx, cy, w, h as shares): cx + dx vx w, w exp(dw vw). */
static bool from_anchors(struct found *f, const struct task_values *v)
{
    const struct task_values *scores = task_scores(f->r);
    const struct model_asset *asset = v->out->anchors;
    const double *var = v->out->variances;
    const uint32_t *input = f->r->prepared.map.input;
    struct rows r;
    if (!rows_of(f, v, &r))
        return false;
    if (r.width != 4 || asset->bytes.n != r.n * 16)
        return task_wrong_shape(f->t, v);
    bool yx = v->out->format == MODEL_YXYX;
    for (size_t i = 0; i < r.n; i++) {
        float a[4];
        double d[4], score;
        int64_t number;
        memcpy(a, asset->bytes.p + i * 16, 16);
        for (size_t k = 0; k < 4; k++)
            d[k] = row_value(&r, i, yx ? k ^ 1 : k) * var[k];
        if (!score_of(f, scores, i, r.n, &score, &number))
            return false;
        double cx = (double)a[0] + d[0] * (double)a[2], cy = (double)a[1] + d[1] * (double)a[3];
        double w = exp(d[2]) * (double)a[2] / 2, h = exp(d[3]) * (double)a[3] / 2;
        add(f, (double[]){(cx - w) * input[0], (cy - h) * input[1], (cx + w) * input[0], (cy + h) * input[1]},
            score, number);
    }
    return true;
}

/* --- heat maps --- */
struct grid {
    struct task_map map;
    int64_t channels;
    size_t channel_step;
};

static bool grid_of(struct found *f, const struct task_values *v, int64_t channels, const struct grid *like,
                    struct grid *ret)
{
    if (!task_map_of(f->t, v, &ret->channels, &ret->channel_step, &ret->map))
        return false;
    if (ret->channels != channels ||
        (like && (like->map.width != ret->map.width || like->map.height != ret->map.height)))
        return task_wrong_shape(f->t, v);
    return true;
}

static float grid_at(const struct grid *g, size_t c, uint32_t x, uint32_t y)
{
    return g->map.v[c * g->channel_step + y * g->map.step_y + x * g->map.step_x];
}

static bool is_peak(const struct grid *g, size_t c, uint32_t x, uint32_t y)
{
    float v = grid_at(g, c, x, y);
    for (uint32_t j = y ? y - 1 : 0; j <= y + 1 && j < g->map.height; j++)
        for (uint32_t i = x ? x - 1 : 0; i <= x + 1 && i < g->map.width; i++)
            if (grid_at(g, c, i, j) > v)
                return false;
    return true;
}

static void box_of_cell(const struct found *f, const struct task_values *size, const struct grid *sides,
                        const struct grid *offset, uint32_t x, uint32_t y, double ret[4])
{
    const struct model_output *o = size->out;
    double sx = o->stride > 0 ? o->stride : (double)f->r->prepared.map.input[0] / sides->map.width;
    double sy = o->stride > 0 ? o->stride : (double)f->r->prepared.map.input[1] / sides->map.height;
    double ux = o->unit == MODEL_CELLS ? sx : o->unit == MODEL_NORMALIZED ? f->r->prepared.map.input[0] : 1;
    double uy = o->unit == MODEL_CELLS ? sy : o->unit == MODEL_NORMALIZED ? f->r->prepared.map.input[1] : 1;
    double cx = (x + (offset ? (double)grid_at(offset, 0, x, y) : o->center)) * sx;
    double cy = (y + (offset ? (double)grid_at(offset, 1, x, y) : o->center)) * sy;
    double v[4];
    for (size_t i = 0; i < 4; i++)
        v[i] = o->reading == MODEL_LTRB ? (double)grid_at(sides, i, x, y)
                                        : (double)grid_at(sides, i % 2, x, y) / 2;
    ret[0] = cx - v[0] * ux;
    ret[1] = cy - v[1] * uy;
    ret[2] = cx + v[2] * ux;
    ret[3] = cy + v[3] * uy;
}

static bool from_heatmap(struct found *f, const struct task_values *heat)
{
    const struct task_values *ltrb = task_reading(f->r, MODEL_LTRB);
    const struct task_values *size = ltrb ? ltrb : task_reading(f->r, MODEL_WH);
    const struct task_values *at = task_reading(f->r, MODEL_OFFSET);
    struct grid scores, sides, offset;
    if (!grid_of(f, heat, (int64_t)f->t->m->n_labels, NULL, &scores) ||
        !grid_of(f, size, ltrb ? 4 : 2, &scores, &sides) || (at && !grid_of(f, at, 2, &scores, &offset)))
        return false;
    for (size_t c = 0; c < (size_t)scores.channels; c++) {
        for (uint32_t y = 0; y < scores.map.height; y++) {
            for (uint32_t x = 0; x < scores.map.width; x++) {
                double score = (double)task_activate(heat->out, grid_at(&scores, c, x, y)), box[4];
                if (score < f->least || (heat->out->peaks && !is_peak(&scores, c, x, y)))
                    continue;
                box_of_cell(f, size, &sides, at ? &offset : NULL, x, y, box);
                add(f, box, score, (int64_t)c);
            }
        }
    }
    return true;
}

bool task_boxes(struct task *t, const struct task_run *r, struct task_box **ret, size_t *ret_n)
{
    static const struct {
        enum model_reading reading;
        bool (*read)(struct found *f, const struct task_values *v);
    } ways[] = {{MODEL_ROWS, from_rows},
                {MODEL_ANCHORS, from_anchors},
                {MODEL_HEATMAP, from_heatmap},
                {MODEL_BOXES, from_boxes}};
    struct found f = {.t = t, .r = r, .least = task_threshold(t, MODEL_THRESHOLD_SCORE)};
    for (size_t i = 0; i < countof(ways); i++) {
        const struct task_values *v = task_reading(r, ways[i].reading);
        if (v && !ways[i].read(&f, v))
            return false;
    }
    *ret = f.boxes;
    *ret_n = f.n ? task_suppress(t, f.boxes, f.n) : 0;
    return true;
}
