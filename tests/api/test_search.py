"""Words and parts of words among many: objects and samples, before and after the index is written."""

import contextlib
import sqlite3

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, DEADLINE, Server, problem, unique, wait_for

MANY = 40_000  # several blocks of the index
COLOURS = ("red", "green", "blue", "黄色")


def name_of(i: int) -> str:
    return f"{'part' if i % 7 else 'whole'}-{COLOURS[i % 4]}-{i:06}" + ("-rare" if i % 4001 == 0 else "")


class Platform:
    """Label sets 1 to MANY, and as many samples of a version, straight into the tables."""

    def __init__(self, request, db: str | None) -> None:
        self.server = Server(db).start()
        self.postgres = db and request.getfixturevalue("postgres")
        self.admin = self.server.admin()
        self.project = self.admin.post("projects", {"name": unique("many")})["id"]
        self.small = self.admin.post("projects", {"name": unique("few")})["id"]
        dataset = self.admin.post("datasets", {"name": "s", "project": self.project, "annotation_type": "detection"})
        version = self.admin.post(f"datasets/{dataset['id']}/versions", {})
        self.samples = f"datasets/{dataset['id']}/versions/{version['id']}/samples"
        self.fill(version["id"])

    def sql(self, text: str) -> str:
        if self.postgres:
            return self.postgres.sql(text, self.server.db)
        with contextlib.closing(sqlite3.connect(f"{self.server.data}/ingot.db", timeout=DEADLINE)) as db, db:
            return "\n".join("|".join(str(v) for v in row) for row in db.execute(text))

    def fill(self, version: int) -> None:
        series = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY})"
        colour = "CASE " + " ".join(f"WHEN i % 4 = {i} THEN '{c}'" for i, c in enumerate(COLOURS)) + " END"
        number = "substr('000000' || i, length('000000' || i) - 5)"
        name = f"""CASE WHEN i % 7 = 0 THEN 'whole' ELSE 'part' END || '-' || {colour} || '-' || {number} ||
                   CASE WHEN i % 4001 = 0 THEN '-rare' ELSE '' END"""
        digest = "decode(repeat('00', 32), 'hex')" if self.postgres else "zeroblob(32)"
        self.sql(f"""{series} INSERT INTO label_sets(project, name, public, labels, revision, created_at, updated_at, created_by)
                     SELECT {self.project}, {name}, 0, '[]', 1, 1000 + i, 1000 - i, 1 FROM n""")
        self.sql(f"""{series} INSERT INTO samples(version, position, name, digest, size, width, height, duration, state,
                     former, revision, annotation, updated_at, updated_by)
                     SELECT {version}, i, {name}, {digest}, 1, 1, 1, 0, i % 2, 0, 1, '{{}}', 1, 1 FROM n""")
        self.sql(f"INSERT INTO version_totals(version, next_position, bytes) VALUES ({version}, {MANY + 1}, 0)")

    def find(self, q: str, **params) -> list[str]:
        return [x["name"] for x in self.admin.all("label-sets", project=self.project, q=q, limit=200, **params)]

    def find_samples(self, q: str, **params) -> list[str]:
        found, after = [], 0
        while after is not None:
            page = self.admin.get(self.samples, q=q, limit=1000, after=after, **params)
            found += [x["name"] for x in page["items"]]
            after = page["next"]
        return found

    def indexed(self) -> bool:
        return self.sql("SELECT COUNT(*) FROM search_places WHERE mark >= 40000") == "2"


@pytest.fixture(scope="module")
def platform(request, make_db):
    it = Platform(request, make_db())
    yield it
    it.server.remove()


CASES = [("rare", lambda n: "rare" in n), ("0400", lambda n: "0400" in n), ("whole 黄色 -rare", lambda n: all(w in n for w in ("whole", "黄色", "-rare"))),
         ("hole-GRE", lambda n: "hole-gre" in n), ("色-0001", lambda n: "色-0001" in n), ("nowhere", lambda n: False), ("ar", lambda n: False),
         # So many that the first page is found along the order.
         ("whole", lambda n: "whole" in n), ("色-03", lambda n: "色-03" in n)]
NAMES = [name_of(i) for i in range(1, MANY + 1)]


def check(platform) -> None:
    for q, wanted in CASES:
        names = [n for n in NAMES if wanted(n)]
        assert platform.find(q) == sorted(names, key=str.encode), q
        assert platform.find(q, sort="-id") == names[::-1], q
        assert platform.find_samples(q) == names, q
    labelled = [n for i, n in enumerate(NAMES, 1) if "0400" in n and i % 2]
    assert platform.find_samples("0400", state="annotated") == labelled
    few = platform.admin.get("label-sets", project=platform.project, q="whole", filter='name ~ "whole-red-03"', sort="name", limit=20)
    assert [x["name"] for x in few["items"]] == sorted(n for n in NAMES if n.startswith("whole-red-03"))[:20]
    many = [n for n in NAMES if "part" in n]
    page = platform.admin.get("label-sets", project=platform.project, q="part", sort="name", limit=100, count="true")
    assert (page["sorted"], page["total"]) == (False, None)
    assert [x["name"] for x in page["items"]] == many[:-101:-1]
    assert platform.find("part") == many[::-1]
    assert platform.find_samples("黄") == [n for n in NAMES if "黄" in n]
    assert platform.admin.get("label-sets", project=platform.small, q="part")["items"] == []


def test_before_the_index_is_written(platform):
    check(platform)


def test_with_the_index(platform):
    wait_for(platform.indexed, "the index")
    check(platform)


