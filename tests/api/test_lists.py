"""Lists: paging that holds still, search, sort, filter, what is refused."""

import base64
import contextlib
import json
import sqlite3

import pytest
from harness import DEADLINE, Server, problem, unique

GIB = 1 << 30


@pytest.fixture(scope="module")
def sets(admin):
    """A project with 25 label sets; every third is public and has no description."""
    project = admin.post("projects", {"name": unique("lists")})["id"]
    for i in range(25):
        admin.post("label-sets", {"project": project, "name": f"{'cat' if i % 2 else 'dog'}-{i:02}",
                                  "public": i % 3 == 0, "description": None if i % 3 == 0 else f"d{i % 4}"})
    return project


@pytest.fixture(scope="module")
def mark(admin):
    """Specs of the test's own, found by the mark in accelerator; some without a value there."""
    mark = unique("chip")
    for i in range(12):
        admin.post("specs", {"name": f"{mark}-{i:02}", "cpus": i / 2 or 0.25, "memory": GIB * (1 + i % 3),
                             "accelerator": mark if i % 2 else None, "accelerators": i % 2, "ib": i % 4 == 0})
    return mark


def names(page) -> list[str]:
    return [one["name"] for one in page["items"]]


def test_pages_are_newest_first(admin, sets):
    first = admin.get("label-sets", project=sets, count="true")
    assert len(first["items"]) == 20 and first["total"] == 25
    ids = [one["id"] for one in first["items"]]
    assert ids == sorted(ids, reverse=True)
    second = admin.get("label-sets", project=sets, cursor=first["next"])
    assert len(second["items"]) == 5 and second["next"] is None and "total" not in second
    assert second["items"][0]["id"] < ids[-1]


@pytest.mark.parametrize("sort", ["id", "-id", "name", "-name", "created_at", "-created_at", "updated_at",
                                  "-updated_at"])
@pytest.mark.parametrize("limit", [1, 7, 25, 200])
def test_every_order_pages_through_all(admin, sets, sort, limit):
    items = admin.all("label-sets", project=sets, sort=sort, limit=limit)
    field = sort.lstrip("-")
    values = [(one[field], one["id"]) for one in items]
    assert len({one["id"] for one in items}) == 25
    assert values == sorted(values, reverse=sort[0] == "-")


@pytest.mark.parametrize("sort", ["cpus", "-cpus", "memory", "-memory"])
def test_orders_with_equal_values(admin, mark, sort):
    items = admin.all("specs", q=mark, sort=sort, limit=5)
    values = [(one[sort.lstrip("-")], one["id"]) for one in items]
    assert len(items) == 12 and values == sorted(values, reverse=sort[0] == "-")


def test_orders_with_missing_values(admin):
    """Objects without a value come first upwards and last downwards, on every engine."""
    first = [admin.post("tokens", {"name": unique("t"), "expires_at": at})["id"]
             for at in ("2099-01-01T00:00:00Z", None, "2098-01-01T00:00:00Z", None)]
    for limit in (1, 2, 3, 200):
        items = [one["id"] for one in admin.all("tokens", sort="expires_at", limit=limit) if one["id"] in first]
        assert items == [first[1], first[3], first[2], first[0]]
        items = [one["id"] for one in admin.all("tokens", sort="-expires_at", limit=limit) if one["id"] in first]
        assert items == [first[0], first[2], first[3], first[1]]


def test_paging_holds_still_under_changes(admin, project, make_set):
    made = [make_set(f"n{i:02}") for i in range(10)]
    page = admin.get("label-sets", project=project["id"], sort="name", limit=4)
    make_set("n00-before")
    make_set("n05-after")
    admin.delete(f"label-sets/{made[3]['id']}")
    rest = admin.get("label-sets", project=project["id"], sort="name", limit=200, cursor=page["next"])
    assert names(page) == ["n00", "n01", "n02", "n03"]
    assert names(rest) == ["n04", "n05", "n05-after", "n06", "n07", "n08", "n09"]


