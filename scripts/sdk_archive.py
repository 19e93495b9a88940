#!/usr/bin/python3
"""The Python client as an archive to import from: sdk_archive.py FOLDER OUT

The same bytes for the same files. Not compressed: any Python can read it, and the program's own file is small beside it.
"""

import sys
import zipfile
from pathlib import Path


def main() -> None:
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted((folder / "ingot").rglob("*.py")):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix())
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, file.read_bytes())


if __name__ == "__main__":
    main()
