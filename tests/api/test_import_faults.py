"""Imports of what is odd, too large or hostile, and imports that end early: nothing is lost silently, and no half version is
left."""

import contextlib
import io
import json
import os
import sqlite3
import struct
import subprocess
import tarfile
import zipfile
import zlib

import pytest
from harness import DEADLINE, problem, unique, wait_for
from PIL import Image, ImageDraw
from test_datasets import (PICTURES, annotate, bring, coco, dataset, finished, png, report, samples,  # noqa: F401
                           upload, version, zipped)
from test_faults import small_disk  # noqa: F401


def encoded(image: Image.Image, form: str, **options) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def content(api, version: str, sample: dict, what: str = "content") -> Image.Image:
    answer = api.call("GET", f"{version}/samples/{sample['id']}/{what}")
    assert answer.status_code == 200, answer.text
    return Image.open(io.BytesIO(answer.content))


# --- pictures ---

def rotated(orientation: int) -> bytes:
    """Upright it is 60 x 40, white, with a red box at 10, 20 of 15 x 10; stored as a camera that was turned does."""
    upright = Image.new("RGB", (60, 40), "white")
    ImageDraw.Draw(upright).rectangle((10, 20, 24, 29), fill="red")
    stored = {1: upright, 3: upright.transpose(Image.Transpose.ROTATE_180), 6: upright.transpose(Image.Transpose.ROTATE_90),
              8: upright.transpose(Image.Transpose.ROTATE_270)}[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(stored, "JPEG", quality=95, subsampling=0, exif=exif)


def is_red(pixel: tuple) -> bool:
    return pixel[0] > 180 and pixel[1] < 90 and pixel[2] < 90


def test_boxes_and_pixels_agree_on_turned_pictures(admin, project, version):
    turns = (1, 3, 6, 8)
    boxes = coco([{"id": i, "file_name": f"{i}.jpg", "width": 60, "height": 40} for i in turns],
                 [{"id": i, "image_id": i, "category_id": 1, "bbox": [10, 20, 15, 10]} for i in turns],
                 [{"id": 1, "name": "red"}])
    bring(admin, project, version, "turned.zip", zipped({**{f"{i}.jpg": rotated(i) for i in turns}, "a.json": boxes}))
    found = samples(admin, version)
    assert [(s["width"], s["height"]) for s in found] == [(60, 40)] * 4
    for s in found:
        [box] = s["annotation"]["shapes"]
        assert (box["x"], box["y"], box["w"], box["h"]) == (10, 20, 15, 10)
        small = content(admin, version, s, "thumbnail")
        assert small.width > small.height
    task = finished(admin, admin.post(f"{version}/preprocess", {"steps": [{"op": "crop", "x": 10, "y": 20, "w": 15, "h": 10}]},
                                      expect=202))
    cut = version.rsplit("/", 1)[0] + f"/{task['subject']}"
    for s in samples(admin, cut):
        picture = content(admin, cut, s).convert("RGB")
        assert picture.size == (15, 10)
        assert all(is_red(picture.getpixel(at)) for at in ((2, 2), (12, 2), (2, 7), (12, 7), (7, 5)))


def test_unusual_pictures(admin, project, version):
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("red", "green", "blue")]
    pictures = {
        "cmyk.jpg": encoded(Image.new("CMYK", (31, 21), (0, 255, 255, 0)), "JPEG"),
        "deep.png": encoded(Image.new("I;16", (32, 22), 40000), "PNG"),
        "moving.gif": encoded(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100),
        "moving.webp": encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=100),
        "moving.png": encoded(frames[0], "PNG", save_all=True, append_images=frames[1:], duration=100),
        "clear.png": encoded(Image.new("RGBA", (33, 23), (255, 0, 0, 0)), "PNG"),
        "palette.png": encoded(Image.new("P", (34, 24), 3), "PNG"),
        "bits.tif": encoded(Image.new("1", (35, 25), 1), "TIFF"),
    }
    task = bring(admin, project, version, "odd.zip", zipped(pictures))
    found = {s["name"]: s for s in samples(admin, version)}
    left_out = {line["file"] for line in report(admin, task)} if task["problems"] else set()
    assert found.keys() | left_out == pictures.keys(), "nothing is lost silently"
    assert found.keys() >= {"cmyk.jpg", "deep.png", "moving.gif", "moving.png", "clear.png", "palette.png"}
    for name, s in found.items():
        assert (s["width"], s["height"]) == Image.open(io.BytesIO(pictures[name])).size
        small = content(admin, version, s, "thumbnail")
        assert (small.format, small.mode) == ("JPEG", "RGB") or small.mode == "L"
    assert is_red(content(admin, version, found["cmyk.jpg"], "thumbnail").convert("RGB").getpixel((10, 10)))
    assert is_red(content(admin, version, found["moving.gif"], "thumbnail").convert("RGB").getpixel((10, 10)))


