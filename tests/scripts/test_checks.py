"""The checks of scripts/check/ find what they are for and leave correct code alone."""

from pathlib import Path

import hygiene
import layers
import messages
import pytest
import sizes

C_FILE = r'''
#include "x.h"
#define LONG_MACRO(a) do { \
    call(a); \
} while (0)

struct point { int x; int y; };
static const struct row rows[] = {
    {"a{", f(1)},
    {"}", '}'},
};
/* { in a comment */ // {
static int (*pick(int which))(void)
{
    return which ? one : two; /* } */
}

__attribute__((noreturn)) void stop(const char *why,
                                    int code)
{
    for (;;) {
        char c = '{';
    }
}
'''


def test_functions_are_found_with_their_lengths():
    assert [(first, count) for _, first, count in sizes.functions(C_FILE)] == [(13, 4), (18, 7)]
    assert sizes.functions(C_FILE)[1][0] == "stop"


@pytest.mark.parametrize("body_lines, wrong", [(57, 0), (58, 1)])
def test_a_function_may_have_60_lines(body_lines, wrong):
    text = "void f(void)\n{\n" + "    g();\n" * body_lines + "}\n"
    assert len(sizes.problems_of(Path("a.c"), text)) == wrong


def test_a_table_may_be_long_but_not_a_file():
    text = "const int t[] = {\n" + "    1,\n" * 100 + "};\n"
    assert sizes.problems_of(Path("a.c"), text) == []
    assert len(sizes.problems_of(Path("a.py"), "x\n" * 801)) == 1


@pytest.fixture
def tree(tmp_path):
    def make(**files):
        paths = []
        for name, text in files.items():
            path = Path("src") / name.replace("__", "/").replace("_h", ".h").replace("_c", ".c")
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
            paths.append(path)
        return paths, tmp_path
    return make


RANKS = {"base": 0, "db": 1, "net": 1, "core": 2}


@pytest.mark.parametrize("file, include, wrong", [
    ("core__a_c", "base/x.h", 0),
    ("core__a_c", "db/x.h", 0),
    ("db__a_c", "net/x.h", 1),
    ("base__a_c", "core/x.h", 1),
    ("base__a_c", "base/x.h", 0),
    ("base__a_c", "x.h", 0),
    ("base__a_c", "missing.h", 1),
    ("main_c", "core/x.h", 0),
    ("other__a_c", "base/x.h", 1),
])
def test_includes_go_down(tree, file, include, wrong):
    headers = {f"{layer}__x_h": "" for layer in RANKS}
    paths, root = tree(**headers, **{file: f'#include "{include}"\n'})
    assert len(layers.upward(paths, RANKS, root)) == wrong


@pytest.mark.parametrize("file, include, wrong", [
    ("core__job__a_c", "core/task/x.h", 0),
    ("core__task__a_c", "core/job/x.h", 1),
    ("core__task__a_c", "core/task/x.h", 0),
    ("core__task__a_c", "core/x.h", 0),
    ("core__a_c", "core/job/x.h", 0),
    ("core__new__a_c", "core/x.h", 1),
])
def test_includes_go_down_within_core(tree, file, include, wrong):
    headers = {"core__task__x_h": "", "core__job__x_h": "", "core__x_h": ""}
    paths, root = tree(**headers, **{file: f'#include "{include}"\n'})
    assert len(layers.upward_in_core(paths, {"task": 0, "job": 1}, root)) == wrong


def test_circles_are_found(tree):
    paths, root = tree(base__a_h='#include "base/b.h"\n', base__b_h='#include "base/c.h"\n', base__c_h="")
    assert layers.circles(paths, root) == []
    (root / "src/base/c.h").write_text('#include "base/a.h"\n')
    assert len(layers.circles(paths, root)) == 1


@pytest.mark.parametrize("name, text, wrong", [
    ("a.md", "see /w" "ork/notes", 1),
    ("a.md", "the network/socket, framework/x, $TOP/w" "ork/x", 0),
    ("a.sh", "pip install --index-url https://py" "pi.org/simple", 1),
    ("a.c", "// TO" "DO: later", 1),
    ("a.c", "mkstemp(\"a.XXXXXX\")", 0),
    ("package-lock.json", '"resolved": "x"', 1),
    ("package-lock.json", '"integrity": "sha512-xTO' 'DO"', 0),
    ("a.c", "<" * 7 + " HEAD", 1),
])
def test_hygiene(name, text, wrong):
    assert len(hygiene.problems_of(Path(name), text.encode())) == wrong


def test_big_files_are_refused():
    assert len(hygiene.problems_of(Path("a.bin"), b"\0" * (hygiene.SIZE_LIMIT + 1))) == 1


@pytest.mark.parametrize("entry, wrong", [
    ('"a", "%s has %d", "%s 有 %d"', None),
    ('"a", "%1$s in %2$s", "%2$s 中的 %1$s"', None),
    ('"a", "%s has %d", "%s 有"', "takes"),
    ('"a", "yes", "yes"', "no Chinese"),
    ('"a", "yes"', "not a name and two sentences"),
    ('"b", "yes", "是"', "names another"),
])
def test_sentences_have_both_languages(entry, wrong):
    text = f'#define MESSAGE_ONE {entry}\n#define MESSAGE_TWO \\\n    "b", "one" "two", \\\n    "二"\n'
    found = messages.problems_of(text, {"MESSAGE_ONE", "MESSAGE_TWO"})
    assert bool(found) == bool(wrong) and (not wrong or wrong in found[0])
    assert any("nobody" in p for p in messages.problems_of(text, set()))
