"""Record packets at the ports of Linux switches: the request, and the table from what was captured."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rogue.agent.node.capture import CapturedPacket, CaptureOrder, PortDirection, captured_packets
from rogue.agent.node.messages import Prepared
from rogue.agent.node.packet_watch import Watched, WatchOrders
from rogue.agent.node.roce_frames import PSN_MASK, Frame, decode
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.recorded_packets import recorded_ports
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.base import Columns, Fact
from rogue.harness.testbeds.ends.packet_events import event_orders, packet_event_rows
from rogue.harness.testbeds.ends.roles import NodeFlow
from rogue.harness.testbeds.transfer_tables import columns_of
from rogue.workloads.records import EventRow, PacketRow
from rogue.workloads.topologies import Topology

PS_PER_NS: Final = 1_000
_SECOND_NS: Final = 1_000_000_000


NO_PACKETS: Final = "no packet of RoCE crossed a recorded port; TCP is not recorded"


def watch_orders(cell: Cell, flows: Sequence[NodeFlow], interfaces: Mapping[str, str]) -> WatchOrders:
    """Return what switches do with the cell's packets; `interfaces` of the switches' egress ports."""
    return WatchOrders(capture_order(cell, flows, interfaces), event_orders(cell, flows, interfaces))


def capture_order(
    cell: Cell, flows: Sequence[NodeFlow], interfaces: Mapping[str, str]
) -> CaptureOrder | None:
    """Return which packets the switches record; None if the cell asks for none.

    interfaces: of the switches' egress ports, by name. A host's port is recorded where its link ends.
    """
    requested = cell.experiment.measure_choice("packets")
    if requested is None:
        return None
    chosen = [flow for flow in flows if requested.flows is None or flow.flow_id in requested.flows]
    ports = requested.ports if requested.ports is not None else cell.topology.ports()
    return CaptureOrder(
        ports={name: direction_of(name, interfaces) for name in recorded_ports(cell.topology, ports)},
        packets_max=requested.packets_max,
        from_ns=requested.from_ns,
        until_ns=requested.until_ns,
        roles=[] if requested.flows is None else [role.name for flow in chosen for role in flow.roles],
    )


def direction_of(port: str, interfaces: Mapping[str, str]) -> PortDirection:
    """Return where a switch sees the packets that leave a port."""
    if port in interfaces:
        return PortDirection(interfaces[port], is_incoming=False)
    node, _, neighbour = port.partition("->")
    return PortDirection(interfaces[f"{neighbour}->{node}"], is_incoming=True)


class Direction(NamedTuple):
    """The flow that a packet is part of, and which way it goes."""

    flow: NodeFlow
    source: str
    destination: str
    src_qp_num: int | None
    first_psn: int
    """Number of the flow's first packet, which counts as 0."""


class Directions:
    """The flows of packets, by the address and the queue pair that they are for."""

    def __init__(self, flows: Iterable[NodeFlow], prepared: Mapping[str, Prepared]) -> None:
        self._known: dict[tuple[str, int], Direction] = {}
        for flow in flows:
            requester, responder = flow.roles
            if requester.name in prepared and responder.name in prepared:
                ends = prepared[requester.name], prepared[responder.name]
                self._add(flow, (requester.host, responder.host), ends, ends[0])
                self._add(flow, (responder.host, requester.host), ends[::-1], ends[0])

    def _add(
        self, flow: NodeFlow, hosts: tuple[str, str], ends: tuple[Prepared, Prepared], first: Prepared
    ) -> None:
        """Add the queue pairs of one direction; answers carry the numbers of the requester."""
        own, peer = ends
        for sender, receiver, first_psn in (
            (own.qp_num, peer.qp_num, first.psn),
            (own.shadow_qp_num, peer.shadow_qp_num, first.shadow_psn),
            (own.side_qp_num, peer.side_qp_num, 0),
        ):
            if receiver is not None:
                self._known[peer.address, receiver] = Direction(flow, *hosts, sender, first_psn or 0)

    def of(self, frame: Frame) -> Direction | None:
        """Return the direction of a packet; None if it belongs to no flow of the cell."""
        return self._known.get((frame.destination, frame.qp_num))


