"""TensorBoard of an instance: the real one, started on demand, through the tools' own origin."""

import struct

import crc32c
import httpx
import pytest
from harness import Api, Server, unique, wait_for
from test_environments import TOOLS
from test_files import put
from test_training import instance_path, reached, settled, start


@pytest.fixture(scope="session")
def server(make_db):
    """The worker's server, which knows the tools."""
    server = Server(make_db(), args=("--tools", TOOLS)).start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def admin(server) -> Api:
    return server.admin()


def field(number: int, kind: int, data: bytes) -> bytes:
    return bytes([number << 3 | kind]) + (bytes([len(data)]) if kind == 2 else b"") + data


def event_file(values: list[float]) -> bytes:
    """Events as summary writers make them: a scalar "loss" per step."""
    def record(event: bytes) -> bytes:
        def masked(data: bytes) -> bytes:
            crc = crc32c.crc32c(data)
            return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)
        length = struct.pack("<Q", len(event))
        return length + masked(length) + event + masked(event)
    out = record(field(1, 1, struct.pack("<d", 1.0)) + field(3, 2, b"brain.Event:2"))
    for step, value in enumerate(values):
        scalar = field(1, 2, field(1, 2, b"loss") + field(2, 5, struct.pack("<f", value)))
        out += record(field(1, 1, struct.pack("<d", 2.0 + step)) + field(2, 0, bytes([step])) + field(5, 2, scalar))
    return out


@pytest.fixture(scope="module")
def instance(admin) -> dict:
    project = admin.post("projects", {"name": unique("board")})
    spec = admin.post("specs", {"name": unique("board"), "cpus": 0.3, "memory": 1 << 30})
    code = admin.post("algorithm-sets", {"name": unique("code"), "project": project["id"]})
    version = admin.post(f"algorithm-sets/{code['id']}/versions", {})
    put(admin, f"algorithm-sets/{code['id']}/versions/{version['id']}", "events", event_file([0.5, 0.25]))
    training = admin.post("trainings", {"project": project["id"], "name": "t", "spec": spec["id"], "algorithm": version["id"],
                                        "command": "cp events /workspace/logs/events.out.tfevents.1.host"})
    made = start(admin, training)
    assert reached(admin, made)["state"] == "completed"
    return settled(admin, made)


def opened(api, instance: dict) -> dict:
    def ready():
        answer = api.post(instance_path(instance) + "/tensorboard", expect=200)
        assert answer["state"] in ("starting", "ready"), answer
        return answer["state"] == "ready" and answer
    return wait_for(ready, "TensorBoard to answer")


def test_it_shows_what_the_run_logged(admin, instance):
    first = opened(admin, instance)
    job = admin.get(instance_path(instance))["tensorboard"]["id"]
    with httpx.Client(timeout=120, trust_env=False) as browser:
        answer = browser.get(first["url"])
        assert answer.status_code == 303, answer.text
        page = str(answer.url.join(answer.headers["location"]))
        assert "TensorBoard" in browser.get(page).text
        tags = wait_for(lambda: browser.get(page + "data/plugin/scalars/tags").json(), "the events to be read")
        assert "loss" in next(iter(tags.values()))
        points = browser.get(page + "data/plugin/scalars/scalars", params={"run": next(iter(tags)), "tag": "loss"}).json()
        assert [(step, value) for _, step, value in points] == [(0, 0.5), (1, 0.25)]
    with httpx.Client(timeout=120, trust_env=False) as other:
        assert other.get(page).status_code in (401, 403)
        assert other.get(first["url"]).status_code in (401, 403)
    opened(admin, instance)
    assert admin.get(instance_path(instance))["tensorboard"]["id"] == job
    admin.post(f"jobs/{job}/stop", expect=200)
    wait_for(lambda: admin.get(f"jobs/{job}")["state"] == "stopped", "its end")
    opened(admin, instance)
    again = admin.get(instance_path(instance))["tensorboard"]["id"]
    assert again != job
    admin.delete(instance_path(instance))
    wait_for(lambda: admin.call("GET", f"jobs/{again}").status_code == 404 or admin.get(f"jobs/{again}")["state"] == "stopped", "its end with the run")


def test_it_takes_less_than_any_spec_and_says_why_it_waits(fresh_server):
    api = fresh_server(args=("--tools", TOOLS)).admin()
    node = wait_for(lambda: api.get("nodes")["items"], "a node")[0]
    project = api.post("projects", {"name": "p"})
    small = api.post("specs", {"name": unique("small"), "cpus": 0.1, "memory": 64 << 20})
    made = start(api, api.post("trainings", {"project": project["id"], "name": "t", "spec": small["id"], "command": "true"}))
    settled(api, made)
    api.call("POST", f"nodes/{node['id']}/drain")
    answer = api.post(instance_path(made) + "/tensorboard", expect=200)
    job = api.get(f"jobs/{api.get(instance_path(made))['tensorboard']['id']}")
    assert answer["state"] == "starting"
    told = wait_for(lambda: (a := api.post(instance_path(made) + "/tensorboard", expect=200))["reason"] and a, "why it waits")
    assert told["state"] == "starting" and told["reason_zh"] and told["reason"] == api.get(f"jobs/{job['id']}")["reason"]
    api.call("POST", f"nodes/{node['id']}/undrain")
    running = wait_for(lambda: (j := api.get(f"jobs/{job['id']}"))["state"] in ("running", "failed") and j, "its start")
    assert [(p["cpus"], p["memory"]) for p in running["placement"]] == [(0.25, 512 << 20)], running


def test_it_is_missing_where_it_is_not_installed(fresh_server):
    server = fresh_server(args=("--tools", "/nonexistent"))
    api = server.admin()
    project, spec = api.post("projects", {"name": "p"}), api.post("specs", {"name": "s", "cpus": 0.1, "memory": 64 << 20})
    made = start(api, api.post("trainings", {"project": project["id"], "name": "t", "spec": spec["id"], "command": "true"}))
    answer = api.post(instance_path(made) + "/tensorboard", expect=200)
    assert (answer["state"], answer["url"]) == ("missing", None) and "ingot fetch tensorboard" in answer["reason"]
    stranger = Api(server.url)
    assert stranger.call("POST", instance_path(made) + "/tensorboard").status_code == 401
    settled(api, made)
