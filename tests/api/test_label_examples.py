"""Examples of labels: small copies of pictures, seen by whoever labels, kept while they are used."""

import os

import pytest
from harness import problem, unique, wait_for
from test_datasets import finished, png, upload
from test_import_faults import in_database
from test_label_tasks import Shop
from test_relabel import Labelled, named


@pytest.fixture
def work(admin, project) -> Labelled:
    return Labelled(admin, project, [{"name": "cat"}, {"name": "dog", "children": named("poodle")}])


def add(work: Labelled, api=None, expect: int = 201, **fields) -> dict:
    body = {"label": "cat", **fields}
    if "upload" not in body and "sample" not in body:
        body |= {"version": work.id, "sample": work.first}
    return (api or work.api).post(f"{work.labels}/examples", body, expect=expect)


def picture(api, path: str, status: int = 200) -> bytes:
    answer = api.call("GET", path)
    assert answer.status_code == status, answer.text
    return answer.content


def test_of_a_sample_and_of_an_upload(work, admin, project):
    made = add(work, caption="a whole cat", wrong=False)
    assert (made["label"], made["caption"], made["wrong"]) == ("cat", "a whole cat", False) and "picture" not in made
    jpeg = picture(admin, f"{work.labels}/examples/{made['id']}/picture")
    assert jpeg.startswith(b"\xff\xd8")
    other = add(work, label="poodle", upload=upload(admin, project, png(900, 700, 3)), wrong=True)
    assert len(picture(admin, f"{work.labels}/examples/{other['id']}/picture")) < 200_000
    now = admin.get(f"{work.labels}/examples/{made['id']}")
    assert admin.patch(f"{work.labels}/examples/{made['id']}", {"caption": "half a cat", "wrong": True}, revision=now["revision"])["wrong"] is True
    assert {e["label"] for e in admin.get(f"{work.labels}/examples")["items"]} == {"cat", "poodle"}
    # The picture is a copy: it stays when the sample's version goes.
    admin.delete(f"datasets/{work.dataset['id']}/versions/{work.id}", headers={"If-Match": f'"{admin.get(work.path)["revision"]}"'})
    assert picture(admin, f"{work.labels}/examples/{made['id']}/picture") == jpeg


@pytest.mark.parametrize("fields, field", [
    ({"label": "bird"}, "label"), ({"sample": 1}, "sample"), ({"sample": 1, "version": 1, "upload": "x"}, "sample"),
])
def test_what_is_refused(work, fields, field):
    body = {"label": "cat", "version": work.id, "sample": work.first, **fields}
    if fields == {"sample": 1}:
        del body["version"]
    problem(work.api.call("POST", f"{work.labels}/examples", json=body), 422, "invalid", field)


def test_only_pictures_and_few(work, admin, project):
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    for data in (svg, b"<html><script>1</script></html>", b"no picture at all"):
        answer = admin.call("POST", f"{work.labels}/examples", json={"label": "cat", "upload": upload(admin, project, data)})
        problem(answer, 422, "invalid", "upload")
    for _ in range(8):
        add(work)
    problem(admin.call("POST", f"{work.labels}/examples", json={"label": "cat", "version": work.id, "sample": work.first}), 409, "conflict", "label")
    add(work, label="dog")


@pytest.mark.parametrize("role, write, read", [("owner", 201, 200), ("member", 201, 200), ("viewer", 403, 200), ("annotator", 403, 403)])
def test_who_may(work, make_user, project, role, write, read):
    made = add(work)
    api = make_user(project, role)
    body = {"label": "cat", "version": work.id, "sample": work.first}
    assert api.call("POST", f"{work.labels}/examples", json=body).status_code == write
    assert api.call("GET", f"{work.labels}/examples/{made['id']}/picture").status_code == read
    stranger = make_user()
    assert stranger.call("GET", f"{work.labels}/examples/{made['id']}/picture").status_code == 404
    assert stranger.call("POST", f"{work.labels}/examples", json=body).status_code == 404


def test_a_sample_that_one_may_not_see(work, admin, project, make_user):
    other = admin.post("projects", {"name": f"{project['name']}-2"})
    theirs = Labelled(admin, other, named("cat"))
    member = make_user(project)
    answer = member.call("POST", f"{work.labels}/examples", json={"label": "cat", "version": theirs.id, "sample": theirs.first})
    assert answer.status_code == 404


