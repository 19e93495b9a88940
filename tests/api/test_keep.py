"""Keeping a folder of an environment's /workspace as a version of an algorithm or model set: while it runs and when it is
stopped, what is left out and told, who may, quota, cancelling, and a server that is killed."""

import contextlib
import json
import os
import socket
import sqlite3
import threading
from datetime import datetime
from pathlib import Path

import pytest
from harness import DEADLINE, problem, unique, wait_for
from test_environments import make, run, spec, start, stop  # noqa: F401  (make and spec are fixtures)
from test_files import names, put, read

MB = 1 << 20


def workspace(server, e: dict) -> Path:
    """Its folder on the server, made when it was never started."""
    made = datetime.fromisoformat(e["created_at"])
    micro = int(made.timestamp()) * 1000000 + made.microsecond
    path = Path(server.data) / "workspace" / f"{e['id']}-{micro}"
    path.mkdir(parents=True, exist_ok=True)
    return path


def over(api, task: dict) -> dict:
    return wait_for(lambda: (t := api.get(f"tasks/{task['id']}"))["state"] in ("done", "failed", "cancelled") and t, "the task's end")


def keep(api, e: dict, folder: str, **fields) -> dict:
    """The finished task."""
    task = over(api, api.post(f"environments/{e['id']}/keep", {"folder": folder, **fields}, expect=202))
    assert task["state"] == "done", task
    return task


def report(api, task: dict) -> dict:
    answer = api.call("GET", f"tasks/{task['id']}/report")
    assert answer.status_code == 200, answer.text
    return {line["file"]: line["reason"] for line in map(json.loads, answer.text.splitlines())}


def path_of(task: dict) -> str:
    made = task["result"]["made"]
    plural = {"algorithm_version": "algorithm-sets", "model_version": "model-sets"}[made["kind"]]
    return f"{plural}/{made['set']['id']}/versions/{made['version']['id']}"


@pytest.fixture
def net(admin, project) -> dict:
    """An algorithm set with one version: train.py."""
    made = admin.post("algorithm-sets", {"name": unique("net"), "project": project["id"]})
    version = admin.post(f"algorithm-sets/{made['id']}/versions", {})
    put(admin, f"algorithm-sets/{made['id']}/versions/{version['id']}", "train.py", b"print(1)\n")
    return {**made, "version": version["id"]}


def test_code_that_was_edited_in_a_running_environment(admin, project, make, net):  # noqa: F811
    """What is mounted is read-only: a copy of it is edited and becomes the next version, which says where it is from."""
    e = start(admin, make(algorithms=[net["version"]]))
    assert run(admin, e, f"touch algorithm/{net['name']}/x 2>/dev/null || echo refused") == "refused"
    run(admin, e, f"cp -r algorithm/{net['name']} mine; echo 'print(2)' >mine/train.py; mkdir mine/lib; echo x >mine/lib/y.py; "
                  "chmod 700 mine/lib/y.py; chmod 000 mine/train.py")
    folders = admin.get(f"environments/{e['id']}/folders")
    assert {"name": "mine", "mounted": False} in folders["items"]
    assert admin.get(f"environments/{e['id']}/folders", folder="algorithm")["items"] == [{"name": net["name"], "mounted": True}]
    task = keep(admin, e, "mine", algorithm_set=net["id"], description="twice")
    assert (task["result"]["files"], task["result"]["bytes"], task["problems"]) == (2, 11, 0)
    assert task["result"]["made"]["version"]["name"] == "v2"
    version = admin.get(path_of(task))
    assert (version["description"], version["published"], version["files"]) == ("twice", True, 2)
    assert version["lineage"]["environment"] == {"id": e["id"], "name": e["name"]} and version["lineage"]["folder"] == "mine"
    assert [v["version"]["id"] for v in version["lineage"]["algorithms"]] == [net["version"]]
    assert read(admin, path_of(task), "train.py").content == b"print(2)\n"
    items = admin.call("GET", f"{path_of(task)}/files", params={"path": "lib"}).json()["items"]
    assert [(i["name"], i["executable"]) for i in items] == [("y.py", True)]
    audit = admin.get("audit", filter=f'kind = "environment" and object = {e["id"]}')["items"]
    assert "keep" in {line["verb"] for line in audit}


