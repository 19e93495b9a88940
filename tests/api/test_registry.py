"""The registry's protocol: pushes in every way, pulls, mounts, deletes, lists, tokens, rights, bad input (K5)."""

import http.client
import json

import pytest
from harness import ADMIN_PASSWORD, DEADLINE, unique
from oci import CONFIG, INDEX, LAYER, MANIFEST, Image, Registry, descriptor, digest, small, tar

PASSWORD = "pass-word-1"


@pytest.fixture(scope="session")
def registry(server) -> Registry:
    return Registry(server.url, ("admin", ADMIN_PASSWORD))


@pytest.fixture
def repository(project) -> str:
    return f"{project['name']}/{unique('tool')}"


def of(server, api) -> Registry:
    return Registry(server.url, (api.user["name"], PASSWORD))


def image_of(admin, project, repository) -> dict:
    name = repository.split("/", 1)[1]
    return admin.get("images", project=project["id"], filter=f'name = "{name}"')["items"][0]


# --- pushing and pulling ---

def test_push_in_one_request_and_pull(admin, project, registry, repository):
    image = small()
    registry.push(repository, image, "v1")
    got = registry.call("GET", f"{repository}/manifests/v1", 200)
    assert got.content == image.manifest and got.headers["content-type"] == MANIFEST
    assert got.headers["docker-content-digest"] == image.digest
    assert registry.call("GET", f"{repository}/manifests/{image.digest}", 200).content == image.manifest
    head = registry.call("HEAD", f"{repository}/manifests/v1", 200)
    assert head.headers["content-length"] == str(len(image.manifest)) and not head.content
    layer = image.layers[0]
    assert registry.call("GET", f"{repository}/blobs/{digest(layer)}", 200).content == layer
    part = registry.call("GET", f"{repository}/blobs/{digest(layer)}", 206, headers={"Range": "bytes=3-9"})
    assert part.content == layer[3:10]
    assert registry.call("HEAD", f"{repository}/blobs/{digest(layer)}", 200).headers["content-length"] == str(len(layer))
    made = image_of(admin, project, repository)
    assert (made["versions"], made["repository"], made["public"]) == (1, repository, False)
    version = admin.get(f"images/{made['id']}/versions")["items"][0]
    assert (version["name"], version["digest"], version["arch"], version["layers"]) == ("v1", image.digest, "amd64", 1)
    assert version["size"] == len(image.config) + len(layer)


def begin(registry, repository) -> str:
    answer = registry.call("POST", f"{repository}/blobs/uploads/", 202)
    assert answer.headers["location"].startswith(f"/v2/{repository}/blobs/uploads/")
    return answer.headers["location"][4:]


def test_push_in_pieces_and_go_on(registry, repository):
    data = bytes(range(256)) * 40
    at = begin(registry, repository)
    first = registry.call("PATCH", at, 202, content=data[:3000], headers={"Content-Range": "0-2999"})
    assert first.headers["range"] == "0-2999"
    registry.refused("PATCH", at, 416, "BLOB_UPLOAD_INVALID", content=data[:10], headers={"Content-Range": "0-9"})
    registry.refused("PATCH", at, 416, "BLOB_UPLOAD_INVALID", content=data[:10], headers={"Content-Range": "4000-4009"})
    registry.refused("PATCH", at, 416, "BLOB_UPLOAD_INVALID", content=data[:10], headers={"Content-Range": "nonsense"})
    registry.refused("PATCH", at, 416, "BLOB_UPLOAD_INVALID", content=data[:10], headers={"Content-Range": "3009-3000"})
    registry.refused("PATCH", at, 400, "SIZE_INVALID", content=data[:10], headers={"Content-Range": "3000-3099"})
    assert registry.call("GET", at, 204).headers["range"] == "0-2999"
    registry.call("PATCH", at, 202, content=data[3000:9000], headers={"Content-Range": "3000-8999"})
    done = registry.call("PUT", at, 201, params={"digest": digest(data)}, content=data[9000:])
    assert done.headers["docker-content-digest"] == digest(data)
    assert registry.call("HEAD", done.headers["location"][4:], 200).headers["content-length"] == str(len(data))
    registry.refused("GET", f"{repository}/blobs/{digest(b'else')}", 404, "NAME_UNKNOWN")
    registry.refused("GET", at, 404, "BLOB_UPLOAD_UNKNOWN")
    image = Image([tar([("a", b"b")])])
    registry.push(repository, image)
    assert registry.call("GET", f"{repository}/blobs/{digest(data)}", 200).content == data


