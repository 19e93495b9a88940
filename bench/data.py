"""Benchmarks of the data centre, each against a peer in the same minute.

    scripts/bench.sh data [--list] [--seconds N] [NAME...]
"""

import concurrent.futures
import functools
import hashlib
import http.client
import io
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
import zlib
from datetime import datetime
from pathlib import Path

from peers import Server, Wrk, free_port
from runner import MB, Bench, main

LABELS = [f"class {i:02}" for i in range(20)]


class Data(Bench):
    names = ["zip", "page", "thumbs", "blob", "memory", "copy", "coco", "clicks"]

    def zip(self) -> None:
        """a zip of 20,000 JPEGs of 10 KB imported (listed, hashed, measured) against bsdtar -xf of it"""
        archive = os.path.join(self.dir, "20000.zip")
        picture = jpeg(self.dir, 96, 96)
        ours, peer, memory = [], [], 0
        with self.server("zip") as server:
            project = server.project("bench")
            for i in range(3):
                with zipfile.ZipFile(archive, "w") as new:  # of files that the store does not have yet
                    for k in range(20_000):
                        new.writestr(f"images/{k:05}.jpg", stamped(picture, i * 20_000 + k, 10_240))
                out = os.path.join(self.dir, f"out-{i}")
                os.mkdir(out)
                peer.append(bsdtar(archive, out))
                os.sync()  # an import waits for the disk, and is not to wait for what bsdtar left unwritten
                version = new_version(server, project, f"zip {i}")
                upload = sent(server, project, archive)
                watch = Watch(server)
                task = imported(server, version, upload, "20000.zip")
                memory = max(memory, watch.end())
                assert task["result"]["added"] == 20_000, task
                ours.append(seconds_of(task))
        ratio = min(peer) / min(ours)
        self.report("zip of 20,000 JPEGs of 10 KB: import against `bsdtar -xf`",
                    f"{min(ours):.2f} s against {min(peer):.2f} s; peak memory {memory / MB:.0f} MB", f"{ratio:.2f}", "at least 0.70", ratio >= 0.7)

    def page(self) -> None:
        """a page of 100 samples of one class anywhere, p99 of a version of 1,000,000 against one of 10,000"""
        with self.server("page") as server:
            project = server.project("bench")
            versions = {n: new_version(server, project, f"page {n}") for n in (10_000, 1_000_000)}
            server.sign_in()
            token = server.token
        for n, path in versions.items():
            fill_samples(os.path.join(self.dir, "page"), int(path.rsplit("/", 1)[1]), n)
        figures = {}
        with self.server("page") as server:
            server.token = token
            rng = random.Random(3)
            wrk = Wrk(self.dir, self.seconds)
            for _ in range(5):  # in turns, the best of each: a busy machine makes a p99 worse, never better
                for n, path in versions.items():
                    paths = [f"/api/v1{path}/samples?limit=100&label={LABELS[rng.randrange(20)].replace(' ', '%20')}"
                             f"&after={rng.randrange(n * 9 // 10)}" for _ in range(2000)]
                    out = wrk.run(server.port, "/", 1, "--latency", *wrk.script(paths), "-H", f"Authorization: Bearer {token}")
                    figures[n] = min(figures.get(n, 1e9), p99_of(out))
        ratio = figures[1_000_000] / figures[10_000]
        self.report("page of 100 samples anywhere, filtered by class, p99 of 1,000,000 against 10,000",
                    f"{figures[1_000_000]:.2f} ms against {figures[10_000]:.2f} ms", f"{ratio:.2f}x", "at most 2x", ratio <= 2)

    def thumbs(self) -> None:
        """thumbnails per CPU-second against vipsthumbnail run on all files at once"""
        folder = os.path.join(self.dir, "pictures")
        os.mkdir(folder)
        picture = jpeg(self.dir, 1280, 960)
        for i in range(400):
            Path(folder, f"{i:03}.jpg").write_bytes(stamped(picture, i, 0))
        with self.server("thumbs") as server:
            project = server.project("bench")
            version = new_version(server, project, "thumbs")
            archive = shutil.make_archive(os.path.join(self.dir, "pictures"), "tar", folder)
            imported(server, version, sent(server, project, archive), "pictures.tar")
            samples = server.call("GET", f"{version}/samples?limit=1000")["items"]
            ours, peer = [], []
            for side in (256, 255, 257):  # each is made for the first time
                before = tree_cpu(server.process.pid)
                ask_all(server, [f"/api/v1{version}/samples/{s['id']}/thumbnail?side={side}" for s in samples])
                ours.append(len(samples) / (tree_cpu(server.process.pid) - before))
                peer.append(len(samples) / vipsthumbnail(folder, side))
        ratio = max(ours) / max(peer)
        self.report("thumbnails (1280 x 960 to 256) per CPU-second against vipsthumbnail",
                    f"{max(ours):.0f} against {max(peer):.0f}", f"{ratio:.2f}", "at least 0.90", ratio >= 0.9)

    def blob(self) -> None:
        """1 GiB downloaded over loopback against nginx with sendfile"""
        folder = os.path.join(self.dir, "files")
        os.mkdir(folder)
        with open(os.path.join(folder, "big"), "wb") as out:
            for _ in range(64):
                out.write(os.urandom(16 << 20))
        with self.server("blob") as server, Files(self.dir, folder) as nginx:
            project = server.project("bench")
            made = server.call("POST", "/model-sets", {"project": project, "name": "big"})
            version = server.call("POST", f"/model-sets/{made['id']}/versions", {})
            path = f"/api/v1/model-sets/{made['id']}/versions/{version['id']}/content?path=big"
            url = f"http://127.0.0.1:{server.port}{path}"
            auth = ["-H", f"Authorization: Bearer {server.token}"]
            curl(url, *auth, "-T", os.path.join(folder, "big"))
            turns = [(curl(url, *auth), curl(f"http://127.0.0.1:{nginx.port}/big")) for _ in range(6)]
        ours, peer = (min(side) for side in zip(*turns))
        self.report("1 GiB blob downloaded over loopback against nginx sendfile",
                    f"{1 / ours:.2f} GiB/s against {1 / peer:.2f} GiB/s", f"{peer / ours:.2f}", "at least 0.95", peer / ours >= 0.95)

    def memory(self) -> None:
        """peak memory of the server while an archive of 5 GiB is imported"""
        archive = os.path.join(self.dir, "5g.tar")
        picture = jpeg(self.dir, 640, 480)
        filling = os.urandom(10 << 20)
        with tarfile.open(archive, "w") as out:
            for i in range(512):
                data = stamped(picture, i, 0) + filling
                entry = tarfile.TarInfo(f"images/{i:03}.jpg")
                entry.size = len(data)
                out.addfile(entry, io.BytesIO(data))
        with self.server("memory") as server:
            project = server.project("bench")
            version = new_version(server, project, "memory")
            idle = server.memory()
            upload = sent(server, project, archive)
            os.unlink(archive)
            watch = Watch(server)
            task = imported(server, version, upload, "5g.tar")
            peak = watch.end()
        assert task["result"]["added"] == 512, task
        self.report("import of an archive of 5 GiB: peak memory of the server", f"{peak / MB:.0f} MB, {idle / MB:.0f} MB idle; {seconds_of(task):.0f} s",
                    f"{peak / MB:.0f} MB", "at most 150 MB", peak <= 150 * MB)

    def copy(self) -> None:
        """a new version from one of 118,287 and one of 1,000,000 samples; then publishing it and comparing the two"""
        wanted = {118_287: 8, 1_000_000: 60}
        with self.server("copy") as server:
            project = server.project("bench")
            versions = {n: new_version(server, project, f"copy {n}") for n in wanted}
            server.sign_in()
            token = server.token
        for n, path in versions.items():
            fill_samples(os.path.join(self.dir, "copy"), int(path.rsplit("/", 1)[1]), n, project)
        with self.server("copy") as server:
            server.token = token
            for n, path in versions.items():
                before, clicks = tree_cpu(server.process.pid), Clicks(server, project)
                copy = server.call("POST", path.rsplit("/", 1)[0], {"from": int(path.rsplit("/", 1)[1])})
                task = ended(server, server.call("GET", f"/tasks?project={project}&sort=-created_at&limit=1")["items"][0])
                waits, cpu = clicks.end(), tree_cpu(server.process.pid) - before
                took = seconds_of(task)
                self.report(f"new version from one of {n:,} samples", f"{took:.1f} s, {cpu:.1f} s of CPU; a create meanwhile {waits}",
                            f"{took:.1f} s", f"at most {wanted[n]} s", took <= wanted[n])
                new = f"{path.rsplit('/', 1)[0]}/{copy['id']}"
                asked = {}
                for name, method, where, body in (("compare", "GET", f"{new}/compare?with={path.rsplit('/', 1)[1]}", None),
                                                  ("publish", "POST", f"{new}/publish", {})):
                    begun = time.monotonic()
                    server.call(method, where, body)
                    asked[name] = time.monotonic() - begun
                task = ended(server, server.call("GET", f"/tasks?project={project}&sort=-created_at&limit=1")["items"][0])
                changes = ended(server, server.call("POST", f"{new}/changes", {"with": int(path.rsplit("/", 1)[1])}))
                assert sum(changes["result"].values()) == 0, changes
                self.report(f"publishing and comparing {n:,} samples: the longest request",
                            f"{asked['publish'] * 1000:.0f} and {asked['compare'] * 1000:.0f} ms; their tasks {seconds_of(task):.1f} and {seconds_of(changes):.1f} s",
                            f"{max(asked.values()) * 1000:.0f} ms", "at most 1000 ms", max(asked.values()) <= 1)

    def coco(self) -> None:
        """peak memory of the server while 118,287 pictures with a COCO file of 533 MB are imported"""
        archive, folder = os.path.join(self.dir, "coco.tar"), Path(self.dir, "coco")
        names = coco_file(folder)
        with tarfile.open(archive, "w") as out:
            out.add(folder / "instances_train2017.json", "annotations/instances_train2017.json")
            for i, name in enumerate(names):
                data = blank(640, 480, i)
                entry = tarfile.TarInfo(f"train2017/{name}")
                entry.size = len(data)
                out.addfile(entry, io.BytesIO(data))
        shutil.rmtree(folder)
        with self.server("coco") as server:
            project = server.project("bench")
            version = new_version(server, project, "coco")
            idle = server.memory()
            upload = sent(server, project, archive)
            os.unlink(archive)
            watch = Watch(server)
            task = imported(server, version, upload, "coco.tar")
            peak = watch.end()
        assert task["result"]["added"] == len(names), task
        self.report("import of 118,287 pictures with a COCO file of 533 MB: peak memory of the server",
                    f"{peak / MB:.0f} MB, {idle / MB:.0f} MB idle; {seconds_of(task):.0f} s", f"{peak / MB:.0f} MB", "under 300 MB", peak < 300 * MB)

    def clicks(self) -> None:
        """a small create of somebody else's while 30,000 pictures are imported, and while they are purged"""
        archive = os.path.join(self.dir, "clicks.zip")
        with zipfile.ZipFile(archive, "w") as new:
            for k in range(30_000):
                new.writestr(f"class {k % 20}/{k:05}.png", blank(32, 32, k))
        with self.server("clicks") as server:
            project = server.project("bench")
            version = new_version(server, project, "clicks")
            upload = sent(server, project, archive)
            waits = {}
            clicks = Clicks(server, project)
            time.sleep(self.seconds)
            waits["nothing else"] = clicks.end()
            clicks = Clicks(server, project)
            task = imported(server, version, upload, "clicks.zip")
            waits["an import"] = clicks.end()
            clicks = Clicks(server, project)
            server.call("DELETE", version)
            time.sleep(self.seconds)
            waits["a purge"] = clicks.end()
            held, most = held_up(server)
        assert task["result"]["added"] == 30_000, task
        self.report("a create while others write (import of 30,000 pictures, purge)",
                    "; ".join(f"{what}: {wait}" for what, wait in waits.items()) + f"; import {seconds_of(task):.1f} s; writes that kept one waiting: {held}",
                    f"{most} ms", "at most 5 ms, the commit apart", most <= 5)


