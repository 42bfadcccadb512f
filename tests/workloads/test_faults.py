"""Faults: what each strikes, and which are impossible."""

from random import Random

import pytest
from pydantic import ValidationError

from rogue.workloads.faults import (
    Flooding,
    LinkCut,
    LinkFailures,
    Loss,
    Misrouting,
    PacketEvent,
    PauseStorm,
    SlowReceiver,
)
from rogue.workloads.topologies import TOPOLOGIES, Topology

LOT = TOPOLOGIES["parking_lot"].model_validate({"rate": "10Gbps"})
STAR = TOPOLOGIES["star"].model_validate({"hosts": 3, "rate": "10Gbps"})
TREE = TOPOLOGIES["fat_tree"].model_validate({"k": 4, "rate": "10Gbps"})
RING = TOPOLOGIES["ring"].model_validate({"rate": "10Gbps"})


def cut(target: str) -> LinkCut:
    return LinkCut.model_validate({"target": target, "at": "2s", "duration": "2s"})


@pytest.mark.parametrize(
    ("target", "ends"),
    [("h1", {"h1", "s0"}), ("h1-s0", {"h1", "s0"}), ("s0-h1", {"h1", "s0"}), ("s2-s1", {"s1", "s2"})],
)
def test_a_host_or_two_neighbours(target: str, ends: set[str]) -> None:
    link = cut(target).link(LOT)
    assert link is not None
    assert {link.a, link.b} == ends


@pytest.mark.parametrize("target", ["h9", "s0", "s0-s2", "h0-h1", "s9-h0"])
def test_links_that_are_not_there(target: str) -> None:
    assert cut(target).link(LOT) is None


@pytest.mark.parametrize("target", ["", "everything", "h1-", "h1-s0-s1"])
def test_what_is_no_link_at_all(target: str) -> None:
    with pytest.raises(ValidationError):
        cut(target)


def storm(target: str) -> PauseStorm:
    return PauseStorm.model_validate({"target": target, "at": "1ms", "duration": "1ms"})


def test_a_host_of_the_topology() -> None:
    assert storm("h2").is_there(STAR)
    assert not storm("h3").is_there(STAR)
    assert storm("h3").expected_target(STAR) == "a host of the topology, such as h2"


@pytest.mark.parametrize("target", ["s0", "h1-s0", ""])
def test_nothing_else(target: str) -> None:
    with pytest.raises(ValidationError):
        storm(target)


def test_two_seconds() -> None:
    fault = LinkCut.model_validate({"kind": "link_cut", "target": "h1", "at": "0s", "duration": "2s"})
    assert (fault.at_ns, fault.duration_ns) == (0, 2_000_000_000)


@pytest.mark.parametrize(
    "changes",
    [{"duration": "0s"}, {"at": 2}, {"until": "3s"}, {"one_way": True, "reroute_after": "1us"}],
)
def test_impossible_link_cuts_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LinkCut.model_validate({"target": "h1", "at": "2s", "duration": "2s", **changes})


def test_nothing_leads_around_the_link_of_a_host() -> None:
    fault = {"at": "1ms", "duration": "1ms", "reroute_after": "10us"}
    assert LinkCut.model_validate({"target": "s1-s2", **fault}).is_there(LOT)
    host = LinkCut.model_validate({"target": "h1", **fault})
    assert not host.is_there(LOT)
    told = host.expected_target(LOT)
    assert told == "two switches that are neighbours, such as s1-s2, for reroute_after"
    assert host.expected_target(STAR).startswith("no reroute_after")


@pytest.mark.parametrize(
    ("reroute_after", "events"),
    [
        ("10us", {"link_cut": 1_000, "rerouted": 11_000, "link_restored": 51_000, "routed_back": 61_000}),
        ("50us", {"link_cut": 1_000, "link_restored": 51_000}),
        (None, {"link_cut": 1_000, "link_restored": 51_000}),
    ],
)
def test_when_switches_know(reroute_after: str | None, events: dict[str, int]) -> None:
    keys = {"target": "s1-s2", "at": "1us", "duration": "50us"}
    fault = LinkCut.model_validate(keys | ({"reroute_after": reroute_after} if reroute_after else {}))
    assert {event: t_ns for t_ns, event in fault.changes()} == events


def failures(**keys: object) -> LinkFailures:
    return LinkFailures.model_validate({"at": "1ms", "duration": "2ms", **keys})


def cuts(fault: LinkFailures, topology: Topology, seed: int = 1) -> list[LinkCut]:
    return [each for each in fault.drawn(topology, Random(seed), ()) if isinstance(each, LinkCut)]


