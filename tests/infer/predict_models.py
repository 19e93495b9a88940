"""Small models with manifests, one folder each: graphs of a few nodes with seeded weights, whose answers depend on the
whole of what they are given."""

import json

import numpy as np
from models import save, value
from onnx import helper, numpy_helper


class Graph:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights = [], []

    def weight(self, v, kind=np.float32):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(v, kind), name))
        return name

    def node(self, op, *inputs, out=None, **attributes):
        out = out or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [out], **attributes))
        return out

    def conv(self, x, channels, size, out=None, gain=1.0, source=3, bias=0.0, height=None):
        h = height or size
        w = self.random.normal(0, gain / np.sqrt(source * size * h), (channels, source, h, size))
        b = self.random.normal(bias, 0.1, channels)
        return self.node("Conv", x, self.weight(w), self.weight(b), out=out, strides=[h, size], kernel_shape=[h, size])

    def dense(self, x, n_in, n_out, out=None, gain=3.0):
        w = self.random.normal(0, gain / np.sqrt(n_in), (n_in, n_out))
        return self.node("Gemm", x, self.weight(w), self.weight(self.random.normal(0, 0.3, n_out)), out=out)

    def reshape(self, x, shape, out=None):
        return self.node("Reshape", x, self.weight(shape, np.int64), out=out)

    def features(self, x, side, source=3):
        """32 numbers of a picture of side x side."""
        x = self.node("Tanh", self.conv(x, 8, side // 2, gain=4, source=source))
        return self.reshape(x, [1, 32])

    def write(self, path, inputs, outputs):
        save(path, self.nodes, [value(n, k, s) for n, k, s in inputs], [value(n, k, s) for n, k, s in outputs], self.weights)


def manifest(folder, task, inputs, outputs, labels=(), parts=None, **more):
    m = {"ingot": 1, "task": task, "parts": parts or [{"name": "model", "file": "model.onnx"}], "inputs": inputs,
         "outputs": outputs} | more
    if labels:
        m["labels"] = list(labels)
    (folder / "ingot-model.json").write_text(json.dumps(m))
    return folder


FIVE = [f"class {i}" for i in range(5)]
NORMAL = {"scale": 1 / 255, "mean": [0.485, 0.456, 0.406], "deviation": [0.229, 0.224, 0.225]}


def picture_input(w, h, **more):
    return {"name": "x", "kind": "picture", "size": [w, h], **NORMAL, **more}


def image_class(folder, task="image-class", reading="softmax", side=32, source=3, shape=None, **prepare):
    g = Graph(len(folder.name))
    x = "x" if shape is None else g.node("Transpose", "x", perm=[0, 3, 1, 2])
    g.dense(g.features(x, side, source), 32, 5, out="y")
    g.write(folder / "model.onnx", [("x", "FP32", shape or [1, source, side, side])], [("y", "FP32", [1, 5])])
    return manifest(folder, task, [picture_input(side, side, **prepare)], [{"name": "y", "reading": reading}], FIVE)


def heatmap(folder, wh=False):
    g = Graph(7)
    g.conv("x", 3, 8, out="heat", gain=2, bias=-1)
    if wh:
        g.node("Exp", g.conv("x", 2, 8, gain=0.5, bias=1), out="size")
        g.node("Sigmoid", g.conv("x", 2, 8), out="offset")
    else:
        g.node("Mul", g.node("Exp", g.conv("x", 4, 8, gain=0.5, bias=0.5)), g.weight([8.0]), out="size")
    outs = [("heat", "FP32", [1, 3, 12, 16]), ("size", "FP32", [1, 2 if wh else 4, 12, 16])]
    readings = [{"name": "heat", "reading": "heatmap", "activation": "sigmoid"},
                {"name": "size", "reading": "wh" if wh else "ltrb", "unit": "cells" if wh else "pixels"}]
    if wh:
        outs.append(("offset", "FP32", [1, 2, 12, 16]))
        readings.append({"name": "offset", "reading": "offset"})
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 96, 128])], outs)
    return manifest(folder, "detection", [picture_input(128, 96, fit="letterbox", align="top-left", pad=114)], readings,
                    FIVE[:3], thresholds={"score": 0.3})


