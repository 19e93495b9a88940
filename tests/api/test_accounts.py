"""Users, groups, roles, projects, members: who may do what."""

import pytest
from harness import Api, problem, unique

PASSWORD = "pass-word-1"


def role_id(admin: Api, name: str) -> int:
    return admin.get("roles", filter=f'name = "{name}"')["items"][0]["id"]


def patch(api: Api, path: str, body: dict):
    """PATCH with the revision it has now."""
    return api.call("PATCH", path, json=body, headers={"If-Match": f'"{api.get(path)["revision"]}"'})


# --- users ---
def test_user_fields(admin):
    name = unique("user")
    user = admin.post("users", {"name": name, "password": PASSWORD, "email": "a@example.org", "category": "annotator",
                                "display_name": "张三", "language": "zh"})
    assert "password" not in user and "hash" not in user
    assert (user["category"], user["administrator"], user["disabled"]) == ("annotator", False, False)
    shown = admin.get(f"users/{user['id']}")
    assert shown == user
    assert PASSWORD not in admin.call("GET", "audit", params={"limit": 200}).text
    assert admin.get("users", q=name)["items"] == [user]


@pytest.mark.parametrize(("fields", "field"), [
    ({"name": "a/b"}, "name"), ({"name": ""}, "name"), ({"name": "x" * 51}, "name"), ({"name": "  "}, "name"),
    ({"name": "a\0b"}, "name"), ({"name": 7}, "name"), ({"password": "12345"}, "password"),
    ({"password": "x" * 129}, "password"), ({"password": None}, "password"), ({"email": "nobody"}, "email"),
    ({"category": "king"}, "category"), ({"administrator": "yes"}, "administrator"), ({"colour": 1}, "colour"),
    ({"platform_role": 999999}, "platform_role"), ({"language": "fr"}, "language"),
])
def test_user_refused(admin, fields, field):
    before = admin.get("users", count="true", limit=1)["total"]
    body = {"name": unique("user"), "password": PASSWORD, **fields}
    said = problem(admin.call("POST", "users", json=body), 422, "invalid", field)["detail"]
    assert admin.get("users", count="true", limit=1)["total"] == before
    assert field != "password" or body["password"] is None or body["password"] not in said  # a secret is not said again


def test_password_limits_are_characters(server, admin):
    for password in ["六个字符的密", "密" * 128]:
        name = unique("user")
        admin.post("users", {"name": name, "password": password})
        Api(server.url).sign_in(name, password)


def test_user_names_are_unique(admin):
    name = unique("user")
    admin.post("users", {"name": name, "password": PASSWORD})
    problem(admin.call("POST", "users", json={"name": name, "password": PASSWORD}), 409, "exists", "name")


def test_ordinary_users_administer_nothing(make_user):
    user = make_user()
    for method, path, body in [("GET", "users", None), ("POST", "users", {"name": unique(), "password": PASSWORD}),
                               ("GET", "groups", None), ("GET", "roles", None), ("GET", "audit", None),
                               ("POST", "projects", {"name": unique()}), ("POST", "roles", {"name": unique()}),
                               ("POST", "groups", {"name": unique()}), ("GET", "users/1", None)]:
        answer = user.call(method, path, json=body)
        assert answer.status_code in (403, 404), (method, path, answer.text)
        if answer.status_code == 403:
            assert answer.json()["permission"].split(".")[0] in path, answer.text
    missing = problem(user.call("POST", "projects", json={"name": unique()}), 403, "forbidden")
    assert missing["permission"] == "project.create"


def test_delete_user(server, admin, make_user, project):
    user = make_user(project)
    path = f"users/{user.user['id']}"
    assert len(admin.get(f"projects/{project['id']}/members")["items"]) == 2
    admin.delete(path)
    problem(user.call("GET", "session"), 401, "unauthorized")
    problem(admin.call("GET", path), 404, "not_found")
    assert len(admin.get(f"projects/{project['id']}/members")["items"]) == 1


