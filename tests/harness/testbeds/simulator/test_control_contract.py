"""The contract of NIC controls: every shipped one keeps it, and each way to break it is told."""

from collections.abc import Iterator, Mapping

import pytest

from rogue.harness.plugins.loading import unload_plugins
from rogue.harness.testbeds.simulator.control_contract import nic_control_faults
from rogue.harness.testbeds.simulator.plugins import ControlParameter, register_nic_control
from rogue.simulator import CONTROLS, PrototypeControl, SimulationError


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    unload_plugins()


@pytest.mark.parametrize("name", CONTROLS)
def test_every_shipped_control_keeps_it(name: str) -> None:
    assert nic_control_faults(name) == []


class Kept(PrototypeControl):
    """It does nothing, and that right."""

    wants_marks = True
    cnp_gap_ps = 50_000_000


class Unbuildable(Kept):
    """Its least value is one too small."""

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        self.rate_bps = int(line_rate_bps / parameters["part"])


class Contradicting(Kept):
    """It refuses a bound in words, and may."""

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        super().__init__(parameters, line_rate_bps)
        if parameters["part"] == 0:
            raise SimulationError("part: expected more")


class Raising(Kept):
    """It raises at the first CNP."""

    def on_cnp(self, now_ps: int) -> None:
        raise KeyError("mine")


class Stopping(Kept):
    """Its rate falls to nothing."""

    def on_cnp(self, now_ps: int) -> None:
        self.rate_bps //= 2


class Shared(Kept):
    """What it does depends on how often anybody was told."""

    calls = 0

    def on_cnp(self, now_ps: int) -> None:
        Shared.calls += 1
        self.rate_bps = 10**9 + Shared.calls


class Hurried(Kept):
    """A timer that is always due."""

    def on_cnp(self, now_ps: int) -> None:
        self.deadline_ps = now_ps

    def on_timer(self, now_ps: int) -> None:
        self.deadline_ps = now_ps + 1


class Infinite(Kept):
    """What it believes is no number that a table can have."""

    def metrics(self, now_ps: int) -> dict[str, float]:
        return {"ratio": float("inf")}


class Undefined(Kept):
    """What it believes is not even equal to itself."""

    def metrics(self, now_ps: int) -> dict[str, float]:
        return {"ratio": float("nan")}


class Growing(Kept):
    """What it believes has new names."""

    heard = 0

    def on_cnp(self, now_ps: int) -> None:
        self.heard += 1

    def metrics(self, now_ps: int) -> dict[str, float]:
        return {f"after_{self.heard}": 1.0}


class Telemetric(Kept):
    """It takes what switches write for granted, and hears of no CNP."""

    wants_telemetry = True

    def on_acknowledgement(self, *told: object) -> None:
        hops = told[-1]
        assert isinstance(hops, list)
        self.rate_bps = hops[0][3]


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (Unbuildable, "with part = 0, at 10000000000 bit/s: Unbuildable cannot be made: ZeroDivisionError"),
        (Raising, "it raises KeyError: 'mine' (line rate 10000000000 bit/s, sequence 0)"),
        (Stopping, "Stopping.rate_bps: expected a whole number from 1, got 0 (line rate"),
        (Shared, "the last on_cnp: the same calls gave another result, expected no clock"),
        (Hurried, "on_timer asked to be called again 1000 times within 500 us"),
        (Infinite, "the last on_cnp: metrics() has a value that is not finite: {"),
        (Undefined, "the last on_cnp: metrics() has a value that is not finite: {'ratio': nan}"),
        (Growing, "metrics() has other names than before: after_0, after_1"),
    ],
)
def test_each_fault_is_a_sentence(control: type[PrototypeControl], words: str) -> None:
    register_nic_control("mine", control, [ControlParameter("part", 1, 0, 2, "of the line's rate")])
    assert words in nic_control_faults("mine")[0]


@pytest.mark.parametrize("control", [Kept, Contradicting, Telemetric])
def test_what_is_right_has_none(control: type[PrototypeControl]) -> None:
    register_nic_control("mine", control, [ControlParameter("part", 1, 0, 2, "of the line's rate")])
    assert nic_control_faults("mine") == []


def test_a_control_that_lets_nothing_through_is_told() -> None:
    class Silent(Kept):
        """Its rate is one bit per second."""

        def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
            self.rate_bps = 1

    register_nic_control("mine", Silent)
    assert nic_control_faults("mine") == [
        "in a network of 4 hosts: nothing arrived within 3 ms, expected some transfers to end"
    ]


def test_a_parameter_is_explained() -> None:
    register_nic_control("mine", Kept, [ControlParameter("part", 1, 0, 2, " ")])
    assert nic_control_faults("mine") == ["part has no meaning in words"]
