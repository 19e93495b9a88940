"""The platform from inside of containers: INGOT_URL, INGOT_PROJECT and INGOT_TOKEN, the CLI and the Python client without any
set-up; what a job may do and what it may not, and when its token ends."""

import base64
import json
import re
import subprocess
import zlib
from pathlib import Path

import httpx
import pytest
from harness import ADMIN_PASSWORD, DEADLINE, unique, wait_for
from test_images import base, image, registry, repository  # noqa: F401
from test_jobs import OVER, log, reached, run, spec  # noqa: F401

TOKEN = re.compile(rb"ingot_job_[A-Za-z0-9_-]{43}")
# A request with the given token (or the job's own), and a line with its status and answer.
ASK = r'''
import json, os, sys, urllib.request
def ask(method, path, body=None, token=os.environ.get("INGOT_TOKEN"), **headers):
    q = urllib.request.Request(os.environ["INGOT_URL"] + path, method=method, data=None if body is None else json.dumps(body).encode(),
                               headers={"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {}), **headers})
    try:
        with urllib.request.urlopen(q, timeout=100) as a:
            status, text = a.status, a.read()
    except urllib.error.HTTPError as e:
        status, text = e.code, e.read()
    try:
        answer = json.loads(text)
    except ValueError:
        answer = text.decode(errors="replace")[:100]
    return status, answer
def say(name, found):
    print("SAY", json.dumps([name, *found]), flush=True)
'''


@pytest.fixture
def said(admin, run):  # noqa: F811
    """Runs Python with `ask` and `say` in a job; what was said, by name."""
    def go(text: str, given=None, **fields) -> dict:
        packed = base64.b85encode(zlib.compress(f"given = {given!r}\n{ASK}\n{text}".encode())).decode()  # commands are short
        job = run(f"python3 - <<'EOF'\nimport base64, zlib\nexec(zlib.decompress(base64.b85decode('{packed}')))\nEOF", **fields)
        return {"job": job, **spoken(admin, job)}
    return go


def spoken(api, job: dict) -> dict:
    lines = log(api, job)
    assert job["state"] != "failed", lines
    return {name: found for name, *found in (json.loads(x[4:]) for x in lines if x.startswith("SAY "))}


def test_without_any_set_up(admin, project, run, make_user):  # noqa: F811
    """In the image host: the CLI, the Python client (there is no httpx) and plain HTTP know who they are."""
    user = make_user(project, "owner")
    job = run("ingot whoami; ingot label-set create made-inside; ingot label-set list --output json; which ingot; touch $(which ingot) || echo unchanged; "
              "python3 - <<'EOF'\nimport ingot, os\nc = ingot.Client()\nprint(c.session()['via'], c.session()['job'] == int(os.environ['INGOT_JOB']))\n"
              "here = int(os.environ['INGOT_PROJECT'])\n"
              "c.label_sets.create(project=here, name='by-python')\n"
              "print(sorted(x['name'] for x in c.label_sets.list(project=here)))\n"
              "c.datasets.create(project=here, name='pictures', annotation_type='detection')\nEOF", api=user)
    lines = log(admin, job)
    assert job["state"] == "completed", "\n".join(lines)
    assert user.user["name"] in "\n".join(lines) and "job True" in lines and "['by-python', 'made-inside']" in lines, lines
    assert "unchanged" in lines
    sets = {x["name"]: x for x in admin.all("label-sets", project=project["id"])}
    audit = admin.get("audit", filter=f'kind = "label_set" and object = {sets["by-python"]["id"]}')["items"][0]
    assert (audit["user"]["id"], audit["job"], audit["verb"]) == (user.user["id"], job["id"], "create")
    by_hand = admin.post("label-sets", {"project": project["id"], "name": "by-hand"})
    assert admin.get("audit", filter=f'kind = "label_set" and object = {by_hand["id"]}')["items"][0]["job"] is None


def test_in_another_image(admin, project, registry, image, base, run):  # noqa: F811
    """One without this machine's libraries."""
    registry.push(repository(project, image), base, "v1")
    job = run("ingot whoami", image=f"{image['name']}:v1")
    lines = log(admin, job)
    assert job["state"] == "completed" and any("admin" in x for x in lines), lines


