"""Dataset and IterableDataset by what PyTorch's loaders ask of them; PyTorch itself is not needed."""

import collections
import pickle
from types import SimpleNamespace

import pytest

import ingot.record as record

from conftest import sample


def workers(count):
    return [lambda i=i: SimpleNamespace(id=i, num_workers=count) for i in range(count)]


def numbers(dataset):
    return [int(s["key"].split("/")[1]) for s in dataset]


@pytest.fixture
def path(make_set):
    return make_set("set", 103, shard_records=40)


def test_dataset(path):
    dataset = record.Dataset(path)
    assert len(dataset) == 103
    assert dataset[7]["image"] == sample(7)["image"] and type(dataset[7]["image"]) is bytes
    assert dataset[7]["pixels"].flags.writeable
    assert [s["key"] for s in dataset.__getitems__([3, 99, 0])] == ["sample/3", "sample/99", "sample/0"]
    with pytest.raises(IndexError):
        dataset[103]
    pickle.dumps(dataset[7])
    assert pickle.loads(pickle.dumps(dataset))[50]["label"] == -150


def test_fields_and_transform(path):
    dataset = record.Dataset(path, fields=["label", "image"], transform=lambda s: (s["label"], type(s["image"])))
    assert dataset[2] == (-6, memoryview)
    assert record.Dataset(path, fields=["score"])[8] == {"score": 1.0}
    with pytest.raises(KeyError, match="nothing"):
        record.Dataset(path, fields=["nothing"])
    with record.open(path) as reader:
        assert record.Dataset(reader).reader is reader


def test_in_order(path):
    dataset = record.IterableDataset(path, shuffle=False)
    assert len(dataset) == 103
    assert numbers(dataset) == list(range(103))


def test_shuffled(path):
    dataset = record.IterableDataset(path, seed=5, buffer=16, chunk=8)
    first = numbers(dataset)
    assert sorted(first) == list(range(103)) and first != list(range(103))
    assert numbers(dataset) == first
    assert numbers(record.IterableDataset(path, seed=5, buffer=16, chunk=8)) == first
    assert numbers(record.IterableDataset(path, seed=6, buffer=16, chunk=8)) != first
    dataset.set_epoch(1)
    second = numbers(dataset)
    assert sorted(second) == list(range(103)) and second != first


def test_order_is_mixed(make_set):
    order = numbers(record.IterableDataset(make_set("big", 1000), buffer=100, chunk=50))
    steps = collections.Counter(b - a == 1 for a, b in zip(order, order[1:]))
    assert steps[True] < 50


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("world, count", [(1, 1), (1, 4), (3, 1), (2, 3), (7, 5), (50, 4)])
def test_ranks_and_workers_share_the_records(path, shuffle, world, count):
    seen, lengths = [], []
    for rank in range(world):
        of_rank = 0
        for info in workers(count):
            dataset = record.IterableDataset(path, shuffle=shuffle, seed=3, chunk=10, buffer=8, rank=rank,
                                             world_size=world, worker_info=info)
            part = numbers(dataset)
            seen += part
            lengths.append(len(part))
            of_rank += len(part)
        assert of_rank == len(dataset)
    assert sorted(seen) == list(range(103))
    assert max(lengths) - min(lengths) <= 2


def test_bad_arguments(path):
    with pytest.raises(ValueError, match="rank 2"):
        record.IterableDataset(path, rank=2, world_size=2)
    with pytest.raises(ValueError, match="buffer"):
        record.IterableDataset(path, buffer=0)


def test_empty(make_set):
    assert list(record.IterableDataset(make_set("none", 0))) == []
    assert len(record.Dataset(make_set("none2", 0))) == 0
