"""An evaluation on a server, from its request to its report, against a bare loop in C (bench/evaluate_bare.c).

    scripts/bench.sh evaluate

A network of MobileNet's size on 1,500 JPEGs of 400 x 300, a label each; one thread on both sides, in turns. CPU time is that of
the server and of everything it started, with what has ended meanwhile."""

import ctypes
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(sys.path.pop(0))  # this folder last: its platform.py is not the one that others import
ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests" / "infer"), str(ROOT / "python")]

import ingot  # noqa: E402
import numpy as np  # noqa: E402
from infer import BUILD, mobile  # noqa: E402
from peers import TICKS  # noqa: E402
from PIL import Image  # noqa: E402
from runner import Bench, main  # noqa: E402

COUNT, CLASSES, TURNS, WANTED = 1500, 1024, 2, 0.85
PR_SET_CHILD_SUBREAPER = 36


def tree_seconds() -> float:
    """CPU of this process's children and theirs, those that ended among them: whoever loses its parent becomes a child of this process."""
    table, total = {}, 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it ended just now
            table.setdefault(int(fields[1]), []).append((int(entry.name), sum(map(int, fields[11:15]))))
    below = [os.getpid()]
    while below:
        for child, ticks in table.get(below.pop(), []):
            total += ticks
            below.append(child)
    times = os.times()
    return total / TICKS + times.children_user + times.children_system


class Evaluate(Bench):
    names = ["end"]

    def make(self, data: Path, model: Path) -> Path:
        """Pictures, their labels, and the same as a list for the bare loop."""
        rng, rows, lines = np.random.default_rng(1), [], []
        (data / "images").mkdir(parents=True)
        for i in range(COUNT):
            pixels = Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize((400, 300), Image.BICUBIC)
            out = io.BytesIO()
            pixels.save(out, "JPEG", quality=90)
            (data / "images" / f"{i}.jpg").write_bytes(out.getvalue())
            rows.append({"file": f"images/{i}.jpg", "width": 400, "height": 300, "annotation": {"labels": [f"c{i % 10}"]}})
            lines.append(f"{i % 10} {data}/images/{i}.jpg\n")
        (data / "ingot.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [{"ingot": 1, "type": "image-class"}, *rows]))
        listing = data.parent / "list"
        listing.write_text("".join(lines))
        model.mkdir()
        mobile(model / "model.onnx")
        (model / "ingot-model.json").write_text(json.dumps({
            "ingot": 1, "task": "image-class", "parts": [{"name": "model", "file": "model.onnx"}], "labels": [f"c{i}" for i in range(CLASSES)],
            "inputs": [{"name": "x", "kind": "picture", "size": [224, 224], "mean": 127, "deviation": 128}], "outputs": [{"name": "y", "reading": "softmax"}]}))
        return listing

    def end(self) -> None:
        """samples a second of an evaluation, request to report, against a bare loop in C"""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        folder = Path(self.dir)
        listing = self.make(folder / "data", folder / "model")
        with self.server("server") as server:
            server.sign_in()
            with ingot.Client(f"http://127.0.0.1:{server.port}", token=server.token) as client:
                turns = self.turns(server, client, folder, listing)
        for name, which in (("CPU", 1), ("the clock", 0)):
            ours, bare = (min(turn[side][which] for turn in turns) for side in (0, 1))
            self.report(f"evaluation of {COUNT:,} pictures, request to report, samples per second of {name}, against a bare loop in C, one thread (best of {TURNS})",
                        f"{COUNT / ours:.1f} against {COUNT / bare:.1f}", f"{bare / ours:.2f}x", f"at least {WANTED}x", bare / ours >= WANTED)

    def turns(self, server, client, folder: Path, listing: Path) -> list:
        project = client.projects.create(name="bench")
        server.call("POST", "/specs", {"name": "one", "cpus": 1, "memory": 1 << 30})
        client.datasets.import_(folder / "data", "data", project=project, type="image-class")
        client.model_sets.upload(folder / "model", "model", project=project)

        def ours() -> None:
            client.evaluations.run("model:v1", "data:v1", project=project, part="all")

        def bare() -> None:
            subprocess.run([str(BUILD / "bench_evaluate_bare"), str(folder / "model" / "model.onnx"), str(listing), "1"], check=True, stdout=subprocess.DEVNULL,
                           start_new_session=True)  # as the job has: kernels may share out processors by session

        def measured(what) -> tuple:
            wall, cpu = time.monotonic(), tree_seconds()
            what()
            return time.monotonic() - wall, tree_seconds() - cpu

        return [(measured(ours), measured(bare)) for _ in range(TURNS)]


if __name__ == "__main__":
    sys.exit(main(Evaluate))
