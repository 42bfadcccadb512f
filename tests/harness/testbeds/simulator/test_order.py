"""Transfers that wait for others."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from helpers.experiments import cell_of

from rogue.agent.core.clocks import HostNs
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.order import Order
from rogue.simulator import Simulation
from rogue.workloads.traffic import Arrival, Flow, Predecessor

PAIRS = "workload={{kind: many_pairs, hosts: 3, load: 0.9, arrive_for: 20ms, small_every: 2, loop: {loop}}}"


class Agent:
    """Notes when it may start what; a lost one starts nothing."""

    def __init__(self, *, is_lost: bool = False) -> None:
        self.released: list[tuple[int, int]] = []
        self._is_lost = is_lost

    def release(self, number: int, now: HostNs, not_before_ns: HostNs) -> bool:
        if not self._is_lost:
            self.released.append((number, not_before_ns))
        return not self._is_lost


class Clock:
    """Calls back at once."""

    def schedule(self, host_ns: int, callback: Callable[[int], None]) -> None:
        callback(host_ns)


def flow(destination: str, *after: tuple[Predecessor, ...]) -> Flow:
    arrivals = tuple(Arrival(0, 1, each) for each in after)
    return Flow("a", destination, "write", 1, 0, count=len(arrivals), arrivals=arrivals)


def joined(flows: list[Flow], *agents: Agent) -> Order:
    order = Order(cast("Simulation", Clock()), flows)
    for each, agent in zip(flows, agents, strict=True):
        order.join(each, agent)
    return order


def end(order: Order, ended: Flow, transfer_id: int, now_ns: int) -> None:
    listener, _ = order.listeners(ended)
    assert listener is not None
    listener(transfer_id, HostNs(now_ns))


def arrive(order: Order, arrived: Flow, transfer_id: int, now_ns: int) -> None:
    _, listener = order.listeners(arrived)
    assert listener is not None
    listener(transfer_id, HostNs(now_ns))


def test_a_transfer_starts_when_the_last_of_those_it_waits_for_has_ended() -> None:
    first, second = Predecessor("a->b", 0), Predecessor("a->b", 1)
    flows = [flow("b", (), ()), flow("c", (first, second))]
    before, waiting = Agent(), Agent()
    order = joined(flows, before, waiting)
    end(order, flows[0], 2, 100)
    assert waiting.released == []
    assert order.waited_for(flows[1], 1) == ("a->b", 2)
    end(order, flows[0], 1, 130)
    assert (before.released, waiting.released) == ([], [(0, 130)])
    assert order.waited_for(flows[1], 1) == ("a->b", 1)
    assert order.waited_for(flows[0], 1) is None


def test_each_has_a_pause_of_its_own_and_the_latest_decides() -> None:
    """max(100 + 50, 130 + 7) = 150: computing after the first takes longer than waiting for the second."""
    flows = [
        flow("b", (), ()),
        flow("c", (Predecessor("a->b", 0, pause_ns=50), Predecessor("a->b", 1, pause_ns=7))),
    ]
    waiting = Agent()
    order = joined(flows, Agent(), waiting)
    end(order, flows[0], 1, 100)
    end(order, flows[0], 2, 130)
    assert waiting.released == [(0, 150)]
    assert order.waited_for(flows[1], 1) == ("a->b", 1)


def test_an_arrival_is_not_an_end_but_an_end_stands_for_an_arrival() -> None:
    flows = [
        flow("b", (), ()),
        flow("c", (Predecessor("a->b", 0, "arrival"),)),
        flow("d", (Predecessor("a->b", 0, "end"),)),
        flow("e", (Predecessor("a->b", 1, "arrival"),)),
    ]
    agents = [Agent() for _ in flows]
    order = joined(flows, *agents)
    arrive(order, flows[0], 1, 10)
    assert [agent.released for agent in agents] == [[], [(0, 10)], [], []]
    end(order, flows[0], 1, 20)
    end(order, flows[0], 2, 30)
    assert [agent.released for agent in agents] == [[], [(0, 10)], [(0, 20)], [(0, 30)]]


def test_a_start_is_by_the_clock_or_when_the_wait_is_over() -> None:
    begun = Flow("a", "b", "write", 1, 5, count=1, arrivals=(Arrival(5, 1),))
    flows = [
        begun,
        flow("c", (Predecessor("a->b", 0, "start", 10),)),
        flow("d", (Predecessor("a->c", 0, "start", 10),)),
    ]
    agents = [Agent() for _ in flows]
    waits: list[tuple[int, Callable[[int], None]]] = []

    class Later:
        def schedule(self, host_ns: int, callback: Callable[[int], None]) -> None:
            waits.append((host_ns, callback))

    order = Order(cast("Simulation", Later()), flows)
    for each, agent in zip(flows, agents, strict=True):
        order.join(each, agent)
    while waits:
        host_ns, callback = waits.pop(0)
        callback(host_ns)
    assert [agent.released for agent in agents] == [[], [(0, 15)], [(0, 25)]]
    assert order.wants_arrivals


def test_arrivals_are_wanted_of_an_operation_in_which_nothing_waits() -> None:
    alone = [flow("b", ()), flow("c", ())]
    simulation = cast("Simulation", Clock())
    assert Order(simulation, alone).listeners(alone[0]) == (None, None)
    on_end, on_arrival = Order(simulation, alone, tells_arrivals=True).listeners(alone[0])
    assert on_end is None
    assert on_arrival is not None
    on_arrival(1, HostNs(5))


def test_what_a_lost_connection_cannot_carry_holds_up_nobody() -> None:
    flows = [
        flow("b", ()),
        flow("c", (Predecessor("a->b", 0),)),
        flow("d", (Predecessor("a->c", 0, "arrival"),)),
    ]
    first, lost, last = Agent(), Agent(is_lost=True), Agent()
    order = joined(flows, first, lost, last)
    end(order, flows[0], 1, 5)
    assert last.released == [(0, 5)]


def test_where_nothing_waits_nobody_listens() -> None:
    order = joined([flow("b", ())], Agent())
    assert order.listeners(flow("b", ())) == (None, None)


@pytest.mark.parametrize("transport", ["rogue", "roce", "dctcp"])
@pytest.mark.parametrize("loop", ["closed", "thinking"])
def test_a_host_has_one_transfer_at_a_time(tmp_path: Path, transport: str, loop: str) -> None:
    cell = cell_of(tmp_path, PAIRS.format(loop=loop), f"transports=[{transport}]")
    flows = SimulatorTestbed().run(cell, lambda _fraction: None).tables["flows"]
    columns = (flows[name] for name in ("src", "start_ns", "end_ns", "status"))
    rows = cast("list[tuple[str, int, int, str]]", sorted(zip(*columns, strict=True)))
    assert len(rows) == sum(len(each.arrivals) for each in cell.groups[0].flows)
    assert {status for *_, status in rows} == {"ok"}
    for host in ("h0", "h1", "h3"):
        own = [(start_ns, end_ns) for src, start_ns, end_ns, _ in rows if src == host]
        waits_ns = [start_ns - end_ns for (_, end_ns), (start_ns, _) in pairwise(own)]
        assert min(waits_ns) >= 0
        assert (min(waits_ns) == 0) == (loop == "closed")


def test_a_program_that_waits_for_starts_alone_has_arrivals_in_its_table(tmp_path: Path) -> None:
    (tmp_path / "two.goal").write_text(
        "num_ranks 2\n"
        "rank 0 {\nl1: send 1000b to 1\nl2: send 1000b to 1\nl2 irequires l1\n}\n"
        "rank 1 {\nrecv 1000b from 0\nrecv 1000b from 0\n}\n"
    )
    cell = cell_of(tmp_path, f"workload={{kind: goal, file: {tmp_path / 'two.goal'}}}")
    flows = SimulatorTestbed().run(cell, lambda _fraction: None).tables["flows"]
    assert list(flows["transfer_id"]) == [1, 2]
    assert None not in list(flows["arrived_ns"])
