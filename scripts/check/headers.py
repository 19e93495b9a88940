#!/usr/bin/python3
"""Every header compiles alone, so that the order of includes never matters."""

import subprocess

from common import ROOT, compiler_flags, in_parallel, report, sources


def main() -> None:
    headers = sources("src", ".h")
    flags = compiler_flags()

    def compile_alone(header) -> str:
        run = subprocess.run(["gcc", *flags, "-fsyntax-only", "-x", "c", "-"], cwd=ROOT, text=True,
                             input=f'#include "{header.relative_to("src")}"\n', capture_output=True)
        return f"{header} does not compile alone:\n{run.stderr}" if run.returncode else ""

    report([p for p in in_parallel(compile_alone, headers) if p], f"{len(headers)} headers")


if __name__ == "__main__":
    main()
