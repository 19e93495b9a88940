"""Classes of texts, and that the tokenizer here is the one of ingot-infer."""

import json
import subprocess

import conftest
import generate
from conftest import BUILD, environment, figure_of, found_of, train


def test_reviews_in_two_languages(tmp_path, ask):
    data, out = generate.texts(tmp_path / "data", 80), tmp_path / "out"
    train(data, out, minutes=2, env={"PATH": f"/usr/bin:/bin:{BUILD}"})
    assert figure_of(out, "accuracy") > 0.9 and figure_of(out, "precision") > 0.9  # by `ingot evaluate`
    server = ask(out)
    rows = [json.loads(line) for line in (data / "ingot.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    texts = {row["file"]: row.get("content") or (data / row["file"]).read_text(encoding="utf-8") for row in rows}
    for name, row in found_of(out).items():
        answer = server.predict(texts[name].encode(), "text/plain")["annotation"]
        assert answer["labels"] == row["annotation"]["labels"]
        label = answer["labels"][0]
        assert abs(answer["scores"][label] - row["annotation"]["scores"][label]) < 1e-3
    strange = "ＡＢＣ　 Ｘ\u00a0\t\ufeff z𠀀 " * 2000  # full width, all kinds of space, beyond 4,000 code points
    assert server.predict(strange.encode(), "text/plain")["annotation"]["labels"]


def test_several_labels_and_many_classes(tmp_path, ask):
    """Twelve classes make the graph hold a map of columns."""
    words = [f"word{chr(97 + i) * 3}" for i in range(12)]
    rows = [{"file": f"{i}.txt", "content": f"about {words[i % 12]} and {words[(i * 5 + 1) % 12]}",
             "annotation": {"labels": sorted({words[i % 12], words[(i * 5 + 1) % 12]})}} for i in range(120)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ingot.jsonl").write_text("\n".join(map(json.dumps, [{"ingot": 1, "type": "text-class"}, *rows])))
    out = tmp_path / "out"
    train(tmp_path / "data", out, minutes=2)
    assert figure_of(out, "f1") > 0.8
    assert (out / "model.onnx").stat().st_size < 6e6
    assert words[3] in ask(out).predict(f"about {words[3]} and {words[4]}".encode(), "text/plain")["annotation"]["labels"]


def test_ngrams_are_those_of_the_page(tmp_path):
    """A second reading of docs/models.md, letter by letter."""
    script = r'''
from ingot_learn import ngrams
def plain(text):
    out, last = [0x20], True
    for c in map(ord, text[:4000]):
        c = c - 0xFEE0 if 0xFF01 <= c <= 0xFF5E else c
        c = c + 32 if 65 <= c <= 90 else c
        space = c <= 0x20 or c in (0xA0, 0x3000, 0xFEFF, 0x200B)
        if not (space and last):
            out.append(0x20 if space else c)
        last = space
    if not last:
        out.append(0x20)
    table = {}
    for n in range(1, 5):
        for i in range(len(out) - n + 1):
            h = (0x811C9DC5 + n * 0x9E3779B9) & 0xFFFFFFFF
            for c in out[i:i + n]:
                h = ((h ^ c) * 0x01000193) & 0xFFFFFFFF
            h ^= h >> 16; h = h * 0x85EBCA6B & 0xFFFFFFFF; h ^= h >> 13; h = h * 0xC2B2AE35 & 0xFFFFFFFF; h ^= h >> 16
            table[h & 0x3FFFF] = table.get(h & 0x3FFFF, 0) + 1
    return table
for text in ["", " ", "a", "Ｈｅllo　世界!!\t\n x", "\u200b\ufeff", "ab" * 3000, "𠀀𠀁 emoji 🙂"]:
    index, count = ngrams.count(text)
    assert dict(zip(index.tolist(), count.tolist())) == plain(text) and list(plain(text)) == index.tolist(), text
print("equal")
'''
    done = subprocess.run([conftest.PYTHON, "-c", script], env=environment(), capture_output=True, text=True)
    assert done.stdout.strip() == "equal", done.stderr
