"""scripts/lock.py adds the packages of other platforms, and nothing else."""

import json
import subprocess
from pathlib import Path

import lock

ROOT = Path(__file__).resolve().parents[2]


def packages():
    return {
        "": {"name": "x"},
        "node_modules/bundler": {
            "version": "4.1.0", "dev": True,
            "optionalDependencies": {"@b/b-linux-x64-gnu": "4.1.0", "@b/b-linux-arm64-musl": "4.1.0",
                                     "@b/b-win32-x64-msvc": "4.1.0", "fsevents": "~2.3.2"}},
        "node_modules/@b/b-linux-x64-gnu": {"version": "4.1.0", "optional": True},
    }


def test_missing_packages_are_marked_with_their_platform():
    assert lock.missing(packages()) == {
        "node_modules/@b/b-linux-arm64-musl": {"version": "4.1.0", "cpu": ["arm64"], "dev": True, "libc": ["musl"],
                                               "optional": True, "os": ["linux"]},
        "node_modules/@b/b-win32-x64-msvc": {"version": "4.1.0", "cpu": ["x64"], "dev": True, "optional": True,
                                             "os": ["win32"]},
        "node_modules/fsevents": {"version": "2.3.2", "dev": True, "optional": True, "os": ["darwin"]},
    }


def test_a_nested_package_counts():
    found = {"": {}, "node_modules/a": {"optionalDependencies": {"a-linux-x64": "1.0.0"}},
             "node_modules/a/node_modules/a-linux-x64": {"version": "1.0.0"}}
    assert lock.missing(found) == {}


def test_check_fails_until_the_file_is_completed(tmp_path):
    file = tmp_path / "package-lock.json"
    file.write_text(json.dumps({"lockfileVersion": 3, "packages": packages()}))

    def run(*arguments):
        return subprocess.run([ROOT / "scripts/lock.py", *arguments, file], capture_output=True).returncode

    assert [run("--check"), run(), run("--check")] == [1, 0, 0]
    assert list(json.loads(file.read_text())["packages"]) == sorted(json.loads(file.read_text())["packages"])
