"""Which format an upload is: all its files are weighed, and where several fit it is asked."""

import json

import pytest

COCO = json.dumps({"images": [{"id": 1, "file_name": "1.png", "width": 4, "height": 4}], "annotations": [], "categories": []})
LABELME = json.dumps({"shapes": [], "imagePath": "1.png", "imageData": None})
CVAT = "<annotations><version>1.1</version></annotations>"
YOLO = {"labels/1.txt": "0 .5 .5 .1 .1\n", "classes.txt": "cat\n"}
PICTURES = {"images/1.png": "", "images/2.png": ""}

CASES = {
    "the other formats' files do not count": ("detection", {**PICTURES, **YOLO, "notes.json": '{"categories": [], "info": {}}'}, "yolo"),
    "texts beside pictures that are no labels": ("detection", {**PICTURES, "images/1.txt": "a caption\n", "images/2.txt": "0 1\n"}, "files"),
    "one COCO file after many others": ("detection", {**PICTURES, **{f"a/{i}.json": "{}" for i in range(60)}, "z.json": COCO}, "coco"),
    "two formats": ("detection", {**PICTURES, **YOLO, "annotations/a.json": COCO},
                    'format: these files could be coco ("annotations/a.json") or yolo ("labels/1.txt"); say which is meant'),
    "three formats": ("detection", {**PICTURES, **YOLO, "a.json": COCO, "b.json": LABELME},
                      'format: these files could be coco ("a.json") or labelme ("b.json") or yolo ("labels/1.txt"); say which is meant'),
    "our own file goes before all": ("detection", {**PICTURES, **YOLO, "a.json": COCO, "ingot.jsonl": '{"ingot":1}\n'}, "ingot"),
    "CVAT is not VOC": ("detection", {**PICTURES, "annotations.xml": CVAT}, "files"),
    "folders beside an unknown file": ("image-class", {"cat/1.png": "", "dog/2.png": "", "annotations.xml": CVAT},
                                       'format: the folders could be classes, but no format reads "annotations.xml" beside them; '
                                       "say image-folder to take the folders as classes, or files to take no classes"),
    "folders in folders": ("image-class", {"animals/cat/1.png": "", "vehicles/car/2.png": ""},
                           'format: the class of "vehicles/car/2.png" could be "vehicles" or "car"; say image-folder for the first, '
                           "or files to take no classes"),
    "folders in one folder": ("image-class", {"set/cat/1.png": "", "set/dog/2.png": "", "README.md": ""}, "image-folder"),
    "a table of something else": ("image-class", {"images/1.png": "", "prices.csv": "day,price\n1,2\n"}, "files"),
    "a table of boxes for another type": ("image-class", {"1.png": "", "2.png": "", "a.csv": "file,x,y,w,h\n1.png,1,1,1,1\n"}, "files"),
    "a table without names": ("image-class", {"1.png": "", "a.csv": "1.png,cat\n"}, "csv"),
    "nothing known": ("detection", {"a.parquet": "PAR1"}, "files"),
}


@pytest.mark.parametrize("case", CASES)
def test_detection(tool, tmp_path, case):
    kind, files, expected = CASES[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert tool.run("detect", kind, tmp_path).strip() == expected
