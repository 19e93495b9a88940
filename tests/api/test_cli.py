"""The command line against a real server."""

import json
import os
import stat

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, unique


@pytest.fixture(scope="module")
def signed_in(server, tmp_path_factory) -> Cli:
    cli = Cli(tmp_path_factory.mktemp("cli"))
    cli.run("login", server.url + "/", "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    return cli


@pytest.fixture
def cli(signed_in, tmp_path) -> Cli:
    """Signed in, with a configuration that the test may change."""
    own = Cli(tmp_path)
    own.config.parent.mkdir()
    own.config.write_text(signed_in.config.read_text())
    return own


@pytest.fixture
def nobody(tmp_path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def space(cli) -> str:
    """The name of a project that `ingot use` chose."""
    name = unique("p")
    cli.run("project", "create", name)
    cli.run("use", name)
    return name


# --- signing in ---


def test_login_keeps_a_token_for_its_owner_only(signed_in, server):
    assert stat.S_IMODE(os.stat(signed_in.config).st_mode) == 0o600
    kept = json.loads(signed_in.config.read_text())
    assert kept["url"] == server.url
    assert kept["token"].startswith("ingot_")
    assert ADMIN_PASSWORD not in signed_in.config.read_text()
    assert signed_in.run("whoami").out.splitlines()[0] == "admin"
    assert signed_in.json("whoami")["via"] == "token"


def test_login_leaves_no_session_behind(signed_in, admin):
    assert [s for s in admin.all("sessions") if s["agent"].startswith("ingot-cli")] == []


def test_login_with_a_wrong_password_changes_nothing(nobody, server):
    nobody.fails(3, "login", server.url, "--name", unique("none"), "--password-stdin", stdin="wrong-password\n",
                 says="Error: ")
    assert not nobody.config.exists()


def test_login_with_a_token_and_logout(nobody, server, admin):
    token = admin.post("tokens", {"name": unique("t")})
    nobody.run("login", server.url, "--token-stdin", stdin=token["secret"] + "\n")
    assert nobody.run("whoami", "-o", "name").out == "admin\n"
    nobody.run("logout")
    nobody.fails(3, "whoami", says="ingot login")
    admin.get(f"tokens/{token['id']}")  # a token that was given is not ended by logout


def test_logout_ends_the_token_that_login_made(nobody, server, admin):
    nobody.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD)
    made = json.loads(nobody.config.read_text())
    admin.get(f"tokens/{made['token_id']}")
    nobody.run("logout")
    admin.get(f"tokens/{made['token_id']}", expect=404)
    assert json.loads(nobody.config.read_text())["token"] is None


def test_the_environment_wins_over_the_file(nobody, server, admin):
    nobody.fails(3, "project", "list", says="no server is known")
    token = admin.post("tokens", {"name": unique("t")})["secret"]
    assert nobody.run("whoami", "-o", "name", INGOT_URL=server.url, INGOT_TOKEN=token).out == "admin\n"
    nobody.fails(3, "whoami", says="ingot login", INGOT_URL=server.url, INGOT_TOKEN="ingot_wrong")


def test_the_kept_token_is_not_sent_to_another_address(cli, fresh_server):
    other = fresh_server()
    cli.fails(3, "whoami", "--url", other.url, says=f"ingot login {other.url}")


@pytest.mark.parametrize("url, says", [("127.0.0.1:1", "http://"), ("ftp://x", "http://")])
def test_login_names_a_bad_address(nobody, url, says):
    nobody.fails(2, "login", url, "--token-stdin", stdin="x\n", says=says)


def test_no_server_is_said_and_can_be_tried_again(nobody):
    # Port 1 of this machine: nothing listens there.
    nobody.fails(6, "whoami", says="", INGOT_URL="http://127.0.0.1:1", INGOT_TOKEN="x")


# --- kinds and verbs ---


def test_objects_live_a_whole_life(cli):
    name = unique("p")
    made = cli.json("project", "create", name, "--description", "first")
    assert (made["name"], made["description"], made["revision"]) == (name, "first", 1)
    assert cli.json("project", "get", name) == made
    assert cli.json("project", "get", str(made["id"])) == made
    changed = cli.json("project", "update", name, "--set", "description=second")
    assert (changed["description"], changed["revision"]) == ("second", 2)
    assert cli.json("projects", "update", name, "--description", "third")["description"] == "third"
    assert cli.json("project", "update", name, "--unset", "description")["description"] in (None, "")
    assert cli.run("project", "delete", name).out == f"deleted project {name}\n"
    cli.fails(4, "project", "get", name, says=f'no project called "{name}"')
    cli.fails(4, "project", "get", str(made["id"]), says="Error: ")


def test_fields_of_every_type(cli):
    name = unique("spec")
    spec = cli.json("spec", "create", "--name", name, "--cpus", "1.5", "--memory", "16GiB", "--ib", "--roce=false")
    assert (spec["cpus"], spec["memory"], spec["ib"], spec["roce"]) == (1.5, 16 << 30, True, False)
    spec = cli.json("spec", "update", name, "--ib=false", "--set", "memory=512M")
    assert (spec["ib"], spec["memory"]) == (False, 512 << 20)
    role = cli.json("role", "create", unique("role"), "--permissions", "project.read,label_set.read",
                    "--permissions", "label_set.create")
    assert role["permissions"] == ["project.read", "label_set.read", "label_set.create"]
    token = cli.json("token", "create", unique("t"), "--expires-at", "+30d", "--scopes", '["*.read"]')
    assert token["scopes"] == ["*.read"] and token["expires_at"] and token["secret"].startswith("ingot_")
    cli.fails(2, "spec", "create", unique("s"), "--cpus", "many", says='cpus: "many" is no number')
    cli.fails(2, "spec", "create", unique("s"), "--ib=perhaps", says="ib:")


def test_json_from_text_file_and_standard_input(cli, space, tmp_path):
    labels = [{"name": "车", "color": "#ff0000"}]
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(labels))
    for given in (json.dumps(labels), f"@{file}"):
        made = cli.json("label-set", "create", unique("l"), "--labels", given)
        assert made["labels"][0]["name"] == "车"
    made = cli.json("label-set", "create", unique("l"), "--labels", "@-", stdin=json.dumps(labels))
    assert made["labels"][0]["name"] == "车"
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps({"name": "overridden", "description": "from the file"}))
    name = unique("l")
    made = cli.json("label-set", "create", name, "-f", str(whole))
    assert (made["name"], made["description"]) == (name, "from the file")
    cli.fails(2, "label-set", "create", unique("l"), "--labels", "[", says="labels:")


