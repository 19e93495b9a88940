"""Rooms: two people on one sample see each other's shapes live."""

import json
import ssl  # noqa: F401  (websockets needs it to be importable)
from contextlib import contextmanager

import pytest
from harness import DEADLINE, Api, unique, wait_for
from test_data_out import exported
from test_datasets import bring, zipped
from test_operations import CLIENT, OTHER, Work, box, put
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect


@pytest.fixture
def work(admin, project) -> Work:
    return Work(admin, project)


@contextmanager
def room(api: Api, work: Work, client: str = CLIENT, headers: dict | None = None, **params):
    query = "&".join(f"{k}={v}" for k, v in {"client": client, **params}.items())
    url = f"{api.url.replace('http', 'ws', 1)}/api/v1/{work.path}/samples/{work.first}/room?{query}"
    headers = headers or {"Authorization": f"Bearer {api.token}"}
    with connect(url, additional_headers=headers, proxy=None, max_size=1 << 25, open_timeout=DEADLINE) as ws:
        yield ws


def hear(ws: ClientConnection, kind: str) -> dict:
    """The next message of that type."""
    while (message := json.loads(ws.recv(DEADLINE)))["type"] != kind:
        pass
    return message


def say(ws: ClientConnection, *operations: dict) -> list[dict]:
    ws.send(json.dumps({"type": "operations", "operations": list(operations)}))
    return hear(ws, "results")["results"]


def test_what_an_import_brought_has_ids_in_a_room(work, admin):
    """Nobody has touched it, so it is stored without: they are derived, the same for the room and for what is sent to it."""
    sample = f"{work.path}/samples/{work.first}"
    bare = [{key: v for key, v in box("none", x=x).items() if key != "id"} for x in (1, 30)]
    admin.call("PUT", sample + "/annotation", json={"annotation": {"shapes": bare}}, headers={"If-Match": f'"{admin.get(sample)["revision"]}"'}).raise_for_status()
    assert not any("id" in shape for shape in admin.get(sample)["annotation"]["shapes"])
    with room(admin, work) as ws:
        shapes = hear(ws, "hello")["annotation"]["shapes"]
        assert len({shape["id"] for shape in shapes}) == 2
        assert say(ws, put(1, {**shapes[1], "x": 31}))[0]["revision"]
    assert [shape["x"] for shape in admin.get(sample)["annotation"]["shapes"]] == [1, 31]


def test_two_people_see_each_others_shapes(work, make_user, project, admin):
    member = make_user(project)
    work.send(put(1, box("aa")))
    with room(admin, work) as mine, room(member, work, OTHER) as theirs:
        hello, other = hear(mine, "hello"), hear(theirs, "hello")
        assert (hello["you"], hello["revision"], hello["state"]) == (CLIENT, 2, "annotated")
        assert hello["annotation"]["shapes"][0]["id"] == "aa"
        assert {p["client"] for p in other["people"]} == {CLIENT, OTHER}
        assert {p["user"]["name"] for p in hear(mine, "people")["people"]} >= {member.user["name"]}
        theirs.send(json.dumps({"type": "operations", "operations": [put(1, box("bb", x=9), client=OTHER)]}))
        for ws in (mine, theirs):
            item, = hear(ws, "operations")["items"]
            assert (item["id"], item["client"], item["revision"], item["operation"]["shape"]["x"]) == (f"{OTHER}.1", OTHER, 3, 9)
            assert item["by"]["name"] == member.user["name"]
        # What comes by POST, PUT and restore is told as well, in the order of revisions.
        work.send(put(2, box("aa", x=2)))
        work.api.call("PUT", f"{work.path}/samples/{work.first}/annotation", json={"annotation": {}, "state": "rejected"},
                      headers={"If-Match": '"4"'})
        assert [hear(mine, "operations")["items"][0]["operation"]["op"] for _ in range(2)] == ["put", "replace"]
        assert hear(mine, "state")["state"] == "rejected"
        mine.send(json.dumps({"type": "cursor", "x": 3, "y": 4, "tool": "box", "secret": 1}))
        assert hear(theirs, "cursor") == {"type": "cursor", "client": CLIENT, "x": 3, "y": 4, "tool": "box"}
        mine.close()
        assert [p["client"] for p in hear(theirs, "people")["people"]] == [OTHER]


def put_whole(work: Work) -> None:
    where = f"{work.path}/samples/{work.first}/annotation"
    work.api.call("PUT", where, json={"annotation": {"shapes": [box("cc", label="cow")]}}, headers={"If-Match": '"3"'}).raise_for_status()


def restore(work: Work) -> None:
    where = f"{work.path}/samples/{work.first}/restore"
    work.api.call("POST", where, json={"revision": 2}, headers={"If-Match": '"3"'}).raise_for_status()


def import_over(work: Work) -> None:
    file = {"images": [{"id": 1, "file_name": "000.png", "width": 40, "height": 30}], "categories": [{"id": 1, "name": "cow"}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5]}]}
    bring(work.api, work.project, work.path, "c.zip", zipped({"c.json": json.dumps(file).encode()}), replace=True)


