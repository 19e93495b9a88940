"""What belongs to a project is seen in it only, and refusals name the permission that is missing."""

import re

from harness import Api, problem, unique


def test_other_projects_do_not_exist(admin, project, make_set, make_user):
    stranger = make_user(admin.post("projects", {"name": unique("other")}), "owner")
    made = make_set()
    path = f"label-sets/{made['id']}"
    assert all(one["public"] for one in stranger.all("label-sets", limit=200))
    for call in (("GET", path), ("DELETE", path), ("GET", f"projects/{project['id']}"),
                 ("GET", f"projects/{project['id']}/members"), ("DELETE", f"projects/{project['id']}")):
        problem(stranger.call(*call), 404, "not_found")
    for patch in (path, f"projects/{project['id']}"):
        problem(stranger.call("PATCH", patch, json={"name": "x"}, headers={"If-Match": '"1"'}), 404, "not_found")
        problem(stranger.call("PATCH", patch, json={"name": "x"}), 404, "not_found")
    problem(stranger.call("GET", "label-sets", params={"project": project["id"]}), 404, "not_found")
    problem(stranger.call("POST", "label-sets", json={"project": project["id"], "name": "x"}), 404, "not_found")
    problem(stranger.call("POST", f"projects/{project['id']}/members", json={"user": 1, "role": 1}), 404, "not_found")
    problem(stranger.call("GET", "events", params={"project": project["id"]}), 404, "not_found")
    # The same words as for what never was.
    there, never = stranger.call("GET", path).json(), stranger.call("GET", f"label-sets/{10**12}").json()
    assert there["detail"].replace(str(made["id"]), "") == never["detail"].replace(str(10**12), "")
    assert admin.get(path) == made


def test_public_objects_are_read_by_all_and_changed_by_members(admin, project, make_set, make_user):
    stranger = make_user()
    made = make_set(public=True)
    path = f"label-sets/{made['id']}"
    assert stranger.get(path) == made
    assert made["id"] in [one["id"] for one in stranger.all("label-sets", limit=200)]
    problem(stranger.call("DELETE", path), 403, "forbidden")
    problem(stranger.call("PATCH", path, json={"public": False}, headers={"If-Match": '"1"'}), 403, "forbidden")
    admin.patch(path, {"public": False}, 1)
    problem(stranger.call("GET", path), 404, "not_found")


def test_refusals_name_the_permission(project, make_set, make_user):
    viewer = make_user(project, "viewer")
    made = make_set()
    path = f"label-sets/{made['id']}"
    assert viewer.get(path) == made
    for verb, answer in (
            ("update", viewer.call("PATCH", path, json={"name": "x"}, headers={"If-Match": '"1"'})),
            ("delete", viewer.call("DELETE", path)),
            ("create", viewer.call("POST", "label-sets", json={"project": project["id"], "name": "x"}))):
        body = problem(answer, 403, "forbidden", says=f"label_set.{verb}")
        assert body["permission"] == f"label_set.{verb}" and body["field"] is None
    body = problem(viewer.call("POST", "specs", json={"name": "x"}), 403, "forbidden")
    assert body["permission"] == "spec.create"
    assert problem(viewer.call("GET", "audit"), 403, "forbidden")["permission"] == "audit.read"


def test_project_lists_show_ones_own(admin, project, make_user):
    owner = make_user(project, "owner")
    assert [one["id"] for one in owner.all("projects")] == [project["id"]]
    assert project["id"] in [one["id"] for one in admin.all("projects", limit=200)]
    changed = owner.patch(f"projects/{project['id']}", {"description": "mine"}, project["revision"])
    assert changed["description"] == "mine"


def test_tokens_are_ones_own(admin, make_user):
    user = make_user()
    token = user.post("tokens", {"name": "own"})
    problem(admin.call("GET", f"tokens/{token['id']}"), 404, "not_found")
    problem(admin.call("DELETE", f"tokens/{token['id']}"), 404, "not_found")
    assert "secret" not in user.get(f"tokens/{token['id']}")
    assert token["id"] not in [one["id"] for one in admin.all("tokens", limit=200)]
    user.delete(f"tokens/{token['id']}")


PUBLIC = {"GET health", "GET kinds", "GET openapi.json", "POST sessions", "GET sign-in", "GET sign-in/{provider}",
          "GET sign-in/{provider}/callback"}


def test_nobody_learns_anything_on_any_path(server, admin, project):
    """Every path and method of the document, with ids that exist somewhere and a body without fields."""
    with Api(server.url) as nobody:
        for path, verbs in admin.get("openapi.json")["paths"].items():
            for verb in verbs:
                name = f"{verb.upper()} {path.removeprefix('/api/v1/')}"
                if verb not in ("get", "head", "post", "put", "patch", "delete") or name in PUBLIC:
                    continue
                where = re.sub(r"\{[^}]*\}", str(project["id"]), path.removeprefix("/api/v1/"))
                answer = nobody.call(verb.upper(), where, **({"json": {}} if verb in ("post", "put", "patch") else {}))
                assert answer.status_code == 401, f"{name}: {answer.status_code} {answer.text}"
