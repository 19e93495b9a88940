"""The local executor as an object: a client of exec_driver (one per test module, each with its own folder, prefix and
subnet), and the sweep that leaves nothing of it on the machine."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("EXEC_DRIVER", str(ROOT / "build/san/tests/exec/exec_driver"))
DEADLINE = 120
HEAD = 30  # bytes before a log record's text


class Refused(Exception):
    def __init__(self, answer):
        super().__init__(answer.get("message"))
        self.code = answer.get("code")
        self.field = answer.get("field")


def wait_for(look, what):
    """The first true value of look(); fails after the deadline."""
    until = time.monotonic() + DEADLINE
    while True:
        value = look()
        if value:
            return value
        assert time.monotonic() < until, f"waited {DEADLINE} s for {what}"
        time.sleep(0.02)


class Executor:
    def __init__(self, number, egress=False):
        self.options = ["egress"] if egress else []
        self.name = f"t{os.getpid() % 10000:04d}{number % 10}"[:6]
        self.subnet = f"10.{64 + 4 * (number % 16)}.0.0"
        self.dir = tempfile.mkdtemp(prefix="ingot-exec-")
        self.process = None
        self.lock = threading.Lock()
        self.next_job = 0

    def open(self):
        self.process = subprocess.Popen(
            [PROGRAM, self.dir, self.name, self.subnet, *self.options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        answer = json.loads(self.process.stdout.readline())
        assert answer["ok"], answer
        return self

    def call(self, op, **arguments):
        with self.lock:
            self.process.stdin.write(json.dumps({"op": op, **arguments}).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        assert line, "the driver has died"
        answer = json.loads(line)
        if not answer["ok"]:
            raise Refused(answer)
        return answer

    def kill(self):
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None

    def crash(self):
        """kill -9, then a new one on the same folder."""
        self.kill()
        return self.open()

    def start(self, *argv, id=None, **more):
        if id is None:
            self.next_job += 1
            id = f"{self.next_job}-1-0"
        self.call("start", id=id, argv=list(argv), **more)
        return id

    def shell(self, script, **more):
        return self.start("sh", "-c", script, **more)

    def status(self, id):
        return self.call("status", id=id)

    def running(self, id):
        def look():
            status = self.status(id)
            assert status["state"] != "exited", status
            return status["state"] == "running" and status

        return wait_for(look, f"{id} to run")

    def ended(self, id):
        def look():
            status = self.status(id)
            return status["state"] == "exited" and status

        return wait_for(look, f"{id} to end")

    def records(self, id):
        """The log: (stream, text) each."""
        text = self.call("log_read", id=id)["text"]
        return [(line[28], line[HEAD:]) for line in text.split("\n")[:-1]]

    def output(self, id, stream="o"):
        return "\n".join(text for letter, text in self.records(id) if letter == stream)

    def said(self, id, what):
        return wait_for(lambda: what in self.output(id) and self.output(id), f"{id} to say {what}")

    def run(self, script, **more):
        """Runs a shell script to its end: status and output."""
        id = self.shell(script, **more)
        status = self.ended(id)
        output = self.output(id)
        return status, output

    def close(self):
        """Ends the driver, then everything with the prefix: processes, bridges, rules, groups, folders."""
        if self.process:
            self.process.stdin.close()
            code = self.process.wait(timeout=DEADLINE)
            self.process.stdout.close()
            self.process = None
        else:
            code = 0
        self.sweep()
        assert code == 0, f"the driver ended with {code}"

    def groups(self):
        """The prefix's folders of all hierarchies, and below them the containers'."""
        root = pathlib.Path("/sys/fs/cgroup")
        return [p for p in [root / self.name, *root.glob(f"*/{self.name}")] if p.exists()]

    def containers(self):
        return [p for group in self.groups() for p in group.iterdir() if p.is_dir()]

    def sweep(self):
        # Each may end by itself meanwhile: nothing here minds what is gone.
        for group in self.containers():
            with contextlib.suppress(OSError):
                for pid in (group / "cgroup.procs").read_text().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
        for link in json.loads(subprocess.check_output(["ip", "-j", "link"])):
            if link["ifname"].startswith(self.name):
                subprocess.run(["ip", "link", "delete", link["ifname"]], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["nft", "delete", "table", "inet", self.name], check=False, stderr=subprocess.DEVNULL)
        # Supervisors end once their containers have; they hold the pipe ctl of their folder.
        wait_for(lambda: not any(self.supervised(p) for p in pathlib.Path(self.dir).glob("*/ctl")), "supervisors")
        for group in self.containers() + self.groups():
            with contextlib.suppress(FileNotFoundError):
                group.rmdir()
        shutil.rmtree(self.dir)
        with contextlib.suppress(FileNotFoundError):
            os.rmdir(f"/run/{self.name}-stage")

    @staticmethod
    def supervised(pipe):
        try:
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            return True
        except OSError:
            return False
