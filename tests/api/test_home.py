"""The first pages: of a project and of all that one sees. Each part is there for whoever may see it, and for nobody else."""

import httpx
import pytest
from harness import Api, problem, unique, wait_for
from test_datasets import bring, png, zipped
from test_evaluations import begin, labelled, make_data, make_model, model_files, over  # noqa: F401 (model_files is a fixture)
from test_files import put
from test_label_tasks import Shop, people_of, take
from test_services import SERVE

PARTS = ["steps", "counts", "running", "waiting", "failed", "best", "newest", "services", "labelling", "mine", "changes"]
STEPS = ["data", "label", "train", "evaluate", "deploy"]


@pytest.fixture(scope="module")
def spec(admin) -> dict:
    return admin.post("specs", {"name": unique("home"), "cpus": 0.1, "memory": 256 << 20})


def home(api: Api, project: dict) -> dict:
    return api.get(f"projects/{project['id']}/home")


def done(answer: dict) -> list[str]:
    return [step["name"] for step in answer["steps"] if step["done"]]


def names(items: list[dict], of: str = "object") -> list[str]:
    return [item[of]["name"] for item in items]


def test_a_new_project_says_what_to_do_first(admin, project, make_user):
    now = home(admin, project)
    assert list(now) == PARTS
    assert [s["name"] for s in now["steps"]] == STEPS and done(now) == [] and all(s["may"] and not s["with"] for s in now["steps"])
    assert (now["running"], now["waiting"]) == ({"total": 0, "items": []}, {"total": 0, "items": []})
    assert all(now[part] == [] for part in ("failed", "best", "newest", "services", "labelling"))
    assert now["mine"] == {"tasks": [], "reviews": {"items": []}}
    assert now["counts"]["dataset"] == 0 and now["counts"]["member"] == 1 and "task" not in now["counts"]
    assert [(c["verb"], c["kind"], c["name"]) for c in now["changes"] if c["kind"] != "member"] == [("create", "project", project["name"])]
    viewer = home(make_user(project, "viewer"), project)
    assert not any(step["may"] for step in viewer["steps"])
    problem(make_user().call("GET", f"projects/{project['id']}/home"), 404, "not_found")


def test_what_runs_waits_and_failed(admin, project, spec, make_user):
    def job(name: str, command: str, **fields) -> dict:
        return admin.post("jobs", {"project": project["id"], "name": name, "spec": spec["id"], "command": command, **fields})

    lasting = job("lasting", "exec sleep 1000")
    waiting = job("too-large", "true", nodes=64)
    failing = job("failing", "echo began; echo the disk is round >&2; exit 3")
    training = admin.post("trainings", {"project": project["id"], "name": "fit", "spec": spec["id"],
                                        "command": "echo step=1 loss=0.5; echo ModuleNotFoundError: No module named \\'nosuch\\' >&2; exit 1"})
    admin.post(f"trainings/{training['id']}/start")
    now = wait_for(lambda: (h := home(admin, project)) and len(h["failed"]) == 2 and names(h["running"]["items"]) == ["lasting"] and
                   all(f["line"] for f in h["failed"]) and h["waiting"]["items"][0]["reason"] and h, "two failures")
    assert now["running"]["total"] == 1 and now["running"]["items"][0]["by"]["name"] == "admin"
    assert (now["waiting"]["total"], names(now["waiting"]["items"])) == (1, ["too-large"])
    assert now["waiting"]["items"][0]["reason"]["en"] == admin.get(f"jobs/{waiting['id']}")["reason"]
    failed = {one["object"]["name"]: one for one in now["failed"]}
    plain, run = failed["failing"], failed["run-1"]
    assert (plain["kind"], plain["line"]) == ("job", "the disk is round")
    assert plain["reason"] == {"en": "ended with exit code 3", "zh": "退出码 3"}
    assert run["kind"] == "training_instance" and run["object"]["of"] == {"id": training["id"], "name": "fit"}
    assert "nosuch" in run["line"] and "nosuch" in run["reason"]["en"] and run["reason"]["zh"] != run["reason"]["en"]
    assert now["counts"]["job"] >= 3 and now["counts"]["training"] == 1
    # What an action brought about is no change of its own, nor what came before to the same object.
    assert {(c["verb"], c["kind"]) for c in now["changes"]} - {("create", "member")} == {("start", "training"), ("create", "job"), ("create", "project")}
    assert next(c for c in now["changes"] if c["kind"] == "job")["times"] == 3
    assert failing["id"] != lasting["id"]

    # Whoever may not read jobs is not told of them, nor of what they run for under another name.
    def role(*permissions: str) -> Api:
        made = admin.post("roles", {"name": unique("role"), "permissions": ["project.read", *permissions]})
        return make_user(project, made["name"])
    less = home(role("task.read"), project)
    assert (less["running"], less["waiting"], less["failed"], less["changes"]) == ({"total": 0, "items": []}, None, [], None)
    only_jobs = home(role("job.read"), project)
    assert {(f["kind"], f["object"]["name"]) for f in only_jobs["failed"]} == {("job", "failing")}
    assert home(role("service.read"), project)["failed"] is None
    admin.post(f"jobs/{lasting['id']}/stop", {}, expect=200)
    admin.post(f"jobs/{waiting['id']}/stop", {}, expect=200)


