"""Sessions, tokens, the guard against other sites, the profile."""

import concurrent.futures
import datetime
import hashlib
import os
import subprocess
import time

import httpx
import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, DEADLINE, Api, problem, unique, wait_for

PASSWORD = "pass-word-1"


class Browser(httpx.Client):
    """Keeps cookies and sends Origin, as pages do."""

    def __init__(self, url: str, **headers: str) -> None:
        super().__init__(base_url=url + "/api/v1/", headers={"Origin": url, **headers}, timeout=DEADLINE, trust_env=False)

    def sign_in(self, name: str, password: str = PASSWORD) -> "Browser":
        answer = self.post("sessions", json={"name": name, "password": password})
        assert answer.status_code == 201, answer.text
        return self


@pytest.fixture
def person(server, make_user):
    """A function that gives a signed-in browser of a new user, with .user."""
    browsers = []

    def make(**fields) -> Browser:
        browser = Browser(server.url)
        browser.user = make_user(**fields).user
        browsers.append(browser)
        return browser.sign_in(browser.user["name"])
    yield make
    for browser in browsers:
        browser.close()


def later(**delta) -> str:
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(**delta)).isoformat()


# --- sessions ---
def test_sign_in(server, make_user):
    user = make_user().user
    with Browser(server.url) as browser:
        problem(browser.get("session"), 401, "unauthorized")
        answer = browser.post("sessions", json={"name": user["name"], "password": PASSWORD})
        assert answer.status_code == 201
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("ingot_session=") and "HttpOnly" in cookie and "SameSite=Lax" in cookie
        assert "Path=/" in cookie and "Secure" not in cookie
        assert answer.json() == browser.get("session").json()
        session = answer.json()
        assert session["user"]["name"] == user["name"] and session["via"] == "session"
        assert session["projects"] == [] and "token.create" in session["permissions"]
        out = browser.delete("session")
        assert out.status_code == 204 and "Max-Age=0" in out.headers["set-cookie"]
        problem(browser.get("session"), 401, "unauthorized")


def test_secure_cookie_behind_https(fresh_server):
    server = fresh_server(args=("--public-url", "https://ingot.example/"))
    with Browser(server.url, Origin="https://ingot.example") as browser:
        answer = browser.post("sessions", json={"name": "admin", "password": ADMIN_PASSWORD})
        assert answer.status_code == 201 and "Secure" in answer.headers["set-cookie"]
        secret = answer.cookies["__Host-ingot_session"]
        assert "Path=/;" in answer.headers["set-cookie"] and "Domain" not in answer.headers["set-cookie"]
        headers = {"Cookie": f"ingot_session={secret}"}
        problem(browser.post("tokens", json={"name": "t"}, headers=headers), 401, "unauthorized")
        headers = {"Cookie": f"ingot_session=planted; __Host-ingot_session={secret}"}
        assert browser.post("tokens", json={"name": "t"}, headers=headers).status_code == 201
        headers["Origin"] = "http://ingot.example"
        problem(browser.post("tokens", json={"name": "t"}, headers=headers), 403, "forbidden")


@pytest.mark.parametrize("body", [
    {}, {"name": "admin"}, {"name": "admin", "password": 7}, {"name": None, "password": "x"}, [], "x",
    {"name": "admin", "password": "x", "extra": 1},
])
def test_sign_in_refused_bodies(server, body):
    answer = Api(server.url).call("POST", "sessions", json=body)
    assert answer.status_code in (400, 422), answer.text


@pytest.mark.parametrize("name", ["nobody", "", "a\0b", "x" * 10000, "'; --", "😀"])
def test_unknown_names(server, name):
    answer = Api(server.url).call("POST", "sessions", json={"name": unique(name[:9000]), "password": "x" * 5000})
    problem(answer, 401, "unauthorized", says="the name or the password is wrong")


