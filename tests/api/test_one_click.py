"""One-click training: the plan, the run, stopping at the best so far and going on; with a small algorithm of the tests' own
in place of the built-in one."""

import json

import ingot
import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, Api, problem, unique, wait_for
from test_datasets import annotate, bring, png, samples, zipped
from test_training import instance_path, saved, settled

MANIFEST = {"ingot": 1, "title": {"en": "Test", "zh": "测试"}, "functions": {"train": {
    "command": "sh ingot_learn/train.sh", "types": ["image-class", "image-classes", "text-class", "audio-class", "detection"], "parameters": [
        {"name": "minutes", "type": "real", "default": 10, "min": 0.01, "max": 1440},
        {"name": "test_share", "type": "real", "default": 0.2, "min": 0, "max": 0.5},
        {"name": "leave_out", "type": "labels", "default": []}, {"name": "merge", "type": "json", "default": {}},
        {"name": "seed", "type": "int", "default": 1}, {"name": "wait", "type": "bool", "default": False}]}}}
TRAIN = """
finish() { echo '{"accuracy": 0.9}' > /workspace/persistent-model/report.json; echo step=2 accuracy=0.9; exit 0; }
trap finish TERM
echo "$INGOT_PARAMETERS" > /workspace/persistent-model/parameters.json
wc -l /workspace/dataset/*/ingot.jsonl
cp /workspace/dataset/*/ingot.jsonl /workspace/persistent-model/rows.jsonl
printf %s "$INGOT_MEMORY" > /workspace/persistent-model/memory.txt
[ -z "$INGOT_RESUME" ] || echo resumed
echo step=1 accuracy=0.5
case "$INGOT_PARAMETERS" in *'"wait":true'*) while :; do sleep 0.1; done;; esac
finish
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("algorithms")
    (folder / "one-click").mkdir()
    (folder / "ingot_learn").mkdir()
    (folder / "one-click" / "ingot-algorithm.json").write_text(json.dumps(MANIFEST))
    (folder / "ingot_learn" / "train.sh").write_text(TRAIN)
    return folder


@pytest.fixture(scope="module")
def own(files, fresh_server_module):
    return fresh_server_module(environment={"INGOT_ALGORITHMS": str(files)})


@pytest.fixture(scope="module")
def boss(own):
    return own.admin()


@pytest.fixture
def home(boss) -> dict:
    return boss.post("projects", {"name": unique("project")})


@pytest.fixture
def spec(boss) -> dict:
    return boss.post("specs", {"name": unique("tiny"), "cpus": 0.1, "memory": 128 << 20})


@pytest.fixture
def pictures(boss, home):
    def make(labels: dict[str, int], kind: str = "image-class") -> tuple[dict, dict]:
        data = boss.post("datasets", {"name": unique("fruit"), "project": home["id"], "data_type": "image", "annotation_type": kind})
        version = boss.post(f"datasets/{data['id']}/versions", {})
        files = {f"{label}/{i}.png": png(4, 4, i + 100 * n) for n, (label, count) in enumerate(labels.items()) for i in range(count)}
        if files:
            bring(boss, home, f"datasets/{data['id']}/versions/{version['id']}", "all.zip", zipped(files))
        return data, version
    return make


def path_of(data: dict, version: dict) -> str:
    return f"datasets/{data['id']}/versions/{version['id']}"


def plan(api, made: tuple[dict, dict], **fields) -> dict:
    return api.post(path_of(*made) + "/plan", fields, expect=200)


def ids(told: dict, level: str | None = None) -> set[str]:
    return {r["id"] for r in told["remarks"] if level in (None, r["level"])}


def test_the_plan_says_what_will_be_done(boss, pictures):
    made = pictures({"apple": 40, "pear": 2, "plum": 5})
    told = plan(boss, made, minutes=3)
    assert told["ok"] and told["task"] == "image-class" and told["minutes"] == 3
    assert told["samples"] == {"all": 47, "usable": 47, "unannotated": 0, "rejected": 0, "negatives": 0}
    assert [(c["label"], c["samples"]) for c in sorted(told["classes"], key=lambda c: c["label"])] == [("apple", 40), ("pear", 2), ("plum", 5)]
    assert sum(told["split"].values()) == 47 and told["split"]["test"] == 9
    assert {"plan-hardly", "plan-few", "plan-unbalanced", "plan-no-base"} <= ids(told)
    assert all(r["text"]["en"] and r["text"]["zh"] and r["text"]["en"] != r["text"]["zh"] for r in told["remarks"])
    assert told["spec"]["name"] and told["forecast"]["reason"]["zh"] and told["runtime"] == {
        "name": "host", "ready": True, "image": "host", "reason": None, "reason_zh": None}
    changed = plan(boss, made, leave_out=["plum"], merge={"pear": "apple"})
    assert not changed["ok"] and "plan-one-class" in ids(changed, "error")
    assert {c["label"]: (c["left_out"], c["into"], c["total"]) for c in changed["classes"]} == {
        "apple": (False, None, 42), "pear": (False, "apple", 0), "plum": (True, None, 0)}
    assert changed["samples"]["usable"] == 42
    assert "plan-no-label" in ids(plan(boss, made, leave_out=["kiwi"]))
    problem(boss.call("POST", path_of(*made) + "/plan", json={"merge": {"apple": "pear", "pear": "apple"}}), 422, "invalid", "parameters.merge")
    problem(boss.call("POST", path_of(*made) + "/plan", json={"parameters": {"nope": 1}}), 422, "invalid", "parameters.nope")


def test_negatives_are_learned_from_and_what_was_rejected_is_not(boss, home, spec):
    """The plan and the files in the container say the same."""
    data = boss.post("datasets", {"name": unique("fruit"), "project": home["id"], "data_type": "image", "annotation_type": "detection"})
    made = data, boss.post(f"datasets/{data['id']}/versions", {})
    bring(boss, home, path_of(*made), "all.zip", zipped({f"{i:02}.png": png(8, 8, i) for i in range(14)}))
    box = {"shapes": [{"type": "box", "label": "apple", "x": 0, "y": 0, "w": 4, "h": 4}]}
    for sample, (state, note) in zip(samples(boss, path_of(*made)), [("annotated", box)] * 10 + [("accepted", {}), ("rejected", box), ("rejected", {})]):
        annotate(boss, path_of(*made), sample, {"annotation": note, "state": state})
    assert plan(boss, made)["samples"] == {"all": 14, "usable": 11, "unannotated": 1, "rejected": 2, "negatives": 1}
    model = saved(boss, boss.post(path_of(*made) + "/train", {"spec": spec["id"]}))
    content = boss.call("GET", f"model-sets/{model['model_set']['id']}/versions/{model['id']}/content", params={"path": "rows.jsonl"}).text
    rows = [json.loads(line) for line in content.splitlines()[1:]]
    assert [bool(row["annotation"]) if "annotation" in row else None for row in rows] == [True] * 10 + [False, None, None, None]


def test_what_cannot_be_trained_is_said(boss, home, pictures):
    empty = pictures({})
    assert "plan-empty" in ids(plan(boss, empty), "error")
    problem(boss.call("POST", path_of(*empty) + "/train"), 409, "conflict", says="no samples")
    both = pictures({"apple": 12, "pear": 12})
    problem(boss.call("POST", path_of(*both) + "/train", json={"leave_out": ["pear"]}), 409, "conflict", says="one class")
    other = pictures({"a": 1}, "segmentation")
    assert {"plan-type", "plan-unannotated"} <= ids(plan(boss, other), "error")
    assert boss.get("trainings", project=home["id"])["items"] == []
    assert boss.get("model-sets", project=home["id"], filter="public = false")["items"] == []


def test_pictures_and_sounds_want_the_pretrained_network(boss, home):
    for data_type, kind, wants in (("image", "detection", True), ("audio", "audio-class", True), ("text", "text-class", False)):
        data = boss.post("datasets", {"name": unique("data"), "project": home["id"], "data_type": data_type, "annotation_type": kind})
        told = plan(boss, (data, boss.post(f"datasets/{data['id']}/versions", {})))
        assert ("plan-no-base" in ids(told)) == wants, kind


def test_a_thousand_classes(boss, pictures):
    """Small classes are named up to a number; what keeps the training from being started is said however much else there is."""
    made = pictures({f"label {i:04}": 1 for i in range(1000)})
    told = plan(boss, made)
    assert told["ok"] and len(told["classes"]) == 1000 and len(told["remarks"]) < 30
    [further] = [r["text"]["en"] for r in told["remarks"] if r["id"] == "plan-further"]
    assert further.startswith("980 further classes") and "980 of them fewer than 10" in further
    unknown = [f"nobody {i}" for i in range(100)]
    told = plan(boss, made, leave_out=[c["label"] for c in told["classes"][1:]] + unknown)
    assert not told["ok"] and ids(told, "error") == {"plan-one-class"} and len(told["remarks"]) <= 60


def test_areas_of_more_classes_than_can_be_learned(boss, home):
    data = boss.post("datasets", {"name": unique("areas"), "project": home["id"], "data_type": "image", "annotation_type": "segmentation"})
    made = data, boss.post(f"datasets/{data['id']}/versions", {})
    rows = [{"file": f"{n}.png", "annotation": {"shapes": [{"type": "polygon", "label": f"label {n} {i}", "rings": [[0, 0, 3, 0, 3, 3]]} for i in range(64)]}}
            for n in range(4)]
    lines = [{"ingot": 1, "type": "segmentation"}, *rows]
    bring(boss, home, path_of(*made), "all.zip", zipped({row["file"]: png(4, 4, n) for n, row in enumerate(rows)} |
                                                        {"ingot.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode()}))
    assert "plan-area-labels" in ids(plan(boss, made), "error")
    assert "plan-area-labels" not in ids(plan(boss, made, leave_out=["label 0 0", "label 0 1"]))


def test_one_click_trains_and_saves_and_the_next_click_is_another_run(boss, home, pictures, spec):
    data, version = made = pictures({"apple": 10, "pear": 10})
    run = boss.post(path_of(*made) + "/train", {"minutes": 2, "spec": spec["id"], "leave_out": [], "seed": 7})
    model = saved(boss, run)
    done = boss.get(instance_path(run))
    assert done["state"] == "completed" and done["command"] == "sh ingot_learn/train.sh"
    values = {"minutes": 2, "test_share": 0.2, "leave_out": [], "merge": {}, "seed": 7, "wait": False}
    assert done["parameters"] == values and model["lineage"]["parameters"] == values
    assert model["model_set"]["name"] == data["name"]
    content = boss.call("GET", f"model-sets/{model['model_set']['id']}/versions/{model['id']}/content", params={"path": "memory.txt"}).text
    assert int(content) == spec["memory"]  # a container does not see its limit
    training = boss.get(f"trainings/{run['training']['id']}")
    assert training["hours"] == pytest.approx(12 / 60) and training["datasets"][0]["id"] == version["id"]
    again = boss.post(path_of(*made) + "/train", {"minutes": 1, "spec": spec["id"]})
    assert again["training"] == run["training"] and again["name"] == "run-2"
    assert saved(boss, again)["model_set"] == model["model_set"]


def test_from_a_shell_and_in_one_call(own, boss, home, pictures, spec, tmp_path):
    data, _ = pictures({"apple": 10, "pear": 10, "plum": 10})
    cli = Cli(tmp_path)
    cli.run("login", own.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD)
    cli.run("use", home["name"])
    cli.fails(2, "train", "auto", says="usage")
    cli.fails(2, "train", "auto", data["name"], "--merge", "plum", says="LABEL=LABEL")
    cli.fails(2, "train", "auto", data["name"], "--minutes", "soon", says="no number")
    cli.fails(2, "train", "auto", data["name"], "--nodes", "2", says="--nodes is not for ingot train auto")
    refused = cli.run("train", "auto", data["name"], "--leave-out", "pear,plum", expect=None)
    assert refused.code and "one class" in refused.err and refused.out == ""
    words = ["--minutes", "3", "--merge", "plum=pear", "--set", "seed=5", "--spec", spec["name"], "--yes"]
    done = cli.run("train", "auto", f"{data['name']}:v1", *words)
    assert done.out.splitlines()[-1] == f"{data['name']}:v1" and "step=2 accuracy=0.9" in done.out
    assert "image-class: 30 of 30 samples" in done.err and f"ingot deploy {data['name']}:v1" in done.err
    [run] = boss.get("training-instances", project=home["id"])["items"]
    assert {k: run["parameters"][k] for k in ("minutes", "merge", "seed")} == {"minutes": 3, "merge": {"plum": "pear"}, "seed": 5}
    cli.run("train", "resume", f"{run['training']['name']}/{run['name']}", "--minutes", "4", "--set", "seed=6")
    more = boss.get("training-instances", project=home["id"], sort="-id")["items"][0]
    assert {k: more["parameters"][k] for k in ("minutes", "merge", "seed")} == {"minutes": 4, "merge": {"plum": "pear"}, "seed": 6}
    with ingot.Client(own.url, token=boss.token) as client:
        again = ingot.train(f"{data['name']}:v1", project=home["name"], minutes=2, spec=spec["id"], client=client)
        assert again.model()["name"] == "v3"


def test_stopping_keeps_the_best_so_far_and_resuming_goes_on(boss, pictures, spec):
    made = pictures({"apple": 10, "pear": 10})
    run = boss.post(path_of(*made) + "/train", {"spec": spec["id"], "seed": 7, "parameters": {"wait": True}})
    wait_for(lambda: boss.get(instance_path(run) + "/metrics")["series"], "a first metric")
    boss.post(instance_path(run) + "/stop", expect=200)
    version = saved(boss, run)
    assert boss.get(instance_path(run))["state"] == "stopped"
    files = boss.get(f"model-sets/{version['model_set']['id']}/versions/{version['id']}/files")["items"]
    assert {f["name"] for f in files} == {"report.json", "parameters.json", "rows.jsonl", "memory.txt"}
    more = boss.post(instance_path(run) + "/resume", {"parameters": {"wait": False}})
    done = settled(boss, more)
    assert done["state"] == "completed" and done["parameters"]["wait"] is False and done["parameters"]["seed"] == 7 and done["resumed_from"]["id"] == run["id"]


def test_the_files_are_installed_once_and_again_when_they_differ(boss, files, pictures):
    made = pictures({"apple": 10, "pear": 10})
    first = plan(boss, made)["algorithm"]
    assert plan(boss, made)["algorithm"] == first
    algorithm = boss.get(f"algorithm-sets/{first['set']}")
    assert algorithm["public"] and algorithm["project"]["name"] == "built-in"
    (files / "ingot_learn" / "more.txt").write_text("more")
    (files / "ingot_learn" / "__pycache__").mkdir()
    (files / "ingot_learn" / "__pycache__" / "x.pyc").write_text("no")
    second = plan(boss, made)["algorithm"]
    assert second["set"] == first["set"] and second["version"] != first["version"]
    names = boss.call("GET", f"algorithm-sets/{second['set']}/versions/{second['version']}/files",
                      params={"path": "ingot_learn"}).json()["items"]
    assert {i["name"] for i in names} == {"train.sh", "more.txt"}


def test_who_may_plan_and_train(own, boss, home, pictures, spec):
    made = pictures({"apple": 10, "pear": 10})

    def person(role: str | None):
        name = unique("user")
        user = boss.post("users", {"name": name, "password": "pass-word-1"})
        if role:
            wanted = boss.get("roles", filter=f'name = "{role}"')["items"][0]["id"]
            boss.post(f"projects/{home['id']}/members", {"user": user["id"], "role": wanted})
        return Api(own.url).sign_in(name, "pass-word-1")
    member, viewer, stranger = person("member"), person("viewer"), person(None)
    assert plan(viewer, made)["ok"]
    assert viewer.call("POST", path_of(*made) + "/train").status_code == 403
    assert stranger.call("POST", path_of(*made) + "/plan").status_code == 404
    assert stranger.call("POST", path_of(*made) + "/train").status_code == 404
    run = member.post(path_of(*made) + "/train", {"spec": spec["id"]})
    assert settled(boss, run)["state"] == "completed"


def test_the_sdk_trains_in_one_call(own, boss, home, pictures, spec):
    data, _ = pictures({"apple": 10, "pear": 10, "plum": 10})
    with ingot.Client(own.url, token=boss.token) as client:
        assert client.datasets.plan(data["name"], project=home["id"], leave_out=["plum"])["ok"]
        run = client.datasets.train(data["name"], "v1", project=home["id"], minutes=1, leave_out=["plum"], merge={"pear": "fruit"}, spec=spec["id"])
        assert run.wait()["parameters"]["merge"] == {"pear": "fruit"}
        assert run.model()["name"] == "v1"
