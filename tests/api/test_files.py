"""Algorithm and model sets: versions, files in and out, uploads with tus, archives, quota (A1, M1)."""

import io
import random
import zipfile
from pathlib import Path

import httpx
import pytest
from harness import unique, wait_for
from tusclient.client import TusClient

TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture(params=["algorithm-sets", "model-sets"])
def version(request, admin, project) -> str:
    """The path of an empty version."""
    made = admin.post(request.param, {"name": unique("set"), "project": project["id"], "scenario": "detection"})
    number = admin.post(f"{request.param}/{made['id']}/versions", {})
    assert (number["name"], number["files"], number["published"]) == ("v1", 0, False)
    return f"{request.param}/{made['id']}/versions/{number['id']}"


def put(api, version: str, path: str, data: bytes, expect: int = 200, **params):
    answer = api.call("PUT", f"{version}/content", params={"path": path, **params}, content=data)
    assert answer.status_code == expect, answer.text
    return answer.json()


def read(api, version: str, path: str, **headers):
    return api.call("GET", f"{version}/content", params={"path": path}, headers=headers)


def names(api, version: str, path: str = "") -> list[str]:
    return [i["name"] for i in api.call("GET", f"{version}/files", params={"path": path}).json()["items"]]


def test_files_in_and_out(admin, version):
    put(admin, version, "train.py", b"print(1)\n")
    put(admin, version, "src/模型.py", b"x = 1\n")
    after = put(admin, version, "run.sh", b"#!/bin/sh\n", executable="true")
    assert (after["files"], after["bytes"]) == (3, 25)
    assert names(admin, version) == ["src", "run.sh", "train.py"]
    assert names(admin, version, "src") == ["模型.py"]
    got = read(admin, version, "src/模型.py")
    assert got.content == b"x = 1\n"
    assert got.headers["content-type"].startswith("text/plain")
    assert "sandbox" in got.headers["content-security-policy"]
    assert read(admin, version, "train.py", **{"If-None-Match": read(admin, version, "train.py").headers["etag"]}).status_code == 304
    part = read(admin, version, "train.py", Range="bytes=6-6")
    assert (part.status_code, part.content, part.headers["content-range"]) == (206, b"1", "bytes 6-6/9")
    assert read(admin, version, "train.py", Range="bytes=-3").content == b"1)\n"
    assert read(admin, version, "train.py", Range="bytes=9-").status_code == 416


def test_an_archive_of_a_folder(admin, version):
    put(admin, version, "a/b.txt", b"b")
    put(admin, version, "c.bin", bytes(range(256)) * 5000)
    whole = zipfile.ZipFile(io.BytesIO(admin.call("GET", f"{version}/archive").content))
    assert sorted(whole.namelist()) == ["a/b.txt", "c.bin"]
    assert whole.testzip() is None
    assert whole.read("c.bin") == bytes(range(256)) * 5000
    part = zipfile.ZipFile(io.BytesIO(admin.call("GET", f"{version}/archive", params={"path": "a"}).content))
    assert part.namelist() == ["a/b.txt"]


def test_tus_goes_on_after_a_cut(server, admin, project, version, tmp_path):
    data = bytes(range(251)) * 20_000
    source = tmp_path / "weights.bin"
    source.write_bytes(data)
    client = TusClient(f"{server.url}/api/v1/uploads?project={project['id']}",
                       headers={"Authorization": f"Bearer {admin.token}"})
    first = client.uploader(str(source), chunk_size=1_000_000)
    first.upload_chunk()
    assert first.offset == 1_000_000
    again = client.uploader(str(source), chunk_size=700_000, url=first.url)
    assert again.get_offset() == 1_000_000
    again.upload()
    upload = first.url.rsplit("/", 1)[1]
    changed = admin.post(f"{version}/change", {"add": [{"path": "w/weights.bin", "upload": upload}]}, expect=200)
    assert (changed["files"], changed["bytes"]) == (1, len(data))
    assert read(admin, version, "w/weights.bin").content == data


def begin_upload(api, project: dict, length, expect: int = 201, **headers) -> str:
    answer = api.call("POST", "uploads", params={"project": project["id"]},
                      headers={**TUS, "Upload-Length": str(length), **headers})
    assert answer.status_code == expect, answer.text
    return answer.headers.get("location", "").removeprefix("/api/v1/")


