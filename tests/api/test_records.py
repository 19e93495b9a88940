"""Looking into the record files of a version (D19)."""

import os
import random
from pathlib import Path

import pytest
from harness import problem
from test_datasets import bring, dataset, finished, png, version, zipped  # noqa: F401


@pytest.fixture
def written(admin, project, version):
    """A version of 40 pictures in several record files; its files."""
    noise = random.Random(1)
    pictures = {f"{i:02}.png": png(8, 8, i) + noise.randbytes(4096) for i in range(40)}
    bring(admin, project, version, "x.zip", zipped(pictures))
    finished(admin, admin.post(f"{version}/write-records", {"shard_bytes": 65536}, expect=202))
    files = admin.get(version)["records"]
    assert len(files) > 1
    return pictures, files


def test_every_record_of_every_file(admin, version, written):
    pictures, files = written
    seen, first = {}, 0
    for file in files:
        path = f"{version}/records/{file['name']}"
        page = admin.get(f"{path}/items", limit=100)
        assert (page["first"], page["bytes"], page["key"]) == (first, file["size"], "name")
        assert [(f["name"], f["type"]) for f in page["fields"]] == [
            ("name", "utf8"), ("width", "int64"), ("height", "int64"), ("annotation", "json"), ("data", "bytes")]
        assert page["records"] == len(page["items"])
        for item in page["items"]:
            name, width, height, annotation, data = item["values"]
            assert (data["type"], annotation, width, height) == ("image/png", {}, 8, 8)
            value = admin.call("GET", f"{path}/value", params={"record": item["record"], "field": "data"})
            assert value.headers["content-type"] == "image/png" and "sandbox" in value.headers["content-security-policy"]
            assert len(value.content) == data["bytes"]
            seen[name] = value.content
        first += page["records"]
        assert admin.call("POST", f"{path}/verify").json() == {"faults": [], "count": 0, "sound": True, "bytes": file["size"]}
    assert seen == pictures


def test_pages(admin, version, written):
    path = f"{version}/records/{written[1][0]['name']}"
    whole = admin.get(f"{path}/items", limit=100)
    n = whole["records"]
    assert admin.get(f"{path}/items", **{"from": n - 2, "limit": 5})["items"] == whole["items"][-2:]
    assert admin.get(f"{path}/items", **{"from": n})["items"] == []


@pytest.mark.parametrize("path, params, status, field", [
    ("items", {"limit": 0}, 422, "limit"), ("items", {"limit": 101}, 422, "limit"), ("items", {"from": -1}, 422, "from"),
    ("value", {"record": 10**9, "field": "data"}, 422, "record"), ("value", {"field": "odd"}, 422, "field"),
    ("value", {}, 422, "field")])
def test_wrong_questions(admin, version, written, path, params, status, field):
    problem(admin.call("GET", f"{version}/records/{written[1][0]['name']}/{path}", params=params), status, "invalid", field)


def test_damage_is_found(admin, server, version, written):
    file = written[1][0]
    path = f"{version}/records/{file['name']}"
    [blob] = [os.path.join(folder, file["digest"]) for folder, _, names in os.walk(server.data) if file["digest"] in names]
    os.chmod(blob, 0o600)
    sound = Path(blob).read_bytes()
    with open(blob, "r+b") as out:
        out.seek(file["size"] // 2)
        byte = out.read(1)
        out.seek(file["size"] // 2)
        out.write(bytes([byte[0] ^ 1]))
    verdict = admin.call("POST", f"{path}/verify").json()
    assert not verdict["sound"] and verdict["count"] == len(verdict["faults"]) >= 1
    assert isinstance(verdict["faults"][0]["record"], int)
    with open(blob, "r+b") as out:
        out.write(b"nothing of the kind")
    problem(admin.call("GET", f"{path}/items"), 409, "conflict", says="damaged")
    assert not admin.call("POST", f"{path}/verify").json()["sound"]
    # Other tests back this server up.
    Path(blob).write_bytes(sound)
    assert admin.call("POST", f"{path}/verify").json()["sound"]


def test_others_do_not_see_them(make_user, version, written):
    stranger = make_user()
    for path in ("items", "value"):
        problem(stranger.call("GET", f"{version}/records/{written[1][0]['name']}/{path}"), 404, "not_found")
    problem(stranger.call("POST", f"{version}/records/{written[1][0]['name']}/verify"), 404, "not_found")
