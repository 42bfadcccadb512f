"""Fit loss recovery in NICs to the network: timeouts, caps and windows from its longest round trip."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator.features import framing
from rogue.workloads.ideal import longest_round_trip_ns
from rogue.workloads.topologies import Topology
from rogue.workloads.transports import BASES, TransportName


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The longest path of the empty network, for a full packet and its acknowledgement."""

    round_trip_ns: int
    packets: int
    """How many packets at the hosts' line rate fill the round trip."""
    full_buffer_ns: int | None
    """How long a packet waits at most behind everything that a switch can hold; None: there is no bound."""


def empty_round_trip(cell: Cell) -> RoundTrip:
    """Return the longest round trip; all hosts get the bandwidth-delay product of the fastest one."""
    topology, frames = cell.topology, framing(cell)
    data_bytes = frames.wire_bytes(frames.write_frame_bytes(topology.mtu_bytes, is_first=False))
    ack_bytes = frames.wire_bytes(frames.ack_frame_bytes)
    round_trip_ns = longest_round_trip_ns(topology, data_bytes, ack_bytes)
    rate_bps = topology.host_rate_max_bps
    packet_ns_bps = data_bytes * 8 * 10**9
    return RoundTrip(round_trip_ns, -(-round_trip_ns * rate_bps // packet_ns_bps), _full_buffer_ns(topology))


def _full_buffer_ns(topology: Topology) -> int | None:
    """Everything that a switch can hold leaves over one of its slowest links.

    Packets that wait in NICs are not sent yet.
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


CAP: Final = "cap_packets"
LOW: Final = "rto_low_ns"
HIGH: Final = "rto_high_ns"
RTO_LOW_NS: Final = 100_000
"""The longest wait of short messages. Source: Mittal et al., SIGCOMM 2018, section 4.1."""
USUAL_RTO_NS: Final = 67_108_864
"""Where a full buffer has no bound: 4.096 us * 2^14, a usual timeout of InfiniBand's NICs."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """The values of a loss recovery that follow from the network."""

    has_cap: bool
    has_short_timeout: bool
    """While few packets are in flight; otherwise there is one timeout, the long one."""


FITTINGS: Final = {
    "irn": Fitting(has_cap=True, has_short_timeout=True),
    "irn-gbn": Fitting(has_cap=True, has_short_timeout=True),
    "go-back-n": Fitting(has_cap=False, has_short_timeout=False),
}
"""The transports that IRN's authors compare. The others have the timeouts of their own sources."""


def recovery_values(cell: Cell, transport: TransportName, stated: Mapping[str, float]) -> dict[str, float]:
    """Return the stated parameters of a transport's loss recovery and those that follow from the network.

    Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, sections 3.2 and 4.1.
    """
    given = {**dict(BASES[transport.base].recovery_values), **stated}
    if transport.base == "uet":
        return _fitted_uet(cell, empty_round_trip(cell)) | given
    fitting = FITTINGS.get(transport.recovery or "")
    if fitting is None:
        return given
    loses = _has_losses(cell) or not transport.has_pauses
    return _fitted(given, fitting, empty_round_trip(cell), loses=loses)


def _fitted(given: dict[str, float], fitting: Fitting, path: RoundTrip, *, loses: bool) -> dict[str, float]:
    """Return the given values, and those that follow from them and from the network.

    Without losses there are no timeouts unless one is given.
    """
    fitted = {CAP: float(path.packets)} if fitting.has_cap else {}
    if not loses and not {LOW, HIGH} & set(given):
        return fitted | {LOW: 0.0} | given
    high_ns = given.get(HIGH, max(_long_timeout_ns(path), given.get(LOW, 0.0)))
    if not fitting.has_short_timeout:
        single_ns = given.get(HIGH, given.get(LOW, high_ns))
        return fitted | {LOW: single_ns, HIGH: single_ns} | given
    low_ns = RTO_LOW_NS if path.round_trip_ns < RTO_LOW_NS <= high_ns else high_ns
    return fitted | {LOW: float(low_ns), HIGH: high_ns} | given


def _has_losses(cell: Cell) -> bool:
    """True if the experiment makes links or watchdogs drop what flow control would keep."""
    network = cell.network
    is_lossy = network.losses or network.outages
    return bool(is_lossy) or cell.topology.pause_watchdog_ns is not None


def _long_timeout_ns(path: RoundTrip) -> float:
    """The longest round trip and a wait behind one full buffer."""
    return USUAL_RTO_NS if path.full_buffer_ns is None else path.round_trip_ns + path.full_buffer_ns


TARGET_OF_ROUND_TRIP: Final = 0.75
"""With trimming; without it windows aim at a whole round trip. Source: uet-htsim, `initNsccParams`."""
TIMEOUT_NS: Final = 15_000
TIMEOUT_QUEUES: Final = 6
"""With trimming: 15 us and as long as six full queues take. Source: uet-htsim, datacenter/main_uec.cpp."""


def _fitted_uet(cell: Cell, path: RoundTrip) -> dict[str, float]:
    """Return UET's values; without trimming its timeout is the long one of other transports."""
    topology, round_trip_ns = cell.topology, float(path.round_trip_ns)
    rate_bps = topology.host_rate_max_bps
    queue_bytes = topology.trim_above_bytes
    target, timeout_ns = 1.0, _long_timeout_ns(path)
    if queue_bytes is not None:
        target = TARGET_OF_ROUND_TRIP
        timeout_ns = float(TIMEOUT_NS + -(-TIMEOUT_QUEUES * queue_bytes * 8 * 10**9 // rate_bps))
    return {
        "base_rtt_ns": round_trip_ns,
        "line_rate_bps": float(rate_bps),
        "header_bytes": float(framing(cell).data_overhead_bytes),
        "target_delay_ns": float(int(round_trip_ns * target)),
        "rto_ns": max(timeout_ns, round_trip_ns),
    }
