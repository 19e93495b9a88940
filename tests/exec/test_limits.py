"""What a container takes more of than it may."""

import os
import pathlib
import signal
import subprocess

import pytest
from driver import Executor, wait_for

MB = 1 << 20
HOG = 'import time\nb = []\nwhile True: b.append(bytearray(b"x" * (1 << 20)))\n'


def test_out_of_memory(x):
    id = x.start("python3", "-c", HOG, memory=64 * MB)
    status = x.ended(id)
    assert (status["end"], status["oom"], status["code"]) == ("oom", True, 137)
    assert status["reason"] == "out of memory: the limit is 64 MB"
    assert ("i", status["reason"]) in x.records(id)


def test_only_a_child_out_of_memory(x):
    status, output = x.run("python3 -c '" + HOG + "'; echo $?; exit 5", memory=64 * MB)
    assert output.endswith("137")
    assert (status["end"], status["code"], status["oom"]) == ("exit", 5, True)


def test_killed_is_not_out_of_memory(x):
    status, _ = x.run("kill -KILL $$", memory=64 * MB)
    assert (status["end"], status["oom"]) == ("signal", False)


def test_fork_bomb(x):
    id = x.start(
        "python3",
        "-c",
        "import os, time\n"
        "n = 0\n"
        "try:\n"
        "    while True:\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(1000)\n"
        "        n += 1\n"
        "except OSError as error:\n"
        "    print('stopped at', n, error, flush=True)\n"
        "time.sleep(1000)\n",
        pids=40,
        memory=256 * MB,
    )
    assert "stopped at 39 " in x.said(id, "stopped at")
    assert x.call("stats", id=id)["pids"] == 40
    x.call("kill", id=id)
    x.ended(id)


def test_what_used_up_its_time_ends_all_the_same(x):
    """Long calls of the kernel go on when the processor's share is used up: then the group may not run for minutes."""
    id = x.shell("for i in 1 2; do dd if=/dev/urandom of=/dev/null bs=512M count=1 & done; wait; sleep 1000", cpu_millis=20, memory=2048 * MB)
    x.running(id)
    wait_for(lambda: x.call("stats", id=id)["cpu_ns"] > 1_500_000_000, "the reads")
    x.call("kill", id=id)
    assert x.ended(id)["end"] == "stopped"


def test_forks_refused_are_told(x):
    status, _ = x.run("python3 -c 'import os, time\nwhile True: os.fork() or time.sleep(1000)'; exit 3", pids=20, memory=256 * MB)
    assert (status["end"], status["code"]) == ("exit", 3)
    assert status["reason"] == "it had as many processes as it may: ended with exit code 3"


def test_disk_filler(x):
    status, output = x.run(
        "dd if=/dev/zero of=/fill bs=1M count=200 2>&1 || echo full; dd if=/dev/zero of=/usr/fill bs=1M count=200 2>&1",
        disk=32 * MB,
    )
    assert "No space left on device" in output and "full" in output
    assert status["code"] == 1
    assert status["reason"] == "its disk was full (the limit is 32 MB): ended with exit code 1"
    assert not (pathlib.Path(x.dir) / status["id"] / "disk.img").exists()


@pytest.fixture
def small():
    """An executor whose folder is a disk of 64 MB."""
    executor = Executor(7)
    image = f"{executor.dir}.img"
    try:
        with open(image, "wb") as file:
            file.truncate(64 * MB)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, executor.dir], check=True)
        yield executor.open()
    finally:
        if executor.process:
            executor.process.stdin.close()
            executor.process.wait(timeout=120)
            executor.process.stdout.close()
            executor.process = None
        subprocess.run(["umount", "-l", executor.dir], check=False)
        executor.sweep()
        os.unlink(image)


