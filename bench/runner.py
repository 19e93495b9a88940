"""What the sets of benchmarks share: a folder that is removed, rows of a table, the command line."""

import argparse
import os
import shutil
import tempfile

from peers import Server

MB = 1024 * 1024


class Bench:
    """A subclass has a method per benchmark, named in `names`; its docstring says what is measured."""

    names: list[str] = []

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.dir = tempfile.mkdtemp(prefix="ingot-bench-", dir=os.environ.get("BENCH_DIR"))
        self.rows: list[tuple[str, str, str, str, bool]] = []

    def report(self, what: str, measured: str, figure: str, wanted: str, good: bool) -> None:
        self.rows.append((what, measured, figure, wanted, good))
        print(f"  {what}: {measured} -> {figure} (wanted: {wanted}){'' if good else '  MISSED'}", flush=True)

    def server(self, name: str, **options) -> Server:
        return Server(os.path.join(self.dir, name), **options)


def best_of(ours, peer, rounds: int = 3) -> tuple[float, float]:
    """Both in turns, the best of each: what disturbs makes either slower, never faster."""
    figures = [(ours(), peer()) for _ in range(rounds)]
    return max(f[0] for f in figures), max(f[1] for f in figures)


def main(kind: type[Bench]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[[], *kind.names], default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    bench = kind(options.seconds)
    try:
        if options.list:
            for name in kind.names:
                print(f"{name:8} {getattr(bench, name).__doc__}")
            return 0
        for name in options.names or kind.names:
            getattr(bench, name)()
    finally:
        shutil.rmtree(bench.dir, ignore_errors=True)
    print("\n| what | measured | ratio or figure | wanted |\n|---|---|---|---|")
    for what, measured, figure, wanted, _ in bench.rows:
        print(f"| {what} | {measured} | {figure} | {wanted} |")
    print(f"\nload average while measuring: {os.getloadavg()[1]:.1f}")
    return 0 if all(row[4] for row in bench.rows) else 1