def append(api, upload: str, offset: int, data: bytes, **headers):
    return api.call("PATCH", upload, content=data, headers={
        **TUS, "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream", **headers})


def test_tus_refuses_what_is_wrong(admin, project, make_user):
    upload = begin_upload(admin, project, 10)
    assert append(admin, upload, 3, b"abc").status_code == 409
    assert append(admin, upload, 0, b"x" * 11).status_code == 413
    assert append(admin, upload, 0, b"abc", **{"Content-Type": "text/plain"}).status_code == 415
    assert append(admin, upload, 0, b"abc", **{"Tus-Resumable": "0.2.2"}).status_code == 412
    state = admin.call("HEAD", upload, headers=TUS)
    assert state.headers["upload-offset"] in ("0", "10")
    other = make_user(project)
    assert other.call("HEAD", upload, headers=TUS).status_code == 404
    assert append(other, upload, 0, b"abc").status_code == 404
    for length in ("-1", "x", ""):
        begin_upload(admin, project, length, expect=400)
    begin_upload(admin, project, 2**41, expect=413)
    assert admin.call("DELETE", upload, headers=TUS).status_code == 204
    assert admin.call("HEAD", upload, headers=TUS).status_code == 404
    assert admin.call("HEAD", "uploads/../x", headers=TUS).status_code in (400, 404)
    stranger = make_user()
    begin_upload(stranger, project, 5, expect=404)
    begin_upload(make_user(project, role="viewer"), project, 5, expect=403)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "a\\b", "a\x01", "a" * 1025])
def test_paths_that_leave_the_folder(admin, version, path):
    problem = put(admin, version, path, b"x", expect=422)
    assert problem["field"] == "path"
    assert admin.get(version)["files"] == 0


def test_a_file_is_not_a_folder(admin, version):
    put(admin, version, "a", b"x")
    assert put(admin, version, "a/b", b"x", expect=422)["field"] == "path"


def test_changes_in_one_step(admin, version, project):
    for name in ("a/1", "a/2", "b"):
        put(admin, version, name, name.encode())
    admin.post(f"{version}/change", {"remove": ["b"], "move": [{"from": "a", "to": "c/d"}]}, expect=200)
    assert names(admin, version, "c/d") == ["1", "2"]
    admin.post(f"{version}/change", {"remove": ["nothing"]}, expect=404)
    admin.post(f"{version}/change", {}, expect=422)
    admin.post(f"{version}/change", {"add": [{"path": "x", "upload": "0" * 32}]}, expect=404)
    assert names(admin, version) == ["c"]


def test_new_versions_take_over_files_and_compare(admin, version):
    put(admin, version, "same", b"1")
    put(admin, version, "changed", b"1")
    put(admin, version, "removed", b"1")
    old = admin.get(version)
    versions = version.rsplit("/", 1)[0]
    new = admin.post(versions, {"from": old["id"]})
    assert (new["name"], new["files"], new["digest"]) == ("v2", 3, old["digest"])
    path = f"{versions}/{new['id']}"
    put(admin, path, "changed", b"22")
    put(admin, path, "added", b"1")
    admin.post(f"{path}/change", {"remove": ["removed"]}, expect=200)
    changes = admin.get(f"{path}/compare", **{"with": old["id"]})["items"]
    assert [(c["path"], c["change"]) for c in changes] == [
        ("added", "added"), ("changed", "changed"), ("removed", "removed")]
    assert read(admin, version, "changed").content == b"1"


def test_published_versions_never_change(admin, version):
    assert admin.post(f"{version}/publish", expect=409)["field"] == "files"
    put(admin, version, "a", b"x")
    assert admin.post(f"{version}/publish", expect=200)["published"] is True
    admin.post(f"{version}/publish", expect=409)
    put(admin, version, "a", b"y", expect=409)
    admin.post(f"{version}/change", {"remove": ["a"]}, expect=409)
    assert read(admin, version, "a").content == b"x"


def test_sets_are_deleted_when_they_have_no_version(admin, version):
    parent = version.split("/versions/")[0]
    assert admin.delete(parent, expect=409)["references"]
    admin.delete(version)
    admin.delete(parent)


