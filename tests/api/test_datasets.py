"""Datasets, versions, samples, annotations and imports (D1-D4, D10, D11, D18)."""

import hashlib
import io
import json
import socket
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import httpx
import pytest
from h2c import H2
from harness import DEADLINE, unique, wait_for


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, seed: int = 0) -> bytes:
    """A grey picture; the seed makes its bytes different."""
    rows = b"".join(b"\0" + bytes((x * 3 + y * 5 + seed) % 256 for x in range(width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, data in files.items():
            z.writestr(name, data)
    return out.getvalue()


def coco(images: list[dict], annotations: list[dict], categories: list[dict]) -> bytes:
    return json.dumps({"images": images, "annotations": annotations, "categories": categories}).encode()


@pytest.fixture
def dataset(admin, project) -> dict:
    return admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": "detection"})


@pytest.fixture
def version(admin, dataset) -> str:
    made = admin.post(f"datasets/{dataset['id']}/versions", {})
    assert (made["name"], made["state"], made["samples"]) == ("v1", "draft", 0)
    return f"datasets/{dataset['id']}/versions/{made['id']}"


def upload(api, project: dict, data: bytes) -> str:
    tus = {"Tus-Resumable": "1.0.0"}
    made = api.call("POST", "uploads", params={"project": project["id"]}, headers={**tus, "Upload-Length": str(len(data))})
    assert made.status_code == 201, made.text
    path = made.headers["location"].removeprefix("/api/v1/")
    if data:
        sent = api.call("PATCH", path, content=data, headers={
            **tus, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"})
        assert sent.status_code == 204, sent.text
    return path.rsplit("/", 1)[1]


def finished(api, task: dict, state: str = "done") -> dict:
    over = wait_for(lambda: (t := api.get(f"tasks/{task['id']}"))["state"] not in ("waiting", "running") and t, "the task's end")
    assert over["state"] == state, over
    return over


def bring(api, project: dict, version: str, name: str, data: bytes, state: str = "done", **fields) -> dict:
    task = api.post(f"{version}/import", {"uploads": [{"upload": upload(api, project, data), "name": name}], **fields}, expect=202)
    return finished(api, task, state)


def samples(api, version: str, **params) -> list[dict]:
    return api.get(f"{version}/samples", **params)["items"]


def report(api, task: dict) -> list[dict]:
    answer = api.call("GET", f"tasks/{task['id']}/report")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


PICTURES = {f"images/{i:03}.png": png(20, 10, i) for i in range(12)}
COCO = coco([{"id": i, "file_name": f"{i:03}.png", "width": 20, "height": 10} for i in range(12)],
            [{"id": 1, "image_id": 0, "category_id": 3, "bbox": [1, 2, 3, 4]},
             {"id": 2, "image_id": 0, "category_id": 7, "bbox": [5, 5, 2, 2]},
             {"id": 3, "image_id": 1, "category_id": 7, "bbox": [15, 5, 50, 50]}],
            [{"id": 3, "name": "cat"}, {"id": 7, "name": "狗"}])


@pytest.fixture
def filled(admin, project, version) -> str:
    task = bring(admin, project, version, "coco.zip", zipped({**PICTURES, "annotations/train.json": COCO}))
    assert task["result"]["format"] == "coco"
    assert task["result"]["added"] == 12
    return version


def test_a_task_names_what_it_works_on(admin, project, dataset, filled):
    [task] = admin.get("tasks", project=project["id"])["items"]
    number = int(filled.rsplit("/", 1)[1])
    assert task["about"] == {"id": number, "name": "v1", "of": {"id": dataset["id"], "name": dataset["name"]}}
    admin.delete(filled)
    assert admin.get(f"tasks/{task['id']}")["about"] is None


def test_an_import_of_coco(admin, filled):
    now = admin.get(filled)
    assert (now["samples"], now["annotated"], now["cleaned"]) == (12, 2, 0)
    got = samples(admin, filled)
    assert [s["name"] for s in got] == sorted(PICTURES)
    assert (got[0]["width"], got[0]["height"], got[0]["state"]) == (20, 10, "annotated")
    boxes = [(s["label"], s["x"], s["y"], s["w"], s["h"]) for s in got[0]["annotation"]["shapes"]]
    assert sorted(boxes) == [("cat", 1, 2, 3, 4), ("狗", 5, 5, 2, 2)]
    clipped = got[1]["annotation"]["shapes"][0]
    assert (clipped["w"], clipped["h"]) == (5, 5)
    statistics = admin.get(f"{filled}/statistics")
    assert statistics["states"]["unannotated"] == 10
    assert {(x["label"], x["samples"], x["shapes"]) for x in statistics["labels"]} == {("cat", 1, 1), ("狗", 2, 2)}


def test_the_same_import_again_changes_nothing(admin, project, filled):
    before = samples(admin, filled)
    task = bring(admin, project, filled, "coco.zip", zipped({**PICTURES, "annotations/train.json": COCO}))
    assert (task["result"]["added"], task["result"]["changed"]) == (0, 0)
    assert samples(admin, filled) == before


def test_annotations_before_their_pictures(admin, project, version):
    task = bring(admin, project, version, "train.json", COCO)
    assert task["result"]["waiting"] == 12
    kept = [line["reason"].split("; ")[-1] for line in report(admin, task)]
    assert kept.count("its annotation is kept until it comes") == 2
    assert kept.count("its part of the split is kept until it comes") == 10
    bring(admin, project, version, "pictures.zip", zipped({f"{i:03}.png": png(20, 10, i) for i in range(3)}))
    assert [s["state"] for s in samples(admin, version)] == ["annotated", "annotated", "unannotated"]
    assert [s["split"] for s in samples(admin, version)] == ["train"] * 3


def test_filters_and_pages(admin, filled):
    assert [s["name"] for s in samples(admin, filled, label="狗")] == ["images/000.png", "images/001.png"]
    assert len(samples(admin, filled, state="unannotated")) == 10
    assert [s["name"] for s in samples(admin, filled, q="images/01")] == ["images/010.png", "images/011.png"]
    seen, after = [], 0
    while True:
        page = admin.get(f"{filled}/samples", limit=5, after=after)
        seen += [s["name"] for s in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == sorted(PICTURES)
    for bad in ({"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"after": -1}, {"state": "odd"}):
        admin.get(f"{filled}/samples", expect=422, **bad)


def annotate(api, version: str, sample: dict, body: dict, expect: int = 200, revision: int | None = None):
    answer = api.call("PUT", f"{version}/samples/{sample['id']}/annotation", json=body,
                      headers={"If-Match": f'"{revision or sample["revision"]}"'})
    assert answer.status_code == expect, answer.text
    return answer.json()


BOX = {"shapes": [{"type": "box", "label": "cat", "x": 0, "y": 0, "w": 5, "h": 5}]}


def test_every_state_is_kept_counted_and_remembered(admin, filled):
    sample = samples(admin, filled)[0]
    states = ["review", "rejected", "accepted", "machine", "annotated"]
    for state in states:
        sample = annotate(admin, filled, sample, {"annotation": sample["annotation"], "state": state})
        assert sample["state"] == state
        assert [s["id"] for s in samples(admin, filled, state=state)][0] == sample["id"]
        assert admin.get(f"{filled}/statistics")["states"][state] == (2 if state == "annotated" else 1)
    history = admin.get(f"{filled}/samples/{sample['id']}/history")["items"]
    assert [h["state"] for h in history][:4] == states[3::-1]
    assert all(h["at"] and h["by"] for h in history)
    answer = admin.call("POST", f"{filled}/samples/{sample['id']}/restore", json={"revision": history[1]["revision"]},
                        headers={"If-Match": f'"{sample["revision"]}"'})
    assert answer.status_code == 200, answer.text
    back = answer.json()
    assert (back["state"], back["revision"]) == ("accepted", sample["revision"] + 1)
    answer = admin.call("PUT", f"{filled}/samples/{sample['id']}/annotation", json={"annotation": {}, "state": "odd"},
                        headers={"If-Match": f'"{back["revision"]}"'})
    assert answer.status_code == 422 and "state" in answer.text


def test_two_editors_never_overwrite_each_other(admin, filled):
    sample = samples(admin, filled)[5]
    first = annotate(admin, filled, sample, {"annotation": BOX})
    assert (first["state"], first["revision"]) == ("annotated", 2)
    annotate(admin, filled, sample, {"annotation": {}}, expect=412)
    assert admin.get(filled)["annotated"] == 3
    past = admin.get(f"{filled}/samples/{sample['id']}/history")["items"]
    assert [(p["revision"], p["state"], p["annotation"]) for p in past] == [(1, "unannotated", {})]
    back = admin.call("POST", f"{filled}/samples/{sample['id']}/restore", json={"revision": 1}, headers={"If-Match": '"2"'})
    assert back.status_code == 200
    assert (back.json()["state"], back.json()["revision"]) == ("unannotated", 3)
    assert admin.get(filled)["annotated"] == 2


@pytest.mark.parametrize("annotation", [
    {"shapes": [{"type": "box", "label": "cat", "x": 0, "y": 0, "w": -5, "h": 5}]},
    {"shapes": [{"type": "circle", "label": "cat"}]}, {"shapes": "x"}, {"odd": 1}, [1],
    {"shapes": [{"type": "box", "x": 0, "y": 0, "w": 5, "h": 5, "label": 7}]}])
def test_wrong_annotations_are_refused(admin, filled, annotation):
    sample = samples(admin, filled)[5]
    problem = annotate(admin, filled, sample, {"annotation": annotation}, expect=422)
    assert problem["detail"]
    assert admin.get(f"{filled}/samples/{sample['id']}")["revision"] == 1


def test_annotating_needs_the_revision(admin, filled):
    sample = samples(admin, filled)[0]
    answer = admin.call("PUT", f"{filled}/samples/{sample['id']}/annotation", json={"annotation": {}})
    assert answer.status_code == 428


def test_cleaning_and_back(admin, filled):
    ids = [s["id"] for s in samples(admin, filled)][:3]
    assert admin.post(f"{filled}/clean", {"ids": ids}, expect=200) == {"changed": 3}
    now = admin.get(filled)
    assert (now["samples"], now["annotated"], now["cleaned"]) == (9, 0, 3)
    assert admin.get(f"{filled}/statistics")["labels"] == []
    assert len(samples(admin, filled)) == 9
    assert len(samples(admin, filled, state="cleaned")) == 3
    assert admin.post(f"{filled}/clean", {"ids": ids, "cleaned": False}, expect=200) == {"changed": 3}
    now = admin.get(filled)
    assert (now["samples"], now["annotated"], now["cleaned"]) == (12, 2, 0)


def test_new_versions_copy_samples_and_compare(admin, dataset, filled):
    old = admin.get(filled)
    made = admin.post(f"datasets/{dataset['id']}/versions", {"from": old["id"]})
    new = f"datasets/{dataset['id']}/versions/{made['id']}"
    wait_for(lambda: all(t["state"] == "done" for t in admin.get(
        "tasks", project=dataset["project"]["id"], filter=f'subject = {made["id"]}')["items"]), "the copy")
    assert (admin.get(new)["samples"], admin.get(new)["annotated"]) == (12, 2)
    got = samples(admin, new)
    assert [s["name"] for s in got] == sorted(PICTURES)
    assert [s["name"] for s in samples(admin, new, label="狗")] == ["images/000.png", "images/001.png"]
    annotate(admin, new, got[7], {"annotation": BOX})
    admin.post(f"{new}/clean", {"ids": [got[8]["id"]]}, expect=200)
    changes = admin.get(f"{new}/compare", **{"with": old["id"]})
    assert (changes["added"], changes["removed"], changes["changed"], changes["annotated"]) == (0, 1, 0, 1)
    assert admin.get(filled)["annotated"] == 2


def test_versions_are_compared_a_page_at_a_time(admin, project):
    """More samples than are read at once on either side (500), with changes at both ends of a page."""
    made = admin.post("datasets", {"project": project["id"], "name": unique("texts"), "data_type": "text", "annotation_type": "text-class"})
    names = [f"{i:05}.txt" for i in range(1200)]

    def version(content: dict[str, tuple[str, str]]) -> str:
        one = admin.post(f"datasets/{made['id']}/versions", {})
        lines = [{"file": name, "content": text, "annotation": {"labels": [label]}} for name, (text, label) in content.items()]
        path = f"datasets/{made['id']}/versions/{one['id']}"
        bring(admin, project, path, "t.zip", zipped({"ingot.jsonl": "".join(json.dumps(x) + "\n" for x in lines).encode()}))
        return path

    before = dict.fromkeys(names, ("same", "a"))
    after = dict(before)
    expected = {}
    for name in ("00000.txt", "00499.txt", "01199.txt"):
        after[name] = ("another", "a")
        expected[name] = "changed"
    for name in ("00500.txt", "00998.txt"):
        after[name] = (after[name][0], "b")
        expected[name] = "annotated"
    for i in range(600, 750):
        del after[names[i]]
        expected[names[i]] = "removed"
    for i in range(700):
        after[f"00999-{i:04}.txt"] = ("same", "c")
        expected[f"00999-{i:04}.txt"] = "added"
    old, new = version(before), version(after)
    other = int(old.rsplit("/", 1)[1])
    whole = admin.get(f"{new}/compare", **{"with": other})
    listed = [(i["name"], i["change"]) for i in whole["items"]]
    assert listed == sorted(expected.items()) and whole["next"] is None
    assert [whole[c] for c in ("added", "removed", "changed", "annotated")] == [700, 150, 3, 2]
    pages, query = [], {"with": other, "limit": 9}
    while True:
        page = admin.get(f"{new}/compare", **query)
        assert ("added" in page) == (not pages)
        if not pages:
            assert [page[c] for c in ("added", "removed", "changed", "annotated")] == [700, 150, 3, 2]
        pages.append([(i["name"], i["change"]) for i in page["items"]])
        if page["next"] is None:
            break
        query["after"] = page["next"]
    assert [x for p in pages for x in p] == listed and len(pages) == 95
    ids = [{s["name"]: s["id"] for first in (0, 1000) for s in samples(admin, path, after=first, limit=1000)} for path in (old, new)]
    assert all((i["before"], i["after"]) == tuple(side.get(i["name"]) for side in ids) for i in whole["items"])
    only = admin.get(f"{new}/compare", **{"with": other, "change": "annotated", "limit": 1})
    assert [i["name"] for i in only["items"]] == ["00500.txt"] and only["added"] == 700
    rest = admin.get(f"{new}/compare", **{"with": other, "change": "annotated", "limit": 1, "after": only["next"]})
    assert [i["name"] for i in rest["items"]] == ["00998.txt"] and rest["next"] is None
    back = admin.get(f"{old}/compare", **{"with": int(new.rsplit("/", 1)[1])})
    assert [back[c] for c in ("added", "removed", "changed", "annotated")] == [150, 700, 3, 2]
    assert admin.get(f"{new}/compare", **{"with": int(new.rsplit("/", 1)[1])})["items"] == []
    problem = admin.get(f"{new}/compare", **{"with": other, "limit": 1001}, expect=422)
    assert "limit" in json.dumps(problem)


def test_parts_of_a_split_are_compared(admin, project, dataset):
    """A sample that only moved is a change of its own; of those that changed otherwise too, the parts are told."""
    def version(parts: dict[str, str | None], boxes: dict) -> str:
        path = f"datasets/{dataset['id']}/versions/" + str(admin.post(f"datasets/{dataset['id']}/versions", {})["id"])
        lines = [{"file": name, "split": part, "annotation": boxes.get(name, {})} for name, part in parts.items()]
        pictures = {name: png(9, 8, i) for i, name in enumerate(sorted(parts))}
        bring(admin, project, path, "a.zip", zipped({**pictures, "ingot.jsonl": "".join(json.dumps(x) + "\n" for x in lines).encode()}))
        return path
    old = version({"a.png": "train", "b.png": None, "c.png": "val", "d.png": "test"}, {})
    new = version({"a.png": "val", "b.png": "train", "c.png": "train", "d.png": "test"}, {"c.png": BOX})
    other = int(old.rsplit("/", 1)[1])
    found = admin.get(f"{new}/compare", **{"with": other})
    assert [(i["name"], i["change"], i["split_before"], i["split_after"]) for i in found["items"]] == [
        ("a.png", "split", "train", "val"), ("b.png", "split", None, "train"), ("c.png", "annotated", "val", "train")]
    assert [found[c] for c in ("added", "removed", "changed", "annotated", "split")] == [0, 0, 0, 1, 2]
    only = admin.get(f"{new}/compare", **{"with": other, "change": "split"})
    assert [i["name"] for i in only["items"]] == ["a.png", "b.png"]


def test_differences_from_a_name_on(admin, dataset, filled):
    """What a link to one difference asks for, wherever it stands."""
    new = f"datasets/{dataset['id']}/versions/" + str(admin.post(f"datasets/{dataset['id']}/versions", {})["id"])
    query = {"with": int(filled.rsplit("/", 1)[1]), "limit": 2}
    page = admin.get(f"{new}/compare", **query, **{"from": "images/005.png"})
    assert [i["name"] for i in page["items"]] == ["images/005.png", "images/006.png"]
    assert page["next"] == "images/006.png" and "removed" not in page
    assert [i["name"] for i in admin.get(f"{new}/compare", **query, **{"from": "images/011.png"})["items"]] == ["images/011.png"]
    problem = admin.get(f"{new}/compare", **query, **{"from": "a", "after": "b"}, expect=422)
    assert "from" in json.dumps(problem)


def test_published_versions_never_change(admin, project, filled):
    published = admin.post(f"{filled}/publish", expect=200)
    assert published["state"] == "published"
    assert len(published["digest"]) == 64
    sample = samples(admin, filled)[0]
    annotate(admin, filled, sample, {"annotation": {}}, expect=409)
    admin.post(f"{filled}/clean", {"ids": [sample["id"]]}, expect=409)
    admin.post(f"{filled}/publish", expect=409)
    admin.post(f"{filled}/import", {"uploads": [{"upload": upload(admin, project, b"x"), "name": "a.png"}]}, expect=409)


def test_equal_versions_have_equal_digests(admin, project, dataset):
    """Ids of shapes say nothing: digest, comparison and a second import look past them."""
    digests, made = set(), []
    for i in range(2):
        made.append(admin.post(f"datasets/{dataset['id']}/versions", {})["id"])
        version = f"datasets/{dataset['id']}/versions/{made[-1]}"
        archive = zipped({**PICTURES, "annotations/train.json": COCO})
        bring(admin, project, version, "coco.zip", archive)
        if i:
            sample = samples(admin, version)[0]
            shapes = [{**s, "id": f"n{k}"} for k, s in enumerate(sample["annotation"]["shapes"])]
            annotate(admin, version, sample, {"annotation": {"shapes": shapes}})
            bring(admin, project, version, "coco.zip", archive)
            assert [s["id"] for s in samples(admin, version)[0]["annotation"]["shapes"]] == ["n0", "n1"]
        digests.add(admin.post(f"{version}/publish", expect=200)["digest"])
    assert len(digests) == 1
    found = admin.get(f"{version}/compare", **{"with": made[0]})
    assert (found["items"], found["annotated"]) == ([], 0)


def ask_by_http2(server, token: str, paths: list[str]) -> list:
    wire = H2(server.url)
    for path in paths:
        wire.get(path, token)
    return [wire]


def ask_by_http1(server, token: str, paths: list[str]) -> list:
    at = httpx.URL(server.url)
    wires = [socket.create_connection((at.host, at.port), timeout=DEADLINE) for _ in paths]
    for wire, path in zip(wires, paths, strict=True):
        wire.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    return wires


def test_thumbnails_take_turns_and_end_with_their_client(server, admin, project, version, make_user):
    """A member asks for 60 of a large picture: another project's tiny ones do not wait for them, and they are not made
    when the member has left."""
    large = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 12000, 12000, 8, 0, 0, 0, 0))
             + chunk(b"IDAT", zlib.compress(bytes(12001 * 12000), 1)) + chunk(b"IEND", b""))
    bring(admin, project, version, "large.zip", zipped({"large.png": large}))
    [sample] = samples(admin, version)
    member = make_user(project)
    other = admin.post("projects", {"name": unique("other")})
    owner = make_user(other)
    tiny_set = owner.post("datasets", {"name": unique("set"), "project": other["id"], "annotation_type": "detection"})
    tiny_path = f"datasets/{tiny_set['id']}/versions"
    tiny_version = f"{tiny_path}/{owner.post(tiny_path, {})['id']}"
    bring(owner, other, tiny_version, "tiny.zip", zipped({"tiny.png": png(20, 10, 77)}))
    [tiny] = samples(owner, tiny_version)
    digest, count = hashlib.sha256(large).hexdigest(), 0

    def made() -> int:
        return len(list((Path(server.data) / "cache").rglob(f"{digest}.*.jpg")))
    for side, ask in ((100, ask_by_http2), (200, ask_by_http1)):
        count += 60
        paths = [f"/api/v1/{version}/samples/{sample['id']}/thumbnail?side={side + i}" for i in range(60)]
        wires = ask(server, member.token, paths)
        assert owner.call("GET", f"{tiny_version}/samples/{tiny['id']}/thumbnail", params={"side": side}).status_code == 200
        assert admin.get("health")["status"] == "ok"
        assert made() < count
        for wire in wires:
            wire.close()
        # Whatever of theirs still waits comes before this one.
        assert member.call("GET", f"{version}/samples/{sample['id']}/thumbnail", params={"side": side - 1}).status_code == 200
        assert made() < count


def test_bytes_and_thumbnails(admin, filled):
    sample = samples(admin, filled)[0]
    path = f"{filled}/samples/{sample['id']}"
    content = admin.call("GET", f"{path}/content")
    assert (content.content, content.headers["content-type"]) == (PICTURES["images/000.png"], "image/png")
    for _ in range(2):
        small = admin.call("GET", f"{path}/thumbnail", params={"side": 64})
        assert small.status_code == 200
        assert small.headers["content-type"] == "image/jpeg"
        assert small.content[:2] == b"\xff\xd8"
    assert admin.call("GET", f"{path}/thumbnail", params={"side": 5}).status_code == 422


def test_bad_archives(admin, project, version):
    def tar() -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as t:
            for name, data in (("../evil.png", png(2, 2)), ("/abs.png", png(2, 2, 1)), ("ok.png", png(4, 4))):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
            link = tarfile.TarInfo("link.png")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            t.addfile(link)
        return out.getvalue()
    task = bring(admin, project, version, "a.tar.gz", tar())
    assert [s["name"] for s in samples(admin, version)] == ["ok.png"]
    assert {line["file"] for line in report(admin, task)} == {"../evil.png", "/abs.png", "link.png"}
    bring(admin, project, version, "broken.zip", b"PK\x03\x04 this is no archive", state="failed")
    cut = zipped({f"{i}.png": png(30, 30, i) for i in range(20)})
    task = bring(admin, project, version, "cut.zip", cut[: len(cut) // 2])
    assert any("damaged" in line["reason"] or "early" in line["reason"] for line in report(admin, task))


def test_files_that_are_no_pictures(admin, project, version):
    task = bring(admin, project, version, "mixed.zip", zipped({
        "a.png": png(5, 5), "b.png": b"not a picture", "c.jpg": b"", "d.png": png(6, 6)[:40]}))
    assert "a.png" in [s["name"] for s in samples(admin, version)]
    assert {"b.png", "c.jpg"} <= {line["file"] for line in report(admin, task)}


def test_names_of_windows_zips(admin, project, version):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        info = zipfile.ZipInfo("xxxx.png")
        z.writestr(info, png(3, 3))
    raw = out.getvalue().replace(b"xxxx.png", "猫狗".encode("gbk") + b".png")
    bring(admin, project, version, "w.zip", raw)
    assert [s["name"] for s in samples(admin, version)] == ["猫狗.png"]


def test_deleting_gives_the_disk_back(admin, project, dataset, filled):
    assert admin.delete(f"datasets/{dataset['id']}", expect=409)["references"]
    admin.delete(filled)
    admin.delete(f"datasets/{dataset['id']}")


def test_types_must_fit(admin, project):
    problem = admin.post("datasets", {"name": unique("set"), "project": project["id"], "data_type": "text",
                                      "annotation_type": "detection"}, expect=422)
    assert problem["field"] == "annotation_type"
    admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": "odd"}, expect=422)


def test_rename_is_all_that_changes(admin, dataset):
    path = f"datasets/{dataset['id']}"
    renamed = admin.patch(path, {"name": unique("other")}, dataset["revision"])
    admin.patch(path, {"annotation_type": "ocr"}, renamed["revision"], expect=422)


def test_strangers_see_nothing(admin, filled, make_user):
    stranger = make_user()
    sample = samples(admin, filled)[0]
    for path in (filled, f"{filled}/samples", f"{filled}/samples/{sample['id']}", f"{filled}/samples/{sample['id']}/content"):
        assert stranger.call("GET", path).status_code == 404


def test_viewers_cannot_annotate(admin, project, filled, make_user):
    viewer = make_user(project, role="viewer")
    sample = samples(viewer, filled)[0]
    annotate(viewer, filled, sample, {"annotation": {}}, expect=403)


def test_two_imports_at_once(admin, project, version):
    tasks = [admin.post(f"{version}/import", {"uploads": [{"upload": upload(admin, project, zipped(
        {f"{k}/{i}.png": png(8, 8, i + 20 * k) for i in range(15)})), "name": "a.zip"}]}, expect=202) for k in range(3)]
    for task in tasks:
        finished(admin, task)
    assert admin.get(version)["samples"] == 45


def test_an_import_survives_kill(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    dataset = admin.post("datasets", {"name": "d", "project": project["id"]})
    made = admin.post(f"datasets/{dataset['id']}/versions", {})
    version = f"datasets/{dataset['id']}/versions/{made['id']}"
    data = zipped({f"{i:04}.png": png(16, 16, i) for i in range(1200)})
    task = admin.post(f"{version}/import", {"uploads": [{"upload": upload(admin, project, data), "name": "a.zip"}]}, expect=202)
    wait_for(lambda: admin.get(f"tasks/{task['id']}")["state"] != "waiting", "the start")
    server.kill()
    server.start()
    admin = server.admin()
    finished(admin, task)
    now = admin.get(version)
    assert (now["samples"], len(admin.get(f"{version}/samples", limit=1000)["items"])) == (1200, 1000)
