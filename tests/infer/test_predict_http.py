"""POST .../predict over HTTP: a model that tells red, green and blue pictures apart, with its manifest."""

import concurrent.futures
import gzip
import io
import json

import models
import pytest
from onnx import TensorProto, helper
from PIL import Image

LABELS = ["red", "green", "blue"]
PICTURE = {"name": "x", "kind": "picture", "size": [8, 8], "scale": 1 / 255}


def colours(folder, manifest=None):
    """The mean of each channel, times 10."""
    nodes = [helper.make_node("GlobalAveragePool", ["x"], ["mean"]), helper.make_node("Flatten", ["mean"], ["flat"]),
             helper.make_node("Mul", ["flat", "ten"], ["y"])]
    models.save(folder / "model.onnx", nodes, [models.value("x", "FP32", ["n", 3, 8, 8])], [models.value("y", "FP32", ["n", 3])],
                [helper.make_tensor("ten", TensorProto.FLOAT, [], [10.0])])
    (folder / "ingot-model.json").write_text(json.dumps({
        "ingot": 1, "task": "image-class", "labels": LABELS, "parts": [{"name": "model", "file": "model.onnx"}],
        "inputs": [PICTURE], "outputs": [{"name": "y", "reading": "softmax"}]} | (manifest or {})))
    return folder


def picture(colour, form="PNG", size=(20, 10)):
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, form)
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return colours(tmp_path_factory.mktemp("colours"))


def best(annotation):
    return json.dumps(annotation)


def test_one_picture(start, folder):
    server = start(f"--model=colours={folder}")
    for colour in LABELS:
        for form in ("PNG", "JPEG", "WEBP"):
            answer = server.http.post("/v2/models/colours/predict", content=picture(colour.replace("green", "lime"), form))
            assert answer.status_code == 200, answer.text
            one = answer.json()
            assert colour in best(one["annotation"]) and (one["width"], one["height"]) == (20, 10)
            assert one["model"] == "colours" and one["version"] == "1"
            assert set(one["times_ms"]) == {"queue", "prepare", "run", "read"} and one["times_ms"]["prepare"] > 0
    assert server.http.get("/v2/models/colours").json()["task"] == "image-class"
    packed = server.http.post("/v2/models/colours/predict", content=gzip.compress(picture("red")),
                              headers={"Content-Encoding": "gzip"})
    assert "red" in best(packed.json()["annotation"])


def test_several_pictures_and_one_that_is_none(start, folder):
    server = start(f"--model=colours={folder}", "--batch=8", "--delay-us=5000")
    files = [("file", (f"{c}.png", picture(c.replace("green", "lime")), "image/png")) for c in LABELS]
    files.insert(1, ("file", ("bad.png", b"no picture", "image/png")))
    answer = server.http.post("/v2/models/colours/predict", files=files)
    assert answer.status_code == 200, answer.text
    results = {r["name"]: r for r in answer.json()["results"]}
    assert [r["name"] for r in answer.json()["results"]] == ["red.png", "bad.png", "green.png", "blue.png"]
    assert all(c in best(results[f"{c}.png"]["annotation"]) for c in LABELS)
    assert results["bad.png"]["error"] and "annotation" not in results["bad.png"]


def test_many_at_once(start, folder):
    server = start(f"--model=colours={folder}", "--batch=8", "--delay-us=2000")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = [LABELS[i % 3] for i in range(60)]
        answers = list(pool.map(lambda c: server.http.post("/v2/models/colours/predict",
                                                           content=picture(c.replace("green", "lime"))), asked))
    assert all(c in best(a.json()["annotation"]) for c, a in zip(asked, answers, strict=True))


def test_what_is_wrong_is_told(start, folder):
    server = start(f"--model=colours={folder}", "--max-body=4")
    post = server.http.post
    url = "/v2/models/colours/predict"
    form = {"Content-Type": "multipart/form-data; boundary=b"}
    for body, headers in ((b"", {}), (b"no picture", {}), (picture("red")[:40], {}), (b"--b\r\n", form), (b"--b--", form),
                          (b"--b\r\nContent-Type: image/png\r\n\r\nx", form), (b"x", form), (b"--b\r\n" * 3000, form),
                          (b"--b" + b"\r\nA: b" * 4000 + b"\r\n\r\nx\r\n--b--", form), (b"\x1f\x8b", {"Content-Encoding": "gzip"})):
        answer = post(url, content=body, headers=headers)
        assert 400 <= answer.status_code < 500 and answer.json()["error"], (body[:40], answer.text)
    assert 400 <= post(url + "?nonsense=1", content=picture("red")).status_code < 500
    assert 400 <= post(url + "?score=x", content=picture("red")).status_code < 500
    assert post(url, content=picture("red")).status_code == 200


def test_a_manifest_that_does_not_fit(tmp_path):
    from conftest import Server
    for number, change in enumerate(({"inputs": [PICTURE | {"name": "other"}]}, {"parts": [{"name": "m", "file": "../x.onnx"}]},
                                     {"task": "nothing"}, {"parts": [{"name": "m", "file": "none.onnx"}]})):
        folder = colours(tmp_path / str(number), change)
        server = Server(f"--model=m={folder}")
        server.process.wait(120)
        assert server.stop() not in (0, -6, -11)
        assert server.log[-1].startswith("ingot-infer:"), server.log
