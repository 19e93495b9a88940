"""What all classifiers share: losses with class weights, the linear probe, figures, annotations from scores."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import score

SMOOTHING = 0.1
TURN = 5  # iterations of the probe between two looks at the clock
STEP = 2300  # bytes of memory that training SmallNet takes for each pixel of a batch, measured


def class_weights(targets: np.ndarray, classes: int) -> torch.Tensor:
    """sqrt(N / (C n)): rare classes count more, without drowning the rest. For several labels: of positives."""
    if targets.ndim == 1:
        n = np.maximum(np.bincount(targets, minlength=classes), 1)
        return torch.tensor(np.sqrt(len(targets) / (classes * n)), dtype=torch.float32)
    n = np.maximum(targets.sum(0), 1)
    return torch.tensor(np.clip(np.sqrt((len(targets) - n) / n), 0.5, 5), dtype=torch.float32)


class Loss:
    def __init__(self, targets: np.ndarray, classes: int, smoothing: float = SMOOTHING) -> None:
        self.many, self.smoothing = targets.ndim == 2, smoothing
        self.targets, self.weights = torch.from_numpy(targets), class_weights(targets, classes)

    def __call__(self, logits: torch.Tensor, numbers) -> torch.Tensor:
        wanted = self.targets[numbers]
        if self.many:
            return F.binary_cross_entropy_with_logits(logits, wanted.float(), pos_weight=self.weights)
        return F.cross_entropy(logits, wanted, self.weights, label_smoothing=self.smoothing)


def probe(features: torch.Tensor, targets: np.ndarray, classes: int, over, decay: float = 0.01, iterations: int = 200) -> tuple:
    """Softmax (or sigmoid) regression by L-BFGS on standardised features; weight and bias for the raw features. `over()` ends it early:
    of 10,000 pictures of 1,000 classes an iteration takes seconds."""
    mean, deviation = features.mean(0), features.std(0, unbiased=False) + 0.01
    x = (features - mean) / deviation
    weight, bias = torch.zeros(classes, x.shape[1], requires_grad=True), torch.zeros(classes, requires_grad=True)
    loss, everything = Loss(targets, classes, 0.0), slice(None)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=TURN, max_eval=2 * TURN, history_size=10, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        cost = loss(x @ weight.T + bias, everything) + 0.5 * decay * (weight ** 2).sum() / classes
        cost.backward()
        return cost

    state, turns, asked = optimizer.state[weight], 0, 0
    while turns < iterations and asked < 1.25 * iterations:
        optimizer.step(closure)
        there = state["n_iter"] - turns < TURN and state["func_evals"] - asked < 2 * TURN  # nothing more to gain
        turns, asked = state["n_iter"], state["func_evals"]
        if there or over():
            break
    w = weight.detach() / deviation
    return w, bias.detach() - w @ mean


def linear(weight: torch.Tensor, bias: torch.Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight.data, layer.bias.data = weight.clone(), bias.clone()
    return layer


def figures(logits: torch.Tensor, targets: np.ndarray) -> tuple:
    """(the figure that chooses, curves): accuracy, or macro F1 where there may be several labels; a lower loss decides
    between equal ones."""
    y = torch.from_numpy(targets)
    if targets.ndim == 2:
        loss = float(F.binary_cross_entropy_with_logits(logits, y.float()))
        scores = torch.sigmoid(logits).numpy()
        f1 = score.macro_f1(scores >= score.best_threshold(scores, targets > 0), targets > 0)
        return f1 - 0.01 * min(loss, 10), {"f1": f1, "val_loss": loss}
    loss = float(F.cross_entropy(logits, y))
    right = score.accuracy(logits.numpy(), targets)
    found = np.eye(logits.shape[1], dtype=bool)[logits.argmax(1).numpy()]
    f1 = score.macro_f1(found, np.eye(logits.shape[1], dtype=bool)[targets])
    return right - 0.01 * min(loss, 10), {"accuracy": right, "f1": f1, "val_loss": loss}


def doubt(count: int):
    """For loop.Plan: two standard errors of a share of so many samples."""
    return lambda figure: 2 * (min(max(figure, 0.05), 0.95) * (1 - min(max(figure, 0.05), 0.95)) / max(count, 1)) ** 0.5


def reading(job, logits: torch.Tensor, targets: np.ndarray, chosen_by_val: bool) -> tuple:
    """(outputs of the manifest, thresholds) of a classifier whose logits are calibrated already."""
    if not job.dataset.many:
        return [{"reading": "softmax", "name": "logits"}], {}
    scores = torch.sigmoid(logits).numpy()
    least = score.best_threshold(scores, targets > 0) if chosen_by_val else 0.5
    return [{"reading": "sigmoid", "name": "logits"}], {"score": least}


def annotation(job, logits: np.ndarray, least: float) -> dict:
    """Of one sample, as ingot-infer would answer."""
    labels = job.dataset.labels
    if not job.dataset.many:
        e = np.exp(logits - logits.max())
        best = int(logits.argmax())
        return {"labels": [labels[best]], "scores": {labels[best]: round(float(e[best] / e.sum()), 6)}}
    scores = 1 / (1 + np.exp(-logits))
    found = [i for i in range(len(labels)) if scores[i] >= least]
    return {"labels": sorted(labels[i] for i in found), "scores": {labels[i]: round(float(scores[i]), 6) for i in found}}


class SmallNet(nn.Module):
    """From scratch: pairs of 3x3 convolutions with BatchNorm at falling sizes, mean and maximum of the last map."""

    def __init__(self, inside: int, classes: int, widths=(32, 64, 128, 128), dropout: float = 0.2) -> None:
        super().__init__()
        layers = []
        for i, width in enumerate(widths):
            for _ in range(2):
                layers += [nn.Conv2d(inside, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
                inside = width
            if i < len(widths) - 1:
                layers.append(nn.MaxPool2d(2))
        self.body, self.dropout = nn.Sequential(*layers), nn.Dropout(dropout)
        self.last = nn.Linear(2 * inside, classes)

    def forward(self, x):
        x = self.body(x)
        return self.last(self.dropout(torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)))


def cool(last: nn.Linear, temperature: float) -> None:
    """Folds the temperature into the last layer."""
    last.weight.data /= temperature
    last.bias.data /= temperature
