"""Built-in models: `ingot fetch` against a real server."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from cli import Cli
from harness import ADMIN_PASSWORD, Api, unique
from test_cli import cli, signed_in  # noqa: F401

SCRIPTS = Path(__file__).parents[2] / "scripts/models"
CACHE = os.environ.get("INGOT_MODELS_CACHE", str(Path.home() / ".cache/ingot-models"))
NAME = "person-mask"


def manifest_of(label: str) -> bytes:
    return json.dumps({"ingot": 1, "task": "image-class", "parts": [{"name": "model", "file": "model.onnx"}], "labels": [label, "other"],
                       "inputs": [{"name": "x", "kind": "picture", "size": [32, 32]}], "outputs": [{"name": "y", "reading": "softmax"}]}).encode()


@pytest.fixture
def archive(tmp_path):
    """A function that makes an archive of one model with these files, as fetch.py does."""
    def make(files: dict[str, bytes], name: str = NAME) -> str:
        folder = tmp_path / "made" / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for file, data in files.items():
            (folder / file).write_bytes(data)
        out = tmp_path / f"{unique('models')}.tar"
        program = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import fetch; from pathlib import Path\n" \
                  f"fetch.archive([Path({str(folder)!r})], Path({str(out)!r}))"
        subprocess.run([sys.executable, "-c", program], check=True)
        return str(out)
    return make


PASSWORD = "correct horse battery"


@pytest.fixture
def name(admin) -> str:
    """Of a user who is in no project."""
    return admin.post("users", {"name": unique("user"), "password": PASSWORD})["name"]


@pytest.fixture
def somebody(name, server, tmp_path) -> Cli:
    own = Cli(tmp_path / "somebody")
    own.run("login", server.url, "--name", name, "--password-stdin", stdin=PASSWORD + "\n")
    return own


def installed(cli: Cli) -> dict:
    return {row["name"]: row["installed"] for row in cli.json("fetch")}


def test_the_list_needs_no_server(tmp_path):
    rows = Cli(tmp_path).json("fetch")
    assert {"imagenet-classifier", "coco-detector", "ocr-zh-en"} <= {row["name"] for row in rows}
    assert all(row["bytes"] > 0 and row["download_bytes"] > 0 and row["licence"] and row["installed"] is None for row in rows)
    assert "imagenet-classifier" in Cli(tmp_path).run("fetch").out


def test_an_archive_is_installed_once(cli, somebody, name, server, admin, archive):  # noqa: F811
    first = archive({"ingot-model.json": manifest_of("one"), "model.onnx": os.urandom(200000)})
    assert f"{NAME}:v1: installed" in cli.run("fetch", "--from", first).out
    assert f"{NAME}:v1: was there already" in cli.run("fetch", "--from", first).out
    assert installed(cli)[NAME] == "v1"

    # Everybody reads it, nobody but administrators changes it.
    assert installed(somebody)[NAME] == "v1"
    somebody.fails(3, "fetch", "--from", first, says="only an administrator")
    [model] = [s for s in admin.all("model-sets") if s["name"] == NAME]
    assert model["public"] and model["project"]["name"] == "built-in"
    path = f"model-sets/{model['id']}"
    with Api(server.url).sign_in(name, PASSWORD) as api:
        assert api.get(path)["id"] == model["id"]
        api.patch(path, {"description": "mine"}, model["revision"], expect=403)
        api.post(path + "/versions", {}, expect=404)

    # A newer one becomes a version more; what an interrupted run left is gone.
    draft = admin.post(path + "/versions", {})
    second = archive({"ingot-model.json": manifest_of("two"), "model.onnx": b"x"})
    out = cli.run("fetch", "--from", second, "-o", "name").out
    versions = admin.all(path + "/versions")
    assert all(v["published"] for v in versions) and draft["id"] not in {v["id"] for v in versions}
    assert out == f"{NAME}:{max(versions, key=lambda v: v['number'])['name']}\n"
    assert len(versions) == 2


@pytest.mark.parametrize("words, says", [
    (["nothing-of-the-sort"], "nothing-of-the-sort"),
    (["--archive", "x.tar"], "usage"),
    (["--from", "x.tar", "--update"], "usage"),
    ([NAME, "--from", "x.tar"], "usage"),
])
def test_wrong_words(cli, words, says):  # noqa: F811
    result = cli.run("fetch", *words, expect=None)
    assert result.code != 0 and says in result.err


def test_wrong_archives(cli, archive, tmp_path):  # noqa: F811
    cli.fails(1, "fetch", "--from", str(tmp_path / "none.tar"), says="none.tar")
    (tmp_path / "text.tar").write_text("no archive at all")
    cli.fails(1, "fetch", "--from", str(tmp_path / "text.tar"), says="cannot be read")
    cli.fails(2, "fetch", "--from", archive({"a": b"1"}, name="unheard-of"), says="unheard-of")
    good = Path(archive({"ingot-model.json": manifest_of("three")}))
    good.write_bytes(good.read_bytes().replace(b"three", b"four!"))
    cli.fails(1, "fetch", "--from", str(good), says="damaged")
    with tarfile.open(good, "a") as more:
        more.add(__file__, "../outside")
    cli.fails(1, "fetch", "--from", str(good), says="damaged")


def test_the_classifier_comes_from_its_packages(fresh_server, tmp_path):
    """With the configured registries, once per machine: what was fetched is kept outside of the clone."""
    cli = Cli(tmp_path)
    cli.run("login", fresh_server().url, "--name", "admin", "--password-stdin", stdin=ADMIN_PASSWORD + "\n")
    first = cli.run("fetch", "imagenet-classifier", INGOT_MODELS_CACHE=CACHE)
    assert first.out == "imagenet-classifier:v1: installed\n" and "17.9 MB" in first.err
    for words in (["imagenet-classifier"], ["--update"]):
        assert cli.run("fetch", *words, INGOT_MODELS_CACHE=CACHE).out == "imagenet-classifier:v1: was there already\n"
    cli.run("model-set", "download", "imagenet-classifier", "--to", str(tmp_path / "copy"), "--project", "built-in")
    manifest = json.loads((tmp_path / "copy/ingot-model.json").read_text())
    assert (manifest["task"], len(manifest["labels"]), len(set(manifest["labels"]))) == ("image-class", 1000, 1000)
    assert manifest["labels"][967] == "espresso"
    assert (tmp_path / "copy" / manifest["sample"]).stat().st_size > 10000
    assert (tmp_path / "copy/model.onnx").stat().st_size > 18000000
