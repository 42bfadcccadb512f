"""Configurations as the engine reads them from Python: names, units and types."""

import pytest

from rogue.simulator import CX3PRO, ROCEV2, SimulationError
from rogue.simulator._core import Engine


def engine_with_two_hosts() -> Engine:
    engine = Engine(seed=1, framing=ROCEV2)
    engine.add_host("a", CX3PRO)
    engine.add_host("b", CX3PRO)
    return engine


def test_what_is_not_said_stays_as_it_is_by_default() -> None:
    engine = engine_with_two_hosts()
    assert engine.add_link(0, 1, rate_bps=10**10, delay_ps=1000) == 0
    assert engine.add_link(0, 1, rate_bps=10**10, delay_ps=1000, loss={"kind": 1, "until_ns": None}) == 2


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TypeError, match=r"a name is unknown among .*'delay_ns'"):
        engine_with_two_hosts().add_link(0, 1, rate_bps=10**10, delay_ns=1)


def test_a_value_of_another_type_is_refused_by_its_name() -> None:
    with pytest.raises(TypeError, match="rate_bps cannot be 'fast'"):
        engine_with_two_hosts().add_link(0, 1, rate_bps="fast")


def test_nanoseconds_are_checked_as_times_of_host_software_are() -> None:
    with pytest.raises(SimulationError, match="expected a time from 0"):
        engine_with_two_hosts().add_link(0, 1, rate_bps=1, loss={"from_ns": -1})


def test_a_fault_is_known_by_name_and_fields() -> None:
    engine = engine_with_two_hosts()
    engine.add_link(0, 1, rate_bps=10**10, delay_ps=1000)
    engine.inject("link_cut", link=1, start_ns=0, end_ns=5)
    with pytest.raises(TypeError, match="no fault is called lightning"):
        engine.inject("lightning", link=1)
    with pytest.raises(TypeError, match=r"a name is unknown among .*'until_ns'"):
        engine.inject("link_cut", link=1, until_ns=5)


def test_an_object_must_have_every_attribute() -> None:
    with pytest.raises(AttributeError, match="limiters"):
        Engine(seed=1, framing=ROCEV2).add_host("a", ROCEV2)  # type: ignore[arg-type]
