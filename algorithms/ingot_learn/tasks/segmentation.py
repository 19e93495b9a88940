"""Which pixel is of which label: Lite0's maps from stride 4 up, joined at stride 4, four times enlarged."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import backbone, dense, loop, masks, nodes, pictures, score
from ..errors import Refused, Stopped
from ..log import say
from ..result import Result

ROOM, MOST_LABELS, JUDGED = 1.25, 254, 100
STEP, STEP_LABEL = 700, 40  # bytes of memory that each pixel of a batch takes, and more for each label; measured


class Net(nn.Module):
    def __init__(self, net, classes: int) -> None:
        super().__init__()
        self.base = dense.Base(net, 0)
        self.mix, self.last = dense.Mix(), nn.Conv2d(dense.WIDTH, classes, 1)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.last.bias)

    def forward(self, x):
        return F.interpolate(self.last(self.mix(self.base(x))), scale_factor=4.0, mode="bilinear", align_corners=False)


class Pictures:
    """A part of the data, stretched to somewhat more than the input; and the class of each pixel."""

    def __init__(self, job, samples: list, width: int, height: int, share: float) -> None:
        self.job, self.width, self.height = job, width, height
        self.wide, self.high = int(width * ROOM), int(height * ROOM)
        self.store = pictures.Store(len(samples), (self.high, self.wide, 3))
        self.masks = pictures.Store(len(samples), (self.high, self.wide, 1))
        numbers = {label: i + 1 for label, i in job.numbers().items()}

        def put(i, one, picture):
            source = (one.width, one.height) if one.width and one.height else picture.size
            self.store.array[i] = pictures.resized(picture, self.wide, self.high)
            self.masks.array[i, :, :, 0] = masks.paint(one.shapes, numbers, source, (self.wide, self.high))

        self.samples = pictures.load(job, samples, put, job.clock.left() * share, max(self.wide, self.high))

    def plain(self, numbers) -> tuple:
        size = (self.height, self.width)
        x = F.interpolate(self.store[numbers].permute(0, 3, 1, 2).float(), size, mode="bilinear", antialias=True, align_corners=False)
        y = F.interpolate(self.masks[numbers].permute(0, 3, 1, 2).float(), size, mode="nearest")
        return pictures.normal(x.permute(0, 2, 3, 1)), y[:, 0].long()

    def bent(self, numbers, generator) -> tuple:
        strength = self.job.params.augmentation
        maps = pictures.bend(len(numbers), strength, self.job.params.flip, generator, (-0.35, 0.35), 0.12, 0.1, 0.2)
        x = pictures.light(pictures.warp(self.store[numbers], maps, self.height, self.width), strength, generator, 0.3, 20.0)
        y = pictures.warp(self.masks[numbers], maps, self.height, self.width, "nearest", 0.0)
        return pictures.normal(x), y[..., 0].round().long()


def loss_of(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Cross-entropy, and Dice over the classes that are there."""
    p = logits.softmax(1)
    hot = F.one_hot(wanted, logits.shape[1]).permute(0, 3, 1, 2).float()
    both, all_of = (p * hot).sum((0, 2, 3)), (p + hot).sum((0, 2, 3))
    there = hot.sum((0, 2, 3)) > 0
    dice = 1 - (2 * both + 1) / (all_of + 1)
    return F.cross_entropy(logits, wanted) + dice[there].mean()


def look(net: Net, part: Pictures, most: int) -> float:
    """mIoU of the labels, without the background."""
    classes = len(part.job.dataset.labels) + 1
    both, found, truth = (np.zeros(classes) for _ in range(3))
    with torch.no_grad():
        for i in range(min(len(part.samples), most)):
            x, wanted = part.plain(np.array([i]))
            said = net(x).argmax(1)
            both += np.bincount(said[said == wanted].numpy(), minlength=classes)
            found += np.bincount(said.flatten().numpy(), minlength=classes)
            truth += np.bincount(wanted.flatten().numpy(), minlength=classes)
    return score.mean_iou(both[1:], found[1:], truth[1:])


def alone(budget: float) -> float:
    """The share of the time for which the head trains alone: a quarter, at least a minute. In 180 s mIoU was .660 with a quarter and .651 with all of it, in 60 s .452 and .530."""
    return max(0.25, 60 / max(1.0, budget))


def annotation(job, logits: torch.Tensor, picture) -> dict:
    """A mask per label, in pixels of the picture."""
    p = F.interpolate(logits, (picture.height, picture.width), mode="bilinear", align_corners=False).softmax(1)[0]
    best, kind = p.max(0)
    shapes = []
    for number in sorted(set(kind.flatten().tolist()) - {0}):
        mask = kind == number
        shapes.append({"type": "mask", "label": job.dataset.labels[number - 1], "size": [picture.height, picture.width],
                       "counts": masks.pack(mask.numpy()), "score": round(float(best[mask].mean()), 6)})
    return {"shapes": shapes}


def train(job) -> Result:
    if job.clock.terminated:
        raise Stopped()
    if len(job.dataset.labels) > MOST_LABELS:
        raise Refused("labels", f"segmentation learns at most {MOST_LABELS} labels", f"分割最多支持 {MOST_LABELS} 个标签")
    width, height = dense.input_size(job)
    if not job.params.size and max(width, height) > 320:  # 320 was enough wherever it was tried, and is twice as quick
        width, height = (max(96, round(side * 320 / max(width, height) / 32) * 32) for side in (width, height))
    val = Pictures(job, job.parts["val"], width, height, 0.1)
    part = Pictures(job, job.parts["train"], width, height, 0.3)
    dense.readable(job, part.samples)
    val = val if val.samples else part
    net = Net(backbone.pretrained(job.base), len(job.dataset.labels) + 1).to(memory_format=torch.channels_last)
    generator = job.generator(3)
    if not net.base.learned:
        backbone.level(net, part.plain(np.arange(min(8, len(part.samples))))[0], (net.last,))
    say(f"input {width} x {height}, {len(part.samples)} pictures with {dense.counts_of(part.samples)} shapes")

    def loss(numbers):
        x, wanted = part.bent(numbers.numpy(), generator)
        return loss_of(net(x), wanted)

    def judge():
        figure = look(net, val, JUDGED)
        return figure, {"mIoU": figure}

    each = STEP + STEP_LABEL * (len(job.dataset.labels) + 1)
    loop.Loop(dense.plan(job, net, net.base, len(part.samples), loss, judge, "segmentation", each * width * height, alone(job.clock.budget)), job.params.seed).run()
    if nodes.first():
        job.checkpoint.end({"net": loop.snapshot(net)})
    figure = look(net, val, 20 if job.clock.terminated else 500)

    def find(samples):
        for one in samples:
            try:
                picture = pictures.decode(pictures.data.read_bytes(job.dataset, one))
            except (pictures.Unreadable, OSError):
                yield one, None
                continue
            x = torch.from_numpy(pictures.resized(picture, width, height).copy())[None]
            with torch.no_grad():
                yield one, annotation(job, net(pictures.normal(x)), picture)

    inputs = [{"kind": "picture", "name": "image", "size": [width, height], "mean": pictures.MEAN, "deviation": pictures.DEVIATION}]
    outputs = [{"reading": "argmax", "name": "logits", "background": 0, "activation": "softmax", "resample": "bilinear"}]
    return Result(net.eval(), (torch.zeros(1, 3, height, width),), inputs, outputs, (("image",), ("logits",)), metric="mIoU", figure=figure,
                  find=find, about=["Maps of EfficientNet-Lite0 joined at stride 4.", f"Input {width} x {height} pixels."])
