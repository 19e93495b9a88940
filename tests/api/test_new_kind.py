"""A new kind by the recipe of src/core/README.md: one file, two lines, and all the rest follows. A program with one is also the
next version of this one: jobs go on while the platform is upgraded, and when it goes back."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from cli import Cli
from harness import ROOT, Api, Server, binary, problem, unique, wait_for


def command(build: Path, target: str) -> list[str]:
    """The build's own command for a target."""
    out = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True, text=True, stdout=subprocess.PIPE)
    return [word for word in shlex.split(out.stdout.splitlines()[-1]) if word not in (":", "&&")]


def compiled(build: Path, source: Path, overlay: Path) -> str:
    """As the build compiles kinds.c, with the overlay's headers before the others."""
    words = command(build, "CMakeFiles/ingot_core.dir/src/core/kinds.c.o")
    words = words[:words.index("-MD")]
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    subprocess.run([*words[:first], f"-I{overlay}", *words[first:], "-c", source, "-o", f"{source}.o"], cwd=build, check=True)
    return f"{source}.o"


def written(text: str, pattern: str, more: str) -> str:
    text, count = re.subn(pattern, lambda found: found[0] + more, text, count=1, flags=re.MULTILINE)
    assert count == 1
    return text


@pytest.fixture
def newer(tmp_path) -> str:
    """The program with the recipe's kind and one more migration, linked from the build's libraries."""
    build = Path(binary()).resolve().parent
    if not (build / "build.ninja").exists():
        pytest.skip("the program is not in its build folder")
    core = ROOT / "src" / "core"
    overlay = tmp_path / "overlay"
    (overlay / "core").mkdir(parents=True)
    code = re.search(r"```c\n(.*?)```", (core / "README.md").read_text(), re.DOTALL)[1]
    (overlay / "kind_note.c").write_text(code)
    header = written((core / "kinds.h").read_text(), r"^extern const struct kind .*;$", "\nextern const struct kind kind_note;")
    (overlay / "core" / "kinds.h").write_text(header)
    registry = written((core / "kinds.c").read_text(), r"&kind_label_set,", "\n    &kind_note,")
    (overlay / "kinds.c").write_text(registry)
    migrations = (core / "migrations.c").read_text()
    more = f'    {{{len(re.findall(r"^    {[1-9]", migrations, re.MULTILINE)) + 1}, "+ more", "CREATE TABLE more (id {{id}});\\n"}},\n'
    migrations = migrations.replace("    {0},\n", more + "    {0},\n")
    (overlay / "migrations.c").write_text(migrations)
    objects = [compiled(build, overlay / name, overlay) for name in ("kind_note.c", "kinds.c", "migrations.c")]
    link = command(build, "ingot")
    at = link.index("-o")
    subprocess.run([*link[:at], *objects, "-o", tmp_path / "ingot", *link[at + 2:]], cwd=build, check=True)
    return str(tmp_path / "ingot")


def test_a_new_kind_is_one_file(newer, make_db, tmp_path, monkeypatch):
    monkeypatch.setenv("INGOT_BIN", newer)
    server = Server(make_db()).start()
    try:
        admin = server.admin()
        project = admin.post("projects", {"name": "p"})["id"]
        team = admin.post("groups", {"name": "writers"})["id"]
        made = admin.post("notes", {"project": project, "name": "first", "team": team})
        assert made["team"]["name"] == "writers"
        assert [one["name"] for one in admin.get("notes", project=project, q="fi", filter=f"team = {team}")["items"]] == ["first"]
        problem(admin.call("POST", "notes", json={"project": project, "name": "a/b"}), 422, "invalid", "name")
        problem(admin.call("POST", "notes", json={"project": project, "name": "first"}), 409, "exists", "name")
        problem(admin.call("DELETE", f"groups/{team}"), 409, "conflict")
        assert admin.get("audit", filter='kind = "note"')["items"][0]["verb"] == "create"
        assert "note.create" in [one["name"] for one in admin.get("permissions")["items"]]
        assert {"get", "post"} <= set(admin.get("openapi.json")["paths"]["/api/v1/notes"])
        kind = next(one for one in admin.get("kinds")["items"] if one["name"] == "note")
        assert kind["titles"] == {"en": "Notes", "zh": "笔记"} and kind["menu"] == "data"
        cli = Cli(tmp_path)
        cli.run("login", server.url, "--token-stdin", stdin=admin.post("tokens", {"name": "cli"})["secret"])
        cli.run("note", "create", "second", "--project", "p")
        assert "second" in cli.run("note", "list", "--project", "p").out
    finally:
        server.remove()


def test_jobs_go_on_through_an_upgrade_and_back(newer, make_db, monkeypatch):
    server = Server(make_db()).start()
    try:
        admin = server.admin()
        project = admin.post("projects", {"name": "p"})["id"]
        spec = admin.post("specs", {"name": unique("small"), "cpus": 0.2, "memory": 128 << 20})["id"]
        path = f"jobs/{admin.post('jobs', {'project': project, 'name': 'long', 'spec': spec, 'command': 'echo began; sleep 600'})['id']}"
        wait_for(lambda: admin.get(path)["state"] == "running" and admin.get(f"{path}/log")["lines"], "the job's first line")
        began = admin.get(path)

        def restarted(program: str | None):
            server.stop()
            if program:
                monkeypatch.setenv("INGOT_BIN", program)
            else:
                monkeypatch.undo()
            server.start()
            api = Api(server.url, admin.token)
            job = api.get(path)
            assert (job["state"], job["attempt"], job["started_at"]) == ("running", 1, began["started_at"])
            return api
        api = restarted(newer)
        api.http.request("POST", "notes", json={"project": project, "name": "kept"}).raise_for_status()
        api = restarted(None)
        problem(api.call("GET", "notes"), 404, "not_found")
        assert api.get("projects", q="p")["items"][0]["id"] == project
        api = restarted(newer)
        assert [one["name"] for one in api.http.request("GET", f"notes?project={project}").json()["items"]] == ["kept"]
        api.post(f"{path}/stop", expect=200)
        wait_for(lambda: api.get(path)["state"] == "stopped", "the job's end")
    finally:
        server.remove()
