"""What runs: ``client.trainings.run(...)``, ``client.jobs.log(job)``, ``client.jobs.exec(job, ["ls"])``."""

from __future__ import annotations

import itertools
import json as _json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, cast

from ._http import httpx
from .collection import Collection, Project, Which, _id
from .errors import ConnectionFailed, IngotError
from .tables import Table, flat
from .transfer import Progress, until_over
from .websocket import WebSocket
from .types import Job, ModelVersion, Object, Training, TrainingInstance

if TYPE_CHECKING:
    from .client import Client

_OVER = ("completed", "failed", "stopped")
_PAUSE = 0.2


def parameters() -> dict[str, Any]:
    """Inside a training: the values of its parameters, with the algorithm's defaults filled in."""
    found = _json.loads(os.environ.get("INGOT_PARAMETERS") or "{}")
    if not isinstance(found, dict):
        raise ValueError("INGOT_PARAMETERS is no JSON object")
    return found


class RunFailed(IngotError):
    """A run ended otherwise than completed."""

    def __init__(self, instance: TrainingInstance) -> None:
        super().__init__(f"{instance['name']} is {instance['state']}: {instance['reason'] or 'no reason is known'}")
        self.instance = instance


class Jobs(Collection[Job]):
    def __init__(self, client: Client) -> None:
        super().__init__(client, "jobs")

    def stop(self, job: Which) -> Job:
        return cast(Job, self.action(job, "stop"))

    def wait(self, job: Which, *, progress: Progress = False) -> Job:
        """The job when it is over."""
        until_over(lambda: self.get(_id(job)), _OVER, progress, "Job")
        return self.get(_id(job))

    def log(self, job: Which, *, follow: bool = False, rank: int = 0, attempt: int | None = None) -> Iterator[str]:
        """The lines of the log; with `follow` as they are written, attempt after attempt, until the job is over."""
        if follow:
            yield from self._follow(_id(job), rank, attempt)
            return
        after = 0
        while True:
            params = {"rank": rank, "after": after, **({} if attempt is None else {"attempt": attempt})}
            page = self._client.request("GET", f"jobs/{_id(job)}/log", params=params)
            for line in page["lines"]:
                yield line["text"]
            if page["next"] <= after or page["next"] >= page["end"]:
                return
            after = page["next"]

    def _follow(self, id: int, rank: int, attempt: int | None) -> Iterator[str]:
        done = (attempt or 1) - 1
        while True:
            job = self.get(id)
            now = job["attempt"] or 0
            if now > done:
                done = now if attempt is None and done == 0 else done + 1
                yield from self._follow_attempt(id, rank, done)
                if attempt is not None:
                    return
            elif job["state"] in _OVER:
                return
            else:
                time.sleep(_PAUSE)

    def _follow_attempt(self, id: int, rank: int, attempt: int) -> Iterator[str]:
        """A stream that breaks off, or is not there yet because the container is being made, is taken up again."""
        after, tries = 0, 0
        while tries <= self._client.retries:
            try:
                for event, offset, lines in self._events(id, rank, attempt, after):
                    if event == "end":
                        return
                    yield from lines
                    after, tries = offset, 0
                tries = tries + 1 if self.get(id)["state"] in _OVER else 0
            except httpx.TransportError as error:
                if tries == self._client.retries:
                    raise ConnectionFailed(f"the log of job {id}: {error}") from error
                tries += 1
            time.sleep(_PAUSE)

    def _events(self, id: int, rank: int, attempt: int, after: int) -> Iterator[tuple[str, int, list[str]]]:
        params = {"rank": rank, "attempt": attempt, "after": after}
        event, offset, lines = "", after, cast("list[str]", [])
        for line in self._client.stream("GET", f"jobs/{id}/log/follow", params=params):
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("id: "):
                offset = int(line[4:])
            elif line.startswith("data: ["):
                lines = [x["text"] for x in _json.loads(line[6:])]
            elif line == "" and event:
                yield event, offset, lines
                event, lines = "", []

    def exec(
        self, job: Which, argv: Sequence[str], *, input: bytes = b"", rank: int = 0, timeout: float | None = None
    ) -> tuple[int, bytes]:
        """Runs a command in the job's container: its exit code, and what it wrote."""
        params = {"rank": str(rank), "tty": "0", "argv": _json.dumps(list(argv))}
        out = bytearray()
        with WebSocket(self._client, f"jobs/{_id(job)}/terminal", params, timeout) as ws:
            for at in range(0, len(input), 32768):
                ws.send(input[at : at + 32768])
            ws.send('{"eof": true}')
            for message in ws:
                if isinstance(message, bytes):
                    out += message
                elif "exit_code" in (said := _json.loads(message)):
                    return int(said["exit_code"]), bytes(out)
        raise ConnectionFailed("the connection ended before the command")