def box_rows(g, out=None):
    """[1,4,48] of cx, cy, w, h in pixels of 64 x 48, from a picture of that size."""
    xy = g.reshape(g.node("Sigmoid", g.conv("x", 2, 8)), [1, 2, 48])
    wh = g.reshape(g.node("Exp", g.conv("x", 2, 8, gain=0.5, bias=2)), [1, 2, 48])
    return g.node("Concat", g.node("Mul", xy, g.weight(np.array([[[64.0], [48.0]]]))), wh, axis=1, out=out)


def yolo(folder, objectness=False):
    g = Graph(8)
    scores = g.reshape(g.node("Sigmoid", g.conv("x", 5 + objectness, 8, gain=2)), [1, 5 + objectness, 48])
    whole = g.node("Concat", box_rows(g), scores, axis=1, out=None if objectness else "y")
    n = 9 + objectness
    if objectness:
        g.node("Transpose", whole, perm=[0, 2, 1], out="y")
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 48, 64])], [("y", "FP32", [1, 48, n] if objectness else [1, n, 48])])
    out = {"name": "y", "reading": "rows", "format": "cxcywh", "transposed": not objectness, "objectness": objectness}
    return manifest(folder, "detection", [picture_input(64, 48, fit="letterbox")], [out], FIVE,
                    thresholds={"score": 0.4 if objectness else 0.6, "iou": 0.5}, per_class=objectness)


def boxes_scores(folder):
    g = Graph(9)
    g.node("Div", g.node("Transpose", box_rows(g), perm=[0, 2, 1]), g.weight([64.0, 48.0, 64.0, 48.0]), out="boxes")
    g.node("Transpose", g.reshape(g.conv("x", 6, 8, gain=3), [1, 6, 48]), perm=[0, 2, 1], out="scores")
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 48, 64])],
            [("boxes", "FP32", [1, 48, 4]), ("scores", "FP32", [1, 48, 6])])
    return manifest(folder, "detection", [picture_input(64, 48)],
                    [{"name": "boxes", "reading": "boxes", "format": "cxcywh", "unit": "normalized"},
                     {"name": "scores", "reading": "softmax", "background": 0}], FIVE, thresholds={"score": 0.4})


def anchors(folder):
    g = Graph(10)
    g.node("Transpose", g.reshape(g.conv("x", 4, 8), [1, 4, 48]), perm=[0, 2, 1], out="boxes")
    g.node("Transpose", g.reshape(g.conv("x", 6, 8, gain=3), [1, 6, 48]), perm=[0, 2, 1], out="scores")
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 48, 64])],
            [("boxes", "FP32", [1, 48, 4]), ("scores", "FP32", [1, 48, 6])])
    a = np.concatenate([g.random.uniform(0, 1, (48, 2)), g.random.uniform(0.1, 0.5, (48, 2))], 1)
    a.astype("<f4").tofile(folder / "anchors.bin")
    return manifest(folder, "detection", [picture_input(64, 48)],
                    [{"name": "boxes", "reading": "anchors", "format": "yxyx", "variances": [0.1, 0.1, 0.2, 0.2],
                      "anchors": "anchors.bin"}, {"name": "scores", "reading": "sigmoid", "background": 5}], FIVE,
                    thresholds={"score": 0.8})


def argmax(folder, resample="nearest", **prepare):
    g = Graph(11)
    g.conv("x", 4, 4, out="y", gain=2)
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 48, 64])], [("y", "FP32", [1, 4, 12, 16])])
    return manifest(folder, "segmentation", [picture_input(64, 48, **prepare)],
                    [{"name": "y", "reading": "argmax", "resample": resample, "activation": "softmax", "background": 0}],
                    FIVE[:3])


def masks(folder):
    g = Graph(12)
    g.conv("x", 2, 4, out="y", gain=4)
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 48, 64])], [("y", "FP32", [1, 2, 12, 16])])
    return manifest(folder, "segmentation", [picture_input(64, 48, fit="letterbox")],
                    [{"name": "y", "reading": "mask", "resample": "bilinear", "activation": "sigmoid"}], FIVE[:2])


