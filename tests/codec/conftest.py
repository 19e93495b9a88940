"""codec_tool of the sanitized build (INGOT_BUILD says where), and folders to work in."""

import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOL = ROOT / os.environ.get("INGOT_BUILD", "build/san") / "tests/codec/codec_tool"


class Tool:
    def run(self, *args: object, stdin: str = "") -> str:
        run = subprocess.run([str(TOOL), *map(str, args)], input=stdin, capture_output=True, text=True, timeout=600)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def fails(self, *args: object, stdin: str = "") -> str:
        run = subprocess.run([str(TOOL), *map(str, args)], input=stdin, capture_output=True, text=True, timeout=600)
        assert run.returncode == 1, (run.returncode, run.stderr)
        return run.stderr

    def read(self, kind: str, form: str, folder: Path) -> list[dict]:
        return [json.loads(line) for line in self.run("read", kind, form, folder).splitlines()]

    def samples(self, kind: str, form: str, folder: Path) -> dict[str, dict]:
        return {line["file"]: line for line in self.read(kind, form, folder) if "file" in line}


@pytest.fixture(scope="session")
def tool() -> Tool:
    return Tool()
