"""Trainings and jobs from Python."""

import ingot
import pytest
from harness import unique


@pytest.fixture
def client(server, admin):
    with ingot.Client(server.url, token=admin.token) as client:
        yield client


@pytest.fixture
def fields(admin, project) -> dict:
    return {"project": project, "spec": admin.post("specs", {"name": unique("spec"), "cpus": 0.1, "memory": 128 << 20})["id"]}


def test_a_run(client, project, fields, capsys):
    models = client.kind("model-sets").create(project=project, name=unique("models"))
    run = client.trainings.run("echo step=1 loss=0.5; echo w > persistent-model/w", name=unique("t"), save_to=models, **fields)
    assert run.follow()["state"] == "completed"
    assert capsys.readouterr().out == "step=1 loss=0.5\n"
    assert [(step, value) for step, _, value in run.metrics()["loss"]] == [(1, 0.5)]
    version = run.model()
    assert version["files"] == 1 and version["lineage"]["instance"] == run.instance["id"]
    again = run.resume()
    assert again.wait()["resumed_from"]["id"] == run.instance["id"]
    assert list(again.log()) == ["step=1 loss=0.5"]
    assert again.lineage()["resumed_from"]["id"] == run.instance["id"]


def test_runs_are_a_table(client, project, fields):
    name, seen = unique("t"), []
    run = client.trainings.run("echo step=1 loss=0.5; echo step=2 loss=0.25 acc=1", name=name, parameters={"rate": 0.1}, **fields)
    assert run.wait(progress=lambda *x: seen.append(x))["state"] == "completed"
    assert seen[-1] == ("Training: completed", 1, 1) and all(done <= total for _, done, total in seen)
    table = client.trainings.runs(project=project)
    assert table.column("run") == [f"{name}/run-1"] and table.column("state") == ["completed"]
    assert table[0]["metrics.loss"] == 0.25 and table[0]["metrics.acc"] == 1 and table[0]["parameters.rate"] == 0.1
    assert len(client.trainings.runs(client.trainings.find(name, project=project))) == 1
    assert "metrics.loss" in run._repr_html_() and "completed" in repr(run)
    frame = run.to_pandas()
    assert list(frame["loss"]) == [0.5, 0.25] and list(frame.index) == [1, 2]
    assert client.training_instances.table(project=project).column("training") == [name]


def test_a_run_that_fails(client, fields):
    run = client.trainings.run("exit 3", name=unique("t"), **fields)
    with pytest.raises(ingot.RunFailed, match="exit code 3"):
        run.wait()


def test_commands_inside(client, fields):
    run = client.trainings.run("echo up; exec sleep 1000", name=unique("t"), **fields)
    assert next(run.log(follow=True)) == "up"
    job = run.refresh()["job"]
    assert client.jobs.exec(job, ["echo", "a b"]) == (0, b"a b\n")
    assert client.jobs.exec(job, ["sh", "-c", "cat; exit 4"], input=b"x" * 100000) == (4, b"x" * 100000)
    with pytest.raises(ingot.Invalid):
        client.jobs.exec(job, [])
    with pytest.raises(ingot.NotFound):
        client.jobs.exec(999999, ["true"])
    run.stop()
    assert client.jobs.wait(job)["state"] == "stopped"


def test_an_environment(client, admin, project):
    spec = client.specs.create(name=unique("spec"), cpus=0.3, memory=1 << 30)
    lab = client.environments.create(project=project, name=unique("lab"), spec=spec)
    with pytest.raises(ingot.NotRunning, match="start it first"):
        client.environments.ssh(lab)
    with pytest.raises(ingot.IngotError, match="jupyter"):
        client.environments.url(lab)
    lab = client.environments.start(lab)
    assert lab["state"] == "running"
    assert client.environments.exec(lab, ["sh", "-c", "cat; pwd"], input=b"in ") == (0, b"in /workspace\n")
    ssh = client.environments.ssh(lab)
    assert ssh["user"] == "root" and str(ssh["port"]) in ssh["command"] and ssh["password"]
    assert {t["name"] for t in client.environments.access(lab)["tools"]} == {"jupyter", "vscode"}
    with pytest.raises(ValueError, match="emacs"):
        client.environments.url(lab, "emacs")
    assert client.environments.extend(lab, 2)["hours"] == lab["hours"] + 2
    assert client.environments.save(lab, "saved", "1")["state"] == "done"
    client.environments.exec(lab, ["sh", "-c", "mkdir -p mine/lib; echo 1 >mine/a.py; ln -s a.py mine/b.py"])
    assert "mine" in client.environments.folders(lab) and client.environments.folders(lab, "mine") == ["lib"]
    code = client.algorithm_sets.create(project=project, name=unique("code"))
    seen: list[tuple] = []
    kept = client.environments.keep(lab, "mine", algorithm_set=code, description="mine", progress=lambda *step: seen.append(step))
    assert (kept["result"]["files"], kept["problems"]) == (1, 1) and seen
    version = client.algorithm_sets.versions(code).get(kept["result"]["made"]["version"]["id"])
    assert (version["name"], version["lineage"]["environment"]["id"]) == ("v1", lab["id"])
    other = client.environments.copy(lab, unique("other"))
    assert other["spec"]["id"] == spec["id"]
    client.environments.delete(other["id"])
    assert client.environments.stop(lab)["state"] == "stopped"
    client.environments.delete(lab["id"])


def test_metrics_are_lines_of_json(capsys):
    ingot.log(step=3, loss=0.25)
    ingot.log(acc=1)
    assert capsys.readouterr().out == '{"step": 3, "loss": 0.25}\n{"acc": 1}\n'
