"""What a task hands back: a net that is ready to be written, how its input and output are read, and how good it is."""

from dataclasses import dataclass, field
from typing import Callable

import torch


@dataclass
class Result:
    net: torch.nn.Module  # from what the manifest's inputs give to what its outputs read
    example: tuple  # tensors to trace it with
    inputs: list  # of the manifest; the first one's names are those of the graph
    outputs: list
    names: tuple  # (inputs, outputs) of the graph
    dynamic: dict = field(default_factory=dict)  # axes of the graph that vary
    thresholds: dict = field(default_factory=dict)
    more: dict = field(default_factory=dict)  # further members of the manifest
    metric: str = "accuracy"
    figure: float = 0.0  # on the validation part
    find: Callable = None  # (samples) -> yields (sample, annotation or None)
    about: list = field(default_factory=list)  # lines for the model card
    skipped: list = field(default_factory=list)  # (file, reason)
