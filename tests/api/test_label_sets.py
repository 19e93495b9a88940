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


def asks(**more):
    return [label(attributes=[{"name": "colour", "type": "text", **more}])]


def test_attributes_and_retired(admin, make_set):
    labels = [label("car", attributes=[
        {"name": "colour", "title": {"en": "Colour", "zh": "颜色"}, "type": "choice", "choices": ["red", "blue"], "required": True,
         "default": "red"},
        {"name": "plate", "type": "text", "default": ""}, {"name": "doors", "type": "number", "default": 4},
        {"name": "parked", "type": "flag", "default": False, "title": None, "choices": None}]),
        label("cart", retired=True), label("bus", attributes=[], retired=None, children=[label("coach", retired=False)])]
    made = make_set(labels=labels)
    assert made["labels"] == labels
    assert admin.get(f"label-sets/{made['id']}")["labels"] == labels


@pytest.mark.parametrize("labels, where, says", [
    ([label(retired=1)], "labels[0].retired", "true or false"),
    ([label(attributes={})], "labels[0].attributes", "at most 20"),
    ([label(attributes=[{"name": f"a{i}", "type": "flag"} for i in range(21)])], "labels[0].attributes", "at most 20"),
    ([label(attributes=[7])], "labels[0].attributes[0]", "an object"),
    (asks(name=""), "labels[0].attributes[0].name", "1 to 100"),
    ([label(attributes=[{"name": "a", "type": "flag"}] * 2)], "labels[0].attributes[1].name", "the same name"),
    (asks(type="date"), "labels[0].attributes[0].type", "choice, text, number or flag"),
    (asks(size=3), "labels[0].attributes[0].size", "none of name"),
    (asks(title={"fr": "x"}), "labels[0].attributes[0].title", "en and zh"),
    (asks(required="yes"), "labels[0].attributes[0].required", "true or false"),
    (asks(choices=["a"]), "labels[0].attributes[0].choices", "choice only"),
    (asks(type="choice"), "labels[0].attributes[0].choices", "1 to 100 texts"),
    (asks(type="choice", choices=["a", "a"]), "labels[0].attributes[0].choices[1]", "twice"),
    (asks(type="choice", choices=["a"], default="b"), "labels[0].attributes[0].default", "one of choices"),
    (asks(type="number", default="b"), "labels[0].attributes[0].default", "a number"),
    (asks(type="flag", default=1), "labels[0].attributes[0].default", "true or false"),
    ([label(children=[label(attributes=7)])], "labels[0].children[0].attributes", "at most 20"),
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
