"""Tiny ONNX files, made here: each is a graph of a few nodes."""

import numpy as np
import onnx
from onnx import TensorProto, helper

TYPES = {
    "BOOL": TensorProto.BOOL, "UINT8": TensorProto.UINT8, "UINT16": TensorProto.UINT16, "UINT32": TensorProto.UINT32,
    "UINT64": TensorProto.UINT64, "INT8": TensorProto.INT8, "INT16": TensorProto.INT16, "INT32": TensorProto.INT32,
    "INT64": TensorProto.INT64, "FP16": TensorProto.FLOAT16, "BF16": TensorProto.BFLOAT16, "FP32": TensorProto.FLOAT,
    "FP64": TensorProto.DOUBLE, "BYTES": TensorProto.STRING,
}


def save(path, nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializer=list(initializers))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, TYPES[kind], shape)


def identity(path, kind="FP32", shape=("n", "m")):
    return save(path, [helper.make_node("Identity", ["x"], ["y"])], [value("x", kind, shape)], [value("y", kind, shape)])


def scale(path, factor):
    """y = x * factor: tells versions apart."""
    return save(path, [helper.make_node("Mul", ["x", "f"], ["y"])], [value("x", "FP32", ["n", 4])],
                [value("y", "FP32", ["n", 4])], [helper.make_tensor("f", TensorProto.FLOAT, [], [factor])])


def two(path):
    """Two inputs, two outputs: their sum and their difference."""
    ins = [value("a", "FP32", ["n", 3]), value("b", "FP32", ["n", 3])]
    outs = [value("sum", "FP32", ["n", 3]), value("difference", "FP32", ["n", 3])]
    return save(path, [helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Sub", ["a", "b"], ["difference"])],
                ins, outs)


def logarithm(path):
    """Of -1 it is NaN, of 0 an infinity."""
    return save(path, [helper.make_node("Log", ["x"], ["y"])], [value("x", "FP32", ["n"])], [value("y", "FP32", ["n"])])


def total(path):
    """Free first dimensions, but one row out of all: cannot share a run, which only the run shows."""
    return save(path, [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=1)], [value("x", "FP32", ["n", 2])],
                [value("y", "FP32", ["m", 2])], [helper.make_tensor("axes", TensorProto.INT64, [1], [0])])


def slow(path, side=256, times=60):
    """Some milliseconds of multiplying matrices, then the rows as they came."""
    rng = np.random.default_rng(1)
    weights = helper.make_tensor("w", TensorProto.FLOAT, [side, side],
                                 (rng.standard_normal((side, side)) / side**0.5).astype(np.float32).ravel())
    nodes = [helper.make_node("MatMul", ["x" if i == 0 else f"h{i}", "w"], [f"h{i + 1}"]) for i in range(times)]
    nodes += [helper.make_node("Mul", [f"h{times}", "zero"], ["nothing"]), helper.make_node("Add", ["nothing", "x"], ["y"])]
    return save(path, nodes, [value("x", "FP32", ["n", side])], [value("y", "FP32", ["n", side])],
                [weights, helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0])])


def external(path):
    """Weights in a file beside it."""
    tensor = helper.make_tensor("f", TensorProto.FLOAT, [1], [1.0])
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "../../etc/passwd"), ("offset", "0"), ("length", "4")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, text
    return save(path, [helper.make_node("Mul", ["x", "f"], ["y"])], [value("x", "FP32", ["n"])], [value("y", "FP32", ["n"])],
                [tensor])


assert onnx.__version__
