"""Fixtures of the API tests. INGOT_TEST_DB=postgres runs them all on PostgreSQL instead of SQLite, INGOT_TEST_STORE=s3
with the blobs in a bucket instead of the data folder."""

import os

import pytest
from harness import Api, Postgres, Server, unique
from mariadb import MariaDb
from s3 import S3


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows what the worker's server said."""
    report = (yield).get_result()
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, Server):
        report.sections.append(("the server's log ends with", server.log_tail()))


@pytest.fixture(scope="session")
def postgres():
    """The worker's PostgreSQL cluster."""
    cluster = Postgres()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def make_db(request):
    """A function that gives an empty database's URL, or None for the default in the data folder."""
    if os.environ.get("INGOT_TEST_DB", "sqlite") == "sqlite":
        return lambda: None
    return request.getfixturevalue("postgres").database


@pytest.fixture(scope="session")
def s3():
    """The worker's S3 server."""
    service = S3()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def mariadb():
    """The worker's MariaDB."""
    service = MariaDb()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def make_store(request):
    """A function that gives Server's options for a new place for blobs; the default is the data folder."""
    if os.environ.get("INGOT_TEST_STORE", "local") == "local":
        return dict

    def make() -> dict:
        service = request.getfixturevalue("s3")
        return service.options(service.bucket(), "blobs")
    return make


@pytest.fixture(scope="session")
def server(make_db, make_store):
    """One server for all tests of the worker; it must end cleanly."""
    server = Server(make_db(), **make_store()).start()
    yield server
    server.remove()


def started_servers(make_db, make_store):
    """Yields a function that starts a server; its arguments are Server's."""
    servers = []

    def make(**options) -> Server:
        options.setdefault("db", make_db())
        if "--store" not in options.get("args", ()):
            store = make_store()
            options["args"] = (*options.get("args", ()), *store.get("args", ()))
            options["environment"] = {**(options.get("environment") or {}), **store.get("environment", {})}
        servers.append(Server(**options))
        return servers[-1].start()
    yield make
    for server in servers:
        server.remove()


@pytest.fixture
def fresh_server(make_db, make_store):
    """A function that starts a server of the test's own; its arguments are Server's."""
    yield from started_servers(make_db, make_store)


@pytest.fixture(scope="module")
def fresh_server_module(make_db, make_store):
    """The same for the tests of one file."""
    yield from started_servers(make_db, make_store)


@pytest.fixture(scope="session")
def admin(server) -> Api:
    """The administrator."""
    return server.admin()


@pytest.fixture
def project(admin) -> dict:
    """An empty project."""
    return admin.post("projects", {"name": unique("project")})


@pytest.fixture
def make_user(server, admin):
    """A function that makes a user, a member of a project in a role ("owner", "member", "viewer") if given, and
    gives their client with .user."""

    def make(project: dict | None = None, role: str = "member", **fields) -> Api:
        name = unique("user")
        user = admin.post("users", {"name": name, "password": "pass-word-1", **fields})
        if project:
            wanted = admin.get("roles", filter=f'name = "{role}"')["items"][0]["id"]
            admin.post(f"projects/{project['id']}/members", {"user": user["id"], "role": wanted})
        api = Api(server.url).sign_in(name, "pass-word-1")
        api.user = user
        return api
    return make


@pytest.fixture
def make_set(admin, project):
    """A function that makes a label set in the project."""

    def make(name: str | None = None, **fields) -> dict:
        return admin.post("label-sets", {"project": project["id"], "name": name or unique("set"), **fields})
    return make
