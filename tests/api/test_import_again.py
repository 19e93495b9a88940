"""An export that is imported into the version it came from changes nothing: no sample is doubled, no name grows, no annotation loses what its
format cannot say."""

import io
import json
import wave

import numpy
import pytest
from PIL import Image
from pycocotools import mask
from test_data_out import exported
from test_datasets import bring, png, samples, zipped
from test_import_keeps import new_version  # noqa: F401
from test_import_labels import by_name, label


def jpeg(seed: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (seed, 2 * seed, 3 * seed)).save(out, "JPEG")
    return out.getvalue()


def wav(seed: int) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(8000)
        w.writeframes(bytes((seed * i) % 256 for i in range(16000)))
    return out.getvalue()


# Names that are alike: the same last part, the same stem, folders that formats put in front themselves; some are of a part of a split.
PICTURES = {"a.png": png(40, 30, 1), "x/a.png": png(40, 30, 2), "y/a.png": png(40, 30, 3), "images/b.png": png(40, 30, 4),
            "c.png": png(40, 30, 5), "c.jpg": jpeg(6), "train/d.png": png(40, 30, 7), "e.png": png(40, 30, 8), "same/e.png": png(40, 30, 8),
            "plain.png": png(40, 30, 9)}
TEXTS = {"a.txt": b"one, \"two\"\r\nthree\n", "x/a.txt": "四 five six".encode(), "y/b.txt": b" spaces around \n", "same.txt": b"the same", "x/same.txt": b"the same",
         "plain.txt": b"nothing is said"}
SOUNDS = {"a.wav": wav(1), "x/a.wav": wav(2), "y/b.wav": wav(3), "plain.wav": wav(4)}
MEDIA = {"image": PICTURES, "text": TEXTS, "audio": SOUNDS}

PIXELS = numpy.zeros((30, 40), dtype="uint8", order="F")
PIXELS[3:9, 5:20] = PIXELS[20:22, 1:3] = 1
MASK = mask.encode(PIXELS)["counts"].decode()
BOX = {"type": "box", "label": "cat", "x": 1.37, "y": 2.11, "w": 10.05, "h": 7.3}
RING = [1.5, 2.25, 30, 3, 20.123, 25]
TYPES = {
    "image-class": ("image", lambda i: {"labels": [["cat", "d/og", "鸟"][i % 3]], "attributes": {"n": i}}),
    "image-classes": ("image", lambda i: {"labels": ["cat", "dog"][: 1 + i % 2], "scores": {"cat": 0.5}} if i % 3 else {"labels": ["fox"]}),
    "detection": ("image", lambda i: {"shapes": [{**BOX, "score": 0.25, "id": "s"}, {**BOX, "x": 3 + i, "label": "狗", "attributes": {"difficult": 1, "odd": "x"}}]}),
    "rotated-detection": ("image", lambda i: {"shapes": [{**BOX, "x": 12, "y": 10, "angle": 30.5 + i}, BOX]}),
    "segmentation": ("image", lambda i: {"shapes": [{"type": "polygon", "label": "cat", "rings": [RING, [5, 5, 9, 5, 7, 9]]},
                                                    {"type": "mask", "label": "dog", "size": [30, 40], "counts": MASK}]}),
    "keypoints": ("image", lambda i: {"shapes": [{"type": "keypoints", "label": "cat", "points": [[1.5, 2, 2], [0, 0, 0], [5 + i, 6, 1]]}]}),
    "ocr": ("image", lambda i: {"shapes": [{**BOX, "label": "line", "text": f"text {i}"}, {"type": "polygon", "rings": [RING], "text": "two\nlines"}]}),
    "text-class": ("text", lambda i: {"labels": ["a|b", "c"][: 1 + i % 2]} if i % 3 else {"labels": ["z"]}),
    "text-spans": ("text", lambda i: {"spans": [{"start": 0, "end": 3, "label": "name", "score": 0.5}], "labels": ["x"]}),
    "audio-class": ("audio", lambda i: {"labels": [["bird", "car"][i // 2 % 2]], "attributes": {"n": i}}),
    "transcription": ("audio", lambda i: {"text": f"words {i}", "segments": [{"start": 0, "end": 0.5, "text": "words", "label": "she"}]}),
}


def filled(api, project: dict, version: str, kind: str) -> None:
    """Some of a part, one without annotation; one that a person labelled, one that a person accepted as empty."""
    data, annotate = TYPES[kind]
    lines = [{"file": name, **({"annotation": annotate(i)} if "plain" not in name else {}), **({"split": "train"} if "train" in name else {"split": "val"} if i == 2 else {})}
             for i, name in enumerate(MEDIA[data])]
    task = bring(api, project, version, "a.zip", zipped({**MEDIA[data], "ingot.jsonl": "".join(json.dumps(x) + "\n" for x in lines).encode()}))
    assert task["result"]["added"] == len(lines) and not task["problems"], task
    there = list(by_name(api, version).values())
    label(api, version, there[0], there[0]["annotation"], "accepted")
    label(api, version, there[1], {}, "accepted")


@pytest.mark.parametrize("kind", TYPES)
def test_an_export_brought_in_again_changes_nothing(admin, project, new_version, kind):  # noqa: F811
    version = new_version(kind, data_type=TYPES[kind][0])
    filled(admin, project, version, kind)
    before, own = samples(admin, version, state="any"), exported(admin, version, format="ingot").read("ingot.jsonl")
    formats = [f["name"] for f in admin.get("formats")["items"] if kind in f["exports"]]
    assert len(formats) >= 3
    for form, with_samples in [(f, w) for f in formats for w in (True, False) if w or f not in ("files", "image-folder")]:
        archive = exported(admin, version, format=form, samples=with_samples)
        # Folders of plain files look like classes: their format is to be said. All others are found.
        fields = {"format": form} if form == "files" else {}
        result = bring(admin, project, version, "again.zip", archive.fp.getvalue(), **fields)["result"]
        # YOLO finds pictures by their stem, which two have here; without the pictures it does not know which.
        waiting = result["waiting"] if form == "yolo" and not with_samples else 0
        assert (result["format"], result["added"], result["changed"], result["waiting"]) == (form, 0, 0, waiting), (with_samples, result)
        after = samples(admin, version, state="any")
        assert after == before, (form, with_samples, [(a, b) for a, b in zip(before, after) if a != b])
    assert exported(admin, version, format="ingot").read("ingot.jsonl") == own
