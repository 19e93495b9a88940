"""Containers that may open connections to the outside: an address behind this machine, in a network of its own."""

import os
import pathlib
import socket
import subprocess

import pytest
from driver import Executor

SERVE = """
import socket
s = socket.create_server(("0.0.0.0", 7000))
print("ready", flush=True)
while True:
    c, who = s.accept()
    c.sendall(b"hello " + who[0].encode())
    c.close()
"""
TRY = "python3 -c \"import socket; print(socket.create_connection(('{}', {}), timeout={}).recv(99))\" 2>&1"
FORWARD = pathlib.Path("/proc/sys/net/ipv4/ip_forward")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@pytest.fixture
def outside():
    """The address of a server beyond this machine, and this machine's own on the way there."""
    number = os.getpid() % 16384
    net = f"198.18.{number // 64}.{number % 64 * 4 + 0}".rsplit(".", 1)
    here, there = f"{net[0]}.{int(net[1]) + 1}", f"{net[0]}.{int(net[1]) + 2}"
    name = f"ox{number}"
    before = FORWARD.read_text()
    server = None
    metadata = f"169.254.{number // 256 % 256}.{number % 254 + 1}"
    try:
        ip("netns", "add", name)
        ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("address", "add", f"{here}/30", "dev", name)
        ip("link", "set", name, "up")
        for words in (["address", "add", f"{there}/30", "dev", "eth0"], ["link", "set", "eth0", "up"]):
            ip("-n", name, *words)
        # Where clouds tell a machine its secrets; the machine itself may ask there.
        ip("-n", name, "address", "add", f"{metadata}/32", "dev", "eth0")
        ip("route", "add", f"{metadata}/32", "via", there)
        server = subprocess.Popen(["ip", "netns", "exec", name, "/usr/bin/python3", "-c", SERVE], stdout=subprocess.PIPE)
        assert server.stdout.readline() == b"ready\n"
        yield there, here, metadata
    finally:
        if server:
            server.kill()
            server.wait()
            server.stdout.close()
        subprocess.run(["ip", "netns", "delete", name], check=False)
        FORWARD.write_text(before)


def test_egress(outside):
    there, here, metadata = outside
    assert socket.create_connection((metadata, 7000), timeout=100).recv(99).startswith(b"hello")
    x = Executor(9, egress=True)
    try:
        x.open()
        assert x.call("nodes")["report"]["egress"] is True
        id = x.shell(TRY.format(there, 7000, 100) + "; cat /etc/resolv.conf; sleep 1000", network=1)
        assert f"b'hello {here}'" in x.said(id, "hello")
        output = x.run(TRY.format(metadata, 7000, 1), network=1)[1]
        assert "hello" not in output and "Error" in output, output
        # Not this machine, under none of its addresses, nor another project.
        address = x.status(id)["address"]
        gateway = address.rsplit(".", 1)[0] + ".1"
        listener = subprocess.Popen(
            ["/usr/bin/python3", "-c", SERVE.replace("7000", "0").replace('"ready"', "s.getsockname()[1]")],
            stdout=subprocess.PIPE,
        )
        try:
            port = int(listener.stdout.readline())
            for target in (here, gateway):
                output = x.run(TRY.format(target, port, 1), network=1)[1]
                assert "hello" not in output and "Error" in output, output
        finally:
            listener.kill()
            listener.wait()
            listener.stdout.close()
        server = x.start("python3", "-c", SERVE, network=2)
        x.said(server, "ready")
        output = x.run(TRY.format(x.status(server)["address"], 7000, 1), network=1)[1]
        assert "hello" not in output
    finally:
        x.close()
