"""One training loop for all nets: schedule by the time budget, several nodes, validation, early stop, checkpoints."""

import math
import time
from dataclasses import dataclass, field
from typing import Callable

import torch

from . import nodes
from .checkpoint import Checkpoint
from .clock import Clock, Stretch
from .errors import Refused
from .log import metrics, say


@dataclass
class Plan:
    """What differs between tasks."""
    net: torch.nn.Module
    groups: list  # of parameters: {"params", "lr", "weight_decay"}
    count: int  # training samples
    batch: int
    loss: Callable  # (numbers of samples) -> a tensor; draws its own augmentation
    judge: Callable  # () -> (figure to maximise, {names of curves: values})
    clock: Clock
    checkpoint: Checkpoint
    stage: str  # name in the checkpoint
    seconds: float = float("inf")
    epochs: int = 1000
    patience: int = 12  # judgements without a better one
    warmup: int = 20
    least: float = 0.02  # of the rate at the end
    clip: float = 10.0
    on_progress: Callable = field(default=lambda progress: False)  # true: begins to warm up again
    doubt: Callable = field(default=lambda figure: 0.0)  # so much chance may have moved a figure: the last net stays unless one before was better by more


def split_decay(module: torch.nn.Module, rate: float, decay: float) -> list:
    """Two groups: weights that decay, and one-dimensional ones that do not."""
    weights = [p for p in module.parameters() if p.requires_grad]
    return [{"params": [p for p in weights if p.ndim > 1], "lr": rate, "weight_decay": decay},
            {"params": [p for p in weights if p.ndim <= 1], "lr": rate, "weight_decay": 0.0}]


def snapshot(net: torch.nn.Module) -> dict:
    return {name: value.detach().clone() for name, value in net.state_dict().items()}


class Loop:
    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan, self.step, self.epoch = plan, 0, 0
        self.generator = torch.Generator().manual_seed(seed + 1)
        self.optimizer = torch.optim.AdamW(plan.groups, betas=(0.9, 0.99))
        for group in self.optimizer.param_groups:
            group["base"] = group["lr"]
        self.parameters = [p for group in plan.groups for p in group["params"]]
        self.stretch = Stretch(plan.clock, plan.seconds)
        self.best, self.best_state, self.stale, self.warm_from = -math.inf, None, 0, 0
        self.judged_at, self.judge_cost, self.diverged = 0.0, 0.0, False
        self.last = -math.inf  # figure of the net as it is now, where it was judged

    def resume(self) -> bool:
        state = self.plan.checkpoint.take(self.plan.stage)
        if state is None:
            return False
        self.plan.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.epoch, self.stale, self.best = state["step"], state["epoch"], state["stale"], state["best"]
        self.best_state = state["best_state"]
        self.generator.set_state(state["generator"])
        self.stretch.resume(state["used"])
        return True

    def keep(self) -> None:
        """A checkpoint at most every 20 seconds, and less often where writing takes long."""
        self.plan.checkpoint.keep(self.plan.stage, lambda: {
            "net": self.plan.net.state_dict(), "optimizer": self.optimizer.state_dict(), "step": self.step, "epoch": self.epoch,
            "stale": self.stale, "best": self.best, "best_state": self.best_state, "generator": self.generator.get_state(),
            "used": self.stretch.used()})

    def progress(self) -> float:
        epochs = (self.epoch / self.plan.epochs) if self.plan.epochs else 0.0
        return max(self.stretch.progress(), min(1.0, epochs))

    def rates(self, progress: float) -> None:
        warm = min(1.0, (self.step - self.warm_from + 1) / max(1, self.plan.warmup))
        factor = self.plan.least + (1 - self.plan.least) * 0.5 * (1 + math.cos(math.pi * progress))
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * factor * warm

    def judge(self) -> None:
        begun = time.monotonic()
        self.plan.net.eval()
        with torch.no_grad():
            figure, curves = self.plan.judge()
        self.plan.net.train()
        figure = nodes.agree(figure)
        self.judge_cost, self.judged_at = time.monotonic() - begun, self.stretch.used()
        metrics(self.step, epoch=self.epoch, **curves)
        self.last = figure
        if figure > self.best:
            self.best, self.best_state, self.stale = figure, snapshot(self.plan.net), 0
        else:
            self.stale += 1

    def judge_is_due(self) -> bool:
        """Judging takes about a tenth of the time at most."""
        return bool(nodes.agree(self.stretch.used() - self.judged_at >= 9 * self.judge_cost))

    def one(self, numbers: torch.Tensor) -> float:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.plan.loss(nodes.share(numbers))
        loss.backward()
        nodes.average(self.parameters)
        if self.plan.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters, self.plan.clip)
        self.optimizer.step()
        self.step += 1
        return float(loss.detach())

    def run(self) -> float:
        """Leaves the best net in place, or the last where chance explains the difference, and answers its figure. A resumed loop goes on where it was."""
        plan = self.plan
        self.resume()
        plan.net.train()
        batch = max(nodes.world(), min(plan.batch, plan.count))
        said = time.monotonic()
        while self.progress() < 1 and self.stale < plan.patience:
            order = torch.randperm(plan.count, generator=self.generator)
            for at in range(0, max(1, plan.count - plan.count % batch), batch):
                progress = self.progress()
                if progress >= 1:
                    break
                if plan.on_progress(progress):
                    self.warm_from = self.step
                self.rates(progress)
                loss = self.one(order[at:at + batch])
                if self.step <= 20 or self.step % 10 == 1 or time.monotonic() - said > 2:  # short runs have curves, too
                    metrics(self.step, loss=loss, lr=self.optimizer.param_groups[0]["lr"], progress=progress)
                    said = time.monotonic()
                self.diverged = not nodes.agree(math.isfinite(loss))
                if self.diverged:
                    break
                self.keep()
            else:
                self.epoch += 1
                if self.judge_is_due():
                    self.judge()
                continue
            break
        if self.diverged and self.best_state is None:
            raise Refused("diverged", "the loss is NaN from the first steps on: lower learning_rate", "训练一开始损失就是 NaN：请降低 learning_rate")
        if self.diverged:
            say("warning: the loss became NaN; this ends with the best so far")
        if not self.diverged and (self.best_state is None or not nodes.agree(plan.clock.terminated)):
            self.judge()
            # Of many judgements on few samples the best is mostly the luckiest; the last has the lowest rate behind it.
            if self.best - self.last <= plan.doubt(self.best):
                self.best, self.best_state = self.last, snapshot(plan.net)
        plan.net.load_state_dict(self.best_state)
        plan.net.eval()
        return self.best
