"""scripts/pytest.sh: failed tests get one more chance, and are named."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PASS = "def test_pass(): pass\n"
# Fails the first N times that it is run.
FAILING = """
import pathlib
def test_{name}():
    runs = pathlib.Path(__file__).with_name("{name}.runs")
    n = len(runs.read_text()) if runs.exists() else 0
    runs.write_text("x" * (n + 1))
    {say}
    assert n >= {times}
"""


def run(folder: Path, *tests: tuple[str, int], say: str = "pass") -> tuple[int, str, list[str]]:
    text = PASS + "".join(FAILING.format(name=name, times=times, say=say) for name, times in tests)
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    flaky = folder / "flaky"
    done = subprocess.run([ROOT / "scripts/pytest.sh", "test_it.py"], cwd=folder, text=True, stdout=subprocess.PIPE,
                          env=os.environ | {"JOBS": "1", "INGOT_FLAKY": str(flaky)})
    return done.returncode, done.stdout, flaky.read_text().split() if flaky.exists() else []


def test_what_passes_the_second_time_is_named(tmp_path):
    status, text, flaky = run(tmp_path, ("once", 1))
    assert (status, flaky) == (0, ["test_it.py::test_once"])
    assert "flaky: test_it.py::test_once" in text


@pytest.mark.parametrize("tests, runs", [([("twice", 2)], 2), ([(f"many{i}", 1) for i in range(6)], 1)],
                         ids=["fails twice", "too many"])
def test_what_fails_fails(tmp_path, tests, runs):
    status, text, flaky = run(tmp_path, *tests)
    assert (status, flaky) == (1, []) and "flaky:" not in text
    assert (tmp_path / f"{tests[0][0]}.runs").read_text() == "x" * runs


def test_a_sanitizers_finding_is_no_noise(tmp_path):
    status, _, flaky = run(tmp_path, ("race", 1), say="print('==7==ERROR: AddressSanitizer: heap-use-after-free')")
    assert (status, flaky) == (1, [])


def test_what_passes_is_run_once(tmp_path):
    status, text, flaky = run(tmp_path, ("never", 0))
    assert (status, flaky) == (0, []) and "once more" not in text
    assert (tmp_path / "never.runs").read_text() == "x"
