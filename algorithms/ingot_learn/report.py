"""What the model finds on the test part, and how good that is: by ingot-infer and `ingot evaluate` where they are, as
they are what will answer later; else by the net itself and the few figures of score.py."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np

from . import data, score
from .log import say

LIMIT = 1800  # seconds for a program


def _truth(path: Path, dataset: data.Dataset, samples: list) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps({"ingot": 1, "type": dataset.type, "labels": [{"name": label} for label in dataset.labels]}, ensure_ascii=False) + "\n")
        for one in samples:
            row = {"file": one.file, "annotation": {"shapes": one.shapes} if dataset.type in data.SHAPED else {"labels": list(one.labels)}}
            if one.width and one.height:
                row.update(width=one.width, height=one.height)
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _run(*command) -> "str | None":
    """What a program printed; None when it is not there or fails."""
    program = shutil.which(command[0])
    if not program:
        return None
    try:
        done = subprocess.run([program, *map(str, command[1:])], capture_output=True, text=True, timeout=LIMIT)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _by_infer(out: Path, dataset: data.Dataset, samples: list, threads: int) -> bool:
    """By ingot-infer predict, which takes paths below a folder and writes lines by these."""
    if any(one.content is not None for one in samples):
        return False
    names = {one.file for one in samples}
    listing = out / "checkpoint" / "test.list"
    listing.parent.mkdir(parents=True, exist_ok=True)
    listing.write_text("".join(json.dumps({"file": name}) + "\n" for name in sorted(names)), encoding="utf-8")
    raw = out / "checkpoint" / "found.raw"
    said = _run("ingot-infer", "predict", "--model", out, "--threads", threads, "--root", dataset.folder, "--out", raw, listing)
    listing.unlink()
    if said is None or not raw.is_file():
        raw.unlink(missing_ok=True)
        return False
    rows = [json.loads(line) for line in raw.read_text(encoding="utf-8").splitlines() if line]
    raw.unlink()
    rows = [row for row in rows if row.get("file") in names]
    if len(rows) != len(samples):
        return False
    (out / "found.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return True


def _by_net(out: Path, dataset: data.Dataset, samples: list, find) -> None:
    with open(out / "found.jsonl", "w", encoding="utf-8") as file:
        for one, annotation in find(samples):
            row = {"file": one.file, "annotation": annotation} if annotation is not None else {"file": one.file, "error": "cannot be read"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def figures(report: dict) -> dict:
    """Names and values of a report."""
    return {row["name"]: row["value"] for row in report.get("figures", []) if isinstance(row.get("value"), (int, float))}


def _figures(dataset: data.Dataset, samples: list, path: Path) -> list:
    """Without `ingot evaluate`: the main figures of whole samples."""
    if dataset.type in data.SHAPED:
        return []
    found = {row["file"]: row.get("annotation") or {} for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    number = {label: i for i, label in enumerate(dataset.labels)}
    said, there = (np.zeros((len(samples), len(number)), bool) for _ in range(2))
    for i, one in enumerate(samples):
        said[i, [number[label] for label in found.get(one.file, {}).get("labels", []) if label in number]] = True
        there[i, [number[label] for label in one.labels]] = True
    table = {"accuracy": float((said == there).all(1).mean()), "f1": score.macro_f1(said, there)}
    return [{"name": name, "value": value} for name, value in table.items()]


def make(out: Path, dataset: data.Dataset, samples: list, find, threads: int) -> dict:
    """Writes found.jsonl and report.json; the report."""
    if not samples:
        return {}
    if not _by_infer(out, dataset, samples, threads):
        _by_net(out, dataset, samples, find)
    truth = out / "checkpoint" / "truth.jsonl"
    truth.parent.mkdir(parents=True, exist_ok=True)
    _truth(truth, dataset, samples)
    text = _run("ingot", "evaluate", truth, out / "found.jsonl", "-o", "json")
    truth.unlink()
    report = json.loads(text) if text else {"type": dataset.type, "samples": len(samples), "figures": _figures(dataset, samples, out / "found.jsonl")}
    (out / "report.json").write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n")
    for name, value in figures(report).items():
        say(f"test part, {name} {value:.4f}")
    return report