def instances(folder):
    g = Graph(13)
    g.node("Transpose", g.reshape(box_rows(g), [4, 48]), perm=[1, 0], out="boxes")
    g.reshape(g.node("Sigmoid", g.conv("x", 1, 8, gain=2)), [48], out="scores")
    g.node("Cast", g.node("Mul", g.reshape(g.node("Sigmoid", g.conv("x", 1, 8)), [48]), g.weight([3.99])), to=7, out="classes")
    g.reshape(g.node("Sigmoid", g.conv("x", 36, 8, gain=4)), [48, 1, 6, 6], out="masks")
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 48, 64])],
            [("boxes", "FP32", [48, 4]), ("scores", "FP32", [48]), ("classes", "INT64", [48]), ("masks", "FP32", [48, 1, 6, 6])])
    return manifest(folder, "segmentation", [picture_input(64, 48)],
                    [{"name": "boxes", "reading": "boxes", "format": "cxcywh"}, {"name": "scores", "reading": "scores"},
                     {"name": "classes", "reading": "classes", "background": 0},
                     {"name": "masks", "reading": "mask", "frame": "box"}], FIVE[:3], thresholds={"score": 0.6})


def points(folder):
    g = Graph(14)
    g.reshape(g.node("Sigmoid", g.dense(g.features("x", 32), 32, 12)), [1, 4, 3], out="y")
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 32, 32])], [("y", "FP32", [1, 4, 3])])
    return manifest(folder, "keypoints", [picture_input(32, 32)],
                    [{"name": "y", "reading": "points", "unit": "normalized", "yx": True}], ["person"],
                    points=["a", "b", "c", "d"], edges=[[0, 1]], thresholds={"score": 0.1, "point": 0.2})


def point_maps(folder):
    g = Graph(15)
    g.conv("x", 4, 4, out="y", gain=2)
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 48, 64])], [("y", "FP32", [1, 4, 12, 16])])
    return manifest(folder, "keypoints", [picture_input(64, 48)],
                    [{"name": "y", "reading": "point-maps", "activation": "sigmoid", "refine": True}], ["person"],
                    points=["a", "b", "c", "d"])


def ngrams(folder):
    g = Graph(16)
    table = np.zeros((2**18 + 1, 3), np.float32)
    table[:-1] = g.random.normal(0, 1, (2**18, 3))
    at = g.node("Gather", g.weight(table), "index")
    count = g.node("Unsqueeze", "count", g.weight([2], np.int64))
    g.node("Mul", g.node("ReduceSum", g.node("Mul", at, count), g.weight([1], np.int64), keepdims=0), g.weight([0.03]), out="y")
    g.write(folder / "model.onnx", [("index", "INT64", [1, "k"]), ("count", "FP32", [1, "k"])], [("y", "FP32", [1, 3])])
    return manifest(folder, "text-class", [{"name": "index", "kind": "text", "tokenizer": "ngrams", "counts": "count"}],
                    [{"name": "y", "reading": "softmax"}], FIVE[:3])


def embedded(g, size, mask):
    at = g.node("Gather", g.weight(g.random.normal(0, 1, (size, 16))), "ids")
    places = g.node("Unsqueeze", g.node("Cast", mask, to=1), g.weight([2], np.int64)) if mask else None
    return g.node("Mul", at, places) if mask else at


def wordpiece(folder, words):
    g = Graph(17)
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n")
    x = g.node("ReduceSum", embedded(g, len(vocab), "mask"), g.weight([1], np.int64), keepdims=0)
    g.dense(x, 16, 5, out="y", gain=1)
    g.write(folder / "model.onnx", [("ids", "INT64", [1, 24]), ("mask", "INT64", [1, 24])], [("y", "FP32", [1, 5])])
    return manifest(folder, "text-class", [{"name": "ids", "kind": "text", "tokenizer": "wordpiece", "vocab": "vocab.txt",
                                            "mask": "mask", "length": 24, "pad_to_length": True}],
                    [{"name": "y", "reading": "sigmoid"}], FIVE)


