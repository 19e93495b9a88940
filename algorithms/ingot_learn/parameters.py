"""The parameters of a training: declared in ingot-algorithm.json, given as JSON, checked here once more so that the package
can be used by hand."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

from .errors import Refused

HERE = Path(__file__).resolve().parent
# In an installed version the manifest lies beside the package, in the source tree beside its folder.
PLACES = [HERE.parent / "ingot-algorithm.json", HERE.parent / "one-click" / "ingot-algorithm.json"]


def declared() -> list:
    for place in PLACES:
        if place.exists():
            return json.loads(place.read_text())["functions"]["train"]["parameters"]
    raise FileNotFoundError("ingot-algorithm.json is not beside the package")


def _wrong(name: str, en: str, zh: str) -> Refused:
    return Refused("parameter", f"{name}: {en}", f"{name}：{zh}")


def _labels(value) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _merge(value) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) and one for one in value.values())


# type: (whether a value is one, what to say else)
TYPES = {
    "int": (lambda v: isinstance(v, int) and not isinstance(v, bool), "must be a whole number", "必须是整数"),
    "real": (lambda v: isinstance(v, (int, float)) and not isinstance(v, bool), "must be a number", "必须是数字"),
    "bool": (lambda v: isinstance(v, bool), "must be true or false", "必须是 true 或 false"),
    "labels": (_labels, "must be a list of labels", "必须是标签列表"),
    "json": (_merge, "must be an object of old and new labels", "必须是旧标签到新标签的对象"),
}


def check(given: dict) -> SimpleNamespace:
    """All parameters, those that are not given with their defaults. Names that nobody declared are refused."""
    rows = {row["name"]: row for row in declared()}
    for name in given:
        if name not in rows:
            raise _wrong(name, "there is no such parameter", "没有这个参数")
    values = {}
    for name, row in rows.items():
        value = given.get(name, row["default"])
        fits, en, zh = TYPES[row["type"]]
        if not fits(value):
            raise _wrong(name, en, zh)
        low, high = row.get("min"), row.get("max")
        if low is not None and not low <= value <= high:
            raise _wrong(name, f"must be {low} to {high}", f"必须在 {low} 到 {high} 之间")
        values[name] = value
    return SimpleNamespace(**values)


def read(text: "str | None") -> SimpleNamespace:
    text = text if text is not None else os.environ.get("INGOT_PARAMETERS") or "{}"
    try:
        given = json.loads(text)
    except ValueError as error:
        raise _wrong("parameters", f"not JSON: {error}", f"不是 JSON：{error}") from error
    if not isinstance(given, dict):
        raise _wrong("parameters", "must be an object", "必须是对象")
    return check(given)
