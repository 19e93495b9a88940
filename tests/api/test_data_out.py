"""Exports, training data, preprocessing, sharpness and duplicates (D11, D12, D14, D15)."""

import io
import json
import math
import zipfile

import numpy as np
import pycocotools.mask
import pytest
from PIL import Image, ImageDraw
from test_datasets import (COCO, PICTURES, annotate, bring, coco, dataset, filled, finished, png, report, samples,  # noqa: F401
                           upload, version, zipped)
from harness import unique, wait_for


def product(api, task: dict) -> zipfile.ZipFile:
    answer = api.call("GET", f"tasks/{task['id']}/download")
    assert answer.status_code == 200, answer.text
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    return archive


def exported(api, version: str, **fields) -> zipfile.ZipFile:
    return product(api, finished(api, api.post(f"{version}/export", fields, expect=202)))


def test_coco_out_is_coco_in(admin, filled):
    archive = exported(admin, filled, format="coco")
    document = json.loads(next(archive.read(n) for n in archive.namelist() if n.endswith(".json")))
    names = {c["id"]: c["name"] for c in document["categories"]}
    files = {i["id"]: i["file_name"].rsplit("/", 1)[-1] for i in document["images"]}
    got = sorted((files[a["image_id"]], names[a["category_id"]], tuple(a["bbox"])) for a in document["annotations"])
    assert got == [("000.png", "cat", (1, 2, 3, 4)), ("000.png", "狗", (5, 5, 2, 2)), ("001.png", "狗", (15, 5, 5, 5))]
    pictures = [n for n in archive.namelist() if n.endswith(".png")]
    assert len(pictures) == 12
    assert archive.read(next(n for n in pictures if n.endswith("003.png"))) == PICTURES["images/003.png"]


@pytest.mark.parametrize("form", ["voc", "yolo", "labelme"])
def test_other_formats_come_back_the_same(admin, project, dataset, filled, form):
    archive = admin.call("GET", f"tasks/{finished(admin, admin.post(f'{filled}/export', {'format': form}, expect=202))['id']}/download")
    made = admin.post(f"datasets/{dataset['id']}/versions", {})
    again = f"datasets/{dataset['id']}/versions/{made['id']}"
    task = bring(admin, project, again, "again.zip", archive.content)
    assert task["result"]["format"] == form
    def boxes(v):
        return sorted((s["name"].rsplit("/", 1)[-1], x["label"], *(round(x[k], 2) for k in "xywh"))
                      for s in samples(admin, v) for x in s["annotation"].get("shapes", []))
    assert boxes(again) == boxes(filled)


def test_exports_without_samples_and_wrong_formats(admin, filled):
    assert not [n for n in exported(admin, filled, format="coco", samples=False).namelist() if n.endswith(".png")]
    assert admin.post(f"{filled}/export", {"format": "odd"}, expect=422)["field"] == "format"
    assert admin.post(f"{filled}/export", {}, expect=422)["field"] == "format"


def test_training_data_is_deterministic(admin, project, version):
    images = [{"id": i, "file_name": f"{i}.png", "width": 8, "height": 8} for i in range(30)]
    boxes = [{"id": i, "image_id": i, "category_id": 1 + i % 2, "bbox": [0, 0, 4, 4]} for i in range(30)]
    categories = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    bring(admin, project, version, "x.zip", zipped({
        **{f"{i}.png": png(8, 8, i) for i in range(30)}, "train.json": coco(images, boxes, categories)}))
    parts = []
    for _ in range(2):
        archive = product(admin, finished(admin, admin.post(f"{version}/training-data", {"seed": 7, "test_share": 0.2}, expect=202)))
        parts.append([sorted(i["file_name"] for i in json.loads(archive.read(n))["images"]) for n in ("train.json", "test.json")])
    assert parts[0] == parts[1]
    train, test = parts[0]
    assert len(test) == 6
    assert not set(train) & set(test)
    assert admin.post(f"{version}/training-data", {"test_share": 0.95}, expect=422)["field"] == "test_share"


