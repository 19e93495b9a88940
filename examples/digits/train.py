"""A classifier of handwritten digits on one node.

ingot train run --data digits --algo digits --spec small --save-to digits -- python3 train.py --epochs 8
"""

import argparse

import torch
from digits import accuracy, dataset, export, load, net, split


def main() -> None:
    flags = argparse.ArgumentParser()
    flags.add_argument("--epochs", type=int, default=8)
    flags.add_argument("--out", default="/workspace/persistent-model")
    options = flags.parse_args()
    torch.manual_seed(0)
    train, test = split(*load(dataset()))
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(1, options.epochs + 1):
        order, total = torch.randperm(len(train[1])), 0.0
        for part in order.split(32):
            loss = torch.nn.functional.cross_entropy(model(train[0][part]), train[1][part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(part)
        print(f"epoch={epoch} loss={total / len(order):.4f} acc={accuracy(model, test):.4f}")
    torch.save(model.state_dict(), f"{options.out}/model.pt")
    export(model, train[0], options.out)


if __name__ == "__main__":
    main()
