"""Pictures in the instructions of a labelling task: taken from uploads, decoded, seen by whoever reads the task."""

import re

import pytest
from harness import problem
from test_datasets import png, upload
from test_label_tasks import Shop, make_person, shop  # noqa: F401 (fixtures)


def names(task: dict) -> list[str]:
    return re.findall(r"\]\(picture:([0-9a-f]{16})\)", task["instructions"])


def told(shop: Shop, *seeds: int) -> str:  # noqa: F811
    return "# Boxes\n" + "\n".join(f"![p{n}](upload:{upload(shop.owner, shop.project, png(2000, 40, n))}) tight" for n in seeds)


def change(shop: Shop, task: str, text: str | None, status: int = 200):  # noqa: F811
    answer = shop.owner.call("PATCH", task, json={"instructions": text}, headers={"If-Match": f'"{shop.owner.get(task)["revision"]}"'})
    assert answer.status_code == status, answer.text
    return answer.json() if status == 200 else answer


def test_a_picture_goes_with_the_text(shop, make_person):  # noqa: F811
    task = shop.task(instructions=told(shop, 1, 2), review_team=None)
    made = shop.owner.get(task)
    first, second = names(made)
    assert made["instructions"].endswith(f"![p2](picture:{second}) tight") and "pictures" not in made
    # Whoever is told sees them: an annotator of the team; nobody of another team, and nobody from elsewhere.
    for who in (shop.owner, shop.annotators[0]):
        answer = who.call("GET", f"{task}/pictures/{first}")
        assert answer.status_code == 200 and answer.headers["content-type"] == "image/jpeg" and answer.content.startswith(b"\xff\xd8")
        assert "sandbox" in answer.headers["content-security-policy"]
    assert shop.annotators[0].get(f"{task}/bench")["instructions"] == made["instructions"]
    for who in (make_person(shop.project, "annotator"), make_person(shop.admin.post("projects", {"name": f"{shop.project['name']}-2"}), "owner")):
        problem(who.call("GET", f"{task}/pictures/{first}"), 404, "not_found")
    problem(shop.annotators[0].call("PATCH", task, json={"instructions": "x"}, headers={"If-Match": f'"{made["revision"]}"'}), 403, "forbidden")
    # It may move in the text; one that the text names no more is gone, also from the API.
    moved = change(shop, task, f"![again](picture:{second})")
    assert names(moved) == [second]
    problem(shop.owner.call("GET", f"{task}/pictures/{first}"), 404, "not_found")
    assert shop.owner.call("GET", f"{task}/pictures/{second}").status_code == 200
    assert names(change(shop, task, moved["instructions"] + told(shop, 3)))[0] == second
    change(shop, task, None)
    problem(shop.owner.call("GET", f"{task}/pictures/{second}"), 404, "not_found")
    shop.owner.post(f"{task}/cancel", expect=200)


@pytest.mark.parametrize("data", [b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', b"<html></html>", b"no picture"])
def test_only_what_decodes_is_a_picture(shop, data):  # noqa: F811
    task = shop.task(begin=False)
    text = f"![p](upload:{upload(shop.owner, shop.project, data)})"
    problem(change(shop, task, text, 422), 422, "invalid", "instructions")


def test_pictures_of_others_are_not_named(shop):  # noqa: F811
    mine, other = shop.task(begin=False), shop.task(begin=False, instructions=told(shop, 4))
    name = names(shop.owner.get(other))[0]
    sample = shop.owner.get(f"{shop.version}/samples")["items"][0]["digest"]
    for address in (f"picture:{name}", f"picture:{sample}", "picture:", "picture:zz", "upload:nothing"):
        answer = change(shop, mine, f"![p]({address})", 404 if address == "upload:nothing" else 422)
        assert answer.json()["field"] in ("instructions", None)
    assert shop.owner.get(mine)["instructions"] is None
    one = told(shop, 5)
    many = " ".join(f"![p](upload:{upload(shop.owner, shop.project, png(4, 4, n))})" for n in range(51))
    problem(change(shop, mine, many, 422), 422, "invalid", "instructions", says="at most 50")
    assert len(names(change(shop, mine, one * 2))) == 2  # the same one may stand there twice