def parts_of(api, version: str, **fields) -> tuple[dict, list[list[str]]]:
    """What training data is made from: the task's result, and the pictures of train and test."""
    task = finished(api, api.post(f"{version}/training-data", fields, expect=202))
    archive = product(api, task)
    return task["result"], [sorted(i["file_name"] for i in json.loads(archive.read(n))["images"]) if n in archive.namelist() else []
                            for n in ("train.json", "test.json")]


def test_training_data_of_the_wanted_states(admin, project, version):
    """Pictures that somebody accepted as empty are negatives; rejected ones and what only a machine said are left out."""
    box = {"shapes": [{"type": "box", "label": "x", "x": 0, "y": 0, "w": 4, "h": 4}]}
    bring(admin, project, version, "x.zip", zipped({f"{i:02}.png": png(8, 8, i) for i in range(14)}))
    for i, (state, annotation) in enumerate([("annotated", box)] * 9 + [("accepted", {}), ("rejected", box), ("machine", box), ("review", box)]):
        annotate(admin, version, samples(admin, version)[i], {"annotation": annotation, "state": state})
    result, (train, test) = parts_of(admin, version, test_share=0.2)
    used = [f"{i:02}.png" for i in (*range(10), 12)]
    assert (sorted(train + test), len(test)) == (used, 2)
    assert (result["samples"], result["train"], result["test"], result["negatives"]) == (11, 9, 2, 1)
    assert (result["states"], result["split"]) == (["annotated", "review", "accepted"], "seed")
    assert result["left_out"] == {"unannotated": 1, "machine": 1, "rejected": 1}
    result, (train, test) = parts_of(admin, version, states=["rejected", "machine", "unannotated"])
    assert (train, test, result["negatives"]) == (["10.png", "11.png", "13.png"], [], 1)
    for bad in ([], ["cleaned"], ["odd"], "accepted"):
        assert admin.post(f"{version}/training-data", {"states": bad}, expect=422)["field"] == "states"
    assert admin.post(f"{version}/training-data", {"split": "odd"}, expect=422)["field"] == "split"


def test_training_data_keeps_an_imported_split(admin, project, dataset):
    def version(parts: list) -> str:
        path = f"datasets/{dataset['id']}/versions/" + str(admin.post(f"datasets/{dataset['id']}/versions", {})["id"])
        lines = [{"file": f"{i:02}.png", "split": part, "annotation": {"shapes": [{"type": "box", "label": "x", "x": 0, "y": 0, "w": 4, "h": 4}]}}
                 for i, part in enumerate(parts)]
        bring(admin, project, path, "x.zip", zipped({**{line["file"]: png(8, 8, i) for i, line in enumerate(lines)},
                                                     "ingot.jsonl": "".join(json.dumps(x) + "\n" for x in lines).encode()}))
        return path
    three = version(["test", "val", "train", None])
    assert parts_of(admin, three, split="imported")[1] == [["01.png", "02.png", "03.png"], ["00.png"]]
    two = version(["val", "train", "val"])
    result, parts = parts_of(admin, two, split="imported")
    assert (parts, result["split"]) == ([["01.png"], ["00.png", "02.png"]], "imported")
    assert parts_of(admin, two)[1] == [["00.png", "01.png", "02.png"], []]
    finished(admin, admin.post(f"{two}/training-data", {"states": ["rejected"]}, expect=202), "failed")


def test_preprocessing_makes_a_new_version(admin, project, dataset, filled):
    task = admin.post(f"{filled}/preprocess", {"steps": [
        {"op": "crop", "x": 0, "y": 0, "w": 10, "h": 10}, {"op": "rotate", "angle": 90}, {"op": "mirror-h"}]}, expect=202)
    done = finished(admin, task)
    new = f"datasets/{dataset['id']}/versions/{done['subject']}"
    got = samples(admin, new)
    assert {(s["width"], s["height"]) for s in got} == {(10, 10)}
    box = next(x for x in got[0]["annotation"]["shapes"] if x["label"] == "cat")
    # (1,2,3,4) in 10x10, a quarter turn clockwise gives (4,1,4,3), mirrored (2,1,4,3)
    assert (box["x"], box["y"], box["w"], box["h"]) == (2, 1, 4, 3)
    assert samples(admin, filled)[0]["width"] == 20
    assert admin.get(f"{new}/compare", **{"with": int(filled.rsplit("/", 1)[1])})["changed"] == 12


