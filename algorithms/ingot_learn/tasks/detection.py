"""Boxes: one map of centres at stride 8 with the distances to the four sides, in the manner of TTFNet, on Lite0."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import backbone, dense, loop, nodes, pictures, score
from ..errors import Stopped
from ..log import say
from ..result import Result

STRIDE, ROOM, SPREAD = 8, 1.25, 0.54
LOW, OVERLAP, MOST = 0.02, 0.6, 300
STEP = 750  # bytes of memory that each pixel of a batch takes, measured
JUDGED = 100  # pictures of the validation part for each judgement


class Net(nn.Module):
    def __init__(self, net, classes: int) -> None:
        super().__init__()
        self.base = dense.Base(net, 1)
        self.mix = nn.Sequential(dense.Mix(), dense.Mix())
        self.heat, self.sides = nn.Conv2d(dense.WIDTH, classes, 1), nn.Conv2d(dense.WIDTH, 4, 1)
        nn.init.normal_(self.heat.weight, std=0.01)
        nn.init.normal_(self.sides.weight, std=0.01)
        nn.init.constant_(self.heat.bias, -math.log(99))
        nn.init.zeros_(self.sides.bias)

    def forward(self, x):
        """Logits, and left, top, right, bottom in pixels of the input."""
        x = self.mix(self.base(x))
        return self.heat(x), torch.exp(self.sides(x).clamp(-5, 4.2)) * (4 * STRIDE)


class Written(nn.Module):
    """As it is exported: scores of peaks, and distances."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, x):
        heat, sides = self.net(x)
        heat = torch.sigmoid(heat)
        return heat * (heat == F.max_pool2d(heat, 3, 1, 1)).float(), sides


# --- what the net should say ---
def paint(boxes: np.ndarray, kinds: np.ndarray, classes: int, width: int, height: int) -> tuple:
    """heat [C,h,w], distances' box [4,h,w] and weight [h,w] of one picture; boxes are x0, y0, x1, y1 of the input."""
    w, h = width // STRIDE, height // STRIDE
    heat, target, weight = np.zeros((classes, h, w), np.float32), np.zeros((4, h, w), np.float32), np.zeros((h, w), np.float32)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for i in np.argsort(-area):  # small ones last, over the large
        x0, y0, x1, y1 = boxes[i] / STRIDE
        cx, cy = min(int((x0 + x1) / 2), w - 1), min(int((y0 + y1) / 2), h - 1)
        rx, ry = int((x1 - x0) / 2 * SPREAD), int((y1 - y0) / 2 * SPREAD)
        sx, sy = (2 * rx + 1) / 6, (2 * ry + 1) / 6
        left, right, top, bottom = max(0, cx - rx), min(w, cx + rx + 1), max(0, cy - ry), min(h, cy + ry + 1)
        gx = np.exp(-((np.arange(left, right) - cx) ** 2) / (2 * sx * sx))
        gy = np.exp(-((np.arange(top, bottom) - cy) ** 2) / (2 * sy * sy))
        g = (gy[:, None] * gx[None]).astype(np.float32)
        spot = heat[kinds[i], top:bottom, left:right]
        np.maximum(spot, g, out=spot)
        target[:, top:bottom, left:right] = boxes[i][:, None, None]
        weight[top:bottom, left:right] = g / g.sum() * math.log(max(area[i], math.e))
    return heat, target, weight


def loss_of(heat, sides, target, boxes, weight) -> torch.Tensor:
    """CenterNet's focal loss over objects, and 5 times the weighted GIoU loss."""
    p = torch.sigmoid(heat).clamp(1e-4, 1 - 1e-4)
    there = (target == 1).float()
    focal = -(there * (1 - p) ** 2 * torch.log(p) + (1 - there) * (1 - target) ** 4 * p ** 2 * torch.log(1 - p)).sum()
    focal = focal / there.sum().clamp(min=1)
    some = weight > 0
    if not some.any():
        return focal
    n, _, h, w = sides.shape
    x = (torch.arange(w) + 0.5)[None, None].expand(n, h, w) * STRIDE
    y = (torch.arange(h) + 0.5)[None, :, None].expand(n, h, w) * STRIDE
    found = torch.stack([x - sides[:, 0], y - sides[:, 1], x + sides[:, 2], y + sides[:, 3]], 1)
    a, b = (t.permute(0, 2, 3, 1)[some] for t in (found, boxes))
    both = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(1)
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).clamp(min=1e-6).prod(1)
    union = (a[:, 2:] - a[:, :2]).prod(1) + (b[:, 2:] - b[:, :2]).prod(1) - both
    giou = both / union.clamp(min=1e-6) - (hull - union) / hull
    return focal + 5 * ((1 - giou) * weight[some]).sum() / weight[some].sum()


# --- what it says ---
def suppress(boxes: np.ndarray, scores: np.ndarray) -> list:
    order, kept = np.argsort(-scores, kind="stable"), []
    while len(order):
        kept.append(order[0])
        if len(order) == 1:
            break
        order = order[1:][score.overlap(boxes[order[:1]], boxes[order[1:]])[0] <= OVERLAP]
    return kept


def decode(heat: np.ndarray, sides: np.ndarray, least: float = LOW) -> tuple:
    """(boxes, labels, scores) of one picture, in pixels of the input; heat has only peaks."""
    kind, row, column = np.nonzero(heat > least)
    scores = heat[kind, row, column]
    best = np.argsort(-scores, kind="stable")[:MOST]
    kind, row, column, scores = kind[best], row[best], column[best], scores[best]
    x, y, d = (column + 0.5) * STRIDE, (row + 0.5) * STRIDE, sides[:, row, column]
    boxes = np.stack([x - d[0], y - d[1], x + d[2], y + d[3]], 1)
    kept = []
    for label in np.unique(kind):
        mine = np.flatnonzero(kind == label)
        kept += list(mine[suppress(boxes[mine], scores[mine])])
    kept = np.array(sorted(kept), int)
    return boxes[kept], kind[kept], scores[kept]


class Pictures:
    """A part of the data: letterboxed pictures, larger than the input, and their boxes on them."""

    def __init__(self, job, samples: list, width: int, height: int, share: float) -> None:
        self.job, self.width, self.height = job, width, height
        self.wide, self.high = int(width * ROOM), int(height * ROOM)
        self.store, self.boxes, self.kinds = pictures.Store(len(samples), (self.high, self.wide, 3)), [], []
        number = job.numbers()

        def put(i, one, picture):
            self.store.array[i], s = pictures.letterboxed(picture, self.wide, self.high)
            fx, fy = dense.scale_of(job, one, picture)
            rows = [[b["x"] * fx * s, b["y"] * fy * s, (b["x"] + b["w"]) * fx * s, (b["y"] + b["h"]) * fy * s] for b in one.shapes]
            self.boxes.append(np.array(rows, np.float32).reshape(-1, 4))
            self.kinds.append(np.array([number[b["label"]] for b in one.shapes], int))

        self.samples = pictures.load(job, samples, put, job.clock.left() * share, max(self.wide, self.high))

    def plain(self, numbers) -> torch.Tensor:
        x = self.store[numbers].permute(0, 3, 1, 2).float()
        x = F.interpolate(x, (self.height, self.width), mode="bilinear", antialias=True, align_corners=False)
        return pictures.normal(x.permute(0, 2, 3, 1))

    def truth(self, i: int) -> tuple:
        return self.boxes[i] * (self.width / self.wide), self.kinds[i]

    def bent(self, numbers, generator) -> tuple:
        """A batch as it is trained on: pixels, heat, boxes, weights."""
        strength = self.job.params.augmentation
        maps = pictures.bend(len(numbers), strength, self.job.params.flip, generator, (-0.336, 0.51), 0.12, 0.0, 0.25)
        x = pictures.warp(self.store[numbers], maps, self.height, self.width, fill=114.0)
        x = pictures.light(x, strength, generator, 0.3, 20.0)
        grey = (torch.rand(len(x), 1, 1, 1, generator=generator) < 0.15 * strength).float() * torch.rand(len(x), 1, 1, 1, generator=generator)
        x = x * (1 - grey) + x.mean(3, keepdim=True) * grey
        rows = [paint(*self._moved(i, m), len(self.job.dataset.labels), self.width, self.height) for i, m in zip(numbers, maps.numpy())]
        return (pictures.normal(x), *(torch.from_numpy(np.stack(part)) for part in zip(*rows)))

    def _moved(self, i: int, m: np.ndarray) -> tuple:
        """Boxes of a picture where the map puts them; those of which too little is left are gone."""
        b = self.boxes[i]
        u = b / np.array([self.wide, self.high] * 2, np.float32) * 2 - 1
        u = (u - np.array([m[0, 2], m[1, 2]] * 2)) / np.array([m[0, 0], m[1, 1]] * 2)
        u = (u + 1) / 2 * np.array([self.width, self.height] * 2)
        u = np.stack([np.minimum(u[:, 0], u[:, 2]), u[:, 1], np.maximum(u[:, 0], u[:, 2]), u[:, 3]], 1)
        cut = np.clip(u, 0, np.array([self.width, self.height] * 2))
        side, before = cut[:, 2:] - cut[:, :2], u[:, 2:] - u[:, :2]
        left = (side.min(1, initial=np.inf) >= 2) & (side.prod(1) >= 0.25 * before.prod(1))
        return cut[left].astype(np.float32), self.kinds[i][left]


