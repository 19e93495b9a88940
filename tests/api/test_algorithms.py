"""Algorithms that declare themselves: ingot-algorithm.json, and the values of their parameters in trainings."""

import json

import pytest
from harness import problem, unique
from test_files import put
from test_cli_running import cli  # noqa: F401
from test_training import algorithm, log, make, model_set, reached, settled, spec, start  # noqa: F401

PARAMETERS = [
    {"name": "epochs", "type": "int", "default": 3, "min": 1, "max": 100, "title": {"en": "Epochs", "zh": "轮数"},
     "help": {"en": "How often all samples are seen."}},
    {"name": "lr", "type": "real", "default": 0.01, "min": 1e-6, "max": 1, "log": True, "advanced": True},
    {"name": "size", "type": "choice", "choices": ["small", "large"], "default": "small"},
    {"name": "leave_out", "type": "labels", "default": []},
    {"name": "merge", "type": "json", "default": {}},
]
COMMAND = 'echo "got $INGOT_PARAMETERS"'


def manifest(**train) -> dict:
    return {"ingot": 1, "title": {"en": "Counter", "zh": "计数"},
            "functions": {"train": {"command": COMMAND, "parameters": PARAMETERS, **train}, "batch": {"command": "true"}}}


@pytest.fixture
def declared(algorithm):  # noqa: F811
    def version(given=None) -> dict:
        return algorithm(**{"ingot-algorithm.json": json.dumps(given or manifest())})
    return version


def refused(api, project: dict, spec: dict, field: str, **fields) -> dict:  # noqa: F811
    body = {"project": project["id"], "name": unique("training"), "spec": spec["id"], **fields}
    return problem(api.call("POST", "trainings", json=body), 422, "invalid", field)


def test_the_functions_are_told_in_both_languages(admin, declared, algorithm):  # noqa: F811
    code = declared()
    path = f"algorithm-sets/{code['algorithm_set']['id']}/versions/{code['id']}"
    told = admin.get(path + "/functions")
    assert told["manifest"] and told["title"] == {"en": "Counter", "zh": "计数"}
    train, batch = told["functions"]
    assert train["runs"] and [p["name"] for p in train["parameters"]] == [p["name"] for p in PARAMETERS]
    assert train["parameters"][0]["help"] == {"en": "How often all samples are seen.", "zh": "How often all samples are seen."}
    assert not batch["runs"] and batch["reason"] and batch["reason_zh"]
    plain = algorithm(**{"train.sh": "true"})
    told = admin.get(f"algorithm-sets/{plain['algorithm_set']['id']}/versions/{plain['id']}/functions")
    assert told == {"manifest": False, "title": None, "functions": []}


@pytest.mark.parametrize(("change", "field"), [
    ({"parameters": PARAMETERS + PARAMETERS[:1]}, "functions.train.parameters[5].name"),
    ({"parameters": [{"name": "x", "type": "int", "default": 9, "max": 5}]}, "functions.train.parameters[0].default"),
    ({"parameters": [{"name": "x", "type": "float"}]}, "functions.train.parameters[0].type"),
    ({"parameters": [{"name": f"p{i}", "type": "int"} for i in range(1000)]}, "functions.train.parameters"),
    ({"parameters": [{"name": "x" * 5000, "type": "int"}]}, "functions.train.parameters[0].name"),
    ({"types": ["cats"]}, "functions.train.types[0]"),
])
def test_a_manifest_that_cannot_be_used_is_refused_when_it_is_written(admin, algorithm, change, field):  # noqa: F811
    code = algorithm()
    path = f"algorithm-sets/{code['algorithm_set']['id']}/versions/{code['id']}"
    def write(text: str):
        return admin.call("PUT", path + "/content", params={"path": "ingot-algorithm.json"}, content=text.encode())
    problem(write(json.dumps(manifest(**change))), 422, "invalid", field)
    problem(write("{"), 422, "invalid", "ingot-algorithm.json")
    put(admin, path, "elsewhere/ingot-algorithm.json", b"{")
    move = {"move": [{"from": "elsewhere/ingot-algorithm.json", "to": "ingot-algorithm.json"}]}
    problem(admin.call("POST", path + "/change", json=move), 422, "invalid", "ingot-algorithm.json")


def test_the_algorithm_says_how_it_runs_and_its_values_reach_the_code(admin, make, declared):  # noqa: F811
    code = declared()
    training = make("", algorithm=code["id"], parameters={"epochs": 7, "merge": {"a": "b", "b": "c"}})
    assert not training["command"] and not training["image"]
    run = reached(admin, start(admin, training))
    assert run["state"] == "completed" and run["image"] == "host" and run["command"] == COMMAND
    values = {"epochs": 7, "lr": 0.01, "size": "small", "leave_out": [], "merge": {"a": "c", "b": "c"}}
    assert run["parameters"] == values
    assert json.loads(log(admin, run)[0].removeprefix("got ")) == values
    path = f"trainings/{training['id']}/instances/{run['id']}"
    assert admin.get(path + "/lineage")["parameters"] == values

    again = reached(admin, admin.post(f"trainings/{training['id']}/start", {"parameters": {"size": "large", "epochs": 1}}))
    assert again["parameters"] == {**values, "size": "large", "epochs": 1}
    resumed = reached(admin, admin.post(f"trainings/{training['id']}/instances/{again['id']}/resume"))
    assert resumed["parameters"] == again["parameters"]


