"""Labelling tasks: who gets which sample, what becomes of it, and who sees it."""

import csv
import io
import threading
from types import SimpleNamespace

import ingot
import pytest
from cli import Cli
from harness import Api, problem, unique, wait_for
from test_datasets import bring, png, zipped
from test_rooms import hear, room
from websockets.exceptions import InvalidStatus

BOX = {"type": "box", "label": "cat", "x": 1, "y": 2, "w": 5, "h": 6}


class Shop:
    """A project with a version of pictures, people and their teams."""

    def __init__(self, admin: Api, make_user, pictures: int = 12, annotators: int = 2, reviewers: int = 1) -> None:
        self.admin = admin
        self.project = admin.post("projects", {"name": unique("label")})
        self.owner = make_user(self.project, "owner")
        self.annotators = [make_user(self.project, "annotator") for _ in range(annotators)]
        self.reviewers = [make_user(self.project, "reviewer") for _ in range(reviewers)]
        self.labels = [{"name": "cat", "color": "#112233"}]
        self.set = self.owner.post("label-sets", {"project": self.project["id"], "name": unique("set"), "labels": self.labels})
        self.dataset = self.owner.post("datasets", {"project": self.project["id"], "name": unique("data"), "label_set": self.set["id"]})
        made = self.owner.post(f"datasets/{self.dataset['id']}/versions", {})
        self.version_id = made["id"]
        self.version = f"datasets/{self.dataset['id']}/versions/{made['id']}"
        bring(self.owner, self.project, self.version, "x.zip", zipped({f"{i:03}.png": png(20, 20, i) for i in range(pictures)}))
        self.team = self.make_team("labelling", self.annotators)
        self.review_team = self.make_team("review", self.reviewers) if reviewers else None

    def make_team(self, role: str, people: list[Api]) -> int:
        return self.owner.post("teams", {"project": self.project["id"], "name": unique("team"), "role": role,
                                         "members": [one.user["id"] for one in people]})["id"]

    def task(self, begin: bool = True, **fields) -> str:
        body = {"project": self.project["id"], "name": unique("task"), "version": self.version_id, "labelling_team": self.team,
                "batch_size": 3, "review_team": self.review_team, **fields}
        path = f"label-tasks/{self.owner.post('label-tasks', body)['id']}"
        if begin:
            self.owner.post(f"{path}/open", expect=200)
        return path

    def annotate(self, who: Api, one: dict, annotation: dict | None = None, expect: int = 200):
        where = f"{self.version}/samples/{one['sample']['id']}"
        now = self.owner.get(where)
        answer = who.call("PUT", f"{where}/annotation", json={"annotation": {"shapes": [BOX]} if annotation is None else annotation},
                          headers={"If-Match": f'"{now["revision"]}"'})
        assert answer.status_code == expect, answer.text
        return answer.json()

    def label(self, who: Api, task: str, one: dict) -> dict:
        self.annotate(who, one)
        return who.post(f"{task}/submit", {"assignment": one["id"], "active_seconds": 7}, expect=200)

    def state(self, one: dict) -> str:
        return self.owner.get(f"{self.version}/samples/{one['sample']['id']}")["state"]


def take(who: Api, task: str, stage: str = "label", **more) -> list[dict]:
    return who.post(f"{task}/next", {"stage": stage, **more}, expect=200)["items"]


def ids(items: list[dict]) -> set[int]:
    return {one["sample"]["id"] for one in items}


def people_of(server, admin: Api):
    """A function that makes a person with a role in a project."""
    def make(project: dict, role: str) -> Api:
        name = unique("user")
        user = admin.post("users", {"name": name, "password": "pass-word-1"})
        wanted = admin.get("roles", filter=f'name = "{role}"')["items"][0]["id"]
        admin.post(f"projects/{project['id']}/members", {"user": user["id"], "role": wanted})
        api = Api(server.url).sign_in(name, "pass-word-1")
        api.user = user
        return api
    return make


@pytest.fixture(scope="module")
def make_person(server, admin):
    return people_of(server, admin)


@pytest.fixture(scope="module")
def shop(admin, make_person) -> Shop:
    """For tests that make tasks of their own and leave none open."""
    return Shop(admin, make_person)


