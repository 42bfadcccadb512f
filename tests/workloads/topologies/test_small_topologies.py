"""Tests: small networks, those of single papers, and one from a file."""

import pytest
from helpers.experiments import NETWORK as NETWORK_FILE
from helpers.experiments import link_list
from pydantic import ValidationError

from rogue.workloads.ideal import ideal_goodput_bps
from rogue.workloads.topologies.clos import TwoTier
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.link_file import Links
from rogue.workloads.topologies.paper_networks import (
    AsymmetricFanIn,
    MultiBottleneck,
    PaperTestbed,
    ParkingLot,
)
from rogue.workloads.topologies.small_networks import Dumbbell, Ring, Star
from rogue.workloads.topologies.topology import Switch


def star(**changes: object) -> Star:
    return Star.model_validate({"hosts": 3, "rate": "10Gbps", "delay": "1us", **changes})


def test_three_hosts() -> None:
    assert star().links() == tuple(Link(f"h{index}", "s0", 10_000_000_000, 1_000) for index in range(3))
    assert star().path("h0", "h2") == (star().links()[0], star().links()[2])


def test_buffer_defaults_to_nine_megabytes() -> None:
    assert star().switches() == (Switch("s0", 9_000_000, 1.0, "shared"),)
    assert star(buffer="unbounded").switches() == (Switch("s0", None, 1.0, "shared"),)
    assert star(buffer="240KB", switch="voq").switches() == (Switch("s0", 240_000, 1.0, "voq"),)


@pytest.mark.parametrize(
    "changes",
    [
        {"hosts": 1}, {"hosts": 10**11}, {"hosts": "3"}, {"hosts": True}, {"hosts": 3.0}, {"mtu": 1500},
        {"alpha": 0}, {"alpha": float("inf")}, {"framing": "tcp"}, {"nic": "cx5"}, {"buffer": "0B"},
    ],
)  # fmt: skip
def test_impossible_stars_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        star(**changes)


DUMBBELL = Dumbbell.model_validate({"hosts_per_side": 3, "rate": "10Gbps", "bottleneck_rate": "4Gbps"})


def test_left_to_right_crosses_the_bottleneck() -> None:
    assert [link.rate_bps for link in DUMBBELL.path("h0", "h5")] == [10**10, 4 * 10**9, 10**10]
    assert len(DUMBBELL.path("h0", "h2")) == 2


def test_senders_on_the_left_first() -> None:
    placement = DUMBBELL.placement(has_probe=True)
    assert placement.senders[:3] == ("h0", "h1", "h2")
    assert (placement.receiver, DUMBBELL.probe_host()) == ("h5", "h4")


LOT = ParkingLot.model_validate({"rate": "10Gbps"})


def ports(source: str, destination: str) -> list[set[str]]:
    return [{link.a, link.b} for link in LOT.path(source, destination)]


def test_three_two_and_one_congested_links() -> None:
    assert ports("h0", "h5") == [{"h0", "s0"}, {"s0", "s1"}, {"s1", "s2"}, {"s2", "h5"}]
    assert ports("h1", "h5")[1:] == ports("h0", "h5")[1:]
    assert ports("h2", "h5") == [{"h2", "s1"}, {"s1", "s2"}, {"s2", "h5"}]
    assert ports("h3", "h5") == [{"h3", "s2"}, {"s2", "h5"}]


def test_four_senders_to_one_receiver_with_the_prober_beside_it() -> None:
    placement = LOT.placement(has_probe=True)
    assert (placement.senders, placement.receiver) == (("h0", "h1", "h2", "h3"), "h5")
    assert ports(LOT.probe_host(), "h5") == [{"h4", "s2"}, {"s2", "h5"}]


def test_all_links_are_equally_fast() -> None:
    assert {link.rate_bps for link in LOT.links()} == {10_000_000_000}


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


def test_the_published_one() -> None:
    """Each rack: 24 hosts of 40 Gb/s, four uplinks of 40 Gb/s."""
    network = TwoTier.model_validate({})
    assert (len(network.host_names()), len(network.switch_names()), len(network.links())) == (48, 6, 48 + 8)
    uplinks = [link for link in network.links() if link.a == "s0"]
    assert [link.b for link in uplinks] == ["s2", "s3", "s4", "s5"]
    hosts_bps = sum(link.rate_bps for link in network.links() if link.b == "s0")
    assert hosts_bps / sum(link.rate_bps for link in uplinks) == 6


def test_four_paths_of_four_links_between_racks() -> None:
    network = TwoTier.model_validate({})
    assert len(network.path("h0", "h24")) == 4
    assert network.shortest_paths.count("h0", "h24") == 4
    assert network.shortest_paths.count("h0", "h23") == 1


