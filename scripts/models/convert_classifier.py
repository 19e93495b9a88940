"""EfficientNet-Lite0: the graph is written here from the published architecture, the numbers come from the .pth.

Batch normalisation is folded into the convolutions before it. Strides of 2 pad as TensorFlow does ("SAME", the odd
pixel at the end).
"""

import json

import numpy as np

from graph import Graph
from weights import read_pth

# (blocks, kernel, stride of the first, expansion, channels out); the stem gives 32 channels at half the size.
STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
          (1, 3, 1, 6, 320)]
SIZE, EPSILON = 224, 1e-3


def build(weights: dict[str, np.ndarray], size: int = SIZE) -> Graph:
    g = Graph("efficientnet-lite0")
    left = dict(weights)

    def conv(x: str, name: str, norm: str, side: int, stride: int = 1, act: bool = True) -> str:
        kernel = left.pop(name + ".weight").astype(np.float64)
        gain, bias, mean, variance = (left.pop(f"{norm}.{part}").astype(np.float64)
                                      for part in ("weight", "bias", "running_mean", "running_var"))
        left.pop(norm + ".num_batches_tracked", None)
        gain = gain / np.sqrt(variance + EPSILON)
        k = kernel.shape[2]
        out = -(-side // stride)
        total = max((out - 1) * stride + k - side, 0)
        pads = [total // 2] * 2 + [total - total // 2] * 2
        x = g.op("Conv", x, g.constant((kernel * gain[:, None, None, None]).astype(np.float32), name + ".weight"),
                 g.constant((bias - mean * gain).astype(np.float32), name + ".bias"), strides=[stride, stride], pads=pads,
                 group=kernel.shape[0] if kernel.shape[1] == 1 else 1, kernel_shape=[k, k])
        if not act:
            return x
        return g.op("Clip", x, g.constant(np.float32(0), "zero"), g.constant(np.float32(6), "six"))

    x, side, channels, block = g.input("image", ["batch", 3, size, size]), size, 32, 0
    x, side = conv(x, "_conv_stem", "_bn0", side, 2), -(-side // 2)
    for count, _, first_stride, expansion, out in STAGES:
        for i in range(count):
            stride, before, name = first_stride if i == 0 else 1, x, f"_blocks.{block}"
            if expansion != 1:
                x = conv(x, name + "._expand_conv", name + "._bn0", side)
            x = conv(x, name + "._depthwise_conv", name + "._bn1", side, stride)
            side = -(-side // stride)
            x = conv(x, name + "._project_conv", name + "._bn2", side, act=False)
            if stride == 1 and channels == out:
                x = g.op("Add", x, before)
            channels, block = out, block + 1
    x = conv(x, "_conv_head", "_bn1", side)
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    fc, bias = left.pop("_fc.weight"), left.pop("_fc.bias")
    x = g.op("Gemm", x, g.constant(fc, "_fc.weight"), g.constant(bias, "_fc.bias"), transB=1)
    g.output(x, "logits", ["batch", len(bias)])
    if left:
        raise ValueError(f"weights that the graph has no place for: {sorted(left)[:3]}")
    return g


def class_names(text: str) -> list[str]:
    """The first name of each class, {"0": "tench, Tinca tinca", ...}; the second of two equal ones gets its number."""
    table = json.loads(text)
    names = [table[str(i)].split(",")[0].strip() for i in range(len(table))]
    return [name if name not in names[:i] else f"{name} ({i})" for i, name in enumerate(names)]
