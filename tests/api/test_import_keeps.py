"""What imports keep besides shapes: the order of classes, their parents and skeletons, parts of a split; and that shapes lie where
the picture has them, whatever its camera, its annotation file or the order of uploads did."""

import base64
import json
import struct
import zipfile

import pytest
from harness import unique
from PIL import Image
from test_data_out import exported, product
from test_datasets import bring, coco, dataset, finished, png, report, samples, version, zipped  # noqa: F401
from test_import_faults import content, encoded, is_red


@pytest.fixture
def new_version(admin, project):
    """Makes a dataset of a type with an empty version."""
    def make(annotation: str, **fields) -> str:
        made = admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": annotation, **fields})
        return f"datasets/{made['id']}/versions/" + str(admin.post(f"datasets/{made['id']}/versions", {})["id"])
    return make


# --- classes ---

PERSON = {"id": 9, "name": "person", "supercategory": "animal", "keypoints": ["nose", "neck", "腰"], "skeleton": [[1, 2], [2, 3]]}
CLASSES = [PERSON, {"id": 0, "name": "zebra", "supercategory": "animal"}, {"id": 4, "name": "ant", "supercategory": "ant"}]


def categories(archive: zipfile.ZipFile) -> list[dict]:
    [name] = [n for n in archive.namelist() if n.endswith(".json")]
    return [{k: v for k, v in c.items() if k != "id"} for c in json.loads(archive.read(name))["categories"]]


def test_classes_come_out_as_they_came_in(admin, project, new_version):
    """Their order, those that nothing uses, supercategories and skeletons; also of a version made from the first."""
    version = new_version("keypoints")
    people = coco([{"id": 1, "file_name": "a.png", "width": 9, "height": 8}],
                  [{"id": 1, "image_id": 1, "category_id": 9, "keypoints": [1, 1, 2, 3, 3, 1, 0, 0, 0], "bbox": [0, 0, 5, 5]}], CLASSES)
    bring(admin, project, version, "a.zip", zipped({"a.png": png(9, 8), "people.json": people}))
    expected = [{k: v for k, v in c.items() if k != "id"} for c in CLASSES]
    assert categories(exported(admin, version, format="coco")) == expected
    own = exported(admin, version, format="ingot").read("ingot.jsonl").splitlines()
    assert [label["name"] for label in json.loads(own[0])["labels"]] == ["person", "zebra", "ant"]
    assert json.loads(own[0])["labels"][0]["edges"] == [[0, 1], [1, 2]]
    folder = version.rsplit("/", 1)[0]
    copy = admin.post(folder, {"from": int(version.rsplit("/", 1)[1])})
    [task] = admin.get("tasks", project=project["id"], filter=f'type = "copy-version" and subject = {copy["id"]}')["items"]
    finished(admin, task)
    assert categories(exported(admin, f"{folder}/{copy['id']}", format="coco")) == expected
    training = product(admin, finished(admin, admin.post(f"{version}/training-data", {"samples": False}, expect=202)))
    assert categories(training) == expected
    # The same file again changes neither order nor number, a file without skeletons does not take them away.
    bare = coco([{"id": 1, "file_name": "a.png", "width": 9, "height": 8}], [], [{"id": 1, "name": "person"}, {"id": 2, "name": "bee"}])
    bring(admin, project, version, "a.zip", zipped({"people.json": people, "bare.json": bare}))
    assert categories(exported(admin, version, format="coco")) == [*expected, {"name": "bee"}]


def test_numbers_of_yolo_classes_stay(admin, project, new_version):
    version = new_version("detection")
    bring(admin, project, version, "a.zip", zipped({
        "data.yaml": b"names: [zebra, unused, ant]\n", "images/a.png": png(10, 10), "labels/a.txt": b"2 .5 .5 .2 .2\n0 .5 .5 .4 .4\n"}))
    archive = exported(admin, version, format="yolo")
    [labels] = [archive.read(n).decode() for n in archive.namelist() if n.endswith(".txt")]
    assert [line.split()[0] for line in labels.splitlines()] == ["2", "0"]


