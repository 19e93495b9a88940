"""Images: real clients, jobs that run in them, saving, copying, deriving, importing, pulling (K5, A7)."""

import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, unique, wait_for
from oci import INDEX, MANIFEST, Image, Registry, descriptor, digest, small, system, tar
from test_files import put
from test_jobs import OVER, log, reached, run, spec  # noqa: F401
from tusclient.client import TusClient

PASSWORD = "pass-word-1"


@pytest.fixture(scope="session")
def registry(server) -> Registry:
    return Registry(server.url, ("admin", ADMIN_PASSWORD))


@pytest.fixture(scope="session")
def host(server) -> str:
    return server.url.removeprefix("http://")


@pytest.fixture
def image(admin, project) -> dict:
    """An image without versions."""
    return admin.post("images", {"project": project["id"], "name": unique("tool"), "description": "of a test"})


def versions(api, image) -> dict[str, dict]:
    return {v["name"]: v for v in api.all(f"images/{image['id']}/versions")}


def done(api, task: dict) -> dict:
    task = wait_for(lambda: (t := api.get(f"tasks/{task['id']}"))["state"] in ("done", "failed", "cancelled") and t, "the task's end")
    assert task["state"] == "done", task
    return task


def failed(api, task: dict, says: str) -> None:
    task = wait_for(lambda: (t := api.get(f"tasks/{task['id']}"))["state"] in ("done", "failed") and t, "the task's end")
    assert task["state"] == "failed" and says in task["message"], task


def delete(api, image) -> None:
    revision = api.get(f"images/{image['id']}")["revision"]
    api.delete(f"images/{image['id']}", headers={"If-Match": f'"{revision}"'})


def repository(project, image) -> str:
    return f"{project['name']}/{image['name']}"


# --- the objects ---

def test_images_are_objects(admin, project, image, make_user):
    assert (image["versions"], image["repository"]) == (0, repository(project, image))
    for bad in ("Upper", "a..b", "a-", "a/-b", "x" * 51, "a b", ""):
        answer = admin.call("POST", "images", json={"project": project["id"], "name": bad})
        assert answer.status_code == 422 and answer.json()["field"] == "name", answer.text
    assert admin.get("images", project=project["id"], q=image["name"][:8])["items"][0]["id"] == image["id"]
    changed = admin.patch(f"images/{image['id']}", {"description": "better", "public": True}, image["revision"])
    assert (changed["description"], changed["public"]) == ("better", True)
    answer = admin.call("PATCH", f"images/{image['id']}", json={"name": "other"}, headers={"If-Match": f'"{changed["revision"]}"'})
    assert answer.status_code == 422 and answer.json()["field"] == "name"
    stranger = make_user()
    assert image["id"] in [i["id"] for i in stranger.all("images")]
    assert stranger.call("DELETE", f"images/{image['id']}", headers={"If-Match": f'"{changed["revision"]}"'}).status_code == 403


# --- real clients ---

def client(*command, env=None) -> str:
    done = subprocess.run([*command], capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


def test_skopeo(server, host, project, registry, image, tmp_path, make_user):
    user = make_user(project)
    creds = f"{user.user['name']}:{PASSWORD}"
    made, at = small(unique()), f"docker://{host}/{repository(project, image)}"
    source = made.save(tmp_path / "layout")
    client("skopeo", "copy", "--dest-tls-verify=false", "--dest-creds", creds, source, f"{at}:v1")
    shown = json.loads(client("skopeo", "inspect", "--tls-verify=false", "--creds", creds, f"{at}:v1"))
    assert shown["Digest"] == made.digest and shown["RepoTags"] == ["v1"]
    client("skopeo", "copy", "--src-tls-verify=false", "--src-creds", creds, f"{at}@{made.digest}", f"oci:{tmp_path}/back:x")
    assert (tmp_path / "back" / "blobs" / "sha256" / digest(made.layers[0])[7:]).read_bytes() == made.layers[0]
    client("skopeo", "copy", "--src-tls-verify=false", "--dest-tls-verify=false", "--src-creds", creds, "--dest-creds",
           f"{user.user['name']}:{user.token}", f"{at}:v1", f"{at}-copy:v2")
    assert registry.tags(f"{repository(project, image)}-copy") == ["v2"]
    client("skopeo", "delete", "--tls-verify=false", "--creds", creds, f"{at}:v1")
    assert registry.tags(repository(project, image)) == []


class Several:
    """An index of two architectures; the second is that of this machine."""

    def __init__(self) -> None:
        here = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
        archs = ["s390x", here]
        self.images = [Image([tar([("a", f"{arch} {unique()}".encode())])], arch=arch) for arch in archs]
        self.index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": [
            {**descriptor(image.manifest, MANIFEST), "platform": {"architecture": arch, "os": "linux"}}
            for image, arch in zip(self.images, archs, strict=True)]}).encode()

    def push(self, registry: Registry, repository: str, tag: str) -> None:
        for image in self.images:
            registry.push(repository, image, image.digest)
        registry.put(repository, self.index, tag, INDEX)


