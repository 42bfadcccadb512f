"""What the empty network could do: the yardsticks of goodput and completion time."""

from fractions import Fraction
from math import ceil

from workloads.framing import Framing
from workloads.topologies.topology import Topology


def ideal_goodput_bps(topology: Topology, source: str, destination: str) -> float:
    """Payload rate of one flow that has the path for itself.

    Source: C * payload / (payload + headers + preamble and gap) of the slowest link.
    """
    slowest = min(link.rate_bps for link in topology.path(source, destination))
    return float(slowest * topology.frames.payload_fraction(topology.mtu_bytes))


def ideal_write_ns(topology: Topology, source: str, destination: str, size_bytes: int) -> int:
    """From posting one WRITE to its completion at the sender, alone in the empty network.

    Data stored and forwarded hop by hop, every packet once over the slowest link and one packet over each of
    the others, and the acknowledgement all the way back; rounded up to nanoseconds.

    Source: first packet sum(L / C_i + delay_i); each further packet L / C_slowest.
    """
    links = topology.path(source, destination)
    framing = topology.frames
    serialised, largest = _write_wire_bytes(framing, size_bytes, topology.mtu_bytes)
    slowest = min(link.rate_bps for link in links)
    total = Fraction(serialised, slowest) - Fraction(largest, slowest)
    total += sum((Fraction(largest, link.rate_bps) for link in links), Fraction())
    acknowledgement = framing.acknowledgement_bytes + framing.gap_bytes
    total += sum((Fraction(acknowledgement, link.rate_bps) for link in links), Fraction())
    propagation_ns = 2 * sum(link.delay_ns for link in links)
    return ceil(total * 8 * 10**9) + propagation_ns


def _write_wire_bytes(framing: Framing, size_bytes: int, mtu_bytes: int) -> tuple[int, int]:
    """Wire bytes of a whole WRITE and of the packet that is forwarded last at full size."""
    packets = list(framing.write_packets(size_bytes, mtu_bytes))
    serialised = sum(wire_bytes * count for wire_bytes, count in packets) + framing.remote_address_bytes
    largest, count = packets[0]
    return serialised, largest + (framing.remote_address_bytes if count == 1 and len(packets) == 1 else 0)
