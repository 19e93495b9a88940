"""Converts a graph model of TensorFlow.js (model.json and its shards) into an ONNX graph.

TensorFlow counts pictures as NHWC, ONNX convolves NCHW. Each value here knows in which of the two orders it is there;
a Transpose is written only where an operator needs the order that is missing. Shapes are static and in TensorFlow's
order; what depends on constants alone is computed now. The operators are the rows of tfjs_ops.OPERATORS.
"""

import base64
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graph import Graph

TO_NCHW, TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


class Unsupported(Exception):
    """The graph uses something that the converter does not know."""


@dataclass
class Value:
    shape: tuple[int, ...]
    array: np.ndarray | None = None  # of a constant
    nhwc: str | None = None          # the name in the ONNX graph, as TensorFlow counts; of any rank
    nchw: str | None = None          # the same in the other order; of rank 4 only
    whole: bool = False              # integers

    @property
    def is_constant(self) -> bool:
        return self.array is not None


def constant(array) -> Value:
    array = np.asarray(array)
    if array.dtype.kind in "iub":
        array = array.astype(np.int64)
    return Value(array.shape, array, whole=array.dtype.kind == "i")


class Node:
    """A node of model.json with its attributes in plain types."""

    def __init__(self, raw: dict):
        self.name, self.op = raw["name"], raw["op"]
        self.inputs = [i for i in raw.get("input", []) if not i.startswith("^")]
        self.raw = raw.get("attr", {})

    def text(self, name: str, fallback: str = "") -> str:
        return self._text(self.raw[name]["s"]) if name in self.raw else fallback

    @staticmethod
    def _text(s) -> str:
        return bytes(s).decode() if isinstance(s, list) else base64.b64decode(s).decode()

    def texts(self, name: str) -> list[str]:
        return [self._text(s) for s in self.raw.get(name, {}).get("list", {}).get("s", [])]

    def ints(self, name: str) -> list[int]:
        return [int(i) for i in self.raw.get(name, {}).get("list", {}).get("i", [])]

    def int(self, name: str, fallback: int = 0) -> int:
        return int(self.raw.get(name, {}).get("i", fallback))

    def float(self, name: str, fallback: float = 0) -> float:
        return float(self.raw.get(name, {}).get("f", fallback))

    def flag(self, name: str) -> bool:
        return bool(self.raw.get(name, {}).get("b", False))


def read_weights(model: dict, folder: Path) -> dict[str, np.ndarray]:
    out = {}
    for group in model["weightsManifest"]:
        data, at = b"".join((folder / path).read_bytes() for path in group["paths"]), 0
        for about in group["weights"]:
            quantized = about.get("quantization", {})
            dtype = np.dtype(quantized.get("dtype", about["dtype"])).newbyteorder("<")
            count = math.prod(about["shape"])
            array = np.frombuffer(data, dtype, count, at).reshape(about["shape"])
            at += count * dtype.itemsize
            if "scale" in quantized:
                array = array * np.float32(quantized["scale"]) + np.float32(quantized["min"])
            out[about["name"]] = array.astype(np.int64 if about["dtype"] == "int32" else np.float32)
        if at != len(data):
            raise Unsupported(f"{len(data) - at} bytes of weights that nothing describes")
    return out


class Converter:
    def __init__(self, graph: Graph, nodes: list[dict], weights: dict[str, np.ndarray]):
        self.graph = graph
        self.nodes = {raw["name"]: Node(raw) for raw in nodes}
        self.weights = weights
        self.values: dict[str, Value] = {}

    @classmethod
    def read(cls, graph: Graph, path: Path) -> "Converter":
        model = json.loads(path.read_text())
        return cls(graph, model["modelTopology"]["node"], read_weights(model, path.parent))

    def feed(self, node: str, value: Value) -> None:
        """The node's value comes from outside: what is before it is not looked at."""
        self.values[node] = value

    def feed_picture(self, node: str, name: str, height: int, width: int, batch="batch") -> None:
        self.graph.input(name, [batch, 3, height, width])
        self.feed(node, Value((1, height, width, 3), nchw=name))

    def get(self, name: str) -> Value:
        """The value of a node, "name" or "name:2"; converts what it needs first."""
        name = name.removesuffix(":0")
        waiting = [name]
        while waiting:
            node = self._node(waiting[-1])
            missing = [i for i in (i.removesuffix(":0") for i in node.inputs) if i not in self.values]
            if waiting[-1] in self.values or not missing:
                if waiting[-1] not in self.values:
                    self._convert(node)
                waiting.pop()
            else:
                waiting += missing
        return self.values[name]

    def _node(self, name: str) -> Node:
        name = name.split(":")[0]
        if name in self.values:
            return Node({"name": name, "op": "Done"})
        if name not in self.nodes:
            raise Unsupported(f"there is no node {name}")
        return self.nodes[name]

    def _convert(self, node: Node) -> None:
        from tfjs_ops import FOLDED, OPERATORS
        if node.op == "Const":
            self.values[node.name] = constant(self.weights[node.name])
            return
        inputs = [self.values[i.removesuffix(":0")] for i in node.inputs]
        if node.op in FOLDED and all(v.is_constant for v in inputs):
            made = constant(FOLDED[node.op](node, *(v.array for v in inputs)))
        elif node.op in OPERATORS:
            made = OPERATORS[node.op](self, node, *inputs)
        else:
            raise Unsupported(f"{node.name} is of the operator {node.op}")
        for i, value in enumerate(made if isinstance(made, list) else [made]):
            self.values[node.name if i == 0 else f"{node.name}:{i}"] = value

    def nhwc(self, value: Value) -> str:
        """The value's name in the graph, as TensorFlow counts."""
        if value.is_constant:
            return self.graph.constant(value.array if value.whole else value.array.astype(np.float32))
        if value.nhwc is None:
            value.nhwc = self.graph.op("Transpose", value.nchw, perm=list(TO_NHWC))
        return value.nhwc

    def nchw(self, value: Value) -> str:
        if value.is_constant:
            padded = value.array.reshape((1,) * (4 - value.array.ndim) + value.array.shape) if value.array.ndim else value.array
            turned = padded.transpose(TO_NCHW) if padded.ndim else padded
            return self.graph.constant(turned if value.whole else turned.astype(np.float32))
        if value.nchw is None:
            if len(value.shape) != 4:
                raise Unsupported(f"a value of rank {len(value.shape)} where a picture is expected")
            value.nchw = self.graph.op("Transpose", value.nhwc, perm=list(TO_NCHW))
        return value.nchw

    def aligned(self, values: list[Value]) -> tuple[list[str], bool]:
        """The names of values that meet in one operator, and whether they are in NCHW."""
        pictures = [v for v in values if not v.is_constant and len(v.shape) == 4]
        turned = any(v.nhwc is None for v in pictures) and all(v.is_constant or len(v.shape) == 4 for v in values)
        return [self.nchw(v) if turned else self.nhwc(v) for v in values], turned

    def made(self, shape, name: str, turned: bool = False, whole: bool = False) -> Value:
        shape = tuple(int(n) for n in shape)
        return Value(shape, nchw=name, whole=whole) if turned else Value(shape, nhwc=name, whole=whole)
