"""`ingot evaluate` against what others work out: pycocotools for shapes, plain Python for labels and texts."""

import contextlib
import io
import json
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

INGOT = os.environ.get("INGOT_BIN", "build/san/ingot")
LABELS = ["cat", "dog", "人"]
WIDTH, HEIGHT = 320, 240


def run(folder: Path, kind: str, truth: list, found: list, *args: str) -> subprocess.CompletedProcess:
    """truth, found: rows of ingot.jsonl"""
    for name, rows in (("truth", truth), ("found", found)):
        header = {"ingot": 1, "type": kind, "labels": []}
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [header, *rows]))
    command = [INGOT, "evaluate", str(folder / "truth.jsonl"), str(folder / "found.jsonl"), *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def report(folder: Path, kind: str, truth: list, found: list) -> dict:
    ended = run(folder, kind, truth, found, "-o", "json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def figures(answer: dict) -> dict[str, float]:
    return {row["name"]: row["value"] for row in answer["figures"]}


def box_of(draw: random.Random) -> list[float]:
    x, y = draw.uniform(0, WIDTH - 20), draw.uniform(0, HEIGHT - 20)
    side = draw.choice([10, 40, 90, 150])
    return [x, y, min(side * draw.uniform(0.5, 1.5), WIDTH - x), min(side, HEIGHT - y)]


def near(draw: random.Random, box: list[float]) -> list[float]:
    x, y, w, h = (v + draw.gauss(0, 4) for v in box)
    return [x, y, max(w, 2), max(h, 2)]


def counts_of(box: list[float]) -> dict:
    x, y, w, h = (int(v) for v in box)
    bits = np.zeros((HEIGHT, WIDTH), np.uint8)
    bits[max(y, 0) : y + max(h, 1), max(x, 0) : x + max(w, 1)] = 1
    bits[max(y, 0) : y + max(h // 3, 1), max(x, 0) : x + max(w // 3, 1)] = 0
    bits[min(max(y + h // 2, 0), HEIGHT - 1), min(max(x, 0), WIDTH - 1)] = 1
    rle = coco_mask.encode(np.asfortranarray(bits))
    return {"size": rle["size"], "counts": rle["counts"].decode()}


def points_of(draw: random.Random, box: list[float], count: int = 17) -> list[list[float]]:
    x, y, w, h = box
    points = [[x + draw.random() * w, y + draw.random() * h, draw.choice([0, 1, 2, 2])] for _ in range(count)]
    return [p if p[2] else [0, 0, 0] for p in points]


class Pictures:
    """The same random truth and findings as rows of ours and as COCO's."""

    def __init__(self, kind: str, seed: int, pictures: int = 40) -> None:
        self.draw, self.kind = random.Random(seed), kind
        self.truth: list = []
        self.found: list = []
        self.annotations: list = []
        self.results: list = []
        for image in range(1, pictures + 1):
            self.picture(image)

    def shape(self, label: int, box: list[float], points: list | None) -> tuple[dict, dict]:
        ours: dict = {"label": LABELS[label]}
        theirs: dict = {"category_id": label + 1}
        if self.kind == "detection":
            ours |= {"type": "box", **dict(zip("xywh", box, strict=True))}
            theirs |= {"bbox": box, "area": box[2] * box[3]}
        elif self.kind == "segmentation":
            rle = counts_of(box)
            ours |= {"type": "mask", **rle}
            theirs |= {"segmentation": rle, "area": float(coco_mask.area(rle)), "bbox": list(coco_mask.toBbox(rle))}
        else:
            assert points
            ours |= {"type": "keypoints", "points": points}
            theirs |= {"keypoints": [v for p in points for v in p], "num_keypoints": sum(p[2] > 0 for p in points)}
        return ours, theirs

    def picture(self, image: int) -> None:
        draw, truth, found = self.draw, [], []
        for _ in range(draw.randint(0, 6)):
            label, box = draw.randrange(3), box_of(draw)
            points = points_of(draw, box)
            ours, theirs = self.shape(label, box, points)
            crowd = draw.random() < 0.1
            if self.kind == "keypoints":
                theirs |= {"area": box[2] * box[3], "bbox": box}
                ours |= {"area": box[2] * box[3], "box": box}
            truth.append(ours | ({"crowd": True} if crowd else {}))
            self.annotations.append(
                theirs | {"id": len(self.annotations) + 1, "image_id": image, "iscrowd": int(crowd)}
            )
            if draw.random() < 0.8:
                moved = [[x + draw.gauss(0, 3), y + draw.gauss(0, 3), 2] for x, y, _ in points]
                other = label if draw.random() < 0.8 else draw.randrange(3)
                self.find(found, image, other, near(draw, box), moved)
        for _ in range(draw.randint(0, 3)):
            box = box_of(draw)
            self.find(found, image, draw.randrange(3), box, [[x, y, 2] for x, y, _ in points_of(draw, box)])
        size = {"file": f"{image:04}.png", "width": WIDTH, "height": HEIGHT}
        self.truth.append(size | {"annotation": {"shapes": truth}})
        self.found.append(size | {"annotation": {"shapes": found}})

    def find(self, found: list, image: int, label: int, box: list[float], points: list) -> None:
        ours, theirs = self.shape(label, box, points)
        score = round(self.draw.random(), 2)  # equal scores happen
        found.append(ours | {"score": score})
        for derived in ("area", "bbox") if self.kind == "segmentation" else ("area",):
            theirs.pop(derived, None)
        self.results.append(theirs | {"image_id": image, "score": score})

    def stats(self, seventeen: bool = True) -> list[float]:
        way = {"detection": "bbox", "segmentation": "segm", "keypoints": "keypoints"}[self.kind]
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": i + 1, "width": WIDTH, "height": HEIGHT} for i in range(len(self.truth))],
            "categories": [{"id": i + 1, "name": name} for i, name in enumerate(LABELS)],
            "annotations": self.annotations,
        }
        with contextlib.redirect_stdout(io.StringIO()):
            truth.createIndex()
            peer = COCOeval(truth, truth.loadRes(self.results), way)
            peer.evaluate()
            peer.accumulate()
            peer.summarize()
        return list(peer.stats)


@pytest.mark.parametrize("kind", ["detection", "segmentation", "keypoints"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_shapes_as_pycocotools(tmp_path: Path, kind: str, seed: int) -> None:
    pictures = Pictures(kind, seed)
    ours = [row["value"] for row in report(tmp_path, kind, pictures.truth, pictures.found)["figures"]]
    theirs = pictures.stats()
    assert len(theirs) == len(ours) - (kind == "segmentation")
    for mine, peer in zip(ours, theirs, strict=False):
        assert (-1 if mine is None else mine) == pytest.approx(peer, abs=1e-6)


def test_mean_overlap_of_pixels(tmp_path: Path) -> None:
    pictures = Pictures("segmentation", 7, 12)
    shared, either = dict.fromkeys(LABELS, 0), dict.fromkeys(LABELS, 0)
    for truth, found in zip(pictures.truth, pictures.found, strict=True):
        for label in LABELS:
            sides = []
            for row in (truth, found):
                bits = np.zeros((HEIGHT, WIDTH), bool)
                for shape in row["annotation"]["shapes"]:
                    if shape["label"] == label:
                        bits |= coco_mask.decode({"size": shape["size"], "counts": shape["counts"].encode()}) > 0
                sides.append(bits)
            shared[label] += int((sides[0] & sides[1]).sum())
            either[label] += int((sides[0] | sides[1]).sum())
    answer = report(tmp_path, "segmentation", pictures.truth, pictures.found)
    assert figures(answer)["mIoU"] == pytest.approx(np.mean([shared[n] / either[n] for n in LABELS]), abs=1e-9)
    for row in answer["labels"]:
        assert row["IoU"] == pytest.approx(shared[row["label"]] / either[row["label"]], abs=1e-9)


def test_polygons_are_filled(tmp_path: Path) -> None:
    def row(rings: list, **more: object) -> dict:
        shape = {"type": "polygon", "label": "a", "rings": rings, **more}
        return {"file": "a", "width": 20, "height": 20, "annotation": {"shapes": [shape]}}

    answer = report(
        tmp_path,
        "segmentation",
        [row([[0, 0, 10, 0, 10, 10, 0, 10]])],
        [row([[0, 0, 10, 0, 10, 5, 0, 5]], score=0.5)],
    )
    assert figures(answer)["mIoU"] == pytest.approx(0.5)
    assert figures(answer)["mAP50"] == pytest.approx(1)
    assert figures(answer)["mAP75"] == pytest.approx(0)


def test_labels(tmp_path: Path) -> None:
    draw = random.Random(5)
    truth, found, pairs = [], [], []
    for i in range(200):
        right, given, score = draw.choice(LABELS), draw.choice(LABELS), round(draw.random(), 3)
        given = right if draw.random() < 0.6 else given
        pairs.append((right, given, score))
        truth.append({"file": str(i), "annotation": {"labels": [right]}})
        found.append({"file": str(i), "annotation": {"labels": [given], "scores": {given: score}}})
    truth.append({"file": "nobody labelled it", "annotation": {}})
    answer = report(tmp_path, "image-class", truth, found)
    assert answer["samples"] == 200 and answer["left_out"] == 1
    accuracy = sum(right == given for right, given, _ in pairs) / len(pairs)
    value = next(row for row in answer["figures"] if row["name"] == "accuracy")
    assert value["value"] == pytest.approx(accuracy)
    assert value["low"] < accuracy < value["high"] and value["high"] - value["low"] < 0.2
    scores = []
    order = [row["label"] for row in answer["labels"]]
    for row in answer["labels"]:
        name = row["label"]
        hits = sum(r == g == name for r, g, _ in pairs)
        precision = hits / sum(g == name for _, g, _ in pairs)
        recall = hits / sum(r == name for r, _, _ in pairs)
        assert (row["precision"], row["recall"]) == (pytest.approx(precision), pytest.approx(recall))
        scores.append(2 * precision * recall / (precision + recall))
        yes = [s if g == name else 0 for r, g, s in pairs if r == name]
        no = [s if g == name else 0 for r, g, s in pairs if r != name]
        area = sum((y > n) + (y == n) / 2 for y in yes for n in no) / (len(yes) * len(no))
        assert row["AUC"] == pytest.approx(area)
        taken = answer["confusion"][order.index(name)]
        assert taken == [sum((r, g) == (name, other) for r, g, _ in pairs) for other in order] + [0]
    assert figures(answer)["f1"] == pytest.approx(np.mean(scores))


def test_several_labels(tmp_path: Path) -> None:
    truth = [{"file": "a", "annotation": {"labels": ["x", "y"]}}, {"file": "b", "annotation": {"labels": ["y"]}}]
    found = [{"file": "a", "annotation": {"labels": ["x"]}}, {"file": "b", "annotation": {"labels": ["y"]}}]
    answer = report(tmp_path, "image-classes", truth, found)
    assert figures(answer)["accuracy"] == pytest.approx(0.5)
    assert figures(answer)["f1_micro"] == pytest.approx(2 * 2 / (2 * 2 + 1))


def distance(truth: list, found: list) -> int:
    row = list(range(len(found) + 1))
    for i, t in enumerate(truth, 1):
        before, row[0] = row[0], i
        for j, f in enumerate(found, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (t != f))
    return row[-1]


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 300])
def test_texts(tmp_path: Path, length: int) -> None:
    draw = random.Random(length)
    said = "".join(draw.choice("ab 字é") for _ in range(length)) + "end"
    heard = "".join(c for c in said if draw.random() < 0.8) + draw.choice(["", "more words", "字"])
    truth = [{"file": "a", "annotation": {"text": said}}]
    answer = report(tmp_path, "transcription", truth, [{"file": "a", "annotation": {"text": heard}}])
    assert figures(answer)["CER"] == pytest.approx(distance(list(said), list(heard)) / len(said))
    assert figures(answer)["WER"] == pytest.approx(distance(said.split(), heard.split()) / len(said.split()))
    nothing = report(tmp_path, "transcription", truth, [])
    assert figures(nothing)["CER"] == 1


def test_places_of_texts(tmp_path: Path) -> None:
    def row(*texts: tuple[float, str]) -> dict:
        shapes = [{"type": "box", "x": x, "y": 0, "w": 10, "h": 10, "text": text} for x, text in texts]
        return {"file": "a", "width": 100, "height": 20, "annotation": {"shapes": shapes}}

    answer = report(tmp_path, "ocr", [row((0, "abcd"), (50, "xy"))], [row((1, "abed"), (80, "z"))])
    values = figures(answer)
    assert (values["precision"], values["recall"], values["exact"]) == (0.5, 0.5, 0)
    assert values["CER"] == pytest.approx((1 + 2 + 1) / 6)


@pytest.mark.parametrize(
    ("kind", "truth", "found", "says"),
    [
        ("detection", [{"annotation": {}}], [], "truth.jsonl, line 2: file: a sample has a 'file'"),
        ("text-spans", [{"file": "a"}], [], "'text-spans' cannot be evaluated"),
        ("nonsense", [{"file": "a"}], [], "'nonsense' is none of the annotation types"),
        ("detection", [], [], "has no samples"),
        ("detection", [{"file": "a"}], [{"file": "b"}, {"file": "b"}], "found.jsonl, line 3: file: 'b' comes twice"),
        (
            "detection",
            [{"file": "a", "annotation": {"shapes": [{"type": "box", "label": "x", "x": 0, "y": 0, "w": -1, "h": 1}]}}],
            [],
            "truth.jsonl, line 2: shapes[0].w: ",
        ),
        (
            "segmentation",
            [{"file": "a", "annotation": {"shapes": [{"type": "polygon", "label": "x", "rings": [[0, 0, 9, 0, 9, 9]]}]}}],
            [],
            "the size of the picture is not known",
        ),
    ],
)
def test_refusals(tmp_path: Path, kind: str, truth: list, found: list, says: str) -> None:
    ended = run(tmp_path, kind, truth, found)
    assert ended.returncode not in (0, 139) and says in ended.stderr, ended.stderr


def test_table_for_people(tmp_path: Path) -> None:
    truth = [{"file": "a", "annotation": {"labels": ["x"]}}]
    ended = run(tmp_path, "text-class", truth, [*truth, {"file": "stranger", "annotation": {"labels": ["x"]}}])
    assert ended.returncode == 0 and "accuracy" in ended.stdout and "1.0000" in ended.stdout
    assert "1 samples of" in ended.stderr and "do not count" in ended.stderr


def test_intervals_hold_their_figures(tmp_path: Path) -> None:
    pictures = Pictures("detection", 11)
    for row in report(tmp_path, "detection", pictures.truth, pictures.found)["figures"]:
        assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1, row
    whole = report(tmp_path, "detection", pictures.truth, pictures.truth)
    assert figures(whole)["mAP"] == pytest.approx(1) and not any(row["missed"] for row in whole["labels"])
