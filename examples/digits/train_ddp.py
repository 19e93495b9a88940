"""The same on several nodes: each has its part of the samples, gradients are averaged (gloo).

ingot train run --nodes 2 --data digits --algo digits --spec small --save-to digits -- torchrun train_ddp.py

The platform tells torchrun how many nodes there are and where the first one is; without torchrun, one process per node
finds the others by the variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
"""

import os

import torch
import torch.distributed
from digits import accuracy, dataset, load, net, split

EPOCHS = 6


def main() -> None:
    torch.distributed.init_process_group("gloo")
    rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    print(f"rank {rank} of {world} on {os.uname().nodename}")
    torch.manual_seed(0)
    train, test = split(*load(dataset()))
    model = torch.nn.parallel.DistributedDataParallel(net())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(1, EPOCHS + 1):
        order = torch.randperm(len(train[1]), generator=torch.Generator().manual_seed(epoch))
        mine = order[: len(order) // world * world][rank::world]
        for part in mine.split(32):
            loss = torch.nn.functional.cross_entropy(model(train[0][part]), train[1][part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch={epoch} loss={loss.item():.4f} acc={accuracy(model.module, test):.4f}")
    sums = torch.stack([p.double().sum() for p in model.parameters()]).sum()
    both = [torch.zeros_like(sums) for _ in range(world)]
    torch.distributed.all_gather(both, sums)
    print(f"rank {rank} has the same weights: {all(torch.equal(x, sums) for x in both)}")
    if rank == 0:
        torch.save(model.module.state_dict(), "/workspace/persistent-model/model.pt")
    torch.distributed.barrier()


if __name__ == "__main__":
    main()
