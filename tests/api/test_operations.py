"""Operations on samples: applied once, in conflict when two changed the same, kept without end (issue "Label")."""

import json
import math
import re
import sqlite3
import threading

import httpx
import pytest
from harness import Api, problem, unique, wait_for
from test_datasets import bring, png, samples, zipped

CLIENT = "clientAAAA"
OTHER = "clientBBBB"


def box(shape: str, x: float = 1, y: float = 1, w: float = 5, h: float = 5, label: str = "cat") -> dict:
    return {"type": "box", "id": shape, "label": label, "x": x, "y": y, "w": w, "h": h}


def put(n: int, shape: dict, client: str = CLIENT, **more) -> dict:
    return {"id": f"{client}.{n}", "op": "put", "shape": shape, **more}


class Work:
    """A version with pictures of 40 x 30."""

    def __init__(self, api, project: dict, count: int = 2, annotation_type: str = "detection") -> None:
        self.api, self.project = api, project
        self.dataset = api.post("datasets", {"name": unique("set"), "project": project["id"],
                                             "annotation_type": annotation_type})
        made = api.post(f"datasets/{self.dataset['id']}/versions", {})
        self.id = made["id"]
        self.path = f"datasets/{self.dataset['id']}/versions/{self.id}"
        bring(api, project, self.path, "p.zip", zipped({f"{i:03}.png": png(40, 30, i) for i in range(count)}))
        self.ids = [s["id"] for s in samples(api, self.path)]
        self.first = self.ids[0]

    def send(self, *operations: dict, api=None, expect: int = 200, **more) -> list[dict]:
        body = {"operations": [{"sample": self.first, **o} for o in operations], **more}
        return (api or self.api).post(f"{self.path}/operations", body, expect=expect)["results"]

    def sample(self, sample: int | None = None, **params) -> dict:
        return self.api.get(f"{self.path}/samples/{sample or self.first}", **params)

    def history(self, **params) -> dict:
        return self.api.get(f"{self.path}/samples/{self.first}/operations", **params)

    def at(self, revision: int, **params) -> dict:
        return self.api.get(f"{self.path}/samples/{self.first}/at", revision=revision, **params)


@pytest.fixture
def work(admin, project) -> Work:
    return Work(admin, project)


def states(results: list[dict]) -> list[str]:
    return [r["state"] for r in results]


def test_an_operation_changes_one_shape_and_raises_the_revision_by_one(work):
    results = work.send(put(1, box("aa")), put(2, box("bb", x=10)), put(3, box("aa", x=3)))
    assert states(results) == ["applied"] * 3 and [r["revision"] for r in results] == [2, 3, 4]
    now = work.sample()
    assert (now["revision"], now["state"], now["by_person"]) == (4, "annotated", True)
    assert [(s["id"], s["x"]) for s in now["annotation"]["shapes"]] == [("aa", 3), ("bb", 10)]
    assert states(work.send({"id": f"{CLIENT}.4", "op": "remove", "shape": "aa"})) == ["applied"]
    counts = work.api.get(f"{work.path}/statistics")
    assert counts["states"]["annotated"] == 1 and counts["labels"] == [{"label": "cat", "samples": 1, "shapes": 1}]
    work.send({"id": f"{CLIENT}.5", "op": "remove", "shape": "bb"})
    assert work.sample()["state"] == "unannotated"
    counts = work.api.get(f"{work.path}/statistics")
    assert counts["states"]["unannotated"] == 2 and counts["labels"] == []


def test_a_replay_does_nothing_whatever_its_order(work):
    first = work.send(put(2, box("aa", x=9)))
    assert first[0]["revision"] == 2
    again = work.send(put(2, box("aa", x=9)), put(1, box("bb")), put(2, box("aa", x=9)))
    assert states(again) == ["already", "applied", "already"] and [r["revision"] for r in again] == [2, 3, 2]
    assert work.sample()["revision"] == 3
    # The same number of another client is another operation.
    assert states(work.send(put(2, box("cc"), client=OTHER))) == ["applied"]


