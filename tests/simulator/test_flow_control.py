"""Guarantees of switches with flow control, and their requirements."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, Star, connect, counter, network

from rogue.simulator import ROCEV2, PriorityFlowControl, QueuePair, Simulation, SimulationError
from rogue.simulator.flow_control import headroom_bytes

FRAME = 1024 + 62 + 16 + 4
WIRE_PS = 1106 * 800  # of a packet, at 10 Gb/s
SLOW_BPS = 10**6


def slow_port(flow_control: PriorityFlowControl, rate_bps: int, buffer_bytes: int = 9_000_000) -> Simulation:
    """Hosts a, b and c at 10 Gb/s, host d behind a slow port."""
    links = [("a", "s"), ("b", "s"), ("c", "s"), ("d", "s", {"rate_bps": rate_bps})]
    return network(links, switch={"buffer_bytes": buffer_bytes, "flow_control": flow_control})


@pytest.mark.parametrize(
    ("rate_bps", "delay_ps", "worked_bytes"),
    # 3 * 1126 + 84 = 3462, and 2 * 1 us * 10 Gb/s = 2500 bytes on the cable
    [
        (10 * GBPS, MICROSECOND_PS, 3462 + 2_500),
        (40 * GBPS, 2 * MICROSECOND_PS, 3462 + 20_000),
        (100 * GBPS, 1_500_000, 3462 + 37_500),
        (10 * GBPS, 1, 3462 + 1),
    ],
)
def test_headroom_by_formula(rate_bps: int, delay_ps: int, worked_bytes: int) -> None:
    assert headroom_bytes(ROCEV2, FRAME, rate_bps, delay_ps) == worked_bytes
    assert PriorityFlowControl().headroom_of("", ROCEV2, rate_bps, delay_ps) == worked_bytes


def drops_of_an_overrun(headroom: int, phase_ns: int | None) -> int:
    """Frames lost when one sender is paused for good, while frames of another flow keep the pause waiting."""
    flow_control = PriorityFlowControl(xoff_bytes=20_000, headroom_bytes=headroom, xon_gap_bytes=0)
    simulation = slow_port(flow_control, SLOW_BPS)
    connect(simulation, "a", "d").post_write(1, 10**6, True)
    if phase_ns is not None:
        back = connect(simulation, "b", "a")
        simulation.schedule(phase_ns, lambda now: back.post_write(1, 10**6, True))
    simulation.run_until(200_000)
    simulation.check_invariants()
    return counter(simulation, "lossless_drops")


def test_headroom_is_enough_at_the_worst_instant_and_a_frame_less_is_not() -> None:
    """The frame over the threshold and four more come in if the pause frame has to wait long enough."""
    enough = headroom_bytes(ROCEV2, FRAME, 10 * GBPS, MICROSECOND_PS)
    phases_ns = range(0, 900, 50)
    assert all(drops_of_an_overrun(enough, phase_ns) == 0 for phase_ns in phases_ns)
    assert drops_of_an_overrun(enough - FRAME, None) == 0
    lost = [drops_of_an_overrun(enough - FRAME, phase_ns) for phase_ns in phases_ns]
    assert set(lost) == {0, 1}


def test_the_first_pause_comes_when_the_threshold_is_full() -> None:
    """10 Gb/s come and 1 Gb/s leaves: nine frames in ten stay, and 92 of 1086 bytes fit under 100 KB."""
    simulation = slow_port(PriorityFlowControl(xoff_bytes=100_000), GBPS)
    connect(simulation, "a", "d").post_write(1, 10**6, True)
    simulation.run_until(MILLISECOND_NS)
    table = simulation.pause_table()
    assert set(table["port"]) == {"a->s"}
    assert set(table["node"]) == {"a"}
    assert set(table["priority"]) == {0}
    full_ns = 100_000 / 1086 * 10 / 9 * WIRE_PS / 1000
    pause_frame_ns = 84 * 0.8 + 1_000
    assert table["start_ns"][0] == pytest.approx(1_000 + full_ns + pause_frame_ns, abs=3 * WIRE_PS / 1000)


@pytest.mark.parametrize("pause_ns", [None, 50_000])
@pytest.mark.parametrize("rate_bps", [GBPS, 4 * GBPS])
def test_a_slow_port_slows_its_sender_by_pauses_alone(pause_ns: int | None, rate_bps: int) -> None:
    """Goodput is the slow port's, and the sender is silent for 1 - r / C of the time."""
    flow_control = PriorityFlowControl(xoff_bytes=300_000, xon_gap_bytes=200_000, pause_ns=pause_ns)
    simulation = slow_port(flow_control, rate_bps)
    queue_pair = connect(simulation, "a", "d")
    queue_pair.post_write(1, 10**8, True)
    began_ns, until_ns = 10 * MILLISECOND_NS, 110 * MILLISECOND_NS
    simulation.run_until(began_ns)
    before = queue_pair.delivered_bytes
    simulation.run_until(until_ns)
    goodput_bps = (queue_pair.delivered_bytes - before) * 8 * 10
    assert goodput_bps == pytest.approx(rate_bps * 1024 / 1106, rel=0.001)
    pauses = simulation.pause_table()
    starts_ns = np.maximum(pauses["start_ns"], began_ns)
    silent_ns = np.maximum(pauses["start_ns"] + pauses["duration_ns"] - starts_ns, 0).sum()
    assert silent_ns / (until_ns - began_ns) == pytest.approx(1 - rate_bps / (10 * GBPS), abs=0.015)
    assert counter(simulation, "drops") == 0


