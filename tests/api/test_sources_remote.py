"""Imports from object stores and databases (D6)."""

import json
from pathlib import Path

import pytest
from harness import DEADLINE, problem, unique, wait_for
from hostile import HostileMysql, HostileS3
from relay import Relay
from s3 import KEY, SECRET
from test_datasets import COCO, PICTURES, finished, png, report, samples, zipped
from tls import Authority


class Platform:
    """A server that may reach what the test started, and one version to fill."""

    def __init__(self, fresh_server, tmp_path, hosts: list[str], annotation: str = "detection",
                 config: Path | None = None, **data) -> None:
        self.root = tmp_path / "nas"
        self.root.mkdir(exist_ok=True)
        if not config:
            config = tmp_path / "config.json"
            config.write_text(json.dumps({"import_hosts": hosts, "import_roots": [str(self.root)]}))
        self.server = fresh_server(args=("--config", str(config)))
        self.api = self.server.admin()
        self.project = self.api.post("projects", {"name": unique("p")})
        self.dataset = self.api.post("datasets", {"name": "d", "project": self.project["id"], "annotation_type": annotation,
                                                  **data})
        self.version = self.new_version()

    def new_version(self) -> str:
        versions = f"datasets/{self.dataset['id']}/versions"
        return f"{versions}/{self.api.post(versions, {})['id']}"

    def bring(self, state: str = "done", version: str = "", **body) -> dict:
        return finished(self.api, self.api.post(f"{version or self.version}/import", body, expect=202), state)

    def refused(self, status: int, code: str, says: str, **body) -> None:
        problem(self.api.call("POST", f"{self.version}/import", json=body), status, code, says=says)

    def published(self, version: str) -> str:
        return self.api.post(f"{version}/publish", {}, expect=200)["digest"]


# --- S3 ---

@pytest.fixture
def s3_platform(s3, fresh_server, tmp_path) -> Platform:
    p = Platform(fresh_server, tmp_path, [f"127.0.0.1:{s3.port}"])
    p.bucket = s3.bucket()
    p.source = {"endpoint": s3.url, "bucket": p.bucket, "access_key": KEY}
    return p


def fill(s3, bucket: str, prefix: str) -> None:
    for name, data in {**PICTURES, "annotations/train.json": COCO}.items():
        s3.put(bucket, f"{prefix}{name}", data)


def test_all_objects_below_a_prefix(s3, s3_platform):
    p = s3_platform
    fill(s3, p.bucket, "sets/roads/")
    s3.put(p.bucket, "sets/roads/folder/", b"")
    s3.put(p.bucket, "sets/roads/bad\tname.png", png(3, 3))
    s3.put(p.bucket, "sets/other.png", png(4, 4))
    task = p.bring(s3={**p.source, "prefix": "sets/roads/"}, secret=SECRET)
    assert task["result"]["format"] == "coco"
    assert [s["name"] for s in samples(p.api, p.version)] == sorted(PICTURES)
    assert p.api.get(p.version)["annotated"] == 2
    assert [line["file"] for line in report(p.api, task)][0] == "sets/roads/bad\tname.png"
    again = p.new_version()
    p.bring(version=again, s3={**p.source, "prefix": "sets/roads/"}, secret=SECRET)
    assert p.published(again) == p.published(p.version)


def test_one_archive_of_a_bucket(s3, s3_platform):
    p = s3_platform
    s3.put(p.bucket, "packed/coco 一.zip", zipped({**PICTURES, "annotations/train.json": COCO}))
    p.bring(s3={**p.source, "key": "packed/coco 一.zip"}, secret=SECRET)
    assert [s["name"] for s in samples(p.api, p.version)] == sorted(PICTURES)


def test_many_objects_are_listed_in_pages(s3, s3_platform):
    p = s3_platform
    names = [f"many/{i:04}.png" for i in range(1005)]
    for name in names:
        s3.put(p.bucket, name, PICTURES["images/000.png"])
    task = p.bring(s3={**p.source, "prefix": "many/"}, secret=SECRET)
    assert task["result"]["added"] == 1005