def test_an_enormous_picture(admin, project, version):
    """60,000 x 60,000, and only the first rows are there. No memory is taken for it."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = zlib.compress(bytes(7501) * 100)
    enormous = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 1, 0, 0, 0, 0))
                + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    task = bring(admin, project, version, "x.zip", zipped({"enormous.png": enormous, "small.png": png(5, 5)}))
    found = {s["name"]: s for s in samples(admin, version)}
    assert found.keys() == {"small.png"}
    [line] = report(admin, task)
    assert line["file"] == "enormous.png" and "over the limit" in line["reason"]


# --- archives ---

def test_bombs_are_refused(admin, project, version, tmp_path):
    """300 MiB of zeros in a few KB."""
    (tmp_path / "zeros.png").touch()
    os.truncate(tmp_path / "zeros.png", 300 << 20)
    subprocess.run(["tar", "--zstd", "-cf", "bomb.tar.zst", "zeros.png"], cwd=tmp_path, check=True)
    task = bring(admin, project, version, "bomb.tar.zst", (tmp_path / "bomb.tar.zst").read_bytes(), state="failed")
    assert "unpacks to more than" in task["message"]
    assert samples(admin, version) == []


# --- imports that end early ---

def limit(api, project: dict, size: int) -> None:
    now = api.get(f"projects/{project['id']}")
    api.patch(f"projects/{project['id']}", {"quota": {"storage": size}}, now["revision"])


def test_the_storage_limit_holds_for_imports(admin, project, version):
    big = os.urandom(5000)
    pictures = {name: data + big for name, data in PICTURES.items()}
    archive = zipped({**pictures, "same/again.png": pictures["images/000.png"]})
    need = sum(len(data) for data in pictures.values())
    sent = upload(admin, project, archive)

    def run(state: str) -> dict:
        return finished(admin, admin.post(f"{version}/import", {"uploads": [{"upload": sent, "name": "a.zip"}]}, expect=202), state)
    limit(admin, project, need - 1)
    assert "may store" in run("failed")["message"]
    assert samples(admin, version) == []
    limit(admin, project, need)
    assert run("done")["result"]["added"] == 13
    assert run("done")["result"]["same"] == 13, "what is stored already takes no more room"
    refused = admin.call("POST", "uploads", params={"project": project["id"]},
                         headers={"Tus-Resumable": "1.0.0", "Upload-Length": "1000"})
    problem(refused, 507, "quota", "storage")
    limit(admin, project, 100)
    zeros = zipped({"a.png": bytes(200)})
    refused = admin.call("POST", "uploads", params={"project": project["id"]},
                         headers={"Tus-Resumable": "1.0.0", "Upload-Length": str(len(zeros))})
    problem(refused, 507, "quota", "storage")


def test_a_full_disk(fresh_server, small_disk):  # noqa: F811
    """The bytes have no room: 503, nothing half, and it goes on when there is room again."""
    server = fresh_server(data=small_disk)
    api = server.admin()
    project = api.post("projects", {"name": unique("p")})
    made = api.post("datasets", {"name": "d", "project": project["id"]})
    version = f"datasets/{made['id']}/versions/" + str(api.post(f"datasets/{made['id']}/versions", {})["id"])
    archive = zipped({f"{i}.png": png(10, 10, i) + os.urandom(700_000) for i in range(8)})
    sent = upload(api, project, archive)
    with open(f"{small_disk}/filler", "wb") as filler:
        room = os.statvfs(small_disk)
        filler.write(bytes(max(room.f_bavail * room.f_frsize - (3 << 20), 0)))
    failed = finished(api, api.post(f"{version}/import", {"uploads": [{"upload": sent, "name": "a.zip"}]}, expect=202), "failed")
    assert "No space left" in failed["message"]
    assert samples(api, version) == []
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": str(6 << 20)}
    path = api.call("POST", "uploads", params={"project": project["id"]}, headers=tus).headers["location"].removeprefix("/api/v1/")
    headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    answer = api.call("PATCH", path, content=bytes(6 << 20), headers=headers)
    problem(answer, 503, "unavailable", says="No space left")
    api.call("DELETE", path, headers={"Tus-Resumable": "1.0.0"})
    os.unlink(f"{small_disk}/filler")
    finished(api, api.post(f"{version}/import", {"uploads": [{"upload": sent, "name": "a.zip"}]}, expect=202))
    assert len(samples(api, version)) == 8
    server.stop()


# --- ends while samples are put: all of it is taken back ---

def in_database(server, sqlite: str, postgres: str) -> None:
    """Runs a script in the server's database, beside the server."""
    if server.db:
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", postgres, server.db], check=True)
        return
    with contextlib.closing(sqlite3.connect(f"{server.data}/ingot.db", timeout=DEADLINE)) as db:
        db.executescript(sqlite)


