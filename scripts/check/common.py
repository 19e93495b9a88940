"""What the checks share: the repository's files, the layers, the compiler flags, running things in parallel."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("libuv libnghttp2 openssl sqlite3 libpq libmariadb libcurl libarchive vips libavformat libavcodec "
            "libavutil libswscale sndfile libargon2 zlib libzstd cmocka").split()
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def repository_files(*suffixes: str) -> list[Path]:
    """Tracked and new files (not ignored ones), relative to ROOT."""
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         cwd=ROOT, check=True, capture_output=True).stdout.decode()
    files = [Path(name) for name in out.split("\0") if name and (ROOT / name).is_file()]
    return sorted(f for f in set(files) if not suffixes or f.suffix in suffixes)


def sources(folder: str, *suffixes: str) -> list[Path]:
    return [f for f in repository_files(*suffixes) if f.parts[0] == folder]


def layer_ranks(which: str = "ingot_ranks") -> dict[str, int]:
    """Rank of each layer, from the list in cmake/layers.cmake; base is 0. ingot_core_ranks: of core's folders."""
    text = (ROOT / "cmake/layers.cmake").read_text()
    ranks = re.search(rf"set\({which}\b(.*?)\)", text, re.S).group(1)
    return {layer: rank for rank, names in enumerate(re.findall(r'"([^"]+)"', ranks)) for layer in names.split()}


def compiler_flags() -> list[str]:
    installed = [p for p in PACKAGES if subprocess.run(["pkg-config", "--exists", p]).returncode == 0]
    flags = subprocess.run(["pkg-config", "--cflags", *installed], capture_output=True, text=True,
                           check=True).stdout.split()
    # Others' headers are not ours to warn about.
    flags = [f.replace("-I", "-isystem", 1) if f.startswith("-I") else f for f in flags]
    flags += [f"-isystem{d}" for d in sorted((ROOT / ".cache/thirdparty").glob("*-*"))]
    return ["-std=gnu17", "-D_GNU_SOURCE", '-DINGOT_VERSION="check"', '-DORT_LIBRARY="check"', "-Wall", "-Wextra", "-Werror", "-Isrc", *flags]


def in_parallel(work, items) -> list:
    """[work(item) ...] on all cores, in order."""
    with ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count())) as pool:
        return list(pool.map(work, items))


def report(problems: list[str], what: str) -> None:
    """Prints the problems and ends the program, with 1 when there are any."""
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {what}")
    sys.exit(1 if problems else 0)
