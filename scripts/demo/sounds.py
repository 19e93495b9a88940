"""Notes of instruments, computed from their physics: strings, air, metal, skins. The same number gives the same note."""

import io
import wave
from typing import Callable

import numpy as np

RATE, SECONDS = 16000, 1.2
Make = Callable[[np.random.Generator, np.ndarray, float], np.ndarray]


def _string(rng: np.random.Generator, t: np.ndarray, pitch: float) -> np.ndarray:
    """Karplus and Strong: noise that goes round and loses its edges."""
    line, out = rng.uniform(-1, 1, int(RATE / pitch)), np.empty(len(t))
    for i in range(0, len(t), len(line)):
        n = min(len(line), len(t) - i)
        out[i:i + n] = line[:n]
        line = .996 * (line + np.roll(line, 1)) / 2
    return out


def _flute(rng: np.random.Generator, t: np.ndarray, pitch: float) -> np.ndarray:
    tremble = 1 + .004 * np.sin(2 * np.pi * rng.uniform(4, 6) * t)
    phase = 2 * np.pi * np.cumsum(pitch * tremble) / RATE
    tone = np.sin(phase) + .35 * np.sin(2 * phase) + .1 * np.sin(3 * phase)
    return (tone + .06 * rng.standard_normal(len(t))) * np.minimum(t / .08, 1) * np.minimum((t[-1] - t) / .1, 1)


def _bell(rng: np.random.Generator, t: np.ndarray, pitch: float) -> np.ndarray:
    parts = ((1, 1, 1.2), (2.76, .6, 2.2), (5.4, .35, 4), (8.93, .2, 7))
    return sum(size * np.sin(2 * np.pi * pitch * of * t + rng.uniform(0, 6)) * np.exp(-t * fall) for of, size, fall in parts)


def _drum(rng: np.random.Generator, t: np.ndarray, pitch: float) -> np.ndarray:
    skin = np.sin(2 * np.pi * np.cumsum(pitch / 3 * (1 + 1.5 * np.exp(-t * 30))) / RATE) * np.exp(-t * 9)
    return skin + .5 * rng.standard_normal(len(t)) * np.exp(-t * rng.uniform(25, 45))


INSTRUMENTS: dict[str, Make] = {"bell": _bell, "drum": _drum, "flute": _flute, "string": _string}


def note(instrument: str, seed: int) -> bytes:
    """A WAV file."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(RATE * SECONDS)) / RATE
    made = INSTRUMENTS[instrument](rng, t, float(220 * 2 ** (rng.integers(0, 25) / 12)))
    made = made + rng.uniform(0, .01) * rng.standard_normal(len(t))
    pressed = (made / np.abs(made).max() * rng.uniform(.4, .9) * 32767).astype("<i2")
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pressed.tobytes())
    return out.getvalue()
