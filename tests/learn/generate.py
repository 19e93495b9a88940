"""Small datasets that can be learned in seconds, as containers find them: ingot.jsonl and files."""

import json
import math
import random
import wave

import numpy as np
from PIL import Image, ImageDraw

COLOURS = [(210, 40, 40), (40, 60, 210), (40, 180, 60)]
# Labels with what shells, Markdown, JSON and paths would trip over.
LABELS = ["red $(touch /tmp/x) `circle`", "蓝色 \"square\"; rm -rf *|", "green <b>triangle</b> ../\\n"]


def _write(folder, type, rows, labels=LABELS):
    head = {"ingot": 1, "type": type, "labels": [{"name": label} for label in labels]}
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [head, *rows])
    (folder / "ingot.jsonl").write_text(text, encoding="utf-8")
    return folder


def _draw(draw, kind, x, y, w):
    """Paints a shape and gives its outline."""
    if kind == 0:
        draw.ellipse([x, y, x + w, y + w], fill=COLOURS[0])
        turn = [2 * math.pi * i / 24 for i in range(24)]
        return [c for a in turn for c in (x + w / 2 + w / 2 * math.cos(a), y + w / 2 + w / 2 * math.sin(a))]
    ring = [x, y, x + w, y, x + w, y + w, x, y + w] if kind == 1 else [x, y + w, x + w, y + w, x + w / 2, y]
    draw.polygon(ring, fill=COLOURS[kind])
    return ring


def pictures(folder, type, count, size=(160, 120), seed=1):
    """Coloured shapes on noise: one each for classes, one to three for shapes; the last picture of shapes is empty."""
    (folder / "images").mkdir(parents=True)
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    rows = []
    for i in range(count):
        picture = Image.fromarray(noise.integers(90, 160, (size[1], size[0], 3), dtype=np.uint8))
        draw, shapes, kinds = ImageDraw.Draw(picture), [], set()
        several = type != "image-class"
        for _ in range(rng.randint(1, 2) if several else 1):
            if type == "detection" and i == count - 1:
                break
            kind = rng.randrange(3) if several else i % 3
            w = rng.randint(size[1] * 3 // 10, size[1] * 9 // 20)
            x, y = rng.randint(0, size[0] - w - 1), rng.randint(0, size[1] - w - 1)
            ring = _draw(draw, kind, x, y, w)
            kinds.add(kind)
            shapes.append({"type": "box", "label": LABELS[kind], "x": x, "y": y, "w": w + 1, "h": w + 1} if type == "detection"
                          else {"type": "polygon", "label": LABELS[kind], "rings": [ring]})
        note = {"shapes": shapes} if type in ("detection", "segmentation") else {"labels": sorted(LABELS[k] for k in kinds)}
        name = f"images/{i:03}.png"
        picture.save(folder / name)
        rows.append({"file": name, "width": size[0], "height": size[1], "annotation": note})
    return _write(folder, type, rows)


WORDS = {
    "好评": ["非常喜欢", "质量很好", "值得购买", "服务周到", "物流很快", "very good", "love it", "works great", "excellent"],
    "bad; DROP TABLE": ["太差了", "质量糟糕", "不推荐", "服务恶劣", "很慢很失望", "terrible", "broken again", "waste of money", "awful"],
}


def texts(folder, count, seed=1):
    """Short reviews, Chinese and English mixed: half as files, half in the index."""
    (folder / "texts").mkdir(parents=True)
    rng, rows = random.Random(seed), []
    fill = ["这个东西", "the product", "昨天收到", "I bought it", "总的来说", "after a week", "包装"]
    for i in range(count):
        label = list(WORDS)[i % 2]
        text = ", ".join([rng.choice(fill), rng.choice(WORDS[label]), rng.choice(fill), rng.choice(WORDS[label])])
        row = {"file": f"texts/{i:03}.txt", "annotation": {"labels": [label]}}
        if i % 4 < 2:
            (folder / row["file"]).write_text(text, encoding="utf-8")
        else:
            row["content"] = text
        rows.append(row)
    return _write(folder, "text-class", rows, list(WORDS))


def tones(folder, count, seed=1, rate=16000):
    """Half a second of a tone among noise; the label is its height."""
    (folder / "audio").mkdir(parents=True)
    rng, labels, rows = np.random.default_rng(seed), ["low", "middle & high", "高音"], []
    for i in range(count):
        pitch = [220, 900, 3000][i % 3] * rng.uniform(0.9, 1.1)
        own = rate if i % 2 else 22050
        t = np.arange(int(own * rng.uniform(0.4, 0.7))) / own
        sound = 0.4 * np.sin(2 * np.pi * pitch * t) + 0.05 * rng.standard_normal(len(t))
        name = f"audio/{i:03}.wav"
        with wave.open(str(folder / name), "wb") as file:
            file.setnchannels(1), file.setsampwidth(2), file.setframerate(own)
            file.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
        rows.append({"file": name, "annotation": {"labels": [labels[i % 3]]}})
    return _write(folder, "audio-class", rows, labels)
