"""What all trainings share: refusals, parts, parameters, time, ending early, going on."""

import json
import os
import signal
import subprocess

import conftest
import generate
import pytest
from conftest import command, environment, points, train, until


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    return generate.pictures(tmp_path_factory.mktemp("shapes") / "data", "image-class", 60, (64, 48))


def plan(data, **parameters):
    done = subprocess.run([conftest.PYTHON, "-m", "ingot_learn", "plan", "--data", str(data), "--parameters", json.dumps(parameters)],
                          env=environment(), capture_output=True, text=True)
    assert done.returncode in (0, 2), done.stderr
    return json.loads(done.stdout)


def index(folder, rows, type="image-class"):
    folder.mkdir()
    head = {"ingot": 1, "type": type}
    (folder / "ingot.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [head, *rows]), encoding="utf-8")
    return folder


def rows(*labels, **more):
    return [{"file": f"{i}.png", "annotation": {"labels": [label]}, **more} for i, label in enumerate(labels)]


REFUSED = [
    ("one-class", rows("cat", "cat", "cat"), {}),
    ("one-class", rows("cat", "dog", "cat"), {"leave_out": ["dog"]}),
    ("one-class", rows("cat", "dog", "cat"), {"merge": {"dog": "cat"}}),
    ("nothing", [{"file": "a.png", "annotation": {}}], {}),
    ("bad-file", [{"file": "../a.png", "annotation": {"labels": ["x"]}}], {}),
    ("parameter", rows("cat", "dog"), {"minutes": 0}),
    ("parameter", rows("cat", "dog"), {"minuts": 1}),
    ("parameter", rows("cat", "dog"), {"leave_out": "dog"}),
]


@pytest.mark.parametrize("id, lines, parameters", REFUSED)
def test_what_cannot_be_learned_is_refused_with_a_sentence(tmp_path, id, lines, parameters):
    refusal = plan(index(tmp_path / "data", lines), **parameters)["refusal"]
    assert refusal["id"] == id and refusal["en"] and any("\u4e00" <= c <= "\u9fff" for c in refusal["zh"])


def test_a_training_that_is_refused_fails(tmp_path):
    done = train(index(tmp_path / "data", rows("cat", "cat")), tmp_path / "out", check=False, minutes=1)
    assert done.returncode == 2 and "at least two" in done.stderr and "至少需要两个" in done.stderr
    assert not (tmp_path / "out" / "ingot-model.json").exists()


def test_the_plan_says_what_would_happen(tmp_path):
    lines = rows(*["cat"] * 12, *["dog"] * 7, "bird")
    lines[0]["annotation"] = {}
    lines[1]["annotation"] = {"labels": ["cat", "dog"]}
    told = plan(index(tmp_path / "data", lines), leave_out=["bird"])
    assert told["ok"] and {row["label"]: row["count"] for row in told["classes"]} == {"cat": 10, "dog": 7}
    assert told["unannotated"] == 1 and sum(told["parts"].values()) == 17 and told["parts"]["test"] == 3
    assert {row["id"] for row in told["warnings"]} == {"very-few", "few", "unfit"}


@pytest.mark.parametrize("type, negatives", [("detection", 3), ("image-classes", 3), ("image-class", 0)])
def test_an_annotation_that_says_nothing_is_a_negative(tmp_path, type, negatives):
    """As the platform writes them: without the member nobody has looked at the sample."""
    box = {"type": "box", "x": 1, "y": 1, "w": 2, "h": 2}
    lines = [{"file": f"{i}.png", "annotation": {"shapes": [{**box, "label": label}]} if type == "detection" else {"labels": [label]}}
             for i, label in enumerate(["cat", "dog"] * 10)]
    lines += [{"file": f"empty-{i}.png", "annotation": {}} for i in range(3)] + [{"file": "open.png"}]
    told = plan(index(tmp_path / "data", lines, type))
    assert (told["negatives"], told["samples"], told["unannotated"]) == (negatives, 20 + negatives, 4 - negatives)


def test_parts_that_samples_have_stay(tmp_path):
    lines = rows(*["cat", "dog"] * 20)
    for row in lines[:8]:
        row["split"] = "test"
    for row in lines[8:]:
        row["split"] = "train"
    told = plan(index(tmp_path / "data", lines))
    assert told["parts"]["test"] == 8 and told["parts"]["train"] + told["parts"]["val"] == 32


def test_few_samples_have_no_test_part(tmp_path):
    told = plan(index(tmp_path / "data", rows(*["cat", "dog"] * 4)))
    assert told["parts"] == {"train": 8, "val": 0, "test": 0} and "no-test" in {row["id"] for row in told["warnings"]}


def test_pictures_are_bent_the_more_the_more_often_each_is_seen():
    script = "from ingot_learn.tasks.image_class import bending; print([round(bending(n), 2) for n in (0.5, 6, 8, 20, 32, 200)])"
    done = subprocess.run([conftest.PYTHON, "-c", script], env=conftest.environment(), capture_output=True, text=True)
    assert json.loads(done.stdout) == [0, 0, 0, 0.5, 1, 1], done.stderr


def test_batches_fit_into_the_memory_there_is():
    """Smaller where memory is short, with a line that says so; refused before the first step where nothing fits."""
    script = """
from ingot_learn import machine
from ingot_learn.errors import Refused
machine.memory, machine.resident = (lambda: 2 << 30), (lambda: 900 << 20)
print(machine.fitting(4, 1 << 20), 1 <= machine.fitting(512, 20 << 20) < 50, machine.fitting(8, 1000 << 20))
try:
    machine.fitting(1, 1200 << 20)
except Refused as refused:
    print(refused.id)
"""
    done = subprocess.run([conftest.PYTHON, "-c", script], env=environment(), capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[-2:] == ["4 True 1", "memory"], done.stdout + done.stderr
    assert sum("more does not fit into memory" in line for line in lines) == 2


def test_a_container_that_is_too_small_is_refused_before_anything_is_read(shapes, tmp_path):
    """A container does not see its limit: the platform says it."""
    done = train(shapes, tmp_path / "out", check=False, env={"INGOT_MEMORY": str(512 << 20)}, minutes=1)
    assert done.returncode == 2 and "the container has 512 MB" in done.stderr and "512 MB" in done.stderr.splitlines()[-1]


def test_a_short_budget_is_enough_for_a_model(shapes, tmp_path):
    train(shapes, tmp_path / "out", minutes=10 / 60, size=32)
    assert (tmp_path / "out" / "ingot-model.json").exists()


def test_one_sample_of_each_label_is_enough_for_a_model(tmp_path):
    data = generate.pictures(tmp_path / "data", "image-class", 3, (64, 48))
    done = train(data, tmp_path / "out", minutes=5, epochs=1, size=32)
    assert "will often be wrong" in done.stdout and "nobody will know" in done.stdout
    assert (tmp_path / "out" / "ingot-model.json").exists() and "nobody knows" in (tmp_path / "out" / "README.md").read_text()


def begin(data, out, *more, **parameters):
    return subprocess.Popen(command(data, out, *more), env=environment(INGOT_PARAMETERS=json.dumps(parameters)), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def read_until(process, condition):
    text = ""
    for line in process.stdout:
        text += line
        if condition(text):
            return text
    raise AssertionError(text)


def test_ending_early_keeps_the_best_and_a_resumed_training_goes_on(shapes, tmp_path):
    out = tmp_path / "out"
    process = begin(shapes, out, minutes=30, epochs=10000, size=32)
    read_until(process, lambda text: sum("accuracy" in row for row in points(text)) >= 3)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=conftest.PATIENCE)
    assert process.returncode == 0 and (out / "ingot-model.json").exists() and (out / "checkpoint" / "state.pt").exists()
    parts = json.loads((out / "split.json").read_text())
    # Another seed would split anew, but a resumed training keeps what it has never seen.
    done = train(shapes, out, env={"INGOT_RESUME": "1"}, minutes=5, epochs=2, size=32, seed=5)
    assert "going on from a checkpoint" in done.stdout
    assert json.loads((out / "split.json").read_text())["test"] == parts["test"]


def test_a_killed_training_goes_on_at_its_step(shapes, tmp_path):
    out = tmp_path / "out"
    process = begin(shapes, out, minutes=30, epochs=10000, size=32)
    state = out / "checkpoint" / "state.pt"
    reader = iter(process.stdout.readline, "")
    until(lambda: next(reader) is not None and state.exists(), "a checkpoint")
    process.kill()
    process.communicate()
    done = begin(shapes, out, "--resume", minutes=30, epochs=10000, size=32)
    text = read_until(done, lambda text: any("loss" in row for row in points(text)))
    first = next(row for row in points(text) if "loss" in row)
    assert first["step"] > 1 and "going on from a checkpoint" in text
    done.send_signal(signal.SIGTERM)
    done.communicate(timeout=conftest.PATIENCE)
    assert done.returncode == 0


def test_a_checkpoint_of_something_else_is_left_aside(shapes, tmp_path):
    out = tmp_path / "out"
    train(shapes, out, minutes=5, epochs=1, size=32)
    done = train(shapes, out, "--resume", minutes=5, epochs=1, size=32, leave_out=[generate.LABELS[2]])
    assert "other labels" in done.stdout
    (out / "checkpoint" / "state.pt").write_bytes(os.urandom(1000))
    done = train(shapes, out, "--resume", minutes=5, epochs=1, size=32)
    assert "cannot be read" in done.stdout


def test_two_nodes_train_one_model(shapes, tmp_path):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nodes = [subprocess.Popen(command(shapes, tmp_path / "out"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(
        INGOT_PARAMETERS=json.dumps({"minutes": 5, "epochs": 2, "size": 32}), WORLD_SIZE="2", RANK=str(rank), LOCAL_RANK="0",
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))) for rank in range(2)]
    said = [node.communicate(timeout=conftest.PATIENCE)[0] for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0], said
    assert (tmp_path / "out" / "ingot-model.json").exists() and points(said[0]) and not points(said[1])


LOOP = """
import sys, tempfile
from pathlib import Path
import torch
from ingot_learn import loop
from ingot_learn.checkpoint import Checkpoint
from ingot_learn.clock import Clock
from ingot_learn.errors import Refused
good, steps, net = int(sys.argv[1]), [], torch.nn.Linear(1, 1)
def loss(numbers):
    steps.append(1)
    return net(torch.ones(1, 1)).sum() * (1 if len(steps) <= good else float("nan"))
figure = iter([0.5, 0.75, 0.25, 0.1]).__next__
with tempfile.TemporaryDirectory() as folder:
    plan = loop.Plan(net, loop.split_decay(net, 0.01, 0.0), 4, 4, loss, lambda: (figure(), {}), Clock(1), Checkpoint(Path(folder), {}), "s")
    plan.clock.left = lambda: 60.0
    runs = loop.Loop(plan, 1)
    runs.judge_is_due = lambda: True
    try:
        best = runs.run()
        print(best, all(torch.isfinite(p).all() for p in net.parameters()))
    except Refused as refused:
        print(refused.id, refused.en)
"""


@pytest.mark.parametrize("good, said", [(0, "diverged the loss is NaN from the first steps on"), (3, "0.75 True")])
def test_a_loss_that_is_no_number(good, said):
    """At once there is nothing to keep; later the best so far is kept."""
    done = subprocess.run([conftest.PYTHON, "-c", LOOP, str(good)], env=environment(), capture_output=True, text=True)
    assert done.stdout.splitlines()[-1].startswith(said), done.stdout + done.stderr
    assert ("the loss became NaN" in done.stdout) == (good > 0)


def test_a_full_disk_is_said_and_leaves_no_half_model(shapes, tmp_path):
    """On a file system of its own that takes 200 KB: neither checkpoint nor model fit."""
    out = tmp_path / "out"
    out.mkdir()
    mounted = 'mount -t tmpfs -o size=200k none "$1" && shift && "$@"; code=$?; ls -R "$OUT" >&2; exit $code'
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    done = subprocess.run([*own, "sh", "-c", mounted, "sh", str(out), *command(shapes, out)], capture_output=True, text=True, timeout=conftest.PATIENCE,
                          env=environment(OUT=str(out), INGOT_PARAMETERS=json.dumps({"minutes": 5, "epochs": 2, "size": 32})))
    assert done.returncode == 1 and "No space left on device: " in done.stderr and "磁盘空间不足" in done.stderr, done.stdout + done.stderr
    assert done.stdout.count("the checkpoint cannot be written") == 1
    assert "ingot-model.json" not in done.stderr and "state.pt" not in done.stderr


@pytest.mark.parametrize(("doubt", "kept"), [(0.1, 3), (0.01, 2)])
def test_the_last_net_stays_unless_one_before_was_better_by_more_than_chance(doubt, kept):
    """Three judgements say .5, .9, .85; the net is a number that grows by one with each step."""
    script = f"""
import torch
from pathlib import Path
from ingot_learn import checkpoint, clock, loop
net, said = torch.nn.Linear(1, 1), iter([0.5, 0.9, 0.85])
net.weight.data.fill_(0)
def loss(numbers):
    with torch.no_grad():
        net.weight += 1
    return 0 * net.weight.sum()
figure = lambda: (next(said), {{}})
plan = loop.Plan(net, [{{"params": list(net.parameters()), "lr": 0.0, "weight_decay": 0.0}}], 4, 4, loss, figure, clock.Clock(10), checkpoint.Checkpoint(Path("/nowhere"), {{}}), "x",
                 epochs=3, doubt=lambda figure: {doubt})
plan.checkpoint.keep = lambda *_: None
one = loop.Loop(plan, 1)
one.judge_is_due = lambda: one.epoch < 3
one.run()
print("kept", float(net.weight))
"""
    done = subprocess.run([conftest.PYTHON, "-c", script], env=environment(), capture_output=True, text=True)
    assert f"kept {kept:.1f}" in done.stdout, done.stdout + done.stderr