def test_links_that_are_drawn_fail_once_each_within_the_time() -> None:
    drawn = cuts(failures(links=5, within="100us", reroute_after="7us"), TREE)
    assert len({each.target for each in drawn}) == 5
    assert all(each.is_there(TREE) for each in drawn)
    assert all(1_000_000 <= each.at_ns <= 1_100_000 for each in drawn)
    assert len({each.at_ns for each in drawn}) > 1
    assert {(each.duration_ns, each.reroute_after_ns) for each in drawn} == {(2_000_000, 7_000)}


def test_the_same_numbers_draw_the_same_links_and_others_others() -> None:
    fault = failures(links=3)
    assert cuts(fault, TREE, 1) == cuts(fault, TREE, 1)
    assert len({tuple(each.target for each in cuts(fault, TREE, seed)) for seed in range(5)}) == 5


def test_what_is_left_is_joined_beside_other_faults() -> None:
    """One uplink of s0 is down already, so that the other one stays."""
    cut = LinkCut.model_validate({"target": "s0-s8", "at": "1ms", "duration": "1ms"}).link(TREE)
    for seed in range(200):
        drawn = failures(links=4).drawn(TREE, Random(seed), {cut})
        assert not {"s0-s8", "s0-s9"} & {each.target for each in drawn}


def test_links_that_are_down_already_are_the_last_choice() -> None:
    cut = LinkCut.model_validate({"target": "s0-s8", "at": "1ms", "duration": "1ms"}).link(TREE)
    for links, targets in ((1, ["s0-s9"]), (2, ["s0-s9", "s0-s8"])):
        drawn = failures(target="s0", links=links).drawn(TREE, Random(1), {cut})
        assert [each.target for each in drawn] == targets


def test_links_of_one_switch() -> None:
    assert all("s3" in each.target.split("-") for each in cuts(failures(target="s3", links=2), TREE))


@pytest.mark.parametrize(
    ("keys", "is_there", "told"),
    [
        ({"links": 32}, True, ""),
        ({"links": 33}, False, "at most 32 links, as there are between switches"),
        ({"links": 5, "target": "s3"}, False, "links, as there are of s3 to other switches"),
    ],
)
def test_as_many_as_there_are(keys: dict[str, object], is_there: bool, told: str) -> None:
    fault = failures(**keys)
    assert fault.is_there(TREE) == is_there
    assert told in fault.expected_target(TREE)


@pytest.mark.parametrize("keys", [{"links": 0}, {"target": "h1"}, {"target": "s0-s1"}, {"duration": "0s"}])
def test_impossible_failures_are_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        failures(**keys)


def loss(**keys: object) -> Loss:
    return Loss.model_validate({"target": "h1", **keys})


@pytest.mark.parametrize(
    ("keys", "probability"),
    [({"one_in": 4096}, 1 / 4096), ({"one_in": 0}, 0.0), ({"probability": 0.25}, 0.25)],
)
def test_how_often(keys: dict[str, object], probability: float) -> None:
    assert loss(**keys).mean_probability == probability


@pytest.mark.parametrize("one_in", [0, 2, 4096, 65536])
def test_a_filter_on_the_ip_id(one_in: int) -> None:
    assert loss(model="identification", one_in=one_in).one_in == one_in


