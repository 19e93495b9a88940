"""The client's side of a WebSocket (RFC 6455), as far as terminals need it."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import ssl
import struct
from types import TracebackType
from typing import TYPE_CHECKING, Iterator, Mapping
from urllib.parse import urlencode, urlsplit

from ._http import httpx
from .errors import ConnectionFailed

if TYPE_CHECKING:
    from .client import Client

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MAX = 16 << 20
_TEXT, _BINARY, _CLOSE, _PING = 1, 2, 8, 9


class WebSocket:
    """Messages are bytes, or str for text. Iterating ends when the server closes."""

    def __init__(self, client: Client, path: str, params: Mapping[str, str], timeout: float | None) -> None:
        url = urlsplit(client.url)
        host, tls = url.hostname or "", url.scheme == "https"
        try:
            self._socket = socket.create_connection((host, url.port or (443 if tls else 80)), timeout=30.0)
            if tls:
                self._socket = client.tls().wrap_socket(self._socket, server_hostname=host)
            self._in = self._socket.makefile("rb")
            self._shake_hands(client, f"{url.path}/api/v1/{path}?{urlencode(params)}", url.netloc)
            self._socket.settimeout(timeout)
        except (OSError, ssl.SSLError) as error:
            raise ConnectionFailed(f"{client.url}: {error}") from error

    def _shake_hands(self, client: Client, target: str, host: str) -> None:
        key = base64.b64encode(os.urandom(16))
        lines = [f"GET {target} HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key.decode()}", f"Origin: {client.url}"]
        lines += [f"{name}: {value}" for name, value in client.credentials().items()]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        status = self._in.readline(65536).split(b" ", 2)
        headers: dict[str, str] = {}
        while (line := self._in.readline(65536).strip()):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        code = int(status[1]) if len(status) > 1 and status[1].isdigit() else 0
        if code != 101:
            body = self._in.read(min(int(headers.get("content-length", "0")), 65536))
            raise client.refusal(httpx.Response(code or 502, content=body))
        wanted = base64.b64encode(hashlib.sha1(key + _MAGIC).digest()).decode()
        if headers.get("sec-websocket-accept") != wanted:
            raise ConnectionFailed("the answer is not to this request")

    def _frame(self, opcode: int, data: bytes) -> None:
        n, mask = len(data), os.urandom(4)
        head = bytes([0x80 | opcode])
        if n < 126:
            head += bytes([0x80 | n])
        elif n < 65536:
            head += bytes([0x80 | 126]) + struct.pack(">H", n)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", n)
        whole = (mask * (n // 4 + 1))[:n]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(whole, "big")).to_bytes(n, "big")
        try:
            self._socket.sendall(head + mask + masked)
        except OSError as error:
            raise ConnectionFailed(str(error)) from error

    def send(self, message: bytes | str) -> None:
        if isinstance(message, str):
            self._frame(_TEXT, message.encode())
        else:
            self._frame(_BINARY, message)

    def _read(self, n: int) -> bytes:
        try:
            data = self._in.read(n)
        except OSError as error:
            raise ConnectionFailed(str(error)) from error
        if len(data) < n:
            raise ConnectionFailed("the server closed the connection")
        return data

    def __iter__(self) -> Iterator[bytes | str]:
        parts, kind = b"", 0
        while True:
            first, second = self._read(2)
            n = second & 127
            if n == 126:
                (n,) = struct.unpack(">H", self._read(2))
            elif n == 127:
                (n,) = struct.unpack(">Q", self._read(8))
            if n + len(parts) > _MAX:
                raise ConnectionFailed("a message is too large")
            opcode, data = first & 15, self._read(n)
            if opcode == _CLOSE:
                self._frame(_CLOSE, data[:2])
                return
            if opcode == _PING:
                self._frame(10, data)
            elif opcode < 8:
                kind, parts = opcode or kind, parts + data
                if first & 0x80:
                    yield parts if kind == _BINARY else parts.decode()
                    parts = b""

    def __enter__(self) -> WebSocket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._in.close()
        self._socket.close()
