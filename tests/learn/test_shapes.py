"""Boxes and masks: learned on a base model of random weights, and what ingot-infer makes of the same pictures."""

import json
import subprocess

import conftest
import generate
import numpy as np
from conftest import environment, found_of, points, train

QUICK = {"minutes": 30, "epochs": 16}  # ends by epochs, however busy the machine is


def truth_of(data):
    return {row["file"]: row["annotation"]["shapes"] for row in map(json.loads, (data / "ingot.jsonl").read_text(encoding="utf-8").splitlines()[1:])}


def overlap(a, b):
    w = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
    h = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
    both = max(w, 0) * max(h, 0)
    return both / (a["w"] * a["h"] + b["w"] * b["h"] - both)


def test_boxes(base, tmp_path, ask):
    data, out = generate.pictures(tmp_path / "data", "detection", 60, (128, 96)), tmp_path / "out"
    done = train(data, out, "--base", base, **QUICK)
    curve = [row["mAP50"] for row in points(done.stdout) if "mAP50" in row]
    assert max(curve) > 0.3 and max(curve) > curve[0]
    manifest = json.loads((out / "ingot-model.json").read_text())
    assert manifest["thresholds"]["score"] > 0 and manifest["labels"] == generate.LABELS
    server, same, hits, all_of = ask(out), 0, 0, 0
    truth = truth_of(data)
    for name, row in found_of(out).items():
        answer = server.predict((data / name).read_bytes(), "image/png", score=0.05)["annotation"].get("shapes", [])
        own = [shape for shape in row["annotation"]["shapes"] if shape["score"] >= 0.05]
        assert abs(len(answer) - len(own)) <= 1 + len(own) // 10
        if answer and own:
            best, mine = (max(shapes, key=lambda shape: shape["score"]) for shapes in (answer, own))
            assert best["label"] == mine["label"] and overlap(best, mine) > 0.95 and abs(best["score"] - mine["score"]) < 0.02
            same += 1
        for shape in truth[name]:
            all_of += 1
            hits += any(s["label"] == shape["label"] and overlap(s, shape) > 0.5 for s in answer)
    assert same > 3 and hits > all_of / 3


def test_masks(base, tmp_path, ask):
    data, out = generate.pictures(tmp_path / "data", "segmentation", 50, (128, 96)), tmp_path / "out"
    done = train(data, out, "--base", base, **QUICK)
    assert max(row["mIoU"] for row in points(done.stdout) if "mIoU" in row) > 0.5
    server = ask(out)
    name, row = max(found_of(out).items(), key=lambda pair: len(pair[1]["annotation"]["shapes"]))
    answer = server.predict((data / name).read_bytes(), "image/png", score=0)["annotation"]["shapes"]
    assert {shape["label"] for shape in answer} == {shape["label"] for shape in row["annotation"]["shapes"]}
    for shape in answer:
        other = next(s for s in row["annotation"]["shapes"] if s["label"] == shape["label"])
        assert shape["size"] == other["size"] and abs(area(shape["counts"]) - area(other["counts"])) <= 0.1 * area(other["counts"]) + 20


def test_the_pretrained_network_joins_in():
    script = """
from types import SimpleNamespace as Some
from ingot_learn import dense
from ingot_learn.tasks import detection, segmentation
for task, budget in ((segmentation, 60), (segmentation, 180), (segmentation, 600), (detection, 180), (detection, 600)):
    base = Some(learned=True, frozen=16)
    joins = dense.thaw(base, Some(params=Some(frozen=False)), task.alone(budget))
    print(next((second for second in range(budget) if joins(second / budget)), "never"), base.frozen)
"""
    done = subprocess.run([conftest.PYTHON, "-c", script], env=environment(), capture_output=True, text=True)
    assert done.stdout.split("\n")[:-1] == ["never 16", "60 3", "150 3", "never 16", "180 3"], done.stdout + done.stderr


def area(text):
    """Pixels of a mask, by pycocotools' reading of run lengths."""
    from pycocotools import mask

    return int(mask.area({"size": [96, 128], "counts": text.encode()}))


def test_run_lengths_are_cocos(tmp_path):
    from pycocotools import mask

    rng = np.random.default_rng(1)
    pictures = [rng.random((7, 5)) < 0.5, np.zeros((4, 4), bool), np.ones((3, 9), bool), np.kron(rng.random((5, 4)) < 0.5, np.ones((40, 60))) > 0]
    expected = [[list(p.shape), mask.encode(np.asfortranarray(p.astype(np.uint8)))["counts"].decode(), p.astype(int).tolist()] for p in pictures]
    (tmp_path / "masks.json").write_text(json.dumps(expected))
    script = f"""
import json, numpy as np
from ingot_learn import masks
for size, text, rows in json.load(open({str(tmp_path / 'masks.json')!r})):
    picture = np.array(rows, bool)
    assert masks.pack(picture) == text and (masks.unpack(size, text) == picture).all()
print("equal")
"""
    done = subprocess.run([conftest.PYTHON, "-c", script], env=environment(), capture_output=True, text=True)
    assert done.stdout.strip() == "equal", done.stderr
