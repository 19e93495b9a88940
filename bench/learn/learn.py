#!/usr/bin/python3
"""One-click training against a person's own few lines: see README.md."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "algorithms")]

import byhand  # noqa: E402
import sets  # noqa: E402
from ingot_learn import machine  # noqa: E402

# The time budget counts the seconds that the program computes, so that what else the machine does takes nothing from it.
ON_CPU = "import runpy, time; time.monotonic = time.process_time; runpy.run_module('ingot_learn', run_name='__main__')"

# part: (figure, what a person would write, seconds)
PARTS = {"fashion": ("accuracy", byhand.small_cnn, 60), "stamps": ("accuracy", byhand.fine_tune, 60), "reviews": ("accuracy", byhand.tfidf, 60),
         "voices": ("accuracy", None, 60), "boxes": ("mAP50", byhand.one_level, 180), "areas": ("mIoU", byhand.pixels, 360)}


def one_click(data: Path, out: Path, base: "Path | None", seconds: float, seed: int) -> dict:
    parameters = json.dumps({"minutes": seconds / 60, "seed": seed})
    command = ["/usr/bin/python3", "-c", ON_CPU, "train", "--data", str(data), "--out", str(out), "--parameters", parameters]
    env = {**os.environ, **machine.SETTINGS, "INGOT_LEARN_SETTLED": "1", "PYTHONPATH": str(ROOT / "algorithms"), "OMP_NUM_THREADS": "1",
           "PATH": f"{ROOT / 'build' / 'release'}:{os.environ['PATH']}"}
    done = subprocess.run(command + (["--base", str(base)] if base else []), env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return {row["name"]: row["value"] for row in json.loads((out / "report.json").read_text())["figures"]}


def compare(part: str, work: Path, options) -> None:
    """One row: the same samples, seconds and thread for both, one after the other, for each seed."""
    figure, hand, seconds = PARTS[part]
    seconds = options.seconds or seconds
    ours, theirs, took, loads = [], [], [], []
    for seed in range(options.first, options.first + options.seeds):
        data = getattr(sets, part)(work / f"{part}-{seed}", seed)
        loads.append(os.getloadavg()[0])
        begun = time.monotonic()
        ours.append(one_click(data, work / f"{part}-{seed}-out", options.base, seconds, seed)[figure])
        took.append(time.monotonic() - begun)
        if hand and not options.alone:
            theirs.append(hand(data, options.base, seconds, seed))

    def told(values: list) -> str:
        return f"{statistics.mean(values):.3f} ({', '.join(f'{v:.3f}' for v in values)})" if values else "-"

    points = f"{100 * (statistics.mean(ours) - statistics.mean(theirs)):+.1f}" if theirs else "-"
    print(f"| {part}, {figure} | {seconds:.0f} (took {max(took):.0f}) | {told(ours)} | {told(theirs)} | {points} | {max(loads):.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="of computing for each training; without it each set's own")
    parser.add_argument("--seeds", type=int, default=3, help="so many sets and trainings of each; the mean and each of them are told")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--alone", action="store_true", help="one-click only, where the peer is a figure from elsewhere")
    parser.add_argument("--base", type=Path, help="folder of the built-in model imagenet-classifier; made when left out")
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        if options.base is None:
            subprocess.run([str(ROOT / "scripts" / "models" / "fetch.py"), "make", str(work), "imagenet-classifier"], check=True)
            options.base = work / "imagenet-classifier"
        print("| set | seconds | one-click (each) | by hand (each) | points | load |\n|---|---|---|---|---|---|", flush=True)
        for part in options.parts or PARTS:
            compare(part, work, options)


if __name__ == "__main__":
    main()
