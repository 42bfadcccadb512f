"""How long a simulation takes."""

from typing import Final

from harness.plan.cells import Cell
from harness.testbeds.timing import SECOND_NS, cell_timing
from harness.testbeds.traffic import cell_flows

START_SECONDS: Final = 0.5
SECONDS_PER_PACKET: Final = 6e-8
SECONDS_PER_SEGMENT: Final = 8e-6
"""What a packet through the network and a segment through the agent cost; for estimates only."""


def estimate_seconds(cell: Cell, segment_bytes: int) -> float:
    """Expected time on an ordinary core, from the payload that there is, or that fits through the links."""
    topology = cell.experiment.topology
    flows = [flow for group in cell_flows(cell).values() for flow in group]
    rate_bps = sum(topology.host_rate_bps(host) for host in {flow.destination for flow in flows})
    payload_bytes = rate_bps / 8 * cell_timing(cell).traffic_ns / SECOND_NS
    if all(flow.finite_bytes for flow in flows):
        payload_bytes = sum(flow.finite_bytes for flow in flows)
    packets, segments = payload_bytes / topology.mtu_bytes, payload_bytes / segment_bytes
    return START_SECONDS + packets * SECONDS_PER_PACKET + segments * SECONDS_PER_SEGMENT
