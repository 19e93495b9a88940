"""The walk over ONNX files and the manifest: summaries against onnx and numpy, refusals with field and rule."""

import copy
import json
import math
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import predict_models as make
import pytest
from conftest import BUILD
from onnx import TensorProto, helper, numpy_helper
from PIL import Image


ROOT = Path(__file__).resolve().parents[2]


def driver(*arguments, fails=False):
    run = subprocess.run([BUILD / "tests/infer/predict_driver", *map(str, arguments)], capture_output=True, text=True,
                         timeout=300)
    assert run.returncode == (1 if fails else 0), run.stdout + run.stderr
    return json.loads(run.stdout)


def weights(graph):
    """All initializers and constants that are numbers of the model, as numpy has them."""
    found = [numpy_helper.to_array(t) for t in graph.initializer]
    for node in graph.node:
        for a in node.attribute:
            found += [numpy_helper.to_array(a.t)] if a.type == onnx.AttributeProto.TENSOR and node.op_type == "Constant" else []
            found += weights(a.g) if a.type == onnx.AttributeProto.GRAPH else []
    return found


def network():
    """A small convolutional network with a free batch, as exporters write one: shapes computed in the graph."""
    g = make.Graph(1)
    x = g.node("Relu", g.conv("x", 8, 4))
    x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    depthwise = g.weight(g.random.normal(0, 1, (8, 1, 3, 3)))
    x = g.node("Conv", x, depthwise, group=8, pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    x = g.node("Resize", x, "", g.weight([1.0, 1.0, 2.0, 2.0]), mode="nearest")
    shape = g.node("Concat", g.node("Gather", g.node("Shape", x), g.weight([0], np.int64)), g.weight([-1], np.int64), axis=0)
    x = g.node("Reshape", x, shape)
    x = g.node("MatMul", x, g.weight(g.random.normal(0, 1, (8 * 8 * 8, 10))))
    g.node("Add", x, g.node("Constant", value=numpy_helper.from_array(np.ones(10, np.float32))), out="y")
    return helper.make_model(helper.make_graph(
        g.nodes, "net", [make.value("x", "FP32", ["batch", 3, 32, 32])], [make.value("y", "FP32", ["batch", 10])],
        initializer=g.weights), opset_imports=[helper.make_opsetid("", 17)], producer_name="test", producer_version="7")


def saved(path, model):
    path.write_bytes(model.SerializeToString())
    return path


def test_summary(tmp_path):
    model = network()
    got = driver("summary", saved(tmp_path / "m.onnx", model))
    assert got["parameters"] == sum(a.size for a in weights(model.graph) if a.dtype == np.float32)
    assert got["weight_bytes"] == sum(a.nbytes for a in weights(model.graph))
    assert got["inputs"] == [{"name": "x", "type": "float32", "shape": ["batch", 3, 32, 32]}]
    assert got["outputs"] == [{"name": "y", "type": "float32", "shape": ["batch", 10]}]
    assert got["opsets"] == {"ai.onnx": 17} and got["producer"] == "test" and got["producer_version"] == "7"
    counts = {}
    for node in model.graph.node:
        counts[node.op_type] = counts.get(node.op_type, 0) + 1
    assert {o["name"]: o["count"] for o in got["operators"]} == counts
    by_hand = 8 * 8 * 8 * 3 * 4 * 4 + 8 * 4 * 4 * 9 + 512 * 10
    assert got["multiply_adds"] == by_hand and got["assumed_batch"]
    assert sum(layer["parameters"] for layer in got["layers"]) == got["parameters"]


def shapes_of(model):
    inferred = onnx.shape_inference.infer_shapes(model)
    return {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*inferred.graph.value_info, *inferred.graph.output]}


@pytest.mark.parametrize("attributes", [
    {"strides": [2, 2], "pads": [1, 1, 1, 1]}, {"dilations": [2, 2]}, {"auto_pad": "SAME_UPPER", "strides": [3, 3]},
    {"auto_pad": "VALID", "strides": [2, 1]}])