def test_delay_after_failures(server, admin, make_user):
    user = make_user().user
    api = Api(server.url)
    wrong, right = ({"name": user["name"], "password": p} for p in ("not-this-one", PASSWORD))

    def delayed():
        answer = api.call("POST", "sessions", json=wrong)
        assert answer.status_code in (401, 429), answer.text
        return answer if answer.status_code == 429 else None
    # The first failures cost nothing; more than so many the machine cannot let through before it says no, though
    # how many depends on how slow it is (each wait may be over before the next attempt).
    answers = [api.call("POST", "sessions", json=wrong).status_code for _ in range(5)]
    assert answers == [401] * 5
    answer = wait_for(delayed, "a delay")
    problem(answer, 429, "too_many")
    assert int(answer.headers["retry-after"]) >= 1
    # Somebody else is not delayed, and the right password works once the wait is over.
    make_user()
    wait_for(lambda: api.call("POST", "sessions", json=right).status_code == 201, "signing in again")
    seen = admin.get("audit", filter=f'verb = "sign-in-failed" and object = {user["id"]}')["items"]
    assert len(seen) >= 5 and seen[0]["address"] == "127.0.0.1"
    assert admin.get("audit", filter=f'verb = "sign-in" and object = {user["id"]}')["items"]


def test_many_sign_ins_at_once(server, make_user):
    user = make_user().user
    body = {"name": user["name"], "password": PASSWORD}
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: Api(server.url).call("POST", "sessions", json=body).status_code, range(24)))
    assert answers == [201] * 24


def test_list_and_revoke_sessions(server, person):
    first = person()
    with Browser(server.url, **{"User-Agent": "second"}) as second:
        second.sign_in(first.user["name"])
        items = first.get("sessions").json()["items"]
        mine = [s for s in items if s["current"]]
        other = next(s for s in items if s["agent"] == "second")
        assert len(mine) == 1 and not other["current"]
        assert mine[0]["address"] == "127.0.0.1" and mine[0]["expires_at"] and "hash" not in mine[0]
        assert first.delete(f"sessions/{other['id']}").status_code == 204
        problem(second.get("session"), 401, "unauthorized")
        assert first.get("session").status_code == 200
        problem(first.delete(f"sessions/{other['id']}"), 404, "not_found")


def test_sessions_of_others_are_secret(admin, person):
    one, two = person(), person()
    theirs = one.get("sessions").json()["items"][0]["id"]
    token = one.post("tokens", json={"name": "t"}).json()["id"]
    for path in [f"sessions/{theirs}", f"tokens/{token}"]:
        for method in ["GET", "DELETE"]:
            problem(two.request(method, path), 404, "not_found")
            problem(admin.call(method, path), 404, "not_found")
    assert token not in [t["id"] for t in two.get("tokens").json()["items"]]


def test_stale_cookies(server):
    for value in ["", "x", "A" * 43, "A" * 5000, "ingot_" + "A" * 43]:
        with Browser(server.url, Cookie=f"ingot_session={value}") as browser:
            problem(browser.get("session"), 401, "unauthorized")
            assert browser.get("health").status_code == 200


def test_a_session_that_is_there_twice(server, person):
    """A page on another port may set a cookie for a deeper path, which the browser sends first."""
    someone = person()
    name, own = someone.user["name"], someone.cookies["ingot_session"]
    for twice in (f"ingot_session=planted; ingot_session={own}", f"ingot_session={own}; a=b; ingot_session={own}"):
        with Browser(server.url, Cookie=twice) as browser:
            answer = browser.get("label-sets/7")
            problem(answer, 400, "malformed", says="twice")
            forgotten = answer.headers.get_list("set-cookie")
            assert {f"ingot_session=; Path={path}; Max-Age=0" for path in ("/api", "/api/", "/api/v1", "/api/v1/label-sets")} <= set(forgotten)
            assert not any("Path=/; Max-Age=0" in line and "Domain" not in line for line in forgotten), "that is ours"
            problem(browser.post("tokens", json={"name": "x"}), 400, "malformed")
            assert browser.post("sessions", json={"name": name, "password": PASSWORD}).status_code == 201


