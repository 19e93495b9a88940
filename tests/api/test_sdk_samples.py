"""Samples by the Python SDK: read, query, annotate, put, move, tables, imports with their reports, notebooks."""

import io
import json
from pathlib import Path

import ingot
import numpy
import pytest
from harness import unique
from PIL import Image
from s3 import KEY, SECRET
from test_cli_data import folder  # noqa: F401
from test_datasets import PICTURES, png
from test_sdk import client  # noqa: F401
from test_sources_remote import fill, hexed, maria, s3_platform  # noqa: F401

BOX = {"type": "box", "label": "cat", "x": 1, "y": 1, "w": 4, "h": 4}


@pytest.fixture
def space(client):
    return client.projects.create(name=unique("p"))


@pytest.fixture
def cats(client, space, folder):
    made = client.dataset("cats", project=space, type="detection")
    done = made.import_folder(folder)
    assert (done.added, done.format, done.annotations) == (13, "coco", 3)
    return made


def test_a_dataset_opens_with_its_first_version(client, space, monkeypatch):
    with pytest.raises(ingot.NotFound):
        client.dataset("texts", project=space)
    made = client.dataset("texts", project=space["name"], type="text-class")
    assert (made.name, made.data_type, made.state, len(made)) == ("texts:v1", "text", "draft", 0)
    monkeypatch.setenv("INGOT_PROJECT", space["name"])
    assert client.dataset("texts:v1").id == client.dataset("texts", 1).id == made.id
    assert client.dataset("texts", "new").name == "texts:v2"
    with pytest.raises(ingot.NotFound):
        client.dataset("texts:v9")


def test_samples_are_read(cats, tmp_path):
    names = [sample.name for sample in cats]
    assert names == sorted(names) and set(PICTURES) < set(names) and len(names) == len(cats) == 13
    sample = cats[names[0]]
    assert sample.read() == PICTURES[names[0]] and sample.id == cats.sample(sample.id).id
    picture = sample.image()
    assert picture.size == (sample.width, sample.height) and sample.array().shape == (sample.height, sample.width, 3)
    assert Image.open(io.BytesIO(sample.thumbnail(64))).format == "JPEG"
    assert sample.save(tmp_path / "a.png").read_bytes() == sample.read()
    assert sample.save(tmp_path) == tmp_path / sample.name
    with pytest.raises(ingot.NotFound, match="none.png"):
        cats["none.png"]


def test_queries(cats):
    labelled = cats.query("annotated")
    assert labelled.count() == len(list(labelled)) == 2
    assert {s.state for s in cats.query(["annotated", "unannotated"])} == {"annotated", "unannotated"}
    assert cats.query(["annotated", "unannotated"]).count() == 13
    label = labelled.first().labels[0]
    assert all(label in s.labels for s in cats.query(label=label)) and cats.query(label=label).count() > 0
    assert cats.query(q="images/00").count() == sum(name.startswith("images/00") for name in PICTURES)
    assert [s.id for s in cats.query(where=lambda s: s.width > 1, limit=3)] == [s.id for s in cats][:3]
    assert cats.query(split="train").count() == len([s for s in cats if s.split == "train"]) > 0
    assert cats.query("rejected").first() is None


def test_annotations_shape_by_shape(client, cats):
    sample = cats.query("unannotated").first()
    shape = sample.put(BOX)
    assert sample.state == "annotated" and sample.shapes == [shape] and sample.labels == ["cat"]
    assert sample.put({**shape, "x": 2})["x"] == 2 and len(sample.shapes) == 1
    other = cats.sample(sample.id)
    other.box("dog", 1, 1, 3, 3)
    sample.box("bird", 2, 2, 3, 3)  # another shape: both stay
    assert sorted(sample.labels) == ["bird", "cat", "dog"]
    with ingot.Client(client.url, token=client.make_token(unique())["secret"]) as second:
        second.datasets.open(cats.dataset, 1).sample(sample.id).put({**shape, "x": 1.5})
    with pytest.raises(ingot.EditConflict) as caught:
        sample.put({**shape, "x": 4})
    assert caught.value.theirs["x"] == 1.5
    with pytest.raises(ingot.Invalid, match="shape.w"):
        sample.refresh().put({**BOX, "w": -1})
    sample.remove(shape)
    assert sorted(sample.labels) == ["bird", "dog"]
    first = next(iter(sample.history()))
    assert first["operation"]["op"] == "put"
    assert sample.restore(first["revision"]).shapes[0]["label"] == "cat"


def test_whole_annotations_wait_for_nobody(cats):
    sample = cats.query("unannotated").first()
    other = cats.sample(sample.id)
    sample.annotate({"shapes": [BOX]}, state="accepted")
    assert sample.state == "accepted"
    with pytest.raises(ingot.Stale):
        other.annotate({"shapes": []})
    calls = []

    def add(annotation):
        calls.append(len(annotation.get("shapes", [])))
        annotation.setdefault("shapes", []).append({**BOX, "label": "dog"})
    other.edit(add)  # read too early: once more, over what is there
    assert calls == [0, 1] and other.labels == ["cat", "dog"]
    assert sample.refresh().labels == ["cat", "dog"]