def test_values_are_checked_when_they_are_given(admin, project, spec, make, declared):  # noqa: F811
    code = declared()
    for values, field in [({"epochs": 0}, "parameters.epochs"), ({"epochs": 1.5}, "parameters.epochs"),
                          ({"size": "huge"}, "parameters.size"), ({"nope": 1}, "parameters.nope"), ([], "parameters"),
                          ({"leave_out": ["a"], "merge": {"a": "b"}}, "parameters.merge"),
                          ({"merge": {"a": "b", "b": "a"}}, "parameters.merge")]:
        refused(admin, project, spec, field, algorithm=code["id"], parameters=values)
    training = make("", algorithm=code["id"])
    path = f"trainings/{training['id']}"
    problem(admin.call("POST", path + "/start", json={"parameters": {"epochs": 1000}}), 422, "invalid", "parameters.epochs")
    problem(admin.call("PATCH", path, json={"parameters": {"epochs": "x"}}, headers={"If-Match": f'"{training["revision"]}"'}),
            422, "invalid", "parameters.epochs")
    assert admin.get(f"trainings/{training['id']}/instances")["items"] == []


def test_without_a_manifest_a_command_is_needed_and_any_values_go_through(admin, project, spec, make, algorithm):  # noqa: F811
    plain = algorithm(**{"train.sh": 'echo "$INGOT_PARAMETERS"'})
    refused(admin, project, spec, "command", algorithm=plain["id"])
    refused(admin, project, spec, "command")
    training = make("sh train.sh", algorithm=plain["id"], parameters={"anything": [1, "'$(touch /tmp/x)"]})
    assert make("true")["image"] == "host"
    run = reached(admin, start(admin, training))
    assert run["image"] == "host"
    assert json.loads(log(admin, run)[0]) == {"anything": [1, "'$(touch /tmp/x)"]}


def test_what_is_only_declared_is_refused_with_a_sentence(admin, project, spec, make, declared):  # noqa: F811
    code = declared()
    for function in ("batch", "serve", "sdk"):
        told = refused(admin, project, spec, "function", algorithm=code["id"], function=function)
        assert told["message"] == f"function-{function}"
    refused(admin, project, spec, "function", algorithm=code["id"], function="test")


def test_data_of_another_type_and_runtimes_that_are_not_there(admin, project, make, declared):  # noqa: F811
    data = admin.post("datasets", {"name": unique("texts"), "project": project["id"], "data_type": "text", "annotation_type": "text-class"})
    version = admin.post(f"datasets/{data['id']}/versions", {})
    picky = make("", algorithm=declared(manifest(types=["image-class"]))["id"], datasets=[version["id"]])
    problem(admin.call("POST", f"trainings/{picky['id']}/start"), 422, "invalid", "datasets")
    far = make("", algorithm=declared(manifest(runtime="no-such-runtime"))["id"])
    problem(admin.call("POST", f"trainings/{far['id']}/start"), 422, "invalid", "image")
    assert reached(admin, start(admin, admin.patch(f"trainings/{far['id']}", {"image": "host"}, far["revision"])))["state"] == "completed"


def test_an_image_of_its_own_and_what_it_cannot_do_without(admin, make, declared):  # noqa: F811
    code = declared(manifest(image="host", inputs=["dataset", "base_model"], outputs=["model", "metrics"]))
    told = admin.get(f"algorithm-sets/{code['algorithm_set']['id']}/versions/{code['id']}/functions")["functions"][0]
    assert (told["image"], told["inputs"], told["outputs"]) == ("host", ["dataset", "base_model"], ["model", "metrics"])
    training = make("", algorithm=code["id"])
    problem(admin.call("POST", f"trainings/{training['id']}/start"), 422, "invalid", "datasets", says="needs a dataset version")
    run = reached(admin, start(admin, make("", algorithm=declared(manifest(image="host"))["id"])))
    assert run["state"] == "completed" and run["image"] == "host"
    far = make("", algorithm=declared(manifest(image="built-in/nowhere:v7"))["id"])
    assert admin.call("POST", f"trainings/{far['id']}/start").status_code in (404, 409, 422)


def test_a_run_without_what_its_algorithm_declares_says_so(admin, make, model_set, declared):  # noqa: F811
    def ran(command: str, **fields) -> dict | None:
        code = declared(manifest(command=command, outputs=["model", "metrics"]))
        run = settled(admin, start(admin, make("", algorithm=code["id"], **fields)))
        assert run["state"] == "completed"
        return run["cause"]

    neither = ran("true")
    assert neither["id"] == "outputs-missing" and neither["lines"] == []
    assert "persistent-model" in neither["sentence"] and "metrics" in neither["sentence"] and "模型" in neither["sentence_zh"] and "指标" in neither["sentence_zh"]
    model = ran("echo step=1 loss=0.5")
    assert "persistent-model" in model["sentence"] and "metrics" not in model["sentence"]
    write = "echo m > /workspace/persistent-model/m.txt"
    assert "persistent-model" not in ran(write)["sentence"]
    assert ran(f"{write}; echo step=1 loss=0.5") is None
    assert ran(f"{write}; echo step=1 loss=0.5", save_to=model_set["id"]) is None


def test_the_command_line_sets_parameters(admin, cli, spec, declared):  # noqa: F811
    code = declared()
    flags = ["--algo", code["algorithm_set"]["name"], "--spec", spec["name"]]
    values = ["--set", "epochs=5", "--set", "lr=0.5", "--set", "size=large", "--set", "leave_out=a,b"]
    done = cli.run("train", "run", *flags, *values)
    assert '"epochs":5,"lr":0.5,"size":"large","leave_out":["a","b"],"merge":{}' in done.out
    cli.fails(2, "train", "run", *flags, "--set", "epochs", says="NAME=VALUE")
    assert "epochs, lr, size" in cli.run("train", "run", *flags, "--set", "lrr=1", expect=None).err
    assert "whole number from 1 to 100" in cli.run("train", "run", *flags, "--set", "epochs=many", expect=None).err
