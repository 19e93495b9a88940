"""Curves of what jobs use, and of what a project uses."""

import os

import pytest
from harness import unique, wait_for
from test_jobs import OVER, reached, run, spec  # noqa: F401


def test_curves_of_a_running_job(admin, run):  # noqa: F811
    job = run("python3 -c 'x = bytearray(50_000_000); i = 0\nwhile True: i += 1'", until=("running",))
    path = f"jobs/{job['id']}/curves"
    seen = wait_for(lambda: (c := admin.get(path, span=600))["items"] and c["items"][-1]["memory"] > 40_000_000
                    and c["items"][-1]["cpu"] > 0 and c, "a curve with the memory")
    assert (seen["step_s"], seen["limits"]["cpus"], seen["limits"]["memory"]) == (1, 0.2, 256 << 20)
    assert seen["limits"]["disk"] == 10 << 30
    last = seen["items"][-1]
    assert set(last) == {"at", "cpus", "cpu", "memory", "net_rx", "net_tx", "disk", "accelerator", "accelerator_memory"}
    assert last["memory"] <= 256 << 20
    assert [i["at"] for i in seen["items"]] == sorted(i["at"] for i in seen["items"])
    minutes = admin.get(path, span=86400)
    assert minutes["step_s"] == 60 and minutes["items"]
    assert all(p["low"]["memory"] <= p["memory"] <= p["high"]["memory"] for p in minutes["items"])
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)
    assert admin.get(path, span=86400)["items"]
    assert admin.get(path, span=600)["items"]


@pytest.mark.parametrize("params, field", [({"rank": 1}, "rank"), ({"rank": -1}, "rank"), ({"span": 0}, "span"),
                                           ({"span": 10 ** 9}, "span"), ({"attempt": -1}, "attempt")])
def test_bad_questions(admin, run, params, field):  # noqa: F811
    job = run("true")
    assert admin.get(f"jobs/{job['id']}/curves", expect=422, **params)["field"] == field


def test_minutes_survive_a_restart(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": unique()})
    small = admin.post("specs", {"name": unique(), "cpus": 0.1, "memory": 64 << 20})
    job = admin.post("jobs", {"project": project["id"], "name": "j", "command": "exec sleep 1000", "spec": small["id"]})
    path = f"jobs/{job['id']}/curves"
    before = wait_for(lambda: admin.get(path, span=86400)["items"], "a minute")
    server.stop()
    server.start()
    admin = server.admin()
    after = admin.get(path, span=86400)["items"]
    assert after and after[0]["at"] == before[0]["at"]
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)
    admin.delete(f"jobs/{job['id']}")


def test_curves_of_a_node(admin):
    """What the machine uses, with the least and the greatest of what each point is the mean of."""
    node = wait_for(lambda: admin.get("nodes", filter='state = "ready"')["items"], "the node")[0]
    path = f"nodes/{node['id']}/curves"
    seen = wait_for(lambda: len((x := admin.get(path))["items"]) >= 3 and x, "three seconds")
    assert seen["step_s"] == 1 and seen["limits"] == {"cpus": node["cpus"], "cpu": node["cpus"], "memory": node["memory"], "disk": node["disk"]}
    for p in seen["items"]:
        assert 0 <= p["cpus"] <= os.cpu_count() * 1.5 and 0 < p["memory"] <= node["memory"] and 0 < p["disk"] <= node["disk"]
    one = admin.get(path, span=600, points=1)
    assert one["step_s"] == 600 and 1 <= len(one["items"]) <= 2
    means = [v for p in one["items"] for v in [(p["low"]["memory"], p["memory"], p["high"]["memory"])]]
    assert all(low <= mean <= high for low, mean, high in means)
    assert admin.get(path, expect=422, span=0)["field"] == "span"
