"""Client of the Ingot platform: ``ingot.Client(url, token=...)``. See docs/sdk.md."""

from ._version import __version__
from .client import Client
from .collection import Collection, Page
from .datasets import Datasets
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
from .transfer import TaskFailed
from .types import (
    Audit,
    Dataset,
    DatasetVersion,
    Group,
    GroupMember,
    LabelSet,
    Member,
    Object,
    Project,
    Ref,
    Role,
    Session,
    Spec,
    Task,
    Token,
    User,
)

__all__ = [
    "Audit",
    "Client",
    "Collection",
    "ConfigError",
    "Conflict",
    "ConnectionFailed",
    "Dataset",
    "DatasetVersion",
    "Datasets",
    "Forbidden",
    "Group",
    "GroupMember",
    "IngotError",
    "Invalid",
    "LabelSet",
    "Member",
    "NotFound",
    "Object",
    "Page",
    "Problem",
    "Project",
    "Ref",
    "Role",
    "Session",
    "Spec",
    "Stale",
    "Task",
    "TaskFailed",
    "Token",
    "Unauthorized",
    "Unavailable",
    "User",
    "__version__",
]
