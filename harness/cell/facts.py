"""Facts of a cell that hold on every testbed and stand in no table."""

from typing import Final

from rogue.harness.cell.bottleneck import bottleneck_facts, cell_payload_fraction
from rogue.harness.cell.cell import Cell

SAMPLES_OF_LOAD_MIN: Final = 10


def cell_facts(cell: Cell) -> dict[str, str | float | bool | None]:
    """Its packets and its bottleneck, what counts for nothing in the results, and what was replaced."""
    bus_bytes = [each for group in cell.groups if (each := group.asked.workload.bus_bytes) is not None]
    return {
        "framing": cell.topology.framing,
        "mtu_bytes": cell.topology.mtu_bytes,
        "payload_fraction": float(cell_payload_fraction(cell)),
        **bottleneck_facts(cell),
        "arriving_ns": _arriving_ns(cell),
        "repeats": _repeats(cell),
        "warm_up_ns": max(group.asked.workload.warm_up_ns for group in cell.groups),
        "bus_bytes": bus_bytes[0] if len(bus_bytes) == 1 else None,
        "replaced_verbs": cell.replaced_verbs,
        "throughput_interval_ns": cell.timing.throughput_interval_ns,
    }


def _arriving_ns(cell: Cell) -> int | None:
    """When the last transfer has started, where all traffic drains after that.

    None where some goes on, and where so few samples tell of that time that it is a burst and no load.
    """
    times = [group.asked.workload.arriving_ns for group in cell.groups]
    known = [time for time in times if time is not None]
    least_ns = SAMPLES_OF_LOAD_MIN * cell.timing.queue_interval_ns
    return max(known) if len(known) == len(times) and max(known) >= least_ns else None


def _repeats(cell: Cell) -> bool:
    """Whether every flow starts its next transfer after the one before, until a time that cuts the last."""
    flows = [flow for group in cell.groups for flow in group.flows if flow.size_bytes > 0]
    return all(flow.repeat_until_ns is not None and flow.interval_ns is None for flow in flows)
