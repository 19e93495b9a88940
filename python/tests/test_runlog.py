"""What trained programs tell the platform: printed lines and small files, never an exception."""

import json
import struct
import zlib

import pytest

import ingot
from ingot import runlog


@pytest.fixture(autouse=True)
def _logs(monkeypatch, tmp_path):
    monkeypatch.setenv("INGOT_LOGS", str(tmp_path))
    monkeypatch.delenv("RANK", raising=False)
    runlog._told.clear()
    return tmp_path


def lines(capsys) -> list:
    out, _ = capsys.readouterr()
    return [json.loads(line) for line in out.splitlines()]


def test_metrics_are_lines(capsys):
    ingot.log(step=1, loss=0.5, accuracy=1)
    ingot.log(loss=float("nan"), best=float("-inf"))
    ingot.log(step=2, **{"n" * 5000: 1.0, "odd": object(), "loss": 0.25})
    assert lines(capsys) == [{"step": 1, "loss": 0.5, "accuracy": 1}, {"loss": "NaN", "best": "Infinity"}, {"step": 2, "loss": 0.25}]


def test_what_is_left_out_is_said_once(capsys):
    for _ in range(3):
        ingot.log(odd="x")
    assert capsys.readouterr().err.count("odd is no number") == 1


def test_params_are_flat_and_bounded(capsys):
    class Odd:
        def __str__(self):
            return "odd" * 1000

    ingot.params({"lr": 0.1, "model": {"depth": 18, "name": "r"}, "on": True, "odd": Odd(), "k" * 201: 1}, batch=8)
    ingot.params({str(i): i for i in range(1000)})
    ingot.params({})
    first, second = lines(capsys)
    assert first["ingot.params"] == {"lr": 0.1, "model.depth": 18, "model.name": "r", "on": True, "odd": ("odd" * 1000)[:500], "batch": 8}
    assert len(second["ingot.params"]) == 200


def pixels(data: bytes) -> tuple:
    width, height, bits, colour = struct.unpack(">IIBB", data[16:26])
    body = data[data.index(b"IDAT") + 4:data.index(b"IEND") - 8]
    return width, height, bits, colour, zlib.decompress(body)


def test_images_of_arrays(_logs):
    ingot.image("val/mask", [[0, 128], [255, 300]], step=3)
    ingot.image("colour", [[[0.0, 0.5, 1.0]]], step=4)
    ingot.image("planes", [[[0.25] * 5] * 2] * 3, step=5)
    grey = (_logs / "ingot-images" / "000000000003-val%2Fmask.png").read_bytes()
    assert pixels(grey) == (2, 2, 8, 0, bytes([0, 0, 128, 0, 255, 255]))
    assert pixels((_logs / "ingot-images" / "000000000004-colour.png").read_bytes()) == (1, 1, 8, 2, bytes([0, 0, 128, 255]))
    assert pixels((_logs / "ingot-images" / "000000000005-planes.png").read_bytes())[:4] == (5, 2, 8, 2)


def test_bad_images_never_fail_a_run(_logs, capsys, monkeypatch):
    for bad in (None, [], [[]], b"GIF89a", "/no/such/file.png", [[[1] * 9] * 2] * 2, b"\xff\xd8\xff" + b"x" * (2 << 20)):
        ingot.image("bad", bad, step=1)
    monkeypatch.setenv("INGOT_LOGS", "/proc/1/no")
    ingot.image("bad", [[1]])
    assert not list((_logs / "ingot-images").iterdir())
    assert "is not kept" in capsys.readouterr().err


def test_images_are_few(_logs):
    for step in range(205):
        ingot.image("x", [[step]], step=step)
    assert len(list((_logs / "ingot-images").iterdir())) == 200
    ingot.image("wide", [[0] * 5000], step=0)
    assert not (_logs / "ingot-images" / "000000000000-wide.png").exists()
