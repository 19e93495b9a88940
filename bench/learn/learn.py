#!/usr/bin/python3
"""One-click training against a person's own few lines: see README.md."""

import argparse
import json
import os
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

# part: (figure, what a person would write)
PARTS = {"fashion": ("accuracy", byhand.small_cnn), "stamps": ("accuracy", byhand.fine_tune), "reviews": ("accuracy", byhand.tfidf), "boxes": ("mAP50", None)}


def one_click(data: Path, out: Path, base: "Path | None", seconds: float, seed: int) -> dict:
    parameters = json.dumps({"minutes": seconds / 60, "seed": seed})
    command = ["/usr/bin/python3", "-m", "ingot_learn", "train", "--data", str(data), "--out", str(out), "--parameters", parameters]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "algorithms"), "OMP_NUM_THREADS": "1", "PATH": f"{ROOT / 'build' / 'release'}:{os.environ['PATH']}"}
    done = subprocess.run(command + (["--base", str(base)] if base else []), env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return {row["name"]: row["value"] for row in json.loads((out / "report.json").read_text())["figures"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", type=Path, help="folder of the built-in model imagenet-classifier; made when left out")
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        if options.base is None:
            subprocess.run([str(ROOT / "scripts" / "models" / "fetch.py"), "make", str(work), "imagenet-classifier"], check=True)
            options.base = work / "imagenet-classifier"
        print("| set | seconds | one-click | by hand | ratio | load |\n|---|---|---|---|---|---|", flush=True)
        for part in options.parts or PARTS:
            figure, hand = PARTS[part]
            data = getattr(sets, part)(work / part, options.seed)
            load, begun = os.getloadavg()[0], time.monotonic()
            ours = one_click(data, work / f"{part}-out", options.base, options.seconds, options.seed)[figure]
            took = time.monotonic() - begun
            theirs = hand(data, options.base, options.seconds, options.seed) if hand else None
            ratio = f"{theirs:.3f} | {ours / theirs:.2f}x" if theirs else "- | -"
            print(f"| {part}, {figure} | {options.seconds:.0f} (took {took:.0f}) | {ours:.3f} | {ratio} | {load:.0f} |", flush=True)


if __name__ == "__main__":
    main()
