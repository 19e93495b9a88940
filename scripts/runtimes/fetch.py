#!/usr/bin/python3
"""Fetches what a runtime is made of, with this machine's own apt and pip, for the server (src/core/runtime).

    fetch.py estimate CACHE WORK     what it would cost
    fetch.py fetch CACHE WORK        fetches it and lays it out in WORK for the container that configures it

WORK/recipe.json is {"packages": [Debian names], "python": [requirements], "have": fingerprint of what needs no fetching, or null}. CACHE is kept between runs; WORK is this run's.
Standard output has one JSON object a line: {"done", "total"} bytes while it fetches; last {"plan": {...}} or {"error": WORD, "about"}.
Standard error is the log. Nothing of a package is run here: .deb files are only unpacked, wheels only stored.
"""

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import seed

HERE = Path(__file__).resolve().parent
CACHE_MAX = 3 << 30  # bytes of .deb files and wheels that are kept; the longest unused go first
DEBIAN = re.compile(r"[a-z0-9][a-z0-9+.-]+\Z")
PYTHON = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(==[A-Za-z0-9][A-Za-z0-9.+!_-]*)?\Z")


class Failed(Exception):
    """A word for the kind of failure, which the server has sentences for, and what it is about."""

    def __init__(self, word: str, about: str):
        super().__init__(f"{word}: {about}")
        self.word, self.about = word, about


def tell(**what) -> None:
    print(json.dumps(what), flush=True)


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(command: list[str], what: str) -> str:
    """Standard output; everything it says is in the log."""
    log("+ " + " ".join(command))
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    except FileNotFoundError as error:
        raise Failed("no-program", command[0]) from error
    said = done.stderr.strip()
    if said:
        log(said)
    if done.returncode == 0:
        return done.stdout
    log(done.stdout.strip()[-4000:])
    raise reason_of(what, f"{done.stdout}\n{said}")


REASONS = (
    (re.compile(r"Unable to locate package (\S+)"), "no-debian"),
    (re.compile(r"Package '?(\S+?)'? has no installation candidate"), "no-debian"),
    (re.compile(r"No matching distribution found for (\S+)"), "no-python"),
    (re.compile(r"(No module named pip)"), "no-program"),
    (re.compile(r"(No space left on device)"), "no-room"),
    (re.compile(r"(Could not resolve '\S+?'|Temporary failure resolving '\S+?'|Could not connect to \S+)"), "no-network"),
)


def reason_of(what: str, text: str) -> Failed:
    for pattern, word in REASONS:
        found = pattern.search(text)
        if found:
            return Failed(word, found[1])
    lines = [line for line in text.strip().splitlines() if line.startswith(("E:", "ERROR:"))] or text.strip().splitlines()[-1:]
    return Failed("failed", f"{what}: {lines[-1] if lines else 'no reason was given'}")


# --- Debian ---