def test_uplinks_may_be_faster() -> None:
    network = TwoTier.model_validate({"racks": 3, "leaves": 6, "uplink_rate": "100Gbps"})
    assert {link.rate_bps for link in network.links() if link.a in ("s0", "s1", "s2")} == {10**11}


TESTBED = PaperTestbed.model_validate({})


def test_four_to_one_oversubscription() -> None:
    rates = {(link.a, link.b): link.rate_bps for link in TESTBED.links()}
    for rack in ("s0", "s1"):
        hosts_bps = sum(rate for ends, rate in rates.items() if ends[1] == rack)
        assert (hosts_bps, rates[rack, "s2"]) == (160_000_000_000, 40_000_000_000)


def test_an_incast_stays_in_one_rack_as_long_as_it_fits() -> None:
    placement = TESTBED.placement(has_probe=True)
    assert placement.receiver == "h15"
    assert all(len(TESTBED.path(sender, "h15")) == 2 for sender in placement.senders[:14])
    assert len(TESTBED.path(placement.senders[14], "h15")) == 4


def test_without_a_probe_the_first_sixteen_are_one_rack() -> None:
    placement = TESTBED.placement(has_probe=False)
    assert placement.hosts[:16] == tuple(f"h{index}" for index in range(16))
    assert placement.receiver == "h15"


NETWORK = MultiBottleneck.model_validate({})


def test_eleven_hosts_two_switches_twelve_links() -> None:
    assert (len(NETWORK.host_names()), len(NETWORK.switch_names()), len(NETWORK.links())) == (11, 2, 12)


def test_the_pairs_cross_the_link_and_the_sixth_does_not() -> None:
    assert [link.rate_bps for link in NETWORK.path("h0", "h5")] == [10**10, 4 * 10**10, 10**10]
    assert [(link.a, link.b) for link in NETWORK.path("h10", "h5")] == [("h10", "s1"), ("h5", "s1")]


ASYMMETRIC_FAN_IN_NETWORK = AsymmetricFanIn.model_validate({})


def test_nine_hosts_three_switches_eleven_links() -> None:
    assert (
        len(ASYMMETRIC_FAN_IN_NETWORK.host_names()),
        len(ASYMMETRIC_FAN_IN_NETWORK.switch_names()),
        len(ASYMMETRIC_FAN_IN_NETWORK.links()),
    ) == (9, 3, 11)


def test_the_sources_are_the_senders() -> None:
    placement = ASYMMETRIC_FAN_IN_NETWORK.placement(has_probe=True)
    assert (placement.receiver, ASYMMETRIC_FAN_IN_NETWORK.probe_host()) == ("h8", "h7")
    rates = [ASYMMETRIC_FAN_IN_NETWORK.host_rate_bps(host) // 10**9 for host in placement.senders]
    assert rates == [40] * 5 + [100] * 2


def test_everyone_meets_at_the_receiver() -> None:
    assert [link.rate_bps // 10**9 for link in ASYMMETRIC_FAN_IN_NETWORK.path("h0", "h8")] == [40, 100, 100]
    assert [link.rate_bps // 10**9 for link in ASYMMETRIC_FAN_IN_NETWORK.path("h6", "h8")] == [100, 100, 100]


NET = Links.model_validate({"kind": "links", "file": link_list(NETWORK_FILE.read_text()), "delay": "2us"})


def test_hosts_switches_and_links_are_those_of_the_file() -> None:
    assert NET.host_names() == ("h0", "h1", "h2", "h3")
    assert NET.switch_names() == ("s0", "s1")
    assert [link.delay_ns for link in NET.path("h0", "h3")] == [2000, 5000, 2000]
    assert NET.host_rate_bps("h3") == 2 * 10**9
    assert NET.described() == "links: 4 hosts, 2 switches, 5 links at 1Gbps and 2Gbps and 4Gbps"


def test_the_slowest_link_of_a_path_is_its_yardstick() -> None:
    """1 Gb/s times 1024 of 1024 + 62 + 20 bytes, whatever h3's own rate is."""
    assert ideal_goodput_bps(NET, "h3", "h0") == pytest.approx(10**9 * 1024 / 1106)


def test_numbers_may_have_gaps() -> None:
    found = link_list("links: [{link: h7-s3, rate: 1Gbps}, {link: h10-s3, rate: 1Gbps}]")
    net = Links.model_validate({"kind": "links", "file": found})
    assert net.host_names() == ("h7", "h10")
    assert net.placement(has_probe=False).receiver == "h10"


def test_a_link_without_a_delay_has_the_topologys() -> None:
    found = link_list("links: [{link: h0-s0, rate: 1Gbps}, {link: s0-h1, rate: 2Gbps, delay: 0s}]")
    assert found.with_delay(700) == (Link("h0", "s0", 10**9, 700), Link("s0", "h1", 2 * 10**9, 0))
