"""How much of a cell will be stored: rows that its tables should have, times what a row takes on a disk."""

from collections.abc import Iterable
from typing import Final

from rogue.harness.cell.carried import carried
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import SECOND_NS, switch_ports
from rogue.workloads.traffic import Flow

SEGMENT_BYTES: Final = 64 * 1024
"""The bytes that one sample of the round-trip time covers."""
FLOW_BYTES, LATENCY_BYTES, QUEUE_BYTES, RTT_BYTES, THROUGHPUT_BYTES = 100, 10, 2, 20, 25
"""Bytes of a row in Parquet, rounded up: 90, 9, 1, 16 and 21 in experiments/quickstart.yaml with RoGUE."""
PACKET_BYTES: Final = 10
"""Likewise: 8.7 of 100 000 packets of an incast with DCQCN."""
CONTROL_BYTES: Final = 4 * 10
"""Likewise: four quantities; 9.6 each of a NIC with DCQCN, 4.5 of an agent."""
CELL_BYTES: Final = 20_000
"""Bytes of every cell: empty tables, its record, its settings."""


def expected_bytes(cell: Cell) -> float:
    """What the tables of a cell take on a disk, if every receiver is as busy as it can be."""
    experiment, timing = cell.experiment, cell.timing
    flows = [flow for group in cell.groups for flow in group.flows]
    moved_bytes = _received_bytes(cell, flows)
    intervals = timing.traffic_ns / timing.throughput_interval_ns * len(flows)
    queues = timing.limit_ns / timing.queue_interval_ns * switch_ports(cell.topology)
    return CELL_BYTES + sum(
        (
            FLOW_BYTES * _transfers(cell, flows),
            LATENCY_BYTES * (timing.traffic_ns / experiment.probe.interval_ns if experiment.probe else 0),
            QUEUE_BYTES * queues * experiment.measures("queues"),
            PACKET_BYTES * _packets(cell, flows, moved_bytes),
            RTT_BYTES * moved_bytes / SEGMENT_BYTES * experiment.measures("rtt"),
            CONTROL_BYTES * max(moved_bytes / SEGMENT_BYTES, intervals) * experiment.measures("control"),
            THROUGHPUT_BYTES * intervals * experiment.measures("throughput"),
        )
    )


def _packets(cell: Cell, flows: list[Flow], moved_bytes: float) -> float:
    """Packets at the ports of the longest way, each with an acknowledgement, up to the bound."""
    asked = cell.experiment.asked("packets")
    if asked is None:
        return 0
    ways = {(flow.source, flow.destination) for flow in flows}
    hops = max((len(cell.topology.path(*ends)) for ends in ways), default=0)
    return min(asked.packets_max, 2 * hops * moved_bytes / cell.topology.mtu_bytes)


def _transfers(cell: Cell, flows: list[Flow]) -> float:
    """The scheduled transfers, and the most that greedy flows can finish by the end."""
    greedy = [flow for flow in flows if _is_greedy(flow)]
    smallest_bytes = min((flow.size_bytes for flow in greedy), default=1)
    asked = sum(_asked(flow, cell.timing.traffic_ns) for flow in flows if not _is_greedy(flow))
    return asked + _capacity_bytes(cell, greedy) / max(1, smallest_bytes)


def _asked(flow: Flow, traffic_ns: int) -> float:
    if flow.arrivals or flow.interval_ns is None:
        return len(flow.arrivals) or flow.count or 0
    lasting_ns = max(0, (flow.repeat_until_ns or traffic_ns) - flow.start_ns)
    return lasting_ns / flow.interval_ns if flow.count is None else flow.count


def _received_bytes(cell: Cell, flows: list[Flow]) -> float:
    finite = sum(
        carried(cell.topology, group.demand, cell.timing.traffic_ns).finite_bytes(group.flows)
        for group in cell.groups
    )
    return finite + _capacity_bytes(cell, [flow for flow in flows if _is_greedy(flow)])


def _capacity_bytes(cell: Cell, flows: Iterable[Flow]) -> float:
    """What the receivers of these flows can receive while the traffic lasts."""
    receivers = {flow.destination for flow in flows}
    rates_bps = sum(cell.topology.host_rate_bps(host) for host in receivers)
    return rates_bps / 8 * cell.timing.traffic_ns / SECOND_NS


def _is_greedy(flow: Flow) -> bool:
    return flow.count is None and flow.interval_ns is None and not flow.arrivals
