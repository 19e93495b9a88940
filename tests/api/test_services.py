"""Services (S1, S2, S4): replicas that answer, roll-outs, switches, crash loops, a server that is killed meanwhile; keys and
environment values that nobody reads; who may do what."""

import json
import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cli import Cli
from harness import Api, binary, problem, unique, wait_for
from test_files import put
from test_images import image, running, saved  # noqa: F401
from test_jobs import run  # noqa: F401

SERVE = "exec python3 -u -m http.server $PORT --bind 127.0.0.1"


@pytest.fixture(scope="session")
def spec(admin) -> dict:
    return admin.post("specs", {"name": unique("serve"), "cpus": 0.1, "memory": 1 << 27})


@pytest.fixture
def make(admin, project):
    """Makes services; deletes them afterwards."""
    made = []

    def service(api=admin, **fields) -> dict:
        made.append(api.post("services", {"project": project["id"], "name": unique("s"), "drain_s": 0, **fields}))
        return made[-1]
    yield service
    for s in made:
        admin.call("DELETE", f"services/{s['id']}", headers={"If-Match": "*"})
    for s in made:
        gone(admin, s)


def gone(api, s: dict) -> None:
    """No job of the service is left."""
    def none():
        return not [j for j in api.all("jobs", project=s["project"]["id"], limit=200)
                    if j["owner_kind"] == "service_version" and j["name"].startswith(s["name"] + " ")]
    wait_for(none, f"the jobs of {s['name']} to go")


def version(api, s: dict, spec: dict, **fields) -> dict:
    return api.post(f"services/{s['id']}/versions", {"spec": spec["id"], "command": SERVE, **fields})


def is_(api, s: dict, v: dict, *states) -> dict:
    path = f"services/{s['id']}/versions/{v['id']}"
    return wait_for(lambda: (x := api.get(path))["state"] in states and x, f"{v['name']} to be one of {states}")


def told(api, s: dict, *states) -> dict:
    return wait_for(lambda: (x := api.get(f"services/{s['id']}"))["state"] in states and x, f"the service to be one of {states}")


def replicas(api, s: dict, *states) -> list[dict]:
    return [r for r in api.get(f"services/{s['id']}/replicas")["items"] if not states or r["state"] in states]


def events(api, s: dict) -> list[str]:
    return [e["event"] for e in api.get(f"services/{s['id']}/events")["items"]][::-1]


def patched(api, path: str, **fields) -> dict:
    return api.patch(path, fields, api.get(path)["revision"])


# --- replicas ---

def test_a_service_serves_scales_rolls_and_switches(admin, project, spec, make):
    s = make()
    assert (s["state"], s["production"], s["canary"]) == ("stopped", None, None)
    assert s["address"].startswith("http") and s["address"].endswith(f"/{project['name']}/{s['name']}")
    told(admin, s, "stopped")
    one = version(admin, s, spec, env={"COLOUR": "blue"})
    assert (one["name"], one["role"], one["generation"], one["env_names"]) == ("v1", "production", 1, ["COLOUR"])
    is_(admin, s, one, "serving")
    now = told(admin, s, "serving")
    assert (now["production"], now["canary"]) == ("1/1", None)
    first = replicas(admin, s, "ready")[0]
    assert (first["version_name"], first["role"], first["generation"]) == ("v1", "production", 1)

    path = f"services/{s['id']}/versions/{one['id']}"
    assert admin.post(f"{path}/scale", {"replicas": 2}, expect=200)["replicas"] == 2
    assert admin.get(f"services/{s['id']}")["production"].startswith("2/")
    wait_for(lambda: admin.get(f"services/{s['id']}")["production"] == "2/2", "two replicas")

    # Another environment: each is replaced, and never fewer than two answer.
    seen = []
    changed = patched(admin, path, env={"COLOUR": "red", "SHAPE": "round"})
    assert (changed["generation"], changed["env_names"]) == (2, ["COLOUR", "SHAPE"])

    def rolled():
        seen.append(len(replicas(admin, s, "ready")))
        return all(r["generation"] == 2 for r in replicas(admin, s, "ready")) and admin.get(path)["state"] == "serving"
    wait_for(rolled, "the roll-out")
    assert min(seen) >= 2, seen
    assert first["job"] not in [r["job"] for r in replicas(admin, s, "ready")]

    # A canary, and the switch.
    problem(admin.call("POST", f"services/{s['id']}/switch"), 409, "conflict", says="canary")
    two = version(admin, s, spec, command="mkdir -p a; cd a; " + SERVE)
    assert two["role"] == "canary"
    is_(admin, s, two, "serving")
    before = {r["version"]: r["job"] for r in replicas(admin, s, "ready")}
    answer = admin.post(f"services/{s['id']}/switch", expect=200)
    assert answer["production"].startswith("2/") and answer["canary"] == "2/2"
    now = {v["id"]: v for v in admin.get(f"services/{s['id']}/versions")["items"]}
    assert (now[one["id"]]["role"], now[two["id"]]["role"], now[two["id"]]["replicas"]) == ("canary", "production", 2)
    after = {r["job"]: r["role"] for r in replicas(admin, s, "ready")}
    assert after[before[two["id"]]] == "production" and after[before[one["id"]]] == "canary"
    wait_for(lambda: admin.get(f"services/{s['id']}")["production"] == "2/2", "the new production to have two")

    # The canary goes; production cannot be deleted while it answers.
    patched(admin, path, role="retired")
    is_(admin, s, one, "stopped")
    assert admin.get(f"services/{s['id']}")["canary"] is None
    problem(admin.call("DELETE", f"services/{s['id']}/versions/{two['id']}", headers={"If-Match": "*"}), 409, "conflict", "role")
    admin.delete(path, headers={"If-Match": "*"})
    happened = events(admin, s)
    assert happened.index("replica-starts") < happened.index("replica-ready") < happened.index("scaled") < happened.index("changed")
    assert {"switched", "replica-drains", "role-changed", "version-deleted"} <= set(happened)

    # A new production takes over from the old one without a gap.
    ready = []
    three = version(admin, s, spec, role="production", replicas=1)

    def over():
        ready.append(len(replicas(admin, s, "ready")))
        return is_there(admin, s, three) and not [r for r in replicas(admin, s, "ready") if r["version"] != three["id"]]
    wait_for(over, "v3 to take over")
    assert min(ready) >= 1
    assert admin.get(f"services/{s['id']}/versions/{two['id']}")["role"] == "retired"