# --- pictures ---


def jpeg(folder: str, width: int, height: int) -> bytes:
    """Blurred noise, which has about the entropy of a photograph."""
    noise, smooth, out = (os.path.join(folder, f"make-{n}") for n in ("a.v", "b.v", "c.jpg"))
    subprocess.run(["vips", "gaussnoise", noise, str(width), str(height), "--mean", "128", "--sigma", "60"], check=True)
    subprocess.run(["vips", "gaussblur", noise, smooth, "1.2"], check=True)
    subprocess.run(["vips", "jpegsave", smooth, out, "--Q", "85"], check=True)
    return Path(out).read_bytes()


@functools.cache
def blank_rows(width: int, height: int) -> bytes:
    return zlib.compress(bytes(height * (width + 1)), 9)


def blank(width: int, height: int, number: int) -> bytes:
    """A grey PNG of a few hundred bytes, unlike those of other numbers."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + \
        chunk(b"tEXt", b"number\0%d" % number) + chunk(b"IDAT", blank_rows(width, height)) + chunk(b"IEND", b"")


def stamped(picture: bytes, number: int, size: int) -> bytes:
    """The same picture as another file: with a comment, which also fills it up to the size."""
    text = b"%08d" % number
    text += b" " * max(0, size - len(picture) - len(text) - 4)
    return picture[:2] + b"\xff\xfe" + (len(text) + 2).to_bytes(2, "big") + text + picture[2:]


# --- the platform ---


def new_version(server: Server, project: int, name: str) -> str:
    made = server.call("POST", "/datasets", {"project": project, "name": name, "annotation_type": "detection"})
    version = server.call("POST", f"/datasets/{made['id']}/versions", {})
    return f"/datasets/{made['id']}/versions/{version['id']}"


def sent(server: Server, project: int, path: str) -> str:
    base = {"Authorization": f"Bearer {server.token}", "Tus-Resumable": "1.0.0"}
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", f"/api/v1/uploads?project={project}", None, {**base, "Upload-Length": str(os.path.getsize(path))})
    answer = connection.getresponse()
    answer.read()
    where = answer.getheader("Location")
    curl(f"http://127.0.0.1:{server.port}{where}", "-X", "PATCH", "-T", path, "-H", "Content-Type: application/offset+octet-stream", "-H",
         "Upload-Offset: 0", *(x for k, v in base.items() for x in ("-H", f"{k}: {v}")))
    return where.rsplit("/", 1)[1]


def imported(server: Server, version: str, upload: str, name: str) -> dict:
    return ended(server, server.call("POST", f"{version}/import", {"uploads": [{"upload": upload, "name": name}]}))


def ended(server: Server, task: dict) -> dict:
    while task["state"] in ("waiting", "running"):
        time.sleep(0.02)
        task = server.call("GET", f"/tasks/{task['id']}")
    assert task["state"] == "done", task
    return task


def seconds_of(task: dict) -> float:
    began, ended = (datetime.fromisoformat(task[key].replace("Z", "+00:00")) for key in ("started_at", "ended_at"))
    return (ended - began).total_seconds()


def coco_file(folder: Path) -> list[str]:
    """Writes a file of the size of train2017; the names of its pictures."""
    import coco
    folder.mkdir()
    coco.generate(folder / "instances_train2017.json", 118_287)
    ids = random.Random(1).sample(range(1, 600000), 118_287)
    return [f"{n:012}.jpg" for n in ids]


def fill_samples(data: str, version: int, n: int, project: int | None = None) -> None:
    """Samples straight into the database of a stopped server, with a box of one of twenty classes each; with a project, their
    blobs too, as if there were files."""
    db = sqlite3.connect(os.path.join(data, "ingot.db"))
    first = db.execute("SELECT COALESCE(MAX(id), 0) FROM samples").fetchone()[0] + 1
    now = time.time_ns() // 1000

    def digest(i: int) -> bytes:
        return hashlib.sha256(f"{version} {i}".encode()).digest()

    def rows():
        for i in range(n):
            label = LABELS[i * 7919 % 20]
            annotation = json.dumps({"shapes": [{"h": 30, "label": label, "type": "box", "w": 20, "x": i % 90, "y": 5}]},
                                    separators=(",", ":"))
            yield (first + i, version, i + 1, f"images/{i:07}.jpg", digest(i), 10_240, 640, 480, 0.0, 1, 1, 1, annotation, now, 1)
    db.executemany("INSERT INTO samples (id, version, position, name, digest, size, width, height, duration, state, former, revision, annotation,"
                   " updated_at, updated_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows())
    db.executemany("INSERT INTO sample_labels (version, label, position, sample, count) VALUES (?, ?, ?, ?, 1)",
                   ((version, LABELS[i * 7919 % 20], i + 1, first + i) for i in range(n)))
    db.executemany("INSERT INTO version_labels (version, label, samples, shapes) VALUES (?, ?, ?, ?)",
                   ((version, label, n // 20, n // 20) for label in LABELS))
    db.execute("INSERT INTO version_states (version, state, count) VALUES (?, 1, ?)", (version, n))
    db.execute("INSERT INTO version_totals (version, next_position, bytes) VALUES (?, ?, ?)"
               " ON CONFLICT (version) DO UPDATE SET next_position = excluded.next_position, bytes = excluded.bytes",
               (version, n + 1, n * 10_240))
    db.execute("UPDATE dataset_versions SET samples = ?, annotated = ?, bytes = ? WHERE id = ?", (n, n, n * 10_240, version))
    if project is not None:
        for at in range(0, n, 1000):  # an import writes them a thousand at a time, by digest
            some = sorted(digest(i) for i in range(at, min(at + 1000, n)))
            db.executemany("INSERT INTO blobs (digest, size, touched_at, uses) VALUES (?, 10240, ?, 1)", ((d, now) for d in some))
            db.executemany("INSERT INTO blob_uses (project, digest, count) VALUES (?, ?, 1)", ((project, d) for d in some))
    db.commit()
    db.execute("ANALYZE")
    db.commit()
    db.close()


def held_up(server: Server) -> tuple[str, float]:
    """How long writes kept people's waiting, by upper bounds in ms; the bound of the longest."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {server.token}"})
    text = connection.getresponse().read().decode()
    connection.close()
    bounds = re.findall(r'^ingot_db_write_held_seconds_bucket\{le="([^"]+)"\} ([0-9.e+]+)', text, re.MULTILINE)
    counts, before = [], 0.0
    for le, count in bounds:
        if float(count) > before:
            counts.append((float(le) * 1000, int(float(count) - before)))
        before = float(count)
    return ", ".join(f"{n} of at most {le:g} ms" for le, n in counts) or "none", counts[-1][0] if counts else 0


