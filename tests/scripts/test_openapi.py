"""scripts/openapi.py, with a stand-in for the program."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = r"""#!/usr/bin/python3
import http.server, os, sys
if os.environ.get("FAIL"):
    sys.exit("no disk")
assert sys.argv[1:3] == ["serve", "--data"] and os.path.isdir(sys.argv[3]) and sys.argv[4] == "--listen"
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/api/v1/openapi.json" else 404)
        self.end_headers()
        self.wfile.write('{"openapi": "3.1.0", "info": {"title": "名字"}}'.encode())
http.server.HTTPServer(("127.0.0.1", int(sys.argv[5].rsplit(":")[1])), Handler).serve_forever()
"""


@pytest.fixture
def openapi(tmp_path, monkeypatch):
    program, out = tmp_path / "program", tmp_path / "openapi.json"
    program.write_text(PROGRAM)
    program.chmod(0o755)

    def run(**environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return subprocess.run([ROOT / "scripts/openapi.py", program, out], capture_output=True, text=True), out
    return run


def test_the_document_is_written_once(openapi):
    run, out = openapi()
    assert run.returncode == 0, run.stderr
    assert '"title": "名字"' in out.read_text()
    before = out.stat().st_mtime_ns
    run, out = openapi()
    assert run.returncode == 0 and out.stat().st_mtime_ns == before


def test_a_program_that_ends_is_reported(openapi):
    run, out = openapi(FAIL="1")
    assert run.returncode == 1 and "no disk" in run.stderr and not out.exists()
