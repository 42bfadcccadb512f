"""Commands that read runs of others have a limit of memory and one of processor time."""

import os
from collections.abc import Callable

import pytest

from rogue.harness import limits
from rogue.harness.errors import DamagedRunError


def limited(work: Callable[[], object]) -> type[BaseException] | None:
    """Run a function under the limits in a child process; return the exception that ends it."""
    kinds = (MemoryError, DamagedRunError)
    child = os.fork()
    if child == 0:
        try:
            limits.limit_reading()
            work()
        except kinds as error:
            os._exit(1 + kinds.index(type(error)))
        finally:
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return kinds[code - 1] if code else None


def spin() -> None:
    while True:
        pass


def test_more_memory_than_the_computer_has_is_refused() -> None:
    assert limited(lambda: bytearray(1 << 45)) is MemoryError
    assert limited(lambda: bytearray(1 << 20)) is None


def test_more_processor_time_than_the_limit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TIME_LIMIT_S", 1)
    assert limited(spin) is DamagedRunError
