#!/usr/bin/python3
"""clang-tidy over src/. What passed is remembered in ~/.cache/ingot-tidy by the hash of the file, all that it includes
of ours, the settings and the tool, so that only changed files cost time. VERBOSE=1 shows how the analyser
came to what it says."""

import hashlib
import os
import re
import subprocess
from functools import cache
from pathlib import Path

from common import INCLUDE, ROOT, compiler_flags, in_parallel, report, sources
from layers import included

PASSED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ingot-tidy"


@cache
def direct_includes(file: Path) -> tuple[Path, ...]:
    names = INCLUDE.findall((ROOT / file).read_text())
    return tuple(sorted({t for name in names if (t := included(file, name, ROOT))}))


def with_includes(file: Path) -> list[Path]:
    seen, todo = set(), [file]
    while todo:
        if (next_file := todo.pop()) not in seen:
            seen.add(next_file)
            todo += direct_includes(next_file)
    return sorted(seen)


def errors_only(output: str) -> str:
    """Without the notes on how the analyser came to it, and the lines they quote."""
    kept, keep = [], False
    for line in output.splitlines():
        if re.match(r"\S+:\d+:\d+: ", line):
            keep = ": note: " not in line
        if keep:
            kept.append(line)
    return "\n".join(kept)


def main() -> None:
    PASSED.mkdir(parents=True, exist_ok=True)
    flags = compiler_flags()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes() + "\0".join(flags).replace(str(ROOT), ".").encode()

    def tidy(file: Path) -> str:
        key = hashlib.sha256(settings)
        for part in with_includes(file):
            key.update(hashlib.sha256(str(part).encode() + b"\0" + (ROOT / part).read_bytes()).digest())
        mark = PASSED / key.hexdigest()
        if mark.exists():
            return ""
        run = subprocess.run(["clang-tidy", "--quiet", str(file), "--", *flags], cwd=ROOT, capture_output=True,
                             text=True)
        if run.returncode == 0:
            mark.touch()
            return ""
        return run.stdout + run.stderr if os.environ.get("VERBOSE") else errors_only(run.stdout) or run.stderr

    files = sources("src", ".c")
    # The longest first, so that the cores finish together.
    files.sort(key=lambda f: -(ROOT / f).stat().st_size)
    report([p for p in in_parallel(tidy, files) if p], f"{len(files)} files")


if __name__ == "__main__":
    main()
