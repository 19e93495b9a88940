"""The S3 server and the MariaDB of the API tests for a browser test. The argument is a JSON object of names ("cat/a.png") and files
(base64), which both are given. Prints one line of JSON that says how to reach them, and ends when its input does."""

import base64
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from mariadb import MariaDb  # noqa: E402
from s3 import KEY, SECRET, S3  # noqa: E402


def filled_s3(files: dict[str, bytes]) -> tuple[S3, dict]:
    s3 = S3()
    bucket = s3.bucket()
    for name, data in files.items():
        s3.put(bucket, f"animals/{name}", data)
    return s3, {"url": s3.tls_url, "port": s3.tls_port, "bucket": bucket, "key": KEY, "secret": SECRET, "ca": s3.ca.pem}


def filled_database(files: dict[str, bytes]) -> tuple[MariaDb, dict]:
    maria = MariaDb()
    name = maria.database()
    rows = ", ".join(f"('row-{path.split('/')[1]}', x'{data.hex()}', '{path.split('/')[0]}')" for path, data in files.items())
    maria.sql(f"CREATE TABLE pictures (id VARCHAR(100), bytes LONGBLOB, class VARCHAR(100)); INSERT INTO pictures VALUES {rows}", name)
    return maria, {"port": maria.port, "user": maria.user, "password": maria.password, "database": name, "ca": maria.ca.pem}


files = {name: base64.b64decode(text) for name, text in json.loads(sys.argv[1]).items()}
with ThreadPoolExecutor(2) as pool:
    both = [pool.submit(start, files) for start in (filled_s3, filled_database)]
servers = []
try:
    servers = [one.result() for one in both if not one.exception()]
    for one in both:
        one.result()
    print(json.dumps({"s3": servers[0][1], "database": servers[1][1]}), flush=True)
    sys.stdin.read()
finally:
    for server, _ in servers:
        server.stop()
