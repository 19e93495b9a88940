"""What imports do to annotations: they touch only what they bring, they leave the work of people alone unless asked to replace it."""

import pytest
from test_datasets import bring, coco, finished, png, report, samples, zipped
from test_import_keeps import new_version  # noqa: F401


def label(api, version: str, sample: dict, annotation: dict, state: str | None = None) -> dict:
    return api.call("PUT", f"{version}/samples/{sample['id']}/annotation", headers={"If-Match": f'"{sample["revision"]}"'},
                    json={"annotation": annotation, **({"state": state} if state else {})}).json()


def by_name(api, version: str, **params) -> dict[str, dict]:
    return {s["name"]: s for s in samples(api, version, **params)}


def labels(api, version: str) -> dict[str, list[str]]:
    return {name: s["annotation"].get("labels", []) for name, s in by_name(api, version).items()}


@pytest.fixture
def animals(admin, project, new_version) -> str:  # noqa: F811
    """cat/1.png to cat/3.png and dog/1.png by their folders; a person said that the second cat is an accepted fox."""
    version = new_version("image-class")
    files = {f"cat/{i}.png": png(9, 8, i) for i in (1, 2, 3)} | {"dog/1.png": png(9, 8, 9)}
    bring(admin, project, version, "a.zip", zipped(files))
    label(admin, version, by_name(admin, version)["cat/2.png"], {"labels": ["fox"]}, "accepted")
    return version


def test_an_import_touches_only_what_it_brings(admin, project, animals):
    before = by_name(admin, animals)
    task = bring(admin, project, animals, "b.zip", zipped({"dog/4.png": png(9, 8, 4)}), format="image-folder")
    assert {k: task["result"][k] for k in ("added", "changed", "same", "kept")} == {"added": 1, "changed": 0, "same": 0, "kept": 0}
    after = by_name(admin, animals)
    assert after.pop("dog/4.png")["annotation"] == {"labels": ["dog"]}
    assert after == before


def test_what_people_labelled_stays(admin, project, animals):
    before = by_name(admin, animals)
    again = zipped({f"cat/{i}.png": png(9, 8, i) for i in (1, 2, 3)} | {"dog/1.png": png(9, 8, 9)})
    task = bring(admin, project, animals, "a.zip", again)
    assert (task["result"]["kept"], task["result"]["same"], task["result"]["changed"]) == (1, 3, 0)
    assert [line["file"] for line in report(admin, task)] == ["cat/2.png"]
    assert "replace" in report(admin, task)[0]["reason"]
    assert by_name(admin, animals)["cat/2.png"] == before["cat/2.png"]
    # Neither another picture under its name, nor the part of a split, takes it away.
    bring(admin, project, animals, "a.zip", zipped({"cat/2.png": png(9, 8, 77), "dog/7.png": png(9, 8, 7)}))
    assert by_name(admin, animals)["cat/2.png"] == before["cat/2.png"]
    # A new version made from this one knows it too.
    folder = animals.rsplit("/", 1)[0]
    copy = admin.post(folder, {"from": int(animals.rsplit("/", 1)[1])})
    [task] = admin.get("tasks", project=project["id"], filter=f'type = "copy-version" and subject = {copy["id"]}')["items"]
    finished(admin, task)
    bring(admin, project, f"{folder}/{copy['id']}", "a.zip", again)
    assert labels(admin, f"{folder}/{copy['id']}")["cat/2.png"] == ["fox"]


def test_people_s_labels_are_replaced_when_asked_for(admin, project, animals):
    fox = by_name(admin, animals)["cat/2.png"]
    assert fox["by_person"] and not by_name(admin, animals)["cat/1.png"]["by_person"]
    task = bring(admin, project, animals, "a.zip", zipped({f"cat/{i}.png": png(9, 8, i) for i in (1, 2)}), format="image-folder", replace=True)
    assert (task["result"]["replaced"], task["result"]["changed"], task["result"]["same"], task["result"]["kept"]) == (1, 1, 1, 0)
    [line] = report(admin, task)
    assert line["file"] == "cat/2.png" and "history" in line["reason"]
    now = by_name(admin, animals)["cat/2.png"]
    assert (now["annotation"], now["state"], now["by_person"]) == ({"labels": ["cat"]}, "annotated", False)
    past = admin.get(f"{animals}/samples/{fox['id']}/history")["items"]
    assert (past[0]["annotation"], past[0]["state"], past[0]["revision"]) == ({"labels": ["fox"]}, "accepted", fox["revision"])
    # What is the person's again is kept again.
    admin.call("POST", f"{animals}/samples/{fox['id']}/restore", headers={"If-Match": f'"{now["revision"]}"'}, json={"revision": fox["revision"]})
    bring(admin, project, animals, "a.zip", zipped({f"cat/{i}.png": png(9, 8, i) for i in (1, 2)}), format="image-folder")
    assert labels(admin, animals)["cat/2.png"] == ["fox"]


