"""scripts/models/tfjs.py: each operator against numpy, with the picture in both orders."""

import base64
import json

import numpy as np
import onnxruntime
import pytest
import tfjs
from graph import FLOAT, Graph
from tfjs import Converter, Unsupported, Value

RANDOM = np.random.default_rng(12)


def node(op, *inputs, name="out", **attributes):
    return {"name": name, "op": op, "input": list(inputs), "attr": attributes}


def text(value):
    return {"s": base64.b64encode(value.encode()).decode()}


def ints(*values):
    return {"list": {"i": [str(v) for v in values]}}


def run(nodes, constants, x, out="out", picture=True):
    """Converts nodes that read "x" and runs the graph, the picture given as NCHW or any tensor as it is."""
    g = Graph("test")
    nodes = [node("Const", name=name) for name in constants] + nodes
    c = Converter(g, nodes, {name: np.asarray(a) for name, a in constants.items()})
    if picture:
        c.feed_picture("x", "x", x.shape[1], x.shape[2]) if x.shape[3] == 3 else None
        if x.shape[3] != 3:
            g.input("x", ["batch", x.shape[3], x.shape[1], x.shape[2]])
            c.feed("x", Value(x.shape, nchw="x"))
    else:
        g.input("x", list(x.shape))
        c.feed("x", Value(x.shape, nhwc="x"))
    made = c.get(out)
    g.output(c.nhwc(made), "y", [None] * len(made.shape), 7 if made.whole else FLOAT)
    session = onnxruntime.InferenceSession(g.model("test").SerializeToString())
    got = session.run(None, {"x": x.transpose(0, 3, 1, 2) if picture else x})[0]
    assert got.shape == made.shape
    return got


