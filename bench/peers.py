"""What the benchmarks run: the server, nginx, wrk; and how their work is measured."""

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")
PASSWORD = "bench-password"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_seconds(pids: list[int]) -> float:
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


class Server:
    """The release build on a data folder; `ready_after` is the time from its start to the first answer."""

    def __init__(self, data: str, *args: str) -> None:
        self.data, self.args = data, args
        self.token: str | None = None
        self.connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> "Server":
        self.port = free_port()
        command = [os.environ.get("INGOT_BIN", str(ROOT / "build/release/ingot")), "serve", "--data", self.data,
                   "--listen", f"127.0.0.1:{self.port}", *self.args]
        begun = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        env={**os.environ, "INGOT_ADMIN_PASSWORD": PASSWORD})
        while True:
            try:
                self.call("GET", "/health")
                break
            except OSError:
                assert self.process.poll() is None, "the server ended"
                time.sleep(0.001)
        self.ready_after = time.monotonic() - begun
        self.pids = [self.process.pid]
        return self

    def __exit__(self, *exc) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def sign_in(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{self.port}"}
        connection.request("POST", "/api/v1/sessions", json.dumps({"name": "admin", "password": PASSWORD}), headers)
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()
        headers["Cookie"] = answer.getheader("Set-Cookie").split(";")[0]
        answer.read()
        connection.request("POST", "/api/v1/tokens", json.dumps({"name": f"bench {time.time_ns()}"}), headers)
        self.token = json.loads(connection.getresponse().read())["secret"]
        connection.close()

    def call(self, method: str, path: str, body=None):
        """Over one connection that is kept, as clients do; a new one when the server closed it meanwhile."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if path != "/health":
            if not self.token:
                self.sign_in()
            headers["Authorization"] = f"Bearer {self.token}"
        content = None if body is None else json.dumps(body)
        kept, self.connection = self.connection, None
        try:
            connection = kept or http.client.HTTPConnection("127.0.0.1", self.port)
            connection.request(method, "/api/v1" + path, content, headers)
            answer = connection.getresponse()
        except (ConnectionError, http.client.BadStatusLine):
            if not kept:
                raise
            return self.call(method, path, body)
        text = answer.read()
        self.connection = connection
        assert answer.status < 300, f"{method} {path}: {answer.status} {text!r}"
        return json.loads(text) if text else None

    def project(self, name: str) -> int:
        for item in self.call("GET", f"/projects?q={name}")["items"]:
            return item["id"]
        return self.call("POST", "/projects", {"name": name})["id"]

    def memory(self) -> int:
        """Resident bytes that are its own or touched by it."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) * 1024


class Nginx:
    """One constant of 300 bytes from memory, with as many workers as there are cores."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __enter__(self) -> "Nginx":
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(self.folder, 0o755)
        os.chmod(os.path.dirname(self.folder), 0o755)
        self.port = free_port()
        config = os.path.join(self.folder, "nginx.conf")
        with open(config, "w") as out:
            out.write(f"""
worker_processes {os.cpu_count()};
daemon off;
pid {self.folder}/pid;
error_log {self.folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 100000000;
    server {{
        listen 127.0.0.1:{self.port} reuseport;
        location / {{ default_type application/json; return 200 '{"x" * 300}'; }}
    }}
}}
""")
        self.process = subprocess.Popen(["nginx", "-p", self.folder, "-c", config], stderr=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                assert self.process.poll() is None, "nginx ended"
                time.sleep(0.01)
        self.pids = self.children()
        return self

    def children(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        while not (found := path.read_text().split()):
            time.sleep(0.01)
        return [int(pid) for pid in found]

    def __exit__(self, *exc) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Wrk:
    """wrk, with its scripts written to a folder."""

    def __init__(self, folder: str, seconds: int) -> None:
        self.folder, self.seconds = folder, seconds

    def run(self, port: int, path: str, connections: int, *args: str) -> str:
        command = ["wrk", f"-t{min(2, connections)}", f"-c{connections}", f"-d{self.seconds}s", *args,
                   f"http://127.0.0.1:{port}{path}"]
        done = subprocess.run(command, check=True, text=True, capture_output=True)
        assert "Non-2xx" not in done.stdout and "Socket errors" not in done.stdout, done.stdout
        return done.stdout

    def script(self, paths: list[str], tail: str = "''") -> list[str]:
        """Asks for the paths at random; tail is a Lua expression that is added to each."""
        script = os.path.join(self.folder, "paths.lua")
        with open(script, "w") as out:
            out.write("paths = {\n" + "".join(f"  {json.dumps(path)},\n" for path in paths) + "}\n")
            out.write("function request() return wrk.format('GET', paths[math.random(#paths)] .. "
                      f"{tail}) end\n")
        return ["-s", script]

    def per_cpu_second(self, peer, paths: list[str], connections: int, token: str | None = None) -> float:
        args = ["-H", f"Authorization: Bearer {token}"] if token else []
        before = cpu_seconds(peer.pids)
        out = self.run(peer.port, "/", connections, *self.script(paths), *args)
        return int(re.search(r"(\d+) requests in", out)[1]) / (cpu_seconds(peer.pids) - before)

    def p99(self, server: Server, paths: list[str], token: str, glue: str = "&filter=") -> float:
        """Milliseconds, one connection, the paths in random order, none asked for twice: answers that the server
        keeps would hide what a list costs."""
        tail = f"'{glue}created_by%20!%3D%20' .. (1000 + math.random(1000000000))"
        args = ["--latency", *self.script(paths, tail), "-H", f"Authorization: Bearer {token}"]
        out = self.run(server.port, "/", 1, *args)
        value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", out).groups()
        return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    def creates(self, server: Server, project: int, clients: int) -> float:
        """Objects made per second, by what the database says."""
        script = os.path.join(self.folder, "create.lua")
        with open(script, "w") as out:
            out.write(f"""
