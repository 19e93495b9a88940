"""What can go wrong. Every answer of 400 and above is a :class:`Problem` of one of its subclasses."""

from __future__ import annotations

from typing import Any, Mapping


class IngotError(Exception):
    """Base of everything this package raises on purpose."""


class ConfigError(IngotError):
    """No address or no token is known."""


class ConnectionFailed(IngotError):
    """There was no HTTP answer."""


class Problem(IngotError):
    """A refusal by the server (RFC 9457)."""

    def __init__(self, status: int, document: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(document.get("code") or "internal")
        self.title = str(document.get("title") or "")
        self.detail = str(document.get("detail") or self.title or document.get("error") or f"HTTP status {status}")
        self.message: str | None = document.get("message")
        self.field: str | None = document.get("field")
        self.permission: str | None = document.get("permission")
        self.references: list[dict[str, Any]] = list(document.get("references") or [])
        self.document = dict(document)
        super().__init__(f"{status} {self.code}: {self.detail}")


class Unauthorized(Problem):
    """401: nobody is signed in, or the token is expired or revoked."""


class Forbidden(Problem):
    """403: `permission` names what is missing."""


class NotFound(Problem):
    """404: not there, or not visible to the caller."""


class Conflict(Problem):
    """409: a unique value is taken, or `references` still point here."""


class Stale(Problem):
    """412: somebody else changed the object meanwhile."""


class Invalid(Problem):
    """400 or 422: `field` names the value that breaks a rule."""


class Unavailable(Problem):
    """503: try again later."""


_BY_STATUS: dict[int, type[Problem]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Stale,
    422: Invalid,
    503: Unavailable,
}


def problem(status: int, document: Mapping[str, Any]) -> Problem:
    return _BY_STATUS.get(status, Problem)(status, document)