def test_search_finds_parts_in_order_of_name(admin, sets):
    found = admin.all("label-sets", project=sets, q="cat", limit=3)
    assert [one["name"] for one in found] == [f"cat-{i:02}" for i in range(1, 25, 2)]
    assert names(admin.get("label-sets", project=sets, q="cat-0", sort="-id")) == ["cat-09", "cat-07", "cat-05",
                                                                                  "cat-03", "cat-01"]
    for text in ("t-0", "CAT 0", "at-0", "0 ca"):
        assert len(admin.get("label-sets", project=sets, q=text)["items"]) == 5, text
    for text in ("at", "%", "_", "cat%", "cat-01x", "'", '"', "cat dog"):
        assert admin.get("label-sets", project=sets, q=text)["items"] == []
    for text in ("", "  "):
        assert admin.get("label-sets", project=sets, q=text, count="true")["total"] == 25


def test_search_tells_what_it_found(admin, project, make_set):
    make_set("黄色车辆 Yellow")
    other = make_set("other")
    admin.patch(f"label-sets/{other['id']}", {"description": "yellow cars, 车辆"}, other["revision"])
    page = admin.get("label-sets", project=project["id"], q="车辆 yell", count="true")
    assert (names(page), page["sorted"], page["total"]) == (["other", "黄色车辆 Yellow"], True, 2)
    assert page["matches"] == [
        [{"field": "description", "from": 13, "to": 15}, {"field": "description", "from": 0, "to": 4}],
        [{"field": "name", "from": 2, "to": 4}, {"field": "name", "from": 5, "to": 9}]]
    assert "matches" not in admin.get("label-sets", project=project["id"])


def test_a_search_has_few_words(admin, sets):
    problem(admin.call("GET", "label-sets", params={"project": sets, "q": "a " * 17}), 422, "invalid", "q", "16 words")


@pytest.mark.parametrize("sort", ["name", "-name", "id", "-updated_at"])
def test_search_pages_in_every_order(admin, sets, sort):
    found = [one["name"] for one in admin.all("label-sets", project=sets, q="dog", sort=sort, limit=4, count="true")]
    assert sorted(found) == [f"dog-{i:02}" for i in range(0, 25, 2)]
    if "name" in sort:
        assert found == sorted(found, reverse=sort[0] == "-")
    page = admin.get("label-sets", project=sets, q="dog", sort=sort, limit=4, count="true")
    assert admin.get("label-sets", project=sets, q="dog", sort=sort, cursor=page["next"], count="true")["total"] == 13


def test_a_cursor_of_another_search_is_refused(admin, sets):
    page = admin.get("label-sets", project=sets, q="dog", limit=2)
    for text in ("cat", "dog-2", "dogs", "do"):
        problem(admin.call("GET", "label-sets", params={"project": sets, "q": text, "cursor": page["next"]}), 422,
                "invalid", "cursor", "another search")


def test_search_beyond_ascii(admin, project, make_set):
    for name in ("标签", "标签一", "标识", "\U0010ffff", "\U0010ffffx", "퟿", "\ue000"):
        make_set(name)

    def find(text):
        return names(admin.get("label-sets", project=project["id"], q=text))
    assert find("标签") == ["标签", "标签一"]
    assert find("签一") == ["标签一"] and find("签") == ["标签", "标签一"] and find("签标") == []
    assert find("标") == sorted(["标签", "标签一", "标识"], key=lambda s: s.encode())
    assert find("\U0010ffff") == ["\U0010ffff", "\U0010ffffx"]
    assert find("퟿") == ["퟿"]


FILTERS = [
    ('name = "cat-01"', 1),
    ('name != "cat-01"', 24),
    ('name ~ "cat-0"', 5),
    ('name in ("cat-01", "dog-02", "nobody")', 2),
    ("public = true", 9),
    ("public != true", 16),
    ('public = true and name ~ "dog"', 5),
    ('name >= "dog"', 13),
    ('name < "dog" and name > "cat-11"', 6),
    ('name<="cat-01"', 1),
    ("id > 0", 25),
    ("created_by = 1", 25),
    ("created_by = 999999", 0),
    ("created_by != null", 25),
    ("created_by = null", 0),
    ('created_at > "2020-01-01T00:00:00Z"', 25),
    ('created_at < "2020-01-01T00:00:00+08:00"', 0),
    ('name = "\\u0063at-01"', 1),
    ('name = "x\\" or 1=1 --"', 0),
    ("  public=false\nand\tid>0 ", 16),
]


@pytest.mark.parametrize("text, count", FILTERS)
def test_filters(admin, sets, text, count):
    page = admin.get("label-sets", project=sets, filter=text, limit=200, count="true")
    assert (len(page["items"]), page["total"]) == (count, count)