def test_blurred_pictures_are_cleaned(admin, project, dataset, version):
    bring(admin, project, version, "x.zip", zipped({"sharp.png": png(64, 64), "flat.png": _flat(64)}))
    done = finished(admin, admin.post(f"{version}/preprocess", {"steps": [{"op": "blur", "threshold": 1}]}, expect=202))
    new = f"datasets/{dataset['id']}/versions/{done['subject']}"
    assert [s["name"] for s in samples(admin, new)] == ["sharp.png"]
    assert [s["name"] for s in samples(admin, new, state="cleaned")] == ["flat.png"]


def _flat(side: int) -> bytes:
    import struct
    import zlib
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + b"\x80" * side) * side
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@pytest.mark.parametrize("steps", [[], [{"op": "odd"}], [{"op": "blur", "threshold": 6000}], [{"op": "crop", "x": 0, "y": 0}],
                                   [{"op": "rotate", "angle": "x"}], "x"])
def test_wrong_steps(admin, filled, steps):
    assert admin.post(f"{filled}/preprocess", {"steps": steps}, expect=422)["field"] == "steps"


def test_duplicates_and_sharpness(admin, project, version):
    picture = png(64, 48)
    bring(admin, project, version, "x.zip", zipped({"a.png": picture, "copy.png": picture, "flat.png": _flat(40)}))
    finished(admin, admin.post(f"{version}/measure", expect=202))
    groups = admin.get(f"{version}/duplicates", distance=2)["groups"]
    assert [sorted(s["name"] for s in g) for g in groups] == [["a.png", "copy.png"]]
    histogram = admin.get(f"{version}/sharpness")
    assert histogram["measured"] == 3
    assert sum(b["samples"] for b in histogram["bins"]) == 3
    admin.get(f"{version}/duplicates", distance=17, expect=422)


def test_cancel(admin, project, version):
    task = admin.post(f"{version}/import", {"uploads": [{"upload": upload(admin, project, zipped(
        {f"{i}.png": png(20, 20, i) for i in range(600)})), "name": "a.zip"}]}, expect=202)
    answer = admin.call("POST", f"tasks/{task['id']}/cancel")
    assert answer.status_code in (200, 409)
    over = wait_for(lambda: (t := admin.get(f"tasks/{task['id']}"))["state"] not in ("waiting", "running") and t, "the end")
    assert over["state"] == ("cancelled" if answer.status_code == 200 else "done") or over["state"] == "done"
    admin.delete(f"tasks/{task['id']}")


def test_a_version_as_record_files(server, admin, filled):
    from ingot.record import RemoteReader
    done = finished(admin, admin.post(f"{filled}/write-records", {"shard_bytes": 65536}, expect=202))
    assert done["result"]["records"] == 12
    files = admin.get(filled)["records"]
    assert [f["name"].endswith(".irec") for f in files] == [True] * done["result"]["shards"]
    part = admin.call("GET", f"{filled}/records/{files[0]['name']}", headers={"Range": "bytes=0-3"})
    assert part.status_code == 206
    assert admin.call("GET", f"{filled}/records/nothing.irec").status_code == 404
    with RemoteReader(f"{server.url}/api/v1/{filled}/records/{files[0]['name']}",
                      headers={"Authorization": f"Bearer {admin.token}"}) as reader:
        assert len(reader) == 12
        first = reader[0]
        assert str(first["name"]) == "images/000.png"
        assert bytes(first["data"]) == PICTURES["images/000.png"]
    admin.delete(filled)


