"""What notebooks show: pictures with their shapes, texts with their spans, sounds. Nothing is needed but Python."""

from __future__ import annotations

import base64
import html
import io
import os
import struct
import zlib
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from .tables import needs

_COLOURS = ("#e6194b", "#3cb44b", "#4363d8", "#f58231", "#911eb4", "#008080", "#9a6324", "#800000", "#808000", "#000075")


def colour_of(label: str, colours: Mapping[str, str] | None = None) -> str:
    """That of the label set, else the same one each time."""
    return (colours or {}).get(label) or _COLOURS[zlib.crc32(label.encode()) % len(_COLOURS)]


def data_uri(content: bytes, media: str) -> str:
    return f"data:{media};base64,{base64.b64encode(content).decode()}"


# --- masks ---


def runs_of(counts: str) -> list[int]:
    """The run lengths of a mask (docs/annotations.md): background and object in turn, column by column."""
    runs: list[int] = []
    at = 0
    while at < len(counts):
        value, shift, more = 0, 0, True
        while more:
            bits = ord(counts[at]) - 48
            value |= (bits & 31) << shift
            shift, at, more = shift + 5, at + 1, bool(bits & 32)
        if bits & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
    return runs


def _mask_pixels(shape: Mapping[str, Any], side: int) -> tuple[int, int, list[bytearray]]:
    """The mask, made smaller so that its longer side has at most that many pixels: width, height, rows of 0 and 1."""
    height, width = (int(n) for n in shape["size"])
    step = max(1, -(-max(width, height) // side))
    columns, rows = -(-width // step), -(-height // step)
    out = [bytearray(columns) for _ in range(rows)]
    at = 0
    for i, run in enumerate(runs_of(shape["counts"])):
        if i % 2:
            for column in range(at // height, -(-(at + run) // height)):
                if column % step == 0:
                    first, last = max(at - column * height, 0), min(at + run - column * height, height)
                    for row in range(-(-first // step), -(-last // step)):
                        out[row][column // step] = 1
        at += run
    return columns, rows, out


def _png(width: int, height: int, rows: Iterable[bytes | bytearray], colour: str) -> bytes:
    """One colour, half seen through, where a row has 1."""
    rgb = bytes.fromhex(colour[1:])

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    raw = b"".join(b"\0" + bytes(row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) + chunk(b"PLTE", b"\0\0\0" + rgb)
            + chunk(b"tRNS", b"\0\x80") + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


# --- pictures ---


def _points(ring: Sequence[float]) -> str:
    return "M" + "L".join(f"{ring[i]:g} {ring[i + 1]:g}" for i in range(0, len(ring) - 1, 2)) + "Z"


def _box(shape: Mapping[str, Any], style: str) -> str:
    x, y, w, h = (shape[key] for key in "xywh")
    turned = f' transform="rotate({shape["angle"]:g} {x + w / 2:g} {y + h / 2:g})"' if shape.get("angle") else ""
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"{turned} {style} fill-opacity="0"/>'


def _outline(shape: Mapping[str, Any], style: str) -> str:
    path = "".join(_points(ring) for ring in [*shape.get("rings", ()), *shape.get("holes", ())])
    return f'<path d="{path}" fill-rule="evenodd" {style} fill-opacity="0.25"/>'


def _mask(shape: Mapping[str, Any], colour: str) -> str:
    width, height, rows = _mask_pixels(shape, 512)
    uri = data_uri(_png(width, height, rows, colour), "image/png")
    return (f'<image href="{uri}" width="{shape["size"][1]:g}" height="{shape["size"][0]:g}" preserveAspectRatio="none" '
            'style="image-rendering:pixelated"/>')


def _anchor(shape: Mapping[str, Any]) -> tuple[float, float]:
    """Where the label stands."""
    if "x" in shape:
        return shape["x"], shape["y"]
    if shape.get("rings"):
        ring = shape["rings"][0]
        return min(ring[0::2]), min(ring[1::2])
    if shape.get("counts"):
        first, height = runs_of(shape["counts"])[0], shape["size"][0]
        return first // height, first % height
    seen = [(p[0], p[1]) for p in shape.get("points", ()) if p[2]]
    return min(seen, key=lambda p: p[1]) if seen else (0.0, 0.0)


def _shape(shape: Mapping[str, Any], colours: Mapping[str, str] | None, unit: float) -> str:
    label = str(shape.get("label") or "")
    colour = html.escape(colour_of(label, colours), quote=True)
    style = f'stroke="{colour}" stroke-width="{2 * unit:g}" fill="{colour}"'
    parts = []
    if shape.get("type") == "box":
        parts.append(_box(shape, style))
    if shape.get("rings"):
        parts.append(_outline(shape, style))
    if shape.get("counts"):
        parts.append(_mask(shape, colour))
    parts += [f'<circle cx="{p[0]:g}" cy="{p[1]:g}" r="{3 * unit:g}" fill="{colour}"/>' for p in shape.get("points", ()) if p[2]]
    said = " ".join(filter(None, [label, f"{shape['score']:.2f}" if "score" in shape else "", str(shape.get("text") or "")]))
    x, y = _anchor(shape)
    size = 12 * unit
    parts.append(f'<text x="{x:g}" y="{max(y - 3 * unit, size):g}" font-size="{size:g}" font-family="sans-serif" fill="{colour}" stroke="white" '
                 f'stroke-width="{3 * unit:g}" paint-order="stroke">{html.escape(said)}</text>')
    return "".join(parts)


def picture(content: bytes, media: str, width: int, height: int, annotation: Mapping[str, Any],
            colours: Mapping[str, str] | None = None, side: int = 640) -> str:
    """A picture with what is labelled on it, as SVG in HTML. width and height are those that the coordinates count in."""
    width, height = max(int(width), 1), max(int(height), 1)
    scale = min(1.0, side / max(width, height))
    shapes = "".join(_shape(shape, colours, 1 / scale) for shape in annotation.get("shapes", ()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{round(width * scale)}" height="{round(height * scale)}" '
            f'viewBox="0 0 {width} {height}"><image href="{data_uri(content, media)}" width="{width}" height="{height}" '
            f'preserveAspectRatio="none"/>{shapes}</svg>')


# --- texts and sounds ---


def text(content: str, annotation: Mapping[str, Any], colours: Mapping[str, str] | None = None) -> str:
    """A text with its spans marked; those that begin within another one are listed behind."""
    out, rest, at = "", [], 0
    for span in sorted(annotation.get("spans", ()), key=lambda s: (s["start"], -s["end"])):
        colour = html.escape(colour_of(str(span["label"]), colours), quote=True)
        said = f"<mark style='background:{colour}33;border-bottom:2px solid {colour}'>{html.escape(content[span['start']:span['end']])}" \
               f"<sub style='color:{colour}'> {html.escape(str(span['label']))}</sub></mark>"
        if span["start"] < at:
            rest.append(said)
            continue
        out += html.escape(content[at:span["start"]]) + said
        at = span["end"]
    also = f"<br>{' '.join(rest)}" if rest else ""
    return f"<div style='white-space:pre-wrap'>{out}{html.escape(content[at:])}</div>{also}"


def sound(content: bytes, media: str, annotation: Mapping[str, Any]) -> str:
    parts = [f"<audio controls src='{data_uri(content, media)}'></audio>"]
    if annotation.get("text"):
        parts.append(f"<div>{html.escape(annotation['text'])}</div>")
    parts += [f"<div>{s['start']:.2f}–{s['end']:.2f} s {html.escape(' '.join(str(s[k]) for k in ('label', 'text') if s.get(k)))}</div>"
              for s in annotation.get("segments", ())]
    return "".join(parts)


def framed(name: str, notes: Iterable[str], body: str) -> str:
    said = " · ".join(html.escape(note) for note in notes if note)
    return f"<figure style='display:inline-block;margin:4px'>{body}<figcaption><b>{html.escape(name)}</b> {said}</figcaption></figure>"


class Picture:
    """A picture and what is seen in it: ``Picture("a.jpg", answer["annotation"])``. A notebook shows it with its shapes;
    ``image()`` is a ``PIL.Image``."""

    def __init__(self, content: bytes | str | os.PathLike[str], annotation: Mapping[str, Any], *, media: str = "image/jpeg") -> None:
        self.content = content if isinstance(content, bytes) else Path(content).read_bytes()
        self.annotation, self.media = annotation, media

    def image(self) -> Any:
        """Upright, as coordinates count."""
        ops = needs("PIL.ImageOps", "pillow", "image()")
        return ops.exif_transpose(needs("PIL.Image", "pillow", "image()").open(io.BytesIO(self.content)))

    def _repr_html_(self) -> str:
        width, height = self.image().size
        labels = ", ".join(_scored(self.annotation, label) for label in self.annotation.get("labels", ()))
        return framed("", [labels], picture(self.content, self.media, width, height, self.annotation))


def _scored(annotation: Mapping[str, Any], label: str) -> str:
    score = (annotation.get("scores") or {}).get(label)
    return label if score is None else f"{label} {score:.2f}"
