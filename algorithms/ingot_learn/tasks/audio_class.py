"""Classes of sounds. The spectrogram is part of the graph. Two nets are tried, a linear probe on Lite0's features of the spectrogram as a
picture, and a small net from scratch; the better one on the validation part is kept."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import backbone, calibrate, data, heads, loop, machine, nodes, sounds
from ..clock import Stretch
from ..errors import Refused, Stopped, why
from ..log import metrics, say
from ..result import Result

WINDOW, HOP, BINS, MELS, LOW, HIGH = 400, 160, 512, 64, 50.0, 7600.0
SHORTEST, LONGEST = 0.5, 10.0  # seconds that the net hears


def mel_filters() -> np.ndarray:
    """[MELS, BINS/2+1]: triangles on HTK's scale."""
    def mel(f):
        return 2595 * np.log10(1 + f / 700)

    edges = 700 * (10 ** (np.linspace(mel(LOW), mel(HIGH), MELS + 2) / 2595) - 1)
    f = np.arange(BINS // 2 + 1) * sounds.RATE / BINS
    up = (f[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - f[None]) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(up, down)).astype(np.float32)


class Front(nn.Module):
    """[N,T] at 16 kHz to [N,MELS,frames], each clip with mean 0 and deviation 1: an STFT as one convolution."""

    def __init__(self) -> None:
        super().__init__()
        t = np.arange(WINDOW)
        window = 0.5 - 0.5 * np.cos(2 * np.pi * t / WINDOW)
        angle = 2 * np.pi * np.arange(BINS // 2 + 1)[:, None] * t[None] / BINS
        waves = np.concatenate([np.cos(angle), np.sin(angle)]) * window
        self.register_buffer("waves", torch.tensor(waves, dtype=torch.float32)[:, None])
        self.register_buffer("mels", torch.from_numpy(mel_filters())[:, :, None])

    def forward(self, x):
        x = F.conv1d(x.unsqueeze(1), self.waves, stride=HOP)
        half = BINS // 2 + 1
        power = x[:, :half] * x[:, :half] + x[:, half:] * x[:, half:]
        x = torch.log(F.conv1d(power, self.mels) + 1e-6)
        mean = x.mean((1, 2), keepdim=True)
        x = x - mean
        return x / (torch.sqrt((x * x).mean((1, 2), keepdim=True)) + 1e-3)


def as_picture(z: torch.Tensor) -> torch.Tensor:
    """What Lite0 sees of a spectrogram: every band twice, frames cut to a multiple of 32, three equal channels."""
    frames = max(32, int(z.shape[2]) // 32 * 32)
    z = F.pad(z, (0, max(0, frames - int(z.shape[2]))))[:, :, :frames]
    x = (torch.clamp(48 * z + 127, 0, 255) - 127) / 128
    x = F.interpolate(x.unsqueeze(1), scale_factor=(2.0, 1.0), mode="nearest")
    return x.expand(-1, 3, -1, -1)


class Probed(nn.Module):
    def __init__(self, net: backbone.Lite0, last: nn.Linear) -> None:
        super().__init__()
        self.net, self.last = net, last

    def forward(self, z):
        return self.last(self.net(as_picture(z)))


class Small(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.net = heads.SmallNet(1, classes, (24, 48, 96, 96))
        self.last = self.net.last

    def forward(self, z):
        return self.net(z.unsqueeze(1))


class Heard(nn.Module):
    """As it is exported: from samples to logits."""

    def __init__(self, front: Front, net: nn.Module) -> None:
        super().__init__()
        self.front, self.net = front, net

    def forward(self, wave):
        return self.net(self.front(wave))


def duration(job) -> int:
    """Samples of a clip: nine of ten sounds fit whole."""
    lengths = []
    for one in job.parts["train"][:200]:
        try:
            lengths.append(len(sounds.read(data.read_bytes(job.dataset, one))))
        except (sounds.Unreadable, OSError):
            continue
    if not lengths:
        raise Refused("unreadable", "none of the sounds can be read", "没有一个声音可以读取")
    seconds = np.percentile(lengths, 90) / sounds.RATE
    return int(math.ceil(min(max(seconds, SHORTEST), LONGEST) * 10) * sounds.RATE / 10)


def hear(job, front: Front, samples: list, count: int, share: float) -> tuple:
    """(samples that could be read, their spectrograms)."""
    stretch, kept, maps = Stretch(job.clock, job.clock.left() * share), [], []
    for one in samples:
        if len(kept) >= 8 and stretch.progress() >= 1:
            break
        try:
            x = sounds.fitted(sounds.read(data.read_bytes(job.dataset, one)), count)
        except (sounds.Unreadable, OSError) as error:
            job.skipped.append((one.file, why(error)))
            continue
        with torch.no_grad():
            maps.append(front(torch.from_numpy(np.ascontiguousarray(x, np.float32))[None])[0])
        kept.append(one)
    return kept, torch.stack(maps) if maps else torch.zeros(0)


def bent(z: torch.Tensor, strength: float, generator) -> torch.Tensor:
    """Shifted in time by up to a fifth; two bands and two stretches of time are blanked."""
    n, _, frames = z.shape
    out = torch.empty_like(z)
    most = int(0.2 * strength * frames)
    shifts = torch.randint(-most, most + 1, (n,), generator=generator).tolist()
    for i, shift in enumerate(shifts):
        out[i] = torch.roll(z[i], shift, 1)
        for axis, size in ((0, MELS), (1, frames)):
            for _ in range(2):
                wide = int(torch.randint(0, max(1, int(0.12 * strength * size)) + 1, (1,), generator=generator))
                at = int(torch.randint(0, size - wide + 1, (1,), generator=generator))
                out[i].narrow(axis, at, wide).zero_()
    return out


def run(net: nn.Module, z: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return torch.cat([net(z[at:at + 32]) for at in range(0, len(z), 32)])


def probe(job, z, y, val_z, val_y) -> "tuple | None":
    net = backbone.pretrained(job.base)
    if net is None:
        return None
    rows, stretch = [], Stretch(job.clock, job.clock.left() * 0.4)
    with torch.no_grad():
        for at in range(0, len(z), 16):
            if rows and stretch.progress() >= 1:
                break
            rows.append(net(as_picture(z[at:at + 16])))
    features = torch.cat(rows)
    weight, bias = heads.probe(features, y[:len(features)], len(job.dataset.labels), Stretch(job.clock, job.clock.left() * 0.25).over)
    probed = Probed(net, heads.linear(weight, bias)).eval()
    figure, curves = heads.figures(run(probed, val_z), val_y)
    metrics(0, **curves)
    return figure, probed


def small(job, z, y, val_z, val_y) -> tuple:
    params, classes = job.params, len(job.dataset.labels)
    net = Small(classes)
    if (former := job.checkpoint.take("best")) is not None and former["kind"] == "small":
        net.load_state_dict(former["net"])
    loss, generator = heads.Loss(y, classes), job.generator(5)
    batch = int(nodes.agree(machine.fitting(params.batch or max(4, min(32, len(y) // 6)), heads.STEP * MELS * int(z.shape[2]))))

    def cost(numbers):
        return loss(net(bent(z[numbers], params.augmentation, generator)), numbers)

    def judge():
        return heads.figures(run(net, val_z), val_y)

    plan = loop.Plan(net, loop.split_decay(net, 3e-3 * params.learning_rate, 0.02), len(y), batch, cost, judge, job.clock, job.checkpoint,
                     "small", epochs=params.epochs or 100, patience=20, warmup=10)
    return loop.Loop(plan, params.seed).run(), net


def train(job) -> Result:
    if job.clock.terminated:
        raise Stopped()
    front, count = Front().eval(), duration(job)
    val_kept, val_z = hear(job, front, job.parts["val"], count, 0.1)
    kept, z = hear(job, front, job.parts["train"], count, 0.35)
    if not kept:
        raise Refused("unreadable", "none of the sounds can be read", "没有一个声音可以读取")
    y = job.targets(kept)
    val_y, val_z = (job.targets(val_kept), val_z) if val_kept else (y, z)
    say(f"{len(kept)} sounds, {count / sounds.RATE:.1f} s each")
    tried = [probe(job, z, y, val_z, val_y)]
    if not job.params.frozen or tried[0] is None:
        tried.append(small(job, z, y, val_z, val_y))
    _, net = max((one for one in tried if one), key=lambda one: one[0])
    kind = "small" if isinstance(net, Small) else "probe"
    if nodes.first():
        job.checkpoint.end({"kind": kind, "net": loop.snapshot(net) if kind == "small" else {}})
    logits = run(net.eval(), val_z)
    heat = calibrate.temperature(logits.numpy(), val_y, job.dataset.many) if val_kept else 1.0
    heads.cool(net.last, heat)
    outputs, thresholds = heads.reading(job, logits / heat, val_y, bool(val_kept))
    _, curves = heads.figures(logits, val_y)
    whole, metric = Heard(front, net).eval(), "f1" if job.dataset.many else "accuracy"

    def find(samples):
        for one in samples:
            try:
                x = sounds.fitted(sounds.read(data.read_bytes(job.dataset, one)), count)
            except (sounds.Unreadable, OSError):
                yield one, None
                continue
            with torch.no_grad():
                row = whole(torch.from_numpy(np.ascontiguousarray(x, np.float32))[None])[0]
            yield one, heads.annotation(job, row.numpy(), thresholds.get("score", 0.5))

    how = {"small": "A small convolutional net on mel spectrograms, trained from scratch.", "probe": "Features of EfficientNet-Lite0 of mel spectrograms."}
    return Result(whole, (torch.zeros(1, count),), [{"kind": "sound", "name": "wave", "rate": sounds.RATE, "samples": count}], outputs,
                  (("wave",), ("logits",)), {"wave": {0: "batch"}, "logits": {0: "batch"}}, thresholds, metric=metric, figure=curves[metric],
                  find=find, about=[how[kind], f"It hears {count / sounds.RATE:.1f} seconds at 16 kHz. Temperature {heat:.2f}."])
