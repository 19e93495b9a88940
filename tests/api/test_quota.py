"""The storage of a project: never more than it may, however many write at once, and what is removed counts at once."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness import ADMIN_PASSWORD, Api, problem, unique, wait_for
from oci import CONFIG, LAYER, MANIFEST, Registry, descriptor, digest
from test_datasets import upload
from test_files import append, begin_upload, names, put
from test_operations import CLIENT, Work, box, states
from test_operations import put as box_put

MB = 1_000_000
LIMIT, SIZE, MANY = 10 * MB, 2 * MB, 12
FIT = LIMIT // SIZE - 1  # manifests take a little, too


@pytest.fixture
def small(admin) -> dict:
    """A project that may store 10 MB."""
    return admin.post("projects", {"name": unique("small"), "quota": {"storage": LIMIT}})


def used(api, project: dict) -> int:
    return api.get(f"projects/{project['id']}/overview")["use"]["storage"]


def at_once(server, admin, work) -> list:
    """work(client, i) for 12 clients at the same time."""
    def one(i: int):
        with Api(server.url, admin.token) as api:
            return work(api, i)
    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(one, range(MANY)))


def code_version(admin, project: dict) -> str:
    made = admin.post("algorithm-sets", {"name": unique("code"), "project": project["id"]})
    return f"algorithm-sets/{made['id']}/versions/" + str(admin.post(f"algorithm-sets/{made['id']}/versions", {})["id"])


def test_files_at_once(server, admin, small):
    version = code_version(admin, small)
    answers = at_once(server, admin, lambda api, i: api.call("PUT", f"{version}/content", params={"path": f"f{i}"},
                                                             content=os.urandom(SIZE)).status_code)
    kept = names(admin, version)
    assert set(answers) == {200, 507} and answers.count(200) == len(kept) == FIT
    assert FIT * SIZE <= used(admin, small) <= LIMIT
    # A full project: one file goes, and the next one finds its room; a file in the place of another, too.
    put(admin, version, "more", os.urandom(SIZE), expect=507)
    admin.post(f"{version}/change", {"remove": [kept[0]]}, expect=200)
    assert used(admin, small) < FIT * SIZE
    put(admin, version, "more", os.urandom(SIZE))
    admin.post(f"{version}/change", {"remove": [kept[1]]}, expect=200)
    put(admin, version, "more", os.urandom(SIZE))
    admin.delete(version)
    assert used(admin, small) == 0


def test_uploads_at_once(server, admin, small):
    def send(api, i: int) -> str | None:
        made = api.call("POST", "uploads", params={"project": small["id"]},
                        headers={"Tus-Resumable": "1.0.0", "Upload-Length": str(SIZE)})
        if made.status_code == 507:
            return None
        at = made.headers["location"].removeprefix("/api/v1/")
        assert append(api, at, 0, os.urandom(SIZE)).status_code == 204
        return at
    sent = [at for at in at_once(server, admin, send) if at]
    assert len(sent) == FIT + 1
    begin_upload(admin, small, SIZE, expect=507)
    assert admin.call("DELETE", sent[0], headers={"Tus-Resumable": "1.0.0"}).status_code == 204
    begin_upload(admin, small, SIZE)
    # What was made of an upload counts by itself.
    version = code_version(admin, small)
    admin.post(f"{version}/change", {"add": [{"path": "a", "upload": sent[1].rsplit("/", 1)[1]}]}, expect=200)
    assert SIZE <= used(admin, small) < SIZE + 1000


def test_imports_at_once(server, admin):
    project = admin.post("projects", {"name": unique("small")})
    uploads = at_once(server, admin, lambda api, i: upload(api, project, os.urandom(SIZE // 2).hex().encode()))
    admin.patch(f"projects/{project['id']}", {"quota": {"storage": LIMIT}}, project["revision"])
    made = admin.post("datasets", {"name": unique("set"), "project": project["id"], "data_type": "text", "annotation_type": "text-class"})
    versions = [f"datasets/{made['id']}/versions/" + str(admin.post(f"datasets/{made['id']}/versions", {})["id"]) for _ in uploads]
    tasks = at_once(server, admin, lambda api, i: api.post(
        f"{versions[i]}/import", {"uploads": [{"upload": uploads[i], "name": f"{i}.txt"}]}, expect=202))
    ends = [wait_for(lambda task=task: (t := admin.get(f"tasks/{task['id']}"))["state"] not in ("waiting", "running") and t, "the end")
            for task in tasks]
    done = [i for i, end in enumerate(ends) if end["state"] == "done"]
    assert FIT <= len(done) <= FIT + 1, ends
    assert all("may store" in end["message"] for end in ends if end["state"] == "failed")
    assert used(admin, project) <= LIMIT
    admin.delete(versions[done[0]])
    wait_for(lambda: used(admin, project) <= LIMIT - SIZE, "the samples of a deleted version")


def test_blobs_of_images_at_once(server, admin, small):
    repository = f"{small['name']}/tool"
    layers = [os.urandom(SIZE + 1000) for _ in range(MANY)]

    def push(api, i: int) -> int:
        with Registry(server.url, auth=("admin", ADMIN_PASSWORD)).http as http:
            return http.post(f"/v2/{repository}/blobs/uploads/", params={"digest": digest(layers[i])}, content=layers[i]).status_code
    answers = at_once(server, admin, push)
    kept = [layer for layer, answer in zip(layers, answers, strict=True) if answer == 201]
    assert set(answers) == {201, 403} and len(kept) == FIT
    assert used(admin, small) == sum(map(len, kept))
    # They become an image, which is deleted: its bytes are there again.
    registry, config = Registry(server.url, auth=("admin", ADMIN_PASSWORD)), b"{}"
    registry.blob(repository, config)
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(config, CONFIG),
                           "layers": [descriptor(layer, LAYER) for layer in kept]}).encode()
    registry.put(repository, manifest, "v1")
    registry.put(repository, manifest, "v2")
    assert LIMIT >= used(admin, small) > sum(map(len, kept))
    registry.call("DELETE", f"{repository}/manifests/{digest(manifest)}", 202)
    assert used(admin, small) == 0


def test_strokes_of_a_full_project(admin, project):
    """What adds something is refused with a sentence, for the browser to keep and send again; what removes something goes."""
    work = Work(admin, project)
    sent = [box_put(n, box(f"s{n}")) for n in range(1, 4)]
    assert states(work.send(sent[0])) == ["applied"]

    def limit(size: int) -> None:
        now = admin.get(f"projects/{project['id']}")
        admin.patch(f"projects/{project['id']}", {"quota": {"storage": size}}, now["revision"])
    limit(used(admin, project))
    refused = work.send(sent[1], sent[0], {"id": f"{CLIENT}.9", "op": "remove", "shape": "s1"}, sent[2])
    assert states(refused) == ["refused", "already", "applied", "refused"]
    assert refused[0]["problem"]["code"] == "quota" and "may store" in refused[0]["problem"]["message"] and "项目" in refused[0]["problem"]["message_zh"]
    now = work.sample()
    assert now["annotation"] == {} and now["revision"] == 3
    answer = admin.call("PUT", f"{work.path}/samples/{work.first}/annotation", json={"annotation": {"shapes": [box("s1")]}}, headers={"If-Match": '"3"'})
    problem(answer, 507, "quota", says="may store")
    limit(LIMIT)
    assert states(work.send(*sent[1:])) == ["applied"] * 2  # the same ones: nothing was written of the refusal
    assert [shape["id"] for shape in work.sample()["annotation"]["shapes"]] == ["s2", "s3"]
