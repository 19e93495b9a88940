#include "infer/types.h"
#include "infer/v2_answer.h"

#include <math.h>
#include <stdio.h>

struct score {
    double value;
    uint64_t index;
};

static double score_at(const struct tensor *t, uint64_t i)
{
    size_t size = types[t->type].size;
    const char *at = t->data.p + i * size;
    uint64_t bits = 0;
    float f;
    double d;
    memcpy(&bits, at, size);
    switch (t->type) {
    case TENSOR_FP64:
        memcpy(&d, at, sizeof d);
        return d;
    case TENSOR_FP32:
        memcpy(&f, at, sizeof f);
        return (double)f;
    case TENSOR_FP16:
        return types_from_half((uint16_t)bits);
    case TENSOR_BF16:
        return types_from_bfloat((uint16_t)bits);
    case TENSOR_INT8:
    case TENSOR_INT16:
    case TENSOR_INT32:
    case TENSOR_INT64:
        return (double)((int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
    default:
        return (double)bits;
    }
}

/* Best first; equal ones by their number; NaN last. */
static int better(const void *a, const void *b)
{
    const struct score *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (x->value != y->value && !isnan(x->value))
        return x->value > y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void add_score(struct buf *out, const struct v2_model *m, const struct score *s)
{
    char text[64];
    bool labelled = s->index < m->n_labels;
    uint32_t n = (uint32_t)snprintf(text, sizeof text, "%f:%llu%s", s->value, (unsigned long long)s->index,
                                    labelled ? ":" : "");
    uint32_t whole = n + (labelled ? (uint32_t)m->labels[s->index].n : 0);
    buf_add(out, &whole, sizeof whole);
    buf_add(out, text, n);
    if (labelled)
        buf_str(out, m->labels[s->index]);
}

bool v2_classify(struct arena *a, const struct v2_model *m, const struct tensor *t, uint32_t classes,
                 struct tensor *ret, struct err *err)
{
    auto_buf struct buf texts = {0};
    if (t->type == TENSOR_BYTES)
        return err_set(err, ERR_INVALID, "classification", "the output %s has texts, which have no order",
                       t->name);
    uint64_t all = t->data.n / types[t->type].size, rows = t->n_dims > 1 ? (uint64_t)t->dims[0] : 1;
    uint64_t each = rows ? all / rows : 0, best = classes < each ? classes : each;
    struct score *scores = arena_alloc(a, (each + 1) * sizeof *scores);
    for (uint64_t row = 0; row < rows; row++) {
        for (uint64_t i = 0; i < each; i++)
            scores[i] = (struct score){score_at(t, row * each + i), i};
        qsort(scores, each, sizeof *scores, better);
        for (uint64_t i = 0; i < best; i++)
            add_score(&texts, m, &scores[i]);
    }
    *ret = (struct tensor){.name = t->name, .type = TENSOR_BYTES, .n_dims = t->n_dims > 1 ? 2 : 1};
    ret->dims[0] = t->n_dims > 1 ? (int64_t)rows : (int64_t)best;
    ret->dims[1] = (int64_t)best;
    ret->data = texts.n ? arena_str(a, buf_view(&texts)) : STR("");
    return true;
}