def test_skopeo_copies_every_architecture(host, project, registry, image):
    both, at = Several(), f"docker://{host}/{repository(project, image)}"
    both.push(registry, repository(project, image), "v1")
    client("skopeo", "copy", "--all", "--src-tls-verify=false", "--dest-tls-verify=false", "--src-creds", f"admin:{ADMIN_PASSWORD}",
           "--dest-creds", f"admin:{ADMIN_PASSWORD}", f"{at}:v1", f"{at}-too:v2")
    there = f"{repository(project, image)}-too"
    assert registry.call("GET", f"{there}/manifests/v2", 200).content == both.index
    for made in both.images:
        assert registry.call("GET", f"{there}/manifests/{made.digest}", 200).content == made.manifest
        assert registry.call("GET", f"{there}/blobs/{digest(made.layers[0])}", 200).content == made.layers[0]


@pytest.fixture
def stores():
    """A function that gives podman's and buildah's options for a store of its own; its path must be short."""
    folder = tempfile.mkdtemp(prefix="ip-", dir="/tmp")
    yield lambda name: ["--root", f"{folder}/{name}", "--runroot", f"{folder}/{name}r", "--storage-driver", "vfs"]
    shutil.rmtree(folder, ignore_errors=True)


def test_podman_and_buildah(host, project, image, registry, stores, tmp_path):
    """A login, a build without a base, a push, a pull into another store."""
    options = stores
    env = {"REGISTRY_AUTH_FILE": str(tmp_path / "auth.json")}
    at = f"{host}/{repository(project, image)}:v1"
    (tmp_path / "Containerfile").write_text("FROM scratch\nCOPY hello.txt /hello.txt\nENV A=b\n")
    (tmp_path / "hello.txt").write_text("hello")
    client("podman", *options("one"), "login", "--tls-verify=false", "-u", "admin", "-p", ADMIN_PASSWORD, host, env=env)
    client("buildah", *options("one"), "bud", "--isolation", "chroot", "-t", at, str(tmp_path), env=env)
    client("buildah", *options("one"), "push", "--tls-verify=false", at, env=env)
    client("podman", *options("two"), "pull", "--tls-verify=false", at, env=env)
    inspected = json.loads(client("podman", *options("two"), "inspect", at, env=env))[0]
    assert "A=b" in inspected["Config"]["Env"]
    client("podman", *options("two"), "tag", at, at + "-again", env=env)
    client("podman", *options("two"), "push", "--tls-verify=false", at + "-again", env=env)
    assert registry.tags(repository(project, image)) == ["v1", "v1-again"]


@pytest.fixture
def docker():
    """A function that runs docker's client with a daemon of this test alone: own folders, own socket, no rules in the network."""
    folder = tempfile.mkdtemp(prefix="id-", dir="/tmp")
    with open(f"{folder}/log", "wb") as out, open(f"{folder}/daemon.json", "w", encoding="utf-8") as settings:
        settings.write("{}")
        settings.flush()
        daemon = subprocess.Popen(
            ["dockerd", "--config-file", f"{folder}/daemon.json", "--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec",
             "--pidfile", f"{folder}/pid", "--host", f"unix://{folder}/sock", "--storage-driver", "vfs", "--bridge", "none",
             "--iptables=false", "--ip6tables=false", "--ip-forward=false"],
            stdout=out, stderr=out, start_new_session=True)

    def run(*command, **options) -> subprocess.CompletedProcess:
        return subprocess.run(["docker", "--config", f"{folder}/config", "--host", f"unix://{folder}/sock", *command],
                              capture_output=True, text=True, check=False, **options)

    def said() -> str:
        with open(f"{folder}/log", encoding="utf-8", errors="replace") as text:
            return text.read()[-4000:]

    def ready() -> bool:
        assert daemon.poll() is None, said()
        return run("version").returncode == 0

    try:
        wait_for(ready, "docker's daemon")

        def client_of_it(*command, fails=False, **options) -> str:
            done = run(*command, **options)
            assert (done.returncode != 0) == fails, f"docker {' '.join(command)}: {done.stderr}\n{said()}"
            return done.stdout + done.stderr

        yield client_of_it
    finally:
        daemon.terminate()
        try:
            daemon.wait(120)
        except subprocess.TimeoutExpired:
            os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


