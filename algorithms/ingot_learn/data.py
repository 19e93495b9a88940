"""A dataset as containers find it (docs/data.md, "In a container"): `ingot.jsonl` and the files it names."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from .errors import Refused

TYPES = ("image-class", "image-classes", "detection", "segmentation", "text-class", "audio-class")
SHAPED = {"detection": ("box",), "segmentation": ("polygon", "mask")}
NEGATIVES = {*SHAPED, "image-classes"}  # types of which a sample may have nothing on it


@dataclass
class Sample:
    file: str
    labels: tuple = ()  # of the whole sample, or those of its shapes
    shapes: list = field(default_factory=list)
    split: "str | None" = None
    content: "str | None" = None  # a text that has no file of its own
    width: int = 0
    height: int = 0


@dataclass
class Dataset:
    folder: Path
    type: str
    labels: list  # in the order of the model's numbers
    samples: list  # that can be learned from; a negative has no labels
    unannotated: int = 0
    strange: list = field(default_factory=list)  # files whose annotation does not fit the type
    many: bool = False  # samples may have several labels


def find(folder: "str | None") -> Path:
    """The folder with ingot.jsonl: as given, or the only one below /workspace/dataset."""
    if folder is not None:
        places = [Path(folder)]
    else:
        below = Path("/workspace/dataset")
        places = sorted(p for p in below.iterdir() if (p / "ingot.jsonl").exists()) if below.is_dir() else []
    if len(places) != 1:
        names = ", ".join(p.name for p in places)
        raise Refused("one-dataset", f"one-click training takes one dataset; there are {len(places)} {names}".rstrip(),
                      f"一键训练需要一个数据集，现在有 {len(places)} 个 {names}".rstrip())
    if not (places[0] / "ingot.jsonl").is_file():
        raise Refused("no-index", f"{places[0]} has no ingot.jsonl", f"{places[0]} 中没有 ingot.jsonl")
    return places[0]


def _lines(path: Path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise Refused("bad-index", f"ingot.jsonl, line {number}: not a JSON object", f"ingot.jsonl 第 {number} 行不是 JSON 对象")
            yield row


def _inside(folder: Path, name: str) -> bool:
    """A name of the index never leads out of the dataset's folder."""
    return bool(name) and not name.startswith("/") and ".." not in Path(name).parts


def _renamed(label: str, leave_out: set, merge: dict) -> "str | None":
    label = merge.get(label, label)
    return None if label in leave_out else label


def _sample(row: dict, type: str, leave_out: set, merge: dict) -> "Sample | None":
    """None: its annotation does not fit the type."""
    note = row["annotation"]
    one = Sample(row["file"], split=row.get("split"), content=row.get("content"), width=row.get("width") or 0, height=row.get("height") or 0)
    if type in SHAPED:
        for shape in note.get("shapes", []):
            if shape.get("type") not in SHAPED[type] or not shape.get("label"):
                return None
            if label := _renamed(shape["label"], leave_out, merge):
                one.shapes.append({**shape, "label": label})
        one.labels = tuple(sorted({s["label"] for s in one.shapes}))
        return one
    given = [_renamed(label, leave_out, merge) for label in note.get("labels", [])]
    if not note.get("labels") and type not in NEGATIVES:
        return None
    one.labels = tuple(sorted({label for label in given if label}))
    return one


def load(folder: Path, leave_out=(), merge=None) -> Dataset:
    rows = _lines(folder / "ingot.jsonl")
    head, samples, unannotated, strange, order = {}, [], 0, [], []
    leave_out, merge = set(leave_out), dict(merge or {})
    for row in rows:
        if "file" not in row:
            head = head or row
            continue
        if not isinstance(row["file"], str) or not _inside(folder, row["file"]):
            raise Refused("bad-file", f"ingot.jsonl names a file outside of the dataset: {row['file']}", f"ingot.jsonl 中的文件在数据集之外：{row['file']}")
        type = head.get("type")
        if type not in TYPES:
            raise Refused("type", f"one-click training does not know the type {type}; it knows {', '.join(TYPES)}",
                          f"一键训练不支持类型 {type}；支持的类型有 {'、'.join(TYPES)}")
        note = row.get("annotation")
        # Without the member nobody has annotated it, or a reviewer rejected that; `{}` was looked at and has nothing on it.
        if note is None or (not note.get("shapes") and not note.get("labels") and type not in NEGATIVES):
            unannotated += 1
            continue
        one = _sample(row, type, leave_out, merge)
        if one is None:
            strange.append(row["file"])
            continue
        samples.append(one)
    type = head.get("type")
    if type not in TYPES:
        raise Refused("empty", "the dataset has no samples", "数据集没有样本")
    used = {label for one in samples for label in one.labels}
    for row in head.get("labels") or []:
        name = _renamed(row["name"] if isinstance(row, dict) else str(row), leave_out, merge)
        if name in used and name not in order:
            order.append(name)
    order += sorted(used - set(order))
    many = type == "image-classes" or (type not in SHAPED and any(len(one.labels) > 1 for one in samples))
    if type == "image-class" and many:
        strange += [one.file for one in samples if len(one.labels) > 1]
        samples, many = [one for one in samples if len(one.labels) <= 1], False
    if type not in SHAPED and not many:  # just one class each: what has none any more says nothing
        samples = [one for one in samples if one.labels]
    return Dataset(folder, type, order, samples, unannotated, strange, many)


def counts(labels: list, samples: list) -> dict:
    """Samples per label; of shapes, how many shapes."""
    table = dict.fromkeys(labels, 0)
    for one in samples:
        for label in ([s["label"] for s in one.shapes] or one.labels):
            table[label] += 1
    return table


def read_bytes(dataset: Dataset, one: Sample) -> bytes:
    path = dataset.folder / one.file
    return path.read_bytes()


def read_text(dataset: Dataset, one: Sample) -> str:
    if one.content is not None:
        return one.content
    return read_bytes(dataset, one)[:4 << 20].decode("utf-8", "replace")
