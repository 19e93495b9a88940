"""Pictures: read once, shrunk to what training needs, kept as bytes in memory or in a file, and bent anew for each step."""

import io
import math
import os
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps, UnidentifiedImageError

from . import data, machine
from .errors import why

Image.MAX_IMAGE_PIXELS = 64 << 20  # as ingot-infer
MEAN, DEVIATION = 127.0, 128.0


class Unreadable(Exception):
    pass


def decode(raw: bytes, wanted: int = 0) -> Image.Image:
    """Upright RGB. A JPEG much larger than `wanted` is decoded at a fraction of its size."""
    try:
        picture = Image.open(io.BytesIO(raw))
        if wanted and picture.format == "JPEG":
            picture.draft("RGB", (2 * wanted, 2 * wanted))
        picture = ImageOps.exif_transpose(picture)
        if picture.mode in ("I", "I;16", "F"):
            picture = Image.fromarray((np.asarray(picture, np.float32) / 256).clip(0, 255).astype(np.uint8))
        # Alpha is dropped, not laid over something: ingot-infer does the same.
        return picture.convert("RGBA").convert("RGB") if picture.mode in ("P", "LA", "PA") else picture.convert("RGB")
    except Image.DecompressionBombError as error:
        raise Unreadable("too many pixels") from error
    except UnidentifiedImageError as error:
        raise Unreadable("no picture of a kind that is known") from error
    except Exception as error:  # Pillow's decoders raise whatever a damaged file leads them to
        raise Unreadable(str(error) or type(error).__name__) from error


def size_of(dataset: data.Dataset, one: data.Sample) -> tuple:
    """Width and height of the upright picture, from the index or from the file's head."""
    if one.width > 0 and one.height > 0:
        return one.width, one.height
    try:
        with Image.open(dataset.folder / one.file) as picture:
            width, height = picture.size
            turned = picture.getexif().get(0x0112, 1) in (5, 6, 7, 8)
            return (height, width) if turned else (width, height)
    except Exception:
        return 0, 0


class Store:
    """Equal arrays of bytes, by number: in memory, or where they are too many in a file without a name."""

    def __init__(self, count: int, shape: tuple, share: float = 0.35) -> None:
        full = (max(count, 1), *shape)
        if math.prod(full) <= machine.spare(share):
            self.array = np.zeros(full, np.uint8)
        else:
            self.file = tempfile.TemporaryFile(dir=_disk())
            os.posix_fallocate(self.file.fileno(), 0, math.prod(full))  # a full disk is known now, not by SIGBUS later
            self.array = np.memmap(self.file, np.uint8, "r+", shape=full)

    def __getitem__(self, numbers):
        return torch.from_numpy(np.ascontiguousarray(self.array[numbers]))


def _disk() -> "str | None":
    """/tmp may be memory; /workspace is the container's own disk."""
    return "/workspace" if Path("/workspace").is_dir() and Path("/workspace").stat().st_mode & 0o200 else None


def resized(picture: Image.Image, width: int, height: int) -> np.ndarray:
    """Stretched, bilinear with antialias: docs/models.md's default."""
    return np.asarray(picture.resize((width, height), Image.BILINEAR))


def letterboxed(picture: Image.Image, width: int, height: int, pad: int = 114) -> tuple:
    """Top left, the rest grey; and the factor."""
    s = min(width / picture.width, height / picture.height)
    w, h = int(picture.width * s + 0.5), int(picture.height * s + 0.5)
    out = np.full((height, width, 3), pad, np.uint8)
    w, h = max(1, min(w, width)), max(1, min(h, height))
    out[:h, :w] = np.asarray(picture.resize((w, h), Image.BILINEAR))
    return out, s


def normal(bytes_: torch.Tensor) -> torch.Tensor:
    """[N,H,W,3] of bytes or floats to what nets see."""
    x = bytes_.permute(0, 3, 1, 2).float()
    return ((x - MEAN) / DEVIATION).contiguous(memory_format=torch.channels_last)


def bend(count: int, strength: float, flip: bool, generator, zoom=(-0.35, 0.15), aspect=0.15, turn=0.17, shift=0.15) -> torch.Tensor:
    """Random affine maps from output to input, in affine_grid's coordinates (-1..1): [N,2,3]."""
    def draw(low, high):
        return low + (high - low) * torch.rand(count, generator=generator)

    size = torch.exp(draw(*zoom) * strength)  # of the part of the picture that is seen
    stretch, angle = torch.exp(draw(-aspect, aspect) * strength), draw(-turn, turn) * strength
    mirror = torch.where(draw(0, 1) < 0.5, -1.0, 1.0) if flip else torch.ones(count)
    x, y = draw(-shift, shift) * strength, draw(-shift, shift) * strength
    cos, sin = torch.cos(angle), torch.sin(angle)
    a, d = size * stretch, size / stretch
    return torch.stack([torch.stack([mirror * a * cos, -d * sin, x], 1), torch.stack([mirror * a * sin, d * cos, y], 1)], 1)


def warp(pixels: torch.Tensor, maps: torch.Tensor, height: int, width: int, mode: str = "bilinear", fill: float = 127.0) -> torch.Tensor:
    """[N,H,W,C] of bytes through affine maps to [N,height,width,C] floats; outside of the picture is `fill`."""
    x = pixels.permute(0, 3, 1, 2).float() - fill
    grid = F.affine_grid(maps, (len(x), x.shape[1], height, width), align_corners=False)
    return F.grid_sample(x, grid, mode, "zeros", align_corners=False).permute(0, 2, 3, 1) + fill


def light(x: torch.Tensor, strength: float, generator, contrast: float = 0.25, brightness: float = 20.0) -> torch.Tensor:
    """Random contrast and brightness of each picture of [N,H,W,C] in 0..255."""
    n = len(x)
    gain = 1 + contrast * strength * (2 * torch.rand(n, 1, 1, 1, generator=generator) - 1)
    offset = brightness * strength * (2 * torch.rand(n, 1, 1, 1, generator=generator) - 1)
    mean = x.mean((1, 2, 3), keepdim=True)
    return ((x - mean) * gain + mean + offset).clamp(0, 255)


def load(job, samples: list, put, seconds: float = float("inf"), wanted: int = 0) -> list:
    """Reads samples in the order given and calls put(number, sample, picture) for each that can be read; numbers count
    up from 0. What cannot be read is noted in job.skipped. Ends when time is up or the end was asked for; at least 8 are
    read. The samples that were put."""
    from .clock import Stretch

    stretch, kept = Stretch(job.clock, seconds), []
    for one in samples:
        if len(kept) >= 8 and stretch.progress() >= 1:
            break
        try:
            picture = decode(data.read_bytes(job.dataset, one), wanted)
        except (Unreadable, OSError) as error:
            job.skipped.append((one.file, why(error)))
            continue
        put(len(kept), one, picture)
        kept.append(one)
    return kept
