"""Services: ``client.services.deploy("fruit", model_version=v, project=p)``, ``client.services["fruit"].predict("a.jpg")``."""

from __future__ import annotations

import mimetypes
import os
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Literal, Mapping, Union, cast

from .collection import Collection, Project, Which, _id, _project_id
from .errors import IngotError, NotFound
from .show import Picture
from .transfer import Meter, Progress, until_over
from .types import Deployment, Object, Service, ServiceKey, ServiceVersion

if TYPE_CHECKING:
    from .client import Client

_PAUSE = 0.2
_TYPES = {".webp": "image/webp", ".flac": "audio/flac", ".wav": "audio/wav"}

Input = Union[str, "os.PathLike[str]", bytes]


def content_of(what: Input, type: str | None) -> tuple[bytes, str]:
    """The bytes of an input and its media type."""
    if isinstance(what, bytes):
        return what, type or "application/octet-stream"
    path = Path(what)
    found = type or _TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0]
    return path.read_bytes(), found or "application/octet-stream"


def texts_of(thresholds: Mapping[str, float] | None) -> dict[str, str | int]:
    """As parameters of a request."""
    return {name: str(value) for name, value in (thresholds or {}).items()}


class NotServing(IngotError):
    """A version failed, or was stopped, before it answered."""

    def __init__(self, version: ServiceVersion) -> None:
        super().__init__(f"{version['name']} is {version['state']}: {version['reason'] or 'it was stopped'}")
        self.version = version