@pytest.mark.parametrize("way, label", [(put_whole, "cow"), (restore, "cat"), (import_over, "cow")])
def test_what_replaces_an_annotation_is_seen_everywhere(work, admin, way, label):
    """As one operation would be: by who has the sample open, by counts, export and publishing, and in the history."""
    work.send(put(1, box("aa")), put(2, box("bb", x=9, label="dog")))
    with room(admin, work) as ws:
        hear(ws, "hello")
        way(work)
        item, = hear(ws, "operations")["items"]
        assert (item["revision"], item["id"], item["operation"]["op"]) == (4, None, "replace")
        assert [s["label"] for s in item["operation"]["annotation"]["shapes"]] == [label]
        # A stroke begun before it meets it, one begun after it does not.
        assert [r["state"] for r in say(ws, put(3, box("aa", x=4), base=3))] == ["conflict"]
        assert [(r["state"], r["revision"]) for r in say(ws, put(4, box("zz", x=7, label="cat"), base=4))] == [("applied", 5)]
    labels = sorted([label, "cat"])
    assert sorted(s["label"] for s in work.sample()["annotation"]["shapes"]) == labels
    counts = {c["label"]: c["shapes"] for c in admin.get(f"{work.path}/statistics")["labels"]}
    assert counts == {name: labels.count(name) for name in labels}
    archive = exported(admin, work.path, format="coco")
    coco = json.loads(next(archive.read(n) for n in archive.namelist() if n.endswith(".json")))
    names = {c["id"]: c["name"] for c in coco["categories"]}
    assert sorted(names[a["category_id"]] for a in coco["annotations"]) == labels
    # What was before is there to be seen, and to be brought back.
    assert [s["id"] for s in work.at(3)["annotation"]["shapes"]] == ["aa", "bb"]
    assert [i["operation"]["op"] for i in work.history(whole="true")["items"]] == ["create", "put", "put", "replace", "put"]
    again = admin.call("POST", f"{work.path}/samples/{work.first}/restore", json={"revision": 3}, headers={"If-Match": '"5"'})
    assert sorted(s["label"] for s in again.json()["annotation"]["shapes"]) == ["cat", "dog"]
    admin.post(f"{work.path}/publish", {}, expect=200)
    wait_for(lambda: admin.get(work.path)["state"] == "published", "the publishing")
    assert sorted(s["label"] for s in work.sample()["annotation"]["shapes"]) == ["cat", "dog"]


def test_results_and_order_of_many(work, admin):
    with room(admin, work) as ws:
        hear(ws, "hello")
        for n in range(1, 101):
            ws.send(json.dumps({"type": "operations", "operations": [put(n, box(f"s{n % 7}", x=n % 30))]}))
        seen = [hear(ws, "operations")["items"][0] for _ in range(100)]
        assert [i["id"] for i in seen] == [f"{CLIENT}.{n}" for n in range(1, 101)]
        assert [i["revision"] for i in seen] == list(range(2, 102))
        results = say(ws, put(5, box("zz")), put(101, box("outside", x=900)))
        while results[-1]["id"] != f"{CLIENT}.101":
            results = hear(ws, "results")["results"]
        assert [(r["state"], r["revision"]) for r in results] == [("already", 6), ("refused", 0)]
        ws.send("no json")
        assert hear(ws, "problem")["code"] == "malformed"
    with room(admin, work, OTHER, since=98) as late:
        hello = hear(late, "hello")
        assert [i["revision"] for i in hello["items"]] == [99, 100, 101] and "annotation" not in hello


def test_publishing_closes_the_room(work, admin):
    work.send(put(1, box("aa")))
    with room(admin, work) as ws:
        hear(ws, "hello")
        admin.post(f"{work.path}/publish", {}, expect=200)
        assert hear(ws, "closed")["reason"] == "published"
        with pytest.raises(ConnectionClosed):
            hear(ws, "never")


def test_rights_that_end_close_the_room(work, make_user, project, admin):
    member = make_user(project)
    with room(member, work) as ws:
        hear(ws, "hello")
        for m in admin.get(f"projects/{project['id']}/members")["items"]:
            if m["user"]["id"] == member.user["id"]:
                admin.delete(f"projects/{project['id']}/members/{m['id']}", headers={"If-Match": f'"{m["revision"]}"'})
        with pytest.raises(ConnectionClosed):
            hear(ws, "never")


@pytest.mark.parametrize("role, status", [("viewer", 101), (None, 404)])
def test_who_may_enter(work, make_user, project, role, status):
    user = make_user(project, role) if role else make_user()
    try:
        with room(user, work) as ws:
            hear(ws, "hello")
            ws.send(json.dumps({"type": "operations", "operations": [put(1, box("aa"))]}))
            assert hear(ws, "problem")["code"] == "forbidden"
            entered = 101
    except InvalidStatus as refused:
        entered = refused.response.status_code
    assert entered == status


def test_wrong_doors(work, admin, server):
    def status(**options) -> int:
        with pytest.raises(InvalidStatus) as refused, room(admin, work, **options):
            pass
        return refused.value.response.status_code
    assert status(client="short") == 422
    assert status(headers={"Cookie": "x=y"}) == 401
    assert status(layer=99999) == 404


def test_a_layer_has_a_room_of_its_own(work, admin, project):
    layer = admin.post("layers", {"project": project["id"], "name": unique("layer"), "dataset_version": work.id})
    with room(admin, work, layer=layer["id"]) as ws, room(admin, work, OTHER) as own:
        assert hear(ws, "hello")["revision"] == 0 and hear(own, "hello")["revision"] == 1
        assert [r["state"] for r in say(ws, put(1, box("aa")))] == ["applied"]
        work.send(put(2, box("bb")))
        item, = hear(own, "operations")["items"]
        assert item["operation"]["shape"]["id"] == "bb"
