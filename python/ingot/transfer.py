"""Large things to and from the platform: uploads and downloads that go on after a broken connection, tasks."""

from __future__ import annotations

import bisect
import os
import sys
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Mapping, Sequence, Union, cast

from ._http import httpx
from .collection import Project, Which, _id, _project_id
from .errors import Conflict, ConnectionFailed, IngotError, Problem, Unavailable
from .types import Task

if TYPE_CHECKING:
    from .client import Client

#: True draws a bar on standard error; a function gets what is being done, how much is done, and of how much (0: not known).
Progress = Union[bool, Callable[[str, int, int], None]]

_CHUNK = 16 << 20
_TRIES = 8
_BAR = 24


class TaskFailed(IngotError):
    """A task ended otherwise than done; `task` is how."""

    def __init__(self, task: Task) -> None:
        super().__init__(f"the task was {task['state']}" + (f": {task['message']}" if task["message"] else ""))
        self.task = task


class Meter:
    """Tells about progress; does nothing when nobody wants to know."""

    def __init__(self, progress: Progress, what: str, unit: str = "") -> None:
        self.progress, self.what, self.unit = progress, what, unit
        self.last, self.drawn = 0.0, False

    def show(self, done: int, total: int) -> None:
        if callable(self.progress):
            self.progress(self.what, done, total)
        elif self.progress and (time.monotonic() - self.last > 0.1 or done == total):
            self.draw(done, total)

    def draw(self, done: int, total: int) -> None:
        terminal = sys.stderr.isatty()
        if not terminal and time.monotonic() - self.last < 10 and done != total:
            return
        share = done / total if total else 0.0
        bar = "#" * int(share * _BAR + 0.5)
        amounts = f"{_amount(done, self.unit)} / {_amount(total, self.unit)}" if total else _amount(done, self.unit)
        line = f"{self.what:<10} [{bar:.<{_BAR}}] {share:4.0%}  {amounts}"
        sys.stderr.write(f"\r{line}\x1b[K" if terminal else line + "\n")
        sys.stderr.flush()
        self.last, self.drawn = time.monotonic(), terminal

    def end(self) -> None:
        if self.drawn:
            sys.stderr.write("\n")


def until_over(
    look: Callable[[], Mapping[str, Any]], over: Sequence[str], progress: Progress, what: str, total: int = 0, pause: float = 0.2
) -> None:
    """Looks until the state is one of those. What tells no `done` and `total` of its own is drawn by its state alone."""
    meter = Meter(progress, what)
    try:
        while True:
            now = look()
            ended = now["state"] in over
            whole = int(now.get("total") or total or 1)
            meter.what = f"{what}: {now['state']}"
            meter.show(whole if ended else int(now.get("done") or 0), whole)
            if ended:
                return
            time.sleep(pause)
    finally:
        meter.end()


def _amount(n: float, unit: str) -> str:
    if unit != "B":
        return str(int(n))
    for prefix in ("", "Ki", "Mi", "Gi"):
        if n < 1024:
            return f"{n:.1f} {prefix}B" if prefix else f"{int(n)} B"
        n /= 1024
    return f"{n:.1f} TiB"


