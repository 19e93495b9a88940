"""What is wrong is told precisely, and the server goes on."""

import gzip
import json
import socket
import struct
import subprocess
import zlib

import models
import pytest
from conftest import BUILD, Server

GOOD = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}


@pytest.fixture(autouse=True)
def goes_on(server):
    yield
    answer = server.infer("id-fp32", [GOOD])
    assert answer.status_code == 200 and answer.json()["outputs"][0]["data"] == [1.0, 2.0]


@pytest.mark.parametrize("change,word", [
    ({"shape": [-1, 2]}, "dimension 0"), ({"shape": [2**63, 2]}, "dimension 0"), ({"shape": [2**64 - 1, 2]}, "dimension 0"),
    ({"shape": [2**40, 2**40]}, "more elements"), ({"shape": [2**32, 2**32, 2**32]}, "more elements"),
    ({"shape": [1.5, 2]}, "dimension 0"), ({"shape": "2"}, "shape"), ({"shape": [1] * 9}, "shape"), ({"shape": None}, "shape"),
    ({"shape": [1, 3]}, "fewer"), ({"shape": [1, 1]}, "more elements than its shape"), ({"shape": [2]}, "has the shape [-1,-1]"),
    ({"datatype": "FP31"}, "datatype"), ({"datatype": 7}, "datatype"), ({"datatype": "INT32"}, "type FP32, not INT32"),
    ({"name": "z"}, "no input z"), ({"name": ""}, "name"), ({"name": "x\0y"}, "name"), ({"name": 3}, "name"),
    ({"data": ["1", "2"]}, "no number"), ({"data": {"a": 1}}, "data"), ({"data": [1, None]}, "no number"),
    ({"data": [1, 1e39]}, "beyond its type"), ({"parameters": {"binary_data_size": 8}}, "binary_data_size"),
    ({"parameters": {"shared_memory_region": "r"}}, "shared memory"),
])
def test_wrong_inputs(server, change, word):
    answer = server.infer("id-fp32", [GOOD | change])
    assert answer.status_code == 400 and word in answer.json()["error"], answer.text


@pytest.mark.parametrize("body,word", [
    (b"", ""), (b"{", ""), (b"[]", "object"), (b'{"inputs": 7}', "inputs"), (b'{"inputs": [7]}', "inputs"), (b'{}', "inputs"),
    (b'{"inputs": []}', "x is missing"), (b'{"id": 7, "inputs": []}', "id"), (b'{"parameters": 7, "inputs": []}', "parameters"),
    (b"[" * 100000, ""), (b'{"inputs": [' + b"[" * 100 + b"]" * 100 + b"]}", ""),
])
def test_wrong_bodies(server, body, word):
    answer = server.http.post("/v2/models/id-fp32/infer", content=body)
    assert answer.status_code == 400 and word in answer.json()["error"], answer.text


@pytest.mark.parametrize("kind,data,word", [
    ("UINT8", [256], "not of its type"), ("UINT8", [-1], "not of its type"), ("INT8", [128], "not of its type"),
    ("INT64", [2**63], "not of its type"), ("INT32", [1.5], "not of its type"), ("BOOL", [2], "not of its type"),
    ("BYTES", [1], "no text"), ("FP16", [70000], "beyond its type"), ("BYTES", ["a\0b"], "zero byte"),
])
def test_elements_out_of_range(server, kind, data, word):
    one = {"name": "x", "shape": [1, 1], "datatype": kind, "data": data}
    answer = server.infer(f"id-{kind.lower()}", [one])
    assert answer.status_code == 400 and word in answer.json()["error"], answer.text


def send_binary(server, model, inputs, data, length=None):
    head = json.dumps({"inputs": inputs}).encode()
    return server.http.post(f"/v2/models/{model}/infer", content=head + data,
                            headers={"Inference-Header-Content-Length": str(len(head) if length is None else length)})


@pytest.mark.parametrize("size,data,word", [
    (8, b"1234", "only 4 are left"), (8, b"123456789", "belong to none"), (4, b"1234", "not the 2 elements"),
    (2**63, b"12345678", "binary_data_size"), (2**62, b"12345678", "only 8 are left"), (-8, b"12345678", "binary_data_size"),
    (8.5, b"12345678", "binary_data_size"), (0, b"", "not the 2 elements"),
])
def test_binary_parts_that_lie(server, size, data, word):
    one = {"name": "x", "shape": [1, 2], "datatype": "FP32", "parameters": {"binary_data_size": size}}
    answer = send_binary(server, "id-fp32", [one], data)
    assert answer.status_code == 400 and word in answer.json()["error"], answer.text


@pytest.mark.parametrize("length", ["-1", "99999999999999999999", "12x", "", "1000000"])
def test_header_lengths_that_lie(server, length):
    answer = send_binary(server, "id-fp32", [GOOD], b"", length)
    assert answer.status_code == 400 and "Inference-Header-Content-Length" in answer.json()["error"], answer.text


