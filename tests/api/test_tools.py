"""Tools that are installed when somebody first asks for them: Netron, the smallest, for real, out of the configured Python index."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, Api, problem, unique, wait_for

OVER = ("done", "failed", "cancelled")
SCRIPT = Path(__file__).parents[2] / "scripts/tools.sh"


@pytest.fixture(scope="module")
def server(fresh_server_module):
    return fresh_server_module()


@pytest.fixture(scope="module")
def admin(server) -> Api:
    return server.admin()


@pytest.fixture
def user(server, admin) -> Api:
    """Somebody in no project."""
    name = unique("user")
    admin.post("users", {"name": name, "password": "pass-word-1"})
    return Api(server.url).sign_in(name, "pass-word-1")


def named(api: Api, name: str) -> dict:
    return api.get("tools", filter=f'name = "{name}"')["items"][0]


def ended(api: Api, task: dict) -> dict:
    return wait_for(lambda: (t := api.get(f"tasks/{task['id']}"))["state"] in OVER and t, "the task's end")


def signed_in(server, folder: Path) -> Cli:
    cli = Cli(folder)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    return cli


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    """Netron for a machine without a network: the program writes it without a server."""
    folder = tmp_path_factory.mktemp("archive")
    Cli(folder).run("fetch", "netron", "--archive", str(folder / "netron.tar.gz"))
    return folder / "netron.tar.gz"


def test_everybody_sees_what_they_cost_and_administrators_install(admin, user):
    rows = {row["name"]: row for row in user.get("tools")["items"]}
    assert set(rows) == {"jupyter", "vscode", "tensorboard", "netron"}
    for row in rows.values():
        assert row["state"] == "missing" and row["bytes"] > 1e6 and row["installed_bytes"] > row["bytes"] and row["minutes"] >= 1
        assert row["description"] and row["description_zh"]
        problem(user.call("POST", f"tools/{row['id']}/fetch", json={}), 403, "forbidden")
        problem(user.call("GET", f"tools/{row['id']}/log"), 403, "forbidden")
    problem(user.call("POST", "tools/import", json={"upload": "none"}), 403, "forbidden")
    problem(admin.call("POST", "tools/import", json={"upload": "none"}), 404, "not_found")
    assert admin.call("POST", "tools", json={"name": "more"}).status_code == 405


def test_one_is_installed_when_it_is_asked_for(server, admin, user, tmp_path):
    """The server is killed in the middle: it goes on. Who asks twice gets the same task."""
    row = named(admin, "netron")
    task = admin.post(f"tools/{row['id']}/fetch", {}, expect=202)
    again = admin.call("POST", f"tools/{row['id']}/fetch", json={})
    assert again.status_code in (200, 202)
    if again.status_code == 200:
        assert again.json()["id"] == task["id"]
    server.kill()
    server.start()
    admin = server.admin()
    assert ended(admin, task)["state"] == "done"
    row = named(admin, "netron")
    assert row["state"] == "ready" and row["reason"] == ""
    assert "netron" in admin.get(f"tools/{row['id']}/log", offset=0)["text"]
    assert "fetch" in {line["verb"] for line in admin.get("audit", filter='kind = "tool"')["items"]}

    cli = signed_in(server, tmp_path)
    result = cli.run("fetch", "netron")
    assert result.out == "netron: was there already\n" and "fetching" not in result.err
    assert {r["name"]: r["installed"] for r in cli.json("fetch")}["netron"] == "ready"
    assert "netron" in cli.run("tool", "log", "netron").out
    cli.fails(4, "fetch", "nothing-of-the-sort", says="nothing-of-the-sort")
    cli.fails(2, "fetch", "netron", "imagenet-classifier", "--archive", str(tmp_path / "x"), says="files of their own")


def test_without_a_network_an_archive_brings_it(fresh_server, archive, tmp_path):
    server = fresh_server(environment={"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1"})
    admin, cli = server.admin(), signed_in(server, tmp_path)
    failed = cli.run("fetch", "netron", expect=None)
    assert failed.code != 0 and "fetching 3.7 MB, about 1 minutes" in failed.err and "--archive" in failed.err
    row = named(admin, "netron")
    assert row["state"] == "failed" and "--archive" in row["reason"] and "--archive" in row["reason_zh"]
    assert not os.path.exists(f"{server.data}/tools/netron")

    (tmp_path / "text.tar.gz").write_bytes(b"\x1f\x8bno archive")
    cli.fails(1, "fetch", "--from", str(tmp_path / "text.tar.gz"), says="no archive")
    with tarfile.open(tmp_path / "other.tar.gz", "w:gz") as out:
        (tmp_path / "made-for").write_text("vax python1.4\n")
        out.add(tmp_path / "made-for", "made-for")
    cli.fails(1, "fetch", "--from", str(tmp_path / "other.tar.gz"), says="vax python1.4")
    assert cli.run("fetch", "--from", str(archive)).out == f"{archive}: installed\n"
    assert named(admin, "netron")["state"] == "ready"
    folder = f"{server.data}/tools/netron"
    assert list(Path(folder).glob("lib/python3*/site-packages/netron/index.html"))


def test_the_script_by_hand(archive, tmp_path):
    def run(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(["sh", str(SCRIPT), *words], capture_output=True, text=True)
    assert run(str(tmp_path / "a"), "--from", str(archive)).returncode == 0
    assert (tmp_path / "a/netron/installed").exists() and not (tmp_path / "a/.from").exists()
    assert "tools: installing" not in run(str(tmp_path / "a"), "netron").stdout
    assert run(str(tmp_path / "a"), "emacs").returncode == 2
    assert "--archive FILE" in run("--archive").stderr