def test_both_results_stand_shape_by_shape(work):
    work.send(put(1, box("aa")), put(2, box("bb", x=20)))
    base = work.sample()["revision"]
    assert states(work.send(put(3, box("aa", x=2), base=base))) == ["applied"]
    theirs = work.send(put(1, box("bb", x=25), client=OTHER, base=base), put(2, box("aa", x=7), client=OTHER, base=base),
                       {"id": f"{OTHER}.3", "op": "remove", "shape": "aa", "base": base})
    assert states(theirs) == ["applied", "conflict", "conflict"]
    assert theirs[1]["shape"]["x"] == 2 and theirs[1]["problem"]["code"] == "conflict"
    assert {s["id"]: s["x"] for s in work.sample()["annotation"]["shapes"]} == {"aa": 2, "bb": 25}
    # Their own later changes never conflict with their earlier ones, and without a base nothing does.
    assert states(work.send(put(4, box("aa", x=4), base=base), put(5, box("aa", x=6), client=OTHER))) == ["applied"] * 2


def test_a_shape_that_another_removed_is_a_conflict(work):
    work.send(put(1, box("aa")))
    base = work.sample()["revision"]
    work.send({"id": f"{CLIENT}.2", "op": "remove", "shape": "aa", "base": base})
    mine = work.send(put(1, box("aa", x=8), client=OTHER, base=base))
    assert states(mine) == ["conflict"] and mine[0]["shape"] is None


def test_what_replaces_everything_conflicts_with_everything(work):
    work.send(put(1, box("aa")))
    base = work.sample()["revision"]
    answer = work.api.call("PUT", f"{work.path}/samples/{work.first}/annotation", headers={"If-Match": f'"{base}"'},
                           json={"annotation": {"shapes": [box("zz")]}})
    assert answer.status_code == 200 and answer.json()["revision"] == base + 1
    assert states(work.send(put(2, box("aa"), base=base), put(3, box("bb"), base=base + 1))) == ["conflict", "applied"]
    replaced = work.send({"id": f"{OTHER}.1", "op": "replace", "annotation": {"shapes": [box("yy")]}})
    assert states(replaced) == ["applied"]
    assert [s["id"] for s in work.sample()["annotation"]["shapes"]] == ["yy"]


@pytest.mark.parametrize("shape, field", [
    (box("aa", x=100), "shape.x"), (box("aa", w=0), "shape.w"), ({"type": "box", "id": "aa", "label": "cat", "x": 1, "y": 1, "w": 3}, "shape.h"),
    ({"type": "mask", "id": "aa", "label": "cat", "size": [1, 1], "counts": "0"}, "shape.type"),
])
def test_wrong_shapes_are_refused_by_name(work, shape, field):
    result, = work.send(put(1, shape))
    assert (result["state"], result["problem"]["field"]) == ("refused", field), result
    assert field in result["problem"]["message"]
    assert result["id"] == f"{CLIENT}.1"
    assert work.sample()["revision"] == 1


def test_what_people_meet_is_said_in_both_languages(work, admin, project):
    def said(problem: dict) -> tuple[str, str]:
        assert problem["field"] in problem["message"] and problem["field"] in problem["message_zh"], problem
        return problem["message"], problem["message_zh"]
    zero, far, gone = work.send(put(1, box("aa", w=0)), put(2, box("aa", x=1e300)), put(3, box("aa"), sample=999999))
    assert said(zero["problem"]) == ("shape.w is 0; it must be greater", "shape.w 为 0，必须大于 0")
    assert said(far["problem"])[1] == "shape.x 为 1e+300，应在 -10000000 至 10000000 之间"
    assert "999999" in gone["problem"]["message"] and "999999" in gone["problem"]["message_zh"]
    written = Work(admin, project, 1, "ocr")
    long, fits = written.send(put(1, {**box("aa"), "text": "é" * 2_500_000}), put(2, {**box("aa"), "text": "cafe\u0301 👩‍👩‍👧‍👦 न्ग"}))
    assert said(long["problem"])[0] == "shape.text is longer than 100000 characters"
    assert fits["state"] == "applied" and written.sample()["annotation"]["shapes"][0]["text"] == "cafe\u0301 👩‍👩‍👧‍👦 न्ग"


