"""The registry against the text of OCI distribution 1.1: what test_registry.py has not, in the order of its chapters."""

import json
import os

import pytest
from harness import unique
from oci import CONFIG, INDEX, LAYER, MANIFEST, Image, descriptor, digest, small, tar
from test_registry import registry, repository  # noqa: F401  (fixtures)

EMPTY = b"{}"


def begin(registry, repository) -> str:
    return registry.call("POST", f"{repository}/blobs/uploads/", 202, headers={"Content-Length": "0"}).headers["location"][4:]


# --- pull ---

def test_the_end_of_the_root_path(registry):
    for path in ("", "/"):
        assert registry.http.get("/v2" + path).status_code == 200
    answer = registry.http.get("/v2/")
    assert answer.headers["docker-distribution-api-version"] == "registry/2.0"


def test_head_is_get_without_a_body(registry, repository):
    image = small(unique())
    registry.push(repository, image, "v1")
    for path in (f"manifests/v1", f"manifests/{image.digest}", f"blobs/{digest(image.layers[0])}"):
        got, head = (registry.call(method, f"{repository}/{path}", 200) for method in ("GET", "HEAD"))
        assert head.content == b"" and int(head.headers["content-length"]) == len(got.content)
        for name in ("content-type", "docker-content-digest"):
            assert got.headers[name] == head.headers[name], path
        assert got.headers["docker-content-digest"] == digest(got.content)
    for path in ("manifests/none", f"manifests/{digest(b'none')}", f"blobs/{digest(b'none')}"):
        assert registry.call("HEAD", f"{repository}/{path}", 404).content == b""


@pytest.mark.parametrize("asked, status, part", [
    ("bytes=0-0", 206, slice(0, 1)), ("bytes=5-", 206, slice(5, None)), ("bytes=-5", 206, slice(-5, None)),
    ("bytes=0-999999", 206, slice(0, None)), ("bytes=999999-", 416, None), ("bytes=-0", 416, None),
    ("bytes=5-2", 200, slice(None)), ("bytes=a-b", 200, slice(None)), ("lines=1-2", 200, slice(None))])
def test_parts_of_blobs(registry, repository, asked, status, part):
    data = bytes(range(100))
    registry.push(repository, Image([tar([("a", data)])]), "v1")
    registry.blob(repository, data)
    answer = registry.call("GET", f"{repository}/blobs/{digest(data)}", status, headers={"Range": asked})
    if part is not None:
        assert answer.content == data[part]
    if status == 206:
        first = range(100)[part][0]
        assert answer.headers["content-range"] == f"bytes {first}-{first + len(answer.content) - 1}/100"
    elif status == 416:
        assert answer.headers["content-range"] == "bytes */100"


# --- push ---

def test_an_upload_without_bytes_yet(registry, repository):
    at = begin(registry, repository)
    assert registry.call("GET", at, 204).headers["range"] == "0-0"
    assert registry.call("GET", at, 204).headers["location"].endswith(at)


def test_pieces_follow_the_address_that_each_answer_gives(registry, repository):
    """As the specification has it: no client may build the address itself."""
    data = os.urandom(50_000)
    at, sent = begin(registry, repository), 0
    for size in (20_000, 1, 19_999):
        answer = registry.call("PATCH", at, 202, content=data[sent:sent + size], headers={
            "Content-Type": "application/octet-stream", "Content-Range": f"{sent}-{sent + size - 1}"})
        sent += size
        assert answer.headers["range"] == f"0-{sent - 1}"
        at = answer.headers["location"][4:]
    registry.refused("PUT", at, 416, "BLOB_UPLOAD_INVALID", params={"digest": digest(data)}, content=data[sent:],
                     headers={"Content-Range": f"{sent + 1}-{len(data)}"})
    done = registry.call("PUT", at, 201, params={"digest": digest(data)}, content=data[sent:],
                         headers={"Content-Range": f"{sent}-{len(data) - 1}"})
    assert registry.call("GET", done.headers["location"][4:], 200).content == data


@pytest.mark.parametrize("text", ["5-1", "-", "0", "0-", "-5", "0-99999999999999999999", "a-b", "0-9/10", "bytes 0-9/10"])
def test_wrong_content_ranges(registry, repository, text):
    at = begin(registry, repository)
    answer = registry.call("PATCH", at, content=b"0123456789", headers={"Content-Range": text})
    assert answer.status_code in (400, 416) and answer.json()["errors"][0]["code"] in ("BLOB_UPLOAD_INVALID", "SIZE_INVALID"), answer.text
    assert registry.call("GET", at, 204).headers["range"] == "0-0"
    registry.call("DELETE", at, 204)


def test_a_mount_without_a_source(registry, repository, project):
    """Content that the registry would find by itself, or an upload that begins: both are right, an error is not."""
    image = small(unique())
    registry.push(repository, image)
    answer = registry.call("POST", f"{project['name']}/else/blobs/uploads/", params={"mount": digest(image.layers[0])})
    assert answer.status_code in (201, 202) and "location" in answer.headers


def test_other_digests(registry, repository):
    """sha512 may be used by clients; what is not kept under it is refused, not taken under another name."""
    at = begin(registry, repository)
    registry.call("PATCH", at, 202, content=b"x")
    registry.refused("PUT", at, 400, "DIGEST_INVALID", params={"digest": "sha512:" + "0" * 128})


# --- manifests, indexes, what refers to them ---