def test_what_changes_is_found_by_its_new_text_only(platform):
    wait_for(platform.indexed, "the index")
    admin = platform.admin
    old = admin.get("label-sets", project=platform.project, q="000123")["items"][0]
    admin.patch(f"label-sets/{old['id']}", {"name": "quite another 车辆"}, old["revision"])

    def changed():
        assert platform.find("000123") == []
        for q in ("uite", "another", "车辆"):
            assert platform.find(q) == ["quite another 车辆"]
    changed()
    wait_for(lambda: platform.sql("SELECT COUNT(*) FROM search_changed") == "0", "the new grams")
    changed()
    new = admin.post("label-sets", {"project": platform.project, "name": "quite new"})
    assert platform.find("quite") == ["quite another 车辆", "quite new"]
    admin.delete(f"label-sets/{new['id']}")
    assert platform.find("quite") == ["quite another 车辆"]
    admin.patch(f"label-sets/{old['id']}", {"name": old["name"]}, old["revision"] + 1)


def test_a_small_project_among_many_is_sorted(platform):
    wait_for(platform.indexed, "the index")
    for name in ("part-b", "part-a", "other"):
        platform.admin.post("label-sets", {"project": platform.small, "name": name})
    page = platform.admin.get("label-sets", project=platform.small, q="part", count="true")
    assert ([x["name"] for x in page["items"]], page["sorted"], page["total"]) == (["part-a", "part-b"], True, 2)


def test_a_cursor_goes_on_in_its_own_way(platform):
    """Also when the other way would be taken by now."""
    wait_for(platform.indexed, "the index")
    sorted_page = platform.admin.get("label-sets", project=platform.project, q="rare", limit=3)
    rest = platform.admin.get("label-sets", project=platform.project, q="rare", limit=200, cursor=sorted_page["next"])
    names = [x["name"] for x in sorted_page["items"] + rest["items"]]
    assert names == sorted((n for n in NAMES if "rare" in n), key=str.encode)


def test_restored_into_the_other_engine(platform, request, tmp_path):
    wait_for(platform.indexed, "the index")
    cli = Cli(tmp_path)
    cli.run("login", platform.server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD)
    cli.run("backup", str(tmp_path / "b"))
    db = None if platform.server.db else request.getfixturevalue("postgres").database()
    Cli(tmp_path).run("restore", str(tmp_path / "b"), "--data", str(tmp_path / "data"), *(["--db", db] if db else []))
    server = Server(db, data=str(tmp_path / "data")).start()
    try:
        admin = server.admin()
        found = admin.get("label-sets", project=platform.project, q="rare 黄色", limit=200)
        assert [x["name"] for x in found["items"]] == sorted((n for n in NAMES if "rare" in n and "黄色" in n), key=str.encode)
        assert [x["name"] for x in admin.get(platform.samples, q="hole-red-03", limit=1000)["items"]] == [
            n for n in NAMES if "hole-red-03" in n]
    finally:
        server.stop()


def test_samples_tell_what_was_found(platform):
    page = platform.admin.get(platform.samples, q="000004 黄", limit=5)
    assert [x["name"] for x in page["items"]] == [] and page["matches"] == []
    page = platform.admin.get(platform.samples, q="000003 黄", limit=5)
    assert page["matches"] == [[{"field": "name", "from": 8, "to": 14}, {"field": "name", "from": 5, "to": 6}]]
    answer = platform.admin.call("GET", platform.samples, params={"q": "a " * 17})
    assert answer.status_code == 422 and answer.json()["field"] == "q"


def found(api, project: int, q: str, **params) -> list[tuple[str, str]]:
    return [(one["kind"], one["name"]) for one in api.get("search", project=project, q=q, **params)["items"]]


def test_all_kinds_are_found_in_one_answer(admin, project, make_user):
    here, word = project["id"], unique("q")
    for kind, name, more in (("label-sets", f"{word}-roads", {}), ("datasets", f"night {word}", {"annotation_type": "detection"}),
                             ("model-sets", word, {}), ("label-sets", "other", {"description": f"like {word}, but 黄色车辆"})):
        admin.post(kind, {"project": here, "name": name, **more})
    admin.post("specs", {"name": f"{word}-spec", "cpus": 1, "memory": 8 << 20})
    everything = found(admin, here, word)
    assert everything[:2] == [("model_set", word), ("spec", f"{word}-spec")], "the whole name, then what begins with it"
    assert everything[2:] == [("label_set", f"{word}-roads"), ("dataset", f"night {word}"), ("label_set", "other")]
    (one,) = admin.get("search", project=here, q=f"{word} 色车", limit=50)["items"]
    assert (one["name"], one["about"]) == ("other", f"like {word}, but 黄色车辆") and {m["field"] for m in one["matches"]} == {"description"}
    assert found(admin, here, word, limit=2) == everything[:2] and found(admin, here, "") == []
    # Characters in their order, after all that has the word itself.
    admin.post("label-sets", {"project": here, "name": "traffic-detection 夜间行人"})
    assert ("label_set", "traffic-detection 夜间行人") in found(admin, here, "trfdet") and ("label_set", "traffic-detection 夜间行人") in found(admin, here, "夜行")
    assert ("label_set", "traffic-detection 夜间行人") not in found(admin, here, "rfdet")

    # Each sees what they may list; a project of others does not exist, and outside of projects there is only the platform's.
    member, annotator = make_user(project), make_user(project, "annotator")
    assert found(member, here, word) == everything
    assert found(annotator, here, word) == [("spec", f"{word}-spec")]
    problem(make_user().call("GET", "search", params={"project": here, "q": word}), 404, "not_found")
    assert [one["name"] for one in admin.get("search", q=word)["items"]] == [f"{word}-spec"]
    assert ("project", project["name"]) in found(member, here, project["name"])
    for params in ({"limit": 51}, {"q": "a " * 17}, {"q": "a" * 201}, {"project": 0}):
        assert admin.call("GET", "search", params={"q": word, **params}).status_code == 422