def at_sample(server, name: str, sqlite: str, postgres: str) -> None:
    """Does something in the very write that puts the sample of this name."""
    in_database(server, f"CREATE TRIGGER halfway BEFORE INSERT ON samples WHEN NEW.name = '{name}' BEGIN {sqlite}; END;",
                f"CREATE FUNCTION halfway() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.name = '{name}' THEN {postgres};"
                " END IF; RETURN NEW; END $$; CREATE TRIGGER halfway BEFORE INSERT ON samples FOR EACH ROW EXECUTE FUNCTION halfway();")


@pytest.fixture
def halfway(server):
    yield at_sample
    in_database(server, "DROP TRIGGER IF EXISTS halfway;",
                "DROP TRIGGER IF EXISTS halfway ON samples; DROP FUNCTION IF EXISTS halfway();")


def everything(api, version: str) -> tuple:
    """All that an import may change, but for the numbers of revisions."""
    rows, after = [], 0
    while page := api.get(f"{version}/samples", state="any", after=after, limit=500)["items"]:
        rows += [{k: s[k] for k in ("id", "name", "position", "size", "state", "by_person", "annotation", "digest") if k in s} for s in page]
        after = page[-1]["position"]
    about = api.get(version)
    return rows, api.get(f"{version}/statistics"), {k: about[k] for k in ("samples", "annotated", "bytes") if k in about}


def texts(lines: list[dict]) -> bytes:
    return zipped({"ingot.jsonl": "".join(json.dumps(x) + "\n" for x in lines).encode()})