@pytest.mark.parametrize("pause_ns", [None, 50_000])
def test_nothing_of_a_paused_priority_leaves(pause_ns: int | None) -> None:
    """From the frame that is being sent when a pause begins until it ends."""
    flow_control = PriorityFlowControl(xoff_bytes=100_000, xon_gap_bytes=50_000, pause_ns=pause_ns)
    simulation = slow_port(flow_control, GBPS)
    connect(simulation, "a", "d").post_write(1, 10**7, True)
    sent = []
    for t_ns in range(0, 5 * MILLISECOND_NS, 1_000):
        simulation.run_until(t_ns)
        sent.append(counter(simulation, "tx_bytes", "a->s"))
    table = simulation.pause_table()
    assert len(table["start_ns"]) > 3
    for start_ns, duration_ns in zip(table["start_ns"].tolist(), table["duration_ns"].tolist(), strict=True):
        first, last = -(-(start_ns + WIRE_PS // 1000) // 1_000), (start_ns + duration_ns - 1) // 1_000
        assert last > first
        assert sent[first] == sent[min(last, len(sent) - 1)]


def test_pauses_for_a_time_are_repeated_while_they_are_needed() -> None:
    def run(flow_control: PriorityFlowControl) -> Simulation:
        simulation = slow_port(flow_control, GBPS)
        connect(simulation, "a", "d").post_write(1, 10**7, True)
        simulation.run_until(50 * MILLISECOND_NS)
        return simulation

    until_resumed = PriorityFlowControl(xoff_bytes=300_000, xon_gap_bytes=200_000)
    once, again = run(until_resumed), run(replace(until_resumed, pause_ns=50_000, refresh_ns=10_000))
    paused_ns = once.pause_table()["duration_ns"].tolist()
    assert again.pause_table()["duration_ns"].sum() == pytest.approx(sum(paused_ns), rel=0.01)
    more = counter(again, "pause_frames") - counter(once, "pause_frames")
    assert more == pytest.approx(sum(paused_ns) / 10_000, rel=0.02)


@pytest.mark.parametrize(("alpha", "share_bytes"), [(1 / 16, 529_411), (1 / 64, 138_461)])
def test_one_congested_ingress_gets_its_dynamic_share(alpha: float, share_bytes: int) -> None:
    """S alpha / (1 + alpha) of a shared buffer of S = 9 MB."""
    flow_control = PriorityFlowControl(alpha=alpha)
    links = 3 * flow_control.headroom_of("", ROCEV2, 10 * GBPS, MICROSECOND_PS)
    links += flow_control.headroom_of("", ROCEV2, SLOW_BPS, MICROSECOND_PS)
    simulation = slow_port(flow_control, SLOW_BPS, buffer_bytes=9_000_000 + links)
    simulation.sample_queues(MILLISECOND_NS)
    connect(simulation, "a", "d").post_write(1, 10**6, True)
    simulation.run_until(MILLISECOND_NS)
    most = simulation.queue_table()["max_bytes"].max()
    used = counter(simulation, "headroom_used_max_bytes")
    assert 0 < used <= 3 * 1126 + 84 + 2_500
    assert share_bytes - 1086 < most - used <= share_bytes


def test_a_smaller_alpha_pauses_more() -> None:
    def paused_ns(alpha: float) -> int:
        star = Star(hosts=9, buffer_bytes=2_000_000, flow_control=PriorityFlowControl(alpha=alpha))
        simulation = star.build()
        for i in range(8):
            connect(simulation, f"h{i}", "h8").post_write(1, 300_000, True)
        simulation.run_until(5 * MILLISECOND_NS)
        assert counter(simulation, "drops") == 0
        return int(simulation.pause_table()["duration_ns"].sum())

    assert paused_ns(1 / 64) > paused_ns(1 / 16) > 0


def chain_with_a_victim(flow_control: PriorityFlowControl | None, priority: int) -> list[QueuePair]:
    """Hosts a, b, v on switch s; c and w on switch t. a and b fill the port to c; v sends to w.

    All of it shares the link from s to t, which is faster than both ports behind it.
    """
    links = [(name, "st"[name in "cw"], {"delay_ps": MICROSECOND_PS + i}) for i, name in enumerate("abvcw")]
    simulation = network(
        [("s", "t", {"rate_bps": 40 * GBPS}), *links],
        switch={"buffer_bytes": 2_000_000, "alpha": 8.0, "flow_control": flow_control},
    )
    flows = [
        connect(simulation, *ends, priority=its) for ends, its in (("ac", 0), ("bc", 0), ("vw", priority))
    ]
    for flow in flows:
        flow.post_write(1, 10**8, True)
    simulation.run_until(10 * MILLISECOND_NS)
    simulation.check_invariants()
    return flows


def test_who_shares_a_paused_link_waits_too_but_not_on_another_priority() -> None:
    flow_control = PriorityFlowControl(xoff_bytes=20_000)
    share = 10 * GBPS * 1024 / 1106 / 8 / 100  # bytes in 10 ms
    *_, same = chain_with_a_victim(flow_control, priority=0)
    assert same.delivered_bytes < 0.75 * share
    for priority in (1, 5):
        a, b, other = chain_with_a_victim(flow_control, priority)
        assert other.delivered_bytes == pytest.approx(share, rel=0.01)
        assert a.delivered_bytes + b.delivered_bytes == pytest.approx(share, rel=0.01)


def test_acknowledgements_wait_for_their_priority() -> None:
    """The port of a is paused when b's packet comes: the acknowledgement leaves when the pause is over."""
    simulation = slow_port(PriorityFlowControl(xoff_bytes=20_000), 10**8)
    simulation.record_oracle_rtt()
    connect(simulation, "a", "d").post_write(1, 200_000, True)
    asked = connect(simulation, "b", "a")
    simulation.schedule(60_000, lambda now: asked.post_write(7, 1024, True))
    simulation.run_until(5 * MILLISECOND_NS)
    oracle, pauses = simulation.oracle_table(), simulation.pause_table()
    done_ns = int(oracle["t_comp_ps"][oracle["wr_id"] == 7][0]) // 1000
    starts_ns, ends_ns = pauses["start_ns"], pauses["start_ns"] + pauses["duration_ns"]
    arrived_ns = 60_000 + 2 * (1_000 + 898)  # two links, 1122 bytes
    [resumed_ns] = ends_ns[(starts_ns < arrived_ns) & (ends_ns > arrived_ns)].tolist()
    # Then it goes first, over two links, and may meet a frame of the other direction's flow on the way.
    assert resumed_ns + 2_000 < done_ns < resumed_ns + 2_000 + 3 * 885


def test_an_unfinished_pause_lasts_until_now() -> None:
    simulation = slow_port(PriorityFlowControl(xoff_bytes=20_000), SLOW_BPS)
    connect(simulation, "a", "d").post_write(1, 10**6, True)
    for until_ns in (500_000, 900_000):
        simulation.run_until(until_ns)
        table = simulation.pause_table()
        assert (table["start_ns"] + table["duration_ns"]).tolist() == [until_ns]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"priorities": ()}, r"expected priorities as different numbers from 0 to 7, got \(\)"),
        ({"priorities": (1, 1)}, "expected priorities as different numbers"),
        ({"priorities": (8,)}, "expected priorities as different numbers"),
        ({"alpha": 0.0}, "expected alpha as a finite number above 0, got 0.0"),
        ({"alpha": -1}, "expected alpha as a finite number above 0, got -1"),
        ({"xoff_bytes": -1}, "expected xoff_bytes as an integer from 0"),
        ({"xoff_bytes": 2_000}, "expected xon_gap_bytes below xoff_bytes, 2000, got 2212"),
        ({"headroom_bytes": 1.5}, "expected headroom_bytes as an integer"),
        ({"refresh_ns": 100}, "expected pause_ns together with refresh_ns"),
        ({"pause_ns": 100, "refresh_ns": 100}, "expected refresh_ns as an integer from 1 to 99, got 100"),
        ({"mtu_bytes": 0}, "expected mtu_bytes as an integer"),
    ],
)
def test_invalid_arguments_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SimulationError, match=f"add_switch s: {sentence}"):
        slow_port(PriorityFlowControl(**wrong), GBPS)


