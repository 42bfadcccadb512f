"""Switches of both kinds; most of this is about those that store frames where they came in."""

from typing import Any

import pytest
from helpers.networks import (
    GBPS,
    MICROSECOND_PS,
    MILLISECOND_NS,
    ReferenceSimulation,
    connect,
    counter,
    network,
)

from rogue.simulator import IDEAL, ROCEV2, Marking, PriorityFlowControl, Simulation, SimulationError

FRAME = 1024 + 62
ENGINES = (Simulation, ReferenceSimulation)
HEADROOM = PriorityFlowControl().headroom_of("", ROCEV2, 10 * GBPS, MICROSECOND_PS)


def star(
    hosts: int,
    simulation_type: type[Simulation] = Simulation,
    buffer_bytes: int | None = 100_000,
    **features: Any,
) -> Simulation:
    """Hosts h0 ... around switch s0, at 10 Gb/s."""
    switch = {"buffer_bytes": buffer_bytes, "kind": "voq", **features}
    return network([(f"h{i}", "s0") for i in range(hosts)], simulation_type, switch=switch)


def once(simulation: Simulation, a: str, b: str, size_bytes: int, **connection: Any) -> Any:
    """One verb that repeats nothing."""
    return delivered(simulation, a, b, size_bytes, **{"service": "uc", **connection})


def delivered(simulation: Simulation, a: str, b: str, size_bytes: int = 10**8, **connection: Any) -> Any:
    queue_pair = connect(simulation, a, b, timeout_exponent=20, **connection)
    queue_pair.post_write(1, size_bytes, True)
    return queue_pair


@pytest.mark.parametrize("engine", ENGINES)
def test_inputs_take_turns_whatever_they_hold(engine: type[Simulation]) -> None:
    """Two hosts share a link into the switch, a third one has its own: half of the port each.

    An output-queued switch would serve frames as they come.
    """
    links = [("h0", "s1"), ("h1", "s1"), ("h2", "s0"), ("h3", "s0"), ("s1", "s0", {"rate_bps": 20 * GBPS})]
    simulation = network(links, engine, switch={"kind": "voq"})
    ends = [delivered(simulation, f"h{i}", "h3") for i in range(3)]
    simulation.run_until(5 * MILLISECOND_NS)
    simulation.check_invariants()
    shares = [end.delivered_bytes / sum(end.delivered_bytes for end in ends) for end in ends]
    assert shares == pytest.approx([0.25, 0.25, 0.5], abs=0.01)


@pytest.mark.parametrize("engine", ENGINES)
def test_turns_are_counted_in_frames(engine: type[Simulation]) -> None:
    simulation = star(3, engine, buffer_bytes=None)
    small, large = (delivered(simulation, f"h{i}", "h2", mtu_bytes=mtu) for i, mtu in ((0, 256), (1, 1024)))
    simulation.run_until(5 * MILLISECOND_NS)
    assert large.delivered_bytes / small.delivered_bytes == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_input_loses_what_its_buffer_does_not_hold(engine: type[Simulation]) -> None:
    """Two bursts of 200 frames meet: each input sees 100 leave meanwhile, and keeps those that fit."""
    for buffer_bytes, kept in ((20 * FRAME + 100, 20), (50 * FRAME + 100, 50), (200 * FRAME, 100)):
        simulation = star(3, engine, buffer_bytes=buffer_bytes)
        for i in range(2):
            once(simulation, f"h{i}", "h2", 200 * 1024)
        simulation.run_until(MILLISECOND_NS)
        simulation.check_invariants()
        assert counter(simulation, "drops") == pytest.approx(2 * (100 - kept), abs=4)


def test_a_full_input_loses_frames_for_idle_ports_too_late_but_not_those_that_need_no_room() -> None:
    """h0's buffer is full of frames for h2; what it sends to h3 finds that port idle and passes."""
    simulation = star(4, buffer_bytes=20 * FRAME)
    for i in range(2):
        delivered(simulation, f"h{i}", "h2", service="uc")
    passing = delivered(simulation, "h0", "h3")
    simulation.run_until(2 * MILLISECOND_NS)
    simulation.check_invariants()
    assert counter(simulation, "drops", "s0->h2") > 100
    assert counter(simulation, "drops", "s0->h3") == 0
    assert passing.delivered_bytes == pytest.approx(2e-3 * 10e9 / 8 / 2 * 1024 / 1106, rel=0.05)


def test_other_inputs_have_their_own_buffers() -> None:
    """Inputs h0 and h1 overflow towards h5, h2 and h3 towards h6 hold a burst that fits."""
    simulation = star(7, buffer_bytes=50 * FRAME)
    for i in range(2):
        delivered(simulation, f"h{i}", "h5", service="uc")
    for i in (2, 3):
        once(simulation, f"h{i}", "h6", 90 * 1024)
    simulation.run_until(MILLISECOND_NS)
    assert counter(simulation, "drops", "s0->h5") > 100
    assert counter(simulation, "drops", "s0->h6") == 0