def token_vectors(folder, words):
    g = Graph(18)
    vocab = ["[PAD]", "[UNK]", *words]
    (folder / "chars.txt").write_text("\n".join(vocab))
    g.node("Tanh", embedded(g, len(vocab), None), out="y")
    g.write(folder / "model.onnx", [("ids", "INT32", [1, 40])], [("y", "FP32", [1, 40, 16])])
    return manifest(folder, "embedding", [{"name": "ids", "kind": "text", "type": "int32", "tokenizer": "characters",
                                           "vocab": "chars.txt", "length": 40, "pad_to_length": True}],
                    [{"name": "y", "reading": "vector", "pooling": "mean", "normalize": True}])


def picture_vector(folder):
    g = Graph(19)
    g.conv("x", 8, 8, out="y")
    g.write(folder / "model.onnx", [("x", "FP32", [1, 3, 32, 32])], [("y", "FP32", [1, 8, 4, 4])])
    return manifest(folder, "embedding", [picture_input(32, 32, fit="crop", crop=0.875)],
                    [{"name": "y", "reading": "vector", "pooling": "mean"}])


def audio(folder):
    g = Graph(20)
    x = g.reshape("x", [1, 1, 1, 4000])
    x = g.conv(x, 8, 80, source=1, gain=10, height=1)
    x = g.node("ReduceMean", g.node("Abs", x), axes=[2, 3], keepdims=0)
    g.dense(x, 8, 5, out="y", gain=10)
    g.write(folder / "model.onnx", [("x", "FP32", [1, 4000])], [("y", "FP32", [1, 5])])
    return manifest(folder, "audio-class", [{"name": "x", "kind": "sound", "rate": 8000, "samples": 4000}],
                    [{"name": "y", "reading": "softmax"}], FIVE)


CHARACTERS = "abcdefghij字符"


def ocr(folder):
    g = Graph(21)
    dark = g.node("ReduceMean", "x", axes=[1], keepdims=1)
    g.node("Sub", g.weight([1.0]), dark, out="map")
    g.write(folder / "detector.onnx", [("x", "FP32", [1, 3, "h", "w"])], [("map", "FP32", [1, 1, "h", "w"])])
    g = Graph(22)
    g.dense(g.reshape(g.conv("x", 8, 12, height=12), [1, 32]), 32, 2, out="turned", gain=20)
    g.write(folder / "classifier.onnx", [("x", "FP32", [1, 3, 24, 24])], [("turned", "FP32", [1, 2])])
    g = Graph(23)
    x = g.conv("x", len(CHARACTERS) + 2, 4, gain=4, height=16)
    x = g.node("Transpose", g.node("Squeeze", x, g.weight([2], np.int64)), perm=[0, 2, 1], out="read")
    g.write(folder / "recogniser.onnx", [("x", "FP32", [1, 3, 16, "w"])], [("read", "FP32", [1, "t", len(CHARACTERS) + 2])])
    (folder / "keys.txt").write_text("\n".join(CHARACTERS) + "\n")
    plain = {"name": "x", "kind": "picture", "scale": 1 / 255}
    parts = [{"name": n, "file": f"{n}.onnx"} for n in ("detector", "classifier", "recogniser")]
    return manifest(folder, "ocr", [plain | {"part": "detector", "size": [0, 0], "longest": 160, "multiple": 16},
                                    plain | {"part": "classifier", "size": [24, 24], "mean": 0.5},
                                    plain | {"part": "recogniser", "size": [0, 16], "multiple": 4, "range": [16, 320],
                                             "mean": 0.5, "fit": "letterbox", "align": "top-left", "pad": 127}],
                    [{"name": "map", "part": "detector", "reading": "text-map"},
                     {"name": "turned", "part": "classifier", "reading": "softmax"},
                     {"name": "read", "part": "recogniser", "reading": "ctc", "activation": "softmax",
                      "characters": "keys.txt", "space": True}], parts=parts)
