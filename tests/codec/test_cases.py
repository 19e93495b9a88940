"""Data cases: cases/NAME/input is read, and what comes out is compared with expected.jsonl (labels and samples) and
expected-report.txt (problems and counts). CODEC_UPDATE=1 writes them anew: look at the difference before you commit."""

import json
import os

import pytest
from conftest import HERE

CASES = sorted(p.parent for p in (HERE / "cases").glob("*/case.json"))
REPORT = ("problem", "counts")


def split(lines: list[str]) -> tuple[list[str], list[str]]:
    data, report = [], []
    for line in lines:
        value = json.loads(line)
        if "problem" in value:
            where = " ".join(str(value[k]) for k in ("path", "position") if value[k] is not None)
            report.append(f"{value['problem']}: {where}: {value['reason']}")
        elif "counts" in value:
            report.append(" ".join(f"{k}={v}" for k, v in value["counts"].items()))
        else:
            data.append(line)
    return data, report


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_case(tool, case):
    about = json.loads((case / "case.json").read_text())
    assert tool.run("detect", about["type"], case / "input").strip() == about["detect"]
    lines = tool.run("read", about["type"], about["format"], case / "input").splitlines()
    for kind, got in zip(("expected.jsonl", "expected-report.txt"), split(lines)):
        text = "".join(line + "\n" for line in got)
        if os.environ.get("CODEC_UPDATE"):
            (case / kind).write_text(text)
        assert text == (case / kind).read_text()
    # Every record is accounted for, and every file is emitted at most once.
    counts = json.loads(lines[-1])["counts"]
    assert counts["records"] == counts["taken"] + counts["skipped"]
    files = [json.loads(line)["file"] for line in lines if line.startswith('{"file"')]
    assert len(files) == len(set(files)) == counts["samples"]


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_annotations_are_canonical(tool, case):
    about = json.loads((case / "case.json").read_text())
    for line in (case / "expected.jsonl").read_text().splitlines():
        if '"annotation":' in line:
            text = line[line.index('"annotation":') + len('"annotation":'):-1]
            assert tool.run("check", about["type"], stdin=text).rstrip("\n") == text