def test_docker(host, project, image, registry, docker, tmp_path, make_user):
    """A login, a push, what the registry says of it, a pull, a push into another repository, an index."""
    user = make_user(project)
    name, at = repository(project, image), f"{host}/{repository(project, image)}"
    login = ("login", "--username", user.user["name"], "--password-stdin", host)
    assert "unauthorized" in docker(*login, input="wrong", fails=True).lower()
    docker(*login, input=PASSWORD)
    (tmp_path / "files.tar").write_bytes(tar([("hello.txt", unique().encode())]))
    docker("import", "--change", "ENV A=b", str(tmp_path / "files.tar"), f"{at}:v1")
    assert "digest: sha256:" in docker("push", f"{at}:v1")
    assert registry.tags(name) == ["v1"]
    pushed = registry.call("GET", f"{name}/manifests/v1", 200)
    shown = json.loads(docker("manifest", "inspect", "--insecure", f"{at}:v1"))
    assert shown["config"]["digest"] == pushed.json()["config"]["digest"]
    docker("rmi", f"{at}:v1")
    assert "Downloaded newer image" in docker("pull", f"{at}:v1")
    assert json.loads(docker("inspect", f"{at}:v1"))[0]["Config"]["Env"] == ["A=b"]
    docker("pull", f"{at}@{pushed.headers['docker-content-digest']}")
    docker("tag", f"{at}:v1", f"{at}-too:v1")
    assert f"Mounted from {name}" in docker("push", f"{at}-too:v1")
    docker("manifest", "create", "--insecure", f"{at}:both", f"{at}:v1")
    docker("manifest", "push", "--insecure", f"{at}:both")
    assert registry.tags(name) == ["both", "v1"]
    assert registry.call("GET", f"{name}/manifests/both", 200).json()["manifests"][0]["digest"] == pushed.headers["docker-content-digest"]
    docker("pull", "--all-tags", at)
    assert docker("images", "--format", "{{.Tag}}", at).split() == ["both", "v1"]
    docker("logout", host)
    assert "unauthorized" in docker("pull", "--all-tags", at, fails=True).lower()


# --- running ---

@pytest.fixture(scope="session")
def base() -> Image:
    """One that runs, with whiteouts, an opaque folder and a path through an absolute link."""
    through = tarfile.TarInfo("abs/through")
    return system([("etc/.wh.old", b""), ("data/.wh..wh..opq", b""), ("data/c", b"3"), ("abs", "/etc"), (through, b"thru")],
                  {"Env": ["GREETING=hi there", "PATH=/usr/bin"]})


def test_a_job_in_an_image(admin, project, registry, image, base, run):  # noqa: F811
    registry.push(repository(project, image), base, "v1")
    job = run('echo "$GREETING"; ls /data /etc; cat /etc/through; echo; id -u', image=f"{image['name']}:v1")
    lines = log(admin, job)
    assert job["state"] == "completed", (job, lines)
    assert lines[0] == "hi there" and "c" in lines and "a" not in lines and "old" not in lines
    assert "thru" in lines and lines[-1] == "0"


def test_images_that_cannot_run(server, admin, project, registry, image, run, make_user):  # noqa: F811
    name = repository(project, image)
    registry.push(name, Image([tar([("a", b"b")])], arch="s390x"), "arch")
    registry.push(name, Image([b"this is no tar at all, but it is compressed" * 20]), "broken")
    registry.push(name, Image([tar([("../../escape", b"x")])]), "escape")
    registry.push(name, Image([tar([("a", b"b")])]), "empty")
    job = run("true", image=f"{image['name']}:empty")
    assert (job["state"], job["reason"]) == ("failed", "cannot run '/bin/sh': No such file or directory"), job
    assert job["reason_zh"] == "无法运行“/bin/sh”：没有该文件或目录"
    for version, reason in (("arch", "s390x"), ("broken", "tar"), ("escape", "path"), ("missing", "no version")):
        job = run("true", image=f"{image['name']}:{version}")
        assert job["state"] == "failed" and reason in job["reason"], job
    assert not os.path.exists(f"{server.data}/escape") and not os.path.exists(f"{server.data}/layers/escape")
    other = admin.post("projects", {"name": unique("other")})
    hidden = f"{other['name']}/secret"
    registry.push(hidden, small(), "v1")
    job = run("true", image=f"{hidden}:v1")
    assert job["state"] == "failed" and "no image" in job["reason"], job


