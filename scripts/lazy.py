#!/usr/bin/python3
"""Stands in for a shared library until its first use: lazy.py LIBRARY OUT.S

Writes, for every function that the library exports, a jump of the same name. The first call of any of them loads the
library (src/base/lazy.h), so that a server which never talks to PostgreSQL, say, does without it and all that
it needs. For x86-64.
"""

import re
import subprocess
import sys
from pathlib import Path

HEAD = """/* Made by scripts/lazy.py for {soname}. */
    .section .note.GNU-stack,"",@progbits
    .section .rodata
soname:
    .asciz "{soname}"
{names}
    .section .data.rel.local,"aw",@progbits
    .balign 8
library: /* struct lazy_library */
    .quad soname
    .quad 0
    .quad names
    .quad slots
names:
{name_pointers}
slots:
{slots}
    .text
/* On the stack: the function's number, then what its caller pushed. All that may carry arguments is kept. */
resolve:
    pushq %rax
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %r10
    subq $128, %rsp
{save}
    leaq library(%rip), %rdi
    movq 192(%rsp), %rsi
    call lazy_find@PLT
    movq %rax, %r11
{restore}
    addq $128, %rsp
    popq %r10
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    popq %rax
    addq $8, %rsp
    jmp *%r11
"""

# Hidden: the library itself, once it is loaded, must not find these instead of its own.
FUNCTION = """    .globl {name}
    .hidden {name}
    .type {name}, @function
{name}:
    jmp *slots+{offset}(%rip)
first{i}:
    pushq ${i}
    jmp resolve
"""


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library: str) -> list[str]:
    names = {parts[2].split("@")[0] for line in output("nm", "-D", "--defined-only", library).splitlines()
             if len(parts := line.split()) == 3 and parts[1] in "TWi"}
    return sorted(names - {"_init", "_fini"})


def main() -> None:
    library, out = sys.argv[1:]
    soname = re.search(r"SONAME.*\[(.+)\]", output("readelf", "-d", library))
    if not soname:
        sys.exit(f"lazy.py: {library} has no SONAME")
    names = exported(library)
    text = HEAD.format(
        soname=soname[1],
        names="\n".join(f'name{i}:\n    .asciz "{name}"' for i, name in enumerate(names)),
        name_pointers="\n".join(f"    .quad name{i}" for i in range(len(names))),
        slots="\n".join(f"    .quad first{i}" for i in range(len(names))),
        save="\n".join(f"    movaps %xmm{i}, {16 * i}(%rsp)" for i in range(8)),
        restore="\n".join(f"    movaps {16 * i}(%rsp), %xmm{i}" for i in range(8)))
    text += "".join(FUNCTION.format(name=name, i=i, offset=8 * i) for i, name in enumerate(names))
    Path(out).write_text(text)


if __name__ == "__main__":
    main()
