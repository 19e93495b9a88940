"""TFRecords under TensorFlow's own reader. TensorFlow is 1.6 GB, so it is no part of the tests' environment: this runs where
one is, named by INGOT_TENSORFLOW (a Python that has it), and says so where none is. test_formats.py reads the same files with
another reader every time."""

import importlib.util
import json
import os
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from conftest import HERE
from pictures import png


@pytest.fixture
def tensorflow():
    python = os.environ.get("INGOT_TENSORFLOW") or (sys.executable if importlib.util.find_spec("tensorflow") else None)
    if python is None:
        reason = "NOT RUN: no TensorFlow here; INGOT_TENSORFLOW=/path/to/its/python runs it"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)

    def read(kind: str, files: list[Path]) -> list[dict]:
        run = subprocess.run([python, str(HERE / "tensorflow_reader.py"), kind, *map(str, files)], capture_output=True, text=True,
                             timeout=600, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""})
        assert run.returncode == 0, run.stderr
        return [json.loads(line) for line in run.stdout.splitlines()]

    return read


def wav(seed: int) -> bytes:
    data = bytes((i * seed) % 256 for i in range(400))
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) +
            b"data" + struct.pack("<I", len(data)) + data)


MADE = {"image": ("image-class", ".png", lambda i: png(8 + i, 9)), "text": ("text-class", ".txt", lambda i: f"text é {i}".encode()),
        "audio": ("audio-class", ".wav", wav)}


@pytest.mark.parametrize("kind", MADE)
def test_tensorflow_reads_our_records(tool, tensorflow, tmp_path, kind):
    of_type, ending, make = MADE[kind]
    source, contents = tmp_path / "in", {}
    for i in range(24):
        path = source / ("cat" if i % 4 else "猫") / f"{i}{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make(i + 1))
        contents[f"{path.parent.name}/{path.name}"] = path.read_bytes()
    out = tmp_path / "out"
    tool.run("train", of_type, "image-folder", source, 1, 0.25, out)
    classes = (out / "classes.txt").read_text().splitlines()
    found = {}
    for part, count in (("train", 18), ("evaluate", 6)):
        rows = tensorflow(kind, sorted((out / part).glob("*.tfrecord")))
        assert len(rows) == count
        for row in rows:
            name = row["file"]
            assert bytes.fromhex(row["content"]) == contents[name]
            assert row["texts"] == [name.split("/")[0]] and [classes[n] for n in row["labels"]] == row["texts"]
            if kind == "image":
                number = int(name.split("/")[1].removesuffix(ending))
                assert row["size"] == [9 + number, 9] and row["shape"][:2] == [9, 9 + number] and row["format"] == "png"
            found[name] = part
    assert found.keys() == contents.keys()
