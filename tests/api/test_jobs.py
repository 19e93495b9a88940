"""Jobs in real containers: states, logs, exit codes, stop, gangs, mounts, quota, terminal, and a server that is killed."""

import json
import ssl  # noqa: F401  (websockets needs it to be importable)
from urllib.parse import urlencode

import httpx
import pytest
from harness import unique, wait_for
from test_datasets import bring, coco, png, zipped
from test_files import put
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

OVER = ("completed", "failed", "stopped")


@pytest.fixture(scope="session")
def spec(admin) -> dict:
    return admin.post("specs", {"name": unique("small"), "cpus": 0.2, "memory": 256 << 20})


@pytest.fixture
def run(admin, project, spec):
    """Submits a job and gives it when it is over (or in the wanted state)."""
    def submit(command: str, until=OVER, api=admin, **fields) -> dict:
        job = api.post("jobs", {"project": project["id"], "name": unique("job"), "command": command, "spec": spec["id"], **fields})
        return reached(admin, job, until)
    return submit


def reached(api, job: dict, states) -> dict:
    return wait_for(lambda: (j := api.get(f"jobs/{job['id']}"))["state"] in states and j, f"one of {states}")


def log(api, job: dict, **params) -> list[str]:
    lines, after = [], 0
    while True:
        page = api.get(f"jobs/{job['id']}/log", after=after, **params)
        lines += [line["text"] for line in page["lines"]]
        if page["next"] == after or page["next"] >= page["end"]:
            return lines
        after = page["next"]


def test_a_job_runs_and_says_what_it_did(admin, run):
    job = run("echo hello; echo to-errors >&2; pwd; id -u")
    assert (job["state"], job["exit_code"], job["attempt"]) == ("completed", 0, 1)
    lines = log(admin, job)
    assert {"hello", "to-errors", "/workspace", "0"} <= set(lines)
    events = admin.get(f"jobs/{job['id']}/events")["items"]
    assert [e["state"] for e in events] == ["completed", "running", "starting"]
    assert job["created_at"] <= job["started_at"] <= job["ended_at"] and events[1]["at"] == job["started_at"]


def test_failures_have_codes_and_reasons(admin, run):
    job = run("exit 7")
    assert (job["state"], job["exit_code"]) == ("failed", 7)
    assert (job["reason"], job["reason_zh"]) == ("ended with exit code 7", "退出码 7")
    event = admin.get(f"jobs/{job['id']}/events")["items"][0]
    assert (event["state"], event["reason"], event["reason_zh"]) == ("failed", job["reason"], job["reason_zh"])


def test_retries(admin, run):
    job = run("exit 3", retries=1)
    assert (job["state"], job["attempt"]) == ("failed", 2)
    log(admin, job, attempt=1)
    events = admin.get(f"jobs/{job['id']}/events")["items"]
    assert [e["state"] for e in events if e["attempt"] == 1][:3] == ["queued", "running", "starting"]
    assert [e["reason_zh"] for e in events if e["state"] == "queued"] == ["退出码 3；将重试"]


def test_the_hours_are_over(admin, run):
    job = run("echo up; exec sleep 1000", hours=0.0005, retries=3)
    assert (job["state"], job["attempt"], job["reason"], job["reason_zh"]) == ("stopped", 1, "its hours are over", "已到运行时限")
    assert [e["state"] for e in admin.get(f"jobs/{job['id']}/events")["items"]][:2] == ["stopped", "stopping"]


def test_environment_and_gangs(admin, run):
    job = run('echo "rank $NODE_RANK of $NNODES says $WORD"; getent hosts "$MASTER_ADDR" >/dev/null && echo found', nodes=2,
              env={"WORD": "你好"})
    assert job["state"] == "completed", job
    for rank in (0, 1):
        lines = log(admin, job, rank=rank)
        assert f"rank {rank} of 2 says 你好" in lines
        assert "found" in lines