def test_secrets_are_nowhere(s3, s3_platform):
    p = s3_platform
    s3.put(p.bucket, "a.png", png(5, 5))
    task = p.bring(s3=p.source, secret=SECRET)
    audit = p.api.all("audit", limit=200)
    assert any("s3" in json.dumps(line) for line in audit)
    for text in (json.dumps(task), json.dumps(audit), json.dumps(p.api.get(f"tasks/{task['id']}"))):
        assert SECRET not in text
    p.server.stop()
    assert SECRET not in p.server.stderr
    for file in Path(p.server.data).rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()


def test_what_an_object_store_refuses(s3, s3_platform):
    p = s3_platform
    s3.put(p.bucket, "a.png", png(5, 5))
    assert "SignatureDoesNotMatch" in p.bring("failed", s3=p.source, secret="wrong")["message"]
    assert "NoSuchBucket" in p.bring("failed", s3={**p.source, "bucket": "absent-bucket"}, secret=SECRET)["message"]
    assert "no object" in p.bring("failed", s3={**p.source, "prefix": "zzz"}, secret=SECRET)["message"]
    assert "has no" in p.bring("failed", s3={**p.source, "key": "zzz.zip"}, secret=SECRET)["message"]
    assert samples(p.api, p.version) == []
    for bad, says in (({"bucket": 5}, "s3.bucket"), ({"bucket": ""}, "s3.bucket"), ({"bucket": "a/b"}, "bucket"),
                      ({"endpoint": "file:///etc"}, "endpoint"), ({"endpoint": "http://user@h"}, "endpoint"),
                      ({"region": "x y"}, "region"), ({"odd": "x"}, "odd"), ({"key": "a", "prefix": "b"}, "both")):
        p.refused(422, "invalid", says, s3={**p.source, **bad}, secret=SECRET)
    p.refused(422, "invalid", "secret key", s3=p.source)


def test_only_hosts_that_are_allowed(s3, s3_platform):
    p = s3_platform
    for endpoint in ("http://127.0.0.1:1", "http://127.0.0.1", "https://169.254.169.254", f"http://localhost:{s3.port}",
                     f"http://[::1]:{s3.port}"):
        p.refused(403, "forbidden", "import_hosts", s3={**p.source, "endpoint": endpoint}, secret=SECRET)
    p.refused(403, "forbidden", "import_hosts", s3={"bucket": "b", "access_key": KEY}, secret=SECRET)
    p.refused(403, "forbidden", "import_hosts", database={"host": "127.0.0.1", "user": "u", "database": "d", "table": "t",
                                                          "name": "n"})


def test_the_quota_is_kept(s3, s3_platform):
    p = s3_platform
    fill(s3, p.bucket, "q/")
    p.api.patch(f"projects/{p.project['id']}", {"quota": {"storage": 500}}, revision=p.project["revision"])
    task = p.bring("failed", s3={**p.source, "prefix": "q/"}, secret=SECRET)
    assert "may store 500 bytes" in task["message"]
    assert samples(p.api, p.version) == []


@pytest.fixture
def slow(s3, fresh_server, tmp_path):
    """A platform whose object store hangs until the test lets it go on."""
    relay = Relay(s3.port)
    p = Platform(fresh_server, tmp_path, ["127.0.0.1"])
    p.bucket, p.relay = s3.bucket(), relay
    p.source = {"endpoint": relay.url, "bucket": p.bucket, "access_key": KEY}
    fill(s3, p.bucket, "")
    yield p
    relay.set("on")
    relay.close()


def test_a_killed_server_goes_on(slow):
    """In the middle of an import; the secret is kept, sealed."""
    slow.relay.set("hold")
    task = slow.api.post(f"{slow.version}/import", {"s3": slow.source, "secret": SECRET}, expect=202)
    wait_for(lambda: slow.relay.hits, "the first request")
    slow.server.kill()
    slow.relay.set("on")
    slow.server.start()
    slow.api = slow.server.admin()
    finished(slow.api, task)
    assert [s["name"] for s in samples(slow.api, slow.version)] == sorted(PICTURES)


