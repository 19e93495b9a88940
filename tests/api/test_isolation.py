"""What belongs to a project is seen in it only, and refusals name the permission that is missing."""

import hashlib
import json
import re

import httpx
import pytest
from harness import ADMIN_PASSWORD, DEADLINE, Api, problem, unique, wait_for
from oci import Registry, small
from test_datasets import finished, png, upload, zipped


def test_other_projects_do_not_exist(admin, project, make_set, make_user):
    stranger = make_user(admin.post("projects", {"name": unique("other")}), "owner")
    made = make_set()
    path = f"label-sets/{made['id']}"
    assert all(one["public"] for one in stranger.all("label-sets", limit=200))
    for call in (("GET", path), ("DELETE", path), ("GET", f"projects/{project['id']}"),
                 ("GET", f"projects/{project['id']}/members"), ("DELETE", f"projects/{project['id']}")):
        problem(stranger.call(*call), 404, "not_found")
    for patch in (path, f"projects/{project['id']}"):
        problem(stranger.call("PATCH", patch, json={"name": "x"}, headers={"If-Match": '"1"'}), 404, "not_found")
        problem(stranger.call("PATCH", patch, json={"name": "x"}), 404, "not_found")
    problem(stranger.call("GET", "label-sets", params={"project": project["id"]}), 404, "not_found")
    problem(stranger.call("POST", "label-sets", json={"project": project["id"], "name": "x"}), 404, "not_found")
    problem(stranger.call("POST", f"projects/{project['id']}/members", json={"user": 1, "role": 1}), 404, "not_found")
    problem(stranger.call("GET", "events", params={"project": project["id"]}), 404, "not_found")
    # The same words as for what never was.
    there, never = stranger.call("GET", path).json(), stranger.call("GET", f"label-sets/{10**12}").json()
    assert there["detail"].replace(str(made["id"]), "") == never["detail"].replace(str(10**12), "")
    assert admin.get(path) == made


def test_projects_that_never_were(admin):
    """Also for those who may everything everywhere."""
    for project in (0, -1, 10**12):
        problem(admin.call("POST", "uploads", params={"project": project}, headers=BEGIN), 404, "not_found")
    problem(admin.call("GET", "events", params={"project": 10**12}), 404, "not_found")


def test_public_objects_are_read_by_all_and_changed_by_members(admin, project, make_set, make_user):
    stranger = make_user()
    made = make_set(public=True)
    path = f"label-sets/{made['id']}"
    assert stranger.get(path) == made
    assert made["id"] in [one["id"] for one in stranger.all("label-sets", limit=200)]
    problem(stranger.call("DELETE", path), 403, "forbidden")
    problem(stranger.call("PATCH", path, json={"public": False}, headers={"If-Match": '"1"'}), 403, "forbidden")
    admin.patch(path, {"public": False}, 1)
    problem(stranger.call("GET", path), 404, "not_found")


def test_refusals_name_the_permission(project, make_set, make_user):
    viewer = make_user(project, "viewer")
    made = make_set()
    path = f"label-sets/{made['id']}"
    assert viewer.get(path) == made
    for verb, answer in (
            ("update", viewer.call("PATCH", path, json={"name": "x"}, headers={"If-Match": '"1"'})),
            ("delete", viewer.call("DELETE", path)),
            ("create", viewer.call("POST", "label-sets", json={"project": project["id"], "name": "x"}))):
        body = problem(answer, 403, "forbidden", says=f"label_set.{verb}")
        assert body["permission"] == f"label_set.{verb}" and body["field"] is None
    body = problem(viewer.call("POST", "specs", json={"name": "x"}), 403, "forbidden")
    assert body["permission"] == "spec.create"
    assert problem(viewer.call("GET", "audit"), 403, "forbidden")["permission"] == "audit.read"


