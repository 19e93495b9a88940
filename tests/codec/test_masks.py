"""Masks of LabelMe: two corners, the second included, and a PNG in base64. Pillow writes and reads the pictures here, and
the masks are laid as LabelMe's own reader does: picture[y1:y2 + 1, x1:x2 + 1] = mask."""

import base64
import io
import json
import struct
import zlib
from pathlib import Path

import numpy
import pytest
from PIL import Image
from pictures import png
from pycocotools import mask as runs

WIDTH, HEIGHT = 40, 30


def pixels(seed: int) -> numpy.ndarray:
    return numpy.random.default_rng(seed).random((11, 17)) < 0.4


def as_png(found: numpy.ndarray, mode: str) -> bytes:
    grey = Image.fromarray(found.astype(numpy.uint8) * (1 if mode in ("L", "P") else 255))
    out = io.BytesIO()
    if mode == "P":
        grey = grey.convert("L")
        picture = Image.new("P", grey.size)
        picture.putpalette([0, 0, 0, 200, 30, 30])
        picture.putdata(list(grey.tobytes()))
    elif mode == "I;16":
        picture = Image.fromarray(found.astype(numpy.uint16) * 300)
    else:
        picture = grey.convert(mode)
    picture.save(out, format="PNG")
    return out.getvalue()


def labelme(folder: Path, shapes: list[dict], size: tuple[int, int] = (WIDTH, HEIGHT)) -> Path:
    folder.mkdir()
    (folder / "a.png").write_bytes(png(*size))
    about = {"version": "5.4.1", "flags": {}, "shapes": shapes, "imagePath": "a.png", "imageData": None,
             "imageHeight": size[1], "imageWidth": size[0]}
    (folder / "a.json").write_text(json.dumps(about))
    return folder


def shape(data: bytes, points: list, label: str = "cat") -> dict:
    return {"label": label, "points": points, "group_id": None, "description": "", "shape_type": "mask", "flags": {},
            "mask": base64.b64encode(data).decode()}


def only(lines: list[dict]) -> tuple[dict, list[str]]:
    (sample,) = [x for x in lines if "file" in x]
    return sample, [f"{x['problem']}: {x['reason']}" for x in lines if "problem" in x]


def decoded(found: dict) -> numpy.ndarray:
    return runs.decode({"size": found["size"], "counts": found["counts"]}).astype(bool)


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGB", "RGBA", "I;16"])
def test_masks_come_in(tool, tmp_path, mode):
    wanted = numpy.zeros((HEIGHT, WIDTH), bool)
    wanted[5:16, 3:20] = pixels(1)
    source = labelme(tmp_path / "in", [shape(as_png(pixels(1), mode), [[3, 5], [19, 15]])])
    sample, problems = only(tool.read("segmentation", "labelme", source))
    (found,) = sample["annotation"]["shapes"]
    assert not problems and (found["type"], found["label"]) == ("mask", "cat")
    assert (decoded(found) == wanted).all()


def test_masks_go_out_and_come_back(tool, tmp_path):
    shapes, wanted = [], []
    for i in range(5):
        picture = numpy.zeros((HEIGHT, WIDTH), bool, order="F")
        picture[i:i + 11, 2 * i:2 * i + 17] = pixels(i)
        code = runs.encode(numpy.asfortranarray(picture.astype(numpy.uint8)))
        shapes.append({"type": "mask", "label": f"c{i}", "size": [HEIGHT, WIDTH], "counts": code["counts"].decode(),
                       "attributes": {"flags": {"hidden": True}}})
        wanted.append(picture)
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.png").write_bytes(png(WIDTH, HEIGHT))
    (source / "ingot.jsonl").write_text(json.dumps({"file": "a.png", "annotation": {"shapes": shapes}}) + "\n")
    tool.run("convert", "segmentation", "ingot", source, "labelme", tmp_path / "out")
    about = json.loads((tmp_path / "out/a.json").read_text())
    for found, picture, before in zip(about["shapes"], wanted, shapes, strict=True):
        assert (found["shape_type"], found["label"], found["flags"]) == ("mask", before["label"], {"hidden": True})
        laid = numpy.zeros((about["imageHeight"], about["imageWidth"]), bool)
        (x1, y1), (x2, y2) = numpy.asarray(found["points"]).astype(int)
        data = Image.open(io.BytesIO(base64.b64decode(found["mask"], validate=True)))
        laid[y1:y2 + 1, x1:x2 + 1] = numpy.array(data).astype(bool)
        assert (laid == picture).all()
    (back,) = tool.samples("segmentation", "labelme", tmp_path / "out").values()
    assert back["annotation"]["shapes"] == sorted_keys(shapes)


