"""A reader written from docs/record-format.md alone: nothing of the product's code is used to read."""

import json
import struct

import ingot.record as record

from conftest import sample


def crc(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def align64(n: int) -> int:
    return -(-n // 64) * 64


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


def u32(data: bytes, at: int) -> int:
    return struct.unpack_from("<I", data, at)[0]


def u64(data: bytes, at: int) -> int:
    return struct.unpack_from("<Q", data, at)[0]


class DocumentReader:
    """One shard."""

    def __init__(self, data: bytes) -> None:
        assert data[:8] == bytes.fromhex("89495245430D0A1A")
        assert struct.unpack_from("<HH", data, 8) == (1, 0)
        assert crc(data[:124]) == u32(data, 124)
        assert u64(data, 16) == len(data)
        self.data = data
        self.flags = u32(data, 12)
        self.count, self.first, self.total = u64(data, 56), u64(data, 64), u64(data, 72)
        self.shard, self.shards = u32(data, 80), u32(data, 84)
        self.data_offset, self.index_offset, self.keys_offset = u64(data, 32), u64(data, 40), u64(data, 48)
        length = u32(data, 96)
        text = data[u64(data, 24):u64(data, 24) + length]
        assert u64(data, 24) == 128 and crc(text) == u32(data, 100)
        assert self.data_offset == align64(128 + length)
        self.schema = json.loads(text)
        self.fields = self.schema["fields"]
        index = data[self.index_offset:self.index_offset + 16 * self.count]
        assert crc(index) == u32(data, 104)
        self.check_end()

    def check_end(self) -> None:
        end = align64(self.index_offset + 16 * self.count)
        if self.flags & 1:
            assert self.keys_offset == end
            table = self.data[end:end + 16 * self.count]
            assert crc(table) == u32(self.data, 108)
            end = align64(end + 16 * self.count)
        footer = self.data[end:]
        assert len(footer) == 64 and footer[:8] == bytes.fromhex("49524543454E440A")
        assert footer[8:16] == self.data[16:24] and footer[16:24] == self.data[88:96]
        assert footer[24:28] == self.data[124:128] and footer[28:60] == bytes(32)
        assert crc(footer[:60]) == u32(footer, 60)

    def record(self, n: int) -> dict:
        at = self.index_offset + 16 * n
        offset, length = u64(self.data, at), u32(self.data, at + 8)
        data = self.data[offset:offset + length]
        assert offset % 64 == 0 and crc(data) == u32(self.data, at + 12)
        values = {}
        for i, field in enumerate(self.fields):
            start, size = u32(data, 8 * i), u32(data, 8 * i + 4)
            value = None if size == 0xFFFFFFFF else data[start:start + size]
            if value is not None and field["type"] == "array":
                assert start % 64 == 0
            values[field["name"]] = self.decode(field, value)
        return values

    @staticmethod
    def decode(field: dict, value):
        if value is None or field["type"] == "bytes":
            return value
        if field["type"] == "utf8":
            return value.decode("utf-8")
        if field["type"] == "json":
            return json.loads(value)
        if field["type"] in ("int64", "float64"):
            return struct.unpack("<q" if field["type"] == "int64" else "<d", value)[0]
        assert field["dtype"] == "float32" and field["shape"] == [2, -1]
        numbers = struct.unpack(f"<{len(value) // 4}f", value)
        half = len(numbers) // 2
        return [list(numbers[:half]), list(numbers[half:])]

    def find(self, key: str) -> int | None:
        wanted = fnv1a(key.encode())
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if u64(self.data, self.keys_offset + 16 * middle) < wanted:
                low = middle + 1
            else:
                high = middle
        while low < self.count and u64(self.data, self.keys_offset + 16 * low) == wanted:
            n = u32(self.data, self.keys_offset + 16 * low + 8)
            if self.record(n)[self.schema["key"]] == key:
                return n
            low += 1
        return None


def test_document(make_set, tmp_path):
    assert crc(b"123456789") == 0xE3069283
    make_set("train", 23, shard_records=10)
    names = sorted(f.name for f in tmp_path.iterdir())
    assert names == [f"train-0000{i}-of-00003.irec" for i in range(3)]
    number = 0
    for i, name in enumerate(names):
        shard = DocumentReader((tmp_path / name).read_bytes())
        assert (shard.shard, shard.shards, shard.first, shard.total) == (i, 3, number, 23)
        for n in range(shard.count):
            wanted = sample(number)
            wanted["pixels"] = wanted["pixels"].tolist()
            assert shard.record(n) == wanted
            assert shard.find(wanted["key"]) == n
            number += 1
        assert shard.find("nobody") is None
    assert number == 23


def test_document_and_c(tool, tmp_path):
    (tmp_path / "in/b").mkdir(parents=True)
    (tmp_path / "in/b/one.txt").write_text("1")
    (tmp_path / "in/two.bin").write_bytes(bytes(range(256)))
    tool("convert", tmp_path / "in", tmp_path / "new/set")
    shard = DocumentReader((tmp_path / "new/set-00000-of-00001.irec").read_bytes())
    assert [shard.record(n) for n in range(shard.count)] == [
        {"key": "b/one.txt", "data": b"1"}, {"key": "two.bin", "data": bytes(range(256))}]
    assert shard.find("two.bin") == 1
    assert record.open(tmp_path / "new/set")[1]["data"] == bytes(range(256))
