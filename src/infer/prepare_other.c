/* Texts and sounds to tensors. */
#include "infer/prepare.h"
#include "infer/sound.h"
#include "infer/tokenize.h"

static struct tensor numbers(struct arena *a, const struct model_input *in, struct str name, const int64_t *v,
                             size_t n)
{
    struct tensor t = {.name = name.p, .type = TENSOR_INT64, .n_dims = 2, .dims = {1, (int64_t)n}};
    t.data = (struct str){(const char *)v, n * sizeof *v};
    if (in->type == MODEL_INT32) {
        int32_t *small = arena_alloc(a, n * sizeof *small);
        for (size_t i = 0; i < n; i++)
            small[i] = (int32_t)v[i];
        t.type = TENSOR_INT32;
        t.data = (struct str){(const char *)small, n * sizeof *small};
    }
    return t;
}

bool prepare_text(struct arena *a, const struct model_input *in, struct str text, struct prepared *ret,
                  struct err *err)
{
    struct tokens t;
    if (!tokenize(a, in, text, &t, err))
        return false;
    *ret = (struct prepared){.used = t.used};
    ret->tensors[ret->n++] = numbers(a, in, in->name, t.ids, t.n);
    if (in->counts.n) {
        ret->tensors[ret->n++] = (struct tensor){.name = in->counts.p,
                                                 .type = TENSOR_FP32,
                                                 .n_dims = 2,
                                                 .dims = {1, (int64_t)t.n},
                                                 .data = {(const char *)t.counts, t.n * sizeof(float)}};
        return true;
    }
    int64_t *mask = arena_array(a, int64_t, t.n), *zeroes = arena_array(a, int64_t, t.n);
    for (size_t i = 0; i < t.used; i++)
        mask[i] = 1;
    if (in->mask.n)
        ret->tensors[ret->n++] = numbers(a, in, in->mask, mask, t.n);
    if (in->types.n)
        ret->tensors[ret->n++] = numbers(a, in, in->types, zeroes, t.n);
    return true;
}

bool prepare_sound(struct arena *a, const struct model_input *in, struct str bytes, struct prepared *ret,
                   struct err *err)
{
    struct sound s;
    if (!sound_decode(a, bytes, &s, err) || !sound_resample(a, &s, in->rate, err))
        return false;
    size_t n = in->samples ? in->samples : s.n;
    float *v = arena_array(a, float, n);
    size_t from = 0, to = 0, count = s.n < n ? s.n : n;
    if (in->cut == MODEL_CENTER) {
        from = s.n > n ? (s.n - n) / 2 : 0;
        to = s.n < n ? (n - s.n) / 2 : 0;
    }
    for (size_t i = 0; i < count; i++)
        v[to + i] = (float)(s.mono[from + i] * in->scale);
    *ret = (struct prepared){.n = 1};
    ret->tensors[0] = (struct tensor){.name = in->name.p,
                                      .type = TENSOR_FP32,
                                      .n_dims = in->rank,
                                      .dims = {1, 1, 1},
                                      .data = {(const char *)v, n * sizeof *v}};
    ret->tensors[0].dims[in->rank - 1] = (int64_t)n;
    return true;
}