def test_another_key_of_the_data_folder(slow):
    slow.relay.set("hold")
    task = slow.api.post(f"{slow.version}/import", {"s3": slow.source, "secret": SECRET}, expect=202)
    wait_for(lambda: slow.relay.hits, "the first request")
    slow.server.kill()
    Path(slow.server.data, "key").unlink()
    slow.relay.set("on")
    slow.server.start()
    slow.api = slow.server.admin()
    assert "start the import again" in finished(slow.api, task, "failed")["message"]


def test_an_import_is_cancelled(slow):
    slow.relay.set("hold")
    task = slow.api.post(f"{slow.version}/import", {"s3": slow.source, "secret": SECRET}, expect=202)
    wait_for(lambda: slow.relay.hits, "the first request")
    slow.api.post(f"tasks/{task['id']}/cancel", {}, expect=200)
    slow.relay.set("on")
    finished(slow.api, task, "cancelled")
    assert samples(slow.api, slow.version) == []


def test_slow_imports_hold_up_nobody_else(slow):
    """Whatever one project does, another's import finds a place, and so do its own other tasks (defect 16)."""
    slow.relay.set("hold")
    own = [slow.api.post(f"{slow.new_version()}/import", {"s3": slow.source, "secret": SECRET}, expect=202) for _ in range(4)]
    state = lambda: [slow.api.get(f"tasks/{task['id']}")["state"] for task in own]  # noqa: E731
    wait_for(lambda: state() == ["running", "running", "waiting", "waiting"], "as many as one project may have")
    (slow.root / "a.png").write_bytes(png(5, 5))
    other = slow.api.post("projects", {"name": unique("other")})
    dataset = slow.api.post("datasets", {"name": "d", "project": other["id"], "annotation_type": "detection"})
    versions = f"datasets/{dataset['id']}/versions"
    version = f"{versions}/{slow.api.post(versions, {})['id']}"
    finished(slow.api, slow.api.post(f"{version}/import", {"directory": str(slow.root)}, expect=202))
    finished(slow.api, slow.api.post(f"{slow.version}/export", {"format": "coco"}, expect=202))
    assert state() == ["running", "running", "waiting", "waiting"]
    slow.relay.set("on")
    for task in own:
        finished(slow.api, task)


def test_a_task_may_not_take_for_ever(s3, fresh_server, tmp_path):
    relay = Relay(s3.port)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"import_hosts": ["127.0.0.1"], "task_hours": {"import": 0.0005}}))
    p = Platform(fresh_server, tmp_path, [], config=config)
    bucket = s3.bucket()
    fill(s3, bucket, "")
    relay.set("hold")
    task = p.api.post(f"{p.version}/import", {"s3": {"endpoint": relay.url, "bucket": bucket, "access_key": KEY},
                                              "secret": SECRET}, expect=202)
    wait_for(lambda: relay.hits, "the first request")
    wait_for(lambda: p.api.get("controllers")["items"] and "late" in p.server.log_tail(), "the time limit")
    relay.set("on")
    over = finished(p.api, task, "failed")
    assert "longer than the 0.0005 hours" in over["message"]
    assert over["message"] in [line["reason"] for line in report(p.api, task)]
    assert samples(p.api, p.version) == []
    relay.close()


# --- MariaDB ---

@pytest.fixture
def maria(mariadb, fresh_server, tmp_path):
    """A function that makes a platform for a type of annotation, and a database."""

    def make(annotation: str, **data) -> Platform:
        p = Platform(fresh_server, tmp_path, [f"127.0.0.1:{mariadb.port}"], annotation, **data)
        p.name = mariadb.database()
        p.source = {"host": "127.0.0.1", "port": mariadb.port, "user": mariadb.user, "database": p.name}
        return p
    return make


def hexed(data: bytes) -> str:
    return f"x'{data.hex()}'"


