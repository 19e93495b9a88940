"""Figures on the validation part, by which models are chosen. Reports for people are made by `ingot evaluate`."""

import numpy as np


def accuracy(logits: np.ndarray, truth: np.ndarray) -> float:
    return float((logits.argmax(1) == truth).mean()) if len(truth) else 0.0


def macro_f1(found: np.ndarray, truth: np.ndarray) -> float:
    """Both [N,C] of 0 and 1; the mean over the labels that occur."""
    hit, said, there = (found & truth).sum(0), found.sum(0), truth.sum(0)
    f1 = 2 * hit / np.maximum(said + there, 1)
    return float(f1[there > 0].mean()) if (there > 0).any() else 0.0


def best_threshold(scores: np.ndarray, truth: np.ndarray, choices=np.arange(0.1, 0.91, 0.05)) -> float:
    """The score that gives the best macro F1; the middle of equal ones."""
    table = np.array([macro_f1(scores >= c, truth) for c in choices])
    best = np.flatnonzero(table >= table.max() - 1e-9)
    return round(float(choices[best[len(best) // 2]]), 3)


def overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """IoU of each of a with each of b; rows of x0, y0, x1, y1."""
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(2)
    area = (a[:, 2:] - a[:, :2]).prod(1)[:, None] + (b[:, 2:] - b[:, :2]).prod(1)[None]
    return both / np.maximum(area - both, 1e-9)


def matches(found: list, truth: list, label: int, least: float) -> tuple:
    """Scores of all found boxes of a label, best first, whether each hit, and how many there are. Lists hold, per picture,
    (boxes, labels, scores) and (boxes, labels)."""
    rows, there = [], 0
    for (boxes, labels, scores), (real, kinds) in zip(found, truth):
        real = real[kinds == label]
        there += len(real)
        free = np.ones(len(real), bool)
        mine = labels == label
        order = np.argsort(-scores[mine], kind="stable")
        table = overlap(boxes[mine][order], real) if len(real) and mine.any() else None
        for i, score in enumerate(scores[mine][order]):
            hit = False
            if table is not None and free.any():
                j = int(np.where(free, table[i], -1).argmax())
                hit = bool(table[i, j] >= least)
                free[j] &= not hit
            rows.append((score, hit))
    rows.sort(key=lambda row: -row[0])
    return np.array([r[0] for r in rows]), np.array([r[1] for r in rows], bool), there


def average_precision(hits: np.ndarray, there: int) -> float:
    """COCO's: 101 points of the monotone curve."""
    if not there:
        return float("nan")
    tp = np.cumsum(hits)
    recall, precision = tp / there, tp / np.arange(1, len(hits) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(recall, np.linspace(0, 1, 101))
    return float(np.where(at < len(precision), np.append(precision, 0)[np.minimum(at, len(precision))], 0).mean())


def detection(found: list, truth: list, classes: int) -> tuple:
    """mAP50, and the score with the best F1 over all labels."""
    aps, scores, hits, total = [], [], [], 0
    for label in range(classes):
        s, h, there = matches(found, truth, label, 0.5)
        aps.append(average_precision(h, there))
        scores.append(s), hits.append(h)
        total += there
    scores, hits = np.concatenate(scores), np.concatenate(hits).astype(bool)
    order = np.argsort(-scores, kind="stable")
    tp = np.cumsum(hits[order])
    f1 = 2 * tp / np.maximum(np.arange(1, len(tp) + 1) + total, 1)
    best = float(scores[order][int(f1.argmax())]) if len(f1) and f1.max() > 0 else 0.3
    known = [ap for ap in aps if ap == ap]
    return float(np.mean(known)) if known else 0.0, round(min(max(best, 0.05), 0.7), 3)


def mean_iou(both: np.ndarray, found: np.ndarray, truth: np.ndarray) -> float:
    """Pixels of each label in both, in what was found, in the truth; the mean of labels that occur in the truth."""
    there = truth > 0
    return float((both / np.maximum(found + truth - both, 1))[there].mean()) if there.any() else 0.0
