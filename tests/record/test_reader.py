"""Reader: fields, keys, shards, lifetimes, damage; each over the extension and over Python."""

import gc
import os
import pickle
import struct
from pathlib import Path

import numpy
import pytest

import ingot.record as record
from ingot.record import _fast
from ingot.record._format import crc32c_slow

from conftest import SCHEMA, sample


def same(got, wanted):
    assert got.keys() == wanted.keys()
    for name, value in wanted.items():
        if name == "pixels":
            assert got[name].dtype == value.dtype and got[name].shape == value.shape
            assert (got[name] == value).all()
        else:
            assert got[name] == value, name


def test_round_trip(make_set, pure):
    with record.open(make_set("set", 100), pure=pure) as reader:
        assert len(reader) == 100
        assert reader.schema.meta == SCHEMA
        for i, r in enumerate(reader):
            assert r.number == i
            same(r.dict(), sample(i))
            same(dict(zip(r.keys(), reader.row(i), strict=True)), sample(i))
        same(reader[-1].dict(), sample(99))
        with pytest.raises(IndexError, match="the set has 100 records"):
            reader[100]
        with pytest.raises(IndexError, match="the set has 100 records"):
            reader.row(100)
        with pytest.raises(IndexError):
            reader[-101]


def test_one_field(make_set, pure):
    reader = record.open(make_set("set", 10), pure=pure)
    r = reader[3]
    assert r["label"] == -9 and r[2] == -9 and r["score"] == 0.375 and r["notes"]["n"][0] == 3
    assert isinstance(r["image"], memoryview) and r["image"].readonly
    assert r["image"] == sample(3)["image"]
    assert r.view("label") == struct.pack("<q", -9) == reader.view(3, "label") == reader.view(3, 2)
    assert reader[4]["label"] is None and reader[4].view("label") is None and reader.view(4, "label") is None
    assert reader[0]["image"] == b""
    assert tuple(r.keys()) == tuple(f["name"] for f in SCHEMA["fields"]) and len(r) == 6
    assert repr(r) == "<record 3 (key, image, label, score, notes, pixels)>"
    assert bytes(r.raw())[:8] == struct.pack("<II", 48, 8)
    for wrong in (6, -1, 1 << 70):
        with pytest.raises(IndexError):
            r[wrong]
    with pytest.raises(KeyError):
        r["nothing"]
    with pytest.raises(KeyError):
        reader.view(0, "nothing")


def test_nothing_is_copied(make_set, pure):
    reader = record.open(make_set("set", 20), pure=pure)
    a, b = (numpy.frombuffer(reader[7]["image"], "u1") for _ in range(2))
    assert a.ctypes.data == b.ctypes.data
    pixels = reader[7]["pixels"]
    assert pixels.ctypes.data % 64 == 0 and not pixels.flags.owndata and not pixels.flags.writeable


def test_views_outlive_the_reader(make_set, pure):
    reader = record.open(make_set("set", 20), pure=pure)
    r, image, pixels = reader[11], reader[13]["image"], reader[14]["pixels"]
    reader.close()
    assert len(reader) == 0
    with pytest.raises(IndexError):
        reader[0]
    del reader
    gc.collect()
    assert r["key"] == "sample/11"
    del r
    gc.collect()
    assert image == sample(13)["image"] and (pixels == sample(14)["pixels"]).all()


def test_keys_and_shards(make_set, pure):
    path = make_set("set", 25, shard_records=10)
    reader = record.open(path + "-00001-of-00003.irec", pure=pure, verify=True)
    assert reader.shard_sizes == (10, 10, 5) and len(reader) == 25
    for i in range(25):
        assert reader.find(f"sample/{i}") == i
        same(reader[i].dict(), sample(i))
    assert b"sample/3" in reader and "sample/25" not in reader and 3 not in reader
    with pytest.raises(KeyError):
        reader.find("sample/25")


