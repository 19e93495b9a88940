"""Environments over ssh with the real clients: keys, passwords, scp, sftp, forwarded ports; several nodes and mpirun."""

import os
import re
import socket
import subprocess
import threading

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, DEADLINE, unique, wait_for
from oci import Registry, system
from test_environments import admin, make, open_tool, server, spec, start, stop  # noqa: F401  (fixtures)

QUIET = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=60"]


def access(api, e: dict) -> dict:
    """How to reach it by ssh: told once sshd answers."""
    ssh = wait_for(lambda: api.get(f"environments/{e['id']}/access")["ssh"], "a port for ssh")
    with socket.create_connection(("127.0.0.1", ssh["port"]), timeout=DEADLINE) as s:
        assert s.recv(64).startswith(b"SSH-2.0")
    return ssh


class Client:
    """OpenSSH's programs with one key or password."""

    def __init__(self, ssh: dict, key: str | None = None, password: str | None = None) -> None:
        self.ssh, self.where = ssh, f"{ssh['user']}@{ssh['host']}"
        self.head = ["sshpass", "-p", password] if password else []
        if key:
            self.options = [*QUIET, "-i", key, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"]
        else:
            self.options = [*QUIET, "-o", "PubkeyAuthentication=no", "-o", "NumberOfPasswordPrompts=1"]

    def command(self, program: str, *args: str) -> list[str]:
        port = ["-p" if program == "ssh" else "-P", str(self.ssh["port"])]
        return [*self.head, program, *self.options, *port, *args]

    def do(self, program: str, *args: str, **options) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(program, *args), capture_output=True, text=True, timeout=DEADLINE, **options)

    def run(self, command: str) -> str:
        done = self.do("ssh", self.where, command)
        assert done.returncode == 0, done
        return done.stdout.strip()