def test_sizes(admin, project, dataset, version):
    assert admin.get(f"{version}/sizes") == {"pixels": [], "other_pixels": 0, "seconds": [], "bytes": []}
    pictures = {f"{w}x8-{i}.png": png(w, 8, i) for w, n in ((8, 3), (16, 2)) for i in range(n)}
    pictures |= {f"{w}x4.png": png(w, 4) for w in range(20, 32)}
    bring(admin, project, version, "p.zip", zipped(pictures))
    found = admin.get(f"{version}/sizes")
    assert found["pixels"][:2] == [{"width": 8, "height": 8, "samples": 3}, {"width": 16, "height": 8, "samples": 2}]
    assert len(found["pixels"]) == 12 and found["other_pixels"] == 2 and found["seconds"] == []
    assert all(r["from"] < r["to"] for r in found["bytes"]) and sum(r["samples"] for r in found["bytes"]) == 17
    one = samples(admin, version)[0]
    within = next(r for r in found["bytes"] if r["from"] <= one["size"] < r["to"])
    assert within["samples"] >= 1 and within["to"] == 2 * within["from"]
    admin.post(f"{version}/clean", {"ids": [s["id"] for s in samples(admin, version, q="8x8")]}, expect=200)
    now = admin.get(f"{version}/sizes")
    assert now["pixels"][0]["samples"] == 2 and sum(r["samples"] for r in now["bytes"]) == 14


def test_splits(admin, project, dataset, version):
    none = {"train": 0, "val": 0, "test": 0, "none": 0}
    assert admin.get(f"{version}/splits") == {"parts": none, "labels": []}
    bring(admin, project, version, "none.zip", zipped({"none.png": png(8, 8, 9)}))
    assert admin.get(f"{version}/splits") == {"parts": none | {"none": 1}, "labels": []}
    parts = ["train", "train", "val", "test"]
    shapes = [{"type": "box", "label": label, "x": 1, "y": 1, "w": 2, "h": 2} for label in ("狗", "cat", "cat")]
    lines = [{"file": f"{i}.png", "split": part, "annotation": {"shapes": shapes[i % 2:]}} for i, part in enumerate(parts)]
    pictures = {f"{i}.png": png(8, 8, i) for i in range(4)}
    bring(admin, project, version, "s.zip", zipped({**pictures, "ingot.jsonl": "\n".join(map(json.dumps, lines)).encode()}))
    found = admin.get(f"{version}/splits")
    assert found["parts"] == {"train": 2, "val": 1, "test": 1, "none": 1}
    assert found["labels"] == [{"label": "cat", "train": 2, "val": 1, "test": 1, "none": 0}, {"label": "狗", "train": 1, "val": 1, "test": 0, "none": 0}]
    admin.post(f"{version}/clean", {"ids": [s["id"] for s in samples(admin, version, q="2.png")]}, expect=200)
    assert admin.get(f"{version}/splits")["parts"]["val"] == 0


def test_nothing_measured_and_nothing_to_compare(admin, dataset, filled):
    assert admin.get(f"{filled}/duplicates") == {"measured": 0, "groups": []}
    assert admin.get(f"{filled}/sharpness")["measured"] == 0
    empty = admin.post(f"datasets/{dataset['id']}/versions", {})
    changes = admin.get(f"datasets/{dataset['id']}/versions/{empty['id']}/compare", **{"with": int(filled.rsplit("/", 1)[1])})
    assert (changes["added"], changes["removed"]) == (0, 12)


def test_an_export_is_reused_while_nothing_changed(admin, filled):
    def ask(what: str = "export", expect: int = 202, **fields) -> int:
        task = admin.post(f"{filled}/{what}", {**({"format": "yolo"} if what == "export" else {}), **fields}, expect=expect)
        return finished(admin, task)["id"]

    first = ask(reuse=True)  # there is none yet
    assert ask(reuse=True, expect=200) == first
    bytes_of = {i: admin.call("GET", f"tasks/{i}/download").content for i in (first,)}
    anew = ask()
    assert anew != first and admin.call("GET", f"tasks/{anew}/download").content == bytes_of[first]
    assert ask(reuse=True, expect=200) == anew
    other = ask(samples=False, reuse=True)
    assert ask(samples=False, reuse=True, expect=200) == other
    data = ask("training-data", seed=1, reuse=True)
    assert ask("training-data", seed=1, reuse=True, expect=200) == data
    assert ask("training-data", seed=2, reuse=True) != data
    # Another annotation, and a sample less: what was made before is not given any more.
    sample = samples(admin, filled)[5]
    annotate(admin, filled, sample, {"annotation": {"shapes": [{"type": "box", "label": "x", "x": 1, "y": 1, "w": 2, "h": 2}]}})
    changed = ask(reuse=True)
    assert changed not in (first, anew) and ask(reuse=True, expect=200) == changed
    admin.post(f"{filled}/clean", {"ids": [sample["id"]]}, expect=200)
    assert ask(reuse=True) != changed
    # A result that was deleted is made again.
    admin.post(f"{filled}/clean", {"ids": [sample["id"]], "cleaned": False}, expect=200)
    last = ask(reuse=True)
    assert admin.call("DELETE", f"tasks/{last}").status_code == 204
    assert ask(reuse=True) != last


