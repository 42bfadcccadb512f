"""Links that go down while packets are sent over them: what switches know of that, and when."""

from dataclasses import dataclass
from typing import Any

import pytest
from helpers.networks import (
    MILLISECOND_NS,
    Host,
    ReferenceSimulation,
    assert_equal_runs,
    connect,
    counter,
    network,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from rogue.simulator import (
    NicControl,
    PriorityFlowControl,
    Reliability,
    Simulation,
    SimulationError,
    Spraying,
    Trimming,
)

CUT_NS = 100_000
AFTER_NS = 50_000
RETRIES_EXCEEDED = 12
LONG_NS = 10 * MILLISECOND_NS
SPINES = ("s0", "s1")
DOWNLINKS = tuple((f"h{number}", f"l{number // 2}") for number in range(6))
LINKS = tuple((leaf, spine) for leaf in ("l0", "l1", "l2") for spine in SPINES)
UET = {"reliability": Reliability("uet"), "spraying": Spraying(paths=16)}


def leaf_spine(
    simulation_type: type[Simulation] = Simulation,
    seed: int = 1,
    switch: dict[str, Any] | None = None,
    delay_ps: int = 1_000_000,
    without: frozenset[tuple[str, str]] = frozenset(),
) -> Simulation:
    """Three leaves with two hosts each under two spines; a frame of 1024 bytes takes about 1 us on a link."""
    switch = {"buffer_bytes": 1_000_000} | (switch or {})
    links = [*DOWNLINKS, *(link for link in LINKS if link not in without)]
    return network(links, simulation_type, switch=switch, settings={"seed": seed}, delay_ps=delay_ps)


def spine_of(simulation: Simulation, source: str, destination: str, entropy: int = 0) -> str:
    """Return the spine that packets take now."""
    topology = simulation._topology
    ends = topology.node("", source), topology.node("", destination)
    second = simulation._engine.find_route(*ends, entropy)[1]
    return topology.link_name(second).partition("->")[2]


def spine_at_first(source: str = "h0", destination: str = "h2") -> str:
    simulation = leaf_spine()
    connect(simulation, source, destination)
    return spine_of(simulation, source, destination)


def cut_uplink(simulation: Simulation, *, after_ns: int | None = AFTER_NS, lasts_ns: int = LONG_NS) -> str:
    """Cut the uplink that packets from h0 to h2 take; return its spine."""
    spine = spine_at_first()
    simulation.cut_link("l0", spine, start_ns=CUT_NS, duration_ns=lasts_ns, reroute_after_ns=after_ns)
    return spine


def lost_on(simulation: Simulation, port: str) -> int:
    return counter(simulation, "lost_packets", port)


def test_a_flow_goes_around_what_is_down_from_the_stated_time_on() -> None:
    """Datagrams each 5 us: those from 100 us on are lost, those from 150 us on are not."""
    simulation = leaf_spine()
    ends = [simulation.datagram_queue_pair(host) for host in ("h0", "h2")]
    arrived: list[int] = []
    ends[1].attach(lambda _now, received: arrived.extend(int.from_bytes(text) for *_, text in received))
    spine = spine_of(simulation, "h0", "h2", ends[0].qp_num)
    simulation.cut_link("l0", spine, start_ns=CUT_NS, duration_ns=LONG_NS, reroute_after_ns=AFTER_NS)
    for number in range(40):
        text = number.to_bytes(2)
        simulation.schedule(
            5_000 * number + 2_500, lambda _now, text=text: ends[0].post_send(1, ends[1], text)
        )
    simulation.run_until(MILLISECOND_NS)
    assert arrived == [*range(20), *range(30, 40)]
    assert lost_on(simulation, f"l0->{spine}") == 10


@pytest.mark.parametrize("is_sprayed", [False, True])
def test_a_transfer_loses_what_is_sent_into_the_gap_and_ends(is_sprayed: bool) -> None:
    simulation = leaf_spine()
    more = UET if is_sprayed else {"reliability": Reliability("irn")}
    sender = connect(simulation, "h0", "h2", **more)
    sender.post_write(1, 2_000_000, True)
    spine = cut_uplink(simulation)
    simulation.run_until(CUT_NS + AFTER_NS + 20_000)
    lost = lost_on(simulation, f"l0->{spine}")
    assert lost > 0
    simulation.run_until(20 * MILLISECOND_NS)
    assert lost_on(simulation, f"l0->{spine}") == lost
    assert simulation.statistics()["verbs_done"] == 1
    simulation.check_invariants()


def test_without_rerouting_a_flow_of_one_path_is_lost() -> None:
    simulation = leaf_spine()
    sender = connect(simulation, "h0", "h2", retry_count=2, timeout_exponent=5)
    host = Host(sender)
    sender.post_write(1, 2_000_000, True)
    cut_uplink(simulation, after_ns=None)
    simulation.run_until(9 * MILLISECOND_NS)
    assert host.statuses == [(1, RETRIES_EXCEEDED)]


def test_a_link_is_used_again_after_the_stated_delay() -> None:
    simulation = leaf_spine()
    connect(simulation, "h0", "h2")
    spine = cut_uplink(simulation, lasts_ns=300_000)
    other = next(each for each in SPINES if each != spine)
    seen = []
    for at_ns in (149_000, 151_000, 449_000, 451_000):
        simulation.run_until(at_ns)
        seen.append(spine_of(simulation, "h0", "h2"))
    assert seen == [spine, other, other, spine]


def test_an_outage_that_is_over_before_is_never_noticed() -> None:
    simulation = leaf_spine()
    connect(simulation, "h0", "h2")
    spine = cut_uplink(simulation, lasts_ns=AFTER_NS)
    simulation.run_until(CUT_NS + AFTER_NS + 1)
    assert spine_of(simulation, "h0", "h2") == spine


def test_who_has_no_way_left_sends_as_before() -> None:
    """Both uplinks of l0 are down: packets are lost there, and once one is back they pass at once."""
    simulation = leaf_spine()
    sender = connect(simulation, "h0", "h2", timeout_exponent=5)
    sender.post_write(1, 1_000_000, True)
    spine = spine_at_first()
    for each in SPINES:
        lasts_ns = 300_000 if each == spine else LONG_NS
        simulation.cut_link("l0", each, start_ns=CUT_NS, duration_ns=lasts_ns, reroute_after_ns=AFTER_NS)
    simulation.run_until(390_000)
    assert simulation.statistics()["verbs_done"] == 0
    simulation.run_until(20 * MILLISECOND_NS)
    assert simulation.statistics()["verbs_done"] == 1


def test_packets_under_way_to_a_spine_without_a_downlink_turn_back() -> None:
    """Sprayed packets: the spine sends up again what it cannot send down, over another leaf."""
    simulation = leaf_spine(delay_ps=10_000_000)
    sender = connect(simulation, "h0", "h2", **UET)
    sender.post_write(1, 2_000_000, True)
    simulation.cut_link("l1", "s0", start_ns=CUT_NS, duration_ns=LONG_NS, reroute_after_ns=1_000)
    simulation.run_until(20 * MILLISECOND_NS)
    assert counter(simulation, "tx_bytes", "s0->l2") > 0
    assert simulation.statistics()["verbs_done"] == 1


@settings(max_examples=40, deadline=None)
@given(st.frozensets(st.sampled_from(LINKS), max_size=4), st.integers(0, 2**32), st.integers(0, 2**62))
def test_ways_are_those_of_the_network_without_the_links_that_are_down(
    left_out: frozenset[tuple[str, str]], seed: int, entropy: int
) -> None:
    for simulation_type in (Simulation, ReferenceSimulation):
        simulation = leaf_spine(simulation_type, seed)
        connect(simulation, "h0", "h2")
        for link in left_out:
            simulation.cut_link(*link, start_ns=0, duration_ns=LONG_NS, reroute_after_ns=1)
        simulation.run_until(2)
        fresh = leaf_spine(simulation_type, seed, without=left_out)
        for ends in (("h0", "h2"), ("h3", "h5"), ("h4", "h1")):
            found, expected = named_way(simulation, ends, entropy), named_way(fresh, ends, entropy)
            if not expected:  # the first switch sends as before, the next one may know better
                whole = leaf_spine(simulation_type, seed)
                found, expected = found[:2], named_way(whole, ends, entropy)[:2]
            assert found == expected


def named_way(simulation: Simulation, ends: tuple[str, str], entropy: int) -> list[str]:
    topology = simulation._topology
    numbers = [topology.node("", end) for end in ends]
    return [topology.link_name(link) for link in simulation._engine.find_route(*numbers, entropy)]


@dataclass(frozen=True)
class Outage:
    link: tuple[str, str]
    start_ns: int
    duration_ns: int
    after_ns: int | None


TRANSPORTS: tuple[dict[str, Any], ...] = (
    {},
    {"reliability": Reliability("irn")},
    {"reliability": Reliability("irn"), "spraying": Spraying(paths=8)},
    {"spraying": Spraying(paths=2)},
    UET,
    {"reliability": Reliability("uet-rccc"), "spraying": Spraying(paths=8)},
    {"service": "uc"},
    {"control": NicControl("dcqcn")},
)
SWITCHES: tuple[dict[str, Any], ...] = (
    {},
    {"buffer_bytes": 20_000},
    {"flow_control": PriorityFlowControl(priorities=(0,), xoff_bytes=8_000)},
    {"trimming": Trimming(above_bytes=10_000)},
)
OUTAGES = st.lists(
    st.builds(
        Outage,
        st.sampled_from(LINKS),
        st.integers(0, 120_000),
        st.integers(1, 150_000),
        st.none() | st.integers(0, 60_000),
    ),
    min_size=1,
    max_size=4,
)
FLOWS = st.lists(
    st.tuples(st.permutations(range(6)), st.sampled_from(TRANSPORTS), st.integers(0, 2**32)),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SWITCHES), OUTAGES, FLOWS, st.integers(0, 2**32))
