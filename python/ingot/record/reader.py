"""Reading record sets from files."""

from __future__ import annotations

import json
import mmap
import os
from typing import Any, Callable, Iterator

from . import _pure
from ._format import (ARRAY, DTYPES, FLAG_KEYS, FOOTER_SIZE, HEADER_SIZE, JSON, SHARD_NAME, CorruptError, Field,
                      Header, RecordError, Schema, check_set, crc32c, parse_header, parse_schema)

try:
    from . import _fast
except ImportError:
    _fast = None  # type: ignore[assignment]


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _decode_json(view: memoryview) -> Any:
    return json.loads(bytes(view), parse_constant=_refuse)


def _array_decoder(field: Field) -> Callable[[memoryview], Any]:
    """To a NumPy array where there is NumPy, else to a memoryview of that shape; neither copies."""
    code: Any
    code, size = DTYPES[field.dtype or ""]
    shape, unit, is_open = field.shape, field.unit(), -1 in field.shape

    def shape_of(view: memoryview) -> tuple[int, ...]:
        if problem := field.check_length(len(view)):
            raise ValueError(problem)
        return tuple(len(view) // unit if n == -1 else n for n in shape) if is_open else shape

    try:
        import numpy
    except ImportError:
        def decode(view: memoryview) -> Any:
            exact = shape_of(view)
            return view.cast(code, exact) if exact and len(view) else view.cast(code)
    else:
        dtype = numpy.dtype(f"<{'f' if code in 'efd' else 'i' if code.islower() else 'u'}{size}")

        def decode(view: memoryview) -> Any:
            return numpy.frombuffer(view, dtype).reshape(shape_of(view))
    return decode


def make_layout(schema: Schema) -> _pure.Layout:
    def decoder(field: Field) -> Callable[[memoryview], Any] | None:
        if field.type == JSON:
            return _decode_json
        return _array_decoder(field) if field.type == ARRAY else None

    return _pure.Layout(schema.number, bytes(f.type for f in schema.fields),
                        tuple(decoder(f) for f in schema.fields),
                        schema.number[schema.key] if schema.key is not None else -1)


def find_files(path: str) -> list[str]:
    """The files of the set that `path` names: one of its shards, or folder and NAME."""
    if os.path.isfile(path):
        match = SHARD_NAME.match(path)
        if not match or int(match[3]) == 0:
            return [path]
        prefix, shards = match[1], int(match[3])
    else:
        prefix = path
        folder, base = os.path.split(path)
        try:
            names = os.listdir(folder or ".")
        except FileNotFoundError:
            names = []
        found = {int(m[3]) for name in names if (m := SHARD_NAME.match(name)) and m[1] == base and int(m[3])}
        if not found:
            raise FileNotFoundError(f"{path}: no such file or record set")
        if len(found) > 1:
            raise RecordError(f"{path}: there is more than one set of this name; name one file of it")
        shards = found.pop()
    return [f"{prefix}-{i:05d}-of-{shards:05d}.irec" for i in range(shards)]


def map_file(file: str) -> Any:
    with open(file, "rb") as f:
        if os.fstat(f.fileno()).st_size == 0:
            raise CorruptError(f"{file}: not a record file")
        return mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)


def check_shard(data: Any, file: str) -> Header:
    """Everything that can be checked in constant time."""
    h = parse_header(data[:HEADER_SIZE], len(data), file)
    if data[len(data) - FOOTER_SIZE:] != h.footer():
        raise CorruptError(f"{file}: the footer does not belong to the header")
    return h


def check_index(data: Any, h: Header, file: str) -> None:
    view = memoryview(data)
    if crc32c(view[h.index_offset:h.index_offset + h.index_size]) != h.index_crc:
        raise CorruptError(f"{file}: the index's checksum is wrong")
    if h.flags & FLAG_KEYS and crc32c(view[h.keys_offset:h.keys_offset + h.index_size]) != h.keys_crc:
        raise CorruptError(f"{file}: the key table's checksum is wrong")


