"""Writing record sets; the bytes are the same as those of the C library for the same records."""

from __future__ import annotations

import itertools
import json
import os
import struct
from typing import Any, BinaryIO, Mapping, NamedTuple

from ._format import (ABSENT, ALIGNMENT, ARRAY, BYTES, DTYPES, ENTRY, FLAG_KEYS, FLOAT64, FOOTER_SIZE, HEADER_SIZE, INT64,
                      JSON, MAGIC, MAX_DEPTH, MAX_SHARDS, MAX_SIZE, SLOT, UTF8, Field, Header, RecordError, Schema, align,
                      crc32c, key_hash)

_counter = itertools.count()


def _depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else None
    return 0 if inside is None else 1 + max(map(_depth, inside), default=0)


def _check_format(code: str, field: Field) -> None:
    """Whether elements of a buffer are those of the field's dtype."""
    size = struct.calcsize(code) if len(code.lstrip("@=<")) == 1 else 0
    kind = code[-1:]
    kind = "f" if kind in "efd" else "i" if kind in "bhilqn" else "u" if kind in "BHILQN" else "?"
    wanted = DTYPES[field.dtype or ""]
    wanted_kind = "f" if wanted[0] in "efd" else "i" if wanted[0].islower() else "u"
    if (kind, size) != (wanted_kind, wanted[1]):
        raise ValueError(f'elements of format "{code}" are not {field.dtype}')


def _encode(field: Field, value: Any) -> bytes | memoryview:
    """A value as the bytes in the file."""
    if field.type == UTF8 and isinstance(value, str):
        return value.encode()
    if field.type == INT64 and hasattr(value, "__index__"):
        return struct.pack("<q", value.__index__())
    if field.type == FLOAT64 and hasattr(value, "__float__"):
        return struct.pack("<d", float(value))
    if field.type == JSON:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} levels of nesting")
        return text.encode()
    if field.type in (BYTES, ARRAY):
        view = memoryview(value)
        if field.type == ARRAY and not isinstance(value, (bytes, bytearray, memoryview)):
            _check_format(view.format, field)
        return view.cast("B") if view.nbytes and view.c_contiguous else view.tobytes()
    raise TypeError(f"{type(value).__name__} does not fit")


class _Done(NamedTuple):
    temp: str
    header: Header