@pytest.mark.parametrize(
    "keys",
    [
        {}, {"one_in": 8, "probability": 0.1}, {"probability": 1}, {"one_in": -1}, {"one_in": 1},
        {"one_in": 8, "model": "all"},
        {"one_in": 8, "from": "2s", "until": "2s"}, {"model": "identification", "one_in": 1000},
        {"model": "identification", "one_in": 131_072}, {"model": "identification", "probability": 0.5},
        {"model": "burst", "one_in": 8, "burst_packets": 1},
        {"model": "burst", "probability": 0.75, "burst_packets": 3},
    ],
)  # fmt: skip
def test_impossible_losses_are_refused(keys: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        loss(**keys)


def test_how_often_bursts_begin() -> None:
    """Runs of 4 packets, one packet in 5 lost: the gaps have 16 packets."""
    assert loss(model="burst", one_in=5, burst_packets=4).burst_begins_probability == pytest.approx(1 / 16)


@pytest.mark.parametrize(
    ("target", "destination", "is_there"),
    [("s0-s1", "h3", True), ("s0-s4", "h3", True), ("s0-h0", "h0", True), ("s0-s2", "h3", False),
     ("s0-s1", "h5", False), ("s0-h0", "h1", False)],
)  # fmt: skip
def test_a_switch_and_its_neighbour(target: str, destination: str, is_there: bool) -> None:
    fault = Misrouting.model_validate({"kind": "misrouting", "target": target, "destination": destination})
    assert fault.is_there(RING) == is_there
    assert fault.expected_target(RING).startswith("a switch and the neighbour")


@pytest.mark.parametrize(
    ("target", "destination", "is_there"), [("s4", "h3", True), ("s5", "h3", False), ("s0", "h5", False)]
)
def test_a_switch_that_floods(target: str, destination: str, is_there: bool) -> None:
    fault = Flooding.model_validate({"kind": "flooding", "target": target, "destination": destination})
    assert fault.is_there(RING) == is_there
    assert fault.expected_target(RING).startswith("a switch, such as s0")


@pytest.mark.parametrize("keys", [{"target": "h0", "destination": "h1"}, {"target": "s0"}, {}])
def test_impossible_forwardings_are_refused(keys: dict[str, object]) -> None:
    for fault in (Misrouting, Flooding):
        with pytest.raises(ValidationError):
            fault.model_validate(keys)


def test_with_a_watchdog() -> None:
    fault = PauseStorm.model_validate(
        {"kind": "pause_storm", "target": "h1", "at": "2ms", "duration": "1s", "nic_watchdog": "100ms"}
    )
    assert (fault.at_ns, fault.duration_ns, fault.nic_watchdog_ns) == (2 * 10**6, 10**9, 10**8)


@pytest.mark.parametrize("changes", [{"duration": "0s"}, {"nic_watchdog": "0s"}, {"rate": "1Gbps"}])
def test_impossible_pause_storms_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PauseStorm.model_validate({"target": "h1", "at": "2s", "duration": "2s", **changes})


def test_from_the_beginning_to_the_end() -> None:
    fault = SlowReceiver.model_validate({"kind": "slow_receiver", "target": "h1", "rate": "2Gbps"})
    assert (fault.rate_bps, fault.at_ns, fault.duration_ns) == (2 * 10**9, 0, None)
    assert (fault.buffer_bytes, fault.xoff_bytes, fault.xon_bytes) == (256_000, 128_000, 64_000)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"xon": "200KB"}, "less than xoff, 128000 bytes"),
        ({"xoff": "256KB"}, "less than buffer, 256000 bytes"),
        ({"rate": "0bps"}, "rate"),
        ({"duration": "0s"}, "time"),
    ],
)
def test_impossible_slow_receivers_are_refused(changes: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        SlowReceiver.model_validate({"target": "h1", "rate": "2Gbps", **changes})


def event(**keys: object) -> PacketEvent:
    return PacketEvent.model_validate({"flow": "main/h0->h1", "psn": 4, "do": "drop", **keys})


@pytest.mark.parametrize(
    ("keys", "delay_ns", "packets", "place"),
    [
        ({}, 0, 0, "drop: data 4, transmission 1"),
        ({"do": "delay", "amount": "20us", "packet": "ack"}, 20_000, 0, "delay 20us: ack 4, transmission 1"),
        ({"do": "duplicate"}, 0, 1, "duplicate: data 4, transmission 1"),
        ({"do": "reorder", "amount": 3}, 0, 3, "reorder 3: data 4, transmission 1"),
        (
            {"packet": "cnp", "psn": None, "do": "mark", "transmission": 2},
            0,
            0,
            "mark: cnp, transmission 2",
        ),
    ],
)
def test_what_happens_to_a_packet(keys: dict[str, object], delay_ns: int, packets: int, place: str) -> None:
    fault = event(**keys)
    assert (fault.delay_ns, fault.packets, fault.place) == (delay_ns, packets, place)


@pytest.mark.parametrize(
    ("keys", "key", "told"),
    [
        ({"psn": None}, "psn", "expected a psn, as packet is data; write its number, from 0"),
        ({"packet": "cnp"}, "psn", "expected no psn with packet cnp, only with data, read_request, ack, nak"),
        ({"do": "delay"}, "amount", "expected a time above 0 and up to 10s with delay, such as 20us"),
        ({"do": "delay", "amount": 20}, "amount", "expected a time above 0"),
        ({"do": "delay", "amount": "0s"}, "amount", "expected a time above 0"),
        ({"do": "duplicate", "amount": "2us"}, "amount", "expected a number of copies from 1 to 1000"),
        ({"do": "reorder", "amount": 0}, "amount", "expected a number of packets that overtake from 1"),
        ({"do": "drop", "amount": 1}, "amount", "expected no amount with drop; leave it out"),
    ],
)
def test_packet_events_that_contradict_themselves(keys: dict[str, object], key: str, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        event(**keys)
    (error,) = caught.value.errors()
    assert error["loc"] == (key,)
    assert error["msg"].startswith(told)