def test_filters_by_number(admin, mark):
    def count(text):
        return len(admin.get("specs", q=mark, filter=text, limit=200)["items"])
    assert count("cpus >= 2.5") == 7
    assert count("cpus = 1") == 1
    assert count(f"memory = {GIB} and cpus < 3") == 2
    assert count("accelerator = null") == 6
    assert count("accelerator != null") == 6
    assert count(f'accelerator != "{mark}"') == 6
    assert count(f'accelerator ~ "{mark[:6]}"') == 6
    assert count("cpus in (1, 2, 2.5)") == 3
    assert count("ib = true") == 3


BAD_FILTERS = [
    ("name", "operator"), ("name =", "value"), ("= 1", "name"), ('name = "a" or public = true', "and"),
    ('name = "a" and', "name"), ("name = a", "JSON"), ("name = 'a'", "value"), ('name = "a', "JSON"),
    ("name = 1", "text in quotes"), ('public = "true"', "true or false"), ("public ~ true", "texts"),
    ('id = "1"', "whole number"), ("id = 1.5", "whole number"), ("id = 18446744073709551615", "too large"),
    ("labels = 1", "no field"), ("password = 1", "no field"), ("description = 1", "no field"), ("name < null", "null"),
    ("name in ()", "value"), ("name in (null)", "null"), ('name in ("a"', ")"), ("name in", "("),
    ('created_at = "today"', "time"), ("created_at = 5", "time"), ('name = "\\u0000"', "NUL"),
    ("name == 1", "value"), ('name = {"a": 1}', "value"), ("(id = 1)", "name"), ("id = 1;", "and"),
    (" and ".join(["id > 0"] * 21), "20"), (f"id in ({','.join(['1'] * 101)})", "100"), ("id > 0" + " " * 4100, "4096"),
]


@pytest.mark.parametrize("text, says", BAD_FILTERS)
def test_bad_filters(admin, sets, text, says):
    problem(admin.call("GET", "label-sets", params={"project": sets, "filter": text}), 422, "invalid", "filter", says)


def forged(*parts) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


BAD_PARAMETERS = [
    ({"limit": "0"}, "limit"), ({"limit": "201"}, "limit"), ({"limit": "-1"}, "limit"), ({"limit": "x"}, "limit"),
    ({"limit": "1e2"}, "limit"), ({"limit": "99999999999999999999"}, "limit"), ({"limit": ""}, "limit"),
    ({"project": "0"}, "project"), ({"project": "-1"}, "project"), ({"project": "x"}, "project"),
    ({"project": "99999999999999999999"}, "project"),
    ({"sort": "labels"}, "sort"), ({"sort": "nothing"}, "sort"), ({"sort": "-"}, "sort"), ({"sort": "--name"}, "sort"),
    ({"sort": "name; drop table"}, "sort"), ({"mine": "1"}, "mine"), ({"count": "yes"}, "count"),
    ({"page": "2"}, "page"), ({"offset": "10"}, "offset"), ({"q": "x" * 201}, "q"),
    ({"cursor": "x"}, "cursor"), ({"cursor": "!!!"}, "cursor"), ({"cursor": "A" * 5000}, "cursor"),
    ({"cursor": forged("-id", None)}, "cursor"), ({"cursor": forged("-id", None, -1)}, "cursor"),
    ({"cursor": forged("-id", None, 1 << 63)}, "cursor"), ({"cursor": forged("-id", 5, 1)}, "cursor"),
    ({"cursor": forged("name", "a", 1)}, "cursor"), ({"cursor": forged(1, None, 1)}, "cursor"),
    ({"cursor": forged("name", 7, 1), "sort": "name"}, "cursor"),
    ({"cursor": forged("name", "a\0b", 1), "sort": "name"}, "cursor"),
    ({"cursor": forged("updated_at", 1 << 63, 1), "sort": "updated_at"}, "cursor"),
]


@pytest.mark.parametrize("params, field", BAD_PARAMETERS)
def test_bad_parameters(admin, sets, params, field):
    problem(admin.call("GET", "label-sets", params={"project": sets, **params}), 422, "invalid", field)


def test_parameters_given_twice_or_malformed(admin, sets):
    problem(admin.call("GET", f"label-sets?project={sets}&limit=1&limit=2"), 422, "invalid", "limit", "twice")
    for query in ("q=%ff", "q=%", "q=%zz", "q=%00", "q=%c0%af"):
        problem(admin.call("GET", f"label-sets?project={sets}&{query}"), 400, "malformed")