def test_cookies_that_leave_no_room(server):
    """They lock nobody out: the answer says what to do, and makes the browser forget them."""
    cookies = "; ".join(f"big{i}={'x' * 4000}" for i in range(12))
    answer = httpx.get(f"{server.url}/api/v1/session", headers={"Cookie": f"ingot_session=own; {cookies}"}, trust_env=False)
    assert answer.status_code == 431 and "delete the cookies of this site" in answer.text
    forgotten = answer.headers.get_list("set-cookie")
    assert {"big0=; Path=/; Max-Age=0", "big0=; Path=/api; Max-Age=0", "big5=; Path=/; Max-Age=0"} <= set(forgotten)
    assert not any(line.startswith("ingot_") for line in forgotten)
    second = subprocess.run(["curl", "-si", "--noproxy", "*", "--http2-prior-knowledge", "-H", f"Cookie: {cookies}", f"{server.url}/api/v1/session"],
                            capture_output=True, text=True, check=True).stdout
    assert second.startswith("HTTP/2 431") and "set-cookie: big0=; Path=/; Max-Age=0" in second
    large = httpx.get(f"{server.url}/api/v1/session", headers={"X-Large": "x" * 40000, "Cookie": "a=b"}, trust_env=False)
    assert large.status_code == 431 and "set-cookie" not in large.headers, "another site could send that"


def test_sessions_survive_a_restart(fresh_server):
    server = fresh_server()
    with Browser(server.url) as browser:
        browser.sign_in("admin", ADMIN_PASSWORD)
        secret = browser.cookies["ingot_session"]
    token = server.admin().token
    server.stop()
    server.start()
    with Browser(server.url, Cookie=f"ingot_session={secret}") as browser:
        assert browser.get("session").json()["user"]["name"] == "admin"
    assert Api(server.url, token).get("session")["via"] == "token"


def test_hashes_are_nobodys_business(server):
    for kind in Api(server.url).get("kinds")["items"]:
        assert "hash" not in [f["name"] for f in kind["fields"]], kind["name"]
    assert '"hash"' not in Api(server.url).call("GET", "openapi.json").text


# --- other sites ---
@pytest.mark.parametrize("headers", [
    {}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": ""}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"}, {"Origin": "{url}.evil.example"}, {"Origin": "https://evil.example/{host}"},
    {"Origin": "https://evil{host}"}, {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    {"Referer": "{url}/"},
])
def test_foreign_origin(server, person, headers):
    browser = person()
    del browser.headers["Origin"]
    host = server.url.removeprefix("http://")
    headers = {k: v.format(url=server.url, host=host) for k, v in headers.items()}
    for method, path in [("POST", "tokens"), ("DELETE", "session"), ("PATCH", "profile")]:
        answer = browser.request(method, path, json={"name": "forged"}, headers=headers)
        problem(answer, 403, "forbidden", says="Origin")
    assert browser.get("session", headers=headers).status_code == 200  # reading is guarded by the browser itself
    assert "forged" not in browser.get("tokens", headers=headers).text


@pytest.mark.parametrize("headers", [{"Origin": "{url}"}, {"Sec-Fetch-Site": "same-origin"}])
def test_own_origin(server, person, headers):
    browser = person()
    del browser.headers["Origin"]
    headers = {k: v.format(url=server.url) for k, v in headers.items()}
    assert browser.post("tokens", json={"name": "t"}, headers=headers).status_code == 201


def test_other_sites_cannot_sign_in(server, make_user):
    body = {"name": make_user().user["name"], "password": PASSWORD}
    api = Api(server.url)
    for headers in [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]:
        problem(api.call("POST", "sessions", json=body, headers=headers), 403, "forbidden")
    assert api.call("POST", "sessions", json=body).status_code == 201  # programs send neither


def test_tokens_need_no_origin(make_user):
    assert make_user().call("POST", "tokens", json={"name": "t"}, headers={"Origin": "https://evil.example"}).status_code == 201


# --- tokens ---
def test_token(server, make_user):
    user = make_user()
    made = user.post("tokens", {"name": "ci", "scopes": ["*.read"], "expires_at": later(hours=1)})
    secret = made["secret"]
    assert secret.startswith("ingot_") and len(secret) == 49 and secret.startswith(made["prefix"])
    shown = user.get(f"tokens/{made['id']}")
    assert "secret" not in shown and "hash" not in shown
    listed = user.call("GET", "tokens").text
    assert secret not in listed and hashlib.sha256(secret.encode()).hexdigest() not in listed
    with_it = Api(server.url, secret)
    assert with_it.get("session")["via"] == "token"
    assert wait_for(lambda: user.get(f"tokens/{made['id']}")["last_used_at"], "last_used_at")
    user.delete(f"tokens/{made['id']}")
    problem(with_it.call("GET", "session"), 401, "unauthorized")


