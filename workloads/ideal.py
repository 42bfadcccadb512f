"""What the empty network could do: the yardsticks of goodput and completion time."""

from fractions import Fraction
from functools import lru_cache
from math import ceil

from rogue.workloads.framing import Framing, Packets
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import PathShape
from rogue.workloads.topologies.topology import Topology
from rogue.workloads.traffic.workload import Verb


def ideal_goodput_bps(topology: Topology, source: str, destination: str) -> float:
    """Payload rate of one flow that has the path for itself.

    Source: C * payload / (payload + headers + preamble and gap) of the slowest link.
    """
    rate_bps = topology.path_rate_bps(topology.path_shape(source, destination))
    return float(rate_bps * topology.frames.payload_fraction(topology.mtu_bytes))


def ideal_transfer_ns(
    topology: Topology, path: PathShape, verb: Verb, size_bytes: int, packets: Packets | None = None
) -> int:
    """From posting one verb to its completion at the host that posted it, alone on a path that is empty.

    Data stored and forwarded hop by hop: every packet once over the slowest link, and the first packet over
    each of the others. Besides, one packet goes the other way over every link: the acknowledgement of a WRITE
    or SEND, the request of a READ. Rounded up to nanoseconds. With `packets` they are a
    transport's own instead of the network's.

    Source: first packet sum(L / C_i + delay_i); each further packet L / C_slowest.
    """
    framing = packets.framing if packets else topology.frames
    mtu_bytes = packets.payload_bytes if packets else topology.mtu_bytes
    first_extra_bytes, last_extra_bytes, other_way_bytes = _extra_bytes(framing, verb)
    overhead_bytes = framing.header_bytes + framing.gap_bytes
    count = max(1, ceil(size_bytes / mtu_bytes))
    first_bytes = min(size_bytes, mtu_bytes) + overhead_bytes + first_extra_bytes
    all_bytes = size_bytes + count * overhead_bytes + first_extra_bytes
    all_bytes += last_extra_bytes if count > 1 else 0
    per_hop_bytes = first_bytes + other_way_bytes + framing.gap_bytes
    bytes_over_rate = Fraction(all_bytes - first_bytes, topology.path_rate_bps(path))
    bytes_over_rate += sum((Fraction(per_hop_bytes, rate_bps) for rate_bps, _ in path), Fraction())
    return ceil(bytes_over_rate * 8 * 10**9) + 2 * sum(delay_ns for _, delay_ns in path)


@lru_cache(maxsize=64)
def longest_round_trip_ns(topology: Topology, there_bytes: int, back_bytes: int) -> int:
    """Longest that a packet and its acknowledgement take in the empty network, of so many bytes on the wire.

    Source: sum over the links of the longest path (L_there + L_back) / C_i + 2 delay_i, as HPCC's repository
    works out its base round trip (third.cc), which leaves the acknowledgement's own bytes out.
    """
    bits = 8 * (there_bytes + back_bytes)
    spread_ns = topology.delay_spread_ns

    def picoseconds(link: Link) -> int:
        return -(-bits * 10**12 // link.rate_bps) + 2_000 * (link.delay_ns + spread_ns)

    return -(-topology.shortest_paths.dearest(picoseconds) // 1_000)


def _extra_bytes(framing: Framing, verb: Verb) -> tuple[int, int, int]:
    """Headers of the first data packet, those of the last, and the frame that goes the other way."""
    match verb:
        case "write":
            return framing.remote_address_bytes, 0, framing.acknowledgement_bytes
        case "send":
            return 0, 0, framing.acknowledgement_bytes
        case "read":
            request_bytes = framing.header_bytes + framing.remote_address_bytes
            return framing.response_bytes, framing.response_bytes, request_bytes
