"""Test flows, and transfers that wait for others."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from helpers.experiments import cell_of, simulated

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.order import Order
from rogue.harness.testbeds.simulator.support import unsupported
from rogue.simulator import Simulation
from rogue.workloads.traffic import Arrival, Flow, Predecessor

ALONE = ("workload.senders=1", "workload.repeat_for=40ms")


def errors_ns(result: CellResult) -> np.ndarray:
    rtt = result.tables["rtt"]
    return np.asarray(rtt["rtt_ns"], float) - np.asarray(rtt["true_rtt_ns"], float)


def test_rtt_noise_is_added_to_samples(tmp_path: Path) -> None:
    """Uniform in 0 to 50 us: 25 us in the mean, never more than 50 us beside the exact samples' error."""
    exact, noisy = (
        errors_ns(simulated(tmp_path, *ALONE, f"transports=[{{name: rogue, rtt_noise: {noise}}}]"))
        for noise in ("0us", "50us")
    )
    assert len(noisy) > 50
    assert 20_000 < noisy.mean() - exact.mean() < 30_000
    assert noisy.max() <= 50_000 + exact.max()


def test_arrivals_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Three hosts at 90 % load: some transfers start while another of the same pair still runs."""
    many = "workload={kind: many_pairs, hosts: 3, load: 0.9, arrive_for: 20ms}"
    cell = cell_of(tmp_path, many, "transports=[roce]")
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    flows = result.tables["flows"]
    columns = [flows[name] for name in ("flow_id", "start_ns", "end_ns", "size_bytes", "status")]
    rows = sorted(zip(*columns, strict=True))  # type: ignore[type-var]
    planned = sorted(
        (f"main/{flow.source}->{flow.destination}", arrival.start_ns, arrival.size_bytes)
        for flow in cell.groups[0].flows
        for arrival in flow.arrivals
    )
    assert [(flow_id, start_ns, size) for flow_id, start_ns, _, size, _ in rows] == planned
    assert {status for *_, status in rows} == {"ok"}
    assert any(
        one[0] == other[0] and other[1] < one[2]  # type: ignore[operator]
        for one, other in pairwise(rows)
    )
    assert "ideal_goodput_bps" not in result.facts


def test_lost_connection_is_an_event(tmp_path: Path) -> None:
    result = simulated(
        tmp_path,
        "workload.repeat_for=10ms",
        "transports=[{name: roce, retry_count: 0, timeout_exponent: 8}]",
        "faults=[{kind: loss, target: h1, probability: 0.999999}]",
    )
    events = result.tables["events"]
    rows = list(zip(events["flow_id"], events["event"], events["detail"], strict=True))
    assert rows == [("", "loss_begins", "h1"), ("main/h1->h3", "qp_failed", rows[1][2])]
    assert "RETRY_EXC_ERR" in str(rows[1][2])
    assert result.facts["qp_failures"] == 1


@pytest.mark.parametrize(
    ("transport", "verb", "is_served"),
    [
        ("roce", "write", False),
        ("roce", "read", True),
        ("roce", "send", True),
        ("rogue", "write", True),
        ("rogue-uc", "write", True),
    ],
)
def test_responder_has_a_library_only_if_it_has_completions(
    tmp_path: Path, transport: str, verb: str, is_served: bool
) -> None:
    """Plain WRITEs over RC bring it nothing; a shadow brings it requests for a reset."""
    cell = cell_of(tmp_path, f"transports=[{transport}]", f"workload.verb={verb}", "probe=null")
    for flow in build_network(cell).flows:
        assert isinstance(flow.agent, SimulatedFlow)
        assert (flow.agent.library is not None) == is_served


def test_equal_ports_share_their_link_facts(tmp_path: Path) -> None:
    first, second = build_network(cell_of(tmp_path, "transports=[roce]", "probe=null")).flows
    links = [flow.agent._connection._writes.feedback.link for flow in (first, second)]  # type: ignore[union-attr]
    assert links[0] is links[1]


INCAST = """\
name: streams
topology: {kind: star, hosts: 6, rate: 10Gbps, buffer: 9MB}
workload: {kind: incast, senders: 4, size: 2MB, verb: read}
probe: {kind: write0, interval: 100us}
transports: [dctcp, cubic, reno, iwarp]
measure: [{kind: throughput, interval: 1ms}, latency, queues]
"""


@pytest.mark.parametrize("index", range(4))
def test_tcp_incast_fills_the_port(tmp_path: Path, index: int) -> None:
    """Reads become writes in the same direction; the last ends when the port can have carried them all."""
    cell = cell_of(tmp_path, text=INCAST, index=index)
    assert unsupported(cell) is None
    result = simulated(tmp_path, text=INCAST, index=index)
    flows = result.tables["flows"]
    assert set(flows["status"]) == {"ok"}
    assert set(flows["service"]) == {"tcp"}
    assert set(flows["verb"]) == {"write"}
    assert set(flows["dst"]) == {"h5"}
    stream = cell.transport.name.packets
    assert stream is not None
    assert result.facts["ideal_goodput_bps"] == pytest.approx(10e9 * float(stream.payload_fraction))
    assert all(slowdown > 1 for slowdown in flows["slowdown"])
    all_of_it_ns = 4 * 2_000_000 * 8 / 10 / float(stream.payload_fraction)
    assert all_of_it_ns < max(flows["end_ns"]) < 1.5 * all_of_it_ns
    assert "has no read: write" in str(result.facts["replaced_verbs"])


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


def test_transfer_starts_after_the_last_predecessor() -> None:
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


def test_latest_end_of_a_pause_decides() -> None:
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


def test_end_counts_as_arrival_but_not_the_reverse() -> None:
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


def test_transfers_can_wait_for_starts() -> None:
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


def test_arrivals_can_be_recorded_without_waiting_transfers() -> None:
    alone = [flow("b", ()), flow("c", ())]
    simulation = cast("Simulation", Clock())
    assert Order(simulation, alone).listeners(alone[0]) == (None, None)
    on_end, on_arrival = Order(simulation, alone, tells_arrivals=True).listeners(alone[0])
    assert on_end is None
    assert on_arrival is not None
    on_arrival(1, HostNs(5))


def test_lost_connection_does_not_block_followers() -> None:
    flows = [
        flow("b", ()),
        flow("c", (Predecessor("a->b", 0),)),
        flow("d", (Predecessor("a->c", 0, "arrival"),)),
    ]
    first, lost, last = Agent(), Agent(is_lost=True), Agent()
    order = joined(flows, first, lost, last)
    end(order, flows[0], 1, 5)
    assert last.released == [(0, 5)]


@pytest.mark.parametrize("transport", ["rogue", "roce", "dctcp"])
@pytest.mark.parametrize("loop", ["closed", "thinking"])
def test_closed_loop_host_has_one_transfer_at_a_time(tmp_path: Path, transport: str, loop: str) -> None:
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


def test_program_that_waits_for_starts_records_arrivals(tmp_path: Path) -> None:
    (tmp_path / "two.goal").write_text(
        "num_ranks 2\n"
        "rank 0 {\nl1: send 1000b to 1\nl2: send 1000b to 1\nl2 irequires l1\n}\n"
        "rank 1 {\nrecv 1000b from 0\nrecv 1000b from 0\n}\n"
    )
    cell = cell_of(tmp_path, f"workload={{kind: goal, file: {tmp_path / 'two.goal'}}}")
    flows = SimulatorTestbed().run(cell, lambda _fraction: None).tables["flows"]
    assert list(flows["transfer_id"]) == [1, 2]
    assert None not in list(flows["arrived_ns"])
