"""Tests: ideal goodput and completion times, and packet overheads."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rogue.workloads.framing import NS3, ROCEV2, Framing, Packets
from rogue.workloads.ideal import (
    Fan,
    Route,
    ideal_goodput_bps,
    ideal_transfer_ns,
    least_sending_ps,
    longest_round_trip_ns,
    plain_route,
    plain_rules,
)
from rogue.workloads.packet_train import (
    Exchange,
    Links,
    PacketRules,
    Train,
    last_end_ps,
    sending_ps,
    train_of,
)
from rogue.workloads.topologies import TOPOLOGIES, Topology
from rogue.workloads.traffic import Verb

RATES_BPS = st.sampled_from((10**9, 9_999_999_999, 10**10, 4 * 10**10, 10**11))
RULES = st.builds(
    PacketRules,
    st.just(Packets(ROCEV2, 1024)),
    verb_bytes=st.none() | st.integers(1, 5_000),
    acknowledged_every=st.none() | st.integers(1, 5),
    acknowledges_first=st.booleans(),
    acknowledges_verbs=st.booleans(),
    batch_verbs=st.none() | st.integers(1, 3),
    immediate_bytes=st.sampled_from((0, 4)),
)
VERBS: st.SearchStrategy[Verb] = st.sampled_from(("write", "send", "read"))


def star(**changes: object) -> Topology:
    keys: dict[str, object] = {"hosts": 3, "rate": "10Gbps", "delay": "1us", **changes}
    return TOPOLOGIES["star"].model_validate(keys)


def ideal_ns(verb: Verb, size_bytes: int, **rules: object) -> int:
    """Over the star, whose two links have 0.8 ns per byte and 1 us of delay."""
    own = PacketRules(Packets(ROCEV2, 1024), **rules)  # type: ignore[arg-type]
    return ideal_transfer_ns(plain_route(star(), "h0", "h1"), own, verb, size_bytes)


def test_goodput_of_ten_gigabit() -> None:
    assert ideal_goodput_bps(star(), "h0", "h1") == pytest.approx(9.2586e9, rel=1e-4)


@pytest.mark.parametrize(
    ("verb", "size_bytes", "wire_bytes"),
    [
        ("write", 0, 2 * (62 + 16 + 20) + 2 * 86),
        ("write", 1024, 2 * (1106 + 16) + 2 * 86),
        ("send", 1024, 2 * 1106 + 2 * 86),
        ("read", 1024, 2 * 98 + 2 * (1106 + 4)),  # the request has a RETH, the response an AETH
        ("read", 2048, 2 * 98 + 3 * 1110),  # first and last response have one; the last waits for the first
        ("write", 2**20, 1024 * 1106 + 16 + 1122 + 2 * 86),
        ("write", 1025, 2 * 1122 + 83 + 2 * 86),  # a short last packet waits for a full one at every link
    ],
)
def test_bytes_in_the_critical_path_by_hand(verb: Verb, size_bytes: int, wire_bytes: int) -> None:
    assert ideal_ns(verb, size_bytes) == 4_000 + int(wire_bytes * 0.8)


def test_every_verb_of_a_transfer_has_a_header() -> None:
    """Three verbs of 1024 bytes, the first again over the second link."""
    assert ideal_ns("write", 3072, verb_bytes=1024) == 4_000 + int((4 * 1122 + 2 * 86) * 0.8)


def test_an_acknowledgement_waits_for_the_one_before() -> None:
    """The last packet has 83 bytes on the wire, fewer than each of the two acknowledgements."""
    alone, behind = ideal_ns("send", 1025), ideal_ns("send", 1025, acknowledged_every=1)
    assert (alone, behind) == (4_000 + int(2467 * 0.8), 4_000 + int(2470 * 0.8))
    assert 2467 == 2 * 1106 + 83 + 2 * 86


def test_every_link_of_a_path_counts() -> None:
    """A packet of 1122 bytes and its ACK over 0.8 and 8 ns/byte; 1023 more at the slower; 6 us of delay."""
    route = Route(Links((10**10, 10**9), (10**9, 10**10)), 6_000_000)
    wire_ns = (1122 + 86) * (0.8 + 8) + 1023 * 1106 * 8
    assert ideal_transfer_ns(route, plain_rules(star()), "write", 2**20) == 6_000 + int(wire_ns)


def test_an_unreliable_transfer_is_complete_when_it_has_left() -> None:
    assert ideal_ns("send", 2048, has_acknowledgements=False) == int(2 * 1106 * 0.8)


def one_by_one(train: Train) -> Iterator[Exchange]:
    for count, part in train:
        for _ in range(count):
            yield from (part,) if isinstance(part, Exchange) else one_by_one(part)


def arrived_ps(links: Links, train: Train) -> int:
    """The same packet by packet and link by link."""
    ends_ps = [0] * (len(links.out_bps) + len(links.back_bps))
    for exchange in one_by_one(train):
        durations_ps = [sending_ps(exchange.out_bytes, rate) for rate in links.out_bps]
        durations_ps += [sending_ps(exchange.back_bytes, rate) for rate in links.back_bps]
        at_ps = 0
        for link, duration_ps in enumerate(durations_ps):
            at_ps = ends_ps[link] = max(at_ps, ends_ps[link]) + duration_ps
    return ends_ps[-1]


@given(
    st.builds(Links, st.lists(RATES_BPS, min_size=1, max_size=4).map(tuple),
              st.lists(RATES_BPS, min_size=1, max_size=4).map(tuple)),
    RULES, VERBS, st.integers(0, 100_000),
)  # fmt: skip
def test_runs_and_repetitions_are_those_of_single_packets(
    links: Links, rules: PacketRules, verb: Verb, size_bytes: int
) -> None:
    train = train_of(rules, verb, size_bytes)
    assert last_end_ps(links, train) == arrived_ps(links, train)


@given(st.lists(RATES_BPS, min_size=2, max_size=5).map(tuple), RULES, VERBS, st.integers(0, 100_000))
def test_sprayed_packets_are_never_slower_than_those_of_one_path(
    rates_bps: tuple[int, ...], rules: PacketRules, verb: Verb, size_bytes: int
) -> None:
    one_path_ps = last_end_ps(Links(rates_bps, rates_bps[::-1]), train_of(rules, verb, size_bytes))
    assert least_sending_ps(Fan(rates_bps, rates_bps), rules, verb, size_bytes) <= one_path_ps


@given(st.integers(0, 10**9))
def test_never_faster_than_the_payload_rate(size_bytes: int) -> None:
    seconds = ideal_ns("write", size_bytes) / 1e9
    assert size_bytes * 8 / seconds < ideal_goodput_bps(star(), "h0", "h1")


@given(st.integers(0, 10**7), st.integers(1, 10**6))
def test_more_bytes_take_longer(size_bytes: int, more_bytes: int) -> None:
    assert ideal_ns("write", size_bytes + more_bytes) >= ideal_ns("write", size_bytes)


def test_the_longest_round_trip_of_a_fat_tree() -> None:
    """Six links of 2 us each way, on which 1106 and 86 bytes take 238.4 ns at 40 Gb/s; 5 ns of cable each."""
    keys = {"k": 4, "rate": "40Gbps", "delay": "2us"}
    tree = TOPOLOGIES["fat_tree"].model_validate(keys)
    assert longest_round_trip_ns(tree, 1106, 86) == 24_060 + 1_431
    assert longest_round_trip_ns(star(delay_spread="0ns"), 1106, 86) == 4_000 + 1_908


@pytest.mark.parametrize(
    ("framing", "mtu_bytes", "fraction"),
    [
        (ROCEV2, 256, 0.7574),
        (ROCEV2, 512, 0.8620),
        (ROCEV2, 1024, 0.9259),
        (ROCEV2, 2048, 0.9615),
        (ROCEV2, 4096, 0.9804),
        (NS3, 1000, 0.9709),
    ],
)
def test_payload_fraction_worked_examples(framing: Framing, mtu_bytes: int, fraction: float) -> None:
    assert float(framing.payload_fraction(mtu_bytes)) == pytest.approx(fraction, abs=5e-5)


def test_an_empty_write_and_its_acknowledgement() -> None:
    assert ROCEV2.header_bytes + ROCEV2.remote_address_bytes == 78
    assert (ROCEV2.acknowledgement_bytes, ROCEV2.gap_bytes) == (66, 20)