def test_only_ones_own_algorithms_are_deleted(admin, project, make_user):
    """Members delete what they made; owners and administrators what anybody made. Other kinds are the members' in common."""
    names = [make_user(project, role) for role in ("member", "member", "owner", "viewer", "annotator", "reviewer")]
    member, other, owner, viewer, annotator, reviewer = names

    def made(by: Api, kind: str = "algorithm-sets") -> str:
        return f"{kind}/{by.post(kind, {'project': project['id'], 'name': unique()})['id']}"

    theirs = made(other)
    body = problem(member.call("DELETE", theirs), 403, "forbidden", says="algorithm_set.delete_any")
    assert body["permission"] == "algorithm_set.delete_any"
    for by in (viewer, annotator, reviewer):
        answer = by.call("DELETE", theirs)
        assert answer.status_code == 403 and answer.json()["permission"].startswith("algorithm_set.")
    problem(make_user(admin.post("projects", {"name": unique("other")}), "owner").call("DELETE", theirs), 404, "not_found")
    member.delete(made(member))
    for by in (owner, admin):
        by.delete(made(other))
    assert other.get(theirs)
    other.delete(theirs)
    member.delete(made(other, "model-sets"))
    # Not with versions in it, whoever asks.
    full = made(owner)
    owner.post(f"{full}/versions", {})
    for by in (owner, admin):
        problem(by.call("DELETE", full), 409, "conflict")
    # A token is its owner, narrowed; a role of one's own says both.
    token = Api(member.url, member.post("tokens", {"name": unique(), "scopes": ["algorithm_set.*"]})["secret"])
    problem(token.call("DELETE", full), 403, "forbidden", says="algorithm_set.delete_any")
    token.delete(made(member))
    role = admin.post("roles", {"name": unique("keeper"), "permissions": ["project.read", "algorithm_set.read", "algorithm_set.delete_any"]})
    keeper = make_user(project, role["name"])
    keeper.delete(made(other))


def test_project_lists_show_ones_own(admin, project, make_user):
    owner = make_user(project, "owner")
    assert [one["id"] for one in owner.all("projects")] == [project["id"]]
    assert project["id"] in [one["id"] for one in admin.all("projects", limit=200)]
    changed = owner.patch(f"projects/{project['id']}", {"description": "mine"}, project["revision"])
    assert changed["description"] == "mine"


def test_tokens_are_ones_own(admin, make_user):
    user = make_user()
    token = user.post("tokens", {"name": "own"})
    problem(admin.call("GET", f"tokens/{token['id']}"), 404, "not_found")
    problem(admin.call("DELETE", f"tokens/{token['id']}"), 404, "not_found")
    assert "secret" not in user.get(f"tokens/{token['id']}")
    assert token["id"] not in [one["id"] for one in admin.all("tokens", limit=200)]
    user.delete(f"tokens/{token['id']}")


PUBLIC = {"GET health", "GET kinds", "GET openapi.json", "POST sessions", "GET sign-in", "GET sign-in/{provider}",
          "GET sign-in/{provider}/callback"}


# Outside of /api/v1; test_platform asks who may.
ELSEWHERE = {"GET /metrics"}


def test_nobody_learns_anything_on_any_path(server, admin, project):
    """Every path and method of the document, with ids that exist somewhere and a body without fields."""
    with Api(server.url) as nobody:
        for path, verbs in admin.get("openapi.json")["paths"].items():
            for verb in verbs:
                name = f"{verb.upper()} {path.removeprefix('/api/v1/')}"
                if verb not in ("get", "head", "post", "put", "patch", "delete") or name in PUBLIC | ELSEWHERE:
                    continue
                where = re.sub(r"\{[^}]*\}", str(project["id"]), path.removeprefix("/api/v1/"))
                answer = nobody.call(verb.upper(), where, **({"json": {}} if verb in ("post", "put", "patch") else {}))
                assert answer.status_code == 401, f"{name}: {answer.status_code} {answer.text}"


# --- every path of the document, with objects that are there ---

