"""Images made by hand, and a plain client of the registry."""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import httpx
from harness import DEADLINE

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def descriptor(data: bytes, kind: str) -> dict:
    return {"mediaType": kind, "digest": digest(data), "size": len(data)}


def tar(entries) -> bytes:
    """(path, content): bytes are a file, None a folder, a text a link, a TarInfo itself."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        for path, content in entries:
            info = path if isinstance(path, tarfile.TarInfo) else tarfile.TarInfo(path)
            if not isinstance(path, tarfile.TarInfo):
                info.mode = 0o755
                if content is None:
                    info.type = tarfile.DIRTYPE
                elif isinstance(content, str):
                    info.type, info.linkname = tarfile.SYMTYPE, content
            if isinstance(content, bytes):
                info.size = len(content)
                t.addfile(info, io.BytesIO(content))
            else:
                t.addfile(info)
    return out.getvalue()


class Image:
    """A manifest with its blobs; of layers as tars."""

    def __init__(self, layers, config: dict | None = None, arch: str = "amd64", **manifest) -> None:
        self.layers = [gzip.compress(raw, 1, mtime=0) for raw in layers]
        self.config = json.dumps({"architecture": arch, "os": "linux", "config": config or {},
                                  "rootfs": {"type": "layers", "diff_ids": [digest(raw) for raw in layers]}}).encode()
        self.manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST,
                                    "config": descriptor(self.config, CONFIG),
                                    "layers": [descriptor(b, LAYER) for b in self.layers], **manifest}).encode()
        self.digest = digest(self.manifest)

    @property
    def blobs(self) -> list[bytes]:
        return [self.config, *self.layers]

    def save(self, folder: Path, tag: str = "latest") -> str:
        """An OCI layout; what skopeo calls it."""
        blobs = folder / "blobs" / "sha256"
        blobs.mkdir(parents=True)
        for data in [*self.blobs, self.manifest]:
            (blobs / digest(data)[7:]).write_bytes(data)
        (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [
            {**descriptor(self.manifest, MANIFEST), "annotations": {"org.opencontainers.image.ref.name": tag}}]}))
        return f"oci:{folder}:{tag}"


def small(text: str = "hello") -> Image:
    return Image([tar([("hello.txt", text.encode())])])


def system(more=(), config: dict | None = None, arch: str = "amd64") -> Image:
    """One that runs: a few of this machine's programs with their libraries, and a layer more."""
    files = {}
    for program in ["sh", "cat", "ls", "id", "touch", "rm", "mkdir", "sleep", "env"]:
        path = os.path.realpath(f"/usr/bin/{program}")
        files[f"usr/bin/{program}"] = path
        for lib in re.findall(r"(/\S+)", subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout):
            inside = lib.lstrip("/") if lib.startswith("/usr/") else "usr" + lib
            files[inside] = os.path.realpath(lib)
    base = [(d, None) for d in ("usr", "usr/bin", "usr/lib", "usr/lib64", "tmp", "etc")]
    base += [("bin", "usr/bin"), ("lib", "usr/lib"), ("lib64", "usr/lib64")]
    base += [(name, Path(path).read_bytes()) for name, path in sorted(files.items())]
    base += [("etc/passwd", b"root:x:0:0::/:/bin/sh\nbob:x:1000:1000::/:/bin/sh\n"), ("etc/old", b"x"),
             ("data/a", b"1"), ("data/b", b"2")]
    return Image([tar(base), *([tar(more)] if more else [])], config, arch)


class Registry:
    """/v2 with name and password, or a bearer token."""

    def __init__(self, url: str, auth=None, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.http = httpx.Client(base_url=url, auth=auth, headers=headers, timeout=DEADLINE, trust_env=False)

    def call(self, method: str, path: str, expect: int | None = None, **options) -> httpx.Response:
        answer = self.http.request(method, "/v2/" + path, **options)
        if expect is not None:
            assert answer.status_code == expect, f"{answer.status_code}: {answer.text}"
        return answer

    def refused(self, method: str, path: str, status: int, code: str, says: str = "", **options) -> httpx.Response:
        answer = self.call(method, path, status, **options)
        error = answer.json()["errors"][0]
        assert error["code"] == code and says in error["message"], error
        return answer

    def blob(self, repository: str, data: bytes) -> None:
        self.call("POST", f"{repository}/blobs/uploads/", 201, params={"digest": digest(data)}, content=data,
                  headers={"Content-Type": "application/octet-stream"})

    def push(self, repository: str, image: Image, tag: str = "latest") -> None:
        for data in image.blobs:
            self.blob(repository, data)
        self.put(repository, image.manifest, tag)

    def put(self, repository: str, manifest: bytes, reference: str, kind: str = MANIFEST, expect: int = 201):
        return self.call("PUT", f"{repository}/manifests/{reference}", expect, content=manifest,
                         headers={"Content-Type": kind})

    def tags(self, repository: str, **params) -> list[str]:
        return self.call("GET", f"{repository}/tags/list", 200, params=params).json()["tags"]
