"""Environments (A2-A7): states, /workspace, mounts, hours, copies; JupyterLab over the tools' own origin with real clients; who
may not open it."""

import contextlib
import json
import os
import re
import ssl  # noqa: F401  (websockets needs it to be importable)
import threading
import uuid
from pathlib import Path

import httpx
import pytest
from harness import ROOT, Api, Server, problem, unique, wait_for
from test_files import put
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

TOOLS = os.environ.get("INGOT_TOOLS", str(ROOT / ".cache/tools"))


@pytest.fixture(scope="session")
def server(make_db):
    """The worker's server, which knows the tools."""
    server = Server(make_db(), args=("--tools", TOOLS)).start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def admin(server) -> Api:
    return server.admin()


@pytest.fixture(scope="session")
def spec(admin) -> dict:
    return admin.post("specs", {"name": unique("lab"), "cpus": 0.3, "memory": 1 << 30})


@pytest.fixture
def make(admin, project, spec):
    """Makes environments; stops and deletes them afterwards."""
    made = []

    def environment(api=admin, **fields) -> dict:
        made.append(api.post("environments", {"project": project["id"], "name": unique("env"), "spec": spec["id"], **fields}))
        return made[-1]
    yield environment
    for e in made:
        admin.call("POST", f"environments/{e['id']}/stop")
    for e in made:
        if admin.call("GET", f"environments/{e['id']}").status_code == 200:
            reached(admin, e, "stopped", "failed")
            admin.delete(f"environments/{e['id']}")


def reached(api, e: dict, *states) -> dict:
    return wait_for(lambda: (x := api.get(f"environments/{e['id']}"))["state"] in states and x, f"one of {states}")


def start(api, e: dict) -> dict:
    api.post(f"environments/{e['id']}/start", expect=200)
    e = reached(api, e, "running", "failed", "stopped")
    assert e["state"] == "running", e
    return e


def stop(api, e: dict) -> dict:
    api.post(f"environments/{e['id']}/stop", expect=200)
    return reached(api, e, "stopped")


def run(api, e: dict, command: str) -> str:
    """What a command in the environment's terminal prints."""
    url = str(api.http.base_url).replace("http", "ws").rstrip("/") + f"/jobs/{e['job']['id']}/terminal"
    with connect(url, additional_headers={"Authorization": f"Bearer {api.token}"}, proxy=None) as ws:
        ws.send(f"stty -echo; PS1=; clear; echo be''gin; {command}; echo e''nd\n".encode())
        seen = b""
        while b"\nend" not in seen.replace(b"\r", b""):
            seen += ws.recv(timeout=120)
    text = seen.replace(b"\r", b"").decode()
    return text[text.rindex("begin\n") + 6:text.rindex("end")].strip()


def tool(api, e: dict, name: str = "jupyter") -> dict:
    """The tool's row, once it answers."""
    def ready():
        for t in api.get(f"environments/{e['id']}/access")["tools"]:
            if t["name"] == name and t["state"] == "ready":
                return t
    return wait_for(ready, f"{name} to answer")


def open_tool(api, e: dict, name: str = "jupyter") -> tuple[httpx.Client, str]:
    """A browser's cookies, and the tool's address."""
    client = httpx.Client(timeout=120, trust_env=False)
    answer = client.get(tool(api, e, name)["url"])
    assert answer.status_code == 303, answer.text
    url = str(answer.url.join(answer.headers["location"]))
    return client, url[:url.index(f"/{name}/") + len(name) + 2]


def cookie(client: httpx.Client) -> str:
    return "; ".join(f"{c.name}={c.value}" for c in client.cookies.jar)


# --- the kind ---

