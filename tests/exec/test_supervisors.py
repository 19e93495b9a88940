"""A supervisor serves further containers of its project, if the former left no trace in what was built for it."""

import itertools
import os
import pathlib

from driver import wait_for

MB = 1 << 20
DISK = 64 * MB
networks = itertools.count(300)


def supervisor(x, id):
    return (pathlib.Path(x.dir) / id / "run").read_text().split()[0]


def run(x, script, network, **more):
    """Its supervisor, its status and what it said."""
    id = x.shell(script, network=network, disk=DISK, **more)
    status = x.ended(id)
    assert status["end"] == "exit" and status["code"] == 0, status
    return supervisor(x, id), status, x.output(id)


def second_in_a_room(x, network, script="true", first="true", **more):
    """Runs `first` until a supervisor takes another container, which then ran `script`."""
    seen = set()

    def look():
        seen.add(run(x, first, network)[0])
        found = run(x, script, network, **more)
        return found[0] in seen and found

    return wait_for(look, "a supervisor to take another container")


def test_nothing_of_the_former_is_there(x):
    network = next(networks)
    mark = "echo s-e-c-r-e-t > /root/mark; echo s-e-c-r-e-t > /usr/mark; echo s-e-c-r-e-t > /tmp/mark; echo s-e-c-r-e-t > /dev/shm/mark; echo first"
    look = "hostname; cat /etc/hostname; ls -A /root /tmp /dev/shm; ls -d /usr/mark /root/mark; echo second; true"
    _, status, output = second_in_a_room(x, network, look, mark, hostname="other")
    lines = output.split("\n")
    assert lines[:2] == ["other", "other"] and lines[-1] == "second"
    assert "mark" not in output and "s-e-c-r-e-t" not in output and "first" not in output
    assert status["address"].startswith(x.subnet.split(".")[0])


def test_mounts_and_limits_are_the_next_ones(x, tmp_path):
    network = next(networks)
    (tmp_path / "file").write_text("content")
    _, _, output = second_in_a_room(x, network, "cat /in/file; echo; cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null || true",
                                    mounts=[{"source": str(tmp_path), "target": "/in", "read_only": True}])
    assert output.startswith("content")
    assert "No such file" in run(x, "cat /in/file 2>&1; true", network)[2]


def test_not_after_connections(x):
    network = next(networks)
    talk = ("python3 -c 'import socket\ns = socket.create_server((\"127.0.0.1\", 0))\n"
            "c = socket.create_connection(s.getsockname())\ns.accept()[0].send(b\"x\")\nprint(c.recv(1))'")
    talked = set()
    for _ in range(4):
        used, _, output = run(x, talk, network)
        assert "b'x'" in output
        assert used not in talked
        talked.add(used)


def test_not_after_much_was_written(x):
    network = next(networks)
    wrote = set()
    for _ in range(4):
        used, _, _ = run(x, "head -c 3000000 /dev/urandom > /root/much", network)
        assert used not in wrote
        wrote.add(used)


def test_not_for_others(x):
    one, other = next(networks), next(networks)
    ours = {run(x, "true", one)[0] for _ in range(3)}
    theirs = {run(x, "true", other)[0] for _ in range(3)}
    assert not ours & theirs
    assert x.shell("true", network=one, disk=2 * DISK)


def test_waiting_ones_end_with_the_server(x):
    network = next(networks)
    waiting, _, _ = run(x, "true", network)
    x.crash()
    wait_for(lambda: not os.path.exists(f"/proc/{waiting}"), "the supervisor to end")
    again, _, _ = run(x, "true", network)
    assert again != waiting


def test_stop_in_a_room(x):
    network = next(networks)
    seen = set()

    def look():
        seen.add(run(x, "true", network)[0])
        id = x.shell('trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done', network=network, disk=DISK)
        x.said(id, "ready")
        used = supervisor(x, id)
        x.crash()
        x.call("stop", id=id, grace_s=100)
        assert x.ended(id)["end"] == "stopped"
        return used in seen

    wait_for(look, "a supervisor to take another container")


def test_addresses_are_given_back(x):
    """Ended containers hold none, however many there are."""
    network = next(networks)
    seen = set()

    def look():
        address = x.ended(x.shell("true", network=network))["address"]
        again = address in seen
        seen.add(address)
        return again

    wait_for(look, "an address to be given again")


def test_kept_files_are_as_new(x):
    """What is kept for the next container of the same image shows nothing of what the former did to it."""
    network = next(networks)
    look = "stat -c '%a %U' / /usr /etc/hosts; cat /etc/hosts /etc/resolv.conf; ls -A / /etc /usr | md5sum; echo end"
    spoil = ("echo evil >> /etc/hosts; echo evil >> /etc/resolv.conf; echo evil > /etc/hostname; "
             "if echo evil > /dev/.ingot-init; then echo broken; fi; ")
    clean = second_in_a_room(x, network, look)[2]
    for more in ["true", "chmod 711 /", "chown 5:5 /usr", "touch /x; rm /x", "mkdir -p /etc/deep/er; rm /etc/shells"]:
        first = run(x, spoil + more, network)
        assert "broken" not in first[2]
        _, _, output = second_in_a_room(x, network, look, spoil + more)
        assert without_address(output) == without_address(clean), more


def without_address(text):
    return [line for line in text.split("\n") if not line.startswith("10.")]


def test_another_image_in_a_room(x, tmp_path):
    """The files that were kept are not those of the next container: it gets its own."""
    network = next(networks)
    layer = tmp_path / "layer"
    (layer / "opt").mkdir(parents=True)
    (layer / "opt" / "only-here").write_text("layer")
    _, _, output = second_in_a_room(x, network, "cat /opt/only-here; echo; ls /usr/bin/env", host=True, layers=[str(layer)])
    assert output.split("\n")[0] == "layer"
    assert "No such file" in second_in_a_room(x, network, "cat /opt/only-here 2>&1; true")[2]


def test_the_image_host_follows_the_machine(x):
    """A package that is installed while the server runs is whole in the next container: its files below /usr and its links
    in /etc."""
    network = next(networks)
    name = f"ingot-test-{os.getpid()}"
    program, link = pathlib.Path("/usr/local/bin") / name, pathlib.Path("/etc/alternatives") / name
    look = f"cat {program} {link} 2>&1; ls /usr/local/bin | grep -c {name}; true"
    before = run(x, look, network)[2].strip()
    assert before.count("No such file") == 2 and before.endswith("\n0"), before
    try:
        program.write_text("installed\n")
        assert second_in_a_room(x, network, f"cat {program}", f"ls {program}")[2].strip() == "installed"
        link.symlink_to(program)
        assert run(x, look, network)[2].split() == ["installed", "installed", "1"]
    finally:
        link.unlink(missing_ok=True)
        program.unlink(missing_ok=True)
    assert run(x, look, network)[2].strip() == before
