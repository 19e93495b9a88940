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


def export(model: torch.nn.Module, pictures: torch.Tensor, folder: str) -> None:
    """The net as ONNX, and the manifest with which it can be served: how a picture goes in, what comes out."""
    torch.onnx.export(model, pictures[:1], f"{folder}/model.onnx", input_names=["picture"], output_names=["scores"],
                      dynamic_axes={"picture": {0: "n"}, "scores": {0: "n"}})
    manifest = {
        "ingot": 1, "task": "image-class", "title": "Handwritten digits", "labels": [str(i) for i in range(10)],
        "parts": [{"name": "model", "file": "model.onnx"}],
        "inputs": [{"kind": "picture", "name": "picture", "size": [8, 8], "color": "gray", "resample": "area",
                    "scale": 1 / 255}],
        "outputs": [{"reading": "softmax", "name": "scores"}]}
    Path(folder, "ingot-model.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")


def accuracy(model: torch.nn.Module, data: tuple[torch.Tensor, torch.Tensor]) -> float:
    with torch.no_grad():
        return (model(data[0]).argmax(1) == data[1]).float().mean().item()