def test_secrets_come_from_standard_input(cli, server, nobody):
    name = unique("u")
    made = cli.json("user", "create", "--name", name, "--password-stdin", stdin="first-password\n")
    assert "password" not in made
    cli.run("user", "reset-password", name, "--password", "second-password", expect=None)
    reset = cli.run("help", "user", "reset-password").out
    assert "--password" in reset


def test_references_are_names_or_ids(cli, space):
    name = unique("u")
    user = cli.json("user", "create", name, "--password-stdin", stdin="pass-word-1\n")
    member = cli.json("member", "create", "--user", name, "--role", "viewer")
    assert member["user"] == {"id": user["id"], "name": name}
    assert member["role"]["name"] == "viewer"
    assert cli.json("member", "get", name)["id"] == member["id"]
    changed = cli.json("member", "update", name, "--role", "member")
    assert changed["role"]["name"] == "member"
    cli.run("member", "delete", name)
    assert name not in cli.run("member", "list").out


def test_members_of_groups_need_their_group(cli):
    group, user = unique("g"), unique("u")
    cli.run("group", "create", group)
    cli.run("user", "create", user, "--password-stdin", stdin="pass-word-1\n")
    cli.run("group-member", "create", user, "--group", group)
    assert cli.run("group-member", "list", "--group", group, "-o", "name").out == f"{user}\n"
    cli.fails(2, "group-member", "list", says="--group is missing")