def test_a_project_is_asked_for_only_where_there_is_one(admin, project):
    problem(admin.call("GET", "specs", params={"project": project["id"]}), 422, "invalid", "project")


def test_mine(admin, project, make_set, make_user):
    member = make_user(project)
    make_set("theirs")
    member.post("label-sets", {"project": project["id"], "name": "own"})
    assert names(member.get("label-sets", project=project["id"], mine="true")) == ["own"]
    assert names(admin.get("label-sets", project=project["id"], mine="true")) == ["theirs"]
    assert member.get("label-sets", project=project["id"], mine="false", count="true")["total"] == 2


# --- searches in another order, among many ---
MANY = 44_000


# --- children over a whole project ---

@pytest.fixture(scope="module")
def versions(admin):
    """A project with three model sets of four versions each, the second public; their ids by set."""
    project = admin.post("projects", {"name": unique("across")})["id"]
    made = {}
    for i in range(3):
        of = admin.post("model-sets", {"project": project, "name": f"set-{i}", "public": i == 1})["id"]
        made[of] = [admin.post(f"model-sets/{of}/versions", {})["id"] for _ in range(4)]
    return project, made


@pytest.mark.parametrize("sort", ["id", "-id", "number", "-number", "updated_at", "-created_at"])
@pytest.mark.parametrize("limit", [1, 5, 200])
def test_children_of_all_parents_page_in_every_order(admin, versions, sort, limit):
    project, made = versions
    items = admin.all("model-versions", project=project, sort=sort, limit=limit)
    field = sort.lstrip("-")
    values = [(one[field], one["id"]) for one in items]
    assert {one["id"] for one in items} == {one for ids in made.values() for one in ids}
    assert values == sorted(values, reverse=sort[0] == "-")
    assert {one["model_set"]["id"] for one in items} == set(made)


def test_children_of_all_parents_are_found(admin, versions, make_user):
    project, made = versions
    first, second, _ = made
    found = admin.get("model-versions", project=project, count="true", limit=1)
    assert found["total"] == 12 and len(found["items"]) == 1
    one = admin.get("model-versions", project=project, filter=f"model_set = {second}")["items"]
    assert [item["id"] for item in one] == made[second][::-1]
    assert one == admin.get(f"model-sets/{second}/versions")["items"]
    assert admin.get(f"model-versions/{made[first][0]}") == admin.get(f"model-sets/{first}/versions/{made[first][0]}")
    assert len(admin.get("model-versions", project=project, q="v3")["items"]) == 3
    assert len(admin.get("model-versions", project=project, filter=f'name in ("v1", "v2") and model_set in ({first}, {second})')["items"]) == 4
    member = make_user({"id": project})
    own = member.post(f"model-sets/{first}/versions", {})["id"]
    assert [item["id"] for item in member.get("model-versions", project=project, mine="true")["items"]] == [own]
    member.delete(f"model-sets/{first}/versions/{own}")


def test_children_of_all_parents_are_seen_as_each_is(admin, versions, make_user):
    """Who is in the project sees all of them, everybody those of public parents, an administrator everything."""
    project, made = versions
    public = set(list(made.values())[1])
    stranger = make_user(admin.post("projects", {"name": unique("other")}))
    problem(stranger.call("GET", "model-versions", params={"project": project}), 404, "not_found")
    seen = {one["id"] for one in stranger.all("model-versions", limit=200)}
    assert public <= seen and not seen & {one for ids in made.values() for one in ids} - public
    assert stranger.get(f"model-versions/{min(public)}")["id"] == min(public)
    problem(stranger.call("GET", f"model-versions/{list(made.values())[0][0]}"), 404, "not_found")
    problem(stranger.call("GET", "training-instances"), 422, "invalid", "project")
    problem(stranger.call("GET", f"model-sets/{list(made)[1]}/versions", params={"project": project}), 422, "invalid", "project")
    everything = {one["id"] for one in admin.all("model-versions", limit=200)}
    assert everything >= {one for ids in made.values() for one in ids}
    assert len(make_user({"id": project}, "viewer").all("model-versions", project=project)) == 12


