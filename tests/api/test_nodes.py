"""Nodes, pools, quotas and devices: who may run where, who makes room, and what the overviews say of it."""

import json
import os
import sqlite3
import stat
import subprocess
import uuid

import pytest
from harness import DEADLINE, binary, unique, wait_for
from test_jobs import OVER, log, reached


class Platform:
    """A server of its own, as nodes belong to everybody."""

    def __init__(self, server) -> None:
        self.server, self.admin = server, server.admin()
        self.node = wait_for(lambda: self.admin.get("nodes")["items"], "a node")[0]
        self.project = self.admin.post("projects", {"name": unique()})

    def spec(self, **fields) -> dict:
        return self.admin.post("specs", {"name": unique(), "cpus": 0.1, "memory": 64 << 20, **fields})

    def job(self, command: str = "true", spec: dict | None = None, project: dict | None = None, **fields) -> dict:
        return self.admin.post("jobs", {"project": (project or self.project)["id"], "name": unique("job"), "command": command,
                                        "spec": (spec or self.spec())["id"], **fields})

    def reached(self, job: dict, *states: str) -> dict:
        found = reached(self.admin, job, (*states, *OVER))
        assert not states or found["state"] in states, found
        return found

    def waits(self, job: dict, word: str) -> dict:
        return wait_for(lambda: (j := self.admin.get(f"jobs/{job['id']}"))["state"] == "queued"
                        and word in (j["reason"] or "") and j, f"a reason with {word!r}")

    def stop(self, *jobs: dict) -> None:
        for job in jobs:
            self.admin.call("POST", f"jobs/{job['id']}/stop")
        for job in jobs:
            self.reached(job)


@pytest.fixture(scope="module")
def devices():
    """Two files in /dev that are as harmless as /dev/null."""
    paths = [f"/dev/ingot-test-{uuid.uuid4().hex[:10]}" for _ in range(2)]
    for path in paths:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    yield paths
    for path in paths:
        os.unlink(path)


@pytest.fixture
def platform(fresh_server, devices, tmp_path):
    inventory, config = tmp_path / "devices.json", tmp_path / "config.json"
    inventory.write_text(json.dumps([{"kind": "npu", "path": path} for path in devices]))
    config.write_text(json.dumps({"containers": {"inventory": str(inventory)}}))
    return Platform(fresh_server(args=("--config", str(config))))


def test_a_new_platform_has_specs(fresh_server):
    """A service, its canary and a training fit beside each other; who deletes the specs does not get them back."""
    platform = Platform(fresh_server())
    specs = {one["name"]: one for one in platform.admin.all("specs")}
    cpus, memory = platform.node["cpus"], platform.node["memory"]
    assert {name: one["cpus"] for name, one in specs.items()} == {"small": 0.25, "half": cpus / 2, "whole": cpus}
    assert specs["small"]["memory"] == 512 << 20
    assert memory - (1 << 20) < specs["whole"]["memory"] <= memory and 2 * specs["half"]["memory"] <= memory
    going = [platform.job("exec sleep 1000", specs[name]) for name in ("small", "small", "half")]
    for job in going:
        platform.reached(job, "running")
    platform.stop(*going)
    platform.admin.delete(f"specs/{specs['whole']['id']}", headers={"If-Match": '"1"'})
    platform.server.stop()
    platform.server.start()
    assert {one["name"] for one in platform.server.admin().all("specs")} == {"small", "half"}


def test_a_drained_node_takes_nothing_new(platform):
    assert platform.node["state"] == "ready" and platform.node["cpus"] > 0 and platform.node["memory"] > 0
    going = platform.job("exec sleep 1000")
    platform.reached(going, "running")
    assert platform.admin.post(f"nodes/{platform.node['id']}/drain", expect=200)["state"] == "drained"
    job = platform.job()
    waiting = platform.waits(job, "drained")
    assert waiting["reason_zh"] and waiting["reason_zh"] != waiting["reason"]
    assert platform.admin.get(f"jobs/{going['id']}")["state"] == "running"
    platform.admin.delete(f"nodes/{platform.node['id']}", expect=409)
    assert platform.admin.post(f"nodes/{platform.node['id']}/undrain", expect=200)["state"] == "ready"
    assert platform.reached(job)["state"] == "completed"
    platform.stop(going)


