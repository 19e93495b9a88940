"""Starts net_test_server; INGOT_BUILD names the build folder (default build/san)."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("INGOT_BUILD", "build/san")
DEADLINE = 120  # seconds until a wait for a condition is a failure


def wait_until(condition, what="condition"):
    """Returns the first true value of condition()."""
    end = time.monotonic() + DEADLINE
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.02)


def read_line(stream):
    line = stream.readline()
    assert line, "the server ended before it printed its port"
    return line.strip()


class Server:
    def __init__(self, tmp_path, *args, prefix=()):
        self.log = tmp_path / "access.log"
        self.errors = tmp_path / f"stderr-{id(self)}"
        command = [*prefix, str(BUILD / "tests/net/net_test_server"), "--log", str(self.log), *map(str, args)]
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            self.port = int(read_line(self.process.stdout))
        except AssertionError:
            self.process.wait(DEADLINE)
            raise AssertionError(self.errors.read_text()) from None
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"

    def term(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        code = self.process.wait(DEADLINE)
        self.process.stdout.close()
        assert code == 0, f"exit code {code}\n{self.errors.read_text()}"

    def stop(self):
        if self.process.returncode is None:
            self.term()
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise

    def descriptors(self):
        return os.listdir(f"/proc/{self.process.pid}/fd")

    def memory_mb(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return contextlib.closing(s)

    def raw(self, data):
        """Sends data, returns everything until the server ends the connection."""
        with self.connect() as s:
            s.sendall(data)
            return read_all(s)

    def answer(self, data):
        """Sends data, returns (status, headers, body) of the one answer."""
        with self.connect() as s:
            s.sendall(data)
            return read_answer(s.makefile("rb"))


def read_all(s):
    parts = []
    while True:
        try:
            part = s.recv(65536)
        except ConnectionResetError:
            return b"".join(parts)
        if not part:
            return b"".join(parts)
        parts.append(part)


def read_answer(f, head=False):
    """One HTTP/1.1 answer from a binary file: (status, headers with lower-case names, body)."""
    line = f.readline()
    assert line.startswith(b"HTTP/1.1 "), line
    status = int(line.split()[1])
    headers = {}
    while True:
        line = f.readline()
        assert line.endswith(b"\r\n"), line
        if line == b"\r\n":
            break
        name, value = line.decode().rstrip("\r\n").split(": ", 1)
        headers[name.lower()] = value
    if head or status in (204, 304) or status < 200:
        return status, headers, b""
    if headers.get("transfer-encoding") == "chunked":
        pieces = []
        while True:
            size = int(f.readline(), 16)
            piece = f.read(size)
            assert len(piece) == size and f.readline() == b"\r\n"
            pieces.append(piece)
            if not size:
                return status, headers, b"".join(pieces)
    if "content-length" in headers:
        body = f.read(int(headers["content-length"]))
        assert len(body) == int(headers["content-length"])
        return status, headers, body
    return status, headers, f.read()


@pytest.fixture
def start(tmp_path):
    """start(*args) gives a running server; all are stopped, and must exit cleanly, at the end."""
    servers = []

    def begin(*args):
        servers.append(Server(tmp_path, *args))
        return servers[-1]

    yield begin
    for s in servers:
        s.stop()


@pytest.fixture(scope="session")
def data_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "file"
    block = bytes(range(256)) * 4096
    path.write_bytes(b"".join(bytes([i]) + block[1:] for i in range(12)) + b"tail")
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory, data_file):
    """One server for tests that need no options of their own."""
    s = Server(tmp_path_factory.mktemp("server"), "--file", data_file)
    yield s
    s.stop()


def pattern(n):
    """What /large and /stream send."""
    letters = bytes(range(ord("a"), ord("z") + 1))
    return (letters * (n // 26 + 1))[:n]