class Writer:
    """Writes a set; the files get their names when the `with` block ends well (or by finish()):

        with Writer("train", {"fields": [{"name": "key", "type": "utf8"}, ...], "key": "key"}) as w:
            w.add(key="0001.jpg", image=data, label=3)

    Fields that are not given are absent. Array fields take anything with the buffer protocol, such as NumPy arrays of
    the right dtype in C order. shard_bytes, shard_records: limits after which a new shard begins."""

    def __init__(self, prefix: str | os.PathLike[str], schema: Mapping[str, Any] | str | bytes, *,
                 shard_bytes: int = 0, shard_records: int = 0, overwrite: bool = False) -> None:
        self._prefix = os.fspath(prefix)
        if not os.path.basename(self._prefix):
            raise RecordError(f'"{self._prefix}": a name is needed for the files')
        if isinstance(schema, Mapping):
            schema = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        self.schema = Schema(schema.encode() if isinstance(schema, str) else schema)
        self._limits, self._overwrite = (shard_bytes, shard_records), overwrite
        self._done: list[_Done] = []
        self._total = 0
        self._file: BinaryIO | None = None
        self._open_shard()

    # -- one shard --

    def _open_shard(self) -> None:
        if len(self._done) == MAX_SHARDS:
            raise RecordError(f"{self._prefix}: more than {MAX_SHARDS} shards; make them larger")
        self._temp = f"{self._prefix}-{len(self._done):05d}.irec.{os.getpid()}-py{next(_counter)}.tmp"
        self._file = open(self._temp, "xb")
        self._index: list[bytes] = []
        self._keys: list[tuple[int, int]] = []
        self._first = self._total
        self._file.write(bytes(HEADER_SIZE) + self.schema.text)
        self._at = HEADER_SIZE + len(self.schema.text)
        self._pad()

    def _put(self, data: bytes | memoryview) -> None:
        assert self._file is not None
        self._file.write(data)
        self._at += len(data)

    def _pad(self) -> None:
        self._put(bytes(align(self._at) - self._at))

    def _seal_shard(self) -> None:
        assert self._file is not None
        self._pad()
        index, index_offset = b"".join(self._index), self._at
        self._put(index)
        self._pad()
        keys, keys_offset = b"", 0
        if self.schema.key is not None:
            keys, keys_offset = b"".join(ENTRY.pack(h, n, 0) for h, n in sorted(self._keys)), self._at
            self._put(keys)
            self._pad()
        self._put(bytes(FOOTER_SIZE))
        self._file.close()
        self._file = None
        self._done.append(_Done(self._temp, Header(
            MAGIC, 1, 0, FLAG_KEYS if keys_offset else 0, self._at, HEADER_SIZE,
            align(HEADER_SIZE + len(self.schema.text)), index_offset, keys_offset, len(self._index), self._first, 0,
            len(self._done), 0, 0, len(self.schema.text), crc32c(self.schema.text), crc32c(index),
            crc32c(keys) if keys_offset else 0, bytes(12), 0)))

    def _is_full(self, size: int) -> bool:
        max_bytes, max_records = self._limits
        grown = align(self._at) + size + (len(self._index) + 1) * 32 + 3 * 64 + FOOTER_SIZE
        return bool(self._index) and (bool(max_records) and len(self._index) >= max_records
                                      or bool(max_bytes) and grown > max_bytes)

    # -- records --

    def _values(self, values: Mapping[str, Any]) -> list[bytes | memoryview | None]:
        for name in values:
            if name not in self.schema.number:
                raise RecordError(f'field "{name}": the schema has no such field')
        encoded: list[bytes | memoryview | None] = []
        for field in self.schema.fields:
            value = values.get(field.name)
            if value is None:
                if field.name == self.schema.key:
                    raise RecordError(f'key field "{field.name}" is absent')
                encoded.append(None)
                continue
            try:
                data = _encode(field, value)
            except (TypeError, ValueError, struct.error, OverflowError) as problem:
                raise RecordError(f'field "{field.name}": {problem}') from None
            if wrong := field.check_length(len(data)):
                raise RecordError(f'field "{field.name}": {wrong}')
            encoded.append(data)
        return encoded

    def add(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """One record, by the names of its fields."""
        if self._file is None:
            raise RecordError("the writer has finished or failed before")
        encoded = self._values({**(values or {}), **more})
        table, parts, at = b"", [], len(encoded) * 8
        for field, data in zip(self.schema.fields, encoded):
            if data is None:
                table += SLOT.pack(0, ABSENT)
                continue
            start = align(at, ALIGNMENT[field.type])
            if start + len(data) > MAX_SIZE:
                raise RecordError(f'field "{field.name}": the record would be larger than 4 GiB')
            table += SLOT.pack(start, len(data))
            parts += [bytes(start - at), data]
            at = start + len(data)
        try:
            self._put_record(table, parts, at)
        except BaseException:
            self.discard()
            raise
        if self.schema.key is not None:
            key = encoded[self.schema.number[self.schema.key]]
            self._keys.append((key_hash(bytes(key or b"")), len(self._index) - 1))
        self._total += 1

    def _put_record(self, table: bytes, parts: list[bytes | memoryview], size: int) -> None:
        if self._is_full(size):
            self._seal_shard()
            self._open_shard()
        self._pad()
        offset, crc = self._at, 0
        for part in (table, *parts):
            crc = crc32c(part, crc)
            self._put(part)
        self._index.append(ENTRY.pack(offset, size, crc))

    # -- the end --

    def finish(self) -> list[str]:
        """Seals, syncs and renames the shards, number 0 last; the names of the files."""
        if self._file is None:
            raise RecordError("the writer has finished or failed before")
        try:
            self._seal_shard()
            return self._publish()
        except BaseException:
            self.discard()
            raise

    def _publish(self) -> list[str]:
        set_id = 0
        for _, h in self._done:
            set_id = key_hash(struct.pack("<QQQII", set_id, h.file_size, h.records, h.schema_crc, h.index_crc))
        names = [f"{self._prefix}-{i:05d}-of-{len(self._done):05d}.irec" for i in range(len(self._done))]
        for name in names:
            if not self._overwrite and os.path.lexists(name):
                raise FileExistsError(f"{name}: there is such a file already")
        for temp, h in self._done:
            h = h._replace(total=self._total, shards=len(self._done), set_id=set_id)
            data = h.encode()
            h = h._replace(crc=struct.unpack("<I", data[124:])[0])
            with open(temp, "r+b") as f:
                f.write(data)
                f.seek(h.file_size - FOOTER_SIZE)
                f.write(h.footer())
                f.flush()
                os.fsync(f.fileno())
        for (temp, _), name in reversed(list(zip(self._done, names))):
            os.replace(temp, name)
        self._done = []
        folder = os.open(os.path.dirname(self._prefix) or ".", os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return names

    def discard(self) -> None:
        """Removes everything that was written and has no name yet."""
        temps = [d.temp for d in self._done]
        if self._file is not None:
            self._file.close()
            self._file = None
            temps.append(self._temp)
        for temp in temps:
            try:
                os.unlink(temp)
            except FileNotFoundError:
                pass
        self._done = []

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._file is not None:
            self.finish()
        else:
            self.discard()