def test_a_pool_is_reserved_to_its_projects(platform):
    other = platform.admin.post("projects", {"name": unique()})
    pool = platform.admin.post("node-pools", {"name": "ours", "projects": [platform.project["id"]]})
    node = platform.admin.get(f"nodes/{platform.node['id']}")
    platform.admin.patch(f"nodes/{node['id']}", {"pool": pool["id"]}, node["revision"])
    assert platform.reached(platform.job())["state"] == "completed"
    job = platform.job(project=other)
    wait_for(lambda: platform.admin.get(f"jobs/{job['id']}")["reason"], "a reason")
    assert platform.admin.get(f"jobs/{job['id']}")["state"] == "queued"
    platform.admin.delete(f"node-pools/{pool['id']}", expect=409)
    pool = platform.admin.get(f"node-pools/{pool['id']}")
    platform.admin.patch(f"node-pools/{pool['id']}", {"projects": []}, pool["revision"])
    assert platform.reached(job)["state"] == "completed"


def test_low_priority_makes_room(platform):
    whole = platform.spec(cpus=platform.node["cpus"])
    low = platform.job("if [ -e /workspace/x ]; then :; fi; echo begun; exec sleep 1000", whole, priority=-5, retries=0)
    platform.reached(low, "running")
    same = platform.job(spec=whole, priority=-5)
    high = platform.job("echo urgent", whole, priority=5)
    assert platform.reached(high)["state"] == "completed"
    again = wait_for(lambda: (j := platform.admin.get(f"jobs/{low['id']}"))["attempt"] == 2 and j["state"] == "running" and j,
                     "the second attempt")
    assert again["evicted"] == 1
    reasons = [e["reason"] for e in platform.admin.get(f"jobs/{low['id']}/events")["items"]]
    assert any(f"job {high['id']}" in reason for reason in reasons), reasons
    assert platform.admin.get(f"jobs/{same['id']}")["state"] in ("queued", "completed")
    platform.stop(low, same)


def test_the_first_in_the_queue_is_not_evicted_by_its_equals(platform):
    whole = platform.spec(cpus=platform.node["cpus"])
    first = platform.job("exec sleep 1000", whole, preemptible=True)
    platform.reached(first, "running")
    second = platform.job(spec=whole)
    platform.waits(second, "CPU")
    assert platform.admin.get(f"jobs/{first['id']}")["state"] == "running"
    platform.stop(first, second)


def test_a_process_for_each_device(platform, devices):
    """Of a training: as many as the spec has cards, whatever its cores."""
    spec = platform.spec(accelerator="npu", accelerators=len(devices), cpus=0.1)
    training = platform.admin.post("trainings", {"project": platform.project["id"], "name": unique(), "spec": spec["id"],
                                                 "command": "cat /etc/mpi/hostfile; echo $PET_NPROC_PER_NODE"})
    made = platform.admin.post(f"trainings/{training['id']}/start")
    assert platform.reached(made["job"])["state"] == "completed"
    assert log(platform.admin, made["job"]) == [f"job-{made['job']['id']}-0 slots={len(devices)}", str(len(devices))]


