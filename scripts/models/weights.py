"""Reads weight files without running what is in them: PyTorch's .pth of before 1.6, and safetensors.

A .pth is a pickle, and a pickle can call anything. Here the opcodes are looked at before anything is loaded, and the
only names that a file may use are the four that rebuild tensors; everything else is refused with its name.
"""

import json
import math
import pickle
import pickletools
import struct
from pathlib import Path

import numpy as np

OPCODES = frozenset(
    "PROTO STOP MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE EMPTY_DICT EMPTY_LIST "
    "EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 APPEND APPENDS SETITEM SETITEMS BINPUT LONG_BINPUT BINGET LONG_BINGET "
    "GLOBAL REDUCE BUILD BINPERSID".split())
STORAGES = {"FloatStorage": "<f4", "DoubleStorage": "<f8", "HalfStorage": "<f2", "LongStorage": "<i8", "IntStorage": "<i4"}
MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
LARGEST = 1 << 31


class Refused(Exception):
    """The file holds something that is not a table of tensors."""


class _Dict(dict):
    """Stands for OrderedDict; what a file says about its own state is dropped."""

    def __setstate__(self, state):
        pass


class _Tensor:
    """One tensor until its storage has been read."""

    def __init__(self, storage, offset, shape, strides):
        if not isinstance(storage, tuple) or not all(isinstance(n, int) and n >= 0 for n in (offset, *shape, *strides)):
            raise Refused("a tensor of something else than numbers")
        if len(shape) != len(strides):
            raise Refused("a tensor whose shape and strides differ in length")
        self.storage, self.offset, self.shape, self.strides = storage, offset, shape, strides

    def array(self, storages):
        data = storages[self.storage[0]]
        last = self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        if math.prod(self.shape) and last >= data.size:
            raise Refused("a tensor that reaches past its storage")
        item = data.itemsize
        view = np.lib.stride_tricks.as_strided(data[self.offset:], self.shape, [s * item for s in self.strides])
        return np.array(view, order="C")


def _rebuild(storage, offset, shape, strides, requires_grad=False, hooks=None):
    return _Tensor(storage, offset, shape, strides)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return _Dict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        raise Refused(f"the file names {module}.{name}")

    def persistent_load(self, reference):
        kind, dtype, key, _, count = reference[:5]
        if kind != "storage" or dtype not in STORAGES.values() or not isinstance(count, int) or not 0 <= count < LARGEST:
            raise Refused(f"a reference to {kind!r}")
        return (str(key), dtype, count)


def _load(file):
    """One pickle, from where the file stands to just behind it."""
    start = file.tell()
    try:
        for opcode, _, _ in pickletools.genops(file):
            if opcode.name not in OPCODES:
                raise Refused(f"the file uses the pickle opcode {opcode.name}")
        file.seek(start)
        return _Unpickler(file).load()
    except Refused:
        raise
    except Exception as error:  # whatever a damaged pickle makes of the machine below
        raise Refused(f"not a readable pickle: {error}") from error


def read_pth(path: Path) -> dict[str, np.ndarray]:
    with open(path, "rb") as file:
        if _load(file) != MAGIC or _load(file) != PROTOCOL:
            raise Refused("not a .pth file of before PyTorch 1.6")
        _load(file)  # the sizes of C's types on the machine that wrote it
        table, keys = _load(file), _load(file)
        if not isinstance(table, dict) or not isinstance(keys, list):
            raise Refused("not a table of tensors")
        tensors = {name: t for name, t in table.items() if isinstance(name, str) and isinstance(t, _Tensor)}
        if len(tensors) != len(table):
            raise Refused("the table holds something else than tensors")
        known = {t.storage[0]: t.storage for t in tensors.values()}
        storages = {}
        for key in keys:
            if key not in known:
                raise Refused(f"a storage that no tensor uses: {key!r}")
            _, dtype, count = known[key]
            stated = file.read(8)
            if len(stated) != 8 or struct.unpack("<q", stated)[0] != count:
                raise Refused("a storage of another size than stated")
            data = file.read(count * np.dtype(dtype).itemsize)
            if len(data) != count * np.dtype(dtype).itemsize:
                raise Refused("the file ends early")
            storages[key] = np.frombuffer(data, dtype)
        if missing := set(known) - set(storages):
            raise Refused(f"storages are missing: {sorted(missing)[0]}")
        return {name: tensor.array(storages) for name, tensor in tensors.items()}


SAFETENSORS = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4", "U8": "u1"}


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise Refused("a header that reaches past the end of the file")
    header, body = json.loads(data[8:8 + size]), memoryview(data)[8 + size:]
    out = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        if about["dtype"] not in SAFETENSORS:
            raise Refused(f"{name} is of the type {about['dtype']}")
        start, end = about["data_offsets"]
        dtype = np.dtype(SAFETENSORS[about["dtype"]])
        if not 0 <= start <= end <= len(body) or end - start != math.prod(about["shape"]) * dtype.itemsize:
            raise Refused(f"{name} lies outside of the file")
        out[name] = np.frombuffer(body[start:end], dtype).reshape(about["shape"])
    return out