def test_a_reviewer_sees_what_was_there_before(admin, make_person):
    shop = Shop(admin, make_person, pictures=1)
    sample = shop.owner.get(f"{shop.version}/samples")["items"][0]
    box = {"type": "box", "label": "cat", "x": 1, "y": 1, "w": 2, "h": 2}
    shop.owner.call("PUT", f"{shop.version}/samples/{sample['id']}/annotation", json={"annotation": {"shapes": [{"id": "a", **box}]}},
                    headers={"If-Match": f'"{sample["revision"]}"'}).raise_for_status()
    task = shop.task(review_ratio=100)
    mine = take(shop.annotators[0], task)[0]
    done = shop.annotators[0].post(f"{shop.version}/operations", {"assignment": mine["id"], "operations": [
        {"sample": sample["id"], "id": f"abcdefgh.{i}", "op": "put", "shape": {"id": f"b{i}", **box}} for i in (1, 2)]}, expect=200)
    assert [one["state"] for one in done["results"]] == ["applied", "applied"]
    shop.annotators[0].post(f"{task}/submit", {"assignment": mine["id"]}, expect=200)
    drawn = take(shop.reviewers[0], task, "review")[0]
    assert [one["id"] for one in drawn["for_review"]["before"]["shapes"]] == ["a"]
    assert [one["id"] for one in drawn["sample"]["annotation"]["shapes"]] == ["a", "b1", "b2"]


def test_samples_are_labelled_reviewed_rejected_and_accepted(admin, make_person):
    shop = Shop(admin, make_person, pictures=8)
    first, second = shop.annotators
    reviewer = shop.reviewers[0]
    task = shop.task(review_ratio=100)
    assert shop.owner.get(task)["samples"] == 8
    mine, theirs = take(first, task), take(second, task)
    assert len(mine) == len(theirs) == 3 and not ids(mine) & ids(theirs)
    assert [one["sample"]["name"] for one in mine] == ["000.png", "001.png", "002.png"]
    assert [one["id"] for one in take(first, task)] == [one["id"] for one in mine]  # the same until they are done
    # Empty work is a slip unless it is said so.
    problem(first.call("POST", f"{task}/submit", json={"assignment": mine[0]["id"]}), 409, "conflict", says="nothing here")
    problem(second.call("POST", f"{task}/submit", json={"assignment": mine[0]["id"], "nothing": True}), 409, "conflict")
    empty = first.post(f"{task}/submit", {"assignment": mine[0]["id"], "nothing": True}, expect=200)
    assert empty["state"] == "submitted" and shop.state(mine[0]) == "review"
    shop.label(first, task, mine[1])
    assert shop.label(first, task, mine[1] | {"id": mine[2]["id"], "sample": mine[2]["sample"]})["state"] == "submitted"
    assert first.post(f"{task}/submit", {"assignment": mine[2]["id"]}, expect=200)["state"] == "submitted"  # again: no harm
    # Nobody reviews their own work, nor what is not submitted.
    assert problem(first.call("POST", f"{task}/next", json={"stage": "review"}), 403, "forbidden")["permission"] == "review.update"
    drawn = take(reviewer, task, "review")
    assert ids(drawn) == ids(mine) and drawn[1]["for_review"]["annotator"]["id"] == first.user["id"]
    assert drawn[1]["for_review"]["before"] == {} and len(drawn[1]["sample"]["annotation"]["shapes"]) == 1
    problem(first.call("POST", f"{task}/reopen", json={"assignment": mine[0]["id"]}), 409, "conflict")
    reviewer.post(f"{task}/decide", {"assignment": drawn[0]["id"], "verdict": "accept"}, expect=200)
    problem(reviewer.call("POST", f"{task}/decide", json={"assignment": drawn[1]["id"], "verdict": "reject"}), 422, "invalid", "reason")
    reviewer.post(f"{task}/decide", {"assignment": drawn[1]["id"], "verdict": "reject", "reason": "too small", "shapes": [{"id": "a", "reason": "here"}]}, expect=200)
    assert shop.state(drawn[0]) == "accepted" and shop.state(drawn[1]) == "rejected"
    counts = shop.owner.get(task)
    assert {k: counts[k] for k in ("labelled", "reviewing", "accepted", "rejected")} == {"labelled": 2, "reviewing": 1, "accepted": 1, "rejected": 1}
    # It returns first to who made it, with the reason; whatever the ratio, it is looked at again.
    shop.owner.patch(task, {"review_ratio": 0}, counts["revision"])
    back = take(first, task)
    assert back[0]["sample"]["id"] == drawn[1]["sample"]["id"] and back[0]["rejections"][0]["reason"] == "too small"
    assert back[0]["rejections"][0]["shapes"] == [{"id": "a", "reason": "here"}] and len(back) == 3
    shop.label(first, task, back[0])
    assert shop.state(back[0]) == "review"
    shop.label(first, task, back[1])
    assert shop.state(back[1]) == "annotated"
    again = first.post(f"{task}/reopen", {"assignment": back[1]["id"]}, expect=200)
    assert again["state"] == "leased"
    shop.label(first, task, back[1])
    drawn = take(reviewer, task, "review")
    for one in drawn:
        reviewer.post(f"{task}/decide", {"assignment": one["id"], "verdict": "accept", "active_seconds": 5}, expect=200)
    for one in theirs:
        shop.label(second, task, one)
    for one in take(first, task) + take(second, task):
        (first if one["user"]["id"] == first.user["id"] else second).post(f"{task}/release", {"assignments": [one["id"]]}, expect=204)
    closed = shop.owner.post(f"{task}/close", {"accept_rest": True}, expect=200)
    assert closed["state"] == "done"
    over = wait_for(lambda: (t := shop.owner.get(task))["accepted"] == t["labelled"] and t, "the rest accepted")
    assert over["accepted"] == 7 and over["reviewing"] == 0
    assert shop.owner.get(f"{shop.version}/statistics")["states"]["accepted"] == 7
    problem(first.call("POST", f"{task}/next", json={}), 409, "conflict")
    # What was closed gives no rights any more.
    problem(first.call("GET", f"{shop.version}/samples/{mine[0]['sample']['id']}"), 403, "forbidden")
    shop.owner.delete(task)