def test_ranks_reach_each_other_by_ssh_and_mpi(admin, run):
    job = run("cat /etc/volcano/worker.host; cat /etc/mpi/hostfile; [ $NODE_RANK = 0 ] || exec sleep 1000; "
              "ssh job-$INGOT_JOB-1 'echo hello from $(hostname)' && mpirun sh -c 'echo mpi $(hostname) ${OMPI_COMM_WORLD_RANK} of "
              "${OMPI_COMM_WORLD_SIZE}' && ssh job-$INGOT_JOB-1 pkill sleep", nodes=2)
    lines = log(admin, job)
    names = [f"job-{job['id']}-{rank}" for rank in (0, 1)]
    assert lines[:4] == names + [f"{name} slots=1" for name in names]
    assert f"hello from {names[1]}" in lines, lines
    assert sorted(x for x in lines if x.startswith("mpi")) == [f"mpi {names[i]} {i} of 2" for i in (0, 1)], lines


def test_a_dataset_is_mounted(admin, project, run):
    made = admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": "detection"})
    version = admin.post(f"datasets/{made['id']}/versions", {})
    path = f"datasets/{made['id']}/versions/{version['id']}"
    boxes = coco([{"id": 1, "file_name": "one.png", "width": 20, "height": 10}],
                 [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}], [{"id": 1, "name": "thing"}])
    bring(admin, project, path, "a.zip", zipped({"a/one.png": png(20, 10, 1), "two.png": png(20, 10, 2), "a.json": boxes}))
    show = "cd dataset; find . -type f | sort; cat ingot.jsonl; wc -c < two.png; touch x || echo read-only"
    lines = log(admin, run(show, dataset=version["id"]))
    assert {"./a/one.png", "./two.png", "./ingot.jsonl", "./coco.json", "read-only", str(len(png(20, 10, 2)))} <= set(lines)
    found = {x["file"]: x for x in map(json.loads, (x for x in lines if x.startswith('{"file')))}
    assert found["a/one.png"]["annotation"]["shapes"][0]["label"] == "thing"
    assert "annotation" not in found["two.png"]
    bring(admin, project, path, "three.png", png(9, 9))
    assert "./three.png" in log(admin, run(show, dataset=version["id"]))
    said = coco([{"id": 1, "file_name": "two.png", "width": 20, "height": 10}], [{"id": 1, "image_id": 1, "caption": "two of them"}], [])
    bring(admin, project, path, "b.zip", zipped({"val.json": said}))
    lines = log(admin, run(show + "; cat coco-captions.json", dataset=version["id"]))
    assert {"./coco.json", "./coco-captions.json"} <= set(lines)
    assert any('"caption":"two of them"' in x for x in lines)
    assert any(x.startswith('{"file":"two.png"') and '"split":"val"' in x for x in lines)


def test_stop(admin, run):
    job = run("echo up; exec sleep 1000", until=("running",))
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    assert reached(admin, job, OVER)["state"] == "stopped"
    admin.post(f"jobs/{job['id']}/stop", expect=409)
    admin.delete(f"jobs/{job['id']}")
    admin.get(f"jobs/{job['id']}", expect=404)


def test_code_is_mounted(admin, project, run):
    made = admin.post("algorithm-sets", {"name": unique("set"), "project": project["id"]})
    version = admin.post(f"algorithm-sets/{made['id']}/versions", {})
    path = f"algorithm-sets/{made['id']}/versions/{version['id']}"
    put(admin, path, "src/train.py", b"print('trained', 6 * 7)\n")
    job = run("python3 algorithm/src/train.py; echo x > algorithm/new || echo read-only", algorithm=version["id"])
    assert {"trained 42", "read-only"} <= set(log(admin, job))


def test_a_quota_makes_jobs_wait_and_say_so(admin, spec, run):
    project = admin.post("projects", {"name": unique("project"), "quota": {"cpu": 0.1}})
    job = admin.post("jobs", {"project": project["id"], "name": "j", "command": "true", "spec": spec["id"]})
    waiting = wait_for(lambda: (j := admin.get(f"jobs/{job['id']}"))["reason"] and j, "a reason")
    assert waiting["state"] == "queued"
    assert "quota" in waiting["reason"].lower() or "CPU" in waiting["reason"]
    admin.post(f"jobs/{job['id']}/stop", expect=200)


@pytest.mark.parametrize("fields, field", [
    ({"command": ""}, "command"), ({"command": "x" * 3001}, "command"), ({"nodes": 0}, "nodes"), ({"nodes": 65}, "nodes"),
    ({"spec": 999999}, "spec"), ({"env": {"a b": "c"}}, "env"), ({"env": {"A": 1}}, "env"), ({"env": []}, "env")])