def test_a_public_image_of_another_project(admin, registry, base, run):  # noqa: F811
    other = admin.post("projects", {"name": unique("other")})
    made = admin.post("images", {"project": other["id"], "name": "shared", "public": True})
    registry.push(f"{other['name']}/shared", base)
    job = run("echo here", image=f"{other['name']}/shared")
    assert job["state"] == "completed", job
    assert made["public"]


# --- saving ---

def saved(admin, project, image, job, version) -> dict:
    task = admin.post(f"images/{image['id']}/save", {"job": job["id"], "version": version}, 202)
    done(admin, task)
    return versions(admin, image)[version]


def running(admin, run, command, **fields):  # noqa: F811
    """A job that said `ready`."""
    job = run(f"{command}; echo ready; sleep 1000", until=("running", "failed"), **fields)
    wait_for(lambda: "ready" in log(admin, job), "its first words")
    return job


def test_save_what_runs_in_an_image(admin, project, registry, image, base, run):  # noqa: F811
    registry.push(repository(project, image), base, "v1")
    job = running(admin, run, "echo new > /etc/new; rm /data/c; mkdir /made; touch /made/x; rm /etc/passwd", image=f"{image['name']}:v1")
    version = saved(admin, project, image, job, "v2")
    assert (version["layers"], version["base"], version["arch"]) == (3, None, "amd64")
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    after = run("cat /etc/new; ls /data /made /etc; echo \"$GREETING\"", image=f"{image['name']}:v2")
    lines = log(admin, after)
    assert after["state"] == "completed", lines
    assert lines[0] == "new" and "x" in lines and "c" not in lines and "passwd" not in lines and lines[-1] == "hi there"


def test_save_what_runs_in_host(admin, project, image, registry, host, run, tmp_path):  # noqa: F811
    job = running(admin, run, "echo '#!/bin/sh' > /usr/local/bin/mine; echo 'echo it is mine' >> /usr/local/bin/mine;"
                              " chmod 755 /usr/local/bin/mine; echo x > /opt/new; rm /etc/services")
    version = saved(admin, project, image, job, "v1")
    assert (version["layers"], version["base"]) == (1, "host")
    again = running(admin, run, "mine; cat /opt/new; ls /etc/services; python3 -c 'print(6*7)'; echo 2 > /usr/local/bin/two",
                    image=f"{image['name']}:v1")
    lines = log(admin, again)
    assert "it is mine" in lines and "x" in lines and "42" in lines and "/etc/services" not in lines
    saved(admin, project, image, again, "v2")
    last = run("mine; cat /usr/local/bin/two", image=f"{image['name']}:v2")
    assert {"it is mine", "2"} <= set(log(admin, last))
    for one in (job, again):
        admin.post(f"jobs/{one['id']}/stop", expect=200)
    client("skopeo", "copy", "--src-tls-verify=false", "--src-creds", f"admin:{ADMIN_PASSWORD}",
           f"docker://{host}/{repository(project, image)}:v1", f"oci:{tmp_path}/back:x")


COUNTING = ("head -c 8000000 /dev/urandom > /opt/m; i=0; while :; do i=$((i+1)); echo $i >> /opt/a; echo $i >> /opt/z; "
            "[ $((i % 200)) = 0 ] && echo at $i; done")


def test_nothing_moves_while_it_is_saved(admin, project, image, run):  # noqa: F811
    """Two files that grow together have been read at one moment, though a large one lies between them; then they go on growing."""
    job = run(COUNTING, until=("running", "failed"))
    wait_for(lambda: len(log(admin, job)) > 2, "its first words")
    saved(admin, project, image, job, "v1")
    before = len(log(admin, job))
    wait_for(lambda: len(log(admin, job)) > before + 2, "more words")
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    got = run("wc -l < /opt/a; wc -l < /opt/z", image=f"{image['name']}:v1")
    a, z = map(int, log(admin, got))
    assert z <= a <= z + 1


