"""A real MariaDB of Debian for the tests, under a folder of its own."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

from harness import DEADLINE
from s3 import free_ports
from tls import Authority


class MariaDb:
    """The server, with a user who may do everything."""

    user, password = "loader", "pass' word\"\\ 1"

    def __init__(self) -> None:
        self.dir = tempfile.mkdtemp(prefix="ingot-maria-", dir="/tmp")
        self.socket = f"{self.dir}/socket"
        # As root it must be told to be somebody else.
        self.run_as = ["--user=mysql"] if os.getuid() == 0 else []
        if self.run_as:
            os.chown(self.dir, pwd.getpwnam("mysql").pw_uid, -1)
        self.ca = Authority(Path(self.dir))
        self.certificate = self.ca.certificate("mariadb")
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={self.dir}/data", "--skip-test-db",
                        "--auth-root-authentication-method=normal", *self.run_as], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.STDOUT)
        end = time.monotonic() + DEADLINE
        while not self._start(min(end, time.monotonic() + DEADLINE / 2)):
            self.process.kill()
            self.process.wait(DEADLINE)
            assert time.monotonic() < end, Path(self.dir, "log").read_text(errors="replace")[-3000:]
        quoted = self.password.replace("\\", "\\\\").replace("'", "\\'")
        self.sql(f"CREATE USER {self.user}@'%' IDENTIFIED BY '{quoted}'; GRANT ALL ON *.* TO {self.user}@'%'")

    def _start(self, end: float) -> bool:
        [self.port] = free_ports(1)
        with open(f"{self.dir}/log", "w") as log:
            self.process = subprocess.Popen(
                ["mariadbd", "--no-defaults", f"--datadir={self.dir}/data", f"--socket={self.socket}", f"--port={self.port}",
                 "--bind-address=127.0.0.1", f"--pid-file={self.dir}/pid", "--skip-name-resolve", "--innodb-buffer-pool-size=16M",
                 "--max-allowed-packet=64M", f"--ssl-cert={self.certificate[0]}", f"--ssl-key={self.certificate[1]}", *self.run_as], stdout=log, stderr=subprocess.STDOUT)
        while time.monotonic() < end and self.process.poll() is None:  # it ends when the port was taken
            asked = subprocess.run(["mariadb-admin", "--no-defaults", f"--socket={self.socket}", "-uroot", "ping"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if asked.returncode == 0:
                return True
            time.sleep(0.1)
        return False

    def sql(self, text: str, database: str = "") -> str:
        run = subprocess.run(["mariadb", "--no-defaults", f"--socket={self.socket}", "-uroot", "--batch", "--skip-column-names",
                              "--default-character-set=utf8mb4", "--binary-mode", *([database] if database else [])],
                             input=text, check=True, text=True, stdout=subprocess.PIPE)
        return run.stdout

    def database(self) -> str:
        """A new empty one."""
        name = f"d{uuid.uuid4().hex[:12]}"
        self.sql(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        return name

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE)
        shutil.rmtree(self.dir)