def test_only_the_description_changes(admin, version):
    parent = version.split("/versions/")[0]
    made = admin.get(parent)
    assert admin.patch(parent, {"description": "better"}, made["revision"])["description"] == "better"
    assert admin.patch(parent, {"name": "other"}, made["revision"] + 1, expect=422)["field"] == "name"


def test_the_quota_is_kept(admin, project, version):
    now = admin.get(f"projects/{project['id']}")
    admin.patch(f"projects/{project['id']}", {"quota": {"storage": 1000}}, now["revision"])
    put(admin, version, "a", b"x" * 500)
    problem = put(admin, version, "b", b"y" * 600, expect=507)
    assert (problem["code"], problem["field"]) == ("quota", "storage")
    begin_upload(admin, project, 600, expect=507)
    assert names(admin, version) == ["a"]


def test_other_projects_see_nothing_but_public_ones(admin, project, make_user):
    other = admin.post("projects", {"name": unique("project")})
    stranger = make_user(other)
    for public, expect in ((False, 404), (True, 200)):
        made = admin.post("algorithm-sets", {"name": unique("set"), "project": project["id"], "public": public})
        version = f"algorithm-sets/{made['id']}/versions/" + str(admin.post(f"algorithm-sets/{made['id']}/versions", {})["id"])
        put(admin, version, "a.py", b"1")
        assert stranger.call("GET", f"algorithm-sets/{made['id']}").status_code == expect
        assert read(stranger, version, "a.py").status_code == expect
        answer = stranger.call("PUT", f"{version}/content", params={"path": "b"}, content=b"2")
        assert answer.status_code in (403, 404)


def test_viewers_read_only(admin, project, make_user, version):
    put(admin, version, "a", b"x")
    viewer = make_user(project, role="viewer")
    assert read(viewer, version, "a").content == b"x"
    put(viewer, version, "b", b"y", expect=403)


def test_two_writers_lose_nothing(admin, version):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: put(admin, version, f"f{i}", str(i).encode()), range(24)))
    assert admin.get(version)["files"] == 24


def test_files_survive_kill(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    made = admin.post("model-sets", {"name": "m", "project": project["id"]})
    version = f"model-sets/{made['id']}/versions/" + str(admin.post(f"model-sets/{made['id']}/versions", {})["id"])
    put(admin, version, "a", b"kept")
    upload = begin_upload(admin, project, 8)
    assert append(admin, upload, 0, b"1234").status_code == 204
    server.kill()
    server.start()
    admin = server.admin()
    assert read(admin, version, "a").content == b"kept"
    assert admin.call("HEAD", upload, headers=TUS).headers["upload-offset"] == "4"
    assert append(admin, upload, 4, b"5678").status_code == 204
    admin.post(f"{version}/change", {"add": [{"path": "b", "upload": upload.rsplit("/", 1)[1]}]}, expect=200)
    assert read(admin, version, "b").content == b"12345678"


def is_open(answer) -> bool:
    """The server still has its side of the connection."""
    stream = answer.extensions["network_stream"]
    far, near = (stream.get_extra_info(f"{side}_addr")[1] for side in ("server", "client"))
    lines = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(line[1].endswith(f":{far:04X}") and line[2].endswith(f":{near:04X}") and line[3] == "01" for line in lines)


@pytest.mark.parametrize("what", ["content", "archive"])
def test_a_download_ends_with_the_membership(admin, project, make_user, server, what):
    made = admin.post("model-sets", {"name": unique("set"), "project": project["id"], "scenario": "detection"})
    path = f"model-sets/{made['id']}/versions"
    version = f"{path}/{admin.post(path, {})['id']}"
    put(admin, version, "large.bin", random.Random(1).randbytes(32 << 20))
    reader = make_user(project)
    member = next(m for m in admin.all(f"projects/{project['id']}/members") if (m["user"] or {}).get("id") == reader.user["id"])
    with reader.http.stream("GET", f"{version}/{what}", params={"path": "large.bin"} if what == "content" else {}) as answer:
        pieces = answer.iter_raw(1000)
        next(pieces)
        assert is_open(answer)
        admin.delete(f"projects/{project['id']}/members/{member['id']}")
        wait_for(lambda: not is_open(answer), "the end of the download")
        with pytest.raises(httpx.RemoteProtocolError):
            for _ in pieces:
                pass
    assert reader.call("GET", f"{version}/files").status_code == 404
