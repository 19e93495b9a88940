#!/usr/bin/python3
"""Loads the demo project, one stage after the other, or removes it: demo.py load|train|remove PROJECT PERSON...

The server runs it (core/demo), with its address in INGOT_URL, a token of the person who asked in INGOT_TOKEN and the program
`ingot` in INGOT_PROGRAM; PROJECT and PERSON are the ids of the empty project and of the three people that it made. Each step
looks at what is there first, so that a run goes on where one before it was ended. What is printed is for the server: "step
NAME DONE TOTAL"; the reason of a failure is the last line of standard error.
"""

import os
import signal
import sys
import threading
from typing import Callable, NamedTuple

sys.dont_write_bytecode = True  # an installed folder stays as it is

from world import Failed, World, ingot, world  # noqa: E402

import datasets  # noqa: E402
import fetching  # noqa: E402
import labelling  # noqa: E402
import removing  # noqa: E402
import serving  # noqa: E402
import training  # noqa: E402


class Step(NamedTuple):
    name: str
    share: int  # of the stage's time, about
    run: Callable[[World], None]


STAGES = {
    "load": (
        Step("packages", 10, fetching.fetch),
        Step("fruit", 14, datasets.fruit),
        Step("things", 10, datasets.things),
        Step("languages", 3, datasets.languages),
        Step("instruments", 3, datasets.instruments),
        Step("labelling", 14, labelling.labelling),
        Step("classifier", 14, serving.classifier),
        Step("model", 6, serving.chooser),
        Step("evaluations", 16, serving.evaluations),
        Step("service", 10, serving.service),
    ),
    "train": (Step("training", 90, training.train), Step("evaluation", 10, training.evaluation)),
    "remove": (Step("remove", 100, removing.remove),),
}


def end_with_server() -> None:
    """The server holds the other end of standard input: when it is gone, however that came about, so are this and what it started."""
    while os.read(0, 4096):
        pass
    os.killpg(os.getpgid(0), signal.SIGKILL)


def main() -> None:
    if len(sys.argv) < 3 or sys.argv[1] not in STAGES:
        sys.exit("usage: demo.py load|train|remove PROJECT PERSON...")
    if os.environ.get("INGOT_FOLLOWED"):
        threading.Thread(target=end_with_server, daemon=True).start()
    steps = STAGES[sys.argv[1]]
    whole, reached = sum(step.share for step in steps), 0
    with world(int(sys.argv[2]), [int(one) for one in sys.argv[3:]]) as everything:
        for step in steps:
            everything.begin(step.name, reached, step.share, whole)
            step.run(everything)
            reached += step.share


if __name__ == "__main__":
    try:
        main()
    except (Failed, ingot.IngotError, OSError) as error:
        sys.exit(" ".join(str(error).split()) or type(error).__name__)
