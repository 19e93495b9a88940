#!/usr/bin/python3
"""COCO's mAP of 5,000 pictures and some 36,000 boxes of 80 labels against pycocotools, both with their files read before.

Usage: bench/metric.py [--pictures 5000] in the tests' environment (.cache/venv/bin/python). Prints the greatest difference of the
twelve figures and both CPU times; ours is the whole program with reading its files, theirs evaluate() and accumulate() alone.
"""

import argparse
import contextlib
import io
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

INGOT = Path(__file__).resolve().parent.parent / "build/release/ingot"
LABELS = [f"label {i}" for i in range(80)]


def box(draw: random.Random) -> list[float]:
    return [draw.uniform(0, 500), draw.uniform(0, 380), draw.uniform(8, 140), draw.uniform(8, 100)]


def generate(pictures: int) -> tuple[list, list]:
    """Annotations and results as COCO has them."""
    draw, truth, found = random.Random(1), [], []
    for image in range(1, pictures + 1):
        for _ in range(draw.randint(3, 11)):
            own, label = box(draw), draw.randrange(80) + 1
            truth.append({"id": len(truth) + 1, "image_id": image, "category_id": label, "bbox": own,
                          "area": own[2] * own[3], "iscrowd": 0})
            near = [max(v + draw.gauss(0, 5), 1) for v in own]
            found.append({"image_id": image, "category_id": label, "bbox": near, "score": draw.random()})
        for _ in range(5):
            found.append({"image_id": image, "category_id": draw.randrange(80) + 1, "bbox": box(draw),
                          "score": draw.random()})
    return truth, found


def write(path: Path, rows: list, pictures: int) -> None:
    shapes: list[list] = [[] for _ in range(pictures + 1)]
    for row in rows:
        shape = {"type": "box", "label": LABELS[row["category_id"] - 1]} | dict(zip("xywh", row["bbox"]))
        shapes[row["image_id"]].append(shape | ({"score": row["score"]} if "score" in row else {}))
    with path.open("w") as out:
        out.write('{"ingot":1,"type":"detection","labels":[]}\n')
        for image in range(1, pictures + 1):
            out.write(json.dumps({"file": f"{image:06}", "annotation": {"shapes": shapes[image]}}) + "\n")


def ours(folder: Path, draws: int) -> tuple[list[float], float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [INGOT, "evaluate", folder / "truth", folder / "found", "--draws", str(draws), "-o", "json"]
    answer = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return [row["value"] for row in answer["figures"]], used


def theirs(truth: list, found: list, pictures: int) -> tuple[list[float], float]:
    data = COCO()
    data.dataset = {"info": {}, "images": [{"id": i + 1} for i in range(pictures)], "annotations": truth,
                    "categories": [{"id": i + 1, "name": name} for i, name in enumerate(LABELS)]}
    with contextlib.redirect_stdout(io.StringIO()):
        data.createIndex()
        peer = COCOeval(data, data.loadRes(found), "bbox")
        begun = time.process_time()
        peer.evaluate()
        peer.accumulate()
        used = time.process_time() - begun
        peer.summarize()
    return list(peer.stats), used


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=5000)
    pictures = parser.parse_args().pictures
    truth, found = generate(pictures)
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as name:
        folder = Path(name)
        write(folder / "truth", truth, pictures)
        write(folder / "found", found, pictures)
        mine, used = ours(folder, 0)
        _, with_intervals = ours(folder, 200)
    peer, peer_used = theirs(truth, found, pictures)
    apart = max(abs(a - b) for a, b in zip(mine, peer))
    print(f"{len(truth)} boxes, {len(found)} found: differ by {apart:.1e} (wanted: 1e-6)")
    print(f"CPU: {used:.2f} s against {peer_used:.2f} s -> {peer_used / used:.0f}x (wanted: 10x); with intervals {with_intervals:.2f} s")


if __name__ == "__main__":
    main()
