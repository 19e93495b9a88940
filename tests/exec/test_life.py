"""Starting, ending, stopping, removing."""

import os
import pathlib
import shutil
import subprocess

import pytest
from driver import Executor, Refused, wait_for


@pytest.mark.parametrize("code", [0, 1, 7, 127, 137, 255])
def test_exit_code(x, code):
    status, _ = x.run(f"exit {code}")
    assert (status["end"], status["code"], status["signal"]) == ("exit", code, 0)
    assert 0 < status["started"] <= status["ended"]


@pytest.mark.parametrize("name,number", [("SEGV", 11), ("KILL", 9), ("USR1", 10)])
def test_signal(x, name, number):
    status, _ = x.run(f"kill -{name} $$")
    assert (status["end"], status["code"], status["signal"]) == ("signal", 128 + number, number)
    assert str(number) in status["reason"] and not status["oom"]


def test_command_that_is_not_there(x):
    id = x.start("no-such-program", "--help")
    status = x.ended(id)
    assert (status["end"], status["code"]) == ("no-start", 127)
    assert status["reason"] == "cannot run 'no-such-program': No such file or directory"
    assert (("i", status["reason"])) in x.records(id)


def test_user_that_is_not_there(x):
    status = x.ended(x.start("id", user="nobody-here"))
    assert status["end"] == "no-start" and "nobody-here" in status["reason"]


def test_environment(x):
    status, output = x.run(
        'echo "$A|$PWD|$HOME|$(hostname)"; cat /etc/hostname; ls -d /deep/folder; id -u; id -g; cat /f; stat -c %a /f',
        env=["A=b c"],
        cwd="/deep/folder",
        user="user",
        hostname="worker-0",
        files=[{"target": "/f", "content": "secret\n", "mode": 0o444}],
    )
    assert status["code"] == 0
    assert output.split("\n") == [
        "b c|/deep/folder|/home/user|worker-0",
        "worker-0",
        "/deep/folder",
        "1000",
        "1000",
        "secret",
        "444",
    ]


def test_mounts(x, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in/data").write_text("42\n")
    status, output = x.run(
        "cat /data/data; touch /data/x && echo written; echo result > /out/result; stat -c %u:%a /out/result",
        mounts=[
            {"source": str(tmp_path / "in"), "target": "/data", "read_only": True},
            {"source": str(tmp_path / "out"), "target": "/out"},
        ],
    )
    assert output.split("\n") == ["42", "0:644"]
    assert (tmp_path / "out/result").read_text() == "result\n"
    assert (tmp_path / "out/result").stat().st_uid == 0  # not the container's number
    assert not (tmp_path / "in/x").exists()


def test_a_folder_is_opened_as_it_is_seen_inside(x, tmp_path):
    """With what is mounted in it; no link leads out of it, and there is none of a container that has ended."""
    for name in ("work", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "data/of-data").write_text("42")
    id = x.shell(
        "touch /own/file; ln -s /etc /own/out; echo there; sleep 1000",
        mounts=[{"source": str(tmp_path / "work"), "target": "/own"},
                {"source": str(tmp_path / "data"), "target": "/own/data", "read_only": True}],
    )
    x.said(id, "there")
    assert sorted(x.call("folder", id=id, path="/own")["names"]) == ["data", "file", "out"]
    assert x.call("folder", id=id, path="/own/data")["names"] == ["of-data"]
    assert list((tmp_path / "work/data").iterdir()) == [], "it is not there outside"
    for path, code in (("/own/nothing", "not_found"), ("/own/file", "not_found"), ("/own/out", "invalid"), ("/own/../..", "invalid")):
        with pytest.raises(Refused) as refused:
            x.call("folder", id=id, path=path)
        assert refused.value.code == code, path
    x.call("kill", id=id)
    x.ended(id)
    with pytest.raises(Refused) as refused:
        x.call("folder", id=id, path="/own")
    assert refused.value.code == "unavailable"


def make_layer(path, programs):
    """A folder with these programs and their libraries."""
    for program in programs:
        wanted = [program]
        for line in subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split("\n"):
            wanted += [word for word in line.split() if word.startswith("/")]
        for file in wanted:
            target = path / file.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(file), target)


