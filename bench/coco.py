#!/usr/bin/python3
"""Reading a COCO file the size of train2017 against pycocotools loading and indexing it.

Usage: bench/coco.py [--images 118287] [--keep FILE]; needs build/release/tests/codec/codec_tool
(ninja -C build/release codec_tool) and pycocotools. Prints both times (also CPU
time, which is what can be compared while the machine does other work), the ratios and the peak memory of ours.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "build/release/tests/codec/codec_tool"


def ring(rng: random.Random, x: float, y: float, w: float, h: float) -> list[float]:
    count = max(4, int(rng.gauss(24, 14)))
    return [round(v, 2) for _ in range(count) for v in (x + rng.random() * w, y + rng.random() * h)]


def annotation(rng: random.Random, number: int, image: int) -> dict:
    w, h = rng.uniform(8, 300), rng.uniform(8, 220)
    x, y = rng.uniform(0, 640 - w), rng.uniform(0, 480 - h)
    box = [round(v, 2) for v in (x, y, w, h)]
    rings = [ring(rng, *box) for _ in range(1 + (rng.random() < 0.1))]
    if rng.random() < 0.01:
        counts, left = [], 480 * 640
        while left:
            counts.append(min(left, rng.randint(1, 900)))
            left -= counts[-1]
        segmentation = {"counts": counts, "size": [480, 640]}
    else:
        segmentation = rings
    return {"segmentation": segmentation, "area": round(w * h * 0.7, 4), "iscrowd": int(isinstance(segmentation, dict)),
            "image_id": image, "bbox": box, "category_id": rng.randint(1, 90), "id": number}


def generate(path: Path, images: int) -> None:
    rng = random.Random(1)
    ids = rng.sample(range(1, 600000), images)
    with path.open("w") as f:
        f.write('{"info": {}, "licenses": [], "images": [')
        for i, n in enumerate(ids):
            f.write(", " * (i > 0) + json.dumps({
                "license": 3, "file_name": f"{n:012}.jpg", "coco_url": f"images/train2017/{n:012}.jpg", "height": 480,
                "width": 640, "date_captured": "2013-11-14 11:18:45", "flickr_url": f"static/{n:09}_z.jpg", "id": n}))
        f.write('], "annotations": [')
        for i in range(int(images * 7.27)):
            f.write(", " * (i > 0) + json.dumps(annotation(rng, i + 1, rng.choice(ids))))
        f.write('], "categories": ')
        json.dump([{"supercategory": "thing", "id": i, "name": f"class {i}"} for i in range(1, 91)], f)
        f.write("}")


def ours(folder: Path, kind: str) -> tuple[float, float, float, str]:
    start = time.perf_counter()
    process = subprocess.Popen([str(TOOL), "count", kind, "coco", str(folder)], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("codec_tool failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.strip()


def theirs(path: Path) -> tuple[float, float]:
    code = ("import sys, time, contextlib, io; from pycocotools.coco import COCO\n"
            "s, c = time.perf_counter(), time.process_time()\n"
            "with contextlib.redirect_stdout(io.StringIO()): COCO(sys.argv[1])\n"
            "print(time.perf_counter() - s, time.process_time() - c)")
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    wall, cpu = map(float, run.stdout.split())
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=118287)
    parser.add_argument("--keep", type=Path, help="folder for the generated file, kept and used again")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        path = folder / "instances_train2017.json"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            generate(path, args.images)
        print(f"file: {path.stat().st_size / 1e6:.0f} MB")
        for kind in ("detection", "segmentation"):
            seconds, cpu, memory, counts = ours(folder, kind)
            print(f"ingot {kind}: {seconds:.2f} s, {cpu:.2f} s of CPU, {memory:.0f} MB peak, {counts}", flush=True)
        peer, peer_cpu = theirs(path)
        print(f"pycocotools load and index: {peer:.2f} s, {peer_cpu:.2f} s of CPU")
        print(f"ratio (segmentation): {peer / seconds:.2f}, by CPU time {peer_cpu / cpu:.2f}; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
