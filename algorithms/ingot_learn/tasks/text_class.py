"""Classes of texts, Chinese and English alike: TF-IDF of hashed n-grams of characters and logistic regression. It is
convex, so there is nothing to resume: it takes seconds, and the strength of regularisation is chosen on the validation part."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import calibrate, data, heads, ngrams, nodes
from ..errors import Stopped, why
from ..log import metrics, say
from ..result import Result

STRENGTHS = (16.0, 64.0, 4.0)  # scikit-learn's C, the best guess first
ITERATIONS = 300


class Rows:
    """Texts as weighted n-grams, one after the other."""

    def __init__(self, texts: list, idf: "np.ndarray | None" = None) -> None:
        pairs = [ngrams.count(text) for text in texts]
        self.size = np.array([len(index) for index, _ in pairs])
        self.index = np.concatenate([index for index, _ in pairs])
        often = np.concatenate([count for _, count in pairs])
        if idf is None:  # of these texts; 0 for what they do not have
            there = np.bincount(self.index, minlength=ngrams.BUCKETS)
            idf = np.where(there > 0, np.log((1 + len(texts)) / (1 + there)) + 1, 0).astype(np.float32)
        self.idf = idf
        value = (1 + np.log(np.maximum(often, 1))) * idf[self.index]
        row = np.repeat(np.arange(len(texts)), self.size)
        length = np.sqrt(np.bincount(row, value ** 2, minlength=len(texts)))
        self.value = (value / np.maximum(length, 1e-12)[row]).astype(np.float32)
        self.row = row

    def matrix(self, columns: np.ndarray) -> torch.Tensor:
        """Sparse [texts, used columns]; `columns` maps a bucket to its column, -1 to none."""
        at = columns[self.index]
        kept = at >= 0
        where = torch.from_numpy(np.stack([self.row[kept], at[kept]]))
        return torch.sparse_coo_tensor(where, torch.from_numpy(self.value[kept]), (len(self.size), int(columns.max()) + 1)).coalesce()


def fit(x: torch.Tensor, y: np.ndarray, classes: int, strength: float, over, start=None) -> tuple:
    """Balanced logistic regression; (W [columns, classes], b)."""
    many = y.ndim == 2
    wanted = torch.from_numpy(y)
    turned = x.t().coalesce()
    if many:
        n = np.maximum(y.sum(0), 1)
        scale = torch.ones(len(y), 1) * torch.where(wanted > 0, torch.tensor(np.sqrt((len(y) - n + 1) / n), dtype=torch.float32)[None], torch.ones(1, 1))
    else:
        n = np.maximum(np.bincount(y, minlength=classes), 1)
        scale = torch.tensor(len(y) / (classes * n), dtype=torch.float32)[wanted]
        hot = F.one_hot(wanted, classes).float()
    weight, bias = (t.clone() for t in start) if start else (torch.zeros(x.shape[1], classes), torch.zeros(classes))
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=20, tolerance_grad=1e-5, tolerance_change=1e-9, history_size=10,
                                  line_search_fn="strong_wolfe")

    def closure():
        """The gradient by hand: a transposed copy makes it as quick as the product."""
        logits = torch.sparse.mm(x, weight) + bias
        if many:
            cost = (F.binary_cross_entropy_with_logits(logits, wanted.float(), reduction="none") * scale).sum()
            slope = (torch.sigmoid(logits) - wanted) * scale
        else:
            cost = (F.cross_entropy(logits, wanted, reduction="none") * scale).sum()
            slope = (logits.softmax(1) - hot) * scale[:, None]
        weight.grad, bias.grad = torch.sparse.mm(turned, slope) + weight / strength, slope.sum(0)
        return cost + (weight ** 2).sum() / (2 * strength)

    before = float("inf")
    for turn in range(ITERATIONS // 20):
        cost = float(optimizer.step(closure))
        if over() or before - cost < 1e-5 * abs(cost):
            break
        before = cost
    return weight, bias


class Net(nn.Module):
    """index int64 [N,K] (pads with 2^18), count float [N,K] -> logits [N,C]."""

    def __init__(self, idf: np.ndarray, columns: np.ndarray, weight: torch.Tensor, bias: torch.Tensor, heat: float) -> None:
        super().__init__()
        self.idf = nn.Parameter(torch.from_numpy(np.append(idf, np.float32(0))), requires_grad=False)
        self.bias = nn.Parameter(bias / heat, requires_grad=False)
        classes = len(bias)
        full = torch.zeros(ngrams.BUCKETS + 1, classes)
        self.compact = weight.numel() + len(full) < full.numel()  # a map of columns pays off with many classes
        if self.compact:
            at = torch.from_numpy(np.append(np.where(columns < 0, len(weight), columns), len(weight)))
            self.register_buffer("at", at)
            rows = torch.cat([weight, torch.zeros(1, classes)])
        else:
            used = np.flatnonzero(columns >= 0)
            full[used] = weight[columns[used]]
            rows = full
        self.rows = nn.Parameter(rows / heat, requires_grad=False)

    def forward(self, index, count):
        value = (1 + torch.log(torch.clamp(count, min=1))) * self.idf[index]
        value = value / torch.sqrt((value * value).sum(1, keepdim=True)).clamp(min=1e-12)
        rows = self.rows[self.at[index] if self.compact else index]
        return torch.matmul(value.unsqueeze(1), rows).squeeze(1) + self.bias


def read(job, samples: list) -> tuple:
    """(samples, texts) of those that can be read."""
    kept, texts = [], []
    for one in samples:
        try:
            text = data.read_text(job.dataset, one)
        except OSError as error:
            job.skipped.append((one.file, why(error)))
            continue
        kept.append(one), texts.append(text)
    return kept, texts


def columns_of(rows: Rows) -> np.ndarray:
    columns = np.full(ngrams.BUCKETS, -1, np.int64)
    used = np.unique(rows.index)
    columns[used] = np.arange(len(used))
    return columns


def choose(job, train: list, y: np.ndarray, val: list, val_y: np.ndarray) -> tuple:
    """The strength that is best on the validation part, and that model's logits there."""
    rows = Rows(train)
    columns = columns_of(rows)
    x, v = rows.matrix(columns), Rows(val, rows.idf).matrix(columns)
    best, start = None, None
    for step, strength in enumerate(STRENGTHS):
        if best and nodes.agree(job.clock.left() < job.clock.budget * 0.4):
            break
        start = fit(x, y, len(job.dataset.labels), strength, job.clock.over, start)
        logits = torch.sparse.mm(v, start[0]) + start[1]
        figure, curves = heads.figures(logits, val_y)
        metrics(step + 1, strength=strength, **curves)
        if best is None or figure > best[0]:
            best = (figure, strength, logits, curves)
    return best


