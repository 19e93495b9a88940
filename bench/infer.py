"""ingot-infer against the least that could answer, and against MLServer.

    scripts/bench.sh infer [latency|many|batch|memory ...]

The least is bench/infer_bare.c: a libuv loop that calls OrtRun and moves the same bytes. MLServer runs when $INGOT_MLSERVER names a Python that has
it (mlserver 1.7.1, 500 MB, and onnxruntime for the row of memory). Clients and servers share the machine's cores, so CPU per request says more than requests per second.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# This folder last: its platform.py is not the one that others import.
sys.path.append(sys.path.pop(0))
sys.path.append(str(Path(__file__).parents[1] / "tests" / "infer"))

import httpx  # noqa: E402
import models  # noqa: E402
import numpy as np  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from peers import Wrk, cpu_seconds, free_port  # noqa: E402
from runner import MB, Bench, best_of, main  # noqa: E402

BUILD = Path(__file__).parents[1] / "build" / "release"


def mobile(path: Path) -> Path:
    """Depthwise separable convolutions as MobileNet has them, some 14 MB of weights, 224x224."""
    rng, nodes, weights, name, channels = np.random.default_rng(1), [], [], "x", 3

    def conv(out: int, kernel: int, stride: int, group: int = 1) -> None:
        nonlocal name, channels
        shape = (out, channels // group, kernel, kernel)
        tensor = (rng.standard_normal(shape) * (2 / np.prod(shape[1:])) ** 0.5).astype(np.float32)
        weights.append(helper.make_tensor(f"w{len(nodes)}", TensorProto.FLOAT, shape, tensor.tobytes(), raw=True))
        nodes.append(helper.make_node("Conv", [name, weights[-1].name], [f"c{len(nodes)}"], strides=[stride] * 2,
                                      pads=[kernel // 2] * 4, group=group))
        nodes.append(helper.make_node("Relu", [nodes[-1].output[0]], [f"r{len(nodes)}"]))
        name, channels = nodes[-1].output[0], out

    conv(32, 3, 2)
    for out, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        conv(channels, 3, stride, channels)
        conv(out, 1, 1)
    nodes += [helper.make_node("GlobalAveragePool", [name], ["mean"]), helper.make_node("Flatten", ["mean"], ["y"])]
    return models.save(path, nodes, [models.value("x", "FP32", ["n", 3, 224, 224])], [models.value("y", "FP32", ["n", 1024])], weights)


class Program:
    """A server that says when it is ready."""

    def __init__(self, command: list, word: str, port: int, **environment: str) -> None:
        self.command, self.word, self.port, self.environment = [str(c) for c in command], word, port, environment

    def __enter__(self) -> "Program":
        with tempfile.NamedTemporaryFile() as said:  # not a pipe: nobody reads on
            self.process = subprocess.Popen(self.command, stdout=said, stderr=subprocess.STDOUT,
                                            env={**os.environ, **self.environment})
            while self.word not in Path(said.name).read_text():
                assert self.process.poll() is None, "the server ended"
                time.sleep(0.01)
        self.pids = [self.process.pid]
        return self

    def __exit__(self, *exc) -> None:
        self.process.terminate()
        self.process.wait()

    def memory(self) -> int:
        return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())[1]) * 1024


def ours(*arguments) -> Program:
    port = free_port()
    return Program([BUILD / "ingot-infer", "--listen", f"127.0.0.1:{port}", *arguments], "ready at", port)


def bare(model: Path) -> Program:
    port = free_port()
    return Program([BUILD / "bench_infer_bare", port, model], "ready", port)


class Infer(Bench):
    names = ["latency", "many", "batch", "memory"]

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.folder = Path(self.dir)
        self.wrk = Wrk(self.dir, seconds)

    def script(self, body: bytes, headers: dict[str, str]) -> list[str]:
        """wrk sends this body every time."""
        (self.folder / "body").write_bytes(body)
        lines = "".join(f"wrk.headers[{json.dumps(k)}] = {json.dumps(v)}\n" for k, v in headers.items())
        (self.folder / "post.lua").write_text(
            f'wrk.method = "POST"\n{lines}local f = io.open("{self.folder}/body", "rb")\nwrk.body = f:read("*a")\nf:close()\n'
            "done = function(summary, latency) io.write(string.format('p95 %d\\n', latency:percentile(95))) end\n")
        return ["-s", str(self.folder / "post.lua"), "--latency"]

    def binary(self, array: np.ndarray) -> list[str]:
        head = json.dumps({"inputs": [{"name": "x", "shape": list(array.shape), "datatype": "FP32",
                                       "parameters": {"binary_data_size": array.nbytes}}],
                           "parameters": {"binary_data_output": True}}).encode()
        return self.script(head + array.tobytes(), {"Inference-Header-Content-Length": str(len(head))})

    @staticmethod
    def percentile(out: str, which: str) -> float:
        """Microseconds."""
        value, unit = re.search(rf"{which}%\s+([\d.]+)(us|ms|s)", out).groups()
        return float(value) * {"us": 1, "ms": 1000, "s": 1e6}[unit]

    @staticmethod
    def p95(out: str) -> float:
        """Milliseconds."""
        return float(re.search(r"p95 (\d+)", out)[1]) / 1000

    @staticmethod
    def rate(out: str) -> float:
        return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])

    def latency(self) -> None:
        """p50 of one client, 1 KB through an identity, over the bare server"""
        model = models.identity(self.folder / "id.onnx")
        args = self.binary(np.zeros((1, 256), np.float32))
        with ours(model) as server, bare(model) as peer:
            def p50(of: Program) -> float:
                return -self.percentile(self.wrk.run(of.port, "/v2/models/id/infer", 1, *args), "50")

            own, least = (-v for v in best_of(lambda: p50(server), lambda: p50(peer)))
        self.report("p50 of one client, 1 KB identity, binary v2, over a bare libuv server that calls OrtRun",
                    f"{own:.0f} us against {least:.0f} us", f"{own - least:+.0f} us", "at most +50 us", own - least <= 50)

    def many(self) -> None:
        """identity, 64 connections, requests per CPU-second against MLServer"""
        model = models.identity(self.folder / "id.onnx")
        body = json.dumps({"inputs": [{"name": "x", "shape": [1, 16], "datatype": "FP32", "data": [1.5] * 16}]}).encode()
        args = self.script(body, {"Content-Type": "application/json"})

        def per_cpu(of: Program) -> float:
            before = cpu_seconds(of.pids)
            out = self.wrk.run(of.port, "/v2/models/id/infer", 64, "--timeout", "30s", *args)
            return int(re.search(r"(\d+) requests in", out)[1]) / (cpu_seconds(of.pids) - before)

        python = os.environ.get("INGOT_MLSERVER")
        if not python:
            with ours(model) as server:
                print(f"  many: {per_cpu(server):,.0f} requests per CPU-second; without $INGOT_MLSERVER there is no peer")
            return
        with ours(model) as server, self.mlserver(python) as peer:
            own, other = best_of(lambda: per_cpu(server), lambda: per_cpu(peer), 2)
        self.report("identity, JSON, 64 connections, requests per CPU-second against MLServer", f"{own:,.0f} against {other:,.0f}",
                    f"{own / other:.1f}x", "at least 10x", own / other >= 10)

    def mlserver(self, python: str, model: Path | None = None) -> Program:
        """With an identity in Python, or with a model that its onnxruntime runs."""
        folder = self.folder / ("mlserver-model" if model else "mlserver")
        folder.mkdir()
        port = free_port()
        (folder / "identity.py").write_text(
            "from mlserver import MLModel\nfrom mlserver.types import InferenceResponse, ResponseOutput\n\n\n"
            "class Identity(MLModel):\n    async def load(self):\n        return True\n\n"
            "    async def predict(self, payload):\n        x = payload.inputs[0]\n"
            "        return InferenceResponse(model_name=self.name, outputs=[\n"
            "            ResponseOutput(name='y', shape=x.shape, datatype=x.datatype, data=x.data)])\n"
            if not model else
            "import numpy as np\nimport onnxruntime\nfrom mlserver import MLModel\nfrom mlserver.codecs import NumpyCodec\n"
            "from mlserver.types import InferenceResponse\n\n\n"
            "class Identity(MLModel):\n    async def load(self):\n"
            f"        self.session = onnxruntime.InferenceSession({str(model)!r})\n        return True\n\n"
            "    async def predict(self, payload):\n        x = np.array(payload.inputs[0].data.root, np.float32)\n"
            "        y = self.session.run(['y'], {'x': x.reshape(payload.inputs[0].shape)})[0]\n"
            "        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output('y', y)])\n")
        (folder / "model-settings.json").write_text(json.dumps({"name": "id", "implementation": "identity.Identity"}))
        (folder / "settings.json").write_text(json.dumps({"http_port": port, "grpc_port": free_port(), "metrics_port": free_port(),
                                                          "parallel_workers": 0, "debug": False, "host": "127.0.0.1"}))
        return Program([Path(python).parent / "mlserver", "start", folder], "Uvicorn running", port, PYTHONPATH=str(folder))

    def batch(self) -> None:
        """8 clients on a MobileNet-size model, with and without shared runs, against what ORT gains"""
        model = mobile(self.folder / "mobile.onnx")

        def run_time(rows: int) -> float:
            return float(subprocess.run([BUILD / "bench_infer_bare", "time", model, str(rows)], check=True, text=True,
                                        capture_output=True).stdout)

        gain = 8 * run_time(1) / run_time(8)
        args = self.binary(np.zeros((1, 3, 224, 224), np.float32))
        with ours(model, "--threads", 1, "--instances", 1) as alone, \
                ours(model, "--threads", 1, "--batch", 8, "--delay-us", 5000) as shared:
            def turn(of: Program) -> str:
                return self.wrk.run(of.port, "/v2/models/mobile/infer", 8, *args)

            turn(shared)  # it finds out whether sharing gains
            turns = [(turn(alone), turn(shared)) for _ in range(3)]
            sharing = httpx.get(f"http://127.0.0.1:{shared.port}/v2/models/mobile/stats").json()["model_stats"][0]["sharing"][0]
        rates, tails = ([statistics.median(of(pair[i]) for pair in turns) for i in (0, 1)] for of in (self.rate, self.p95))
        own = rates[1] / rates[0]
        good = gain < 1.3 or own >= 0.9 * gain
        per_row = ", ".join(f"{int(ns) / 1e6:.1f} ms of {rows}" for rows, ns in sharing["row_ns"].items())
        print(f"  batch: up to {sharing['rows']} rows share a run; a row takes {per_row}")
        self.report("8 clients, MobileNet-size model, one thread: requests per second with shared runs allowed, medians of three turns",
                    f"{rates[1]:.1f} against {rates[0]:.1f} a second; ORT itself gains {gain:.2f}x of batch 8; "
                    f"up to {sharing['rows']} rows shared a run at the end", f"{own:.2f}x", "0.9 of ORT's gain where that is 1.3x", good)
        self.report("the same: p95", f"{tails[1]:.1f} ms against {tails[0]:.1f} ms", f"{tails[1] / tails[0]:.2f}x",
                    "at most 1.1x", tails[1] <= 1.1 * tails[0])

    def memory(self) -> None:
        """resident memory with a 14 MB model over the bare program"""
        model = mobile(self.folder / "mobile.onnx")
        args = self.binary(np.zeros((1, 3, 224, 224), np.float32))
        with ours(model, "--threads", 1) as server, bare(model) as peer:
            self.wrk.run(server.port, "/v2/models/mobile/infer", 1, *args)
            time.sleep(1)
            own, least = server.memory(), peer.memory()
        self.report(f"memory with a {model.stat().st_size / MB:.0f} MB model over a bare ORT program with it",
                    f"{own / MB:.1f} MB against {least / MB:.1f} MB", f"{(own - least) / MB:+.1f} MB", "at most +15 MB",
                    own - least <= 15 * MB)
        python = os.environ.get("INGOT_MLSERVER")
        if not python:
            print("  memory: without $INGOT_MLSERVER there is no peer")
            return
        with self.mlserver(python, model) as peer:
            self.wrk.run(peer.port, "/v2/models/id/infer", 1, *self.script(json.dumps({"inputs": [
                {"name": "x", "shape": [1, 3, 224, 224], "datatype": "FP32", "data": [0.0] * (3 * 224 * 224)}]}).encode(),
                {"Content-Type": "application/json"}))
            other = peer.memory()
        self.report("memory with that model against MLServer with onnxruntime", f"{own / MB:.1f} MB against {other / MB:.1f} MB",
                    f"{own / other:.2f}x", "at most 0.2x", own <= 0.2 * other)


if __name__ == "__main__":
    sys.exit(main(Infer))
