"""Datasets from a shell: import, export, diff."""

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import tarfile
import zipfile

import pytest
from breaking import Pretender, Proxy
from cli import Cli
from harness import DEADLINE, REPORT, binary, unique
from test_cli import cli, signed_in, space  # noqa: F401
from test_datasets import COCO, PICTURES, png, zipped

SIZE = 20 << 20


@pytest.fixture
def folder(tmp_path):
    """COCO, with a name too long for a plain tar header, one in Chinese, and a link."""
    top = tmp_path / "cats"
    deep = "x" * 60
    for name, data in {**PICTURES, "annotations/train.json": COCO, f"images/{deep}/{deep}/长.png": png(8, 8),
                       "empty.txt": b""}.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    (top / "link.png").symlink_to(top / "images" / "000.png")
    return top


@pytest.fixture
def filled(cli, space, folder) -> str:
    name = unique("cats")
    cli.run("dataset", "import", str(folder), name, "--type", "detection")
    return name


def test_a_folder(cli, space, folder):
    name = unique("cats")
    cli.fails(4, "dataset", "import", str(folder), name, says="--type")
    first = cli.run("dataset", "import", str(folder), name, "--type", "detection")
    assert first.out == f"{name}:v1: 13 added, 0 changed, 0 as they were; 3 annotations; format coco\n"
    assert "1 links and special files are left out" in first.err
    assert "Uploading" in first.err and "\r" not in first.err
    assert "100 %  13 / 13" in first.err
    assert "annotations[2]" in first.err  # the box that reaches over its picture
    again = cli.json("dataset", "import", str(folder), f"{name}:v1", "--quiet", "--replace")
    assert (again["state"], again["result"]["same"], again["result"]["added"], again["params"]["replace"]) == ("done", 13, 0, True)
    assert cli.run("dataset", "import", str(folder), name, "--version", "new", "-o", "name").out == f"{name}:v2\n"
    assert os.listdir(cli.environment["HOME"] + "/.cache/ingot/uploads") == []


def test_an_archive_with_its_report(cli, space, tmp_path):
    archive, report = tmp_path / "a.zip", tmp_path / "report.jsonl"
    archive.write_bytes(zipped({**PICTURES, "annotations/train.json": COCO}))
    name = unique("cats")
    done = cli.run("dataset", "import", str(archive), name, "--type", "detection", "--format", "coco", "--report", str(report))
    assert "12 added" in done.out
    assert [json.loads(line)["position"] for line in report.read_text().splitlines()] == ["annotations[2]"]
    task = cli.json("dataset", "import", str(archive), name, "--no-wait")
    assert task["type"] == "import"


def test_wrong_imports(cli, space, filled, folder, tmp_path):
    cli.fails(2, "dataset", "import", str(tmp_path / "none"), filled, says="No such file")
    cli.fails(2, "dataset", "import", str(folder), filled, "--format", "odd", says="odd")
    cli.fails(2, "dataset", "import", str(folder), filled, "--every", "x", says="every: \"x\" is no whole number")
    cli.fails(2, "dataset", "import", str(folder), unique(), "--type", "odd", says="odd")
    cli.fails(2, "dataset", "import", str(folder), f"{filled}:v1", "--version", "new", says="twice")
    cli.fails(2, "dataset", "import", str(folder), says="ingot dataset import")
    cli.fails(4, "dataset", "import", str(folder), f"{filled}:v9", says="v9")
    (tmp_path / "empty").mkdir()
    cli.fails(2, "dataset", "import", str(tmp_path / "empty"), filled, says="no files")


