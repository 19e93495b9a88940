"""What a person would write in a few lines: each gives the accuracy on the test part after the given seconds of computing, on one thread."""

import json
import math
import subprocess
import time
from pathlib import Path

import numpy as np

PROGRAMS = Path(__file__).resolve().parents[2] / "build" / "release"


def read(data: Path) -> tuple:
    rows = [json.loads(line) for line in (data / "ingot.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    labels = sorted({row["annotation"]["labels"][0] for row in rows})
    return ([row for row in rows if row["split"] == part] for part in ("train", "test")), labels


def targets(rows: list, labels: list) -> np.ndarray:
    return np.array([labels.index(row["annotation"]["labels"][0]) for row in rows])


def _fit(net, x, y, test_x, test_y, seconds: float, begun: float, rate: float, batch: int) -> float:
    """Adam at a fixed rate until time is up."""
    import torch
    import torch.nn.functional as F

    optimizer = torch.optim.Adam(net.parameters(), rate)
    net.train()
    while time.process_time() - begun < seconds:
        for chosen in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            F.cross_entropy(net(x[chosen]), y[chosen]).backward()
            optimizer.step()
            if time.process_time() - begun >= seconds:
                break
    net.eval()
    with torch.no_grad():
        found = torch.cat([net(part).argmax(1) for part in test_x.split(64)])
    return float((found == test_y).float().mean())


def _pictures(data: Path, rows: list, size: int, mode: str):
    import torch
    from PIL import Image

    x = np.stack([np.asarray(Image.open(data / row["file"]).convert(mode).resize((size, size), Image.BILINEAR)) for row in rows])
    x = torch.from_numpy(x.reshape(len(x), size, size, -1)).permute(0, 3, 1, 2).float()
    return (x - 127) / 128


def _parts(data: Path, size: int, mode: str) -> tuple:
    import torch

    (train, test), labels = read(data)
    torch.set_num_threads(1)
    return (_pictures(data, train, size, mode), torch.from_numpy(targets(train, labels)), _pictures(data, test, size, mode),
            torch.from_numpy(targets(test, labels)), len(labels))


def small_cnn(data: Path, base: Path, seconds: float, seed: int) -> float:
    import torch
    from torch import nn

    begun = time.process_time()
    torch.manual_seed(seed)
    x, y, test_x, test_y, classes = _parts(data, 28, "L")
    net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Flatten(), nn.Linear(64 * 49, 128), nn.ReLU(), nn.Dropout(0.25), nn.Linear(128, classes))
    return _fit(net, x, y, test_x, test_y, seconds, begun, 1e-3, 64)


def fine_tune(data: Path, base: Path, seconds: float, seed: int) -> float:
    import torch
    from ingot_learn import backbone
    from torch import nn

    begun = time.process_time()
    torch.manual_seed(seed)
    x, y, test_x, test_y, classes = _parts(data, 224, "RGB")
    net = nn.Sequential(backbone.pretrained(backbone.find(str(base))), nn.Linear(backbone.FEATURES, classes))
    return _fit(net, x, y, test_x, test_y, seconds, begun, 1e-4, 32)


def tfidf(data: Path, base: Path, seconds: float, seed: int) -> float:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    (train, test), labels = read(data)
    net = make_pipeline(TfidfVectorizer(analyzer="char", ngram_range=(1, 2)), LogisticRegression(max_iter=1000))
    net.fit([row["content"] for row in train], targets(train, labels))
    return float((net.predict([row["content"] for row in test]) == targets(test, labels)).mean())


# --- pictures with something in them: boxes, areas ---
def found(data: Path, rows: list, shapes, figure: str) -> float:
    """What `ingot evaluate` says of shapes(row) on the test part: the same figures for both sides."""
    said, truth = data.parent / f"{data.name}-said.jsonl", data.parent / f"{data.name}-truth.jsonl"
    head = (data / "ingot.jsonl").open(encoding="utf-8").readline()
    truth.write_text(head + "".join(json.dumps(row) + "\n" for row in rows))
    said.write_text("".join(json.dumps({"file": row["file"], "annotation": {"shapes": shapes(row)}}) + "\n" for row in rows))
    done = subprocess.run([str(PROGRAMS / "ingot"), "evaluate", str(truth), str(said), "-o", "json"], check=True, capture_output=True, text=True)
    return {row["name"]: row["value"] for row in json.loads(done.stdout)["figures"]}[figure]


def _shaped(data: Path) -> tuple:
    rows = [json.loads(line) for line in (data / "ingot.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    labels = sorted({shape["label"] for row in rows for shape in row["annotation"]["shapes"]})
    return *([row for row in rows if row["split"] == part] for part in ("train", "test")), labels


def _open(data: Path, rows: list, width: int, height: int):
    import torch
    from PIL import Image

    x = np.stack([np.asarray(Image.open(data / row["file"]).convert("RGB").resize((width, height), Image.BILINEAR)) for row in rows])
    return torch.from_numpy(x).permute(0, 3, 1, 2)


def _pyramid(base: Path, first: int, out: int):
    """The backbone's maps, each through 1x1, added from coarse to fine, two 3x3 and what is asked of each place."""
    import torch.nn.functional as F
    from ingot_learn import backbone
    from torch import nn

    class Pyramid(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.frozen = backbone.pretrained(backbone.find(str(base))), 99
            self.sides = nn.ModuleList(nn.Conv2d(channels, 96, 1) for channels in list(backbone.TAPS.values())[first:])
            self.head = nn.Sequential(nn.Conv2d(96, 96, 3, padding=1), nn.ReLU(), nn.Conv2d(96, 96, 3, padding=1), nn.ReLU(), nn.Conv2d(96, out, 1))

        def forward(self, x):
            *finer, x = [side(one) for side, one in zip(self.sides, self.body.taps((x.float() - 127) / 128, self.frozen)[first:])]
            for one in reversed(finer):
                x = one + F.interpolate(x, size=one.shape[2:])
            return self.head(x)

    return Pyramid()


def _train(net, step, count: int, seconds: float, begun: float) -> None:
    """Adam, the head alone for half of the time, then everything; both rates fall along a cosine."""
    import torch

    late = list(net.body.parameters())
    optimizer = torch.optim.Adam([{"params": [*net.sides.parameters(), *net.head.parameters()], "lr": 1e-3}, {"params": late, "lr": 1e-4}])
    rates = [group["lr"] for group in optimizer.param_groups]
    while time.process_time() - begun < seconds:
        for chosen in torch.randperm(count).split(8):
            done = min(1.0, (time.process_time() - begun) / seconds)
            net.frozen = 99 if done < 0.5 else 0
            for group, rate in zip(optimizer.param_groups, rates):
                group["lr"] = rate * (1 + math.cos(math.pi * done)) / 2
            optimizer.zero_grad()
            step(chosen).backward()
            optimizer.step()
            if done >= 1:
                break
    net.eval()


def one_level(data: Path, base: Path, seconds: float, seed: int) -> float:
    """Detection in the manner of FCOS with one level: places in the middle of an object say its class and the distances to its sides."""
    import torch
    import torchvision

    begun, width, height, stride = time.process_time(), 416, 320, 8
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    train, test, labels = _shaped(data)
    x = _open(data, train, width, height)
    scale = torch.tensor([width / train[0]["width"], height / train[0]["height"]] * 2)
    boxes = [torch.tensor([[s["x"], s["y"], s["x"] + s["w"], s["y"] + s["h"]] for s in row["annotation"]["shapes"]]) * scale for row in train]
    kinds = [[labels.index(s["label"]) for s in row["annotation"]["shapes"]] for row in train]
    places = torch.stack(torch.meshgrid(torch.arange(width // stride), torch.arange(height // stride), indexing="xy"), 2) * stride + stride / 2
    net = _pyramid(base, 1, len(labels) + 4)
    torch.nn.init.constant_(net.head[-1].bias[:len(labels)], -4.6)

    def sides(y):
        d = y[:, len(labels):].permute(0, 2, 3, 1).clamp(-4, 4).exp() * 4 * stride
        return torch.cat([places - d[..., :2], places + d[..., 2:]], 3)

    def step(chosen):
        flip = torch.rand(len(chosen)) < 0.5
        wanted, kind = torch.zeros(len(chosen), *places.shape[:2], 4), torch.zeros(len(chosen), *places.shape[:2], len(labels))
        for n, i in enumerate(chosen):
            for box, k in sorted(zip(boxes[i], kinds[i]), key=lambda row: -float((row[0][2:] - row[0][:2]).prod())):
                box = box[[2, 1, 0, 3]] * torch.tensor([-1, 1, -1, 1]) + torch.tensor([width, 0, width, 0]) if flip[n] else box
                near = ((places - (box[:2] + box[2:]) / 2).abs() <= 1.5 * stride).all(2)
                wanted[n][near], kind[n][near] = box, torch.eye(len(labels))[k]
        y = net(torch.where(flip[:, None, None, None], x[chosen].flip(3), x[chosen]))
        there = kind.amax(3) > 0
        focal = torchvision.ops.sigmoid_focal_loss(y[:, :len(labels)].permute(0, 2, 3, 1), kind, reduction="sum") / there.sum()
        return focal + torchvision.ops.generalized_box_iou_loss(sides(y)[there], wanted[there], reduction="mean")

    _train(net, step, len(x), seconds, begun)

    def shapes(row):
        with torch.no_grad():
            y = net(_open(data, [row], width, height))
        score, kind = y[0, :len(labels)].flatten(1).sigmoid().max(0)
        best = score.topk(300).indices
        box, score, kind = sides(y)[0].flatten(0, 1)[best] / scale, score[best], kind[best]
        box = torchvision.ops.clip_boxes_to_image(box, (row["height"], row["width"]))
        kept = [i for i in torchvision.ops.batched_nms(box, score, kind, 0.6)[:100] if (box[i, 2:] - box[i, :2]).min() > 1]
        return [{"type": "box", "label": labels[int(kind[i])], "score": float(score[i]),
                 **dict(zip("xywh", [*box[i, :2].tolist(), *(box[i, 2:] - box[i, :2]).tolist()]))} for i in kept]

    return found(data, test, shapes, "mAP50")


def pixels(data: Path, base: Path, seconds: float, seed: int) -> float:
    """Segmentation: cross-entropy at stride 4, enlarged to the picture."""
    import torch
    import torch.nn.functional as F
    from ingot_learn import masks

    begun, width, height = time.process_time(), 320, 256
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    train, test, labels = _shaped(data)
    x, numbers = _open(data, train, width, height), {label: i + 1 for i, label in enumerate(labels)}
    y = torch.from_numpy(np.stack([masks.paint(row["annotation"]["shapes"], numbers, (row["width"], row["height"]), (width, height)) for row in train])).long()
    net = _pyramid(base, 0, len(labels) + 1)

    def step(chosen):
        a, b = (x[chosen].flip(3), y[chosen].flip(2)) if torch.rand(()) < 0.5 else (x[chosen], y[chosen])
        return F.cross_entropy(F.interpolate(net(a), size=(height, width), mode="bilinear"), b)

    _train(net, step, len(x), seconds, begun)

    def shapes(row):
        with torch.no_grad():
            said = F.interpolate(net(_open(data, [row], width, height)), size=(row["height"], row["width"]), mode="bilinear")[0].argmax(0).numpy()
        return [{"type": "mask", "label": label, "size": list(said.shape), "counts": masks.pack(said == n)} for label, n in numbers.items() if (said == n).any()]

    return found(data, test, shapes, "mIoU")
