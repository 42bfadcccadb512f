from pathlib import Path

import pytest
from helpers.ssh_server import served_node
from hypothesis import given
from hypothesis import strategies as st

from rogue.harness.provisioning.clocks import ClockOffset, best_offset, clock_offset, exchange
from rogue.remote.connection import connect


def test_worked_example() -> None:
    times = iter([100.0, 100.4])
    assert exchange(lambda: 107.3, lambda: next(times)) == ClockOffset(pytest.approx(7.1), pytest.approx(0.2))


def test_the_clock_of_this_very_machine_is_right(tmp_path: Path) -> None:
    with served_node(tmp_path) as login, connect(login, limit_s=20.0) as shell:
        found = clock_offset(shell)
    assert abs(found.offset_s) <= found.uncertainty_s + 0.001


def test_the_quickest_reply_says_most() -> None:
    offsets = [ClockOffset(1.0, 0.5), ClockOffset(1.2, 0.1), ClockOffset(0.9, 0.3)]
    assert best_offset(offsets) == ClockOffset(1.2, 0.1)


@given(st.floats(-1e6, 1e6), st.floats(0, 10), st.floats(0, 10))
def test_the_truth_lies_within_the_uncertainty(offset_s: float, there_s: float, back_s: float) -> None:
    times = iter([0.0, there_s + back_s])
    found = exchange(lambda: there_s + offset_s, lambda: next(times))
    assert abs(found.offset_s - offset_s) <= found.uncertainty_s + 1e-9