def test_disable_user(server, admin, make_user):
    user = make_user()
    name = user.user["name"]
    user.get("session")
    assert patch(admin, f"users/{user.user['id']}", {"disabled": True}).status_code == 200
    problem(user.call("GET", "session"), 401, "unauthorized")
    problem(Api(server.url).call("POST", "sessions", json={"name": name, "password": PASSWORD}), 401, "unauthorized")
    assert patch(admin, f"users/{user.user['id']}", {"disabled": False}).status_code == 200
    problem(user.call("GET", "session"), 401, "unauthorized")  # its token ended for good
    Api(server.url).sign_in(name, PASSWORD)


def test_nobody_deletes_themself(admin):
    me = admin.get("session")["user"]["id"]
    problem(admin.call("DELETE", f"users/{me}"), 409, "conflict")


def test_the_last_administrator_stays(fresh_server):
    admin = fresh_server().admin()
    for body in [{"administrator": False}, {"disabled": True}]:
        problem(patch(admin, "users/1", body), 409, "conflict", says="last administrator")
    second = admin.post("users", {"name": "second", "password": PASSWORD, "administrator": True})
    assert patch(admin, "users/1", {"administrator": False}).status_code == 200
    problem(admin.call("DELETE", f"users/{second['id']}"), 403, "forbidden")


def test_reset_password(server, admin, make_user):
    user = make_user()
    path = f"users/{user.user['id']}/reset-password"
    problem(user.call("POST", path, json={"password": "another-1"}), 403, "forbidden")
    problem(admin.call("POST", path, json={"password": "short"}), 422, "invalid", "password")
    problem(admin.call("POST", path, json={}), 422, "invalid", "password")
    admin.post(path, {"password": "another-1"}, expect=204)
    problem(Api(server.url).call("POST", "sessions", json={"name": user.user["name"], "password": PASSWORD}),
            401, "unauthorized")
    Api(server.url).sign_in(user.user["name"], "another-1")
    line = admin.get("audit", filter=f'verb = "reset-password" and object = {user.user["id"]}')["items"][0]
    assert "another-1" not in str(line)


# --- roles ---
def test_built_in_roles(admin):
    roles = {r["name"]: r for r in admin.all("roles", filter="built_in = true")}
    assert set(roles) == {"administrator", "owner", "member", "viewer", "annotator", "reviewer"}
    assert roles["administrator"]["permissions"] == ["*"]
    assert "*.read" in roles["viewer"]["permissions"]
    for role in roles.values():
        path = f"roles/{role['id']}"
        problem(patch(admin, path, {"description": "mine"}), 409, "conflict", says="built in")
        problem(admin.call("DELETE", path), 409, "conflict", says="built in")


def test_custom_role(admin, make_user, project):
    name = unique("role")
    for wrong in ["dataset.fly", "nothing.*", "*.fly", "", "user", "**"]:
        problem(admin.call("POST", "roles", json={"name": name, "permissions": [wrong]}), 422, "invalid", "permissions")
    problem(admin.call("POST", "roles", json={"name": name, "built_in": True}), 422, "invalid", "built_in")
    role = admin.post("roles", {"name": name, "permissions": ["project.read", "label_set.read"]})
    assert role["built_in"] is False
    user = make_user(project, role=name)
    missing = problem(user.call("POST", "label-sets", json={"project": project["id"], "name": "x"}), 403, "forbidden")
    assert missing["permission"] == "label_set.create"
    assert user.get("label-sets", project=project["id"])["items"] == []
    assert patch(admin, f"roles/{role['id']}", {"permissions": ["project.read", "label_set.*"]}).status_code == 200
    user.post("label-sets", {"project": project["id"], "name": "x"})
    problem(admin.call("DELETE", f"roles/{role['id']}"), 409, "conflict")["references"][0]["kind"]


def test_permissions_table(admin, make_user):
    items = make_user().get("permissions")["items"]
    names = [p["name"] for p in items]
    assert names == sorted(names) and len(names) == len(set(names))
    assert {"user.reset-password", "label_set.create", "project.delete", "audit.read"} <= set(names)
    for p in items:
        assert p["name"] == f"{p['kind']}.{p['verb']}" or "." in p["name"]
        assert p["title"]["en"] and p["title"]["zh"]


