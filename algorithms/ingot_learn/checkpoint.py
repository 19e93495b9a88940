"""What a training needs to go on after it was stopped: one file of tensors and numbers, written whole or not at all.

A finished stage leaves its result, a running one where it is. The file names what it belongs to (type, labels, size); one
of something else is left aside."""

import io
import os
import time
from pathlib import Path

import torch

from . import nodes
from .log import say

NAME = "state.pt"
EVERY = 20.0  # seconds


def _packed(value):
    """torch's careful reader knows no Python floats: they are written as tensors of 64 bits without dimensions."""
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    if isinstance(value, dict):
        return {name: _packed(one) for name, one in value.items()}
    return [_packed(one) for one in value] if isinstance(value, (list, tuple)) else value


def _unpacked(value):
    if isinstance(value, torch.Tensor):
        return float(value) if value.dtype == torch.float64 and value.ndim == 0 else value
    if isinstance(value, dict):
        return {name: _unpacked(one) for name, one in value.items()}
    return [_unpacked(one) for one in value] if isinstance(value, list) else value


class Checkpoint:
    def __init__(self, folder: Path, about: dict) -> None:
        self.folder, self.about, self.stages, self.elapsed, self.done = folder, about, {}, 0.0, False
        self.written, self.cost = -EVERY, 0.0  # the first is written at once: a full disk is better known early
        self.full = False  # it could not be written, which was said
        self.used = lambda: 0.0  # seconds of the budget, set by whoever has the clock

    def read(self, *folders: Path) -> bool:
        """From the first folder that has one; weights only, nothing in the file is run."""
        for folder in folders:
            try:
                state = _unpacked(torch.load(folder / NAME, weights_only=True))
                if state["about"] == self.about:
                    self.stages, self.elapsed, self.done = state["stages"], state["elapsed"], state["done"]
                    return True
                say("the checkpoint belongs to other labels or another task: starting anew")
            except FileNotFoundError:
                continue
            except Exception as error:  # a damaged file is no reason not to train
                say(f"the checkpoint cannot be read ({type(error).__name__}): starting anew")
        return False

    def take(self, stage: str) -> "dict | None":
        return self.stages.pop(stage, None)

    def keep(self, stage: str, state) -> None:
        """`state` is called when it is time."""
        now = time.monotonic()
        if not nodes.first() or now - self.written < max(EVERY, 20 * self.cost):
            return
        self.write({**self.stages, stage: state()})
        self.cost, self.written = time.monotonic() - now, time.monotonic()

    def finish(self, stage: str, state: dict) -> None:
        """The result of a stage: later stages and the next run find it."""
        self.stages[stage] = state
        if nodes.first():
            self.write(self.stages)

    def end(self, state: dict) -> None:
        """Only the best weights stay; a resumed training begins from them."""
        self.stages, self.done = {"best": state}, True
        if nodes.first():
            self.write(self.stages)

    def write(self, stages: dict) -> None:
        """A disk that is full ends no training: it only cannot go on from here after it was stopped."""
        partial, text = self.folder / (NAME + ".part"), io.BytesIO()
        # Packed in memory first: torch's own writer aborts the program when the disk is full.
        torch.save(_packed({"about": self.about, "stages": stages, "elapsed": self.used(), "done": self.done}), text)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with open(partial, "wb") as file:
                file.write(text.getbuffer())
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.folder / NAME)
            self.full = False
        except OSError as error:
            partial.unlink(missing_ok=True)
            if not self.full:
                say(f"warning: the checkpoint cannot be written, so a stopped run begins anew: {error}")
            self.full = True
