"""The API's descriptions of itself, the documentation page and the web UI's files."""

import http.client as http_client
import os
import re
import subprocess
import sys
from pathlib import Path

import h2.events
import httpx
import pytest
from cli import Cli
from h2c import H2
from harness import ADMIN_PASSWORD, DEADLINE, ROOT, binary, problem, unique, wait_for
from openapi_spec_validator import validate
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from test_datasets import annotate, dataset, filled, finished, report, samples, version  # noqa: F401


@pytest.fixture(scope="module")
def document(admin):
    return admin.get("openapi.json")


def test_health(server, admin):
    assert httpx.get(server.url + "/api/v1/health", trust_env=False, timeout=DEADLINE).json()["status"] == "ok"


def test_controllers(admin, make_user, check, project):
    """What the platform does by itself is told to administrators, and to those with the permission."""
    shown = admin.get("controllers")
    check("Controllers", shown)
    rows = {one["name"]: one for one in shown["items"]}
    assert {"jobs", "tasks", "collect-blobs", "collect-uploads"} <= set(rows)
    assert all(one["title"]["en"] and one["title"]["zh"] for one in rows.values())
    wait_for(lambda: all(one["runs"] and one["last_at"] for one in admin.get("controllers")["items"]
                         if one["name"] in ("jobs", "tasks", "curves")), "their first runs")
    problem(make_user(project).call("GET", "controllers"), 403, "forbidden")
    role = admin.post("roles", {"name": unique("watcher"), "permissions": ["platform.metrics"]})
    watcher = make_user(platform_role=role["id"])
    assert watcher.get("controllers")["items"]
    before = rows["collect-uploads"]["runs"]
    problem(watcher.call("POST", "controllers/collect-uploads/run"), 403, "forbidden")
    problem(admin.call("POST", "controllers/none/run"), 404, "not_found")
    assert admin.call("POST", "controllers/collect-uploads/run").status_code == 204
    wait_for(lambda: next(c["runs"] for c in admin.get("controllers")["items"] if c["name"] == "collect-uploads") > before, "its run")


def test_metrics(server, admin, make_user, project, filled):
    """As Prometheus reads them: with a token, and under the parser of its own client."""
    def read(token: str) -> httpx.Response:
        return httpx.get(server.url + "/metrics", headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=DEADLINE)

    token = admin.post("tokens", {"name": unique("prometheus"), "scopes": ["platform.metrics"]})["secret"]
    answer = read(token)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}

    def value(name: str, **labels) -> float:
        return sum(s.value for f in families.values() for s in f.samples if s.name == name and labels.items() <= s.labels.items())

    assert families["ingot_http_requests"].type == "counter"
    assert families["ingot_http_request_duration_seconds"].type == "histogram"
    assert value("ingot_http_requests_total", method="POST", **{"class": "api"}, status="201") >= 1
    assert value("ingot_http_request_duration_seconds_count", **{"class": "api"}) >= 1
    assert value("ingot_db_writes_total") >= value("ingot_db_batch_duration_seconds_count") >= 1
    assert value("ingot_tasks", type="import", state="done") >= 1
    assert value("ingot_disk_size_bytes") > value("ingot_disk_free_bytes") > 0
    assert value("ingot_stored_bytes", place="blobs") > 0
    assert value("ingot_controller_last_run_timestamp_seconds", controller="tasks") > 1e9
    assert value("ingot_controller_runs_total", controller="jobs") >= 1
    assert value("process_open_fds") > 3 and value("process_resident_memory_bytes") > 1 << 20
    again = {f.name: f for f in text_string_to_metric_families(read(token).text)}
    assert again["ingot_http_requests"].samples != families["ingot_http_requests"].samples
    assert httpx.get(server.url + "/metrics", trust_env=False, timeout=DEADLINE).status_code == 401
    member = make_user(project)
    assert read(member.post("tokens", {"name": "t", "scopes": []})["secret"]).status_code == 403


def test_deleted_jobs_go_soon(server, admin, project):
    """Deleting wakes the controller that removes what a job left."""
    runs = lambda: next(c["runs"] for c in admin.get("controllers")["items"] if c["name"] == "collect-jobs")  # noqa: E731
    spec = admin.post("specs", {"name": unique("spec"), "cpus": 1, "memory": 1 << 26})
    job = admin.post("jobs", {"project": project["id"], "name": "gone", "spec": spec["id"], "nodes": 64, "command": "true"})
    admin.post(f"jobs/{job['id']}/stop", {}, expect=200)
    wait_for(lambda: admin.get(f"jobs/{job['id']}")["state"] == "stopped", "its end")
    before = runs()
    admin.delete(f"jobs/{job['id']}")
    wait_for(lambda: runs() > before, "the run of collect-jobs")


