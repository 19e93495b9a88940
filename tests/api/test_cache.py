"""Reads that are answered from memory never show what is no longer so, and never to whom it is not shown."""

import threading

import pytest
from harness import DEADLINE, Api, problem
from test_datasets import bring, dataset, png, version, zipped  # noqa: F401


def read_twice(api: Api, path: str, **params) -> dict:
    first = api.get(path, **params)
    assert api.get(path, **params) == first
    return first


def test_changes_show_at_once(admin, project, make_set):
    made = make_set("first")
    path = f"label-sets/{made['id']}"
    assert read_twice(admin, path) == made
    changed = admin.patch(path, {"name": "second"}, 1)
    assert read_twice(admin, path) == changed
    renamed = admin.patch(f"projects/{project['id']}", {"name": project["name"] + " new"}, project["revision"])
    assert read_twice(admin, path)["project"]["name"] == renamed["name"]
    admin.delete(path)
    problem(admin.call("GET", path), 404, "not_found")


def test_rights_are_asked_each_time(admin, project, make_set, make_user):
    member, stranger = make_user(project), make_user()
    made = make_set(public=True)
    path = f"label-sets/{made['id']}"
    for api in (admin, member, stranger):
        assert read_twice(api, path) == made
    admin.patch(path, {"public": False}, 1)
    read_twice(member, path)
    problem(stranger.call("GET", path), 404, "not_found")
    for one in admin.all(f"projects/{project['id']}/members"):
        if one["user"]["id"] == member.user["id"]:
            admin.delete(f"projects/{project['id']}/members/{one['id']}")
    problem(member.call("GET", path), 404, "not_found")
    with Api(admin.url) as nobody, Api(admin.url, "ingot_wrong") as wrong:
        read_twice(admin, path)
        problem(nobody.call("GET", path), 401, "unauthorized")
        problem(wrong.call("GET", path), 401, "unauthorized")


def from_memory(admin: Api) -> int:
    with Api(admin.url, admin.token) as api:
        for line in api.http.get(f"{admin.url}/metrics").text.splitlines():
            if line.startswith('ingot_answers_total{from="memory"}'):
                return int(float(line.split()[1]))
    raise AssertionError("the figure is missing")


def test_answers_outlive_commits_to_other_tables(admin, make_db, project, make_set):
    if make_db():
        pytest.skip("nothing is kept with PostgreSQL, which may have other writers")
    made = make_set("kept")
    path = f"label-sets/{made['id']}"
    read_twice(admin, path)
    for i in range(5):
        admin.post("algorithm-sets", {"project": project["id"], "name": f"other {i}"})
        before = from_memory(admin)
        assert admin.get(path) == made
        assert from_memory(admin) == before + 1


def changed(api: Api, path: str, body: dict) -> dict:
    return api.patch(path, body, api.get(path)["revision"])


def test_answers_end_with_whatever_they_were_made_from(admin, project, make_set, make_user):
    """Names of references, lists, the rights of the caller and what is public: none of it is kept too long."""
    member = make_user(project)
    mine = member.post("label-sets", {"project": project["id"], "name": "by member", "labels": []})
    path, here = f"label-sets/{mine['id']}", {"project": project["id"]}
    for api in (admin, member):
        read_twice(api, path)
        read_twice(api, "label-sets", **here)
    changed(admin, f"users/{member.user['id']}", {"name": member.user["name"] + " renamed"})
    for api in (admin, member):
        assert api.get(path)["created_by"]["name"] == member.user["name"] + " renamed"
        assert api.get("label-sets", **here)["items"][0]["created_by"]["name"] == member.user["name"] + " renamed"
        read_twice(api, "label-sets", **here)
    second = make_set("second")
    for api in (admin, member):
        assert {s["id"] for s in read_twice(api, "label-sets", **here)["items"]} == {mine["id"], second["id"]}
    admin.delete(f"label-sets/{second['id']}")
    assert [s["id"] for s in read_twice(member, "label-sets", **here)["items"]] == [mine["id"]]

    # The role of the caller, then what the role allows, then whether they are a member at all.
    blind = admin.post("roles", {"name": project["name"] + " blind", "permissions": ["label_set.read"]})
    membership = next(m for m in admin.all(f"projects/{project['id']}/members")
                      if m["user"]["id"] == member.user["id"])
    members = f"projects/{project['id']}/members/{membership['id']}"
    changed(admin, members, {"role": blind["id"]})
    read_twice(member, path)
    changed(admin, f"roles/{blind['id']}", {"permissions": ["dataset.read"]})
    problem(member.call("GET", path), 403, "forbidden")
    changed(admin, f"roles/{blind['id']}", {"permissions": ["label_set.read"]})
    read_twice(member, path)
    admin.delete(members)
    problem(member.call("GET", path), 404, "not_found")


def test_status_fields_and_quotas_show_at_once(admin, project, version):
    """A status field changes without a revision; a quota is of the project."""
    path = f"projects/{project['id']}"
    assert read_twice(admin, version)["samples"] == 0
    read_twice(admin, path)
    bring(admin, project, version, "a.zip", zipped({"a.png": png(4, 4), "b.png": png(5, 5)}))
    assert read_twice(admin, version)["samples"] == 2
    assert changed(admin, path, {"quota": {"storage": 12345678}})["quota"]["storage"] == 12345678
    assert read_twice(admin, path)["quota"]["storage"] == 12345678


def test_a_read_after_an_acknowledged_write_is_never_older(admin, make_set):
    made = make_set()
    path = f"label-sets/{made['id']}"
    revisions, failures, ending = [1], [], threading.Event()

    def read() -> None:
        with Api(admin.url, admin.token) as api:
            while not ending.is_set():
                least = revisions[-1]
                seen = api.get(path)["revision"]
                if seen < least:
                    failures.append((seen, least))
    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for revision in range(1, 60):
        revisions.append(admin.patch(path, {"description": f"change {revision}"}, revision)["revision"])
    ending.set()
    for reader in readers:
        reader.join(DEADLINE)
        assert not reader.is_alive()
    assert not failures and revisions[-1] == 60
