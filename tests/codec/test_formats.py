"""What is written is read back by others' readers with the same content: pycocotools for COCO, globox for VOC, YOLO
and LabelMe, tfrecord for the training data."""

import contextlib
import io
import json
import struct
import warnings
from pathlib import Path

import crc32c
import numpy
import pytest
from globox import AnnotationSet
from pictures import dataset, png
from pycocotools import mask
from pycocotools.coco import COCO
from tfrecord.reader import tfrecord_loader


def load(path: Path) -> COCO:
    with contextlib.redirect_stdout(io.StringIO()):
        return COCO(str(path))


def content(coco: COCO, masks: bool, keypoints: bool = False) -> dict[str, list]:
    """Per picture everything that its annotations say."""
    found = {}
    for image in coco.dataset["images"]:
        rows = []
        for a in coco.imgToAnns[image["id"]]:
            row = [coco.cats[a["category_id"]]["name"], [round(float(v), 4) for v in a["bbox"]], round(float(a["area"]), 4), a["iscrowd"]]
            if masks:
                row.append(numpy.packbits(coco.annToMask(a)).tobytes().hex())
            if keypoints:
                row += [a["keypoints"], a["num_keypoints"]]
            rows.append(json.dumps(row))
        found[image["file_name"]] = [image["width"], image["height"], *sorted(rows)]
    return found


