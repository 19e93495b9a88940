"""verify: every byte of a set against a checksum, a rule or zero."""

from __future__ import annotations

import os
from typing import Any, Iterator

from ._format import (ENTRY, FLAG_KEYS, FOOTER_SIZE, HEADER_SIZE, CorruptError, Header, Schema, align,
                      check_set, crc32c, key_hash, parse_schema)
from ._pure import Record
from .reader import check_index, check_shard, find_files, make_layout, map_file


def faults(path: str | os.PathLike[str]) -> Iterator[str]:
    """What is wrong with the set, a sentence each; nothing if it is as it was written."""
    files = find_files(os.fspath(path))
    headers: list[Header] = []
    for file in files:
        try:
            data = map_file(file)
            h = check_shard(data, file)
            schema = parse_schema(data[HEADER_SIZE:HEADER_SIZE + h.schema_size], h, file)
            check_index(data, h, file)
        except (CorruptError, OSError) as problem:
            yield str(problem)
            continue
        headers.append(h)
        view = memoryview(data)
        yield from (f"{file}: {fault}" for fault in _shard_faults(view, h, schema))
    if len(headers) == len(files):
        try:
            check_set(headers, files)
        except CorruptError as problem:
            yield str(problem)


def verify(path: str | os.PathLike[str]) -> None:
    """CorruptError with the first fault, if there is any."""
    for fault in faults(path):
        raise CorruptError(fault)


def _gap(view: Any, start: int, end: int, after: str) -> Iterator[str]:
    if any(view[start:end]):
        yield f"the bytes after {after} must be zero"


def _shard_faults(view: Any, h: Header, schema: Schema) -> Iterator[str]:
    index_end = h.index_offset + h.index_size
    yield from _gap(view, HEADER_SIZE + h.schema_size, h.data_offset, "the schema")
    yield from _gap(view, index_end, h.keys_offset or h.file_size - FOOTER_SIZE, "the index")
    if h.keys_offset:
        yield from _gap(view, h.keys_offset + h.index_size, h.file_size - FOOTER_SIZE, "the key table")
    at, hashes = h.data_offset, []
    layout = make_layout(schema)
    for n in range(h.records):
        offset, size, crc = ENTRY.unpack_from(view, h.index_offset + n * 16)
        if offset != at or offset + size > h.index_offset or size < len(schema.fields) * 8:
            yield f"record {h.first + n}: impossible offset or length in the index"
            return
        data = view[offset:offset + size]
        if crc32c(data) != crc:
            yield f"record {h.first + n}: its checksum is wrong"
        else:
            try:
                record = Record(layout, h.first + n, data)
                record.dict()
                if schema.key is not None:
                    key = record.view(schema.key)
                    if key is None:
                        raise CorruptError(f"record {h.first + n}: its key is absent")
                    hashes.append((key_hash(bytes(key)), n))
            except CorruptError as problem:
                yield str(problem)
        yield from _gap(view, offset + size, align(offset + size), f"record {h.first + n}")
        at = align(offset + size)
    if at != h.index_offset:
        yield "the index does not follow the last record"
    if h.flags & FLAG_KEYS and len(hashes) == h.records:
        table = b"".join(ENTRY.pack(value, n, 0) for value, n in sorted(hashes))
        if view[h.keys_offset:h.keys_offset + h.index_size] != table:
            yield "the key table is not that of the records' keys"
