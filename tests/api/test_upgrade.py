"""Upgrades: what an older program wrote (tests/fixtures/make.py) is opened and used by this one, and opened again by the
older one. In the part with PostgreSQL its backup goes into that."""

import os
import subprocess
from pathlib import Path

import pytest
from harness import ADMIN_PASSWORD, Api, ROOT, Server, binary, unique
from oci import Registry
from test_datasets import PICTURES, bring, png, samples, zipped
from test_files import put, read
from test_training import instance_path, log, reached

FIXTURES = sorted(p.name for p in (ROOT / "tests/fixtures").iterdir() if p.is_dir())

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
    # Backups of that program had no checkpoints yet.
    use(api, project, "from nothing" if db else "from 7")
    server.stop()

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