def test_export(cli, space, filled, tmp_path):
    target = tmp_path / "out.zip"
    done = cli.run("dataset", "export", filled, "--format", "coco", "-o", str(target))
    assert done.out == f"{target}\n"
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        assert sum(n.endswith(".png") for n in archive.namelist()) == 13
    cli.fails(5, "dataset", "export", filled, "-o", str(target), says="--force")
    before = target.read_bytes()
    exports = len(cli.json("task", "list", "--filter", 'type = "export"'))
    cli.run("dataset", "export", filled, "--format", "coco", "--reuse", "-o", str(target), "--force")
    assert target.read_bytes() == before and len(cli.json("task", "list", "--filter", 'type = "export"')) == exports
    cli.run("dataset", "export", f"{filled}:v1", "--format", "coco", "--no-samples", "-o", str(target), "--force")
    assert len(target.read_bytes()) < len(before)
    raw = subprocess.run([binary(), "dataset", "export", filled, "--training", "--seed", "7", "-o", "-", "--quiet"],
                         capture_output=True, env=cli.environment, timeout=DEADLINE)
    assert raw.returncode == 0, raw.stderr
    assert "train.json" in zipfile.ZipFile(io.BytesIO(raw.stdout)).namelist()
    assert not list(tmp_path.glob("*.partial"))
    cli.fails(2, "dataset", "export", filled, "-o", "json", says="./json")
    cli.fails(2, "dataset", "export", filled, "--seed", "1", says="--training")
    cli.fails(2, "dataset", "export", filled, "--keep-split", says="--training")
    cli.fails(2, "dataset", "export", filled, "--training", "--states", "annotated,odd", says="odd")
    cli.run("dataset", "export", filled, "--training", "--states", "annotated, unannotated", "--keep-split", "-o", str(target), "--force")
    assert len(json.loads(zipfile.ZipFile(target).read("train.json"))["images"]) == 13
    cli.fails(2, "dataset", "export", filled, "--format", "csv-odd", says="format")
    cli.fails(4, "dataset", "export", unique("none"), says="there is no dataset")
    cli.fails(1, "dataset", "export", filled, "-o", str(tmp_path / "no" / "x.zip"), says="No such file")


def test_diff(cli, space, filled, folder):
    (folder / "images" / "000.png").unlink()
    (folder / "images" / "001.png").write_bytes(png(20, 10, 99))
    (folder / "images" / "new.png").write_bytes(png(5, 5))
    cli.run("dataset", "import", str(folder), f"{filled}:new")
    shown = cli.run("dataset", "diff", f"{filled}:v1", ":v2").out.splitlines()
    assert shown == ["- images/000.png", "~ images/001.png", "+ images/new.png",
                     "1 added, 1 removed, 1 changed, 0 annotated differently, 0 moved between parts of the split"]
    (folder / "annotations" / "train.json").rename(folder / "annotations" / "val.json")
    cli.run("dataset", "import", str(folder), f"{filled}:new")
    moved = cli.run("dataset", "diff", f"{filled}:v2", ":v3").out.splitlines()
    assert moved == [*(f"> images/{i:03}.png (train -> val)" for i in range(1, 12)),
                     "0 added, 0 removed, 0 changed, 0 annotated differently, 11 moved between parts of the split"]
    assert cli.json("dataset", "diff", f"{filled}:2", f"{filled}:1")["removed"] == 1
    cli.fails(4, "dataset", "diff", f"{filled}:v1", ":v7", says="v7")
    cli.fails(2, "dataset", "diff", f"{filled}:v1", ":old", says="old")


@pytest.fixture
def large(tmp_path):
    """More than one request's worth."""
    path = tmp_path / "large.tar"
    with tarfile.open(path, "w") as archive:
        for name, data in {"a.png": png(8, 8), "filling.bin": os.urandom(SIZE)}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def there(cli, proxy, project: str) -> dict[str, str]:
    """The same account at the proxy's address."""
    return {"INGOT_URL": proxy.url, "INGOT_TOKEN": json.loads(cli.config.read_text())["token"], "INGOT_PROJECT": project}


def test_a_broken_connection_goes_on(cli, space, server, large):
    with Proxy(server.url, after=5 << 20) as proxy:
        done = cli.run("dataset", "import", str(large), unique("large"), "--type", "detection", **there(cli, proxy, space))
        assert "1 added" in done.out
        assert proxy.offsets[0] == 0 and any(proxy.offsets), proxy.offsets


def test_an_interrupted_upload_goes_on_in_the_next_run(cli, space, server, large):
    name = unique("large")
    with Proxy(server.url, after=5 << 20, stall=True) as proxy:
        environment = {**cli.environment, **there(cli, proxy, space)}
        command = [binary(), "dataset", "import", str(large), name, "--type", "detection"]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as first:
            assert proxy.stalled.wait(DEADLINE)
            first.send_signal(signal.SIGINT)
            err = first.communicate(timeout=DEADLINE)[1]
        assert first.returncode == -signal.SIGINT, err
        assert "goes on with the upload" in err and not REPORT.search(err)
        proxy.released.set()
        second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE)
        assert second.returncode == 0, second.stderr
        assert "1 added" in second.stdout
        assert any(proxy.offsets[1:]), proxy.offsets


