"""What docs/models.md says of preparation and reading, once more in numpy, to hold the program against. Written from the
page, not from the C: pictures are decoded by Pillow, graphs run in onnx's own evaluator."""

import io
import json
import math
import unicodedata
import wave
from pathlib import Path

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from PIL import Image, ImageOps

INPUT = {"type": "fp32", "longest": 0, "multiple": 1, "range": [1, 8192], "fit": "stretch", "align": "center", "crop": 1,
         "resample": "bilinear", "antialias": True, "color": "rgb", "layout": "nchw", "scale": 1, "mean": 0,
         "deviation": 1, "pad": 0, "lowercase": True, "pad_to_length": False, "samples": 0, "cut": "center", "rank": 2}
OUTPUT = {"format": "xyxy", "unit": "pixels", "activation": "none", "layout": "nchw", "resample": "nearest",
          "frame": "input", "pooling": "none", "transposed": False, "objectness": False, "peaks": True,
          "normalize": False, "space": False, "yx": False, "refine": False, "background": -1, "blank": 0, "stride": 0,
          "center": 0.5, "variances": [1, 1, 1, 1], "unclip": 1.5}
THRESHOLDS = {"score": 0.5, "iou": 0.6, "mask": 0.5, "text": 0.3, "point": 0.3}


def sigmoid(v):
    return 1 / (1 + np.exp(-np.asarray(v, np.float64)))


