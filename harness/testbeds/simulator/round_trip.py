"""Facts of the network for NICs: its longest round trip, the bytes in it, the delay of a full buffer."""

from dataclasses import dataclass

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator.features import framing
from rogue.workloads.ideal import longest_round_trip_ns
from rogue.workloads.topologies import Topology


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The longest path of the empty network, for a full packet and its acknowledgement."""

    round_trip_ns: int
    packets: int
    """How many packets at the hosts' line rate fill the round trip."""
    full_buffer_ns: int | None
    """How long a packet waits at most behind everything that a switch can hold; None: there is no bound."""


def empty_round_trip(cell: Cell) -> RoundTrip:
    """Work it out; hosts with different rates all get the bandwidth-delay product of the fastest."""
    topology, frames = cell.topology, framing(cell)
    data_bytes = frames.wire_bytes(frames.write_frame_bytes(topology.mtu_bytes, is_first=False))
    ack_bytes = frames.wire_bytes(frames.ack_frame_bytes)
    round_trip_ns = longest_round_trip_ns(topology, data_bytes, ack_bytes)
    rate_bps = topology.host_rate_max_bps
    packet_ns_bps = data_bytes * 8 * 10**9
    return RoundTrip(round_trip_ns, -(-round_trip_ns * rate_bps // packet_ns_bps), _full_buffer_ns(topology))


def _full_buffer_ns(topology: Topology) -> int | None:
    """Everything that a switch can hold leaves over one of its slowest links.

    What waits in NICs is not sent yet.
    """
    waits_ns = [0]
    for switch in topology.switches():
        if switch.is_nic:
            continue
        if switch.buffer_bytes is None:
            return None
        links = topology.links_of[switch.name].values()
        buffers = len(links) if switch.kind == "voq" else 1
        rate_bps = min(link.rate_bps for link in links)
        waits_ns.append(-(-switch.buffer_bytes * buffers * 8 * 10**9 // rate_bps))
    return max(waits_ns)