@pytest.mark.parametrize(("fields", "field"), [
    ({"scopes": ["dataset.fly"]}, "scopes"), ({"scopes": "x"}, "scopes"), ({"scopes": [7]}, "scopes"),
    ({"scopes": ["*.read"] * 101}, "scopes"), ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
    ({"expires_at": "soon"}, "expires_at"), ({"expires_at": 7}, "expires_at"), ({"name": ""}, "name"),
    ({"secret": "mine"}, "secret"), ({"hash": "00"}, "hash"), ({"prefix": "x"}, "prefix"),
])
def test_token_refused(make_user, fields, field):
    problem(make_user().call("POST", "tokens", json={"name": "t", **fields}), 422, "invalid", field)


@pytest.mark.parametrize("value", ["Bearer", "Bearer x", "Bearer ingot_", "Bearer ingot_" + "A" * 43,
                                   "bearer ingot_" + "é" * 43, "Bearer ingot_" + "A" * 4000, "Basic YWRtaW46eA==", "x"])
def test_bad_authorization(server, value):
    answer = httpx.get(server.url + "/api/v1/session", headers={"Authorization": value.encode()}, timeout=DEADLINE,
                       trust_env=False)
    problem(answer, 401, "unauthorized")


def test_token_expires(server, make_user):
    user = make_user()
    # On a slow machine the time may be over before the request is read: then with more.
    for seconds in (2, 10, 60):
        answer = user.call("POST", "tokens", json={"name": "short", "expires_at": later(seconds=seconds)})
        if answer.status_code == 201:
            break
    assert answer.status_code == 201, answer.text
    made = answer.json()
    api = Api(server.url, made["secret"])
    wait_for(lambda: api.call("GET", "session").status_code == 401, "expiry")
    expires = datetime.datetime.fromisoformat(made["expires_at"]).timestamp()
    assert time.time() >= expires


def test_token_scopes(server, admin, make_user, project):
    user = make_user(project, role="owner")
    scoped = Api(server.url, user.post("tokens", {"name": "t", "scopes": ["label_set.read", "project.read"]})["secret"])
    assert scoped.get("label-sets", project=project["id"])["items"] == []
    missing = problem(scoped.call("POST", "label-sets", json={"project": project["id"], "name": "x"}), 403, "forbidden")
    assert missing["permission"] == "label_set.create" and "scopes" in missing["detail"]
    problem(scoped.call("DELETE", f"projects/{project['id']}"), 403, "forbidden")
    problem(scoped.call("POST", "tokens", json={"name": "x"}), 403, "forbidden")
    problem(scoped.call("GET", "tokens"), 403, "forbidden")
    session = scoped.get("session")
    assert session["projects"][0]["permissions"] == ["label_set.read", "project.read"]
    root = Api(server.url, admin.post("tokens", {"name": "t", "scopes": ["spec.*"]})["secret"])
    root.post("specs", {"name": unique(), "cpus": 1, "memory": 1 << 30})
    problem(root.call("GET", "users"), 403, "forbidden")
    problem(root.call("POST", "users", json={"name": unique(), "password": PASSWORD}), 403, "forbidden")
    problem(root.call("GET", "projects"), 403, "forbidden")


def test_tokens_do_not_widen(server, make_user):
    user = make_user()
    soon = later(hours=1)
    narrow = Api(server.url, user.post("tokens", {"name": "t", "scopes": ["token.*", "label_set.read"],
                                                  "expires_at": soon})["secret"])
    for scopes in [[], ["*"], ["label_set.*"], ["token.*", "user.read"]]:
        problem(narrow.call("POST", "tokens", json={"name": "x", "scopes": scopes, "expires_at": soon}), 403, "forbidden")
    problem(narrow.call("POST", "tokens", json={"name": "x", "scopes": ["token.read"]}), 403, "forbidden", "expires_at")
    narrow.post("tokens", {"name": "x", "scopes": ["token.read"], "expires_at": soon})


