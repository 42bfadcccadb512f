"""Priorities that share a port by weights, and switches that trim packets to their headers."""

from collections.abc import Mapping
from typing import Any

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, counter

from rogue.simulator import (
    IDEAL,
    Marking,
    PriorityFlowControl,
    QueuePair,
    Reliability,
    Simulation,
    SimulationError,
    Trimming,
)
from rogue.simulator.framing import UEC


def star(weights: Mapping[int, int] | None, flow_control: PriorityFlowControl | None = None) -> Simulation:
    simulation = Simulation(seed=1)
    simulation.add_switch("s0", buffer_bytes=10**8, alpha=8.0, weights=weights, flow_control=flow_control)
    for i in range(5):
        simulation.add_host(f"h{i}", IDEAL)
        simulation.add_link(f"h{i}", "s0", rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS)
    return simulation


def senders(simulation: Simulation, sizes: Mapping[int, int]) -> dict[int, QueuePair]:
    """One host per priority sends packets of a size to h4."""
    ends = {}
    for host, (priority, mtu_bytes) in enumerate(sizes.items()):
        ends[priority], _ = simulation.connect(
            f"h{host}",
            "h4",
            mtu_bytes=mtu_bytes,
            retry_count=7,
            timeout_exponent=20,
            priority=priority,
        )
        ends[priority].post_write(1, 10**8, True)
    return ends


@pytest.mark.parametrize("sizes", [{0: 1024, 3: 1024}, {0: 1024, 3: 256}, {0: 256, 3: 4096}])
def test_shares_are_those_of_the_weights(sizes: dict[int, int]) -> None:
    """In bytes of frames, whatever the size of a frame."""
    simulation = star({0: 1, 3: 3})
    ends = senders(simulation, sizes)
    simulation.run_until(10 * MILLISECOND_NS)
    simulation.check_invariants()
    frames = {p: ends[p].delivered_bytes * (size + 62) / size for p, size in sizes.items()}
    assert frames[3] / frames[0] == pytest.approx(3, rel=0.02)


def test_priorities_without_a_weight_go_first() -> None:
    simulation = star({0: 1, 3: 3})
    ends = senders(simulation, {0: 1024, 3: 1024, 1: 1024})
    simulation.run_until(10 * MILLISECOND_NS)
    assert ends[1].delivered_bytes > 0.99 * 10e-3 * 10e9 / 8 * 1024 / 1106
    assert ends[3].delivered_bytes < 100_000


def test_a_paused_priority_keeps_nobody_waiting() -> None:
    simulation = star({0: 1, 3: 1}, PriorityFlowControl(priorities=(3,), xoff_bytes=20_000))
    ends = senders(simulation, {0: 1024, 3: 1024})
    simulation.run_until(10 * MILLISECOND_NS)
    simulation.check_invariants()
    assert ends[0].delivered_bytes == pytest.approx(ends[3].delivered_bytes, rel=0.05)


def test_marking_by_priority() -> None:
    simulation = Simulation(seed=1)
    everything = Marking(kmin_bytes=0, kmax_bytes=0, pmax=1)
    simulation.add_switch("s0", buffer_bytes=None, alpha=1.0, marking={3: everything}, weights={0: 1, 3: 1})
    for i in range(5):
        simulation.add_host(f"h{i}", IDEAL)
        simulation.add_link(f"h{i}", "s0", rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS)
    simulation.sample_queues(100_000)
    senders(simulation, {0: 1024, 3: 1024})
    simulation.run_until(MILLISECOND_NS)
    table = simulation.queue_table()
    marks = {priority: table["marks"][table["priority"] == priority].sum() for priority in (0, 3)}
    assert marks[0] == 0
    assert marks[3] > 300