class Run:
    """One run of a training."""

    def __init__(self, client: Client, instance: TrainingInstance) -> None:
        self._client = client
        self.instance = instance
        self._path = f"trainings/{instance['training']['id']}/instances"

    @property
    def _all(self) -> Collection[TrainingInstance]:
        return Collection(self._client, self._path)

    def refresh(self) -> TrainingInstance:
        self.instance = self._all.get(self.instance["id"])
        return self.instance

    def _job(self) -> int:
        while self.instance["job"] is None:  # its checkpoint is being copied
            if self.instance["state"] in _OVER:
                raise RunFailed(self.instance)
            time.sleep(_PAUSE)
            self.refresh()
        return self.instance["job"]["id"]

    def log(self, *, follow: bool = False, rank: int = 0) -> Iterator[str]:
        return self._client.jobs.log(self._job(), follow=follow, rank=rank)

    def follow(self) -> TrainingInstance:
        """Prints the log until the end."""
        for line in self.log(follow=True):
            print(line, file=sys.stdout, flush=True)
        return self.wait()

    def wait(self, *, progress: Progress = False) -> TrainingInstance:
        """The instance when it is completed; RunFailed when it ended otherwise."""
        until_over(self.refresh, _OVER, progress, "Training")
        if self.instance["state"] != "completed":
            raise RunFailed(self.instance)
        return self.instance

    def stop(self) -> TrainingInstance:
        self.instance = cast(TrainingInstance, self._all.action(self.instance["id"], "stop"))
        return self.instance

    def resume(self) -> Run:
        """A new run that begins with what this one left."""
        return Run(self._client, cast(TrainingInstance, self._all.action(self.instance["id"], "resume")))

    def metrics(self, points: int = 0, name: str | None = None) -> dict[str, list[tuple[float, int, float]]]:
        """By name: (step, microseconds, value). points: at most so many of each name, thinned so that peaks stay."""
        params: dict[str, str | int] = {"points": points}
        if name is not None:
            params["name"] = name
        answer = self._client.request("GET", f"{self._path}/{self.instance['id']}/metrics", params=params)
        return {s["name"]: [(p[0], p[1], p[2]) for p in s["points"]] for s in answer["series"]}

    def curves(self, points: int = 0, name: str | None = None) -> Table:
        """The same as a table: name, step, time, value."""
        found = self.metrics(points, name).items()
        return Table(({"name": key, "step": step, "at": at, "value": value} for key, values in found for step, at, value in values),
                     ["name", "step", "at", "value"])

    def to_pandas(self, points: int = 0) -> Any:
        """A ``pandas.DataFrame`` of the metrics: a row for each step, a column for each name. ``run.to_pandas().plot()``"""
        frame = self.curves(points).to_pandas()
        return frame.pivot_table(index="step", columns="name", values="value", aggfunc="last")

    def __repr__(self) -> str:
        return f"<run {self.instance['training']['name']}/{self.instance['name']} {self.instance['state']}>"

    def _repr_html_(self) -> str:
        return runs_table([cast(Object, self.refresh())])._repr_html_()

    def lineage(self) -> Object:
        return cast(Object, self._client.request("GET", f"{self._path}/{self.instance['id']}/lineage"))

    def model(self) -> ModelVersion | None:
        """The saved version, when all that follows the end is done; None when nothing was left."""
        instance = self.refresh()
        own = f'subject_kind = "training_instance" and subject = {instance["id"]}'
        project = self._client.trainings.get(instance["training"])["project"]
        while any(t["state"] in ("waiting", "running") for t in self._client.tasks.page(project=project, filter=own).items):
            time.sleep(_PAUSE)
        if self.refresh()["model_version"] is None:
            return None
        found = self.lineage()["model_version"]
        path = f"model-sets/{found['set']['id']}/versions/{found['version']['id']}"
        return cast(ModelVersion, self._client.request("GET", path))


