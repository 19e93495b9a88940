"""A real server for the tests: started, watched, stopped; and a plain client with checks for answers."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from pathlib import Path

import document
import httpx

ROOT = Path(__file__).resolve().parents[2]
DEADLINE = 180  # seconds for anything to become true; a loaded machine with sanitizers is slow
ADMIN_PASSWORD = "correct horse battery"
REPORT = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|ThreadSanitizer|Assertion .* failed")


def binary() -> str:
    if "INGOT_BIN" in os.environ:
        return os.environ["INGOT_BIN"]
    return str(ROOT / "build" / os.environ.get("INGOT_BUILD", "san") / "ingot")


def unique(prefix: str = "t") -> str:
    return f"{prefix}-{uuid.uuid4().hex[:10]}"


def wait_for(condition, what: str):
    """The first true value of condition()."""
    end = time.monotonic() + DEADLINE
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not happen in {DEADLINE} s"
        time.sleep(0.02)


class Postgres:
    """A cluster of its own; a database per server."""

    def __init__(self) -> None:
        self.dir = tempfile.mkdtemp(prefix="ingot-pg-", dir="/tmp")
        os.chmod(self.dir, 0o755)
        out = subprocess.run([ROOT / "scripts/postgres.sh", "start", self.dir], check=True, text=True,
                             stdout=subprocess.PIPE)
        self.url = out.stdout.strip()

    def database(self) -> str:
        name = f"t{uuid.uuid4().hex}"
        self.sql(f'CREATE DATABASE "{name}"')
        return self.url.replace("/ingot?", f"/{name}?")

    def sql(self, text: str, url: str | None = None) -> str:
        run = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text, url or self.url],
                             check=True, text=True, stdout=subprocess.PIPE)
        return run.stdout.strip()

    def lose(self) -> None:
        """Stops it as a crash would; its data stays for `resume`."""
        subprocess.run([ROOT / "scripts/postgres.sh", "stop", self.dir], check=True)

    def resume(self) -> None:
        pg_ctl = f"/usr/lib/postgresql/{sorted(os.listdir('/usr/lib/postgresql'))[-1]}/bin/pg_ctl"
        as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
        subprocess.run([*as_postgres, pg_ctl, "-D", f"{self.dir}/data", "-l", f"{self.dir}/server.log", "-w", "-t", "120", "start"],
                       check=True, cwd=self.dir, stdout=subprocess.DEVNULL)

    def stop(self) -> None:
        self.lose()
        shutil.rmtree(self.dir)


class Server:
    """ingot serve on a free port. start() may be called again after stop() or kill()."""

    def __init__(self, db: str | None = None, data: str | None = None, args: tuple[str, ...] = (),
                 environment: dict[str, str] | None = None, program: str | None = None) -> None:
        self.db, self.args = db, args
        self.program = program  # None: the one that is tested
        self.environment = environment or {}
        self.own_data = data is None
        self.data = data or tempfile.mkdtemp(prefix="ingot-test-")
        self.process: subprocess.Popen | None = None
        self.url = ""
        self.stderr = ""

    def start(self) -> "Server":
        command = [self.program or binary(), "serve", "--data", self.data, "--listen", "127.0.0.1:0", *self.args]
        if self.db:
            command += ["--db", self.db]
        environment = {**os.environ, "INGOT_ADMIN_PASSWORD": ADMIN_PASSWORD, **self.environment}
        if not self.db:  # every write is run twice: they must be able to (src/db/writer.c)
            environment.setdefault("INGOT_REHEARSE", "1")
        self.out: list[str] = []
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=environment)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.url = wait_for(self._ready, "the ready line")
        return self

    def memory(self) -> int:
        """The most it had at once, in bytes."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) * 1024

    def _read(self) -> None:
        for line in self.process.stdout:
            self.out.append(line)

    def _ready(self) -> str | None:
        for line in list(self.out):
            found = re.search(r"Ingot is ready at (https?://\S+)", line)
            if found:
                return found[1]
        assert self.process.poll() is None, f"the server ended with {self.process.returncode}: {self._errors()}"
        return None

    def _errors(self) -> str:
        self.log.seek(0)
        return self.log.read()

    def _ended(self) -> int:
        code = self.process.wait(DEADLINE)
        self.reader.join(DEADLINE)
        self.process.stdout.close()
        self.stderr = self._errors()
        self.log.close()
        self.process = None
        assert not REPORT.search(self.stderr), self.stderr
        return code

    def log_tail(self, size: int = 4000) -> str:
        """What the running server logged last. The file's place is the server's own: it is not moved."""
        if self.process is None:
            return ""
        end = os.fstat(self.log.fileno()).st_size
        return os.pread(self.log.fileno(), size, max(0, end - size)).decode(errors="replace")

    def kill(self) -> None:
        """As a power failure would, as far as a process can be."""
        self.process.send_signal(signal.SIGKILL)
        self._ended()

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        code = self._ended()
        assert code == 0, f"the server ended with {code}: {self.stderr}"

    def remove(self) -> None:
        try:
            self.stop()
        finally:
            if self.own_data:
                shutil.rmtree(self.data, ignore_errors=True)

    def admin(self) -> "Api":
        return Api(self.url).sign_in("admin", ADMIN_PASSWORD)