def note(registry, repository, subject: bytes, kind: str = MANIFEST, **fields) -> bytes:
    """A manifest about another one."""
    registry.blob(repository, EMPTY)
    text = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(EMPTY, "application/vnd.example.note"),
                       "layers": [descriptor(EMPTY, "application/vnd.oci.empty.v1+json")], "subject": descriptor(subject, kind), **fields}).encode()
    answer = registry.put(repository, text, digest(text))
    assert answer.headers["oci-subject"] == digest(subject)
    assert registry.call("GET", answer.headers["location"][4:], 200).content == text
    return text


def referrers(registry, repository, subject: bytes, **params) -> dict[str, dict]:
    answer = registry.call("GET", f"{repository}/referrers/{digest(subject)}", 200, params=params)
    assert answer.headers["content-type"] == INDEX and answer.json()["schemaVersion"] == 2 and answer.json()["mediaType"] == INDEX
    return {one["digest"]: one for one in answer.json()["manifests"]}


def test_referrers_before_and_after_their_subject(registry, repository):
    image = small(unique())
    early = note(registry, repository, image.manifest, annotations={"when": "early"})
    assert list(referrers(registry, repository, image.manifest)) == [digest(early)]
    registry.push(repository, image, "v1")
    typed = note(registry, repository, image.manifest, artifactType="application/vnd.example.sbom")
    found = referrers(registry, repository, image.manifest)
    assert set(found) == {digest(early), digest(typed)}
    one, other = found[digest(early)], found[digest(typed)]
    assert one == {**descriptor(early, MANIFEST), "artifactType": "application/vnd.example.note", "annotations": {"when": "early"}}
    assert other == {**descriptor(typed, MANIFEST), "artifactType": "application/vnd.example.sbom"}
    assert set(referrers(registry, repository, image.manifest, artifactType="application/vnd.example.sbom")) == {digest(typed)}
    registry.call("DELETE", f"{repository}/manifests/{digest(typed)}", 202)
    assert set(referrers(registry, repository, image.manifest)) == {digest(early)}


def test_an_index_refers_too(registry, repository):
    image = small(unique())
    registry.push(repository, image, "v1")
    text = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "artifactType": "application/vnd.example.set",
                       "manifests": [descriptor(image.manifest, MANIFEST)], "subject": descriptor(image.manifest, MANIFEST)}).encode()
    registry.put(repository, text, "about", INDEX)
    assert referrers(registry, repository, image.manifest) == {
        digest(text): {**descriptor(text, INDEX), "artifactType": "application/vnd.example.set"}}


def test_referrers_stay_in_their_repository(registry, repository):
    image = small(unique())
    registry.push(repository, image, "v1")
    registry.push(repository + "-too", image, "v1")
    note(registry, repository, image.manifest)
    assert referrers(registry, repository + "-too", image.manifest) == {}


def test_artefacts_and_empty_indexes(registry, repository):
    """What tools for charts, signatures and models push."""
    registry.blob(repository, EMPTY)
    artefact = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.example.model",
                           "config": descriptor(EMPTY, "application/vnd.oci.empty.v1+json"),
                           "layers": [descriptor(EMPTY, "application/vnd.oci.empty.v1+json")]}).encode()
    registry.put(repository, artefact, "model")
    assert registry.call("GET", f"{repository}/manifests/model", 200).content == artefact


def test_the_type_that_is_sent_and_the_one_that_is_said(registry, repository):
    image = small(unique())
    for data in image.blobs:
        registry.blob(repository, data)
    answer = registry.put(repository, image.manifest, "v1", INDEX, expect=400)
    assert answer.json()["errors"][0]["code"] == "MANIFEST_INVALID"
    docker = json.loads(image.manifest)
    docker["mediaType"] = "application/vnd.docker.distribution.manifest.v2+json"
    docker["config"]["mediaType"] = "application/vnd.docker.container.image.v1+json"
    text = json.dumps(docker).encode()
    registry.put(repository, text, "v2", docker["mediaType"])
    assert registry.call("GET", f"{repository}/manifests/v2", 200, headers={"Accept": MANIFEST}).headers["content-type"] == docker["mediaType"]


# --- lists ---

def test_pages_of_tags_to_their_end(registry, repository):
    image = small(unique())
    names = sorted([f"v{i}" for i in range(7)] + ["latest", "V1", "1.0", "_x"])
    for name in names:
        registry.push(repository, image, name)
    seen, at = [], f"{repository}/tags/list?n=3"
    while at:
        page = registry.call("GET", at, 200)
        assert page.json()["name"] == repository and len(page.json()["tags"]) <= 3
        seen += page.json()["tags"]
        link = page.headers.get("link")
        at = link and link.split(">")[0].removeprefix("</v2/")
        assert not link or link.endswith('; rel="next"')
    assert seen == names
    assert registry.tags(repository, last="zzz") == [] and registry.tags(repository, last="v3") == ["v4", "v5", "v6"]


# --- deletes ---

def test_deleting_what_is_gone(registry, repository):
    image = small(unique())
    registry.push(repository, image, "v1")
    registry.call("DELETE", f"{repository}/manifests/{image.digest}", 202)
    for path in (f"manifests/{image.digest}", "manifests/v1"):
        registry.refused("DELETE", f"{repository}/{path}", 404, "MANIFEST_UNKNOWN")
    registry.refused("DELETE", f"{repository}/blobs/{digest(b'none')}", 404, "BLOB_UNKNOWN")


def test_many_layers_and_the_same_one_twice(registry, repository):
    layer = tar([("a", unique().encode())])
    image = Image([layer, layer])
    registry.push(repository, image, "v1")
    config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}).encode()
    registry.blob(repository, config)
    many = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(config, CONFIG),
                       "layers": [descriptor(image.layers[0], LAYER)] * 1000}).encode()
    registry.put(repository, many, "many")
    assert registry.call("GET", f"{repository}/manifests/many", 200).content == many
