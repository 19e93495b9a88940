"""predict of the real program against reference.py: 20 pictures, texts or sounds for each way of reading a model, equal
within 1e-4."""

import io
import os
import shutil
import subprocess
import wave

import numpy as np
import predict_models as make
import pytest
import reference
from conftest import Server
from PIL import Image
from pycocotools import mask as coco

COUNT = int(os.environ.get("INGOT_INPUTS", "20"))  # scripts/bench.sh agree: 200
WORDS = ["the", "##s", "bad", "good", "film", "a", "un", "##believ", "##able", ",", ".", "!", "好", "看", "e", "##e",
         "cafe", "##x", "#", "straße", "и", "##н"]
TEXTS = ["The good films, a cafe!", "x", "unbelievable", "好看好看 film", "Café ÉCOLE e\u0301e", "ＦＵＬＬ width　space",
         "  many \t spaces\n\n", "xyzzy" * 30, "the " * 60, "mixed 好a看.b!", "ИН ин", "#hash ## tags", "a\u200bb\ufeffc",
         "straße", "1234567890 " * 500, "emoji 😀 the end", "a", "—dash“quote”", "bad, bad, good.", "¿Qué? ¡Sí!"]


def scene(seed, size=None):
    """Smooth colours with shapes and noise on them."""
    random = np.random.default_rng(seed)
    w, h = size or (int(random.integers(20, 260)), int(random.integers(20, 200)))
    y, x = np.mgrid[:h, :w]
    pixels = np.stack([127 + 120 * np.sin(x / random.uniform(5, 60) + y / random.uniform(5, 60) + random.uniform(0, 6))
                       for _ in range(3)], -1)
    for _ in range(5):
        x0, y0 = random.integers(0, w), random.integers(0, h)
        pixels[y0:y0 + random.integers(3, 60), x0:x0 + random.integers(3, 60)] = random.uniform(0, 255, 3)
    return np.clip(pixels + random.normal(0, 8, pixels.shape), 0, 255).astype(np.uint8)


def encoded(pixels, seed):
    """PNG, JPEG and lossless WebP in turn; some lie on their side by EXIF, some are grey or have alpha."""
    image, out = Image.fromarray(pixels), io.BytesIO()
    exif = image.getexif()
    exif[0x112] = seed % 8 + 1
    if seed % 3 == 0:
        image = image.convert("L" if seed % 2 else "RGBA")
        image.save(out, "PNG", exif=exif)
    elif seed % 3 == 1:
        image.save(out, "JPEG", quality=90, exif=exif, progressive=seed % 2 == 0)
    else:
        image.save(out, "WEBP", lossless=True, exif=exif)
    return out.getvalue()


