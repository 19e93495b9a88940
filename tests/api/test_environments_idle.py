"""How long an environment is unused: open pages and connections that only stay open are no use, what people and programs do is."""

import contextlib
import json
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import httpx
from harness import DEADLINE, unique, wait_for
from test_environments import admin, cookie, make, message, open_tool, run, server, spec, start, stop  # noqa: F401  (fixtures)
from test_environments_ssh import Client, access
from websockets.sync.client import ClientConnection, connect

GROWN = 12  # seconds: more than between two polls of a page, and between two questions to the tools


def idle(api, e: dict) -> int:
    return api.get(f"environments/{e['id']}")["idle_s"]


def grows(api, e: dict, meanwhile=lambda: None) -> None:
    """What happens meanwhile, every few seconds, is no use."""
    seen = -1

    def grown():
        nonlocal seen
        before, seen = seen, idle(api, e)
        if seen != before and seen % 4 == 0:
            meanwhile()
        return seen >= GROWN
    wait_for(grown, f"idle_s of {GROWN}")


def falls(api, e: dict) -> None:
    """Though this does nothing."""
    highest = 0

    def fell():
        nonlocal highest
        now = idle(api, e)
        highest = max(highest, now)
        return now < highest
    wait_for(fell, "idle_s to fall")


class Page:
    """An open page of JupyterLab: its sockets, and what it asks all the time."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self.client, self.url = client, url
        self.kernel = client.post(url + "api/kernels", json={"name": "python3"}).json()["id"]
        self.layout = {"data": {}, "metadata": {"id": "default"}}

    @contextlib.contextmanager
    def socket(self, path: str):
        with connect(self.url.replace("http", "ws") + path, additional_headers={"Cookie": cookie(self.client)}, proxy=None,
                     origin=self.url[:self.url.index("/t/")], max_size=None, ping_interval=1, ping_timeout=None) as ws:
            yield ws

    def polls(self) -> None:
        for path in ("api/sessions", "api/kernels", "api/terminals", "api/contents?content=1", "api/me", "api/kernelspecs", "lab/api/workspaces"):
            assert self.client.get(self.url + path).status_code == 200, path
        assert self.client.put(self.url + "lab/api/workspaces/default", json=self.layout).status_code == 204


def execute(ws: ClientConnection, code: str, until: str) -> None:
    """Sends a cell; returns when a message of the kernel has the words in it."""
    ws.send(message("execute_request", {"code": code, "silent": False, "store_history": True, "user_expressions": {},
                                        "allow_stdin": False, "stop_on_error": True}))
    while until not in (answer := ws.recv(timeout=DEADLINE)):
        assert json.loads(answer)["msg_type"] != "error", answer


def test_an_open_page_is_no_use_and_a_cell_is(admin, make):
    e = start(admin, make())
    page = Page(*open_tool(admin, e))
    with page.socket(f"api/kernels/{page.kernel}/channels") as kernel, page.socket("api/events/subscribe"):
        execute(kernel, "print(6 * 7)", "42")
        grows(admin, e, page.polls)
        execute(kernel, "print(7 * 7)", "49")
        wait_for(lambda: idle(admin, e) < GROWN, "the cell to count")
        # A cell that takes long, though it computes nothing, with nobody looking.
        execute(kernel, "import threading; print('begun', flush=True); threading.Event().wait()", "begun")
    falls(admin, e)


def test_what_computes_is_use(admin, make, server):
    """A program that nobody looks at; not one that only waits."""
    e = start(admin, make())
    run(admin, e, "setsid sh -c 'while [ ! -e go ]; do sleep 1; done; while :; do :; done' </dev/null >/dev/null 2>&1 & sleep 0.1")
    grows(admin, e)
    [folder] = Path(server.data, "workspace").glob(f"{e['id']}-*")
    (folder / "go").touch()
    wait_for(lambda: idle(admin, e) < GROWN, "the program to count")


def test_keep_alives_of_ssh_are_no_use(admin, make):
    e = start(admin, make())
    ssh = access(admin, e)
    client = Client(ssh, password=ssh["password"])
    command = client.command("ssh", "-o", "ServerAliveInterval=1", "-tt", client.where, "stty -echo; echo ready; cat; echo ended")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        assert session.stdout.readline().strip() == "ready"
        grows(admin, e)
        session.stdin.write("a line that is long enough to be no keep-alive " * 5 + "\n")
        session.stdin.flush()
        wait_for(lambda: idle(admin, e) < GROWN, "what is typed to count")
        session.terminate()


def test_a_server_that_begins_again_does_not_end_what_was_used_before(fresh_server):
    """It does not know when that was: the time counts from its own beginning."""
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.2, "memory": 256 << 20})
    e = start(admin, admin.post("environments", {"project": project["id"], "name": unique("e"), "spec": spec["id"], "idle_hours": 1}))
    grows(admin, e)
    server.stop()
    admin = server.start().admin()
    started = datetime.fromisoformat(admin.get(f"environments/{e['id']}")["started_at"])
    unused = idle(admin, e)
    assert (datetime.now(timezone.utc) - started).total_seconds() - unused >= GROWN
    stop(admin, e)
