"""Trying a model version without a service: its own ingot-infer on demand, by its manifest or by one that is not saved yet."""

import json
import sys
from pathlib import Path

import pytest
from cli import Cli
from harness import Api, problem, unique, wait_for
from test_files import put

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/infer"))
import predict_models  # noqa: E402


def picture(folder: Path) -> bytes:
    from PIL import Image
    Image.radial_gradient("L").resize((64, 48)).convert("RGB").save(folder / "a.png")
    return (folder / "a.png").read_bytes()


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("model")
    predict_models.image_class(folder)
    return {name: (folder / name).read_bytes() for name in ("model.onnx", "ingot-model.json")} | {"a.png": picture(folder)}


def make_version(api: Api, project: dict, files: dict[str, bytes], *names: str, **fields) -> str:
    models = api.post("model-sets", {"project": project["id"], "name": unique("m")} | fields)
    versions = f"model-sets/{models['id']}/versions"
    path = f"{versions}/{api.post(versions, {})['id']}"
    for name in names:
        put(api, path, name, files[name])
    return path


@pytest.fixture
def version(admin, project, files):
    """Makes versions; deletes them afterwards, and waits until nothing of them runs."""
    made = []

    def make(*names: str, api=admin, **fields) -> str:
        made.append(make_version(api, project, files, *(names or ("model.onnx", "ingot-model.json")), **fields))
        return made[-1]
    yield make
    for path in made:
        admin.call("DELETE", path, headers={"If-Match": "*"})
    wait_for(lambda: not [j for j in trials(admin, project) if j["state"] in ("queued", "starting", "running", "stopping")], "the trials to end")


def trials(api: Api, project: dict) -> list[dict]:
    return api.all("jobs", project=project["id"], filter='owner_kind = "model_trial"', limit=200)


def ready(api: Api, path: str, **body) -> dict:
    first = api.post(f"{path}/try", body, expect=200)
    assert first["state"] in ("waiting", "starting", "ready"), first
    place = {"project": body["project"]} if "project" in body else {}

    def answers():
        now = api.get(f"{path}/trial", **place)
        assert now["state"] in ("waiting", "starting", "ready"), now
        return now["state"] == "ready" and now
    return wait_for(answers, "the trial to answer")


def predict(api: Api, path: str, files: dict[str, bytes], manifest: dict | None = None, **query):
    if manifest is None:
        return api.call("POST", f"{path}/predict", content=files["a.png"], headers={"Content-Type": "image/png"}, params=query)
    return api.call("POST", f"{path}/predict", params=query,
                    files={"manifest": ("ingot-model.json", json.dumps(manifest), "application/json"), "file": ("a.png", files["a.png"], "image/png")})


def test_a_version_answers_without_a_service(admin, project, version, files):
    path = version()
    assert admin.get(f"{path}/trial")["state"] == "none"
    problem(predict(admin, path, files), 409, "conflict", says="try")
    now = ready(admin, path)
    answer = predict(admin, path, files, score=0.1)
    assert answer.status_code == 200, answer.text
    labels = json.loads(files["ingot-model.json"])["labels"]
    assert set(answer.json()["annotation"]["scores"]) <= set(labels) and answer.json()["width"] == 64
    # The same one goes on; it is a job like any other, but lists leave it out.
    assert admin.post(f"{path}/try", {}, expect=200)["job"] == now["job"]
    assert now["job"] not in [j["id"] for j in admin.all("jobs", project=project["id"], limit=200)]
    assert now["job"] in [j["id"] for j in trials(admin, project)]
    assert admin.get(f"jobs/{now['job']}")["owner_kind"] == "model_trial"
    assert 'ingot_on_demand_jobs{kind="model_trial",state="running"}' in admin.http.get(admin.url + "/metrics", headers={"Authorization": f"Bearer {admin.token}"}).text
    assert [a for a in admin.get("audit", filter=f'kind = "model_version" and object = {path.split("/")[-1]}', limit=20)["items"] if a["verb"] == "try"]
    # Other content takes another container.
    put(admin, path, "readme.txt", b"more")
    assert admin.get(f"{path}/trial")["state"] == "none"
    again = ready(admin, path)
    assert again["job"] != now["job"] and predict(admin, path, files).status_code == 200
    wait_for(lambda: admin.get(f"jobs/{now['job']}")["state"] == "stopped", "the former one to end")
    # A version that is deleted takes its trial with it.
    admin.delete(path, headers={"If-Match": "*"})
    wait_for(lambda: admin.call("GET", f"jobs/{again['job']}").status_code == 404, "the trial to go with its version")


def test_a_manifest_is_tried_before_it_is_saved(admin, version, files):
    path = version("model.onnx")
    given = json.loads(files["ingot-model.json"])
    ready(admin, path)
    # Without one there is nothing to follow.
    assert "ingot-model.json" in predict(admin, path, files).json()["error"]
    named = given | {"labels": [f"kind {i}" for i in range(len(given["labels"]))]}
    answer = predict(admin, path, files, named)
    assert answer.status_code == 200 and set(answer.json()["annotation"]["scores"]) <= set(named["labels"]), answer.text
    assert admin.post(f"{path}/check", named, expect=200) == {"ok": True, "field": None, "reason": None, "reason_zh": None}
    wrong = {"task": ("nonsense", "task"), "labels": ([], "labels"),
             "inputs": ([given["inputs"][0] | {"size": [0]}], "inputs[0].size"),
             "outputs": ([given["outputs"][0] | {"name": "elsewhere"}], "outputs[0].name"),
             "parts": ([{"name": "model", "file": "gone.onnx"}], "parts[0].file")}
    for field, (value, told) in wrong.items():
        checked = admin.post(f"{path}/check", given | {field: value}, expect=200)
        assert not checked["ok"] and checked["field"].startswith(told), (field, checked)
        refused = predict(admin, path, files, given | {field: value})
        assert 400 <= refused.status_code < 500 and refused.json()["error"], (field, refused.text)
    # It goes on after all of these.
    assert predict(admin, path, files, given).status_code == 200
    assert admin.call("POST", f"{path}/check", content=b"{", headers={"Content-Type": "application/json"}).status_code == 400


