"""The gateway in front of replicas that answer, misbehave and die."""

import concurrent.futures
import contextlib
import json
import socket
import threading
import time

import httpx
import pytest
from conftest import DEADLINE, wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import serve


def problem(answer, status, message=None):
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["status"] == status and document["request"] == answer.headers["x-request-id"]
    if message:
        assert document["message"] == message
        assert document["detail"] and document["detail_zh"]
    return document


# --- addresses and what passes ---


def test_forwards(gateway, service, replica):
    s = service([replica().port])
    with s.client() as c:
        a = c.post("/a/b%20c?x=1", content=b"hello", headers={"Cookie": "ingot_session=1; own=2", "X-Mine": "kept"})
    assert a.status_code == 200
    told = a.json()
    assert told["path"] == "/a/b%20c?x=1" and told["size"] == 5 and told["method"] == "POST"
    sent = told["headers"]
    assert "authorization" not in sent and "x-api-key" not in sent and "cookie" not in sent
    assert sent["x-mine"] == "kept" and sent["x-forwarded-prefix"] == f"/vision/{s.name}"
    assert sent["x-request-id"] == a.headers["x-request-id"]
    assert sent["traceparent"].startswith("00-" + a.headers["x-request-id"])
    assert a.headers["x-ingot-version"] == "production"


def test_trace_passes(service, replica):
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with service([replica().port]).client() as c:
        assert c.get("/", headers={"traceparent": trace}).json()["headers"]["traceparent"] == trace
        assert c.get("/", headers={"traceparent": "nonsense"}).json()["headers"]["traceparent"] != "nonsense"


def test_names(gateway, service, replica):
    s = service([replica().port], aliases=["former", "earlier/former"])
    n = s.route["service"]
    for address in (f"vision/{s.name}", f"id.7/{s.name}", f"vision/id.{n}", f"id.7/id.{n}", "vision/former", "earlier/former"):
        assert httpx.get(f"{gateway.url}/{address}/x", headers=s.headers, timeout=DEADLINE).status_code == 200, address
    for address in ("vision/none", f"other/{s.name}", "vision", ""):
        problem(httpx.get(f"{gateway.url}/{address}", headers=s.headers, timeout=DEADLINE), 401, "gateway-key")
    a = httpx.get(f"{s.url}", headers=s.headers, timeout=DEADLINE)
    assert a.status_code == 308 and a.headers["location"] == f"/vision/{s.name}/"


def test_host_of_its_own(gateway, service, replica):
    r = replica(answer=lambda h: h.reply(200, b"<p>", "text/html", [("Set-Cookie", "a=b")]))
    s = service([r.port], host="fruit.example")
    a = httpx.get(f"{gateway.url}/x", headers={**s.headers, "Host": "Fruit.example:8443"}, timeout=DEADLINE)
    assert a.status_code == 200 and a.headers["set-cookie"] == "a=b" and "content-security-policy" not in a.headers
    a = httpx.get(f"{s.url}/x", headers=s.headers, timeout=DEADLINE)
    assert "set-cookie" not in a.headers and a.headers["content-security-policy"] == "sandbox"


# --- who ---


def test_keys(gateway, service, replica):
    r = replica()
    s, other = service([r.port]), service([r.port])
    ask = lambda **headers: httpx.get(f"{s.url}/", headers=headers, timeout=DEADLINE)
    assert ask(Authorization=f"Bearer {s.key}").status_code == 200
    assert ask(**{"X-API-Key": s.key}).status_code == 200
    problem(ask(), 401, "gateway-key")
    problem(ask(Authorization=f"Bearer {other.key}"), 401, "gateway-key")
    problem(ask(Authorization="Bearer nonsense"), 401, "gateway-key")
    problem(ask(Cookie=f"ingot_session={s.key}"), 401, "gateway-key")
    assert "bearer" in ask().headers["www-authenticate"].lower()
    s.publish(keys=[])
    problem(ask(Authorization=f"Bearer {s.key}"), 401, "gateway-key")
    s.publish(keys=[{**s.keys[0], "expires_at": 1}])
    problem(ask(Authorization=f"Bearer {s.key}"), 401, "gateway-expired")


