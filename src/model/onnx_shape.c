/* Shapes of what nodes give, from the shapes of what they take: one row per operator. What cannot be worked
 * out stays unknown (rank or dimension -1); the exporter's own value_info then stands. */
#include "model/onnx_graph.h"
#include "model/onnx_shapes.h"

static void set_rank(struct onnx_tensor *t, int rank)
{
    t->rank = rank <= ONNX_MAX_DIMS ? rank : -1;
    for (int i = 0; i < t->rank; i++)
        t->dims[i] = -1;
}

static bool known(const struct onnx_tensor *t)
{
    return t && t->rank >= 0;
}

static const struct onnx_tensor *input(const struct onnx_node *n, size_t i)
{
    return i < n->n_inputs ? n->inputs[i] : NULL;
}

static struct onnx_tensor *output(const struct onnx_node *n)
{
    return n->outputs[0];
}

static void copy_shape(struct onnx_tensor *to, const struct onnx_tensor *from)
{
    to->rank = from->rank;
    memcpy(to->dims, from->dims, sizeof to->dims);
}

static void same(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    for (size_t i = 0; known(x) && i < n->n_outputs; i++)
        if (n->outputs[i] && i == 0)
            copy_shape(n->outputs[i], x);
}

void onnx_broadcast(const struct onnx_tensor *x, const struct onnx_tensor *y, struct onnx_tensor *ret)
{
    int rank = x->rank > y->rank ? x->rank : y->rank;
    int64_t dims[ONNX_MAX_DIMS] = {0};
    for (int i = 0; i < rank; i++) {
        int64_t p = i - (rank - x->rank) >= 0 ? x->dims[i - (rank - x->rank)] : 1;
        int64_t q = i - (rank - y->rank) >= 0 ? y->dims[i - (rank - y->rank)] : 1;
        dims[i] = p == 1 ? q : q == 1 ? p : p > q ? p : q; /* one that is known wins over -1 */
    }
    ret->rank = rank;
    memcpy(ret->dims, dims, sizeof dims[0] * (size_t)rank);
}

static void broadcast(const struct onnx_node *n)
{
    if (!known(input(n, 0)))
        return;
    struct onnx_tensor sum;
    copy_shape(&sum, input(n, 0));
    for (size_t i = 1; i < n->n_inputs; i++) {
        if (!n->inputs[i])
            continue;
        if (!known(n->inputs[i]))
            return;
        onnx_broadcast(&sum, n->inputs[i], &sum);
    }
    copy_shape(output(n), &sum);
}

