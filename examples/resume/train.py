"""A training that can be stopped at any time and goes on where it was.

ingot train run --name line --algo resume --spec small --save-to line -- python3 train.py --steps 200
ingot train resume line

After every few steps it writes a checkpoint to /workspace/persistent-model. A resumed run finds it there (INGOT_RESUME=1),
and so does a run that the platform tries again after a failure.
"""

import argparse
import json
import os
import random
from pathlib import Path

CHECKPOINT = Path("/workspace/persistent-model/checkpoint.json")


def load() -> dict:
    if os.environ.get("INGOT_RESUME") and CHECKPOINT.exists():
        state = json.loads(CHECKPOINT.read_text())
        print(f"going on after step {state['step']}")
        return state
    return {"step": 0, "slope": 0.0, "offset": 0.0}


def save(state: dict) -> None:
    """Whole or not at all, whenever the process ends."""
    half = CHECKPOINT.with_suffix(".part")
    half.write_text(json.dumps(state))
    os.replace(half, CHECKPOINT)


def main() -> None:
    flags = argparse.ArgumentParser()
    flags.add_argument("--steps", type=int, default=200)
    flags.add_argument("--fail-at", type=int, help="end badly after this step")
    options = flags.parse_args()
    state = load()
    while state["step"] < options.steps:
        state["step"] += 1
        x = random.Random(state["step"]).uniform(-1, 1)
        error = state["slope"] * x + state["offset"] - (3 * x + 2)
        state["slope"] -= 0.2 * error * x
        state["offset"] -= 0.2 * error
        if state["step"] % 10 == 0:
            print(f"step={state['step']} loss={error * error:.6f}")
            save(state)
        if state["step"] == options.fail_at:
            raise SystemExit("something broke")
    print(f"y = {state['slope']:.3f} x + {state['offset']:.3f}")


if __name__ == "__main__":
    main()