def test_lists_page_filter_sort_and_search(cli, space):
    names = [f"list-{i:02}" for i in range(7)]
    for name in names:
        cli.run("label-set", "create", name)
    first = cli.json("label-set", "list", "--limit", "3", "--sort", "name", "--count")
    assert [x["name"] for x in first["items"]] == names[:3] and first["next"] and first["total"] == 7
    second = cli.json("label-set", "list", "--limit", "3", "--sort", "name", "--cursor", first["next"])
    assert [x["name"] for x in second["items"]] == names[3:6]
    every = cli.json("label-set", "list", "--all", "--limit", "2", "--sort", "-name")
    assert [x["name"] for x in every["items"]] == names[::-1] and every["next"] is None
    assert cli.run("label-set", "list", "-q", "list-03", "-o", "name").out == "list-03\n"
    found = cli.run("label-set", "list", "--filter", 'name in ("list-01", "list-05")', "--sort", "name", "-o", "name")
    assert found.out == "list-01\nlist-05\n"
    assert cli.json("label-set", "list", "--mine", "--all")["items"]
    assert cli.json("label-set", "list", "-q", "nothing")["items"] == []
    more = cli.run("label-set", "list", "--limit", "3")
    assert "There are more" in more.err


def test_versions_are_listed_of_one_set_or_of_all(cli, space):
    for name in ("first", "second"):
        cli.run("model-set", "create", name)
        cli.run("model-version", "create", "--model-set", name)
    assert [one["name"] for one in cli.json("model-version", "list", "--model-set", "first")["items"]] == ["v1"]
    every = cli.json("model-version", "list", "--sort", "id")["items"]
    assert [one["model_set"]["name"] for one in every] == ["first", "second"]
    table = cli.run("model-versions", "list", "--sort", "id").out.splitlines()
    assert "model_set" in table[0].lower() and "first" in table[1] and "second" in table[2]


def test_tables_are_aligned_by_display_width(cli, space):
    cli.run("label-set", "create", "道路标签")
    cli.run("label-set", "create", "roads")
    lines = cli.run("label-set", "list", "--sort", "name").out.splitlines()
    assert lines[0].startswith("id") and "name" in lines[0]
    at = lines[0].index("description")

    def width(text):
        return sum(2 if ord(c) > 0x2e80 else 1 for c in text)

    for line in lines[1:]:
        head = next(line[:i] for i in range(len(line) + 1) if width(line[:i]) >= at or i == len(line))
        assert width(head) == at or head == line
    assert "\033" not in "".join(lines)


def test_a_stale_revision_is_refused(cli, space):
    cli.run("label-set", "create", "x")
    cli.run("label-set", "update", "x", "--revision", "1", "--description", "a")
    cli.fails(5, "label-set", "update", "x", "--revision", "1", "--description", "b", says="Error: ")
    assert cli.json("label-set", "get", "x")["description"] == "a"
    cli.fails(5, "label-set", "delete", "x", "--revision", "1", says="Error: ")
    cli.run("label-set", "delete", "x", "--revision", "2")


def test_what_is_in_use_is_not_deleted_and_says_by_what(cli, space):
    cli.run("label-set", "create", "roads")
    refused = cli.fails(5, "project", "delete", space, says="in use")
    assert "label_set" in refused.err and "roads" in refused.err


def test_server_rules_name_the_field(cli):
    cli.fails(2, "project", "create", "a/b", says="name")
    cli.fails(2, "project", "create", "x" * 51, says="name")
    taken = unique("p")
    cli.run("project", "create", taken)
    cli.fails(5, "project", "create", taken, says="name")


def test_a_missing_permission_is_named(make_user, server, nobody):
    user = make_user()
    refused = nobody.run("user", "create", unique("u"), "--password-stdin", stdin="pass-word-1\n", expect=3,
                         INGOT_URL=server.url, INGOT_TOKEN=user.token)
    assert "user.create" in refused.err


# --- projects ---


def test_the_project_comes_from_flag_environment_or_use(cli, space):
    cli.run("label-set", "create", "here")
    other = unique("p")
    cli.run("project", "create", other)
    cli.run("label-set", "create", "there", "--project", other)
    assert cli.run("label-set", "list", "-o", "name").out == "here\n"
    assert cli.run("label-set", "list", "-o", "name", "-p", other).out == "there\n"
    assert cli.run("label-set", "list", "-o", "name", INGOT_PROJECT=other).out == "there\n"
    cli.fails(4, "label-set", "get", "there", says="there")
    cli.run("use", "--none")
    cli.fails(2, "label-set", "list", says="ingot use")
    cli.fails(4, "use", unique("none"), says="no project called")


# --- mistakes, help, completion ---


