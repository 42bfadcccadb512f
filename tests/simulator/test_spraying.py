"""What spraying may be set to, and beside what."""

import pytest
from helpers.networks import Star

from rogue.simulator import NicControl, SimulationError, Spraying, spraying_of, unsprayable

CONNECTION = {"mtu_bytes": 1024, "retry_count": 7, "timeout_exponent": 14}


def test_there_are_64_paths_unless_said_otherwise() -> None:
    assert Spraying().paths == spraying_of({}).paths == 64
    assert spraying_of({"paths": 8.0}) == Spraying(paths=8)


@pytest.mark.parametrize("paths", [1, 2, 64, 65_536])
def test_paths_that_can_be(paths: int) -> None:
    Spraying(paths).check()


@pytest.mark.parametrize("paths", [0, -1, 3, 65_537, 131_072, 2.5, True, "64", None, 2**70])
def test_paths_that_cannot_be_are_refused_by_a_sentence(paths: int) -> None:
    with pytest.raises(SimulationError, match=r"expected paths as .*, got ") as caught:
        Star(hosts=2).build().connect("h0", "h1", spraying=Spraying(paths), **CONNECTION)
    assert "connect h0-h1" in str(caught.value)


def test_what_is_no_power_of_two_is_told_so_that_a_file_can_be_blamed() -> None:
    with pytest.raises(SimulationError) as caught:
        Spraying(48).check()
    assert caught.value.expected == "paths as a power of two from 1 to 65536"
    assert caught.value.got == "48"


def test_uc_is_refused() -> None:
    with pytest.raises(SimulationError, match="expected service rc with spraying, got uc"):
        Star(hosts=2).build().connect("h0", "h1", spraying=Spraying(), service="uc", **CONNECTION)


@pytest.mark.parametrize(("control", "reason"), [("rocc", "back the way"), ("hpcc", "same ports")])
def test_controls_whose_packets_keep_one_way_are_refused(control: str, reason: str) -> None:
    simulation = Star(hosts=2, features={"has_telemetry": True}).build()
    with pytest.raises(SimulationError, match=f"no spraying beside {control}, .*{reason}"):
        simulation.connect("h0", "h1", spraying=Spraying(), control=NicControl(control), **CONNECTION)


@pytest.mark.parametrize("control", ["dcqcn", "timely", "constant"])
def test_other_controls_are_not(control: str) -> None:
    assert unsprayable(control) is None
    Star(hosts=2).build().connect("h0", "h1", spraying=Spraying(), control=NicControl(control), **CONNECTION)


def test_a_host_that_switches_have_a_rule_for_is_refused() -> None:
    simulation = Star(hosts=3).build()
    simulation.flood("s0", "h1")
    with pytest.raises(SimulationError, match=r"no rule \(forward, flood\) for 'h1'"):
        simulation.connect("h0", "h1", spraying=Spraying(), **CONNECTION)
    simulation.connect("h0", "h2", spraying=Spraying(), **CONNECTION)
