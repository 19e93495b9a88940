"""How good models are: ``client.evaluations.run("fruit:v3", "test:v1", project=project)``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Iterator, cast

from .collection import Collection, Project, Which, _id, _project_id
from .errors import IngotError, NotFound
from .tables import Table, flat
from .transfer import Progress, until_over
from .types import Evaluation, Object, Report

if TYPE_CHECKING:
    from .client import Client

_OVER = ("completed", "failed", "stopped")


class EvaluationFailed(IngotError):
    """An evaluation ended otherwise than completed."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(f"{evaluation['name']} is {evaluation['state']}: {evaluation['reason'] or 'no reason is known'}")
        self.evaluation = evaluation


class Evaluations(Collection[Evaluation]):
    def __init__(self, client: Client) -> None:
        super().__init__(client, "evaluations")

    def run(self, model: str | Which, data: str | Which, *, project: Project | None = None,
            progress: Progress = False, **fields: Any) -> Evaluation:
        """Evaluates a model version on a dataset version and waits for the end.

        They are named ("fruit:v3", of `project`) or given themselves.

        Further fields are those of the kind: ``part="test"``, ``score=0.5``, ``name="..."``.
        """
        at = None if project is None else _project_id(self._client, project)
        version = self._version("model", model, at)
        truth = self._version("dataset", data, at)
        where = _id(at) if at is not None else version["project"]["id"]
        made = self.create(project=where, model_version=version["id"], dataset_version=truth["id"], **fields)
        return self.wait(made, progress=progress)

    def wait(self, evaluation: Which, *, progress: Progress = False) -> Evaluation:
        """The evaluation when it is completed; :class:`EvaluationFailed` when it is not."""
        until_over(lambda: self.get(_id(evaluation)), _OVER, progress, "Evaluating")
        now = self.get(_id(evaluation))
        if now["state"] != "completed":
            raise EvaluationFailed(now)
        return now

    def start(self, evaluation: Which) -> Evaluation:
        """Does it again."""
        return cast(Evaluation, self.action(evaluation, "start"))

    def stop(self, evaluation: Which) -> Evaluation:
        return cast(Evaluation, self.action(evaluation, "stop"))

    def report(self, evaluation: Which) -> Report:
        return cast(Report, self._client.request("GET", f"evaluations/{_id(evaluation)}/report"))

    def figures(self, *, project: Project | None = None, limit: int = 200, **query: Any) -> Table:
        """What was measured, a row for each evaluation and a column for each figure: which model is best on which data."""
        rows: list[Object] = []
        names: dict[str, None] = {}
        for one in itertools.islice(self.list(project=project, **query), limit):
            found = {name: figure.get("value") for name, figure in (one["figures"] or {}).items()}
            names.update(dict.fromkeys(found))
            by = one["model_version"] or one["service_version"] or one["layer"]
            rows.append({"evaluation": one["name"], "model": flat(by), "data": flat(one["dataset_version"]), "state": one["state"], **found})
        return Table(rows, ["evaluation", "model", "data", "state", *names])

    def labels(self, evaluation: Which) -> Table:
        """How good it is label by label."""
        return Table(self.report(evaluation)["labels"])

    def at(self, evaluation: Which, score: float) -> Object:
        """Counts of each label, and what is taken for what, from another score on."""
        return cast(Object, self._client.request("GET", f"evaluations/{_id(evaluation)}/at", params={"score": str(score)}))

    def samples(self, evaluation: Which, **query: str | int | float) -> Iterator[Object]:
        """The samples, the worst first: ``sort="best"``, ``kind="missed"``, ``cell="cat,dog"``, ``threshold=0.4``."""
        after: int | None = 0
        while after is not None:
            params: dict[str, str | int] = {"limit": 200, **{k: str(v) for k, v in query.items()}, "after": after}
            page = self._client.request("GET", f"evaluations/{_id(evaluation)}/samples", params=params)
            yield from page["items"]
            after = page["next"]

    def compare(self, evaluation: Which, other: Which) -> Object:
        """What differs from another evaluation of the same samples, and whether that can be chance."""
        return cast(Object, self._client.request("GET", f"evaluations/{_id(evaluation)}/compare", params={"with": _id(other)}))

    def _version(self, what: str, which: str | Which, project: Project | None) -> Object:
        kind, plural = f"{what}-versions", "model-sets" if what == "model" else "datasets"
        if not isinstance(which, str):
            return cast(Object, self._client.request("GET", f"{kind}/{_id(which)}"))
        name, _, number = which.partition(":")
        owner = self._client.kind(plural).find(name, project=project)
        wanted = f"number = {int(number.removeprefix('v'))}" if number else None
        for found in self._client.kind(f"{plural}/{owner['id']}/versions").page(sort="-number", limit=1, filter=wanted).items:
            return cast(Object, self._client.request("GET", f"{kind}/{found['id']}"))
        raise NotFound(404, {"code": "not_found", "detail": f"{name} has no version {number}".strip()})


def evaluate(model: str, data: str, *, project: Project, client: Client | None = None, **fields: Any) -> Report:
    """The report of a model on labelled data: ``ingot.evaluate("fruit:v3", "test:v1", project="vision")["figures"]``."""
    from .client import Client

    if client is None:
        with Client() as session:
            return evaluate(model, data, project=project, client=session, **fields)
    return client.evaluations.report(client.evaluations.run(model, data, project=project, **fields))
