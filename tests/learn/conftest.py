"""One-click training as the platform starts it: Debian's Python, the package on its path, parameters as JSON."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("INGOT_BUILD", ROOT / "build" / "san"))
PYTHON = "/usr/bin/python3"
PATIENCE = 600

sys.path.insert(0, str(Path(__file__).parent))


def until(condition, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {patience} s for {what}")


def environment(**more):
    """As in a container, without programs of the platform unless asked for."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "algorithms"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
            "LANG": "C.UTF-8", **more}


def command(data, out, *more):
    return [PYTHON, "-m", "ingot_learn", "train", "--data", str(data), "--out", str(out), *map(str, more)]


def train(data, out, *more, check=True, env=None, **parameters):
    """Runs a training to its end; what it printed, and what it said last."""
    done = subprocess.run(command(data, out, *more), env=environment(INGOT_PARAMETERS=json.dumps(parameters), **(env or {})),
                          capture_output=True, text=True, timeout=PATIENCE)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def points(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


# As good as weights that nobody has trained can be; biases that differ, for the exporter writes equal tensors once.
NET = "from ingot_learn.backbone import Lite0, level; torch.manual_seed(1); net = Lite0(); level(net, torch.randn(4, 3, 64, 64));"


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """A base model with random weights: what matters here is that they are found in the graph."""
    folder = tmp_path_factory.mktemp("base")
    script = (f"import torch; {NET}"
              f"torch.onnx.export(net, torch.zeros(1, 3, 64, 64), {str(folder / 'model.onnx')!r}, opset_version=13)")
    subprocess.run([PYTHON, "-c", script], env=environment(), check=True, capture_output=True)
    return folder


class Asked:
    """ingot-infer with one model, asked over HTTP."""

    def __init__(self, folder):
        self.process = subprocess.Popen([str(BUILD / "ingot-infer"), "--listen", "127.0.0.1:0", f"--model=learned={folder}"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.out, self.log = [], []
        for stream, lines in ((self.process.stdout, self.out), (self.process.stderr, self.log)):
            threading.Thread(target=lines.extend, args=(stream,), daemon=True).start()

        def ready():
            assert self.process.poll() is None, "".join(self.log)
            return re.search(r"ready at (http://\S+)", "".join(self.out))

        self.http = httpx.Client(base_url=until(ready, "ingot-infer").group(1), timeout=PATIENCE)

    def predict(self, data, type, **query):
        answer = self.http.post("/v2/models/learned/predict", content=data, headers={"Content-Type": type}, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, "".join(self.log)


@pytest.fixture
def ask():
    """ask(folder) gives a server with the model of that folder."""
    servers = []

    def begin(folder):
        servers.append(Asked(folder))
        return servers[-1]

    yield begin
    for server in servers:
        server.stop()


def found_of(out):
    return {row["file"]: row for row in map(json.loads, (out / "found.jsonl").read_text(encoding="utf-8").splitlines())}


def figure_of(out, name):
    return next(row["value"] for row in json.loads((out / "report.json").read_text())["figures"] if row["name"] == name)