@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_an_import_that_ends_while_putting_changes_nothing(server, admin, project, halfway, end):
    made = admin.post("datasets", {"project": project["id"], "name": unique("set"), "data_type": "text", "annotation_type": "text-class"})
    number = admin.post(f"datasets/{made['id']}/versions", {})["id"]
    version = f"datasets/{made['id']}/versions/{number}"
    old = [{"file": f"{i}.txt", "content": f"old {i % 7}", "annotation": {"labels": ["a"]}} for i in range(30)]
    bring(admin, project, version, "old.zip", texts([*old, {"file": "later.txt", "split": "val", "annotation": {"labels": ["waits"]}}]))
    first = samples(admin, version)[0]
    annotate(admin, version, first, {"annotation": {"labels": ["b"]}, "state": "accepted"})
    before = everything(admin, version)

    # Three writes of 1,000: changed and new samples, one that an annotation waits for, one that waits; the last brings the end.
    new = [{"file": f"{i}.txt", "content": "new", "annotation": {"labels": ["c"]}} for i in range(20)]
    new += [{"file": "later.txt", "content": "came", "split": "test", "annotation": {"labels": ["e"]}}, {"file": "never.txt", "annotation": {"labels": ["d"]}}]
    new += [{"file": f"new-{i:04}.txt", "content": "same", "annotation": {"labels": ["c"]}} for i in range(2500)]
    cancel = "UPDATE tasks SET cancel = 1 WHERE state = 'running' AND type = 'import'"
    halfway(server, "new-2450.txt", *((cancel, cancel) if end == "cancelled" else ("SELECT RAISE(ABORT, 'no')", "RAISE EXCEPTION 'no'")))
    task = bring(admin, project, version, "new.zip", texts(new), state=end, replace=True)
    assert not admin.call("GET", f"tasks/{task['id']}/report").text.count("taken back")
    assert everything(admin, version) == before
    history = admin.get(f"{version}/samples/{first['id']}/history")["items"]
    assert {"c"} in [set(h["annotation"].get("labels", [])) for h in history]

    # What waited waits again, what was to wait does not; and the import can be repeated whole.
    in_database(server, "DROP TRIGGER halfway;", "DROP TRIGGER halfway ON samples; DROP FUNCTION halfway();")
    bring(admin, project, version, "later.zip", texts([{"file": "later.txt", "content": "came"}, {"file": "never.txt", "content": "x"}]))
    found = {s["name"]: (s["annotation"], s["split"]) for q in ("l", "never") for s in samples(admin, version, q=q)}
    assert found == {"later.txt": ({"labels": ["waits"]}, "val"), "never.txt": ({}, None)}
    result = bring(admin, project, version, "new.zip", texts(new), replace=True)["result"]
    assert (result["added"], result["changed"]) == (2500, 22)
    assert admin.get(version)["samples"] == 2532


def test_nothing_is_left_of_a_killed_import(fresh_server):
    """Killed while it unpacks, cancelled after the restart: no sample, and the collector finds every blob."""
    server = fresh_server()
    api = server.admin()
    project = api.post("projects", {"name": unique("p")})
    made = api.post("datasets", {"name": "d", "project": project["id"]})
    version = f"datasets/{made['id']}/versions/" + str(api.post(f"datasets/{made['id']}/versions", {})["id"])
    sent = upload(api, project, zipped({f"{i:04}.png": png(16, 16, i) for i in range(4000)}))

    def on_disk() -> int:
        return sum(len(files) for _, _, files in os.walk(f"{server.data}/blobs/sha256"))
    task = api.post(f"{version}/import", {"uploads": [{"upload": sent, "name": "a.zip"}]}, expect=202)
    wait_for(lambda: on_disk() > 100, "some blobs")
    server.kill()
    server.start()
    api = server.admin()
    assert on_disk() > 100
    api.call("POST", f"tasks/{task['id']}/cancel")
    over = wait_for(lambda: (t := api.get(f"tasks/{task['id']}"))["state"] not in ("waiting", "running") and t, "the end")
    assert len(samples(api, version, limit=10)) == (0 if over["state"] == "cancelled" else 10)
    in_database(server, "UPDATE blobs SET touched_at = 0;", "UPDATE blobs SET touched_at = 0")  # an hour later

    def collected() -> bool:
        for controller in ("collect-versions", "collect-manifests", "collect-blobs"):
            api.call("POST", f"controllers/{controller}/run")
        return on_disk() < 50 or over["state"] == "done"
    wait_for(collected, "the collector")


# --- every kind of archive ---

