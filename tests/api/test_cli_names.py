"""Words of the command line that agree: orders of words, names of fields, what is implied, what unknown choices are told."""

import json
import os

import pytest
from cli import Cli
from harness import problem, unique
from test_cli import cli, signed_in, space  # noqa: F401
from test_cli_data import folder  # noqa: F401
from test_datasets import png


@pytest.fixture
def name(cli, space) -> str:
    made = unique("cats")
    cli.run("dataset", "create", made, "--annotation-type", "detection")
    return made


def test_a_dataset_has_a_version_to_fill(cli, space, name):
    made = cli.json("dataset", "create", unique("texts"), "--annotation-type", "text-class")
    assert (made["data_type"], made["versions"]) == ("text", 1)
    assert cli.json("dataset-version", "get", name)["name"] == "v1"
    cli.fails(2, "dataset", "create", unique(), "--annotation-type", "text-class", "--data-type", "image", says="text-class")
    # One that nothing was put into goes with it.
    cli.run("dataset", "delete", name, "-y")
    cli.fails(4, "dataset", "get", name, says=name)


def test_an_empty_version_that_is_used_stays(cli, space, name, admin):
    dataset = cli.json("dataset", "get", name)
    version = cli.json("dataset-version", "get", name)
    layer = admin.post("layers", {"name": "mine", "project": dataset["project"]["id"], "dataset_version": version["id"]})
    team = admin.post("teams", {"name": unique(), "project": dataset["project"]["id"], "role": "labelling", "members": [1]})
    task = admin.post("label-tasks", {"name": unique(), "project": dataset["project"]["id"], "version": version["id"],
                                      "labelling_team": team["id"]})
    cli.fails(5, "dataset", "delete", name, "-y", says="in use")
    assert admin.get(f"layers/{layer['id']}")["id"] == layer["id"]
    assert cli.json("dataset-version", "get", name)["id"] == version["id"]
    admin.delete(f"label-tasks/{task['id']}")
    cli.run("dataset", "delete", name, "-y")


def test_both_orders_of_an_import(cli, space, name, folder, tmp_path, monkeypatch):
    assert "13 added" in cli.run("dataset", "import", str(folder), name).out
    assert "13 as they were" in cli.run("dataset", "import", name, str(folder)).out
    # Without a slash: what is there is the path; when both are, the first.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.png").write_bytes(png(6, 6))
    assert "1 added" in cli.run("dataset", "import", f"{name}:v1", "more.png").out
    (tmp_path / name).mkdir()
    (tmp_path / name / "again.png").write_bytes(png(7, 7))
    assert "1 added" in cli.run("dataset", "import", name, name).out
    assert "files" in cli.run("model-set", "upload", unique("weights"), str(folder)).out
    cli.fails(2, "dataset", "import", name, says="--s3, --database or --directory")
    cli.fails(2, "dataset", "import", name, str(tmp_path / "gone"), says="No such file")


def test_versions_take_files_too(cli, space, name, folder):
    version = cli.json("dataset-version", "get", name)["id"]
    assert "13 added" in cli.run("dataset-version", "import", str(folder), f"{name}:v1").out
    assert "13 as they were" in cli.run("dataset-version", "import", str(version), str(folder)).out
    assert "13 as they were" in cli.run("dataset-version", "import", "--dataset", name, "v1", str(folder)).out
    other = unique("dogs")
    assert f"{other}:v1: 13 added" in cli.run("dataset-version", "import", str(folder), other, "--type", "detection").out
    # The former spelling: an upload of one's own, and other sources, by flags. Hosts and folders have to be allowed.
    for words in (["dataset-version", "import", f"{name}:v1"], ["dataset", "import", name]):
        cli.fails(3, *words, "--directory", "/srv/none", says="directory")
        cli.fails(4, *words, "--uploads", '[{"upload": "none", "name": "a.zip"}]', says="upload")


def test_publishing_by_the_name_of_the_dataset(cli, space, name, folder):
    cli.run("dataset", "import", str(folder), name)
    assert cli.json("dataset", "publish", name, "-y")["state"] == "published"
    cli.run("dataset", "import", str(folder), name)
    assert cli.json("dataset", "publish", f"{name}:v2", "-y")["name"] == "v2"
    cli.fails(4, "dataset", "publish", f"{name}:v9", "-y", says="v9")
    assert "--no-wait" in cli.run("dataset", "publish", "--help").out


def test_unknown_choices_list_the_known(cli, space, name, folder, admin):
    for words, known in (
        (["dataset", "import", str(folder), unique(), "--type", "odd"], "image-class, image-classes, detection"),
        (["dataset", "import", str(folder), name, "--format", "odd"], "coco, voc"),
        (["dataset", "export", name, "--format", "odd"], "coco, voc"),
        (["dataset", "create", unique(), "--annotation-type", "odd"], "rotated-detection"),
        (["dataset", "list", "-o", "odd"], "table, json, name"),
    ):
        says = cli.fails(2, *words, says="\"odd\"").err
        assert all(word in says for word in known.split(", ")), says
    version = cli.json("dataset-version", "get", name)
    path = f"datasets/{version['dataset']['id']}/versions/{version['id']}"
    refused = problem(admin.call("GET", f"{path}/samples", params={"state": "odd"}), 422, "invalid", "state")
    assert "unannotated, annotated, machine" in refused["detail"] and "any" in refused["detail"]
    refused = problem(admin.call("POST", "label-tasks", json={"name": "t", "project": version["project"]["id"], "version": version["id"],
                                                              "labelling_team": 1, "selection": {"splits": ["odd"]}}), 422, "invalid", "selection")
    assert "train, val, test" in refused["detail"]


def test_cpus_has_one_name(cli):
    name = unique("p")
    made = cli.json("project", "create", name, "--quota", '{"cpus": 2, "memory": 1024}')
    assert made["quota"] == {"cpus": 2, "memory": 1024}
    # The former name is understood, alone.
    assert cli.json("project", "update", name, "--quota", '{"cpu": 3}')["quota"] == {"cpus": 3, "memory": 1024}
    assert cli.json("project", "update", name, "--quota", '{"cpus": null}')["quota"] == {"memory": 1024}
    cli.fails(2, "project", "update", name, "--quota", '{"cpu": 3, "cpus": 3}', says="cpus and cpu are the same")
    cli.fails(2, "project", "update", name, "--quota", '{"cores": 3}', says="cpus, memory, storage, accelerators")


def test_completion_knows_types_and_formats(cli, space):
    def offered(*words: str) -> set[str]:
        return {line.split("\t")[0] for line in cli.run("__complete", *words).out.splitlines()}
    assert {"detection", "transcription"} <= offered("dataset", "import", "a", "b", "--type", "")
    assert {"coco", "yolo"} <= offered("dataset-version", "import", "a", "b", "--format", "")
    assert {"import", "publish", "create"} <= offered("dataset", "")
    assert offered("dataset", "import", "a", "b", "--s") >= {"--s3", "--secret", "--set"}
