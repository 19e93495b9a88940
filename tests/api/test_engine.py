"""The generic verbs, seen through label sets (project scope) and specs (platform scope)."""

import json

import pytest
from harness import Api, problem, unique
from test_datasets import bring, png
from test_events import Listener

GIB = 1 << 30


def spec(**fields) -> dict:
    return {"name": unique("spec"), "cpus": 2, "memory": GIB, **fields}


def test_create_read_update_delete(admin, project):
    made = admin.call("POST", "label-sets", json={"project": project["id"], "name": "动物", "labels": [
        {"name": "cat", "color": "#ff0000", "key": "c", "children": [{"name": "tabby", "color": "#00FF00"}]}]})
    assert made.status_code == 201
    body = made.json()
    path = f"label-sets/{body['id']}"
    assert made.headers["location"] == f"/api/v1/{path}"
    assert made.headers["etag"].startswith('"1-') and made.headers["etag"] == admin.call("GET", path).headers["etag"]
    assert body["project"] == {"id": project["id"], "name": project["name"]}
    assert body["created_by"]["name"] == "admin"
    assert body["labels"][0]["children"][0]["name"] == "tabby"
    assert body["created_at"].endswith("Z") and body["revision"] == 1
    assert admin.get(path) == body

    changed = admin.patch(path, {"description": "two\nlines", "public": True}, 1)
    assert (changed["revision"], changed["description"], changed["public"]) == (2, "two\nlines", True)
    assert changed["name"] == "动物" and changed["updated_at"] >= body["updated_at"]

    admin.delete(path)
    problem(admin.call("GET", path), 404, "not_found")
    problem(admin.call("DELETE", path), 404, "not_found")


def test_defaults_and_null(admin, make_set):
    made = make_set()
    assert (made["description"], made["public"], made["labels"]) == ("", False, [])
    path = f"label-sets/{made['id']}"
    assert admin.patch(path, {"description": "x"}, 1)["description"] == "x"
    assert admin.patch(path, {"description": None}, 2)["description"] == ""


def test_a_patch_that_changes_nothing_keeps_the_revision(admin, make_set):
    made = make_set("same")
    assert admin.patch(f"label-sets/{made['id']}", {"name": "same"}, 1) == made
    assert admin.patch(f"label-sets/{made['id']}", {}, 1)["revision"] == 1


def test_merge_patch_goes_into_json_fields(admin, project):
    path = f"projects/{project['id']}"
    first = admin.patch(path, {"quota": {"cpu": 8, "accelerators": {"gpu": 2, "npu": 1}}}, project["revision"])
    second = admin.patch(path, {"quota": {"memory": GIB, "accelerators": {"npu": None}}}, first["revision"])
    assert second["quota"] == {"cpus": 8, "memory": GIB, "accelerators": {"gpu": 2}}


def test_if_match(admin, make_set):
    made = make_set()
    path = f"label-sets/{made['id']}"
    problem(admin.call("PATCH", path, json={"public": True}), 428, "precondition", says="If-Match")
    for tag in ("7", "abc", '"x"', '""', '"1", "2"', '"-1"', '"99999999999999999999"'):
        problem(admin.call("PATCH", path, json={"public": True}, headers={"If-Match": tag}), 400, "malformed")
    problem(admin.call("PATCH", path, json={"public": True}, headers={"If-Match": 'W/"1"'}), 412, "stale")
    for tag in ('"2"', '"2-0123"'):
        problem(admin.call("PATCH", path, json={"public": True}, headers={"If-Match": tag}), 412, "stale")
    assert admin.get(path)["revision"] == 1
    assert admin.patch(path, {"public": True}, 1)["revision"] == 2
    problem(admin.call("PATCH", path, json={"public": False}, headers={"If-Match": '"1"'}), 412, "stale")
    problem(admin.call("DELETE", path, headers={"If-Match": '"1"'}), 412, "stale")
    assert admin.call("PATCH", path, json={"public": False}, headers={"If-Match": "*"}).json()["revision"] == 3
    admin.delete(path, headers={"If-Match": admin.call("GET", path).headers["etag"]})


