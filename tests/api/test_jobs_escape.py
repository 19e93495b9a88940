"""What a job tries that wants more than it was given: the machine's files and devices, the server, other projects, its own
limits. Each by a user of the API, as root inside the container; tests/exec has the executor alone."""

import json
import os
import socket
import urllib.parse

import pytest
from harness import ADMIN_PASSWORD, unique, wait_for
from test_files import put
from test_jobs import OVER, log, reached, run, spec  # noqa: F401

# Prints a line for each attempt that succeeded, and "done".
TRY = r'''
import ctypes, glob, json, os, socket, stat, subprocess, sys
given = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, what):
    try:
        found = what()
    except Exception:
        return
    if found not in (None, False, -1):
        print("reached", name, repr(found)[:200], flush=True)


def connect(address, family=socket.AF_INET):
    def go():
        with socket.socket(family) as s:
            s.settimeout(1)
            s.connect(address)
            return address
    return go


def write(path, text):
    def go():
        with open(path, "w") as file:
            file.write(text)
        return path
    return go


def read(path, size=1):
    def go():
        with open(path, "rb") as file:
            return file.read(size) or None
    return go


def node(kind, major, minor):
    def go():
        path = "/tmp/node-%d-%d" % (major, minor)
        os.mknod(path, kind | 0o600, os.makedev(major, minor))
        return read(path)()
    return go


def program(*argv):
    return lambda: subprocess.run(argv, capture_output=True, timeout=20).returncode == 0 and argv


def call(number, *args):
    return lambda: libc.syscall(number, *args)


for path in given["paths"]:
    attempt("file " + path, lambda path=path: os.path.exists(path) and path)
    attempt("file through init " + path, lambda path=path: os.path.exists("/proc/1/root/.." + path) and path)
for environ in glob.glob("/proc/[0-9]*/environ"):
    attempt("password in " + environ, lambda environ=environ: given["secret"].encode() in open(environ, "rb").read() or None)
for address in given["addresses"]:
    attempt("address", connect(tuple(address), socket.AF_INET6 if ":" in address[0] else socket.AF_INET))
for scope in ("fe80::1", "ff02::1"):
    attempt("link-local", lambda scope=scope: connect(socket.getaddrinfo(scope + "%eth0", given["port"])[0][4], socket.AF_INET6)())
attempt("the machine below", lambda: socket.socket(40, socket.SOCK_STREAM) and "vsock")
attempt("raw packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW) and "packet")
attempt("raw IP", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and "raw")

for path in ("/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/loop-control", "/dev/net/tun", "/proc/kcore", "/proc/kallsyms",
             *given["devices"]):
    attempt("device " + path, read(path))
for kind, major, minor in ((stat.S_IFCHR, 1, 1), (stat.S_IFCHR, 1, 11), (stat.S_IFBLK, 254, 0), (stat.S_IFBLK, 7, 0), (stat.S_IFBLK, 8, 0)):
    attempt("mknod", node(kind, major, minor))

for path, text in (("/proc/sys/kernel/core_pattern", "|/tmp/x"), ("/proc/sys/vm/overcommit_memory", "1"), ("/proc/sysrq-trigger", "h"),
                   ("/sys/kernel/uevent_helper", "/tmp/x"), ("/sys/kernel/mm/ksm/run", "0"), ("/proc/sys/net/ipv4/ip_forward", "1"),
                   ("/proc/self/oom_score_adj", "-1000"), ("/proc/1/oom_score_adj", "-500")):
    attempt("write " + path, write(path, text))
for root, folders, files in os.walk("/sys/fs/cgroup"):
    for name in files:
        if name in ("cgroup.procs", "memory.max", "memory.limit_in_bytes", "cpu.max", "cpu.cfs_quota_us", "pids.max", "devices.allow", "release_agent"):
            attempt("cgroup " + name, write(os.path.join(root, name), "-1"))
attempt("a cgroup of its own", lambda: os.mkdir("/sys/fs/cgroup/own") or "made")

for argv in (("mount", "-t", "tmpfs", "none", "/mnt"), ("mount", "-t", "cgroup2", "none", "/mnt"), ("mount", "-t", "cgroup", "-o", "memory", "none", "/mnt"),
             ("mount", "-o", "remount,rw", "/proc/sys"), ("mount", "-o", "remount,rw", "/sys"), ("umount", "/proc/kcore"), ("umount", "/sys"),
             ("unshare", "-U", "true"), ("unshare", "-m", "true"), ("unshare", "-n", "true"), ("nsenter", "-t", "1", "-m", "-n", "true"),
             ("hostname", "other"), ("dmesg",), ("date", "-s", "2001-01-01"), ("ip", "link", "add", "d0", "type", "dummy"),
             ("ip", "address", "add", "10.9.9.9/8", "dev", "eth0"), ("ip", "link", "set", "eth0", "promisc", "on"), ("swapon", "/tmp/x"),
             ("insmod", "/tmp/x"), ("nft", "list", "ruleset"), ("losetup", "-f", "--show", "/etc/hostname"), ("reboot", "-f")):
    attempt("run " + " ".join(argv), program(*argv))
if os.uname().machine == "x86_64":
    for name, number in (("bpf", 321), ("keyctl", 250), ("perf_event_open", 298), ("io_uring_setup", 425), ("open_by_handle_at", 304), ("kexec_load", 246),
                         ("userfaultfd", 323), ("setns", 308), ("pivot_root", 155), ("fsopen", 430), ("iopl", 172), ("init_module", 175)):
        attempt("call " + name, call(number, 0, 0, 0, 0, 0, 0))
attempt("more files", lambda: __import__("resource").setrlimit(8, (-1, -1)) or "memlock")
print("done", os.getuid(), flush=True)
'''


