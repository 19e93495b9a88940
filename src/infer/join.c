#include "infer/join.h"

#include "infer/types.h"

static bool has_rows(const struct batcher_job *job)
{
    for (size_t i = 0; i < job->n_inputs; i++) {
        const struct tensor *t = &job->inputs[i];
        if (t->n_dims == 0 || t->dims[0] < 1 || t->dims[0] > BATCHER_MAX_ROWS ||
            t->dims[0] != job->inputs[0].dims[0])
            return false;
    }
    return job->n_inputs > 0;
}

size_t join_rows(const struct batcher_job *job)
{
    return has_rows(job) ? (size_t)job->inputs[0].dims[0] : 1;
}

size_t join_row_bytes(const struct batcher_job *job)
{
    size_t bytes = 0;
    for (size_t i = 0; i < job->n_inputs; i++)
        bytes += job->inputs[i].data.n;
    return bytes / join_rows(job);
}

static bool same_kind(const struct tensor *x, const struct tensor *y)
{
    return x->type == y->type && x->n_dims == y->n_dims && strcmp(x->name, y->name) == 0 &&
           memcmp(x->dims + 1, y->dims + 1, (x->n_dims - 1) * sizeof x->dims[0]) == 0;
}

bool join_fits(const struct batcher_job *a, const struct batcher_job *b)
{
    if (a->n_inputs != b->n_inputs || a->n_names != b->n_names || !has_rows(a) || !has_rows(b))
        return false;
    for (size_t i = 0; i < a->n_inputs; i++)
        if (!same_kind(&a->inputs[i], &b->inputs[i]))
            return false;
    for (size_t i = 0; i < a->n_names; i++)
        if (strcmp(a->names[i], b->names[i]) != 0)
            return false;
    return true;
}

struct tensor *join_inputs(struct arena *a, const struct batcher_job *first, size_t *ret_rows)
{
    struct tensor *in = arena_copy(a, first->inputs, first->n_inputs * sizeof *in);
    for (size_t i = 0; i < first->n_inputs; i++) {
        size_t size = 0;
        in[i].dims[0] = 0;
        for (const struct batcher_job *job = first; job; job = job->next) {
            in[i].dims[0] += job->inputs[i].dims[0];
            size += job->inputs[i].data.n;
        }
        char *to = arena_alloc(a, size + 1);
        in[i].data = (struct str){to, size};
        for (const struct batcher_job *job = first; job; job = job->next) {
            struct str part = job->inputs[i].data;
            if (part.n)
                memcpy(to, part.p, part.n);
            to += part.n;
        }
    }
    *ret_rows = (size_t)in[0].dims[0];
    return in;
}

/* The bytes of the elements from *at on. */
static struct str cut_bytes(struct str data, uint64_t elements, size_t *at)
{
    size_t from = *at;
    struct str one;
    while (elements && types_next_bytes(data, at, &one))
        elements--;
    return (struct str){data.p + from, *at - from};
}

static bool elements_of_row(const struct tensor *t, uint64_t *ret)
{
    return types_elements(t->dims + 1, t->n_dims - 1, UINT64_MAX / 8, ret);
}

bool join_outputs(struct batcher_job *first, const struct tensor *out, size_t rows)
{
    uint64_t each;
    for (size_t i = 0; i < first->n_names; i++)
        if (out[i].n_dims == 0 || out[i].dims[0] != (int64_t)rows || !elements_of_row(&out[i], &each))
            return false;
    for (size_t i = 0; i < first->n_names; i++) {
        size_t at = 0;
        elements_of_row(&out[i], &each);
        for (struct batcher_job *job = first; job; job = job->next) {
            uint64_t n = each * join_rows(job);
            size_t size = types[out[i].type].size;
            struct str part = {out[i].data.p + at, n * size};
            if (size)
                at += part.n;
            else
                part = cut_bytes(out[i].data, n, &at);
            job->outputs[i] = out[i];
            job->outputs[i].name = job->names[i];
            job->outputs[i].dims[0] = (int64_t)join_rows(job);
            job->outputs[i].data = arena_str(job->arena, part);
        }
    }
    return true;
}