def test_platform_token(gateway, service, replica):
    s = service([replica().port])
    client, token = gateway.admin()
    headers = {"Authorization": f"Bearer {token}"}
    a = httpx.get(f"{s.url}/", headers=headers, timeout=DEADLINE)
    assert a.status_code == 200 and "authorization" not in a.json()["headers"]
    assert httpx.get(f"{s.url}/", headers={"X-API-Key": token}, timeout=DEADLINE).status_code == 200
    user = client.post("/api/v1/users", json={"name": f"u{s.name}", "password": "another-Password-1"}).raise_for_status()
    base = f"http://127.0.0.1:{gateway.api}"
    with httpx.Client(base_url=base, headers={"Origin": base}, timeout=DEADLINE) as c:
        c.post("/api/v1/sessions", json={"name": user.json()["name"], "password": "another-Password-1"}).raise_for_status()
        theirs = c.post("/api/v1/tokens", json={"name": "t"}).raise_for_status().json()["secret"]
    problem(httpx.get(f"{s.url}/", headers={"Authorization": f"Bearer {theirs}"}, timeout=DEADLINE), 401)
    client.close()


# --- limits ---


def test_rate(service, replica):
    s = service([replica().port], key={"rate": 0.01, "burst": 3})
    with s.client() as c:
        assert [c.get("/").status_code for _ in range(4)] == [200, 200, 200, 429]
        a = c.get("/")
        problem(a, 429, "gateway-limit")
        assert 0 < int(a.headers["retry-after"]) <= 100


def test_concurrency(service, replica):
    gate, arrived = threading.Event(), threading.Semaphore(0)

    def slow(h):
        arrived.release()
        gate.wait(DEADLINE)
        h.usual()

    s = service([replica(answer=slow).port], key={"concurrency": 2})
    with concurrent.futures.ThreadPoolExecutor() as pool, s.client() as c:
        waiting = [pool.submit(c.get, "/") for _ in range(2)]
        for _ in waiting:
            assert arrived.acquire(timeout=DEADLINE)
        a = c.get("/")
        problem(a, 429, "gateway-limit")
        assert a.headers["retry-after"] == "1"
        gate.set()
        assert [w.result().status_code for w in waiting] == [200, 200]
        assert c.get("/").status_code == 200


def test_a_slow_replica_harms_no_other_service(gateway, service, replica):
    """Thousands wait for a replica that takes connections and never answers; what they hold is bounded, and they are told when
    it ends."""
    many = 2000
    well = service([replica().port])
    with socket.create_server(("127.0.0.1", 0), backlog=4 * many) as silent, contextlib.ExitStack() as waiting:
        s = service([silent.getsockname()[1]])
        before = gateway.memory_mb()
        head = f"POST /vision/{s.name}/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {s.key}\r\nContent-Length: 20000\r\n\r\n"
        connections = []
        for _ in range(many):
            c = waiting.enter_context(socket.create_connection(("127.0.0.1", gateway.port), DEADLINE))
            c.sendall(head.encode() + b"x" * 20_000)
            connections.append(c)
        with well.client() as c:
            assert [c.get("/").status_code for _ in range(50)] == [200] * 50
        assert gateway.memory_mb() - before < many * 0.1
        silent.close()
        for c in connections:
            assert c.recv(12) == b"HTTP/1.1 502"
        with well.client() as c:
            assert c.get("/").status_code == 200


def test_sizes(service, replica):
    s = service([replica().port], body_limit=1000, header_limit=2000)
    with s.client() as c:
        assert c.post("/", content=b"x" * 1000).status_code == 200
        problem(c.post("/", content=b"x" * 1001), 413, "gateway-body")
        problem(c.post("/", content=iter([b"x" * 600] * 2)), 413, "gateway-body")
        problem(c.get("/", headers={"X-Long": "x" * 2000}), 431, "gateway-header")
        assert c.get("/").status_code == 200


