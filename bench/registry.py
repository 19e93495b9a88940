"""Benchmarks of the registry against Debian's docker-registry, each in the same minute.

    scripts/bench.sh registry [--seconds N] [--rounds N] [NAME...]

docker-registry runs without authentication and with its files in the same folder; ours asks for a token each time.
"""

import argparse
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from peers import Server, Wrk, cpu_seconds, free_port

MB = 1024 * 1024
LAYER = 100 * MB
BLOBS = 100_000
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


class DockerRegistry:
    """Debian's package, on a folder and a port of its own."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __enter__(self) -> "DockerRegistry":
        os.makedirs(self.folder)
        self.port = free_port()
        config = os.path.join(self.folder, "config.yml")
        Path(config).write_text(f"""
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage:
  cache: {{blobdescriptor: inmemory}}
  filesystem: {{rootdirectory: {self.folder}/files}}
http: {{addr: "127.0.0.1:{self.port}"}}
""")
        self.process = subprocess.Popen(["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                assert self.process.poll() is None, "docker-registry ended"
                time.sleep(0.01)
        self.pids = [self.process.pid]
        self.token = None
        return self

    def __exit__(self, *exc) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def resident(peer) -> int:
    text = Path(f"/proc/{peer.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024


class Client:
    """One connection to a registry."""

    def __init__(self, peer) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", peer.port, blocksize=1 << 20)
        self.headers = {"Authorization": f"Bearer {peer.token}"} if peer.token else {}

    def call(self, method: str, path: str, body=None, **headers):
        self.connection.request(method, path, body, {**self.headers, **headers})
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, f"{method} {path}: {answer.status} {text[:300]!r}"
        return answer, text

    def push(self, repository: str, data: bytes) -> float:
        """As docker and skopeo do it: an upload, one PATCH, a PUT; seconds."""
        name = digest(data)
        begun = time.monotonic()
        at = self.call("POST", f"/v2/{repository}/blobs/uploads/")[0].getheader("Location")
        at = self.call("PATCH", at, data, **{"Content-Type": "application/octet-stream"})[0].getheader("Location")
        self.call("PUT", at + ("&" if "?" in at else "?") + f"digest={name}", b"")
        return time.monotonic() - begun

    def pull(self, repository: str, data_digest: str) -> float:
        begun = time.monotonic()
        self.connection.request("GET", f"/v2/{repository}/blobs/{data_digest}", None, self.headers)
        answer = self.connection.getresponse()
        space, total = bytearray(1 << 20), 0
        while n := answer.readinto(space):
            total += n
        assert total == LAYER
        return time.monotonic() - begun

    def manifest(self, repository: str, tag: str) -> None:
        config, layer = b'{"architecture":"amd64","os":"linux"}', b"a small layer"
        for data in (config, layer):
            self.push(repository, data)
        parts = [{"mediaType": t, "digest": digest(d), "size": len(d)} for t, d in
                 (("application/vnd.oci.image.config.v1+json", config), ("application/vnd.oci.image.layer.v1.tar", layer))]
        text = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": parts[0], "layers": parts[1:]})
        self.call("PUT", f"/v2/{repository}/manifests/{tag}", text, **{"Content-Type": MANIFEST})


class Bench:
    def __init__(self, seconds: int, rounds: int) -> None:
        self.seconds, self.rounds = seconds, rounds
        self.dir = tempfile.mkdtemp(prefix="ingot-bench-", dir=os.environ.get("BENCH_DIR"))
        self.missed = 0

    def report(self, what: str, measured: str, figure: str, wanted: str, good: bool) -> None:
        self.missed += not good
        print(f"  {what}: {measured} -> {figure} (wanted: {wanted}){'' if good else '  MISSED'}", flush=True)

    def peers(self, name: str):
        ours = Server(os.path.join(self.dir, f"{name}-ours"))
        return ours, DockerRegistry(os.path.join(self.dir, f"{name}-peer"))

    def transfer(self) -> None:
        """push and pull of layers of 100 MB"""
        with (pair := self.peers("transfer"))[0] as ours, pair[1] as peer:
            ours.project("bench")
            times = {("push", p): [] for p in (ours, peer)} | {("pull", p): [] for p in (ours, peer)}
            for _ in range(self.rounds):
                data = random.randbytes(LAYER)
                for p in (ours, peer):
                    client = Client(p)
                    client.manifest("bench/tool", "v1")
                    times["push", p].append(client.push("bench/tool", data))
                    times["pull", p].append(min(client.pull("bench/tool", digest(data)) for _ in range(2)))
            for what in ("push", "pull"):
                mine, theirs = min(times[what, ours]), min(times[what, peer])
                self.report(f"{what} of a 100 MB layer, MB/s", f"{100 / mine:,.0f} against {100 / theirs:,.0f}",
                            f"{theirs / mine:.2f}", "at least 1.0", theirs / mine >= 1)

    def manifests(self) -> None:
        """GET of a manifest by tag, 64 connections; and the memory after it"""
        with (pair := self.peers("manifests"))[0] as ours, pair[1] as peer:
            ours.project("bench")
            for p in (ours, peer):
                Client(p).manifest("bench/tool", "v1")
            wrk, figures, memory = Wrk(self.dir, self.seconds), {ours: [], peer: []}, {ours: 0, peer: 0}
            for _ in range(3):
                for p in (ours, peer):
                    args = ["-H", f"Authorization: Bearer {p.token}"] if p.token else []
                    before = cpu_seconds(p.pids)
                    out = wrk.run(p.port, "/v2/bench/tool/manifests/v1", 64, "-H", f"Accept: {MANIFEST}", *args)
                    count = int(re.search(r"(\d+) requests in", out)[1])
                    memory[p] = max(memory[p], resident(p))
                    figures[p].append((float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), count / (cpu_seconds(p.pids) - before)))
            mine, theirs = (tuple(max(f[i] for f in figures[p]) for i in (0, 1)) for p in (ours, peer))
            self.report("manifest GET, requests per second", f"{mine[0]:,.0f} against {theirs[0]:,.0f}", f"{mine[0] / theirs[0]:.1f}x",
                        "at least 5x", mine[0] >= 5 * theirs[0])
            self.report("manifest GET, requests per CPU-second", f"{mine[1]:,.0f} against {theirs[1]:,.0f}",
                        f"{mine[1] / theirs[1]:.1f}x", "at least 5x", mine[1] >= 5 * theirs[1])
            self.report("resident memory after it", f"{memory[ours] / MB:.1f} MB against {memory[peer] / MB:.1f} MB",
                        f"{memory[ours] / memory[peer]:.2f}", "at most 0.33", memory[ours] <= memory[peer] / 3)

    def collector(self) -> None:
        """p99 of a HEAD of a blob while the collector removes 100,000 of them, against idle"""
        folder = os.path.join(self.dir, "collector")
        with Server(folder) as ours:
            ours.project("bench")
            Client(ours).manifest("bench/tool", "v1")
        bury(folder)
        with Server(folder) as ours:
            ours.project("bench")
            path = f"/v2/bench/tool/blobs/{digest(b'a small layer')}"
            idle = heads(ours, path, lambda: False, 3000)
            Client(ours).manifest("bench/other", "v1")
            image = ours.call("GET", "/images?project=1&q=other")["items"][0]
            delete(ours, f"/images/{image['id']}", image["revision"])  # wakes the collectors
            wait_for_begin(folder)
            until = time.monotonic() + 10 * self.seconds
            busy = heads(ours, path, lambda: time.monotonic() > until or left(folder) == 0, 1_000_000)
        self.report(f"HEAD while the collector removes {BLOBS:,} blobs, p99", f"{busy * 1e3:.2f} ms against {idle * 1e3:.2f} ms idle",
                    f"{busy / idle:.2f}x", "at most 2x", busy <= 2 * idle)


def bury(data: str) -> None:
    """Blobs that nobody has used for long, into a stopped server's folder."""
    db = sqlite3.connect(os.path.join(data, "ingot.db"))
    rows = []
    for i in range(BLOBS):
        content = f"forgotten {i}".encode()
        raw = hashlib.sha256(content).digest()
        folder = os.path.join(data, "blobs/sha256", raw.hex()[:2])
        os.makedirs(folder, exist_ok=True)
        Path(folder, raw.hex()).write_bytes(content)
        rows.append((raw, len(content), i))
    db.executemany("INSERT INTO blobs (digest, size, touched_at, uses) VALUES (?, ?, ?, 0)", rows)
    db.commit()
    db.close()


