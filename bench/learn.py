"""Runs of trainings in their table; a run that logs more than is kept."""

import json
import os
import random
import sqlite3
import statistics
import sys
import time
import urllib.parse

from peers import cpu_seconds
from runner import MB, Bench, main

RUNS = 10_000
METRICS = ["loss", "accuracy", "val/loss", "val/accuracy", "f1"]
POINTS, BEYOND, NAMES = 10_000_000, 400_000, 8  # the most that a run keeps; so many more are logged


def fill(data: str, project: int, training: int) -> None:
    """Rows as they are after so many runs: five metrics and four parameters of each."""
    rng = random.Random(5)
    now = int(time.time() * 1e6)
    with sqlite3.connect(os.path.join(data, "ingot.db")) as db:
        for i in range(1, RUNS + 1):
            values = {name: rng.random() for name in METRICS}
            given = {"lr": rng.choice([0.1, 0.03, 0.01, 0.003, 0.001]), "batch": rng.choice([16, 32, 64]), "seed": i, "depth": rng.choice([18, 34, 50])}
            summary = {"metrics": {name: {"last": v, "last_step": 90, "best": v, "best_step": 90, "points": 90, "lower": "loss" in name}
                                   for name, v in values.items()}, "names": len(METRICS), "left_out": {}}
            run = db.execute("INSERT INTO training_instances (revision, project, training, created_by, created_at, updated_at, name, number, state,"
                             " summary, logged, summarised, started_at, ended_at, duration, datasets, image)"
                             " VALUES (1, ?, ?, 1, ?, ?, ?, ?, 'completed', ?, ?, 1, ?, ?, ?, '[]', 'host')",
                             (project, training, now, now, f"run-{i}", i, json.dumps(summary), json.dumps(given), now - 60_000_000, now, 60.0)).lastrowid
            db.executemany("INSERT INTO run_metrics VALUES (?, ?, ?, ?, ?, 90, ?, 90, 90)",
                           [(run, name, project, training, v, v) for name, v in values.items()])
            db.executemany("INSERT INTO run_parameters VALUES (?, ?, ?, ?, ?, ?)",
                           [(run, name, project, training, float(v), str(v)) for name, v in given.items()])


OUTPUT, NOWHERE = "1", '"/dev/null"'


def logging(target: str) -> str:
    """A command that prints points as fast as Python can."""
    line = " ".join(f"m{i}=%.5f" for i in range(NAMES))
    return (f"python3 -c 'from random import random\nout = open({target}, \"w\", 1 << 20)\n"
            f"for i in range({(POINTS + BEYOND) // NAMES}):\n  a = random()\n  out.write(\"step=%d {line}\\n\" % (i, a, a, a, a, a, a, a, a))\nout.flush()'")


class Learn(Bench):
    names = ["table", "flood"]

    def table(self) -> None:
        """a page of 50 of 10,000 runs sorted by a metric and filtered by a parameter, p50"""
        with self.server("table") as server:
            project = server.project("bench")
            spec = server.call("POST", "/specs", {"name": "bench", "cpus": 1, "memory": 1 << 28})["id"]
            training = server.call("POST", "/trainings", {"project": project, "name": "many", "spec": spec, "command": "true"})["id"]
        fill(os.path.join(self.dir, "table"), project, training)
        with self.server("table") as server:
            rng = random.Random(7)
            took = []
            for i in range(600):  # no request is made twice: a kept answer would cost nothing
                filter_ = f"parameter:lr = {rng.choice([0.1, 0.03, 0.01, 0.003, 0.001])} and parameter:seed > {i}"
                sort = rng.choice(["-", ""]) + "metric:" + rng.choice(METRICS)
                begun = time.monotonic()
                page = server.call("GET", f"/training-instances?project={project}&limit=50&sort={urllib.parse.quote(sort)}&filter={urllib.parse.quote(filter_)}")
                took.append((time.monotonic() - begun) * 1000)
                assert len(page["items"]) == 50
        took = took[100:]
        p50, p99 = statistics.median(took), statistics.quantiles(took, n=100)[98]
        self.report(f"page of 50 of {RUNS:,} runs sorted by a metric and filtered by a parameter", f"p50/p99 {p50:.1f}/{p99:.1f} ms", f"{p50:.1f} ms",
                    "at most 20 ms", p50 <= 20)

    def run(self, server, project: int, spec: int, name: str, target: str) -> tuple:
        """One run of that command to its end: how long it took, the run when everything was read, the server's greatest memory."""
        training = server.call("POST", "/trainings", {"project": project, "name": name, "spec": spec, "command": logging(target)})["id"]
        path = f"/trainings/{training}/instances/{server.call('POST', f'/trainings/{training}/start')['id']}"
        most, ended, begun = 0, None, time.monotonic()
        while True:
            now = server.call("GET", path)
            most = max(most, server.memory())
            if now["state"] in ("completed", "failed"):
                ended = ended or time.monotonic()
                if target == NOWHERE or ((now["summary"] or {}).get("left_out") or {}).get("too_many", 0) >= BEYOND:
                    break
            time.sleep(0.2)
        return path, now, most, time.monotonic() - begun

    def flood(self) -> None:
        """a run that logs more than 10,000,000 points: what it costs the run and the server, and that it is told"""
        with self.server("flood") as server:
            project = server.project("bench")
            spec = server.call("POST", "/specs", {"name": "bench", "cpus": 1, "memory": 1 << 28})["id"]
            while not server.call("GET", "/nodes")["items"]:
                time.sleep(0.01)
            _, quiet, before, _ = self.run(server, project, spec, "quiet", NOWHERE)
            cpu = cpu_seconds(server.pids)
            path, loud, most, read = self.run(server, project, spec, "loud", OUTPUT)
            cpu = cpu_seconds(server.pids) - cpu
            left, kept = loud["summary"]["left_out"], sum(m["points"] for m in loud["summary"]["metrics"].values())
            begun = time.monotonic()
            drawn = server.call("GET", f"{path}/metrics?points=1000")["series"]
            shown = time.monotonic() - begun
            rested = server.memory()
        assert loud["state"] == "completed" and len(drawn) == NAMES, loud
        self.report(f"a run that logs {POINTS + BEYOND:,} points in {NAMES} names: kept; told as left out", f"{kept:,}; {left['too_many']:,}", loud["state"],
                    f"{POINTS:,}; {BEYOND:,}; completed", (kept, left["too_many"]) == (POINTS, BEYOND))
        self.report("the run's own time, against printing the same to /dev/null", f"{loud['duration']:.1f} s against {quiet['duration']:.1f} s",
                    f"{loud['duration'] / quiet['duration']:.2f}x", "at most 2x", loud["duration"] <= 2 * quiet["duration"])
        self.report("until all of it was read; the server's CPU; its memory at most over before", f"{read:.1f} s; {cpu:.1f} s; {before / MB:.0f} MB to {most / MB:.0f} MB, {rested / MB:.0f} MB after drawing",
                    f"{(most - before) / MB:.0f} MB", "at most 100 MB", most - before <= 100 * MB)
        self.report(f"all {NAMES} curves thinned to 1,000 points", f"{shown * 1000:.0f} ms", f"{shown * 1000:.0f} ms", "at most 2,000 ms", shown <= 2)


if __name__ == "__main__":
    sys.exit(main(Learn))