def test_a_container_is_not_left_frozen(fresh_server):
    """As a server leaves it that is killed while it saves."""
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": unique()})
    small_spec = admin.post("specs", {"name": unique(), "cpus": 0.2, "memory": 256 << 20})
    job = admin.post("jobs", {"project": project["id"], "name": "count", "spec": small_spec["id"], "command": COUNTING})
    reached(admin, job, ("running",))
    wait_for(lambda: len(log(admin, job)) > 2, "its first words")
    group = f"i{hashlib.sha256(server.data.encode()).hexdigest()[:4]}/{job['id']}-1-0"
    two, one = f"/sys/fs/cgroup/{group}/cgroup.freeze", f"/sys/fs/cgroup/freezer/{group}/freezer.state"
    server.kill()
    with open(two if os.path.exists(two) else one, "w", encoding="utf-8") as state:
        state.write("1" if os.path.exists(two) else "FROZEN")
    server.start()
    admin = server.admin()
    before = len(log(admin, job))
    wait_for(lambda: len(log(admin, job)) > before + 2, "more words")
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    assert reached(admin, job, OVER)["state"] == "stopped"


def test_saving_needs_something_that_runs(admin, image, run):  # noqa: F811
    job = run("true")
    answer = admin.call("POST", f"images/{image['id']}/save", json={"job": job["id"], "version": "v1"})
    assert answer.status_code == 409 and "running" in answer.json()["detail"]
    answer = admin.call("POST", f"images/{image['id']}/save", json={"job": job["id"], "version": "a b"})
    assert answer.status_code == 422 and answer.json()["field"] == "version"


# --- copying, deriving ---

def test_copy(admin, project, registry, image, make_user):
    made = small(unique())
    registry.push(repository(project, image), made, "v1")
    source = versions(admin, image)["v1"]
    user = make_user()
    mine = admin.post("projects", {"name": unique("mine")})
    role = admin.get("roles", filter='name = "member"')["items"][0]["id"]
    admin.post(f"projects/{mine['id']}/members", {"user": user.user["id"], "role": role})
    target = user.post("images", {"project": mine["id"], "name": "taken"})
    answer = user.call("POST", f"images/{target['id']}/copy", json={"from": source["id"], "version": "v9"})
    assert answer.status_code in (404, 422), answer.text
    admin.patch(f"images/{image['id']}", {"public": True}, admin.get(f"images/{image['id']}")["revision"])
    copied = user.post(f"images/{target['id']}/copy", {"from": source["id"], "version": "v9"})
    assert (copied["name"], copied["digest"]) == ("v9", made.digest)
    delete(admin, image)
    own = Registry(registry.http.base_url, (user.user["name"], PASSWORD))
    assert own.call("GET", f"{mine['name']}/taken/blobs/{digest(made.layers[0])}", 200).content == made.layers[0]


def test_derive(admin, project, registry, image, base, run):  # noqa: F811
    registry.push(repository(project, image), base, "v1")
    sets = admin.post("algorithm-sets", {"name": unique("set"), "project": project["id"]})
    algorithm = admin.post(f"algorithm-sets/{sets['id']}/versions", {})
    put(admin, f"algorithm-sets/{sets['id']}/versions/{algorithm['id']}", "src/main.sh", b"echo from the algorithm\n")
    body = {"from": versions(admin, image)["v1"]["id"], "version": "v2", "env": {"GREETING": None, "MORE": "1"},
            "command": ["sh", "/opt/code/src/main.sh"], "cwd": "/data", "algorithm": algorithm["id"], "folder": "/opt/code"}
    done(admin, admin.post(f"images/{image['id']}/derive", body, 202))
    manifest = registry.call("GET", f"{repository(project, image)}/manifests/v2", 200).json()
    config = registry.call("GET", f"{repository(project, image)}/blobs/{manifest['config']['digest']}", 200).json()
    assert config["config"]["Env"] == ["PATH=/usr/bin", "MORE=1"]
    assert config["config"]["Cmd"] == body["command"] and config["config"]["WorkingDir"] == "/data"
    assert len(manifest["layers"]) == len(config["rootfs"]["diff_ids"]) == 3
    job = run('echo "$MORE"; sh /opt/code/src/main.sh', image=f"{image['name']}:v2")
    assert log(admin, job) == ["1", "from the algorithm"]
    for field, bad in (("folder", "/a/../b"), ("folder", "rel"), ("cwd", "x"), ("env", ["a"]), ("env", {"a=b": "c"}), ("version", "-")):
        answer = admin.call("POST", f"images/{image['id']}/derive", json={**body, field: bad})
        assert answer.status_code == 422 and answer.json()["field"] == field, answer.text


