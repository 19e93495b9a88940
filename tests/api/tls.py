"""An authority of the tests' own, and certificates of it."""

import subprocess
from pathlib import Path


def run(*arguments) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """Signs certificates for this machine; `file` and `pem` are what one trusts."""

    def __init__(self, folder: Path, name: str = "tests") -> None:
        self.folder = folder
        self.file, self.key = folder / f"{name}-ca.crt", folder / f"{name}-ca.key"
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
            "-keyout", self.key, "-out", self.file, "-subj", f"/CN={name}")
        self.pem = self.file.read_text()

    def certificate(self, name: str, hosts: str = "DNS:localhost,IP:127.0.0.1") -> tuple[Path, Path]:
        """The certificate and its key."""
        key, request, cert, more = (self.folder / f"{name}.{end}" for end in ("key", "csr", "crt", "ext"))
        more.write_text(f"subjectAltName={hosts}\n")
        run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request,
            "-subj", f"/CN={name}")
        run("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", "30",
            "-out", cert, "-extfile", more)
        key.chmod(0o644)  # the server may run as somebody else
        return cert, key
