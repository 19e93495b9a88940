"""Requests through the route of an environment's tool, against nginx proxying the same upstream.

    scripts/bench.sh proxy [--seconds N]

The upstream is nginx with a constant, once in the environment's container (in JupyterLab's place) and once on this machine for the
peer. Both proxies keep their connections to it. Counted is the CPU of the proxy alone. Needs root, as containers do.
"""

import argparse
import http.client
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from peers import Nginx, Server, Wrk, cpu_seconds, free_port

UPSTREAM = """
worker_processes 1;
daemon off;
pid /tmp/upstream.pid;
error_log /dev/null;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path /tmp/ub; proxy_temp_path /tmp/up; fastcgi_temp_path /tmp/uf; uwsgi_temp_path /tmp/uu; scgi_temp_path /tmp/us;
    keepalive_requests 100000000;
    server {{ listen 127.0.0.1:{port}; location / {{ default_type text/plain; return 200 '{text}'; }} }}
}}
"""


class Proxy(Nginx):
    """nginx in front of an upstream of its own."""

    def __enter__(self) -> "Proxy":
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(self.folder, 0o755)
        self.port, behind = free_port(), free_port()
        upstream, config = os.path.join(self.folder, "upstream.conf"), os.path.join(self.folder, "nginx.conf")
        with open(upstream, "w") as out:
            out.write(UPSTREAM.format(port=behind, text="x" * 300).replace("/tmp/u", self.folder + "/u"))
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
    upstream behind {{ server 127.0.0.1:{behind}; keepalive 64; keepalive_requests 100000000; }}
    server {{
        listen 127.0.0.1:{self.port} reuseport;
        location / {{
            proxy_pass http://behind;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Proto $scheme;
        }}
    }}
}}
""")
        self.upstream = subprocess.Popen(["nginx", "-p", self.folder, "-c", upstream], stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(["nginx", "-p", self.folder, "-c", config], stderr=subprocess.DEVNULL)
        wait(lambda: ask(self.port, "/", {})[0] == 200)
        self.pids = self.children()
        return self

    def __exit__(self, *exc) -> None:
        super().__exit__(*exc)
        self.upstream.terminate()
        self.upstream.wait()


def ask(port: int, path: str, headers: dict) -> tuple[int, dict]:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", path, None, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders())
    except OSError:
        return 0, {}


def wait(condition) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it did not come up"
        time.sleep(0.1)


def fake_tool(folder: str) -> str:
    """A folder of tools whose JupyterLab is the upstream."""
    os.makedirs(f"{folder}/jupyter/bin")
    with open(f"{folder}/jupyter/bin/python", "w") as out:
        out.write("#!/bin/sh\nexec nginx -p /tmp -c /opt/ingot/jupyter/upstream.conf\n")
    os.chmod(f"{folder}/jupyter/bin/python", 0o755)
    with open(f"{folder}/jupyter/upstream.conf", "w") as out:
        out.write(UPSTREAM.format(port=8888, text="x" * 300))
    open(f"{folder}/jupyter/installed", "w").close()
    return folder


def open_environment(server: Server) -> tuple[int, str, str]:
    """The tools' port, a path and the cookie for it."""
    spec = server.call("POST", "/specs", {"name": "s", "cpus": 1, "memory": 256 << 20})["id"]
    made = server.call("POST", "/environments", {"project": server.project("bench"), "name": "e", "spec": spec})["id"]
    server.call("POST", f"/environments/{made}/start")
    url = None
    while not url:
        time.sleep(0.1)
        url = server.call("GET", f"/environments/{made}/access")["tools"][0]["url"]
    where, _, rest = url.removeprefix("http://").partition("/")
    port = int(where.rpartition(":")[2])
    status, headers = ask(port, "/" + rest, {})
    assert status == 303, status
    return port, headers["Location"], headers["Set-Cookie"].split(";")[0]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=3)
    seconds = parser.parse_args().seconds
    folder = tempfile.mkdtemp(prefix="ingot-bench-", dir=os.environ.get("BENCH_DIR"))
    os.chmod(folder, 0o755)
    try:
        with Server(f"{folder}/data", "--tools", fake_tool(f"{folder}/tools")) as server, Proxy(f"{folder}/nginx") as nginx:
            port, path, cookie = open_environment(server)
            wrk = Wrk(folder, seconds)

            def per_cpu_second(pids: list[int], port: int, path: str, *args: str) -> float:
                before = cpu_seconds(pids)
                out = wrk.run(port, path, 64, *args)
                return int(out.split(" requests in")[0].split()[-1]) / (cpu_seconds(pids) - before)
            turns = [(per_cpu_second(server.pids, port, path, "-H", f"Cookie: {cookie}"),
                      per_cpu_second(nginx.pids, nginx.port, "/")) for _ in range(3)]
            ours, peer = (statistics.median(side) for side in zip(*turns))
            print(f"  proxied requests per CPU-second: {ours:,.0f} against nginx {peer:,.0f} -> {ours / peer:.2f} (wanted: at least 0.90)")
            made = server.call("GET", "/environments?project=1")["items"][0]["id"]
            server.call("POST", f"/environments/{made}/stop")
            wait(lambda: server.call("GET", f"/environments/{made}")["state"] == "stopped")
            return 0 if ours / peer >= 0.9 else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
