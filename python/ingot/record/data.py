"""Record sets as PyTorch datasets. Where PyTorch is installed the classes are its Dataset and IterableDataset; they
work the same without it."""

from __future__ import annotations

import collections
import random
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from . import open as open_source
from .reader import BaseReader

if TYPE_CHECKING:
    class _MapBase: ...
    class _IterableBase: ...
    def get_worker_info() -> Any: ...
else:
    try:
        from torch.utils.data import Dataset as _MapBase, IterableDataset as _IterableBase, get_worker_info
    except ImportError:
        _MapBase = _IterableBase = object

        def get_worker_info() -> None:
            return None


def _own(value: Any) -> Any:
    """A copy of a view into the file, which can go from process to process and into tensors."""
    if isinstance(value, memoryview):
        return value.tobytes() if value.format == "B" else value.tolist()
    return value.copy() if hasattr(value, "dtype") else value


class _Samples:
    """A reader, which fields of a record make up a sample, and what is done to the sample."""

    def __init__(self, source: Any, fields: Sequence[str] | None, transform: Callable[[Any], Any] | None,
                 options: dict[str, Any]) -> None:
        self.reader = source if isinstance(source, BaseReader) else open_source(source, **options)
        names = tuple(self.reader.schema.number) if fields is None else tuple(fields)
        for name in names:
            if name not in self.reader.schema.number:
                raise KeyError(f'field "{name}": the schema has no such field')
        self._fields = None if fields is None else names
        self._transform = transform

    def get(self, number: int) -> Any:
        record = self.reader[number]
        sample = record.dict() if self._fields is None else {name: record[name] for name in self._fields}
        if self._transform is None:
            return {name: _own(value) for name, value in sample.items()}
        return self._transform(sample)


class Dataset(_MapBase):
    """dataset[i]: sample i as a dict of its fields, or what `transform` makes of that dict.

    source: a reader, a path, an address or a list of addresses; fields: only these; options go to the reader.
    transform gets views into the file; without it the values are copied, so that they can leave the process."""

    def __init__(self, source: Any, *, fields: Sequence[str] | None = None,
                 transform: Callable[[Any], Any] | None = None, **options: Any) -> None:
        self._samples = _Samples(source, fields, transform, options)
        self.reader = self._samples.reader

    def __len__(self) -> int:
        return len(self.reader)

    def __getitem__(self, number: int) -> Any:
        return self._samples.get(number)

    def __getitems__(self, numbers: Sequence[int]) -> list[Any]:
        """A batch, as PyTorch's loaders ask for it: a remote reader fetches its records together."""
        self.reader.prefetch(list(numbers))
        return [self._samples.get(i) for i in numbers]


class IterableDataset(_IterableBase):
    """A stream of samples in a new random order each epoch, the same for the same seed and epoch.

    Chunks of neighbouring records (a shard, or parts of it of at most `chunk` records) are shuffled, so that reading
    stays local; a window of `buffer` records that runs over them mixes further. The stream is cut into equal parts,
    one for each rank, and that into one for each worker of the loader: every record is read exactly once by
    one of them in each epoch, and no two parts differ by more than one record.

    Call set_epoch(n) before each epoch (also with worker processes that live on, by making a new iterator).
    worker_info: a function that returns None or something with `id` and `num_workers`; PyTorch's by default."""

    def __init__(self, source: Any, *, shuffle: bool = True, seed: int = 0, buffer: int = 1024, chunk: int = 4096,
                 fields: Sequence[str] | None = None, transform: Callable[[Any], Any] | None = None, rank: int = 0,
                 world_size: int = 1, worker_info: Callable[[], Any] | None = None, **options: Any) -> None:
        if not 0 <= rank < world_size:
            raise ValueError(f"rank {rank}: it must be 0 or more and less than world_size {world_size}")
        if buffer < 1 or chunk < 1:
            raise ValueError("buffer and chunk must be 1 or more")
        self._samples = _Samples(source, fields, transform, options)
        self.reader = self._samples.reader
        self._shuffle, self._seed, self._buffer, self._chunk = shuffle, seed, buffer, chunk
        self._rank, self._world = rank, world_size
        self._worker_info = worker_info
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        """Samples of this rank."""
        total = len(self.reader)
        return total * (self._rank + 1) // self._world - total * self._rank // self._world

    def _part(self) -> tuple[int, int]:
        """Where in the stream the part of this rank and worker begins and ends."""
        total = len(self.reader)
        start, end = total * self._rank // self._world, total * (self._rank + 1) // self._world
        info = (self._worker_info or get_worker_info)()
        if info is not None:
            length = end - start
            start, end = (start + length * info.id // info.num_workers,
                          start + length * (info.id + 1) // info.num_workers)
        return start, end

    def _chunks(self) -> list[range]:
        chunks, first = [], 0
        for size in self.reader.shard_sizes:
            chunks += [range(i, min(i + self._chunk, first + size)) for i in range(first, first + size, self._chunk)]
            first += size
        if self._shuffle:
            random.Random(f"{self._seed}/{self._epoch}").shuffle(chunks)
        return chunks

    def numbers(self) -> Iterator[int]:
        """The numbers of the records of this rank and worker, in the order of this epoch."""
        start, end = self._part()
        pending: list[int] = []
        chance = random.Random(f"{self._seed}/{self._epoch}/{start}")
        at = 0
        for chunk in self._chunks():
            mine = chunk[max(start - at, 0):max(end - at, 0)]
            at += len(chunk)
            if not self._shuffle:
                yield from mine
                continue
            for number in mine:
                if len(pending) < self._buffer:
                    pending.append(number)
                    continue
                i = chance.randrange(self._buffer)
                pending[i], number = number, pending[i]
                yield number
        chance.shuffle(pending)
        yield from pending

    def __iter__(self) -> Iterator[Any]:
        ahead: collections.deque[int] = collections.deque()
        for number in self.numbers():
            ahead.append(number)
            if len(ahead) == 64:
                self.reader.prefetch(list(ahead))
                for _ in range(32):
                    yield self._samples.get(ahead.popleft())
        while ahead:
            yield self._samples.get(ahead.popleft())
