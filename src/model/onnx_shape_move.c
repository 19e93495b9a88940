/* Shapes of operators that move, cut or add dimensions. */
#include "model/onnx_shapes.h"

static const struct onnx_tensor *input(const struct onnx_node *n, size_t i)
{
    return i < n->n_inputs ? n->inputs[i] : NULL;
}

static bool known(const struct onnx_tensor *t)
{
    return t && t->rank >= 0;
}

static void blank(struct onnx_tensor *t, int rank)
{
    t->rank = rank <= ONNX_MAX_DIMS ? rank : -1;
    for (int i = 0; i < t->rank; i++)
        t->dims[i] = -1;
}

/* Numbers that are an attribute in old opsets and an input in newer ones; -1: not known or not given. */
static int numbers(const struct onnx_node *n, const char *name, size_t i, int64_t *ret, int max)
{
    const struct onnx_tensor *t = input(n, i);
    if (!t)
        return onnx_attribute_ints(n, name, ret, max);
    if (t->n_values < 0 || t->n_values > max)
        return -1;
    memcpy(ret, t->values, sizeof *ret * (size_t)t->n_values);
    return t->n_values;
}

static bool has_axis(const int64_t *axes, int count, int rank, int axis)
{
    for (int i = 0; i < count; i++)
        if ((axes[i] < 0 ? axes[i] + rank : axes[i]) == axis)
            return true;
    return false;
}

void onnx_shape_reshape(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    struct onnx_tensor *y = n->outputs[0];
    int64_t to[ONNX_MAX_DIMS], total = 1, rest = 1;
    int count = numbers(n, "shape", 1, to, ONNX_MAX_DIMS), free_dim = -1;
    if (count < 0)
        return;
    blank(y, count);
    for (int i = 0; known(x) && i < x->rank; i++)
        total = x->dims[i] < 0 || total < 0 || __builtin_mul_overflow(total, x->dims[i], &total) ? -1 : total;
    for (int i = 0; i < count; i++) {
        if (to[i] == 0 && known(x) && i < x->rank)
            to[i] = x->dims[i];
        else if (to[i] == -1)
            free_dim = i;
        y->dims[i] = to[i] > 0 ? to[i] : -1;
        if (i != free_dim)
            rest = y->dims[i] < 0 || rest < 0 || __builtin_mul_overflow(rest, y->dims[i], &rest) ? -1 : rest;
    }
    if (free_dim >= 0 && known(x) && total >= 0 && rest > 0)
        y->dims[free_dim] = total / rest;
}

void onnx_shape_squeeze(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    int64_t axes[ONNX_MAX_DIMS];
    int count = numbers(n, "axes", 1, axes, ONNX_MAX_DIMS);
    if (!known(x) || (count < 0 && n->n_inputs > 1))
        return;
    blank(n->outputs[0], 0);
    for (int i = 0; i < x->rank; i++)
        if (count >= 0 ? !has_axis(axes, count, x->rank, i) : x->dims[i] != 1)
            n->outputs[0]->dims[n->outputs[0]->rank++] = x->dims[i];
}

void onnx_shape_unsqueeze(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    int64_t axes[ONNX_MAX_DIMS];
    int count = numbers(n, "axes", 1, axes, ONNX_MAX_DIMS), from = 0;
    if (!known(x) || count < 0 || x->rank + count > ONNX_MAX_DIMS)
        return;
    int rank = x->rank + count;
    blank(n->outputs[0], rank);
    for (int i = 0; i < rank; i++) {
        if (has_axis(axes, count, rank, i))
            n->outputs[0]->dims[i] = 1;
        else if (from < x->rank)
            n->outputs[0]->dims[i] = x->dims[from++];
    }
}

static int64_t bound(int64_t at, int64_t size)
{
    at = at < 0 ? at + size : at;
    return at < 0 ? 0 : at > size ? size : at;
}

void onnx_shape_slice(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    int64_t starts[ONNX_MAX_DIMS], ends[ONNX_MAX_DIMS], axes[ONNX_MAX_DIMS], steps[ONNX_MAX_DIMS];
    if (!known(x))
        return;
    struct onnx_tensor y = {.rank = x->rank};
    memcpy(y.dims, x->dims, sizeof y.dims);
    int count = numbers(n, "starts", 1, starts, ONNX_MAX_DIMS);
    bool all = count >= 0 && numbers(n, "ends", 2, ends, ONNX_MAX_DIMS) == count;
    int n_axes = numbers(n, "axes", 3, axes, ONNX_MAX_DIMS);
    int n_steps = numbers(n, "steps", 4, steps, ONNX_MAX_DIMS);
    for (int i = 0; i < y.rank && !all; i++)
        y.dims[i] = -1;
    for (int i = 0; all && i < count; i++) {
        int64_t axis = n_axes == count ? axes[i] : i, step = n_steps == count ? steps[i] : 1;
        axis = axis < 0 ? axis + x->rank : axis;
        if (axis < 0 || axis >= x->rank || x->dims[axis] < 0)
            continue;
        int64_t size = x->dims[axis], from = bound(starts[i], size), to = bound(ends[i], size);
        y.dims[axis] = step <= 0 ? -1 : to > from ? (to - from + step - 1) / step : 0;
    }
    n->outputs[0]->rank = y.rank;
    memcpy(n->outputs[0]->dims, y.dims, sizeof y.dims);
}