# --- projects ---
def test_platform_role_lets_users_make_projects(admin, make_user):
    role = admin.post("roles", {"name": unique("founder"), "permissions": ["project.create"]})
    user = make_user(platform_role=role["id"])
    assert "project.create" in user.get("session")["permissions"]
    project = user.post("projects", {"name": unique("own")})
    session = user.get("session")
    assert [(p["id"], p["role"]) for p in session["projects"]] == [(project["id"], "owner")]
    assert "label_set.create" in session["projects"][0]["permissions"]
    assert "user.create" not in session["permissions"]
    assert [p["id"] for p in user.get("projects")["items"]] == [project["id"]]
    user.delete(f"projects/{project['id']}")
    assert user.get("projects")["items"] == []


def test_platform_role_is_no_built_in_one(admin):
    body = {"name": unique(), "password": PASSWORD, "platform_role": role_id(admin, "owner")}
    problem(admin.call("POST", "users", json=body), 422, "invalid", "platform_role")


def test_user_managers_are_no_administrators(admin, make_user):
    """The permission to change users does not become all permissions."""
    role = admin.post("roles", {"name": unique("hr"), "permissions": ["user.*", "role.*"]})
    manager = make_user(platform_role=role["id"])
    made = manager.post("users", {"name": unique(), "password": PASSWORD})
    problem(manager.call("POST", "users", json={"name": unique(), "password": PASSWORD, "administrator": True}),
            403, "forbidden")
    problem(patch(manager, f"users/{manager.user['id']}", {"administrator": True}), 403, "forbidden")
    problem(patch(manager, "users/1", {"password": "taken-over"}), 403, "forbidden")
    problem(manager.call("POST", "users/1/reset-password", json={"password": "taken-over"}), 403, "forbidden")
    problem(manager.call("DELETE", "users/1"), 403, "forbidden")
    problem(patch(manager, f"users/{made['id']}", {"platform_role": role["id"]}), 403, "forbidden")
    problem(manager.call("POST", "roles", json={"name": unique(), "permissions": ["*"]}), 403, "forbidden")
    problem(patch(manager, f"roles/{role['id']}", {"permissions": ["*"]}), 403, "forbidden")


def test_user_managers_do_not_become_holders_of_larger_roles(admin, make_user):
    """Who could set somebody's password could do what that one may."""
    managing = admin.post("roles", {"name": unique("hr"), "permissions": ["user.*"]})
    larger = admin.post("roles", {"name": unique("operator"), "permissions": ["platform.*", "node.*"]})
    manager, other, operator = (make_user(platform_role=one["id"]) for one in (managing, managing, larger))
    path = f"users/{operator.user['id']}"
    problem(manager.call("POST", f"{path}/reset-password", json={"password": "taken-over"}), 403, "forbidden", says="node.delete")
    assert operator.get("session")["user"]["id"] == operator.user["id"]
    manager.post(f"users/{other.user['id']}/reset-password", {"password": PASSWORD}, expect=204)


CHANGES = {
    "password": lambda api, path: patch(api, path, {"password": "taken-over"}),
    "reset": lambda api, path: api.call("POST", f"{path}/reset-password", json={"password": "taken-over"}),
    "email": lambda api, path: patch(api, path, {"email": "mine@example.org"}),
    "name": lambda api, path: patch(api, path, {"name": unique("renamed")}),
    "enable": lambda api, path: patch(api, path, {"disabled": False, "language": "en"}),
    "disable": lambda api, path: patch(api, path, {"disabled": True, "category": "annotator"}),
    "delete": lambda api, path: api.call("DELETE", path),
}