def test_the_way_from_data_to_a_service(admin, project, spec, model_files):  # noqa: F811
    data = make_data(admin, project, labelled())
    now = home(admin, project)
    assert done(now) == ["data", "label"]
    assert now["steps"][2]["with"] == {"id": data["id"], "name": "v1", "of": {"id": data["set"]["id"], "name": data["set"]["name"]}}
    first, second = (make_model(admin, project, model_files[name]) for name in ("class", "other"))
    now = home(admin, project)
    assert done(now) == ["data", "label", "train"] and now["steps"][4]["with"]["id"] == second["id"]
    assert [m["model"]["id"] for m in now["newest"]] == [second["id"], first["id"]] and now["newest"][0]["figure"] is None
    accuracy = {}
    for model in (first, second):
        ended = over(admin, begin(admin, project, data, model_version=model["id"]))
        accuracy[model["id"]] = ended["figures"]["accuracy"]["value"]
    service = admin.post("services", {"project": project["id"], "name": unique("s"), "drain_s": 0})
    admin.post(f"services/{service['id']}/versions", {"spec": spec["id"], "model_version": first["id"]})
    now = wait_for(lambda: (h := home(admin, project))["services"][0]["service"]["state"] == "serving" and h, "the service")
    assert done(now) == STEPS
    (best,) = now["best"]
    assert best["of"] == 2 and best["data"]["id"] == data["id"] and best["figure"]["name"] == "accuracy" and best["part"] == "all"
    assert best["figure"]["value"] == max(accuracy.values()) == accuracy[best["model"]["id"]]
    newest = {m["model"]["id"]: m for m in now["newest"]}
    assert newest[first["id"]]["figure"]["value"] == accuracy[first["id"]]
    assert (newest[first["id"]]["service"]["name"], newest[second["id"]]["service"]) == (service["name"], None)
    (told,) = now["services"]
    assert (told["service"]["production"], told["requests"], told["errors"]) == ("1/1", 0, 0)
    admin.delete(f"services/{service['id']}", headers={"If-Match": "*"})


def test_labelling_and_ones_own_work(admin, server):
    shop = Shop(admin, people_of(server, admin))
    task = shop.task(review_ratio=100)
    annotator, reviewer = shop.annotators[0], shop.reviewers[0]
    number = int(task.split("/")[1])
    now = home(shop.owner, shop.project)
    assert [(one["task"]["id"], one["samples"], one["labelled"], one["state"]) for one in now["labelling"]] == [(number, 12, 0, "open")]
    assert now["mine"]["tasks"] == []

    def mine(who: Api) -> list[tuple]:
        return [(w["task"]["id"], w["stage"], w["held"], w["rejected"], w["left"]) for w in home(who, shop.project)["mine"]["tasks"]]

    assert mine(annotator) == [(number, "label", 0, 0, 12)] and mine(reviewer) == []
    first = take(annotator, task)[0]
    assert mine(annotator) == [(number, "label", 3, 0, 12)]
    shop.label(annotator, task, first)
    assert mine(annotator) == [(number, "label", 2, 0, 11)] and mine(reviewer) == [(number, "review", 0, 0, 1)]
    drawn = take(reviewer, task, "review")[0]
    reviewer.post(f"{task}/decide", {"assignment": drawn["id"], "verdict": "reject", "reason": "look again"}, expect=200)
    assert [w[3] for w in mine(annotator)] == [1]

    # An annotator has their tasks and nothing else; those of other teams are not told.
    seen = home(annotator, shop.project)
    assert [part for part in PARTS if seen[part] is None] == ["running", "waiting", "failed", "best", "newest", "services", "changes"]
    assert seen["steps"] == [] and seen["counts"] == {"label_task": 1} and len(seen["labelling"]) == 1
    shop.task(labelling_team=shop.make_team("labelling", [shop.annotators[1]]))
    assert len(home(annotator, shop.project)["labelling"]) == 1 and home(annotator, shop.project)["counts"] == {"label_task": 1}
    assert len(home(shop.owner, shop.project)["labelling"]) == 2


