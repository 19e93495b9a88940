"""The server is killed and started again on the same folder."""

import os
import pathlib
import signal

from driver import wait_for


def gate(tmp_path):
    (tmp_path / "gate").mkdir()
    return {"mounts": [{"source": str(tmp_path / "gate"), "target": "/gate"}]}


AWAIT = "while [ ! -e /gate/open ]; do sleep 0.02; done; "


def test_all_are_found_again(x, tmp_path):
    more = gate(tmp_path)
    ids = {x.shell(f"echo before; {AWAIT}echo after; exit {code}", network=1, **more): code for code in range(6)}
    done = x.shell("echo over; exit 9")
    x.ended(done)
    for id in ids:
        x.said(id, "before")
    addresses = {id: x.status(id)["address"] for id in ids}
    x.crash()
    assert x.status(done)["code"] == 9 and x.output(done) == "over"
    for id in ids:
        status = x.status(id)
        assert status["state"] == "running" and status["address"] == addresses[id]
    # An address in use is not given away again.
    other = x.start("sleep", "1000", network=1)
    assert x.running(other)["address"] not in addresses.values()
    x.call("kill", id=other)
    (tmp_path / "gate/open").touch()
    for id, code in ids.items():
        status = x.ended(id)
        assert (status["end"], status["code"]) == ("exit", code)
        assert x.output(id) == "before\nafter"


def test_ended_while_nobody_looked(x, tmp_path):
    more = gate(tmp_path)
    ids = {x.shell(f"{AWAIT}echo late; exit {code}", **more): code for code in range(3)}
    for id in ids:
        x.running(id)
    x.process.send_signal(signal.SIGKILL)
    x.process.wait()
    (tmp_path / "gate/open").touch()
    for id in ids:
        wait_for((pathlib.Path(x.dir) / id / "exit").exists, f"{id} to end")
    x.crash()
    for id, code in ids.items():
        assert x.status(id)["code"] == code and x.output(id) == "late"


def test_killed_at_any_moment(x, tmp_path):
    """Every job that was accepted runs at most once, and is found with the right code or as not started."""
    (tmp_path / "d").mkdir()
    mounts = [{"source": str(tmp_path / "d"), "target": "/d"}]
    for turn in range(12):
        id = f"{600 + turn}-1-0"
        request = (
            '{"op": "start", "id": "%s", "argv": ["sh", "-c", "echo x >> /d/%s; echo done; exit 6"], '
            '"mounts": [{"source": "%s", "target": "/d"}]}\n' % (id, id, mounts[0]["source"])
        )
        x.process.stdin.write(request.encode())
        x.process.stdin.flush()
        if turn % 3 == 1:
            x.process.stdout.readline()
        elif turn % 3 == 2:
            wait_for((pathlib.Path(x.dir) / id).exists, "its folder")
        x.crash()
        known = [item["id"] for item in x.call("list")["list"]]
        if id not in known:
            assert not (tmp_path / "d" / id).exists()
            continue
        status = x.ended(id)
        if status["end"] == "lost":
            assert not (tmp_path / "d" / id).exists()
        else:
            assert (status["end"], status["code"]) == ("exit", 6), status
            assert (tmp_path / "d" / id).read_text() == "x\n" and x.output(id) == "done"


def test_supervisor_killed(x):
    id = x.shell("echo here; sleep 1000000")
    x.said(id, "here")
    shim, init = (pathlib.Path(x.dir) / id / "run").read_text().split()[:2]
    os.kill(int(shim), signal.SIGKILL)
    status = x.ended(id)
    assert (status["end"], status["code"]) == ("lost", -1) and "supervisor" in status["reason"]
    wait_for(lambda: not os.path.exists(f"/proc/{init}"), "the container to end")
    assert x.output(id) == "here"
    x.call("remove", id=id)


def test_commands_after_a_restart(x):
    id = x.shell('trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done', network=1)
    x.said(id, "ready")
    x.crash()
    handle = x.call("attach", id=id, argv=["echo", "hello"])["handle"]
    assert x.call("attach_read", handle=handle)["text"] == "hello\n"
    x.call("attach_close", handle=handle)
    assert x.call("stats", id=id)["memory"] > 0
    x.call("stop", id=id, grace_s=100)
    assert x.ended(id)["code"] == 3
    x.call("remove", id=id)
