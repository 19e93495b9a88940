"""One attribute of the client for each collection of the platform: ``client.label_sets`` is ``/api/v1/label-sets``.
``kinds.pyi`` (:mod:`ingot.stubs`) lists them for editors; a kind that the platform has and that list has not works too."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

from .collection import Collection


def names() -> list[str]:
    """The attributes that ``kinds.pyi`` lists; none where it was not made."""
    listed = resources.files(__package__) / "kinds.pyi"
    return re.findall(r"^    (\w+): Collection", listed.read_text(encoding="utf-8"), re.MULTILINE) if listed.is_file() else []


class Kinds:
    def __getattr__(self, name: str) -> Collection[Any]:
        if name.startswith("_") or not re.fullmatch(r"[a-z][a-z_]*s|audit", name):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return Collection(self, name.replace("_", "-"))  # type: ignore[arg-type]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *names()})