def test_people_see_only_what_they_were_given(shop, make_person):
    first, second = shop.annotators
    task = shop.task()
    mine = take(first, task)
    where = f"{shop.version}/samples/{mine[0]['sample']['id']}"
    for path in (where, f"{where}/content", f"{where}/thumbnail", f"{where}/history"):
        assert first.call("GET", path).status_code == 200
        assert second.call("GET", path).status_code == 403
    assert first.call("GET", f"{shop.version}/samples").status_code == 403
    shop.annotate(first, mine[0])
    shop.annotate(second, mine[0], expect=403)
    shop.annotate(shop.owner, mine[0])  # who may change the version needs no task
    first.post(f"{task}/submit", {"assignment": mine[0]["id"]}, expect=200)
    assert first.call("GET", where).status_code == 200
    shop.annotate(first, mine[0], expect=403)  # until it is theirs again
    # Only tasks of one's own teams are there.
    stranger = make_person(shop.project, "annotator")
    assert [t["id"] for t in first.all("label-tasks", project=shop.project["id"]) if t["state"] == "open"] == [int(task.split("/")[1])]
    assert stranger.all("label-tasks", project=shop.project["id"]) == []
    problem(stranger.call("GET", task), 404, "not_found")
    problem(stranger.call("POST", f"{task}/next", json={}), 404, "not_found")
    for path in ("teams", "datasets", "label-sets"):
        problem(first.call("GET", path, params={"project": shop.project["id"]}), 403, "forbidden")
    bench = first.get(f"{task}/bench")
    assert bench["labels"] == shop.labels and bench["annotation_type"] == "detection" and bench["version"] == shop.version_id
    work = first.get(f"{task}/work")
    assert work["label"]["mine"] and not work["review"]["mine"] and work["label"]["leased"] == 2 and work["label"]["submitted_today"] == 1
    for path in ("progress", "progress.csv", "samples"):
        assert problem(first.call("GET", f"{task}/{path}"), 403, "forbidden")["permission"] == "team.read"
    problem(first.call("DELETE", task), 403, "forbidden")
    problem(first.call("POST", f"{task}/open"), 403, "forbidden")
    member = make_person(shop.project, "member")
    assert problem(member.call("DELETE", task), 403, "forbidden")["permission"] == "label_task.delete_any"
    problem(member.call("POST", f"{task}/next", json={}), 403, "forbidden", says="not in the team")
    shop.owner.post(f"{task}/cancel", expect=200)
    problem(first.call("GET", where), 403, "forbidden")


def test_leases_end_and_are_extended(shop):
    first, second = shop.annotators
    task = shop.task(lease=1, batch_size=500)
    mine = take(first, task)
    assert len(mine) == 12 and take(second, task) == []
    until = first.post(f"{task}/heartbeat", {"assignments": [one["id"] for one in mine], "active_seconds": 30}, expect=200)["until"]
    assert until >= mine[0]["until"]
    shop.annotate(first, mine[0])
    theirs = wait_for(lambda: take(second, task), "leases that ended")
    assert ids(theirs) == ids(mine)
    # Half-done work stays on the sample, under its author.
    assert theirs[0]["sample"]["annotation"]["shapes"] and theirs[0]["sample"]["updated_by"] == first.user["id"]
    problem(first.call("POST", f"{task}/submit", json={"assignment": mine[0]["id"]}), 409, "conflict", says="any more")
    shop.owner.patch(task, {"lease": 600}, shop.owner.get(task)["revision"])
    assert take(second, task)[0]["until"] > until
    shop.owner.post(f"{task}/cancel", expect=200)


