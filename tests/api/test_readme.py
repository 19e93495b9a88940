"""README.md leads from nothing to an answering service: its eight commands are run as they stand there."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, DEADLINE, ROOT, binary

pytestmark = pytest.mark.skipif(os.environ.get("INGOT_TEST_DB") == "postgres", reason="runs with SQLite")
CACHE = os.environ.get("INGOT_MODELS_CACHE", str(Path.home() / ".cache/ingot-models"))


def commands() -> list[str]:
    """Of the blocks below the heading, without what is said about them."""
    text = (ROOT / "README.md").read_text()
    section = re.search(r"^## Eight commands$(.*?)^## ", text, re.M | re.S).group(1)
    lines = [line for block in re.findall(r"^```sh\n(.*?)^```", section, re.M | re.S) for line in block.splitlines()]
    return [re.sub(r"\s+#.*", "", line) for line in lines if line and not line.startswith("#")]


def test_the_eight_commands(fresh_server, tmp_path):
    """The first is the server, which runs here; where it is and who signs in is put in."""
    words = commands()
    assert len(words) == 8 and words[0] == "make run"
    server = fresh_server()
    there = {"build/release": os.path.dirname(binary()), "http://127.0.0.1:8080": server.url}
    typed = {"ingot login": f"echo {shlex.quote(ADMIN_PASSWORD)} | ingot login --password-stdin"}
    script = "\n".join(words[1:])
    for said, meant in {**there, **typed}.items():
        assert script.count(said) == 1
        script = script.replace(said, meant)
    script = script.replace(f"$PWD/{os.path.dirname(binary())}", os.path.dirname(binary()))
    done = subprocess.run(["bash", "-ec", script], cwd=ROOT, capture_output=True, text=True, timeout=4 * DEADLINE,
                          env={**Cli(tmp_path).environment, "INGOT_MODELS_CACHE": CACHE})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "espresso" in done.stdout.splitlines()[-1] or "espresso" in done.stdout, done.stdout
