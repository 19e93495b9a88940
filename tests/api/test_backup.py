"""Backup and restore of a whole platform, while it runs and into an empty folder."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
import threading

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, Api, binary, problem, unique, wait_for


def signed_in(server, folder) -> Cli:
    folder.mkdir(exist_ok=True)
    cli = Cli(folder)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    return cli


@pytest.fixture
def platform(fresh_server, tmp_path):
    """A server with some content, and the command line of its administrator."""
    server = fresh_server()
    cli = signed_in(server, tmp_path / "cli")
    cli.run("project", "create", "vision")
    cli.run("use", "vision")
    for i in range(30):
        cli.json("label-set", "create", f"set-{i:02}", "--description", "描述") if i < 3 else None
    return server, cli


def names(cli: Cli) -> list[str]:
    return cli.run("label-set", "list", "--all", "--sort", "name", "-o", "name").out.split()


def test_backup_and_restore_while_the_server_runs(platform, tmp_path):
    server, cli = platform
    file = tmp_path / "backup.tar.zst"
    said = cli.run("backup", str(file)).out
    assert "checked" in said
    assert not (tmp_path / "backup.tar.zst.partial").exists()
    before = names(cli)
    one = cli.json("label-set", "get", "set-01")
    cli.run("label-set", "update", "set-01", "--description", "changed")
    assert cli.json("label-set", "get", "set-01")["description"] == "changed"
    cli.run("label-set", "delete", "set-00")
    cli.run("label-set", "create", "later")
    cli.run("user", "create", "late", "--password-stdin", stdin="pass-word-1\n")
    assert "restored" in cli.run("restore", str(file)).out
    assert names(cli) == before
    assert cli.json("label-set", "get", "set-01") == one
    cli.fails(4, "user", "get", "late", says="late")
    # Ids go on where the backup ended, and everything can be changed again.
    assert cli.json("label-set", "create", "after")["name"] == "after"
    lines = cli.json("audit", "list", "--limit", "10")["items"]
    assert "restore" in [line["verb"] for line in lines]
    assert [f for f in os.listdir(server.data) if f.endswith(".tmp")] == []


def test_restore_into_an_empty_folder_starts_as_it_was(platform, tmp_path, fresh_server, make_db):
    server, cli = platform
    file, data = tmp_path / "b", tmp_path / "data"
    cli.run("backup", str(file))
    before = names(cli)
    db = make_db()
    where = ["--data", str(data), *(["--db", db] if db else [])]
    Cli(tmp_path).run("restore", str(file), *where)
    again = fresh_server(db=db, data=str(data))
    other = signed_in(again, tmp_path / "other")
    other.run("use", "vision")
    assert names(other) == before
    assert other.json("label-set", "create", "after")
    refused = Cli(tmp_path).run("restore", str(file), "--data", str(data), expect=5)
    assert "not empty" in refused.err


def test_a_backup_of_one_engine_restores_into_the_other(platform, tmp_path, fresh_server, request):
    server, cli = platform
    file = tmp_path / "b"
    cli.run("backup", str(file))
    db = None if server.db else request.getfixturevalue("postgres").database()
    data = tmp_path / "data"
    Cli(tmp_path).run("restore", str(file), "--data", str(data), *(["--db", db] if db else []))
    other = signed_in(fresh_server(db=db, data=str(data)), tmp_path / "other")
    other.run("use", "vision")
    assert names(other) == names(cli)


def unpacked(file, folder):
    plain = folder / "plain.tar"
    with open(plain, "wb") as out:
        subprocess.run(["zstd", "-dc", str(file)], check=True, stdout=out)
    return tarfile.open(plain)


def test_the_archive_is_what_it_says(platform, tmp_path):
    server, cli = platform
    file = tmp_path / "b"
    with open(os.path.join(server.data, "config.json"), "w") as config:
        config.write("{}")
    cli.run("backup", str(file))
    assert os.stat(file).st_mode & 0o777 == 0o600
    with unpacked(file, tmp_path) as tar:
        members = tar.getnames()
        assert members[-1] == "manifest.json" and {"ingot.db", "config.json"} <= set(members)
        manifest = json.load(tar.extractfile("manifest.json"))
        for entry in manifest["files"]:
            content = tar.extractfile(entry["path"]).read()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["size"], entry["sha256"])
        assert manifest["format"] == 1 and manifest["version"] and manifest["created_at"]


def repack(tar: tarfile.TarFile, file, change) -> None:
    """The same archive with each member's name and content passed through change."""
    import io
    plain = str(file) + ".tar"
    with tarfile.open(plain, "w") as out:
        for member in tar.getmembers():
            changed = change(member.name, tar.extractfile(member).read())
            if changed is None:
                continue
            info = tarfile.TarInfo(changed[0])
            info.size = len(changed[1])
            out.addfile(info, io.BytesIO(changed[1]))
    with open(file, "wb") as packed:
        subprocess.run(["zstd", "-q", "-c", plain], check=True, stdout=packed)