class Api:
    """A client of /api/v1 without any cleverness."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url
        self.token = token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.Client(base_url=url + "/api/v1/", headers=headers, timeout=DEADLINE, trust_env=False)

    def __enter__(self) -> "Api":
        return self

    def __exit__(self, *exc) -> None:
        self.http.close()

    def sign_in(self, name: str, password: str) -> "Api":
        """Signs in once and goes on with a token, so that no test hangs on cookies."""
        with httpx.Client(base_url=self.url, headers={"Origin": self.url}, timeout=DEADLINE, trust_env=False) as http:
            answer = http.post("/api/v1/sessions", json={"name": name, "password": password})
            assert answer.status_code == 201, answer.text
            answer = http.post("/api/v1/tokens", json={"name": unique("token")})
            assert answer.status_code == 201, answer.text
        self.http.close()
        return Api(self.url, answer.json()["secret"])

    def call(self, method: str, path: str, **options) -> httpx.Response:
        answer = self.http.request(method, path.lstrip("/"), **options)
        document.of(binary()).check(answer)
        return answer

    def get(self, path: str, expect: int = 200, **params):
        answer = self.call("GET", path, params=params)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def post(self, path: str, body=None, expect: int = 201):
        answer = self.call("POST", path, json=body)
        assert answer.status_code == expect, answer.text
        return answer.json() if answer.content else None

    def patch(self, path: str, body, revision: int | None = None, expect: int = 200):
        headers = {} if revision is None else {"If-Match": f'"{revision}"'}
        answer = self.call("PATCH", path, json=body, headers=headers)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def delete(self, path: str, expect: int = 204, **options):
        answer = self.call("DELETE", path, **options)
        assert answer.status_code == expect, answer.text
        return answer.json() if answer.content else None

    def all(self, path: str, **params) -> list[dict]:
        items, cursor = [], None
        while True:
            page = self.get(path, **params, **({"cursor": cursor} if cursor else {}))
            items += page["items"]
            cursor = page["next"]
            if cursor is None:
                return items


def problem(answer: httpx.Response, status: int, code: str, field: str | None = None, says: str = "") -> dict:
    """The answer is this problem document."""
    assert answer.status_code == status, f"{answer.status_code}: {answer.text}"
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (body["status"], body["code"]) == (status, code), body
    assert body["type"] == f"/problems/{code}" and body["title"] and body["detail"]
    if field is not None:
        assert body["field"] == field, body
    assert says in body["detail"], body
    return body
