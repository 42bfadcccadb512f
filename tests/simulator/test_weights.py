"""Priorities that share a port by weights."""

from collections.abc import Mapping
from typing import Any

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS

from rogue.simulator import IDEAL, Marking, PriorityFlowControl, QueuePair, Simulation, SimulationError


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


def test_one_alone_has_all() -> None:
    simulation = star({0: 1, 3: 1000})
    ends = senders(simulation, {0: 1024})
    simulation.run_until(10 * MILLISECOND_NS)
    assert ends[0].delivered_bytes > 0.99 * 10e-3 * 10e9 / 8 * 1024 / 1106


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


def test_a_probe_with_a_queue_of_its_own_meets_no_queue() -> None:
    """It waits for a frame that is being sent and two turns of three others, 7 * .885 us, on a way of 4.2 us.

    So a probe of which half take 58 us shares a queue. Source: RoGUE (SoCC'18), figure 11.
    """
    simulation = star(dict.fromkeys(range(4), 1))
    senders(simulation, dict.fromkeys(range(3), 1024))
    probe, _ = simulation.connect("h3", "h4", mtu_bytes=1024, retry_count=7, timeout_exponent=20, priority=3)
    round_trips_ns: list[int] = []
    for wr_id in range(100):
        now_ns = MILLISECOND_NS + wr_id * 97_301
        simulation.run_until(now_ns)
        probe.attach(
            lambda now, completions, since=now_ns: round_trips_ns.append(now - since),
            lambda now, state: None,
        )
        probe.post_write(wr_id, 0, True)
    simulation.run_until(20 * MILLISECOND_NS)
    assert len(round_trips_ns) == 100
    assert max(round_trips_ns) < 4_200 + 7 * 885
