"""Trainings: definitions, instances, saved models with lineage, resuming, metrics, gangs, and a server that is killed."""

import subprocess

import pytest
from harness import ADMIN_PASSWORD, binary, problem, unique, wait_for
from oci import Registry, system
from test_files import put

OVER = ("completed", "failed", "stopped")


@pytest.fixture(scope="session")
def spec(admin) -> dict:
    return admin.post("specs", {"name": unique("tiny"), "cpus": 0.1, "memory": 128 << 20})


@pytest.fixture
def make(admin, project, spec):
    def training(command: str, api=admin, **fields) -> dict:
        body = {"project": project["id"], "name": unique("training"), "spec": spec["id"], "command": command, **fields}
        return api.post("trainings", body)
    return training


def instance_path(instance: dict) -> str:
    return f"trainings/{instance['training']['id']}/instances/{instance['id']}"


def start(api, training: dict) -> dict:
    return api.post(f"trainings/{training['id']}/start")


def reached(api, instance: dict, states=OVER) -> dict:
    return wait_for(lambda: (i := api.get(instance_path(instance)))["state"] in states and i, f"one of {states}")


def log(api, instance: dict, **params) -> list[str]:
    job = api.get(instance_path(instance))["job"]["id"]
    return [line["text"] for line in api.get(f"jobs/{job}/log", **params)["lines"]]


def settled(api, instance: dict) -> dict:
    """The instance when all that follows its end is done."""
    reached(api, instance)
    tasks = f'subject_kind = "training_instance" and subject = {instance["id"]}'
    project = api.get(f"trainings/{instance['training']['id']}")["project"]["id"]
    wait_for(lambda: (all_ := api.all("tasks", project=project, filter=tasks)) and
             all(t["state"] not in ("waiting", "running") for t in all_), "the tasks after the end")
    return api.get(instance_path(instance))


def saved(api, instance: dict) -> dict:
    """The version that the instance saved."""
    done = settled(api, instance)
    assert done["model_version"], done
    found = api.get(instance_path(instance) + "/lineage")["model_version"]
    return api.get(f"model-sets/{found['set']['id']}/versions/{found['version']['id']}")


@pytest.fixture
def model_set(admin, project) -> dict:
    return admin.post("model-sets", {"name": unique("models"), "project": project["id"]})


@pytest.fixture
def algorithm(admin, project):
    def version(**files: str) -> dict:
        made = admin.post("algorithm-sets", {"name": unique("code"), "project": project["id"]})
        v = admin.post(f"algorithm-sets/{made['id']}/versions", {})
        for name, text in files.items():
            put(admin, f"algorithm-sets/{made['id']}/versions/{v['id']}", name, text.encode())
        return admin.get(f"algorithm-sets/{made['id']}/versions/{v['id']}")
    return version