void onnx_shape_gather(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0), *at = input(n, 1);
    if (!known(x) || !known(at) || !x->rank || x->rank + at->rank - 1 > ONNX_MAX_DIMS)
        return;
    int64_t axis = onnx_attribute_int(n, "axis", 0);
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis >= x->rank)
        return;
    struct onnx_tensor *y = n->outputs[0];
    blank(y, 0);
    for (int i = 0; i < x->rank; i++) {
        for (int k = 0; i == axis && k < at->rank; k++)
            y->dims[y->rank++] = at->dims[k];
        if (i != axis)
            y->dims[y->rank++] = x->dims[i];
    }
}

void onnx_shape_shape(const struct onnx_node *n)
{
    if (!known(input(n, 0)))
        return;
    blank(n->outputs[0], 1);
    n->outputs[0]->dims[0] = input(n, 0)->rank;
}

void onnx_shape_expand(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0), *to = input(n, 1);
    if (!known(x) || !to || to->n_values < 0)
        return;
    struct onnx_tensor shape = {.rank = to->n_values};
    memcpy(shape.dims, to->values, sizeof shape.dims);
    onnx_broadcast(x, &shape, n->outputs[0]);
}

void onnx_shape_pad(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    int64_t pads[2 * ONNX_MAX_DIMS] = {0};
    if (!known(x))
        return;
    bool given = numbers(n, "pads", 1, pads, 2 * ONNX_MAX_DIMS) == 2 * x->rank;
    blank(n->outputs[0], x->rank);
    for (int i = 0; given && i < x->rank; i++) {
        int64_t sum;
        if (x->dims[i] >= 0 && !__builtin_add_overflow(pads[i], pads[i + x->rank], &sum) &&
            !__builtin_add_overflow(sum, x->dims[i], &sum))
            n->outputs[0]->dims[i] = sum >= 0 ? sum : -1;
    }
}

void onnx_shape_resize(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0), *sizes = input(n, 3);
    const struct onnx_tensor *scales = input(n, n->n_inputs > 2 ? 2 : 1);
    if (!known(x))
        return;
    blank(n->outputs[0], x->rank);
    for (int i = 0; i < x->rank; i++) {
        if (sizes && sizes->n_values == x->rank)
            n->outputs[0]->dims[i] = sizes->values[i] >= 0 ? sizes->values[i] : -1;
        else if (scales && scales->n_reals == x->rank && x->dims[i] >= 0 && scales->reals[i] >= 0 &&
                 (double)x->dims[i] * scales->reals[i] < 1e12)
            n->outputs[0]->dims[i] = (int64_t)((double)x->dims[i] * (double)scales->reals[i]);
    }
}

void onnx_shape_split(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    int64_t parts[ONNX_KNOWN_VALUES], axis = onnx_attribute_int(n, "axis", 0);
    if (!known(x))
        return;
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis >= x->rank)
        return;
    int count = numbers(n, "split", 1, parts, ONNX_KNOWN_VALUES);
    for (size_t i = 0; i < n->n_outputs; i++) {
        if (!n->outputs[i])
            continue;
        n->outputs[i]->rank = x->rank;
        memcpy(n->outputs[i]->dims, x->dims, sizeof x->dims);
        int64_t even = x->dims[axis] < 0 ? -1 : x->dims[axis] / (int64_t)n->n_outputs;
        n->outputs[i]->dims[axis] = count >= 0 && (size_t)count == n->n_outputs ? parts[i] : even;
    }
}

void onnx_shape_of_shape(const struct onnx_node *n)
{
    const struct onnx_tensor *to = input(n, 0);
    if (!to || to->n_values < 0)
        return;
    blank(n->outputs[0], to->n_values);
    for (int i = 0; i < n->outputs[0]->rank; i++)
        n->outputs[0]->dims[i] = to->values[i] >= 0 ? to->values[i] : -1;
}

void onnx_shape_depth_to_space(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    int64_t block = onnx_attribute_int(n, "blocksize", 0);
    if (!known(x) || x->rank != 4 || block < 1 || block > 1024)
        return;
    bool out = str_is(n->op, "DepthToSpace");
    blank(n->outputs[0], 4);
    n->outputs[0]->dims[0] = x->dims[0];
    for (int i = 1; i < 4; i++) {
        if (x->dims[i] < 0 || x->dims[i] > (int64_t)1 << 40)
            continue;
        int64_t by = i == 1 ? block * block : block;
        n->outputs[0]->dims[i] = (i == 1) == out ? x->dims[i] / by : x->dims[i] * by;
    }
}

void onnx_shape_reduce(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    int64_t axes[ONNX_MAX_DIMS];
    int count = numbers(n, "axes", 1, axes, ONNX_MAX_DIMS);
    if (!known(x) || (count < 0 && n->n_inputs > 1 && n->inputs[1]))
        return;
    bool keep = onnx_attribute_int(n, "keepdims", 1) != 0;
    blank(n->outputs[0], 0);
    for (int i = 0; i < x->rank; i++) {
        bool reduced = count <= 0 || has_axis(axes, count, x->rank, i);
        if (!reduced || keep)
            n->outputs[0]->dims[n->outputs[0]->rank++] = reduced ? 1 : x->dims[i];
    }
}
