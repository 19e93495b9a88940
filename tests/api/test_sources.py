"""Imports from videos and from folders of the server (D5, D6)."""

import io
import json
import subprocess

import pytest
from harness import unique, wait_for
from PIL import Image
from test_datasets import bring, dataset, finished, png, report, samples, upload, version, zipped  # noqa: F401


def video(path, frames: int = 20, rate: int = 10) -> bytes:
    """Pictures as a video, by the ffmpeg program."""
    for i in range(frames):
        (path / f"{i:03}.png").write_bytes(png(64, 48, i * 10))
    target = path / "clip.avi"
    subprocess.run(["ffmpeg", "-v", "error", "-framerate", str(rate), "-i", str(path / "%03d.png"), "-c:v", "mjpeg",
                    str(target)], check=True)
    return target.read_bytes()


def test_every_nth_frame_of_a_video(admin, project, version, tmp_path):
    data = video(tmp_path)
    bring(admin, project, version, "clip.avi", data, every=5)
    assert [s["name"] for s in samples(admin, version)] == [f"clip/{i:06}.jpg" for i in (0, 5, 10, 15)]
    assert {(s["width"], s["height"]) for s in samples(admin, version)} == {(64, 48)}


def test_frames_per_second(admin, project, version, tmp_path):
    bring(admin, project, version, "clips.zip", zipped({"a/clip.avi": video(tmp_path), "b.png": png(5, 5)}), per_second=2)
    names = [s["name"] for s in samples(admin, version)]
    assert [n for n in names if n.startswith("a/clip/")] == [f"a/clip/{i:06}.jpg" for i in (0, 5, 10, 15)]
    assert "b.png" in names


def test_a_broken_video_is_reported(admin, project, version):
    task = bring(admin, project, version, "x.zip", zipped({"clip.mp4": b"no video at all", "a.png": png(4, 4)}))
    assert [line["file"] for line in report(admin, task)] == ["clip.mp4"]
    assert [s["name"] for s in samples(admin, version)] == ["a.png"]


@pytest.mark.parametrize("turn,size", [(90, (48, 64)), (180, (64, 48)), (270, (48, 64))])
def test_videos_of_telephones_are_upright(admin, project, version, tmp_path, turn, size):
    """They say how to turn what they stored: frames are as a player shows them, which is how ffmpeg takes them out."""
    picture = Image.new("RGB", (64, 48), "white")
    picture.paste("red", (0, 0, 32, 16))
    for i in range(5):
        picture.save(tmp_path / f"{i}.png")
    subprocess.run(["ffmpeg", "-v", "error", "-framerate", "5", "-i", "%d.png", "-c:v", "mpeg4", "-q:v", "2", "flat.mp4"], cwd=tmp_path, check=True)
    subprocess.run(["ffmpeg", "-v", "error", "-i", "flat.mp4", "-c", "copy", "-metadata:s:v:0", f"rotate={turn}", "turned.mp4"], cwd=tmp_path, check=True)
    subprocess.run(["ffmpeg", "-v", "error", "-i", "turned.mp4", "-frames:v", "1", "shown.png"], cwd=tmp_path, check=True)
    assert not bring(admin, project, version, "a.mp4", (tmp_path / "turned.mp4").read_bytes(), every=5)["problems"]
    [s] = samples(admin, version)
    assert (s["width"], s["height"]) == size
    ours = Image.open(io.BytesIO(admin.call("GET", f"{version}/samples/{s['id']}/content").content)).convert("RGB")
    shown = Image.open(tmp_path / "shown.png").convert("RGB")
    assert ours.size == shown.size
    for at in ((4, 4), (size[0] - 5, 4), (4, size[1] - 5), (size[0] - 5, size[1] - 5)):
        assert all(abs(a - b) < 40 for a, b in zip(ours.getpixel(at), shown.getpixel(at)))


def test_a_video_that_is_cut_off_is_reported(admin, project, version, tmp_path):
    data = video(tmp_path, 60)
    task = bring(admin, project, version, "clip.avi", data[:len(data) * 2 // 3], every=1)
    assert 20 < admin.get(version)["samples"] < 60
    [line] = report(admin, task)
    assert line["file"] == "clip.avi" and "ends early" in line["reason"]


def test_a_folder_tells_how_far_it_is(fresh_server, tmp_path):
    """How much there is is known before the first file is taken; the last is too large to be taken before anybody looks."""
    root = tmp_path / "nas"
    (root / "a").mkdir(parents=True)
    for i in range(4):
        (root / "a" / f"{i}.png").write_bytes(png(9, 9, i))
    with (root / "b.png").open("wb") as large:
        large.truncate(3 << 30)  # sparse
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"import_roots": [str(root)]}))
    admin = fresh_server(args=("--config", str(config))).admin()
    project = admin.post("projects", {"name": unique("p")})
    made = admin.post("datasets", {"name": "d", "project": project["id"]})
    version = f"datasets/{made['id']}/versions/" + str(admin.post(f"datasets/{made['id']}/versions", {})["id"])
    task = admin.post(f"{version}/import", {"directory": str(root)}, expect=202)
    there = sum(f.stat().st_size for f in root.rglob("*.png"))
    seen = wait_for(lambda: (t := admin.get(f"tasks/{task['id']}"))["done"] and t, "some of the large file")
    assert seen["state"] == "running" and seen["total"] == there and 0 < seen["done"] <= there // 2
    admin.post(f"tasks/{task['id']}/cancel", {}, expect=200)
    finished(admin, task, state="cancelled")


def test_folders_of_the_server(fresh_server, tmp_path):
    root = tmp_path / "nas"
    (root / "cats").mkdir(parents=True)
    (root / "cats" / "1.png").write_bytes(png(9, 9))
    (root / "2.png").write_bytes(png(8, 8))
    (root / "out.png").symlink_to("/etc/passwd")
    (tmp_path / "secret.png").write_bytes(png(7, 7))
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"import_roots": [str(root)]}))
    server = fresh_server(args=("--config", str(config)))
    admin = server.admin()
    project = admin.post("projects", {"name": unique("p")})
    made = admin.post("datasets", {"name": "d", "project": project["id"]})
    version = f"datasets/{made['id']}/versions/" + str(admin.post(f"datasets/{made['id']}/versions", {})["id"])
    task = finished(admin, admin.post(f"{version}/import", {"directory": str(root)}, expect=202))
    assert sorted(s["name"] for s in samples(admin, version)) == ["2.png", "cats/1.png"]
    assert [line["file"] for line in report(admin, task)] == ["out.png"]
    for path in (str(tmp_path), "/", "/etc", str(root) + "2"):
        admin.post(f"{version}/import", {"directory": path}, expect=403)
    escaped = admin.post(f"{version}/import", {"directory": f"{root}/../"}, expect=202)
    finished(admin, escaped, state="failed")
    admin.post(f"{version}/import", {}, expect=422)
