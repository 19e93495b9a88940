"""The program alone: in a place that has nothing but its own folder, and by `ingot infer`."""

import os
import re
import shutil
import subprocess

import models
import pytest
from conftest import BUILD, Server


def libraries():
    """What the program and ONNX Runtime load, by the loader itself."""
    runtime = next((BUILD / "lib").glob("libonnxruntime.so*"))
    listed = subprocess.run(["env", "LD_TRACE_LOADED_OBJECTS=1", f"LD_PRELOAD={runtime}", BUILD / "ingot-infer"], text=True,
                            capture_output=True, check=True).stdout
    return [runtime, *{re.split(" => | ", line.strip())[1 if "=>" in line else 0] for line in listed.splitlines() if "/" in line}]


@pytest.mark.skipif(os.geteuid() != 0, reason="another root folder needs root")
def test_a_foreign_root(tmp_path):
    """As in an image without our libraries: the loader is called with the folder of ours."""
    (tmp_path / "ours" / "lib").mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    for path in libraries():
        name = os.path.basename(path)
        shutil.copy(path, tmp_path / "ours" / "lib" / ("ld.so" if name.startswith("ld-linux") else name))
    shutil.copy(BUILD / "ingot-infer", tmp_path / "ours" / "lib" / "ingot-infer")
    models.identity(tmp_path / "m.onnx")
    server = Server.__new__(Server)
    command = ("mount -t proc proc \"$0/proc\" && exec env ASAN_OPTIONS=detect_leaks=0 chroot \"$0\" /ours/lib/ld.so --library-path /ours/lib "
               "/ours/lib/ingot-infer --listen 127.0.0.1:0 /m.onnx")  # leaks are the loader's own, which LeakSanitizer does not know by this name
    server.begin(["unshare", "--mount", "--propagation=private", "sh", "-c", command, tmp_path])
    server.start()
    one = {"name": "x", "shape": [1, 1], "datatype": "FP32", "data": [5]}
    assert server.infer("m", [one]).json()["outputs"][0]["data"] == [5.0]
    assert server.stop() == 0


def test_by_the_command_line(tmp_path):
    models.identity(tmp_path / "m.onnx")
    server = Server.__new__(Server)
    server.begin([BUILD / "ingot", "infer", tmp_path / "m.onnx", "--listen", "127.0.0.1:0"])
    server.start()
    assert server.http.get("/v2/models/m/ready").status_code == 200
    assert server.stop() == 0


def test_help_and_version():
    for flag, word in (("--help", "--models DIR"), ("--version", "ingot-infer")):
        run = subprocess.run([BUILD / "ingot-infer", flag], text=True, capture_output=True, check=True)
        assert word in run.stdout
