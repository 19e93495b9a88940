"""scripts/install.sh: a whole folder at a time, and what runs keeps its own."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build(tmp_path):
    """A build of a given version, with or without the inference server."""
    def make(text: str, infer: bool = True) -> Path:
        folder = tmp_path / "build"
        (folder / "lib").mkdir(parents=True, exist_ok=True)
        program = f'#!/bin/sh\n[ "${{1-}}" = version ] && echo "ingot 1.2.3" && exit\necho {text}\nread line\ncat "$(dirname "$(readlink -f "$0")")/../lib/libonnxruntime.so.9"\n'
        for name in ("ingot", "ingot-infer"):
            (folder / name).write_text(program)
            (folder / name).chmod(0o755)
        (folder / "lib/libonnxruntime.so.9").write_text(f"library of {text}\n")
        if not infer:
            (folder / "ingot-infer").unlink()
        return folder
    return make


def install(prefix: Path, build: Path, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([ROOT / "scripts/install.sh", prefix, build], text=True, capture_output=True, env=os.environ | environment)


def versions(prefix: Path) -> set[str]:
    return {p.name for p in (prefix / "lib/ingot").iterdir() if not p.is_symlink()}


def test_all_of_it_is_in_place(tmp_path, build):
    prefix = tmp_path / "usr"
    done = install(prefix, build("one"))
    assert done.returncode == 0, done.stderr
    assert (prefix / "bin/ingot-infer").resolve().parent.parent / "lib/libonnxruntime.so.9" in (prefix / "lib/ingot/current").resolve().glob("lib/*")
    share = (prefix / "bin/ingot").resolve().parent.parent / "share/ingot"
    assert (share / "models/table.json").read_bytes() == (ROOT / "scripts/models/table.json").read_bytes()
    assert os.access(share / "models/fetch.py", os.X_OK) and os.access(share / "node.sh", os.X_OK) and (share / "tools/jupyter.txt").exists()
    shown = subprocess.run(["/usr/bin/python3", share / "models/fetch.py", "make", tmp_path / "out", "none"], text=True, capture_output=True)
    assert shown.returncode == 1 and "imagenet-classifier" in shown.stderr


def test_an_upgrade_leaves_what_runs_alone(tmp_path, build):
    prefix = tmp_path / "usr"
    assert install(prefix, build("one")).returncode == 0
    with subprocess.Popen([prefix / "bin/ingot-infer"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout.readline() == "one\n"
        folder = (prefix / "lib/ingot/current").resolve()
        done = install(prefix, build("two"))
        assert done.returncode == 0 and f"older: {folder.name} stays" in done.stdout
        assert (folder / "lib/libonnxruntime.so.9").read_text() == "library of one\n"
        running.communicate("\n")
    assert subprocess.run([prefix / "bin/ingot"], text=True, input="\n", capture_output=True).stdout == "two\nlibrary of two\n"
    assert len(versions(prefix)) == 2


def test_the_same_is_installed_once(tmp_path, build):
    prefix = tmp_path / "usr"
    assert [install(prefix, build("one")).returncode for _ in range(2)] == [0, 0]
    assert len(versions(prefix)) == 1 and next(iter(versions(prefix))).startswith("1.2.3-")


def test_destdir_and_no_inference_server(tmp_path, build):
    done = install(Path("/usr/x"), build("one", infer=False), DESTDIR=str(tmp_path / "stage"))
    assert done.returncode == 0, done.stderr
    links = {p.name: os.readlink(p) for p in (tmp_path / "stage/usr/x/bin").iterdir()}
    assert links == {"ingot": "../lib/ingot/current/bin/ingot"}


def test_nothing_is_changed_when_it_fails(tmp_path, build):
    prefix = tmp_path / "usr"
    assert install(prefix, build("one")).returncode == 0
    before = os.readlink(prefix / "lib/ingot/current")
    broken = build("two")
    (broken / "lib/libonnxruntime.so.9").unlink()
    assert install(prefix, broken).returncode != 0
    assert os.readlink(prefix / "lib/ingot/current") == before and versions(prefix) == {before}
    assert install(Path("relative"), build("two")).returncode == 2
