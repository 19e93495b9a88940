"""The package as pip installs it."""
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def test_pip_installs_it_with_its_types(tmp_path):
    source, wheel = tmp_path / "source", tmp_path / "wheel"
    shutil.copytree(PACKAGE, source)  # building leaves files behind
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "-w", wheel, source], check=True)
    [made] = wheel.iterdir()
    target = tmp_path / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", target, made], check=True)
    assert "ingot/py.typed" in zipfile.ZipFile(made).namelist()
    code = "import ingot; print(ingot.__file__, ingot.Client.__name__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, text=True, stdout=subprocess.PIPE, cwd=tmp_path,
                          env={"PYTHONPATH": str(target)})
    assert done.stdout.startswith(str(target)) and done.stdout.split()[1] == "Client"