def test_it_ends_when_nobody_uses_it(admin, version):
    path = version()
    job = ready(admin, path, idle_s=1)["job"]
    wait_for(lambda: admin.get(f"{path}/trial")["state"] == "none", "its end")
    now = wait_for(lambda: (j := admin.get(f"jobs/{job}"))["state"] == "stopped" and j, "its end")
    assert now["reason"] == "nobody has tried it for a while"


def test_who_may_try(admin, project, version, files, make_user):
    path, public = version(), version(public=True)
    other = admin.post("projects", {"name": unique("p")})
    viewer, stranger = make_user(project, "viewer"), make_user(other, "member")
    assert viewer.get(f"{path}/trial")["state"] == "none"
    problem(viewer.call("POST", f"{path}/try", json={}), 403, "forbidden", says="service.invoke")
    problem(predict(viewer, path, files), 403, "forbidden")
    for call in (stranger.call("POST", f"{path}/try", json={}), stranger.call("GET", f"{path}/trial"), predict(stranger, path, files),
                 stranger.call("POST", f"{path}/check", json={})):
        problem(call, 404, "not_found")
    # Its files stay in its project; a public one is tried in one's own.
    problem(admin.call("POST", f"{path}/try", json={"project": other["id"]}), 422, "invalid", field="project")
    problem(stranger.call("POST", f"{public}/try", json={}), 404, "not_found")
    now = ready(stranger, public, project=other["id"])
    assert now["project"] == other["id"] and admin.get(f"jobs/{now['job']}")["project"]["id"] == other["id"]
    assert predict(stranger, public, files, project=other["id"]).status_code == 200
    admin.post(f"jobs/{now['job']}/stop", expect=200)


def test_it_waits_like_any_job(admin, project, version, files):
    path = version()
    admin.patch(f"projects/{project['id']}", {"quota": {"cpu": 0}}, admin.get(f"projects/{project['id']}")["revision"])
    try:
        admin.post(f"{path}/try", {}, expect=200)
        now = wait_for(lambda: (s := admin.get(f"{path}/trial"))["reason"] and s, "the reason")
        assert now["state"] == "waiting" and now["reason_zh"] and "quota" in now["reason"], now
    finally:
        admin.patch(f"projects/{project['id']}", {"quota": {"cpu": None}}, admin.get(f"projects/{project['id']}")["revision"])
    ready(admin, path)


def test_a_server_that_is_killed_meanwhile(fresh_server, files):
    server = fresh_server()
    api = server.admin()
    project = api.post("projects", {"name": "p"})
    path = make_version(api, project, files, "model.onnx", "ingot-model.json")
    job = api.post(f"{path}/try", {}, expect=200)["job"]
    server.kill()
    server.start()
    api = server.admin()
    assert ready(api, path)["job"] == job
    assert predict(api, path, files).status_code == 200
    api.delete(path, headers={"If-Match": "*"})
    wait_for(lambda: not trials(api, project), "the trial to go with its version")


def test_the_command_line_and_the_sdk(admin, project, version, files, tmp_path, server):
    import ingot

    name = unique("fruit")
    path = version(name=name)
    given = json.loads(files["ingot-model.json"])
    (tmp_path / "a.png").write_bytes(files["a.png"])
    (tmp_path / "m.json").write_text(json.dumps(given | {"labels": [f"kind {i}" for i in range(len(given["labels"]))]}))

    def cli(*words: str, **options):
        return Cli(tmp_path).run("predict", f"{name}:v1", str(tmp_path / "a.png"), "--project", project["name"], *words, INGOT_URL=server.url, INGOT_TOKEN=admin.token, **options)
    answer = cli("-o", "json").json
    assert set(answer["annotation"]["scores"]) <= set(given["labels"]) and admin.get(f"{path}/trial")["state"] == "ready"
    assert set(cli("-o", "json", "--manifest", str(tmp_path / "m.json")).json["annotation"]["scores"]) <= {f"kind {i}" for i in range(20)}
    (tmp_path / "m.json").write_text(json.dumps(given | {"task": "nonsense"}))
    assert "task" in cli("--manifest", str(tmp_path / "m.json"), expect=None).err
    with ingot.Client(server.url, token=admin.token) as client:
        asked = client.model_sets.predict(f"{name}:v1", tmp_path / "a.png", project=project["id"])
        assert asked["annotation"] == answer["annotation"]
        with pytest.raises(ingot.Invalid, match="score"):
            client.model_sets.predict(f"{name}:v1", tmp_path / "a.png", project=project["id"], thresholds={"score": 2})
        with pytest.raises(ingot.Invalid, match="task"):
            client.model_sets.predict(name, files["a.png"], type="image/png", project=project["id"], manifest=given | {"task": "nonsense"})