def test_bad_input(admin, project, spec, fields, field):
    body = {"project": project["id"], "name": "j", "command": "true", "spec": spec["id"], **fields}
    assert admin.post("jobs", body, expect=422)["field"] == field


def test_following_a_log(admin, run, server):
    job = run("for i in 1 2 3; do echo line $i; done")
    seen = []
    with admin.http.stream("GET", f"jobs/{job['id']}/log/follow") as answer:
        for line in answer.iter_lines():
            if line.startswith("data: ["):
                seen += [x["text"] for x in json.loads(line[6:])]
            if line == "event: end":
                break
    assert [x for x in seen if x.startswith("line")] == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize("end", ["token", "user", "member", "role"])
def test_a_followed_log_ends_with_the_right_to_it(admin, project, run, server, make_user, end):
    reader = make_user(project)
    token = reader.post("tokens", {"name": "t"})
    job = run("echo begin; exec sleep 1000", until=("running",))
    with httpx.stream("GET", f"{server.url}/api/v1/jobs/{job['id']}/log/follow", timeout=120, trust_env=False,
                      headers={"Authorization": f"Bearer {token['secret']}"}) as answer:
        lines = answer.iter_lines()
        while "begin" not in next(lines):
            pass
        member = next(m for m in admin.all(f"projects/{project['id']}/members") if (m["user"] or {}).get("id") == reader.user["id"])
        if end == "token":
            reader.delete(f"tokens/{token['id']}")
        elif end == "user":
            admin.patch(f"users/{reader.user['id']}", {"disabled": True}, reader.user["revision"])
        elif end == "member":
            admin.delete(f"projects/{project['id']}/members/{member['id']}")
        else:
            role = admin.post("roles", {"name": unique("role"), "permissions": ["dataset.read"]})
            admin.patch(f"projects/{project['id']}/members/{member['id']}", {"role": role["id"]}, member["revision"])
        with pytest.raises(httpx.RemoteProtocolError):
            for _ in lines:
                pass
    admin.post(f"jobs/{job['id']}/stop", expect=200)


def test_searching_and_downloading_a_log(admin, run):
    job = run("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo NEEDLE; printf 'no end'; exit 1", retries=1)
    path = f"jobs/{job['id']}/log"
    assert job["attempt"] == 2
    found = admin.get(f"{path}/search", q="line 29", limit=3)
    assert [m["text"] for m in found["matches"]] == ["line 29", "line 290", "line 291"]
    assert not found["end"]
    first = found["matches"][0]["line"]
    assert admin.get(path, line=first)["lines"][0]["text"] == "line 29"
    rest = admin.get(f"{path}/search", q="line 29", line=found["next"], limit=1000)
    assert rest["end"] and len(rest["matches"]) == 108
    assert not admin.get(f"{path}/search", q="needle")["matches"]
    assert [m["text"] for m in admin.get(f"{path}/search", q="needle", ignore_case=1, attempt=1)["matches"]] == ["NEEDLE"]
    page = admin.get(path)
    assert page["first_line"] == 0 and page["end_line"] >= 3002
    text = admin.call("GET", f"{path}/download", params={"attempt": 1}).text
    assert text.startswith("line 0\nline 1\n") and "NEEDLE\nno end\n" in text
    timed = admin.call("GET", f"{path}/download", params={"times": 1}).text.splitlines()
    assert timed[0].endswith(" o  line 0") or timed[0].endswith("o line 0")
    for params, field in [({}, "q"), ({"q": ""}, "q"), ({"q": "x" * 201}, "q"), ({"q": "x", "limit": 10 ** 9}, "limit"),
                          ({"q": "x", "line": -1}, "line"), ({"q": "x", "attempt": 3}, "attempt"), ({"q": "x", "rank": 1}, "rank")]:
        assert admin.get(f"{path}/search", expect=422, **params)["field"] == field


def shows(ws, text: str, typed: bytes) -> None:
    ws.send(typed)
    seen = b""
    while text.encode() not in seen:
        seen += ws.recv(timeout=120)