def test_workspace_and_mounts_stay(admin, project, make, server):
    algorithm = admin.post("algorithm-sets", {"name": unique("net"), "project": project["id"]})
    version = admin.post(f"algorithm-sets/{algorithm['id']}/versions", {})
    put(admin, f"algorithm-sets/{algorithm['id']}/versions/{version['id']}", "train.py", b"print(6 * 7)\n")
    model = admin.post("model-sets", {"name": unique("weights"), "project": project["id"]})
    model_version = admin.post(f"model-sets/{model['id']}/versions", {})
    put(admin, f"model-sets/{model['id']}/versions/{model_version['id']}", "w.bin", b"12345")
    e = make(algorithms=[version["id"]], models=[model_version["id"]], hours=2)
    assert e["algorithms"][0]["id"] == version["id"]
    assert (e["state"], e["idle_s"], e["job"]) == ("stopped", None, None)
    e = start(admin, e)
    assert e["started_at"] < e["ends_at"]
    assert e["idle_s"] >= 0
    said = run(admin, e, f"python3 algorithm/{algorithm['name']}/train.py; wc -c <model/{model['name']}/w.bin; "
                         f"touch algorithm/{algorithm['name']}/x || echo refused; echo kept >note; ls -d persistent-model; pwd")
    assert said.split("\n")[0] == "42"
    assert {"5", "refused", "persistent-model", "/workspace"} <= set(said.split("\n")), said
    stop(admin, e)
    e = start(admin, e)
    assert run(admin, e, "cat note") == "kept"
    assert admin.call("DELETE", f"environments/{e['id']}").status_code == 409
    job = e["job"]["id"]
    stop(admin, e)
    [folder] = map(str, Path(server.data, "workspace").glob(f"{e['id']}-*"))
    assert os.path.exists(f"{folder}/note")
    admin.delete(f"environments/{e['id']}")
    admin.get(f"jobs/{job}", expect=404)
    wait_for(lambda: not os.path.exists(folder), "the folder to go")


def test_what_is_public_is_mounted_from_elsewhere(admin, project, make, make_user):
    """Read-only, of another project, for somebody who is not in that."""
    other = admin.post("projects", {"name": unique("other")})
    model = admin.post("model-sets", {"name": unique("weights"), "project": other["id"], "public": True})
    version = admin.post(f"model-sets/{model['id']}/versions", {})
    put(admin, f"model-sets/{model['id']}/versions/{version['id']}", "w.bin", b"12345")
    hidden = admin.post("model-sets", {"name": unique("hidden"), "project": other["id"]})
    secret = admin.post(f"model-sets/{hidden['id']}/versions", {})
    owner = make_user(project)
    body = {"project": project["id"], "name": unique("env"), "spec": 1, "models": [secret["id"]]}
    assert owner.post("environments", body, expect=422)["field"] == "models"
    e = start(owner, make(owner, models=[version["id"]]))
    assert run(owner, e, f"cd model/{model['name']}; wc -c <w.bin; rm -f w.bin; echo more >>w.bin; touch x; ls").split("\n")[-1] == "w.bin"
    assert run(owner, e, f"wc -c <model/{model['name']}/w.bin") == "5"


def test_the_workspace_stays_when_it_fails(admin, make):
    e = start(admin, make())
    run(admin, e, "echo kept >note")
    with contextlib.suppress(ConnectionClosed, TypeError):  # what the container began with ends, and with it the terminal
        run(admin, e, "kill -9 $(pgrep -f '[e]nvironment/start')")
    failed = reached(admin, e, "failed", "stopped")
    assert failed["state"] == "failed" and failed["reason"], failed
    assert run(admin, start(admin, e), "cat note") == "kept"


TAKES_NOBODY = """
import socket, time
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", 8888))
server.listen(0)
waiting = []
while not waiting or waiting[-1].connect_ex(("127.0.0.1", 8888)) == 0:
    waiting.append(socket.socket())
    waiting[-1].settimeout(1)
open("/workspace/full", "w").close()
time.sleep(1000)
"""


