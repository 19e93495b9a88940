"""The objects of the platform: plain dictionaries. ``types.pyi`` (:mod:`ingot.stubs`) tells editors and type checkers
the members of each kind, as ``ingot.types.DatasetVersion``; when a program runs every one of them is a ``dict``."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any, Dict

Object = Dict[str, Any]


@cache
def _listed() -> frozenset[str]:
    """The names that ``types.pyi`` has; none where it was not made."""
    file = resources.files(__package__) / "types.pyi"
    return frozenset(re.findall(r"^(?:class )?([A-Z]\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)) if file.is_file() else frozenset()


def known(name: str) -> bool:
    """Whether an object of the platform is called so; where nothing is listed, whether it could be."""
    return name in _listed() if _listed() else re.fullmatch(r"[A-Z][A-Za-z]+", name) is not None


def __getattr__(name: str) -> Any:
    if known(name):
        return Object
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
