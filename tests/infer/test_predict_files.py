"""ingot-infer predict: files to annotations without a server."""

import json
import subprocess

import predict_models as make
import pytest
from conftest import BUILD
from test_predict import encoded, scene

INFER, DRIVER = BUILD / "ingot-infer", BUILD / "tests/infer/predict_driver"


def predict(*arguments, ok=True):
    run = subprocess.run([str(word) for word in (INFER, "predict", *arguments)], capture_output=True, text=True,
                         timeout=300)
    assert "Sanitizer" not in run.stderr and "runtime error" not in run.stderr, run.stderr
    assert (run.returncode == 0) == ok, run.stderr
    return run


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def place(tmp_path):
    """A classifier, a folder of 40 pictures, and where to write."""
    (tmp_path / "model").mkdir()
    make.image_class(tmp_path / "model")
    (tmp_path / "data/b").mkdir(parents=True)
    for i in range(40):
        (tmp_path / f"data/{'b/' if i % 2 else ''}{i:03}.jpg").write_bytes(encoded(scene(i), i))
    (tmp_path / "data/ingot.jsonl").write_text('{"ingot":1}\n')
    (tmp_path / "data/.hidden").write_text("x")
    return tmp_path


def test_says_what_the_library_says_in_order(place):
    predict("--model", place / "model", "--out", place / "found.jsonl", "--threads", 3, place / "data")
    head, *rows = lines(place / "found.jsonl")
    assert head["ingot"] == 1 and head["type"] == "image-class" and len(head["labels"]) > 1
    files = [row["file"] for row in rows]
    assert files == sorted(files) and len(files) == 40
    peer = subprocess.run([DRIVER, "predict", place / "model", "exact=true", "score=0.01", "--",
                           *(place / "data" / name for name in files)], capture_output=True, text=True, check=True)
    for row, line in zip(rows, peer.stdout.splitlines()):
        assert row["annotation"] == json.loads(line)["annotation"]
        assert row["width"] > 0 and row["height"] > 0 and row["us"] > 0
    assert head["threads"] == 3 and "processor" in head


def test_list_in_its_order_with_errors_per_file(place):
    (place / "outside.jpg").write_bytes(encoded(scene(1), 1))
    (place / "data/link.jpg").symlink_to(place / "outside.jpg")
    (place / "data/broken.jpg").write_bytes(b"no picture")
    names = ["b/003.jpg", "002.jpg", "broken.jpg", "absent.jpg", "../outside.jpg", "link.jpg", "b", "000.jpg"]
    (place / "list.txt").write_text("\n".join(names) + "\n\n")
    run = predict("--model", place / "model", "--out", place / "found.jsonl", "--root", place / "data",
                  "--progress", place / "progress", place / "list.txt")
    rows = lines(place / "found.jsonl")[1:]
    assert [row["file"] for row in rows] == names
    assert [row["file"] for row in rows if "error" in row] == names[2:7]
    assert all(("error" in row) != ("annotation" in row) for row in rows)
    assert "8 of 8 files, 5 failed" in run.stderr
    assert (place / "progress").read_text().split() == ["8", "8"]


def test_list_of_json_lines(place):
    (place / "data/list.jsonl").write_text('{"ingot":1,"type":"image-class"}\n{"file":"002.jpg"}\n{"file":"000.jpg"}\n')
    run = predict("--model", place / "model", "--out", "-", place / "data/list.jsonl")
    assert [json.loads(line).get("file") for line in run.stdout.splitlines()] == [None, "002.jpg", "000.jpg"]


def test_low_scores_are_kept_unless_asked(tmp_path):
    (tmp_path / "model").mkdir()
    make.image_class(tmp_path / "model", task="image-classes", reading="sigmoid")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.png").write_bytes(encoded(scene(3), 3))

    def labels(*more):
        run = predict("--model", tmp_path / "model", "--out", "-", *more, tmp_path / "data")
        return len(json.loads(run.stdout.splitlines()[1])["annotation"].get("labels", []))

    assert labels("--score", 0) >= labels() >= labels("--score", 0.99)
    assert labels("--score", 0) > labels("--score", 1)


def test_refuses_with_a_sentence(place):
    for arguments, says in (((place / "data",), "--model and --out"),
                            (("--model", place / "data", "--out", "-", place / "data"), "model.onnx"),
                            (("--model", place / "model", "--out", "-"), "one folder"),
                            (("--model", place / "model", "--out", "-", place / "nowhere"), "nowhere"),
                            (("--model", place / "model", "--out", "-", "--threads", 0, place / "data"), "1 to 256"),
                            (("--model", place / "model", "--out", "-", "--score", 2, place / "data"), "score"),
                            (("--model", place / "model", "--out", place / "no/such", place / "data"), "no/such")):
        run = predict(*arguments, ok=False)
        assert says in run.stderr, run.stderr
        assert run.returncode > 0


def test_links_lead_nowhere(place):
    (place / "secret").mkdir()
    (place / "secret/a.jpg").write_bytes(encoded(scene(1), 1))
    (place / "data/away").symlink_to(place / "secret")
    (place / "list.txt").write_text("away/a.jpg\n")
    predict("--model", place / "model", "--out", place / "found.jsonl", "--root", place / "data", place / "list.txt")
    assert "error" in lines(place / "found.jsonl")[1]


def test_many_files_in_little_memory(place):
    """Far more files than threads: order holds, and none is lost."""
    picture = (place / "data/000.jpg").read_bytes()
    (place / "many").mkdir()
    for i in range(500):
        (place / f"many/{i:04}.jpg").write_bytes(picture)
    predict("--model", place / "model", "--out", place / "found.jsonl", "--threads", 7, place / "many")
    rows = lines(place / "found.jsonl")[1:]
    assert [row["file"] for row in rows] == [f"{i:04}.jpg" for i in range(500)]
    assert len({json.dumps(row["annotation"]) for row in rows}) == 1
