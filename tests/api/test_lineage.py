"""Lineage: from anything to what it was made from and what was made of it; who sees how much of that."""

import ingot
import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, Api, problem, unique, wait_for
from oci import Registry, small
from test_backup_labelling import Place
from test_datasets import bring, png, zipped
from test_label_tasks import BOX, take
from test_training import algorithm, instance_path, make, model_set, saved, spec, start  # noqa: F401 (fixtures)


def ask(api: Api, kind: str, id_: int, **query) -> dict:
    return api.get("lineage", kind=kind, id=id_, **query)


def keys(graph: dict) -> set[str]:
    return {n["key"] for n in graph["nodes"]}


def edges(graph: dict) -> set[tuple[str, str, str]]:
    return {(e["from"], e["as"], e["to"]) for e in graph["edges"]}


def node(graph: dict, key: str) -> dict:
    [found] = [n for n in graph["nodes"] if n["key"] == key]
    return found


def dataset(api: Api, project: dict, **fields) -> dict:
    made = api.post("datasets", {"name": unique("data"), "project": project["id"], "annotation_type": "detection", **fields})
    return api.post(f"datasets/{made['id']}/versions", {})


def waiting(api: Api, project: dict, spec: dict, **fields) -> dict:  # noqa: F811
    """A run that cannot start: nobody has so many nodes."""
    training = api.post("trainings", {"project": project["id"], "name": unique("t"), "spec": spec["id"], "nodes": 64, "command": "true", **fields})
    return start(api, training)


@pytest.fixture
def chain(admin, server, project, spec, make, model_set, algorithm):  # noqa: F811
    """Data, code and a model; a run that made a model of them; a service version of that."""
    first = dataset(admin, project)
    second = admin.post(f"datasets/{first['dataset']['id']}/versions", {"from": first["id"]})
    code = algorithm(**{"train.py": "open('/workspace/persistent-model/weights', 'w').write('7')"})
    base = admin.post(f"model-sets/{model_set['id']}/versions", {})
    run = start(admin, make("python3 train.py", datasets=[second["id"]], algorithm=code["id"], base_model=base["id"], save_to=model_set["id"]))
    model = saved(admin, run)
    service = admin.post("services", {"project": project["id"], "name": unique("s")})
    served = admin.post(f"services/{service['id']}/versions", {"spec": spec["id"], "model_version": model["id"], "replicas": 0})
    return {"first": f"dataset_version:{first['id']}", "second": f"dataset_version:{second['id']}", "code": f"algorithm_version:{code['id']}",
            "base": f"model_version:{base['id']}", "run": f"training_instance:{run['id']}", "model": f"model_version:{model['id']}",
            "served": f"service_version:{served['id']}", "instance": run}


def of(key: str) -> tuple[str, int]:
    kind, id_ = key.split(":")
    return kind, int(id_)


def test_from_any_of_them_to_all_others(admin, server, project, chain, tmp_path):
    up = {(chain["first"], "from", chain["second"]), (chain["second"], "data", chain["run"]), (chain["code"], "code", chain["run"]),
          (chain["base"], "base_model", chain["run"]), (chain["run"], "made", chain["model"])}
    whole = up | {(chain["model"], "serves", chain["served"])}
    graph = ask(admin, *of(chain["served"]))
    assert edges(graph) == whole and not graph["more"]
    assert [n["depth"] for n in graph["nodes"] if n["key"] == chain["first"]] == [-4]
    graph = ask(admin, *of(chain["model"]))
    assert edges(graph) == whole and graph["nodes"][0]["key"] == chain["model"]
    told = node(graph, chain["run"])
    assert (told["visible"], told["state"], told["name"], told["of"]["kind"], told["project"]["id"], told["created_by"]["name"]) == \
        (True, "completed", "run-1", "training", project["id"], "admin")
    assert edges(ask(admin, *of(chain["model"]), direction="up")) == up
    assert edges(ask(admin, *of(chain["model"]), direction="down")) == whole - up
    # What merely shares a source is not part of it.
    assert edges(ask(admin, *of(chain["first"]))) == {e for e in whole if e[1] not in ("code", "base_model")}
    near = ask(admin, *of(chain["model"]), depth=1)
    assert keys(near) == {chain["run"], chain["model"], chain["served"]} and near["more"]
    assert not ask(admin, *of(chain["model"]), depth=1, direction="down")["more"]

    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD)
    model = node(graph, chain["model"])
    out = cli.run("lineage", "model", f"{model['of']['name']}:{model['name']}", "--project", project["name"]).out
    assert out.index("made from") < out.index("data: dataset-version") < out.index("from: dataset-version") < out.index("used by") < out.index("serves: service-version")
    assert edges(cli.json("lineage", "model-version", str(model["id"]), "--direction", "up")) == up
    cli.fails(2, "lineage", "nonsense", "x", says="nonsense")
    with ingot.Client(server.url, token=admin.token) as client:
        assert edges(client.lineage("model_version", model["id"], direction="up")) == up


