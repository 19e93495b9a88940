"""The Open Inference Protocol as curl speaks it."""

import gzip
import json
import struct
import zlib

import numpy as np
import pytest


def tensor(name, array, kind="FP32"):
    return {"name": name, "shape": list(array.shape), "datatype": kind, "data": array.ravel().tolist()}


def test_health_and_metadata(server):
    assert server.http.get("/v2/health/live").json() == {"live": True}
    assert server.http.get("/v2/health/ready").json() == {"ready": True}
    assert server.http.get("/v2").json()["name"] == "ingot-infer"
    two = server.http.get("/v2/models/two").json()
    assert two["inputs"] == [{"name": n, "datatype": "FP32", "shape": [-1, 3]} for n in "ab"]
    assert [o["name"] for o in two["outputs"]] == ["sum", "difference"]
    assert server.http.get("/v2/models/two/ready").status_code == 200
    config = server.http.get("/v2/models/two/config").json()
    assert config["max_batch_size"] == 0 and config["input"][0]["data_type"] == "TYPE_FP32"
    assert server.http.get("/v2/models/none/ready").status_code == 404
    assert server.http.get("/v2/models/two/versions/9").status_code == 404


def test_versions(server):
    assert server.http.get("/v2/models/times").json()["versions"] == ["2", "3"]
    x = [tensor("x", np.ones((1, 4)))]
    assert server.infer("times", x).json()["outputs"][0]["data"] == [3.0] * 4
    old = server.infer("times/versions/2", x).json()
    assert old["model_version"] == "2" and old["outputs"][0]["data"] == [2.0] * 4


def test_json_nested_flat_and_chosen_outputs(server):
    a, b = np.arange(6).reshape(2, 3), np.ones((2, 3))
    answer = server.infer("two", [tensor("a", a), tensor("b", b) | {"data": b.tolist()}], id="seven",
                          outputs=[{"name": "difference"}]).json()
    assert answer["id"] == "seven" and answer["model_name"] == "two"
    assert answer["outputs"] == [{"name": "difference", "datatype": "FP32", "shape": [2, 3],
                                  "data": [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]}]


@pytest.mark.parametrize("kind,data", [
    ("BOOL", [True, False]), ("UINT8", [0, 255]), ("UINT16", [0, 65535]), ("UINT32", [0, 2**32 - 1]),
    ("UINT64", [0, 2**64 - 1]), ("INT8", [-128, 127]), ("INT16", [-(2**15), 2**15 - 1]), ("INT32", [-(2**31), 2**31 - 1]),
    ("INT64", [-(2**63), 2**63 - 1]), ("FP16", [0.3333, -65504.0]), ("BF16", [0.334, -1.5]),
    ("FP32", [0.1, -3.4e38]), ("FP64", [0.1, 1e300]), ("BYTES", ["", "grüße, 世界\n"]),
])
def test_every_type_as_json(server, kind, data):
    answer = server.infer(f"id-{kind.lower()}", [{"name": "x", "shape": [1, 2], "datatype": kind, "data": data}])
    assert answer.status_code == 200, answer.text
    back = answer.json()["outputs"][0]
    assert back["datatype"] == kind and back["shape"] == [1, 2]
    if kind == "FP32":
        assert np.array_equal(np.float32(back["data"]), np.float32(data))
    else:
        assert back["data"] == data


def binary(server, model, head, *parts, **headers):
    text = json.dumps(head).encode()
    return server.http.post(f"/v2/models/{model}/infer", content=text + b"".join(parts),
                            headers={"Inference-Header-Content-Length": str(len(text))} | headers)


def test_binary_in_and_out(server):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    head = {"inputs": [{"name": "x", "shape": [2, 3], "datatype": "FP32", "parameters": {"binary_data_size": 24}}],
            "parameters": {"binary_data_output": True}}
    answer = binary(server, "id-fp32", head, x.tobytes())
    assert answer.status_code == 200, answer.text
    cut = int(answer.headers["Inference-Header-Content-Length"])
    assert json.loads(answer.content[:cut])["outputs"][0]["parameters"] == {"binary_data_size": 24}
    assert answer.content[cut:] == x.tobytes()
    raw = server.http.post("/v2/models/id-fp32/infer", content=b"", headers={"Inference-Header-Content-Length": "0"})
    assert raw.status_code == 400 and "shape" in raw.json()["error"]
    log = server.http.post("/v2/models/log/infer", content=np.ones(5, np.float32).tobytes(),
                           headers={"Inference-Header-Content-Length": "0"})
    assert log.content.endswith(bytes(20)), log.text


