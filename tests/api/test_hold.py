"""One server per database. Only PostgreSQL can be reached by two: SQLite is in the data folder, which has a lock."""

import os
import platform
import subprocess
import tempfile

import pytest
from harness import DEADLINE, Server, binary, problem, unique, wait_for

pytestmark = pytest.mark.skipif(os.environ.get("INGOT_TEST_DB") != "postgres", reason="is about PostgreSQL")

LOCK = "1768843124, 'public'::regnamespace::oid::int4"
LOCKS = "FROM pg_locks WHERE locktype = 'advisory' AND classid = 1768843124 AND database = " \
        "(SELECT oid FROM pg_database WHERE datname = current_database())"


def write(api):
    return api.call("POST", "specs", json={"name": unique(), "cpus": 1, "memory": 1 << 30})


def test_a_second_server_is_refused_and_takes_over_from_a_killed_one(fresh_server, postgres):
    first = fresh_server()
    pid, made = first.process.pid, first.admin().post("specs", {"name": "kept", "cpus": 1, "memory": 1 << 30})
    with tempfile.TemporaryDirectory() as other:
        run = subprocess.run([binary(), "serve", "--data", other, "--listen", "127.0.0.1:0", "--db", first.db,
                              "--db-wait", "0"], text=True, capture_output=True, timeout=DEADLINE)
    assert run.returncode == 7, run.stderr
    assert f"{platform.node()}, process {pid}, since 20" in run.stderr
    assert write(first.admin()).status_code == 201

    second = Server(first.db, args=("--db-wait", str(DEADLINE)))
    started = postgres.sql("SELECT generation FROM db_holder", first.db)
    try:
        with tempfile.TemporaryFile() as log:
            waiting = subprocess.Popen([binary(), "serve", "--data", second.data, "--listen", "127.0.0.1:0", "--db", first.db,
                                        "--db-wait", str(DEADLINE)], stdout=log, stderr=log)
            wait_for(lambda: b"waiting for its end" in os.pread(log.fileno(), 100_000, 0), "the second server's wait")
            waiting.terminate()
            assert waiting.wait(DEADLINE) == 6  # asked to end: it does, while it waits
        first.kill()
        second.start()
        assert second.admin().get(f"specs/{made['id']}")["name"] == "kept"
        assert int(postgres.sql("SELECT generation FROM db_holder", first.db)) == int(started) + 1
    finally:
        second.remove()


@pytest.fixture
def usurper(postgres):
    """A function that has a session wait for a server's lock, ends the server's session, and gives a function that lets go."""
    sessions = []

    def take(db: str):
        session = subprocess.Popen(["psql", "-X", "-q", "-c", f"SELECT pg_advisory_lock({LOCK})", "-c",
                                    "SELECT pg_sleep(3600)", db], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sessions.append(session)
        waiting = wait_for(lambda: postgres.sql(f"SELECT pid {LOCKS} AND NOT granted", db), "the other session's wait")
        postgres.sql(f"SELECT pg_terminate_backend(pid) {LOCKS} AND granted", db)
        wait_for(lambda: postgres.sql(f"SELECT pid {LOCKS} AND granted", db) == waiting, "the other session's lock")
        return lambda: postgres.sql(f"SELECT pg_terminate_backend({waiting})", db)
    yield take
    for session in sessions:
        session.kill()
        session.wait()


def test_without_its_hold_a_server_does_not_write(fresh_server, usurper):
    server = fresh_server()
    api = server.admin()
    kept = api.post("specs", {"name": "kept", "cpus": 1, "memory": 1 << 30})
    let_go = usurper(server.db)
    wait_for(lambda: api.call("GET", "health").status_code == 503, "the loss")
    problem(write(api), 503, "unavailable", says="lost its hold")
    assert api.get(f"specs/{kept['id']}") == kept
    let_go()
    wait_for(lambda: api.call("GET", "health").status_code == 200, "the hold")
    assert write(api).status_code == 201  # nobody else had written: it goes on
    server.stop()


def test_a_server_ends_when_another_took_over(fresh_server, postgres, usurper):
    server = fresh_server()
    api = server.admin()
    postgres.sql("UPDATE db_holder SET generation = generation + 1, host = 'elsewhere', pid = 7", server.db)
    problem(write(api), 503, "unavailable", says="taken over")  # at once, though the lock's connection is there
    usurper(server.db)
    assert server._ended() == 7
    assert "another server took it (elsewhere, process 7, since 20" in server.stderr
