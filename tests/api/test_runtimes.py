"""Runtimes: images that the platform builds from Debian and Python packages. A small one is built for real, killed in the middle,
run as a job, pulled by podman, exported and imported. What is fetched is kept in ~/.cache/ingot-runtimes ($INGOT_RUNTIMES_CACHE)."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, Api, problem, unique, wait_for

CACHE = os.environ.get("INGOT_RUNTIMES_CACHE", str(Path.home() / ".cache/ingot-runtimes"))
OVER = ("done", "failed", "cancelled")


@pytest.fixture(scope="module")
def server(fresh_server_module):
    return fresh_server_module(environment={"INGOT_RUNTIMES_CACHE": CACHE})


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
    return api.get("runtimes", filter=f'name = "{name}"')["items"][0]


def patient(condition, what: str):
    """wait_for, for what takes some minutes where many things run."""
    for _ in range(4):
        try:
            return wait_for(condition, what)
        except AssertionError as error:
            if "did not happen" not in str(error):
                raise
    return wait_for(condition, what)


def ended(server, task: dict) -> dict:
    api = server.admin()
    return patient(lambda: (t := api.get(f"tasks/{task['id']}"))["state"] in OVER and t, "the task's end")


def log_of(api: Api, runtime: dict) -> str:
    text, at = "", 0
    while (page := api.get(f"runtimes/{runtime['id']}/log", offset=at))["text"]:
        text, at = text + page["text"], page["next"]
    return text


def test_the_built_in_ones_are_there_with_their_cost(admin, user):
    for name, package in (("pytorch", "python3-torch"), ("sklearn", "scikit-learn")):
        row = named(user, name)
        assert row["built_in"] and row["state"] == "missing" and not row["image"]
        assert row["bytes"] > 50e6 and row["minutes"] >= 1
        assert any(item.startswith(package) for item in row["packages"] + row["python"])
        assert row["description"] and row["description_zh"]
        problem(admin.call("DELETE", f"runtimes/{row['id']}", headers={"If-Match": f'"{row["revision"]}"'}), 409, "conflict", says="built in")
        problem(admin.call("PATCH", f"runtimes/{row['id']}", headers={"If-Match": f'"{row["revision"]}"'}, json={"packages": ["hello"]}), 409, "conflict",
                says="built in")


def test_everybody_reads_and_administrators_build(server, admin, user):
    row = named(user, "pytorch")
    assert user.get(f"runtimes/{row['id']}")["name"] == "pytorch"
    problem(user.call("POST", "runtimes", json={"name": unique("mine"), "packages": ["hello"]}), 403, "forbidden")
    for action in ("build", "estimate", "export", "clear"):
        problem(user.call("POST", f"runtimes/{row['id']}/{action}", json={}), 403, "forbidden")
    problem(user.call("POST", "runtimes/import", json={"upload": "x"}), 403, "forbidden")
    problem(user.call("GET", f"runtimes/{row['id']}/log"), 403, "forbidden")
    problem(user.call("DELETE", f"runtimes/{row['id']}", headers={"If-Match": '"1"'}), 403, "forbidden")
    with Api(server.url) as nobody:
        problem(nobody.call("GET", "runtimes"), 401, "unauthorized")
    assert named(admin, "pytorch")["state"] == "missing"


@pytest.mark.parametrize("field, names", [
    ("packages", ["-o=x"]), ("packages", ["Hello"]), ("packages", ["h"]), ("packages", ["a b"]), ("packages", ["hello;id"]), ("packages", ["../x"]),
    ("packages", ["hello", "?essential"]), ("python", ["--index-url=x"]), ("python", ["six>=1"]), ("python", ["six==1.0; id"]), ("python", ["git+x"]),
    ("python", ["six=="]), ("python", ["a@b"]), ("python", ["./six.whl"]),
])
def test_bad_names(admin, field, names):
    problem(admin.call("POST", "runtimes", json={"name": unique("bad"), field: names}), 422, "invalid", field, says="is no")


def test_a_runtime_has_packages_and_a_name_for_its_image(admin):
    problem(admin.call("POST", "runtimes", json={"name": unique("bad")}), 422, "invalid", "packages")
    problem(admin.call("POST", "runtimes", json={"name": "No Slug", "packages": ["hello"]}), 422, "invalid", "name")
    problem(admin.call("POST", "runtimes", json={"name": "pytorch", "packages": ["hello"]}), 409, "exists", "name")


def test_a_missing_package_is_named(server, admin):
    row = admin.post("runtimes", {"name": unique("gone"), "packages": ["no-such-package-anywhere"]})
    task = ended(server, admin.post(f"runtimes/{row['id']}/build", {}, expect=202))
    assert task["state"] == "failed" and 'no package "no-such-package-anywhere"' in task["message"]
    row = admin.get(f"runtimes/{row['id']}")
    assert row["state"] == "failed" and 'no package "no-such-package-anywhere"' in row["reason"] and "软件包" in row["reason_zh"]
    assert "no-such-package-anywhere" in log_of(admin, row)
    assert not list(Path(server.data, "runtimes").glob(f"{row['id']}"))
    admin.delete(f"runtimes/{row['id']}")


def test_a_cancelled_build_leaves_nothing(server, admin):
    row = admin.post("runtimes", {"name": unique("stop"), "packages": ["hello"]})
    task = admin.post(f"runtimes/{row['id']}/build", {}, expect=202)
    problem(admin.call("POST", f"runtimes/{row['id']}/build", json={}), 409, "conflict", says="is being built")
    admin.post(f"tasks/{task['id']}/cancel", {}, expect=200)
    assert ended(server, task)["state"] == "cancelled"
    row = admin.get(f"runtimes/{row['id']}")
    assert row["state"] == "missing" and not row["reason"] and not row["phase"]
    assert not Path(server.data, f"runtimes/{row['id']}").exists()
    admin.delete(f"runtimes/{row['id']}")


@pytest.fixture(scope="module")
def tiny(server, admin):
    """One that was built while the server was killed and started again."""
    row = admin.post("runtimes", {"name": "tiny", "packages": ["hello"], "python": ["six==1.16.0"]})
    task = admin.post(f"runtimes/{row['id']}/build", {}, expect=202)

    def installing():
        now = admin.get(f"runtimes/{row['id']}")
        over = admin.get(f"tasks/{task['id']}")
        assert over["state"] in ("waiting", "running"), over
        return now["phase"] == "configuring"
    patient(installing, "the container")
    server.kill()
    server.start()
    task = ended(server, task)
    api = server.admin()
    assert task["state"] == "done", (task, log_of(api, row)[-3000:])
    return api.get(f"runtimes/{row['id']}")


@pytest.fixture
def api(server, tiny) -> Api:
    return server.admin()


def run(api: Api, image: str, command: str) -> tuple[str, list[str]]:
    project = api.post("projects", {"name": unique("project")})
    spec = api.post("specs", {"name": unique("small"), "cpus": 0.5, "memory": 256 << 20})
    job = api.post("jobs", {"project": project["id"], "name": unique("job"), "command": command, "spec": spec["id"], "image": image})
    job = patient(lambda: (j := api.get(f"jobs/{job['id']}"))["state"] in ("completed", "failed", "stopped") and j, "the job's end")
    return job["state"], [line["text"] for line in api.get(f"jobs/{job['id']}/log")["lines"]]


def test_a_runtime_is_built_and_runs(server, api, tiny):
    assert tiny["state"] == "ready" and tiny["image"] == "built-in/tiny:v1" and tiny["image_bytes"] > 30e6 and tiny["version"]["name"] == "v1"
    image = api.get("images", filter='name = "tiny"')["items"][0]
    assert image["public"] and [v["name"] for v in api.all(f"images/{image['id']}/versions")] == ["v1"]
    text = log_of(api, tiny)
    assert "Setting up hello" in text and "Successfully installed six-1.16.0" in text
    # maintainer scripts ran (alternatives, byte-compiled modules), and nothing of the build is left
    assert run(api, tiny["image"], "hello; python3 -c 'import six; print(six.__version__)'; readlink /etc/alternatives/awk;"
               " ls -d /usr/lib/python3.*/__pycache__ >/dev/null && echo compiled; [ -z \"$(dpkg --audit)\" ] && echo whole;"
               " [ -e /usr/sbin/policy-rc.d ] || [ -e /run/ingot-runtime ] || echo clean") == \
        ("completed", ["Hello, world!", "1.16.0", "/usr/bin/mawk", "compiled", "whole", "clean"])
    assert not Path(server.data, f"runtimes/{tiny['id']}").exists()


def test_what_a_runtime_needs_cannot_be_deleted(api, tiny):
    version = tiny["version"]["id"]
    image = api.get("images", filter='name = "tiny"')["items"][0]
    problem(api.call("DELETE", f"images/{image['id']}/versions/{version}", headers={"If-Match": '"1"'}), 409, "conflict", says="still in use")


def test_building_again_reuses_what_is_there(server, api, tiny):
    task = ended(server, api.post(f"runtimes/{tiny['id']}/build", {}, expect=202))
    assert task["state"] == "done", task
    again = api.get(f"runtimes/{tiny['id']}")
    assert (again["state"], again["image"], again["built_at"]) == ("ready", tiny["image"], tiny["built_at"])
    assert "nothing has changed" in log_of(api, tiny)


def client(*command: str, **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_podman_pulls_it_and_buildah_runs_it(server, api, tiny, tmp_path):
    """podman's own `run` needs more of the machine's control groups than a test may expect."""
    folder = tempfile.mkdtemp(prefix="ir-", dir="/tmp")
    options = ["--root", f"{folder}/s", "--runroot", f"{folder}/r", "--storage-driver", "vfs"]
    at = f"{server.url.removeprefix('http://')}/{tiny['image']}"
    auth = {"REGISTRY_AUTH_FILE": str(tmp_path / "auth.json")}
    try:
        client("podman", *options, "login", "--tls-verify=false", "-u", "admin", "-p", ADMIN_PASSWORD, at.split("/")[0], **auth)
        client("podman", *options, "pull", "--quiet", "--tls-verify=false", at, **auth)
        assert "LANG=C.UTF-8" in json.loads(client("podman", *options, "inspect", at))[0]["Config"]["Env"]
        made = client("buildah", *options, "from", "--pull-never", at).strip()
        assert client("buildah", *options, "run", "--isolation", "chroot", made, "--", "python3", "-c", "import six; print(six.__version__)").strip() == "1.16.0"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_runtime_moves_to_another_machine(server, api, tiny, fresh_server, tmp_path):
    file = tmp_path / "tiny.tar"
    cli = Cli(tmp_path / "a")
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    assert "built-in/tiny:v1" in cli.run("runtime", "list").out
    assert "Setting up hello" in cli.run("runtime", "log", "tiny").out or "nothing has changed" in cli.run("runtime", "log", "tiny").out
    cli.run("runtime", "export", "tiny", str(file), "--quiet")
    other, there = fresh_server(), Cli(tmp_path / "b")
    there.run("login", other.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    assert there.run("runtime", "import", str(file), "--quiet").out.strip() == "built-in/tiny:v1"
    row = named(other.admin(), "tiny")
    assert (row["state"], row["packages"], row["python"], row["built_in"]) == ("ready", ["hello"], ["six==1.16.0"], False)
    assert run(other.admin(), row["image"], "hello") == ("completed", ["Hello, world!"])
    (tmp_path / "no.tar").write_bytes(b"no archive")
    there.fails(1, "runtime", "import", str(tmp_path / "no.tar"), "--quiet", says="no file of `ingot runtime export`")


def test_the_room_is_given_back(api, tiny):
    row = api.post(f"runtimes/{tiny['id']}/clear", {}, expect=200)
    assert row["state"] == "missing" and not row["image"] and row["version"] is None
    image = api.get("images", filter='name = "tiny"')["items"][0]
    assert api.all(f"images/{image['id']}/versions") == []
    api.delete(f"runtimes/{tiny['id']}")
