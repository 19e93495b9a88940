"""Values of attributes are checked against what the label asks for, whoever writes them; imports are told."""

import json

import pytest
from harness import problem
from test_datasets import bring, report, zipped
from test_operations import CLIENT, OTHER, box, put, states
from test_relabel import Labelled

ASKS = [{"name": "colour", "type": "choice", "choices": ["red", "blue"]}, {"name": "plate", "type": "text"},
        {"name": "doors", "type": "number"}, {"name": "parked", "type": "flag"}]
LABELS = [{"name": "car", "attributes": ASKS}, {"name": "bus", "children": [{"name": "coach", "attributes": ASKS[2:3]}]}]


def car(shape: str = "aa", label: str = "car", **attributes) -> dict:
    return {**box(shape, label=label), "attributes": attributes}


@pytest.fixture
def work(admin, project) -> Labelled:
    return Labelled(admin, project, LABELS)


WRONG = [
    ({"colour": "green"}, "colour", "red, blue"), ({"colour": 3}, "colour", "red, blue"), ({"plate": 7}, "plate", "a text"),
    ({"plate": "x" * 1001}, "plate", "1000"), ({"doors": "four"}, "doors", "a number"), ({"parked": "yes"}, "parked", "true or false"),
    ({"wheels": 4}, "wheels", "no attribute wheels"),
]


@pytest.mark.parametrize("attributes, name, says", WRONG, ids=str)
def test_wrong_values_are_refused(work, attributes, name, says):
    result, = work.send(put(1, car(**attributes)))
    assert result["state"] == "refused" and result["problem"]["field"] == f"shape.attributes.{name}"
    assert says in result["problem"]["message"] and result["problem"]["message_zh"]
    whole, = work.send({"id": f"{CLIENT}.2", "op": "replace", "annotation": {"shapes": [car("a"), car("b", **attributes)]}})
    assert whole["problem"]["field"] == f"annotation.shapes[1].attributes.{name}"
    answer = work.api.call("PUT", f"{work.path}/samples/{work.first}/annotation", headers={"If-Match": '"1"'},
                           json={"annotation": {"shapes": [car(**attributes)]}})
    problem(answer, 422, "invalid", f"annotation.shapes[0].attributes.{name}", says=says)
    assert work.sample()["revision"] == 1


def test_right_values_and_none_at_all(work):
    results = work.send(put(1, car(colour="red", plate="A 1", doors=2.5, parked=False)), put(2, car("bb", colour="", plate="", doors=None)),
                        put(3, car("cc", label="coach", doors=2)), put(4, car("dd", label="bus/coach", doors=2)),
                        put(5, car("ee", label="somebody's own", anything=[1])))
    assert states(results) == ["applied"] * 5
    assert states(work.send(put(6, car("cc", label="coach", colour="blue")), put(7, car("dd", label="bus", doors=7)))) == ["refused"] * 2


def test_attributes_of_the_sample(admin, project):
    work = Labelled(admin, project, LABELS, annotation_type="image-classes")

    def say(n: int, name: str, value) -> dict:
        return work.send({"id": f"{CLIENT}.{n}", "op": "attribute", "name": name, "value": value})[0]
    assert say(1, "colour", "red")["state"] == "applied"
    assert say(2, "colour", "green")["problem"]["field"] == "value"
    assert "no label of the set" in say(3, "weather", "rain")["problem"]["message"]
    assert say(4, "weather", None)["state"] == "applied"
    whole, = work.send({"id": f"{CLIENT}.5", "op": "replace", "annotation": {"labels": ["car"], "attributes": {"parked": 1}}})
    assert whole["problem"]["field"] == "annotation.attributes.parked"
    assert work.sample()["annotation"] == {"attributes": {"colour": "red"}}


def imported(work, attributes: dict) -> dict:
    lines = [{"ingot": 1, "type": "detection"}, {"file": "000.png", "annotation": {"shapes": [car("in", **attributes)]}}]
    return bring(work.api, work.project, work.path, "i.zip", zipped({"ingot.jsonl": "\n".join(map(json.dumps, lines)).encode()}))


def test_imports_keep_what_they_find_and_people_keep_that(work):
    told = report(work.api, imported(work, {"wheels": 4, "colour": "green"}))
    assert "car.colour" in json.dumps(told)
    shape = work.sample()["annotation"]["shapes"][0]
    assert shape["attributes"] == {"wheels": 4, "colour": "green"}
    # A move brings the same values again, and so does taking it back after it was removed; other values are checked.
    moved = {**shape, "x": 9}
    assert states(work.send(put(1, moved), {"id": f"{CLIENT}.2", "op": "remove", "shape": shape["id"]}, put(3, moved))) == ["applied"] * 3
    assert states(work.send(put(4, {**shape, "attributes": {"wheels": 5}}))) == ["refused"]
    again = work.at(1)["annotation"]
    answer = work.api.call("PUT", f"{work.path}/samples/{work.first}/annotation", json={"annotation": again},
                           headers={"If-Match": f'"{work.sample()["revision"]}"'})
    assert answer.status_code == 200, answer.text
    other, = work.send({"sample": work.ids[1], **put(1, moved, client=OTHER)})
    assert other["state"] == "refused"


def test_without_a_label_set_nothing_is_asked(admin, project):
    from test_operations import Work
    work = Work(admin, project)
    assert states(work.send(put(1, car(wheels=4)))) == ["applied"]
