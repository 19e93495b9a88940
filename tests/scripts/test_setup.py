"""scripts/setup.sh, with the system's programs replaced by ones that tell what they are asked."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def machine(tmp_path):
    """A function that runs setup.sh for a group, as root or not, on a machine with these packages."""
    fakes = tmp_path / "bin"
    fakes.mkdir()

    def run(group: str, installed: list[str], user: int = 0, sudo: bool = True) -> tuple[int, list[str]]:
        told = tmp_path / "told"
        told.write_text("")
        programs = {
            "dpkg-query": "".join(f"echo '{name} installed'\n" for name in installed),
            "apt-get": f'echo "apt-get $*" >>{told}',
            "id": f"echo {user}",
        }
        if sudo:
            programs["sudo"] = f'echo "sudo" >>{told}; exec "$@"'
        for name, text in programs.items():
            (fakes / name).write_text(f"#!/bin/sh\n{text}\n")
            (fakes / name).chmod(0o755)
        for name in ("sh", "sed", "cat", "env", "dirname"):
            (fakes / name).unlink(missing_ok=True)
            (fakes / name).symlink_to(f"/usr/bin/{name}")
        done = subprocess.run(["/bin/sh", ROOT / "scripts/setup.sh", group], text=True, capture_output=True,
                              env={"PATH": str(fakes), "HOME": os.environ.get("HOME", "/")})
        return done.returncode, told.read_text().splitlines()
    return run


CHECK = ["clang", "clang-format", "clang-tidy", "cppcheck"]


def test_only_what_is_missing_is_installed(machine):
    code, told = machine("check", CHECK[:-1])
    assert code == 0 and told[0].startswith("apt-get") and told[0].endswith("update -q")
    assert told[1].endswith("install -y -q --no-install-recommends cppcheck") and len(told) == 2


def test_nothing_is_done_the_second_time(machine):
    assert machine("check", CHECK) == (0, [])


def test_sudo_is_used_when_not_root(machine):
    code, told = machine("check", [], user=1000)
    assert code == 0 and [line.split()[0] for line in told] == ["sudo", "apt-get", "sudo", "apt-get"]


def test_without_sudo_it_says_what_it_needs(machine):
    code, told = machine("check", [], user=1000, sudo=False)
    assert code != 0 and told == []


def test_unknown_groups_are_refused(machine):
    assert machine("nonsense", []) == (2, [])
