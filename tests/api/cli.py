"""Runs the program as a user would, with a configuration of its own."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import DEADLINE, REPORT, binary


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Cli:
    def __init__(self, folder: Path) -> None:
        self.config = folder / "config" / "config.json"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("INGOT_")}
        self.environment = {**kept, "INGOT_CONFIG": str(self.config), "HOME": str(folder), "INGOT_TIMEOUT": str(DEADLINE)}

    def run(self, *words: str, stdin: str = "", expect: int | None = 0, **environment: str) -> Result:
        done = subprocess.run([binary(), *words], input=stdin, capture_output=True, text=True, timeout=DEADLINE,
                              env={**self.environment, **environment})
        result = Result(done.returncode, done.stdout, done.stderr)
        assert not REPORT.search(result.err), result.err
        if expect is not None:
            assert result.code == expect, f"{words} ended with {result.code}: {result.out}{result.err}"
        return result

    def json(self, *words: str, **options):
        return self.run(*words, "-o", "json", **options).json

    def fails(self, code: int, *words: str, says: str, **options) -> Result:
        result = self.run(*words, expect=code, **options)
        assert says in result.err, result.err
        assert result.out == "" or words[0] in ("backup",)
        return result
