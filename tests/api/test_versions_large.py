"""Versions of more samples than a request may wait for: copies, comparing and publishing by tasks."""

import json

from harness import unique, wait_for
from test_cli import cli, signed_in  # noqa: F401
from test_datasets import bring, finished, zipped
from test_sdk import client  # noqa: F401

COUNT = 5001
CHANGES = ("added", "removed", "changed", "annotated", "split")


def lines(content: dict[str, tuple[str, str]]) -> bytes:
    return "".join(json.dumps({"file": name, "content": text, "annotation": {"labels": [label]}}) + "\n" for name, (text, label) in content.items()).encode()


# Many samples of few contents, as copies count how often each is used.
BEFORE = {f"{i:05}.txt": (f"text {i % 7}", f"label {i % 3}") for i in range(COUNT)}


def tasks_of(api, project: dict, version: str, type: str) -> list[dict]:
    return api.get("tasks", project=project["id"], filter=f'subject = {version.rsplit("/", 1)[1]} and type = "{type}"')["items"]


def walk(api, path: str, **query) -> list[dict]:
    items, pages = [], 0
    while True:
        page = api.get(path, **query)
        assert not set(CHANGES) & set(page), "the counts of large versions are the task's"
        items, pages = items + page["items"], pages + 1
        if page["next"] is None:
            assert pages > 1
            return items
        query["after"] = page["next"]


def test_a_large_version_is_copied_compared_and_published(admin, project, client, cli):
    made = admin.post("datasets", {"project": project["id"], "name": unique("many"), "data_type": "text", "annotation_type": "text-class"})
    versions = f"datasets/{made['id']}/versions"
    old = f"{versions}/{admin.post(versions, {})['id']}"
    bring(admin, project, old, "t.zip", zipped({"ingot.jsonl": lines(BEFORE)}))
    cleaned = admin.get(f"{old}/samples", limit=1)["items"][0]
    admin.post(f"{old}/clean", {"ids": [cleaned["id"]]}, expect=200)

    other = int(old.rsplit("/", 1)[1])
    new = f"{versions}/{admin.post(versions, {'from': other})['id']}"
    copy = finished(admin, tasks_of(admin, project, new, "copy-version")[0])
    assert (copy["done"], copy["total"]) == (COUNT, COUNT)
    assert admin.get(f"{new}/statistics") == admin.get(f"{old}/statistics")
    assert [admin.get(v)["cleaned"] for v in (old, new)] == [1, 1]

    # The last of all by name, and none before it: every page but the last is empty.
    bring(admin, project, new, "u.zip", zipped({"ingot.jsonl": lines({"zz.txt": ("text 0", "label 0")})}))
    assert [(i["name"], i["change"]) for i in walk(admin, f"{new}/compare", **{"with": other})] == [("zz.txt", "added")]
    task = finished(admin, admin.post(f"{new}/changes", {"with": other}, expect=202))
    assert [task["result"][c] for c in CHANGES] == [1, 0, 0, 0, 0]
    listed = admin.call("GET", f"tasks/{task['id']}/download").text
    assert [json.loads(line)["name"] for line in listed.splitlines()] == ["zz.txt"]
    assert admin.post(f"{new}/changes", {"with": 0}, expect=422)
    found = client.datasets.diff(made, 1, 2)
    assert ([found[c] for c in CHANGES], [x["name"] for x in client.datasets.changes(made, 1, 2)]) == ([1, 0, 0, 0, 0], ["zz.txt"])
    shown = cli.run("dataset", "diff", "--project", project["name"], f"{made['name']}:v1", ":v2").out.splitlines()
    assert shown == ["+ zz.txt", "1 added, 0 removed, 0 changed, 0 annotated differently, 0 moved between parts of the split"]

    # Cancelled it is a draft again, unless it was over before.
    assert admin.post(f"{new}/publish", {}, expect=202)["state"] == "publishing"
    assert admin.post(f"{new}/clean", {"ids": [1]}, expect=409)["detail"]
    assert admin.post(f"{new}/publish", {}, expect=409)
    task = tasks_of(admin, project, new, "publish")[0]
    admin.call("POST", f"tasks/{task['id']}/cancel", json={})
    over = wait_for(lambda: (t := admin.get(f"tasks/{task['id']}")["state"]) in ("cancelled", "done") and t, "the end of the task")
    assert admin.get(new)["state"] == ("published" if over == "done" else "draft")
    if over == "cancelled":
        assert client.datasets.publish(made, "v2")["state"] == "published"
    assert len(admin.get(new)["digest"]) == 64

    cli.run("dataset-version", "publish", "--yes", "--project", project["name"], "--dataset", made["name"], "v1")
    assert admin.get(old)["state"] == "published"

    # What the copy used as well stays when the copy goes.
    admin.delete(new)
    wait_for(lambda: admin.call("GET", f"{new}/samples").status_code == 404, "the end of the copy")
    for sample in admin.get(f"{old}/samples", limit=7)["items"]:
        assert admin.call("GET", f"{old}/samples/{sample['id']}/content").status_code == 200
