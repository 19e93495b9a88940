"""python3 -m ingot_learn train|plan: see README.md."""

import argparse
import json
import sys

from . import machine


def _plan(options) -> int:
    from . import data, look, parameters
    from .errors import Refused

    try:
        params = parameters.read(options.parameters)
        _, _, plan = look.prepare(data.find(options.data), params)
        print(json.dumps({**plan, "ok": True, "minutes": params.minutes}, ensure_ascii=False, indent=1))
        return 0
    except Refused as refused:
        print(json.dumps({"ok": False, "refusal": {"id": refused.id, "en": refused.en, "zh": refused.zh}}, ensure_ascii=False, indent=1))
        return 2


def _train(options) -> int:
    machine.settle()
    from . import run

    return run.main(options)


def main() -> int:
    parser = argparse.ArgumentParser(prog="ingot_learn", description="Trains a model from a labelled dataset.")
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train a model")
    train.add_argument("--out", help="folder of the model (/workspace/persistent-model)")
    train.add_argument("--base", help="folder with the ONNX file of EfficientNet-Lite0 (the one below /workspace/model)")
    train.add_argument("--resume", action="store_true", help="go on from what the folder holds (as INGOT_RESUME=1)")
    train.set_defaults(run=_train)
    plan = commands.add_parser("plan", help="say what would be trained, as JSON")
    plan.set_defaults(run=_plan)
    for one in (train, plan):
        one.add_argument("--data", help="folder with ingot.jsonl (the only one below /workspace/dataset)")
        one.add_argument("--parameters", help="JSON object (the variable INGOT_PARAMETERS)")
    options = parser.parse_args()
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
