"""The dataset record format (docs/record-format.md): large files made for training.

    import ingot.record as record

    reader = record.open("train")                 # folder and name of the files, or one of them, or an address
    reader[17]["image"]                           # a view into the mapped file, not a copy
    reader[reader.find("0001.jpg")].dict()        # by key

    loader = torch.utils.data.DataLoader(record.IterableDataset("train", seed=1), num_workers=4)

Only the standard library is needed; NumPy and PyTorch are used where they are installed."""

from __future__ import annotations

import os
from typing import Any

from ._format import CorruptError, RecordError, Schema, crc32c
from .check import faults, verify
from .reader import BaseReader, Reader
from .writer import Writer

__all__ = ["BaseReader", "CorruptError", "Dataset", "FetchError", "IterableDataset", "Reader", "RecordError",
           "RemoteReader", "Schema", "Writer", "crc32c", "faults", "open", "verify"]


def open(source: str | os.PathLike[str] | list[str], **options: Any) -> Any:  # the name users expect
    """A Reader, or for addresses (http, https) a RemoteReader; the options are theirs."""
    if isinstance(source, list) or isinstance(source, str) and source.startswith(("http://", "https://")):
        from .remote import RemoteReader
        return RemoteReader(source, **options)
    return Reader(source, **options)


def __getattr__(name: str) -> Any:
    # Only when they are used: these import PyTorch, or the network modules.
    if name in ("Dataset", "IterableDataset"):
        from . import data
        return getattr(data, name)
    if name in ("RemoteReader", "FetchError"):
        from . import remote
        return getattr(remote, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
