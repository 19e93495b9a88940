"""Several nodes, one process each (docs/training.md, "Several nodes"). Every rank reads the same data and draws the same
random numbers; each trains on its share of a batch, gradients are averaged, and rank 0 decides, writes and speaks."""

import os

_rank, _world = 0, 1


def begin() -> None:
    global _rank, _world
    world = int(os.environ.get("WORLD_SIZE") or 1)
    if world > 1:
        import torch.distributed as distributed

        distributed.init_process_group("gloo")
        _rank, _world = distributed.get_rank(), world


def first() -> bool:
    return _rank == 0


def world() -> int:
    return _world


def share(items):
    """This rank's part of a batch; never empty where the batch has at least one item for each rank."""
    return items[_rank::_world] if _world > 1 else items


def agree(value: float) -> float:
    """Rank 0's number, for whatever depends on a clock."""
    if _world == 1:
        return value
    import torch
    import torch.distributed as distributed

    told = torch.tensor([float(value)], dtype=torch.float64)
    distributed.broadcast(told, 0)
    return float(told[0])


def average(parameters) -> None:
    """The mean of all ranks' gradients, in place, in one message."""
    if _world == 1:
        return
    import torch
    import torch.distributed as distributed

    grads = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([g.reshape(-1) for g in grads])
    distributed.all_reduce(flat)
    flat /= _world
    at = 0
    for g in grads:
        g.copy_(flat[at:at + g.numel()].view_as(g))
        at += g.numel()
