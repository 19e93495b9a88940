"""ingot train, logs and exec, as people type them."""

import os
import pty
import select
import subprocess
import time

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, DEADLINE, binary, unique, wait_for
from test_files import put


@pytest.fixture
def cli(server, tmp_path, project) -> Cli:
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    cli.run("use", project["name"])
    return cli


@pytest.fixture
def spec(admin) -> str:
    return admin.post("specs", {"name": unique("spec"), "cpus": 0.1, "memory": 128 << 20})["name"]


def test_train_run_follows_the_log_and_ends_as_the_command_did(cli, admin, project, spec):
    code = admin.post("algorithm-sets", {"name": unique("code"), "project": project["id"]})
    first, second = (admin.post(f"algorithm-sets/{code['id']}/versions", {}) for _ in range(2))
    put(admin, f"algorithm-sets/{code['id']}/versions/{first['id']}", "t.sh", b"echo first\n")
    put(admin, f"algorithm-sets/{code['id']}/versions/{second['id']}", "t.sh",
        b'echo "second $1 $WORD"; echo bad >&2; echo weights > /workspace/persistent-model/w; exit $2\n')
    data = admin.post("datasets", {"name": unique("data"), "project": project["id"], "data_type": "image",
                                   "annotation_type": "image-class"})
    admin.post(f"datasets/{data['id']}/versions", {})
    models = admin.post("model-sets", {"name": unique("models"), "project": project["id"]})
    name = unique("training")
    flags = ("--name", name, "--spec", spec, "--algo", code["name"], "--data", data["name"], "--save-to", models["name"])
    done = cli.run("train", "run", *flags, "--env", "WORD=你好", "--", "sh", "t.sh", "a b'c", "0")
    assert done.out.splitlines() == ["second a b'c 你好"]
    assert f"{name}/run-1" in done.err and "bad" in done.err.splitlines()
    again = cli.run("train", "run", "--name", name, "--algo", code["name"] + ":v1", "--", "sh t.sh; exit 7", expect=7)
    assert again.out == "first\n" and "exit code 7" in again.err
    assert cli.run("logs", f"{name}/run-1").out == done.out
    assert cli.run("logs", "-f", f"{name}/1").out == done.out
    assert cli.run("logs", name).out == "first\n"
    job = cli.json("training-instance", "get", "run-1", "--training", name)["job"]["id"]
    assert cli.run("logs", "-f", str(job)).out == done.out
    resumed = cli.run("train", "resume", f"{name}/run-1", "--detach")
    assert resumed.out == f"{name}/run-3\n"
    wait_for(lambda: len(admin.all(f"model-sets/{models['id']}/versions")) >= 1, "the saved model")


def test_what_is_missing_is_told(cli, spec):
    cli.fails(2, "train", says="a verb is missing")
    cli.fails(2, "train", "walk", says="walk")
    cli.fails(2, "train", "run", "--spec", spec, says="the command is missing")
    cli.fails(2, "train", "run", "--", "true", says="--spec is missing")
    cli.fails(4, "train", "run", "--spec", spec, "--algo", "nothing", "--", "true", says="nothing")
    cli.fails(2, "train", "run", "--spec", spec, "--env", "A", "--", "true", says="NAME=VALUE")
    cli.fails(4, "logs", "nothing", says="there is no job, environment or training")
    cli.fails(4, "exec", "nothing/run-1", says="nothing")


@pytest.fixture
def running(cli, spec) -> str:
    name = cli.run("train", "run", "--spec", spec, "--detach", "--", "echo up; exec sleep 1000").out.strip()
    job = wait_for(lambda: (cli.json("training-instance", "get", "run-1", "--training", name.split("/")[0])["job"] or {}).get("id"), "a job")
    wait_for(lambda: cli.json("job", "get", str(job))["state"] == "running", "running")
    yield name
    cli.run("job", "stop", str(job))


