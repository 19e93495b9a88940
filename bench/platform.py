"""Benchmarks of the running platform (issue table of the foundation), each against a peer in the same minute.

    scripts/bench.sh platform [--list] [--seconds N] [NAME...]

CPU is what the process itself used (utime + stime of /proc), so a busy machine disturbs the figures little.
"""

import contextlib
import http.client
import json
import os
import random
import sqlite3
import statistics
import sys
import threading
import time

from peers import Nginx, Server, Wrk, fill, upload
from runner import MB, Bench, best_of, main

ROWS = 1_000_000


class Platform(Bench):
    names = ["get", "kept", "auth", "list", "search", "create", "upload", "start"]

    def big(self) -> str:
        """A data folder with a million label sets, and one with a thousand; made once."""
        for name, rows in (("million", ROWS), ("thousand", 1000)):
            path = os.path.join(self.dir, name)
            if not os.path.exists(path):
                with self.server(name) as server:
                    server.project("bench")
                fill(path, rows, ROWS // rows)
        return os.path.join(self.dir, "million")

    # --- the rows of the table ---

    def get(self) -> None:
        """authenticated GET of one object by id, 64 connections, against nginx with a constant of 300 bytes"""
        with self.server("get") as server, Nginx(os.path.join(self.dir, "nginx")) as nginx:
            project = server.project("bench")
            paths = []
            for i in range(1000):
                made = server.call("POST", "/label-sets", {"project": project, "name": f"set {i}", "labels": []})
                paths.append(f"/api/v1/label-sets/{made['id']}")
            wrk = Wrk(self.dir, self.seconds)
            ours, peer = best_of(lambda: wrk.per_cpu_second(server, paths, 64, server.token),
                                 lambda: wrk.per_cpu_second(nginx, ["/"] * len(paths), 64))
            self.report("GET by id (1,000 objects at random), requests per CPU-second",
                        f"{ours:,.0f} against nginx {peer:,.0f}", f"{ours / peer:.2f}", "at least 0.40",
                        ours / peer >= 0.4)

    def kept(self) -> None:
        """authenticated GET by id while somebody else creates objects of another kind, against the same without"""
        with self.server("kept") as server:
            project = server.project("bench")
            paths = []
            for i in range(1000):
                made = server.call("POST", "/label-sets", {"project": project, "name": f"set {i}", "labels": []})
                paths.append(f"/api/v1/label-sets/{made['id']}")
            wrk = Wrk(self.dir, self.seconds)
            turns = []
            for _ in range(3):
                quiet = wrk.per_cpu_second(server, paths, 64, server.token)
                with Writing(server, project):
                    turns.append((wrk.per_cpu_second(server, paths, 64, server.token), quiet))
            busy, quiet = (max(side) for side in zip(*turns))
            self.report("GET by id while another client creates 100 objects of another kind a second, requests per CPU-second",
                        f"{busy:,.0f} against {quiet:,.0f} without", f"{busy / quiet:.2f}", "at least 0.80", busy / quiet >= 0.8)

    def auth(self) -> None:
        """the same public path with and without a bearer token"""
        with self.server("auth") as server:
            # Such a request changes threads, and what that costs varies much more than a token's check: many short turns.
            wrk = Wrk(self.dir, 1)
            path = "/api/v1/health"
            server.sign_in()
            turns = [(wrk.per_cpu_second(server, [path], 64), wrk.per_cpu_second(server, [path], 64, server.token))
                     for _ in range(4 * self.seconds)]
            plain, bearer = (statistics.median(side) for side in zip(*turns))
            self.report("bearer token against no authentication, CPU per request",
                        f"{1e6 / bearer:.1f} us against {1e6 / plain:.1f} us", f"{plain / bearer:.2f}x",
                        "at most 1.15x", plain / bearer <= 1.15)

    def list(self) -> None:
        """a page of 20, searched by name prefix, at any place: p99 out of a million rows against a thousand"""
        self.big()
        figures = {}
        for name in ("thousand", "million"):
            with self.server(name) as server:
                paths = list_paths(server)
                wrk = Wrk(self.dir, self.seconds)
                figures[name] = min(wrk.p99(server, paths, server.token) for _ in range(3))
        ratio = figures["million"] / figures["thousand"]
        self.report("list of 20 by prefix, any page, p99 of 1,000,000 rows against 1,000",
                    f"{figures['million']:.2f} ms against {figures['thousand']:.2f} ms", f"{ratio:.2f}x",
                    "at most 2x", ratio <= 2)

    def search(self) -> None:
        """first pages of parts of words among a million rows, p99 against those of prefixes by the index of the names"""
        self.big()
        with self.server("million") as server:
            wait_for_index(os.path.join(self.dir, "million"))
            wrk = Wrk(self.dir, self.seconds)
            project = server.project("bench")
            parts, prefixes = (search_paths(project, what) for what in ("q={}", "filter=name%20~%20%22{}%22"))
            turns = [(wrk.p99(server, parts, server.token), wrk.p99(server, prefixes, server.token, "%20and%20")) for _ in range(3)]
            ours, peer = (min(side) for side in zip(*turns))
            self.report("first page of a search for parts of words among 1,000,000 rows, p99 against prefixes in the order of their index",
                        f"{ours:.2f} ms against {peer:.2f} ms", f"{ours / peer:.1f}x", "at most 5x", ours / peer <= 5)

    def create(self) -> None:
        """durable creates per second, 64 clients against one (SQLite, synchronous=FULL)"""
        with self.server("create") as server:
            project = server.project("bench")
            wrk = Wrk(self.dir, self.seconds)
            one, many = best_of(lambda: wrk.creates(server, project, 1), lambda: wrk.creates(server, project, 64))
            self.report("durable creates per second, 64 clients against one", f"{many:,.0f} against {one:,.0f}",
                        f"{many / one:.1f}x", "at least 8x", many / one >= 8)

    def upload(self) -> None:
        """peak memory of the server while 2 GiB are uploaded"""
        with self.server("upload") as server:
            project = server.project("bench")
            server.call("GET", "/projects")
            idle = server.memory()
            peak = upload(server, project, 2 << 30)
            self.report("2 GiB upload: peak memory over idle", f"{peak / MB:.1f} MB over {idle / MB:.1f} MB",
                        f"{(peak - idle) / MB:.1f} MB", "at most 30 MB", (peak - idle) <= 30 * MB)

    def start(self) -> None:
        """memory after the start, and the time to the first answer, with a million rows"""
        self.big()
        times, memory = [], 0
        for _ in range(5):
            with self.server("million") as server:
                times.append(server.ready_after)
                memory = max(memory, server.memory())
        best = sorted(times)[len(times) // 2]
        self.report("idle memory after the start with 1,000,000 rows", f"{memory / MB:.1f} MB resident",
                    f"{memory / MB:.1f} MB", "at most 30 MB", memory <= 30 * MB)
        self.report("start to the first answer with 1,000,000 rows (median of 5)", f"{best * 1000:.0f} ms",
                    f"{best * 1000:.0f} ms", "at most 200 ms", best <= 0.2)


class Writing:
    """A client of its own that creates algorithm sets."""

    def __init__(self, server: Server, project: int) -> None:
        self.port, self.token, self.project, self.over = server.port, server.token, project, threading.Event()

    def __enter__(self) -> "Writing":
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *exc) -> None:
        self.over.set()
        self.thread.join()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        while not self.over.wait(0.01):
            body = json.dumps({"project": self.project, "name": f"a {time.time_ns()}"})
            connection.request("POST", "/api/v1/algorithm-sets", body, headers)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 201, text
        connection.close()


def wait_for_index(data: str) -> None:
    """Until the words of all label sets are in the index."""
    while True:
        with contextlib.closing(sqlite3.connect(os.path.join(data, "ingot.db"), timeout=60)) as db:
            if (db.execute("SELECT mark FROM search_places WHERE source = 'label_set'").fetchone() or (0,))[0] >= ROWS:
                return
        time.sleep(0.5)


def search_paths(project: int, what: str) -> list[str]:
    """First pages for parts of every length from the middle of the names, in both orders; for prefixes, of such lengths."""
    rng = random.Random(7)
    number = [f"{rng.randrange(ROWS):06}" for _ in range(12)]
    if what.startswith("q"):
        texts = ["set", "et-", *(n[1:1 + digits] for n in number for digits in (3, 4, 5)), *(f"{n[:3]}%20{n[3:]}" for n in number)]
    else:
        texts = ["set-", *(f"set-{n[:digits]}" for n in number for digits in (1, 2, 3, 4))]
    return [f"/api/v1/label-sets?project={project}&limit=20&sort={sort}&{what.format(text)}" for text in texts for sort in ("name", "-name")]


def list_paths(server: Server) -> list[str]:
    """Lists with prefixes of every length, first pages and pages in the middle."""
    rng = random.Random(7)
    project = server.project("bench")
    paths = []
    for sort in ("", "&sort=name", "&sort=-name"):
        for prefix in ("set-", "set-1", "set-12", "set-123", *(f"set-{rng.randrange(1000):03}" for _ in range(10))):
            base = f"/label-sets?project={project}&limit=20&q={prefix}{sort}"
            cursor = ""
            for _ in range(6):
                paths.append("/api/v1" + base + cursor)
                page = server.call("GET", base + cursor)
                if not page["next"]:
                    break
                cursor = f"&cursor={page['next']}"
    return paths


if __name__ == "__main__":
    sys.exit(main(Platform))
