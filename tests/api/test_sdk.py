"""The Python SDK against a real server."""

import threading

import ingot
import pytest
from harness import ADMIN_PASSWORD, DEADLINE, unique


@pytest.fixture(scope="module")
def client(server):
    with ingot.Client(server.url, timeout=DEADLINE) as client:
        client.sign_in("admin", ADMIN_PASSWORD)
        yield client


def test_a_session_becomes_a_token(server, client):
    with ingot.Client(server.url, timeout=DEADLINE) as own:
        own.use_token(client.make_token(unique("t"))["secret"])
        assert own.session()["via"] == "token"
        assert own.session()["user"]["name"] == "admin"
    with ingot.Client(server.url, timeout=DEADLINE) as nobody:
        with pytest.raises(ingot.Unauthorized):
            nobody.session()
        assert nobody.health()["status"] == "ok"


def test_objects_live_a_whole_life(client):
    project = client.projects.create(name=unique("p"), description="first")
    assert client.projects.get(project["id"]) == project
    assert client.projects.find(project["name"]) == project
    changed = client.projects.update(project, description="second")
    assert changed["revision"] == project["revision"] + 1
    with pytest.raises(ingot.Stale):
        client.projects.update(project, description="third")
    assert client.projects.update(project["id"], description="third")["description"] == "third"
    client.projects.delete(project["id"])
    with pytest.raises(ingot.NotFound):
        client.projects.get(project["id"])
    with pytest.raises(ingot.NotFound):
        client.projects.find(project["name"])


def test_lists_are_followed_to_their_end(client):
    project = client.projects.create(name=unique("p"))
    names = [f"set-{i:02}" for i in range(11)]
    for name in names:
        client.label_sets.create(project=project, name=name, labels=[{"name": "a", "color": "#00ff00"}])
    found = client.label_sets.list(project=project, sort="name", page_size=3)
    assert [item["name"] for item in found] == names
    page = client.label_sets.page(project=project, limit=4, count=True)
    assert (len(page.items), page.total) == (4, 11) and page.next
    assert [x["name"] for x in client.kind("label-sets").list(project=project, q="set-07")] == ["set-07"]
    assert len(list(client.label_sets.list(project=project, filter='name in ("set-01", "set-02")'))) == 2


def test_versions_of_a_whole_project(client):
    project = client.projects.create(name=unique("p"))
    made = []
    for name in ("first", "second"):
        of = client.model_sets.create(project=project, name=name)
        made.append(client.model_sets.children(of, "versions").create())
    assert [one["id"] for one in client.model_versions.list(project=project, sort="id", page_size=1)] == [one["id"] for one in made]
    assert client.model_versions.get(made[0]["id"]) == made[0]


def test_members_are_children(client):
    project = client.projects.create(name=unique("p"))
    user = client.users.create(name=unique("u"), password="pass-word-1")
    role = client.roles.find("viewer")
    member = client.members(project).create(user=user, role=role)
    assert member["user"]["id"] == user["id"]
    assert user["id"] in [m["user"]["id"] for m in client.projects.children(project, "members").list() if m["user"]]
    client.members(project).delete(member)


def test_a_project_is_named_everywhere(client):
    project = client.projects.create(name=unique("p"))
    name = project["name"]
    made = client.label_sets.create(project=name, name="roads", labels=[{"name": "car", "color": "#ff0000"}])
    assert made["project"]["id"] == project["id"]
    assert client.label_sets.find("roads", project=name)["id"] == made["id"]
    assert [one["id"] for one in client.label_sets.list(project=name, page_size=1)] == [made["id"]]
    assert len(client.label_sets.table(project=str(project["id"]))) == 1
    assert [one["user"]["name"] for one in client.members(name).list()]
    assert made["id"] in [one["id"] for one in client.find("road", project=name) if one["kind"] == "label_set"]
    with pytest.raises(ingot.NotFound, match="nowhere"):
        client.label_sets.page(project="nowhere")


def test_a_client_that_is_given_stays_open(client):
    project = client.projects.create(name=unique("p"))
    with pytest.raises(ingot.NotFound):
        ingot.evaluate("none:v1", "none:v1", project=project["name"], client=client)
    assert client.projects.get(project)["id"] == project["id"]


def test_refusals_are_exceptions(client, make_user, server):
    with pytest.raises(ingot.Invalid) as invalid:
        client.projects.create(name="a/b")
    assert (invalid.value.field, invalid.value.status, invalid.value.code) == ("name", 422, "invalid")
    name = unique("p")
    project = client.projects.create(name=name)
    with pytest.raises(ingot.Conflict) as taken:
        client.projects.create(name=name)
    assert taken.value.field == "name"
    client.label_sets.create(project=project, name="x", labels=[])
    with pytest.raises(ingot.Conflict) as used:
        client.projects.delete(project["id"])
    assert used.value.references[0]["kind"] == "label_set"
    with ingot.Client(server.url, timeout=DEADLINE, token=make_user().token) as user:
        with pytest.raises(ingot.Forbidden) as forbidden:
            user.users.create(name=unique("u"), password="pass-word-1")
        assert forbidden.value.permission == "user.create"


def test_events_arrive(client, server):
    project = client.projects.create(name=unique("p"))
    seen, name = [], unique("set")
    ready = threading.Event()

    def listen():
        with ingot.Client(server.url, timeout=DEADLINE, token=client.make_token(unique("t"))["secret"]) as own:
            for event in own.events(project):
                seen.append(event)
                ready.set()
                if event["kind"] == "label_set" and event["verb"] == "delete":
                    return

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    # Until the first event arrives the listener may not be there yet: make changes until it is.
    count = 0
    while not ready.wait(0.05):
        count += 1
        client.label_sets.create(project=project, name=f"{name}-{count}", labels=[])
    last = client.label_sets.create(project=project, name=name, labels=[])
    client.label_sets.delete(last["id"])
    listener.join(180)
    assert not listener.is_alive()
    assert {e["verb"] for e in seen} >= {"create", "delete"}


def test_the_platform_describes_itself(client):
    kinds = {kind["name"]: kind for kind in client.kinds()}
    assert {"user", "project", "label_set"} <= set(kinds)
    assert client.openapi()["openapi"].startswith("3.1")
    assert "project.create" in {p["name"] for p in client.permissions()}
    assert client.find("nothing is called so") == []
    assert "collect-blobs" in {c["name"] for c in client.controllers()}
    client.run_controller("collect-blobs")
    # Every plain kind has its attribute in the client.
    for name in ("users", "groups", "roles", "projects", "tokens", "sessions", "audit", "specs"):
        assert isinstance(getattr(client, name).page(limit=1).items, list)


def test_backup_is_a_file(client, tmp_path):
    size = client.backup(tmp_path / "b")
    assert size == (tmp_path / "b").stat().st_size > 0