class Trainings(Collection[Training]):
    def __init__(self, client: Client) -> None:
        super().__init__(client, "trainings")

    def instances(self, training: Which) -> Collection[TrainingInstance]:
        return Collection(self._client, f"trainings/{_id(training)}/instances")

    def runs(self, training: Which | None = None, *, project: Project | None = None, limit: int = 200, **query: Any) -> Table:
        """The runs of a training, or of a whole project, as a table: state, minutes, parameters and the last value of each
        metric, which differ from run to run. query: filter, sort, q, mine."""
        where = self._client.training_instances if training is None else self.instances(training)
        return runs_table(itertools.islice(where.list(project=project, **query), limit))

    def start(self, training: Which, *, parameters: dict[str, Any] | None = None) -> Run:
        """parameters: in place of the training's own, for this run."""
        given = {} if parameters is None else {"parameters": parameters}
        return Run(self._client, cast(TrainingInstance, self.action(training, "start", **given)))

    def run(self, command: str | None = None, *, name: str | None = None, **fields: Any) -> Run:
        """Makes a training and starts it; fields as those of the kind: project, spec, datasets, algorithm, parameters,
        save_to ... Without a command the algorithm says how it runs."""
        made = self.create(name=name or time.strftime("train-%Y%m%d-%H%M%S"), command=command, **fields)
        return self.start(made)


def runs_table(instances: Iterable[Mapping[str, Any]]) -> Table:
    """A row for each run; parameters and metrics that any of them has are columns."""
    rows: list[Object] = []
    parameters: dict[str, None] = {}
    metrics: dict[str, None] = {}
    for one in instances:
        given = one.get("parameters") or {}
        measured = {name: m.get("last") for name, m in ((one.get("summary") or {}).get("metrics") or {}).items()}
        parameters.update(dict.fromkeys(given))
        metrics.update(dict.fromkeys(measured))
        seconds = one.get("duration")
        rows.append({"run": f"{one['training']['name']}/{one['name']}", "state": one["state"], "reason": one.get("reason"),
                     "minutes": None if seconds is None else round(seconds / 60, 1), "model": flat(one.get("model_version")),
                     **{f"parameters.{k}": v for k, v in given.items()}, **{f"metrics.{k}": v for k, v in measured.items()}})
    columns = ["run", "state", "reason", "minutes", "model", *(f"parameters.{k}" for k in parameters), *(f"metrics.{k}" for k in metrics)]
    return Table(rows, columns)


__all__ = ["Jobs", "Run", "RunFailed", "Trainings", "parameters"]


def train(
    data: str, *, project: Project | None = None, minutes: float = 10, client: Client | None = None, **fields: Any
) -> Run:
    """One-click training, waited for: ``ingot.train("fruit:v3", project="vision", minutes=10).model()``. The project,
    also by name, is needed where several have a dataset of that name. fields as of ``client.datasets.train``."""
    from .client import Client

    name, _, version = data.partition(":")
    session = client or Client()
    run = session.datasets.train(name, version or None, project=project, minutes=minutes, **fields)
    run.wait()
    return run
