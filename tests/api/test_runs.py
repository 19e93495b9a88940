"""What runs answer: why one failed, what its code logged, tables of runs by metrics and parameters."""

import base64

import pytest
from harness import unique, wait_for
from test_training import algorithm, instance_path, make, reached, settled, spec, start  # noqa: F401 (fixtures)


def cause_of(api, instance: dict) -> dict:
    return wait_for(lambda: api.get(instance_path(instance))["cause"], "the cause")


FAILURES = {
    "module-missing": ("python3 -c 'import no_such_thing'", "no_such_thing", "No module named 'no_such_thing'"),
    "command-not-found": ("trian --epochs 3", "trian", "trian: not found"),
    "permission-denied": ("echo x > /workspace/algorithm/x.txt", None, "x.txt"),
    "nan": ("echo step=1 loss=nan; echo 'the loss is NaN: giving up' >&2; exit 1", None, "the loss is NaN: giving up"),
    "no-space": ("python3 -c 'open(\"/dev/full\", \"w\").write(\"x\" * 99999)'", None, "No space left on device"),
    "exception": ("python3 -c 'print(1); [].pop()'", "IndexError", "IndexError: pop from empty list"),
    "other": ("echo so long; exit 7", None, "so long"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failed_run_says_why(admin, make, algorithm, name):  # noqa: F811
    command, detail, line = FAILURES[name]
    fields = {"algorithm": algorithm(**{"a.txt": "a"})["id"]} if name == "permission-denied" else {}
    instance = start(admin, make(command, **fields))
    assert reached(admin, instance)["state"] == "failed"
    cause = cause_of(admin, instance)
    assert cause["id"] == name, cause
    assert cause["sentence"] and any("\u4e00" <= c <= "\u9fff" for c in cause["sentence_zh"]), cause
    if detail:
        assert cause["detail"] == detail and detail in cause["sentence"] and detail in cause["sentence_zh"]
    assert any(line in said for said in cause["lines"]), cause
    assert len(cause["lines"]) <= 20


def test_a_run_out_of_memory_says_so(admin, make):  # noqa: F811
    instance = start(admin, make("exec python3 -c 'x = bytearray(400 << 20)'"))
    assert reached(admin, instance)["state"] == "failed"
    assert cause_of(admin, instance)["id"] == "out-of-memory"


def test_only_failed_runs_have_a_cause_and_it_is_bounded(admin, make):  # noqa: F811
    well = start(admin, make("echo 'Permission denied' >&2"))
    assert settled(admin, well)["cause"] is None
    loud = start(admin, make("python3 -c \"print('x' * 100000); [print(chr(27) + '[31m' + 'y' * 2000) for _ in range(3000)]\"; exit 3"))
    reached(admin, loud)
    cause = cause_of(admin, loud)
    assert len(cause["lines"]) == 20 and cause["lines"][-1] == "y" * 500



def run(api, make, code: str, **fields) -> dict:  # noqa: F811
    """A run of a Python program with the SDK, when all that follows its end is done."""
    return settled(api, start(api, make(f"python3 -c '{code}'", **fields)))


def test_metrics_and_parameters_are_summarised(admin, make):  # noqa: F811
    done = run(admin, make, "import ingot; ingot.params({\"lr\": 0.1, \"net\": {\"depth\": 18, \"name\": \"r18\"}}); "
                            "[ingot.log(step=i, loss=l, accuracy=a) for i, l, a in ((1, 3, 0.1), (2, 1, 0.9), (3, 2, 0.5))]; "
                            "ingot.log(step=2, loss=float(\"nan\")); ingot.log(**{\"x\" * 300: 1}); ingot.params(lr=0.2)")
    assert done["state"] == "completed", done
    summary = done["summary"]
    assert list(summary["metrics"]) == ["loss", "accuracy"]
    assert summary["metrics"]["loss"] == {"last": 2, "last_step": 3, "best": 1, "best_step": 2, "points": 3, "lower": True}
    assert summary["metrics"]["accuracy"] == {"last": 0.5, "last_step": 3, "best": 0.9, "best_step": 2, "points": 3, "lower": False}
    assert summary["left_out"] == {"not_finite": 1, "steps_back": 1}
    assert done["logged"] == {"lr": 0.2, "net.depth": 18, "net.name": "r18"}


def test_parameters_of_the_command_and_the_last_run(admin, make):  # noqa: F811
    made = make("true --lr 0.1 --name='my net' --amp; echo step=1 loss=0.5 acc=0.25; echo step=2 loss=0.7 acc=0.125;"
                """ echo '{"ingot.params": {"lr": 0.2}}'""")
    assert admin.get(f"trainings/{made['id']}")["last_run"] is None
    run = settled(admin, start(admin, made))
    assert run["logged"] == {"lr": 0.2, "name": "my net", "amp": "true"}
    place = f"trainings/{made['id']}/instances"
    assert ids(admin, place, filter='parameter:name = "my net" and parameter:lr > 0.15') == [run["id"]]
    last = admin.get(f"trainings/{made['id']}")["last_run"]
    assert last == {"id": run["id"], "name": "run-1", "state": "completed", "started_at": run["started_at"],
                    "ended_at": run["ended_at"], "metric": "acc", "last": 0.125, "best": 0.25}
    admin.delete(f"{place}/{run['id']}")
    assert admin.get(f"trainings/{made['id']}")["last_run"] is None


def test_printed_lines_count_and_bad_ones_are_told(admin, make):  # noqa: F811
    done = run(admin, make, "print(\"step=1 loss=0.5\", \"y\" * 5000 + \"=1\"); print(\"epoch 2: loss=nan\"); "
                            "print(\"step=3\", *(f\"n{i}={i}\" for i in range(300)))")
    metrics = done["summary"]["metrics"]
    assert metrics["loss"]["best"] == 0.5 and len(metrics) == 50, list(metrics)
    assert done["summary"]["names"] == 257
    assert done["summary"]["left_out"] == {"long_names": 1, "not_finite": 1}


def test_a_running_run_is_summarised_without_anybody_looking(admin, make):  # noqa: F811
    instance = start(admin, make("echo step=1 loss=0.5; exec sleep 1000"))
    wait_for(lambda: (admin.get(instance_path(instance))["summary"] or {}).get("metrics", {}).get("loss"), "the summary")
    admin.post(instance_path(instance) + "/stop", expect=200)
    settled(admin, instance)


@pytest.fixture(scope="module")
def table(admin, spec):  # noqa: F811
    """Four runs of two trainings: accuracy .1, .4, .3 and none."""
    project = admin.post("projects", {"name": unique("runs")})
    made = [admin.post("trainings", {"project": project["id"], "name": unique("t"), "spec": spec["id"], "command": "true"}) for _ in range(2)]
    runs = []
    for training, lines in ((0, ("acc=0.1", "lr\": 0.1, \"kind\": \"a")), (1, ("acc=0.4", "lr\": 0.2, \"kind\": \"b")),
                            (0, ("acc=0.3", "lr\": 0.3, \"kind\": \"a")), (0, (None, "kind\": \"c"))):
        commands = f"echo '{{\"ingot.params\": {{\"{lines[1]}\"}}}}';" + (f"echo step=1 {lines[0]}" if lines[0] else "")
        now = admin.get(f"trainings/{made[training]['id']}")
        admin.patch(f"trainings/{now['id']}", {"command": commands}, revision=now["revision"])
        runs.append(settled(admin, start(admin, now)))
    return project, made, [r["id"] for r in runs]


def ids(api, path: str, **params) -> list[int]:
    return [r["id"] for r in api.all(path, **params)]


def test_runs_are_sorted_by_metric(admin, table):
    project, trainings, (a, b, c, none) = table
    place = {"project": project["id"]}
    assert ids(admin, "training-instances", **place, sort="-metric:acc") == [b, c, a, none]
    assert ids(admin, "training-instances", **place, sort="metric:acc") == [a, c, b, none]
    assert ids(admin, "training-instances", **place, sort="-metric:acc", limit=1) == [b, c, a, none]
    assert ids(admin, "training-instances", **place, sort="metric:acc", limit=1) == [a, c, b, none]
    assert ids(admin, "training-instances", **place, sort="-last:acc", limit=2) == [b, c, a, none]
    assert ids(admin, "training-instances", **place, sort="parameter:lr", limit=1) == [a, b, c, none]
    assert ids(admin, "training-instances", **place, sort="-text:kind", limit=1) == [none, b, c, a]
    assert ids(admin, f"trainings/{trainings[0]['id']}/instances", sort="-metric:acc", limit=1) == [c, a, none]
    # A name that nobody logged: all are without.
    assert ids(admin, "training-instances", **place, sort="-metric:nothing") == [none, c, b, a]


def test_runs_are_sorted_by_facts(admin, table):
    project, _, runs = table
    place = {"project": project["id"]}
    took = {r["id"]: r["duration"] for r in admin.all("training-instances", **place)}
    assert all(d >= 0 for d in took.values()), took
    longest_last = sorted(runs, key=lambda r: (took[r], r))
    assert ids(admin, "training-instances", **place, sort="duration", limit=1) == longest_last
    assert ids(admin, "training-instances", **place, sort="-duration", limit=1) == longest_last[::-1]
    assert set(ids(admin, "training-instances", **place, filter=f"duration >= {took[longest_last[-1]]}")) >= {longest_last[-1]}
    for name in ("state", "started_at", "algorithm", "datasets", "model_version", "image"):
        assert sorted(ids(admin, "training-instances", **place, sort=name, limit=1)) == sorted(runs), name


def test_runs_of_some_data_and_code(admin, make, project, algorithm):  # noqa: F811
    data = admin.post("datasets", {"name": unique("data"), "project": project["id"], "data_type": "image", "annotation_type": "image-class"})
    one, other = (admin.post(f"datasets/{data['id']}/versions", {})["id"] for _ in range(2))
    code = algorithm(**{"a.txt": "a"})
    training = make("true", datasets=[one, other], algorithm=code["id"])
    place = {"project": training["project"]["id"]}
    both = settled(admin, start(admin, training))["id"]
    now = admin.get(f"trainings/{training['id']}")
    admin.patch(f"trainings/{now['id']}", {"datasets": [other]}, revision=now["revision"])
    alone = settled(admin, start(admin, training))["id"]
    of = f"training = {training['id']} and "
    assert ids(admin, "training-instances", **place, filter=f"{of}datasets = {one}") == [both]
    assert ids(admin, "training-instances", **place, filter=f"{of}datasets = {other}", sort="created_at") == [both, alone]
    assert ids(admin, "training-instances", **place, filter=f"{of}datasets != {one}") == [alone]
    assert ids(admin, "training-instances", **place, filter=f"{of}algorithm = {code['id']}", sort="created_at") == [both, alone]
    assert ids(admin, "training-instances", **place, filter=f"{of}datasets = {10 ** 12}") == []


def test_metrics_of_some_steps(admin, make):  # noqa: F811
    done = settled(admin, start(admin, make("i=0; while [ $i -lt 200 ]; do echo step=$i loss=$i; i=$((i+1)); done")))
    path = instance_path(done) + "/metrics"

    def steps(**params) -> list[float]:
        return [p[0] for s in admin.get(path, **params)["series"] for p in s["points"]]

    assert steps(**{"from": 10, "to": 14}) == [10, 11, 12, 13, 14]
    assert steps(**{"from": 197.5}) == [198, 199] and steps(to=1) == [0, 1] and steps(**{"from": 500}) == []
    part = steps(**{"from": 100, "to": 179, "points": 8})
    assert part[0] == 100 and part[-1] == 179 and len(part) <= 8
    assert admin.call("GET", path, params={"from": 2, "to": 1}).status_code == 422
    assert admin.call("GET", path, params={"from": "x"}).status_code == 422


@pytest.mark.parametrize("filter_, found", [
    ("metric:acc > 0.2", "bc"), ("metric:acc <= 0.3 and parameter:lr >= 0.1", "ac"), ('parameter:kind = "a"', "ac"),
    ('parameter:kind != "a"', "bn"), ("metric:acc = null", "n"), ("metric:acc != null", "abc"), ('parameter:"lr" < 0.25', "ab"),
    ('state = "completed" and metric:"acc" > 0.35', "b"), ("parameter:lr = 0.2", "b")])
def test_runs_are_filtered(admin, table, filter_, found):
    project, _, runs = table
    wanted = {runs["abcn".index(k)] for k in found}
    assert set(ids(admin, "training-instances", project=project["id"], filter=filter_)) == wanted
    assert set(ids(admin, "training-instances", project=project["id"], filter=filter_, sort="-metric:acc", limit=1)) == wanted


@pytest.mark.parametrize("params", [
    {"sort": "metric:"}, {"sort": "metric:" + "x" * 300}, {"sort": "nothing:x"}, {"filter": "metric: > 1"}, {"filter": 'metric:acc > "x"'},
    {"filter": "metric:acc ~ 1"}, {"filter": "other:acc > 1"}, {"filter": "metric:acc < null"}, {"filter": 'metric:"acc > 1'},
    {"filter": "metric:acc >"}, {"filter": "parameter:lr = [1]"},
    {"filter": "datasets > 3"}, {"filter": 'datasets = "x"'}, {"filter": "datasets in (1)"}, {"sort": "summary"}])
def test_bad_sorts_and_filters(admin, table, params):
    answer = admin.call("GET", "training-instances", params={"project": table[0]["id"], **params})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] in params if "errors" in answer.json() else True


def test_strangers_see_no_runs(admin, table, make_user):
    assert make_user().call("GET", "training-instances", params={"project": table[0]["id"], "sort": "-metric:acc"}).status_code == 404


def test_deleted_runs_leave_nothing(admin, make):  # noqa: F811
    training = make("echo step=1 acc=0.5")
    done = settled(admin, start(admin, training))
    project = training["project"]["id"]
    assert done["id"] in ids(admin, "training-instances", project=project, sort="-metric:acc", filter="metric:acc = 0.5")
    admin.delete(instance_path(done))
    assert done["id"] not in ids(admin, "training-instances", project=project, sort="-metric:acc")


def test_pictures_of_a_run(admin, make, make_user):  # noqa: F811
    done = run(admin, make, "import ingot, os; [ingot.image(\"val/mask\", [[i, 255]], step=i) for i in range(3)]; ingot.image(\"other\", [[0]]); "
                            "d = \"/workspace/logs/ingot-images/\"; os.symlink(\"/etc/passwd\", d + \"000000000001-link.png\"); "
                            "open(d + \"000000000002-script.png\", \"w\").write(\"<script>alert(1)</script>\"); os.mkfifo(d + \"000000000003-pipe.png\")")
    assert done["state"] == "completed", done
    page = admin.get(instance_path(done) + "/pictures", limit=2)
    assert [(i["name"], i["step"], i["type"]) for i in page["items"]] == [("other", 3, "image/png"), ("val/mask", 0, "image/png")]
    rest = admin.get(instance_path(done) + "/pictures", after=page["next"])
    assert [(i["name"], i["step"]) for i in rest["items"]] == [("val/mask", 1), ("val/mask", 2)] and rest["next"] is None
    assert base64.b64decode(rest["items"][0]["data"])[:8] == b"\x89PNG\r\n\x1a\n"
    assert make_user().call("GET", instance_path(done) + "/pictures").status_code == 404


def test_without_pictures(admin, make):  # noqa: F811
    done = run(admin, make, "import os; os.symlink(\"/etc\", \"/workspace/logs/ingot-images\")")
    assert admin.get(instance_path(done) + "/pictures") == {"items": [], "next": None}
