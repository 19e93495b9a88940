"""Labelling tasks come back from a backup as they were, from one database into the other and back."""

import re
import sqlite3

from cli import Cli
from harness import ADMIN_PASSWORD, Api, unique, wait_for
from test_backup import signed_in
from test_datasets import png, upload
from test_label_tasks import Shop, draw, people_of, take
from test_operations import Work

WHOLE = ("label_items", "label_assignments", "label_cursors", "label_decisions", "label_notes", "label_hours", "label_layers",
         "version_reviews", "version_reviewers", "layer_samples", "operation_packs", "sample_operations", "sample_history")


class Place:
    """A server with its database, which is asked beside it."""

    def __init__(self, server, postgres) -> None:
        self.server, self.postgres = server, postgres

    def sql(self, text: str) -> list[str]:
        if self.server.db:
            return self.postgres.sql(text, self.server.db).splitlines()
        db = sqlite3.connect(f"{self.server.data}/ingot.db")
        with db:
            rows = db.execute(text).fetchall()
        db.close()
        return ["|".join("" if v is None else str(v) for v in row) for row in rows]

    def counts(self) -> dict[str, int]:
        return {table: int(self.sql(f"SELECT COUNT(*) FROM {table}")[0]) for table in WHOLE}


def labelled(place: Place) -> Shop:
    """A project with everything that labelling leaves: two tasks, layers, decisions, questions, packed and other operations."""
    admin = place.server.admin()
    shop = Shop(admin, people_of(place.server, admin), pictures=6, annotators=3)
    first, second, third = shop.annotators
    reviewer = shop.reviewers[0]
    shop.seats = shop.task(seats=2, review_ratio=0, selection={"q": "00"}, batch_size=2,
                           instructions=f"# 看图\n![box](upload:{upload(shop.owner, shop.project, png(90, 60, 5))})")
    mine, theirs = take(first, shop.seats), take(second, shop.seats)
    for n in (1, 2):
        draw(first, shop, mine[0], n, {"x": n})
        draw(second, shop, theirs[0], n, {"x": 9, "y": n})
    for who, one in ((first, mine[0]), (second, theirs[0])):
        who.post(f"{shop.seats}/submit", {"assignment": one["id"], "active_seconds": 9}, expect=200)
    judged = take(reviewer, shop.seats, "review")[0]
    reviewer.post(f"{shop.seats}/decide", {"assignment": judged["id"], "verdict": "accept", "layer": judged["for_review"]["layers"][1]["layer"]}, expect=200)
    shop.single = shop.task(review_ratio=100, batch_size=2, labelling_team=shop.make_team("labelling", [third]))
    given = take(third, shop.single)
    shop.label(third, shop.single, given[0])
    third.call("POST", f"{shop.single}/threads", params={"sample": given[1]["sample"]["id"]}, json={"text": "猫 or dog? 🐈", "x": 3, "y": 4.5}).raise_for_status()
    drawn = take(reviewer, shop.single, "review")[0]
    reviewer.post(f"{shop.single}/decide", {"assignment": drawn["id"], "verdict": "reject", "reason": "zu klein", "shapes": [{"id": "a", "reason": "here"}]}, expect=200)
    sample = shop.owner.get(f"{shop.version}/samples")["items"][0]["id"]
    shop.owner.post(f"label-sets/{shop.set['id']}/examples", {"label": "cat", "caption": "猫", "wrong": True, "version": shop.version_id, "sample": sample})
    shop.asked = Work(shop.owner, shop.project, 1)
    shop.owner.post(f"{shop.asked.path}/request-review", {"reviewers": [reviewer.user["id"]]}, expect=200)
    return shop


def pack(place: Place, shop: Shop) -> None:
    """What was done so far is packed, as an hour later; then more is done."""
    place.server.stop()
    place.sql("UPDATE sample_operations SET at = at - 8000000000")
    place.server.start()
    for who in (shop.admin, shop.owner, *shop.annotators, *shop.reviewers):
        who.http.base_url = f"{place.server.url}/api/v1/"
    other = Work(shop.owner, shop.project, 1)
    shop.owner.post(f"{other.path}/publish", {}, expect=200)  # what wakes the one that packs
    wait_for(lambda: not place.counts()["sample_operations"] and place.counts()["operation_packs"], "the packing")
    draw(shop.annotators[0], shop, take(shop.annotators[0], shop.seats)[0], 3, {"x": 4})


def asked(api: Api, shop: Shop) -> dict:
    """All that can be asked for."""
    samples = api.get(f"{shop.version}/samples", limit=100)["items"]
    layers = [one["id"] for one in api.all("layers", project=shop.project["id"])]
    tasks = api.all("label-tasks", project=shop.project["id"])
    answers = {"samples": samples, "tasks": tasks, "layers": api.all("layers", project=shop.project["id"]),
               "teams": api.all("teams", project=shop.project["id"]), "figures": api.get(f"{shop.version}/labelling"),
               "statistics": api.get(f"{shop.version}/statistics"), "asked": api.get(shop.asked.path)}
    examples = f"label-sets/{shop.set['id']}/examples"
    for one in api.get(examples)["items"]:
        answers[f"example {one['id']}"] = [one, api.call("GET", f"{examples}/{one['id']}/picture").content]
    for task in tasks:
        path = f"label-tasks/{task['id']}"
        progress = api.get(f"{path}/progress")
        for name in re.findall(r"picture:(\w+)", task["instructions"] or ""):
            answers[f"picture {name}"] = [name, api.call("GET", f"{path}/pictures/{name}").content]
        answers[path] = [progress["members"], progress["days"], api.get(f"{path}/samples")["items"],
                         [api.get(f"{path}/threads", sample=one["id"]) for one in samples]]
    for one in samples:
        path = f"{shop.version}/samples/{one['id']}"
        answers[path] = [api.get(path, layer=layer) for layer in (0, *layers)]
        for layer in (0, *layers):
            history = api.get(f"{path}/operations", limit=1000, layer=layer)["items"]
            answers[f"{path} {layer}"] = [history, [api.get(f"{path}/at", revision=i["revision"], layer=layer) for i in history]]
    return answers


def moved(file, folder, fresh_server, db: str | None):
    data = folder / unique("data")
    Cli(folder).run("restore", str(file), "--data", str(data), *(["--db", db] if db else []))
    return fresh_server(db=db, data=str(data))


def test_labelling_comes_back_the_same(fresh_server, tmp_path, request):
    postgres = request.getfixturevalue("postgres")
    here = Place(fresh_server(), postgres)
    shop = labelled(here)
    pack(here, shop)
    before, rows = asked(here.server.admin(), shop), here.counts()
    assert [value[1][:2] for key, value in before.items() if key.startswith(("example ", "picture "))] == [b"\xff\xd8"] * 2
    assert all(rows.values()), rows  # nothing of it was forgotten here
    for turn in range(2):  # into the other database, and back
        file = tmp_path / f"backup{turn}"
        signed_in(here.server, tmp_path / f"cli{turn}").run("backup", str(file))
        here.server.stop()
        here = Place(moved(file, tmp_path, fresh_server, None if here.server.db else postgres.database()), postgres)
        assert here.counts() == rows
        after = asked(Api(here.server.url).sign_in("admin", ADMIN_PASSWORD), shop)
        for key, value in before.items():
            assert after[key] == value, key
    # Work goes on where it was.
    first = shop.annotators[0]
    first = Api(here.server.url).sign_in(first.user["name"], "pass-word-1")
    first.user = shop.annotators[0].user
    mine = take(first, shop.seats)
    assert draw(first, shop, mine[0], 3, {"x": 4})["state"] == "already"  # sent again
    assert draw(first, shop, mine[0], 4, {"x": 5})["state"] == "applied"
    first.post(f"{shop.seats}/submit", {"assignment": mine[0]["id"]}, expect=200)
    third = Api(here.server.url).sign_in(shop.annotators[2].user["name"], "pass-word-1")
    assert ["zu klein"] in [[no["reason"] for no in one["rejections"]] for one in take(third, shop.single)]