def test_code_runs_and_its_model_is_saved_with_lineage(admin, make, model_set, algorithm):
    code = algorithm(**{"train.sh": "pwd; echo step=1 loss=0.5; mkdir -p ../persistent-model/a; echo weights > ../persistent-model/a/w;"
                                    " ln -s /etc/passwd ../persistent-model/link; echo $LR\n"})
    training = make("sh train.sh", algorithm=code["id"], save_to=model_set["id"], env={"LR": "0.1"})
    instance = start(admin, training)
    assert (instance["name"], instance["number"], instance["state"]) == ("run-1", 1, "pending")
    assert instance["command"] == "sh train.sh"
    version = saved(admin, instance)
    done = admin.get(instance_path(instance))
    assert done["state"] == "completed" and done["started_at"] and done["ended_at"], done
    assert {"/workspace/algorithm", "0.1"} <= set(log(admin, instance))
    assert (version["files"], version["bytes"], version["published"]) == (1, 8, True)
    for lineage in (version["lineage"], admin.get(instance_path(instance) + "/lineage")):
        assert lineage["code"]["version"]["id"] == code["id"] and lineage["code"]["digest"] == code["digest"]
        assert (lineage["image"], lineage["command"], lineage["env"]) == ("host", "sh train.sh", {"LR": "0.1"})
        assert lineage["image_digest"] is None
        assert (lineage["training"]["id"], lineage["run"], lineage["instance"]) == (training["id"], "run-1", instance["id"])
        assert lineage["data"] == [] and lineage["base_model"] is None and lineage["resumed_from"] is None
        assert lineage["job"] == done["job"]["id"]
    # What an instance refers to stays.
    problem(admin.call("DELETE", f"model-sets/{model_set['id']}/versions/{version['id']}"), 409, "conflict")
    problem(admin.call("DELETE", f"trainings/{training['id']}"), 409, "conflict")
    after = admin.all("tasks", project=training["project"]["id"], filter=f'subject_kind = "training_instance" and subject = {instance["id"]}')
    assert f"Save model of {training['name']}/run-1" in [t["name"] for t in after]
    job = done["job"]["id"]
    admin.delete(instance_path(instance))
    admin.get(f"jobs/{job}", expect=404)
    admin.delete(f"model-sets/{model_set['id']}/versions/{version['id']}")
    admin.delete(f"trainings/{training['id']}")


def test_data_and_base_model_are_mounted(admin, project, make, model_set):
    base = admin.post(f"model-sets/{model_set['id']}/versions", {})
    put(admin, f"model-sets/{model_set['id']}/versions/{base['id']}", "weights.bin", b"old\n")
    dataset = admin.post("datasets", {"name": unique("data"), "project": project["id"], "data_type": "image", "annotation_type": "image-class"})
    versions = [admin.post(f"datasets/{dataset['id']}/versions", {}) for _ in range(2)]
    training = make(f"cat 'model/{model_set['name']}/weights.bin'; ls dataset; ls 'dataset/{dataset['name']}'; touch 'model/{model_set['name']}/x' || echo read-only",
                    datasets=[v["id"] for v in versions], base_model=base["id"])
    instance = start(admin, training)
    assert reached(admin, instance)["state"] == "completed"
    lines = log(admin, instance)
    assert {"read-only", dataset["name"], f"{dataset['name']}-{versions[1]['name']}", "ingot.jsonl"} <= set(lines), lines
    assert "old" in lines, lines
    lineage = admin.get(instance_path(instance) + "/lineage")
    assert [d["version"]["id"] for d in lineage["data"]] == [v["id"] for v in versions]
    assert lineage["base_model"]["version"]["id"] == base["id"] and lineage["model_version"] is None
    problem(admin.call("DELETE", f"datasets/{dataset['id']}/versions/{versions[0]['id']}"), 409, "conflict")


COUNT = """
import os, pathlib
state = pathlib.Path("/workspace/persistent-model/count")
count = int(state.read_text()) if state.exists() else 0
before = pathlib.Path("/workspace/checkpoint/count")
print("resumed", os.environ.get("INGOT_RESUME"), "from", count, "checkpoint", before.read_text() if before.exists() else None)
state.write_text(str(count + 1))
if count < 1:
    raise SystemExit(3)
"""


def test_resuming_goes_on_with_the_files(admin, make, model_set, algorithm):
    training = make("python3 count.py", algorithm=algorithm(**{"count.py": COUNT})["id"], save_to=model_set["id"])
    first = start(admin, training)
    assert reached(admin, first)["state"] == "failed"
    assert saved(admin, first)["lineage"]["resumed_from"] is None
    assert "resumed None from 0 checkpoint None" in log(admin, first)
    second = admin.post(instance_path(first) + "/resume")
    assert second["resumed_from"]["id"] == first["id"]
    assert reached(admin, second)["state"] == "completed"
    assert "resumed 1 from 1 checkpoint 1" in log(admin, second)
    third = admin.post(instance_path(second) + "/resume")
    assert saved(admin, third)["lineage"]["resumed_from"]["id"] == second["id"]
    assert "resumed 1 from 2 checkpoint 2" in log(admin, third)
    # The folder of the first is its own: nothing was changed behind its back.
    again = admin.post(instance_path(first) + "/resume")
    assert reached(admin, again)["state"] == "completed"
    assert "resumed 1 from 1 checkpoint 1" in log(admin, again)
    settled(admin, again)
    admin.delete(instance_path(first))
    assert admin.get(instance_path(second))["resumed_from"] is None


