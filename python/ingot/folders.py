"""Folders of code and of models: ``client.algorithm_sets.upload("digits/", "digits", project=project)``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, cast
from urllib.parse import quote

from .collection import Collection, Project, T, Which, _id
from .errors import IngotError, NotFound
from .transfer import Bundle, Meter, Progress, download, upload
from .types import Object

if TYPE_CHECKING:
    from .client import Client

_BATCH = 500


class Folders(Collection[T]):
    """Sets whose versions are folders: algorithm sets and model sets."""

    def __init__(self, client: Client, path: str) -> None:
        super().__init__(client, path)
        self._plural = path

    def versions(self, set: Which) -> Collection[Object]:
        return Collection(self._client, f"{self._plural}/{_id(set)}/versions")

    def upload(
        self,
        path: str | os.PathLike[str],
        name: str | Which,
        *,
        project: Project | None = None,
        version: str | int | None = None,
        publish: bool = False,
        progress: Progress = False,
    ) -> Object:
        """Brings a folder or a file into a version; the version.

        :param name: the set; a name is looked up in `project`, and made there when there is none
        :param version: "v3" or 3, "new"; absent: the newest that is not published, or a new one
        :param publish: publishes it afterwards: it never changes again
        """
        bundle = Bundle(path)
        owner = self._find_or_make(name, project)
        versions = self.versions(owner)
        into = self._to_fill(versions, version)
        files = bundle.files()
        meter = Meter(progress, "Uploading")
        for start in range(0, len(files), _BATCH):
            add = []
            for i, (file, inside) in enumerate(files[start : start + _BATCH], start):
                meter.show(i, len(files))
                id = upload(self._client, Bundle(file), cast(Which, owner["project"]), False)
                add.append({"path": inside, "upload": id, "executable": os.access(file, os.X_OK)})
            into = cast(Object, versions.action(cast(Which, into), "change", add=add))
        meter.show(len(files), len(files))
        meter.end()
        return cast(Object, versions.action(cast(Which, into), "publish")) if publish else into

    def download(
        self,
        name: str | Which,
        to: str | os.PathLike[str],
        *,
        project: Project | None = None,
        version: str | int | None = None,
        progress: Progress = False,
    ) -> Path:
        """All files of a version, the newest unless it is named, into a folder; the folder."""
        owner = self.find(name, project=project) if isinstance(name, str) else self.get(name)
        versions = self.versions(owner)
        number = None if version is None else int(str(version).removeprefix("v"))
        wanted = None if number is None else f"number = {number}"
        for found in versions.page(sort="-number", limit=1, filter=wanted).items:
            self._take(f"{versions.path}/{found['id']}", "", Path(to), progress)
            return Path(to)
        raise NotFound(404, {"code": "not_found", "detail": f"there is no version {version or ''}".strip()})

    def _take(self, version: str, inside: str, to: Path, progress: Progress) -> None:
        to.mkdir(parents=True, exist_ok=True)
        for item in self._client.request("GET", f"{version}/files", params={"path": inside})["items"]:
            if item["name"] in ("", ".", "..") or "/" in item["name"]:
                raise IngotError(f"the server names a file {item['name']!r}")
            below, there = f"{inside}/{item['name']}".lstrip("/"), to / item["name"]
            if item["folder"]:
                self._take(version, below, there, progress)
                continue
            download(self._client, f"{version}/content?path={quote(below, safe='')}", there, progress)
            if item["executable"]:
                there.chmod(0o755)

    def _find_or_make(self, name: str | Which, project: Project | None) -> Mapping[str, Any]:
        if not isinstance(name, str):
            return self.get(name)
        try:
            return self.find(name, project=project)
        except NotFound:
            return self.create(name=name, project=project)

    def _to_fill(self, versions: Collection[Object], version: str | int | None) -> Object:
        if version != "new":
            number = None if version is None else int(str(version).removeprefix("v"))
            wanted = "published = false" if number is None else f"number = {number}"
            for found in versions.page(sort="-number", limit=1, filter=wanted).items:
                return found
            if number is not None:
                raise NotFound(404, {"code": "not_found", "detail": f"there is no version {version}"})
        return versions.create()