def softmax(v, axis=-1):
    e = np.exp(v - v.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def activate(v, how):
    return {"none": lambda x: x, "sigmoid": sigmoid, "softmax": softmax}[how](np.asarray(v, np.float64))


# --- resampling ---
def weights(n_in, n_out, start, span, how, antialias):
    """The matrix of one axis."""
    step = span / n_out
    center = start + (np.arange(n_out) + 0.5) * step
    if how == "nearest":
        m = np.zeros((n_out, n_in))
        m[np.arange(n_out), np.clip(np.floor(center), 0, n_in - 1).astype(int)] = 1
        return m
    s = step if (antialias or how == "area") and step > 1 else 1
    x = (np.arange(n_in)[None, :] + 0.5 - center[:, None]) / s
    a = np.abs(x)
    if how == "bilinear":
        w = np.maximum(0, 1 - a)
    elif how == "bicubic":
        w = np.where(a < 1, 1.5 * a**3 - 2.5 * a**2 + 1, np.where(a < 2, -0.5 * (a**3 - 5 * a**2 + 8 * a - 4), 0))
    else:
        w = ((x > -0.5) & (x <= 0.5)).astype(float)
    return w / w.sum(axis=1, keepdims=True)


def resize(pixels, size, start, span, how, antialias):
    w = weights(pixels.shape[1], size[0], start[0], span[0], how, antialias)
    h = weights(pixels.shape[0], size[1], start[1], span[1], how, antialias)
    out = np.einsum("yh,hwc,xw->yxc", h, pixels.astype(np.float64), w, optimize=True)
    return np.clip(out, 0, 255) if how == "bicubic" else out


# --- preparation ---
class Map:
    """Where the input lies in the picture."""

    def __init__(self, spec, width, height):
        self.picture = (width, height)
        self.input = self.size(spec, width, height)
        covered, span = list(self.input), [width, height]
        if spec["fit"] == "letterbox":
            s = min(self.input[0] / width, self.input[1] / height)
            covered = [min(max(math.floor(side * s + 0.5), 1), most) for side, most in zip((width, height), self.input)]
        elif spec["fit"] == "crop":
            aspect = self.input[0] / self.input[1]
            span[0] = min(width, height * aspect) * spec["crop"]
            span[1] = span[0] / aspect
        middle = spec["align"] == "center"
        self.covered, self.span = covered, span
        self.start = [(p - s) / 2 if middle else 0 for p, s in zip(self.picture, span)]
        self.offset = [(i - c) // 2 if middle else 0 for i, c in zip(self.input, covered)]
        self.step = [s / c for s, c in zip(span, covered)]

    @staticmethod
    def size(spec, width, height):
        def follow(side):
            up = math.ceil(side / spec["multiple"] - 1e-9) * spec["multiple"]
            return min(max(up, spec["range"][0]), spec["range"][1])

        w, h = spec["size"]
        if not w and not h:
            s = min(1, spec["longest"] / max(width, height))
            return follow(math.floor(width * s + 0.5)), follow(math.floor(height * s + 0.5))
        return (w or follow(math.ceil(width * h / height - 1e-9)), h or follow(math.ceil(height * w / width - 1e-9)))

    def back(self, axis, at):
        return self.start[axis] + (at - self.offset[axis]) * self.step[axis]

    def forth(self, axis, at):
        return self.offset[axis] + (at - self.start[axis]) / self.step[axis]


def three(v):
    return np.array(v if isinstance(v, list) else [v] * 3, np.float64)


def picture(spec, pixels):
    m = Map(spec, pixels.shape[1], pixels.shape[0])
    got = resize(pixels, m.covered, m.start, m.span, spec["resample"], spec["antialias"])
    if spec["color"] == "gray":
        got = (got @ np.array([0.299, 0.587, 0.114]))[..., None]
    elif spec["color"] == "bgr":
        got = got[..., ::-1]
    channels = got.shape[2]
    whole = np.tile(three(spec["pad"])[:channels], (m.input[1], m.input[0], 1))
    whole[m.offset[1]:m.offset[1] + m.covered[1], m.offset[0]:m.offset[0] + m.covered[0]] = got
    value = (whole * spec["scale"] - three(spec["mean"])[:channels]) / three(spec["deviation"])[:channels]
    value = value[None] if spec["layout"] == "nhwc" else value.transpose(2, 0, 1)[None]
    if spec["type"] == "uint8":
        return np.clip(np.floor(value + 0.5), 0, 255).astype(np.uint8), m
    return value.astype(np.float16 if spec["type"] == "fp16" else np.float32), m


def ngrams(text, length):
    codes = [32]
    for c in map(ord, text[:4000]):
        c = c - 0xFEE0 if 0xFF01 <= c <= 0xFF5E else c
        c = c + 32 if 65 <= c <= 90 else c
        c = 32 if c <= 0x20 or c in (0xA0, 0x3000, 0xFEFF, 0x200B) else c
        if c != 32 or codes[-1] != 32:
            codes.append(c)
    codes += [32] if codes[-1] != 32 else []
    found = {}
    for n in range(1, 5):
        for i in range(len(codes) - n + 1):
            h = (0x811C9DC5 + n * 0x9E3779B9) & 0xFFFFFFFF
            for c in codes[i:i + n]:
                h = ((h ^ c) * 0x01000193) & 0xFFFFFFFF
            for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
                h = ((h ^ (h >> shift)) * factor) & 0xFFFFFFFF
            h &= 0x3FFFF
            if h in found or len(found) < length:
                found[h] = found.get(h, 0) + 1
    return list(found), list(found.values())


def wordpiece(text, vocab, lowercase, most):
    def punctuation(c):
        return (ord(c) < 128 and not c.isalnum() and ord(c) > 32) or unicodedata.category(c).startswith("P")

    text = "".join(" " if c in "\t\n\r" or unicodedata.category(c) == "Zs" else c for c in text)
    text = "".join(c for c in text if not unicodedata.category(c).startswith("C") and c != "\ufffd")
    if lowercase:
        text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    text = "".join(f" {c} " if punctuation(c) or "\u4e00" <= c <= "\u9fff" else c for c in text)
    ids = []
    for word in text.split():
        at, pieces = 0, []
        while at < len(word) and len(word) <= 100:
            end = next((e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in vocab), None)
            if end is None:
                break
            pieces.append(vocab[("##" if at else "") + word[at:end]])
            at = end
        ids += pieces if at == len(word) else [vocab["[UNK]"]]
    return ids[:most]


def tokens(spec, folder, text):
    """The tensors by the names of inputs, and how many are no padding."""
    length = spec.get("length", 16384 if spec["tokenizer"] == "ngrams" else 512)
    counts = None
    if spec["tokenizer"] == "ngrams":
        ids, counts = ngrams(text, length)
        pad = spec.get("pad_id", 0x40000)
    else:
        vocab = {}
        for i, line in enumerate((folder / spec["vocab"]).read_text().splitlines()):
            vocab.setdefault(line, i)
        pad = spec.get("pad_id", vocab.get("[PAD]", 0))
        if spec["tokenizer"] == "wordpiece":
            ids = [vocab["[CLS]"], *wordpiece(text, vocab, spec["lowercase"], length - 2), vocab["[SEP]"]]
        else:
            ids = [vocab.get(c, spec.get("unknown_id", vocab.get("[UNK]", 0))) for c in text[:length]]
    used = len(ids)
    more = length - used if spec["pad_to_length"] else 0
    kind = np.int32 if spec["type"] == "int32" else np.int64
    feeds = {spec["name"]: np.array([ids + [pad] * more], kind)}
    if spec.get("mask"):
        feeds[spec["mask"]] = np.array([[1] * used + [0] * more], kind)
    if spec.get("types"):
        feeds[spec["types"]] = np.zeros((1, used + more), kind)
    if counts is not None:
        feeds[spec["counts"]] = np.array([counts + [0] * more], np.float32)
    return feeds, used


def sound(spec, data):
    with wave.open(io.BytesIO(data)) as f:
        width, channels, rate = f.getsampwidth(), f.getnchannels(), f.getframerate()
        raw = f.readframes(f.getnframes())
    if width == 1:
        v = (np.frombuffer(raw, np.uint8).astype(np.float64) - 128) / 128
    elif width == 3:
        b = np.frombuffer(raw, np.uint8).reshape(-1, 3).astype(np.int32)
        v = ((b[:, 0] << 8 | b[:, 1] << 16 | b[:, 2] << 24)).astype(np.float64) / 2**31
    else:
        v = np.frombuffer(raw, {2: "<i2", 4: "<i4"}[width]).astype(np.float64) / 2 ** (8 * width - 1)
    v = v.reshape(-1, channels).mean(axis=1)
    if rate != spec["rate"]:
        f = min(1, spec["rate"] / rate)
        half, n = 16 / f, math.ceil(len(v) * spec["rate"] / rate)
        out = np.zeros(n)
        for j in range(n):
            t = j * rate / spec["rate"]
            k = np.arange(math.floor(t - half) - 1, math.ceil(t + half) + 2)
            w = np.where(np.abs(k - t) < half, np.sinc(f * (k - t)) * (1 + np.cos(np.pi * (k - t) / half)), 0)
            inside = (k >= 0) & (k < len(v))
            out[j] = (w[inside] * v[k[inside]]).sum() / w.sum()
        v = out
    n = spec["samples"] or len(v)
    middle = spec["cut"] == "center"
    if len(v) >= n:
        start = (len(v) - n) // 2 if middle else 0
        v = v[start:start + n]
    else:
        before = (n - len(v)) // 2 if middle else 0
        v = np.pad(v, (before, n - len(v) - before))
    return (v * spec["scale"]).astype(np.float32).reshape((1,) * (spec["rank"] - 1) + (-1,))


# --- reading ---
def label(model, out, number):
    if number < 0 or number == out["background"]:
        return None
    number -= out["background"] >= 0 and number > out["background"]
    return model.labels[number] if number < len(model.labels) else None


def rows(v, out):
    v = v[0] if v.ndim == 3 else v
    return v.T if out["transposed"] else v


def best_class(v, out):
    how = {"softmax": softmax, "sigmoid": sigmoid}.get(out["reading"] if out["reading"] != "rows" else out["activation"])
    v = np.asarray(v, np.float64)
    scores = how(v) if how else v.copy()
    if out["background"] >= 0:
        scores[:, out["background"]] = -np.inf
    number = scores.argmax(axis=1)
    return scores[np.arange(len(scores)), number], number


def corners(v, out, m):
    v = np.asarray(v, np.float64)
    a, b, c, d = v.T
    ways = {"xyxy": (a, b, c, d), "xywh": (a, b, a + c, b + d), "yxyx": (b, a, d, c),
            "cxcywh": (a - c / 2, b - d / 2, a + c / 2, b + d / 2)}
    unit = (m.input * 2) if out["unit"] == "normalized" else (1, 1, 1, 1)
    return np.stack(ways[out["format"]], 1) * np.array(unit)


def scored(model, got, n):
    out, v = next((o, v) for o, v in got.values() if o["reading"] in ("softmax", "sigmoid", "scores"))
    if "classes" in got or v.size == n:
        score = sigmoid(v.ravel()) if out["reading"] == "sigmoid" else v.ravel().astype(np.float64)
        return score, got["classes"][1].ravel().astype(int) if "classes" in got else np.zeros(n, int)
    return best_class(rows(v, out), out)


def grid(v, out):
    v = v[0] if v.ndim == 4 else v
    return (v.transpose(2, 0, 1) if out["layout"] == "nhwc" else v).astype(np.float64)


def heat_boxes(model, got, m):
    out, v = got["heatmap"]
    raw = grid(v, out)
    score = activate(raw, out["activation"])
    size_out, size = got.get("ltrb") or got["wh"]
    size = grid(size, size_out)
    h, w = raw.shape[1:]
    stride = [size_out["stride"] or m.input[0] / w, size_out["stride"] or m.input[1] / h]
    unit = {"pixels": (1, 1), "cells": stride, "normalized": m.input}[size_out["unit"]]
    found = []
    for c, y, x in np.argwhere(score >= model.threshold("score")):
        if out["peaks"] and raw[c, max(y - 1, 0):y + 2, max(x - 1, 0):x + 2].max() > raw[c, y, x]:
            continue
        shift = grid(got["offset"][1], got["offset"][0])[:, y, x] if "offset" in got else [size_out["center"]] * 2
        cx, cy = (x + shift[0]) * stride[0], (y + shift[1]) * stride[1]
        s = size[:, y, x] if "ltrb" in got else np.tile(size[:, y, x] / 2, 2)
        found.append(((cx - s[0] * unit[0], cy - s[1] * unit[1], cx + s[2] * unit[0], cy + s[3] * unit[1]),
                      score[c, y, x], c))
    return found


def all_boxes(model, got, m):
    if "heatmap" in got:
        return heat_boxes(model, got, m)
    if "rows" in got:
        out, v = got["rows"]
        v = rows(v, out).astype(np.float64)
        first = 5 if out["objectness"] else 4
        score, number = best_class(v[:, first:], out)
        if out["objectness"]:
            score = score * activate(v[:, 4], out["activation"])
        return list(zip(corners(v[:, :4], out, m), score, number))
    if "anchors" in got:
        out, v = got["anchors"]
        v = rows(v, out).astype(np.float64)
        v = (v[:, [1, 0, 3, 2]] if out["format"] == "yxyx" else v) * np.array(out["variances"])
        a = np.fromfile(model.folder / out["anchors"], "<f4").reshape(-1, 4).astype(np.float64)
        middle, half = a[:, :2] + v[:, :2] * a[:, 2:], np.exp(v[:, 2:]) * a[:, 2:] / 2
        score, number = scored(model, got, len(v))
        return list(zip(np.hstack([middle - half, middle + half]) * np.array(m.input * 2), score, number))
    out, v = got["boxes"]
    v = rows(v, out)
    score, number = scored(model, got, len(v))
    n = min(int(got["count"][1].ravel()[0]), len(v)) if "count" in got else len(v)
    return list(zip(corners(v, out, m), score, number))[:n]


def iou(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0
    area = lambda r: (r[2] - r[0]) * (r[3] - r[1])
    return w * h / (area(a) + area(b) - w * h)


def boxes(model, got, m):
    """(corners, score, class, index), best first."""
    found = [(b, s, n, i) for i, (b, s, n) in enumerate(all_boxes(model, got, m))
             if s >= model.threshold("score") and b[2] > b[0] and b[3] > b[1]]
    kept = []
    for box in sorted(found, key=lambda b: (-b[1], b[3]))[:10000]:
        if len(kept) < model.most and all((model.per_class and k[2] != box[2]) or
                                          iou(k[0], box[0]) <= model.threshold("iou") for k in kept):
            kept.append(box)
    return kept


def read_detection(model, got, m, _):
    numbering = next((got[r][0] for r in ("classes", "softmax", "sigmoid", "scores") if r in got),
                     {"background": -1})
    shapes = []
    for box, score, number, _ in boxes(model, got, m):
        x0, y0, x1, y1 = (min(max(m.back(i % 2, v), 0), m.picture[i % 2]) for i, v in enumerate(box))
        name = label(model, numbering, number)
        if name and x1 > x0 and y1 > y0:
            shapes.append({"type": "box", "label": name, "score": score, "x": x0, "y": y0, "w": x1 - x0, "h": y1 - y0})
    return {"shapes": shapes}


def read_class(model, got, m, _):
    out, v = next(iter(got.values()))
    scores = {"softmax": softmax, "sigmoid": sigmoid}.get(out["reading"], lambda x: x)(v.ravel().astype(np.float64))
    every = model.task == "image-classes" or (model.task != "image-class" and out["reading"] == "sigmoid")
    chosen = [i for i in range(len(scores)) if scores[i] >= model.threshold("score")] if every else [int(scores.argmax())]
    told = {label(model, out, i): scores[i] for i in chosen if scores[i] >= model.threshold("score")}
    told.pop(None, None)
    return {"labels": sorted(told), "scores": told}


def cells(m, axis, count, out, start=0.0, span=None):
    """For each column or row of the picture: the two cells of the map and the share of the second; -1: nowhere."""
    at = (m.forth(axis, np.arange(m.picture[axis]) + 0.5) - start) / (span or m.input[axis])
    nowhere = (at < 0) | (at >= 1)
    cell = np.clip(at, 0, 1) * count
    if out["resample"] == "nearest":
        first = np.minimum(np.floor(cell), count - 1).astype(int)
        return np.where(nowhere, -1, first), first, np.zeros(len(at))
    cell = np.maximum(cell - 0.5, 0)
    first = np.minimum(np.floor(cell), count - 1).astype(int)
    return np.where(nowhere, -1, first), np.minimum(first + 1, count - 1), cell - first


def spread(maps, m, out, box=None):
    """Maps [C,H,W] at the pixels of the picture, and which pixels the model saw."""
    columns = cells(m, 0, maps.shape[2], out, *((box[0], box[2] - box[0]) if box is not None else ()))
    lines = cells(m, 1, maps.shape[1], out, *((box[1], box[3] - box[1]) if box is not None else ()))
    x0, x1, sx = columns
    y0, y1, sy = lines
    top = maps[:, y0][:, :, x0] * (1 - sx) + maps[:, y0][:, :, x1] * sx
    low = maps[:, y1][:, :, x0] * (1 - sx) + maps[:, y1][:, :, x1] * sx
    return top * (1 - sy)[None, :, None] + low * sy[None, :, None], (y0 >= 0)[:, None] & (x0 >= 0)[None, :]


def read_segmentation(model, got, m, _):
    shapes = []
    if "boxes" in got:
        out, v = got["mask"]
        maps = v.reshape(-1, *v.shape[-2:]).astype(np.float64)
        numbering = (got.get("classes") or next(got[r] for r in ("softmax", "sigmoid", "scores") if r in got))[0]
        for box, score, number, index in boxes(model, got, m):
            at, seen = spread(maps[index:index + 1], m, out, box if out["frame"] == "box" else None)
            mask = (activate(at[0], out["activation"]) > model.threshold("mask")) & seen
            shapes.append((label(model, numbering, number), mask, score))
    elif "mask" in got:
        out, v = got["mask"]
        maps = grid(v, out)
        at, seen = spread(maps, m, out)
        for i, name in enumerate(model.labels):
            inside = activate(maps[i], out["activation"])
            inside = inside[inside > model.threshold("mask")]
            score = inside.mean() if inside.size else 0
            if score >= model.threshold("score"):
                shapes.append((name, (activate(at[i], out["activation"]) > model.threshold("mask")) & seen, score))
    else:
        out, v = got["argmax"]
        maps = grid(v, out)
        at, seen = spread(maps, m, out)
        best, owners = at.argmax(axis=0), maps.argmax(axis=0)
        share = softmax(maps, 0) if out["activation"] == "softmax" else activate(maps, out["activation"])
        for i in range(len(maps)):
            score = share[i][owners == i].mean() if out["activation"] != "none" and (owners == i).any() else None
            shapes.append((label(model, out, i), (best == i) & seen, score))
    return {"shapes": [{"type": "mask", "label": n, "mask": mask, **({"score": s} if s is not None else {})}
                       for n, mask, s in shapes if n and mask.any()]}


def read_keypoints(model, got, m, _):
    k, people = len(model.points), []
    if "points" in got:
        out, v = got["points"]
        long = v.shape[-1] == k * 3 + 5
        unit = m.input if out["unit"] == "normalized" else (1, 1)
        for row in v.reshape(-1, v.shape[-1] if long else k * 3).astype(np.float64):
            p = row[:k * 3].reshape(k, 3)
            p = np.stack([p[:, out["yx"] * 1] * unit[0], p[:, 1 - out["yx"]] * unit[1], p[:, 2]], 1)
            people.append((p, row[-1] if long else p[:, 2].mean()))
    else:
        out, v = got["point-maps"]
        maps, p = grid(v, out), np.zeros((k, 3))
        for i, one in enumerate(maps):
            y, x = np.unravel_index(one.argmax(), one.shape)
            dx = np.sign(one[y, x + 1] - one[y, x - 1]) / 4 if out["refine"] and 0 < x < one.shape[1] - 1 else 0
            dy = np.sign(one[y + 1, x] - one[y - 1, x]) / 4 if out["refine"] and 0 < y < one.shape[0] - 1 else 0
            sx, sy = (out["stride"] or m.input[0] / one.shape[1]), (out["stride"] or m.input[1] / one.shape[0])
            p[i] = (x + out["center"] + dx) * sx, (y + out["center"] + dy) * sy, activate(one[y, x], out["activation"])
        people.append((p, p[:, 2].mean()))
    shapes = []
    for p, score in people:
        xy = np.stack([m.back(0, p[:, 0]), m.back(1, p[:, 1])], 1)
        there = (p[:, 2] >= model.threshold("point")) & (xy >= 0).all(axis=1) & (xy <= np.array(m.picture)).all(axis=1)
        if score >= model.threshold("score") and there.any():
            shapes.append({"type": "keypoints", "label": model.labels[0], "score": score,
                           "points": [[*at, 2] if seen else [0, 0, 0] for at, seen in zip(xy, there)]})
    return {"shapes": shapes}


def read_embedding(model, got, m, used):
    out, v = got["vector"]
    v = v.astype(np.float64)
    if out["pooling"] != "none":
        v = v.reshape(*v.shape[:2], -1)[0].T if v.ndim == 4 else v[0]
        v = v[0] if out["pooling"] == "first" else v[:used or len(v)].mean(axis=0)
    v = v.ravel()
    return {"embedding": v / np.sqrt((v * v).sum()) if out["normalize"] else v}


READ = {"image-class": read_class, "image-classes": read_class, "text-class": read_class, "audio-class": read_class,
        "detection": read_detection, "segmentation": read_segmentation, "keypoints": read_keypoints,
        "embedding": read_embedding}


class Model:
    def __init__(self, folder: Path):
        self.folder, self.json = folder, json.loads((folder / "ingot-model.json").read_text())
        self.task, self.labels = self.json["task"], self.json.get("labels", [])
        self.points, self.most = self.json.get("points", []), self.json.get("most", 300)
        self.per_class = self.json.get("per_class", True)
        self.parts = [p["name"] for p in self.json["parts"]]
        self.graphs = {p["name"]: ReferenceEvaluator(onnx.load(folder / p["file"])) for p in self.json["parts"]}
        self.inputs = {i.get("part", self.parts[0]): INPUT | ({"type": "int64"} if i["kind"] == "text" else {}) | i
                       for i in self.json["inputs"]}
        self.outputs = [OUTPUT | o for o in self.json["outputs"]]

    def threshold(self, name):
        one = {"image-class"} | ({"text-class", "audio-class"} if self.outputs[0]["reading"] != "sigmoid" else set())
        otherwise = 0 if name == "score" and self.task in one else THRESHOLDS[name]
        return self.json.get("thresholds", {}).get(name, otherwise)

    def run(self, part, feeds):
        outs = [o for o in self.outputs if o.get("part", self.parts[0]) == part]
        values = self.graphs[part].run([o["name"] for o in outs], feeds)
        return {o["reading"]: (o, np.asarray(v)) for o, v in zip(outs, values)}

    def predict(self, data: bytes):
        part = self.parts[0]
        spec, m, used = self.inputs[part], None, 0
        if spec["kind"] == "picture":
            pixels = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
            if self.task == "ocr":
                import reference_ocr

                return reference_ocr.predict(self, pixels)
            value, m = picture(spec, pixels)
            feeds = {spec["name"]: value}
        elif spec["kind"] == "text":
            feeds, used = tokens(spec, self.folder, data.decode())
        else:
            feeds = {spec["name"]: sound(spec, data)}
        return READ[self.task](self, self.run(part, feeds), m, used)
