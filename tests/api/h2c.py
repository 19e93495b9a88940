"""HTTP/2 by hand, with windows that open when the test says so."""

import socket

import h2.config
import h2.connection
import h2.settings
import httpx
from harness import DEADLINE


class H2:
    """One connection whose streams begin with a window of nothing."""

    def __init__(self, url: str) -> None:
        at = httpx.URL(url)
        self.authority = at.netloc.decode()
        self.socket = socket.create_connection((at.host, at.port), timeout=DEADLINE)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
        self.flush()

    def flush(self) -> None:
        self.socket.sendall(self.h2.data_to_send())

    def get(self, path: str, token: str | None = None) -> int:
        """The new stream."""
        stream = self.h2.get_next_available_stream_id()
        fields = [(":method", "GET"), (":scheme", "http"), (":authority", self.authority), (":path", path)]
        self.h2.send_headers(stream, fields + ([("authorization", f"Bearer {token}")] if token else []), end_stream=True)
        self.flush()
        return stream

    def window(self, stream: int, n: int) -> None:
        self.h2.increment_flow_control_window(n, stream)
        self.flush()

    def receive(self, kind, n: int = 1) -> list:
        """The next events, at least n of that kind."""
        seen = []
        while sum(isinstance(e, kind) for e in seen) < n:
            data = self.socket.recv(1 << 16)
            assert data, "the server has closed the connection"
            seen += self.h2.receive_data(data)
            self.flush()
        return [e for e in seen if isinstance(e, kind)]

    def close(self) -> None:
        self.socket.close()
