"""Canaries on the golden version of their service: the rules about figures and agreement, and what cannot be judged."""

import json

import pytest
from harness import problem, unique, wait_for
from test_evaluations import COUNT, all_samples, begin, labelled, make_data, make_model, model_files, over  # noqa: F401
from test_services import events, make, spec  # noqa: F401


def published(api, data: dict) -> dict:
    return data | api.post(f"{data['path']}/publish", expect=200)


def turned(files: dict[str, bytes], by: int = 1) -> dict[str, bytes]:
    """The same model with its labels the wrong way round."""
    manifest = json.loads(files["ingot-model.json"])
    manifest["labels"] = manifest["labels"][by:] + manifest["labels"][:by]
    return files | {"ingot-model.json": json.dumps(manifest).encode()}


@pytest.fixture
def serve(admin, project, model_files, make, spec):  # noqa: F811
    """A service with a golden version whose truth is what its production model finds."""
    def service(**rules) -> tuple[dict, dict]:
        model = make_model(admin, project, model_files["class"])
        seen = over(admin, begin(admin, project, make_data(admin, project, labelled()), model_version=model["id"]))
        truth = {x["file"]: {"labels": x["found"]["labels"]} for x in all_samples(admin, seen)}
        golden = published(admin, make_data(admin, project, truth))
        s = make(golden=golden["id"], rules=rules)
        admin.post(f"services/{s['id']}/versions", {"model_version": model["id"], "replicas": 0, "spec": spec["id"]})
        return s, golden
    return service


def canary(api, s: dict, model: dict) -> dict:
    serves = api.get(f"services/{s['id']}/versions")["items"][0]
    return api.post(f"services/{s['id']}/versions", {"model_version": model["id"], "replicas": 0, "role": "canary",
                                                       "spec": serves["spec"]["id"]})


def held(api, s: dict, v: dict, *states) -> dict:
    def result():
        found = api.get(f"services/{s['id']}")["golden_result"]
        return found and found["canary"] == v["id"] and found["state"] in states and found
    return wait_for(result, f"{v['name']} to be one of {states}")


def test_a_worse_canary_is_rolled_back_and_an_equal_one_stays(admin, project, model_files, serve):  # noqa: F811
    s, golden = serve(golden_drop=0.1, agreement=0.9, action="rollback")
    assert admin.get(f"services/{s['id']}")["golden_result"] is None
    same = canary(admin, s, make_model(admin, project, model_files["class"]))
    result = held(admin, s, same, "kept")
    assert result["figure"] == "accuracy" and result["production_value"] == result["canary_value"] == 1, result
    assert result["samples"] == result["agree"] == COUNT and result["agree_high"] == 1 and result["low"] <= 0 <= result["high"]
    assert admin.get(f"services/{s['id']}/versions/{same['id']}")["role"] == "canary"
    # Both evaluations are ones like others, of all of the golden version.
    for side in ("production", "canary"):
        e = admin.get(f"evaluations/{result[f'{side}_evaluation']}")
        assert e["dataset_version"]["id"] == golden["id"] and e["automatic"] and e["part"] == "all", e
    worse = make_model(admin, project, turned(model_files["class"]))
    version = f"services/{s['id']}/versions"
    bad = canary(admin, s, worse)
    result = held(admin, s, bad, "broken")
    assert result["canary_value"] == 0 and result["agree"] == 0 and result["high"] < -0.1, result
    assert "accuracy" in result["reason"] and "accuracy" in result["reason_zh"] and "黄金" in result["reason_zh"]
    wait_for(lambda: admin.get(f"{version}/{bad['id']}")["role"] == "retired", "the canary to be retired")
    assert "canary-rolled-back" in events(admin, s)
    why = [e for e in admin.get(f"services/{s['id']}/events")["items"] if e["event"] == "canary-rolled-back"][0]
    assert result["reason"] in why["reason"], why
    # Production's evaluation was used again.
    assert len([e for e in admin.all("evaluations", project=project["id"]) if e["dataset_version"]["id"] == golden["id"]]) == 3
    # The golden version is in use.
    problem(admin.call("DELETE", golden["path"], headers={"If-Match": "*"}), 409, "conflict")


def test_agreement_stops_a_canary_and_a_person_may_start_it_again(admin, project, model_files, serve):  # noqa: F811
    s, _ = serve(agreement=0.5, action="stop")
    v = canary(admin, s, make_model(admin, project, turned(model_files["class"], 2)))
    result = held(admin, s, v, "broken")
    assert "0 of the golden version's 24 samples" in result["reason"], result
    path = f"services/{s['id']}/versions/{v['id']}"
    wait_for(lambda: admin.get(path)["stopped"], "the canary to be stopped")
    admin.post(f"{path}/start", {}, expect=200)
    runs = next(c for c in admin.get("controllers")["items"] if c["name"] == "golden")["runs"]
    wait_for(lambda: next(c for c in admin.get("controllers")["items"] if c["name"] == "golden")["runs"] > runs + 1, "two more looks")
    assert not admin.get(path)["stopped"]


def test_what_cannot_be_judged_says_why(admin, project, model_files, serve):  # noqa: F811
    s, _ = serve(golden_drop=0)
    path = f"services/{s['id']}"
    v = canary(admin, s, make_model(admin, project, model_files["boxes"]))
    result = held(admin, s, v, "failed")
    assert "detection" in result["reason"] and "detection" in result["reason_zh"], result
    assert admin.get(f"{path}/versions/{v['id']}")["role"] == "canary"
    draft = make_data(admin, project, labelled())
    revision = admin.get(path)["revision"]
    problem(admin.call("PATCH", path, json={"golden": draft["id"]}, headers={"If-Match": f'"{revision}"'}), 422, "invalid", "golden")
    problem(admin.call("POST", "services", json={"project": project["id"], "name": unique("s"), "golden": draft["id"]}), 422, "invalid",
            "golden")
    for name, value in (("golden_drop", -0.1), ("agreement", 1.5), ("agreement", "all")):
        problem(admin.call("PATCH", path, json={"rules": {name: value}}, headers={"If-Match": f'"{revision}"'}), 422, "invalid", f"rules.{name}")
    # Without the golden version nothing is told any more.
    now = admin.call("PATCH", path, json={"golden": None}, headers={"If-Match": "*"})
    assert now.status_code == 200 and now.json()["golden_result"] is None, now.text


def test_services_that_do_the_same_are_offered(admin, project, model_files, serve, make_user):  # noqa: F811
    s, _ = serve()
    for files, names in (("class", [s["name"]]), ("boxes", [])):
        model = make_model(admin, project, model_files[files])
        found = admin.get("services/fitting", project=project["id"], model_version=model["id"])["items"]
        assert [one["name"] for one in found] == names, (files, found)
    stranger = make_user()
    query = {"project": project["id"], "model_version": model["id"]}
    problem(stranger.call("GET", "services/fitting", params=query), 404, "not_found")
    problem(admin.call("GET", "services/fitting", params={"project": project["id"]}), 422, "invalid", "model_version")
