"""The layout of record files (docs/record-format.md): headers, schemas, checksums. No I/O here."""

from __future__ import annotations

import json
import re
import struct
from typing import Any, NamedTuple

MAGIC = b"\x89IREC\r\n\x1a"
END_MAGIC = b"IRECEND\n"
HEADER = struct.Struct("<8sHHIQQQQQQQQIIQIIII12sI")
FOOTER = struct.Struct("<8sQQI32sI")
ENTRY = struct.Struct("<QII")
SLOT = struct.Struct("<II")
DOUBLE = struct.Struct("<d")
HEADER_SIZE, FOOTER_SIZE, ENTRY_SIZE, ALIGN = 128, 64, 16, 64
FLAG_KEYS = 1
ABSENT = 0xFFFFFFFF
MAX_SIZE = 0xFFFFFFFE
MAX_SCHEMA = 16 << 20
MAX_SHARDS = 99999
MAX_FIELDS = 256
MAX_DEPTH = 128

# Codes of the types, also those of the C extension.
BYTES, UTF8, JSON, INT64, FLOAT64, ARRAY = range(6)
TYPES = {"bytes": BYTES, "utf8": UTF8, "json": JSON, "int64": INT64, "float64": FLOAT64, "array": ARRAY}
ALIGNMENT = {BYTES: 1, UTF8: 1, JSON: 1, INT64: 8, FLOAT64: 8, ARRAY: 64}
# dtype: (format of struct and memoryview, bytes)
DTYPES = {"int8": ("b", 1), "uint8": ("B", 1), "int16": ("h", 2), "uint16": ("H", 2), "int32": ("i", 4),
          "uint32": ("I", 4), "int64": ("q", 8), "uint64": ("Q", 8), "float16": ("e", 2), "float32": ("f", 4),
          "float64": ("d", 8)}
SHARD_NAME = re.compile(r"^(.*)-(\d{5})-of-(\d{5})\.irec$", re.S)


class RecordError(Exception):
    """Whatever is wrong with a record file or with what is to be written to one."""


class CorruptError(RecordError):
    """A file that is not a record file, is damaged, or is of a version this library does not know."""


def _make_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 if byte & 1 else byte >> 1
        table.append(byte)
    return table


_TABLE = _make_table()