local thread = 0
function setup(t) t:set("number", thread); thread = thread + 1 end
local count = 0
function init() prefix = string.format("{time.time_ns()}-%d-", number) end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {server.token}"
function request()
    count = count + 1
    return wrk.format(nil, nil, nil, '{{"project":{project},"name":"' .. prefix .. count .. '","labels":[]}}')
end
""")
        out = self.run(server.port, "/api/v1/label-sets", clients, "-s", script)
        return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])


def fill(data: str, rows: int, step: int) -> None:
    """Label sets set-000000, ... straight into the database of a stopped server."""
    db = sqlite3.connect(os.path.join(data, "ingot.db"))
    project = db.execute("SELECT id FROM projects WHERE name = 'bench'").fetchone()[0]
    now = time.time_ns() // 1000
    columns = {row[1] for row in db.execute("PRAGMA table_info(label_sets)")}
    fixed = {"revision": 1, "created_by": 1, "project": project, "description": "", "public": 0, "labels": "[]"}
    names = [name for name in fixed if name in columns]
    marks = ", ".join("?" for _ in names)
    db.executemany(
        f'INSERT INTO label_sets (created_at, updated_at, name, {", ".join(names)}) VALUES (?, ?, ?, {marks})',
        ((now + i, now + i, f"set-{i * step:06}", *(fixed[name] for name in names)) for i in range(rows)))
    db.commit()
    db.execute("ANALYZE")
    db.commit()
    db.close()


def upload(server: Server, project: int, size: int) -> int:
    """Sends size bytes over tus in one request; the server's peak memory meanwhile."""
    base = {"Authorization": f"Bearer {server.token}", "Tus-Resumable": "1.0.0"}
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", f"/api/v1/uploads?project={project}", None, {**base, "Upload-Length": str(size)})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 201, text
    where = answer.getheader("Location")
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.is_set():
            peak = max(peak, server.memory())
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    piece = os.urandom(1 << 20)
    headers = {**base, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0",
               "Content-Length": str(size)}
    try:
        connection.request("PATCH", where, (piece for _ in range(size // len(piece))), headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 204, text
    finally:
        done.set()
        watcher.join()
    connection.request("DELETE", where, None, base)
    connection.getresponse().read()
    return peak
