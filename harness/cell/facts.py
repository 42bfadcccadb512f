"""Facts of a cell that hold on every testbed and stand in no table."""

from typing import Final

from rogue.harness.cell.bottleneck import bottleneck_facts, cell_payload_fraction
from rogue.harness.cell.cell import Cell

SAMPLES_OF_LOAD_MIN: Final = 10


def cell_facts(cell: Cell) -> dict[str, str | float | bool | None]:
    """Its packets and its bottleneck, what counts for nothing in the results, and what was replaced."""
    return {
        "framing": cell.topology.framing,
        "mtu_bytes": cell.topology.mtu_bytes,
        "payload_fraction": float(cell_payload_fraction(cell)),
        **bottleneck_facts(cell),
        "arriving_ns": _arriving_ns(cell),
        "repeats": _repeats(cell),
        "warm_up_ns": max(group.asked.workload.warm_up_ns for group in cell.groups),
        **_bus_facts(cell),
        "replaced_verbs": cell.replaced_verbs,
        "throughput_interval_ns": cell.timing.throughput_interval_ns,
    }


def _bus_facts(cell: Cell) -> dict[str, float | None]:
    """What a rank of the only collective operation moves, and the payload rate of the slowest one's link."""
    groups = [group for group in cell.groups if group.asked.workload.bus_bytes is not None]
    if len(groups) != 1:
        return {"bus_bytes": None, "rank_goodput_bps": None}
    ranks = {host for flow in groups[0].flows for host in (flow.source, flow.destination)}
    rate_bps = min(map(cell.topology.host_rate_bps, ranks))
    return {
        "bus_bytes": groups[0].asked.workload.bus_bytes,
        "rank_goodput_bps": float(rate_bps * cell_payload_fraction(cell)),
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
