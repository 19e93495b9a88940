"""Writer, and that it and the C library agree byte for byte."""

import json
import os
from pathlib import Path

import numpy
import pytest

import ingot.record as record

from conftest import SCHEMA, sample


def files(folder: Path) -> dict:
    return {f.name: f.read_bytes() for f in folder.iterdir()}


@pytest.mark.parametrize("limits", [{}, {"shard_records": 7}, {"shard_bytes": 3000}])
def test_same_bytes_as_the_c_library(tool, tmp_path, limits):
    import base64
    (tmp_path / "c").mkdir()
    (tmp_path / "py").mkdir()
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA, ensure_ascii=False))
    with open(tmp_path / "x.jsonl", "w") as lines, \
            record.Writer(tmp_path / "py/x", (tmp_path / "schema.json").read_bytes(), **limits) as writer:
        for i in range(40):
            values = sample(i)
            writer.add(values)
            values["image"] = base64.b64encode(values["image"]).decode()
            values["pixels"] = base64.b64encode(values["pixels"].tobytes()).decode()
            lines.write(json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n")
    options = [str(part) for name, value in limits.items() for part in ("--" + name.replace("_", "-"), value)]
    tool("convert", tmp_path / "x.jsonl", tmp_path / "c/x", "--schema", tmp_path / "schema.json", *options)
    assert files(tmp_path / "py") == files(tmp_path / "c")
    assert len(files(tmp_path / "c")) > 1 or not limits
    assert "every byte" in tool("verify", tmp_path / "py/x")
    record.verify(tmp_path / "c/x")


def test_c_reads_what_python_wrote(tool, make_set):
    path = make_set("set", 12, shard_records=5)
    info = json.loads(tool("info", path, "--json"))
    assert info["records"] == 12 and info["shards"] == 3 and info["schema"] == SCHEMA
    lines = [json.loads(line) for line in tool("cat", path).splitlines()]
    for i, line in enumerate(lines):
        wanted = sample(i)
        assert (line["key"], line["label"], line["score"], line["notes"]) == \
            (wanted["key"], wanted["label"], wanted["score"], wanted["notes"])


def test_nothing_is_left_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), record.Writer(tmp_path / "x", SCHEMA, shard_records=1) as w:
        w.add(sample(0))
        w.add(sample(1))
        1 / 0
    assert files(tmp_path) == {}


def test_existing_files(make_set, tmp_path):
    make_set("x", 3)
    before = files(tmp_path)
    with pytest.raises(FileExistsError, match="x-00000-of-00001.irec"):
        make_set("x", 4)
    assert files(tmp_path) == before
    make_set("x", 4, overwrite=True)
    assert len(record.open(tmp_path / "x")) == 4


@pytest.mark.parametrize("values, message", [
    ({"label": 1}, '"key" is absent'),
    ({"key": "a", "nothing": 1}, '"nothing": the schema has no such field'),
    ({"key": 5}, '"key": int does not fit'),
    ({"key": "\ud800"}, '"key": .*surrogates'),
    ({"key": "a", "label": 1 << 63}, '"label":'),
    ({"key": "a", "label": 1.5}, '"label": float does not fit'),
    ({"key": "a", "score": "x"}, '"score"'),
    ({"key": "a", "notes": float("nan")}, '"notes"'),
    ({"key": "a", "notes": b"x"}, '"notes"'),
    ({"key": "a", "image": "text"}, '"image"'),
    ({"key": "a", "pixels": b"1234"}, '"pixels": 4 bytes do not fit float32'),
    ({"key": "a", "pixels": numpy.zeros(2, "float64")}, '"pixels": elements of format "d" are not float32'),
    ({"key": "a", "pixels": numpy.zeros(2, "int32")}, '"pixels": elements of format "i" are not float32'),
])
def test_bad_values(tmp_path, values, message):
    with record.Writer(tmp_path / "x", SCHEMA) as w:
        with pytest.raises(record.RecordError, match=message):
            w.add(values)
        w.add(key="good")
    assert len(record.open(tmp_path / "x")) == 1


@pytest.mark.parametrize("dtype", "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split())
def test_all_dtypes(tmp_path, dtype, pure):
    schema = {"fields": [{"name": "a", "type": "array", "dtype": dtype, "shape": [-1, 3]},
                         {"name": "b", "type": "array", "dtype": dtype, "shape": []}]}
    with record.Writer(tmp_path / "x", schema) as w:
        w.add(a=numpy.arange(12, dtype=dtype).reshape(4, 3), b=numpy.array(7, dtype))
        w.add(a=numpy.arange(24, dtype=dtype).reshape(4, 6)[:, ::2])
    first, second = record.open(tmp_path / "x", pure=pure)
    assert first["a"].dtype == dtype and (first["a"] == numpy.arange(12).reshape(4, 3)).all()
    assert first["b"].shape == () and first["b"] == 7
    assert (second["a"] == numpy.arange(24).reshape(4, 6)[:, ::2]).all() and second["b"] is None


@pytest.mark.parametrize("schema, message", [
    ("{", "not valid JSON"), ("[]", "fields"), ({"fields": []}, "1 to 256"),
    ({"fields": [{"name": "a"}]}, "type"), ({"fields": [{"name": "a", "type": "x"}]}, "type"),
    ({"fields": [{"name": "a", "type": "utf8"}] * 2}, "one name"),
    ({"fields": [{"name": "a", "type": "utf8"}], "key": "b"}, "no field"),
    ({"fields": [{"name": "a", "type": "int64"}], "key": "a"}, "utf8 or bytes"),
    ({"fields": [{"name": "a", "type": "array", "dtype": "f4", "shape": []}]}, "dtype"),
    ({"fields": [{"name": "a", "type": "array", "dtype": "int8", "shape": [-1, -1]}]}, "shape"),
    ({"fields": [{"name": "a", "type": "array", "dtype": "int8", "shape": [True]}]}, "shape"),
])
def test_bad_schemas(tmp_path, schema, message):
    with pytest.raises(record.RecordError, match=message):
        record.Writer(tmp_path / "x", schema)
    assert os.listdir(tmp_path) == []
