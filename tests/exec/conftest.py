import itertools
import os

import pytest
from driver import Executor

numbers = itertools.count()


def pytest_configure():
    if os.geteuid() != 0:
        pytest.exit("containers need root; `scripts/test.sh exec` uses sudo", 1)


@pytest.fixture(scope="module")
def x():
    """An executor of the module's own; whatever happens, nothing of it stays on the machine."""
    executor = Executor(next(numbers))
    try:
        yield executor.open()
    finally:
        executor.close()
