"""The package is typed: mypy in strict mode finds nothing, with the types of a real platform and without them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "api"))
from harness import binary  # noqa: E402

import ingot
from ingot import stubs

PACKAGE = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """The OpenAPI document of the program."""
    file = tmp_path_factory.mktemp("openapi") / "openapi.json"
    subprocess.run([PACKAGE.parent / "scripts" / "openapi.py", binary(), file], check=True)
    return json.loads(file.read_text())


@pytest.fixture
def package(tmp_path):
    """A copy without what a build has generated."""
    return shutil.copytree(PACKAGE, tmp_path / "package", ignore=shutil.ignore_patterns("types.pyi", "kinds.pyi", "__pycache__", "build"))


def mypy(folder, *arguments):
    return subprocess.run([sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", folder / "cache", *arguments],
                          cwd=folder, capture_output=True, text=True)


def test_mypy_strict(package, document):
    stubs.write(document, package / "ingot")
    run = mypy(package)
    assert run.returncode == 0, run.stdout + run.stderr


def test_mypy_strict_before_anything_is_generated(package):
    run = mypy(package, "--no-warn-return-any", "--no-warn-unused-ignores")
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_kind_has_its_type(package, document):
    stubs.write(document, package / "ingot")
    collections = dict(stubs.collections_of(document))
    assert {"datasets": "Dataset", "label-sets": "LabelSet", "dataset-versions": "DatasetVersion", "audit": "Audit"}.items() <= collections.items()
    schemas = document["components"]["schemas"]
    lists = {name for name in schemas if name.endswith("List") and name[:-4] in schemas and schemas[name]["properties"].get("total")}
    children = {"GroupMemberList", "MemberList"}  # of kinds that belong to no project: only below their parents
    assert {f"{name}List" for name in collections.values()} == lists - children
    use = ["import ingot", "client = ingot.Client()"]
    use += [f"reveal_type(client.{path.replace('-', '_')}.get(1))" for path in collections]
    use += ["client.nothings", 'client.datasets.get(1)["odd"]', 'client.audit.get(1)["at"] + 1']
    (package / "use.py").write_text("\n".join(use))
    found = mypy(package, "use.py").stdout.splitlines()
    revealed = [line for line in found if "Revealed type" in line]
    assert len(revealed) == len(collections)
    for line, name in zip(revealed, collections.values()):
        assert f"ingot.types.{name}" in line, line
    assert {line.split(":")[1] for line in found if ": error:" in line} == {str(len(use) - n) for n in (2, 1, 0)}


def test_documents_of_any_kind():
    """Names that Python keeps for itself, unions, maps, lists of numbers; the text is Python."""
    text = stubs.types_of({"components": {"schemas": {
        "Odd": {"type": "object", "required": ["from"], "properties": {"from": {"type": ["integer", "null"]}, "b": {"enum": ["x", 'y"', None], "type": ["string", "null"]}}},
        "Plain": {"type": "object", "required": ["a", "m", "t"], "description": 'says "this"', "properties": {
            "a": {"anyOf": [{"$ref": "#/components/schemas/Odd"}, {"type": "null"}]}, "m": {"type": "object", "additionalProperties": {"type": "number"}},
            "t": {"type": "array", "items": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}},
            "inner": {"type": "object", "properties": {"z": {}}}}}}}})
    compile(text, "types.pyi", "exec")
    assert '"from": "int | None"' in text and 'a: "Odd | None"' in text and "m: dict[str, float]" in text
    assert "t: list[tuple[int, str]]" in text and "class PlainInner(TypedDict):\n    z: NotRequired[Any]" in text


def test_names_when_a_program_runs():
    assert ingot.types.DatasetVersion == ingot.types.Object
    for module in (ingot, ingot.types):
        with pytest.raises(AttributeError):
            module.no_such_thing
