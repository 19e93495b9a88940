"""Requests through the gateway, with a key and its limits, against nginx and HAProxy proxying the same upstream.

    scripts/bench.sh gateway [--seconds N]

The upstream is nginx with a constant: as a service in a container, and once on this machine for the peers. All keep their
connections to it. Counted is the CPU of the proxy alone. Needs root, as containers do.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.parse

from peers import Server, Wrk, cpu_seconds, free_port
from proxy import UPSTREAM, Proxy, ask, wait

SERVICE = "cat > up.conf <<'END'\n{config}\nEND\nsed -i \"s/:8888/:$PORT/\" up.conf; exec nginx -p /tmp -c $PWD/up.conf"
WANTED = 1.0


class Haproxy:
    def __init__(self, folder: str, behind: int) -> None:
        self.port = free_port()
        os.makedirs(folder)
        with open(f"{folder}/haproxy.cfg", "w") as out:
            out.write(f"""
global
    nbthread {os.cpu_count()}
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    option forwardfor
    http-reuse always
frontend in
    bind 127.0.0.1:{self.port}
    default_backend behind
backend behind
    server one 127.0.0.1:{behind}
""")
        self.process = subprocess.Popen(["haproxy", "-db", "-f", f"{folder}/haproxy.cfg"], stderr=subprocess.DEVNULL)
        wait(lambda: ask(self.port, "/", {})[0] == 200)
        self.pids = [self.process.pid]

    def __enter__(self) -> "Haproxy":
        return self

    def __exit__(self, *exc) -> None:
        self.process.terminate()
        self.process.wait()


def open_service(server: Server) -> tuple[dict, str]:
    spec = server.call("POST", "/specs", {"name": "s", "cpus": 1, "memory": 256 << 20})["id"]
    service = server.call("POST", "/services", {"project": server.project("bench"), "name": "bench", "drain_s": 0})
    server.call("POST", f"/services/{service['id']}/versions",
                {"spec": spec, "command": SERVICE.format(config=UPSTREAM.format(port=8888, text="x" * 300))})
    key = server.call("POST", f"/services/{service['id']}/keys",
                      {"name": "k", "rate": 1_000_000, "burst": 100_000, "concurrency": 10_000})["secret"]
    return service, key


def behind(nginx: Proxy) -> int:
    with open(os.path.join(nginx.folder, "nginx.conf")) as config:
        return int(re.search(r"server 127\.0\.0\.1:(\d+); keepalive", config.read())[1])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=3)
    seconds = parser.parse_args().seconds
    folder = tempfile.mkdtemp(prefix="ingot-bench-", dir=os.environ.get("BENCH_DIR"))
    os.chmod(folder, 0o755)
    port = free_port()
    try:
        with (Server(f"{folder}/data", "--gateway-listen", f"127.0.0.1:{port}") as server, Proxy(f"{folder}/nginx") as nginx,
              Haproxy(f"{folder}/haproxy", behind(nginx)) as haproxy):
            service, key = open_service(server)
            path = urllib.parse.urlsplit(service["address"]).path + "/"
            wait(lambda: ask(port, path, {"X-API-Key": key})[0] == 200)
            wrk = Wrk(folder, seconds)

            def per_cpu_second(pids: list[int], port: int, path: str, *args: str) -> float:
                before = cpu_seconds(pids)
                out = wrk.run(port, path, 64, *args)
                assert "Non-2xx" not in out, out
                return int(out.split(" requests in")[0].split()[-1]) / (cpu_seconds(pids) - before)
            turns = [(per_cpu_second(server.pids, port, path, "-H", f"X-API-Key: {key}"),
                      per_cpu_second(nginx.pids, nginx.port, "/"), per_cpu_second(haproxy.pids, haproxy.port, "/")) for _ in range(3)]
            ours, first, second = (statistics.median(side) for side in zip(*turns))
            for name, peer in (("nginx", first), ("HAProxy", second)):
                print(f"  requests of a service per CPU-second, with a key: {ours:,.0f} against {name} {peer:,.0f} -> {ours / peer:.2f}"
                      f" (wanted: at least {WANTED:.2f})")
            server.call("DELETE", f"/services/{service['id']}")
            wait(lambda: not [j for j in server.call("GET", "/jobs")["items"] if j["state"] == "running"])
            return 0 if ours >= WANTED * max(first, second) else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