class ServiceHandle:
    """One service, with what is asked of it most."""

    def __init__(self, client: Client, service: Service) -> None:
        self._client = client
        self.service = service
        self.id: int = service["id"]

    def __repr__(self) -> str:
        return f"<service {self.service['name']} {self.service['state']} {self.service['address']}>"

    def refresh(self) -> Service:
        self.service = self._client.services.get(self.id)
        return self.service

    @property
    def versions(self) -> Collection[ServiceVersion]:
        return Collection(self._client, f"services/{self.id}/versions")

    @property
    def keys(self) -> Collection[ServiceKey]:
        """``keys.create(name="app", rate=10)["secret"]`` is in that answer only."""
        return Collection(self._client, f"services/{self.id}/keys")

    def predict(
        self,
        what: Input,
        *,
        type: str | None = None,
        version: Literal["production", "canary"] | None = None,
        thresholds: Mapping[str, float] | None = None,
    ) -> Object:
        """What the service sees in a picture, text or sound: a path, or its bytes. ``type`` is its media type;
        ``thresholds`` ("score", "iou", "mask", "text", "point") are in place of the model's own.
        """
        content, type = content_of(what, type)
        headers = {"Content-Type": type}
        if version:
            headers["X-Ingot-Version"] = version
        answer = self._client.checked("POST", f"services/{self.id}/predict", params=texts_of(thresholds), content=content, headers=headers)
        return cast(Object, answer.json())

    def predict_all(
        self, inputs: Iterable[Input], *, type: str | None = None, workers: int = 4, progress: Progress = False
    ) -> list[Object]:
        """The answers to many inputs, in their order; so many at a time."""
        given, done = list(inputs), 0
        meter = Meter(progress, "Predicting")
        with ThreadPoolExecutor(workers) as pool:
            try:
                answers = []
                for answer in pool.map(lambda one: self.predict(one, type=type), given):
                    answers.append(answer)
                    done += 1
                    meter.show(done, len(given))
                return answers
            finally:
                pool.shutdown(cancel_futures=True)
                meter.end()

    def look(self, what: Input, *, type: str | None = None) -> Picture:
        """Asks about a picture; the answer with the picture, which a notebook shows with its boxes."""
        content, media = content_of(what, type)
        return Picture(content, self.predict(content, type=media).get("annotation") or {}, media=media)

    def switch(self) -> Service:
        """Canary and production change places."""
        return self._act("switch")

    def stop(self) -> Service:
        return self._act("stop")

    def start(self) -> Service:
        return self._act("start")

    def share(self, part: float) -> Service:
        """So much of the requests goes to the canary: 0.1 is a tenth."""
        self.service = self._client.services.update(self.id, share=round(part * 1000))
        return self.service

    def scale(self, version: Which, replicas: int) -> ServiceVersion:
        return cast(ServiceVersion, self.versions.action(version, "scale", replicas=replicas))

    def replicas(self) -> list[Object]:
        return cast("list[Object]", self._client.request("GET", f"services/{self.id}/replicas")["items"])

    def events(self) -> list[Object]:
        """What happened, and why; newest first."""
        return cast("list[Object]", self._client.request("GET", f"services/{self.id}/events")["items"])

    def traffic(self, *, minutes: float = 60, points: int = 240) -> list[Object]:
        """Requests by class and how long answers took, of each version: ``[{"version", "points": [{"at", "requests", ...}]}]``."""
        params: dict[str, str | int] = {"from": (datetime.now(timezone.utc) - timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z"), "points": points}
        return cast("list[Object]", self._client.request("GET", f"services/{self.id}/traffic", params=params)["versions"])

    def log(self, *, follow: bool = False) -> Iterator[Object]:
        """Lines of all replicas by time: ``{"at", "job", "version", "stream", "text"}``. follow: never ends by itself."""
        after: dict[str, str | int] = {}
        while True:
            page = self._client.request("GET", f"services/{self.id}/log", params=after)
            yield from page["lines"]
            if not follow:
                return
            after = {"after": page["next"]} if page["next"] else {}
            time.sleep(_PAUSE)

    def wait(self, version: Which, *, progress: Progress = False) -> ServiceVersion:
        """Until every replica of the version that is wanted answers; NotServing when it fails."""
        until_over(lambda: self.versions.get(version), ("serving", "failed", "stopped"), progress, "Service")
        now = self.versions.get(version)
        self.refresh()
        if now["state"] != "serving":
            raise NotServing(now)
        return now

    def _act(self, name: str) -> Service:
        self.service = cast(Service, self._client.services.action(self.id, name))
        return self.service


class Services(Collection[Service]):
    def __init__(self, client: Client) -> None:
        super().__init__(client, "services")

    def __getitem__(self, name: str | int) -> ServiceHandle:
        """By its name, ``"project/name"`` where several projects have one, or its id."""
        if isinstance(name, int):
            return ServiceHandle(self._client, self.get(name))
        project, slash, rest = name.partition("/")
        if slash:
            return ServiceHandle(self._client, self.find(rest, project=self._client.projects.find(project)))
        found = []
        for one in self._client.projects.list():
            try:
                found.append(self.find(name, project=one["id"]))
            except NotFound:
                continue
        if len(found) != 1:
            many = f"{len(found)} projects have a service {name!r}: say which, as in 'project/{name}'"
            raise NotFound(404, {"code": "not_found", "detail": many if found else f"there is no service {name!r}"})
        return ServiceHandle(self._client, found[0])

    def of(self, service: Service) -> ServiceHandle:
        return ServiceHandle(self._client, service)

    def deploy(self, name: str, *, project: Project, wait: bool = True, **fields: Any) -> tuple[ServiceHandle, Deployment]:
        """Serves ``model_version=`` (or ``command=``) as a new service, or as another version of one that is there.

        ``role="canary"``, ``replicas=``, ``spec=``. A new service has a key, whose secret is in this answer only:
        ``deployment["key"]["secret"]``. wait: until it answers; NotServing when it does not come to that.
        """
        made = cast(Deployment, self.action(None, "deploy", name=name, project=_project_id(self._client, project), **fields))
        handle = ServiceHandle(self._client, made["service"])
        if wait:
            made["version"] = handle.wait(made["version"])
        return handle, made
