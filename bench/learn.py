"""Runs of trainings in their table."""

import json
import os
import random
import sqlite3
import statistics
import sys
import time
import urllib.parse

from runner import Bench, main

RUNS = 10_000
METRICS = ["loss", "accuracy", "val/loss", "val/accuracy", "f1"]


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


class Learn(Bench):
    names = ["table"]

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


if __name__ == "__main__":
    sys.exit(main(Learn))
