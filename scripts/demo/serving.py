"""The built-in classifier, a second model made of it, how good both are, and a service with the second as its canary."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import objects
from datasets import thing_scene
from packages import Failed
from world import CLASSIFIER, World, program

CHOOSER, SERVICE = "what-is-it", "what-is-it"
REQUESTS, SHARE = 48, 100  # thousandths for the canary
FIRST_NEW = 100            # numbers of pictures that are in no dataset


def builtin(world: World) -> dict[str, Any] | None:
    """The newest version of the classifier that comes with the platform."""
    for owner in world.client.model_sets.list(filter=f'name = "{CLASSIFIER}"'):
        if owner["project"]["name"] == "built-in":
            for version in world.client.model_sets.versions(owner).page(filter="published = true", sort="-number", limit=1).items:
                return {**version, "set": owner}
    return None


def classifier(world: World) -> None:
    if not builtin(world):
        program("fetch", CLASSIFIER)
    if not builtin(world):
        raise Failed(f"the model {CLASSIFIER} is not there")


# --- the second model ---

def _choose(folder: Path) -> None:
    """The same network, which chooses among the things of the demo alone: their logits are gathered behind it."""
    import onnx
    from graph import INT64
    from onnx import TensorProto, helper, numpy_helper

    manifest = json.loads((folder / "ingot-model.json").read_text())
    labels = sorted(objects.THINGS)
    model = onnx.load(str(folder / "model.onnx"))
    places = np.array([manifest["labels"].index(label) for label in labels], np.int64)
    assert INT64 == TensorProto.INT64
    model.graph.initializer.append(numpy_helper.from_array(places, "places"))
    model.graph.node.append(helper.make_node("Gather", ["logits", "places"], ["chosen"], name="chosen", axis=1))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("chosen", TensorProto.FLOAT, ["batch", len(labels)]))
    onnx.checker.check_model(model)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    manifest.update(title=f"EfficientNet-Lite0, {len(labels)} things", labels=labels, outputs=[{"reading": "softmax", "name": "chosen"}])
    (folder / "ingot-model.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")


README = """# What is it?

The built-in classifier, which knows 1,000 classes of ImageNet, made to choose among {count} of them: behind the network a `Gather` takes
the logits of {names}. No weight was trained; asked about these things alone it is right more often, and it says so of everything else, too.

Made by the demo project; licence as of the built-in model (Apache-2.0).
"""


def chooser(world: World) -> None:
    there = world.find("model-sets", CHOOSER)
    if there and world.client.model_sets.versions(there).page(filter="published = true", limit=1).items:
        return
    base = builtin(world)
    if not base:
        raise Failed(f"the model {CLASSIFIER} is not there")
    folder = world.client.model_sets.download(base["set"], world.folder / CHOOSER, version=base["number"])
    _choose(folder)
    (folder / "README.md").write_text(README.format(count=len(objects.THINGS), names=", ".join(sorted(objects.THINGS))))
    world.at(1, 2)
    world.make("model-sets", CHOOSER, scenario="image-classification", description=f"The built-in classifier, choosing among {len(objects.THINGS)} things")
    world.client.model_sets.upload(folder, CHOOSER, project=world.project, publish=True)


def _versions(world: World) -> list[dict[str, Any]]:
    owner = world.client.model_sets.find(CHOOSER, project=world.project)
    made = world.client.model_sets.versions(owner).page(filter="published = true", sort="-number", limit=1).items[0]
    base = builtin(world)
    if not base:
        raise Failed(f"the model {CLASSIFIER} is not there")
    return [base, dict(made)]


# --- how good they are ---

def evaluations(world: World) -> None:
    """Of one after the other, so that latencies are those of one."""
    data = world.client.datasets.version(world.client.datasets.find("things", project=world.project), 1)
    for i, (name, model) in enumerate(zip(("all of ImageNet", "among the things"), _versions(world))):
        there = world.find("evaluations", name)
        if there and there["state"] in ("failed", "stopped"):
            world.client.evaluations.start(there["id"])
        elif not there:
            there = dict(world.client.evaluations.create(project=world.project, name=name, model_version=model["id"], dataset_version=data["id"]))
        world.client.evaluations.wait(there["id"], progress=lambda _, done, total: world.at(i + done / max(total, 1), 2))


# --- the service ---

def _deploy(world: World, role: str, model: dict[str, Any]) -> None:
    there = world.find("services", SERVICE)
    versions = list(world.client.services.of(there).versions.list()) if there else []
    if not any(v["role"] == role and v["model_version"] and v["model_version"]["id"] == model["id"] for v in versions):
        world.client.services.deploy(SERVICE, project=world.project, model_version=model["id"], role=role, wait=False)


def service(world: World) -> None:
    for role, model in zip(("production", "canary"), _versions(world)):
        _deploy(world, role, model)
    handle = world.client.services[f"{world.project['name']}/{SERVICE}"]
    for version in handle.versions.list():
        if version["role"] != "retired":
            handle.wait(version["id"])
    world.at(1, 3)
    if handle.service["share"] != SHARE:
        handle.share(SHARE / 1000)
    labels = sorted(objects.THINGS)
    asked = [thing_scene(world, labels[i % len(labels)], FIRST_NEW + i).jpeg() for i in range(REQUESTS)]
    if sum(point["requests"] for version in handle.traffic() for point in version["points"]) >= REQUESTS:
        return
    handle.predict_all(asked, type="image/jpeg", workers=2, progress=lambda _, done, total: world.at(1 + 2 * done / total, 3))


__all__ = ["builtin", "chooser", "classifier", "evaluations", "service"]