def left(data: str) -> int:
    db = sqlite3.connect(f"file:{data}/ingot.db?mode=ro", uri=True, timeout=60)
    n = db.execute("SELECT count(*) FROM blobs WHERE uses = 0 AND touched_at < 1000000").fetchone()[0]
    db.close()
    return n


def wait_for_begin(data: str) -> None:
    while left(data) == BLOBS:
        time.sleep(0.005)


def delete(server: Server, path: str, revision: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("DELETE", "/api/v1" + path, None, {"Authorization": f"Bearer {server.token}", "If-Match": f'"{revision}"'})
    assert connection.getresponse().status == 204


def heads(server: Server, path: str, is_over, most: int) -> float:
    """The p99 in seconds of HEADs on two connections until it is over."""
    times, stop = [], threading.Event()

    def ask() -> None:
        client, mine = Client(server), []
        while not stop.is_set() and len(mine) < most // 2:
            begun = time.perf_counter()
            client.call("HEAD", path)
            mine.append(time.perf_counter() - begun)
        times.extend(mine)
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        if is_over():
            stop.set()
        time.sleep(0.2)
    for t in threads:
        t.join()
    return sorted(times)[int(len(times) * 0.99)]


def main() -> int:
    names = ["transfer", "manifests", "collector"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("names", nargs="*", help=", ".join(names))
    options = parser.parse_args()
    bench = Bench(options.seconds, options.rounds)
    try:
        for name in options.names or names:
            print(f"{name}: {getattr(Bench, name).__doc__}", flush=True)
            getattr(bench, name)()
    finally:
        shutil.rmtree(bench.dir, ignore_errors=True)
    return 1 if bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
