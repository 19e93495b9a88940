"""Classes of sounds: tones, and what ingot-infer hears of the same files."""

import generate
from conftest import figure_of, found_of, train


def test_tones(tmp_path, ask):
    data, out = generate.tones(tmp_path / "data", 60), tmp_path / "out"
    (data / "audio" / "007.wav").write_bytes(b"RIFF....WAVEno")
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
