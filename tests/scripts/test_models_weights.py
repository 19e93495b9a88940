"""scripts/models/weights.py: tensors come out as they went in, and nothing else is let in."""

import collections
import io
import json
import os
import pickle
import struct
import sys
import types

import numpy as np
import pytest
import weights


class Storage:
    def __init__(self, array):
        self.array = array.reshape(-1)


class Tensor:
    """Pickles as PyTorch's do."""

    def __init__(self, array, offset=0, shape=None, strides=None):
        self.storage = Storage(array)
        shape = array.shape if shape is None else shape
        self.numbers = (offset, shape, strides or tuple(s // array.itemsize for s in array.strides))

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_tensor_v2, (self.storage, *self.numbers, False, collections.OrderedDict())


class Pickler(pickle.Pickler):
    def persistent_id(self, thing):
        if not isinstance(thing, Storage):
            return None
        names = {"float32": "FloatStorage", "int64": "LongStorage", "float16": "HalfStorage"}
        kind = getattr(sys.modules["torch"], names[thing.array.dtype.name])
        return ("storage", kind, str(id(thing)), "cpu", thing.array.size, None)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a .pth of before 1.6 as PyTorch does: five pickles and the storages."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in ("FloatStorage", "LongStorage", "HalfStorage"):
        setattr(torch, name, type(name, (), {"__module__": "torch"}))

    def _rebuild_tensor_v2():
        pass
    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = _rebuild_tensor_v2
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch._utils", utils)

    def make(table, magic=weights.MAGIC, cut=None):
        out = io.BytesIO()
        for thing in (magic, weights.PROTOCOL, {"little_endian": True}, table):
            Pickler(out, 2).dump(thing)
        storages = [t.storage for t in table.values() if isinstance(t, Tensor)] if isinstance(table, dict) else []
        pickle.dump([str(id(s)) for s in storages], out, 2)
        for s in storages:
            out.write(struct.pack("<q", s.array.size) + s.array.tobytes())
        path = tmp_path / "a.pth"
        path.write_bytes(out.getvalue()[:cut])
        return path
    return make


def test_tensors_come_back(write):
    wanted = {"a.weight": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.array(7, np.int64), "c": np.ones((2, 1, 3), np.float16)}
    table = collections.OrderedDict((name, Tensor(array)) for name, array in wanted.items())
    table._metadata = {"": {"version": 1}}  # as PyTorch's; it needs an opcode of its own
    read = weights.read_pth(write(table))
    assert list(read) == list(wanted)
    for name, array in wanted.items():
        assert read[name].dtype == array.dtype and np.array_equal(read[name], array)


def test_strides_and_offsets_are_followed(write):
    base = np.arange(12, dtype=np.float32)
    read = weights.read_pth(write({"t": Tensor(base, 1, (3, 2), (1, 4))}))["t"]
    assert np.array_equal(read, np.array([[1, 5], [2, 6], [3, 7]], np.float32))


class Evil:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("what, says", [
    (Evil(os.system, ("true",)), "posix.system"),
    (Evil(eval, ("1",)), "eval"),
    (Evil(getattr, (collections.OrderedDict, "__init__")), "getattr"),
    ("text", "something else than tensors"),
    (np.float32(1), "numpy"),
    (types.SimpleNamespace(a=1), "SimpleNamespace"),
    (b"bytes", "encode"),
    ({1, 2}, "set"),
], ids=lambda v: type(v).__name__ if not isinstance(v, str) else v)
def test_anything_else_is_refused(write, what, says):
    with pytest.raises(weights.Refused) as refused:
        weights.read_pth(write({"a": what}))
    assert says in str(refused.value)


@pytest.mark.parametrize("tensor, says", [
    (Tensor(np.ones(4, np.float32), 2, (3,), (1,)), "past its storage"),
    (Tensor(np.ones(4, np.float32), 0, (1 << 40,), (1,)), "past its storage"),
    (Tensor(np.ones(4, np.float32), -1, (2,), (1,)), "than numbers"),
    (Tensor(np.ones(4, np.float32), 0, (2,), (-1,)), "than numbers"),
    (Tensor(np.ones(4, np.float32), 0, (2, 2), (1,)), "differ in length"),
])
def test_tensors_that_lie(write, tensor, says):
    with pytest.raises(weights.Refused, match=says):
        weights.read_pth(write({"a": tensor}))


def test_other_files(write, tmp_path):
    good = {"a": Tensor(np.ones(100, np.float32))}
    with pytest.raises(weights.Refused, match="before PyTorch 1.6"):
        weights.read_pth(write(good, magic=1))
    for cut in (0, 5, 40, 200, -1, -401, -405):
        with pytest.raises(weights.Refused):
            weights.read_pth(write(good, cut=cut))
    newer = tmp_path / "new.pth"
    newer.write_bytes(pickle.dumps(weights.MAGIC, 4))
    with pytest.raises(weights.Refused, match="FRAME|LONG"):
        weights.read_pth(newer)


def safetensors(header, body=b"\0" * 64):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_safetensors(tmp_path):
    path = tmp_path / "a"
    body = np.arange(6, dtype="<f4").tobytes()
    path.write_bytes(safetensors({"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}, body))
    assert np.array_equal(weights.read_safetensors(path)["a"], np.arange(6, dtype=np.float32).reshape(2, 3))
    for wrong in ({"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 20]}, {"dtype": "F32", "shape": [20], "data_offsets": [0, 80]},
                  {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}, {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}):
        path.write_bytes(safetensors({"a": wrong}))
        with pytest.raises(weights.Refused):
            weights.read_safetensors(path)
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    with pytest.raises(weights.Refused):
        weights.read_safetensors(path)