def test_build_with_a_script(admin, project, registry, image, base, run, spec):  # noqa: F811
    """The script runs as a job; what it changed is the new version's last layer, and its log is the job's."""
    registry.push(repository(project, image), base, "v1")
    body = {"from": versions(admin, image)["v1"]["id"], "version": "v2", "spec": spec["id"], "env": {"WORD": "made"},
            "script": 'echo "$WORD" > /etc/made\nrm /etc/through'}
    job = reached(admin, admin.post(f"images/{image['id']}/build", body, 201), OVER)
    lines = log(admin, job)
    assert job["state"] == "completed", (job, lines)
    assert "+ rm /etc/through" in lines and lines[-1] == "the image is saved"
    made = versions(admin, image)["v2"]
    assert made["layers"] == versions(admin, image)["v1"]["layers"] + 1
    job = run('cat /etc/made; ls /etc; echo "word $WORD, $GREETING"; ls /run', image=f"{image['name']}:v2")
    lines = log(admin, job)
    assert lines[0] == "made" and "through" not in lines and "word , hi there" in lines
    assert not any("authorities" in line for line in lines), lines
    # The machine's certificates are there for the script, unless it brings its own.
    job = reached(admin, admin.post(f"images/{image['id']}/build", {
        **body, "version": "v4", "env": {"PIP_CERT": "/own.pem"},
        "script": 'if [ -s "$SSL_CERT_FILE" ]; then echo trusted; fi\necho "pip $PIP_CERT"'}, 201), OVER)
    trusted = {"trusted"} if os.path.exists("/etc/ssl/certs/ca-certificates.crt") else set()
    assert trusted | {"pip /own.pem"} <= set(log(admin, job)), log(admin, job)
    job = reached(admin, admin.post(f"images/{image['id']}/build", {**body, "version": "v3", "script": "echo one\nfalse\necho two"}, 201), OVER)
    assert (job["state"], job["exit_code"]) == ("failed", 1) and "two" not in log(admin, job)
    assert "v3" not in versions(admin, image)
    for field, bad in (("script", ""), ("script", "x" * 3001), ("version", "-"), ("spec", None), ("env", {"a b": "c"})):
        answer = admin.call("POST", f"images/{image['id']}/build", json={**body, field: bad})
        assert answer.status_code == 422 and answer.json()["field"] == field, answer.text


def test_a_build_from_a_shell_is_waited_for(server, admin, project, registry, image, base, spec, tmp_path):  # noqa: F811
    registry.push(repository(project, image), base, "v1")
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--token-stdin", stdin=admin.post("tokens", {"name": unique()})["secret"])
    cli.run("use", project["name"])
    build = ["image", "build", image["name"], "--from", f"{image['name']}:v1", "--spec", spec["name"]]
    said = cli.run(*build, "--version", "v2", "--script", "echo made > /etc/made")
    assert "the image is saved" in said.out and "completed" in said.out
    made = cli.json(*build, "--version", "v3", "--script", "true")
    assert made["state"] == "completed" and {"v2", "v3"} <= set(versions(admin, image))
    failed = cli.run(*build, "--version", "v4", "--script", "exit 7", "--quiet", expect=7)
    assert "failed" in failed.err and "v4" not in versions(admin, image)
    begun = cli.json(*build, "--version", "v5", "--script", "true", "--no-wait")
    assert reached(admin, begun, OVER)["state"] == "completed"


def test_a_build_that_cannot_be_saved(admin, spec):  # noqa: F811
    project = admin.post("projects", {"name": unique(), "quota": {"storage": 1000}})
    image = admin.post("images", {"project": project["id"], "name": "tool"})
    body = {"version": "v1", "spec": spec["id"], "script": "head -c 100000 /dev/urandom > /opt/much"}
    job = reached(admin, admin.post(f"images/{image['id']}/build", body, 201), OVER)
    assert (job["state"], job["exit_code"]) == ("failed", 1), job
    assert log(admin, job)[-1] == "the image could not be saved"
    task = admin.get("tasks", project=project["id"])["items"][0]
    assert (task["type"], task["state"]) == ("image_build", "failed") and "1000" in task["message"], task
    assert versions(admin, image) == {}


def test_a_build_waits_for_a_server_that_was_killed(fresh_server):
    """The script ends while there is no server; the next one saves what it did."""
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": unique()})
    small_spec = admin.post("specs", {"name": unique(), "cpus": 0.2, "memory": 256 << 20})
    made = admin.post("images", {"project": project["id"], "name": "tool"})
    job = admin.post(f"images/{made['id']}/build", {"version": "v1", "spec": small_spec["id"], "script": "echo begun; sleep 1; touch /opt/mark"}, 201)
    reached(admin, job, ("running",))
    wait_for(lambda: "begun" in log(admin, job), "the script's first words")
    server.kill()
    server.start()
    admin = server.admin()
    job = reached(admin, job, OVER)
    assert job["state"] == "completed", (job, log(admin, job))
    assert versions(admin, made)["v1"]["base"] == "host"


