"""The second stage: one-click training on the boxes of fruit, and how good its model is."""

import time
from typing import Any

from ingot import RunFailed
from world import World

MINUTES = 5
MODEL = "fruit"


def _model(world: World) -> dict[str, Any] | None:
    """The newest version that was saved."""
    there = world.find("model-sets", MODEL)
    for version in world.client.model_sets.versions(there).page(filter="published = true", sort="-number", limit=1).items if there else ():
        return dict(version)
    return None


def _run_in_work(world: World) -> Any:
    from ingot import Run

    for run in world.client.kind("training-instances").list(project=world.project, sort="-id"):
        if run["state"] not in ("completed", "failed", "stopped", "cancelled"):
            return Run(world.client, run)
    return None


def train(world: World) -> None:
    if _model(world):
        return
    run = _run_in_work(world) or world.client.datasets.train("fruit", 1, project=world.project, minutes=MINUTES)
    began = time.monotonic()
    run.wait(progress=lambda _what, _done, _total: world.at(time.monotonic() - began, MINUTES * 75))
    if not run.model():
        raise RunFailed(run.refresh())


def evaluation(world: World) -> None:
    there, model = world.find("evaluations", "fruit detector"), _model(world)
    data = world.client.datasets.version(world.client.datasets.find("fruit", project=world.project), 1)
    if there and there["state"] in ("failed", "stopped"):
        world.client.evaluations.start(there["id"])
    elif not there and model:
        there = dict(world.client.evaluations.create(project=world.project, name="fruit detector", model_version=model["id"], dataset_version=data["id"],
                                                     part="splits", splits=["test"]))
    if there:
        world.client.evaluations.wait(there["id"], progress=world.meter)