def test_outlines_that_are_no_outlines(admin, project):
    work = Work(admin, project, 1, "segmentation")

    def outline(n: int, *numbers) -> dict:
        result, = work.send(put(n, {"type": "polygon", "id": "aa", "label": "cat", "rings": [list(numbers)]}))
        return result
    for n, numbers, field in ((1, [1, 1, 5, 5, 9, 9], "shape.rings"), (2, [100, 100, 120, 100, 120, 120], "shape.rings"),
                              (3, [1, 1, 5, 1], "shape.rings[0]"), (4, [1, 1, "x", 1, 5, 5], "shape.rings[0][2]"),
                              (5, [1, 1, None, 1, 5, 5], "shape.rings[0][2]"), (6, [1, 1, 5, 1, 5, 1e9], "shape.rings[0][5]")):
        result = outline(n, *numbers)
        assert (result["state"], result["problem"]["field"]) == ("refused", field), result
    assert work.sample()["revision"] == 1
    # Crossing itself, and with very many points: what is there is there.
    assert outline(10, 1, 1, 20, 10, 20, 1, 1, 12)["state"] == "applied"
    circle = [v for i in range(20_000) for v in (20 + 15 * math.cos(i / 3183.1), 15 + 14 * math.sin(i / 3183.1))]
    assert outline(11, *circle)["state"] == "applied"
    assert work.sample()["annotation"]["shapes"][0]["rings"] == [circle]
    # JSON knows no NaN: it is said where one stands.
    for number in ("NaN", "1e999"):
        body = json.dumps({"operations": [{"sample": work.first, **put(12, {"type": "polygon", "id": "aa", "label": "cat", "rings": [[1, 1, 77, 5, 9, 9]]})}]})
        answer = work.api.call("POST", f"{work.path}/operations", content=body.replace("77", number), headers={"Content-Type": "application/json"})
        problem(answer, 400, "malformed", says="not valid JSON at line 1, column ")
    assert work.sample()["revision"] == 3


def test_what_reaches_over_the_edge_is_clipped_and_told(work):
    result, = work.send(put(1, box("aa", x=35, w=50)))
    assert (result["state"], result["clipped"], result["shape"]["w"]) == ("applied", True, 5)
    assert work.sample()["annotation"]["shapes"][0]["w"] == 5


def test_bad_requests(work):
    def refused(body, status, code, **says):
        problem(work.api.call("POST", f"{work.path}/operations", json=body), status, code, **says)
    refused({}, 422, "invalid", field="operations")
    refused({"operations": [put(1, box("aa"), sample=1)] * 1001}, 422, "invalid", field="operations")
    mixed = work.send(put(1, box("aa")), put(1, box("aa"), sample=999999), {"id": "x.1", "op": "put"}, put(2, box("bb"), layer=77))
    assert states(mixed) == ["applied", "refused", "refused", "refused"]
    assert [m["problem"] and m["problem"]["code"] for m in mixed] == [None, "not_found", "invalid", "not_found"]


def test_labels_text_and_attributes(admin, project):
    work = Work(admin, project, 1, "image-class")
    on = {"op": "label", "on": True}
    assert states(work.send({"id": f"{CLIENT}.1", "label": "cat", **on}, {"id": f"{CLIENT}.2", "label": "dog", **on})) == ["applied"] * 2
    assert work.sample()["annotation"]["labels"] == ["dog"]
    assert states(work.send({"id": f"{OTHER}.1", "label": "cow", "base": 1, **on})) == ["conflict"]
    work.send({"id": f"{CLIENT}.3", "op": "attribute", "name": "weather", "value": "rain"})
    assert work.sample()["annotation"]["attributes"] == {"weather": "rain"}
    assert [s["id"] for s in samples(admin, work.path, label="dog")] == [work.first]
    assert samples(admin, work.path, label="cat") == []