def test_pictures_and_classes_of_a_table(mariadb, maria):
    p = maria("image-class")
    rows = [("1", png(7, 5, 1), "cat"), ("b/二.png", png(8, 5, 2), "狗"), ("3.png", png(9, 5, 3), None)]
    mariadb.sql("CREATE TABLE `pict``ures` (id VARCHAR(50), `bytes` MEDIUMBLOB, class VARCHAR(50));" + "".join(
        f"INSERT INTO `pict``ures` VALUES ('{n}', {hexed(b)}, {repr(c) if c else 'NULL'});" for n, b, c in rows)
        + "INSERT INTO `pict``ures` VALUES ('none.png', NULL, 'cat'), (NULL, 'x', 'cat'), ('../up.png', 'x', 'cat'),"
          " ('text.png', 'no picture', 'cat')", p.name)
    source = {**p.source, "table": "pict`ures", "name": "id", "content": "bytes", "label": "class"}
    task = p.bring(database=source, secret=mariadb.password)
    got = {s["name"]: (s["width"], (s["annotation"] or {}).get("labels")) for s in samples(p.api, p.version)}
    assert got == {"1.png": (7, ["cat"]), "3.png": (9, None), "b/二.png": (8, ["狗"])}
    files = {line["file"] for line in report(p.api, task)}
    assert {"none.png", "../up.png", "text.png", ""} <= files
    again = p.new_version()
    p.bring(version=again, database=source, secret=mariadb.password)
    assert p.published(again) == p.published(p.version)


def test_texts_of_a_query(mariadb, maria):
    p = maria("text-class", data_type="text")
    mariadb.sql("CREATE TABLE mails (id INT, body TEXT); CREATE TABLE tags (mail INT, tag VARCHAR(20));"
                "INSERT INTO mails VALUES (1, '你好'), (2, 'buy now'), (3, 'hello');"
                "INSERT INTO tags VALUES (1, 'good'), (1, 'short'), (2, 'spam')", p.name)
    query = ("SELECT CONCAT('mail/', id, '.txt') AS path, body, tag FROM mails LEFT JOIN tags ON mail = id"
             " ORDER BY id, tag")
    p.bring(database={**p.source, "query": query, "name": "path", "content": "body", "label": "tag"}, secret=mariadb.password)
    got = samples(p.api, p.version)
    assert {s["name"]: (s["annotation"] or {}).get("labels") for s in got} == {
        "mail/1.txt": ["good", "short"], "mail/2.txt": ["spam"], "mail/3.txt": None}
    assert p.api.call("GET", f"{p.version}/samples/{got[0]['id']}/content").text == "你好"


def test_files_that_a_table_names(mariadb, maria):
    p = maria("detection")
    (p.root / "a.png").write_bytes(png(20, 10))
    box = {"shapes": [{"type": "box", "label": "cat", "x": 1, "y": 2, "w": 3, "h": 4}]}
    mariadb.sql(f"CREATE TABLE f (name TEXT, path TEXT, boxes TEXT); INSERT INTO f VALUES ('a.png', '{p.root}/a.png',"
                f" '{json.dumps(box)}'), ('b.png', '/etc/passwd', NULL), ('c.png', '{p.root}/absent', NULL),"
                f" ('d.png', '{p.root}/../config.json', NULL)", p.name)
    task = p.bring(database={**p.source, "table": "f", "name": "name", "file": "path", "annotation": "boxes"},
                   secret=mariadb.password)
    [only] = samples(p.api, p.version)
    assert (only["name"], only["state"]) == ("a.png", "annotated")
    assert sorted(line["file"] for line in report(p.api, task)) == ["b.png", "c.png", "d.png"]


def test_a_query_that_thinks_is_cancelled(mariadb, maria):
    """Before its first row, for longer than a test waits."""
    p = maria("image-class")
    mariadb.sql("CREATE TABLE many AS SELECT seq FROM seq_1_to_1000", p.name)
    query = "SELECT 'a.png' AS n, SUM(SQRT(a.seq * b.seq + c.seq)) AS label FROM many a, many b, many c, many d"
    task = p.api.post(f"{p.version}/import", {"database": {**p.source, "query": query, "name": "n", "label": "label"},
                                              "secret": mariadb.password}, expect=202)
    wait_for(lambda: "SQRT" in mariadb.sql("SHOW FULL PROCESSLIST"), "the query")
    p.api.post(f"tasks/{task['id']}/cancel", {}, expect=200)
    finished(p.api, task, "cancelled")
    ids = [line.split("\t")[0] for line in mariadb.sql("SHOW FULL PROCESSLIST").splitlines() if "SQRT" in line]
    mariadb.sql("".join(f"KILL {one};" for one in ids))  # the server would go on for minutes