def is_there(api, s: dict, v: dict) -> bool:
    return api.get(f"services/{s['id']}/versions/{v['id']}")["state"] == "serving"


def test_stop_start_logs_and_rename(admin, spec, make):
    s = make()
    v = version(admin, s, spec, command="echo hello; " + SERVE)
    is_(admin, s, v, "serving")
    text = wait_for(lambda: (x := admin.get(f"services/{s['id']}/log"))["lines"] and x, "a line of the log")
    assert ("hello", "v1") in [(line["text"], line["version"]) for line in text["lines"]]
    more = admin.get(f"services/{s['id']}/log", after=text["next"])
    assert "hello" not in [line["text"] for line in more["lines"]]
    problem(admin.call("POST", f"services/{s['id']}/start"), 409, "conflict", "state")
    assert admin.post(f"services/{s['id']}/stop", expect=200)["production"].startswith("0/")
    assert told(admin, s, "stopped")["reason"] == "it was stopped"
    assert admin.get(f"services/{s['id']}/versions/{v['id']}")["replicas"] == 1
    admin.post(f"services/{s['id']}/start", expect=200)
    told(admin, s, "serving")
    path = f"services/{s['id']}/versions/{v['id']}"
    admin.post(f"{path}/stop", expect=200)
    is_(admin, s, v, "stopped")
    admin.post(f"{path}/start", expect=200)
    is_(admin, s, v, "serving")
    renamed = patched(admin, f"services/{s['id']}", name=unique("other"), share=255)
    assert renamed["share"] == 255 and "former_names" not in renamed
    assert "share-changed" in events(admin, s)
    assert renamed["address"].endswith(renamed["name"])
    odd = patched(admin, f"services/{s['id']}", name="Früchte 2")
    assert odd["address"].endswith(f"/id.{s['id']}")


