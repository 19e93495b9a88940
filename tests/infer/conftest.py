"""ingot-infer as a user starts it, with models of models.py."""

import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import httpx
import models
import pytest

BUILD = Path(os.environ.get("INGOT_BUILD", Path(__file__).parents[2] / "build" / "san"))
PATIENCE = 120


def until(condition, what, patience=PATIENCE):
    """Waits until the condition gives something true, and gives that."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {patience} s for {what}")


class Server:
    def __init__(self, *arguments):
        self.begin([BUILD / "ingot-infer", "--listen", "127.0.0.1:0", *arguments])

    def begin(self, command):
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.out, self.log, self.address = [], [], None
        self.readers = [threading.Thread(target=self.read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.out), (self.process.stderr, self.log))]
        for reader in self.readers:
            reader.start()

    def read(self, stream, lines):
        for line in stream:
            lines.append(line)

    def start(self):
        def ready():
            assert self.process.poll() is None, "".join(self.log)
            return re.search(r"ready at (http://(\S+))", "".join(self.out))

        self.url, self.address = until(ready, "the server").groups()
        self.http = httpx.Client(base_url=self.url, timeout=PATIENCE)
        return self

    def stop(self, number=signal.SIGTERM):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        for reader in self.readers:
            reader.join(PATIENCE)
        text = "".join(self.log)
        assert "Sanitizer" not in text and "runtime error" not in text, text
        return code

    def infer(self, model, inputs, **more):
        return self.http.post(f"/v2/models/{model}/infer", json={"inputs": inputs} | more)


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Every model of models.py."""
    at = tmp_path_factory.mktemp("models")
    for kind in models.TYPES:
        models.identity(at / f"id-{kind.lower()}.onnx", kind)
    models.identity(at / "scalar.onnx", "FP32", [])
    models.two(at / "two.onnx")
    models.logarithm(at / "log.onnx")
    models.total(at / "total.onnx")
    models.slow(at / "slow.onnx")
    models.external(at / "external.onnx")
    for factor in (2, 3):
        models.scale(at / f"times-{factor}.onnx", float(factor))
    return at


@pytest.fixture
def start():
    """start(argument, ...) gives a server that is ready; all are ended."""
    servers = []

    def begin(*arguments):
        servers.append(Server(*arguments))
        return servers[-1].start()

    yield begin
    codes = [server.stop() for server in servers]
    assert all(code == 0 for code in codes)


@pytest.fixture(scope="module")
def server(files):
    """One for the tests of a file, with all models that load."""
    names = [f"--model={path.stem}={path}" for path in sorted(files.glob("*.onnx"))
             if path.stem != "external" and not path.stem.startswith("times")]
    versions = [f"--model=times={files / f'times-{n}.onnx'},version={n}" for n in (2, 3)]
    one = Server(*names, *versions, "--threads=2", "--max-body=16").start()
    yield one
    assert one.stop() == 0
