"""A relay in front of a service, to make its connections fail as networks do."""

import contextlib
import socket
import threading


class Relay:
    """Forwards connections to a port of this machine. mode: "on", "off" (connections are closed at once), "busy" (every
    request is answered with 503), "hold" (requests wait for the next mode), "cut" (answers end after `size` bytes), "stall"
    (answers wait after `size` bytes until the event `go_on` is set), or "choke" (so do requests). With times the mode is "on" again after so many
    connections."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.mode, self.times, self.bytes, self.hits = "on", -1, 0, 0
        self.go_on = threading.Event()
        self.lock = threading.Lock()
        self.clients: set[socket.socket] = set()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, mode: str, times: int = -1, size: int = 0) -> None:
        """Connections that are open end, so that the next request meets the new mode."""
        with self.lock:
            self.mode, self.times, self.bytes, self.hits = mode, times, size, 0
            for client in self.clients:
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.socket.close()

    def _take(self) -> tuple[str, int]:
        with self.lock:
            if self.mode != "on" and self.times == 0:
                self.mode = "on"
            self.times -= self.times > 0
            self.hits += self.mode != "on"
            return self.mode, self.bytes

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with self.lock:
            self.clients.add(client)
        try:
            self._relay(client)
        finally:
            with self.lock:
                self.clients.discard(client)

    def _relay(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            first = client.recv(65536)
            if not first:
                return
            mode, size = self._take()  # of now, not of when the connection was made
            if mode == "off":
                return
            if mode == "hold":
                while client.recv(65536):  # set() ends the connection
                    pass
                return
            if mode == "busy":
                client.sendall(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            with socket.create_connection(("127.0.0.1", self.target)) as server:
                server.sendall(first)
                choke = size if mode == "choke" else -1
                threading.Thread(target=self._copy, args=(client, server, choke, True), daemon=True).start()
                self._copy(server, client, size if mode in ("cut", "stall") else -1, mode == "stall")

    def _copy(self, source: socket.socket, target: socket.socket, limit: int, stall: bool = False) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if 0 <= limit <= len(data):
                    target.sendall(data[:limit])
                    if not stall:
                        break
                    self.go_on.wait()
                    data, limit = data[limit:], -1
                limit -= len(data) if limit >= 0 else 0
                target.sendall(data)
            for s in (source, target):
                s.shutdown(socket.SHUT_RDWR)
