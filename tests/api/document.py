"""Holds what the server answers in the tests against its own OpenAPI document: a status that is not described, or a body
that its schema does not allow, fails the test that met it."""

import functools
import json
import os
import re
import subprocess

import httpx
from openapi_schema_validator import OAS31Validator

TIMES = 3  # bodies of one path, method and status that are looked at: the first ones of a worker


class Document:
    def __init__(self, program: str) -> None:
        out = subprocess.run([program, "openapi"], check=True, stdout=subprocess.PIPE,
                             env={**os.environ, "INGOT_CONFIG": "/nonexistent"})
        self.document = json.loads(out.stdout)
        self.looked: dict[tuple, int] = {}
        # Those with fewer variables first: /datasets/7/versions/compare is none of /datasets/7/versions/{id}.
        self.paths = [(re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path)) + r"\Z"), path)
                      for path in sorted(self.document["paths"], key=lambda p: p.count("{"))]

    def check(self, answer: httpx.Response) -> None:
        path = next((p for pattern, p in self.paths if pattern.match(answer.request.url.path)), None)
        operations = self.document["paths"].get(path, {})
        method = answer.request.method.lower()
        operation = operations.get(method) or (operations.get("get") if method == "head" else None)
        if operation is None:
            assert answer.status_code >= 400, f"{method.upper()} {answer.request.url.path} is not described"
            return
        said = operation["responses"].get(str(answer.status_code))
        if said is None:
            where = f"{method.upper()} {path}: the status {answer.status_code}"
            assert answer.status_code >= 400 and "default" in operation["responses"], f"{where} is not described"
            said = operation["responses"]["default"]
        self.check_body(answer, (method, path, answer.status_code), said)

    def check_body(self, answer: httpx.Response, where: tuple, said: dict) -> None:
        said = self.document["components"]["responses"]["Problem"] if "$ref" in said else said
        kind = answer.headers.get("content-type", "").split(";")[0]
        if answer.request.method == "HEAD" or not answer.content or "json" not in kind:
            return
        if kind == "application/problem+json" and answer.json()["type"] == "about:blank":
            return  # refused before it was a request of the API
        schema = said.get("content", {}).get(kind, {}).get("schema")
        assert schema is not None or "content" in said, f"{where}: a body that is not described"
        if schema is None or self.looked.get(where, 0) >= TIMES or kind == "application/x-ndjson":
            return
        self.looked[where] = self.looked.get(where, 0) + 1
        whole = {**schema, "components": self.document["components"]}
        errors = [f"{where}: {'.'.join(map(str, e.absolute_path))}: {e.message[:400]}"
                  for e in OAS31Validator(whole).iter_errors(answer.json())]
        assert not errors, errors[:5]


@functools.cache
def of(program: str) -> Document:
    return Document(program)
