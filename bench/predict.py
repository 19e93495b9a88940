#!/usr/bin/python3
"""CPU of preparing a picture for a model and reading its answer, without the run of the graph, against Pillow and numpy
doing the same.

    bench/predict.py [--rounds 5]     needs build/release/tests/infer/predict_driver (ninja -C build/release predict_driver)

The picture is a JPEG of 1280x960; the model a classifier at 224 px with ImageNet's mean and deviation. Pillow decodes it
whole or, as `draft` lets it, reduced; both are told. The agreement of reduced decoding with exact one is told too.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".cache/venv/bin/python"
if Path(sys.prefix) != PYTHON.parent.parent and PYTHON.exists():
    os.execv(PYTHON, [str(PYTHON), __file__, *sys.argv[1:]])
sys.path[0] = str(ROOT / "tests/infer")  # in place of this folder, whose platform.py is not Python's

import numpy as np  # noqa: E402
import predict_models as make  # noqa: E402
from PIL import Image  # noqa: E402

DRIVER = ROOT / "build/release/tests/infer/predict_driver"
CALLS = 60
WANTED = 0.4


def scene(seed: int) -> bytes:
    random = np.random.default_rng(seed)
    y, x = np.mgrid[:960, :1280]
    pixels = np.stack([127 + 90 * np.sin(x / random.uniform(20, 200) + y / random.uniform(20, 200)) for _ in range(3)], -1)
    for _ in range(60):
        x0, y0 = random.integers(0, 1280), random.integers(0, 960)
        pixels[y0:y0 + random.integers(5, 200), x0:x0 + random.integers(5, 200)] = random.uniform(0, 255, 3)
    out = io.BytesIO()
    Image.fromarray(np.clip(pixels + random.normal(0, 5, pixels.shape), 0, 255).astype(np.uint8)).save(out, "JPEG", quality=88)
    return out.getvalue()


def peer(data: bytes, draft: bool) -> np.ndarray:
    image = Image.open(io.BytesIO(data))
    if draft:
        image.draft("RGB", (224, 224))
    pixels = np.asarray(image.convert("RGB").resize((224, 224), Image.BILINEAR), dtype=np.float32)
    value = (pixels * np.float32(1 / 255) - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    return np.ascontiguousarray(value.transpose(2, 0, 1)[None])


def peer_seconds(data: bytes, draft: bool) -> float:
    start = time.process_time()
    for _ in range(CALLS):
        peer(data, draft)
        logits = np.linspace(0, 1, 5)
        scores = np.exp(logits - logits.max())
        json.dumps({"labels": ["class 4"], "scores": {"class 4": float((scores / scores.sum()).max())}})
    return (time.process_time() - start) / CALLS


def ours_seconds(folder: Path, picture: Path) -> float:
    run = subprocess.run([DRIVER, "time", folder, str(CALLS), "--", picture], capture_output=True, text=True, check=True)
    return float(run.stdout)


def agreement(folder: Path, work: Path) -> tuple[float, float]:
    """Share of equal labels, and the greatest difference of scores, reduced against exact decoding."""
    files = []
    for i in range(20):
        files.append(work / f"{i}.jpg")
        files[-1].write_bytes(scene(i))
    answers = [[json.loads(line)["annotation"] for line in subprocess.run(
        [DRIVER, "predict", folder, *options, "--", *files], capture_output=True, text=True, check=True).stdout.splitlines()]
        for options in ([], ["exact=true"])]
    equal = [a["labels"] == b["labels"] for a, b in zip(*answers)]
    apart = [abs(max(a["scores"].values()) - max(b["scores"].values())) for a, b in zip(*answers)]
    return sum(equal) / len(equal), max(apart)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        for name in ("exact", "reduced"):
            (work / name).mkdir()
            make.image_class(work / name, side=224, scaled_decoding=name == "reduced")
        picture = work / "picture.jpg"
        picture.write_bytes(scene(1))
        best = {}
        for _ in range(rounds):
            for name, seconds in (("ours, reduced", ours_seconds(work / "reduced", picture)),
                                  ("ours, exact", ours_seconds(work / "exact", picture)),
                                  ("Pillow, whole", peer_seconds(picture.read_bytes(), False)),
                                  ("Pillow, draft", peer_seconds(picture.read_bytes(), True))):
                best[name] = min(seconds, best.get(name, seconds))
        for name, seconds in best.items():
            print(f"  {name:14} {seconds * 1000:7.2f} ms of CPU, {seconds / best['Pillow, whole']:.2f} of Pillow, whole")
        equal, apart = agreement(work / "reduced", work)
        print(f"  reduced against exact decoding: {equal:.0%} equal labels of 20 pictures, scores at most {apart:.4f} apart")
    ratio = best["ours, reduced"] / best["Pillow, whole"]
    good = ratio <= WANTED
    print(f"  predict of a 1280x960 JPEG, scaled decoding: {ratio:.2f} (wanted: {WANTED}){'' if good else '  MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