@pytest.fixture(scope="module")
def ranks(admin, server):
    """A manager of users, and people who may do more than the manager, each by another way."""
    def role(name, *permissions):
        return admin.post("roles", {"name": unique(name), "permissions": list(permissions)})["id"]

    def user(**fields):
        return admin.post("users", {"name": unique("rank"), "password": PASSWORD, **fields})["id"]
    project = admin.post("projects", {"name": unique("ranks")})
    members = f"projects/{project['id']}/members"
    group = admin.post("groups", {"name": unique("group")})
    people = {"platform": user(platform_role=role("operator", "node.*")), "member": user(), "group": user(),
              "everywhere": user(platform_role=role("reader", "project.read")),
              "disabled": user(platform_role=role("off", "node.*"), disabled=True), "administrator": user(administrator=True)}
    admin.post(members, {"user": people["member"], "role": role_id(admin, "viewer")})
    admin.post(f"groups/{group['id']}/members", {"user": people["group"]})
    admin.post(members, {"group": group["id"], "role": role_id(admin, "viewer")})
    manager = user(platform_role=role("hr", "user.*", "role.*", "group.*", "group_member.*"))
    name = admin.get(f"users/{manager}")["name"]
    return Api(server.url).sign_in(name, PASSWORD), people, user


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("who", ["platform", "everywhere", "member", "group", "disabled", "administrator"])
def test_nobody_changes_who_may_do_more(admin, ranks, who, how):
    manager, people, _ = ranks
    before = admin.get(f"users/{people[who]}")
    problem(CHANGES[how](manager, f"users/{people[who]}"), 403, "forbidden")
    assert admin.get(f"users/{people[who]}") == before


@pytest.mark.parametrize("how", CHANGES)
def test_who_may_no_more_can_be_changed(ranks, how):
    manager, _, user = ranks
    assert CHANGES[how](manager, f"users/{user()}").status_code in (200, 204)


def test_nobody_takes_away_what_they_could_not_give(admin, make_user, project):
    """Roles of members and groups, and roles themselves, of those who may do more."""
    role = admin.post("roles", {"name": unique("inviter"), "permissions": ["project.read", "member.*"]})
    keeping = admin.post("roles", {"name": unique("keeper"), "permissions": ["role.*", "group.*", "group_member.*", "user.read"]})
    larger = admin.post("roles", {"name": unique("larger"), "permissions": ["node.*"]})
    inviter, owner, keeper = make_user(project, role=role["name"]), make_user(project, role="owner"), make_user(platform_role=keeping["id"])
    path = f"projects/{project['id']}/members"
    member = next(m for m in admin.get(path)["items"] if m["user"]["id"] == owner.user["id"])
    problem(patch(inviter, f"{path}/{member['id']}", {"role": role["id"]}), 403, "forbidden", says="owner")
    problem(inviter.call("DELETE", f"{path}/{member['id']}"), 403, "forbidden", says="owner")
    group = admin.post("groups", {"name": unique("group")})
    inside = admin.post(f"groups/{group['id']}/members", {"user": owner.user["id"]})
    admin.post(path, {"group": group["id"], "role": role_id(admin, "viewer")})
    problem(keeper.call("DELETE", f"groups/{group['id']}/members/{inside['id']}"), 403, "forbidden", says="viewer")
    problem(patch(keeper, f"roles/{larger['id']}", {"permissions": []}), 403, "forbidden")
    problem(keeper.call("DELETE", f"roles/{larger['id']}"), 403, "forbidden")
    owner.delete(f"{path}/{member['id']}")  # one's own: to leave


def test_who_fills_groups_gives_no_more_than_they_have(admin, make_user, project):
    """The members of a group have its roles in projects."""
    role = admin.post("roles", {"name": unique("groups"), "permissions": ["group.*", "group_member.*", "user.read"]})
    keeper = make_user(platform_role=role["id"])
    group, empty = (admin.post("groups", {"name": unique("group")}) for _ in range(2))
    admin.post(f"projects/{project['id']}/members", {"group": group["id"], "role": role_id(admin, "viewer")})
    problem(keeper.call("POST", f"groups/{group['id']}/members", json={"user": keeper.user["id"]}), 403, "forbidden", says="viewer")
    problem(keeper.call("GET", f"projects/{project['id']}"), 404, "not_found")
    keeper.post(f"groups/{empty['id']}/members", {"user": keeper.user["id"]})


