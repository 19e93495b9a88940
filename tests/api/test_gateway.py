"""The gateway before real services: keys, shares, switches, replicas that die, a server that is killed. What misbehaving
replicas and clients get is in tests/gateway."""

import collections
import concurrent.futures
import contextlib
import datetime
import json
import os
import re
import sqlite3
import subprocess
import threading
import urllib.parse
from http import client as http_client

import httpx
import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, DEADLINE, Postgres, Server, unique, wait_for
from test_handover import Handed, listening
from test_services import events, gone, is_, make, patched, replicas, spec, told, version  # noqa: F401 (fixtures)

PROGRAM = """cat > s.py <<'END'
import http.server, os, socketserver, time
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path == "/die":
            os._exit(1)
        if self.path in ("/events", "/endless"):
            return self.last()
        bad = os.environ.get("BAD") and self.path != "/health"
        body = os.environ.get("COLOUR", "none").encode()
        self.send_response(500 if bad else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Set-Cookie", "a=b")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def last(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.path == "/events" else "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            self.wfile.write(b"9\\r\\ndata: 0\\n\\n\\r\\n")
            time.sleep(0.05)
    def log_message(self, *a): pass
class S(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256
S(("127.0.0.1", int(os.environ["PORT"])), H).serve_forever()
END
exec python3 -u s.py"""


def gateway_of(server: Server) -> str:
    return wait_for(lambda: next((found[1] for line in server.out if (found := re.search(r"Services are at (\S+)", line))), None),
                    "the gateway's address")


def path_of(s: dict) -> str:
    return urllib.parse.urlsplit(s["address"]).path


def key_of(api, s: dict, **fields) -> dict:
    return api.post(f"services/{s['id']}/keys", {"name": unique("k"), **fields})


class Caller:
    """Asks a service by its key."""

    def __init__(self, server: Server, s: dict, secret: str) -> None:
        self.url = gateway_of(server) + path_of(s)
        self.secret = secret
        self.headers = {"Authorization": f"Bearer {secret}"}

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=self.headers, timeout=DEADLINE)

    def get(self, path: str = "/", **headers) -> httpx.Response:
        with self.client() as c:
            return c.get(path, headers=headers)

    def answers(self, status: int = 200) -> None:
        wait_for(lambda: self.get().status_code == status, f"the gateway to answer {status}")

    def load(self, threads: int, until: threading.Event, told: list) -> list:
        """Futures of those who ask and add (status, body) to `told`."""
        def ask() -> None:
            with self.client() as c:
                while not until.is_set():
                    a = c.get("/")
                    told.append((a.status_code, a.text))
        pool = concurrent.futures.ThreadPoolExecutor(threads)
        return [pool.submit(ask) for _ in range(threads)]


@pytest.fixture
def running(admin, server, spec, make):  # noqa: F811
    """A service with one version that answers, and who asks it."""
    def start(replicas: int = 1, **fields) -> tuple[dict, dict, Caller]:  # noqa: A002
        s = make(**fields)
        v = version(admin, s, spec, command=PROGRAM, env={"COLOUR": "blue"}, replicas=replicas)
        is_(admin, s, v, "serving")
        caller = Caller(server, s, key_of(admin, s)["secret"])
        caller.answers()
        return s, v, caller
    return start


