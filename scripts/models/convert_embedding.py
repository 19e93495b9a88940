"""all-MiniLM-L6-v2: a BERT of 6 layers, its graph written here, its numbers from the safetensors file. The output is
one vector per token; their mean and its length are the reader's, as the manifest says."""

import numpy as np

from graph import INT64, Graph

HEADS, LAYERS, EPSILON = 12, 6, 1e-12


def build(weights: dict[str, np.ndarray], heads: int = HEADS, layers: int = LAYERS) -> Graph:
    g = Graph("all-minilm-l6-v2")
    left = dict(weights)
    left.pop("embeddings.position_ids", None)
    for name in ("pooler.dense.weight", "pooler.dense.bias"):  # of training, sentences do not use it
        left.pop(name, None)

    def weight(name: str) -> str:
        return g.constant(left.pop(name).astype(np.float32), name)

    def dense(x: str, name: str) -> str:
        kernel = g.constant(left.pop(name + ".weight").T.astype(np.float32), name + ".weight")
        return g.op("Add", g.op("MatMul", x, kernel), weight(name + ".bias"))

    def norm(x: str, name: str) -> str:
        return g.op("LayerNormalization", x, weight(name + ".weight"), weight(name + ".bias"), epsilon=EPSILON)

    def gelu(x: str) -> str:
        half, one = g.constant(np.float32(.5)), g.constant(np.float32(1))
        erf = g.op("Erf", g.op("Mul", x, g.constant(np.float32(np.sqrt(.5)))))
        return g.op("Mul", g.op("Mul", x, half), g.op("Add", erf, one))

    hidden = left["embeddings.word_embeddings.weight"].shape[1]
    ids, mask, types = (g.input(name, ["batch", "tokens"], INT64) for name in ("input_ids", "attention_mask", "token_type_ids"))
    zero, count = g.ints(0), g.op("Slice", g.op("Shape", ids), g.ints(1), g.ints(2))
    places = g.op("Slice", weight("embeddings.position_embeddings.weight"), zero, count, zero)
    x = g.op("Add", g.op("Gather", weight("embeddings.word_embeddings.weight"), ids),
             g.op("Gather", weight("embeddings.token_type_embeddings.weight"), types))
    x = norm(g.op("Add", x, places), "embeddings.LayerNorm")

    # 0 for tokens, a large negative number for padding, before the softmax of attention.
    absent = g.op("Sub", g.constant(np.float32(1)), g.op("Cast", mask, to=1))
    bias = g.op("Mul", g.op("Unsqueeze", absent, g.ints(1, 2)), g.constant(np.float32(-1e9)))
    split, whole = g.ints(0, 0, heads, hidden // heads), g.ints(0, 0, hidden)
    scale = g.constant(np.float32(1 / np.sqrt(hidden // heads)))
    for i in range(layers):
        name = f"encoder.layer.{i}"
        q, k, v = (g.op("Reshape", dense(x, f"{name}.attention.self.{part}"), split) for part in ("query", "key", "value"))
        q, v = (g.op("Transpose", part, perm=[0, 2, 1, 3]) for part in (q, v))
        k = g.op("Transpose", k, perm=[0, 2, 3, 1])
        scores = g.op("Softmax", g.op("Add", g.op("Mul", g.op("MatMul", q, k), scale), bias), axis=-1)
        seen = g.op("Reshape", g.op("Transpose", g.op("MatMul", scores, v), perm=[0, 2, 1, 3]), whole)
        x = norm(g.op("Add", dense(seen, f"{name}.attention.output.dense"), x), f"{name}.attention.output.LayerNorm")
        inner = dense(gelu(dense(x, f"{name}.intermediate.dense")), f"{name}.output.dense")
        x = norm(g.op("Add", inner, x), f"{name}.output.LayerNorm")
    g.output(x, "vectors", ["batch", "tokens", hidden])
    if left:
        raise ValueError(f"weights that the graph has no place for: {sorted(left)[:3]}")
    return g
