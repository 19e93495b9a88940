"""Which module trains which annotation type. Each has train(job) -> Result."""

from importlib import import_module

TABLE = {
    "image-class": "image_class",
    "image-classes": "image_class",
    "detection": "detection",
    "segmentation": "segmentation",
    "text-class": "text_class",
    "audio-class": "audio_class",
}


def of(type: str):
    return import_module("." + TABLE[type], __name__)