def crc32c_slow(data: Any, crc: int = 0) -> int:
    """CRC-32C in Python, for where the extension was not built."""
    table, value = _TABLE, crc ^ 0xFFFFFFFF
    for byte in memoryview(data).cast("B"):
        value = table[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xFFFFFFFF


try:
    from ._fast import crc32c as crc32c
except ImportError:
    crc32c = crc32c_slow


def align(n: int, to: int = ALIGN) -> int:
    return (n + to - 1) // to * to


def key_hash(key: bytes) -> int:
    """64-bit FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in key:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


class Field(NamedTuple):
    name: str
    type: int
    dtype: str | None = None
    shape: tuple[int, ...] = ()

    def unit(self) -> int:
        """Bytes of an array value, or of one step of its open dimension."""
        size = DTYPES[self.dtype][1] if self.dtype else 1
        for n in self.shape:
            size *= n if n > 0 else 1
        return size

    def check_length(self, length: int) -> str | None:
        """What is wrong with a value of this length."""
        if self.type in (INT64, FLOAT64) and length != 8:
            return f"{length} bytes, a number has 8"
        if self.type == ARRAY:
            unit = self.unit()
            if length % unit if -1 in self.shape else length != unit:
                return f"{length} bytes do not fit {self.dtype} of shape {list(self.shape)}"
        return None


class Schema:
    """The fields of a set; `text` is the JSON as it stands in the file, `meta` the same parsed."""

    def __init__(self, text: bytes) -> None:
        if len(text) > MAX_SCHEMA:
            raise RecordError(f"schema: {len(text)} bytes, at most 16 MiB are allowed")
        self.text = text
        try:
            self.meta = json.loads(text.decode("utf-8"))
        except (ValueError, RecursionError) as problem:
            raise RecordError(f"schema: not valid JSON: {problem}") from None
        if not isinstance(self.meta, dict) or not isinstance(self.meta.get("fields"), list):
            raise RecordError('schema: must be an object with a list "fields"')
        self.fields = tuple(_parse_field(f) for f in self.meta["fields"])
        self.number = {f.name: i for i, f in enumerate(self.fields)}
        if not 1 <= len(self.fields) <= MAX_FIELDS:
            raise RecordError("schema: there must be 1 to 256 fields")
        if len(self.number) < len(self.fields):
            raise RecordError("schema: two fields have one name")
        self.key = self.meta.get("key")
        if self.key is not None and not isinstance(self.key, str) or "key" in self.meta and self.key is None:
            raise RecordError('schema: "key" must be the name of a field')
        if self.key is not None and self.key not in self.number:
            raise RecordError(f'schema: "key" names "{self.key}", which is no field')
        if self.key is not None and self.fields[self.number[self.key]].type not in (BYTES, UTF8):
            raise RecordError(f'schema: key field "{self.key}" must be of type utf8 or bytes')


def _parse_field(data: Any) -> Field:
    if not isinstance(data, dict) or not isinstance(data.get("name"), str) or not data["name"]:
        raise RecordError('schema: each of "fields" must be an object with a "name"')
    name = data["name"]
    if len(name.encode("utf-8", "surrogatepass")) > 255 or "\0" in name:
        raise RecordError(f'schema: the name "{name[:50]}..." is too long or has a NUL')
    if not isinstance(data.get("type"), str) or data["type"] not in TYPES:
        raise RecordError(f'schema: field "{name}": "type" must be one of {", ".join(TYPES)}')
    kind = TYPES[data["type"]]
    if kind != ARRAY:
        if "dtype" in data or "shape" in data:
            raise RecordError(f'schema: field "{name}" is no array and must not have "dtype" or "shape"')
        return Field(name, kind)
    dtype, shape = data.get("dtype"), data.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise RecordError(f'schema: field "{name}": "dtype" must be one of {", ".join(DTYPES)}')
    if not isinstance(shape, list) or len(shape) > 8 or any(type(n) is not int or n < -1 or n == 0 for n in shape) \
            or shape.count(-1) > 1:
        raise RecordError(f'schema: field "{name}": "shape" must be up to 8 positive numbers with at most one -1')
    field = Field(name, kind, dtype, tuple(shape))
    if field.unit() // DTYPES[dtype][1] > MAX_SIZE:
        raise RecordError(f'schema: field "{name}": "shape" is larger than a record can be')
    return field


class Header(NamedTuple):
    magic: bytes
    major: int
    minor: int
    flags: int
    file_size: int
    schema_offset: int
    data_offset: int
    index_offset: int
    keys_offset: int
    records: int
    first: int
    total: int
    shard: int
    shards: int
    set_id: int
    schema_size: int
    schema_crc: int
    index_crc: int
    keys_crc: int
    reserved: bytes
    crc: int

    def encode(self) -> bytes:
        data = HEADER.pack(*self)
        return data[:124] + struct.pack("<I", crc32c(data[:124]))

    def footer(self) -> bytes:
        """The footer that belongs to this header, whose crc must be set."""
        data = FOOTER.pack(END_MAGIC, self.file_size, self.set_id, self.crc, bytes(32), 0)
        return data[:60] + struct.pack("<I", crc32c(data[:60]))

    @property
    def index_size(self) -> int:
        return self.records * ENTRY_SIZE


def parse_header(data: bytes, size: int, file: str) -> Header:
    """The header in the first 128 bytes of a file of `size` bytes; everything in it is checked."""
    if bytes(data[:8]) != MAGIC:
        raise CorruptError(f"{file}: not a record file")
    if len(data) < HEADER_SIZE or size < HEADER_SIZE + FOOTER_SIZE:
        raise CorruptError(f"{file}: {size} bytes are too short for a record file")
    h = Header(*HEADER.unpack(data[:HEADER_SIZE]))
    if h.major != 1:
        raise CorruptError(f"{file}: version {h.major}, this library reads version 1")
    if crc32c(data[:124]) != h.crc:
        raise CorruptError(f"{file}: the header's checksum is wrong")
    if h.flags & ~FLAG_KEYS:
        raise CorruptError(f"{file}: unknown feature flags {h.flags:#x}")
    if h.file_size != size:
        raise CorruptError(f"{file}: {size} bytes, the header says {h.file_size}: cut off or grown")
    if not h.shard < h.shards <= MAX_SHARDS or h.records >= 1 << 32 or h.first + h.records > h.total:
        raise CorruptError(f"{file}: impossible counts in the header")
    end = align(h.index_offset + h.index_size)
    keys = end if h.flags & FLAG_KEYS else 0
    if keys:
        end = align(keys + h.index_size)
    if h.schema_offset != HEADER_SIZE or h.schema_size > MAX_SCHEMA \
            or h.data_offset != align(HEADER_SIZE + h.schema_size) or h.index_offset < h.data_offset \
            or h.index_offset % ALIGN or h.keys_offset != keys or (not keys and h.keys_crc) \
            or end + FOOTER_SIZE != size:
        raise CorruptError(f"{file}: the parts do not add up to the file")
    return h


def check_set(headers: list[Header], files: list[str]) -> None:
    """Whether these are all shards of one set, in order."""
    a, following = headers[0], 0
    for number, (h, file) in enumerate(zip(headers, files)):
        if h.shards != len(headers) or h.shard != number:
            raise CorruptError(f"{file}: is shard {h.shard} of {h.shards}, not {number} of {len(headers)}")
        if (h.set_id, h.total, h.schema_size, h.schema_crc, h.flags) != \
                (a.set_id, a.total, a.schema_size, a.schema_crc, a.flags):
            raise CorruptError(f"{file}: belongs to another set than shard 0")
        if h.first != following:
            raise CorruptError(f"{file}: its records do not follow those of the shard before")
        following += h.records
    if following != a.total:
        raise CorruptError(f"{files[0]}: the shards have {following} records, not {a.total}")


def parse_schema(data: bytes, h: Header, file: str) -> Schema:
    if crc32c(data) != h.schema_crc:
        raise CorruptError(f"{file}: the schema's checksum is wrong")
    try:
        schema = Schema(bytes(data))
    except RecordError as problem:
        raise CorruptError(f"{file}: {problem}") from None
    if (schema.key is not None) != bool(h.flags & FLAG_KEYS):
        raise CorruptError(f"{file}: key table and schema do not agree")
    return schema


def sibling_names(name: str, shards: int) -> list[str]:
    """The names of all shards, from that of one of them."""
    if shards == 1:
        return [name]
    match = SHARD_NAME.match(name)
    if not match:
        raise RecordError(f"{name}: is one of {shards} shards, but its name does not tell those of the others")
    return [f"{match[1]}-{i:05d}-of-{shards:05d}.irec" for i in range(shards)]