def test_tokens_do_not_change_how_their_owner_signs_in(admin, make_user):
    user = make_user()
    problem(user.call("POST", "profile/password", json={"old": PASSWORD, "new": "another-1"}), 403, "forbidden")
    me = admin.get("session")["user"]["id"]
    problem(admin.call("PATCH", f"users/{me}", json={"password": "another-1"},
                       headers={"If-Match": f'"{admin.get(f"users/{me}")["revision"]}"'}), 403, "forbidden")
    problem(admin.call("POST", f"users/{me}/reset-password", json={"password": "another-1"}), 403, "forbidden")
    problem(user.call("PATCH", "profile", json={"email": "mine@example.org"}), 403, "forbidden", says="e-mail")
    user.patch("profile", {"display_name": "Me"})


def test_token_scopes_hold_for_public_objects_of_other_projects(server, admin, make_user, project):
    dataset = admin.post("datasets", {"project": project["id"], "name": "for all", "annotation_type": "detection",
                                      "public": True})
    version = admin.post(f"datasets/{dataset['id']}/versions", {})
    labels = admin.post("label-sets", {"project": project["id"], "name": "for all", "public": True})
    outsider = make_user()
    with_scopes = lambda *scopes: Api(server.url, outsider.post("tokens", {"name": "t", "scopes": scopes})["secret"])
    reads = [f"datasets/{dataset['id']}", "datasets", f"datasets/{dataset['id']}/versions",
             f"datasets/{dataset['id']}/versions/{version['id']}",
             f"datasets/{dataset['id']}/versions/{version['id']}/samples"]
    for path in reads:
        assert with_scopes("dataset.read", "dataset_version.read").call("GET", path).status_code == 200, path
        refused = problem(with_scopes("label_set.*").call("GET", path), 403, "forbidden")
        assert refused["permission"] in ("dataset.read", "dataset_version.read") and "scopes" in refused["detail"], path
    refused = problem(with_scopes("dataset.read").call("GET", reads[2]), 403, "forbidden")
    assert refused["permission"] == "dataset_version.read"
    assert with_scopes("label_set.read").get(f"label-sets/{labels['id']}")["name"] == "for all"
    problem(with_scopes("dataset.*").call("GET", f"label-sets/{labels['id']}"), 403, "forbidden")
    for api in (outsider, with_scopes("*")):
        assert all(api.call("GET", path).status_code == 200 for path in reads)


def test_tokens_do_not_sign_out(make_user):
    problem(make_user().call("DELETE", "session"), 409, "conflict")


# --- profile ---
def test_profile(person, admin):
    browser = person()
    answer = browser.patch("profile", json={"display_name": "我", "language": "zh"})
    assert answer.status_code == 200
    user = answer.json()["user"]
    assert (user["display_name"], user["language"]) == ("我", "zh")
    for body, field in [({"email": "x"}, "email"), ({"administrator": True}, "administrator"),
                        ({"name": "root"}, "name"), ({"language": "fr"}, "language"),
                        ({"display_name": "x" * 51}, "display_name")]:
        problem(browser.patch("profile", json=body), 422, "invalid", field)
    line = admin.get("audit", filter=f'verb = "update" and object = {browser.user["id"]}')["items"][0]
    assert line["user"]["id"] == browser.user["id"]


def test_preferences(server, person, admin):
    browser, other = person(), person()
    assert browser.get("profile/preferences").json() == {}
    kept = {"keys": {"tool-box": "b", "撤销": "Ctrl+z"}, "n": 1.5}
    assert browser.put("profile/preferences", json=kept).status_code == 204
    assert browser.get("profile/preferences").json() == kept
    assert other.get("profile/preferences").json() == {}
    for body, status, code in [([], 400, "malformed"), ({"x": "y" * 32768}, 413, "too_large")]:
        problem(browser.put("profile/preferences", json=body), status, code)
    assert browser.get("profile/preferences").json() == kept
    assert "preferences" not in admin.get(f"users/{browser.user['id']}")
    token = browser.post("tokens", json={"name": unique("read"), "scopes": ["dataset.read"]}).json()["secret"]
    narrow = Api(server.url, token)
    problem(narrow.call("PUT", "profile/preferences", json={}), 403, "forbidden")


