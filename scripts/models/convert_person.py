"""Two models of people out of one package: a mask (selfie segmentation) and 17 joints (MoveNet lightning)."""

from pathlib import Path

from graph import Graph
from tfjs import Converter

MASK_SIZE, POSE_SIZE = 256, 192
JOINTS = ("nose left_eye right_eye left_ear right_ear left_shoulder right_shoulder left_elbow right_elbow left_wrist "
          "right_wrist left_hip right_hip left_knee right_knee left_ankle right_ankle").split()
EDGES = [[0, 1], [0, 2], [1, 3], [2, 4], [5, 6], [5, 7], [7, 9], [6, 8], [8, 10], [5, 11], [6, 12], [11, 12], [11, 13],
         [13, 15], [12, 14], [14, 16]]


def build_mask(folder: Path) -> Graph:
    g = Graph("selfie")
    c = Converter.read(g, folder / "selfie.json")
    c.feed_picture("input_1", "image", MASK_SIZE, MASK_SIZE)
    g.output(c.nchw(c.get("activation_10")), "mask", ["batch", 1, MASK_SIZE, MASK_SIZE])
    return g


def build_pose(folder: Path) -> Graph:
    """Joints come as x, y, score; the graph's own order is y, x. It takes one picture at a time."""
    g = Graph("movenet-lightning")
    c = Converter.read(g, folder / "movenet-lightning.json")
    c.feed_picture("StatefulPartitionedCall/stack", "image", POSE_SIZE, POSE_SIZE, batch=1)
    points = c.nhwc(c.get("Identity"))
    points = g.op("Gather", g.op("Squeeze", points, g.ints(1)), g.ints(1, 0, 2), axis=2)
    g.output(points, "points", [1, len(JOINTS), 3])
    return g
