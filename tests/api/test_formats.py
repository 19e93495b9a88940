"""The formats of annotations, and the sample archive of each (D3, D4)."""

import io
import zipfile

import pytest
from harness import problem, unique
from test_datasets import bring, report, samples

DATA = {"text-class": "text", "text-spans": "text", "audio-class": "audio", "transcription": "audio"}


def test_the_list(admin):
    items = {f["name"]: f for f in admin.get("formats")["items"]}
    assert list(items) == ["ingot", "coco", "voc", "labelme", "yolo", "jsonl", "csv", "image-folder", "files"]
    assert items["voc"]["imports"] == items["voc"]["exports"] == ["detection", "rotated-detection"]
    assert items["image-folder"]["title"] == {"en": "One folder per class", "zh": "按文件夹分类"}
    assert ".jpg" in items["coco"]["extensions"] and ".wav" not in items["coco"]["extensions"]
    assert {".png", ".txt", ".wav"} <= set(items["ingot"]["extensions"])
    assert all(f["files"] for f in items.values())


def example(api, name: str, **params) -> bytes:
    answer = api.call("GET", f"formats/{name}/example", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    return answer.content


def test_every_example_is_imported_whole(admin, project):
    """Each format in each type: taken as that format by itself, four samples, nothing skipped or repaired."""
    for format in admin.get("formats")["items"]:
        for type in format["exports"]:
            archive = example(admin, format["name"], type=type)
            assert archive == example(admin, format["name"], type=type)
            made = admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": type,
                                           "data_type": DATA.get(type, "image")})
            number = admin.post(f"datasets/{made['id']}/versions", {})["id"]
            version = f"datasets/{made['id']}/versions/{number}"
            task = bring(admin, project, version, "example.zip", archive)
            where = (format["name"], type, task["result"], report(admin, task))
            assert task["result"]["format"] == format["name"], where
            assert len(samples(admin, version)) == 4, where
            assert [p for p in report(admin, task) if p.get("kind") != "ignored"] == [], where
            states = {s["state"] for s in samples(admin, version)}
            assert states == ({"unannotated"} if format["name"] == "files" else {"annotated"}), where


def test_without_a_type_the_first(admin):
    archive = zipfile.ZipFile(io.BytesIO(example(admin, "voc")))
    assert any(n.startswith("Annotations/") for n in archive.namelist())


@pytest.mark.parametrize("path, params, status, field", [
    ("formats/odd/example", {}, 404, None),
    ("formats/coco/example", {"type": "odd"}, 422, "type"),
    ("formats/coco/example", {"type": "text-class"}, 422, "format"),
])
def test_wrong_questions(admin, path, params, status, field):
    problem(admin.call("GET", path, params=params), status, "not_found" if status == 404 else "invalid", field)