def test_scalars_and_empty_tensors(server):
    one = server.infer("scalar", [{"name": "x", "shape": [], "datatype": "FP32", "data": [7]}]).json()["outputs"][0]
    assert one["shape"] == [] and one["data"] == [7.0]
    none = server.infer("id-fp32", [{"name": "x", "shape": [0, 3], "datatype": "FP32", "data": []}]).json()["outputs"][0]
    assert none["shape"] == [0, 3] and none["data"] == []


def test_classification(server):
    x = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.9]])
    answer = server.infer("id-fp32", [tensor("x", x)], outputs=[{"name": "y", "parameters": {"classification": 2}}]).json()
    assert answer["outputs"][0]["shape"] == [2, 2] and answer["outputs"][0]["datatype"] == "BYTES"
    assert [t.split(":")[1] for t in answer["outputs"][0]["data"]] == ["1", "2", "2", "0"]


@pytest.mark.parametrize("name,pack", [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_compressed_both_ways(server, name, pack):
    x = np.arange(2000).reshape(2, 1000)
    body = pack(json.dumps({"inputs": [tensor("x", x)]}).encode())
    answer = server.http.post("/v2/models/id-fp32/infer", content=body,
                              headers={"Content-Encoding": name, "Accept-Encoding": name})
    assert answer.status_code == 200 and answer.headers["Content-Encoding"] == name
    assert answer.json()["outputs"][0]["data"] == x.ravel().tolist()


def test_nan_and_infinity(server):
    for value, word in ((-1.0, "NaN"), (0.0, "infinite")):
        answer = server.infer("log", [tensor("x", np.array([1.0, value]))])
        assert answer.status_code == 400 and word in answer.json()["error"] and "element 1" in answer.json()["error"]
    head = {"inputs": [tensor("x", np.array([-1.0]))], "outputs": [{"name": "y", "parameters": {"binary_data": True}}]}
    assert np.isnan(struct.unpack("<f", server.http.post("/v2/models/log/infer", json=head).content[-4:]))


def test_trace_goes_through(start, files, tmp_path):
    log = tmp_path / "access.log"
    server = start(files / "two.onnx", f"--access-log={log}")
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    for sent, same in ((f"00-{trace}-00f067aa0ba902b7-01", True), ("00-nonsense", False), (None, False)):
        answer = server.http.get("/v2/models/two", headers={"traceparent": sent} if sent else {})
        version, found, span, flags = answer.headers["Traceparent"].split("-")
        assert version == "00" and flags == "01" and len(span) == 16 and span != "00f067aa0ba902b7"
        assert (found == trace) == same and len(found) == 32
    server.stop()
    assert trace in log.read_text()


def test_figures(start, files):
    server = start(files / "two.onnx")
    x = np.ones((1, 3))
    for _ in range(3):
        assert server.infer("two", [tensor("a", x), tensor("b", x)]).status_code == 200
    assert server.infer("two", [tensor("a", x)]).status_code == 400
    stats = server.http.get("/v2/models/two/stats").json()["model_stats"][0]
    assert stats["inference_stats"]["success"]["count"] == 3 and stats["inference_stats"]["fail"]["count"] == 1
    assert stats["inference_count"] == 3 and stats["inference_stats"]["compute_infer"]["ns"] > 0
    text = server.http.get("/metrics").text
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    families = {f.name: f for f in text_string_to_metric_families(text)}
    stages = families["ingot_infer_stage_seconds"].samples
    for stage in ("queue", "prepare", "run", "read"):
        assert [s.value for s in stages if s.name.endswith("_count") and s.labels["stage"] == stage] == [3.0]


def test_unknown_routes(server):
    assert server.http.get("/v3").status_code == 404
    assert server.http.get("/v2/models/two/infer").status_code == 405
    assert server.http.post("/v2/repository/models/two/load").status_code == 403
    assert server.http.post("/v2/models/two/predict", content=b"x").status_code == 400
    assert "ingot-model.json" in server.http.post("/v2/models/two/predict", content=b"x").json()["error"]