def test_many_annotations_at_once(client, cats):
    samples = list(cats.query("unannotated"))
    with ingot.Client(client.url, token=client.make_token(unique())["secret"]) as second:
        second.datasets.open(cats.dataset, 1).sample(samples[0].id).put(BOX)
    done = cats.annotate([(samples[0], {"shapes": []}), (samples[1], {"shapes": [BOX]})])
    assert done.column("state") == ["conflict", "applied"]
    done = cats.annotate({samples[2].name: {"shapes": [BOX, BOX]}, samples[3].id: {"shapes": [{**BOX, "h": 0}]}})
    assert done.column("state") == ["applied", "refused"] and "h" in done[1]["problem"]
    assert cats.labels().to_pandas().set_index("label").loc["cat", "shapes"] >= 3


def test_samples_are_moved_out_and_back(cats):
    two = [s for s in cats][:2]
    assert cats.move(two) == 2 and len(cats) == 11 and cats.query("cleaned").count() == 2
    assert two[0].refresh().move("set").state != "cleaned" and cats.move([two[1].id], "set") == 1 and len(cats) == 13
    name = two[0].name
    assert cats.move([name]) == 1 and cats[name].state == "cleaned" and cats.move([name], "set") == 1
    with pytest.raises(ingot.NotFound, match="none.png"):
        cats.move(["none.png"])
    with pytest.raises(ValueError, match="trash"):
        cats.move(two, "trash")


def test_samples_are_put(client, space, cats, tmp_path):
    made = client.dataset("made", project=space, type="detection")
    (tmp_path / "x.png").write_bytes(png(9, 7))
    done = made.put([
        {"name": "train/array.png", "content": numpy.zeros((8, 6, 3), "uint8"), "annotation": {"shapes": [BOX]}, "split": "train"},
        {"name": "picture.png", "content": Image.new("RGB", (5, 5))},
        {"name": "path.png", "content": tmp_path / "x.png"},
    ])
    assert done.added == 3 and len(done.problems()) == 0
    assert (made["train/array.png"].labels, made["train/array.png"].split, made["path.png"].width) == (["cat"], "train", 9)
    assert made.put({"path.png": png(3, 3)}).changed == 1
    labelled = list(cats.query("annotated"))
    assert made.put(labelled).added == 2
    assert made[labelled[0].name].shapes[0]["label"] == labelled[0].shapes[0]["label"]
    assert made[labelled[0].name].read() == labelled[0].read()
    texts = client.dataset("texts", project=space, type="text-spans")
    texts.put([{"name": "a.txt", "content": "Ann met Bob <b>", "annotation": {"spans": [{"start": 0, "end": 3, "label": "person"}]}}])
    assert texts["a.txt"].content() == "Ann met Bob <b>"
    assert "Ann<sub" in texts["a.txt"]._repr_html_() and "&lt;b&gt;" in texts["a.txt"]._repr_html_()
    for bad, error in (({"../a.png": b""}, ValueError), ({}, ValueError), ({"a.png": 7}, TypeError)):
        with pytest.raises(error):
            made.put(bad)


def test_tables(cats):
    frame = cats.to_pandas()
    assert set(PICTURES) < set(frame["name"]) and len(frame) == 13 and frame["width"].notna().all() and set(frame["state"]) == {"annotated", "unannotated"}
    shapes = cats.to_pandas("shapes")
    assert len(shapes) == 3 and shapes["w"].gt(0).all()
    table = cats.query("annotated").to_arrow(content=True)
    assert table.num_rows == 2 and table.column("content")[0].as_py() == PICTURES[table.column("name")[0].as_py()]
    assert json.loads(table.column("annotation")[0].as_py())["shapes"]
    assert cats.query("rejected").to_arrow().schema == cats.to_arrow().schema
    assert cats.query("rejected").to_arrow("shapes").schema == cats.to_arrow("shapes").schema
    with pytest.raises(ValueError, match="rows"):
        cats.table("odd")


def test_objects_as_tables(client, space, cats):
    table = client.datasets.table(project=space)
    assert table.column("name") == ["cats"] and table.columns[:2] == ["id", "name"]
    assert "<td style='text-align:left'>cats</td>" in table._repr_html_() and "cats" in repr(table)
    assert client.dataset_versions.table(project=space).column("dataset") == ["cats"]
    assert client.datasets.versions(cats.dataset).table(columns=["name", "samples"])[0]["samples"] == 13
    assert table.to_arrow().num_rows == 1 and table.to_pandas().loc[0, "name"] == "cats"
    client.label_sets.create(project=space, name="odd", description="<i>", labels=[])
    assert "&lt;i&gt;" in client.label_sets.table(project=space)._repr_html_()
    assert client.projects.page(limit=1)._repr_html_().startswith("<table>")
    with pytest.raises(AttributeError):
        client.nonsense_
    with pytest.raises(ValueError, match="columns="):
        client.kind("nothings")._columns()