def test_a_tool_that_takes_nobody_holds_nobody_up(admin, make):
    """A program in the container listens in the tool's place and accepts no connection: its visitors are told, others do not wait."""
    e = start(admin, make())
    client, url = open_tool(admin, e)
    assert client.put(url + "api/contents/full.py", json={"type": "file", "format": "text", "content": TAKES_NOBODY}).status_code == 201
    run(admin, e, """echo "touch began; while ! python3 full.py; do pkill -f '[j]upyterlab'; sleep 0.2; done" >full.sh; """
                  "setsid sh full.sh </dev/null >/dev/null 2>&1 & while [ ! -e full ]; do sleep 0.1; done")
    answers: list[int] = []
    visitors = [threading.Thread(target=lambda: answers.append(httpx.get(url + "api", headers={"Cookie": cookie(client)}, timeout=100, trust_env=False).status_code))
                for _ in range(8)]
    for v in visitors:
        v.start()
    for _ in range(20):
        httpx.get(url, trust_env=False, timeout=30)
        assert admin.get(f"environments/{e['id']}")["state"] == "running"
    for v in visitors:
        v.join()
    assert len(answers) == 8 and set(answers) <= {502, 503, 504}, answers


def used(api, project: dict) -> int:
    return api.get(f"projects/{project['id']}/overview")["use"]["storage"]


def test_the_workspace_counts_as_storage(admin, spec, make, server):
    project = admin.post("projects", {"name": unique("small"), "quota": {"storage": 3 << 20}})
    e = start(admin, make(project=project["id"]))
    [folder] = Path(server.data, "workspace").glob(f"{e['id']}-*")
    (folder / "big").write_bytes(os.urandom(5_000_000))  # as somebody inside does
    ended = reached(admin, e, "stopped")
    assert ended["reason"].startswith("/workspace holds ") and str(3 << 20) in ended["reason"], ended
    assert ended["reason_zh"].startswith("/workspace 已有 ") and "项目最多可存储" in ended["reason_zh"], ended
    assert used(admin, project) >= 5_000_000
    body = problem(admin.call("POST", f"environments/{e['id']}/start"), 507, "quota", field="storage")
    assert str(3 << 20) in body["detail"] and "uses" in body["detail"]
    admin.patch(f"projects/{project['id']}", {"quota": {"storage": 30 << 20}}, revision=project["revision"])
    e = start(admin, e)
    run(admin, e, "rm big; sync")
    wait_for(lambda: used(admin, project) < 1_000_000, "the folder to be measured again")
    stop(admin, e)
    admin.delete(f"environments/{e['id']}")
    wait_for(lambda: used(admin, project) == 0, "the folder to be forgotten")


def test_a_folder_of_another_environment_with_the_same_number(admin, make, server):
    """As a restored backup leaves them: numbers are given once more."""
    before = make()
    for i in range(1, 10):
        for name in (f"{before['id'] + i}", f"{before['id'] + i}-123"):
            folder = Path(server.data, "workspace", name)
            folder.mkdir(parents=True)
            (folder / "secret").write_text("of somebody else")
    e = start(admin, make())
    assert 0 < e["id"] - before["id"] < 10
    assert run(admin, e, "ls /workspace/secret || echo none").endswith("none")


def test_start_stop_extend_copy(admin, make):
    e = make(hours=3, description="first", ssh_keys=["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJx me"])
    admin.post(f"environments/{e['id']}/stop", expect=409)
    admin.post(f"environments/{e['id']}/extend", {"hours": 0}, expect=422)
    assert admin.post(f"environments/{e['id']}/extend", {"hours": 1.5}, expect=200)["hours"] == 4.5
    copy = admin.post(f"environments/{e['id']}/copy", {"name": unique("copy")}, expect=201)
    assert (copy["hours"], copy["description"], copy["ssh_keys"]) == (4.5, "first", e["ssh_keys"])
    admin.post(f"environments/{e['id']}/copy", {"name": copy["name"]}, expect=409)
    admin.delete(f"environments/{copy['id']}")
    before = start(admin, e)
    admin.post(f"environments/{e['id']}/start", expect=409)
    after = admin.post(f"environments/{e['id']}/extend", {"hours": 10}, expect=200)
    assert after["ends_at"] > before["ends_at"]
    assert admin.get(f"jobs/{after['job']['id']}")["hours"] == 14.5
    assert stop(admin, e)["ends_at"] is None


