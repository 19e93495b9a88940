"""Models: ``client.model_sets.predict("fruit:v3", "a.jpg", project=project)`` asks a version without a service."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any, Mapping, cast

from .collection import Project, Which, _id, _project_id
from .errors import IngotError, NotFound
from .folders import Folders
from .services import Input, content_of, texts_of
from .types import ModelSet, Object

_PAUSE = 0.2


class NotTried(IngotError):
    """A model version could not be started, or ended before it answered."""


class Models(Folders[ModelSet]):
    """Model sets, whose versions can be asked."""

    def predict(
        self,
        version: str,
        what: Input,
        *,
        project: Project | None = None,
        type: str | None = None,
        manifest: Mapping[str, Any] | None = None,
        thresholds: Mapping[str, float] | None = None,
    ) -> Object:
        """What a version ("fruit:v3", or "fruit" for its newest) sees in a picture, text or sound: a path, or its bytes.

        It is started for this and ends some minutes after the last question. A public one of another project runs in
        `project`. ``manifest`` is followed instead of the version's ingot-model.json, and not saved; ``thresholds`` are in place
        of the model's own.
        """
        path, place = self._start(version, project)
        content, type = content_of(what, type)
        if manifest is not None:
            content, type = _joined(manifest, content, type)
        answer = self._client.checked("POST", f"{path}/predict", params={**place, **texts_of(thresholds)}, content=content, headers={"Content-Type": type})
        return cast(Object, answer.json())

    def _start(self, version: str, project: Project | None) -> tuple[str, dict[str, str | int]]:
        name, _, number = version.partition(":")
        owner = self.find(name, project=project)
        wanted = f"number = {int(number.removeprefix('v'))}" if number else None
        for found in self.versions(owner).page(sort="-number", limit=1, filter=wanted).items:
            path = f"{self._plural}/{owner['id']}/versions/{found['id']}"
            place: dict[str, str | int] = {"project": _project_id(self._client, project)} if project is not None else {}
            state = self._client.request("POST", f"{path}/try", json=place)
            while state["state"] in ("waiting", "starting"):
                time.sleep(_PAUSE)
                state = self._client.request("GET", f"{path}/trial", params=place)
            if state["state"] != "ready":
                raise NotTried(f"{version} is not being tried: {state['reason'] or 'it was stopped'}")
            return path, place
        raise NotFound(404, {"code": "not_found", "detail": f"there is no version {version}"})


def _joined(manifest: Mapping[str, Any], content: bytes, type: str) -> tuple[bytes, str]:
    """Both as parts of one body, and its media type."""
    boundary = secrets.token_hex(16)
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="manifest"\r\nContent-Type: application/json\r\n\r\n'
    between = f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="input"\r\nContent-Type: {type}\r\n\r\n'
    body = head.encode() + json.dumps(dict(manifest)).encode() + between.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"