def test_a_crash_loop_is_told_and_backs_off(admin, spec, make):
    s = make()
    v = version(admin, s, spec, command="echo oops; exit 3")
    failed = is_(admin, s, v, "failed")
    assert "exit code 3" in failed["reason"] and "退出码 3" in failed["reason_zh"]
    service = told(admin, s, "failed")
    assert "exit code 3" in service["reason"] and service["production"] == "1/0"
    log = admin.get(f"services/{s['id']}/events")["items"]
    waits = [e["reason"] for e in log if e["event"] == "replica-failed"][::-1]
    assert [w.rsplit("in ", 1)[1] for w in waits[:3]] == ["1 s", "2 s", "4 s"]
    # What runs stays while its successor fails.
    fixed = patched(admin, f"services/{s['id']}/versions/{v['id']}", command=SERVE)
    assert fixed["generation"] == 2
    is_(admin, s, v, "serving")
    bad = version(admin, s, spec, command="exit 4", role="production")
    is_(admin, s, bad, "failed")
    assert len(replicas(admin, s, "ready")) == 1 and admin.get(f"services/{s['id']}")["state"] in ("serving", "degraded")
    patched(admin, f"services/{s['id']}/versions/{v['id']}", role="production")
    told(admin, s, "serving")
    # One that is ended by somebody is replaced.
    job = replicas(admin, s, "ready")[0]["job"]
    admin.post(f"jobs/{job}/stop", expect=200)
    wait_for(lambda: [r for r in replicas(admin, s, "ready") if r["job"] != job], "another replica")


def test_one_that_stops_answering_gets_no_requests(admin, spec, make):
    s = make()
    program = ("python3 -u -c \"import http.server as h, os\n"
               "class H(h.BaseHTTPRequestHandler):\n"
               "    asked = 0\n"
               "    def do_GET(self):\n"
               "        H.asked += 1\n"
               "        self.send_response(200 if H.asked == 1 else 500); self.end_headers()\n"
               "h.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), H).serve_forever()\"")
    v = version(admin, s, spec, command=program, health_path="/health")
    is_(admin, s, v, "serving")
    wait_for(lambda: replicas(admin, s, "sick"), "the replica to be sick")
    assert told(admin, s, "starting", "degraded", "failed")["production"] == "1/0"
    sick = [e for e in admin.get(f"services/{s['id']}/events")["items"] if e["event"] == "replica-sick"]
    assert "500" in sick[0]["reason"] and "500" in sick[0]["reason_zh"]


def test_it_waits_for_its_place_and_says_why(admin, make):
    huge = admin.post("specs", {"name": unique("huge"), "cpus": 4000, "memory": 1 << 27})
    s = make()
    v = version(admin, s, huge)
    pending = wait_for(lambda: (x := admin.get(f"services/{s['id']}/versions/{v['id']}"))["state"] == "pending" and x["reason"] and x, "a reason")
    assert pending["reason_zh"] and told(admin, s, "starting")["reason"].startswith("v1 (production): ")


# --- the server is killed ---