def counted_psn(frame: Frame, first_psn: int) -> int | None:
    """Return a packet's number from 0, the flow's first one; of an ACK before the first, -1."""
    if frame.kind == "cnp":
        return None
    psn = (frame.psn - first_psn) & PSN_MASK
    return -1 if psn == PSN_MASK and frame.kind == "ack" else psn


@dataclass(frozen=True, slots=True)
class Struck:
    """A packet to which a `packet_event` happened."""

    port: str
    t_ns: int
    psn: int
    """As in its header."""
    action: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """Packets that the switches recorded, and the facts to interpret them."""

    packets: Sequence[CapturedPacket]
    ports: Sequence[str]
    """By the numbers of the captured packets."""
    settings: Mapping[str, PortSettings]
    """Of the switches' ports."""
    end_ns: int
    """When the last flow had ended."""
    struck: Sequence[Struck] = ()


@dataclass(frozen=True, slots=True)
class WatchedCell:
    """What switches recorded and did while a cell ran."""

    cell: Cell
    flows: Sequence[NodeFlow]
    orders: WatchOrders
    watched: Watched

    @property
    def event_rows(self) -> Iterator[EventRow]:
        """Yield a row for each event that happened."""
        return packet_event_rows(self.cell, {number: t_ns for number, t_ns, _ in self.watched.struck})

    @property
    def facts(self) -> dict[str, Fact]:
        """Return how many events never happened, and how many packets found no room, if there are any."""
        unmet = len(self.orders.packet_events) - len(self.watched.struck)
        counts = {"packet_events_unmet": unmet, "packets_missed": self.watched.missed}
        return {name: count for name, count in counts.items() if count}

    def tables(
        self, prepared: Mapping[str, Prepared], settings: Mapping[str, PortSettings], end_ns: int
    ) -> dict[str, Columns]:
        """Return the table of packets, if any were recorded; ValueError or LookupError for damaged files."""
        if self.orders.capture is None:
            return {}
        events = self.orders.packet_events
        struck = [
            Struck(events[number].port, t_ns, psn, events[number].action)
            for number, t_ns, psn in self.watched.struck
        ]
        packets = list(captured_packets(self.watched.packets))
        recorded = Recorded(packets, list(self.orders.capture.ports), settings, end_ns, struck)
        table = packets_table(self.cell, self.flows, prepared, recorded)
        return {"packets": table} if len(table["t_ps"]) else {}


class _Identity(NamedTuple):
    """Headers that identify a packet from port to port."""

    source: str
    destination: str
    identification: int | None
    opcode: int
    qp_num: int
    psn: int


@dataclass(frozen=True, slots=True)
class _Seen:
    """A packet at a port."""

    t_ns: int
    frame: Frame
    port: str
    path: Sequence[str]
    """Ports on its way; empty if it belongs to no flow of the cell."""
    direction: Direction | None
    action: str | None
    """What a `packet_event` did to it here."""

    @property
    def identity(self) -> _Identity:
        frame = self.frame
        ends = frame.source, frame.destination, frame.identification
        return _Identity(*ends, frame.opcode, frame.qp_num, frame.psn)

    @property
    def next_port(self) -> str | None:
        """Return the port that it comes to next; None behind the last one."""
        later = self.path[self.path.index(self.port) + 1 :] if self.port in self.path else ()
        return later[0] if later else None

    @property
    def row(self) -> PacketRow:
        """Return its row. A copy that a switch has flooded to a port off its path is a stray."""
        frame, direction = self.frame, self.direction
        is_dropped = self.action == "drop"
        return PacketRow(
            t_ps=self.t_ns * PS_PER_NS,
            node=self.port.partition("->")[0],
            port=self.port,
            kind="stray" if self.path and self.port not in self.path else frame.kind,
            flow_id=None if direction is None else direction.flow.flow_id,
            service=frame.service or ("rc" if direction is None else direction.flow.service),
            src=None if direction is None else direction.source,
            dst=None if direction is None else direction.destination,
            src_qp_num=frame.src_qp_num if direction is None else direction.src_qp_num,
            qp_num=frame.qp_num,
            psn=counted_psn(frame, 0 if direction is None else direction.first_psn),
            bytes=frame.frame_bytes,
            payload_bytes=frame.payload_bytes,
            priority=0,
            marked=frame.is_marked or self.action == "mark",
            dropped=is_dropped,
            reason="event" if is_dropped else None,
            flags=" ".join(flags_of(frame, is_corrupt=self.action == "corrupt")) or None,
            message_bytes=frame.message_bytes,
            immediate=frame.immediate,
            selective=None,
            told_priorities=None,
            paused_priorities=None,
        )


