#!/usr/bin/python3
"""Every C file is as clang-format would have it. With --fix, makes it so."""

import subprocess
import sys

from common import ROOT, in_parallel, report, repository_files


def main() -> None:
    files = repository_files(".c", ".h")
    action = ["-i"] if "--fix" in sys.argv else ["--dry-run", "-Werror", "--ferror-limit=3"]
    chunks = [files[i:i + 20] for i in range(0, len(files), 20)]
    done = in_parallel(lambda chunk: subprocess.run(["clang-format", *action, *map(str, chunk)], cwd=ROOT,
                                                    capture_output=True, text=True), chunks)
    problems = [run.stderr.rstrip() for run in done if run.returncode]
    if problems:
        problems.append("scripts/check/format.py --fix formats everything")
    report(problems, f"{len(files)} files")


if __name__ == "__main__":
    main()
