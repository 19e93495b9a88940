#!/usr/bin/python3
"""Writes the C table of src/infer/fold.h: small letters without accents, and which characters are punctuation.

    scripts/unicode.py FILE.c
"""

import sys
import unicodedata
from pathlib import Path

FOLDED = ((0xC0, 0x52F), (0x1E00, 0x1FFF))


def folded(code: int) -> int:
    """The small letter without accents, when that is one character."""
    text = unicodedata.normalize("NFD", chr(code).lower())
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    return ord(text) if len(text) == 1 else code


def punctuation() -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for code in range(0x80, 0x10000):
        if not unicodedata.category(chr(code)).startswith("P"):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return ranges


def main() -> None:
    lines = ['#include "infer/fold.h"', ""]
    for first, last in FOLDED:
        numbers = ",".join(str(folded(code)) for code in range(first, last + 1))
        lines.append(f"static const uint32_t letters_{first:x}[] = {{{numbers}}};")
    lines.append("const struct fold_letters fold_letters[] = {")
    lines += [f"    {{{first}, {last}, letters_{first:x}}}," for first, last in FOLDED]
    lines += ["};", f"const size_t fold_letters_count = {len(FOLDED)};", ""]
    ranges = punctuation()
    lines.append("const struct fold_range fold_punctuation[] = {")
    lines += [f"    {{{first}, {last}}}," for first, last in ranges]
    lines += ["};", f"const size_t fold_punctuation_count = {len(ranges)};", ""]
    Path(sys.argv[1]).write_text("\n".join(lines))


main()
