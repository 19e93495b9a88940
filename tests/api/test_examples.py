"""Every program of examples/ runs for real, through the public API. They do not depend on the database: once is enough."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT, unique
from test_datasets import bring
from test_files import put
from test_training import instance_path, log, model_set, reached, saved, start  # noqa: F401

pytestmark = pytest.mark.skipif(os.environ.get("INGOT_TEST_DB") == "postgres", reason="runs with SQLite")
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def project(admin) -> dict:
    return admin.post("projects", {"name": unique("examples")})


@pytest.fixture
def spec(admin):
    def make(cpus: float, memory: int) -> int:
        return admin.post("specs", {"name": unique("spec"), "cpus": cpus, "memory": memory << 20})["id"]
    return make


@pytest.fixture
def code(admin, project):
    """The folder of an example as a version of an algorithm set."""
    def version(folder: str) -> int:
        made = admin.post("algorithm-sets", {"name": unique(folder), "project": project["id"]})
        v = admin.post(f"algorithm-sets/{made['id']}/versions", {})
        for file in sorted((EXAMPLES / folder).glob("*.py")):
            put(admin, f"algorithm-sets/{made['id']}/versions/{v['id']}", file.name, file.read_bytes())
        return v["id"]
    return version


@pytest.fixture
def train(admin, project):
    def run(command: str, **fields) -> dict:
        body = {"project": project["id"], "name": unique("training"), "command": command, **fields}
        return start(admin, admin.post("trainings", body))
    return run


def completed(api, instance: dict) -> list[str]:
    done = reached(api, instance)
    lines = log(api, instance)
    assert done["state"] == "completed", (done["reason"], lines)
    return lines


def series(api, instance: dict, name: str) -> list[float]:
    return next([p[2] for p in s["points"]] for s in api.get(instance_path(instance) + "/metrics")["series"] if s["name"] == name)


@pytest.fixture(scope="module")
def digits(admin, project, tmp_path_factory) -> int:
    """A dataset version made as the example says: from a registry package to pictures to samples."""
    archive: Path = tmp_path_factory.mktemp("digits") / "digits.zip"
    subprocess.run([sys.executable, EXAMPLES / "digits" / "fetch.py", archive, "400"], check=True)
    made = admin.post("datasets", {"name": "digits", "project": project["id"], "annotation_type": "image-class"})
    version = admin.post(f"datasets/{made['id']}/versions", {})
    bring(admin, project, f"datasets/{made['id']}/versions/{version['id']}", "digits.zip", archive.read_bytes())
    return version["id"]


def test_a_classifier(admin, digits, train, code, spec, model_set):
    instance = train("python3 train.py --epochs 6", datasets=[digits], algorithm=code("digits"), spec=spec(0.9, 1024), save_to=model_set["id"])
    completed(admin, instance)
    accuracy = series(admin, instance, "acc")
    assert len(accuracy) == 6 and accuracy[-1] > 0.8, accuracy
    version = saved(admin, instance)
    assert version["files"] == 3 and version["lineage"]["data"][0]["version"]["id"] == digits
    said = admin.get(f"model-sets/{model_set['id']}/versions/{version['id']}/manifest")["manifest"]
    assert said["task"] == "image-class" and len(said["labels"]) == 10


def test_two_nodes_with_torchrun(admin, digits, train, code, spec):
    instance = train("torchrun train_ddp.py", datasets=[digits], algorithm=code("digits"), spec=spec(0.8, 1024), nodes=2,
                     env={"PET_MONITOR_INTERVAL": "0.2"})
    lines = completed(admin, instance)
    job = admin.get(instance_path(instance))["job"]["id"]
    assert f"rank 0 of 2 on job-{job}-0" in lines and f"rank 1 of 2 on job-{job}-1" in log(admin, instance, rank=1)
    assert "rank 0 has the same weights: True" in lines
    accuracy = series(admin, instance, "acc")
    assert len(accuracy) == 6 and accuracy[-1] > 0.7, accuracy


def test_an_mpi_program(admin, train, code, spec):
    instance = train("mpirun python3 pi.py", algorithm=code("mpi"), spec=spec(0.5, 256), nodes=2, launcher="first")
    lines = completed(admin, instance)
    job = admin.get(instance_path(instance))["job"]["id"]
    assert "pi is 3.141592654" in lines
    assert {line.split(":")[0] for line in lines if line.startswith("process")} == {
        f"process {rank} of 2 on job-{job}-{rank}" for rank in (0, 1)}


def test_resuming_from_a_checkpoint(admin, train, code, spec, model_set):
    first = train("python3 train.py --steps 200 --fail-at 100", algorithm=code("resume"), spec=spec(0.2, 128), save_to=model_set["id"])
    assert reached(admin, first)["state"] == "failed"
    assert saved(admin, first)["files"] == 1
    training = admin.get(f"trainings/{first['training']['id']}")
    admin.patch(f"trainings/{training['id']}", {"command": "python3 train.py --steps 200"}, revision=training["revision"])
    second = admin.post(instance_path(first) + "/resume")
    lines = completed(admin, second)
    assert "going on after step 100" in lines and "y = 3.000 x + 2.000" in lines, lines
    assert saved(admin, second)["lineage"]["resumed_from"]["id"] == first["id"]
