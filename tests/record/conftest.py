"""Builds the C extension of ingot.record and a program with the C library's commands, once per state of the sources."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "record-tests"
sys.path.insert(0, str(ROOT / "python"))

SCHEMA = {"fields": [{"name": "key", "type": "utf8"}, {"name": "image", "type": "bytes"},
                     {"name": "label", "type": "int64"}, {"name": "score", "type": "float64"},
                     {"name": "notes", "type": "json"},
                     {"name": "pixels", "type": "array", "dtype": "float32", "shape": [2, -1]}],
          "key": "key", "title": "测试"}


def compile_once(name: str, sources: list[Path], *flags: str) -> Path:
    """cc over the sources, into a file named by their hash; several test processes may come here at once."""
    key = hashlib.sha256(repr((flags, sys.version)).encode())
    for source in sorted({*sources, *(ROOT / "src/record").glob("*.h")}):
        key.update(source.read_bytes())
    target = BUILD / f"{name}-{key.hexdigest()[:16]}"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        own = target.with_suffix(f".{os.getpid()}")
        subprocess.run(["cc", "-O2", "-g", "-D_GNU_SOURCE", *flags, *map(str, sources), "-o", str(own), "-lpthread",
                        "-lm"], check=True)
        own.replace(target)
    return target


def load_extension() -> None:
    file = compile_once("_fast.so", [ROOT / "python/ingot/record/_fast.c"], "-shared", "-fPIC", "-Wall", "-Wextra",
                        "-Werror", "-I" + sysconfig.get_paths()["include"])
    spec = importlib.util.spec_from_file_location("ingot.record._fast", file,
                                                  loader=importlib.machinery.ExtensionFileLoader(
                                                      "ingot.record._fast", str(file)))
    module = importlib.util.module_from_spec(spec)
    sys.modules["ingot.record._fast"] = module
    spec.loader.exec_module(module)


load_extension()


@pytest.fixture(scope="session")
def tool():
    """Runs a command of the C library: tool("verify", path); its output, or an error with what it said."""
    program = compile_once("tool", [ROOT / "tests/record/tool.c", *sorted((ROOT / "src/record").glob("*.c"))],
                           f"-I{ROOT / 'src'}")

    def run(*args: object) -> str:
        done = subprocess.run([str(program), *map(str, args)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"status {done.returncode}: {done.stderr}")
        return done.stdout

    return run


@pytest.fixture(params=["fast", "pure"])
def pure(request) -> bool:
    """Tests with it run over the extension and over its counterpart in Python."""
    return request.param == "pure"


def sample(i: int) -> dict:
    """Record i of the test sets."""
    import numpy
    return {"key": f"sample/{i}", "image": bytes((i * 31 + k * 7) % 256 for k in range(i * 37 % 300)),
            "label": None if i % 5 == 4 else i * -3, "score": i / 8, "notes": {"n": [i, None, "é"]},
            "pixels": numpy.arange(i % 4 * 2, dtype="float32").reshape(2, -1)}


@pytest.fixture
def make_set(tmp_path):
    """make_set("name", 100, shard_records=30): the path to open."""
    from ingot.record import Writer

    def make(name: str, n: int, **options) -> str:
        with Writer(tmp_path / name, SCHEMA, **options) as writer:
            for i in range(n):
                writer.add(sample(i))
        return str(tmp_path / name)

    return make
