"""The packets of one flow as its NICs send and receive them, and the events that follow from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import pandas as pd

from rogue.reports.cells.recorded_packets import packets_of

DATA: Final = ("write", "send", "read_response")
"""Kinds of packets with payload of a verb."""
GAP_BYTES: Final = 20
"""Preamble and gap between frames on a wire. Source: IEEE 802.3, 4.4.2 (interpacket gap) and 3.2.1, 3.2.2."""
PS_PER_NS: Final = 1_000
NO_NUMBER: Final = -1
"""Of CNPs."""
CORRUPT: Final = "corrupt"
"""Flag of a packet with a wrong ICRC."""


class Seen(NamedTuple):
    """One packet at one place."""

    t_ns: float
    """When it began to leave its NIC, or when all of it was at its destination."""
    kind: str
    psn: int
    transmission: int
    """1 for the first packet of this kind and number, 2 for the next, and so on."""
    bytes: int
    payload_bytes: int
    flags: frozenset[str]
    qp_num: int
    """Queue pair that it is for."""
    is_marked: bool
    is_lost: bool


class Gap(NamedTuple):
    """A packet that is missing where others have arrived."""

    psn: int
    revealed: Seen
    """The first later packet that arrived."""


class Rewind(NamedTuple):
    """A sender that goes back to a packet which it has sent before."""

    packet: Seen
    """The first packet that is sent again."""
    cause: Literal["NAK", "timeout"]
    since_ns: float
    """Time since the NAK arrived, or since the packet was sent the last time."""
    resent: tuple[int, ...]
    """Numbers of all packets that are sent again before the next rewind or new packet."""


class Network(NamedTuple):
    """The links of hosts, from which arrivals follow; of a capture they are unknown."""

    rate_bps: float
    delay_ns: float

    def arrival_ns(self, t_ns: float, frame_bytes: int) -> float:
        """Return when a frame is at the far end that began to leave a port at `t_ns`."""
        return t_ns + (frame_bytes + GAP_BYTES) * 8e9 / self.rate_bps + self.delay_ns


@dataclass(frozen=True)
class Trace:
    """The packets of a flow: as they left their NICs, and as they arrived, in order of time."""

    flow_id: str
    sent: Sequence[Seen]
    arrived: Sequence[Seen]
    service: str = "rc"
    discarded: Sequence[Seen] = ()
    """Packets that arrived with a wrong ICRC."""
    statuses: Sequence[str] = ()
    """Result of each transfer: `ok`, `dropped`, or the error; empty for a capture."""
    delivered_bytes: int | None = None
    """Payload that the receiver's application has; None where that was not measured."""
    timeout_ns: float | None = None
    """Timeout that the queue pair's attribute requests, 4.096 us * 2^t; None for a capture."""
    retry_count: int | None = None
    """Attribute of the queue pair; None for a capture."""

    @property
    def is_reliable_write(self) -> bool:
        """True if requests over RC carry the payload, so that the receiver answers a gap with a NAK."""
        return self.service == "rc" and not self.of_kind("read_request", "read_response")

    def of_kind(self, *kinds: str) -> list[Seen]:
        """Return what was sent of these kinds."""
        return [packet for packet in self.sent if packet.kind in kinds]

    def arrived_of(self, *kinds: str) -> list[Seen]:
        """Return what arrived of these kinds."""
        return [packet for packet in self.arrived if packet.kind in kinds]

    @cached_property
    def data(self) -> list[Seen]:
        """Return the packets with payload in the order in which they were sent."""
        return self.of_kind(*DATA)

    @cached_property
    def gaps(self) -> list[Gap]:
        """Return each gap that the receiver of the data saw, once until it is filled."""
        found: list[Gap] = []
        expected, is_open = None, False
        for packet in self.arrived_of(*DATA):
            if expected is None or packet.psn == expected:
                expected, is_open = packet.psn + 1, False
            elif packet.psn > expected and not is_open:
                found.append(Gap(expected, packet))
                is_open = True
        return found

    def naks_of(self, gap: Gap) -> list[Seen]:
        """Return the NAKs for a gap until its packet arrives."""
        arrivals = [each.t_ns for each in self.arrived_of(*DATA) if each.psn == gap.psn]
        filled = min((t_ns for t_ns in arrivals if t_ns > gap.revealed.t_ns), default=float("inf"))
        naks = [nak for nak in self.of_kind("nak") if gap.revealed.t_ns <= nak.t_ns < filled]
        return [nak for nak in naks if "rnr" not in nak.flags]

    @cached_property
    def rewinds(self) -> list[Rewind]:
        """Return each return of a sender to an earlier packet, with the reason that fits."""
        naks = [nak for nak in self.arrived_of("nak") if "rnr" not in nak.flags]
        found: list[Rewind] = []
        last: dict[int, float] = {}
        highest, previous = -1, -1
        for packet in self.data:
            if packet.psn <= highest and packet.psn <= previous:
                heard = [nak.t_ns for nak in naks if nak.t_ns <= packet.t_ns]
                naks = naks[len(heard) :]
                since_ns = packet.t_ns - (max(heard) if heard else last.get(packet.psn, packet.t_ns))
                found.append(Rewind(packet, "NAK" if heard else "timeout", since_ns, ()))
            if found and packet.psn <= highest:
                found[-1] = found[-1]._replace(resent=(*found[-1].resent, packet.psn))
            last[packet.psn] = packet.t_ns
            highest, previous = max(highest, packet.psn), packet.psn
        return found

    def first_of_message(self, psn: int) -> int:
        """Return the number of the first packet of the message that a packet belongs to."""
        firsts = [packet.psn for packet in self.data if "first" in packet.flags and packet.psn <= psn]
        return max(firsts, default=psn)


