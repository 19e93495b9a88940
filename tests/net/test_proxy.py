"""The proxy in front of nginx, of a WebSocket server and of upstreams that misbehave."""

import hashlib
import http.server
import shutil
import signal
import socket
import subprocess
import threading

import httpx
import pytest
import websockets.exceptions
from conftest import DEADLINE, Server, pattern, read_all, read_answer, wait_until
from websockets.sync.client import connect
from websockets.sync.server import serve

HOST = b"Host: test\r\n"

NGINX = """
user root; daemon off; worker_processes 1; pid {dir}/pid; error_log {dir}/error.log warn;
events {{ worker_connections 256; }}
http {{
  access_log {dir}/access.log; client_max_body_size 100m; keepalive_requests 100000;
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/f;
  uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
  server {{
    listen unix:{dir}/socket; listen 127.0.0.1:{port};
    location / {{ root {dir}/www; }}
    location /hello {{ return 200 "hello from nginx\\n"; }}
    location /echo-headers {{ return 200 "$request\\n$http_host|$http_x_forwarded_for|$http_x_forwarded_proto|$http_x_forwarded_host|$http_x_forwarded_prefix|$http_authorization|$http_cookie|$http_connection|$http_keep_alive|$http_x_hop|$http_x_kept\\n"; }}
    location /nocontent {{ return 204; }}
    location /close {{ keepalive_timeout 0; return 200 "closing\\n"; }}
  }}
}}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "www").mkdir()
    (folder / "www" / "big").write_bytes(pattern(20_000_000))
    folder.chmod(0o755)
    program = shutil.which("nginx") or "/usr/sbin/nginx"

    def attempt():  # a port that was free may be taken in between
        port = free_port()
        (folder / "conf").write_text(NGINX.format(dir=folder, port=port))
        p = subprocess.Popen([program, "-c", str(folder / "conf"), "-e", str(folder / "error.log")])

        def up():
            if p.poll() is not None:
                return "dead"
            try:
                socket.create_connection(("127.0.0.1", port), timeout=DEADLINE).close()
                return "up"
            except ConnectionRefusedError:
                return None

        return (p, port) if wait_until(up, "nginx") == "up" else None

    for _ in range(5):
        started = attempt()
        if started:
            break
    assert started, (folder / "error.log").read_text()
    process, port = started
    yield port, folder / "socket"
    process.send_signal(signal.SIGTERM)
    process.wait(DEADLINE)


@pytest.fixture(scope="module")
def front(tmp_path_factory, nginx):
    folder = tmp_path_factory.mktemp("front")
    # For this server "localhost" has addresses that nobody serves, as it has on many machines.
    (folder / "hosts").write_text("::1 localhost\n127.0.0.2 localhost\n127.0.0.1 localhost\n")
    prefix = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(folder / "hosts")]
    if subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        prefix = []  # not allowed here
    s = Server(folder, "--upstream", nginx[0], "--upstream-unix", nginx[1], prefix=prefix)
    yield s
    s.stop()


@pytest.fixture(params=["1.1", "2"])
def web(request, front):
    two = request.param == "2"
    with httpx.Client(base_url=front.url, http1=not two, http2=two, timeout=DEADLINE) as c:
        yield c


@pytest.mark.parametrize("how", ["tcp", "unix", "connect", "name", "pool"])
def test_hello(web, how):
    for _ in range(3):
        r = web.get(f"/p/{how}/hello")
        assert (r.status_code, r.text) == (200, "hello from nginx\n")
        assert "nginx" in r.headers["server"]


def test_connections_are_kept(start, nginx):
    s = start("--upstream", nginx[0], "--threads", 1)
    with httpx.Client(base_url=s.url, timeout=DEADLINE) as c:
        for _ in range(50):
            assert c.get("/p/tcp/hello").status_code == 200
    # Few sockets were needed: the proxy's own are closed only when it stops.
    assert len(list((s.descriptors()))) < 30


def test_headers(web):
    r = web.get(
        "/p/tcp/echo-headers?q=1",
        headers={"Authorization": "Bearer x", "Cookie": "a=1; secret=2; b=3", "X-Kept": "yes", "X-Forwarded-For": "6.6.6.6"})
    request, values = r.text.splitlines()
    host = f"{web.base_url.host}:{web.base_url.port}"
    assert request == "GET /echo-headers?q=1 HTTP/1.1"
    assert values == f"{host}|127.0.0.1|http|{host}|/p||a=1; b=3||||yes"


def test_hop_by_hop_headers_are_dropped(front):
    _, headers, body = front.answer(
        b"GET /p/name/echo-headers HTTP/1.1\r\n" + HOST + b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n\r\n")
    assert body.decode().splitlines()[1] == "given.example|127.0.0.1|http|test|/p||||||"
    assert "keep-alive" not in headers


def test_big_answer(web):
    assert web.get("/p/tcp/big").content == pattern(20_000_000)


def test_range_head_and_conditional(web):
    r = web.get("/p/tcp/big", headers={"Range": "bytes=100-199"})
    assert r.status_code == 206 and r.content == pattern(200)[100:]
    r = web.head("/p/tcp/big")
    assert r.headers["content-length"] == "20000000" and r.content == b""
    assert web.get("/p/tcp/big", headers={"If-None-Match": r.headers["etag"]}).status_code == 304
    assert web.get("/p/tcp/nocontent").status_code == 204
    assert web.get("/p/tcp/close").text == "closing\n"
    assert web.get("/p/tcp/missing").status_code == 404


def test_unreachable(web):
    for how in ("nowhere", "noname"):
        r = web.get(f"/p/{how}/")
        assert r.status_code == 502 and r.json()["status"] == 502
    r = web.post("/p/nowhere/", content=b"x" * 1000)
    assert r.status_code == 502


# --- our own test server as the upstream: bodies ---


@pytest.fixture(scope="module")
def twice(tmp_path_factory, server):
    s = Server(tmp_path_factory.mktemp("twice"), "--upstream", server.port)
    yield s
    s.stop()


@pytest.fixture(params=["1.1", "2"])
def relay(request, twice):
    two = request.param == "2"
    with httpx.Client(base_url=twice.url, http1=not two, http2=two, timeout=DEADLINE) as c:
        yield c


def test_bodies(relay):
    for body in [b"", b"x", b"y" * 70000, b"z" * (1 << 20)]:
        assert relay.post("/p/tcp/echo", content=body).content == body
        assert relay.post("/p/tcp/echo", content=iter([body[:10], body[10:]])).content == body


@pytest.mark.parametrize("slow", [0, 1])
def test_upload(relay, slow):
    body = pattern(8_000_000)
    want = f"8000000 {hashlib.sha256(body).hexdigest()}\n"
    assert relay.post(f"/p/tcp/upload?slow={slow}", content=body).text == want
    pieces = (body[i : i + 100000] for i in range(0, len(body), 100000))
    assert relay.post(f"/p/tcp/upload?slow={slow}", content=pieces).text == want


@pytest.mark.parametrize("n", [0, 1, 100000, 10_000_000])
def test_streams(relay, n):
    assert relay.get(f"/p/tcp/stream?n={n}").content == pattern(n)


def test_slow_reader_holds_the_upstream_back(twice):
    with twice.connect() as s:
        s.sendall(b"GET /p/tcp/stream?n=50000000 HTTP/1.1\r\n" + HOST + b"\r\n")
        assert twice.answer(b"GET /p/tcp/hello HTTP/1.1\r\n" + HOST + b"\r\n")[2] == b"hello\n"
        assert twice.memory_mb() < 600  # under a sanitizer; without back-pressure it would hold it all
        assert read_answer(s.makefile("rb"))[2] == pattern(50_000_000)


def test_client_leaves(twice, server):
    with twice.connect() as s:
        f = s.makefile("rb")
        s.sendall(b"GET /p/tcp/sse HTTP/1.1\r\n" + HOST + b"\r\n")
        while f.readline() != b"data: first\n":
            pass
        f.close()
    wait_until(lambda: server.answer(b"GET /sse-open HTTP/1.1\r\n" + HOST + b"\r\n")[2] == b"0\n", "the stream's end")


def test_pipelined_through(twice):
    with twice.connect() as s:
        f = s.makefile("rb")
        s.sendall(b"GET /p/tcp/hello HTTP/1.1\r\n" + HOST + b"\r\n" + b"GET /hello HTTP/1.1\r\n" + HOST + b"\r\n"
                  + b"POST /p/tcp/echo HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\nabc")
        assert [read_answer(f)[2] for _ in range(3)] == [b"hello\n", b"hello\n", b"abc"]


# --- upstreams that misbehave ---


class Scripted:
    """Answers each connection with the next of the given byte strings, then closes; None: closes at once."""

    def __init__(self, answers, keep=False):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.requests = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(answers, keep), daemon=True)
        self.thread.start()

    def run(self, answers, keep):
        for answer in answers:
            c, _ = self.listener.accept()
            c.settimeout(DEADLINE)
            request = b""
            while b"\r\n\r\n" not in request:
                piece = c.recv(65536)
                if not piece:
                    break
                request += piece
            self.requests.append(request)
            if answer is not None:
                c.sendall(answer)
            if keep:
                self.stop.wait(DEADLINE)
            c.close()
        self.listener.close()

    def finish(self):
        self.stop.set()
        self.thread.join(DEADLINE)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    "answer, status, body",
    [
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, b"until the end"),
        (b"HTTP/1.0 200 OK\r\n\r\nold", 200, b"old"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, 200, b"ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nTrailer: x\r\n\r\n", 200, b"ab"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, b""),
        (OK + b"too much", 200, b"ok"),
        (None, 502, None),
        (b"", 502, None),
        (b"garbage\r\n\r\n", 502, None),
        (b"HTTP/1.1 200 OK\r\nContent-Len", 502, None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 502, None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", 502, None),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", 502, None),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n", 502, None),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100000 + b"\r\n\r\n", 502, None),
    ],
)
def test_answers(start, answer, status, body):
    up = Scripted([answer])
    s = start("--upstream", up.port)
    got, _, text = s.answer(b"GET /p/tcp/ HTTP/1.1\r\n" + HOST + b"\r\n")
    assert got == status and (body is None or text == body)
    up.finish()


@pytest.mark.parametrize("end", [b"Content-Length: 4\r\n\r\nbody", b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"])
def test_what_comes_in_one_piece_goes_on_in_one_piece(start, end):
    up = Scripted([b"HTTP/1.1 200 OK\r\n" + end] * 20)
    s = start("--upstream", up.port)
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", s.port), DEADLINE) as c:
            c.sendall(b"GET /p/tcp/ HTTP/1.1\r\n" + HOST + b"\r\n")
            piece = c.recv(65536)
            assert piece.startswith(b"HTTP/1.1 200 OK\r\n") and piece.endswith(end.partition(b"\r\n\r\n")[2])
    up.finish()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshortX",
    ],
)
def test_cut_answers_are_not_made_whole(start, answer):
    up = Scripted([answer])
    s = start("--upstream", up.port)
    got = s.raw(b"GET /p/tcp/ HTTP/1.1\r\n" + HOST + b"\r\n")
    assert not got.endswith(b"0\r\n\r\n") and b"Content-Length: 5\r\n" not in got
    up.finish()


def test_silent_upstream(start):
    up = Scripted([b""], keep=True)
    s = start("--upstream", up.port, "--body_timeout_ms", 50)
    assert s.answer(b"GET /p/tcp/ HTTP/1.1\r\n" + HOST + b"\r\n")[0] == 504
    up.finish()


@pytest.mark.parametrize("method, status", [(b"GET", 200), (b"POST", 502)])
def test_stale_connection(start, method, status):
    """The upstream closes a kept connection at the very moment it is used again."""
    listener = socket.create_server(("127.0.0.1", 0))
    s = start("--upstream", listener.getsockname()[1], "--threads", 1)
    request = method + b" /p/tcp/ HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\n\r\n"
    with s.connect() as c:
        f = c.makefile("rb")
        c.sendall(request)
        first, _ = listener.accept()
        first.settimeout(DEADLINE)
        assert first.recv(65536)
        first.sendall(OK)
        assert read_answer(f)[2] == b"ok"
        c.sendall(request)
        assert first.recv(65536)  # it came on the kept connection,
        first.close()  # which ends without an answer
        if status == 200:
            second, _ = listener.accept()
            second.settimeout(DEADLINE)
            assert second.recv(65536)
            second.sendall(OK)
            assert read_answer(f)[2] == b"ok"
            second.close()
        else:
            assert read_answer(f)[0] == 502
    listener.close()


# --- WebSocket ---


@pytest.fixture(scope="module")
def echo_port():
    def echo(ws):
        for message in ws:
            ws.send(message)

    with serve(echo, "127.0.0.1", 0, compression=None, ping_interval=None, max_size=None) as s:
        thread = threading.Thread(target=s.serve_forever, daemon=True)
        thread.start()
        yield s.socket.getsockname()[1]
        s.shutdown()
        thread.join(DEADLINE)


@pytest.mark.parametrize("how", ["tcp", "connect", "pool"])
def test_websocket(start, echo_port, how):
    s = start("--upstream", echo_port)
    with connect(f"ws://{s.host}/p/{how}/", compression=None, open_timeout=DEADLINE, ping_interval=None, max_size=None) as ws:
        for message in ["hello", b"\0" * 100000, "中", b"x" * 3_000_000]:
            ws.send(message)
            assert ws.recv(timeout=DEADLINE) == message
        assert ws.ping().wait(DEADLINE)


def test_websocket_ends_with_the_server(start, echo_port):
    s = start("--upstream", echo_port, "--stop-ms", 60000)
    with connect(f"ws://{s.host}/p/tcp/", open_timeout=DEADLINE, ping_interval=None) as ws:
        ws.send("x")
        assert ws.recv(timeout=DEADLINE) == "x"
        s.term()
        with pytest.raises(websockets.exceptions.ConnectionClosed):
            ws.recv(timeout=DEADLINE)
    s.wait()


def test_websocket_refused_by_the_upstream(front):
    with pytest.raises(websockets.exceptions.InvalidStatus) as e:
        connect(f"ws://{front.host}/p/tcp/hello", open_timeout=DEADLINE)
    assert e.value.response.status_code == 200


def test_stop_lets_a_proxied_request_finish(start):
    up = Scripted([b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha"], keep=True)
    s = start("--upstream", up.port, "--stop-ms", 60000)
    with s.connect() as c:
        c.sendall(b"GET /p/tcp/ HTTP/1.1\r\n" + HOST + b"\r\n")
        assert c.recv(1) == b"H"
        s.term()
        up.finish()  # the upstream breaks off
        assert read_all(c).endswith(b"ha")
    s.wait()


def test_plain_http_server_of_python(start, tmp_path):
    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __init__(self, *args):
            super().__init__(*args, directory=str(tmp_path))

        def log_message(self, *args):
            pass

    (tmp_path / "x").write_bytes(pattern(1_000_000))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as up:
        up.daemon_threads = True
        thread = threading.Thread(target=up.serve_forever, daemon=True)
        thread.start()
        s = start("--upstream", up.server_address[1])
        with httpx.Client(base_url=s.url, timeout=DEADLINE) as c:
            for _ in range(5):
                assert c.get("/p/tcp/x").content == pattern(1_000_000)
        s.stop()
        up.shutdown()
        thread.join(DEADLINE)
