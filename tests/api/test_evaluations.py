"""Evaluations: a model or a layer against labelled data; the report, its samples and thresholds, comparisons, and a server
that is killed meanwhile."""

import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import ingot
import pytest
from cli import Cli
from harness import Api, binary, problem, unique, wait_for
from test_datasets import bring, zipped
from test_files import put

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/infer"))
import predict_models  # noqa: E402

LABELS = [f"class {i}" for i in range(5)]
COUNT = 24


def picture(seed: int) -> bytes:
    from PIL import Image
    out = io.BytesIO()
    image = Image.linear_gradient("L").rotate(seed * 37 % 360).resize((40 + seed, 30))
    Image.merge("RGB", (image, image.rotate(seed * 50), image.transpose(Image.Transpose.FLIP_LEFT_RIGHT))).save(out, "PNG")
    return out.getvalue()


PICTURES = {f"{'a' if i % 3 else 'b'}/{i:03}.png": picture(i) for i in range(COUNT)}


@pytest.fixture(scope="module")
def model_files(tmp_path_factory) -> dict[str, dict[str, bytes]]:
    def files(name: str, make, **more) -> dict[str, bytes]:
        folder = tmp_path_factory.mktemp(name)
        make(folder, **more)
        return {f.name: f.read_bytes() for f in folder.iterdir() if f.is_file()}
    return {"class": files("one", predict_models.image_class), "other": files("another-one", predict_models.image_class),
            "classes": files("many", predict_models.image_class, task="image-classes", reading="sigmoid"),
            "boxes": files("boxes", predict_models.boxes_scores)}


def make_model(api: Api, project: dict, files: dict[str, bytes]) -> dict:
    models = api.post("model-sets", {"project": project["id"], "name": unique("m")})
    versions = f"model-sets/{models['id']}/versions"
    made = api.post(versions, {})
    for name, content in files.items():
        put(api, f"{versions}/{made['id']}", name, content)
    return api.get(f"{versions}/{made['id']}") | {"path": f"{versions}/{made['id']}", "set": models}


def make_data(api: Api, project: dict, annotations: dict[str, dict], kind: str = "image-class", splits: dict | None = None) -> dict:
    """A version of the pictures; those without an annotation are not labelled."""
    dataset = api.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": kind})
    made = api.post(f"datasets/{dataset['id']}/versions", {})
    path = f"datasets/{dataset['id']}/versions/{made['id']}"
    lines = [{"file": name, "annotation": annotations.get(name, {}), "split": (splits or {}).get(name)} for name in PICTURES]
    bring(api, project, path, "a.zip", zipped({**PICTURES, "ingot.jsonl": "".join(json.dumps(x) + "\n" for x in lines).encode()}))
    return api.get(path) | {"path": path, "set": dataset}


def begin(api: Api, project: dict, data: dict, **fields) -> dict:
    return api.post("evaluations", {"project": project["id"], "dataset_version": data["id"], **fields})


def over(api: Api, evaluation: dict, state: str = "completed") -> dict:
    now = wait_for(lambda: (e := api.get(f"evaluations/{evaluation['id']}"))["state"] in ("completed", "failed", "stopped") and e,
                   "the evaluation's end")
    assert now["state"] == state, now
    return now


def all_samples(api: Api, evaluation: dict, **params) -> list[dict]:
    items, after = [], 0
    while after is not None:
        page = api.get(f"evaluations/{evaluation['id']}/samples", after=after, limit=7, **params)
        items += page["items"]
        after = page["next"]
    assert len(items) == page["total"]
    return items


def labelled(shift: int = 0, every: int = 1) -> dict[str, dict]:
    return {name: {"labels": [LABELS[(i + shift) % 5]]} for i, name in enumerate(PICTURES) if i % every == 0}


