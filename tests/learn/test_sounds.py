"""Classes of sounds: tones, and what ingot-infer hears of the same files."""

import subprocess

import conftest
import generate
import pytest
from conftest import figure_of, found_of, train


def test_tones(tmp_path, ask):
    data, out = generate.tones(tmp_path / "data", 60), tmp_path / "out"
    (data / "audio" / "007.wav").write_bytes(b"RIFF....WAVEno")
    for i in range(60):  # files keep their names: what counts is what is in them
        if i % 4 in (1, 2):
            wav = data / "audio" / f"{i:03}.wav"
            coded = subprocess.run(["ffmpeg", "-v", "error", "-i", str(wav), "-f", ["mp3", "ogg"][i % 4 - 1], "-"], capture_output=True, check=True).stdout
            wav.write_bytes(coded)
    train(data, out, minutes=5, epochs=8)
    assert figure_of(out, "accuracy") > 0.6
    server, compared = ask(out), 0
    for name, row in found_of(out).items():
        if "annotation" not in row:
            assert name == "audio/007.wav"
            continue
        answer = server.predict((data / name).read_bytes(), "audio/wav")["annotation"]
        label = row["annotation"]["labels"][0]
        assert answer["labels"] == [label] and abs(answer["scores"][label] - row["annotation"]["scores"][label]) < 1e-2
        compared += 1
    assert compared > 5


@pytest.mark.parametrize("form", ["flac", "mp3", "ogg"])
def test_sounds_that_are_no_wav(tmp_path, form):
    """All that the platform takes in is learned from: the file says what its WAV says, up to what its coding loses."""
    data = generate.tones(tmp_path / "data", 3)
    wav, other = data / "audio" / "001.wav", tmp_path / f"one.{form}"
    subprocess.run(["ffmpeg", "-v", "error", "-i", str(wav), str(other)], check=True)
    script = """
import sys, numpy as np
from pathlib import Path
from ingot_learn import sounds
a, b = (sounds.read(Path(name).read_bytes()) for name in sys.argv[1:])
def middle(x):  # coders add silence at both ends; a spectrum does not mind
    return np.abs(np.fft.rfft(x, 1 << 15))
print(np.corrcoef(middle(a), middle(b))[0, 1] > 0.98 and abs(len(a) - len(b)) < sounds.RATE // 5)
"""
    done = subprocess.run([conftest.PYTHON, "-c", script, wav, other], env=conftest.environment(), capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr
