"""Classes of whole pictures, one or several each.

With a base model: a linear probe on its features first, then its upper blocks are trained on the kept output of the lower
ones, for plain and bent views of each picture; the better of the two on the validation part is kept. Without one, and for many tiny
pictures, a small net from scratch."""

import numpy as np
import torch
from torch import nn

from .. import backbone, calibrate, heads, loop, machine, nodes, pictures
from ..clock import Stretch
from ..errors import Refused, Stopped
from ..log import metrics, say
from ..result import Result

SIZE, SCRATCH_SIZE, VIEWS = 224, 64, 12
STEP = 155  # bytes of memory that training the upper part takes for each pixel of a batch, measured
TINY, PLENTY = 32, 2000  # pixels and samples for which a small net from scratch is better than transfer
WATCHED = 20  # steps by which the speed is known
ROOM = 1.14  # pictures are kept so much larger than the net sees them, to be bent


class Top(nn.Module):
    """The upper blocks and the last layer: what is trained."""

    def __init__(self, net: backbone.Lite0, last: nn.Linear) -> None:
        super().__init__()
        self.blocks, self.head = net.blocks[backbone.SPLIT:], net.head
        self.dropout, self.last = nn.Dropout(0.2), last

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.last(self.dropout(self.head(x).mean((2, 3))))


class Whole(nn.Module):
    def __init__(self, net: backbone.Lite0, top: Top) -> None:
        super().__init__()
        self.stem, self.lower, self.top = net.stem, net.blocks[:backbone.SPLIT], top

    def forward(self, x):
        x = self.stem(x)
        for block in self.lower:
            x = block(x)
        return self.top(x)


class Kept:
    """Pictures of the training and validation parts, small, as bytes."""

    def __init__(self, job, size: int) -> None:
        self.side = int(size * ROOM / 2 + 0.5) * 2
        rng = np.random.default_rng(job.params.seed)
        val, train = list(job.parts["val"]), list(job.parts["train"])
        rng.shuffle(val), rng.shuffle(train)  # reading may end early: then it is a fair part
        self.val_store, self.val = self._read(job, val, 0.1)
        self.store, self.train = self._read(job, train, 0.35)
        if not self.train:
            raise Refused("unreadable", "none of the pictures can be read", "没有一张图片可以读取")
        if not self.val:
            self.val_store, self.val = self.store, self.train
        if len(self.train) + len(job.skipped) < len(train):
            say(f"time allows to use {len(self.train)} of {len(train)} pictures")

    def _read(self, job, samples: list, share: float) -> tuple:
        store = pictures.Store(len(samples), (self.side, self.side, 3))

        def put(number, _, picture):
            store.array[number] = pictures.resized(picture, self.side, self.side)

        return store, pictures.load(job, samples, put, job.clock.left() * share, self.side)


def size_of(job, net) -> int:
    if job.params.size:
        return max(32, round(job.params.size / 32) * 32)
    return SIZE if net is not None else SCRATCH_SIZE


def small(x: torch.Tensor, size: int) -> torch.Tensor:
    """Kept bytes to the net's size, as the plain view."""
    x = x.permute(0, 3, 1, 2).float()
    return nn.functional.interpolate(x, (size, size), mode="bilinear", antialias=True, align_corners=False).permute(0, 2, 3, 1)


def bent(job, x: torch.Tensor, size: int, generator, share: float = 1.0) -> torch.Tensor:
    strength = job.params.augmentation * share
    maps = pictures.bend(len(x), strength, job.params.flip, generator)
    return pictures.light(pictures.warp(x, maps, size, size), strength, generator)


def batches(count: int, size: int = 32):
    return [np.arange(at, min(at + size, count)) for at in range(0, count, size)]


# --- transfer ---
class Transfer:
    def __init__(self, job, net: backbone.Lite0, size: int) -> None:
        self.job, self.net, self.size = job, net.eval(), size
        self.kept = Kept(job, size)
        self.classes = len(job.dataset.labels)
        self.chunk = 32 if machine.memory() > 2 << 30 else 8

    def lower(self, x: torch.Tensor) -> torch.Tensor:
        return self.net.trunk(pictures.normal(x))

    def features(self, store, count: int, seconds: float) -> tuple:
        """Trunk maps (fp16) and features of the first pictures of a store, as many as time allows."""
        maps, rows, stretch = [], [], Stretch(self.job.clock, seconds)
        with torch.no_grad():
            for numbers in batches(count, self.chunk):
                if rows and stretch.progress() >= 1:
                    break
                x = self.lower(small(store[numbers], self.size))
                maps.append(x.half())
                rows.append(self.net.top(x))
        return torch.cat(maps), torch.cat(rows)

    def probe(self) -> tuple:
        """(figure, the last layer); fills what is trained on."""
        job, kept = self.job, self.kept
        left = job.clock.left()
        self.val_maps, val = self.features(kept.val_store, min(len(kept.val), 4000), left * 0.15)
        maps, train = self.features(kept.store, min(len(kept.train), self.most()), left * 0.45)
        self.maps, self.seconds_each = [maps], (left - job.clock.left()) / (len(val) + len(train))
        self.val_y = job.targets(kept.val[:len(val)])
        self.y = job.targets(kept.train[:len(train)])
        weight, bias = heads.probe(train, self.y, self.classes, Stretch(job.clock, left * 0.25).over)
        figure, curves = heads.figures(val @ weight.T + bias, self.val_y)
        metrics(0, **curves)
        say(f"the probe on {len(train)} pictures is ready ({job.clock.elapsed():.0f} s)")
        return figure, heads.linear(weight, bias)

    def most(self) -> int:
        """Pictures whose maps fit into memory."""
        cells = (self.size // 16) ** 2 * 112 * 2
        return max(64, machine.spare(0.5) // cells)

    def views(self) -> None:
        """Maps of bent views, within half of the time that is left and of memory."""
        n, stretch = len(self.y), Stretch(self.job.clock, self.job.clock.left() * 0.5)
        room = int(nodes.agree(machine.spare(0.6) // self.maps[0].numel() // 2))
        generator = self.job.generator(7)
        for _ in range(min(VIEWS, room) if self.job.params.augmentation > 0 else 0):
            rows = []
            with torch.no_grad():
                for numbers in batches(n, self.chunk):
                    if stretch.progress() >= 1:
                        break
                    rows.append(self.lower(bent(self.job, self.kept.store[numbers], self.size, generator)).half())
            if sum(map(len, rows)) < n:
                break
            self.maps.append(torch.cat(rows))

    def tune(self, top: Top, begun: float) -> float:
        """Trains the upper part, which is left at its best; its figure."""
        job, params = self.job, self.job.params
        self.views()
        loss, generator = heads.Loss(self.y, self.classes), job.generator(11)

        def cost(numbers):
            view = torch.randint(len(self.maps), (len(numbers),), generator=generator)
            x = torch.stack([self.maps[v][i] for v, i in zip(view.tolist(), numbers.tolist())]).float()
            return loss(top(x.contiguous(memory_format=torch.channels_last)), numbers)

        def judge():
            return heads.figures(self.logits(top), self.val_y)

        batch = int(nodes.agree(machine.fitting(params.batch or 32, STEP * self.size ** 2)))
        rate = 3e-4 * params.learning_rate * (0.3 if begun else 1)  # by 1e-3 what was pretrained is lost: 2 to 3 points less on objects never seen
        plan = loop.Plan(top, loop.split_decay(top, rate, 0.02), len(self.y), batch, cost, judge, job.clock, job.checkpoint, "tune",
                         epochs=params.epochs or 40, patience=12, warmup=max(10, len(self.y) // (2 * batch)), doubt=heads.doubt(len(self.val_y)))
        return loop.Loop(plan, params.seed).run()

    def logits(self, top: Top) -> torch.Tensor:
        with torch.no_grad():
            return torch.cat([top(self.val_maps[numbers].float()) for numbers in batches(len(self.val_y))])

    def run(self) -> tuple:
        figure, last = self.probe()
        former, begun = self.job.checkpoint.take("best"), 0.0
        top = Top(self.net, last)
        plain = loop.snapshot(top)
        if former is not None:
            top.load_state_dict(former["net"])
            begun, _ = heads.figures(self.logits(top.eval()), self.val_y)
            if begun < figure:
                top.load_state_dict(plain)
            else:
                figure, plain = begun, loop.snapshot(top)
        epochs = self.job.clock.left() * 0.5 / max(1e-9, 0.8 * self.seconds_each * len(self.y))
        if not self.job.params.frozen and nodes.agree(epochs) >= 6:
            tuned = self.tune(top, begun)
            say(f"trained upper part: {tuned:.4f}, before: {figure:.4f}")
            if tuned < figure:
                top.load_state_dict(plain)
            figure = max(figure, tuned)
        return Whole(self.net, top.eval()), top, self.logits(top), self.val_y


# --- from scratch ---
class Bending:
    """How much pictures are bent: the more often each is seen, the more. A net that sees them six times learns them better as they are
    (Fashion-MNIST in 60 s: .883 against .850)."""

    def __init__(self, job, count: int) -> None:
        self.stretch, self.count, self.epochs = Stretch(job.clock), count, job.params.epochs or 200
        self.steps, self.seen, self.share = 0, 0, 0.0

    def next(self, batch: int) -> float:
        """The share for the next step; known after the first WATCHED of them."""
        if self.steps == WATCHED:
            self.share = bending(min(self.epochs, self.seen / self.count / max(1e-9, self.stretch.progress())))
        self.steps += 1
        self.seen += batch
        return self.share


def bending(epochs: float) -> float:
    return min(1.0, max(0.0, (epochs - 8) / 24))


def scratch(job, size: int) -> tuple:
    kept, params = Kept(job, size), job.params
    y, val_y = job.targets(kept.train), job.targets(kept.val)
    net = heads.SmallNet(3, len(job.dataset.labels)).to(memory_format=torch.channels_last)
    if (former := job.checkpoint.take("best")) is not None:
        net.load_state_dict(former["net"])
    loss, generator = heads.Loss(y, len(job.dataset.labels), 0.05), job.generator(5)

    def logits():
        with torch.no_grad():
            return torch.cat([net(pictures.normal(small(kept.val_store[n], size))) for n in batches(min(len(kept.val), 4000), 128)])

    def cost(numbers):
        share = much.next(len(numbers) * nodes.world())
        return loss(net(pictures.normal(bent(job, kept.store[numbers.numpy()], size, generator, share))), numbers)

    def judge():
        return heads.figures(logits(), val_y[:4000])

    batch = int(nodes.agree(machine.fitting(params.batch or max(8, min(64, len(y) // 8)), heads.STEP * size ** 2)))
    rate = 2.5e-3 * params.learning_rate * (0.3 if former else 1)
    much = Bending(job, len(y))
    plan = loop.Plan(net, loop.split_decay(net, rate, 0.02), len(y), batch, cost, judge, job.clock, job.checkpoint, "scratch",
                     epochs=params.epochs or 200, patience=25, warmup=10)
    loop.Loop(plan, params.seed).run()
    return net, net, logits(), val_y[:4000]


def tiny(job) -> bool:
    sides = sorted(max(pictures.size_of(job.dataset, one)) for one in job.parts["train"][:50])
    return 0 < sides[len(sides) // 2] <= TINY and len(job.parts["train"]) >= PLENTY and not job.params.size


def train(job) -> Result:
    if job.clock.terminated:
        raise Stopped()
    net = backbone.pretrained(job.base)
    few = net is not None and tiny(job)
    size = TINY if few else size_of(job, net)
    if net is None or few:
        whole, trained, logits, val_y = scratch(job, size)
        how = "A small convolutional net, trained from scratch."
    else:
        whole, trained, logits, val_y = Transfer(job, net, size).run()
        how = "EfficientNet-Lite0, pretrained on ImageNet, with its upper blocks adapted where that was better."
    if nodes.first():
        job.checkpoint.end({"net": loop.snapshot(trained)})
    heat = calibrate.temperature(logits.numpy(), val_y, job.dataset.many) if job.parts["val"] else 1.0
    heads.cool(trained.last, heat)
    outputs, thresholds = heads.reading(job, logits / heat, val_y, bool(job.parts["val"]))
    figure, curves = heads.figures(logits, val_y)
    metric = "f1" if job.dataset.many else "accuracy"

    def find(samples):
        for one in samples:
            try:
                picture = pictures.decode(pictures.data.read_bytes(job.dataset, one))
            except (pictures.Unreadable, OSError):
                yield one, None
                continue
            x = torch.from_numpy(pictures.resized(picture, size, size).copy())[None]
            with torch.no_grad():
                yield one, heads.annotation(job, whole(pictures.normal(x))[0].numpy(), thresholds.get("score", 0.5))

    inputs = [{"kind": "picture", "name": "image", "size": [size, size], "mean": pictures.MEAN, "deviation": pictures.DEVIATION}]
    return Result(whole.eval(), (torch.zeros(1, 3, size, size),), inputs, outputs, (("image",), ("logits",)), {"image": {0: "batch"}, "logits": {0: "batch"}},
                  thresholds, metric=metric, figure=curves[metric], find=find, about=[how, f"Input {size} x {size} pixels. Temperature {heat:.2f}."])