@pytest.mark.parametrize("quota", [
    {"cpu": -1}, {"cpu": "8"}, {"memory": 1.5}, {"storage": -1}, {"disk": 1}, [], 7, {"accelerators": []},
    {"accelerators": {"gpu": "two"}}, {"accelerators": {"": 1}}, {"accelerators": {"x" * 51: 1}}, {"memory": 1e300},
])
def test_quota_refused(admin, quota):
    problem(admin.call("POST", "projects", json={"name": unique(), "quota": quota}), 422, "invalid", "quota")


def test_weights_are_given_by_administrators(admin, make_user):
    project = admin.post("projects", {"name": unique()})
    assert project["weight"] == 1
    for bad in (0, 101, -1, 1.5, "2"):
        problem(admin.call("POST", "projects", json={"name": unique(), "weight": bad}), 422, "invalid", "weight")
    owner = make_user(project, "owner")
    changed = owner.patch(f"projects/{project['id']}", {"description": "mine", "weight": 1}, project["revision"])
    refused = owner.call("PATCH", f"projects/{project['id']}", json={"weight": 2}, headers={"If-Match": f'"{changed["revision"]}"'})
    assert refused.status_code == 403 and "weight" in refused.json()["detail"], refused.text
    assert admin.patch(f"projects/{project['id']}", {"weight": 100}, changed["revision"])["weight"] == 100


def test_quota(admin):
    quota = {"cpus": 7.5, "memory": 1 << 40, "storage": 0, "accelerators": {"gpu": 2, "昇腾": 0.5}}
    assert admin.post("projects", {"name": unique(), "quota": quota})["quota"] == quota
    assert admin.post("projects", {"name": unique()})["quota"] == {}


def test_quotas_are_changed_by_administrators(admin, make_user):
    quota = {"cpus": 4, "storage": 1 << 30}
    project = admin.post("projects", {"name": unique(), "quota": quota})
    path = f"projects/{project['id']}"
    owner = make_user(project, "owner")
    # The same in another order is no change.
    same = {"storage": 1 << 30, "cpu": 4}
    revision = owner.patch(path, {"description": "mine", "quota": same}, project["revision"])["revision"]
    for more in (None, {"cpu": 5}, {"cpu": None}, {"memory": 1}):
        refused = owner.call("PATCH", path, json={"quota": more}, headers={"If-Match": f'"{revision}"'})
        assert refused.status_code == 403 and "quota: only administrators" in refused.json()["detail"], refused.text
    assert owner.get(path)["quota"] == quota
    assert admin.patch(path, {"quota": {"cpus": 5}}, revision)["quota"] == quota | {"cpus": 5}


def test_project_in_use_stays(admin, project, make_set):
    made = make_set()
    refused = problem(admin.call("DELETE", f"projects/{project['id']}"), 409, "conflict")
    assert [(r["kind"], r["count"]) for r in refused["references"]] == [("label_set", 1)]
    assert len(admin.get(f"projects/{project['id']}/members")["items"]) == 1
    admin.delete(f"label-sets/{made['id']}")
    admin.delete(f"projects/{project['id']}")


def test_other_projects_are_secret(admin, make_user, project):
    other = admin.post("projects", {"name": unique("other")})
    hidden = admin.post("label-sets", {"project": other["id"], "name": "hidden"})
    user = make_user(project, role="owner")
    for method, path, body in [("GET", f"projects/{other['id']}", None), ("DELETE", f"projects/{other['id']}", None),
                               ("GET", f"projects/{other['id']}/members", None),
                               ("GET", f"label-sets/{hidden['id']}", None),
                               ("DELETE", f"label-sets/{hidden['id']}", None),
                               ("GET", f"label-sets?project={other['id']}", None),
                               ("POST", "label-sets", {"project": other["id"], "name": "x"})]:
        problem(user.call(method, path, json=body), 404, "not_found")
    assert [p["id"] for p in user.get("projects")["items"]] == [project["id"]]
    assert {p["id"] for p in admin.all("projects")} >= {project["id"], other["id"]}