def look(net: Written, part: Pictures, most: int) -> tuple:
    """mAP50 and the best score on the first pictures of a part."""
    found, truth = [], []
    with torch.no_grad():
        for i in range(min(len(part.samples), most)):
            heat, sides = net(part.plain(np.array([i])))
            found.append(decode(heat[0].numpy(), sides[0].numpy()))
            truth.append(part.truth(i))
    return score.detection(found, truth, len(part.job.dataset.labels))


def alone(budget: float) -> float:
    """The share of the time for which the head trains alone: three minutes."""
    return 180 / max(1.0, budget)


def train(job) -> Result:
    if job.clock.terminated:
        raise Stopped()
    width, height = dense.input_size(job)
    val = Pictures(job, job.parts["val"], width, height, 0.1)
    part = Pictures(job, job.parts["train"], width, height, 0.3)
    dense.readable(job, part.samples)
    val = val if val.samples else part
    net = Net(backbone.pretrained(job.base), len(job.dataset.labels)).to(memory_format=torch.channels_last)
    written, generator = Written(net), job.generator(3)
    if not net.base.learned:
        backbone.level(net, part.plain(np.arange(min(8, len(part.samples)))), (net.heat, net.sides))
    say(f"input {width} x {height}, {len(part.samples)} pictures with {dense.counts_of(part.samples)} boxes")

    def loss(numbers):
        x, heat, boxes, weight = part.bent(numbers.numpy(), generator)
        return loss_of(*net(x), heat, boxes, weight)

    def judge():
        figure, _ = look(written, val, JUDGED)
        return figure, {"mAP50": figure}

    loop.Loop(dense.plan(job, net, net.base, len(part.samples), loss, judge, "detection", STEP * width * height, alone(job.clock.budget)), job.params.seed).run()
    if nodes.first():
        job.checkpoint.end({"net": loop.snapshot(net)})
    figure, least = look(written, val, 20 if job.clock.terminated else 500)

    def find(samples):
        for one in samples:
            try:
                picture = pictures.decode(pictures.data.read_bytes(job.dataset, one))
            except (pictures.Unreadable, OSError):
                yield one, None
                continue
            pixels, s = pictures.letterboxed(picture, width, height)
            with torch.no_grad():
                heat, sides = written(pictures.normal(torch.from_numpy(pixels)[None]))
            yield one, {"shapes": [shape(job, *row, s, picture) for row in zip(*decode(heat[0].numpy(), sides[0].numpy()))]}

    inputs = [{"kind": "picture", "name": "image", "size": [width, height], "fit": "letterbox", "align": "top-left", "pad": 114,
               "mean": pictures.MEAN, "deviation": pictures.DEVIATION}]
    outputs = [{"reading": "heatmap", "name": "heat", "peaks": False}, {"reading": "ltrb", "name": "ltrb", "stride": STRIDE}]
    return Result(written.eval(), (torch.zeros(1, 3, height, width),), inputs, outputs, (("image",), ("heat", "ltrb")),
                  thresholds={"score": least, "iou": OVERLAP}, more={"per_class": True}, metric="mAP50", figure=figure, find=find,
                  about=["One map of centres at stride 8 on EfficientNet-Lite0.", f"Input {width} x {height} pixels."])


def shape(job, box: np.ndarray, kind: int, value: float, s: float, picture) -> dict:
    x0, y0, x1, y1 = (float(v) for v in np.clip(box / s, 0, [picture.width, picture.height] * 2))
    return {"type": "box", "label": job.dataset.labels[int(kind)], "score": round(float(value), 6), "x": round(x0, 2), "y": round(y0, 2),
            "w": round(max(x1 - x0, 0.01), 2), "h": round(max(y1 - y0, 0.01), 2)}
