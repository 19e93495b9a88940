"""All objects of one kind: list, get, create, update, delete, actions."""

from __future__ import annotations

import builtins
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Iterable, Iterator, Mapping, TypeVar, Union, cast

from .errors import NotFound, Stale
from .tables import Table, flat
from .types import Object

if TYPE_CHECKING:
    from .client import Client

T = TypeVar("T", bound=Mapping[str, Any])
#: An object as it was read, or only its id.
Which = Union[int, Mapping[str, Any]]
#: A project by its name, its id or itself.
Project = Union[str, int, Mapping[str, Any]]

_STALE_RETRIES = 5


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    next: str | None
    #: With `count`; None also when more than 10,000 match `q`.
    total: int | None
    #: False when too many match `q` to be sorted: then the newest come first.
    sorted: bool = True
    #: With `q`, for each item where its words were found: {"field", "from", "to"}, in characters.
    matches: list[list[dict[str, Any]]] = field(default_factory=list)

    def table(self, columns: Iterable[str] | None = None) -> Table:
        return Table(({key: flat(value) for key, value in item.items()} for item in self.items), columns)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _id(which: Which) -> int:
    return which if isinstance(which, int) else int(which["id"])


def _project_id(client: Client, project: Project) -> int:
    if not isinstance(project, str):
        return _id(project)
    return int(project) if project.isdigit() else _id(client.projects.find(project))


class Collection(Generic[T]):
    """Made by the client: ``client.projects``, ``client.kind("label-sets")``, ``client.members(project)``."""

    def __init__(self, client: Client, path: str) -> None:
        self._client = client
        self.path = path

    def page(
        self,
        *,
        project: Project | None = None,
        q: str | None = None,
        filter: str | None = None,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        mine: bool = False,
        count: bool = False,
    ) -> Page[T]:
        """One page; pass its `next` as `cursor` to get the one after it."""
        params: dict[str, str | int] = {}
        if project is not None:
            params["project"] = _project_id(self._client, project)
        for key, value in (("q", q), ("filter", filter), ("sort", sort), ("limit", limit), ("cursor", cursor)):
            if value is not None:
                params[key] = value
        if mine:
            params["mine"] = "true"
        if count:
            params["count"] = "true"
        answer = cast(Object, self._client.request("GET", self.path, params=params))
        return Page(
            cast("list[T]", answer["items"]),
            answer.get("next"),
            answer.get("total"),
            answer.get("sorted", True),
            answer.get("matches", []),
        )

    def list(
        self,
        *,
        project: Project | None = None,
        q: str | None = None,
        filter: str | None = None,
        sort: str | None = None,
        mine: bool = False,
        page_size: int = 200,
    ) -> Iterator[T]:
        """Every object, page by page as the iteration goes on."""
        cursor: str | None = None
        if isinstance(project, str):
            project = _project_id(self._client, project)  # once, not for each page
        while True:
            page = self.page(
                project=project, q=q, filter=filter, sort=sort, mine=mine, limit=page_size, cursor=cursor
            )
            yield from page.items
            if page.next is None:
                return
            cursor = page.next

    def table(
        self,
        *,
        columns: Iterable[str] | None = None,
        limit: int = 1000,
        project: Project | None = None,
        q: str | None = None,
        filter: str | None = None,
        sort: str | None = None,
        mine: bool = False,
    ) -> Table:
        """The objects as a table, which notebooks show and ``to_pandas()`` takes; references by their names. columns: of the
        objects' fields; absent: those of the web's list."""
        found = itertools.islice(self.list(project=project, q=q, filter=filter, sort=sort, mine=mine), limit)
        rows = [{key: flat(value) for key, value in item.items()} for item in found]
        return Table(rows, columns if columns is not None else self._columns())

    def _columns(self) -> builtins.list[str]:
        """Its name, what the web's list shows, who made it and when."""
        *_, parent, plural = "", *(part for part in self.path.split("/") if not part.isdigit())
        for kind in self._client.kinds():
            of = kind["parent"] and next(k["plural"] for k in self._client.kinds() if k["name"] == kind["parent"])
            if kind.get("collection") == plural or (kind["plural"] == plural and (of or "") == parent):
                named = [f["name"] for i, f in enumerate(kind["fields"]) if not i or f["list"]]
                above = [kind["parent"]] if kind["parent"] and kind.get("collection") == plural else []
                return ["id", *above, *named, "created_by", "created_at"]
        raise ValueError(f"the platform describes no {self.path}: give columns=")

    def find(self, name: str, *, project: Project | None = None) -> T:
        """The object of that name; NotFound when there is none, ValueError when several are found."""
        quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
        found = self.page(project=project, filter=f"name = {quoted}", limit=2).items
        if len(found) > 1:
            raise ValueError(f"several {self.path} are named {quoted}: give project=, or the id")
        if found:
            return found[0]
        raise NotFound(404, {"code": "not_found", "detail": f"there is no {self.path} named {quoted}"})

    def get(self, which: Which) -> T:
        return cast(T, self._client.request("GET", f"{self.path}/{_id(which)}"))

    def create(self, **fields: Any) -> T:
        """Fields that refer to objects take ids or the objects themselves; `project=` a name, too."""
        if isinstance(fields.get("project"), str):
            fields["project"] = _project_id(self._client, fields["project"])
        return cast(T, self._client.request("POST", self.path, json=_plain(fields)))

    def update(self, which: Which, **changes: Any) -> T:
        """Changes the given fields (None empties one).

        With an object, its revision is checked: Stale is raised when somebody changed it since it was
        read. With an id, the change is applied to whatever is there now.
        """
        if not isinstance(which, int):
            return self._patch(_id(which), int(which["revision"]), changes)
        for _ in range(_STALE_RETRIES):
            try:
                return self._patch(which, int(self.get(which)["revision"]), changes)
            except Stale:
                continue
        return self._patch(which, int(self.get(which)["revision"]), changes)

    def _patch(self, id: int, revision: int, changes: Mapping[str, Any]) -> T:
        headers = {"If-Match": f'"{revision}"'}
        answer = self._client.request("PATCH", f"{self.path}/{id}", json=_plain(changes), headers=headers)
        return cast(T, answer)

    def delete(self, which: Which) -> None:
        """With an object, its revision is checked; with an id it is not."""
        headers = {} if isinstance(which, int) else {"If-Match": f'"{int(which["revision"])}"'}
        self._client.request("DELETE", f"{self.path}/{_id(which)}", headers=headers)

    def action(self, which: Which | None, name: str, /, **fields: Any) -> Any:
        """POST /<plural>/<id>/<name>; None as the first argument: an action on the kind itself."""
        path = self.path if which is None else f"{self.path}/{_id(which)}"
        return self._client.request("POST", f"{path}/{name}", json=_plain(fields))

    def children(self, which: Which, plural: str) -> Collection[Object]:
        """``client.projects.children(project, "members")``"""
        return Collection(self._client, f"{self.path}/{_id(which)}/{plural}")


def _plain(fields: Mapping[str, Any]) -> Object:
    """Objects given where a reference is expected, alone or in a list, become their ids."""
    return {key: [_one(v) for v in value] if isinstance(value, (list, tuple)) else _one(value) for key, value in fields.items()}


def _one(value: Any) -> Any:
    is_object = isinstance(value, Mapping) and "id" in value and ("revision" in value or value.keys() <= {"id", "name", "of"})
    return value["id"] if is_object else value