/* One spatial dimension of a convolution or a pooling. */
static int64_t window(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad,
                      bool same_pad, bool ceil_mode)
{
    if (in < 0 || kernel <= 0 || stride <= 0 || dilation <= 0 || in > (int64_t)1 << 32 ||
        kernel > (int64_t)1 << 31 || dilation > (int64_t)1 << 31)
        return -1;
    if (same_pad)
        return (in + stride - 1) / stride;
    int64_t span = in + pad - (kernel - 1) * dilation - 1;
    return span < 0 ? -1 : (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
}

struct onnx_window onnx_window_of(const struct onnx_node *n, const struct onnx_tensor *w, int spatial)
{
    struct onnx_window v = {.spatial = spatial};
    bool given = onnx_attribute_ints(n, "kernel_shape", v.kernel, spatial) == spatial;
    for (int i = 0; i < spatial; i++) {
        if (!given)
            v.kernel[i] = known(w) && w->rank == spatial + 2 ? w->dims[i + 2] : -1;
        v.stride[i] = v.dilation[i] = 1;
    }
    onnx_attribute_ints(n, "strides", v.stride, spatial);
    onnx_attribute_ints(n, "dilations", v.dilation, spatial);
    onnx_attribute_ints(n, "pads", v.pads, 2 * spatial);
    struct str pad = onnx_attribute_text(n, "auto_pad");
    v.same = str_starts(pad, "SAME");
    v.valid = str_is(pad, "VALID");
    return v;
}

static void windowed(const struct onnx_node *n, const struct onnx_tensor *w, int64_t channels)
{
    const struct onnx_tensor *x = input(n, 0);
    struct onnx_tensor *y = output(n);
    if (!known(x) || x->rank < 3)
        return;
    int spatial = x->rank - 2;
    struct onnx_window v = onnx_window_of(n, w, spatial);
    bool up = onnx_attribute_int(n, "ceil_mode", 0) != 0;
    set_rank(y, x->rank);
    y->dims[0] = x->dims[0];
    y->dims[1] = channels;
    for (int i = 0; i < spatial; i++) {
        int64_t pad = v.valid ? 0 : v.pads[i] + v.pads[spatial + i];
        if (pad < 0 || pad > (int64_t)1 << 31)
            return;
        y->dims[i + 2] = window(x->dims[i + 2], v.kernel[i], v.stride[i], v.dilation[i], pad, v.same, up);
    }
}

static void conv(const struct onnx_node *n)
{
    const struct onnx_tensor *w = input(n, str_is(n->op, "QLinearConv") ? 3 : 1);
    if (known(w) && w->rank >= 3)
        windowed(n, w, w->dims[0]);
}

static void pool(const struct onnx_node *n)
{
    if (known(input(n, 0)) && input(n, 0)->rank >= 3)
        windowed(n, NULL, input(n, 0)->dims[1]);
}

static void conv_transpose(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0), *w = input(n, 1);
    struct onnx_tensor *y = output(n);
    if (!known(x) || !known(w) || x->rank < 3 || w->rank != x->rank)
        return;
    int spatial = x->rank - 2;
    struct onnx_window v = onnx_window_of(n, w, spatial);
    int64_t extra[ONNX_MAX_DIMS] = {0};
    onnx_attribute_ints(n, "output_padding", extra, spatial);
    int64_t group = onnx_attribute_int(n, "group", 1);
    set_rank(y, x->rank);
    y->dims[0] = x->dims[0];
    y->dims[1] = w->dims[1] > 0 && group > 0 && group < 1 << 30 ? w->dims[1] * group : -1;
    for (int i = 0; i < spatial; i++) {
        if (x->dims[i + 2] < 0 || x->dims[i + 2] > 1 << 30 || v.stride[i] < 1 || v.stride[i] > 1 << 20 ||
            v.kernel[i] < 1 || v.kernel[i] > 1 << 20 || v.dilation[i] < 1 || v.dilation[i] > 1 << 20)
            continue;
        int64_t side = v.same ? x->dims[i + 2] * v.stride[i]
                              : v.stride[i] * (x->dims[i + 2] - 1) + (extra[i] & 0xffff) +
                                    (v.kernel[i] - 1) * v.dilation[i] + 1 - (v.pads[i] & 0xfffff) -
                                    (v.pads[spatial + i] & 0xfffff);
        y->dims[i + 2] = side > 0 ? side : -1;
    }
}

static void global_pool(const struct onnx_node *n)
{
    same(n);
    for (int i = 2; i < output(n)->rank; i++)
        output(n)->dims[i] = 1;
}

static void gemm(const struct onnx_node *n)
{
    const struct onnx_tensor *p = input(n, 0), *q = input(n, 1);
    if (!known(p) || !known(q) || p->rank != 2 || q->rank != 2)
        return;
    set_rank(output(n), 2);
    output(n)->dims[0] = p->dims[onnx_attribute_int(n, "transA", 0) ? 1 : 0];
    output(n)->dims[1] = q->dims[onnx_attribute_int(n, "transB", 0) ? 0 : 1];
}

/* The second matrix of an operator that multiplies two. */
const struct onnx_tensor *onnx_second_matrix(const struct onnx_node *n)
{
    return input(n, str_is(n->op, "QLinearMatMul") ? 3 : 1);
}

static void matmul(const struct onnx_node *n)
{
    const struct onnx_tensor *p = input(n, 0), *q = onnx_second_matrix(n);
    if (!known(p) || !known(q) || p->rank < 2 || q->rank < 2)
        return;
    struct onnx_tensor x, y, sum;
    copy_shape(&x, p);
    copy_shape(&y, q);
    x.rank -= 2;
    y.rank -= 2;
    onnx_broadcast(&x, &y, &sum);
    sum.dims[sum.rank++] = p->dims[p->rank - 2];
    sum.dims[sum.rank++] = q->dims[q->rank - 1];
    copy_shape(output(n), &sum);
}

static void transpose(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    if (!known(x))
        return;
    int64_t perm[ONNX_MAX_DIMS];
    bool given = onnx_attribute_ints(n, "perm", perm, ONNX_MAX_DIMS) == x->rank;
    set_rank(output(n), x->rank);
    for (int i = 0; i < x->rank; i++) {
        int64_t from = given ? perm[i] : x->rank - 1 - i;
        output(n)->dims[i] = from >= 0 && from < x->rank ? x->dims[from] : -1;
    }
}

static void flatten(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    if (!known(x))
        return;
    int64_t axis = onnx_attribute_int(n, "axis", 1), left = 1, right = 1;
    axis = axis < 0 ? axis + x->rank : axis;
    for (int i = 0; i < x->rank; i++) {
        int64_t *side = i < axis ? &left : &right;
        if (x->dims[i] < 0 || __builtin_mul_overflow(*side, x->dims[i], side))
            return;
    }
    set_rank(output(n), 2);
    output(n)->dims[0] = left;
    output(n)->dims[1] = right;
}