@pytest.mark.parametrize("path", ["openapi.json", "kinds", "permissions"])
def test_descriptions_are_made_once(admin, path):
    plain = admin.call("GET", path, headers={"Accept-Encoding": "identity"})
    packed = admin.call("GET", path, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "gzip"
    assert plain.content == packed.content and len(plain.content) > 2 * int(packed.headers["content-length"])
    assert plain.headers["etag"] == packed.headers["etag"] and plain.headers["vary"] == "Accept-Encoding"
    again = admin.call("GET", path, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def memory_mb(server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def test_answers_that_nobody_takes(server, admin):
    """2,000 streams with a closed window ask for the largest document: they share it."""
    size = len(admin.call("GET", "openapi.json").content)
    before = memory_mb(server)
    wires = [H2(server.url) for _ in range(20)]
    for wire in wires:
        for _ in range(100):
            wire.get("/api/v1/openapi.json")
    for wire in wires:
        wire.receive(h2.events.ResponseReceived, 100)
    assert admin.get("health")["status"] == "ok"
    assert memory_mb(server) - before < 2000 * size / 3 / (1 << 20)
    for wire in wires:
        wire.close()


def test_kinds(admin):
    kinds = {one["name"]: one for one in admin.get("kinds")["items"]}
    label_set = kinds["label_set"]
    assert (label_set["plural"], label_set["scope"], label_set["menu"]) == ("label-sets", "project", "data")
    assert label_set["titles"] == {"en": "Label sets", "zh": "标签组"}
    assert label_set["verbs"] == ["list", "read", "create", "update", "delete"]
    assert label_set["permissions"]["create"] == "label_set.create"
    name = label_set["fields"][0]
    assert (name["name"], name["type"], name["min"], name["max"], name["rule"]) == ("name", "text", 1, 50, "name")
    assert name["required"] and name["unique"] and name["search"] and not name["secret"]
    assert kinds["member"]["scope"] == "child" and kinds["member"]["parent"] == "project"
    for kind in kinds.values():
        assert kind["title"]["en"] and kind["title"]["zh"]
        for field in kind["fields"]:
            assert field["title"]["en"] and field["title"]["zh"], f"{kind['name']}.{field['name']}"
            assert (field["type"] in ("ref", "refs")) == (field["ref"] is not None)
            assert (field["type"] == "choice") == (field["choices"] is not None)


def test_permissions(admin):
    table = {one["name"]: one for one in admin.get("permissions")["items"]}
    for kind in admin.get("kinds")["items"]:
        for name in kind["permissions"].values():
            assert name in table
        for action in kind["actions"]:
            assert action["permission"] in table


def test_the_document_is_valid(document):
    assert document["openapi"].startswith("3.1")
    validate(document)


def test_ids_in_paths_are_numbers_but_those_of_requests(document):
    def types(path):
        return {p["name"]: p["schema"]["type"] for p in document["paths"][path]["parameters"]}

    assert types("/api/v1/services/{service_id}/requests") == {"service_id": "integer"}
    assert types("/api/v1/requests/{request}") == {"request": "string"}


def test_the_document_has_every_kind_and_verb(admin, document):
    for kind in admin.get("kinds")["items"]:
        path = next(p for p in document["paths"] if p.endswith("/" + kind["plural"])
                    and (kind["parent"] is None or f"{{{kind['parent']}_id}}" in p))
        verbs = {"list": (path, "get"), "create": (path, "post"), "read": (path + "/{id}", "get"),
                 "update": (path + "/{id}", "patch"), "delete": (path + "/{id}", "delete")}
        for verb in kind["verbs"]:
            where, method = verbs[verb]
            assert method in document["paths"][where], f"{verb} of {kind['name']}"


@pytest.fixture
def check(document):
    """Whether a value is what a schema of the document says."""
    from openapi_schema_validator import OAS31Validator

    def run(name, value):
        schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        errors = [f"{name}: {error.message}" for error in OAS31Validator(schema).iter_errors(value)]
        assert not errors
    return run


def test_answers_fit_their_schemas(admin, document, project, check):
    """Those of actions and routes, of which the web's types are generated; what a running job answers is the same."""
    spec = admin.post("specs", {"name": unique("spec"), "cpus": 1, "memory": 1 << 26})
    job = admin.post("jobs", {"project": project["id"], "name": "waits", "spec": spec["id"], "nodes": 64, "command": "true"})
    data = admin.post("datasets", {"project": project["id"], "name": "empty", "annotation_type": "detection"})
    version = admin.post(f"datasets/{data['id']}/versions", {})
    for name, path, query in (
            ("JobEvents", f"jobs/{job['id']}/events", {}), ("JobCurves", f"jobs/{job['id']}/curves", {}),
            ("Forecast", f"projects/{project['id']}/forecast", {"spec": spec["id"], "nodes": 64}),
            ("ProjectOverview", f"projects/{project['id']}/overview", {}), ("Resources", "resources", {}),
            ("ProjectHome", f"projects/{project['id']}/home", {}), ("PlatformHome", "home", {}), ("Found", "search", {"q": "adm"}),
            ("DatasetStatistics", f"datasets/{data['id']}/versions/{version['id']}/statistics", {})):
        answer = admin.get(path, **query)
        check(name, answer)
        assert set(answer) <= set(document["components"]["schemas"][name]["properties"]), name
    admin.post(f"jobs/{job['id']}/stop", {}, expect=200)


def known_to(document, name: str, value) -> None:
    """No member of an answer is missing in the document, at whatever depth a schema has members."""
    schemas = document["components"]["schemas"]

    def look(schema: dict, value, where: str) -> None:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
        if isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                look(schema["items"], item, f"{where}[{i}]")
        if isinstance(value, dict) and "properties" in schema:
            assert set(value) <= set(schema["properties"]), where
            for key, item in value.items():
                look(schema["properties"][key], item, f"{where}.{key}")
    look({"$ref": f"#/components/schemas/{name}"}, value, name)


SHAPES = [{"type": "box", "label": "cat", "x": 1, "y": 2, "w": 3, "h": 4, "score": 0.5, "crowd": True, "attributes": {"a": [1]}},
          {"type": "box", "label": "狗", "x": 1, "y": 2, "w": 3, "h": 4, "id": "first"}]


def test_answers_about_data_fit_their_schemas(admin, document, check, project, dataset, filled):
    first = samples(admin, filled)[0]
    one = annotate(admin, filled, first, {"annotation": {"shapes": SHAPES}})
    finished(admin, admin.post(f"{filled}/measure", {}, expect=202))
    finished(admin, admin.post(f"{filled}/write-records", {}, expect=202))
    records = f"{filled}/records/{admin.get(filled)['records'][0]['name']}"
    other = admin.post(f"datasets/{dataset['id']}/versions", {})
    made = admin.post("algorithm-sets", {"project": project["id"], "name": unique("code"), "scenario": "detection"})
    before, after = (admin.post(f"algorithm-sets/{made['id']}/versions", {})["id"] for _ in range(2))
    code = f"algorithm-sets/{made['id']}/versions/{after}"
    assert admin.call("PUT", f"{code}/content", params={"path": "src/a.py"}, content=b"x").status_code == 200
    for name, value in (
            ("Sample", one), ("SampleList", admin.get(f"{filled}/samples", limit=2)),
            ("SampleHistory", admin.get(f"{filled}/samples/{first['id']}/history")),
            ("DatasetStatistics", admin.get(f"{filled}/statistics")), ("DatasetSizes", admin.get(f"{filled}/sizes")),
            ("DatasetSplits", admin.get(f"{filled}/splits")),
            ("DatasetChanges", admin.get(f"{filled}/compare", **{"with": other["id"]})),
            ("DatasetSharpness", admin.get(f"{filled}/sharpness")),
            ("DatasetDuplicates", admin.get(f"{filled}/duplicates", distance=16)),
            ("DatasetCleaned", admin.post(f"{filled}/clean", {"ids": [first["id"]]}, expect=200)),
            ("RecordPage", admin.get(f"{records}/items")), ("RecordVerdict", admin.call("POST", f"{records}/verify").json()),
            ("FolderListing", admin.get(f"{code}/files?path=src")), ("FolderListing", admin.get(f"{code}/files")),
            ("FolderChanges", admin.get(f"{code}/compare", **{"with": before})), ("FormatList", admin.get("formats"))):
        check(name, value)
        known_to(document, name, value)


def test_a_report_fits_its_schema(admin, document, check, project, version):
    from test_datasets import bring, png, zipped
    task = bring(admin, project, version, "x.zip", zipped({"a.png": png(4, 4), "labels.json": b"{"}))
    lines = report(admin, task)
    assert lines
    for line in lines:
        check("TaskProblem", line)
        known_to(document, "TaskProblem", line)


def test_objects_fit_their_schemas(admin, document, project, make_set, check):
    check("LabelSet", make_set(labels=[{"name": "x"}]))
    check("Project", project)
    check("User", admin.get("users/1"))
    for schema, path in (("LabelSet", f"label-sets?project={project['id']}"), ("User", "users"), ("Role", "roles"),
                         ("Member", f"projects/{project['id']}/members"), ("Audit", "audit?limit=200"),
                         ("Token", "tokens"), ("Session", "sessions"), ("Spec", "specs")):
        answer = admin.call("GET", path)
        assert answer.status_code == 200
        check(schema + "List", answer.json())


def test_a_generated_client_works(server, admin, project, document, tmp_path):
    """openapi-python-client makes a client of the document, and that client makes and reads objects, sends bytes, acts."""
    import json
    spec = admin.post("specs", {"name": unique("spec"), "cpus": 1, "memory": 1 << 26})
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    run = subprocess.run([sys.executable, "-m", "openapi_python_client", "generate", "--path",
                          tmp_path / "openapi.json", "--output-path", tmp_path / "generated", "--meta", "none"],
                         capture_output=True, text=True, timeout=DEADLINE * 3)
    assert run.returncode == 0, run.stdout + run.stderr
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from generated import AuthenticatedClient
from generated.api.label_set import label_set_create, label_set_list
from generated.models import LabelSetCreate
client = AuthenticatedClient(base_url={server.url!r}, token={admin.token!r}, httpx_args={{"trust_env": False}})
made = label_set_create.sync(client=client, body=LabelSetCreate(project={project['id']}, name="generated"))
assert made.name == "generated" and made.project.id == {project['id']}, made
page = label_set_list.sync(client=client, project={project['id']}, q="gen")
assert [one.id for one in page.items] == [made.id], page

# Bytes in and out, an action that makes something (201), one that says nothing (204), a refusal.
import io
from generated.api.algorithm_set import algorithm_set_create
from generated.api.algorithm_version import algorithm_version_create, algorithm_version_publish
from generated.api.algorithm_version import get_algorithm_sets_set_id_versions_version_id_content as get_content
from generated.api.algorithm_version import put_algorithm_sets_set_id_versions_version_id_content as put_content
from generated.api.session import post_sessions
from generated.api.training import training_copy, training_create
from generated.api.user import user_create, user_reset_password
from generated.models import (AlgorithmSetCreate, AlgorithmVersionCreate, PostSessionsBody, Problem, TrainingCopyBody, TrainingCreate,
                              UserCreate, UserResetPasswordBody)
from generated.types import File
code = algorithm_set_create.sync(client=client, body=AlgorithmSetCreate(project={project['id']}, name="code"))
version = algorithm_version_create.sync(code.id, client=client, body=AlgorithmVersionCreate())
put = put_content.sync(code.id, version.id, client=client, path="a.py", body=File(payload=io.BytesIO(b"print()")))
assert put.files == 1, put
assert get_content.sync(code.id, version.id, client=client, path="a.py").payload.read() == b"print()"
assert algorithm_version_publish.sync(code.id, version.id, client=client).published is True
training = training_create.sync(client=client, body=TrainingCreate(project={project['id']}, name="t", spec={spec['id']}, command="true"))
copy = training_copy.sync(training.id, client=client, body=TrainingCopyBody(name="copy"))
assert copy.name == "copy" and copy.id != training.id, copy
user = user_create.sync(client=client, body=UserCreate(name={unique('user')!r}, password="123456"))
answer = user_reset_password.sync_detailed(user.id, client=client, body=UserResetPasswordBody(password="1234567"))
assert answer.status_code == 204, answer
refused = post_sessions.sync(client=client, body=PostSessionsBody(name=user.name, password="123456"))
assert isinstance(refused, Problem) and refused.code == "unauthorized", refused
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=DEADLINE * 3)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_manuals_are_pages_and_texts_for_everybody(server):
    with httpx.Client(base_url=server.url, trust_env=False, timeout=DEADLINE) as http:
        pages = [http.get(path) for path in ("/docs", "/docs/labelling", "/docs/reference/label_set")]
        if pages[0].status_code == 404 and "built without" in pages[0].text:
            pytest.skip("this build has no web UI")
        root = http.get("/")
        for page in pages:
            assert page.content == root.content and page.headers["content-type"].startswith("text/html")
            assert page.headers["content-security-policy"] == root.headers["content-security-policy"]
        manuals = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
        assert len(manuals) > 20
        for name in manuals:
            text = http.get(f"/docs/{name}")
            assert text.content == (ROOT / "docs" / name).read_bytes(), name
            assert text.headers["content-type"] == "text/markdown; charset=utf-8"
        assert text.headers["content-encoding"] and text.headers["cache-control"] == "no-cache"
        assert text.headers["x-content-type-options"] == "nosniff"
        again = http.get(f"/docs/{name}", headers={"If-None-Match": text.headers["etag"]})
        assert again.status_code == 304 and again.headers["etag"] == text.headers["etag"]
        for path in ("/docs/nothing.md", "/docs/../README.md", "/docs/labelling.md/x"):
            assert http.get(path).status_code == 404, path
        assert http.post("/docs").status_code == 405


def test_operations_are_grouped_by_the_noun_of_their_path(server):
    document = httpx.get(server.url + "/api/v1/openapi.json", trust_env=False, timeout=DEADLINE).json()
    tags = {tag["name"]: tag for tag in document["tags"]}
    assert tags["label_set"]["x-title"]["zh"] == "标签组" and tags["label_set"]["x-group"] == "data"
    assert tags["dataset_version"]["x-parent"] == "dataset" and tags["dataset_version"]["x-group"] == "data"
    where = {(method, path): one["tags"] for path, item in document["paths"].items() for method, one in item.items() if method != "parameters"}
    assert all(len(names) == 1 and names[0] in tags for names in where.values())
    assert where["get", "/api/v1/datasets/{dataset_id}/versions/{version_id}/samples"] == ["dataset_version"]
    assert where["get", "/api/v1/jobs/{job_id}/log"] == ["job"]
    assert where["get", "/api/v1/health"] == ["platform"]


def test_paths_outside_the_api(server):
    with httpx.Client(base_url=server.url, trust_env=False, timeout=DEADLINE) as http:
        for path in ("/../etc/passwd", "/%2e%2e/etc/passwd", "/assets/%00", "/%"):
            # http.client sends the path as it is; httpx would resolve the dots itself.
            raw = http_client.HTTPConnection(server.url.removeprefix("http://"), timeout=DEADLINE)
            raw.request("GET", path)
            assert raw.getresponse().status in (400, 404), path
            raw.close()
        for path in ("/nothing.js", "/assets/nothing.css", "/index.html;x"):
            assert http.get(path).status_code == 404
        assert http.post("/", content=b"x").status_code == 405
        assert http.get("/api").status_code == 404 and http.get("/api/v2/users").status_code == 404


def test_pages_are_packed_and_revalidated_and_sent_in_parts(server):
    with httpx.Client(base_url=server.url, trust_env=False, timeout=DEADLINE) as http:
        page = http.get("/", headers={"Accept-Encoding": "identity"})
        if page.status_code == 404 and "built without" in page.text:
            pytest.skip("this program was built without the web UI")
        path = re.search(r'src="(/assets/[^"]+\.js)"', page.text)[1]
        plain = http.get(path, headers={"Accept-Encoding": "identity"})
        assert plain.status_code == 200 and "content-encoding" not in plain.headers
        assert "immutable" in plain.headers["cache-control"] and page.headers["cache-control"] == "no-cache"
        for given, coding in [("br", "br"), ("gzip, br;q=0", "gzip"), ("gzip;q=1, br", "br")]:
            sent = http.get(path, headers={"Accept-Encoding": given})
            assert sent.headers["content-encoding"] == coding and sent.headers["vary"] == "Accept-Encoding"
            assert int(sent.headers["content-length"]) < len(plain.content) / 2
            assert sent.content == plain.content if coding == "gzip" else True
        etag = plain.headers["etag"]
        assert http.get(path, headers={"If-None-Match": etag}).status_code == 304
        part = http.get(path, headers={"Range": "bytes=10-19", "Accept-Encoding": "br"})
        assert (part.status_code, part.content) == (206, plain.content[10:20])
        assert part.headers["content-range"] == f"bytes 10-19/{len(plain.content)}"
        assert http.get(path, headers={"Range": "bytes=-5", "If-Range": etag}).content == plain.content[-5:]
        assert http.get(path, headers={"Range": "bytes=-5", "If-Range": '"other"'}).content == plain.content
        assert http.get(path, headers={"Range": f"bytes={len(plain.content)}-"}).status_code == 416


def test_a_second_server_on_the_same_data_is_refused(server, make_db):
    from harness import ADMIN_PASSWORD
    if make_db() is not None:
        pytest.skip("the lock is on the data folder of SQLite")
    run = subprocess.run([binary(), "serve", "--data", server.data, "--listen", "127.0.0.1:0"], capture_output=True,
                         text=True, timeout=DEADLINE, env={"INGOT_ADMIN_PASSWORD": ADMIN_PASSWORD})
    assert run.returncode != 0 and "another ingot runs" in run.stderr


def test_wrong_options_are_told(tmp_path):
    for arguments, says in ((["--nonsense"], "nonsense"), (["extra"], "extra"), (["--threads", "x"], "--threads"),
                            (["--cert", "x"], "--key"), (["--log-level", "loud"], "--log-level"),
                            (["--listen", "nowhere"], ""), (["--access-log", str(tmp_path / "no" / "log")], "log")):
        run = subprocess.run([binary(), "serve", "--data", tmp_path / "data", *arguments], capture_output=True,
                             text=True, timeout=DEADLINE)
        assert run.returncode != 0 and says in run.stderr, arguments
        assert "Sanitizer" not in run.stderr, run.stderr




def test_the_first_start_tells_a_generated_password_once(tmp_path, make_db, server):
    """Also when it cannot listen: there is no second time."""
    import re
    from harness import Api, Server
    taken = server.url.rsplit("/", 1)[1]
    environment = {key: value for key, value in os.environ.items() if key != "INGOT_ADMIN_PASSWORD"}
    db = make_db()
    options = ["--db", db] if db else []
    run = subprocess.run([binary(), "serve", "--data", tmp_path, "--listen", taken, *options], capture_output=True,
                         text=True, timeout=DEADLINE, env=environment)
    assert run.returncode != 0 and "ready" not in run.stdout
    password = re.search(r"administrator is admin, the password is (\S+)", run.stdout)[1]
    second = Server(db, data=str(tmp_path)).start()
    try:
        assert not any("password" in line for line in second.out)
        assert Api(second.url).sign_in("admin", password).get("session")["user"]["name"] == "admin"
    finally:
        second.remove()


# --- the platform's own log (K10) ---

def test_the_platforms_log(fresh_server, tmp_path):
    """What the server has to say, over its restarts; for those who hold platform.log."""
    server = fresh_server()
    admin = server.admin()
    first = admin.get("log", limit=1000)
    assert first["lines"] and {"place", "at", "level", "thread", "text"} == set(first["lines"][0]), first
    assert any("ready at" in line["text"] for line in first["lines"])
    server.stop()
    server.start()
    admin = server.admin()
    since = admin.get("log", after=first["next"])["lines"]
    assert any("ending" in line["text"] for line in since) and any("ready at" in line["text"] for line in since), since
    assert [line["at"] for line in since] == sorted(line["at"] for line in since)
    newest = admin.get("log", limit=1)["lines"]
    older = admin.get("log", limit=1, before=newest[0]["place"])["lines"]
    assert len(newest) == len(older) == 1 and older[0]["place"] < newest[0]["place"]
    assert all("READY" in line["text"].upper() for line in admin.get("log", q="ReAdY")["lines"])
    assert not [line for line in admin.get("log", level="warn")["lines"] if line["level"] in ("debug", "info")]
    for params, field in (({"level": "loud"}, "level"), ({"limit": 0}, "limit"), ({"limit": 10 ** 9}, "limit"), ({"after": -1}, "after"),
                          ({"before": "x"}, "before"), ({"q": "x" * 201}, "q")):
        assert admin.get("log", expect=422, **params)["field"] == field
    cli = Cli(tmp_path)
    cli.run("login", server.url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD)
    assert "ready at" in cli.run("logs", "--platform", "--level", "info").out
    cli.fails(2, "logs", "--platform", "17", says="--platform")


def test_the_platforms_log_is_for_administrators(project, make_user):
    assert make_user(project, role="owner").get("log", expect=403)["permission"] == "platform.log"
