"""Writes the model: ONNX with its weights inside, the manifest of docs/models.md, labels, a sample, the model card. Each
file is written beside and renamed, the manifest last: a folder with a manifest is whole."""

import json
import os
import shutil
import warnings
from pathlib import Path

import torch

from . import data
from .result import Result

OPSET = 13


def _put(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def graph(path: Path, result: Result) -> None:
    import onnx

    partial = path.with_name(path.name + ".part")
    result.net.eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sizes are fixed on purpose
        torch.onnx.export(result.net, result.example, str(partial), opset_version=OPSET, input_names=list(result.names[0]),
                          output_names=list(result.names[1]), dynamic_axes=result.dynamic or None, do_constant_folding=True)
    model = onnx.load(str(partial))
    onnx.checker.check_model(model)
    os.replace(partial, path)


def manifest(dataset: data.Dataset, result: Result, sample: "str | None") -> dict:
    text = {"ingot": 1, "task": dataset.type, "title": f"{len(dataset.labels)} classes, one-click training", "labels": dataset.labels,
            "parts": [{"name": "model", "file": "model.onnx"}], "inputs": result.inputs, "outputs": result.outputs}
    if result.thresholds:
        text["thresholds"] = result.thresholds
    if sample:
        text["sample"] = sample
    return {**text, **result.more}


def _sample(out: Path, dataset: data.Dataset, parts: dict) -> "str | None":
    """A file to try the model with: the first of the test part that is small enough."""
    for one in (parts["test"] or parts["val"] or parts["train"])[:20]:
        name = "sample" + (Path(one.file).suffix.lower() or ".txt")
        if one.content is not None:
            (out / name).write_text(one.content, encoding="utf-8")
            return name
        source = dataset.folder / one.file
        if source.is_file() and source.stat().st_size < 8 << 20:
            shutil.copyfile(source, out / name)
            return name
    return None


def write(out: Path, dataset: data.Dataset, parts: dict, result: Result) -> None:
    out.mkdir(parents=True, exist_ok=True)
    (out / "ingot-model.json").unlink(missing_ok=True)
    graph(out / "model.onnx", result)
    # A line break within a label would make two of it.
    _put(out / "labels.txt", "".join(" ".join(label.split()) + "\n" for label in dataset.labels))
    _put(out / "ingot-model.json", json.dumps(manifest(dataset, result, _sample(out, dataset, parts)), ensure_ascii=False, indent=1) + "\n")


def cell(text: str) -> str:
    """A label in a table of Markdown: what has a meaning there is written out."""
    return "".join("\\" + c if c in "\\`*_{}[]<>()#+-.!|~&$" else " " if c.isspace() else c for c in text)


def card(out: Path, plan: dict, result: Result, figures: dict, minutes: float, params) -> None:
    """README.md: what it learned from, how good it is, how to use it."""
    test = [f"| {name} | {value:.4f} |" for name, value in figures.items()]
    lines = [f"# A model for {plan['type']}", "", f"Made by one-click training in {minutes:.1f} minutes (seed {params.seed}).", "", *result.about,
             "", "## Data", f"{plan['samples']} samples: {plan['parts']['train']} to train with, {plan['parts']['val']} to choose by, "
             f"{plan['parts']['test']} to test with (`split.json`). {plan['negatives']} with nothing on them.", "",
             "| label | count |", "|---|---|", *[f"| {cell(row['label'])} | {row['count']} |" for row in plan["classes"]], "", "## How good it is"]
    if result.figure is not None:
        lines += [f"On the part it was chosen by: {result.metric} {result.figure:.4f}."]
    lines += ["On the test part, which it has never seen:", "", "| metric | value |", "|---|---|", *test] if test else ["There is no test part, so nobody knows."]
    if plan["warnings"]:
        lines += ["", "## To be known", *[f"- {row['en']} / {row['zh']}" for row in plan["warnings"]]]
    lines += ["", "## How to use it", "Serve the version, try it on its page, or ask it from a shell: `ingot predict MODEL-SET:VERSION FILE`.",
              "`ingot-model.json` says how input and output are read; `model.onnx` runs in any ONNX runtime."]
    _put(out / "README.md", "\n".join(lines) + "\n")
