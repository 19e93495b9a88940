"""What both trainings share: the data as it lies in /workspace/dataset, and the net."""

import json
from pathlib import Path

import numpy
import torch
from PIL import Image


def load(folder: Path) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures (n, 1, 8, 8) from 0 to 1, and classes."""
    pictures, labels = [], []
    with open(folder / "ingot.jsonl", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if "file" not in record or "annotation" not in record:
                continue
            with Image.open(folder / record["file"]) as picture:
                pictures.append(numpy.asarray(picture.convert("L"), dtype="float32") / 255)
            labels.append(int(record["annotation"]["labels"][0]))
    return torch.from_numpy(numpy.stack(pictures))[:, None], torch.tensor(labels)


def split(pictures: torch.Tensor, labels: torch.Tensor, share: float = 0.2):
    """The same test part every time."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(1))
    cut = int(len(labels) * share)
    test, train = order[:cut], order[cut:]
    return (pictures[train], labels[train]), (pictures[test], labels[test])


def dataset() -> Path:
    """The one dataset that the training was given."""
    return next(Path("/workspace/dataset").iterdir())


def net() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(128, 10))


def accuracy(model: torch.nn.Module, data: tuple[torch.Tensor, torch.Tensor]) -> float:
    with torch.no_grad():
        return (model(data[0]).argmax(1) == data[1]).float().mean().item()