def test_a_new_email_of_ones_own_ends_all_sessions(server, person, admin):
    one = person()
    token = one.post("tokens", json={"name": "stays"}).json()["secret"]
    with Browser(server.url) as two:
        two.sign_in(one.user["name"])
        answer = one.patch("profile", json={"email": "me@example.org", "display_name": "Me"})
        assert (answer.status_code, answer.json()["user"]["email"]) == (200, "me@example.org")
        problem(one.get("session"), 401, "unauthorized")
        problem(two.get("session"), 401, "unauthorized")
        two.sign_in(one.user["name"])
        assert two.patch("profile", json={"email": "me@example.org"}).status_code == 200
        assert two.get("session").json()["user"]["email"] == "me@example.org", "the same address ends nothing"
        path = f"users/{one.user['id']}"
        admin.patch(path, {"email": "you@example.org"}, revision=admin.get(path)["revision"])
        assert two.get("session").json()["user"]["email"] == "you@example.org", "an administrator's change ends nothing"
        assert two.patch("profile", json={"email": None}).status_code == 200
        problem(two.get("session"), 401, "unauthorized")
    assert Api(server.url, token=token).get("session")["via"] == "token"


def test_password_change_ends_all_sessions(server, person):
    one = person()
    name = one.user["name"]
    with Browser(server.url) as two:
        two.sign_in(name)
        for body, field in [({"old": "not-this-one", "new": "another-1"}, "old"), ({"old": PASSWORD, "new": "x"}, "new"),
                            ({"old": PASSWORD}, "new"), ({"old": PASSWORD, "new": "x" * 129}, "new"),
                            ({"old": PASSWORD, "new": 7}, "new"), ({"old": PASSWORD, "new": "another-1", "x": 1}, "x")]:
            problem(one.post("profile/password", json=body), 422, "invalid", field)
        assert two.get("session").status_code == 200
        assert one.post("profile/password", json={"old": PASSWORD, "new": "another-1"}).status_code == 204
        problem(one.get("session"), 401, "unauthorized")
        problem(two.get("session"), 401, "unauthorized")
        problem(two.post("sessions", json={"name": name, "password": PASSWORD}), 401, "unauthorized")
        two.sign_in(name, "another-1")


def test_ways_to_sign_in(server):
    assert Api(server.url).get("sign-in") == {"password": True, "providers": []}
    problem(Api(server.url).call("GET", "sign-in/nobody"), 404, "not_found")
    problem(Api(server.url).call("GET", "sign-in/nobody/callback"), 404, "not_found")


def test_a_new_password_on_the_machine(server, person, admin, tmp_path):
    """Of a running server; whoever has its data folder needs no sign-in."""
    one, cli = person(), Cli(tmp_path)
    name = one.user["name"]
    token = one.post("tokens", json={"name": "stays"}).json()["secret"]
    db = ["--db", server.db] if server.db else []
    password = cli.run("admin", "password", name, "--data", server.data, *db, "-o", "name").out.strip()
    assert len(password) == 20
    problem(one.get("session"), 401, "unauthorized")
    one.sign_in(name, password)
    assert Api(server.url, token=token).get("session")["via"] == "token"
    [line] = [x for x in admin.all("audit", filter=f"object = {one.user['id']}") if x["verb"] == "reset-password"]
    assert (line["kind"], line["name"], line["user"]) == ("user", name, None)
    cli.run("admin", "password", name, "--data", server.data, *db, "--password-stdin", stdin="of-my-own-1\n")
    one.sign_in(name, "of-my-own-1")
    cli.fails(4, "admin", "password", unique("nobody"), "--data", server.data, *db, says="there is no user")
    cli.fails(4, "admin", "password", "--data", "/tmp", says="no data folder")
    cli.fails(2, "admin", "passwort", says="usage: ingot admin password")
    assert not [file for file in os.listdir(server.data) if file.startswith("new-password")]


def test_a_new_password_without_a_server(fresh_server, tmp_path):
    server, cli = fresh_server(), Cli(tmp_path)
    server.stop()
    db = ["--db", server.db] if server.db else []
    said = cli.run("admin", "password", "--data", server.data, *db).out.split()
    server.start()
    assert Api(server.url).sign_in("admin", said[-1]).get("session")["user"]["name"] == "admin"
    problem(Api(server.url).call("POST", "sessions", json={"name": "admin", "password": ADMIN_PASSWORD}), 401, "unauthorized")