def test_no_sample_is_given_twice(shop, make_person):
    """Many people and two tasks of one version, at once."""
    people = shop.annotators + [make_person(shop.project, "annotator") for _ in range(4)]
    team = shop.make_team("labelling", people)
    tasks = [shop.task(labelling_team=team, batch_size=2, review_team=None, selection={"order": "random"}) for _ in range(2)]
    got: list[tuple[int, int]] = []

    def work(who: Api, task: str) -> None:
        got.extend((one["sample"]["id"], who.user["id"]) for one in take(who, task))
    threads = [threading.Thread(target=work, args=(who, task)) for who in people for task in tasks]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(got) == len({sample for sample, _ in got}) == 12
    for task in tasks:
        shop.owner.post(f"{task}/cancel", expect=200)


def test_selections_and_orders(shop):
    first = shop.annotators[0]
    for one in shop.owner.get(f"{shop.version}/samples")["items"][:4]:
        shop.annotate(shop.owner, {"sample": one})
    cases = [({"q": "00"}, 10), ({"labels": ["cat"]}, 4), ({"states": ["unannotated"]}, 8), ({"labels": ["dog"]}, 0),
             ({"states": ["annotated"], "q": "000"}, 1), ({"splits": ["train"]}, 0), ({"share": 0.5}, None),
             ({"q": "PNG 01"}, 2), ({"q": "11.p"}, 1), ({"q": "jpg"}, 0)]
    for selection, count in cases:
        task = shop.task(selection=selection)
        samples = shop.owner.get(task)["samples"]
        assert samples == count if count is not None else 0 <= samples <= 12
        shop.owner.delete(task)
    orders = {}
    for order in ("position", "name", "random"):
        task = shop.task(selection={"order": order}, batch_size=50)
        orders[order] = [one["sample"]["name"] for one in take(first, task)]
        shop.owner.post(f"{task}/cancel", expect=200)
    assert orders["name"] == sorted(orders["name"]) and sorted(orders["random"]) == orders["name"] != orders["random"]
    for wrong in ({"states": ["no"]}, {"share": 2}, {"order": "x"}, {"more": 1}, {"labels": "cat"}, {"q": "a " * 17}, []):
        problem(shop.owner.call("POST", "label-tasks", json={"project": shop.project["id"], "name": unique(), "version": shop.version_id,
                "labelling_team": shop.team, "selection": wrong}), 422, "invalid", "selection")
    # A paused task takes another selection, and what came since.
    task = shop.task(selection={"q": "000"})
    revision = shop.owner.post(f"{task}/pause", expect=200)["revision"]
    problem(first.call("POST", f"{task}/next", json={}), 409, "conflict")
    shop.owner.patch(task, {"selection": {"q": "00"}}, revision)
    assert shop.owner.post(f"{task}/resume", expect=200)["samples"] == 10
    problem(shop.owner.call("PATCH", task, json={"seats": 2}, headers={"If-Match": "*"}), 409, "conflict")
    problem(shop.owner.call("PATCH", task, json={"name": "x"}, headers={"If-Match": "*"}), 422, "invalid", "name")
    shop.owner.post(f"{task}/cancel", expect=200)