def test_what_is_mounted_is_kept_as_it_is_seen_inside(admin, project, make, net):  # noqa: F811
    e = start(admin, make(algorithms=[net["version"]]))
    run(admin, e, "echo own >algorithm/own.txt")
    name = unique("all")
    task = keep(admin, e, "algorithm", new_algorithm_set=name)
    made = task["result"]["made"]
    assert (made["set"]["name"], made["version"]["name"]) == (name, "v1")
    assert names(admin, path_of(task)) == [net["name"], "own.txt"]
    assert read(admin, path_of(task), f"{net['name']}/train.py").content == b"print(1)\n"
    lineage = {(x["from"], x["as"]) for x in admin.get("lineage", kind="algorithm_version", id=made["version"]["id"])["edges"]}
    assert lineage == {(f"environment:{e['id']}", "kept"), (f"algorithm_version:{net['version']}", "code")}
    same = keep(admin, e, f"algorithm/{net['name']}", algorithm_set=net["id"])
    assert admin.get(path_of(same))["digest"] == admin.get(f"algorithm-sets/{net['id']}/versions/{net['version']}")["digest"]
    stop(admin, e)
    for folder in (f"algorithm/{net['name']}", f"algorithm/{net['name']}/src"):
        problem(admin.call("POST", f"environments/{e['id']}/keep", json={"folder": folder, "algorithm_set": net["id"]}), 409,
                "conflict", "folder", says="start it")
    task = keep(admin, e, "algorithm", algorithm_set=net["id"])
    assert names(admin, path_of(task)) == ["own.txt"]
    assert report(admin, task) == {net["name"]: "mounted only while the environment runs"}


def test_links_and_special_files_are_told(admin, make, server):  # noqa: F811
    e = make()
    folder = workspace(server, e) / "persistent-model"
    (folder / "deep").mkdir(parents=True)
    (folder / "w.bin").write_bytes(b"12345")
    (folder / "deep/w.bin").write_bytes(b"678")
    (folder / "passwd").symlink_to("/etc/passwd")
    (folder / "out").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    (folder / "back\\slash").write_bytes(b"x")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.bind(str(folder / "s"))
    task = keep(admin, e, "persistent-model", new_model_set=unique("weights"))
    assert names(admin, path_of(task)) == ["deep", "w.bin"] and task["result"]["bytes"] == 8
    told = report(admin, task)
    assert set(told) == {"passwd", "out", "pipe", "s", "back\\slash"} and task["problems"] == 5
    assert (told["passwd"], told["pipe"]) == ("a link", "no plain file")


def test_a_file_that_changes_meanwhile_is_told(admin, make, server):  # noqa: F811
    e = make()
    folder = workspace(server, e) / "model"
    folder.mkdir()
    size = 64 * MB
    (folder / "grows").write_bytes(b"")
    os.truncate(folder / "grows", size)
    ended = threading.Event()

    def write() -> None:
        with open(folder / "grows", "ab", buffering=0) as f:
            while not ended.is_set():
                f.write(b"x")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        task = keep(admin, e, "model", new_model_set=unique("m"))
    finally:
        ended.set()
        writer.join()
    assert "changed while it was read" in report(admin, task)["grows"]
    assert task["result"]["bytes"] >= size


@pytest.mark.parametrize("folder", ["/etc", "../other", "a/../..", "a//b", ".", "a\\b", "missing", "link", "link/sub", "note"])
def test_paths_that_are_no_folders_of_workspace(admin, make, server, net, folder):  # noqa: F811
    e = make()
    base = workspace(server, e)
    (base / "a").mkdir()
    (base / "link").symlink_to("/etc")
    (base / "note").write_text("x")
    problem(admin.call("POST", f"environments/{e['id']}/keep", json={"folder": folder, "algorithm_set": net["id"]}), 422, "invalid",
            "folder", says="/workspace")
    if folder != ".":
        problem(admin.call("GET", f"environments/{e['id']}/folders", params={"folder": folder}), 422, "invalid", "folder")


def test_what_a_request_must_have(admin, project, make, server, net):  # noqa: F811
    e = make()
    assert admin.get(f"environments/{e['id']}/folders") == {"folder": "", "items": []}
    base = workspace(server, e)
    (base / "a").mkdir()
    path = f"environments/{e['id']}/keep"
    problem(admin.call("POST", path, json={"folder": "a", "algorithm_set": net["id"]}), 409, "conflict", "folder", says="empty")
    (base / "a/f").write_text("x")
    problem(admin.call("POST", path, json={"folder": "a"}), 422, "invalid", "algorithm_set", says="new_model_set")
    problem(admin.call("POST", path, json={"folder": "a", "algorithm_set": net["id"], "new_model_set": "x"}), 422, "invalid",
            "algorithm_set")
    problem(admin.call("POST", path, json={"folder": "a", "algorithm_set": 1 << 40}), 422, "invalid", "algorithm_set",
            says=str(1 << 40))
    problem(admin.call("POST", path, json={"folder": "a", "new_algorithm_set": net["name"]}), 409, "exists", "new_algorithm_set",
            says=net["name"])
    problem(admin.call("POST", path, json={"folder": "a", "new_model_set": "a/b"}), 422, "invalid", "new_model_set")
    other = admin.post("projects", {"name": unique("p")})
    public = admin.post("algorithm-sets", {"name": unique("net"), "project": other["id"], "public": True})
    problem(admin.call("POST", path, json={"folder": "a", "algorithm_set": public["id"]}), 422, "invalid", "algorithm_set",
            says="another project")
    assert admin.get("model-sets", project=project["id"])["items"] == []


