"""One sample of a dataset version: its bytes, its picture, what is labelled on it, and changes of that."""

from __future__ import annotations

import copy
import io
import mimetypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Union, cast

from . import show
from .errors import IngotError, Problem, Stale, problem
from .tables import needs
from .types import Object

if TYPE_CHECKING:
    from .samples import Samples
    from .version import Version

_TRIES = 8
_SEEN = 2 << 20  # bytes of a sound that a notebook plays
_STATUS = {"invalid": 422, "conflict": 409, "not_found": 404, "forbidden": 403}
_LISTS = ("shapes", "spans", "segments")

Shape = Mapping[str, Any]


class EditConflict(IngotError):
    """Somebody else changed the same shape, label, text or attribute since the sample was read. `theirs` is what they made
    of it, None when it was removed; :meth:`Sample.refresh` reads all of it."""

    def __init__(self, result: Object) -> None:
        super().__init__(f"sample {result['sample']}: somebody else changed the same since it was read")
        self.result, self.theirs = result, result.get("shape")


def media_of(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


class Sample:
    """``sample.name``, ``sample.image()``, ``sample.put({...})``. Made by a :class:`Version`, which is iterated.

    A change of one shape or label names the revision that was read: two people merge as long as they do not change the
    same thing, otherwise it raises :class:`EditConflict`. Changes of the whole raise :class:`ingot.Stale`."""

    def __init__(self, version: Version, item: Mapping[str, Any], *, layer: int | None = None, assignment: int | None = None) -> None:
        self.version, self.item = version, cast(Object, dict(item))
        self._layer, self._assignment = layer, assignment

    # --- what it is ---

    @property
    def id(self) -> int:
        return int(self.item["id"])

    @property
    def name(self) -> str:
        return str(self.item["name"])

    @property
    def state(self) -> str:
        return str(self.item["state"])

    @property
    def split(self) -> str | None:
        """The part of the dataset that its files put it into: train, val, test."""
        return cast("str | None", self.item.get("split"))

    @property
    def revision(self) -> int:
        return int(self.item["revision"])

    @property
    def width(self) -> int:
        return int(self.item.get("width") or 0)

    @property
    def height(self) -> int:
        return int(self.item.get("height") or 0)

    @property
    def annotation(self) -> Object:
        """As docs/annotations.md has it; a copy to look at and to change."""
        return cast(Object, copy.deepcopy(self.item.get("annotation") or {}))

    @property
    def shapes(self) -> list[Object]:
        """The shapes of a picture, the spans of a text, the segments of a sound."""
        found = self.annotation
        return [one for key in _LISTS for one in found.get(key, ())]

    @property
    def labels(self) -> list[str]:
        """Every label of the sample and of its shapes, once."""
        said = [*self.annotation.get("labels", ()), *(one["label"] for one in self.shapes if one.get("label"))]
        return list(dict.fromkeys(said))

    def __repr__(self) -> str:
        size = f" {self.width}x{self.height}" if self.width else ""
        return f"<sample {self.id} {self.name}{size} {self.state}: {len(self.shapes)} shapes, labels {self.labels}>"

    # --- its bytes ---

    @property
    def _path(self) -> str:
        return f"{self.version.path}/samples/{self.id}"

    def read(self) -> bytes:
        """The file as it was imported."""
        return self.version.client.checked("GET", f"{self._path}/content").content

    def save(self, to: str | os.PathLike[str]) -> Path:
        """Writes the file: into a folder, below its name, or to a path."""
        path = Path(to) / self.name if Path(to).is_dir() else Path(to)
        if Path(to).is_dir() and Path(to).resolve() not in path.resolve().parents:
            raise IngotError(f"the sample's name {self.name!r} leads out of {to}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.read())
        return path

    def content(self) -> str:
        """The text of a text sample."""
        return self.read().decode("utf-8", errors="replace")

    def image(self) -> Any:
        """A ``PIL.Image``, upright, in which the coordinates of shapes count."""
        pillow, ops = needs("PIL.Image", "pillow", "image()"), needs("PIL.ImageOps", "pillow", "image()")
        return ops.exif_transpose(pillow.open(io.BytesIO(self.read())))

    def array(self) -> Any:
        """The picture as a ``numpy`` array (height, width, 3)."""
        return needs("numpy", "numpy", "array()").asarray(self.image().convert("RGB"))

    def thumbnail(self, side: int = 256) -> bytes:
        """A small JPEG."""
        return self.version.client.checked("GET", f"{self._path}/thumbnail", params={"side": side}).content

    # --- changes: one shape, label, text or attribute ---

    def refresh(self) -> Sample:
        self.item = self._samples.get(self.id, layer=self._layer)
        return self

    @property
    def _samples(self) -> Samples:
        return self.version.samples

    def _operate(self, **operation: Any) -> Object:
        operation.update(sample=self.id, base=self.revision)
        if self._layer is not None:
            operation["layer"] = self._layer
        result = self._samples.operate([operation], assignment=self._assignment)[0]
        check(result)
        self.refresh()
        return result

    def put(self, shape: Shape) -> Object:
        """Adds a shape (a span, a segment), or replaces the one of its ``id``; what is there now, with its id."""
        named = shape if "id" in shape else {"id": self._samples.fresh_id(), **shape}
        return cast(Object, self._operate(op="put", shape=dict(named))["shape"])

    def box(self, label: str, x: float, y: float, w: float, h: float, **more: Any) -> Object:
        """Adds a box; ``angle=``, ``text=``, ``attributes=``."""
        return self.put({"type": "box", "label": label, "x": x, "y": y, "w": w, "h": h, **more})

    def polygon(self, label: str, *rings: list[float], **more: Any) -> Object:
        """Adds a polygon of rings ``[x, y, x, y, ...]``."""
        return self.put({"type": "polygon", "label": label, "rings": [list(ring) for ring in rings], **more})

    def remove(self, shape: Union[str, Shape]) -> None:
        """Takes a shape away: itself, or its id."""
        self._operate(op="remove", shape=shape if isinstance(shape, str) else shape["id"])

    def label(self, name: str, on: bool = True) -> None:
        """Gives the sample a label, or takes it; where there may be one, it replaces the other."""
        self._operate(op="label", label=name, on=on)

    def transcribe(self, text: str | None) -> None:
        self._operate(op="text", text=text)

    def attribute(self, name: str, value: Any) -> None:
        """Sets an attribute of the sample; None takes it away."""
        self._operate(op="attribute", name=name, value=value)

    # --- changes: the whole ---

    def annotate(self, annotation: Mapping[str, Any], *, state: str | None = None) -> Sample:
        """Makes this its annotation; :class:`ingot.Stale` when somebody changed it since it was read."""
        if self._layer is not None or self._assignment is not None:
            self._operate(op="replace", annotation=dict(annotation))
            return self
        body = {"annotation": dict(annotation), **({"state": state} if state else {})}
        headers = {"If-Match": f'"{self.revision}"'}
        self.item = self.version.client.request("PUT", f"{self._path}/annotation", json=body, headers=headers)
        return self

    def edit(self, change: Callable[[Object], Union[Mapping[str, Any], None]], *, state: str | None = None) -> Sample:
        """Lets a function change the annotation, or give another: it is called again with what is there when somebody was
        faster, so nobody's work is lost. ``sample.edit(lambda a: a.setdefault("labels", []).append("cat"))``"""
        for left in reversed(range(_TRIES)):
            annotation = self.annotation
            made = change(annotation)
            try:
                return self.annotate(made if isinstance(made, Mapping) else annotation, state=state)
            except (Stale, EditConflict):
                if not left:
                    raise
                self.refresh()
        raise AssertionError("unreachable")

    def move(self, to: str) -> Sample:
        """"cleaned" takes it out of the set, "set" brings it back in its former state."""
        self.version.move([self], to)
        return self.refresh()

    # --- what was ---

    def history(self) -> Iterator[Object]:
        """What was done to it, the oldest first."""
        return self._samples.operations(self.id)

    def at(self, revision: int) -> Object:
        return self._samples.at(self.id, revision, layer=self._layer)

    def restore(self, revision: int) -> Sample:
        """Makes an earlier state the current one."""
        self.item = self._samples.restore(self.id, revision)
        return self

    # --- in a notebook ---

    def _repr_html_(self) -> str:
        kind, annotation, colours = self.version.data_type, self.annotation, self.version.colours()
        if kind == "text":
            body = show.text(self.content(), annotation, colours)
        elif kind == "audio":
            small = int(self.item.get("size") or 0) <= _SEEN
            body = show.sound(self.read() if small else b"", media_of(self.name), annotation)
        else:
            body = show.picture(self.thumbnail(640), "image/jpeg", self.width, self.height, annotation, colours)
        return show.framed(self.name, [self.state, ", ".join(annotation.get("labels", ()))], body)


def check(result: Object) -> None:
    """Raises what an operation came to, unless it was applied."""
    if result["state"] == "conflict":
        raise EditConflict(result)
    if result["state"] == "refused":
        raise refusal(result)


def refusal(result: Object) -> Problem:
    said = result.get("problem") or {}
    code = str(said.get("code") or "invalid")
    return problem(_STATUS.get(code, 400), {"code": code, "field": said.get("field"), "detail": said.get("message") or "refused"})