class Apt:
    """The system's sources and keys with a state of its own, in which nothing is installed yet."""

    def __init__(self, cache: Path):
        self.archives = cache / "debs"
        self.nothing = cache / "nothing"
        for folder in (cache / "lists/partial", self.archives / "partial", self.nothing / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        (cache / "status").write_text("")
        self.options = [item for option in (
            f"Dir::State={cache}", f"Dir::State::Lists={cache}/lists", f"Dir::State::status={cache}/status", f"Dir::Cache={cache}",
            "APT::Sandbox::User=root", "APT::Install-Recommends=false", "Acquire::Languages=none", "Acquire::Retries=3", "Acquire::ForceHash=SHA256",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false", "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
            "Acquire::IndexTargets::deb-src::Sources::DefaultEnabled=false") for item in ("-o", option)]

    def get(self, what: str, archives: Path, *words: str) -> str:
        return run(["apt-get", "-q", "-y", *self.options, "-o", f"Dir::Cache::Archives={archives}", *words], what)

    def update(self) -> None:
        self.get("reading Debian's lists of packages", self.archives, "update")

    def closure(self, packages: list[str]) -> dict[str, tuple[int, str]]:
        """File name -> (bytes, SHA-256) of all that a root file system with these needs."""
        text = self.get("resolving the Debian packages", self.nothing, "install", "--print-uris", "?essential", *packages)
        found = re.findall(r"^'[^']*' (\S+\.deb) (\d+) SHA256:([0-9a-f]{64})$", text, re.M)
        if not found:
            raise Failed("failed", "apt named no packages: are there sources in /etc/apt?")
        return {name: (int(size), digest) for name, size, digest in found}

    def download(self, packages: list[str]) -> None:
        self.get("fetching the Debian packages", self.archives, "install", "--download-only", "?essential", *packages)


# --- Python ---

def pip(*words: str) -> list[str]:
    return ["/usr/bin/python3", "-m", "pip", *words]


def wheels_of(python: list[str], work: Path) -> dict[str, tuple[str, str]]:
    """File name -> (address, SHA-256) of the wheels, by pip's own resolution. No package's code is run: wheels only."""
    if not python:
        return {}
    report = work / "report.json"
    run(pip("install", "--quiet", "--disable-pip-version-check", "--no-input", "--dry-run", "--ignore-installed", "--break-system-packages",
            "--only-binary", ":all:", "--report", str(report), "--", *python), "resolving the Python packages")
    ret = {}
    for item in json.loads(report.read_text())["install"]:
        where = item["download_info"]
        ret[urllib.request.unquote(where["url"].split("#")[0].rsplit("/", 1)[1])] = (where["url"], where["archive_info"]["hashes"]["sha256"])
    return ret


def size_of(url: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url.split("#")[0], method="HEAD"), timeout=20) as answer:
            return int(answer.headers.get("Content-Length") or 0)
    except (OSError, ValueError) as error:
        log(f"the size of {url.rsplit('/', 1)[1]} is not known: {error}")
        return 0


def fetch_wheels(python: list[str], folder: Path, store: Path) -> None:
    folder.mkdir()
    if python:
        run(pip("download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary", ":all:", "--find-links", str(store),
                "--dest", str(folder), "--", *python), "fetching the Python packages")


# --- the two together ---

def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()


class Progress:
    """Bytes in the folders that are filled, twice a second."""

    def __init__(self, folders: list[Path], total: int):
        self.folders, self.total, self.over = folders, total, threading.Event()
        self.before = self.bytes()
        self.thread = threading.Thread(target=self.follow, daemon=True)

    def bytes(self) -> int:
        ret = 0
        for folder in self.folders:
            for path in folder.glob("**/*"):
                try:
                    ret += path.stat().st_size
                except OSError:
                    pass
        return ret

    def follow(self) -> None:
        while not self.over.wait(0.5):
            tell(done=min(max(self.bytes() - self.before, 0), self.total), total=self.total)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def prune(cache: Path) -> None:
    kept = sorted((path for name in ("debs", "wheels") for path in (cache / name).glob("*") if path.is_file()), key=lambda path: -path.stat().st_mtime)
    room = CACHE_MAX
    for path in kept:
        room -= path.stat().st_size
        if room < 0:
            path.unlink()
    for part in (cache / "debs/partial").glob("*"):
        part.unlink()


def place(source: Path, target: Path) -> None:
    os.utime(source)  # used: it goes last
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    os.chmod(target, 0o644)


