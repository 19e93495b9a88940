"""The command `train`: from a folder of data to a folder with a model."""

import errno
import os
import random
import sys
from pathlib import Path

import numpy as np
import torch

from . import backbone, data, export, look, machine, nodes, parameters, report, split, tasks
from .checkpoint import Checkpoint
from .clock import Clock
from .errors import Refused, Stopped
from .job import Job
from .log import say

OUT, FORMER = Path("/workspace/persistent-model"), Path("/workspace/checkpoint")


def _resumed(out: Path, given: bool) -> list:
    """Folders in which a former run may have left its checkpoint."""
    if not given and os.environ.get("INGOT_RESUME") != "1":
        return []
    return [out, FORMER]


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    torch.manual_seed(seed)


def _room(type: str) -> None:
    """Says before anything starts that it cannot fit."""
    least = machine.LEAST * (2 if type in ("detection", "segmentation") else 1)
    if machine.memory() < least:
        have, need = machine.memory() >> 20, least >> 20
        raise Refused("memory", f"this needs at least {need} MB of memory and the container has {have} MB: choose a larger spec",
                      f"至少需要 {need} MB 内存，而容器只有 {have} MB：请选择更大的规格")


def _warn(plan: dict) -> None:
    for row in plan["warnings"]:
        say(f"warning: {row['en']} / {row['zh']}")


def _told(job: Job, plan: dict) -> None:
    """Files that could not be read, by name."""
    if job.skipped:
        names = "; ".join(f"{name} ({reason})" for name, reason in job.skipped[:20])
        plan["warnings"].append({"id": "unreadable", "en": f"{len(job.skipped)} files could not be read and were left out: {names}",
                                 "zh": f"{len(job.skipped)} 个文件无法读取，已跳过：{names}"})
        say(f"warning: {plan['warnings'][-1]['en']}")


def train(options) -> int:
    params = parameters.read(options.parameters)
    out = Path(options.out) if options.out else OUT
    clock = Clock(params.minutes)
    clock.catch()
    threads = machine.threads()
    torch.set_num_threads(threads)
    nodes.begin()
    _seed(params.seed)
    folders = _resumed(out, options.resume)
    dataset, parts, plan = look.prepare(data.find(options.data), params, split.former(*folders) if folders else None)
    _warn(plan)
    _room(dataset.type)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = Checkpoint(out / "checkpoint", {"type": dataset.type, "labels": dataset.labels, "many": dataset.many, "size": params.size})
    if folders and checkpoint.read(*[folder / "checkpoint" for folder in folders]):
        say("going on from a checkpoint")
        if not checkpoint.done:
            clock.carry(checkpoint.elapsed)
    checkpoint.used = clock.elapsed
    say(f"{dataset.type}: {plan['samples']} samples, {len(dataset.labels)} labels; {plan['parts']['train']} to train with, "
        f"{plan['parts']['val']} to choose by, {plan['parts']['test']} to test with; {threads} threads, {params.minutes:g} minutes")
    job = Job(dataset, parts, params, clock, checkpoint, backbone.find(options.base), threads)
    if nodes.first():
        split.write(out / "split.json", parts, params.seed)
    result = tasks.of(dataset.type).train(job)
    minutes = clock.elapsed() / 60
    _told(job, plan)
    if nodes.first():
        machine.release()
        export.write(out, dataset, parts, result)
        machine.release()
        say(f"the model is written: {result.metric} {result.figure:.4f} on the part it was chosen by")
        told = {} if clock.terminated else report.make(out, dataset, parts["test"], result.find, threads)
        export.card(out, plan, result, report.figures(told), minutes, params)
    return 0


def main(options) -> int:
    try:
        return train(options)
    except Refused as refused:
        print(f"{refused.en}\n{refused.zh}", file=sys.stderr)
        return 2
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        print(f"No space left on device: {error.filename or 'a file'} cannot be written; choose a spec with a larger disk\n"
              f"磁盘空间不足，无法写入 {error.filename or '文件'}：请选择磁盘更大的规格", file=sys.stderr)
        return 1
    except Stopped:
        say("stopped before there was a model")
        return 0