def test_drops_above_kmax_keep_the_average_there() -> None:
    """As the Moonshot's switch: an average with weight 2^-9, and drops above kmax."""
    wred = Marking(
        kmin_bytes=10_000,
        kmax_bytes=50_000,
        pmax=0.1,
        at="arrival",
        average_weight=2**-9,
        drops_above=True,
    )
    simulation = Simulation(seed=1)
    simulation.add_switch("s0", buffer_bytes=None, alpha=1.0, marking=wred)
    for i in range(3):
        simulation.add_host(f"h{i}", IDEAL)
        simulation.add_link(f"h{i}", "s0", rate_bps=10 * GBPS, delay_ps=MICROSECOND_PS)
    simulation.sample_queues(10_000)
    for i in range(2):
        end, _ = simulation.connect(
            f"h{i}", "h2", mtu_bytes=1024, retry_count=7, timeout_exponent=8, service="uc"
        )
        end.post_write(1, 10**8, True)
    simulation.run_until(10 * MILLISECOND_NS)
    table = simulation.queue_table()
    port = table["port"] == "s0->h2"
    late = table["bytes"][port & (table["t_ns"] > 5 * MILLISECOND_NS)]
    assert table["drops"].sum() > 1000
    assert late.mean() == pytest.approx(50_000, rel=0.3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"weights": {8: 1}}, "priority of weights as an integer from 0 to 7, got 8"),
        ({"weights": {0: 0}}, "weight of priority 0 as an integer from 1 to 1000, got 0"),
        ({"marking": {9: Marking(1, 2, 0.5)}}, "priority of marking as an integer from 0 to 7, got 9"),
    ],
)
def test_nonsense_gives_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SimulationError, match=f"add_switch s0: expected {sentence}"):
        Simulation(seed=1).add_switch("s0", buffer_bytes=None, alpha=1.0, **arguments)


FRAME = 1024 + 64
NUMBERS = {"line_rate_bps": 10e9, "base_rtt_ns": 6_000, "target_delay_ns": 4_500, "sack_every_bytes": 1}


def fan_in(
    trimming: Trimming | None, name: str = "uet", senders: int = 4, stated_at_gbps: int | None = None
) -> Simulation:
    simulation = Simulation(seed=1, framing=UEC)
    at_bps = None if stated_at_gbps is None else stated_at_gbps * GBPS
    simulation.add_switch(
        "s0", buffer_bytes=1_000_000, alpha=8.0, trimming=trimming, thresholds_at_bps=at_bps
    )
    for host in range(senders + 1):
        simulation.add_host(f"h{host}", IDEAL)
        simulation.add_link(f"h{host}", "s0", rate_bps=10 * GBPS, delay_ps=1_000_000)
    for host in range(1, senders + 1):
        simulation.connect(
            f"h{host}",
            "h0",
            mtu_bytes=1024,
            retry_count=7,
            timeout_exponent=14,
            reliability=Reliability(name, NUMBERS if name == "uet" else {}, 7),
        )[0].post_write(1, 300 * 1024, True)
    return simulation


def test_queues_stay_below_the_threshold_and_everything_arrives() -> None:
    simulation = fan_in(Trimming(20_000))
    simulation.sample_queues(5_000)
    simulation.run_until(20 * MILLISECOND_NS)
    simulation.check_invariants()
    assert simulation.statistics()["verbs_done"] == 4
    table = simulation.queue_table()
    data = table["max_bytes"][(table["priority"] == 0) & (table["port"] == "s0->h0")]
    assert 20_000 - FRAME < data.max() <= 20_000
    assert counter(simulation, "drops") == counter(simulation, "timeouts") == 0


@pytest.mark.parametrize(
    ("stated_at_gbps", "most_bytes"),
    [
        pytest.param(None, 20_000, id="as stated"),
        pytest.param(10, 20_000, id="at the rate of the port"),
        pytest.param(40, 5_000, id="a quarter, for the port has a quarter of that rate"),
    ],
)
def test_a_slow_port_may_trim_at_its_share_of_the_bytes(stated_at_gbps: int | None, most_bytes: int) -> None:
    simulation = fan_in(Trimming(20_000), stated_at_gbps=stated_at_gbps)
    simulation.sample_queues(5_000)
    simulation.run_until(20 * MILLISECOND_NS)
    simulation.check_invariants()
    table = simulation.queue_table()
    data = table["max_bytes"][(table["priority"] == 0) & (table["port"] == "s0->h0")]
    assert most_bytes - FRAME < data.max() <= most_bytes


def test_a_rate_that_no_port_has() -> None:
    with pytest.raises(SimulationError, match="expected thresholds_at_bps as an integer from 1"):
        fan_in(Trimming(20_000), stated_at_gbps=0)