def test_what_it_waits_for(admin, make):
    """The sentence is its job's, also when that comes after the start."""
    large = admin.post("specs", {"name": unique("large"), "cpus": 4000, "memory": 1 << 30})
    e = make(spec=large["id"])
    admin.post(f"environments/{e['id']}/start", expect=200)
    waits = wait_for(lambda: (x := admin.get(f"environments/{e['id']}"))["reason"] and x, "a reason")
    assert waits["state"] == "pending" and "4000 CPUs" in waits["reason"] and "4000" in waits["reason_zh"], waits
    assert admin.get("environments", project=e["project"]["id"], q=e["name"])["items"][0]["reason"] == waits["reason"]


def test_ends_by_itself(admin, make):
    e = make(hours=0.0001)
    admin.post(f"environments/{e['id']}/start", expect=200)
    ended = wait_for(lambda: (x := admin.get(f"environments/{e['id']}"))["state"] == "stopped" and x, "its end")
    assert "hours" in ended["reason"]
    assert make()["idle_hours"] == 4 and make(idle_hours=0)["idle_hours"] == 0
    e = make(idle_hours=0.0001)
    admin.post(f"environments/{e['id']}/start", expect=200)
    ended = wait_for(lambda: (x := admin.get(f"environments/{e['id']}"))["state"] == "stopped" and x, "its end")
    assert "unused" in ended["reason"]


@pytest.mark.parametrize("fields, field", [
    ({"name": "a/b"}, "name"), ({"nodes": 0}, "nodes"), ({"hours": -1}, "hours"), ({"password": "short"}, "password"),
    ({"image": "nothing-like-this:1"}, "image"), ({"spec": None}, "spec"), ({"models": [999999]}, "models"),
    ({"ssh_keys": ["not a key"]}, "ssh_keys"), ({"ssh_keys": ["ssh-rsa AA\nssh-rsa BB"]}, "ssh_keys"), ({"ssh_port": 22}, "ssh_port")])
def test_bad_input(admin, project, spec, fields, field):
    body = {"project": project["id"], "name": unique("env"), "spec": spec["id"], **fields}
    assert admin.post("environments", body, expect=422)["field"] == field


def test_what_is_missing_says_what_to_do(fresh_server):
    server = fresh_server(args=("--tools", "/nonexistent"))
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.1, "memory": 64 << 20})
    e = admin.post("environments", {"project": project["id"], "name": "e", "spec": spec["id"]})
    access = admin.get(f"environments/{e['id']}/access")
    assert {t["state"] for t in access["tools"]} == {"missing"}
    assert all(f"`ingot fetch {t['name']}`" in t["reason"] and f"`ingot fetch {t['name']}`" in t["reason_zh"] for t in access["tools"])
    assert not any(t["installed"] for t in access["tools"])
    assert access["ssh"] is None


def test_saved_as_an_image(admin, project, make):
    """What was installed outside of /workspace is there in an environment of the saved image; /workspace is not."""
    e = start(admin, make())
    run(admin, e, "mkdir -p /opt/mine; echo 42 >/opt/mine/answer; rm /etc/shells; echo note >/workspace/note")
    admin.post(f"environments/{e['id']}/save", {"image": "Bad Name", "version": "1"}, expect=422)
    task = admin.post(f"environments/{e['id']}/save", {"image": unique("saved"), "version": "1", "description": "mine"}, expect=202)
    done = wait_for(lambda: (t := admin.get(f"tasks/{task['id']}"))["state"] in ("done", "failed", "completed") and t, "the save")
    assert done["state"] != "failed", done
    name = admin.get("images", project=project["id"])["items"][0]["name"]
    stop(admin, e)
    admin.post(f"environments/{e['id']}/save", {"image": name, "version": "2"}, expect=409)
    second = start(admin, make(image=f"{name}:1"))
    assert run(admin, second, "cat /opt/mine/answer; test -e /etc/shells || echo gone; test -e note || echo empty").split() == [
        "42", "gone", "empty"]
    client, url = open_tool(admin, second)
    assert client.get(url + "lab").status_code == 200


# --- JupyterLab ---

