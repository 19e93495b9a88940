"""For the program that is trained: ``ingot.log``, ``ingot.params`` and ``ingot.image`` tell the platform about the run.

They print lines, which the platform reads from the log, or write small files to /workspace/logs. So nothing waits for the
platform, nothing is lost while it is away, and none of them ever fails a run: what cannot be kept is left out, and said once on
the stream of errors."""

from __future__ import annotations

import json as _json
import math
import os
import struct
import sys
import zlib
from typing import Any, Iterator, Mapping
from urllib.parse import quote

NAME_MAX = 200  # bytes of a name
PARAMS_MAX = 200
TEXT_MAX = 500  # characters of a parameter
IMAGES_MAX = 200  # pictures of a run
IMAGE_BYTES = 1 << 20
IMAGE_SIDE = 1024  # pixels; larger ones are made smaller

_told: set[str] = set()


def _tell(what: str) -> None:
    if what not in _told:
        _told.add(what)
        print(f"ingot: {what}", file=sys.stderr, flush=True)


def _named(name: object) -> str | None:
    text = str(name)
    if 0 < len(text.encode(errors="replace")) <= NAME_MAX:
        return text
    _tell(f"a name has at most {NAME_MAX} bytes: {text[:40]!r}... is left out")
    return None


def _number(name: str, value: Any) -> float | int | str | None:
    try:
        number = value if isinstance(value, (int, float)) else float(value)
    except (TypeError, ValueError, RuntimeError):
        _tell(f"{name} is no number: it is left out")
        return None
    # JSON has no NaN: the platform counts it by its name.
    return number if math.isfinite(number) else "NaN" if math.isnan(number) else "Infinity"


def log(step: float | None = None, **values: Any) -> None:
    """Prints a line that the platform reads as metrics of the training: ``ingot.log(step=12, loss=0.31)``."""
    line: dict[str, Any] = {} if step is None else {"step": _number("step", step)}
    for name, value in values.items():
        known = _named(name)
        if known is not None and (number := _number(known, value)) is not None:
            line[known] = number
    print(_json.dumps(line), flush=True)


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _plain(value: Any) -> Any:
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        try:
            value = value.item()
        except (TypeError, ValueError, RuntimeError):
            pass
    if isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)[:TEXT_MAX]


def params(values: Mapping[str, Any] | None = None, **more: Any) -> None:
    """Tells the parameters of the run, by which runs are found and compared: ``ingot.params({"lr": 0.1, "model": {"depth": 18}})``.
    What is said again counts anew; a dictionary inside becomes model.depth."""
    kept: dict[str, Any] = {}
    for name, value in _flat({**(values or {}), **more}):
        known = _named(name)
        if known is None:
            continue
        if len(kept) == PARAMS_MAX:
            _tell(f"a run has at most {PARAMS_MAX} parameters: the others are left out")
            break
        kept[known] = _plain(value)
    if kept:
        print(_json.dumps({"ingot.params": kept}), flush=True)


def _png(width: int, height: int, channels: int, rows: Iterator[bytes]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def _shape(values: Any) -> tuple[int, ...]:
    shape = []
    while isinstance(values, (list, tuple)):
        shape.append(len(values))
        if not values:
            break
        values = values[0]
    return tuple(shape)


def _of_array(array: Any) -> bytes:
    """Height x width, height x width x channels or channels x height x width; 0..255, or 0..1 when it has fractions."""
    for part in ("detach", "cpu", "numpy"):  # of a tensor
        if hasattr(array, part):
            array = getattr(array, part)()
    kind = str(getattr(array, "dtype", ""))
    values = array.tolist() if hasattr(array, "tolist") else array
    shape = _shape(values)
    if len(shape) == 3 and shape[0] in (1, 3, 4) and shape[2] not in (1, 3, 4):
        values = [[[values[c][y][x] for c in range(shape[0])] for x in range(shape[2])] for y in range(shape[1])]
        shape = (shape[1], shape[2], shape[0])
    if len(shape) not in (2, 3) or 0 in shape or (len(shape) == 3 and shape[2] > 4):
        raise ValueError(f"an array of {shape} is no picture")
    step = -(-max(shape[0], shape[1]) // IMAGE_SIDE)
    picked = [row[::step] for row in values[::step]]
    flat = [[float(v) for pixel in row for v in (pixel if isinstance(pixel, (list, tuple)) else (pixel,))] for row in picked]
    fractions = "float" in kind or (not kind and any(v != int(v) for row in flat for v in row if math.isfinite(v)))
    scale = 255.0 if fractions and max((v for row in flat for v in row if math.isfinite(v)), default=0) <= 1 else 1.0
    rows = (bytes(min(255, max(0, round(v * scale))) if math.isfinite(v) else 0 for v in row) for row in flat)
    return _png(len(picked[0]), len(picked), 1 if len(shape) == 2 else shape[2], rows)


def _bytes_of(picture: Any) -> tuple[bytes, str]:
    if isinstance(picture, (str, os.PathLike)):
        with open(picture, "rb") as file:
            picture = file.read(IMAGE_BYTES + 1)
    if isinstance(picture, (bytes, bytearray)):
        data = bytes(picture)
    elif hasattr(picture, "save") and hasattr(picture, "thumbnail"):  # PIL
        import io
        small, out = picture.copy(), io.BytesIO()
        small.thumbnail((IMAGE_SIDE, IMAGE_SIDE))
        (small if small.mode in ("L", "LA", "RGB", "RGBA") else small.convert("RGB")).save(out, "PNG")
        data = out.getvalue()
    else:
        data = _of_array(picture)
    ending = "png" if data.startswith(b"\x89PNG\r\n\x1a\n") else "jpg" if data.startswith(b"\xff\xd8\xff") else ""
    if not ending:
        raise ValueError("neither PNG nor JPEG")
    if len(data) > IMAGE_BYTES:
        raise ValueError(f"it has {len(data)} bytes; a picture may have {IMAGE_BYTES}")
    return data, ending


def image(name: str, picture: Any, step: float | None = None) -> None:
    """Keeps a small picture with the run: an array or tensor, a PIL image, or a PNG or JPEG as bytes or path."""
    folder = os.path.join(os.environ.get("INGOT_LOGS", "/workspace/logs"), "ingot-images")
    known = _named(name)
    if known is None or os.environ.get("RANK", "0") != "0":
        return
    try:
        os.makedirs(folder, exist_ok=True)
        there = set(os.listdir(folder))
        data, ending = _bytes_of(picture)
        at = int(step) if step is not None and math.isfinite(step) and step >= 0 else len(there)
        file = f"{at:012d}-{quote(known, safe=' ')[:220].rstrip('%')}.{ending}"
        if file not in there and len(there) >= IMAGES_MAX:
            _tell(f"a run has at most {IMAGES_MAX} pictures: the others are left out")
            return
        half = os.path.join(folder, ".half")
        with open(half, "wb") as out:
            out.write(data)
        os.replace(half, os.path.join(folder, file))
    except Exception as error:  # noqa: BLE001 - a picture is never worth a run
        _tell(f"the picture {known[:40]!r} is not kept: {error}")