def test_no_more_than_a_member_of_one_project(admin, project, said, make_user):
    """A job of the platform's administrator, who could do anything; and of an owner of two projects."""
    other = admin.post("projects", {"name": unique("other")})
    secret = admin.post("label-sets", {"project": other["id"], "name": "secret"})
    user, owner = make_user(project), make_user(project, "owner")
    wanted = admin.get("roles", filter='name = "owner"')["items"][0]["id"]
    admin.post(f"projects/{other['id']}/members", {"user": owner.user["id"], "role": wanted})
    given = {"user": user.user["id"], "role": wanted, "project": project["id"], "other": other["id"], "set": secret["id"], "password": ADMIN_PASSWORD,
             "token": admin.token}
    text = r'''
p, o, g = "/api/v1/projects/%d" % given["project"], "/api/v1/projects/%d" % given["other"], given
say("may", ask("POST", "/api/v1/label-sets", {"project": g["project"], "name": "mine-" + os.environ["INGOT_JOB"]}))
say("specs", ask("GET", "/api/v1/specs"))
say("projects", ask("GET", "/api/v1/projects"))
say("session", ask("GET", "/api/v1/session"))
tries = {
    "token": ("POST", "/api/v1/tokens", {"name": "by-a-job"}), "tokens": ("GET", "/api/v1/tokens"), "sessions": ("GET", "/api/v1/sessions"),
    "member": ("POST", p + "/members", {"user": g["user"], "role": g["role"]}), "project": ("PATCH", p, {"name": "x"}), "delete": ("DELETE", p),
    "new project": ("POST", "/api/v1/projects", {"name": "x"}), "user": ("POST", "/api/v1/users", {"name": "x", "password": "pass-word-1"}),
    "users": ("GET", "/api/v1/users"), "spec": ("POST", "/api/v1/specs", {"name": "x", "cpus": 1, "memory": 1 << 30}), "backup": ("GET", "/api/v1/backup"),
    "audit": ("GET", "/api/v1/audit"), "log": ("GET", "/api/v1/log"), "profile": ("PATCH", "/api/v1/profile", {"email": "evil@example.org"}),
    "password": ("POST", "/api/v1/profile/password", {"old": g["password"], "new": "pass-word-2"}),
    "sign in": ("POST", "/api/v1/sessions", {"name": "admin", "password": g["password"]}),
    "terminal": ("GET", "/api/v1/jobs/%s/terminal" % os.environ["INGOT_JOB"]),
    "other project": ("GET", o), "other list": ("GET", "/api/v1/label-sets?project=%d" % g["other"]), "other set": ("GET", "/api/v1/label-sets/%d" % g["set"]),
    "other create": ("POST", "/api/v1/label-sets", {"project": g["other"], "name": "x"}), "registry": ("GET", "/v2/"), "page": ("GET", "/"),
}
for name, what in tries.items():
    say(name, ask(*what, **({"If-Match": '"1"'} if what[0] in ("PATCH", "DELETE") else {})))
say("terminal 2", ask("GET", "/api/v1/jobs/%s/terminal" % os.environ["INGOT_JOB"], None, Upgrade="websocket", Connection="Upgrade", Origin=os.environ["INGOT_URL"],
                      **{"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}))
say("a person's token", ask("GET", "/api/v1/session", token=g["token"]))
say("nobody", ask("GET", "/api/v1/session", token=None))
'''
    for api in (admin, owner):
        found = said(text, given, api=api)
        assert found["may"][0] == 201 and found["specs"][0] == 200, found
        assert [x["id"] for x in found["projects"][1]["items"]] == [project["id"]]
        session = found["session"][1]
        assert (session["via"], session["job"], session["user"]["administrator"]) == ("job", found["job"]["id"], False)
        assert [x["id"] for x in session["projects"]] == [project["id"]]
        refused = {name: answer[0] for name, answer in found.items() if name not in ("job", "may", "specs", "projects", "session")}
        assert len(refused) == 26 and all(status in (401, 403, 404) for status in refused.values()), refused
    assert not admin.all("tokens", filter='name = "by-a-job"')


def test_the_token_ends(admin, project, spec, server, make_user):  # noqa: F811
    """With the switch of the project, the membership, the user and the job; it is worth nothing elsewhere, and stands nowhere."""
    user = make_user(project, "owner")
    ask = ("python3 - <<'EOF'\n" + ASK + "import time\nlast = 0\nprint('TOKEN', os.environ['INGOT_TOKEN'], flush=True)\n"
           "while True:\n    found = ask('GET', '/api/v1/session')[0]\n    if found != last:\n        print('NOW', found, flush=True)\n"
           "    last = found\n    time.sleep(0.1)\nEOF")
    job = user.post("jobs", {"project": project["id"], "name": "asks", "command": ask, "spec": spec["id"]})
    reached(admin, job, ("running",))

    def now(count: int) -> str:
        return wait_for(lambda: len(x := [line for line in log(admin, job) if line.startswith("NOW")]) >= count and x[-1], f"{count} answers")

    assert now(1) == "NOW 200"
    token = next(line for line in log(admin, job) if line.startswith("TOKEN"))[6:]
    assert token.startswith("ingot_job_")
    outside = httpx.get(server.url + "/api/v1/session", headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=DEADLINE)
    assert outside.status_code == 401, "a token that was printed opens nothing elsewhere"
    assert token not in json.dumps([admin.get(f"jobs/{job['id']}"), admin.all("audit", filter=f'kind = "job" and object = {job["id"]}'), user.all("tokens")])
    here = admin.get(f"projects/{project['id']}")
    here = admin.patch(f"projects/{project['id']}", {"job_access": False}, here["revision"])
    assert now(2) == "NOW 401"
    admin.patch(f"projects/{project['id']}", {"job_access": True}, here["revision"])
    assert now(3) == "NOW 200"
    member = next(x for x in admin.all(f"projects/{project['id']}/members") if x["user"] and x["user"]["id"] == user.user["id"])
    admin.delete(f"projects/{project['id']}/members/{member['id']}", headers={"If-Match": f'"{member["revision"]}"'})
    assert now(4) == "NOW 401"
    admin.post(f"projects/{project['id']}/members", {"user": user.user["id"], "role": member["role"]["id"]})
    assert now(5) == "NOW 200"
    admin.patch(f"users/{user.user['id']}", {"disabled": True}, admin.get(f"users/{user.user['id']}")["revision"])
    assert now(6) == "NOW 401"
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)


