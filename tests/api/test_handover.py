"""Listening sockets that are handed from one program to the next (as systemd does): no client is refused in between."""

import os
import re
import signal
import socket
import subprocess
import tempfile
import threading

import httpx
import pytest
from harness import ADMIN_PASSWORD, DEADLINE, REPORT, binary, wait_for


class Handed:
    """ingot serve with sockets from descriptor 3 on."""

    def __init__(self, data: str, db: str | None, sockets: list[socket.socket], count: str | None = None) -> None:
        self.log = tempfile.TemporaryFile("w+")
        fds = [s.fileno() for s in sockets]
        moved = " ".join(f"{3 + i}<&{fd}" for i, fd in enumerate(fds))
        script = f'LISTEN_PID=$$ LISTEN_FDS={count or len(fds)} exec "$@" {moved}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "sh", binary(), "serve", "--data", data, "--listen", "192.0.2.1:1", *(["--db", db] if db else [])],
            stdout=subprocess.PIPE, stderr=self.log, text=True, pass_fds=fds, env={**os.environ, "INGOT_ADMIN_PASSWORD": ADMIN_PASSWORD})

    def ready(self) -> dict[str, str]:
        said = {}
        for line in self.process.stdout:
            if found := re.search(r"(Tools are|Services are|Ingot is ready) at (\S+)", line):
                said[found[1]] = found[2]
            if "Ingot is ready" in said:
                return said
        raise AssertionError(self.ended())

    def ended(self) -> str:
        self.process.wait(DEADLINE)
        self.process.stdout.close()
        self.log.seek(0)
        return self.log.read()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        said = self.ended()
        assert self.process.returncode == 0 and not REPORT.search(said), said


def listening() -> socket.socket:
    s = socket.create_server(("127.0.0.1", 0), backlog=512)
    s.set_inheritable(True)
    return s


def test_no_client_is_refused_between_two_programs(tmp_path, make_db):
    platform, tools, gateway = listening(), listening(), listening()
    db = make_db()
    server = Handed(str(tmp_path), db, [platform, tools, gateway])
    address = {name: f"http://127.0.0.1:{s.getsockname()[1]}" 
               for name, s in (("Ingot is ready", platform), ("Tools are", tools), ("Services are", gateway))}
    assert server.ready() == address
    wrong, answered, ending = [], [0], threading.Event()

    def ask() -> None:
        while not ending.is_set():
            try:
                answer = httpx.get(address["Ingot is ready"] + "/api/v1/health", trust_env=False, timeout=DEADLINE)
                assert answer.status_code == 200, answer.text
                answer = httpx.get(address["Services are"] + "/none/none", trust_env=False, timeout=DEADLINE)
                assert answer.status_code == 401, answer.text
                answered[0] += 1
            except (httpx.TransportError, AssertionError) as error:
                wrong.append(repr(error))

    clients = [threading.Thread(target=ask) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        for _ in range(3):
            before = answered[0]
            wait_for(lambda: answered[0] >= before + 20, "answers")
            server.stop()
            server = Handed(str(tmp_path), db, [platform, tools, gateway])
            assert server.ready() == address
    finally:
        ending.set()
        for client in clients:
            client.join(DEADLINE)
        server.stop()
    assert not wrong


@pytest.mark.parametrize("sockets, count, says", [(1, "4", "at most 3"), (1, "x", "at most 3"), (0, "1", "descriptor 3")])
def test_what_is_no_socket_is_refused(tmp_path, make_db, sockets, count, says):
    server = Handed(str(tmp_path), make_db(), [listening() for _ in range(sockets)], count)
    said = server.ended()
    assert server.process.returncode != 0 and says in said and not REPORT.search(said), said
