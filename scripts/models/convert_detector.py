"""SSDLite MobileNetV2 of coco-ssd: TensorFlow.js' graph from behind its preprocessing to the raw predictions, and the
boxes decoded here with the anchors that the graph carries."""

from pathlib import Path

import numpy as np

from graph import Graph
from tfjs import Converter

SIZE = 300
# COCO's own numbers of classes go to 90 and leave out ten; a name that is empty belongs to one left out.
CLASSES = (
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,,stop sign,parking meter,"
    "bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,,backpack,umbrella,,,handbag,tie,suitcase,frisbee,"
    "skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,,wine glass,"
    "cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,"
    "potted plant,bed,,dining table,,,toilet,,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,"
    "refrigerator,,book,clock,vase,scissors,teddy bear,hair drier,toothbrush").split(",")
LABELS = [name for name in CLASSES if name]


def decode(g: Graph, offsets: str, anchors: np.ndarray) -> str:
    """Boxes y1, x1, y2, x2 as shares of the picture; offsets are of the middle and of the logarithms of the sides."""
    low, high = anchors[:, :2], anchors[:, 2:]
    middle, side = (low + high) / 2, high - low
    move, grow = g.op("Split", offsets, g.ints(2, 2), axis=2, outputs=2)
    at = g.op("Add", g.op("Mul", move, g.constant((side / 10).astype(np.float32))), g.constant(middle.astype(np.float32)))
    half = g.op("Mul", g.op("Exp", g.op("Mul", grow, g.constant(np.float32(1 / 5)))), g.constant((side / 2).astype(np.float32)))
    return g.op("Concat", g.op("Sub", at, half), g.op("Add", at, half), axis=2)


def build(folder: Path) -> Graph:
    g = Graph("coco-ssd")
    c = Converter.read(g, folder / "model.json")
    c.feed_picture("Preprocessor/sub", "image", SIZE, SIZE)
    offsets, scores = c.nhwc(c.get("Squeeze")), c.nhwc(c.get("Postprocessor/convert_scores"))
    anchors = c.get("Postprocessor/ExpandDims").array[0]
    g.output(decode(g, offsets, anchors), "boxes", ["batch", len(anchors), 4])
    kept = [1 + i for i, name in enumerate(CLASSES) if name]  # 0 is the background
    g.output(g.op("Gather", scores, g.ints(*kept), axis=2), "scores", ["batch", len(anchors), len(kept)])
    return g