def test_the_platform_is_told_as_far_as_one_sees_it(admin, spec, make_user):
    here, there = (admin.post("projects", {"name": unique("home")}) for _ in range(2))
    for project in (here, there):
        admin.post("jobs", {"project": project["id"], "name": f"in-{project['name']}", "spec": spec["id"], "command": "echo no >&2; exit 1"})
        version = admin.post(f"datasets/{admin.post('datasets', {'project': project['id'], 'name': 'd', 'annotation_type': 'detection'})['id']}/versions", {})
        bring(admin, project, f"datasets/{version['dataset']['id']}/versions/{version['id']}", "x.zip", zipped({"a.png": png(4, 4, 1), "b.png": png(4, 4, 2)}))
    admin.post("services", {"project": here["id"], "name": unique("s")})

    def row(answer: dict, project: dict) -> dict:
        return next(one for one in answer["projects"]["items"] if one["project"]["id"] == project["id"])

    member = make_user(here)
    now = wait_for(lambda: (h := member.get("home"))["failed"] and h, "the failure")
    assert now["load"] is None and now["projects"]["total"] == 1 and names(now["projects"]["items"], "project") == [here["name"]]
    assert [(f["object"]["name"], f["project"]["name"], f["line"]) for f in now["failed"]] == [(f"in-{here['name']}", here["name"], "no")]
    mine = row(now, here)
    assert (mine["failed"], mine["samples"], mine["services"], mine["troubled"]) == (1, 2, 1, 0) and mine["use"]["storage"] > 0
    assert len(now["growth"]) == 30 and grown(now) == {"samples": 2, "labels": 0, "models": 0, "services": 0}
    assert [s["service"]["project"]["id"] for s in now["services"]] == [here["id"]]

    admin.post(f"projects/{there['id']}/members", {"user": member.user["id"],
               "role": admin.get("roles", filter='name = "annotator"')["items"][0]["id"]})
    both = wait_for(lambda: (h := member.get("home"))["projects"]["total"] == 2 and h, "the other project")
    assert row(both, there)["samples"] == 0 and {f["project"]["name"] for f in both["failed"]} == {here["name"]}

    whole = wait_for(lambda: (h := admin.get("home")) and row(h, there)["failed"] and h, "both failures")
    assert set(whole["load"]) == {"total", "reserved", "used", "use", "nodes"} and sum(whole["load"]["nodes"].values()) >= 1
    assert whole["load"]["total"]["cpus"] > 0 and row(whole, here)["failed"] == row(whole, there)["failed"] == 1

    nobody = make_user().get("home")
    assert nobody["projects"] == {"total": 0, "items": []} and all(nobody[part] is None for part in nobody if part != "projects")
    narrow = Api(member.url, member.post("tokens", {"name": unique(), "scopes": ["project.read"]})["secret"]).get("home")
    assert narrow["projects"]["total"] == 2 and narrow["failed"] is None
    assert row(narrow, here)["failed"] == row(narrow, here)["samples"] == 0


def grown(home: dict) -> dict:
    return {name: sum(day[name] for day in home["growth"]) for name in ("samples", "labels", "models", "services")}


def test_growth_is_what_came_even_when_it_went(admin, project, make_user):
    viewer = make_user(project, role="viewer")
    data = admin.post("datasets", {"project": project["id"], "name": "grows", "annotation_type": "detection"})
    versions = f"datasets/{data['id']}/versions"
    first = admin.post(versions, {})
    bring(admin, project, f"{versions}/{first['id']}", "x.zip", zipped({"a.png": png(4, 4, 1), "b.png": png(4, 4, 2)}))
    assert grown(viewer.get("home"))["samples"] == 2
    copied = admin.post(versions, {"from": first["id"]})
    wait_for(lambda: admin.get(f"{versions}/{copied['id']}")["samples"] == 2, "the copy")
    assert grown(viewer.get("home"))["samples"] == 2, "copies are not new"
    bring(admin, project, f"{versions}/{copied['id']}", "y.zip", zipped({"c.png": png(4, 4, 3)}))
    assert grown(viewer.get("home"))["samples"] == 3
    admin.delete(f"{versions}/{copied['id']}")
    model = admin.post("model-sets", {"project": project["id"], "name": "grows"})
    version = admin.post(f"model-sets/{model['id']}/versions", {})
    assert grown(viewer.get("home"))["models"] == 0, "nothing is in it yet"
    for text in (b"one", b"two"):
        put(admin, f"model-sets/{model['id']}/versions/{version['id']}", "weights.bin", text)
    assert grown(viewer.get("home")) == {"samples": 3, "labels": 0, "models": 1, "services": 0}


def test_a_service_of_a_program_tells_its_traffic(admin, project, spec):
    service = admin.post("services", {"project": project["id"], "name": unique("s"), "drain_s": 0})
    admin.post(f"services/{service['id']}/versions", {"spec": spec["id"], "command": SERVE})
    wait_for(lambda: admin.get(f"services/{service['id']}")["state"] == "serving", "the service")
    key = admin.post(f"services/{service['id']}/keys", {"name": "k"})["secret"]
    assert httpx.get(service["address"] + "/", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    assert httpx.get(service["address"] + "/nothing-here", headers={"Authorization": f"Bearer {key}"}).status_code == 404
    told = wait_for(lambda: (t := home(admin, project)["services"][0])["requests"] == 2 and t, "the requests")
    assert told["errors"] == 0
    admin.delete(f"services/{service['id']}", headers={"If-Match": "*"})