def stored_rar(files: dict[str, bytes]) -> bytes:
    """RAR 4 without compression, as its format says: each header begins with the lower half of its CRC-32."""
    def header(kind: int, flags: int, rest: bytes) -> bytes:
        body = struct.pack("<BHH", kind, flags, 7 + len(rest)) + rest
        return struct.pack("<H", zlib.crc32(body) & 0xffff) + body

    out = b"Rar!\x1a\x07\x00" + header(0x73, 0, bytes(6))
    for name, data in files.items():
        about = struct.pack("<IIBIIBBHI", len(data), len(data), 3, zlib.crc32(data), 0x5a8f0000, 20, 0x30, len(name), 0o100644)
        out += header(0x74, 0x8000, about + name.encode()) + data
    return out + header(0x7b, 0x4000, b"")


def packed(kind: str, files: dict[str, bytes], folder) -> bytes:
    if kind == "rar":
        return stored_rar(files)
    if kind.startswith("tar"):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode={"tar": "w", "tar.gz": "w:gz", "tar.xz": "w:xz", "tar.zst": "w"}[kind]) as t:
            for name, data in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
        if kind != "tar.zst":
            return out.getvalue()
        return subprocess.run(["zstd", "-q", "-c"], input=out.getvalue(), capture_output=True, check=True).stdout
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    subprocess.run(["bsdtar", "--format", "7zip", "-cf", "../a.7z", *files], cwd=folder, check=True,
                   env=os.environ | {"LC_ALL": "C.UTF-8"})
    return (folder.parent / "a.7z").read_bytes()


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz", "tar.zst", "rar", "7z"])
def test_every_kind_of_archive(admin, project, version, tmp_path, kind):
    boxes = coco([{"id": 0, "file_name": "x/0.png", "width": 9, "height": 8}],
                 [{"id": 1, "image_id": 0, "category_id": 0, "bbox": [1, 2, 3, 4]}], [{"id": 0, "name": "cat"}])
    files = {**{f"x/{i}.png": png(9, 8, i) for i in range(3)}, "train.json": boxes}
    folder = tmp_path / "in"
    folder.mkdir()
    task = bring(admin, project, version, f"a.{kind}", packed(kind, files, folder))
    assert (task["result"]["format"], task["result"]["added"], task["result"]["taken"]) == ("coco", 3, 1)
    found = samples(admin, version)
    assert [s["name"] for s in found] == ["x/0.png", "x/1.png", "x/2.png"]
    assert found[0]["annotation"]["shapes"] == [{"h": 4, "label": "cat", "type": "box", "w": 3, "x": 1, "y": 2}]
    for s in found:
        assert admin.call("GET", f"{version}/samples/{s['id']}/content").content == files[s["name"]]


@pytest.mark.parametrize("kind", ["zip", "tar", "7z"])
def test_names_in_every_script(admin, project, version, tmp_path, kind):
    """In, and out again, where the zip says that its names are UTF-8."""
    files = {f"{name}.png": png(9, 8, i) for i, name in enumerate(("猫", "é", "日本/語", "한국어", "emoji😀", "ﷺ"))}
    folder = tmp_path / "in"
    folder.mkdir()
    data = zipped(files) if kind == "zip" else packed(kind, files, folder)
    task = bring(admin, project, version, f"a.{kind}", data)
    assert task["result"]["added"] == len(files) and not report(admin, task)
    assert {s["name"] for s in samples(admin, version)} == set(files)
    task = finished(admin, admin.post(f"{version}/export", {"format": "files"}, expect=202))
    with zipfile.ZipFile(io.BytesIO(admin.call("GET", f"tasks/{task['id']}/download").content)) as z:
        assert {name for name in z.namelist() if name.endswith(".png")} == set(files)