def writing(seed):
    """Dark bars on white, some of them slanted, as lines of text are to the test's detector."""
    random = np.random.default_rng(seed)
    w, h = 200 + int(random.integers(0, 200)), 120 + int(random.integers(0, 100))
    pixels, (y, x) = np.full((h, w, 3), 255.0), np.mgrid[:h, :w]
    for i in range(3):
        slope, x0, length = random.uniform(-0.15, 0.15), random.uniform(10, 60), random.uniform(60, 120)
        middle = h * (i + 0.6) / 3.4 + slope * (x - w / 2)
        inside = (np.abs(y - middle) < 8) & (x > x0) & (x < x0 + length)
        ink = np.stack([40 + 40 * np.sin(x / random.uniform(2, 6)), 30 + 0 * x, 50 + 40 * np.sin(x / 3 + y / 2)], -1)
        pixels[inside] = ink[inside]
    if seed % 4 == 0:
        pixels = pixels.transpose(1, 0, 2)
    out = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def tone(seed):
    random = np.random.default_rng(seed)
    rate, width = [8000, 16000, 44100, 11025][seed % 4], [1, 2, 3, 4][seed // 4 % 4]
    t = np.arange(int(rate * random.uniform(0.1, 0.9))) / rate
    v = 0.5 * np.sin(2 * np.pi * random.uniform(50, 3000) * t) * np.exp(-t * random.uniform(0, 4))
    v = np.stack([v, 0.3 * np.sin(2 * np.pi * 700 * t)], 1)[:, :1 + seed % 2] + random.normal(0, 0.01, (len(t), 1 + seed % 2))
    whole = np.round(np.clip(v, -1, 1) * (2 ** (8 * width - 1) - 1)).astype(np.int64) + (128 if width == 1 else 0)
    raw = whole.astype("<i8").tobytes()
    raw = b"".join(raw[i:i + width] for i in range(0, len(raw), 8))
    out = io.BytesIO()
    with wave.open(out, "wb") as f:
        f.setnchannels(1 + seed % 2), f.setsampwidth(width), f.setframerate(rate), f.writeframes(raw)
    return out.getvalue()


PICTURES = lambda: [encoded(scene(i), i) for i in range(COUNT)]
LINES = lambda: [writing(i) for i in range(COUNT)]
SOUNDS = lambda: [tone(i) for i in range(COUNT)]
WRITTEN = lambda: [t.encode() for t in TEXTS]

CASES = {
    "class": (lambda f: make.image_class(f), PICTURES),
    "class-letterbox": (lambda f: make.image_class(f, resample="bicubic", fit="letterbox", pad=[10, 20, 30], color="bgr"),
                        PICTURES),
    "class-crop": (lambda f: make.image_class(f, resample="area", fit="crop", crop=0.8, shape=[1, 32, 32, 3],
                                              layout="nhwc"), PICTURES),
    "class-plain": (lambda f: make.image_class(f, resample="bilinear", antialias=False, fit="crop", align="top-left"),
                    PICTURES),
    "class-gray": (lambda f: make.image_class(f, source=1, color="gray", resample="nearest", fit="letterbox"), PICTURES),
    "classes": (lambda f: make.image_class(f, "image-classes", "sigmoid"), PICTURES),
    "heatmap-ltrb": (make.heatmap, PICTURES),
    "heatmap-wh": (lambda f: make.heatmap(f, True), PICTURES),
    "rows": (make.yolo, PICTURES),
    "rows-objectness": (lambda f: make.yolo(f, True), PICTURES),
    "boxes": (make.boxes_scores, PICTURES),
    "anchors": (make.anchors, PICTURES),
    "argmax": (make.argmax, PICTURES),
    "argmax-bilinear": (lambda f: make.argmax(f, "bilinear", fit="crop"), PICTURES),
    "masks": (make.masks, PICTURES),
    "instances": (make.instances, PICTURES),
    "points": (make.points, PICTURES),
    "point-maps": (make.point_maps, PICTURES),
    "ocr": (make.ocr, LINES),
    "ngrams": (make.ngrams, WRITTEN),
    "wordpiece": (lambda f: make.wordpiece(f, WORDS), WRITTEN),
    "characters": (lambda f: make.token_vectors(f, sorted(set("".join(TEXTS[:12])) - {"\n", "\r"})), WRITTEN),
    "vector": (make.picture_vector, PICTURES),
    "audio": (make.audio, SOUNDS),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    at = tmp_path_factory.mktemp("predict")
    made = {}
    for name, (build, _) in CASES.items():
        (at / name).mkdir()
        made[name] = build(at / name)
    return made


@pytest.fixture(scope="module")
def server(folders):
    arguments = [a for name, folder in folders.items() for a in ("--model", f"{name}={folder}")]
    server = Server(*arguments).start()
    yield server
    assert server.stop() == 0


def same(got, wanted, where):
    """Equal within 1e-4; lists as long as each other."""
    if isinstance(wanted, dict):
        mask = wanted.get("mask")
        wanted = {k: v for k, v in wanted.items() if k != "mask"}
        if mask is not None:
            seen = coco.decode({"size": got.pop("size"), "counts": got.pop("counts").encode()}).astype(bool)
            assert seen.shape == mask.shape, where
            assert (seen != mask).mean() <= 1e-4, (where, (seen != mask).sum())
        assert got.keys() == wanted.keys(), (where, got, wanted)
        for key in wanted:
            same(got[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, (list, np.ndarray)):
        assert len(got) == len(wanted), (where, got, wanted)
        for i, (a, b) in enumerate(zip(got, wanted)):
            same(a, b, f"{where}[{i}]")
    elif isinstance(wanted, str):
        assert got == wanted, where
    else:
        assert abs(got - wanted) <= 1e-4 * max(1, abs(wanted)), (where, got, wanted)


@pytest.mark.parametrize("name", CASES)
def test_equals_the_reference(server, folders, name):
    model = reference.Model(folders[name])
    told = 0
    for i, data in enumerate(CASES[name][1]()):
        answer = server.http.post(f"/v2/models/{name}/predict", content=data)
        assert answer.status_code == 200, (i, answer.text)
        wanted = {k: v for k, v in model.predict(data).items() if len(v)}
        same(answer.json()["annotation"], wanted, f"{name} {i}")
        told += sum(len(v) for v in wanted.values())
    assert told >= COUNT, "the reference itself says too little to compare"


def test_flac_is_the_wav(server):
    if not shutil.which("ffmpeg"):
        pytest.skip("no ffmpeg to make a FLAC file with")
    for seed in (1, 5, 6):  # 16 bits and 8 bits survive
        data = tone(seed)
        flac = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", "-", "-f", "flac", "-"], input=data,
                              capture_output=True, check=True).stdout
        answers = [server.http.post("/v2/models/audio/predict", content=d).json()["annotation"] for d in (data, flac)]
        assert answers[0]["labels"] == answers[1]["labels"]
        same(answers[1]["scores"], answers[0]["scores"], "flac")


@pytest.mark.parametrize("form", ["mp3", "ogg"])
def test_coded_sounds_are_nearly_the_wav(server, form):
    if not shutil.which("ffmpeg"):
        pytest.skip("no ffmpeg to make such a file with")
    data = tone(1)
    coded = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", "-", "-q:a", {"mp3": "0", "ogg": "9"}[form], "-f", form, "-"], input=data, capture_output=True, check=True).stdout
    answers = [server.http.post("/v2/models/audio/predict", content=d) for d in (data, coded)]
    assert [a.status_code for a in answers] == [200, 200], answers[1].text
    assert answers[0].json()["annotation"]["labels"] == answers[1].json()["annotation"]["labels"]


def test_thresholds_of_the_client(server):
    data = encoded(scene(3), 3)
    few, many = ([*server.http.post("/v2/models/rows/predict", params={"score": s}, content=data).json()["annotation"]
                  .get("shapes", [])] for s in (0.98, 0.1))
    assert len(few) < len(many) and all(s["score"] >= 0.98 for s in few)


BAD = {
    "other": ("class", b"no picture", 415),
    "jpeg": ("class", encoded(scene(1), 1)[:200], 400),
    "png": ("class", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, 400),
    "webp": ("class", b"RIFF\x10\0\0\0WEBPVP8 " + b"\xff" * 40, 400),
    "wav": ("audio", b"RIFF\x10\0\0\0WAVEfmt " + b"\xff" * 40, 400),
    "flac": ("audio", b"fLaC" + b"\xff" * 90, 400),
    "mp3": ("audio", b"ID3 no mp3" + b"\xff\xfb" * 200, 400),
    "ogg": ("audio", b"OggS" + b"\xff" * 90, 400),
    "other-sound": ("audio", b"no sound", 415),
    "text": ("ngrams", b"\xff\xfe", 400),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_told(server, what):
    name, data, status = BAD[what]
    answer = server.http.post(f"/v2/models/{name}/predict", content=data)
    assert answer.status_code == status and answer.json()["error"], answer.text
    assert server.http.get("/v2/health/live").status_code == 200
