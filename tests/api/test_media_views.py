"""Tiles of large pictures and wave forms of sounds."""

import io
import math
import struct
import wave
import zlib
from pathlib import Path

import numpy
import pytest
from harness import unique
from PIL import Image
from test_datasets import bring, chunk, samples, zipped


@pytest.fixture
def make_version(admin, project):
    def make(kind: str) -> str:
        made = admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": kind,
                                      "data_type": "audio" if kind == "audio-class" else "image"})
        path = f"datasets/{made['id']}/versions"
        return f"{path}/{admin.post(path, {})['id']}"
    return make


def gradient(width: int, height: int) -> Image.Image:
    """Red grows to the right, green downwards: a tile says where it is from."""
    pixels = numpy.zeros((height, width, 3), numpy.uint8)
    pixels[..., 0] = numpy.linspace(0, 255, width)[None, :]
    pixels[..., 1] = numpy.linspace(0, 255, height)[:, None]
    return Image.fromarray(pixels)


def saved(picture: Image.Image, form: str, **more) -> bytes:
    out = io.BytesIO()
    picture.save(out, form, **more)
    return out.getvalue()


def turned(orientation: int) -> bytes:
    """A JPEG that is shown as the gradient, stored as a camera with this orientation does."""
    back = {1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
            5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
            8: Image.Transpose.ROTATE_270}[orientation]
    picture = gradient(900, 600)
    exif = Image.Exif()
    exif[0x0112] = orientation
    return saved(picture.transpose(back) if back is not None else picture, "JPEG", quality=95, exif=exif)


def tile(admin, version: str, sample: dict, level: int, x: int, y: int) -> numpy.ndarray:
    found = admin.call("GET", f"{version}/samples/{sample['id']}/tile", params={"level": level, "x": x, "y": y})
    assert found.status_code == 200, found.text
    assert found.headers["content-type"] == "image/jpeg" and "immutable" in found.headers["cache-control"]
    return numpy.asarray(Image.open(io.BytesIO(found.content)).convert("RGB")).astype(int)


def test_tiles_show_their_part_upright(admin, project, make_version):
    version = make_version("detection")
    pictures = {f"{i}.jpg": turned(i) for i in range(1, 9)} | {"p.png": saved(gradient(900, 600), "PNG")}
    bring(admin, project, version, "all.zip", zipped(pictures))
    found = samples(admin, version)
    assert len(found) == 9
    whole = numpy.asarray(gradient(900, 600)).astype(int)
    for sample in found:
        assert (sample["width"], sample["height"]) == (900, 600)
        for x, y in ((0, 0), (3, 2), (1, 1)):
            part = whole[y * 256:y * 256 + 256, x * 256:x * 256 + 256]
            got = tile(admin, version, sample, 0, x, y)
            assert got.shape == part.shape and abs(got - part).max() < 12, sample["name"]
        small = tile(admin, version, sample, 2, 0, 0)
        assert small.shape == (150, 225, 3) and abs(small - whole[1::4, 1::4]).max() < 16, sample["name"]
        assert tile(admin, version, sample, 10, 0, 0).shape == (1, 1, 3)


def test_tiles_that_are_not_there(server, admin, project, make_version):
    version = make_version("detection")
    bring(admin, project, version, "all.zip", zipped({"p.png": saved(gradient(600, 300), "PNG")}))
    [sample] = samples(admin, version)
    path = f"{version}/samples/{sample['id']}/tile"
    for params in ({"x": 3}, {"y": 2}, {"level": 99}, {"x": -1}, {"level": 1, "y": 1}, {"x": "a"}):
        refused = admin.call("GET", path, params=params)
        assert refused.status_code == 422, (params, refused.text)
    tile(admin, version, sample, 0, 1, 0)
    kept = {p.name.split(".", 1)[1] for p in (Path(server.data) / "cache").rglob(f"{sample['digest']}.*.tile.jpg")}
    assert kept == {f"0.{x}.0.tile.jpg" for x in range(3)}  # a row is made at once


def test_tile_of_400_megapixels(admin, project, make_version):
    side = 20000
    rows = zlib.compressobj(1)
    line, data = b"\0" + bytes(side), []
    for i in range(side):
        data.append(rows.compress(line if i < side - 100 else b"\0" + b"\xff" * side))
    data.append(rows.flush())
    large = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
             + chunk(b"IDAT", b"".join(data)) + chunk(b"IEND", b""))
    version = make_version("detection")
    bring(admin, project, version, "large.zip", zipped({"large.png": large}))
    [sample] = samples(admin, version)
    last = tile(admin, version, sample, 0, 78, 78)
    assert last.shape == (32, 32, 3) and last.min() > 250


def sound(seconds: float, rate: int = 8000, channels: int = 1) -> bytes:
    """Silence, then from the half on a tone that uses three quarters of the range."""
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(channels)
        w.setsampwidth(2)
        w.setframerate(rate)
        n = int(seconds * rate)
        values = [0 if i < n // 2 else round(24576 * math.sin(i * 0.7)) for i in range(n)]
        w.writeframes(b"".join(struct.pack("<h", v) * channels for v in values))
    return out.getvalue()


def test_wave_forms(admin, project, make_version):
    version = make_version("audio-class")
    bring(admin, project, version, "all.zip", zipped({"long.wav": sound(10), "pair.wav": sound(1, channels=2),
                                                      "tiny.wav": sound(0.01)}))
    found = {s["name"]: s for s in samples(admin, version)}
    for name, duration, pairs in (("long.wav", 10, 1000), ("pair.wav", 1, 1000), ("tiny.wav", 0.01, 80)):
        for _ in range(2):
            answer = admin.call("GET", f"{version}/samples/{found[name]['id']}/peaks", params={"buckets": 1000}).json()
        assert answer["duration"] == pytest.approx(duration) and len(answer["peaks"]) == pairs
        assert all(-1 <= low <= high <= 1 for low, high in answer["peaks"])
        quiet, loud = answer["peaks"][:pairs // 2 - 1], answer["peaks"][pairs // 2 + 1:]
        assert all(pair == [0, 0] for pair in quiet)
        assert min(low for low, _ in loud) == pytest.approx(-0.75, abs=0.05)
        assert max(high for _, high in loud) == pytest.approx(0.75, abs=0.05)
    path = f"{version}/samples/{found['long.wav']['id']}/peaks"
    assert len(admin.call("GET", path, params={"buckets": 7}).json()["peaks"]) == 7
    assert admin.call("GET", path, params={"buckets": 0}).status_code == 422
    assert admin.call("GET", path, params={"buckets": 10001}).status_code == 422


def test_peaks_of_a_picture_are_refused(admin, project, make_version):
    version = make_version("detection")
    bring(admin, project, version, "all.zip", zipped({"p.png": saved(gradient(60, 30), "PNG")}))
    [sample] = samples(admin, version)
    refused = admin.call("GET", f"{version}/samples/{sample['id']}/peaks")
    assert refused.status_code == 422 and "sound" in refused.json()["detail"]
