"""py3langid: which language a text is in. Naive Bayes over sequences of bytes that an automaton finds; the automaton walks
inside of the graph (Scan), so that the program which runs it needs no knowledge of it.

The tokenizer gives one number per character, here a line of all characters of Unicode's first plane; a table turns it into
the bytes of UTF-8. Characters of other planes, and line ends, count as a space.
"""

import io
import lzma
from pathlib import Path

import numpy as np
from onnx import helper

from graph import FLOAT, INT64, Graph

NONE = 256  # in place of a byte: the automaton stays where it is
UNKNOWN, PADDING = "[UNK]", "[PAD]"


def characters() -> list[str]:
    """Lines of the vocabulary; a line end cannot be one."""
    return [UNKNOWN, PADDING, *(chr(c) for c in range(1, 0x10000) if not 0xD800 <= c < 0xE000 and c not in (10, 13))]


def bytes_of(lines: list[str]) -> np.ndarray:
    table = np.full((len(lines), 3), NONE, np.int32)
    for i, line in enumerate(lines[2:], 2):
        encoded = line.encode()
        table[i, :len(encoded)] = list(encoded)
    table[0, 0] = ord(" ")
    return table


def read(path: Path) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes())), allow_pickle=False) as data:
        return {name: data[name] for name in ("ptc", "pc", "classes", "nextmove", "nextmove_row", "out_feat")}


def _walk(g: Graph, data: dict[str, np.ndarray], letters: str) -> str:
    """The automaton's state after each byte, [batch, bytes]."""
    g.constant(data["nextmove"].astype(np.int32), "nextmove")
    g.constant(data["nextmove_row"].astype(np.int32), "row")
    body = Graph("walk", "walk_")
    state, letter = body.input("state", ["batch"], INT64), body.input("letter", ["batch"], INT64)
    row = body.op("Cast", body.op("Gather", "row", state), to=INT64)
    at = body.op("Add", body.op("Mul", row, body.constant(np.int64(256), "width")), body.op("Min", letter, body.constant(np.int64(255), "last")))
    moved = body.op("Cast", body.op("Gather", "nextmove", at), to=INT64)
    after = body.op("Where", body.op("Equal", letter, body.constant(np.int64(NONE), "none")), state, moved)
    body.output(after, "after", ["batch"], INT64)
    body.output(after, "told", ["batch"], INT64)
    first = g.op("Expand", g.constant(np.int64(0)), g.op("Slice", g.op("Shape", letters), g.ints(0), g.ints(1)))
    walked = g.op("Scan", first, letters, outputs=2, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], body=helper.make_graph(
        body.nodes, "walk", body.inputs, body.outputs, body.initializers()))
    return walked[1]


def build(data: dict[str, np.ndarray]) -> tuple[Graph, list[str]]:
    g = Graph("py3langid")
    features, languages = data["ptc"].shape
    names = [str(name) for name in data["classes"]]
    labels = list(dict.fromkeys(names))  # a language in two scripts is two columns

    ids = g.input("characters", ["batch", "length"], INT64)
    letters = g.op("Reshape", g.op("Gather", g.constant(bytes_of(characters()), "bytes"), ids), g.ints(0, -1))
    letters = g.op("Cast", letters, to=INT64)
    states = _walk(g, data, letters)

    # Which feature ends at each byte; a state that ends none, and what is no byte, give the one without weight.
    found = g.constant(np.where(data["out_feat"] < 0, features, data["out_feat"]).astype(np.int32), "feature")
    nothing = g.constant(np.int64(features))
    absent = g.op("Equal", letters, g.constant(np.int64(NONE)))
    feature = g.op("Where", absent, nothing, g.op("Cast", g.op("Gather", found, states), to=INT64))

    # A feature that occurs n times weighs ln(1 + n): each of its occurrences ln(1 + n) / n.
    shape = g.op("Concat", g.op("Slice", g.op("Shape", letters), g.ints(0), g.ints(1)), g.ints(features + 1), axis=0)
    zeros = g.op("ConstantOfShape", shape)
    ones = g.op("Cast", g.op("GreaterOrEqual", letters, g.constant(np.int64(0))), to=FLOAT)
    counts = g.op("GatherElements", g.op("ScatterElements", zeros, feature, ones, axis=1, reduction="add"), feature, axis=1)
    weights = g.op("Div", g.op("Log", g.op("Add", counts, g.constant(np.float32(1)))), counts)
    table = g.constant(np.concatenate([data["ptc"], np.zeros((1, languages), np.float16)]).astype(np.float16), "weights")
    rows = g.op("Cast", g.op("Gather", table, feature), to=FLOAT)
    score = g.op("Add", g.op("Squeeze", g.op("MatMul", g.op("Unsqueeze", weights, g.ints(1)), rows), g.ints(1)),
                 g.constant(data["pc"].astype(np.float32), "prior"))
    some = g.op("Cast", g.op("Less", g.op("ReduceMin", feature, axes=[1], keepdims=1), nothing), to=FLOAT)

    # Longer texts are not surer than they should be: divided by the root of their length.
    length = g.op("ReduceSum", g.op("Cast", g.op("Not", absent), to=FLOAT), g.ints(1), keepdims=1)
    score = g.op("Div", g.op("Mul", score, some), g.op("Sqrt", g.op("Max", length, g.constant(np.float32(1)))))
    same = np.array([[name == label for label in labels] for name in names], np.float32)
    share = g.op("MatMul", g.op("Softmax", score, axis=-1), g.constant(same, "same"))
    g.output(g.op("Log", g.op("Max", share, g.constant(np.float32(1e-30)))), "logits", ["batch", len(labels)])
    return g, labels
