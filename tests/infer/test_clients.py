"""The clients that others wrote, unchanged."""

import asyncio
import os
import subprocess
from pathlib import Path

import ml_dtypes
import models
import numpy as np
import pytest
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from tritonclient.utils import InferenceServerException

NUMPY = {"BOOL": bool, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64, "INT8": np.int8,
         "INT16": np.int16, "INT32": np.int32, "INT64": np.int64, "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
         "BYTES": np.object_}


def given(array, kind="FP32", name="x", binary=True):
    one = triton.InferInput(name, list(array.shape), kind)
    one.set_data_from_numpy(array, binary_data=binary)
    return one


@pytest.fixture
def client(server):
    with triton.InferenceServerClient(server.address) as one:
        yield one


def test_triton_tells_of_the_server(client):
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("two")
    assert client.is_model_ready("times", "2") and not client.is_model_ready("times", "4")
    assert client.get_server_metadata()["name"] == "ingot-infer"
    assert [i["name"] for i in client.get_model_metadata("two")["inputs"]] == ["a", "b"]
    assert client.get_model_config("two")["backend"] == "onnxruntime"
    assert {"name": "two", "version": "1", "state": "READY", "reason": ""} in client.get_model_repository_index()
    assert client.get_inference_statistics("two")["model_stats"][0]["name"] == "two"
    with pytest.raises(InferenceServerException, match="no model"):
        client.get_model_metadata("nothing")


@pytest.mark.parametrize("kind", NUMPY)
@pytest.mark.parametrize("binary", [True, False])
def test_triton_every_type(client, kind, binary):
    x = np.array([["a", "世界"]], dtype=np.object_) if kind == "BYTES" else np.array([[0, 1, 100]]).astype(NUMPY[kind])
    if kind == "FP16" and not binary:
        pytest.skip("the client sends halves as binary only")
    result = client.infer(f"id-{kind.lower()}", [given(x, kind, binary=binary)],
                          outputs=[triton.InferRequestedOutput("y", binary_data=binary)])
    back = result.as_numpy("y")
    if kind == "BYTES":
        back = np.array([[t.decode() if isinstance(t, bytes) else t for t in back[0]]], dtype=np.object_)
    assert back.dtype == x.dtype and (back == x).all()


def test_triton_bfloat(client):
    one = triton.InferInput("x", [1, 2], "BF16")
    one.set_data_from_numpy(np.array([[1.5, -2.0]], ml_dtypes.bfloat16))
    back = client.infer("id-bf16", [one], outputs=[triton.InferRequestedOutput("y")]).as_numpy("y")
    assert back.tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize("pack", ["gzip", "deflate"])
def test_triton_compressed(client, pack):
    x = np.zeros((4, 4000), np.float32)
    result = client.infer("id-fp32", [given(x)], request_compression_algorithm=pack, response_compression_algorithm=pack)
    assert (result.as_numpy("y") == x).all()


def test_triton_asks_for_classes_and_ids(client):
    result = client.infer("id-fp32", [given(np.array([[1, 5, 3]], np.float32))], request_id="mine",
                          outputs=[triton.InferRequestedOutput("y", class_count=1)])
    assert result.get_response()["id"] == "mine"
    assert result.as_numpy("y")[0][0].decode().split(":")[1] == "1"


def test_triton_many_at_once(server):
    with triton.InferenceServerClient(server.address, concurrency=8) as client:
        asked = [(np.full((1, 3), i, np.float32)) for i in range(100)]
        waits = [client.async_infer("id-fp32", [given(x)]) for x in asked]
        assert all((w.get_result().as_numpy("y") == x).all() for x, w in zip(asked, waits, strict=True))


def test_triton_asyncio(server):
    async def ask():
        async with triton_aio.InferenceServerClient(server.address) as client:
            assert await client.is_server_ready()
            x = np.arange(12, dtype=np.float32).reshape(3, 4)
            results = await asyncio.gather(*(client.infer("times", [given(x)], request_compression_algorithm=pack)
                                             for pack in (None, "gzip", "deflate") for _ in range(5)))
            assert all((r.as_numpy("y") == 3 * x).all() for r in results)
            with pytest.raises(InferenceServerException, match="shape"):
                await client.infer("times", [given(np.zeros((1, 5), np.float32))])

    asyncio.run(ask())


def test_triton_loads_and_unloads(start, tmp_path):
    models.identity(tmp_path / "one" / "1" / "model.onnx")
    server = start(f"--models={tmp_path}", "--allow-load")
    with triton.InferenceServerClient(server.address) as client:
        models.scale(tmp_path / "late" / "3" / "model.onnx", 2.0)
        client.load_model("late")
        assert client.infer("late", [given(np.ones((1, 4), np.float32))]).as_numpy("y").tolist() == [[2.0] * 4]
        client.unload_model("one")
        assert not client.is_model_ready("one")
        index = {m["name"]: m for m in client.get_model_repository_index()}
        assert index["one"]["state"] == "UNAVAILABLE" and index["late"]["version"] == "3"


@pytest.mark.skipif("INGOT_KSERVE" not in os.environ,
                    reason="the KServe client takes 400 MB: INGOT_KSERVE names a python that has it (kserve 0.21)")
def test_kserve(server):
    script = Path(__file__).with_name("kserve_client.py")
    subprocess.run([os.environ["INGOT_KSERVE"], script, server.url], check=True, timeout=300)