def test_history_without_end_and_any_state_again(work, make_user, project):
    member = make_user(project)
    for i in range(1, 6):
        work.send(put(i, box("aa", x=i)), api=member if i == 3 else None)
    page = work.history(limit=2)
    assert [i["revision"] for i in page["items"]] == [2, 3] and page["next"] == 3
    rest = work.history(after=3)
    assert [i["operation"]["shape"]["x"] for i in rest["items"]] == [3, 4, 5] and rest["next"] is None
    assert rest["items"][0]["by"] == {"id": member.user["id"], "name": member.user["name"]}
    newest = work.history(before=100, limit=2)
    assert [i["revision"] for i in newest["items"]] == [6, 5] and newest["next"] == 5
    assert work.at(1)["annotation"] == {} and work.at(3)["annotation"]["shapes"][0]["x"] == 2
    problem(work.api.call("GET", f"{work.path}/samples/{work.first}/at", params={"revision": 99}), 404, "not_found")
    restored = work.api.call("POST", f"{work.path}/samples/{work.first}/restore", json={"revision": 4}, headers={"If-Match": '"6"'})
    assert restored.status_code == 200, restored.text
    assert restored.json()["revision"] == 7 and restored.json()["annotation"]["shapes"][0]["x"] == 3
    work.send(put(9, box("bb")))
    assert [len(work.at(r)["annotation"].get("shapes", [])) for r in (5, 6, 7, 8)] == [1, 1, 1, 2]


def test_the_whole_history_has_no_gaps(work, make_user, project):
    """PUT, restore and changes of state stand between the operations, each with who did it."""
    member = make_user(project)
    work.send(put(1, box("aa")))
    where = f"{work.path}/samples/{work.first}"
    given = {"shapes": [box("bb", x=9)]}
    assert member.call("PUT", f"{where}/annotation", json={"annotation": given},
                       headers={"If-Match": '"2"'}).status_code == 200
    work.send(put(2, box("bb", x=7)))
    work.api.post(f"{work.path}/clean", {"ids": [work.first]}, expect=200)
    assert work.api.call("POST", f"{where}/restore", json={"revision": 2},
                         headers={"If-Match": '"5"'}).status_code == 200
    assert [i["revision"] for i in work.history()["items"]] == [2, 4]
    whole = work.history(whole="true")["items"]
    assert [(i["revision"], i["operation"]["op"]) for i in whole] == [
        (1, "create"), (2, "put"), (3, "replace"), (4, "put"), (5, "state"), (6, "replace")]
    assert [i["id"] for i in whole] == [None, f"{CLIENT}.1", None, f"{CLIENT}.2", None, None]
    assert whole[2]["by"]["name"] == member.user["name"] and whole[2]["operation"]["annotation"] == given
    assert whole[4]["state"] == "cleaned" and whole[5]["operation"]["annotation"]["shapes"][0]["id"] == "aa"
    newest = work.history(whole="true", before=7, limit=4)
    assert [i["revision"] for i in newest["items"]] == [6, 5, 4, 3] and newest["next"] == 3
    oldest = work.history(whole="true", before=3, limit=4)
    assert [i["revision"] for i in oldest["items"]] == [2, 1] and oldest["next"] is None
    assert [i["revision"] for i in work.history(whole="true", after=4)["items"]] == [5, 6]


def test_a_state_of_old_names_the_shapes_that_came_without_ids(work):
    where = f"{work.path}/samples/{work.first}"
    bare = {k: v for k, v in box("").items() if k != "id"}
    assert work.api.call("PUT", f"{where}/annotation", json={"annotation": {"shapes": [bare]}},
                         headers={"If-Match": '"1"'}).status_code == 200
    named = work.at(2)["annotation"]["shapes"][0]["id"]
    work.send(put(1, box("zz")))
    assert named == work.at(2)["annotation"]["shapes"][0]["id"] == work.at(3)["annotation"]["shapes"][0]["id"]
    assert states(work.send(put(2, box(named, x=3), base=3))) == ["applied"]
    assert [s["x"] for s in work.sample()["annotation"]["shapes"]] == [3, 1]


