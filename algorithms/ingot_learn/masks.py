"""Shapes of segmentation to pixels and back (docs/annotations.md)."""

import numpy as np
from PIL import Image, ImageChops, ImageDraw


def runs_of(text: str) -> list:
    """COCO's compressed run lengths."""
    out, at = [], 0
    while at < len(text):
        value, shift, more = 0, 0, True
        while more and at < len(text):
            bits = ord(text[at]) - 48
            value |= (bits & 31) << shift
            more, shift, at = bool(bits & 32), shift + 5, at + 1
            if not more and bits & 16:
                value -= 1 << shift
        out.append(value + out[-2] if len(out) > 2 else value)
    return out


def text_of(runs: list) -> str:
    out = []
    for i, run in enumerate(runs):
        value = run - runs[i - 2] if i > 2 else run
        while True:
            bits, value = value & 31, value >> 5
            more = value != (-1 if bits & 16 else 0)
            out.append(chr(48 + bits + (32 if more else 0)))
            if not more:
                break
    return "".join(out)


def unpack(size: list, text: str) -> np.ndarray:
    """[height,width] of booleans."""
    height, width = size
    runs = np.array(runs_of(text), np.int64)
    flat = np.repeat(np.arange(len(runs)) % 2, np.maximum(runs, 0))[:height * width]
    return np.pad(flat, (0, height * width - len(flat))).reshape(width, height).T.astype(bool)


def pack(mask: np.ndarray) -> str:
    flat = mask.T.reshape(-1)
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    runs = np.diff(np.concatenate([[0], edges, [len(flat)]])).tolist()
    return text_of(([0] if len(flat) and flat[0] else []) + runs)


def _filled(rings: list, fx: float, fy: float, size: tuple) -> Image.Image:
    """The union of rings. A pixel belongs to one when its middle does."""
    out = Image.new("1", size)
    for ring in rings:
        points = [(x * fx - 0.5, y * fy - 0.5) for x, y in zip(ring[::2], ring[1::2])]
        if len(points) >= 3:
            one = Image.new("1", size)
            ImageDraw.Draw(one).polygon(points, fill=1)
            out = ImageChops.logical_or(out, one)
    return out


def paint(shapes: list, numbers: dict, source: tuple, size: tuple) -> np.ndarray:
    """Class numbers [height,width] of `size` (width, height), 0 where nothing is; later shapes lie over earlier ones."""
    out = np.zeros((size[1], size[0]), np.uint8)
    fx, fy = size[0] / source[0], size[1] / source[1]
    for shape in shapes:
        if shape["type"] == "mask":
            mask = Image.fromarray(unpack(shape["size"], shape["counts"])).resize(size, Image.NEAREST)
        else:
            mask = _filled(shape["rings"], fx, fy, size)
            if shape.get("holes"):
                mask = ImageChops.logical_and(mask, ImageChops.invert(_filled(shape["holes"], fx, fy, size)))
        out[np.asarray(mask)] = numbers[shape["label"]]
    return out
