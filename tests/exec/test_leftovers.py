"""What a server that was killed for good leaves on the machine."""

import os
import shutil
import subprocess

from driver import Executor, wait_for


def left(name: str) -> list[str]:
    found = [link for link in os.listdir("/sys/class/net") if link.startswith(name + "b")]
    tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True).stdout.split("\n")
    found += [table for table in tables if table.endswith(f" {name}")]
    return found + [path for path in (f"/run/{name}-stage", f"/run/ingot/{name}") if os.path.exists(path)]


def test_they_are_swept_when_its_data_is_gone():
    killed, next_one = Executor(901), Executor(902)
    try:
        killed.open()
        killed.running(killed.start("sleep", "1000", network=7))
        killed.kill()
        assert left(killed.name)
        next_one.open()
        assert left(killed.name)  # its data is still there
        next_one.close()
        shutil.rmtree(killed.dir)
        next_one = Executor(903)
        next_one.open()
        wait_for(lambda: not left(killed.name), "the sweep")
    finally:
        next_one.close()
        os.makedirs(killed.dir, exist_ok=True)
        killed.close()
