"""Environments: ``client.environments.start(lab)``, ``client.environments.url(lab)``, ``client.environments.exec(lab, ["ls"])``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Sequence, cast

from .collection import Collection, Which, _id
from .errors import IngotError
from .transfer import Progress
from .types import Environment, EnvironmentAccess, Object, Task

if TYPE_CHECKING:
    from .client import Client

_PAUSE = 0.2


class NotRunning(IngotError):
    """An environment ended, or failed, before it could be used."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(f"{environment['name']} is {environment['state']}: {environment['reason'] or 'start it first'}")
        self.environment = environment


class Environments(Collection[Environment]):
    def __init__(self, client: Client) -> None:
        super().__init__(client, "environments")

    def start(self, environment: Which, *, wait: bool = True) -> Environment:
        """As it is when it runs; NotRunning when it ended before. wait=False: as it is now."""
        now = cast(Environment, self.action(environment, "start"))
        while wait and now["state"] in ("pending", "starting"):
            time.sleep(_PAUSE)
            now = self.get(now)
        if wait and now["state"] != "running":
            raise NotRunning(now)
        return now

    def stop(self, environment: Which, *, wait: bool = True) -> Environment:
        now = cast(Environment, self.action(environment, "stop"))
        while wait and now["state"] not in ("stopped", "failed"):
            time.sleep(_PAUSE)
            now = self.get(now)
        return now

    def extend(self, environment: Which, hours: float) -> Environment:
        return cast(Environment, self.action(environment, "extend", hours=hours))

    def copy(self, environment: Which, name: str) -> Environment:
        return cast(Environment, self.action(environment, "copy", name=name))

    def save(self, environment: Which, image: str, version: str, **fields: Any) -> Task:
        """Makes an image of the running environment; the finished task."""
        return self._client.wait(self.action(environment, "save", image=image, version=version, **fields))

    def keep(self, environment: Which, folder: str, *, progress: Progress = False, **fields: Any) -> Task:
        """A folder of /workspace as a new version of a set; the finished task, whose ``result["made"]`` says which.

        :param folder: its path below /workspace
        :param fields: one of `algorithm_set` and `model_set`, or of `new_algorithm_set` and `new_model_set` (names); `description`
        """
        return self._client.wait(self.action(environment, "keep", folder=folder, **fields), progress=progress, what="Keeping")

    def folders(self, environment: Which, folder: str = "") -> list[str]:
        """The names of the folders in a folder of /workspace."""
        answer = self._client.request("GET", f"{self.path}/{_id(environment)}/folders", params={"folder": folder} if folder else None)
        return [item["name"] for item in answer["items"]]

    def access(self, environment: Which) -> EnvironmentAccess:
        """The tools with their state and address, and ssh; what does not answer yet has None."""
        return cast(EnvironmentAccess, self._client.request("GET", f"{self.path}/{_id(environment)}/access"))

    def url(self, environment: Which, tool: str = "jupyter") -> str:
        """The address that opens a tool, once, within a minute. Waits until it answers."""
        while True:
            rows = [t for t in self.access(environment)["tools"] if t["name"] == tool]
            if not rows:
                raise ValueError(f"there is no tool {tool!r}")
            row = rows[0]
            if row["url"] is not None:
                return row["url"]
            if row["state"] != "starting":
                raise IngotError(f"{tool}: {row['reason']}")
            self._nap(environment)

    def ssh(self, environment: Which) -> Object:
        """`host`, `port`, `user`, `password`, `host_key` and the `command` for a shell. Waits until it answers."""
        while (ssh := self.access(environment)["ssh"]) is None:
            self._nap(environment)
        return cast(Object, ssh)

    def exec(
        self, environment: Which, argv: Sequence[str], *, input: bytes = b"", rank: int = 0, timeout: float | None = None
    ) -> tuple[int, bytes]:
        """Runs a command in its container: the exit code, and what it wrote."""
        job = self.get(environment)["job"]
        if job is None:
            raise NotRunning(self.get(environment))
        return self._client.jobs.exec(job, argv, input=input, rank=rank, timeout=timeout)

    def _nap(self, environment: Which) -> None:
        now = self.get(environment)
        if now["state"] not in ("pending", "starting", "running"):
            raise NotRunning(now)
        time.sleep(_PAUSE)


__all__ = ["Environments", "NotRunning"]