@pytest.mark.parametrize("data", [
    struct.pack("<I", 5) + b"abc", struct.pack("<I", 0xFFFFFFFF) + b"abc", b"\1\0", struct.pack("<I", 1) + b"ab",
    struct.pack("<I", 1) + b"a" + struct.pack("<I", 1) + b"b",
])
def test_bytes_past_the_end(server, data):
    one = {"name": "x", "shape": [1, 1], "datatype": "BYTES", "parameters": {"binary_data_size": len(data)}}
    answer = send_binary(server, "id-bytes", [one], data)
    assert answer.status_code == 400 and "not the 1 elements" in answer.json()["error"], answer.text


def test_bombs_and_broken_compression(server):
    bomb = gzip.compress(bytes(64 << 20))
    for name, body, code in (("gzip", bomb, 413), ("gzip", b"junk", 400), ("gzip", gzip.compress(b"{}")[:-4], 400),
                             ("deflate", zlib.compress(bytes(64 << 20)), 413), ("deflate", b"\x78\x9cjunk", 400),
                             ("br", b"x", 415), ("gzip", gzip.compress(b"{}") + b"more", 400)):
        answer = server.http.post("/v2/models/id-fp32/infer", content=body, headers={"Content-Encoding": name})
        assert answer.status_code == code and answer.json()["error"], (name, answer.text)


def test_bodies_over_the_limit(server):
    answer = server.http.post("/v2/models/id-fp32/infer", content=bytes(17 << 20))
    assert answer.status_code == 413 and "at most" in answer.json()["error"]

    def pieces():
        for _ in range(17):
            yield bytes(1 << 20)

    answer = server.http.post("/v2/models/id-fp32/infer", content=pieces())
    assert answer.status_code == 413 and "at most" in answer.json()["error"]


def test_bodies_that_break_off(server):
    host, port = server.address.split(":")
    for _ in range(5):
        with socket.create_connection((host, int(port))) as s:
            s.sendall(b"POST /v2/models/id-fp32/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"inputs\"")


def test_outputs_that_are_not_there(server):
    assert "no output z" in server.infer("id-fp32", [GOOD], outputs=[{"name": "z"}]).json()["error"]
    assert "twice" in server.infer("id-fp32", [GOOD], outputs=[{"name": "y"}, {"name": "y"}]).json()["error"]
    assert "twice" in server.infer("id-fp32", [GOOD, GOOD]).json()["error"]
    many = server.infer("id-fp32", [GOOD], outputs=[{"name": "y", "parameters": {"classification": 2**40}}])
    assert many.status_code == 400


def test_paths(server):
    for path in ("/v2/models/..%2f..%2fetc%2fpasswd", "/v2/models/%00", "/v2/models/" + "a" * 5000, "/v2/models/%zz",
                 "/v2/models/two/versions/../../x", "//", "/v2//models"):
        assert server.http.get(path).status_code in (400, 404), path


@pytest.mark.parametrize("content,word", [
    (b"", ""), (b"\x08\x08", ""), (b"\xff" * 1000, ""), (None, "external"),
])
def test_models_that_do_not_load(files, tmp_path, content, word):
    path = files / "external.onnx" if content is None else tmp_path / "m.onnx"
    if content is not None:
        path.write_bytes(content)
    run = subprocess.run([BUILD / "ingot-infer", "--listen=127.0.0.1:0", path], capture_output=True, text=True, timeout=300)
    assert run.returncode not in (0, -6, -11) and path.name in run.stderr and word in run.stderr, run.stderr
    assert "Sanitizer" not in run.stderr


def test_a_bad_model_of_a_folder_leaves_the_others(tmp_path):
    models.identity(tmp_path / "good" / "model.onnx")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "model.onnx").write_bytes(b"no model")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "ingot-model.json").symlink_to("/etc/passwd")
    one = Server(f"--models={tmp_path}", "--allow-load").start()
    assert one.http.get("/v2/models/good/ready").status_code == 200
    index = {m["name"]: m for m in one.http.post("/v2/repository/index").json()}
    assert index["bad"]["state"] == "UNAVAILABLE" and index["bad"]["reason"] and index["link"]["state"] == "UNAVAILABLE"
    for name in ("bad", "..", ".", "none", "good%2f..%2f.."):
        assert one.http.post(f"/v2/repository/models/{name}/load").status_code in (400, 404)
    assert one.stop() == 0


def test_the_program_gave_up_what_it_does_not_need(server):
    status = dict(line.split(":", 1) for line in open(f"/proc/{server.process.pid}/status"))
    assert status["Seccomp"].strip() == "2" and status["NoNewPrivs"].strip() == "1"


def test_usage():
    for arguments in ([], ["--batch=0", "x"], ["--cert=x", "y"], ["--nothing"], ["--model=a b=x"]):
        run = subprocess.run([BUILD / "ingot-infer", *arguments], capture_output=True, text=True, timeout=60)
        assert run.returncode != 0 and run.stderr