@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_multiply_adds_of_convolutions(tmp_path, op, attributes):
    """Against the shapes that onnx infers."""
    if op == "ConvTranspose" and "auto_pad" in attributes:
        attributes = {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}
    w = numpy_helper.from_array(np.ones((4, 6, 3, 3) if op == "Conv" else (6, 4, 3, 3), np.float32), "w")
    node = helper.make_node(op, ["x", "w"], ["y"], kernel_shape=[3, 3], **attributes)
    model = helper.make_model(helper.make_graph([node], "g", [make.value("x", "FP32", [1, 6, 20, 23])],
                                                [make.value("y", "FP32", None)], [w]))
    shape = shapes_of(model)["y"]
    wanted = math.prod(shape) * 6 * 9 if op == "Conv" else 6 * 20 * 23 * 4 * 9
    assert driver("summary", saved(tmp_path / "m.onnx", model))["multiply_adds"] == wanted


def test_unknown_shapes_are_told(tmp_path):
    model = helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [make.value("x", "FP32", ["a", "b"])],
        [make.value("y", "FP32", None)], [numpy_helper.from_array(np.ones((4, 5), np.float32), "w")]))
    got = driver("summary", saved(tmp_path / "m.onnx", model))
    assert got["multiply_adds"] is None and got["nodes_unknown"] == 1


def external(tensor):
    tensor = copy.deepcopy(tensor)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return tensor


