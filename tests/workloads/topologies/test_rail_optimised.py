"""A leaf for each rail, with and without spines."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rogue.workloads.topologies.rail_optimised import RailOptimised
from rogue.workloads.topologies.shortest_paths import NoPathError


def rails(**keys: object) -> RailOptimised:
    return RailOptimised.model_validate({"rate": "400Gbps", **keys})


def leaf_of(network: RailOptimised, host: str) -> str:
    [leaf] = network.links_of[host]
    return leaf


def test_a_segment_of_hpn_with_one_leaf_per_rail() -> None:
    """The 1024 GPUs of a segment stand in 128 servers with 8 NICs."""
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
        ({"pods": 2, "spines": 0}, "1 with spines: 0, for nothing else joins pods"),
        ({"spines": 0, "uplink_rate": "1Gbps"}, "none with spines: 0, where leaves have no links up"),
        ({"pods": 1024, "servers_per_pod": 1024}, "at most 65536 hosts"),
    ],
)
def test_impossible_ones_are_refused(keys: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        rails(**keys)