class BaseReader:
    """What readers of files and of servers have in common: a sequence of records."""

    schema: Schema
    set_id: int
    shard_sizes: tuple[int, ...]
    """How many records each shard has."""

    def __len__(self) -> int:
        return sum(self.shard_sizes)

    def __getitem__(self, number: int) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self[i]

    def row(self, number: int) -> tuple[Any, ...]:
        """All fields of one record, decoded, in the schema's order: `image, label = reader.row(17)`. The fastest way to
        many small records."""
        record = self[number]
        return tuple(record[i] for i in range(len(self.schema.fields)))

    def _find(self, key: bytes) -> int:
        raise NotImplementedError

    def find(self, key: str | bytes) -> int:
        """The number of the first record with this key; KeyError if there is none."""
        if self.schema.key is None:
            raise RecordError("the schema names no key field")
        number = self._find(key.encode() if isinstance(key, str) else bytes(key))
        if number < 0:
            raise KeyError(key)
        return number

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, (str, bytes)):
            return False
        try:
            self.find(key)
        except KeyError:
            return False
        return True

    def prefetch(self, numbers: list[int]) -> None:
        """Says which records will be read soon; a reader of files needs no such help."""

    def close(self) -> None:
        """Ends the reader; views that were taken from it stay valid."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Opened:
    """The files of a set, mapped and checked."""

    def __init__(self, path: str, verify: bool) -> None:
        self.files = find_files(path)
        maps = [map_file(file) for file in self.files]
        headers = [check_shard(data, file) for data, file in zip(maps, self.files)]
        check_set(headers, self.files)
        a = headers[0]
        self.schema = parse_schema(maps[0][HEADER_SIZE:HEADER_SIZE + a.schema_size], a, self.files[0])
        self.set_id = a.set_id
        self.shard_sizes = tuple(h.records for h in headers)
        if verify:
            for data, h, file in zip(maps, headers, self.files):
                check_index(data, h, file)
        self.shards = [_pure.Shard(data, h.first, h.records, h.data_offset, h.index_offset, h.keys_offset, file)
                       for data, h, file in zip(maps, headers, self.files)]
        self.layout = make_layout(self.schema)


class Reader(BaseReader):
    """A record set in files: reader[17]["image"] is a view into the mapped file, and reader.view(17, "image") the
    bytes of a field whatever its type.

    verify: check the index now and each record's checksum when it is first read.
    A reader can be pickled and used after a fork; threads may share it."""

    files: list[str]
    _arguments: tuple[str, bool, bool]

    def __new__(cls, path: str | os.PathLike[str], verify: bool = False, *, pure: bool = False) -> Reader:
        opened = _Opened(os.fspath(path), verify)
        if _fast is None or pure:
            self: Any = object.__new__(_PureReader)
            self._core = _pure.Core(opened.shards, opened.layout, verify)
        else:
            self = _FastReader._make(opened, verify)
        self.files, self.schema, self.set_id = opened.files, opened.schema, opened.set_id
        self.shard_sizes = opened.shard_sizes
        self._arguments = (os.path.abspath(os.fspath(path)), verify, pure)
        return self  # type: ignore[no-any-return]

    def view(self, number: int, field: str | int) -> memoryview | None:
        """The bytes of one field, or None if it is absent; the fastest way to them."""
        raise NotImplementedError

    def __reduce__(self) -> Any:
        path, verify, pure = self._arguments
        return _reopen, (path, verify, pure)

    def __repr__(self) -> str:
        return f"<record set {self._arguments[0]!r}: {len(self)} records, {len(self.files)} shards>"


class _PureReader(Reader):
    _core: _pure.Core

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, number: int) -> Any:
        return self._core[number]

    def view(self, number: int, field: str | int) -> memoryview | None:
        return self._core.view(number, field)

    def _find(self, key: bytes) -> int:
        return self._core.find(key)

    def close(self) -> None:
        self._core = _pure.Core([], _pure.Layout({}, b"", (), -1), False)


if _fast is not None:
    class _FastReader(_fast.Core, Reader):
        """Its length, [number], row, view, _find and close are those of the extension."""

        @classmethod
        def _make(cls, opened: _Opened, verify: bool) -> Any:
            return _fast.Core.__new__(cls, opened.shards, tuple(opened.layout), verify, CorruptError)

        def __init__(self, *_: object, **__: object) -> None:
            pass


def _reopen(path: str, verify: bool, pure: bool) -> Reader:
    return Reader(path, verify, pure=pure)
