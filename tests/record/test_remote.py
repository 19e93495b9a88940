"""RemoteReader against a small server that knows ranges and can misbehave."""

import os
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import ingot.record as record

from conftest import sample


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        with server.lock:
            server.requests.append((self.path, self.headers["Range"], self.headers["Authorization"]))
            trouble = server.trouble.pop(0) if server.trouble else None
        file = server.folder / self.path.split("?")[0].lstrip("/")
        if not file.is_file():
            return self.answer(404, b"no")
        data = file.read_bytes()
        if trouble == "503":
            return self.answer(503, b"later")
        if trouble == "close":
            self.close_connection = True
            return None
        if server.ignores_ranges or not self.headers["Range"]:
            return self.answer(200, data)
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        start, end = int(first), min(int(last) + 1, len(data))
        if start >= len(data):
            return self.answer(416, b"")
        headers = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}", "ETag": server.etag}
        body = data[start:end]
        if trouble == "flip":
            body = bytes(b ^ 1 for b in body)
        self.answer(206, body[:len(body) // 2] if trouble == "cut" else body, headers, len(body))
        if trouble == "cut":
            self.close_connection = True
        return None

    def answer(self, status, body, headers=None, length=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Clients that leave in the middle of an answer are part of these tests."""


@pytest.fixture
def server(tmp_path):
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.folder, server.requests, server.trouble = tmp_path, [], []
    server.ignores_ranges, server.etag, server.lock = False, '"1"', threading.Lock()
    server.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def url(server, make_set):
    make_set("set", 60, shard_records=25)
    return server.url + "set-00001-of-00003.irec"


def test_reading(url, server):
    with record.open(url, headers={"Authorization": "Bearer x"}) as reader:
        assert len(reader) == 60 and reader.shard_sizes == (25, 25, 10)
        for i in [59, 0, 24, 25, 49, 50, 3, 3]:
            r = reader[i]
            assert r.number == i and r["image"] == sample(i)["image"] and r["label"] == sample(i)["label"]
            assert (r["pixels"] == sample(i)["pixels"]).all()
        assert reader[-1]["key"] == "sample/59"
        assert reader.find("sample/33") == 33 and "nobody" not in reader
        assert reader.view(5, "key") == b"sample/5"
        with pytest.raises(IndexError):
            reader[60]
    assert {r[2] for r in server.requests} == {"Bearer x"}
    assert all(r[1] for r in server.requests)


def test_in_order_with_few_requests(url, server):
    with record.open(url) as reader:
        assert [r["key"] for r in reader] == [f"sample/{i}" for i in range(60)]
    # header, footer, index and one block of each of three shards
    assert len(server.requests) <= 12


def test_list_of_addresses(url, server):
    urls = [f"{server.url}set-0000{i}-of-00003.irec?token={i}" for i in range(3)]
    with record.open(urls) as reader:
        assert reader[30]["key"] == "sample/30"
    assert {r[0] for r in server.requests} >= {"/set-00001-of-00003.irec?token=1"}
    with pytest.raises(record.CorruptError, match="not 0 of"):
        record.open(urls[::-1])


def big_set(folder: Path, records: int = 200, size: int = 20000) -> None:
    with record.Writer(folder / "big", {"fields": [{"name": "n", "type": "int64"},
                                                   {"name": "b", "type": "bytes"}]}) as w:
        for i in range(records):
            w.add(n=i, b=bytes([i % 256]) * size)


def test_bounded_cache(server, tmp_path):
    big_set(tmp_path)
    with record.open(server.url + "big-00000-of-00001.irec", block_bytes=16384, cache_bytes=16 * 16384,
                     read_ahead=4 * 16384) as reader:
        for i in [*range(200), *range(199, -1, -7)]:
            assert reader[i]["b"] == bytes([i % 256]) * 20000
            assert reader._cache.counts() <= 16
        reader.prefetch(list(range(100)))
        assert reader._cache.counts() <= 16


def test_read_ahead_and_prefetch_spare_requests(server, tmp_path):
    big_set(tmp_path, 40)
    with record.open(server.url + "big-00000-of-00001.irec", block_bytes=32768, read_ahead=1 << 20) as reader:
        assert reader[0]["n"] == 0 and reader[1]["n"] == 1
        before = len(server.requests)
        reader.prefetch(list(range(2, 40)))
        for i in range(2, 40):
            assert reader[i]["n"] == i
        blocks = {r[1] for r in server.requests}
        assert len(blocks) == len(server.requests), "a range was fetched twice"
        assert before <= len(server.requests) <= 4 + 40 * 20096 // 32768 + 2


def test_record_larger_than_the_cache(server, tmp_path):
    big_set(tmp_path, 3, 300000)
    with record.open(server.url + "big-00000-of-00001.irec", block_bytes=4096, cache_bytes=8192) as reader:
        assert [r["b"] for r in reader] == [bytes([i]) * 300000 for i in range(3)]


@pytest.mark.parametrize("trouble", ["503", "close", "cut"])
def test_trouble_is_overcome(url, server, trouble):
    with record.open(url, timeout=30) as reader:
        server.trouble += [trouble, trouble]
        assert reader[0]["key"] == "sample/0" and reader[59]["key"] == "sample/59"
        assert server.trouble == []


def test_lasting_trouble(url, server):
    server.trouble += ["503"] * 2
    with pytest.raises(record.FetchError, match="HTTP status 503.*2 attempts"):
        record.open(url, attempts=2)


def test_missing(server):
    with pytest.raises(record.FetchError, match="404"):
        record.open(server.url + "none.irec")
    assert len(server.requests) == 1
    with pytest.raises(record.RecordError, match="not an http"):
        record.RemoteReader("ftp://x/y.irec")


def test_without_ranges(url, server):
    server.ignores_ranges = True
    with pytest.raises(record.FetchError, match="HTTP status 200, 206"):
        record.open(url)


def test_changed_file(url, server):
    with record.open(url) as reader:
        assert reader[0]["key"] == "sample/0"
        server.etag = '"2"'
        with pytest.raises(record.FetchError, match="has changed"):
            reader[59]


def test_damaged_answers_are_refused(url, server):
    with record.open(url, verify=True) as reader:
        reader._table(0, "index")
        server.trouble += ["flip"]
        with pytest.raises(record.CorruptError, match="checksum"):
            reader._table(1, "index")
        server.trouble += ["flip"]
        with pytest.raises(record.CorruptError, match="record 3: its checksum is wrong"):
            reader[3]


def test_not_a_record_file(server, tmp_path):
    (tmp_path / "x.irec").write_bytes(b"hello" * 100)
    with pytest.raises(record.CorruptError, match="not a record file"):
        record.open(server.url + "x.irec")


def test_pickle_fork_threads(url):
    reader = record.open(url)
    assert reader[1]["key"] == "sample/1"
    assert pickle.loads(pickle.dumps(reader))[2]["key"] == "sample/2"
    child = os.fork()
    if child == 0:
        ok = reader[30]["key"] == "sample/30"
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    wrong = []

    def read(start):
        for k in range(60):
            i = (start + k * 7) % 60
            if reader[i]["key"] != f"sample/{i}":
                wrong.append(i)

    threads = [threading.Thread(target=read, args=(n * 15,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
    reader.close()


def test_datasets(url):
    dataset = record.Dataset(url, fields=["key"])
    assert len(dataset) == 60 and dataset[10] == {"key": "sample/10"}
    assert [s["key"] for s in dataset.__getitems__([5, 55])] == ["sample/5", "sample/55"]
    stream = record.IterableDataset(url, fields=["key"], seed=1, buffer=10, chunk=5, block_bytes=4096)
    assert sorted(int(s["key"].split("/")[1]) for s in stream) == list(range(60))
    dataset.reader.close()
    stream.reader.close()