def test_equal_keys_give_the_first(tmp_path, pure):
    schema = {"fields": [{"name": "k", "type": "bytes"}], "key": "k"}
    with record.Writer(tmp_path / "s", schema, shard_records=2) as w:
        for key in (b"x", b"a", b"a", b"x", b""):
            w.add(k=key)
    reader = record.open(tmp_path / "s", pure=pure)
    assert [reader.find(k) for k in (b"a", b"x", b"")] == [1, 0, 4]


def test_without_key(tmp_path, pure):
    with record.Writer(tmp_path / "s", {"fields": [{"name": "b", "type": "bytes"}]}) as w:
        w.add(b=b"x")
    with pytest.raises(record.RecordError, match="no key field"):
        record.open(tmp_path / "s", pure=pure).find("x")


def test_empty_set(make_set, pure):
    reader = record.open(make_set("none", 0), pure=pure, verify=True)
    assert len(reader) == 0 and list(reader) == [] and "x" not in reader


def test_pickle_and_fork(make_set, pure, tmp_path, monkeypatch):
    make_set("set", 30, shard_records=7)
    monkeypatch.chdir(tmp_path)
    reader = record.open("set", pure=pure, verify=True)
    data = pickle.dumps(reader)
    monkeypatch.chdir("/")
    assert pickle.loads(data)[29]["key"] == "sample/29"
    child = os.fork()
    if child == 0:
        ok = reader[5]["key"] == "sample/5"
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_arrays_without_numpy(make_set, monkeypatch, pure):
    import builtins
    real = builtins.__import__

    def no_numpy(name, *args, **kwargs):
        if name == "numpy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    path = make_set("set", 4)
    wanted = [sample(i)["pixels"].tolist() for i in range(4)]
    monkeypatch.setattr(builtins, "__import__", no_numpy)
    got = [r["pixels"] for r in record.open(path, pure=pure)]
    assert [g.tolist() for g in got[1:]] == wanted[1:] and len(got[0]) == 0


def test_opening_refused(make_set, tmp_path, pure):
    with pytest.raises(FileNotFoundError, match="no such file or record set"):
        record.open(tmp_path / "none", pure=pure)
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").write_text("")
    for name in ("text", "empty"):
        with pytest.raises(record.CorruptError, match="not a record file"):
            record.open(tmp_path / name, pure=pure)
    make_set("x", 6, shard_records=2)
    make_set("x", 8, shard_records=2)
    with pytest.raises(record.RecordError, match="more than one set"):
        record.open(tmp_path / "x", pure=pure)
    make_set("y", 7, shard_records=2)
    os.replace(tmp_path / "y-00001-of-00004.irec", tmp_path / "x-00001-of-00004.irec")
    with pytest.raises(record.CorruptError, match="another set"):
        record.open(tmp_path / "x-00000-of-00004.irec", pure=pure)
    os.unlink(tmp_path / "x-00001-of-00004.irec")
    with pytest.raises(FileNotFoundError):
        record.open(tmp_path / "x-00000-of-00004.irec", pure=pure)


def reseal(data: bytearray) -> bytes:
    """Makes the checksums of header, index, key table and footer right."""
    index, keys = struct.unpack_from("<QQ", data, 40)
    (records,) = struct.unpack_from("<Q", data, 56)
    struct.pack_into("<II", data, 104, record.crc32c(bytes(data[index:index + records * 16])),
                     record.crc32c(bytes(data[keys:keys + records * 16])))
    struct.pack_into("<I", data, 124, record.crc32c(bytes(data[:124])))
    data[-40:-36] = data[124:128]
    struct.pack_into("<I", data, len(data) - 4, record.crc32c(bytes(data[-64:-4])))
    return bytes(data)