def test_a_classifier(admin, project, model_files, tmp_path):
    model = make_model(admin, project, model_files["class"])
    data = make_data(admin, project, labelled(), splits={name: "test" if i % 2 else "train" for i, name in enumerate(PICTURES)})
    made = begin(admin, project, data, model_version=model["id"], name="first")
    assert made["state"] in ("pending", "running") and made["model_version"]["id"] == model["id"], made
    done = over(admin, made)
    assert done["samples"] == COUNT and done["total"] == COUNT and done["done"] == COUNT and done["reason"] is None, done
    took = done["latency"]
    assert 0 < took["p50"] <= took["p95"] and took["samples"] == COUNT and took["at_a_time"] >= 1 and took["node"] and took["cpus"] > 0, took
    path = f"evaluations/{made['id']}"
    items = all_samples(admin, made)
    assert len(items) == COUNT and len({x["sample"] for x in items}) == COUNT
    assert {x["file"] for x in items} == set(PICTURES)
    # What the platform says follows from what was true and found.
    pairs = [(x["truth"]["labels"][0], (x["found"].get("labels") or [None])[0]) for x in items]
    right = sum(t == f for t, f in pairs)
    figures = done["figures"]
    assert figures["accuracy"]["value"] == pytest.approx(right / COUNT)
    assert figures["accuracy"]["low"] <= figures["accuracy"]["value"] <= figures["accuracy"]["high"]
    report = admin.get(f"{path}/report")
    assert report["type"] == "image-class" and report["samples"] == COUNT and report["failed"] == 0
    assert {f["name"]: f["value"] for f in report["figures"]}["accuracy"] == figures["accuracy"]["value"]
    cells = Counter(pairs)
    assert {(c["truth"], c["found"]): c["count"] for c in report["cells"]} == dict(cells)
    assert report["total"]["hits"] == right and report["total"]["missed"] == COUNT - right
    assert {s["value"]: s["samples"] for s in report["slices"] if s["by"] == "split"} == {"test": 12, "train": 12}
    assert {s["value"]: s["samples"] for s in report["slices"] if s["by"] == "folder"} == {"a": 16, "b": 8}
    assert sum(b["count"] for b in report["calibration"]) == COUNT
    for curve in report["curves"]:
        assert all(0 <= v <= 1 for p in curve["precision"] for v in p) and len(curve["precision"]) <= 200
    assert report["words"] and all(w["en"] and w["zh"] for w in report["words"])
    assert report["unmatched"] == {"truth": [], "model": []}
    # Worst first: right and certain ones last.
    assert [x["badness"] for x in items] == sorted((x["badness"] for x in items), reverse=True)
    assert [x["badness"] for x in all_samples(admin, made, sort="best")] == sorted(x["badness"] for x in items)
    for (truth, found), n in cells.items():
        inside = all_samples(admin, made, cell=f"{truth},{found}")
        assert len(inside) == n and all(x["truth"]["labels"] == [truth] for x in inside)
    assert len(all_samples(admin, made, kind="right")) == right and len(all_samples(admin, made, kind="wrong")) == COUNT - right
    assert all("class 2" in (x["truth"]["labels"] + x["found"]["labels"]) for x in all_samples(admin, made, label="class 2"))
    problem(admin.call("GET", f"{path}/samples", params={"cell": "x,y"}), 422, "invalid", "cell")
    problem(admin.call("GET", f"{path}/samples", params={"label": "x"}), 422, "invalid", "label")
    problem(admin.call("GET", f"{path}/samples", params={"sort": "x"}), 422, "invalid", "sort")
    # At another threshold only what is sure counts.
    scores = sorted(x["matches"][0]["score"] for x in items)
    at = admin.get(f"{path}/at", score=scores[COUNT // 2])
    sure = [x for x in items if x["matches"][0]["score"] >= scores[COUNT // 2]]
    assert at["total"]["hits"] == sum(x["matches"][0]["outcome"] == "hit" for x in sure)
    assert at["total"]["mistakes"] == len(sure) - at["total"]["hits"]
    assert at["total"]["truths"] == COUNT
    problem(admin.call("GET", f"{path}/at", params={"score": 2}), 422, "invalid", "score")
    # Offline says the same of the same files.
    for name, key in (("truth", "truth"), ("found", "found")):
        lines = [{"ingot": 1, "type": "image-class", "labels": []}] + [{"file": x["file"], "annotation": x[key]} for x in items]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    offline = json.loads(subprocess.run([binary(), "evaluate", tmp_path / "truth.jsonl", tmp_path / "found.jsonl", "-o", "json"],
                                        capture_output=True, check=True).stdout)
    assert {f["name"]: f["value"] for f in offline["figures"]} == pytest.approx({f["name"]: f["value"] for f in report["figures"]})
    # The job has gone by, and its files with it.
    job = admin.get(f"jobs/{done['job']['id']}")
    assert job["state"] == "completed" and job["owner_kind"] == "evaluation"


def test_reports_as_files(admin, project, model_files):
    model = make_model(admin, project, model_files["class"])
    odd = "<b>&\"'"
    data = make_data(admin, project, {name: {"labels": [odd if i == 3 else "=1+1" if i == 4 else LABELS[i % 5]]}
                                      for i, name in enumerate(PICTURES)})
    made = begin(admin, project, data, model_version=model["id"], name="files")
    done = over(admin, made)
    path = f"evaluations/{made['id']}/report"
    csv = admin.call("GET", path, params={"format": "csv"})
    assert csv.status_code == 200 and csv.headers["content-type"].startswith("text/csv")
    assert csv.text.splitlines()[0] == "figure,name,value,low,high,title" and "\"'=1+1\"" in csv.text
    assert csv.text.splitlines()[1].endswith(',"Accuracy"') and "准确率" in admin.call("GET", path, params={"format": "csv", "lang": "zh"}).text
    took, rows = done["latency"], csv.text.splitlines()
    at = rows.index("latency,p50,p95,samples,at_a_time,processor,node,cpus")
    assert rows[at + 1].split(",")[1:4] == [f"{took['p50']:.6g}", f"{took['p95']:.6g}", str(COUNT)]
    for lang, word, title, time in (("en", "Metrics", "Accuracy", "Time per sample"), ("zh", "指标", "准确率", "单样本耗时")):
        page = admin.call("GET", path, params={"format": "html", "lang": lang})
        assert page.status_code == 200 and page.headers["content-type"].startswith("text/html")
        assert "attachment" in page.headers["content-disposition"] and "sandbox" in page.headers["content-security-policy"]
        assert odd not in page.text and "&lt;b&gt;&amp;&quot;&#39;" in page.text and f"<h2>{word}</h2>" in page.text
        assert f"<td>{title}</td>" in page.text and f"<p>{time}" in page.text and took["node"] in page.text
        assert "<script" not in page.text and "<svg" in page.text and "http://" not in page.text and "https://" not in page.text
    problem(admin.call("GET", path, params={"format": "pdf"}), 422, "invalid", "format")
    report = admin.get(path)
    assert set(report["unmatched"]["truth"]) == {odd, "=1+1"}
    assert any(odd in w["en"] for w in report["words"])


def test_shapes_low_scores_and_thresholds(admin, project, model_files):
    model = make_model(admin, project, model_files["boxes"])
    some = {name: {"shapes": [{"type": "box", "label": LABELS[0], "x": 1, "y": 1, "w": 20, "h": 20}]} for name in PICTURES}
    data = make_data(admin, project, some, kind="detection")
    first = begin(admin, project, data, model_version=model["id"])
    over(admin, first)
    found = {x["file"]: x["found"] for x in all_samples(admin, first)}
    shapes = sum(len(f.get("shapes", [])) for f in found.values())
    assert shapes > COUNT
    # The truth is what it found: everything is hit, but for a shape on every third picture.
    def without_scores(shape: dict) -> dict:
        return {k: v for k, v in shape.items() if k not in ("score", "id")}
    truth = {}
    for i, (name, f) in enumerate(found.items()):
        kept = sorted(f.get("shapes", []), key=lambda s: -s["score"])[: 3 if i % 3 else 2]
        truth[name] = {"shapes": [without_scores(s) for s in kept]}
    labels = {s["label"] for t in truth.values() for s in t["shapes"]}
    data = make_data(admin, project, truth, kind="detection")
    made = begin(admin, project, data, model_version=model["id"])
    done = over(admin, made)
    assert done["figures"]["mAP50"]["value"] > 0.5, done
    report = admin.get(f"evaluations/{made['id']}/report")
    truths = sum(len(t["shapes"]) for t in truth.values())
    assert report["total"]["truths"] == truths
    at = admin.get(f"evaluations/{made['id']}/at", score=0)
    assert at["total"]["hits"] == truths and at["total"]["missed"] == 0
    assert sum(c["count"] for c in at["cells"] if c["found"]) == at["total"]["hits"] + at["total"]["mistakes"]
    assert {row["label"] for row in at["labels"] if row["truths"]} == labels
    high = admin.get(f"evaluations/{made['id']}/at", score=1)
    assert high["total"]["missed"] == truths and high["total"]["mistakes"] == 0
    assert sum(s["truths"] for s in report["sizes"]) == truths
    # Where one kept nothing but the best ones, the others are mistakes there.
    wrong = all_samples(admin, made, kind="mistake", threshold=0)
    assert wrong and all(x["mistakes"] and any(m["outcome"] == "mistake" for m in x["matches"]) for x in wrong)
    assert all_samples(admin, made, kind="missed", threshold=0) == []
    assert len(all_samples(admin, made, kind="missed", threshold=1)) == sum(bool(t["shapes"]) for t in truth.values())


def test_several_labels_count_from_the_models_threshold(admin, project, model_files):
    model = make_model(admin, project, model_files["classes"])
    data = make_data(admin, project, {name: {"labels": sorted({LABELS[i % 5], LABELS[(i * 2) % 5]})} for i, name in enumerate(PICTURES)},
                     kind="image-classes")
    made = begin(admin, project, data, model_version=model["id"])
    over(admin, made)
    report = admin.get(f"evaluations/{made['id']}/report")
    items = all_samples(admin, made)
    given = [s for x in items for s in x["found"]["scores"].values()]
    assert report["score"] > 0.01 and min(given) < report["score"]
    counted = sum(s >= report["score"] for s in given)
    assert report["total"]["hits"] + report["total"]["mistakes"] == counted
    own = begin(admin, project, data, model_version=model["id"], score=0.9)
    over(admin, own)
    assert admin.get(f"evaluations/{own['id']}/report")["score"] == 0.9


def test_parts(admin, project, model_files):
    names = list(PICTURES)
    split = {"train": names[:14], "test": names[14:] + ["gone.png"], "seed": 1}
    model = make_model(admin, project, model_files["class"] | {"split.json": json.dumps(split).encode()})
    plain = make_model(admin, project, model_files["class"])
    data = make_data(admin, project, labelled(), splits={name: ("val" if i < 5 else "test") for i, name in enumerate(names)})
    made = begin(admin, project, data, model_version=model["id"], part="test")
    over(admin, made)
    assert {x["file"] for x in all_samples(admin, made)} == set(names[14:])
    some = begin(admin, project, data, model_version=model["id"], part="splits", splits=["val"])
    assert over(admin, some)["samples"] == 5
    refused = {"part": {"model_version": plain["id"], "part": "test"}, "splits": {"model_version": model["id"], "part": "splits"},
               "dataset_version": {"model_version": make_model(admin, project, model_files["boxes"])["id"]},
               "model_version": {}}
    for field, body in refused.items():
        answer = admin.call("POST", "evaluations", json={"project": project["id"], "dataset_version": data["id"], **body})
        assert answer.status_code in (409, 422) and answer.json().get("field") == field, answer.text
    empty = make_data(admin, project, {})
    problem(admin.call("POST", "evaluations", json={"project": project["id"], "dataset_version": empty["id"], "model_version": model["id"]}),
            422, "invalid", "dataset_version")
    no_manifest = make_model(admin, project, {"model.onnx": model_files["class"]["model.onnx"]})
    problem(admin.call("POST", "evaluations", json={"project": project["id"], "dataset_version": data["id"],
                                                    "model_version": no_manifest["id"]}), 422, "invalid", "model_version", "ingot-model.json")
    two = {"model_version": model["id"], "layer": 1}
    assert admin.call("POST", "evaluations", json={"project": project["id"], "dataset_version": data["id"], **two}).status_code in (404, 422)


def test_a_layer_needs_no_job(admin, project):
    data = make_data(admin, project, labelled())
    layer = admin.post("layers", {"project": project["id"], "name": unique("layer"), "dataset_version": data["id"]})
    items = admin.get(f"{data['path']}/samples", limit=200)["items"]
    for i, sample in enumerate(items):
        if i % 4 == 0:
            continue
        own = admin.get(f"{data['path']}/samples/{sample['id']}")["annotation"]["labels"][0]
        label = own if i % 2 else "class 0"
        answer = admin.call("POST", f"{data['path']}/operations", json={"operations": [
            {"id": f"client00.{i + 1}", "sample": sample["id"], "layer": layer["id"], "op": "label", "label": label, "on": True}]})
        assert answer.status_code == 200 and answer.json()["results"][0]["state"] == "applied", answer.text
    made = begin(admin, project, data, layer=layer["id"])
    done = over(admin, made)
    assert done["job"] is None and done["samples"] == COUNT
    report = admin.get(f"evaluations/{made['id']}/report")
    assert report["total"]["hits"] >= COUNT // 2


def test_comparing(admin, project, model_files):
    one, other = (make_model(admin, project, model_files[name]) for name in ("class", "other"))
    data = make_data(admin, project, labelled())
    first = begin(admin, project, data, model_version=one["id"], name="one")
    over(admin, first)
    found = {x["file"]: x["found"]["labels"][0] for x in all_samples(admin, first)}
    # A truth that the first one knows nearly all of.
    data = make_data(admin, project, {name: {"labels": [LABELS[0] if i < 2 else found[name]]} for i, name in enumerate(PICTURES)})
    a = begin(admin, project, data, model_version=one["id"], name="a")
    b = begin(admin, project, data, model_version=other["id"], name="b")
    again = begin(admin, project, data, model_version=one["id"], name="again")
    for e in (a, b, again):
        over(admin, e)
    same = admin.get(f"evaluations/{a['id']}/compare", **{"with": again["id"]})
    assert same["agree"] == COUNT and same["fixed"]["count"] == same["broken"]["count"] == 0
    assert all(f["verdict"] == "same" and f["difference"] == 0 for f in same["figures"])
    result = admin.get(f"evaluations/{a['id']}/compare", **{"with": b["id"]})
    accuracy = next(f for f in result["figures"] if f["name"] == "accuracy")
    rights = {e["id"]: {x["sample"] for x in all_samples(admin, e, kind="right")} for e in (a, b)}
    assert accuracy["difference"] == pytest.approx((len(rights[a["id"]]) - len(rights[b["id"]])) / COUNT)
    assert accuracy["low"] <= accuracy["difference"] <= accuracy["high"]
    assert {s["sample"] for s in result["fixed"]["samples"]} == rights[a["id"]] - rights[b["id"]]
    assert {s["sample"] for s in result["broken"]["samples"]} == rights[b["id"]] - rights[a["id"]]
    assert accuracy["verdict"] == ("better" if accuracy["low"] > 0 else "same") and result["words"]
    back = admin.get(f"evaluations/{b['id']}/compare", **{"with": a["id"]})
    assert next(f for f in back["figures"] if f["name"] == "accuracy")["difference"] == pytest.approx(-accuracy["difference"])
    problem(admin.call("GET", f"evaluations/{a['id']}/compare", params={"with": first["id"]}), 409, "conflict", "with")
    problem(admin.call("GET", f"evaluations/{a['id']}/compare", params={"with": 10**9}), 404, "not_found")


def test_stopping_starting_again_and_deleting(admin, project, model_files):
    model = make_model(admin, project, model_files["class"])
    data = make_data(admin, project, labelled())
    made = begin(admin, project, data, model_version=model["id"])
    path = f"evaluations/{made['id']}"
    problem(admin.call("DELETE", path, headers={"If-Match": "*"}), 409, "conflict")
    stopped = admin.call("POST", f"{path}/stop")
    if stopped.status_code == 200:
        assert over(admin, made, "stopped")["reason"]
        problem(admin.call("GET", f"{path}/report"), 409, "conflict")
    else:
        over(admin, made)
    problem(admin.call("POST", f"{path}/stop"), 409, "conflict")
    admin.post(f"{path}/start", expect=200)
    problem(admin.call("POST", f"{path}/start"), 409, "conflict")
    done = over(admin, made)
    before = admin.get(f"{path}/report")
    # What it is made of stays while it is there.
    problem(admin.call("DELETE", model["path"], headers={"If-Match": "*"}), 409, "conflict", says="in use")
    problem(admin.call("DELETE", data["path"], headers={"If-Match": "*"}), 409, "conflict", says="in use")
    admin.post(f"{path}/start", expect=200)
    assert over(admin, made)["job"]["id"] != done["job"]["id"]
    assert admin.get(f"{path}/report") == before
    assert admin.call("GET", f"jobs/{done['job']['id']}").status_code == 404
    admin.delete(path, headers={"If-Match": "*"})
    assert admin.call("GET", f"{path}/report").status_code == 404
    admin.delete(model["path"], headers={"If-Match": "*"})
    admin.delete(data["path"], headers={"If-Match": "*"})


def test_files_that_cannot_be_read_are_told(admin, project, model_files):
    model = make_model(admin, project, model_files["class"])
    dataset = admin.post("datasets", {"name": unique("set"), "project": project["id"], "annotation_type": "image-class"})
    path = f"datasets/{dataset['id']}/versions/" + str(admin.post(f"datasets/{dataset['id']}/versions", {})["id"])
    files = {"good.png": picture(1), "bad.png": picture(2)[:200]}
    lines = [{"file": name, "annotation": {"labels": ["class 1"]}} for name in files]
    bring(admin, project, path, "a.zip", zipped({**files, "ingot.jsonl": "".join(json.dumps(x) + "\n" for x in lines).encode()}))
    data = admin.get(path)
    if data["samples"] < 2:
        pytest.skip("imports refuse what is no picture")
    made = begin(admin, project, data, model_version=model["id"])
    over(admin, made)
    report = admin.get(f"evaluations/{made['id']}/report")
    assert report["failed"] == 1 and report["problems"][0]["file"] == "bad.png" and report["samples"] == 2


def test_a_saved_model_is_evaluated_by_itself(admin, project, model_files):
    names = list(PICTURES)
    split = {"train": names[:10], "test": names[10:], "seed": 1}
    base = make_model(admin, project, model_files["class"] | {"split.json": json.dumps(split).encode()})
    plain = make_model(admin, project, model_files["class"])
    data = make_data(admin, project, labelled())
    spec = admin.post("specs", {"name": unique("spec"), "cpus": 0.1, "memory": 64 << 20})
    runs = []
    for model in (base, plain):
        saves = admin.post("model-sets", {"project": project["id"], "name": unique("saved")})
        training = admin.post("trainings", {"project": project["id"], "name": unique("t"), "spec": spec["id"], "save_to": saves["id"],
                                            "datasets": [data["id"]], "base_model": model["id"], "command": "cp model/*/* persistent-model/"})
        runs.append((f"trainings/{training['id']}/instances/{admin.post('trainings/%d/start' % training['id'])['id']}", saves))
    versions = [wait_for(lambda: admin.get(path)["model_version"], "the saved model")["id"] for path, _ in runs]
    found = wait_for(lambda: admin.all("evaluations", project=project["id"], filter=f"model_version = {versions[0]}"), "the evaluation")
    assert len(found) == 1 and found[0]["automatic"] and found[0]["part"] == "test"
    assert over(admin, found[0])["samples"] == len(names) - 10
    done = wait_for(lambda: [t for t in admin.all("tasks", project=project["id"], filter='type = "training_end"') if t["state"] == "done"][1:],
                    "both ends")
    assert done and not admin.all("evaluations", project=project["id"], filter=f"model_version = {versions[1]}")


def test_from_the_shell(admin, project, server, model_files, tmp_path):
    model = make_model(admin, project, model_files["class"])
    data = make_data(admin, project, labelled())
    names = f"{model['set']['name']}:{model['name']}", f"{data['set']['name']}:{data['name']}"
    place = {"INGOT_URL": server.url, "INGOT_TOKEN": admin.token}
    ended = Cli(tmp_path).run("evaluate", *names, "-p", project["name"], **place)
    assert "accuracy" in ended.out and "low" in ended.out and "It is right on" in ended.out
    report = Cli(tmp_path).json("evaluate", *names, "-p", project["name"], "--name", "shell", "--draws", "0", **place)
    assert "nowhere" in Cli(tmp_path).run("evaluate", "nowhere:v1", names[1], "-p", project["name"], expect=None, **place).err
    assert report["samples"] == COUNT and report["figures"][0]["low"] is None
    assert admin.all("evaluations", project=project["id"], filter='name = "shell"')


def test_from_python(admin, project, server, model_files):
    model, other = (make_model(admin, project, model_files[name]) for name in ("class", "other"))
    data = make_data(admin, project, labelled())
    client = ingot.Client(server.url, token=admin.token)
    done = client.evaluations.run(f"{model['set']['name']}:v1", data["set"]["name"], project=project["name"])
    assert done["name"] == f"{model['set']['name']} v1 on {data['set']['name']} v1"
    assert done["state"] == "completed" and done["figures"]["accuracy"]["value"] is not None
    report = client.evaluations.report(done)
    figures = client.evaluations.figures(project=project["id"])
    assert figures.column("data") == [f"{data['set']['name']}:v1"] and figures[0][next(iter(done["figures"]))] is not None
    assert len(client.evaluations.labels(done)) == len(report["labels"])
    assert report["samples"] == COUNT == len(list(client.evaluations.samples(done, sort="best")))
    assert client.evaluations.at(done, 0.5)["total"]["truths"] == COUNT
    second = client.evaluations.run(other["id"], data["id"], project=project["id"])
    assert client.evaluations.compare(done, second)["samples"] == COUNT
    with pytest.raises(ingot.NotFound):
        client.evaluations.run("nowhere:v1", data["id"], project=project["id"])
    with pytest.raises(ingot.Conflict):
        client.evaluations.stop(done)
    whole = ingot.evaluate(f"{model['set']['name']}:v1", f"{data['set']['name']}:v1", project=project["name"], client=client)
    assert whole["figures"] == report["figures"]


def test_roles(admin, project, make_user, model_files):
    model = make_model(admin, project, model_files["class"])
    data = make_data(admin, project, labelled())
    member, viewer, stranger = make_user(project), make_user(project, "viewer"), make_user()
    made = begin(member, project, data, model_version=model["id"])
    over(member, made)
    path = f"evaluations/{made['id']}"
    assert viewer.get(path)["id"] == made["id"] and viewer.get(f"{path}/report")["samples"] == COUNT
    assert viewer.get(f"{path}/samples", limit=1)["items"] and viewer.get(f"{path}/at", score=0.5)
    for method, where in (("POST", f"{path}/start"), ("POST", f"{path}/stop")):
        problem(viewer.call(method, where), 403, "forbidden")
    problem(viewer.call("POST", "evaluations", json={"project": project["id"], "dataset_version": data["id"], "model_version": model["id"]}),
            403, "forbidden")
    problem(viewer.call("DELETE", path, headers={"If-Match": "*"}), 403, "forbidden")
    for where in ("", "/report", "/samples", "/at", "/compare?with=1"):
        assert stranger.call("GET", path + where).status_code == 404
    assert stranger.call("GET", "evaluations", params={"project": project["id"]}).status_code == 404
    listed = viewer.all("evaluations", project=project["id"], filter=f"model_version = {model['id']}", sort="-id")
    assert [e["id"] for e in listed] == [made["id"]] and listed[0]["figures"]["accuracy"]


def test_a_killed_server_goes_on(fresh_server, make_db, model_files, tmp_path):
    server = fresh_server()
    admin = server.admin()
    project = admin.post("projects", {"name": "p"})
    model = make_model(admin, project, model_files["class"])
    data = make_data(admin, project, labelled())
    made = [begin(admin, project, data, model_version=model["id"], name=f"e{i}") for i in range(3)]
    for _ in range(3):
        server.kill()
        server.start()
    admin = server.admin()
    reports = []
    for e in made:
        over(admin, e)
        reports.append(admin.get(f"evaluations/{e['id']}/report"))
    assert reports[0]["figures"] == reports[1]["figures"] == reports[2]["figures"]
    # A backup has the reports and what is behind them.
    file, folder, db = tmp_path / "backup.tar.zst", str(tmp_path / "restored"), make_db()
    file.write_bytes(admin.call("GET", "backup").content)
    subprocess.run([binary(), "restore", file, "--data", folder, *(("--db", db) if db else ())], check=True)
    other = fresh_server(data=folder, db=db).admin()
    assert other.get(f"evaluations/{made[0]['id']}/report") == reports[0]
    assert len(all_samples(other, made[0])) == COUNT
    admin.delete(f"evaluations/{made[0]['id']}", headers={"If-Match": "*"})
