/* Embeddings: {"embedding":[...]}. */
#include "infer/task_own.h"

#include <math.h>

/* [1,T,D] of tokens: the mean over those that are no padding, or the first. [1,D,H,W]: the mean over places.
 */
static bool pool(struct task *t, const struct task_run *r, const struct task_values *v, double *ret,
                 size_t *n)
{
    if (v->out->pooling == MODEL_POOL_NONE) {
        *n = v->n;
        for (size_t i = 0; i < v->n; i++)
            ret[i] = (double)v->v[i];
        return true;
    }
    bool grid = v->n_dims == 4;
    if ((!grid && v->n_dims != 3) || v->dims[0] != 1)
        return task_wrong_shape(t, v);
    size_t places = (size_t)(grid ? v->dims[2] * v->dims[3] : v->dims[1]);
    *n = (size_t)(grid ? v->dims[1] : v->dims[2]);
    size_t used = r->prepared.used && r->prepared.used < places ? r->prepared.used : places;
    used = v->out->pooling == MODEL_POOL_FIRST ? 1 : used;
    for (size_t i = 0; i < *n; i++) {
        double sum = 0;
        for (size_t k = 0; k < used; k++)
            sum += (double)v->v[grid ? i * places + k : k * *n + i];
        ret[i] = sum / (double)used;
    }
    return true;
}

bool task_embedding(struct task *t)
{
    struct task_run *r = arena_new(t->a, struct task_run);
    if (!task_one(t, r))
        return false;
    const struct task_values *v = task_reading(r, MODEL_VECTOR);
    if (!v->n || v->n > 1u << 24)
        return task_wrong_shape(t, v);
    double *e = arena_array(t->a, double, v->n), length = 0;
    size_t n = 0;
    if (!pool(t, r, v, e, &n))
        return false;
    for (size_t i = 0; i < n; i++)
        length += e[i] * e[i];
    length = v->out->normalize && length > 0 ? sqrt(length) : 1;
    auto_buf struct buf b = {0};
    struct json_out out;
    json_begin(&out, &b);
    json_object(&out);
    json_key(&out, "embedding");
    json_array(&out);
    for (size_t i = 0; i < n; i++)
        json_real(&out, (double)(float)(e[i] / length));
    json_array_end(&out);
    json_object_end(&out);
    t->json = arena_str(t->a, buf_view(&b));
    return true;
}
