"""httpx, or where it is not installed (in a job's container) as much of it as the client needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx
else:
    try:
        import httpx
    except ImportError:
        from . import _plain as httpx

__all__ = ["httpx"]