def test_if_none_match(admin, make_set):
    made = make_set()
    path = f"label-sets/{made['id']}"
    tag = admin.call("GET", path).headers["etag"]
    same = admin.call("GET", path, headers={"If-None-Match": tag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    for tags, status in (('"1"', 200), (f"W/{tag}", 304), (f'"x", {tag}', 304), ("*", 304), ("odd", 200), (f'"2", W/"3"', 200)):
        assert admin.call("GET", path, headers={"If-None-Match": tags}).status_code == status
    head = admin.call("HEAD", path)
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(admin.call("GET", path).content)


def test_a_tag_changes_with_what_is_shown(admin, project, make_user):
    """Names of references are shown, and change without a new revision of what refers."""
    member = make_user(project)
    made = member.post("label-sets", {"project": project["id"], "name": unique()})
    path = f"label-sets/{made['id']}"
    before = admin.call("GET", path).headers["etag"]
    admin.patch(f"users/{member.user['id']}", {"name": unique("other")}, member.user.get("revision", 1))
    after = admin.call("GET", path, headers={"If-None-Match": before})
    assert after.status_code == 200 and after.headers["etag"] != before and after.json()["revision"] == 1
    assert admin.call("PATCH", path, json={"public": True}, headers={"If-Match": before}).status_code == 200


def test_status_changes_no_revision(admin, project):
    """Counts of samples are a status: an edit under way stays fresh, caches do not, and listeners hear of it."""
    dataset = admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": "detection"})
    made = admin.post(f"datasets/{dataset['id']}/versions", {})
    path = f"datasets/{dataset['id']}/versions/{made['id']}"
    before = admin.call("GET", path)
    events = Listener(admin, project=project["id"])
    bring(admin, project, path, "a.png", png(4, 4))
    while (told := events.next())["kind"] != "dataset_version" or told["verb"] != "status":
        pass
    assert (told["id"], told["project"], told["parent"]) == (made["id"], project["id"], dataset["id"])
    after = admin.call("GET", path, headers={"If-None-Match": before.headers["etag"]})
    was, now = before.json(), after.json()
    assert (now["samples"], was["samples"]) == (1, 0)
    assert (now["revision"], now["updated_at"]) == (was["revision"], was["updated_at"])
    audit = admin.get("audit", filter=f'kind = "dataset_version" and object = {made["id"]}')["items"]
    assert [one["verb"] for one in audit] == ["import", "create"] and "samples" not in audit[1]["detail"]
    edited = admin.call("PATCH", path, json={"description": "x"}, headers={"If-Match": before.headers["etag"]})
    assert edited.status_code == 200 and edited.json()["samples"] == 1


def test_internal_fields_are_nowhere(admin):
    """What the platform keeps for itself is neither shown nor described, and cannot be given or asked for."""
    made = admin.post("tokens", {"name": unique("token")})
    described = next(kind for kind in admin.get("kinds")["items"] if kind["name"] == "token")
    shown = admin.get("openapi.json")["components"]["schemas"]["Token"]["properties"]
    line = admin.get("audit", filter=f'kind = "token" and object = {made["id"]}')["items"][0]
    assert "hash" not in [*made, *admin.get(f"tokens/{made['id']}"), *shown, *line["detail"]]
    assert "hash" not in [field["name"] for field in described["fields"]]
    problem(admin.call("POST", "tokens", json={"name": unique(), "hash": "x"}), 422, "invalid", "hash")
    problem(admin.call("GET", "tokens", params={"filter": 'hash ~ "a"'}), 422, "invalid", "filter")
    problem(admin.call("GET", "tokens", params={"sort": "hash"}), 422, "invalid", "sort")


def test_names_are_unique_in_their_place(admin, project, make_set):
    other = admin.post("projects", {"name": unique("project")})
    make_set("same")
    problem(admin.call("POST", "label-sets", json={"project": project["id"], "name": "same"}), 409, "exists", "name")
    admin.post("label-sets", {"project": other["id"], "name": "same"})
    second = make_set("second")
    problem(admin.call("PATCH", f"label-sets/{second['id']}", json={"name": "same"}, headers={"If-Match": '"1"'}),
            409, "exists", "name", "same")


LONG_BUT_RIGHT = "标" * 50

BAD_BODIES = [
    # body over {"name": ..., "project": ...}; status, code, field, part of the sentence
    ({"name": None}, 422, "invalid", "name", "required"),
    ({"name": ""}, 422, "invalid", "name", "empty"),
    ({"name": "   "}, 422, "invalid", "name", "only spaces"),
    ({"name": LONG_BUT_RIGHT + "x"}, 422, "invalid", "name", "51 characters"),
    ({"name": "a/b"}, 422, "invalid", "name", '"a/b" contains "/"'),
    *[({"name": f"a{c}b"}, 422, "invalid", "name", f'contains "{c}"') for c in ":*?\"<'>|"],
    ({"name": "a\u0000b"}, 422, "invalid", "name", "control character U+0000"),
    ({"name": "a\nb"}, 422, "invalid", "name", "control character U+000A"),
    ({"name": "a\u007fb"}, 422, "invalid", "name", "control character"),
    ({"name": 7}, 422, "invalid", "name", "must be a text"),
    ({"name": ["x"]}, 422, "invalid", "name", "must be a text"),
    ({"description": "x" * 501}, 422, "invalid", "description", "501"),
    ({"description": {}}, 422, "invalid", "description", "must be a text"),
    ({"public": "yes"}, 422, "invalid", "public", "true or false"),
    ({"public": 1}, 422, "invalid", "public", "true or false"),
    ({"nmae": "x"}, 422, "invalid", "nmae", "no such field"),
    ({"id": 5}, 422, "invalid", "id", "set by the platform"),
    ({"revision": 5}, 422, "invalid", "revision", "set by the platform"),
    ({"created_by": 5}, 422, "invalid", "created_by", "set by the platform"),
    ({"x" * 5000: 1}, 422, "invalid", None, "no such field"),
    ({"project": None}, 422, "invalid", "project", ""),
    ({"project": "1"}, 422, "invalid", "project", ""),
    ({"project": 0}, 422, "invalid", "project", ""),
    ({"project": -1}, 422, "invalid", "project", ""),
    ({"project": 1.5}, 422, "invalid", "project", ""),
    ({"project": 1 << 63}, 422, "invalid", "project", ""),
    ({"project": {"id": 1, "x": 2}}, 422, "invalid", "project", ""),
    ({"project": (1 << 63) - 1}, 404, "not_found", None, ""),
    ({"labels": {}}, 422, "invalid", "labels", "list"),
    ({"labels": [1]}, 422, "invalid", "labels", "labels[0]"),
    ({"labels": [{}]}, 422, "invalid", "labels", "labels[0].name: is required"),
    ({"labels": [{"name": "a/b"}]}, 422, "invalid", "labels", "labels[0].name"),
    ({"labels": [{"name": "a", "color": "red"}]}, 422, "invalid", "labels", "labels[0].color"),
    ({"labels": [{"name": "a", "color": "#12345g"}]}, 422, "invalid", "labels", "labels[0].color"),
    ({"labels": [{"name": "a", "key": "ab"}]}, 422, "invalid", "labels", "labels[0].key"),
    ({"labels": [{"name": "a", "key": "A"}]}, 422, "invalid", "labels", "labels[0].key"),
    ({"labels": [{"name": "a", "key": "x"}, {"name": "b", "key": "x"}]}, 422, "invalid", "labels", "used twice"),
    ({"labels": [{"name": "a"}, {"name": "a"}]}, 422, "invalid", "labels", "same name"),
    ({"labels": [{"name": "a", "colour": "#123456"}]}, 422, "invalid", "labels", "colour"),
    ({"labels": [{"name": "a", "children": [{"name": "b", "children": []}]}]}, 422, "invalid", "labels", "children[0]"),
    ({"labels": [{"name": str(i)} for i in range(1001)]}, 422, "invalid", "labels", "1000"),
]


@pytest.mark.parametrize("change, status, code, field, says", BAD_BODIES)
def test_bad_bodies_change_nothing(admin, project, change, status, code, field, says):
    body = {"name": "right", "project": project["id"], **change}
    problem(admin.call("POST", "label-sets", json=body), status, code, field, says)
    assert admin.get("label-sets", project=project["id"], count="true")["total"] == 0


BAD_NUMBERS = [
    ({"cpus": "2"}, "cpus", "number"),
    ({"cpus": -1}, "cpus", "less than"),
    ({"cpus": 0}, "cpus", "less than 0.01"),
    ({"cpus": 0.001}, "cpus", "less than 0.01"),
    ({"cpus": 1e9}, "cpus", "more than"),
    ({"memory": 1.5}, "memory", "whole number"),
    ({"memory": 1 << 64}, "memory", ""),
    ({"memory": (1 << 63)}, "memory", ""),
    ({"memory": 0}, "memory", "less than"),
    ({"memory": (8 << 20) - 1}, "memory", "less than"),
    ({"accelerators": 1.5, "accelerator": "gpu"}, "accelerators", "whole number"),
    ({"accelerators": 1}, "accelerator", "kind"),
    ({"ib": None, "roce": 0}, "roce", "true or false"),
]


@pytest.mark.parametrize("change, field, says", BAD_NUMBERS)
def test_bad_numbers(admin, change, field, says):
    problem(admin.call("POST", "specs", json=spec(**change)), 422, "invalid", field, says)


RAW = [
    (b"", 400, "malformed"),
    (b"{", 400, "malformed"),
    (b"[]", 400, "malformed"),
    (b"null", 400, "malformed"),
    (b'"x"', 400, "malformed"),
    (b"{} {}", 400, "malformed"),
    (b'{"name": "a", "name": "b"}', 400, "malformed"),
    (b'{"name": "\xff\xfe"}', 400, "malformed"),
    (b'{"name": "\xc0\xaf"}', 400, "malformed"),
    (b'{"name": "\xed\xa0\x80"}', 400, "malformed"),
    (b'{"name": "\\ud800"}', 400, "malformed"),
    (b'{"cpus": NaN}', 400, "malformed"),
    (b'{"cpus": 1e999}', 400, "malformed"),
    (b'{"name": "a",}', 400, "malformed"),
    (b"[" * 100000, 400, "malformed"),
    (b'{"a":' * 70 + b"1" + b"}" * 70, 400, "malformed"),
]


@pytest.mark.parametrize("raw, status, code", RAW)
def test_raw_bodies(admin, raw, status, code):
    answer = admin.call("POST", "specs", content=raw, headers={"Content-Type": "application/json"})
    problem(answer, status, code)


def test_media_type_and_size(admin):
    body = json.dumps(spec()).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
        problem(admin.call("POST", "specs", content=body, headers={"Content-Type": kind}), 415, "media_type")
    made = admin.call("POST", "specs", content=body, headers={"Content-Type": "Application/JSON; charset=utf-8"})
    assert made.status_code == 201
    large = admin.call("POST", "specs", content=b" " * ((1 << 20) + 1), headers={"Content-Type": "application/json"})
    problem(large, 413, "too_large", says="1048577 bytes")


def test_limits_count_characters(admin, make_set):
    assert make_set(LONG_BUT_RIGHT)["name"] == LONG_BUT_RIGHT
    assert make_set("😀" * 50)["name"] == "😀" * 50
    made = make_set(description="描" * 500)
    assert len(made["description"]) == 500


def test_paths(server, admin, make_set):
    made = make_set()
    for path in ("label-sets/0", "label-sets/-1", "label-sets/01", "label-sets/1x", "label-sets/99999999999999999999",
                 "label-sets/", "label-sets//1", "nothing", f"label-sets/{made['id']}/nothing",
                 f"label-sets/{made['id']}/nothing/1", "label-sets;x=1", f"label-sets/{made['id']};v=1",
                 "label-sets/%252e%252e", "label-sets/%23", "users/1/members", "a/" * 50):
        problem(admin.call("GET", path), 404, "not_found")
    for path in ("label-sets/%2e%2e/users", "label-sets/%2e", "label-sets/%00", "label-sets/%ff", "label-sets/%",
                 "label-sets/%zz", "label-sets/1%2f2"):
        problem(admin.call("GET", path), 400, "malformed")


def test_methods(admin, make_set):
    made = make_set()
    answer = admin.call("PUT", f"label-sets/{made['id']}", json={})
    problem(answer, 405, "method")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "PATCH", "DELETE"}
    answer = admin.call("DELETE", "label-sets")
    problem(answer, 405, "method")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    problem(admin.call("POST", "audit", json={}), 405, "method")
    problem(admin.call("POST", "health", json={}), 405, "method")


def test_nobody_is_let_in(server, project, make_set):
    made = make_set(public=True)
    with Api(server.url) as nobody, Api(server.url, "ingot_wrong") as wrong:
        for api in (nobody, wrong):
            for method, path in (("GET", "label-sets"), ("GET", f"label-sets/{made['id']}"), ("GET", "specs"),
                                 ("POST", "specs"), ("DELETE", f"label-sets/{made['id']}"), ("GET", "session"),
                                 ("GET", "permissions"), ("GET", "events"), ("GET", "audit"), ("GET", "users"),
                                 ("PATCH", f"label-sets/{made['id']}"), ("GET", f"projects/{project['id']}/members")):
                answer = api.call(method, path, **({"json": {}} if method in ("POST", "PATCH") else {}))
                problem(answer, 401, "unauthorized")
                assert answer.headers["www-authenticate"].startswith("Bearer")


def test_references_block_deletion(admin, project, make_set):
    made = make_set("keeps it")
    path = f"projects/{project['id']}"
    body = problem(admin.call("DELETE", path), 409, "conflict")
    assert body["references"] == [{"kind": "label_set", "count": 1,
                                   "examples": [{"id": made["id"], "name": "keeps it"}]}]
    for _ in range(6):
        make_set()
    body = problem(admin.call("DELETE", path), 409, "conflict")
    assert body["references"][0]["count"] == 7 and len(body["references"][0]["examples"]) == 5
    for one in admin.all("label-sets", project=project["id"]):
        admin.delete(f"label-sets/{one['id']}")
    admin.delete(path)


def test_a_reference_must_exist(admin, project):
    for user in (10**12, (1 << 63) - 1):
        problem(admin.call("POST", f"projects/{project['id']}/members", json={"user": user, "role": 1}), 422,
                "invalid", "user")
    for user in ("admin", 0, {"name": "admin"}, [1]):
        problem(admin.call("POST", f"projects/{project['id']}/members", json={"user": user, "role": 1}), 422,
                "invalid", "user", "a reference is")


def test_children_are_found_only_under_their_parent(admin, project):
    other = admin.post("projects", {"name": unique("project")})
    member = admin.get(f"projects/{project['id']}/members")["items"][0]
    assert member["project"] == {"id": project["id"], "name": project["name"]}
    assert admin.get(f"projects/{project['id']}/members/{member['id']}") == member
    problem(admin.call("GET", f"projects/{other['id']}/members/{member['id']}"), 404, "not_found")
    problem(admin.call("DELETE", f"projects/{other['id']}/members/{member['id']}"), 404, "not_found")
    problem(admin.call("GET", f"projects/{10**12}/members"), 404, "not_found")
    problem(admin.call("POST", f"projects/{10**12}/members", json={"user": 1, "role": 1}), 404, "not_found")


def test_the_sdk(server, admin, project):
    import ingot
    with ingot.Client(server.url, token=admin.token) as client:
        made = client.label_sets.create(project=project["id"], name="by the SDK")
        assert client.label_sets.get(made["id"])["name"] == "by the SDK"
        with pytest.raises(ingot.Problem) as refused:
            client.label_sets.create(project=project["id"], name="a/b")
        assert refused.value.field == "name"