def test_the_machines_disk_is_full(small, tmp_path):
    """Who fails then is told so. What is printed meanwhile is lost, what is printed before and afterwards is not."""
    more = {"mounts": [{"source": str(tmp_path), "target": "/d"}]}
    count = lambda: int((tmp_path / "count").read_text() or 0) if (tmp_path / "count").exists() else 0  # noqa: E731
    id = small.shell("i=0; while :; do i=$((i+1)); echo line $i; echo $i > /d/next; mv /d/next /d/count; done", **more)
    small.said(id, "line 50\n")
    filler = small.shell("dd if=/dev/zero of=/fill bs=64k; dd if=/dev/zero of=/fill2 bs=512; touch /d/full; until [ -e /d/open ]; do sleep 0.05; done; exit 3", **more)
    wait_for((tmp_path / "full").exists, "the full disk")
    begin = count()
    wait_for(lambda: count() > begin + 300, "more lines than the last block holds")
    (tmp_path / "open").touch()
    status = small.ended(filler)
    assert (status["end"], status["code"], status["reason"]) == ("exit", 3, "the machine's disk was full: ended with exit code 3")
    small.call("remove", id=filler)
    missing = ("i", "lines are missing here: the disk was full")
    records = wait_for(lambda: (r := small.records(id)) and missing in r and r[-1][0] == "o" and r, "the log to go on")
    at = records.index(missing)
    numbers = [int(text.split()[1]) for letter, text in records if letter == "o"]
    assert numbers[:at] == list(range(1, at + 1)), "what was before is whole"
    assert numbers[at] > at + 1 and numbers[-1] > begin
    small.call("kill", id=id)
    small.ended(id)
    log = small.call("log", id=id)
    read = small.call("log_read", id=id, count=True)
    assert (log["end"], log["end_line"]) == (read["bytes"], read["lines"])
    offset = small.call("log_line", id=id, line=log["end_line"] - 1)["offset"]
    assert len(small.call("log_read", id=id, offset=offset)["text"].split("\n")) == 2


def test_shared_memory_is_limited(x):
    status, output = x.run("dd if=/dev/zero of=/dev/shm/fill bs=1M count=200 2>&1; dd if=/dev/zero of=/dev/fill bs=1M count=9 2>&1")
    assert output.count("No space left on device") == 2


def test_numbers(x):
    id = x.start(
        "python3",
        "-c",
        "import time, os\n"
        "b = bytearray(b'x' * (50 << 20))\n"
        "open('/fill', 'wb').write(b[:20 << 20])\n"
        "while time.process_time() < 0.3: pass\n"
        "print('ready', flush=True)\n"
        "time.sleep(1000)\n",
        memory=200 * MB,
        disk=64 * MB,
        cpu_millis=1500,
        network=9,
    )
    x.said(id, "ready")
    stats = wait_for(lambda: (s := x.call("stats", id=id))["disk"] >= 20 * MB and s, "the disk's number")
    assert 50 * MB < stats["memory"] <= 200 * MB and stats["memory_limit"] == 200 * MB
    assert stats["cpu_ns"] >= 300_000_000
    assert stats["disk"] <= 64 * MB and stats["disk_limit"] == 64 * MB
    assert stats["pids"] == 1
    x.call("kill", id=id)
    x.ended(id)


def test_processor_limit_is_set(x):
    id = x.start("sleep", "1000", cpu_millis=1500)
    x.running(id)
    one = pathlib.Path(f"/sys/fs/cgroup/cpu/{x.name}/{id}/cpu.cfs_quota_us")
    two = pathlib.Path(f"/sys/fs/cgroup/{x.name}/{id}/cpu.max")
    assert (one if one.exists() else two).read_text().split()[0] == "150000"
    x.call("kill", id=id)
    x.ended(id)
    wait_for(lambda: not one.parent.exists() and not two.parent.exists(), "the group to go")


def test_the_processor_limit_is_lifted_when_the_command_has_ended(x):
    """What it leaves is ended then, and may have used up its time in advance. Here that is a process that cannot end: a frozen one."""
    freezer, one = pathlib.Path("/sys/fs/cgroup/freezer"), pathlib.Path(f"/sys/fs/cgroup/cpu/{x.name}")
    if not (freezer.exists() and one.parent.exists()):
        pytest.skip("with version 2 of control groups what is frozen ends, too")
    id = x.shell("sleep 1001 & exec sleep 1002", cpu_millis=500)
    x.running(id)
    limit, apart = one / id / "cpu.cfs_quota_us", freezer / f"{x.name}-apart"

    def pid_of(command):
        for pid in (one / id / "cgroup.procs").read_text().split():
            if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1] == command:
                return int(pid)

    left = wait_for(lambda: pid_of([b"sleep", b"1001"]), "what is left")
    ends = wait_for(lambda: pid_of([b"sleep", b"1002"]), "the command")
    assert limit.read_text().strip() == "50000"
    apart.mkdir()
    try:
        (apart / "cgroup.procs").write_text(str(left))
        (apart / "freezer.state").write_text("FROZEN")
        os.kill(ends, signal.SIGTERM)
        wait_for(lambda: limit.read_text().strip() == "-1", "the limit to be lifted")
        assert x.status(id)["state"] == "running"
    finally:
        (apart / "freezer.state").write_text("THAWED")
        wait_for(lambda: not (apart / "cgroup.procs").read_text(), "the end of what was frozen")
        apart.rmdir()
    assert x.ended(id)["end"] == "signal"
