"""Whole datasets in and out: ``client.datasets.import_("cats/", "cats", project=project, type="detection")``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union, cast

from . import config
from .collection import Collection, Project, Which, _id, _project_id
from .errors import NotFound
from .running import Run
from .samples import Samples
from .transfer import Bundle, Progress, download, upload, wait
from .types import Dataset, DatasetVersion, Object, Task, TrainingInstance
from .version import Version

if TYPE_CHECKING:
    from .client import Client

#: A dataset by its name, its id, or as it was read.
Named = Union[str, Which]


class Datasets(Collection[Dataset]):
    def __init__(self, client: Client) -> None:
        super().__init__(client, "datasets")

    def versions(self, dataset: Which) -> Collection[DatasetVersion]:
        return Collection(self._client, f"datasets/{_id(dataset)}/versions")

    def version(self, dataset: Which, version: str | int | None = None) -> DatasetVersion:
        """"v3" or 3; None: the newest."""
        number = None if version is None else int(str(version).removeprefix("v"))
        found = self.versions(dataset).page(
            sort="-number", limit=1, filter=None if number is None else f"number = {number}"
        )
        for item in found.items:
            return item
        raise NotFound(404, {"code": "not_found", "detail": f"the dataset has no version {version or ''}".strip()})

    def samples(self, dataset: Named, version: str | int | None = None, *, project: Project | None = None) -> Samples:
        """The samples of a version ("v3" or 3; None: the newest), and changes of what is labelled on them."""
        which = self._find(dataset, project)
        return Samples(self._client, f"datasets/{_id(which)}/versions/{self.version(which, version)['id']}")

    def open(
        self, name: str | Which, version: str | int | None = None, *, project: Project | None = None, type: str | None = None
    ) -> Version:
        """A version to work with: ``client.dataset(...)`` says what may be given. A dataset without one gets its first."""
        where = self._project(project)
        if isinstance(name, str):
            name, _, number = name.partition(":")
            version = version if version is not None else number or None
        dataset = self._find_or_make(name, where, type)
        if version is None and not self.versions(dataset).page(limit=1).items:
            version = "new"
        item = self.versions(dataset).create() if version == "new" else self.version(dataset, version)
        return Version(self._client, dataset, item)

    def _project(self, project: Project | None) -> int | None:
        chosen = config.project() if project is None else project
        return None if chosen is None else _project_id(self._client, chosen)

    def import_(
        self,
        path: str | os.PathLike[str],
        name: Named,
        *,
        project: Project | None = None,
        version: str | int | None = None,
        type: str | None = None,
        format: str | None = None,
        every: int | None = None,
        per_second: float | None = None,
        replace: bool = False,
        progress: Progress = False,
        wait: bool = True,
    ) -> Task:
        """Brings a folder, an archive or a file in; the task, whose `result` counts what was added and changed,
        and the `annotations` that were taken.

        :param name: the dataset; a name is looked up in `project`
        :param version: "v3" or 3, "new"; absent: the newest draft, or a new version when there is none
        :param type: makes the dataset, with this annotation type, when there is none of that name
        :param replace: replaces also what people labelled; otherwise that stays, and `kept` of the result counts it
        :param progress: True draws a bar; a function is told ``(what, done, total)``
        :param wait: False: the import goes on in the background
        """
        bundle = Bundle(path)
        dataset = self._find_or_make(name, project, type)
        into = self._to_fill(dataset, version)
        id = upload(self._client, bundle, cast(Which, dataset["project"]), progress)
        fields: Object = {"uploads": [{"upload": id, "name": bundle.name}]}
        for key, value in (("format", format), ("every", every), ("per_second", per_second), ("replace", replace or None)):
            if value is not None:
                fields[key] = value
        task = cast(Task, self.versions(dataset).action(into, "import", **fields))
        return self._client.wait(task, progress=progress, what="Importing") if wait else task

    def export(
        self,
        dataset: Named,
        *,
        project: Project | None = None,
        version: str | int | None = None,
        format: str = "ingot",
        samples: bool = True,
        reuse: bool = False,
        path: str | os.PathLike[str] | None = None,
        progress: Progress = False,
    ) -> Path:
        """An archive in a format; the file it was written to (`path`, or the export's own name in this folder). `reuse`
        takes the last one made if the version has not changed since."""
        fields = {"format": format, "samples": samples, "reuse": reuse}
        return self._take_out(dataset, project, version, "export", path, progress, **fields)

    def training_data(
        self,
        dataset: Named,
        *,
        project: Project | None = None,
        version: str | int | None = None,
        seed: int = 0,
        test_share: float = 0.2,
        states: Sequence[str] = ("annotated", "review", "accepted"),
        split: str = "seed",
        samples: bool = True,
        reuse: bool = False,
        path: str | os.PathLike[str] | None = None,
        progress: Progress = False,
    ) -> Path:
        """Samples of these states in two parts, those with nothing on them too; the same for the same seed. With `split`
        "imported" they stay in the parts that their files put them into. `reuse` as of `export`."""
        fields = {"seed": seed, "test_share": test_share, "states": list(states), "split": split, "samples": samples, "reuse": reuse}
        return self._take_out(dataset, project, version, "training-data", path, progress, **fields)

    def plan(self, dataset: Named, version: str | int | None = None, *, project: Project | None = None, **fields: Any) -> Object:
        """What one-click training would do with a version: samples, classes, remarks; nothing is changed. fields as of
        `train`."""
        which = self._find(dataset, project)
        return cast(Object, self.versions(which).action(self.version(which, version), "plan", **fields))

    def train(
        self,
        dataset: Named,
        version: str | int | None = None,
        *,
        project: Project | None = None,
        minutes: float = 10,
        leave_out: Sequence[str] = (),
        merge: dict[str, str] | None = None,
        parameters: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Run:
        """One-click training on a version: the run, which is waited for with ``.wait()`` and has its ``.model()``.

        :param leave_out: labels that are as if they had never been given
        :param merge: old label to new label
        :param parameters: further ones of the built-in algorithm
        :param fields: spec, save_to, seed, test_share
        """
        which = self._find(dataset, project)
        fields.update(minutes=minutes, leave_out=list(leave_out), merge=merge or {}, parameters=parameters or {})
        made = self.versions(which).action(self.version(which, version), "train", **fields)
        return Run(self._client, cast(TrainingInstance, made))

    def publish(
        self, dataset: Named, version: str | int | None = None, *, project: Project | None = None, progress: Progress = False
    ) -> DatasetVersion:
        """The version, which never changes again; of a large one a task lists the samples first, which this waits for."""
        which = self._find(dataset, project)
        versions = self.versions(which)
        began = cast(DatasetVersion, versions.action(self.version(which, version), "publish"))
        if began["state"] == "publishing":
            on = f'type = "publish" and subject = {began["id"]}'
            tasks = self._client.tasks.page(project=which["project"], filter=on, sort="-created_at", limit=1)
            wait(self._client, tasks.items[0], progress, "Publishing")
        return versions.get(began)

    def diff(
        self, dataset: Named, before: str | int, after: str | int, *, project: Project | None = None
    ) -> Object:
        """How many samples were `added`, `removed`, `changed`, `annotated` differently or moved to another part of the
        `split` from one version to another; `items` are the first of them, `changes` gives all. Large versions are
        counted by a task, which this waits for."""
        path, old = self._comparison(dataset, before, after, project)
        found = cast(Object, self._client.request("GET", f"{path}/compare", params={"with": old}))
        if "added" not in found:
            task = cast(Task, self._client.request("POST", f"{path}/changes", json={"with": old}))
            found.update(cast(Object, wait(self._client, task, False, "Comparing")["result"]))
        return found

    def changes(
        self, dataset: Named, before: str | int, after: str | int, *, project: Project | None = None
    ) -> Iterator[Object]:
        """Every difference as `{"name", "change", "split_before", "split_after", ...}`, by name, a page at a time."""
        path, old = self._comparison(dataset, before, after, project)
        params: dict[str, Any] = {"with": old}
        while True:
            page = cast(Object, self._client.request("GET", f"{path}/compare", params=params))
            yield from page["items"]
            if page["next"] is None:
                return
            params["after"] = page["next"]

    def _comparison(
        self, dataset: Named, before: str | int, after: str | int, project: Project | None
    ) -> tuple[str, int]:
        which = self._find(dataset, project)
        old, new = self.version(which, before), self.version(which, after)
        return f"datasets/{_id(which)}/versions/{new['id']}", old["id"]

    # --- which one ---

    def _find(self, dataset: Named, project: Project | None) -> Mapping[str, Any]:
        return self.find(dataset, project=project) if isinstance(dataset, str) else self.get(dataset)

    def _find_or_make(self, name: Named, project: Project | None, type: str | None) -> Mapping[str, Any]:
        try:
            return self._find(name, project)
        except NotFound:
            if not isinstance(name, str) or type is None:
                raise
        return self.create(name=name, project=project, annotation_type=type)

    def _to_fill(self, dataset: Mapping[str, Any], version: str | int | None) -> DatasetVersion:
        if version is not None and version != "new":
            return self.version(dataset, version)
        if version is None:
            for draft in self.versions(dataset).page(sort="-number", limit=1, filter='state = "draft"').items:
                return draft
        return self.versions(dataset).create()

    def _take_out(
        self,
        dataset: Named,
        project: Project | None,
        version: str | int | None,
        action: str,
        path: str | os.PathLike[str] | None,
        progress: Progress,
        **fields: Any,
    ) -> Path:
        which = self._find(dataset, project)
        task = cast(Task, self.versions(which).action(self.version(which, version), action, **fields))
        done = wait(self._client, task, progress, "Exporting")
        to = Path(path) if path is not None else Path(Path(done["output_name"] or "export.zip").name)
        return download(self._client, f"tasks/{done['id']}/download", to, progress)