BEGIN = {"Tus-Resumable": "1.0.0", "Upload-Length": "4"}
APPEND = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
# What a path needs before its permission matters.
HEADERS = {"POST uploads": BEGIN, "PATCH uploads/{upload}": APPEND}
# Ways in, and streams that do not end.
LEFT_OUT = PUBLIC | ELSEWHERE | {"OPTIONS uploads", "GET events", "GET jobs/{job_id}/log/follow", "GET jobs/{job_id}/terminal",
                                 "GET datasets/{dataset_id}/versions/{version_id}/samples/{sample_id}/room",
                                 "GET requests/{request}"}  # of an answered request: test_gateway.py


def evaluation(admin, project: dict) -> int:
    """Of an empty layer over a labelled text, ended."""
    inside = {"project": project["id"]}
    data = admin.post("datasets", {**inside, "name": "truth", "data_type": "text", "annotation_type": "text-class"})["id"]
    made = admin.post(f"datasets/{data}/versions", {})["id"]
    line = json.dumps({"file": "a.txt", "content": "a", "annotation": {"labels": ["x"]}}).encode()
    given = [{"upload": upload(admin, project, zipped({"ingot.jsonl": line})), "name": "t.zip"}]
    finished(admin, admin.post(f"datasets/{data}/versions/{made}/import", {"uploads": given}, expect=202))
    layer = admin.post("layers", {**inside, "name": "found", "dataset_version": made})["id"]
    one = admin.post("evaluations", {**inside, "dataset_version": made, "layer": layer})["id"]
    wait_for(lambda: admin.get(f"evaluations/{one}")["state"] == "completed", "the evaluation")
    return one