def same_pads(side, k, stride):
    total = max((-(-side // stride) - 1) * stride + k - side, 0)
    return total // 2, total - total // 2


def windows(x, k, stride, padding, fill=0.0):
    """[N, H', W', kh, kw, C] of a padded picture."""
    if padding == "SAME":
        x = np.pad(x, [(0, 0), same_pads(x.shape[1], k, stride), same_pads(x.shape[2], k, stride), (0, 0)], constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, (k, k), (1, 2))[:, ::stride, ::stride]
    return view.transpose(0, 1, 2, 4, 5, 3)


def picture(*shape):
    return RANDOM.normal(size=shape or (1, 7, 9, 3)).astype(np.float32)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("k, stride", [(3, 1), (3, 2), (5, 2), (1, 1), (2, 2)])
def test_convolutions(padding, k, stride):
    x, full, deep = picture(), picture(k, k, 3, 4), picture(k, k, 3, 2)
    attributes = {"strides": ints(1, stride, stride, 1), "padding": text(padding)}
    seen = windows(x, k, stride, padding)
    close(run([node("Conv2D", "x", "w", **attributes)], {"w": full}, x), np.einsum("nhwklc,klcd->nhwd", seen, full))
    depthwise = np.einsum("nhwklc,klcm->nhwcm", seen, deep).reshape(*seen.shape[:3], 6)
    close(run([node("DepthwiseConv2dNative", "x", "w", **attributes)], {"w": deep}, x), depthwise)
    bias = picture(6)
    fused = {**attributes, "fused_ops": {"list": {"s": [text("BiasAdd")["s"], text("Relu6")["s"]]}}}
    close(run([node("FusedDepthwiseConv2dNative", "x", "w", "b", **fused)], {"w": deep, "b": bias}, x), np.clip(depthwise + bias, 0, 6))
    bias = picture(4)
    close(run([node("_FusedConv2D", "x", "w", "b", **fused)], {"w": full, "b": bias}, x),
          np.clip(np.einsum("nhwklc,klcd->nhwd", seen, full) + bias, 0, 6))


@pytest.mark.parametrize("k, stride, sides", [(2, 2, (14, 18)), (3, 2, (14, 18)), (3, 2, (13, 17)), (4, 2, (14, 18))])
def test_transposed_convolution(k, stride, sides):
    """It is the gradient of the convolution that goes the other way."""
    x, w = picture(), picture(k, k, 2, 3)
    wanted = np.zeros((1, *sides, 2), np.float32)
    pads = [same_pads(side, k, stride)[0] for side in sides]
    for i in range(7):
        for j in range(9):
            for a in range(k):
                for b in range(k):
                    y, z = i * stride + a - pads[0], j * stride + b - pads[1]
                    if 0 <= y < sides[0] and 0 <= z < sides[1]:
                        wanted[0, y, z] += w[a, b] @ x[0, i, j]
    got = run([node("Conv2DBackpropInput", "s", "w", "x", strides=ints(1, stride, stride, 1), padding=text("SAME"))],
              {"s": np.array([1, *sides, 2]), "w": w}, x)
    close(got, wanted)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pools(padding):
    x = picture()
    attributes = {"ksize": ints(1, 3, 3, 1), "strides": ints(1, 2, 2, 1), "padding": text(padding)}
    close(run([node("MaxPool", "x", **attributes)], {}, x), windows(x, 3, 2, padding, -np.inf).max((3, 4)))
    counted = windows(np.ones_like(x), 3, 2, padding).sum((3, 4))
    close(run([node("AvgPool", "x", **attributes)], {}, x), windows(x, 3, 2, padding).sum((3, 4)) / counted)


def resized(x, times, mode):
    def axis(n):
        out = np.arange(n * times)
        at = {"half": (out + .5) / times - .5, "plain": out / times, "corners": out * (n - 1) / (n * times - 1)}[mode]
        at = np.clip(at, 0, n - 1)
        low = np.floor(at).astype(int)
        return low, np.minimum(low + 1, n - 1), (at - low).astype(np.float32)
    (y0, y1, v), (x0, x1, u) = axis(x.shape[1]), axis(x.shape[2])
    u, v = u[None, None, :, None], v[None, :, None, None]
    return (x[:, y0][:, :, x0] * (1 - u) + x[:, y0][:, :, x1] * u) * (1 - v) + (x[:, y1][:, :, x0] * (1 - u) + x[:, y1][:, :, x1] * u) * v


@pytest.mark.parametrize("mode, flags", [("half", {"half_pixel_centers": {"b": True}}), ("plain", {}), ("corners", {"align_corners": {"b": True}})])
def test_resize(mode, flags):
    x = picture()
    close(run([node("ResizeBilinear", "x", "s", **flags)], {"s": np.array([14, 18])}, x), resized(x, 2, mode))
    with pytest.raises(Unsupported):
        run([node("ResizeBilinear", "x", "s", **flags)], {"s": np.array([13, 18])}, x)


@pytest.mark.parametrize("as_picture", [True, False])
def test_element_by_element(as_picture):
    x, b, whole, scalar = picture(), picture(3), picture(1, 7, 9, 3), np.float32(1.5)
    for op, wanted in {"Add": x + b, "AddV2": x + b, "BiasAdd": x + b, "Sub": x - b, "Mul": x * b, "RealDiv": x / b,
                       "SquaredDifference": (x - b) ** 2, "FloorDiv": np.floor(x / b)}.items():
        close(run([node(op, "x", "b")], {"b": b}, x, picture=as_picture), wanted)
    close(run([node("Mul", "x", "b")], {"b": whole}, x, picture=as_picture), x * whole)
    close(run([node("Sub", "b", "x")], {"b": scalar}, x, picture=as_picture), scalar - x)
    close(run([node("Add", "x", "m"), node("Mul", "x", "b", name="m")], {"b": b}, x, picture=as_picture), x + x * b)
    close(run([node("AddN", "x", "x", "x")], {}, x, picture=as_picture), 3 * x)
    for op, wanted in {"Relu": np.maximum(x, 0), "Relu6": np.clip(x, 0, 6), "Sigmoid": 1 / (1 + np.exp(-x)), "Exp": np.exp(x), "Identity": x}.items():
        close(run([node(op, "x")], {}, x, picture=as_picture), wanted)
    close(run([node("Sqrt", "x")], {}, np.abs(x), picture=as_picture), np.sqrt(np.abs(x)))
    gain, bias, mean, variance = picture(3), picture(3), picture(3), np.abs(picture(3))
    close(run([node("FusedBatchNorm", "x", *"gbmv", epsilon={"f": .01})], dict(zip("gbmv", (gain, bias, mean, variance))), x, picture=as_picture),
          (x - mean) / np.sqrt(variance + .01) * gain + bias)


@pytest.mark.parametrize("as_picture", [True, False])
def test_shapes(as_picture):
    x = picture()

    def check(wanted, nodes, **constants):
        close(run(nodes if isinstance(nodes, list) else [nodes], constants, x, picture=as_picture), wanted)
    check(x.reshape(1, 21, 9), node("Reshape", "x", "s"), s=np.array([1, -1, 9]))
    check(np.concatenate([x, x], 2), node("ConcatV2", "x", "x", "a"), a=np.array(2))
    check(np.concatenate([x, x], 3), node("ConcatV2", "x", "x", "a"), a=np.array(-1))
    check(x.mean((1, 2)), node("Mean", "x", "a"), a=np.array([1, 2]))
    check(x.mean((1, 2), keepdims=True), node("Mean", "x", "a", keep_dims={"b": True}), a=np.array([1, 2]))
    check(x.mean(3), node("Mean", "x", "a"), a=np.array([3]))
    check(np.pad(x, [(0, 0), (1, 2), (0, 3), (0, 1)]), node("Pad", "x", "p"), p=np.array([[0, 0], [1, 2], [0, 3], [0, 1]]))
    check(x.transpose(0, 2, 1, 3), node("Transpose", "x", "p"), p=np.array([0, 2, 1, 3]))
    check(x[:, 1:4, :, 2:], node("Slice", "x", "b", "s"), b=np.array([0, 1, 0, 2]), s=np.array([1, 3, -1, 1]))
    check(x[:, None], node("ExpandDims", "x", "a"), a=np.array(1))
    check(x[0], node("Squeeze", "x", squeeze_dims=ints(0)))
    check(np.stack([x, 2 * x], 1), [node("Pack", "x", "d", axis={"i": "1"}), node("Add", "x", "x", name="d")])
    check(x[:, 2], [node("Identity", "u:2"), node("Unpack", "x", name="u", axis={"i": "1"})])
    check(x.argmax(2), node("ArgMax", "x", "a"), a=np.array(2))
    check(x[[0, 0], [3, 1], [2, 8]], node("GatherNd", "x", "i"), i=np.array([[0, 3, 2], [0, 1, 8]]))
    check(np.argmax(x, 3) * 7 // 4 + 1.0, [node("Cast", "f", DstT={"type": "DT_FLOAT"}), node("AddV2", "q", "one", name="f"),
                                          node("FloorDiv", "m", "four", name="q"), node("Mul", "a", "seven", name="m"),
                                          node("ArgMax", "x", "three", name="a")], one=np.array(1), four=np.array(4), seven=np.array(7), three=np.array(3))


def test_what_is_constant_is_computed():
    """A shape that the graph would compute: [batch, -1] out of Shape, StridedSlice and Pack."""
    x = picture()
    got = run([node("Reshape", "x", "pack"), node("Pack", "first", "rest", name="pack", axis={"i": "0"}),
               node("StridedSlice", "shape", "zero", "one", "one", name="first", shrink_axis_mask={"i": "1"}), node("Shape", "x", name="shape")],
              {"rest": np.array(-1), "zero": np.array([0]), "one": np.array([1])}, x)
    close(got, x.reshape(1, -1))


def test_unknown_things_are_refused():
    with pytest.raises(Unsupported, match="Frobnicate"):
        run([node("Frobnicate", "x")], {}, picture())
    with pytest.raises(Unsupported, match="no node"):
        run([node("Relu", "absent")], {}, picture())
    with pytest.raises(Unsupported, match="pads"):
        run([node("Conv2D", "x", "w", strides=ints(1, 1, 1, 1), padding=text("EXPLICIT"))], {"w": picture(1, 1, 3, 3)}, picture())


def test_weights_are_read(tmp_path):
    a, b, c = picture(2, 3), np.array([5, -6], np.int32), np.array([0, 128, 255], np.uint8)
    data = a.astype(np.float16).tobytes() + b.tobytes() + c.tobytes()
    (tmp_path / "1").write_bytes(data[:7])
    (tmp_path / "2").write_bytes(data[7:])
    manifest = [{"paths": ["1", "2"], "weights": [
        {"name": "a", "shape": [2, 3], "dtype": "float32", "quantization": {"dtype": "float16", "original_dtype": "float32"}},
        {"name": "b", "shape": [2], "dtype": "int32"},
        {"name": "c", "shape": [3], "dtype": "float32", "quantization": {"dtype": "uint8", "scale": .5, "min": -1}}]}]
    read = tfjs.read_weights(json.loads(json.dumps({"weightsManifest": manifest})), tmp_path)
    close(read["a"], a.astype(np.float16).astype(np.float32))
    assert read["b"].tolist() == [5, -6] and read["c"].tolist() == [-1, 63, 126.5]
    (tmp_path / "2").write_bytes(data[7:] + b"more")
    with pytest.raises(Unsupported, match="4 bytes"):
        tfjs.read_weights({"weightsManifest": manifest}, tmp_path)
