"""COCO's captions come in, beside shapes or alone, and go out as pycocotools reads them."""

import contextlib
import io
import json
import random
from pathlib import Path

import pytest
from pictures import dataset, png
from pycocotools.coco import COCO

WORDS = ["a cat", "两只狗", "\"quoted\" \\ text", "on the grass\n", "é", "🙂"]


def load(path: Path) -> COCO:
    with contextlib.redirect_stdout(io.StringIO()):
        return COCO(str(path))


def captions(coco: COCO) -> dict[str, list[str]]:
    return {i["file_name"]: [a["caption"] for a in coco.imgToAnns[i["id"]]] for i in coco.dataset["images"]}


def with_captions(folder: Path, seed: int, name: str) -> dict[str, list[str]]:
    """Adds captions of most images, in an order of their own, with ids of their own."""
    rng = random.Random(seed)
    images = json.loads((folder / "annotations/instances.json").read_text())["images"]
    images = [i | {"id": i["id"] + 7} for i in images if rng.random() < 0.8]
    rows = [{"id": n * 3, "image_id": rng.choice(images)["id"], "caption": " ".join(rng.choices(WORDS, k=3))} for n in range(60)]
    (folder / "annotations" / name).write_text(json.dumps({"info": {}, "images": images, "licenses": [], "annotations": rows}))
    return captions(load(folder / "annotations" / name))


@pytest.mark.parametrize("kind", ["detection", "segmentation", "keypoints"])
@pytest.mark.parametrize("name", ["captions.json", "x.json"])  # before and after the other file
def test_captions_are_equal_under_pycocotools(tool, tmp_path, kind, name):
    source = dataset(tmp_path / "in", 1, keypoints=kind == "keypoints")
    shapes = tool.samples(kind, "coco", source)
    expected = with_captions(source, 2, name)
    lines = tool.read(kind, "coco", source)
    assert not [x for x in lines if "problem" in x]
    for sample in (x for x in lines if "file" in x):
        wanted = expected.get(sample["file"].removeprefix("images/"), [])
        found = sample.get("annotation", {})
        assert found.get("attributes", {}).get("captions", []) == wanted
        assert found.get("shapes", []) == shapes[sample["file"]].get("annotation", {}).get("shapes", [])
    tool.run("convert", kind, "coco", source, "coco", tmp_path / "out")
    after = captions(load(tmp_path / "out/annotations/captions.json"))
    assert {k.removeprefix("images/"): v for k, v in after.items() if v} == {k: v for k, v in expected.items() if v}
    again = tool.samples(kind, "coco", tmp_path / "out")
    assert {k: v.get("annotation") for k, v in again.items()} == {
        x["file"]: x.get("annotation") for x in lines if "file" in x}


def test_captions_alone(tool, tmp_path):
    source = dataset(tmp_path / "in", 3)
    expected = with_captions(source, 4, "captions_val2017.json")
    (source / "annotations/instances.json").unlink()
    lines = tool.read("detection", "coco", source)
    assert not [x for x in lines if "problem" in x]
    found = {x["file"].removeprefix("images/"): x.get("annotation", {}).get("attributes", {}).get("captions", [])
             for x in lines if "file" in x and x.get("split") == "val"}
    assert found == expected
    tool.run("convert", "detection", "coco", source, "coco", tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out/annotations").iterdir())[0] == "captions_val.json"
    after = captions(load(tmp_path / "out/annotations/captions_val.json"))
    assert {k.removeprefix("images/"): v for k, v in after.items()} == expected


def test_without_captions_there_is_no_file_of_them(tool, tmp_path):
    source = dataset(tmp_path / "in", 5)
    tool.run("convert", "detection", "coco", source, "coco", tmp_path / "out")
    assert [p.name for p in (tmp_path / "out/annotations").iterdir()] == ["instances.json"]


def test_too_many_captions_are_counted_and_reported(tool, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.png").write_bytes(png(10, 10))
    images = [{"id": 1, "file_name": "a.png", "width": 10, "height": 10}]
    for part in ("a", "b"):
        rows = [{"id": i, "image_id": 1, "caption": f"{part}{i} " + "x" * 5000} for i in range(10 if part == "a" else 20)]
        (source / f"{part}.json").write_text(json.dumps({"images": images, "annotations": rows}))
    lines = tool.read("detection", "coco", source)
    (sample,) = [x for x in lines if "file" in x]
    assert [c.split()[0] for c in sample["annotation"]["attributes"]["captions"]] == [f"a{i}" for i in range(10)]
    assert [x["reason"] for x in lines if "problem" in x] == [
        "8 captions beyond 65000 bytes are left out",
        "its captions are more than 65000 bytes together with those of another file"]
    counts = lines[-1]["counts"]
    assert (counts["records"], counts["taken"], counts["skipped"]) == (30, 10, 20)
