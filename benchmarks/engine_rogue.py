"""RoGUE's agent on W1: the cost of Python per batch of 64 KiB, and its share of the run.

Every callback is timed with time.perf_counter_ns: the simulated driver, the core, and their calls back into
the engine (posting, setting rates and timers). The engine's cost of making such a call (a list of tuples,
the call itself) is measured on verbs whose completions go to a callable that does nothing, against the same
verbs without one. The cost of the clock itself stays in the figure.
"""

import time
from collections.abc import Callable

from engine_networks import MTU_BYTES, WORKLOADS, Flow

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_path import CqEntry
from rogue.simulator import CX3PRO, Simulation

WORKLOAD = WORKLOADS["W1"]
BUFFER_BYTES = 9_000_000
STEP_NS = 1_000_000
DISPATCH_VERBS = 100_000


class TimedFlow(SimulatedFlow):
    """A flow that sums the time of its callbacks."""

    spent_ns = 0
    batches = 0

    def _on_completions(self, host_ns: int, entries: list[CqEntry]) -> None:
        self.batches += len(entries)
        self._time(super()._on_completions, host_ns, entries)

    def _on_start(self, host_ns: int) -> None:
        self._time(super()._on_start, host_ns)

    def _on_timer(self, host_ns: int) -> None:
        self._time(super()._on_timer, host_ns)

    def _time(self, callback: Callable[..., None], *arguments: object) -> None:
        began_ns = time.perf_counter_ns()
        callback(*arguments)
        self.spent_ns += time.perf_counter_ns() - began_ns


def measure_rogue() -> dict[str, float]:
    """Run W1 once under RoGUE; return where the time went."""
    simulation = WORKLOAD.network(profile=CX3PRO, buffer_bytes=BUFFER_BYTES)
    flows = [_timed_flow(simulation, flow) for flow in WORKLOAD.flows()]
    for flow in flows:
        flow.start()
    began = time.perf_counter()
    while any(flow.transfers == [] or flow.transfers[0].end_ns is None for flow in flows):
        simulation.run_until(simulation.now_ns + STEP_NS)
    wall_s = time.perf_counter() - began
    assert all(flow.transfers[0].status == "ok" and not flow.failures for flow in flows)
    batches = sum(flow.batches for flow in flows)
    statistics = simulation.statistics()
    inside_us = sum(flow.spent_ns for flow in flows) / batches / 1000
    dispatch_us = _dispatch_us()
    return {
        "packet_hops": statistics["packet_hops"],
        "wall_s": wall_s,
        "packet_hops_per_s": statistics["packet_hops"] / wall_s,
        "batches": batches,
        "callback_us_per_batch": inside_us,
        "dispatch_us_per_batch": dispatch_us,
        "python_us_per_batch": inside_us + dispatch_us,
        "python_share": (inside_us + dispatch_us) * batches / wall_s / 1e6,
        "simulated_s": simulation.now_ns / 1e9,
        "retransmitted_bytes": sum(flow.transfers[0].retransmitted_bytes or 0 for flow in flows),
    }


def _timed_flow(simulation: Simulation, flow: Flow) -> TimedFlow:
    queue_pair, _ = simulation.connect(
        flow.source,
        flow.destination,
        mtu_bytes=MTU_BYTES,
        retry_count=1,
        timeout_exponent=14,
        ack_every_packets=1,
    )
    return TimedFlow(
        simulation,
        queue_pair,
        settings=settings_for("rogue", WORKLOAD.rate_bps, {}),
        link=LinkFacts(WORKLOAD.rate_bps, MTU_BYTES, rate_step_bps=CX3PRO.rate_step_bps),
        schedule=Schedule(size_bytes=flow.size_bytes, start_ns=HostNs(flow.start_ns), count=1),
        record_rtt=False,
    )


def _dispatch_us() -> float:
    """Return the time in µs of a call to host software that does nothing."""
    return (
        (_seconds_of_empty_verbs(is_attached=True) - _seconds_of_empty_verbs(is_attached=False))
        / DISPATCH_VERBS
        * 1e6
    )


def _seconds_of_empty_verbs(*, is_attached: bool) -> float:
    simulation = WORKLOAD.network()
    queue_pair, _ = simulation.connect("h0", "h1", mtu_bytes=MTU_BYTES, retry_count=1, timeout_exponent=20)
    if is_attached:
        queue_pair.attach(lambda host_ns, completions: None, lambda host_ns, state: None)
    for wr_id in range(DISPATCH_VERBS):
        queue_pair.post_write(wr_id, 0, True)
    began = time.perf_counter()
    simulation.run_until(10**9)
    seconds = time.perf_counter() - began
    assert simulation.statistics()["verbs_done"] == DISPATCH_VERBS
    return seconds