def sorted_keys(value):
    return json.loads(json.dumps(value, sort_keys=True))


def test_masks_become_boxes_for_detection(tool, tmp_path):
    full = numpy.zeros((11, 17), bool)
    full[2:5, 4:10] = True
    source = labelme(tmp_path / "in", [shape(as_png(full, "L"), [[3, 5], [19, 15]])])
    sample, problems = only(tool.read("detection", "labelme", source))
    assert not problems
    assert sample["annotation"]["shapes"] == [{"h": 3, "label": "cat", "type": "box", "w": 6, "x": 7, "y": 7}]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def header(width: int, height: int, tail: bytes = b"\x01\x00\x00\x00\x00") -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">II", width, height) + tail)


GOOD = as_png(pixels(2), "L")
CORNERS = [[3, 5], [19, 15]]
BAD = {
    "no PNG": (b"GIF89a", CORNERS, "skipped: it is no PNG picture"),
    "no header": (b"\x89PNG\r\n\x1a\n" + chunk(b"IDAT", b""), CORNERS, "skipped: its PNG has no header"),
    "cut off": (GOOD[:-30], CORNERS, "skipped: its PNG is cut off"),
    "damaged": (GOOD[:50] + b"\0" + GOOD[51:], CORNERS, "skipped: its PNG is damaged: a checksum is wrong"),
    "empty": (b"", CORNERS, "skipped: its mask is not base64"),
    "interlaced": (header(17, 11, b"\x08\0\0\0\x01"), CORNERS, "skipped: its PNG is interlaced; that is not read"),
    "layout": (header(17, 11, b"\x03\0\0\0\0"), CORNERS, "skipped: its PNG has a layout of pixels that does not exist"),
    "too large": (header(1000000, 1000000), CORNERS, "skipped: its PNG is empty or too large"),
    "a bomb": (header(20000, 20000) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b""), CORNERS,
               "skipped: its PNG has too few rows"),
    "not packed": (header(17, 11) + chunk(b"IDAT", b"nonsense") + chunk(b"IEND", b""), CORNERS,
                   "skipped: its PNG is damaged: it cannot be unpacked"),
    "filter": (header(7, 1) + chunk(b"IDAT", zlib.compress(b"\x09\xff")) + chunk(b"IEND", b""), CORNERS,
               "skipped: its PNG is damaged: a row has an unknown filter"),
    "black": (as_png(numpy.zeros((11, 17), bool), "L"), CORNERS, "skipped: its mask has no pixels inside the picture"),
    "outside": (GOOD, [[300, 5], [316, 15]], "skipped: its mask has no pixels inside the picture"),
    "one corner": (GOOD, [[3, 5]], "skipped: a mask needs two points, its corners"),
    "far": (GOOD, [[3e9, 5], [19, 15]], "skipped: a coordinate is beyond 1000000 or not a number"),
    "partly outside": (GOOD, [[-3, -2], [13, 8]], "repaired: its mask was clipped at the edge of the picture"),
    "other corners": (GOOD, [[3, 5], [20, 16]],
                      "repaired: its corners do not fit its mask; the mask was laid at the first corner"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_masks_are_reported(tool, tmp_path, name):
    data, points, expected = BAD[name]
    source = labelme(tmp_path / "in", [shape(data, points), shape(GOOD, CORNERS, "dog")])
    sample, problems = only(tool.read("segmentation", "labelme", source))
    assert problems == [expected]
    labels = [s["label"] for s in sample["annotation"]["shapes"]]
    assert labels == (["cat", "dog"] if expected.startswith("repaired") else ["dog"])
    if name == "partly outside":
        assert (decoded(sample["annotation"]["shapes"][0])[:9, :14] == pixels(2)[2:, 3:]).all()


def test_masks_of_one_file_have_a_limit_together(tool, tmp_path):
    bomb = header(20000, 20000) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")
    source = labelme(tmp_path / "in", [shape(bomb, [[0, 0], [19999, 19999]])] * 6, size=(200, 100))
    _, problems = only(tool.read("segmentation", "labelme", source))
    assert problems == ["skipped: its PNG has too few rows"] * 4 + ["skipped: the masks of this file have too many pixels together"] * 2
