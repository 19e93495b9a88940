"""What detection and segmentation share: the neck on Lite0's maps, the size of the input, the slow thaw of the backbone."""

import torch
import torch.nn.functional as F
from torch import nn

from . import backbone, data, loop, machine, nodes, pictures

WIDTH = 96
ALWAYS_FROZEN = 3  # stem and blocks 0-2: edges and colours are the same everywhere
LONG = 416


class Mix(nn.Module):
    """A depthwise 5x5 and a 1x1 convolution."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.deep = nn.Conv2d(width, width, 5, padding=2, groups=width)
        self.flat = nn.Conv2d(width, width, 1)
        nn.init.kaiming_normal_(self.flat.weight, nonlinearity="relu")

    def forward(self, x):
        return F.relu(self.flat(self.deep(x)))


class Neck(nn.Module):
    """Maps from fine to coarse, to one map at the finest of them."""

    def __init__(self, channels: list) -> None:
        super().__init__()
        self.sides = nn.ModuleList(nn.Conv2d(c, WIDTH, 1) for c in channels)
        self.mean = nn.Conv2d(WIDTH, WIDTH, 1)
        self.mixes = nn.ModuleList(Mix() for _ in channels)

    def forward(self, maps: list):
        x = None
        for level in reversed(range(len(maps))):
            side = self.sides[level](maps[level])
            x = side + self.mean(side.mean((2, 3), keepdim=True)) if x is None else side + F.interpolate(x, scale_factor=2.0, mode="nearest")
            x = self.mixes[level](x)
        return x


class Base(nn.Module):
    """The backbone with its neck. `frozen` says how many of its blocks get no gradient."""

    def __init__(self, net: "backbone.Lite0 | None", first: int) -> None:
        super().__init__()
        self.learned = net is not None
        self.body = net if self.learned else backbone.Lite0()
        del self.body.head  # nothing here reads it
        self.first, self.frozen = first, len(self.body.blocks) if self.learned else 0
        self.neck = Neck(list(backbone.TAPS.values())[first:])

    def forward(self, x):
        return self.neck(self.body.taps(x, self.frozen)[self.first:])


def groups(net: nn.Module, base: Base, rate: float) -> list:
    """Parameters of the head at full rate, of the backbone at a twentieth of it."""
    inside = {id(p) for p in base.body.parameters()}
    late = [p for block in base.body.blocks[ALWAYS_FROZEN:] for p in block.parameters()] if base.learned else list(base.body.parameters())
    head = [p for p in net.parameters() if id(p) not in inside]
    return [{"params": head, "lr": rate, "weight_decay": 0.01},
            {"params": late, "lr": rate * (0.05 if base.learned else 0.5), "weight_decay": 0.01}]


def thaw(base: Base, job, share: float) -> "callable":
    """For loop.Plan.on_progress: the backbone joins in when the head has settled, after a share of the time; where most of it is over by then, it never does."""

    def check(progress: float) -> bool:
        if base.learned and not job.params.frozen and base.frozen > ALWAYS_FROZEN and progress >= share and share < 0.9:
            base.frozen = ALWAYS_FROZEN
            return True
        return False

    return check


def input_size(job) -> tuple:
    """(width, height), multiples of 32: the long side as asked or LONG, no larger than the pictures, their median aspect."""
    sizes = [s for s in (pictures.size_of(job.dataset, one) for one in job.parts["train"][:500]) if min(s) > 0] or [(LONG, LONG)]
    aspect = sorted(w / h for w, h in sizes)[len(sizes) // 2]
    biggest = sorted(max(s) for s in sizes)[len(sizes) // 2]
    long = job.params.size or min(LONG if job.clock.budget > 150 else 320, biggest)

    def up(value):
        return max(96, -(-int(value) // 32) * 32)

    return (up(long), up(long / aspect)) if aspect >= 1 else (up(long * aspect), up(long))


def plan(job, net: nn.Module, base: Base, count: int, loss, judge, stage: str, each: int, alone: float) -> loop.Plan:
    """`each`: bytes that a sample of a step takes. `alone`: the share of the time for which the head trains alone."""
    former = job.checkpoint.take("best")
    if former is not None:
        net.load_state_dict(former["net"])
    rate = 2e-3 * job.params.learning_rate * (0.3 if former else 1)
    return loop.Plan(net, groups(net, base, rate), count, int(nodes.agree(machine.fitting(job.params.batch or 4, each))), loss, judge, job.clock, job.checkpoint, stage,
                     epochs=job.params.epochs or 300, patience=25, warmup=20, on_progress=thaw(base, job, alone))


def counts_of(samples: list) -> int:
    return sum(len(one.shapes) for one in samples)


def readable(job, kept: list) -> None:
    from .errors import Refused

    if not kept:
        raise Refused("unreadable", "none of the pictures can be read", "没有一张图片可以读取")


def scale_of(job, one: data.Sample, picture) -> tuple:
    """Factors from the index's pixels to the decoded picture's, which may be a smaller one."""
    width, height = (one.width, one.height) if one.width and one.height else (picture.width, picture.height)
    return picture.width / width, picture.height / height