def test_skipping_asking_and_handing_over(shop):
    first, second = shop.annotators
    reviewer = shop.reviewers[0]
    task = shop.task(batch_size=2)
    mine = take(first, task)
    problem(first.call("POST", f"{task}/skip", json={"assignment": mine[0]["id"]}), 422, "invalid", "reason")
    assert first.post(f"{task}/skip", {"assignment": mine[0]["id"], "reason": "blurred"}, expect=200)["state"] == "skipped"
    assert shop.owner.get(task)["skipped"] == 1
    assert mine[0]["sample"]["id"] not in ids(take(first, task))  # not again to who skipped it
    assert mine[0]["sample"]["id"] in ids(take(second, task))
    row = shop.owner.get(f"{task}/samples", state="skipped")["items"][0]
    assert row["reason"] == "blurred" and row["user"]["id"] == first.user["id"]
    # Questions on a sample.
    about = mine[1]["sample"]["id"]
    note = first.call("POST", f"{task}/threads", params={"sample": about}, json={"text": "cat or dog?", "x": 3, "y": 4})
    assert note.status_code == 201 and note.json()["by"]["id"] == first.user["id"]
    problem(second.call("GET", f"{task}/threads", params={"sample": about}), 403, "forbidden")
    problem(reviewer.call("POST", f"{task}/threads", params={"sample": about}, json={"text": "x"}), 403, "forbidden")
    assert shop.owner.call("POST", f"{task}/threads", params={"sample": about}, json={"text": "cat"}).status_code == 201
    assert [n["text"] for n in first.get(f"{task}/threads", sample=about)["items"]] == ["cat or dog?", "cat"]
    assert first.post(f"{task}/threads/{note.json()['id']}/done", expect=200)["done"]
    problem(shop.owner.call("POST", f"{task}/threads", params={"sample": about}, json={"text": " "}), 422, "invalid", "text")
    # Leftovers to another one.
    held = ids(take(first, task))
    body = {"from": first.user["id"], "to": second.user["id"]}
    problem(first.call("POST", f"{task}/hand", json=body), 403, "forbidden")
    assert shop.owner.post(f"{task}/hand", body, expect=200)["handed"] == 2
    assert held <= {row["sample"]["id"] for row in shop.owner.get(f"{task}/samples", user=second.user["id"])["items"]}
    problem(shop.owner.call("POST", f"{task}/hand", json={**body, "to": shop.owner.user["id"]}), 422, "invalid", "to")
    shop.owner.post(f"{task}/cancel", expect=200)


def test_progress_per_member_and_day(shop, server):
    first = shop.annotators[0]
    task = shop.task(batch_size=12, deadline="2000-01-01T00:00:00Z", review_ratio=0)
    raised = shop.owner.post(f"{task}/raise", {"user": first.user["id"], "ratio": 100}, expect=200)
    assert raised["raised"] == {str(first.user["id"]): 100}
    mine = take(first, task)
    for one in mine[:4]:
        assert shop.label(first, task, one)["state"] == "submitted"
    assert shop.state(mine[0]) == "review"  # everything of one's own, by the owner's wish
    progress = shop.owner.get(f"{task}/progress")
    assert progress["members"] == [{"user": {"id": first.user["id"], "name": first.user["name"]}, "stage": "label", "submitted": 4, "skipped": 0,
                                    "accepted": 0, "rejected": 0, "active_seconds": 28, "per_hour": pytest.approx(4 * 3600 / 28)}]
    assert progress["days"][0]["submitted"] == 4
    assert progress["forecast"]["left"] == 8 and progress["forecast"]["late"] and progress["forecast"]["per_day"] > 0
    assert shop.owner.get(f"{task}/progress", **{"from": "2001-01-01T00:00:00Z", "to": "2001-01-03T00:00:00Z"})["members"] == []
    rows = list(csv.DictReader(io.StringIO(shop.owner.call("GET", f"{task}/progress.csv").text)))
    assert [(row["user"], row["submitted"]) for row in rows] == [(first.user["name"], "4")]
    metrics = shop.admin.call("GET", f"{server.url}/metrics").text
    assert "ingot_label_leases 8" in metrics or "ingot_label_leases" in metrics
    shop.owner.delete(task)
    assert first.call("GET", f"{shop.version}/samples/{mine[0]['sample']['id']}").status_code == 403


def test_teams_have_members_who_may(shop, make_person):
    viewer = make_person(shop.project, "viewer")
    body = {"project": shop.project["id"], "name": unique(), "role": "labelling"}
    for members in ([], [viewer.user["id"]]):
        problem(shop.owner.call("POST", "teams", json={**body, "members": members}), 422, "invalid", "members")
    problem(shop.owner.call("POST", "teams", json={**body, "role": "review", "members": [shop.annotators[0].user["id"]]}), 422, "invalid", "members")
    problem(shop.owner.call("POST", "label-tasks", json={"project": shop.project["id"], "name": unique(), "version": shop.version_id,
            "labelling_team": shop.review_team}), 422, "invalid", "labelling_team")
    task = shop.task(begin=False)
    problem(shop.owner.call("DELETE", f"teams/{shop.team}"), 409, "conflict")
    problem(shop.owner.call("DELETE", shop.version), 409, "conflict")
    shop.owner.delete(task)
    assert viewer.get(f"teams/{shop.team}")["members"][0]["name"]