@pytest.fixture(scope="module")
def full(server, admin):
    """Ids by place ("datasets/versions") of a project with one of everything."""
    project = admin.post("projects", {"name": unique("full")})
    inside = {"project": project["id"]}
    spec = admin.post("specs", {"name": unique("spec"), "cpus": 1, "memory": 1 << 26})
    pool = admin.post("node-pools", {"name": unique("pool")})
    group = admin.post("groups", {"name": unique("group")})
    ids = {"project": project["id"], "projects": project["id"], "specs": spec["id"], "node-pools": pool["id"], "groups": group["id"],
           "users": 1, "roles": 1, "audit": 1, "runtimes": admin.get("runtimes")["items"][0]["id"], "tools": admin.get("tools")["items"][0]["id"], "nodes": wait_for(lambda: admin.get("nodes")["items"], "a node")[0]["id"], "tokens": admin.all("tokens")[0]["id"],
           "groups/members": admin.post(f"groups/{group['id']}/members", {"user": 1})["id"],
           "projects/members": admin.get(f"projects/{project['id']}/members")["items"][0]["id"],
           "label-sets": admin.post("label-sets", {**inside, "name": "set", "labels": [{"name": "cat"}]})["id"], "formats": "coco", "sign-in": "corp",
           "backup/blobs": hashlib.sha256(b"x").hexdigest()}
    data = admin.post("datasets", {**inside, "name": "data", "annotation_type": "detection", "label_set": ids["label-sets"]})["id"]
    version = f"datasets/{data}/versions/{(made := admin.post(f'datasets/{data}/versions', {})['id'])}"
    ids |= {"datasets": data, "datasets/versions": made}
    ids["layers"] = admin.post("layers", {**inside, "name": "layer", "dataset_version": made})["id"]
    ids["uploads"] = upload(admin, project, zipped({f"{i}.png": png(20, 20, i) for i in range(3)}))
    for action, body in (("import", {"uploads": [{"upload": ids["uploads"], "name": "x.zip"}]}), ("write-records", {}), ("export", {"format": "coco"})):
        ids["tasks"] = finished(admin, admin.post(f"{version}/{action}", body, expect=202))["id"]
    ids["datasets/versions/samples"] = admin.get(f"{version}/samples")["items"][0]["id"]
    example = {"label": "cat", "version": made, "sample": ids["datasets/versions/samples"]}
    ids["label-sets/examples"] = ids["label-tasks/examples"] = admin.post(f"label-sets/{ids['label-sets']}/examples", example)["id"]
    ids["datasets/versions/records"] = admin.get(version)["records"][0]["name"]
    ids["layers"] = admin.post("layers", {**inside, "dataset_version": made, "name": "layer"})["id"]
    ids["evaluations"] = evaluation(admin, project)
    ids["teams"] = admin.post("teams", {**inside, "name": "team", "members": [1]})["id"]
    task = admin.post("label-tasks", {**inside, "name": "label", "version": made, "labelling_team": ids["teams"],
                                      "instructions": f"![a](upload:{upload(admin, project, png(9, 9, 1))})"})
    ids["label-tasks"], ids["label-tasks/pictures"] = task["id"], task["instructions"][len("![a](picture:"):-1]
    admin.post(f"label-tasks/{ids['label-tasks']}/open", expect=200)
    ids["label-tasks/threads"] = admin.call("POST", f"label-tasks/{ids['label-tasks']}/threads", params={"sample": ids["datasets/versions/samples"]},
                                            json={"text": "?"}).json()["id"]
    for kind in ("algorithm-sets", "model-sets"):
        ids[kind] = admin.post(kind, {**inside, "name": "files"})["id"]
        ids[f"{kind}/versions"] = admin.post(f"{kind}/{ids[kind]}/versions", {})["id"]
        admin.call("PUT", f"{kind}/{ids[kind]}/versions/{ids[f'{kind}/versions']}/content", params={"path": "a"}, content=b"x")
    runs = {**inside, "spec": spec["id"], "nodes": 64, "command": "true"}  # none of them can start
    ids["jobs"] = admin.post("jobs", {**runs, "name": "job"})["id"]
    ids["trainings"] = admin.post("trainings", {**runs, "name": "training"})["id"]
    ids["trainings/instances"] = admin.post(f"trainings/{ids['trainings']}/start")["id"]
    ids["environments"] = admin.post("environments", {**inside, "spec": spec["id"], "name": "environment"})["id"]
    ids["services"] = admin.post("services", {**inside, "name": "service"})["id"]
    ids["services/versions"] = admin.post(f"services/{ids['services']}/versions", {"spec": spec["id"], "command": "true", "replicas": 0})["id"]
    ids["services/keys"] = admin.post(f"services/{ids['services']}/keys", {"name": "key"})["id"]
    ids["images"] = admin.post("images", {**inside, "name": "image"})["id"]
    Registry(server.url, ("admin", ADMIN_PASSWORD)).push(f"{project['name']}/image", small())
    ids["images/versions"] = admin.get(f"images/{ids['images']}/versions")["items"][0]["id"]
    for kind in admin.get("kinds")["items"]:
        if kind["collection"]:
            ids[kind["collection"]] = admin.get(kind["collection"], project=project["id"])["items"][0]["id"]
    with httpx.Client(base_url=server.url, trust_env=False, timeout=DEADLINE) as http:
        http.post("/api/v1/sessions", json={"name": "admin", "password": ADMIN_PASSWORD})
        ids["requests"] = "0" * 32
        ids["controllers"] = "collect-uploads"
        ids["demos"] = admin.get("demos")["items"][0]["id"]
        ids["sessions"] = http.get("/api/v1/sessions").json()["items"][0]["id"]
    yield ids
    for path in (f"jobs/{ids['jobs']}", f"trainings/{ids['trainings']}/instances/{ids['trainings/instances']}"):
        admin.post(f"{path}/stop", expect=200)


def requests_of(document: dict, ids: dict):
    """(name, method, path, options) of every operation, with the ids in its path."""
    for path, operations in document["paths"].items():
        where, place = [], []
        for word in path.removeprefix("/api/v1/").split("/"):
            if word.startswith("{"):
                where.append(str(ids["/".join(place)]))
            else:
                where.append(word)
                place.append(word)
        for verb, operation in operations.items():
            name = f"{verb.upper()} {path.removeprefix('/api/v1/')}"
            if verb == "parameters" or name in LEFT_OUT:
                continue
            options = {"headers": {"If-Match": '"1"', **HEADERS.get(name, {})}, "params": {}}
            if "{" not in path and any(p["name"] == "project" for p in operation.get("parameters", ())):
                options["params"]["project"] = ids["project"]
            if path.endswith("/content") and "sample" not in path:
                options["params"]["path"] = "a"
            if verb in ("post", "put", "patch"):
                options |= {"content": b"data"} if name in HEADERS else {"json": {"project": ids["project"]} if "{" not in path else {}}
            yield name, verb.upper(), "/".join(where), options