def test_ctrl_c_cancels_the_task(tmp_path):
    cli = Cli(tmp_path)
    (tmp_path / "a.png").write_bytes(png(8, 8))
    with Pretender() as server:
        there = {**cli.environment, "INGOT_URL": server.url, "INGOT_TOKEN": "ingot_x"}
        with subprocess.Popen([binary(), "dataset", "import", str(tmp_path / "a.png"), "7"], env=there,
                              stderr=subprocess.PIPE, text=True) as run:
            assert server.asked.wait(DEADLINE)
            run.send_signal(signal.SIGINT)
            err = run.communicate(timeout=DEADLINE)[1]
        assert server.cancelled.is_set()
        assert run.returncode == -signal.SIGINT
        assert "Cancelling" in err and "was cancelled" in err and not REPORT.search(err)


def test_a_bar_on_a_terminal(cli, space, folder):
    master, slave = pty.openpty()
    with subprocess.Popen([binary(), "dataset", "import", str(folder), unique("cats"), "--type", "detection"],
                          env=cli.environment, stdout=subprocess.PIPE, stderr=slave) as run:
        os.close(slave)
        seen = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while data := os.read(master, 1 << 16):
                seen += data
        os.close(master)
        assert run.wait(DEADLINE) == 0
    assert b"\rUploading  [########################] 100 %" in seen
    assert b"\rImporting  [########################] 100 %" in seen


def test_folders_of_code(cli, space, tmp_path, admin):
    top, name = tmp_path / "code", unique("code")
    (top / "src").mkdir(parents=True)
    (top / "src" / "train.py").write_text("print('one')\n")
    (top / "run.sh").write_text("#!/bin/sh\n")
    (top / "run.sh").chmod(0o755)
    (top / "empty").write_bytes(b"")
    (top / "link").symlink_to("run.sh")
    first = cli.run("algorithm-set", "upload", str(top), name)
    assert first.out == f"{name}:v1: 3 files\n" and "1 links and special files are left out" in first.err
    sets = cli.json("algorithm-set", "get", name)
    version = admin.get(f"algorithm-sets/{sets['id']}/versions")["items"][0]
    files = {f["name"]: f for f in admin.get(f"algorithm-sets/{sets['id']}/versions/{version['id']}/files")["items"]}
    assert set(files) == {"src", "run.sh", "empty"} and files["run.sh"]["executable"] and not files["empty"]["executable"]
    (top / "src" / "train.py").write_text("print('the second')\n")
    assert cli.run("algorithm-set", "upload", str(top), name, "--publish").out == f"{name}:v1: 3 files, published\n"
    content = admin.call("GET", f"algorithm-sets/{sets['id']}/versions/{version['id']}/content", params={"path": "src/train.py"})
    assert content.text == "print('the second')\n"
    assert cli.run("algorithm-set", "upload", str(top / "run.sh"), name, "-o", "name").out == f"{name}:v2\n"
    assert cli.json("algorithm-set", "upload", str(top / "run.sh"), name, "--version", "new", "--quiet")["files"] == 1
    cli.fails(5, "algorithm-set", "upload", str(top), f"{name}:v1", says="published")
    cli.fails(4, "algorithm-set", "upload", str(top), f"{name}:v9", says="no version")
    cli.fails(2, "algorithm-set", "upload", str(top), f"{name}:v1", "--version", "new", says="twice")
    cli.fails(2, "algorithm-set", "upload", str(top), f"{name}:x", says="no version")
    out = tmp_path / "out"
    assert cli.run("algorithm-set", "download", f"{name}:v1", "--to", str(out)).out == f"{out}: 3 files\n"
    assert (out / "src" / "train.py").read_text() == "print('the second')\n" and (out / "empty").read_bytes() == b""
    assert os.access(out / "run.sh", os.X_OK) and not os.access(out / "src" / "train.py", os.X_OK)
    cli.fails(5, "algorithm-set", "download", f"{name}:v1", "--to", str(out), says="--force")
    cli.run("algorithm-set", "download", f"{name}:1", "-o", str(out), "--force")
    cli.run("algorithm-set", "download", name, "-o", str(tmp_path / "newest"))
    assert os.listdir(tmp_path / "newest") == ["run.sh"]
    cli.fails(4, "algorithm-set", "download", f"{name}:v9", says="no such version")
    cli.fails(2, "algorithm-set", "download", f"{name}:x", says="v3 or 3")
    assert os.listdir(cli.environment["HOME"] + "/.cache/ingot/uploads") == []
    assert cli.run("model-set", "upload", str(top), name).out == f"{name}:v1: 3 files\n"
