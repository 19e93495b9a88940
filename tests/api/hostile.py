"""Servers that mean harm, on a port of this machine: what an import reads from elsewhere is not to be trusted."""

import socket
import struct
import threading


class Hostile:
    """Accepts connections, each answered by talk() in a thread; heard is all that came in."""

    def __init__(self, how: str) -> None:
        self.how, self.heard = how, b""
        self.dripping, self.over = threading.Event(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                self.talk(connection)
            except (OSError, EOFError):
                pass  # the other side had enough

    def talk(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def read(self, connection: socket.socket, n: int) -> bytes:
        data = b""
        while len(data) < n:
            piece = connection.recv(n - len(data))
            if not piece:
                raise EOFError
            data += piece
        self.heard += data
        return data

    def drip(self, connection: socket.socket, every: float = 0.3) -> None:
        """A byte now and then, for ever."""
        self.dripping.set()
        while not self.over.wait(every):
            connection.sendall(b"x")

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.over.set()
        self.listener.close()


def number(n: int) -> bytes:
    return bytes([n]) if n < 251 else b"\xfe" + struct.pack("<Q", n)


class HostileMysql(Hostile):
    """Speaks MySQL's protocol up to the query, then does as its name says; or asks for a way to sign in."""

    OK = b"\0\0\0\2\0\0\0"
    END = b"\xfe\0\0\2\0"

    def send(self, connection: socket.socket, *packets: bytes) -> None:
        out = []
        for packet in packets:
            out.append(struct.pack("<I", len(packet))[:3] + bytes([self.number % 256]) + packet)
            self.number += 1
        connection.sendall(b"".join(out))

    def receive(self, connection: socket.socket) -> bytes:
        header = self.read(connection, 4)
        self.number = header[3] + 1
        return self.read(connection, int.from_bytes(header[:3], "little"))

    def column(self, name: bytes) -> bytes:
        return b"".join(number(len(t)) + t for t in (b"def", b"d", b"t", b"t", name, name)) + b"\x0c" + struct.pack("<HIBHB", 33, 1000, 253, 0, 0) + b"\0\0"

    def greet(self, connection: socket.socket) -> bytes:
        self.number = 0
        flags = 0x000FA28D | 0x00080000  # protocol 4.1, plugins, a database to begin with
        name = b"x" * (2 << 20) if self.how == "greeting" else b"5.5.5-10.11.0-MariaDB"
        self.send(connection, b"\x0a" + name + b"\0" + struct.pack("<I", 7) + b"12345678\0" + struct.pack("<H", flags & 0xFFFF) + b"\x21"
                  + struct.pack("<H", 2) + struct.pack("<H", flags >> 16) + b"\x15" + b"\0" * 10 + b"123456789012\0" + b"mysql_native_password\0")
        return self.receive(connection)

    def talk(self, connection: socket.socket) -> None:
        self.greet(connection)
        if self.how.endswith(("password", "dialog")):
            self.send(connection, b"\xfe" + self.how.encode() + b"\0" + b"12345678901234567890\0")
            self.receive(connection)
        self.send(connection, self.OK, *([self.OK] * 3 if self.how == "early" else []))
        while b"SELECT" not in self.receive(connection):
            self.send(connection, self.OK)
        columns = [b"\2", self.column(b"n"), self.column(b"b"), self.END]
        row = b"\5a.txt\4text"
        if self.how == "wide":
            self.send(connection, number(2000))
            for _ in range(2000):
                self.send(connection, self.column(b"n" * (1 << 20)))
        elif self.how == "many":
            self.send(connection, number(100_000), *[self.column(b"n")] * 100_000)
        elif self.how == "drip-columns":
            self.send(connection, b"\2")
            connection.sendall(b"\xff\xff\0\2")
            self.drip(connection)
        elif self.how == "drip-row":
            self.send(connection, *columns)
            connection.sendall(b"\xff\xff\0\5\5a.txt\xfd\xf0\xff\0")
            self.drip(connection)
        elif self.how == "silent-row":
            self.send(connection, *columns, row)
            self.dripping.set()
            self.over.wait()
        else:
            self.send(connection, *{
                "vast": [number(1 << 40)], "greedy": [b"\xfb/etc/passwd"], "long-value": [*columns, b"\5a.txt" + number(1 << 50), self.END],
                "short-row": [*columns, b"\5a.txt", self.END], "more-values": [*columns, row + b"\1x", self.END],
                "after": [*columns, row, self.END, row, self.END],
            }.get(self.how, [*columns, row, self.END]))
        self.over.wait()


class HostileS3(Hostile):
    """An object store with one object, a.png, of which it tells lies; requests are not checked."""

    PAGE = "<ListBucketResult>{}<IsTruncated>{}</IsTruncated>{}</ListBucketResult>"
    LISTED = "<Contents><Key>{}</Key><Size>{}</Size></Contents>"
    TOLD = {"minus": -5, "vast": 2**63 - 1, "sum": 2**45}  # bytes; else 100

    def talk(self, connection: socket.socket) -> None:
        while True:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += self.read(connection, 1)
            self.answer(connection, head.decode())

    def whole(self, connection: socket.socket, body: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def answer(self, connection: socket.socket, head: str) -> None:
        if self.how == "drip":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            self.drip(connection)
        elif "list-type=2" in head:
            entry = self.LISTED.format("k" * 5000 if self.how == "long-key" else "a.png", self.TOLD.get(self.how, 100))
            token = "<NextContinuationToken>again</NextContinuationToken>" if self.how == "endless" else ""
            count = 10 if self.how == "sum" else 1
            self.whole(connection, self.PAGE.format(entry * count, "true" if token else "false", token).encode())
        elif self.how == "longer":
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                connection.sendall(b"100000\r\n" + b"x" * (1 << 20) + b"\r\n")
        elif self.how == "shorter":
            self.whole(connection, b"x" * 50)
        elif self.how == "slow-range" and "range:" not in head.lower():
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 50)
            raise EOFError  # breaks in the middle, so that the rest is asked for
        else:  # the range: all of it, slowly
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            self.drip(connection)