# What anybody who is signed in may do, or may not do for other reasons.
EVERYBODY = {"GET projects": 200, "GET tokens": 200, "GET sessions": 200, "GET specs": 200, "GET specs/{id}": 200, "GET session": 200,
             "GET permissions": 200, "GET home": 200, "GET catalogue": 200, "GET lineage": 422, "GET formats": 200, "GET formats/{format}/example": 200, "POST tokens": 422,
             "GET runtimes": 200, "GET runtimes/{id}": 200, "GET tools": 200, "GET tools/{id}": 200,
             "DELETE session": 409, "PATCH profile": 422, "POST profile/password": 422, "GET profile/preferences": 200, "PUT profile/preferences": 204}


def test_a_stranger_learns_nothing_on_any_path(admin, full, make_user):
    """A member of another project: what is in this one does not exist, what is the platform's is refused by name."""
    stranger = make_user(admin.post("projects", {"name": unique("other")}))
    document = admin.get("openapi.json")
    before = admin.get("audit", count="true", limit=1)["total"]
    wrong, seen = [], 0
    for name, method, path, options in requests_of(document, full):
        answer = stranger.call(method, path, **options)
        if name in EVERYBODY:
            right = answer.status_code == EVERYBODY[name]
        elif answer.status_code == 403:  # of the platform
            right = answer.json()["permission"] is not None and path.split("/")[0] in PLATFORM
        else:
            right = answer.status_code == 404
            # The path is one: whoever may, finds something there.
            if right and method == "GET":
                mine = admin.call(method, path, **options)
                right = mine.status_code != 404 or name in ("GET tokens/{id}",)
                seen += right
        if not right:
            wrong.append(f"{name}: {answer.status_code} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert seen > 40
    assert admin.get("audit", count="true", limit=1)["total"] == before


PLATFORM = {"log", "controllers", "users", "groups", "roles", "projects", "specs", "node-pools", "nodes", "runtimes", "tools", "demos", "audit", "resources", "storage", "backup",
            "restore"}
# What only reads, though it is asked for with POST.
READS = {"POST datasets/{dataset_id}/versions/{id}/export", "POST datasets/{dataset_id}/versions/{id}/changes", "POST datasets/{dataset_id}/versions/{id}/training-data",
         "POST datasets/{dataset_id}/versions/{version_id}/records/{file}/verify",
         "POST trainings/{training_id}/instances/{id}/tensorboard", "POST model-sets/{model_set_id}/versions/{id}/netron",
         "POST model-sets/{set_id}/versions/{version_id}/check", "POST datasets/{dataset_id}/versions/{id}/plan"}
# What reads, and is for whom may work in the environment.
OF_ITS_MAKER = {"GET environments/{id}/access", "GET environments/{id}/folders"}


def test_a_viewer_reads_everything_and_changes_nothing(admin, full, make_user):
    viewer = make_user({"id": full["project"]}, "viewer")
    document = admin.get("openapi.json")
    before = admin.get("audit", count="true", limit=1)["total"]
    wrong = []
    for name, method, path, options in requests_of(document, full):
        if name in EVERYBODY or name in READS or path.split("/")[0] in PLATFORM - {"projects"}:
            continue
        answer = viewer.call(method, path, **options)
        if path.split("/")[0] in ("tokens", "sessions") or "{upload}" in name:  # somebody else's
            right = answer.status_code == 404
        elif method in ("GET", "HEAD") and name not in OF_ITS_MAKER:
            right = answer.status_code in (200, 409, 422)
        else:
            right = answer.status_code == 403 and answer.json()["permission"] is not None
        if not right:
            wrong.append(f"{name}: {answer.status_code} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)
    assert admin.get("audit", count="true", limit=1)["total"] == before
