"""Requests that share a run, queues, reloading and the end."""

import concurrent.futures
import signal
import threading

import httpx
import models
import numpy as np
from conftest import Server, until


def ask(server, model, rows, side=256, **more):
    x = np.full((rows, side), more.pop("fill", 1.0), np.float32)
    return server.infer(model, [{"name": "x", "shape": [rows, side], "datatype": "FP32", "data": x.ravel().tolist()}], **more)


def figure(server, name, model):
    for line in server.http.get("/metrics").text.splitlines():
        if line.startswith(f"{name}{{") and f'model="{model}"' in line:
            return float(line.split()[-1])
    raise AssertionError(name)


def test_requests_share_runs_and_get_their_own_rows(start, files):
    server = start(files / "slow.onnx", "--batch=8", "--delay-us=20000")
    assert server.http.get("/v2/models/slow/config").json()["max_batch_size"] == 8

    def send_many():
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda i: ask(server, "slow", 1 + i % 2, fill=float(i)), range(40)))
        for i, answer in enumerate(answers):
            assert answer.status_code == 200, answer.text
            assert answer.json()["outputs"][0]["shape"] == [1 + i % 2, 256]
            assert set(answer.json()["outputs"][0]["data"]) == {float(i)}

    assert figure(server, "ingot_infer_shared_rows", "slow") == 8  # nothing is known yet
    send_many()
    rows, runs = figure(server, "ingot_infer_rows_total", "slow"), figure(server, "ingot_infer_runs_total", "slow")
    assert rows == 60 and runs < 40

    def decided():
        send_many()
        sharing = server.http.get("/v2/models/slow/stats").json()["model_stats"][0]["sharing"][0]
        return len(sharing["row_ns"]) > 1 and sharing

    sharing = until(decided, "times of runs of several sizes")
    assert sharing["name"] == "slow" and 1 <= sharing["rows"] <= 8
    assert figure(server, "ingot_infer_row_seconds", "slow") > 0


def test_other_shapes_and_texts_are_never_mixed(start, files):
    server = start(files / "id-fp32.onnx", files / "id-bytes.onnx", "--batch=8", "--delay-us=20000")

    def one(i):
        side = 1 + i % 3
        if i % 2:
            return side, "BYTES", [f"{i}-{k}" for k in range(side)]
        return side, "FP32", [float(i)] * side

    def send(i):
        side, kind, data = one(i)
        return server.infer(f"id-{kind.lower()}", [{"name": "x", "shape": [1, side], "datatype": kind, "data": data}]).json()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, answer in enumerate(pool.map(send, range(60))):
            side, _, data = one(i)
            assert answer["outputs"][0]["shape"] == [1, side] and answer["outputs"][0]["data"] == data


def test_a_graph_that_cannot_be_shared_answers_each(start, files):
    server = start(files / "total.onnx", "--batch=8", "--delay-us=20000")

    def send(i):
        return server.infer("total", [{"name": "x", "shape": [2, 2], "datatype": "FP32", "data": [i, 1, i, 2]}]).json()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for i, answer in enumerate(pool.map(send, range(20))):
            assert answer["outputs"][0]["data"] == [2.0 * i, 3.0]
    assert figure(server, "ingot_infer_shared_rows", "total") == 1


def test_a_full_queue_is_429_and_waiting_too_long_503(start, tmp_path):
    models.slow(tmp_path / "slow.onnx", side=512, times=200)
    server = start(tmp_path / "slow.onnx", "--queue=2", "--instances=1", "--threads=2")
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: ask(server, "slow", 16, side=512), range(24)))
        codes = {a.status_code for a in answers}
        assert codes == {200, 429}
        assert all(a.headers["Retry-After"] == "1" for a in answers if a.status_code == 429)
        assert figure(server, "ingot_infer_refused_total", "slow") > 0
        late = list(pool.map(lambda _: ask(server, "slow", 16, side=512, parameters={"timeout": 1}), range(24)))
    assert any(a.status_code == 503 and "waited" in a.json()["error"] for a in late)


def test_hot_reload_loses_no_request(start, tmp_path):
    path = models.scale(tmp_path / "m.onnx", 1.0)
    server = start(path, "--allow-load")
    stop, seen, bad = threading.Event(), set(), []

    def load():
        with httpx.Client(base_url=server.url, timeout=60) as http:
            while not stop.is_set():
                answer = http.post("/v2/models/m/infer", json={
                    "inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 1, 1, 1]}]})
                if answer.status_code == 200:
                    seen.add(answer.json()["outputs"][0]["data"][0])
                else:
                    bad.append(answer.text)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for factor in range(2, 12):
        models.scale(tmp_path / "m.onnx", float(factor))
        if factor % 2:
            assert server.http.post("/v2/repository/models/m/load").status_code == 200
        else:
            server.process.send_signal(signal.SIGHUP)
        until(lambda: factor in seen, f"the model of factor {factor}")  # noqa: B023
    (tmp_path / "m.onnx").write_bytes(b"no model")
    assert server.http.post("/v2/repository/models/m/load").status_code == 400
    stop.set()
    for thread in threads:
        thread.join()
    assert not bad and max(seen) == 11
    assert ask(server, "m", 1, side=4).status_code == 200


def test_the_end_waits_for_answers(tmp_path):
    models.slow(tmp_path / "slow.onnx", side=512, times=300)
    server = Server(tmp_path / "slow.onnx", "--threads=2", "--instances=1").start()
    answers = []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        waits = [pool.submit(ask, server, "slow", 64, side=512) for _ in range(4)]
        until(lambda: figure(server, "ingot_infer_waiting", "slow") >= 2, "requests that wait")
        server.process.send_signal(signal.SIGTERM)
        for wait in waits:
            try:
                answers.append(wait.result().status_code)
            except httpx.ConnectError:
                pass  # it came after the signal
    assert len(answers) >= 3 and set(answers) == {200}
    assert server.stop() == 0


def test_a_busy_model_does_not_hold_up_another(start, tmp_path, files):
    models.slow(tmp_path / "slow.onnx", side=512, times=300)
    server = start(tmp_path / "slow.onnx", files / "two.onnx", "--threads=1", "--instances=1")
    x = {"shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3]}
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        waits = [pool.submit(ask, server, "slow", 64, side=512) for _ in range(6)]
        until(lambda: figure(server, "ingot_infer_waiting", "slow") >= 3, "requests that wait")
        for _ in range(20):
            assert server.infer("two", [x | {"name": "a"}, x | {"name": "b"}]).status_code == 200
        assert not all(wait.done() for wait in waits)
        assert all(wait.result().status_code == 200 for wait in waits)