def test_the_label_set_of_the_dataset_comes_first(admin, project, new_version):
    labels = [{"name": "animal", "children": [{"name": "cat"}, {"name": "person"}]}, {"name": "sign", "keypoints": ["top", "foot"], "edges": [[0, 1]]}]
    made = admin.post("label-sets", {"project": project["id"], "name": unique("labels"), "labels": labels})
    version = new_version("keypoints", label_set=made["id"])
    people = coco([{"id": 1, "file_name": "a.png", "width": 9, "height": 8}],
                  [{"id": 1, "image_id": 1, "category_id": 9, "keypoints": [1, 1, 2, 3, 3, 1, 0, 0, 0]}], CLASSES)
    bring(admin, project, version, "a.zip", zipped({"a.png": png(9, 8), "people.json": people}))
    got = categories(exported(admin, version, format="coco"))
    assert [c["name"] for c in got] == ["cat", "person", "sign", "zebra", "ant"]
    assert got[0] == {"name": "cat", "supercategory": "animal"}
    assert (got[1]["keypoints"], got[2]["skeleton"]) == (PERSON["keypoints"], [[1, 2]])
    # What was exported is given again only while the label set says the same.
    first = finished(admin, admin.post(f"{version}/export", {"format": "coco"}, expect=202))
    assert admin.post(f"{version}/export", {"format": "coco", "reuse": True}, expect=200)["id"] == first["id"]
    admin.patch(f"label-sets/{made['id']}", {"labels": labels[1:]}, made["revision"])
    again = admin.post(f"{version}/export", {"format": "coco", "reuse": True}, expect=202)
    assert [c["name"] for c in categories(product(admin, finished(admin, again)))][0] == "sign"


# --- parts of a split ---

def test_parts_of_a_split_stay(admin, project, new_version):
    version = new_version("detection")
    files = {"data.yaml": b"names: [cat]\n"}
    for part, names in {"train": "ab", "val": "c", "test": "d"}.items():
        for name in names:
            files |= {f"images/{part}/{name}.png": png(10, 10, ord(name)), f"labels/{part}/{name}.txt": b"0 .5 .5 .2 .2\n"}
    bring(admin, project, version, "a.zip", zipped(files))
    assert [(s["name"], s["split"]) for s in samples(admin, version)] == [
        ("images/test/d.png", "test"), ("images/train/a.png", "train"), ("images/train/b.png", "train"), ("images/val/c.png", "val")]
    out = exported(admin, version, format="yolo")
    assert {n for n in out.namelist() if n.endswith(".png")} == {n for n in files if n.endswith(".png")}
    assert b"val: images/val" in out.read("data.yaml") and b"test: images/test" in out.read("data.yaml")
    parts = {n: len(json.loads(exported(admin, version, format="coco").read(n))["images"])
             for n in ("annotations/instances_train.json", "annotations/instances_val.json", "annotations/instances_test.json")}
    assert list(parts.values()) == [2, 1, 1]


def test_parts_that_names_of_files_say(admin, project, new_version):
    """One folder of pictures, train.json and val.json; a later import may move a picture, a cancelled or repeated one does not."""
    version = new_version("detection")
    def one(name: str) -> bytes:
        return coco([{"id": 1, "file_name": name, "width": 9, "height": 8}], [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}],
                    [{"id": 1, "name": "cat"}])
    archive = zipped({"a.png": png(9, 8), "b.png": png(9, 8, 1), "c.png": png(9, 8, 2), "train.json": one("a.png"), "val.json": one("b.png")})
    bring(admin, project, version, "a.zip", archive)
    def parts() -> list:
        return [s["split"] for s in samples(admin, version)]
    assert parts() == ["train", "val", None]
    assert bring(admin, project, version, "a.zip", archive)["result"]["same"] == 3
    result = bring(admin, project, version, "a.zip", zipped({"test.json": one("b.png")}))["result"]
    assert result["changed"] == 1 and parts() == ["train", "test", None]
    digest = admin.post(f"{version}/publish", expect=200)["digest"]
    again = new_version("detection")
    bring(admin, project, again, "a.zip", archive)
    assert admin.post(f"{again}/publish", expect=200)["digest"] != digest, "a part is content"


