/* Keypoints, as numbers or as one heat map each. */
#include "infer/task_own.h"

#include "codec/geometry.h"

#include <math.h>

/* One person from k triples x, y, score in pixels of the input. */
static void add(struct task *t, const struct prepare_map *m, double (*points)[3], double score)
{
    struct shape *s = &t->result.shapes[t->result.shape_count];
    double least = task_threshold(t, MODEL_THRESHOLD_POINT);
    size_t n = t->m->n_points, seen = 0;
    if (score < task_threshold(t, MODEL_THRESHOLD_SCORE) || t->result.shape_count == t->m->most)
        return;
    *s = (struct shape){.kind = SHAPE_KEYPOINTS,
                        .label = t->m->labels[0],
                        .has_score = true,
                        .score = task_tidy(score),
                        .point_count = (uint32_t)n,
                        .points = arena_alloc(t->a, n * sizeof *s->points)};
    for (size_t i = 0; i < n; i++) {
        double x = geometry_tidy(prepare_back(m, 0, points[i][0]));
        double y = geometry_tidy(prepare_back(m, 1, points[i][1]));
        bool there = points[i][2] >= least && x >= 0 && y >= 0 && x <= m->picture[0] && y <= m->picture[1];
        s->points[i][0] = there ? x : 0;
        s->points[i][1] = there ? y : 0;
        s->points[i][2] = there ? 2 : 0;
        seen += there;
    }
    t->result.shape_count += seen > 0;
}

static double mean_score(double (*points)[3], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += points[i][2];
    return n ? sum / (double)n : 0;
}

/* Rows of k triples; five numbers more are a box and the person's score. */
static bool from_points(struct task *t, const struct task_run *r, const struct task_values *v)
{
    size_t k = t->m->n_points, last = (size_t)v->dims[v->n_dims ? v->n_dims - 1 : 0];
    size_t row = last == k * 3 + 5 ? last : k * 3;
    if (!v->n_dims || v->n % row || v->n / row > ANNOTATION_MAX_SHAPES)
        return task_wrong_shape(t, v);
    size_t n = v->n / row;
    double scale[2] = {1, 1};
    for (int i = 0; i < 2 && v->out->unit == MODEL_NORMALIZED; i++)
        scale[i] = r->prepared.map.input[i];
    double(*points)[3] = arena_alloc(t->a, sizeof *points * k);
    t->result.shapes = arena_array(t->a, struct shape, n + 1);
    for (size_t i = 0; i < n; i++) {
        const float *from = v->v + i * row;
        for (size_t p = 0; p < k; p++) {
            points[p][0] = (double)from[3 * p + v->out->yx] * scale[0];
            points[p][1] = (double)from[3 * p + !v->out->yx] * scale[1];
            points[p][2] = (double)from[3 * p + 2];
        }
        add(t, &r->prepared.map, points, row > k * 3 ? (double)from[row - 1] : mean_score(points, k));
    }
    return true;
}

static double quarter(float before, float after)
{
    return after > before ? 0.25 : after < before ? -0.25 : 0;
}

static bool from_maps(struct task *t, const struct task_run *r, const struct task_values *v)
{
    struct task_map m;
    int64_t channels;
    size_t step, k = t->m->n_points;
    if (!task_map_of(t, v, &channels, &step, &m))
        return false;
    if ((size_t)channels != k)
        return task_wrong_shape(t, v);
    const uint32_t *input = r->prepared.map.input;
    double sx = v->out->stride > 0 ? v->out->stride : (double)input[0] / m.width;
    double sy = v->out->stride > 0 ? v->out->stride : (double)input[1] / m.height;
    double(*points)[3] = arena_alloc(t->a, sizeof *points * k);
    for (size_t p = 0; p < k; p++) {
        const float *map = m.v + p * step, *best = map;
        uint32_t bx = 0, by = 0;
        for (uint32_t y = 0; y < m.height; y++) {
            for (uint32_t x = 0; x < m.width; x++) {
                const float *at = map + y * m.step_y + x * m.step_x;
                if (*at > *best) {
                    best = at;
                    bx = x;
                    by = y;
                }
            }
        }
        double dx = 0, dy = 0;
        if (v->out->refine && bx > 0 && bx + 1 < m.width)
            dx = quarter(*(best - m.step_x), *(best + m.step_x));
        if (v->out->refine && by > 0 && by + 1 < m.height)
            dy = quarter(*(best - m.step_y), *(best + m.step_y));
        points[p][0] = (bx + v->out->center + dx) * sx;
        points[p][1] = (by + v->out->center + dy) * sy;
        points[p][2] = (double)task_activate(v->out, *best);
    }
    t->result.shapes = arena_array(t->a, struct shape, 1);
    add(t, &r->prepared.map, points, mean_score(points, k));
    return true;
}

bool task_keypoints(struct task *t)
{
    struct task_run *r = arena_new(t->a, struct task_run);
    if (!task_one(t, r))
        return false;
    const struct task_values *points = task_reading(r, MODEL_POINTS);
    return points ? from_points(t, r, points) : from_maps(t, r, task_reading(r, MODEL_POINT_MAPS));
}