def test_only_who_made_it_and_may_write_to_the_set(admin, project, make, make_user, server, net):  # noqa: F811
    ann, bob = make_user(project), make_user(project)
    e = make(ann)
    (workspace(server, e) / "a").mkdir()
    (workspace(server, e) / "a/f").write_text("x")
    body = {"folder": "a", "algorithm_set": net["id"]}
    assert keep(ann, e, "a", algorithm_set=net["id"])["result"]["files"] == 1
    assert keep(admin, e, "a", algorithm_set=net["id"])["result"]["files"] == 1
    problem(bob.call("POST", f"environments/{e['id']}/keep", json=body), 403, "forbidden", says="who made the environment")
    problem(bob.call("GET", f"environments/{e['id']}/folders"), 403, "forbidden")
    problem(make_user().call("POST", f"environments/{e['id']}/keep", json=body), 404, "not_found")
    role = admin.post("roles", {"name": unique("r"), "permissions": ["project.read", "environment.*", "*.read"]})
    eve = make_user(project, role=role["name"])
    own = make(eve)
    (workspace(server, own) / "a").mkdir()
    (workspace(server, own) / "a/f").write_text("x")
    problem(eve.call("POST", f"environments/{own['id']}/keep", json=body), 403, "forbidden", says="algorithm_version.create")
    problem(eve.call("POST", f"environments/{own['id']}/keep", json={"folder": "a", "new_model_set": "m"}), 403, "forbidden",
            says="model_set.create")


def test_more_than_the_project_may_store(admin, make, server, spec):  # noqa: F811
    project = admin.post("projects", {"name": unique("small"), "quota": {"storage": MB}})
    e = make(project=project["id"])
    folder = workspace(server, e) / "model"
    folder.mkdir()
    (folder / "large").write_bytes(b"")
    os.truncate(folder / "large", 2 * MB)  # takes no space here: measuring the workspace would refuse the request before
    (folder / "small").write_bytes(b"x")
    name = unique("m")
    task = over(admin, admin.post(f"environments/{e['id']}/keep", {"folder": "model", "new_model_set": name}, expect=202))
    assert task["state"] == "failed" and str(MB) in task["message"] and str(2 * MB + 1) in task["message"], task
    assert task["done"] == 0, "nothing was read"
    assert admin.get("model-sets", project=project["id"])["items"] == []


def big(server, e: dict, size: int = 512 * MB) -> None:
    folder = workspace(server, e) / "model"
    folder.mkdir()
    (folder / "w.bin").write_bytes(b"")
    os.truncate(folder / "w.bin", size)


def test_cancelled(admin, project, make, server):  # noqa: F811
    e = make()
    big(server, e)
    name = unique("m")
    task = admin.post(f"environments/{e['id']}/keep", {"folder": "model", "new_model_set": name}, expect=202)
    admin.post(f"tasks/{task['id']}/cancel", expect=200)
    assert over(admin, task)["state"] == "cancelled"
    assert name not in {s["name"] for s in admin.all("model-sets", project=project["id"])}


def test_a_server_that_is_killed_makes_one_version(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.1, "memory": 64 * MB})
    e = admin.post("environments", {"project": project["id"], "name": "e", "spec": spec["id"]})
    models = admin.post("model-sets", {"project": project["id"], "name": "m"})
    big(server, e, 128 * MB)
    task = admin.post(f"environments/{e['id']}/keep", {"folder": "model", "model_set": models["id"]}, expect=202)
    for _ in range(3):
        wait_for(lambda: admin.get(f"tasks/{task['id']}")["state"] != "waiting", "it to run")
        server.kill()
        admin = server.start().admin()
        assert len(admin.get(f"model-sets/{models['id']}/versions")["items"]) <= 1
    assert over(admin, task)["state"] == "done"
    versions = admin.get(f"model-sets/{models['id']}/versions")["items"]
    assert [(v["name"], v["bytes"]) for v in versions] == [("v1", 128 * MB)]
    if server.db is not None:
        return
    # Killed after the version was made, and before the task knew that it had ended.
    server.kill()
    with contextlib.closing(sqlite3.connect(f"{server.data}/ingot.db", timeout=DEADLINE)) as db, db:
        db.execute("UPDATE tasks SET state = 'running', ended_at = NULL WHERE id = ?", (task["id"],))
    admin = server.start().admin()
    again = over(admin, task)
    assert (again["state"], again["result"]["made"]["version"]["id"]) == ("done", versions[0]["id"])
    assert len(admin.get(f"model-sets/{models['id']}/versions")["items"]) == 1
