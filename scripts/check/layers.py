#!/usr/bin/python3
"""Includes go down the layers only, and within core down its folders (cmake/layers.cmake has both orders); no headers
include each other in a circle."""

from pathlib import Path

from common import INCLUDE, ROOT, layer_ranks, report, sources


def included(file: Path, name: str, root: Path) -> Path | None:
    """The file under src/ that an #include "name" in `file` means."""
    for candidate in (Path("src") / name, file.parent / name):
        if (root / candidate).is_file():
            return Path(*candidate.parts)
    return None


def upward(files: list[Path], ranks: dict[str, int], root: Path) -> list[str]:
    problems = []
    for file in files:
        if len(file.parts) == 2:  # src/main.c wires everything
            continue
        layer = file.parts[1]
        if layer not in ranks:
            problems.append(f"{file}: '{layer}' is not a layer in cmake/layers.cmake")
            continue
        for name in INCLUDE.findall((root / file).read_text()):
            target = included(file, name, root)
            if target is None:
                problems.append(f'{file}: no such file: #include "{name}"')
                continue
            other = target.parts[1]
            if other != layer and ranks.get(other, len(ranks)) >= ranks[layer]:
                problems.append(f'{file}: {layer} must not include "{name}": {other} is not below it')
    return problems


def core_folder(file: Path) -> str | None:
    """The folder of src/core/ that the file is in; None for core's own files and other layers'."""
    return file.parts[2] if file.parts[1] == "core" and len(file.parts) == 4 else None


def upward_in_core(files: list[Path], ranks: dict[str, int], root: Path) -> list[str]:
    problems = []
    for file in files:
        folder = core_folder(file)
        if folder is None:
            continue
        if folder not in ranks:
            problems.append(f"{file}: '{folder}' is not among core's folders in cmake/layers.cmake")
            continue
        for name in INCLUDE.findall((root / file).read_text()):
            target = included(file, name, root)
            other = core_folder(target) if target else None
            if other and other != folder and ranks.get(other, len(ranks)) >= ranks[folder]:
                problems.append(f'{file}: core/{folder} must not include "{name}": core/{other} is not below it')
    return problems


def circles(files: list[Path], root: Path) -> list[str]:
    graph = {file: [t for name in INCLUDE.findall((root / file).read_text())
                    if (t := included(file, name, root)) and t.suffix == ".h"]
             for file in files if file.suffix == ".h"}
    problems, finished = [], set()

    def visit(file: Path, path: list[Path]) -> None:
        if file in path:
            problems.append("circle of includes: " + " -> ".join(map(str, path[path.index(file):] + [file])))
        elif file not in finished:
            for target in graph.get(file, []):
                visit(target, path + [file])
            finished.add(file)

    for file in graph:
        visit(file, [])
    return problems


def main() -> None:
    files = sources("src", ".c", ".h")
    report(upward(files, layer_ranks(), ROOT) + upward_in_core(files, layer_ranks("ingot_core_ranks"), ROOT) +
           circles(files, ROOT), f"{len(files)} files")


if __name__ == "__main__":
    main()