def packets_table(
    cell: Cell, flows: Sequence[NodeFlow], prepared: Mapping[str, Prepared], recorded: Recorded
) -> Columns:
    """Return a row for each packet at a recorded port, and for each that ended in a switch behind one."""
    directions, paths = Directions(flows, prepared), _Paths(cell.topology)
    actions = {(each.port, each.t_ns, each.psn): each.action for each in recorded.struck}
    seen = []
    for packet in recorded.packets:
        if (frame := decode(packet.frame)) is not None:
            port, direction = recorded.ports[packet.port], directions.of(frame)
            path = paths.ports(direction) if direction else ()
            action = actions.get((port, packet.t_ns, frame.psn))
            seen.append(_Seen(packet.t_ns, frame, port, path, direction, action))
    rows = [each.row for each in seen]
    rows += _lost_rows([each for each in seen if each.action != "drop"], recorded)
    return columns_of(PacketRow, sorted(rows, key=lambda row: (row.t_ps, row.port)))


class _Paths:
    """Ports between two hosts, in the order of a packet's way."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._known: dict[tuple[str, str], list[str]] = {}

    def ports(self, direction: Direction) -> list[str]:
        """Return the ports of a direction."""
        pair = direction.source, direction.destination
        if pair not in self._known:
            ports, node = [], direction.source
            for link in self._topology.path(*pair):
                neighbour = link.other_end(node)
                ports.append(f"{node}->{neighbour}")
                node = neighbour
            self._known[pair] = ports
        return self._known[pair]


def flags_of(frame: Frame, *, is_corrupt: bool) -> Iterator[str]:
    """Yield the words of the column `flags`."""
    yield from (place for place in ("first", "last") if place in frame.places)
    if frame.ack_request:
        yield "ack_request"
    if "immediate" in frame.places:
        yield "immediate"
    if frame.tos & 3:
        yield "ect"
    if frame.nak_code not in (None, "sequence"):
        yield f"{frame.nak_code}"
    if is_corrupt or frame.is_corrupt:
        yield "corrupt"


def _lost_rows(seen: Sequence[_Seen], recorded: Recorded) -> Iterator[PacketRow]:
    """Yield packets that reached a port and never left it, although later ones did or there was time to.

    A port is a queue: what comes first leaves first.
    """
    left = Counter((each.port, each.identity) for each in seen)
    last_ns: dict[str, int] = {}
    waiting: list[tuple[str, _Seen]] = []
    for each in seen:
        port = each.next_port
        if port is None or port not in recorded.ports:
            continue
        if left[port, each.identity]:
            left[port, each.identity] -= 1
            last_ns[port] = max(last_ns.get(port, 0), each.t_ns)
        else:
            waiting.append((port, each))
    for port, each in waiting:
        settings = recorded.settings[port]
        if each.t_ns < max(last_ns.get(port, 0), recorded.end_ns - _longest_ns(settings)):
            node = port.partition("->")[0]
            yield each.row._replace(node=node, port=port, dropped=True, reason=_reason(settings))


def _longest_ns(port: PortSettings) -> int:
    """Return the longest time that a packet can spend in a port."""
    assert port.rate_bps
    return port.delay_ns + port.queue_bytes * 8 * _SECOND_NS // port.rate_bps


def _reason(port: PortSettings) -> str | None:
    """Return why a packet was lost at a port; None if its link also loses packets."""
    return None if port.loss_probability or port.lost_ip_id_mask else "buffer"