# --- members and groups ---
def test_members(admin, make_user, project):
    path = f"projects/{project['id']}/members"
    owner, user = make_user(project, role="owner"), make_user()
    viewer = role_id(admin, "viewer")
    member = owner.post(path, {"user": user.user["id"], "role": viewer})
    assert member["user"] == {"id": user.user["id"], "name": user.user["name"]}
    assert member["role"]["name"] == "viewer"
    problem(owner.call("POST", path, json={"user": user.user["id"], "role": viewer}), 409, "exists", "user")
    for body in [{"role": viewer}, {"user": 1, "group": 1, "role": viewer}, {"user": 999999, "role": viewer},
                 {"user": 1}, {"user": 1, "role": role_id(admin, "administrator")}]:
        assert owner.call("POST", path, json=body).status_code == 422
    problem(user.call("POST", path, json={"user": 1, "role": viewer}), 403, "forbidden")
    assert patch(owner, f"{path}/{member['id']}", {"role": role_id(admin, "member")}).status_code == 200
    user.post("label-sets", {"project": project["id"], "name": unique()})
    owner.delete(f"{path}/{member['id']}")
    problem(user.call("GET", f"projects/{project['id']}"), 404, "not_found")


def test_members_give_no_more_than_they_hold(admin, make_user, project):
    name = unique("inviter")
    admin.post("roles", {"name": name, "permissions": ["project.read", "member.*"]})
    inviter, user = make_user(project, role=name), make_user()
    path = f"projects/{project['id']}/members"
    problem(inviter.call("POST", path, json={"user": user.user["id"], "role": role_id(admin, "owner")}), 403, "forbidden")
    own = next(m for m in inviter.get(path)["items"] if m["user"]["id"] == inviter.user["id"])
    problem(patch(inviter, f"{path}/{own['id']}", {"role": role_id(admin, "owner")}), 403, "forbidden")


def test_groups(admin, make_user, project):
    group = admin.post("groups", {"name": unique("group")})
    user = make_user()
    inside = admin.post(f"groups/{group['id']}/members", {"user": user.user["id"]})
    problem(admin.call("POST", f"groups/{group['id']}/members", json={"user": user.user["id"]}), 409, "exists")
    member = admin.post(f"projects/{project['id']}/members", {"group": group["id"], "role": role_id(admin, "member")})
    assert member["user"] is None and member["group"]["name"] == group["name"]
    made = user.post("label-sets", {"project": project["id"], "name": unique()})
    # An own membership and the group's together: the union.
    admin.post(f"projects/{project['id']}/members", {"user": user.user["id"], "role": role_id(admin, "viewer")})
    assert user.get("session")["projects"][0]["role"] == "member, viewer"
    assert "label_set.delete" in user.get("session")["projects"][0]["permissions"]
    refused = problem(admin.call("DELETE", f"groups/{group['id']}"), 409, "conflict")
    assert [r["kind"] for r in refused["references"]] == ["member"]
    admin.delete(f"groups/{group['id']}/members/{inside['id']}")
    problem(user.call("DELETE", f"label-sets/{made['id']}"), 403, "forbidden")
    admin.delete(f"projects/{project['id']}/members/{member['id']}")
    admin.delete(f"groups/{group['id']}")


@pytest.mark.parametrize(("role", "may"), [("owner", True), ("member", True), ("viewer", False), ("annotator", False),
                                           ("reviewer", False)])
def test_what_roles_may(make_user, project, role, may):
    user = make_user(project, role=role)
    assert user.get(f"projects/{project['id']}")["name"] == project["name"]
    answer = user.call("POST", "label-sets", json={"project": project["id"], "name": unique()})
    assert answer.status_code == (201 if may else 403)
    # Whoever labels sees the labels of their task only.
    seen = user.call("GET", "label-sets", params={"project": project["id"]})
    assert seen.status_code == (403 if role in ("annotator", "reviewer") else 200)
    renamed = patch(user, f"projects/{project['id']}", {"description": role})
    assert renamed.status_code == (200 if role == "owner" else 403)
