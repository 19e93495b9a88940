"""Things that break: the process, the disk, the database server. Nothing acknowledged is lost, the server says 503
meanwhile, and goes on by itself afterwards."""

import os
import signal
import subprocess
import tempfile
import threading

import httpx
import pytest
from harness import ADMIN_PASSWORD, DEADLINE, Api, problem, unique, wait_for

CLIENTS = 8


class Burst:
    """Clients that create specs as fast as they are answered, and remember what was acknowledged."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        self.acknowledged: list[tuple[int, str]] = []
        self.lock = threading.Lock()
        self.ending = False
        self.threads = [threading.Thread(target=self._run) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def _run(self) -> None:
        with Api(self.url, self.token) as api:
            while not self.ending:
                name = unique("burst")
                try:
                    answer = api.call("POST", "specs", json={"name": name, "cpus": 1, "memory": 1 << 30})
                except httpx.TransportError:
                    return
                assert answer.status_code == 201, answer.text
                with self.lock:
                    self.acknowledged.append((answer.json()["id"], name))

    def count(self) -> int:
        with self.lock:
            return len(self.acknowledged)

    def join(self) -> None:
        self.ending = True
        for thread in self.threads:
            thread.join(DEADLINE)
            assert not thread.is_alive()


def test_a_killed_server_loses_nothing_acknowledged(fresh_server):
    server = fresh_server()
    token = server.admin().token
    first = {one["id"] for one in server.admin().all("specs")}  # made with the platform, by nobody
    acknowledged = []
    for round_ in range(5):
        burst = Burst(server.url, token)
        wait_for(lambda: burst.count() >= 20 + 7 * round_, "a burst of writes")
        server.kill()
        burst.join()
        acknowledged += burst.acknowledged
        server.start()
        api = Api(server.url, token)
        stored = {one["id"]: one["name"] for one in api.all("specs", limit=200)}
        missing = [one for one in acknowledged if stored.get(one[0]) != one[1]]
        assert not missing
        # What was written is whole: each has its line in the audit.
        made = {one["object"] for one in api.all("audit", filter='kind = "spec" and verb = "create"', limit=200)}
        assert made >= stored.keys() - first


@pytest.fixture
def small_disk():
    """A folder with 24 MiB of room."""
    folder = tempfile.mkdtemp(prefix="ingot-small-")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        os.rmdir(folder)
        pytest.fail(f"a small disk could not be mounted (that needs root): {mounted.stderr.decode()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
    os.rmdir(folder)


def fill(path: str) -> None:
    """Takes all room that is left."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"\1" * size)
            except OSError:
                pass


def test_a_full_disk(fresh_server, make_db, small_disk):
    if make_db() is not None:
        pytest.skip("the disk is PostgreSQL's")
    server = fresh_server(data=small_disk, db=None)
    api = server.admin()
    project = api.post("projects", {"name": "p"})["id"]
    kept = api.post("specs", {"name": "kept", "cpus": 1, "memory": 1 << 30})
    files = api.post("algorithm-sets", {"project": project, "name": "code"})["id"]
    code = f"algorithm-sets/{files}/versions/{api.post(f'algorithm-sets/{files}/versions', {})['id']}"
    assert api.call("PUT", f"{code}/content?path=a", content=b"kept").status_code == 200
    fill(f"{small_disk}/filler")
    labels = [{"name": f"label {i}"} for i in range(900)]

    def refused():
        answer = api.call("POST", "label-sets", json={"project": project, "name": unique(), "labels": labels})
        return answer if answer.status_code != 201 else None
    answer = wait_for(refused, "the refusal of a write")
    problem(answer, 503, "unavailable")
    assert "retry-after" in answer.headers
    for method, path, options in (("PUT", f"{code}/content?path=b", {"content": b"x" * 100_000}),
                                  ("POST", "sessions", {"json": {"name": "admin", "password": ADMIN_PASSWORD}}),
                                  ("POST", f"uploads?project={project}", {"headers": {"Tus-Resumable": "1.0.0", "Upload-Length": "9"}}),
                                  ("GET", "backup", {})):
        problem(api.call(method, path, **options), 503, "unavailable")
    assert api.get(f"specs/{kept['id']}") == kept
    assert api.call("GET", f"{code}/content?path=a").content == b"kept"
    count = api.get("label-sets", project=project, count="true")["total"]
    os.unlink(f"{small_disk}/filler")
    wait_for(lambda: api.call("POST", "specs", json={"name": unique(), "cpus": 1, "memory": 1 << 30}).status_code == 201,
             "a write after the disk has room again")
    assert api.get("label-sets", project=project, count="true")["total"] == count
    assert api.call("PUT", f"{code}/content?path=b", content=b"x" * 100_000).status_code == 200
    assert [one["name"] for one in api.get(f"{code}/files")["items"]] == ["a", "b"]
    server.stop()


def test_a_lost_postgresql(fresh_server):
    """The whole database server goes away and comes back."""
    from harness import Postgres
    cluster = Postgres()
    try:
        server = fresh_server(db=cluster.url)
        api = server.admin()
        kept = api.post("specs", {"name": "kept", "cpus": 1, "memory": 1 << 30})
        cluster.lose()
        for method, path, body in (("GET", "specs", None), ("GET", "health", None),
                                   ("POST", "specs", {"name": "lost", "cpus": 1, "memory": 1 << 30})):
            problem(api.call(method, path, json=body), 503, "unavailable")
        cluster.resume()
        wait_for(lambda: api.call("GET", "health").status_code == 200, "the health after the loss")
        wait_for(lambda: api.call("POST", "specs", json={"name": unique(), "cpus": 1, "memory": 1 << 30}).status_code == 201,
                 "a write after the loss")
        assert api.get(f"specs/{kept['id']}") == kept
        assert api.get("specs", q="lost")["items"] == []
        server.stop()
    finally:
        cluster.stop()


def test_a_postgresql_that_hangs(fresh_server):
    """Its processes are there and its sockets take connections, but nothing answers: requests are not held, and it comes back."""
    from harness import Postgres
    cluster = Postgres()

    def processes() -> list[int]:
        with open(f"{cluster.dir}/data/postmaster.pid") as f:
            first = int(f.readline())
        with open(f"/proc/{first}/task/{first}/children") as f:
            return [first, *map(int, f.read().split())]
    stopped: list[int] = []
    try:
        server = fresh_server(db=cluster.url)
        api = server.admin()
        kept = api.post("specs", {"name": "kept", "cpus": 1, "memory": 1 << 30})
        stopped = processes()
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        for method, path, body in (("GET", f"specs/{kept['id']}", None), ("POST", "specs", {"name": "held", "cpus": 1, "memory": 1 << 30})):
            problem(api.call(method, path, json=body), 503, "unavailable")
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        stopped = []
        wait_for(lambda: api.call("GET", "health").status_code == 200, "the health after the pause")
        wait_for(lambda: api.call("POST", "specs", json={"name": unique(), "cpus": 1, "memory": 1 << 30}).status_code == 201, "a write after the pause")
        assert api.get(f"specs/{kept['id']}") == kept
        server.stop()
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        cluster.stop()
