"""Tests: marks, fair rates and telemetry that switches give to senders."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from helpers.networks import GBPS, MILLISECOND_NS, Star, connect, counter, network

from rogue.simulator import (
    CONTROLS,
    ROCEV2,
    FairRates,
    Marking,
    NicControl,
    QueuePair,
    Reliability,
    Simulation,
    SimulationError,
    with_telemetry,
)

FRAME = 1086


def standing_queue(marking: Marking, waiting_packets: int, seed: int = 1) -> Simulation:
    """Two hosts send a burst at once; then one keeps what waits at the port of the third constant.

    Each frame that leaves makes room for one that comes: the first burst of the second host never drains
    while the other one sends.
    """
    star = Star(hosts=3, marking=marking)
    simulation = star.build(seed=seed)
    connect(simulation, "h0", "h2").post_write(1, 20_000 * 1024, True)
    connect(simulation, "h1", "h2").post_write(1, waiting_packets * 1024, True)
    simulation.run_until(17 * MILLISECOND_NS)
    return simulation


@pytest.mark.parametrize("at", ["departure", "arrival"])
def test_nothing_is_marked_up_to_kmin_and_everything_above_kmax(at: Any) -> None:
    """20 packets wait all the time."""
    quiet = Marking(kmin_bytes=21 * FRAME + 16, kmax_bytes=30 * FRAME, pmax=1, at=at)
    assert counter(standing_queue(quiet, 20), "marked_packets") == 0
    loud = Marking(kmin_bytes=0, kmax_bytes=15 * FRAME, pmax=0.001, at=at)
    marked = counter(standing_queue(loud, 20), "marked_packets")
    assert 17_000_000 / 885 * 0.97 < marked < 17_000_000 / 885 + 40


@pytest.mark.parametrize(("pmax", "fraction"), [(1.0, 0.5), (0.2, 0.1)])
def test_in_between_a_share_is_marked(pmax: float, fraction: float) -> None:
    """20 packets wait, half-way between kmin and kmax."""
    marking = Marking(kmin_bytes=10 * FRAME, kmax_bytes=30 * FRAME, pmax=pmax)
    marked = counter(standing_queue(marking, 20), "marked_packets")
    sent = 17_000_000 / 884.8
    deviation = (sent * fraction * (1 - fraction)) ** 0.5
    assert marked == pytest.approx(sent * fraction, abs=5 * deviation + 0.06 * sent * fraction)


def test_an_average_comes_late() -> None:
    """With a weight of 2^-9 the average has seen 1 - (1 - 2^-9)^n of the queue after n packets."""
    step = Marking(kmin_bytes=10 * FRAME, kmax_bytes=10 * FRAME, pmax=1)
    sharp = counter(standing_queue(step, 20), "marked_packets")
    slow = counter(standing_queue(replace(step, average_weight=2**-9), 20), "marked_packets")
    assert 250 < sharp - slow < 500  # the average passes the half after 355 packets


def test_ports_towards_hosts_may_be_spared() -> None:
    """Two switches: what waits between them is marked, what waits in front of the receiver is not."""
    marked = {}
    for spares_hosts in (False, True):
        marking = Marking(kmin_bytes=0, kmax_bytes=0, pmax=1, spares_hosts=spares_hosts)
        links = [("h0", "s0"), ("h1", "s0"), ("h2", "s1"), ("h3", "s1"), ("s0", "s1")]
        simulation = network(links, switch={"marking": marking})
        for host in ("h0", "h1", "h2"):
            connect(simulation, host, "h3").post_write(1, 100 * 1024, True)
        simulation.run_until(MILLISECOND_NS)
        marked[spares_hosts] = [
            counter(simulation, "marked_packets", port) > 0 for port in ("s0->s1", "s1->h3")
        ]
    assert marked == {False: [True, True], True: [True, False]}


def test_only_data_is_marked() -> None:
    """Acknowledgements meet at a separate port that marks everything, and none is marked."""
    everything = Marking(kmin_bytes=0, kmax_bytes=0, pmax=1)
    simulation = Star(hosts=9, marking=everything, rate_bps=10 * GBPS).build()
    for i in range(8):
        connect(simulation, "h0", f"h{i + 1}", ack_every_packets=1).post_write(1, 64_000, True)
    simulation.run_until(MILLISECOND_NS)
    marks = {port: value for _, port, name, value in simulation.counters() if name == "marked_packets"}
    assert marks["s0->h0"] == 0


@pytest.mark.parametrize("at", ["departure", "arrival"])
def test_a_queue_without_ecn_drops_on_arrival_what_it_would_mark(at: Any) -> None:
    """Two senders over UC: half of the packets must go, and 20 packets wait, half-way from kmin to kmax."""
    marking = Marking(kmin_bytes=10 * FRAME, kmax_bytes=30 * FRAME, pmax=1.0, at=at, drops_instead=True)
    simulation = Star(hosts=3, marking=marking).build()
    simulation.sample_queues(10_000)
    for host in ("h0", "h1"):
        connect(simulation, host, "h2", service="uc").post_write(1, 20_000 * 1024, True)
    simulation.run_until(10 * MILLISECOND_NS)
    simulation.check_invariants()
    table = simulation.queue_table()
    port = table["port"] == "s0->h2"
    assert counter(simulation, "marked_packets") == 0
    assert counter(simulation, "drops") == pytest.approx(10_000_000 / 884.8, rel=0.01)
    assert table["bytes"][port].mean() == pytest.approx(20 * FRAME, rel=0.1)


def test_a_queue_without_ecn_drops_acknowledgements_too() -> None:
    """Acknowledgements to h0 meet at its port, behind data for it that fills the queue."""
    everything = Marking(kmin_bytes=5 * FRAME, kmax_bytes=5 * FRAME, pmax=1)
    for drops, marking in ((0, everything), (1, replace(everything, drops_instead=True))):
        simulation = Star(hosts=4, marking=marking).build()
        simulation.record_packets(["s0->h0"])
        connect(simulation, "h0", "h1", ack_every_packets=1).post_write(1, 200_000, True)
        for host in ("h2", "h3"):
            connect(simulation, host, "h0", service="uc").post_write(1, 500_000, True)
        simulation.run_until(MILLISECOND_NS)
        table = pd.DataFrame(simulation.packet_table())
        assert (table.query("kind == 'ack'")["dropped"].sum() > 0) == bool(drops)


@pytest.mark.parametrize("at", ["departure", "arrival"])
@pytest.mark.parametrize("name", ["reno", "cubic"])
@pytest.mark.parametrize("ecn", [0, 1])
def test_a_tcp_without_ecn_is_dropped_where_others_are_marked(at: Any, name: str, ecn: int) -> None:
    """Two flows meet at a port with room for all they may send: only the marking can drop a segment."""
    simulation = Star(hosts=3, marking=Marking(20 * FRAME, 20 * FRAME, 1, at=at), rate_bps=10 * GBPS).build()
    kind = Reliability(name, {"ecn": ecn, "rto_min_ns": 1_000_000, "ack_every_segments": 1})
    for source in ("h0", "h1"):
        connect(simulation, source, "h2", mtu_bytes=1460, reliability=kind).post_write(1, 4_000_000, True)
    simulation.run_until(50 * MILLISECOND_NS)
    assert (counter(simulation, "marked_packets") > 0) == (ecn == 1)
    assert (counter(simulation, "drops") > 0) == (ecn == 0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"kmin_bytes": 300_000}, "expected kmin_bytes up to kmax_bytes, 200000, got 300000"),
        ({"kmin_bytes": -1}, "expected kmin_bytes as an integer from 0"),
        ({"pmax": 0}, "expected pmax above 0 and at most 1, got 0"),
        ({"pmax": 1.5}, "expected pmax above 0 and at most 1, got 1.5"),
        ({"pmax": True}, "expected pmax above 0 and at most 1, got True"),
        ({"average_weight": 0.0}, "expected average_weight above 0 and at most 1, got 0.0"),
        ({"at": "enqueue"}, "expected at as one of departure, arrival, got 'enqueue'"),
    ],
)
def test_invalid_arguments_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    marking = replace(Marking(kmin_bytes=5_000, kmax_bytes=200_000, pmax=0.01), **wrong)
    with pytest.raises(SimulationError, match=f"add_switch s0: {sentence}"):
        Star(hosts=2, marking=marking).build()


def test_a_slow_port_marks_at_its_share_of_the_bytes() -> None:
    """20 packets wait: at a quarter of 60 frames all are marked, at 60 none is."""
    marking = Marking(kmin_bytes=60 * FRAME, kmax_bytes=60 * FRAME, pmax=1)
    marked = []
    for features in ({}, {"thresholds_at_bps": 40 * GBPS}):
        simulation = Star(hosts=3, marking=marking, features=features).build()
        connect(simulation, "h0", "h2").post_write(1, 2_000 * 1024, True)
        connect(simulation, "h1", "h2").post_write(1, 20 * 1024, True)
        simulation.run_until(MILLISECOND_NS)
        marked.append(counter(simulation, "marked_packets"))
    assert marked[0] == 0
    assert marked[1] > 500


def incast(
    senders: int, control: NicControl, *, rate_bps: int = 40 * GBPS, **connection: Any
) -> tuple[Simulation, list[QueuePair]]:
    """All send to the last host, through a switch that does all that the controls want."""
    has_telemetry = CONTROLS[control.name].wants_telemetry
    simulation = network(
        [(f"h{i}", "s0") for i in range(senders + 1)],
        switch={"fair_rates": FairRates(), "has_telemetry": has_telemetry},
        settings={"framing": with_telemetry(ROCEV2) if has_telemetry else ROCEV2},
        rate_bps=rate_bps,
        delay_ps=1_500_000,
    )
    pairs = [
        connect(simulation, f"h{i}", f"h{senders}", control=control, **connection) for i in range(senders)
    ]
    for queue_pair in pairs:
        queue_pair.post_write(1, 10**9, True)
    return simulation, pairs


def settled(
    simulation: Simulation, pairs: list[QueuePair], after_ms: int = 15, for_ms: int = 5
) -> tuple[list[float], float]:
    """Goodput of each in bit/s, and the median queue at the receiver's port."""
    simulation.run_until(after_ms * MILLISECOND_NS)
    before = [queue_pair.delivered_bytes for queue_pair in pairs]
    simulation.sample_queues(20_000)
    simulation.run_until((after_ms + for_ms) * MILLISECOND_NS)
    simulation.check_invariants()
    rates = [
        (queue_pair.delivered_bytes - old) * 8000 / for_ms
        for queue_pair, old in zip(pairs, before, strict=True)
    ]
    table = simulation.queue_table()
    rows = (table["port"] == f"s0->h{len(pairs)}") & (table["priority"] == 0)
    return rates, float(sorted(table["bytes"][rows])[rows.sum() // 2])


@pytest.mark.parametrize(("rate_bps", "reference_bytes"), [(40 * GBPS, 150_000), (100 * GBPS, 300_000)])
def test_rocc_shares_evenly_and_keeps_its_reference(rate_bps: int, reference_bytes: int) -> None:
    simulation, pairs = incast(5, NicControl("rocc"), rate_bps=rate_bps)
    rates, queue_bytes = settled(simulation, pairs)
    share_bps = rate_bps * 1024 / 1106 / 5
    assert all(rate == pytest.approx(share_bps, rel=0.02) for rate in rates)
    assert queue_bytes == pytest.approx(reference_bytes, rel=0.05)


def test_rocc_leaves_a_single_flow_alone() -> None:
    simulation, pairs = incast(1, NicControl("rocc"))
    rates, _ = settled(simulation, pairs, after_ms=1, for_ms=1)
    assert rates[0] == pytest.approx(40 * GBPS * 1024 / 1106, rel=0.01)
    assert pairs[0].control_rate_bps == 40 * GBPS


@pytest.mark.parametrize("reliability", [None, Reliability("irn"), Reliability("go-back-n")])
@pytest.mark.parametrize("mtu_bytes", [256, 1024])
def test_hpcc_keeps_the_queue_nearly_empty_and_the_port_busy(
    mtu_bytes: int, reliability: Reliability | None
) -> None:
    """Besides its payload a packet takes 124 bytes of the wire, 20 of them not in its frame; eta is 0.95."""
    control = NicControl("hpcc", {"base_rtt_ns": 7_000})
    simulation, pairs = incast(4, control, mtu_bytes=mtu_bytes, reliability=reliability)
    rates, queue_bytes = settled(simulation, pairs)
    busy = sum(rates) * (mtu_bytes + 124) / mtu_bytes / (40 * GBPS)
    assert busy == pytest.approx(0.95, abs=0.01)
    assert queue_bytes < 10_000


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"reference_bytes": 200_000.0}, "add_switch s0: rocc: expected reference_bytes below middle_bytes"),
        ({"gain": 1.0}, "add_switch s0: rocc: expected one of the parameters rate_unit_bps"),
        ({"period_ns": -1.0}, "add_switch s0: rocc: expected period_ns from 0 to"),
    ],
)
def test_invalid_fair_rates_are_refused(parameters: dict[str, float], sentence: str) -> None:
    simulation = Simulation(seed=1)
    with pytest.raises(SimulationError, match=sentence):
        simulation.add_switch("s0", buffer_bytes=None, alpha=1.0, fair_rates=FairRates(parameters))


def test_a_control_that_needs_acknowledgements_needs_a_reliable_connection() -> None:
    simulation = Star(hosts=2).build()
    with pytest.raises(SimulationError, match="connect h0-h1: expected service as one of rc, got 'uc'"):
        connect(simulation, "h0", "h1", service="uc", control=NicControl("timely"))