def test_time_limit(service, replica):
    gate = threading.Event()
    r = replica(answer=lambda h: (gate.wait(DEADLINE), h.usual()) if h.path == "/slow" else h.usual())
    s = service([r.port], time_limit_ms=300)
    with s.client() as c:
        problem(c.get("/slow"), 504, "gateway-silent")
        assert c.get("/").status_code == 200
    gate.set()


# --- the canary ---


def test_share(service, replica):
    production, canary = replica(), replica()
    s = service([production.port], canary=[canary.port], share=137)

    def some(n):
        with s.client() as c:
            return [c.get("/").headers["x-ingot-version"] for _ in range(n)]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        told = [v for part in pool.map(some, [125] * 8) for v in part]
    assert told.count("canary") == 137 == canary.requests
    s.publish(share=0)
    assert set(some(20)) == {"production"}
    s.publish(share=1000)
    assert set(some(20)) == {"canary"}


def test_testers_choose(service, replica):
    s = service([replica("p").port], canary=[replica("c").port], share=0)
    with s.client() as c:
        assert c.get("/", headers={"X-Ingot-Version": "canary"}).json()["replica"] == "c"
        assert "x-ingot-version" not in c.get("/", headers={"X-Ingot-Version": "canary"}).json()["headers"]
        s.publish(share=1000)
        assert c.get("/", headers={"X-Ingot-Version": "production"}).json()["replica"] == "p"
        problem(c.get("/", headers={"X-Ingot-Version": "other"}), 400, "gateway-want")
        s.publish(canary={**s.route["canary"], "ports": []})
        problem(c.get("/", headers={"X-Ingot-Version": "canary"}), 503, "gateway-no-side")
        assert c.get("/").json()["replica"] == "p"


def test_switch_without_loss(service, replica):
    """Versions change places and shares change under load: each request is answered."""
    a, b = replica(), replica()
    s = service([a.port], canary=[b.port], share=100, resend=True)
    stop, statuses = threading.Event(), []

    def ask():
        with s.client() as c:
            while not stop.is_set():
                statuses.append(c.post("/", content=b"x").status_code)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        for i in range(40):
            production, canary = s.route["production"], s.route["canary"]
            s.publish(production=canary, canary=production, share=i * 25)
            before = len(statuses)
            wait_until(lambda n=before: len(statuses) > n + 5)
        stop.set()
        for f in asking:
            f.result()
    assert set(statuses) == {200} and a.requests and b.requests


def test_stopped(service):
    s = service([], state="stopped", reason="somebody stopped it", reason_zh="已被停止")
    with s.client() as c:
        a = c.get("/")
    document = problem(a, 503, "gateway-stopped")
    assert "somebody stopped it" in document["detail"] and "已被停止" in document["detail_zh"]
    assert int(a.headers["retry-after"]) > 0


# --- replicas that fail ---


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_unreachable_replica(service, replica):
    r = replica()
    s = service([free_port(), r.port])
    with s.client() as c:
        assert {c.post("/", content=b"x" * 100_000).status_code for _ in range(20)} == {200}
    only = service([free_port()])
    with only.client() as c:
        problem(c.get("/"), 502, "gateway-failed")


