"""Sounds as ingot-infer reads them: the mean of the channels at 16 kHz, -1..1. WAV by itself; others by python3-soundfile or
ffmpeg where they are installed."""

import io
import shutil
import subprocess

import numpy as np

RATE = 16000
LONGEST = 600  # seconds that are read of one file
CROSSINGS = 16


class Unreadable(Exception):
    pass


def _pcm(data: bytes, kind: int, bits: int) -> np.ndarray:
    if kind == 3 and bits in (32, 64):
        return np.frombuffer(data[:len(data) // (bits // 8) * (bits // 8)], f"<f{bits // 8}").astype(np.float32)
    if kind == 1 and bits == 8:
        return (np.frombuffer(data, np.uint8).astype(np.float32) - 128) / 128
    if kind == 1 and bits == 24:
        raw = np.frombuffer(data[:len(data) // 3 * 3], np.uint8).reshape(-1, 3)
        wide = np.zeros((len(raw), 4), np.uint8)
        wide[:, 1:] = raw
        return wide.reshape(-1).view("<i4").astype(np.float32) / (1 << 31)
    if kind == 1 and bits in (16, 32):
        return np.frombuffer(data[:len(data) // (bits // 8) * (bits // 8)], f"<i{bits // 8}").astype(np.float32) / (1 << (bits - 1))
    raise Unreadable(f"WAV of the kind {kind} with {bits} bits")


def _wav(raw: bytes) -> tuple:
    """(samples of one channel, rate)."""
    if raw[:4] != b"RIFF" or raw[8:12] != b"WAVE":
        raise Unreadable("not a WAV file")
    at, form = 12, None
    while at + 8 <= len(raw):
        name, size = raw[at:at + 4], int.from_bytes(raw[at + 4:at + 8], "little")
        body = raw[at + 8:at + 8 + size]
        if name == b"fmt " and len(body) >= 16:
            kind, channels, rate = (int.from_bytes(body[i:i + n], "little") for i, n in ((0, 2), (2, 2), (4, 4)))
            bits = int.from_bytes(body[14:16], "little")
            if kind == 0xFFFE and len(body) >= 26:
                kind = int.from_bytes(body[24:26], "little")
            form = (kind, channels, rate, bits)
        elif name == b"data" and form:
            kind, channels, rate, bits = form
            if not 1 <= channels <= 64 or not 100 <= rate <= 1000000:
                raise Unreadable("a WAV header that makes no sense")
            flat = _pcm(body[:LONGEST * rate * channels * bits // 8], kind, bits)
            return flat[:len(flat) // channels * channels].reshape(-1, channels).mean(1), rate
        at += 8 + size + size % 2
    raise Unreadable("a WAV file without samples")


def _other(raw: bytes) -> tuple:
    try:
        import soundfile

        samples, rate = soundfile.read(io.BytesIO(raw), dtype="float32", always_2d=True)
        return samples[:LONGEST * rate].mean(1), rate
    except ImportError:
        pass
    except Exception as error:
        raise Unreadable(str(error)) from error
    if program := shutil.which("ffmpeg"):
        done = subprocess.run([program, "-v", "error", "-t", str(LONGEST), "-i", "pipe:0", "-f", "wav", "-acodec", "pcm_s16le", "-"],
                              input=raw, capture_output=True)
        if done.returncode == 0:
            return _wav(done.stdout)
    raise Unreadable("neither WAV nor anything that an installed program reads")


def resample(x: np.ndarray, rate: int, wanted: int = RATE) -> np.ndarray:
    """Windowed sinc, 16 zero crossings, Hann: sample i of the result lies at i * rate / wanted. Weights sum to 1."""
    if rate == wanted or not len(x):
        return x
    count, cut = -(-len(x) * wanted // rate), min(1.0, wanted / rate)
    reach = int(np.ceil(CROSSINGS / cut)) + 1
    out = np.zeros(count, np.float32)
    padded = np.pad(x, reach + 1)
    for begin in range(0, count, 1 << 16):
        center = np.arange(begin, min(begin + (1 << 16), count)) * (rate / wanted)
        base = np.floor(center).astype(np.int64)
        total, weights = np.zeros(len(center)), np.zeros(len(center))
        for k in range(1 - reach, reach + 1):
            d = (base + k - center) * cut
            w = np.where(np.abs(d) < CROSSINGS, np.sinc(d) * (1 + np.cos(np.pi * d / CROSSINGS)), 0)
            total += padded[np.minimum(base + k + reach + 1, len(padded) - 1)] * w
            weights += w
        out[begin:begin + len(center)] = total / weights
    return out


def read(raw: bytes) -> np.ndarray:
    x, rate = _wav(raw) if raw[:4] == b"RIFF" else _other(raw)
    return resample(x.astype(np.float32), rate)


def fitted(x: np.ndarray, count: int) -> np.ndarray:
    """Cut or padded with silence, both at the middle."""
    if len(x) >= count:
        at = (len(x) - count) // 2
        return x[at:at + count]
    before = (count - len(x)) // 2
    return np.pad(x, (before, count - len(x) - before))