class Clicks:
    """What somebody else waits for meanwhile: one small create after another."""

    def __init__(self, server: Server, project: int) -> None:
        self.port, self.token, self.project, self.waits, self.over = server.port, server.token, project, [], threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        while not self.over.is_set():
            begun = time.monotonic()
            connection.request("POST", "/api/v1/label-sets", json.dumps({"project": self.project, "name": f"l {time.time_ns()}", "labels": []}), headers)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 201, text
            self.waits.append(time.monotonic() - begun)
            time.sleep(0.02)
        connection.close()

    def end(self) -> str:
        self.over.set()
        self.thread.join()
        waits = sorted(self.waits)
        return f"{waits[len(waits) // 2] * 1000:.0f} ms median, {waits[len(waits) * 99 // 100] * 1000:.0f} ms p99"


class Watch:
    """The largest amount of memory of a server until end() is called."""

    def __init__(self, server: Server) -> None:
        self.server, self.peak, self.over = server, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.over.is_set():
            self.peak = max(self.peak, self.server.memory())
            time.sleep(0.02)

    def end(self) -> int:
        self.over.set()
        self.thread.join()
        return self.peak


def tree_cpu(pid: int) -> float:
    """CPU seconds of a process and all below it, ended ones too."""
    ticks, pids = 0, [pid]
    while pids:
        one = pids.pop()
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
            ticks += sum(int(x) for x in fields[11:15])
            for task in os.listdir(f"/proc/{one}/task"):
                pids += [int(x) for x in Path(f"/proc/{one}/task/{task}/children").read_text().split()]
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def ask_all(server: Server, paths: list[str]) -> None:
    def some(part: list[str]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for path in part:
            connection.request("GET", path, None, {"Authorization": f"Bearer {server.token}"})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200 and body[:2] == b"\xff\xd8", (answer.status, body[:200])
        connection.close()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(some, [paths[0::2], paths[1::2]]))


