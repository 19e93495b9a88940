"""What runs answer: why one failed, what its code logged, tables of runs by metrics and parameters."""

import pytest
from harness import unique, wait_for
from test_training import algorithm, instance_path, make, reached, settled, spec, start  # noqa: F401 (fixtures)


def cause_of(api, instance: dict) -> dict:
    return wait_for(lambda: api.get(instance_path(instance))["cause"], "the cause")


FAILURES = {
    "module-missing": ("python3 -c 'import no_such_thing'", "no_such_thing", "No module named 'no_such_thing'"),
    "command-not-found": ("trian --epochs 3", "trian", "trian: not found"),
    "permission-denied": ("echo x > /workspace/algorithm/x.txt", None, "x.txt"),
    "nan": ("echo step=1 loss=nan; echo 'the loss is NaN: giving up' >&2; exit 1", None, "the loss is NaN: giving up"),
    "exception": ("python3 -c 'print(1); [].pop()'", "IndexError", "IndexError: pop from empty list"),
    "other": ("echo so long; exit 7", None, "so long"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failed_run_says_why(admin, make, algorithm, name):  # noqa: F811
    command, detail, line = FAILURES[name]
    fields = {"algorithm": algorithm(**{"a.txt": "a"})["id"]} if name == "permission-denied" else {}
    instance = start(admin, make(command, **fields))
    assert reached(admin, instance)["state"] == "failed"
    cause = cause_of(admin, instance)
    assert cause["id"] == name, cause
    assert cause["sentence"] and any("\u4e00" <= c <= "\u9fff" for c in cause["sentence_zh"]), cause
    if detail:
        assert cause["detail"] == detail and detail in cause["sentence"] and detail in cause["sentence_zh"]
    assert any(line in said for said in cause["lines"]), cause
    assert len(cause["lines"]) <= 20


def test_a_run_out_of_memory_says_so(admin, make):  # noqa: F811
    instance = start(admin, make("exec python3 -c 'x = bytearray(400 << 20)'"))
    assert reached(admin, instance)["state"] == "failed"
    assert cause_of(admin, instance)["id"] == "out-of-memory"


def test_only_failed_runs_have_a_cause_and_it_is_bounded(admin, make):  # noqa: F811
    well = start(admin, make("echo 'Permission denied' >&2"))
    assert settled(admin, well)["cause"] is None
    loud = start(admin, make("python3 -c \"print('x' * 100000); [print(chr(27) + '[31m' + 'y' * 2000) for _ in range(3000)]\"; exit 3"))
    reached(admin, loud)
    cause = cause_of(admin, loud)
    assert len(cause["lines"]) == 20 and cause["lines"][-1] == "y" * 500
