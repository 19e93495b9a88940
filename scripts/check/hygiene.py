#!/usr/bin/python3
"""Nothing in the repository names a package registry or a path of somebody's machine, marks unfinished work,
or is too big for it."""

import re
from pathlib import Path

from common import ROOT, report, repository_files

SIZE_LIMIT = 2 * 1024 * 1024
LOCKS = {"package-lock.json"}
EVERYWHERE = [
    (re.compile(r"registry\.npm|npmjs\.org/|npmmirror\.|pypi\.org|pythonhosted\.org|deb\.debian\.org"
                r"|mirrors?\.[a-z0-9-]+\.(?:com|cn|org|edu)\b"), "names a package registry"),
    (re.compile(r"(?<![\w.$}*-])/(?:work|tmp/w)/"), "names a path of one machine"),
    (re.compile(r"^(?:<{7} |>{7} )", re.M), "has a merge conflict"),
]
IN_SOURCES = [(re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b"), "marks unfinished work")]
IN_LOCKS = [(re.compile(r'"resolved"\s*:'), "has download addresses (npm's omit-lockfile-registry-resolved)")]


def problems_of(file: Path, data: bytes) -> list[str]:
    problems = [f"{file}: {len(data)} bytes; at most {SIZE_LIMIT}"] if len(data) > SIZE_LIMIT else []
    if b"\0" in data[:8192]:
        return problems
    text = data.decode("utf-8", "replace")
    for pattern, what in EVERYWHERE + (IN_LOCKS if file.name in LOCKS else IN_SOURCES):
        if match := pattern.search(text):
            problems.append(f"{file}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match.group()!r}")
    return problems


def main() -> None:
    files = [f for f in repository_files() if "corpus" not in f.parts]
    report([p for f in files for p in problems_of(f, (ROOT / f).read_bytes())], f"{len(files)} files")


if __name__ == "__main__":
    main()
