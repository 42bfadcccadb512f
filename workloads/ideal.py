"""What the empty network could do: the yardsticks of goodput and completion time."""

from fractions import Fraction
from math import ceil

from workloads.topologies.topology import Topology


def ideal_goodput_bps(topology: Topology, source: str, destination: str) -> float:
    """Payload rate of one flow that has the path for itself.

    Source: C * payload / (payload + headers + preamble and gap) of the slowest link.
    """
    slowest = min(link.rate_bps for link in topology.path(source, destination))
    return float(slowest * topology.frames.payload_fraction(topology.mtu_bytes))


def ideal_write_ns(topology: Topology, source: str, destination: str, size_bytes: int) -> int:
    """From posting one WRITE to its completion at the sender, alone in the empty network.

    Data stored and forwarded hop by hop: every packet once over the slowest link, and the largest packet (the
    first, which carries the remote address) over each of the others; then the acknowledgement all the way
    back. Rounded up to nanoseconds.

    Source: first packet sum(L / C_i + delay_i); each further packet L / C_slowest.
    """
    links = topology.path(source, destination)
    framing = topology.frames
    overhead_bytes = framing.header_bytes + framing.gap_bytes
    packets = max(1, ceil(size_bytes / topology.mtu_bytes))
    first_bytes = min(size_bytes, topology.mtu_bytes) + overhead_bytes + framing.remote_address_bytes
    all_bytes = size_bytes + packets * overhead_bytes + framing.remote_address_bytes
    slowest = min(link.rate_bps for link in links)
    per_hop_bytes = first_bytes + framing.acknowledgement_bytes + framing.gap_bytes
    bytes_over_rate = Fraction(all_bytes - first_bytes, slowest)
    bytes_over_rate += sum((Fraction(per_hop_bytes, link.rate_bps) for link in links), Fraction())
    return ceil(bytes_over_rate * 8 * 10**9) + 2 * sum(link.delay_ns for link in links)