def test_notebooks_show_pictures_with_their_boxes(client, space, cats):
    labels = client.label_sets.create(project=space, name="colours", labels=[{"name": "cat", "color": "#123456"}])
    client.datasets.update(cats.dataset["id"], label_set=labels)
    sample = client.dataset("cats", project=space).query("unannotated").first()
    sample.put(BOX)
    sample.box("<b>dog", 1, 1, 2, 2)
    page = sample._repr_html_()
    assert page.count("<rect") == 2 and "#123456" in page and "&lt;b&gt;dog" in page and "<b>dog" not in page
    assert "data:image/jpeg;base64," in page
    gallery = cats._repr_html_()
    assert gallery.count("<figure") == 12 and "the first 12" in gallery
    shown = ingot.Picture(sample.read(), {"shapes": [BOX], "labels": ["day"], "scores": {"day": 0.5}}, media="image/png")._repr_html_()
    assert "<rect" in shown and "day 0.50" in shown


def test_preprocessing_makes_a_version(cats):
    seen = []
    made = cats.preprocess(["mirror-h", {"op": "rotate", "angle": 90}], progress=lambda *x: seen.append(x))
    assert (made.name, len(made)) == ("cats:v2", 13) and seen[-1][0] == "Preprocessing" and seen[-1][1] == seen[-1][2]
    before, after = cats.query("annotated").first(), made.query("annotated").first()
    assert (after.width, after.height) == (before.height, before.width)
    copied = cats.copy("as it was")
    assert (copied.name, len(copied)) == ("cats:v3", 13)
    assert copied.publish().state == "published"
    with pytest.raises(ingot.Conflict):
        copied.query("unannotated").first().put(BOX)
    with pytest.raises(ingot.Invalid, match="mirror-v"):
        cats.preprocess(["odd"])


def test_duplicates(client, space):
    made = client.dataset("twins", project=space, type="detection")
    rows = numpy.arange(64 * 64, dtype="uint32").reshape(64, 64)
    noise = ((rows * 2654435761) >> 24).astype("uint8")
    made.put({"a.png": Image.fromarray(noise), "b.png": Image.fromarray(noise // 2 * 2), "c.png": Image.fromarray(noise.T[::-1])})
    assert [sorted(s.name for s in group) for group in made.duplicates()] == [["a.png", "b.png"]]


def test_reports_of_imports(client, space, folder):
    (folder / "broken.png").write_bytes(b"no picture")
    done = client.dataset("cats", project=space, type="detection").import_folder(folder)
    problems = done.problems()
    assert "broken.png" in problems.column("file") and problems.to_pandas()["reason"].str.len().gt(0).all()
    assert "13 added" in repr(done) and "broken.png" in done._repr_html_()


def sdk(platform) -> ingot.Client:
    return ingot.Client(platform.server.url, token=platform.api.post("tokens", {"name": unique()})["secret"])


def test_from_object_stores(s3, s3_platform):  # noqa: F811
    p = s3_platform
    fill(s3, p.bucket, "sets/roads/")
    with sdk(p) as own:
        into = own.dataset("d", project=p.project["name"])
        done = into.import_s3(p.bucket, prefix="sets/roads/", endpoint=s3.url, access_key=KEY, secret_key=SECRET)
        assert (done.added, done.format) == (len(PICTURES), "coco")
        with pytest.raises(ingot.TaskFailed):
            into.import_s3(p.bucket, prefix="none/", endpoint=s3.url, access_key=KEY, secret_key=SECRET)


def test_from_folders_of_the_server(s3_platform):  # noqa: F811
    p = s3_platform
    (Path(p.root) / "sets").mkdir()
    (Path(p.root) / "sets" / "a.png").write_bytes(png(4, 4))
    with sdk(p) as own:
        into = own.dataset("d", project=p.project["name"])
        assert into.import_directory(str(Path(p.root) / "sets")).added == 1
        with pytest.raises(ingot.Forbidden):
            into.import_directory("/etc")


def test_from_databases(mariadb, maria):  # noqa: F811
    p = maria("image-class")
    database = mariadb.database()
    mariadb.sql(f"CREATE TABLE pictures (id INT, bytes BLOB, class TEXT); INSERT INTO pictures VALUES (1, {hexed(png(3, 3))}, 'cat')", database)
    with sdk(p) as own:
        done = own.dataset("d", project=p.project["name"]).import_database(
            database, host="127.0.0.1", port=mariadb.port, user=mariadb.user, password=mariadb.password, table="pictures",
            name="id", content="bytes", label="class")
        assert (done.added, done.annotations) == (1, 1)