def test_a_terminal(admin, run, server):
    job = run("exec sleep 1000", until=("running",))
    url = server.url.replace("http", "ws") + f"/api/v1/jobs/{job['id']}/terminal"
    with connect(url, additional_headers={"Authorization": f"Bearer {admin.token}"}, proxy=None) as ws:
        ws.send(json.dumps({"rows": 30, "cols": 100}))
        shows(ws, "42-done", b"echo $((40+2))-done\n")
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)


def test_whose_terminal_it_is(admin, project, run, server, make_user):
    """Only who started a job, and administrators; and only as long as the session that opened it lives."""
    owner, other = make_user(project), make_user(project)
    job = run("exec sleep 1000", until=("running",), api=owner)
    url = server.url.replace("http", "ws") + f"/api/v1/jobs/{job['id']}/terminal"

    def terminal(token=None, **headers):
        bearer = {"Authorization": f"Bearer {token}"} if token else {}
        return connect(url, additional_headers=bearer | headers, proxy=None)

    for refused in ({"token": other.token}, {"token": make_user().token}, {"token": make_user(project, role="viewer").token}, {}):
        with pytest.raises(InvalidStatus, match="40[134]"), terminal(**refused):
            pass
    browser = httpx.Client(base_url=server.url + "/api/v1/", headers={"Origin": server.url}, timeout=120, trust_env=False)
    assert browser.post("sessions", json={"name": owner.user["name"], "password": "pass-word-1"}).status_code == 201
    cookie = {"Cookie": f"ingot_session={browser.cookies['ingot_session']}"}
    for origin in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        with pytest.raises(InvalidStatus, match="403"), terminal(**cookie, **origin):
            pass
    with terminal(admin.token) as ws:
        shows(ws, "42-done", b"echo $((40+2))-done\n")
    with terminal(**cookie, Origin=server.url) as ws:
        assert browser.delete("session").status_code == 204
        with pytest.raises(ConnectionClosed):
            while True:
                ws.recv(timeout=120)
        assert ws.close_code == 1008, ws.close_reason
    owner.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)
    with pytest.raises(InvalidStatus, match="409"), terminal(owner.token):
        pass


def test_a_command_ends_with_its_client(admin, run, server):
    """Also one that has closed its output, so that nothing is left to be read from it."""
    job = run("until [ -s /tmp/pid ]; do sleep 0.1; done; while kill -0 $(cat /tmp/pid); do sleep 0.1; done; echo gone", until=("running",))
    command = json.dumps(["sh", "-c", "echo $$ > /tmp/pid; echo ready; exec 0<&- 1>&- 2>&-; exec sleep 1000"])
    url = server.url.replace("http", "ws") + f"/api/v1/jobs/{job['id']}/terminal?{urlencode({'tty': 0, 'argv': command})}"
    with connect(url, additional_headers={"Authorization": f"Bearer {admin.token}"}, proxy=None) as ws:
        assert ws.recv(timeout=120) == b"ready\n"
    assert "gone" in log(admin, reached(admin, job, OVER))


def test_strangers_and_viewers(admin, project, run, make_user):
    job = run("echo secret")
    stranger, viewer = make_user(), make_user(project, role="viewer")
    assert stranger.call("GET", f"jobs/{job['id']}/log").status_code == 404
    assert "secret" in log(viewer, job)
    assert viewer.call("POST", f"jobs/{job['id']}/stop").status_code == 403


def test_a_killed_server_finds_its_jobs_again(fresh_server):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.post("specs", {"name": "s", "cpus": 0.1, "memory": 64 << 20})
    jobs = [admin.post("jobs", {"project": project["id"], "name": f"j{i}", "spec": spec["id"],
                                "command": f"echo begin {i}; sleep 5; echo end {i}; exit {i}"}) for i in range(3)]
    for job in jobs:
        reached(admin, job, ("running", *OVER))
    for _ in range(3):
        server.kill()
        server.start()
    admin = server.admin()
    for i, job in enumerate(jobs):
        over = reached(admin, job, OVER)
        assert (over["exit_code"], over["attempt"]) == (i, 1)
        assert [x for x in log(admin, over) if x.startswith(("begin", "end"))] == [f"begin {i}", f"end {i}"]