@pytest.mark.parametrize("words, says", [
    (["projet", "list"], 'did you mean "ingot project"?'),
    (["project", "lst"], 'did you mean "ingot project list"?'),
    (["project", "list", "--limt", "3"], "did you mean --limit?"),
    (["project", "list", "--limit", "0"], "--limit"),
    (["project", "list", "--limit", "201"], "1 to 200"),
    (["project", "list", "extra"], "one word too many"),
    (["project", "get"], "usage: ingot project get NAME"),
    (["project", "update", "x"], "nothing to change"),
    (["project", "update", "x", "--set", "descripton=y"], "did you mean description?"),
    (["project", "update", "x", "--set", "y"], "FIELD=VALUE"),
    (["project", "list", "-o", "xml"], "none of table, json, name"),
    (["project"], "a verb is missing"),
    (["zzzzzz"], "ingot help"),
])
def test_mistakes_are_explained(nobody, words, says):
    result = nobody.run(*words, expect=2)
    assert says in result.err


def test_nothing_to_do_shows_the_help(nobody):
    assert "Usage:" in nobody.run(expect=2).err
    assert "Usage:" in nobody.run("--help").out


def test_help_covers_every_kind_and_verb(nobody, admin):
    everything = nobody.run("help").out
    for kind in admin.get("kinds")["items"]:
        word = kind["name"].replace("_", "-")
        assert f"\n  {word} " in everything
        page = nobody.run("help", word).out
        assert page == nobody.run(word, "--help").out
        verbs = ["get" if v == "read" else v for v in kind["verbs"]] + [a["name"] for a in kind["actions"]]
        for verb in verbs:
            assert f"\n  {verb} " in page
        for field in kind["fields"]:
            if field["create"] and "create" in kind["verbs"] and field["name"] != "project":
                assert f"--{field['name'].replace('_', '-')}" in nobody.run(word, "create", "--help").out


def test_completion(cli, space):
    def candidates(*words):
        return [line.split("\t")[0] for line in cli.run("__complete", *words).out.splitlines()]

    assert "project" in candidates("pro")
    assert set(candidates("project", "")) >= {"list", "get", "create", "update", "delete", "home", "overview"}
    assert candidates("project", "list", "--so") == ["--sort"]
    assert candidates("project", "list", "-o", "j") == ["json"]
    assert candidates("project", "get", space[:6]) and space in candidates("project", "get", space[:6])
    assert space in candidates("label-set", "list", "--project", space)
    assert f"--project={space}" in candidates("label-set", "list", f"--project={space[:5]}")
    assert "viewer" in candidates("member", "create", "--role", "v")
    assert "annotator" in candidates("user", "create", "--category", "")
    assert "-name" in candidates("project", "list", "--sort", "-n")
    assert space in candidates("use", space)
    assert candidates("completion", "") == ["bash", "zsh", "fish"]
    assert candidates("train", "") == ["run", "auto", "resume"] and candidates("env", "o") == ["open"]
    assert candidates("record", "v") == ["verify"]
    assert "coco-detector" in candidates("fetch", "") and candidates("fetch", "coco-detector", "ocr-") == ["ocr-zh-en"]
    assert candidates("help", "label-set", "li") == ["list"]
    assert candidates("user", "create", "--category=an") == ["--category=annotator"]
    spec = unique("spec")
    cli.run("spec", "create", spec, "--cpus", "1", "--memory", "1GiB")
    cli.run("training", "create", "nightly", "--project", space, "--command", "true", "--spec", spec)
    for words in (["logs"], ["logs", "-f"], ["exec", "-i"], ["train", "resume"]):
        assert candidates(*words, "--project", space, "ni") == ["nightly"], words
    assert candidates("train", "run", "--project", space, "ni") == []
    assert spec in candidates("train", "run", "--spec", spec[:6])
    assert candidates("no-such-thing", "x") == []
    for shell in ("bash", "zsh", "fish"):
        assert "__complete" in cli.run("completion", shell).out
    cli.fails(2, "completion", "cmd", says="none of bash, zsh, fish")


