"""Address and token: arguments, then INGOT_URL and INGOT_TOKEN, then what `ingot login` wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .errors import ConfigError


def path() -> Path:
    explicit = os.environ.get("INGOT_CONFIG")
    if explicit:
        return Path(explicit)
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "ingot" / "config.json"


def load() -> tuple[str | None, str | None]:
    """(url, token) of the file; (None, None) when there is none."""
    try:
        text = path().read_text(encoding="utf-8")
    except FileNotFoundError:
        return None, None
    try:
        document = json.loads(text)
        return document.get("url"), document.get("token")
    except (ValueError, AttributeError) as error:
        raise ConfigError(f"{path()} is not a JSON object: {error}") from error


def resolve(url: str | None, token: str | None) -> tuple[str, str | None]:
    env_url, env_token = os.environ.get("INGOT_URL"), os.environ.get("INGOT_TOKEN")
    file_url: str | None = None
    file_token: str | None = None
    if url is None and not env_url:
        file_url, file_token = load()
    chosen = url or env_url or file_url
    if not chosen:
        raise ConfigError("no address: pass url=, set INGOT_URL, or run `ingot login URL`")
    # A token is never sent to another address than the one it was given for.
    if url is None:
        token = token or env_token or file_token
    return chosen.rstrip("/"), token


def project() -> str | None:
    """The project that commands mean: INGOT_PROJECT, else that of ``ingot use``; a name or an id."""
    chosen = os.environ.get("INGOT_PROJECT")
    if chosen:
        return chosen
    try:
        found = json.loads(path().read_text(encoding="utf-8")).get("project")
    except (FileNotFoundError, ValueError, AttributeError):
        return None
    return str(found) if found else None
