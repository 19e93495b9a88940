"""Every route of the document, tried as each built-in role: what a role may is a table, everything else is refused."""

import pytest
from harness import Api, unique
from test_datasets import png, upload
from test_isolation import EVERYBODY, PLATFORM, full, requests_of  # noqa: F401 (full is a fixture)

SAMPLE = "datasets/{dataset_id}/versions/{version_id}/samples/{sample_id}"
# Of samples that one was given.
SAMPLES = {f"GET {SAMPLE}", f"GET {SAMPLE}/content", f"GET {SAMPLE}/thumbnail", f"GET {SAMPLE}/history", f"PUT {SAMPLE}/annotation",
           f"POST {SAMPLE}/restore", f"GET {SAMPLE}/operations", f"GET {SAMPLE}/at", f"GET {SAMPLE}/tile",
           f"GET {SAMPLE}/peaks"}
TASK = "label-tasks/{id}"
LABEL = {"GET label-tasks", "GET label-tasks/publish-reviews", f"GET {TASK}", f"GET {TASK}/work", f"GET {TASK}/bench", f"POST {TASK}/next",
         f"POST {TASK}/heartbeat", f"POST {TASK}/submit", f"POST {TASK}/skip", f"POST {TASK}/release", f"POST {TASK}/reopen",
         f"GET {TASK}/threads", f"POST {TASK}/threads", f"POST {TASK}/threads/{{note}}/done",
         f"GET {TASK}/examples/{{example_id}}", f"GET {TASK}/pictures/{{picture_id}}"}
PROJECT = {"GET projects/{id}", "GET projects/{id}/home", "GET projects/{id}/overview", "GET projects/{id}/forecast", "GET search"}
MAY = {"annotator": PROJECT | LABEL | SAMPLES, "reviewer": PROJECT | LABEL | SAMPLES | {f"POST {TASK}/decide"}}
# What members leave to owners; administrators' is PLATFORM.
OWNERS = {"PATCH projects/{id}", "DELETE projects/{id}", "POST projects/{project_id}/members", "PATCH projects/{project_id}/members/{id}",
          "DELETE projects/{project_id}/members/{id}"}
# What owners choose new members from.
CHOOSING = {"GET users", "GET users/{id}", "GET groups", "GET groups/{id}", "GET roles", "GET roles/{id}"}
# Other people's, whatever the role.
PERSONAL = {"GET tokens/{id}", "DELETE tokens/{id}", "GET sessions/{id}", "DELETE sessions/{id}", "GET environments/{id}/folders",
            "HEAD uploads/{upload}", "PATCH uploads/{upload}", "DELETE uploads/{upload}"}
OF_MAKERS = {"DELETE algorithm-sets/{id}", "DELETE label-tasks/{id}"}  # and of owners


@pytest.fixture(scope="module")
def places(admin, full, server):  # noqa: F811
    """People by role; the ids, with a task of theirs; what the annotator has of it on the sample of the ids."""
    people = {}
    for role in ("annotator", "reviewer", "member", "owner"):
        user = admin.post("users", {"name": unique(role), "password": "pass-word-1"})
        wanted = admin.get("roles", filter=f'name = "{role}"')["items"][0]["id"]
        admin.post(f"projects/{full['project']}/members", {"user": user["id"], "role": wanted})
        people[role] = Api(server.url).sign_in(user["name"], "pass-word-1")
        people[role].user = user
    inside = {"project": full["project"]}
    admin.post(f"label-tasks/{full['label-tasks']}/cancel", expect=200)
    teams = {role: admin.post("teams", {**inside, "name": unique(), "role": role, "members": [people[who].user["id"]]})["id"]
             for role, who in (("labelling", "annotator"), ("review", "reviewer"))}
    task = admin.post("label-tasks", {**inside, "name": unique(), "version": full["datasets/versions"], "labelling_team": teams["labelling"],
                                      "review_team": teams["review"], "review_ratio": 100,
                                      "instructions": f"![a](upload:{upload(admin, {'id': full['project']}, png(9, 9, 1))})"})["id"]
    admin.post(f"label-tasks/{task}/open", expect=200)
    given = people["annotator"].post(f"label-tasks/{task}/next", {}, expect=200)["items"]
    sample = full["datasets/versions/samples"]
    note = people["annotator"].call("POST", f"label-tasks/{task}/threads", params={"sample": sample}, json={"text": "?"}).json()["id"]
    return people, {**full, "label-tasks": task, "label-tasks/threads": note}, next(one for one in given if one["sample"]["id"] == sample)


def wrong_of(who, document: dict, ids: dict, may, stage: str = "label") -> list[str]:
    """What the role may not and does, or may and is refused."""
    wrong = []
    for name, method, path, options in requests_of(document, ids):
        if name in EVERYBODY or name == "DELETE session":
            continue
        if name.endswith("/threads"):
            options["params"]["sample"] = ids["datasets/versions/samples"]
        if name == f"POST {TASK}/next":
            options["json"] = {"stage": stage}
        options["headers"]["If-Match"] = '"999999"'  # whoever may is told that it is stale
        answer = who.call(method, path, **options)
        refused = answer.status_code in (403, 404) and "earlier revision" not in answer.text  # restore: of no such one
        if refused == may(name, path):
            wrong.append(f"{name}: {answer.status_code} {answer.text[:200]}")
    return wrong


def test_an_annotator_may_label_what_they_have_and_nothing_else(admin, places):
    people, ids, _ = places
    wrong = wrong_of(people["annotator"], admin.get("openapi.json"), ids, lambda name, _: name in MAY["annotator"])
    assert not wrong, "\n".join(wrong)


def test_a_reviewer_may_decide_too(admin, places):
    people, ids, one = places
    task = f"label-tasks/{ids['label-tasks']}"
    people["annotator"].post(f"{task}/next", {"sample": one["sample"]["id"]}, expect=200)
    people["annotator"].post(f"{task}/submit", {"assignment": one["id"], "nothing": True}, expect=200)
    document = admin.get("openapi.json")
    sample = f"datasets/{ids['datasets']}/versions/{ids['datasets/versions']}/samples/{one['sample']['id']}"
    assert people["reviewer"].call("GET", f"{sample}/content").status_code == 403  # before it is theirs
    people["reviewer"].post(f"{task}/next", {"stage": "review"}, expect=200)
    wrong = wrong_of(people["reviewer"], document, ids, lambda name, _: name in MAY["reviewer"], "review")
    assert not wrong, "\n".join(wrong)


def test_members_may_everything_but_what_is_the_owners(admin, places):
    """With requests that are stale or lack a body: whoever may is told so, and nothing is changed for good."""
    people, ids, _ = places
    document = admin.get("openapi.json")

    def reads(name: str, path: str) -> bool:
        return name.startswith(("GET", "PATCH", "PUT", "DELETE")) and path.split("/")[0] not in PLATFORM - {"projects"}

    for role, left, more in (("member", OWNERS | OF_MAKERS, set()), ("owner", set(), CHOOSING)):
        wrong = [line for line in wrong_of(people[role], {"paths": {path: {verb: one for verb, one in verbs.items() if verb != "post"}
                 for path, verbs in document["paths"].items()}}, ids, lambda name, path, left=left, more=more: name in more or (
                 reads(name, path) and name not in left | PERSONAL))]
        assert not wrong, "\n".join(wrong)
