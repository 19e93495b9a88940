"""Labels that are renamed or merged: what bears them follows, in drafts and layers, and keeps its history."""

import json

import pytest
from harness import problem, unique
from test_datasets import bring, finished, png, report, zipped
from test_operations import CLIENT, OTHER, Work, box, put, states
from test_rooms import hear, room


def named(*names: str, **more) -> list[dict]:
    return [{"name": n, **more} for n in names]


class Labelled(Work):
    """A version whose dataset uses a label set with these labels."""

    def __init__(self, api, project: dict, labels: list[dict], **more) -> None:
        super().__init__(api, project, **more)
        self.set = api.post("label-sets", {"project": project["id"], "name": unique("labels"), "labels": labels})
        self.labels = f"label-sets/{self.set['id']}"
        api.patch(f"datasets/{self.dataset['id']}", {"label_set": self.set["id"]}, revision=self.dataset["revision"])

    def rename(self, old: str, new: str, expect: int = 202, api=None):
        return (api or self.api).post(f"{self.labels}/rename-label", {"from": old, "to": new}, expect=expect)

    def merge(self, old: list[str], new: str, expect: int = 202, api=None):
        return (api or self.api).post(f"{self.labels}/merge-labels", {"from": old, "to": new}, expect=expect)

    def names(self) -> list[str]:
        return [label["name"] for label in self.api.get(self.labels)["labels"]]

    def counts(self) -> dict[str, tuple[int, int]]:
        return {c["label"]: (c["samples"], c["shapes"]) for c in self.api.get(f"{self.path}/statistics")["labels"]}

    def usage(self, *names: str) -> dict:
        return self.api.get(f"{self.labels}/usage", labels=json.dumps(names))


@pytest.fixture
def work(admin, project) -> Labelled:
    return Labelled(admin, project, named("cat", "dog", "cow"))


def labels_of(sample: dict) -> list[str]:
    return [s["label"] for s in sample["annotation"].get("shapes", [])]


def test_a_rename_reaches_what_is_labelled(work):
    work.send(put(1, box("aa")), put(2, box("bb", label="dog")), {"sample": work.ids[1], **put(3, box("cc"))})
    assert work.usage("cat") == {"drafts": {"versions": 1, "samples": 2, "shapes": 2},
                                 "published": {"versions": 0, "samples": 0, "shapes": 0}, "elsewhere": 0, "layers": 0}
    task = finished(work.api, work.rename("cat", "tomcat"))
    assert task["result"] == {"versions": 1, "samples": 2, "layer_samples": 0}
    assert (task["subject_kind"], task["subject"]) == ("label_set", work.set["id"])
    assert work.names() == ["tomcat", "dog", "cow"]
    now = work.sample()
    assert labels_of(now) == ["tomcat", "dog"] and now["revision"] == 4 and now["state"] == "annotated"
    assert work.counts() == {"tomcat": (2, 2), "dog": (1, 1)}
    assert [s["id"] for s in work.api.get(f"{work.path}/samples", label="tomcat")["items"]] == work.ids[:2]
    # Its history has it as one operation of no client, and what was before can be seen and brought back.
    last = work.history()["items"][-1]
    assert last["operation"]["op"] == "relabel" and last["operation"]["labels"] == {"cat": "tomcat"} and last["id"] is None
    assert [s["label"] for s in work.at(3)["annotation"]["shapes"]] == ["cat", "dog"]
    assert [s["label"] for s in work.at(4)["annotation"]["shapes"]] == ["tomcat", "dog"]
    # Once more: nothing is left to do.
    assert finished(work.api, work.api.post(f"{work.labels}/relabel", expect=202))["result"]["samples"] == 0
    assert work.sample()["revision"] == 4