@pytest.fixture(scope="session")
def key(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("ssh") / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return str(path)


def public(key: str) -> str:
    with open(f"{key}.pub") as f:
        return f.read().strip()


def test_real_clients(admin, make, key, tmp_path):
    e = start(admin, make(ssh_keys=[public(key)], password="my own password"))
    ssh = access(admin, e)
    assert ssh["password"] == "my own password"
    assert ssh["command"] == f"ssh -p {ssh['port']} root@127.0.0.1"
    by_password, by_key = Client(ssh, password=ssh["password"]), Client(ssh, key=key)
    assert by_password.run("id -un; pwd; echo $INGOT_JOB").split() == ["root", "/workspace", str(e["job"]["id"])]
    assert by_key.run("echo $((6 * 7))") == "42"
    assert "admin" in by_key.run("ingot whoami")
    assert by_key.do("ssh", "-tt", by_key.where, "tty").stdout.strip().startswith("/dev/pts/")
    assert by_key.do("ssh", by_key.where, "exit 7").returncode == 7

    data = os.urandom(3 << 20)
    (tmp_path / "up").write_bytes(data)
    assert by_key.do("scp", str(tmp_path / "up"), f"{by_key.where}:/workspace/up").returncode == 0
    assert by_key.do("scp", f"{by_key.where}:/workspace/up", str(tmp_path / "down")).returncode == 0
    assert (tmp_path / "down").read_bytes() == data
    assert by_password.do("scp", "-O", str(tmp_path / "up"), f"{by_key.where}:/workspace/old").returncode == 0
    done = by_key.do("sftp", "-b", "-", by_key.where, input=f"get up {tmp_path}/sftp\nmkdir made\nls\n")
    assert done.returncode == 0 and "made" in done.stdout, done
    assert (tmp_path / "sftp").read_bytes() == data
    assert by_key.run("sha256sum <up") == by_key.run("sha256sum <old")

    # The host's key and the port stay over a stop.
    known = subprocess.run(["ssh-keyscan", "-p", str(ssh["port"]), "127.0.0.1"], capture_output=True, text=True, timeout=DEADLINE)
    stop(admin, e)
    e = start(admin, e)
    again = access(admin, e)
    scanned = subprocess.run(["ssh-keyscan", "-p", str(again["port"]), "127.0.0.1"], capture_output=True, text=True, timeout=DEADLINE)
    assert re.findall(r"AAAA\S+", scanned.stdout) == [ssh["host_key"].split()[1]]
    assert re.findall(r"AAAA\S+", scanned.stdout) == re.findall(r"AAAA\S+", known.stdout) != []


def test_forwarded_ports(admin, make, key):
    """-L and -W: what VS Code Remote and PyCharm need."""
    e = start(admin, make(ssh_keys=[public(key)]))
    client = Client(access(admin, e), key=key)
    client.run("printf hello-from-inside >page; setsid python3 -m http.server --bind 127.0.0.1 7007 </dev/null >/dev/null 2>&1 &")
    wait_for(lambda: client.do("ssh", client.where, "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 7007))'")
             .returncode == 0, "the server inside")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    tunnel = subprocess.Popen(client.command("ssh", "-N", "-L", f"127.0.0.1:{port}:127.0.0.1:7007", client.where))
    try:
        def page():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
                    s.sendall(b"GET /page HTTP/1.0\r\n\r\n")
                    return b"hello-from-inside" in b"".join(iter(lambda: s.recv(4096), b""))
            except OSError:
                return False
        wait_for(page, "the page through the tunnel")
    finally:
        tunnel.terminate()
        tunnel.wait(DEADLINE)
    done = client.do("ssh", "-W", "127.0.0.1:7007", client.where, input="GET /page HTTP/1.0\r\n\r\n")
    assert "hello-from-inside" in done.stdout, done


ANSWERS = "import socket, sys; s = socket.create_server(sys.argv[1], family=socket.AF_UNIX); c = s.accept()[0]; c.sendall(c.recv(9)[::-1]); c.close()"
ASKS = "import socket; s = socket.create_connection((\"127.0.0.1\", {port})); s.sendall(b\"abc\"); print(s.recv(9).decode())"


def test_agents_sockets_and_ports_back(admin, make, key, tmp_path):
    """What editors use besides: -A, -L to a socket's path, -R for their debuggers."""
    e = start(admin, make(ssh_keys=[public(key)]))
    client = Client(access(admin, e), key=key)
    agent = subprocess.run(["ssh-agent", "-s", "-a", str(tmp_path / "agent")], capture_output=True, text=True, check=True, timeout=DEADLINE)
    with_agent = {**os.environ, "SSH_AUTH_SOCK": str(tmp_path / "agent")}
    try:
        subprocess.run(["ssh-add", "-q", key], check=True, env=with_agent, timeout=DEADLINE, stderr=subprocess.DEVNULL)
        done = client.do("ssh", "-A", client.where, "ssh-add -L", env=with_agent)
        assert public(key).split()[1] in done.stdout, done
    finally:
        subprocess.run(["kill", re.search(r"SSH_AGENT_PID=(\d+)", agent.stdout)[1]], check=True)

    client.run(f"setsid python3 -c '{ANSWERS}' /workspace/s.sock </dev/null >/dev/null 2>&1 & while [ ! -e s.sock ]; do sleep 0.1; done")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    tunnel = subprocess.Popen(client.command("ssh", "-N", "-L", f"127.0.0.1:{port}:/workspace/s.sock", client.where))
    try:
        def answered():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
                    s.sendall(b"abc")
                    return s.recv(9) == b"cba"
            except OSError:
                return False
        wait_for(answered, "the socket inside")
    finally:
        tunnel.terminate()
        tunnel.wait(DEADLINE)

    with socket.create_server(("127.0.0.1", 0)) as here:
        back = f"127.0.0.1:7008:127.0.0.1:{here.getsockname()[1]}"
        inside = subprocess.Popen(client.command("ssh", "-R", back, client.where, f"python3 -c '{ASKS.format(port=7008)}'"),
                                  stdout=subprocess.PIPE, text=True)
        here.settimeout(DEADLINE)
        with here.accept()[0] as s:
            s.sendall(s.recv(9)[::-1])
        assert inside.communicate(timeout=DEADLINE)[0].strip() == "cba"


def test_many_connections_and_much_data(admin, make, key):
    e = start(admin, make(ssh_keys=[public(key)]))
    client = Client(access(admin, e), key=key)
    results: list[str] = []

    def one():
        results.append(client.run("head -c 5000000 /dev/zero | sha256sum"))
    threads = [threading.Thread(target=one) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(DEADLINE)
    assert len(results) == 4 and len(set(results)) == 1
    done = subprocess.run(client.command("ssh", client.where, "head -c 20000000 /dev/zero"), capture_output=True, timeout=DEADLINE)
    assert len(done.stdout) == 20000000


def test_wrong_keys_and_passwords(admin, make, key, tmp_path):
    e = start(admin, make())
    ssh = access(admin, e)
    assert len(ssh["password"]) >= 16
    assert Client(ssh, password=ssh["password"]).run("echo in") == "in"
    assert Client(ssh, password="wrong").do("ssh", "root@127.0.0.1", "true").returncode != 0
    assert Client(ssh, key=key).do("ssh", "root@127.0.0.1", "true").returncode != 0
    # The machine's own ports are not behind it.
    inside = Client(ssh, password=ssh["password"])
    assert inside.do("ssh", "-W", f"127.0.0.1:{ssh['port']}", inside.where, input="x").returncode != 0


def test_several_nodes(admin, make):
    """Password-less ssh between the nodes, the host files, mpirun over both, one shared /workspace."""
    e = start(admin, make(nodes=2))
    ssh = access(admin, e)
    client = Client(ssh, password=ssh["password"])
    hosts = client.run("cat /etc/volcano/worker.host").split()
    assert len(hosts) == 2
    assert [line.split()[0] for line in client.run("cat /etc/mpi/hostfile").split("\n")] == hosts
    assert client.run(f"ssh {hosts[1]} hostname") == hosts[1]
    assert client.run(f"ssh {hosts[1]} ssh {hosts[0]} hostname") == hosts[0]
    client.run("echo shared >note")
    assert client.run(f"ssh {hosts[1]} cat /workspace/note") == "shared"
    assert sorted(client.run("mpirun -np 2 --map-by node hostname").split()) == sorted(hosts)
    # What torchrun reads, in a session on either.
    for rank, host in enumerate(hosts):
        assert client.run(f"ssh {host} 'echo $PET_NNODES $PET_NODE_RANK $PET_MASTER_ADDR'").split() == ["2", str(rank), hosts[0]]


def test_one_node_has_what_mpirun_and_torchrun_look_for(admin, make):
    e = start(admin, make())
    ssh = access(admin, e)
    client = Client(ssh, password=ssh["password"])
    host = client.run("hostname")
    assert client.run("cat /etc/volcano/worker.host") == host
    assert client.run("cat /etc/mpi/hostfile") == f"{host} slots=1"
    assert client.run("mpirun -np 1 echo ran") == "ran"
    assert client.run("mpirun --oversubscribe -np 3 echo ran").split() == ["ran"] * 3
    assert client.run("echo $PET_NNODES $PET_NODE_RANK $PET_NPROC_PER_NODE") == "1 0 1"
    # Where pip puts programs.
    client.run("mkdir -p .local/bin; { echo '#!/bin/sh'; echo echo installed; } >.local/bin/mine; chmod 755 .local/bin/mine")
    assert client.run("mine") == "installed"
    assert client.do("ssh", "-tt", client.where, input="mine; exit\n").stdout.count("installed") == 1


def test_the_image_s_user_and_variables(admin, make, project, server, key):
    """Sessions have the variables the image was made with, login shells too; who it is made for does not matter: root works in it."""
    name = unique("made")
    profile = b'PATH=/usr/bin:/bin\nfor i in /etc/profile.d/*.sh; do . "$i"; done\n'
    image = system(more=[("etc/profile", profile), ("opt", None), ("opt/tool", None), ("opt/tool/hello", b"#!/bin/sh\necho hello from the image\n")],
                   config={"User": "bob", "Env": ["PATH=/opt/tool:/usr/bin:/bin", "MODEL_HOME=/opt/models", "QUOTED=a b"]})
    Registry(server.url, ("admin", ADMIN_PASSWORD)).push(f"{project['name']}/{name}", image)
    e = start(admin, make(image=f"{name}:latest", ssh_keys=[public(key)]))
    client = Client(access(admin, e), key=key)
    assert client.run("id -u; echo $MODEL_HOME; hello; touch /workspace/mine && echo written").split("\n") == [
        "0", "/opt/models", "hello from the image", "written"]
    assert client.do("ssh", "-tt", client.where, input="hello; exit\n").stdout.count("hello from the image") == 1


def test_a_killed_server_publishes_again(fresh_server, key):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.2, "memory": 256 << 20})
    e = admin.post("environments", {"project": project["id"], "name": unique("e"), "spec": spec["id"], "ssh_keys": [public(key)]})
    e = start(admin, e)
    client = Client(access(admin, e), key=key)
    client.run("echo before >note")
    server.kill()
    server.start()
    admin = server.admin()
    assert admin.get(f"environments/{e['id']}")["state"] == "running"
    assert Client(access(admin, e), key=key).run("cat note") == "before"
    stop(admin, e)


