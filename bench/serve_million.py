"""Many small requests to a model service while everything around it changes: none may be lost, the share must hold.

    scripts/bench.sh million [--requests N] [--connections N]
    scripts/bench.sh million --slow [--connections 10000]

While N requests (1,000,000) are sent by keep-alive connections, the canary's share changes 100 times, production and canary
change places 10 times, a replica is killed 10 times, and the server is replaced twice by another process that gets its
sockets. A request is lost when it gets no 200: on a connection that was kept, one that ends before the first byte of an
answer is asked again on a new one, as HTTP clients do. --slow: so many connections wait for a service whose one replica is
slow, while another service is asked. Needs root, as containers do.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

# This folder last: its platform.py is not the one that others import.
sys.path.append(sys.path.pop(0))
ROOT = Path(__file__).parents[1]
sys.path += [str(ROOT / "tests" / "api"), str(ROOT / "tests" / "infer")]
os.environ.setdefault("INGOT_BUILD", str(ROOT / "build" / "release"))

import httpx  # noqa: E402
import models  # noqa: E402
from harness import ADMIN_PASSWORD, Api, wait_for  # noqa: E402
from test_handover import Handed, listening  # noqa: E402

BODY = json.dumps({"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}]}).encode()
CHANGES, SWITCHES, KILLS, UPGRADES = 100, 10, 10, 2
NEITHER, ENDED = -1, -2  # of the numbers of stretches: while the share changes; everything has happened
SLOW = """cat > s.py <<'END'
import asyncio, os
async def answer(r, w):
    asked = await r.readline()
    while await r.readline() not in (b"\\r\\n", b""): pass
    if os.environ.get("SLOW") and b" / " not in asked: await asyncio.sleep(float(os.environ["SLOW"]))
    w.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
    await w.drain()
    w.close()
async def main():
    await (await asyncio.start_server(answer, "127.0.0.1", int(os.environ["PORT"]), backlog=4096)).serve_forever()
