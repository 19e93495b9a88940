"""Jobs against bare containers: bench/jobs.py [start|many|follow|idle ...]. Needs root, crun, and podman for `start`."""

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

from peers import Server

COMMANDS = 200
LINES = 500_000
FOLLOWERS = 200


class Follower:
    """A stream of Server-Sent Events of a log."""

    def __init__(self, server: Server, job: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
        self.connection.request("GET", f"/api/v1/jobs/{job}/log/follow", headers={"Authorization": f"Bearer {server.token}"})
        self.answer = self.connection.getresponse()
        self.started = self.answer.status == 200
        if not self.started:
            self.answer.read()
            self.connection.close()

    def lines(self):
        for line in self.answer:
            if line.startswith(b"data: ["):
                yield from json.loads(line[6:])
            elif line.startswith(b"event: end"):
                return

    def close(self) -> None:
        self.connection.close()


class Bench:
    def __init__(self) -> None:
        self.failed = False

    def report(self, what: str, measured: str, figure: str, wanted: str, good: bool) -> None:
        self.failed = self.failed or not good
        print(f"| {what} | {measured} | {figure} | {wanted} |", flush=True)

    def open(self, server: Server, cpus: float) -> None:
        self.server = server
        server.sign_in()
        self.project = server.call("POST", "/projects", {"name": "bench"})["id"]
        self.spec = server.call("POST", "/specs", {"name": "s", "cpus": cpus, "memory": 256 << 20})["id"]
        while not server.call("GET", "/nodes")["items"]:
            time.sleep(0.01)

    def submit(self, command: str) -> int:
        return self.server.call("POST", "/jobs", {"project": self.project, "name": "j", "command": command, "spec": self.spec})["id"]

    def over(self, job: int) -> bool:
        return self.server.call("GET", f"/jobs/{job}")["state"] in ("completed", "failed", "stopped")

    def first_line(self) -> float:
        begun = time.monotonic()
        job = self.submit("echo here")
        while not (follower := Follower(self.server, job)).started:
            time.sleep(0.002)
        next(follower.lines())
        taken = time.monotonic() - begun
        follower.close()
        while not self.over(job):
            time.sleep(0.01)
        return taken

    def start(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ingot-bench-") as data, Server(data) as server:
            self.open(server, 0.5)
            self.first_line()
            ours, theirs = [], []
            with podman_image() as image:
                for _ in range(15):
                    ours.append(self.first_line())
                    theirs.append(timed(without_hybrid(f"exec podman run --rm --network=none --ulimit=nofile=1024:1024 "
                                                       f"--ulimit=nproc=1024:1024 {image} /bin/echo here")))
        a, b = statistics.median(ours), statistics.median(theirs)
        self.report("submit to the first log line, median of 15, against `podman run`", f"{a * 1000:.0f} ms against {b * 1000:.0f} ms",
                    f"{a / b:.2f}x", "at most 150 ms and 0.33x", a <= 0.150 and a / b <= 1 / 3)

    def many(self) -> None:
        parallel = 8
        with tempfile.TemporaryDirectory(prefix="ingot-bench-") as data, Server(data) as server:
            self.open(server, os.cpu_count() / parallel)
            self.first_line()
            bundle = bare_bundle(data)
            turns = []
            for turn in range(1, 4):  # in turns, the best of each: a busy machine makes a run longer, never shorter
                begun = time.monotonic()
                jobs = [self.submit("true") for _ in range(COMMANDS)]
                query = f"/jobs?project={self.project}&filter=state%20%3D%20%22completed%22&count=true&limit=1"
                while server.call("GET", query)["total"] < turn * COMMANDS + 1:
                    time.sleep(0.02)
                ours = time.monotonic() - begun
                assert len(jobs) == COMMANDS
                turns.append((ours, bare_crun(bundle, parallel)))
            ours, theirs = (min(side) for side in zip(*turns))
        self.report(f"{COMMANDS} short jobs, {parallel} at a time, against bare crun under `xargs -P`", f"{ours:.1f} s against {theirs:.1f} s",
                    f"{ours / theirs:.2f}x", "at most 1.5x", ours / theirs <= 1.5)

    def follow(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ingot-bench-") as data, Server(data) as server:
            self.open(server, os.cpu_count())
            begun = time.monotonic()
            job = self.submit(f"python3 -c '\nimport sys\nfor i in range({LINES // 1000}):\n"
                              "  sys.stdout.write(\"\".join(\"line %d\\n\" % j for j in range(i * 1000, i * 1000 + 1000)))'")
            while not (follower := Follower(server, job)).started:
                time.sleep(0.002)
            at = 0
            for line in follower.lines():
                if line["stream"] == "output":
                    assert line["text"] == f"line {at}", (line, at)
                    at += 1
            taken = time.monotonic() - begun
        self.report(f"following {LINES:,} lines of one job", f"{at:,} lines in {taken:.1f} s", f"{at / taken:,.0f} lines/s, {LINES - at} lost",
                    "100,000 lines/s, none lost", at == LINES and at / taken >= 100_000)

    def idle(self) -> None:
        with tempfile.TemporaryDirectory(prefix="ingot-bench-") as data, Server(data) as server:
            self.open(server, 0.1)
            job = self.submit("echo up; exec sleep 600")
            while not (first := Follower(server, job)).started:
                time.sleep(0.01)
            next(first.lines())
            before = resident(server)
            followers = [Follower(server, job) for _ in range(FOLLOWERS)]
            for follower in followers:
                next(follower.lines())
            time.sleep(3)
            each = (resident(server) - before) / FOLLOWERS / 1024
            for follower in [first, *followers]:
                follower.close()
            server.call("POST", f"/jobs/{job}/stop", {})
            while not self.over(job):
                time.sleep(0.05)
        self.report(f"memory of an idle follower of a log, of {FOLLOWERS}", f"{each:.1f} KB", f"{each:.1f} KB", "at most 64 KB", each <= 64)


def resident(server: Server) -> int:
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


def timed(command: list[str]) -> float:
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdout.read(1)
    taken = time.monotonic() - begun
    process.stdout.read()
    assert process.wait() == 0, command
    process.stdout.close()
    return taken


class podman_image:
    """An image with the machine's own echo and what it needs."""

    def __enter__(self) -> str:
        self.dir = tempfile.mkdtemp()
        path = f"{self.dir}/image.tar"
        needed = subprocess.run(["ldd", "/bin/echo"], capture_output=True, text=True, check=True).stdout
        files = ["/bin/echo"] + [word for word in needed.split() if word.startswith("/")]
        with tarfile.open(path, "w") as tar:
            for file in files:
                tar.add(os.path.realpath(file), file.lstrip("/"))
        subprocess.run(["podman", "import", "-q", path, "ingot-bench"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return "ingot-bench"

    def __exit__(self, *exc) -> None:
        subprocess.run(["podman", "rmi", "-f", "ingot-bench"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.dir)


def without_hybrid(script: str) -> list[str]:
    """crun refuses machines with both versions of cgroups: one is hidden in a mount namespace, as the platform does."""
    hide = "if [ -e /sys/fs/cgroup/unified/cgroup.procs ]; then umount /sys/fs/cgroup/unified; fi; "
    return ["unshare", "-m", "sh", "-c", hide + script]


def bare_bundle(folder: str) -> Path:
    """A container over the machine's own files, without any platform."""
    bundle = Path(folder) / "bundle"
    bundle.mkdir()
    subprocess.run(["crun", "spec"], cwd=bundle, check=True)
    config = json.loads((bundle / "config.json").read_text())
    config["process"].update(args=["sh", "-c", "true"], terminal=False)
    config["process"].pop("rlimits", None)
    for name in ("dev", "proc", "sys", "usr"):  # eight at once would make them at the same time
        (bundle / "rootfs" / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (bundle / "rootfs" / name).symlink_to(f"usr/{name}")
    config["mounts"].append({"destination": "/usr", "type": "bind", "source": "/usr", "options": ["bind", "ro"]})
    (bundle / "config.json").write_text(json.dumps(config))
    return bundle


def bare_crun(bundle: Path, parallel: int) -> float:
    """The same command in the same number of containers."""
    command = without_hybrid(f"seq {COMMANDS} | xargs -P {parallel} -I N crun run --bundle {bundle} bench-{os.getpid()}-N")
    begun = time.monotonic()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return time.monotonic() - begun


def main() -> int:
    parts = ["start", "many", "follow", "idle"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*parts, []], default=[])
    wanted = parser.parse_args().part or parts
    bench = Bench()
    print("| what | measured | ratio or figure | wanted |\n|---|---|---|---|")
    for part in wanted:
        getattr(bench, part)()
    return bench.failed


if __name__ == "__main__":
    threading.stack_size(1 << 20)
    sys.exit(main())
