"""The part of httpx that the client uses, over http.client: requests one after the other on a connection per thread."""

from __future__ import annotations

import http.client
import json as _json
import select
import ssl
import threading
from contextlib import contextmanager
from typing import Any, Iterator, Mapping
from urllib.parse import urlencode, urlsplit

_PIECE = 1 << 16


class TransportError(Exception):
    """The connection could not be made, or broke."""


class BaseTransport:
    """There is only one way here."""


class Timeout:
    def __init__(self, timeout: float | None = None, *, read: float | None = None) -> None:
        self.connect, self.read = timeout, timeout if read is None else read


class Headers(dict[str, str]):
    """Names in any case."""

    def __init__(self, items: Mapping[str, str] | None = None) -> None:
        super().__init__()
        for name, value in (items or {}).items():
            self[name] = value

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name.lower(), default)


class Cookie:
    def __init__(self, name: str, value: str) -> None:
        self.name, self.value = name, value


class Cookies:
    """Those of one server, whose paths are all /."""

    def __init__(self) -> None:
        self.jar: list[Cookie] = []

    def __bool__(self) -> bool:
        return bool(self.jar)

    def clear(self) -> None:
        self.jar = []

    def take(self, line: str) -> None:
        name, _, value = line.split(";", 1)[0].partition("=")
        self.jar = [c for c in self.jar if c.name != name]
        if value and "max-age=0" not in line.lower().replace(" ", ""):
            self.jar.append(Cookie(name, value))


class Response:
    def __init__(self, status_code: int, *, content: bytes = b"", headers: Mapping[str, str] | None = None,
                 body: http.client.HTTPResponse | None = None) -> None:
        self.status_code, self.content, self.headers = status_code, content, Headers(headers)
        self._body = body

    def json(self) -> Any:
        return _json.loads(self.content)

    def read(self) -> bytes:
        self.content = b"".join(self.iter_bytes())
        return self.content

    def iter_bytes(self) -> Iterator[bytes]:
        while self._body is not None:
            try:
                piece = self._body.read1(_PIECE)
            except (OSError, http.client.HTTPException) as error:
                raise TransportError(str(error)) from error
            if not piece:
                if self._body.length:
                    raise TransportError("the server closed the connection")
                self._body.close()  # the connection is free for the next request
                return
            yield piece

    def iter_lines(self) -> Iterator[str]:
        rest = b""
        for piece in self.iter_bytes():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield line.rstrip(b"\r").decode()
        if rest:
            yield rest.decode()


def create_ssl_context(verify: bool | str = True, trust_env: bool = False) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=verify if isinstance(verify, str) else None)
    if verify is False:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _is_over(connection: http.client.HTTPConnection) -> bool:
    """Closed by the server since the last answer; nothing else is to be read from it now."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])


class Client:
    def __init__(self, *, base_url: str, headers: Mapping[str, str], timeout: float, verify: bool | str = True,
                 transport: BaseTransport | None = None, trust_env: bool = False) -> None:
        if transport is not None:
            raise TypeError("transport= needs httpx to be installed")
        self._url, self._verify = urlsplit(base_url), verify
        self.headers, self.cookies, self.timeout = Headers(headers), Cookies(), Timeout(timeout)
        self._kept = threading.local()

    def _connection(self, timeout: Timeout) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=timeout.read, context=create_ssl_context(self._verify))
        return http.client.HTTPConnection(host, port, timeout=timeout.read)

    def _send(self, connection: http.client.HTTPConnection, method: str, path: str, params: Mapping[str, Any] | None,
              content: bytes | None, headers: Mapping[str, str] | None) -> http.client.HTTPResponse:
        sent = Headers({**self.headers, **(headers or {})})
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{c.name}={c.value}" for c in self.cookies.jar)
        target = self._url.path + path + ("?" + urlencode(params) if params else "")
        try:
            connection.request(method, target, body=content, headers=sent)
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise TransportError(str(error) or type(error).__name__) from error

    def _response(self, answer: http.client.HTTPResponse) -> Response:
        for line in answer.headers.get_all("Set-Cookie") or []:
            self.cookies.take(line)
        return Response(answer.status, headers=dict(answer.headers.items()), body=answer)

    def request(self, method: str, path: str, *, params: Mapping[str, Any] | None = None, json: Any = None,
                content: bytes | None = None, headers: Mapping[str, str] | None = None) -> Response:
        if json is not None:
            content, headers = _json.dumps(json).encode(), {**(headers or {}), "Content-Type": "application/json"}
        connection, self._kept.connection = getattr(self._kept, "connection", None), None
        if connection is None or _is_over(connection):
            connection = self._connection(self.timeout)
        answer = self._send(connection, method, path, params, content, headers)
        response = self._response(answer)
        response.read()
        self._kept.connection = connection
        return response

    @contextmanager
    def stream(self, method: str, path: str, *, params: Mapping[str, Any] | None = None,
               headers: Mapping[str, str] | None = None, timeout: Timeout | None = None) -> Iterator[Response]:
        connection = self._connection(timeout or self.timeout)
        try:
            yield self._response(self._send(connection, method, path, params, None, headers))
        finally:
            connection.close()

    def close(self) -> None:
        connection = getattr(self._kept, "connection", None)
        if connection is not None:
            connection.close()
            self._kept.connection = None