def test_parts_wait_for_their_pictures(admin, project, new_version):
    """Annotations first: pictures come into the part that those said, also such as have nothing annotated in them. What comes
    with an annotation of its own goes where that says."""
    version = new_version("detection")

    def part(*names: str, boxes: int = 1) -> bytes:
        images = [{"id": i, "file_name": name, "width": 9, "height": 8} for i, name in enumerate(names)]
        return coco(images, [{"id": i, "image_id": i, "category_id": 1, "bbox": [1, 1, 2, 2]} for i in range(boxes)], [{"id": 1, "name": "cat"}])
    task = bring(admin, project, version, "a.zip", zipped({"val.json": part("a.png", "plain.png"), "test.json": part("b.png")}))
    assert task["result"]["waiting"] == 3
    assert sorted(line["reason"].split(";")[1] for line in report(admin, task)) == [
        " its annotation is kept until it comes"] * 2 + [" its part of the split is kept until it comes"]
    bring(admin, project, version, "b.zip", zipped({
        **{name: png(9, 8, i) for i, name in enumerate(("a.png", "plain.png", "b.png", "c.png"))}, "train.json": part("b.png")}))
    assert {s["name"]: (s["split"], s["state"]) for s in samples(admin, version)} == {
        "a.png": ("val", "annotated"), "plain.png": ("val", "unannotated"), "b.png": ("train", "annotated"), "c.png": (None, "unannotated")}
    # One that is there moves, although nothing is annotated in it.
    result = bring(admin, project, version, "d.zip", zipped({"test.json": part("plain.png", boxes=0)}))["result"]
    assert result["changed"] == 1 and [s["split"] for s in samples(admin, version, q="plain")] == ["test"]


# --- where shapes lie ---

def turned(orientation: int, *after: bytes) -> tuple[bytes, tuple]:
    """Stored 40 x 60 with a red box at (8, 30) of 10 x 20, and a camera's note how to hold it. after: segments behind the note."""
    stored = Image.new("RGB", (40, 60), "white")
    stored.paste("red", (8, 30, 18, 50))
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(stored, "JPEG", quality=95, subsampling=0, exif=exif)
    tables = data.index(b"\xff\xdb", data.index(b"Exif"))
    return data[:tables] + b"".join(after) + data[tables:], stored.size


def test_boxes_of_pictures_as_they_are_stored(admin, project, version):
    """Tools that look past the camera's note give the stored size: then boxes turn with the picture."""
    turns = (5, 6, 7, 8)
    boxes = coco([{"id": i, "file_name": f"{i}.jpg", "width": 40, "height": 60} for i in turns],
                 [{"id": i, "image_id": i, "category_id": 1, "bbox": [8, 30, 10, 20]} for i in turns], [{"id": 1, "name": "red"}])
    task = bring(admin, project, version, "a.zip", zipped({**{f"{i}.jpg": turned(i)[0] for i in turns}, "a.json": boxes}))
    assert sorted(line["position"] for line in report(admin, task) if "turned with the picture" in line["reason"]) == [
        f"images[{i}]" for i in range(4)]
    for s in samples(admin, version):
        assert (s["width"], s["height"]) == (60, 40)
        [box] = s["annotation"]["shapes"]
        assert (box["w"], box["h"]) == (20, 10)
        steps = [{"op": "crop", **{k: box[k] for k in "xywh"}}]
        folder = version.rsplit("/", 1)[0]
        cut = folder + f"/{finished(admin, admin.post(f'{version}/preprocess', {'steps': steps}, expect=202))['subject']}"
        picture = content(admin, cut, next(x for x in samples(admin, cut) if x["name"] == s["name"])).convert("RGB")
        assert picture.size == (20, 10)
        assert all(is_red(picture.getpixel(at)) for at in ((1, 1), (18, 1), (1, 8), (18, 8)))


