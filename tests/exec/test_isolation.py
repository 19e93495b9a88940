"""What can be reached from inside: nothing of the machine, nothing of other projects."""

import os
import pathlib
import socket
import subprocess

import pytest
from driver import wait_for


@pytest.fixture(scope="module")
def users(x):
    return x.call("nodes")["report"]["user_namespace"]["ok"]


def test_no_file_of_the_machine(x, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (pathlib.Path(x.dir) / "server-secret").write_text("secret")
    places = [str(secret), x.dir, "/etc/gshadow", "/etc/ssl/private", "/var/lib/dpkg", "/boot", f"/run/{x.name}-stage"]
    places += [str(p) for p in pathlib.Path("/home").iterdir()]
    status, output = x.run(f"for i in {' '.join(places)}; do [ -e $i ] && echo $i; done; ls /home /root /opt /srv /mnt")
    assert output.split() == ["/home:", "/mnt:", "/opt:", "ingot-client", "/root:", "/srv:"]  # an empty folder
    os.unlink(pathlib.Path(x.dir) / "server-secret")
    _, shadow = x.run("cut -d: -f2 /etc/shadow | sort -u")
    assert set(shadow.split()) == {"!", "*"}  # made for it: nobody has a password


def test_no_way_back_through_links(x, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "secret").write_text("secret")
    status, output = x.run(
        f"cd /d && cat ../secret; ln -s {tmp_path}/secret s; cat s; cat /proc/1/root/../secret; cat /proc/1/cwd/..{tmp_path}/secret",
        mounts=[{"source": str(tmp_path / "d"), "target": "/d"}],
    )
    assert output == "" and status["code"] != 0


def test_mount_points_cannot_lead_out(x, tmp_path):
    """An image whose folder is a link to the machine's: the mount must land inside."""
    (tmp_path / "layer").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "outside").mkdir()
    os.symlink(str(tmp_path / "outside"), tmp_path / "layer/trap")
    id = x.start(
        "true",
        image="trap",
        layers=[str(tmp_path / "layer")],
        files=[{"target": "/trap/file", "content": "x"}],
        mounts=[{"source": str(tmp_path / "data"), "target": "/trap/data"}],
    )
    x.ended(id)
    assert list((tmp_path / "outside").iterdir()) == []


def test_only_its_own_processes(x):
    status, output = x.run("ls /proc | grep '^[0-9]' | wc -l; cat /proc/1/cmdline | tr '\\0' ' '")
    count, first = output.split("\n")
    assert int(count) <= 6 and first.startswith("/dev/.ingot-init init")


