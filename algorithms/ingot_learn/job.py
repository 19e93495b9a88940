"""All that a task is given."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

from . import data
from .checkpoint import Checkpoint
from .clock import Clock


@dataclass
class Job:
    dataset: data.Dataset
    parts: dict
    params: SimpleNamespace
    clock: Clock
    checkpoint: Checkpoint
    base: "Path | None"
    threads: int
    skipped: list = field(default_factory=list)  # (file, reason): what could not be read

    def generator(self, salt: int = 0) -> torch.Generator:
        return torch.Generator().manual_seed(self.params.seed * 1000003 + salt)

    def chooser(self) -> list:
        """The samples a model is chosen by: the validation part, or where there is none what it learned from."""
        return self.parts["val"] or self.parts["train"]

    def numbers(self) -> dict:
        return {label: i for i, label in enumerate(self.dataset.labels)}

    def targets(self, samples: list) -> np.ndarray:
        """Class numbers, or rows of 0 and 1 where samples may have several labels."""
        number = self.numbers()
        if not self.dataset.many:
            return np.array([number[one.labels[0]] for one in samples], np.int64)
        rows = np.zeros((len(samples), len(number)), np.int64)
        for i, one in enumerate(samples):
            rows[i, [number[label] for label in one.labels]] = 1
        return rows
