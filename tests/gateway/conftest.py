"""Starts gateway_test_server and replicas; INGOT_BUILD names the build folder (default build/san)."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import resource
import socket
import socketserver
import subprocess
import threading
import time

import httpx
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("INGOT_BUILD", "build/san")
DEADLINE = 120  # seconds until a wait for a condition is a failure
PASSWORD = "first-Password-1"

# Tests, and the server that they start, hold thousands of connections.
_, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(_most, 20_000) if _most != resource.RLIM_INFINITY else 20_000, _most))


def wait_until(condition, what="condition"):
    end = time.monotonic() + DEADLINE
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.02)


class Gateway:
    """The program; `publish` gives it routes."""

    def __init__(self, data):
        self.errors = data / "stderr"
        command = [str(BUILD / "tests/gateway/gateway_test_server"), str(data / "data")]
        environment = {**os.environ, "INGOT_ADMIN_PASSWORD": PASSWORD}
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                                            text=True, env=environment)
        ports = self.process.stdout.readline().split()
        assert ports, self.errors.read_text()
        self.api, self.port = (int(p) for p in ports)
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"
        self.routes = {}
        self.lock = threading.Lock()

    def publish(self, *routes):
        """Adds or replaces routes by their service's id; those of other tests stay."""
        with self.lock:
            for r in routes:
                self.routes[r["service"]] = r
            self.process.stdin.write(json.dumps(list(self.routes.values())) + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "ok\n", self.errors.read_text()

    def admin(self):
        """A client of the platform's API with a token of the administrator."""
        base = f"http://127.0.0.1:{self.api}"
        with httpx.Client(base_url=base, headers={"Origin": base}, timeout=DEADLINE) as c:
            c.post("/api/v1/sessions", json={"name": "admin", "password": PASSWORD}).raise_for_status()
            token = c.post("/api/v1/tokens", json={"name": f"t{time.monotonic_ns()}"}).raise_for_status().json()["secret"]
        return httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=DEADLINE), token

    def memory_mb(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024

    def stop(self):
        self.process.stdin.close()
        code = self.process.wait(DEADLINE)
        assert code == 0, f"exit code {code}\n{self.errors.read_text()}"


class Replica:
    """Answers requests by its `answer(handler)`, on threads; `stop` closes everything at once."""

    def __init__(self, name="r", answer=None):
        replica = self
        self.name, self.requests, self.answer = name, 0, answer
        self.open = set()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = DEADLINE

            def setup(self):
                super().setup()
                replica.open.add(self.connection)

            def finish(self):
                replica.open.discard(self.connection)
                with contextlib.suppress(OSError):
                    super().finish()

            def any(self):
                n = int(self.headers.get("content-length") or 0)
                self.body = self.rfile.read(n) if n else self.read_chunks()
                replica.requests += 1
                (replica.answer or Handler.usual)(self)

            def read_chunks(self):
                if self.headers.get("transfer-encoding") != "chunked":
                    return b""
                body = b""
                while n := int(self.rfile.readline(), 16):
                    body += self.rfile.read(n)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def usual(self):
                self.reply(200, json.dumps({
                    "replica": replica.name, "path": self.path, "method": self.command,
                    "headers": {k.lower(): v for k, v in self.headers.items()},
                    "body": hashlib.sha256(self.body).hexdigest(), "size": len(self.body)}).encode())

            def reply(self, status, body, kind="application/json", headers=()):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for k, v in headers:
                    self.send_header(k, v)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = any

            def log_message(self, *args):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def handle_error(self, request, address):
                pass  # the gateway leaves when its client does

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            for c in list(self.open):
                with contextlib.suppress(OSError):
                    c.shutdown(socket.SHUT_RDWR)
            self.server = None


@pytest.fixture(scope="session")
def gateway(tmp_path_factory):
    g = Gateway(tmp_path_factory.mktemp("gateway"))
    yield g
    g.stop()


@pytest.fixture
def replica():
    """Makes replicas that end with the test."""
    made = []

    def make(*args, **options):
        made.append(Replica(*args, **options))
        return made[-1]

    yield make
    for r in made:
        r.stop()


NEXT = iter(range(1, 1_000_000))


@pytest.fixture
def service(gateway):
    """service(production_ports, ...) publishes a service with a key of its own and returns it."""

    class Service:
        def __init__(self, ports, canary=None, model=False, key=None, **fields):
            n = next(NEXT)
            self.name, self.key = f"s{n}", f"key-{n}-{os.urandom(8).hex()}"
            self.keys = [{"id": n, "text": self.key, **(key or {})}]
            self.route = {"service": n, "project": 7, "project_name": "vision", "name": self.name,
                          "production": {"version": 10 * n, "generation": 1, "ports": ports, "model": model},
                          "keys": self.keys, "state": "serving", "body_limit": 16 << 20, "time_limit_ms": 60_000,
                          **fields}
            if canary is not None:
                self.route["canary"] = {"version": 10 * n + 1, "generation": 1, "ports": canary, "model": model}
            self.url = f"{gateway.url}/vision/{self.name}"
            self.headers = {"Authorization": f"Bearer {self.key}"}
            gateway.publish(self.route)

        def publish(self, **fields):
            self.route.update(fields)
            gateway.publish(self.route)

        def client(self, **options):
            return httpx.Client(base_url=self.url, headers=self.headers, timeout=DEADLINE, **options)

    return Service
