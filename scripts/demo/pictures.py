"""Pictures made of cut-out objects on made backgrounds, so that the box of each object is known exactly.

The same number gives the same picture.
"""

import io
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

VISIBLE = 96     # of 255: from this opacity on a pixel counts for the box
COVERED = .25    # so much of an object may be hidden by those before it
TRIES = 40       # for a free place


@dataclass
class Scene:
    picture: Image.Image
    boxes: list[dict] = field(default_factory=list)

    def jpeg(self) -> bytes:
        out = io.BytesIO()
        self.picture.save(out, "JPEG", quality=88)
        return out.getvalue()

    @property
    def labels(self) -> list[str]:
        return [box["label"] for box in self.boxes]


# --- backgrounds ---

def _noise(rng: np.random.Generator, size: tuple[int, int], cell: tuple[int, int]) -> np.ndarray:
    """Soft spots, -1 to 1, of so many cells across and down."""
    small = Image.fromarray((rng.random((cell[1], cell[0])) * 255).astype(np.uint8))
    return np.asarray(small.resize(size, Image.BICUBIC), np.float32) / 127.5 - 1


def _wood(rng, size, base):
    grain = .6 * _noise(rng, size, (6, 90)) + .4 * _noise(rng, size, (3, 24))
    boards = np.arange(size[1]) // (size[1] // int(rng.integers(3, 6)))
    return base + (grain * 16)[..., None] + (rng.normal(0, 9, boards.max() + 1)[boards])[:, None, None]


def _cloth(rng, size, base):
    step = int(rng.integers(28, 56))
    y, x = np.mgrid[0:size[1], 0:size[0]]
    checks = ((x // step) % 2).astype(np.float32) + ((y // step) % 2)
    return base + ((checks - 1) * 22)[..., None] + (_noise(rng, size, (160, 120)) * 5)[..., None]


def _stone(rng, size, base):
    spots = .5 * _noise(rng, size, (9, 7)) + .3 * _noise(rng, size, (40, 30)) + .2 * _noise(rng, size, (160, 120))
    return base + (spots * 26)[..., None]


def _plain(rng, size, base):
    light = np.linspace(18, -22, size[1], dtype=np.float32)[:, None] + np.linspace(-8, 8, size[0], dtype=np.float32)[None, :]
    return base + light[..., None] + (_noise(rng, size, (12, 9)) * 4)[..., None]


BACKGROUNDS = (
    (_wood, ((172, 128, 84), (128, 88, 56), (198, 166, 126))),
    (_cloth, ((206, 214, 220), (168, 190, 170), (214, 186, 186))),
    (_stone, ((188, 186, 180), (120, 128, 134), (214, 206, 192))),
    (_plain, ((226, 222, 212), (150, 172, 190), (190, 200, 172))),
)


def background(rng: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    draw, colours = BACKGROUNDS[int(rng.integers(len(BACKGROUNDS)))]
    base = np.array(colours[int(rng.integers(len(colours)))], np.float32) + rng.normal(0, 6, 3).astype(np.float32)
    return Image.fromarray(np.clip(draw(rng, size, base), 0, 255).astype(np.uint8)).convert("RGBA")


# --- objects ---

def cut_out(path: Path) -> Image.Image:
    """The object without its empty border."""
    picture = Image.open(path).convert("RGBA")
    return picture.crop(picture.getchannel("A").point(lambda a: 255 * (a >= VISIBLE)).getbbox())


def _turned(rng: np.random.Generator, of: Image.Image, side: float, angle: float) -> Image.Image:
    k = side / max(of.size)
    piece = of.resize((max(8, round(of.width * k)), max(8, round(of.height * k))), Image.LANCZOS)
    if rng.random() < .5:
        piece = piece.transpose(Image.FLIP_LEFT_RIGHT)
    piece = piece.rotate(float(rng.uniform(-angle, angle)), Image.BICUBIC, expand=True)
    alpha = piece.getchannel("A")
    piece = ImageEnhance.Brightness(piece).enhance(float(rng.uniform(.82, 1.1)))
    piece.putalpha(alpha)
    return piece.crop(alpha.point(lambda a: 255 * (a >= VISIBLE)).getbbox())


def _shadow(onto: Image.Image, piece: Image.Image, at: tuple[int, int]) -> None:
    reach = max(3, max(piece.size) // 16)
    layer = Image.new("L", (piece.width + 6 * reach, piece.height + 6 * reach))
    layer.paste(piece.getchannel("A").point(lambda a: a * 110 // 255), (3 * reach, 3 * reach))
    layer = layer.filter(ImageFilter.GaussianBlur(reach))
    onto.paste((24, 20, 16), (at[0] - 3 * reach + reach, at[1] - 3 * reach + int(1.4 * reach)), layer)


def _hidden(box: tuple, others: list[tuple]) -> bool:
    """Would one of the others lose too much behind it?"""
    for x, y, w, h in others:
        across = min(box[0] + box[2], x + w) - max(box[0], x)
        down = min(box[1] + box[3], y + h) - max(box[1], y)
        if across > 0 and down > 0 and across * down > COVERED * min(w * h, box[2] * box[3]):
            return True
    return False


def scene(seed: int, size: tuple[int, int], objects: list[tuple[str, Image.Image]], sides: tuple[float, float], angle: float = 25) -> Scene:
    """objects: label and cut-out, the first behind; sides: of their longer sides, as parts of the picture's height."""
    rng = np.random.default_rng(seed)
    made = Scene(background(rng, size))
    places: list[tuple] = []
    for label, of in objects:
        piece = _turned(rng, of, float(rng.uniform(*sides)) * size[1], angle)
        for _ in range(TRIES):
            at = (int(rng.integers(0, size[0] - piece.width + 1)), int(rng.integers(0, size[1] - piece.height + 1)))
            box = (*at, *piece.size)
            if not _hidden(box, places):
                break
        else:
            continue
        _shadow(made.picture, piece, at)
        made.picture.alpha_composite(piece, at)
        places.append(box)
        made.boxes.append({"type": "box", "label": label, "x": at[0], "y": at[1], "w": piece.width, "h": piece.height})
    made.picture = made.picture.convert("RGB")
    return made
