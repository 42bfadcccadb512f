"""Events of single packets in the simulator."""

from collections.abc import Iterator, Sequence

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.base import Fact
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.simulator import PacketEvent, Simulation
from rogue.workloads.faults import PacketEvent as PacketEventFault
from rogue.workloads.records import EventRow


def inject_packet_events(cell: Cell, simulation: Simulation, running: Sequence[RunningFlow]) -> None:
    """Let the requested events happen to packets of flows that are connected."""
    if not cell.network.packet_events:
        return
    flows = {flow.flow_id: flow for flow in running}
    for event in cell.network.packet_events:
        simulation.inject_packet_event(_engine_event(event, flows[event.flow]))


def _engine_event(event: PacketEventFault, running: RunningFlow) -> PacketEvent:
    flow = running.flow
    return PacketEvent(
        host=flow.source if event.packet in ("data", "datagram") else flow.destination,
        queue_pairs=running.all_qp_nums,
        packet=event.packet,
        psn=event.psn,
        transmission=event.transmission,
        action=event.do,
        delay_ns=event.delay_ns,
        packets=event.packets or 1,
    )


def packet_event_rows(cell: Cell, simulation: Simulation) -> Iterator[EventRow]:
    """Yield a row for each event that met its packet."""
    times_ns = simulation.packet_event_times_ns()
    for event, t_ns in zip(cell.network.packet_events, times_ns, strict=True):
        if t_ns is not None:
            yield EventRow(event.flow, t_ns, event.kind, event.place)


def packet_event_facts(cell: Cell, simulation: Simulation) -> dict[str, Fact]:
    """Return how many events never met their packet, if any."""
    unmet = sum(t_ns is None for t_ns in simulation.packet_event_times_ns())
    return {"packet_events_unmet": unmet} if unmet else {}
