"""Resumable uploads with the usual client of browsers, tus-js-client (tests/tus): ended in the middle and gone on with, and
over a connection that breaks."""

import os
import subprocess

import pytest
from breaking import Proxy
from harness import DEADLINE, ROOT

FOLDER = ROOT / "tests" / "tus"
SIZE = (5 << 20) + 12345


@pytest.fixture(scope="module")
def client():
    """A function that runs it; the lines it printed."""
    subprocess.run([FOLDER / "install.sh"], check=True)

    def run(*words: str, expect: int = 0) -> list[str]:
        done = subprocess.run([ROOT / "scripts/node.sh", "node", "upload.js", *words], cwd=FOLDER, capture_output=True,
                              text=True, timeout=DEADLINE)
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout.splitlines()
    return run


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.bin"
    path.write_bytes(os.urandom(SIZE))
    return path


def stored(admin, project, large, url: str) -> None:
    """The upload is whole: it can be used, and has the bytes of the file."""
    made = admin.post("model-sets", {"project": project["id"], "name": "set"})
    version = f"model-sets/{made['id']}/versions/{admin.post('model-sets/' + str(made['id']) + '/versions', {})['id']}"
    admin.post(f"{version}/change", {"add": [{"path": "large.bin", "upload": url.rsplit("/", 1)[1]}]}, expect=200)
    assert admin.call("GET", f"{version}/content", params={"path": "large.bin"}).content == large.read_bytes()


def test_it_goes_on_after_its_end(server, admin, project, client, large):
    address = f"{server.url}/api/v1/uploads?project={project['id']}"
    first = client(address, admin.token, str(large), str(2 << 20), expect=9)
    assert first[-1].startswith("PATCH 204")
    sent = int(first[-1].split()[2])
    second = client(address, admin.token, str(large))
    assert second[0] == f"HEAD 200 {sent}"
    assert not any(line.startswith("POST") for line in second)
    assert second[-2] == f"PATCH 204 {SIZE}"
    stored(admin, project, large, second[-1].split()[1])


def test_a_broken_connection(server, admin, project, client, large):
    with Proxy(server.url, after=300_000) as proxy:
        lines = client(f"{proxy.url}/api/v1/uploads?project={project['id']}", admin.token, str(large))
    assert any(line.startswith("HEAD 200") for line in lines), lines
    stored(admin, project, large, lines[-1].split()[1])
