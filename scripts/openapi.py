#!/usr/bin/python3
"""Writes the OpenAPI document of a built program: openapi.py PROGRAM FILE

The document is what a server answers, so one is started on a free port with an empty data folder. FILE is
left alone when nothing in it would change.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

DEADLINE = 120
# The server is on this machine: no proxy of the environment is asked.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_document(url: str, server: subprocess.Popen) -> dict | None:
    """The document, or None when the server ended (its port was taken meanwhile, for one)."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            return None
        try:
            with OPENER.open(url, timeout=DEADLINE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            sys.exit(f"openapi: {url} answered {error.code}: {error.read().decode(errors='replace')}")
        except OSError:
            time.sleep(0.05)
    sys.exit(f"openapi: no answer from {url} in {DEADLINE} s")


def document(program: str) -> dict:
    environment = os.environ | {"INGOT_ADMIN_PASSWORD": secrets.token_urlsafe(24)}
    for _ in range(5):
        with tempfile.TemporaryDirectory(prefix="ingot-openapi-") as folder, tempfile.TemporaryFile("w+") as log:
            port = free_port()
            server = subprocess.Popen([program, "serve", "--data", folder, "--listen", f"127.0.0.1:{port}"],
                                      env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                found = wait_for_document(f"http://127.0.0.1:{port}/api/v1/openapi.json", server)
            finally:
                server.terminate()
                try:
                    server.wait(60)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()
            if found:
                return found
            log.seek(0)
            output = log.read()
    sys.exit(f"openapi: {program} ended with {server.returncode}:\n{output}")


def main() -> None:
    program, out = sys.argv[1], Path(sys.argv[2])
    text = json.dumps(document(program), indent=1, ensure_ascii=False) + "\n"
    if not out.exists() or out.read_text() != text:
        out.write_text(text)


if __name__ == "__main__":
    main()