def hiding_places():
    bad = external(numpy_helper.from_array(np.ones(4, np.float32), "w"))
    plain = helper.make_node("Identity", ["x"], ["y"])
    x, y = make.value("x", "FP32", [4]), make.value("y", "FP32", [4])

    def model(nodes, **more):
        return helper.make_model(helper.make_graph(nodes, "g", [x], [y], **more))

    inner = helper.make_graph([plain], "inner", [], [y], initializer=[bad])
    sparse = helper.make_sparse_tensor(bad, numpy_helper.from_array(np.arange(4), "i"), [9])
    yield "initializer", model([plain], initializer=[bad])
    yield "sparse", model([plain], sparse_initializer=[sparse])
    yield "constant", model([helper.make_node("Constant", [], ["y"], value=bad)])
    yield "sparse-constant", model([helper.make_node("Constant", [], ["y"], sparse_value=sparse)])
    yield "subgraph", model([helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)])
    function = helper.make_function("d", "f", ["x"], ["y"], [helper.make_node("Constant", [], ["y"], value=bad)],
                                    [helper.make_opsetid("", 17)])
    m = model([helper.make_node("f", ["x"], ["y"], domain="d")])
    m.functions.append(function)
    yield "function", m
    m = model([plain])
    m.training_info.add().algorithm.CopyFrom(inner)
    yield "training", m
    only = copy.deepcopy(bad)
    del only.external_data[:]
    yield "location", model([plain], initializer=[only])
    yield "context", model([helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft", ep_cache_context="a.bin")])


@pytest.mark.parametrize("name,model", hiding_places(), ids=lambda v: v if isinstance(v, str) else "")
def test_external_data_is_refused(tmp_path, name, model):
    got = driver("summary", saved(tmp_path / "m.onnx", model), fails=True)
    assert got["code"] == "invalid" and got["field"] == "file" and "outside of itself" in got["error"]


def test_damage_is_refused(tmp_path):
    data = network().SerializeToString()
    path = tmp_path / "m.onnx"
    for end in [*range(0, 40), *range(40, len(data), 997)]:
        path.write_bytes(data[:end])
        assert driver("summary", path, fails=True)["code"] == "invalid"
    short = network()
    short.graph.initializer[0].raw_data = short.graph.initializer[0].raw_data[:-4]
    assert "other bytes" in driver("summary", saved(path, short), fails=True)["error"]
    deep = helper.make_graph([], "g", [], [])
    for _ in range(20):
        deep = helper.make_graph([helper.make_node("Loop", [], [], body=deep)], "g", [], [])
    assert "deep" in driver("summary", saved(path, helper.make_model(deep)), fails=True)["error"]


def test_compare(tmp_path):
    before, after = network(), network()
    a = saved(tmp_path / "a.onnx", before)
    assert driver("compare", a, a)["same_structure"]
    after.graph.node.append(helper.make_node("Softmax", ["y"], ["z"]))
    after.graph.output[0].name = "z"
    got = driver("compare", a, saved(tmp_path / "b.onnx", after))
    assert not got["same_structure"]
    assert got["operators"] == [{"name": "Softmax", "before": 0, "after": 1}]
    assert {(o["name"], o["before"] is None) for o in got["outputs"]} == {("y", False), ("z", True)}


# --- the manifest ---
@pytest.fixture(scope="module")
def good(tmp_path_factory):
    at = tmp_path_factory.mktemp("manifests")
    makers = {"class": make.image_class, "heat": make.heatmap, "anchors": make.anchors, "ocr": make.ocr, "points": make.points,
              "ngrams": make.ngrams, "audio": make.audio, "instances": make.instances}
    for name in makers:
        (at / name).mkdir()
    return {name: json.loads((makers[name](at / name) / "ingot-model.json").read_text()) for name in makers}


def test_manifest_comes_back(good, tmp_path):
    schema = driver("schema")
    for name, m in good.items():
        (tmp_path / "m.json").write_text(json.dumps(m))
        once = driver("manifest", tmp_path / "m.json")
        (tmp_path / "m.json").write_text(json.dumps(once))
        assert driver("manifest", tmp_path / "m.json") == once, name
        jsonschema.validate(m, schema)
        jsonschema.validate(once, schema)


def wrong(m, path, value):
    """A copy of the manifest with one value at path replaced, or taken away."""
    m = copy.deepcopy(m)
    at, *rest = m, *path
    for step in rest[:-1]:
        at = at[step]
    if value is None:
        del at[rest[-1]]
    else:
        at[rest[-1]] = value
    return m


@pytest.mark.parametrize("which,path,value,field", [
    ("class", ["task"], "dance", "task"),
    ("class", ["task"], None, "task"),
    ("class", ["ingot"], 2, "ingot"),
    ("class", ["parts", 0, "file"], "/etc/passwd", "parts[0].file"),
    ("class", ["parts", 0, "file"], "a/../b", "parts[0].file"),
    ("class", ["parts", 0, "name"], "Big", "parts[0].name"),
    ("class", ["parts"], [], "parts"),
    ("class", ["inputs", 0, "size"], [32], "inputs[0].size"),
    ("class", ["inputs", 0, "size"], [32, -1], "inputs[0].size[1]"),
    ("class", ["inputs", 0, "size"], [32, 2**63], "inputs[0].size[1]"),
    ("class", ["inputs", 0, "size"], None, "inputs[0].size"),
    ("class", ["inputs", 0, "size"], [0, 0], "inputs[0].longest"),
    ("class", ["inputs", 0, "fit"], "bend", "inputs[0].fit"),
    ("class", ["inputs", 0, "deviation"], 0, "inputs[0].deviation"),
    ("class", ["inputs", 0, "rate"], 8000, "inputs[0].rate"),
    ("class", ["inputs", 0, "kind"], "text", "inputs[0].size"),
    ("class", ["inputs", 0, "part"], "other", "inputs[0].part"),
    ("class", ["inputs", 0, "crop"], 0.5, "inputs[0].crop"),
    ("class", ["outputs", 0, "reading"], "boxes", "outputs"),
    ("class", ["outputs", 0, "reading"], "tea", "outputs[0].reading"),
    ("class", ["labels"], ["a", "a"], "labels[1]"),
    ("class", ["labels"], None, "labels"),
    ("class", ["labels"], ["x" * 201], "labels[0]"),
    ("class", ["thresholds"], {"score": 2}, "thresholds.score"),
    ("class", ["thresholds"], {"size": 1}, "thresholds"),
    ("class", ["most"], 0, "most"),
    ("class", ["color"], "red", "color"),
    ("heat", ["outputs", 1, "reading"], "offset", "outputs[1].unit"),
    ("anchors", ["outputs", 0, "anchors"], None, "outputs[0].anchors"),
    ("points", ["points"], None, "edges[0]"),
    ("points", ["edges"], [[0, 9]], "edges[0]"),
    ("ngrams", ["inputs", 0, "counts"], None, "inputs[0].counts"),
    ("ngrams", ["inputs", 0, "tokenizer"], "wordpiece", "inputs[0].vocab"),
    ("audio", ["inputs", 0, "rate"], 10, "inputs[0].rate"),
    ("ocr", ["outputs", 2, "characters"], 5, "outputs[2].characters"),
    ("ocr", ["inputs", 2, "part"], "detector", "inputs[2].part"),
])
def test_wrong_manifest_names_field_and_rule(good, tmp_path, which, path, value, field):
    (tmp_path / "m.json").write_text(json.dumps(wrong(good[which], path, value)))
    got = driver("manifest", tmp_path / "m.json", fails=True)
    assert got["code"] == "invalid" and got["field"] == field and got["error"], got


def test_guess(tmp_path):
    path = saved(tmp_path / "m.onnx", network())
    got = driver("guess", path)
    m = got["manifest"]
    assert m["task"] == "image-class" and len(m["labels"]) == 10
    assert m["inputs"][0] | {"scale": 0} == {"kind": "picture", "name": "x", "size": [32, 32], "scale": 0}
    assert set(got["asked"]) == {"inputs[0].mean", "labels"}
    (tmp_path / "m.json").write_text(json.dumps(m))
    driver("manifest", tmp_path / "m.json")
    for maker, task in ((make.argmax, "segmentation"), (make.yolo, "detection"), (make.ngrams, "text-class"),
                        (make.audio, "audio-class")):
        folder = tmp_path / task
        folder.mkdir()
        maker(folder)
        m = driver("guess", folder / "model.onnx")["manifest"]
        assert m["task"] == task
        (folder / "ingot-model.json").write_text(json.dumps(m))
        assert driver("manifest", folder / "ingot-model.json")["task"] == task


def test_guess_of_texts_boxes_and_several_files(tmp_path):
    """What a version's files show together; what is proposed is a manifest, and it fits the graphs."""
    def proposed(name, maker, *args, first="model.onnx"):
        folder = tmp_path / name
        folder.mkdir()
        maker(folder, *args)
        (folder / "ingot-model.json").unlink()
        files = sorted(folder.iterdir(), key=lambda f: (f.name != first, f.name))
        m = driver("guess", *files)["manifest"]
        (folder / "ingot-model.json").write_text(json.dumps(m))
        driver("manifest", folder / "ingot-model.json")
        return m, folder

    m, _ = proposed("words", make.wordpiece, ["a", "b"])
    assert m["inputs"] == [{"kind": "text", "name": "ids", "type": "int64", "tokenizer": "wordpiece", "vocab": "vocab.txt", "mask": "mask",
                            "length": 24, "pad_to_length": True}]
    m, _ = proposed("letters", make.token_vectors, ["a", "b"])
    assert (m["inputs"][0]["tokenizer"], m["inputs"][0]["vocab"], m["inputs"][0]["type"]) == ("characters", "chars.txt", "int32")
    m, _ = proposed("boxes", make.boxes_scores)
    assert m["task"] == "detection" and [o["reading"] for o in m["outputs"]][0] == "boxes" and len(m["outputs"]) == 2
    m, folder = proposed("ocr", make.ocr, first="recogniser.onnx")
    assert m["task"] == "ocr" and [p["file"] for p in m["parts"]] == ["detector.onnx", "classifier.onnx", "recogniser.onnx"]
    assert [(o["reading"], o["name"], o.get("activation")) for o in m["outputs"]] == [
        ("text-map", "map", "sigmoid"), ("softmax", "turned", None), ("ctc", "read", "softmax")]
    assert m["outputs"][2]["characters"] == "keys.txt" and [i["size"] for i in m["inputs"]] == [[0, 0], [24, 24], [0, 16]]
    picture = tmp_path / "a.png"
    Image.new("RGB", (96, 64), "white").save(picture)
    driver("predict", folder, "--", picture)
    # Two graphs that are no parts of one model: of the first one.
    other = driver("guess", tmp_path / "boxes/model.onnx", folder / "detector.onnx")["manifest"]
    assert other["task"] == "detection" and len(other["parts"]) == 1


def test_manifest_must_fit_the_graph(tmp_path):
    make.image_class(tmp_path)
    good = json.loads((tmp_path / "ingot-model.json").read_text())
    for path, value, field in ((["inputs", 0, "name"], "q", "inputs[0].name"), (["inputs", 0, "type"], "uint8", "inputs[0].type"),
                               (["inputs", 0, "size"], [16, 32], "inputs[0].size"),
                               (["outputs", 0, "name"], "q", "outputs[0].name")):
        (tmp_path / "ingot-model.json").write_text(json.dumps(wrong(good, path, value)))
        assert driver("predict", tmp_path, fails=True)["field"] == field


def test_examples_of_the_manual(tmp_path):
    """Every manifest in docs/models.md is one."""
    blocks = (ROOT / "docs/models.md").read_text().split("```json\n")[1:]
    assert len(blocks) >= 9
    schema = driver("schema")
    for block in blocks:
        text = block.split("```")[0]
        (tmp_path / "m.json").write_text(text)
        driver("manifest", tmp_path / "m.json")
        jsonschema.validate(json.loads(text), schema)