# --- the peers ---


def bsdtar(archive: str, to: str) -> float:
    begun = time.monotonic()
    subprocess.run(["bsdtar", "-xf", archive, "-C", to], check=True)
    return time.monotonic() - begun


def vipsthumbnail(folder: str, side: int) -> float:
    """CPU seconds for all pictures of the folder."""
    out = os.path.join(folder, "thumbs")
    os.mkdir(out)
    files = sorted(str(p) for p in Path(folder).glob("*.jpg"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["vipsthumbnail", *files, "--size", f"{side}x{side}", "-o", f"{out}/%s.jpg[Q=85]"], check=True,
                   env={**os.environ, "VIPS_CONCURRENCY": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(os.listdir(out)) == len(files)
    shutil.rmtree(out)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def curl(url: str, *args: str) -> float:
    done = subprocess.run(["curl", "-sS", "--fail", "-o", "/dev/null", "-w", "%{time_total}", *args, url], check=True, capture_output=True, text=True)
    return float(done.stdout)


def p99_of(text: str) -> float:
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


class Files:
    """nginx with sendfile over a folder."""

    def __init__(self, folder: str, root: str) -> None:
        self.folder, self.root = os.path.join(folder, "nginx-files"), root

    def __enter__(self) -> "Files":
        os.makedirs(self.folder)
        for path in (os.path.dirname(self.folder), self.folder, self.root):
            os.chmod(path, 0o755)
        self.port = free_port()
        config = os.path.join(self.folder, "nginx.conf")
        Path(config).write_text(f"""
worker_processes {os.cpu_count()};
daemon off;
pid {self.folder}/pid;
error_log {self.folder}/error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; sendfile on; tcp_nopush on; server {{ listen 127.0.0.1:{self.port}; root {self.root}; }} }}
""")
        self.process = subprocess.Popen(["nginx", "-p", self.folder, "-c", config], stderr=subprocess.DEVNULL)
        while subprocess.run(["curl", "-s", "-o", "/dev/null", f"http://127.0.0.1:{self.port}/"]).returncode:
            assert self.process.poll() is None, "nginx ended"
            time.sleep(0.01)
        return self

    def __exit__(self, *exc) -> None:
        self.process.terminate()
        self.process.wait()


if __name__ == "__main__":
    sys.exit(main(Data))