def test_publishing_after_a_review(admin, make_person):
    shop = Shop(admin, make_person, pictures=3, reviewers=2)
    first, second = shop.reviewers
    outsider = make_person(shop.project, "reviewer")
    problem(shop.owner.call("POST", f"{shop.version}/request-review", json={"reviewers": [shop.owner.user["id"]]}), 422, "invalid", "reviewers")
    problem(first.call("GET", shop.version), 403, "forbidden")
    asked = shop.owner.post(f"{shop.version}/request-review", {"team": shop.review_team}, expect=200)
    assert asked["state"] == "reviewing" and len(asked["review"]["reviewers"]) == 2 and asked["review"]["accepted"] is None
    # Nothing changes meanwhile; those who were asked see all of it.
    one = shop.owner.get(f"{shop.version}/samples")["items"][0]
    shop.annotate(shop.owner, {"sample": one}, expect=409)
    problem(shop.owner.call("POST", f"{shop.version}/publish"), 409, "conflict")
    assert [r["version"]["id"] for r in first.get("label-tasks/publish-reviews", project=shop.project["id"])["items"]] == [shop.version_id]
    assert outsider.get("label-tasks/publish-reviews", project=shop.project["id"])["items"] == []
    for path in (shop.version, f"{shop.version}/samples", f"{shop.version}/samples/{one['id']}/content", f"{shop.version}/labelling", f"{shop.version}/statistics"):
        assert first.call("GET", path).status_code == 200, path
        assert outsider.call("GET", path).status_code == 403, path
    for who in (outsider, shop.owner):
        assert who.call("POST", f"{shop.version}/decide-publish", json={"accept": True}).status_code == 403
    problem(first.call("POST", f"{shop.version}/decide-publish", json={"accept": False}), 422, "invalid", "reason")
    back = first.post(f"{shop.version}/decide-publish", {"accept": False, "reason": "three only"}, expect=200)
    assert back["state"] == "draft" and back["review"]["reason"] == "three only" and back["review"]["decided_by"]["id"] == first.user["id"]
    problem(first.call("GET", shop.version), 403, "forbidden")
    shop.owner.post(f"{shop.version}/request-review", {"reviewers": [second.user["id"]]}, expect=200)
    assert shop.owner.post(f"{shop.version}/withdraw-review", expect=200)["state"] == "draft"
    shop.owner.post(f"{shop.version}/request-review", {"reviewers": [second.user["id"]]}, expect=200)
    problem(first.call("POST", f"{shop.version}/decide-publish", json={"accept": True}), 403, "forbidden")
    assert second.post(f"{shop.version}/decide-publish", {"accept": True}, expect=200)["state"] == "published"
    over = shop.owner.get(shop.version)
    assert over["review"]["accepted"] is True and over["digest"]


def test_people_of_a_project(shop):
    people = {one["name"]: one["roles"] for one in shop.owner.get(f"projects/{shop.project['id']}/people")["items"]}
    assert people[shop.annotators[0].user["name"]] == ["annotator"] and people[shop.owner.user["name"]] == ["owner"]
    may = [one["id"] for one in shop.owner.get(f"projects/{shop.project['id']}/people", permission="review.update")["items"]]
    assert shop.reviewers[0].user["id"] in may and shop.annotators[0].user["id"] not in may
    problem(shop.annotators[0].call("GET", f"projects/{shop.project['id']}/people"), 403, "forbidden")


def test_figures_of_the_version(admin, make_person):
    shop = Shop(admin, make_person, pictures=2, annotators=1, reviewers=1)
    first, reviewer = shop.annotators[0], shop.reviewers[0]
    task = shop.task(review_ratio=100)
    for one in take(first, task):
        shop.label(first, task, one)
    drawn = take(reviewer, task, "review")
    reviewer.post(f"{task}/decide", {"assignment": drawn[0]["id"], "verdict": "reject", "reason": "no"}, expect=200)
    reviewer.post(f"{task}/decide", {"assignment": drawn[1]["id"], "verdict": "accept"}, expect=200)
    figures = shop.owner.get(f"{shop.version}/labelling")
    assert {(p["user"]["id"], p["stage"], p["submitted"], p["accepted"], p["rejected"]) for p in figures["people"]} == {
        (first.user["id"], "label", 2, 1, 1), (reviewer.user["id"], "review", 2, 1, 1)}
    assert figures["labels"] == [{"label": "cat", "samples": 2, "shapes": 2, "review": 0, "rejected": 1}]
    assert sum(day["submitted"] for day in figures["days"]) == 4


