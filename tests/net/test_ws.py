"""WebSocket with a real client, and with frames made by hand."""

import contextlib
import struct

import pytest
import websockets.exceptions
from conftest import read_all, read_answer, wait_until
from websockets.sync.client import connect

KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
UPGRADE = b"Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
VERSION = b"Sec-WebSocket-Version: 13\r\n"


def open_ws(server, path="/ws", **options):
    return connect(f"ws://{server.host}{path}", compression=None, open_timeout=120, close_timeout=120,
                   ping_interval=None, max_size=None, **options)


def test_echo(server):
    with open_ws(server) as ws:
        for message in ["hello", "zwölf Boxkämpfer 中文", b"\0\xff", "", b"", "x" * 125, "x" * 126, "y" * 65535,
                        b"z" * 65536, b"w" * (1 << 20)]:
            ws.send(message)
            assert ws.recv(timeout=120) == message


def test_fragments(server):
    with open_ws(server) as ws:
        ws.send(["a", "b" * 1000, "", "中"])
        assert ws.recv(timeout=120) == "a" + "b" * 1000 + "中"


def test_ping(server):
    with open_ws(server) as ws:
        assert ws.ping(b"are you there").wait(120)


def test_subprotocol(server):
    with open_ws(server, subprotocols=["chat", "other"]) as ws:
        assert ws.subprotocol == "chat"


def test_many_messages_in_flight(server):
    with open_ws(server) as ws:
        for i in range(2000):
            ws.send(str(i))
        for i in range(2000):
            assert ws.recv(timeout=120) == str(i)


def test_burst_from_other_threads(server):
    with open_ws(server, "/ws-burst?n=20000") as ws:
        ws.send("go")
        got = list(ws)
        assert got == [f"message {i}" for i in range(20000)]
        assert ws.protocol.close_code == 1000


def test_server_closes(server):
    with open_ws(server) as ws:
        ws.send("close 4001")
        with pytest.raises(websockets.exceptions.ConnectionClosed) as e:
            ws.recv(timeout=120)
        assert (e.value.rcvd.code, e.value.rcvd.reason) == (4001, "as you wish")


def test_client_closes(server):
    with open_ws(server) as ws:
        ws.close(4567, "bye")
    wait_until(lambda: "ws closed 4567" in server.errors.read_text(), "the close code")
    wait_until(lambda: server.raw(b"GET /ws-open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
               .endswith(b"\r\n0\n"), "no open socket")


def test_client_vanishes(server):
    with open_ws(server) as ws:
        ws.socket.close()
    wait_until(lambda: "ws closed 1006" in server.errors.read_text(), "code 1006")


def test_stop_closes_sockets(start):
    s = start("--stop-ms", 60000)
    with open_ws(s) as ws:
        ws.send("x")
        ws.recv(timeout=120)
        s.term()
        with pytest.raises(websockets.exceptions.ConnectionClosed) as e:
            ws.recv(timeout=120)
        assert e.value.rcvd.code == 1001
    s.wait()


# --- the handshake ---

GOOD = b"GET /ws HTTP/1.1\r\nHost: a\r\n" + UPGRADE + KEY + VERSION + b"\r\n"


@pytest.mark.parametrize(
    "request_bytes, status",
    [
        (GOOD.replace(UPGRADE, b""), 426),
        (GOOD.replace(VERSION, b""), 426),
        (GOOD.replace(b"Version: 13", b"Version: 8"), 426),
        (GOOD.replace(KEY, b""), 400),
        (GOOD.replace(b"jZQ==", b"jZQ="), 400),
        (GOOD.replace(b"Upgrade: websocket", b"Upgrade: h2c"), 426),
        (GOOD.replace(b"GET", b"POST"), 426),
    ],
)
def test_bad_handshake(server, request_bytes, status):
    got, headers, _ = server.answer(request_bytes)
    assert got == status and headers["content-type"] == "application/problem+json"


def test_accept_header(server):
    status, headers, _ = server.answer(GOOD)
    assert status == 101 and headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


# --- frames made by hand ---


def frame(opcode, payload=b"", final=True, masked=True, reserved=0, length=None):
    n = len(payload) if length is None else length
    head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    mark = 0x80 if masked else 0
    if n < 126:
        head += bytes([mark | n])
    elif n < 65536:
        head += bytes([mark | 126]) + struct.pack(">H", n)
    else:
        head += bytes([mark | 127]) + struct.pack(">Q", n)
    mask = b"\1\2\3\4" if masked else b""
    return head + mask + bytes(b ^ mask[i % 4] if masked else b for i, b in enumerate(payload))


@contextlib.contextmanager
def raw_ws(server, path=b"/ws"):
    with server.connect() as s:
        s.sendall(GOOD.replace(b"/ws", path, 1))
        f = s.makefile("rb")
        assert read_answer(f)[0] == 101
        yield s, f


@pytest.mark.parametrize(
    "data, code",
    [
        (frame(1, b"x", masked=False), 1002),
        (frame(1, b"x", reserved=4), 1002),
        (frame(3, b"x"), 1002),
        (frame(11, b"x"), 1002),
        (frame(0, b"x"), 1002),
        (frame(1, b"x", final=False) + frame(1, b"y"), 1002),
        (frame(9, b"x", final=False), 1002),
        (frame(9, b"x" * 126), 1002),
        (b"\x81\xfe\x00\x05\1\2\3\4hello", 1002),
        (b"\x81\xff" + b"\xff" * 8 + b"\1\2\3\4", 1002),
        (frame(1, b"\xff\xfe"), 1007),
        (frame(1, b"\xe4\xb8", final=False) + frame(0, b"x"), 1007),
        (frame(2, b"", length=(1 << 20) + 1), 1009),
        (frame(2, b"x" * 60000, final=False) + frame(0, b"", length=1 << 20), 1009),
        (frame(8, b"\x03"), 1002),
        (frame(8, struct.pack(">H", 1005)), 1002),
        (frame(8, struct.pack(">H", 999)), 1002),
        (frame(8, struct.pack(">H", 1000) + b"\xff"), 1002),
        (frame(8, struct.pack(">H", 1000) + b"bye"), 1000),
        (frame(8, struct.pack(">H", 3000)), 3000),
    ],
)
def test_violations_are_answered_with_a_code(server, data, code):
    with raw_ws(server) as (s, _):
        s.sendall(data)
        answer = read_all(s)
        assert answer[0] == 0x88 and struct.unpack(">H", answer[2:4])[0] == code


def test_close_without_code(server):
    with raw_ws(server) as (s, _):
        s.sendall(frame(8))
        assert read_all(s) == b"\x88\x00"


def test_control_between_fragments(server):
    with raw_ws(server) as (s, f):
        s.sendall(frame(1, "中".encode()[:1], final=False) + frame(9, b"p") + frame(0, "中".encode()[1:]))
        assert f.read(3) == b"\x8a\x01p"
        assert f.read(5) == b"\x81\x03" + "中".encode()


def test_byte_by_byte(server):
    with raw_ws(server) as (s, f):
        for byte in frame(2, b"y" * 200):
            s.sendall(bytes([byte]))
        assert f.read(204) == b"\x82\x7e\x00\xc8" + b"y" * 200


def test_frames_right_behind_the_handshake(server):
    with server.connect() as s:
        s.sendall(GOOD + frame(1, b"early"))
        f = s.makefile("rb")
        assert read_answer(f)[0] == 101
        assert f.read(7) == b"\x81\x05early"
