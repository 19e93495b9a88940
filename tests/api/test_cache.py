"""Reads that are answered from memory never show what is no longer so, and never to whom it is not shown."""

import threading

from harness import DEADLINE, Api, problem


def read_twice(api: Api, path: str) -> dict:
    first = api.get(path)
    assert api.get(path) == first
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
