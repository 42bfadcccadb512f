"""Packet events at the ports of Linux switches: which packets of which queue pairs they strike."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rogue.agent.node import packet_events
from rogue.harness.cell.cell import Cell, unfit_event
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow, Role
from rogue.workloads.faults import PacketEvent
from rogue.workloads.records import EventRow

KINDS: Final = {"data": ("write", "send", "read_response")}
"""Kinds of packets in frames, by the event's word; other words are the same."""
FROM_SOURCE: Final = ("data", "datagram")
"""Words for packets that the flow's source sends; its destination sends the others."""


def unsupported_events(cell: Cell) -> str | None:
    """Return why a Linux switch cannot carry out the packet events of a cell; None if it can."""
    if not cell.network.packet_events:
        return None
    for losses in cell.network.losses.values():
        if any(loss.model == "identification" and loss.mean_probability for loss in losses):
            return "packet_event: a Linux switch cannot combine it with losses by IP ID; choose another model"
    return unfit_event(cell)


def event_orders(
    cell: Cell, flows: Sequence[NodeFlow], interfaces: Mapping[str, str]
) -> list[packet_events.PacketEvent]:
    """Return the packet events of a cell, in its order; `interfaces` of the switches' egress ports."""
    by_id = {flow.flow_id: flow for flow in flows}
    return [_order(cell, by_id[each.flow], each, interfaces) for each in cell.network.packet_events]


def packet_event_rows(cell: Cell, times_ns: Mapping[int, int]) -> Iterator[EventRow]:
    """Yield a row for each event that happened; `times_ns` by its place among the cell's events."""
    for number, event in enumerate(cell.network.packet_events):
        if number in times_ns:
            yield EventRow(event.flow, times_ns[number], event.kind, event.place)


def _order(
    cell: Cell, flow: NodeFlow, event: PacketEvent, interfaces: Mapping[str, str]
) -> packet_events.PacketEvent:
    sender = _sender(flow, event)
    (switch,) = cell.topology.links_of[sender.host]
    return packet_events.PacketEvent(
        port=f"{sender.host}->{switch}",
        interface=interfaces[f"{switch}->{sender.host}"],
        bridge=switch,
        kinds=KINDS.get(event.packet, (event.packet,)),
        psn=event.psn,
        transmission=event.transmission,
        action=event.do,
        amount=event.delay_ns or event.packets,
        receiver=sender.other.name,
        requester=flow.role("requester"),
    )


def _sender(flow: NodeFlow, event: PacketEvent) -> Role:
    """Return the role whose packet is struck."""
    others: dict[EndName, EndName] = {"requester": "responder", "responder": "requester"}
    source = flow.source_end
    return Role(flow, source if event.packet in FROM_SOURCE else others[source])
