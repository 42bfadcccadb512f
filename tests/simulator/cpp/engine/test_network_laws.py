"""Queueing laws worked out on paper, and properties of random networks."""

import random
from itertools import pairwise
from statistics import mean

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, Host, Star, connect, counter, network
from helpers.random_features import flow_controls
from helpers.random_networks import RandomNetwork, networks
from hypothesis import HealthCheck, assume, given, settings

from rogue.simulator import ROCEV2, Simulation

MTU = 1024
SECOND_NS = 10**9
FIRST_WIRE, WIRE, ACK_WIRE = 1122, 1106, 86


def chain(hops: int, rate_bps: int, delay_ps: int) -> Simulation:
    """Hosts a and b, `hops` links apart."""
    nodes = ["a", *(f"s{i}" for i in range(hops - 1)), "b"]
    return network(pairwise(nodes), rate_bps=rate_bps, delay_ps=delay_ps)


def completed_ps(simulation: Simulation, length_bytes: int) -> int:
    """Return the time of one verb from a to b until its acknowledgement is back."""
    simulation.record_oracle_rtt()
    connect(simulation, "a", "b").post_write(1, length_bytes, True)
    simulation.run_until(SECOND_NS)
    simulation.check_invariants()
    return int(simulation.oracle_table()["t_comp_ps"][0])


@pytest.mark.parametrize("hops", [1, 2, 3, 6])
@pytest.mark.parametrize("packets", [1, 2, 64])
def test_store_and_forward_takes_one_packet_per_hop_and_one_per_further_packet(
    hops: int, packets: int
) -> None:
    ps_per_byte = 200  # 40 Gb/s
    took_ps = completed_ps(chain(hops, 40 * GBPS, 2 * MICROSECOND_PS), packets * MTU)
    there_ps = hops * (FIRST_WIRE * ps_per_byte + 2 * MICROSECOND_PS) + (packets - 1) * WIRE * ps_per_byte
    back_ps = hops * (ACK_WIRE * ps_per_byte + 2 * MICROSECOND_PS)
    assert took_ps == there_ps + back_ps


@pytest.mark.parametrize(
    ("mtu_bytes", "share"),
    [(256, 0.7574), (512, 0.8620), (1000, 0.9242), (1024, 0.9259), (2048, 0.9615), (4096, 0.9804)],
)
@pytest.mark.parametrize("rate_bps", [10 * GBPS, 40 * GBPS])
def test_goodput_of_one_flow_is_the_payload_share_of_the_wire(
    mtu_bytes: int, share: float, rate_bps: int
) -> None:
    simulation = Star(hosts=2, rate_bps=rate_bps).build()
    queue_pair = connect(simulation, "h0", "h1", mtu_bytes=mtu_bytes)
    queue_pair.post_write(1, 10**9, True)
    simulation.run_until(MILLISECOND_NS)
    before = queue_pair.delivered_bytes
    simulation.run_until(11 * MILLISECOND_NS)
    goodput_bps = (queue_pair.delivered_bytes - before) * 8 * 100
    assert goodput_bps / rate_bps == pytest.approx(share, abs=1e-4)
    wire_bytes = ROCEV2.wire_bytes(ROCEV2.write_frame_bytes(mtu_bytes, is_first=False))
    assert goodput_bps / rate_bps == pytest.approx(mtu_bytes / wire_bytes, rel=1e-3)


@pytest.mark.parametrize(("load", "mean_wait"), [(0.5, 0.5), (0.7, 7 / 6), (0.9, 4.5)])
def test_poisson_arrivals_wait_as_in_m_d_1(load: float, mean_wait: float) -> None:
    service_ps = FIRST_WIRE * 800
    arrivals = 40_000
    stream = random.Random(1)
    simulation = chain(1, 10 * GBPS, MICROSECOND_PS)
    simulation.record_oracle_rtt()
    queue_pair = connect(simulation, "a", "b", timeout_exponent=20)
    posted_ns: list[int] = []
    at_ns = 0.0
    for wr_id in range(arrivals):
        at_ns += stream.expovariate(load / (service_ps / 1000))
        posted_ns.append(int(at_ns))
        simulation.schedule(int(at_ns), lambda now, wr_id=wr_id: queue_pair.post_write(wr_id, MTU, True))
    simulation.run_until(int(at_ns) + MILLISECOND_NS)
    left_ps = simulation.oracle_table()["t_last_ps"].tolist()
    waits = [
        (left - posted * 1000 - service_ps) / service_ps
        for left, posted in zip(left_ps, posted_ns, strict=True)
    ]
    assert min(waits) >= 0
    assert mean(waits) == pytest.approx(mean_wait, rel=0.08)