def test_children_of_all_parents_are_only_read(admin, versions):
    project, made = versions
    one = list(made.values())[0][0]
    for method, path in (("POST", "model-versions"), ("PATCH", f"model-versions/{one}"), ("DELETE", f"model-versions/{one}")):
        problem(admin.call(method, path, json={"project": project}), 405, "method", says="GET")
    problem(admin.call("GET", f"model-versions/{one}/files"), 404, "not_found")
    problem(admin.call("GET", "group-members"), 404, "not_found")


def test_every_child_of_a_project_has_its_collection(admin, project):
    described = {kind["name"]: kind["collection"] for kind in admin.get("kinds")["items"]}
    assert {name: path for name, path in described.items() if path} == {
        "dataset_version": "dataset-versions", "algorithm_version": "algorithm-versions", "model_version": "model-versions",
        "image_version": "image-versions", "training_instance": "training-instances",
        "service_version": "service-versions", "service_key": "service-keys", "label_example": "label-examples"}
    for path in filter(None, described.values()):
        assert admin.get(path, project=project["id"]) == {"items": [], "next": None}


def insert_many(server, postgres, project: int) -> None:
    """Label sets straight into the table, 1 to MANY: every 500th is "few-...", the older half "old-...", the rest
    "new-even-..." and "new-odd-..."; updated in the opposite order."""
    text = f"""
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY})
        INSERT INTO label_sets(project, name, description, public, labels, revision, created_at, updated_at, created_by)
        SELECT {project}, CASE WHEN i % 500 = 0 THEN 'few-' WHEN i <= {MANY // 2} THEN 'old-'
                               WHEN i % 2 = 0 THEN 'new-even-' ELSE 'new-odd-' END || i,
               'd', 0, '[]', 1, 1000 + i, 1000 + {MANY} - i, 1 FROM n"""
    if postgres:
        postgres.sql(text, server.db)
        return
    with contextlib.closing(sqlite3.connect(f"{server.data}/ingot.db", timeout=DEADLINE)) as db, db:
        db.execute(text)


@pytest.fixture(scope="module")
def many(make_db, request):
    """An administrator, the project, and the id of the first."""
    server = Server(make_db()).start()
    admin = server.admin()
    project = admin.post("projects", {"name": "many"})["id"]
    insert_many(server, server.db and request.getfixturevalue("postgres"), project)
    yield admin, project, admin.get("label-sets", project=project, sort="id", limit=1)["items"][0]["id"]
    server.remove()


@pytest.mark.parametrize("sort", ["id", "-id", "updated_at", "-updated_at"])
def test_search_in_another_order_among_many(many, sort):
    admin, project, first = many
    wanted = [i for i in range(1, MANY + 1) if i % 500 == 0]
    if sort in ("-id", "updated_at"):
        wanted.reverse()
    total, found, cursor = None, [], {}
    for _ in range(3):
        page = admin.get("label-sets", project=project, q="few", sort=sort, limit=25, count="true", **cursor)
        found += [one["id"] - first + 1 for one in page["items"]]
        cursor, total = {"cursor": page["next"]}, page["total"]
    assert (total, found) == (len(wanted), wanted[:75])
    nothing = admin.get("label-sets", project=project, q="few", sort=sort, filter="public = true")
    assert nothing == {"items": [], "next": None, "sorted": True, "matches": []}


@pytest.mark.parametrize("sort", ["id", "name", "updated_at"])
def test_too_many_matches_come_unsorted(many, sort):
    """The newest first, whatever the order, and the answer says so."""
    admin, project, first = many
    wanted = [i for i in range(MANY, 0, -1) if i <= MANY // 2 and i % 500 != 0]
    found, cursor = [], {}
    for _ in range(3):
        page = admin.get("label-sets", project=project, q="old", sort=sort, limit=25, count="true", **cursor)
        assert (page["sorted"], page["total"]) == (False, None)
        found += [one["id"] - first + 1 for one in page["items"]]
        cursor = {"cursor": page["next"]}
    assert found == wanted[:75]


def test_the_last_pages_of_a_search_in_another_order(many):
    admin, project, first = many
    found, place = [], {"filter": f"id < {first + MANY // 2 + 40}"}
    page = admin.get("label-sets", project=project, q="new", sort="-id", limit=25, **place)
    found += page["items"]
    page = admin.get("label-sets", project=project, q="new", sort="-id", limit=25, cursor=page["next"], **place)
    found += page["items"]
    assert [one["id"] - first + 1 for one in found] == list(range(MANY // 2 + 40, MANY // 2, -1)) and page["next"] is None