static void concat(const struct onnx_node *n)
{
    const struct onnx_tensor *x = input(n, 0);
    if (!known(x) || x->rank == 0)
        return;
    int64_t axis = onnx_attribute_int(n, "axis", 0);
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis >= x->rank)
        return;
    struct onnx_tensor sum;
    copy_shape(&sum, x);
    for (size_t i = 1; i < n->n_inputs; i++) {
        const struct onnx_tensor *t = n->inputs[i];
        if (!known(t) || t->rank != x->rank)
            return;
        sum.dims[axis] = sum.dims[axis] < 0 || t->dims[axis] < 0 ? -1 : sum.dims[axis] + t->dims[axis];
    }
    copy_shape(output(n), &sum);
}

static const struct {
    const char *op;
    void (*shape)(const struct onnx_node *n);
} rules[] = {
    {"Conv", conv},
    {"ConvInteger", conv},
    {"QLinearConv", conv},
    {"FusedConv", conv},
    {"ConvTranspose", conv_transpose},
    {"MaxPool", pool},
    {"AveragePool", pool},
    {"LpPool", pool},
    {"GlobalAveragePool", global_pool},
    {"GlobalMaxPool", global_pool},
    {"Gemm", gemm},
    {"FusedGemm", gemm},
    {"MatMul", matmul},
    {"MatMulInteger", matmul},
    {"QLinearMatMul", matmul},
    {"Transpose", transpose},
    {"Flatten", flatten},
    {"Concat", concat},
    {"Add", broadcast},
    {"Sub", broadcast},
    {"Mul", broadcast},
    {"Div", broadcast},
    {"Pow", broadcast},
    {"Min", broadcast},
    {"Max", broadcast},
    {"Sum", broadcast},
    {"Mean", broadcast},
    {"Where", broadcast},
    {"PRelu", broadcast},
    {"Equal", broadcast},
    {"Greater", broadcast},
    {"GreaterOrEqual", broadcast},
    {"Less", broadcast},
    {"LessOrEqual", broadcast},
    {"And", broadcast},
    {"Or", broadcast},
    {"Mod", broadcast},
    {"Reshape", onnx_shape_reshape},
    {"Squeeze", onnx_shape_squeeze},
    {"Unsqueeze", onnx_shape_unsqueeze},
    {"Slice", onnx_shape_slice},
    {"Gather", onnx_shape_gather},
    {"Shape", onnx_shape_shape},
    {"Expand", onnx_shape_expand},
    {"Pad", onnx_shape_pad},
    {"Resize", onnx_shape_resize},
    {"Upsample", onnx_shape_resize},
    {"Split", onnx_shape_split},
    {"ConstantOfShape", onnx_shape_of_shape},
    {"DepthToSpace", onnx_shape_depth_to_space},
    {"SpaceToDepth", onnx_shape_depth_to_space},
};

static const char *const same_ops[] = {
    "Relu",
    "LeakyRelu",
    "Sigmoid",
    "Tanh",
    "Elu",
    "Selu",
    "Celu",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Swish",
    "Mish",
    "Softplus",
    "Softsign",
    "Softmax",
    "LogSoftmax",
    "Exp",
    "Log",
    "Sqrt",
    "Reciprocal",
    "Neg",
    "Abs",
    "Floor",
    "Ceil",
    "Round",
    "Sign",
    "Sin",
    "Cos",
    "Erf",
    "Not",
    "Clip",
    "Cast",
    "Identity",
    "Dropout",
    "LRN",
    "BatchNormalization",
    "Hardmax",
    "LayerNormalization",
    "QuantizeLinear",
    "CumSum",
    "IsNaN",
    "InstanceNormalization",
    "LpNormalization",
    "DequantizeLinear",
    "GroupNormalization",
    "ThresholdedRelu",
    "Shrink",
    "DynamicQuantizeLinear",
    "SkipLayerNormalization",
    "FastGelu",
    "RMSNormalization",
    "ScatterND",
    "ScatterElements",
};

void onnx_shape_node(const struct onnx_node *n)
{
    if (!n->n_outputs || !n->outputs[0])
        return;
    for (size_t i = 0; i < countof(rules); i++)
        if (str_is(n->op, rules[i].op))
            rules[i].shape(n);
    for (size_t i = 0; i < countof(same_ops); i++)
        if (str_is(n->op, same_ops[i]))
            same(n);
    if (str_starts(n->op, "Reduce"))
        onnx_shape_reduce(n);
    onnx_shape_values(n);
}