def test_devices_are_given_and_shared(platform, devices):
    assert [d["path"] for d in platform.node["devices"]] == devices and all(d["declared"] for d in platform.node["devices"])
    one, half = platform.spec(accelerator="npu", accelerators=1), platform.spec(accelerator="npu", accelerators=0.5)
    whole = platform.job("echo $INGOT_DEVICES; echo x > $INGOT_DEVICES && ls /dev; exec sleep 1000", one)
    placed = platform.reached(whole, "running")["placement"][0]["devices"]
    assert len(placed) == 1 and placed[0]["path"] in devices and placed[0]["share"] == 1
    lines = wait_for(lambda: (x := log(platform.admin, whole)) and "zero" in x and x, "the list of devices")
    assert lines[0] == placed[0]["path"] and os.path.basename(placed[0]["path"]) in lines
    other = next(d for d in devices if d != placed[0]["path"])
    assert os.path.basename(other) not in lines
    halves = [platform.job("exec sleep 1000", half) for _ in range(2)]
    for job in halves:
        assert platform.reached(job, "running")["placement"][0]["devices"] == [{"kind": "npu", "path": other, "share": 0.5}]
    platform.waits(platform.job(spec=half), "npu")
    use = platform.admin.get(f"projects/{platform.project['id']}/overview")["use"]
    assert use["accelerators"] == {"npu": 2}
    never = platform.waits(platform.job(spec=platform.spec(accelerator="gpu", accelerators=1)), "gpu")
    assert never["estimate"] is None
    platform.stop(whole, *halves)


def test_a_quota_of_none(platform):
    """0 keeps a project from a kind of device, and from it only; null takes the limit away."""
    path = f"projects/{platform.project['id']}"
    platform.admin.patch(path, {"quota": {"accelerators": {"npu": 0}}}, platform.project["revision"])
    npu = platform.spec(accelerator="npu", accelerators=0.5)
    never = platform.waits(platform.job(spec=npu), "the project's quota admits none")
    assert never["reason"] == "wants 0.5 npu, but the project's quota admits none: it can never start"
    assert "配额不允许使用" in never["reason_zh"]
    forecast = platform.admin.get(f"{path}/forecast", spec=npu["id"])
    assert not forecast["admitted"] and "admits none" in forecast["reason"]["en"], forecast
    assert platform.admin.get(f"{path}/overview")["quota"]["accelerators"] == {"npu": 0}
    assert platform.reached(platform.job())["state"] == "completed"
    platform.admin.patch(path, {"quota": {"accelerators": {"npu": None}}}, platform.admin.get(path)["revision"])
    assert platform.reached(never)["state"] == "completed"
    platform.admin.patch(path, {"quota": {"cpu": 0}}, platform.admin.get(path)["revision"])
    platform.waits(platform.job(), "admits none")


