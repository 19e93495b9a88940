#!/usr/bin/python3
"""No source file over 800 lines, no C function over 60."""

import re
from pathlib import Path

from common import ROOT, report, repository_files

FILE_LIMIT = 800
FUNCTION_LIMIT = 60
SUFFIXES = (".c", ".h", ".ts", ".tsx", ".js", ".mjs", ".css", ".py", ".sh")
# Comments, strings and characters, preprocessor lines with their continuations.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                   r'|^[ \t]*#(?:\\\r?\n|[^\n])*', re.S | re.M)


def blanked(text: str) -> str:
    """The text with everything that is not code replaced by spaces, line breaks kept."""
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def is_function(head: str) -> bool:
    """Whether a brace after `head` (all since the last top-level ; or }) opens a function's body."""
    outside = re.sub(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "()", head)
    return "()" in outside and "=" not in outside


def functions(text: str) -> list[tuple[str, int, int]]:
    """(name, first line, number of lines) of each function in a C file."""
    found = []
    depth, head_start, opened = 0, 0, None
    code = blanked(text)
    for match in re.finditer(r"[{};]", code):
        at, char = match.start(), match.group()
        if char == "{":
            if depth == 0 and is_function(code[head_start:at]):
                opened = head_start + len(code[head_start:at]) - len(code[head_start:at].lstrip())
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                if opened is not None:
                    first, last = code.count("\n", 0, opened) + 1, code.count("\n", 0, at) + 1
                    name = re.search(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", code[opened:at], flags=re.S))
                    found.append((name.group(1) if name else "?", first, last - first + 1))
                    opened = None
                head_start = at + 1
        elif depth == 0:
            head_start = at + 1
    return found


def problems_of(file: Path, text: str) -> list[str]:
    lines = text.count("\n")
    problems = [f"{file}: {lines} lines; at most {FILE_LIMIT}: split it by what it does"] if lines > FILE_LIMIT else []
    if file.suffix in (".c", ".h"):
        problems += [f"{file}:{first}: function {name} has {count} lines; at most {FUNCTION_LIMIT}"
                     for name, first, count in functions(text) if count > FUNCTION_LIMIT]
    return problems


def main() -> None:
    files = repository_files(*SUFFIXES)
    report([p for f in files for p in problems_of(f, (ROOT / f).read_text())], f"{len(files)} files")


if __name__ == "__main__":
    main()