def test_a_deleted_run_and_its_model(admin, chain):
    admin.delete(instance_path(chain["instance"]), headers={"If-Match": "*"})
    graph = ask(admin, *of(chain["model"]), direction="up")
    # The model keeps what the run was made from.
    assert edges(graph) == {(chain["second"], "data", chain["model"]), (chain["code"], "code", chain["model"]),
                            (chain["base"], "base_model", chain["model"]), (chain["first"], "from", chain["second"])}
    assert (chain["second"], "data", chain["model"]) in edges(ask(admin, *of(chain["second"])))


def test_images(admin, server, project, spec):  # noqa: F811
    image = f"{project['name']}/tool"
    Registry(server.url, auth=("admin", ADMIN_PASSWORD)).push(image, small(), "v1")
    made = admin.get("images", project=project["id"])["items"][0]["id"]
    version = "image_version:" + str(admin.get(f"images/{made}/versions")["items"][0]["id"])
    run = waiting(admin, project, spec, image=f"{image}:v1")
    service = admin.post("services", {"project": project["id"], "name": unique("s")})
    served = admin.post(f"services/{service['id']}/versions", {"spec": spec["id"], "image_version": of(version)[1], "command": "true", "replicas": 0})
    assert edges(ask(admin, *of(version))) == {(version, "image", f"training_instance:{run['id']}"), (version, "image", f"service_version:{served['id']}")}
    assert edges(ask(admin, "training_instance", run["id"])) == {(version, "image", f"training_instance:{run['id']}")}


def test_who_sees_how_much(admin, project, spec, make_user):  # noqa: F811
    """A public dataset of one project, used in another."""
    other = admin.post("projects", {"name": unique("other")})
    theirs, mine, nobody = make_user(other, "owner"), make_user(project, "viewer"), make_user(admin.post("projects", {"name": unique("third")}))
    data = dataset(admin, project, public=True)
    private = dataset(admin, project)
    later = admin.post(f"datasets/{data['dataset']['id']}/versions", {"from": data["id"]})
    runs = [waiting(theirs, other, spec, datasets=[data["id"]]) for _ in range(2)]
    runs_here = waiting(admin, project, spec, datasets=[data["id"], private["id"]])
    source = f"dataset_version:{data['id']}"
    # Who sees the dataset alone learns that it is used elsewhere: neither by whom nor how often.
    graph = ask(nobody, "dataset_version", data["id"])
    assert keys(graph) >= {source, f"dataset_version:{later['id']}"}
    [hidden] = [n for n in graph["nodes"] if not n["visible"]]
    assert hidden.keys() == {"key", "kind", "depth", "visible", "deleted"} and hidden["kind"] == "training_instance" and not hidden["deleted"]
    assert (source, "data", hidden["key"]) in edges(graph)
    # Each project sees its own runs, and one for all others.
    for who, visible in ((theirs, [r["id"] for r in runs]), (mine, [runs_here["id"]])):
        graph = ask(who, "dataset_version", data["id"])
        assert {n["id"] for n in graph["nodes"] if n["visible"] and n["kind"] == "training_instance"} == set(visible)
        assert len([n for n in graph["nodes"] if not n["visible"]]) == 1
    assert all(n["visible"] for n in ask(admin, "dataset_version", data["id"])["nodes"])
    # What one may not read does not exist, and nothing behind it is told.
    problem(nobody.call("GET", "lineage", params={"kind": "training_instance", "id": runs_here["id"]}), 404, "not_found")
    problem(nobody.call("GET", "lineage", params={"kind": "dataset_version", "id": private["id"]}), 404, "not_found")
    problem(theirs.call("GET", "lineage", params={"kind": "training_instance", "id": runs_here["id"]}), 404, "not_found")
    # Sources likewise, for those who may see runs and no data.
    role = admin.post("roles", {"name": unique("runs"), "permissions": ["project.read", "training.read"]})
    graph = ask(make_user(project, role["name"]), "training_instance", runs_here["id"])
    told = [(n["visible"], n["kind"], n["depth"]) for n in graph["nodes"]]
    assert told[0] == (True, "training_instance", 0) and (False, "dataset_version", -1) in told and private["id"] not in [n.get("id") for n in graph["nodes"][1:]]
    token = Api(theirs.url, theirs.post("tokens", {"name": unique(), "scopes": ["dataset.read"]})["secret"])
    assert token.call("GET", "lineage", params={"kind": "training_instance", "id": runs[0]["id"]}).status_code in (403, 404)


