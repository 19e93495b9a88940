"""Labelling tasks: ``client.label_tasks.next(task)``, ``client.label_tasks.submit(one)``, ``client.label_tasks.accept(one)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Literal, Mapping, Sequence, cast

from .collection import Collection, Which, _id
from .sample import Sample
from .types import Assignment, LabelTask, Object
from .version import Version

if TYPE_CHECKING:
    from .client import Client


class Work:
    """One sample that somebody holds in a labelling task."""

    def __init__(self, tasks: LabelTasks, assignment: Assignment, sample: Sample) -> None:
        self._tasks, self.assignment, self.sample = tasks, assignment, sample
        self.over = False  #: submitted, skipped or decided

    def _done(self, assignment: Assignment) -> Assignment:
        self.assignment, self.over = assignment, True
        return assignment

    def submit(self, *, nothing: bool = False) -> Assignment:
        """nothing: there is nothing to label on it."""
        return self._done(self._tasks.submit(self.assignment, nothing=nothing))

    def skip(self, reason: str) -> Assignment:
        return self._done(self._tasks.skip(self.assignment, reason))

    def accept(self, **more: Any) -> Assignment:
        return self._done(self._tasks.accept(self.assignment, **more))

    def reject(self, reason: str | None = None, *, shapes: Sequence[Mapping[str, str]] = ()) -> Assignment:
        return self._done(self._tasks.reject(self.assignment, reason, shapes=shapes))

    def __repr__(self) -> str:
        return f"<work on {self.sample!r}>"

    def _repr_html_(self) -> str:
        return self.sample._repr_html_()


class LabelTasks(Collection[LabelTask]):
    """The tasks that one sees; what people do with samples of them."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, "label-tasks")

    # --- the course of a task ---

    def open(self, task: Which) -> LabelTask:
        """Lists the samples of its selection; people can begin."""
        return cast(LabelTask, self.action(task, "open"))

    def pause(self, task: Which) -> LabelTask:
        """Gives nothing more out; what people hold they may finish."""
        return cast(LabelTask, self.action(task, "pause"))

    def resume(self, task: Which) -> LabelTask:
        return cast(LabelTask, self.action(task, "resume"))

    def close(self, task: Which, *, accept_rest: bool = False) -> LabelTask:
        """`accept_rest` accepts in the background what was labelled and not reviewed."""
        return cast(LabelTask, self.action(task, "close", accept_rest=accept_rest))

    def cancel(self, task: Which) -> LabelTask:
        return cast(LabelTask, self.action(task, "cancel"))

    def hand(self, task: Which, *, giver: Which, taker: Which) -> Object:
        """What one member has left goes to another."""
        return cast(Object, self.action(task, "hand", **{"from": _id(giver), "to": _id(taker)}))

    def progress(self, task: Which, *, start: str | None = None, end: str | None = None) -> Object:
        """Per member and day, by default of today; times as 2026-01-31T00:00:00Z."""
        params = {key: value for key, value in (("from", start), ("to", end)) if value is not None}
        return cast(Object, self._client.request("GET", f"{self.path}/{_id(task)}/progress", params=params))

    def bench(self, task: Which) -> Object:
        """What one needs to label: types, labels with their attributes, instructions."""
        return cast(Object, self._client.request("GET", f"{self.path}/{_id(task)}/bench"))

    # --- people's work ---

    def next(self, task: Which, *, stage: Literal["label", "review"] = "label", sample: int | None = None) -> list[Assignment]:
        """What one holds, what was rejected, then new samples, up to a batch."""
        more = {} if sample is None else {"sample": sample}
        return cast("list[Assignment]", self.action(task, "next", stage=stage, **more)["items"])

    def work(self, task: Which, *, stage: Literal["label", "review"] = "label") -> Iterator[Work]:
        """Sample after sample until nothing is left for one: change ``one.sample``, then ``one.submit()``, ``skip``, ``accept``
        or ``reject`` it. What was left as it is, is given back at the end, also when the loop is left."""
        version = self._version(task)
        seen: set[int] = set()
        held: list[Work] = []
        try:
            while batch := [one for one in self.next(task, stage=stage) if one["id"] not in seen]:
                seen.update(one["id"] for one in batch)
                works = [Work(self, one, Sample(version, one["sample"], layer=one["layer"], assignment=one["id"])) for one in batch]
                held += works
                yield from works
        finally:
            left = [work.assignment for work in held if not work.over]
            if left:
                self.release(task, left)

    def _version(self, task: Which) -> Version:
        """What the task is about, for people who may see nothing else of it."""
        bench = self.bench(task)
        dataset = {"id": bench["dataset"], "name": bench["dataset_name"], "data_type": bench["data_type"], "annotation_type": bench["annotation_type"]}
        item = {"id": bench["version"], "name": bench["version_name"], "state": bench["version_state"], "samples": 0, "annotated": 0}
        return Version(self._client, dataset, item, labels=bench["labels"])

    def heartbeat(self, task: Which, assignments: Sequence[Assignment], *, active_seconds: int = 0) -> str:
        """Keeps them for another while; until when."""
        ids = [one["id"] for one in assignments]
        return cast(str, self.action(task, "heartbeat", assignments=ids, active_seconds=active_seconds)["until"])

    def submit(self, one: Assignment, *, nothing: bool = False, active_seconds: int = 0) -> Assignment:
        return self._do(one, "submit", nothing=nothing, active_seconds=active_seconds)

    def skip(self, one: Assignment, reason: str) -> Assignment:
        return self._do(one, "skip", reason=reason)

    def reopen(self, one: Assignment) -> Assignment:
        """Takes back what was submitted and is not reviewed yet."""
        return self._do(one, "reopen")

    def accept(self, one: Assignment, **more: Any) -> Assignment:
        return self._do(one, "decide", verdict="accept", **more)

    def reject(self, one: Assignment, reason: str | None = None, *, shapes: Sequence[Mapping[str, str]] = ()) -> Assignment:
        """With a reason for the sample, or ``[{"id": ..., "reason": ...}]`` for shapes of it."""
        more: dict[str, Any] = {"reason": reason} if reason else {}
        if shapes:
            more["shapes"] = [dict(shape) for shape in shapes]
        return cast(Assignment, self._client.request("POST", f"{self.path}/{one['task']['id']}/decide",
                                                     json={"assignment": one["id"], "verdict": "reject", **more}))

    def release(self, task: Which, assignments: Sequence[Assignment]) -> None:
        self.action(task, "release", assignments=[one["id"] for one in assignments])

    def _do(self, one: Assignment, action: str, **more: Any) -> Assignment:
        return cast(Assignment, self.action(one["task"]["id"], action, assignment=one["id"], **more))