# What a session that cannot write does not stop, and what it does.
WRITING = [
    "DROP TABLE t", "TRUNCATE t", "DELETE FROM t", "INSERT INTO t VALUES ('z', 'z')", "SET @a = 1", "SELEKT", "CALL p()", "DO f()",
    "SELECT n, b FROM t INTO OUTFILE '{dir}/out'", "SELECT b INTO DUMPFILE '{dir}/out' FROM t", "SELECT n, b FROM t; DROP TABLE t",
    "/*! DROP TABLE t */", "SELECT n, b FROM t /*!50000 INTO OUTFILE '{dir}/out' */", "SELECT n, b FROM t /*M!100000 FOR UPDATE */",
    "SELECT n, b FROM t FOR UPDATE", "SELECT n, b FROM t LOCK IN SHARE MODE", "SELECT f() AS n, b FROM t", "SELECT `f`() AS n, b FROM t",
    "SELECT {db}.f() AS n, b FROM t", "SELECT GET_LOCK('x', 1) AS n, b FROM t", "SELECT SLEEP(1) AS n, b FROM t", "SELECT NEXTVAL(s) AS n, b FROM t",
    "SELECT NEXT VALUE FOR s AS n, b FROM t", "SELECT n, b FROM t WHERE 1.5INTO OUTFILE '{dir}/out'", "SELECT n, b FROM t WHERE n = 'a\\\\' INTO OUTFILE '{dir}/out' -- '", "WITH x AS (SELECT 1) DELETE FROM t",
]


@pytest.fixture(scope="module")
def reading(mariadb, fresh_server_module, tmp_path_factory):
    """A platform and a table whose loss would be seen."""
    p = Platform(fresh_server_module, tmp_path_factory.mktemp("reading"), [f"127.0.0.1:{mariadb.port}"], "text-class", data_type="text")
    p.name = mariadb.database()
    p.source = {"host": "127.0.0.1", "port": mariadb.port, "user": mariadb.user, "database": p.name, "name": "n", "content": "b"}
    mariadb.sql("CREATE TABLE t (n VARCHAR(50), b TEXT); INSERT INTO t VALUES ('a.txt', 'x'); CREATE SEQUENCE s;"
                "CREATE FUNCTION f() RETURNS INT RETURN 1", p.name)
    return p


@pytest.mark.parametrize("query", WRITING)
def test_a_query_only_reads(mariadb, reading, query):
    out = Path(mariadb.dir, "out")
    reading.refused(422, "invalid", "database.query", secret=mariadb.password,
                    database={**reading.source, "query": query.format(dir=mariadb.dir, db=reading.name)})
    assert mariadb.sql("SELECT n, b FROM t; SELECT NEXTVAL(s) FROM t WHERE FALSE", reading.name) == "a.txt\tx\n"
    assert not out.exists()


@pytest.mark.parametrize("query", [
    "SELECT n, b FROM t;", "(SELECT n, b FROM t)", "-- all\nSELECT n, b -- 'of'\nFROM t # it", "/* ; DROP TABLE t */ SELECT n, b FROM t",
    "WITH one (n, b) AS (SELECT CONCAT('into ', n), REPLACE(b, ';', '`') FROM t) SELECT n, COALESCE(b, 'x') AS b FROM one WHERE n LIKE '%for update%' OR 1.5",
    "SELECT `n`, \"it's; \\\" INTO\" AS b FROM `t`", "SELECT n, b FROM t WHERE n IN ('a.txt') AND (b = 'x') ORDER BY ROW_NUMBER() OVER (ORDER BY n)",
])
def test_queries_that_read(mariadb, reading, query):
    version = reading.new_version()
    reading.bring(version=version, database={**reading.source, "query": query}, secret=mariadb.password)
    assert len(samples(reading.api, version)) == 1


