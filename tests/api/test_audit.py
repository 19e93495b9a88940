"""Every change is a line of the audit: who, what, from where, and what it was before."""

import contextlib
import sqlite3

import pytest
from harness import DEADLINE, problem, unique


def lines(admin, kind: str, object_: int) -> list[dict]:
    """Oldest first."""
    return admin.all("audit", filter=f'kind = "{kind}" and object = {object_}', sort="id", limit=200)


def test_changes_are_recorded(admin, project, make_user):
    member = make_user(project)
    made = member.post("label-sets", {"project": project["id"], "name": "first"})
    admin.patch(f"label-sets/{made['id']}", {"name": "second", "public": True}, 1)
    problem(admin.call("PATCH", f"label-sets/{made['id']}", json={"name": "a/b"}, headers={"If-Match": '"2"'}), 422,
            "invalid")
    admin.delete(f"label-sets/{made['id']}")
    create, update, delete = lines(admin, "label_set", made["id"])
    assert [one["verb"] for one in (create, update, delete)] == ["create", "update", "delete"]
    assert create["user"]["id"] == member.user["id"] and update["user"]["name"] == "admin"
    assert create["address"] == "127.0.0.1" and create["project"] == {"id": project["id"], "name": project["name"]}
    assert (create["name"], update["name"], delete["name"]) == ("first", "second", "second")
    assert create["detail"]["name"] == {"new": "first"}
    assert update["detail"] == {"name": {"old": "first", "new": "second"}, "public": {"old": False, "new": True}}
    assert delete["detail"]["name"] == {"old": "second"}
    assert create["at"] <= update["at"] <= delete["at"]


def test_secrets_are_not_recorded(admin):
    name, secret = unique("user"), "very-secret-1"
    user = admin.post("users", {"name": name, "password": secret})
    admin.patch(f"users/{user['id']}", {"password": secret + "2"}, user["revision"])
    token = admin.post("tokens", {"name": unique("token")})
    text = str(lines(admin, "user", user["id"])) + str(lines(admin, "token", token["id"]))
    assert len(lines(admin, "user", user["id"])) >= 2
    assert secret not in text and token["secret"] not in text and "argon2" not in text and "***" in text


@pytest.fixture
def no_actions(request, server, project):
    """The database refuses the lines of actions in the project, and takes those of changes."""
    when = f"NEW.project = {project['id']} AND NEW.verb NOT IN ('create', 'update', 'delete')"
    name = unique("refuse").replace("-", "_")
    if server.db:
        postgres = request.getfixturevalue("postgres")
        postgres.sql(f"CREATE FUNCTION {name}() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no'; END $$ LANGUAGE plpgsql; "
                     f"CREATE TRIGGER {name} BEFORE INSERT ON audit FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION {name}()", server.db)
        yield
        postgres.sql(f"DROP TRIGGER {name} ON audit; DROP FUNCTION {name}()", server.db)
        return
    with contextlib.closing(sqlite3.connect(f"{server.data}/ingot.db", timeout=DEADLINE, isolation_level=None)) as db:
        db.execute(f"CREATE TRIGGER {name} BEFORE INSERT ON audit WHEN {when} BEGIN SELECT RAISE(ABORT, 'no'); END")
        yield
        db.execute(f"DROP TRIGGER {name}")


def test_an_action_is_not_kept_without_its_line(admin, project, no_actions):
    """Changed in the action's own write, made as another object, begun as a task: all or nothing."""
    inside = {"project": project["id"]}
    spec = admin.get("specs", limit=1)["items"][0]["id"]
    models = admin.post("model-sets", {**inside, "name": "models"})["id"]
    version = f"model-sets/{models}/versions/{admin.post(f'model-sets/{models}/versions', {})['id']}"
    admin.call("PUT", f"{version}/content", params={"path": "a"}, content=b"x").raise_for_status()
    data = admin.post("datasets", {**inside, "name": "data", "annotation_type": "detection"})["id"]
    draft = f"datasets/{data}/versions/{admin.post(f'datasets/{data}/versions', {})['id']}"
    training = admin.post("trainings", {**inside, "name": "training", "spec": spec, "command": "true"})["id"]
    environment = admin.post("environments", {**inside, "name": "environment", "spec": spec})["id"]

    def state() -> list:
        return [admin.get(version)["published"], *(admin.get(kind, **inside, count="true")["total"] for kind in ("trainings", "environments", "tasks"))]

    before = state()
    for path, body in ((f"{version}/publish", {}), (f"trainings/{training}/copy", {"name": "other"}),
                       (f"environments/{environment}/copy", {"name": "other"}), (f"{draft}/export", {"format": "coco"})):
        assert admin.call("POST", path, json=body).status_code >= 500, path
    assert state() == before


def test_long_values_are_told_by_their_size(admin, make_set):
    made = make_set(labels=[{"name": f"label {i}"} for i in range(500)])
    assert lines(admin, "label_set", made["id"])[0]["detail"]["labels"]["new"].endswith("bytes)")


def test_it_cannot_be_changed(admin):
    one = admin.get("audit", limit=1)["items"][0]
    for method in ("PATCH", "DELETE", "PUT"):
        problem(admin.call(method, f"audit/{one['id']}", json={}), 405, "method")
    assert admin.get(f"audit/{one['id']}") == one


def test_it_outlives_what_it_tells_of(admin):
    user = admin.post("users", {"name": unique("user"), "password": "pass-word-1"})
    project = admin.post("projects", {"name": unique("project")})
    admin.delete(f"projects/{project['id']}")
    admin.delete(f"users/{user['id']}")
    last = lines(admin, "project", project["id"])[-1]
    assert last["verb"] == "delete" and last["project"] == {"id": project["id"], "name": None}