def test_a_rollout_goes_on_when_the_server_is_killed(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": unique("p")})
    spec = admin.post("specs", {"name": unique("small"), "cpus": 0.1, "memory": 1 << 27})
    s = admin.post("services", {"project": project["id"], "name": "s", "drain_s": 0})
    v = version(admin, s, spec, replicas=2)
    is_(admin, s, v, "serving")
    old = {r["job"] for r in replicas(admin, s, "ready")}
    patched(admin, f"services/{s['id']}/versions/{v['id']}", env={"A": "1"})
    for moment in ("starting", "draining", "ready"):
        wait_for(lambda moment=moment: [r for r in replicas(admin, s, moment) if moment != "ready" or r["generation"] == 2]
                 or admin.get(f"services/{s['id']}/versions/{v['id']}")["state"] == "serving", moment)
        server.kill()
        server.start()
        admin = server.admin()
    is_(admin, s, v, "serving")
    now = wait_for(lambda: len(r := replicas(admin, s, "ready")) == 2 and {x["generation"] for x in r} == {2} and r, "two of generation 2")
    assert not old & {r["job"] for r in now}
    # None runs beside them, and they are the same after another kill.
    wait_for(lambda: len([j for j in admin.all("jobs", project=project["id"]) if j["state"] == "running"]) == 2, "two jobs")
    server.kill()
    server.start()
    admin = server.admin()
    assert {r["job"] for r in replicas(admin, s, "ready")} == {r["job"] for r in now}
    admin.delete(f"services/{s['id']}", headers={"If-Match": "*"})
    gone(admin, s)


def test_a_restored_service_starts_again(fresh_server, tmp_path, request):
    """In another data folder, of the other engine: its values were sealed with a key that is not there."""
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": unique("p")})
    spec = admin.post("specs", {"name": unique("small"), "cpus": 0.1, "memory": 1 << 27})
    secret = unique("sesame-")
    plain, sealed = (admin.post("services/deploy", {"project": project["id"], "name": name, "command": SERVE, "spec": spec["id"]}) for name in ("a", "b"))
    patched(admin, f"services/{sealed['service']['id']}/versions/{sealed['version']['id']}", env={"A": secret})
    for made in (plain, sealed):
        is_(admin, made["service"], made["version"], "serving")
    file = tmp_path / "backup.tar.zst"
    file.write_bytes(admin.http.get("backup").content)
    unpacked = subprocess.run(["zstd", "-dc", str(file)], capture_output=True, check=True).stdout
    assert b"service_versions" in unpacked and secret.encode() not in unpacked
    for made in (plain, sealed):
        admin.delete(f"services/{made['service']['id']}", headers={"If-Match": "*"})
        gone(admin, made["service"])
    server.stop()
    db = None if server.db else request.getfixturevalue("postgres").database()
    data = tmp_path / "data"
    Cli(tmp_path).run("restore", str(file), "--data", str(data), *(["--db", db] if db else []))
    admin = fresh_server(data=str(data), db=db).admin()
    is_(admin, plain["service"], plain["version"], "serving")
    assert "another key" in is_(admin, sealed["service"], sealed["version"], "failed")["reason"]
    path = f"services/{sealed['service']['id']}/versions/{sealed['version']['id']}"
    patched(admin, path, env={"A": "again"})
    is_(admin, sealed["service"], sealed["version"], "serving")
    for made in (plain, sealed):
        admin.delete(f"services/{made['service']['id']}", headers={"If-Match": "*"})
        gone(admin, made["service"])


# --- what is given ---

def test_what_a_version_needs(admin, project, spec, make):
    s = make()
    path = f"services/{s['id']}/versions"
    body = {"spec": spec["id"], "command": SERVE}
    problem(admin.call("POST", path, json={"spec": spec["id"]}), 422, "invalid", "model_version")
    models = admin.post("model-sets", {"project": project["id"], "name": unique("m")})
    empty = admin.post(f"model-sets/{models['id']}/versions", {})
    problem(admin.call("POST", path, json={"spec": spec["id"], "model_version": empty["id"]}), 422, "invalid", "model_version", "no files")
    problem(admin.call("POST", path, json={**body, "model_version": empty["id"]}), 422, "invalid", "command")
    for field, value in (("port", 0), ("port", 65536), ("health_path", "x"), ("health_path", "/a b"), ("replicas", 65), ("replicas", -1),
                         ("env", {"1A": "x"}), ("env", {"A": "x\ny"}), ("env", {"A": "x" * 1001}), ("env", ["A"]), ("role", "other"),
                         ("image_version", 10**9), ("spec", 10**9), ("generation", 5), ("state", "serving")):
        problem(admin.call("POST", path, json={**body, field: value}), 422, "invalid", field)
    assert admin.get(path)["items"] == []
    for field, value in (("share", 1001), ("share", -1), ("rules", {"x": 1}), ("rules", ["stop"]),
                         ("rules.error_rate", 2), ("rules.error_rate", None), ("rules.action", "dance"), ("rules.p95_ratio", "fast"), ("origins", ["example"]), ("origins", ["https://a/b"]), ("host", "a b"),
                         ("host", ".x"), ("resend", "maybe"), ("body_limit", 0), ("time_limit_s", 0), ("stopped", True), ("name", "a/b")):
        outer, _, member = field.partition(".")
        given = {outer: {member: value} if member else value}
        problem(admin.call("POST", "services", json={"project": project["id"], "name": unique("x"), **given}), 422, "invalid", field)
    good = make(rules={"error_rate": 0.02, "p95_ratio": 1.5, "min_requests": 50, "action": "rollback"}, origins=["https://a.example:8443", "*"],
                host=(host := f"{unique('h')}.example"))
    assert good["rules"]["action"] == "rollback"
    problem(admin.call("POST", "services", json={"project": project["id"], "name": unique("x"), "host": host}), 409, "exists", "host")


def test_environment_values_are_never_seen(server, admin, project, spec, make):
    secret, other = unique("sesame-"), unique("second-")
    s = make()
    v = version(admin, s, spec, env={"TOKEN": secret, "MODE": "x"}, command="echo \"it is ${#TOKEN} long\"; " + SERVE)
    is_(admin, s, v, "serving")
    path = f"services/{s['id']}/versions/{v['id']}"
    text = wait_for(lambda: [x["text"] for x in admin.get(f"services/{s['id']}/log")["lines"] if "long" in x["text"]], "the log")
    assert text == [f"it is {len(secret)} long"]
    # One is changed, one goes, the other stays as it is.
    changed = patched(admin, path, env={"MODE": None, "MORE": other})
    assert changed["env_names"] == ["TOKEN", "MORE"] and changed["generation"] == 2
    assert "env" not in changed
    is_(admin, s, v, "serving")
    everything = admin.http.get("audit", params={"limit": 200}).text + admin.http.get(path).text + admin.http.get(f"services/{s['id']}/events").text
    everything += "".join(admin.http.get(f"jobs/{r['job']}").text for r in replicas(admin, s))
    assert secret not in everything and other not in everything
    for folder in ("jobs", "log"):
        found = subprocess.run(["grep", "-rlF", "-e", secret, "-e", other, str(Path(server.data) / folder)], capture_output=True, text=True)
        assert found.stdout == ""
    if (file := Path(server.data) / "ingot.db").exists():
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
            assert secret not in "\n".join(db.iterdump())


def test_keys_are_shown_once(admin, spec, make):
    s = make()
    path = f"services/{s['id']}/keys"
    key = admin.post(path, {"name": "app", "rate": 5, "burst": 10, "concurrency": 2, "expires_at": "2100-01-01T00:00:00Z"})
    assert key["secret"].startswith("ik_") and key["secret"].startswith(key["prefix"]) and len(key["secret"]) > 30
    again = admin.get(f"{path}/{key['id']}")
    assert "secret" not in again and "hash" not in again and again["rate"] == 5
    assert key["secret"] not in admin.http.get("audit", params={"limit": 100}).text
    problem(admin.call("POST", path, json={"name": "old", "expires_at": "2001-01-01T00:00:00Z"}), 422, "invalid", "expires_at")
    problem(admin.call("POST", path, json={"name": "app"}), 409, "exists", "name")
    assert patched(admin, f"{path}/{key['id']}", rate=7)["rate"] == 7
    admin.delete(f"{path}/{key['id']}", headers={"If-Match": "*"})


def test_deploy_makes_all_of_it_at_once(admin, project, spec, make_user):
    body = {"project": project["id"], "name": unique("d"), "command": SERVE, "spec": spec["id"]}
    made = admin.post("services/deploy", body)
    assert made["key"]["secret"].startswith("ik_") and made["version"]["role"] == "production"
    s = made["service"]
    is_(admin, s, made["version"], "serving")
    more = admin.post("services/deploy", {**body, "role": "canary"})
    assert more["key"] is None and more["version"]["name"] == "v2" and more["service"]["id"] == s["id"]
    # All or nothing.
    name = unique("d")
    problem(admin.call("POST", "services/deploy", json={"project": project["id"], "name": name}), 422, "invalid", "model_version")
    problem(admin.call("POST", "services/deploy", json={"name": name}), 422, "invalid", "project")
    assert not [x for x in admin.all("services", project=project["id"], limit=200) if x["name"] == name]
    viewer, stranger = make_user(project, "viewer"), make_user(admin.post("projects", {"name": unique("other")}), "owner")
    assert problem(viewer.call("POST", "services/deploy", json=body), 403, "forbidden")["permission"] == "service.create"
    problem(stranger.call("POST", "services/deploy", json=body), 404, "not_found")
    assert [p["name"] for p in admin.get("permissions")["items"] if p["name"] == "service.invoke"]
    admin.delete(f"services/{s['id']}", headers={"If-Match": "*"})
    gone(admin, s)


def test_what_is_served_is_not_deleted(admin, project, spec, make):
    models = admin.post("model-sets", {"project": project["id"], "name": unique("m")})
    model = admin.post(f"model-sets/{models['id']}/versions", {})
    put(admin, f"model-sets/{models['id']}/versions/{model['id']}", "model.onnx", b"not a model")
    s = make()
    v = admin.post(f"services/{s['id']}/versions", {"spec": spec["id"], "model_version": model["id"], "replicas": 0})
    body = problem(admin.call("DELETE", f"model-sets/{models['id']}/versions/{model['id']}", headers={"If-Match": "*"}), 409, "conflict", says="in use")
    assert body["references"] == [{"kind": "service_version", "count": 1, "examples": [{"id": v["id"], "name": f"{s['name']}/{v['name']}"}]}]
    problem(admin.call("DELETE", f"specs/{spec['id']}", headers={"If-Match": "*"}), 409, "conflict")
    admin.delete(f"services/{s['id']}/versions/{v['id']}", headers={"If-Match": "*"})
    admin.delete(f"model-sets/{models['id']}/versions/{model['id']}", headers={"If-Match": "*"})


def field(number: int, value: bytes | int | str) -> bytes:
    """One field of a protobuf message; numbers are below 128."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value


def identity() -> bytes:
    """An ONNX model whose output y is its input x: two floats."""
    def two_floats(name: str) -> bytes:
        shape = field(1, field(1, 1)) + field(1, field(1, 2))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))
    graph = field(1, field(1, "x") + field(2, "y") + field(4, "Identity")) + field(2, "g") + field(11, two_floats("x")) + field(12, two_floats("y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


def test_image_versions_are_served(admin, project, spec, make, image, run):  # noqa: F811
    """A page and a Python program, each in an image of its own; the image stays while a version needs it."""
    page = running(admin, run, "mkdir /srv/page; echo '<h1>still</h1>' > /srv/page/index.html")
    program = running(admin, run, "printf 'import http.server as h, os\\nclass H(h.BaseHTTPRequestHandler):\\n    def do_GET(self):\\n"
                                  "        b = b\"moving\"; self.send_response(200 if self.path == \"/well\" else 201)\\n"
                                  "        self.send_header(\"Content-Length\", str(len(b))); self.end_headers(); self.wfile.write(b)\\n"
                                  "h.HTTPServer((\"127.0.0.1\", int(os.environ[\"PORT\"])), H).serve_forever()\\n' > /opt/serve.py")
    still, moving = saved(admin, project, image, page, "still"), saved(admin, project, image, program, "moving")
    for job in (page, program):
        admin.post(f"jobs/{job['id']}/stop", expect=200)
    s = make()
    one = admin.post(f"services/{s['id']}/versions", {"spec": spec["id"], "image_version": still["id"], "port": 8123, "health_path": "/index.html",
                                                      "command": "exec python3 -m http.server $PORT --bind 127.0.0.1 -d /srv/page"})
    is_(admin, s, one, "serving")
    two = admin.post(f"services/{s['id']}/versions", {"spec": spec["id"], "image_version": moving["id"], "health_path": "/well",
                                                      "command": "exec python3 -u /opt/serve.py"})
    is_(admin, s, two, "serving")
    secret = admin.post(f"services/{s['id']}/keys", {"name": "k"})["secret"]

    def ask(side: str):
        return httpx.get(s["address"] + "/index.html", headers={"Authorization": f"Bearer {secret}", "X-Ingot-Version": side}, trust_env=False)
    first, second = ask("production"), ask("canary")
    assert (first.status_code, first.text.strip()) == (200, "<h1>still</h1>"), first.text
    assert "sandbox" in first.headers["content-security-policy"]
    assert (second.status_code, second.text) == (201, "moving")
    problem(admin.call("DELETE", f"images/{image['id']}/versions/{still['id']}", headers={"If-Match": "*"}), 409, "conflict")


@pytest.mark.skipif(not Path(binary()).with_name("ingot-infer").exists(), reason="ingot-infer is not built")
def test_a_model_version_is_served(admin, project, make):
    big = admin.post("specs", {"name": unique("model"), "cpus": 0.5, "memory": 1 << 29})
    models = admin.post("model-sets", {"project": project["id"], "name": unique("m")})
    model = admin.post(f"model-sets/{models['id']}/versions", {})
    put(admin, f"model-sets/{models['id']}/versions/{model['id']}", "model.onnx", identity())
    made = admin.post("services/deploy", {"project": project["id"], "name": unique("d"), "model_version": model["id"], "spec": big["id"]})
    s, v = made["service"], made["version"]
    is_(admin, s, v, "serving", "failed")
    assert is_there(admin, s, v), admin.get(f"services/{s['id']}/events")
    # One that is no model says so.
    broken = admin.post(f"model-sets/{models['id']}/versions", {})
    put(admin, f"model-sets/{models['id']}/versions/{broken['id']}", "model.onnx", b"not a model")
    canary = admin.post(f"services/{s['id']}/versions", {"spec": big["id"], "model_version": broken["id"]})
    assert (canary["role"], is_(admin, s, canary, "failed")["ready"]) == ("canary", 0)
    assert told(admin, s, "degraded")["production"] == "1/1"
    admin.delete(f"services/{s['id']}", headers={"If-Match": "*"})
    gone(admin, s)


@pytest.fixture(scope="module")
def colours(tmp_path_factory) -> dict[str, bytes]:
    """A small classifier with its manifest."""
    place = tmp_path_factory.mktemp("model")
    sys.path.append(str(Path(__file__).parents[1] / "infer"))
    import predict_models
    predict_models.image_class(place)
    return {name: (place / name).read_bytes() for name in ("model.onnx", "ingot-model.json")}


def test_a_service_says_what_its_model_takes(admin, project, spec, make, colours):
    models = admin.post("model-sets", {"project": project["id"], "name": unique("m")})
    model = admin.post(f"model-sets/{models['id']}/versions", {})
    path = f"model-sets/{models['id']}/versions/{model['id']}"
    s = make()
    problem(admin.call("GET", f"services/{s['id']}/model"), 409, "conflict")
    put(admin, path, "model.onnx", identity())
    version(admin, s, spec, command=None, model_version=model["id"], replicas=0)

    def document() -> dict:
        return wait_for(lambda: "/v2" in (x := admin.get(f"services/{s['id']}/openapi.json")["paths"]) and x, "the routes to know the version")

    def takes() -> dict:
        return document()[f"/v2/models/{s['name']}/infer"]["post"]["requestBody"]["content"]
    plain = admin.get(f"services/{s['id']}/model")
    assert (plain["task"], plain["predicts"], plain["takes"], plain["sample"], plain["thresholds"]) == (None, False, None, None, {})
    assert "/predict" not in document()
    [given] = plain["graphs"][0]["inputs"]
    [example] = takes()["application/json"]["example"]["inputs"]
    shape = [d if d >= 0 else 1 if i == 0 else 64 for i, d in enumerate(given["shape"])]
    assert example == {**given, "shape": shape, "data": [0] * math.prod(shape)}

    # With a manifest it has predict, too; a picture's tensor is too long to be written.
    put(admin, path, "model.onnx", colours["model.onnx"])
    put(admin, path, "sample.txt", b"0")
    put(admin, path, "ingot-model.json", json.dumps({**json.loads(colours["ingot-model.json"]), "sample": "sample.txt"}).encode())
    told = admin.get(f"services/{s['id']}/model")
    assert (told["task"], told["predicts"], told["takes"], told["sample"]) == ("image-class", True, "picture", "sample.txt")
    assert (told["model_set"], told["model_version"], told["thresholds"]["iou"]) == (models["id"], model["id"], 0.6)
    assert told["graphs"] == [{"name": s["name"], "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3, 32, 32]}],
                               "outputs": [{"name": "y", "datatype": "FP32", "shape": [1, 5]}]}]
    assert set(document()["/predict"]["post"]["requestBody"]["content"]) == {"image/*", "multipart/form-data"}
    assert "example" not in takes()["application/json"] and takes()["application/octet-stream"]["schema"]["minLength"] == 4 * 3 * 32 * 32


def test_figures(admin, spec, make):
    s = make()
    v = version(admin, s, spec)
    is_(admin, s, v, "serving")
    told(admin, s, "serving")
    text = Api(admin.url, admin.token).http.get(admin.url + "/metrics").text
    assert 'ingot_services{state="serving"}' in text
    assert 'ingot_service_replicas{state="ready"}' in text and 'ingot_service_replicas{state="wanted"}' in text


# --- the command line and the SDK ---

ECHO = ("python3 -u -c \"import http.server as h, os, json\n"
        "class H(h.BaseHTTPRequestHandler):\n"
        "    def answer(self, body):\n"
        "        self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)\n"
        "    def do_GET(self):\n"
        "        self.answer(b'well')\n"
        "    def do_POST(self):\n"
        "        n = len(self.rfile.read(int(self.headers['Content-Length'])))\n"
        "        self.answer(json.dumps({'annotation': {'labels': [{'label': os.environ.get('NAME', 'none'), 'score': n}]}, 'path': self.path}).encode())\n"
        "h.ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), H).serve_forever()\"")


def test_command_line_and_sdk(server, admin, project, spec, tmp_path):
    import ingot

    program = Cli(tmp_path)

    def cli(*words: str) -> str:
        return program.run(*words, INGOT_URL=server.url, INGOT_TOKEN=admin.token).out
    name = unique("c")
    out = cli("deploy", "--name", name, "--project", project["name"], "--spec", spec["name"], "--command", ECHO)
    assert f"{name} v1 (production) at http" in out and "key, shown only now: ik_" in out
    (tmp_path / "a.jpg").write_bytes(b"12345")
    assert cli("predict", name, str(tmp_path / "a.jpg"), "--project", project["name"]).strip().endswith("a.jpg: label=none  score=5")
    assert '"score": 5' in cli("predict", name, str(tmp_path / "a.jpg"), "--project", project["name"], "-o", "json")
    asked = cli("predict", name, str(tmp_path / "a.jpg"), "--project", project["name"], "-o", "json", "--threshold", "score=0.3", "--threshold=iou=0.5")
    assert "/predict?score=0.3&iou=0.5" in asked
    problem_of = program.run("predict", name, "a.jpg", "--project", project["name"], "--threshold", "0.3", INGOT_URL=server.url, INGOT_TOKEN=admin.token, expect=None)
    assert problem_of.code == 2 and "score=0.3" in problem_of.err
    assert "v1/" in cli("logs", "--service", name, "--project", project["name"])
    told_of = [line.split() for line in cli("service", "replicas", name, "--project", project["name"]).splitlines()]
    assert told_of[0][:3] == ["job", "version", "version_name"] and told_of[1][2] == "v1" and "reason_zh" not in told_of[0]
    rows = wait_for(lambda: (x := cli("service", "traffic", name, "--project", project["name"]).splitlines())[1:] and x, "the figures")
    asked = [line.split() for line in rows]
    assert asked[0][:3] == ["version", "role", "requests"] and asked[1][:2] == ["v1", "production"] and int(asked[1][2]) >= 1
    assert "v1 is production now" in cli("service", "events", name, "--project", project["name"])
    assert name in cli("service", "list", "--project", project["name"])
    other = unique("e")
    cli("service", "deploy", "--project", project["name"], "--name", other, "--command", "true", "--replicas", "0", "--spec", spec["name"])
    assert "v1" in cli("service-version", "list", "--service", other, "--project", project["name"])
    cli("service-version", "scale", "v1", "--replicas", "0", "--service", other, "--project", project["name"])
    with ingot.Client(server.url, token=admin.token) as client:
        service = client.services[f"{project['name']}/{name}"]
        assert service.predict(tmp_path / "a.jpg")["annotation"]["labels"][0]["score"] == 5
        assert service.predict(b"123", thresholds={"score": 0.25})["path"] == "/predict?score=0.25"
        seen = []
        answers = service.predict_all([b"1", tmp_path / "a.jpg", b"22"], workers=2, progress=lambda *x: seen.append(x))
        assert [one["annotation"]["labels"][0]["score"] for one in answers] == [1, 5, 2] and seen[-1] == ("Predicting", 3, 3)
        assert sum(p["requests"] for v in service.traffic(minutes=30) for p in v["points"]) >= 1
        assert service.look(b"333", type="image/png").annotation["labels"][0]["score"] == 3
        _, made = client.services.deploy(name, project=project["id"], command=ECHO, role="canary", spec=spec["id"])
        assert made["key"] is None and made["version"]["state"] == "serving"
        client.services[service.id].versions.update(made["version"]["id"], env={"NAME": "second"})
        service.wait(made["version"])
        assert service.predict(b"123", version="canary")["annotation"]["labels"] == [{"label": "second", "score": 3}]
        assert service.share(0.5)["share"] == 500 and service.switch()["production"] == "1/1"
        assert service.predict(b"123", version="production")["annotation"]["labels"][0]["label"] == "second"
        assert [e["event"] for e in service.events()][0] in ("switched", "replica-drains")
        assert {line["version"] for line in service.log()} >= {"v1", "v2"}
        with pytest.raises(ingot.NotServing, match="exit code 3"):
            client.services.deploy(unique("bad"), project=project["id"], command="exit 3", spec=spec["id"])
        for one in client.services.list(project=project["id"]):
            client.services.delete(one["id"])


def test_a_bad_canary_is_rolled_back(admin, spec, make):
    s = make(share=500, rules={"error_rate": 0.05, "min_requests": 20, "action": "rollback"})
    good = version(admin, s, spec, command=ECHO)
    is_(admin, s, good, "serving")
    bad = version(admin, s, spec, command=ECHO.replace("send_response(200)", "send_response(200 if body == b'well' else 500)"))
    is_(admin, s, bad, "serving")

    def rolled():
        for _ in range(20):
            admin.call("POST", f"services/{s['id']}/predict", content=b"x", headers={"Content-Type": "text/plain"})
        return admin.get(f"services/{s['id']}/versions/{bad['id']}")["role"] == "retired"
    wait_for(rolled, "the canary to be rolled back")
    event = [e for e in admin.get(f"services/{s['id']}/events")["items"] if e["event"] == "canary-rolled-back"][0]
    assert event["version"] == "v2" and "failed" in event["reason"] and event["reason_zh"]
    assert admin.get(f"services/{s['id']}")["canary"] is None
    is_(admin, s, bad, "stopped")
    assert admin.call("POST", f"services/{s['id']}/predict", content=b"x").status_code == 200