def marked(width: int, height: int, box: tuple[int, int, int, int]) -> bytes:
    picture = Image.new("L", (width, height), 0)
    picture.paste(255, (box[0], box[1], box[0] + box[2], box[1] + box[3]))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("steps,size", [
    ([{"op": "mirror-v"}], (60, 40)),
    ([{"op": "mirror-h"}, {"op": "mirror-v"}], (60, 40)),
    ([{"op": "rotate", "angle": 270}], (40, 60)),
    ([{"op": "rotate", "angle": 180}, {"op": "crop", "x": 5, "y": 5, "w": 50, "h": 30}], (50, 30)),
    ([{"op": "rotate", "angle": 30}], (72, 65)),
    ([{"op": "rotate", "angle": -30}, {"op": "mirror-h"}], (72, 65)),
])
def test_boxes_follow_their_pixels(admin, project, dataset, version, steps, size):
    """The box is where the white pixels are, also on the larger canvas of a free angle; the original stays as it was."""
    box = (30, 10, 12, 8)
    about = coco([{"id": 1, "file_name": "a.png", "width": 60, "height": 40}],
                 [{"id": 1, "image_id": 1, "category_id": 1, "bbox": list(box)}], [{"id": 1, "name": "x"}])
    bring(admin, project, version, "x.zip", zipped({"a.png": marked(60, 40, box), "a.json": about}))
    done = finished(admin, admin.post(f"{version}/preprocess", {"steps": steps}, expect=202))
    new = f"datasets/{dataset['id']}/versions/{done['subject']}"
    (sample,) = samples(admin, new)
    assert (sample["width"], sample["height"]) == (pytest.approx(size[0], abs=1), pytest.approx(size[1], abs=1))
    picture = Image.open(io.BytesIO(admin.call("GET", f"{new}/samples/{sample['id']}/content").content)).convert("L")
    assert picture.size == (sample["width"], sample["height"])
    left, top, right, bottom = picture.point(lambda v: 255 if v > 100 else 0).getbbox()
    (shape,) = sample["annotation"]["shapes"]
    found = (shape["x"], shape["y"], shape["x"] + shape["w"], shape["y"] + shape["h"])
    assert found == pytest.approx((left, top, right, bottom), abs=1.5)
    (before,) = samples(admin, version)
    assert admin.call("GET", f"{version}/samples/{before['id']}/content").content == marked(60, 40, box)


def new_set(api, project: dict, annotation: str) -> str:
    made = api.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": annotation})
    return f"datasets/{made['id']}/versions/" + str(api.post(f"datasets/{made['id']}/versions", {})["id"])


def preprocessed(api, version: str, *steps: dict) -> tuple[str, dict]:
    """The new version and the task."""
    done = finished(api, api.post(f"{version}/preprocess", {"steps": list(steps)}, expect=202))
    return f"{version.rsplit('/', 1)[0]}/{done['subject']}", done


DOTS = [(20.5, 12.5), (44.0, 17.5), (30.5, 29.0)]


def dotted(size: tuple[int, int]) -> bytes:
    """Three soft dots, one of each colour."""
    y, x = np.mgrid[:size[1], :size[0]]
    dots = [np.rint(255 * np.exp(-((x + 0.5 - px) ** 2 + (y + 0.5 - py) ** 2) / 4)) for px, py in DOTS]
    data = io.BytesIO()
    Image.fromarray(np.stack(dots, axis=2).astype(np.uint8)).save(data, "PNG")
    return data.getvalue()