@pytest.mark.parametrize("annotation,state,stays", [
    ({"labels": ["fox"]}, None, True), ({"labels": ["cat"]}, "rejected", True), ({}, "accepted", True),
    ({}, None, False), ({"labels": ["fox"]}, "machine", False)])
def test_which_labels_are_a_person_s(admin, project, animals, annotation, state, stays):
    """A judgement counts, also of an empty picture; a cleared annotation and what a model said do not."""
    label(admin, animals, by_name(admin, animals)["cat/1.png"], annotation, state)
    bring(admin, project, animals, "a.zip", zipped({"labels.csv": b"file,label\ncat/1.png,wolf\n"}))
    assert labels(admin, animals)["cat/1.png"] == (annotation.get("labels", []) if stays else ["wolf"])


def test_cleaned_samples_stay_cleaned(admin, project, animals):
    cat = by_name(admin, animals)["cat/1.png"]
    admin.post(f"{animals}/clean", {"ids": [cat["id"]], "cleaned": True}, expect=200)
    bring(admin, project, animals, "a.zip", zipped({"labels.csv": b"file,label\ncat/1.png,wolf\n"}))
    assert by_name(admin, animals, state="cleaned")["cat/1.png"]["annotation"] == {"labels": ["wolf"]}
    admin.post(f"{animals}/clean", {"ids": [cat["id"]], "cleaned": False}, expect=200)
    assert by_name(admin, animals)["cat/1.png"]["state"] == "annotated"


def test_an_annotation_file_means_the_picture_that_came_with_it(admin, project, new_version):  # noqa: F811
    """Not one of the same name that is there already."""
    version = new_version("detection")
    bring(admin, project, version, "a.png", png(9, 8))
    boxes = coco([{"id": 1, "file_name": "a.png", "width": 9, "height": 8}], [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}],
                 [{"id": 1, "name": "cat"}])
    bring(admin, project, version, "b.zip", zipped({"images/a.png": png(9, 8, 5), "annotations/train.json": boxes}))
    assert {name: s["state"] for name, s in by_name(admin, version).items()} == {"a.png": "unannotated", "images/a.png": "annotated"}


# --- what was taken ---

@pytest.mark.parametrize("name,data,fields", [
    ("a.parquet", b"PAR1", {}), ("a.zip", zipped({"readme.txt": b"x", "data.parquet": b"PAR1"}), {}), ("a.png", b"no picture", {}),
    ("a.json", b'{"categories": []}', {}), ("a.zip", zipped({"labels.csv": b"x,y\n1,2\n"}), {"format": "coco"})],
    ids=["parquet", "archive", "no picture", "json", "another format"])
def test_an_import_that_took_nothing_fails(admin, project, new_version, name, data, fields):  # noqa: F811
    version = new_version("detection")
    task = bring(admin, project, version, name, data, state="failed", **fields)
    assert task["message"].startswith("nothing was taken") and fields.get("format", "files") in task["message"]
    assert "没有导入" in task["message_zh"]
    assert admin.get(version)["samples"] == 0


def test_an_import_counts_its_annotations(admin, project, new_version):  # noqa: F811
    version = new_version("detection")
    boxes = coco([{"id": i, "file_name": f"{i}.png", "width": 9, "height": 8} for i in range(3)],
                 [{"id": i, "image_id": i // 2, "category_id": 1, "bbox": [1, 1, 2, 2]} for i in range(4)], [{"id": 1, "name": "cat"}])
    files = {f"{i}.png": png(9, 8, i) for i in range(3)}
    task = bring(admin, project, version, "a.zip", zipped({**files, "a.json": boxes}))
    assert (task["result"]["annotations"], task["result"]["added"]) == (4, 3)
    assert bring(admin, project, version, "a.zip", zipped(files))["result"]["annotations"] == 0
    pictures = new_version("image-class")
    task = bring(admin, project, pictures, "a.zip", zipped({"annotations.xml": b"<annotations></annotations>", **{f"images/{n}": d for n, d in files.items()}}))
    assert (task["result"]["format"], task["result"]["added"], task["result"]["annotations"]) == ("files", 3, 0)


def test_a_doubtful_upload_asks(admin, project, new_version):  # noqa: F811
    version = new_version("image-class")
    archive = zipped({"animals/cat/1.png": png(9, 8, 1), "vehicles/car/2.png": png(9, 8, 2)})
    task = bring(admin, project, version, "a.zip", archive, state="failed")
    assert '"vehicles" or "car"' in task["message"] and "image-folder" in task["message_zh"]
    bring(admin, project, version, "a.zip", archive, format="image-folder")
    assert list(labels(admin, version).values()) == [["animals"], ["vehicles"]]