def test_push_as_a_stream(registry, repository):
    data = b"streamed" * 5000
    at = begin(registry, repository)
    registry.call("PATCH", at, 202, content=(data[i:i + 1000] for i in range(0, len(data), 1000)))
    registry.call("PUT", at, 201, params={"digest": digest(data)})


def test_wrong_digests(registry, repository):
    at = begin(registry, repository)
    registry.call("PATCH", at, 202, content=b"some bytes")
    for bad in ("sha256:abc", "sha256:" + "A" * 64, "sha256:" + "g" * 64, "md5:" + "0" * 32, "0" * 64, "sha256:" + "0" * 65):
        registry.refused("PUT", at, 400, "DIGEST_INVALID", params={"digest": bad})
        registry.refused("GET", f"{repository}/referrers/{bad}", 404, "NAME_UNKNOWN")
    registry.refused("PUT", at, 400, "DIGEST_INVALID", "say what")
    registry.refused("PUT", at, 400, "DIGEST_INVALID", digest(b"some bytes"), params={"digest": digest(b"other bytes")})
    registry.refused("PUT", at, 404, "BLOB_UPLOAD_UNKNOWN", params={"digest": digest(b"some bytes")})
    registry.push(repository, small())
    for bad in ("sha256:abc", "sha256:" + "A" * 64):
        registry.refused("GET", f"{repository}/blobs/{bad}", 400, "DIGEST_INVALID")
        registry.refused("GET", f"{repository}/manifests/{bad}", 400, "DIGEST_INVALID")
        registry.refused("DELETE", f"{repository}/blobs/{bad}", 400, "DIGEST_INVALID")
    registry.refused("GET", f"{repository}/blobs/{digest(b'nobody has this')}", 404, "BLOB_UNKNOWN")


def test_uploads_are_of_one_user_and_one_repository(server, project, registry, repository, make_user):
    at = begin(registry, repository)
    other = of(server, make_user(project))
    for method in ("GET", "PATCH", "DELETE"):
        other.refused(method, at, 404, "BLOB_UPLOAD_UNKNOWN")
    other.refused("PUT", at, 404, "BLOB_UPLOAD_UNKNOWN", params={"digest": digest(b"")})
    registry.refused("GET", at.replace(repository, repository + "x"), 404, "BLOB_UPLOAD_UNKNOWN")
    registry.refused("GET", f"{repository}/blobs/uploads/{'0' * 32}", 404, "BLOB_UPLOAD_UNKNOWN")
    registry.refused("GET", f"{repository}/blobs/uploads/nonsense", 404, "BLOB_UPLOAD_UNKNOWN")
    registry.call("DELETE", at, 204)
    registry.refused("GET", at, 404, "BLOB_UPLOAD_UNKNOWN")


# --- manifests ---

def test_manifests_name_only_what_is_there(registry, repository):
    image = small()
    refused = registry.put(repository, image.manifest, "v1", expect=400).json()["errors"][0]
    assert refused["code"] == "MANIFEST_BLOB_UNKNOWN" and digest(image.config) in refused["message"]
    registry.blob(repository, image.config)
    refused = registry.put(repository, image.manifest, "v1", expect=400).json()["errors"][0]
    assert refused["code"] == "MANIFEST_BLOB_UNKNOWN" and digest(image.layers[0]) in refused["message"]
    registry.refused("GET", f"{repository}/manifests/v1", 404, "NAME_UNKNOWN")
    registry.push(repository, image, "v1")
    registry.refused("GET", f"{repository}/manifests/v2", 404, "MANIFEST_UNKNOWN")


@pytest.mark.parametrize("text", [
    b"", b"{}", b"[]", b"not json", b'{"schemaVersion": 1}', b'{"schemaVersion": 2}',
    b'{"schemaVersion": 2, "config": {}, "layers": []}',
    b'{"schemaVersion": 2, "config": {"mediaType": "x", "digest": "sha256:00", "size": 1}, "layers": []}',
    json.dumps({"schemaVersion": 2, "config": {"mediaType": "x", "digest": digest(b""), "size": -1}, "layers": []}).encode(),
    json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}).encode(),
    json.dumps({"schemaVersion": 2, "config": descriptor(b"", CONFIG), "layers": [descriptor(b"", LAYER)] * 1001}).encode(),
])
def test_bad_manifests(registry, repository, text):
    answer = registry.put(repository, text, "v1", expect=400)
    assert answer.json()["errors"][0]["code"] in ("MANIFEST_INVALID", "MANIFEST_BLOB_UNKNOWN")


