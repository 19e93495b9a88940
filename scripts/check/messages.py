#!/usr/bin/python3
"""Every sentence of the catalogue has both languages, takes the same arguments in both, and is used."""

import re

from common import ROOT, report, sources

CATALOGUE = "src/base/messages"  # messages.h, and messages_<part>.h of what has many
ENTRY = re.compile(r'#define (MESSAGE_[A-Z0-9_]+)\s+"([a-z0-9-]+)",\s+((?:"(?:[^"\\]|\\.)*"\s*)+),'
                   r'\s+((?:"(?:[^"\\]|\\.)*"\s*)+)$', re.M)
CONVERSION = re.compile(r"%(?:(\d+)\$)?[-+ 0#]*\d*(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j)?[a-zA-Z]")


def entries(text: str) -> list[tuple[str, str, str, str]]:
    """(macro, id, English, Chinese) of each sentence."""
    joined = text.replace("\\\n", " ")
    return [tuple(part.strip() for part in found) for found in ENTRY.findall(joined)]


def arguments(sentence: str) -> list[str]:
    """The conversions, those without a number in their order."""
    return [f.group() for f in CONVERSION.finditer(sentence.replace("%%", ""))]


def numbered(conversions: list[str]) -> bool:
    return any("$" in c for c in conversions)


def problems_of(text: str, used: set[str]) -> list[str]:
    found = entries(text)
    problems = [f"{name}: is not a name and two sentences"
                for name in sorted(set(re.findall(r"#define (MESSAGE_\w+)", text)) - {e[0] for e in found})]
    ids = [e[1] for e in found]
    for macro, name, english, chinese in found:
        if ids.count(name) > 1:
            problems.append(f'{macro}: "{name}" names another sentence too')
        if not re.search("[\u4e00-\u9fff]", chinese):
            problems.append(f"{macro}: has no Chinese")
        both = arguments(english), arguments(chinese)
        # With numbers, each language may leave out what only the other one needs.
        if both[0] != both[1] and not (numbered(both[0]) and numbered(both[1])):
            problems.append(f"{macro}: takes {both[0]} in English and {both[1]} in Chinese")
        if macro not in used:
            problems.append(f"{macro}: nobody uses it")
    return problems


def main() -> None:
    used = {name for f in sources("src", ".c", ".h") if not str(f).startswith(CATALOGUE)
            for name in re.findall(r"\bMESSAGE_[A-Z0-9_]+\b", (ROOT / f).read_text())}
    text = "\n".join(f.read_text() for f in sorted((ROOT / CATALOGUE).parent.glob("messages*.h")))
    report(problems_of(text, used), f"{len(entries(text))} sentences")


if __name__ == "__main__":
    main()
