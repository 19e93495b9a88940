#!/usr/bin/python3
"""Completes web/package-lock.json: lock.py [--check] [FILE]

Packages for other platforms are optional dependencies. npm leaves those out of the lock file that the registry in
use does not offer, and `npm ci` then refuses the file where it meets one. This adds them, marked with their
platform, so that `npm ci` works the same with every registry. Run it after each `npm install`; --check only says
what is missing.
"""

import json
import re
import sys
from pathlib import Path

OS = {"aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"}
CPU = {"arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"}
LIBC = {"gnu": "glibc", "gnueabihf": "glibc", "musl": "musl", "musleabihf": "musl"}
NAMES_WITHOUT_PLATFORM = {"fsevents": {"os": ["darwin"]}}


def platform(name: str) -> dict:
    """The os, cpu and libc fields of a package that has them in its name."""
    if name in NAMES_WITHOUT_PLATFORM:
        return NAMES_WITHOUT_PLATFORM[name]
    words = re.split(r"[-/]", name)
    fields = {"os": [w for w in words if w in OS], "cpu": [w for w in words if w in CPU]}
    if fields["os"] == ["linux"]:
        fields["libc"] = [LIBC[w] for w in words if w in LIBC]
    return {key: value for key, value in fields.items() if value}


def resolves(packages: dict, path: str, name: str) -> bool:
    """Whether `name`, asked for by the package at `path`, is in the lock file."""
    while True:
        if f"{path}/node_modules/{name}".lstrip("/") in packages:
            return True
        if not path:
            return False
        path = path.rpartition("node_modules/")[0].rstrip("/")


def missing(packages: dict) -> dict[str, dict]:
    """The entries to add, by path."""
    found = {}
    for path, package in packages.items():
        for name, wanted in package.get("optionalDependencies", {}).items():
            if not resolves(packages, path, name):
                entry = {"version": wanted.lstrip("^~"), **platform(name), "optional": True}
                if package.get("dev"):
                    entry["dev"] = True
                found[f"node_modules/{name}"] = dict(sorted(entry.items(), key=lambda e: (e[0] != "version", e[0])))
    return found


def main() -> None:
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    file = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1] / "web/package-lock.json"
    lock = json.loads(file.read_text())
    packages = lock["packages"]
    found = missing(packages)
    for path, entry in found.items():
        if "os" not in entry and "cpu" not in entry:
            sys.exit(f"lock: {path} is not in {file} and its name tells no platform")
        print(f"lock: {path} {entry['version']}")
    if not found:
        return
    if "--check" in sys.argv:
        sys.exit(f"lock: {len(found)} packages for other platforms are missing in {file}: run scripts/lock.py")
    packages.update(found)
    lock["packages"] = {path: packages[path] for path in sorted(packages)}
    file.write_text(json.dumps(lock, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
