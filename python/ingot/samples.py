"""Samples of one version of a dataset, and changes of their annotations shape by shape:
``client.datasets.samples("cats", project=project).put(12, {"type": "box", ...})``."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, cast

from .types import Object

if TYPE_CHECKING:
    from .client import Client

_BATCH = 1000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def _word(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


class Samples:
    """What one script does has ids of its own, so that sending the same again does nothing twice."""

    def __init__(self, client: Client, path: str) -> None:
        self._client, self._path = client, path
        self.client_id = _word(12)
        self._number = 0

    def __iter__(self) -> Iterator[Object]:
        return self.all()

    def all(self, **params: Any) -> Iterator[Object]:
        """All of them in their order, a page at a time; `state`, `label` and `q` (words and parts of words of the name) choose."""
        while True:
            page = cast(Object, self._client.request("GET", f"{self._path}/samples", params=params))
            yield from page["items"]
            if page["next"] is None:
                return
            params["after"] = page["next"]

    def get(self, sample: int, *, layer: int | None = None) -> Object:
        params = {} if layer is None else {"layer": layer}
        return cast(Object, self._client.request("GET", f"{self._path}/samples/{sample}", params=params))

    # --- changes ---

    def fresh_id(self) -> str:
        """For a shape that is new."""
        return _word(10)

    def operate(self, operations: Iterable[Mapping[str, Any]], *, assignment: int | None = None) -> list[Object]:
        """Sends operations (docs/labelling.md), each with its `sample`; what has no `id` gets one. A result for each, in
        their order: `state` is applied, already, conflict or refused. assignment: of a labelling task, whose work this is."""
        results: list[Object] = []
        waiting = [self._named(o) for o in operations]
        for at in range(0, len(waiting), _BATCH):
            body: Object = {"operations": waiting[at : at + _BATCH]}
            if assignment is not None:
                body["assignment"] = assignment
            answer = cast(Object, self._client.request("POST", f"{self._path}/operations", json=body))
            results += answer["results"]
        return results

    def put(self, sample: int, shape: Mapping[str, Any], **more: Any) -> Object:
        """Adds a shape, or replaces the one of its `id`; a new one gets an id."""
        named = {"id": _word(10), **shape}
        return self.operate([{"sample": sample, "op": "put", "shape": named, **more}])[0]

    def remove(self, sample: int, shape: str, **more: Any) -> Object:
        return self.operate([{"sample": sample, "op": "remove", "shape": shape, **more}])[0]

    def label(self, sample: int, label: str, on: bool = True, **more: Any) -> Object:
        return self.operate([{"sample": sample, "op": "label", "label": label, "on": on, **more}])[0]

    def _named(self, operation: Mapping[str, Any]) -> Object:
        if "id" in operation:
            return dict(operation)
        self._number += 1
        return {"id": f"{self.client_id}.{self._number}", **operation}

    # --- what was ---

    def operations(self, sample: int, **params: Any) -> Iterator[Object]:
        """What was done to a sample, the oldest first."""
        while True:
            page = cast(Object, self._client.request("GET", f"{self._path}/samples/{sample}/operations", params=params))
            yield from page["items"]
            if page["next"] is None:
                return
            params["after"] = page["next"]

    def at(self, sample: int, revision: int, *, layer: int | None = None) -> Object:
        """The sample's annotation and state as they were at a revision."""
        params = {"revision": revision, **({} if layer is None else {"layer": layer})}
        return cast(Object, self._client.request("GET", f"{self._path}/samples/{sample}/at", params=params))

    def restore(self, sample: int, revision: int) -> Object:
        """Makes an earlier state the current one, unless somebody changes the sample meanwhile."""
        headers = {"If-Match": f'"{self.get(sample)["revision"]}"'}
        path = f"{self._path}/samples/{sample}/restore"
        return cast(Object, self._client.request("POST", path, json={"revision": revision}, headers=headers))
