"""The beginning of a root file system: the essential packages' files as one tar, not configured yet. dpkg inside of it installs
them a second time, with their scripts. Nothing is written but the tar: owners and modes need no rights here."""

import io
import subprocess
import tarfile
from pathlib import Path

# Debian's merged /usr: what packages still have in these folders lands below /usr.
MERGED = {"amd64": ("bin", "sbin", "lib", "lib64"), "": ("bin", "sbin", "lib")}
LEFT_OUT = ("usr/share/man/", "usr/share/locale/", "usr/share/info/", "usr/share/doc/")
FOLDERS = ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/lib/dpkg/alternatives", "run", "tmp", "proc", "sys", "dev")
FILES = {
    "var/lib/dpkg/status": ("", 0o644),
    "var/lib/dpkg/available": ("", 0o644),
    "etc/dpkg/dpkg.cfg.d/ingot": ("".join(f"path-exclude=/{folder}*\n" for folder in LEFT_OUT) + "path-include=/usr/share/doc/*/copyright\n"
                                  "force-unsafe-io\n", 0o644),
    "usr/sbin/policy-rc.d": ("#!/bin/sh\nexit 101\n", 0o755),  # no service starts while packages are configured
}


def left_out(path: str) -> bool:
    return path.startswith(LEFT_OUT) and not path.endswith("/copyright")


def merged(path: str, top: tuple[str, ...]) -> str:
    first = path.split("/", 1)[0]
    return f"usr/{path}" if first in top else path


class Writer:
    def __init__(self, out: tarfile.TarFile, top: tuple[str, ...]):
        self.out, self.top, self.there = out, top, set()

    def folder(self, path: str, mode: int = 0o755) -> None:
        if path and path not in self.there:
            self.folder(path.rpartition("/")[0])
            self.there.add(path)
            info = tarfile.TarInfo(path)
            info.type, info.mode = tarfile.DIRTYPE, mode
            self.out.addfile(info)

    def text(self, path: str, text: str, mode: int) -> None:
        self.folder(path.rpartition("/")[0])
        info = tarfile.TarInfo(path)
        info.size, info.mode = len(text), mode
        self.there.add(path)
        self.out.addfile(info, io.BytesIO(text.encode()))

    def link(self, path: str, to: str) -> None:
        info = tarfile.TarInfo(path)
        info.type, info.linkname = tarfile.SYMTYPE, to
        self.there.add(path)
        self.out.addfile(info)

    def member(self, archive: tarfile.TarFile, info: tarfile.TarInfo) -> None:
        path = merged(info.name.removeprefix("./").strip("/"), self.top)
        if path in ("", "."):
            return
        if path in self.there or left_out(path) or path.removeprefix("usr/") in self.top and not info.isdir():
            return
        self.folder(path.rpartition("/")[0])
        self.there.add(path)
        body = archive.extractfile(info) if info.isreg() else None
        info.name, info.pax_headers = path, {}
        if info.islnk():
            info.linkname = merged(info.linkname.removeprefix("./").strip("/"), self.top)
        self.out.addfile(info, body)


def arch() -> str:
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def write(debs: list[Path], target: Path) -> None:
    """The same packages give the same bytes."""
    here = arch()
    top = MERGED.get(here, MERGED[""])
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as out:
        w = Writer(out, top)
        for name in top:
            w.folder(f"usr/{name}")
            w.link(name, f"usr/{name}")
        for path in FOLDERS:
            w.folder(path, 0o1777 if path == "tmp" else 0o755)
        for path, (text, mode) in FILES.items():
            w.text(path, text, mode)
        w.text("var/lib/dpkg/arch", f"{here}\n", 0o644)
        for deb in sorted(debs):
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE) as process, \
                    tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                for info in archive:
                    w.member(archive, info)
            if process.returncode != 0:
                raise OSError(f"{deb.name} cannot be unpacked")
