/* The values of small integer tensors: exporters write shapes as chains of Shape, Gather, Mul, Concat. */
#include "model/onnx_shapes.h"

static const struct onnx_tensor *input(const struct onnx_node *n, size_t i)
{
    return i < n->n_inputs ? n->inputs[i] : NULL;
}

static bool valued(const struct onnx_tensor *t)
{
    return t && t->n_values >= 0;
}

static void of_shape(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    if (!x || x->rank < 0 || x->rank > ONNX_KNOWN_VALUES)
        return;
    for (int i = 0; i < x->rank; i++)
        if (x->dims[i] < 0)
            return;
    n->outputs[0]->n_values = x->rank;
    memcpy(n->outputs[0]->values, x->dims, sizeof(int64_t) * (size_t)x->rank);
}

static void of_gather(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0), *at = input(n, 1);
    if (!valued(x) || !valued(at))
        return;
    for (int i = 0; i < at->n_values; i++) {
        int64_t from = at->values[i] < 0 ? at->values[i] + x->n_values : at->values[i];
        if (from < 0 || from >= x->n_values)
            return;
        n->outputs[0]->values[i] = x->values[from];
    }
    n->outputs[0]->n_values = at->n_values;
}

static void of_concat(const struct onnx_node *n)
{
    int64_t all[ONNX_KNOWN_VALUES];
    int count = 0;
    for (size_t i = 0; i < n->n_inputs; i++) {
        const struct onnx_tensor *t = n->inputs[i];
        if (!valued(t) || count + t->n_values > ONNX_KNOWN_VALUES)
            return;
        memcpy(all + count, t->values, sizeof(int64_t) * (size_t)t->n_values);
        count += t->n_values;
    }
    n->outputs[0]->n_values = count;
    memcpy(n->outputs[0]->values, all, sizeof(int64_t) * (size_t)count);
}

static void of_slice(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0), *from = input(n, 1), *to = input(n, 2), *step = input(n, 4);
    if (!valued(x) || !valued(from) || !valued(to) || from->n_values != 1 || to->n_values != 1 ||
        (step && (!valued(step) || step->n_values != 1 || step->values[0] != 1)))
        return;
    int64_t size = x->n_values, a = from->values[0], b = to->values[0];
    a = a < 0 ? a + size : a;
    b = b < 0 ? b + size : b > size ? size : b;
    if (a < 0 || a > b || b > size)
        return;
    n->outputs[0]->n_values = (int)(b - a);
    memmove(n->outputs[0]->values, x->values + a, sizeof(int64_t) * (size_t)(b - a));
}

static void of_same(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    if (!valued(x))
        return;
    n->outputs[0]->n_values = x->n_values;
    memmove(n->outputs[0]->values, x->values, sizeof x->values);
}

static bool calculate(char op, int64_t x, int64_t y, int64_t *ret)
{
    switch (op) {
    case 'A':
        return !__builtin_add_overflow(x, y, ret);
    case 'S':
        return !__builtin_sub_overflow(x, y, ret);
    case 'M':
        return !__builtin_mul_overflow(x, y, ret);
    default:
        if (y == 0 || (y == -1 && x == INT64_MIN))
            return false;
        *ret = x / y;
        return true;
    }
}

static void of_arithmetic(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0), *y = input(n, 1);
    if (!valued(x) || !valued(y) || (x->n_values != y->n_values && x->n_values != 1 && y->n_values != 1))
        return;
    int count = x->n_values > y->n_values ? x->n_values : y->n_values;
    int64_t all[ONNX_KNOWN_VALUES] = {0};
    for (int i = 0; i < count; i++)
        if (!x->n_values || !y->n_values ||
            !calculate(n->op.p[0], x->values[x->n_values == 1 ? 0 : i], y->values[y->n_values == 1 ? 0 : i],
                       &all[i]))
            return;
    n->outputs[0]->n_values = count;
    memcpy(n->outputs[0]->values, all, sizeof(int64_t) * (size_t)count);
}

static const struct {
    const char *op;
    void (*values)(const struct onnx_node *n);
} rules[] = {
    {"Shape", of_shape},    {"Gather", of_gather},  {"Concat", of_concat},  {"Slice", of_slice},
    {"Squeeze", of_same},   {"Unsqueeze", of_same}, {"Identity", of_same},  {"Cast", of_same},
    {"Add", of_arithmetic}, {"Sub", of_arithmetic}, {"Mul", of_arithmetic}, {"Div", of_arithmetic},
    {"Reshape", of_same},
};

void onnx_shape_values(const struct onnx_node *n)
{
    for (size_t i = 0; i < countof(rules); i++)
        if (str_is(n->op, rules[i].op))
            rules[i].values(n);
}

/* Elements of a tensor; -1: not known. */
static int64_t elements(const struct onnx_tensor *t)
{
    int64_t n = 1;
    if (!t || t->rank < 0)
        return -1;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] < 0 || __builtin_mul_overflow(n, t->dims[i], &n))
            return -1;
    return n;
}

static int64_t product(int64_t x, int64_t y)
{
    int64_t ret;
    return x < 0 || y < 0 || __builtin_mul_overflow(x, y, &ret) ? -1 : ret;
}

/* Each element of the output is a sum over the weights of one filter; of a transposed convolution, each of
 * the input goes into as many. */
static int64_t conv_cost(const struct onnx_node *n, bool transposed)
{
    const struct onnx_tensor *w = input(n, str_is(n->op, "QLinearConv") ? 3 : 1);
    if (!w || w->rank < 3 || w->dims[0] <= 0)
        return -1;
    int64_t filter = elements(w);
    filter = filter < 0 ? -1 : filter / w->dims[0];
    return product(filter, elements(transposed ? input(n, 0) : n->outputs[0]));
}

static int64_t matmul_cost(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    if (!x || x->rank < 1)
        return -1;
    bool turned = str_ends(n->op, "Gemm") && onnx_attribute_int(n, "transA", 0);
    return product(elements(n->outputs[0]), x->dims[turned ? 0 : x->rank - 1]);
}

int64_t onnx_cost_node(const struct onnx_node *n)
{
    static const char *const convs[] = {"Conv", "ConvInteger", "QLinearConv", "FusedConv", "ConvTranspose"};
    static const char *const matrices[] = {"Gemm", "FusedGemm", "MatMul", "MatMulInteger", "QLinearMatMul"};
    if (!n->n_outputs || !n->outputs[0])
        return 0;
    for (size_t i = 0; i < countof(convs); i++)
        if (str_is(n->op, convs[i]))
            return conv_cost(n, i == countof(convs) - 1);
    for (size_t i = 0; i < countof(matrices); i++)
        if (str_is(n->op, matrices[i]))
            return matmul_cost(n);
    return 0;
}