def test_a_note_of_the_camera_among_others(admin, project, version):
    """What editors add after the camera's note, in segments of the same kind, does not hide it."""
    xmp = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>"
    picture, size = turned(6, b"\xff\xe1" + struct.pack(">H", len(xmp) + 2) + xmp)
    bring(admin, project, version, "a.zip", zipped({"a.jpg": picture}))
    [s] = samples(admin, version)
    assert (s["width"], s["height"]) == size[::-1]
    assert content(admin, version, s, "thumbnail").size == size[::-1]


@pytest.mark.parametrize("form", ["PNG", "WEBP", "TIFF"])
def test_notes_in_other_formats(admin, project, version, form):
    """Size and thumbnail agree, whatever the platform makes of the note."""
    exif = Image.Exif()
    exif[0x0112] = 6
    bring(admin, project, version, "a.zip", zipped({f"a.{form.lower()}": encoded(Image.new("RGB", (40, 60), "red"), form, exif=exif)}))
    [s] = samples(admin, version)
    assert content(admin, version, s, "thumbnail").size == (s["width"], s["height"])


def test_a_size_that_is_not_the_pictures(admin, project, version):
    boxes = coco([{"id": 1, "file_name": "a.png", "width": 18, "height": 16}], [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
                 [{"id": 1, "name": "cat"}])
    task = bring(admin, project, version, "a.zip", zipped({"a.png": png(9, 8), "a.json": boxes}))
    [line] = report(admin, task)
    assert (line["file"], line["position"]) == ("a.json", "images[0]")
    assert "has 9 x 8 pixels and is said to have 18 x 16" in line["reason"]


def test_boxes_that_waited_are_cut_at_their_picture(admin, project, version):
    """The annotation file says no size: what lies outside is known when the picture comes."""
    boxes = coco([{"id": 1, "file_name": "a.png"}], [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [5, 5, 50, 50]},
                                                    {"id": 2, "image_id": 1, "category_id": 1, "bbox": [90, 90, 5, 5]}], [{"id": 1, "name": "cat"}])
    bring(admin, project, version, "a.json", boxes)
    task = bring(admin, project, version, "a.png", png(9, 8))
    [s] = samples(admin, version)
    assert [(b["x"], b["y"], b["w"], b["h"]) for b in s["annotation"]["shapes"]] == [(5, 5, 4, 3)]
    [line] = report(admin, task)
    assert line["file"] == "a.png" and "1 shapes were cut" in line["reason"]


def test_pictures_inside_labelme_files(admin, project, version):
    """They are looked at like any other."""
    def held(data: bytes) -> bytes:
        return json.dumps({"version": "5.4.1", "flags": {}, "imagePath": "x.png", "imageData": base64.b64encode(data).decode(), "shapes": [
            {"label": "cat", "points": [[1, 1], [30, 6]], "shape_type": "rectangle"}]}).encode()
    task = bring(admin, project, version, "a.zip", zipped({"a/good.json": held(png(20, 10)).replace(b"x.png", b"good.png"),
                                                           "a/bad.json": held(b"no picture").replace(b"x.png", b"bad.png")}))
    [s] = samples(admin, version)
    assert (s["name"], s["width"], s["height"]) == ("good.png", 20, 10)
    assert s["annotation"]["shapes"][0]["w"] == 19
    assert {line["file"] for line in report(admin, task)} == {"bad.png", "good.png"}