def test_another_jobs_token_and_address(admin, project, spec, run, said):  # noqa: F811
    """The token of one job in the container of another, while both run and after the first has ended."""
    first = run("echo TOKEN $INGOT_TOKEN; exec sleep 1000", until=("running",))
    token = wait_for(lambda: [x for x in log(admin, first) if x.startswith("TOKEN")], "the token")[0][6:]
    text = "say('other', ask('GET', '/api/v1/session', token=given)); say('own', ask('GET', '/api/v1/session'))"
    found = said(text, token)
    assert (found["other"][0], found["own"][0]) == (401, 200)
    # The first one's address is its own loopback: nobody else's connection gets there.
    address = f"job-{first['id']}-0"
    found = said("import socket\nfor host in given:\n  try:\n    socket.create_connection((host, 64646), timeout=3)\n    say('reached ' + host, [1])\n"
                 "  except OSError as e:\n    pass\nsay('done', [0])", [address, "10.200.0.1"])
    assert not [x for x in found if x.startswith("reached")] and "done" in found
    admin.post(f"jobs/{first['id']}/stop", expect=200)
    reached(admin, first, OVER)
    found = said(text, token)  # perhaps with the supervisor and the socket of the first
    assert (found["other"][0], found["own"][0]) == (401, 200)


def test_off_by_the_projects_switch(admin, run, project):  # noqa: F811
    here = admin.get(f"projects/{project['id']}")
    assert here["job_access"] is True
    admin.patch(f"projects/{project['id']}", {"job_access": False}, here["revision"])
    job = run("env | grep -c ^INGOT_; which ingot || echo none; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 64646))' || echo refused")
    lines = log(admin, job)
    assert lines[:2] == ["1", "none"] and "refused" in lines, lines  # INGOT_JOB


def test_a_restart_refuses_no_connection(fresh_server, tmp_path):
    """Neither of an orderly one nor when the server is killed: who connects meanwhile waits."""
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    spec = admin.get("specs", filter='name = "small"')["items"][0]  # noqa: F811
    loop = (ASK + "import socket, time\nnumber = 0\nwhile True:\n    s = socket.create_connection(('127.0.0.1', 64646))\n    s.close()\n    number += 1\n"
            "    try:\n        status = ask('GET', '/api/v1/session')[0]\n    except (OSError, urllib.error.URLError) as e:\n"
            "        status = 'refused' if 'refused' in str(e) else 'broken'\n    print('TRY', status, flush=True)\n    time.sleep(0.05)")
    job = admin.post("jobs", {"project": project["id"], "name": "j", "spec": spec["id"], "command": f"python3 - <<'EOF'\n{loop}\nEOF"})
    reached(admin, job, ("running",))

    def tries(api) -> list[str]:
        return [x for x in log(api, job) if x.startswith("TRY")]

    wait_for(lambda: "TRY 200" in tries(admin), "an answer")
    for end in (server.stop, server.kill):
        before = len(tries(admin))
        end()
        server.start()
        admin = server.admin()
        wait_for(lambda: "TRY 200" in tries(admin)[before + 2:], "an answer of the next server")  # noqa: B023
    lines = log(admin, job)
    assert "TRY refused" not in lines and not [x for x in lines if "Refused" in x], lines[-20:]
    kept = [x for x in Path(server.data).rglob("*") if "cache" not in x.parts and x.is_file() and x.stat().st_size < 1 << 26
            and TOKEN.search(x.read_bytes())]
    assert not kept, "the token is on no disk"
    backup = tmp_path / "backup.tar.zst"
    backup.write_bytes(admin.call("GET", "backup").content)
    plain = subprocess.run(["zstd", "-dc", str(backup)], capture_output=True).stdout
    assert plain and not TOKEN.search(plain)
    admin.post(f"jobs/{job['id']}/stop", expect=200)
    reached(admin, job, OVER)
