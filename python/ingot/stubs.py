"""Types of every object of a platform, for editors and type checkers: ``python -m ingot.stubs [DOCUMENT] [FOLDER]``.

They are made from the platform's OpenAPI document (a file, or that of the server of ``ingot login``), so nothing is
listed by hand: ``types.pyi`` has a TypedDict for each kind and answer, ``kinds.pyi`` an attribute of the client for
each collection. Both stand beside the modules they describe; programs run the same without them.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
from pathlib import Path
from typing import Any, Iterator

_HEAD = '''"""Made by ingot.stubs from the OpenAPI document of the platform; not to be edited."""

from typing import Any, Dict, Literal, TypedDict

from typing_extensions import NotRequired

Object = Dict[str, Any]


def known(name: str) -> bool: ...
'''
_SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "Object"}
_REF = "#/components/schemas/"
# Names that the package had before, for what the document calls otherwise.
_ALSO = {"Ref": "Reference", "Report": "EvaluationReport"}
# Of the answer that makes an object, and in no other: secrets are shown once.
_ONCE = {"Token": ("secret",), "ServiceKey": ("secret",)}


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name) if part)


def _literal(values: list[Any]) -> str:
    said = [v for v in values if v is not None]
    return f"Literal[{', '.join(json.dumps(v) for v in said)}]"


class _Writer:
    """Classes in the order in which they are met; members that are objects get a class of their own."""

    def __init__(self) -> None:
        self.out: list[str] = []

    def type(self, schema: dict[str, Any], owner: str) -> str:
        if "$ref" in schema:
            return f'"{schema["$ref"].removeprefix(_REF)}"'
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return _union([self.type(one, owner) for one in schema[word]])
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if "enum" in schema:
            return _union([_literal(schema["enum"])] + ["None"] * (None in schema["enum"] or "null" in kinds))
        return _union([self._one(kind, schema, owner) for kind in kinds]) if kinds else "Any"

    def _one(self, kind: str, schema: dict[str, Any], owner: str) -> str:
        if kind == "array":
            if "prefixItems" in schema:
                return f"tuple[{', '.join(self.type(one, owner) for one in schema['prefixItems'])}]"
            return f"list[{self.type(schema.get('items', {}), owner)}]"
        if kind == "object" and schema.get("properties"):
            self.define(owner, schema)
            return f'"{owner}"'
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"dict[str, {self.type(schema['additionalProperties'], owner)}]"
        return _SIMPLE[kind]

    def define(self, name: str, schema: dict[str, Any]) -> None:
        required = set(schema.get("required", ()))
        members = {}
        for key, member in schema.get("properties", {}).items():
            text = self.type(member, name + camel(key))
            members[key] = (text if key in required else f"NotRequired[{text}]", member.get("description"))
        for key in _ONCE.get(name, ()):
            members.setdefault(key, ("NotRequired[str]", "In the answer that makes it only."))
        if all(key.isidentifier() and not keyword.iskeyword(key) for key in members):
            self.out.append(_class(name, schema.get("description"), members))
        else:  # "from", "class": no names of attributes
            inside = ", ".join(f"{json.dumps(key)}: {text}" for key, (text, _) in members.items())
            self.out.append(f'{name} = TypedDict("{name}", {{{inside}}})\n')


def _class(name: str, description: str | None, members: dict[str, tuple[str, str | None]]) -> str:
    lines = [f"class {name}(TypedDict):"]
    if description:
        lines.append(f"    {json.dumps(description, ensure_ascii=False)}")
    for key, (text, says) in members.items():
        lines.append(f"    {key}: {text}")
        if says:
            lines.append(f"    {json.dumps(says, ensure_ascii=False)}")
    if len(lines) == 1:
        lines.append("    pass")
    return "\n".join(lines) + "\n"


def _union(types: list[str]) -> str:
    """Names in quotes stand in a union only when all of it is quoted."""
    unique = list(dict.fromkeys(types))
    if len(unique) == 1:
        return unique[0]
    return '"' + " | ".join(one.replace('"', "'") if one.startswith("Literal") else one.replace('"', "") for one in unique) + '"'


def types_of(document: dict[str, Any]) -> str:
    """The text of ``types.pyi``."""
    writer = _Writer()
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        writer.define(name, schema)
    also = [f"{short} = {name}\n" for short, name in _ALSO.items() if name in schemas and short not in schemas]
    return "\n\n".join([_HEAD.rstrip() + "\n", *writer.out, *also])


def collections_of(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The path of each collection, and the type of what it holds."""
    for path, operations in document["paths"].items():
        found = re.fullmatch(r"/api/v1/([a-z-]+)", path)
        answer = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {}).get("application/json", {})
        name = answer.get("schema", {}).get("$ref", "").removeprefix(_REF)
        if found and name.endswith("List") and name[:-4] in document["components"]["schemas"]:
            yield found[1], name[:-4]


def kinds_of(document: dict[str, Any]) -> str:
    """The text of ``kinds.pyi``."""
    lines = ['"""Made by ingot.stubs from the OpenAPI document of the platform; not to be edited."""', "",
             "from . import types", "from .collection import Collection", "", "def names() -> list[str]: ...", "", "class Kinds:"]
    lines += [f"    {path.replace('-', '_')}: Collection[types.{name}]" for path, name in collections_of(document)]
    return "\n".join(lines) + "\n"


def write(document: dict[str, Any], folder: Path) -> None:
    """Both files; one that would say the same is left alone."""
    for name, text in (("types.pyi", types_of(document)), ("kinds.pyi", kinds_of(document))):
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> None:
    if arguments:
        document = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    else:
        from .client import Client

        with Client() as client:
            document = client.openapi()
    write(document, Path(arguments[1]) if len(arguments) > 1 else Path(__file__).parent)


if __name__ == "__main__":
    main(sys.argv[1:])
