/* Classes of a picture, a text or a sound. */
#include "infer/task_own.h"

static void score_all(const struct task_values *v, float *ret)
{
    if (v->out->reading == MODEL_SOFTMAX) {
        task_softmax(v->v, ret, v->n, 1);
        return;
    }
    for (size_t i = 0; i < v->n; i++)
        ret[i] = v->out->reading == MODEL_SIGMOID ? task_sigmoid(v->v[i]) : v->v[i];
}

/* Whether every label above the threshold is told, or only the best. */
static bool tells_all(const struct task *t, const struct task_values *v)
{
    if (t->m->task == ANNOTATION_IMAGE_CLASS)
        return false;
    return t->m->task == ANNOTATION_IMAGE_CLASSES || v->out->reading == MODEL_SIGMOID;
}

static void add(struct task *t, struct str label, float score)
{
    struct annotation *r = &t->result;
    if (!label.p || r->label_count == ANNOTATION_MAX_LABELS)
        return;
    r->labels[r->label_count] = label;
    r->scores[r->label_count++] = task_tidy((double)score);
}

bool task_class(struct task *t)
{
    struct task_run *r = arena_new(t->a, struct task_run);
    if (!task_one(t, r))
        return false;
    const struct task_values *v = task_scores(r);
    bool background = v->out->background >= 0;
    if (v->n != t->m->n_labels + background)
        return task_wrong_shape(t, v);
    double least = task_threshold(t, MODEL_THRESHOLD_SCORE);
    float *scores = arena_array(t->a, float, v->n);
    score_all(v, scores);
    t->result.labels = arena_array(t->a, struct str, v->n);
    t->result.scores = arena_array(t->a, double, v->n);
    size_t best = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (tells_all(t, v) && (double)scores[i] >= least)
            add(t, task_label(t, v->out, (int64_t)i), scores[i]);
        if (scores[i] > scores[best])
            best = i;
    }
    if (!tells_all(t, v) && (double)scores[best] >= least)
        add(t, task_label(t, v->out, (int64_t)best), scores[best]);
    return true;
}
