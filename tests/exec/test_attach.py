"""Terminals and ports."""

import pytest
from driver import Refused, wait_for


@pytest.fixture(scope="module")
def box(x):
    id = x.shell("echo ready; exec sleep 1000000", env=["MARK=from the container"], network=7, cwd="/work")
    x.said(id, "ready")
    x.running(id)
    yield id
    x.call("kill", id=id)
    x.ended(id)


def test_terminal(x, box):
    handle = x.call("attach", id=box, argv=["sh"], tty=True, rows=30, cols=100)["handle"]
    x.call("attach_write", handle=handle, text="stty size; tty; pwd; echo \"$MARK\"; echo do''ne\n")
    text = x.call("attach_read", handle=handle, until="done\r\n")["text"]
    assert "30 100" in text and "/dev/pts/" in text and "/work" in text and "from the container" in text
    x.call("attach_resize", handle=handle, rows=50, cols=120)
    x.call("attach_write", handle=handle, text="stty size; echo aga''in\n")
    assert "50 120" in x.call("attach_read", handle=handle, until="again\r\n")["text"]
    x.call("attach_write", handle=handle, text="exit 9\n")
    assert x.call("attach_read", handle=handle)["end"]
    assert x.call("attach_wait", handle=handle)["code"] == 9
    x.call("attach_close", handle=handle)


def test_without_a_terminal(x, box):
    handle = x.call("attach", id=box, argv=["sh", "-c", "cat; echo err >&2; id -u; exit 4"], user="user")["handle"]
    x.call("attach_write", handle=handle, text="some input\n", end=True)
    answer = x.call("attach_read", handle=handle)
    assert answer["end"] and answer["text"] == "some input\nerr\n1000\n"
    assert x.call("attach_wait", handle=handle)["code"] == 4
    x.call("attach_close", handle=handle)


def test_closing_ends_it(x, box):
    before = x.call("stats", id=box)["pids"]
    handle = x.call("attach", id=box, argv=["sh"], tty=True)["handle"]
    x.call("attach_write", handle=handle, text="trap '' HUP; echo re''ady; sleep 1000\n")
    x.call("attach_read", handle=handle, until="ready\r\n")
    x.call("attach_close", handle=handle)
    # The shell is gone; what it started goes with the container.
    wait_for(lambda: x.call("stats", id=box)["pids"] <= before + 1, "the shell to end")


def test_it_has_the_containers_limits(x, box):
    handle = x.call("attach", id=box, argv=["sh", "-c", "cat /proc/self/status; unshare -U true"])["handle"]
    text = x.call("attach_read", handle=handle)["text"]
    assert "NoNewPrivs:\t1" in text and "Seccomp:\t2" in text
    capabilities = int(text.split("CapBnd:\t")[1].split()[0], 16)
    assert not capabilities & (1 << 21 | 1 << 12 | 1 << 27)  # sys_admin, net_admin, mknod
    assert x.call("attach_wait", handle=handle)["code"] == 1
    x.call("attach_close", handle=handle)


@pytest.mark.parametrize("tty", [True, False])
def test_command_that_is_not_there(x, box, tty):
    handle = x.call("attach", id=box, argv=["no-such-program"], tty=tty)["handle"]
    assert "cannot run 'no-such-program'" in x.call("attach_read", handle=handle)["text"]
    assert x.call("attach_wait", handle=handle)["code"] == 127
    x.call("attach_close", handle=handle)


def test_port(x, box):
    with pytest.raises(Refused) as refused:
        x.call("connect", id=box, port=8123, text="")
    assert refused.value.code == "unavailable"
    handle = x.call("attach", id=box, argv=["python3", "-m", "http.server", "--bind", "127.0.0.1", "8123"])["handle"]

    def look():
        try:
            return x.call("connect", id=box, port=8123, text="GET /usr/bin/ HTTP/1.0\r\n\r\n")
        except Refused:
            return None

    answer = wait_for(look, "the server inside")
    assert answer["text"].startswith("HTTP/1.0 ") and answer["end"]
    x.call("attach_close", handle=handle)


FULL = """
import socket, time
server = socket.socket()
server.bind(("127.0.0.1", 8124))
server.listen(0)
waiting = []
while not waiting or waiting[-1].connect_ex(("127.0.0.1", 8124)) == 0:
    waiting.append(socket.socket())
    waiting[-1].settimeout(1)
print("full", flush=True)
time.sleep(1000)
"""


def test_port_of_a_program_that_takes_nobody(x, box):
    """Whoever connects is not held up: the socket is given as it is."""
    handle = x.call("attach", id=box, argv=["python3", "-c", FULL])["handle"]
    assert "full" in x.call("attach_read", handle=handle, until="full")["text"]
    with pytest.raises(Refused, match="cannot write"):
        x.call("connect", id=box, port=8124, text="x")
    x.call("attach_close", handle=handle)


def test_after_the_end(x):
    id = x.shell("true")
    x.ended(id)
    for op, more in [("attach", {"argv": ["sh"]}), ("connect", {"port": 80}), ("stats", {})]:
        with pytest.raises(Refused) as refused:
            x.call(op, id=id, **more)
        assert refused.value.code == "unavailable", op
