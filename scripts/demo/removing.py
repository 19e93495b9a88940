"""Takes away all that is in the demo's project, whoever made it, then its people and the project itself."""

import time
from typing import Any

import ingot
from world import World

ROUNDS = 60  # one more, as long as something went: what refers to another object goes before it
#: Objects that are ended before they can be deleted: the action, and the states in which it is not needed.
ENDED = (
    ("services", "stop", ("stopped",)),
    ("environments", "stop", ("stopped", "failed", "draft")),
    ("training-instances", "stop", ("completed", "failed", "stopped", "cancelled")),
    ("evaluations", "stop", ("completed", "failed", "stopped")),
    ("jobs", "stop", ("completed", "succeeded", "failed", "stopped", "cancelled", "timeout")),
    ("label-tasks", "cancel", ("draft", "closed", "cancelled")),
    ("tasks", "cancel", ("done", "failed", "cancelled")),
)


def _end(world: World) -> None:
    for plural, action, over in ENDED:
        for one in world.client.kind(plural).list(project=world.project):
            if one["state"] not in over:
                _tried(lambda: world.client.request("POST", f"{_path(plural, one)}/{action}", json={}))


def _path(plural: str, one: dict[str, Any]) -> str:
    if plural == "training-instances":
        return f"trainings/{one['training']['id']}/instances/{one['id']}"
    return f"{plural}/{one['id']}"


def _tried(call: Any) -> bool:
    """False: something refers to it still, or it has not ended yet. What is gone already is fine."""
    try:
        call()
    except ingot.NotFound:
        pass
    except (ingot.Conflict, ingot.Stale, ingot.Invalid):
        return False
    return True


def _delete(world: World, kind: dict[str, Any]) -> tuple[int, int]:
    """How many went, how many stayed."""
    gone = left = 0
    client, owners = world.client, world.client.kind(kind["plural"])
    for one in list(owners.list(project=world.project)):
        if _tried(lambda: owners.delete(one["id"])):
            gone += 1
            continue
        left += 1
        for child in (k for k in client.kinds() if k["parent"] == kind["name"] and "delete" in k["verbs"]):
            children = owners.children(one, child["plural"])
            gone += sum(_tried(lambda: children.delete(part["id"])) for part in list(children.list()))
    return gone, left


def _empty(world: World) -> None:
    kinds = [k for k in world.client.kinds() if k["scope"] == "project" and "delete" in k["verbs"]]
    most = last = 0
    for _ in range(ROUNDS):
        _end(world)
        counts = [_delete(world, kind) for kind in kinds]
        left = sum(stayed for _, stayed in counts)
        most = max(most, left)
        world.at(most - left, most + 1)
        if not left:
            break
        if not any(gone for gone, _ in counts) and left == last:
            time.sleep(.5)  # jobs end, replicas go
        last = left


def remove(world: World) -> None:
    """Done again after it was ended in the middle, it goes on."""
    if world.project:
        _empty(world)
        world.client.projects.delete(world.project["id"])
    for person in filter(None, world.people):
        world.client.users.delete(person["id"])