def test_bash_loads_the_completion(nobody, tmp_path):
    import subprocess
    from harness import binary
    script = tmp_path / "completion.bash"
    script.write_text(nobody.run("completion", "bash").out)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ingot").symlink_to(binary())
    program = f"source {script}; COMP_WORDS=(ingot project li); COMP_CWORD=2; _ingot; echo \"${{COMPREPLY[@]}}\""
    environment = {**nobody.environment, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "list\n"
    # As bash splits --category=an and --category=, and a flag's value of its own.
    for words in ("--category = an", "--category an"):
        program = f"source {script}; COMP_WORDS=(ingot user create {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _ingot"
        done = subprocess.run(["bash", "-c", program + "; echo \"${COMPREPLY[@]}\""], capture_output=True, text=True,
                              env=environment, check=True)
        assert done.stdout == "annotator\n", words
    program = f"source {script}; COMP_WORDS=(ingot user create --category =); COMP_CWORD=4; _ingot; echo \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "platform annotator reviewer\n"


def test_version_and_api_document(nobody, admin):
    version = nobody.run("version").out
    assert version == nobody.run("--version").out
    assert version == f"ingot {admin.get('health')['version']}\n"
    document = nobody.run("openapi").json
    assert document["openapi"].startswith("3.1")
    assert document["paths"] == admin.get("openapi.json")["paths"]


def test_find(cli):
    assert "user" in cli.run("find", "adm").out and cli.run("find", "adm", "--limit", "3", "-o", "json").json["items"][0]["name"] == "admin"


def test_controllers(cli):
    lines = cli.run("controllers").out.splitlines()
    assert lines[0].split()[:3] == ["name", "state", "runs"]
    assert any(line.startswith("collect-blobs ") for line in lines)
    assert cli.run("controllers", "-o", "json").json["items"]
    cli.run("controllers", "run", "collect-uploads")
    assert "no controller" in cli.run("controllers", "run", "none", expect=4).err
    assert "run NAME" in cli.run("controllers", "stop", "jobs", expect=2).err


def test_flags_may_come_before_the_command(cli):
    assert cli.run("-o", "json", "project", "list", "--limit", "1").json["items"] is not None


def test_the_time_limit_is_a_number(nobody):
    nobody.fails(2, "project", "list", says="INGOT_TIMEOUT", INGOT_TIMEOUT="soon")


def test_a_broken_configuration_is_named(nobody):
    nobody.config.parent.mkdir()
    nobody.config.write_text("[")
    nobody.fails(2, "project", "list", says=str(nobody.config))


# --- on a terminal ---


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, cli: Cli, *words: str) -> None:
        import pty
        import subprocess
        from harness import binary
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([binary(), *words], stdin=slave, stdout=slave, stderr=slave,
                                        env=cli.environment, close_fds=True)
        os.close(slave)
        self.seen = ""

    def read(self) -> bool:
        try:
            piece = os.read(self.master, 4096)
        except OSError:  # EIO: the other side is closed
            piece = b""
        self.seen += piece.decode(errors="replace")
        return bool(piece)

    def expect(self, text: str) -> "Terminal":
        while text not in self.seen:
            assert self.read(), f"{text!r} did not come: {self.seen}"
        return self

    def answer(self, text: str) -> "Terminal":
        os.write(self.master, text.encode() + b"\n")
        return self

    def end(self) -> int:
        while self.read():
            pass
        os.close(self.master)
        return self.process.wait()


def test_login_asks_on_a_terminal_and_hides_the_password(nobody, server):
    terminal = Terminal(nobody, "login", server.url)
    terminal.expect("Name: ").answer("admin").expect("Password: ").answer(ADMIN_PASSWORD)
    assert terminal.end() == 0, terminal.seen
    assert ADMIN_PASSWORD not in terminal.seen
    assert "Signed in" in terminal.seen
    nobody.run("logout")


def test_deleting_asks_on_a_terminal(cli, space):
    cli.run("label-set", "create", "kept")
    terminal = Terminal(cli, "label-set", "delete", "kept")
    terminal.expect("Delete label-set kept? [y/N]").answer("n")
    assert terminal.end() == 5
    terminal = Terminal(cli, "label-set", "delete", "kept")
    terminal.expect("[y/N]").answer("y")
    assert terminal.end() == 0, terminal.seen
    cli.fails(4, "label-set", "get", "kept", says="kept")


def test_colours_are_for_terminals_only(cli, space):
    terminal = Terminal(cli, "project", "list")
    assert terminal.end() == 0 and "\033[1m" in terminal.seen
    terminal = Terminal(cli, "project", "list", "--no-color")
    assert terminal.end() == 0 and "\033" not in terminal.seen
    assert "\033" not in cli.run("project", "list").out
