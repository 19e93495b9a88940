"""What each operator of TensorFlow becomes in ONNX: OPERATORS, and FOLDED for what depends on constants alone."""

import numpy as np

from graph import FLOAT, INT64
from tfjs import TO_NCHW, Converter, Node, Unsupported, Value

# --- element by element ---


def _binary(kind: str):
    def convert(c: Converter, node: Node, a: Value, b: Value) -> Value:
        names, turned = c.aligned([a, b])
        return c.made(np.broadcast_shapes(a.shape, b.shape), c.graph.op(kind, *names), turned, a.whole)
    return convert


def _unary(kind: str):
    def convert(c: Converter, node: Node, x: Value) -> Value:
        names, turned = c.aligned([x])
        return c.made(x.shape, c.graph.op(kind, *names), turned, x.whole)
    return convert


def _activate(c: Converter, kind: str, name: str) -> str:
    if kind == "Relu6":
        return c.graph.op("Clip", name, c.graph.constant(np.float32(0)), c.graph.constant(np.float32(6)))
    if kind in ("Relu", "Sigmoid", "Elu"):
        return c.graph.op(kind, name)
    raise Unsupported(f"the activation {kind}")


def _relu6(c: Converter, node: Node, x: Value) -> Value:
    names, turned = c.aligned([x])
    return c.made(x.shape, _activate(c, "Relu6", names[0]), turned)


def _add_n(c: Converter, node: Node, *values: Value) -> Value:
    names, turned = c.aligned(list(values))
    return c.made(values[0].shape, c.graph.op("Sum", *names), turned)


def _squared_difference(c: Converter, node: Node, a: Value, b: Value) -> Value:
    difference = _binary("Sub")(c, node, a, b)
    return _binary("Mul")(c, node, difference, difference)


def _floor_div(c: Converter, node: Node, a: Value, b: Value) -> Value:
    """Exact for negative integers too, where ONNX' Div would round towards 0."""
    names, turned = c.aligned([a, b])
    shape = np.broadcast_shapes(a.shape, b.shape)
    if not a.whole:
        return c.made(shape, c.graph.op("Floor", c.graph.op("Div", *names)), turned)
    rest = c.graph.op("Mod", *names)
    return c.made(shape, c.graph.op("Div", c.graph.op("Sub", names[0], rest), names[1]), turned, True)


def _identity(c: Converter, node: Node, x: Value) -> Value:
    return x


def _cast(c: Converter, node: Node, x: Value) -> Value:
    to = node.raw["DstT"]["type"]
    whole = to in (3, 9, "DT_INT32", "DT_INT64")
    if not whole and to not in (1, "DT_FLOAT"):
        raise Unsupported(f"a cast to {to}")
    if whole == x.whole:
        return x
    names, turned = c.aligned([x])
    return c.made(x.shape, c.graph.op("Cast", *names, to=INT64 if whole else FLOAT), turned, whole)


# --- convolutions and what else slides over pictures ---