def test_exec(cli, running):
    assert cli.run("exec", running, "--", "echo", "a b", "c").out == "a b c\n"
    assert cli.run("exec", running, "--", "sh", "-c", "exit 42", expect=42).out == ""
    assert cli.run("exec", "-i", running, "--", "cat", stdin="x" * 300000).out == "x" * 300000
    assert cli.run("exec", "-i", running, "--", "wc", "-l", stdin="1\n2\n").out.strip() == "2"
    assert cli.run("exec", running, "--", "no-such-program", expect=None).code != 0
    name = running.split("/")[0]
    followed = subprocess.Popen([binary(), "logs", "-f", name], stdout=subprocess.PIPE, text=True, env=cli.environment)
    assert followed.stdout.readline() == "up\n"
    followed.terminate()
    followed.wait(DEADLINE)
    followed.stdout.close()


def test_an_environment_is_named_by_its_name(cli, admin, project, spec):
    """Also after a second start, which has a job of the same name; what it works on by set and version."""
    code = admin.post("algorithm-sets", {"name": unique("code"), "project": project["id"]})
    first, second = (admin.post(f"algorithm-sets/{code['id']}/versions", {}) for _ in range(2))
    name = unique("lab")
    made = cli.json("environment", "create", name, "--spec", spec, "--algorithms", f"{code['name']}:v1")
    assert [a["id"] for a in made["algorithms"]] == [first["id"]]
    changed = cli.json("environment", "update", name, "--algorithms", f"{code['name']},{code['name']}:1")
    assert [a["id"] for a in changed["algorithms"]] == [second["id"], first["id"]]
    cli.fails(4, "environment", "update", name, "--algorithms", f"{code['name']}:v9", says="no such version")
    cli.fails(5, "logs", name, says="never started")
    for _ in range(2):
        cli.run("environment", "start", name)
        assert cli.run("env", "ssh", name, "--", "pwd").out == "/workspace\n"
        assert cli.run("exec", name, "--", "cat", "/etc/volcano/worker.host").out.startswith("job-")
        saved = cli.run("environment", "save", name, "--image", "saved", "--version", "1", "-o", "json")
        assert saved.json["state"] == "done" and "Save as image" in saved.err
        cli.run("exec", name, "--", "sh", "-c", "mkdir -p mine && echo 1 >mine/a.py")
        kept = cli.run("environment", "keep", name, "--folder", "mine", "--algorithm-set", code["name"], "-o", "json")
        assert kept.json["state"] == "done" and kept.json["result"]["files"] == 1 and "Keep as version" in kept.err
        cli.run("environment", "stop", name)
        wait_for(lambda: cli.json("environment", "get", name)["state"] == "stopped", "its end")
        assert "the environment is ready" in cli.run("logs", name).out
    assert cli.json("environment", "copy", name, "--name", name + "2")["state"] == "stopped"
    assert cli.json("environment", "keep", name, "--folder", "mine", "--new-model-set", name, "--description", "mine")["state"] == "done"
    cli.fails(2, "environment", "keep", name, "--folder", "/etc", "--algorithm-set", code["name"], says="below /workspace")
    assert [v["name"] for v in admin.all(f"algorithm-sets/{code['id']}/versions")] == ["v4", "v3", "v2", "v1"]
    cli.run("environment", "delete", name, name + "2", "-y")


def read_until(fd: int, text: bytes) -> bytes:
    seen, end = b"", time.monotonic() + DEADLINE
    while text not in seen:
        assert time.monotonic() < end, seen
        if select.select([fd], [], [], 1)[0]:
            seen += os.read(fd, 4096)
    return seen


def test_exec_with_a_terminal(cli, running):
    """A real pseudo terminal on this side too: its size, keys and exit code go through."""
    master, slave = pty.openpty()
    subprocess.run(["stty", "rows", "33", "cols", "101"], stdin=slave, check=True)
    shell = subprocess.Popen([binary(), "exec", "-it", running, "--", "bash"], stdin=slave, stdout=slave, stderr=slave,
                             env=cli.environment, start_new_session=True)
    try:
        os.write(master, b"stty size; tty; echo $((40+2))-done\n")
        seen = read_until(master, b"42-done")
        assert b"33 101" in seen and b"/dev/pts/" in seen, seen
        os.write(master, b"exit 9\n")
        assert shell.wait(DEADLINE) == 9
    finally:
        if shell.poll() is None:
            shell.kill()
            shell.wait()
        os.close(master)
        os.close(slave)
