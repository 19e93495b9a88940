"""Random but repeatable datasets for the tests: small PNG files and a COCO file."""

import json
import random
import struct
import zlib
from pathlib import Path

import numpy
from pycocotools import mask


def png(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + b"\0" * ((width + 7) // 8) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def outline(rng: random.Random, kind: int, width: int, height: int, box: list[float]):
    """A polygon of one or two rings, or run lengths, compressed or not."""
    x, y, w, h = box
    if kind < 2:
        return [[round(v, 2) for _ in range(rng.randint(3, 9)) for v in (x + rng.random() * w, y + rng.random() * h)]
                for _ in range(kind + 1)]
    pixels = numpy.zeros((height, width), numpy.uint8, order="F")
    pixels[int(y):int(y + h) + 1, int(x):int(x + w) + 1] = numpy.array(
        [[rng.random() < 0.7 for _ in range(int(x), min(width, int(x + w) + 1))]
         for _ in range(int(y), min(height, int(y + h) + 1))])
    runs = mask.encode(pixels)
    if kind == 2:
        return {"size": runs["size"], "counts": runs["counts"].decode()}
    flat, counts, value = pixels.flatten(order="F"), [0], 0
    for pixel in flat:
        if pixel != value:
            counts.append(0)
            value = pixel
        counts[-1] += 1
    return {"size": [height, width], "counts": counts}


def dataset(folder: Path, seed: int, images: int = 12, keypoints: bool = False, masks: bool = True) -> Path:
    """Writes pictures and instances.json; the ids are sparse, categories begin at 0."""
    rng = random.Random(seed)
    names = {0: "cat", 3: "dog & \"co\"", 17: "小猫", 90: "never used"}
    coco = {"images": [], "annotations": [], "categories": [
        {"id": i, "name": n, "supercategory": "animal",
         **({"keypoints": ["nose", "left", "right"], "skeleton": [[1, 2], [1, 3]]} if keypoints else {})}
        for i, n in names.items()]}
    (folder / "images").mkdir(parents=True)
    for i in range(images):
        width, height, number = rng.randint(40, 90), rng.randint(30, 70), rng.randint(1, 10) + i * 1000
        name = f"{'sub/' if i % 3 == 0 else ''}pic {i}.png"
        path = folder / "images" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(png(width, height))
        coco["images"].append({"id": number, "file_name": name, "width": width, "height": height})
        for _ in range(rng.randint(0, 5)):
            w, h = round(rng.uniform(2, width / 2), 2), round(rng.uniform(2, height / 2), 2)
            box = [round(rng.uniform(0, width - w - 1), 2), round(rng.uniform(0, height - h - 1), 2), w, h]
            kind = rng.randint(0, 3 if masks else 0)
            entry = {"id": len(coco["annotations"]) + 5, "image_id": number, "category_id": rng.choice([0, 3, 17]),
                     "bbox": box, "area": round(rng.uniform(1, w * h), 3), "iscrowd": int(kind == 3),
                     "segmentation": outline(rng, kind, width, height, box)}
            if keypoints:
                points = [(rng.randint(0, width), rng.randint(0, height), rng.randint(0, 2)) for _ in range(3)]
                points = [p if p[2] else (0, 0, 0) for p in points]
                entry |= {"keypoints": [v for p in points for v in p], "num_keypoints": sum(p[2] > 0 for p in points)}
            coco["annotations"].append(entry)
    rng.shuffle(coco["annotations"])
    (folder / "annotations").mkdir()
    (folder / "annotations/instances.json").write_text(json.dumps(coco))
    return folder