def read_everything(file, pure):
    """Reads whatever can be read; only the errors meant for damage may come."""
    try:
        reader = record.open(file, pure=pure)
    except record.CorruptError:
        return
    for i in range(len(reader)):
        for field in range(6):
            try:
                reader[i][field]
            except record.CorruptError:
                pass
    try:
        reader.find("sample/3")
    except (KeyError, record.CorruptError):
        pass


def test_hostile_index(make_set, tmp_path, pure):
    file = Path(make_set("h", 7) + "-00000-of-00001.irec")
    sound = file.read_bytes()
    index, keys = struct.unpack_from("<QQ", sound, 40)
    copy = tmp_path / "copy.irec"
    for at in [*range(index, index + 7 * 16, 4), *range(keys, keys + 7 * 16, 4)]:
        for value in (0, 1, 64, 448, 1 << 20, 0x7FFFFFFF, 0xFFFFFFC0, 0xFFFFFFFF):
            data = bytearray(sound)
            struct.pack_into("<I", data, at, value)
            copy.write_bytes(reseal(data))
            read_everything(copy, pure)


def test_hostile_field_tables(make_set, tmp_path, pure):
    file = Path(make_set("h", 7) + "-00000-of-00001.irec")
    sound = file.read_bytes()
    (index,) = struct.unpack_from("<Q", sound, 40)
    copy = tmp_path / "copy.irec"
    for n in range(7):
        (offset,) = struct.unpack_from("<Q", sound, index + n * 16)
        for at in range(offset, offset + 48, 4):
            for value in (0, 1, 8, 47, 48, 500, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF):
                data = bytearray(sound)
                struct.pack_into("<I", data, at, value)
                copy.write_bytes(data)
                read_everything(copy, pure)


def test_verify_on_reading(make_set, pure):
    file = Path(make_set("d", 9) + "-00000-of-00001.irec")
    data = bytearray(file.read_bytes())
    (index,) = struct.unpack_from("<Q", data, 40)
    (offset,) = struct.unpack_from("<Q", data, index + 5 * 16)
    data[offset + 50] ^= 1
    file.write_bytes(data)
    reader = record.open(file, pure=pure, verify=True)
    same(reader[4].dict(), sample(4))
    for _ in range(2):
        with pytest.raises(record.CorruptError, match="record 5: its checksum is wrong"):
            reader[5]
    assert record.open(file, pure=pure)[5]["label"] == -15


def test_each_flipped_byte_is_found(make_set, tmp_path):
    file = Path(make_set("d", 5) + "-00000-of-00001.irec")
    sound = file.read_bytes()
    copy = tmp_path / "copy.irec"
    copy.write_bytes(sound)
    record.verify(copy)
    for i in range(len(sound)):
        data = bytearray(sound)
        data[i] ^= 1 << i % 8
        copy.write_bytes(data)
        with pytest.raises(record.CorruptError):
            record.verify(copy)
    for n in range(0, len(sound), 13):
        copy.write_bytes(sound[:n])
        with pytest.raises(record.CorruptError):
            record.verify(copy)


def test_all_faults_are_named(make_set):
    path = make_set("f", 20, shard_records=10)
    file = Path(path + "-00001-of-00002.irec")
    data = bytearray(file.read_bytes())
    (index,) = struct.unpack_from("<Q", data, 40)
    for n in (3, 5):
        (offset,) = struct.unpack_from("<Q", data, index + n * 16)
        data[offset + 48] ^= 1
    file.write_bytes(data)
    assert [f.split(": ", 1)[1] for f in record.faults(path)] == [
        "record 13: its checksum is wrong", "record 15: its checksum is wrong"]


def test_checksum():
    for function in (crc32c_slow, _fast.crc32c, record.crc32c):
        assert function(b"123456789") == 0xE3069283
        assert function(b"6789", function(b"12345")) == 0xE3069283
        assert function(b"") == 0
    data = bytes(i * i % 251 for i in range(5000))
    for n in (1, 7, 8, 9, 1000, 4999):
        assert _fast.crc32c(data[:n]) == crc32c_slow(data[:n])
