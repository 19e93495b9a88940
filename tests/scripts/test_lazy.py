"""scripts/lazy.py: a program with its stand-ins loads the library at the first call, and arguments of all sorts arrive."""

import platform
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LIBRARY = """
#include <stdarg.h>
#include <stdio.h>
double sum(int n, double a, float b, const char *text, long c, long d, long e, long f, ...)
{
    va_list more;
    va_start(more, f);
    double total = n + a + b + c + d + e + f + va_arg(more, double) + va_arg(more, int);
    va_end(more);
    printf("%s\\n", text);
    return total;
}
int inner(void) { return 7; }
int outer(void) { return inner() + 1; } /* must find its own inner */
struct pair { long a, b, c; };
struct pair big(long a) { return (struct pair){a, a + 1, a + 2}; }
"""

PROGRAM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
double sum(int n, double a, float b, const char *text, long c, long d, long e, long f, ...);
int outer(void);
struct pair { long a, b, c; };
struct pair big(long a);
int main(void)
{
    printf("%d\\n", dlopen("libthing.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL);
    for (int i = 0; i < 2; i++)
        printf("%.2f\\n", sum(1, 2.5, 0.25f, "text", 10, 20, 30, 40, 0.125, 5));
    printf("%d %ld\\n", outer(), big(4).c);
    printf("%d\\n", dlopen("libthing.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL);
    return 0;
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="lazy.cmake links the libraries as usual on other machines")
def test_first_call_loads(tmp_path: Path) -> None:
    def run(*command: str | Path, **options) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path, **options).stdout

    (tmp_path / "thing.c").write_text(LIBRARY)
    (tmp_path / "program.c").write_text(PROGRAM)
    run("gcc", "-shared", "-fPIC", "-Wl,-soname,libthing.so.1", "-o", "libthing.so.1", "thing.c")
    run(ROOT / "scripts/lazy.py", "libthing.so.1", "stub.S")
    run("gcc", "-O2", "-D_GNU_SOURCE", f"-I{ROOT / 'src'}", "-o", "program", "program.c", "stub.S",
        ROOT / "src/base/lazy.c")
    assert "libthing" not in run("readelf", "-d", "program")
    answer = run("./program", env={"LD_LIBRARY_PATH": str(tmp_path)})
    assert answer.split() == ["0", "text", "108.88", "text", "108.88", "8", "6", "1"]


def test_a_library_without_a_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thing.c").write_text("int f(void) { return 1; }")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "thing.so", "thing.c"], check=True, cwd=tmp_path)
    done = subprocess.run([ROOT / "scripts/lazy.py", "thing.so", "out.S"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "thing.so has no SONAME" in done.stderr
