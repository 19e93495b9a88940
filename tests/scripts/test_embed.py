"""scripts/embed.py: what the C program sees is what the folder holds."""

import gzip
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRINTER = r"""
#include "api/web/assets.h"
#include <stdio.h>
static void dump(const char *dir, size_t i, const char *form, const unsigned char *data, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%zu.%s", dir, i, form);
    FILE *f = fopen(path, "wb");
    fwrite(data, 1, size, f);
    fclose(f);
}
int main(int argc, char **argv)
{
    (void)argc;
    for (size_t i = 0; i < web_assets_count; i++) {
        const struct asset *a = &web_assets[i];
        printf("%s|%s|%d|%s\n", a->path, a->type, a->immutable, a->etag);
        dump(argv[1], i, "raw", a->data, a->size);
        if (a->gzip)
            dump(argv[1], i, "gz", a->gzip, a->gzip_size);
        if (a->brotli)
            dump(argv[1], i, "br", a->brotli, a->brotli_size);
    }
}
"""


@pytest.fixture
def embed(tmp_path):
    def run(folder: Path) -> tuple[list[list[str]], Path]:
        out, dump = tmp_path / "out", tmp_path / "dump"
        dump.mkdir(exist_ok=True)
        subprocess.run([ROOT / "scripts/embed.py", folder, out, tmp_path / "cache"], check=True)
        (tmp_path / "main.c").write_text(PRINTER)
        subprocess.run(["gcc", f"-I{ROOT}/src", "-o", tmp_path / "main", tmp_path / "main.c",
                        out / "web_assets.c", out / "web_assets.S"], check=True)
        lines = subprocess.run([tmp_path / "main", dump], check=True, capture_output=True, text=True).stdout
        return [line.split("|") for line in lines.splitlines()], dump
    return run


def test_files_come_out_as_they_went_in(tmp_path, embed):
    dist = tmp_path / "dist"
    contents = {
        "/assets/index-3f9aQx_1.js": b"let a = 1;\n" * 1000,
        "/empty.txt": b"",
        "/favicon.png": bytes(range(256)),
        "/index.html": "<title>名字</title>".encode() * 100,
    }
    for name, data in contents.items():
        (dist / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        (dist / name[1:]).write_bytes(data)

    rows, dump = embed(dist)

    assert [row[0] for row in rows] == sorted(contents)
    assert [row[2] for row in rows] == ["1", "0", "0", "0"]
    assert rows[3][1] == "text/html; charset=utf-8"
    assert len({row[3] for row in rows}) == 4 and all(len(row[3]) == 34 for row in rows)
    for number, data in enumerate(contents[name] for name in sorted(contents)):
        assert (dump / f"{number}.raw").read_bytes() == data
    for number in (0, 3):
        raw = (dump / f"{number}.raw").read_bytes()
        assert gzip.decompress((dump / f"{number}.gz").read_bytes()) == raw
        unpacked = subprocess.run(["brotli", "-dc", dump / f"{number}.br"], check=True, capture_output=True).stdout
        assert unpacked == raw
    assert not (dump / "1.gz").exists() and not (dump / "2.gz").exists(), "compressed forms that are not smaller"


def test_no_folder_gives_an_empty_table(tmp_path, embed):
    assert embed(tmp_path / "nothing")[0] == []
