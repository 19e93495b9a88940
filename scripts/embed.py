#!/usr/bin/python3
"""Turns a folder of files into web_assets.c and web_assets.S: embed.py FOLDER OUT CACHE

The bytes, and their gzip and brotli forms when these are smaller, go in by .incbin; the table is the one
that src/api/web/assets.h declares. Compressed forms are kept in CACHE by content, as brotli's best is slow.
"""

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".md": "text/markdown; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
# Vite's names: NAME-HASH.EXT under assets/, the hash being 8 or more characters of base64url.
HASHED = re.compile(r"^assets/.+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$")


def write_atomically(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.{id(data)}.part")
    part.write_bytes(data)
    part.rename(path)


def compressed(data: bytes, digest: str, kind: str, cache: Path) -> Path | None:
    """The compressed form's file, or None when it is not smaller."""
    path = cache / f"{digest}.{kind}"
    if not path.exists():
        if kind == "gz":
            out = gzip.compress(data, 9, mtime=0)
        else:
            out = subprocess.run(["brotli", "-q", "11", "-c"], input=data, capture_output=True, check=True).stdout
        write_atomically(path, out)
    return path if path.stat().st_size < len(data) else None


def c_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Asset:
    def __init__(self, number: int, file: Path, root: Path, out: Path, cache: Path):
        data = file.read_bytes()
        name = file.relative_to(root).as_posix()
        digest = hashlib.sha256(data).hexdigest()
        self.path = "/" + name
        self.number = number
        self.type = TYPES.get(file.suffix.lower(), "application/octet-stream")
        self.etag = f'"{digest[:32]}"'
        self.immutable = bool(HASHED.match(name))
        # A copy, so that the object depends on nothing that the next web build removes.
        copy = out / f"{digest}.raw"
        if not copy.exists():
            write_atomically(copy, data)
        self.forms = {"data": copy, "gzip": None, "brotli": None}
        if data:
            self.forms["gzip"] = compressed(data, digest, "gz", cache)
            self.forms["brotli"] = compressed(data, digest, "br", cache)

    def assembly(self) -> str:
        lines = []
        for form, path in self.forms.items():
            if path:
                symbol = f"web_asset_{self.number}_{form}"
                lines += [f".globl {symbol}", f".hidden {symbol}", ".balign 16", f"{symbol}:",
                          f".incbin {c_string(str(path))}"]
        # An empty file still needs an address of its own.
        return "\n".join(lines + [".byte 0"]) + "\n"

    def declarations(self) -> str:
        return "".join(f"extern const unsigned char web_asset_{self.number}_{form}[];\n"
                       for form, path in self.forms.items() if path)

    def row(self) -> str:
        fields = [f".path = {c_string(self.path)}", f".type = {c_string(self.type)}"]
        for form, path in self.forms.items():
            if path:
                size = "size" if form == "data" else f"{form}_size"
                fields += [f".{form} = web_asset_{self.number}_{form}", f".{size} = {path.stat().st_size}"]
        fields += [f".etag = {c_string(self.etag)}", f".immutable = {str(self.immutable).lower()}"]
        return "    {" + ", ".join(fields) + "},\n"


def main() -> None:
    root, out, cache = (Path(p).resolve() for p in sys.argv[1:4])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    cache.mkdir(parents=True, exist_ok=True)
    files = sorted((f for f in root.rglob("*") if f.is_file()),
                   key=lambda f: f.relative_to(root).as_posix().encode()) if root.is_dir() else []
    with ThreadPoolExecutor() as pool:
        assets = list(pool.map(lambda pair: Asset(pair[0], pair[1], root, out, cache), enumerate(files)))

    (out / "web_assets.S").write_text(
        '.section .rodata\n' + "".join(a.assembly() for a in assets) + '.section .note.GNU-stack,"",@progbits\n')
    rows = "".join(a.row() for a in assets) or "    {.path = NULL},\n"
    (out / "web_assets.c").write_text(
        '#include "api/web/assets.h"\n\n' + "".join(a.declarations() for a in assets) +
        f"\nconst struct asset web_assets[] = {{\n{rows}}};\nconst size_t web_assets_count = {len(assets)};\n")


if __name__ == "__main__":
    main()
