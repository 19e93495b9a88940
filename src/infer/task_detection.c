/* Boxes of objects, and the suppression of those that overlap. */
#include "infer/task_own.h"

#include "codec/geometry.h"

#include <math.h>

static int by_score(const void *a, const void *b)
{
    const struct task_box *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static double overlap(const struct task_box *x, const struct task_box *y)
{
    double w = fmin(x->at[2], y->at[2]) - fmax(x->at[0], y->at[0]);
    double h = fmin(x->at[3], y->at[3]) - fmax(x->at[1], y->at[1]);
    if (w <= 0 || h <= 0)
        return 0;
    double both = w * h;
    return both / ((x->at[2] - x->at[0]) * (x->at[3] - x->at[1]) +
                   (y->at[2] - y->at[0]) * (y->at[3] - y->at[1]) - both);
}

size_t task_suppress(const struct task *t, struct task_box *boxes, size_t n)
{
    double most = task_threshold(t, MODEL_THRESHOLD_IOU);
    size_t kept = 0;
    qsort(boxes, n, sizeof *boxes, by_score);
    n = n < TASK_MAX_CANDIDATES ? n : TASK_MAX_CANDIDATES;
    for (size_t i = 0; i < n && kept < t->m->most; i++) {
        bool free_place = true;
        for (size_t k = 0; k < kept && free_place; k++)
            free_place = (t->m->per_class && boxes[k].number != boxes[i].number) ||
                         overlap(&boxes[k], &boxes[i]) <= most;
        if (free_place)
            boxes[kept++] = boxes[i];
    }
    return kept;
}

static double inside(double v, double most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

/* The box in the picture, cut at its edge; false when nothing is left. */
static bool place(const struct prepare_map *m, const struct task_box *b, struct shape *ret)
{
    double at[4];
    for (int i = 0; i < 4; i++)
        at[i] = geometry_tidy(inside(prepare_back(m, i % 2, b->at[i]), m->picture[i % 2]));
    ret->kind = SHAPE_BOX;
    ret->x = at[0];
    ret->y = at[1];
    ret->w = geometry_tidy(at[2] - at[0]);
    ret->h = geometry_tidy(at[3] - at[1]);
    return ret->w > 0 && ret->h > 0;
}

/* The output that numbers classes: it knows the background. */
static const struct model_output *numbering(const struct task_run *r)
{
    const struct task_values *v = task_reading(r, MODEL_CLASSES);
    v = v ? v : task_scores(r);
    return v ? v->out : r->values[0].out;
}

bool task_detection(struct task *t)
{
    struct task_run *r = arena_new(t->a, struct task_run);
    struct task_box *boxes;
    size_t n;
    if (!task_one(t, r) || !task_boxes(t, r, &boxes, &n))
        return false;
    t->result.shapes = arena_array(t->a, struct shape, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct shape *s = &t->result.shapes[t->result.shape_count];
        *s = (struct shape){.label = task_label(t, numbering(r), boxes[i].number),
                            .has_score = true,
                            .score = task_tidy(boxes[i].score)};
        if (s->label.p && place(&r->prepared.map, &boxes[i], s))
            t->result.shape_count++;
    }
    return true;
}
