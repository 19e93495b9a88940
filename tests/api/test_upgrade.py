"""Upgrades: what an older program wrote (tests/fixtures/make.py) is opened and used by this one, and opened again by the
older one, where that is built (not of fixtures with the file forward-only). In the part with PostgreSQL its backup goes into that."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ADMIN_PASSWORD, Api, ROOT, Server, binary, unique, wait_for
from oci import Registry
from test_datasets import PICTURES, bring, png, samples, zipped
from test_files import put, read
from test_gateway import Caller
from test_services import replicas, told as reaches
from test_training import instance_path, log, reached

sys.path.append(str(ROOT / "tests/fixtures"))
import make  # noqa: E402

FIXTURES = sorted(p.name for p in (ROOT / "tests/fixtures").iterdir() if p.is_dir() and p.name != "__pycache__")


def told(commit: str) -> dict | None:
    """What make.py wrote down beside the folder; None of programs that had neither services nor labelling tasks."""
    path = ROOT / f"tests/fixtures/{commit}/told.json"
    return json.loads(path.read_text()) if path.exists() else None


def one(api, path: str, **params) -> dict:
    [found] = api.get(path, **params)["items"]
    return found


def version_path(api, kind: str, project: dict, name: str, version: str) -> str:
    made = one(api, kind, project=project["id"], filter=f'name = "{name}"')
    found = one(api, f"{kind}/{made['id']}/versions", filter=f'name = "{version}"')
    return f"{kind}/{made['id']}/versions/{found['id']}"


def look(server: Server, api: Api) -> dict:
    """Everything that make.py put there can be read."""
    project = one(api, "projects", filter='name = "vision"')
    assert (project["description"], project["quota"]) == ("街景", {"storage": 100_000_000})
    bob = type(api)(server.url, Api(server.url).sign_in("bob", "pass-word-1").token)
    assert bob.get(f"projects/{project['id']}")["name"] == "vision"
    assert one(api, "label-sets", project=project["id"], filter='name = "roads"')["labels"][0]["name"] == "car"
    for version in ("v1", "v2"):
        found = samples(api, version_path(api, "datasets", project, "streets", version))
        assert [s["name"] for s in found][:12] == list(PICTURES)
    path = version_path(api, "datasets", project, "streets", "v1")
    picture = api.call("GET", f"{path}/samples/{samples(api, path)[3]['id']}/content")
    assert picture.content == PICTURES["images/003.png"]
    assert b"persistent-model" in read(api, version_path(api, "algorithm-sets", project, "net", "v1"), "train.py").content
    assert read(api, version_path(api, "model-sets", project, "nets", "v1"), "weights").content == b"7"
    training = one(api, "trainings", project=project["id"], filter='name = "night"')
    first = api.get(f"trainings/{training['id']}/instances", sort="created_at")["items"][0]
    assert first["state"] == "completed" and "step=1 loss=0.5" in log(api, first)
    assert Registry(server.url, auth=("admin", ADMIN_PASSWORD)).tags("vision/tool") == ["v1"]
    return project


def metrics(api: Api, project: dict) -> dict:
    """What the first run logged; the older program kept it elsewhere."""
    training = one(api, "trainings", project=project["id"], filter='name = "night"')
    first = api.get(f"trainings/{training['id']}/instances", sort="created_at")["items"][0]
    return {s["name"]: [(p[0], p[2]) for p in s["points"]] for s in api.get(instance_path(first) + "/metrics")["series"]}


def label(api: Api, path: str) -> None:
    """What was labelled before is changed shape by shape, and what was can be had again."""
    was = samples(api, path)[0]
    shape = {"id": "new", "type": "box", "label": "car", "x": 1, "y": 1, "w": 3, "h": 3}
    body = {"operations": [{"sample": was["id"], "id": "upgraded1.1", "op": "put", "shape": shape}]}
    [result] = api.post(f"{path}/operations", body, expect=200)["results"]
    assert (result["state"], result["revision"]) == ("applied", was["revision"] + 1), result
    before = api.get(f"{path}/samples/{was['id']}/at", revision=was["revision"])["annotation"]
    shapes = before.get("shapes", [])
    assert all(s.pop("id") for s in shapes) and before == was["annotation"], "as it was, with the ids that operations name"
    now = api.get(f"{path}/samples/{was['id']}")["annotation"]["shapes"]
    assert len(now) == len(was["annotation"].get("shapes", [])) + 1 and all("id" in s for s in now)


def use(api: Api, project: dict, begins: str) -> None:
    """It can be changed: rows, files, samples, and a run that goes on where the older program's ended."""
    api.post("label-sets", {"project": project["id"], "name": unique("new"), "labels": []})
    put(api, version_path(api, "algorithm-sets", project, "net", "v1"), "more.py", b"pass")
    bring(api, project, version_path(api, "datasets", project, "streets", "v2"), "z.zip", zipped({"z/z.png": png(9, 9, 99)}))
    label(api, version_path(api, "datasets", project, "streets", "v2"))
    training = one(api, "trainings", project=project["id"], filter='name = "night"')
    first = api.get(f"trainings/{training['id']}/instances", sort="created_at")["items"][0]
    resumed = api.post(instance_path(first) + "/resume")
    assert reached(api, resumed)["state"] == "completed"
    assert begins in log(api, resumed)


