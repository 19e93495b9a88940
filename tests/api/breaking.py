"""Between a client and a server: connections that break or stall in the middle, and a server that only pretends."""

import json
import re
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Proxy:
    """Passes connections on. The first that carries a PATCH breaks (or stalls) after `after` bytes of it."""

    def __init__(self, url: str, after: int, stall: bool = False) -> None:
        self.target = (url.split("//")[1].split(":")[0], int(url.rsplit(":", 1)[1]))
        self.after, self.stall, self.spent = after, stall, False
        self.stalled, self.released = threading.Event(), threading.Event()
        self.offsets: list[int] = []  # of the PATCHes, in order
        self.lock = threading.Lock()
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                outer.pass_on(self.request)

        class Threaded(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.server = Threaded(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *exc) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def pass_on(self, client: socket.socket) -> None:
        with socket.create_connection(self.target) as server:
            back = threading.Thread(target=self.copy, args=(server, client, None), daemon=True)
            back.start()
            self.copy(client, server, self.after)
            back.join()

    def copy(self, source: socket.socket, to: socket.socket, limit: int | None) -> None:
        sent, breaks = 0, False
        try:
            while data := source.recv(65536):
                if limit is not None and data.startswith(b"PATCH "):
                    with self.lock:
                        self.offsets.append(int(re.search(rb"(?i)upload-offset: (\d+)", data)[1]))
                        breaks, self.spent = not self.spent, True
                sent += len(data)
                to.sendall(data)
                if breaks and sent >= limit:
                    self.stalled.set()
                    if self.stall:
                        self.released.wait()
                    break
        except OSError:
            pass
        for s in (source, to):
            try:
                s.shutdown(socket.SHUT_RDWR if breaks else socket.SHUT_WR)
            except OSError:
                pass


class Pretender:
    """Answers what a client of imports asks; its task runs until it is cancelled."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.asked = threading.Event()  # somebody waits for the task
        self.state = "running"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_) -> None:
                pass

            def answer(self, status: int, body=None, **headers: str) -> None:
                data = json.dumps(body).encode() if body is not None else b""
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self) -> None:
                path = self.path.removeprefix("/api/v1/").split("?")[0]
                if path == "tasks/5":
                    outer.asked.set()
                    self.answer(200, {"id": 5, "state": outer.state, "done": 30, "total": 120, "message": None,
                                      "result": None, "problems": 0})
                elif path == "datasets/7":
                    self.answer(200, {"id": 7, "name": "cats", "project": {"id": 1, "name": "p"}})
                else:
                    self.answer(200, {"items": [{"id": 9, "name": "v1", "state": "draft"}], "next": None})

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.path.endswith("/cancel"):
                    outer.state = "cancelled"
                    outer.cancelled.set()
                if "/uploads" in self.path:
                    self.answer(201, Location="/api/v1/uploads/abc")
                else:
                    self.answer(202, {"id": 5, "state": outer.state})

            def do_HEAD(self) -> None:
                self.answer(404)

            def do_PATCH(self) -> None:
                n = len(self.rfile.read(int(self.headers["Content-Length"])))
                self.answer(204, Upload_Offset=str(int(self.headers["Upload-Offset"]) + n))

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self) -> "Pretender":
        return self

    def __exit__(self, *exc) -> None:
        self.server.shutdown()
        self.server.server_close()