def test_stopping(admin, make, model_set):
    training = make("echo half > persistent-model/w; echo up; exec sleep 1000", save_to=model_set["id"])
    instance = start(admin, training)
    reached(admin, instance, ("running",))
    wait_for(lambda: "up" in log(admin, instance), "the first line")
    problem(admin.call("POST", instance_path(instance) + "/resume"), 409, "conflict", "state")
    problem(admin.call("DELETE", instance_path(instance)), 409, "conflict", "state")
    stopping = admin.post(instance_path(instance) + "/stop", expect=200)
    assert stopping["state"] in ("stopping", "stopped")
    assert reached(admin, instance)["state"] == "stopped"
    problem(admin.call("POST", instance_path(instance) + "/stop"), 409, "conflict", "state")
    assert saved(admin, instance)["files"] == 1
    resumed = admin.post(instance_path(instance) + "/resume")
    admin.post(instance_path(resumed) + "/stop", expect=200)
    assert reached(admin, resumed)["state"] == "stopped"


def test_metrics_are_read_while_it_runs(admin, make):
    training = make("echo step=1 loss=0.5; echo 'epoch 2: acc 0.75'; echo '{\"step\": 3, \"loss\": 0.25}' >&2; echo port: 80; exec sleep 1000")
    instance = start(admin, training)

    def series() -> dict:
        return {s["name"]: [(p[0], p[2]) for p in s["points"]] for s in admin.get(instance_path(instance) + "/metrics")["series"]}

    assert reached(admin, instance, ("running",))
    wait_for(lambda: len(series().get("loss", [])) == 2, "both losses")
    assert series() == {"loss": [(1, 0.5), (3, 0.25)], "acc": [(2, 0.75)]}
    assert series() == series()
    admin.post(instance_path(instance) + "/stop", expect=200)
    settled(admin, instance)
    assert series() == {"loss": [(1, 0.5), (3, 0.25)], "acc": [(2, 0.75)]}


def test_metrics_without_any(admin, make):
    instance = start(admin, make("true"))
    assert admin.get(instance_path(instance) + "/metrics") == {"series": []}
    assert settled(admin, instance)["state"] == "completed"


def test_copying_changing_and_finding(admin, project, make):
    training = make("echo one", nodes=1, env={"A": "1"})
    name = unique("copy")
    copy = admin.post(f"trainings/{training['id']}/copy", {"name": name})
    assert (copy["name"], copy["command"], copy["env"]) == (name, "echo one", {"A": "1"})
    problem(admin.call("POST", f"trainings/{training['id']}/copy", json={"name": name}), 409, "exists", "name")
    first = start(admin, training)
    admin.patch(f"trainings/{training['id']}", {"command": "echo two"}, revision=training["revision"])
    second = start(admin, training)
    assert (first["command"], second["command"], second["number"]) == ("echo one", "echo two", 2)
    assert reached(admin, first)["state"] == reached(admin, second)["state"] == "completed"
    assert "one" in log(admin, first) and "two" in log(admin, second)
    assert [t["id"] for t in admin.all("trainings", project=project["id"], q=name)] == [copy["id"]]
    assert [i["name"] for i in admin.all(f"trainings/{training['id']}/instances", sort="number")] == ["run-1", "run-2"]
    admin.delete(f"trainings/{copy['id']}")