def train(job) -> Result:
    if job.clock.terminated:
        raise Stopped()
    kept, texts = read(job, job.parts["train"])
    val_kept, val = read(job, job.parts["val"])
    y = job.targets(kept)
    val_texts, val_y = (val, job.targets(val_kept)) if val else (texts, y)
    _, strength, logits, curves = choose(job, texts, y, val_texts, val_y)
    # The validation part has chosen: now it may teach too.
    rows = Rows(texts + val)
    columns = columns_of(rows)
    both = np.concatenate([y, val_y]) if val else y
    weight, bias = fit(rows.matrix(columns), both, len(job.dataset.labels), strength, job.clock.over)
    heat = calibrate.temperature(logits.numpy(), val_y, job.dataset.many) if val else 1.0
    outputs, thresholds = heads.reading(job, logits / heat, val_y, bool(val))
    net = Net(rows.idf, columns, weight, bias, heat).eval()
    say(f"{len(weight)} different n-grams, strength {strength:g}")

    def find(samples):
        for one in samples:
            kept, found = read(job, [one])
            if not kept:
                yield one, None
                continue
            index, often = ngrams.count(found[0])
            with torch.no_grad():
                row = net(torch.from_numpy(index)[None], torch.from_numpy(often)[None])[0]
            yield one, heads.annotation(job, row.numpy(), thresholds.get("score", 0.5))

    metric = "f1" if job.dataset.many else "accuracy"
    example = (torch.zeros(1, 8, dtype=torch.int64), torch.ones(1, 8))
    axes = {name: {0: "batch", 1: "ngrams"} for name in ("index", "count")}
    if nodes.first():
        job.checkpoint.end({})
    return Result(net, example, [{"kind": "text", "name": "index", "tokenizer": "ngrams", "counts": "count"}], outputs,
                  (("index", "count"), ("logits",)), {**axes, "logits": {0: "batch"}}, thresholds, metric=metric, figure=curves[metric], find=find,
                  about=["Logistic regression on TF-IDF of hashed n-grams of 1 to 4 characters.", f"Strength {strength:g}. Temperature {heat:.2f}."])