def test_an_image_with_next_to_nothing(admin, make, project, server, key):
    """ssh and JupyterLab in an image that has neither sshd nor Python: both come from the server's own /usr."""
    name = unique("bare")
    Registry(server.url, ("admin", ADMIN_PASSWORD)).push(f"{project['name']}/{name}", system())
    e = start(admin, make(image=f"{name}:latest", ssh_keys=[public(key)]))
    client = Client(access(admin, e), key=key)
    assert client.run("id -u; cat /data/a; pwd; ls /usr/bin/python3 || echo none").split() == ["0", "1/workspace", "none"]
    assert Client(client.ssh, password=client.ssh["password"]).run("echo in") == "in"
    browser, url = open_tool(admin, e)
    assert browser.get(url + "lab").status_code == 200
    kernel = browser.post(url + "api/kernels", json={}).json()
    wait_for(lambda: browser.get(url + f"api/kernels/{kernel['id']}").json()["execution_state"] in ("idle", "starting"), "a kernel")


def test_the_command_line(admin, make, project, server, tmp_path):
    """`ingot env ssh` knows host, port and password."""
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    cli.run("use", project["name"])
    e = make()
    assert "does not run" in cli.run("env", "ssh", e["name"], "--", "true", expect=None).err
    assert "does not run" in cli.run("env", "open", e["name"], expect=5).err
    # One that is about to run is waited for.
    cli.run("environment", "start", e["name"])
    assert cli.run("env", "ssh", e["name"], "--", "echo", "hello;", "exit", "3", expect=3).out.strip() == "hello"
    assert "/t/" in cli.run("env", "open", e["name"]).out
    assert cli.run("env", "ssh", e["name"], "--print").out.strip() == access(admin, e)["command"]
    assert "no tool" in cli.run("env", "open", e["name"], "--tool", "emacs", expect=None).err
    assert cli.run("environment", "stop", e["name"], expect=None).code == 0


def test_the_command_line_over_ipv6(fresh_server, tmp_path):
    """The host of an address is in brackets, that of ssh is not."""
    server = fresh_server(args=("--listen", "[::1]:0", "--ssh-listen", "::1"))
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.2, "memory": 256 << 20})
    e = start(admin, admin.post("environments", {"project": project["id"], "name": "six", "spec": spec["id"]}))
    ssh = wait_for(lambda: admin.get(f"environments/{e['id']}/access")["ssh"], "a port for ssh")
    assert ssh["host"] == "::1" and ssh["command"] == f"ssh -p {ssh['port']} root@::1"
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    cli.run("use", "p")
    assert cli.run("env", "ssh", "six", "--print").out.strip() == ssh["command"]
    assert cli.run("env", "ssh", "six", "--", "echo $SSH_CONNECTION; exit 3", expect=3).out.strip()
    stop(admin, e)
