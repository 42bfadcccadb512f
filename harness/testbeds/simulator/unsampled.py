"""Why a cell that was over soon has no samples of what it should measure."""

from math import floor, log10
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import Timing, switch_ports
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.harness.testbeds.simulator.network import SimulatedNetwork
from rogue.harness.testbeds.simulator.support import SAMPLES_MAX
from rogue.workloads.units import TIME

SAMPLES_MIN: Final = 10
"""So many intervals a cell's traffic should last, and less than ten times as many."""
LIMIT_SAMPLES: Final = 100 * SAMPLES_MIN
"""A time limit of ten times what the traffic took, in intervals, for a cell's own is a second at least."""


def unsampled_queues(cell: Cell) -> str:
    """Why there is no sample of a queue: many ports are sampled rarely, for memory."""
    interval_ms, ports = cell.timing.queue_interval_ns / 1e6, switch_ports(cell.topology)
    return (
        f"the run was over before the first sample: {ports} ports of switches are sampled each "
        f"{interval_ms:g} ms; state a shorter interval"
    )


def unmeasured_throughput(network: SimulatedNetwork, timing: Timing) -> str | None:
    """Say why the samples tell no rate, with an interval that would; None if they do."""
    if not network.flows:
        return "there is no traffic but what measures latency"
    now_ns = network.simulation.now_ns
    end_ns = max(_end_ns(flow, now_ns) for flow in network.flows)
    if end_ns >= min(timing.throughput_interval_ns, now_ns):
        return None
    shorter_ns = max(1, 10 ** floor(log10(max(1, end_ns / SAMPLES_MIN))))
    samples = timing.limit_ns // shorter_ns * len(network.flows)
    is_limit_needed = samples > SAMPLES_MAX and not timing.is_open_ended
    limit = f", and time_limit: {TIME.format(LIMIT_SAMPLES * shorter_ns)}" if is_limit_needed else ""
    return (
        f"the traffic was over before the first interval, of {TIME.format(timing.throughput_interval_ns)}; "
        f"state {{kind: throughput, interval: {TIME.format(shorter_ns)}}} in measure{limit}"
    )


def _end_ns(flow: RunningFlow, now_ns: int) -> int:
    """Return when its last transfer ended: the end of the run if one is unfinished."""
    ends_ns = (now_ns if record.end_ns is None else record.end_ns for record in flow.agent.transfers)
    return max(ends_ns, default=now_ns)
