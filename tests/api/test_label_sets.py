"""Label sets: two levels of labels, each with a colour and a shortcut."""

import pytest
from harness import problem


def label(name="car", **more):
    return {"name": name, **more}


def test_two_levels(admin, make_set):
    labels = [label("vehicle", color="#d4380d", key="v", children=[label("car", key="c"), label("bus", color="#00ff00")]),
              label("人", key="1", children=[]), label("sign", color=None, key=None, children=None)]
    made = make_set(labels=labels)
    assert made["labels"] == labels
    assert admin.get(f"label-sets/{made['id']}")["labels"] == labels
    # The same name may stand under another label.
    make_set(labels=[label("a", children=[label("x")]), label("b", children=[label("x")])])
    make_set(labels=[label(f"l{i}") for i in range(1000)])


def test_skeletons(make_set):
    labels = [label("person", keypoints=["nose", "neck", "腰"], edges=[[0, 1], [1, 2]]), label("cat", children=[label("kitten", keypoints=["eye"])])]
    assert make_set(labels=labels)["labels"] == labels


@pytest.mark.parametrize("labels, where, says", [
    ({}, "labels", "must be a list"),
    (["car"], "labels[0]", "must be an object"),
    ([{}], "labels[0].name", "is required"),
    ([label(7)], "labels[0].name", "must be a text"),
    ([label("a/b")], "labels[0].name", "/"),
    ([label("x" * 51)], "labels[0].name", "50"),
    ([label("  ")], "labels[0].name", "spaces"),
    ([label(), label("bus"), label()], "labels[2]", "the same name"),
    ([label(color="red")], "labels[0].color", ""),
    ([label(color="#12345g")], "labels[0].color", ""),
    ([label(key="ab")], "labels[0].key", ""),
    ([label(key="A")], "labels[0].key", ""),
    ([label("a", key="k"), label("b", children=[label("c", key="k")])], "labels[1].children[0]", "used twice"),
    ([label(children=[label(children=[])])], "labels[0].children[0]", "no \"children\" here"),
    ([label(children=7)], "labels[0].children", "must be a list"),
    ([label(children=[label(), label()])], "labels[0].children[1]", "the same name"),
    ([label(size=3)], "labels[0]", "no \"size\" here"),
    ([label(keypoints="nose")], "labels[0]", "keypoints must be a list"),
    ([label(keypoints=["nose", ""])], "labels[0].keypoints[1]", "1 to 50"),
    ([label(keypoints=["nose", "neck"], edges=[[0, 1], [1, 2]])], "labels[0].edges[1]", "from 0"),
    ([label(keypoints=["nose"], edges=[[0]])], "labels[0].edges[0]", "two numbers"),
    ([label(f"l{i}") for i in range(1001)], "labels[1000]", "more than 1000"),
], ids=str)
def test_refused(admin, project, labels, where, says):
    answer = admin.call("POST", "label-sets", json={"project": project["id"], "name": "bad", "labels": labels})
    detail = problem(answer, 422, "invalid", "labels")["detail"]
    assert detail.startswith(f"{where}:") and says in detail
    assert admin.get("label-sets", project=project["id"])["items"] == []
