"""What every step has: the platform's client, the demo's project and people, the packages, a place for progress."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "models"), str(next(p for p in (HERE.parent / "python", HERE.parents[1] / "python") if (p / "ingot").is_dir()))]
sys.modules.setdefault("httpx", None)  # type: ignore[arg-type]  # the client does without: the same on every machine

import ingot  # noqa: E402
import objects  # noqa: E402
import packages  # noqa: E402
from packages import Failed  # noqa: E402

TABLE = json.loads((HERE / "packages.json").read_text())["packages"]
EMOJI, DECLARATION = TABLE
CLASSIFIER = "imagenet-classifier"


def _got(collection: Any, id: int) -> dict[str, Any]:
    """Empty when somebody deleted it: then there is nothing left but to remove the rest."""
    try:
        return dict(collection.get(id))
    except ingot.NotFound:
        return {}


class World:
    def __init__(self, client: ingot.Client, project: int, people: list[int], folder: Path):
        self.client, self.folder = client, folder
        self.project = _got(client.projects, project)
        self.people = [_got(client.users, one) for one in people]
        self._reached, self._whole, self._share, self._step = 0, 1, 0, ""

    # --- progress: lines that the server reads ---

    def begin(self, step: str, reached: int, share: int, whole: int) -> None:
        self._step, self._reached, self._share, self._whole = step, reached, share, whole
        self.at(0, 1)

    def at(self, done: float, total: float) -> None:
        """How far the step is."""
        now = self._reached + self._share * min(1.0, done / max(total, 1e-9))
        print(f"step {self._step} {int(now)} {self._whole}", flush=True)

    def meter(self, _what: str, done: int, total: int) -> None:
        """For the client's `progress=`."""
        self.at(done, total or 1)

    # --- what is there ---

    def find(self, kind: str, name: str) -> dict[str, Any] | None:
        try:
            return dict(self.client.kind(kind).find(name, project=self.project))
        except ingot.NotFound:
            return None

    def make(self, kind: str, name: str, **fields: Any) -> dict[str, Any]:
        """The object of that name; made when it is not there."""
        return self.find(kind, name) or dict(self.client.kind(kind).create(project=self.project, name=name, **fields))

    # --- packages ---

    def package(self, row: dict[str, Any], files: list[str]) -> Path:
        """A folder with these files of a package."""
        into = self.folder / row["name"].replace("/", "-").lstrip("@")
        if not into.is_dir():
            packages.extract({**row, "files": files}, packages.fetch(row), into)
        return into

    def emoji(self) -> Path:
        return self.package(EMOJI, objects.files()) / "assets"

    # --- people ---

    @contextmanager
    def as_person(self, number: int) -> Iterator[ingot.Client]:
        """A client that is signed in as one of the demo's people, with a password that nobody else ever has."""
        password = secrets.token_urlsafe(24)
        self.client.users.action(self.people[number], "reset-password", password=password)
        with ingot.Client(self.client.url, token="") as own:
            own.sign_in(self.people[number]["name"], password)
            try:
                yield own
            finally:
                own.sign_out()


def program(*words: str) -> None:
    """Runs `ingot` with this program's credential."""
    done = subprocess.run([os.environ["INGOT_PROGRAM"], *words], capture_output=True, text=True)
    if done.returncode:
        raise Failed((done.stderr or done.stdout).strip().splitlines()[-1] if done.stderr or done.stdout else f"ingot {words[0]} failed")


def source(row: dict[str, Any]) -> str:
    """Where something is from, for a description."""
    return f"{row['registry']} package {row['name']} {row['version']}, licence {row['licence']}"


@contextmanager
def world(project: int, people: list[int]) -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="ingot-demo-") as folder, ingot.Client() as client:
        yield World(client, project, people, Path(folder))