@pytest.mark.parametrize("angle", [30, -7.5, 123, 200.25])
def test_a_free_rotation_is_exact(admin, project, angle):
    """Where dots lie in the new picture, by their centre of mass, and their keypoints: both against a rotation about the middle."""
    sizes = {"a.png": (61, 40), "b.png": (64, 47)}
    version = new_set(admin, project, "keypoints")
    lines = "".join(json.dumps({"file": name, "annotation": {"shapes": [{"type": "keypoints", "label": "x", "points": [[*p, 2] for p in DOTS]}]}}) + "\n"
                    for name in sizes)
    bring(admin, project, version, "x.zip", zipped({**{name: dotted(size) for name, size in sizes.items()}, "ingot.jsonl": lines.encode()}))
    new, _ = preprocessed(admin, version, {"op": "rotate", "angle": angle})
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    for sample in samples(admin, new):
        picture = np.asarray(Image.open(io.BytesIO(admin.call("GET", f"{new}/samples/{sample['id']}/content").content)), dtype=float)
        high, wide = picture.shape[:2]
        w, h = sizes[sample["name"]]
        assert (wide, high) == (math.ceil(abs(cos) * w + abs(sin) * h), math.ceil(abs(sin) * w + abs(cos) * h))
        y, x = np.mgrid[:high, :wide]
        for i, (px, py) in enumerate(DOTS):
            mass = picture[:, :, i]
            seen = (((x + 0.5) * mass).sum() / mass.sum(), ((y + 0.5) * mass).sum() / mass.sum())
            computed = (cos * (px - w / 2) - sin * (py - h / 2) + wide / 2, sin * (px - w / 2) + cos * (py - h / 2) + high / 2)
            assert seen == pytest.approx(computed, abs=0.1)
            assert sample["annotation"]["shapes"][0]["points"][i][:2] == pytest.approx(computed, abs=0.01)


