"""A small writer of ONNX graphs: operators are appended one after the other, each gives the name of its output.

The same calls give the same bytes, so a model that is made again is the same version.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 17, 8
FLOAT, INT32, INT64, UINT8 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8


class Graph:
    def __init__(self, name: str, prefix: str = ""):
        """prefix: of the names of a graph inside of another, which must differ from that one's."""
        self.name, self.prefix = name, prefix
        self.nodes, self.inputs, self.outputs, self.constants = [], [], [], {}

    def input(self, name: str, shape: list, kind: int = FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, value: str, name: str, shape: list, kind: int = FLOAT) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def constant(self, array: np.ndarray, name: str | None = None) -> str:
        """Equal arrays without a name are stored once."""
        array = np.array(array, order="C")  # ascontiguousarray would make a list of a single number
        key = name or (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = (name or f"c{len(self.constants)}", array)
        return self.constants[key][0]

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, *inputs: str, outputs: int = 1, name: str | None = None, **attributes):
        made = name or f"{self.prefix}{kind}_{len(self.nodes)}"
        names = [made] if outputs == 1 else [f"{made}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=made, **attributes))
        return names[0] if outputs == 1 else names

    def initializers(self) -> list[TensorProto]:
        return [numpy_helper.from_array(array, name) for name, array in self.constants.values()]

    def model(self, producer: str) -> onnx.ModelProto:
        initializers = self.initializers()
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, initializers)
        model = helper.make_model(graph, producer_name=producer, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR
        inner = [a.g for node in self.nodes for a in node.attribute if a.HasField("g")]
        used = {name for graph in (self, *inner) for node in (graph.nodes if graph is self else graph.node) for name in node.input}
        assert all(i.name in used for i in initializers), "a constant that nothing uses"
        onnx.checker.check_model(model)
        return model

    def save(self, path, producer: str = "ingot") -> None:
        path.write_bytes(self.model(producer).SerializeToString(deterministic=True))