def test_layers(x, tmp_path):
    low, high = tmp_path / "low", tmp_path / "high"
    make_layer(low, ["/bin/sh", "/bin/cat", "/bin/ls"])
    (low / "both").write_text("low\n")
    (low / "gone").write_text("low\n")
    high.mkdir()
    (high / "both").write_text("high\n")
    os.mknod(high / "gone", 0o600 | 0o020000, 0)  # overlayfs' mark of a deleted file
    for _ in range(2):  # what one container writes the next does not see
        status, output = x.run(
            "cat /both; cat /gone; cat /new; echo new > /new; cat /new; ls /usr/share",
            image="shell",
            layers=[str(low), str(high)],
        )
        assert output == "high\nnew", output
    assert not (low / "new").exists() and not (high / "new").exists()


def test_stop_with_time_to_finish_below_a_shell(x):
    """The shell ends at the signal; what it started has its time all the same."""
    id = x.shell("sh -c 'trap \"sleep 1; echo saved; exit 3\" TERM; echo ready; while :; do sleep 0.05; done'; true")
    x.said(id, "ready")
    x.call("stop", id=id)
    assert x.ended(id)["end"] == "stopped"
    assert "saved" in x.said(id, "saved")


def test_stop_with_time_to_finish(x):
    id = x.shell('trap "echo saved; exit 3" TERM; echo ready; while :; do sleep 0.05; done')
    x.said(id, "ready")
    x.call("stop", id=id, grace_s=100)
    status = x.ended(id)
    assert (status["end"], status["code"]) == ("stopped", 3)
    assert "saved" in x.output(id)


def test_stop_of_a_command_that_ignores_it(x):
    id = x.shell('trap "" TERM; echo ready; while :; do sleep 0.05; done')
    x.said(id, "ready")
    x.call("stop", id=id, grace_s=1)
    status = x.ended(id)
    assert (status["end"], status["signal"], status["reason"]) == ("stopped", 9, "killed")


def test_stop_reaches_what_left_the_process_group(x):
    id = x.shell("setsid sh -c 'trap \"echo child; exit\" TERM; echo ready; while :; do sleep 0.05; done' & wait; wait")
    x.said(id, "ready")
    x.call("stop", id=id, grace_s=100)
    assert x.ended(id)["end"] == "stopped"


def test_kill(x):
    id = x.start("sleep", "1000000")
    x.running(id)
    x.call("kill", id=id)
    assert x.ended(id)["end"] == "stopped"
    x.call("kill", id=id)
    x.call("stop", id=id)


def test_nothing_goes_on_after_the_command(x, tmp_path):
    (tmp_path / "d").mkdir()
    id = x.shell(
        "setsid sh -c 'while :; do date +%s%N > /d/alive; done' & while [ ! -s /d/alive ]; do sleep 0.05; done",
        mounts=[{"source": str(tmp_path / "d"), "target": "/d"}],
    )
    assert x.ended(id)["code"] == 0
    last = (tmp_path / "d/alive").read_text()
    x.run("sleep 0.2")
    assert (tmp_path / "d/alive").read_text() == last


def test_start_twice(x, tmp_path):
    (tmp_path / "d").mkdir()
    more = {"mounts": [{"source": str(tmp_path / "d"), "target": "/d"}]}
    id = x.shell("echo once >> /d/count", **more)
    x.shell("echo once >> /d/count", id=id, **more)
    x.ended(id)
    x.shell("echo once >> /d/count", id=id, **more)
    assert x.ended(id)["code"] == 0
    assert (tmp_path / "d/count").read_text() == "once\n"