def test_both_engines_reroute_alike(
    switch: dict[str, Any],
    outages: list[Outage],
    flows: list[tuple[list[int], dict[str, Any], int]],
    seed: int,
) -> None:
    def build(simulation_type: type[Simulation]) -> Simulation:
        simulation = leaf_spine(simulation_type, seed, switch)
        for (source, destination, *_), transport, path_seed in flows:
            sender = connect(
                simulation,
                f"h{source}",
                f"h{destination}",
                path_seed=path_seed,
                timeout_exponent=4,
                retry_count=2,
                **transport,
            )
            sender.post_write(1, 150_000, True)
        ends = [simulation.datagram_queue_pair(host) for host in ("h0", "h5")]
        for at_ns in range(5_000, 200_000, 13_000):
            simulation.schedule(at_ns, lambda _now: ends[0].post_send(1, ends[1], b"x"))
        for outage in outages:
            simulation.cut_link(
                *outage.link,
                start_ns=outage.start_ns,
                duration_ns=outage.duration_ns,
                reroute_after_ns=outage.after_ns,
            )
        return simulation

    assert_equal_runs(build, 600_000)


@pytest.mark.parametrize("name", ["hpcc", "rocc"])
@pytest.mark.parametrize("is_cut_first", [False, True])
def test_controls_that_need_their_way_are_refused(name: str, is_cut_first: bool) -> None:
    simulation = leaf_spine()
    steps = [
        lambda: connect(simulation, "h0", "h2", control=NicControl(name)),
        lambda: cut_uplink(simulation),
    ]
    first, second = reversed(steps) if is_cut_first else steps
    with pytest.raises(SimulationError, match=f"expected no reroute_after_ns beside {name}"):
        (first(), second())


def test_rules_of_switches_are_refused() -> None:
    simulation = leaf_spine()
    simulation.forward("l0", "h2", "s0")
    with pytest.raises(SimulationError, match="expected no rule"):
        cut_uplink(simulation)
    simulation = leaf_spine()
    cut_uplink(simulation)
    with pytest.raises(SimulationError, match="expected no reroute_after_ns beside rules"):
        simulation.forward("l0", "h2", "s0")