def test_they_follow_their_label_and_go_with_it(work, admin):
    cat, dog = add(work), add(work, label="dog/poodle")
    finished(admin, work.rename("cat", "tomcat"))
    assert admin.get(f"{work.labels}/examples/{cat['id']}")["label"] == "tomcat"
    now = admin.get(work.labels)
    admin.patch(work.labels, {"labels": named("tomcat")}, revision=now["revision"])
    assert [e["id"] for e in admin.get(f"{work.labels}/examples")["items"]] == [cat["id"]]
    assert admin.call("GET", f"{work.labels}/examples/{dog['id']}").status_code == 404
    dataset = admin.get(f"datasets/{work.dataset['id']}")
    admin.patch(f"datasets/{dataset['id']}", {"label_set": None}, revision=dataset["revision"])
    admin.delete(work.labels, headers={"If-Match": f'"{admin.get(work.labels)["revision"]}"'})
    assert admin.call("GET", f"{work.labels}/examples/{cat['id']}/picture").status_code == 404


def test_whoever_labels_sees_them_by_the_task(admin, make_user):
    shop = Shop(admin, make_user, pictures=2)
    sample = shop.owner.get(f"{shop.version}/samples")["items"][0]["id"]
    made = shop.owner.post(f"label-sets/{shop.set['id']}/examples", {"label": "cat", "caption": "so", "version": shop.version_id, "sample": sample})
    task, annotator = shop.task(), shop.annotators[0]
    assert annotator.get(f"{task}/bench")["examples"] == [{"id": made["id"], "label": "cat", "caption": "so", "wrong": False}]
    assert picture(annotator, f"{task}/examples/{made['id']}").startswith(b"\xff\xd8")
    picture(annotator, f"label-sets/{shop.set['id']}/examples/{made['id']}/picture", 403)
    picture(annotator, f"{task}/examples/{made['id'] + 1000}", 404)
    other = Shop(admin, make_user, pictures=1)
    foreign = other.task()
    picture(annotator, f"{foreign}/examples/{made['id']}", 404)
    picture(other.annotators[0], f"{foreign}/examples/{made['id']}", 404)


def test_the_collector_leaves_their_pictures(fresh_server):
    """Long after the sample and its version went, the picture is there; when the example goes, so does its blob. The same of a
    picture in the instructions of a task."""
    server = fresh_server()
    api = server.admin()
    project = api.post("projects", {"name": unique("p")})
    work = Labelled(api, project, named("cat"), count=1)
    path = f"{work.labels}/examples/{add(work)['id']}"
    jpeg = picture(api, f"{path}/picture")
    kept = api.post(f"datasets/{work.dataset['id']}/versions", {})["id"]
    team = api.post("teams", {"project": project["id"], "name": unique(), "members": [1]})["id"]
    told = api.post("label-tasks", {"project": project["id"], "name": unique(), "version": kept, "labelling_team": team,
                                    "instructions": f"![a](upload:{upload(api, project, png(70, 50, 9))})"})
    api.delete(work.path, headers={"If-Match": f'"{api.get(work.path)["revision"]}"'})

    def left() -> int:
        """Blobs on the disk, after the collector ran an hour later."""
        in_database(server, "UPDATE blobs SET touched_at = 0;", "UPDATE blobs SET touched_at = 0")
        for controller in ("collect-versions", "collect-manifests", "collect-blobs"):
            api.call("POST", f"controllers/{controller}/run")
        return sum(len(files) for _, _, files in os.walk(f"{server.data}/blobs/sha256"))
    wait_for(lambda: left() == 2, "all but the pictures of the example and the instructions to go")
    assert picture(api, f"{path}/picture") == jpeg
    assert picture(api, f"label-tasks/{told['id']}/pictures/{told['instructions'][len('![a](picture:'):-1]}")
    api.delete(path)
    wait_for(lambda: left() == 1, "the picture of the example to go")
    api.delete(f"label-tasks/{told['id']}")
    wait_for(lambda: left() == 0, "the picture to go")
