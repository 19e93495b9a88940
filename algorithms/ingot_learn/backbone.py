"""EfficientNet-Lite0 with BatchNorm folded into its convolutions, and its weights out of the ONNX file of the built-in model
`imagenet-classifier`. Folded and without squeeze-excitation it trains on a CPU; strides of 2 pad as TensorFlow does."""

from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from .log import say

# (blocks, kernel, stride of the first, expansion, channels out), after a stem of 32 channels at half the size
STAGES = [(1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
          (1, 3, 1, 6, 320)]
FEATURES = 1280
SPLIT = 11  # blocks before this one are the trunk, whose output classification keeps in memory
TAPS = {2: 24, 4: 40, 10: 112, 15: 320}  # block: channels, at strides 4, 8, 16, 32


class Conv(nn.Module):
    """A convolution with TensorFlow's "same" padding and, unless it is a projection, ReLU6."""

    def __init__(self, inside: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1, act: bool = True) -> None:
        super().__init__()
        self.kernel, self.stride, self.act = kernel, stride, act
        self.conv = nn.Conv2d(inside, out, kernel, stride, padding=kernel // 2 if stride == 1 else 0, groups=groups)
        nn.init.kaiming_normal_(self.conv.weight, mode="fan_out")
        nn.init.zeros_(self.conv.bias)

    def forward(self, x):
        if self.stride > 1:
            pads = []
            for side in (int(x.shape[3]), int(x.shape[2])):
                total = max((-(-side // self.stride) - 1) * self.stride + self.kernel - side, 0)
                pads += [total // 2, total - total // 2]
            x = F.pad(x, pads)
        x = self.conv(x)
        return F.relu6(x) if self.act else x


class Block(nn.Module):
    def __init__(self, inside: int, out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inside * expansion
        layers = [Conv(inside, wide)] if expansion != 1 else []
        layers += [Conv(wide, wide, kernel, stride, groups=wide), Conv(wide, out, act=False)]
        self.layers, self.residual = nn.Sequential(*layers), stride == 1 and inside == out

    def forward(self, x):
        return self.layers(x) + x if self.residual else self.layers(x)


class Lite0(nn.Module):
    """Pixels as (value - 127) / 128."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Conv(3, 32, 3, 2)
        blocks, inside = [], 32
        for count, kernel, stride, expansion, out in STAGES:
            for i in range(count):
                blocks.append(Block(inside, out, kernel, stride if i == 0 else 1, expansion))
                inside = out
        self.blocks = nn.ModuleList(blocks)
        self.head = Conv(inside, FEATURES)

    def trunk(self, x):
        x = self.stem(x)
        for block in self.blocks[:SPLIT]:
            x = block(x)
        return x

    def top(self, x):
        for block in self.blocks[SPLIT:]:
            x = block(x)
        return self.head(x).mean((2, 3))

    def forward(self, x):
        return self.top(self.trunk(x))

    def taps(self, x, frozen: int = 0) -> list:
        """Maps at strides 4, 8, 16 and 32. The stem and the first `frozen` blocks get no gradient."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and frozen <= 0):
            x = self.stem(x)
        out = []
        for number, block in enumerate(self.blocks):
            with torch.set_grad_enabled(torch.is_grad_enabled() and number >= frozen):
                x = block(x)
            if number in TAPS:
                out.append(x)
        return out


def level(net: nn.Module, x: torch.Tensor, last: tuple = ()) -> None:
    """Makes a net without pretrained weights trainable without normalisation: one pass over a batch sets weights and biases
    so that each convolution's channels have mean 0 and deviation 1, as BatchNorm would. `last` are layers to be left alone."""
    def hook(conv, _, out):
        mean, deviation = out.mean((0, 2, 3)), out.std((0, 2, 3)) + 1e-2
        conv.weight.data /= deviation[:, None, None, None]
        conv.bias.data = (conv.bias.data - mean) / deviation
        return (out - mean[None, :, None, None]) / deviation[None, :, None, None]

    hooks = [m.register_forward_hook(hook) for m in net.modules() if isinstance(m, nn.Conv2d) and m not in last]
    with torch.no_grad():
        net(x)
    for one in hooks:
        one.remove()


def find(folder: "str | None") -> "Path | None":
    """The ONNX file of a base model: in the given folder, or below /workspace/model."""
    below = [Path(folder)] if folder else sorted(Path("/workspace/model").glob("*")) if Path("/workspace/model").is_dir() else []
    for place in below:
        for file in [place] if place.is_file() else sorted(place.glob("*.onnx")):
            return file
    return None


def convolutions(path: Path) -> list:
    """Weight and bias of each convolution of an ONNX graph, in its order, as arrays."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    arrays = {tensor.name: tensor for tensor in graph.initializer}
    out = []
    for node in graph.node:
        if node.op_type == "Conv" and all(name in arrays for name in node.input[1:]) and len(node.input) == 3:
            out.append(tuple(numpy_helper.to_array(arrays[name]).copy() for name in node.input[1:]))
    return out


def pretrained(path: "Path | None") -> "Lite0 | None":
    """None, and a line that says why, when there are no weights that fit."""
    if path is None:
        say("no base model: training from scratch, which needs many more samples")
        return None
    net = Lite0()
    own = [module.conv for module in net.modules() if isinstance(module, Conv)]
    try:
        given = convolutions(path)
    except Exception as error:  # whatever a protobuf that is none makes of its reader
        given = []
        say(f"the base model {path.name} cannot be read ({type(error).__name__})")
    if [tuple(w.shape) for w, _ in given] != [tuple(c.weight.shape) for c in own]:
        say(f"the base model {path.name} is no EfficientNet-Lite0: training from scratch, which needs many more samples")
        return None
    for conv, (weight, bias) in zip(own, given):
        conv.weight.data, conv.bias.data = torch.from_numpy(weight).float(), torch.from_numpy(bias).float()
    return net.to(memory_format=torch.channels_last)
