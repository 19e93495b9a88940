"""One version of a dataset, to work with: ``cats = client.dataset("cats:v2", project="vision")``."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, Sequence, Union, cast

from . import show
from .errors import NotFound
from .imports import Import
from .sample import Sample
from .samples import Samples
from .tables import Table, needs
from .transfer import Bundle, Progress, upload, wait
from .types import DatasetVersion, Object, Task

if TYPE_CHECKING:
    from .client import Client

_BATCH = 1000
_GALLERY = 12
STATES = ("unannotated", "annotated", "machine", "review", "accepted", "rejected", "cleaned")
_ROW = ("id", "name", "state", "split", "width", "height", "duration", "size", "by_person", "revision", "updated_at", "digest")
_SHAPE = ("id", "type", "label", "score", "x", "y", "w", "h", "angle", "text", "start", "end", "crowd", "occluded", "truncated")
#: A path, bytes, a text, a PIL.Image, a numpy array, or a sample of any version.
Content = Any


class Query:
    """Some samples of a version. Nothing is asked before it is iterated, counted or made a table."""

    def __init__(self, version: Version, state: str | Sequence[str] | None = None, label: str | None = None, q: str | None = None,
                 split: str | None = None, where: Callable[[Sample], bool] | None = None, limit: int | None = None) -> None:
        self.version = version
        self.states = [state] if isinstance(state, str) else list(state or ())
        self.label, self.q, self.split, self.where, self.most = label, q, split, where, limit

    def limit(self, n: int) -> Query:
        """At most so many of them."""
        return Query(self.version, self.states, self.label, self.q, self.split, self.where, n)

    def _items(self) -> Iterator[Sample]:
        params: dict[str, Any] = {"limit": 200}
        if self.states:
            params["state"] = self.states[0] if len(self.states) == 1 else "any"
        for key, value in (("label", self.label), ("q", self.q)):
            if value is not None:
                params[key] = value
        for item in self.version.samples.all(**params):
            sample = Sample(self.version, item)
            fits = (not self.states or sample.state in self.states) and (self.split is None or sample.split == self.split)
            if fits and (self.where is None or self.where(sample)):
                yield sample

    def __iter__(self) -> Iterator[Sample]:
        return itertools.islice(self._items(), self.most)

    def first(self) -> Sample | None:
        return next(iter(self), None)

    def count(self) -> int:
        """How many there are; by state alone without reading them."""
        if self.label or self.q or self.split or self.where or self.most is not None:
            return sum(1 for _ in self)
        counts = self.version.statistics()["states"]
        return sum(n for state, n in counts.items() if state in self.states or (not self.states and state != "cleaned"))

    # --- tables ---

    def table(self, rows: str = "samples", *, content: bool = False) -> Table:
        """rows="samples": one for each, with its labels and its annotation; rows="shapes": one for each shape, span or
        segment. content: also the bytes of every sample, which are read one by one."""
        if rows == "samples":
            columns = [*_ROW, "labels", "shapes", "annotation", *(["content"] if content else [])]
            return Table((_sample_row(s, content) for s in self), columns)
        if rows == "shapes":
            return Table((row for s in self for row in _shape_rows(s)), ["sample", "name", "split", "at", *_SHAPE, "annotation"])
        raise ValueError(f"rows: {rows!r} is neither 'samples' nor 'shapes'")

    def to_pandas(self, rows: str = "samples", *, content: bool = False) -> Any:
        """A ``pandas.DataFrame`` of :meth:`table`."""
        return self.table(rows, content=content).to_pandas()

    def to_arrow(self, rows: str = "samples", *, content: bool = False) -> Any:
        """A ``pyarrow.Table`` of :meth:`table`, with the same types of columns whatever is in them, so that tables of several
        versions can be joined. ``datasets.Dataset(cats.to_arrow(content=True))`` makes one of Hugging Face."""
        arrow = needs("pyarrow", "pyarrow", "to_arrow()")
        table = self.table(rows, content=content)
        schema = arrow.schema([(name, _arrow_type(arrow, rows, name)) for name in table.columns])
        return arrow.table({name: [_arrow_value(v, name) for v in table.column(name)] for name in table.columns}, schema=schema)

    def _repr_html_(self) -> str:
        seen = list(itertools.islice(self, _GALLERY + 1))
        more = f"<p>the first {_GALLERY}</p>" if len(seen) > _GALLERY else ""
        if self.version.data_type != "image":
            return "".join(f"<div>{s._repr_html_()}</div>" for s in seen[:_GALLERY]) + more
        colours = self.version.colours()
        return "<div>" + "".join(
            show.framed(s.name, [s.state, ", ".join(s.annotation.get("labels", ()))],
                        show.picture(s.thumbnail(256), "image/jpeg", s.width, s.height, s.annotation, colours, 220))
            for s in seen[:_GALLERY]) + "</div>" + more


def _sample_row(sample: Sample, content: bool) -> Object:
    row: Object = {name: sample.item.get(name) for name in _ROW}
    row.update(labels=sample.labels, shapes=len(sample.shapes), annotation=sample.annotation)
    if content:
        row["content"] = sample.read()
    return row


def _shape_rows(sample: Sample) -> Iterator[Object]:
    for at, shape in enumerate(sample.shapes):
        yield {"sample": sample.id, "name": sample.name, "split": sample.split, "at": at,
               **{key: shape.get(key) for key in _SHAPE}, "annotation": shape}


_INTEGERS = {"width", "height", "size", "revision", "shapes", "sample", "at"}
_REALS = {"duration", "score", "x", "y", "w", "h", "angle", "start", "end"}
_FLAGS = {"by_person", "crowd", "occluded", "truncated"}


def _arrow_type(arrow: Any, rows: str, name: str) -> Any:
    if name in _INTEGERS or (name == "id" and rows == "samples"):
        return arrow.int64()
    if name in _REALS:
        return arrow.float64()
    if name in _FLAGS:
        return arrow.bool_()
    return arrow.binary() if name == "content" else arrow.list_(arrow.string()) if name == "labels" else arrow.string()


def _arrow_value(value: Any, name: str) -> Any:
    if name in _REALS and value is not None:
        return float(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else value


class Version(Query):
    """``for sample in cats``, ``cats["a.jpg"]``, ``cats.query(label="cat").to_pandas()``. A notebook shows its first samples."""

    def __init__(self, client: Client, dataset: Mapping[str, Any], item: Mapping[str, Any], *, labels: Sequence[Mapping[str, Any]] | None = None) -> None:
        super().__init__(self)
        self.client, self.dataset, self.item = client, cast(Object, dict(dataset)), cast(DatasetVersion, dict(item))
        self.path = f"datasets/{dataset['id']}/versions/{item['id']}"
        self.samples = Samples(client, self.path)
        self._colours = None if labels is None else _colours(labels)

    # --- what it is ---

    @property
    def id(self) -> int:
        return int(self.item["id"])

    @property
    def name(self) -> str:
        """"cats:v2"."""
        return f"{self.dataset['name']}:{self.item['name']}"

    @property
    def data_type(self) -> str:
        """image, text or audio."""
        return str(self.dataset["data_type"])

    @property
    def annotation_type(self) -> str:
        return str(self.dataset["annotation_type"])

    @property
    def state(self) -> str:
        """draft, reviewing, publishing, published."""
        return str(self.item["state"])

    def refresh(self) -> Version:
        self.item = cast(DatasetVersion, self.client.request("GET", self.path))
        return self

    def __repr__(self) -> str:
        return f"<version {self.name} of {self.annotation_type}: {self.item['samples']} samples, {self.item['annotated']} annotated, {self.state}>"

    def __len__(self) -> int:
        """Of the samples in the set: not of those that were cleaned."""
        return self.count()

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Sample:
        """A sample by its name."""
        for sample in Query(self, STATES, q=name):
            if sample.name == name:
                return sample
        raise NotFound(404, {"code": "not_found", "detail": f"{self.name} has no sample called {name!r}"})

    def sample(self, id: int) -> Sample:  # noqa: A002
        return Sample(self, self.samples.get(id))

    def query(self, state: str | Sequence[str] | None = None, *, label: str | None = None, q: str | None = None,
              split: str | None = None, where: Callable[[Sample], bool] | None = None, limit: int | None = None) -> Query:
        """Samples by state, label, words of the name, part of the split, or whatever a function says of each."""
        return Query(self, state, label, q, split, where, limit)

    def statistics(self) -> Object:
        """Counts by state and by label."""
        return cast(Object, self.client.request("GET", f"{self.path}/statistics"))

    def labels(self) -> Table:
        """How many samples and shapes each label has."""
        return Table(self.statistics()["labels"], ["label", "samples", "shapes"])

    def colours(self) -> dict[str, str]:
        """Of the labels, as the label set has them."""
        if self._colours is None:
            of = self.dataset.get("label_set")
            self._colours = _colours(self.client.request("GET", f"label-sets/{of['id']}")["labels"] if of else ())
        return self._colours

    # --- many at once ---

    def annotate(self, annotations: Mapping[Union[str, int, Sample], Mapping[str, Any]] | Iterable[tuple[Sample, Mapping[str, Any]]],
                 *, layer: int | None = None) -> Table:
        """Whole annotations of many samples, by sample, name or id, a thousand to a request. A sample that was read first is left
        alone when somebody changed it since. What became of each: ``state`` applied, already, conflict or refused."""
        pairs = annotations.items() if isinstance(annotations, Mapping) else annotations
        rows: list[Object] = []
        found = iter(pairs)
        while batch := list(itertools.islice(found, _BATCH)):
            operations = [self._replacement(which, annotation, layer) for which, annotation in batch]
            for result in self.samples.operate(operations):
                said = result.get("problem") or {}
                rows.append({"sample": result["sample"], "state": result["state"], "revision": result["revision"], "problem": said.get("message")})
        return Table(rows, ["sample", "state", "revision", "problem"])

    def _replacement(self, which: Union[str, int, Sample], annotation: Mapping[str, Any], layer: int | None) -> Object:
        sample = self[which] if isinstance(which, str) else which
        operation: Object = {"op": "replace", "sample": sample if isinstance(sample, int) else sample.id, "annotation": dict(annotation)}
        if isinstance(which, Sample):
            operation["base"] = which.revision
        return operation if layer is None else {**operation, "layer": layer}

    def move(self, samples: Iterable[Union[str, int, Sample]], to: str = "cleaned") -> int:
        """to="cleaned" takes samples out of the set, to="set" brings them back in their former state; how many were moved.
        By sample, name or id, as of ``annotate``."""
        if to not in ("cleaned", "set"):
            raise ValueError(f"to: {to!r} is neither 'cleaned' nor 'set'")
        ids, moved = [s if isinstance(s, int) else s.id for s in (self[s] if isinstance(s, str) else s for s in samples)], 0
        for at in range(0, len(ids), _BATCH):
            body = {"ids": ids[at : at + _BATCH], "cleaned": to == "cleaned"}
            moved += cast(int, self.client.request("POST", f"{self.path}/clean", json=body)["changed"])
        self.refresh()
        return moved

    # --- samples in ---

    def put(self, samples: Mapping[str, Content] | Iterable[Mapping[str, Any] | Sample], *, replace: bool = False,
            progress: Progress = False) -> Import:
        """Adds samples from memory, from files or from another version: ``{"a.jpg": picture}``, samples, or
        ``[{"name": "a.jpg", "content": picture, "annotation": {...}, "split": "train"}]``. One of the same name is replaced;
        what people labelled stays unless `replace`."""
        rows = ({"name": name, "content": content} for name, content in samples.items()) if isinstance(samples, Mapping) else samples
        with tempfile.TemporaryDirectory(prefix="ingot-") as above:
            folder = Path(above, "samples")  # what the import is called
            folder.mkdir()
            lines = [json.dumps({"ingot": 1, "type": self.annotation_type})]
            lines += [json.dumps(_put_one(folder, row), ensure_ascii=False) for row in rows]
            if len(lines) == 1:
                raise ValueError("there are no samples to put")
            Path(folder, "ingot.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            return self.import_folder(folder, format="ingot", replace=replace, progress=progress)

    def import_folder(self, path: str | os.PathLike[str], *, format: str | None = None, progress: Progress = False, **fields: Any) -> Import:
        """A folder, an archive or a file of this machine. fields: ``replace=True``, ``every=10`` and ``per_second=2`` for videos."""
        bundle = Bundle(path)
        id = upload(self.client, bundle, cast(Object, self.dataset["project"]), progress)
        return self._import(progress, uploads=[{"upload": id, "name": bundle.name}], format=format, **fields)

    def import_directory(self, path: str, *, progress: Progress = False, **fields: Any) -> Import:
        """A folder of the server, below one that its administrator allows."""
        return self._import(progress, directory=path, **fields)

    def import_s3(self, bucket: str, *, prefix: str | None = None, key: str | None = None, endpoint: str | None = None,
                  region: str | None = None, access_key: str | None = None, secret_key: str | None = None, ca: str | None = None,
                  progress: Progress = False, **fields: Any) -> Import:
        """Objects of a bucket below a prefix, or one archive by its key; the server fetches them."""
        source = {"bucket": bucket, "prefix": prefix, "key": key, "endpoint": endpoint, "region": region, "access_key": access_key, "ca": ca}
        return self._import(progress, s3={k: v for k, v in source.items() if v is not None}, secret=secret_key, **fields)

    def import_database(self, database: str, *, host: str, user: str, password: str | None = None, table: str | None = None,
                        query: str | None = None, name: str, port: int | None = None, content: str | None = None, file: str | None = None,
                        label: str | None = None, annotation: str | None = None, tls: str | None = None, ca: str | None = None,
                        progress: Progress = False, **fields: Any) -> Import:
        """Rows of a table or query of MariaDB or MySQL; name, content, file, label and annotation are columns (docs/data.md)."""
        source = {"database": database, "host": host, "user": user, "table": table, "query": query, "name": name, "port": port,
                  "content": content, "file": file, "label": label, "annotation": annotation, "tls": tls, "ca": ca}
        return self._import(progress, database={k: v for k, v in source.items() if v is not None}, secret=password, **fields)

    def _import(self, progress: Progress, **fields: Any) -> Import:
        body = {key: value for key, value in fields.items() if value is not None}
        task = cast(Task, self.client.request("POST", f"{self.path}/import", json=body))
        done = wait(self.client, task, progress, "Importing")
        self.refresh()
        return Import(self.client, done)

    # --- as a whole ---

    def preprocess(self, steps: Sequence[Union[str, Mapping[str, Any]]], *, progress: Progress = False) -> Version:
        """A new version, made by these steps in their order: ``["mirror-h", {"op": "rotate", "angle": 90}, {"op": "crop", "x": 0,
        "y": 0, "w": 640, "h": 480}, {"op": "blur", "threshold": 50}]``. Annotations follow the geometry."""
        given = [{"op": step} if isinstance(step, str) else dict(step) for step in steps]
        task = cast(Task, self.client.request("POST", f"{self.path}/preprocess", json={"steps": given}))
        done = wait(self.client, task, progress, "Preprocessing")
        made = self.client.request("GET", f"datasets/{self.dataset['id']}/versions/{done['subject']}")
        return Version(self.client, self.dataset, made)

    def copy(self, description: str = "", *, progress: Progress = False) -> Version:
        """A new version that begins with these samples; no bytes are copied."""
        versions = self.client.datasets.versions(self.dataset)
        made = versions.create(**{"from": self.id, "description": description})
        on = f'type = "copy-version" and subject = {made["id"]}'
        for task in self.client.tasks.page(project=self.dataset["project"], filter=on, limit=1).items:
            wait(self.client, task, progress, "Copying")
        return Version(self.client, self.dataset, versions.get(made["id"]))

    def publish(self, *, progress: Progress = False) -> Version:
        """It never changes again."""
        self.client.datasets.publish(self.dataset, self.item["number"], progress=progress)
        return self.refresh()

    def export(self, path: str | os.PathLike[str] | None = None, *, format: str = "ingot", samples: bool = True, progress: Progress = False) -> Path:
        """An archive in a format; the file it was written to."""
        return self.client.datasets.export(self.dataset, version=self.item["number"], format=format, samples=samples, path=path, progress=progress)

    def duplicates(self, distance: int = 4, *, progress: Progress = False) -> list[list[Sample]]:
        """Groups of pictures that look alike; they are measured first where that was not done."""
        path, params = f"{self.path}/duplicates", {"distance": distance}
        found = self.client.request("GET", path, params=params)
        if found["measured"] < len(self):
            wait(self.client, cast(Task, self.client.request("POST", f"{self.path}/measure")), progress, "Measuring")
            found = self.client.request("GET", path, params=params)
        return [[self.sample(one if isinstance(one, int) else one["id"]) for one in group] for group in found["groups"]]


def _colours(labels: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {one["name"]: one["color"] for label in labels for one in [label, *(label.get("children") or ())] if one.get("color")}


# --- samples as files ---



def _put_one(folder: Path, row: Mapping[str, Any] | Sample) -> Object:
    """Writes its file; its line of ingot.jsonl."""
    if isinstance(row, Sample):
        row = {"name": row.name, "content": row, "annotation": row.annotation, "split": row.split}
    name = str(row["name"])
    inside = PurePosixPath(name)
    if inside.is_absolute() or ".." in inside.parts or name in ("", "ingot.jsonl"):
        raise ValueError(f"{name!r} is no name of a sample")
    line: Object = {"file": name, "annotation": dict(row.get("annotation") or {})}
    if row.get("split"):
        line["split"] = row["split"]
    if row.get("content") is not None:
        to = folder / name
        to.parent.mkdir(parents=True, exist_ok=True)
        _write(to, row["content"])
    return line


def _write(to: Path, content: Content) -> None:
    if isinstance(content, Sample):
        to.write_bytes(content.read())
    elif isinstance(content, (bytes, bytearray, memoryview)):
        to.write_bytes(content)
    elif isinstance(content, os.PathLike):
        shutil.copyfile(content, to)
    elif isinstance(content, str):  # a text, not a path: pathlib.Path is one
        to.write_text(content, encoding="utf-8")
    elif hasattr(content, "save"):
        content.save(to)
    elif hasattr(content, "__array_interface__") or hasattr(content, "__array__"):
        needs("PIL.Image", "pillow", "an array as a picture").fromarray(content).save(to)
    else:
        raise TypeError(f"{to.name}: {type(content).__name__} is neither a path, bytes, a text, a picture nor an array")


__all__ = ["Query", "Version"]
