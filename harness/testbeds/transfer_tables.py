"""Schedules of flows, and tables of transfers and events: the same for every testbed."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import NamedTuple, TypeVar

from rogue.agent.core.application import Schedule, TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.harness.cell.cell import Cell, fault_events
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.testbeds.base import Columns
from rogue.workloads.framing import Packets
from rogue.workloads.ideal import Route, ideal_transfer_ns, plain_route
from rogue.workloads.packet_train import PacketRules
from rogue.workloads.records import EventRow, FlowRow, LatencyRow
from rogue.workloads.traffic import Flow

RowT = TypeVar("RowT", bound=NamedTuple)


def columns_of(kind: type[RowT], rows: Iterable[RowT]) -> Columns:
    """Return rows as columns, by the names of the fields."""
    listed = list(rows)
    return {name: [row[index] for row in listed] for index, name in enumerate(kind._fields)}


_OF_TRANSFERS = tuple(each.name for each in fields(TransferRecord) if each.name in FlowRow._fields)
"""Columns of the table `flows` that are fields of a transfer."""
_NONE_HELD: frozenset[int] = frozenset()


def schedule_of(flow: Flow) -> Schedule:
    """Return when an application asks for the transfers of a flow, from the start of the run."""
    starts_ns = map(HostNs, flow.arrived_starts_ns)
    return Schedule(
        size_bytes=flow.size_bytes,
        start_ns=HostNs(flow.start_ns),
        count=flow.count,
        repeat_until_ns=None if flow.repeat_until_ns is None else HostNs(flow.repeat_until_ns),
        interval_ns=flow.interval_ns,
        verb=flow.verb,
        verb_bytes=flow.verb_bytes,
        arrivals=tuple(zip(starts_ns, flow.arrived_sizes_bytes, strict=True)) or None,
        held=frozenset(flow.waiting) or _NONE_HELD,
    )


Transfers = Iterable[tuple[PlannedFlow, TransferRecord]]
"""Each with its flow; instants are the run's."""


class Yardstick(NamedTuple):
    """Ideal conditions of a flow: its path and its packets, without other traffic."""

    route: Route
    rules: PacketRules


def plain_yardstick(cell: Cell, planned: PlannedFlow) -> Yardstick:
    """Return the yardstick for hosts of which we know no more than the experiment says."""
    transport, flow, topology = planned.carrier.transport, planned.flow, cell.topology
    packets = transport.packets or Packets(topology.frames, topology.mtu_bytes)
    rules = PacketRules(packets, has_acknowledgements=transport.service != "uc")
    return Yardstick(plain_route(topology, flow.initiator, flow.responder), rules)


def flows_table(transfers: Transfers, yardstick_of: Callable[[PlannedFlow], Yardstick]) -> Columns:
    """Return one row per transfer."""

    def row(planned: PlannedFlow, transfer: TransferRecord) -> FlowRow:
        flow, carrier = planned.flow, planned.carrier
        ideal_fct_ns = ideal_transfer_ns(*yardstick_of(planned), flow.verb, transfer.size_bytes)
        fct_ns = _fct_ns(transfer)
        waited_for_flow, waited_for_transfer = transfer.waited_for or (None, None)
        return FlowRow(
            flow_id=planned.flow_id,
            group=flow.group_in(carrier.name),
            transport=carrier.label,
            verb=flow.verb,
            service=carrier.transport.service,
            src=flow.source,
            dst=flow.destination,
            fct_ns=fct_ns,
            ideal_fct_ns=ideal_fct_ns,
            slowdown=fct_ns / ideal_fct_ns if fct_ns else None,
            goodput_bps=transfer.size_bytes * 8 * SECOND_NS / fct_ns if fct_ns else None,
            waited_for_flow=waited_for_flow,
            waited_for_transfer=waited_for_transfer,
            **{name: getattr(transfer, name) for name in _OF_TRANSFERS},
        )

    return columns_of(FlowRow, (row(planned, transfer) for planned, transfer in transfers))


def latency_table(transfers: Transfers) -> Columns:
    """Return one row per probe; one that waited for a failed queue pair was never sent."""
    rows = (
        LatencyRow(
            src=planned.flow.source,
            dst=planned.flow.destination,
            t_ns=transfer.start_ns,
            rtt_ns=_fct_ns(transfer),
            status=transfer.status,
            group=planned.carrier.name,
            service=planned.carrier.transport.service,
        )
        for planned, transfer in transfers
        if transfer.is_sent
    )
    return columns_of(LatencyRow, rows)


def events_table(cell: Cell, until_ns: int, own: Iterable[EventRow]) -> Columns:
    """Return the events of queue pairs and links before the end, by time."""
    rows = [*map(EventRow._make, fault_events(cell, until_ns)), *own]
    return columns_of(EventRow, sorted(rows, key=lambda row: row.t_ns))


def _fct_ns(transfer: TransferRecord) -> int | None:
    if transfer.status != "ok" or transfer.end_ns is None:
        return None
    return transfer.end_ns - transfer.start_ns