def test_an_incast_without_control_queues_all_but_one_share() -> None:
    """Eight bursts of 64 KiB: 512 packets come in together, and 63 have started when the last ones arrive.

    From the first arrival to the last there are 63 * 0.8848 = 55.7424 us; the eight first packets (0.8976 us
    each) take 7.1808 us of it, and the rest suffices to start 54 + 1 others: 512 - 63 packets of 1086 bytes
    wait.
    """
    simulation = Star(hosts=9).build()
    simulation.sample_queues(MILLISECOND_NS)
    for i in range(8):
        connect(simulation, f"h{i}", "h8").post_write(1, 65536, True)
    simulation.run_until(MILLISECOND_NS)
    table = simulation.queue_table()
    [peak] = table["max_bytes"][table["port"] == "s0->h8"].tolist()
    assert peak == (512 - 63) * 1086
    assert peak / 1086 * MTU == pytest.approx(7 * 65536, rel=0.003)  # (N - 1) b, in payload


@pytest.mark.parametrize("loss_probability", [0.001, 0.003, 0.01])
def test_go_back_n_wastes_a_window_per_loss(loss_probability: float) -> None:
    simulation = Star(hosts=2, delay_ps=10 * MICROSECOND_PS, loss_probability=loss_probability).build()
    queue_pair = connect(simulation, "h0", "h1", timeout_exponent=5)  # a lost NAK costs 131 us
    queue_pair.post_write(1, 10**9, True)
    simulation.run_until(200 * MILLISECOND_NS)
    round_trip_ps = 2 * (WIRE * 800 + ACK_WIRE * 800 + 2 * 10 * MICROSECOND_PS)
    window = round_trip_ps / (WIRE * 800)
    loss = 2 * loss_probability  # either of two links
    efficiency = queue_pair.delivered_bytes * 8 / (10 * GBPS * 0.2 * MTU / WIRE)
    assert efficiency == pytest.approx((1 - loss) / (1 + loss * (window - 1)), rel=0.06)


def test_every_byte_posted_is_delivered_once_in_spite_of_losses() -> None:
    simulation = Star(hosts=5, loss_probability=0.002, buffer_bytes=200_000).build()
    queue_pairs = [
        connect(simulation, f"h{i}", "h4", timeout_exponent=8, ack_every_packets=4) for i in range(4)
    ]
    hosts = [Host(queue_pair) for queue_pair in queue_pairs]
    for queue_pair in queue_pairs:
        for wr_id in range(10):
            queue_pair.post_write(wr_id, 100_000, True)
    for millisecond in range(1, 300):
        simulation.run_until(millisecond * MILLISECOND_NS)
        simulation.check_invariants()
    assert counter(simulation, "lost_packets") > 0 and counter(simulation, "drops") > 0
    for queue_pair, host in zip(queue_pairs, hosts, strict=True):
        assert queue_pair.posted_bytes == queue_pair.delivered_bytes == 1_000_000
        assert host.statuses == [(wr_id, 0) for wr_id in range(10)]
    assert simulation.statistics()["packets_live"] == 0


# The slowest flow sends 8 * 64 KiB at 100 Mb/s, after that everything is acknowledged or has failed; but
# a control may ask for less than that.
END_NS = 200 * MILLISECOND_NS
LAST_END_NS = 10 * END_NS


# Kinds of go-back-N that early cards and other simulators have: where a buffer holds a few packets, or a
# timeout is shorter than a message, they can retransmit for ever.
RESTLESS = {"go-back-0", "go-back-n-hpcc", "go-back-n-htsim"}


