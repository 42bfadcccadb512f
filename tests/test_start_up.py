"""Settings of every process of this program."""

import gc
import os
from collections.abc import Iterator

import pytest

from rogue.start_up import COLLECTED_AFTER, THREADS, prepare


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Undo the settings after the test."""
    for name in THREADS:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    usual = gc.get_threshold()
    yield monkeypatch
    gc.set_threshold(*usual)


def test_the_environment_may_set_the_numbers_of_threads(as_before: pytest.MonkeyPatch) -> None:
    as_before.setenv("OMP_NUM_THREADS", "3")
    prepare()
    assert [os.environ[name] for name in THREADS] == ["1", "3", "1"]


def test_the_garbage_collector_runs_rarely(as_before: pytest.MonkeyPatch) -> None:
    gc.set_threshold(700, 10, 10)
    prepare()
    assert gc.get_threshold() == COLLECTED_AFTER
