"""What this container may use: threads, memory, and an allocator that keeps what it has."""

import ctypes
import gc
import os
import sys

from .errors import Refused
from .log import say

# glibc gives large tensors back to the kernel after each layer and gets them again, page by page: forward passes of
# convolutional nets take twice as long without these. They count only when a process starts.
SETTINGS = {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "8589934592", "MALLOC_TOP_PAD_": "268435456",
          # Threads that spin while they wait are many times slower where others use the same cores.
          "OMP_WAIT_POLICY": "PASSIVE"}
LEAST = 700 << 20  # torch with a small net and its export


def settle() -> None:
    """Starts this program anew with the allocator's settings, once."""
    if os.environ.get("INGOT_LEARN_SETTLED") or not sys.platform.startswith("linux"):
        return
    os.environ.update({"INGOT_LEARN_SETTLED": "1", **{name: os.environ.get(name, value) for name, value in SETTINGS.items()}})
    os.execv(sys.executable, [sys.executable, "-m", "ingot_learn", *sys.argv[1:]])


def _number(path: str) -> "int | None":
    try:
        with open(path) as file:
            return int(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def threads() -> int:
    """OMP_NUM_THREADS as the platform sets it, else what the cgroup and the affinity allow."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    count = len(os.sched_getaffinity(0))
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
            count = min(count, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        quota = _number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") or -1
        period = _number("/sys/fs/cgroup/cpu/cpu.cfs_period_us") or 100000
        if quota > 0:
            count = min(count, max(1, quota // period))
    return count


def memory() -> int:
    """Bytes this container may have: what the platform says, the cgroup's limit, or what the machine has free."""
    told = os.environ.get("INGOT_MEMORY", "")
    limits = [int(told) if told.isdigit() else None, _number("/sys/fs/cgroup/memory.max"), _number("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
    with open("/proc/meminfo") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                limits.append(int(line.split()[1]) * 1024 + resident())
    return min(limit for limit in limits if limit)


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fitting(wanted: int, each: int) -> int:
    """A batch as large as asked for, or as memory allows at so many bytes a sample; refuses where not even one fits."""
    free = memory() - resident()
    if each > free:
        raise Refused("memory", f"one sample of a step needs some {each >> 20} MB of memory and {max(0, free) >> 20} MB are left: choose a smaller size or a larger spec",
                      f"每步的一个样本约需 {each >> 20} MB 内存，而只剩 {max(0, free) >> 20} MB：请减小输入尺寸或选择更大的规格")
    most = max(1, spare(0.7) // max(1, each))
    if most < wanted:
        say(f"a batch of {most} instead of {wanted}: more does not fit into memory")
    return min(wanted, most)


def release() -> None:
    """Gives back what training held, which the allocator's settings keep: programs that test the model want memory, too."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):  # glibc has it
        libc.malloc_trim(0)


def spare(share: float) -> int:
    """Bytes that a cache may take: a share of what is left beside the training itself."""
    return max(0, int((memory() - max(resident(), LEAST // 2) - LEAST // 2) * share))