def comes_to_an_end(drawn: RandomNetwork) -> bool:
    """True if all flows finish in spite of losses."""
    if drawn.misroutings:
        return False  # where packets never arrive TCP tries for ever, and pauses can wait in a loop
    if trims_every_packet(drawn):
        return False
    reliabilities = (flow.connection["reliability"] for flow in drawn.flows)
    return not any(each is not None and each.name in RESTLESS for each in reliabilities)


HEADERS_BYTES = 200
"""More than the headers of any packet."""


def trims_every_packet(drawn: RandomNetwork) -> bool:
    """True if a port's trimming threshold, in proportion to its rate, is below one packet."""
    trimming, at_bps = drawn.features["trimming"], drawn.features["thresholds_at_bps"]
    if trimming is None or not at_bps:
        return False
    slowest_bps = min(link.rate_bps for link in (*drawn.trunks, *(link for _, link in drawn.hosts)))
    packet_bytes = max(flow.connection["mtu_bytes"] for flow in drawn.flows) + HEADERS_BYTES
    return bool(trimming.above_bytes * slowest_bps / at_bps < packet_bytes)


def loses_messages_of_switches(drawn: RandomNetwork) -> bool:
    """True if a switch sends fair rates in a lossless priority: a switch cannot be paused."""
    covered = () if drawn.flow_control is None else drawn.flow_control.priorities
    controls = (flow.connection["control"] for flow in drawn.flows)
    rocc = [each for each in controls if each is not None and each.name == "rocc"]
    return drawn.features["fair_rates"] is not None and any(each.cnp_priority in covered for each in rocc)


def run_until_nothing_is_left(simulation: Simulation) -> None:
    for until_ns in range(END_NS, LAST_END_NS + 1, END_NS):
        simulation.run_until(until_ns)
        simulation.check_invariants()
        if simulation.statistics()["packets_live"] == 0:
            return
    raise AssertionError(f"{simulation.statistics()['packets_live']} packets after {LAST_END_NS} ns")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_all_packets_are_accounted_for_and_freed(drawn: RandomNetwork) -> None:
    assume(comes_to_an_end(drawn))
    simulation = drawn.build(Simulation)
    for until_ns in (7, 12_345, 100_000, 1_000_001):
        simulation.run_until(until_ns)
        simulation.check_invariants()
    run_until_nothing_is_left(simulation)
    table = simulation.queue_table()
    assert not table["bytes"][table["t_ns"] == table["t_ns"].max()].any()
    assert (table["max_bytes"] >= table["bytes"]).all()
    for i, buffer_bytes in enumerate(drawn.buffers_bytes):
        if buffer_bytes is not None:
            most_bytes = table["max_bytes"][table["node"] == f"s{i}"].max()
            assert most_bytes <= drawn.capacity_bytes(i, buffer_bytes)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks(flow_controls()))
def test_flow_control_loses_nothing_and_all_flows_finish(drawn: RandomNetwork) -> None:
    assume(comes_to_an_end(drawn))
    simulation = drawn.build(Simulation)
    for until_ns in (12_345, 100_000, 1_000_001):
        simulation.run_until(until_ns)
        simulation.check_invariants()
    run_until_nothing_is_left(simulation)
    assert counter(simulation, "lossless_drops") == 0 or loses_messages_of_switches(drawn)
    pauses = simulation.pause_table()
    assert (pauses["duration_ns"] >= 0).all()
    assert not (pauses["start_ns"] + pauses["duration_ns"] == simulation.now_ns).any()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_the_same_seed_gives_the_same_digest_however_the_run_is_sliced(drawn: RandomNetwork) -> None:
    whole, sliced = drawn.build(Simulation), drawn.build(Simulation)
    whole.run_until(MILLISECOND_NS)
    for until_ns in range(0, MILLISECOND_NS + 1, 50_021):
        sliced.run_until(until_ns)
        sliced.counters()  # looking at a network must not change it
    sliced.run_until(MILLISECOND_NS)
    assert sliced.digest() == whole.digest()
    assert sliced.counters() == whole.counters()
