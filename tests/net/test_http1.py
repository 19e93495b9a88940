"""HTTP/1.1: every way to answer, bodies, keep-alive, limits, time-outs and stopping."""

import contextlib
import hashlib
import json
import select
import signal
import socket

import pytest
from conftest import pattern, read_all, read_answer, wait_until

HOST = b"Host: test\r\n"


def get(path, extra=b""):
    return b"GET " + path + b" HTTP/1.1\r\n" + HOST + extra + b"\r\n"


def post(path, body, extra=b""):
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n" % len(body) + extra + b"\r\n" + body


def test_hello(server):
    status, headers, body = server.answer(get(b"/hello"))
    assert (status, body) == (200, b"hello\n")
    assert headers["content-length"] == "6" and headers["date"].endswith(" GMT")


def test_request_as_seen(server):
    _, _, body = server.answer(get(b"/show?a=1&b=%20?", b"X-Thing:  two words \r\nEmpty:\r\n"))
    lines = body.decode().splitlines()
    assert lines[0] == "GET path=/show query=a=1&b=%20? host=test version=11 length=0 tls=0 peer=127.0.0.1"
    assert lines[1:] == ["host: test", "x-thing: two words", "empty: "]


def test_absolute_form(server):
    _, _, body = server.answer(get(b"http://other/show?x"))
    assert body.decode().startswith("GET path=/show query=x host=test ")


