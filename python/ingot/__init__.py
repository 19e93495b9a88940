"""Client of the Ingot platform: ``ingot.Client(url, token=...)``. See docs/sdk.md."""

from typing import Any

from . import types
from ._version import __version__
from .client import Client
from .collection import Collection, Page
from .datasets import Datasets
from .environments import Environments, NotRunning
from .errors import (
    ConfigError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    IngotError,
    Invalid,
    NotFound,
    Problem,
    Stale,
    Unauthorized,
    Unavailable,
)
from .evaluations import EvaluationFailed, Evaluations, evaluate
from .imports import Import
from .labelling import LabelTasks, Work
from .models import Models, NotTried
from .runlog import image, log, params
from .running import Jobs, Run, RunFailed, Trainings, parameters, train
from .sample import EditConflict, Sample
from .services import NotServing, ServiceHandle, Services
from .show import Picture
from .tables import Table
from .transfer import TaskFailed
from .version import Query, Version
__all__ = [
    "Client",
    "Collection",
    "ConfigError",
    "Conflict",
    "ConnectionFailed",
    "Datasets",
    "EditConflict",
    "Environments",
    "EvaluationFailed",
    "Evaluations",
    "Forbidden",
    "Import",
    "IngotError",
    "Invalid",
    "Jobs",
    "LabelTasks",
    "Models",
    "NotFound",
    "NotRunning",
    "NotServing",
    "NotTried",
    "Page",
    "Picture",
    "Problem",
    "Query",
    "Run",
    "RunFailed",
    "Sample",
    "ServiceHandle",
    "Services",
    "Stale",
    "Table",
    "TaskFailed",
    "Trainings",
    "Unauthorized",
    "Unavailable",
    "Version",
    "Work",
    "__version__",
    "evaluate",
    "image",
    "log",
    "parameters",
    "params",
    "train",
]


def __getattr__(name: str) -> Any:
    """``ingot.Dataset``: a type of ingot.types."""
    if types.known(name):
        return getattr(types, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