# --- importing ---

def upload(server, api, project, path) -> str:
    tus = TusClient(f"{server.url}/api/v1/uploads?project={project['id']}", headers={"Authorization": f"Bearer {api.token}"})
    up = tus.uploader(str(path), chunk_size=1 << 20)
    up.upload()
    return up.url.rsplit("/", 1)[1]


@pytest.mark.parametrize("kind", ["docker-archive", "oci-archive"])
def test_import_of_a_saved_archive(server, admin, project, registry, image, base, run, tmp_path, kind):  # noqa: F811
    source = base.save(tmp_path / "layout")
    client("skopeo", "copy", source, f"{kind}:{tmp_path}/saved.tar:some/name:latest")
    task = admin.post(f"images/{image['id']}/import", {"upload": upload(server, admin, project, tmp_path / "saved.tar"), "version": "v1"}, 202)
    assert done(admin, task)["result"]["name"] == f"{image['name']}:v1"
    job = run('echo "$GREETING"; ls /data', image=f"{image['name']}:v1")
    assert log(admin, job) == ["hi there", "c"]


def test_archives_that_are_no_images(server, admin, project, image, tmp_path):
    bad = {"text": b"no tar at all", "empty": tar([]), "docker": tar([("manifest.json", b'[{"Config": "x", "Layers": ["y"]}]')]),
           "oci": tar([("index.json", b'{"schemaVersion": 2, "manifests": []}')]), "json": tar([("manifest.json", b"{")])}
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        task = admin.post(f"images/{image['id']}/import", {"upload": upload(server, admin, project, tmp_path / name), "version": "v1"}, 202)
        failed(admin, task, "")
    assert versions(admin, image) == {}


# --- pulling ---

def test_pull_from_another_registry(fresh_server, tmp_path):
    outside = fresh_server()
    out_admin = outside.admin()
    project = out_admin.post("projects", {"name": "upstream"})
    made = small(unique())
    Registry(outside.url, ("admin", ADMIN_PASSWORD)).push("upstream/tool", made, "v1")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"registries": [outside.url]}))
    inside = fresh_server(args=("--config", str(config)))
    admin = inside.admin()
    mine = admin.post("projects", {"name": "mine"})
    image = admin.post("images", {"project": mine["id"], "name": "taken"})
    host = outside.url.removeprefix("http://")
    body = {"from": f"{host}/upstream/tool:v1", "version": "v1", "user": "admin", "password": ADMIN_PASSWORD}
    task = admin.post(f"images/{image['id']}/pull", body, 202)
    assert ADMIN_PASSWORD not in json.dumps(done(admin, task))
    assert versions(admin, image)["v1"]["digest"] == made.digest
    assert ADMIN_PASSWORD not in json.dumps(admin.get("audit"))
    both = Several()
    both.push(Registry(outside.url, ("admin", ADMIN_PASSWORD)), "upstream/tool", "both")
    done(admin, admin.post(f"images/{image['id']}/pull", {**body, "from": f"{host}/upstream/tool:both", "version": "one"}, 202))
    assert versions(admin, image)["one"]["digest"] == both.images[1].digest
    done(admin, admin.post(f"images/{image['id']}/pull", {**body, "from": f"{host}/upstream/tool:both", "version": "all", "every": True}, 202))
    assert versions(admin, image)["all"]["digest"] == digest(both.index)
    got = Registry(inside.url, ("admin", ADMIN_PASSWORD))
    for made in both.images:
        assert got.call("GET", f"mine/taken/manifests/{made.digest}", 200).content == made.manifest
        assert got.call("GET", f"mine/taken/blobs/{digest(made.layers[0])}", 200).content == made.layers[0]
    for wrong, says in (({"password": "wrong"}, "does not take this name and password"), ({"user": None, "password": None}, "wants a name and a password"),
                        ({"from": f"{host}/upstream/none:v1"}, "404"), ({"from": f"{host}/upstream/tool:v7"}, "404")):
        asked = {k: v for k, v in {**body, **wrong}.items() if v is not None}
        failed(admin, admin.post(f"images/{image['id']}/pull", asked, 202), says)
    for bad in ("docker.io/alpine:3", "127.0.0.1:1/x:y", "nothing", f"{host}/UPPER:x"):
        answer = admin.call("POST", f"images/{image['id']}/pull", json={**body, "from": bad})
        assert answer.status_code == 422 and answer.json()["field"] == "from", answer.text
    assert project


