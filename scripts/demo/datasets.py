"""The four datasets: pictures with boxes, pictures of one thing, texts, sounds. Each is made anew unless it is published."""

import html
import itertools
import re
import zlib
from typing import Any, Iterable, Iterator

import numpy as np
import objects
import pictures
import sounds
from world import DECLARATION, EMOJI, World, source

PALETTE = ("#1677ff", "#d4380d", "#389e0d", "#d4b106", "#722ed1", "#13c2c2", "#eb2f96", "#fa8c16", "#595959", "#2f54eb", "#7cb305", "#ad6800", "#c41d7f")
FRUIT_PICTURES, NEW_PICTURES, FRUIT_SIZE = 80, 24, (640, 480)
THING_PICTURES, THING_SIZE = 8, (320, 320)
SOUNDS_EACH = 15
#: Label, file of the package.
LANGUAGES = (("English", "eng"), ("中文", "cmn_hans"), ("Español", "spa"), ("Français", "fra"), ("Deutsch", "deu_1996"))
TEXTS_EACH = 40


def split_of(number: int) -> str:
    """Every fifth is for testing."""
    return "test" if number % 5 == 4 else "train"


def seed_of(*words: Any) -> int:
    return zlib.crc32(repr(words).encode())


def label_set(world: World, name: str, labels: Iterable[str], colours: dict[str, str] | None = None) -> dict[str, Any]:
    rows = [{"name": label, "color": (colours or {}).get(label, PALETTE[i % len(PALETTE)])} for i, label in enumerate(labels)]
    return world.make("label-sets", name, labels=rows)


def dataset(world: World, name: str, kind: str, labels: dict[str, Any], about: str, samples: Iterator[dict[str, Any]], count: int) -> None:
    """Imports, and publishes; what a run that was ended left goes first."""
    there = world.find("datasets", name)
    versions = list(world.client.datasets.versions(there).list()) if there else []
    if any(version["state"] == "published" for version in versions):
        return
    if there:
        world.client.datasets.delete(there["id"])
    there = dict(world.client.datasets.create(project=world.project, name=name, annotation_type=kind, label_set=labels))
    versions = world.client.datasets.versions(there)
    for first in versions.page(limit=1).items or [versions.create()]:
        versions.update(first, description=about)
    made = world.client.dataset(name, project=world.project)
    rows = []
    for row in samples:
        rows.append(row)
        world.at(len(rows), count * 1.5)
    made.put(rows)
    world.at(9, 10)
    made.publish()


# --- pictures ---

def fruit_scene(world: World, number: int) -> pictures.Scene:
    """The first are of the published version, those after them wait to be labelled."""
    rng = np.random.default_rng(seed_of("fruit", number))
    labels = rng.choice(sorted(objects.FRUIT), int(rng.integers(3, 8)))
    chosen = [(label, pictures.cut_out(world.emoji() / f"{rng.choice(objects.FRUIT[label])}.webp")) for label in labels]
    return pictures.scene(seed_of("fruit scene", number), FRUIT_SIZE, chosen, (.16, .38))


def fruit(world: World) -> None:
    labels = label_set(world, "fruit", objects.FRUIT, objects.COLOURS)
    about = f"Pictures that the demo drew: objects of the {source(EMOJI)}, on made backgrounds, so that every box is exact."

    def samples() -> Iterator[dict[str, Any]]:
        for i in range(FRUIT_PICTURES):
            made = fruit_scene(world, i)
            yield {"name": f"table-{i + 1:03}.jpg", "content": made.jpeg(), "annotation": {"shapes": made.boxes}, "split": split_of(i)}

    dataset(world, "fruit", "detection", labels, about, samples(), FRUIT_PICTURES)


def thing_scene(world: World, label: str, number: int) -> pictures.Scene:
    names = objects.THINGS[label]
    of = pictures.cut_out(world.emoji() / f"{names[number % len(names)]}.webp")
    return pictures.scene(seed_of("thing", label, number), THING_SIZE, [(label, of)], (.55, .85), 12)


def things(world: World) -> None:
    labels = label_set(world, "things", objects.THINGS)
    about = f"One thing on each picture, called as the classes of ImageNet are. Drawn by the demo, with objects of the {source(EMOJI)}."

    def samples() -> Iterator[dict[str, Any]]:
        for label, i in itertools.product(objects.THINGS, range(THING_PICTURES)):
            name = f"{label.replace(' ', '-')}-{i + 1}.jpg"
            yield {"name": name, "content": thing_scene(world, label, i).jpeg(), "annotation": {"labels": [label]}, "split": split_of(i)}

    dataset(world, "things", "image-class", labels, about, samples(), len(objects.THINGS) * THING_PICTURES)


# --- texts ---

def _paragraphs(text: str) -> list[str]:
    found = (html.unescape(re.sub(r"<[^>]+>", "", one)).strip() for one in re.findall(r"<p>(.*?)</p>", text, re.S))
    return [one for one in found if len(one) > 12]


def languages(world: World) -> None:
    labels = label_set(world, "languages", [label for label, _ in LANGUAGES])
    about = f"Which language is it? Paragraphs of the Universal Declaration of Human Rights, of the {source(DECLARATION)}."

    def samples() -> Iterator[dict[str, Any]]:
        folder = world.package(DECLARATION, ["license", *(f"declaration/{code}.html" for _, code in LANGUAGES)])
        for label, code in LANGUAGES:
            texts = _paragraphs((folder / f"declaration/{code}.html").read_text(encoding="utf-8"))[:TEXTS_EACH]
            for i, text in enumerate(texts):
                yield {"name": f"{code}/{i + 1:02}.txt", "content": text, "annotation": {"labels": [label]}, "split": split_of(i)}

    dataset(world, "languages", "text-class", labels, about, samples(), len(LANGUAGES) * TEXTS_EACH)


# --- sounds ---

def instruments(world: World) -> None:
    labels = label_set(world, "instruments", sounds.INSTRUMENTS)
    about = "Notes of four instruments. They are computed by the demo itself, not recorded: nothing of them is fetched."

    def samples() -> Iterator[dict[str, Any]]:
        for name, i in itertools.product(sounds.INSTRUMENTS, range(SOUNDS_EACH)):
            wave = sounds.note(name, seed_of("sound", name, i))
            yield {"name": f"{name}-{i + 1:02}.wav", "content": wave, "annotation": {"labels": [name]}, "split": split_of(i)}

    dataset(world, "instruments", "audio-class", labels, about, samples(), len(sounds.INSTRUMENTS) * SOUNDS_EACH)