def test_keys_and_reasons(admin, server, running, make, make_user, tmp_path):  # noqa: F811
    s, v, caller = running()
    a = caller.get()
    assert (a.text, a.headers["x-ingot-version"], a.headers["content-security-policy"]) == ("blue", "production", "sandbox")
    assert "set-cookie" not in a.headers
    items = admin.get(f"services/{s['id']}/requests", request=a.headers["x-request-id"])["items"]
    assert [(i["version"], i["status"]) for i in items] == [(v["id"], 200)]
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD)
    found = cli.json("request", a.headers["x-request-id"])
    assert (found["service"], found["service_name"], found["version_name"], found["replica"]) == \
        (s["id"], s["name"], v["name"], items[0]["replica"])
    assert cli.json("lineage", "request", a.headers["x-request-id"])["nodes"][0]["key"] == f"service_version:{v['id']}"
    cli.fails(4, "request", "0" * 32, says="no such request")
    assert make_user().call("GET", f"requests/{a.headers['x-request-id']}").status_code == 404

    def counted():
        traffic = admin.get(f"services/{s['id']}/traffic")
        points = [p for x in traffic["versions"] if x["version"] == v["id"] for p in x["points"]]
        return sum(p["requests"] for p in points) >= 2 and (traffic["step_s"], points)
    step, points = wait_for(counted, "the requests to be counted")
    assert all(p["classes"]["ok"] == p["requests"] and 0 < p["p50_ms"] <= p["p99_ms"] for p in points)
    assert all(p["low"][k] <= p[k] <= p["high"][k] for p in points for k in ("p50_ms", "p95_ms", "p99_ms"))
    assert all(abs(p["per_second"] - p["requests"] / step) < 1e-9 and p["high"]["per_second"] >= p["per_second"] for p in points)

    other = make()
    assert Caller(server, s, key_of(admin, other)["secret"]).get().status_code == 401
    token = admin.post("tokens", {"name": unique("t")})["secret"]
    assert Caller(server, s, token).get().status_code == 200
    key = key_of(admin, s)
    mine = Caller(server, s, key["secret"])
    mine.answers()
    wait_for(lambda: admin.get(f"services/{s['id']}/keys/{key['id']}")["last_used_at"], "the key's last use")
    admin.call("DELETE", f"services/{s['id']}/keys/{key['id']}", headers={"If-Match": "*"})
    mine.answers(401)

    odd = admin.post("services", {"project": admin.post("projects", {"name": unique("Odd Name ")})["id"], "name": "What Else"})
    listed = wait_for(lambda: {i["service"]: i for i in admin.get("catalogue")["items"]}.get(odd["id"]), "the catalogue")
    assert (listed["project_title"], listed["title"]) == (odd["project"]["name"], "What Else")
    assert listed["address"].endswith(f"/id.{odd['project']['id']}/id.{odd['id']}")
    assert s["name"] in [i["name"] for i in admin.get("catalogue")["items"]]
    document = admin.get(f"services/{s['id']}/openapi.json")
    assert document["servers"][0]["url"] == gateway_of(server) + path_of(s) == s["address"]

    admin.post(f"services/{s['id']}/versions/{v['id']}/stop", expect=200)
    caller.answers(503)
    stopped = caller.get().json()
    assert stopped["detail"] and re.search("[一-鿿]", stopped["detail_zh"])


def test_what_lasts_ends_with_the_right_to_it(admin, server, running):
    """Streams and long answers are cut when their key, token or service is deleted, or the key expires."""
    s, _, caller = running()
    key, token = key_of(admin, s), admin.post("tokens", {"name": unique("t")})
    expiring = key_of(admin, s)

    def drop(path: str) -> None:
        admin.call("DELETE", path, headers={"If-Match": "*"})

    with contextlib.ExitStack() as stack:
        def follow(secret: str, path: str):
            c = stack.enter_context(Caller(server, s, secret).client())
            answer = stack.enter_context(c.stream("GET", path))
            assert answer.status_code == 200, answer.read()
            pieces = answer.iter_raw()
            next(pieces)
            return pieces

        def ends(pieces) -> None:
            with pytest.raises(httpx.TransportError):
                collections.deque(pieces, maxlen=0)

        stays = follow(caller.secret, "/endless")
        expires = follow(expiring["secret"], "/endless")
        by_key = [follow(key["secret"], p) for p in ("/events", "/endless")]
        by_token = [follow(token["secret"], p) for p in ("/events", "/endless")]
        drop(f"services/{s['id']}/keys/{key['id']}")
        for pieces in by_key:
            ends(pieces)
        drop(f"tokens/{token['id']}")
        for pieces in by_token:
            ends(pieces)
        soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=2)
        patched(admin, f"services/{s['id']}/keys/{expiring['id']}", expires_at=soon.isoformat().replace("+00:00", "Z"))
        ends(expires)
        assert [next(stays) for _ in range(3)]
        drop(f"services/{s['id']}")
        ends(stays)


def test_share_switch_and_death_lose_nothing(admin, server, running, spec):  # noqa: F811
    s, v, caller = running(replicas=2, share=137)
    canary = version(admin, s, spec, command=PROGRAM, env={"COLOUR": "red"})
    is_(admin, s, canary, "serving")
    wait_for(lambda: caller.get(**{"X-Ingot-Version": "canary"}).status_code == 200, "the canary to be asked")
    with caller.client() as c:
        told = [(a := c.get("/")).headers["x-ingot-version"] + a.text for _ in range(1000)]
    assert told.count("canaryred") == 137 and told.count("productionblue") == 863

    done, answers = threading.Event(), []
    asking = caller.load(4, done, answers)
    try:
        wait_for(lambda: len(answers) > 50, "answers of production")
        admin.post(f"services/{s['id']}/switch", expect=200)
        wait_for(lambda: caller.get(**{"X-Ingot-Version": "production"}).text == "red", "the switch")
        before = {r["job"] for r in replicas(admin, s, "ready")}
        assert caller.get("/die", **{"X-Ingot-Version": "canary"}).status_code in (200, 502)
        wait_for(lambda: len({r["job"] for r in replicas(admin, s, "ready")} - before) >= 1, "a new replica for the one that died")
    finally:
        done.set()
    for f in asking:
        f.result()
    assert {a[0] for a in answers} == {200} and {a[1] for a in answers} == {"red", "blue"}


