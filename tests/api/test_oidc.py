"""Signing in through a real OpenID Connect provider (tests/oidc), by its login form; and through the same one as a
plain OAuth2 server."""

import html.parser
import json
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import pytest
from harness import DEADLINE, ROOT, Server, problem

FOLDER = ROOT / "tests" / "oidc"
ACCOUNTS = {
    "ann": {"preferred_username": "ann/from:corp", "email": "ann@example.org", "email_verified": True},
    "bob": {"preferred_username": "admin", "email": "bob@example.org", "email_verified": False},
    "out": {"preferred_username": "out", "email": "out@elsewhere.example", "email_verified": True},
    "unsaid": {"preferred_username": "unsaid", "email": "unsaid@example.org"},
    "linked": {"preferred_username": "someone", "email": "linked@example.org", "email_verified": True},
    "victim": {"preferred_username": "victim", "email": "victim@example.org", "email_verified": True},
    "moved": {"preferred_username": "moved", "email": "moved@example.org", "email_verified": True},
}
SECRET = "a secret & more: 100%"
# The providers of the configuration, each with a client of its own.
PROVIDERS = {
    "corp": {"title": "Corp", "allowed_domains": ["example.org"]},
    "curve": {"alg": "ES256", "link_by_email": True},
    "closed": {"create_users": False},
    "post": {"token_auth": "post"},
    "plain": {"type": "oauth2"},
    "trusted": {"trust_email": True, "allowed_domains": ["example.org"]},
    "wrong": {"client_secret": "not the one"},
}