def test_states_and_whose_work_it_is_stay(work):
    work.send(put(1, box("aa")))
    work.api.call("PUT", f"{work.path}/samples/{work.first}/annotation", headers={"If-Match": '"2"'}, json={"state": "accepted"})
    other = {"images": [{"id": 1, "file_name": "001.png", "width": 40, "height": 30}], "categories": [{"id": 1, "name": "cat"}],
             "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5]}]}
    bring(work.api, work.project, work.path, "c.zip", zipped({"c.json": json.dumps(other).encode()}))
    work.api.post(f"{work.path}/clean", {"ids": [work.ids[1]]}, expect=200)
    finished(work.api, work.rename("cat", "tomcat"))
    first, second = work.sample(), work.sample(work.ids[1])
    assert (first["state"], first["by_person"], labels_of(first)) == ("accepted", True, ["tomcat"])
    assert (second["state"], second["by_person"], labels_of(second)) == ("cleaned", False, ["tomcat"])
    assert work.counts() == {"tomcat": (1, 1)}


def test_who_has_the_sample_open_sees_it(work, admin):
    work.send(put(1, box("aa")))
    with room(admin, work) as ws:
        hear(ws, "hello")
        finished(admin, work.rename("cat", "tomcat"))
        item, = hear(ws, "operations")["items"]
        assert (item["id"], item["revision"], item["operation"]["op"]) == (None, 3, "relabel")
        assert item["operation"]["labels"] == {"cat": "tomcat"}


def test_work_that_arrives_late_is_taken_under_the_new_name(work):
    work.send(put(1, box("aa")), put(2, box("bb", label="dog", x=20)))
    base = work.sample()["revision"]
    finished(work.api, work.rename("cat", "tomcat"))
    finished(work.api, work.rename("tomcat", "kater"))
    results = work.send(put(1, box("aa", x=3), client=OTHER, base=base), put(2, box("cc"), client=OTHER, base=base),
                        {"id": f"{OTHER}.3", "op": "replace", "annotation": {"shapes": [box("dd"), box("ee", label="cow")]}})
    assert states(results) == ["applied"] * 3 and results[0]["shape"]["label"] == "kater"
    assert labels_of(work.sample()) == ["kater", "cow"]
    assert work.counts() == {"kater": (1, 1), "cow": (1, 1)}
    answer = work.api.call("PUT", f"{work.path}/samples/{work.first}/annotation", json={"annotation": {"shapes": [box("zz")]}},
                           headers={"If-Match": f'"{work.sample()["revision"]}"'})
    assert answer.json()["annotation"]["shapes"][0]["label"] == "kater"
    # A label that is called so anew is itself.
    now = work.api.get(work.labels)
    work.api.patch(work.labels, {"labels": [*now["labels"], {"name": "cat"}]}, revision=now["revision"])
    work.send(put(4, box("ff"), client=OTHER))
    assert labels_of(work.sample()) == ["kater", "cat"]


def test_labels_of_whole_samples_are_merged(admin, project):
    work = Labelled(admin, project, named("cat", "tomcat", "dog"), annotation_type="image-classes")
    for n, name in enumerate(["cat", "tomcat", "dog"], 1):
        work.send({"id": f"{CLIENT}.{n}", "op": "label", "label": name, "on": True})
    work.send({"id": f"{CLIENT}.4", "op": "label", "label": "tomcat", "on": True, "sample": work.ids[1]})
    assert work.usage("tomcat", "dog")["drafts"] == {"versions": 1, "samples": 3, "shapes": 3}
    finished(admin, work.merge(["tomcat", "dog"], "cat"))
    assert work.sample()["annotation"] == {"labels": ["cat"]} and work.names() == ["cat"]
    assert work.sample(work.ids[1])["annotation"] == {"labels": ["cat"]}
    assert work.counts() == {"cat": (2, 2)}
    late, = work.send({"id": f"{OTHER}.1", "op": "label", "label": "dog", "on": False, "base": 1})
    assert (late["state"], late["label"]) == ("applied", "cat") and work.sample()["annotation"] == {}


def test_two_levels(admin, project):
    tree = [{"name": "car", "children": named("small", "big")}, {"name": "bus", "children": named("big")}, {"name": "tram"}]
    work = Labelled(admin, project, tree)
    work.send(put(1, box("aa", label="small")), put(2, box("bb", label="car/big")), put(3, box("cc", label="bus/big")), put(4, box("dd", label="car")))
    problem(admin.call("POST", f"{work.labels}/rename-label", json={"from": "big", "to": "huge"}), 422, "invalid", "from", says="PARENT/NAME")
    finished(admin, work.rename("car/big", "huge"))
    finished(admin, work.rename("car", "auto"))
    assert labels_of(work.sample()) == ["small", "auto/huge", "bus/big", "auto"]
    finished(admin, work.merge(["auto/huge", "small"], "bus/big"))
    assert labels_of(work.sample()) == ["big", "big", "bus/big", "auto"]
    assert admin.get(work.labels)["labels"] == [{"name": "auto", "children": []}, {"name": "bus", "children": named("big")}, {"name": "tram"}]


def test_layers_follow_and_published_versions_do_not(work, admin, project):
    work.send(put(1, box("aa")))
    layer = admin.post("layers", {"project": project["id"], "name": "model", "dataset_version": work.id})
    work.send({**put(2, box("bb", x=9)), "layer": layer["id"]})
    published = Work(admin, project)
    now = admin.get(f"datasets/{published.dataset['id']}")
    admin.patch(f"datasets/{now['id']}", {"label_set": work.set["id"]}, revision=now["revision"])
    published.send(put(1, box("pp")))
    admin.post(f"{published.path}/publish", expect=200)
    usage = work.usage("cat")
    assert usage["published"] == {"versions": 1, "samples": 1, "shapes": 1} and usage["layers"] == 1
    task = finished(admin, work.rename("cat", "tomcat"))
    assert task["result"] == {"versions": 1, "samples": 1, "layer_samples": 1}
    assert labels_of(work.sample(layer=layer["id"])) == ["tomcat"]
    assert labels_of(published.sample()) == ["cat"]
    # A draft that is made of it has the name of today.
    draft = admin.post(f"datasets/{published.dataset['id']}/versions", {"from": published.id})
    path = f"datasets/{published.dataset['id']}/versions/{draft['id']}"
    tasks = admin.get("tasks", project=project["id"], filter='type = "copy-version"')["items"]
    finished(admin, tasks[0])
    sample = admin.get(f"{path}/samples", label="tomcat")["items"]
    assert [labels_of(s) for s in sample] == [["tomcat"]]


def test_classes_of_imports_follow(admin, project):
    work = Labelled(admin, project, named("cat", "dog"))
    coco = {"images": [{"id": 1, "file_name": "000.png", "width": 40, "height": 30}], "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5]}]}
    coco["images"].append({"id": 2, "file_name": "late.png", "width": 40, "height": 30})
    coco["annotations"].append({"id": 2, "image_id": 2, "category_id": 1, "bbox": [2, 2, 5, 5]})
    bring(admin, project, work.path, "c.zip", zipped({"c.json": json.dumps(coco).encode()}))
    finished(admin, work.merge(["cat"], "dog"))
    bring(admin, project, work.path, "late.zip", zipped({"late.png": png(40, 30, 77)}))
    late = next(s for s in admin.get(f"{work.path}/samples")["items"] if s["name"] == "late.png")
    assert labels_of(late) == ["dog"] and work.counts() == {"dog": (2, 2)}
    task = finished(admin, admin.post(f"{work.path}/export", {"format": "yolo", "samples": False}, expect=202))
    assert task["result"]


@pytest.mark.parametrize("action, body, field, says", [
    ("rename-label", {"from": "bird", "to": "x"}, "from", "no label bird"),
    ("rename-label", {"from": "cat", "to": "a/b"}, "to", ""),
    ("rename-label", {"from": "cat"}, "to", "required"),
    ("merge-labels", {"from": [], "to": "cat"}, "from", "1 to 100"),
    ("merge-labels", {"from": "dog", "to": "cat"}, "from", "1 to 100"),
    ("merge-labels", {"from": [3], "to": "cat"}, "from", ""),
    ("merge-labels", {"from": ["cat"], "to": "cat"}, "from", "itself"),
    ("merge-labels", {"from": ["cat"], "to": "bird"}, "to", "no label bird"),
])
def test_what_is_refused(work, action, body, field, says):
    answer = work.api.call("POST", f"{work.labels}/{action}", json=body)
    problem(answer, 422, "invalid", field, says=says)
    assert work.names() == ["cat", "dog", "cow"]


def test_conflicts(work, admin, project):
    problem(admin.call("POST", f"{work.labels}/rename-label", json={"from": "cat", "to": "dog"}), 409, "conflict", "to", says="merge")
    tree = Labelled(admin, project, [{"name": "a", "children": named("x")}, {"name": "b"}, {"name": "s", "keypoints": ["nose"]}])
    problem(admin.call("POST", f"{tree.labels}/merge-labels", json={"from": ["a"], "to": "b"}), 409, "conflict", "from", says="below")
    problem(admin.call("POST", f"{tree.labels}/merge-labels", json={"from": ["s"], "to": "b"}), 409, "conflict", "from", says="skeletons")
    operation, = work.send({"id": f"{CLIENT}.1", "op": "relabel", "labels": {"cat": "dog"}})
    assert operation["state"] == "refused" and operation["problem"]["field"] == "op"


@pytest.mark.parametrize("role, status", [("owner", 202), ("member", 202), ("viewer", 403), ("annotator", 403)])
def test_who_may(work, make_user, project, role, status):
    api = make_user(project, role)
    answer = api.call("POST", f"{work.labels}/rename-label", json={"from": "cat", "to": "tomcat"})
    assert answer.status_code == status
    if status == 202:
        finished(api, answer.json())
    merged = api.call("POST", f"{work.labels}/merge-labels", json={"from": ["cow"], "to": "dog"})
    assert merged.status_code == status
    stranger = make_user()
    assert stranger.call("POST", f"{work.labels}/rename-label", json={"from": "dog", "to": "x"}).status_code == 404
    assert stranger.call("GET", f"{work.labels}/usage?labels=%5B%22dog%22%5D").status_code == 404


def test_a_public_set_leaves_other_projects_alone(work, admin, make_user, project):
    other = admin.post("projects", {"name": unique("project")})
    now = admin.get(work.labels)
    admin.patch(work.labels, {"public": True}, revision=now["revision"])
    theirs = Work(admin, other)
    admin.patch(f"datasets/{theirs.dataset['id']}", {"label_set": work.set["id"]}, revision=theirs.dataset["revision"])
    theirs.send(put(1, box("aa")))
    work.send(put(1, box("aa")))
    member = make_user(project)
    usage = member.get(f"{work.labels}/usage", labels='["cat"]')
    assert usage["drafts"]["versions"] == 1 and usage["elsewhere"] == 1
    finished(member, work.rename("cat", "tomcat", api=member))
    assert labels_of(work.sample()) == ["tomcat"] and labels_of(theirs.sample()) == ["cat"]
    # Whoever may change both brings the rest after.
    finished(admin, admin.post(f"{work.labels}/relabel", expect=202))
    assert labels_of(theirs.sample()) == ["tomcat"]


def test_a_version_in_review_is_told(work, admin, project, make_user):
    work.send(put(1, box("aa")))
    admin.post(f"{work.path}/request-review", {"reviewers": [make_user(project, "owner").user["id"]]}, expect=200)
    task = finished(admin, work.rename("cat", "tomcat"))
    assert task["result"]["samples"] == 0 and "in review" in json.dumps(report(admin, task))


def test_a_killed_server_goes_on(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    work = Labelled(admin, project, named("cat", "dog"))
    lines = [json.dumps({"ingot": 1, "type": "detection"})]
    lines += [json.dumps({"file": f"n{i}.png", "annotation": {"shapes": [box("a"), box("b", label="dog", x=9)]}}) for i in range(1500)]
    files = {f"n{i}.png": png(40, 30, 5) for i in range(1500)}
    bring(admin, project, work.path, "n.zip", zipped({**files, "ingot.jsonl": "\n".join(lines).encode()}))
    task = work.rename("cat", "tomcat")
    server.kill()
    server.start()
    work.api = admin = server.admin()
    finished(admin, task)
    assert work.counts() == {"tomcat": (1500, 1500), "dog": (1500, 1500)} and work.names() == ["tomcat", "dog"]
    one = admin.get(f"{work.path}/samples", label="tomcat", limit=1)["items"][0]
    assert one["revision"] == 2
    # Cancelled, it stops where it is; the rest follows when it is asked for.
    task = work.merge(["tomcat"], "dog")
    admin.call("POST", f"tasks/{task['id']}/cancel")
    over = finished(admin, task, admin.get(f"tasks/{task['id']}")["state"] if admin.get(f"tasks/{task['id']}")["state"] == "done" else "cancelled")
    assert over["state"] in ("done", "cancelled")
    finished(admin, admin.post(f"{work.labels}/relabel", expect=202))
    assert work.counts() == {"dog": (1500, 3000)}


def old_file(*names: str, category: str = "cat") -> bytes:
    """A COCO file that still says the former name, with a box on each picture."""
    return zipped({"c.json": json.dumps({
        "images": [{"id": i, "file_name": name, "width": 40, "height": 30} for i, name in enumerate(names, 1)],
        "categories": [{"id": 1, "name": category}, {"id": 2, "name": "cow"}],
        "annotations": [{"id": i, "image_id": i, "category_id": 1, "bbox": [1, 1, 5, 5]} for i, _ in enumerate(names, 1)]}).encode()})


def test_a_file_with_former_names_is_taken_under_the_new_ones(work):
    finished(work.api, work.rename("cat", "tomcat"))
    finished(work.api, work.merge(["tomcat"], "dog"))
    file = old_file("000.png", "001.png", "later.png")
    task = bring(work.api, work.project, work.path, "c.zip", file)
    said = [line["reason"] for line in report(work.api, task) if "called" in line["reason"]]
    assert said == ["the label cat is called dog now: it was taken under that name"]
    assert [labels_of(work.sample(i)) for i in work.ids[:2]] == [["dog"], ["dog"]]
    assert work.counts() == {"dog": (2, 2)}
    # No class of the former name comes back with it, and the same file again changes nothing.
    revision = work.sample()["revision"]
    task = bring(work.api, work.project, work.path, "c.zip", file)
    assert (task["result"]["changed"], task["result"]["same"]) == (0, 2) and work.sample()["revision"] == revision
    assert [c["label"] for c in work.api.get(f"{work.path}/statistics")["labels"]] == ["dog"]
    # What waited for its picture while its label was renamed once more.
    finished(work.api, work.rename("dog", "hound"))
    bring(work.api, work.project, work.path, "p.zip", zipped({"later.png": png(40, 30, 99)}))
    [later] = [s for s in work.api.get(f"{work.path}/samples")["items"] if s["name"] == "later.png"]
    assert labels_of(later) == ["hound"] and work.counts() == {"hound": (3, 3)}


def test_a_name_that_a_label_has_again_is_that_label_s(work):
    finished(work.api, work.rename("cat", "tomcat"))
    now = work.api.get(work.labels)
    work.api.patch(work.labels, {"labels": [*now["labels"], {"name": "cat"}]}, revision=now["revision"])
    task = bring(work.api, work.project, work.path, "c.zip", old_file("000.png"))
    assert labels_of(work.sample()) == ["cat"] and "called" not in json.dumps(report(work.api, task))
