"""Server-Sent Events of changes."""

import json
import queue
import threading

import h2.events
import httpx
import pytest
from h2c import H2
from harness import DEADLINE, unique


class Listener:
    """Reads /api/v1/events on a thread."""

    def __init__(self, api, **params) -> None:
        self.changes: queue.Queue = queue.Queue()
        self.open = threading.Event()
        self.ended = threading.Event()
        self.api, self.params = api, params
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        assert self.open.wait(DEADLINE)

    def _run(self) -> None:
        headers = {"Authorization": f"Bearer {self.api.token}"}
        try:
            with httpx.stream("GET", f"{self.api.url}/api/v1/events", params=self.params, headers=headers,
                              timeout=DEADLINE, trust_env=False) as answer:
                assert answer.headers["content-type"] == "text/event-stream"
                for line in answer.iter_lines():
                    self.open.set()
                    if line.startswith("data: "):
                        self.changes.put(json.loads(line[6:]))
        except httpx.TransportError:
            pass
        self.ended.set()

    def next(self) -> dict:
        return self.changes.get(timeout=DEADLINE)


@pytest.fixture
def listen():
    return Listener


def test_changes_arrive_in_order(admin, project, listen):
    events = listen(admin, project=project["id"])
    made = admin.post("label-sets", {"project": project["id"], "name": "x"})
    admin.patch(f"label-sets/{made['id']}", {"name": "y"}, 1)
    admin.delete(f"label-sets/{made['id']}")
    about = {"kind": "label_set", "id": made["id"], "project": project["id"], "parent": 0}
    got = []
    while len(got) < 3:
        one = events.next()
        if one["kind"] == "label_set" and one["project"] == project["id"]:
            got.append(one)
    assert got == [{**about, "verb": verb} for verb in ("create", "update", "delete")]


def test_only_of_projects_one_may_read(admin, project, make_user, listen):
    member = make_user(project)
    other = admin.post("projects", {"name": unique("other")})
    events = listen(member)
    admin.post("label-sets", {"project": other["id"], "name": "hidden"})
    last = admin.post("label-sets", {"project": project["id"], "name": "seen"})
    seen = []
    while not seen or seen[-1] != ("label_set", last["id"]):
        one = events.next()
        assert one["project"] != other["id"], one
        seen.append((one["kind"], one["id"]))


def test_a_member_who_leaves_hears_no_more(admin, project, make_user, listen):
    member = make_user(project)
    events = listen(member)
    # The deletion of the user ends the stream.
    for one in admin.all(f"projects/{project['id']}/members"):
        if one["user"]["id"] == member.user["id"]:
            admin.delete(f"projects/{project['id']}/members/{one['id']}")
    admin.delete(f"users/{member.user['id']}")
    assert events.ended.wait(DEADLINE)


def test_the_server_ends_while_clients_listen(fresh_server, listen):
    server = fresh_server()
    events = [listen(server.admin()) for _ in range(3)]
    server.stop()
    for one in events:
        assert one.ended.wait(DEADLINE)


def test_a_slow_client_gets_the_newest_of_each_object(server, admin, project):
    """Its window is closed while one object changes more often than what may be on its way, and another one at the end."""
    changes = 200
    wire = H2(server.url)
    stream = wire.get(f"/api/v1/events?project={project['id']}", admin.token)
    wire.receive(h2.events.ResponseReceived)
    one, other = (admin.post("label-sets", {"project": project["id"], "name": unique("set")}) for _ in "ab")
    for i in range(changes):
        admin.patch(f"label-sets/{one['id']}", {"name": unique("set")}, i + 1)
        wire.window(stream, 1)  # it is slow, not gone
    admin.delete(f"label-sets/{other['id']}")
    wire.window(stream, 1 << 20)
    text = ""
    while f'"verb":"delete","id":{other["id"]}' not in text:
        text += "".join(e.data.decode() for e in wire.receive(h2.events.DataReceived))
    assert 0 < text.count(f'"id":{one["id"]},') < changes
    wire.close()