@pytest.mark.parametrize("fields, field", [
    ({"command": ""}, "command"), ({"command": "x" * 3001}, "command"), ({"nodes": 0}, "nodes"), ({"spec": 999999}, "spec"),
    ({"env": {"a b": "c"}}, "env"), ({"datasets": [999999]}, "datasets"), ({"algorithm": 999999}, "algorithm"),
    ({"save_to": 999999}, "save_to"), ({"hours": -1}, "hours"), ({"name": "a/b"}, "name")])
def test_bad_input(admin, project, spec, fields, field):
    body = {"project": project["id"], "name": unique("t"), "command": "true", "spec": spec["id"], **fields}
    problem(admin.call("POST", "trainings", json=body), 422, "invalid", field)


def test_models_are_saved_only_at_home(admin, make):
    other = admin.post("projects", {"name": unique("other")})
    public = admin.post("model-sets", {"name": unique("public"), "project": other["id"], "public": True})
    training = make("true")
    answer = admin.call("PATCH", f"trainings/{training['id']}", json={"save_to": public["id"]},
                        headers={"If-Match": f'"{training["revision"]}"'})
    problem(answer, 422, "invalid", "save_to")


def test_strangers_and_viewers(admin, project, make, make_user):
    training = make("echo secret")
    instance = start(admin, training)
    stranger, viewer, member = make_user(), make_user(project, role="viewer"), make_user(project, role="member")
    reached(admin, instance)
    for path in ("", "/metrics", "/lineage"):
        assert stranger.call("GET", instance_path(instance) + path).status_code == 404
        assert viewer.call("GET", instance_path(instance) + path).status_code == 200
    for action in ("stop", "resume"):
        assert stranger.call("POST", f"{instance_path(instance)}/{action}").status_code == 404
        assert viewer.call("POST", f"{instance_path(instance)}/{action}").status_code == 403
    assert viewer.call("POST", f"trainings/{training['id']}/start").status_code == 403
    assert reached(member, start(member, training))["state"] == "completed"


def test_what_is_saved_is_limited(admin, spec):
    project = admin.post("projects", {"name": unique("small"), "quota": {"storage": 1 << 20}})
    models = admin.post("model-sets", {"name": "m", "project": project["id"]})
    training = admin.post("trainings", {"project": project["id"], "name": "t", "spec": spec["id"], "save_to": models["id"],
                                        "command": "head -c 3000000 /dev/zero > persistent-model/w; exec sleep 1000"})
    done = settled(admin, start(admin, training))
    assert done["state"] == "stopped" and "too much" in done["reason"], done
    assert done["model_version"] is None
    problem(admin.call("POST", f"trainings/{training['id']}/start", json={"x": 1}), 422, "invalid", "x")
    # What it left counts, until it is deleted.
    storage = lambda: admin.get(f"projects/{project['id']}/overview")["use"]["storage"]  # noqa: E731
    wait_for(lambda: storage() >= 3_000_000, "what it left to be measured")
    problem(admin.call("POST", f"trainings/{training['id']}/start"), 507, "quota", "storage", says=str(1 << 20))
    admin.delete(instance_path(done))
    wait_for(lambda: storage() == 0, "what it left to be forgotten")


def test_mpi_on_one_node(admin, make):
    instance = start(admin, make("mpirun -np 1 echo ran; cat /etc/mpi/hostfile; echo $PET_NNODES $PET_NPROC_PER_NODE"))
    done = reached(admin, instance)
    assert done["state"] == "completed", (done, log(admin, instance))
    assert log(admin, instance) == ["ran", f"job-{done['job']['id']}-0 slots=1", "1 1"]


