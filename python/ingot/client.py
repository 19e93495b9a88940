"""The connection: authentication, retries, errors, and one attribute per kind."""

from __future__ import annotations

import json as _json
import random
import ssl
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Iterator, Mapping, TypeVar, cast
from urllib.parse import quote

from . import config
from ._http import httpx
from ._version import __version__
from .collection import Collection, Project, Which, _id, _project_id
from .datasets import Datasets
from .environments import Environments
from .errors import ConnectionFailed, Problem, problem
from .folders import Folders
from .kinds import Kinds
from .labelling import LabelTasks
from .evaluations import Evaluations
from .models import Models
from .running import Jobs, Trainings
from .services import Services
from .transfer import Progress, wait
from .types import AlgorithmSet, GroupMember, Member, Object, Task, Token
from .version import Version

_IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_FIRST_DELAY = 0.1
_LONGEST_DELAY = 5.0

T = TypeVar("T", bound=Mapping[str, Any])


class Client(Kinds):
    """A client may be shared by threads. Close it, or use it in a ``with`` statement.

    :param url: ``http://host:port``; absent: INGOT_URL, or what ``ingot login`` wrote
    :param token: a bearer token; without an url: INGOT_TOKEN, or what ``ingot login`` wrote
    :param timeout: seconds for each step of a request
    :param retries: how often GET, HEAD, PUT and DELETE are tried again after 503 or a lost connection
    :param verify: False, or the path of a CA file
    """

    datasets: Datasets
    algorithm_sets: Folders[AlgorithmSet]
    model_sets: Models
    jobs: Jobs
    environments: Environments
    trainings: Trainings
    services: Services
    evaluations: Evaluations
    label_tasks: LabelTasks

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 4,
        verify: bool | str = True,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url, token = config.resolve(url, token)
        self.retries = retries
        self._verify = verify
        headers = {"User-Agent": f"ingot-python/{__version__}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=self.url + "/api/v1/",
            headers=headers,
            timeout=timeout,
            verify=verify,
            transport=transport,
            trust_env=False,
        )
        self._kinds: list[Object] | None = None
        self.datasets = Datasets(self)
        self.algorithm_sets = Folders(self, "algorithm-sets")
        self.model_sets = Models(self, "model-sets")
        self.jobs = Jobs(self)
        self.environments = Environments(self)
        self.trainings = Trainings(self)
        self.services = Services(self)
        self.evaluations = Evaluations(self)
        self.label_tasks = LabelTasks(self)

    def dataset(self, name: str, version: str | int | None = None, *, project: Project | None = None, type: str | None = None) -> Version:
        """A version of a dataset, to iterate, to change and to make tables of: ``client.dataset("cats:v2", project="vision")``.

        :param name: "cats" (its newest version), "cats:v2"
        :param project: by name, id or itself; absent: INGOT_PROJECT, or that of ``ingot use``
        :param type: makes the dataset, with this annotation type, when there is none of that name
        """
        return self.datasets.open(name, version, project=project, type=type)

    def kind(self, plural: str) -> Collection[Object]:
        """The objects of any kind, by the plural of its path: ``client.kind("label-sets")``."""
        return Collection(self, plural.strip("/"))

    def members(self, project: Project) -> Collection[Member]:
        return Collection(self, f"projects/{_project_id(self, project)}/members")

    def group_members(self, group: Which) -> Collection[GroupMember]:
        return Collection(self, f"groups/{_id(group)}/members")

    # --- who one is ---

    def sign_in(self, name: str, password: str) -> Object:
        """Starts a session (cookie) of this client; answers the same as :meth:`session`."""
        return cast(Object, self.request("POST", "sessions", json={"name": name, "password": password}))

    def sign_out(self) -> None:
        self.request("DELETE", "session")
        self._http.cookies.clear()

    def session(self) -> Object:
        """Who is signed in, and what they may do."""
        return cast(Object, self.request("GET", "session"))

    def make_token(self, name: str, scopes: list[str] | None = None, expires_at: str | None = None) -> Token:
        """A new API token of the caller; its `secret` is in this answer only."""
        fields: Object = {"name": name, "scopes": scopes or []}
        if expires_at is not None:
            fields["expires_at"] = expires_at
        return self.tokens.create(**fields)

    def use_token(self, secret: str) -> None:
        """Sends this token from now on, instead of the session."""
        self._http.headers["Authorization"] = f"Bearer {secret}"
        self._http.cookies.clear()

    # --- the platform ---

    def health(self) -> Object:
        return cast(Object, self.request("GET", "health"))

    def kinds(self) -> list[Object]:
        """The description of every noun: fields, verbs, actions; asked once."""
        if self._kinds is None:
            self._kinds = cast("list[Object]", self.request("GET", "kinds")["items"])
        return self._kinds

    def permissions(self) -> list[Object]:
        return cast("list[Object]", self.request("GET", "permissions")["items"])

    def controllers(self) -> list[Object]:
        """What the platform does by itself: when each ran last, how long that took, what failed. For administrators."""
        return cast("list[Object]", self.request("GET", "controllers")["items"])

    def run_controller(self, name: str) -> None:
        """Has one run soon instead of at its next time."""
        self.request("POST", f"controllers/{quote(name, safe='')}/run")

    def lineage(self, kind: str, id: int, *, direction: str = "both", depth: int = 6) -> Object:  # noqa: A002
        """What an object was made from ("up") and what was made of it ("down"): {"nodes", "edges", "more"}.

        kind: "model_version", "dataset_version", "training_instance", "service_version", "sample" ..."""
        return cast(Object, self.request("GET", "lineage", params={"kind": kind, "id": id, "direction": direction, "depth": depth}))

    def find(self, q: str, *, project: Project | None = None, limit: int = 20) -> list[Object]:
        """Objects of all kinds that words and parts of words are found in: of the project and of the platform, the best first."""
        params: dict[str, str | int] = {"q": q, "limit": limit}
        if project is not None:
            params["project"] = _project_id(self, project)
        return cast("list[Object]", self.request("GET", "search", params=params)["items"])

    def openapi(self) -> Object:
        return cast(Object, self.request("GET", "openapi.json"))

    def events(self, project: Project | None = None) -> Iterator[Object]:
        """Changes as they are committed: ``{"kind", "verb", "id", "project", "parent"}``. Never ends by itself."""
        params = {} if project is None else {"project": _project_id(self, project)}
        headers = {"Accept": "text/event-stream"}
        timeout = httpx.Timeout(self._http.timeout.connect, read=60.0)
        with self._http.stream("GET", "events", params=params, headers=headers, timeout=timeout) as answer:
            if answer.status_code >= 400:
                answer.read()
                raise _problem(answer)
            data: list[str] = []
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    data.append(line[5:].lstrip(" "))
                elif line == "" and data:
                    yield cast(Object, _json.loads("\n".join(data)))
                    data = []

    def stream(self, method: str, path: str, *, params: Mapping[str, str | int] | None = None) -> Iterator[str]:
        """The lines of an answer as they come. Raises a Problem on refusal, httpx's errors when it breaks off."""
        timeout = httpx.Timeout(self._http.timeout.connect, read=60.0)
        with self._http.stream(method, path.lstrip("/"), params=params, timeout=timeout) as answer:
            if answer.status_code >= 400:
                answer.read()
                raise _problem(answer)
            yield from answer.iter_lines()

    def backup(self, path: str | Path) -> int:
        """Writes a backup of the whole platform (administrators only); the number of bytes."""
        size = 0
        with self._http.stream("GET", "backup", timeout=httpx.Timeout(30.0, read=600.0)) as answer:
            if answer.status_code >= 400:
                answer.read()
                raise _problem(answer)
            with open(path, "wb") as out:
                for piece in answer.iter_bytes():
                    out.write(piece)
                    size += len(piece)
        return size

    def wait(self, task: Which, *, progress: Progress = False, what: str = "Working") -> Task:
        """Until a task is over: the task when it is done, else TaskFailed. KeyboardInterrupt cancels it."""
        return wait(self, task, progress, what)

    # --- requests ---

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """One request below /api/v1; the parsed answer, None when it is empty. Raises a Problem on refusal."""
        answer = self.send(method, path, params=params, json=json, headers=headers)
        if answer.status_code >= 400:
            raise _problem(answer)
        return answer.json() if answer.content else None

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The same without looking at the status: the raw answer."""
        sent = dict(headers or {})
        if self._http.cookies and method not in ("GET", "HEAD"):
            sent.setdefault("Origin", self.url)
        attempts = 1 + (self.retries if method in _IDEMPOTENT else 0)
        for attempt in range(attempts):
            last = attempt == attempts - 1
            try:
                answer = self._http.request(
                    method, path.lstrip("/"), params=params, json=json, content=content, headers=sent
                )
            except httpx.TransportError as error:
                if last:
                    raise ConnectionFailed(f"{method} {self.url}: {error}") from error
                time.sleep(_delay(attempt, None))
                continue
            if answer.status_code != 503 or last:
                return answer
            time.sleep(_delay(attempt, answer.headers.get("retry-after")))
        raise AssertionError("unreachable")

    def checked(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The raw answer; raises a Problem on refusal."""
        answer = self.send(method, path, params=params, content=content, headers=headers)
        if answer.status_code >= 400:
            raise _problem(answer)
        return answer

    def pieces(self, path: str, headers: Mapping[str, str], status: int) -> Iterator[bytes]:
        """The bytes of an answer as they come; any other status is a failure."""
        with self._http.stream("GET", path, headers=dict(headers)) as answer:
            if answer.status_code != status:
                answer.read()
                raise _problem(answer)
            yield from answer.iter_bytes()

    def credentials(self) -> dict[str, str]:
        """The headers that say who asks; for connections that are no plain requests."""
        if self._http.cookies:
            return {"Cookie": "; ".join(f"{c.name}={c.value}" for c in self._http.cookies.jar)}
        token = self._http.headers.get("Authorization")
        return {"Authorization": token} if token else {}

    def tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context(verify=self._verify, trust_env=False)

    def refusal(self, answer: httpx.Response) -> Problem:
        """The error that an answer of 400 and above stands for."""
        return _problem(answer)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _delay(attempt: int, retry_after: str | None) -> float:
    """Exponential with jitter, so that many clients do not come back at the same instant."""
    if retry_after and retry_after.isdigit():
        return min(float(retry_after), _LONGEST_DELAY)
    return min(_FIRST_DELAY * 2.0**attempt, _LONGEST_DELAY) * (0.5 + random.random() / 2)


def _problem(answer: httpx.Response) -> Problem:
    try:
        document = answer.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        document = {"code": "internal", "detail": f"HTTP status {answer.status_code} without a problem document"}
    return problem(answer.status_code, document)