def _same(side: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    total = max((-(-side // stride) - 1) * stride + (kernel - 1) * dilation + 1 - side, 0)
    return total // 2, total - total // 2


def _pads(node: Node, shape, kernel, strides, dilations=(1, 1)) -> tuple[list[int], list[int]]:
    """ONNX' pads, and the sides that come out."""
    padding = node.text("padding")
    if padding == "SAME":
        pairs = [_same(*args) for args in zip(shape[1:3], kernel, strides, dilations)]
    elif padding == "VALID":
        pairs = [(0, 0), (0, 0)]
    else:
        raise Unsupported(f"{node.name} pads {padding!r}")
    sides = [(side + sum(pair) - (k - 1) * d - 1) // s + 1
             for side, pair, k, s, d in zip(shape[1:3], pairs, kernel, strides, dilations)]
    return [p[0] for p in pairs] + [p[1] for p in pairs], sides


def _convolve(c: Converter, node: Node, x: Value, kernel: np.ndarray, groups: int, rest: tuple[Value, ...]) -> Value:
    strides, dilations = node.ints("strides")[1:3], (node.ints("dilations") or [1, 1, 1, 1])[1:3]
    pads, sides = _pads(node, x.shape, kernel.shape[2:], strides, dilations)
    fused = node.texts("fused_ops")
    bias = [c.graph.constant(rest[0].array.reshape(-1).astype(np.float32))] if fused[:1] == ["BiasAdd"] else []
    if len(rest) != len(bias):
        raise Unsupported(f"{node.name} fuses {fused}")
    name = c.graph.op("Conv", c.nchw(x), c.graph.constant(kernel.astype(np.float32)), *bias, strides=strides, pads=pads,
                      dilations=dilations, group=groups, kernel_shape=list(kernel.shape[2:]))
    for kind in fused[len(bias):]:
        name = _activate(c, kind, name)
    return c.made((x.shape[0], *sides, kernel.shape[0]), name, True)


def _conv(c: Converter, node: Node, x: Value, kernel: Value, *rest: Value) -> Value:
    return _convolve(c, node, x, kernel.array.transpose(3, 2, 0, 1), 1, rest)


def _depthwise(c: Converter, node: Node, x: Value, kernel: Value, *rest: Value) -> Value:
    height, width, channels, times = kernel.shape
    turned = kernel.array.transpose(2, 3, 0, 1).reshape(channels * times, 1, height, width)
    return _convolve(c, node, x, turned, channels, rest)


def _conv_transposed(c: Converter, node: Node, shape: Value, kernel: Value, x: Value) -> Value:
    strides, sides = node.ints("strides")[1:3], [int(n) for n in shape.array[1:3]]
    turned = kernel.array.transpose(3, 2, 0, 1)
    if node.text("padding") == "SAME":
        pairs = [_same(side, k, s) for side, k, s in zip(sides, turned.shape[2:], strides)]
    else:
        pairs = [(0, 0), (0, 0)]
    # What the sum of strides leaves out at the end of each side.
    more = [side - ((n - 1) * s + k - sum(pair)) for side, n, s, k, pair
            in zip(sides, x.shape[1:3], strides, turned.shape[2:], pairs)]
    name = c.graph.op("ConvTranspose", c.nchw(x), c.graph.constant(turned.astype(np.float32)), strides=strides,
                      pads=[p[0] for p in pairs] + [p[1] for p in pairs], output_padding=more,
                      kernel_shape=list(turned.shape[2:]))
    return c.made((x.shape[0], *sides, turned.shape[1]), name, True)


def _pool(kind: str):
    def convert(c: Converter, node: Node, x: Value) -> Value:
        kernel, strides = node.ints("ksize")[1:3], node.ints("strides")[1:3]
        pads, sides = _pads(node, x.shape, kernel, strides)
        name = c.graph.op(kind, c.nchw(x), kernel_shape=kernel, strides=strides, pads=pads)
        return c.made((x.shape[0], *sides, x.shape[3]), name, True)
    return convert


def _batch_norm(c: Converter, node: Node, x: Value, *numbers: Value) -> Value:
    gain, bias, mean, variance = (v.array.astype(np.float64) for v in numbers)
    gain = gain / np.sqrt(variance + node.float("epsilon", 1e-3))
    parts = [c.graph.constant(part.astype(np.float32).reshape(-1, 1, 1)) for part in (gain, bias - mean * gain)]
    return c.made(x.shape, c.graph.op("Add", c.graph.op("Mul", c.nchw(x), parts[0]), parts[1]), True)


def _resize(c: Converter, node: Node, x: Value, size: Value) -> Value:
    mode = ("align_corners" if node.flag("align_corners") else
            "half_pixel" if node.flag("half_pixel_centers") else "asymmetric")
    height, width = (int(n) for n in size.array)
    if height % x.shape[1] or width % x.shape[2]:
        raise Unsupported(f"{node.name} resizes {x.shape[1:3]} to {(height, width)}, which is no whole multiple")
    scales = np.array([1, 1, height // x.shape[1], width // x.shape[2]], np.float32)  # sizes would fix the batch
    name = c.graph.op("Resize", c.nchw(x), "", c.graph.constant(scales), mode="linear",
                      coordinate_transformation_mode=mode)
    return c.made((x.shape[0], height, width, x.shape[3]), name, True)


def _mean(c: Converter, node: Node, x: Value, axes: Value) -> Value:
    which, keep = sorted(int(a) % len(x.shape) for a in np.atleast_1d(axes.array)), node.flag("keep_dims")
    shape = [1 if i in which else n for i, n in enumerate(x.shape) if keep or i not in which]
    names, turned = c.aligned([x])
    placed = [TO_NCHW.index(a) for a in which] if turned else which
    if turned and not keep and which != [1, 2]:
        names, turned, placed = [c.nhwc(x)], False, which
    name = c.graph.op("ReduceMean", *names, axes=placed, keepdims=int(keep))
    return c.made(shape, name, turned and keep)


def _pad(c: Converter, node: Node, x: Value, pads: Value, fill: Value | None = None) -> Value:
    shape = [n + int(p.sum()) for n, p in zip(x.shape, pads.array)]
    names, turned = c.aligned([x])
    rows = pads.array[list(TO_NCHW)] if turned else pads.array
    more = [c.graph.constant(np.float32(fill.array))] if fill else []
    return c.made(shape, c.graph.op("Pad", *names, c.graph.ints(*rows.T.reshape(-1)), *more), turned, x.whole)


# --- shapes ---

def _shape(c: Converter, node: Node, x: Value) -> Value:
    return Value((len(x.shape),), np.array(x.shape, np.int64), whole=True)


def _reshape(c: Converter, node: Node, x: Value, to: Value) -> Value:
    wanted = [int(n) for n in to.array]
    if -1 in wanted:
        rest = -int(np.prod(wanted))
        wanted[wanted.index(-1)] = int(np.prod(x.shape)) // rest
    # 0 keeps the batch, whatever it is.
    keeps = wanted[:1] == [1] == list(x.shape[:1])
    return c.made(wanted, c.graph.op("Reshape", c.nhwc(x), c.graph.ints(*([0] if keeps else wanted[:1]), *wanted[1:])),
                  whole=x.whole)


def _concat(c: Converter, node: Node, *values: Value) -> Value:
    *parts, axis = values
    where = int(axis.array) % len(parts[0].shape)
    shape = list(parts[0].shape)
    shape[where] = sum(p.shape[where] for p in parts)
    names, turned = c.aligned(parts)
    return c.made(shape, c.graph.op("Concat", *names, axis=TO_NCHW.index(where) if turned else where), turned, parts[0].whole)


def _squeeze(c: Converter, node: Node, x: Value) -> Value:
    axes = [a % len(x.shape) for a in node.ints("squeeze_dims")] or [i for i, n in enumerate(x.shape) if n == 1]
    shape = [n for i, n in enumerate(x.shape) if i not in axes]
    return c.made(shape, c.graph.op("Squeeze", c.nhwc(x), c.graph.ints(*axes)), whole=x.whole)


def _expand(c: Converter, node: Node, x: Value, axis: Value) -> Value:
    where = int(np.squeeze(axis.array)) % (len(x.shape) + 1)
    shape = [*x.shape[:where], 1, *x.shape[where:]]
    return c.made(shape, c.graph.op("Unsqueeze", c.nhwc(x), c.graph.ints(where)), whole=x.whole)


def _pack(c: Converter, node: Node, *parts: Value) -> Value:
    where = node.int("axis") % (len(parts[0].shape) + 1)
    names = [c.graph.op("Unsqueeze", c.nhwc(p), c.graph.ints(where)) for p in parts]
    shape = [*parts[0].shape[:where], len(parts), *parts[0].shape[where:]]
    return c.made(shape, c.graph.op("Concat", *names, axis=where), whole=parts[0].whole)


def _unpack(c: Converter, node: Node, x: Value) -> list[Value]:
    where = node.int("axis") % len(x.shape)
    shape = [n for i, n in enumerate(x.shape) if i != where]
    return [c.made(shape, c.graph.op("Gather", c.nhwc(x), c.graph.constant(np.int64(i)), axis=where), whole=x.whole)
            for i in range(x.shape[where])]


def _transpose(c: Converter, node: Node, x: Value, order: Value) -> Value:
    perm = [int(i) for i in order.array]
    return c.made([x.shape[i] for i in perm], c.graph.op("Transpose", c.nhwc(x), perm=perm), whole=x.whole)


def _slice(c: Converter, node: Node, x: Value, begin: Value, size: Value) -> Value:
    sizes = [n - int(b) if int(s) == -1 else int(s) for n, b, s in zip(x.shape, begin.array, size.array)]
    ends = [int(b) + s for b, s in zip(begin.array, sizes)]
    return c.made(sizes, c.graph.op("Slice", c.nhwc(x), c.graph.ints(*begin.array), c.graph.ints(*ends)), whole=x.whole)


def _arg_max(c: Converter, node: Node, x: Value, axis: Value) -> Value:
    where = int(axis.array) % len(x.shape)
    shape = [n for i, n in enumerate(x.shape) if i != where]
    return c.made(shape, c.graph.op("ArgMax", c.nhwc(x), axis=where, keepdims=0), whole=True)


def _gather_nd(c: Converter, node: Node, x: Value, index: Value) -> Value:
    shape = [*index.shape[:-1], *x.shape[index.shape[-1]:]]
    return c.made(shape, c.graph.op("GatherND", c.nhwc(x), c.nhwc(index)), whole=x.whole)


def _strided(node: Node, x: np.ndarray, begin, end, strides) -> np.ndarray:
    if node.int("ellipsis_mask") or node.int("new_axis_mask"):
        raise Unsupported(f"{node.name} slices with an ellipsis or a new axis")
    cut = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides)):
        if node.int("shrink_axis_mask") >> i & 1:
            cut.append(int(b))
        else:
            cut.append(slice(None if node.int("begin_mask") >> i & 1 else int(b),
                             None if node.int("end_mask") >> i & 1 else int(e), int(s)))
    return x[tuple(cut)]


OPERATORS = {
    "Add": _binary("Add"), "AddV2": _binary("Add"), "BiasAdd": _binary("Add"), "Sub": _binary("Sub"),
    "Mul": _binary("Mul"), "RealDiv": _binary("Div"), "FloorDiv": _floor_div, "AddN": _add_n,
    "SquaredDifference": _squared_difference, "Relu6": _relu6, "Relu": _unary("Relu"), "Sigmoid": _unary("Sigmoid"),
    "Exp": _unary("Exp"), "Sqrt": _unary("Sqrt"), "Identity": _identity, "Cast": _cast,
    "Conv2D": _conv, "_FusedConv2D": _conv, "DepthwiseConv2dNative": _depthwise,
    "FusedDepthwiseConv2dNative": _depthwise, "Conv2DBackpropInput": _conv_transposed, "MaxPool": _pool("MaxPool"),
    "AvgPool": _pool("AveragePool"), "FusedBatchNorm": _batch_norm, "FusedBatchNormV3": _batch_norm,
    "ResizeBilinear": _resize, "Mean": _mean, "Pad": _pad, "PadV2": _pad,
    "Shape": _shape, "Reshape": _reshape, "ConcatV2": _concat, "Squeeze": _squeeze, "ExpandDims": _expand,
    "Pack": _pack, "Unpack": _unpack, "Transpose": _transpose, "Slice": _slice, "ArgMax": _arg_max,
    "GatherNd": _gather_nd,
}

FOLDED = {
    "StridedSlice": _strided,
    "Pack": lambda node, *parts: np.stack(parts, node.int("axis")),
    "ExpandDims": lambda node, x, axis: np.expand_dims(x, int(np.squeeze(axis))),
    "Reshape": lambda node, x, shape: x.reshape([int(n) for n in shape]),
    "Add": lambda node, a, b: a + b, "AddV2": lambda node, a, b: a + b, "Sub": lambda node, a, b: a - b,
    "Mul": lambda node, a, b: a * b,
}