def test_no_head_of_line_blocking() -> None:
    """h0 sends to a port that h1 fills, and to an idle one: the latter gets all that h0 can send."""
    simulation = star(4, buffer_bytes=None)
    connect(simulation, "h1", "h2").post_write(1, 10**7, True)
    connect(simulation, "h0", "h2").post_write(1, 10**7, True)
    free = delivered(simulation, "h0", "h3")
    simulation.run_until(5 * MILLISECOND_NS)
    assert free.delivered_bytes == pytest.approx(5e-3 * 10e9 / 8 / 2 * 1024 / 1106, rel=0.01)


def test_marks_count_what_waits_at_all_inputs() -> None:
    """Each of four inputs holds less than 14 frames, and together they hold more than 30."""
    rule = Marking(kmin_bytes=30 * FRAME, kmax_bytes=30 * FRAME, pmax=1, at="arrival")
    simulation = star(5, buffer_bytes=None, marking=rule)
    for i in range(4):
        once(simulation, f"h{i}", "h4", 14 * 1024)
    simulation.run_until(MILLISECOND_NS)
    # Four come while one leaves: those of the k-th time find 3 (k - 1) to 3 k, more than 30 from the 11th on.
    assert counter(simulation, "marked_packets") == pytest.approx(3 + 4 + 4 + 4, abs=1)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_pause_comes_when_buffer_less_headroom_is_full(engine: type[Simulation]) -> None:
    """Two senders at 10 Gb/s, one port: half of each one's frames stay."""
    flow_control = PriorityFlowControl(headroom_bytes=HEADROOM)
    simulation = star(3, engine, buffer_bytes=100_000 + HEADROOM, flow_control=flow_control)
    for i in range(2):
        connect(simulation, f"h{i}", "h2").post_write(1, 10**6, True)
    simulation.run_until(MILLISECOND_NS)
    table = simulation.pause_table()
    assert set(table["port"]) == {"h0->s0", "h1->s0"}
    full_ns = 100_000 / FRAME * 2 * 1106 * 0.8
    assert table["start_ns"][0] == pytest.approx(1_000 + full_ns + 84 * 0.8 + 1_000, abs=3 * 885)
    assert counter(simulation, "drops") == 0


@pytest.mark.parametrize("priorities", [(0,), (0, 3), (0, 3, 5)])
def test_lossless_priorities_lose_nothing_and_others_may(priorities: tuple[int, ...]) -> None:
    """All hosts send all priorities to one; the last priority is lossy."""
    flow_control = PriorityFlowControl(priorities=priorities)
    simulation = star(
        6,
        buffer_bytes=20_000 + len(priorities) * HEADROOM,
        flow_control=flow_control,
        weights=dict.fromkeys(range(8), 1),
    )
    for priority in (*priorities, 7):
        for i in range(5):
            delivered(simulation, f"h{i}", "h5", priority=priority, service="uc")
    simulation.run_until(3 * MILLISECOND_NS)
    simulation.check_invariants()
    assert counter(simulation, "lossless_drops") == 0
    assert counter(simulation, "drops") > 0
    assert counter(simulation, "pause_frames") > 0


def test_headroom_a_frame_short_does_drop() -> None:
    def lost(headroom_bytes: int, phase_ns: int) -> int:
        flow_control = PriorityFlowControl(headroom_bytes=headroom_bytes, xon_gap_bytes=0)
        simulation = star(3, buffer_bytes=20_000 + headroom_bytes, flow_control=flow_control)
        simulation.add_host("slow", IDEAL)
        simulation.add_link("slow", "s0", rate_bps=10**6, delay_ps=MICROSECOND_PS)
        connect(simulation, "h0", "slow").post_write(1, 10**6, True)
        back = connect(simulation, "h1", "h0")
        simulation.schedule(phase_ns, lambda now: back.post_write(1, 10**6, True))
        simulation.run_until(200_000)
        simulation.check_invariants()
        return counter(simulation, "lossless_drops")

    phases_ns = range(0, 900, 50)
    assert {lost(HEADROOM, phase_ns) for phase_ns in phases_ns} == {0}
    assert {lost(HEADROOM - 1126, phase_ns) for phase_ns in phases_ns} == {0, 1}


def test_an_input_buffer_must_hold_the_headroom_of_its_link_alone() -> None:
    star(9, buffer_bytes=HEADROOM + 1, flow_control=PriorityFlowControl())
    with pytest.raises(
        SimulationError,
        match="add_link h0-s0: expected a buffer of s0 above the headroom of this link, which needs 1 bytes",
    ):
        star(1, buffer_bytes=HEADROOM, flow_control=PriorityFlowControl())


def test_a_threshold_must_leave_room_for_headroom() -> None:
    flow_control = PriorityFlowControl(xoff_bytes=20_000, headroom_bytes=10_000)
    with pytest.raises(
        SimulationError,
        match="add_link h0-s0: expected xoff_bytes of s0 up to its buffer less the headroom of this link, "
        "19999, got 20000",
    ):
        star(1, buffer_bytes=29_999, flow_control=flow_control)