def test_large_manifests(server, admin, repository):
    """Refused by its length, before a byte of it is read."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=DEADLINE)
    connection.putrequest("PUT", f"/v2/{repository}/manifests/v1")
    for name, value in (("Authorization", f"Bearer {admin.token}"), ("Content-Type", MANIFEST), ("Content-Length", str(100 << 20))):
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413 and json.loads(answer.read())["errors"][0]["code"] == "MANIFEST_INVALID"
    connection.close()


def test_wrong_sizes_and_other_digests(registry, repository):
    image = small()
    for data in image.blobs:
        registry.blob(repository, data)
    wrong = json.loads(image.manifest)
    wrong["layers"][0]["size"] += 1
    answer = registry.put(repository, json.dumps(wrong).encode(), "v1", expect=400)
    assert answer.json()["errors"][0]["code"] == "MANIFEST_INVALID"
    registry.refused("PUT", f"{repository}/manifests/{digest(b'else')}", 400, "DIGEST_INVALID",
                     content=image.manifest, headers={"Content-Type": MANIFEST})


@pytest.mark.parametrize("name", ["UPPER/x", "..", "a/..", "a//b", "-a", "a-", "a.-b", "a__ _b", "a/" + "b" * 51, "ä"])
def test_bad_names(registry, project, name):
    for path in (f"{project['name']}/{name}/manifests/v1", f"{project['name']}/{name}/blobs/{digest(b'')}"):
        answer = registry.call("GET", path.replace("..", "%2e%2e"))
        assert answer.status_code in (400, 404), answer.text
        assert answer.json()["errors"][0]["code"] in ("NAME_INVALID", "NAME_UNKNOWN")
    registry.refused("POST", f"{project['name']}/{name.replace('..', '%2e%2e')}/blobs/uploads/", 400, "NAME_INVALID")


@pytest.mark.parametrize("tag", ["-x", ".x", "x" * 51, "a b", "a%2fb", "é"])
def test_bad_versions(registry, repository, tag):
    registry.push(repository, small())
    answer = registry.call("PUT", f"{repository}/manifests/{tag}", 400, content=small().manifest,
                           headers={"Content-Type": MANIFEST})
    assert answer.json()["errors"][0]["code"] in ("MANIFEST_INVALID", "NAME_INVALID")


def test_indexes_and_what_they_hold(registry, repository):
    arm, x86 = Image([tar([("a", b"arm")])], arch="arm64"), Image([tar([("a", b"x86")])])
    index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
        {**descriptor(i.manifest, MANIFEST), "platform": {"architecture": a, "os": "linux"}}
        for i, a in ((arm, "arm64"), (x86, "amd64"))]}).encode()
    refused = registry.put(repository, index, "v1", INDEX, 400).json()["errors"][0]
    assert refused["code"] == "MANIFEST_BLOB_UNKNOWN"
    registry.push(repository, arm, arm.digest)
    registry.push(repository, x86, x86.digest)
    registry.put(repository, index, "v1", INDEX)
    assert registry.tags(repository) == ["v1"]
    assert registry.call("GET", f"{repository}/manifests/v1", 200).headers["content-type"] == INDEX
    registry.call("DELETE", f"{repository}/manifests/v1", 202)
    registry.refused("GET", f"{repository}/manifests/{arm.digest}", 404, "MANIFEST_UNKNOWN")


def test_referrers(registry, repository):
    image = small()
    registry.push(repository, image, "v1")
    empty = b"{}"
    registry.blob(repository, empty)
    note = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/x.note",
                       "config": descriptor(empty, "application/vnd.oci.empty.v1+json"),
                       "layers": [descriptor(empty, "text/plain")], "annotations": {"by": "me"},
                       "subject": descriptor(image.manifest, MANIFEST)}).encode()
    answer = registry.put(repository, note, digest(note))
    assert answer.headers["oci-subject"] == image.digest
    listed = registry.call("GET", f"{repository}/referrers/{image.digest}", 200)
    assert listed.headers["content-type"] == INDEX
    one = listed.json()["manifests"][0]
    assert (one["digest"], one["artifactType"], one["annotations"]) == (digest(note), "application/x.note", {"by": "me"})
    filtered = registry.call("GET", f"{repository}/referrers/{image.digest}", 200, params={"artifactType": "other"})
    assert filtered.json()["manifests"] == [] and filtered.headers["oci-filters-applied"] == "artifactType"
    assert registry.call("GET", f"{repository}/referrers/{digest(b'x')}", 200).json()["manifests"] == []


# --- lists, deletes, mounts ---

def test_tags_in_pages(registry, repository):
    image = small()
    for tag in ("c", "a", "B", "d"):
        registry.push(repository, image, tag)
    assert registry.tags(repository) == ["B", "a", "c", "d"]
    page = registry.call("GET", f"{repository}/tags/list", 200, params={"n": 2})
    assert page.json()["tags"] == ["B", "a"] and 'rel="next"' in page.headers["link"]
    assert registry.tags(repository, n=2, last="a") == ["c", "d"]
    assert registry.tags(repository, n=0) == []
    for n in ("1000000000", "-1", "x", "1001"):
        registry.refused("GET", f"{repository}/tags/list", 400, "UNSUPPORTED", "n:", params={"n": n})
        registry.refused("GET", "_catalog", 400, "UNSUPPORTED", "n:", params={"n": n})


def test_the_catalogue_shows_what_one_may_pull(server, admin, project, registry, repository, make_user):
    registry.push(repository, small())
    member, stranger = of(server, make_user(project)), of(server, make_user())
    assert repository in member.call("GET", "_catalog", 200).json()["repositories"]
    assert repository not in stranger.call("GET", "_catalog", 200).json()["repositories"]
    image = image_of(admin, project, repository)
    admin.patch(f"images/{image['id']}", {"public": True}, image["revision"])
    assert repository in stranger.call("GET", "_catalog", 200).json()["repositories"]


def test_deleting(admin, project, registry, repository):
    one, two = small("one"), small("two")
    registry.push(repository, one, "v1")
    registry.push(repository, one, "same")
    registry.push(repository, two, "v2")
    registry.refused("DELETE", f"{repository}/blobs/{digest(one.layers[0])}", 409, "DENIED", "still names")
    registry.call("DELETE", f"{repository}/manifests/v1", 202)
    registry.refused("DELETE", f"{repository}/manifests/v1", 404, "MANIFEST_UNKNOWN")
    registry.call("GET", f"{repository}/manifests/{one.digest}", 200)
    registry.call("DELETE", f"{repository}/manifests/{one.digest}", 202)
    assert registry.tags(repository) == ["v2"]
    registry.refused("GET", f"{repository}/manifests/{one.digest}", 404, "MANIFEST_UNKNOWN")
    registry.call("DELETE", f"{repository}/blobs/{digest(one.layers[0])}", 202)
    registry.refused("GET", f"{repository}/blobs/{digest(one.layers[0])}", 404, "BLOB_UNKNOWN")
    image = image_of(admin, project, repository)
    version = admin.get(f"images/{image['id']}/versions")["items"][0]
    admin.delete(f"images/{image['id']}/versions/{version['id']}", headers={"If-Match": f'"{version["revision"]}"'})
    registry.refused("GET", f"{repository}/manifests/{two.digest}", 404, "MANIFEST_UNKNOWN")
    admin.delete(f"images/{image['id']}", headers={"If-Match": f'"{image["revision"]}"'})
    registry.refused("GET", f"{repository}/tags/list", 404, "NAME_UNKNOWN")


def test_a_version_pushed_over(admin, project, registry, repository):
    one, two = small("one"), small("two")
    registry.push(repository, one, "v1")
    registry.push(repository, two, "v1")
    assert registry.call("GET", f"{repository}/manifests/v1", 200).content == two.manifest
    assert registry.call("GET", f"{repository}/manifests/{one.digest}", 200).content == one.manifest
    image = image_of(admin, project, repository)
    assert [v["digest"] for v in admin.get(f"images/{image['id']}/versions")["items"]] == [two.digest]


def test_mounts_need_the_right_to_read(server, admin, project, registry, repository, make_user):
    image = small(unique())
    layer = digest(image.layers[0])
    registry.push(repository, image)
    other = admin.post("projects", {"name": unique("other")})
    target = f"{other['name']}/copy"
    mounted = registry.call("POST", f"{target}/blobs/uploads/", 201, params={"mount": layer, "from": repository})
    assert mounted.headers["docker-content-digest"] == layer
    begun = registry.call("POST", f"{target}/blobs/uploads/", 202, params={"mount": digest(b"unknown"), "from": repository})
    assert "blobs/uploads" in begun.headers["location"]
    stranger = of(server, make_user(other))
    for source in (repository, f"{project['name']}/nothing", "nobody/nothing"):
        stranger.refused("POST", f"{target}/blobs/uploads/", 403, "DENIED", params={"mount": layer, "from": source})
    stranger.refused("POST", f"{target}/blobs/uploads/", 400, "DIGEST_INVALID", params={"mount": "x", "from": repository})
    made = image_of(admin, project, repository)
    admin.patch(f"images/{made['id']}", {"public": True}, made["revision"])
    stranger.call("POST", f"{target}/blobs/uploads/", 201, params={"mount": layer, "from": repository})


# --- who may what ---

def test_nobody(server, repository):
    nobody = Registry(server.url)
    answer = nobody.refused("GET", "", 401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"] == f'Bearer realm="{server.url}/v2/token",service="ingot"'
    answer = nobody.refused("GET", f"{repository}/manifests/v1", 401, "UNAUTHORIZED")
    assert f'scope="repository:{repository}:pull"' in answer.headers["www-authenticate"]
    nobody.refused("GET", "token", 401, "UNAUTHORIZED")
    Registry(server.url, ("nobody", "wrong")).refused("GET", "token", 401, "UNAUTHORIZED")
    Registry(server.url, token="ir1.e30.AAAA").refused("GET", "", 401, "UNAUTHORIZED")


def test_roles(server, admin, project, registry, repository, make_user):
    registry.push(repository, small(), "v1")
    viewer, stranger = of(server, make_user(project, "viewer")), of(server, make_user())
    early = small(unique()).layers[0]
    registry.blob(f"{project['name']}/later", early)
    registry.call("GET", f"{project['name']}/later/blobs/{digest(early)}", 200)
    for nobody in (viewer, stranger):
        nobody.refused("GET", f"{project['name']}/later/blobs/{digest(early)}", 404, "NAME_UNKNOWN")
    viewer.call("GET", f"{repository}/manifests/v1", 200)
    viewer.refused("POST", f"{repository}/blobs/uploads/", 403, "DENIED", "image.update")
    viewer.refused("POST", f"{project['name']}/new/blobs/uploads/", 403, "DENIED", "image.create")
    viewer.refused("DELETE", f"{repository}/manifests/v1", 403, "DENIED", "image.delete")
    stranger.refused("GET", f"{repository}/manifests/v1", 404, "NAME_UNKNOWN")
    stranger.refused("POST", f"{repository}/blobs/uploads/", 404, "NAME_UNKNOWN")
    image = image_of(admin, project, repository)
    admin.patch(f"images/{image['id']}", {"public": True}, image["revision"])
    stranger.call("GET", f"{repository}/manifests/v1", 200)
    stranger.refused("POST", f"{repository}/blobs/uploads/", 403, "DENIED")
    stranger.refused("DELETE", f"{repository}/manifests/v1", 403, "DENIED")


def token(registry, *scopes) -> str:
    return registry.call("GET", "token", 200, params=[("service", "ingot"), *(("scope", s) for s in scopes)]).json()["token"]


def test_tokens_are_for_what_they_were_asked_for(server, registry, repository):
    registry.push(repository, small(), "v1")
    pull = Registry(server.url, token=token(registry, f"repository:{repository}:pull"))
    pull.call("GET", "", 200)
    pull.call("GET", f"{repository}/manifests/v1", 200)
    answer = pull.refused("POST", f"{repository}/blobs/uploads/", 401, "UNAUTHORIZED", "scope")
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert f'scope="repository:{repository}:pull,push"' in answer.headers["www-authenticate"]
    push = Registry(server.url, token=token(registry, "repository:else:pull", f"repository:{repository}:pull,push"))
    push.push(repository, small("two"), "v2")
    push.refused("DELETE", f"{repository}/manifests/v2", 401, "UNAUTHORIZED")
    Registry(server.url, token=token(registry, f"repository:{repository}:*")).call("DELETE", f"{repository}/manifests/v2", 202)
    Registry(server.url, token=token(registry)).refused("GET", f"{repository}/manifests/v1", 401, "UNAUTHORIZED")
    forged = token(registry)[:-4] + "AAAA"
    Registry(server.url, token=forged).refused("GET", "", 401, "UNAUTHORIZED")


def test_tokens_end_with_the_password_and_the_rights(server, admin, project, registry, repository, make_user):
    registry.push(repository, small(), "v1")
    user = make_user(project)
    bearer = Registry(server.url, token=token(of(server, user), f"repository:{repository}:pull"))
    bearer.call("GET", f"{repository}/manifests/v1", 200)
    now = admin.get(f"users/{user.user['id']}")
    admin.patch(f"users/{user.user['id']}", {"password": "another-one-2"}, now["revision"])
    bearer.refused("GET", f"{repository}/manifests/v1", 401, "UNAUTHORIZED")
    of(server, user).refused("GET", "", 401, "UNAUTHORIZED")
    changed = Registry(server.url, (user.user["name"], "another-one-2"))
    bearer = Registry(server.url, token=token(changed, f"repository:{repository}:pull"))
    bearer.call("GET", f"{repository}/manifests/v1", 200)
    member = admin.get(f"projects/{project['id']}/members", filter=f"user = {user.user['id']}")["items"][0]
    admin.delete(f"projects/{project['id']}/members/{member['id']}", headers={"If-Match": f'"{member["revision"]}"'})
    bearer.refused("GET", f"{repository}/manifests/v1", 404, "NAME_UNKNOWN")


def test_api_tokens(server, admin, project, registry, repository, make_user):
    registry.push(repository, small(), "v1")
    user = make_user(project)
    Registry(server.url, (user.user["name"], user.token)).call("GET", f"{repository}/manifests/v1", 200)
    Registry(server.url, ("somebody", user.token)).refused("GET", "", 401, "UNAUTHORIZED")
    assert token(Registry(server.url, (user.user["name"], user.token)), f"repository:{repository}:pull") == user.token
    made = user.post("tokens", {"name": unique("narrow"), "scopes": ["image.read"]})
    narrow = Registry(server.url, token=made["secret"])
    narrow.call("GET", f"{repository}/manifests/v1", 200)
    narrow.refused("POST", f"{repository}/blobs/uploads/", 403, "DENIED", "image.update")
    user.delete(f"tokens/{made['id']}", headers={"If-Match": f'"{made["revision"]}"'})
    narrow.refused("GET", f"{repository}/manifests/v1", 401, "UNAUTHORIZED")


def test_projects_whose_name_is_no_path(admin, registry):
    project = admin.post("projects", {"name": f"Team {unique()} 视觉"})
    repository = f"id.{project['id']}/tool"
    registry.push(repository, small(), "v1")
    assert image_of(admin, project, repository)["repository"] == repository
    registry.call("GET", f"{repository}/manifests/v1", 200)


def test_storage_quota(admin, registry):
    project = admin.post("projects", {"name": unique("tiny"), "quota": {"storage": 5000}})
    repository = f"{project['name']}/tool"
    registry.push(repository, small(), "v1")
    registry.refused("POST", f"{repository}/blobs/uploads/", 403, "DENIED", "5000", params={"digest": digest(b"x" * 9000)},
                     content=b"x" * 9000)
    at = begin(registry, repository)
    registry.refused("PATCH", at, 403, "DENIED", "room for", content=(b"y" * 1000 for _ in range(9)))
    registry.push(repository, small(), "v2")


def test_other_methods_and_paths(registry, repository):
    registry.refused("POST", f"{repository}/manifests/v1", 405, "UNSUPPORTED")
    registry.refused("PATCH", f"{repository}/tags/list", 405, "UNSUPPORTED")
    registry.refused("GET", "nothing/at/all", 404, "NAME_UNKNOWN")
    registry.refused("GET", "alpine/manifests/latest", 400, "NAME_INVALID", "<project>/<image>")
    registry.refused("GET", "/".join(["a"] * 60) + "/manifests/v1", 400, "NAME_INVALID")
