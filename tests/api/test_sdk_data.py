"""Datasets by the Python SDK: import, export, training data, diff."""

import json
import zipfile

import ingot
import pytest
from breaking import Pretender, Proxy
from harness import DEADLINE, unique
from test_cli_data import folder, large  # noqa: F401
from test_datasets import png
from test_sdk import client  # noqa: F401


@pytest.fixture
def space(client):
    return client.projects.create(name=unique("p"))


def test_a_folder_in_and_out(client, space, folder, tmp_path):
    seen = []
    with pytest.raises(ingot.NotFound):
        client.datasets.import_(folder, "cats", project=space)
    task = client.datasets.import_(folder, "cats", project=space, type="detection", progress=lambda *x: seen.append(x))
    assert (task["result"]["added"], task["result"]["format"]) == (13, "coco")
    assert {what for what, _, _ in seen} == {"Uploading", "Importing"}
    assert any(what == "Uploading" and done == total for what, done, total in seen)
    again = client.datasets.import_(folder, "cats", project=space, replace=True)
    assert (again["result"]["same"], again["params"]["replace"], task["params"]["replace"]) == (13, True, False)

    out = client.datasets.export("cats", project=space, format="coco", path=tmp_path / "cats.zip")
    assert out == tmp_path / "cats.zip"
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
        assert sum(n.endswith(".png") for n in archive.namelist()) == 13
    again = client.datasets.export("cats", project=space, format="coco", reuse=True, path=tmp_path / "again.zip")
    assert again.read_bytes() == out.read_bytes()
    split = client.datasets.training_data("cats", project=space, seed=3, path=tmp_path / "t.zip")
    assert "train.json" in zipfile.ZipFile(split).namelist()
    wider = client.datasets.training_data("cats", project=space, states=["annotated", "unannotated"], split="imported", path=tmp_path / "u.zip")
    assert len(json.loads(zipfile.ZipFile(wider).read("train.json"))["images"]) == 13
    assert not list(tmp_path.glob("*.partial"))


def test_versions_and_their_differences(client, space, folder):
    client.datasets.import_(folder, "cats", project=space, type="detection")
    dataset = client.datasets.find("cats", project=space)
    (folder / "images" / "000.png").unlink()
    (folder / "images" / "new.png").write_bytes(png(5, 5))
    client.datasets.import_(folder, dataset, version="new")
    assert [v["name"] for v in client.datasets.versions(dataset).list(sort="number")] == ["v1", "v2"]
    assert client.datasets.version(dataset)["name"] == "v2"
    found = client.datasets.diff(dataset, "v1", 2)
    assert (found["added"], found["removed"], found["changed"]) == (1, 1, 0)
    assert list(client.datasets.changes(dataset, "v1", 2)) == found["items"]
    (folder / "annotations" / "train.json").rename(folder / "annotations" / "val.json")
    client.datasets.import_(folder, dataset, version="new")
    assert client.datasets.diff(dataset, 2, 3)["split"] == 11
    assert {(c["change"], c["split_before"], c["split_after"]) for c in client.datasets.changes(dataset, 2, 3)} == {("split", "train", "val")}
    with pytest.raises(ingot.NotFound):
        client.datasets.version(dataset, "v9")
    with pytest.raises(ingot.Invalid):
        client.datasets.import_(folder, dataset, format="odd")


def test_a_bar(client, space, folder, capsys):
    client.datasets.import_(folder, "cats", project=space, type="detection", progress=True)
    shown = capsys.readouterr().err
    assert "Uploading  [########################] 100%" in shown


def test_a_broken_connection_goes_on(server, client, space, large):
    with Proxy(server.url, after=5 << 20) as proxy, ingot.Client(proxy.url, token=client.make_token(unique())["secret"],
                                                                 timeout=DEADLINE) as own:
        task = own.datasets.import_(large, "large", project=space, type="detection")
        assert task["result"]["added"] == 1
        assert proxy.offsets[0] == 0 and any(proxy.offsets)


def test_a_task_that_was_cancelled(tmp_path):
    (tmp_path / "a.png").write_bytes(png(4, 4))
    with Pretender() as server, ingot.Client(server.url, token="ingot_x", timeout=DEADLINE) as client:
        def interrupt(what, done, total):
            if what == "Importing":
                raise KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt):
            client.datasets.import_(tmp_path / "a.png", 7, progress=interrupt)
        assert server.cancelled.is_set()
        with pytest.raises(ingot.TaskFailed) as caught:
            client.wait(5)
        assert caught.value.task["state"] == "cancelled"


def test_nothing_to_import(client, tmp_path):
    with pytest.raises(ValueError, match="no files"):
        client.datasets.import_(tmp_path, "cats")
    with pytest.raises(FileNotFoundError):
        client.datasets.import_(tmp_path / "none", "cats")


def test_folders_of_code(client, space, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text("print(1)\n")
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    seen = []
    made = client.algorithm_sets.upload(tmp_path, "code", project=space, progress=lambda *x: seen.append(x))
    assert (made["name"], made["files"], made["published"]) == ("v1", 2, False)
    assert seen[-1] == ("Uploading", 2, 2)
    (tmp_path / "more").write_bytes(b"")
    made = client.algorithm_sets.upload(tmp_path, "code", project=space, publish=True)
    assert (made["name"], made["files"], made["published"]) == ("v1", 3, True)
    assert client.algorithm_sets.upload(tmp_path / "run.sh", "code", project=space)["name"] == "v2"
    assert client.model_sets.upload(tmp_path, "weights", project=space, version="new")["files"] == 3
    with pytest.raises(ingot.NotFound):
        client.algorithm_sets.upload(tmp_path, "code", project=space, version="v9")
    out = client.algorithm_sets.download("code", tmp_path / "a" / "b", project=space, version="v1")
    assert (out / "src" / "train.py").read_text() == "print(1)\n" and (out / "more").read_bytes() == b""
    client.algorithm_sets.download("code", tmp_path / "newest", project=space)
    assert [p.name for p in (tmp_path / "newest").iterdir()] == ["run.sh"]
    with pytest.raises(ingot.NotFound):
        client.algorithm_sets.download("code", tmp_path / "c", project=space, version=9)


def test_samples_shape_by_shape(client, space, folder):
    client.datasets.import_(folder, "cats", project=space, type="detection")
    samples = client.datasets.samples("cats", project=space)
    sample = next(samples.all(state="unannotated"))
    done = samples.put(sample["id"], {"type": "box", "label": "cat", "x": 1, "y": 1, "w": 4, "h": 4})
    assert (done["state"], done["revision"], len(done["shape"]["id"])) == ("applied", 2, 10)
    assert samples.remove(sample["id"], done["shape"]["id"])["state"] == "applied"
    assert samples.operate([{"id": f"{samples.client_id}.1", "sample": sample["id"], "op": "remove", "shape": "x"}])[0]["state"] == "already"
    assert [i["operation"]["op"] for i in samples.operations(sample["id"], limit=1)] == ["put", "remove"]
    assert samples.at(sample["id"], 2)["annotation"]["shapes"][0]["label"] == "cat"
    assert samples.restore(sample["id"], 2)["annotation"]["shapes"][0]["id"] == done["shape"]["id"]
    version = client.datasets.version(client.datasets.find("cats", project=space))
    layer = client.layers.create(name="mine", project=space, dataset_version=version)
    assert samples.put(sample["id"], {"type": "box", "label": "dog", "x": 1, "y": 1, "w": 4, "h": 4}, layer=layer["id"])["revision"] == 1
    assert samples.get(sample["id"], layer=layer["id"])["annotation"]["shapes"][0]["label"] == "dog"
