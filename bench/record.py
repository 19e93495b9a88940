"""Random reads from Python: our record files against LMDB, TFRecord, WebDataset and MosaicML Streaming, where those are
installed. Each holds the same samples (an image of SIZE bytes and a label); a read gives both. All files are in the
page cache. Formats without random access of their own (TFRecord, WebDataset) get the best there is for them: an
index of offsets in memory and a seek, with the library's own decoder.

    record.py FOLDER [MEGABYTES]"""

from __future__ import annotations

import io
import os
import random
import statistics
import struct
import sys
import tarfile
import time
from typing import Callable, Iterator

import ingot.record as record

SECONDS, ROUNDS = 0.1, 9
Sample = tuple[bytes, int]


def samples(n: int, size: int) -> Iterator[Sample]:
    base = random.Random(1).randbytes(size)
    for i in range(n):
        yield struct.pack("<q", i) + base[8:], i


def ours(folder: str, n: int, size: int) -> Callable[[int], object]:
    path = f"{folder}/ours-{size}"
    schema = {"fields": [{"name": "label", "type": "int64"}, {"name": "image", "type": "bytes"}]}
    with record.Writer(path, schema, overwrite=True) as w:
        for image, label in samples(n, size):
            w.add(image=image, label=label)
    return record.open(path).row


def lmdb(folder: str, n: int, size: int) -> Callable[[int], object]:
    import lmdb as library
    env = library.open(f"{folder}/lmdb-{size}", map_size=(n * (size + 8192) * 2) + (1 << 20), sync=False)
    with env.begin(write=True) as txn:
        for image, label in samples(n, size):
            txn.put(b"%08d" % label, struct.pack("<q", label) + image)
    env.sync()
    txn = env.begin(buffers=True)
    unpack = struct.Struct("<q").unpack_from

    def read(i: int) -> object:
        value = txn.get(b"%08d" % i)
        return value[8:], unpack(value)[0]
    return read


def tfrecord(folder: str, n: int, size: int) -> Callable[[int], object]:
    from tfrecord import example_pb2, writer
    file = f"{folder}/data-{size}.tfrecord"
    w = writer.TFRecordWriter(file)
    for image, label in samples(n, size):
        w.write({"image": (image, "byte"), "label": (label, "int")})
    w.close()
    offsets, data = [], open(file, "rb")
    while head := data.read(12):
        length = struct.unpack("<Q", head[:8])[0]
        offsets.append((data.tell(), length))
        data.seek(length + 4, os.SEEK_CUR)

    def read(i: int) -> object:
        at, length = offsets[i]
        data.seek(at)
        example = example_pb2.Example()
        example.ParseFromString(data.read(length))
        return (example.features.feature["image"].bytes_list.value[0],
                example.features.feature["label"].int64_list.value[0])
    return read


def webdataset(folder: str, n: int, size: int) -> Callable[[int], object]:
    from webdataset import autodecode
    file = f"{folder}/data-{size}.tar"
    with tarfile.open(file, "w") as tar:
        for image, label in samples(n, size):
            for name, content in ((f"{label:08d}.bin", image), (f"{label:08d}.cls", b"%d" % label)):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    members: dict[str, tuple[int, int]] = {}
    with tarfile.open(file) as tar:
        for info in tar:
            members[info.name] = (info.offset_data, info.size)
    data, decode = open(file, "rb"), autodecode.Decoder([autodecode.basichandlers])

    def part(name: str) -> bytes:
        at, length = members[name]
        data.seek(at)
        return data.read(length)

    def read(i: int) -> object:
        return decode({"__key__": f"{i:08d}", "bin": part(f"{i:08d}.bin"), "cls": part(f"{i:08d}.cls")})
    return read


def streaming(folder: str, n: int, size: int) -> Callable[[int], object]:
    from streaming import MDSWriter, StreamingDataset
    local = f"{folder}/mds-{size}"
    with MDSWriter(out=local, columns={"image": "bytes", "label": "int"}) as w:
        for image, label in samples(n, size):
            w.write({"image": image, "label": label})
    dataset = StreamingDataset(local=local, batch_size=1)
    return dataset.__getitem__


def rates_of(reads: dict[str, Callable[[int], object]], order: list[int]) -> dict[str, list[float]]:
    """Reads a second of processor time in each round; the rounds of all formats alternate, so that a busy machine slows all alike."""
    rates: dict[str, list[float]] = {name: [] for name in reads}
    for _ in range(ROUNDS):
        for name, read in reads.items():
            start, done = time.thread_time(), 0
            while time.thread_time() - start < SECONDS:
                at = done % len(order)
                for i in order[at:at + 200]:
                    read(i)
                    done += 1
            rates[name].append(done / (time.thread_time() - start))
    return rates


def prepare(folder: str, n: int, size: int) -> dict[str, Callable[[int], object]]:
    reads = {}
    for make in (ours, lmdb, tfrecord, webdataset, streaming):
        try:
            reads[make.__name__] = make(folder, n, size)
        except ImportError as problem:
            print(f"{size:7d} bytes  {make.__name__:10s}  not installed ({problem})")
    return reads


def main() -> None:
    folder, megabytes = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 64
    for size in (1024, 110 * 1024, 600 * 1024):
        n = max(megabytes * (1 << 20) // size, 50)
        rates = rates_of(prepare(folder, n, size), random.Random(7).sample(range(n), n))
        for name, values in rates.items():
            print(f"{size:7d} bytes  {name:10s}  {statistics.median(values):12,.0f} reads/s")
        ratios = {name: statistics.median(a / b for a, b in zip(rates["ours"], values))
                  for name, values in rates.items() if name != "ours"}
        if ratios:
            closest = min(ratios, key=ratios.__getitem__)
            print(f"{size:7d} bytes  ratio to the best of them ({closest}): {ratios[closest]:.1f}")


if __name__ == "__main__":
    main()