def test_root_inside_is_nobody_outside(x, users):
    id = x.start("sleep", "1000")
    x.running(id)
    init = (pathlib.Path(x.dir) / id / "run").read_text().split()[1]
    uid = os.stat(f"/proc/{init}").st_uid
    text = pathlib.Path(f"/proc/{init}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in text.split("\n") if ":\t" in line)
    if users:
        assert uid >= 65536 and fields["Uid"].split()[0] == str(uid)
    assert fields["NoNewPrivs"] == "1" and fields["Seccomp"] == "2"
    capabilities = int(fields["CapBnd"], 16)
    for dangerous in [12, 13, 16, 17, 19, 21, 22, 23, 24, 25, 27]:  # net_admin .. mknod
        assert not capabilities >> dangerous & 1
    x.call("kill", id=id)
    x.ended(id)


@pytest.mark.parametrize(
    "command",
    [
        "mount -t tmpfs none /mnt",
        "mount -t proc proc /mnt",
        "umount /proc",
        "mknod /tmp/disk b 254 0",
        "unshare -U true",
        "unshare -m true",
        "nsenter -t 1 -m true",
        "hostname other",
        "date -s 2001-01-01",
        "chroot /proc/1/root mount -t tmpfs none /mnt",
        "echo 1 > /proc/sys/kernel/panic",
        "echo b > /proc/sysrq-trigger",
        "dmesg",
        "ip link add dummy0 type dummy",
        "ip address add 10.1.2.3/8 dev lo",
        "mkdir /sys/fs/cgroup/x",
        "echo 1 > /sys/kernel/mm/ksm/run",
        "test -s /proc/kcore && head -c 1 /proc/kcore | grep .",
        "ls /sys/firmware/* /sys/kernel/debug/*",
    ],
)
def test_forbidden(x, command):
    status, output = x.run(f"({command}) 2>&1 && echo SUCCEEDED")
    assert "SUCCEEDED" not in output


def test_no_cgroup_of_its_own_limits(x):
    status, output = x.run("cat /proc/self/cgroup; find /sys /dev /run /proc/self /proc/1 -name 'cgroup.procs' -o -name 'memory.max' 2>/dev/null", memory=1 << 27)
    assert x.name not in output and "cgroup.procs" not in output and "memory.max" not in output


def test_devices(x):
    status, output = x.run("find /dev -type b; find /dev -maxdepth 1 -type c | sort | tr '\\n' ' '")
    assert output.split() == ["/dev/" + n for n in ["full", "null", "random", "tty", "urandom", "zero"]] or set(
        output.split()
    ) <= {"/dev/" + n for n in ["console", "full", "null", "ptmx", "random", "tty", "urandom", "zero"]}


SERVE = "import socket\ns = socket.create_server(('0.0.0.0', 7000))\nprint('ready', flush=True)\nwhile True:\n    c = s.accept()[0]\n    c.sendall(b'hello')\n    c.close()\n"
TRY = "python3 -c \"import socket; print(socket.create_connection(('{}', {}), timeout=2).recv(9))\" 2>&1"
PATIENT = TRY.replace("timeout=2", "timeout=100")  # where an answer is expected


def test_projects_do_not_reach_each_other(x):
    server = x.start("python3", "-c", SERVE, network=101)
    address = x.running(server)["address"]
    x.said(server, "ready")
    assert "b'hello'" in x.run(PATIENT.format(address, 7000), network=101)[1]
    assert "hello" not in x.run(TRY.format(address, 7000), network=102)[1]
    assert "hello" not in x.run(TRY.format(address, 7000))[1]  # without a network
    assert "hello" in x.run("python3 -c '" + SERVE.replace("'", '"') + "' & sleep 0.1; while ! " + PATIENT.format("127.0.0.1", 7000) + "; do sleep 0.1; done")[1]
    x.call("kill", id=server)
    x.ended(server)


def test_the_machine_gets_no_address_by_a_container(x):
    """Browsers that run here would give up what they load with each that comes or goes."""
    before = set(os.listdir("/sys/class/net"))
    id = x.start("sleep", "1000", network=104)
    x.running(id)
    [link] = [link for link in os.listdir("/sys/class/net") if link.startswith(x.name + "v") and link not in before]
    wait_for(lambda: pathlib.Path(f"/sys/class/net/{link}/operstate").read_text().strip() == "up", "the link")
    assert subprocess.run(["ip", "-o", "addr", "show", "dev", link], capture_output=True, text=True, check=True).stdout == ""
    x.call("kill", id=id)
    x.ended(id)


def test_this_machine_is_not_reached(x):
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        addresses = {"127.0.0.1"}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))
                addresses.add(probe.getsockname()[0])
            except OSError:
                pass  # no way out of this machine at all
        script = "; ".join(TRY.format(a, port) for a in addresses)
        gateway = x.subnet.rsplit(".", 1)[0] + ".1"
        status, output = x.run(script + "; " + TRY.format(gateway, port), network=103)
        assert output.count("Error") + output.count("timed out") >= len(addresses) + 1, output
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_gang(x):
    peers = [{"id": f"800-1-{rank}", "hostname": f"node-{rank}"} for rank in range(3)]
    for rank in range(3):
        script = "getent hosts node-0 node-1 node-2"
        if rank == 0:
            script += f"; python3 -c '{SERVE}'".replace("('0.0.0.0'", '("0.0.0.0"').replace("('ready'", '("ready"').replace("(b'hello'", '(b"hello"')
        else:
            script += "; until " + PATIENT.format("node-0", 7000).replace("2>&1", "2>/dev/null") + "; do sleep 0.1; done"
        x.shell(script, id=f"800-1-{rank}", network=104, peers=peers, hostname=f"node-{rank}")
    for rank in (1, 2):
        assert x.ended(f"800-1-{rank}")["code"] == 0
    texts = [x.output(f"800-1-{rank}").split("\n")[:3] for rank in range(3)]
    assert texts[0] == texts[1] == texts[2]
    assert [line.split()[1] for line in texts[0]] == ["node-0", "node-1", "node-2"]
    assert [line.split()[0] for line in texts[0]] == [x.status(f"800-1-{rank}")["address"] for rank in range(3)]
    for rank in range(3):
        x.call("remove", id=f"800-1-{rank}")