def test_options_asterisk(server):
    status, headers, _ = server.answer(b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n")
    assert status == 204 and "GET" in headers["allow"]


@pytest.mark.parametrize("path", [b"/hello", b"/large?n=300000", b"/file", b"/stream?n=5000", b"/fixed"])
def test_head_has_no_body(server, path):
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(get(path).replace(b"GET", b"HEAD", 1) + get(b"/hello"))
        status, headers, _ = read_answer(f, head=True)
        assert status == 200
        assert "content-length" in headers or headers["transfer-encoding"] == "chunked"
        assert read_answer(f)[2] == b"hello\n"


@pytest.mark.parametrize("status", [204, 304])
def test_status_without_body(server, status):
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(get(b"/status?s=%d" % status) + get(b"/hello"))
        assert read_answer(f)[0] == status
        assert read_answer(f)[2] == b"hello\n"


def test_header_injection_is_defused(server):
    _, headers, _ = server.answer(get(b"/split"))
    assert "x-injected" not in headers and headers["x-evil"] == "a  X-Injected: 1"


@pytest.mark.parametrize("path", [b"/large", b"/pool-large", b"/stream"])
@pytest.mark.parametrize("n", [0, 1, 16384, 16385, 65536, 3000000])
def test_sizes(server, path, n):
    status, _, body = server.answer(get(path + b"?n=%d" % n))
    assert status == 200 and body == pattern(n)


@pytest.mark.parametrize("path", [b"/file", b"/pool-file"])
def test_file(server, data_file, path):
    data = data_file.read_bytes()
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(get(path) + get(path + b"?from=1000&n=70000") + get(path + b"?n=0") + get(b"/hello"))
        assert read_answer(f)[2] == data
        assert read_answer(f)[2] == data[1000:71000]
        assert read_answer(f)[2] == b""
        assert read_answer(f)[2] == b"hello\n"


def test_file_shorter_than_promised_ends_the_connection(server):
    answer = server.raw(get(b"/file?from=0&n=99999999"))
    assert b"Content-Length: 99999999" in answer and len(answer) < 99999999


def test_pipelining_keeps_the_order(server):
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(get(b"/pool") + get(b"/hello") + post(b"/echo", b"abc") + get(b"/stream?n=10") + get(b"/hello"))
        assert [read_answer(f)[2] for _ in range(5)] == [
            b"from a pool thread\n", b"hello\n", b"abc", pattern(10), b"hello\n"]


def test_many_pipelined(server):
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(get(b"/hello") * 2000)
        for _ in range(2000):
            assert read_answer(f)[2] == b"hello\n"


def test_byte_by_byte(server):
    with server.connect() as s:
        for byte in post(b"/echo", b"slow", b"X-A: b\r\n"):
            s.sendall(bytes([byte]))
        assert read_answer(s.makefile("rb"))[2] == b"slow"


def test_connection_close(server):
    answer = server.raw(get(b"/hello", b"Connection: close\r\n"))
    assert b"Connection: close\r\n" in answer and answer.endswith(b"hello\n")


def test_http10(server):
    answer = server.raw(b"GET /hello HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200") and b"Connection: close" in answer
    answer = server.raw(b"GET /stream?n=100 HTTP/1.0\r\n\r\n")
    assert b"chunked" not in answer and answer.endswith(b"\r\n\r\n" + pattern(100))
    with server.connect() as s:
        s.sendall(b"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" * 2)
        f = s.makefile("rb")
        assert read_answer(f)[1]["connection"] == "keep-alive"
        assert read_answer(f)[2] == b"hello\n"


def test_half_closed_client_gets_its_answer(server):
    for path, want in [(b"/hello", b"hello\n"), (b"/large?n=2000000", pattern(2000000)), (b"/pool", b"thread\n")]:
        with server.connect() as s:
            s.sendall(get(path))
            s.shutdown(socket.SHUT_WR)
            assert read_all(s).endswith(want)


# --- bodies ---


@pytest.mark.parametrize("path", [b"/echo", b"/pool-echo"])
def test_echo(server, path):
    for body in [b"", b"x", b"y" * 70000, b"z" * (1 << 20)]:
        assert server.answer(post(path, body))[2] == body


def chunked(body, size):
    out = b""
    for i in range(0, len(body), size):
        piece = body[i : i + size]
        out += b"%x;name=value\r\n" % len(piece) + piece + b"\r\n"
    return out + b"0\r\nTrailer: x\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 4096, 100000])
def test_chunked_body(server, size):
    body = pattern(min(200000, size * 1000))
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(b"POST /echo HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, size))
        s.sendall(get(b"/hello"))
        status, _, got = read_answer(f)
        if size == 1:  # 1,000 extensions are over the limit
            assert status in (200, 431)
            return
        assert got == body
        assert read_answer(f)[2] == b"hello\n"


@pytest.mark.parametrize("slow", [0, 1])
def test_streamed_upload(server, slow):
    body = pattern(5000000)
    status, _, text = server.answer(post(b"/upload?slow=%d" % slow, body))
    assert status == 200 and text.split() == [b"5000000", hashlib.sha256(body).hexdigest().encode()]


def test_upload_that_breaks_off(server):
    with server.connect() as s:
        s.sendall(post(b"/upload", b"x" * 1000).replace(b"Content-Length: 1000", b"Content-Length: 9000"))
    assert server.answer(get(b"/hello"))[0] == 200
    wait_until(lambda: "POST /upload 1.1 499" in server.log.read_text(), "the log line")


def test_body_over_the_limit(server):
    for request in [
        post(b"/echo", b"x" * (2 << 20)),
        b"POST /echo HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(b"x" * (2 << 20), 65536),
    ]:
        status, headers, body = server.answer(request)
        assert status == 413 and headers["connection"] == "close"
        assert json.loads(body)["detail"] == "the request body is too large"


def test_early_answer_is_seen(server):
    with server.connect() as s:
        body = b"x" * 20000000
        s.sendall(b"POST /refuse HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body))
        s.sendall(body)
        status, headers, text = read_answer(s.makefile("rb"))
        assert (status, text, headers["connection"]) == (403, b"not for you\n", "close")


def test_early_answer_with_small_body_keeps_the_connection(server):
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(post(b"/refuse", b"x" * 1000)[:-500])
        assert read_answer(f)[0] == 403
        s.sendall(b"x" * 500 + get(b"/hello"))
        assert read_answer(f)[2] == b"hello\n"


def test_expect_continue(server):
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(post(b"/echo", b"abc", b"Expect: 100-continue\r\n")[:-3])
        assert read_answer(f)[0] == 100
        s.sendall(b"abc")
        assert read_answer(f)[2] == b"abc"
        s.sendall(post(b"/refuse", b"abc", b"Expect: 100-continue\r\n")[:-3])
        status, headers, _ = read_answer(f)
        assert status == 403 and headers["connection"] == "close"


# --- streams ---


def test_stream_is_closed_when_the_client_leaves(server):
    with server.connect() as s:
        f = s.makefile("rb")
        s.sendall(get(b"/sse"))
        while f.readline() != b"data: first\n":
            pass
        assert server.answer(get(b"/sse-open"))[2] == b"1\n"
        f.close()
    wait_until(lambda: server.answer(get(b"/sse-open"))[2] == b"0\n", "the stream's end")


def test_slow_reader_does_not_stop_others(server):
    with server.connect() as s:
        s.sendall(get(b"/stream?n=30000000"))
        assert server.answer(get(b"/hello"))[0] == 200
        assert read_answer(s.makefile("rb"))[2] == pattern(30000000)


# --- limits and time-outs ---


def test_limits(start):
    s = start("--max_header", 2000, "--max_headers", 10, "--max_target", 200)
    assert s.answer(get(b"/hello?" + b"x" * 100))[0] == 200
    assert s.answer(get(b"/hello?" + b"x" * 300))[0] == 414
    assert s.answer(get(b"/hello", b"X: " + b"y" * 3000 + b"\r\n"))[0] == 431
    assert s.answer(get(b"/hello", b"X: y\r\n" * 9))[0] == 200
    assert s.answer(get(b"/hello", b"X: y\r\n" * 10))[0] == 431
    assert s.answer(b"\r\n" * 2000)[0] == 431


def test_connection_limit(start):
    s = start("--max_connections", 3)
    with s.connect() as a, s.connect() as b, s.connect() as c:
        for one in (a, b, c):
            one.sendall(get(b"/hello"))
            assert read_answer(one.makefile("rb"))[0] == 200
        with s.connect() as d:
            status, _, body = read_answer(d.makefile("rb"))
            assert status == 503 and json.loads(body)["detail"] == "too many connections"
    wait_until(lambda: s.raw(get(b"/hello", b"Connection: close\r\n")).startswith(b"HTTP/1.1 200"), "room")


def test_header_time_out(start):
    s = start("--header_timeout_ms", 500)
    assert s.raw(b"") == b""  # nothing sent: closed without a word
    wait_until(lambda: s.raw(b"GET /hello HT").startswith(b"HTTP/1.1 408 "), "408")


def test_header_that_drips(start):
    """The time is that of the whole header: a byte now and then does not make it longer."""
    s = start("--header_timeout_ms", 500)
    with s.connect() as c:
        c.sendall(b"GET /hello HTTP/1.1\r\nHost: a\r\nX: ")

        def dripped():
            try:
                c.sendall(b"y")
            except OSError:
                return True
            return bool(select.select([c], [], [], 0)[0])
        wait_until(dripped, "the end of the server's patience")
        assert read_all(c).startswith(b"HTTP/1.1 408 ")


def test_idle_time_out(start):
    s = start("--idle_timeout_ms", 300)
    assert s.raw(get(b"/hello")).endswith(b"hello\n")


@pytest.mark.parametrize("path", [b"/echo", b"/upload", b"/upload?slow=1"])
def test_body_time_out(start, path):
    s = start("--body_timeout_ms", 300)
    assert s.raw(post(path, b"x" * 10)[:-5]).startswith(b"HTTP/1.1 408 ")


def test_client_that_reads_nothing_is_dropped(start):
    s = start("--write_timeout_ms", 300)
    with s.connect() as c:
        c.sendall(get(b"/large?n=80000000"))
        wait_until(lambda: "GET /large" in s.log.read_text(), "the answer's end in the log")


# --- log and stopping ---


def test_access_log(start):
    s = start()
    s.answer(get(b"/show?secret=1"))
    s.answer(get(b"/pool"))
    s.answer(b"BAD\r\n\r\n")
    s.answer(get(b"/no%20such"))
    wait_until(lambda: s.log.read_text().count("\n") == 4, "four lines")
    lines = [line.split(" ") for line in s.log.read_text().splitlines()]
    assert all(len(line) == 10 for line in lines)
    assert sorted(line[1:7] for line in lines) == sorted([
        ["127.0.0.1", "tester", "GET", "/show", "1.1", "200"],
        ["127.0.0.1", "pooled", "GET", "/pool", "1.1", "200"],
        ["127.0.0.1", "-", "-", "-", "1.1", "501"],
        ["127.0.0.1", "-", "GET", "/no%20such", "1.1", "404"],
    ])


def test_graceful_stop(start):
    s = start("--stop-ms", 60000)
    with s.connect() as idle, s.connect() as busy, s.connect() as sse:
        idle.sendall(get(b"/hello"))
        assert read_answer(idle.makefile("rb"))[0] == 200
        sse.sendall(get(b"/sse"))
        assert sse.recv(1)
        busy.sendall(get(b"/large?n=30000000"))
        assert busy.recv(1) == b"H"
        s.term()
        assert read_all(idle) == b""
        read_all(sse)
        answer = b"H" + read_all(busy)
        assert answer.endswith(pattern(30000000)[-1000:])
        s.wait()
    with pytest.raises(ConnectionRefusedError):
        s.connect()


@pytest.mark.parametrize("threads", [1, 2])
def test_requests_that_were_sent_before_the_stop_are_answered(start, threads):
    """Whether their connection was accepted by then or not: a stopped process finds all of it at once."""
    s = start("--stop-ms", 60000, "--threads", threads)
    with contextlib.ExitStack() as stack:
        kept, silent = (stack.enter_context(s.connect()) for _ in range(2))
        kept.sendall(get(b"/hello"))
        answers = kept.makefile("rb")
        assert read_answer(answers)[0] == 200
        s.process.send_signal(signal.SIGSTOP)
        kept.sendall(get(b"/hello"))
        clients = [stack.enter_context(s.connect()) for _ in range(100)]
        for c in clients:
            c.sendall(get(b"/hello"))
        s.term()
        s.process.send_signal(signal.SIGCONT)
        assert read_answer(answers)[2] == b"hello\n"
        for c in clients:
            assert read_answer(c.makefile("rb"))[2] == b"hello\n"
        assert read_all(silent) == b""
        s.wait()


def test_stop_waits_for_the_handler(start):
    s = start("--stop-ms", 60000, "--threads", 1)
    with s.connect() as waiting, s.connect() as other:
        other.sendall(get(b"/hello"))
        f = other.makefile("rb")
        assert read_answer(f)[0] == 200
        waiting.sendall(post(b"/upload?slow=1", b"x" * 100000)[:-10])
        wait_until(lambda: s.answer(get(b"/hello"))[0] == 200)
        s.term()
        assert read_all(other) == b""
        waiting.sendall(b"x" * 10)
        assert read_answer(waiting.makefile("rb"))[0] == 200
        s.wait()


def test_stop_ends_what_takes_too_long(start):
    s = start("--stop-ms", 50)
    with s.connect() as c:
        c.sendall(post(b"/upload", b"x" * 10)[:-5])
        wait_until(lambda: s.answer(get(b"/hello"))[0] == 200)
        s.term()
        s.wait()


def test_port_in_use(start, tmp_path):
    s = start()
    with pytest.raises(AssertionError, match="in use"):
        start("--listen", s.host)


def test_reset_storm(server):
    for i in range(50):
        with server.connect() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.sendall(get(b"/pool") + get(b"/large?n=1000000") + post(b"/upload?slow=1", b"x" * 100000)[: -i or None])
    assert server.answer(get(b"/hello"))[0] == 200