def rar5(files: dict[str, bytes], volume: bool = False, encrypted: bool = False, copy: str | None = None) -> bytes:
    """RAR 5 without compression, as its format says. copy: a file that is noted to be the same as the first one."""
    def vint(n: int) -> bytes:
        return bytes([n & 0x7f | 0x80]) + vint(n >> 7) if n > 0x7f else bytes([n])

    def block(kind: int, body: bytes, extra: bytes = b"", data: bytes | None = None) -> bytes:
        flags = (1 if extra else 0) | (2 if data is not None else 0)
        sizes = (vint(len(extra)) if extra else b"") + (vint(len(data)) if data is not None else b"")
        head = vint(kind) + vint(flags) + sizes + body + extra
        sized = vint(len(head)) + head
        return struct.pack("<I", zlib.crc32(sized)) + sized + (data or b"")

    def record(kind: int, body: bytes) -> bytes:
        return vint(len(vint(kind) + body)) + vint(kind) + body

    def file(name: str, data: bytes, size: int, extra: bytes = b"") -> bytes:
        body = vint(4) + vint(size) + vint(0o100644) + struct.pack("<I", zlib.crc32(data)) + vint(0) + vint(1) + vint(len(name.encode())) + name.encode()
        return block(2, body, extra, data)

    secret = record(1, vint(0) + vint(0) + bytes([15]) + bytes(32)) if encrypted else b""
    out = b"Rar!\x1a\x07\x01\x00" + block(1, vint(1 if volume else 0))
    for name, data in files.items():
        out += file(name, data, len(data), secret)
    if copy:
        first = next(iter(files))
        out += file(copy, b"", len(files[first]), record(5, vint(5) + vint(0) + vint(len(first)) + first.encode()))
    return out + block(5, vint(0))


def test_rar_archives(admin, project, version):
    """RAR 5 is read. What libarchive would give out wrong or leave out in silence is refused or told."""
    files = {"a/0.png": png(9, 8), "猫.png": png(9, 8, 1)}
    assert not bring(admin, project, version, "a.rar", rar5(files))["problems"]
    assert {s["name"]: admin.call("GET", f"{version}/samples/{s['id']}/content").content for s in samples(admin, version)} == files
    solid = bytearray(stored_rar(files))
    solid[10] |= 8
    parts = bytearray(stored_rar(files))
    parts[10] |= 1
    for name, data, says in (("e.rar", rar5(files, encrypted=True), "encrypted"), ("c.rar", rar5(files, copy="copy.png"), "equal files"), ("a.part2.rar", rar5(files, volume=True), "several volumes"),
                             ("s.rar", bytes(solid), "solid archive of RAR 4"), ("v.rar", bytes(parts), "several volumes")):
        message = bring(admin, project, version, name, data, state="failed")["message"]
        assert f'"{name}"' in message and says in message
    assert len(samples(admin, version)) == 2


def test_sparse_files(admin, project, version, tmp_path):
    """What a tar leaves out because it is zero comes back, in the middle and at the end."""
    picture = png(9, 8) + bytes(1 << 20) + b"middle" + bytes(1 << 20)
    with open(tmp_path / "a.png", "wb") as f:
        f.write(png(9, 8))
        f.seek(1 << 20, 1)
        f.write(b"middle")
        f.truncate(len(picture))
    for form in ("gnu", "pax"):
        subprocess.run(["tar", "--format", form, "-Scf", f"{form}.tar", "a.png"], cwd=tmp_path, check=True)
        assert (tmp_path / f"{form}.tar").stat().st_size < 1 << 20
        task = bring(admin, project, version, f"{form}.tar", (tmp_path / f"{form}.tar").read_bytes())
        assert not task["problems"]
        [s] = samples(admin, version)
        assert admin.call("GET", f"{version}/samples/{s['id']}/content").content == picture
    os.truncate(tmp_path / "a.png", 1 << 43)
    subprocess.run(["tar", "-Scf", "bomb.tar", "a.png"], cwd=tmp_path, check=True)
    assert "unpacks to more than" in bring(admin, project, version, "bomb.tar", (tmp_path / "bomb.tar").read_bytes(), state="failed")["message"]