def test_what_a_database_refuses(mariadb, maria):
    p = maria("detection")
    mariadb.sql("CREATE TABLE t (n TEXT, b BLOB); INSERT INTO t VALUES ('a.png', 'x')", p.name)
    source = {**p.source, "table": "t", "name": "n", "content": "b"}

    def fails(says: str, secret=mariadb.password, **change):
        task = p.bring("failed", database={k: v for k, v in {**source, **change}.items() if v is not None}, secret=secret)
        assert says in task["message"], task
        assert mariadb.password not in json.dumps(task)
    fails("Access denied", secret="wrong")
    fails("doesn't exist", table="absent")
    fails("Unknown database", database="absent")
    fails("no column", query="SELECT n FROM t", table=None)
    fails("SQL syntax", query="SELECT FROM WHERE", table=None)
    for bad, says in (({"port": 70000}, "port"), ({"port": "x"}, "port"), ({"host": "a/b"}, "host"), ({"query": "SELECT 1"}, "query"),
                      ({"name": ""}, "name"), ({"file": "b"}, "file"), ({"odd": "x"}, "odd")):
        p.refused(422, "invalid", says, database={**source, **bad}, secret=mariadb.password)
    p.refused(422, "invalid", "one of them", database=source, s3={"bucket": "b"})


# --- a hostile database ---

@pytest.fixture(scope="module")
def beside(fresh_server_module, tmp_path_factory):
    """A platform that may reach any port of this machine."""
    return Platform(fresh_server_module, tmp_path_factory.mktemp("beside"), ["127.0.0.1"], "text-class", data_type="text")


def hostile(server: HostileMysql, **more) -> dict:
    return {"database": {"host": "127.0.0.1", "port": server.port, "user": "u", "database": "d", "query": "SELECT n, b FROM t",
                         "name": "n", "content": "b", **more}, "secret": "the-password"}


@pytest.mark.parametrize(("how", "says"), [
    ("wide", "names of columns"), ("many", "4096 columns"), ("vast", "4096 columns"), ("long-value", "256 MiB"), ("short-row", "shorter"),
    ("more-values", "other columns"), ("greedy", "file of this machine"), ("early", "not asked"), ("after", "after the end"), ("greeting", "cannot be reached"),
])
def test_a_hostile_database(beside, how, says):
    with HostileMysql(how) as server:
        before = beside.server.memory()
        task = beside.bring("failed", **hostile(server))
        assert says in task["message"], task
        assert beside.server.memory() - before < 200 << 20
    assert samples(beside.api, beside.version) == []


@pytest.mark.parametrize("plugin", ["mysql_clear_password", "dialog", "sha256_password", "caching_sha2_password", "mysql_old_password"])
def test_the_password_is_told_to_no_server_without_tls(beside, plugin):
    with HostileMysql(plugin) as server:
        assert "over TLS only" in beside.bring("failed", **hostile(server))["message"]
    assert b"the-password" not in server.heard


@pytest.mark.parametrize("how", ["drip-columns", "drip-row", "silent-row"])
def test_an_import_of_a_database_that_drips_is_cancelled(beside, how):
    with HostileMysql(how) as server:
        task = beside.api.post(f"{beside.version}/import", hostile(server), expect=202)
        assert server.dripping.wait(DEADLINE)
        beside.api.post(f"tasks/{task['id']}/cancel", {}, expect=200)
        finished(beside.api, task, "cancelled")


# --- a hostile object store ---

def bucket_of(server: HostileS3) -> dict:
    return {"s3": {"endpoint": f"http://127.0.0.1:{server.port}", "bucket": "b", "access_key": KEY}, "secret": SECRET}


@pytest.mark.parametrize(("how", "says"), [
    ("minus", "no object has"), ("vast", "no object has"), ("sum", "may store"), ("longer", "told of before"), ("shorter", "told of before"),
    ("endless", "does not end"), ("long-key", "1024 bytes"), ("slow-range", "does not answer ranges"),
])
def test_a_hostile_object_store(beside, how, says):
    project = beside.api.get(f"projects/{beside.project['id']}")
    beside.api.patch(f"projects/{project['id']}", {"quota": {"storage": 10_000_000}}, revision=project["revision"])
    with HostileS3(how) as server:
        task = beside.bring("failed", **bucket_of(server))
        assert says in task["message"], task
    assert samples(beside.api, beside.version) == []


