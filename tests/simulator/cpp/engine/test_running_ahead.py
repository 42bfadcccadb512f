"""Switches that run ahead of hosts: only a callback that reads a switch can observe it."""

from collections.abc import Callable

import pytest
from helpers.networks import GBPS, ReferenceSimulation, RunsAhead, connect, network

from rogue.simulator import PriorityFlowControl, Simulation, SimulationError

ASKED_NS = 20_000
END_NS = 200_000
DELAY_PS = 5_000_000


def line(simulation_type: type[Simulation], last_bps: int = 10 * GBPS) -> Simulation:
    """h0 sends to h1 over two switches; packets between them are known `DELAY_PS` before they arrive."""
    flow_control = PriorityFlowControl(mtu_bytes=1024, xoff_bytes=20_000)
    simulation = network(
        [("h0", "s0"), ("s0", "s1"), ("s1", "h1", {"rate_bps": last_bps})],
        simulation_type,
        switch={"buffer_bytes": 1_000_000, "flow_control": flow_control},
        delay_ps=DELAY_PS,
    )
    connect(simulation, "h0", "h1").post_write(1, 100_000, True)
    return simulation


def hops_at(simulation: Simulation, *, in_step: bool) -> int:
    """Return the packet-hops that a callback sees."""
    seen: list[int] = []
    simulation.schedule(
        ASKED_NS, lambda _now: seen.append(simulation.statistics()["packet_hops"]), in_step=in_step
    )
    simulation.run_until(END_NS)
    return seen[0]


def in_a_callback(simulation: Simulation, ask: Callable[[], object], *, in_step: bool = False) -> None:
    simulation.schedule(ASKED_NS, lambda _now: ask(), in_step=in_step)
    simulation.run_until(END_NS)


def cut_in_a_callback(simulation_type: type[Simulation], start_ns: int, *, in_step: bool) -> Simulation:
    simulation = line(simulation_type)
    in_a_callback(
        simulation,
        lambda: simulation.cut_link("s0", "s1", start_ns=start_ns, duration_ns=10_000),
        in_step=in_step,
    )
    return simulation


def test_switches_are_ahead_of_a_callback() -> None:
    assert hops_at(line(RunsAhead), in_step=False) > hops_at(line(ReferenceSimulation), in_step=False)


def test_none_is_ahead_of_a_callback_in_step() -> None:
    assert hops_at(line(RunsAhead), in_step=True) == hops_at(line(ReferenceSimulation), in_step=True)


def test_no_switch_is_ahead_after_a_run() -> None:
    ahead, eager = line(RunsAhead), line(ReferenceSimulation)
    for end_ns in range(0, END_NS, 3_000):
        ahead.run_until(end_ns)
        eager.run_until(end_ns)
        assert ahead.statistics()["packet_hops"] == eager.statistics()["packet_hops"]
        assert ahead.counters() == eager.counters()


def test_a_cut_that_would_come_too_late_is_refused() -> None:
    with pytest.raises(SimulationError) as error:
        cut_in_a_callback(RunsAhead, ASKED_NS, in_step=False)
    assert str(error.value) == (
        "cut_link: a switch is ahead: expected a time of at least 21529 ns, got 20000 ns; "
        "none is ahead of a callback of schedule(..., in_step=True)"
    )


@pytest.mark.parametrize(("start_ns", "in_step"), [(ASKED_NS, True), (ASKED_NS + 10_000, False)])
def test_another_is_as_exact_as_ever(start_ns: int, in_step: bool) -> None:
    ahead, eager = (
        cut_in_a_callback(simulation_type, start_ns, in_step=in_step)
        for simulation_type in (RunsAhead, ReferenceSimulation)
    )
    assert ahead.counters() == eager.counters()
    assert ahead.digest() == eager.digest()
    assert any(name == "lost_packets" and value > 0 for _, _, name, value in eager.counters())


@pytest.mark.parametrize(
    ("what", "ask"),
    [
        ("sample_queues", lambda simulation: simulation.sample_queues(1_000)),
        ("record_packets", lambda simulation: simulation.record_packets()),
        ("schedule", lambda simulation: simulation.schedule(ASKED_NS + 1, print, in_step=True)),
    ],
)
def test_what_concerns_switches_is_refused_in_between(what: str, ask: Callable[[Simulation], object]) -> None:
    simulation = line(RunsAhead)
    with pytest.raises(SimulationError, match=f"^{what}: a switch is ahead: expected a time of at least"):
        in_a_callback(simulation, lambda: ask(simulation))


@pytest.mark.parametrize("interval_ns", [700, 5_000])
def test_queues_are_sampled_in_step(interval_ns: int) -> None:
    tables = []
    for simulation_type in (RunsAhead, ReferenceSimulation):
        simulation = line(simulation_type)
        simulation.sample_queues(interval_ns)
        simulation.run_until(END_NS)
        tables.append({name: column.tolist() for name, column in simulation.queue_table().items()})
    assert tables[0] == tables[1]


def test_no_pause_is_reported_before_it_begins() -> None:
    simulation = line(RunsAhead, last_bps=GBPS)
    seen: list[int] = []
    for asked_ns in range(0, END_NS, 1_000):
        simulation.schedule(
            asked_ns, lambda _now: seen.extend(simulation.pause_table()["duration_ns"].tolist())
        )
    simulation.run_until(END_NS)
    assert seen
    assert min(seen) >= 0


def test_after_an_exception_a_run_continues_beyond_the_clocks_of_switches() -> None:
    ahead, eager = line(RunsAhead), line(ReferenceSimulation)

    def fail() -> None:
        raise ValueError

    with pytest.raises(ValueError):
        in_a_callback(ahead, fail)
    with pytest.raises(
        SimulationError, match=r"^run_until: a switch is ahead: expected a time of at least 21529 "
    ):
        ahead.run_until(ASKED_NS)
    for simulation in (ahead, eager):
        simulation.run_until(END_NS)
    assert ahead.counters() == eager.counters()


def leaf_and_spine(simulation_type: type[Simulation], packets_max: int) -> Simulation:
    """Two leaves do the same at the same instants, over two spines."""
    links = [(f"h{host}", f"l{host % 2}") for host in range(4)]
    links += [(leaf, spine) for leaf in ("l0", "l1") for spine in ("s0", "s1")]
    simulation = network(links, simulation_type)
    simulation.record_packets(packets_max=packets_max)
    for host in range(4):
        queue_pair = connect(simulation, f"h{host}", f"h{(host + 1) % 4}", path_seed=host)
        queue_pair.post_write(host, 3_000, True)
    return simulation


@pytest.mark.parametrize("packets_max", range(1, 33))
def test_a_full_log_of_packets_has_those_that_came_first(packets_max: int) -> None:
    tables = []
    for simulation_type in (RunsAhead, ReferenceSimulation):
        simulation = leaf_and_spine(simulation_type, packets_max)
        simulation.run_until(END_NS)
        tables.append({name: column.tolist() for name, column in simulation.packet_table().items()})
    assert tables[0] == tables[1]