class Provider:
    def __init__(self, redirect: str, ids: list[str]) -> None:
        subprocess.run([FOLDER / "install.sh"], check=True)
        clients = [{"client_id": f"ingot-{id}", "client_secret": SECRET, "redirect_uris": [redirect.format(id)],
                    "grant_types": ["authorization_code"], "response_types": ["code"],
                    "id_token_signed_response_alg": PROVIDERS[id].get("alg", "RS256"),
                    "token_endpoint_auth_method": "client_secret_" + PROVIDERS[id].get("token_auth", "basic")}
                   for id in ids]
        settings = {"clients": clients, "accounts": ACCOUNTS}
        self.process = subprocess.Popen([ROOT / "scripts/node.sh", "node", "provider.js", json.dumps(settings)],
                                        cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.issuer = self.process.stdout.readline().strip()
        assert self.issuer.startswith("http://"), "the provider did not start"

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def config(issuer: str) -> dict:
    items = []
    for id, settings in PROVIDERS.items():
        item = {"id": id, "client_id": f"ingot-{id}", "client_secret": "env:OIDC_SECRET", **settings}
        item.pop("alg", None)
        if item.get("type") == "oauth2":
            item |= {"authorize_url": f"{issuer}/auth", "token_url": f"{issuer}/token", "userinfo_url": f"{issuer}/me"}
        else:
            item["issuer"] = issuer
        items.append(item)
    return {"sign_in": {"providers": items}}


@pytest.fixture(scope="module")
def corp(make_db, tmp_path_factory):
    """A server of ours and a provider that know each other."""
    # Our address must be known to the provider before we start, and its address to us: a public address that no
    # request uses breaks the circle; the tests bring what is sent there to where the server really is.
    provider = Provider("http://ingot.test/api/v1/sign-in/{}/callback", list(PROVIDERS))
    path = Path(tmp_path_factory.mktemp("oidc")) / "config.json"
    path.write_text(json.dumps(config(provider.issuer)))
    server = Server(make_db(), args=("--config", str(path), "--public-url", "http://ingot.test"),
                    environment={"OIDC_SECRET": SECRET}).start()
    server.provider = provider
    yield server
    server.remove()
    provider.stop()


class Form(html.parser.HTMLParser):
    """The first form of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = values["action"]
        elif tag == "input" and values.get("type") == "hidden":
            self.fields[values["name"]] = values.get("value", "")


class Browser:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.http = httpx.Client(timeout=DEADLINE, trust_env=False, headers={"Accept": "application/json"})

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.http.close()

    def local(self, url: str) -> str:
        return url.replace("http://ingot.test", self.server.url)

    def api(self, path: str, **options) -> httpx.Response:
        return self.http.get(f"{self.server.url}/api/v1/{path}", **options)

    def at_provider(self, answer: httpx.Response, account: str) -> str:
        """Follows redirects and fills in forms until the provider sends the browser back; that address."""
        for _ in range(20):
            if answer.is_redirect:
                url = urljoin(str(answer.url), answer.headers["location"])
                if url.startswith("http://ingot.test"):
                    return self.local(url)
                answer = self.http.get(url)
                continue
            assert answer.status_code == 200, answer.text
            form = Form(answer.text)
            assert form.action, answer.text
            fields = form.fields | ({"login": account, "password": "x"} if "login" in answer.text else {})
            if form.fields.get("prompt") == "consent":
                fields = form.fields
            answer = self.http.post(urljoin(str(answer.url), form.action), data=fields)
        raise AssertionError("the provider never came to an end")

    def begin(self, provider: str, next: str | None = None) -> httpx.Response:
        answer = self.api(f"sign-in/{provider}", params={"next": next} if next else {})
        assert answer.status_code == 303, answer.text
        return answer

    def sign_in(self, provider: str, account: str, next: str | None = None) -> httpx.Response:
        return self.http.get(self.at_provider(self.begin(provider, next), account))


def test_providers_are_listed(corp):
    with Browser(corp) as browser:
        ways = browser.api("sign-in").json()
    assert ways["password"] is True
    assert ways["providers"][0] == {"id": "corp", "title": "Corp"}
    assert [p["id"] for p in ways["providers"]] == list(PROVIDERS)
    assert SECRET not in json.dumps(ways)


def test_begin(corp):
    with Browser(corp) as browser:
        answer = browser.begin("corp", "/p/x")
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        assert query["response_type"] == ["code"] and query["code_challenge_method"] == ["S256"]
        assert query["redirect_uri"] == ["http://ingot.test/api/v1/sign-in/corp/callback"]
        assert len(query["state"][0]) == 43 and len(query["nonce"][0]) == 43
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Max-Age=600" in cookie
        again = parse_qs(urlsplit(browser.begin("corp").headers["location"]).query)
        assert again["state"] != query["state"] and again["nonce"] != query["nonce"]


@pytest.mark.parametrize("next", ["https://evil.example/", "//evil.example", "/\\evil.example", "x", "/a b"])
def test_next_stays_here(corp, next):
    with Browser(corp) as browser:
        problem(browser.api("sign-in/corp", params={"next": next}), 422, "invalid", "next")


@pytest.mark.parametrize("provider", ["corp", "curve", "post", "plain"])
def test_sign_in(corp, provider):
    """RS256, ES256, the secret in the body, and without OpenID Connect."""
    with Browser(corp) as browser:
        answer = browser.sign_in(provider, "ann", "/p/x?y=1")
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"] == "/p/x?y=1"
        session = browser.api("session").json()
        assert session["via"] == "session" and not session["user"]["administrator"]
        # What the provider says is cleaned to our rules for names; a taken name gets a number.
        assert re.fullmatch(r"annfromcorp(-\d+)?", session["user"]["name"])
        assert session["user"]["email"] == "ann@example.org"
        first = session["user"]["id"]
    with Browser(corp) as browser:
        assert browser.sign_in(provider, "ann").headers["location"] == "/"
        assert browser.api("session").json()["user"]["id"] == first
    admin = corp.admin()
    line = admin.get("audit", filter=f'verb = "sign-in" and object = {first}')["items"][0]
    assert line["detail"] == {"how": provider} or provider in str(line["detail"])
    user = admin.get(f"users/{first}")
    assert admin.call("POST", "sessions", json={"name": user["name"], "password": ""}).status_code == 401


def test_nobody_becomes_admin_by_name(corp):
    with Browser(corp) as browser:
        assert browser.sign_in("post", "bob").status_code == 303
        user = browser.api("session").json()["user"]
        assert user["name"] == "admin-2" and not user["administrator"]


def test_domains(corp):
    with Browser(corp) as browser:
        problem(browser.sign_in("corp", "out"), 403, "forbidden", says="domain")
        problem(browser.api("session"), 401, "unauthorized")


@pytest.mark.parametrize("who", ["bob", "unsaid"])
def test_an_address_that_nobody_verified_opens_no_domain(corp, who):
    with Browser(corp) as browser:
        problem(browser.sign_in("corp", who), 403, "forbidden", says="verified")
        problem(browser.api("session"), 401, "unauthorized")
    with Browser(corp) as browser:
        assert browser.sign_in("trusted", who).status_code == 303
        assert browser.api("session").json()["user"]["email"] == f"{who}@example.org"


def test_an_address_that_nobody_verified_is_not_kept(corp):
    """Else it would be there twice, and the true owner could not be found by it."""
    with Browser(corp) as browser:
        assert browser.sign_in("curve", "unsaid").status_code == 303
        assert not browser.api("session").json()["user"]["email"]


def test_no_new_users(corp):
    with Browser(corp) as browser:
        problem(browser.sign_in("closed", "ann"), 403, "forbidden", says="no user")


def test_link_by_verified_address(corp):
    admin = corp.admin()
    user = admin.post("users", {"name": "has-address", "password": "pass-word-1", "email": "linked@example.org"})
    with Browser(corp) as browser:
        assert browser.sign_in("curve", "linked").status_code == 303
        assert browser.api("session").json()["user"]["id"] == user["id"]


def test_an_address_that_users_gave_themselves_links_nobody(corp):
    """Else the true owner would land in the account of whoever wrote down their address first."""
    admin = corp.admin()
    thief = admin.post("users", {"name": "thief", "password": "pass-word-1", "email": "thief@example.org"})
    with Browser(corp) as browser:
        signed = browser.http.post(f"{corp.url}/api/v1/sessions", json={"name": "thief", "password": "pass-word-1"},
                                   headers={"Origin": corp.url})
        assert signed.is_success, signed.text
        changed = browser.http.patch(f"{corp.url}/api/v1/profile", json={"email": "victim@example.org"},
                                     headers={"Origin": corp.url})
        assert changed.is_success, changed.text
    with Browser(corp) as browser:
        assert browser.sign_in("curve", "victim").status_code == 303
        owner = browser.api("session").json()["user"]
        assert owner["id"] != thief["id"] and owner["email"] == "victim@example.org"
    # What an administrator sets counts again.
    for email in (None, "moved@example.org"):
        admin.patch(f"users/{thief['id']}", {"email": email}, admin.get(f"users/{thief['id']}")["revision"])
    with Browser(corp) as browser:
        assert browser.sign_in("curve", "moved").status_code == 303
        assert browser.api("session").json()["user"]["id"] == thief["id"]


def test_disabled_users_stay_out(corp):
    with Browser(corp) as browser:
        assert browser.sign_in("post", "out").status_code == 303
        user = browser.api("session").json()["user"]["id"]
        admin = corp.admin()
        admin.patch(f"users/{user}", {"disabled": True}, admin.get(f"users/{user}")["revision"])
        problem(browser.api("session"), 401, "unauthorized")
        problem(browser.sign_in("post", "out"), 401, "unauthorized")


def test_wrong_client_secret(corp):
    with Browser(corp) as browser:
        problem(browser.sign_in("wrong", "ann"), 401, "unauthorized", says="invalid_client")


# --- answers that do not hold ---
def callback(browser: Browser, url: str, **changes: str | None) -> httpx.Response:
    """The address the provider sent, with some parameters changed or (None) left out."""
    parts = urlsplit(url)
    query = {k: v[0] for k, v in parse_qs(parts.query).items()} | changes
    return browser.http.get(f"{parts.scheme}://{parts.netloc}{parts.path}",
                            params={k: v for k, v in query.items() if v is not None})


@pytest.mark.parametrize("changes", [
    {"state": None}, {"state": ""}, {"state": "A" * 43}, {"code": None}, {"code": ""}, {"code": "forged"},
    {"code": "x" * 5000}, {"iss": "https://evil.example"}, {"error": "access_denied", "error_description": "no"},
])
def test_changed_answer(corp, changes):
    with Browser(corp) as browser:
        url = browser.at_provider(browser.begin("corp"), "ann")
        problem(callback(browser, url, **changes), 401, "unauthorized")
        problem(browser.api("session"), 401, "unauthorized")


def test_answer_of_another_browser(corp):
    """Who is made to open somebody else's answer is not signed in as them."""
    with Browser(corp) as attacker, Browser(corp) as victim:
        url = attacker.at_provider(attacker.begin("corp"), "ann")
        problem(callback(victim, url), 401, "unauthorized", says="not begun in this browser")
        victim.begin("corp")
        problem(callback(victim, url), 401, "unauthorized", says="not begun in this browser")


def test_forged_attempt(corp):
    with Browser(corp) as browser:
        url = browser.at_provider(browser.begin("corp"), "ann")
        sealed = browser.http.cookies["ingot_login"]
        for forged in ["", "x", ".", "e30.e30", sealed[:-2], "A" + sealed[1:], sealed + "x", "A" * 9000]:
            browser.http.cookies.clear()
            answer = browser.http.get(url, headers={"Cookie": f"ingot_login={forged}"})
            problem(answer, 401, "unauthorized", says="not begun in this browser")


def test_answer_for_another_provider(corp):
    with Browser(corp) as browser:
        url = browser.at_provider(browser.begin("corp"), "ann")
        problem(callback(browser, url.replace("/corp/", "/curve/")), 401, "unauthorized")


def test_people_see_the_sign_in_page(corp):
    with Browser(corp) as browser:
        browser.http.headers["Accept"] = "text/html,*/*"
        answer = browser.api("sign-in/corp/callback", params={"state": "x", "code": "y"})
        assert answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?error=")


def test_lost_provider(fresh_server, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"sign_in": {"password": False, "providers": [
        {"id": "gone", "issuer": "http://127.0.0.1:1", "client_id": "x"}]}}))
    server = fresh_server(args=("--config", str(path)))
    with Browser(server) as browser:
        problem(browser.api("sign-in/gone"), 502, "upstream")
        assert browser.api("sign-in").json()["password"] is False
        answer = browser.http.post(f"{server.url}/api/v1/sessions", json={"name": "admin", "password": "x"})
        problem(answer, 403, "forbidden")


def test_broken_settings_stop_the_start(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"sign_in": {"providers": [{"id": "x", "client_id": "x", "issuer": "http://id.example"}]}}')
    server = Server(args=("--config", str(path)))
    with pytest.raises(AssertionError, match="issuer must be an https address"):
        server.start()
    server.process.wait(DEADLINE)
    server.reader.join(DEADLINE)
    server.process.stdout.close()
    server.log.close()
    server.process = None
    server.remove()