def test_sizes_that_an_archive_does_not_keep(admin, project, version):
    """A damaged zip: what came out is not what was said, so it is not taken."""
    data = zipped({"a.png": png(9, 8), "b.png": png(30, 30)})
    for magic, name, offset in ((b"PK\x03\x04", data.index(b"b.png"), 22), (b"PK\x01\x02", data.rindex(b"b.png"), 24)):
        at = data.rindex(magic, 0, name) + offset
        data = data[:at] + struct.pack("<I", 7) + data[at + 4:]
    task = bring(admin, project, version, "a.zip", data)
    assert [s["name"] for s in samples(admin, version)] == ["a.png"]
    assert [line["file"] for line in report(admin, task)] == ["b.png"]


def test_the_report_names_the_archive(admin, project, version):
    whole = zipped({f"{i}.png": png(30, 30, i) for i in range(20)})
    def run(state: str, **archives: bytes) -> dict:
        sent = [{"upload": upload(admin, project, data), "name": f"{name}.zip"} for name, data in archives.items()]
        return finished(admin, admin.post(f"{version}/import", {"uploads": sent}, expect=202), state)
    task = run("done", whole=zipped({"x.png": png(9, 8)}), cut=whole[:len(whole) // 2])
    assert "cut.zip" in {line["file"] for line in report(admin, task)}
    assert '"bad.zip" cannot be read' in run("failed", good=zipped({"y.png": png(9, 8)}), bad=b"PK\x03\x04 no archive")["message"]
    assert "y.png" not in {s["name"] for s in samples(admin, version)}


def test_names_that_no_file_can_have(admin, project, version):
    """One bad record is left out; the others are taken."""
    names = ["a.png", "b\0c.png", "../../etc/passwd", "x" * 999]
    boxes = coco([{"id": i, "file_name": name, "width": 9, "height": 8} for i, name in enumerate(names)],
                 [{"id": i, "image_id": i, "category_id": i % 2, "bbox": [1, 2, 3, 4]} for i in range(4)],
                 [{"id": 0, "name": "cat"}, {"id": 1, "name": "d\0g"}])
    task = bring(admin, project, version, "a.zip", zipped({"a.png": png(9, 8), "a.json": boxes}))
    [s] = samples(admin, version)
    assert [x["label"] for x in s["annotation"]["shapes"]] == ["cat"]
    told = {(line["file"], line["position"]) for line in report(admin, task)}
    assert told >= {("a.json", "categories[1]"), ("a.json", "annotations[1]"), ("a.json", "annotations[3]"), ("a.json", "images[1]")}


def test_what_is_no_file_in_an_archive(admin, project, version):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        for name, kind in (("null.png", tarfile.CHRTYPE), ("disk.png", tarfile.BLKTYPE), ("pipe.png", tarfile.FIFOTYPE),
                           ("hard.png", tarfile.LNKTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd" if kind == tarfile.LNKTYPE else ""
            t.addfile(info)
        info = tarfile.TarInfo("ok.png")
        info.size = len(png(4, 4))
        t.addfile(info, io.BytesIO(png(4, 4)))
    task = bring(admin, project, version, "a.tar", out.getvalue())
    assert [s["name"] for s in samples(admin, version)] == ["ok.png"]
    assert {line["file"] for line in report(admin, task)} == {"null.png", "disk.png", "pipe.png", "hard.png"}


def test_a_forced_format(admin, project, version):
    """What is found by itself is COCO; forced to be LabelMe nothing is taken, and each file is accounted for."""
    boxes = coco([{"id": 0, "file_name": "0.png", "width": 9, "height": 8}], [], [{"id": 0, "name": "cat"}])
    data = zipped({"0.png": png(9, 8), "a.json": boxes})
    task = bring(admin, project, version, "a.zip", data, format="labelme")
    assert (task["result"]["format"], task["result"]["skipped"]) == ("labelme", 1)
    assert [line["file"] for line in report(admin, task)] == ["a.json"]
    assert bring(admin, project, version, "a.zip", data)["result"]["format"] == "coco"