def test_a_published_or_deleted_version_refuses_and_keeps_what_was(work):
    work.send(put(1, box("aa")))
    work.api.post(f"{work.path}/publish", {}, expect=200)
    late, again = work.send(put(2, box("bb")), put(1, box("aa")))
    assert (late["state"], late["problem"]["code"], again["state"]) == ("refused", "conflict", "already")
    copy = work.api.post(f"datasets/{work.dataset['id']}/versions", {"from": work.id})
    path = f"datasets/{work.dataset['id']}/versions/{copy['id']}"
    copied = wait_for(lambda: (s := samples(work.api, path)) and len(s) == 2 and s[0], "the copy")
    assert copied["annotation"]["shapes"][0]["id"] == "aa"
    gone = work.api.call("POST", f"datasets/{work.dataset['id']}/versions/999999/operations",
                         json={"operations": [put(1, box("aa"), sample=1)]})
    problem(gone, 404, "not_found")


@pytest.mark.parametrize("role, status", [("owner", 200), ("member", 200), ("viewer", 403), (None, 404)])
def test_roles(work, make_user, project, role, status):
    user = make_user(project, role) if role else make_user()
    body = {"operations": [put(1, box("aa"), sample=work.first)]}
    assert user.call("POST", f"{work.path}/operations", json=body).status_code == status
    reads = 404 if role is None else 200
    for route in ("operations", "at?revision=1", "history"):
        assert user.call("GET", f"{work.path}/samples/{work.first}/{route}").status_code == reads


def test_layers_lie_over_a_version_and_are_accepted(work):
    layer = work.api.post("layers", {"project": work.project["id"], "name": unique("layer"), "dataset_version": work.id})
    assert layer["state"] == "ready" and layer["made_by_kind"] == "user"
    results = work.send(put(1, box("aa"), layer=layer["id"]), put(2, box("aa", x=4), layer=layer["id"]))
    assert [r["revision"] for r in results] == [1, 2]
    assert work.sample()["annotation"] == {} and work.sample()["revision"] == 1
    assert work.sample(layer=layer["id"])["annotation"]["shapes"][0]["x"] == 4
    assert work.at(1, layer=layer["id"])["annotation"]["shapes"][0]["x"] == 1
    assert work.api.get(f"layers/{layer['id']}")["samples"] == 1
    assert work.api.post(f"layers/{layer['id']}/accept", {}, expect=200) == {"changed": 1}
    now = work.sample()
    assert (now["revision"], now["state"], now["annotation"]["shapes"][0]["x"]) == (2, "annotated", 4)
    work.api.post(f"{work.path}/publish", {}, expect=200)
    assert states(work.send(put(3, box("bb"), layer=layer["id"]))) == ["applied"]
    problem(work.api.call("POST", f"layers/{layer['id']}/accept", json={}), 409, "conflict")
    work.api.post(f"layers/{layer['id']}/discard", {}, expect=204)
    assert states(work.send(put(4, box("cc"), layer=layer["id"]))) == ["refused"]
    other = work.api.post("layers", {"project": work.project["id"], "name": unique("layer"), "dataset_version": work.id})
    work.api.delete(work.path, headers={"If-Match": f'"{work.api.get(work.path)["revision"]}"'})
    problem(work.api.call("GET", f"layers/{other['id']}"), 404, "not_found")