@pytest.mark.parametrize(("query", "field"), [
    ({"id": 1}, "kind"), ({"kind": "model_version"}, "id"), ({"kind": "spec", "id": 1}, "kind"), ({"kind": "model_version", "id": 0}, "id"),
    ({"kind": "model_version", "id": "x"}, "id"), ({"kind": "model_version", "id": 1, "depth": 0}, "depth"),
    ({"kind": "model_version", "id": 1, "depth": 21}, "depth"), ({"kind": "model_version", "id": 1, "direction": "left"}, "direction"),
    ({"kind": "model_version", "id": 1, "x": 1}, "x")])
def test_bad_questions(admin, query, field):
    body = admin.call("GET", "lineage", params=query)
    assert body.status_code in (400, 422) and field in body.text, body.text


def test_it_ends_somewhere(admin, project):
    """At so many nodes, and at so many steps."""
    version = dataset(admin, project)
    for i in range(510):
        admin.post("layers", {"project": project["id"], "name": f"{i}", "dataset_version": version["id"]})
    graph = ask(admin, "dataset_version", version["id"])
    assert len(graph["nodes"]) == 500 and graph["more"]
    made = [dataset(admin, project)]
    for _ in range(22):
        made.append(admin.post(f"datasets/{made[0]['dataset']['id']}/versions", {"from": made[-1]["id"]}))
    graph = ask(admin, "dataset_version", made[-1]["id"], depth=20)
    assert len(graph["nodes"]) == 21 and graph["more"]
    assert not ask(admin, "dataset_version", made[20]["id"], depth=20, direction="up")["more"]


def test_a_sample_and_who_annotated_it(admin, project, spec, make_user):  # noqa: F811
    version = dataset(admin, project)
    path = f"datasets/{version['dataset']['id']}/versions/{version['id']}"
    labels = admin.post("label-sets", {"project": project["id"], "name": unique("set"), "labels": [{"name": "cat", "color": "#112233"}]})
    where = f"datasets/{version['dataset']['id']}"
    admin.patch(where, {"label_set": labels["id"]}, admin.get(where)["revision"])
    bring(admin, project, path, "x.zip", zipped({"1.png": png(20, 20, 1)}))
    person = make_user(project, "annotator")
    team = admin.post("teams", {"project": project["id"], "name": unique("team"), "role": "labelling", "members": [person.user["id"]]})
    task = admin.post("label-tasks", {"project": project["id"], "name": unique("task"), "version": version["id"], "labelling_team": team["id"]})
    admin.post(f"label-tasks/{task['id']}/open", expect=200)
    [one] = take(person, f"label-tasks/{task['id']}")
    person.post(f"{path}/operations", {"assignment": one["id"], "operations": [
        {"sample": one["sample"]["id"], "id": "abcdefgh.1", "op": "put", "shape": {"id": "a", **BOX}}]}, expect=200)
    person.post(f"label-tasks/{task['id']}/submit", {"assignment": one["id"]}, expect=200)
    run = waiting(admin, project, spec, datasets=[version["id"]])
    sample, data = f"sample:{one['sample']['id']}", f"dataset_version:{version['id']}"
    graph = ask(make_user(project, "viewer"), "sample", one["sample"]["id"])
    assert edges(graph) >= {(f"user:{person.user['id']}", "annotated", sample), (f"label_task:{task['id']}", "labelled", sample),
                            (sample, "part", data), (data, "data", f"training_instance:{run['id']}")}
    assert node(graph, f"user:{person.user['id']}")["name"] == person.user["name"] and node(graph, sample)["name"] == "1.png"
    assert (f"label_task:{task['id']}", "labelled", data) in edges(ask(admin, "dataset_version", version["id"]))
    for stranger in (person, make_user()):
        problem(stranger.call("GET", "lineage", params={"kind": "sample", "id": one["sample"]["id"]}), 404, "not_found")


def test_what_an_older_program_made_is_found(fresh_server, request):
    """It wrote no rows for lists."""
    server = fresh_server()
    place = Place(server, request.getfixturevalue("postgres") if server.db else None)
    api = server.admin()
    project = api.post("projects", {"name": unique("p")})
    tiny = api.post("specs", {"name": unique("tiny"), "cpus": 0.1, "memory": 128 << 20})
    data = dataset(api, project)
    run = waiting(api, project, tiny, datasets=[data["id"]])
    wanted = {(f"dataset_version:{data['id']}", "data", f"training_instance:{run['id']}")}
    assert edges(ask(api, "dataset_version", data["id"])) == wanted
    server.stop()
    place.sql("DELETE FROM made_from")
    place.sql("DELETE FROM made_from_marks")
    server.start()
    api = server.admin()
    wait_for(lambda: edges(ask(api, "dataset_version", data["id"])) == wanted, "the rows to be made")
