#!/usr/bin/python3
"""Samples a second of PyTorch's DataLoader: record files against torchvision's ImageFolder, and workers against none.

    loading.py [SECONDS]

Small pictures are 28 x 28 JPEGs; large ones 320 x 240, of which a random part is cut, mirrored and scaled to 224 pixels. Both sides take turns;
told are the medians of five turns each, and the median of the ratios of the turns."""

import io
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torchvision  # noqa: E402
from ingot import record  # noqa: E402
from PIL import Image  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402
from torchvision import transforms  # noqa: E402

TURNS, BATCH = 5, 64
SMALL = transforms.ToTensor()
LARGE = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor()])


def picture(rng, width: int, height: int) -> bytes:
    coarse = rng.integers(0, 256, (height // 7 + 1, width // 7 + 1, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(coarse).resize((width, height), Image.BICUBIC).save(out, "JPEG", quality=90)
    return out.getvalue()


def make(folder: Path, count: int, width: int, height: int) -> tuple:
    """The same pictures as a folder for each class, as records with JPEGs and as records with pixels."""
    rng, rows = np.random.default_rng(1), []
    for i in range(count):
        raw, label = picture(rng, width, height), i % 10
        (folder / "files" / str(label)).mkdir(parents=True, exist_ok=True)
        (folder / "files" / str(label) / f"{i}.jpg").write_bytes(raw)
        rows.append((raw, label))
    fields = {"jpeg": {"name": "image", "type": "bytes"}, "pixels": {"name": "image", "type": "array", "dtype": "uint8", "shape": [height, width, 3]}}
    for name, field in fields.items():
        with record.Writer(folder / name, {"fields": [field, {"name": "label", "type": "int64"}]}) as out:
            for raw, label in rows:
                out.add(image=raw if name == "jpeg" else np.asarray(Image.open(io.BytesIO(raw)).convert("RGB")), label=label)
    return folder / "files", folder / "jpeg", folder / "pixels"


class Decoded:
    """What ImageFolder does with a file, done with a record."""

    def __init__(self, transform) -> None:
        self.transform = transform

    def __call__(self, row):
        with Image.open(io.BytesIO(row["image"])) as picture:
            return self.transform(picture.convert("RGB")), row["label"]


def pixels(row):
    return torch.from_numpy(np.array(row["image"])).permute(2, 0, 1).float().div_(255), row["label"]


def speed(data, workers: int, seconds: float) -> float:
    """Samples a second, without the start of the workers."""
    loader = DataLoader(data, BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    for _ in loader:
        pass
    count, begun = 0, time.monotonic()
    while time.monotonic() - begun < seconds:
        for x, _ in loader:
            count += len(x)
    return count / (time.monotonic() - begun)


def row(name: str, one, other, seconds: float) -> None:
    turns = [(speed(*one, seconds), speed(*other, seconds)) for _ in range(TURNS)]
    ours, theirs, ratio = (statistics.median(column) for column in ([a for a, _ in turns], [b for _, b in turns], [a / b for a, b in turns]))
    print(f"| {name} | {ours:.0f} | {theirs:.0f} | {ratio:.2f}x | {os.getloadavg()[0]:.0f} |", flush=True)


def alone(raw: bytes, seconds: float, told) -> None:
    """Pictures a second of a process that shares nothing with another."""
    torch.set_num_threads(1)
    count, begun = 0, time.monotonic()
    while time.monotonic() - begun < seconds:
        LARGE(Image.open(io.BytesIO(raw)).convert("RGB"))
        count += 1
    told.put(count / (time.monotonic() - begun))


def together(raw: bytes, processes: int, seconds: float) -> float:
    told = multiprocessing.Queue()
    all_of = [multiprocessing.Process(target=alone, args=(raw, seconds, told)) for _ in range(processes)]
    for one in all_of:
        one.start()
    count = sum(told.get() for _ in all_of)
    for one in all_of:
        one.join()
    return count


def ceiling(raw: bytes, seconds: float) -> None:
    """What the machine itself has to give to a second process just now."""
    turns = [(together(raw, 2, seconds), together(raw, 1, seconds)) for _ in range(TURNS)]
    two, one, ratio = (statistics.median(column) for column in ([a for a, _ in turns], [b for _, b in turns], [a / b for a, b in turns]))
    print(f"| large, two processes that only decode, against one | {two:.0f} | {one:.0f} | {ratio:.2f}x | {os.getloadavg()[0]:.0f} |", flush=True)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    torch.set_num_threads(1)
    print("| what | samples/s | against | ratio | load |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        files, jpeg, raw = make(Path(name) / "small", 4000, 28, 28)
        folder = torchvision.datasets.ImageFolder(str(files), SMALL)
        for workers in (0, 2):
            row(f"small, records with JPEGs against ImageFolder, {workers} workers", (record.Dataset(jpeg, transform=Decoded(SMALL)), workers), (folder, workers), seconds)
            row(f"small, records with pixels against ImageFolder, {workers} workers", (record.Dataset(raw, transform=pixels), workers), (folder, workers), seconds)
        files, jpeg, raw = make(Path(name) / "large", 600, 320, 240)
        data = record.Dataset(jpeg, transform=Decoded(LARGE))
        row("large, records, 2 workers against none", (data, 2), (data, 0), seconds)
        data = torchvision.datasets.ImageFolder(str(files), LARGE)
        row("large, ImageFolder, 2 workers against none", (data, 2), (data, 0), seconds)
        ceiling(next(files.glob("*/*.jpg")).read_bytes(), seconds)


if __name__ == "__main__":
    main()
