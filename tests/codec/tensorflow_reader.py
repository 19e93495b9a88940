"""Reads TFRecord files with TensorFlow's own reader and prints one JSON line per example; bytes as hex.
python3 tensorflow_reader.py image|text|audio FILE... . Run by test_tensorflow.py with a Python that has TensorFlow."""

import json
import sys

import tensorflow as tf

kind, files = sys.argv[1], sys.argv[2:]
content = {"image": "image/encoded", "text": "text", "audio": "audio/encoded"}[kind]
features = {
    content: tf.io.FixedLenFeature([], tf.string),
    f"{kind}/filename": tf.io.FixedLenFeature([], tf.string),
    f"{kind}/class/label": tf.io.VarLenFeature(tf.int64),
    f"{kind}/class/text": tf.io.VarLenFeature(tf.string),
}
if kind == "image":
    features |= {"image/format": tf.io.FixedLenFeature([], tf.string), "image/width": tf.io.FixedLenFeature([], tf.int64),
                 "image/height": tf.io.FixedLenFeature([], tf.int64)}
for raw in tf.data.TFRecordDataset(files):
    found = tf.io.parse_single_example(raw, features)
    line = {"content": found[content].numpy().hex(), "file": found[f"{kind}/filename"].numpy().decode(),
            "labels": found[f"{kind}/class/label"].values.numpy().tolist(),
            "texts": [t.decode() for t in found[f"{kind}/class/text"].values.numpy()]}
    if kind == "image":
        line["shape"] = list(tf.io.decode_image(found["image/encoded"]).shape)
        line["size"] = [int(found["image/width"]), int(found["image/height"])]
        line["format"] = found["image/format"].numpy().decode()
    print(json.dumps(line))