def test_a_bad_canary_goes(admin, server, running, spec):  # noqa: F811
    s, _, caller = running(share=500, rules={"error_rate": 0.05, "min_requests": 20, "action": "rollback"})
    canary = version(admin, s, spec, command=PROGRAM, env={"COLOUR": "red", "BAD": "1"}, health_path="/health")
    is_(admin, s, canary, "serving")
    failed = 0
    with caller.client() as c:
        def judged() -> bool:
            nonlocal failed
            failed += sum(c.get("/").status_code == 500 for _ in range(20))
            return "canary-rolled-back" in events(admin, s)
        wait_for(judged, "the canary to go")

        def counted() -> list[int]:
            found = admin.get(f"services/{s['id']}/traffic")["versions"]
            return [sum(p["classes"]["error"] for p in v["points"]) for v in found if v["version"] == canary["id"]]
        # Also those of its last second.
        wait_for(lambda: counted() == [failed], "all that failed to be in the figures")
        wait_for(lambda: {c.get("/").status_code for _ in range(20)} == {200}, "production alone")


def test_a_killed_server_goes_on_to_judge(fresh_server):
    """The canary's requests before the end of the server count: fewer than the rule needs come on either side of it."""
    server = fresh_server()
    api = server.admin()
    project = api.post("projects", {"name": unique("p")})
    small = api.post("specs", {"name": unique("serve"), "cpus": 0.1, "memory": 1 << 27})
    s = api.post("services", {"project": project["id"], "name": unique("s"), "drain_s": 0, "share": 500,
                              "rules": {"error_rate": 0.05, "min_requests": 60, "action": "rollback"}})
    is_(api, s, version(api, s, small, command=PROGRAM, env={"COLOUR": "blue"}), "serving")
    is_(api, s, version(api, s, small, command=PROGRAM, env={"COLOUR": "red", "BAD": "1"}, health_path="/health"), "serving")
    key = key_of(api, s)["secret"]

    def ask(n: int) -> None:
        caller = Caller(server, s, key)
        wait_for(lambda: caller.get(**{"X-Ingot-Version": "canary"}).status_code == 500, "the canary to be asked")
        with caller.client() as c:
            for _ in range(n):
                c.get("/")

    def kept() -> int:
        if server.db:
            text = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-c", f"SELECT trial FROM services WHERE id = {s['id']}", server.db],
                                  check=True, text=True, stdout=subprocess.PIPE).stdout
        else:
            with contextlib.closing(sqlite3.connect(f"file:{server.data}/ingot.db?mode=ro", uri=True)) as db:
                text = db.execute("SELECT trial FROM services WHERE id = ?", (s["id"],)).fetchone()[0]
        return json.loads(text or '{"sides": [0, [0]]}')["sides"][1][0]
    ask(80)
    wait_for(lambda: kept() >= 40, "the trial to be kept")
    server.kill()
    server.start()
    api = server.admin()
    ask(60)
    wait_for(lambda: "canary-rolled-back" in events(api, s), "the canary to go")


def test_killed_server_finds_its_replicas(fresh_server):
    server = fresh_server()
    api = server.admin()
    project = api.post("projects", {"name": unique("p")})
    small = api.post("specs", {"name": unique("serve"), "cpus": 0.1, "memory": 1 << 27})
    s = api.post("services", {"project": project["id"], "name": unique("s"), "drain_s": 0})
    is_(api, s, version(api, s, small, command=PROGRAM, env={"COLOUR": "blue"}), "serving")
    key = key_of(api, s)["secret"]
    Caller(server, s, key).answers()
    job = replicas(api, s, "ready")[0]["job"]
    server.kill()
    server.start()
    Caller(server, s, key).answers()
    assert [r["job"] for r in replicas(server.admin(), s, "ready")] == [job]


@pytest.mark.skipif(os.environ.get("INGOT_TEST_DB") != "postgres", reason="is about PostgreSQL")
def test_a_lost_database_stops_no_request(fresh_server):
    """While PostgreSQL is away the last routes and keys stay in force; afterwards changes are in force again."""
    cluster = Postgres()
    try:
        server = fresh_server(db=cluster.url)
        api = server.admin()
        project = api.post("projects", {"name": unique("p")})
        small = api.post("specs", {"name": unique("serve"), "cpus": 0.1, "memory": 1 << 27})
        s = api.post("services", {"project": project["id"], "name": unique("s"), "drain_s": 0})
        is_(api, s, version(api, s, small, command=PROGRAM, env={"COLOUR": "blue"}), "serving")
        key = key_of(api, s)
        caller, by_token = Caller(server, s, key["secret"]), Caller(server, s, api.post("tokens", {"name": unique("t")})["secret"])
        caller.answers()
        by_token.answers()
        done, answers = threading.Event(), []
        asking = caller.load(2, done, answers)
        try:
            cluster.lose()
            wait_for(lambda: api.call("GET", "health").status_code == 503, "the loss")
            before = len(answers)
            wait_for(lambda: len(answers) > before + 50, "answers without the database")
            assert by_token.get().text == "blue"
            assert Caller(server, s, "nobody-knows").get().status_code == 401
            cluster.resume()
            wait_for(lambda: api.call("GET", "health").status_code == 200, "the database")
        finally:
            done.set()
        for f in asking:
            f.result()
        assert set(answers) == {(200, "blue")}
        wait_for(lambda: api.call("DELETE", f"services/{s['id']}/keys/{key['id']}", headers={"If-Match": "*"}).status_code == 204, "a write")
        caller.answers(401)
        api.call("DELETE", f"services/{s['id']}", headers={"If-Match": "*"})
        gone(api, s)
        server.stop()
    finally:
        cluster.stop()


def test_upgrade_loses_no_request(tmp_path, make_db):
    """Another program takes the sockets over while requests come: each is answered by the same replica."""
    sockets, db = [listening() for _ in range(3)], make_db()
    server = Handed(str(tmp_path), db, sockets)
    address = server.ready()
    with httpx.Client(base_url=address["Ingot is ready"], headers={"Origin": address["Ingot is ready"]}, timeout=DEADLINE) as http:
        def post(path: str, body: dict) -> dict:
            answer = http.post(f"/api/v1/{path}", json=body)
            assert answer.status_code < 300, answer.text
            return answer.json() if answer.text else {}
        post("sessions", {"name": "admin", "password": ADMIN_PASSWORD})
        project = post("projects", {"name": "p"})
        small = post("specs", {"name": unique("serve"), "cpus": 0.1, "memory": 1 << 27})
        s = post("services", {"project": project["id"], "name": "s", "drain_s": 0})
        post(f"services/{s['id']}/versions", {"spec": small["id"], "command": PROGRAM, "env": {"COLOUR": "blue"}})
        secret = post(f"services/{s['id']}/keys", {"name": "k"})["secret"]
    url, headers = address["Services are"] + path_of(s) + "/", {"X-API-Key": secret}
    wait_for(lambda: httpx.get(url, headers=headers, timeout=DEADLINE).status_code == 200, "the service to answer")
    wrong, answered, ending = [], [0], threading.Event()

    def ask() -> None:
        while not ending.is_set():
            try:
                answer = httpx.get(url, headers=headers, timeout=DEADLINE)
                assert (answer.status_code, answer.text) == (200, "blue"), answer.text
                answered[0] += 1
            except (httpx.TransportError, AssertionError) as error:
                wrong.append(repr(error))

    def ask_on_one_connection() -> None:
        """As http.client does it: nothing is sent twice, a new connection only where the answer says so."""
        place = httpx.URL(url)
        kept = http_client.HTTPConnection(place.host, place.port, timeout=DEADLINE)
        while not ending.is_set():
            try:
                kept.request("GET", place.path, headers=headers)
                assert (answer := kept.getresponse()).status == 200 and answer.read() == b"blue"
                answered[0] += 1
            except (http_client.HTTPException, OSError, AssertionError) as error:
                wrong.append(repr(error))
                kept.close()
        kept.close()
    clients = [threading.Thread(target=one) for one in (ask, ask, ask_on_one_connection, ask_on_one_connection)]
    for client in clients:
        client.start()
    try:
        for _ in range(2):
            before = answered[0]
            wait_for(lambda n=before: answered[0] >= n + 20, "answers")
            server.stop()
            server = Handed(str(tmp_path), db, sockets)
            server.ready()
        before = answered[0]
        wait_for(lambda n=before: answered[0] >= n + 20, "answers of the last program")
    finally:
        ending.set()
        for client in clients:
            client.join(DEADLINE)
        with httpx.Client(base_url=address["Ingot is ready"], headers={"Origin": address["Ingot is ready"]}, timeout=DEADLINE) as http:
            http.post("/api/v1/sessions", json={"name": "admin", "password": ADMIN_PASSWORD})
            http.delete(f"/api/v1/services/{s['id']}", headers={"If-Match": "*"})
            wait_for(lambda: not [j for j in http.get("/api/v1/jobs").json()["items"] if j["state"] == "running"], "the replica to end")
        server.stop()
    assert not wrong
