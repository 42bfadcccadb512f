"""Mutated files are read or refused in a sentence, within ten seconds of processor time and 4 GiB of memory.

`make test` tries a few, and Hypothesis looks for the smallest input that fails. `make test-long` reads
$HOSTILE_INPUTS of them. They are numbered: the number in a failure gives the same input again.
"""

import os
import resource
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType

import pytest
from helpers.hostile_inputs import INPUTS, hostile, leads_nowhere
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rogue.harness.provisioning import inventory
from rogue.workloads.printable import printable

COUNT = int(os.environ.get("HOSTILE_INPUTS", "100000"))
"""Of all kinds together."""
LIMIT_SECONDS = 10.0
MEMORY_BYTES = 4 << 30
SAID_MAX = 4_000
"""Ten mistakes of a line or two are told at once."""
SHARES = {name: 1 if each.is_slow else 10 for name, each in INPUTS.items()}


class HangError(Exception):
    """An input keeps us busy for too long."""


@contextmanager
def bounded() -> Iterator[None]:
    """Processor time, for the machine may be busy with something else."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise HangError(f"not read after {LIMIT_SECONDS:g} s of work")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(autouse=True)
def _limited_memory() -> Iterator[None]:
    """The limit of memory that commands set for themselves, which is all that bounds a table."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(autouse=True)
def _without_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "_logins", leads_nowhere)


def read(name: str, content: bytes, place: Path) -> None:
    """Read it; what it may be refused with is a sentence."""
    try:
        with bounded():
            INPUTS[name].read(content, place)
    except INPUTS[name].allowed as refused:
        said = printable(str(refused)).strip()
        assert said, f"{type(refused).__name__} says nothing"
        assert len(said) < SAID_MAX, said


@pytest.mark.parametrize("name", INPUTS)
def test_what_is_true_is_read(name: str, tmp_path: Path) -> None:
    for seed in INPUTS[name].seeds:
        assert INPUTS[name].read(seed, tmp_path) is not None


@pytest.mark.parametrize("name", INPUTS)
@settings(
    max_examples=60, derandomize=True, suppress_health_check=[*HealthCheck], database=None, deadline=None
)
@given(random=st.randoms(use_true_random=False, note_method_calls=False))
def test_a_few_hostile_inputs(name: str, tmp_path: Path, random: Random) -> None:
    read(name, hostile(random, INPUTS[name].seeds), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", INPUTS)
def test_very_many_hostile_inputs(name: str, tmp_path: Path) -> None:
    for number in range(COUNT * SHARES[name] // sum(SHARES.values())):
        content = hostile(Random(number), INPUTS[name].seeds)
        try:
            read(name, content, tmp_path)
        except Exception:
            told = f"{name}: input {number}, {content[:400]!r}\n{traceback.format_exc()}"
            pytest.fail(ascii(told).replace("\\n", "\n"), pytrace=False)