def test_remove(x):
    id = x.start("sleep", "1000000", network=5)
    x.running(id)
    folder = pathlib.Path(x.dir) / id
    assert folder.exists()
    x.call("remove", id=id)
    assert not folder.exists()
    with pytest.raises(Refused) as refused:
        x.status(id)
    assert refused.value.code == "not_found"
    x.call("remove", id=id)
    assert x.shell("exit 4", id=id) == id  # the name is free again
    assert x.ended(id)["code"] == 4


def test_changes_are_told(x):
    before = x.call("list")["watched"]
    x.run("true")
    wait_for(lambda: x.call("list")["watched"] > before, "the watcher")


def test_list_is_in_order(x):
    for id in ["900-2-0", "900-1-1", "900-1-0", "1000-1-0"]:
        x.shell("true", id=id)
    ids = [item["id"] for item in x.call("list")["list"]]
    assert [id for id in ids if id.split("-")[0] in ("900", "1000")] == ["900-1-0", "900-1-1", "900-2-0", "1000-1-0"]
    for id in ["900-2-0", "900-1-1", "900-1-0", "1000-1-0"]:
        x.ended(id)


@pytest.mark.parametrize(
    "field,change",
    [
        ("argv", {"argv": []}),
        ("env", {"env": ["novalue"]}),
        ("cwd", {"cwd": "relative"}),
        ("cwd", {"cwd": "/a/../b"}),
        ("user", {"user": "a b"}),
        ("hostname", {"hostname": "a/b"}),
        ("image", {"image": "other"}),
        ("layers", {"layers": ["/no/such/layer"]}),
        ("mounts", {"mounts": [{"source": "/no/such/folder", "target": "/x"}]}),
        ("mounts", {"mounts": [{"source": "/tmp", "target": "x"}]}),
        ("mounts", {"mounts": [{"source": "/tmp", "target": "/proc/x"}]}),
        ("mounts", {"mounts": [{"source": "/tmp", "target": "/"}]}),
        ("files", {"files": [{"target": "/a/../../b", "content": ""}]}),
        ("devices", {"devices": ["/etc/passwd"]}),
        ("devices", {"devices": ["/dev/no-such-device"]}),
        ("memory", {"memory": 1000}),
        ("memory", {"memory": -1}),
        ("cpu_millis", {"cpu_millis": 1}),
        ("disk", {"disk": 5}),
        ("pids", {"pids": -5}),
        ("log_limit", {"log_limit": 10}),
        ("grace_s", {"grace_s": 10**9}),
    ],
)
def test_bad_input(x, field, change):
    with pytest.raises(Refused) as refused:
        x.call("start", **{"id": "5000-1-0", "argv": ["true"], **change})
    assert (refused.value.code, refused.value.field) == ("invalid", field)
    assert not (pathlib.Path(x.dir) / "5000-1-0").exists()


def test_what_is_unknown(x):
    for op in ["status", "stop", "kill", "log", "log_read", "stats"]:
        with pytest.raises(Refused) as refused:
            x.call(op, id="77777-1-0")
        assert refused.value.code == "not_found", op


def test_node(x):
    node = x.call("nodes")
    assert node["cpu_millis"] >= 1000 and node["memory"] > 1 << 28 and node["arch"] in ("amd64", "arm64")
    assert node["report"]["cgroup"] in (1, 2)
    assert node["report"]["user_namespace"]["ok"] or node["report"]["user_namespace"]["reason"] in node["reason"]


def test_nothing_stays_when_nothing_runs():
    y = Executor(8)
    try:
        y.open()
        y.run("true", network=1)
        y.process.stdin.close()
        y.process.wait()
        tables = subprocess.check_output(["nft", "list", "tables"], text=True)
        links = subprocess.check_output(["ip", "link"], text=True)
        assert y.name not in tables and f" {y.name}" not in links and y.groups() == []
        assert not os.path.exists(f"/run/{y.name}-stage")
        y.process.stdout.close()
        y.open()
        assert y.run("exit 3", network=1)[0]["code"] == 3
    finally:
        y.close()
