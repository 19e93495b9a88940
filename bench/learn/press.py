#!/usr/bin/python3
"""From pressing the button to a deployed model that answers: 60 generated pictures of 3 classes, on a server that runs already, has the
runtime pytorch built and the built-in model imagenet-classifier installed.

    press.py URL [MINUTES]      the token of an administrator in $INGOT_TOKEN"""

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "learn")]

import generate  # noqa: E402
import ingot  # noqa: E402


def main() -> None:
    url, minutes = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    name = f"press-{int(time.time())}"
    with tempfile.TemporaryDirectory() as folder, ingot.Client(url, token=os.environ["INGOT_TOKEN"]) as client:
        data = generate.pictures(Path(folder) / "data", "image-class", 60)
        project = client.projects.create(name=name)
        client.datasets.import_(data, name, project=project, type="image-class")
        load, begun = os.getloadavg()[0], time.monotonic()
        run = client.datasets.train(name, project=project, minutes=minutes)
        run.wait()
        trained = time.monotonic() - begun
        model = run.model()
        saved = time.monotonic() - begun
        service, _ = client.services.deploy(name, project=project, model_version=model["id"])
        answer = service.predict(data / "images" / "001.png")
        print(f"trained after {trained:.0f} s, saved {saved:.0f} s, answered {time.monotonic() - begun:.0f} s ({minutes:g} minutes of training asked for, load {load:.0f}): {answer}")
        service.stop()


if __name__ == "__main__":
    main()