def test_packed_history_is_the_same(fresh_server, request):
    """Operations of a sample left alone become a pack; nothing that can be asked for changes by that."""
    server = fresh_server()
    postgres = request.getfixturevalue("postgres") if server.db else None
    admin = server.admin()
    work = Work(admin, admin.post("projects", {"name": unique("project")}), 2)
    layer = admin.post("layers", {"project": work.project["id"], "name": unique("layer"), "dataset_version": work.id})["id"]

    def asked() -> tuple:
        return (work.history(limit=1000), work.history(before=9, limit=3), work.history(whole="true"), [work.at(r) for r in range(1, work.sample()["revision"])],
                work.history(layer=layer), work.at(2, layer=layer), work.sample())

    def without_times(answers: tuple) -> str:
        return re.sub(r'"(at|updated_at)": "[^"]*"', "", json.dumps(answers))

    def pack() -> None:
        """An hour later."""
        server.stop()
        backdate = "UPDATE sample_operations SET at = at - 8000000000"
        if server.db:
            postgres.sql(backdate, server.db)
        else:
            with sqlite3.connect(f"{server.data}/ingot.db") as db:
                db.execute(backdate)
            db.close()
        server.start()
        work.api = Api(server.url, admin.token)
        other = Work(work.api, work.project, 1)
        work.api.post(f"{other.path}/publish", {}, expect=200)  # what wakes the one that packs
        wait_for(lambda: count("sample_operations") == 0, "the packing")

    def count(table: str) -> int:
        if server.db:
            return int(postgres.sql(f"SELECT COUNT(*) FROM {table}", server.db))
        with sqlite3.connect(f"{server.data}/ingot.db") as db:
            found = db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        db.close()
        return found

    for n in range(1, 8):
        work.send(put(n, box(f"s{n % 3}", x=n)), put(n, box("l", x=n), layer=layer), put(n, box("t"), client=OTHER, sample=work.ids[1]))
    before = without_times(asked())
    pack()
    assert without_times(asked()) == before and count("operation_packs") == 1
    again = work.send(put(3, box("s0")), put(8, box("s0", x=20), base=3), put(9, box("new"), client=OTHER, base=3))
    assert states(again) == ["already", "applied", "applied"] and again[0]["revision"] == 4
    assert states(work.send(put(10, box("s1"), client=OTHER, base=3))) == ["conflict"]
    before = without_times(asked())
    pack()
    assert without_times(asked()) == before and count("operation_packs") == 2
    assert states(work.send(put(8, box("s0")), put(2, box("s0")))) == ["already"] * 2
    # The samples go, and what was packed of them.
    server.stop()
    server.start()
    work.api = Api(server.url, admin.token)
    work.api.delete(work.path, headers={"If-Match": f'"{work.api.get(work.path)["revision"]}"'})
    wait_for(lambda: [count(t) for t in ("operation_packs", "layer_samples", "layer_purges", "sample_operations")] == [0] * 4, "the purge")


def test_nothing_acknowledged_is_lost_or_doubled_by_kills(fresh_server):
    """Three kills while four clients send; each sends again what it got no answer to."""
    server = fresh_server()
    admin = server.admin()
    work = Work(admin, admin.post("projects", {"name": unique("project")}), 4)
    stop = threading.Event()
    sent = [0] * 4

    def labels(k: int) -> None:
        n = 0
        while not stop.is_set():
            operation = put(n + 1, box(f"s{n % 20}", x=n % 30), client=f"clientK{k:03}", sample=work.ids[k])
            try:
                with Api(server.url, admin.token) as api:
                    api.post(f"{work.path}/operations", {"operations": [operation]}, expect=200)
            except (httpx.HTTPError, AssertionError):
                stop.wait(0.02)  # the server is being killed: the same again
                continue
            n += 1
            sent[k] = n

    threads = [threading.Thread(target=labels, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    try:
        for _ in range(3):
            before = list(sent)
            wait_for(lambda: all(s > b + 3 for s, b in zip(sent, before, strict=True)), "some operations")
            server.kill()
            server.start()
    finally:
        stop.set()
        for t in threads:
            t.join()
    api = Api(server.url, admin.token)
    for k, sample in enumerate(work.ids):
        now = api.get(f"{work.path}/samples/{sample}")
        items = api.get(f"{work.path}/samples/{sample}/operations", limit=1000)["items"]
        assert [i["id"] for i in items] == [f"clientK{k:03}.{n + 1}" for n in range(len(items))]
        assert len(items) >= sent[k] and now["revision"] == len(items) + 1
        assert json.loads(json.dumps(now["annotation"])) == api.get(f"{work.path}/samples/{sample}/at", revision=now["revision"])["annotation"]