def test_from_the_command_line_and_from_python(shop, server, tmp_path):
    task = shop.task(batch_size=2, review_ratio=100)
    first, reviewer = shop.annotators[0], shop.reviewers[0]
    name = shop.owner.get(task)["name"]
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", first.user["name"], "--password-stdin", stdin="pass-word-1\n")
    cli.run("use", shop.project["name"])
    taken = cli.json("label", "next", name)["items"]
    assert len(taken) == 2 and taken[0]["sample"]["name"] in cli.run("label", "next", name).out
    shop.annotate(first, taken[0], {})
    assert "review" in cli.run("label", "submit", name, str(taken[0]["id"]), "--nothing").out
    cli.fails(4, "label", "submit", name, str(10**12), says="assignment")
    assert "next" in cli.run("label", "--help").out
    assert cli.run("label-task", "work", name).out
    with ingot.Client(server.url) as client:
        client.sign_in(reviewer.user["name"], "pass-word-1")
        mine = client.label_tasks.find(name, project=shop.project["id"])
        one = client.label_tasks.next(mine, stage="review")[0]
        assert client.label_tasks.heartbeat(mine, [one]) >= (one["until"] or "")
        assert client.label_tasks.reject(one, "look again")["state"] == "rejected"
        assert client.label_tasks.bench(mine)["labels"] == shop.labels
    with ingot.Client(server.url) as client:
        client.sign_in(shop.owner.user["name"], "pass-word-1")
        assert client.teams.get(shop.team)["role"] == "labelling"
        assert [m["rejected"] for m in client.label_tasks.progress(mine["id"])["members"]] == [1, 1]
        assert client.label_tasks.cancel(mine["id"])["state"] == "cancelled"
    cli.run("login", server.url, "--name", shop.owner.user["name"], "--password-stdin", stdin="pass-word-1\n")
    assert first.user["name"] in cli.run("label", "progress", name, "--csv", "--project", shop.project["name"]).out
    assert "left" in cli.run("label", "progress", name, "--project", shop.project["name"]).out


def draw(who: Api, shop: Shop, one: dict, number: int, box: dict | None = None) -> dict:
    body = {"operations": [{"id": f"client{who.user['id']:06}.{number}", "sample": one["sample"]["id"], "op": "put", "shape": {**BOX, "id": "s1", **(box or {})}}],
            "assignment": one["id"]}
    return who.post(f"{shop.version}/operations", body, expect=200)["results"][0]


def test_several_people_label_each_sample_apart(admin, make_person):
    shop = Shop(admin, make_person, pictures=3, annotators=3)
    first, second, third = shop.annotators
    reviewer = shop.reviewers[0]
    body = {"project": shop.project["id"], "name": unique(), "version": shop.version_id, "labelling_team": shop.team, "seats": 2}
    problem(shop.owner.call("POST", "label-tasks", json=body), 422, "invalid", "review_team")
    task = shop.task(seats=2, review_ratio=0)
    mine, theirs = take(first, task), take(second, task)
    assert ids(mine) == ids(theirs) and {one["seat"] for one in mine} == {1} and {one["seat"] for one in theirs} == {2}
    assert take(third, task) == []  # all seats are taken
    assert len({mine[0]["layer"], theirs[0]["layer"]}) == 2 and mine[0]["layer"]
    where = f"{shop.version}/samples/{mine[0]['sample']['id']}"
    assert draw(first, shop, mine[0], 1)["state"] == "applied"
    assert draw(second, shop, theirs[0], 1, {"x": 9})["state"] == "applied"
    # Each sees their own, also among what they hold; the sample itself has nothing, and nobody draws on it.
    for who, x in ((first, 1), (second, 9)):
        assert take(who, task)[0]["sample"]["annotation"]["shapes"][0]["x"] == x
    assert first.get(where)["annotation"] == {} and first.get(where, layer=mine[0]["layer"])["annotation"]["shapes"][0]["x"] == 1
    problem(first.call("GET", where, params={"layer": theirs[0]["layer"]}), 403, "forbidden")
    shop.annotate(first, mine[0], expect=403)
    problem(first.call("POST", f"{shop.version}/operations", json={"operations": [
        {"id": "clientclient.1", "sample": mine[0]["sample"]["id"], "layer": theirs[0]["layer"], "op": "remove", "shape": "s1"}]}), 403, "forbidden")
    first.post(f"{task}/submit", {"assignment": mine[0]["id"]}, expect=200)
    assert shop.owner.get(task)["labelled"] == 0 and take(reviewer, task, "review") == []
    second.post(f"{task}/submit", {"assignment": theirs[0]["id"]}, expect=200)
    assert shop.state(mine[0]) == "review"
    one = take(reviewer, task, "review")[0]
    layers = {entry["user"]["id"]: entry["layer"] for entry in one["for_review"]["layers"]}
    assert layers == {first.user["id"]: mine[0]["layer"], second.user["id"]: theirs[0]["layer"]}
    assert reviewer.get(where, layer=layers[second.user["id"]])["annotation"]["shapes"][0]["x"] == 9
    problem(reviewer.call("POST", f"{task}/decide", json={"assignment": one["id"], "verdict": "accept", "layer": 10**9}), 422, "invalid", "layer")
    reviewer.post(f"{task}/decide", {"assignment": one["id"], "verdict": "accept", "layer": layers[second.user["id"]]}, expect=200)
    over = shop.owner.get(where)
    assert over["state"] == "accepted" and over["annotation"]["shapes"][0]["x"] == 9
    first.post(f"{task}/release", {"assignments": [one["id"] for one in mine[1:]]}, expect=204)
    assert ids(take(third, task)) == ids(mine[1:])
    shop.owner.post(f"{task}/cancel", expect=200)
    shop.owner.delete(task)


