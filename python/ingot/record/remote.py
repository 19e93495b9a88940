"""Reading record sets from HTTP servers by range requests, with read-ahead and a bounded cache."""

from __future__ import annotations

import bisect
import collections
import http.client
import os
import re
import ssl
import threading
import time
import urllib.parse
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, Mapping

from . import _pure
from ._format import (ALIGN, ENTRY, FOOTER_SIZE, HEADER_SIZE, CorruptError, Header, RecordError, check_set, crc32c,
                      crc32c_slow, key_hash, parse_header, parse_schema, sibling_names)
from .reader import BaseReader, make_layout

_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)$")
_FIRST_READ = 64 << 10  # header and, mostly, schema in one request


class FetchError(RecordError, OSError):
    """The server cannot be reached or does not answer as it should."""


class _Source:
    """One file on a server. Each thread has a connection of its own."""

    def __init__(self, url: str, headers: Mapping[str, str], timeout: float, attempts: int) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RecordError(f"{url}: not an http or https address")
        self.url, self._parts, self._headers = url, parts, dict(headers)
        self._timeout, self._attempts = timeout, attempts
        self._target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        self._local = threading.local()
        self._etag: str | None = None
        self.size = 0

    def _connection(self) -> http.client.HTTPConnection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            host, port = self._parts.hostname or "", self._parts.port
            connection = http.client.HTTPSConnection(host, port, timeout=self._timeout,
                                                     context=ssl.create_default_context()) \
                if self._parts.scheme == "https" else http.client.HTTPConnection(host, port, timeout=self._timeout)
            self._local.connection = connection
        return connection

    def _drop_connection(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def fetch(self, start: int, end: int) -> bytes:
        """Bytes start to end - 1; fewer if the file ends before and its size is not known yet."""
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(min(0.1 * 4 ** attempt, 5))
            try:
                return self._fetch_once(start, end)
            except (OSError, http.client.HTTPException) as problem:
                self._drop_connection()
                if isinstance(problem, FetchError) and not getattr(problem, "again", False):
                    raise
                last = problem
        raise FetchError(f"{self.url}: {last} ({self._attempts} attempts)") from last

    def _fetch_once(self, start: int, end: int) -> bytes:
        connection = self._connection()
        connection.request("GET", self._target, headers={**self._headers, "Range": f"bytes={start}-{end - 1}",
                                                         "Accept-Encoding": "identity"})
        response = connection.getresponse()
        if response.status != 206:
            self._drop_connection()  # its body may be large
            problem = FetchError(f"{self.url}: HTTP status {response.status}, 206 (a range) was asked for")
            problem.again = response.status in (408, 429, 500, 502, 503, 504)  # type: ignore[attr-defined]
            raise problem
        match = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
        if not match or int(match[1]) != start or int(match[2]) >= end or int(match[2]) < start:
            self._drop_connection()
            raise FetchError(f"{self.url}: the server answered with another range")
        length, size = int(match[2]) - start + 1, int(match[3])
        data = response.read(length)
        if response.read(1) or len(data) != length or (self.size and (size != self.size or length != end - start)):
            self._drop_connection()
            raise http.client.IncompleteRead(data)
        self._check_same(response.headers.get("ETag"), size)
        return data

    def _check_same(self, etag: str | None, size: int) -> None:
        if self._etag is not None and etag is not None and etag != self._etag:
            raise FetchError(f"{self.url}: the file has changed on the server")
        self._etag, self.size = etag or self._etag, size


class _Cache:
    """Blocks of the files by (file, number): least recently used ones go first; requests under way count too."""

    def __init__(self, sources: list[_Source], block: int, limit: int, connections: int) -> None:
        self._sources, self._block = sources, block
        self._most = max(limit // block, 2)
        self._connections = connections
        self._lock = threading.Lock()
        self._blocks: collections.OrderedDict[tuple[int, int], Future[bytes]] = collections.OrderedDict()
        self._pool: ThreadPoolExecutor | None = None

    def _fetch(self, file: int, number: int) -> bytes:
        source, start = self._sources[file], number * self._block
        return source.fetch(start, min(start + self._block, source.size))

    def start(self, file: int, first: int, last: int, spare: int = 0) -> list[Future[bytes]]:
        """Requests for the blocks first..last, unless they are there or under way. With spare, only as many as leave
        that many blocks of the cache to others."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._connections, "record-fetch")
            futures = []
            for number in range(first, min(last + 1, first + self._most - spare)):
                future = self._blocks.get((file, number))
                if future is None or future.cancelled() or future.done() and future.exception() is not None:
                    future = self._pool.submit(self._fetch, file, number)
                    self._blocks[file, number] = future
                self._blocks.move_to_end((file, number))
                futures.append(future)
            while len(self._blocks) > self._most:
                _, old = self._blocks.popitem(last=False)
                old.cancel()
            return futures

    def read(self, file: int, start: int, end: int) -> bytes:
        """Any range; one larger than half the cache goes past it."""
        if end <= start:
            return b""
        first, last = start // self._block, (end - 1) // self._block
        if last - first + 1 > self._most // 2:
            return self._sources[file].fetch(start, end)
        for _ in range(3):
            try:
                data = b"".join([f.result() for f in self.start(file, first, last)])
            except CancelledError:  # another thread needed the room
                continue
            return data[start - first * self._block:end - first * self._block]
        return self._sources[file].fetch(start, end)

    def counts(self) -> int:
        with self._lock:
            return len(self._blocks)

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
            self._blocks.clear()
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


class RemoteReader(BaseReader):
    """A record set on a server, given by the address of one of its shards or a list of all of them in order.

    cache_bytes bounds the memory for fetched data; read_ahead is how far reading in order is fetched in advance. verify:
    check each record's checksum (default: if the extension is built, else it is slow). It can be pickled and used
    after a fork; threads may share it."""

    def __init__(self, url: str | list[str], *, headers: Mapping[str, str] | None = None,
                 cache_bytes: int = 64 << 20, block_bytes: int = 256 << 10, read_ahead: int = 8 << 20,
                 connections: int = 4, timeout: float = 60.0, attempts: int = 4, verify: bool | None = None) -> None:
        if block_bytes < 4096 or cache_bytes < 2 * block_bytes or connections < 1 or attempts < 1:
            raise ValueError("block_bytes must be 4096 or more, cache_bytes at least twice that, and connections and "
                             "attempts 1 or more")
        self._options: dict[str, Any] = dict(
            headers=dict(headers or {}), cache_bytes=cache_bytes, block_bytes=block_bytes, read_ahead=read_ahead,
            connections=connections, timeout=timeout, attempts=attempts, verify=verify)
        self._verify = crc32c is not crc32c_slow if verify is None else verify
        self.urls = [url] if isinstance(url, str) else list(url)
        first = self._source(self.urls[0])
        head = first.fetch(0, _FIRST_READ)
        header = parse_header(head[:HEADER_SIZE], first.size, first.url)
        if len(self.urls) == 1 and header.shards > 1:
            self.urls = self._siblings(self.urls[0], header.shards)
        self._open(first, head)

    def _source(self, url: str) -> _Source:
        return _Source(url, self._options["headers"], self._options["timeout"], self._options["attempts"])

    @staticmethod
    def _siblings(url: str, shards: int) -> list[str]:
        parts = urllib.parse.urlsplit(url)
        return [urllib.parse.urlunsplit(parts._replace(path=path)) for path in sibling_names(parts.path, shards)]

    def _open(self, first: _Source, head: bytes) -> None:
        self._sources = [first if url == first.url else self._source(url) for url in self.urls]
        self._headers: list[Header] = []
        for source in self._sources:
            data = head if source is first else source.fetch(0, HEADER_SIZE)
            h = parse_header(data[:HEADER_SIZE], source.size, source.url)
            if source.fetch(h.file_size - FOOTER_SIZE, h.file_size) != h.footer():
                raise CorruptError(f"{source.url}: the footer does not belong to the header")
            self._headers.append(h)
        check_set(self._headers, self.urls)
        h, at = self._headers[0], self._sources.index(first)
        end = HEADER_SIZE + h.schema_size
        text = head[HEADER_SIZE:end] if len(head) >= end else self._sources[at].fetch(HEADER_SIZE, end)
        self.schema = parse_schema(text, h, self.urls[0])
        self.set_id = h.set_id
        self.shard_sizes = tuple(h.records for h in self._headers)
        self._layout = make_layout(self.schema)
        self._starts = [h.first for h in self._headers]
        self._total = h.total
        self._tables: dict[tuple[int, str], bytes] = {}
        self._last = -2
        self._pid = os.getpid()
        self._make_cache()

    def _make_cache(self) -> None:
        o = self._options
        self._cache = _Cache(self._sources, o["block_bytes"], o["cache_bytes"], o["connections"])
        self._table_lock = threading.Lock()

    def _after_fork(self) -> None:
        """A child has none of the parent's threads, and must not use its connections."""
        self._pid = os.getpid()
        sizes = [s.size for s in self._sources]
        self._sources = [self._source(url) for url in self.urls]
        for source, size in zip(self._sources, sizes):
            source.size = size
        self._make_cache()

    def _table(self, shard: int, which: str) -> bytes:
        """The index or key table of a shard, fetched once."""
        with self._table_lock:
            if (shard, which) not in self._tables:
                h = self._headers[shard]
                start, crc = (h.index_offset, h.index_crc) if which == "index" else (h.keys_offset, h.keys_crc)
                data = self._sources[shard].fetch(start, start + h.index_size) if h.records else b""
                if crc32c(data) != crc:
                    raise CorruptError(f"{self.urls[shard]}: the {which} checksum is wrong")
                self._tables[shard, which] = data
            return self._tables[shard, which]

    def __len__(self) -> int:
        return self._total

    def _place(self, number: int) -> tuple[int, int, int, int]:
        """Shard, offset, length and checksum of a record."""
        shard = bisect.bisect_right(self._starts, number) - 1
        h = self._headers[shard]
        offset, size, crc = ENTRY.unpack_from(self._table(shard, "index"), (number - h.first) * 16)
        if offset < h.data_offset or offset % ALIGN or offset + size > h.index_offset \
                or size < len(self.schema.fields) * 8:
            raise CorruptError(f"{self.urls[shard]}: record {number}: impossible offset or length in the index")
        return shard, offset, size, crc

    def __getitem__(self, number: int) -> _pure.Record:
        if os.getpid() != self._pid:
            self._after_fork()
        if number < 0:
            number += self._total
        if not 0 <= number < self._total:
            raise IndexError(f"record {number}: the set has {self._total} records")
        shard, offset, size, crc = self._place(number)
        in_order, self._last = number == self._last + 1, number
        if in_order:
            self._read_ahead(shard, offset)
        data = self._cache.read(shard, offset, offset + size)
        if len(data) != size or self._verify and crc32c(data) != crc:
            raise CorruptError(f"{self.urls[shard]}: record {number}: its checksum is wrong")
        return _pure.Record(self._layout, number, memoryview(data))

    def _read_ahead(self, shard: int, offset: int) -> None:
        block, ahead = self._options["block_bytes"], self._options["read_ahead"]
        end = min(offset + ahead, self._headers[shard].index_offset)
        if ahead and end > offset:
            most = self._options["cache_bytes"] // block
            self._cache.start(shard, offset // block, (end - 1) // block, spare=most // 2)

    def view(self, number: int, field: str | int) -> memoryview | None:
        return self[number].view(field)

    def prefetch(self, numbers: list[int]) -> None:
        """Starts fetching these records; as many as fit into half of the cache."""
        if os.getpid() != self._pid:
            self._after_fork()
        block, used = self._options["block_bytes"], 0
        for number in numbers:
            shard, offset, size, _ = self._place(number)
            used += size + block
            if used > self._options["cache_bytes"] // 2:
                break
            self._cache.start(shard, offset // block, (offset + size - 1) // block)

    def _find(self, key: bytes) -> int:
        wanted = key_hash(key)
        for shard, h in enumerate(self._headers):
            table = self._table(shard, "keys")
            low, high = 0, h.records
            while low < high:
                mid = (low + high) // 2
                if ENTRY.unpack_from(table, mid * 16)[0] < wanted:
                    low = mid + 1
                else:
                    high = mid
            for k in range(low, h.records):
                found, number, _ = ENTRY.unpack_from(table, k * 16)
                if found != wanted:
                    break
                if number >= h.records:
                    raise CorruptError(f"{self.urls[shard]}: impossible record number in the key table")
                if bytes(self[h.first + number].view(self._layout.key) or b"") == key:
                    return h.first + int(number)
        return -1

    def close(self) -> None:
        self._cache.close()

    def __reduce__(self) -> Any:
        return _reopen, (self.urls, self._options)

    def __repr__(self) -> str:
        return f"<record set {self.urls[0]!r}: {self._total} records, {len(self.urls)} shards>"


def _reopen(urls: list[str], options: dict[str, Any]) -> RemoteReader:
    return RemoteReader(urls, **options)
