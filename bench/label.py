"""Benchmarks of labelling: operations of many annotators at once, and strokes on a full picture.

    scripts/bench.sh label [--list] [--seconds N] [NAME...]

The clients are scripted, on one thread (asyncio), each on a sample of its own, one operation a second.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
import zipfile

from data import blank, ended, imported, jpeg, new_version, sent, stamped
from peers import PASSWORD, ROOT, Server
from runner import Bench, main

SHAPES = 50  # of each sample at work


class Client:
    """A connection that is kept; each operation is timed from its sending to its answer."""

    def __init__(self, server: Server, version: str, sample: int, number: int) -> None:
        self.server, self.version, self.sample = server, version, sample
        self.id, self.sent, self.times = f"annotator{number:06}", 0, []
        self.rng = random.Random(number)

    def body(self) -> bytes:
        r = self.rng
        shape = {"id": f"shape{self.sent % SHAPES:05}", "type": "box", "label": "class 01", "x": round(r.uniform(0, 300), 2),
                 "y": round(r.uniform(0, 200), 2), "w": round(r.uniform(5, 300), 2), "h": round(r.uniform(5, 200), 2)}
        operation = {"id": f"{self.id}.{self.sent + 1}", "sample": self.sample, "op": "put", "shape": shape}
        return json.dumps({"operations": [operation]}).encode()

    async def run(self, until: float, start: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        await asyncio.sleep(start)
        due = time.monotonic()
        while due < until:
            body = self.body()
            begun = time.monotonic()
            writer.write(f"POST /api/v1{self.version}/operations HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {self.server.token}\r\n"
                         f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split()[0])
            answer = json.loads(await reader.readexactly(length))
            assert answer["results"][0]["state"] == "applied", answer
            self.times.append(time.monotonic() - begun)
            self.sent += 1
            due += 1
            await asyncio.sleep(max(0, due - time.monotonic()))
        writer.close()


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] * 1000


class Label(Bench):
    names = ["annotators", "stroke", "next", "memory", "kills"]

    def annotators(self) -> None:
        """200 annotators with an operation a second each and an import beside them, against one alone"""
        with self.server("annotators") as server:
            project = server.project("bench")
            version, ids = self.pictures(server, project, 200)
            asyncio.run(self.work(server, version, ids[:1], 5))  # what is warm stays warm
            alone = asyncio.run(self.work(server, version, ids[:1], min(60, max(5, self.seconds))))
            idle = server.memory()
            other = new_version(server, project, "beside")
            task = server.call("POST", f"{other}/import", {"uploads": [{"upload": self.archive(server, project, 20_000), "name": "b.zip"}]})
            clients = asyncio.run(self.work(server, version, ids, max(15, self.seconds)))
            took = server.memory() - idle
            ended(server, task)
            self.count(server, version, clients)
        times = [t for c in clients for t in c.times]
        p99, one = percentile(times, 0.99), percentile([t for c in alone for t in c.times], 0.99)
        self.report("200 annotators, an operation a second each, beside an import", f"p50/p99 {percentile(times, 0.5):.1f}/{p99:.1f} ms; one alone p99 {one:.1f} ms",
                    f"{p99:.1f} ms, {p99 / one:.1f}x", "at most 50 ms, at most 5x", p99 <= 50 and p99 <= 5 * one)
        each = took / len(clients) / 1000
        self.report("memory of the server for each of them", f"{took / 1e6:.1f} MB more", f"{each:.0f} KB", "at most 200 KB", each <= 200)

    def count(self, server: Server, version: str, clients: list[Client]) -> None:
        """Nothing is lost or doubled: each sample has one revision for each operation that was answered."""
        wrong = 0
        for c in clients:
            items, after = [], 0
            while after is not None:
                page = server.call("GET", f"{version}/samples/{c.sample}/operations?limit=1000&after={after}")
                items += [i["id"] for i in page["items"] if i["client"] == c.id]
                after = page["next"]
            wrong += abs(len(items) - c.sent) + len(items) - len(set(items))
        self.report("operations lost or doubled", f"{sum(c.sent for c in clients)} sent", str(wrong), "0", wrong == 0)

    def stroke(self) -> None:
        """one polygon of 1,000 (of 20 points each) moved: the time of an operation"""
        rng = random.Random(1)

        def polygon(name: str) -> dict:
            x, y = rng.uniform(20, 620), rng.uniform(20, 460)
            ring = [round(v + rng.uniform(-20, 20), 2) for _ in range(20) for v in (x, y)]
            return {"id": name, "type": "polygon", "label": "class 01", "rings": [ring]}
        with self.server("stroke") as server:
            project = server.project("bench")
            version, ids = self.pictures(server, project, 1, "segmentation")
            shapes = [polygon(f"shape{i:05}") for i in range(1000)]
            send(server, version, {"sample": ids[0], "id": "benchmark.1", "op": "replace", "annotation": {"shapes": shapes}})
            times, cpu = [], used(server)
            for n in range(2, 202):
                begun = time.monotonic()
                send(server, version, {"sample": ids[0], "id": f"benchmark.{n}", "op": "put", "shape": polygon(f"shape{n:05}")})
                times.append(time.monotonic() - begun)
            cpu = (used(server) - cpu) / len(times) * 1000
        p50 = percentile(times, 0.5)
        self.report("an operation on a picture with 1,000 polygons", f"p50/p99 {p50:.1f}/{percentile(times, 0.99):.1f} ms; {cpu:.1f} ms of CPU", f"{p50:.1f} ms", "at most 5 ms", p50 <= 5)

    # --- in a browser ---

    def next(self) -> None:
        """the next picture after its key, in a browser, its neighbours preloaded"""
        with self.server("next") as server:
            got = self.browser("next", server, self.photographs(server, 120), 100)
        self.report("next sample shown (preloaded) after the key, 100 times", f"p50/p95/worst {got['p50']:.0f}/{got['p95']:.0f}/{got['worst']:.0f} ms; {got['cpu']:.0f} ms of the main thread's CPU each",
                    f"{got['p95']:.0f} ms", "at most 50 ms (p95)", got["p95"] <= 50)

    def memory(self) -> None:
        """private memory of the renderer after 500 pictures"""
        with self.server("memory") as server:
            got = self.browser("memory", server, self.photographs(server, 510), 500)
        self.report("private memory of the renderer after 500 pictures of 1280 x 960", f"{got['first']:.0f} MB with the first", f"{got['after']:.0f} MB", "at most 300 MB", got["after"] <= 300)

    def kills(self) -> None:
        """server and browser killed at random while a person labels: nothing journalled or sent is lost or doubled (at least a minute; with --seconds longer, up to 100 kills)"""
        with self.server("kills") as server:
            version = self.photographs(server, 1)
            port = server.port
        done = subprocess.run(["node", str(ROOT / "bench/kills.mjs"), os.environ.get("INGOT_BIN", str(ROOT / "build/release/ingot")), server.data, str(port), PASSWORD,
                               page_of(version), "100", str(max(60, self.seconds))], check=True, stdout=subprocess.PIPE, text=True, timeout=self.seconds + 900)
        got = json.loads(done.stdout.splitlines()[-1])
        with self.server("kills") as server:
            sample, = server.call("GET", f"{version}/samples")["items"]
            shapes = [s["id"] for s in sample["annotation"]["shapes"]]
        lost, doubled = len(set(got["safe"]) - set(shapes)), len(shapes) - len(set(shapes))
        self.report("killed while labelling: shapes lost or doubled", f"{got['server']} kills of the server, {got['browser']} of the browser; {len(got['safe'])} shapes journalled or sent",
                    f"{lost} lost, {doubled} doubled, {got['left']} left in the journal", "0", lost + doubled + got["left"] == 0)

    def photographs(self, server: Server, count: int) -> str:
        """A version with a label and pictures of a camera's kind."""
        project = server.project("bench")
        labels = server.call("POST", "/label-sets", {"project": project, "name": "things", "labels": [{"name": "cat", "color": "#e5484d"}]})
        made = server.call("POST", "/datasets", {"project": project, "name": "work", "annotation_type": "detection", "label_set": labels["id"]})
        version = f"/datasets/{made['id']}/versions/{server.call('POST', '/datasets/%d/versions' % made['id'], {})['id']}"
        path, picture = os.path.join(self.dir, f"photographs{count}.zip"), jpeg(self.dir, 1280, 960)
        with zipfile.ZipFile(path, "w") as out:
            for i in range(count):
                out.writestr(f"{i:04}.jpg", stamped(picture, i, 0))
        imported(server, version, sent(server, project, path), "p.zip")
        return version

    def browser(self, what: str, server: Server, version: str, count: int) -> dict:
        return workbench(what, f"http://127.0.0.1:{server.port}", PASSWORD, page_of(version), str(count))

    # --- what is worked on ---

    def archive(self, server: Server, project: int, count: int) -> str:
        path = os.path.join(self.dir, f"{count}.zip")
        with zipfile.ZipFile(path, "w") as out:
            for i in range(count):
                out.writestr(f"images/{i:06}.png", blank(640, 480, i))
        return sent(server, project, path)

    def pictures(self, server: Server, project: int, count: int, kind: str = "detection") -> tuple[str, list[int]]:
        if kind == "detection":
            version = new_version(server, project, "work")
        else:
            made = server.call("POST", "/datasets", {"project": project, "name": "work", "annotation_type": kind})
            version = f"/datasets/{made['id']}/versions/{server.call('POST', '/datasets/%d/versions' % made['id'], {})['id']}"
        imported(server, version, self.archive(server, project, count), "p.zip")
        return version, [s["id"] for s in server.call("GET", f"{version}/samples?limit=1000")["items"]]

    async def work(self, server: Server, version: str, ids: list[int], seconds: int) -> list[Client]:
        clients = [Client(server, version, sample, int(time.time() * 1000) % 10**6 + i) for i, sample in enumerate(ids)]
        until = time.monotonic() + seconds
        await asyncio.gather(*(c.run(until, i / len(clients)) for i, c in enumerate(clients)))
        return clients


def page_of(version: str) -> str:
    """Of the workbench; the version is its dataset's first."""
    return f"/p/bench/datasets/{version.split('/')[2]}/v/1/label"


def workbench(*args: str) -> dict:
    done = subprocess.run(["node", str(ROOT / "bench/workbench.mjs"), *args], check=True, stdout=subprocess.PIPE, text=True, timeout=1800)
    return json.loads(done.stdout.splitlines()[-1])


def used(server: Server) -> float:
    """Seconds of CPU that the server has taken: what can be compared while the machine does other work."""
    with open(f"/proc/{server.process.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send(server: Server, version: str, operation: dict) -> None:
    result, = server.call("POST", f"{version}/operations", {"operations": [operation]})["results"]
    assert result["state"] == "applied", result


if __name__ == "__main__":
    sys.exit(main(Label))