def test_an_image_with_a_user_of_its_own(admin, project, make, model_set, server):
    """Who is not root can leave a model too, and goes on with it after a resume."""
    name = unique("bob")
    image = system(config={"User": "bob"})
    Registry(server.url, ("admin", ADMIN_PASSWORD)).push(f"{project['name']}/{name}", image)
    training = make("id -u; touch here && mkdir -p persistent-model/a/b && cat persistent-model/a/b/w; echo more >>persistent-model/a/b/w && "
                    "touch persistent-model/a/$INGOT_INSTANCE && echo scalar >logs/x", image=f"{name}:latest", save_to=model_set["id"])
    first = start(admin, training)
    version = saved(admin, first)
    assert version["files"] == 2, log(admin, first)
    assert version["lineage"]["image"] == f"{name}:latest" and version["lineage"]["image_digest"] == image.digest[7:]
    assert log(admin, first)[0] == "1000"
    second = admin.post(instance_path(first) + "/resume")
    assert saved(admin, second)["files"] == 3, log(admin, second)
    assert reached(admin, second)["state"] == "completed" and "more" in log(admin, second)


def test_an_image_that_does_not_exist(admin, project, spec):
    body = {"project": project["id"], "name": unique("t"), "spec": spec["id"], "command": "true", "image": "no-such:v1"}
    problem(admin.call("POST", "trainings", json=body), 422, "invalid", "image")


GANG = """
import os, socket
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], "torchrun", os.environ["PET_NNODES"], os.environ["PET_NODE_RANK"], flush=True)
address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if os.environ["RANK"] == "0":
    server = socket.create_server(("", address[1]))
    print("from", server.accept()[0].recv(100).decode(), flush=True)
else:
    import time
    while True:
        try:
            socket.create_connection(address).send(os.environ["RANK"].encode())
            break
        except OSError:
            time.sleep(0.05)
"""


def test_a_gang(admin, make, algorithm):
    instance = start(admin, make("python3 gang.py; cat /etc/mpi/hostfile", nodes=2, algorithm=algorithm(**{"gang.py": GANG})["id"]))
    done = reached(admin, instance)
    assert done["state"] == "completed", (done, log(admin, instance), log(admin, instance, rank=1))
    assert {"rank 0 of 2 torchrun 2 0", "from 1"} <= set(log(admin, instance, rank=0))
    assert "rank 1 of 2 torchrun 2 1" in log(admin, instance, rank=1)
    assert f"job-{done['job']['id']}-1 slots=1" in log(admin, instance)


def test_a_killed_server_saves_what_was_left(fresh_server, make_db, tmp_path):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.1, "memory": 64 << 20})
    models = admin.post("model-sets", {"name": "m", "project": project["id"]})
    trainings = [admin.post("trainings", {"project": project["id"], "name": f"t{i}", "spec": spec["id"], "save_to": models["id"],
                                          "command": f"ls checkpoint; echo step=1 loss={i}; head -c 3000000 /dev/urandom > persistent-model/w; exit {i}"})
                 for i in range(3)]
    instances = [start(admin, t) for t in trainings]
    wait_for(lambda: all(admin.get(instance_path(i))["state"] != "pending" for i in instances[:1]), "a start")
    for _ in range(3):
        server.kill()
        server.start()
    admin = server.admin()
    for i, instance in enumerate(instances):
        version = saved(admin, instance)
        assert version["bytes"] == 3000000 and version["lineage"]["instance"] == instance["id"]
        assert admin.get(instance_path(instance))["state"] == ("failed" if i else "completed")
        assert admin.get(instance_path(instance) + "/metrics")["series"][0]["points"][0][2] == i
    assert len(admin.all(f"model-sets/{models['id']}/versions")) == 3
    # A backup has what they left, too: where it is restored, a run goes on with it.
    file, data, db = tmp_path / "backup.tar.zst", str(tmp_path / "restored"), make_db()
    file.write_bytes(admin.call("GET", "backup").content)
    subprocess.run([binary(), "restore", file, "--data", data, *(("--db", db) if db else ())], check=True)
    other = fresh_server(data=data, db=db).admin()
    resumed = other.post(instance_path(instances[2]) + "/resume")
    assert reached(other, resumed)["state"] == "failed"
    assert "w" in log(other, resumed)