asyncio.run(main())
END
exec python3 -u s.py"""


class Asking:
    """One keep-alive connection after the other."""

    def __init__(self, host: str, port: int, path: str, key: str) -> None:
        self.where = (host, port)
        head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
        self.request, self.socket = head.encode() + BODY, None

    def once(self) -> tuple[int, bool, bool]:
        """Status (0: broken off), whether the canary answered, whether not even a byte came."""
        if not self.socket:
            self.socket = socket.create_connection(self.where, 120)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        seen = b""
        try:
            self.socket.sendall(self.request)
            while b"\r\n\r\n" not in seen:
                piece = self.socket.recv(65536)
                if not piece:
                    raise ConnectionResetError
                seen += piece
            head, _, body = seen.partition(b"\r\n\r\n")
            fields = {k.lower(): v for k, _, v in (line.partition(b": ") for line in head.split(b"\r\n")[1:])}
            left = int(fields.get(b"content-length", b"0")) - len(body)
            while left > 0:
                left -= len(self.socket.recv(65536)) or left + 1
            if left < 0 or fields.get(b"connection", b"").lower() == b"close":
                self.close()
            return int(head[9:12]) if left == 0 else 0, fields.get(b"x-ingot-version") == b"canary", False
        except OSError:
            self.close()
            return 0, False, not seen

    def close(self) -> None:
        if self.socket:
            self.socket.close()
        self.socket = None


def ask(arguments: tuple, connections: int, total: int, done, results) -> None:
    """A process of clients: until all of them together have asked so often. Puts (epoch, canary) counts and failures."""
    epoch, count = done
    told: dict[int, list[int]] = {}
    lost: list[int] = []
    again = [0]
    lock = threading.Lock()

    def client() -> None:
        a = Asking(*arguments)
        while True:
            with count.get_lock():
                if count.value >= total and epoch.value == ENDED:
                    break
                count.value += 1
            era, kept = epoch.value, a.socket is not None
            status, canary, silent = a.once()
            if status == 0 and silent and kept:
                again[0] += 1
                status, canary, silent = a.once()
            with lock:
                if status != 200:
                    lost.append(status)
                elif era == epoch.value:  # else it began before a change and ended after it
                    pair = told.setdefault(era, [0, 0])
                    pair[canary] += 1
        a.close()
    threads = [threading.Thread(target=client) for _ in range(connections)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    results.put((told, lost, again[0]))


def processes_of(data: str) -> list[int]:
    """The first processes of the containers that run now, as their supervisors have written them down."""
    found = []
    for file in Path(data, "jobs").rglob("run"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int(file.read_text().split()[1])
            if file.is_file() and not (file.parent / "end").exists() and Path(f"/proc/{pid}").exists():
                found.append(pid)
    return found


class Platform:
    """A server whose sockets are held here, and a client of it."""

    def __init__(self, data: str) -> None:
        self.data, self.sockets = data, [listening() for _ in range(3)]
        self.start()
        self.project = self.api.post("projects", {"name": "p"})["id"]

    def start(self) -> None:
        self.server = Handed(self.data, None, self.sockets)
        self.address = self.server.ready()
        self.api = Api(self.address["Ingot is ready"]).sign_in("admin", ADMIN_PASSWORD)

    def upgrade(self) -> None:
        self.server.stop()
        self.start()

    def serve(self, name: str, versions: list[dict], spec: dict) -> tuple[dict, str]:
        service = self.api.post("services", {"project": self.project, "name": name, "drain_s": 10})
        made = [self.api.post(f"services/{service['id']}/versions", {"spec": spec["id"], **v}) for v in versions]
        for v in made:
            wait_for(lambda v=v: self.api.get(f"services/{service['id']}/versions/{v['id']}")["state"] == "serving", "the service to serve")
        key = self.api.post(f"services/{service['id']}/keys", {"name": "k", "rate": 1e6, "burst": 100000, "concurrency": 100000})
        return service, key["secret"]

    def where(self, service: dict) -> tuple[str, int, str]:
        url = urllib.parse.urlsplit(self.address["Services are"])
        return url.hostname, url.port, urllib.parse.urlsplit(service["address"]).path

    def __enter__(self) -> "Platform":
        return self

    def __exit__(self, *exc) -> None:
        """Also after a failure no replica and no server stays."""
        for s in self.api.all("services"):
            self.api.call("DELETE", f"services/{s['id']}", headers={"If-Match": "*"})
        wait_for(lambda: not [j for j in self.api.all("jobs", limit=200) if j["state"] in ("running", "stopping")], "the replicas to end")
        self.server.stop()


def model_of(p: Platform) -> int:
    models_set = p.api.post("model-sets", {"project": p.project, "name": "id"})
    version = p.api.post(f"model-sets/{models_set['id']}/versions", {})
    with tempfile.TemporaryDirectory() as folder:
        content = models.identity(Path(folder) / "model.onnx").read_bytes()
    answer = p.api.call("PUT", f"model-sets/{models_set['id']}/versions/{version['id']}/content?path=model.onnx", content=content)
    assert answer.status_code < 300, answer.text
    return version["id"]


def million(total: int, connections: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="ingot-million-") as data, contextlib.ExitStack() as stack:
        p = stack.enter_context(Platform(data))
        spec = p.api.post("specs", {"name": "s", "cpus": 0.2, "memory": 256 << 20})
        model = model_of(p)
        service, key = p.serve("m", [{"model_version": model, "replicas": 2}] * 2, spec)
        host, port, path = p.where(service)
        epoch, count, results = multiprocessing.Value("q", 0), multiprocessing.Value("q", 0), multiprocessing.Queue()
        shares = {0: service["share"]}
        began = time.monotonic()
        clients = [multiprocessing.Process(target=ask, args=((host, port, f"{path}/v2/models/m/infer", key), connections // 2, total, (epoch, count), results))
                   for _ in range(2)]
        for c in clients:
            c.start()

        def share(i: int) -> None:
            wanted = (i * 37) % 500 + 10
            epoch.value = NEITHER
            now = p.api.get(f"services/{service['id']}")
            p.api.patch(f"services/{service['id']}", {"share": wanted}, now["revision"])
            shares[i] = wanted
            epoch.value = i

        def switch(_: int) -> None:
            wait_for(lambda: p.api.call("POST", f"services/{service['id']}/switch").status_code == 200, "the switch")

        def kill(_: int) -> None:
            """Of a service that is whole: with none left there would be nobody to answer."""
            wait_for(lambda: len([r for r in p.api.get(f"services/{service['id']}/replicas")["items"] if r["state"] == "ready"]) >= 4, "all replicas")
            victims = processes_of(data)
            assert victims, "no replica was found"
            os.kill(victims[0], signal.SIGKILL)
        events = sorted([(i / CHANGES, share, i) for i in range(1, CHANGES + 1)] + [((i + 0.5) / SWITCHES, switch, i) for i in range(SWITCHES)] +
                        [((i + 0.75) / KILLS, kill, i) for i in range(KILLS)] + [((i + 0.6) / UPGRADES, lambda _: p.upgrade(), i) for i in range(UPGRADES)],
                        key=lambda e: e[0])
        for _, do, i in events:
            until = count.value + total // len(events)
            while count.value < until:
                time.sleep(0.001)
            do(i)
        until = count.value + total // len(events)
        while count.value < until:
            time.sleep(0.001)
        epoch.value = ENDED
        told, lost, again = {}, [], 0
        for _ in clients:
            one, failed, more = results.get()
            for e, (production, canary) in one.items():
                pair = told.setdefault(e, [0, 0])
                pair[0] += production
                pair[1] += canary
            lost += failed
            again += more
        for c in clients:
            c.join()
        took = time.monotonic() - began
    errors = {e: 100 * (c / (a + c) - shares[e] / 1000) for e, (a, c) in told.items() if e in shares and a + c >= total / len(events) / 2}
    worst = max((abs(v) for v in errors.values()), default=float("nan"))
    print(f"{count.value:,} requests by {connections} connections in {took:.0f} s, {len(shares) - 1} changes of the share, {SWITCHES} switches, {KILLS} replicas killed, "
          f"{UPGRADES} upgrades:\n  lost {len(lost)} {sorted(set(lost))}; asked again on a new connection {again}\n"
          f"  share: {len(errors)} stretches of about {total // len(events):,}; error in points: median {statistics.median(map(abs, errors.values())):.3f}, mean {statistics.mean(map(abs, errors.values())):.3f}, worst {worst:.3f} (wanted: 0.2 over 10,000)")
    return not lost


def slow(connections: int) -> bool:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    connections = min(connections, most - 200)
    with tempfile.TemporaryDirectory(prefix="ingot-million-") as data, contextlib.ExitStack() as stack:
        p = stack.enter_context(Platform(data))
        spec = p.api.post("specs", {"name": "s", "cpus": 0.5, "memory": 512 << 20})
        one, key = p.serve("slow", [{"command": SLOW, "env": {"SLOW": "20"}}], spec)
        other, other_key = p.serve("quick", [{"command": SLOW}], spec)
        host, port, path = p.where(one)
        before = memory_of(p.server.process.pid)
        request = f"GET {path}/x HTTP/1.1\r\nHost: {host}:{port}\r\nX-API-Key: {key}\r\n\r\n".encode()
        held = []
        for _ in range(connections):
            s = socket.create_connection((host, port), 60)
            s.sendall(request)
            held.append(s)
        quick = []
        address = f"http://{host}:{port}{p.where(other)[2]}/"
        for _ in range(200):
            began = time.monotonic()
            assert httpx.get(address, headers={"X-API-Key": other_key}, timeout=60).status_code == 200
            quick.append(time.monotonic() - began)
        after = memory_of(p.server.process.pid)
        answers: dict[str, int] = {}
        for s in held:
            s.settimeout(120)
            word = s.recv(12)[9:12].decode() or "none"
            answers[word] = answers.get(word, 0) + 1
            s.close()
    print(f"{connections:,} connections (of {most:,} files that a process may have) to a service with one slow replica: {answers}; the server's memory "
          f"{before >> 20} -> {after >> 20} MiB; another service meanwhile: p50 {statistics.median(quick) * 1000:.1f} ms, p99 {sorted(quick)[-2] * 1000:.1f} ms")
    return set(answers) <= {"200", "503", "504"}


def memory_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()[0]) * 1024


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--connections", type=int)
    parser.add_argument("--slow", action="store_true")
    given = parser.parse_args()
    good = slow(given.connections or 10_000) if given.slow else million(given.requests, given.connections or 16)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
