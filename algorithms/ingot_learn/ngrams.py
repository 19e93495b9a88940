"""Hashed n-grams of characters, one definition for Chinese and English: exactly docs/models.md's tokenizer `ngrams`."""

import numpy as np

BUCKETS = 1 << 18
LENGTH = 16384  # different n-grams of a text at most, as ingot-infer's default
CODE_POINTS = 4000
_SPACES = np.array([0xA0, 0x3000, 0xFEFF, 0x200B], np.uint32)


def normal(text: str) -> np.ndarray:
    """Code points: full-width forms narrow, A-Z small, white space one space, one at each end."""
    c = np.frombuffer(text[:CODE_POINTS].encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    wide = (c >= 0xFF01) & (c <= 0xFF5E)
    c[wide] -= 0xFEE0
    c[(c >= 65) & (c <= 90)] += 32
    c[(c <= 0x20) | np.isin(c, _SPACES)] = 0x20
    c = np.concatenate([np.array([0x20], np.uint32), c, np.array([0x20], np.uint32)])
    return c[np.concatenate([[True], (c[1:] != 0x20) | (c[:-1] != 0x20)])]


def _mixed(h: np.ndarray) -> np.ndarray:
    """murmur3's finish."""
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    return h ^ (h >> np.uint32(16))


def count(text: str) -> tuple:
    """Numbers of the different n-grams in the order of their first occurrence, and how often each occurs."""
    c, found = normal(text), []
    with np.errstate(over="ignore"):
        for n in range(1, 5):
            if len(c) < n:
                break
            start = np.uint32((0x811C9DC5 + n * 0x9E3779B9) & 0xFFFFFFFF)
            h = np.full(len(c) - n + 1, start, np.uint32)
            for i in range(n):
                h = (h ^ c[i:len(c) - n + 1 + i]) * np.uint32(0x01000193)
            found.append(_mixed(h) & np.uint32(BUCKETS - 1))
    numbers, first, often = np.unique(np.concatenate(found), return_index=True, return_counts=True)
    order = np.argsort(first, kind="stable")[:LENGTH]
    return numbers[order].astype(np.int64), often[order].astype(np.float32)