class Bundle:
    """A file, or a folder as a tar archive that is never written anywhere, readable at any place."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.top = top = Path(path).resolve()
        self.name = top.name
        self.left_out = 0  # links and special files of a folder
        self.parts: list[tuple[bytes, Path, int]] = []  # header, file, size
        self.starts: list[int] = []
        self.size = 0
        self._open: tuple[int, BinaryIO] | None = None
        if top.is_dir():
            self.name += ".tar"
            for folder, folders, names in os.walk(top):
                folders.sort()
                for name in sorted(names):
                    self._add(Path(folder, name), Path(folder, name).relative_to(top).as_posix())
            if not self.parts:
                raise ValueError(f"{top} holds no files")
            self.size += 2 * tarfile.BLOCKSIZE
        else:
            self._append(b"", top, top.stat().st_size)
            self.size = self.parts[0][2]

    def _add(self, path: Path, name: str) -> None:
        if path.is_symlink() or not path.is_file():
            self.left_out += 1
            return
        info = tarfile.TarInfo(name)
        info.size = path.stat().st_size
        self._append(info.tobuf(tarfile.PAX_FORMAT), path, info.size)

    def _append(self, header: bytes, path: Path, size: int) -> None:
        self.parts.append((header, path, size))
        self.starts.append(self.size)
        self.size += len(header) + -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE

    def files(self) -> list[tuple[Path, str]]:
        """Each file, and its path in the folder (a file alone has its name)."""
        single = len(self.parts) == 1 and not self.parts[0][0]
        return [(path, self.name if single else path.relative_to(self.top).as_posix()) for _, path, _ in self.parts]

    def read(self, offset: int, n: int) -> bytes:
        out = b""
        while len(out) < n:
            out += self._piece(offset + len(out), n - len(out))
        return out

    def _piece(self, offset: int, n: int) -> bytes:
        i = max(bisect.bisect_right(self.starts, offset) - 1, 0)
        header, _, size = self.parts[i]
        at = offset - self.starts[i]
        if at < len(header):
            return header[at : at + n]
        at -= len(header)
        if at < size:
            return self._bytes(i, at, min(n, size - at))
        end = self.starts[i + 1] if i + 1 < len(self.parts) else self.size
        return bytes(min(n, end - offset))

    def _bytes(self, i: int, at: int, n: int) -> bytes:
        if self._open is None or self._open[0] != i:
            self.close()
            self._open = (i, open(self.parts[i][1], "rb"))
        self._open[1].seek(at)
        data = self._open[1].read(n)
        if not data:
            raise OSError(f"{self.parts[i][1]} was changed while it was sent")
        return data

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


def upload(client: Client, bundle: Bundle, project: Project, progress: Progress) -> str:
    """Sends it with tus 1.0; the id of the finished upload."""
    tus = {"Tus-Resumable": "1.0.0"}
    length = {**tus, "Upload-Length": str(bundle.size)}
    answer = client.checked("POST", "uploads", params={"project": _project_id(client, project)}, headers=length)
    id = answer.headers["location"].rsplit("/", 1)[1]
    meter = Meter(progress, "Uploading", "B")
    offset, tries = 0, 0
    while offset < bundle.size:
        meter.show(offset, bundle.size)
        data = bundle.read(offset, min(_CHUNK, bundle.size - offset))
        headers = {**tus, "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
        try:
            answer = client.checked("PATCH", f"uploads/{id}", content=data, headers=headers)
            tries = 0
        except (ConnectionFailed, Unavailable, Conflict):
            tries += 1
            if tries > _TRIES:
                raise
            time.sleep(min(0.1 * 2.0**tries, 5.0))
            answer = client.checked("HEAD", f"uploads/{id}", headers=tus)
        if int(answer.headers["upload-offset"]) > offset:
            tries = 0
        offset = int(answer.headers["upload-offset"])
    meter.show(bundle.size, bundle.size)
    meter.end()
    bundle.close()
    return str(id)


def wait(client: Client, task: Which, progress: Progress, what: str = "Working") -> Task:
    """Until the task is over; KeyboardInterrupt cancels it."""
    meter = Meter(progress, what)
    delay = 0.05
    try:
        while True:
            now = cast(Task, client.request("GET", f"tasks/{_id(task)}"))
            meter.show(now["done"] or 0, now["total"] or 0)
            if now["state"] not in ("waiting", "running"):
                break
            time.sleep(delay)
            delay = min(delay * 1.3, 1.0)
    except KeyboardInterrupt:
        try:
            client.request("POST", f"tasks/{_id(task)}/cancel")
        except Problem:  # it ended meanwhile
            pass
        raise
    finally:
        meter.end()
    if now["state"] != "done":
        raise TaskFailed(now)
    return now


def download(client: Client, path: str, to: Path, progress: Progress) -> Path:
    """The file gets its name when it is whole."""
    head = client.checked("HEAD", path)
    total, etag = int(head.headers["content-length"]), head.headers["etag"]
    part = to.with_name(to.name + ".partial")
    meter = Meter(progress, "Loading", "B")
    try:
        with open(part, "wb") as out:
            tries = 0
            while out.tell() < total:
                before = out.tell()
                headers = {"Range": f"bytes={before}-", "If-Range": etag}
                try:
                    for piece in client.pieces(path, headers, 206):
                        out.write(piece)
                        meter.show(out.tell(), total)
                except (ConnectionFailed, Unavailable, httpx.TransportError):
                    tries = 0 if out.tell() > before else tries + 1
                    if tries > _TRIES:
                        raise
                    time.sleep(min(0.1 * 2.0**tries, 5.0))
        os.replace(part, to)
    finally:
        meter.end()
        part.unlink(missing_ok=True)
    return to
