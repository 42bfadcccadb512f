"""Priorities that share a port by weights, and switches that trim packets to their headers."""

from collections.abc import Mapping
from typing import Any

import pytest
from helpers.networks import GBPS, MILLISECOND_NS, connect, counter, network

from rogue.simulator import (
    Marking,
    PriorityFlowControl,
    QueuePair,
    Reliability,
    Simulation,
    SimulationError,
    Trimming,
)
from rogue.simulator.framing import UEC


def star(weights: Mapping[int, int], **switch: Any) -> Simulation:
    switch = {"buffer_bytes": 10**8, "alpha": 8.0, "weights": weights, **switch}
    return network([(f"h{i}", "s0") for i in range(5)], switch=switch)


def senders(simulation: Simulation, sizes: Mapping[int, int]) -> dict[int, QueuePair]:
    """One host per priority sends packets of a size to h4."""
    ends = {}
    for host, (priority, mtu_bytes) in enumerate(sizes.items()):
        parameters = {"mtu_bytes": mtu_bytes, "timeout_exponent": 20, "priority": priority}
        ends[priority] = connect(simulation, f"h{host}", "h4", **parameters)
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


def test_a_paused_priority_delays_no_other() -> None:
    flow_control = PriorityFlowControl(priorities=(3,), xoff_bytes=20_000)
    simulation = star({0: 1, 3: 1}, flow_control=flow_control)
    ends = senders(simulation, {0: 1024, 3: 1024})
    simulation.run_until(10 * MILLISECOND_NS)
    simulation.check_invariants()
    assert ends[0].delivered_bytes == pytest.approx(ends[3].delivered_bytes, rel=0.05)


def test_marking_by_priority() -> None:
    simulation = star({0: 1, 3: 1}, marking={3: Marking(kmin_bytes=0, kmax_bytes=0, pmax=1)})
    simulation.sample_queues(100_000)
    senders(simulation, {0: 1024, 3: 1024})
    simulation.run_until(MILLISECOND_NS)
    table = simulation.queue_table()
    marks = {priority: table["marks"][table["priority"] == priority].sum() for priority in (0, 3)}
    assert marks[0] == 0
    assert marks[3] > 300


def test_drops_above_kmax_keep_the_average_there() -> None:
    """As the Moonshot's switch: an average with weight 2^-9, and drops above kmax."""
    wred = Marking(10_000, 50_000, 0.1, at="arrival", average_weight=2**-9, drops_above=True)
    simulation = network([(f"h{i}", "s0") for i in range(3)], switch={"marking": wred})
    simulation.sample_queues(10_000)
    for i in range(2):
        connect(simulation, f"h{i}", "h2", service="uc").post_write(1, 10**8, True)
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
def test_invalid_arguments_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SimulationError, match=f"add_switch s0: expected {sentence}"):
        Simulation(seed=1).add_switch("s0", buffer_bytes=None, alpha=1.0, **arguments)


FRAME = 1024 + 64
NUMBERS = {"line_rate_bps": 10e9, "base_rtt_ns": 6_000, "target_delay_ns": 4_500, "sack_every_bytes": 1}


def fan_in(
    trimming: Trimming | None, name: str = "uet", senders: int = 4, stated_at_gbps: int | None = None
) -> Simulation:
    at_bps = None if stated_at_gbps is None else stated_at_gbps * GBPS
    switch = {"buffer_bytes": 1_000_000, "alpha": 8.0, "trimming": trimming, "thresholds_at_bps": at_bps}
    links = [(f"h{host}", "s0") for host in range(senders + 1)]
    simulation = network(links, switch=switch, settings={"framing": UEC})
    reliability = Reliability(name, NUMBERS if name == "uet" else {}, 7)
    for host in range(1, senders + 1):
        connect(simulation, f"h{host}", "h0", reliability=reliability).post_write(1, 300 * 1024, True)
    return simulation


@pytest.mark.parametrize(
    ("stated_at_gbps", "most_bytes"),
    [
        pytest.param(None, 20_000, id="as stated"),
        pytest.param(10, 20_000, id="at the rate of the port"),
        pytest.param(40, 5_000, id="a quarter of the threshold for a quarter of its rate"),
    ],
)
def test_queues_stay_below_the_threshold_and_everything_arrives(
    stated_at_gbps: int | None, most_bytes: int
) -> None:
    simulation = fan_in(Trimming(20_000), stated_at_gbps=stated_at_gbps)
    simulation.sample_queues(5_000)
    simulation.run_until(20 * MILLISECOND_NS)
    simulation.check_invariants()
    assert simulation.statistics()["verbs_done"] == 4
    table = simulation.queue_table()
    data = table["max_bytes"][(table["priority"] == 0) & (table["port"] == "s0->h0")]
    assert most_bytes - FRAME < data.max() <= most_bytes
    assert counter(simulation, "drops") == counter(simulation, "timeouts") == 0


def test_threshold_rate_of_zero_is_refused() -> None:
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
    hosts = ("h0", "first", "second", "third")
    links = [(host, "s0", {"delay_ps": 1_000_000 + 200_000 * nth}) for nth, host in enumerate(hosts)]
    switch = {"buffer_bytes": 1_000_000, "alpha": 8.0, "trimming": trimming}
    simulation = network(links, switch=switch, settings={"seed": seed, "framing": UEC})
    senders = {}
    for host in hosts[1:]:
        sender = connect(simulation, host, "h0", reliability=Reliability("uet", NUMBERS, 7))
        senders[sender.qp_num] = host
        sender.post_write(1, 1024, True)
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


def test_no_packet_is_trimmed_that_does_not_wait() -> None:
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
def test_invalid_trimming_is_refused(trimming: Trimming, words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        fan_in(trimming)


def test_a_priority_of_acknowledgements_that_no_packet_has() -> None:
    with pytest.raises(SimulationError, match="expected acknowledgement_priority as an integer from 0 to 7"):
        Reliability("uet", {}, 9).arguments("connect", "rc", 0, None)
