"""What a training says: lines for people, and JSON lines that the platform turns into curves (docs/training.md)."""

import json
import math

from . import nodes


def say(text: str) -> None:
    if nodes.first():
        print(text, flush=True)


def metrics(step: int, **values: float) -> None:
    """One point of each curve. What is no number is left out."""
    kept = {name: round(float(value), 6) for name, value in values.items() if value is not None and math.isfinite(value)}
    say(json.dumps({"step": int(step), **kept}))
