"""Records over mapped shards, in Python: what _fast.c does in C, for where the extension was not built, and
records that came over the network."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Callable, NamedTuple, Sequence

from ._format import (ABSENT, ALIGN, BYTES, DOUBLE, ENTRY, FLOAT64, INT64, SLOT, UTF8, CorruptError, crc32c, key_hash)


class Shard(NamedTuple):
    """One file: its bytes and where in them things are (first: number in the set of its first record)."""

    data: Any
    first: int
    records: int
    data_offset: int
    index_offset: int
    keys_offset: int
    file: str


class Layout(NamedTuple):
    """What the schema says, ready for decoding: a decoder takes the memoryview of a value."""

    names: dict[str, int]
    kinds: bytes
    decoders: tuple[Callable[[memoryview], Any] | None, ...]
    key: int


def _int64(view: memoryview) -> int:
    return int.from_bytes(view, "little", signed=True)


def _utf8(view: memoryview) -> str:
    return str(view, "utf-8")


class Record:
    """One record. record["label"] is the decoded value, None where the field is absent; bytes and array fields
    are views into the file, which stays mapped as long as they live."""

    __slots__ = ("number", "_data", "_layout")

    def __init__(self, layout: Layout, number: int, data: memoryview) -> None:
        self.number, self._data, self._layout = number, data, layout

    def view(self, field: str | int) -> memoryview | None:
        """The bytes of a field as they are in the file."""
        layout, data = self._layout, self._data
        i = layout.names[field] if isinstance(field, str) else field
        fields = len(layout.kinds)
        if not 0 <= i < fields:
            raise IndexError(f"field {i}: the record has {fields} fields")
        offset, size = SLOT.unpack_from(data, i * 8)
        if size == ABSENT and offset == 0:
            return None
        if offset < fields * 8 or offset + size > len(data):
            raise CorruptError(f"record {self.number}: field {i}: impossible offset or length")
        return data[offset:offset + size]

    def __getitem__(self, field: str | int) -> Any:
        layout = self._layout
        i = layout.names[field] if isinstance(field, str) else field
        view = self.view(i)
        if view is None:
            return None
        kind = layout.kinds[i]
        if kind == BYTES:
            return view
        try:
            if kind == UTF8:
                return _utf8(view)
            if kind in (INT64, FLOAT64):
                if len(view) != 8:
                    raise ValueError(f"{len(view)} bytes, a number has 8")
                return _int64(view) if kind == INT64 else DOUBLE.unpack(view)[0]
            return layout.decoders[i](view)  # type: ignore[misc]
        except ValueError as problem:
            raise CorruptError(f"record {self.number}: field {i}: {problem}") from None

    def __len__(self) -> int:
        return len(self._layout.kinds)

    def keys(self) -> Sequence[str]:
        return tuple(self._layout.names)

    def dict(self) -> dict[str, Any]:
        """All fields, decoded."""
        return {name: self[i] for name, i in self._layout.names.items()}

    def raw(self) -> memoryview:
        """The whole record as it is in the file, with its field table."""
        return self._data

    def __repr__(self) -> str:
        return f"<record {self.number} ({', '.join(self._layout.names)})>"


class Core:
    """Random access over shards; checked: with verify, which records' checksums were found right."""

    def __init__(self, shards: Sequence[Shard], layout: Layout, verify: bool) -> None:
        self._shards = [s._replace(data=memoryview(s.data)) for s in shards]
        self._firsts = [s.first for s in shards]
        self._layout = layout
        self._total = sum(s.records for s in shards)
        self._checked = bytearray(self._total) if verify else None

    def __len__(self) -> int:
        return self._total

    def __getitem__(self, number: int) -> Record:
        if number < 0:
            number += self._total
        if not 0 <= number < self._total:
            raise IndexError(f"record {number}: the set has {self._total} records")
        # An empty shard shares its first number with the next: bisect_right finds the last of them.
        s = self._shards[bisect_right(self._firsts, number) - 1]
        offset, size, crc = ENTRY.unpack_from(s.data, s.index_offset + (number - s.first) * 16)
        if offset < s.data_offset or offset % ALIGN or offset + size > s.index_offset \
                or size < len(self._layout.kinds) * 8:
            raise CorruptError(f"{s.file}: record {number}: impossible offset or length in the index")
        data = s.data[offset:offset + size]
        if self._checked is not None and not self._checked[number]:
            if crc32c(data) != crc:
                raise CorruptError(f"{s.file}: record {number}: its checksum is wrong")
            self._checked[number] = 1
        return Record(self._layout, number, data)

    def view(self, number: int, field: str | int) -> memoryview | None:
        return self[number].view(field)

    def find(self, key: bytes) -> int:
        """The number of the first record with this key, or -1."""
        wanted = key_hash(key)
        for s in self._shards:
            low, high = 0, s.records
            while low < high:
                mid = (low + high) // 2
                if ENTRY.unpack_from(s.data, s.keys_offset + mid * 16)[0] < wanted:
                    low = mid + 1
                else:
                    high = mid
            for k in range(low, s.records):
                found, number, _ = ENTRY.unpack_from(s.data, s.keys_offset + k * 16)
                if found != wanted:
                    break
                if number >= s.records:
                    raise CorruptError(f"{s.file}: impossible record number in the key table")
                if bytes(self[s.first + number].view(self._layout.key) or b"") == key:
                    return s.first + int(number)
        return -1
