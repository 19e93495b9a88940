"""What a container prints."""

import re

from driver import HEAD, wait_for

MB = 1 << 20


def test_streams_and_times(x):
    id = x.shell("echo out; echo err >&2; printf 'no end'; printf '\\n\\nlast'")
    x.ended(id)
    text = x.call("log_read", id=id)["text"]
    for line in text.split("\n")[:-1]:
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [oei][ +]", line[:HEAD])
    assert x.output(id) == "out\nno end\n\nlast" and x.output(id, "e") == "err"
    times = [line[:27] for line in text.split("\n")[:-1]]
    assert times == sorted(times)


def test_unfinished_line_is_shown(x):
    id = x.shell("printf prompt; sleep 1000")
    x.said(id, "prompt")
    assert "Z o+prompt\n" in x.call("log_read", id=id)["text"]
    x.call("kill", id=id)
    x.ended(id)


def test_long_line(x):
    id = x.shell("head -c 100000 /dev/zero | tr '\\0' x; echo; echo after")
    x.ended(id)
    records = x.call("log_read", id=id)["text"].split("\n")[:-1]
    assert max(map(len, records)) <= HEAD + 16384
    assert "".join(r[HEAD:] for r in records[:-1]) == "x" * 100000 and records[-1][HEAD:] == "after"
    assert [r[29] for r in records].count(" ") == 2


def test_bytes_that_are_no_text(x):
    id = x.shell("printf '\\377\\0\\n'; echo after")
    x.ended(id)
    assert x.output(id).endswith("after")


def test_a_hundred_megabytes(x):
    count = 1_100_000
    id = x.start("python3", "-c", f"import sys\nfor i in range({count}): sys.stdout.write('%099d\\n' % i)")
    assert x.ended(id)["code"] == 0
    log = x.call("log", id=id)
    assert (log["first"], log["first_line"], log["end_line"], log["closed"]) == (0, 0, count, True)
    assert log["end"] == count * (HEAD + 100)
    read = x.call("log_read", id=id, count=True)
    assert (read["bytes"], read["lines"]) == (log["end"], count)
    for line in [0, 1, 1023, 1024, 500_000, count - 1]:
        offset = x.call("log_line", id=id, line=line)["offset"]
        assert offset == line * (HEAD + 100)
        text = x.call("log_read", id=id, offset=offset, n=1)["text"]
        assert int(text.split("\n")[0][HEAD:]) == line
    assert x.call("log_line", id=id, line=count + 5)["offset"] == log["end"]
    x.call("remove", id=id)


def test_more_than_the_limit(x):
    count = 300_000
    id = x.start("python3", "-c", f"for i in range({count}): print('%069d' % i)", log_limit=2 * MB)
    assert x.ended(id)["code"] == 0
    log = x.call("log", id=id)
    assert log["first"] > 0 and log["end"] - log["first"] <= 2.2 * MB
    assert log["end_line"] == count + 1  # one remark
    text = x.call("log_read", id=id, offset=0)["text"]
    numbers = [int(line[HEAD:]) for line in text.split("\n")[:-1] if line[28] == "o"]
    assert numbers == list(range(numbers[0], count)) and len(numbers) > 10_000
    assert log["end_line"] - log["first_line"] == len(text.split("\n")) - 1
    first = x.call("log_line", id=id, line=0)["offset"]
    assert first == log["first"]
    middle = log["first_line"] + 5000
    offset = x.call("log_line", id=id, line=middle)["offset"]
    assert x.call("log_read", id=id, offset=offset, n=1)["text"].split("\n")[0] == text.split("\n")[5000]


def test_following(x):
    id = x.shell("read x < /go; echo one; read x < /go; echo two", files=[{"target": "/none", "content": ""}])
    x.ended(id)  # /go is not there: both reads fail at once
    end = x.call("log", id=id)["end"]
    x.call("log_wait", id=id, offset=end, timeout_ms=100_000)  # closed: returns at once
    id = x.shell("i=0; while :; do i=$((i+1)); echo line $i; sleep 0.05; done")
    offset = 0
    for _ in range(5):
        x.call("log_wait", id=id, offset=offset, timeout_ms=100_000)
        after = x.call("log_read", id=id, offset=offset, count=True)["offset"]
        assert after > offset
        offset = after
    x.call("kill", id=id)
    x.ended(id)


def test_output_of_those_left_behind(x):
    """What a child prints after its parent was stopped is not lost, and holds the end up for the time of a stop only."""
    id = x.shell("(trap '' TERM; while :; do echo noise; sleep 0.01; done) & echo ready; wait")
    x.said(id, "noise")
    x.call("stop", id=id, grace_s=1)
    assert x.ended(id)["end"] == "stopped"
    assert wait_for(lambda: x.call("log", id=id)["closed"], "the log's end")