def test_damaged_backups_change_nothing(platform, tmp_path):
    server, cli = platform
    file, bad, data = tmp_path / "b", tmp_path / "bad", tmp_path / "data"
    cli.run("backup", str(file))
    whole = file.read_bytes()
    before = cli.json("label-set", "list", "--all")
    with unpacked(file, tmp_path) as tar:
        def damage(name, content):
            return name, content if name != "ingot.db" else content[:-1] + b"X"

        def escape(name, content):
            return ("../evil" if name == "ingot.db" else name), content

        cases = {"empty": b"", "text": b"hello", "half": whole[:len(whole) // 2], "cut": whole[:-1]}
        for name, change in (("changed", damage), ("escapes", escape),
                             ("no manifest", lambda n, c: None if n == "manifest.json" else (n, c)),
                             ("no database", lambda n, c: None if n == "ingot.db" else (n, c)),
                             ("a stranger", lambda n, c: ("passwd" if n == "ingot.db" else n, c))):
            repack(tar, bad, change)
            cases[name] = bad.read_bytes()
    api = server.admin()
    for name, content in cases.items():
        bad.write_bytes(content)
        refused = cli.run("restore", str(bad), expect=2)
        assert "backup" in refused.err, name
        refused = cli.run("restore", str(bad), "--data", str(data), expect=2)
        assert not data.exists(), name
        answer = api.call("POST", "restore", content=content, headers={"Content-Type": "application/zstd"})
        problem(answer, 422, "invalid")
    assert cli.json("label-set", "list", "--all") == before
    assert [f for f in os.listdir(server.data) if f.endswith(".tmp")] == []


def test_backups_are_consistent_while_others_write(platform, tmp_path, fresh_server, make_db):
    server, cli = platform
    api = server.admin()
    project = api.get("projects")["items"][0]["id"]
    stop, made = threading.Event(), []

    def write():
        with Api(server.url, api.token) as own:
            while not stop.is_set():
                made.append(own.post("label-sets", {"project": project, "name": unique("w")})["name"])

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    try:
        known = []
        for i in range(3):
            known.append(list(made))
            cli.run("backup", str(tmp_path / f"b{i}"))
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    for i in range(3):
        data, db = tmp_path / f"data{i}", make_db()
        Cli(tmp_path).run("restore", str(tmp_path / f"b{i}"), "--data", str(data), *(["--db", db] if db else []))
        again = fresh_server(db=db, data=str(data))
        there = {x["name"] for x in again.admin().all("label-sets", project=project, limit=200)}
        # All that was answered before the backup began is in it, and nothing that was never written.
        assert set(known[i]) <= there
        assert there <= set(made) | {f"set-{i:02}" for i in range(3)}
        again.stop()


def test_only_those_who_may_back_up(platform, tmp_path):
    server, cli = platform
    cli.run("user", "create", "bob", "--password-stdin", stdin="pass-word-1\n")
    bob = Api(server.url).sign_in("bob", "pass-word-1")
    for method, path, permission in (("GET", "backup", "platform.backup"), ("POST", "restore", "platform.restore")):
        answer = bob.call(method, path, content=b"x" if method == "POST" else None)
        assert problem(answer, 403, "forbidden")["permission"] == permission
        answer = Api(server.url).call(method, path, content=b"x" if method == "POST" else None)
        problem(answer, 401, "unauthorized")
    mine = Cli(tmp_path)
    refused = mine.run("backup", str(tmp_path / "b"), expect=3, INGOT_URL=server.url, INGOT_TOKEN=bob.token)
    assert "platform.backup" in refused.err
    assert not (tmp_path / "b").exists() and not (tmp_path / "b.partial").exists()


def blob(data: str, content: bytes, name: str | None = None) -> str:
    """Puts a blob where the store has them; its path below the data folder."""
    digest = name or hashlib.sha256(content).hexdigest()
    path = os.path.join("blobs", "sha256", digest[:2], digest)
    os.makedirs(os.path.dirname(os.path.join(data, path)), exist_ok=True)
    with open(os.path.join(data, path), "wb") as out:
        out.write(content)
    return path


def test_blobs_are_part_of_it(platform, tmp_path):
    server, cli = platform
    paths = [blob(server.data, os.urandom(300_000)) for _ in range(3)] + [blob(server.data, b"")]
    file, data = tmp_path / "b", tmp_path / "data"
    cli.run("backup", str(file))
    Cli(tmp_path).run("restore", str(file), "--data", str(data))
    for path in paths:
        assert (data / path).read_bytes() == open(os.path.join(server.data, path), "rb").read()
    os.unlink(os.path.join(server.data, paths[0]))
    cli.run("restore", str(file))
    assert os.path.exists(os.path.join(server.data, paths[0]))


def test_a_damaged_blob_is_no_backup(platform, tmp_path):
    server, cli = platform
    cli.run("backup", str(tmp_path / "good"))
    blob(server.data, b"something else", "ab" * 32)
    failed = cli.run("backup", str(tmp_path / "bad"), expect=None)
    assert failed.code != 0
    assert not (tmp_path / "bad").exists() and not (tmp_path / "bad.partial").exists()


def test_a_client_that_goes_away_leaves_nothing_behind(platform, tmp_path):
    server, cli = platform
    for _ in range(8):
        blob(server.data, os.urandom(4 << 20))
    api = server.admin()
    with api.http.stream("GET", "backup") as answer:
        assert answer.status_code == 200
        next(answer.iter_bytes())
    # The server notices when it next writes; until then another backup is refused.
    wait_for(lambda: cli.run("backup", str(tmp_path / "b"), expect=None).code == 0, "another backup")
    assert [f for f in os.listdir(server.data) if f.endswith(".tmp")] == []


def fetched(said: str) -> tuple[int, int]:
    """How many blobs a backup into a folder fetched, and how many were there."""
    found = re.search(r"(\d+) blobs fetched \(\d+ bytes\), (\d+) were there; checked", said)
    assert found, said
    return int(found[1]), int(found[2])


def kept(folder) -> dict[str, int]:
    """The blobs of a folder of backups, with their inodes: a blob that is written again has another."""
    return {f.name: f.stat().st_ino for f in (folder / "blobs").glob("??/*")}


def backups(folder) -> list[str]:
    return sorted(str(f) for f in (folder / "backups").iterdir())


def test_a_folder_of_backups_has_each_blob_once(platform, tmp_path, fresh_server, make_db):
    server, cli = platform
    folder = tmp_path / "backups of ours"
    first = [blob(server.data, os.urandom(300_000)) for _ in range(3)] + [blob(server.data, b"")]
    assert fetched(cli.run("backup", f"{folder}/").out) == (4, 0)
    before, then = names(cli), kept(folder)
    assert set(then) == {os.path.basename(p) for p in first}
    cli.run("label-set", "create", "later")
    late = blob(server.data, b"new since")
    assert fetched(cli.run("backup", str(folder)).out) == (1, 4)
    assert kept(folder).items() >= then.items() and len(kept(folder)) == 5
    assert len(backups(folder)) == 2

    def check(source: str, data, expected: list[str], paths: list[str]) -> None:
        db = make_db()
        Cli(tmp_path).run("restore", source, "--data", str(data), *(["--db", db] if db else []))
        for path in paths:
            assert (data / path).read_bytes() == open(os.path.join(server.data, path), "rb").read()
        assert len([p for p in (data / "blobs" / "sha256").rglob("*") if p.is_file()]) == len(paths)
        again = fresh_server(db=db, data=str(data))
        other = signed_in(again, tmp_path / data.name / "cli")
        other.run("use", "vision")
        assert names(other) == expected
        again.stop()

    check(backups(folder)[0], tmp_path / "one", before, first)
    check(f"{folder}/", tmp_path / "two", sorted([*before, "later"]), [*first, late])
    # Into the running server; a blob that it lost comes back.
    os.unlink(os.path.join(server.data, first[0]))
    cli.run("restore", backups(folder)[0])
    assert names(cli) == before and os.path.exists(os.path.join(server.data, first[0]))
    # The archive alone is no backup, and says where its blobs are.
    answer = server.admin().call("POST", "restore", content=open(backups(folder)[0], "rb").read())
    assert "only lists its 4 blobs" in problem(answer, 422, "invalid")["detail"]
    # What only older ones need goes with them.
    os.unlink(os.path.join(server.data, late))
    assert fetched(cli.run("backup", str(folder), "--keep", "1").out) == (0, 4)
    assert len(backups(folder)) == 1 and set(kept(folder)) == set(then)
    cli.fails(2, "backup", str(tmp_path / "file"), "--keep", "1", says="folder")


def test_an_interrupted_backup_goes_on(platform, tmp_path):
    server, cli = platform
    folder = tmp_path / "d"
    for _ in range(6):
        blob(server.data, os.urandom(2 << 20))
    run = subprocess.Popen([binary(), "backup", f"{folder}/"], env=cli.environment, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    wait_for(lambda: folder.exists() and kept(folder), "the first blob")
    run.kill()
    run.wait()
    there = kept(folder)
    # The server may still be at the archive of the client that was killed.
    again = wait_for(lambda: (r := cli.run("backup", f"{folder}/", expect=None)).code == 0 and r, "another backup")
    assert fetched(again.out) == (6 - len(there), len(there))
    assert kept(folder).items() >= there.items()
    # One that is damaged on the server is no backup; the others are kept.
    good = blob(server.data, b"whole")
    bad = blob(server.data, b"something else", "ab" * 32)
    count = len(backups(folder))
    cli.fails(6, "backup", f"{folder}/", says="ab" * 32)
    assert len(backups(folder)) == count and not (folder / "blobs" / "ab" / ("ab" * 32)).exists()
    os.unlink(os.path.join(server.data, bad))
    cli.run("backup", f"{folder}/")
    assert os.path.basename(good) in kept(folder) and len(backups(folder)) == count + 1


def test_damaged_blobs_of_a_folder(platform, tmp_path):
    server, cli = platform
    folder, data = tmp_path / "d", tmp_path / "data"
    names = [os.path.basename(blob(server.data, os.urandom(1000))) for _ in range(3)]
    cut, changed, missing = (folder / "blobs" / n[:2] / n for n in names)
    cli.run("backup", f"{folder}/")
    before = cli.json("label-set", "list", "--all")
    whole = changed.read_bytes()
    for file, damage in ((cut, lambda: cut.write_bytes(b"cut")), (changed, lambda: changed.write_bytes(whole[::-1])),
                         (missing, missing.unlink)):
        content = file.read_bytes()
        damage()
        cli.fails(2, "restore", f"{folder}/", says=file.name)
        Cli(tmp_path).fails(2, "restore", f"{folder}/", "--data", str(data), says=file.name)
        assert not data.exists()
        said = cli.run("backup", f"{folder}/", "--verify")
        assert fetched(said.out) == (1, 2) and file.read_bytes() == content
        assert (file == missing) != (f"{file} is damaged" in said.err)
    # Without --verify a wrong size is seen.
    cut.write_bytes(b"cut")
    assert fetched(cli.run("backup", f"{folder}/").out) == (1, 2)
    cli.run("restore", f"{folder}/")
    assert cli.json("label-set", "list", "--all") == before


def test_blobs_of_a_backup_are_for_those_who_may_back_up(platform, tmp_path):
    server, cli = platform
    name = os.path.basename(blob(server.data, b"secret"))
    cli.run("user", "create", "bob", "--password-stdin", stdin="pass-word-1\n")
    bob = Api(server.url).sign_in("bob", "pass-word-1")
    answer = bob.call("GET", f"backup/blobs/{name}")
    assert problem(answer, 403, "forbidden")["permission"] == "platform.backup"
    admin = server.admin()
    assert admin.call("GET", f"backup/blobs/{name}").content == b"secret"
    for wrong in ("ab" * 32, "x", name.upper()):
        problem(admin.call("GET", f"backup/blobs/{wrong}"), 404, "not_found")
    assert problem(admin.call("GET", "backup", params={"blobs": "some"}), 422, "invalid")["field"] == "blobs"