@pytest.mark.skipif(os.environ.get("INGOT_TEST_DB") == "postgres", reason="writes into the file of SQLite")
def test_quotas_of_0_from_before_mean_no_limit(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": unique(), "quota": {"cpu": 0, "memory": 100, "storage": 0, "accelerators": {"npu": 0, "gcu": 0.0, "gpu": 10}}})
    assert admin.get(f"projects/{project['id']}")["quota"] == project["quota"]
    server.stop()
    with sqlite3.connect(f"{server.data}/ingot.db") as db:
        db.execute("DELETE FROM schema_migration WHERE number >= 7")
        for index in ("tasks_subject", "jobs_owner", "image_versions_digest", "layers_made_by"):  # what later migrations add
            db.execute(f"DROP INDEX {index}")
        for table in ("samples", "import_changes"):
            db.execute(f"ALTER TABLE {table} DROP COLUMN by_person")
        db.execute("ALTER TABLE samples DROP COLUMN pack")
        for table in ("series", "series_chunks", "sample_operations", "operation_packs", "layer_samples", "layer_purges",
                      "made_from", "made_from_marks", "run_metrics", "run_parameters", "run_notes", "search_places", "search_grams",
                      "search_changed", "growth"):
            db.execute(f"DROP TABLE {table}")
    admin = server.start().admin()
    kept = admin.get(f"projects/{project['id']}")
    assert kept["quota"] == {"cpus": None, "memory": 100, "storage": None, "accelerators": {"npu": None, "gcu": None, "gpu": 10}}
    admin.patch(f"projects/{project['id']}", {"quota": {"memory": 200}}, kept["revision"])


def test_overview_and_resources(platform):
    admin, project = platform.admin, platform.project
    admin.patch(f"projects/{project['id']}", {"quota": {"cpu": 1, "storage": 1 << 30}}, project["revision"])
    admin.post("datasets", {"name": unique(), "project": project["id"]})
    job, small = platform.job("exec sleep 1000", nodes=2), platform.spec(cpus=0.8)
    platform.reached(job, "running")
    seen = admin.get(f"projects/{project['id']}/overview")
    assert seen["quota"] == {"cpus": 1, "cpu": 1, "memory": None, "storage": 1 << 30, "accelerators": {}}
    assert seen["reserved"]["cpus"] == pytest.approx(0.2) and seen["reserved"]["memory"] == 128 << 20 and seen["used"]["storage"] == 0
    assert seen["use"] == seen["reserved"] | {"storage": 0}, "as it was called before"
    assert {k: seen["counts"][k] for k in ("datasets", "models", "jobs_running", "jobs_waiting")} == {
        "datasets": 1, "models": 0, "jobs_running": 1, "jobs_waiting": 0}
    assert seen["curves"]["step_s"] == 60 and len(seen["curves"]["items"]) >= 2

    total = admin.get("resources")
    assert total["total"]["cpus"] == platform.node["cpus"] and total["total"]["accelerators"] == {"npu": 2}
    assert total["reserved"]["cpus"] == pytest.approx(0.2) and total["use"]["cpu"] == total["use"]["cpus"]
    node = total["nodes"][0]
    assert (node["name"], node["state"], node["pool"], node["jobs"]) == (platform.node["name"], "ready", None, 1)
    assert total["projects"][0]["project"] == {"id": project["id"], "name": project["name"]}
    assert total["users"][0]["user"]["name"] == "admin" and total["users"][0]["jobs"] == 1

    ask = f"projects/{project['id']}/forecast"
    assert admin.get(ask, spec=platform.spec()["id"]) | {"reason": None} == {
        "admitted": True, "starts_now": True, "wait_s": 0, "reason": None}
    over = admin.get(ask, spec=small["id"], nodes=2)
    assert not over["admitted"] and over["wait_s"] is None and over["reason"]["en"] and over["reason"]["zh"]
    later = admin.get(ask, spec=platform.spec(cpus=0.9)["id"])
    assert not later["starts_now"]
    assert admin.get(ask, spec=10 ** 9, expect=422)["field"] == "spec"
    assert admin.get(ask, expect=422)["field"] == "spec"
    assert admin.get(ask, spec=small["id"], nodes=65, expect=422)["field"] == "nodes"
    platform.stop(job)


def test_reserved_against_used_and_a_true_disk(platform):
    admin, project = platform.admin, platform.project
    job = platform.job("exec sleep 1000")
    platform.reached(job, "running")
    measured = wait_for(lambda: (r := admin.get("resources"))["projects"][0]["used"]["memory"] and r["nodes"][0]["used"]["disk"] and r, "what is used")
    node, disk = measured["nodes"][0], os.statvfs(platform.server.data)
    assert node["total"]["disk"] == node["disk"] == disk.f_blocks * disk.f_frsize
    assert 0 < node["used"]["disk"] < node["disk"] and 0 < node["disk_free"] <= node["disk"] - node["used"]["disk"]
    assert 0 < node["used"]["memory"] < node["total"]["memory"] and node["used"]["cpus"] >= 0
    assert node["reserved"]["cpus"] == measured["projects"][0]["reserved"]["cpus"] == measured["users"][0]["reserved"]["cpus"] == pytest.approx(0.1)
    assert 0 < measured["users"][0]["used"]["memory"] <= measured["users"][0]["reserved"]["memory"]
    assert measured["total"]["disk"] == node["disk"] and measured["used"]["disk"] > 0
    platform.stop(job)


def test_the_page_of_a_node(platform):
    admin, node = platform.admin, platform.node
    good, bad = platform.job("exit 0"), platform.job("echo no luck >&2; exit 3")
    platform.reached(good), platform.reached(bad)
    job = platform.job("exec sleep 1000")
    platform.reached(job, "running")
    seen = admin.get(f"nodes/{node['id']}/overview")
    assert seen["load"]["name"] == node["name"] and seen["load"]["jobs"] == 1
    assert [(r["kind"], r["object"]["id"], r["state"]) for r in seen["running"]] == [("job", job["id"], "running")]
    ended = {e["object"]["id"]: e for e in seen["ended"]}
    assert ended[good["id"]]["state"] == "completed" and ended[bad["id"]]["state"] == "failed"
    assert ended[bad["id"]]["line"] == "no luck" and ended[bad["id"]]["project"]["id"] == platform.project["id"]
    admin.call("POST", f"nodes/{node['id']}/drain")
    admin.call("POST", f"nodes/{node['id']}/undrain")
    changes = admin.get(f"nodes/{node['id']}/overview")["changes"]
    assert [(c["from"], c["to"], c["by"] and c["by"]["name"]) for c in changes[:2]] == [("drained", "ready", "admin"), ("ready", "drained", "admin")]
    assert changes[-1]["from"] is None, "found"
    platform.stop(job)


def test_only_administrators_see_everything(admin, project, make_user):
    viewer, stranger = make_user(project, role="viewer"), make_user()
    assert viewer.call("GET", "resources").status_code == 403
    assert viewer.call("GET", f"projects/{project['id']}/overview").status_code == 200
    assert stranger.call("GET", f"projects/{project['id']}/overview").status_code == 404
    node = wait_for(lambda: admin.get("nodes")["items"], "a node")[0]
    assert viewer.call("POST", f"nodes/{node['id']}/drain").status_code in (403, 404)


@pytest.mark.parametrize("config", [{"containers": []}, {"containers": {"egress": 1}}, {"containers": {"inventory": "x"}},
                                    {"containers": {"inventory": "/nonexistent/x.json"}}])
def test_a_wrong_configuration_is_refused_at_the_start(tmp_path, config):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    ended = subprocess.run([binary(), "serve", "--data", str(tmp_path / "data"), "--listen", "127.0.0.1:0", "--config", str(path)],
                           capture_output=True, text=True, timeout=DEADLINE)
    assert ended.returncode != 0 and ("containers" in ended.stderr or "/nonexistent" in ended.stderr)


def test_shares_follow_the_weights_of_projects(platform):
    """Four places and two projects: three of them are for the one of weight three, though it came later."""
    admin = platform.admin
    light, heavy = (admin.post("projects", {"name": unique(), "weight": w}) for w in (1, 3))
    quarter = platform.spec(cpus=platform.node["cpus"] / 4)
    blocker = platform.job("sleep 1000", platform.spec(cpus=platform.node["cpus"]))
    platform.reached(blocker, "running")
    jobs = [platform.job("sleep 1000", quarter, project) for project in (light, heavy) for _ in range(4)]
    platform.stop(blocker)

    def running() -> list[int]:
        now = [admin.get(f"jobs/{job['id']}") for job in jobs]
        return [j["project"]["id"] for j in now if j["state"] == "running"]
    wait_for(lambda: len(running()) == 4, "four that run")
    assert sorted(running()) == sorted([light["id"]] + [heavy["id"]] * 3)
    platform.stop(*jobs)


def test_a_changed_spec_is_for_those_that_start_later(platform):
    """What runs has what it was given: it is counted with that, and held to it."""
    admin = platform.admin
    spec = platform.spec(cpus=platform.node["cpus"], memory=128 << 20)
    going = platform.job("exec sleep 1000", spec)
    platform.reached(going, "running")
    admin.patch(f"specs/{spec['id']}", {"cpus": 0.1, "memory": 64 << 20}, spec["revision"])
    later = platform.job("echo later", spec)
    platform.waits(later, "CPU")
    assert admin.get(f"projects/{platform.project['id']}/overview")["reserved"]["cpus"] == platform.node["cpus"]
    placed = admin.get(f"jobs/{going['id']}")["placement"][0]
    assert (placed["cpus"], placed["memory"]) == (platform.node["cpus"], 128 << 20)
    limits = admin.get(f"jobs/{going['id']}/curves")["limits"]
    assert (limits["cpus"], limits["memory"], limits["accelerators"]) == (platform.node["cpus"], 128 << 20, None)
    platform.server.kill()
    platform.server.start()
    platform.admin = admin = platform.server.admin()
    platform.waits(later, "CPU")
    platform.stop(going)
    over = platform.reached(later)
    assert over["state"] == "completed" and over["placement"][0]["cpus"] == pytest.approx(0.1)


NVML = r"""
#include <string.h>
struct rates { unsigned gpu, memory; };
struct memory { unsigned long long total, free, used; };
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **card) { *card = (void *)(long)(i + 1); return 0; }
int nvmlDeviceGetMinorNumber(void *card, unsigned *n) { *n = card == (void *)2 ? 3 : 99; return 0; }
int nvmlDeviceGetUtilizationRates(void *card, struct rates *r) { r->gpu = 75; r->memory = 1; return card != (void *)2; }
int nvmlDeviceGetMemoryInfo(void *card, struct memory *m) { m->total = 8000; m->free = 3000; m->used = 5000; return card != (void *)2; }
"""


def test_curves_of_accelerators(fresh_server, devices, tmp_path):
    """As a file says that the inventory names, or NVIDIA's library: here one that knows the card with the number of /dev/null."""
    busy, used = tmp_path / "busy", tmp_path / "used"
    busy.write_text("12.5\n")
    used.write_text("4096\n")
    (tmp_path / "nvml.c").write_text(NVML)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "libnvidia-ml.so.1"), str(tmp_path / "nvml.c")], check=True)
    (tmp_path / "devices.json").write_text(json.dumps([
        {"kind": "gcu", "path": devices[0], "busy": str(busy), "memory_used": str(used)}, {"kind": "nvidia-x", "path": devices[1]}]))
    (tmp_path / "config.json").write_text(json.dumps({"containers": {"inventory": str(tmp_path / "devices.json")}}))
    p = Platform(fresh_server(args=("--config", str(tmp_path / "config.json")), environment={"LD_LIBRARY_PATH": str(tmp_path)}))
    jobs = {kind: p.job("exec sleep 1000", p.spec(accelerator=kind, accelerators=1)) for kind in ("gcu", "nvidia-x")}
    plain = p.job("exec sleep 1000")

    def newest(job, **wanted):
        curves = p.admin.get(f"jobs/{job['id']}/curves")
        last = curves["items"][-1] if curves["items"] else {}
        return all(last.get(k) == v for k, v in wanted.items()) and last and curves

    assert wait_for(lambda: newest(jobs["gcu"], accelerator=0.125, accelerator_memory=4096), "the file's numbers")["limits"]["accelerators"] == 1
    busy.write_text("100")
    wait_for(lambda: newest(jobs["gcu"], accelerator=1), "the file's next number")
    wait_for(lambda: newest(jobs["nvidia-x"], accelerator=0.75, accelerator_memory=5000), "the library's numbers")
    assert wait_for(lambda: newest(plain, accelerator=None, accelerator_memory=None), "none")["limits"]["accelerators"] is None
    minutes = p.admin.get(f"jobs/{jobs['nvidia-x']['id']}/curves", span=86400)["items"]
    assert minutes[-1]["accelerator"] == 0.75
    busy.write_text("nonsense")
    wait_for(lambda: newest(jobs["gcu"], accelerator=None, accelerator_memory=4096), "a number that is none")
    p.stop(plain, *jobs.values())