class Outside:
    """A registry with one image. Its tokens are good for two requests each, or it wants name and password with each."""

    def __init__(self, image: Image, basic: bool) -> None:
        outside = self
        self.tokens, self.left = 0, 0
        parts = {f"/v2/tool/blobs/{digest(data)}": data for data in image.blobs}
        parts |= {"/v2/tool/manifests/v1": image.manifest}

        class Handler(BaseHTTPRequestHandler):
            def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            def allowed(self) -> bool:
                if basic:
                    return self.headers["Authorization"] == "Basic " + base64.b64encode(b"bob:secret").decode()
                outside.left -= 1
                return self.headers["Authorization"] == f"Bearer t{outside.tokens}" and outside.left >= 0

            def do_GET(self) -> None:
                if self.path.startswith("/token"):
                    outside.tokens, outside.left = outside.tokens + 1, 2
                    return self.answer(200, json.dumps({"token": f"t{outside.tokens}"}).encode())
                if not self.allowed():
                    return self.answer(401, WWW_Authenticate='Basic realm="x"' if basic else f'Bearer realm="{outside.url}/token",service="x"')
                self.answer(200 if self.path in parts else 404, parts.get(self.path, b""), Content_Type=MANIFEST)

            def log_message(self, *_) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.mark.parametrize("basic", [False, True])
def test_pull_from_registries_with_other_ways_to_sign_in(fresh_server, tmp_path, basic):
    made = Image([tar([(f"file-{i}", unique().encode())]) for i in range(6)])
    outside = Outside(made, basic)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"registries": [outside.url]}))
    admin = fresh_server(args=("--config", str(config))).admin()
    image = admin.post("images", {"project": admin.post("projects", {"name": "p"})["id"], "name": "taken"})
    body = {"from": f"{outside.url.removeprefix('http://')}/tool:v1", "version": "v1", "user": "bob", "password": "secret"}
    done(admin, admin.post(f"images/{image['id']}/pull", body, 202))
    assert versions(admin, image)["v1"]["digest"] == made.digest
    assert basic or outside.tokens > 3
    if basic:
        failed(admin, admin.post(f"images/{image['id']}/pull", {**body, "password": "x"}, 202), "does not take this name and password")
        failed(admin, admin.post(f"images/{image['id']}/pull", {k: body[k] for k in ("from", "version")}, 202), "wants a name and a password")
    outside.http.shutdown()
    outside.http.server_close()


def test_images_for_some_specs_only(admin, project, registry, base, image, run, spec):  # noqa: F811
    registry.push(repository(project, image), base, "v1")
    other = admin.post("specs", {"name": unique("large"), "cpus": 0.3, "memory": 256 << 20})
    now = admin.get(f"images/{image['id']}")
    assert now["specs"] == []
    now = admin.patch(f"images/{image['id']}", {"specs": [other["id"]]}, now["revision"])
    assert [s["id"] for s in now["specs"]] == [other["id"]]
    name = f"{image['name']}:v1"
    job = run("true", image=name)
    assert job["state"] == "failed" and job["reason"] == f"the image is made for other specs: {other['name']}", job
    assert job["reason_zh"] == f"镜像适用于其他规格：{other['name']}"
    assert run("true", image=name, spec=other["id"])["state"] == "completed"
    training = {"project": project["id"], "name": unique(), "image": name, "command": "true"}
    answer = admin.call("POST", "trainings", json={**training, "spec": spec["id"]})
    assert answer.status_code == 422 and answer.json()["field"] == "image" and other["name"] in answer.json()["detail"], answer.text
    admin.post("trainings", {**training, "spec": other["id"]})
    admin.delete(f"specs/{other['id']}", headers={"If-Match": f'"{other["revision"]}"'}, expect=409)
    assert admin.patch(f"images/{image['id']}", {"specs": [10 ** 9]}, now["revision"], expect=422)["field"] == "specs"


# --- giving back ---

def test_layers_go_when_nobody_needs_them(server, admin, project, registry, image, run):  # noqa: F811
    own = system([("mark", unique().encode())])
    registry.push(repository(project, image), own, "v1")
    folder = f"{server.data}/layers/{digest(own.layers[1])[7:]}"
    assert run("cat /mark", image=f"{image['name']}:v1")["state"] == "completed"
    assert os.path.isdir(folder)
    os.utime(folder, (1, 1))
    delete(admin, image)
    wait_for(lambda: not os.path.exists(folder), "the layer's end")


def test_clients_are_there():
    assert all(shutil.which(name) for name in ("skopeo", "podman", "buildah", "docker", "dockerd"))