@pytest.mark.parametrize("stop", ["cancel", "server"])
def test_an_object_store_that_drips_keeps_nobody(fresh_server, tmp_path, stop):
    p = Platform(fresh_server, tmp_path, ["127.0.0.1"])
    with HostileS3("drip") as server:
        task = p.api.post(f"{p.version}/import", bucket_of(server), expect=202)
        assert server.dripping.wait(DEADLINE)
        if stop == "server":
            p.server.stop()  # fails when it does not end in time
        else:
            p.api.post(f"tasks/{task['id']}/cancel", {}, expect=200)
            finished(p.api, task, "cancelled")


# --- TLS ---

def test_a_bucket_over_tls(s3, fresh_server, tmp_path):
    p = Platform(fresh_server, tmp_path, [f"127.0.0.1:{s3.tls_port}"])
    bucket = s3.bucket()
    fill(s3, bucket, "x/")
    source = {"endpoint": s3.tls_url, "bucket": bucket, "access_key": KEY, "prefix": "x/"}
    for wrong in ({}, {"ca": Authority(tmp_path, "other").pem}):
        task = p.bring("failed", s3={**source, **wrong}, secret=SECRET)
        assert "certificate of the object store is not trusted" in task["message"]
    p.bring(s3={**source, "ca": s3.ca.pem}, secret=SECRET)
    assert [s["name"] for s in samples(p.api, p.version)] == sorted(PICTURES)
    p.refused(422, "invalid", "s3.ca", s3={**source, "ca": "/etc/passwd"}, secret=SECRET)
    assert not list(Path(p.server.data, "cache").glob("ca-*"))


def test_a_database_over_tls(mariadb, fresh_server, tmp_path):
    hosts = [f"127.0.0.1:{mariadb.port}", f"localhost:{mariadb.port}"]
    p = Platform(fresh_server, tmp_path, hosts, "text-class", data_type="text")
    name, user = mariadb.database(), "tls_only"
    mariadb.sql(f"CREATE OR REPLACE USER {user}@'%' IDENTIFIED BY 'word' REQUIRE SSL; GRANT ALL ON {name}.* TO {user}@'%';")
    mariadb.sql("CREATE TABLE t (n TEXT, b TEXT); INSERT INTO t VALUES ('a.txt', 'first')", name)
    source = {"host": "localhost", "port": mariadb.port, "user": user, "database": name, "table": "t", "name": "n", "content": "b"}

    def fails(says: str, **change) -> None:
        assert says in p.bring("failed", database={**source, **change}, secret="word")["message"]

    fails("Access denied", tls="off")
    fails("certificate", tls="required")
    fails("certificate", tls="required", ca=Authority(tmp_path, "other").pem)
    for host in ("localhost", "127.0.0.1"):
        version = p.new_version()
        p.bring(version=version, database={**source, "host": host, "tls": "required", "ca": mariadb.ca.pem}, secret="word")
        assert [s["name"] for s in samples(p.api, version)] == ["a.txt"]
    for bad, says in (({"tls": "maybe"}, "off or required"), ({"ca": mariadb.ca.pem}, "database.ca"),
                      ({"tls": "required", "ca": "x"}, "BEGIN CERTIFICATE")):
        p.refused(422, "invalid", says, database={**source, **bad}, secret="word")


def test_the_authority_of_all_sources(s3, fresh_server, tmp_path):
    config = tmp_path / "own.json"
    config.write_text(json.dumps({"import_hosts": [f"127.0.0.1:{s3.tls_port}"], "import_ca": str(s3.ca.file)}))
    p = Platform(fresh_server, tmp_path, [], config=config)
    bucket = s3.bucket()
    fill(s3, bucket, "x/")
    p.bring(s3={"endpoint": s3.tls_url, "bucket": bucket, "access_key": KEY, "prefix": "x/"}, secret=SECRET)
    assert [s["name"] for s in samples(p.api, p.version)] == sorted(PICTURES)
