"""The switch around a cell."""

from collections.abc import Callable

import pytest
from helpers.fake_agents import FakeSwitch

from harness.testbeds.base import CellResult, TestbedError
from workloads.records import FailureKind

Run = Callable[..., CellResult]


def test_cuts_are_arranged_with_the_switch(run: Run) -> None:
    run("faults=[{kind: link_cut, target: h0, at: 1s, duration: 2s}]")
    ((port, after_s, duration_s),) = FakeSwitch.cuts
    assert (port, duration_s) == ("s0->h0", 2.0)
    assert 0 < after_s < 60


def test_a_switch_that_fails_is_to_blame(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSwitch, "breaks", True)
    with pytest.raises(TestbedError, match="fabric: `tc -batch -` failed") as caught:
        run()
    assert caught.value.kind is FailureKind.SWITCH
