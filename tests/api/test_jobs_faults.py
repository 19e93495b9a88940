"""Jobs that misbehave, and a server that is killed while jobs run."""

import os
import random
import subprocess
import time
import urllib.parse

from harness import DEADLINE, binary, wait_for
from test_jobs import OVER, log, reached, run, spec  # noqa: F401

KILLS = int(os.environ.get("INGOT_KILLS", "8"))  # 50 when there is time
JOBS = 20


def test_none_is_lost_and_none_runs_twice_when_the_server_is_killed(fresh_server):
    seed = random.randrange(1 << 32)
    dice = random.Random(seed)
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    small = admin.post("specs", {"name": "s", "cpus": 0.05, "memory": 64 << 20})
    command = "echo begin; i=0; while [ $i -lt 25 ]; do echo line $i; i=$((i+1)); sleep 0.2; done; echo end; exit {}"
    jobs = [admin.post("jobs", {"project": project["id"], "name": f"j{i}", "spec": small["id"], "nodes": 1 + i % 2,
                                "command": command.format(i % 5)}) for i in range(JOBS)]
    for _ in range(KILLS):
        time.sleep(dice.uniform(0, 1.5))  # a moment; whatever happens then, the rest must hold
        server.kill()
        server.start()
    admin = server.admin()
    wanted = ["begin", *(f"line {i}" for i in range(25)), "end"]
    for i, job in enumerate(jobs):
        over = reached(admin, job, OVER)
        assert (over["attempt"], over["exit_code"]) == (1, i % 5), (seed, over["state"], over["reason"])
        assert over["state"] == ("failed" if i % 5 else "completed"), (seed, over)
        for rank in range(over["nodes"]):
            lines = [x["text"] for x in admin.get(f"jobs/{job['id']}/log", rank=rank)["lines"] if x["stream"] == "output"]
            # A rank of a gang whose other rank has failed is stopped: then its log is a beginning.
            assert lines == wanted or (i % 5 and over["nodes"] > 1 and lines == wanted[:len(lines)]), (seed, i, rank, lines)
        states = [e["state"] for e in admin.get(f"jobs/{job['id']}/events")["items"]]
        assert states.count("starting") == 1 and states.count("running") <= 1, (seed, states)


def test_a_memory_hog_says_why_it_ended(admin, run):  # noqa: F811
    job = run("python3 -c 'b = []\nwhile True: b.append(bytearray(b\"x\" * (1 << 20)))'")
    assert job["state"] == "failed" and "memory" in job["reason"] and "内存" in job["reason_zh"]
    assert job["exit_code"] == 137


def test_a_fork_bomb_harms_nobody(admin, run):  # noqa: F811
    job = run("python3 -c '\nimport os, sys, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(1000)\n    n += 1\n"
              "except OSError: print(\"no more after\", n > 10, flush=True)\ntime.sleep(1000)'", until=("running", *OVER))
    other = run("echo still here")
    assert other["state"] == "completed"
    wait_for(lambda: "no more after True" in log(admin, job) or
             admin.get(f"jobs/{job['id']}")["state"] == "failed", "the end of forks, or of the memory")
    admin.call("POST", f"jobs/{job['id']}/stop")
    assert reached(admin, job, OVER)["state"] in ("stopped", "failed")


def test_the_servers_port_is_another_one_inside(admin, run, server):  # noqa: F811
    port = urllib.parse.urlsplit(server.url).port
    job = run(f"python3 -c '\nimport socket, time\ns = socket.create_server((\"\", {port}))\nprint(\"listening\", flush=True)\n"
              "time.sleep(1000)'", until=("running",))
    wait_for(lambda: "listening" in log(admin, job), "the listener")
    assert admin.get("health")["status"] == "ok"
    other = run(f"python3 -c '\nimport socket, sys\nfor host in [\"127.0.0.1\", \"10.200.0.1\"]:\n  try:\n"
                f"    socket.create_connection((host, {port}), timeout=2)\n    print(\"reached\", host)\n  except OSError as e: print(e)'")
    assert not [x for x in log(admin, other) if x.startswith("reached")]
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)


def test_what_leaves_the_process_group_ends_too(admin, run):  # noqa: F811
    job = run("setsid sh -c 'while :; do echo tick; sleep 0.1; done' & sleep 0.5; echo gone")
    assert job["state"] == "completed" and "gone" in log(admin, job)
    closed = wait_for(lambda: (page := admin.get(f"jobs/{job['id']}/log"))["closed"] and page, "the end of the log")
    again = admin.get(f"jobs/{job['id']}/log")
    assert again["end"] == closed["end"]


def test_logs_survive_a_backup_and_jobs_start_again(fresh_server, tmp_path):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    small = admin.post("specs", {"name": "s", "cpus": 0.1, "memory": 64 << 20})
    make = lambda command: admin.post("jobs", {"project": project["id"], "name": "j", "spec": small["id"], "command": command})  # noqa: E731
    done, going = make("echo kept"), make("echo up; exec sleep 1000")
    reached(admin, done, OVER)
    reached(admin, going, ("running",))
    os.makedirs(f"{server.data}/workspace/7")
    with open(f"{server.data}/workspace/7/notes", "w") as file:
        file.write("mine")
    os.chown(f"{server.data}/workspace/7/notes", 1000, 1000)
    os.symlink("notes", f"{server.data}/workspace/7/link")
    backup = tmp_path / "backup.tar.zst"
    backup.write_bytes(admin.call("GET", "backup").content)
    admin.call("POST", f"jobs/{going['id']}/stop")
    reached(admin, going, OVER)
    copy = tmp_path / "copy"
    subprocess.run([binary(), "restore", str(backup), "--data", str(copy)], check=True, timeout=DEADLINE)
    again = fresh_server(db=None, data=str(copy))
    admin = again.admin()
    assert "kept" in log(admin, done)
    assert (copy / "workspace/7/link").read_text() == "mine" and (copy / "workspace/7/notes").stat().st_uid == 1000
    found = wait_for(lambda: (j := admin.get(f"jobs/{going['id']}"))["attempt"] == 2 and j["state"] == "running" and j, "another attempt")
    assert found["evicted"] == 1
    admin.post(f"jobs/{going['id']}/stop", expect=200)
    reached(admin, going, OVER)
