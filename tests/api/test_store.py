"""Blobs in a bucket of an S3 server instead of the data folder. The tests of datasets and files run on it too
(scripts/test.sh api-s3)."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest
from cli import Cli
from harness import ROOT, Api, Server, binary, problem, unique, wait_for
from relay import Relay
from s3 import KEY, SECRET
from test_datasets import bring, png, samples, zipped
from tls import Authority


def folder(api) -> str:
    """A version of files."""
    project = api.post("projects", {"name": unique("p")})
    made = api.post("algorithm-sets", {"name": unique("s"), "project": project["id"]})
    return f"algorithm-sets/{made['id']}/versions/" + str(api.post(f"algorithm-sets/{made['id']}/versions", {})["id"])


def put(api, version: str, path: str, data: bytes, expect: int = 200):
    answer = api.call("PUT", f"{version}/content", params={"path": path}, content=data)
    assert answer.status_code == expect, answer.text
    return answer


def get(api, version: str, path: str, **headers) -> bytes:
    answer = api.call("GET", f"{version}/content", params={"path": path}, headers=headers)
    assert answer.status_code in (200, 206), answer.text
    return answer.content


def empty_cache(server) -> None:
    shutil.rmtree(Path(server.data, "cache", "blobs"))


def local_blobs(server) -> list[Path]:
    return [p for p in Path(server.data, "blobs", "sha256").rglob("*") if p.is_file()]


def test_the_tests_of_the_store_itself(s3):
    program = ROOT / "build" / os.environ.get("INGOT_BUILD", "san") / "tests" / "unit" / "unit_store_test_store"
    environment = {**os.environ, "INGOT_TEST_S3": s3.url, "INGOT_TEST_BUCKET": s3.bucket(), "AWS_ACCESS_KEY_ID": KEY,
                   "AWS_SECRET_ACCESS_KEY": SECRET}
    run = subprocess.run([program], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.returncode == 0, run.stdout


def test_a_restart_with_an_empty_cache(s3, fresh_server):
    bucket = s3.bucket()
    server = fresh_server(**s3.options(bucket, "team/ingot"))
    version = folder(server.admin())
    content = os.urandom(300_000)
    put(server.admin(), version, "a/b.bin", content)
    digest = hashlib.sha256(content).hexdigest()
    assert f"team/ingot/sha256/{digest[:2]}/{digest}" in s3.keys(bucket)
    assert local_blobs(server) == []
    server.stop()
    empty_cache(server)
    server.start()
    api = server.admin()
    assert get(api, version, "a/b.bin", Range="bytes=1000-1999") == content[1000:2000]
    assert get(api, version, "a/b.bin") == content


def test_a_small_cache(s3, fresh_server):
    server = fresh_server(**s3.options(s3.bucket(), cache="100K"))
    api = server.admin()
    project = api.post("projects", {"name": unique("p")})
    made = api.post("datasets", {"name": "d", "project": project["id"]})
    version = f"datasets/{made['id']}/versions/" + str(api.post(f"datasets/{made['id']}/versions", {})["id"])
    pictures = {f"{i:02}.png": png(200, 200, i) + os.urandom(20_000) for i in range(12)}
    bring(api, project, version, "p.zip", zipped(pictures))
    for s in samples(api, version):
        answer = api.call("GET", f"{version}/samples/{s['id']}/content")
        assert (answer.status_code, answer.content) == (200, pictures[s["name"]])
        assert api.call("GET", f"{version}/samples/{s['id']}/thumbnail").status_code == 200
    cached = [p.stat().st_size for p in Path(server.data, "cache", "blobs").rglob("*") if p.is_file()]
    assert 0 < sum(cached) <= 100 << 10


def test_large_files_go_in_parts(s3, fresh_server):
    bucket = s3.bucket()
    server = fresh_server(**s3.options(bucket))
    api = server.admin()
    version = folder(api)
    content = os.urandom(1 << 20) * 70
    put(api, version, "large.bin", content)
    digest = hashlib.sha256(content).hexdigest()
    assert hashlib.sha256(s3.get(bucket, f"sha256/{digest[:2]}/{digest}")).hexdigest() == digest
    server.stop()
    empty_cache(server)
    server.start()
    assert get(server.admin(), version, "large.bin", Range="bytes=70000000-70000099") == content[70000000:70000100]


@pytest.fixture
def behind_relay(s3, fresh_server):
    """A server whose object store is reached through a relay."""
    relay = Relay(s3.port)
    options = s3.options(s3.bucket())
    args = tuple(relay.url if a == s3.url else a for a in options["args"])
    server = fresh_server(args=args, environment=options["environment"])
    server.relay = relay
    yield server
    relay.set("on")
    relay.close()


def test_short_faults_are_not_seen(behind_relay):
    relay, api = behind_relay.relay, behind_relay.admin()
    version = folder(api)
    relay.set("busy", times=2)
    put(api, version, "a", b"first")
    relay.set("off", times=2)
    put(api, version, "b", b"second")
    assert (get(api, version, "a"), get(api, version, "b")) == (b"first", b"second")


def test_a_broken_download_goes_on(behind_relay):
    relay, api = behind_relay.relay, behind_relay.admin()
    version = folder(api)
    content = os.urandom(3 << 20)
    put(api, version, "a", content)
    behind_relay.stop()
    empty_cache(behind_relay)
    behind_relay.start()
    api = behind_relay.admin()
    relay.set("cut", times=2, size=1 << 20)
    assert get(api, version, "a") == content
    assert relay.hits == 2


LARGE = 40 << 20


@pytest.fixture
def large(behind_relay, request):
    """A server with a large file that is only in the bucket."""
    api = behind_relay.admin()
    version, part = folder(api), os.urandom(1 << 20)
    content = b"".join(part[:-4] + i.to_bytes(4) for i in range(getattr(request, "param", LARGE) >> 20))
    put(api, version, "large", content)
    behind_relay.stop()
    empty_cache(behind_relay)
    behind_relay.start()
    behind_relay.version, behind_relay.content = version, content
    yield behind_relay
    behind_relay.relay.go_on.set()


def reading(server, **headers):
    """The answer with the large file, not read yet."""
    api = server.admin()
    return api.http.stream("GET", f"{server.version}/content", params={"path": "large"}, headers=headers)


def is_cached(server) -> bool:
    digest = hashlib.sha256(server.content).hexdigest()
    return Path(server.data, "cache", "blobs", digest[:2], digest).exists()


@pytest.mark.parametrize("large", [128 << 20], indirect=True)
def test_a_large_file_is_served_while_it_is_fetched(large):
    relay = large.relay
    relay.set("stall", size=20 << 20)
    with reading(large) as first, reading(large) as second:
        assert int(first.headers["content-length"]) == len(large.content)
        pieces = [first.iter_raw(1 << 16), second.iter_raw(1 << 16)]
        got = [bytearray(next(p)) for p in pieces]
        assert not relay.go_on.is_set() and not is_cached(large), "most of it is still in the bucket"
        relay.go_on.set()
        for g, p in zip(got, pieces, strict=True):
            for piece in p:
                g += piece
            assert g == large.content
    wait_for(lambda: is_cached(large), "the file in the cache")
    relay.set("off")
    assert get(large.admin(), large.version, "large", Range="bytes=-5") == large.content[-5:]


def test_ranges_of_a_large_file_that_is_not_here(large):
    api, content = large.admin(), large.content
    for first, last in ((0, 0), (LARGE - 10, LARGE - 1), (12_345_678, 13_000_000)):
        answer = api.call("GET", f"{large.version}/content", params={"path": "large"}, headers={"Range": f"bytes={first}-{last}"})
        assert (answer.status_code, answer.headers["content-range"]) == (206, f"bytes {first}-{last}/{LARGE}")
        assert answer.content == content[first:last + 1]
    answer = api.call("HEAD", f"{large.version}/content", params={"path": "large"})
    assert (answer.status_code, int(answer.headers["content-length"])) == (200, LARGE)
    assert api.call("GET", f"{large.version}/content", params={"path": "large"},
                    headers={"Range": f"bytes={LARGE}-"}).status_code == 416
    assert not is_cached(large)
    for _ in range(2):  # as much as all of it: now it is worth having
        assert get(api, large.version, "large", Range=f"bytes=1-{LARGE - 2}") == content[1:-1]
    wait_for(lambda: is_cached(large), "the file in the cache")


def test_a_fetch_that_breaks_breaks_the_answer(large):
    large.relay.set("cut", size=4 << 20)  # every try gets a part; five of them are not enough
    for headers in ({}, {"Range": f"bytes=5-{LARGE - 1}"}):
        with reading(large, **headers) as answer, pytest.raises(httpx.TransportError):
            got = 0
            for piece in answer.iter_raw():
                got += len(piece)
        assert 0 < got < LARGE - 5
    assert not is_cached(large)
    large.relay.set("on")
    assert get(large.admin(), large.version, "large") == large.content


def test_a_fetch_that_nobody_waits_for_ends(large):
    def unfinished():
        return [p for p in Path(large.data, "blobs", "new").rglob("*") if p.is_file()]
    large.relay.set("stall", size=10 << 20)
    with reading(large) as answer:
        assert next(answer.iter_raw(1 << 16)) and unfinished()
    wait_for(lambda: not unfinished(), "the end of the fetch")
    assert not large.relay.go_on.is_set() and not is_cached(large)


def test_a_damaged_large_file_is_not_given_out_whole(s3, large):
    digest = hashlib.sha256(large.content).hexdigest()
    bucket = next(a for a in large.args if a.startswith("s3://"))[5:].strip("/")
    changed = b"?" + large.content[1:]
    s3.put(bucket, f"sha256/{digest[:2]}/{digest}", changed)
    wait_for(lambda: s3.get(bucket, f"sha256/{digest[:2]}/{digest}") == changed, "the changed object in the bucket")
    assert not is_cached(large), "nobody has read it"
    with reading(large) as answer, pytest.raises(httpx.TransportError):
        answer.read()
    assert not is_cached(large)
    s3.put(bucket, f"sha256/{digest[:2]}/{digest}", large.content[1:])
    assert large.admin().call("GET", f"{large.version}/content", params={"path": "large"}).status_code == 500


def test_a_file_larger_than_the_cache(s3, fresh_server):
    server = fresh_server(**s3.options(s3.bucket(), cache="1M"))
    api = server.admin()
    version, content = folder(api), os.urandom(20 << 20)
    put(api, version, "a", content)
    assert get(api, version, "a") == content
    assert get(api, version, "a", Range="bytes=7-9") == content[7:10]
    cached = [p.stat().st_size for p in Path(server.data, "cache", "blobs").rglob("*") if p.is_file()]
    assert sum(cached) <= 1 << 20


def test_a_lost_object_store(behind_relay):
    relay, api = behind_relay.relay, behind_relay.admin()
    version = folder(api)
    put(api, version, "a", b"before")
    relay.set("off")
    body = problem(put(api, version, "b", b"meanwhile", expect=503), 503, "unavailable")
    assert "object store" in body["detail"]
    assert get(api, version, "a") == b"before", "it is in the cache"
    relay.set("on")
    put(api, version, "b", b"after")
    assert get(api, version, "b") == b"after"


def test_a_damaged_object_is_not_given_out(s3, fresh_server):
    bucket = s3.bucket()
    server = fresh_server(**s3.options(bucket))
    api = server.admin()
    version = folder(api)
    put(api, version, "a", b"what was written")
    digest = hashlib.sha256(b"what was written").hexdigest()
    s3.put(bucket, f"sha256/{digest[:2]}/{digest}", b"what was damaged")
    server.stop()
    empty_cache(server)
    server.start()
    api = server.admin()
    assert api.call("GET", f"{version}/content", params={"path": "a"}).status_code == 500
    s3.delete(bucket, f"sha256/{digest[:2]}/{digest}")
    assert api.call("GET", f"{version}/content", params={"path": "a"}).status_code == 404


def refused(data, options: dict, **environment) -> str:
    """What a server that does not start says."""
    run = subprocess.run([binary(), "serve", "--data", str(data), "--listen", "127.0.0.1:0", *options["args"]], text=True,
                         env={**os.environ, **options["environment"], **environment}, stderr=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    assert run.returncode != 0
    assert SECRET not in run.stderr
    return run.stderr


def test_what_keeps_it_from_starting(s3, tmp_path):
    bucket = s3.bucket()
    assert "SignatureDoesNotMatch" in refused(tmp_path / "a", s3.options(bucket), AWS_SECRET_ACCESS_KEY="wrong")
    assert "NoSuchBucket" in refused(tmp_path / "b", s3.options("no-such-bucket"))
    assert "s3://bucket" in refused(tmp_path / "c", {"args": ("--store", "/mnt"), "environment": {}})
    assert "endpoint" in refused(tmp_path / "d", {**s3.options(bucket), "args": (
        "--store", f"s3://{bucket}", "--s3-endpoint", "ftp://x")})
    assert "--cache-size" in refused(tmp_path / "e", s3.options(bucket, cache="much"))


def test_a_bucket_belongs_to_one_platform(s3, tmp_path, fresh_server):
    bucket = s3.bucket()
    server = fresh_server(**s3.options(bucket, "x"))
    assert "another platform" in refused(tmp_path / "other", s3.options(bucket, "x"))
    server.stop()
    data = tmp_path / "again"
    own = Server(data=str(data), **s3.options(bucket, "y")).start()
    own.stop()
    assert "start it with --store" in refused(data, {"args": (), "environment": {}})
    assert "does not hold them" in refused(data, s3.options(bucket, "z"))
    own.start()
    own.stop()


def test_backup_and_restore(s3, tmp_path, fresh_server):
    server = fresh_server(**s3.options(s3.bucket()))
    api = server.admin()
    version = folder(api)
    put(api, version, "a", b"in the bucket")
    backup = api.call("GET", "backup")
    assert backup.status_code == 200
    put(api, version, "a", b"changed")
    answer = api.call("POST", "restore", content=backup.content, headers={"Content-Type": "application/zstd"})
    assert answer.status_code == 204, answer.text
    assert get(api, version, "a") == b"in the bucket"
    server.stop()
    server.start()
    assert get(server.admin(), version, "a") == b"in the bucket"
    file, data = tmp_path / "b.tar.zst", tmp_path / "elsewhere"
    file.write_bytes(backup.content)
    subprocess.run([binary(), "restore", str(file), "--data", str(data)], check=True)
    local = Server(data=str(data)).start()
    assert get(local.admin(), version, "a") == b"in the bucket"
    local.stop()


def test_a_folder_of_backups_leaves_blobs_in_the_bucket(s3, tmp_path, fresh_server, make_db):
    options = s3.options(s3.bucket(), "team")
    server = fresh_server(**options)
    api = server.admin()
    version = folder(api)
    put(api, version, "a", b"in the bucket")
    cli, backups, data = Cli(tmp_path), tmp_path / "backups", tmp_path / "data"
    mine = {"INGOT_URL": server.url, "INGOT_TOKEN": api.token}
    said = cli.run("backup", f"{backups}/", **mine).out
    assert "0 blobs fetched" in said and "stay in s3://" in said
    assert not list((backups / "blobs").iterdir())
    put(api, version, "a", b"changed")
    cli.run("restore", f"{backups}/", **mine)
    assert get(api, version, "a") == b"in the bucket"
    # Without the bucket it is of no use, and says so.
    local = Server(db=make_db()).start()
    refused = cli.run("restore", f"{backups}/", expect=5, INGOT_URL=local.url, INGOT_TOKEN=local.admin().token)
    assert "s3://" in refused.err and "data folder" in refused.err
    local.remove()
    server.stop()
    db = make_db()
    assert "--store" in cli.run("restore", f"{backups}/", "--data", str(data), *(["--db", db] if db else [])).out
    again = Server(db=db, data=str(data), **options).start()
    assert get(again.admin(), version, "a") == b"in the bucket"
    again.stop()


@pytest.fixture
def began_local(make_db):
    """A stopped server that has files in its data folder."""
    server = Server(db=make_db()).start()
    api = server.admin()
    server.version = folder(api)
    server.files = {f"{i}.bin": os.urandom(60_000) for i in range(60)}
    for name, content in server.files.items():
        put(api, server.version, name, content)
    server.stop()
    yield server
    server.remove()


def read_all(server) -> bool:
    api = server.admin()
    return all(get(api, server.version, name) == content for name, content in server.files.items())


def test_local_files_move_to_the_bucket(s3, began_local):
    server, bucket, relay = began_local, s3.bucket(), Relay(s3.port)
    options = s3.options(bucket, "x")
    server.args = tuple(relay.url if a == s3.url else a for a in options["args"])
    server.environment = options["environment"]
    names = {p.name for p in local_blobs(server)}
    assert len(names) >= len(server.files)

    def moved() -> set[str]:
        return {k.rpartition("/")[2] for k in s3.keys(bucket, "x/sha256/")}

    relay.set("choke", size=200_000)  # each connection takes three files or so, then holds the rest
    server.start()
    wait_for(lambda: len(moved()) >= 3, "the first files in the bucket")
    assert read_all(server), "while it moves"
    assert not relay.go_on.is_set() and moved() < names
    server.kill()
    left = {p.name for p in local_blobs(server)}
    assert names - left <= moved() and left, "what left the data folder is in the bucket"
    relay.set("on")
    server.start()
    api = server.admin()
    wait_for(lambda: not local_blobs(server), "all files in the bucket")
    assert moved() >= names
    state = wait_for(lambda: (s := api.get("storage"))["left"] == 0 and s, "the end of the move")
    assert (state["moved"], state["damaged"], state["problem"]) == (len(left), 0, None)
    assert state["bucket"].startswith(f"s3://{bucket}/x") and state["cache_bytes"] >= 60 * 60_000
    assert f"moved {len(left)} blobs" in wait_for(lambda: "to the bucket" in server.log_tail() and server.log_tail(), "the log")
    server.stop()
    empty_cache(server)
    server.start()
    assert read_all(server)
    relay.go_on.set()
    relay.close()


def test_a_damaged_local_file_does_not_move(s3, began_local):
    server, bucket = began_local, s3.bucket()
    options = s3.options(bucket)
    server.args, server.environment = options["args"], options["environment"]
    digest = hashlib.sha256(server.files["0.bin"]).hexdigest()
    path = next(p for p in local_blobs(server) if p.name == digest)
    path.chmod(0o640)
    path.write_bytes(b"!" + server.files["0.bin"][1:])
    server.start()
    api = server.admin()
    wait_for(lambda: (s := api.get("storage"))["moved"] and s["left"] == 1, "the others in the bucket")
    assert [p.name for p in local_blobs(server)] == [digest]
    assert api.get("storage")["damaged"] == 1
    assert f"sha256/{digest[:2]}/{digest}" not in s3.keys(bucket)
    wait_for(lambda: "damaged" in server.log_tail(), "the log")


def test_who_may_see_the_storage(admin):
    state = admin.get("storage")
    assert set(state) >= {"bucket", "cache_bytes", "moved", "left"}
    assert Api(admin.url).call("GET", "storage").status_code == 401


def test_a_bucket_over_tls(s3, tmp_path, fresh_server):
    bucket = s3.bucket()
    options = s3.options(bucket)
    args = tuple(s3.tls_url if a == s3.url else a for a in options["args"])
    other = Authority(tmp_path, "other")
    for wrong in ((), ("--s3-ca", str(other.file))):
        said = refused(tmp_path / "d", {**options, "args": (*args, *wrong)})
        assert "certificate of the object store is not trusted" in said
    assert "--s3-ca" in refused(tmp_path / "d", {**options, "args": (*args, "--s3-ca", str(tmp_path / "absent"))})
    server = fresh_server(args=(*args, "--s3-ca", str(s3.ca.file)), environment=options["environment"])
    version, content = folder(server.admin()), os.urandom(9 << 20)
    put(server.admin(), version, "a", content)
    server.stop()
    empty_cache(server)
    server.start()
    assert get(server.admin(), version, "a", Range="bytes=10-19") == content[10:20]
    assert get(server.admin(), version, "a") == content


def test_a_job_reads_files_that_are_only_in_the_bucket(s3, fresh_server):
    server = fresh_server(**s3.options(s3.bucket(), cache="100K"))  # less than the files
    api = server.admin()
    version, files = folder(api), {f"d{i % 7}/{i}.bin": os.urandom(10_000) for i in range(60)}
    for name, content in files.items():
        put(api, version, name, content)
    set_id, version_id = map(int, version.split("/")[1::2])
    server.stop()
    empty_cache(server)
    server.start()
    api = server.admin()
    project = api.get(f"algorithm-sets/{set_id}")["project"]
    spec = api.post("specs", {"name": unique("spec"), "cpus": 0.1, "memory": 128 << 20})
    job = api.post("jobs", {"project": project, "name": "j", "spec": spec["id"], "algorithm": version_id,
                            "command": "cd algorithm && find . -type f | sort | xargs sha256sum"})
    job = wait_for(lambda: (j := api.get(f"jobs/{job['id']}"))["state"] in ("completed", "failed") and j, "the end of the job")
    assert job["state"] == "completed", job
    lines = [line["text"] for line in api.get(f"jobs/{job['id']}/log", after=0)["lines"]]
    assert dict(reversed(line.split("  ./")) for line in lines) == {n: hashlib.sha256(c).hexdigest() for n, c in files.items()}