def addresses_of_this_machine() -> set[str]:
    found = {"127.0.0.1"}
    for _, _, _, _, at in socket.getaddrinfo(socket.gethostname(), None):
        found.add(at[0].split("%")[0])
    return found


@pytest.fixture
def neighbour(admin, spec):  # noqa: F811
    """A job of another project that listens: its address."""
    project = admin.post("projects", {"name": unique("other")})
    serve = ("import socket, subprocess\ns = socket.create_server((\"0.0.0.0\", 7000))\n"
             "print(subprocess.check_output([\"hostname\", \"-I\"], text=True).split()[0], flush=True)\nwhile True: s.accept()")
    job = admin.post("jobs", {"project": project["id"], "name": "n", "command": f"python3 -c '{serve}'", "spec": spec["id"]})
    yield wait_for(lambda: admin.get(f"jobs/{job['id']}")["attempt"] and log(admin, job), "its address")[0]
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)


def test_nothing_is_reached(admin, project, run, server, neighbour, tmp_path):  # noqa: F811
    (tmp_path / "secret").write_text("x")
    port = urllib.parse.urlsplit(server.url).port
    with socket.create_server(("0.0.0.0", 0)) as listener:
        ports = (port, listener.getsockname()[1], 22)
        hosts = addresses_of_this_machine() | {neighbour.rsplit(".", 1)[0] + ".1", "169.254.169.254", "100.100.100.200"}
        given = {"paths": [server.data, f"{server.data}/ingot.db", str(tmp_path / "secret"), "/boot", "/var/lib/dpkg", "/run/ingot", "/etc/gshadow"],
                 "secret": ADMIN_PASSWORD, "port": port,
                 "addresses": [[neighbour, 7000], *([host, number] for host in hosts for number in ports)],
                 "devices": [f"/dev/{name}" for name in os.listdir("/dev") if name.startswith(("vd", "sd", "nvme", "loop", "dm-"))]}
        # A command is limited to 3,000 characters: the script comes as a file of code would.
        version = code(admin, project, {"try.py": TRY.encode(), "given.json": json.dumps(given).encode()})
        job = run('python3 algorithm/try.py "$(cat algorithm/given.json)"', algorithm=version)
        lines = log(admin, job)
        assert lines == ["done 0"], lines
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert admin.get("health")["status"] == "ok"


def code(api, project: dict, files: dict[str, bytes]) -> int:
    made = api.post("algorithm-sets", {"name": unique("set"), "project": project["id"]})
    version = api.post(f"algorithm-sets/{made['id']}/versions", {})
    for name, data in files.items():
        put(api, f"algorithm-sets/{made['id']}/versions/{version['id']}", name, data)
    return version["id"]


def test_what_one_job_leaves_the_next_does_not_find(admin, run):  # noqa: F811
    """Also when the same supervisor takes both."""
    for _ in range(2):
        job = run("ls -A /tmp /root /workspace /dev/shm; ls / | wc -l; cat /tmp/mark; echo x > /tmp/mark; echo x > /workspace/mark; echo x > /dev/shm/mark")
        assert "mark" not in " ".join(x for x in log(admin, job) if "No such file" not in x)
