"""The packages: all at once, before anything is made, so that a machine without a network is told so at the first step."""

import packages
from world import TABLE, World


def fetch(world: World) -> None:
    done, whole = 0, sum(row["bytes"] for row in TABLE)
    for row in TABLE:
        packages.fetch(row)
        done += row["bytes"]
        world.at(done, whole)