@pytest.mark.parametrize("by_coin", [False, True])
def test_bytes_are_kept(by_coin: bool) -> None:
    """Sent bytes equal received plus trimmed bytes; each trimmed packet is retransmitted once."""
    simulation = fan_in(Trimming(20_000, by_coin=by_coin))
    simulation.run_until(20 * MILLISECOND_NS)
    trimmed = counter(simulation, "trimmed_packets")
    assert trimmed == counter(simulation, "retransmitted_packets") == counter(simulation, "naks") > 10
    cut_bytes = counter(simulation, "trimmed_bytes")
    assert cut_bytes == trimmed * 1024
    sent = sum(counter(simulation, "tx_bytes", f"h{host}->s0") for host in range(1, 5))
    assert counter(simulation, "tx_bytes", "s0->h0") == sent - cut_bytes


def cut_one(seed: int, trimming: Trimming) -> str:
    """Three packets come to a port, where one may wait: the first is leaving, the second waits."""
    simulation = Simulation(seed=seed, framing=UEC)
    simulation.add_switch("s0", buffer_bytes=1_000_000, alpha=8.0, trimming=trimming)
    senders = {}
    for number, host in enumerate(("h0", "first", "second", "third")):
        simulation.add_host(host, IDEAL)
        simulation.add_link(host, "s0", rate_bps=10 * GBPS, delay_ps=1_000_000 + 200_000 * number)
    for host in ("first", "second", "third"):
        pair = simulation.connect(
            host,
            "h0",
            mtu_bytes=1024,
            retry_count=7,
            timeout_exponent=14,
            reliability=Reliability("uet", NUMBERS, 7),
        )
        senders[pair[0].qp_num] = host
        pair[0].post_write(1, 1024, True)
    simulation.record_packets(["s0->h0"])
    simulation.run_until(MILLISECOND_NS)
    simulation.check_invariants()
    table = simulation.packet_table()
    is_header = (table["kind"] == "write") & (table["payload_bytes"] == 0)
    (source,) = table["src_qp_num"][is_header]
    return senders[int(source)]


def test_without_a_coin_the_packet_that_comes_is_cut() -> None:
    assert {cut_one(seed, Trimming(FRAME)) for seed in range(20)} == {"third"}


def test_by_a_coin_the_newest_that_waits_is_cut_as_often() -> None:
    cut = [cut_one(seed, Trimming(FRAME, by_coin=True)) for seed in range(200)]
    assert set(cut) == {"second", "third"}
    assert 80 < cut.count("second") < 120


def test_nothing_is_cut_that_need_not_wait() -> None:
    simulation = fan_in(Trimming(0), senders=1)
    simulation.run_until(20 * MILLISECOND_NS)
    assert counter(simulation, "trimmed_packets") == 0
    assert simulation.statistics()["verbs_done"] == 1


def test_headers_go_in_front_of_what_waits() -> None:
    simulation = fan_in(Trimming(20_000))
    simulation.record_packets(["s0->h0"])
    simulation.run_until(MILLISECOND_NS)
    table = simulation.packet_table()
    headers = (table["kind"] == "write") & (table["payload_bytes"] == 0)
    assert set(table["priority"][headers]) == {7}
    overtaken: set[tuple[int, int]] = set()
    waiting_after: dict[int, int] = {}
    for source, psn, is_header in zip(table["src_qp_num"], table["psn"], headers, strict=True):
        if is_header:
            waiting_after[int(source)] = max(int(psn), waiting_after.get(int(source), 0))
        elif int(psn) < waiting_after.get(int(source), 0):
            overtaken.add((int(source), int(psn)))
    assert len(overtaken) > 10, "data of smaller numbers leaves after headers that came later"


def test_other_transports_are_not_cut() -> None:
    simulation = fan_in(Trimming(20_000), "irn")
    simulation.run_until(20 * MILLISECOND_NS)
    assert counter(simulation, "trimmed_packets") == 0
    assert simulation.statistics()["verbs_done"] == 4


@pytest.mark.parametrize(
    ("trimming", "words"),
    [
        (Trimming(-1), "expected above_bytes as an integer from 0"),
        (Trimming(1, priority=8), "expected priority as an integer from 0 to 7"),
    ],
)
def test_what_no_switch_can_do(trimming: Trimming, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        fan_in(trimming)


def test_a_priority_of_acknowledgements_that_no_packet_has() -> None:
    with pytest.raises(SimulationError, match="expected acknowledgement_priority as an integer from 0 to 7"):
        Reliability("uet", {}, 9).arguments("connect", "rc", 0, None)