@contextlib.contextmanager
def raw_replica(answer):
    """answer(connection) for each connection, after the request's header came."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)

    def one(connection):
        with connection, contextlib.suppress(OSError):
            data = b""
            while b"\r\n\r\n" not in data:
                piece = connection.recv(65536)
                if not piece:
                    return
                data += piece
            answer(connection)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def test_dies_before_its_answer(service, replica):
    """Small bodies of model services are sent again; to images only what is safe."""
    r = replica()
    with raw_replica(lambda c: None) as dying:
        s = service([dying], canary=[r.port], share=0, resend=True)
        with s.client() as c:
            for size in (0, 10, 900_000):
                a = c.post("/", content=b"y" * size)
                assert a.status_code == 200 and a.json()["size"] == size
            assert c.post("/", content=iter([b"z" * 1000] * 50)).json()["size"] == 50_000
        s = service([dying], canary=[r.port], share=0)
        with s.client() as c:
            before = r.requests
            problem(c.post("/", content=b"y"), 502, "gateway-failed")
            assert r.requests == before
            assert c.get("/").status_code == 200
            problem(c.get("/", headers={"X-Ingot-Version": "production"}), 502, "gateway-failed")


def test_large_bodies_are_sent_once(service, replica):
    def read_on(c):
        left = 3 << 20
        while left > 100_000:
            left -= len(c.recv(65536))

    r = replica()
    with raw_replica(read_on) as dying:
        s = service([dying], canary=[r.port], share=0, resend=True)
        with s.client() as c:
            problem(c.post("/", content=b"y" * (3 << 20)), 502, "gateway-failed")
        assert r.requests == 0


def test_killed_replica_loses_nothing(service, replica):
    good, bad = replica(), replica()
    s = service([bad.port, good.port], resend=True)
    stop, statuses = threading.Event(), []

    def ask():
        with s.client() as c:
            while not stop.is_set():
                statuses.append(c.post("/", content=b"x" * 1000).status_code)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        wait_until(lambda: bad.requests > 50 and good.requests > 50)
        bad.stop()
        n = len(statuses)
        wait_until(lambda: len(statuses) > n + 200)
        stop.set()
        for f in asking:
            f.result()
    assert set(statuses) == {200}


def test_garbage_and_half_answers(service, replica):
    with raw_replica(lambda c: c.sendall(b"this is not HTTP\r\n\r\n")) as garbage:
        with service([garbage]).client() as c:
            problem(c.get("/"), 502, "gateway-failed")
    with raw_replica(lambda c: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")) as half:
        with service([half]).client() as c, pytest.raises(httpx.RemoteProtocolError):
            c.get("/")


def test_hangs_in_its_answer(service):
    def hang(c):
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        c.recv(1)

    with raw_replica(hang) as port:
        with service([port], time_limit_ms=300).client() as c, pytest.raises(httpx.RemoteProtocolError):
            c.get("/")


# --- what services may say ---


def test_answers_are_tamed(gateway, service, replica):
    platform = f"http://127.0.0.1:{gateway.api}/projects"
    where = {"/out": "https://elsewhere.example/x", "/in": "/login", "/platform": platform,
             "/sly": f"//127.0.0.1:{gateway.api}/", "/mine": f"{gateway.url}/other"}
    bad = [("Set-Cookie", "ingot_session=1"), ("Clear-Site-Data", '"*"'), ("Refresh", "0; url=/"),
           ("Strict-Transport-Security", "max-age=1"), ("Access-Control-Allow-Origin", "*"), ("X-Request-Id", "forged")]

    def answer(h):
        if h.path in where:
            h.reply(302, b"", headers=[("Location", where[h.path])])
        else:
            h.reply(200, b"<script>1</script>", "text/html; charset=utf-8", bad)

    s = service([replica(answer=answer).port])
    with s.client() as c:
        a = c.get("/page")
        assert a.headers["content-security-policy"] == "sandbox" and a.headers["x-content-type-options"] == "nosniff"
        for name, _ in bad[:-1]:
            assert name not in a.headers
        assert a.headers["x-request-id"] != "forged"
        assert c.get("/out").headers["location"] == where["/out"]
        assert c.get("/in").headers["location"] == f"/vision/{s.name}/login"
        assert c.get("/mine").headers["location"] == where["/mine"]
        for path in ("/platform", "/sly"):
            assert "location" not in c.get(path).headers


def test_origins(service, replica):
    r = replica()
    s = service([r.port], origins=["https://shop.example"])
    ask = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST",
           "Access-Control-Request-Headers": "authorization, content-type"}
    a = httpx.options(f"{s.url}/x", headers=ask, timeout=DEADLINE)
    assert a.status_code == 204 and a.headers["access-control-allow-origin"] == "https://shop.example"
    assert "authorization" in a.headers["access-control-allow-headers"] and r.requests == 0
    a = httpx.get(f"{s.url}/x", headers={**s.headers, "Origin": "https://shop.example"}, timeout=DEADLINE)
    assert a.headers["access-control-allow-origin"] == "https://shop.example" and a.headers["vary"] == "Origin"
    a = httpx.get(f"{s.url}/x", headers={"Origin": "https://shop.example"}, timeout=DEADLINE)
    problem(a, 401)
    assert a.headers["access-control-allow-origin"] == "https://shop.example"
    problem(httpx.options(f"{s.url}/x", headers={**ask, "Origin": "https://evil.example"}, timeout=DEADLINE), 403, "gateway-origin")
    problem(httpx.get(f"{s.url}/x", headers={**s.headers, "Origin": "https://evil.example"}, timeout=DEADLINE), 403, "gateway-origin")
    problem(httpx.options(f"{s.url}x/", headers=ask, timeout=DEADLINE), 403, "gateway-origin")


# --- models ---


def test_model_paths(service, replica):
    r = replica()
    s = service([r.port], model=True, aliases=["old"])
    s.publish(production={**s.route["production"], "model_name": "inside"})
    with s.client() as c:
        for asked, sent in [("/predict", "/v2/models/inside/predict"), (f"/v2/models/{s.name}/infer", "/v2/models/inside/infer"),
                            ("/v2/models/old", "/v2/models/inside"), (f"/v2/models/{s.name}.part/versions/1/infer",
                                                                       "/v2/models/inside.part/versions/1/infer"),
                            ("/v2/models/else/infer", "/v2/models/else/infer"), ("/v2/health/ready", "/v2/health/ready"),
                            ("/v2", "/v2"), ("/v2/repository/index", "/v2/repository/index")]:
            assert c.post(asked, content=b"x").json()["path"] == sent
        n = r.requests
        for word in ("load", "unload"):
            problem(c.post(f"/v2/repository/models/{s.name}/{word}"), 403, "gateway-repository")
        for path in ("/metrics", "/", "/v2/repository%2Fmodels/x/load", "/v2//repository/models/x/load", "/v3",
                     "/v2/models/../repository/models/x/load"):
            request = c.build_request("POST", s.url + "/")
            request.url = request.url.copy_with(raw_path=f"/vision/{s.name}{path}".encode())
            assert c.send(request).status_code in (403, 404), path
        assert r.requests == n


# --- protocols ---


def test_websocket(gateway, service):
    with serve(lambda ws: [ws.send(m) for m in ws], "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        s = service([server.socket.getsockname()[1]], time_limit_ms=500)
        with connect(f"ws://{gateway.host}/vision/{s.name}/chat", additional_headers=s.headers) as ws:
            for text in ("hello", "x" * 100_000):
                ws.send(text)
                assert ws.recv(DEADLINE) == text
        server.shutdown()


def test_websocket_ends_with_its_key(gateway, service):
    with serve(lambda ws: [ws.send(m) for m in ws], "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        s = service([server.socket.getsockname()[1]])
        for change in ({"keys": []}, {"keys": [{**s.keys[0], "expires_at": 1}]}):
            with connect(f"ws://{gateway.host}/vision/{s.name}/chat", additional_headers=s.headers) as ws:
                ws.send("hello")
                assert ws.recv(DEADLINE) == "hello"
                s.publish(share=1)  # routes that leave the key as it was leave the socket open
                ws.send("again")
                assert ws.recv(DEADLINE) == "again"
                s.publish(**change)
                with pytest.raises(ConnectionClosed):
                    ws.recv(DEADLINE)
            s.publish(keys=s.keys)
        server.shutdown()


def test_events(service):
    """A stream of events may be silent for longer than the time limit."""
    go = threading.Event()

    def stream(c):
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for i in range(3):
            c.sendall(b"9\r\ndata: %d\n\n\r\n" % i)
            assert go.wait(DEADLINE)
        c.sendall(b"0\r\n\r\n")

    with raw_replica(stream) as port:
        s = service([port], time_limit_ms=200)
        with s.client() as c, c.stream("GET", "/", headers={"Accept": "text/event-stream"}) as a:
            lines = a.iter_lines()
            assert next(lines) == "data: 0"
            time.sleep(1.5)  # longer than the limit and the sweep that looks for it
            go.set()
            assert [line for line in lines if line] == ["data: 1", "data: 2"]


def test_http2(service, replica):
    s = service([replica().port])
    with httpx.Client(http1=False, http2=True, base_url=s.url, headers=s.headers) as c:
        answers = [c.post("/x", content=b"y" * 50_000) for _ in range(3)]
    assert {(a.status_code, a.http_version) for a in answers} == {(200, "HTTP/2")}
    assert answers[0].json()["size"] == 50_000


# --- figures ---


def test_request_leads_to_version(gateway, service, replica):
    r = replica()
    s = service([free_port(), r.port])
    client, _ = gateway.admin()
    with s.client() as c, client:
        ids = [c.get(f"/{i}").headers["x-request-id"] for i in range(3)]
        n = s.route["service"]
        for i, request in enumerate(ids):
            items = client.get(f"/api/v1/services/{n}/requests", params={"request": request}).raise_for_status().json()["items"]
            assert len(items) == 1
            assert items[0]["version"] == 10 * n and items[0]["path"] == f"/vision/{s.name}/{i}"
            assert items[0]["replica"] == f"{r.port}-1-0" and items[0]["status"] == 200 and items[0]["key"] == n
        assert client.get(f"/api/v1/services/{n + 1_000_000}/requests").status_code == 404
        recent = client.get(f"/api/v1/services/{n}/requests").json()["items"]
        assert [i["request"] for i in recent] == ids[::-1]


def test_figures(gateway, service, replica):
    r = replica(answer=lambda h: h.reply(500 if h.path == "/bad" else 200, b"{}"))
    s = service([r.port])
    n = s.route["service"]
    client, _ = gateway.admin()
    with s.client() as c, client:
        for path in ["/ok"] * 8 + ["/bad"] * 2:
            c.get(path)

        text = client.get("/metrics").text
        assert f'service="{s.name}",version="{10 * n}",class="error"}} 2' in text
        assert f'ingot_service_request_duration_seconds_count{{project="vision",service="{s.name}",version="{10 * n}"}} 10' in text


def test_predict_on_the_platform(gateway, service, replica):
    """Try it: the same through the main API, without a key."""
    r = replica(answer=lambda h: h.reply(200, json.dumps({"path": h.path, "h": dict(h.headers)}).encode(), headers=[("Set-Cookie", "ingot_session=1")]))
    s = service([r.port], model=True)
    n = s.route["service"]
    client, token = gateway.admin()
    with client:
        a = client.post(f"/api/v1/services/{n}/predict", content=b"picture", headers={"Content-Type": "image/jpeg", "Cookie": "a=b"})
        assert a.status_code == 200 and a.json()["path"] == f"/v2/models/{s.name}/predict"
        assert token not in a.text and "Cookie" not in a.json()["h"] and "set-cookie" not in a.headers
        assert client.post(f"/api/v1/services/{n + 1_000_000}/predict", content=b"x").status_code == 404
        anybody = httpx.post(f"http://127.0.0.1:{gateway.api}/api/v1/services/{n}/predict", content=b"x", timeout=DEADLINE)
        assert anybody.status_code == 401


def test_described(gateway, service):
    model, image = service([1], model=True), service([1])
    client, _ = gateway.admin()
    with client:
        document = client.get(f"/api/v1/services/{image.route['service']}/openapi.json").raise_for_status().json()
        assert document["openapi"].startswith("3.1") and document["servers"][0]["url"].endswith(f"/vision/{image.name}")
        assert "/predict" not in document["paths"]
        # What a model takes is read from its version, which is gone here (tests/api/test_services.py has one that is there).
        assert client.get(f"/api/v1/services/{model.route['service']}/openapi.json").status_code == 404
        items = client.get("/api/v1/catalogue", params={"project": 7}).raise_for_status().json()["items"]
        assert {model.name, image.name} <= {i["name"] for i in items}
        assert all(i["address"].endswith(f"/vision/{i['name']}") for i in items if i["name"] in (model.name, image.name))
        assert client.get("/api/v1/catalogue", params={"project": 8}).json()["items"] == []