def _statuses(flows: pd.DataFrame) -> tuple[str, ...]:
    errors = flows["error"].astype(object).where(flows["error"].notna(), flows["status"].astype(object))
    return tuple(map(str, errors))


def traces_of(
    packets: pd.DataFrame, network: Network | None = None, flows: pd.DataFrame | None = None
) -> list[Trace]:
    """Return a trace for each RDMA flow of a table of packets.

    Packets leave at the ports of their sources, and arrive behind the ports to their destinations: at once
    if the network is unknown.
    """
    rdma = packets[packets["service"].isin(("rc", "uc")) & packets["flow_id"].notna()]
    return [
        _trace(str(flow_id), rows.sort_values("t_ps", kind="stable"), network, flows)
        for flow_id, rows in rdma.groupby(rdma["flow_id"].astype(str), sort=False)
    ]


def _trace(flow_id: str, rows: pd.DataFrame, network: Network | None, flows: pd.DataFrame | None) -> Trace:
    sent, arrived = [], []
    for packet in packets_of(rows):
        made = Seen(
            packet.t_ps / PS_PER_NS,
            packet.kind,
            NO_NUMBER if packet.kind == "cnp" else packet.psn,
            0,
            packet.bytes,
            packet.payload_bytes,
            packet.flags,
            packet.qp_num,
            is_marked=packet.is_marked,
            is_lost=packet.is_lost,
        )
        if packet.node == packet.src:
            sent.append(made)
        if packet.port.endswith(f"->{packet.dst}") and not made.is_lost:
            at_ns = network.arrival_ns(made.t_ns, made.bytes) if network else made.t_ns
            arrived.append(made._replace(t_ns=at_ns))
    discarded = _discarded(sent, arrived)
    return Trace(
        flow_id,
        _numbered(sent),
        _numbered([packet for packet in arrived if packet not in discarded]),
        service=str(rows["service"].iloc[0]),
        discarded=discarded,
        statuses=() if flows is None else _statuses(flows[flows["flow_id"].astype(str) == flow_id]),
    )


def _discarded(sent: Sequence[Seen], arrived: Sequence[Seen]) -> list[Seen]:
    """Return the arrivals of packets that were corrupt there, or where they were first seen."""
    found = [packet for packet in arrived if CORRUPT in packet.flags]
    for packet in [packet for packet in sent if CORRUPT in packet.flags]:
        same = (each for each in arrived if each[1:3] == packet[1:3] and each.t_ns >= packet.t_ns)
        first = next(same, None)
        found += [first] if first is not None and CORRUPT not in first.flags else []
    return found


def _numbered(packets: Sequence[Seen]) -> tuple[Seen, ...]:
    """Count the transmissions of each packet."""
    counts: Counter[tuple[str, int]] = Counter()
    numbered = []
    for packet in packets:
        key = "data" if packet.kind in DATA else packet.kind, packet.psn
        counts[key] += 1
        numbered.append(packet._replace(transmission=counts[key]))
    return tuple(numbered)
