"""Tests: losses, link cuts, pause storms and slow receivers."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import pandas as pd
import pytest
from helpers.networks import GBPS, MILLISECOND_NS, SECOND_NS, Star, connect, counter, direct, network

from rogue.simulator import (
    BurstLoss,
    IndependentLoss,
    IpIdLoss,
    Loss,
    PriorityFlowControl,
    QueuePair,
    Simulation,
    SimulationError,
)

CONTROL = PriorityFlowControl(xoff_bytes=50_000)


def two_switches(control: PriorityFlowControl) -> tuple[Simulation, dict[str, QueuePair]]:
    """Hosts h0, h1 on s0 and h2, h3 on s1; h0 sends to h2, which will break, and h1 to h3."""
    links = [("s0", "s1"), ("h0", "s0"), ("h1", "s0"), ("h2", "s1"), ("h3", "s1")]
    switch = {"buffer_bytes": 4_000_000, "alpha": 8.0, "flow_control": control}
    simulation = network(links, switch=switch)
    pairs = {"broken": connect(simulation, "h0", "h2"), "innocent": connect(simulation, "h1", "h3")}
    for queue_pair in pairs.values():
        queue_pair.post_write(1, 10**8, True)
    return simulation, pairs


def innocent_after_a_storm(control: PriorityFlowControl, **storm: int) -> tuple[Simulation, float]:
    """Goodput (Gb/s) of the innocent flow from 20 to 30 ms, in a storm that began after 1 ms."""
    simulation, pairs = two_switches(control)
    simulation.pause_storm("h2", start_ns=MILLISECOND_NS, duration_ns=100 * MILLISECOND_NS, **storm)
    simulation.run_until(20 * MILLISECOND_NS)
    before = pairs["innocent"].delivered_bytes
    simulation.run_until(30 * MILLISECOND_NS)
    simulation.check_invariants()
    return simulation, (pairs["innocent"].delivered_bytes - before) * 8 / 10e6


def test_a_storm_spreads_to_the_innocent() -> None:
    simulation, goodput = innocent_after_a_storm(CONTROL)
    assert goodput == 0
    waits = {wait.port: wait.behind for wait in simulation.waits()}
    assert waits["h1->s0"] == ("s0->s1",)
    assert "s1->h2" in waits["s0->s1"]
    assert waits["s1->h2"] == ()
    assert simulation.deadlock() == []


def test_the_watchdog_of_the_switch_bounds_it() -> None:
    control = PriorityFlowControl(xoff_bytes=50_000, watchdog_ns=5 * MILLISECOND_NS)
    simulation, goodput = innocent_after_a_storm(control)
    assert goodput > 4.5  # the other half goes to the broken host, and is dropped
    assert counter(simulation, "watchdog_fired") == 1
    assert counter(simulation, "lossless_drops") == 0


def test_the_watchdog_of_the_nic_bounds_it() -> None:
    _, goodput = innocent_after_a_storm(CONTROL, watchdog_ns=5 * MILLISECOND_NS)
    assert goodput > 4


def test_a_port_is_restored() -> None:
    control = PriorityFlowControl(
        xoff_bytes=50_000, watchdog_ns=2 * MILLISECOND_NS, watchdog_restore_ns=3 * MILLISECOND_NS
    )
    simulation, pairs = two_switches(control)
    simulation.pause_storm("h2", start_ns=MILLISECOND_NS, duration_ns=4 * MILLISECOND_NS)
    simulation.run_until(7 * MILLISECOND_NS)  # the port is open again from 8 ms on
    stopped = pairs["broken"].delivered_bytes
    simulation.run_until(200 * MILLISECOND_NS)
    assert pairs["broken"].delivered_bytes > stopped + 10**6
    assert counter(simulation, "watchdog_fired") == 1


@pytest.mark.parametrize("rate_bps", [2 * GBPS, 5 * GBPS, 9 * GBPS])
def test_a_slow_receiver_gets_its_rate_and_loses_nothing(rate_bps: int) -> None:
    simulation = Star(hosts=2, buffer_bytes=4_000_000, flow_control=CONTROL).build()
    simulation.receive_slowly("h1", rate_bps=rate_bps)
    queue_pair = connect(simulation, "h0", "h1", timeout_exponent=20)
    queue_pair.post_write(1, 10**9, True)
    simulation.run_until(10 * MILLISECOND_NS)
    before = queue_pair.delivered_bytes
    simulation.run_until(60 * MILLISECOND_NS)
    simulation.check_invariants()
    goodput = (queue_pair.delivered_bytes - before) * 8 / 50e-3
    assert goodput == pytest.approx(rate_bps * 1024 / 1086, rel=0.02)
    assert queue_pair.retransmitted_bytes == 0
    pauses = simulation.pause_table()
    share = pauses["duration_ns"][pauses["port"] == "s0->h1"].sum() / (60 * MILLISECOND_NS)
    assert share == pytest.approx(1 - rate_bps * 1106 / 1086 / (10 * GBPS), abs=0.03)


@pytest.mark.parametrize("start_ns", [0, MILLISECOND_NS])
def test_a_slow_receiver_loses_packets_if_its_switch_has_no_flow_control(start_ns: int) -> None:
    """1 ms at 10 Gb/s less 5 Gb/s is 625 kB, of which the buffer holds 256; the wire has 1106 B for 1086."""
    simulation = Star(hosts=2).build()
    simulation.record_packets(["s0->h1"])
    simulation.receive_slowly("h1", rate_bps=5 * GBPS, start_ns=start_ns)
    connect(simulation, "h0", "h1", service="uc").post_write(1, 10**7, False)
    simulation.run_until(start_ns + MILLISECOND_NS)
    simulation.check_invariants()
    packets = pd.DataFrame(simulation.packet_table())
    lost = packets[packets["reason"] == "slow_receiver"]
    assert lost["t_ps"].min() > 1_000 * start_ns
    assert len(lost) * 1086 == pytest.approx((10 * 1086 / 1106 - 5) / 8 * 10**6 - 256_000, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rate_bps": 0}, "expected rate_bps as an integer from 1"),
        ({"rate_bps": 1, "xon_bytes": 200_000}, "expected xon_bytes below xoff_bytes below buffer_bytes"),
    ],
)
def test_invalid_arguments_are_refused(arguments: Mapping[str, Any], sentence: str) -> None:
    simulation, _ = two_switches(CONTROL)
    with pytest.raises(SimulationError, match=f"receive_slowly h0: {sentence}"):
        simulation.receive_slowly("h0", **arguments)
    with pytest.raises(SimulationError, match="pause_storm h0: expected duration_ns as an integer from 1"):
        simulation.pause_storm("h0", start_ns=0, duration_ns=0)


@pytest.mark.parametrize("start_ns", [0, MILLISECOND_NS])
def test_without_flow_control_pauses_are_refused(start_ns: int) -> None:
    """Said when it is asked for, not when the time has come."""
    simulation = Star(hosts=2).build()
    sentence = (
        "expected h1 on a switch with flow control, which it can pause, got 's0' without; give its switch"
    )
    with pytest.raises(SimulationError, match=f"pause_storm h1: {sentence}"):
        simulation.pause_storm("h1", start_ns=start_ns, duration_ns=1)
    simulation.run_until(2 * MILLISECOND_NS)


@pytest.mark.parametrize("fault", ["pause_storm", "receive_slowly"])
def test_a_fault_in_the_past_is_refused_and_does_nothing(fault: str) -> None:
    simulation, pairs = two_switches(CONTROL)
    simulation.run_until(MILLISECOND_NS)
    more = {"rate_bps": GBPS} if fault == "receive_slowly" else {}
    with pytest.raises(SimulationError, match=f"{fault} h2: expected start_ns as an integer from 1000000 "):
        getattr(simulation, fault)("h2", start_ns=5, duration_ns=10 * MILLISECOND_NS, **more)
    simulation.run_until(2 * MILLISECOND_NS)
    before = pairs["broken"].delivered_bytes
    simulation.run_until(3 * MILLISECOND_NS)
    assert pairs["broken"].delivered_bytes - before > 500_000


def test_a_receiver_slow_from_now_on_is_slow_for_the_whole_duration() -> None:
    simulation, pairs = two_switches(CONTROL)
    simulation.run_until(5 * MILLISECOND_NS)
    simulation.receive_slowly("h2", rate_bps=GBPS, duration_ns=5 * MILLISECOND_NS)
    simulation.run_until(6 * MILLISECOND_NS)
    before = pairs["broken"].delivered_bytes
    simulation.run_until(10 * MILLISECOND_NS)
    assert (pairs["broken"].delivered_bytes - before) * 8 < 1.01 * 4 * MILLISECOND_NS


@pytest.mark.parametrize(
    ("fault", "target", "changes", "sentence"),
    [
        ("receive_slowly", ("h2",), {"rate_bps": GBPS, "duration_ns": 0}, "expected duration_ns"),
        ("receive_slowly", ("h2",), {"rate_bps": GBPS, "start_ns": False}, "expected start_ns"),
        ("cut_link", ("h2", "s1"), {"reroute_after_ns": -1}, "expected reroute_after_ns"),
        ("cut_link", ("h2", "s1"), {"reroute_after_ns": 5}, "expected a link between two switches"),
    ],
)
def test_a_fault_that_is_refused_does_nothing(
    fault: str, target: tuple[str, ...], changes: dict[str, Any], sentence: str
) -> None:
    simulation, pairs = two_switches(CONTROL)
    times = {"start_ns": 0, "duration_ns": 10 * MILLISECOND_NS}
    with pytest.raises(SimulationError, match=sentence):
        getattr(simulation, fault)(*target, **{**times, **changes})
    simulation.run_until(MILLISECOND_NS)
    assert pairs["broken"].delivered_bytes > 500_000


PACKETS = 20_000


def star(loss: Loss, senders: int = 1) -> tuple[Simulation, list[QueuePair]]:
    """Senders on a clean line each, and a receiver behind a line that loses packets."""
    links = [("s", "b", {"loss": loss}), *((f"a{i}", "s") for i in range(senders))]
    simulation = network(links, settings={"seed": 5})
    return simulation, [
        connect(simulation, f"a{i}", "b", mtu_bytes=256, service="uc") for i in range(senders)
    ]


def received(loss: Loss) -> list[bool]:
    """Return for each of many messages of one packet whether it arrives."""
    simulation, [sender] = star(loss)
    arrived = [False] * PACKETS

    def on_receives(now: int, receives: list[tuple[int, int, int, int, int | None]]) -> None:
        for *_, imm in receives:
            arrived[imm or 0] = True

    receiver = simulation.connect("a0", "b", mtu_bytes=256, retry_count=0, timeout_exponent=0, service="uc")
    receiver[1].attach(lambda now, completions: None, lambda now, state: None, on_receives)
    for number in range(PACKETS):
        receiver[0].post_write(number, 0, False, imm=number)
    simulation.run_until(SECOND_NS)
    simulation.check_invariants()
    assert counter(simulation, "lost_packets", "s->b") == PACKETS - sum(arrived)
    assert sender.delivered_messages == 0
    return arrived


def test_independent_losses_have_their_probability() -> None:
    lost = PACKETS - sum(received(IndependentLoss(0.1)))
    assert lost == pytest.approx(2_000, abs=4 * 42)  # sigma = sqrt(20000 * 0.1 * 0.9)


def test_losses_happen_inside_their_window() -> None:
    arrived = received(IndependentLoss(0.5, from_ns=500_000, until_ns=1_000_000))
    # A message takes 62 + 16 + 4 + 20 wire bytes, 81.6 ns; number n arrives at 2 us + (n + 2) * 81.6 ns.
    first, last = arrived.index(False), PACKETS - 1 - arrived[::-1].index(False)
    assert 498_000 / 81.6 - 15 < first < 498_000 / 81.6 + 15
    assert 998_000 / 81.6 - 15 < last < 998_000 / 81.6 + 15


def test_bursts_have_their_length_and_share() -> None:
    arrived = received(BurstLoss(to_bad_probability=0.01, to_good_probability=0.25))
    runs = [len(list(run)) for is_arrived, run in groupby(arrived) if not is_arrived]
    assert sum(runs) / len(runs) == pytest.approx(4, rel=0.2)
    assert sum(runs) / PACKETS == pytest.approx(0.01 / 0.26, rel=0.25)


@pytest.mark.parametrize("bits", [4, 10])
def test_ip_id_loses_one_in_a_power_of_two_of_each_nic(bits: int) -> None:
    simulation, senders = star(IpIdLoss(2**bits - 1), senders=3)
    for sender in senders:
        for number in range(4 * 2**bits):
            sender.post_write(number, 0, False)
    simulation.run_until(SECOND_NS)
    # Every NIC sends each IP ID the same number of times, wherever it begins.
    assert [sender.delivered_messages for sender in senders] == [4 * (2**bits - 1)] * 3
    simulation.check_invariants()


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (IndependentLoss(1.0), "probability from 0 to less than 1, got 1.0"),
        (IndependentLoss(0.1, from_ns=-1), "from_ns as an integer from 0"),
        (IndependentLoss(0.1, from_ns=9, until_ns=8), "until_ns as an integer from 9"),
        (BurstLoss(0.1, 1.5), "to_good_probability from 0"),
        (IpIdLoss(2**16), "mask as an integer from 0 to 65535"),
    ],
)
def test_an_invalid_loss_is_refused(loss: Loss, expected: str) -> None:
    with pytest.raises(SimulationError, match=f"add_link s-b: expected {expected}"):
        star(loss)


def test_one_rule_for_each_link() -> None:
    with pytest.raises(SimulationError, match="expected loss or loss_probability, got both"):
        direct(loss_probability=0.1, loss=IpIdLoss(1))