@pytest.mark.parametrize("kind", ["detection", "segmentation", "keypoints"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_coco_is_equal_under_pycocotools(tool, tmp_path, kind, seed):
    source = dataset(tmp_path / "in", seed, keypoints=kind == "keypoints")
    tool.run("convert", kind, "coco", source, "coco", tmp_path / "out")
    before = load(source / "annotations/instances.json")
    after = load(tmp_path / "out/annotations/instances.json")
    masks = kind != "detection"
    expected = content(before, masks, kind == "keypoints")
    assert content(after, masks, kind == "keypoints") == expected
    assert [c["name"] for c in after.dataset["categories"]] == [c["name"] for c in before.dataset["categories"]]
    if kind == "keypoints":
        assert after.dataset["categories"][0]["skeleton"] == [[1, 2], [1, 3]]
    # The pictures are where their names say.
    assert all((tmp_path / "out/images" / name).is_file() for name in expected)


@pytest.mark.parametrize("kind", ["detection", "segmentation", "keypoints"])
def test_own_format_loses_nothing(tool, tmp_path, kind):
    source = dataset(tmp_path / "in", 4, keypoints=kind == "keypoints")
    tool.run("convert", kind, "coco", source, "ingot", tmp_path / "own")
    assert tool.run("detect", kind, tmp_path / "own").strip() == "ingot"
    assert tool.samples(kind, "ingot", tmp_path / "own") == tool.samples(kind, "coco", source)
    tool.run("convert", kind, "ingot", tmp_path / "own", "ingot", tmp_path / "again")
    assert (tmp_path / "again/ingot.jsonl").read_bytes() == (tmp_path / "own/ingot.jsonl").read_bytes()


def boxes(found: AnnotationSet, shift: float = 0) -> dict[str, list]:
    return {Path(a.image_id).stem: sorted((b.label, *(round(v, 3) for v in (b.xmin - shift, b.ymin - shift, b.xmax, b.ymax)))
                                          for b in a.boxes) for a in found}


@pytest.fixture
def detection(tmp_path):
    source = dataset(tmp_path / "in", 5, masks=False)
    expected = boxes(AnnotationSet.from_coco(source / "annotations/instances.json"))
    return source, expected


def test_voc_is_equal_under_another_reader(tool, tmp_path, detection):
    source, expected = detection
    tool.run("convert", "detection", "coco", source, "voc", tmp_path / "out")
    files = sorted((tmp_path / "out/Annotations").rglob("*.xml"))
    assert len(files) == len(expected)
    found = AnnotationSet()
    for folder in {f.parent for f in files}:
        found |= AnnotationSet.from_pascal_voc(folder)
    # Pascal VOC counts pixels from 1: globox takes the numbers as they stand.
    assert boxes(found, shift=1) == expected
    back = tool.samples("detection", "voc", tmp_path / "out")
    assert {Path(k).stem: v.get("annotation") for k, v in back.items()} == {
        Path(k).stem: without_area(v.get("annotation")) for k, v in tool.samples("detection", "coco", source).items()}


def without_area(annotation):
    for shape in (annotation or {}).get("shapes", []):
        shape.pop("area", None)
    return annotation


def test_yolo_is_equal_under_another_reader(tool, tmp_path, detection):
    source, expected = detection
    tool.run("convert", "detection", "coco", source, "yolo", tmp_path / "out")
    names = ["cat", "dog & \"co\"", "小猫", "never used"]
    out = tmp_path / "out"
    found = {}
    for label_file in out.glob("labels/train/**/*.txt"):
        picture = next((out / "images/train").rglob(label_file.stem + ".png"))
        width, height = struct.unpack(">II", picture.read_bytes()[16:24])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from globox import Annotation
            one = Annotation.from_yolo_v5(label_file, image_size=(width, height))
        found[label_file.stem] = sorted((names[int(b.label)], *(round(v, 3) for v in (b.xmin, b.ymin, b.xmax, b.ymax)))
                                        for b in one.boxes)
    assert found == {k: v for k, v in expected.items() if v}
    back = tool.samples("detection", "yolo", out)
    assert {Path(k).stem: v.get("annotation") for k, v in back.items()} == {
        Path(k).stem: without_area(v.get("annotation")) for k, v in tool.samples("detection", "coco", source).items()}


def test_labelme_is_equal_under_another_reader(tool, tmp_path, detection):
    source, expected = detection
    tool.run("convert", "detection", "coco", source, "labelme", tmp_path / "out")
    files = sorted((tmp_path / "out").rglob("*.json"))
    assert len(files) == len(expected)
    found = AnnotationSet()
    for folder in {f.parent for f in files}:
        found |= AnnotationSet.from_labelme(folder)
    assert boxes(found) == expected


@pytest.mark.parametrize("form", ["labelme", "yolo"])
def test_polygons_there_and_back(tool, tmp_path, form):
    source = dataset(tmp_path / "in", 6, masks=False)
    tool.run("convert", "segmentation", "coco", source, form, tmp_path / "out")

    def rings(samples):
        return {Path(k).stem: sorted((s["label"], s["rings"]) for s in v.get("annotation", {}).get("shapes", []))
                for k, v in samples.items()}

    assert rings(tool.samples("segmentation", form, tmp_path / "out")) == rings(tool.samples("segmentation", "coco", source))


@pytest.mark.parametrize("form", ["voc", "yolo", "labelme", "coco"])
def test_rotated_boxes_there_and_back(tool, tmp_path, form):
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.png").write_bytes(png(100, 80))
    shapes = [{"type": "box", "label": "ship", "x": 20, "y": 30, "w": 30, "h": 10, "angle": a} for a in (30, -75.5, 90, 0)]
    (source / "ingot.jsonl").write_text(json.dumps({"file": "a.png", "annotation": {"shapes": shapes}}) + "\n")
    tool.run("convert", "rotated-detection", "ingot", source, form, tmp_path / "out")
    found = tool.samples("rotated-detection", form, tmp_path / "out")
    got = next(iter(found.values()))["annotation"]["shapes"]
    for one, wanted in zip(got, shapes, strict=True):
        for key in ("x", "y", "w", "h", "angle"):
            assert one.get(key, 0) == pytest.approx(wanted[key], abs=1e-4)


def test_keypoints_through_yolo(tool, tmp_path):
    source = dataset(tmp_path / "in", 7, keypoints=True)
    tool.run("convert", "keypoints", "coco", source, "yolo", tmp_path / "out")
    assert "kpt_shape: [3, 3]" in (tmp_path / "out/data.yaml").read_text()

    def points(samples):
        return {Path(k).stem: sorted((s["label"], s["points"]) for s in v.get("annotation", {}).get("shapes", []))
                for k, v in samples.items()}

    assert points(tool.samples("keypoints", "yolo", tmp_path / "out")) == points(tool.samples("keypoints", "coco", source))


def test_same_stems_do_not_collide(tool, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    for name in ("a.png", "a.jpg"):
        (source / name).write_bytes(png(10, 10))
    lines = [{"file": n, "width": 10, "height": 10, "annotation": {"shapes": [
        {"type": "box", "label": n, "x": 1, "y": 1, "w": 2, "h": 2}]}} for n in ("a.png", "a.jpg")]
    (source / "ingot.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    for form in ("voc", "yolo", "labelme"):
        tool.run("convert", "detection", "ingot", source, form, tmp_path / form)
        found = tool.samples("detection", form, tmp_path / form)
        assert sorted(s["annotation"]["shapes"][0]["label"] for s in found.values()) == ["a.jpg", "a.png"]


@pytest.mark.parametrize("form", ["csv", "image-folder", "ingot"])
def test_classes_there_and_back(tool, tmp_path, form):
    source = tmp_path / "in"
    for i in range(6):
        path = source / ("train" if i < 4 else "test") / f"class {i % 3}" / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(8, 8))
    tool.run("convert", "image-class", "auto", source, form, tmp_path / "out")

    def labels(samples):
        return {Path(k).name: (v["annotation"], v["split"]) for k, v in samples.items()}

    assert labels(tool.samples("image-class", form, tmp_path / "out")) == labels(tool.samples("image-class", "auto", source))


@pytest.mark.parametrize("kind,form,line", [
    ("text-class", "jsonl", {"text": "hello, \"you\"\nthere", "labels": ["a", "b"], "split": "train"}),
    ("text-class", "csv", {"text": "hello, \"you\"\nthere", "labels": ["a", "b"], "split": "train"}),
    ("text-spans", "jsonl", {"text": "Anna é here", "spans": [{"start": 0, "end": 4, "label": "name"}], "split": "test"}),
])
def test_texts_there_and_back(tool, tmp_path, kind, form, line):
    source = tmp_path / "in"
    source.mkdir()
    (source / "t.jsonl").write_text(json.dumps(line) + "\n")
    tool.run("convert", kind, "jsonl", source, form, tmp_path / "out")
    (before,), (after,) = (list(tool.samples(kind, f, d).values()) for f, d in (("jsonl", source), (form, tmp_path / "out")))
    assert {k: before[k] for k in before if k != "file"} == {k: after[k] for k in after if k != "file"}


def test_types_a_format_cannot_carry(tool, tmp_path):
    (tmp_path / "in").mkdir()
    assert "voc does not carry annotations of the type keypoints" in tool.fails("read", "keypoints", "voc", tmp_path / "in")


# ---- training data ----------------------------------------------------------------------------------------------------

def classified(folder: Path, count: int) -> Path:
    for i in range(count):
        path = folder / ("cat" if i % 4 else "rare") / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png(8 + i, 8))
    return folder


def listed(path: Path) -> dict[str, str]:
    return dict(line.rsplit(",", 1) for line in path.read_text().splitlines())


def test_training_data_of_classification(tool, tmp_path):
    source = classified(tmp_path / "in", 40)
    (source / "cat/unlabelled").mkdir()
    for seed in (1, 1, 2):
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        tool.run("train", "image-class", "image-folder", source, seed, 0.25, out)
    first, second, third = sorted(p for p in tmp_path.iterdir() if p.name.startswith("out"))
    train, test = listed(first / "train_label_file.txt"), listed(first / "test_label_file.txt")
    assert (first / "classes.txt").read_text().split() == ["cat", "rare"]
    assert len(train) == 30 and len(test) == 10 and not set(train) & set(test)
    assert list(test.values()).count("rare") in (2, 3)  # stratified: a quarter of 10
    files = sorted(p.relative_to(first) for p in first.rglob("*") if p.is_file())
    assert [f for f in files if f.suffix == ".tfrecord"] == [Path("evaluate/evaluate-00000.tfrecord"),
                                                             Path("train/train-00000.tfrecord")]
    for f in files:
        assert (first / f).read_bytes() == (second / f).read_bytes()
    assert (third / "test_label_file.txt").read_bytes() != (first / "test_label_file.txt").read_bytes()
    for folder, wanted in (("train", train), ("evaluate", test)):
        check_records(first / folder / f"{folder}-00000.tfrecord", wanted, source)


def check_records(path: Path, wanted: dict[str, str], source: Path) -> None:
    kinds = {"image/encoded": "byte", "image/filename": "byte", "image/class/label": "int", "image/class/text": "byte",
             "image/width": "int", "image/height": "int", "image/format": "byte"}
    found = {}
    for row in tfrecord_loader(str(path), None, kinds):
        name = bytes(row["image/filename"]).decode()
        found[name] = bytes(row["image/class/text"]).decode()
        assert bytes(row["image/encoded"]) == (source / name).read_bytes()
        assert row["image/class/label"][0] == ["cat", "rare"].index(found[name])
        assert bytes(row["image/format"]) == b"png"
    assert found == wanted
    data, at = path.read_bytes(), 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        body, (check2,) = data[at + 12:at + 12 + length], struct.unpack_from("<I", data, at + 12 + length)
        assert (check, check2) == (masked(data[at:at + 8]), masked(body))
        at += 16 + length


def masked(data: bytes) -> int:
    value = crc32c.crc32c(data)
    return (((value >> 15) | (value << 17)) + 0xa282ead8) & 0xffffffff


def test_fewer_than_ten_have_no_test_part(tool, tmp_path):
    source = classified(tmp_path / "in", 9)
    tool.run("train", "image-class", "image-folder", source, 1, 0.5, tmp_path / "out")
    assert len(listed(tmp_path / "out/train_label_file.txt")) == 9
    assert not (tmp_path / "out/test_label_file.txt").exists() and not (tmp_path / "out/evaluate").exists()


@pytest.mark.parametrize("kind,first", [("detection", "train.json"), ("segmentation", "trainval.json"),
                                        ("keypoints", "train.json")])
def test_training_data_in_coco(tool, tmp_path, kind, first):
    source = dataset(tmp_path / "in", 8, images=40, keypoints=kind == "keypoints")
    tool.run("train", kind, "coco", source, 7, 0.2, tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted([first, "test.json", "images"])
    train, test = load(tmp_path / "out" / first), load(tmp_path / "out/test.json")
    names = [{i["file_name"] for i in c.dataset["images"]} for c in (train, test)]
    whole = load(source / "annotations/instances.json")
    annotated = {f"images/{whole.imgs[i]['file_name']}" for i in whole.imgToAnns}
    assert names[0] | names[1] == annotated and not names[0] & names[1]
    assert round(len(annotated) * 0.2) == pytest.approx(len(names[1]), abs=1)
    parts = content(train, kind != "detection") | content(test, kind != "detection")
    expected = {f"images/{k}": v for k, v in content(whole, kind != "detection").items()}
    assert parts == {k: v for k, v in expected.items() if k in annotated}


# ---- examples ---------------------------------------------------------------------------------------------------------

FORMATS = {
    "ingot": ["image-class", "image-classes", "detection", "rotated-detection", "segmentation", "keypoints", "ocr",
              "text-class", "text-spans", "audio-class", "transcription"],
    "coco": ["detection", "rotated-detection", "segmentation", "keypoints", "ocr"],
    "voc": ["detection", "rotated-detection"],
    "labelme": ["image-class", "image-classes", "detection", "rotated-detection", "segmentation", "ocr"],
    "yolo": ["detection", "rotated-detection", "segmentation", "keypoints"],
    "jsonl": ["text-class", "text-spans", "transcription"],
    "csv": ["image-class", "image-classes", "detection", "text-class", "audio-class", "transcription"],
    "image-folder": ["image-class", "text-class", "audio-class"],
}


@pytest.mark.parametrize("form,kind", [(f, k) for f, kinds in FORMATS.items() for k in kinds])
def test_example_is_read_back_whole(tool, tmp_path, form, kind):
    for name in ("one", "two"):
        tool.run("example", kind, form, tmp_path / name)
    files = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file())
    assert files
    for f in files:
        assert (tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes()
    assert tool.run("detect", kind, tmp_path / "one").strip() == form
    lines = tool.read(kind, form, tmp_path / "one")
    assert not [x for x in lines if "problem" in x]
    samples = [x for x in lines if "file" in x]
    assert len(samples) == 4 and all(s.get("annotation") and not s.get("missing") for s in samples)
    assert {s["split"] for s in samples} == {"train", "val"}


def test_masks_become_polygons(tool, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.png").write_bytes(png(30, 20))
    pixels = numpy.zeros((20, 30), numpy.uint8, order="F")
    pixels[4:12, 5:25] = 1
    pixels[8:12, 5:15] = 0
    runs = mask.encode(pixels)
    shape = {"type": "mask", "label": "x", "size": [20, 30], "counts": runs["counts"].decode()}
    (source / "ingot.jsonl").write_text(json.dumps({"file": "a.png", "annotation": {"shapes": [shape]}}) + "\n")
    tool.run("convert", "segmentation", "ingot", source, "yolo", tmp_path / "out")
    (found,) = tool.samples("segmentation", "yolo", tmp_path / "out").values()
    (shape,) = found["annotation"]["shapes"]
    assert shape["rings"] == [[25, 4, 25, 12, 15, 12, 15, 8, 5, 8, 5, 4]]
    assert (mask.decode(mask.merge(mask.frPyObjects(shape["rings"], 20, 30))) == pixels).all()


def own_sample(folder: Path, shapes: list[dict], size: tuple[int, int] = (40, 30)) -> Path:
    folder.mkdir()
    (folder / "a.png").write_bytes(png(*size))
    (folder / "ingot.jsonl").write_text(json.dumps({"file": "a.png", "width": size[0], "height": size[1],
                                                    "annotation": {"shapes": shapes}}) + "\n")
    return folder


HOLED = {"type": "polygon", "label": "ring", "rings": [[2, 2, 32, 2, 32, 26, 2, 26]], "holes": [[10, 8, 20, 8, 20, 18, 10, 18]],
         "occluded": True}


def holed() -> numpy.ndarray:
    wanted = numpy.zeros((30, 40), numpy.uint8)
    wanted[2:26, 2:32] = 1
    wanted[8:18, 10:20] = 0
    return wanted


def test_polygons_with_holes_are_masks_under_pycocotools(tool, tmp_path):
    source = own_sample(tmp_path / "in", [HOLED])
    tool.run("convert", "segmentation", "ingot", source, "coco", tmp_path / "out")
    coco = load(tmp_path / "out" / "annotations" / "instances.json")
    (found,) = coco.loadAnns(coco.getAnnIds())
    assert (coco.annToMask(found) == holed()).all()
    assert found["area"] == holed().sum() == 620 and found["bbox"] == [2, 2, 30, 24]
    assert found["attributes"] == {"occluded": True}
    (sample,) = [x for x in tool.read("segmentation", "coco", tmp_path / "out") if "file" in x]
    (back,) = sample["annotation"]["shapes"]
    assert back["type"] == "mask" and back["occluded"] and "attributes" not in back
    assert (mask.decode({"size": back["size"], "counts": back["counts"]}) == holed()).all()


def test_polygons_with_holes_through_other_formats(tool, tmp_path):
    source = own_sample(tmp_path / "in", [HOLED])
    tool.run("convert", "segmentation", "ingot", source, "ingot", tmp_path / "own")
    (sample,) = [x for x in tool.read("segmentation", "ingot", tmp_path / "own") if "file" in x]
    assert sample["annotation"]["shapes"] == [HOLED]
    tool.run("convert", "segmentation", "ingot", source, "labelme", tmp_path / "labelme")
    (sample,) = [x for x in tool.read("segmentation", "labelme", tmp_path / "labelme") if "file" in x]
    (back,) = sample["annotation"]["shapes"]
    assert (mask.decode({"size": back["size"], "counts": back["counts"]}) == holed()).all()
    tool.run("convert", "segmentation", "ingot", source, "yolo", tmp_path / "yolo")
    (sample,) = [x for x in tool.read("segmentation", "yolo", tmp_path / "yolo") if "file" in x]
    (back,) = sample["annotation"]["shapes"]
    assert back["type"] == "polygon" and "holes" not in back


@pytest.mark.parametrize("form", ["voc", "coco"])
def test_flags_there_and_back(tool, tmp_path, form):
    box = {"type": "box", "label": "car", "x": 1, "y": 2, "w": 10, "h": 12}
    shapes = [{**box, "occluded": True}, {**box, "truncated": True, "attributes": {"pose": "Left"}}, box]
    source = own_sample(tmp_path / "in", shapes)
    tool.run("convert", "detection", "ingot", source, form, tmp_path / "out")
    (sample,) = [x for x in tool.read("detection", form, tmp_path / "out") if "file" in x]
    found = [{k: v for k, v in x.items() if k != "area"} for x in sample["annotation"]["shapes"]]
    assert found == shapes


def test_definitions_of_labels_through_the_own_format(tool, tmp_path):
    source = own_sample(tmp_path / "in", [])
    defined = {"name": "car", "retired": True,
               "attributes": [{"choices": ["red", "blue"], "name": "colour", "type": "choice"}]}
    lines = (source / "ingot.jsonl").read_text()
    (source / "ingot.jsonl").write_text(json.dumps({"ingot": 1, "type": "segmentation", "labels": [defined]}) + "\n" + lines)
    tool.run("convert", "segmentation", "ingot", source, "ingot", tmp_path / "out")
    first = json.loads((tmp_path / "out" / "ingot.jsonl").read_text().splitlines()[0])
    assert first["labels"] == [defined]
