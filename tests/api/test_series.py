"""Points over time: many of them, through kills, backups and databases, and those that an older version left in files."""

import json
import struct
import subprocess
import time
from pathlib import Path

import pytest
from harness import DEADLINE, binary, unique, wait_for
from test_jobs import OVER
from test_training import instance_path, settled, start

PRINT = """python3 -c '
for i in range(3000):
    print("step=%d loss=%g" % (i, 7 if i == 1234 else i % 5))
for i in range(100):
    print("{\\"step\\": 1, \\"group/%s%d\\": %d}" % ("x" * 150, i, i))
'"""


def series(api, instance: dict, **params) -> dict:
    return {s["name"]: s["points"] for s in api.get(instance_path(instance) + "/metrics", **params)["series"]}


def check_many(api, instance: dict) -> None:
    found = series(api, instance)
    assert len(found) == 101 and {len(p) for name, p in found.items() if name != "loss"} == {1}
    assert [(p[0], p[2]) for p in found["loss"]] == [(i, 7 if i == 1234 else i % 5) for i in range(3000)]
    few = series(api, instance, points=50, name="loss")
    assert list(few) == ["loss"] and 25 < len(few["loss"]) <= 50
    assert few["loss"][0] == found["loss"][0] and few["loss"][-1] == found["loss"][-1]
    assert [1234, 7] in [[p[0], p[2]] for p in few["loss"]]  # a peak stays
    assert all(p in found["loss"] for p in few["loss"])
    thinned, = api.get(instance_path(instance) + "/metrics", points=50, name="loss")["series"]
    means = thinned["means"]  # [step, microseconds, mean, least, greatest] of each stretch
    assert len(means) == 24 and means[0][:2] == found["loss"][0][:2]
    for here, after in zip(means, [*means[1:], [3000]], strict=True):
        values = [p[2] for p in found["loss"] if here[0] <= p[0] < after[0]]
        assert here[3:] == [min(values), max(values)] and abs(here[2] - sum(values) / len(values)) < 1e-9
    assert "means" not in api.get(instance_path(instance) + "/metrics", name="loss")["series"][0]


def test_many_points_through_a_kill_and_into_the_other_database(fresh_server, tmp_path, request):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.3, "memory": 128 << 20})
    training = admin.post("trainings", {"project": project["id"], "name": "t", "spec": spec["id"], "command": PRINT + "; exec sleep 1000"})
    instance = start(admin, training)
    job = wait_for(lambda: admin.get(instance_path(instance))["job"], "its job")["id"]
    wait_for(lambda: len(series(admin, instance)) > 1, "the first points")
    server.kill()
    server.start()
    admin = server.admin()
    wait_for(lambda: len(series(admin, instance)) == 101, "all points")
    check_many(admin, instance)
    wait_for(lambda: len(admin.get(f"jobs/{job}/curves")["items"]) > 2, "a curve")
    admin.post(instance_path(instance) + "/stop", expect=200)
    settled(admin, instance)
    curve = admin.get(f"jobs/{job}/curves")["items"]
    assert len(admin.get(f"jobs/{job}/curves", span=3600, points=1)["items"]) <= 2
    of_project = admin.get(f"projects/{project['id']}/overview", points=24)["curves"]
    assert of_project["step_s"] == 3600
    assert any(p["memory"] for p in of_project["items"])
    assert all(p["low"][k] <= p[k] <= p["high"][k] for p in of_project["items"] for k in ("cpu", "memory"))

    backup = tmp_path / "backup"
    backup.write_bytes(admin.call("GET", "backup").content)
    db = None if server.db else request.getfixturevalue("postgres").database()
    data = tmp_path / "data"
    subprocess.run([binary(), "restore", str(backup), "--data", str(data), *(["--db", db] if db else [])], check=True, timeout=DEADLINE)
    other = fresh_server(db=db, data=str(data)).admin()
    check_many(other, instance)
    assert other.get(f"jobs/{job}/curves")["items"] == curve


def test_curves_that_were_files(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": unique()})
    small = admin.post("specs", {"name": unique(), "cpus": 0.1, "memory": 64 << 20})
    job = admin.post("jobs", {"project": project["id"], "name": "j", "command": "true", "spec": small["id"]})
    wait_for(lambda: admin.get(f"jobs/{job['id']}")["state"] in OVER, "its end")
    server.stop()

    folder = Path(server.data) / "curves"
    folder.mkdir()
    begin = (int(time.time()) // 60 - 180) * 60
    minutes = [begin + 60 * i for i in range(100)]
    records = [struct.pack("<8q", at * 10**6, 250_000 + i, 1000 + i, 3, 4, -1 if i < 50 else 7, -1, -1) for i, at in enumerate(minutes)]
    (folder / f"{job['id']}-1-0.2").write_bytes(b"".join(records) + b"cut")
    stamp = lambda at: time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(at))  # noqa: E731
    lines = [json.dumps({"at": stamp(at), "cpu": 0.5, "memory": 42, "accelerators": {"npu": 2}}, separators=(",", ":")) for at in minutes]
    (folder / f"project-{project['id']}").write_text("\n".join(lines) + "\n{\"at\":\"20")
    (folder / "99999-1-0.2").write_bytes(records[0])  # of a job that is gone
    (folder / f"{job['id']}-1-0").write_bytes(b"format 1")

    server.start()
    admin = server.admin()
    wait_for(lambda: not folder.exists(), "the files to be gone")
    items = admin.get(f"jobs/{job['id']}/curves", span=86400)["items"]
    assert [i["at"] for i in items][:100] == [stamp(at) for at in minutes]
    first = {"cpu": 0.25, "cpus": 0.25, "memory": 1000, "net_rx": 3, "net_tx": 4, "disk": None, "accelerator": None, "accelerator_memory": None}
    assert items[0] == {"at": stamp(begin), **first, "low": first, "high": first}
    assert items[99]["disk"] == 7
    assert len(admin.get(f"jobs/{job['id']}/curves", span=86400, points=10)["items"]) <= 11
    of_project = [i for i in admin.get(f"projects/{project['id']}/overview")["curves"]["items"] if i["accelerators"]]
    assert [i["at"] for i in of_project] == [stamp(at) for at in minutes]
    first = {"cpu": 0.5, "cpus": 0.5, "memory": 42, "accelerators": {"npu": 2}}
    assert of_project[0] == {"at": stamp(begin), **first, "low": first, "high": first}


@pytest.mark.parametrize("config, says", [({"minute_days": 0}, "from 1 to 3650"), ({"write_s": "1"}, "must be a number"), ({"days": 3}, 'no "days"'), (7, "an object")])
def test_wrong_limits_are_told(tmp_path, config, says):
    (tmp_path / "config.json").write_text(json.dumps({"series": config}))
    done = subprocess.run([binary(), "serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode != 0 and says in done.stderr