def among(then, now) -> bool:
    """Whether everything that was answered then is answered now; there may be further fields."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(k in now and among(v, now[k]) for k, v in then.items())
    if isinstance(then, list):
        return isinstance(now, list) and len(then) == len(now) and all(among(a, b) for a, b in zip(then, now))
    return then == now


def look_at_labelling(api: Api, labelling: dict) -> None:
    """Annotations, annotation layers, every operation and what it led to, questions."""
    project = one(api, "projects", filter=f'name = "{labelling["project"]}"')
    version = next(key.rsplit("/samples/", 1)[0] for key in labelling["answers"] if "/samples/" in key)
    now = make.shop_answers(api, project, version)
    assert now.keys() == labelling["answers"].keys()
    for key, then in labelling["answers"].items():
        assert among(then, json.loads(json.dumps(now[key]))), key


def look_at_services(server: Server, api: Api, keys: dict, whole: bool) -> None:
    """They answer through the gateway with their old keys. A backup was made while they answered, a folder when they were
    stopped; the values of environment variables (of `page`) are in no backup."""
    project = one(api, "projects", filter='name = "vision"')
    services = {name: one(api, "services", project=project["id"], filter=f'name = "{name}"') for name in keys}
    for name in keys if whole else ("colours",):
        s = services[name]
        if s["state"] == "stopped":
            api.post(f"services/{s['id']}/start", expect=200)
        reaches(api, s, "serving")
        caller = Caller(server, s, keys[name])
        with caller.client() as c:
            answer = c.post("/predict", content=png(9, 9, 5), headers={"Content-Type": "image/png"}) if name == "colours" else c.get("/")
        assert answer.status_code == 200, answer.text
        assert answer.json()["annotation"]["labels"] if name == "colours" else answer.text == "blue"
        found = api.get(f"requests/{answer.headers['x-request-id']}")
        assert (found["service_name"], found["version_name"]) == (name, "v1")
        assert Caller(server, s, keys[name][:-1] + "?").get().status_code == 401
    assert Caller(server, services["colours"], keys["page"]).get().status_code == 401, "of its own service only"
    for s in services.values():
        api.post(f"services/{s['id']}/stop", expect=200)
        wait_for(lambda: not [r for r in replicas(api, s) if r["state"] != "over"], "its containers to end")  # noqa: B023


def look_at_evaluation(api: Api, then: dict) -> None:
    now = json.loads(json.dumps(make.evaluation_answers(api, then["id"])))
    for key, was in then.items():
        assert among(was, now[key]), (key, now[key])


def look_further(server: Server, api: Api, commit: str, whole: bool) -> None:
    more = told(commit)
    if more:
        look_at_labelling(api, more["labelling"])
        look_at_services(server, api, more["keys"], whole)
        if "evaluation" in more:
            look_at_evaluation(api, more["evaluation"])


class OlderApi(Api):
    """Its answers are described by its own document, not by ours."""

    def call(self, method: str, path: str, **options):
        return self.http.request(method, path.lstrip("/"), **options)


@pytest.mark.parametrize("commit", FIXTURES)
def test_a_data_folder_of_before(commit, fresh_server, make_db, tmp_path):
    db = make_db()
    data = str(tmp_path / "data")
    if db:
        backup = ROOT / f"tests/fixtures/{commit}/backup.tar.zst"
        subprocess.run([binary(), "restore", backup, "--data", data, "--db", db], check=True)
    else:
        Path(data).mkdir()
        subprocess.run(["tar", "--extract", "--zstd", "--numeric-owner", "--same-owner", f"--directory={data}",
                        f"--file={ROOT / f'tests/fixtures/{commit}/data.tar.zst'}"], check=True)
    server = fresh_server(data=data, db=db)
    api = server.admin()
    project = look(server, api)
    assert metrics(api, project) == {"loss": [(1, 0.5)]}
    look_further(server, api, commit, whole=not db)
    # Backups of the oldest program had no checkpoints yet.
    use(api, project, "from nothing" if db and not told(commit) else "from 7")
    server.stop()
    if (ROOT / f"tests/fixtures/{commit}/forward-only").exists():
        return

    older = subprocess.run([ROOT / "scripts/older.sh", commit], text=True, capture_output=True)
    if older.returncode == 3:
        pytest.skip(f"going back was not tried: {older.stderr.strip()}")
    assert older.returncode == 0, older.stderr
    before = fresh_server(data=data, db=db, program=older.stdout.strip())
    api = OlderApi(before.url, before.admin().token)
    project = look(before, api)
    assert one(api, "label-sets", project=project["id"], q="new")["labels"] == []
    api.post("label-sets", {"project": project["id"], "name": "later", "labels": []})
    before.stop()


@pytest.mark.skipif(os.environ.get("INGOT_TEST_DB") == "postgres", reason="the test before restored it there")
@pytest.mark.parametrize("commit", FIXTURES)
def test_a_backup_of_before(commit, fresh_server, tmp_path):
    data = str(tmp_path / "data")
    subprocess.run([binary(), "restore", ROOT / f"tests/fixtures/{commit}/backup.tar.zst", "--data", data], check=True)
    server = fresh_server(data=data)
    assert metrics(server.admin(), look(server, server.admin())) == {"loss": [(1, 0.5)]}
    look_further(server, server.admin(), commit, whole=False)
