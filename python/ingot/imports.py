"""What an import did: counts, and everything that was skipped or repaired."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, Mapping

from .tables import Table
from .types import Object, Task

if TYPE_CHECKING:
    from .client import Client


class Import:
    """``done.added``, ``done.problems()``. A notebook shows the counts and the problems."""

    def __init__(self, client: Client, task: Task) -> None:
        self._client, self.task = client, task
        result: Any = task["result"]
        self.result: Object = dict(result) if isinstance(result, Mapping) else {}

    @property
    def added(self) -> int:
        return int(self.result.get("added") or 0)

    @property
    def changed(self) -> int:
        return int(self.result.get("changed") or 0)

    @property
    def same(self) -> int:
        return int(self.result.get("same") or 0)

    @property
    def kept(self) -> int:
        """Samples that people labelled, which stayed as they are."""
        return int(self.result.get("kept") or 0)

    @property
    def annotations(self) -> int:
        return int(self.result.get("annotations") or 0)

    @property
    def format(self) -> str | None:
        return self.result.get("format")

    def problems(self) -> Table:
        """What was skipped or repaired: file, position in it, reason."""
        columns = ["file", "position", "reason"]
        if not self.task["problems"]:
            return Table([], columns)
        answer = self._client.checked("GET", f"tasks/{self.task['id']}/report")
        return Table((json.loads(line) for line in answer.content.decode().splitlines() if line), columns)

    def __repr__(self) -> str:
        counts = f"{self.added} added, {self.changed} changed, {self.same} as they were"
        return f"<import as {self.format}: {counts}, {self.annotations} annotations, {self.task['problems'] or 0} problems>"

    def _repr_html_(self) -> str:
        problems = self.problems()
        return f"<p>{html.escape(repr(self)[1:-1])}</p>" + (problems._repr_html_() if len(problems) else "")