def test_work_that_comes_too_late_is_kept_for_the_reviewer(admin, make_person):
    shop = Shop(admin, make_person, pictures=1)
    first, second = shop.annotators
    task = shop.task(lease=1, review_ratio=100)
    mine = take(first, task)[0]
    theirs = wait_for(lambda: take(second, task), "the lease's end")[0]
    shop.owner.patch(task, {"lease": 600}, shop.owner.get(task)["revision"])
    theirs = take(second, task)[0]
    assert draw(second, shop, theirs, 1)["state"] == "applied"
    assert draw(first, shop, mine, 1, {"x": 8})["state"] == "applied"
    sample = shop.owner.get(f"{shop.version}/samples/{mine['sample']['id']}")
    assert [shape["x"] for shape in sample["annotation"]["shapes"]] == [1]
    second.post(f"{task}/submit", {"assignment": theirs["id"]}, expect=200)
    assert draw(second, shop, theirs, 2)["state"] == "refused"  # it is submitted
    for_review = take(shop.reviewers[0], task, "review")[0]["for_review"]
    assert for_review["annotator"]["id"] == second.user["id"]
    assert [(one["user"]["id"], one["late"]) for one in for_review["layers"]] == [(first.user["id"], True)]
    shop.owner.post(f"{task}/cancel", expect=200)


def test_a_room_ends_with_the_lease(shop):
    task = shop.task()
    first = shop.annotators[0]
    mine = take(first, task)[0]
    place = SimpleNamespace(path=shop.version, first=mine["sample"]["id"])
    token = {"Authorization": f"Bearer {first.post('tokens', {'name': unique()})['secret']}"}
    with room(first, place, headers=token) as ws, room(shop.owner, place, "ownerowner", headers={
            "Authorization": f"Bearer {shop.owner.post('tokens', {'name': unique()})['secret']}"}) as others:
        assert hear(ws, "hello")["state"] == shop.owner.get(f"{shop.version}/samples/{place.first}")["state"]  # others of this file may have rejected it
        first.post(f"{task}/release", {"assignments": [mine["id"]]}, expect=204)
        assert hear(ws, "closed")["reason"] == "lease"
        assert [one["client"] for one in hear(others, "people")["people"]] == ["ownerowner"]  # who needs no lease stays
    with pytest.raises(InvalidStatus), room(first, place, headers=token):
        pass
    shop.owner.post(f"{task}/cancel", expect=200)


def test_working_through_a_task_from_python(server, shop):
    """Everything that one may take, a batch at a time; what is left is given back."""
    task = shop.task(review_ratio=100)
    id = int(task.split("/")[1])
    client = ingot.Client(server.url, token=shop.annotators[0].token)
    done = []
    for one in client.label_tasks.work(id):
        if len(done) == 4:
            break  # the rest of this batch goes back
        assert one.sample.image().size == (20, 20) and "svg" in one._repr_html_()
        shape = one.sample.box("cat", 1, 2, 5, 6)
        one.sample.put({**shape, "w": 7})
        done.append((one.sample.id, one.submit()["state"]))
    assert [state for _, state in done] == ["submitted"] * 4
    assert sum(member["submitted"] for member in shop.owner.get(f"{task}/progress")["members"]) == 4
    others = ingot.Client(server.url, token=shop.annotators[1].token)
    taken = [one.submit(nothing=True)["sample"]["id"] for one in others.label_tasks.work(id)]
    assert len(taken) == 8 and not {sample for sample, _ in done} & set(taken)
    reviewer = ingot.Client(server.url, token=shop.reviewers[0].token)
    decided = [one.reject("too wide") if one.sample.shapes else one.accept() for one in reviewer.label_tasks.work(id, stage="review")]
    assert sorted(one["state"] for one in decided) == ["accepted"] * 8 + ["rejected"] * 4
    widths = [{shape["w"] for shape in one.sample.shapes} for one in client.label_tasks.work(id)]
    assert len(widths) == 3 and all(7 in one for one in widths), widths
