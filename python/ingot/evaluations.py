"""How good models are: ``client.evaluations.run("fruit:v3", "test:v1", project=project)``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Iterator, cast

from .collection import Collection, Which, _id
from .errors import IngotError, NotFound
from .types import Evaluation, Object, Report

if TYPE_CHECKING:
    from .client import Client

_OVER = ("completed", "failed", "stopped")
_PAUSE = 0.2


class EvaluationFailed(IngotError):
    """An evaluation ended otherwise than completed."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(f"{evaluation['name']} is {evaluation['state']}: {evaluation['reason'] or 'no reason is known'}")
        self.evaluation = evaluation


class Evaluations(Collection[Evaluation]):
    def __init__(self, client: Client) -> None:
        super().__init__(client, "evaluations")

    def run(self, model: str | Which, data: str | Which, *, project: str | Which | None = None, **fields: Any) -> Evaluation:
        """Evaluates a model version on a dataset version and waits for the end.

        They are named ("fruit:v3", of `project`) or given themselves.

        Further fields are those of the kind: ``part="test"``, ``score=0.5``, ``name="..."``.
        """
        if isinstance(project, str):
            project = self._client.projects.find(project)
        version = self._version("model", model, project)
        truth = self._version("dataset", data, project)
        where = _id(project) if project is not None else version["project"]["id"]
        made = self.create(project=where, model_version=version["id"], dataset_version=truth["id"], **fields)
        return self.wait(made)

    def wait(self, evaluation: Which) -> Evaluation:
        """The evaluation when it is completed; :class:`EvaluationFailed` when it is not."""
        while (now := self.get(_id(evaluation)))["state"] not in _OVER:
            time.sleep(_PAUSE)
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

    def _version(self, what: str, which: str | Which, project: Which | None) -> Object:
        kind, plural = f"{what}-versions", "model-sets" if what == "model" else "datasets"
        if not isinstance(which, str):
            return cast(Object, self._client.request("GET", f"{kind}/{_id(which)}"))
        name, _, number = which.partition(":")
        owner = self._client.kind(plural).find(name, project=project)
        wanted = f"number = {int(number.removeprefix('v'))}" if number else None
        for found in self._client.kind(f"{plural}/{owner['id']}/versions").page(sort="-number", limit=1, filter=wanted).items:
            return cast(Object, self._client.request("GET", f"{kind}/{found['id']}"))
        raise NotFound(404, {"code": "not_found", "detail": f"{name} has no version {number}".strip()})


def evaluate(model: str, data: str, *, project: str | Which, client: Client | None = None, **fields: Any) -> Report:
    """The report of a model on labelled data: ``ingot.evaluate("fruit:v3", "test:v1", project="vision")["figures"]``."""
    from .client import Client

    with client or Client() as session:
        made = session.evaluations.run(model, data, project=project, **fields)
        return session.evaluations.report(made)
