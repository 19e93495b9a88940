"""What a person would write in a few lines: each gives the accuracy on the test part after the given seconds of computing, on one thread."""

import json
import time
from pathlib import Path

import numpy as np


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