class Plan:
    def __init__(self, cache: Path, work: Path):
        recipe = json.loads((work / "recipe.json").read_text())
        self.cache, self.work, self.apt = cache, work, Apt(cache)
        self.packages, self.python, self.have = recipe["packages"], recipe["python"], recipe.get("have")
        for name in self.packages:
            if not DEBIAN.match(name):
                raise Failed("no-debian", name)
        for name in self.python:
            if not PYTHON.match(name):
                raise Failed("no-python", name)
        if self.python:
            self.packages = [*self.packages, "python3", "python3-pip"]
        (cache / "wheels").mkdir(exist_ok=True)
        self.apt.update()
        self.debs = self.apt.closure(self.packages)
        self.seed = [name for name in self.apt.closure([]) if name in self.debs]
        self.wheels = wheels_of(self.python, work)
        self.sizes = {name: size_of(url) for name, (url, _) in self.wheels.items() if not (cache / "wheels" / name).exists()}

    def missing(self) -> int:
        return sum(size for name, (size, _) in self.debs.items() if not (self.apt.archives / name).exists()) + sum(self.sizes.values())

    def fingerprint(self) -> str:
        text = json.dumps([sorted((name, digest) for name, (_, digest) in self.debs.items()),
                           sorted((name, digest) for name, (_, digest) in self.wheels.items()), (HERE / "configure.sh").read_text()])
        return hashlib.sha256(text.encode()).hexdigest()

    def shown(self) -> dict:
        return {"bytes": sum(size for size, _ in self.debs.values()) + sum(self.sizes.get(name) or self.kept(name) for name in self.wheels),
                "missing": self.missing(), "debs": len(self.debs), "wheels": len(self.wheels), "fingerprint": self.fingerprint()}

    def kept(self, wheel: str) -> int:
        path = self.cache / "wheels" / wheel
        return path.stat().st_size if path.exists() else 0

    def fetch(self) -> None:
        folder = self.work / "wheels"
        with Progress([self.apt.archives, folder], self.missing()):
            self.apt.download(self.packages)
            fetch_wheels([f"{name.split('-')[0]}=={name.split('-')[1]}" for name in self.wheels], folder, self.cache / "wheels")
        (self.work / "debs").mkdir()
        for name, (_, digest) in self.debs.items():
            if sha256(self.apt.archives / name) != digest:
                (self.apt.archives / name).unlink()
                raise Failed("failed", f"{name} is not what Debian's list says: build it again")
            place(self.apt.archives / name, self.work / "debs" / name)
        for path in folder.iterdir():
            if path.name not in self.wheels or sha256(path) != self.wheels[path.name][1]:
                raise Failed("failed", f"{path.name} is not what was resolved: build it again")
            os.chmod(path, 0o644)
            if not (self.cache / "wheels" / path.name).exists():
                place(path, self.cache / "wheels" / path.name)

    def lay_out(self) -> None:
        rest = [name for name in self.debs if name not in self.seed]
        for file, lines in (("seed", self.seed), ("rest", rest), ("python", [f"/run/ingot-runtime/wheels/{name}" for name in self.wheels])):
            (self.work / file).write_text("".join(f"{line}\n" for line in lines))
        shutil.copyfile(HERE / "configure.sh", self.work / "configure.sh")
        log(f"laying out {len(self.seed)} packages to begin with")
        seed.write([self.work / "debs" / name for name in self.seed], self.work / "seed.tar")


def main(verb: str, cache: Path, work: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        plan = Plan(cache, work)
        shown = plan.shown()
        fetches = verb == "fetch" and shown["fingerprint"] != plan.have
        if fetches:
            plan.fetch()
            prune(cache)
    if fetches:
        plan.lay_out()
        (work / "plan.json").write_text(json.dumps(shown))
    tell(plan={**shown, "same": verb == "fetch" and not fetches})


def end_with_server() -> None:
    """Standard input ends when the server does, even when that is killed: then all that was started here ends too."""
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("estimate", "fetch"):
        sys.exit(__doc__)
    os.umask(0o022)
    threading.Thread(target=end_with_server, daemon=True).start()
    try:
        main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    except Failed as error:
        log(str(error))
        tell(error=error.word, about=error.about)
        sys.exit(1)
    except OSError as error:
        log(str(error))
        tell(error="no-room" if error.errno == errno.ENOSPC else "failed", about=str(error))
        sys.exit(1)
