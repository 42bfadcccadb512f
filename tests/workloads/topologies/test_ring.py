"""Switches in a ring."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies.ring import Ring


def ring(switches: int, hosts: int = 1) -> Ring:
    keys = {"switch_count": switches, "hosts_per_switch": hosts, "rate": "10Gbps"}
    return Ring.model_validate(keys)


@pytest.mark.parametrize(("switches", "hosts"), [(3, 1), (5, 2)])
def test_sizes(switches: int, hosts: int) -> None:
    network = ring(switches, hosts)
    assert len(network.host_names()) == switches * hosts
    assert len(network.links()) == switches * hosts + switches
    assert {len(network.links_of[switch]) for switch in network.switch_names()} == {hosts + 2}


def test_two_switches_on_there_is_one_way_in_five_and_two_in_four() -> None:
    assert [(link.a, link.b) for link in ring(5).path("h4", "h1")[1:3]] == [("s4", "s0"), ("s0", "s1")]
    assert ring(5).shortest_paths.count("h4", "h1") == 1
    assert ring(4).shortest_paths.count("h0", "h2") == 2


def test_two_switches_are_no_ring() -> None:
    with pytest.raises(ValidationError):
        ring(2)