def message(kind: str, content: dict, channel: str = "shell") -> str:
    header = {"msg_id": uuid.uuid4().hex, "msg_type": kind, "username": "t", "session": uuid.uuid4().hex, "version": "5.3",
              "date": "2026-01-01T00:00:00Z"}
    return json.dumps({"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": channel})


def test_jupyter(admin, make):
    """Page, upload, a kernel and a terminal, all through the proxy, as JupyterLab's own page does it."""
    e = start(admin, make())
    client, url = open_tool(admin, e)
    page = client.get(url + "lab")
    assert page.status_code == 200 and "JupyterLab" in page.text
    body = {"type": "file", "format": "text", "content": "你好, uploaded\n"}
    assert client.put(url + "api/contents/up.txt", json=body).status_code == 201
    assert client.get(url + "files/up.txt").text == "你好, uploaded\n"
    assert run(admin, e, "cat up.txt") == "你好, uploaded"
    assert "admin" in run(admin, e, "ingot whoami")  # without any set-up: tests/api/test_inside.py

    kernel = client.post(url + "api/kernels", json={"name": "python3"}).json()
    assert url.startswith("http://localhost:"), "cookies are kept by host: the platform is at 127.0.0.1"
    origin = url[:url.index("/t/")]
    headers = {"Cookie": cookie(client)}
    socket = url.replace("http", "ws") + f"api/kernels/{kernel['id']}/channels"
    with connect(socket, additional_headers=headers, origin=origin, proxy=None, max_size=None) as ws:
        ws.send(message("execute_request", {"code": "import os, ingot; print(6 * 7, os.getcwd(), ingot.Client().session()['via'])", "silent": False, "store_history": True,
                                            "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}))
        said = ""
        while "42" not in said:
            answer = json.loads(ws.recv(timeout=180))
            assert answer["msg_type"] != "error", answer
            said += answer["content"].get("text", "") if answer["msg_type"] == "stream" else ""
    assert said.split() == ["42", "/workspace", "job"]

    terminal = client.post(url + "api/terminals", json={}).json()["name"]
    with connect(url.replace("http", "ws") + f"terminals/websocket/{terminal}", additional_headers=headers, origin=origin,
                 proxy=None) as ws:
        ws.send(json.dumps(["stdin", "echo $((40 + 2))-from-terminal\n"]))
        said = ""
        while "42-from-terminal" not in said:
            kind, *text = json.loads(ws.recv(timeout=120))
            said += text[0] if kind == "stdout" else ""


def test_who_may_open_it(admin, project, make, make_user, server):
    owner, other, viewer, stranger = make_user(project), make_user(project), make_user(project, role="viewer"), make_user()
    e = start(owner, make(owner))
    path = f"environments/{e['id']}/access"
    assert stranger.call("GET", path).status_code == 404
    assert viewer.call("GET", path).status_code == 403
    tool(owner, e)
    assert wait_for(lambda: owner.get(path)["ssh"], "sshd to answer")["password"]
    seen = other.get(path)
    assert seen["ssh"] is None and all(t["url"] is None for t in seen["tools"])
    assert admin.get(path)["ssh"]["password"] is None

    url = server.url.replace("http", "ws") + f"/api/v1/jobs/{e['job']['id']}/terminal"
    with pytest.raises(InvalidStatus, match="403"), connect(url, additional_headers={"Authorization": f"Bearer {other.token}"}, proxy=None):
        pass
    assert run(owner, e, "echo mine") == "mine"

    link = tool(owner, e)["url"]
    client = httpx.Client(timeout=120, trust_env=False)
    assert client.get(link).status_code == 303
    assert httpx.get(link, trust_env=False).status_code == 401, "a ticket is good once"
    client, url = open_tool(owner, e)
    origin = url[:url.index("/t/")]
    assert client.get(url + "api").status_code == 200

    # Without the cookie, with a broken one, with another's, for another tool.
    assert httpx.get(url + "api", trust_env=False).status_code == 401
    good = client.cookies["ingot_tool"]
    for bad in ("", "x", good[:-2] + ("AA" if good[-2:] != "AA" else "BB"), good + "A"):
        assert httpx.get(url + "api", headers={"Cookie": f"ingot_tool={bad}"}, trust_env=False).status_code == 401
    assert httpx.get(url.replace("jupyter", "vscode"), headers={"Cookie": f"ingot_tool={good}"}, trust_env=False).status_code == 401
    session = owner.http.cookies.get("ingot_session") or "none"
    assert httpx.get(url + "api", headers={"Cookie": f"ingot_session={session}"}, trust_env=False).status_code == 401
    assert httpx.get(url + "api", headers={"Authorization": f"Bearer {admin.token}"}, trust_env=False).status_code == 401

    # Another site's pages.
    assert client.get(url + "api", headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.post(url + "api/kernels", headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
    assert client.get(url + "api", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status_code == 403
    kernel = client.post(url + "api/kernels", json={}, headers={"Origin": origin}).json()["id"]
    socket = url.replace("http", "ws") + f"api/kernels/{kernel}/channels"
    with connect(socket, additional_headers={"Cookie": cookie(client)}, origin=origin, proxy=None):
        pass
    for headers, wrong in (({"Cookie": cookie(client)}, "http://evil.example"), ({}, origin),
                           ({"Cookie": "ingot_tool=x"}, origin), ({"Cookie": cookie(client)}, server.url)):
        with pytest.raises(InvalidStatus) as refused, connect(socket, additional_headers=headers, origin=wrong, proxy=None):
            pass
        assert refused.value.response.status_code in (401, 403)


def test_the_end_of_a_session_ends_what_it_opened(admin, project, make, make_user, server):
    owner = make_user(project)
    e = start(owner, make(owner))
    tool(owner, e)
    browser = httpx.Client(base_url=server.url + "/api/v1/", headers={"Origin": server.url}, timeout=120, trust_env=False)
    assert browser.post("sessions", json={"name": owner.user["name"], "password": "pass-word-1"}).status_code == 201
    client = httpx.Client(timeout=120, trust_env=False)
    answer = client.get(browser.get(f"environments/{e['id']}/access").json()["tools"][0]["url"])
    url = str(answer.url.join("./"))
    assert client.get(url + "api").status_code == 200
    kernel = client.post(url + "api/kernels", json={}).json()["id"]
    socket = url.replace("http", "ws") + f"api/kernels/{kernel}/channels"
    with connect(socket, additional_headers={"Cookie": cookie(client)}, origin=url[:url.index("/t/")], proxy=None,
                 max_size=None) as ws:
        assert browser.delete("session").status_code == 204
        assert client.get(url + "api").status_code == 401
        with pytest.raises(ConnectionClosed):  # without a message, which would still be executed
            while True:
                ws.recv(timeout=120)


FAKE = """
import http.server

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        for name, value in (("Set-Cookie", "ingot_session=evil; Path=/"), ("Set-Cookie", "own=1"), ("Clear-Site-Data", "*"),
                            ("Service-Worker-Allowed", "/"), ("Content-Length", "0"), ("X-Seen", repr(self.headers.items()))):
            self.send_header(name, value)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", 8888), Handler).serve_forever()
"""


def test_the_container_sees_no_cookie_of_the_platform(admin, make):
    """Nor may it set one."""
    e = start(admin, make())
    client, url = open_tool(admin, e)
    assert client.put(url + "api/contents/fake.py", json={"type": "file", "format": "text", "content": FAKE}).status_code == 201
    # The end of the terminal ends what has no session of its own yet: it has one when it runs.
    run(admin, e, """echo "touch began; while ! python3 fake.py; do pkill -f '[j]upyterlab'; sleep 0.2; done" >fake.sh; """
                  "setsid sh fake.sh </dev/null >/dev/null 2>&1 & while [ ! -e began ]; do sleep 0.1; done")

    def fake():
        headers = {"Cookie": f"ingot_session=secret; mine=2; {cookie(client)}", "Authorization": "Bearer secret"}
        answer = httpx.get(url + "api", headers=headers, trust_env=False)
        return "X-Seen" in answer.headers and answer
    answer = wait_for(fake, "the program in the container")
    assert "mine=2" in answer.headers["X-Seen"]
    assert "secret" not in answer.headers["X-Seen"] and "ingot_" not in answer.headers["X-Seen"]
    assert answer.headers.get_list("Set-Cookie") == ["own=1"]
    assert "Clear-Site-Data" not in answer.headers and "Service-Worker-Allowed" not in answer.headers


def test_a_host_for_each_job(fresh_server):
    """--tools-url with a star: pages of two environments have two origins."""
    server = fresh_server(args=("--tools", TOOLS, "--tools-url", "http://*.tools.example:8081/"))
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.3, "memory": 1 << 30})
    e = start(admin, admin.post("environments", {"project": project["id"], "name": "e", "spec": spec["id"]}))
    url = httpx.URL(tool(admin, e)["url"])
    host = f"job-{e['job']['id']}.tools.example:8081"
    assert url.netloc.decode() == host
    real = next(re.search(r"Tools are at (\S+)", line)[1] for line in server.out if line.startswith("Tools"))
    path = real + url.raw_path.decode()
    assert httpx.get(path, headers={"Host": "job-99.tools.example:8081"}, trust_env=False).status_code == 404
    answer = httpx.get(path, headers={"Host": host}, trust_env=False)
    assert answer.status_code == 303
    cookies = {"Host": host, "Cookie": answer.headers["set-cookie"].split(";")[0]}
    assert httpx.get(f"{real}/t/{e['job']['id']}/jupyter/api", headers=cookies, trust_env=False).status_code == 200
    stop(admin, e)


def test_pages_for_people(server, admin, make):
    e = start(admin, make())
    _, url = open_tool(admin, e)
    root = url[:url.index("/t/")]
    for path in ("/", "/t/", "/t/0/jupyter/", "/t/x/jupyter/", f"/t/{e['job']['id']}/nothing/", "/api/v1/session"):
        assert httpx.get(root + path, trust_env=False).status_code == 404, path
    answer = httpx.get(url, headers={"Accept": "text/html"}, trust_env=False)
    assert answer.status_code == 401 and "平台" in answer.text
    assert httpx.get(url.rstrip("/"), trust_env=False).headers["location"].endswith("/jupyter/")
    client, _ = open_tool(admin, e)
    stop(admin, e)
    assert client.get(url + "api").status_code in (409, 503)


@pytest.mark.skipif(not os.path.exists(f"{TOOLS}/vscode/installed"), reason="scripts/tools.sh .cache/tools vscode installs it")
def test_vscode(admin, make):
    """The first visitor starts it; then its page and the socket that carries everything come up."""
    e = start(admin, make())
    client, url = open_tool(admin, e, "vscode")
    first = client.get(url, headers={"Accept": "text/html"})
    assert first.status_code in (200, 302, 503)

    def page():
        answer = client.get(url, headers={"Accept": "text/html"}, follow_redirects=True)
        return answer.status_code == 200 and answer
    answer = wait_for(page, "VS Code's page")
    assert "workbench" in answer.text
    commit = re.search(r"stable-([0-9a-f]{40})", answer.text)[1]
    assert client.get(url + "healthz").status_code == 200
    socket = url.replace("http", "ws") + (f"stable-{commit}?reconnectionToken={uuid.uuid4()}&reconnection=false"
                                          "&skipWebSocketFrames=false")
    headers = {"Cookie": cookie(client)}
    with connect(socket, additional_headers=headers, origin=url[:url.index("/t/")], proxy=None, max_size=None) as ws:
        # A regular message (type 2) that asks to sign: the server answers with its challenge.
        body = json.dumps({"type": "auth", "auth": "00000000000000000000", "data": "x"}).encode()
        ws.send(bytes([2]) + (0).to_bytes(4, "big") + (0).to_bytes(4, "big") + len(body).to_bytes(4, "big") + body)
        seen = b""
        while b'"type":"sign"' not in seen:
            seen += ws.recv(timeout=120)
