"""Classes of pictures: from scratch and from a base model, one label and several, and what ingot-infer makes of them."""

import json
import subprocess

import conftest
import generate
import pytest
from conftest import NET, figure_of, found_of, points, train

QUICK = {"minutes": 5, "epochs": 6, "size": 32}  # ends by epochs, however busy the machine is


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    folder = generate.pictures(tmp_path_factory.mktemp("shapes") / "data", "image-class", 90)
    (folder / "images" / "005.png").write_bytes(b"\x89PNG\r\n\x1a\nthis is no picture")
    return folder


@pytest.fixture(scope="module")
def trained(shapes, tmp_path_factory):
    out = tmp_path_factory.mktemp("model")
    return out, train(shapes, out, **QUICK)


def test_beats_chance_and_writes_what_the_contract_says(trained):
    out, done = trained
    assert figure_of(out, "accuracy") > 0.8
    parts = json.loads((out / "split.json").read_text())
    assert len(parts["test"]) == 18 and not set(parts["test"]) & set(parts["train"]) and parts["seed"] == 1
    assert set(found_of(out)) == set(parts["test"])
    assert (out / "labels.txt").read_text(encoding="utf-8").splitlines() == generate.LABELS
    manifest = json.loads((out / "ingot-model.json").read_text())
    assert manifest["labels"] == generate.LABELS and (out / manifest["sample"]).exists()
    curves = points(done.stdout)
    assert any("loss" in row for row in curves) and any("accuracy" in row for row in curves)
    assert "<b>" not in (out / "README.md").read_text(encoding="utf-8")


def test_a_picture_that_is_none_is_named(trained):
    out, done = trained
    assert "005.png" in done.stdout or "cannot be read" in json.dumps(found_of(out).get("images/005.png"))


def test_ingot_infer_answers_the_same(trained, shapes, ask):
    out, _ = trained
    server = ask(out)
    for name, row in list(found_of(out).items())[:6]:
        if "annotation" not in row:
            continue
        answer = server.predict((shapes / name).read_bytes(), "image/png")["annotation"]
        assert answer["labels"] == row["annotation"]["labels"]
        for label in answer["labels"]:
            assert abs(answer["scores"][label] - row["annotation"]["scores"][label]) < 0.02


def test_several_labels_from_a_base_model(base, tmp_path, ask):
    data = generate.pictures(tmp_path / "data", "image-classes", 60)
    done = train(data, tmp_path / "out", "--base", base, minutes=5, epochs=4, size=64)
    assert "the probe on" in done.stdout and "trained upper part" in done.stdout
    manifest = json.loads((tmp_path / "out" / "ingot-model.json").read_text())
    assert manifest["outputs"][0]["reading"] == "sigmoid" and 0 < manifest["thresholds"]["score"] < 1
    losses = [row["loss"] for row in points(done.stdout) if "loss" in row]  # how good it is is not asked: by a base of random weights it is not better than saying every label
    assert min(losses[1:]) < losses[0]
    server = ask(tmp_path / "out")
    name, row = next((n, r) for n, r in found_of(tmp_path / "out").items() if r["annotation"]["labels"])
    assert server.predict((data / name).read_bytes(), "image/png")["annotation"]["labels"] == row["annotation"]["labels"]


def test_weights_of_a_base_model_are_the_ones_used(base):
    """Features of the graph and of the net that was read from it are equal."""
    script = f"""
import torch
from pathlib import Path
from ingot_learn import backbone
{NET}
same = backbone.pretrained(Path({str(base / 'model.onnx')!r}))
x = torch.randn(2, 3, 64, 96)
with torch.no_grad():
    assert torch.allclose(net.eval()(x), same.eval()(x), atol=1e-4)
print("equal")
"""
    done = subprocess.run([conftest.PYTHON, "-c", script], env=conftest.environment(), capture_output=True, text=True)
    assert done.stdout.strip() == "equal", done.stderr


def test_the_probe_ends_with_its_time():
    script = """
import numpy as np, torch
from ingot_learn import heads
torch.manual_seed(1)
y = np.arange(400) % 4
x = torch.randn(400, 16) + 3 * torch.eye(16)[y]
for last in (True, False):
    looks = []
    weight, bias = heads.probe(x, y, 4, lambda: looks.append(1) or last)
    print(len(looks), heads.score.accuracy((x @ weight.T + bias).numpy(), y) > 0.95)
"""
    done = subprocess.run([conftest.PYTHON, "-c", script], env=conftest.environment(), capture_output=True, text=True)
    (early, _), (whole, good) = (line.split() for line in done.stdout.splitlines())
    assert int(early) == 1 < int(whole) <= 80 and good == "True", done.stdout + done.stderr


def test_a_base_model_of_another_kind_is_no_reason_to_fail(trained, shapes, tmp_path):
    done = train(shapes, tmp_path / "out", "--base", trained[0], minutes=5, epochs=1, size=32)
    assert "is no EfficientNet-Lite0" in done.stdout and (tmp_path / "out" / "ingot-model.json").exists()
