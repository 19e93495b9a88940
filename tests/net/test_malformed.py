"""Requests that must be refused before any handler sees them, each with the status and the connection's end."""

import json

import pytest

A = b"GET /show HTTP/1.1\r\nHost: a\r\n"
P = b"POST /show HTTP/1.1\r\nHost: a\r\n"
C = P + b"Transfer-Encoding: chunked\r\n\r\n"
E = b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

CASES = {
    # the request line
    "version 0.9": (b"GET /show\r\n\r\n", 400),
    "no version but headers": (b"GET /show\r\nHost: a\r\n\r\n", 400),
    "version 2.0": (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    "version 1.2": (b"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505),
    "version in lower case": (b"GET / http/1.1\r\nHost: a\r\n\r\n", 400),
    "another protocol": (b"GET / RTSP/1.0\r\nHost: a\r\n\r\n", 400),
    "bare LF after the line": (b"GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
    "method in lower case": (b"get / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    "unknown method": (b"FETCH / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    "known, not implemented": (b"PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    "TRACE": (b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
    "CONNECT": (b"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", 501),
    "tab instead of blank": (b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "TLS hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    "NUL first": (b"\0GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "late HTTP/2 preface": (A + b"\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    # the target
    "relative target": (b"GET show HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "asterisk with GET": (b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "fragment": (b"GET /show#x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "blank in the target": (b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "NUL in the target": (b"GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "control character in the target": (b"GET /a\x01b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "non-ASCII target": (b"GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "DEL in the target": (b"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "other scheme": (b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "target too long": (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    # Host
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (A + b"Host: a\r\n\r\n", 400),
    "two Hosts in 1.0": (b"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    "empty Host": (b"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
    "Host with path": (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    "Host with user": (b"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    "two names in one Host": (b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    # header lines
    "blank before the colon": (A + b"X : y\r\n\r\n", 400),
    "blank before the name": (b"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
    "folded line": (A + b"X: a\r\n b\r\n\r\n", 400),
    "folded with a tab": (A + b"X: a\r\n\tb\r\n\r\n", 400),
    "no colon": (A + b"X\r\n\r\n", 400),
    "empty name": (A + b": x\r\n\r\n", 400),
    "bracket in the name": (A + b"X(: y\r\n\r\n", 400),
    "non-ASCII name": (A + b"\xc3\xa4: y\r\n\r\n", 400),
    "NUL in a value": (A + b"X: a\0b\r\n\r\n", 400),
    "control character in a value": (A + b"X: a\x01b\r\n\r\n", 400),
    "value that is not UTF-8": (A + b"X: \xff\r\n\r\n", 400),
    "bare LF after a value": (A + b"X: y\nZ: 1\r\n\r\n", 400),
    "bare CR in a value": (A + b"X: y\rZ: 1\r\n\r\n", 400),
    "header too large": (A + b"X: " + b"y" * 40000 + b"\r\n\r\n", 431),
    "too many headers": (A + b"X: y\r\n" * 101 + b"\r\n", 431),
    "unknown expectation": (P + b"Content-Length: 1\r\nExpect: tea\r\n\r\nx", 417),
    # the body's length
    "two lengths": (P + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
    "two different lengths": (P + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy", 400),
    "list of lengths": (P + b"Content-Length: 1, 1\r\n\r\nx", 400),
    "negative length": (P + b"Content-Length: -1\r\n\r\n", 400),
    "length with plus": (P + b"Content-Length: +1\r\n\r\nx", 400),
    "hexadecimal length": (P + b"Content-Length: 0x1\r\n\r\nx", 400),
    "empty length": (P + b"Content-Length:\r\n\r\n", 400),
    "length of 65 bits": (P + b"Content-Length: 36893488147419103232\r\n\r\n", 400),
    "length of 64 bits": (P + b"Content-Length: 18446744073709551615\r\n\r\n", 400),
    "length and chunked": (P + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunked and length": (P + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
    "unknown coding": (P + b"Transfer-Encoding: gzip\r\n\r\n", 501),
    "coding list": (P + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "identity": (P + b"Transfer-Encoding: identity\r\n\r\n", 501),
    "disguised chunked": (P + b"Transfer-Encoding: xchunked\r\n\r\n", 501),
    "chunked with VT": (P + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400),
    "chunked twice": (P + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunked in 1.0": (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    # chunks
    "chunk size not hexadecimal": (E + b"x\r\n", 400),
    "negative chunk size": (E + b"-1\r\n", 400),
    "chunk size with 0x": (E + b"0x1\r\na\r\n0\r\n\r\n", 400),
    "huge chunk size": (E + b"fffffffffffffffff\r\n", 400),
    "blank after the chunk size": (E + b"1 \r\na\r\n0\r\n\r\n", 400),
    "chunk size ends with LF": (E + b"1\na\r\n0\r\n\r\n", 400),
    "chunk longer than its size": (E + b"1\r\nab\r\n0\r\n\r\n", 400),
    "chunk ends with LF": (E + b"1\r\na\n0\r\n\r\n", 400),
    "endless extension": (E + b"1;" + b"x" * 20000 + b"\r\na\r\n0\r\n\r\n", 431),
    "endless trailers": (E + b"0\r\nX: " + b"y" * 20000 + b"\r\n\r\n", 431),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(server, name):
    data, status = CASES[name]
    # Whatever follows a refused request must not be taken for another one.
    answer = server.raw(data + b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n" if status != 431 else data)
    if name == "late HTTP/2 preface":
        first, answer = answer.split(b"\n", 1)
        assert first.startswith(b"HTTP/1.1 200") and b"HTTP/1.1 400" in answer
        answer = answer[answer.index(b"HTTP/1.1 400"):]
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    head, body = answer.split(b"\r\n\r\n", 1)
    assert b"\r\nConnection: close" in head and b"\r\nContent-Type: application/problem+json" in head
    problem = json.loads(body)
    assert problem["status"] == status and problem["type"] == "about:blank" and problem["detail"]
    assert b"hello" not in answer


def test_the_server_still_answers(server):
    assert server.answer(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")[2] == b"hello\n"


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_cut_anywhere(server, cut):
    """Half a request and then the end: no answer is owed, none may break the server."""
    with server.connect() as s:
        s.sendall((E + b"5\r\nhello\r\n0\r\n\r\n")[:cut])
    assert server.answer(b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")[0] == 200
