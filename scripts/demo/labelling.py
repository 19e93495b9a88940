"""A labelling task over new pictures of fruit, and what two annotators and a reviewer did of it so far, each signed in as themselves."""

from typing import Any

import numpy as np
from datasets import FRUIT_PICTURES, NEW_PICTURES, fruit_scene, seed_of
from ingot import Client
from world import World

TASK = "new fruit pictures"
SUBMITTED = (8, 5)  # by the annotators
ACCEPTED = 5
REASON = {"en": "The lemon is called an orange.", "zh": "把柠檬标成了橙子。"}
INSTRUCTIONS = """# Boxes around fruit

Draw **one box around each fruit**, also where another one hides a part of it.

| do | do not |
|---|---|
| close to the edge of the fruit | include its shadow |
| the whole fruit, also the hidden part | one box around several |

- Keys `1` to `6` choose the label, `B` draws a box.
- *Lemons* are yellow and pointed, *oranges* round with a green leaf.
- No fruit at all? Submit with **Nothing to label**.
"""


def _new_pictures(world: World) -> Any:
    """The draft with what is to be labelled; made anew when a run before was ended in it."""
    client = world.client
    first = client.dataset("fruit:v1", project=world.project)
    for draft in list(client.datasets.versions(first.dataset).list(filter="number > 1")):
        client.datasets.versions(first.dataset).delete(draft["id"])
    draft = first.copy("New pictures, to be labelled")
    numbers = range(FRUIT_PICTURES, FRUIT_PICTURES + NEW_PICTURES)
    draft.put([{"name": f"new-{i - FRUIT_PICTURES + 1:02}.jpg", "content": fruit_scene(world, i).jpeg()} for i in numbers])
    return draft.refresh()


def _boxes(world: World, name: str, wrong: bool) -> list[dict[str, Any]]:
    """As a person draws them: some pixels beside, now and then one that is called otherwise."""
    number = FRUIT_PICTURES + int(name.removeprefix("new-").removesuffix(".jpg")) - 1
    rng = np.random.default_rng(seed_of("hand", number))
    boxes = []
    for box in fruit_scene(world, number).boxes:
        moved = {key: float(box[key] + rng.integers(-3, 4)) for key in ("x", "y", "w", "h")}
        moved["x"], moved["y"] = max(0.0, moved["x"]), max(0.0, moved["y"])
        boxes.append({**box, **moved})
    if wrong:
        boxes[0]["label"] = "orange" if boxes[0]["label"] == "lemon" else "lemon"
    return boxes


def _annotate(world: World, client: Client, task: dict[str, Any], count: int, wrong: int | None) -> None:
    work = client.label_tasks.work(task)
    for i, one in zip(range(count), work):
        for box in _boxes(world, one.sample.name, i == wrong):
            one.sample.put(box)
        one.submit()
    work.close()


def _review(client: Client, task: dict[str, Any], wrong_of: int) -> None:
    """The sloppy one's first picture is rejected."""
    accepted, rejected = 0, False
    work = client.label_tasks.work(task, stage="review")
    for one in work:
        author = (one.assignment.get("for_review") or {}).get("annotator") or {}
        if author.get("id") == wrong_of and not rejected:
            one.reject(REASON["en"])
            rejected = True
        elif accepted < ACCEPTED:
            one.accept()
            accepted += 1
        if rejected and accepted == ACCEPTED:
            break
    work.close()


def _forget(world: World) -> None:
    there = world.find("label-tasks", TASK)
    if there:
        if there["state"] not in ("closed", "cancelled", "draft"):
            world.client.label_tasks.cancel(there["id"])
        world.client.label_tasks.delete(there["id"])


def labelling(world: World) -> None:
    there = world.find("label-tasks", TASK)
    if there and there["rejected"]:
        return
    _forget(world)
    draft = _new_pictures(world)
    world.at(3, 10)
    anna, ben, rui = world.people
    annotators = world.make("teams", "annotators", role="labelling", members=[anna["id"], ben["id"]])
    reviewers = world.make("teams", "reviewers", role="review", members=[rui["id"]])
    task = dict(world.client.label_tasks.create(
        project=world.project, name=TASK, version=draft.id, labelling_team=annotators, review_team=reviewers, review_ratio=100,
        selection={"states": ["unannotated"]}, instructions=INSTRUCTIONS, batch_size=6))
    world.client.label_tasks.open(task)
    for number, count in enumerate(SUBMITTED):
        with world.as_person(number) as person:
            _annotate(world, person, task, count, 0 if number == 1 else None)
        world.at(5 + 2 * number, 10)
    with world.as_person(2) as person:
        _review(person, task, ben["id"])
