"""Tests: networks of rails and planes."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rogue.workloads.ideal import (
    ideal_goodput_bps,
    ideal_transfer_ns,
    longest_round_trip_ns,
    plain_route,
    plain_rules,
    sprayed_route,
)
from rogue.workloads.topologies.multi_plane import MultiPlane
from rogue.workloads.topologies.rail_optimised import RailOptimised
from rogue.workloads.topologies.shortest_paths import NoPathError


def rails(**keys: object) -> RailOptimised:
    return RailOptimised.model_validate({"rate": "400Gbps", **keys})


def leaf_of(network: RailOptimised, host: str) -> str:
    [leaf] = network.links_of[host]
    return leaf


def test_a_segment_of_hpn_with_one_leaf_per_rail() -> None:
    """The 1024 GPUs of a segment are in 128 servers with 8 NICs."""
    network = rails(servers_per_pod=128, spines=60)
    assert len(network.host_names()) == 1024
    assert len(network.switch_names()) == 8 + 60
    assert len(network.links()) == 1024 + 8 * 60
    assert len(network.links_of["s0"]) == 128 + 60


def test_the_first_server_has_a_nic_on_every_leaf_of_its_pod() -> None:
    network = rails(pods=2, servers_per_pod=3, rails=4, spines=2)
    assert [leaf_of(network, f"h{nic}") for nic in range(4)] == ["s0", "s1", "s2", "s3"]
    assert [leaf_of(network, f"h{3 * 4 + nic}") for nic in range(4)] == ["s4", "s5", "s6", "s7"]
    assert {*network.links_of["s8"]} == {f"s{leaf}" for leaf in range(8)}


@given(
    pods=st.integers(1, 3),
    servers_per_pod=st.integers(2, 4),
    count=st.integers(1, 4),
    spines=st.integers(1, 3),
)
def test_one_switch_within_a_rail_and_three_elsewhere(
    pods: int, servers_per_pod: int, count: int, spines: int
) -> None:
    network = rails(pods=pods, servers_per_pod=servers_per_pod, rails=count, spines=spines)
    for one, other in permutations(network.host_names(), 2):
        (server, rail), (other_server, other_rail) = (divmod(int(h[1:]), count) for h in (one, other))
        is_near = rail == other_rail and server // servers_per_pod == other_server // servers_per_pod
        assert len(network.path(one, other)) == (2 if is_near else 4)
        assert network.shortest_paths.count(one, other) == (1 if is_near else spines)


def test_uplinks_may_be_slower() -> None:
    network = rails(servers_per_pod=2, rails=2, uplink_rate="100Gbps")
    assert network.path_shape("h0", "h2") == ((400_000_000_000, 1_000),) * 2
    far = [rate_bps for rate_bps, _ in network.path_shape("h0", "h1")]
    assert far == [400_000_000_000, 100_000_000_000, 100_000_000_000, 400_000_000_000]


def test_rails_alone_are_not_joined() -> None:
    network = rails(servers_per_pod=3, rails=2, spines=0)
    assert len(network.switch_names()) == 2
    assert len(network.path("h1", "h5")) == 2
    for ask in (network.path, network.path_shape, network.shortest_paths.certain):
        with pytest.raises(NoPathError, match=r"no path from h0 to h1, expected two hosts of one rail"):
            ask("h0", "h1")


def test_without_spines_receiver_and_probe_are_in_one_rail() -> None:
    network = rails(servers_per_pod=3, rails=2, spines=0)
    assert (network.placement(has_probe=True).receiver, network.probe_host()) == ("h5", "h3")
    assert (rails().placement(has_probe=True).receiver, rails().probe_host()) == ("h63", "h62")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"pods": 2, "spines": 0}, "1 with spines: 0, because only spines join pods"),
        ({"spines": 0, "uplink_rate": "1Gbps"}, "none with spines: 0, where leaves have no uplinks"),
        ({"pods": 1024, "servers_per_pod": 1024}, "at most 65536 hosts"),
    ],
)
def test_impossible_ones_are_refused(keys: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        rails(**keys)


def planes(**keys: object) -> MultiPlane:
    return MultiPlane.model_validate({"rate": "400Gbps", **keys})


def test_two_planes_of_two_leaves_and_a_spine_by_hand() -> None:
    network = planes(planes=2, leaves=2, hosts_per_leaf=1, spines=1)
    assert network.host_names() == ("h0", "h1")
    assert network.switch_names() == tuple(f"s{number}" for number in range(8))
    assert [(link.a, link.b) for link in network.links()] == [
        *(("h0", "s0"), ("h1", "s1")),
        *(("s0", "s2"), ("s1", "s3"), ("s2", "s4"), ("s3", "s4")),
        *(("s0", "s5"), ("s1", "s6"), ("s5", "s7"), ("s6", "s7")),
    ]
    assert [link.rate_bps for link in network.links()] == [400 * 10**9] * 2 + [200 * 10**9] * 8
    assert [link.delay_ns for link in network.links()] == [0] * 2 + [1_000] * 8


@given(
    count=st.integers(1, 4),
    leaves=st.integers(1, 3),
    hosts_per_leaf=st.integers(2, 3),
    spines=st.integers(1, 3),
)
def test_there_is_a_way_over_each_plane_and_none_between_planes(
    count: int, leaves: int, hosts_per_leaf: int, spines: int
) -> None:
    network = planes(
        planes=count, leaves=leaves, hosts_per_leaf=hosts_per_leaf, spines=spines, rate="1200Gbps"
    )
    for one, other in permutations(network.host_names(), 2):
        is_near = int(one[1:]) // hosts_per_leaf == int(other[1:]) // hosts_per_leaf
        assert len(network.path(one, other)) == (4 if is_near else 6)
        assert network.shortest_paths.count(one, other) == count * (1 if is_near else spines)
        certain = network.shortest_paths.certain(one, other)
        assert len(certain) == (
            2 if count > 1 else len(network.path(one, other)) - 2 * (spines > 1 and not is_near)
        )
    of_splitters = {name for host in network.host_names() for name in network.links_of[host]}
    for link in network.links():
        if not {link.a, link.b} & of_splitters:
            size = leaves + spines
            assert len({(int(end[1:]) - len(of_splitters)) // size for end in (link.a, link.b)}) == 1


def test_splitters_are_nics_whatever_the_switches_are() -> None:
    network = planes(buffer="100KB", trim_above="10KB", switch="voq", leaves=2, hosts_per_leaf=1)
    nics = [switch for switch in network.switches() if switch.is_nic]
    assert [switch.name for switch in nics] == ["s0", "s1"]
    assert {(nic.buffer_bytes, nic.kind, nic.trim_above_bytes) for nic in nics} == {(None, "shared", None)}
    others = [switch for switch in network.switches() if not switch.is_nic]
    assert len(others) == 4 * (2 + 4)
    assert {(each.buffer_bytes, each.kind, each.trim_above_bytes) for each in others} == {
        (100_000, "voq", 10_000)
    }


def test_a_plane_may_be_one_switch() -> None:
    network = planes(leaves=1, hosts_per_leaf=8, spines=0)
    assert len(network.switch_names()) == 8 + 4
    assert network.path_shape("h0", "h7") == (
        (400 * 10**9, 0), (100 * 10**9, 1_000), (100 * 10**9, 1_000), (400 * 10**9, 0),
    )  # fmt: skip


def test_goodput_is_that_of_all_planes_and_completion_that_of_the_paths() -> None:
    """Of 1 MiB the first packet crosses links of 0.02, 0.08, 0.08 and 0.02 ns/byte.

    Others follow at 0.08 in one plane, and at 0.02 if they are sprayed.
    """
    network = planes(leaves=1, hosts_per_leaf=2, spines=0)
    assert ideal_goodput_bps(network, "h0", "h1") == pytest.approx(400e9 * 1024 / 1106)
    first_ns, rules = 4_000 + (1122 + 86) * 2 * (0.02 + 0.08), plain_rules(network)
    plain, sprayed = plain_route(network, "h0", "h1"), sprayed_route(network, "h0", "h1")
    assert ideal_transfer_ns(plain, rules, "write", 2**20) == int(first_ns + 1023 * 1106 * 0.08)
    assert sprayed is not None
    assert ideal_transfer_ns(sprayed, rules, "write", 2**20) == int(first_ns + 1023 * 1106 * 0.02)


def test_the_longest_round_trip_has_every_hop_at_its_rate() -> None:
    network = planes(delay_spread="0s")
    hops_ns = 1000 * 8 * (2 / 400 + 4 / 100)
    assert longest_round_trip_ns(network, 900, 100) == hops_ns + 8 * 1_000


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"spines": 0}, "1 with spines: 0, because only spines join leaves"),
        ({"leaves": 1, "hosts_per_leaf": 1}, "from 2 to 65536 hosts"),
        ({"leaves": 1024, "hosts_per_leaf": 1024}, "from 2 to 65536 hosts"),
        ({"planes": 3, "rate": "100Gbps"}, "whole bits per second for each of 3 planes"),
    ],
)
def test_multi_plane_impossible_ones_are_refused(keys: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        planes(**keys)