@pytest.mark.parametrize("steps", [["mirror-h"], ["mirror-v"], ["mirror-h", "mirror-v"]])
def test_mirroring_swaps_left_and_right(admin, project, steps):
    """A left eye is on the other side of a mirrored face; two mirrors are a half turn, which swaps nothing."""
    version = new_set(admin, project, "keypoints")
    names = ["nose", "left_eye", "right_eye", "左手", "右手", "l_hip", "r_hip", "left_ear"]
    points = [[10, 10, 2], [12, 8, 2], [8, 8, 1], [15, 12, 2], [5, 12, 2], [11, 18, 2], [0, 0, 0], [13, 9, 2]]
    about = {"images": [{"id": 1, "file_name": "a.png", "width": 30, "height": 20}], "categories": [{"id": 1, "name": "person", "keypoints": names, "skeleton": []}],
             "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [2, 2, 16, 17], "keypoints": [c for p in points for c in p], "num_keypoints": 7}]}
    bring(admin, project, version, "x.zip", zipped({"a.png": png(30, 20), "person_keypoints.json": json.dumps(about).encode()}))
    new, done = preprocessed(admin, version, *({"op": op} for op in steps))
    (shape,) = samples(admin, new)[0]["annotation"]["shapes"]
    moved = [[30 - x if "mirror-h" in steps else x, 20 - y if "mirror-v" in steps else y, seen] if seen else [0, 0, 0] for x, y, seen in points]
    other = [0, 2, 1, 4, 3, 6, 5, 7] if len(steps) == 1 else list(range(8))
    assert shape["points"] == [moved[i] for i in other]
    assert not done["problems"]


def test_mirroring_says_when_no_point_has_a_side(admin, project):
    version = new_set(admin, project, "keypoints")
    line = {"file": "a.png", "annotation": {"shapes": [{"type": "keypoints", "label": "x", "points": [[3, 4, 2]]}]}}
    bring(admin, project, version, "x.zip", zipped({"a.png": png(30, 20), "ingot.jsonl": json.dumps(line).encode()}))
    _, done = preprocessed(admin, version, {"op": "mirror-h"})
    assert "left and right" in report(admin, done)[0]["reason"]


def test_names_follow_the_bytes_and_pages_are_told(admin, project):
    """What cannot be written as it was becomes a PNG, also by its name; of several pages the first is taken, and said so."""
    def saved(kind: str, **more) -> bytes:
        data = io.BytesIO()
        Image.new("RGB", (30, 20), (200, 10, 10)).save(data, kind, **more)
        return data.getvalue()
    version = new_set(admin, project, "detection")
    pages = [Image.new("RGB", (30, 20), (i, i, i)) for i in (50, 90)]
    task = bring(admin, project, version, "x.zip", zipped({
        "a.bmp": saved("BMP"), "a.png": saved("PNG"), "b.TIFF": saved("TIFF", save_all=True, append_images=pages), "c.gif": saved("GIF"), "d.jpg": saved("JPEG")}))
    assert [(x["file"], "3 pages" in x["reason"]) for x in report(admin, task)] == [("b.TIFF", True)]
    new, done = preprocessed(admin, version, {"op": "crop", "x": 0, "y": 0, "w": 10, "h": 10})
    assert [(x["file"], "3 pages" in x["reason"]) for x in report(admin, done)] == [("b.TIFF", True)]
    got = {s["name"]: s for s in samples(admin, new)}
    assert sorted(got) == ["a-2.png", "a.png", "b.png", "c.png", "d.jpg"]
    for name, sample in got.items():
        content = admin.call("GET", f"{new}/samples/{sample['id']}/content").content
        assert Image.open(io.BytesIO(content)).format == ("JPEG" if name == "d.jpg" else "PNG")


OUTLINE = [(12, 8), (44, 12), (34, 38), (16, 30)]
TURNED = {"type": "box", "label": "x", "x": 18, "y": 16, "w": 30, "h": 12, "angle": 25}
POINTS = [(14, 10), (48, 14), (30, 36)]


def corners(box: dict) -> list[tuple[float, float]]:
    turn, cx, cy = math.radians(box.get("angle", 0)), box["x"] + box["w"] / 2, box["y"] + box["h"] / 2
    return [(cx + a * box["w"] / 2 * math.cos(turn) - b * box["h"] / 2 * math.sin(turn),
             cy + a * box["w"] / 2 * math.sin(turn) + b * box["h"] / 2 * math.cos(turn)) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def filled_in(size: tuple[int, int], outline: list) -> Image.Image:
    fine = Image.new("L", (size[0] * 8, size[1] * 8), 0)
    ImageDraw.Draw(fine).polygon([(x * 8 - 0.5, y * 8 - 0.5) for x, y in outline], fill=255)
    return fine.resize(size, Image.Resampling.BOX)


def region(size: tuple[int, int], shape: dict) -> np.ndarray:
    """The pixels that a shape covers, as others see them."""
    if shape["type"] == "mask":
        assert shape["size"] == [size[1], size[0]]
        return pycocotools.mask.decode({"size": shape["size"], "counts": shape["counts"].encode()}).astype(bool)
    rings = [list(zip(r[::2], r[1::2])) for r in shape["rings"]] if shape["type"] == "polygon" else [corners(shape)]
    return np.any([np.asarray(filled_in(size, r)) > 127 for r in rings], axis=0)


def shapes_of(kind: str) -> tuple[Image.Image, list[dict]]:
    """A picture of 64 x 48 with something white, and what says where."""
    size = (64, 48)
    if kind == "keypoints":
        picture = Image.new("L", size, 0)
        for x, y in POINTS:
            picture.paste(255, (x - 3, y - 3, x + 3, y + 3))
        return picture, [{"type": "keypoints", "label": "x", "points": [[x, y, 2] for x, y in POINTS] + [[0, 0, 0]]}]
    if kind in ("rotated-detection", "ocr box"):
        return filled_in(size, corners(TURNED)), [TURNED | ({"text": "字"} if kind == "ocr box" else {})]
    picture = filled_in(size, OUTLINE)
    if kind == "mask":
        code = pycocotools.mask.encode(np.asfortranarray(np.asarray(picture) > 127).astype(np.uint8))
        return picture, [{"type": "mask", "label": "x", "size": [48, 64], "counts": code["counts"].decode()}]
    return picture, [{"type": "polygon", "label": "x", "rings": [[c for p in OUTLINE for c in p]]} | ({"text": "字"} if kind == "ocr" else {})]


@pytest.mark.parametrize("steps", [
    [{"op": "rotate", "angle": 90}, {"op": "mirror-h"}],
    [{"op": "mirror-v"}, {"op": "rotate", "angle": 20}],
    [{"op": "crop", "x": 10, "y": 6, "w": 40, "h": 34}, {"op": "rotate", "angle": -110}, {"op": "mirror-h"}, {"op": "mirror-v"}],
], ids=["quarter", "free", "all"])
@pytest.mark.parametrize("kind", ["polygon", "mask", "keypoints", "rotated-detection", "ocr", "ocr box"])
def test_every_shape_follows_its_pixels(admin, project, kind, steps):
    annotation = {"polygon": "segmentation", "mask": "segmentation", "ocr box": "ocr"}.get(kind, kind)
    made = admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": annotation})
    version = f"datasets/{made['id']}/versions/" + str(admin.post(f"datasets/{made['id']}/versions", {})["id"])
    picture, shapes = shapes_of(kind)
    data = io.BytesIO()
    picture.save(data, "PNG")
    line = json.dumps({"file": "a.png", "annotation": {"shapes": shapes}}).encode()
    assert bring(admin, project, version, "x.zip", zipped({"a.png": data.getvalue(), "ingot.jsonl": line}))["result"]["taken"] == 1
    annotate(admin, version, samples(admin, version)[0], {"annotation": {"shapes": shapes}, "state": "accepted"})
    done = finished(admin, admin.post(f"{version}/preprocess", {"steps": steps}, expect=202))
    new = f"datasets/{made['id']}/versions/{done['subject']}"
    (sample,) = samples(admin, new)
    assert sample["state"] == "accepted"
    white = np.asarray(Image.open(io.BytesIO(admin.call("GET", f"{new}/samples/{sample['id']}/content").content)).convert("L")) > 120
    (shape,) = sample["annotation"]["shapes"]
    if kind == "keypoints":
        assert shape["points"][3] == [0, 0, 0]
        assert all(white[int(y), int(x)] for x, y, seen in shape["points"] if seen)
        assert sum(p[2] == 2 for p in shape["points"]) == 3
        return
    here = region((sample["width"], sample["height"]), shape)
    assert here.shape == white.shape
    assert (here & white).sum() / (here | white).sum() > 0.88
    assert shape.get("text") == shapes[0].get("text")


# --- what is cancelled or fails leaves nothing half ---

def test_a_preprocessing_that_is_cancelled_leaves_no_version(admin, project, dataset, version):
    bring(admin, project, version, "x.zip", zipped({f"{i}.png": png(200, 200, i) for i in range(400)}))
    task = admin.post(f"{version}/preprocess", {"steps": [{"op": "rotate", "angle": 30}]}, expect=202)
    admin.post(f"tasks/{task['id']}/cancel", {}, expect=200)  # its samples are just being copied
    over = finished(admin, task, "cancelled")
    assert admin.call("GET", f"datasets/{dataset['id']}/versions/{over['subject']}").status_code == 404
    assert [v["name"] for v in admin.get(f"datasets/{dataset['id']}/versions")["items"]] == ["v1"]


def test_a_copy_that_is_cancelled_leaves_no_version(admin, project, dataset, version):
    bring(admin, project, version, "x.zip", zipped({f"{i}.png": png(8, 8, i) for i in range(50)}))
    made = admin.post(f"datasets/{dataset['id']}/versions", {"from": int(version.rsplit("/", 1)[1])})
    [task] = admin.get("tasks", project=project["id"], filter=f'type = "copy-version" and subject = {made["id"]}')["items"]
    answer = admin.call("POST", f"tasks/{task['id']}/cancel")
    over = wait_for(lambda: (t := admin.get(f"tasks/{task['id']}"))["state"] not in ("waiting", "running") and t, "the end")
    left = [v["name"] for v in admin.get(f"datasets/{dataset['id']}/versions", sort="number")["items"]]
    assert left == (["v1"] if over["state"] == "cancelled" else ["v1", "v2"])
    assert answer.status_code in (200, 409)
