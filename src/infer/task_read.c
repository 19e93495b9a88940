/* What several tasks read alike: scores, labels, maps. */
#include "base/messages.h"
#include "infer/task_own.h"

#include <math.h>

const struct task_values *task_reading(const struct task_run *r, enum model_reading reading)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->values[i].out->reading == reading)
            return &r->values[i];
    return NULL;
}

const struct task_values *task_scores(const struct task_run *r)
{
    const struct task_values *v = task_reading(r, MODEL_SOFTMAX);
    if (!v)
        v = task_reading(r, MODEL_SIGMOID);
    return v ? v : task_reading(r, MODEL_SCORES);
}

bool(task_wrong_shape)(struct task *t, const struct task_values *v)
{
    return err_message(t->err, ERR_INVALID, "outputs", MESSAGE_PREDICT_SHAPE, v->out->name.p);
}

void task_softmax(const float *v, float *ret, size_t n, size_t step)
{
    float most = -INFINITY;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        most = v[i * step] > most ? v[i * step] : most;
    for (size_t i = 0; i < n; i++)
        sum += exp((double)v[i * step] - most);
    for (size_t i = 0; i < n; i++)
        ret[i * step] = (float)(exp((double)v[i * step] - most) / sum);
}

float task_sigmoid(float v)
{
    return (float)(1 / (1 + exp(-(double)v)));
}

float task_activate(const struct model_output *o, float v)
{
    return o->activation == MODEL_ACT_SIGMOID ? task_sigmoid(v) : v;
}

struct str task_label(const struct task *t, const struct model_output *o, int64_t number)
{
    if (number < 0 || number == o->background)
        return STR_NULL;
    if (o->background >= 0 && number > o->background)
        number--;
    return (uint64_t)number < t->m->n_labels ? t->m->labels[number] : STR_NULL;
}

double task_tidy(double score)
{
    score = score < 0 ? 0 : score > 1 ? 1 : score;
    return floor(score * 1e6 + 0.5) / 1e6;
}

/* [1,C,H,W], [C,H,W] or [H,W]; with nhwc [1,H,W,C], [H,W,C]. */
bool task_map_of(struct task *t, const struct task_values *v, int64_t *ret_channels, size_t *ret_channel_step,
                 struct task_map *ret)
{
    const int64_t *d = v->dims;
    size_t n = v->n_dims;
    if (n == 4) {
        if (d[0] != 1)
            return task_wrong_shape(t, v);
        d++;
        n--;
    }
    if (n < 2 || !v->n)
        return task_wrong_shape(t, v);
    bool last = v->out->layout == MODEL_NHWC && n == 3;
    int64_t c = n == 2 ? 1
                : last ? d[2]
                       : d[0],
            h = n == 2 || last ? d[0] : d[1], w = n == 2 || last ? d[1] : d[2];
    if (h > MODEL_MAX_SIDE * 4 || w > MODEL_MAX_SIDE * 4)
        return task_wrong_shape(t, v);
    size_t step = last ? (size_t)c : 1;
    *ret = (struct task_map){v->v, (uint32_t)w, (uint32_t)h, step, step * (size_t)w};
    *ret_channels = c;
    *ret_channel_step = last ? 1 : (size_t)w * (size_t)h;
    return true;
}
