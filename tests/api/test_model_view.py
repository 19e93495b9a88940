"""What a model version has inside (M2): the native summary of ONNX files, two compared, and Netron's pages."""

import json
import sys

import httpx
import pytest
from harness import ROOT, Api, unique
from test_environments import admin, server  # noqa: F401
from test_files import put

sys.path.append(str(ROOT / "tests/infer"))
import predict_models  # noqa: E402


def varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def field(number: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def value(name: str, *dims: int | str) -> bytes:
    shape = b"".join(field(1, number(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))


def linear(rows: int, columns: int, *, external: bool = False, shape: tuple = ()) -> bytes:
    """y = x W: an ONNX file with one MatMul, by hand, so that the test needs no other program to make it."""
    weight = number(1, rows) + number(1, columns) + number(2, 1) + field(8, "W")
    weight += number(14, 1) + field(13, field(1, "location") + field(2, "/etc/passwd")) if external else field(9, bytes(4 * rows * columns))
    node = field(1, "x") + field(1, "W") + field(2, "y") + field(3, "layer") + field(4, "MatMul")
    graph = field(1, node) + field(2, "g") + field(5, weight) + field(11, value("x", *(shape or ("batch", rows)))) + field(12, value("y", "batch", columns))
    return number(1, 8) + field(2, "test") + field(7, graph) + field(8, number(2, 17))


@pytest.fixture()
def model(admin, project):  # noqa: F811
    made = admin.post("model-sets", {"name": unique("m"), "project": project["id"]})

    def version(files: dict[str, bytes]) -> str:
        versions = f"model-sets/{made['id']}/versions"
        path = f"{versions}/{admin.post(versions, {})['id']}"
        for name, data in files.items():
            put(admin, path, name, data)
        return path
    return version


def test_a_summary(admin, model):
    version = model({"net/模型.onnx": linear(6, 4), "small.onnx": linear(1, 1), "README.md": b"x"})
    answer = admin.get(version + "/summary")
    assert answer["path"] == "net/模型.onnx" and answer["compare"] is None
    got = answer["summary"]
    assert got["inputs"] == [{"name": "x", "type": "float32", "shape": ["batch", 6]}]
    assert got["outputs"] == [{"name": "y", "type": "float32", "shape": ["batch", 4]}]
    assert (got["parameters"], got["weight_bytes"], got["opsets"]) == (24, 96, {"ai.onnx": 17})
    assert got["operators"] == [{"name": "MatMul", "count": 1}]
    assert (got["multiply_adds"], got["assumed_batch"]) == (24, True)
    assert got["layers"][0]["operator"] == "MatMul"
    assert admin.call("GET", version + "/summary", params={"path": "small.onnx"}).json()["summary"]["parameters"] == 1
    missing = admin.call("GET", version + "/summary", params={"path": "none.onnx"})
    assert missing.status_code == 404 and "none.onnx" in missing.json()["detail"]


def test_two_versions_compared(admin, model):
    before, after = model({"a.onnx": linear(6, 4)}), model({"b.onnx": linear(6, 5)})
    answer = admin.call("GET", after + "/summary", params={"with": before.split("/")[-1]}).json()
    assert (answer["path"], answer["with_path"]) == ("b.onnx", "a.onnx")
    figures = {f["name"]: (f["before"], f["after"]) for f in answer["compare"]["figures"]}
    assert figures["parameters"] == (24, 30) and figures["opset"] == (17, 17)
    assert [o["name"] for o in answer["compare"]["outputs"]] == ["y"] and answer["compare"]["inputs"] == []
    assert not answer["compare"]["same_structure"]


@pytest.mark.parametrize("data", [b"", b"not onnx", linear(6, 4)[:-5], linear(6, 4, external=True), b"\x3a\xff\xff\xff\xff\x0f"])
def test_files_that_are_refused(admin, model, data):
    version = model({"bad.onnx": data})
    answer = admin.call("GET", version + "/summary")
    assert answer.status_code == 422 and answer.json()["field"] == "file", answer.text


def test_a_version_without_a_model(admin, model):
    version = model({"README.md": b"x"})
    assert admin.call("GET", version + "/summary").status_code == 409
    assert admin.call("POST", version + "/netron", json={}).status_code == 409


@pytest.fixture()
def browser():
    with httpx.Client(timeout=60, trust_env=False) as client:
        yield client


MANIFEST = {"ingot": 1, "task": "image-class", "parts": [{"name": "model", "file": "model.onnx"}],
            "inputs": [{"name": "x", "kind": "picture", "size": [32, 32]}], "outputs": [{"name": "y", "reading": "softmax"}],
            "labels": ["cat", "dog"]}


@pytest.mark.parametrize(("change", "field"), [
    ({"task": "juggling"}, "task"), ({"outputs": [{"name": "y", "reading": "tea-leaves"}]}, "outputs[0].reading"),
    ({"inputs": [{"name": "x", "kind": "picture", "size": [32, 99999]}]}, "inputs[0].size"), ({"parts": [{"name": "model", "file": "../model.onnx"}]}, "parts[0].file")])
def test_a_wrong_manifest_is_told_when_it_is_written(admin, model, change, field):
    version = model({"ingot-model.json": json.dumps(MANIFEST).encode()})
    answer = admin.call("PUT", version + "/content", params={"path": "ingot-model.json"}, content=json.dumps(MANIFEST | change).encode())
    assert answer.status_code == 422 and answer.json()["field"].startswith(field), answer.text
    assert answer.json()["detail_zh"]
    assert admin.call("GET", version + "/content", params={"path": "ingot-model.json"}).json() == MANIFEST
    put(admin, version, "notes/ingot-model.json", b"anything")


def test_what_can_be_seen_is_offered_as_a_manifest(admin, model):
    blind = admin.get(model({"model.onnx": linear(6, 4)}) + "/manifest")
    assert (blind["manifest"], blind["guess"], blind["asked"]) == (None, {}, ["inputs"])
    version = model({"model.onnx": linear(6, 4, shape=(1, 3, 32, 32))})
    answer = admin.get(version + "/manifest")
    assert answer["manifest"] is None and answer["path"] == "model.onnx"
    assert answer["guess"]["inputs"][0]["size"] == [32, 32] and "labels" in answer["asked"], answer
    put(admin, version, "ingot-model.json", json.dumps(MANIFEST).encode())
    answer = admin.get(version + "/manifest")
    assert (answer["manifest"]["task"], answer["manifest"]["labels"], answer["guess"], answer["asked"]) == ("image-class", ["cat", "dog"], None, [])
    assert admin.call("GET", model({"README.md": b"x"}) + "/manifest").status_code == 409


def test_the_files_of_a_version_are_seen_together(admin, model, tmp_path):
    predict_models.ocr(tmp_path)
    version = model({f.name: f.read_bytes() for f in tmp_path.iterdir() if f.name != "ingot-model.json"} | {"broken.onnx": b"x"})
    answer = admin.get(version + "/manifest")
    assert answer["guess"]["task"] == "ocr" and [p["file"] for p in answer["guess"]["parts"]] == ["detector.onnx", "classifier.onnx", "recogniser.onnx"]
    assert answer["guess"]["outputs"][2]["characters"] == "keys.txt" and "outputs[2].characters" in answer["asked"]
    checked = admin.post(version + "/check", answer["guess"], expect=200)
    assert checked["ok"], checked
    named = admin.call("GET", version + "/manifest", params={"path": "detector.onnx"}).json()
    assert named["guess"]["task"] != "ocr", "of the file that was named"


def opened(browser, url: str) -> str:
    answer = browser.get(url)
    assert answer.status_code == 303, answer.text
    return str(answer.url.join(answer.headers["location"]))


def test_netron_shows_the_file(admin, model, browser):
    data = linear(6, 4)
    version = model({"net/模 型.onnx": data})
    answer = admin.post(version + "/netron", {}, expect=200)
    assert answer["state"] == "ready"
    page = opened(browser, answer["url"])
    first = browser.get(page)
    assert first.status_code == 200 and "Netron" in first.text
    assert 'name="file" content="data/net/%E6%A8%A1%20%E5%9E%8B.onnx"' in first.text
    assert "connect-src 'self'" in first.headers["content-security-policy"]
    root = page.split("?")[0]
    script = browser.get(root + "view.js")
    assert script.status_code == 200 and script.headers["content-type"].startswith("text/javascript")
    got = browser.get(root + "data/net/%E6%A8%A1%20%E5%9E%8B.onnx")
    assert got.content == data and "sandbox" in got.headers["content-security-policy"]
    for path in ("data/none.onnx", "server.py", "..%2f..%2fpyvenv.cfg", "%2e%2e/installed", ".hidden.js", "none.js", "a/b.js"):
        assert browser.get(root + path).status_code in (400, 404, 422), path
    assert browser.post(root + "view.js").status_code == 405
    with httpx.Client(timeout=60, trust_env=False) as stranger:
        assert stranger.get(root + "data/net/%E6%A8%A1%20%E5%9E%8B.onnx").status_code == 401
        assert stranger.get(answer["url"]).status_code == 401


def test_netron_only_for_those_who_may_read(server, admin, model, browser):  # noqa: F811
    version = model({"a.onnx": linear(2, 2)})
    name = unique("out")
    admin.post("users", {"name": name, "password": "secret-1"})
    outsider = Api(server.url).sign_in(name, "secret-1")
    assert outsider.call("POST", version + "/netron", json={}).status_code == 404
    url = admin.post(version + "/netron", {}, expect=200)["url"]
    admin.delete(version)
    assert browser.get(opened(browser, url)).status_code == 404