def test_a_share_of_an_unbounded_buffer_makes_no_sense() -> None:
    with pytest.raises(SimulationError, match="alpha needs a buffer of which it is a share"):
        Simulation(seed=1).add_switch("s", buffer_bytes=None, alpha=1.0, flow_control=PriorityFlowControl())


def test_headroom_must_fit_into_the_buffer() -> None:
    # a, b and c need 5962 bytes each; the buffer has only 17885 of 17886
    with pytest.raises(
        SimulationError,
        match="add_link c-s: expected a buffer of s above the headroom of its links, which needs 2",
    ):
        slow_port(PriorityFlowControl(), 10 * GBPS, buffer_bytes=3 * 5962 - 1)


def test_packets_larger_than_those_of_the_headroom_are_refused() -> None:
    simulation = slow_port(PriorityFlowControl(mtu_bytes=1024), GBPS)
    with pytest.raises(
        SimulationError,
        match="connect a-d: expected mtu_bytes up to that of the switches' flow control, 1024",
    ):
        connect(simulation, "a", "d", mtu_bytes=2048)


def test_a_pause_must_last_until_it_is_refreshed() -> None:
    with pytest.raises(
        SimulationError, match="add_link d-s: expected refresh_ns up to 5992, so that no pause"
    ):
        slow_port(PriorityFlowControl(pause_ns=15_000), GBPS)  # the frame: 1126 * 8 = 9008 ns
    with pytest.raises(
        SimulationError, match="expected pause_ns as an integer from 0 to 3355392, got 4000000"
    ):
        slow_port(PriorityFlowControl(pause_ns=4_000_000), 10 * GBPS)


def test_both_ends_of_a_link_between_switches_have_flow_control_or_none() -> None:
    simulation = Simulation(seed=1)
    simulation.add_switch("s", buffer_bytes=10**6, alpha=1.0, flow_control=PriorityFlowControl())
    simulation.add_switch("t", buffer_bytes=10**6, alpha=1.0)
    with pytest.raises(
        SimulationError, match="add_link s-t: expected flow control in both switches or in none"
    ):
        simulation.add_link("s", "t", rate_bps=GBPS, delay_ps=1)
