"""The SDK's own rules, against answers made up in the process: no server, no waiting."""

import json

import httpx
import pytest

import ingot
from ingot import client as client_module
from ingot import config


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch, tmp_path):
    waits = []
    monkeypatch.setattr(client_module.time, "sleep", waits.append)
    for name in ("INGOT_URL", "INGOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INGOT_CONFIG", str(tmp_path / "config.json"))
    return waits


def client_of(handler, **options):
    return ingot.Client("http://x.test", token="t", transport=httpx.MockTransport(handler), **options)


def test_lists_follow_the_cursor():
    asked = []

    def handler(request):
        asked.append(dict(request.url.params))
        if "cursor" not in request.url.params:
            return httpx.Response(200, json={"items": [{"id": 1}, {"id": 2}], "next": "c2"})
        return httpx.Response(200, json={"items": [{"id": 3}], "next": None})

    with client_of(handler) as client:
        ids = [item["id"] for item in client.kind("label-sets").list(project=7, q="a b", page_size=2)]
    assert ids == [1, 2, 3]
    assert asked == [
        {"project": "7", "q": "a b", "limit": "2"},
        {"project": "7", "q": "a b", "limit": "2", "cursor": "c2"},
    ]


def test_a_page_of_a_search_tells_what_was_found():
    found = [[{"field": "name", "from": 2, "to": 5}]]

    def handler(request):
        more = {"total": None, "sorted": False, "matches": found} if "q" in request.url.params else {}
        return httpx.Response(200, json={"items": [{"id": 1}], "next": None, **more})

    with client_of(handler) as client:
        page = client.kind("label-sets").page(project=7, q="abc", count=True)
        assert (page.total, page.sorted, page.matches) == (None, False, found)
        plain = client.kind("label-sets").page(project=7)
        assert (plain.sorted, plain.matches) == (True, [])


def test_503_is_tried_again_for_idempotent_methods_only(_no_waiting):
    seen = []

    def handler(request):
        seen.append(request.method)
        return httpx.Response(503, headers={"Retry-After": "2"}, json={"code": "unavailable", "detail": "later"})

    with client_of(handler, retries=3) as client:
        with pytest.raises(ingot.Unavailable):
            client.projects.get(1)
        assert seen == ["GET"] * 4
        assert _no_waiting == [2.0, 2.0, 2.0]
        with pytest.raises(ingot.Unavailable) as caught:
            client.projects.create(name="x")
    assert seen == ["GET"] * 4 + ["POST"]
    assert caught.value.status == 503 and caught.value.code == "unavailable"


def test_a_lost_connection_is_tried_again():
    calls = []

    def handler(request):
        calls.append(request.method)
        if len(calls) == 1:
            raise httpx.ConnectError("refused")
        return httpx.Response(200, json={"status": "ok"})

    with client_of(handler) as client:
        assert client.health() == {"status": "ok"}
    assert len(calls) == 2


def test_no_answer_is_connection_failed():
    def handler(request):
        raise httpx.ConnectError("refused")

    with client_of(handler, retries=0) as client:
        with pytest.raises(ingot.ConnectionFailed, match="refused"):
            client.health()


def test_update_sends_the_revision_and_reads_again_only_for_an_id():
    revision = {"now": 5}
    seen = []

    def handler(request):
        seen.append((request.method, request.headers.get("if-match")))
        if request.method == "GET":
            return httpx.Response(200, json={"id": 1, "revision": revision["now"]})
        if request.headers["if-match"] != f'"{revision["now"]}"':
            return httpx.Response(412, json={"code": "stale", "detail": "revision is 5"})
        return httpx.Response(200, json={"id": 1, "revision": revision["now"] + 1, **json.loads(request.content)})

    with client_of(handler) as client:
        assert client.projects.update(1, description="a")["description"] == "a"
        with pytest.raises(ingot.Stale):
            client.projects.update({"id": 1, "revision": 4}, description="b")
    assert seen == [("GET", None), ("PATCH", '"5"'), ("PATCH", '"4"')]


def test_errors_carry_field_permission_and_references():
    answers = {
        "/api/v1/projects": (422, {"code": "invalid", "field": "name", "detail": "name: empty"}),
        "/api/v1/users": (403, {"code": "forbidden", "permission": "user.create", "detail": "no"}),
        "/api/v1/specs": (502, None),
    }

    def handler(request):
        status, document = answers[request.url.path]
        if document is None:
            return httpx.Response(status, text="<html>")
        return httpx.Response(status, json=document)

    with client_of(handler) as client:
        with pytest.raises(ingot.Invalid) as invalid:
            client.projects.create(name="")
        with pytest.raises(ingot.Forbidden) as forbidden:
            client.users.create(name="x")
        with pytest.raises(ingot.Problem) as other:
            client.specs.create(name="x")
    assert invalid.value.field == "name" and "empty" in str(invalid.value)
    assert forbidden.value.permission == "user.create"
    assert other.value.status == 502


def test_objects_given_as_references_become_ids():
    def handler(request):
        return httpx.Response(201, json=json.loads(request.content))

    with client_of(handler) as client:
        made = client.label_sets.create(project={"id": 4, "revision": 9, "name": "p"}, name="x", labels=[])
    assert made == {"project": 4, "name": "x", "labels": []}


def test_cookie_requests_carry_the_origin():
    origins = []

    def handler(request):
        origins.append(request.headers.get("origin"))
        return httpx.Response(201, headers={"Set-Cookie": "ingot_session=s; Path=/"}, json={"user": {}})

    with ingot.Client("http://x.test", transport=httpx.MockTransport(handler)) as client:
        client.sign_in("admin", "secret")
        client.projects.create(name="x")
    assert origins == [None, "http://x.test"]


def test_address_and_token_come_from_arguments_then_environment_then_file(monkeypatch, tmp_path):
    with pytest.raises(ingot.ConfigError, match="INGOT_URL"):
        ingot.Client()
    (tmp_path / "config.json").write_text('{"url": "http://file.test/", "token": "file"}')
    assert config.resolve(None, None) == ("http://file.test", "file")
    monkeypatch.setenv("INGOT_URL", "http://env.test")
    monkeypatch.setenv("INGOT_TOKEN", "env")
    assert config.resolve(None, None) == ("http://env.test", "env")
    assert config.resolve("http://arg.test", None) == ("http://arg.test", None)
    assert config.resolve("http://arg.test", "arg") == ("http://arg.test", "arg")
    monkeypatch.delenv("INGOT_URL")
    (tmp_path / "config.json").write_text("[")
    with pytest.raises(ingot.ConfigError, match="JSON"):
        config.resolve(None, None)
